//! Plain greedy decoding: one row a forward. Every comparison is against this.
//!
//! The chosen token goes into the next forward without leaving the device, so that a step is prepared while the
//! one before it runs. The host reads each token one step late, and nothing about a step depends on when it does.

use super::cache::Caches;
use super::error::Result;
use super::session::{Decoded, Recorder, Request, Session};
use crate::transcript::{Line, Step, TokenId};
use mlx_rs::Array;
use mlx_rs::transforms::async_eval;

/// A step on its way: its kernels are queued and its token is still on the device.
struct Queued {
    /// The position of the row.
    position: i32,
    /// `[1, vocabulary]`.
    logits: Array,
    /// `[1]`.
    token: Array,
}

/// Decodes one sequence.
///
/// # Errors
/// When the prompt is not one, MLX refuses or a line cannot be written.
pub fn decode(
    session: &mut Session<'_>,
    request: &Request<'_>,
    recorder: &mut dyn Recorder,
) -> Result<Decoded> {
    let (mut caches, first) = session.prefill(request, recorder)?;
    let mut stream = vec![first];
    let mut prepared: Option<Queued> = None;
    loop {
        if let Some(finish) = session.finished(&stream, request) {
            return Ok(Decoded { tokens: stream, finish });
        }
        let running = match prepared.take() {
            Some(step) => step,
            None => queue(session, &session.model.ids(&[first])?, &mut caches)?,
        };
        recorder.state(&caches)?;
        let state = session.state(&caches)?;
        if stream.len() + 1 < request.max_tokens {
            prepared = Some(queue(session, &running.token.reshape(&[1, 1])?, &mut caches)?);
        }
        let token = record(session, request, &stream, (&running, state), recorder)?;
        stream.push(token);
    }
}

/// Queues the step that feeds `input` `[1, 1]`.
fn queue(session: &mut Session<'_>, input: &Array, caches: &mut Caches) -> Result<Queued> {
    let position = caches.length();
    let logits = session.plain_forward(input, caches)?;
    let token = session.pick(&logits)?;
    async_eval([&token, &logits])?;
    Ok(Queued { position, logits, token })
}

/// Waits for a step and records the token that follows the stream's last.
fn record(
    session: &Session<'_>,
    request: &Request<'_>,
    stream: &[TokenId],
    (step, state_sha256): (&Queued, Option<String>),
    recorder: &mut dyn Recorder,
) -> Result<TokenId> {
    let (sequence, input) = (request.sequence, stream[stream.len() - 1]);
    let index = i64::try_from(stream.len()).unwrap_or(i64::MAX);
    let position = i64::from(step.position);
    let chosen = session.chosen(&step.token, &step.logits)?;
    let token = chosen.tokens[0];
    let row = match chosen.rows.into_iter().next() {
        Some((row, bytes)) => Some(session.placed(row, &bytes, (Some(index), position), recorder)?),
        None => None,
    };
    let cache_len = Some(position + 1);
    recorder.line(Line::Step(Step { sequence, index, input, token, cache_len, row, state_sha256 }))?;
    Ok(token)
}
