//! A run that ends anywhere leaves whole lines: killed at any moment, or stopped by a full disk.

use crate::kit::exactness;
use exactness::transcript::parse::parse_line;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Every line of every transcript in `folder` is a line of the format; gives the files with their line counts.
fn whole_lines(folder: &Path) -> Vec<(PathBuf, usize)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let transcripts = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let counted = transcripts.map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{} ends in half a line", file.display());
        let lines = text.lines().map(|line| parse_line(line.as_bytes()));
        let lines = lines
            .enumerate()
            .map(|(number, line)| line.unwrap_or_else(|error| panic!("line {number}: {error}")));
        let count = lines.count();
        (file, count)
    });
    counted.collect()
}

fn spawn(out: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_exactness"));
    command.args([
        "run-arm",
        "--width",
        "4",
        "--max-tokens",
        "100000",
        "--ignore-eos",
        "--prompt-ids",
        "785,651",
    ]);
    command.arg("--rows").arg("--out").arg(out).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Kills the run once its first transcript has `bytes` bytes.
fn kill_at(bytes: u64, out: &Path) {
    let mut child = spawn(out);
    let length = || fs::metadata(out.join("classic.jsonl")).map_or(0, |file| file.len());
    while length() < bytes {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        sleep(Duration::from_millis(3));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_cut_between_lines() {
    for bytes in [1, 3_000, 9_001, 20_500] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        kill_at(bytes, &out);
        let files = whole_lines(&out);
        assert!(files.len() == 1 && files[0].1 >= 1, "{files:?}");
        let judged = exactness([Path::new("check-algebra"), &out, Path::new("--format"), Path::new("json")]);
        assert_eq!(judged.code, 3, "{}", judged.err);
        let judgement = judged.json();
        assert_eq!(judgement["verdict"], "cut run");
        assert_eq!(judgement["arms"][0]["verdict"], "cut run");
        assert_eq!(
            judgement["arms"][0]["sequences"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|one| one["finding"] != Value::Null)
                .count(),
            0
        );
        rows_are_kept(&files[0].0);
    }
}

/// The side file has the bytes of every row that a line names.
fn rows_are_kept(transcript: &Path) {
    let side = fs::metadata(transcript.with_extension("rows.bin")).unwrap().len();
    let text = fs::read_to_string(transcript).unwrap();
    let ends = text.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let at = line.get("row")?.get("at")?;
        Some(at[0].as_u64()? + at[1].as_u64()?)
    });
    assert!(ends.max().is_none_or(|end| end <= side));
}

/// Runs under a file size limit of so many KiB, which the system reports as it reports a full disk: a refused write.
fn limited(kib: u32, out: &Path) -> (i32, String) {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_exactness")]);
    command
        .args(["run-arm", "--width", "4", "--max-tokens", "64", "--prompt-ids", "785,651", "--out"])
        .arg(out);
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_disk_stops_the_run_after_a_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (code, says) = limited(8, &out);
    assert_eq!((code, says.lines().count()), (5, 1), "{says}");
    assert!(says.starts_with("error: failed to write ") && says.contains("classic.jsonl: "), "{says}");
    let files = whole_lines(&out);
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].1 > 2, "the limit lies behind the first lines: {files:?}");
    assert_eq!(exactness([Path::new("check-algebra"), &out]).code, 3);
}

#[test]
fn synth_on_a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_exactness"), "synth", "--geometry", "tiny", "--out"]);
    let output = command.arg(folder.path().join("model")).output().unwrap();
    let says = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), says.lines().count()), (Some(5), 1), "{says}");
    assert!(says.contains("model"), "{says}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{says}");
}
