//! Files that a stored result names: by where they lie in the record, never by the machine that made it.

use super::{copy, read, report};
use crate::kit::{Run, compare, parted, rewrite, stream};
use std::path::{Path, PathBuf};

/// An experiment on some machine, with its comparison.
fn compared(machine: &Path) -> (PathBuf, String) {
    let run = machine.join("run");
    let row = |index: usize| vec![f32::from(u8::try_from(index).unwrap()), 1.0];
    let classic = Run { stream: stream(30), row: Some(&row), ..Run::default() }.write(&run, "classic.jsonl");
    let arm = Run { arm: "w4", width: 4, stream: parted(&stream(30), 20), ..Run::default() };
    let (judgement, code) = compare(&[arm.write(&run, "w4.jsonl")], &[classic]);
    assert_eq!(code, 1, "{judgement}");
    (run, judgement.to_string())
}

#[test]
fn a_stored_comparison_names_the_records_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("home/somebody");
    let (run, judgement) = compared(&machine);
    assert!(judgement.contains("home/somebody/run/w4.jsonl"), "{judgement}");
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    copy(&run, &data.join("run"));
    rewrite(&data.join("compare.json"), judgement.as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    for name in ["report.md", "data.csv", "report.html"] {
        let text = read(&out, name);
        assert!(text.contains("../data/compare.json: ../data/run/w4.jsonl"), "{name}: {text}");
        assert!(!text.contains("somebody"), "{name}: {text}");
    }
}

#[test]
fn a_comparison_of_other_runs_is_not_taken_for_one_of_these() {
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("home/somebody");
    let (_, judgement) = compared(&machine);
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    rewrite(&data.join("compare.json"), judgement.as_bytes());
    // The same place and name, and another run.
    Run { stream: stream(12), ..Run::default() }.write(&data.join("run"), "classic.jsonl");
    Run { arm: "w4", width: 4, stream: stream(12), ..Run::default() }.write(&data.join("run"), "w4.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("../data/compare.json: w4.jsonl"), "{page}");
    assert!(!page.contains("compare.json: ../data/run") && !page.contains("somebody"), "{page}");
}
