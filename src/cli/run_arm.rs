//! `exactness run-arm`: plain decoding and its null arm, then speculative arms beside it, each into a transcript.

use super::check_algebra::Format;
use super::experiment::{Setup, width};
use super::{console, ran};
use crate::arms::ArmSpec;
use crate::arms::spec::{REGISTRY, plan};
use crate::engine::rows::RowDetail;

/// Runs arms and compares them: plain decoding, its repeat, then each width, one transcript a run.
///
/// Greedy decoding draws nothing. Seeds belong to what is random: `--drafter random:SEED`, and `--prompt-seed` for
/// the drawn prompts of a model without a tokenizer.
#[derive(Debug, clap::Args)]
pub struct RunArm {
    #[command(flatten)]
    arms: WhichArms,
    #[command(flatten)]
    setup: Setup,
    /// Runs of each speculative arm, and with --classic of plain decoding, then at least two; those after the first are
    /// null arms.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
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

impl RunArm {
    /// Runs the verb.
    ///
    /// # Errors
    /// When the model, a prompt or the output folder is not usable, or MLX refuses. What was recorded stays.
    pub fn run(self) -> anyhow::Result<u8> {
        let prepared = self.setup.prepare(RowDetail::Digest)?;
        let experiment = prepared.record(&self.planned())?;
        console::out(&ran::print(&experiment, &prepared.out, self.format, self.per_prompt)?);
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
}
