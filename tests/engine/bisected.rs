//! The bisect against causes at known places: another weight, another formula, planted faults; and against nothing.

use super::support::{folder, model, prompt};
use exactness::bisect::run::{Answers, Ask, bisect};
use exactness::bisect::script::Script;
use exactness::bisect::side::Stage;
use exactness::bisect::trail::TrailFile;
use exactness::engine::cache::Rewind;
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::model::TextModel;
use exactness::engine::plant::Plant;
use exactness::probe::dispatch::Machine;
use exactness::results::bisect::{Class, Handled, Key};
use mlx_rs::Dtype;
use std::path::Path;

const PROMPT: usize = 7;
const TINY: &str = "tiny-random-qwen35";

pub(super) fn stage<'m>(model: &'m TextModel, routes: &str, plants: &[&str]) -> Stage<'m> {
    Stage {
        chain: model,
        block: model,
        routes: routes.parse().unwrap(),
        rewind: Rewind::KeepStates,
        prefill_chunk: 512,
        banned: Vec::new(),
        plants: plants.iter().map(|text| text.parse::<Plant>().unwrap()).collect(),
    }
}

/// Blocks of `width` that keep as many rows as the pattern says, over plain decoding.
pub(super) fn script(stage: &Stage<'_>, width: usize, pattern: &[usize], tokens: usize) -> Script {
    let vocabulary = stage.chain.config().vocab_size;
    let ids = prompt(3, PROMPT, vocabulary as u64);
    let stream = Stage { plants: Vec::new(), ..stage.clone() }.decode(&ids, tokens + 1).unwrap();
    Script::pattern(ids, &stream, (pattern, width), vocabulary).unwrap()
}

fn key() -> Key {
    let text = || "test".to_owned();
    Key {
        model: text(),
        digest: text(),
        block_digest: None,
        dtype: text(),
        machine: text(),
        program: text(),
        question: text(),
    }
}

pub(super) fn ask(checkpoint: &Checkpoint, all_sources: bool) -> Ask<'_> {
    let machine = Machine::named("mlx-cpu", "0.32.4", "any");
    Ask {
        checkpoint,
        machine,
        repeat: 1,
        live: true,
        all_sources,
        reduce: false,
        write: None,
        progress: &|_| {},
    }
}

pub(super) fn found(stage: &Stage<'_>, script: &Script, all_sources: bool) -> Answers {
    let checkpoint = Checkpoint::open(&folder(TINY)).unwrap();
    let mut trail = TrailFile::in_memory(key());
    bisect(stage, script, ask(&checkpoint, all_sources), &mut trail).unwrap()
}

/// Round, row, site of the named operation.
pub(super) fn named(answers: &Answers) -> Option<(u64, u64, String)> {
    let operation = answers.seen.as_ref()?.operation.as_ref()?;
    Some((operation.round, operation.row, operation.site.clone()))
}

fn confirmed(answers: &Answers) -> bool {
    let confirmation = answers.confirmation.as_ref().unwrap();
    assert!(confirmation.control.is_some(), "another operation was treated too");
    confirmation.confirmed()
}

#[test]
fn a_cpu_parts_at_no_width() {
    let model = model(TINY);
    for rewind in [Rewind::KeepStates, Rewind::Replay] {
        for (width, pattern) in
            [(1, &[1][..]), (2, &[1, 2]), (3, &[3, 1, 2]), (6, &[2, 6, 1]), (16, &[16, 1, 5])]
        {
            let stage = Stage { rewind, ..stage(&model, "", &[]) };
            let script = script(&stage, width, pattern, 24);
            let answers = found(&stage, &script, false);
            assert_eq!(answers.class, Class::Identical, "{width}");
            assert_eq!((answers.rows.rows, answers.rows.states), (24, script.rounds.len() as u64));
            assert_eq!(answers.controls.len(), 4);
            assert!(answers.controls.iter().all(|control| control.parts.is_none() && control.rows == 24));
        }
    }
}

#[test]
fn another_formula_of_the_delta_rule_is_named_and_confirmed_by_its_route() {
    let model = model(TINY);
    let stage = stage(&model, "delta=chunked", &[]);
    let answers = found(&stage, &script(&stage, 4, &[4, 2], 16), false);
    assert_eq!(answers.class, Class::Operation);
    assert_eq!(named(&answers).unwrap().2, "layer.0.delta.delta");
    assert!(confirmed(&answers));
    let confirmation = answers.confirmation.unwrap();
    assert_eq!(confirmation.handled, Handled::Route { routes: "layer.0.delta=chain".to_owned() });
    let after = confirmation.after.unwrap();
    assert!(after.contains("layer.1.delta.delta"), "the next source is the next layer's: {after}");
}

/// A copy of a checkpoint in which one weight of a matrix is the next number.
fn with_another_weight(from: &Path, to: &Path, tensor: &str) {
    for file in std::fs::read_dir(from).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let path = to.join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let start = usize::try_from(header[tensor]["data_offsets"][0].as_u64().unwrap()).unwrap();
    let at = 8 + length + start;
    assert_ne!(bytes[at] & 0x7f, 0x7f, "the next number differs in the lowest byte alone");
    bytes[at] += 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn one_weight_of_one_layer_names_its_operation() {
    let chain = model(TINY);
    for (tensor, site) in [
        ("model.layers.2.linear_attn.out_proj.weight", "layer.2.delta.out_proj"),
        ("model.layers.3.self_attn.k_proj.weight", "layer.3.attn.k_proj"),
        ("model.layers.1.mlp.down_proj.weight", "layer.1.mlp.down_proj"),
    ] {
        let changed = tempfile::tempdir().unwrap();
        with_another_weight(&folder(TINY), changed.path(), tensor);
        let checkpoint = Checkpoint::open(changed.path()).unwrap();
        let block = TextModel::load(&checkpoint, Dtype::Float32).unwrap();
        let stage = Stage { block: &block, ..stage(&chain, "", &[]) };
        let answers = found(&stage, &script(&stage, 3, &[3, 1], 12), true);
        assert_eq!(answers.class, Class::Operation, "{tensor}");
        let (round, row, named) = named(&answers).unwrap();
        assert_eq!((round, row, named.as_str()), (0, 0, site));
        assert!(confirmed(&answers));
        let sources = answers.sources.unwrap();
        assert_eq!(sources.sources.iter().map(|one| one.site.as_str()).collect::<Vec<_>>(), [site]);
        assert_eq!(sources.identical, Some((12, 6)), "{:?}", sources.rest);
    }
}
