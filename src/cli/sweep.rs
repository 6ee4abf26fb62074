//! `exactness sweep`: block against chain over prompt lengths × seeds × widths, resumable and in shards.

use super::console;
use super::exit::Failure;
use super::experiment::{refuse_misplaced, refuse_unseen};
use super::model::ModelArgs;
use super::numbers::Numbers;
use super::sweep_cell::CellArgs;
use super::sweep_merge::{self, MergeArgs};
use crate::algebra::Verdict;
use crate::arms::identity;
use crate::arms::spec::WIDEST;
use crate::engine::plant::Plant;
use crate::engine::routes::Routes;
use crate::results::part_of;
use crate::results::sweep::{Definition, End, Header, Shard};
use crate::sweep::{Children, Step, Store, SweepError, run, store};
use clap::Subcommand;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest prompt and walk that are no slip of the finger.
const LONGEST: u64 = 1_000_000;

/// Maps which widths hold: blocks against plain decoding over prompt lengths, seeds and widths.
///
/// Each prompt length and seed is one cell and runs in a process of its own. The journal in --out keeps every finished
/// cell: the same command, or --resume, goes on where it stopped. A cell whose process crashes is written down as such
/// and the sweep goes on.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    sweep: Sweep,
}

#[derive(Debug, Subcommand)]
enum Part {
    Merge(MergeArgs),
    #[command(hide = true)]
    Cell(CellArgs),
}

#[derive(Debug, clap::Args)]
struct Sweep {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    asked: Asked,
    /// Run one part in n, as in 2/4; `sweep merge` puts the parts together.
    #[arg(long, value_name = "I/N", value_parser = str::parse::<Shard>, conflicts_with = "resume")]
    shard: Option<Shard>,
    /// Folder for the journal and the tables; a sweep that is there already is gone on with.
    #[arg(long, value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the sweep in this folder; what it asks is in its journal.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["lengths", "widths", "seeds", "walk", "Computing"])]
    resume: Option<PathBuf>,
    /// Run crashed cells again.
    #[arg(long)]
    retry: bool,
}

#[derive(Debug, clap::Args)]
struct Asked {
    /// Prompt lengths in ids, as in 8,32,64 or 1..16.
    #[arg(long, default_value = "8,32,64,128,256,512", value_name = "LIST", value_parser = str::parse::<Numbers>)]
    lengths: Numbers,
    /// Block widths: rows verified in one forward, proposals + 1.
    #[arg(long, default_value = "2,3,4,6,8,12,16", value_name = "LIST", value_parser = str::parse::<Numbers>)]
    widths: Numbers,
    /// Seeds that the prompts are drawn from.
    #[arg(long, default_value = "1..3", value_name = "LIST", value_parser = str::parse::<Numbers>)]
    seeds: Numbers,
    /// Positions walked past each prompt; nothing is said of later ones.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    walk: u64,
    #[command(flatten)]
    computing: Computing,
}

/// How chain and blocks compute.
#[derive(Debug, Clone, clap::Args)]
pub struct Computing {
    /// How the verify block computes, as in `delta=chunked,linear=rows:6,layer.5.o_proj=rows`.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ROUTES", value_parser = str::parse::<Routes>)]
    pub routes: Routes,
    /// Prompt ids fed at once.
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub prefill_chunk: u32,
    /// Put a fault into the verify blocks or their rewinds, as in `op=o_proj,layer=3,row=2,from=40,ulp=1` or
    /// `fault=skipped-rewind`; may be repeated.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    pub plants: Vec<Plant>,
}

impl SweepArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model or the folder is not usable, or what is asked makes no sense. Finished cells stay.
    pub fn run(self) -> anyhow::Result<u8> {
        match self.part {
            Some(Part::Merge(merge)) => merge.run(),
            Some(Part::Cell(cell)) => cell.run(),
            None => self.sweep.run(),
        }
    }
}

impl Sweep {
    fn run(self) -> anyhow::Result<u8> {
        let header = self.header()?;
        let folder = self.out.as_deref().or(self.resume.as_deref()).unwrap_or(Path::new("."));
        let mut children = Children {
            program: std::env::current_exe()
                .map_err(|error| Failure::unavailable(format!("failed to find this program: {error}")))?,
            arguments: arguments(&header.definition, self.model.model.as_deref()),
        };
        let mut store = Store::open(folder, header).map_err(Failure::from)?;
        run(&mut store, &mut children, self.retry, &mut |step| console::note(&told(step)))
            .map_err(Failure::from)?;
        sweep_merge::finished(&store)
    }

    /// The whole definition, checked before anything is written.
    fn header(&self) -> Result<Header, Failure> {
        let checkpoint = self.model.open()?;
        let dtype = self.model.activations(&checkpoint);
        let (asked, shard) = match &self.resume {
            Some(folder) => {
                let header = store::read(folder).map_err(Failure::from)?.header;
                (header.definition, header.shard)
            }
            None => (self.asked.definition()?, self.shard),
        };
        let Computing { routes, plants, .. } = &self.asked.computing;
        refuse_misplaced(&routes.clone().into(), plants, checkpoint.config())?;
        refuse_unseen(plants)?;
        let definition = Definition {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            model: identity::model(&checkpoint, dtype),
            host: identity::host(),
            backend: identity::backend(),
            ..asked
        };
        Ok(Header::new(definition, shard))
    }
}

impl Asked {
    fn definition(&self) -> Result<Definition, Failure> {
        let wide = u64::try_from(WIDEST).unwrap_or(u64::MAX).min(self.walk);
        let definition = Definition {
            lengths: self.lengths.within("--lengths", 1, LONGEST)?,
            widths: self.widths.within("--widths", 1, wide)?,
            seeds: self.seeds.all().to_vec(),
            walk: usize::try_from(self.walk).unwrap_or(usize::MAX),
            prefill_chunk: self.computing.prefill_chunk as usize,
            routes: self.computing.routes.to_string(),
            plants: self.computing.plants.iter().map(ToString::to_string).collect(),
            program: String::new(),
            model: crate::transcript::format::Model::default(),
            host: crate::transcript::format::Host::default(),
            backend: crate::transcript::format::Backend::default(),
        };
        Ok(definition.sorted())
    }
}

/// The command line of a cell's process, but for its length and its seed.
fn arguments(definition: &Definition, model: Option<&Path>) -> Vec<OsString> {
    let widths: Vec<String> = definition.widths.iter().map(ToString::to_string).collect();
    let mut words = vec!["sweep".to_owned(), "cell".to_owned()];
    words.extend(["--widths".to_owned(), widths.join(",")]);
    words.extend(["--walk".to_owned(), definition.walk.to_string()]);
    words.extend(["--prefill-chunk".to_owned(), definition.prefill_chunk.to_string()]);
    words.push(format!("--routes={}", definition.routes));
    words.extend(definition.plants.iter().map(|plant| format!("--plant={plant}")));
    words.extend(definition.model.dtype.iter().map(|dtype| format!("--dtype={dtype}")));
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    if let Some(folder) = model {
        words.extend(["--model".into(), folder.as_os_str().to_owned()]);
    }
    words
}

/// One line a finished cell.
fn told(step: &Step<'_>) -> String {
    let Step { entry, done, total, left } = step;
    let end = match &entry.end {
        End::Measured(_) => String::new(),
        End::Crashed(how) => format!(" crashed ({how})"),
    };
    let left = if done == total { String::new() } else { format!(", about {} left", span(*left)) };
    format!("{}{end}: {:.1} s; {}{left}", entry.cell, entry.seconds, part_of(done, *total, "cell"))
}

/// A time that a person waits.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        let says = format!("failed to {error}");
        match error {
            SweepError::Journal { .. } => Self::unparseable(says),
            SweepError::Other { .. } => Self::usage(says),
            SweepError::Refused { code, .. } => Self { code, says },
            SweepError::Form(_) => Self { code: super::exit::BUG, says },
            SweepError::Interrupted { .. } => Self { code: Verdict::CutRun.exit_code(), says },
            SweepError::Read { .. } | SweepError::Write(_) | SweepError::Start { .. } => {
                Self::unavailable(says)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::span;
    use std::time::Duration;

    #[test]
    fn times_are_read_at_a_glance() {
        let told = [0, 99, 100, 3600, 6000].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(told, ["0 s", "99 s", "2 min", "60 min", "1 h 40 min"]);
    }
}
