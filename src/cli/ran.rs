//! How an experiment is printed: the table of runs, what the judge says, where the transcripts lie.

use super::check_algebra::Format;
use super::compared;
use super::judged::Style;
use super::settings;
use crate::results::arms::{Experiment, Extent};
use crate::results::counted;
use crate::results::outcomes::Counted;
use anyhow::Context as _;
use std::path::Path;

/// The experiment in the form asked for.
///
/// # Errors
/// When it cannot be turned into JSON, which would be a bug.
pub fn print(
    experiment: &Experiment,
    out: &Path,
    format: Format,
    per_prompt: bool,
) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => serde_json::to_string_pretty(experiment).context("print the experiment")?,
        Format::Human => people(experiment, out, Style::Terminal(settings::columns()), per_prompt),
        Format::Markdown => people(experiment, out, Style::Markdown, per_prompt),
    })
}

/// The verdict comes last of what was found, as everywhere; after it only the place of the files.
fn people(experiment: &Experiment, out: &Path, style: Style, per_prompt: bool) -> String {
    let mut parts = vec![style.folded(&experiment.table())];
    if per_prompt || experiment.judgement.verdict.exit_code() != 0 {
        parts.push(compared::text(&experiment.judgement, style));
    }
    if !experiment.says.is_empty() {
        parts.push(experiment.says.join("\n"));
    }
    parts.push(summary(experiment));
    parts.push(format!("transcripts: {}", out.display()));
    parts.join("\n\n")
}

/// The verdict, and how much it rests on.
fn summary(experiment: &Experiment) -> String {
    let Extent { speculative, prompts, tokens, rows, states } = experiment.extent();
    let what = match speculative {
        0 => "plain decoding and its repeats".to_owned(),
        runs => format!("{} against plain decoding", counted(runs, "speculative run")),
    };
    let compared: String = [(rows, "row"), (states, "state")]
        .into_iter()
        .filter_map(|(count, what)| bytes(count, what))
        .collect();
    let (prompts, verdict) = (counted(prompts, "prompt"), experiment.verdict);
    let tokens = counted(tokens, "token");
    format!("verdict: {verdict} ({what}: {prompts}, {tokens}{compared})")
}

/// `; 96 rows compared, 37 with other bytes`.
fn bytes(count: Counted, what: &str) -> Option<String> {
    let Counted { compared, differ } = count;
    let other = if differ == 0 { String::new() } else { format!(", {differ} with other bytes") };
    (compared > 0).then(|| format!("; {} compared{other}", counted(compared, what)))
}
