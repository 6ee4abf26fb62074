//! `run-arm --states`: what is kept after each round, held against plain decoding at the same position.

use crate::kit::{Ran, exactness};
use serde_json::{Value, json};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-random-qwen35");

fn ran(more: &str, out: &std::path::Path) -> Ran {
    let line =
        "run-arm --width 4 --drafter cycle:1,3,0 --max-tokens 24 --prompt-ids 5,6,7 --ignore-eos --states";
    let words = line.split(' ').chain(more.split(' ').filter(|word| !word.is_empty()));
    exactness(words.chain(["--model", MODEL, "--format", "json", "--out", &out.display().to_string()]))
}

/// The states of the one arm.
fn states(ran: &Ran) -> Value {
    let arm = ran.json()["outcomes"][2].clone();
    json!([arm["states"], arm["first_state"]])
}

#[test]
fn every_round_leaves_the_state_of_plain_decoding() {
    for rewind in ["keep", "replay"] {
        let folder = tempfile::tempdir().unwrap();
        let clean = ran(&format!("--rewind {rewind}"), &folder.path().join("run"));
        let rounds = clean.json()["runs"][2]["rounds"].as_u64().unwrap();
        assert!(rounds > 5, "{rounds}");
        // In the last round the stream may end before the rows that were kept do.
        let compared = clean.json()["outcomes"][2]["states"]["compared"].as_u64().unwrap();
        assert!((rounds - 1..=rounds).contains(&compared), "{compared} of {rounds}");
        assert_eq!(states(&clean), json!([{"compared": compared, "differ": 0}, null]));
        assert_eq!(clean.code, 0, "{}", clean.err);
    }
}

#[test]
fn the_round_that_leaves_another_state_is_named_before_a_row_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let planted = ran("--plant fault=state-ahead,from=12", &run);
    let found = states(&planted);
    assert!(found[0]["differ"].as_u64().unwrap() > 0, "{found}");
    let text = std::fs::read_to_string(run.join("w4.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // The first round at or past the place that rejects a row is the first that can leave the state ahead.
    let mut rounds = lines.filter(|line| line["type"] == "round");
    let first = rounds.find(|round| {
        let kept = round["accepted"].as_i64().unwrap() + 1;
        round["cache_before"].as_i64().unwrap() >= 12 && kept < round["width"].as_i64().unwrap()
    });
    let first = first.unwrap();
    assert_eq!(found[1]["round"], first["round"]);
    assert_eq!(found[1]["positions"], first["cache_after"]);
    let says = planted.json()["says"].to_string();
    assert!(says.contains("states have other bytes than plain decoding's at the same position"), "{says}");
}

#[test]
fn a_repeat_that_leaves_other_states_is_no_null_arm() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    assert_eq!(ran("", &run).code, 0);
    let repeat = run.join("classic.repeat1.jsonl");
    let text = std::fs::read_to_string(&repeat).unwrap();
    let line = |number: usize| serde_json::from_str::<Value>(text.lines().nth(number).unwrap()).unwrap();
    let file = |name: &str| run.join(name).display().to_string();
    let plain = [file("classic.jsonl"), file("classic.repeat1.jsonl")];
    for (number, says) in [
        (1, "other states after the prompt".to_owned()),
        (9, format!("other states from {} positions on", line(9)["cache_len"])),
    ] {
        let line = line(number);
        let digest = line["state_sha256"].as_str().unwrap();
        std::fs::write(&repeat, text.replace(digest, &"0".repeat(64))).unwrap();
        let compared = exactness(["compare", &file("w4.jsonl"), "--against", &plain[0], &plain[1]]);
        assert!(compared.out.contains(&says), "{}{}", compared.out, compared.err);
        assert_eq!(compared.code, 3);
    }
}

#[test]
fn another_state_after_the_prompt_is_said_under_equal_text() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    assert_eq!(ran("", &run).code, 0);
    let arm = run.join("w4.jsonl");
    let text = std::fs::read_to_string(&arm).unwrap();
    let prefill: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    std::fs::write(&arm, text.replace(prefill["state_sha256"].as_str().unwrap(), &"0".repeat(64))).unwrap();
    let file = |name: &str| run.join(name).display().to_string();
    let compared = exactness(["compare", &file("w4.jsonl"), "--against", &file("classic.jsonl")]);
    assert!(compared.out.contains("the state after the prompt has other bytes"), "{}", compared.out);
}
