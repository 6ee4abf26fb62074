//! What `run-arm` measured and what the judge said of it: one struct, one table.

use super::{Judgement, Table};
use crate::algebra::Verdict;
use crate::algebra::outcome::strongest;
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
        }
    }

    /// Adds a decoded prompt.
    pub fn add(&mut self, stream: &[TokenId], counters: Option<&Counters>, (prefill, decode): (Duration, Duration)) {
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

/// An experiment: its runs, and what the judge said of their transcripts.
#[derive(Debug, Serialize)]
pub struct Experiment {
    /// The runs in order.
    pub runs: Vec<ArmRun>,
    /// The judge's words.
    pub judgement: Judgement,
}

/// What one run's row of the table rests on.
struct Judged {
    verdict: Verdict,
    identical: usize,
    sequences: usize,
    rewinds: u64,
    /// Prompt and stream index of the first difference.
    first: Option<(i64, usize)>,
    /// Rows with other bytes, of the rows compared.
    rows: Option<(usize, usize)>,
}

impl Experiment {
    /// The worst verdict of all runs.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// One row a run.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().text("arm").number("tokens").number("rounds").number("rewinds");
        table = table.number("accepted").number("tok/s").text("stream sha256").text("verdict");
        table = table.number("prompts").text("first difference").text("rows ≠");
        for run in &self.runs {
            table.row(self.row(run));
        }
        table
    }

    fn row(&self, run: &ArmRun) -> Vec<String> {
        let judged = self.judged(run);
        let dash = || "–".to_owned();
        let speculative = |value: u64| run.width.map_or_else(dash, |_| value.to_string());
        let of_judged = |cell: fn(&Judged) -> String| judged.as_ref().map_or_else(dash, cell);
        vec![
            label(run),
            run.tokens.to_string(),
            speculative(run.rounds),
            run.width.map_or_else(dash, |_| of_judged(|judged| judged.rewinds.to_string())),
            run.acceptance().map_or_else(dash, |share| format!("{:.1} %", share * 100.0)),
            run.tokens_per_second().map_or_else(dash, |speed| format!("{speed:.1}")),
            run.stream_sha256.chars().take(12).collect(),
            of_judged(|judged| judged.verdict.to_string()),
            of_judged(|judged| format!("{} of {}", judged.identical, judged.sequences)),
            of_judged(|judged| {
                judged.first.map_or_else(|| "–".to_owned(), |(sequence, index)| format!("prompt {sequence}, token {index}"))
            }),
            of_judged(|judged| judged.rows.map_or_else(|| "–".to_owned(), |(differ, of)| format!("{differ} of {of}"))),
        ]
    }

    fn judged(&self, run: &ArmRun) -> Option<Judged> {
        let arm = self.judgement.arms.iter().find(|arm| arm.file == run.file)?;
        let pairings: Vec<_> = arm.sequences.iter().filter_map(|one| Some((one.sequence, one.against.as_deref()?))).collect();
        let identical = pairings.iter().filter(|(_, pairing)| pairing.verdict == Verdict::Identical).count();
        let parted = pairings.iter().filter_map(|(sequence, pairing)| Some((*sequence, pairing.first.as_ref()?)));
        let rows = pairings.iter().filter_map(|(_, pairing)| pairing.rows.as_ref());
        let rows = rows.map(|rows| (rows.bytes_differ, rows.rows)).reduce(|a, b| (a.0 + b.0, a.1 + b.1));
        Some(Judged {
            verdict: strongest([arm.verdict]).unwrap_or(arm.verdict),
            identical,
            sequences: pairings.len(),
            rewinds: arm.compared.rewinds,
            first: parted.map(|(sequence, first)| (sequence, first.index)).next(),
            rows,
        })
    }
}

fn label(run: &ArmRun) -> String {
    match run.repeat {
        0 => run.arm.clone(),
        repeat => format!("{} repeat {repeat}", run.arm),
    }
}
