//! The engine against itself: a verify block of any width leaves exactly what plain decoding leaves.
//!
//! MLX's CPU kernels compute each row alone, so on the CPU a difference here is a fault of the engine.

use super::support::{Memory, model, options, prompt};
use exactness::engine::cache::{Rewind, StateDigest};
use exactness::engine::classic;
use exactness::engine::drafter::{DrafterSpec, Ground};
use exactness::engine::inventory;
use exactness::engine::model::TextModel;
use exactness::engine::op::Op;
use exactness::engine::round;
use exactness::engine::session::{Options, Request, Session};
use exactness::engine::side_routes::SideRoutes;
use exactness::engine::tap::{CallRecord, Silent, Site, Tap};
use exactness::transcript::{Line, Row, TokenId};
use std::collections::{BTreeMap, BTreeSet};

const WIDTHS: [usize; 7] = [1, 2, 3, 4, 6, 12, 16];

/// What plain decoding leaves: the stream, each row's digest by stream index, each state by cache length.
pub(super) struct Chain {
    pub(super) stream: Vec<TokenId>,
    rows: BTreeMap<i64, String>,
    states: BTreeMap<i32, StateDigest>,
}

pub(super) fn chain(model: &TextModel, prompt: &[TokenId], count: usize) -> Chain {
    let options = options();
    let mut memory = Memory { watch_states: true, ..Memory::default() };
    let mut silent = Silent;
    let mut session = Session::new(model, &options, &mut silent).unwrap();
    let request = Request { sequence: 0, prompt, max_tokens: count };
    let decoded = classic::decode(&mut session, &request, &mut memory).unwrap();
    let rows = memory.lines.iter().filter_map(|line| match line {
        Line::Prefill(line) => line.row.clone(),
        Line::Step(line) => line.row.clone(),
        _ => None,
    });
    let rows = rows.filter_map(|row| Some((row.index?, row.sha256?))).collect();
    Chain { stream: decoded.tokens, rows, states: memory.states.into_iter().collect() }
}

impl Chain {
    /// True for a row with the bytes of the chain's own at its place.
    pub(super) fn has(&self, row: &Row) -> bool {
        let own = row.index.and_then(|index| self.rows.get(&index));
        own.is_some() && row.sha256.as_ref() == own
    }
}

pub(super) struct Speculative {
    stream: Vec<TokenId>,
    memory: Memory,
}

pub(super) fn speculate(
    model: &TextModel,
    (prompt, reference): (&[TokenId], &[TokenId]),
    (width, drafter): (usize, &str),
    options: &Options,
    tap: &mut dyn Tap,
) -> Speculative {
    let mut memory = Memory { watch_states: true, ..Memory::default() };
    let mut session = Session::new(model, options, tap).unwrap();
    let ground = Ground { sequence: 0, reference, vocabulary: model.config().vocab_size };
    let mut drafter = drafter.parse::<DrafterSpec>().unwrap().build(&ground, None);
    let request = Request { sequence: 0, prompt, max_tokens: reference.len() };
    let done = round::decode(&mut session, &request, (width, drafter.as_mut()), &mut memory).unwrap();
    Speculative { stream: done.decoded.tokens, memory }
}

/// Every accepted count from none to all, or the other way round.
pub(super) fn every_count(width: usize, falling: bool) -> String {
    let count = |number| if falling { width - 1 - number } else { number };
    let counts: Vec<String> = (0..width).map(|number| count(number).to_string()).collect();
    format!("cycle:{}", counts.join(","))
}

fn kept_rows(memory: &Memory) -> impl Iterator<Item = &Row> {
    memory.lines.iter().flat_map(|line| match line {
        Line::Round(round) => round.rows.iter().flatten().filter(|row| row.index.is_some()).collect(),
        Line::Prefill(line) => line.row.iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    })
}

/// Stream, every kept row and the state after every round are the chain's; says how many rows were compared.
pub(super) fn assert_exact(what: &str, chain: &Chain, arm: &Speculative) -> usize {
    assert_eq!(arm.stream, chain.stream, "{what}: stream");
    let mut rows = 0;
    for row in kept_rows(&arm.memory) {
        let index = row.index.unwrap();
        assert_eq!(row.sha256.as_ref(), chain.rows.get(&index), "{what}: row of stream index {index}");
        rows += 1;
    }
    assert_eq!(rows, chain.stream.len(), "{what}: one row a token");
    let mut states = 0;
    for (length, state) in &arm.memory.states {
        if let Some(expected) = chain.states.get(length) {
            assert_eq!(state, expected, "{what}: state at length {length}");
            states += 1;
        }
    }
    // A cut last round leaves rows past the chain's end, so its state has nothing to be compared with.
    assert!(states + 1 >= arm.memory.states.len() && states > 1, "{what}: compared {states} states");
    rows
}

fn accepted_counts(memory: &Memory) -> BTreeSet<i64> {
    let rounds = memory.lines.iter().filter_map(|line| match line {
        Line::Round(round) => Some(round.accepted),
        _ => None,
    });
    rounds.collect()
}

/// Four prompts whose continuations of 128 tokens cross position 256.
const PROMPTS: [(u64, usize); 4] = [(1, 130), (2, 140), (3, 150), (4, 160)];

/// All widths over some of the prompts; each prompt with one rewind, or with both. Two prompts that follow each other
/// reach every count and both rewinds.
fn widths_are_exact(name: &str, prompts: std::ops::Range<usize>, both: bool) {
    let model = model(name);
    let mut reached: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for (number, (seed, length)) in PROMPTS.into_iter().enumerate().skip(prompts.start).take(prompts.len()) {
        let prompt = prompt(seed, length, model.config().vocab_size as u64);
        let chain = chain(&model, &prompt, 128);
        let own = [Rewind::KeepStates, Rewind::Replay][number % 2];
        let other = [Rewind::Replay, Rewind::KeepStates][number % 2];
        for rewind in [Some(own), both.then_some(other)].into_iter().flatten() {
            for width in WIDTHS {
                let what = format!("{name} seed {seed}, width {width}, {rewind:?}");
                let options = Options { rewind, ..options() };
                let pattern = every_count(width, number % 2 == 1);
                let arm =
                    speculate(&model, (&prompt, &chain.stream), (width, &pattern), &options, &mut Silent);
                assert_eq!(assert_exact(&what, &chain, &arm), 128);
                reached.entry(width).or_default().extend(accepted_counts(&arm.memory));
            }
        }
    }
    // The budget ends a run before a long cycle does, so it takes prompts that go up and prompts that go down.
    for (width, counts) in reached {
        assert_eq!(counts.len(), width, "{name}, width {width}: accepted counts {counts:?}");
    }
}

#[test]
fn tiny_is_exact_at_every_width() {
    widths_are_exact("tiny-random-qwen35", 0..4, false);
}

#[test]
fn wide_heads_are_exact_at_every_width() {
    widths_are_exact("tiny-random-qwen35-d256", 0..4, false);
}

// Two tests, so that they run beside each other.
#[test]
fn the_demo_is_exact_at_every_width() {
    widths_are_exact("demo-qwen35-4bit", 0..2, false);
}

#[test]
fn the_demo_is_exact_at_every_width_on_longer_prompts() {
    widths_are_exact("demo-qwen35-4bit", 2..4, false);
}

#[test]
#[ignore = "every prompt with both rewinds takes twice the time; run with --ignored before a release"]
fn every_model_is_exact_with_both_rewinds_on_every_prompt() {
    for name in ["tiny-random-qwen35", "tiny-random-qwen35-d256", "demo-qwen35-4bit"] {
        widths_are_exact(name, 0..4, true);
    }
}

#[test]
fn what_is_drafted_does_not_matter() {
    let model = model("tiny-random-qwen35");
    let prompt = prompt(5, 60, 512);
    let chain = chain(&model, &prompt, 96);
    for drafter in ["oracle", "wrong", "random:3", "ngram"] {
        let arm = speculate(&model, (&prompt, &chain.stream), (6, drafter), &options(), &mut Silent);
        assert_exact(drafter, &chain, &arm);
    }
}

/// Row counts of each call at `op` of `layer` within the verify blocks of one arm.
fn calls(routes: &str, layer: Option<usize>, op: Op) -> Vec<usize> {
    let model = model("tiny-random-qwen35");
    let prompt = prompt(6, 20, 512);
    let chain = chain(&model, &prompt, 5);
    let options = Options { routes: routes.parse::<SideRoutes>().unwrap(), ..options() };
    let mut record = CallRecord::default();
    speculate(&model, (&prompt, &chain.stream), (4, "oracle"), &options, &mut record);
    let calls = record.rows_at(Site { layer, op });
    // The prompt's own call comes first; budget 5 is one round of 4 rows after the prefill token.
    calls[1..].to_vec()
}

#[test]
fn a_block_really_is_a_block() {
    assert_eq!(calls("", Some(0), Op::InProjQkv), [4]);
    assert_eq!(calls("linear=whole", Some(3), Op::QProj), [4]);
    assert_eq!(calls("", None, Op::LmHead), [4]);
    assert_eq!(calls("linear=rows:3", Some(3), Op::QProj), [3, 1]);
    assert_eq!(calls("layer.3.q_proj=rows", Some(3), Op::QProj), [1, 1, 1, 1]);
    assert_eq!(calls("layer.1.in_proj_z=rows", Some(0), Op::InProjZ), [4]);
    assert_eq!(calls("", Some(3), Op::Attention), [1, 1, 1, 1]);
    assert_eq!(calls("attention=block", Some(3), Op::Attention), [4]);
}

/// Every operation of the model that has such a route, two rows a call.
pub(super) fn every_operation_by_rows(model: &TextModel) -> String {
    let layers = inventory::layers(model.config()).concat();
    let there = Op::all().filter(|op| op.block().is_none() || layers.contains(op));
    let by_rows = there.filter(|op| !matches!(op, Op::Attention | Op::Delta));
    by_rows.map(|op| format!("{}=rows:2", op.name())).collect::<Vec<_>>().join(",")
}

#[test]
fn every_route_of_rows_leaves_the_same_bytes() {
    let model = model("tiny-random-qwen35");
    let prompt = prompt(7, 30, 512);
    let chain = chain(&model, &prompt, 40);
    for routes in
        [every_operation_by_rows(&model), "attention=contiguous".to_owned(), "attention=block".to_owned()]
    {
        let options = Options { routes: routes.parse::<SideRoutes>().unwrap(), ..options() };
        let pattern = every_count(6, false);
        let arm = speculate(&model, (&prompt, &chain.stream), (6, &pattern), &options, &mut Silent);
        assert_exact(&routes, &chain, &arm);
    }
}

#[test]
fn the_chunked_form_is_another_arithmetic() {
    let model = model("tiny-random-qwen35");
    let prompt = prompt(8, 30, 512);
    let chain = chain(&model, &prompt, 40);
    let options = Options { routes: "delta=chunked".parse::<SideRoutes>().unwrap(), ..options() };
    let arm = speculate(&model, (&prompt, &chain.stream), (6, "oracle"), &options, &mut Silent);
    let differing = kept_rows(&arm.memory)
        .filter(|row| row.sha256.as_ref() != row.index.and_then(|index| chain.rows.get(&index)))
        .count();
    assert!(differing > 0, "the chunked form left the chain's bytes in every row");
}
