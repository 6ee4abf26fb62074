//! `exactness remedy`: the cheapest setting under which a width is exact, proven, and what it costs beside the others.

use super::check_algebra::Format;
use super::exit::Failure;
use super::experiment::{Prepared, Setup, refuse_unseen, stopped, width};
use super::remedied;
use super::routed::{RoutesArg, auto_key, machine, memo_path, routes_text, verdict_key};
use super::timed::Runs;
use super::{console, settings, trails};
use crate::engine::inventory;
use crate::engine::plant::Plant;
use crate::engine::routes::Routes;
use crate::engine::rows::RowDetail;
use crate::engine::side_routes::SideRoutes;
use crate::probe::dispatch::Machine;
use crate::probe::exact::INPUTS;
use crate::probe::hazards::About;
use crate::probe::memo::Memo;
use crate::probe::walk::Walk;
use crate::remedy::run::{Ask, RemedyError, remedy};
use crate::results::bisect::Key;
use crate::results::remedy::steps::QUESTION;
use crate::results::remedy::{REMEDY_VERSION, Remedy, WidthRemedy};
use crate::transcript::digest::sha256;
use crate::transcript::files::{put_aside, rename, write_whole};
use std::path::Path;

/// Finds the cheapest routes under which blocks of a width give plain decoding's bytes.
///
/// What parts is named with every input made equal; for each operation the most rows a call that still agree are
/// searched, and settings made of that are proven by a probe, every position at every row of a block, and by a run of
/// the arm. Each proven one is timed between runs of plain decoding. The last setting is one of both sides, which changes
/// plain decoding, too, and is said to do so. The choice is kept beside the gate's verdict, where
/// `--routes auto` finds it. A search that was interrupted goes on in the same `--out`.
#[derive(Debug, clap::Args)]
pub struct RemedyArgs {
    #[command(flatten)]
    widths: Widths,
    #[command(flatten)]
    setup: Setup,
    /// Ids of a probe's prompt: the first position that is proven.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    length: u32,
    /// Tokens past it: how many positions are proven.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    walk: u32,
    /// Draws the first input of a probe; the others come from the seeds after it.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Runs of each setting, and of plain decoding at each end, where speed is measured.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    repeat: u32,
    /// Measure no speed: of the proven settings the one of fewest calls is taken.
    #[arg(long)]
    no_bench: bool,
    /// Let a setting win that changes plain decoding, too, where it is faster than those of blocks alone. Without this it is
    /// shown beside them, and taken only where none of them is exact.
    #[arg(long, conflicts_with = "no_bench")]
    allow_both: bool,
    /// Keep neither verdicts nor the choice.
    #[arg(long, conflicts_with = "memo")]
    no_memo: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Widths {
    /// One block width: rows verified in one forward, proposals + 1.
    #[arg(long, value_name = "N", value_parser = width)]
    width: Option<usize>,
    /// Several block widths.
    #[arg(long, value_name = "N,N,…", value_parser = width, value_delimiter = ',')]
    widths: Option<Vec<usize>>,
}

impl RemedyArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the setup is not usable, MLX refuses or a file cannot be written. What was answered stays in the trail.
    pub fn run(self) -> anyhow::Result<u8> {
        let RoutesArg::Given(requested) = self.setup.routes() else {
            let says = "failed to look for a remedy: it finds what auto takes; give it the routes that you would use";
            return Err(Failure::usage(says).into());
        };
        refuse_unseen(self.setup.plants())?;
        let prepared = self.setup.prepare(RowDetail::Digest)?;
        if prepared.options().detail == RowDetail::None {
            let says = "failed to look for a remedy: --rows=none leaves no row to compare in a run";
            return Err(Failure::usage(says).into());
        }
        let (mut widths, taken) = self.searched(&prepared, requested)?;
        let stored = self.store(&prepared, &widths)?;
        for one in &mut widths {
            one.stored = stored && one.choice.is_some();
        }
        let (backend, version, device) = machine();
        let remedy = Remedy {
            version: REMEDY_VERSION,
            ending: Remedy::worst(&widths),
            model: prepared.loaded().checkpoint.name(),
            machine: format!("{backend} {version}, {device}"),
            requested: prepared.options().routes.to_string(),
            planted: self.setup.plants().iter().map(Plant::to_string).collect(),
            widths,
            command: settings::command_line(),
        };
        let json = serde_json::to_string_pretty(&remedy)?;
        let file = prepared.out.join("remedy.json");
        keep_other_widths(&file, &remedy)?;
        write_whole(&file, format!("{json}\n").as_bytes())?;
        console::out(&match self.format {
            Format::Json => json,
            format => remedied::text(&remedy, format, (&prepared.out, &taken)),
        });
        Ok(remedy.exit_code())
    }

    /// What was found, and how much of it was in the trail already.
    fn searched(
        &self,
        prepared: &Prepared<'_>,
        requested: &Routes,
    ) -> anyhow::Result<(Vec<WidthRemedy>, String)> {
        let loaded = prepared.loaded();
        let layers = inventory::layers(loaded.model.config());
        let (walk, seeds, widths) = (self.walk(prepared), self.seeds(), self.asked());
        let (backend, version, device) = machine();
        let key = self.key(prepared)?;
        let mut trail = trails::open(&prepared.out, key)?;
        let bar = console::Progress::counting(widths.len() * 12, "steps");
        let ask = Ask {
            about: About {
                checkpoint: &loaded.checkpoint,
                dtype: loaded.model.dtype(),
                machine: Machine::named(&backend, &version, &device),
                version: &version,
            },
            model: &loaded.model,
            layers: &layers,
            requested,
            walk: &walk,
            allow_both: self.allow_both,
            timed: (!self.no_bench).then_some(self.repeat),
            seeds: &seeds,
            progress: &|step| {
                bar.label(step);
                bar.add(1);
            },
        };
        let runs = Runs::new(prepared);
        let found = remedy::<anyhow::Error>(ask, &widths, &runs, &mut trail).map_err(failure)?;
        bar.finish();
        Ok((found, trails::taken(&trail)))
    }

    fn asked(&self) -> Vec<usize> {
        let Widths { width, widths } = &self.widths;
        let mut all: Vec<usize> = width.iter().chain(widths.iter().flatten()).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn seeds(&self) -> Vec<u64> {
        (0..INPUTS as u64).map(|more| self.seed.wrapping_add(more)).collect()
    }

    fn walk(&self, prepared: &Prepared<'_>) -> Walk {
        Walk {
            length: self.length as usize,
            seed: self.seed,
            tokens: self.walk as usize,
            prefill_chunk: prepared.options().prefill_chunk,
            plain: self.setup.plain().given(),
            rewind: prepared.options().rewind,
            plants: self.setup.plants().to_vec(),
        }
    }

    /// What the trail is about: everything that changes an answer but for the widths, which name their steps.
    fn key(&self, prepared: &Prepared<'_>) -> anyhow::Result<Key> {
        let loaded = prepared.loaded();
        let prompts = sha256(&serde_json::to_vec(prepared.prompts().prompts())?);
        let planted: Vec<String> = self.setup.plants().iter().map(|plant| format!(", {plant}")).collect();
        let question = format!(
            "{QUESTION}{}, {} past {} ids, seed {}, prefill {}, prompts {}, {}{}{}",
            routes_text(&prepared.options().routes, prepared.options().rewind),
            self.walk,
            self.length,
            self.seed,
            prepared.options().prefill_chunk,
            &prompts[..16],
            self.setup.drafting(),
            if prepared.options().states { ", states" } else { "" },
            planted.concat()
        );
        Ok(trails::key(loaded, None, question))
    }

    /// Keeps every probe's verdict and the choices; a planted fault is no property of the machine.
    fn store(&self, prepared: &Prepared<'_>, widths: &[WidthRemedy]) -> anyhow::Result<bool> {
        if !self.setup.plants().is_empty() {
            console::note(
                "note: nothing is kept for --routes auto: what planted faults do is no property of the machine",
            );
        }
        let path = memo_path(self.setup.memo()).filter(|_| !self.no_memo && self.setup.plants().is_empty());
        let Some(path) = path else { return Ok(false) };
        let (mut memo, warning) = Memo::load(&path);
        if let Some(warning) = warning {
            console::note(&warning);
        }
        let (loaded, rewind) = (prepared.loaded(), prepared.options().rewind);
        for one in widths {
            let width = usize::try_from(one.width).unwrap_or(usize::MAX);
            for tried in one.candidates.iter().chain([&one.requested]) {
                let routes = SideRoutes::of_texts(&tried.routes, &tried.plain)?;
                memo.remember(verdict_key(loaded, (width, rewind), &routes), tried.probed.clone());
            }
            if let Some(choice) = &one.choice {
                let plain = self.setup.plain().given();
                memo.choose(auto_key(loaded, (width, rewind), &plain), choice.clone());
            }
        }
        memo.save().map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
        Ok(true)
    }
}

/// A result in the same folder that has widths which are not asked now keeps what it has under a name of its own.
fn keep_other_widths(file: &Path, now: &Remedy) -> anyhow::Result<()> {
    let Ok(text) = std::fs::read(file) else { return Ok(()) };
    let Ok(before) = serde_json::from_slice::<Remedy>(&text) else {
        // Whatever it is, it is not ours to overwrite.
        console::note(&format!("note: {} is no result; it is put aside", file.display()));
        return Ok(put_aside(file)?);
    };
    if before.widths.iter().all(|one| now.widths.iter().any(|now| now.width == one.width)) {
        return Ok(());
    }
    let widths: Vec<String> = before.widths.iter().map(|one| one.width.to_string()).collect();
    let name = format!("remedy-w{}.json", widths.join("-"));
    rename(file, &file.with_file_name(&name))?;
    console::note(&format!("note: what {} held before is kept as {name}", file.display()));
    Ok(())
}

/// What stopped the search, with the exit code that belongs to it.
fn failure(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<RemedyError>() {
        Ok(RemedyError::Engine(error)) => stopped("look for a remedy", &error).into(),
        Ok(RemedyError::Trail(error)) => Failure::from(error).into(),
        Err(other) => other,
    }
}
