//! Numbers of a record against counts made here from the raw lines, and the results that have no transcript.

use super::{copy, read, report, repository};
use crate::kit::{Run, exactness, rewrite, stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Token and row digest by sequence and stream index, straight from a transcript's lines.
type Rows = BTreeMap<(i64, usize), (i64, String)>;

fn rows(path: &Path) -> Rows {
    let (mut rows, mut next) = (Rows::new(), BTreeMap::<i64, usize>::new());
    for line in fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(sequence) = line["sequence"].as_i64() else { continue };
        let tokens: Vec<i64> = match line["type"].as_str().unwrap() {
            "prefill" | "step" => vec![line["token"].as_i64().unwrap()],
            "round" => line["emitted"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect(),
            _ => continue,
        };
        for (place, token) in tokens.into_iter().enumerate() {
            let row = if line["rows"].is_array() { &line["rows"][place] } else { &line["row"] };
            let index = next.entry(sequence).or_default();
            rows.insert((sequence, *index), (token, row["sha256"].as_str().unwrap().to_owned()));
            *index += 1;
        }
    }
    rows
}

/// Rows that differ up to and with the first differing token, and that token's index, by sequence.
fn counted(arm: &Rows, reference: &Rows) -> BTreeMap<i64, (usize, Option<usize>)> {
    let mut found: BTreeMap<i64, (usize, Option<usize>)> = BTreeMap::new();
    for ((sequence, index), (token, digest)) in arm {
        let (count, first) = found.entry(*sequence).or_default();
        if first.is_some() {
            continue;
        }
        let (other, its) = &reference[&(*sequence, *index)];
        *count += usize::from(digest != its);
        *first = (token != other).then_some(*index);
    }
    found
}

/// The values of one quantity in `data.csv`, by file and subject.
fn values(csv: &str, quantity: &str) -> BTreeMap<(String, String), String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let records = reader.records().map(|record| record.unwrap());
    let wanted = records.filter(|record| &record[2] == quantity);
    wanted.map(|record| ((record[0].to_owned(), record[1].to_owned()), record[3].to_owned())).collect()
}

#[test]
fn differing_rows_and_first_tokens_are_those_that_the_lines_have() {
    let (folder, data) = (tempfile::tempdir().unwrap(), repository("reports/gpu-first-contact/data/demo"));
    assert_eq!(report(&data, folder.path()).code, 0);
    let csv = read(folder.path(), "data.csv");
    let (differing, first) = (values(&csv, "rows with other bytes"), values(&csv, "first difference"));
    let (classic, mut compared) = (rows(&data.join("classic.jsonl")), 0);
    for arm in ["w2", "w4", "w6", "w8", "w12"] {
        let counts = counted(&rows(&data.join(format!("{arm}.jsonl"))), &classic);
        assert_eq!(counts.len(), 4);
        for (sequence, (count, index)) in counts {
            let subject = format!("{arm}, sequence {sequence}");
            let of = |values: &BTreeMap<(String, String), String>| {
                values.iter().find(|((_, named), _)| *named == subject).map(|(_, value)| value.clone())
            };
            assert_eq!(of(&differing), Some(count.to_string()), "{subject}");
            assert_eq!(of(&first), index.map(|index| index.to_string()), "{subject}");
            compared += count;
        }
    }
    assert_eq!(compared, 2 * 195, "both wide arms part in 195 rows");
}

#[test]
fn op_parity_is_read_from_its_csv() {
    let folder = tempfile::tempdir().unwrap();
    let data = repository("reports/gpu-op-parity/data");
    assert_eq!(report(&data, folder.path()).code, 0);
    let csv = read(folder.path(), "data.csv");
    let parted = values(&csv, "parts at").into_values().filter(|cell| cell == "8").count();
    let text = fs::read_to_string(data.join("4b-bf16-4bit.csv")).unwrap();
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let at_8 = lines.records().filter(|record| &record.as_ref().unwrap()[7] == "8").count();
    assert!(parted > at_8 && at_8 > 0, "{parted} over all files, {at_8} in one");
    let says = "37 operations: 34 as predicted, 0 parting only at more rows than predicted, or in no draw, 0 \
                contradicted, 3 without a prediction.";
    assert!(read(folder.path(), "report.md").contains(says));
    let picture = read(folder.path(), "parity.svg");
    assert!(picture.contains("operations: ") && picture.contains("<title>parts at 8</title>"), "{picture}");
}

/// A `bench.json` as the verb stores it.
fn bench() -> Value {
    let speed =
        |all: [f64; 2], median: f64| json!({"tokens_per_second": all, "median": median, "prefill": 900.0});
    let run = |arm: &str, width: Option<u32>, accepted: u64| {
        json!({"arm": arm, "repeat": 0, "width": width, "file": format!("{arm}.jsonl"), "tokens": 64, "rounds": 20,
               "drafted": 60, "accepted": accepted, "prefill_seconds": 0.1, "decode_seconds": 1.5, "stream_sha256": ""})
    };
    let split = json!({"draft": 0.1, "verify": 5.0, "sync": 2.0, "rewind": 0.3, "other": 0.2});
    json!({
        "version": 1, "verdict": "identical", "classic": speed([40.0, 42.0], 41.0), "floor": 0.0488, "drift": 0.01,
        "arms": [{"arm": "w4", "width": 4, "verdict": "identical", "speed": speed([60.0, 63.0], 61.5), "ratio": 1.5,
                  "resolved": true, "acceptance": [0.8, 0.5], "split": split, "accepted_ms": 12.5}],
        "experiment": {"runs": [run("classic", None, 0), run("w4", Some(4), 45)]},
    })
}

#[test]
fn throughput_stands_with_its_brackets() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    rewrite(&data.join("bench.json"), bench().to_string().as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.contains("| w4 | 2 | 61.5 | 60.0 | 63.0 | 1.50 | yes | 75.0 % | identical |"), "{page}");
    assert!(page.contains("the resolution floor, is 4.9 %"), "{page}");
    let picture = read(&out, "speed.svg");
    assert!(picture.contains("floor 4.9 %: width 4 1.50 times, 75 % accepted."), "{picture}");
}

#[test]
fn a_sweep_is_read_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let definition = json!({"lengths": [8, 16], "widths": [2, 4], "seeds": [1], "walk": 4, "prefill_chunk": 512, "routes": "",
        "plants": [], "program": "0.1.0", "model": {"name": "demo"}, "host": {}, "backend": {}});
    let equal = json!({"equal": {"inputs": 1, "rows": 4, "bytes": 64, "first": 8, "last": 11}});
    let differs = json!({"differs": {"position": 9, "row": 1, "bytes": 3, "rows": 2}});
    let cell = |length: u32, second: &Value| {
        json!({"cell": {"length": length, "seed": 1}, "seconds": 1.0, "end": {"measured":
            [{"width": 2, "outcome": equal}, {"width": 4, "outcome": second}]}})
    };
    let header = json!({"format": "exactness-sweep", "version": 1, "definition": definition});
    rewrite(
        &data.join("journal.jsonl"),
        format!("{header}\n{}\n{}\n", cell(8, &equal), cell(16, &differs)).as_bytes(),
    );
    let ran = report(&data, &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: differs\n"), "{page}");
    assert!(page.contains("Width 4 differs in 1 of 2 measured cells, at length 16"), "{page}");
    assert!(read(&out, "sweep.svg").contains("3 comparisons equal, 1 different, 0 not made."));
}

#[test]
fn a_stored_comparison_says_what_its_transcripts_say() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let of = |name: &str| repository("reports/gpu-first-contact/data/demo").join(name);
    let (arm, classic) = (of("w8.jsonl"), of("classic.jsonl"));
    let words =
        ["compare".into(), arm.clone(), "--against".into(), classic, "--format".into(), "json".into()];
    let compared = exactness(&words);
    assert_eq!(compared.code, 1, "{}", compared.err);
    rewrite(&data.join("compare.json"), compared.out.as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    assert!(page.starts_with("# record: undecided\n"), "{page}");
    assert!(page.contains("As stored in ../data/compare.json:"), "{page}");
    // Where the runs lay is no part of a record that does not have them.
    let parts = "| w8 | ../data/compare.json: w8.jsonl | 3 | 15 | 64 | 15 | 11 | 1 | 128 | 13 | 11 | 15 of 16 | 1 of 16 |";
    assert!(page.contains(parts) && !page.contains(arm.to_str().unwrap()), "{page}");
    assert!(page.contains("rows: no arm and its reference"), "no row is known without the transcripts");
}

/// What `compare` found, stored where a record can be made of it.
fn compared(data: &Path, name: &str, files: [&[&Path]; 2]) -> Value {
    let [arms, references] = files.map(|side| side.iter().map(|path| path.as_os_str().to_owned()));
    let start = ["compare", "--format", "json"].map(Into::into).into_iter();
    let words: Vec<std::ffi::OsString> =
        start.chain(arms).chain(["--against".into()]).chain(references).collect();
    let ran = exactness(&words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    rewrite(&data.join(name), ran.out.as_bytes());
    serde_json::from_str(&ran.out).unwrap()
}

/// A null arm is no compared sequence, on whichever side it was given and whichever program stored it.
#[test]
fn a_null_arm_counts_as_no_sequence_stored_or_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, data) = (folder.path().join("runs"), folder.path().join("data"));
    let repeat = json!({"repeat": 1});
    let classic = Run { stream: stream(40), ..Run::default() }.write(&runs, "classic.jsonl");
    let null =
        Run { stream: stream(40), header: repeat, ..Run::default() }.write(&runs, "classic.repeat1.jsonl");
    let arm = Run { arm: "w4", stream: stream(40), width: 4, ..Run::default() }.write(&runs, "w4.jsonl");
    let mut old = compared(&data, "as-arm.json", [&[&null, &arm], &[&classic]]);
    assert_eq!(old, compared(&data, "as-reference.json", [&[&arm], &[&classic, &null]]));
    // As programs stored it that held the repeat against its run like an arm.
    let arms = old["arms"].as_array_mut().unwrap();
    let pairing = arms[0]["sequences"][0]["against"].clone();
    assert!(pairing.is_object() && arms[2]["file"].as_str().unwrap().ends_with("repeat1.jsonl"), "{arms:?}");
    arms[2]["sequences"][0]["against"] = pairing;
    rewrite(&data.join("old.json"), old.to_string().as_bytes());
    copy(&runs, &data.join("runs"));
    let out = folder.path().join("record");
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    let told = "identical (3 runs; 1 sequence, 40 tokens and 0 rows compared with plain decoding";
    assert_eq!(page.matches(told).count(), 4, "{page}");
    assert_eq!(page.matches("| null arm: identical | – | 40 |").count(), 4, "{page}");
    assert_eq!(page.matches("| reference | – | 40 |").count(), 4, "{page}");
    assert!(page.contains("None of 4 compared sequences parts"), "{page}");
}

/// A repeat alone is compared like any run: it is what was asked for.
#[test]
fn a_repeat_alone_is_compared_with_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let repeat = json!({"repeat": 1});
    let classic = Run { stream: stream(40), ..Run::default() }.write(folder.path(), "classic.jsonl");
    let null =
        Run { stream: stream(40), header: repeat, ..Run::default() }.write(folder.path(), "again.jsonl");
    let found = compared(folder.path(), "c.json", [&[&null], &[&classic]]);
    assert_eq!(found["arms"][0]["sequences"][0]["against"]["equal"], 40);
    assert_eq!(found["verdict"], "identical");
}

/// How a measurement stands to its prediction follows from both, whatever an older program called it.
#[test]
fn the_word_beside_a_prediction_is_derived_from_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let stored = repository("reports/gpu-op-parity-full/data/0.8b-f16-16.json");
    let parity: Value = serde_json::from_slice(&fs::read(&stored).unwrap()).unwrap();
    let lines = parity["lines"].as_array().unwrap();
    let old: Vec<&Value> = lines.iter().filter(|line| line["agreement"] == "surprise").collect();
    assert!(!old.is_empty(), "the file is of a program without the word later");
    let first = |line: &Value| {
        let worst = line["found"]["worst"].as_object().unwrap();
        let parts = worst.iter().filter(|(_, one)| one["differing_bytes"].as_u64().unwrap() > 0);
        parts.map(|(rows, _)| rows.parse::<u64>().unwrap()).min()
    };
    let later = |line: &&&Value| {
        line["predicted"]["from"].as_u64().is_some_and(|from| first(line).is_none_or(|at| from < at))
    };
    let expected = old.iter().filter(later).count();
    assert_eq!(report(&stored, folder.path()).code, 0);
    let page = read(folder.path(), "report.md");
    let count = |word: &str| page.matches(&format!(" | {word} |\n")).count();
    assert_eq!((count("later"), count("surprise")), (expected, old.len() - expected), "{page}");
    assert!(expected > 0);
}
