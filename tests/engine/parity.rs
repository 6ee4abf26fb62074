//! Op parity on the CPU, whose kernels compute each row alone: nothing differs but what was planted, and that is found at
//! the very number of rows.

use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::inventory;
use exactness::engine::model::TextModel;
use exactness::engine::op::{Group, Op};
use exactness::engine::plant::Plant;
use exactness::engine::routes::Routes;
use exactness::engine::synth::{Geometry, Storage, Synth, resized, sample};
use exactness::probe::dispatch::Machine;
use exactness::probe::parity::{Measured, Settings, Subject, Wanted, measure};
use exactness::results::Word;
use exactness::results::parity::{Agreement, Line, PARITY_VERSION, Parity};
use mlx_rs::Dtype;
use std::collections::BTreeMap;

fn settings() -> Settings {
    Settings {
        plain: Routes::default(),
        wanted: Wanted::default(),
        most_rows: 64,
        exhaustive: false,
        seeds: vec![1],
        positions: vec![20],
        routes: Routes::default(),
        plants: Vec::new(),
    }
}

/// Shapes at which half precision, slow on a CPU, takes no time: every matrix has one or two groups of 64 inputs.
pub(super) const SMALL: [(&str, usize); 10] = [
    ("hidden_size", 64),
    ("intermediate_size", 128),
    ("vocab_size", 256),
    ("num_attention_heads", 2),
    ("num_key_value_heads", 1),
    ("head_dim", 32),
    ("linear_num_key_heads", 1),
    ("linear_num_value_heads", 2),
    ("linear_key_head_dim", 32),
    ("linear_value_head_dim", 32),
];

fn small(storage: Storage) -> Checkpoint {
    resized(&Synth { geometry: Geometry::Tiny, storage, seed: 0 }, "sample", &SMALL).unwrap()
}

fn measured(storage: Storage, dtype: Dtype, settings: &Settings) -> Measured {
    of(&small(storage), dtype, settings)
}

/// The operations that a model has.
fn ops_of(checkpoint: &Checkpoint) -> Vec<Op> {
    let layers = inventory::layers(checkpoint.config());
    Op::all().filter(|op| op.block().is_none() || layers.iter().any(|layer| layer.contains(op))).collect()
}

fn of(checkpoint: &Checkpoint, dtype: Dtype, settings: &Settings) -> Measured {
    let model = TextModel::load(checkpoint, dtype).unwrap();
    let machine = Machine::named("mlx-cpu", "0.32.4", "any");
    measure(&Subject { checkpoint, model: &model, machine }, settings, &|| {}).unwrap()
}

/// One small run of the cheapest sort, with faults or routes.
fn quick(plants: &[String], routes: &str, most_rows: u32) -> Measured {
    let plants = plants.iter().map(|text| text.parse::<Plant>().unwrap()).collect();
    let settings = Settings { plants, routes: routes.parse().unwrap(), most_rows, ..settings() };
    measured(Storage::Sixteen, Dtype::Float32, &settings)
}

/// Boundary of every line by operation and route.
fn boundaries(measured: &Measured) -> BTreeMap<(String, String), Option<u32>> {
    let key = |line: &Line| ((line.op.clone(), line.route.clone()), line.found.boundary());
    measured.lines.iter().map(key).collect()
}

fn assert_equal(measured: &Measured, what: &str) {
    for line in &measured.lines {
        let at = format!("{what} {} {} {}", line.op, line.route, line.shape);
        assert_eq!(line.found.boundary(), None, "{at}");
        assert_eq!(line.found.tested_text(), "1-16, 20, 24, 28, 32, 33, 40, 48, 64", "{at}");
        assert!(line.found.bytes >= 421 * 2, "{at}: {} bytes in {} rows", line.found.bytes, line.found.rows);
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert_eq!(line.agreement, Agreement::Agrees, "{at}");
        }
    }
}

#[test]
fn no_operation_changes_its_bytes_in_any_dtype_or_storage() {
    for dtype in [Dtype::Float32, Dtype::Bfloat16, Dtype::Float16] {
        for (index, (name, storage)) in Storage::NAMES.into_iter().enumerate() {
            let wanted = if index == 0 { Wanted::default() } else { "linear,embed".parse().unwrap() };
            let measured = measured(storage, dtype, &Settings { wanted, ..settings() });
            assert_equal(&measured, &format!("{dtype:?} {name}"));
            let ops: Vec<&str> = measured.lines.iter().map(|line| line.op.as_str()).collect();
            let expected = |op: &Op| index == 0 || op.group() == Group::Linear || *op == Op::Embed;
            for op in ops_of(&small(storage)).into_iter().filter(expected) {
                assert!(ops.contains(&op.name()), "{dtype:?} {name}: {} was not measured", op.name());
            }
            // One step in one value of 16 or 32 bits.
            let control = measured.controls[0].found.overall();
            assert_eq!((measured.controls.len(), control.values, control.max_ulps), (1, 1, 1), "{dtype:?}");
        }
    }
}

#[test]
fn no_operation_changes_its_bytes_at_the_demos_shapes() {
    let what = Synth { geometry: Geometry::Tiny, storage: Storage::Four, seed: 0 };
    let settings = Settings { seeds: vec![1, 2], positions: vec![0, 250], ..settings() };
    let measured = of(&sample(&what, "tiny").unwrap(), Dtype::Float32, &settings);
    assert_equal(&measured, "tiny");
    let positions: Vec<Option<usize>> =
        measured.lines.iter().filter(|line| line.op == "conv").map(|line| line.position).collect();
    assert_eq!(positions, [Some(0), Some(250)]);
}

#[test]
fn no_operation_of_experts_changes_its_bytes() {
    let mut compared = 0;
    for storage in [Storage::Sixteen, Storage::Four, Storage::Nvfp4] {
        let checkpoint =
            sample(&Synth { geometry: Geometry::Qwen35Moe, storage, seed: 0 }, "experts").unwrap();
        let measured = of(&checkpoint, Dtype::Float32, &settings());
        assert_equal(&measured, &format!("experts {storage:?}"));
        let lines = |op: Op| measured.lines.iter().filter(|line| line.op == op.name()).count();
        for op in ops_of(&checkpoint).into_iter().filter(|op| op.block() == Some("mlp")) {
            assert!(lines(op) > 0, "{storage:?}: {} was not measured", op.name());
            compared += 1;
        }
    }
    assert!(compared > 3 * 10, "{compared}");
}

/// Operations of which a whole block is one call.
fn in_one_call() -> Vec<Op> {
    ops_of(&small(Storage::Sixteen)).into_iter().filter(|op| *op != Op::Delta).collect()
}

#[test]
fn a_planted_dispatch_is_found_at_its_own_number_of_rows_in_every_operation() {
    for boundary in [5, 8, 13, 37] {
        let ops = ops_of(&small(Storage::Sixteen));
        let plants: Vec<String> = ops.iter().map(|op| format!("op={},rows>={boundary}", op.name())).collect();
        let found = boundaries(&quick(&plants, "", 64));
        for op in in_one_call() {
            let route = if op == Op::Attention { "block" } else { "whole" };
            let key = (op.name().to_owned(), route.to_owned());
            assert_eq!(found.get(&key), Some(&Some(boundary)), "{key:?}");
        }
        // One call a row is never a call of so many rows.
        for (op, route) in [("delta", "chain"), ("attention", "per-position"), ("attention", "contiguous")] {
            assert_eq!(found[&(op.to_owned(), route.to_owned())], None, "{op}={route}");
        }
    }
}

#[test]
fn a_dispatch_that_comes_and_goes_is_told_as_that() {
    let measured = quick(&["op=up_proj,rows>=18,rows<=21".to_owned()], "", 32);
    let line = measured.lines.iter().find(|line| line.op == "up_proj").unwrap();
    assert_eq!(line.found.boundary(), Some(18));
    assert_eq!(line.found.equal_again().first(), Some(&22));
    assert_eq!(line.agreement, Agreement::Surprise);
    let worst = line.found.overall();
    assert_eq!((worst.max_ulps, worst.values, worst.bytes), (1, 128, 128 * 4));
}

#[test]
fn calls_of_fewer_rows_cure_a_planted_dispatch() {
    for boundary in [5, 8, 13] {
        let plants: Vec<String> = ["q_proj", "down_proj", "lm_head", "post_norm", "swiglu"]
            .map(|op| format!("op={op},rows>={boundary}"))
            .to_vec();
        let under = boundary - 1;
        let cured =
            quick(&plants, &format!("linear=rows:{under},norm=rows:{under},elementwise=rows:{under}"), 16);
        assert!(cured.lines.iter().all(|line| line.found.boundary().is_none()), "rows:{under}");
        let not = quick(&plants, &format!("linear=rows:{boundary}"), 16);
        let found = boundaries(&not);
        let route = format!("rows:{boundary}");
        for op in ["q_proj", "down_proj", "lm_head"] {
            assert_eq!(found[&(op.to_owned(), route.clone())], Some(boundary), "{op}={route}");
        }
    }
}

#[test]
fn a_padded_row_is_in_a_call_of_as_many() {
    let plants = ["op=q_proj,rows>=5".to_owned(), "op=post_norm,rows>=5".to_owned()];
    let wide = boundaries(&quick(&plants, "linear=padded:5,norm=padded:5", 8));
    let narrow = boundaries(&quick(&plants, "linear=padded:4,norm=padded:4", 8));
    for op in ["q_proj", "post_norm"] {
        assert_eq!(wide[&(op.to_owned(), "padded:5".to_owned())], Some(1), "{op}");
        assert_eq!(narrow[&(op.to_owned(), "padded:4".to_owned())], Some(5), "{op}");
    }
    assert_eq!(wide[&("o_proj".to_owned(), "padded:5".to_owned())], None);
}

#[test]
fn another_arithmetic_is_found() {
    let chunked = quick(&[], "delta=chunked", 8);
    let line = chunked.lines.iter().find(|line| line.op == "delta").unwrap();
    assert_eq!((line.route.as_str(), line.found.boundary()), ("chunked", Some(1)));
    let others = chunked.lines.iter().filter(|line| line.op != "delta");
    assert!(others.clone().count() > 30);
    // Every operation answers for itself: what the delta rule gave does not spread.
    others.for_each(|line| assert_eq!(line.found.boundary(), None, "{}", line.op));
    let halves = boundaries(&quick(&["op=o_proj,order=halves,rows>=3".to_owned()], "", 8));
    assert_eq!(halves[&("o_proj".to_owned(), "whole".to_owned())], Some(3));
}

#[test]
fn what_cannot_see_a_difference_says_that_it_did_not_run() {
    let Measured { lines, controls, struck } = quick(&[], "", 4);
    let parity = |lines: Vec<Line>, controls: Vec<Line>| {
        let mut parity = Parity {
            version: PARITY_VERSION,
            verdict: Word::NotRun,
            subject: "tiny".to_owned(),
            backend: String::new(),
            routes: String::new(),
            seeds: vec![1],
            planted: Vec::new(),
            struck: struck.clone(),
            lines,
            controls,
            command: Vec::new(),
        };
        parity.judge();
        parity
    };
    assert_eq!(parity(lines.clone(), controls.clone()).verdict, Word::Identical);
    // A control that is not found: the chain's own form in its place.
    let same = lines.iter().find(|line| line.op == "delta").cloned().unwrap();
    let blind = parity(lines.clone(), vec![same]);
    assert_eq!((blind.verdict, blind.verdict.exit_code()), (Word::NotRun, 3));
    assert!(blind.sentences().iter().any(|says| says.ends_with("nothing else here counts.")));
    assert_eq!(parity(Vec::new(), controls.clone()).verdict, Word::NotRun);
    let mut unmet = parity(lines.clone(), controls.clone());
    unmet.planted = vec!["op=o_proj,ulp=1,rows>=5".to_owned()];
    unmet.judge();
    assert_eq!(unmet.verdict, Word::NotRun);
    assert!(unmet.sentences().iter().any(|says| says.contains("rows>=5 never struck")));
    let differing = parity(controls.clone(), controls);
    assert_eq!((differing.verdict, differing.verdict.exit_code()), (Word::Differs, 1));
}
