//! Sweeps of a real model through the program.

use crate::kit::{Ran, exactness};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const TINY: [&str; 10] =
    ["sweep", "--lengths", "4,8", "--widths", "2,4", "--seeds", "1", "--walk", "6", "--model"];

fn model() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/tiny-random-qwen35").display().to_string()
}

fn sweep(out: &Path, more: &[&str]) -> Ran {
    let (model, out) = (model(), out.display().to_string());
    exactness(TINY.iter().copied().chain([model.as_str(), "--out", &out]).chain(more.iter().copied()))
}

fn csv(folder: &Path) -> String {
    fs::read_to_string(folder.join("sweep.csv")).unwrap()
}

#[test]
fn a_tiny_sweep_its_shards_and_their_merge() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let whole = sweep(&out("whole"), &[]);
    assert_eq!(whole.code, 0, "{} {}", whole.out, whole.err);
    assert!(whole.out.contains("verdict: identical (4 of 4 comparisons made: 4 equal"), "{}", whole.out);
    assert!(
        whole.out.contains("Widths 2 and 4 hold on this machine: equal in all 2 cells, at positions 4–13;")
    );
    assert_eq!(whole.err.lines().count(), 2, "one line a cell: {}", whole.err);
    let lines: Vec<String> = csv(&out("whole")).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[1].starts_with("4,1,2,equal,1,18,36864,4,9,"), "{}", lines[1]);

    let again = sweep(&out("whole"), &[]);
    assert_eq!((again.code, again.err.as_str(), again.out), (0, "", whole.out));

    for (name, shard) in [("one", "1/2"), ("two", "2/2")] {
        assert_eq!(sweep(&out(name), &["--shard", shard]).code, 0);
    }
    let paths = ["one", "two", "merged", "half"].map(|name| out(name).display().to_string());
    let half = exactness(["sweep", "merge", &paths[0], "--out", &paths[3]]);
    assert_eq!(half.code, 3);
    assert!(half.out.contains("Missing: length 8 seed 1."), "{}", half.out);
    let merged = exactness(["sweep", "merge", &paths[0], &paths[1], "--out", &paths[2]]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert_eq!(csv(&out("merged")), csv(&out("whole")));
    let resumed = exactness(["sweep", "--resume", &paths[3], "--model", &model()]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(csv(&out("half")), csv(&out("whole")));
}

#[test]
fn a_sweep_that_is_killed_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    assert_eq!(sweep(&whole, &[]).code, 0);
    let mut command = Command::new(env!("CARGO_BIN_EXE_exactness"));
    command.args(TINY).arg(model()).arg("--out").arg(&killed).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    let lines =
        || fs::read_to_string(killed.join("journal.jsonl")).map_or(0, |text| text.matches('\n').count());
    while lines() < 2 && running.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let resumed = sweep(&killed, &[]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(!resumed.err.contains("length 4 seed 1"), "a finished cell ran again: {}", resumed.err);
    assert_eq!(csv(&killed), csv(&whole));
}

#[test]
fn a_planted_fault_is_found_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let planted = sweep(&folder.path().join("out"), &["--plant", "op=o_proj,layer=3,row=3,from=9,ulp=1"]);
    assert_eq!(planted.code, 1, "{} {}", planted.out, planted.err);
    assert!(planted.out.contains("Width 2 holds on this machine"), "row 3 is no row of it: {}", planted.out);
    assert!(planted.out.contains("The smallest width that differs is 4"), "{}", planted.out);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let wrong = [
        (&["--shard", "3/2"][..], 2, "is no shard"),
        (&["--routes", "layer.99.o_proj=rows"], 2, "failed to set routes"),
        (&["--retry", "--resume", "x"], 2, "cannot be used with"),
    ];
    for (more, code, says) in wrong {
        let ran = sweep(&out, more);
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.lines().count() == 1, "{}", ran.err);
    }
    assert!(!out.exists());
    let wide = exactness(["sweep", "--widths", "2,9", "--walk", "8", "--out", out.to_str().unwrap()]);
    assert_eq!((wide.code, wide.err.trim()), (2, "error: failed to read --widths: 9 is not from 1 to 8"));
    let none = exactness(["sweep", "merge", folder.path().to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(none.code, 5, "{}", none.err);
}
