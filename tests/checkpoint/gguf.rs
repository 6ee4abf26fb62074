//! A GGUF file holds the model that the same numbers make as safetensors.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use super::fixture::{Entry, model};
use super::gguf_file::{Codes, File, Meta, Stored, permuted, text, written};
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::tokenizer::Tokenizer;
use serde_json::{Value, json};
use tempfile::TempDir;

const HIDDEN: usize = 64;
const INNER: usize = 96;
const VOCABULARY: usize = 40;
const HEADS: usize = 4;
const KEYS: usize = 2;

/// A matrix: both names, shape, tensor type, heads whose rows are permuted.
type Kinds = (&'static str, &'static str, [usize; 2], u32, Option<usize>);

const LAYER: [Kinds; 7] = [
    ("attn_q", "self_attn.q_proj", [64, HIDDEN], 3, Some(HEADS)),
    ("attn_k", "self_attn.k_proj", [32, HIDDEN], 8, Some(KEYS)),
    ("attn_v", "self_attn.v_proj", [32, HIDDEN], 2, None),
    ("attn_output", "self_attn.o_proj", [HIDDEN, 64], 3, None),
    ("ffn_gate", "mlp.gate_proj", [INNER, HIDDEN], 3, None),
    ("ffn_up", "mlp.up_proj", [INNER, HIDDEN], 0, None),
    ("ffn_down", "mlp.down_proj", [HIDDEN, INNER], 8, None),
];

/// One model in both forms.
struct Both {
    file: File,
    entries: Vec<Entry>,
    /// Rules of modules that are quantized to 8 bits.
    eight: Vec<String>,
}

impl Both {
    fn matrix(&mut self, (name, module): (&str, &str), shape: [usize; 2], kind: u32, heads: Option<usize>) {
        let seed = u64::try_from(self.entries.len()).unwrap() + 1;
        let [outputs, inputs] = shape;
        if kind == 0 {
            let entry = Entry::floats(format!("{module}.weight"), &[outputs, inputs], 7);
            let row = |row: usize| entry.data[row * inputs * 4..(row + 1) * inputs * 4].to_vec();
            let data = permuted(outputs, heads).into_iter().flat_map(row).collect();
            self.store(name, shape, kind, data);
            return self.entries.push(entry);
        }
        let (bits, middle) = match kind {
            2 => (4, Some(8.0)),
            3 => (4, None),
            _ => (8, Some(128.0)),
        };
        let codes = Codes::new(seed, shape, bits, middle);
        self.store(name, shape, kind, codes.blocks(kind, heads));
        let halves = |numbers: &[half::f16]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let groups = vec![outputs, inputs / 32];
        let words = inputs * usize::try_from(bits).unwrap() / 32;
        let part =
            |part: &str, dtype, shape, data| Entry { name: format!("{module}.{part}"), dtype, shape, data };
        self.entries.push(part("weight", "U32", vec![outputs, words], codes.words()));
        self.entries.push(part("scales", "F16", groups.clone(), halves(&codes.scales)));
        self.entries.push(part("biases", "F16", groups, halves(&codes.biases)));
        if bits == 8 {
            self.eight.push(module.to_owned());
        }
    }

    fn store(&mut self, name: &str, [outputs, inputs]: [usize; 2], kind: u32, data: Vec<u8>) {
        let sides = [inputs, outputs].map(|side| u64::try_from(side).unwrap()).to_vec();
        self.file.tensors.push(Stored { name: format!("{name}.weight"), sides, kind, data, place: None });
    }

    fn norm(&mut self, name: &str, module: &str) {
        let mut entry = Entry::floats(format!("{module}.weight"), &[HIDDEN], 3);
        entry.data = entry
            .data
            .chunks_exact(4)
            .flat_map(|four| (1.0 + f32::from_le_bytes(four.try_into().unwrap())).to_le_bytes())
            .collect();
        let sides = vec![u64::try_from(HIDDEN).unwrap()];
        let (name, data) = (format!("{name}.weight"), entry.data.clone());
        self.file.tensors.push(Stored { name, sides, kind: 0, data, place: None });
        self.entries.push(entry);
    }

    fn config(&self) -> Value {
        let rule = |bits: u8| json!({"mode": "affine", "bits": bits, "group_size": 32});
        let mut quantization = rule(4);
        self.eight.iter().for_each(|module| quantization[module] = rule(8));
        json!({
            "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": 2,
            "num_attention_heads": HEADS, "num_key_value_heads": KEYS, "head_dim": 16, "hidden_act": "silu",
            "rms_norm_eps": f64::from(1e-5_f32), "rope_theta": 50000.0, "vocab_size": VOCABULARY,
            "tie_word_embeddings": false, "eos_token_id": [2], "max_position_embeddings": 512,
            "attention_bias": false, "mlp_bias": false, "quantization": quantization,
        })
    }
}

/// The metadata of a small llama with a tokenizer of 40 tokens.
fn metadata() -> Vec<(String, Meta)> {
    let small = |value: usize| Meta::U32(u32::try_from(value).unwrap());
    let named = ["<|end|>", "<|a|>", "<|b|>", "\u{120}", "a", "b", "c", "1", "2", "ab", "\u{120}a"];
    let filler = (named.len()..VOCABULARY).map(|index| format!("<{index}>"));
    let tokens: Vec<String> = named.map(str::to_owned).into_iter().chain(filler).collect();
    let types = (0..VOCABULARY).map(|index| if index < 3 { 3 } else { 1 }).collect();
    let list = [
        ("general.architecture", text("llama")),
        ("general.name", text("tiny")),
        ("general.alignment", Meta::U32(32)),
        ("llama.block_count", Meta::U32(2)),
        ("llama.context_length", Meta::U32(512)),
        ("llama.embedding_length", small(HIDDEN)),
        ("llama.feed_forward_length", small(INNER)),
        ("llama.attention.head_count", small(HEADS)),
        ("llama.attention.head_count_kv", small(KEYS)),
        ("llama.attention.layer_norm_rms_epsilon", Meta::F32(1e-5)),
        ("llama.rope.freq_base", Meta::F32(50000.0)),
        ("llama.rope.dimension_count", Meta::U32(16)),
        ("llama.vocab_size", small(VOCABULARY)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text("smollm")),
        ("tokenizer.ggml.tokens", Meta::Texts(tokens)),
        ("tokenizer.ggml.token_type", Meta::I32s(types)),
        ("tokenizer.ggml.merges", Meta::Texts(vec!["a b".to_owned(), "\u{120} a".to_owned()])),
        ("tokenizer.ggml.eos_token_id", Meta::U32(2)),
        ("tokenizer.ggml.add_bos_token", Meta::Bool(0)),
        ("tokenizer.chat_template", text("{{ messages }}")),
    ];
    list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn both() -> Both {
    let file = File { version: 3, metadata: metadata(), tensors: Vec::new() };
    let mut both = Both { file, entries: Vec::new(), eight: Vec::new() };
    both.matrix(("token_embd", "model.embed_tokens"), [VOCABULARY, HIDDEN], 8, None);
    for layer in 0..2 {
        let (from, to) = (format!("blk.{layer}"), format!("model.layers.{layer}"));
        for (name, module, shape, kind, heads) in LAYER {
            // The second layer's queries are plain numbers, so that rows of those are put back, too.
            let kind = if layer == 1 && name == "attn_q" { 0 } else { kind };
            both.matrix((&format!("{from}.{name}"), &format!("{to}.{module}")), shape, kind, heads);
        }
        both.norm(&format!("{from}.attn_norm"), &format!("{to}.input_layernorm"));
        both.norm(&format!("{from}.ffn_norm"), &format!("{to}.post_attention_layernorm"));
    }
    both.norm("output_norm", "model.norm");
    both.matrix(("output", "lm_head"), [VOCABULARY, HIDDEN], 3, None);
    both
}

/// A well-formed file that a test can bend.
pub(crate) fn file() -> File {
    both().file
}

/// The model as a GGUF file and as a folder.
pub(crate) fn folders() -> (TempDir, TempDir) {
    let both = both();
    (written(&both.file.bytes()), model(&both.config(), &both.entries))
}

#[test]
fn every_byte_is_that_of_the_same_model_as_safetensors() {
    let (single, folder) = folders();
    let found = Checkpoint::open(&single.path().join("m.gguf")).unwrap();
    let expected = Checkpoint::open(folder.path()).unwrap();
    assert_eq!(found.config(), expected.config());
    assert_eq!(found.quantization_text(), expected.quantization_text());
    assert_eq!(found.quantization_text().as_deref(), Some("affine 4-bit g32 + affine 8-bit g32"));
    let names =
        |checkpoint: &Checkpoint| checkpoint.tensors().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    let mut compared = 0;
    for ((name, tensor), (_, other)) in found.tensors().zip(expected.tensors()) {
        assert_eq!((tensor.dtype, &tensor.shape), (other.dtype, &other.shape), "{name}");
        assert_eq!(&*tensor.bytes, &*other.bytes, "{name}");
        compared += 1;
    }
    assert_eq!(compared, both().entries.len());
    assert_eq!((found.name().as_str(), found.summary().tensors), ("m", compared));
}

#[test]
fn digits_are_split_and_control_tokens_recognised() {
    let (single, _) = folders();
    let checkpoint = Checkpoint::open(&single.path().join("m.gguf")).unwrap();
    let tokenizer = Tokenizer::of(&checkpoint).unwrap();
    assert_eq!(tokenizer.encode("ab a12<|b|>c").unwrap(), [9, 10, 7, 8, 2, 6]);
    assert_eq!(tokenizer.decode(&[9, 10, 7, 8, 2, 6]).unwrap(), "ab a12<|b|>c");
}

#[test]
fn a_file_without_a_tokenizer_has_none() {
    let mut file = file();
    file.metadata.retain(|(key, _)| !key.starts_with("tokenizer.ggml."));
    let folder = written(&file.bytes());
    let checkpoint = Checkpoint::open(&folder.path().join("m.gguf")).unwrap();
    assert!(!checkpoint.has_file("tokenizer.json").unwrap());
    assert!(checkpoint.config().end_ids.is_empty());
}
