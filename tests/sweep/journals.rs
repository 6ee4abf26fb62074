//! Journals: read back, cut, of other programs, and put together.

use super::fake::{csv, definition, differs, end, equal, journal};
use exactness::results::Word;
use exactness::results::sweep::journal::line;
use exactness::results::sweep::merge::MergeError;
use exactness::results::sweep::{
    Cell, Definition, End, Entry, Journal, JournalError, Outcome, Reading, Shard,
};
use exactness::results::sweep::{WidthOutcome, merge};
use proptest::prelude::*;

fn sample() -> Definition {
    definition(&[4, 8, 32], &[2, 4, 7], &[1, 2])
}

fn named(journals: Vec<Journal>) -> Vec<(String, Journal)> {
    journals.into_iter().enumerate().map(|(index, journal)| (format!("shard{index}"), journal)).collect()
}

#[test]
fn what_is_written_is_read_back() {
    let definition = sample();
    let whole = journal(&definition, None, |cell| Some(end(&definition, cell)));
    let text = whole.text().unwrap();
    assert_eq!(text.lines().count(), 1 + 6);
    assert_eq!(Journal::parse(text.as_bytes()).unwrap(), Some((whole, text.len() as u64)));
}

#[test]
fn a_cut_journal_is_one_of_an_earlier_moment() {
    let definition = sample();
    let text = journal(&definition, None, |cell| Some(end(&definition, cell))).text().unwrap();
    let header = text.lines().next().unwrap().len() + 1;
    for cut in 0..=text.len() {
        let read = Journal::parse(&text.as_bytes()[..cut]).unwrap();
        let whole = text[..cut].rfind('\n').map_or(0, |last| last + 1);
        assert_eq!(read.is_some(), cut >= header, "cut at {cut}");
        if let Some((journal, length)) = read {
            assert_eq!(length, whole as u64);
            assert_eq!(journal.entries().count() + 1, text[..cut].matches('\n').count());
        }
    }
}

#[test]
fn other_files_are_refused() {
    let text = journal(&sample(), None, |_| None).text().unwrap();
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    assert_eq!(Journal::parse(newer.as_bytes()), Err(JournalError::Newer(2)));
    for foreign in ["x", "{}\n", "\n", "{\"format\":\"other\"}\n", "{\"formaT"] {
        assert_eq!(Journal::parse(foreign.as_bytes()), Err(JournalError::Foreign), "{foreign}");
    }
    let broken = format!("{text}{{\"cell\":\n");
    let says = Journal::parse(broken.as_bytes()).unwrap_err().to_string();
    assert_eq!(says, "line 2: EOF while parsing a value", "one line number, the file's");
    let broken = format!("{text}{{\"cell\":x}}\n");
    let says = Journal::parse(broken.as_bytes()).unwrap_err().to_string();
    assert_eq!(says, "line 2: expected value at column 9");
    let entry = |length, width| Entry {
        cell: Cell { length, seed: 1 },
        seconds: 0.0,
        end: End::Measured(vec![WidthOutcome { width, outcome: differs(9) }]),
    };
    for (wrong, why) in [(entry(5, 2), "is no cell of this sweep"), (entry(4, 2), "the sweep's widths")] {
        let says =
            Journal::parse(format!("{text}{}", line(&wrong).unwrap()).as_bytes()).unwrap_err().to_string();
        assert!(says.contains(why), "{says}");
    }
}

#[test]
fn one_cell_has_one_outcome() {
    let definition = definition(&[4], &[2], &[1]);
    let cell = Cell { length: 4, seed: 1 };
    let measured = |outcome| End::Measured(vec![WidthOutcome { width: 2, outcome }]);
    let entry = |end, seconds| Entry { cell, seconds, end };
    let mut one = journal(&definition, None, |_| Some(End::Crashed("signal 6".to_owned())));
    assert!(one.open(false).is_empty() && one.open(true) == [cell]);
    one.add(entry(measured(equal(cell)), 1.0)).unwrap();
    one.add(entry(measured(equal(cell)), 2.0)).unwrap();
    one.add(entry(End::Crashed("signal 9".to_owned()), 1.0)).unwrap();
    assert_eq!(one.entry(cell).unwrap().end, measured(equal(cell)), "a crash does not undo a measurement");
    assert!(one.open(true).is_empty());
    let says = one.add(entry(measured(differs(4)), 1.0)).unwrap_err();
    assert_eq!(says, "length 4 seed 1 is there twice with different outcomes");
}

#[test]
fn shards_of_other_sweeps_are_refused() {
    let (one, mut two) = (sample(), sample());
    two.backend.version = Some("0.32.2".to_owned());
    let journals = named(vec![journal(&one, None, |_| None), journal(&two, None, |_| None)]);
    let says = merge(&journals).unwrap_err().to_string();
    assert_eq!(says, "merge shard1 with shard0: backend.version is \"0.32.4\" there and \"0.32.2\" here");
    assert_eq!(merge(&[]), Err(MergeError::None));
}

#[test]
fn doubled_cells_have_to_agree() {
    let definition = definition(&[4], &[2], &[1]);
    let all = |outcome: Outcome| {
        journal(&definition, None, |_| {
            Some(End::Measured(vec![WidthOutcome { width: 2, outcome: outcome.clone() }]))
        })
    };
    let same = equal(Cell { length: 4, seed: 1 });
    assert!(merge(&named(vec![all(same.clone()), all(same.clone())])).is_ok());
    let says = merge(&named(vec![all(same), all(differs(5))])).unwrap_err().to_string();
    assert_eq!(says, "merge shard1: length 4 seed 1 is there twice with different outcomes");
}

proptest! {
    #[test]
    fn merged_shards_are_the_whole_sweep(
        lengths in prop::collection::btree_set(1_usize..40, 1..5),
        seeds in prop::collection::btree_set(0_u64..9, 1..4),
        count in 1_usize..9,
        lost in any::<prop::sample::Index>(),
    ) {
        let lists = (lengths.into_iter().collect::<Vec<_>>(), seeds.into_iter().collect::<Vec<_>>());
        let definition = definition(&lists.0, &[2, 3, 8], &lists.1);
        let ended = |cell| Some(end(&definition, cell));
        let whole = journal(&definition, None, ended);
        let shard = |index| journal(&definition, Some(Shard { index, count }), ended);
        let mut shards: Vec<Journal> = (1..=count).map(shard).collect();
        let merged = merge(&named(shards.clone())).unwrap();
        prop_assert_eq!(csv(&merged), csv(&whole));
        prop_assert_eq!(merged.text().unwrap(), whole.text().unwrap());
        prop_assert_eq!(Reading::new(&merged).says, Reading::new(&whole).says);

        let without = shards.remove(lost.index(count));
        if count > 1 && without.entries().next().is_some() {
            let merged = merge(&named(shards)).unwrap();
            prop_assert_eq!(merged.open(false), without.cells());
            let reading = Reading::new(&merged);
            prop_assert_eq!((reading.verdict, reading.verdict.exit_code()), (Word::NotRun, 3));
            let first = without.cells()[0].to_string();
            prop_assert!(reading.says.iter().any(|says| says.starts_with("Missing: ") && says.contains(&first)));
        }
    }
}
