//! The bisect against causes at known places: another weight, another formula, planted faults; and against nothing.

use super::support::{checkpoint, folder, model, prompt};
use exactness::bisect::live::Live;
use exactness::bisect::run::{Answers, Ask, bisect};
use exactness::bisect::script::Script;
use exactness::bisect::side::Stage;
use exactness::bisect::trail::TrailFile;
use exactness::engine::cache::Rewind;
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::drafter::DrafterSpec;
use exactness::engine::model::TextModel;
use exactness::engine::plant::Plant;
use exactness::probe::dispatch::Machine;
use exactness::results::bisect::{Class, Handled, Key, Measured};
use mlx_rs::Dtype;
use std::path::Path;

const PROMPT: usize = 7;
pub(super) const TINY: &str = "tiny-random-qwen35";

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

pub(super) fn key() -> Key {
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
        tracer: None,
        write: None,
        progress: &|_| {},
    }
}

pub(super) fn found(stage: &Stage<'_>, script: &Script, all_sources: bool) -> Answers {
    found_in(TINY, stage, script, all_sources)
}

pub(super) fn found_in(name: &str, stage: &Stage<'_>, script: &Script, all_sources: bool) -> Answers {
    let checkpoint = checkpoint(name);
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

#[test]
fn kernels_that_cannot_be_traced_are_said_to_be_missing_and_change_nothing_else() {
    let (model, checkpoint) = (model(TINY), checkpoint(TINY));
    let stage = stage(&model, "delta=chunked", &[]);
    let script = script(&stage, 4, &[4, 2], 8);
    let answers = |tracer| {
        let ask = Ask { tracer, ..ask(&checkpoint, true) };
        bisect(&stage, &script, ask, &mut TrailFile::in_memory(key())).unwrap()
    };
    let (with, without) = (answers(Some(Err("failed to load it"))), answers(None));
    let why = Measured::Missing { why: "failed to load it".to_owned() };
    assert_eq!(why.says(), "The kernels were not measured: failed to load it.");
    assert_eq!((with.measured.clone(), without.measured.clone()), (Some(why), None));
    assert_eq!(Answers { measured: None, ..with }, without);
    assert!(without.sources.unwrap().sources.iter().all(|source| source.kernels.is_none()));
}

/// A copy of a checkpoint in which one weight of a matrix in bf16 is the next number.
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
    assert_eq!(header[tensor]["dtype"], "BF16", "{tensor}");
    let start = usize::try_from(header[tensor]["data_offsets"][0].as_u64().unwrap()).unwrap();
    let at = 8 + length + start;
    let weight = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    assert!(weight & 0x7fff < 0x7f7f && weight & 0x7fff > 0, "the next number is finite");
    bytes[at..at + 2].copy_from_slice(&(weight + 1).to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn one_weight_of_one_layer_names_its_operation() {
    for (name, tensor, site) in [
        ("tiny-llama", "model.layers.1.self_attn.k_proj.weight", "layer.1.attn.k_proj"),
        ("tiny-llama", "model.layers.0.mlp.down_proj.weight", "layer.0.mlp.down_proj"),
        ("tiny-qwen35-moe", "model.layers.0.linear_attn.out_proj.weight", "layer.0.delta.out_proj"),
        ("tiny-qwen35-moe", "lm_head.weight", "lm_head"),
    ] {
        let (chain, changed) = (model(name), tempfile::tempdir().unwrap());
        with_another_weight(&folder(name), changed.path(), tensor);
        let block = Checkpoint::open(changed.path()).unwrap();
        let block = TextModel::load(&block, Dtype::Float32).unwrap();
        let stage = Stage { block: &block, ..stage(&chain, "", &[]) };
        let script = script(&stage, 3, &[3, 1], 12);
        let answers = found_in(name, &stage, &script, true);
        assert_eq!(answers.class, Class::Operation, "{tensor}");
        assert_eq!(named(&answers).unwrap().2, site);
        assert!(confirmed(&answers), "{:?}", answers.confirmation);
        let sources = answers.sources.unwrap();
        assert_eq!(sources.sources.iter().map(|one| one.site.as_str()).collect::<Vec<_>>(), [site]);
        assert_eq!(sources.identical, Some((12, 6)), "{:?}", sources.rest);
    }
}

#[test]
fn an_arm_is_equal_whoever_drafts() {
    let model = model(TINY);
    let mut rounds = 0;
    for drafter in ["oracle", "wrong", "cycle:1,3,0", "random:7", "ngram"] {
        let stage = stage(&model, "", &[]);
        let drafter: DrafterSpec = drafter.parse().unwrap();
        let arm = Live { width: 4, drafter: &drafter, recording: None, tokens: 20, end_ids: &[] };
        let script = arm.script(&stage, (0, &prompt(3, PROMPT, 512))).unwrap().unwrap();
        let answers = found(&stage, &script, false);
        assert_eq!((answers.class, answers.rows.selection), (Class::Identical, None));
        assert!(answers.rows.rows >= 19, "{}", answers.rows.rows);
        rounds += answers.rows.rounds;
    }
    assert!(rounds > 5 + 19, "blocks that keep one row are among them");
}

#[test]
fn the_earlier_of_two_faults_is_named_and_all_sources_are_both() {
    let model = model(TINY);
    let early = "op=o_proj,layer=3,from=12,ulp=64";
    let late = "op=gate_proj,layer=1,from=15,ulp=64";
    for plants in [[early, late], [late, early]] {
        let stage = stage(&model, "", &plants);
        let answers = found(&stage, &script(&stage, 3, &[2, 3], 14), true);
        // Positions 7, 8 | 9, 10, 11 | 12: the third round's first row.
        assert_eq!(named(&answers), Some((2, 0, "layer.3.attn.o_proj".to_owned())));
        assert!(confirmed(&answers));
        let sources = answers.sources.unwrap();
        let found: Vec<_> = sources.sources.iter().map(|one| (one.site.as_str(), one.position)).collect();
        assert_eq!(found, [("layer.3.attn.o_proj", 12), ("layer.1.mlp.gate_proj", 15)]);
        assert!(sources.identical.is_some(), "{:?}", sources.rest);
        assert_eq!(answers.struck.len(), 2);
    }
}

#[test]
fn what_a_row_inherits_is_followed_back_to_the_row_that_wrote_it() {
    let model = model(TINY);
    // One step of one number of a key: the row that writes it does not show it, and later rows may read it.
    let stage = stage(&model, "", &["op=k_proj,layer=3,from=9,every=100000,count=1,seed=3"]);
    let answers = found(&stage, &script(&stage, 2, &[2, 1], 24), false);
    assert_eq!(answers.class, Class::Operation);
    let operation = answers.seen.unwrap().operation.unwrap();
    assert_eq!((operation.site.as_str(), operation.position), ("layer.3.attn.k_proj", 9));
    assert_eq!((operation.amplitude.values.0, operation.amplitude.max_ulps), (1, 1));
    let left = answers.rows.state.unwrap();
    assert_eq!((left.part.as_str(), left.position), ("layer.3.keys", Some(9)));
}

#[test]
fn a_fault_of_both_sides_is_no_difference_and_one_of_the_chain_is() {
    let model = model(TINY);
    let both = stage(&model, "", &["op=o_proj,layer=3,ulp=64,side=both"]);
    assert_eq!(found(&both, &script(&both, 3, &[2], 10), false).class, Class::Identical);
    let chain = stage(&model, "", &["op=o_proj,layer=3,from=10,ulp=64,side=chain"]);
    let answers = found(&chain, &script(&chain, 3, &[2], 10), false);
    assert_eq!(named(&answers), Some((1, 1, "layer.3.attn.o_proj".to_owned())));
}

#[test]
fn a_prompt_that_differs_is_named_whatever_follows() {
    let model = model(TINY);
    let stage =
        stage(&model, "", &["op=v_proj,layer=3,from=4,ulp=64,side=prefill", "op=o_proj,ulp=64,from=9"]);
    let answers = found(&stage, &script(&stage, 3, &[2], 10), false);
    assert_eq!(answers.class, Class::Prefill);
    let left = answers.prefill.state.unwrap();
    assert_eq!((left.part.as_str(), left.position), ("layer.3.values", Some(4)));
    assert!(answers.confirmation.unwrap().after.is_some(), "from one state the rows part later on");
}

#[test]
fn a_trail_goes_on_where_it_was_cut() {
    let model = model(TINY);
    let stage = stage(&model, "delta=chunked", &[]);
    let script = script(&stage, 4, &[4, 2], 12);
    let checkpoint = Checkpoint::open(&folder(TINY)).unwrap();
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("trail.jsonl");
    let walk = || {
        let mut trail = TrailFile::open(&path, key()).unwrap();
        let known = trail.known();
        (bisect(&stage, &script, ask(&checkpoint, true), &mut trail).unwrap(), known)
    };
    let (whole, known) = walk();
    assert_eq!(known, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let answered = lines.len() - 1;
    assert_eq!(answered, 6, "prefill, controls, rows, round, confirmation, sources");
    for cut in 0..=answered {
        let half = lines.get(cut + 1).map_or("", |line| &line[..line.len() / 2]);
        std::fs::write(&path, lines[..=cut].concat() + half).unwrap();
        let (again, known) = walk();
        assert_eq!(known, cut);
        assert_eq!(again, whole, "cut after {cut}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    let other = Key { question: "another".to_owned(), ..key() };
    assert!(TrailFile::open(&path, other).is_err());
}

#[test]
fn a_smaller_run_is_found_and_parts() {
    let model = model(TINY);
    let stage = stage(&model, "", &["op=o_proj,layer=3,rows>=3,ulp=64"]);
    let script = script(&stage, 3, &[1, 3], 12);
    let checkpoint = Checkpoint::open(&folder(TINY)).unwrap();
    let ask = Ask { reduce: true, ..ask(&checkpoint, false) };
    let answers = bisect(&stage, &script, ask, &mut TrailFile::in_memory(key())).unwrap();
    let reduced = answers.reduced.unwrap();
    // Every block has three rows, so one id and one token are enough.
    assert_eq!((reduced.prompt, reduced.tokens), ((7, 1), (12, 1)));
    assert_eq!(reduced.ids, script.prompt[6..]);
    assert!(reduced.parts.is_some());
}

/// Answers of a bisect whose trail says so of one of its steps already.
fn told(step: &str, answer: &serde_json::Value) -> Answers {
    let model = model(TINY);
    let stage = stage(&model, "delta=chunked", &[]);
    let script = script(&stage, 4, &[4, 2], 12);
    let mut trail = TrailFile::in_memory(key());
    trail.keep(step, &serde_json::json!({"answer": answer, "fed": [0, 0]})).unwrap();
    bisect(&stage, &script, ask(&checkpoint(TINY), true), &mut trail).unwrap()
}

#[test]
fn what_parts_first_is_named_choice_or_operation() {
    let model = model(TINY);
    let drafter: DrafterSpec = "cycle:1,0,2".parse().unwrap();
    let (choice, operation) = ("fault=selection,from=9", "op=o_proj,layer=3,ulp=64");
    for (from, class) in [(13, Class::Selection), (8, Class::Operation)] {
        let stage = stage(&model, "", &[choice, &format!("{operation},from={from}")]);
        let arm = Live { width: 4, drafter: &drafter, recording: None, tokens: 14, end_ids: &[] };
        let script = arm.script(&stage, (0, &prompt(3, PROMPT, 512))).unwrap().unwrap();
        let answers = found(&stage, &script, false);
        assert_eq!(answers.class, class, "{from}");
        let first = answers.rows.selection.map(|row| row.position);
        assert_eq!(first, (class == Class::Selection).then_some(9), "of rows that differ nothing is said");
        assert!(!answers.rows.differing.is_empty());
    }
}

#[test]
fn a_control_that_parts_names_no_cause() {
    let control =
        serde_json::json!({"name": "block against its repeat", "rows": 3, "states": 1, "parts": "row 2"});
    let answers = told("controls", &serde_json::json!([control]));
    assert_eq!((answers.class, answers.class.word().exit_code()), (Class::NotComparable, 3));
    assert!(answers.seen.is_none() && answers.confirmation.is_none() && answers.sources.is_none());
    assert_eq!(answers.rows.rows, 0, "rows are not even walked");
}

#[test]
fn a_stale_capture_names_no_cause() {
    let sites = serde_json::json!({"round": 0, "rows": 4, "valid": false, "sites": []});
    let seen = serde_json::json!({
        "sites": sites, "layers": [], "operations": [], "heat": [], "operation": null, "inherited": [],
        "kernel": null, "rewind": null
    });
    let answers = told("round", &seen);
    assert_eq!((answers.class, answers.class.word().exit_code()), (Class::InvalidCapture, 3));
    assert!(answers.confirmation.is_none() && answers.sources.is_none());
    assert_eq!(answers.rows.differing.len(), 12, "the rows do differ");
}
