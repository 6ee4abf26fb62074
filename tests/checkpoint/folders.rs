//! The stored checkpoints open as what they are, and their digests stay. The digests here were computed by a script
//! from the description in `digest.rs`, not by the code under test.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use exactness::engine::checkpoint::{Checkpoint, Form, Mixer};
use exactness::engine::demo;
use exactness::engine::synth::{Geometry, Storage, Synth, write};
use std::path::Path;

fn open(folder: &str) -> Checkpoint {
    Checkpoint::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

#[test]
fn the_trained_original() {
    let checkpoint = open("tests/models/demo-qwen35");
    let summary = checkpoint.summary();
    assert_eq!((summary.form, summary.quantization), (Form::HuggingFace, None));
    assert_eq!((summary.tensors, summary.ignored), (108, vec![("mtp", 15)]));
    assert_eq!(summary.parameters, 7_906_080);
    assert_eq!(checkpoint.config().end_ids, [4093, 4095]);
    assert_eq!(checkpoint.digest(), "491b1802d360d75d9b920348d27ad79a7fe44f8beac532f2506d3e53baf08989");
}

#[test]
fn the_embedded_demo_is_the_folder() {
    let (embedded, folder) = (demo::checkpoint().unwrap(), open("harness/demo"));
    let summary = embedded.summary();
    assert_eq!(summary.form, Form::Mlx);
    assert_eq!(summary.quantization.as_deref(), Some("affine 4-bit g64"));
    assert_eq!((summary.parameters, summary.tensors, summary.ignored), (7_906_080, 234, vec![]));
    assert_eq!(summary.name, "demo-qwen35-4bit");
    assert_eq!(embedded.config().end_ids, [4093, 4095]);
    assert_eq!(embedded.digest(), folder.digest());
    assert_eq!(embedded.digest(), "13bdc3fabe394ebfe3bd908e7659e9c58399659001f46bcf28b98396f62c781e");
}

#[test]
fn the_random_ones() {
    let tied = open("tests/models/tiny-random-qwen35");
    assert_eq!((tied.form(), tied.config().tie_word_embeddings), (Form::HuggingFace, true));
    assert_eq!(tied.summary().ignored, []);
    assert_eq!(tied.digest(), "f723f4cc4ce95d9c4e61716f25d898ced830bb2faa2418425120bc83679457d9");
    let untied = open("tests/models/tiny-random-qwen35-d256");
    assert_eq!((untied.form(), untied.config().tie_word_embeddings), (Form::HuggingFace, false));
    assert_eq!(untied.tensor("lm_head.weight").unwrap().shape, [512, 256]);
    let attention = |mixer: &Mixer| match mixer {
        Mixer::Attention(sizes) => Some((sizes.heads, sizes.kv_heads, sizes.head_dim, sizes.rotary_dims)),
        Mixer::DeltaNet(_) => None,
    };
    let kinds: Vec<_> = untied.config().layers.iter().map(attention).collect();
    assert_eq!(kinds, [None, None, None, Some((8, 2, 256, 64))]);
    assert_eq!(untied.digest(), "5a6c9db948ff2e126109f6ba5313e0ef9e4614863dc200c93d3257a1023d433f");
}

#[test]
fn lent_bytes_are_the_files_own() {
    let checkpoint = open("tests/models/tiny-random-qwen35");
    let file = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/tiny-random-qwen35/model.safetensors"),
    )
    .unwrap();
    let published = safetensors::SafeTensors::deserialize(&file).unwrap();
    let mut compared = 0;
    for (name, tensor) in checkpoint.tensors() {
        let other = published.tensor(&tensor.name_in_file).unwrap();
        assert_eq!((&*tensor.bytes, tensor.shape.as_slice()), (other.data(), other.shape()), "{name}");
        compared += 1;
    }
    assert_eq!(compared, published.len());
}

#[test]
fn the_tiny_ones_are_what_synth_writes() {
    let tiny = Geometry::NAMES.into_iter().filter(|(name, _)| name.starts_with("tiny-"));
    let mut compared = 0;
    for (name, geometry) in tiny {
        for (storage, suffix) in [(Storage::Sixteen, ""), (Storage::Four, "-4bit")] {
            let seed = if matches!(geometry, Geometry::Qwen3 | Geometry::Qwen35Moe) { 2 } else { 3 };
            let folder = tempfile::tempdir().unwrap();
            let written = folder.path().join("written");
            write(&Synth { geometry, storage, seed }, &written).unwrap();
            let stored = open(&format!("tests/models/{name}{suffix}"));
            assert_eq!(Checkpoint::open(&written).unwrap().digest(), stored.digest(), "{name}{suffix}");
            compared += 1;
        }
    }
    assert_eq!(compared, 10);
}
