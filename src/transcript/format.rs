//! The lines of a transcript, version 1: one arm run is one JSON Lines file, one object a line.
//!
//! Keys that the format always carries are plain fields; every other key is an `Option`, and `None` means
//! *not known*, never zero. Unknown keys are ignored; an unknown `type` is refused by the reader. Counts and
//! ids are signed, because a judge has to be able to read the wrong values that it exists to report.

use super::{digest, object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of a header's `format` key.
pub const FORMAT: &str = "exactness.transcript";
/// The newest format version that this build writes and reads.
pub const VERSION: i64 = 1;

/// A vocabulary id. Negative values occur only as placeholders among rejected proposals.
pub type TokenId = i64;

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Line {
    /// The first line: what ran, on what, over which prompts.
    Header(Box<Header>),
    /// The prompt's last row and the token sampled from it; once a sequence.
    Prefill(Prefill),
    /// One token of plain decoding.
    Step(Step),
    /// One speculative round.
    Round(Box<Round>),
    /// The end of a sequence.
    Footer(Box<Footer>),
}

impl Line {
    /// The value of its `type` key.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Header(_) => "header",
            Self::Prefill(_) => "prefill",
            Self::Step(_) => "step",
            Self::Round(_) => "round",
            Self::Footer(_) => "footer",
        }
    }
}

/// How an arm decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArmKind {
    /// One row a forward.
    Classic,
    /// Draft, verify, accept, rewind.
    Speculative,
}

/// What an arm ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// The format's version.
    pub version: i64,
    /// A free label.
    pub arm: String,
    /// Classic or speculative.
    pub kind: ArmKind,
    /// One entry a sequence.
    #[serde(deserialize_with = "object::list")]
    pub prompts: Vec<Prompt>,
    /// Rows verified in one target forward; 1 for classic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    /// Who proposed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub drafter: Option<Drafter>,
    /// How sequences of one window share their accepted length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Token budget of a sequence, the prefill token included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<i64>,
    /// Ids that end a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eos_ids: Option<Vec<TokenId>>,
    /// End ids do not end the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_eos: Option<bool>,
    /// Stop strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Number of logits in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocab_size: Option<i64>,
    /// The target.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub model: Option<Model>,
    /// How each operation was computed, in the grammar of routes; of a speculative arm, `plain.` begins the settings of the
    /// plain decoding that fed its prompt and that it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes: Option<String>,
    /// The machine.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub host: Option<Host>,
    /// The library that computed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub backend: Option<Backend>,
    /// The program that decoded, with its version, as in "exactness 0.1.0".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Start of the run, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Seed of what is random (drafter, synthetic weights).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// 0 for the first run of an arm, 1 for its null-arm repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<i64>,
    /// For imports: which log, which lines.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub source: Option<Source>,
}

impl Header {
    /// The prompt of a sequence.
    #[must_use]
    pub fn prompt(&self, sequence: i64) -> Option<&Prompt> {
        self.prompts.iter().find(|prompt| prompt.sequence == sequence)
    }
}

/// One sequence's prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// The sequence that it starts.
    pub sequence: i64,
    /// Its ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<TokenId>>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Who proposed tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drafter {
    /// Name, with its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it keeps between rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<DrafterCache>,
}

/// What a drafter keeps between rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DrafterCache {
    /// Its own cache, one entry a token.
    Autoregressive,
    /// Catches up later.
    Lazy,
    /// Reads the target's cache.
    Shared,
    /// Nothing.
    None,
}

/// How sequences verified together share their accepted length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// One sequence.
    Single,
    /// All commit the smallest accepted length.
    Clamp,
    /// Each commits its own.
    PerRow,
}

/// The target's identity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Name or path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 over its weights and configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Dtype of the activations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Quantization of the weights, as in "affine 4-bit g64".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
}

/// The machine that ran the arm.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Processor architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Processor model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Logical cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<i64>,
}

/// The library that computed, and on what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Backend {
    /// Library and variant, as in "mlx-cpu".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Device and architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Driver version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// Where an imported transcript came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The log's file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// First and last line, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<[i64; 2]>,
}

/// The prompt's last row; the stream's index 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prefill {
    /// Which sequence.
    pub sequence: i64,
    /// The token sampled from the prompt's last row.
    pub token: TokenId,
    /// Target cache length, equal to the prompt's length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_len: Option<i64>,
    /// The row that chose `token`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub row: Option<Row>,
    /// SHA-256 over KV and recurrent state entering round 0.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "digest::maybe")]
    #[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"))]
    pub state_sha256: Option<String>,
}

/// One token of plain decoding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Which sequence.
    pub sequence: i64,
    /// The stream index of `token`.
    pub index: i64,
    /// The token fed.
    pub input: TokenId,
    /// The token chosen.
    pub token: TokenId,
    /// Target cache length after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_len: Option<i64>,
    /// The row that chose `token`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub row: Option<Row>,
    /// SHA-256 over KV and recurrent state after the step, of `cache_len` positions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "digest::maybe")]
    #[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"))]
    pub state_sha256: Option<String>,
}

/// One speculative round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Which sequence.
    pub sequence: i64,
    /// 0-based count within the sequence.
    pub round: i64,
    /// Rows verified: proposals + 1.
    pub width: i64,
    /// The committed token at row 0.
    pub bonus: TokenId,
    /// The proposals, `width − 1` of them.
    pub draft: Vec<TokenId>,
    /// The target's argmax in each of the `width` rows.
    pub target: Vec<TokenId>,
    /// Committed drafts.
    pub accepted: i64,
    /// Tokens that joined the stream.
    pub emitted: Vec<TokenId>,
    /// The longest common prefix, where a window commits less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walked: Option<i64>,
    /// Target cache length before the verify forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_before: Option<i64>,
    /// Target cache length after the rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_after: Option<i64>,
    /// The drafter's own cache length after its rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_cache_after: Option<i64>,
    /// Rows of the target's cache that a sharing drafter read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_cache: Option<i64>,
    /// Rows by which recurrent states and convolution windows went on; absent where a model has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_kept: Option<i64>,
    /// State slot that the verify read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_read: Option<i64>,
    /// State slot committed by this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_committed: Option<i64>,
    /// SHA-256 over KV and recurrent state after the rewind, of `cache_after` positions.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "digest::maybe")]
    #[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"))]
    pub state_sha256: Option<String>,
    /// One entry a verified row.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe_list")]
    pub rows: Option<Vec<Row>>,
    /// Time spent, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub micros: Option<Micros>,
}

/// Time spent in one round, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Micros {
    /// Proposing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<f64>,
    /// Building and launching the verify forward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<f64>,
    /// Waiting for the verify forward's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<f64>,
    /// Rewinding the caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<f64>,
}

/// One query position and what its logits were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Stream index of the token that this row chooses; unknown for a rejected row.
    #[serde(default)]
    pub index: Option<i64>,
    /// Absolute position of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// SHA-256 of the raw logit bytes: little endian, vocabulary order, in `dtype`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "digest::maybe")]
    #[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"))]
    pub sha256: Option<String>,
    /// Dtype of the logits that left the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Best entries, best first; a logit is null when it is not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<Vec<(TokenId, Option<f64>)>>,
    /// Offset and length in the side file, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[u64; 2]>,
}

/// The end of a sequence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Footer {
    /// Which sequence.
    pub sequence: i64,
    /// The run of this sequence ended by itself.
    pub complete: bool,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// The whole stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<TokenId>>,
    /// The stream as the server spelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_strings: Option<Vec<String>>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Log-probability of each stream token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<Option<f64>>>,
    /// Usage as the server reported it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub usage: Option<Usage>,
    /// Counters of the speculation.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::maybe")]
    pub counters: Option<Counters>,
}

/// Why a sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// An end id.
    Stop,
    /// A stop string.
    StopString,
    /// The token budget.
    Length,
    /// The context window.
    Context,
    /// The client or the server gave up.
    Aborted,
}

/// Usage as a server reports it, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<i64>,
    /// Tokens generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<i64>,
    /// Of those, tokens of a hidden part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<i64>,
    /// Their sum with the prompt's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<i64>,
}

/// Counters of the speculation of one sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Rounds run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<i64>,
    /// Tokens proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafted: Option<i64>,
    /// Tokens accepted by the walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<i64>,
    /// Accepts at each draft position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_position: Option<Vec<i64>>,
}
