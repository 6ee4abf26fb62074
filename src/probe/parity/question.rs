//! From an operation that ran to what a dispatch table is asked about it, and to its shape as it is printed.

use super::forced::Compared;
use crate::engine::checkpoint::{Checkpoint, Mixer, Mode, Quantization};
use crate::engine::op::{Group, Op};
use crate::engine::routes::Route;
use crate::engine::tap::Site;
use crate::probe::dispatch::{Kind, Machine, Matrix, Prediction, Question, predict};
use crate::results::parity::Predicted;
use mlx_rs::Dtype;

/// An operation as it ran, for a dispatch table.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which.
    pub site: Site,
    /// Channels of its first input.
    pub inputs: Option<i32>,
    /// Shape of its output.
    pub shape: &'a [i32],
}

/// The shape without batch and rows: `256→1024`, `q4 kv2 d64`, `8×32`.
pub(super) fn shape(compared: &Compared, checkpoint: &Checkpoint) -> String {
    let (op, shape) = (compared.site.op, &compared.shape);
    match (op.group(), compared.inputs) {
        (Group::Linear, Some(inputs)) => format!("{inputs}→{}", shape[shape.len() - 1]),
        (Group::Attention, _) => {
            let keys = key_heads(compared.site, checkpoint);
            format!("q{} kv{keys} d{}", shape[1], shape[shape.len() - 1])
        }
        _ => {
            let rows = usize::try_from(op.row_axis()).unwrap_or(1);
            let sides = shape.iter().enumerate().filter(|(axis, _)| *axis != 0 && *axis != rows);
            sides.map(|(_, side)| side.to_string()).collect::<Vec<_>>().join("×")
        }
    }
}

/// How the site's matrix is stored; `None` for operations without one.
pub(super) fn mode(site: Site, checkpoint: &Checkpoint) -> Option<String> {
    let stored = site.op.has_matrix().then(|| quantization(site, checkpoint));
    stored.map(|stored| stored.map_or_else(|| "dense".to_owned(), |stored| stored.to_string()))
}

/// What the machine's table says of the operation under `route`, with so many positions before the block.
#[must_use]
pub fn predicted(
    machine: Machine,
    (checkpoint, dtype): (&Checkpoint, Dtype),
    asked: &Asked<'_>,
    (route, before): (Route, usize),
) -> Predicted {
    let kind = kind(asked, checkpoint, (route, before));
    let prediction = predict(machine, &Question { kind, dtype });
    match prediction {
        Prediction::Unknown => Predicted::Unknown,
        Prediction::Equal { kernel, source } => equal(kernel, source),
        // Calls of fewer rows than the change takes never meet it.
        Prediction::Changes { one, first, source }
            if route.rows().is_some_and(|rows| u32::from(rows) < first.rows) =>
        {
            equal(one, source)
        }
        // Padding brings a single row into a call of as many rows.
        Prediction::Changes { one, first, source } => Predicted::Change {
            from: if route.widest(1) >= first.rows as usize { 1 } else { first.rows },
            one: one.to_owned(),
            many: first.kernel.to_owned(),
            source: source.to_owned(),
        },
    }
}

fn equal(kernel: &str, source: &str) -> Predicted {
    Predicted::Equal { kernel: kernel.to_owned(), source: source.to_owned() }
}

fn kind(asked: &Asked<'_>, checkpoint: &Checkpoint, (route, before): (Route, usize)) -> Kind {
    let (site, shape) = (asked.site, asked.shape);
    match (site.op.group(), route) {
        _ if site.op.is_of_experts() => Kind::Experts,
        (Group::Linear, _) => {
            let matrix = matrix(quantization(site, checkpoint));
            Kind::Linear { matrix, inputs: asked.inputs.unwrap_or(0), outputs: shape[shape.len() - 1] }
        }
        (Group::Attention, _) => {
            let head_dim = shape[shape.len() - 1];
            let before = i32::try_from(before).unwrap_or(i32::MAX / 2);
            match route {
                Route::PerPosition => Kind::AttentionByRow { head_dim, before },
                Route::Contiguous => Kind::AttentionCopied { head_dim, before },
                Route::Materialised => Kind::AttentionMaterialised { head_dim },
                _ => {
                    let group = shape[1] / key_heads(site, checkpoint).max(1);
                    Kind::AttentionBlock { head_dim, group, before }
                }
            }
        }
        (Group::Delta, Route::Chunked) => Kind::DeltaChunked,
        (Group::Delta, _) => Kind::DeltaChain,
        (Group::Rope, _) => Kind::Rope,
        (Group::Norm | Group::Elementwise, _) => Kind::RowByRow,
        (Group::Other, _) if matches!(site.op, Op::Conv | Op::Embed) => Kind::RowByRow,
        (Group::Other, _) => Kind::Other,
    }
}

fn key_heads(site: Site, checkpoint: &Checkpoint) -> i32 {
    let mixer = site.layer.and_then(|layer| checkpoint.config().layers.get(layer));
    match mixer {
        Some(Mixer::Attention(sizes)) => i32::try_from(sizes.kv_heads).unwrap_or(1),
        _ => 1,
    }
}

/// As the dispatch tables see a stored matrix.
fn matrix(stored: Option<Quantization>) -> Matrix {
    let Some(stored) = stored else { return Matrix::Dense };
    let group = i32::from(stored.group);
    match stored.mode {
        Mode::Affine => Matrix::Affine { bits: i32::from(stored.bits), group },
        Mode::Mxfp4 | Mode::Mxfp8 | Mode::Nvfp4 => Matrix::Float { group },
    }
}

/// The matrix behind a site, as the dispatch tables see it.
pub(in crate::probe) fn stored_matrix(site: Site, checkpoint: &Checkpoint) -> Matrix {
    matrix(quantization(site, checkpoint))
}

/// How the module behind a site is quantized; a module that is not there counts as dense.
fn quantization(site: Site, checkpoint: &Checkpoint) -> Option<Quantization> {
    checkpoint.quantization(&module(site, checkpoint)).ok().flatten()
}

/// The checkpoint's name of the module behind a site.
fn module(site: Site, checkpoint: &Checkpoint) -> String {
    let name = site.op.name();
    let part = match (site.op, site.op.block()) {
        (Op::Embed, _) => return "model.embed_tokens".to_owned(),
        (Op::LmHead, _) if checkpoint.config().tie_word_embeddings => return "model.embed_tokens".to_owned(),
        (Op::LmHead, _) | (_, None) => return name.to_owned(),
        (_, Some("attn")) => "self_attn.",
        (_, Some("delta")) => "linear_attn.",
        (_, Some("mlp")) => "mlp.",
        (_, Some(_)) => "",
    };
    format!("model.layers.{}.{part}{}", site.layer.unwrap_or(0), in_block(name))
}

/// The checkpoint's name of an operation inside its block; layers with experts have names of their own.
fn in_block(name: &str) -> String {
    match (name, name.strip_prefix("expert_"), name.strip_prefix("shared_")) {
        ("router", ..) => "gate".to_owned(),
        ("shared_gate", ..) => "shared_expert_gate".to_owned(),
        (_, Some(inner), _) => format!("switch_mlp.{inner}"),
        (_, _, Some(inner)) => format!("shared_expert.{inner}"),
        _ => name.to_owned(),
    }
}
