//! Correct runs that look odd, and must pass.

use exactness::algebra::Verdict;
use exactness::algebra::judgement::ArmJudgement;
use exactness::cli::judging::judge_input;

fn header(extra: &str, sequences: i64) -> String {
    let prompts: Vec<String> =
        (0..sequences).map(|id| format!(r#"{{"sequence":{id},"ids":[50,51,52]}}"#)).collect();
    format!(
        r#"{{"type":"header","format":"exactness.transcript","version":1,"arm":"odd","prompts":[{}],"vocab_size":100,{extra}}}"#,
        prompts.join(",")
    )
}

const SPECULATIVE: &str = r#""kind":"speculative","eos_ids":[2],"ignore_eos":false,"max_tokens":64"#;

fn judge(lines: &[&str]) -> ArmJudgement {
    judge_input("odd", lines.join("\n").as_bytes()).unwrap()
}

fn passes(lines: &[&str]) -> ArmJudgement {
    let judgement = judge(lines);
    assert_eq!(judgement.verdict, Verdict::Consistent, "{:#?}", judgement.sequences);
    assert_eq!(judgement.counts(), (0, 0), "{:#?}", judgement.sequences);
    judgement
}

#[test]
fn two_identical_prompts_in_one_window() {
    passes(&[
        &header(SPECULATIVE, 2),
        r#"{"type":"prefill","sequence":0,"token":5}"#,
        r#"{"type":"prefill","sequence":1,"token":5}"#,
        r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,9],"target":[6,2,1],"accepted":1,"emitted":[6,2]}"#,
        r#"{"type":"round","sequence":1,"round":0,"width":3,"bonus":5,"draft":[6,9],"target":[6,2,1],"accepted":1,"emitted":[6,2]}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,6,2]}"#,
        r#"{"type":"footer","sequence":1,"complete":true,"finish_reason":"stop","tokens":[5,6,2]}"#,
    ]);
}

#[test]
fn a_clamped_window_even_with_its_rows_far_apart() {
    let first = r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,7],"target":[6,7,8],"accepted":0,"walked":2,"emitted":[6],"cache_before":3,"cache_after":4}"#;
    let more = r#"{"type":"round","sequence":0,"round":1,"width":3,"bonus":6,"draft":[7,8],"target":[7,8,2],"accepted":2,"emitted":[7,8,2],"cache_before":4,"cache_after":7}"#;
    let other = r#"{"type":"round","sequence":1,"round":0,"width":3,"bonus":5,"draft":[9,7],"target":[2,7,8],"accepted":0,"emitted":[2]}"#;
    let (prefill, footer) = (
        r#"{"type":"prefill","sequence":0,"token":5}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,6,7,8,2],"counters":{"rounds":2,"drafted":4,"accepted":4}}"#,
    );
    let (prefill1, footer1) = (
        r#"{"type":"prefill","sequence":1,"token":5}"#,
        r#"{"type":"footer","sequence":1,"complete":true,"finish_reason":"stop","tokens":[5,2]}"#,
    );
    let header = header(&format!(r#"{SPECULATIVE},"window":"clamp""#), 2);
    passes(&[&header, prefill, first, more, footer, prefill1, other, footer1]);
    passes(&[&header, prefill1, other, footer1, prefill, first, more, footer]);
    passes(&[&header, prefill, prefill1, first, other, more, footer1, footer]);
    // Counted as committed instead of walked is right as well.
    let committed = footer.replace(r#""accepted":4"#, r#""accepted":2"#);
    passes(&[&header, prefill, prefill1, first, other, more, footer1, &committed]);
    // Without the other row nothing explains it.
    let alone = judge(&[&header, prefill, first, more, footer, prefill1, footer1]);
    assert_eq!(alone.verdict, Verdict::Inconsistent);
}

#[test]
fn width_one_is_plain_decoding_by_the_other_generator() {
    passes(&[
        &header(&format!(r#"{SPECULATIVE},"width":1"#), 1),
        r#"{"type":"prefill","sequence":0,"token":5,"cache_len":3}"#,
        r#"{"type":"round","sequence":0,"round":0,"width":1,"bonus":5,"draft":[],"target":[6],"accepted":0,"emitted":[6],"cache_before":3,"cache_after":4}"#,
        r#"{"type":"round","sequence":0,"round":1,"width":1,"bonus":6,"draft":[],"target":[2],"accepted":0,"emitted":[2],"cache_before":4,"cache_after":5}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,6,2],"counters":{"rounds":2,"drafted":0,"accepted":0,"per_position":[]}}"#,
    ]);
}

#[test]
fn a_stop_string_or_an_abort_cuts_the_last_round() {
    for reason in ["stop_string", "context", "aborted"] {
        let footer = format!(
            r#"{{"type":"footer","sequence":0,"complete":true,"finish_reason":"{reason}","tokens":[5,6]}}"#
        );
        passes(&[
            &header(SPECULATIVE, 1),
            r#"{"type":"prefill","sequence":0,"token":5}"#,
            r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,7],"target":[6,7,8],"accepted":2,"emitted":[6],"cache_before":3,"cache_after":5,"state_kept":1}"#,
            &footer,
        ]);
    }
}

#[test]
fn a_server_that_strips_the_end_id() {
    let prefill = r#"{"type":"prefill","sequence":0,"token":5}"#;
    let stripped = r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,2],"target":[6,2,8],"accepted":2,"emitted":[6]}"#;
    let footer = r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,6]"#;
    passes(&[&header(SPECULATIVE, 1), prefill, stripped, &format!("{footer}}}")]);
    // The lines hold it, the told stream, which usage and log-probabilities count with it, does not.
    let whole = r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,7],"target":[6,2,8],"accepted":1,"emitted":[6,2]}"#;
    let more = format!(
        r#"{footer},"usage":{{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6}},"logprobs":[-0.5,-0.25,-1]}}"#
    );
    passes(&[&header(SPECULATIVE, 1), prefill, whole, &more]);
    // A plain served answer: one more is counted than shown.
    passes(&[&header(r#""kind":"classic","eos_ids":[2],"ignore_eos":false"#, 1), &more]);
}

#[test]
fn a_drafter_that_lags_by_design() {
    for (cache, length) in [("lazy", 1), ("none", 0), ("autoregressive", 5)] {
        let round = format!(
            r#"{{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,7],"target":[6,7,2],"accepted":2,"emitted":[6,7,2],"cache_before":3,"cache_after":6,"draft_cache_after":{length}}}"#
        );
        passes(&[
            &header(&format!(r#"{SPECULATIVE},"drafter":{{"cache":"{cache}"}}"#), 1),
            r#"{"type":"prefill","sequence":0,"token":5}"#,
            &round,
            r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,6,7,2]}"#,
        ]);
    }
}

#[test]
fn an_ignored_end_id_stops_nothing() {
    passes(&[
        &header(r#""kind":"speculative","eos_ids":[2],"ignore_eos":true,"max_tokens":4"#, 1),
        r#"{"type":"prefill","sequence":0,"token":2}"#,
        r#"{"type":"round","sequence":0,"round":0,"width":2,"bonus":2,"draft":[2],"target":[2,2],"accepted":1,"emitted":[2,2]}"#,
        r#"{"type":"round","sequence":0,"round":1,"width":2,"bonus":2,"draft":[2],"target":[2,2],"accepted":1,"emitted":[2]}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"length","tokens":[2,2,2,2]}"#,
    ]);
}

#[test]
fn a_sequence_that_ends_with_its_prefill_token() {
    passes(&[
        &header(r#""kind":"classic","eos_ids":[2],"ignore_eos":false,"max_tokens":9"#, 2),
        r#"{"type":"prefill","sequence":0,"token":2,"cache_len":3}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[2]}"#,
        r#"{"type":"footer","sequence":1,"complete":true,"finish_reason":"aborted","tokens":[]}"#,
    ]);
}

#[test]
fn what_is_not_known_is_neither_held_nor_broken() {
    let judgement = passes(&[
        &header(r#""kind":"speculative""#, 1),
        r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,9],"target":[6,7,1],"accepted":1,"emitted":[6,7]}"#,
        r#"{"type":"round","sequence":0,"round":1,"width":3,"bonus":7,"draft":[8,9],"target":[8,9,3],"accepted":2,"emitted":[8]}"#,
        r#"{"type":"footer","sequence":0,"complete":true}"#,
    ]);
    let missing: Vec<&str> = judgement.not_checkable.iter().map(|lack| lack.law).collect();
    for law in
        ["round-after-stop", "truncation", "after-eos", "budget", "finish-reason", "stream-assembly", "usage"]
    {
        assert!(missing.contains(&law), "{law} in {missing:?}");
        assert!(!judgement.checked.contains(&law), "{law}");
    }
}

#[test]
fn a_placeholder_among_rejected_proposals_only_warns() {
    let judgement = judge(&[
        &header(SPECULATIVE, 1),
        r#"{"type":"prefill","sequence":0,"token":5}"#,
        r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[9,-1],"target":[2,7,1],"accepted":0,"emitted":[2]}"#,
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"stop","tokens":[5,2]}"#,
    ]);
    assert_eq!(judgement.verdict, Verdict::Consistent);
    assert_eq!(judgement.sequences[0].warnings[0].law, "vocabulary");
}
