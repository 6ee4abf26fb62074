//! Every family against mlx-lm on a tiny checkpoint, dense and in 4 bits, and its verify blocks against its chain.

use super::exactness::{assert_exact, chain, every_count, speculate};
use super::support::{floats, greedy, ids, load, options, prompt, values};
use exactness::engine::model::{Logits, TextModel};
use exactness::engine::pass::Pass;
use exactness::engine::routes::{Defaults, Plan, Routes};
use exactness::engine::tap::Silent;
use exactness::transcript::TokenId;
use mlx_rs::Dtype;

struct Golden(Vec<u8>);

impl Golden {
    fn of(model: &str) -> Self {
        Self(std::fs::read(super::support::folder(model).join("golden/mlx_lm_f32.safetensors")).unwrap())
    }
}

/// Logits of the last row of a forward over `ids`, fed after each other in two parts.
fn last_logits(model: &TextModel, ids: &[TokenId], first: usize) -> Vec<f32> {
    let plan = Plan::new(Defaults::Plain, &Routes::default(), model.config().layers.len());
    let mut silent = Silent;
    let mut caches = model.new_caches(options().rewind);
    let mut pass = Pass::new(&plan, &mut silent);
    let mut forward =
        |part: &[TokenId], wanted| model.forward(&mut pass, part, &mut caches, (wanted, false)).unwrap();
    let (before, after) = ids.split_at(first);
    if after.is_empty() {
        return values(&forward(before, Logits::Last).unwrap());
    }
    forward(before, Logits::None);
    values(&forward(after, Logits::Last).unwrap())
}

/// Fails unless the two are within 1e-5 of the largest expected value.
fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert!(largest > 1.0, "{what}: logits of a model that chooses nothing, at most {largest}");
    assert!(worst <= 1e-5 * largest, "{what}: off by {worst:e}, largest {largest}");
}

/// Greedy ids and logits are mlx-lm's.
fn agrees(name: &str) {
    let (model, golden) = (load(name, Dtype::Float32), Golden::of(name));
    for number in 0..3 {
        let what = format!("{name} p{number}");
        let mut prompt = ids(&golden.0, &format!("p{number}.prompt_ids"));
        let expected = ids(&golden.0, &format!("p{number}.greedy_ids"));
        let length = prompt.len();
        assert_eq!(expected.len(), 64, "{what}");
        assert_eq!(greedy(&model, &prompt, 64, usize::MAX), expected, "{what}");
        assert_eq!(greedy(&model, &prompt, 64, 7), expected, "{what}, prompt in chunks of 7");
        let first = floats(&golden.0, &format!("p{number}.first_logits"));
        assert_close(&what, &last_logits(&model, &prompt, length), &first);
        prompt.extend(expected);
        let last = floats(&golden.0, &format!("p{number}.last_logits"));
        assert_close(&format!("{what} after the ids"), &last_logits(&model, &prompt, length), &last);
    }
}

/// Blocks of three widths leave the chain's stream, row bytes and states.
fn is_exact(name: &str) {
    let model = load(name, Dtype::Float32);
    let prompt = prompt(4, 21, model.config().vocab_size as u64);
    let chain = chain(&model, &prompt, 32);
    for width in [2, 4, 12] {
        for drafter in [every_count(width, false), "oracle".to_owned()] {
            let arm = speculate(&model, (&prompt, &chain.stream), (width, &drafter), &options(), &mut Silent);
            assert_eq!(assert_exact(&format!("{name}, width {width}, {drafter}"), &chain, &arm), 32);
        }
    }
}

/// Both tests of a family, on its dense and its 4-bit checkpoint.
macro_rules! family {
    ($module:ident, $name:literal) => {
        mod $module {
            #[test]
            fn ids_and_logits_are_those_of_mlx_lm() {
                super::agrees($name);
                super::agrees(concat!($name, "-4bit"));
            }

            #[test]
            fn blocks_are_exact() {
                super::is_exact($name);
                super::is_exact(concat!($name, "-4bit"));
            }
        }
    };
}

family!(llama, "tiny-llama");
family!(llama_untied, "tiny-llama-untied");
family!(qwen3, "tiny-qwen3");
