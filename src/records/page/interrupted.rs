//! A remedy that was stopped: what its trail has proven so far, what is missing and how to go on; or that the trail
//! cannot be read.

use super::document::Block;
use crate::records::gather::Gathered;
use crate::records::interrupted::{Interrupted, Tried};
use crate::records::unreadable::Unreadable;
use crate::results::remedy::or_defaults;
use crate::results::{agreed, counted, part_of, quoted};

/// The blocks of all of them.
#[must_use]
pub fn blocks(all: &Gathered) -> Vec<Block> {
    all.interrupted.iter().flat_map(one).chain(all.unreadable.iter().flat_map(unreadable)).collect()
}

/// A search of which nothing can be told.
fn unreadable(lost: &Unreadable) -> Vec<Block> {
    let Unreadable { file, why, runs } = lost;
    let items = vec![
        format!("{file} has no remedy.json beside it and cannot be read: {why}."),
        format!("What was proven is not known. {}", aside(*runs)),
        "To go on: the same command line with another --out; with this one it is refused.".to_owned(),
    ];
    vec![
        Block::Heading { text: format!("A remedy whose trail cannot be read ({file})") },
        Block::List { items },
    ]
}

/// What a search left beside its trail.
fn aside(runs: usize) -> String {
    if runs == 0 {
        return "No transcript of its runs and timings is beside it.".to_owned();
    }
    format!(
        "{} of its runs and timings {} not judged here: {}, and the last may be cut.",
        counted(runs, "transcript"),
        agreed(runs, "is", "are"),
        agreed(runs, "it is not one of the compared arms", "they are not among the compared arms")
    )
}

/// What is missing of a width that has a proven setting.
fn untimed((width, runs): (u32, usize)) -> String {
    let missing =
        "its speed, the choice and remedy.json are missing; going on asks for nothing that is proven";
    match runs {
        0 => format!("Width {width}: a setting is proven and no timing was begun: {missing}."),
        runs => format!(
            "Width {width}: a setting is proven, and the timing of the proven ones was begun and cut ({} of it, no answer): \
             {missing}.",
            counted(runs, "transcript")
        ),
    }
}

fn one(stopped: &Interrupted) -> Vec<Block> {
    let Interrupted { file, trail, runs, .. } = stopped;
    let mut items = vec![
        if stopped.told.is_empty() {
            format!("It was interrupted: {file} has no remedy.json beside it, so that nothing was chosen.")
        } else {
            format!(
                "It was interrupted: no result beside {file} has what follows, so that nothing was chosen."
            )
        },
        format!("Asked: {}; {}.", trail.key().model, trail.key().question),
    ];
    items.extend(stopped.tried().iter().map(tried));
    let timed = stopped.timed_text();
    items.extend((!timed.is_empty()).then(|| format!("Timed: the proven settings of width {timed}.")));
    items.extend(stopped.untimed().into_iter().map(untimed));
    items.push(aside(*runs));
    let folder = crate::records::input::folder_of(file);
    items.push(if stopped.command.is_empty() {
        format!("To go on: the same command line with the same --out, which is {folder} here.")
    } else {
        format!("To go on, with --out leading to {folder}: {}", quoted(&stopped.command))
    });
    vec![Block::Heading { text: format!("An interrupted remedy ({file})") }, Block::List { items }]
}

/// What is known of one setting.
fn tried(one: &Tried) -> String {
    let (width, routes) = (&one.width, or_defaults(&one.routes));
    let probe = one.probed.as_ref().map_or("not probed", |probed| probed.outcome.word());
    let run = one.run.as_ref().map_or_else(
        || "not run".to_owned(),
        |run| {
            let states = run.states.map(|(differ, all)| format!(" and {}", part_of(differ, all, "state")));
            let rows = part_of(run.rows.0, run.rows.1, "row");
            format!("{}, {rows}{} with other bytes", run.verdict, states.unwrap_or_default())
        },
    );
    let proven = if one.proven() { "proven" } else { "not proven" };
    format!("Width {width} under {routes}: {proven} (probe: {probe}; run: {run}).")
}
