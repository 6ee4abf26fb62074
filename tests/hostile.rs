//! Input that was made to break the program: it is answered with one line and the right exit code, and nothing that
//! was not compared is ever called identical or consistent.

use crate::kit::{Ran, Run, compare, exactness, rewrite, stream};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const PREFILL: &str = r#"{"type":"prefill","sequence":0,"token":5,"cache_len":3}"#;

fn header(keys: &Value) -> Value {
    let mut header = json!({
        "type": "header", "format": "exactness.transcript", "version": 1, "arm": "w3", "kind": "speculative",
        "width": 3, "max_tokens": 5, "eos_ids": [2], "ignore_eos": false,
        "prompts": [{"sequence": 0, "ids": [50, 51, 52]}],
    });
    merge(&mut header, keys);
    header
}

/// Null takes a key away.
fn merge(value: &mut Value, keys: &Value) {
    for (key, new) in keys.as_object().unwrap() {
        value[key] = new.clone();
    }
    value.as_object_mut().unwrap().retain(|_, value| !value.is_null());
}

fn with(line: &str, keys: &Value) -> Value {
    let mut value: Value = serde_json::from_str(line).unwrap();
    merge(&mut value, keys);
    value
}

fn round(number: i64, keys: &Value) -> Value {
    let lines = [
        r#"{"type":"round","sequence":0,"round":0,"width":3,"bonus":5,"draft":[6,9],"target":[6,7,1],"accepted":1,"emitted":[6,7],"cache_before":3,"cache_after":5}"#,
        r#"{"type":"round","sequence":0,"round":1,"width":3,"bonus":7,"draft":[8,9],"target":[8,9,3],"accepted":2,"emitted":[8,9],"cache_before":5,"cache_after":7}"#,
    ];
    with(lines[usize::try_from(number).unwrap()], keys)
}

fn step(index: i64) -> Value {
    json!({"type": "step", "sequence": 0, "index": index, "input": 4 + index, "token": 5 + index})
}

fn footer(keys: &Value) -> Value {
    let line =
        r#"{"type":"footer","sequence":0,"complete":true,"finish_reason":"length","tokens":[5,6,7,8,9]}"#;
    with(line, keys)
}

fn speculative(head: &Value, foot: &Value) -> Vec<Value> {
    let (none, prefill) = (json!({}), with(PREFILL, &json!({})));
    vec![header(head), prefill, round(0, &none), round(1, &none), footer(foot)]
}

fn classic(head: &Value, foot: &Value) -> Vec<Value> {
    let mut lines = vec![header(&json!({"arm": "classic", "kind": "classic", "width": 1}))];
    merge(&mut lines[0], head);
    lines.push(with(PREFILL, &json!({})));
    lines.extend((1..5).map(step));
    lines.push(footer(foot));
    lines
}

/// A folder, and the files that a test puts into it.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, lines: &[Value]) -> PathBuf {
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        self.text(name, &(text.join("\n") + "\n"))
    }

    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        rewrite(&path, text.as_bytes());
        path
    }

    /// The verdict and exit code of an arm against plain decoding.
    fn verdict(&self, arm: &[Value], reference: &[Value]) -> (String, i32) {
        let (arm, reference) = (self.write("arm.jsonl", arm), self.write("reference.jsonl", reference));
        word(&compare(&[arm], &[reference]))
    }
}

fn word((judgement, code): &(Value, i32)) -> (String, i32) {
    (judgement["verdict"].as_str().unwrap().to_owned(), *code)
}

fn ended(word: &str, code: i32) -> (String, i32) {
    (word.to_owned(), code)
}

fn run(arguments: &[&Path]) -> Ran {
    exactness(arguments)
}

fn plain() -> Value {
    json!({})
}

#[test]
fn the_lines_of_these_tests_keep_the_laws() {
    let files = Files::new();
    let found = files.verdict(&speculative(&plain(), &plain()), &classic(&plain(), &plain()));
    assert_eq!(found, ended("identical", 0));
}

#[test]
fn numbers_at_the_ends_of_their_range_are_findings_not_crashes() {
    let files = Files::new();
    let good = files.write("good.jsonl", &classic(&plain(), &plain()));
    let judge = |what: &str, lines: &[Value]| {
        let path = files.write("far.jsonl", lines);
        let verbs: [&[&Path]; 3] = [
            &["check-algebra".as_ref(), &path],
            &["compare".as_ref(), &path, "--against".as_ref(), &good],
            &["show".as_ref(), &path],
        ];
        for verb in verbs {
            let ran = run(verb);
            assert!([0, 1, 3].contains(&ran.code), "{what}: {} {}", ran.code, ran.err);
        }
    };
    for far in [i64::MIN, i64::MAX, i64::MAX - 1] {
        for key in
            ["accepted", "width", "round", "bonus", "cache_before", "cache_after", "walked", "state_kept"]
        {
            let keys = json!({key: far, "rows": [{"position": far}, {"position": far}, {"index": far}]});
            let rounds = [round(0, &keys), round(1, &keys), round(1, &keys)];
            let mut lines = speculative(&plain(), &plain());
            lines.splice(2..4, rounds);
            judge(key, &lines);
        }
        let counters = json!({"rounds": far, "drafted": far, "accepted": far, "per_position": [far]});
        let usage = json!({"prompt_tokens": far, "completion_tokens": far, "total_tokens": far});
        let foot = json!({"counters": counters, "usage": usage});
        judge("footer", &speculative(&plain(), &foot));
        judge("footer alone", &[header(&json!({"width": far, "vocab_size": far})), footer(&foot)]);
        let unknown = json!({"prompts": [{"sequence": 0}]});
        for mut lines in [speculative(&unknown, &plain()), classic(&unknown, &plain())] {
            merge(&mut lines[1], &json!({"cache_len": far, "row": {"index": 0, "position": far}}));
            merge(
                &mut lines[2],
                &json!({"cache_before": null, "rows": [{"position": far}, {"position": 1}, {}]}),
            );
            merge(&mut lines[2], &json!({"row": {"position": far}, "cache_len": far}));
            judge("cache_len", &lines);
        }
        judge("vocab_size", &speculative(&json!({"vocab_size": far, "max_tokens": far}), &plain()));
    }
}

fn refused(files: &Files, lines: &[Value]) -> String {
    let ran = run(&["check-algebra".as_ref(), &files.write("bad.jsonl", lines)]);
    assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
    assert!(ran.err.len() < 500, "{} bytes", ran.err.len());
    ran.err
}

#[test]
fn an_array_is_no_object_wherever_it_stands() {
    let files = Files::new();
    let lines = |head: Value, first: Value, foot: Value| {
        let mut lines = speculative(&head, &foot);
        merge(&mut lines[2], &first);
        lines
    };
    for (lines, field) in [
        (lines(json!({"prompts": [[0, [50], null]]}), plain(), plain()), "prompts[0]"),
        (lines(json!({"model": ["a", "b", "c", "d"]}), plain(), plain()), "model"),
        (lines(json!({"drafter": ["a", "none"]}), plain(), plain()), "drafter"),
        (lines(plain(), json!({"rows": [[1, 2], {}, {}]}), plain()), "rows[0]"),
        (lines(plain(), json!({"micros": [1, 2, 3, 4]}), plain()), "micros"),
        (lines(plain(), plain(), json!({"usage": [3, 5, 0, 8]})), "usage"),
        (lines(plain(), plain(), json!({"counters": [2, 4, 3, [2, 1]]})), "counters"),
    ] {
        let says = refused(&files, &lines);
        assert!(
            says.contains(&format!("field `{field}`: invalid type: sequence, expected an object")),
            "{says}"
        );
    }
}

#[test]
fn two_readings_of_one_line_are_refused() {
    let files = Files::new();
    let twice = json!({"prompts": [{"sequence": 0, "ids": [1]}, {"sequence": 0, "ids": [2]}]});
    let says = refused(&files, &speculative(&twice, &plain()));
    assert!(says.contains("field `prompts[1].sequence`: sequence 0 has a prompt already"), "{says}");
    let text =
        format!("{}\n{}\n", header(&plain()), PREFILL.replace("\"token\"", "\"type\":\"footer\",\"token\""));
    let ran = run(&["check-algebra".as_ref(), &files.text("type.jsonl", &text)]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("line 2: field `type`: duplicate field `type`"), "{}", ran.err);
}

#[test]
fn a_refusal_does_not_quote_a_whole_line() {
    let files = Files::new();
    let long = "x".repeat(100_000);
    refused(&files, &[header(&plain()), json!({"type": long})]);
    refused(&files, &[header(&plain()), with(PREFILL, &json!({"token": long}))]);
    refused(&files, &[header(&json!({"format": long}))]);
}

#[test]
fn a_label_of_a_megabyte_or_with_control_characters_harms_no_terminal() {
    let files = Files::new();
    let reference = files.write("classic.jsonl", &classic(&plain(), &plain()));
    for label in ["x".repeat(1 << 20), "\u{1b}[2Jgone\r".to_owned()] {
        let arm = files.write("arm.jsonl", &speculative(&json!({"arm": label}), &plain()));
        let ran = run(&["compare".as_ref(), &arm, "--against".as_ref(), &reference]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.len() < 1 << 16 && !ran.out.contains(['\u{1b}', '\r']), "{} bytes", ran.out.len());
    }
}

#[test]
fn an_arm_that_was_compared_with_nothing_is_not_identical() {
    let files = Files::new();
    let reference = files.write("classic.jsonl", &classic(&plain(), &plain()));
    let good = files.write("good.jsonl", &speculative(&plain(), &plain()));
    let nothing = files.write("nothing.jsonl", &[header(&json!({"prompts": []}))]);
    let against = [reference];
    assert_eq!(word(&compare(std::slice::from_ref(&nothing), &against)), ended("vacuous", 3));
    assert_eq!(word(&compare(&[nothing, good.clone()], &against)), ended("vacuous", 3));
    // A repeat whose run was not given is compared itself.
    let orphan = json!({"repeat": 1, "prompts": [{"sequence": 0, "ids": [7]}]});
    let orphan = files.write("orphan.jsonl", &speculative(&orphan, &plain()));
    assert_eq!(word(&compare(std::slice::from_ref(&orphan), &against)), ended("not comparable", 3));
    assert_eq!(word(&compare(&[good, orphan], &against)), ended("not comparable", 3));
}

#[test]
fn a_run_compared_with_itself_is_a_wrong_command_line() {
    let files = Files::new();
    let path = files.write("arm.jsonl", &classic(&plain(), &plain()));
    let other_name = files.0.path().join(".").join("arm.jsonl");
    let ran = run(&["compare".as_ref(), &path, "--against".as_ref(), &other_name]);
    assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{}", ran.err);
    assert!(ran.err.contains("stands on both sides"), "{}", ran.err);
    let dash = Path::new("-");
    for verb in
        [vec!["compare".as_ref(), dash, "--against".as_ref(), dash], vec!["diff".as_ref(), dash, dash]]
    {
        assert_eq!(run(&verb).code, 2);
    }
    assert_eq!(run(&["check-algebra".as_ref(), dash, dash]).code, 2);
}

#[test]
fn equal_streams_of_unknown_prompts_are_not_identical() {
    let files = Files::new();
    let empty = json!({"prompts": [{"sequence": 0, "ids": [], "text": ""}]});
    let lines = |mut lines: Vec<Value>| {
        // Nothing but the prompt is wrong: no cache length says how long it was.
        merge(&mut lines[1], &json!({"cache_len": null}));
        for line in &mut lines {
            merge(line, &json!({"cache_before": null, "cache_after": null}));
        }
        lines
    };
    let found = files.verdict(&lines(speculative(&empty, &plain())), &lines(classic(&empty, &plain())));
    assert_eq!(found, ended("not run", 3));
    for unknown in [json!([{"sequence": 0}]), json!([{"sequence": 0, "text": "a"}]), json!([])] {
        let unknown = json!({"prompts": unknown});
        let arm = files.verdict(&speculative(&unknown, &plain()), &classic(&plain(), &plain()));
        assert_eq!(arm, ended("not run", 3));
        let reference = files.verdict(&speculative(&plain(), &plain()), &classic(&unknown, &plain()));
        assert_eq!(reference, ended("not run", 3));
    }
}

#[test]
fn strings_that_are_a_beginning_of_the_stream_are_not_the_stream() {
    let files = Files::new();
    let strings = json!(["a", "b", "c"]);
    let told = json!({"token_strings": strings, "tokens": null});
    let reference = [header(&json!({"arm": "classic", "kind": "classic", "width": 1})), footer(&told)];
    let ids = files.verdict(&speculative(&plain(), &json!({"token_strings": strings})), &reference);
    assert_ne!(ids.1, 0, "{}", ids.0);
    let mut counted = told.clone();
    merge(&mut counted, &json!({"counters": {"rounds": 2, "drafted": 4, "accepted": 2}}));
    counted["tokens"] = Value::Null;
    counted["usage"] = json!({"completion_tokens": 5});
    let arm = files.write("usage.jsonl", &[header(&plain()), footer(&counted)]);
    let ran = run(&["check-algebra".as_ref(), &arm, "--format=json".as_ref()]);
    assert_eq!(ran.json()["arms"][0]["sequences"][0]["finding"]["law"], json!("usage"));
}

#[test]
fn counters_below_zero_do_not_show_that_an_arm_speculated() {
    let files = Files::new();
    let counters = json!({"counters": {"rounds": -2, "drafted": -4, "accepted": 2}});
    let found = files.verdict(&[header(&plain()), footer(&counters)], &classic(&plain(), &plain()));
    assert_eq!(found, ended("vacuous", 3));
}

#[test]
fn a_reference_that_speculates_is_named() {
    let files = Files::new();
    let arm = files.write("arm.jsonl", &speculative(&plain(), &plain()));
    let label = json!({"arm": "said to be classic", "kind": "classic", "width": 1});
    let reference = files.write("other.jsonl", &speculative(&label, &plain()));
    let (judgement, _) = compare(&[arm], &[reference]);
    let notes = judgement["arms"][0]["sequences"][0]["against"]["notes"].to_string();
    assert!(notes.contains("the reference speculates itself"), "{notes}");
}

#[test]
fn a_lost_step_is_a_finding_without_a_prefill_line_too() {
    let files = Files::new();
    let mut lines = classic(&plain(), &plain());
    lines.remove(1);
    let law = |lines: &[Value]| {
        let ran =
            run(&["check-algebra".as_ref(), &files.write("lost.jsonl", lines), "--format=json".as_ref()]);
        ran.json()["arms"][0]["sequences"][0]["finding"]["law"].clone()
    };
    assert_eq!(law(&lines), Value::Null);
    for lost in [1, 2] {
        let mut lines = lines.clone();
        lines.remove(lost);
        assert_eq!(law(&lines), json!("step-chain"));
    }
}

#[test]
fn a_run_of_no_tokens_is_vacuous() {
    let files = Files::new();
    for foot in [json!({"tokens": [], "finish_reason": "aborted"}), json!({"tokens": null})] {
        let path = files.write("none.jsonl", &[header(&plain()), footer(&foot)]);
        let ran = run(&["check-algebra".as_ref(), &path, "--format=json".as_ref()]);
        assert_eq!((ran.json()["verdict"].as_str(), ran.code), (Some("vacuous"), 3));
    }
}

#[test]
fn steps_after_rounds_stand_where_their_index_says() {
    let files = Files::new();
    let mut lines = speculative(&plain(), &json!({"tokens": null}));
    lines.splice(3..4, [step(3), step(4)]);
    let reference = classic(&plain(), &plain());
    assert_eq!(files.verdict(&lines, &reference), ended("identical", 0));
    merge(&mut lines[4], &json!({"token": 33}));
    let (arm, reference) = (files.write("a.jsonl", &lines), files.write("c.jsonl", &reference));
    let (judgement, _) = compare(&[arm], &[reference]);
    assert_eq!(judgement["arms"][0]["sequences"][0]["against"]["first"]["index"], json!(4));
}

#[test]
fn an_empty_file_is_a_cut_run_for_every_verb() {
    let files = Files::new();
    let (empty, out) = (files.text("empty.jsonl", ""), files.path("out"));
    let good = files.write("good.jsonl", &classic(&plain(), &plain()));
    let verbs: [&[&Path]; 5] = [
        &["check-algebra".as_ref(), &empty],
        &["compare".as_ref(), &empty, "--against".as_ref(), &good],
        &["show".as_ref(), &empty],
        &["diff".as_ref(), &good, &empty],
        &["rows".as_ref(), "export".as_ref(), &empty, "--out".as_ref(), &out],
    ];
    for verb in verbs {
        let ran = run(verb);
        assert!(ran.code == 3 && (ran.out + &ran.err).contains("cut run"), "{verb:?}: {}", ran.err);
    }
}

/// A run whose rows are kept, and its lines.
fn kept(files: &Files, name: &str) -> (PathBuf, Vec<Value>) {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let row = |index: usize| vec![index as f32, 1.0];
    let path = Run { stream: stream(4), row: Some(&row), ..Run::default() }.write(files.0.path(), name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn two_rows_without_a_digest_are_not_two_equal_rows() {
    let files = Files::new();
    let digested = |mut lines: Vec<Value>, digest: Option<&str>| {
        merge(&mut lines[1], &json!({"row": {"sha256": digest}}));
        lines
    };
    let lower = "0a".repeat(32);
    let upper = lower.to_uppercase();
    for (left, right, rows, unknown) in
        [(None, None, 0, 1), (Some(&lower), None, 0, 1), (Some(&lower), Some(&upper), 1, 0)]
    {
        let arm =
            files.write("arm.jsonl", &digested(speculative(&plain(), &plain()), left.map(String::as_str)));
        let reference =
            files.write("classic.jsonl", &digested(classic(&plain(), &plain()), right.map(String::as_str)));
        let (judgement, _) = compare(&[arm], &[reference]);
        let found = &judgement["arms"][0]["sequences"][0]["against"]["rows"];
        let counts = [&found["rows"], &found["equal"], &found["unknown"]];
        assert_eq!(counts, [&json!(rows), &json!(rows), &json!(unknown)]);
    }
}

#[test]
fn places_beyond_the_side_file_are_refused_before_anything_is_made() {
    let files = Files::new();
    let (path, lines) = kept(&files, "kept.jsonl");
    let out = files.path("rows.safetensors");
    for place in
        [json!([1000, 8]), json!([u64::MAX, 8]), json!([0, u64::MAX]), json!([1_u64 << 63, 1_u64 << 63])]
    {
        let mut lines = lines.clone();
        lines[1]["row"]["at"] = place;
        files.write("kept.jsonl", &lines);
        let ran = run(&["rows".as_ref(), "export".as_ref(), &path, "--out".as_ref(), &out]);
        assert_eq!((ran.code, ran.err.lines().count(), out.exists()), (4, 1, false), "{}", ran.err);
        assert!(ran.err.contains("kept.rows.bin"), "{}", ran.err);
    }
    let mut doubled = lines;
    doubled.insert(3, doubled[2].clone());
    files.write("kept.jsonl", &doubled);
    let ran = run(&["rows".as_ref(), "export".as_ref(), &path, "--out".as_ref(), &out]);
    assert_eq!((ran.code, out.exists()), (4, false), "{}", ran.err);
    assert!(ran.err.contains("0/step/1: it is recorded twice"), "{}", ran.err);
}

#[test]
fn an_export_does_not_overwrite_what_it_reads() {
    let files = Files::new();
    let (path, _) = kept(&files, "kept.jsonl");
    let before = std::fs::read(&path).unwrap();
    for out in [path.clone(), files.path("kept.rows.bin")] {
        let ran = run(&["rows".as_ref(), "export".as_ref(), &path, "--out".as_ref(), &out]);
        assert_eq!(ran.code, 2, "{}", ran.err);
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_never_waited_for_as_a_side_file() {
    let files = Files::new();
    let reference = files.write("classic.jsonl", &classic(&plain(), &plain()));
    let arm = files.write("arm.jsonl", &speculative(&plain(), &plain()));
    let fifo = |name: &str| {
        let path = files.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    };
    let (pipe, text) = (fifo("pipe.jsonl"), std::fs::read(&arm).unwrap());
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, text).unwrap())
    };
    let ran = run(&["compare".as_ref(), &pipe, "--against".as_ref(), &reference, "--format=json".as_ref()]);
    writer.join().unwrap();
    assert_eq!((ran.code, ran.json()["verdict"].as_str()), (0, Some("identical")), "{}", ran.err);
    fifo("arm.rows.bin");
    let out = files.path("out");
    assert_eq!(run(&["rows".as_ref(), "export".as_ref(), &arm, "--out".as_ref(), &out]).code, 5);
}

#[test]
fn an_import_that_does_not_fit_writes_nothing() {
    let files = Files::new();
    let answers = files.text(
        "answers.json",
        r#"{"tag":"w4","width":"4","responses":[{"text":"a","tokens":["a"]},{"text":"a","tokens":["a"]}]}"#,
    );
    let out = files.path("w4.jsonl");
    let import = |more: &[&Path]| {
        let mut arguments: Vec<&Path> =
            vec!["import".as_ref(), "openai".as_ref(), &answers, "--out".as_ref(), &out];
        arguments.extend_from_slice(more);
        let ran = run(&arguments);
        (ran.code, ran.err.lines().count(), out.exists())
    };
    let lists = files.text("ids.json", "[[1], [2], [3]]");
    assert_eq!(import(&["--prompt-ids".as_ref(), &lists]), (4, 1, false));
    assert_eq!(import(&["--width=0".as_ref()]), (2, 1, false));
    assert_eq!(import(&["--max-tokens=-1".as_ref()]), (2, 1, false));
    files.text("w4.repeat1.jsonl", "another run's");
    assert_eq!(import(&[]), (5, 1, false));
}

#[test]
fn a_panic_is_a_bug_and_has_its_exit_code() {
    let failed = exactness::cli::exit::guarded(|| panic!("a test's panic")).unwrap_err();
    assert_eq!(exactness::cli::exit::code_of(&failed), exactness::cli::exit::BUG);
}
