//! Stored results with numbers, words and ends that no program of ours writes: refused or shown, never a crash.

use super::{copy, repository};
use crate::kit::rewrite;
use exactness::records::{RecordError, Settings, make};
use std::fs;
use std::path::Path;

/// Values that stand in for a number.
const ODD: [&str; 8] = [
    "18446744073709551615",
    "9223372036854775807",
    "-1",
    "4294967295",
    "0",
    "1e308",
    "null",
    "\"\\u0000<b>\"",
];

/// A small generator of its own: the same damage on every machine.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Puts an odd value in the place of one number, or cuts the text.
fn damaged(text: &str, draws: &mut Draws) -> String {
    if draws.below(12) == 0 {
        return text[..draws.below(text.len())].to_owned();
    }
    let digits = |at: &usize| text.as_bytes()[*at].is_ascii_digit();
    let starts: Vec<usize> = (1..text.len()).filter(|at| digits(at) && !digits(&(at - 1))).collect();
    let start = starts[draws.below(starts.len())];
    let end = start + text[start..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(0);
    format!("{}{}{}", &text[..start], ODD[draws.below(ODD.len())], &text[end..])
}

#[test]
fn damaged_results_are_refused_or_shown() {
    let sources = [
        ("reports/gpu-first-contact/data/demo", "w8.jsonl"),
        ("reports/demo-cpu/data/sweep", "journal.jsonl"),
        ("reports/demo-cpu/data", "op-parity.json"),
        ("reports/demo-cpu/data", "probe.json"),
        ("reports/demo-cpu/data/remedy-chunked", "remedy.json"),
        ("reports/planted-cpu/data/bisect", "bisect.json"),
    ];
    let (mut shown, mut refused) = (0, 0);
    for (place, name) in sources {
        let (folder, mut draws) = (tempfile::tempdir().unwrap(), Draws(7));
        let data = folder.path().join("data");
        copy(&repository(place), &data);
        let text = fs::read_to_string(data.join(name)).unwrap();
        assert!(
            text.is_ascii() || name == "op-parity.json" || name == "w8.jsonl",
            "cutting may split a letter"
        );
        for _ in 0..if text.len() > 100_000 { 12 } else { 40 } {
            rewrite(&data.join(name), damaged(&text, &mut draws).as_bytes());
            let settings =
                Settings { title: "x".to_owned(), inputs: vec!["data".to_owned()], ..Settings::default() };
            match make(&settings, folder.path()) {
                Ok(made) => shown += usize::from(!made.verdict.is_empty()),
                Err(error) => {
                    assert!(
                        !matches!(error, RecordError::Form(_) | RecordError::Template(_)),
                        "{name}: {error}"
                    );
                    assert_eq!(error.to_string().lines().count(), 1, "{name}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(shown > 20 && refused > 20, "{shown} shown, {refused} refused");
}

#[test]
fn a_sweep_that_asks_for_more_cells_than_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let journal = fs::read_to_string(repository("reports/demo-cpu/data/sweep/journal.jsonl")).unwrap();
    let many: Vec<String> = (1..20_000).map(|length: u32| length.to_string()).collect();
    let header = journal.lines().next().unwrap();
    let list = |key: &str| format!("\"{key}\":[{}]", many.join(","));
    let (lengths, seeds) = (list("lengths"), list("seeds"));
    let asked = header.replacen("\"lengths\":[8,32]", &lengths, 1).replacen("\"seeds\":[1,2]", &seeds, 1);
    assert!(asked.len() > header.len() + 100_000, "{header}");
    rewrite(&folder.path().join("data/journal.jsonl"), format!("{asked}\n").as_bytes());
    let settings = Settings { inputs: vec!["data".to_owned()], ..Settings::default() };
    let refused = make(&settings, Path::new(folder.path())).unwrap_err().to_string();
    assert!(refused.contains("more than 1000000"), "{refused}");
}
