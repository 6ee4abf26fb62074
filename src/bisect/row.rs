//! The first level: which row of logits, or which state left behind, differs first between chain and block.

use super::lockstep::{Pair, Until, Walked, walk};
use super::script::Script;
use super::side::{Kind, Stage, Start};
use super::state;
use crate::engine::Result;
use crate::results::bisect::PrefillAnswer;
use crate::transcript::TokenId;

/// The prompt as each side feeds it.
pub(super) struct Prefilled {
    /// What differs.
    pub(super) answer: PrefillAnswer,
    /// Where both sides go on from.
    pub(super) start: Start,
}

/// Feeds the prompt on both sides and compares the state that round 0 starts from.
///
/// # Errors
/// When the prompt is not one, or MLX refuses.
pub(super) fn prefill(stage: &Stage<'_>, prompt: &[TokenId]) -> Result<Prefilled> {
    let (chain, block) = (stage.prefill(Kind::Chain, prompt)?, stage.prefill(Kind::Block, prompt)?);
    let differs = state::difference(&chain.caches, &block.caches, None)?;
    let answer = PrefillAnswer { state: differs, tokens: (chain.token, block.token) };
    Ok(Prefilled {
        answer,
        start: Start { caches: chain.caches, chain: chain.planted, block: block.planted },
    })
}

/// Walks all rows; also gives the tokens that went in on each side and the faults that struck.
///
/// # Errors
/// When MLX refuses.
pub(super) fn rows(
    stage: &Stage<'_>,
    script: &Script,
    start: &Start,
) -> Result<(Walked, (u64, u64), Vec<String>)> {
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), start);
    let walked = walk(&mut pair, script, Until::End)?;
    let mut struck = pair.left.instrument.struck();
    struck.extend(pair.right.instrument.struck());
    Ok((walked, (pair.left.fed, pair.right.fed), struck))
}
