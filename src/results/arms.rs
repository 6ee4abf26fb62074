//! What `run-arm` measured and how each run came out: one struct that the table, the sentences and the JSON are
//! made of, so that they cannot disagree.

use super::outcomes::{self, Counted, NullArm, Outcome, Role};
use super::{Judgement, Table};
use crate::algebra::Verdict;
use crate::transcript::TokenId;
use crate::transcript::format::Counters;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// One run of one arm over all prompts.
#[derive(Debug, Clone, Serialize)]
pub struct ArmRun {
    /// `classic`, `w4`.
    pub arm: String,
    /// 0 for the arm's first run.
    pub repeat: u32,
    /// Block width; absent for plain decoding.
    pub width: Option<usize>,
    /// The transcript.
    pub file: String,
    /// Tokens decoded.
    pub tokens: u64,
    /// Rounds.
    pub rounds: u64,
    /// Proposals.
    pub drafted: u64,
    /// Proposals accepted.
    pub accepted: u64,
    /// Seconds for the prompts.
    pub prefill_seconds: f64,
    /// Seconds for the tokens after each prompt's first.
    pub decode_seconds: f64,
    /// SHA-256 over all streams, ids as 64-bit little-endian integers.
    pub stream_sha256: String,
    /// The streams, by prompt.
    #[serde(skip)]
    pub streams: Vec<Vec<TokenId>>,
    /// Planted faults that changed something, as they are written.
    #[serde(skip)]
    pub struck: Vec<String>,
    /// Logit rows without a finite best entry.
    #[serde(skip)]
    pub blank_rows: u64,
}

impl ArmRun {
    /// A run that has not decoded anything.
    #[must_use]
    pub fn new(arm: String, repeat: u32, width: Option<usize>, file: &Path) -> Self {
        Self {
            arm,
            repeat,
            width,
            file: file.display().to_string(),
            tokens: 0,
            rounds: 0,
            drafted: 0,
            accepted: 0,
            prefill_seconds: 0.0,
            decode_seconds: 0.0,
            stream_sha256: String::new(),
            streams: Vec::new(),
            struck: Vec::new(),
            blank_rows: 0,
        }
    }

    /// Adds a decoded prompt.
    pub fn add(
        &mut self,
        stream: &[TokenId],
        counters: Option<&Counters>,
        (prefill, decode): (Duration, Duration),
    ) {
        let count = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0);
        self.tokens += stream.len() as u64;
        if let Some(counters) = counters {
            self.rounds += count(counters.rounds);
            self.drafted += count(counters.drafted);
            self.accepted += count(counters.accepted);
        }
        self.prefill_seconds += prefill.as_secs_f64();
        self.decode_seconds += decode.as_secs_f64();
        self.streams.push(stream.to_vec());
    }

    /// Tokens after each prompt's first, by second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2⁵²")]
    pub fn tokens_per_second(&self) -> Option<f64> {
        let after_first = self.tokens.saturating_sub(self.streams.len() as u64);
        (after_first > 0 && self.decode_seconds > 0.0).then(|| after_first as f64 / self.decode_seconds)
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2⁵²")]
    fn acceptance(&self) -> Option<f64> {
        (self.drafted > 0).then(|| self.accepted as f64 / self.drafted as f64)
    }
}

/// The version of the JSON that [`Experiment`] makes.
pub const EXPERIMENT_VERSION: u32 = 1;

/// An experiment: its runs, and what the judge said of them.
#[derive(Debug, Serialize)]
pub struct Experiment {
    /// [`EXPERIMENT_VERSION`].
    pub version: u32,
    /// How it ended; the exit code follows from it.
    pub verdict: Verdict,
    /// One sentence a fact that the verdict alone does not say.
    pub says: Vec<String>,
    /// How each run came out, in the order of `runs`.
    pub outcomes: Vec<Outcome>,
    /// The runs in order.
    pub runs: Vec<ArmRun>,
    /// The judge's words.
    pub judgement: Judgement,
}

impl Experiment {
    /// Puts the runs and what was judged of them together.
    #[must_use]
    pub fn new(runs: Vec<ArmRun>, judgement: Judgement, nulls: &[NullArm]) -> Self {
        let outcomes: Vec<Outcome> = runs.iter().map(|run| Outcome::of(run, &judgement, nulls)).collect();
        let verdict = outcomes::verdict(&runs, &outcomes, judgement.verdict);
        let says = outcomes::sentences(&runs, &outcomes, verdict);
        Self { version: EXPERIMENT_VERSION, verdict, says, outcomes, runs, judgement }
    }

    /// Says which faults were planted. One that no run came to has tried nothing, so equal text says nothing.
    pub fn take_plants(&mut self, plants: &[String]) {
        for plant in plants {
            if self.runs.iter().any(|run| run.struck.contains(plant)) {
                self.says.push(format!("A fault was planted: {plant}."));
                continue;
            }
            self.says.push(format!("The planted {plant} never struck: no run came to what it names."));
            if self.verdict.exit_code() == 0 {
                self.verdict = Verdict::NotRun;
            }
        }
    }

    /// One row a run.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().text("arm").number("tokens").number("rounds").number("rewinds");
        table = table.number("accepted").number("tok/s").text("sha256").text("verdict");
        table = table.number("prompts").text("first ≠").number("rows ≠");
        let states = self.outcomes.iter().any(|outcome| outcome.states.is_some());
        if states {
            table = table.number("states ≠");
        }
        for (run, outcome) in self.runs.iter().zip(&self.outcomes) {
            let mut row = row(run, outcome);
            row.extend(states.then(|| counted(outcome.states)));
            table.row(row);
        }
        table
    }

    /// Speculative runs, prompts, tokens of plain decoding, rows and states that were compared.
    #[must_use]
    pub fn extent(&self) -> Extent {
        let reference = self.runs.first();
        let arms = || self.outcomes.iter().filter(|outcome| outcome.role == Role::Arm);
        Extent {
            speculative: self.runs.iter().filter(|run| run.width.is_some()).count(),
            prompts: reference.map_or(0, |run| run.streams.len()),
            tokens: reference.map_or(0, |run| run.tokens),
            rows: arms().filter_map(|outcome| outcome.rows).sum(),
            states: arms().filter_map(|outcome| outcome.states).sum(),
        }
    }
}

/// How much an experiment compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Speculative runs, repeats included.
    pub speculative: usize,
    /// Prompts.
    pub prompts: usize,
    /// Tokens of plain decoding.
    pub tokens: u64,
    /// Rows compared with plain decoding's.
    pub rows: Counted,
    /// States compared with plain decoding's.
    pub states: Counted,
}

fn counted(counted: Option<Counted>) -> String {
    counted.map_or_else(|| "–".to_owned(), |count| format!("{} of {}", count.differ, count.compared))
}

fn row(run: &ArmRun, outcome: &Outcome) -> Vec<String> {
    let dash = || "–".to_owned();
    let speculative = |value: u64| run.width.map_or_else(dash, |_| value.to_string());
    let compared = outcome.role != Role::Reference;
    vec![
        outcome.label(),
        run.tokens.to_string(),
        speculative(run.rounds),
        speculative(outcome.rewinds),
        run.acceptance().map_or_else(dash, |share| format!("{:.1} %", share * 100.0)),
        run.tokens_per_second().map_or_else(dash, |speed| format!("{speed:.1}")),
        run.stream_sha256.chars().take(12).collect(),
        outcome.word(),
        if compared { format!("{} of {}", outcome.identical, outcome.prompts) } else { dash() },
        outcome.first_differences.first().map_or_else(dash, |first| first.place(outcome.prompts)),
        counted(outcome.rows),
    ]
}
