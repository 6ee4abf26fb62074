//! Which of several scripts parts first: prompts of a set, or accept patterns over one prompt.
//!
//! One walk a script, no controls: they come with the bisect of the script that is chosen.

use super::controls::parts;
use super::lockstep::{Pair, Until, walk};
use super::row::prefill;
use super::script::Script;
use super::side::{Kind, Stage};
use crate::engine::Result;
use crate::results::bisect::Screened;

/// Walks each script; `label` names them.
///
/// # Errors
/// When a prompt is not one, or MLX refuses.
pub fn screen(stage: &Stage<'_>, scripts: &[(String, Script)]) -> Result<Vec<Screened>> {
    scripts.iter().map(|(label, script)| screened(stage, label, script)).collect()
}

fn screened(stage: &Stage<'_>, label: &str, script: &Script) -> Result<Screened> {
    let prefilled = prefill(stage, &script.prompt)?;
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), &prefilled.start);
    let answer = walk(&mut pair, script, Until::Difference)?.answer;
    let prompt = prefilled.answer.state.map(|state| format!("{} after the prompt", state.part));
    let other = answer.selection.as_ref().map(|row| {
        format!("another token chosen at round {}, row {}, position {}", row.round, row.row, row.position)
    });
    let row = answer.differing.first().map(|row| (row.position, row.round));
    let left = answer.state.as_ref().and_then(|state| {
        let round = state.round?;
        let last = usize::try_from(round).ok()?;
        Some((script.position(last + 1, 0).saturating_sub(1), round))
    });
    Ok(Screened {
        label: label.to_owned(),
        prompt: script.prompt.len() as u64,
        rows: answer.rows,
        states: answer.states,
        first: row.into_iter().chain(left).min(),
        parts: prompt.or_else(|| parts(&answer)).or(other),
    })
}
