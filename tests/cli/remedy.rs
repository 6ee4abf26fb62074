//! `remedy` on the command line: real runs, what it keeps, and the verbs that take its choice.

use crate::kit::{Ran, exactness};
use std::path::Path;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-random-qwen35");

fn ran(memo: &Path, line: &str) -> Ran {
    let fixed = ["--model", MODEL, "--memo", memo.to_str().unwrap(), "--format", "json"];
    exactness(line.split(' ').chain(fixed))
}

#[test]
fn the_choice_is_kept_and_taken_by_other_verbs() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let decoding = "--width 3 --drafter cycle:1 --max-tokens 6 --prompt-ids 5,6,7";
    let auto = |name: &str| ran(&memo, &format!("run-arm {decoding} --routes auto --out {}", out(name)));

    let none = auto("none");
    assert_eq!((none.code, none.err.lines().count()), (5, 1), "{}", none.err);
    assert!(none.err.contains("no remedy has chosen any here for this dtype"), "{}", none.err);

    let probed = "--no-bench --length 5 --walk 4";
    let line = format!("remedy {decoding} {probed} --routes delta=chunked --out {}", out("remedy"));
    let first = ran(&memo, &line);
    assert_eq!(first.code, 0, "{}", first.err);
    let width = &first.json()["widths"][0];
    assert_eq!((&width["choice"]["routes"], &width["stored"]), (&"delta=chain".into(), &true.into()));
    assert_eq!(width["candidates"][0]["run"]["verdict"], "identical");
    assert_eq!(width["candidates"][0]["run"]["rows"], serde_json::json!([0, 6]));
    assert_eq!(width["plain"], serde_json::Value::Null, "no speed was asked for");
    // What was answered is not asked again.
    let again = ran(&memo, &line);
    assert_eq!(again.json()["widths"], first.json()["widths"]);
    let steps =
        std::fs::read_to_string(folder.path().join("remedy/trail.jsonl")).unwrap().lines().count() - 1;
    assert!(again.err.contains(&format!("trail.jsonl: {steps} answers are there already")), "{}", again.err);
    assert!(!first.err.contains("there already"), "{}", first.err);
    let words = ["--model", MODEL, "--no-memo"];
    let told = exactness(line.split(' ').chain(words)).out;
    assert!(told.contains(&format!(" ({steps} answers from the trail, 0 new)\n")), "{told}");
    let runs = std::fs::read_dir(folder.path().join("remedy/runs")).unwrap();
    let mut names: Vec<_> = runs.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["plain-1", "w3-1", "w3-2"], "plain decoding, as requested and by the chain");
    let other = ran(&memo, &format!("{line} --seed 9"));
    assert_eq!(other.code, 2, "{}", other.err);
    assert!(other.err.contains("its question is another one (seed 1 there, seed 9 now)"), "{}", other.err);

    let taken = auto("taken");
    assert_eq!(taken.code, 0, "{}", taken.err);
    assert!(
        taken.err.contains("note: width 3 takes delta=chain, proven over positions 5..8"),
        "{}",
        taken.err
    );
    let header = std::fs::read_to_string(folder.path().join("taken/w3.jsonl")).unwrap();
    assert!(
        header.lines().next().unwrap().contains("attention=per-position,delta=chain,delta=chain"),
        "{header}"
    );
    let known = ran(&memo, "probe --widths 3 --length 5 --walk 4 --routes auto");
    assert_eq!(known.json()["widths"][0]["remembered"], true, "{}", known.err);
    let bisected = format!("bisect {decoding} --routes auto --out {}", out("bisect"));
    let bisected = ran(&memo, &bisected);
    assert_eq!((bisected.code, &bisected.json()["class"]), (0, &"identical".into()), "{}", bisected.err);
}

/// Another width of the same question goes on with the trail, and leaves the first result there.
#[test]
fn a_remedy_of_another_width_keeps_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let (memo, out) = (folder.path().join("gate.json"), folder.path().join("remedy"));
    let decoding = "--drafter cycle:1 --max-tokens 6 --prompt-ids 5,6,7 --no-bench --length 5 --walk 4";
    let asked = |width: usize| {
        let line =
            format!("remedy --width {width} {decoding} --routes delta=chunked --out {}", out.display());
        let found = ran(&memo, &line);
        assert_eq!(found.code, 0, "{}", found.err);
        found
    };
    let (first, second) = (asked(3), asked(2));
    assert!(second.err.contains("remedy.json held before is kept as remedy-w3.json"), "{}", second.err);
    for (name, found) in [("remedy-w3.json", &first), ("remedy.json", &second)] {
        let stored: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(out.join(name)).unwrap()).unwrap();
        assert_eq!(stored, found.json(), "{name}");
    }
    assert!(!asked(2).err.contains("is kept as"), "the same widths again");
}

#[test]
fn a_planted_remedy_is_not_kept_and_its_flag_line_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let plant = "op=gate_proj,rows>=3,ulp=64";
    let decoding = format!("--width 4 --drafter oracle --max-tokens 9 --prompt-ids 5,6,7 --plant {plant}");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let line = format!("remedy {decoding} --no-bench --length 5 --walk 5 --out {}", out("remedy"));
    let found = ran(&memo, &line);
    assert_eq!((found.code, memo.exists()), (0, false), "{}", found.err);
    assert_eq!(found.json()["widths"][0]["choice"]["routes"], "gate_proj=rows:2");
    let requested = &found.json()["widths"][0]["requested"]["run"]["rows"];
    assert!(requested[0].as_u64().unwrap() > 0, "{requested}");
    let shown = exactness(line.split(' ').chain(["--model", MODEL]));
    assert!(
        shown.out.contains("\nwidth 4: --routes gate_proj=rows:2   (speed not measured)\n"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("verdict: exact (tiny-random-qwen35; width 4: gate_proj=rows:2; "),
        "{}",
        shown.out
    );
}

#[test]
fn a_choice_is_of_one_way_to_rewind() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let decoding = "--width 3 --drafter cycle:1 --max-tokens 8 --prompt-ids 5,6,7";
    let line = format!(
        "remedy {decoding} --rewind replay --no-bench --length 5 --walk 6 --routes delta=chunked --out {}",
        out("remedy")
    );
    let found = ran(&memo, &line);
    assert_eq!(
        (found.code, &found.json()["widths"][0]["choice"]["routes"]),
        (0, &"delta=chain".into()),
        "{}",
        found.err
    );
    let taken =
        ran(&memo, &format!("run-arm {decoding} --rewind replay --routes auto --out {}", out("replay")));
    assert_eq!(taken.code, 0, "{}", taken.err);
    assert!(
        taken.err.contains("note: width 3 takes delta=chain, proven over positions 5..10"),
        "{}",
        taken.err
    );
    assert_eq!(taken.json()["outcomes"][2]["rows"], serde_json::json!({"compared": 8, "differ": 0}));
    assert!(taken.json()["outcomes"][2]["rewinds"].as_u64().unwrap() > 0, "something was taken back");
    let bisected =
        ran(&memo, &format!("bisect {decoding} --rewind replay --routes auto --out {}", out("bisect")));
    assert_eq!(bisected.json()["class"], "identical", "{}", bisected.err);
    let routes = bisected.json()["question"]["routes"].as_str().unwrap().to_owned();
    assert!(routes.ends_with("delta=chain,rewind=replay"), "{routes}");
    // Nothing was proven of states that are kept.
    for verb in ["run-arm", "bisect"] {
        let kept = ran(&memo, &format!("{verb} {decoding} --routes auto --out {}", out(verb)));
        assert_eq!(kept.code, 5, "{}", kept.err);
        assert!(kept.err.contains("no remedy has chosen any here"), "{}", kept.err);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let refused = |line: &str| {
        let ran = exactness(line.split(' '));
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        ran.err
    };
    assert!(refused("remedy --width 4 --routes auto").contains("it finds what auto takes"));
    assert!(refused("remedy --width 4 --rows=none").contains("leaves no row to compare"));
    assert!(refused("remedy").contains("--width"));
    assert!(refused("remedy --width 4 --plant fault=selection").contains("a probe feeds the chain's tokens"));
}
