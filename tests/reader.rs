//! What the reader refuses and how it says so; and that a run killed at any moment is a cut run.

use crate::lawful::{Plan, run};
use exactness::algebra::Verdict;
use exactness::cli::judging::judge_input;
use exactness::transcript::parse::{parse_for_laws, parse_line};
use exactness::transcript::{Arm, Line, Reader};
use proptest::prelude::*;
use std::path::Path;

const HEADER: &str = r#"{"type":"header","format":"exactness.transcript","version":1,"arm":"a","kind":"speculative","prompts":[{"sequence":0}]}"#;

fn refusal(lines: &[&str]) -> String {
    let text = lines.join("\n") + "\n";
    let judged = judge_input("run.jsonl", text.as_bytes()).map(|_| ()).unwrap_err();
    let loaded =
        Arm::load(Path::new("run.jsonl"), Reader::new("run.jsonl", text.as_bytes())).map(|_| ()).unwrap_err();
    assert_eq!(judged.to_string(), loaded.to_string(), "both readers say the same");
    judged.to_string()
}

#[test]
fn refusals_name_file_line_and_field() {
    let round = r#"{"type":"round","sequence":0,"round":0,"width":"4"}"#;
    let prefill = r#"{"type":"prefill","sequence":0,"token":1}"#;
    let footer = r#"{"type":"footer","sequence":0,"complete":true}"#;
    for (lines, says) in [
        (
            vec![HEADER, round],
            "read run.jsonl, line 2: field `width`: invalid type: string \"4\", expected i64",
        ),
        (vec![HEADER, "", "{\"type\":\"round\"}"], "line 3: field `sequence`: missing field"),
        (vec![HEADER, "nonsense"], "line 2: not JSON at column 1"),
        (vec![HEADER, "{\"type\":\"step\",\"sequence\":0"], "line 2: the JSON object ends in the middle"),
        (vec![HEADER, "{\"type\":\"tree\"}"], "line 2: unknown type `tree`: version 1"),
        (
            vec![&HEADER.replace("\"version\":1", "\"version\":2")],
            "line 1: field `version`: the file is of version 2, this program reads up to version 1; use a release that reads version 2",
        ),
        (vec![&HEADER.replace("exactness.transcript", "other")], "line 1: field `format`: is \"other\""),
        (vec![prefill, HEADER], "line 1: the first line has to be the header, this is a prefill line"),
        (vec![HEADER, HEADER], "line 2: a second header (the first is on line 1)"),
        (vec![HEADER, prefill, prefill], "line 3: a second prefill of sequence 0 (the first is on line 2)"),
        (vec![HEADER, footer, prefill], "line 3: a prefill line of sequence 0 after its footer on line 2"),
    ] {
        let refusal = refusal(&lines);
        assert!(refusal.contains(says), "{refusal}");
    }
}

#[test]
fn a_digest_that_is_none_is_refused_wherever_it_stands() {
    let round =
        r#""sequence":0,"round":0,"width":1,"bonus":1,"draft":[],"target":[2],"accepted":0,"emitted":[2]"#;
    for digest in ["", "none", "5c610b24c694", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65)] {
        for (line, field) in [
            (r#"{"type":"prefill","sequence":0,"token":1,"row":{"sha256":"?"}}"#.to_owned(), "row.sha256"),
            (r#"{"type":"prefill","sequence":0,"token":1,"state_sha256":"?"}"#.to_owned(), "state_sha256"),
            (
                r#"{"type":"step","sequence":0,"index":1,"input":1,"token":2,"state_sha256":"?"}"#.to_owned(),
                "state_sha256",
            ),
            (format!(r#"{{"type":"round",{round},"state_sha256":"?"}}"#), "state_sha256"),
            (format!(r#"{{"type":"round",{round},"rows":[{{}},{{"sha256":"?"}}]}}"#), "rows[1].sha256"),
        ] {
            let says = refusal(&[HEADER, &line.replace('?', digest)]);
            let expected =
                format!("line 2: field `{field}`: `{digest}` is no SHA-256 (64 hexadecimal digits)");
            assert!(says.contains(&expected), "{says}");
        }
    }
}

#[test]
fn unknown_keys_and_nulls_are_no_trouble() {
    let text = [
        &HEADER.replace("\"arm\"", "\"later\":{\"x\":[1]},\"width\":null,\"arm\""),
        r#"{"type":"prefill","sequence":0,"token":1,"row":null,"new":1}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"tokens":[1],"finish_reason":null}"#,
        "",
    ];
    assert_eq!(judge_input("-", text.join("\n").as_bytes()).unwrap().verdict, Verdict::Consistent);
}

fn text(lines: &[Line]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).unwrap();
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn a_run_killed_at_any_byte_is_a_cut_run() {
    let whole = text(&run(&Plan { sequences: 2, tokens: 5, ..Plan::new(3) }));
    for end in 0..whole.len() - 1 {
        let judgement = judge_input("killed", &whole[..end]).unwrap();
        assert_eq!(judgement.verdict, Verdict::CutRun, "at byte {end}: {:?}", judgement.sequences);
        assert!(judgement.cut.is_some());
    }
    for end in [whole.len() - 1, whole.len()] {
        assert_eq!(judge_input("whole", &whole[..end]).unwrap().verdict, Verdict::Consistent);
    }
}

#[test]
fn a_broken_law_in_a_cut_run_is_still_a_finding() {
    let lines = [
        HEADER,
        r#"{"type":"round","sequence":0,"round":0,"width":2,"bonus":5,"draft":[6],"target":[7,8],"accepted":1,"emitted":[6,8]}"#,
        r#"{"type":"round","sequence":0,"#,
    ];
    let judgement = judge_input("killed", lines.join("\n").as_bytes()).unwrap();
    assert_eq!(judgement.verdict, Verdict::Inconsistent);
    assert_eq!(judgement.cut.as_deref(), Some("line 3 ends in the middle"));
}

#[test]
fn the_written_line_is_read_back() {
    let lines = run(&Plan { sequences: 2, ..Plan::new(9) });
    let bytes = text(&lines);
    let read: Vec<Line> = Reader::new("memory", &bytes[..]).map(|item| item.unwrap().1).collect();
    assert_eq!(read, lines);
}

/// What is left of a line for the laws.
fn lean(line: Line) -> Line {
    let strip = |row: &mut exactness::transcript::Row| {
        (row.sha256, row.dtype, row.at) = (None, None, None);
        if let Some(top) = &mut row.top {
            top.truncate(1);
            for entry in top {
                entry.1 = None;
            }
        }
    };
    match line {
        Line::Round(mut round) => {
            (round.micros, round.state_sha256) = (None, None);
            round.rows.iter_mut().flatten().for_each(strip);
            Line::Round(round)
        }
        Line::Step(mut step) => {
            step.state_sha256 = None;
            step.row.iter_mut().for_each(strip);
            Line::Step(step)
        }
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The quick parser takes nothing that the full one refuses, and reads the same from what it takes.
    #[test]
    fn both_parsers_agree_on_damaged_lines(seed in 0..50_u64, classic in any::<bool>(), which in 0..40_usize, at in any::<prop::sample::Index>(), byte in prop::sample::select(b"0123456789-.,:[]{}\"ntx\\ eE+".to_vec()), kind in 0..4) {
        let kind_of_arm = if classic { exactness::transcript::ArmKind::Classic } else { exactness::transcript::ArmKind::Speculative };
        let width = if classic { 1 } else { 4 };
        let lines = run(&Plan { kind: kind_of_arm, width, ..Plan::new(seed) });
        let mut bytes = serde_json::to_vec(&lines[which % lines.len()]).unwrap();
        let place = at.index(bytes.len());
        match kind {
            0 => bytes[place] = byte,
            1 => bytes.insert(place, byte),
            2 => { bytes.remove(place); }
            _ => {}
        }
        // A used round must leave nothing behind in the next one.
        let mut spare: exactness::transcript::parse::Spare =
            lines.iter().filter_map(|line| if let Line::Round(round) = line { Some(round.clone()) } else { None }).collect();
        match (parse_for_laws(&bytes, &mut spare), parse_line(&bytes)) {
            (Ok(quick), Ok(full)) => {
                let both = (lean(quick.clone()), lean(full));
                prop_assert_eq!(both.0, both.1);
            }
            (quick, full) => prop_assert_eq!(quick.err(), full.err()),
        }
    }
}
