//! Padding: rows of zeros after a call's own, whose outputs are dropped, on either side.
//!
//! A CPU computes each row alone, so bytes cannot show that a call was padded; the calls that taps see do.

use super::exactness::{assert_exact, chain, every_count, speculate};
use super::support::{Memory, drawn, load, options, prompt};
use exactness::engine::blocks::{Columns, Linear};
use exactness::engine::checkpoint::{Mode, Quantization};
use exactness::engine::op::Op;
use exactness::engine::pass::Pass;
use exactness::engine::plant::{Plant, Planted};
use exactness::engine::raw::{self, Quantized, bytes_of, rows_of};
use exactness::engine::routes::{Defaults, Plan, Route};
use exactness::engine::session::{Options, Request, Session};
use exactness::engine::side_routes::SideRoutes;
use exactness::engine::tap::{Call, Forward, Kernels, Side, Site, Tap};
use exactness::engine::{Result, classic, inventory};
use exactness::transcript::Line;
use mlx_rs::ops::{concatenate, zeros_dtype};
use mlx_rs::{Array, Dtype};
use proptest::prelude::*;
use std::collections::BTreeMap;

const INPUTS: i32 = 64;
const OUTPUTS: i32 = 48;

/// What the kernels of each call were given, and what taps were told of them.
#[derive(Default)]
struct Given {
    inputs: Vec<Array>,
    rows: Vec<usize>,
    plain: BTreeMap<Site, Vec<usize>>,
    side: Option<Side>,
}

impl Tap for Given {
    fn begin(&mut self, forward: Forward) {
        self.side = Some(forward.side);
    }

    fn call(&mut self, site: Site, rows: usize) {
        self.rows.push(rows);
        if self.side != Some(Side::Prefill) {
            self.plain.entry(site).or_default().push(rows);
        }
    }

    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        self.inputs.push(call.inputs[0].clone());
        kernels(call.inputs)
    }
}

fn product(dense: bool, seed: u64, dtype: Dtype) -> Linear {
    let matrix = drawn(seed, &[OUTPUTS, INPUTS], dtype);
    if dense {
        return Linear::Dense(matrix);
    }
    let how = Quantization { mode: Mode::Affine, bits: 4, group: 32 };
    let parts = raw::quantize(&matrix, how).unwrap();
    let [codes, scales, biases] = &parts[..] else { panic!("{} parts", parts.len()) };
    let quantized = Quantized {
        codes: codes.clone(),
        scales: scales.clone(),
        biases: Some(biases.clone()),
        group: 32,
        bits: 4,
        mode: raw::mode_name(Mode::Affine),
        dtype,
    };
    Linear::Quantized(Columns::new(&quantized).unwrap())
}

fn through(linear: &Linear, route: Route, x: &Array, tap: &mut dyn Tap) -> Array {
    let plan = Plan::new(Defaults::Verify, &format!("o_proj={route}").parse().unwrap(), 1);
    let mut pass = Pass::new(&plan, tap);
    pass.enter(Some(0));
    let output = linear.forward(&mut pass, Op::OProj, x).unwrap(); // [1, T, out]
    output.eval().unwrap();
    output
}

/// How far apart neighbours lie on each axis that has some.
fn steps(array: &Array) -> Vec<usize> {
    let axes = array.shape().iter().zip(array.strides());
    axes.filter(|(length, _)| **length > 1).map(|(_, stride)| *stride).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_rows_of_a_padded_call_are_those_of_a_block_that_ends_in_zeros(
        (rows, least) in (1i32..12, 2u16..12), seed in 1u64..1000, dense in any::<bool>(), half in any::<bool>(),
    ) {
        let dtype = if half { Dtype::Bfloat16 } else { Dtype::Float32 };
        let (linear, x) = (product(dense, seed, dtype), drawn(seed + 1, &[1, rows, INPUTS], dtype));
        let mut given = Given::default();
        let padded = through(&linear, Route::Padded(least), &x, &mut given);
        let size = rows.max(i32::from(least));
        let zeros = zeros_dtype(&[1, size - rows, INPUTS], dtype).unwrap();
        let block = concatenate(&[x.clone(), zeros], 1).unwrap();
        let whole = through(&linear, Route::Whole, &block, &mut Given::default());
        let kept = rows_of(&whole, 1, 0, rows).unwrap();
        prop_assert_eq!(bytes_of(&padded).unwrap(), bytes_of(&kept).unwrap());
        // It goes on in the shape and layout of a call over its own rows.
        let own = through(&linear, Route::Whole, &x, &mut Given::default());
        prop_assert_eq!((padded.shape(), steps(&padded)), (own.shape(), steps(&own)));
        prop_assert_eq!(&given.rows, &[usize::try_from(size).unwrap()]);
        prop_assert_eq!(given.inputs.len(), 1);
        prop_assert_eq!(bytes_of(&given.inputs[0]).unwrap(), bytes_of(&block).unwrap());
    }
}

/// Every operation of the model that can be padded, over at least so many rows, on both sides.
fn every_operation(layers: &[Vec<Op>], least: u16) -> SideRoutes {
    let there = layers.concat();
    let here = Op::all().filter(|op| op.block().is_none() || there.contains(op));
    let padded =
        here.filter(|op| Route::Padded(least).fits(*op)).map(|op| format!("{}=padded:{least}", op.name()));
    let routes: Vec<String> = padded.collect();
    assert!(routes.len() > 10, "{routes:?}");
    let block: exactness::engine::routes::Routes = routes.join(",").parse().unwrap();
    SideRoutes { plain: block.clone(), block }
}

#[test]
fn every_operation_that_is_padded_gives_the_same_rows_on_a_cpu() {
    for name in ["tiny-random-qwen35", "tiny-llama-4bit", "tiny-qwen35-moe", "tiny-qwen3-next-4bit"] {
        let model = load(name, Dtype::Float32);
        let layers = inventory::layers(model.config());
        let prompt = prompt(3, 9, model.config().vocab_size as u64);
        let chain = chain(&model, &prompt, 14);
        let options = Options { routes: every_operation(&layers, 7), ..options() };
        let mut given = Given::default();
        let arm =
            speculate(&model, (&prompt, &chain.stream), (4, &every_count(4, false)), &options, &mut given);
        assert_eq!(assert_exact(name, &chain, &arm), 14);
        padded_alone(name, &given, 4);

        let (mut given, mut memory) = (Given::default(), Memory::default());
        let mut session = Session::new(&model, &options, &mut given).unwrap();
        let request = Request { sequence: 0, prompt: &prompt, max_tokens: 14 };
        let decoded = classic::decode(&mut session, &request, &mut memory).unwrap();
        assert_eq!(decoded.tokens, chain.stream, "{name}");
        let steps = memory.lines.iter().filter_map(|line| match line {
            Line::Step(step) => step.row.clone(),
            _ => None,
        });
        let rows = steps.map(|row| chain.has(&row)).collect::<Vec<_>>();
        assert_eq!(rows, [true; 13], "{name}: rows of plain decoding");
        padded_alone(name, &given, 1);
    }
}

/// All calls had 7 rows, but for those of what cannot be padded.
fn padded_alone(name: &str, given: &Given, rows: usize) {
    assert!(given.plain.len() > 30, "{name}: {} sites", given.plain.len());
    for (site, calls) in &given.plain {
        let expected = match site.op {
            Op::Attention | Op::Delta => 1,
            Op::Conv => rows,
            _ => 7,
        };
        assert!(
            calls.iter().all(|call| *call == expected || site.op == Op::Conv),
            "{name} {site}: {calls:?}"
        );
        assert!(calls.contains(&expected), "{name} {site}: {calls:?}");
    }
}

#[test]
fn a_dispatch_counts_the_rows_of_the_padded_call() {
    let (linear, x) = (product(true, 5, Dtype::Float32), drawn(6, &[1, 3, INPUTS], Dtype::Float32));
    let sound = bytes_of(&through(&linear, Route::Whole, &x, &mut Given::default())).unwrap();
    let planted = |text: &str, least: u16| {
        let mut tap = Planted::new(&[text.parse::<Plant>().unwrap()]);
        tap.begin(Forward { side: Side::Block, position: 0, rows: 3 });
        let output = through(&linear, Route::Padded(least), &x, &mut tap);
        (bytes_of(&output).unwrap() != sound, tap.struck().count())
    };
    for change in ["ulp=9", "order=halves"] {
        assert_eq!(planted(&format!("op=o_proj,rows>=8,{change}"), 8), (true, 1), "{change}");
        assert_eq!(planted(&format!("op=o_proj,rows>=8,{change}"), 7), (false, 0), "{change}");
        assert_eq!(planted(&format!("op=o_proj,rows<=3,{change}"), 8), (false, 0), "{change}");
        // What is done to the padding is no fault: nothing reads it.
        assert_eq!(planted(&format!("op=o_proj,row=5,{change}"), 8), (false, 0), "{change}");
    }
}
