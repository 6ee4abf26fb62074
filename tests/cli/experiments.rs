//! What `run-arm` says about experiments that compared nothing, something, or rows apart from the text.

use crate::kit::{Ran, exactness};
use serde_json::Value;
use std::process::Command;

const IDS: &str = "785,651,374,12";

/// Runs arms over one prompt of the demo into a folder that is gone afterwards.
fn run_arm(more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run").display().to_string();
    let ids =
        if more.iter().any(|word| word.starts_with("--prompt")) { vec![] } else { vec!["--prompt-ids", IDS] };
    let first = ["run-arm", "--out", &out];
    let ran = exactness(first.iter().chain(more).chain(&ids));
    assert_eq!(ran.err, "");
    ran
}

/// The cells of the first table's row that begins with `arm`.
fn row(ran: &Ran, arm: &str) -> Vec<String> {
    let starts =
        |line: &&str| line.strip_prefix(' ').is_some_and(|line| line.starts_with(&format!("{arm}   ")));
    let line = ran.out.lines().find(starts).unwrap_or_else(|| panic!("{arm}: {}", ran.out));
    line.trim().split("   ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

fn verdict(ran: &Ran) -> &str {
    ran.out.lines().find(|line| line.starts_with("verdict: ")).unwrap_or_else(|| panic!("{}", ran.out))
}

#[test]
fn width_1_alone_has_not_tried_speculation() {
    let ran = run_arm(&["--width", "1", "--max-tokens", "5"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(verdict(&ran).starts_with("verdict: vacuous (1 speculative run "), "{}", ran.out);
    assert!(ran.out.contains("No arm proposed a token, so nothing was speculated"), "{}", ran.out);
    let beside = run_arm(&["--widths", "1,3", "--max-tokens", "5", "--drafter", "oracle"]);
    assert_eq!(beside.code, 0, "{}", beside.out);
    assert!(verdict(&beside).starts_with("verdict: identical (2 speculative runs "), "{}", beside.out);
}

#[test]
fn one_token_has_no_rounds_to_compare() {
    let ran = run_arm(&["--width", "4", "--max-tokens", "1"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(verdict(&ran).starts_with("verdict: vacuous"), "{}", ran.out);
    assert!(ran.out.contains("the arm ran 0 rounds"), "{}", ran.out);
}

#[test]
fn a_prompt_without_a_proposal_is_not_hidden_by_one_with() {
    // Of the built-in prompts at two tokens some find nothing to look up and some do.
    let ran = run_arm(&["--width", "2", "--max-tokens", "2", "--prompt-seed", "1"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(row(&ran, "w2").contains(&"1 of 4".to_owned()), "{}", ran.out);
    assert!(ran.out.contains("the arm proposed 0 tokens"), "{}", ran.out);
}

#[test]
fn plain_decoding_alone_is_compared_with_its_repeat() {
    let ran = run_arm(&["--classic", "--max-tokens", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(verdict(&ran), "verdict: identical (plain decoding and its repeats: 1 prompt, 3 tokens)");
    assert!(row(&ran, "classic").contains(&"reference".to_owned()), "{}", ran.out);
    let repeat = row(&ran, "classic repeat 1");
    assert!(
        repeat.contains(&"null arm: identical".to_owned()) && repeat.contains(&"1 of 1".to_owned()),
        "{repeat:?}"
    );
}

#[test]
fn rows_that_differ_under_equal_text_are_said() {
    let ran =
        run_arm(&["--width", "4", "--drafter", "wrong", "--max-tokens", "5", "--routes", "delta=chunked"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let cells = row(&ran, "w4");
    assert!(cells.contains(&"identical".to_owned()) && cells.contains(&"4 of 5".to_owned()), "{cells:?}");
    assert!(
        ran.out.contains(
            "w4: 4 of 5 rows have other bytes than plain decoding's, the first at prompt 0, token 1; all tokens are \
             equal."
        ),
        "{}",
        ran.out
    );
    let same = run_arm(&["--width", "4", "--drafter", "wrong", "--max-tokens", "5"]);
    assert!(
        row(&same, "w4").contains(&"0 of 5".to_owned()) && !same.out.contains("other bytes"),
        "{}",
        same.out
    );
}

#[test]
fn json_is_one_object_with_everything() {
    let arguments =
        ["--width", "3", "--repeat", "2", "--drafter", "cycle:1,0", "--max-tokens", "6", "--format", "json"];
    let ran = run_arm(&arguments);
    let experiment = ran.json();
    assert_eq!(
        (experiment["version"].as_u64(), experiment["verdict"].as_str(), ran.code),
        (Some(1), Some("identical"), 0)
    );
    let roles: Vec<&str> = outcomes(&experiment).iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["reference", "null-arm", "arm", "null-arm"]);
    for outcome in &outcomes(&experiment)[1..] {
        assert_eq!(
            (outcome["identical"].as_u64(), outcome["prompts"].as_u64()),
            (Some(1), Some(1)),
            "{outcome}"
        );
        assert_eq!(outcome["verdict"], "identical", "{outcome}");
    }
    let runs = experiment["runs"].as_array().unwrap();
    let digests: Vec<&str> = runs.iter().map(|run| run["stream_sha256"].as_str().unwrap()).collect();
    assert!(
        digests.len() == 4 && digests[0].len() == 64 && digests.iter().all(|digest| *digest == digests[0])
    );
    let (drafted, accepted) = (runs[2]["drafted"].as_u64().unwrap(), runs[2]["accepted"].as_u64().unwrap());
    assert!(drafted > accepted && accepted > 0, "{drafted} {accepted}");
    assert_eq!(experiment["judgement"]["arms"].as_array().unwrap().len(), 4);
}

fn outcomes(experiment: &Value) -> &[Value] {
    experiment["outcomes"].as_array().unwrap()
}

#[test]
fn markdown_is_one_table_with_whole_rows() {
    let ran = run_arm(&["--width", "3", "--drafter", "oracle", "--max-tokens", "4", "--format", "markdown"]);
    let lines: Vec<&str> = ran.out.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 5, "{}", ran.out);
    assert!(lines.iter().all(|line| line.matches('|').count() == 12), "{}", ran.out);
    assert!(
        lines[0].starts_with("| arm | tokens | rounds |") && lines[4].contains("| identical | 1 of 1 |"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("\n\nverdict: identical"), "{}", ran.out);
}

#[test]
fn at_80_columns_the_table_goes_on_below_and_no_cell_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_exactness"));
    command.args([
        "run-arm",
        "--width",
        "3",
        "--drafter",
        "oracle",
        "--max-tokens",
        "4",
        "--prompt-ids",
        IDS,
        "--out",
    ]);
    let output = command.arg(folder.path().join("run")).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let table = text.split("verdict:").next().unwrap();
    assert!(text.contains("verdict:") && table.lines().all(|line| line.chars().count() <= 80), "{text}");
    for word in ["classic repeat 1", "null arm: identical", "100.0 %", "rewinds", "first ≠", "0 of 4"] {
        assert!(table.contains(word), "{word}: {text}");
    }
    assert_eq!(
        table.matches("\n classic   ").count() + table.matches("\n classic repeat 1   ").count(),
        4,
        "{text}"
    );
}

#[test]
fn the_word_table_is_a_format() {
    let ran = run_arm(&["--classic", "--max-tokens", "2", "--format", "table"]);
    assert!(ran.code == 0 && ran.out.starts_with(" arm "), "{}", ran.out);
}
