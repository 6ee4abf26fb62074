//! What a command line can ask wrongly: one line that names the flag or the file, the right exit code, no folder made.
//!
//! The lines themselves are in `tests/cmd/engine/refused.trycmd`; here is what needs files that are made first.

use crate::kit::{Ran, exactness, rewrite};
use std::fs;
use std::path::Path;

#[test]
fn refused_command_lines() {
    trycmd::TestCases::new().env("COLUMNS", "110").case("tests/cmd/engine/*.trycmd");
}

/// Plain decoding of the demo with more arguments, into `out`.
fn classic(more: &[&str], out: &Path) -> Ran {
    let first = ["run-arm", "--classic", "--max-tokens", "2", "--out", out.to_str().unwrap()];
    exactness(first.iter().chain(more))
}

/// Asserts a refusal that leaves no folder, and gives its line without the folder's name.
fn refused(more: &[&str], code: i32, folder: &Path) -> String {
    let out = folder.join("new");
    let ran = classic(more, &out);
    assert_eq!((ran.code, ran.err.lines().count(), ran.out.as_str()), (code, 1, ""), "{more:?}: {}", ran.err);
    assert!(!out.exists(), "{more:?} left a folder");
    ran.err.trim_end().replace(&folder.display().to_string(), "DIR")
}

#[test]
fn prompt_files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prompts.jsonl");
    let name = file.to_str().unwrap();
    let cases: [(&[u8], &str); 7] = [
        (b"", "DIR/prompts.jsonl: it holds no prompts; each line is {\"text\": …} or {\"ids\": […]}"),
        (
            b"{\"ids\":[1]}\n{\"text\":\"\"}\n",
            "DIR/prompts.jsonl line 2: the prompt is empty; decoding starts from at least one id",
        ),
        (
            b"{\"ids\":[]}",
            "DIR/prompts.jsonl line 1: the prompt is empty; decoding starts from at least one id",
        ),
        (
            b"\n{\"ids\":[1,4096]}",
            "DIR/prompts.jsonl line 2: id 4096 is outside the vocabulary, which has ids 0 to 4095",
        ),
        (
            b"{\"ids\":\"1,2\"}",
            "DIR/prompts.jsonl line 1: invalid type: string \"1,2\", expected a sequence at column 12",
        ),
        (b"words", "DIR/prompts.jsonl line 1: expected value at column 1"),
        (
            b"{\"prompt\":\"words\"}",
            "DIR/prompts.jsonl line 1: unknown field `prompt`, expected `text` or `ids` at column 9",
        ),
    ];
    for (content, says) in cases {
        rewrite(&file, content);
        assert_eq!(refused(&["--prompts", name], 2, folder.path()), format!("error: failed to read {says}"));
    }
    rewrite(&file, b"");
    let empty = refused(&["--prompt-file", name], 2, folder.path());
    assert_eq!(
        empty,
        "error: failed to read DIR/prompts.jsonl: the prompt is empty; decoding starts from at least one id"
    );
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (gone, text) = (folder.path().join("gone"), folder.path().join("text"));
    rewrite(&text, b"caf\xe9");
    for flag in ["--prompts", "--prompt-file"] {
        for path in [gone.as_path(), text.as_path(), folder.path()] {
            let says = refused(&[flag, path.to_str().unwrap()], 5, folder.path());
            assert!(says.starts_with("error: failed to read DIR"), "{says}");
        }
    }
    let recorded = |path: &Path| format!("recorded:{}", path.display());
    let says = refused(&["--drafter", &recorded(&gone)], 5, folder.path());
    assert!(says.contains("DIR/gone"), "{says}");
    let says = refused(&["--drafter", &recorded(Path::new("tests/cases/README.md"))], 4, folder.path());
    assert!(says.contains("tests/cases/README.md") && says.contains("line 1"), "{says}");
}

#[test]
fn a_recording_of_another_model_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let says = refused(&["--drafter", "recorded:tests/hostile/foreign.jsonl"], 2, folder.path());
    assert_eq!(
        says,
        "error: failed to read drafter: the recording proposes id 4096, outside the vocabulary of 4096; record it with \
         this model"
    );
}

#[test]
fn what_is_already_recorded_stays() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let ids = ["--prompt-ids", "785,651"];
    assert_eq!(classic(&ids, &out).code, 0);
    let before = fs::read(out.join("classic.jsonl")).unwrap();
    let again = classic(&ids, &out);
    assert_eq!(again.code, 5);
    assert!(again.err.contains("run/classic.jsonl is already there; choose another --out"), "{}", again.err);
    assert_eq!(fs::read(out.join("classic.jsonl")).unwrap(), before);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);

    // A side file or a dangling link in the way is seen before the first transcript is begun.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink("gone", other.join("classic.repeat1.rows.bin")).unwrap();
    assert_eq!(classic(&ids, &other).code, 5);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
}

#[test]
fn a_file_where_a_folder_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    rewrite(&file, b"mine");
    for out in [file.clone(), file.join("below")] {
        let ran = classic(&["--prompt-ids", "1"], &out);
        assert_eq!((ran.code, ran.err.lines().count()), (5, 1), "{}", ran.err);
        assert!(ran.err.starts_with("error: failed to write ") && ran.err.contains("/file"), "{}", ran.err);
        let out = out.to_str().unwrap();
        let ran = exactness(["synth", "--geometry", "tiny", "--out", out]);
        assert_eq!((ran.code, ran.err.lines().count()), (5, 1), "{}", ran.err);
        assert!(ran.err.starts_with("error: failed to "), "{}", ran.err);
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn synth_refuses_a_folder_in_use() {
    let folder = tempfile::tempdir().unwrap();
    rewrite(&folder.path().join("mine"), b"mine");
    let ran = exactness(["synth", "--geometry", "tiny", "--out", folder.path().to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.lines().count()), (5, 1), "{}", ran.err);
    assert!(ran.err.contains("not empty"), "{}", ran.err);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_fault_that_nothing_reaches_is_no_finding_about_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let first = ["run-arm", "--width", "2", "--max-tokens", "4", "--prompt-ids", "785,651,374"];
    let ended = |plant: &str, name: &str| {
        let out = folder.path().join(name);
        let more = ["--drafter", "oracle", "--plant", plant, "--out", out.to_str().unwrap()];
        exactness(first.iter().chain(&more))
    };
    let missed = ended("op=o_proj,row=2", "missed");
    assert_eq!(missed.code, 3, "{}", missed.out);
    assert!(missed.out.contains("The planted op=o_proj,row=2,ulp=1 never struck: no run"), "{}", missed.out);
    assert!(missed.out.contains("verdict: not run (1 speculative run"), "{}", missed.out);
    let struck = ended("op=o_proj,row=1", "struck");
    assert!(struck.out.contains("A fault was planted: op=o_proj,row=1,ulp=1."), "{}", struck.out);
    assert!(!struck.out.contains("never struck"), "{}", struck.out);
}

#[test]
fn a_rewind_that_was_left_out_is_a_broken_law() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first = ["run-arm", "--width", "3", "--drafter", "cycle:1", "--max-tokens", "6"];
    let more =
        ["--prompt-ids", "785,651,374", "--plant", "fault=skipped-rewind", "--out", out.to_str().unwrap()];
    let ran = exactness(first.iter().chain(&more));
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let finding = "Finding: cache-length, sequence 0, round 0 (line 3): the cache grew by 3 rows, the round commits 2 of its 3";
    assert!(ran.out.contains(finding), "{}", ran.out);
    assert!(ran.out.contains("A fault was planted: fault=skipped-rewind."), "{}", ran.out);
    assert!(ran.out.contains("verdict: inconsistent (1 speculative run"), "{}", ran.out);
}
