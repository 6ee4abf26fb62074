//! Some rounds of an arm, as a picture needs them: those around its first difference, else its first ones.

use super::marks::RowLine;
use crate::results::comparing::side;
use crate::transcript::{Arm, Round, Sequence, TokenId};

/// Rounds that are kept.
const MOST_ROUNDS: usize = 120;
/// Rows of a round that are kept.
const MOST_ROWS: usize = 64;

/// Rounds of one sequence.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// The transcript.
    pub file: String,
    /// The arm.
    pub arm: String,
    /// The sequence.
    pub sequence: i64,
    /// Sequences of the file, this one among them.
    pub sequences: usize,
    /// The kept rounds.
    pub beats: Vec<Beat>,
    /// Rounds of the sequence in all.
    pub sequence_rounds: usize,
    /// Rounds of the file in all.
    pub rounds: usize,
    /// Place in `beats`, and row, of the first differing token.
    pub flip: Option<(usize, usize)>,
}

/// One round.
#[derive(Debug, Clone)]
pub struct Beat {
    /// Its number.
    pub round: i64,
    /// Stream index of its first token.
    pub index: usize,
    /// The token that was fed to row 0.
    pub bonus: TokenId,
    /// Proposals.
    pub draft: Vec<TokenId>,
    /// What the target's rows chose.
    pub target: Vec<TokenId>,
    /// Accepted proposals.
    pub accepted: usize,
    /// Tokens that joined the stream.
    pub emitted: usize,
    /// Cache lengths before the round and after its rewind.
    pub cache: (Option<i64>, Option<i64>),
}

impl Beat {
    /// A proposal was rejected, and its rows left the caches.
    #[must_use]
    pub fn rewinds(&self) -> bool {
        self.accepted < self.draft.len()
    }

    fn of(start: usize, round: &Round) -> Self {
        let first = |ids: &[TokenId]| ids.iter().copied().take(MOST_ROWS).collect();
        Self {
            round: round.round,
            index: start,
            bonus: round.bonus,
            draft: first(&round.draft),
            target: first(&round.target),
            accepted: usize::try_from(round.accepted).unwrap_or(0).min(MOST_ROWS),
            emitted: round.emitted.len().min(MOST_ROWS + 1),
            cache: (round.cache_before, round.cache_after),
        }
    }
}

/// The rounds around the first difference of `parted`, else the first rounds of the first sequence that has any.
#[must_use]
pub fn of(arm: &Arm, file: &str, parted: Option<&RowLine>) -> Option<Timeline> {
    let wanted = |sequence: &&Sequence| {
        parted.is_none_or(|line| line.sequence == sequence.sequence) && !sequence.rounds.is_empty()
    };
    let sequence = arm.sequences.iter().find(wanted)?;
    let lines = side(sequence);
    let starts: Vec<(usize, &Round)> = lines.starts().collect();
    let flip = parted.and_then(|line| line.flip);
    let place = flip.and_then(|index| {
        starts.iter().position(|(start, round)| *start <= index && index < start + round.emitted.len())
    });
    let from = place.map_or(0, |place| place.saturating_sub(MOST_ROUNDS * 3 / 4));
    let beats: Vec<Beat> =
        starts.iter().skip(from).take(MOST_ROUNDS).map(|(start, round)| Beat::of(*start, round)).collect();
    let row = flip.zip(place).map(|(index, place)| (place - from, index - starts[place].0));
    Some(Timeline {
        file: file.to_owned(),
        arm: arm.header.arm.clone(),
        sequence: sequence.sequence,
        sequences: arm.sequences.len(),
        beats,
        sequence_rounds: starts.len(),
        rounds: arm.sequences.iter().map(|one| one.rounds.len()).sum(),
        flip: row,
    })
}
