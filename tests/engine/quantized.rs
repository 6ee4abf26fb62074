//! The quantization modes whose scales are single bytes, alone and mixed, against mlx-lm and against themselves.

use super::exactness::{assert_exact, chain, every_count, speculate};
use super::goldens::forward;
use super::support::{floats, folder, greedy, ids, load, model, options, prompt, values};
use exactness::engine::Result;
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::op::Op;
use exactness::engine::tap::{Silent, Site, Tap};
use mlx_rs::{Array, Dtype};

const MODELS: [(&str, &str); 4] = [
    ("tiny-mxfp4", "mxfp4 4-bit g32"),
    ("tiny-mxfp8", "mxfp8 8-bit g32"),
    ("tiny-nvfp4", "nvfp4 4-bit g16"),
    ("tiny-mixed-modes", "mxfp4 4-bit g32 + nvfp4 4-bit g16 + affine 5-bit g32 + mxfp8 8-bit g32"),
];

/// Fails unless every value is within 1e-5 of the largest expected one.
fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert!(!expected.is_empty() && found.len() >= expected.len(), "{what}: {} values", found.len());
    let found = &found[found.len() - expected.len()..];
    let largest = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert!(worst <= 1e-5 * largest, "{what}: off by {worst:e}, largest {largest}");
}

#[test]
fn summaries_name_every_mode() {
    for (name, text) in MODELS {
        let checkpoint = Checkpoint::open(&folder(name)).unwrap();
        assert_eq!(checkpoint.summary().quantization.as_deref(), Some(text), "{name}");
    }
}

#[test]
fn ids_and_logits_are_those_of_mlx_lm() {
    for (name, _) in MODELS {
        let (model, golden) = (model(name), folder(name).join("golden/mlx_lm_f32.safetensors"));
        let golden = std::fs::read(golden).unwrap();
        for number in 0..2 {
            let what = format!("{name} p{number}");
            let mut fed = ids(&golden, &format!("p{number}.input_ids"));
            let expected = ids(&golden, &format!("p{number}.greedy_ids"));
            assert!(expected.len() >= 64);
            assert_eq!(greedy(&model, &fed, expected.len(), usize::MAX), expected, "{what}");
            let first = values(&forward(&model, &fed, &mut Silent));
            assert_close(&what, &first, &floats(&golden, &format!("p{number}.first_logits")));
            fed.extend(expected);
            let last = values(&forward(&model, &fed, &mut Silent));
            assert_close(&what, &last, &floats(&golden, &format!("p{number}.logits_after_greedy")));
        }
    }
}

#[test]
fn widths_leave_what_plain_decoding_leaves() {
    for (name, _) in MODELS {
        let model = model(name);
        let prompt = prompt(9, 40, 160);
        let chain = chain(&model, &prompt, 48);
        for width in [2, 4, 12] {
            let pattern = every_count(width, false);
            let given = (&*prompt, &*chain.stream);
            let arm = speculate(&model, given, (width, &pattern), &options(), &mut Silent);
            assert_eq!(assert_exact(&format!("{name}, width {width}"), &chain, &arm), 48);
        }
    }
}

/// The dtype that the embedding gives.
#[derive(Default)]
struct Embedded(Option<Dtype>);

impl Tap for Embedded {
    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        if site == Site::outside(Op::Embed) {
            self.0 = Some(output.dtype());
        }
        Ok(output)
    }
}

#[test]
fn activations_have_their_own_dtype_from_the_embedding_on() {
    for (name, _) in MODELS {
        for dtype in [Dtype::Float32, Dtype::Float16, Dtype::Bfloat16] {
            let mut embedded = Embedded::default();
            let logits = forward(&load(name, dtype), &[1, 2, 3], &mut embedded);
            assert_eq!((embedded.0, logits.dtype()), (Some(dtype), dtype), "{name}");
        }
    }
}
