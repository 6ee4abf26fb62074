//! Several widths over one prompt, from files to readings.

use crate::kit::{Run, compare, parted, stream};
use serde_json::{Value, json};

/// Arms that part from plain decoding at the given indices, by width.
fn widths(arms: &[(usize, usize, &[usize])], state: Option<&str>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let tokens = stream(140);
    let classic = Run { stream: tokens.clone(), state: Some("classic"), ..Run::default() };
    let classic = classic.write(folder.path(), "classic.jsonl");
    let files: Vec<_> = arms
        .iter()
        .map(|(width, index, accepts)| {
            let name = format!("w{width}");
            let run = Run {
                arm: &name,
                stream: parted(&tokens, *index),
                width: *width,
                accepts: accepts.to_vec(),
                state,
                ..Run::default()
            };
            run.write(folder.path(), &format!("{name}.jsonl"))
        })
        .collect();
    compare(&files, &[classic]).0
}

fn only(judgement: &Value) -> (&str, &str) {
    let patterns = judgement["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), 1, "{patterns:?}");
    (patterns[0]["pattern"].as_str().unwrap(), patterns[0]["says"].as_str().unwrap())
}

#[test]
fn w1_groups_of_widths_are_a_dispatch_boundary() {
    let accepts: &[usize] = &[1, 0, 2];
    let judgement = widths(
        &[(3, 40, accepts), (4, 40, accepts), (5, 22, accepts), (6, 22, accepts), (8, 22, accepts)],
        None,
    );
    let (pattern, says) = only(&judgement);
    assert_eq!(pattern, "dispatch boundary");
    assert!(says.ends_with("between 4 and 5"), "{says}");
    assert_eq!(judgement["patterns"][0]["evidence"].as_array().unwrap().len(), 5);
}

#[test]
fn w2_one_index_at_every_width_is_forward_numerics_or_prefill() {
    let judgement = widths(&[(2, 105, &[1, 0]), (4, 105, &[1, 3, 0])], None);
    let (pattern, says) = only(&judgement);
    assert_eq!(pattern, "forward numerics or prefill");
    assert!(says.contains("rollback is unlikely"), "{says}");
}

#[test]
fn an_index_that_moves_after_the_first_rewind_is_rollback_or_accept() {
    let judgement = widths(&[(2, 60, &[0]), (4, 31, &[1, 0]), (8, 12, &[2, 5])], None);
    assert_eq!(only(&judgement).0, "rollback or accept");
}

#[test]
fn w4_from_the_start_is_the_state_that_entered_round_0() {
    let judgement = widths(&[(2, 1, &[1]), (4, 2, &[3]), (8, 3, &[7])], None);
    assert_eq!(only(&judgement).0, "state entering round 0");
}

#[test]
fn d4_a_recorded_state_that_differs_is_said() {
    let judgement = widths(&[(2, 1, &[1]), (4, 2, &[3])], Some("other"));
    assert!(only(&judgement).1.contains("its recorded digest differs"));
    assert_eq!(judgement["arms"][0]["sequences"][0]["against"]["entering_state_differs"], json!(true));
    let same = widths(&[(2, 1, &[1]), (4, 2, &[3])], Some("classic"));
    assert!(only(&same).1.contains("digests are equal"));
}
