//! `check-algebra` over the public cases, and its exit codes.

use exactness::algebra::judgement::ArmJudgement;
use exactness::cli::judging::judge_path;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BETWEEN_ARMS: [&str; 5] = ["prompt", "null-arm", "vacuous", "stream", "length"];

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

fn expected(case: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(case.join("expect.json")).unwrap()).unwrap()
}

fn broken(judgement: &ArmJudgement) -> BTreeSet<&str> {
    let all = |sequence: &exactness::results::SequenceJudgement| {
        let (finding, later, warnings) = (&sequence.finding, &sequence.later, &sequence.warnings);
        finding.iter().chain(later).chain(warnings).map(|breach| breach.law).collect::<Vec<_>>()
    };
    judgement.sequences.iter().flat_map(all).collect()
}

#[test]
fn the_cases_break_the_laws_that_they_are_known_for() {
    let cases = cases();
    assert_eq!(cases.len(), 27);
    for case in cases {
        let (expected, judgement) = (expected(&case), judge_path(&case.join("arm.jsonl")).unwrap());
        let within = |law: &&str| !BETWEEN_ARMS.contains(law);
        let laws = expected["broken_laws"].as_array().unwrap().iter().map(|law| law.as_str().unwrap());
        assert_eq!(broken(&judgement), laws.filter(within).collect(), "{}", case.display());
        let finding = &expected["finding"];
        let found = judgement
            .sequences
            .iter()
            .find_map(|sequence| Some((sequence.sequence, sequence.finding.as_ref()?)));
        if finding["law"].as_str().is_none_or(|law| !within(&law)) {
            assert!(found.is_none(), "{}", case.display());
            continue;
        }
        let (sequence, found) = found.unwrap();
        assert_eq!(finding["sequence"], sequence, "{}", case.display());
        assert_eq!(finding["law"], found.law, "{}", case.display());
        assert_eq!(finding["round"].as_i64(), found.round, "{}", case.display());
    }
}

fn exactness(arguments: &[&str]) -> Output {
    let binary = env!("CARGO_BIN_EXE_exactness");
    Command::new(binary).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

fn code(arguments: &[&str]) -> i32 {
    exactness(arguments).status.code().unwrap()
}

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("bad.jsonl"), "{\"type\":\"footer\",\"sequence\":0,\"complete\":true}\n").unwrap();
    fs::write(at("nothing.jsonl"), "").unwrap();
    assert_eq!(code(&["check-algebra", "tests/cases/P1"]), 0);
    assert_eq!(code(&["check-algebra", "tests/cases/K10/arm.jsonl"]), 0, "a warning changes nothing");
    assert_eq!(code(&["check-algebra", "tests/cases/A1/arm.jsonl"]), 1);
    assert_eq!(code(&["check-algebra"]), 2);
    assert_eq!(code(&["check-algebra", &at("empty")]), 3);
    assert_eq!(code(&["check-algebra", &at("empty"), "--exit-code", "git-bisect"]), 125);
    assert_eq!(code(&["check-algebra", &at("nothing.jsonl")]), 3, "killed before its header was written");
    assert_eq!(code(&["check-algebra", &at("bad.jsonl")]), 4);
    assert_eq!(code(&["check-algebra", "tests/cases/A1/arm.jsonl", &at("bad.jsonl")]), 4, "the worst counts");
    assert_eq!(code(&["check-algebra", &at("absent")]), 5);
    assert_eq!(code(&["check-algebra", "tests/cases/A1/arm.jsonl", "--exit-code", "git-bisect"]), 1);
}

/// What a search leaves beside its runs is no transcript, and a run that is named twice is one run.
#[test]
fn a_folder_stands_for_its_transcripts_alone_and_each_once() {
    let ran = |arguments: &[&str]| {
        let output = exactness(&[&["check-algebra"], arguments].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let data = "reports/planted-cpu/data";
    let trail = format!("{data}/bisect/trail.jsonl");
    let (code, out, err) = ran(&[data]);
    assert_eq!((code, err.lines().count()), (0, 1), "{err}");
    assert!(out.contains("consistent: 3 files;"), "{out}");
    assert!(err.contains(&format!("{trail}: a trail, no transcript; passed over")), "{err}");
    let run = format!("{data}/arms/w4.jsonl");
    let (code, out, err) = ran(&[&run, &run]);
    assert!(code == 0 && out.contains("consistent: 1 file;") && err.contains("named twice"), "{out}{err}");
    let (code, out, err) = ran(&[&run, &trail]);
    assert_eq!((code, err.lines().count()), (4, 1), "{err}");
    assert!(err.contains(&format!("error: read {trail}: it is a trail, no transcript")), "{err}");
    assert!(out.contains("w4.jsonl"), "the other one is judged: {out}");
}

#[test]
fn standard_input_and_the_file_say_the_same() {
    let file = exactness(&["check-algebra", "tests/cases/A1/arm.jsonl", "--format", "json"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_exactness"))
        .args(["check-algebra", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/A1/arm.jsonl")).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let piped = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let file = String::from_utf8(file.stdout).unwrap();
    assert_eq!(piped.replace("\"file\": \"-\"", "\"file\": \"tests/cases/A1/arm.jsonl\""), file);
}

#[test]
fn the_json_is_the_contract() {
    let output = exactness(&["check-algebra", "tests/cases/A1/arm.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["verdict"], "inconsistent");
    assert!(json["patterns"].as_array().unwrap().is_empty());
    let arm = &json["arms"][0];
    assert_eq!((&arm["arm"], &arm["verdict"]), (&Value::from("spec"), &Value::from("inconsistent")));
    assert_eq!(arm["compared"]["rounds"], 1);
    assert!(arm["checked"].as_array().unwrap().contains(&Value::from("emission")));
    assert_eq!(arm["not_checkable"][0]["law"], "cache-length");
    let finding = &arm["sequences"][0]["finding"];
    assert_eq!(
        (&finding["law"], &finding["round"], &finding["row"]),
        (&Value::from("accepted-prefix"), &Value::from(0), &Value::from(1))
    );
    assert_eq!((&finding["expected"], &finding["found"]), (&Value::from(1), &Value::from(2)));
    assert!(!finding["says"].as_str().unwrap().is_empty());
    assert_eq!(arm["sequences"][0]["later"][0]["law"], "emission");
}
