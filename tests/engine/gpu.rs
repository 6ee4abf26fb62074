//! What can only be seen on an NVIDIA GPU: `cargo test --release -- --ignored gpu::`.

use super::bisected::{TINY, ask, key, script, stage};
use super::support::{checkpoint, model};
use exactness::arms::identity;
use exactness::bisect::cupti::Cupti;
use exactness::bisect::run::{Ask, bisect};
use exactness::bisect::trail::TrailFile;
use exactness::probe::dispatch::Machine;
use exactness::results::bisect::{Class, Measured};
use std::rc::Rc;

#[test]
#[ignore = "needs an NVIDIA GPU, MLX's CUDA library and the vendor's tracing library"]
fn the_kernels_that_ran_are_the_predicted_ones_and_are_no_longer_the_chains() {
    let backend = identity::backend();
    assert_eq!(backend.name.as_deref(), Some("mlx-cuda"), "this test asks a GPU");
    let tracer = Rc::new(Cupti::start(None).unwrap());
    let (model, checkpoint) = (model(TINY), checkpoint(TINY));
    let stage = stage(&model, "", &[]);
    let script = script(&stage, 8, &[8, 3], 16);
    let machine = Machine::named("mlx-cuda", &backend.version.unwrap(), &backend.device.unwrap());
    let ask = Ask { machine, tracer: Some(Ok(&tracer)), ..ask(&checkpoint, true) };
    let answers = bisect(&stage, &script, ask, &mut TrailFile::in_memory(key())).unwrap();
    assert_eq!(answers.class, Class::Operation);
    let Some(Measured::Seen { kernels, predicted }) = answers.measured else {
        panic!("not measured: {:?}", answers.measured);
    };
    assert!(!kernels.chain.is_empty() && !kernels.block.is_empty());
    assert!(!kernels.same_names(), "{}", kernels.says());
    assert_eq!(predicted, Some(true), "{}", kernels.says());
    let sources = answers.sources.unwrap().sources;
    assert!(sources.iter().all(|source| source.kernels.is_some()), "every source has its kernels");
}
