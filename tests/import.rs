//! The importers, on the real data of the report that this program was made for and on small answers.

use crate::kit::{compare, exactness, rewrite};
use exactness::transcript::import::{Extras, mlxcel, openai};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn origin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/origin").join(name)
}

fn import(kind: &str, folder: &Path, out: &str, more: &[(&str, PathBuf)], files: &[PathBuf]) -> PathBuf {
    let out = folder.join(out);
    let mut arguments: Vec<PathBuf> = vec!["import".into(), kind.into()];
    arguments.extend_from_slice(files);
    arguments.extend(["--out".into(), out.clone()]);
    for (flag, value) in more {
        arguments.extend([PathBuf::from(flag), value.clone()]);
    }
    let ran = exactness(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.err);
    out
}

fn served(folder: &Path) -> (PathBuf, Vec<PathBuf>) {
    let prompt = ("--prompt-ids", origin("prompt_ids.json"));
    let log = import(
        "mlxcel-log",
        folder,
        "w4.jsonl",
        &[prompt.clone(), ("--responses", origin("arm.w4.json")), ("--max-tokens", "200".into())],
        &[origin("server.w4.burst1.log")],
    );
    let classic = import(
        "openai",
        folder,
        "classic.jsonl",
        &[prompt, ("--tokens", origin("classic_ids.json"))],
        &[origin("arm.wclassic.json")],
    );
    let repeat = folder.join("classic.repeat1.jsonl");
    (log, vec![classic, repeat])
}

#[test]
fn the_origin_log_keeps_the_laws_and_its_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (log, _) = served(folder.path());
    let ran = exactness(["check-algebra".as_ref(), log.as_os_str(), "--format".as_ref(), "json".as_ref()]);
    let judgement = ran.json();
    assert_eq!((&judgement["verdict"], ran.code), (&json!("consistent"), 0), "{judgement:#}");
    let compared = &judgement["arms"][0]["compared"];
    let counts = ["rounds", "rewinds", "proposed", "accepted"].map(|key| compared[key].as_u64().unwrap());
    assert_eq!(counts, [79, 56, 237, 121]);
    let checked = &judgement["arms"][0]["checked"];
    for law in ["counter-rounds", "counter-drafted", "counter-accepted", "usage", "truncation"] {
        assert!(checked.as_array().unwrap().contains(&json!(law)), "{law}: {checked}");
    }
}

#[test]
fn the_origin_difference_is_found_and_left_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let (log, classic) = served(folder.path());
    let (judgement, code) = compare(&[log], &classic);
    assert_eq!((&judgement["verdict"], code), (&json!("undecided"), 1), "{judgement:#}");
    let found = &judgement["arms"][0]["sequences"][0]["against"];
    let first = &found["first"];
    let place = ["index", "round", "row", "position"].map(|key| first[key].as_u64().unwrap());
    assert_eq!(place, [105, 47, 2, 262]);
    assert_eq!((&first["expected"], &first["found"]), (&json!("11439"), &json!("5741")));
    let drift = &found["drift"];
    assert_eq!((&drift["indices"], &drift["by_one_quantum"]), (&json!([62, 68, 86, 88, 96]), &json!(5)));
    assert_eq!((&found["flip"]["quantum"], &found["flip"]["reported_gap"]), (&json!(0.125), &json!(0.0)));
    let says = found["flip"]["says"].as_str().unwrap();
    assert!(
        says.contains("below the reporting quantum of 0.125") && says.contains("keep the logit bytes"),
        "{says}"
    );
}

#[test]
fn the_accept_counts_of_the_origin_are_those_of_its_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let (log, _) = served(folder.path());
    let text = fs::read_to_string(log).unwrap();
    let rounds = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let accepts: Vec<String> = rounds
        .filter(|line| line["type"] == "round")
        .map(|line| (line["accepted"].as_i64().unwrap() + 1).to_string())
        .collect();
    assert_eq!(accepts.join(","), fs::read_to_string(origin("accepts_w4.txt")).unwrap().trim());
}

#[test]
fn the_last_summary_line_of_a_burst_is_no_source() {
    let folder = tempfile::tempdir().unwrap();
    let (log, _) = served(folder.path());
    let text = fs::read_to_string(log).unwrap();
    let footer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(footer["counters"], json!({"rounds": 79, "drafted": 237, "accepted": 121}));
}

#[test]
fn an_answer_without_a_width_and_a_broken_log_are_refused_with_their_codes() {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer.json");
    rewrite(&answer, br#"{"choices":[{"text":"a","finish_reason":"length"}]}"#);
    let out = folder.path().join("out.jsonl");
    let run = |file: &Path, kind: &str| {
        exactness(["import".as_ref(), kind.as_ref(), file.as_os_str(), "--out".as_ref(), out.as_os_str()])
    };
    let ran = run(&answer, "openai");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--width"), "{}", ran.err);
    let log = folder.path().join("server.log");
    rewrite(&log, b"x round transcript round=0 bs=4 bonus=1 draft_tokens=[1, 2");
    let ran = run(&log, "mlxcel-log");
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("line 1") && ran.err.contains("`draft_tokens`"), "{}", ran.err);
    assert_eq!(run(&folder.path().join("absent"), "openai").code, 5);
    assert!(!out.exists());
}

#[test]
fn a_lost_and_a_doubled_round_line_are_findings_not_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(origin("server.w4.burst1.log")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let lost = [&lines[..10], &lines[11..]].concat().join("\n");
    let doubled = [&lines[..11], &lines[10..]].concat().join("\n");
    for (name, text) in [("lost", lost), ("doubled", doubled)] {
        let log = folder.path().join(name);
        rewrite(&log, text.as_bytes());
        let out = import("mlxcel-log", folder.path(), &format!("{name}.jsonl"), &[], &[log]);
        let ran =
            exactness(["check-algebra".as_ref(), out.as_os_str(), "--format".as_ref(), "json".as_ref()]);
        assert_eq!(ran.code, 1);
        assert_eq!(
            ran.json()["arms"][0]["sequences"][0]["finding"]["law"],
            json!("round-sequence"),
            "{name}"
        );
    }
}

#[test]
fn the_imported_transcripts_beside_the_data_are_what_the_importers_write() {
    let folder = tempfile::tempdir().unwrap();
    let (log, classic) = served(folder.path());
    for path in classic.iter().chain([&log]) {
        let kept = origin("imported").join(path.file_name().unwrap());
        assert_eq!(fs::read_to_string(path).unwrap(), fs::read_to_string(kept).unwrap());
    }
}

/// The text with some of its bytes changed, doubled or lost.
fn damaged(text: &str, damage: &[(prop::sample::Index, u8, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (place, byte, what) in damage {
        let place = place.index(bytes.len());
        match what % 3 {
            0 => bytes[place] = *byte,
            1 => bytes.insert(place, *byte),
            _ => bytes.truncate(place.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_damage_to_a_source_is_a_crash(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..12),
    ) {
        let log = fs::read_to_string(origin("server.w4.burst1.log")).unwrap();
        if let Ok(bursts) = mlxcel::parse(&damaged(&log, &damage)) {
            let _ = mlxcel::import(bursts, &Extras::default(), &[]).map(|imported| imported.lines().len());
        }
        let answers = fs::read_to_string(origin("arm.w4.json")).unwrap();
        if let Ok(answers) = openai::parse(&damaged(&answers, &damage)) {
            let _ = answers.import(&Extras { width: Some(4), ..Extras::default() });
        }
    }
}
