//! Which tensors a synthetic checkpoint stores, of what type, and what they are filled with.

use super::Synth;
use super::config::config;
use super::geometry::{Sizes, Storage, Style, sizes};
use super::packed::Part;
use super::values::Values;
use crate::engine::checkpoint::layout::{Parameter, Role, parameters};
use crate::engine::checkpoint::{CheckpointError, Config, Dtype, Form, Mixer};
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
    /// The name of its random stream. Parts of a matrix that are made of the same numbers share one.
    pub(super) stream: String,
}

impl Stored {
    /// Elements.
    pub(super) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Numbers drawn to fill it: more than its elements where several are packed into one.
    pub(super) fn draws(&self) -> usize {
        match self.values {
            Values::Packed { per_element, .. } => self.count() * per_element,
            _ => self.count(),
        }
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
    let config = config(what.geometry, what.storage);
    let read = Config::parse(("config.json", config.to_string().as_bytes()), None)?;
    let form = form(&read, what.storage);
    let list = parameters(&read, form);
    let store = Store { sizes: sizes(what.geometry), storage: what.storage, form };
    let mut tensors: Vec<Stored> = list.iter().flat_map(|parameter| store.tensors(parameter)).collect();
    tensors.sort_by(|a, b| b.width().cmp(&a.width()).then_with(|| a.name.cmp(&b.name)));
    let parameters = list.iter().map(|parameter| parameter.shape.iter().product::<usize>()).sum();
    Ok(Plan { config, form, tensors, parameters })
}

/// Convolutions come in two forms; a model without them has one.
fn form(config: &Config, storage: Storage) -> Form {
    match config.layers.iter().any(|mixer| matches!(mixer, Mixer::DeltaNet(_))) {
        false => Form::Plain,
        true if storage == Storage::Sixteen => Form::HuggingFace,
        true => Form::Mlx,
    }
}

/// How parameters become tensors.
struct Store {
    sizes: Sizes,
    storage: Storage,
    form: Form,
}

impl Store {
    fn tensors(&self, parameter: &Parameter) -> Vec<Stored> {
        // As in released checkpoints, which keep these two in f32 until a program converts them.
        let exact = if self.storage == Storage::Sixteen { Dtype::F32 } else { Dtype::BF16 };
        let centre = if self.form == Form::HuggingFace { 0.0 } else { 1.0 };
        let (dtype, values) = match parameter.role {
            Role::Embedding | Role::Matrix => return self.matrix(parameter),
            Role::Norm => (Dtype::BF16, Values::Bell { mean: centre, deviation: NORM_DEVIATION }),
            Role::PlainNorm => (exact, Values::Bell { mean: 1.0, deviation: NORM_DEVIATION }),
            Role::Convolution => (Dtype::BF16, Values::Bell { mean: 0.0, deviation: TAP_DEVIATION }),
            Role::DecayLog => (Dtype::F32, Values::DecayLog),
            Role::StepBias => (Dtype::BF16, Values::StepBias),
        };
        let stream = parameter.tensor();
        let name = self.file_name(&stream);
        vec![Stored { name, dtype, shape: parameter.shape.clone(), values, stream }]
    }

    /// A matrix in plain numbers, or as codes, scales and, in the affine mode, biases.
    fn matrix(&self, parameter: &Parameter) -> Vec<Stored> {
        let (outputs, inputs) = (parameter.shape[0], parameter.shape[1]);
        let reads_out = matches!(parameter.path.as_str(), "model.embed_tokens" | "lm_head");
        #[expect(clippy::cast_precision_loss, reason = "a matrix has far fewer than 2^24 inputs")]
        let deviation = if reads_out { LOGIT_DEVIATION } else { GAIN } / (inputs as f32).sqrt();
        let part = |part: &str, dtype, columns, values, stream: &str| {
            let name = self.file_name(&format!("{}.{part}", parameter.path));
            let stream = format!("{}.{stream}", parameter.path);
            Stored { name, dtype, shape: vec![outputs, columns], values, stream }
        };
        let bell = Values::Bell { mean: 0.0, deviation };
        let Some(how) = self.storage.quantization(self.sizes.group) else {
            return vec![part("weight", Dtype::BF16, inputs, bell, "weight")];
        };
        let (per_word, group) = (32 / usize::from(how.bits), usize::from(how.group));
        if how.mode.has_biases() {
            let levels = 1_u16 << how.bits;
            return vec![
                part("weight", Dtype::U32, inputs / per_word, Values::Codes, "weight"),
                part("scales", Dtype::BF16, inputs / group, Values::Scales { levels, deviation }, "scales"),
                part("biases", Dtype::BF16, inputs / group, Values::Biases { levels, deviation }, "scales"),
            ];
        }
        let packed = |part, per_element| Values::Packed { deviation, how, part, per_element };
        vec![
            part("weight", Dtype::U32, inputs / per_word, packed(Part::Codes, per_word), "weight"),
            part("scales", Dtype::U8, inputs / group, packed(Part::Scales, group), "weight"),
        ]
    }

    /// The name that programs of either form write.
    fn file_name(&self, canonical: &str) -> String {
        match self.sizes.style {
            Style::Qwen35 if self.storage != Storage::Sixteen => format!("language_model.{canonical}"),
            _ => canonical.to_owned(),
        }
    }
}
