//! `bench`: its numbers follow from the runs that it lists. How fast anything is, is no matter of a test.

use crate::kit::exactness;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|one| one.as_f64().expect("a number")).collect()
}

#[test]
fn a_measurement_follows_from_its_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("bench");
    let line = "bench --widths 4,2 --repeat 2 --max-tokens 8 --drafter cycle:1 --format json --prompt-ids 5,6,7 --out";
    let ran = exactness(line.split(' ').chain([out.to_str().expect("a name")]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let bench: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(bench["verdict"], "identical");
    let classic = numbers(&bench["classic"]["tokens_per_second"]);
    assert_eq!(classic.len(), 4, "two runs at each end");
    let (low, high) =
        classic.iter().fold((f64::MAX, 0.0_f64), |(low, high), &one| (low.min(one), high.max(one)));
    let median = bench["classic"]["median"].as_f64().expect("a number");
    let floor = bench["floor"].as_f64().expect("a number");
    assert!((floor - (high - low) / median).abs() < 1e-9, "the floor is the spread of plain decoding");
    let arms = bench["arms"].as_array().expect("a list");
    let names: Vec<&str> = arms.iter().filter_map(|arm| arm["arm"].as_str()).collect();
    assert_eq!(names, ["w2", "w4"]);
    for arm in arms {
        let ratio = arm["ratio"].as_f64().expect("a number");
        let own = arm["speed"]["median"].as_f64().expect("a number");
        assert!((ratio - own / median).abs() < 1e-9);
        assert_eq!(arm["resolved"].as_bool(), Some((ratio - 1.0).abs() > floor));
        let acceptance = numbers(&arm["acceptance"]);
        assert_eq!(acceptance[0].to_bits(), 1.0_f64.to_bits(), "cycle:1 has its first proposal accepted");
        assert!(acceptance[1..].iter().all(|share| share.to_bits() == 0), "and no other: {acceptance:?}");
        assert!(arm["accepted_ms"].is_number());
    }
    let csv = std::fs::read_to_string(out.join("bench.csv")).expect("bench.csv is written");
    assert_eq!(csv.lines().count(), 1 + 8, "a line a run");
    let stored: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("bench.json")).expect("bench.json"))
            .expect("JSON");
    assert_eq!(stored, bench, "what is printed is what is stored");
}

#[test]
fn nothing_to_time_is_refused() {
    let ran = exactness(["bench", "--max-tokens", "1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("leaves nothing to time"), "{}", ran.err);
}
