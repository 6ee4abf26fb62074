//! Who proposes. Scripted drafters reach every accepted count and every kind of round without a second model.
//!
//! A proposal can only cost or save time; that it cannot change the text is what this program checks.

mod lookup;
mod recorded;
mod scripted;
mod spec;

pub use lookup::PromptLookup;
pub use recorded::Recorded;
pub use scripted::{Cycle, Random};
pub use spec::{DrafterSpec, Ground, SpecError};

use super::error::Result;
use crate::transcript::TokenId;
use crate::transcript::format::DrafterCache;

/// What a drafter may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The prompt's ids.
    pub prompt: &'a [TokenId],
    /// Tokens committed so far; the last one is the bonus.
    pub stream: &'a [TokenId],
    /// 0-based count of this sequence's rounds.
    pub round: i64,
}

/// Proposes tokens for one sequence.
pub trait Drafter {
    /// What it keeps between rounds.
    fn cache(&self) -> DrafterCache {
        DrafterCache::None
    }

    /// At most `count` ids that may follow the stream.
    ///
    /// # Errors
    /// When a drafter with a model of its own cannot compute.
    fn propose(&mut self, context: &Context<'_>, count: usize) -> Result<Vec<TokenId>>;
}
