//! The remedy against faults whose cure is known: a dispatch by rows, another formula, faults that no route cures.
//!
//! Runs and timings are handed in here; `tests/cli/remedy.rs` has real ones.

use super::support::{checkpoint, model};
use exactness::bisect::trail::TrailFile;
use exactness::engine::cache::Rewind;
use exactness::engine::error::Error;
use exactness::engine::inventory;
use exactness::engine::routes::Routes;
use exactness::engine::side_routes::SideRoutes;
use exactness::probe::dispatch::Machine;
use exactness::probe::hazards::About;
use exactness::probe::walk::Walk;
use exactness::remedy::run::{Arms, Ask, RemedyError, remedy};
use exactness::results::bisect::Key;
use exactness::results::remedy::{
    Candidate, Changed, Ending, Kind, Measured, PlainMeasured, Ran, Timed, WidthRemedy,
};
use mlx_rs::Dtype;
use std::cell::RefCell;

const QWEN: &str = "tiny-random-qwen35";
const LLAMA: &str = "tiny-llama";

/// Runs that are always identical, and speeds as they are told.
#[derive(Default)]
struct Fake {
    /// Ratios to plain decoding, in the order asked for; none measures nothing.
    ratios: Vec<f64>,
    /// Runs that were asked for.
    ran: RefCell<Vec<String>>,
    /// Runs after which one fails.
    fails_after: Option<usize>,
    /// A setting of both sides may win.
    allow_both: bool,
    /// No speed is asked for.
    untimed: bool,
}

impl Arms<RemedyError> for Fake {
    fn run(&self, _: usize, routes: &SideRoutes) -> Result<Ran, RemedyError> {
        if self.fails_after == Some(self.ran.borrow().len()) {
            return Err(Error::Request("go on: the power failed".to_owned()).into());
        }
        self.ran.borrow_mut().push(routes.to_string());
        let verdict = "identical".to_owned();
        let changed =
            (routes.plain != Routes::default()).then_some(Changed { rows: (3, 9), tokens: (1, 10) });
        Ok(Ran { verdict, code: 0, rows: (0, 9), states: None, tokens: 10, file: String::new(), changed })
    }

    fn time(&self, _: usize, settings: &[SideRoutes], _: u32) -> Result<Option<Timed>, RemedyError> {
        let plain = |routes: &SideRoutes| {
            let changed = routes.plain != Routes::default();
            changed.then_some(PlainMeasured { tokens_per_second: 6.0, ratio: 0.6, resolved: true })
        };
        let measured = |(ratio, routes): (&f64, &SideRoutes)| Measured {
            plain: plain(routes),
            tokens_per_second: ratio * 10.0,
            ratio: *ratio,
            resolved: true,
            accepted: None,
            same_text: true,
        };
        let settings = self.ratios.iter().zip(settings).map(measured).collect();
        let timed = Timed { plain: 10.0, floor: 0.05, drift: 0.0, settings };
        Ok((!self.ratios.is_empty()).then_some(timed))
    }
}

struct Case<'a> {
    model: &'a str,
    width: usize,
    routes: &'a str,
    plants: &'a [&'a str],
    /// Routes of plain decoding.
    plain: &'a str,
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

fn found_by(case: &Case<'_>, arms: &Fake, trail: &mut TrailFile) -> Result<WidthRemedy, RemedyError> {
    let (checkpoint, model) = (checkpoint(case.model), model(case.model));
    let layers = inventory::layers(model.config());
    let walk = Walk {
        length: 5,
        seed: 1,
        tokens: case.width + 1,
        prefill_chunk: 512,
        plain: case.plain.parse().unwrap(),
        rewind: Rewind::KeepStates,
        plants: case.plants.iter().map(|plant| plant.parse().unwrap()).collect(),
    };
    let ask = Ask {
        about: About {
            checkpoint: &checkpoint,
            dtype: Dtype::Float32,
            machine: Machine::named("mlx-cpu", "0.32.4", "any"),
            version: "0.32.4",
        },
        model: &model,
        layers: &layers,
        requested: &case.routes.parse().unwrap(),
        walk: &walk,
        allow_both: arms.allow_both,
        timed: (!arms.untimed).then_some(3),
        seeds: &[1, 2, 3],
        progress: &|_| {},
    };
    let mut found = remedy(ask, &[case.width], arms, trail)?;
    assert_eq!(found.len(), 1);
    Ok(found.remove(0))
}

fn found(model: &str, width: usize, routes: &str, plants: &[&str]) -> WidthRemedy {
    let case = Case { model, width, routes, plants, plain: "" };
    let found = found_by(&case, &Fake::default(), &mut TrailFile::in_memory(key())).unwrap();
    assert!(found.probes < 40, "{} probes", found.probes);
    found
}

/// The choice's routes: of blocks, of plain decoding.
fn chosen(found: &WidthRemedy) -> Option<(&str, &str)> {
    found.choice.as_ref().map(|choice| (choice.routes.as_str(), choice.plain.as_str()))
}

fn both_sides(found: &WidthRemedy) -> &Candidate {
    found.candidates.iter().find(|one| one.kind == Kind::BothSides).unwrap()
}

fn named(found: &WidthRemedy) -> Vec<&str> {
    found.named.iter().map(|named| named.op.as_str()).collect()
}

#[test]
fn a_dispatch_by_rows_is_cured_by_one_row_less() {
    for (model, width, least) in [(QWEN, 6, 5), (LLAMA, 9, 8), (LLAMA, 14, 13)] {
        let found = found(model, width, "", &[&format!("op=gate_proj,rows>={least},ulp=64")]);
        assert_eq!((found.ending, named(&found)), (Ending::Exact, vec!["gate_proj"]));
        assert_eq!(found.named[0].parity, Some(least));
        let best = format!("gate_proj=rows:{}", least - 1);
        assert_eq!(chosen(&found), Some((best.as_str(), "")));
        assert_eq!((&found.candidates[0].routes, found.candidates[0].kind), (&best, Kind::ByOperation));
        let block: Vec<_> = found.candidates.iter().filter(|one| one.kind != Kind::BothSides).collect();
        assert!(block.len() > 1 && block.iter().all(|one| one.exact()));
        let calls: Vec<u64> = block.iter().map(|one| one.calls).collect();
        assert!(calls.is_sorted() && calls[0] < calls[1] && found.requested.calls < calls[0], "{calls:?}");
    }
}

#[test]
fn two_dispatches_are_both_treated_and_nothing_else() {
    let plants = ["op=gate_proj,rows>=4,ulp=64", "op=o_proj,rows>=3,ulp=64"];
    let found = found(LLAMA, 5, "", &plants);
    assert_eq!(named(&found), ["o_proj", "gate_proj"]);
    assert_eq!(chosen(&found), Some(("o_proj=rows:2,gate_proj=rows:3", "")));
    assert_eq!(found.unmet, [""; 0]);
}

#[test]
fn another_formula_that_was_asked_for_gives_way_to_the_chain() {
    let found = found(QWEN, 3, "delta=chunked", &[]);
    assert_eq!((found.ending, named(&found)), (Ending::Exact, vec!["delta"]));
    assert_eq!(chosen(&found), Some(("delta=chain", "")));
}

#[test]
fn attention_takes_another_route() {
    let found = found(LLAMA, 4, "attention=block", &["op=attention,rows>=2,ulp=64"]);
    assert_eq!(named(&found), ["attention"]);
    assert_eq!(chosen(&found), Some(("attention=per-position", "")));
    assert!(found.named[0].unequal.contains(&"materialised".to_owned()), "{:?}", found.named);
}

#[test]
fn one_layer_alone_is_the_cheaper_setting() {
    let found = found(QWEN, 4, "", &["op=down_proj,layer=2,rows>=3,ulp=64"]);
    assert_eq!(found.named[0].layers, [2]);
    assert_eq!(chosen(&found), Some(("layer.2.down_proj=rows:2", "")));
    let all = found.candidates.iter().find(|one| one.routes == "down_proj=rows:2").unwrap();
    assert!(all.exact() && all.calls > found.candidates[0].calls);
}

#[test]
fn nothing_to_cure_takes_one_probe() {
    let arms = Fake::default();
    let case = Case { model: LLAMA, width: 3, routes: "", plants: &[], plain: "" };
    let found = found_by(&case, &arms, &mut TrailFile::in_memory(key())).unwrap();
    assert_eq!((found.ending, found.probes, found.looks), (Ending::NothingToCure, 1, 0));
    assert_eq!((chosen(&found), arms.ran.borrow().len()), (Some(("", "")), 0));
    assert!(found.found().starts_with("Nothing to cure: "), "{}", found.found());
}

#[test]
fn a_fault_that_no_block_meets_is_no_cure() {
    let found = found(LLAMA, 3, "", &["op=gate_proj,rows>=60"]);
    assert_eq!((found.ending, found.ending.exit_code(), found.choice), (Ending::NotRun, 3, None));
    assert_eq!(found.unmet.len(), 1);
}

#[test]
fn what_no_route_cures_is_said() {
    let books = found(LLAMA, 3, "", &["fault=skipped-rewind"]);
    assert_eq!((books.ending, chosen(&books), books.named.len()), (Ending::NoneFound, None, 0));
    assert!(books.sentences().iter().any(|says| says.contains("No operation differs on equal inputs")));
    // Plain decoding itself computes otherwise, and whatever the block does, it stays alone.
    let chain = found(LLAMA, 3, "", &["op=o_proj,side=chain,ulp=64"]);
    assert_eq!(
        (chain.ending, chain.ending.exit_code(), named(&chain)),
        (Ending::NoneFound, 1, vec!["o_proj"])
    );
    assert!(!chain.named[0].cured());
    let says = chain.sentences().join("\n");
    assert!(says.contains("only a change of plain decoding, too, could"), "{says}");
    // It is another one whatever the rows of its calls, so as many of them do not help.
    assert!(
        says.contains(
            "Both sides together by o_proj=padded:3,plain.o_proj=padded:3 are not exact: a row ≠ in the probe."
        ),
        "{says}"
    );
}

#[test]
fn a_measured_difference_decides_where_it_is_more_than_noise() {
    let plants = ["op=gate_proj,rows>=4,ulp=64"];
    let case = Case { model: LLAMA, width: 5, routes: "", plants: &plants, plain: "" };
    let by = |ratios: &[f64]| {
        let arms = Fake { ratios: ratios.to_vec(), ..Fake::default() };
        let found = found_by(&case, &arms, &mut TrailFile::in_memory(key())).unwrap();
        assert_eq!(found.requested.measured.as_ref().map(|one| one.ratio.to_bits()), Some(1.9_f64.to_bits()));
        found.choice.unwrap().routes
    };
    // Settings in the order of trial: by operation, one row a call, the whole group; then what was asked for.
    assert_eq!(by(&[1.3, 1.32, 1.1, 1.9]), "gate_proj=rows:3");
    assert_eq!(by(&[1.3, 1.5, 1.1, 1.9]), "gate_proj=rows");
}

#[test]
fn what_was_proven_without_speeds_is_timed_later_and_stays_timed() {
    let plants = ["op=gate_proj,rows>=4,ulp=64"];
    let case = Case { model: LLAMA, width: 5, routes: "", plants: &plants, plain: "" };
    let mut trail = TrailFile::in_memory(key());
    let ratios = vec![1.3, 1.5, 1.1, 1.9];
    let untimed = Fake { untimed: true, ..Fake::default() };
    let proven = found_by(&case, &untimed, &mut trail).unwrap();
    assert!(proven.plain.is_none() && proven.choice.is_some());
    let arms = Fake { ratios, ..Fake::default() };
    let timed = found_by(&case, &arms, &mut trail).unwrap();
    assert!(timed.plain.is_some() && arms.ran.borrow().is_empty(), "nothing was proven twice");
    assert_eq!(found_by(&case, &untimed, &mut trail).unwrap(), timed);
}

#[test]
fn an_interrupted_search_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trail.jsonl");
    let plants = ["op=gate_proj,rows>=3,ulp=64,side=both"];
    let case = Case { model: LLAMA, width: 4, routes: "", plants: &plants, plain: "" };
    let broken = Fake { fails_after: Some(2), ..Fake::default() };
    let stopped = found_by(&case, &broken, &mut TrailFile::open(&path, key()).unwrap()).unwrap_err();
    assert!(stopped.to_string().contains("the power failed"), "{stopped}");
    let arms = Fake::default();
    let mut trail = TrailFile::open(&path, key()).unwrap();
    assert!(trail.known() >= 5, "{} answers", trail.known());
    let resumed = found_by(&case, &arms, &mut trail).unwrap();
    let whole = found_by(&case, &Fake::default(), &mut TrailFile::in_memory(key())).unwrap();
    assert_eq!(resumed, whole);
    let (before, after) = (broken.ran.borrow(), arms.ran.borrow());
    assert_eq!((before.len(), before.len() + after.len()), (2, whole.candidates.len() + 1));
    assert!(after.iter().all(|routes| !before.contains(routes)), "{before:?} {after:?}");
}

#[test]
fn a_dispatch_of_both_sides_agrees_by_padding_both_and_changes_plain_decoding() {
    let plants = ["op=gate_proj,rows>=4,ulp=64,side=both"];
    let found = found(LLAMA, 5, "", &plants);
    assert_eq!(chosen(&found), Some(("gate_proj=rows:3", "")));
    let both = both_sides(&found);
    assert_eq!((both.routes.as_str(), both.plain.as_str()), ("gate_proj=padded:5", "gate_proj=padded:5"));
    assert!(both.exact(), "{both:?}");
    let last = found.candidates.iter().rposition(Candidate::exact).unwrap();
    assert_eq!(found.candidates[last].kind, Kind::BothSides, "it stands behind all settings of blocks alone");
    let table = found.options_table().markdown();
    let row = table.lines().find(|line| line.contains("whole process")).unwrap();
    for says in [
        "yes",
        "gate_proj=padded:5,plain.gate_proj=padded:5",
        "3 of 9 rows, 1 of 10 tokens ≠",
        "plain steps of 5 rows",
    ] {
        assert!(row.contains(says), "{row}");
    }
}

#[test]
fn what_only_both_sides_cure_is_their_choice() {
    // Plain decoding's single rows are computed otherwise, and a block's single rows are not.
    let plants = ["op=o_proj,rows<=1,side=chain,ulp=64"];
    let found = found(LLAMA, 3, "", &plants);
    assert_eq!((found.ending, named(&found)), (Ending::Exact, vec!["o_proj"]));
    assert!(!found.named[0].cured());
    assert_eq!(chosen(&found), Some(("o_proj=padded:3", "o_proj=padded:3")));
    assert!(found.candidates.iter().filter(|one| one.kind != Kind::BothSides).all(|one| !one.exact()));
    let flag = found.flag().unwrap();
    let expected = "width 3: --routes o_proj=padded:3 --plain-routes o_proj=padded:3   (changes plain decoding, too; speed \
                    not measured)";
    assert_eq!(flag, expected);
}

#[test]
fn a_faster_setting_of_both_sides_wins_only_where_it_is_allowed() {
    let plants = ["op=gate_proj,rows>=4,ulp=64,side=both"];
    let case = Case { model: LLAMA, width: 5, routes: "", plants: &plants, plain: "" };
    let by = |allow_both| {
        // By operation, one row a call, the whole group, both sides; then what was asked for.
        let arms = Fake { ratios: vec![0.8, 0.7, 0.6, 1.5, 1.9], allow_both, ..Fake::default() };
        found_by(&case, &arms, &mut TrailFile::in_memory(key())).unwrap()
    };
    let block = by(false);
    assert_eq!(chosen(&block), Some(("gate_proj=rows:3", "")));
    let flag = block.flag().unwrap();
    let expected = "width 5: decline it, plain decoding is exact and faster\n\
                    width 5, to speculate all the same: --routes gate_proj=rows:3   (0.80 × plain decoding)";
    assert_eq!(flag, expected);
    assert!(block.choice.as_ref().unwrap().pace.unwrap().loses());
    let says = block.sentences().join("\n");
    assert!(
        says.contains("it then runs at 0.60 × its speed as requested, and width 5 at 2.50 × that."),
        "{says}"
    );
    assert!(
        says.contains("was slower than plain decoding (0.80 ×): declining the width is exact and cheaper"),
        "{says}"
    );
    let both = by(true);
    assert_eq!(chosen(&both), Some(("gate_proj=padded:5", "gate_proj=padded:5")));
    assert!(
        both.flag().unwrap().contains("changes plain decoding, too; 1.50 × plain decoding"),
        "{:?}",
        both.flag()
    );
}

#[test]
fn blocks_pad_where_plain_decoding_was_asked_to() {
    let plants = ["op=gate_proj,rows>=4,ulp=64,side=both"];
    let case = Case { model: LLAMA, width: 3, routes: "", plants: &plants, plain: "linear=padded:4" };
    let found = found_by(&case, &Fake::default(), &mut TrailFile::in_memory(key())).unwrap();
    assert_eq!((found.ending, named(&found)), (Ending::Exact, vec!["gate_proj"]));
    assert_eq!(chosen(&found), Some(("gate_proj=padded:4", "linear=padded:4")));
    let best = &found.candidates[0];
    assert_eq!((best.kind, best.run.as_ref().unwrap().rows), (Kind::ByOperation, (0, 9)));
    // Three rows on both sides are below the dispatch, and plain decoding is not what was asked for.
    let both = both_sides(&found);
    assert_eq!(both.plain, "linear=padded:4,gate_proj=padded:3");
    assert!(both.exact());
}
