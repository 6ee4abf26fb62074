//! Random planted faults against the bisect: every one is found at exactly its place. A part of them here, all 300 by
//! `harness/bisect-plants.sh`.

use super::bisected::{found_in, named, script, stage};
use super::support::model;
use exactness::engine::inventory;
use exactness::engine::model::TextModel;
use exactness::engine::op::{Group, Op};
use exactness::engine::plant::Plant;
use exactness::results::bisect::Class;
use std::collections::BTreeMap;

const CHECKPOINTS: [&str; 7] = [
    "tiny-random-qwen35",
    "tiny-llama",
    "tiny-llama-4bit",
    "tiny-qwen3",
    "tiny-qwen3-next",
    "tiny-qwen35-moe",
    "tiny-qwen35-moe-4bit",
];
const PROMPT: usize = 7;
const TOKENS: usize = 14;

/// Numbers for the plants.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A plant, the blocks that it is put into, and the round, row and site at which it first acts.
struct Case {
    plant: String,
    width: usize,
    pattern: Vec<usize>,
    acts: (u64, u64, String),
}

fn case(model: &TextModel, draw: &mut Draw) -> Case {
    let layers = inventory::layers(model.config());
    let width = *draw.of(&[2, 3, 4, 6]);
    let pattern: Vec<usize> = (0..3).map(|_| 1 + draw.below(width)).collect();
    let (op, layer) = place(&layers, draw);
    let (change, rounds_before) = change(op, draw);
    // Where a block begins and how many of its rows are kept, round by round.
    let mut blocks = Vec::new();
    let mut done = 0;
    for kept in pattern.iter().cycle() {
        if done >= TOKENS {
            break;
        }
        let kept = (*kept).min(TOKENS - done);
        blocks.push((PROMPT + done, kept));
        done += kept;
    }
    let round = rounds_before + draw.below(blocks.len() - rounds_before);
    let row = draw.below(blocks[round].1);
    let (only_row, by_rows) = (draw.below(2) == 0, draw.below(3) == 0);
    let from = blocks[round].0 + row;
    // Operations that are called a row at a time never meet such a call.
    let by_rows = by_rows && !matches!(op, Op::Attention | Op::Delta);
    let parts = [
        Some(format!("op={}", op.name())),
        layer.map(|layer| format!("layer={layer}")),
        only_row.then(|| format!("row={row}")),
        by_rows.then(|| format!("rows>={width}")),
        Some(format!("from={from},{change}")),
    ];
    let plant = parts.into_iter().flatten().collect::<Vec<_>>().join(",");
    let site = match (layer, op.block()) {
        (None, _) => op.name().to_owned(),
        (Some(layer), Some("")) => format!("layer.{layer}.{}", op.name()),
        (Some(layer), block) => format!("layer.{layer}.{}.{}", block.unwrap(), op.name()),
    };
    Case { plant, width, pattern, acts: (round as u64, row as u64, site) }
}

/// An operation that gives numbers, in one layer or outside.
fn place(layers: &[Vec<Op>], draw: &mut Draw) -> (Op, Option<usize>) {
    if draw.below(8) == 0 {
        return (*draw.of(&[Op::Embed, Op::FinalNorm, Op::LmHead]), None);
    }
    let layer = draw.below(layers.len());
    let ops: Vec<Op> = layers[layer].iter().copied().filter(|op| *op != Op::ExpertChoice).collect();
    (*draw.of(&ops), Some(layer))
}

/// A change that is large enough not to be rounded away, and how many rounds it needs before it.
fn change(op: Op, draw: &mut Draw) -> (String, usize) {
    match draw.below(4) {
        0 => (format!("ulp={}", 512 + draw.below(512)), 0),
        // Not all numbers: a softmax takes back what is added to every one of them.
        1 => (format!("value=0.{},count=3,seed={}", 1 + draw.below(8), draw.below(99)), 0),
        2 if op.group() == Group::Linear => ("order=halves".to_owned(), 0),
        3 => ("fault=stale".to_owned(), 1),
        _ => ("ulp=1024".to_owned(), 0),
    }
}

/// What became of each case.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    exact: usize,
    /// The fault changed no byte, or none that a row or a state shows, and the answer says so.
    equal: usize,
    /// Another order of the same sum first gave other bytes further on.
    later: usize,
    /// The first act of another fault was rounded away before it reached a row or a state; a later one was named.
    faded: usize,
}

fn run(seed: u64, cases: usize) -> Counted {
    let mut draw = Draw(seed);
    let models: BTreeMap<&str, TextModel> = CHECKPOINTS.iter().map(|name| (*name, model(name))).collect();
    let mut counted = Counted::default();
    for number in 0..cases {
        let name = CHECKPOINTS[number % CHECKPOINTS.len()];
        let case = case(&models[name], &mut draw);
        let stage = stage(&models[name], "", &[&case.plant]);
        let script = script(&stage, case.width, &case.pattern, TOKENS);
        let answers = found_in(name, &stage, &script, false);
        let about = format!("{name} {} width {} {:?}", case.plant, case.width, case.pattern);
        let text = case.plant.parse::<Plant>().unwrap().to_string();
        assert!(answers.struck.contains(&text), "never struck: {about}");
        let named = named(&answers);
        match (answers.class, named) {
            (Class::Identical, None) => counted.equal += 1,
            (Class::Operation, Some(place)) if place == case.acts => counted.exact += 1,
            (Class::Operation, Some(place)) if place > case.acts && place.2 == case.acts.2 => {
                let sums = case.plant.contains("order=halves");
                *(if sums { &mut counted.later } else { &mut counted.faded }) += 1;
            }
            other => panic!("{about}: expected {:?}, found {other:?}", case.acts),
        }
        if let Some(confirmation) = &answers.confirmation {
            assert!(confirmation.confirmed(), "{about}: {confirmation:?}");
        }
    }
    counted
}

#[test]
fn random_plants_are_found_at_exactly_their_places() {
    let counted = run(11, 14);
    assert_eq!(counted.exact + counted.equal + counted.later + counted.faded, 14);
    assert!(counted.exact >= 11, "{counted:?}");
}

#[test]
#[ignore = "takes minutes: harness/bisect-plants.sh"]
fn three_hundred_random_plants_are_found_at_exactly_their_places() {
    let counted = run(2026, 300);
    println!("{counted:?}");
    assert_eq!(counted.exact + counted.equal + counted.later + counted.faded, 300);
    assert!(counted.exact >= 270 && counted.faded <= 3, "{counted:?}");
}
