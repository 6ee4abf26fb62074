//! Which tensors a synthetic checkpoint stores, of what type, and what they are filled with.

use super::Synth;
use super::config::{EIGHT_BITS, config};
use super::geometry::{Sizes, Storage, Style, sizes};
use super::packed::Part;
use super::values::Values;
use crate::engine::checkpoint::layout::{Parameter, Role, parameters};
use crate::engine::checkpoint::{CheckpointError, Config, Dtype, Form, Mixer, Mode, Quantization};
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
    plan_of(what, config(what.geometry, what.storage))
}

/// Plans a checkpoint of another configuration at the same storage.
pub(super) fn plan_of(what: &Synth, config: Value) -> Result<Plan, CheckpointError> {
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
    if !config.layers.iter().any(|mixer| matches!(mixer, Mixer::DeltaNet(_))) {
        return Form::Plain;
    }
    if storage == Storage::Sixteen { Form::HuggingFace } else { Form::Mlx }
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
            Role::Experts if self.storage == Storage::Sixteen => return self.experts(parameter),
            Role::Embedding | Role::Matrix | Role::Experts => return self.matrix(parameter),
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

    /// A matrix, or a stack of them, in plain numbers, or as codes, scales and, in the affine mode, biases.
    fn matrix(&self, parameter: &Parameter) -> Vec<Stored> {
        let (rows, inputs) = parameter.shape.split_at(parameter.shape.len() - 1);
        let (inputs, deviation) = (inputs[0], deviation(parameter));
        let part = |part: &str, dtype, columns, values, stream: &str| {
            let name = self.file_name(&format!("{}.{part}", parameter.path));
            let stream = format!("{}.{stream}", parameter.path);
            Stored { name, dtype, shape: [rows, &[columns]].concat(), values, stream }
        };
        let bell = Values::Bell { mean: 0.0, deviation };
        let Some(how) = self.rule(&parameter.path) else {
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

    /// How a matrix is quantized, `None` for plain numbers; see the configuration's own rules.
    fn rule(&self, path: &str) -> Option<Quantization> {
        let how = self.storage.quantization(self.sizes.group)?;
        let eight = EIGHT_BITS.iter().any(|name| path.ends_with(&format!(".mlp.{name}")));
        Some(if eight { Quantization { mode: Mode::Affine, bits: 8, group: 64 } } else { how })
    }

    /// Experts as Hugging Face files of the family store them: gate and up projections of all in one tensor, or a
    /// tensor for each expert.
    fn experts(&self, parameter: &Parameter) -> Vec<Stored> {
        let values = Values::Bell { mean: 0.0, deviation: deviation(parameter) };
        let store = |name: String, shape: Vec<usize>| Stored {
            stream: name.clone(),
            name,
            dtype: Dtype::BF16,
            shape,
            values,
        };
        let (mlp, name) = parameter.path.split_once("switch_mlp.").unwrap_or((&parameter.path, ""));
        let [count, outputs, inputs] = [0, 1, 2].map(|side| parameter.shape[side]);
        match (self.sizes.style, name) {
            (Style::Qwen35Moe, "gate_proj") => {
                vec![store(format!("{mlp}experts.gate_up_proj"), vec![count, 2 * outputs, inputs])]
            }
            (Style::Qwen35Moe, "up_proj") => Vec::new(), // in the tensor above
            (Style::Qwen35Moe, _) => vec![store(format!("{mlp}experts.{name}"), parameter.shape.clone())],
            _ => {
                let single = |expert| format!("{mlp}experts.{expert}.{name}.weight");
                (0..count).map(|expert| store(single(expert), vec![outputs, inputs])).collect()
            }
        }
    }

    /// The name that programs of either form write.
    fn file_name(&self, canonical: &str) -> String {
        match self.sizes.style {
            style if style.nested() && self.storage != Storage::Sixteen => {
                format!("language_model.{canonical}")
            }
            _ => canonical.to_owned(),
        }
    }
}

/// The deviation of a matrix that keeps the size of what passes through, or spreads the logits.
fn deviation(parameter: &Parameter) -> f32 {
    let reads_out = matches!(parameter.path.as_str(), "model.embed_tokens" | "lm_head");
    let inputs = parameter.shape[parameter.shape.len() - 1];
    #[expect(clippy::cast_precision_loss, reason = "a matrix has far fewer than 2^24 inputs")]
    let root = (inputs as f32).sqrt();
    if reads_out { LOGIT_DEVIATION / root } else { GAIN / root }
}
