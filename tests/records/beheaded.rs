//! A remedy whose trail has lost its first line, one that was stopped while it timed, and what is said of the runs of
//! both: they are no arms.

use super::interrupted::{beside, cut, stored};
use super::{check, read, report};
use crate::kit::rewrite;
use std::fs;
use std::path::Path;

/// What a trail's text becomes.
type Damage = fn(&str) -> String;

/// Ways to lose a first line.
const DAMAGES: [(Damage, &str); 4] = [
    (|text| text.split_inclusive('\n').skip(1).collect(), "is missing or damaged"),
    (|text| text.replacen("{\"format\"", "\0\0\0\0", 1), "is missing or damaged"),
    (|text| text[..40].to_owned(), "it ends in its first line"),
    (|text| text.replacen("\"question\":", "\"quest\":", 1), "cannot be read: line 1: unknown field"),
];

fn damage(trail: &Path, damage: Damage) {
    let text = fs::read_to_string(trail).unwrap();
    let damaged = damage(&text);
    assert_ne!(damaged, text);
    rewrite(trail, damaged.as_bytes());
}

#[test]
fn runs_beside_a_trail_without_its_beginning_are_no_arms() {
    for (change, why) in DAMAGES {
        let folder = tempfile::tempdir().unwrap();
        let (data, out) = (folder.path().join("data"), folder.path().join("record"));
        beside(&data.join("arms"));
        let remedy = stored(&data.join("remedy"));
        fs::remove_file(remedy.join("remedy.json")).unwrap();
        damage(&remedy.join("trail.jsonl"), change);
        let ran = report(&data, &out);
        assert_eq!(ran.code, 0, "{why}: {}", ran.err);
        let page = read(&out, "report.md");
        assert!(page.starts_with("# record: not run\n"), "{page}");
        for says in [
            "a remedy whose trail cannot be read; 4 transcripts beside it are not judged).",
            "### A remedy whose trail cannot be read (../data/remedy/trail.jsonl)",
            "4 transcripts of its runs and timings are not judged here: they are not among the compared arms",
            "| ../data/remedy/trail.jsonl | trail that cannot be read |",
            why,
        ] {
            assert!(page.contains(says), "{says} is not in {page}");
        }
        let before = page.split("## Data\n").next().unwrap();
        assert!(!before.contains("remedy/runs") && !before.contains("null arm: differs"), "{before}");
        assert!(!read(&out, "data.csv").contains("remedy/runs"), "{page}");
        assert_eq!(check(&out).code, 0);
    }
}

#[test]
fn a_finished_remedy_does_not_need_its_trail() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    damage(&remedy.join("trail.jsonl"), DAMAGES[0].0);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: exact\n"), "its runs are no arms: {page}");
    assert!(!page.contains("A remedy whose trail"), "{page}");
}

#[test]
fn a_timing_that_was_cut_is_told_beside_what_was_proven() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    fs::remove_file(remedy.join("remedy.json")).unwrap();
    // Header, probe, run, names, probe, run: the second setting is proven.
    cut(&remedy.join("trail.jsonl"), 6);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("Width 6: a setting is proven and no timing was begun: its speed,"), "{page}");
    assert!(!page.contains("cut while"), "{page}");
    for place in ["speed/w6-1", "speed/w6-1/setting0"] {
        super::copy(&remedy.join("runs/w6-2"), &remedy.join(place));
    }
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    for says in [
        "1 of 2 settings proven so far; 5 answers; cut while width 6 was timed).",
        "the timing of the proven ones was begun and cut (2 transcripts of it, no answer): its speed, the choice and \
         remedy.json are missing",
        "6 transcripts of its runs and timings are not judged here: they are not among the compared arms",
    ] {
        assert!(page.contains(says), "{says} is not in {page}");
    }
    // What is there is not called absent.
    assert!(!page.contains("no transcript is among the inputs"), "{page}");
    let says = "arms: the 6 transcripts among the inputs are a remedy's and no arms";
    assert!(page.contains(says), "{page}");
}

#[test]
fn one_transcript_is_told_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    fs::remove_file(remedy.join("remedy.json")).unwrap();
    for gone in ["plain-1", "w6-2"] {
        fs::remove_dir_all(remedy.join("runs").join(gone)).unwrap();
    }
    cut(&remedy.join("trail.jsonl"), 2);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    for says in [
        "0 of 1 setting proven so far; 1 answer).",
        "1 transcript of its runs and timings is not judged here: it is not one of the compared arms, and the last may be cut.",
        "the one transcript among the inputs is a remedy's and no arm",
    ] {
        assert!(page.contains(says), "{says} is not in {page}");
    }
}

#[test]
fn a_damaged_line_is_named_by_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let remedy = stored(&data);
    damage(&remedy.join("trail.jsonl"), |text| {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines[2] = "{\"step\":\"x\",oops}\n";
        lines.concat()
    });
    let ran = report(&data, &out);
    assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
    assert!(ran.err.contains("trail.jsonl: line 3: key must be a string at column 13"), "{}", ran.err);
}
