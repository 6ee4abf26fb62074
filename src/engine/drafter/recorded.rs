//! Proposes what another run proposed at the same place of the stream, so that its rounds can be run again.

use super::{Context, Drafter};
use crate::engine::error::Result;
use crate::transcript::{Arm, TokenId};
use std::collections::BTreeMap;

/// The proposals of a recorded sequence, by the stream index that the first of them stands for.
#[derive(Debug, Clone)]
pub struct Recorded {
    drafts: BTreeMap<usize, Vec<TokenId>>,
}

impl Recorded {
    /// The proposals of `sequence` in a transcript; none where it has no such sequence.
    #[must_use]
    pub fn new(arm: &Arm, sequence: i64) -> Self {
        let mut drafts = BTreeMap::new();
        let mut emitted = 1; // the prefill token
        for round in arm.sequences.iter().filter(|one| one.sequence == sequence).flat_map(|one| &one.rounds) {
            drafts.insert(emitted, round.draft.clone());
            emitted += round.emitted.len();
        }
        Self { drafts }
    }
}

impl Drafter for Recorded {
    fn propose(&mut self, context: &Context<'_>, count: usize) -> Result<Vec<TokenId>> {
        let draft = self.drafts.get(&context.stream.len());
        Ok(draft.map_or_else(Vec::new, |draft| draft.iter().take(count).copied().collect()))
    }
}
