//! Which tensors a synthetic checkpoint stores, of what type, and what they are filled with.

use super::Synth;
use super::geometry::{Bits, GROUP, config};
use super::values::Values;
use crate::engine::checkpoint::layout::{Parameter, Role, parameters};
use crate::engine::checkpoint::{CheckpointError, Config, Dtype, Form};
use serde_json::Value;

/// Spread of the logits: far from flat, and far from a single favourite.
const LOGIT_DEVIATION: f32 = 3.0;
/// A matrix of deviation `GAIN / sqrt(inputs)` keeps the size of what passes through.
const GAIN: f32 = 1.25;
/// Deviation of norm factors around one.
const NORM_DEVIATION: f32 = 0.1;
/// Deviation of a convolution's taps; four of them keep the size of what passes through.
const TAP_DEVIATION: f32 = 0.5;

/// One tensor to be stored.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    /// Its name in the file.
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) values: Values,
    /// The name of its random stream; a matrix's scales and biases share one, so that biases can follow scales.
    pub(super) stream: String,
}

impl Stored {
    /// Elements.
    pub(super) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of an element.
    pub(super) fn width(&self) -> usize {
        self.dtype.bitsize() / 8
    }
}

/// A whole checkpoint.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) config: Value,
    pub(super) form: Form,
    /// Wide elements first, so that every tensor is aligned to its own elements.
    pub(super) tensors: Vec<Stored>,
    pub(super) parameters: usize,
}

/// Plans a checkpoint. The configuration is read back as any other, so what is written can be opened.
pub(super) fn plan(what: &Synth) -> Result<Plan, CheckpointError> {
    plan_of(what, config(what.geometry, what.bits))
}

/// Plans a checkpoint of another configuration at the same storage.
pub(super) fn plan_of(what: &Synth, config: Value) -> Result<Plan, CheckpointError> {
    let read = Config::parse(("config.json", config.to_string().as_bytes()), None)?;
    let form = if what.bits == Bits::Sixteen { Form::HuggingFace } else { Form::Mlx };
    let list = parameters(&read, form);
    let mut tensors: Vec<Stored> = list.iter().flat_map(|parameter| stored(parameter, what.bits)).collect();
    tensors.sort_by(|a, b| b.width().cmp(&a.width()).then_with(|| a.name.cmp(&b.name)));
    let parameters = list.iter().map(|parameter| parameter.shape.iter().product::<usize>()).sum();
    Ok(Plan { config, form, tensors, parameters })
}

fn stored(parameter: &Parameter, bits: Bits) -> Vec<Stored> {
    let plain = bits == Bits::Sixteen;
    // As in released checkpoints, which keep these two in f32 until a program converts them.
    let exact = if plain { Dtype::F32 } else { Dtype::BF16 };
    let (dtype, values) = match parameter.role {
        Role::Embedding | Role::Matrix => return matrix(parameter, bits),
        Role::Norm if plain => (Dtype::BF16, Values::Bell { mean: 0.0, deviation: NORM_DEVIATION }),
        Role::Norm => (Dtype::BF16, Values::Bell { mean: 1.0, deviation: NORM_DEVIATION }),
        Role::PlainNorm => (exact, Values::Bell { mean: 1.0, deviation: NORM_DEVIATION }),
        Role::Convolution => (Dtype::BF16, Values::Bell { mean: 0.0, deviation: TAP_DEVIATION }),
        Role::DecayLog => (Dtype::F32, Values::DecayLog),
        Role::StepBias => (Dtype::BF16, Values::StepBias),
    };
    let stream = parameter.tensor();
    vec![Stored { name: file_name(&stream, bits), dtype, shape: parameter.shape.clone(), values, stream }]
}

/// A matrix in plain numbers, or as codes, scales and biases.
fn matrix(parameter: &Parameter, bits: Bits) -> Vec<Stored> {
    let (outputs, inputs) = (parameter.shape[0], parameter.shape[1]);
    let reads_out = matches!(parameter.path.as_str(), "model.embed_tokens" | "lm_head");
    #[expect(clippy::cast_precision_loss, reason = "a matrix has far fewer than 2^24 inputs")]
    let deviation = if reads_out { LOGIT_DEVIATION } else { GAIN } / (inputs as f32).sqrt();
    let part = |part: &str, dtype, columns, values, stream: &str| {
        let name = file_name(&format!("{}.{part}", parameter.path), bits);
        let stream = format!("{}.{stream}", parameter.path);
        Stored { name, dtype, shape: vec![outputs, columns], values, stream }
    };
    let Some(code) = bits.code() else {
        return vec![part("weight", Dtype::BF16, inputs, Values::Bell { mean: 0.0, deviation }, "weight")];
    };
    let (levels, groups) = (1_u16 << code, inputs / GROUP);
    vec![
        part("weight", Dtype::U32, inputs * code / 32, Values::Codes, "weight"),
        part("scales", Dtype::BF16, groups, Values::Scales { levels, deviation }, "scales"),
        part("biases", Dtype::BF16, groups, Values::Biases { levels, deviation }, "scales"),
    ]
}

/// The name that programs of either form write.
fn file_name(canonical: &str, bits: Bits) -> String {
    match bits {
        Bits::Sixteen => canonical.to_owned(),
        Bits::Four | Bits::Eight => format!("language_model.{canonical}"),
    }
}
