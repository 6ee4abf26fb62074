//! Equal texts of runs that tried nothing are no evidence, and a record's title says so.

use super::{read, report};
use crate::kit::{Run, rewrite, stream};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn write(data: &Path, header: &Value, width: usize) {
    Run { stream: stream(30), ..Run::default() }.write(data, "classic.jsonl");
    Run { arm: "w4", width, header: header.clone(), stream: stream(30), accepts: vec![2], ..Run::default() }
        .write(data, "w4.jsonl");
}

#[test]
fn an_arm_of_which_no_round_proposed_is_vacuous() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    write(&data, &json!({}), 4);
    // The same run without its proposals: rounds of one row.
    let file = data.join("w4.jsonl");
    let mut lines: Vec<Value> =
        fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[0]["width"] = json!(1);
    let (first, last) = (lines[1].clone(), lines[lines.len() - 1].clone());
    let tokens: Vec<i64> = serde_json::from_value(last["tokens"].clone()).unwrap();
    let start = first["cache_len"].as_i64().unwrap();
    let rounds = tokens.windows(2).enumerate().map(|(round, pair)| {
        let before = start + i64::try_from(round).unwrap();
        json!({"type": "round", "sequence": 0, "round": round, "width": 1, "bonus": pair[0], "draft": [],
            "target": [pair[1]], "accepted": 0, "emitted": [pair[1]], "cache_before": before, "cache_after": before + 1})
    });
    let lines: Vec<String> = [lines[0].clone(), first]
        .into_iter()
        .chain(rounds)
        .chain([last])
        .map(|line| line.to_string())
        .collect();
    rewrite(&file, (lines.join("\n") + "\n").as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: vacuous\n"), "{page}");
    assert!(page.contains("w4.jsonl: no round proposed a token, so that equal text says nothing."), "{page}");
    assert!(!page.contains("a divergence of w4"), "{page}");
}

#[test]
fn a_planted_fault_that_shows_nowhere_is_no_control() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    write(&data, &json!({"command": ["exactness", "run-arm", "--plant", "op=o_proj,rows>=9,ulp=1"]}), 4);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not run\n"), "{page}");
    assert!(page.contains("The planted fault shows nowhere in what was recorded"), "{page}");
    assert!(!page.contains("a divergence of w4"), "{page}");
}

#[test]
fn another_programs_command_is_told_and_not_to_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    write(&data, &json!({"command": ["rm", "-rf", "/"]}), 4);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("\n# recorded there: rm -rf /\n") && !page.contains("\nrm "), "{page}");
}

/// Where two runs of plain decoding answer one prompt differently, the verdict would follow from their names.
#[test]
fn references_that_differ_are_no_reference() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    write(&data, &json!({}), 4);
    let mut other = stream(30);
    other[7] += 1;
    Run { stream: other, ..Run::default() }.write(&data, "classicB.jsonl");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: not comparable\n"), "{page}");
    let says = "the references ../data/classic.jsonl and ../data/classicB.jsonl answer this prompt with other tokens";
    assert!(page.contains(says), "{page}");
    let paths = ["w4.jsonl", "classic.jsonl", "classicB.jsonl"].map(|name| data.join(name));
    for order in [[1, 2], [2, 1]] {
        let (judgement, code) =
            crate::kit::compare(&paths[..1], &order.map(|place: usize| paths[place].clone()));
        assert_eq!((&judgement["verdict"], code), (&json!("not comparable"), 3));
    }
}
