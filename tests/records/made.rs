//! Making a record, making it again, and seeing what was changed.

use super::{check, copy, read, report, repository};
use crate::kit::{Run, exactness, parted, rewrite, stream};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All files of a record.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect()
}

#[test]
fn two_runs_give_the_same_bytes_wherever_the_folder_lies() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [here.path(), &there.path().join("deeper/down")] {
        copy(&repository("reports/gpu-first-contact/data/demo"), &folder.join("data"));
        let ran = report(&folder.join("data"), &folder.join("record"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let (left, right) = (files(&here.path().join("record")), files(&there.path().join("deeper/down/record")));
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    assert!(left.len() >= 6, "{:?}", left.keys());
    for (name, bytes) in &left {
        assert!(bytes == &right[name], "{name} differs");
        assert!(!bytes.is_empty(), "{name} is empty");
    }
}

#[test]
fn a_changed_digit_makes_the_check_fail_and_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    copy(&repository("reports/gpu-first-contact/data/demo"), &data);
    assert_eq!(report(&data, &out).code, 0);
    let clean = check(&out);
    assert_eq!(clean.code, 0, "{}{}", clean.out, clean.err);
    let transcript = data.join("w4.jsonl");
    let text = fs::read_to_string(&transcript).unwrap();
    let changed = text.replacen("\"cache_before\":20", "\"cache_before\":21", 1);
    assert_ne!(changed, text);
    rewrite(&transcript, changed.as_bytes());
    let found = check(&out);
    assert_eq!(found.code, 1, "{}", found.err);
    assert!(found.out.contains("../data/w4.jsonl: its SHA-256"), "{}", found.out);
    assert!(!found.out.contains("w8.jsonl"), "{}", found.out);
    // Made anew, the record says what the change broke.
    assert_eq!(report(&data, &out).code, 0);
    assert!(read(&out, "report.md").starts_with("# record: inconsistent\n"), "{}", read(&out, "report.md"));
}

#[test]
fn what_an_author_says_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    Run { stream: stream(12), ..Run::default() }.write(&data, "classic.jsonl");
    for flag in ["--setup", "--made-by", "--note", "--title", "--question"] {
        for (text, why) in [
            ("", "it is empty"),
            (" ", "it is empty"),
            ("a\nb", "give one line"),
            ("a\u{1b}[1m", "give one line"),
        ] {
            let (data, out) = (data.to_str().unwrap(), out.to_str().unwrap());
            let ran = exactness(["report", data, "--out", out, flag, text]);
            assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{flag} {text:?}: {}", ran.err);
            assert!(ran.err.contains(flag) && ran.err.contains(why), "{flag} {text:?}: {}", ran.err);
        }
    }
    assert!(!out.exists(), "nothing was written");
}

#[test]
fn a_check_says_of_which_data_the_record_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (data, other, out) = ["data", "other", "record"].map(|name| folder.path().join(name)).into();
    for place in [&data, &other] {
        Run { stream: stream(12), ..Run::default() }.write(place, "classic.jsonl");
    }
    assert_eq!(report(&data, &out).code, 0);
    let ran = exactness([Path::new("report"), &other, Path::new("--check"), Path::new("--out"), &out]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("it is made of ../data, and ../other was named"), "{}", ran.out);
}

#[test]
fn a_changed_added_or_missing_file_of_the_record_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    copy(&repository("reports/gpu-first-contact/data/demo"), &data);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    rewrite(&out.join("report.md"), page.replacen("60 of 64", "61 of 64", 1).as_bytes());
    rewrite(&out.join("speed.svg"), b"<svg/>");
    fs::remove_file(out.join("rows.svg")).unwrap();
    let found = check(&out);
    assert_eq!(found.code, 1);
    let line = 1 + page.lines().position(|line| line.contains("60 of 64")).unwrap();
    assert!(
        found.out.contains(&format!("report.md: differs from what its data gives, first in line {line}")),
        "{}",
        found.out
    );
    assert!(found.out.contains("rows.svg") && found.out.contains("speed.svg: is no part"), "{}", found.out);
    fs::write(data.join("more.txt"), "x").unwrap();
    fs::remove_file(data.join("w2.jsonl")).unwrap();
    let found = check(&out);
    assert!(found.out.contains("more.txt: is not in the record"), "{}", found.out);
    assert!(found.out.contains("w2.jsonl: is missing"), "{}", found.out);
}

#[test]
fn the_authors_words_stay_when_a_record_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let classic = Run { stream: stream(20), ..Run::default() };
    classic.write(&data, "classic.jsonl");
    let said = ["--title", "Nightly", "--question", "Does it hold?", "--note", "One machine."];
    let mut words = vec!["report", data.to_str().unwrap(), "--out", out.to_str().unwrap()];
    words.extend(said);
    assert_eq!(exactness(&words).code, 0);
    let again = exactness(["report", "--out", out.to_str().unwrap()]);
    assert_eq!(again.code, 0, "{}", again.err);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# Nightly: consistent\n"), "{page}");
    assert!(page.contains("Does it hold?") && page.contains("* One machine."), "{page}");
    assert_eq!(check(&out).code, 0);
}

#[test]
fn what_is_missing_is_said_and_a_plant_stands_among_the_controls() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let command = json!({"command": ["exactness", "run-arm", "--width", "4", "--plant", "op=o_proj,ulp=1"]});
    Run { stream: stream(40), ..Run::default() }.write(&data, "classic.jsonl");
    let arm = Run {
        arm: "w4",
        stream: parted(&stream(40), 9),
        width: 4,
        accepts: vec![2],
        header: command,
        ..Run::default()
    };
    arm.write(&data, "w4.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: undecided\n"), "{page}");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"));
    assert!(place("a fault was planted on purpose: op=o_proj,ulp=1.") < place("## Verdicts"));
    for missing in ["null arm of ../data", "rows: no arm and its reference"] {
        assert!(page.contains(&format!("*Missing:* {missing}")), "{missing} in {page}");
    }
    let absent = page.split("## Not part of this record\n").nth(1).unwrap().split("\n## ").next().unwrap();
    for missing in
        ["the frontier of a bisect", "the cheapest exact setting", "throughput", "op parity", "probe"]
    {
        assert_eq!(absent.matches(&format!("\n* {missing}: ")).count(), 1, "{missing} in {absent}");
    }
    // What has no input has no section of its own, on the page neither.
    let html = read(&out, "report.html");
    for section in ["Throughput", "Operations", "Probe", "Cause and remedy", "Prompt lengths"] {
        assert!(!page.contains(&format!("## {section}\n")) && !html.contains(&format!("<h2>{section}<")));
    }
    assert!(html.contains("<h2>Not part of this record</h2>") && place("## Limits") < place(absent));
    assert!(page.contains("exactness run-arm --width 4 --plant op=o_proj,ulp=1\n"), "{page}");
}

#[test]
fn a_vacuous_run_is_vacuous_in_the_title_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    assert_eq!(report(&repository("reports/gpu-first-contact/data/m4b"), &out).code, 0);
    assert!(read(&out, "report.md").starts_with("# record: vacuous\n"));
    assert!(read(&out, "report.html").contains("<h1>record: vacuous</h1>"));
}

#[test]
fn a_null_arm_that_differs_is_not_comparable() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    Run { stream: stream(40), ..Run::default() }.write(&data, "classic.jsonl");
    let repeat = json!({"repeat": 1});
    Run { stream: parted(&stream(40), 20), header: repeat, ..Run::default() }
        .write(&data, "classic.repeat1.jsonl");
    Run { arm: "w4", stream: stream(40), width: 4, ..Run::default() }.write(&data, "w4.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not comparable\n"), "{page}");
    assert!(
        page.contains("| ../data/classic.repeat1.jsonl | classic repeat 1 | 1 | 0 | differs |"),
        "{page}"
    );
}

#[test]
fn runs_with_and_without_rows_are_the_observer_control() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let row = |index: usize| vec![f32::from(u8::try_from(index).unwrap()), 1.0];
    let seen = Run { stream: stream(30), row: Some(&row), ..Run::default() };
    seen.write(&data.join("seen"), "classic.jsonl");
    Run { stream: stream(30), ..Run::default() }.write(&data.join("unseen"), "classic.jsonl");
    // Another prompt is another question: this run is no control of the others.
    let other = json!({"prompts": [{"sequence": 0, "ids": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}]});
    let asked = Run { stream: parted(&stream(30), 4), header: other, ..Run::default() };
    asked.write(&data.join("other"), "classic.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    let line = "| ../data/unseen/classic.jsonl | ../data/seen/classic.jsonl | identical |";
    assert!(page.contains(line) && !page.contains("| differ |"), "{page}");
}

/// What has to come before all other lines comes there, and what no line brings is told.
#[test]
fn a_repeat_block_has_its_setup_first_and_tells_what_no_line_brings() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let command = ["exactness", "run-arm", "--prompts=../settings/p.jsonl", "--width", "4", "--out", "arms"];
    Run { stream: stream(20), header: json!({"command": command}), ..Run::default() }
        .write(&data, "classic.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("*Missing:* what makes or brings ../settings/p.jsonl,"), "{page}");
    let link = "ln -s \"$REPOSITORY/harness/gpu\" ../settings";
    let words =
        ["report", "--out", out.to_str().unwrap(), "--setup", link, "--made-by", "exactness doctor --x"];
    assert_eq!(exactness(words).code, 0);
    // Kept when the record is made again.
    assert_eq!(exactness(["report", "--out", out.to_str().unwrap()]).code, 0);
    let page = read(&out, "report.md");
    assert!(!page.contains("what makes or brings"), "{page}");
    let block = format!("release:$PATH\"\n{link}\nexactness doctor\nexactness run-arm --prompts=../settings");
    let after = page.split(&block).nth(1).unwrap_or_else(|| panic!("{block} is not in {page}"));
    assert!(after.contains("\nexactness doctor --x\nexactness report . --out record\n"), "{page}");
    assert!(page.contains("In an empty folder that has a folder of its own around it"), "{page}");
    assert_eq!(check(&out).code, 0);
}
