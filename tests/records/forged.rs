//! Stored results that contradict themselves prove nothing: they are refused in one line, or say that nothing was
//! compared.

use super::{copy, read, report, repository};
use crate::kit::{Ran, rewrite};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A record of a stored result alone, after a change of its JSON.
fn forged(from: &str, name: &str, change: impl FnOnce(&mut Value)) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let mut value: Value = serde_json::from_slice(&fs::read(repository(from).join(name)).unwrap()).unwrap();
    change(&mut value);
    rewrite(&data.join(name), value.to_string().as_bytes());
    report(&data, &folder.path().join("record"))
}

fn refused(ran: &Ran, says: &str) {
    assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
    assert!(ran.err.contains("contradicts itself") && ran.err.contains(says), "{}", ran.err);
}

#[test]
fn a_bisect_of_which_the_word_is_not_what_it_found() {
    let bisect = |class: &str| {
        forged("reports/planted-cpu/data/bisect", "bisect.json", |found| found["class"] = json!(class))
    };
    assert_eq!(bisect("operation").code, 0);
    refused(&bisect("identical"), "its class is identical, and a row, a state or an operation differs");
    refused(&bisect("rewind"), "its class is rewind, and nothing that a rewind left");
}

#[test]
fn a_measurement_of_nothing_or_with_another_verdict() {
    let bench = |change: fn(&mut Value)| forged("reports/demo-cpu/data/bench", "bench.json", change);
    assert_eq!(bench(|_| {}).code, 0);
    refused(&bench(|found| found["arms"] = json!([])), "nothing was timed");
    refused(&bench(|found| found["arms"][0]["verdict"] = json!("near tie")), "ended identical");
}

#[test]
fn a_remedy_of_which_a_probe_compared_nothing() {
    let remedy =
        |change: fn(&mut Value)| forged("reports/demo-cpu/data/remedy-chunked", "remedy.json", change);
    refused(
        &remedy(|found| found["widths"][0]["candidates"][0]["probed"]["outcome"]["rows"] = json!(0)),
        "compared no row",
    );
    refused(
        &remedy(|found| {
            let width = found["widths"][0].clone();
            found["widths"].as_array_mut().unwrap().push(width);
        }),
        "stands in it twice",
    );
    refused(&remedy(|found| found["ending"] = json!("nothing-to-cure")), "it ended nothing to cure");
}

#[test]
fn a_sweep_of_which_no_cell_compared_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    copy(&repository("reports/demo-cpu/data/sweep"), &data);
    let journal = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    let journal =
        journal.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    emptied(&journal);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not run\n"), "{page}");
}

/// Every equal outcome of a journal with no row behind it.
fn emptied(journal: &Path) {
    let text = fs::read_to_string(journal).unwrap();
    let mut changed = 0;
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let start = line.match_indices("\"rows\":").map(|(at, found)| at + found.len());
            let mut line = line.to_owned();
            for at in start.collect::<Vec<_>>().into_iter().rev() {
                let end = line[at..].find(|letter: char| !letter.is_ascii_digit()).unwrap() + at;
                line.replace_range(at..end, "0");
                changed += 1;
            }
            line
        })
        .collect();
    assert!(changed > 0, "{text}");
    rewrite(journal, (lines.join("\n") + "\n").as_bytes());
}
