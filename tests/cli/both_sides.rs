//! Routes of plain decoding on the command line: what is recorded of them, driven again, told apart and taken by `auto`.

use crate::kit::{Ran, exactness};
use exactness::probe::memo::Memo;
use exactness::results::probe::Key;
use exactness::results::remedy::{Choice, Pace};
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-random-qwen35");
/// A kernel that changes with the rows of its call, on whichever side that is.
const DISPATCH: &str = "op=gate_proj,rows>=4,ulp=64,side=both";
const DECODING: &str = "--drafter oracle --max-tokens 12 --prompt-ids 5,6,7";

fn ran(line: &str) -> Ran {
    exactness(line.split(' ').chain(["--model", MODEL, "--format", "json"]))
}

fn header(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

#[test]
fn both_sides_over_as_many_rows_agree_and_are_driven_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).display().to_string();
    let padded = "--routes gate_proj=padded:4 --plain-routes gate_proj=padded:4";
    let line = format!("run-arm --width 4 {DECODING} --plant {DISPATCH}");
    let both = ran(&format!("{line} {padded} --out {}", out("both")));
    assert_eq!((both.code, &both.json()["outcomes"][2]["rows"]["differ"]), (0, &json!(0)), "{}", both.err);
    let alone = ran(&format!("{line} --out {}", out("alone")));
    assert!(alone.json()["outcomes"][2]["rows"]["differ"].as_u64().unwrap() > 0, "{}", alone.err);

    let run = folder.path().join("both");
    let plain = "attention=block,delta=chain,gate_proj=padded:4";
    assert_eq!(header(&run.join("classic.jsonl"))["routes"], plain);
    let block = "attention=per-position,delta=chain,gate_proj=padded:4,plain.gate_proj=padded:4";
    assert_eq!(header(&run.join("w4.jsonl"))["routes"], block);
    assert_ne!(both.json()["runs"][0]["stream_sha256"], Value::Null);

    // A bisect takes both parts from the header, and replays the very rows.
    let from = run.join("w4.jsonl").display().to_string();
    let again = ran(&format!("bisect --from {from} --out {}", out("again")));
    let found = again.json();
    assert_eq!((again.code, &found["class"]), (0, &"identical".into()), "{}", again.err);
    assert_eq!(found["question"]["routes"], format!("{block},rewind=keep"));
    let unlike = &found["rows"]["unlike_recorded"];
    assert!(unlike[0] == 0 && unlike[1].as_u64().unwrap() > 8, "{unlike}");
    // Block routes that are told do not change what plain decoding was.
    let told = ran(&format!("bisect --from {from} --routes norm=rows --out {}", out("told")));
    let routes = told.json()["question"]["routes"].as_str().unwrap().to_owned();
    assert_eq!(routes, "attention=per-position,delta=chain,norm=rows,plain.gate_proj=padded:4,rewind=keep");
}

#[test]
fn plain_decoding_that_pads_alone_is_parted_from_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).display().to_string();
    let line = format!("run-arm --width 3 {DECODING} --plant {DISPATCH} --plain-routes gate_proj=padded:4");
    let run = ran(&format!("{line} --out {}", out("run")));
    assert!(run.json()["outcomes"][2]["rows"]["differ"].as_u64().unwrap() > 0, "{}", run.err);
    let from = folder.path().join("run/w3.jsonl").display().to_string();
    let found = ran(&format!("bisect --from {from} --out {}", out("found"))).json();
    assert_eq!(found["class"], "operation");
    let operation = &found["operation"];
    assert_eq!(
        (&operation["op"], &operation["routes"]),
        (&json!("gate_proj"), &json!(["padded:4", "whole"]))
    );
    assert_eq!(operation["calls"], json!([[4], [3]]));
    let confirmation = &found["confirmation"];
    assert_eq!(confirmation["moved"], true, "{confirmation}");
    assert_eq!(confirmation["handled"]["routes"], "layer.0.gate_proj=padded:4", "{confirmation}");
    // The calls that were written down are the padded one and the other.
    let index = folder.path().join("found/reproducer/reproducer.json");
    let text = std::fs::read_to_string(index).unwrap();
    assert!(text.contains("[1,4,") || text.contains("1,\n"), "{text}");
}

#[test]
fn a_remedy_says_what_both_sides_do_to_plain_decoding() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).display().to_string();
    let search = format!("remedy --width 4 {DECODING} --no-bench --length 5 --walk 6 --plant");
    let found = ran(&format!("{search} {DISPATCH} --out {}", out("dispatch")));
    let width = &found.json()["widths"][0];
    assert_eq!(
        (&width["choice"]["routes"], &width["choice"]["plain"]),
        (&json!("gate_proj=rows:3"), &json!(""))
    );
    let all = width["candidates"].as_array().unwrap();
    let both = all.iter().find(|one| one["kind"] == "both-sides").unwrap();
    assert_eq!(
        (&both["probed"]["outcome"]["outcome"], &both["run"]["rows"]),
        (&json!("equal"), &json!([0, 12]))
    );
    let changed = &both["run"]["changed"]["rows"];
    assert!(changed[0].as_u64().unwrap() > 0 && changed[1].as_u64().unwrap() > 0, "{changed}");
    assert!(all.iter().filter(|one| one["kind"] != "both-sides").all(|one| one["run"]["changed"].is_null()));

    // Only plain decoding's single rows are other ones: no route of a block gives them.
    let alone = "op=o_proj,rows<=1,side=chain,ulp=64";
    let line = format!("{search} {alone} --out {}", out("alone"));
    let found = ran(&line);
    let choice = &found.json()["widths"][0]["choice"];
    assert_eq!((found.code, &choice["plain"]), (0, &json!("o_proj=padded:4")), "{}", found.err);
    let shown = exactness(line.split(' ').chain(["--model", MODEL])).out;
    let flags = "--routes o_proj=padded:4 --plain-routes o_proj=padded:4";
    assert!(
        shown.contains(&format!("\nwidth 4: {flags}   (changes plain decoding, too; speed not measured)\n")),
        "{shown}"
    );
    // The flags are the ones to take; under them no call has a single row, so the fault is not met at all.
    let taken = ran(&format!("run-arm --width 4 {DECODING} --plant {alone} {flags} --out {}", out("taken")));
    let rows = &taken.json()["outcomes"][2]["rows"];
    assert_eq!((taken.code, rows), (3, &json!({"compared": 12, "differ": 0})), "{}", taken.err);
}

#[test]
fn a_verdict_of_one_plain_decoding_is_none_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let probed = |more: &str| {
        let line = format!("probe --widths 3 --length 5 --walk 4 --memo {}{more}", memo.display());
        ran(&line).json()["widths"][0].clone()
    };
    let padded = " --plain-routes o_proj=padded:3";
    let remembered = [padded, "", padded, ""].map(|more| probed(more)["remembered"].as_bool().unwrap());
    assert_eq!(remembered, [false, false, true, true]);
    assert_ne!(probed(padded)["key"], probed("")["key"]);
}

/// Keeps choices for widths 2 and 3, each with the verdict that it needs: that of width 3 pads plain decoding too.
fn keep_choices(memo: &Path, padded: &str) {
    let probed = |width: u64, routes: &str| {
        let line = format!("probe --widths {width} --length 5 --walk 8 --memo {}{routes}", memo.display());
        let probe = ran(&line);
        assert_eq!(probe.code, 0, "{}", probe.err);
        serde_json::from_value::<Key>(probe.json()["widths"][0]["key"].clone()).unwrap()
    };
    let wide = probed(3, &format!(" --routes {padded} --plain-routes {padded}"));
    let narrow = probed(2, "");
    let (mut kept, warning) = Memo::load(memo);
    assert_eq!(warning, None);
    let chosen = |routes: &str, ratio| Choice {
        routes: routes.to_owned(),
        plain: routes.to_owned(),
        pace: Some(Pace { ratio, resolved: true }),
    };
    let auto = |key: Key| Key { routes: "auto,rewind=keep".to_owned(), ..key };
    kept.choose(auto(wide), chosen(padded, 0.5));
    kept.choose(auto(narrow), chosen("", 1.5));
    kept.save().unwrap();
}

#[test]
fn auto_takes_both_parts_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let out = |name: &str| folder.path().join(name).display().to_string();
    keep_choices(&memo, "o_proj=padded:3");
    let auto = |widths: &str, name: &str| {
        ran(&format!(
            "run-arm --widths {widths} {DECODING} --routes auto --memo {} --out {}",
            memo.display(),
            out(name)
        ))
    };
    let taken = auto("3", "taken");
    assert_eq!(taken.code, 0, "{}", taken.err);
    let expected = "note: width 3 takes o_proj=padded:3, proven over positions 5..12; plain decoding takes o_proj=padded:3, \
                    which changes its own bytes and cost; when it was chosen it was slower than plain decoding (0.50 ×): \
                    declining the width is exact and cheaper\n";
    assert!(taken.err.contains(expected), "{}", taken.err);
    assert_eq!(
        header(&folder.path().join("taken/classic.jsonl"))["routes"],
        "attention=block,delta=chain,o_proj=padded:3"
    );
    let two = auto("2,3", "two");
    assert_eq!(two.code, 2, "{}", two.err);
    assert!(two.err.contains("the choice for width 3 takes other routes of plain decoding"), "{}", two.err);
    assert!(!folder.path().join("two").exists());
    // What was chosen beside plain decoding as it is says nothing beside another one.
    let other = ran(&format!(
        "run-arm --width 3 {DECODING} --routes auto --plain-routes norm=padded:3 --memo {} --out {}",
        memo.display(),
        out("other")
    ));
    assert_eq!(other.code, 5, "{}", other.err);
    let bisected = ran(&format!(
        "bisect --width 3 {DECODING} --routes auto --memo {} --out {}",
        memo.display(),
        out("bisected")
    ));
    assert_eq!(bisected.json()["class"], "identical", "{}", bisected.err);
    let routes = bisected.json()["question"]["routes"].as_str().unwrap().to_owned();
    assert!(routes.contains(",o_proj=padded:3,plain.o_proj=padded:3,"), "{routes}");
}

#[test]
fn a_route_of_plain_decoding_that_means_nothing_is_refused() {
    let refused = |line: &str| {
        let ran = exactness(line.split(' '));
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        ran.err
    };
    for verb in ["run-arm --width 4", "bench", "probe", "remedy --width 4", "bisect --width 4"] {
        let says = refused(&format!("{verb} --plain-routes conv=padded:4"));
        assert!(says.contains("conv has no route padded:4"), "{says}");
        let says = refused(&format!("{verb} --plain-routes layer.99.o_proj=padded:4"));
        assert!(says.contains("layer 99 of a model with layers 0 to"), "{says}");
    }
    assert!(refused("remedy --width 4 --allow-both --no-bench").contains("--allow-both"));
}
