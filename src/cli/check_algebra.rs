//! `exactness check-algebra`: do recorded runs keep the laws of greedy speculation? Needs no engine and no reference.

use super::exit::Failure;
use super::judged::{self, Style};
use super::{console, judging, settings};
use crate::algebra::Verdict;
use crate::algebra::judgement::ArmJudgement;
use crate::algebra::verdict::worst;
use crate::results::Judgement;
use crate::results::judgement::JUDGEMENT_VERSION;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::path::PathBuf;

/// Checks recorded runs against the laws that every exact run keeps.
///
/// Nothing is replayed: a round's drafts, rows, accepts, emission and cache lengths have to follow from each other.
/// `exactness laws` lists the laws.
#[derive(Debug, Args)]
pub struct CheckAlgebra {
    /// Transcripts, folders of transcripts (*.jsonl, however deep), or - for standard input
    #[arg(required = true, value_name = "FILE|DIR|-")]
    inputs: Vec<PathBuf>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Whose exit codes: git-bisect turns 3 (nothing was compared) into 125 (skip this commit)
    #[arg(long, value_enum, default_value_t = ExitCodes::Exactness)]
    exit_code: ExitCodes,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal
    #[value(alias = "table")]
    Human,
    /// One JSON object
    Json,
    /// For a report or an issue
    Markdown,
}

/// Whose exit codes are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExitCodes {
    /// Those of the table below
    Exactness,
    /// Those of `git bisect run`
    GitBisect,
}

impl ExitCodes {
    /// The code to leave with.
    #[must_use]
    pub const fn map(self, code: u8) -> u8 {
        match (self, code) {
            (Self::GitBisect, 3) => 125,
            (_, code) => code,
        }
    }
}

impl CheckAlgebra {
    /// Runs the verb.
    ///
    /// # Errors
    /// When an input is not there.
    pub fn run(&self) -> anyhow::Result<u8> {
        let files = judging::transcripts(&self.inputs)?;
        let judged: Vec<Result<ArmJudgement, Failure>> =
            files.par_iter().map(|file| judging::judged(file)).collect();
        let (mut arms, mut codes) = (Vec::new(), Vec::new());
        for result in judged {
            match result {
                Ok(arm) => arms.push(arm),
                Err(failure) => {
                    codes.push(failure.code);
                    console::error(&failure.into());
                }
            }
        }
        let judgement = judgement(arms, !codes.is_empty());
        codes.push(judgement.verdict.exit_code());
        self.print(&judgement)?;
        Ok(self.exit_code.map(worst(codes)))
    }

    fn print(&self, judgement: &Judgement) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Human => judged::text(judgement, Style::Terminal(settings::columns())),
            Format::Markdown => judged::text(judgement, Style::Markdown),
            Format::Json => serde_json::to_string_pretty(judgement).context("print the judgement")?,
        };
        console::out(&text);
        Ok(())
    }
}

/// Adds the arms up. An unreadable file leaves something unjudged, so the whole is then at best not comparable.
fn judgement(arms: Vec<ArmJudgement>, unreadable: bool) -> Judgement {
    let all = worst(arms.iter().map(|arm| arm.verdict.exit_code()));
    let first = arms.iter().map(|arm| arm.verdict).find(|verdict| verdict.exit_code() == all);
    let verdict = match first {
        _ if unreadable => Verdict::NotComparable,
        None => Verdict::Vacuous,
        Some(verdict) => verdict,
    };
    Judgement { version: JUDGEMENT_VERSION, verdict, arms, patterns: Vec::new() }
}
