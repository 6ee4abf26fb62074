//! Sweeps whose outcomes are made up, a function of the cell alone.

use exactness::results::sweep::tables;
use exactness::results::sweep::{
    Cell, Definition, End, Entry, Header, Journal, Outcome, Shard, WidthOutcome,
};
use exactness::transcript::format::{Backend, Host, Model};

pub(super) fn definition(lengths: &[usize], widths: &[usize], seeds: &[u64]) -> Definition {
    Definition {
        lengths: lengths.to_vec(),
        widths: widths.to_vec(),
        seeds: seeds.to_vec(),
        walk: 16,
        prefill_chunk: 512,
        routes: String::new(),
        plants: Vec::new(),
        program: "0.1.0".to_owned(),
        model: Model { name: Some("made-up".to_owned()), dtype: Some("f32".to_owned()), ..Model::default() },
        host: Host::default(),
        backend: Backend {
            name: Some("mlx-cpu".to_owned()),
            version: Some("0.32.4".to_owned()),
            device: Some("cpu".to_owned()),
            ..Backend::default()
        },
    }
}

pub(super) fn equal(cell: Cell) -> Outcome {
    let (first, last) = (cell.length as u64, cell.length as u64 + 15);
    Outcome::Equal { inputs: 1, rows: 16, bytes: 1600, first, last }
}

pub(super) fn differs(position: u64) -> Outcome {
    Outcome::Differs { position, row: Some(1), bytes: 7, state: None, rows: 5 }
}

/// Some of everything, crashes included.
pub(super) fn end(definition: &Definition, cell: Cell) -> End {
    let number = cell.length as u64 * 7 + cell.seed * 3;
    if number.is_multiple_of(5) {
        return End::Crashed(format!("signal {}", number % 11));
    }
    let outcome = |width: usize| match (number + width as u64) % 4 {
        0 => Outcome::NotRun { reason: "a \"reason\", with\na comma".to_owned() },
        1 => differs(cell.length as u64 + 3),
        _ => equal(cell),
    };
    End::Measured(
        definition.widths.iter().map(|&width| WidthOutcome { width, outcome: outcome(width) }).collect(),
    )
}

/// A journal in which `end` says how each cell ended, or that it is missing.
pub(super) fn journal(
    definition: &Definition,
    shard: Option<Shard>,
    end: impl Fn(Cell) -> Option<End>,
) -> Journal {
    let mut journal = Journal::new(Header::new(definition.clone(), shard));
    for cell in journal.cells() {
        if let Some(end) = end(cell) {
            journal.add(Entry { cell, seconds: 0.25, end }).unwrap();
        }
    }
    journal
}

pub(super) fn csv(journal: &Journal) -> String {
    tables::outcomes(journal).csv().unwrap()
}
