//! Every family against mlx-lm on a tiny checkpoint, dense and in 4 bits, and its verify blocks against its chain.

use super::exactness::{assert_exact, chain, every_count, every_operation_by_rows, speculate};
use super::support::{floats, greedy, ids, load, options, prompt, values};
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::model::{Logits, TextModel};
use exactness::engine::op::Op;
use exactness::engine::pass::Pass;
use exactness::engine::routes::{Defaults, Plan, Routes};
use exactness::engine::session::{Options, Session};
use exactness::engine::tap::{CallRecord, Silent, Site, Tap};
use exactness::transcript::TokenId;
use mlx_rs::{Array, Dtype};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use std::path::Path;

struct Golden(Vec<u8>);

impl Golden {
    fn of(model: &str) -> Self {
        Self(std::fs::read(super::support::folder(model).join("golden/mlx_lm_f32.safetensors")).unwrap())
    }
}

/// Logits of the last row of a forward over `ids`, fed after each other in two parts.
fn last_logits(model: &TextModel, ids: &[TokenId], first: usize) -> Vec<f32> {
    watched_logits(model, ids, first, &mut Silent)
}

fn watched_logits(model: &TextModel, ids: &[TokenId], first: usize, tap: &mut dyn Tap) -> Vec<f32> {
    let plan = Plan::new(Defaults::Plain, &Routes::default(), model.config().layers.len());
    let mut caches = model.new_caches(options().rewind);
    let mut pass = Pass::new(&plan, tap);
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
    let routes = every_operation_by_rows(&model);
    let by_rows = Options { routes: routes.parse().unwrap(), ..options() };
    let arm = speculate(&model, (&prompt, &chain.stream), (4, &every_count(4, true)), &by_rows, &mut Silent);
    assert_eq!(assert_exact(&format!("{name}, {routes}"), &chain, &arm), 32);
}

/// Both tests of a family, on each of its checkpoints.
macro_rules! family {
    ($module:ident, $($name:literal),+) => {
        mod $module {
            #[test]
            fn ids_and_logits_are_those_of_mlx_lm() {
                $(super::agrees($name);)+
            }

            #[test]
            fn blocks_are_exact() {
                $(super::is_exact($name);)+
            }
        }
    };
}

family!(llama, "tiny-llama", "tiny-llama-4bit");
family!(llama_untied, "tiny-llama-untied", "tiny-llama-untied-4bit");
family!(qwen3, "tiny-qwen3", "tiny-qwen3-4bit");
family!(qwen3_next, "tiny-qwen3-next", "tiny-qwen3-next-4bit");
family!(qwen35_moe, "tiny-qwen35-moe", "tiny-qwen35-moe-4bit");
family!(experts_in_other_modes, "tiny-qwen35-moe-mxfp4", "tiny-qwen35-moe-mxfp8", "tiny-qwen35-moe-nvfp4");

/// Writes `tensors` and the configuration of the test model `name` into `folder`, and loads that.
fn model_of(name: &str, tensors: Vec<(String, TensorView<'_>)>, folder: &Path) -> TextModel {
    let config = std::fs::read(super::support::folder(name).join("config.json")).unwrap();
    std::fs::write(folder.join("config.json"), config).unwrap();
    let bytes = safetensors::serialize(tensors, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
    TextModel::load(&Checkpoint::open(folder).unwrap(), Dtype::Float32).unwrap()
}

/// The experts' bytes of a Hugging Face file of `tiny-qwen35-moe`, under the names of the two other ways to store them.
fn stored_otherwise(file: &SafeTensors<'_>, stacked: bool) -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let mut list = Vec::new();
    for name in file.names() {
        let view = file.tensor(name).unwrap();
        let Some((mlp, part)) = name.split_once("experts.").filter(|_| view.shape().len() == 3) else {
            list.push((name.to_string(), view.shape().to_vec(), view.data().to_vec()));
            continue;
        };
        let [experts, rows, inputs] = [0, 1, 2].map(|side| view.shape()[side]);
        let names: &[&str] = if part == "gate_up_proj" { &["gate_proj", "up_proj"] } else { &["down_proj"] };
        let outputs = rows / names.len();
        let chunks: Vec<&[u8]> = view.data().chunks_exact(outputs * inputs * 2).collect();
        for (half, own) in names.iter().enumerate() {
            let of_expert = |expert: usize| chunks[expert * names.len() + half];
            if stacked {
                let all = (0..experts).flat_map(|expert| of_expert(expert).to_vec()).collect();
                list.push((format!("{mlp}switch_mlp.{own}.weight"), vec![experts, outputs, inputs], all));
                continue;
            }
            for expert in 0..experts {
                let path = format!("{mlp}experts.{expert}.{own}.weight");
                list.push((path, vec![outputs, inputs], of_expert(expert).to_vec()));
            }
        }
    }
    list
}

#[test]
fn the_three_ways_to_store_experts_are_one_model() {
    const NAME: &str = "tiny-qwen35-moe";
    let bytes = std::fs::read(super::support::folder(NAME).join("model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let ids = prompt(9, 12, 128);
    let expected = last_logits(&load(NAME, Dtype::Float32), &ids, 12);
    for stacked in [true, false] {
        let list = stored_otherwise(&file, stacked);
        assert_ne!(list.len(), file.len());
        let views = list.iter().map(|(name, shape, data)| {
            let same = file.tensor(name).map_or(safetensors::Dtype::BF16, |view| view.dtype());
            (name.clone(), TensorView::new(same, shape.clone(), data).unwrap())
        });
        let folder = tempfile::tempdir().unwrap();
        let model = model_of(NAME, views.collect(), folder.path());
        assert_eq!(last_logits(&model, &ids, 12), expected, "stacked: {stacked}");
    }
}

/// Makes all experts of every row equally likely, and keeps what was chosen.
#[derive(Default)]
struct Tied(Vec<Array>);

impl Tap for Tied {
    fn at(&mut self, site: Site, output: Array) -> exactness::engine::Result<Array> {
        match site.op {
            Op::Router => return Ok(output.multiply(Array::from_f32(0.0))?),
            Op::ExpertChoice => self.0.push(output.clone()),
            _ => {}
        }
        Ok(output)
    }
}

#[test]
fn ties_between_experts_go_to_the_higher_numbers_in_every_row() {
    let model = load("tiny-qwen35-moe", Dtype::Float32);
    let mut tied = Tied::default();
    watched_logits(&model, &prompt(9, 5, 128), 4, &mut tied);
    // Two layers, first 4 rows and then 1.
    assert_eq!(tied.0.iter().map(|choice| choice.dim(1)).collect::<Vec<_>>(), [4, 4, 1, 1]);
    for choice in &tied.0 {
        let chosen = values(choice);
        assert!(chosen.chunks(2).all(|row| row == [3.0, 4.0]), "{chosen:?}");
    }
}

#[test]
fn routes_for_operations_that_a_family_lacks_are_refused() {
    let cases = [
        ("tiny-llama", "attn_gate=rows", "attn_gate=rows: no layer of this model has such an operation"),
        ("tiny-llama", "norm=rows,q_norm=rows", "q_norm=rows: no layer"),
        ("tiny-qwen3", "delta=chunked", "delta=chunked: no layer"),
        ("tiny-qwen3", "router=rows", "router=rows: no layer"),
        ("tiny-qwen3-next", "gate_proj=rows", "gate_proj=rows: no layer"),
        (
            "tiny-qwen3-next",
            "layer.1.conv=rows",
            "layer.1.conv=rows: layer 1 has no such operation; it has input_norm",
        ),
    ];
    for (name, routes, expected) in cases {
        let model = load(name, Dtype::Float32);
        let options = Options { routes: routes.parse().unwrap(), ..options() };
        let mut silent = Silent;
        let says = Session::new(&model, &options, &mut silent).err().unwrap().to_string();
        assert!(says.starts_with(&format!("set routes: {expected}")), "{name}: {says}");
    }
}

#[test]
fn experts_are_called_once_a_block_or_as_their_route_says() {
    let model = load("tiny-qwen3-next", Dtype::Float32);
    let prompt = prompt(6, 20, 128);
    let chain = chain(&model, &prompt, 5);
    let routes = "layer.1.expert_up_proj=rows,layer.1.mlp.router=rows:3".parse().unwrap();
    let mut record = CallRecord::default();
    let options = Options { routes, ..options() };
    speculate(&model, (&prompt, &chain.stream), (4, "oracle"), &options, &mut record);
    // The prompt's own call comes first; budget 5 is one round of 4 rows after the prefill token.
    let calls = |layer, op| record.rows_at(Site::of_layer(layer, op))[1..].to_vec();
    assert_eq!(calls(0, Op::ExpertUpProj), [4]);
    assert_eq!(calls(1, Op::ExpertUpProj), [1, 1, 1, 1]);
    assert_eq!(calls(1, Op::Router), [3, 1]);
    assert_eq!(calls(1, Op::SharedMix), [4]);
}
