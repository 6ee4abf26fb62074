//! Plants: the grammar, and that a fault changes the rows that it names, by what it says, and no others.

use super::support::{Memory, model, options, prompt};
use exactness::algebra::bits::{self, Dtype};
use exactness::engine::classic;
use exactness::engine::drafter::{DrafterSpec, Ground};
use exactness::engine::model::TextModel;
use exactness::engine::op::Op;
use exactness::engine::plant::{Bookkeeping, Change, Fault, OpFault, Plant, Planted, Sides};
use exactness::engine::round;
use exactness::engine::rows::RowDetail;
use exactness::engine::session::{Options, Request, Session};
use exactness::engine::tap::{Call, Forward, Kernels, Silent, Site, Tap};
use exactness::engine::{Result, raw};
use exactness::transcript::{Line, Row, TokenId};
use mlx_rs::Array;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn plant(text: &str) -> Plant {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn texts_that_are_no_plants() {
    let refused = |text: &str| text.parse::<Plant>().unwrap_err().to_string();
    insta::assert_snapshot!(refused("ulp=1"), @"read plant: it names no operation, as in op=o_proj, and no fault of bookkeeping, as in fault=skipped-rewind");
    insta::assert_snapshot!(refused("op=oproj"), @r#"read plant: "oproj" is not an operation"#);
    insta::assert_snapshot!(refused("op=linear"), @r#"read plant: "linear" is not an operation"#);
    insta::assert_snapshot!(refused("op=o_proj,row"), @r#"read plant: "row" is not <key>=<value>, as in op=o_proj,layer=5,row=2,from=40,ulp=1"#);
    insta::assert_snapshot!(refused("op=o_proj,rows=8"), @r#"read plant: no key "rows"; keys are op, layer, row, rows>=, rows<=, from, every, ulp, value, order, fault, count, seed, side"#);
    insta::assert_snapshot!(refused("op=o_proj,row=1,row=2"), @"read plant: row is given twice");
    insta::assert_snapshot!(refused("op=o_proj,ulp=1,value=2"), @"read plant: the change is given twice");
    insta::assert_snapshot!(refused("op=o_proj,ulp=0"), @r#"read plant: ulp takes 1 to 1024 steps, not "0""#);
    insta::assert_snapshot!(refused("op=o_proj,value=nan"), @r#"read plant: value takes a finite number that is not 0, to be added, not "nan""#);
    insta::assert_snapshot!(refused("op=lm_head,layer=1"), @"read plant: layer is given for an operation outside the layers");
    insta::assert_snapshot!(refused("op=conv,order=halves"), @"read plant: order=halves is for linear layers: other sums are not asked for");
    insta::assert_snapshot!(refused("op=expert_choice"), @"read plant: expert_choice names experts: ulp and value are for router");
    insta::assert_snapshot!(refused("op=o_proj,rows>=8,rows<=4"), @"read plant: no call has rows>= and rows<= at once");
    insta::assert_snapshot!(refused("op=o_proj,seed=3"), @"read plant: seed chooses the numbers that count asks for");
    insta::assert_snapshot!(refused("op=o_proj,fault=state"), @r#"read plant: fault takes stale, rejected-row, skipped-rewind, state-ahead, selection or prefill, not "state""#);
}

#[test]
fn keys_that_mean_nothing_for_a_fault_of_bookkeeping() {
    let refused = |text: &str| text.parse::<Plant>().unwrap_err().to_string();
    insta::assert_snapshot!(refused("fault=rejected-row,op=o_proj"), @"read plant: fault=rejected-row takes no op: it is of no operation");
    insta::assert_snapshot!(refused("fault=selection,value=2"), @"read plant: fault=selection takes no value: it is of no operation");
    insta::assert_snapshot!(refused("fault=state-ahead,row=1"), @"read plant: fault=state-ahead takes no row: it is not of single rows");
    insta::assert_snapshot!(refused("fault=prefill,side=block"), @"read plant: fault=prefill takes no side: it can only act in one kind of forward");
    insta::assert_snapshot!(refused("fault=stale,fault=selection"), @"read plant: fault is given twice");
    insta::assert_snapshot!(refused("fault=prefill,fault=selection"), @"read plant: fault is given twice");
    insta::assert_snapshot!(refused("fault=skipped-rewind,every=0"), @r#"read plant: every takes a count from 1, not "0""#);
    for fault in ["rejected-row", "skipped-rewind", "state-ahead", "selection", "prefill"] {
        let without = |key: &str, value: &str| {
            let says = refused(&format!("fault={fault},{key}{value}"));
            assert!(says.starts_with(&format!("read plant: fault={fault} takes no {key}: it ")), "{says}");
            assert_eq!(says.lines().count(), 1);
        };
        let of_ops = [("layer", "=1"), ("ulp", "=1"), ("order", "=halves"), ("count", "=1"), ("seed", "=1")];
        of_ops.iter().chain(&[("rows>=", "8"), ("rows<=", "8")]).for_each(|(key, value)| without(key, value));
        let narrowed = format!("fault={fault},from=3,every=2");
        assert_eq!(plant(&narrowed).to_string(), narrowed);
    }
}

#[test]
fn a_plant_that_the_model_has_no_place_for_is_named() {
    let layers = [vec![Op::Conv, Op::GateProj], vec![Op::OProj, Op::GateProj]];
    let misplaced = |text: &str| plant(text).misplaced(&layers);
    for fits in ["op=o_proj", "op=o_proj,layer=1", "op=conv,layer=0", "op=gate_proj,layer=1", "op=lm_head"] {
        assert_eq!(misplaced(fits), None, "{fits}");
    }
    insta::assert_snapshot!(misplaced("op=o_proj,layer=0").unwrap(), @"op=o_proj,layer=0,ulp=1: layer 0 has no o_proj");
    insta::assert_snapshot!(misplaced("op=conv,layer=2").unwrap(), @"op=conv,layer=2,ulp=1: the model has layers 0 to 1");
    for text in ["fault=rejected-row", "fault=skipped-rewind", "fault=selection", "fault=prefill"] {
        let fits = plant(text).misplaced(&[vec![Op::Attention]]);
        assert_eq!(fits, None, "{text}");
    }
    assert_eq!(misplaced("fault=state-ahead"), plant("fault=state-ahead").misplaced(&[]));
    assert_eq!(plant("fault=state-ahead").misplaced(&[vec![Op::Attention], vec![Op::Delta]]), None);
    insta::assert_snapshot!(misplaced("fault=state-ahead,from=9").unwrap(), @"fault=state-ahead,from=9: no layer of this model has a recurrent state");
    insta::assert_snapshot!(misplaced("fault=rejected-row").unwrap(), @"fault=rejected-row: no layer of this model has keys and values");
    let none = plant("op=conv").misplaced(&layers[1..]).unwrap();
    insta::assert_snapshot!(none, @"op=conv,ulp=1: no layer of this model has conv");
}

fn changes() -> impl Strategy<Value = Change> {
    let value = prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL;
    prop_oneof![(1u16..=1024).prop_map(Change::Ulp), value.prop_map(Change::Value), Just(Change::Stale)]
}

prop_compose! {
    fn op_faults()(
        op in prop::sample::select(Op::all().filter(|op| *op != Op::ExpertChoice).collect::<Vec<_>>()),
        layer in any::<Option<u16>>(),
        (least, more) in (prop::option::of(1u16..100), prop::option::of(0u16..100)),
        change in changes(),
        drawn in prop::option::of((1u32.., any::<Option<u64>>())),
    ) -> OpFault {
        let drawn = drawn.filter(|_| change != Change::Stale);
        OpFault {
            op,
            layer: layer.filter(|_| op.block().is_some()),
            at_least: least,
            at_most: more.map(|more| least.unwrap_or(1) + more),
            change,
            count: drawn.map(|(count, _)| count),
            seed: drawn.and_then(|(_, seed)| seed),
        }
    }
}

fn faults() -> impl Strategy<Value = Fault> {
    let bookkeeping = prop::sample::select(vec![
        Bookkeeping::RejectedRow,
        Bookkeeping::SkippedRewind,
        Bookkeeping::StateAhead,
        Bookkeeping::Selection,
        Bookkeeping::Prefill,
    ]);
    prop_oneof![3 => op_faults().prop_map(Fault::Op), 1 => bookkeeping.prop_map(Fault::Bookkeeping)]
}

prop_compose! {
    fn plants()(
        fault in faults(),
        row in any::<Option<u16>>(),
        (from, every) in (any::<Option<u32>>(), prop::option::of(1u32..)),
        sides in prop::sample::select(vec![Sides::Block, Sides::Chain, Sides::Both, Sides::Prefill]),
    ) -> Plant {
        let (row, sides) = match fault {
            Fault::Op(_) | Fault::Bookkeeping(Bookkeeping::Selection) => (row, sides),
            Fault::Bookkeeping(fault) => (None, fault.sides()),
        };
        Plant { fault, row, from, every, sides }
    }
}

proptest! {
    #[test]
    fn text_survives_a_round_trip(plant in plants()) {
        let text = plant.to_string();
        prop_assert_eq!(text.parse::<Plant>().unwrap(), plant, "{}", text);
    }
}

/// Digest and bytes of the row behind each stream index that a decoding kept.
struct Rows {
    stream: Vec<TokenId>,
    bytes: BTreeMap<i64, Vec<u8>>,
}

/// Keeps the bytes of rows beside their lines.
#[derive(Default)]
struct Kept {
    memory: Memory,
    bytes: BTreeMap<i64, Vec<u8>>,
}

impl exactness::engine::session::Recorder for Kept {
    fn line(&mut self, line: Line) -> Result<()> {
        self.memory.line(line)
    }

    fn keep(&mut self, row: &mut Row, bytes: &[u8]) -> Result<()> {
        if let Some(index) = row.index {
            self.bytes.insert(index, bytes.to_vec());
        }
        Ok(())
    }
}

const PROMPT: usize = 20;
const TOKENS: usize = 17;

fn with_bytes(routes: &str) -> Options {
    Options { detail: RowDetail::Bytes, routes: routes.parse().unwrap(), ..options() }
}

fn chain(model: &TextModel, tap: &mut dyn Tap) -> Rows {
    let (options, prompt) = (with_bytes(""), prompt(11, PROMPT, 512));
    let mut kept = Kept::default();
    let mut session = Session::new(model, &options, tap).unwrap();
    let request = Request { sequence: 0, prompt: &prompt, max_tokens: TOKENS };
    let stream = classic::decode(&mut session, &request, &mut kept).unwrap().tokens;
    Rows { stream, bytes: kept.bytes }
}

/// Four rounds of 4 rows after the prefill token: stream index 1 + 4 · round + row.
fn blocks(model: &TextModel, reference: &[TokenId], routes: &str, tap: &mut dyn Tap) -> Rows {
    let (options, prompt) = (with_bytes(routes), prompt(11, PROMPT, 512));
    let mut kept = Kept::default();
    let mut session = Session::new(model, &options, tap).unwrap();
    let ground = Ground { sequence: 0, reference, vocabulary: 512 };
    let mut drafter = "oracle".parse::<DrafterSpec>().unwrap().build(&ground, None);
    let request = Request { sequence: 0, prompt: &prompt, max_tokens: TOKENS };
    let done = round::decode(&mut session, &request, (4, drafter.as_mut()), &mut kept).unwrap();
    Rows { stream: done.decoded.tokens, bytes: kept.bytes }
}

/// Stream indexes whose rows differ between plain decoding and blocks with a plant in them.
fn parted(text: &str, routes: &str) -> Vec<i64> {
    let model = model("tiny-random-qwen35");
    let plain = chain(&model, &mut Silent);
    let planted = blocks(&model, &plain.stream, routes, &mut Planted::new(&[plant(text)]));
    assert_eq!(planted.stream.len(), TOKENS, "{text}");
    assert_eq!(plain.bytes.len(), TOKENS, "{text}: every row is compared");
    let differs = |index: &i64| plain.bytes.get(index) != planted.bytes.get(index);
    plain.bytes.keys().copied().filter(differs).collect()
}

/// A change of the head's output stays in its own row, so each key of the grammar can be seen alone.
#[test]
fn a_fault_in_the_head_changes_the_rows_that_it_names_and_no_others() {
    let every: Vec<i64> = (1..17).collect();
    assert_eq!(parted("op=lm_head", ""), every);
    assert_eq!(parted("op=lm_head,row=2", ""), [3, 7, 11, 15]);
    // Stream index 1 is the row at position 20.
    assert_eq!(parted("op=lm_head,from=30", ""), (11..17).collect::<Vec<_>>());
    assert_eq!(parted("op=lm_head,from=22,every=5", ""), [3, 8, 13]);
    assert_eq!(parted("op=lm_head,rows>=4", ""), every);
    assert_eq!(parted("op=lm_head,rows>=5", ""), [0i64; 0]);
    assert_eq!(parted("op=lm_head,rows>=3,row=1", ""), [2, 6, 10, 14]);
    assert_eq!(parted("op=lm_head,side=chain", ""), [0i64; 0]);
    assert_eq!(parted("op=lm_head,side=prefill", ""), [0]);
}

#[test]
fn a_dispatch_by_rows_is_cured_by_calls_of_fewer_rows() {
    assert_eq!(parted("op=lm_head,rows>=4", "lm_head=rows:3"), [0i64; 0]);
    assert_eq!(parted("op=lm_head,rows>=3", "lm_head=rows:3"), [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]);
    assert_eq!(parted("op=lm_head,rows<=1", "lm_head=rows:3"), [4, 8, 12, 16]);
    assert_eq!(parted("op=gate_proj,rows>=4", "linear=rows:3"), [0i64; 0]);
    assert_ne!(parted("op=gate_proj,rows>=4", ""), [0i64; 0]);
}

#[test]
fn a_fault_on_both_sides_is_no_difference_and_one_in_the_cache_stays() {
    let model = model("tiny-random-qwen35");
    let both = [plant("op=o_proj,ulp=8,side=both"), plant("op=delta,ulp=2,count=3,seed=5,side=both")];
    let plain = chain(&model, &mut Planted::new(&both));
    let planted = blocks(&model, &plain.stream, "", &mut Planted::new(&both));
    assert_eq!((&plain.stream, &plain.bytes), (&planted.stream, &planted.bytes));
    assert_ne!(chain(&model, &mut Silent).bytes, plain.bytes);
    // Written into the cache at one position, it is read by every row after it.
    let first = parted("op=v_proj,layer=3,from=25,every=1000000,value=0.5", "");
    assert_eq!(first, (6..17).collect::<Vec<_>>());
}

#[test]
fn stale_buffers_and_other_orders_are_found() {
    let stale = parted("op=o_proj,fault=stale,row=1", "");
    assert_eq!(stale.first(), Some(&2), "{stale:?}");
    let halves = parted("op=down_proj,order=halves", "");
    assert!(halves.len() > 8, "{halves:?}");
    assert_eq!(parted("op=lm_head,order=halves,row=3", "").iter().map(|at| at % 4).max(), Some(0));
}

/// Keeps what comes out of one site, after the plant.
struct Watched(Planted, Site, Vec<(Forward, Vec<u8>)>, Option<Forward>);

impl Tap for Watched {
    fn begin(&mut self, forward: Forward) {
        self.0.begin(forward);
        self.3 = Some(forward);
    }

    fn call(&mut self, site: Site, rows: usize) {
        self.0.call(site, rows);
    }

    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        self.0.compute(call, kernels)
    }

    fn at(&mut self, site: Site, output: Array) -> Result<Array> {
        let before = raw::bytes_of(&output)?;
        let after = self.0.at(site, output)?;
        if site == self.1 {
            let found = bits::compare(Dtype::F32, &before, &raw::bytes_of(&after)?).expect("one shape");
            let counts = format!("{} values by {}", found.differing_values, found.max_ulps);
            self.2.push((self.3.expect("a forward began"), counts.into_bytes()));
        }
        Ok(after)
    }
}

#[test]
fn a_change_is_exactly_what_it_says() {
    let model = model("tiny-random-qwen35");
    let reference = chain(&model, &mut Silent).stream;
    // 4 heads before rows: a row of rope's output does not lie in one piece.
    for (text, says) in [
        ("op=rope_q,layer=3,row=2,ulp=3,count=7", "7 values by 3"),
        ("op=rope_q,layer=3,row=0,ulp=1024,count=1,seed=9", "1 values by 1024"),
    ] {
        let site = Site::of_layer(3, Op::RopeQ);
        let mut tap = Watched(Planted::new(&[plant(text)]), site, Vec::new(), None);
        blocks(&model, &reference, "", &mut tap);
        let blocks = tap.2.iter().filter(|(forward, _)| forward.rows == 4);
        let found: Vec<String> =
            blocks.map(|(_, counts)| String::from_utf8_lossy(counts).into_owned()).collect();
        assert_eq!(found, vec![says.to_owned(); found.len()], "{text}");
        assert!(found.len() >= 4, "{text}: {} blocks", found.len());
    }
}
