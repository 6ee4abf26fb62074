//! `exactness bisect`: from differing bytes to the row, the layer and the operation that parted first, with proof.

use super::check_algebra::Format;
use super::console::{self, Progress};
use super::exit::Failure;
use super::experiment::{RewindArg, refuse_misplaced, stopped, width};
use super::model::{Loaded, ModelArgs};
use super::prompted::PromptArgs;
use super::rounds::{self, Rounds};
use super::routed::{PlainArgs, RoutesArg, machine, routes_text};
use super::{settings, trails};
use crate::arms::identity;
use crate::bisect::cupti::Cupti;
use crate::bisect::run::{Answers, Ask, BisectError, bisect};
use crate::bisect::screen::screen;
use crate::bisect::script::Script;
use crate::bisect::side::Stage;
use crate::engine::cache::Rewind;
use crate::engine::drafter::DrafterSpec;
use crate::engine::plant::Plant;
use crate::engine::raw::{active_memory, peak_memory};
use crate::engine::side_routes::SideRoutes;
use crate::probe::dispatch::Machine;
use crate::results::Word;
use crate::results::bisect::{BISECT_VERSION, Bisected, Class, Key, Question, Reading, Screened};
use crate::transcript::clock;
use crate::transcript::digest::sha256;
use crate::transcript::files::write_whole;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Finds the first row, layer and operation at which a verify block and plain decoding part, and proves it.
///
/// Both sides start from one state and are driven over the same tokens; bytes of every kept row and of every state are
/// compared. Null arms and observers come first. The rounds are a transcript's, an accept pattern's or a live arm's;
/// with none named, those of the newest transcript that differs from its plain run, or of a live arm at width 4.
#[derive(Debug, clap::Args)]
pub struct BisectArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Another checkpoint of the same shape, on the block's side alone; the prompt is fed to the first one.
    #[arg(long, value_name = "DIR")]
    block_model: Option<PathBuf>,
    /// Drive the rounds and rewinds of a transcript again, with its prompts and routes.
    #[arg(long, value_name = "TRANSCRIPT", conflicts_with_all = ["patterns", "width", "prompted"])]
    from: Option<PathBuf>,
    /// Accept patterns over the first prompt, rows kept in turn, as in '1;2;3;1,3;1,2,3,4'.
    #[arg(long, value_name = "COUNTS;…", value_parser = rounds::patterns)]
    patterns: Option<rounds::Patterns>,
    /// A live arm at this block width; with --patterns the width of their blocks.
    #[arg(long, value_name = "N", value_parser = width)]
    width: Option<usize>,
    #[command(flatten)]
    prompts: PromptArgs,
    /// Who proposes in a live arm, as in run-arm.
    #[arg(long, default_value = "ngram", value_name = "NAME", value_parser = str::parse::<DrafterSpec>)]
    drafter: DrafterSpec,
    /// Tokens to decode for each prompt, the prompt's own first token included.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    max_tokens: u32,
    /// Never choose an end-of-text id.
    #[arg(long)]
    ignore_eos: bool,
    /// How the verify block computes, as in `delta=chunked`, or `auto` for what a remedy chose; with --from the
    /// transcript's own unless given.
    #[arg(long, value_name = "ROUTES", value_parser = str::parse::<RoutesArg>)]
    routes: Option<RoutesArg>,
    #[command(flatten)]
    plain: PlainArgs,
    /// Where --routes auto looks; default: gate.json in the user's cache folder.
    #[arg(long, value_name = "FILE")]
    memo: Option<PathBuf>,
    /// How recurrent states go back to the accepted row; with --from as recorded, else keep.
    #[arg(long, value_enum)]
    rewind: Option<RewindArg>,
    /// Prompt ids fed at once.
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    prefill_chunk: u32,
    /// Put a fault into the verify blocks, as in `op=o_proj,layer=3,row=2,from=40` or `fault=state-ahead`; may be
    /// repeated.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    plants: Vec<Plant>,
    /// Runs of each null arm: more of them find races that one does not.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    #[command(flatten)]
    further: Further,
    #[command(flatten)]
    walks: Walks,
    /// Folder for the trail, the result and the reproducer; a bisect that was stopped goes on there. Default:
    /// bisects/<model>-<time>.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// What is printed of the walk besides its outcome.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Walks {
    /// Print every layer's input, state and output on the frontier's row.
    #[arg(long)]
    layer_walk: bool,
    /// Print every operation of the named layer, in the order of computation.
    #[arg(long)]
    op_walk: bool,
}

/// What is asked besides the walk.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Further {
    /// Go on until every source is known and block and chain are identical with all of them treated.
    #[arg(long)]
    all_sources: bool,
    /// Look for the shortest prompt and the fewest tokens that still part.
    #[arg(long)]
    reduce: bool,
}

/// What was loaded and settled before anything is walked.
struct Settled {
    loaded: Loaded,
    block: Option<Loaded>,
    rounds: Rounds,
    routes: SideRoutes,
    rewind: Rewind,
    plants: Vec<Plant>,
}

impl BisectArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model, the rounds or the folder is not usable, or MLX refuses. What was answered stays in the trail.
    pub fn run(self) -> anyhow::Result<u8> {
        // Before the model is loaded: what was captured into a graph before is not traced kernel by kernel.
        let tracer = tracer();
        let settled = self.settle()?;
        let stage = self.stage(&settled);
        let bar = Progress::counting(6, "steps");
        bar.label("rounds");
        let live = rounds::Live {
            drafter: &self.drafter,
            tokens: self.max_tokens as usize,
            end_ids: &settled.loaded.model.config().end_ids,
        };
        let scripts = settled.rounds.scripts(&stage, &live)?;
        let screened = if scripts.len() > 1 {
            screen(&stage, &scripts).map_err(|error| stopped("bisect", &error))?
        } else {
            Vec::new()
        };
        let script = &scripts[chosen(&screened)];
        let folder = self.folder(&settled)?;
        let question = question_text(&settled, &stage, &scripts, self.repeat)?;
        let key = trails::key(&settled.loaded, settled.block.as_ref(), question);
        let (backend, version, device) = machine();
        let machine = Machine::named(&backend, &version, &device);
        let mut trail = trails::open(&folder, key.clone())?;
        let model = identity::model(&settled.loaded.checkpoint, settled.loaded.model.dtype());
        let (backend, command) = (identity::backend(), settings::command_line());
        let ask = Ask {
            checkpoint: &settled.loaded.checkpoint,
            machine,
            repeat: self.repeat,
            live: settled.rounds.is_live(),
            all_sources: self.further.all_sources,
            reduce: self.further.reduce,
            tracer: tracer.as_ref().map(|tracer| tracer.as_ref().map_err(String::as_str)),
            write: Some((&folder.join("reproducer"), &model, &backend, &command)),
            progress: &|step| {
                bar.label(step);
                bar.add(1);
            },
        };
        let weights = active_memory();
        let mut answers = bisect(&stage, &script.1, ask, &mut trail).map_err(failure)?;
        (answers.cost.weight_bytes, answers.cost.peak_bytes) = (weights, Some(peak_memory()));
        bar.finish();
        let about =
            About { settled: &settled, stage: &stage, scripts: &scripts, script, screened, key: &key };
        let bisected = self.bisected(about, answers);
        self.finish(&bisected, &folder)
    }

    fn finish(&self, bisected: &Bisected, folder: &Path) -> anyhow::Result<u8> {
        let json = serde_json::to_string_pretty(bisected)?;
        write_whole(&folder.join("bisect.json"), format!("{json}\n").as_bytes())
            .map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
        console::out(&match self.format {
            Format::Json => json,
            format => {
                super::bisected::text(bisected, format, (self.walks.layer_walk, self.walks.op_walk), folder)
            }
        });
        Ok(bisected.exit_code())
    }

    fn settle(&self) -> Result<Settled, Failure> {
        let loaded = self.model.load()?;
        let block = self
            .block_model
            .as_ref()
            .map(|folder| ModelArgs { model: Some(folder.clone()), dtype: self.model.dtype }.load());
        let block = block.transpose()?;
        let rounds = self.which_rounds(&loaded)?;
        let rewind = self.rewind.or(rounds.rewind()).unwrap_or(RewindArg::Keep).rewind();
        let routes = self.routes(&rounds, &loaded, rewind)?;
        let plants = if self.plants.is_empty() { rounds.plants()? } else { self.plants.clone() };
        refuse_misplaced(&routes, &plants, loaded.model.config())?;
        if let Some(block) = &block {
            refuse_other_shape(&loaded, block)?;
        }
        Ok(Settled { loaded, block, rounds, routes, rewind, plants })
    }

    /// As told, else as recorded; plain decoding's apart from the block's.
    fn routes(&self, rounds: &Rounds, loaded: &Loaded, rewind: Rewind) -> Result<SideRoutes, Failure> {
        let memo = self.memo.as_deref();
        match &self.routes {
            Some(told @ RoutesArg::Auto) => {
                told.of_width(&self.plain, loaded, (rounds.asked_width(), rewind), memo)
            }
            Some(told @ RoutesArg::Given(_)) if self.plain.is_given() => Ok(told.given(&self.plain)),
            Some(RoutesArg::Given(block)) => Ok(SideRoutes { block: block.clone(), plain: rounds.plain()? }),
            None if self.plain.is_given() => Ok(SideRoutes { plain: self.plain.given(), ..rounds.routes()? }),
            None => rounds.routes(),
        }
    }

    fn which_rounds(&self, loaded: &Loaded) -> Result<Rounds, Failure> {
        if let Some(path) = &self.from {
            return Rounds::recorded(path, loaded);
        }
        if let Some(patterns) = &self.patterns {
            return Rounds::patterns(patterns, self.width, &self.prompts.read(loaded)?);
        }
        let recording = self.drafter.prepare().map_err(Failure::from)?;
        if let Some(width) = self.width {
            return Ok(Rounds::live(width, recording, self.prompts.read(loaded)?));
        }
        let newest = || rounds::newest_that_differs(Path::new("transcripts"), loaded);
        if let Some((path, rounds)) = if self.prompts.given() { None } else { newest() } {
            console::note(&format!(
                "note: no rounds were named; those of {} are driven again",
                path.display()
            ));
            return Ok(rounds);
        }
        console::note(
            "note: no rounds were named and no transcript of this model here differs; a live arm at width 4 is run",
        );
        Ok(Rounds::live(4, recording, self.prompts.read(loaded)?))
    }

    fn stage<'a>(&self, settled: &'a Settled) -> Stage<'a> {
        let chain = &settled.loaded.model;
        Stage {
            chain,
            block: settled.block.as_ref().map_or(chain, |block| &block.model),
            routes: settled.routes.clone(),
            rewind: settled.rewind,
            prefill_chunk: self.prefill_chunk as usize,
            banned: if self.ignore_eos { chain.config().end_ids.clone() } else { Vec::new() },
            plants: settled.plants.clone(),
        }
    }

    fn folder(&self, settled: &Settled) -> Result<PathBuf, Failure> {
        let stamp: String = clock::utc_now().chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("{}-{stamp}", settled.loaded.checkpoint.name());
        let folder = self.out.clone().unwrap_or_else(|| Path::new("bisects").join(name));
        if folder.exists() && !folder.is_dir() {
            let says =
                format!("failed to write into {}: it is no folder; choose another --out", folder.display());
            return Err(Failure::unavailable(says));
        }
        Ok(folder)
    }

    /// All sources are operations; of another place they say nothing.
    fn unsourced(&self, class: Class) -> Option<String> {
        let other = class.word() == Word::Differs && class != Class::Operation;
        (self.further.all_sources && other).then(|| {
            "--all-sources lists operations, and what parted first is none; treat that first.".to_owned()
        })
    }

    fn bisected(&self, about: About<'_, '_>, answers: Answers) -> Bisected {
        let About { settled, stage, scripts, script: (label, script), screened, key } = about;
        let proposed = scripts.iter().any(|(_, script)| script.width() > 1);
        let planted: Vec<String> = settled.plants.iter().map(ToString::to_string).collect();
        let broken = settled.rounds.broken();
        let class = told(answers.class, &planted, &answers, (!proposed, broken.is_some()));
        let mut remarks = remarks(settled, &planted, &answers);
        remarks.extend(broken);
        remarks.extend(self.unsourced(class));
        remarks.extend(unproposed(scripts));
        let seen = answers.seen;
        let reading = self.patterns.as_ref().filter(|_| !screened.is_empty()).map(|_| Reading::of(&screened));
        let (layers, operations, heat, operation, kernel, rewind) = match seen {
            Some(seen) => (seen.layers, seen.operations, seen.heat, seen.operation, seen.kernel, seen.rewind),
            None => Default::default(),
        };
        Bisected {
            version: BISECT_VERSION,
            class,
            model: key.model.clone(),
            machine: format!("{}, exactness {}", key.machine, key.program),
            question: Question {
                rounds: rounds_text(settled, label),
                width: script.width() as u64,
                prompt: script.prompt.len() as u64,
                tokens: script.tokens() as u64,
                routes: routes_text(&stage.routes, stage.rewind),
                planted,
            },
            screened,
            reading,
            controls: answers.controls,
            prefill: Some(answers.prefill),
            rows: answers.rows,
            rewind,
            layers,
            operations,
            heat,
            operation,
            confirmation: answers.confirmation,
            kernel,
            measured: answers.measured,
            sources: answers.sources,
            reduced: answers.reduced,
            struck: answers.struck,
            remarks,
            cost: answers.cost,
            reproducer: answers.reproducer.and_then(Result::ok),
            command: settings::command_line(),
        }
    }
}

/// What a result is made of besides the answers.
struct About<'a, 'm> {
    settled: &'a Settled,
    stage: &'a Stage<'m>,
    scripts: &'a [(String, Script)],
    /// The one that the answers are about.
    script: &'a (String, Script),
    screened: Vec<Screened>,
    key: &'a Key,
}

/// What traces kernels where they have names: on an NVIDIA GPU.
fn tracer() -> Option<Result<Rc<Cupti>, String>> {
    let (backend, version, _) = machine();
    let modules = || Some(settings::module_folder(&version));
    (backend == "mlx-cuda")
        .then(|| Cupti::start(modules()).map(Rc::new).map_err(|error| format!("failed to {error}")))
}

fn rounds_text(settled: &Settled, label: &str) -> String {
    let block =
        settled.block.as_ref().map(|block| format!(", blocks by the weights of {}", block.checkpoint.name()));
    format!("{}, {} {label}{}", settled.rounds.says(), settled.rounds.labelled(), block.unwrap_or_default())
}

/// The script that is bisected: the one that parts at the earliest position, the first of equals; else the first.
fn chosen(screened: &[Screened]) -> usize {
    let parting = screened.iter().enumerate().filter(|(_, line)| line.parts.is_some());
    parting.min_by_key(|(_, line)| line.first).map_or(0, |(index, _)| index)
}

/// A fault that was never met proves nothing by an equal run, and neither do blocks of one row, or rounds that are not
/// what was recorded.
fn told(class: Class, planted: &[String], answers: &Answers, (alone, broken): (bool, bool)) -> Class {
    let unmet = planted.iter().any(|plant| !answers.struck.contains(plant));
    match class {
        Class::Identical if unmet => Class::NotStruck,
        Class::Identical if alone => Class::Vacuous,
        Class::Identical if broken => Class::NotReproduced,
        class => class,
    }
}

/// The scripts in which nothing was proposed.
fn unproposed(scripts: &[(String, Script)]) -> Option<String> {
    let alone = scripts.iter().filter(|(_, script)| script.width() == 1);
    let labels: Vec<&str> = alone.map(|(label, _)| label.as_str()).collect();
    (!labels.is_empty()).then(|| {
        format!("Nothing was proposed in {}: blocks of one row are plain decoding's own.", labels.join(", "))
    })
}

fn remarks(settled: &Settled, planted: &[String], answers: &Answers) -> Vec<String> {
    let mut says = Vec::new();
    if settled.block.is_some() {
        says.push("The prompt was fed to the chain's weights on both sides.".to_owned());
    }
    for plant in planted {
        let struck = answers.struck.contains(plant);
        says.push(match (struck, answers.class) {
            (false, Class::NotComparable) => continue,
            (false, _) => format!("The planted {plant} never struck: no round came to what it names."),
            (true, Class::Identical) => {
                format!("The planted {plant} struck, and no byte of a kept row or of a state differs.")
            }
            (true, _) => format!("The planted {plant} struck."),
        });
    }
    says.extend(answers.reproducer.as_ref().and_then(|made| made.clone().err()));
    says.extend(answers.rows.unlike_recorded.filter(|(unlike, _)| *unlike > 0).map(|(unlike, all)| {
        format!(
            "{unlike} of {all} recorded rows have other bytes than the replayed ones: they come from another machine, \
             version or program, or from faults that the transcript does not name."
        )
    }));
    says
}

fn refuse_other_shape(chain: &Loaded, block: &Loaded) -> Result<(), Failure> {
    let (ours, theirs) = (chain.model.config(), block.model.config());
    let same = ours.layers == theirs.layers
        && (ours.hidden_size, ours.vocab_size) == (theirs.hidden_size, theirs.vocab_size);
    let says = "failed to use --block-model: its layers or sizes are not those of --model";
    if same { Ok(()) } else { Err(Failure::usage(says)) }
}

/// Everything that changes an answer: rounds, routes, faults, repeats.
fn question_text(
    settled: &Settled,
    stage: &Stage<'_>,
    scripts: &[(String, Script)],
    repeat: u32,
) -> anyhow::Result<String> {
    let digest = sha256(&serde_json::to_vec(scripts)?);
    let planted: Vec<String> = stage.plants.iter().map(|plant| format!(", {plant}")).collect();
    Ok(format!(
        "{}, rounds {}, routes {}, prefill {}, repeat {repeat}{}",
        settled.rounds.says(),
        &digest[..16],
        routes_text(&stage.routes, stage.rewind),
        stage.prefill_chunk,
        planted.concat()
    ))
}

fn failure(error: BisectError) -> Failure {
    match error {
        BisectError::Engine(error) => stopped("bisect", &error),
        BisectError::Trail(error) => error.into(),
    }
}
