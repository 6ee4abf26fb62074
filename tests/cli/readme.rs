//! What the README shows is what the program prints, and the command that it calls the tests is the one that the gate
//! runs.

use exactness::transcript::files::write_whole;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const README: &str = include_str!("../../README.md");
const GATE: &str = include_str!("../../.ci/run");

/// The commands of the README's shell blocks.
fn shell() -> Vec<&'static str> {
    let blocks = README.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("sh\n")).flat_map(str::lines).collect()
}

#[test]
fn every_console_block() {
    // The tour records into its folder, so it runs on a copy of the README whose folder is new each time.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    let copy = folder.join("README.md");
    write_whole(&copy, README.as_bytes()).unwrap();
    fs::create_dir(folder.join("README.in")).unwrap();
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    symlink(reports, folder.join("README.in/reports")).unwrap();
    trycmd::TestCases::new().env("COLUMNS", "110").case(copy.to_str().unwrap()).run();
    // With TRYCMD=overwrite the copy has what was printed.
    let after = fs::read_to_string(&copy).unwrap();
    if after != README {
        write_whole(&Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"), after.as_bytes()).unwrap();
    }
}

#[test]
fn the_two_commands_are_the_tour_and_the_gate() {
    let shell = shell();
    let first = shell.iter().find_map(|line| line.strip_prefix("cargo run --release -- ")).unwrap();
    let toured = README.lines().filter_map(|line| line.strip_prefix("$ exactness "));
    assert!(toured.clone().any(|line| line.starts_with(first)), "the tour shows what `{first}` prints");
    let second = shell.iter().find(|line| line.starts_with("cargo test")).unwrap();
    assert!(GATE.lines().any(|line| line == *second), ".ci/run has the line `{second}`");
}
