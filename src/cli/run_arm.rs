//! `exactness run-arm`: plain decoding and its null arm, then speculative arms beside it, each into a transcript.

use super::check_algebra::Format;
use super::exit::Failure;
use super::judging::judge_path;
use super::model::{Loaded, ModelArgs};
use super::prompted::PromptArgs;
use super::{console, ran, settings};
use crate::arms::spec::{REGISTRY, WIDEST, plan};
use crate::arms::{ArmSpec, Bench, identity, run};
use crate::engine::Error;
use crate::engine::cache::Rewind;
use crate::engine::drafter::DrafterSpec;
use crate::engine::plant::Plant;
use crate::engine::routes::Routes;
use crate::engine::rows::RowDetail;
use crate::engine::session::{Options, Session, mixers};
use crate::engine::tap::Silent;
use crate::results::arms::{ArmRun, Experiment};
use crate::results::comparing::{self, Contestant};
use crate::results::outcomes::null_arms;
use crate::transcript::writer::rows_path;
use crate::transcript::{Arm, ArmKind, TokenId, clock};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Runs arms and compares them: plain decoding, its repeat, then each width, one transcript a run.
///
/// Greedy decoding draws nothing. Seeds belong to what is random: `--drafter random:SEED`, and `--prompt-seed` for
/// the drawn prompts of a model without a tokenizer.
#[derive(Debug, clap::Args)]
pub struct RunArm {
    #[command(flatten)]
    arms: WhichArms,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    prompts: PromptArgs,
    #[command(flatten)]
    decoding: Decoding,
    /// Put a fault into the verify blocks, as in `op=o_proj,layer=3,row=2,from=40,ulp=1` or `op=gate_proj,rows>=8`; may
    /// be repeated.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    plants: Vec<Plant>,
    /// Runs of each speculative arm; those after the first are its null arms.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Folder for the transcripts; default: transcripts/<model>-<time>.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Also print one line a prompt.
    #[arg(long)]
    per_prompt: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WhichArms {
    /// Plain decoding and its null arm alone.
    #[arg(long)]
    classic: bool,
    /// One block width: rows verified in one forward, proposals + 1.
    #[arg(long, value_name = "N", value_parser = width)]
    width: Option<usize>,
    /// Several block widths.
    #[arg(long, value_name = "N,N,…", value_parser = width, value_delimiter = ',')]
    widths: Option<Vec<usize>>,
    /// Widths 2, 3, 4, 6, 12 and 16, with plain decoding at both ends.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct Decoding {
    /// Who proposes: ngram (prompt lookup), oracle (always right), wrong (never), cycle:1,3 (accepted counts),
    /// random:SEED, recorded:FILE.
    #[arg(long, default_value = "ngram", value_name = "NAME", value_parser = str::parse::<DrafterSpec>)]
    drafter: DrafterSpec,
    /// Tokens to decode for each prompt, the prompt's own first token included.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_tokens: u32,
    /// Never choose an end-of-text id.
    #[arg(long)]
    ignore_eos: bool,
    /// How the verify block computes, as in `delta=chunked,linear=rows:6,layer.5.o_proj=rows`.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ROUTES", value_parser = str::parse::<Routes>)]
    routes: Routes,
    /// How recurrent states go back to the accepted row.
    #[arg(long, value_enum, default_value_t = RewindArg::Keep)]
    rewind: RewindArg,
    /// Prompt ids fed at once.
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    prefill_chunk: u32,
    /// What is recorded of logit rows: nothing, digest and best entries, or their bytes too (plain --rows).
    #[arg(
        long, value_enum, num_args = 0..=1, require_equals = true, default_value_t = RowsArg::Digest,
        default_missing_value = "bytes"
    )]
    rows: RowsArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RewindArg {
    /// Keep the state after each row and pick one
    Keep,
    /// Restore the state before the block and run the accepted rows again
    Replay,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RowsArg {
    /// Nothing
    None,
    /// Digest and best entries
    Digest,
    /// Digest, best entries, and the bytes in a side file
    Bytes,
}

fn width(text: &str) -> Result<usize, String> {
    let width = text.parse().ok().filter(|width| (1..=WIDEST).contains(width));
    width.ok_or_else(|| format!("{text:?} is no block width; widths are 1 to {WIDEST} rows"))
}

impl RunArm {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model, a prompt or the output folder is not usable, or MLX refuses. What was recorded stays.
    pub fn run(self) -> anyhow::Result<u8> {
        let loaded = self.model.load()?;
        let prompts = self.prompts.read(&loaded)?;
        let recording = self.decoding.drafter.prepare().map_err(Failure::from)?;
        refuse_foreign(recording.as_ref(), loaded.model.config().vocab_size)?;
        let options = self.decoding.options(&loaded);
        // Asked once before anything is written, so that routes this model does not have leave nothing behind.
        Session::new(&loaded.model, &options, &mut Silent).map_err(|error| refused(&error))?;
        refuse_misplaced(&self.plants, &mixers(loaded.model.config()))?;
        let out = self.out_folder(&loaded);
        let arms = self.planned();
        refuse_taken(&out, &arms)?;
        let bar =
            console::Progress::new(arms.len() * prompts.prompts().len() * self.decoding.max_tokens as usize);
        let bench = Bench {
            model: &loaded.model,
            tokenizer: loaded.tokenizer.as_ref(),
            prompts: &prompts,
            max_tokens: self.decoding.max_tokens as usize,
            options: &options,
            drafter: &self.decoding.drafter,
            recording: recording.as_ref(),
            plants: &self.plants,
            identity: &run::Identity {
                model: identity::model(&loaded.checkpoint, loaded.model.dtype()),
                host: identity::host(),
                backend: identity::backend(),
                command: settings::command_line(),
            },
            progress: &|tokens| bar.add(tokens),
        };
        let runs = run_all(&bench, &arms, &out, &bar)?;
        bar.finish();
        let mut experiment = judged(runs)?;
        experiment.says.extend(self.plants.iter().map(|plant| format!("A fault was planted: {plant}.")));
        console::out(&ran::print(&experiment, &out, self.format, self.per_prompt)?);
        Ok(experiment.verdict.exit_code())
    }

    fn planned(&self) -> Vec<ArmSpec> {
        let WhichArms { width, widths, all, .. } = &self.arms;
        let mut chosen: Vec<usize> = match (width, widths, all) {
            (Some(width), _, _) => vec![*width],
            (_, Some(widths), _) => widths.clone(),
            (_, _, true) => REGISTRY.to_vec(),
            _ => Vec::new(),
        };
        chosen.sort_unstable();
        chosen.dedup();
        plan(&chosen, self.repeat, *all)
    }

    fn out_folder(&self, loaded: &Loaded) -> PathBuf {
        let stamp: String = clock::utc_now().chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("{}-{stamp}", loaded.checkpoint.name());
        self.out.clone().unwrap_or_else(|| Path::new("transcripts").join(name))
    }
}

impl Decoding {
    fn options(&self, loaded: &Loaded) -> Options {
        Options {
            end_ids: loaded.model.config().end_ids.clone(),
            ignore_eos: self.ignore_eos,
            prefill_chunk: self.prefill_chunk as usize,
            rewind: match self.rewind {
                RewindArg::Keep => Rewind::KeepStates,
                RewindArg::Replay => Rewind::Replay,
            },
            detail: match self.rows {
                RowsArg::None => RowDetail::None,
                RowsArg::Digest => RowDetail::Digest,
                RowsArg::Bytes => RowDetail::Bytes,
            },
            routes: self.routes.clone(),
        }
    }
}

/// A fault at a place that the model does not have would prove nothing by not being found.
pub(super) fn refuse_misplaced(plants: &[Plant], mixers: &[&'static str]) -> Result<(), Failure> {
    let says = plants.iter().find_map(|plant| plant.misplaced(mixers));
    says.map_or(Ok(()), |says| Err(Failure::usage(format!("failed to plant {says}"))))
}

/// A recording of another model may propose ids that this one cannot be fed.
fn refuse_foreign(recording: Option<&Arm>, vocabulary: usize) -> Result<(), Failure> {
    let rounds = recording.iter().flat_map(|arm| &arm.sequences).flat_map(|one| &one.rounds);
    let foreign = |id: &&TokenId| !usize::try_from(**id).is_ok_and(|id| id < vocabulary);
    rounds.flat_map(|round| &round.draft).find(foreign).map_or(Ok(()), |id| {
        let says = format!("the recording proposes id {id}, outside the vocabulary of {vocabulary}");
        Err(Failure::usage(format!("failed to read drafter: {says}; record it with this model")))
    })
}

/// Recorded runs are never overwritten, and half an experiment is not started over another one.
fn refuse_taken(out: &Path, arms: &[ArmSpec]) -> Result<(), Failure> {
    let lines = arms.iter().map(|arm| out.join(arm.file()));
    let files = lines.flat_map(|lines| [rows_path(&lines), lines]);
    // A dangling link is taken too: what it points to is not ours to make.
    let taken = files.into_iter().find(|file| file.symlink_metadata().is_ok());
    taken.map_or(Ok(()), |file| {
        Err(Failure::unavailable(format!(
            "failed to record: {} is already there; choose another --out",
            file.display()
        )))
    })
}

fn run_all(
    bench: &Bench<'_>,
    arms: &[ArmSpec],
    out: &Path,
    bar: &console::Progress,
) -> Result<Vec<ArmRun>, Failure> {
    let mut runs: Vec<ArmRun> = Vec::new();
    for arm in arms {
        bar.label(&arm.label());
        let file = out.join(arm.file());
        let references = runs.first().map_or_else(Vec::new, |classic| classic.streams.clone());
        let run = run::ran(bench, *arm, &file, &references).map_err(|error| stopped(&file, &error))?;
        runs.push(run);
    }
    Ok(runs)
}

/// A request that this model cannot serve is a wrong command line.
fn refused(error: &Error) -> Failure {
    match error {
        Error::Request(says) => Failure::usage(format!("failed to {says}")),
        _ => Failure::unavailable(format!("failed to {error}")),
    }
}

fn stopped(file: &Path, error: &Error) -> Failure {
    match error {
        // These name their file themselves.
        Error::Request(_) | Error::Write(_) => refused(error),
        _ => Failure::unavailable(format!("failed to run the arm of {}: {error}", file.display())),
    }
}

/// Reads the transcripts back and has them judged as anybody else's would be.
fn judged(runs: Vec<ArmRun>) -> anyhow::Result<Experiment> {
    let contestant = |run: &ArmRun| -> anyhow::Result<Contestant> {
        let path = Path::new(&run.file);
        let arm = Arm::read(path).map_err(Failure::from)?;
        Ok(Contestant { arm, judged: judge_path(path).map_err(Failure::from)? })
    };
    let all = runs.iter().map(contestant).collect::<anyhow::Result<Vec<_>>>()?;
    let nulls = null_arms(&all);
    let (classic, arms) = all.into_iter().partition(|one| one.arm.header.kind == ArmKind::Classic);
    let judgement = comparing::compare(arms, classic, None)
        .map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
    Ok(Experiment::new(runs, judgement, &nulls))
}
