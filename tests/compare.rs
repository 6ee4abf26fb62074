//! The small cases from public reports, and how a flip between two arms is judged from their kept rows.

use crate::kit::{Run, against, compare, exactness, parted, rewrite, stream};
use exactness::algebra::judge_arm;
use exactness::results::Judgement;
use exactness::results::comparing::{self, Contestant};
use exactness::transcript::Arm;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Compares in this process, for properties over many runs.
fn judged(arm: &Path, classic: &Path) -> Judgement {
    let contestant = |path: &Path| {
        let arm = Arm::read(path).unwrap();
        let judged = judge_arm(&arm);
        Contestant { arm, judged }
    };
    comparing::compare(vec![contestant(arm)], vec![contestant(classic)], None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_planted_token_is_found_at_its_index_round_and_row_whatever_the_rounds(
        width in 2usize..9, accepts in prop::collection::vec(0usize..8, 1..6), length in 2usize..90,
        plant in any::<prop::sample::Index>(),
    ) {
        let (folder, tokens) = (tempfile::tempdir().unwrap(), stream(length));
        let plant = plant.index(length);
        let classic = Run { stream: tokens.clone(), ..Run::default() }.write(folder.path(), "c.jsonl");
        let like = |stream| Run { arm: "w", stream, width, accepts: accepts.clone(), ..Run::default() };
        let equal = judged(&like(tokens.clone()).write(folder.path(), "equal.jsonl"), &classic);
        prop_assert_eq!(equal.verdict.word(), "identical");
        let path = like(parted(&tokens, plant)).write(folder.path(), "parted.jsonl");
        let found = judged(&path, &classic);
        prop_assert_eq!(found.verdict.word(), "undecided");
        let sequence = &found.arms[0].sequences[0];
        prop_assert_eq!(sequence.finding.as_ref().map(|finding| finding.law), Some("stream"));
        let first = sequence.against.as_ref().and_then(|against| against.first.clone()).unwrap();
        prop_assert_eq!((first.index, first.position), (plant, Some(9 + i64::try_from(plant).unwrap())));
        let rounds = &Arm::read(&path).unwrap().sequences[0].rounds;
        let rows = rounds.iter().flat_map(|round| (0i64..).zip(&round.emitted).map(|(row, _)| (round.round, row)));
        let place = plant.checked_sub(1).map(|nth| rows.clone().nth(nth).unwrap());
        prop_assert_eq!(first.round.zip(first.row), place);
    }
}

#[test]
fn what_cannot_be_compared_has_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let classic = Run { stream: stream(9), ..Run::default() }.write(folder.path(), "c.jsonl");
    let broken = folder.path().join("broken.jsonl");
    rewrite(&broken, b"{\"type\":\"header\",\"format\":\"exactness.transcript\",\"version\":9}\n");
    let code = |arm: &Path| {
        exactness(["compare".as_ref(), arm.as_os_str(), "--against".as_ref(), classic.as_os_str()]).code
    };
    let empty = folder.path().join("empty.jsonl");
    rewrite(&empty, b"");
    assert_eq!((code(&broken), code(&folder.path().join("absent.jsonl"))), (4, 5));
    let again = Run { stream: stream(9), ..Run::default() }.write(folder.path(), "again.jsonl");
    assert_eq!((code(&empty), code(&again)), (3, 0));
    assert_eq!(exactness(["compare".as_ref(), classic.as_os_str()]).code, 2);
}

fn files(folder: &Path, start: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files
        .retain(|path| name(path).starts_with(start) && path.extension().is_some_and(|kind| kind == "jsonl"));
    files.sort();
    files
}

/// Every broken law of a judgement, sorted, and the first finding.
fn broken(judgement: &Value) -> (Vec<String>, Value) {
    let mut laws: Vec<String> = Vec::new();
    let mut first = Value::Null;
    let sequences =
        judgement["arms"].as_array().unwrap().iter().flat_map(|arm| arm["sequences"].as_array().unwrap());
    for sequence in sequences {
        let finding = &sequence["finding"];
        let others =
            [&sequence["later"], &sequence["warnings"]].into_iter().flat_map(|list| list.as_array().unwrap());
        laws.extend(others.chain([finding]).filter_map(|breach| breach["law"].as_str().map(str::to_owned)));
        if first.is_null() && !finding.is_null() {
            first =
                json!({"sequence": sequence["sequence"], "law": finding["law"], "round": finding["round"]});
        }
    }
    laws.sort();
    laws.dedup();
    (laws, first)
}

#[test]
fn all_27_cases_list_exactly_their_broken_laws_and_finding() {
    let cases = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap();
    let mut folders: Vec<PathBuf> =
        cases.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut wrong = Vec::new();
    for folder in &folders {
        let expect: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("expect.json")).unwrap()).unwrap();
        let (arms, classic) = (files(folder, "arm"), files(folder, "classic"));
        let judgement = if classic.is_empty() {
            let arms = arms.iter().map(|path| path.display().to_string());
            exactness(
                ["check-algebra".to_owned()].into_iter().chain(arms).chain(["--format=json".to_owned()]),
            )
            .json()
        } else {
            compare(&arms, &classic).0
        };
        let (laws, finding) = broken(&judgement);
        if json!(laws) != expect["broken_laws"] || finding != expect["finding"] {
            wrong.push(format!("{}: {laws:?} {finding}", folder.display()));
        }
    }
    assert_eq!(folders.len(), 27);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two arms that part at `flip`; the rows of both are given by closures over the index.
fn flip(flip: usize, reference: &dyn Fn(usize) -> Vec<f32>, arm: &dyn Fn(usize) -> Vec<f32>) -> (Value, i32) {
    let folder = tempfile::tempdir().unwrap();
    // Ids inside the rows: the reference takes id 3 everywhere, the arm takes id 8 from the flip on.
    let mut tokens = vec![3; flip + 4];
    let classic = Run { stream: tokens.clone(), row: Some(reference), ..Run::default() };
    tokens[flip..].fill(8);
    let spec =
        Run { arm: "w4", stream: tokens, width: 4, accepts: vec![1, 3, 0], row: Some(arm), ..Run::default() };
    compare(&[spec.write(folder.path(), "w4.jsonl")], &[classic.write(folder.path(), "classic.jsonl")])
}

fn row(of_3: f32, of_8: f32) -> Vec<f32> {
    let mut row = vec![-4.0; 10];
    (row[3], row[8]) = (of_3, of_8);
    row
}

#[test]
fn t1_equal_bytes_and_another_choice_are_selection() {
    let tie = |_: usize| row(17.125, 17.125);
    let (judgement, code) = flip(5, &tie, &tie);
    assert_eq!((&judgement["verdict"], code), (&json!("selection"), 1));
    let says = against(&judgement)["flip"]["says"].as_str().unwrap();
    assert!(
        says.contains("a tie of 2") && says.contains("the arm broke the rule \"lowest id\" (3)"),
        "{says}"
    );
}

#[test]
fn an_exact_tie_in_differing_rows_is_an_exact_tie() {
    let other = |index: usize| {
        let mut row = row(17.125, 17.125);
        row[0] = if index == 0 { -4.0 } else { -3.5 };
        row
    };
    let (judgement, code) = flip(5, &|_| row(17.125, 17.125), &other);
    assert_eq!((&judgement["verdict"], code), (&json!("exact tie"), 1));
}

#[test]
fn a_gap_within_the_earlier_perturbation_is_a_near_tie_and_still_exit_1() {
    let arm = |index: usize| if index < 40 { row(9.0, 1.0 + 0.25) } else { row(8.9, 9.0) };
    let (judgement, code) = flip(40, &|index| if index < 40 { row(9.0, 1.0) } else { row(9.0, 8.9) }, &arm);
    assert_eq!((&judgement["verdict"], code), (&json!("near tie"), 1));
    let found = against(&judgement);
    assert_eq!(
        (&found["rows"]["rows"], &found["rows"]["bytes_differ"], &found["rows"]["argmax_differ"]),
        (&json!(41), &json!(41), &json!(1))
    );
    assert_eq!(found["flip"]["scale"]["rows"], json!(40));
    assert!(found["flip"]["ulps"].as_f64().unwrap() > 1000.0);
}

#[test]
fn t4_a_gap_far_above_the_earlier_perturbation_is_structural() {
    let arm = |index: usize| if index < 40 { row(9.0, 1.0 + 0.3) } else { row(8.0, 9.0) };
    let (judgement, code) = flip(40, &|index| if index < 40 { row(9.0, 1.0) } else { row(9.0, 4.9) }, &arm);
    assert_eq!((&judgement["verdict"], code), (&json!("structural"), 1));
    let found = against(&judgement);
    assert!((found["flip"]["ratio"].as_f64().unwrap() - 13.7).abs() < 0.1, "{found}");
    assert_eq!((&found["first"]["index"], &found["first"]["row_kind"]), (&json!(40), &json!("draft row")));
}

#[test]
fn without_32_earlier_rows_or_between_the_bounds_a_flip_is_undecided() {
    let arm = |index: usize| if index < 20 { row(9.0, 1.25) } else { row(8.9, 9.0) };
    let (early, _) = flip(20, &|index| if index < 20 { row(9.0, 1.0) } else { row(9.0, 8.9) }, &arm);
    assert_eq!(early["verdict"], json!("undecided"));
    let arm = |index: usize| if index < 40 { row(9.0, 1.25) } else { row(8.5, 9.0) };
    let (between, _) = flip(40, &|index| if index < 40 { row(9.0, 1.0) } else { row(9.0, 8.5) }, &arm);
    assert_eq!(between["verdict"], json!("undecided"));
    assert!(against(&between)["flip"]["says"].as_str().unwrap().contains("between 1 × and 4 ×"));
}

#[test]
fn t6_a_proper_beginning_is_length_and_never_a_near_tie() {
    let folder = tempfile::tempdir().unwrap();
    let arm = Run { arm: "w4", stream: vec![5, 6, 7], width: 4, accepts: vec![3], ..Run::default() };
    let classic = Run { stream: vec![5, 6, 7, 8, 2], ..Run::default() };
    let (judgement, code) =
        compare(&[arm.write(folder.path(), "a.jsonl")], &[classic.write(folder.path(), "c.jsonl")]);
    assert_eq!((&judgement["verdict"], code), (&json!("length"), 1));
    assert!(against(&judgement)["flip"].is_null());
}

#[test]
fn equal_streams_with_other_bytes_are_identical_and_the_rows_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |index: usize| if index.is_multiple_of(2) { row(9.0, 1.0) } else { row(9.0, 1.5) };
    let arm = Run {
        arm: "w4",
        stream: vec![3; 50],
        width: 4,
        accepts: vec![2],
        row: Some(&bytes),
        ..Run::default()
    };
    let classic = Run { stream: vec![3; 50], row: Some(&|_| row(9.0, 1.0)), ..Run::default() };
    let (judgement, code) =
        compare(&[arm.write(folder.path(), "a.jsonl")], &[classic.write(folder.path(), "c.jsonl")]);
    assert_eq!((&judgement["verdict"], code), (&json!("identical"), 0));
    let found = against(&judgement);
    assert_eq!((&found["rows"]["bytes_differ"], &found["rows"]["argmax_differ"]), (&json!(25), &json!(0)));
    assert_eq!(
        (&found["rows"]["first"]["index"], &found["rows"]["first"]["bits"]["differing_values"]),
        (&json!(1), &json!(1))
    );
    // D9: the verdict carries how far past the prompt it looked.
    assert_eq!(found["past_prompt"], json!(50));
}

#[test]
fn a_side_file_that_was_changed_since_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right) = (|_: usize| row(9.0, 1.0), |_: usize| row(9.0, 2.0));
    let arm = Run { arm: "w4", stream: vec![3; 9], width: 4, row: Some(&left), ..Run::default() };
    let classic = Run { stream: vec![3; 9], row: Some(&right), ..Run::default() };
    let (arm, classic) = (arm.write(folder.path(), "a.jsonl"), classic.write(folder.path(), "c.jsonl"));
    rewrite(&folder.path().join("a.rows.bin"), &[0; 9 * 40]);
    let ran = exactness(["compare".as_ref(), arm.as_os_str(), "--against".as_ref(), classic.as_os_str()]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("a.rows.bin") && ran.err.contains("changed since"), "{}", ran.err);
}

#[test]
fn d6_an_arm_that_differs_when_watched_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = stream(30);
    let watched = |_: usize| row(9.0, 1.0);
    let first = Run { arm: "w4", stream: tokens.clone(), width: 4, accepts: vec![2], ..Run::default() };
    let repeat = Run {
        stream: parted(&tokens, 12),
        row: Some(&watched),
        header: json!({"repeat": 1}),
        ..first_like(&first)
    };
    let classic = Run { stream: tokens.clone(), ..Run::default() };
    let arms = [first.write(folder.path(), "w4.jsonl"), repeat.write(folder.path(), "w4.repeat1.jsonl")];
    let (judgement, code) = compare(&arms, &[classic.write(folder.path(), "c.jsonl")]);
    assert_eq!((&judgement["verdict"], code), (&json!("not comparable"), 3));
    let finding = &judgement["arms"][0]["sequences"][0]["finding"];
    assert_eq!(finding["law"], json!("null-arm"));
    assert!(finding["says"].as_str().unwrap().contains("observer effect"), "{finding}");
    assert_eq!(judgement["patterns"][0]["pattern"], json!("stop"));
}

fn first_like<'a>(run: &Run<'a>) -> Run<'a> {
    Run {
        arm: run.arm,
        stream: run.stream.clone(),
        width: run.width,
        accepts: run.accepts.clone(),
        ..Run::default()
    }
}

#[test]
fn an_equal_repeat_is_a_null_arm_that_was_checked() {
    let folder = tempfile::tempdir().unwrap();
    let first = Run { arm: "w4", stream: stream(30), width: 4, accepts: vec![2], ..Run::default() };
    let repeat = Run { header: json!({"repeat": 1}), ..first_like(&first) };
    let classic = Run { stream: stream(30), ..Run::default() };
    let arms = [first.write(folder.path(), "w4.jsonl"), repeat.write(folder.path(), "w4.repeat1.jsonl")];
    let (judgement, code) = compare(&arms, &[classic.write(folder.path(), "c.jsonl")]);
    assert_eq!((&judgement["verdict"], code), (&json!("identical"), 0));
    assert!(judgement["arms"][0]["checked"].as_array().unwrap().contains(&json!("null-arm")));
}

#[test]
fn a_reference_that_differs_from_its_repeat_ends_every_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let arm = Run { arm: "w4", stream: stream(30), width: 4, accepts: vec![2], ..Run::default() };
    let classic = Run { stream: stream(30), ..Run::default() };
    let repeat = Run { stream: parted(&stream(30), 20), header: json!({"repeat": 1}), ..Run::default() };
    let references =
        [classic.write(folder.path(), "c.jsonl"), repeat.write(folder.path(), "c.repeat1.jsonl")];
    let (judgement, code) = compare(&[arm.write(folder.path(), "w4.jsonl")], &references);
    assert_eq!((&judgement["verdict"], code), (&json!("not comparable"), 3));
    assert_eq!(judgement["arms"][0]["verdict"], json!("not comparable"));
    assert_eq!(judgement["arms"][1]["sequences"][0]["finding"]["law"], json!("null-arm"));
}

#[test]
fn a_repeat_alone_against_its_run_is_their_null_arm() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { stream: stream(30), ..Run::default() }.write(folder.path(), "c.jsonl");
    let held = |name: &str, stream: Vec<i64>| {
        let repeat = Run { stream, header: json!({"repeat": 1}), ..Run::default() };
        compare(&[repeat.write(folder.path(), name)], std::slice::from_ref(&run))
    };
    let (equal, code) = held("equal.jsonl", stream(30));
    assert_eq!((&equal["verdict"], code), (&json!("identical"), 0));
    for arm in equal["arms"].as_array().unwrap() {
        assert!(arm["checked"].as_array().unwrap().contains(&json!("null-arm")), "{arm}");
        let lacking = arm["not_checkable"].as_array().unwrap();
        assert!(lacking.iter().all(|lack| lack["law"] != json!("null-arm")), "{arm}");
    }
    let (other, code) = held("other.jsonl", parted(&stream(30), 20));
    assert_eq!((&other["verdict"], code), (&json!("not comparable"), 3));
    let sequence = &other["arms"][0]["sequences"][0];
    assert_eq!(sequence["finding"]["law"], json!("null-arm"));
    let against = &sequence["against"];
    assert_eq!((&against["null_arm"], &against["first"]["index"]), (&json!(true), &json!(20)));
}

#[test]
fn equal_strings_of_an_arm_that_never_shows_it_speculated_are_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, kind: &str, width: i64| {
        let path = folder.path().join(name);
        let header = json!({"type": "header", "format": "exactness.transcript", "version": 1, "arm": name, "kind": kind,
            "width": width, "prompts": [{"sequence": 0, "ids": [1]}]});
        let footer =
            json!({"type": "footer", "sequence": 0, "complete": true, "token_strings": ["a", "b", "c"]});
        rewrite(&path, format!("{header}\n{footer}\n").as_bytes());
        path
    };
    let (judgement, code) =
        compare(&[write("w4.jsonl", "speculative", 4)], &[write("c.jsonl", "classic", 1)]);
    assert_eq!((&judgement["verdict"], code), (&json!("not run"), 3));
    assert_eq!(against(&judgement)["unit"], json!("strings"));
    let notes = against(&judgement)["notes"].to_string();
    assert!(notes.contains("two ids can share a string"), "{notes}");
}

#[test]
fn a_cut_run_never_counts_as_finished() {
    let folder = tempfile::tempdir().unwrap();
    let arm = Run { arm: "w4", stream: stream(30), width: 4, accepts: vec![2], ..Run::default() };
    let classic = Run { stream: stream(30), ..Run::default() };
    let path = arm.write(folder.path(), "w4.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    rewrite(&path, lines[..lines.len() - 4].join("\n").as_bytes());
    let (judgement, code) = compare(&[path], &[classic.write(folder.path(), "c.jsonl")]);
    assert_eq!((&judgement["verdict"], code), (&json!("cut run"), 3));
}

#[test]
fn a_margin_prints_its_control_and_changes_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let (reference, other) = (
        |index: usize| if index < 5 { row(9.0, 1.0) } else { row(9.0, 8.9) },
        |index: usize| if index < 5 { row(9.0, 1.0) } else { row(8.9, 9.0) },
    );
    let classic = Run { stream: vec![3; 9], row: Some(&reference), ..Run::default() };
    let mut tokens = vec![3; 9];
    tokens[5..].fill(8);
    let arm =
        Run { arm: "w4", stream: tokens, width: 4, accepts: vec![2], row: Some(&other), ..Run::default() };
    let (arm, classic) = (arm.write(folder.path(), "a.jsonl"), classic.write(folder.path(), "c.jsonl"));
    let ran = exactness([
        "compare".as_ref(),
        arm.as_os_str(),
        "--against".as_ref(),
        classic.as_os_str(),
        "--margin".as_ref(),
        "1".as_ref(),
    ]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("within 1 logits; control at margin 0: not within"), "{}", ran.out);
    assert!(ran.out.trim_end().lines().last().unwrap().starts_with("undecided"), "{}", ran.out);
}
