//! Shrinking: the shortest prompt, and then the fewest tokens, with which the same rounds still part.
//!
//! A shorter prompt has other tokens, so plain decoding is asked for them anew; the rounds keep the shapes of the run
//! that is reduced. Whether a length parts need not depend on it in one direction only: the search finds a length that
//! parts next to one that does not, and the smaller run is made once more to show it.

use super::controls::parts;
use super::lockstep::{Pair, Until, walk};
use super::row::prefill;
use super::script::Script;
use super::search::{Answer, first_yes};
use super::side::{Kind, Stage};
use crate::engine::Result;
use crate::results::bisect::{Reduced, RowWalk};
use crate::transcript::TokenId;

/// How a reduced run ended.
enum Tried {
    /// It parts; the rounds up to there.
    Parts(Box<(Script, RowWalk)>),
    /// It does not.
    Equal,
    /// Plain decoding does not repeat itself, or there is nothing to drive.
    Unknown,
}

/// Reduces a run that parts; `last` is the round in which it does.
///
/// # Errors
/// When MLX refuses.
pub(super) fn reduce(stage: &Stage<'_>, script: &Script, last: usize) -> Result<(Reduced, u64)> {
    let whole = &script.prompt;
    let mut fed = 0;
    let mut tail = |length: usize| -> Result<Tried> {
        let ids = whole[whole.len() - length..].to_vec();
        let (tried, cost) = tried(stage, script, last, ids)?;
        fed += cost;
        Ok(tried)
    };
    let border = first_yes(whole.len(), |index| {
        Ok::<_, crate::engine::Error>(match tail(index + 1)? {
            Tried::Parts(_) => Answer::Yes,
            Tried::Equal => Answer::No,
            Tried::Unknown => Answer::Unknown,
        })
    })?;
    let mut questions = border.questions as u64 + 1;
    let length = border.first + 1;
    let Tried::Parts(found) = tail(length)? else {
        // The whole prompt parted with its own tokens and does not with plain decoding's: it stays as it is.
        let kept = kept_whole(script, last, questions);
        return Ok((kept, fed));
    };
    let (short, _) = *found;
    let (verified, cost) = driven(stage, &short)?;
    questions += 1;
    let reduced = Reduced {
        prompt: (whole.len() as u64, length as u64),
        tokens: (script.tokens() as u64, short.tokens() as u64),
        ids: short.prompt.clone(),
        unknown: border.unknown.iter().map(|index| *index as u64 + 1).collect(),
        questions,
        parts: parts(&verified),
    };
    Ok((reduced, fed + cost))
}

fn kept_whole(script: &Script, last: usize, questions: u64) -> Reduced {
    let length = script.prompt.len() as u64;
    Reduced {
        prompt: (length, length),
        tokens: (script.tokens() as u64, script.before(last + 1) as u64),
        ids: script.prompt.clone(),
        unknown: Vec::new(),
        questions,
        parts: None,
    }
}

/// Drives the shapes of the first rounds over plain decoding of `prompt`.
fn tried(stage: &Stage<'_>, script: &Script, last: usize, prompt: Vec<TokenId>) -> Result<(Tried, u64)> {
    let shapes: Vec<(usize, usize)> =
        script.rounds[..=last].iter().map(|round| (round.block.len(), round.kept)).collect();
    let tokens = shapes.iter().map(|(_, kept)| kept).sum::<usize>();
    let stream = stage.decode(&prompt, tokens + 1)?;
    let vocabulary = stage.chain.config().vocab_size;
    let Ok(script) = Script::shaped(prompt, &stream, shapes.into_iter(), vocabulary) else {
        return Ok((Tried::Unknown, 0));
    };
    let start = prefill(stage, &script.prompt)?.start;
    let mut null = Pair::new(stage, (Kind::Chain, Kind::Chain), &start);
    if parts(&walk(&mut null, &script, Until::Difference)?.answer).is_some() {
        return Ok((Tried::Unknown, null.fed()));
    }
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), &start);
    let answer = walk(&mut pair, &script, Until::Difference)?.answer;
    let fed = null.fed() + pair.fed() + tokens as u64;
    Ok(match answer.root().and_then(|round| usize::try_from(round).ok()) {
        Some(round) => (Tried::Parts(Box::new((cut(script, round, &answer), answer))), fed),
        None => (Tried::Equal, fed),
    })
}

/// The rounds up to the one that differs, and of that one the rows up to the first that does.
fn cut(mut script: Script, round: usize, answer: &RowWalk) -> Script {
    script.rounds.truncate(round + 1);
    let row = answer.differing.first().filter(|row| row.round == round as u64);
    let kept = row.and_then(|row| usize::try_from(row.row + 1).ok());
    if let (Some(last), Some(kept)) = (script.rounds.last_mut(), kept) {
        last.kept = kept;
        last.chosen.truncate(kept);
    }
    script
}

fn driven(stage: &Stage<'_>, script: &Script) -> Result<(RowWalk, u64)> {
    let start = prefill(stage, &script.prompt)?.start;
    let mut pair = Pair::new(stage, (Kind::Chain, Kind::Block), &start);
    let answer = walk(&mut pair, script, Until::End)?.answer;
    Ok((answer, pair.fed()))
}
