//! How an experiment is printed: the table of runs, what the judge says, where the transcripts lie.

use super::check_algebra::Format;
use super::compared;
use super::judged::Style;
use super::settings;
use crate::algebra::Verdict;
use crate::results::arms::Experiment;
use anyhow::Context as _;
use std::path::Path;

/// The experiment in the form asked for.
///
/// # Errors
/// When it cannot be turned into JSON, which would be a bug.
pub fn print(experiment: &Experiment, out: &Path, format: Format, per_prompt: bool) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(experiment).context("print the experiment")?,
        Format::Human => people(experiment, out, Style::Terminal(settings::columns()), per_prompt),
        Format::Markdown => people(experiment, out, Style::Markdown, per_prompt),
    })
}

fn people(experiment: &Experiment, out: &Path, style: Style, per_prompt: bool) -> String {
    let mut parts = vec![style.table(&experiment.table())];
    if per_prompt || experiment.verdict() != Verdict::Identical {
        parts.push(compared::text(&experiment.judgement, style));
    } else {
        parts.push(summary(experiment));
    }
    parts.push(format!("transcripts: {}", out.display()));
    parts.join("\n\n")
}

/// One sentence that says what was compared and how it ended.
fn summary(experiment: &Experiment) -> String {
    let classic = experiment.runs.first().map_or(0, |run| run.tokens);
    let arms = experiment.runs.iter().filter(|run| run.width.is_some()).count();
    let prompts = experiment.runs.first().map_or(0, |run| run.streams.len());
    let verdict = experiment.verdict();
    format!("verdict: {verdict} ({arms} speculative runs, {prompts} prompts, {classic} tokens each)")
}
