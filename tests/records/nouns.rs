//! Numbers and the words behind them agree: `1 row`, `2 rows`.

use super::{read, report, repository};
use crate::kit::{Run, exactness, rewrite, stream};
use std::fs;

/// Nouns that stand behind counts in a record, in the plural.
const PLURALS: [&str; 30] = [
    "answers",
    "bytes",
    "calls",
    "cells",
    "comparisons",
    "files",
    "ids",
    "inputs",
    "laws",
    "layers",
    "lines",
    "numbers",
    "operations",
    "parts",
    "passes",
    "positions",
    "probes",
    "prompts",
    "proposals",
    "rewinds",
    "rounds",
    "rows",
    "runs",
    "seeds",
    "sequences",
    "settings",
    "states",
    "tokens",
    "transcripts",
    "widths",
];

/// Places where `1` stands before a plural.
fn disagreeing(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split([' ', '\n']).collect();
    let letters = |word: &str| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned();
    let one = |word: &str| word.trim_start_matches(['(', '>']) == "1";
    // `1 kept rows` is wrong as well.
    let wrong = |three: &&[&str]| {
        let adjective =
            !["of", "and", "is", "are"].contains(&three[1]) && three[1].chars().all(char::is_lowercase);
        one(three[0])
            && (PLURALS.contains(&&*letters(three[1])) || adjective && PLURALS.contains(&&*letters(three[2])))
    };
    words.windows(3).filter(wrong).map(|three| three.join(" ")).collect()
}

#[test]
fn the_search_finds_what_it_is_for() {
    let text = "all 1 ids equal, 1 widths timed; (1 rows, and 1 kept rows";
    assert_eq!(disagreeing(text).len(), 4, "{:?}", disagreeing(text));
    assert_eq!(disagreeing("1 row, 21 rows, 1 of 2 rows, 1 | 2 rows differ"), [""; 0]);
}

#[test]
fn a_record_of_one_of_each_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let row = |index: usize| vec![f32::from(u8::try_from(index).unwrap()), 1.0];
    for (arm, width) in [("classic", 1), ("w2", 2)] {
        Run { arm, width, stream: stream(2), row: Some(&row), ..Run::default() }
            .write(&data, &format!("{arm}.jsonl"));
    }
    let sources = [
        "reports/demo-cpu/data/remedy-chunked/remedy.json",
        "reports/demo-cpu/data/probe.json",
        "reports/planted-cpu/data/bisect/bisect.json",
    ];
    for source in sources {
        rewrite(&data.join(source.rsplit('/').next().unwrap()), &fs::read(repository(source)).unwrap());
    }
    assert_eq!(report(&data, &out).code, 0);
    for name in ["report.md", "report.html"] {
        let page = read(&out, name);
        assert!(page.contains("1 round judged"), "{page}");
        assert_eq!(disagreeing(&page), [""; 0], "{name}");
    }
    let one = exactness([
        "report".as_ref(),
        data.join("classic.jsonl").as_os_str(),
        "--out".as_ref(),
        folder.path().join("one").as_os_str(),
    ]);
    assert!(one.out.contains("made of 1 file, written to"), "{}{}", one.out, one.err);
}

#[test]
fn the_committed_records_agree() {
    let mut read = 0;
    for folder in fs::read_dir(repository("reports")).unwrap() {
        let page = folder.unwrap().path().join("report.md");
        if let Ok(text) = fs::read_to_string(&page) {
            assert_eq!(disagreeing(&text), [""; 0], "{}", page.display());
            read += 1;
        }
    }
    assert!(read > 5, "{read}");
}
