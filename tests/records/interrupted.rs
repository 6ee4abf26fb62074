//! A remedy that was stopped: its trail is told, and what it left of its runs is no arm of the experiment.

use super::{check, copy, read, report, repository};
use crate::kit::{Run, rewrite, stream};
use std::fs;
use std::path::{Path, PathBuf};

/// The stored remedy with its runs, under `to`.
pub(super) fn stored(to: &Path) -> PathBuf {
    let from = repository("reports/demo-cpu/data/remedy-chunked");
    copy(&from, to);
    for folder in ["plain-1", "w6-1", "w6-2"] {
        copy(&from.join("runs").join(folder), &to.join("runs").join(folder));
    }
    to.to_owned()
}

/// The data index's word for runs of a remedy.
const UNJUDGED: &str = "| transcript of a remedy (told by its result or trail) |";

/// Keeps so many lines of a trail, and the beginning of one more.
pub(super) fn cut(trail: &Path, lines: usize) {
    let text = fs::read_to_string(trail).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
    rewrite(trail, format!("{}{{\"step\":\"w6 ti", kept.concat()).as_bytes());
}

fn halve(transcript: &Path) {
    let text = fs::read(transcript).unwrap();
    rewrite(transcript, &text[..text.len() / 2]);
}

/// The experiment that the remedy stands beside.
pub(super) fn beside(data: &Path) {
    Run { stream: stream(30), ..Run::default() }.write(data, "classic.jsonl");
    Run { arm: "w4", width: 4, stream: stream(30), ..Run::default() }.write(data, "w4.jsonl");
}

#[test]
fn an_interrupted_remedy_is_told_from_its_trail_and_its_runs_are_no_arms() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    beside(&data.join("arms"));
    let remedy = stored(&data.join("remedy"));
    fs::remove_file(remedy.join("remedy.json")).unwrap();
    // Header, probe, run, names, probe: the run of the second setting was going on.
    cut(&remedy.join("trail.jsonl"), 5);
    halve(&remedy.join("runs/w6-2/w6.jsonl"));
    halve(&remedy.join("runs/plain-1/classic.repeat1.jsonl"));
    copy(&remedy.join("runs/w6-2"), &remedy.join("speed/w6-1"));
    let ran = report(&data, &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not run\n"), "{page}");
    for says in [
        "trail.jsonl: not run (an interrupted remedy; 0 of 2 settings proven so far; 4 answers).",
        "### An interrupted remedy (../data/remedy/trail.jsonl)",
        "Width 6 under delta=chunked: not proven (probe: differs; run: identical, 252 of 256 rows with other bytes).",
        "Width 6 under delta=chain: not proven (probe: equal; run: not run).",
        "5 transcripts of its runs and timings are not judged here",
        "To go on, with --out leading to ../data/remedy: exactness remedy --width 6 --routes delta=chunked",
        UNJUDGED,
    ] {
        assert!(page.contains(says), "{says} is not in {page}");
    }
    assert!(page.contains("../data/arms: identical (2 runs; 1 sequence"), "{page}");
    let before = page.split("## Data\n").next().unwrap();
    for none in
        ["null arm: differs", "cut run", "data/remedy/runs", "data/remedy/speed", "no remedy.json is among"]
    {
        assert!(!before.contains(none), "{none} is in {before}");
    }
    let csv = read(&out, "data.csv");
    assert!(csv.contains("\"width 6, interrupted (delta=chain)\",probe,equal\n"), "{csv}");
    assert!(!csv.contains("remedy/runs"), "{csv}");
    assert_eq!(check(&out).code, 0);
    // With the answer of the second run it is proven.
    stored(&data.join("remedy"));
    fs::remove_file(remedy.join("remedy.json")).unwrap();
    cut(&remedy.join("trail.jsonl"), 6);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("1 of 2 settings proven so far; 5 answers"), "{page}");
    let proven =
        "Width 6 under delta=chain: proven (probe: equal; run: identical, 0 of 256 rows with other bytes).";
    assert!(page.contains(proven), "{page}");
}

#[test]
fn a_trail_of_a_remedy_alone_is_a_record_and_an_edited_one_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    copy(&repository("reports/demo-cpu/data/remedy-chunked"), &data);
    fs::remove_file(data.join("remedy.json")).unwrap();
    let ran = report(&data, &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = read(&out, "report.md");
    assert!(page.contains("Timed: the proven settings of width 6."), "{page}");
    assert!(
        page.contains("To go on: the same command line with the same --out, which is ../data here."),
        "{page}"
    );
    let trail = data.join("trail.jsonl");
    let text = fs::read_to_string(&trail).unwrap();
    rewrite(&trail, text.replacen("\"outcome\":\"differs\"", "\"outcome\":\"equal\"", 1).as_bytes());
    let ran = report(&data, &out);
    assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
    assert!(ran.err.contains("trail.jsonl") && ran.err.contains("the trail was edited"), "{}", ran.err);
}

/// A search that was gone on with uses new folders; what the stopped one left there is cut.
#[test]
fn what_an_interruption_left_beside_a_finished_remedy_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    assert_eq!(report(&data, &out).code, 0);
    let before = read(&out, "report.md");
    for (from, to, file) in [("plain-1", "plain-2", "classic.repeat1.jsonl"), ("w6-2", "w6-3", "w6.jsonl")] {
        copy(&remedy.join("runs").join(from), &remedy.join("runs").join(to));
        halve(&remedy.join("runs").join(to).join(file));
    }
    assert_eq!(report(&data, &out).code, 0);
    let after = read(&out, "report.md");
    let sections = |page: &str| page.split("## Limits\n").next().unwrap().to_owned();
    assert_eq!(sections(&after), sections(&before));
    assert!(before.starts_with("# record: exact\n"), "{before}");
    assert_eq!(after.matches(UNJUDGED).count(), 7, "{after}");
}

/// A finished remedy whose search was gone on with for another width, and stopped.
#[test]
fn a_trail_with_more_than_its_result_is_an_interrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    // The result of another width is the one that is there.
    let text = fs::read_to_string(remedy.join("remedy.json")).unwrap();
    let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
    result["widths"][0]["width"] = serde_json::json!(8);
    rewrite(&remedy.join("remedy.json"), result.to_string().as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not run\n"), "{page}");
    let says = "no result beside ../data/trail.jsonl has what follows, so that nothing was chosen.";
    assert!(page.contains(says) && page.contains("Width 6 under delta=chain: proven"), "{page}");
}
