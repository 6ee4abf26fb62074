//! What `bench` measured: how fast each width is beside plain decoding, and whether the difference can be told from
//! the machine's own restlessness.
//!
//! Plain decoding runs before and after the speculative arms. How far its runs lie apart is the resolution floor: a
//! width whose speed differs by less is *unresolved*, whatever its median says.

use super::Table;
use super::arms::{ArmRun, Experiment};
use super::outcomes::Role;
use crate::algebra::Verdict;
use crate::transcript::Arm;
use serde::{Deserialize, Serialize};

/// The version of the JSON that [`Bench`] makes.
pub const BENCH_VERSION: u32 = 1;

/// A measured experiment.
#[derive(Debug, Serialize)]
pub struct Bench {
    /// [`BENCH_VERSION`].
    pub version: u32,
    /// Whether the arms that were timed gave plain decoding's text; the exit code follows from it.
    pub verdict: Verdict,
    /// Plain decoding, all its runs.
    pub classic: Speed,
    /// Spread of plain decoding's runs over their median: a smaller difference is not resolved.
    pub floor: f64,
    /// Median of plain decoding's last runs over that of its first ones, less one.
    pub drift: f64,
    /// One entry a width.
    pub arms: Vec<ArmSpeed>,
    /// The runs and what was judged of them.
    pub experiment: Experiment,
}

/// Speed over several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Tokens a second of each run, in the order of running; the prompts' own first tokens are not counted.
    pub tokens_per_second: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// Prompt ids a second, median.
    pub prefill: f64,
}

/// One width beside plain decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmSpeed {
    /// `w4`.
    pub arm: String,
    /// Rows of a full block.
    pub width: usize,
    /// The worst verdict of its runs.
    pub verdict: Verdict,
    /// How fast.
    pub speed: Speed,
    /// Median over plain decoding's median.
    pub ratio: f64,
    /// Whether `ratio` differs from 1 by more than the floor.
    pub resolved: bool,
    /// Share of proposals accepted at each place of the draft, first run.
    pub acceptance: Vec<f64>,
    /// Where a round's time goes, mean of all runs.
    pub split: Split,
    /// What an accepted proposal cost in time beyond one plain step a round, in milliseconds; absent where none
    /// was accepted. The width pays when this is below [`Bench::step_ms`].
    pub accepted_ms: Option<f64>,
}

/// Where a round's time goes, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Proposing.
    pub draft: f64,
    /// Building and launching the verify forward.
    pub verify: f64,
    /// Waiting for its tokens.
    pub sync: f64,
    /// Taking rejected rows back.
    pub rewind: f64,
    /// Everything else, recording included.
    pub other: f64,
}

impl Bench {
    /// Puts together what ran; `prompt_ids` counts the ids of all prompts, `bracket` the runs of plain decoding at
    /// each end, `transcripts` are the runs' own, in their order.
    #[must_use]
    pub fn new(experiment: Experiment, transcripts: &[Arm], prompt_ids: u64, bracket: usize) -> Self {
        let runs_of = |width| experiment.runs.iter().filter(move |run| run.width == width);
        let classic = Speed::of(runs_of(None), prompt_ids);
        let all = &classic.tokens_per_second;
        let floor = spread(all) / classic.median;
        let (first, last) = (&all[..bracket.min(all.len())], &all[all.len().saturating_sub(bracket)..]);
        let drift = median(last) / median(first) - 1.0;
        let mut widths: Vec<usize> = experiment.runs.iter().filter_map(|run| run.width).collect();
        widths.sort_unstable();
        widths.dedup();
        let arms = widths.iter().map(|&width| {
            let speed = Speed::of(runs_of(Some(width)), prompt_ids);
            let pairs = experiment.runs.iter().zip(transcripts).filter(|(run, _)| run.width == Some(width));
            arm_speed(width, speed, &experiment, &pairs.collect::<Vec<_>>(), (classic.median, floor))
        });
        let arms = arms.collect();
        Self { version: BENCH_VERSION, verdict: experiment.verdict, classic, floor, drift, arms, experiment }
    }

    /// A step of plain decoding, in milliseconds.
    #[must_use]
    pub fn step_ms(&self) -> f64 {
        1e3 / self.classic.median
    }
}

/// Plain decoding's last runs lie so far from its first that the machine's own speed changed under the measurement.
#[must_use]
pub fn restless(floor: f64, drift: f64) -> bool {
    drift.abs() > floor / 2.0 && drift.abs() > 0.05
}

impl Bench {
    /// One row a run, for spreadsheets.
    #[must_use]
    pub fn runs_table(&self) -> Table {
        let mut table = Table::new().text("arm").number("repeat").number("width").number("tokens");
        table = table.number("rounds").number("drafted").number("accepted").number("prefill_seconds");
        table = table.number("decode_seconds").number("tokens_per_second").text("verdict").text("file");
        for (run, outcome) in self.experiment.runs.iter().zip(&self.experiment.outcomes) {
            let speed = run.tokens_per_second().unwrap_or(0.0);
            table.row([
                run.arm.clone(),
                run.repeat.to_string(),
                run.width.map_or_else(String::new, |width| width.to_string()),
                run.tokens.to_string(),
                run.rounds.to_string(),
                run.drafted.to_string(),
                run.accepted.to_string(),
                format!("{:.6}", run.prefill_seconds),
                format!("{:.6}", run.decode_seconds),
                format!("{speed:.3}"),
                outcome.word(),
                run.file.clone(),
            ]);
        }
        table
    }
}

impl Speed {
    fn of<'a>(runs: impl Iterator<Item = &'a ArmRun>, prompt_ids: u64) -> Self {
        let (mut speeds, mut prefills) = (Vec::new(), Vec::new());
        for run in runs {
            speeds.extend(run.tokens_per_second());
            prefills.push(count(prompt_ids) / run.prefill_seconds);
        }
        Self { median: median(&speeds), tokens_per_second: speeds, prefill: median(&prefills) }
    }
}

fn arm_speed(
    width: usize,
    speed: Speed,
    experiment: &Experiment,
    pairs: &[(&ArmRun, &Arm)],
    (classic, floor): (f64, f64),
) -> ArmSpeed {
    let outcomes = experiment.runs.iter().zip(&experiment.outcomes);
    let own = outcomes.filter(|(run, outcome)| run.width == Some(width) && outcome.role != Role::Reference);
    let verdicts = own.map(|(_, outcome)| outcome.verdict);
    let ratio = speed.median / classic;
    ArmSpeed {
        arm: format!("w{width}"),
        width,
        verdict: verdicts.max_by_key(|verdict| verdict.exit_code()).unwrap_or(Verdict::NotRun),
        ratio,
        resolved: (ratio - 1.0).abs() > floor,
        acceptance: pairs.first().map_or_else(Vec::new, |(_, arm)| acceptance(arm, width)),
        split: split(pairs),
        accepted_ms: accepted_ms(pairs, 1e3 / classic),
        speed,
    }
}

/// Share accepted at each place of the draft, of the rounds that proposed that far.
fn acceptance(arm: &Arm, width: usize) -> Vec<f64> {
    let rounds = || arm.sequences.iter().flat_map(|sequence| &sequence.rounds);
    let share = |place: usize| {
        let proposed = rounds().filter(|round| round.draft.len() > place);
        let accepted =
            proposed.clone().filter(|round| usize::try_from(round.accepted).is_ok_and(|a| a > place));
        (count(accepted.count() as u64), count(proposed.count() as u64))
    };
    let shares = (0..width - 1).map(share).take_while(|(_, proposed)| *proposed > 0.0);
    shares.map(|(accepted, proposed)| accepted / proposed).collect()
}

fn split(pairs: &[(&ArmRun, &Arm)]) -> Split {
    let mut sum = Split::default();
    let (mut rounds, mut milliseconds) = (0.0, 0.0);
    for (run, arm) in pairs {
        milliseconds += run.decode_seconds * 1e3;
        for round in arm.sequences.iter().flat_map(|sequence| &sequence.rounds) {
            let micros = round.micros.unwrap_or_default();
            let part = |micros: Option<f64>| micros.unwrap_or(0.0) / 1e3;
            sum.draft += part(micros.draft);
            sum.verify += part(micros.verify);
            sum.sync += part(micros.sync);
            sum.rewind += part(micros.rewind);
            rounds += 1.0;
        }
    }
    let known = sum.draft + sum.verify + sum.sync + sum.rewind;
    let mean = |total: f64| if rounds > 0.0 { total / rounds } else { 0.0 };
    Split {
        draft: mean(sum.draft),
        verify: mean(sum.verify),
        sync: mean(sum.sync),
        rewind: mean(sum.rewind),
        other: mean((milliseconds - known).max(0.0)),
    }
}

fn accepted_ms(pairs: &[(&ArmRun, &Arm)], step: f64) -> Option<f64> {
    let total = |of: fn(&ArmRun) -> f64| pairs.iter().map(|(run, _)| of(run)).sum::<f64>();
    let accepted = total(|run| count(run.accepted));
    let beyond = total(|run| run.decode_seconds * 1e3) - total(|run| count(run.rounds)) * step;
    (accepted > 0.0).then(|| beyond / accepted)
}

/// The middle value, or the mean of the middle two; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len(), sorted.len() % 2) {
        (0, _) => 0.0,
        (_, 1) => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

fn spread(values: &[f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    (highest - lowest).max(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens and rounds are far below 2⁵²")]
fn count(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::{median, spread};

    #[test]
    fn medians_and_spreads() {
        assert_eq!(median(&[3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]).to_bits(), 2.5_f64.to_bits());
        assert_eq!(spread(&[4.0, 1.0, 2.5]).to_bits(), 3.0_f64.to_bits());
        assert_eq!(spread(&[]).to_bits(), 0.0_f64.to_bits());
    }
}
