//! `probe` on the command line: what it remembers, and what it does not.

use crate::kit::{Ran, exactness};
use std::path::Path;

fn probe(memo: &Path, more: &[&str]) -> Ran {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-random-qwen35");
    let fixed =
        ["probe", "--model", model, "--widths", "2", "--length", "5", "--walk", "4", "--format", "json"];
    let memo = ["--memo", memo.to_str().unwrap()];
    exactness(fixed.iter().chain(&memo).chain(more))
}

#[test]
fn a_verdict_is_remembered_and_a_planted_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let memo = folder.path().join("gate.json");
    let planted = probe(&memo, &["--plant", "op=lm_head,row=1"]);
    assert_eq!((planted.code, memo.exists()), (1, false), "{}", planted.err);
    let line = &planted.json()["widths"][0];
    assert_eq!((&line["probed"]["outcome"]["outcome"], &line["engages"]), (&"differs".into(), &false.into()));
    assert!(line["says"].as_str().unwrap().contains(" of 2048 bytes of the row at position "), "{line}");

    let (first, second) = (probe(&memo, &[]), probe(&memo, &[]));
    let remembered = |ran: &Ran| ran.json()["widths"][0]["remembered"].clone();
    assert_eq!((first.code, remembered(&first)), (0, false.into()), "{}", first.err);
    assert_eq!((second.code, remembered(&second)), (0, true.into()));
    assert_eq!(first.json()["widths"][0]["probed"], second.json()["widths"][0]["probed"]);
    assert_eq!(first.json()["verdict"], "equal");
    // Other routes and other inputs are other verdicts.
    for more in [&["--routes", "linear=rows"][..], &["--seed", "9"], &["--dtype", "bf16"]] {
        assert_eq!(remembered(&probe(&memo, more)), false, "{more:?}");
    }

    // What cannot be kept is said after what was measured, and is no reason not to say it.
    let unkept = probe(folder.path(), &[]);
    assert_eq!((unkept.code, unkept.json()["verdict"].clone()), (5, "equal".into()), "{}", unkept.err);

    std::fs::write(&memo, "{").unwrap();
    let third = probe(&memo, &[]);
    assert_eq!((third.code, remembered(&third)), (0, false.into()));
    assert!(third.err.contains("are not used: the file is damaged"), "{}", third.err);
    assert_eq!(remembered(&probe(&memo, &[])), true);
}
