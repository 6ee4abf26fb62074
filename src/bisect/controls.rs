//! The controls that come before every comparison: runs against their own repeats, and observed runs against
//! unobserved ones.
//!
//! A run that does not repeat itself has a race, and a run that changes when it is looked at cannot be bisected. In
//! both cases no cause is named.

use super::instrument::Looks;
use super::lockstep::{Pair, Until, walk};
use super::script::Script;
use super::side::{Kind, Stage, Start};
use crate::engine::Result;
use crate::results::bisect::{Control, RowWalk};

/// Runs the controls, each null arm `repeat` times; ends with the first one that parts. Gives the tokens fed for them.
///
/// # Errors
/// When MLX refuses.
pub(super) fn controls(
    stage: &Stage<'_>,
    script: &Script,
    start: &Start,
    repeat: u32,
) -> Result<(Vec<Control>, u64)> {
    let nulls = (0..repeat).flat_map(|_| [(Kind::Chain, false), (Kind::Block, false)]);
    let observed = [(Kind::Chain, true), (Kind::Block, true)];
    let (mut controls, mut fed) = (Vec::new(), 0);
    for (kind, looks) in nulls.chain(observed) {
        let mut pair = Pair::new(stage, (kind, kind), start);
        if looks {
            pair.right.instrument.looks = Looks::Everywhere;
        }
        let answer = walk(&mut pair, script, Until::Difference)?.answer;
        fed += pair.fed();
        controls.push(control(kind, looks, &answer));
        if controls.last().is_some_and(|control| control.parts.is_some()) {
            break;
        }
    }
    Ok((controls, fed))
}

fn control(kind: Kind, looks: bool, answer: &RowWalk) -> Control {
    let runs = match kind {
        Kind::Chain => "chain",
        Kind::Block => "block",
    };
    let against = if looks { "the same, looked at" } else { "its repeat" };
    Control {
        name: format!("{runs} against {against}"),
        rows: answer.rows,
        states: answer.states,
        parts: parts(answer),
    }
}

/// Where a walk first differs, in words.
pub(super) fn parts(answer: &RowWalk) -> Option<String> {
    let row = answer.differing.first().map(|row| {
        let place = format!("round {}, row {}, position {}", row.round, row.row, row.position);
        (row.round, format!("{} of {} bytes at {place}", row.differing, row.bytes))
    });
    let state = answer
        .state
        .as_ref()
        .and_then(|state| state.round.map(|round| (round, format!("{} after round {round}", state.part))));
    row.into_iter().chain(state).min_by_key(|(round, _)| *round).map(|(_, says)| says)
}
