//! Where a bisect's rounds come from: a transcript, accept patterns, or a live arm.

use super::compare::contestant;
use super::exit::Failure;
use super::experiment::{RewindArg, stopped};
use super::model::Loaded;
use crate::algebra::judge_arm;
use crate::arms::PromptSet;
use crate::bisect::live;
use crate::bisect::script::{Script, ScriptError};
use crate::bisect::side::Stage;
use crate::engine::drafter::DrafterSpec;
use crate::engine::plant::Plant;
use crate::engine::routes::{Defaults, RouteError, Routes};
use crate::engine::rows::dtype_name;
use crate::engine::side_routes::{SideRoutes, plain_part};
use crate::results::comparing;
use crate::results::counted;
use crate::transcript::format::Prompt;
use crate::transcript::{Arm, ArmKind, TokenId};
use clap::ValueEnum as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Transcripts that are looked at for one that differs, newest first.
const MOST_LOOKED_AT: usize = 50;

/// Rows kept in turn, pattern by pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns(Vec<Vec<usize>>);

/// Reads `1;2;1,3`.
///
/// # Errors
/// When a count is none.
pub fn patterns(text: &str) -> Result<Patterns, String> {
    let wrong = |word: &str| format!("{word:?} is no count of rows; patterns are written as in '1;2;3;1,3'");
    let count = |word: &str| word.trim().parse().ok().filter(|count| *count > 0).ok_or_else(|| wrong(word));
    let pattern = |text: &str| text.split(',').map(count).collect::<Result<Vec<usize>, String>>();
    text.split(';').map(pattern).collect::<Result<_, _>>().map(Patterns)
}

/// How a live arm decodes.
pub struct Live<'a> {
    /// Who proposes.
    pub drafter: &'a DrafterSpec,
    /// Tokens of a prompt, its own first one included.
    pub tokens: usize,
    /// Ids that end a text.
    pub end_ids: &'a [TokenId],
}

/// The rounds of a bisect.
pub enum Rounds {
    /// Those of a transcript.
    Recorded {
        /// The file.
        path: PathBuf,
        /// What it holds.
        arm: Box<Arm>,
    },
    /// Accept patterns over a prompt.
    Patterns {
        /// Rows kept in turn.
        patterns: Patterns,
        /// Rows of a block.
        width: usize,
        /// The prompt.
        prompt: Vec<TokenId>,
    },
    /// A live arm.
    Live {
        /// Rows of a block.
        width: usize,
        /// What the drafter repeats, when it does.
        recording: Option<Box<Arm>>,
        /// What is decoded.
        prompts: PromptSet,
    },
}

impl Rounds {
    /// Reads a speculative transcript of this model.
    ///
    /// # Errors
    /// When it cannot be read, is of plain decoding or of another model.
    pub fn recorded(path: &Path, loaded: &Loaded) -> Result<Self, Failure> {
        let arm = Arm::read(path).map_err(Failure::from)?;
        let refuse =
            |says: String| Err(not_comparable(format!("failed to replay {}: {says}", path.display())));
        if arm.header.kind != ArmKind::Speculative {
            return refuse("it is of plain decoding and has no rounds; give the speculative arm".to_owned());
        }
        let recorded = arm.header.model.as_ref().and_then(|model| model.digest.clone());
        let ours = loaded.checkpoint.digest();
        if let Some(theirs) = recorded.filter(|digest| *digest != ours) {
            let name = arm.header.model.as_ref().and_then(|model| model.name.clone()).unwrap_or_default();
            let short = |digest: &str| digest.chars().take(12).collect::<String>();
            return refuse(format!(
                "it is of {name:?} with the digest {}, and {} has {}; give the --model that it is of",
                short(&theirs),
                loaded.checkpoint.name(),
                short(&ours)
            ));
        }
        let dtype = arm.header.model.as_ref().and_then(|model| model.dtype.clone());
        let ours = dtype_name(loaded.model.dtype());
        if let Some(theirs) = dtype.filter(|dtype| dtype != ours) {
            return refuse(format!("it was computed in {theirs} and not in {ours}; give --dtype {theirs}"));
        }
        Ok(Self::Recorded { path: path.to_owned(), arm: Box::new(arm) })
    }

    /// Patterns over the first of the prompts.
    ///
    /// # Errors
    /// When a pattern keeps more rows than a block has.
    pub fn patterns(patterns: &Patterns, width: Option<usize>, prompts: &PromptSet) -> Result<Self, Failure> {
        let most = patterns.0.iter().flatten().copied().max().unwrap_or(1);
        let width = width.unwrap_or_else(|| most.max(4));
        if most > width {
            let error = ScriptError::Pattern { kept: most, width };
            return Err(Failure::usage(format!("failed to read --patterns: {error}")));
        }
        let prompt = prompts.prompts().first().and_then(|prompt| prompt.ids.clone()).unwrap_or_default();
        Ok(Self::Patterns { patterns: patterns.clone(), width, prompt })
    }

    /// A live arm over all prompts.
    #[must_use]
    pub fn live(width: usize, recording: Option<Arm>, prompts: PromptSet) -> Self {
        Self::Live { width, recording: recording.map(Box::new), prompts }
    }

    /// True when the arm has run in this process, so that its choices are this machine's.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        !matches!(self, Self::Recorded { .. })
    }

    /// Rows of the widest block that was asked for.
    #[must_use]
    pub fn asked_width(&self) -> usize {
        match self {
            Self::Recorded { arm, .. } => {
                arm.header.width.and_then(|width| usize::try_from(width).ok()).unwrap_or(2)
            }
            Self::Patterns { width, .. } | Self::Live { width, .. } => *width,
        }
    }

    /// Where they come from.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Self::Recorded { path, .. } => format!("rounds of {}", path.display()),
            Self::Patterns { patterns, width, .. } => {
                format!("{} in blocks of {width}", counted(patterns.0.len(), "accept pattern"))
            }
            Self::Live { width, .. } => format!("a live arm at width {width}"),
        }
    }

    /// What a script's label names.
    #[must_use]
    pub const fn labelled(&self) -> &'static str {
        match self {
            Self::Recorded { .. } => "sequence",
            Self::Patterns { .. } => "pattern",
            Self::Live { .. } => "prompt",
        }
    }

    /// The routes that were recorded, those of plain decoding among them.
    ///
    /// # Errors
    /// When they are none of this program's.
    pub fn routes(&self) -> Result<SideRoutes, Failure> {
        let told = self.recorded_routes();
        // Headers begin with the defaults, which hold anyway.
        let overrides = told.strip_prefix(Defaults::Verify.text()).unwrap_or(told);
        overrides.parse().map_err(|error| self.unreadable(&error, "--routes"))
    }

    /// The recorded routes of plain decoding alone.
    ///
    /// # Errors
    /// When they are none of this program's.
    pub fn plain(&self) -> Result<Routes, Failure> {
        plain_part(self.recorded_routes()).map_err(|error| self.unreadable(&error, "--plain-routes"))
    }

    fn recorded_routes(&self) -> &str {
        match self {
            Self::Recorded { arm, .. } => arm.header.routes.as_deref().unwrap_or_default(),
            _ => "",
        }
    }

    fn unreadable(&self, error: &RouteError, flag: &str) -> Failure {
        let path = match self {
            Self::Recorded { path, .. } => path.display().to_string(),
            _ => String::new(),
        };
        not_comparable(format!("failed to replay {path}: failed to {error}; give {flag}"))
    }

    /// The faults that the recorded command planted.
    ///
    /// # Errors
    /// When one of them is none that this program knows.
    pub fn plants(&self) -> Result<Vec<Plant>, Failure> {
        let Self::Recorded { path, .. } = self else { return Ok(Vec::new()) };
        let read = |text: &str| {
            text.parse().map_err(|error| {
                not_comparable(format!(
                    "failed to replay {}: failed to {error}; give --plant",
                    path.display()
                ))
            })
        };
        self.recorded_values("--plant").map(read).collect()
    }

    /// How the recorded command let states go back.
    #[must_use]
    pub(super) fn rewind(&self) -> Option<RewindArg> {
        self.recorded_values("--rewind").next().and_then(|value| RewindArg::from_str(value, false).ok())
    }

    /// The values of a flag of the recorded command.
    fn recorded_values<'a>(&'a self, flag: &'a str) -> impl Iterator<Item = &'a str> {
        let words = match self {
            Self::Recorded { arm, .. } => arm.header.command.as_deref().unwrap_or_default(),
            _ => &[],
        };
        let before = std::iter::once(None).chain(words.iter().map(Some));
        before.zip(words).filter_map(move |(before, word)| {
            let apart = before.is_some_and(|before| before == flag).then_some(word.as_str());
            apart.or_else(|| word.strip_prefix(flag)?.strip_prefix('='))
        })
    }

    /// Which law the transcript breaks first, where it breaks one: its rewinds are driven as they should be.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        let Self::Recorded { arm, .. } = self else { return None };
        let judged = judge_arm(arm);
        let finding = judged.sequences.iter().find_map(|one| one.finding.as_ref())?;
        let round = finding.round.map(|round| format!(", round {round}"));
        Some(format!(
            "The transcript breaks the law {}{}: its rounds are driven with the rewinds that belong to them; \
             check-algebra tells more.",
            finding.law,
            round.unwrap_or_default()
        ))
    }

    /// The scripts, each with its label; at least one.
    ///
    /// # Errors
    /// When there is no round, a prompt's ids are not known, or MLX refuses.
    pub fn scripts(&self, stage: &Stage<'_>, live: &Live<'_>) -> Result<Vec<(String, Script)>, Failure> {
        let scripts = match self {
            Self::Recorded { path, arm } => recorded_scripts(path, arm, stage.chain.config().vocab_size)?,
            Self::Patterns { patterns, width, prompt } => {
                pattern_scripts(stage, (&patterns.0, *width), prompt, live.tokens)?
            }
            Self::Live { width, recording, prompts } => {
                live_scripts(stage, live, (*width, recording.as_deref()), prompts.prompts())?
            }
        };
        if scripts.is_empty() {
            return Err(not_comparable(format!("failed to bisect: {}: {}", self.says(), ScriptError::Empty)));
        }
        Ok(scripts)
    }
}

type Scripts = Result<Vec<(String, Script)>, Failure>;

fn recorded_scripts(path: &Path, arm: &Arm, vocabulary: usize) -> Scripts {
    let mut scripts = Vec::new();
    for sequence in arm.sequences.iter().filter(|sequence| !sequence.rounds.is_empty()) {
        let number = sequence.sequence;
        let about = |says: &dyn std::fmt::Display| {
            not_comparable(format!("failed to replay {}: sequence {number}: {says}", path.display()))
        };
        let prompt = arm.header.prompts.iter().find(|prompt| prompt.sequence == number);
        let ids = prompt.and_then(|prompt| prompt.ids.clone()).filter(|ids| !ids.is_empty());
        let ids = ids.ok_or_else(|| about(&"the ids of its prompt are not known"))?;
        let script = Script::recorded(ids, &sequence.rounds).map_err(|error| about(&error))?;
        let fed = script.prompt.iter().chain(script.rounds.iter().flat_map(|round| &round.block));
        let outside = |id: &&TokenId| !usize::try_from(**id).is_ok_and(|id| id < vocabulary);
        if let Some(id) = { fed }.find(outside) {
            return Err(about(&format!("id {id} is outside the vocabulary of {vocabulary}")));
        }
        scripts.push((number.to_string(), script));
    }
    Ok(scripts)
}

fn pattern_scripts(
    stage: &Stage<'_>,
    (patterns, width): (&[Vec<usize>], usize),
    prompt: &[TokenId],
    tokens: usize,
) -> Scripts {
    let stream = stage.decode(prompt, tokens).map_err(|error| stopped("bisect", &error))?;
    let vocabulary = stage.chain.config().vocab_size;
    let script = |pattern: &Vec<usize>| {
        let words: Vec<String> = pattern.iter().map(ToString::to_string).collect();
        let script = Script::pattern(prompt.to_vec(), &stream, (pattern, width), vocabulary);
        let says = |error: ScriptError| Failure::usage(format!("failed to read --patterns: {error}"));
        Ok((words.join(","), script.map_err(says)?))
    };
    patterns.iter().map(script).collect()
}

fn live_scripts(
    stage: &Stage<'_>,
    live: &Live<'_>,
    (width, recording): (usize, Option<&Arm>),
    prompts: &[Prompt],
) -> Scripts {
    let arm =
        live::Live { width, drafter: live.drafter, recording, tokens: live.tokens, end_ids: live.end_ids };
    let mut scripts = Vec::new();
    for prompt in prompts {
        let ids = prompt.ids.as_deref().unwrap_or_default();
        let script = arm.script(stage, (prompt.sequence, ids)).map_err(|error| stopped("bisect", &error))?;
        match script {
            Ok(script) => scripts.push((prompt.sequence.to_string(), script)),
            // A text that ends with its first token has no round.
            Err(ScriptError::Empty) => {}
            Err(error) => return Err(not_comparable(format!("failed to bisect a live arm: {error}"))),
        }
    }
    Ok(scripts)
}

fn not_comparable(says: String) -> Failure {
    Failure { code: 3, says }
}

/// The newest speculative transcript of this model under `folder` that differs from the plain one beside it.
#[must_use]
pub fn newest_that_differs(folder: &Path, loaded: &Loaded) -> Option<(PathBuf, Rounds)> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for run in entries(folder).into_iter().filter(|run| run.join("classic.jsonl").is_file()) {
        for file in entries(&run).into_iter().filter(|file| is_arm(file)) {
            let changed = file.metadata().and_then(|data| data.modified());
            found.extend(changed.ok().map(|time| (time, file)));
        }
    }
    found.sort();
    let newest = found.into_iter().rev().take(MOST_LOOKED_AT).map(|(_, path)| path);
    let usable = |path: PathBuf| {
        let rounds = Rounds::recorded(&path, loaded).ok().filter(|_| differs(&path))?;
        Some((path, rounds))
    };
    { newest }.find_map(usable)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn is_arm(file: &Path) -> bool {
    let classic = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("classic"));
    file.extension().is_some_and(|extension| extension == "jsonl") && !classic
}

/// Whether its text is not the plain run's; what cannot be compared is passed over.
fn differs(path: &Path) -> bool {
    let classic = path.with_file_name("classic.jsonl");
    let both = contestant(path).ok().zip(contestant(&classic).ok());
    let judged = both.and_then(|(arm, classic)| comparing::compare(vec![arm], vec![classic], None).ok());
    judged.is_some_and(|judged| judged.verdict.exit_code() == 1)
}
