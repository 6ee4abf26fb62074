//! The engine against transformers (f32) and mlx-lm, on checkpoints and numbers that are not ours.

use super::support::{floats, folder, greedy, ids, load, model, options, values};
use exactness::engine::model::{Logits, TextModel};
use exactness::engine::op::Op;
use exactness::engine::pass::Pass;
use exactness::engine::routes::{Defaults, Plan, Routes};
use exactness::engine::tap::{Silent, Site, Tap};
use exactness::transcript::TokenId;
use mlx_rs::{Array, Dtype};
use safetensors::SafeTensors;
use std::collections::BTreeMap;

const MODELS: [&str; 3] = ["tiny-random-qwen35", "tiny-random-qwen35-d256", "demo-qwen35"];
const CHUNKS: [usize; 4] = [usize::MAX, 64, 7, 1];

struct Golden(Vec<u8>);

impl Golden {
    fn of(model: &str) -> Self {
        Self(std::fs::read(folder(model).join("golden/hf_f32.safetensors")).unwrap())
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.0).unwrap()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        floats(&self.0, name)
    }

    fn ids(&self, name: &str) -> Vec<TokenId> {
        ids(&self.0, name)
    }

    fn prompts(&self) -> usize {
        self.tensors().names().iter().filter(|name| name.ends_with(".input_ids")).count()
    }
}

/// Fails unless every value is within 2e-4, or 1e-5 of the largest expected one.
fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(!found.is_empty(), "{what}: nothing to compare");
    let largest = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    let bound = (largest * 1e-5).max(2e-4);
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert!(worst <= bound, "{what}: off by {worst:e}, bound {bound:e}");
}

/// Keeps outputs of the sites that transformers calls hidden states.
#[derive(Default)]
struct Hidden(BTreeMap<Site, Array>);

impl Tap for Hidden {
    fn at(&mut self, site: Site, output: Array) -> exactness::engine::Result<Array> {
        if matches!(site.op, Op::Embed | Op::MlpResidual | Op::FinalNorm) {
            self.0.insert(site, output.clone());
        }
        Ok(output)
    }
}

pub(super) fn forward(model: &TextModel, ids: &[TokenId], tap: &mut dyn Tap) -> Array {
    let plan = Plan::new(Defaults::Plain, &Routes::default(), model.config().layers.len());
    let mut caches = model.new_caches(options().rewind);
    let mut pass = Pass::new(&plan, tap);
    model.forward(&mut pass, ids, &mut caches, (Logits::All, false)).unwrap().unwrap()
}

#[test]
fn logits_and_hidden_states_are_those_of_transformers() {
    for name in MODELS {
        let (model, golden) = (model(name), Golden::of(name));
        for prompt in 0..golden.prompts() {
            let ids = golden.ids(&format!("p{prompt}.input_ids"));
            let mut hidden = Hidden::default();
            let logits = values(&forward(&model, &ids, &mut hidden));
            let expected = golden.floats(&format!("p{prompt}.logits"));
            assert_close(&format!("{name} p{prompt}"), &logits[logits.len() - expected.len()..], &expected);
            if prompt == 0 {
                assert_hidden(name, &golden, &hidden, model.config().layers.len());
            }
        }
    }
}

fn assert_hidden(name: &str, golden: &Golden, hidden: &Hidden, layers: usize) {
    let check = |key: String, site: Site| {
        assert_close(&format!("{name} {key}"), &values(&hidden.0[&site]), &golden.floats(&key));
    };
    check("p0.hidden.embed".to_owned(), Site::outside(Op::Embed));
    for layer in 0..layers {
        check(format!("p0.hidden.layer_{layer:02}"), Site::of_layer(layer, Op::MlpResidual));
    }
    check("p0.hidden.final_norm".to_owned(), Site::outside(Op::FinalNorm));
}

#[test]
fn greedy_ids_are_those_of_transformers_however_the_prompt_is_fed() {
    for name in MODELS {
        let (model, golden) = (model(name), Golden::of(name));
        for prompt in 0..golden.prompts() {
            let ids = golden.ids(&format!("p{prompt}.input_ids"));
            let expected = golden.ids(&format!("p{prompt}.greedy_ids"));
            assert!(expected.len() >= 48);
            for chunk in CHUNKS {
                let found = greedy(&model, &ids, expected.len(), chunk);
                assert_eq!(found, expected, "{name} p{prompt}, prompt in chunks of {chunk}");
            }
        }
    }
}

#[test]
fn logits_after_the_greedy_steps_are_those_of_transformers() {
    for name in MODELS {
        let (model, golden) = (model(name), Golden::of(name));
        for prompt in 0..golden.prompts() {
            let mut ids = golden.ids(&format!("p{prompt}.input_ids"));
            ids.extend(golden.ids(&format!("p{prompt}.greedy_ids")));
            let expected = golden.floats(&format!("p{prompt}.logits_after_greedy"));
            let logits = values(&forward(&model, &ids, &mut Silent));
            assert_close(&format!("{name} p{prompt}"), &logits[logits.len() - expected.len()..], &expected);
        }
    }
}

/// mlx-lm's ids on the 4-bit demo, and how far each step was from a tie.
#[derive(serde::Deserialize)]
struct MlxLm {
    prompts: Vec<MlxLmPrompt>,
}

#[derive(serde::Deserialize)]
struct MlxLmPrompt {
    prompt_ids: Vec<TokenId>,
    greedy_ids: Vec<TokenId>,
}

fn mlx_lm(file: &str) -> MlxLm {
    let path = folder("demo-qwen35-4bit").join("golden").join(file);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn ids_are_those_of_mlx_lm_on_the_quantized_demo_in_f32() {
    let model = load("demo-qwen35-4bit", Dtype::Float32);
    let golden = mlx_lm("mlx_lm_f32.json");
    assert_eq!(golden.prompts.len(), 4);
    for (number, prompt) in golden.prompts.iter().enumerate() {
        assert_eq!(prompt.greedy_ids.len(), 128);
        assert_eq!(greedy(&model, &prompt.prompt_ids, 128, usize::MAX), prompt.greedy_ids, "p{number}");
    }
}

#[test]
fn first_logits_are_those_of_mlx_lm() {
    for (dtype, suffix, bound) in [(Dtype::Float32, "f32", 1e-5), (Dtype::Bfloat16, "bf16", 1.0)] {
        let model = load("demo-qwen35-4bit", dtype);
        for (number, prompt) in mlx_lm(&format!("mlx_lm_{suffix}.json")).prompts.iter().enumerate() {
            let found = values(&forward(&model, &prompt.prompt_ids, &mut Silent));
            let expected = first_logits(number, suffix);
            let largest = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            let last = &found[found.len() - expected.len()..];
            let worst = last.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
            assert!(worst <= bound * largest, "{suffix} p{number}: off by {worst:e}, largest {largest}");
        }
    }
}

/// mlx-lm's logits of the first step, as f32.
fn first_logits(prompt: usize, suffix: &str) -> Vec<f32> {
    let path = folder("demo-qwen35-4bit").join(format!("golden/first_logits_p{prompt}.{suffix}.bin"));
    let bytes = std::fs::read(path).unwrap();
    match suffix {
        "f32" => bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect(),
        _ => bytes
            .chunks_exact(2)
            .map(|two| half::bf16::from_le_bytes(two.try_into().unwrap()).to_f32())
            .collect(),
    }
}

#[test]
fn ids_are_those_of_mlx_lm_on_the_quantized_demo_in_bf16() {
    let model = load("demo-qwen35-4bit", Dtype::Bfloat16);
    for (number, prompt) in mlx_lm("mlx_lm_bf16.json").prompts.iter().enumerate() {
        assert_eq!(greedy(&model, &prompt.prompt_ids, 128, usize::MAX), prompt.greedy_ids, "p{number}");
    }
}
