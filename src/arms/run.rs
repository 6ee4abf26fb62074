//! Runs one arm over all prompts into one transcript.

use super::identity;
use super::prompts::PromptSet;
use super::recorder::FileRecorder;
use super::spec::ArmSpec;
use crate::engine::drafter::{DrafterSpec, Ground};
use crate::engine::model::TextModel;
use crate::engine::plant::{Plant, Planted};
use crate::engine::round;
use crate::engine::session::{Decoded, Options, Request, Session};
use crate::engine::tap::{Silent, Tap};
use crate::engine::tokenizer::Tokenizer;
use crate::engine::{Result, classic};
use crate::results::arms::ArmRun;
use crate::transcript::format::{Backend, Counters, Drafter, DrafterCache, Host, Model, Prompt, Window};
use crate::transcript::format::{FORMAT, VERSION};
use crate::transcript::{Arm, ArmKind, Footer, Header, Line, TokenId, Writer, clock, digest};
use std::path::Path;

/// What all arms of an experiment share.
pub struct Bench<'a> {
    /// The model.
    pub model: &'a TextModel,
    /// Its tokenizer, where it has one.
    pub tokenizer: Option<&'a Tokenizer>,
    /// What is decoded.
    pub prompts: &'a PromptSet,
    /// Token budget of a prompt.
    pub max_tokens: usize,
    /// How arms decode.
    pub options: &'a Options,
    /// Who proposes.
    pub drafter: &'a DrafterSpec,
    /// The transcript that the drafter repeats, when it does.
    pub recording: Option<&'a Arm>,
    /// Faults to put into it; plain decoding gets those that say so.
    pub plants: &'a [Plant],
    /// What headers say.
    pub identity: &'a Identity,
    /// Told how many tokens were decoded.
    pub progress: &'a dyn Fn(u64),
}

/// What every header of an experiment says.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The target.
    pub model: Model,
    /// The machine.
    pub host: Host,
    /// The library.
    pub backend: Backend,
    /// The command line.
    pub command: Vec<String>,
}

/// Runs `spec` into `file`; `references` are plain decoding's streams by prompt, for drafters that know them.
///
/// # Errors
/// When the file cannot be written or MLX refuses; what was recorded stays.
pub fn ran(bench: &Bench<'_>, spec: ArmSpec, file: &Path, references: &[Vec<TokenId>]) -> Result<ArmRun> {
    let keep = bench.options.detail == crate::engine::rows::RowDetail::Bytes;
    let mut writer = Writer::create(file, keep)?;
    writer.line(&Line::Header(Box::new(header(bench, spec))))?;
    let mut run = ArmRun::new(spec.label(), spec.repeat, spec.width, file);
    for (index, prompt) in bench.prompts.prompts().iter().enumerate() {
        let reference = references.get(index).map_or(&[][..], Vec::as_slice);
        let footer = sequence(bench, spec, (prompt, reference), &mut writer, &mut run)?;
        writer.line(&Line::Footer(Box::new(footer)))?;
    }
    run.stream_sha256 = digest::stream_sha256(&run.streams.concat());
    Ok(run)
}

/// Decodes one prompt and adds it to the run; the footer is still to be written.
fn sequence(
    bench: &Bench<'_>,
    spec: ArmSpec,
    (prompt, reference): (&Prompt, &[TokenId]),
    writer: &mut Writer,
    run: &mut ArmRun,
) -> Result<Footer> {
    let ids = prompt.ids.as_deref().unwrap_or_default();
    let request = Request { sequence: prompt.sequence, prompt: ids, max_tokens: bench.max_tokens };
    let (mut silent, mut planted) = (Silent, planted(bench, spec));
    let tap: &mut dyn Tap = planted.as_mut().map_or(&mut silent, |planted| planted);
    let mut session = Session::new(bench.model, bench.options, tap)?;
    let mut recorder = FileRecorder::new(writer, bench.progress);
    let (decoded, counters) = match spec.width {
        None => (classic::decode(&mut session, &request, &mut recorder)?, None),
        Some(width) => {
            let vocabulary = bench.model.config().vocab_size;
            let ground = Ground { sequence: prompt.sequence, reference, vocabulary };
            let mut drafter = bench.drafter.build(&ground, bench.recording);
            let done = round::decode(&mut session, &request, (width, drafter.as_mut()), &mut recorder)?;
            (done.decoded, Some(done.counters))
        }
    };
    let (prefill, decode) = recorder.times();
    run.add(&decoded.tokens, counters.as_ref(), (prefill, decode));
    run.blank_rows += recorder.blank_rows();
    run.struck.extend(planted.iter().flat_map(Planted::struck).map(ToString::to_string));
    Ok(footer(bench, prompt.sequence, decoded, counters))
}

/// Faults in plain decoding would part it from the arms for another reason, so it gets only what asks for it.
fn planted(bench: &Bench<'_>, spec: ArmSpec) -> Option<Planted> {
    let here = |plant: &&Plant| spec.width.is_some() || plant.reaches_chain();
    let plants: Vec<Plant> = bench.plants.iter().filter(here).copied().collect();
    (!plants.is_empty()).then(|| Planted::new(&plants))
}

fn footer(bench: &Bench<'_>, sequence: i64, decoded: Decoded, counters: Option<Counters>) -> Footer {
    // A stream may hold ids that are no text; then the footer has none.
    let text = bench.tokenizer.and_then(|tokenizer| tokenizer.decode(&decoded.tokens).ok());
    Footer {
        sequence,
        complete: true,
        finish_reason: Some(decoded.finish),
        text,
        tokens: Some(decoded.tokens),
        counters,
        ..Footer::default()
    }
}

fn header(bench: &Bench<'_>, spec: ArmSpec) -> Header {
    let speculative = spec.width.is_some();
    let routes = &bench.options.routes;
    let routes = if speculative { routes.block_text() } else { routes.plain_text() };
    let drafter = speculative
        .then(|| Drafter { name: Some(bench.drafter.to_string()), cache: Some(DrafterCache::None) });
    Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        arm: spec.label(),
        kind: if speculative { ArmKind::Speculative } else { ArmKind::Classic },
        prompts: bench.prompts.prompts().to_vec(),
        width: i64::try_from(spec.width.unwrap_or(1)).ok(),
        drafter,
        window: Some(Window::Single),
        max_tokens: i64::try_from(bench.max_tokens).ok(),
        eos_ids: Some(bench.options.end_ids.clone()),
        ignore_eos: Some(bench.options.ignore_eos),
        stop: None,
        vocab_size: i64::try_from(bench.model.config().vocab_size).ok(),
        model: Some(bench.identity.model.clone()),
        routes: Some(routes),
        host: Some(bench.identity.host.clone()),
        backend: Some(bench.identity.backend.clone()),
        program: Some(identity::PROGRAM.to_owned()),
        command: Some(bench.identity.command.clone()),
        started: Some(clock::utc_now()),
        seed: if speculative { bench.drafter.seed() } else { None },
        repeat: Some(i64::from(spec.repeat)),
        source: None,
    }
}
