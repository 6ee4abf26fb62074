//! A remedy that was stopped: what its trail has proven so far, and how to go on.

use super::document::Block;
use crate::records::gather::Gathered;
use crate::records::interrupted::{Interrupted, Tried};
use crate::results::quoted;
use crate::results::remedy::or_defaults;

/// The blocks of all of them.
#[must_use]
pub fn blocks(all: &Gathered) -> Vec<Block> {
    all.interrupted.iter().flat_map(one).collect()
}

fn one(stopped: &Interrupted) -> Vec<Block> {
    let Interrupted { file, trail, runs, .. } = stopped;
    let mut items = vec![
        format!("It was interrupted: {file} has no remedy.json beside it, so that nothing was chosen."),
        format!("Asked: {}; {}.", trail.key().model, trail.key().question),
    ];
    items.extend(stopped.tried().iter().map(tried));
    let timed = stopped.timed_text();
    items.extend((!timed.is_empty()).then(|| format!("Timed: the proven settings of width {timed}.")));
    let plural = if *runs == 1 { "" } else { "s" };
    items.push(format!(
        "{runs} transcript{plural} of its runs and timings are not judged here: they are no arms, and the last may be cut."
    ));
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
            let states = run.states.map(|(differ, all)| format!(" and {differ} of {all} states"));
            let (differ, all) = run.rows;
            format!("{}, {differ} of {all} rows{} with other bytes", run.verdict, states.unwrap_or_default())
        },
    );
    let proven = if one.proven() { "proven" } else { "not proven" };
    format!("Width {width} under {routes}: {proven} (probe: {probe}; run: {run}).")
}
