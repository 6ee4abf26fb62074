//! The recorder that other engines drop in writes what the judge reads.

use exactness::algebra::Verdict;
use exactness::cli::judging::judge_path;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
from recorder import Recorder
with Recorder(sys.argv[2], "engine w3", [[50, 51, 52]], width=3, max_tokens=64, eos_ids=[2], ignore_eos=False,
              vocab_size=100, drafter={"name": "eagle", "cache": "none"}) as record:
    record.prefill(0, 5, cache_len=3)
    record.round(0, bonus=5, draft=[6, 9], target=[6, 7, 1], accepted=1, emitted=[6, 7], cache_before=3, cache_after=5)
    record.round(0, bonus=7, draft=[8], target=[8, 2], accepted=1, emitted=[8, 2], cache_before=5, cache_after=7)
    record.footer(0, "stop")
with Recorder(sys.argv[3], "engine plain", [[50, 51, 52]], kind="classic", width=1) as record:
    record.prefill(0, 5, cache_len=3)
    record.step(0, 6)
    record.step(0, 7)
    record.footer(0, "length")
"#;

#[test]
fn its_output_keeps_every_law() {
    let folder = tempfile::tempdir().unwrap();
    let (spec, plain) = (folder.path().join("spec.jsonl"), folder.path().join("plain.jsonl"));
    let recorders = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/recorders");
    let status =
        Command::new("python3").args(["-c", PROGRAM]).arg(recorders).arg(&spec).arg(&plain).status().unwrap();
    assert!(status.success());
    let judgement = judge_path(&spec).unwrap();
    assert_eq!(judgement.verdict, Verdict::Consistent, "{:?}", judgement.sequences);
    assert_eq!(judgement.counts(), (0, 0));
    assert_eq!((judgement.compared.rounds, judgement.compared.tokens), (2, 5));
    for law in ["emission", "cache-length", "stream-assembly", "counter-accepted", "finish-reason"] {
        assert!(judgement.checked.contains(&law), "{law} in {:?}", judgement.checked);
    }
    assert_eq!(judge_path(&plain).unwrap().verdict, Verdict::Consistent);
}

#[test]
fn it_stays_small_enough_to_drop_in() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/recorders/recorder.py"));
    assert!(text.unwrap().lines().count() <= 60);
}
