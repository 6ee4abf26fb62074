//! What the reading says, for sweeps that are known.

use super::fake::{csv, definition, differs, equal, journal};
use exactness::results::sweep::{Cell, End, Journal, Outcome, Reading, SweepVerdict, WidthOutcome};

/// A sweep over two lengths, two seeds and four widths, in which `outcome` says what is found.
fn sweep(outcome: impl Fn(Cell, usize) -> Outcome) -> Journal {
    let definition = definition(&[4, 40], &[2, 4, 6, 8], &[1, 2]);
    journal(&definition, None, |cell| {
        let widths = definition.widths.iter();
        Some(End::Measured(
            widths.map(|&width| WidthOutcome { width, outcome: outcome(cell, width) }).collect(),
        ))
    })
}

fn read(journal: &Journal) -> (SweepVerdict, String) {
    let reading = Reading::new(journal);
    let parts = [reading.table().terminal(None), reading.says.join("\n"), reading.verdict_line()];
    (reading.verdict, parts.join("\n\n"))
}

#[test]
fn all_widths_hold() {
    let (verdict, text) = read(&sweep(|cell, _| equal(cell)));
    assert_eq!(verdict.exit_code(), 0);
    insta::assert_snapshot!(text, @"");
}

#[test]
fn a_boundary_in_width() {
    let found = |cell: Cell, width| if width >= 6 && cell.length > 4 { differs(44) } else { equal(cell) };
    let (verdict, text) = read(&sweep(found));
    assert_eq!(verdict.exit_code(), 1);
    insta::assert_snapshot!(text, @"");
}

#[test]
fn a_wider_block_that_holds_and_a_seed_that_differs() {
    let found = |cell: Cell, width| match (cell.seed, width) {
        (2, 4) => Outcome::Differs {
            position: cell.length as u64,
            row: None,
            bytes: 0,
            state: Some("layer.3.keys".to_owned()),
            rows: 1,
        },
        (_, 8) => Outcome::NotRun { reason: "failed to compute: no memory".to_owned() },
        _ => equal(cell),
    };
    let journal = sweep(found);
    let (verdict, text) = read(&journal);
    assert_eq!(verdict.exit_code(), 3);
    insta::assert_snapshot!(text, @"");
    insta::assert_snapshot!(csv(&journal), @"");
}

#[test]
fn a_sweep_that_compared_nothing_is_not_identical() {
    let definition = definition(&[4], &[2], &[1]);
    for end in [None, Some(End::Crashed("signal 6".to_owned()))] {
        let reading = Reading::new(&journal(&definition, None, |_| end.clone()));
        assert_eq!(reading.verdict, SweepVerdict::NotRun);
        assert_eq!(
            reading.verdict_line(),
            "verdict: not run (0 of 1 comparisons made: 0 equal, 0 different, 0 rows compared)"
        );
    }
    assert_eq!(
        Reading::new(&journal(&super::fake::definition(&[], &[], &[]), None, |_| None)).verdict.exit_code(),
        3
    );
}
