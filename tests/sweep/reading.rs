//! What the reading says, for sweeps that are known.

use super::fake::{csv, definition, differs, equal, journal};
use exactness::results::Word;
use exactness::results::sweep::{Cell, End, Journal, Outcome, Reading, WidthOutcome};

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

fn read(journal: &Journal) -> (Word, String) {
    let reading = Reading::new(journal);
    let parts = [reading.table().terminal(None), reading.says.join("\n"), reading.verdict_line()];
    (reading.verdict, parts.join("\n\n"))
}

#[test]
fn all_widths_hold() {
    let (verdict, text) = read(&sweep(|cell, _| equal(cell)));
    assert_eq!(verdict.exit_code(), 0);
    insta::assert_snapshot!(text, @r#"
     width   equal   differs   not run   rows   first ≠   equal at positions
    ─────────────────────────────────────────────────────────────────────────
         2       4         0         0     64         –   4–19, 40–55
         4       4         0         0     64         –   4–19, 40–55
         6       4         0         0     64         –   4–19, 40–55
         8       4         0         0     64         –   4–19, 40–55

    made-up in f32, mlx-cpu 0.32.4 on cpu, the default routes: 4 cells, each walked 16 positions past its prompt.
    Widths 2, 4, 6 and 8 hold on this machine: equal in all 4 cells, at positions 4–19, 40–55; of other positions nothing is known.

    verdict: identical (16 of 16 comparisons made: 16 equal, 0 different, 256 rows compared)
    "#);
}

#[test]
fn a_boundary_in_width() {
    let found = |cell: Cell, width| if width >= 6 && cell.length > 4 { differs(44) } else { equal(cell) };
    let (verdict, text) = read(&sweep(found));
    assert_eq!(verdict.exit_code(), 1);
    insta::assert_snapshot!(text, @r#"
     width   equal   differs   not run   rows   first ≠   equal at positions
    ─────────────────────────────────────────────────────────────────────────
         2       4         0         0     64         –   4–19, 40–55
         4       4         0         0     64         –   4–19, 40–55
         6       2         2         0     42        44   4–19
         8       2         2         0     42        44   4–19

    made-up in f32, mlx-cpu 0.32.4 on cpu, the default routes: 4 cells, each walked 16 positions past its prompt.
    Widths 2 and 4 hold on this machine: equal in all 4 cells, at positions 4–19, 40–55; of other positions nothing is known.
    Width 6 differs in 2 of 4 measured cells, at length 40; the first position with other bytes is 44.
    Width 8 differs in 2 of 4 measured cells, at length 40; the first position with other bytes is 44.
    The smallest width that differs is 6; no wider one of this sweep holds.
    Whether a cell differs depends on width and prompt length, not on seed.

    verdict: differs (16 of 16 comparisons made: 12 equal, 4 different, 212 rows compared)
    "#);
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
    insta::assert_snapshot!(text, @r#"
     width   equal   differs   not run   rows   first ≠   equal at positions
    ─────────────────────────────────────────────────────────────────────────
         2       4         0         0     64         –   4–19, 40–55
         4       2         2         0     34         4   –
         6       4         0         0     64         –   4–19, 40–55
         8       0         0         4      0         –   –

    made-up in f32, mlx-cpu 0.32.4 on cpu, the default routes: 4 cells, each walked 16 positions past its prompt.
    Widths 2 and 6 hold on this machine: equal in all 4 cells, at positions 4–19, 40–55; of other positions nothing is known.
    Width 4 differs in 2 of 4 measured cells, at lengths 4 (1 of 2 seeds), 40 (1 of 2 seeds); the first position with other bytes is 4.
    The smallest width that differs is 4, but wider blocks hold: 6. There is no one boundary.
    Whether a cell differs depends on width and seed, not on prompt length.
    Not run: width 8 at length 4 seed 1 (failed to compute: no memory), width 8 at length 4 seed 2 (failed to compute: no memory), width 8 at length 40 seed 1 (failed to compute: no memory), width 8 at length 40 seed 2 (failed to compute: no memory).

    verdict: not run (12 of 16 comparisons made: 10 equal, 2 different, 162 rows compared)
    "#);
    insta::assert_snapshot!(csv(&journal), @r#"
    length,seed,width,verdict,inputs,rows,bytes,first_position,last_position,differing_position,differing_row,differing_bytes,differing_state,reason
    4,1,2,equal,1,16,1600,4,19,,,,,
    4,1,4,equal,1,16,1600,4,19,,,,,
    4,1,6,equal,1,16,1600,4,19,,,,,
    4,1,8,not run,,,,,,,,,,failed to compute: no memory
    4,2,2,equal,1,16,1600,4,19,,,,,
    4,2,4,differs,,1,,,,4,,0,layer.3.keys,
    4,2,6,equal,1,16,1600,4,19,,,,,
    4,2,8,not run,,,,,,,,,,failed to compute: no memory
    40,1,2,equal,1,16,1600,40,55,,,,,
    40,1,4,equal,1,16,1600,40,55,,,,,
    40,1,6,equal,1,16,1600,40,55,,,,,
    40,1,8,not run,,,,,,,,,,failed to compute: no memory
    40,2,2,equal,1,16,1600,40,55,,,,,
    40,2,4,differs,,1,,,,40,,0,layer.3.keys,
    40,2,6,equal,1,16,1600,40,55,,,,,
    40,2,8,not run,,,,,,,,,,failed to compute: no memory
    "#);
}

#[test]
fn a_sweep_that_compared_nothing_is_not_identical() {
    let definition = definition(&[4], &[2], &[1]);
    for end in [None, Some(End::Crashed("signal 6".to_owned()))] {
        let reading = Reading::new(&journal(&definition, None, |_| end.clone()));
        assert_eq!(reading.verdict, Word::NotRun);
        assert_eq!(
            reading.verdict_line(),
            "verdict: not run (0 of 1 comparison made: 0 equal, 0 different, 0 rows compared)"
        );
    }
    assert_eq!(
        Reading::new(&journal(&super::fake::definition(&[], &[], &[]), None, |_| None)).verdict.exit_code(),
        3
    );
}
