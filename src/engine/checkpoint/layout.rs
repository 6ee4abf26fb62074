//! The tensors that an architecture has: names, roles and shapes, derived from the configuration alone.
//!
//! The reader holds a checkpoint against this list when it opens one, so a missing, misshaped or surplus tensor
//! is reported before anything is computed; the writer of synthetic checkpoints draws from the same list.

use super::config::{Attention, Config, DeltaNet, FeedForward, Mixer};
use super::form::Form;

/// What a tensor does, which decides how it is stored and how a random one is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `[vocab, h]`; may be quantized.
    Embedding,
    /// A linear map `[outputs, inputs]`; may be quantized.
    Matrix,
    /// A norm's factor, stored less one in Hugging Face form.
    Norm,
    /// A norm's factor, stored as it is in both forms.
    PlainNorm,
    /// A depthwise causal convolution: `[channels, 1, taps]` in Hugging Face form, `[channels, taps, 1]` in MLX form.
    Convolution,
    /// Logarithm of a state's decay rate, one for each value head.
    DecayLog,
    /// Bias of the step size before softplus, one for each value head.
    StepBias,
}

/// One tensor of an architecture; for a quantized matrix it stands for codes, scales and biases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Canonical module path, such as `model.layers.3.self_attn.q_proj`.
    pub path: String,
    /// What it does.
    pub role: Role,
    /// The shape before quantization.
    pub shape: Vec<usize>,
}

impl Parameter {
    /// The canonical name of the tensor that holds it, quantized or not.
    #[must_use]
    pub fn tensor(&self) -> String {
        match self.role {
            Role::DecayLog | Role::StepBias => self.path.clone(),
            _ => format!("{}.weight", self.path),
        }
    }
}

/// All parameters of an architecture, first to last layer, head last.
#[must_use]
pub fn parameters(config: &Config, form: Form) -> Vec<Parameter> {
    let mut list = List { parameters: Vec::new(), form };
    let (h, vocab) = (config.hidden_size, config.vocab_size);
    list.add("model.embed_tokens", Role::Embedding, &[vocab, h]);
    for (index, mixer) in config.layers.iter().enumerate() {
        let layer = format!("model.layers.{index}");
        list.add(&format!("{layer}.input_layernorm"), Role::Norm, &[h]);
        match mixer {
            Mixer::Attention(sizes) => list.attention(&layer, sizes, h),
            Mixer::DeltaNet(sizes) => list.delta_net(&layer, sizes, h),
        }
        list.add(&format!("{layer}.post_attention_layernorm"), Role::Norm, &[h]);
        match config.feed_forward {
            FeedForward::Dense { inner } => list.mlp(&format!("{layer}.mlp"), h, inner),
        }
    }
    list.add("model.norm", Role::Norm, &[h]);
    if !config.tie_word_embeddings {
        list.add("lm_head", Role::Matrix, &[vocab, h]);
    }
    list.parameters
}

struct List {
    parameters: Vec<Parameter>,
    form: Form,
}

impl List {
    fn add(&mut self, path: &str, role: Role, shape: &[usize]) {
        self.parameters.push(Parameter { path: path.to_owned(), role, shape: shape.to_vec() });
    }

    fn attention(&mut self, layer: &str, sizes: &Attention, h: usize) {
        let path = |name: &str| format!("{layer}.self_attn.{name}");
        let (queries, keys) = (sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim);
        let gated = if sizes.output_gate { 2 * queries } else { queries };
        self.add(&path("q_proj"), Role::Matrix, &[gated, h]);
        self.add(&path("k_proj"), Role::Matrix, &[keys, h]);
        self.add(&path("v_proj"), Role::Matrix, &[keys, h]);
        self.add(&path("o_proj"), Role::Matrix, &[h, queries]);
        if sizes.head_norms {
            self.add(&path("q_norm"), Role::Norm, &[sizes.head_dim]);
            self.add(&path("k_norm"), Role::Norm, &[sizes.head_dim]);
        }
    }

    fn delta_net(&mut self, layer: &str, sizes: &DeltaNet, h: usize) {
        let path = |name: &str| format!("{layer}.linear_attn.{name}");
        let (channels, taps, heads) = (sizes.conv_channels(), sizes.conv_kernel, sizes.value_heads);
        let convolution = match self.form {
            Form::HuggingFace => [channels, 1, taps],
            Form::Mlx | Form::Plain => [channels, taps, 1],
        };
        self.add(&path("in_proj_qkv"), Role::Matrix, &[channels, h]);
        self.add(&path("in_proj_z"), Role::Matrix, &[sizes.values(), h]);
        self.add(&path("in_proj_b"), Role::Matrix, &[heads, h]);
        self.add(&path("in_proj_a"), Role::Matrix, &[heads, h]);
        self.add(&path("conv1d"), Role::Convolution, &convolution);
        self.add(&path("A_log"), Role::DecayLog, &[heads]);
        self.add(&path("dt_bias"), Role::StepBias, &[heads]);
        self.add(&path("norm"), Role::PlainNorm, &[sizes.value_dim]);
        self.add(&path("out_proj"), Role::Matrix, &[h, sizes.values()]);
    }

    fn mlp(&mut self, module: &str, h: usize, inner: usize) {
        let path = |name: &str| format!("{module}.{name}");
        self.add(&path("gate_proj"), Role::Matrix, &[inner, h]);
        self.add(&path("up_proj"), Role::Matrix, &[inner, h]);
        self.add(&path("down_proj"), Role::Matrix, &[h, inner]);
    }
}
