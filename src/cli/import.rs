//! `exactness import`: other engines' logs and answers as transcripts.

use super::console;
use super::exit::Failure;
use crate::results::counted;
use crate::transcript::import::{Extras, ImportError, Imported, mlxcel, openai, record};
use anyhow::Context as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Turns other engines' logs and answers into transcripts. What the source lacks stays unknown.
#[derive(Debug, clap::Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    /// Debug logs of an mlxcel server: one burst is one sequence.
    MlxcelLog(MlxcelLog),
    /// Answers of OpenAI-like servers: one answer is one sequence; a recording with `responses` holds repeats.
    Openai(Openai),
}

#[derive(Debug, clap::Args)]
struct MlxcelLog {
    #[command(flatten)]
    common: Common,
    /// The answers to the same requests, in order: strings, log-probabilities, usage and finish reasons.
    #[arg(long, value_name = "FILE")]
    responses: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Openai {
    #[command(flatten)]
    common: Common,
    /// The streams' ids as JSON, when they are known from elsewhere: a list, or a list a sequence.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Common {
    /// Logs or answers.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The transcript to write; further repeats go to `NAME.repeat1.jsonl` and so on.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The prompt's ids as JSON: a list, or a list a sequence.
    #[arg(long, value_name = "FILE")]
    prompt_ids: Option<PathBuf>,
    /// The arm's label.
    #[arg(long)]
    arm: Option<String>,
    /// The block width; 1 is plain decoding.
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..))]
    width: Option<i64>,
    /// The token budget that was asked for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    max_tokens: Option<i64>,
    /// The request said to ignore end ids.
    #[arg(long)]
    ignore_eos: bool,
}

impl Import {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a source cannot be read, or the transcript is already there.
    pub fn run(self) -> anyhow::Result<u8> {
        match self.from {
            From::MlxcelLog(log) => log.run(),
            From::Openai(answers) => answers.run(),
        }
    }
}

impl MlxcelLog {
    fn run(self) -> anyhow::Result<u8> {
        let mut bursts = Vec::new();
        for file in &self.common.files {
            bursts.extend(mlxcel::parse(&text(file)?).map_err(|error| unreadable(file, &error))?);
        }
        let answers = match &self.responses {
            Some(file) => openai::parse(&text(file)?).map_err(|error| unreadable(file, &error))?.answers,
            None => Vec::new(),
        };
        if self.responses.is_some() && answers.len() != bursts.len() {
            let (answers, bursts) = (answers.len(), bursts.len());
            console::note(&format!(
                "{} for {}: paired in order, the rest left out",
                counted(answers, "answer"),
                counted(bursts, "burst")
            ));
        }
        let extras = self.common.extras(None)?;
        let imported = mlxcel::import(bursts, &extras, &answers);
        let imported = imported.map_err(|error| unreadable(&self.common.files[0], &error))?;
        self.common.write(vec![imported])
    }
}

impl Openai {
    fn run(self) -> anyhow::Result<u8> {
        let mut all = openai::Answers::default();
        for file in &self.common.files {
            let answers = openai::parse(&text(file)?).map_err(|error| unreadable(file, &error))?;
            if answers.repeats && self.common.files.len() > 1 {
                let says = format!("{} holds repeats of one request: import it alone", file.display());
                return Err(Failure::usage(says).into());
            }
            all.join(answers);
        }
        let extras = self.common.extras(self.tokens.as_deref())?;
        if extras.width.or(all.width).is_none() {
            return Err(Failure::usage(
                "an answer does not tell how it was decoded: say --width (1 is plain decoding)",
            )
            .into());
        }
        let imported = all.import(&extras).map_err(|error| unreadable(&self.common.files[0], &error))?;
        self.common.write(imported)
    }
}

impl Common {
    fn extras(&self, tokens: Option<&Path>) -> anyhow::Result<Extras> {
        let name = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        let names: Vec<String> = self.files.iter().filter_map(name).collect();
        Ok(Extras {
            arm: self.arm.clone(),
            width: self.width,
            max_tokens: self.max_tokens,
            ignore_eos: self.ignore_eos.then_some(true),
            prompts: self.prompt_ids.as_deref().map(ids).transpose()?.unwrap_or_default(),
            tokens: tokens.map(ids).transpose()?.unwrap_or_default(),
            log: Some(names.join(", ")),
        })
    }

    fn write(&self, transcripts: Vec<Imported>) -> anyhow::Result<u8> {
        // All of them or none: half a set of repeats would pass for a run without them.
        for repeat in 0..transcripts.len() {
            let path = record::repeat_path(&self.out, repeat);
            if path.exists() {
                let says = format!(
                    "failed to import: write {}: it is already there; choose another --out",
                    path.display()
                );
                return Err(Failure::unavailable(says).into());
            }
        }
        for (repeat, imported) in transcripts.into_iter().enumerate() {
            let path = record::repeat_path(&self.out, repeat);
            let says = imported.summary();
            imported.write(&path).context("failed to import")?;
            console::out(&format!("{}: {says}", path.display()));
        }
        Ok(0)
    }
}

fn text(file: &Path) -> anyhow::Result<String> {
    let bytes =
        fs::read(file).with_context(|| Failure::unavailable(format!("failed to read {}", file.display())))?;
    // A log may hold whatever a model said; only the round lines are parsed, and those are ASCII.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreadable(file: &Path, error: &ImportError) -> anyhow::Error {
    Failure::unparseable(format!("failed to {error} ({})", file.display())).into()
}

/// A list of ids, or one list a sequence.
fn ids(file: &Path) -> anyhow::Result<Vec<Vec<i64>>> {
    let text = text(file)?;
    let several = serde_json::from_str::<Vec<Vec<i64>>>(&text);
    let found = several.or_else(|_| serde_json::from_str::<Vec<i64>>(&text).map(|one| vec![one]));
    found.map_err(|error| {
        Failure::unparseable(format!("failed to read ids from {}: {error}; wanted [1, 2, …]", file.display()))
            .into()
    })
}
