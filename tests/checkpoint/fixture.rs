//! A checkpoint of a few kilobytes that a test can bend in one place.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use exactness::engine::checkpoint::layout::{Parameter, Role, parameters};
use exactness::engine::checkpoint::{Checkpoint, Config, Form};
use exactness::transcript::files::write_whole;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Two layers, one of each kind; every input dimension is 32, a whole group.
pub(crate) fn config() -> Value {
    json!({
        "model_type": "qwen3_5_text", "vocab_size": 8, "hidden_size": 32, "intermediate_size": 32,
        "num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"],
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "attention_bias": false,
        "hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "eos_token_id": 7,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_num_key_heads": 1, "linear_num_value_heads": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000_000, "partial_rotary_factor": 0.25},
    })
}

/// One tensor to be written.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dtype: &'static str,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Entry {
    pub(crate) fn new(name: impl Into<String>, dtype: &'static str, shape: &[usize]) -> Self {
        let size = match dtype {
            "U8" => 1,
            "BF16" => 2,
            _ => 4,
        };
        let count = shape.iter().product::<usize>() * size;
        let name = name.into();
        let data = (0..count).map(|index| u8::try_from((index * 31 + name.len()) % 251).unwrap()).collect();
        Self { name, dtype, shape: shape.to_vec(), data }
    }
}

impl Entry {
    /// Small f32 numbers that follow no pattern.
    pub(crate) fn floats(name: String, shape: &[usize], seed: u32) -> Self {
        let count = shape.iter().product::<usize>();
        let number = |index: usize| {
            let mixed = u32::try_from(index).unwrap().wrapping_add(seed).wrapping_mul(2_654_435_761);
            f32::from(u8::try_from(mixed >> 24).unwrap()) / 512.0 - 0.25
        };
        let data = (0..count).flat_map(|index| number(index).to_le_bytes()).collect();
        Self { name, dtype: "F32", shape: shape.to_vec(), data }
    }
}

/// All tensors of a configuration, dense in f32 or quantized to 4 bits in groups of 32, names behind `prefix`.
pub(crate) fn entries(config: &Value, form: Form, quantized: bool) -> Vec<Entry> {
    let config = Config::parse(("config.json", config.to_string().as_bytes()), None).unwrap();
    parameters(&config, form).iter().flat_map(|parameter| stored(parameter, quantized)).collect()
}

fn stored(parameter: &Parameter, quantized: bool) -> Vec<Entry> {
    let (path, shape) = (&parameter.path, &parameter.shape);
    if !quantized || !matches!(parameter.role, Role::Matrix | Role::Experts | Role::Embedding) {
        return vec![Entry::new(parameter.tensor(), "F32", shape)];
    }
    let with = |columns: usize| [&shape[..shape.len() - 1], &[columns]].concat();
    let inputs = shape[shape.len() - 1];
    vec![
        Entry::new(format!("{path}.weight"), "U32", &with(inputs / 8)),
        Entry::new(format!("{path}.scales"), "BF16", &with(inputs / 32)),
        Entry::new(format!("{path}.biases"), "BF16", &with(inputs / 32)),
    ]
}

/// Quantized tensors in a mode whose scales are bytes and that has no biases; groups of 32.
pub(crate) fn byte_scaled(mut list: Vec<Entry>) -> Vec<Entry> {
    list.retain(|entry| !entry.name.ends_with(".biases"));
    for entry in list.iter_mut().filter(|entry| entry.name.ends_with(".scales")) {
        *entry = Entry::new(entry.name.clone(), "U8", &entry.shape);
    }
    list
}

/// A well-formed safetensors file.
pub(crate) fn serialize(entries: &[Entry]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for entry in entries {
        let from = data.len();
        data.extend_from_slice(&entry.data);
        let info = json!({"dtype": entry.dtype, "shape": entry.shape, "data_offsets": [from, data.len()]});
        header.insert(entry.name.clone(), info);
    }
    with_header(&Value::Object(header).to_string(), &data)
}

/// A safetensors file with any header.
pub(crate) fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u64::try_from(header.len()).unwrap().to_le_bytes();
    [length.as_slice(), header.as_bytes(), data].concat()
}

/// A folder with a configuration and files.
pub(crate) fn folder(config: &Value, files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_whole(&folder.path().join("config.json"), config.to_string().as_bytes()).unwrap();
    for (name, bytes) in files {
        write_whole(&folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// A folder with one weight file.
pub(crate) fn model(config: &Value, entries: &[Entry]) -> TempDir {
    folder(config, &[("model.safetensors", &serialize(entries))])
}

/// What opening a folder says, without the folder's own path.
pub(crate) fn refusal(folder: &TempDir) -> String {
    let error = Checkpoint::open(folder.path()).unwrap_err().to_string();
    assert!(!error.contains('\n'), "more than one line: {error}");
    error.replace(&folder.path().display().to_string(), "DIR")
}
