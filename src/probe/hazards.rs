//! Known hazards: where a kernel, or a buffer, changes, and whether a probe has looked there.
//!
//! A probe that passes because it stopped before the hazard is how probes are known to fail. So each rule says where
//! its change begins, in positions or in rows, and a probe lists those that lie outside what it covered. A hazard that
//! comes and goes from run to run is no matter of length: equal bytes do not rule it out, and the probe says `not run`.
//! Sources are written as in [`dispatch`](super::dispatch).

use super::dispatch::{Kind, Machine, Prediction, Question, predict};
use super::parity::stored_matrix;
use crate::engine::checkpoint::{Attention, Checkpoint, Mixer};
use crate::engine::op::{Group, Op};
use crate::engine::routes::{Defaults, Plan, Route};
use crate::engine::tap::Site;
use crate::probe::dispatch::Matrix;
use crate::probe::walk::Blocks;
use crate::results::probe::Uncovered;
use mlx_rs::Dtype;

/// Positions by which the caches' buffers grow.
const GROWTH: u64 = 256;

/// Whose hazards are asked for.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The checkpoint.
    pub checkpoint: &'a Checkpoint,
    /// Dtype of activations.
    pub dtype: Dtype,
    /// Which tables hold.
    pub machine: Machine,
    /// MLX's version.
    pub version: &'a str,
}

/// Where a hazard begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onset {
    /// From this position on.
    Position(u64),
    /// In calls over so many rows.
    Rows(u64),
    /// Not known.
    Unknown,
    /// Anywhere, now and then.
    Unsteady,
}

/// A place where bytes may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hazard {
    /// Where it begins.
    pub onset: Onset,
    /// What happens.
    pub what: &'static str,
    /// Where that was read.
    pub source: &'static str,
}

impl Hazard {
    /// How a result lists it when a probe of these positions, with calls of at most `rows` rows, did not meet it.
    #[must_use]
    pub fn uncovered(&self, covered: (u64, u64), rows: u64) -> Option<Uncovered> {
        let begins = match self.onset {
            Onset::Position(at) if at < covered.0 || at > covered.1 => format!("position {at}"),
            Onset::Rows(from) if from > rows => format!("{from} rows"),
            Onset::Unknown => "where is not known".to_owned(),
            Onset::Position(_) | Onset::Rows(_) | Onset::Unsteady => return None,
        };
        Some(Uncovered { begins, hazard: self.what.to_owned(), source: self.source.to_owned() })
    }
}

/// Everything that is known of blocks of this kind there; `covered` are the positions that were compared.
#[must_use]
pub fn hazards(about: &About<'_>, blocks: &Blocks, covered: (u64, u64)) -> Vec<Hazard> {
    let plan = Plan::new(Defaults::Verify, &blocks.routes, about.checkpoint.config().layers.len());
    let rows = widest_call(&plan, about, blocks.width);
    let mut all = Vec::new();
    all.extend(unread(about.machine));
    all.extend(race(about, rows));
    all.extend(by_rows(about));
    for (layer, mixer) in about.checkpoint.config().layers.iter().enumerate() {
        if let Mixer::Attention(sizes) = mixer {
            let route = plan.route(Op::Attention, Some(layer));
            all.extend(by_keys(about, (route, blocks.width as u64), sizes));
        }
    }
    all.extend(growth(about, covered));
    // Layers of one kind have the same hazards.
    let mut once: Vec<Hazard> = Vec::new();
    for hazard in all {
        if !once.contains(&hazard) {
            once.push(hazard);
        }
    }
    once
}

/// The most rows that one call of a linear layer gets.
#[must_use]
pub fn widest_call(plan: &Plan, about: &About<'_>, width: usize) -> u64 {
    let layers = (0..about.checkpoint.config().layers.len()).map(Some).chain([None]);
    let linear = || Op::all().filter(|op| op.group() == Group::Linear);
    let calls = layers.flat_map(|layer| linear().map(move |op| plan.route(op, layer)));
    calls.map(|route| route.widest(width)).max().unwrap_or(width) as u64
}

fn unread(machine: Machine) -> Option<Hazard> {
    let what = "no dispatch table was read for this library, version and device";
    (machine == Machine::Unknown).then_some(Hazard { onset: Onset::Unknown, what, source: "–" })
}

fn head(about: &About<'_>) -> Matrix {
    stored_matrix(Site::outside(Op::LmHead), about.checkpoint)
}

/// MLX 0.32.2 on CUDA writes the output tile of `qmm_sm80` over buffers that are still being filled.
fn race(about: &About<'_>, rows: u64) -> Option<Hazard> {
    let here = matches!(about.machine, Machine::Cuda { .. }) && about.version == "0.32.2";
    (here && head(about) != Matrix::Dense && rows >= 8).then_some(Hazard {
        onset: Onset::Unsteady,
        what: "the data race of quantized products of 8 and more rows in MLX 0.32.2 (gone in 0.32.4)",
        source: "B, qmm_sm80 in both wheels",
    })
}

/// The output matrix is the largest, and leaves its one-row kernel first.
fn by_rows(about: &About<'_>) -> Option<Hazard> {
    let config = about.checkpoint.config();
    let size = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let (inputs, outputs) = (size(config.hidden_size), size(config.vocab_size));
    let kind = Kind::Linear { matrix: head(about), inputs, outputs };
    match predict(about.machine, &Question { kind, dtype: about.dtype }) {
        Prediction::Changes { first, source, .. } => Some(Hazard {
            onset: Onset::Rows(u64::from(first.rows)),
            what: "linear layers take another kernel",
            source,
        }),
        Prediction::Equal { .. } | Prediction::Unknown => None,
    }
}

/// Kernels that are chosen by the number of keys: a block of `w` rows that begins at position p has p + w keys in one
/// call, its first row alone has p + 1.
fn by_keys(about: &About<'_>, (route, width): (Route, u64), sizes: &Attention) -> Vec<Hazard> {
    let half = matches!(about.dtype, Dtype::Float16 | Dtype::Bfloat16);
    let group = (sizes.heads / sizes.kv_heads.max(1)) as u64;
    let across = |keys: u64| Onset::Position((keys + 1).saturating_sub(width));
    let found = |onset, what, source| Hazard { onset, what, source };
    let vector = matches!(sizes.head_dim, 64 | 96 | 128);
    match (about.machine, route) {
        (Machine::Cuda { .. }, Route::Block) if vector && !half && width <= 3 => {
            vec![found(across(1024), "sdpa_vector makes two passes past 1024 keys", "S+B, I")]
        }
        (Machine::Cuda { .. }, Route::Contiguous) if half && sizes.head_dim <= 128 => {
            let what = "one row goes to cuDNN from 256 keys on where its keys are a slice of the cache";
            vec![found(Onset::Position(255), what, "S+B")]
        }
        (Machine::Metal { class, .. }, Route::Block) if width <= 8 && width * group <= 32 => {
            let what = "sdpa_vector makes two passes, in blocks by rows and heads";
            let limits: &[u64] = match class {
                'd' => &[1024, 16_384],
                's' => &[1024],
                _ => &[4096],
            };
            limits.iter().map(|keys| found(across(*keys), what, "S+B")).collect()
        }
        (Machine::Metal { .. }, Route::Block | Route::Materialised) => {
            vec![found(across(4096), "softmax loops over its row past 4096 keys", "S")]
        }
        _ => Vec::new(),
    }
}

/// The first growth of the caches' buffers past the covered positions, unless one lies within.
fn growth(about: &About<'_>, (from, to): (u64, u64)) -> Option<Hazard> {
    let attention = about.checkpoint.config().layers.iter().any(|layer| matches!(layer, Mixer::Attention(_)));
    let next = |position: u64| position.div_ceil(GROWTH) * GROWTH;
    (attention && next(from) > to).then_some(Hazard {
        onset: Onset::Position(next(from)),
        what: "the buffers of keys and values grow, and their strides with them",
        source: "this engine, cache/kv.rs",
    })
}
