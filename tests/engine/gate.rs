//! The gate and its memory: no verdict is served that is about anything else, and nothing odd counts as equal.

use exactness::probe::gate::{Decision, Demand, Gate, Why};
use exactness::probe::memo::{MEMO_VERSION, Memo};
use exactness::results::probe::{First, Key, Outcome, Place, Probed, Reason};
use exactness::transcript::files::write_whole;
use serde_json::Value;
use std::path::Path;

fn key() -> Key {
    let text = |text: &str| text.to_owned();
    Key {
        model: text("ab"),
        width: 4,
        window: text("single"),
        routes: text("attention=per-position,delta=chain"),
        dtype: text("bf16"),
        backend: text("mlx-cuda"),
        version: text("0.32.4"),
        device: text("NVIDIA H200, sm_90"),
        program: text("0.1.0"),
    }
}

fn equal() -> Outcome {
    Outcome::Equal { inputs: 3, rows: 30, bytes: 3000, states: 6 }
}

fn differs() -> Outcome {
    let place = Place::Row { row: 2, differing: 7, bytes: 2048 };
    Outcome::Differs {
        seed: 2,
        first: First { position: 70, pass: "rejecting in turn".to_owned(), round: 1, place },
    }
}

fn unsteady() -> Outcome {
    Outcome::NotRun { reason: Reason::NotComparable { seed: 1 } }
}

fn probed(covered: (u64, u64), outcome: Outcome) -> Probed {
    Probed { covered: Some(covered), every_row: true, seeds: vec![1, 2, 3], outcome, uncovered: Vec::new() }
}

/// A demand whose rows are at these positions.
fn over(from: u64, to: u64) -> Demand {
    Demand { prompt: from, tokens: to - from + 2, shorter: false }
}

fn gate(verdicts: &[(Key, Probed)]) -> Gate {
    let mut memo = Memo::in_memory();
    for (key, probed) in verdicts {
        memo.remember(key.clone(), probed.clone());
    }
    Gate::new(memo, false)
}

fn declined(decision: &Decision) -> &Why {
    assert!(!decision.engages);
    decision.why.as_ref().expect("a reason")
}

#[test]
fn a_verdict_is_about_its_positions_and_no_others() {
    let mut gate = gate(&[(key(), probed((64, 99), equal())), (key(), probed((100, 163), equal()))]);
    for (from, to) in [(64, 64), (64, 163), (90, 110), (163, 163)] {
        assert!(gate.decide(&key(), over(from, to)).engages, "{from}..{to}");
    }
    for (from, to, position) in [(63, 70, 63), (64, 164, 164), (200, 201, 200)] {
        assert_eq!(declined(&gate.decide(&key(), over(from, to))), &Why::NotCovered { position });
    }
    // One token comes from the prompt: no row of a block is asked for.
    assert!(gate.decide(&key(), Demand { prompt: 5, tokens: 1, shorter: false }).engages);
}

#[test]
fn every_part_of_the_key_counts() {
    let changes: [fn(&mut Key); 9] = [
        |key| key.model.push('x'),
        |key| key.width += 1,
        |key| key.window.push('x'),
        |key| key.routes.push_str(",linear=rows"),
        |key| "f32".clone_into(&mut key.dtype),
        |key| key.backend.push('x'),
        |key| "0.32.2".clone_into(&mut key.version),
        |key| key.device.push('x'),
        |key| key.program.push('x'),
    ];
    let fields = serde_json::to_value(key()).unwrap().as_object().unwrap().len();
    assert_eq!(changes.len(), fields, "a part of the key that no test changes");
    let mut gate = gate(&[(key(), probed((64, 163), equal()))]);
    assert!(gate.decide(&key(), over(64, 100)).engages);
    for change in changes {
        let mut other = key();
        change(&mut other);
        assert_ne!(other, key());
        assert_eq!(declined(&gate.decide(&other, over(64, 100))), &Why::NotProbed, "{other:?}");
    }
}

#[test]
fn anything_but_equal_declines_with_one_warning() {
    let cases =
        [(differs(), "7 of 2048 bytes of the row at position 70"), (unsteady(), "did not repeat itself")];
    for (outcome, names) in cases {
        // Equal bytes elsewhere do not outweigh it.
        let mut gate = gate(&[(key(), probed((64, 163), equal())), (key(), probed((200, 300), outcome))]);
        let first = gate.decide(&key(), over(64, 100));
        declined(&first);
        let warning = first.warning.expect("a warning");
        assert!(warning.contains("width 4 is declined") && warning.contains(names), "{warning}");
        let second = gate.decide(&key(), over(70, 90));
        declined(&second);
        assert_eq!(second.warning, None, "once");
    }
}

#[test]
fn requests_past_the_cover_are_warned_of_once() {
    let mut gate = gate(&[(key(), probed((64, 163), equal()))]);
    let warnings: Vec<String> =
        (1..50).filter_map(|from| gate.decide(&key(), over(from, 200)).warning).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("not covered: position 1 "), "{warnings:?}");
}

#[test]
fn another_input_does_not_wash_a_difference_away() {
    let other = Probed { seeds: vec![4, 5, 6], ..probed((64, 163), equal()) };
    let mut gate = gate(&[(key(), probed((64, 163), differs())), (key(), other)]);
    assert!(matches!(declined(&gate.decide(&key(), over(64, 100))), Why::Differs { .. }));
}

#[test]
fn a_coarse_probe_may_decline_and_never_engages() {
    let coarse = |outcome| Probed { every_row: false, ..probed((64, 163), outcome) };
    let mut equal = gate(&[(key(), coarse(equal()))]);
    assert_eq!(declined(&equal.decide(&key(), over(64, 100))), &Why::NotProbed);
    let mut differs = gate(&[(key(), coarse(differs()))]);
    assert!(matches!(declined(&differs.decide(&key(), over(64, 100))), Why::Differs { .. }));
}

#[test]
fn where_blocks_may_be_shorter_their_widths_are_asked_too() {
    let at = |width| Key { width, ..key() };
    let all: Vec<(Key, Probed)> = (1..=4).map(|width| (at(width), probed((64, 163), equal()))).collect();
    let demand = Demand { shorter: true, ..over(64, 100) };
    assert!(gate(&all).decide(&key(), demand).engages);
    let mut without_two = all.clone();
    without_two.remove(1);
    let mut lacking = gate(&without_two);
    assert!(lacking.decide(&key(), over(64, 100)).engages);
    let decision = lacking.decide(&key(), demand);
    assert_eq!(declined(&decision), &Why::NotProbed);
    assert!(decision.warning.expect("a warning").contains("blocks of 2 rows"));
}

#[test]
fn only_the_switch_lets_a_differing_width_in_and_it_is_warned_of() {
    let mut memo = Memo::in_memory();
    memo.remember(key(), probed((64, 163), differs()));
    assert_eq!(Gate::new(memo.clone(), false).warning_at_start(), None);
    let mut gate = Gate::new(memo, true);
    assert!(gate.warning_at_start().expect("a warning").contains("inexact"));
    let decision = gate.decide(&key(), over(64, 100));
    assert!(decision.engages);
    assert!(matches!(decision.why, Some(Why::Differs { .. })));
    assert!(decision.warning.expect("a warning").contains("7 of 2048 bytes"));
}

fn stored(path: &Path) -> String {
    let (mut memo, warning) = Memo::load(path);
    assert_eq!(warning, None);
    memo.remember(key(), probed((64, 163), equal()));
    memo.save().unwrap();
    std::fs::read_to_string(path).unwrap()
}

fn answers(path: &Path) -> (bool, Option<String>) {
    let (memo, warning) = Memo::load(path);
    (Gate::new(memo, false).decide(&key(), over(64, 100)).engages, warning)
}

#[test]
fn verdicts_outlive_the_process_and_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/gate.json");
    assert_eq!(answers(&path), (false, None), "a file that is not there is nothing to warn of");
    stored(&path);
    assert_eq!(answers(&path), (true, None));
    // Two that were loaded before either was saved.
    let other = Key { width: 2, ..key() };
    let (mut one, mut two) = (Memo::load(&path).0, Memo::load(&path).0);
    one.remember(other.clone(), probed((1, 2), equal()));
    one.save().unwrap();
    two.remember(Key { width: 3, ..key() }, probed((1, 2), equal()));
    two.save().unwrap();
    let (all, _) = Memo::load(&path);
    assert_eq!(all.verdicts(&other), [probed((1, 2), equal())]);
    assert_eq!(answers(&path), (true, None));
}

#[test]
fn a_damaged_file_is_one_line_and_never_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    let text = stored(&path);
    let broken = [
        text.replace("163", "963"),
        text.replace("\"width\":4", "\"width\":4,\"more\":1"),
        text.replace("exactness.verdicts", "something"),
        text[..text.len() / 2].to_owned(),
        String::new(),
        "[]".to_owned(),
        "\u{0}\u{0}".to_owned(),
    ];
    for broken in &broken {
        assert_ne!(broken, &text);
        write_whole(&path, broken.as_bytes()).unwrap();
        let (engages, warning) = answers(&path);
        let warning = warning.expect("a warning");
        assert!(!engages && warning.contains("are not used") && warning.lines().count() == 1, "{warning}");
    }
    // Any one byte: the file says what it said, or nothing.
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        write_whole(&path, &bytes).unwrap();
        assert!(!answers(&path).0, "byte {at} of {text}");
    }
    // A damaged file is written anew, and what it held is put aside.
    for name in ["gate.json.unused", "gate.json.unused2"] {
        write_whole(&path, name.as_bytes()).unwrap();
        let (mut memo, warning) = Memo::load(&path);
        assert!(warning.is_some());
        memo.remember(key(), probed((64, 163), equal()));
        memo.save().unwrap();
        assert_eq!(answers(&path), (true, None));
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), name.as_bytes());
    }
}

#[test]
fn a_file_of_another_version_is_absent_and_a_newer_one_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    let mut file: Value = serde_json::from_str(&stored(&path)).unwrap();
    for version in [MEMO_VERSION + 1, MEMO_VERSION - 1] {
        file["version"] = version.into();
        write_whole(&path, file.to_string().as_bytes()).unwrap();
        let (engages, warning) = answers(&path);
        let says = format!("version {version} of the format, this program reads {MEMO_VERSION}");
        assert!(!engages && warning.expect("a warning").contains(&says));
        let (mut memo, _) = Memo::load(&path);
        memo.remember(key(), probed((64, 163), equal()));
        assert_eq!(memo.save().is_err(), version > MEMO_VERSION);
    }
}
