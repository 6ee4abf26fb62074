//! The fourth level: which kernels the named operation is computed by on each side, from the dispatch table.
//!
//! A prediction is marked as one. Names that were measured while it ran take the same place.

use super::op;
use super::side::Stage;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::routes::Route;
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
    let (plain, verify) = op::routes(stage, site);
    // What padding does is in the rows of the calls.
    let route = if matches!(verify, Route::Padded(_)) { Route::Whole } else { verify };
    let position = usize::try_from(operation.position).unwrap_or(usize::MAX);
    let before = position.saturating_sub(usize::try_from(operation.row).unwrap_or(0));
    let said = predicted(machine, (checkpoint, stage.block.dtype()), &asked, (route, before));
    let rows = |calls: &[u64]| calls.iter().max().copied().unwrap_or(0);
    // A chain of single rows takes the table's first kernel, whatever the block's route.
    let chain = if matches!(plain, Route::Padded(_)) { rows(&operation.calls.0) } else { 0 };
    answer(said, (chain, rows(&operation.calls.1)))
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

fn answer(said: parity::Predicted, (chain, block): (u64, u64)) -> Predicted {
    match said {
        parity::Predicted::Unknown => Predicted { chain: None, block: None, changes: None, source: None },
        parity::Predicted::Equal { kernel, source } => Predicted {
            chain: Some(kernel.clone()),
            block: Some(kernel),
            changes: Some(false),
            source: Some(source),
        },
        parity::Predicted::Change { from, one, many, source } => {
            let is_many = |rows| rows >= u64::from(from);
            let kernel = |rows| Some(if is_many(rows) { many.clone() } else { one.clone() });
            let changes = Some(is_many(chain) != is_many(block));
            Predicted { chain: kernel(chain), block: kernel(block), changes, source: Some(source) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::answer;
    use crate::results::parity::Predicted;

    #[test]
    fn padded_plain_decoding_takes_the_kernel_of_its_padded_rows() {
        let said = || {
            let (one, many) = ("qmv".to_owned(), "qmm".to_owned());
            Predicted::Change { from: 8, one, many, source: "table".to_owned() }
        };
        let told = |rows| {
            let told = answer(said(), rows);
            (told.chain.unwrap(), told.block.unwrap(), told.changes.unwrap())
        };
        assert_eq!(told((0, 8)), ("qmv".to_owned(), "qmm".to_owned(), true));
        assert_eq!(told((0, 7)), ("qmv".to_owned(), "qmv".to_owned(), false));
        assert_eq!(told((8, 8)), ("qmm".to_owned(), "qmm".to_owned(), false));
        assert_eq!(told((8, 4)), ("qmm".to_owned(), "qmv".to_owned(), true));
    }
}
