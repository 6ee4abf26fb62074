//! Driving two runs over one script, round by round, and comparing what each leaves: rows of logits and states.
//!
//! It serves every comparison of a bisect: plain decoding against itself, blocks against themselves, an observed run
//! against an unobserved one, and at last blocks against plain decoding.

use super::compare::{differing_bytes, differing_rows};
use super::held;
use super::instrument::{Look, Looks};
use super::script::{Round, Script};
use super::side::{Kind, Rows, Side, Stage, Start};
use super::state;
use crate::engine::Result;
use crate::engine::raw::{bytes_of, rows_of};
use crate::engine::tap::Site;
use crate::results::bisect::{RowSeen, RowWalk};
use crate::transcript::TokenId;
use crate::transcript::digest::sha256;
use mlx_rs::Array;
use std::collections::BTreeSet;

/// How far to drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Over all rounds.
    End,
    /// Up to and with the first round in which a row or the state left behind differs.
    Difference,
}

/// Two runs over one script.
pub(super) struct Pair<'s, 'm> {
    pub(super) left: Side<'s, 'm>,
    pub(super) right: Side<'s, 'm>,
    /// Operations whose outputs go from the left to the right.
    handed: BTreeSet<Site>,
}

/// A round of both: the logits of its kept rows, and what was looked at.
pub(super) struct Turn {
    pub(super) left: Rows,
    pub(super) right: Rows,
    pub(super) looks: (Vec<Look>, Vec<Look>),
}

impl<'s, 'm> Pair<'s, 'm> {
    /// Two runs of these kinds from one state.
    pub(super) fn new(stage: &'s Stage<'m>, kinds: (Kind, Kind), start: &Start) -> Self {
        let (left, right) = (stage.begin(kinds.0, start), stage.begin(kinds.1, start));
        Self { left, right, handed: BTreeSet::new() }
    }

    /// Plain decoding on the left, blocks on the right, with the left's outputs at `handed` going on in the right.
    pub(super) fn treated(stage: &'s Stage<'m>, start: &Start, handed: &BTreeSet<Site>) -> Self {
        let mut pair = Self::new(stage, (Kind::Chain, Kind::Block), start);
        handed.clone_into(&mut pair.handed);
        if !handed.is_empty() {
            pair.left.instrument.looks = Looks::At(handed.clone());
        }
        pair
    }

    /// Looks at both sides from now on; what is handed over has to be among it.
    pub(super) fn look(&mut self, looks: &Looks) {
        self.left.instrument.looks = match looks {
            Looks::Nowhere if !self.handed.is_empty() => Looks::At(self.handed.clone()),
            looks => looks.clone(),
        };
        looks.clone_into(&mut self.right.instrument.looks);
    }

    /// Drives one round.
    ///
    /// # Errors
    /// When MLX refuses.
    pub(super) fn round(&mut self, round: &Round) -> Result<Turn> {
        let left = self.left.round(round)?;
        let theirs = self.left.looked()?;
        for site in &self.handed {
            self.right.instrument.handed.insert(*site, held::handed(&theirs, *site)?);
        }
        let right = self.right.round(round)?;
        let looks = (theirs, self.right.looked()?);
        Ok(Turn { left, right, looks })
    }

    /// Tokens that went into both.
    pub(super) fn fed(&self) -> u64 {
        self.left.fed + self.right.fed
    }
}

/// The logits of the first round that differs, `[kept, vocabulary]`: the looked-at round has to give the same.
pub(super) struct FirstRound {
    pub(super) round: usize,
    pub(super) left: Array,
    pub(super) right: Array,
}

/// What a walk found.
pub(super) struct Walked {
    pub(super) answer: RowWalk,
    pub(super) first: Option<FirstRound>,
}

/// Drives both sides over the script and compares every kept row and every state.
///
/// # Errors
/// When MLX refuses.
pub(super) fn walk(pair: &mut Pair<'_, '_>, script: &Script, until: Until) -> Result<Walked> {
    let mut walked = Walked { answer: RowWalk::default(), first: None };
    for number in 0..script.rounds.len() {
        round(pair, script, number, &mut walked)?;
        if until == Until::Difference && walked.first.is_some() {
            break;
        }
    }
    Ok(walked)
}

fn round(pair: &mut Pair<'_, '_>, script: &Script, number: usize, walked: &mut Walked) -> Result<()> {
    let round = &script.rounds[number];
    let Turn { left, right, .. } = pair.round(round)?;
    let answer = &mut walked.answer;
    answer.rounds += 1;
    answer.rows += round.kept as u64;
    answer.bytes += left.logits.nbytes() as u64;
    let seen = rows(script, number, (&left, &right))?;
    let differs = seen.iter().any(|row| row.differing > 0);
    answer.selection = answer.selection.take().or_else(|| chose_otherwise(&seen, &round.chosen));
    answer.differing.extend(seen.into_iter().filter(|row| row.differing > 0));
    unlike_recorded(&round.recorded, &right.logits, answer)?;
    answer.states += 1;
    let state = state::difference(&pair.left.caches, &pair.right.caches, Some(number as u64))?;
    let parted = differs || state.is_some();
    answer.state = answer.state.take().or(state);
    if parted && walked.first.is_none() {
        walked.first = Some(FirstRound { round: number, left: left.logits, right: right.logits });
    }
    Ok(())
}

/// All kept rows of a round.
fn rows(script: &Script, number: usize, (left, right): (&Rows, &Rows)) -> Result<Vec<RowSeen>> {
    let any = differing_rows(&left.logits, &right.logits, 0)?.contains(&true);
    let differing = if any { differing_bytes(&left.logits, &right.logits, 0)? } else { Vec::new() };
    let bytes = (left.logits.nbytes() / left.chosen.len().max(1)) as u64;
    let before = script.before(number);
    let row = |(row, (ours, theirs)): (usize, (&TokenId, &TokenId))| RowSeen {
        round: number as u64,
        row: row as u64,
        index: (before + row + 1) as u64,
        position: script.position(number, row),
        differing: differing.get(row).copied().unwrap_or(0),
        bytes,
        chosen: (*ours, *theirs),
    };
    Ok(left.chosen.iter().zip(&right.chosen).enumerate().map(row).collect())
}

/// The first row with equal bytes from which another token was chosen than plain decoding chooses: by the replayed
/// block, or by the arm that is replayed. Of rows that differ nothing is said: they may well choose otherwise.
fn chose_otherwise(seen: &[RowSeen], chosen: &[TokenId]) -> Option<RowSeen> {
    let equal = seen.iter().zip(chosen).filter(|(row, _)| row.differing == 0);
    let others = equal.filter_map(|(row, arm)| {
        let other = if row.same_choice() { *arm } else { row.chosen.1 };
        (other != row.chosen.0).then(|| RowSeen { chosen: (row.chosen.0, other), ..row.clone() })
    });
    { others }.next()
}

/// Holds the replayed block's rows against the recorded ones, where digests were recorded.
fn unlike_recorded(recorded: &[String], block: &Array, answer: &mut RowWalk) -> Result<()> {
    for (row, digest) in (0..).zip(recorded) {
        let (unlike, all) = answer.unlike_recorded.unwrap_or((0, 0));
        let same = *digest == sha256(&bytes_of(&rows_of(block, 0, row, row + 1)?)?);
        answer.unlike_recorded = Some((unlike + u64::from(!same), all + 1));
    }
    Ok(())
}
