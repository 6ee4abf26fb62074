//! Plain greedy decoding: one row a forward. Every comparison is against this.

use super::cache::Caches;
use super::error::Result;
use super::session::{Decoded, Recorder, Request, Session};
use crate::transcript::{Line, Step, TokenId};

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
    loop {
        if let Some(finish) = session.finished(&stream, request) {
            return Ok(Decoded { tokens: stream, finish });
        }
        let token = step(session, request, &mut caches, &stream, recorder)?;
        stream.push(token);
        recorder.state(&caches)?;
    }
}

/// Feeds the stream's last token and records the one that follows.
fn step(
    session: &mut Session<'_>,
    request: &Request<'_>,
    caches: &mut Caches,
    stream: &[TokenId],
    recorder: &mut dyn Recorder,
) -> Result<TokenId> {
    let (sequence, input) = (request.sequence, stream[stream.len() - 1]);
    let index = i64::try_from(stream.len()).unwrap_or(i64::MAX);
    let position = i64::from(caches.length());
    let logits = session.plain_forward(input, caches)?;
    let chosen = session.choose(logits.as_ref())?;
    let token = chosen.tokens[0];
    let row = match chosen.rows.into_iter().next() {
        Some((row, bytes)) => Some(session.placed(row, &bytes, (Some(index), position), recorder)?),
        None => None,
    };
    let cache_len = Some(i64::from(caches.length()));
    recorder.line(Line::Step(Step { sequence, index, input, token, cache_len, row }))?;
    Ok(token)
}
