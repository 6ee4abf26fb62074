//! `exactness probe`: are a checkpoint's blocks byte-identical to plain decoding on this machine, and how far was looked?

use super::check_algebra::Format;
use super::exit::Failure;
use super::experiment::{refuse_misplaced, refuse_unseen, stopped, width};
use super::judged::Style;
use super::model::{Loaded, ModelArgs};
use super::routed::{PlainArgs, RoutesArg, memo_path, verdict_key};
use super::{console, settings};
use crate::engine::cache::Rewind;
use crate::engine::plant::Plant;
use crate::engine::routes::Routes;
use crate::engine::side_routes::SideRoutes;
use crate::probe::dispatch::Machine;
use crate::probe::exact::{INPUTS, Inputs};
use crate::probe::gate::{Demand, Gate, is_on};
use crate::probe::hazards::About;
use crate::probe::memo::Memo;
use crate::probe::walk::{Blocks, Reach, Walk};
use crate::results::probe::{Key, Probe, Probed, WidthLine};
use crate::transcript::files::WriteError;
use anyhow::Context as _;
use std::path::PathBuf;

/// Holds blocks of each width against plain decoding, from one state, on drawn prompts: bytes of logits and of the state
/// left behind.
///
/// Three inputs; equal means equal on all. Every position is put at every row of a block, rejected proposals and the
/// rewinds after them among it. The verdict covers the positions that it names and no others. Verdicts are remembered by
/// model, width, routes, dtype, library, version and device, and a gate asks for them.
#[derive(Debug, clap::Args)]
pub struct ProbeArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Rows of a block.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [2, 4], value_parser = width)]
    widths: Vec<usize>,
    /// How blocks compute, as in `attention=block,linear=rows:6`; `auto` takes what a remedy chose.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "ROUTES", value_parser = str::parse::<RoutesArg>)]
    routes: RoutesArg,
    #[command(flatten)]
    plain: PlainArgs,
    /// Ids of a prompt: the first position that is covered.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    length: u32,
    /// Tokens past the prompt: how many positions are covered.
    #[arg(long, default_value_t = 128, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    walk: u32,
    /// Draws the first input; the others come from the seeds after it.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Where verdicts are remembered; default: gate.json in the user's cache folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_memo")]
    memo: Option<PathBuf>,
    /// Neither look verdicts up nor remember them.
    #[arg(long)]
    no_memo: bool,
    /// Let the gate use widths that are not exact; `EXACTNESS_ALLOW_INEXACT=1` says the same.
    #[arg(long)]
    allow_inexact: bool,
    /// Put a fault into the blocks or their rewinds, as in `op=o_proj,layer=3,row=1,from=80` or `fault=skipped-rewind`;
    /// may be repeated. Such a verdict is not remembered.
    #[arg(long = "plant", value_name = "PLANT", value_parser = str::parse::<Plant>)]
    plants: Vec<Plant>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

impl ProbeArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model cannot be used, the routes or faults are not its own, MLX refuses or the verdicts cannot be kept.
    pub fn run(self) -> anyhow::Result<u8> {
        let mut gate = Gate::new(self.memo(), self.allow_inexact || is_on(&settings::allow_inexact()));
        remark(gate.warning_at_start());
        let loaded = self.model.load()?;
        refuse_misplaced(&self.routes.given(&self.plain), &self.plants, loaded.model.config())?;
        refuse_unseen(&self.plants)?;
        let routes = self.routes_of(&loaded)?;
        let pairs = self.widths.iter().zip(&routes);
        let key = |(width, routes): (&usize, &SideRoutes)| {
            verdict_key(&loaded, (*width, Rewind::KeepStates), routes)
        };
        let keys: Vec<Key> = pairs.map(key).collect();
        let known = keys.iter().map(|key| self.remembered(&mut gate, key)).collect::<Vec<_>>();
        let mut kept = Ok(());
        if known.contains(&None) {
            kept = self.measure(&loaded, (&keys, &known, &routes), &mut gate)?;
        }
        let lines = keys.into_iter().zip(&known);
        let widths = lines.filter_map(|(key, known)| self.line(&mut gate, key, known.is_some())).collect();
        let planted = self.plants.iter().map(Plant::to_string).collect();
        let probe = Probe::new(loaded.checkpoint.name(), planted, widths, settings::command_line());
        console::out(&print(&probe, self.format)?);
        kept.map_err(|error| Failure::unavailable(format!("failed to {error}")))?;
        Ok(probe.exit_code())
    }

    /// The verdicts that count here; a planted fault is no property of the machine.
    fn memo(&self) -> Memo {
        match memo_path(self.memo.as_deref()) {
            Some(path) if !self.no_memo && self.plants.is_empty() => {
                let (memo, warning) = Memo::load(&path);
                remark(warning);
                memo
            }
            _ => Memo::in_memory(),
        }
    }

    /// How blocks of each width compute.
    fn routes_of(&self, loaded: &Loaded) -> Result<Vec<SideRoutes>, Failure> {
        let memo = self.memo.as_deref();
        let of =
            |width: &usize| self.routes.of_width(&self.plain, loaded, (*width, Rewind::KeepStates), memo);
        self.widths.iter().map(of).collect()
    }

    fn seeds(&self) -> Vec<u64> {
        (0..INPUTS as u64).map(|more| self.seed.wrapping_add(more)).collect()
    }

    fn covered(&self) -> Option<(u64, u64)> {
        let (from, count) = (u64::from(self.length), u64::from(self.walk));
        (count > 0).then(|| (from, from + count - 1))
    }

    /// The verdict about just these positions and inputs.
    fn remembered(&self, gate: &mut Gate, key: &Key) -> Option<Probed> {
        let same = |one: &&Probed| (one.covered, &one.seeds) == (self.covered(), &self.seeds());
        gate.memo_mut().verdicts(key).iter().find(same).cloned()
    }

    /// Probes what is not known; also whether the verdicts could be kept.
    fn measure(
        &self,
        loaded: &Loaded,
        (keys, known, routes): (&[Key], &[Option<Probed>], &[SideRoutes]),
        gate: &mut Gate,
    ) -> Result<Result<(), WriteError>, Failure> {
        let bar = console::Progress::counting(INPUTS + 1 + self.widths.len(), "walks");
        let about = About {
            checkpoint: &loaded.checkpoint,
            dtype: loaded.model.dtype(),
            machine: Machine::named(&keys[0].backend, &keys[0].version, &keys[0].device),
            version: &keys[0].version,
        };
        let asked = keys.iter().zip(known).zip(self.widths.iter().zip(routes));
        let (mut chains, mut kept): (Option<(&Routes, Inputs<'_>)>, _) = (None, Ok(()));
        for ((key, _), (width, routes)) in asked.filter(|((_, known), _)| known.is_none()) {
            let inputs = match chains.take() {
                Some((plain, inputs)) if *plain == routes.plain => inputs,
                _ => {
                    bar.label("chain");
                    let walk = self.walk(&routes.plain);
                    Inputs::record(&loaded.model, &walk, &self.seeds(), &|| bar.add(1))
                        .map_err(|error| stopped("probe", &error))?
                }
            };
            bar.label(&format!("width {width}"));
            let blocks = Blocks { width: *width, routes: routes.block.clone(), reach: Reach::EveryRow };
            let probed = inputs.probe(&about, &blocks).map_err(|error| stopped("probe", &error))?;
            chains = Some((&routes.plain, inputs));
            gate.memo_mut().remember(key.clone(), probed);
            // After each width, so that a probe that is stopped later has not been for nothing.
            kept = kept.and(gate.memo_mut().save());
            bar.add(1);
        }
        bar.finish();
        Ok(kept)
    }

    fn walk(&self, plain: &Routes) -> Walk {
        Walk {
            plain: plain.clone(),
            length: self.length as usize,
            seed: self.seed,
            tokens: self.walk as usize,
            prefill_chunk: 512,
            rewind: Rewind::KeepStates,
            plants: self.plants.clone(),
        }
    }

    fn line(&self, gate: &mut Gate, key: Key, remembered: bool) -> Option<WidthLine> {
        let probed = self.remembered(gate, &key)?;
        // Asked about a position at least: where nothing was compared, nothing is let through.
        let (prompt, tokens) = (u64::from(self.length), u64::from(self.walk.max(1)) + 1);
        let decision = gate.decide(&key, Demand { prompt, tokens, shorter: false });
        let engages = decision.engages;
        Some(WidthLine { key, probed, remembered, engages, says: decision.warning })
    }
}

fn remark(warning: Option<String>) {
    if let Some(warning) = warning {
        console::note(&warning);
    }
}

fn print(probe: &Probe, format: Format) -> anyhow::Result<String> {
    let style = match format {
        Format::Json => return serde_json::to_string_pretty(probe).context("print the probe"),
        Format::Markdown => Style::Markdown,
        Format::Human => Style::Terminal(settings::columns()),
    };
    let text = style.folded(&probe.table());
    let parts = [text, probe.sentences().join("\n"), probe.summary()];
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
}
