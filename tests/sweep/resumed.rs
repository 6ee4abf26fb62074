//! Running: stopped anywhere and gone on with, crashes, and processes that end in every way.

use super::fake::{definition, end};
use exactness::results::sweep::{Cell, Definition, End, Header, Outcome, Shard};
use exactness::sweep::{Cells, Children, Store, SweepError, run};
use proptest::prelude::*;
use std::path::Path;

/// Outcomes as the fake says, counted.
struct Counted<'a> {
    definition: &'a Definition,
    ran: Vec<Cell>,
    /// Cells that crash whatever the fake says.
    crashes: Vec<Cell>,
}

impl Cells for Counted<'_> {
    fn run(&mut self, cell: Cell) -> Result<End, SweepError> {
        self.ran.push(cell);
        let crashes = self.crashes.contains(&cell);
        Ok(if crashes { End::Crashed("signal 6".to_owned()) } else { end(self.definition, cell) })
    }
}

/// Goes on with the sweep in `folder`; gives the cells that ran and the CSV.
fn go_on(folder: &Path, definition: &Definition, retry: bool, crashes: &[Cell]) -> (Vec<Cell>, String) {
    let mut store = Store::open(folder, Header::new(definition.clone(), None)).unwrap();
    let mut cells = Counted { definition, ran: Vec::new(), crashes: crashes.to_vec() };
    let mut told = Vec::new();
    run(&mut store, &mut cells, retry, &mut |step| told.push((step.entry.cell, step.done))).unwrap();
    assert_eq!(told.iter().map(|one| one.0).collect::<Vec<_>>(), cells.ran);
    assert!(told.last().is_none_or(|last| last.1 == definition.cells(None).len()));
    let [csv, times] = store.write_tables().unwrap();
    assert!(times.exists());
    (cells.ran, std::fs::read_to_string(csv).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn killed_anywhere_and_resumed_gives_the_same_bytes(
        lengths in prop::collection::btree_set(1_usize..40, 1..4),
        seeds in prop::collection::btree_set(0_u64..9, 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let lists = (lengths.into_iter().collect::<Vec<_>>(), seeds.into_iter().collect::<Vec<_>>());
        let definition = definition(&lists.0, &[2, 3], &lists.1);
        let folder = tempfile::tempdir().unwrap();
        let (ran, uncut) = go_on(folder.path(), &definition, false, &[]);
        prop_assert_eq!(&ran, &definition.cells(None));

        let path = folder.path().join("journal.jsonl");
        let bytes = std::fs::read(&path).unwrap();
        let kept = cut.index(bytes.len() + 1);
        std::fs::write(&path, &bytes[..kept]).unwrap();
        let finished = String::from_utf8_lossy(&bytes[..kept]).matches('\n').count().saturating_sub(1);
        let (again, resumed) = go_on(folder.path(), &definition, false, &[]);
        prop_assert_eq!(&again[..], &ran[finished..], "no finished cell is run again");
        prop_assert_eq!(resumed, uncut);
        let (nothing, _) = go_on(folder.path(), &definition, false, &[]);
        prop_assert!(nothing.is_empty());
    }
}

#[test]
fn another_definition_or_shard_is_refused_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let one = definition(&[4, 8], &[2], &[1]);
    go_on(folder.path(), &one, false, &[]);
    let path = folder.path().join("journal.jsonl");
    let torn = std::fs::read_to_string(&path).unwrap() + "{\"cell";
    std::fs::write(&path, &torn).unwrap();
    let other = Definition { walk: 128, ..one.clone() };
    let refusals = [
        (
            Header::new(other, None),
            "it holds another sweep: walk is 16 there and 128 here; choose another --out",
        ),
        (Header::new(one, Some(Shard { index: 1, count: 2 })), "shard is whole there and 1/2 here"),
    ];
    for (header, expected) in refusals {
        let says = Store::open(folder.path(), header).unwrap_err().to_string();
        assert!(says.contains(expected) && !says.contains('\n'), "{says}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), torn);
}

#[test]
fn a_crash_leaves_one_cell_and_retry_runs_it_again() {
    let folder = tempfile::tempdir().unwrap();
    // None of these crashes by the fake's own rule.
    let definition = definition(&[4, 8, 9], &[2, 3], &[1]);
    let crashed = Cell { length: 8, seed: 1 };
    let (ran, csv) = go_on(folder.path(), &definition, false, &[crashed]);
    assert_eq!(ran.len(), 3, "the sweep goes on");
    let lines: Vec<&str> = csv.lines().filter(|line| line.contains("crashed")).collect();
    assert_eq!(lines, ["8,1,2,crashed,,,,,,,,,,signal 6", "8,1,3,crashed,,,,,,,,,,signal 6"]);
    assert_eq!(go_on(folder.path(), &definition, false, &[]).0, []);
    let (again, csv) = go_on(folder.path(), &definition, true, &[]);
    assert_eq!(again, [crashed]);
    let fresh = tempfile::tempdir().unwrap();
    assert_eq!(csv, go_on(fresh.path(), &definition, false, &[]).1);
    assert!(!csv.contains("crashed"));
}

/// A process that runs `script`; `$1` to `$4` are `--length L --seed S`.
fn process(script: &str) -> Result<End, SweepError> {
    let arguments = ["-c", script, "cell"].map(Into::into).to_vec();
    Children { program: "sh".into(), arguments }.run(Cell { length: 4, seed: 9 })
}

#[test]
fn every_end_of_a_process_is_told_apart() {
    let answer = r#"[{"width":2,"outcome":{"not_run":{"reason":"'"$*"'"}}}]"#;
    let End::Measured(outcomes) = process(&format!("echo '{answer}'")).unwrap() else { panic!("no answer") };
    assert_eq!(outcomes[0].outcome, Outcome::NotRun { reason: "--length 4 --seed 9".to_owned() });
    let crashes = [
        ("kill -ABRT $$", "signal 6"),
        ("kill -SEGV $$", "signal 11"),
        ("exit 70", "exit code 70"),
        ("exit 134", "exit code 134"),
        ("echo '[{'", "no outcomes printed"),
        ("true", "no outcomes printed"),
    ];
    for (script, how) in crashes {
        assert_eq!(process(script).unwrap(), End::Crashed(how.to_owned()), "{script}");
    }
    for code in [2, 4, 5] {
        let stopped = process(&format!("exit {code}")).unwrap_err();
        assert!(
            matches!(stopped, SweepError::Refused { code: told, .. } if i32::from(told) == code),
            "{stopped}"
        );
    }
    assert!(matches!(process("kill -TERM $$").unwrap_err(), SweepError::Interrupted { signal: 15, .. }));
    let missing = Children { program: "no-such-program".into(), arguments: Vec::new() }
        .run(Cell { length: 1, seed: 1 });
    assert!(matches!(missing.unwrap_err(), SweepError::Start { .. }));
}
