//! A remedy in a record: what parts, what was proven, the options, and the line to take, each from `remedy.json`.

use super::{check, copy, read, report, repository};
use crate::kit::rewrite;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn stored() -> PathBuf {
    repository("reports/demo-cpu/data/remedy-chunked")
}

fn json() -> Value {
    serde_json::from_slice(&fs::read(stored().join("remedy.json")).unwrap()).unwrap()
}

/// A record of the stored remedy alone, after a change of its JSON.
fn changed(folder: &Path, change: impl FnOnce(&mut Value)) -> crate::kit::Ran {
    let (data, mut remedy) = (folder.join("data"), json());
    copy(&stored(), &data);
    change(&mut remedy);
    rewrite(&data.join("remedy.json"), serde_json::to_string_pretty(&remedy).unwrap().as_bytes());
    report(&data, &folder.join("record"))
}

#[test]
fn the_record_of_a_remedy_has_what_parts_the_proof_and_the_line_to_take() {
    let (folder, remedy) = (tempfile::tempdir().unwrap(), json());
    let ran = changed(folder.path(), |_| {});
    assert_eq!(ran.code, 0, "{}", ran.err);
    let record = folder.path().join("record");
    let (page, csv) = (read(&record, "report.md"), read(&record, "data.csv"));
    assert_eq!(page.lines().next().unwrap(), "# record: exact");
    let width = &remedy["widths"][0];
    let choice = width["choice"]["routes"].as_str().unwrap();
    assert!(
        page.contains(&format!("The line to take: width {}: --routes {choice}", width["width"])),
        "{page}"
    );
    assert!(!page.contains("the cheapest exact setting: no remedy.json"), "{page}");
    for option in ["decline", "verify alone", "whole process", "inexact"] {
        assert!(page.contains(&format!("\n| {option} |")), "{option} is no row of {page}");
    }
    for named in width["named"].as_array().unwrap() {
        let (op, rows) = (named["op"].as_str().unwrap(), &named["rows"]);
        assert!(page.contains(&format!("\n| {op} |")), "{page}");
        assert!(
            csv.contains(&format!("\"width {}, {op}\",rows that differ,{rows}\n", width["width"])),
            "{csv}"
        );
    }
    let mut tried = 0;
    for one in width["candidates"].as_array().unwrap().iter().chain([&width["requested"]]) {
        let (routes, run) = (one["routes"].as_str().unwrap(), &one["run"]);
        assert!(page.contains(&format!("\n| {routes} |")), "{routes} is no row of {page}");
        if run.is_object() {
            let differing = format!("run: rows with other bytes,{}\n", run["rows"][0]);
            assert!(
                csv.lines().any(|line| line.contains(routes) && differing.trim_end() == tail(line)),
                "{csv}"
            );
            tried += 1;
        }
        if one["measured"].is_object() {
            let ratio = format!("times plain decoding,{}", one["measured"]["ratio"]);
            assert!(csv.lines().any(|line| line.contains(routes) && tail(line) == ratio), "{ratio}: {csv}");
        }
    }
    assert!(tried >= 2, "as requested and the choice");
    assert_eq!(check(&record).code, 0);
}

/// The last two cells of a line.
fn tail(line: &str) -> &str {
    let commas: Vec<usize> = line.match_indices(',').map(|(at, _)| at).collect();
    commas.len().checked_sub(2).map_or("", |last| &line[commas[last] + 1..])
}

/// A setting of both sides is named with its routes of plain decoding wherever its run is.
#[test]
fn routes_of_plain_decoding_stand_wherever_the_setting_does() {
    let folder = tempfile::tempdir().unwrap();
    let ran = changed(folder.path(), |remedy| {
        let width = &mut remedy["widths"][0];
        let mut both = width["candidates"][0].clone();
        (both["routes"], both["plain"]) = ("linear=padded:6".into(), "linear=padded:6".into());
        (both["kind"], both["run"]["file"]) = ("both-sides".into(), "runs/w6-9/w6.jsonl".into());
        width["candidates"].as_array_mut().unwrap().push(both);
    });
    assert_eq!(ran.code, 0, "{}", ran.err);
    let record = folder.path().join("record");
    let setting = "linear=padded:6,plain.linear=padded:6";
    let run = format!("The run under {setting} was recorded in runs/w6-9/w6.jsonl.");
    assert!(read(&record, "report.md").contains(&run), "{}", read(&record, "report.md"));
    let csv = read(&record, "data.csv");
    assert!(csv.contains(&format!("\"width 6, both sides ({setting})\",run: verdict,identical\n")), "{csv}");
}

/// Rows of the run may all be equal where the probe, which is of other tokens, found a state that is not.
#[test]
fn a_setting_that_is_inexact_says_what_parts() {
    let state = serde_json::json!({"what": "state", "part": "layer.3.keys"});
    let cases: [(Value, Value, Value, &str); 4] = [
        (serde_json::json!([0, 256]), Value::Null, state.clone(), "state layer.3.keys ≠ in the probe"),
        (serde_json::json!([0, 0]), Value::Null, state.clone(), "state layer.3.keys ≠ in the probe"),
        (serde_json::json!([0, 256]), serde_json::json!([3, 18]), state.clone(), "3 of 18 states ≠"),
        (serde_json::json!([1, 256]), serde_json::json!([3, 18]), state, "1 of 256 rows ≠"),
    ];
    for (rows, states, place, says) in cases {
        let folder = tempfile::tempdir().unwrap();
        let ran = changed(folder.path(), |remedy| {
            let requested = &mut remedy["widths"][0]["requested"];
            (requested["run"]["rows"], requested["run"]["states"]) = (rows, states);
            requested["probed"]["outcome"]["first"]["place"] = place;
        });
        assert_eq!(ran.code, 0, "{}", ran.err);
        let page = read(&folder.path().join("record"), "report.md");
        assert!(page.contains(&format!("\n| inexact | no: {says} |")), "{says}: {page}");
    }
}

#[test]
fn how_a_remedy_ended_is_the_title() {
    for (ending, code) in
        [("none-found", "none found"), ("not-run", "not run"), ("nothing-to-cure", "nothing to cure")]
    {
        let folder = tempfile::tempdir().unwrap();
        let ran = changed(folder.path(), |remedy| {
            let width = &mut remedy["widths"][0];
            if ending == "nothing-to-cure" {
                width["requested"]["probed"] = width["candidates"][0]["probed"].clone();
            } else {
                (width["choice"], width["candidates"]) = (Value::Null, Value::Array(Vec::new()));
            }
            (width["ending"], remedy["ending"]) = (ending.into(), ending.into());
        });
        assert_eq!(ran.code, 0, "{}", ran.err);
        let page = read(&folder.path().join("record"), "report.md");
        assert_eq!(page.lines().next().unwrap(), format!("# record: {code}"));
    }
}

#[test]
fn the_program_is_that_of_the_trail_or_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(changed(folder.path(), |_| {}).code, 0);
    let (record, data) = (folder.path().join("record"), folder.path().join("data"));
    let program = concat!("| program | exactness ", env!("CARGO_PKG_VERSION"), " |\n\nFrom `../data/");
    let page = read(&record, "report.md");
    assert!(page.contains(program) && page.contains(", `../data/trail.jsonl`."), "{page}");
    fs::remove_file(data.join("trail.jsonl")).unwrap();
    assert_eq!(report(&data, &record).code, 0);
    assert!(read(&record, "report.md").contains("| program | not recorded |"));
}

#[test]
fn a_remedy_that_is_none_is_one_line() {
    for (change, says) in [
        (("version", Value::from(99)), "it has version 99"),
        (("widths", Value::from("x")), "field `widths`"),
        (("model", Value::Null), "field `model`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ran = changed(folder.path(), |remedy| remedy[change.0] = change.1);
        assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
        assert!(ran.err.contains("remedy.json") && ran.err.contains(says), "{}", ran.err);
    }
}

/// An edited verdict has to be borne out by the proofs beside it.
#[test]
fn a_remedy_that_contradicts_itself_is_refused_and_named() {
    let edits: [fn(&mut Value); 8] = [
        |remedy| {
            let differs = remedy["widths"][0]["requested"]["probed"].clone();
            for one in remedy["widths"][0]["candidates"].as_array_mut().unwrap() {
                one["probed"] = differs.clone();
            }
        },
        |remedy| remedy["widths"][0]["choice"]["routes"] = "linear=rows".into(),
        |remedy| remedy["widths"][0]["candidates"][0]["run"]["rows"] = serde_json::json!([50, 10]),
        |remedy| remedy["ending"] = "none-found".into(),
        |remedy| remedy["widths"][0]["candidates"][0]["run"]["verdict"] = "structural".into(),
        |remedy| remedy["widths"][0]["candidates"][0]["run"]["states"] = serde_json::json!([50, 10]),
        |remedy| remedy["widths"][0]["width"] = 0.into(),
        |remedy| remedy["widths"] = serde_json::json!([]),
    ];
    for edit in edits {
        let folder = tempfile::tempdir().unwrap();
        let ran = changed(folder.path(), edit);
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("remedy.json") && ran.err.contains("contradicts itself"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_damaged_result_is_no_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    copy(&stored(), &data);
    rewrite(&data.join("remedy.json"), b"{ \"version\": 2, ");
    let ran = report(&data, &folder.path().join("record"));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("remedy.json: it is cut or damaged"), "{}", ran.err);
}
