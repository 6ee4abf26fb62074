//! The fourth level: which kernels the named operation is computed by on each side, from the dispatch table.
//!
//! A prediction is marked as one. Names that were measured while it ran take the same place.

use super::op;
use super::side::Stage;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::tap::Site;
use crate::probe::dispatch::{Machine, shown};
use crate::probe::parity::{Asked, predicted};
use crate::results::bisect::{Kernels, Operation, Predicted};
use crate::results::parity;

/// What the machine's table says of the operation at `site` for a call over as many rows as the block made.
#[must_use]
pub(super) fn kernel(
    stage: &Stage<'_>,
    (machine, checkpoint): (Machine, &Checkpoint),
    (site, operation): (Site, &Operation),
) -> Predicted {
    let first = operation.inputs.first();
    let channels = first.and_then(|input| input.block.0.last().copied());
    let asked = Asked { site, inputs: channels, shape: &operation.output.block.0 };
    let route = op::routes(stage, site).1;
    let position = usize::try_from(operation.position).unwrap_or(usize::MAX);
    let before = position.saturating_sub(usize::try_from(operation.row).unwrap_or(0));
    let said = predicted(machine, (checkpoint, stage.block.dtype()), &asked, (route, before));
    let rows = operation.calls.1.iter().max().copied().unwrap_or(0);
    answer(said, rows)
}

/// Whether what ran is what was predicted; nothing where the table says nothing or its words name no kernel.
#[must_use]
pub(super) fn as_predicted(said: &Predicted, kernels: &Kernels) -> Option<bool> {
    let sides = [(&said.chain, &kernels.chain), (&said.block, &kernels.block)];
    let answers = sides.map(|(word, launches)| {
        let names = launches.iter().map(|launch| launch.name.as_str());
        shown(word.as_deref()?, &names.collect::<Vec<_>>())
    });
    Some(answers[0]? && answers[1]?)
}

fn answer(said: parity::Predicted, rows: u64) -> Predicted {
    match said {
        parity::Predicted::Unknown => Predicted { chain: None, block: None, changes: None, source: None },
        parity::Predicted::Equal { kernel, source } => Predicted {
            chain: Some(kernel.clone()),
            block: Some(kernel),
            changes: Some(false),
            source: Some(source),
        },
        parity::Predicted::Change { from, one, many, source } => {
            let changes = rows >= u64::from(from);
            let block = if changes { many } else { one.clone() };
            Predicted { chain: Some(one), block: Some(block), changes: Some(changes), source: Some(source) }
        }
    }
}
