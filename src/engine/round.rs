//! Speculative decoding: draft, verify, accept, rewind, emit. The loop, and nothing else.

use super::blocks::dim;
use super::cache::Caches;
use super::drafter::{Context, Drafter};
use super::error::Result;
use super::session::{Chosen, Decoded, Recorder, Request, Session};
use crate::transcript::clock::Stopwatch;
use crate::transcript::format::{Counters, Micros};
use crate::transcript::{Line, Round, Row, TokenId};
use std::time::Duration;

/// A decoded sequence and what its rounds came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speculated {
    /// The stream and its end.
    pub decoded: Decoded,
    /// Rounds, proposals, accepted proposals.
    pub counters: Counters,
}

/// One verified block on its way into the stream.
struct Verified {
    draft: Vec<TokenId>,
    chosen: Chosen,
    before: i32,
    /// Rows in the recurrent states, where there are any.
    state_before: Option<i32>,
    accepted: usize,
}

/// Decodes one sequence at block width `width`: at most `width − 1` proposals a round.
///
/// # Errors
/// When the prompt is not one, MLX refuses or a line cannot be written.
pub fn decode(
    session: &mut Session<'_>,
    request: &Request<'_>,
    (width, drafter): (usize, &mut dyn Drafter),
    recorder: &mut dyn Recorder,
) -> Result<Speculated> {
    let (mut caches, first) = session.prefill(request, recorder)?;
    let mut stream = vec![first];
    let mut counters = Counts::new(width);
    loop {
        if let Some(finish) = session.finished(&stream, request) {
            let decoded = Decoded { tokens: stream, finish };
            return Ok(Speculated { decoded, counters: counters.into_counters() });
        }
        let mut watch = Stopwatch::start();
        let mut micros = Micros::default();
        let context = Context { prompt: request.prompt, stream: &stream, round: counters.rounds };
        let draft = drafter.propose(&context, width - 1)?;
        micros.draft = Some(in_micros(watch.lap()));
        let verified = verify(session, &stream, draft, &mut caches, (&mut watch, &mut micros))?;
        session.commit(&mut caches, dim(verified.draft.len() + 1), dim(verified.accepted + 1))?;
        micros.rewind = Some(in_micros(watch.lap()));
        let state_kept = caches.state_length().zip(verified.state_before);
        let state_sha256 = session.state(&caches)?;
        let emitted = emit(session, request, &stream, &verified);
        let line = round_line(session, request, (&stream, &emitted), verified, recorder)?;
        let round = Round {
            round: counters.rounds,
            cache_after: Some(i64::from(caches.length())),
            state_kept: state_kept.map(|(after, before)| i64::from(after - before)),
            state_sha256,
            micros: Some(micros),
            ..line
        };
        counters.add(&round);
        recorder.line(Line::Round(Box::new(round)))?;
        recorder.state(&caches)?;
        stream.extend(emitted);
    }
}

/// Runs the block and walks the proposals against what the target chose.
fn verify(
    session: &mut Session<'_>,
    stream: &[TokenId],
    draft: Vec<TokenId>,
    caches: &mut Caches,
    (watch, micros): (&mut Stopwatch, &mut Micros),
) -> Result<Verified> {
    let (before, state_before) = (caches.length(), caches.state_length());
    let mut block = vec![stream[stream.len() - 1]];
    block.extend(&draft);
    let logits = session.verify_forward(&block, caches)?;
    micros.verify = Some(in_micros(watch.lap()));
    let chosen = session.choose(&logits)?;
    micros.sync = Some(in_micros(watch.lap()));
    let accepted =
        draft.iter().zip(&chosen.tokens).take_while(|(proposed, target)| proposed == target).count();
    Ok(Verified { draft, chosen, before, state_before, accepted })
}

/// The accepted proposals and the target's next token, up to an end id or the budget.
fn emit(
    session: &Session<'_>,
    request: &Request<'_>,
    stream: &[TokenId],
    verified: &Verified,
) -> Vec<TokenId> {
    let mut longer = stream.to_vec();
    for token in &verified.chosen.tokens[..=verified.accepted] {
        longer.push(*token);
        if session.finished(&longer, request).is_some() {
            break;
        }
    }
    longer.split_off(stream.len())
}

/// The round's line, but for its number, what the caches hold after the rewind and its times.
fn round_line(
    session: &Session<'_>,
    request: &Request<'_>,
    (stream, emitted): (&[TokenId], &[TokenId]),
    verified: Verified,
    recorder: &mut dyn Recorder,
) -> Result<Round> {
    let Verified { draft, chosen, before, accepted, .. } = verified;
    let first_index = to_i64(stream.len());
    let described = !chosen.rows.is_empty();
    let mut rows: Vec<Row> = Vec::new();
    for (number, (row, bytes)) in chosen.rows.into_iter().enumerate() {
        let index = (number < emitted.len()).then(|| first_index + to_i64(number));
        rows.push(session.placed(row, &bytes, (index, i64::from(before) + to_i64(number)), recorder)?);
    }
    Ok(Round {
        sequence: request.sequence,
        width: to_i64(draft.len() + 1),
        bonus: stream[stream.len() - 1],
        draft,
        target: chosen.tokens,
        accepted: to_i64(accepted),
        emitted: emitted.to_vec(),
        cache_before: Some(i64::from(before)),
        rows: described.then_some(rows),
        ..Round::default()
    })
}

/// Running totals of a sequence.
struct Counts {
    rounds: i64,
    drafted: i64,
    per_position: Vec<i64>,
}

impl Counts {
    fn new(width: usize) -> Self {
        Self { rounds: 0, drafted: 0, per_position: vec![0; width - 1] }
    }

    fn add(&mut self, round: &Round) {
        self.rounds += 1;
        self.drafted += to_i64(round.draft.len());
        let accepted = usize::try_from(round.accepted).unwrap_or(0);
        self.per_position[..accepted].iter_mut().for_each(|count| *count += 1);
    }

    fn into_counters(self) -> Counters {
        Counters {
            rounds: Some(self.rounds),
            drafted: Some(self.drafted),
            accepted: Some(self.per_position.iter().sum()),
            per_position: Some(self.per_position),
        }
    }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn in_micros(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e7).round() / 10.0
}
