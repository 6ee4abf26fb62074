//! What `run-arm` and `bench` share: the flags that say how arms decode, and recording them one after another.

use super::exit::Failure;
use super::judging::judge_path;
use super::model::{Loaded, ModelArgs};
use super::prompted::PromptArgs;
use super::routed::{PlainArgs, RoutesArg};
use super::{console, settings};
use crate::arms::spec::WIDEST;
use crate::arms::{ArmSpec, Bench, PromptSet, identity, run};
use crate::engine::Error;
use crate::engine::cache::Rewind;
use crate::engine::checkpoint::Config;
use crate::engine::drafter::DrafterSpec;
use crate::engine::inventory;
use crate::engine::plant::Plant;
use crate::engine::rows::RowDetail;
use crate::engine::session::Options;
use crate::engine::side_routes::SideRoutes;
use crate::probe::unseen;
use crate::results::arms::{ArmRun, Experiment};
use crate::results::comparing::{self, Contestant};
use crate::results::outcomes::null_arms;
use crate::transcript::writer::rows_path;
use crate::transcript::{Arm, ArmKind, TokenId, clock};
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is decoded, by which model, and how.
#[derive(Debug, clap::Args)]
pub struct Setup {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    prompts: PromptArgs,
    #[command(flatten)]
    decoding: Decoding,
    /// Put a fault into the verify blocks, as in `op=o_proj,layer=3,row=2,from=40,ulp=1` or `op=gate_proj,rows>=8`, or
    /// into the bookkeeping: `fault=` rejected-row, skipped-rewind, state-ahead, selection or prefill; may be repeated.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    plants: Vec<Plant>,
    /// Folder for what is recorded; default: transcripts/<model>-<time>.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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
    /// How the verify block computes, as in `delta=chunked,linear=rows:6,layer.5.o_proj=rows`; `auto` takes what a remedy
    /// chose for the width.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ROUTES", value_parser = str::parse::<RoutesArg>)]
    routes: RoutesArg,
    #[command(flatten)]
    plain: PlainArgs,
    /// Where the gate's verdicts and a remedy's choices lie; default: gate.json in the user's cache folder.
    #[arg(long, value_name = "FILE")]
    memo: Option<PathBuf>,
    /// How recurrent states go back to the accepted row.
    #[arg(long, value_enum, default_value_t = RewindArg::Keep)]
    rewind: RewindArg,
    /// Prompt ids fed at once.
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    prefill_chunk: u32,
    /// What is recorded of logit rows: nothing, digest and best entries, or their bytes too (plain --rows); default:
    /// digest, and nothing where speed is measured.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "bytes")]
    rows: Option<RowsArg>,
    /// Also record a digest of all keys, values and recurrent states after each step and round: it is compared
    /// wherever plain decoding and a round end at the same position.
    #[arg(long)]
    states: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum RewindArg {
    /// Keep the state after each row and pick one
    Keep,
    /// Restore the state before the block and run the accepted rows again
    Replay,
}

impl RewindArg {
    pub(super) const fn rewind(self) -> Rewind {
        match self {
            Self::Keep => Rewind::KeepStates,
            Self::Replay => Rewind::Replay,
        }
    }
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

/// A setup that was read and found usable.
pub struct Prepared<'a> {
    setup: &'a Setup,
    loaded: Loaded,
    prompts: PromptSet,
    recording: Option<Arm>,
    options: Options,
    /// Where the transcripts go.
    pub out: PathBuf,
}

impl Setup {
    /// Loads the model and reads the prompts; `unless_told` is what is recorded of rows without `--rows`.
    ///
    /// # Errors
    /// When the model, a prompt, a route or a fault to plant is not usable.
    pub fn prepare(&self, unless_told: RowDetail) -> Result<Prepared<'_>, Failure> {
        let loaded = self.model.load()?;
        let prompts = self.prompts.read(&loaded)?;
        let recording = self.decoding.drafter.prepare().map_err(Failure::from)?;
        refuse_foreign(recording.as_ref(), loaded.model.config().vocab_size)?;
        let options = self.decoding.options(&loaded, unless_told);
        // Asked before anything is written, so that what this model does not have leaves nothing behind.
        refuse_misplaced(&options.routes, &self.plants, loaded.model.config())?;
        let out = self.out_folder(&loaded);
        Ok(Prepared { setup: self, loaded, prompts, recording, options, out })
    }

    /// Tokens to decode for each prompt.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.decoding.max_tokens as usize
    }

    /// What `--routes` was given.
    #[must_use]
    pub const fn routes(&self) -> &RoutesArg {
        &self.decoding.routes
    }

    /// What `--plain-routes` was given.
    #[must_use]
    pub const fn plain(&self) -> &PlainArgs {
        &self.decoding.plain
    }

    /// What `--memo` was given.
    #[must_use]
    pub fn memo(&self) -> Option<&Path> {
        self.decoding.memo.as_deref()
    }

    /// Faults to plant.
    #[must_use]
    pub fn plants(&self) -> &[Plant] {
        &self.plants
    }

    /// Who proposes, to how many tokens: what a run's answer depends on besides its prompts.
    #[must_use]
    pub fn drafting(&self) -> String {
        let Decoding { drafter, max_tokens, ignore_eos, .. } = &self.decoding;
        format!("{drafter}, {max_tokens} tokens{}", if *ignore_eos { ", past end ids" } else { "" })
    }

    fn out_folder(&self, loaded: &Loaded) -> PathBuf {
        let stamp: String = clock::utc_now().chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("{}-{stamp}", loaded.checkpoint.name());
        self.out.clone().unwrap_or_else(|| Path::new("transcripts").join(name))
    }
}

/// A run that is to be made.
pub struct Planned {
    /// Which.
    pub arm: ArmSpec,
    /// Its transcript.
    pub file: PathBuf,
    /// How its blocks and the plain decoding beside them compute.
    pub routes: SideRoutes,
}

/// What is recorded beside the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Rows and states as the command line has it.
    AsAsked,
    /// Nothing: the run is timed.
    Nothing,
}

impl Prepared<'_> {
    /// Runs the arms in order, each into its transcript, and has them judged.
    ///
    /// # Errors
    /// When a transcript is there already or cannot be written, or MLX refuses. What was recorded stays.
    pub fn record(&self, arms: &[ArmSpec]) -> anyhow::Result<Experiment> {
        let mut routes = BTreeMap::new();
        for width in arms.iter().filter_map(|arm| arm.width).collect::<BTreeSet<_>>() {
            routes.insert(width, self.routes(width)?);
        }
        let plain = self.plain(&routes)?;
        let routes = |arm: &ArmSpec| arm.width.and_then(|width| routes.get(&width).cloned());
        let planned = |arm: &ArmSpec| Planned {
            arm: *arm,
            file: self.out.join(arm.file()),
            routes: routes(arm).unwrap_or_else(|| plain.clone()),
        };
        let planned: Vec<Planned> = arms.iter().map(planned).collect();
        let mut experiment = judged(self.runs(&planned, Recorded::AsAsked)?)?;
        experiment.take_plants(&self.setup.plants.iter().map(ToString::to_string).collect::<Vec<_>>());
        Ok(experiment)
    }

    /// Makes runs in order; the first is plain decoding's.
    ///
    /// # Errors
    /// When a transcript is there already or cannot be written, or MLX refuses. What was recorded stays.
    pub fn runs(&self, planned: &[Planned], recorded: Recorded) -> Result<Vec<ArmRun>, Failure> {
        self.runs_beside(planned, recorded, None)
    }

    /// Makes runs in order beside a run of plain decoding that was made before, which drafters may know.
    ///
    /// # Errors
    /// As [`Prepared::runs`].
    pub fn runs_beside(
        &self,
        planned: &[Planned],
        recorded: Recorded,
        plain: Option<&ArmRun>,
    ) -> Result<Vec<ArmRun>, Failure> {
        refuse_taken(planned)?;
        let max_tokens = self.setup.max_tokens();
        let bar = console::Progress::new(planned.len() * self.prompts.prompts().len() * max_tokens);
        let asked = self.options.clone();
        let options = match recorded {
            Recorded::AsAsked => asked,
            Recorded::Nothing => Options { detail: RowDetail::None, states: false, ..asked },
        };
        let bench = Bench {
            model: &self.loaded.model,
            tokenizer: self.loaded.tokenizer.as_ref(),
            prompts: &self.prompts,
            max_tokens,
            options: &options,
            drafter: &self.setup.decoding.drafter,
            recording: self.recording.as_ref(),
            plants: &self.setup.plants,
            identity: &run::Identity {
                model: identity::model(&self.loaded.checkpoint, self.loaded.model.dtype()),
                host: identity::host(),
                backend: identity::backend(),
                command: settings::command_line(),
            },
            progress: &|tokens| bar.add(tokens),
        };
        let runs = run_all(&bench, planned, plain, &bar)?;
        bar.finish();
        Ok(runs)
    }

    fn routes(&self, width: usize) -> Result<SideRoutes, Failure> {
        let Decoding { routes, plain, memo, .. } = &self.setup.decoding;
        routes.of_width(plain, &self.loaded, (width, self.options.rewind), memo.as_deref())
    }

    /// How plain decoding computes: one way, whatever widths stand beside it.
    fn plain(&self, routes: &BTreeMap<usize, SideRoutes>) -> Result<SideRoutes, Failure> {
        let given = self.setup.plain().given();
        let plain = routes.values().next().map_or(given, |routes| routes.plain.clone());
        if let Some((width, _)) = routes.iter().find(|(_, routes)| routes.plain != plain) {
            return Err(Failure::usage(format!(
                "failed to set routes: the choice for width {width} takes other routes of plain decoding than that of a \
                 narrower one; run each width by itself"
            )));
        }
        Ok(SideRoutes { plain, ..SideRoutes::default() })
    }

    /// The model.
    #[must_use]
    pub const fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// How arms decode.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// The prompts.
    #[must_use]
    pub const fn prompts(&self) -> &PromptSet {
        &self.prompts
    }

    /// Ids of all prompts.
    #[must_use]
    pub fn prompt_ids(&self) -> u64 {
        let lengths = self.prompts.prompts().iter().map(|prompt| prompt.ids.as_ref().map_or(0, Vec::len));
        lengths.sum::<usize>() as u64
    }
}

/// A block width of the command line.
///
/// # Errors
/// When it is none.
pub fn width(text: &str) -> Result<usize, String> {
    let width = text.parse().ok().filter(|width| (1..=WIDEST).contains(width));
    width.ok_or_else(|| format!("{text:?} is no block width; widths are 1 to {WIDEST} rows"))
}

impl Decoding {
    fn options(&self, loaded: &Loaded, unless_told: RowDetail) -> Options {
        Options {
            end_ids: loaded.model.config().end_ids.clone(),
            ignore_eos: self.ignore_eos,
            prefill_chunk: self.prefill_chunk as usize,
            rewind: self.rewind.rewind(),
            detail: match self.rows {
                None => unless_told,
                Some(RowsArg::None) => RowDetail::None,
                Some(RowsArg::Digest) => RowDetail::Digest,
                Some(RowsArg::Bytes) => RowDetail::Bytes,
            },
            states: self.states,
            routes: self.routes.given(&self.plain),
        }
    }
}

/// A route of an operation that the model does not have is a slip; a fault there would prove nothing by not being found.
///
/// # Errors
/// Naming the first of them.
pub(super) fn refuse_misplaced(
    routes: &SideRoutes,
    plants: &[Plant],
    config: &Config,
) -> Result<(), Failure> {
    let layers = inventory::layers(config);
    let route = routes.misplaced(&layers).map(|says| format!("failed to set routes: {says}"));
    let plant = || plants.iter().find_map(|plant| plant.misplaced(&layers));
    let says = route.or_else(|| plant().map(|says| format!("failed to plant {says}")));
    says.map_or(Ok(()), |says| Err(Failure::usage(says)))
}

/// A fault that a walk over known tokens does not come by would prove nothing by not being found.
///
/// # Errors
/// Naming the first of them.
pub(super) fn refuse_unseen(plants: &[Plant]) -> Result<(), Failure> {
    let says = unseen::first(plants).map(|says| format!("failed to plant {says}"));
    says.map_or(Ok(()), |says| Err(Failure::usage(says)))
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
fn refuse_taken(planned: &[Planned]) -> Result<(), Failure> {
    let files = planned.iter().flat_map(|one| [rows_path(&one.file), one.file.clone()]);
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
    planned: &[Planned],
    plain: Option<&ArmRun>,
    bar: &console::Progress,
) -> Result<Vec<ArmRun>, Failure> {
    let mut runs: Vec<ArmRun> = Vec::new();
    for Planned { arm, file, routes } in planned {
        bar.label(&arm.label());
        let options = Options { routes: routes.clone(), ..bench.options.clone() };
        // The plain decoding beside which it will be judged.
        let is_plain = |one: &Planned| one.arm.width.is_none() && one.routes.plain == routes.plain;
        let before = runs.iter().zip(planned).find(|(_, planned)| is_plain(planned)).map(|(run, _)| run);
        let references = before.or(plain).map_or_else(Vec::new, |classic| classic.streams.clone());
        let run = run::ran(&Bench { options: &options, ..*bench }, *arm, file, &references)
            .map_err(|error| stopped(&format!("run the arm of {}", file.display()), &error))?;
        runs.push(run);
    }
    Ok(runs)
}

/// What stopped the engine while it was `doing` something. A request that the model cannot serve is a wrong command
/// line.
pub(super) fn stopped(doing: &str, error: &Error) -> Failure {
    match error {
        Error::Request(says) => Failure::usage(format!("failed to {says}")),
        // It names its file itself.
        Error::Write(_) => Failure::unavailable(format!("failed to {error}")),
        _ => Failure::unavailable(format!("failed to {doing}: {error}")),
    }
}

/// A run's transcript, read back and judged by its own laws.
///
/// # Errors
/// When it cannot be read back.
pub(super) fn contestant(run: &ArmRun) -> anyhow::Result<Contestant> {
    let path = Path::new(&run.file);
    let arm = Arm::read(path).map_err(Failure::from)?;
    Ok(Contestant { arm, judged: judge_path(path).map_err(Failure::from)? })
}

/// Reads the transcripts back and has them judged as anybody else's would be.
///
/// # Errors
/// When one cannot be read back.
pub(super) fn judged(runs: Vec<ArmRun>) -> anyhow::Result<Experiment> {
    let all = runs.iter().map(contestant).collect::<anyhow::Result<Vec<_>>>()?;
    let nulls = null_arms(&all);
    let (classic, arms) = all.into_iter().partition(|one| one.arm.header.kind == ArmKind::Classic);
    let judgement = comparing::compare(arms, classic, None)
        .map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
    Ok(Experiment::new(runs, judgement, &nulls))
}
