//! A weight file that is wrong in one place is refused by the name of the file and the tensor, and never panics.

use super::fixture::{Entry, byte_scaled, config, entries, folder, model, refusal, serialize, with_header};
use exactness::engine::checkpoint::{Checkpoint, Form};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

const FILE: &str = "read DIR/model.safetensors";

/// Spoils a list of tensors in one place.
type Bend = fn(&mut Vec<Entry>);

fn dense() -> Vec<Entry> {
    entries(&config(), Form::HuggingFace, false)
}

fn of_bytes(bytes: &[u8]) -> String {
    refusal(&folder(&config(), &[("model.safetensors", bytes)]))
}

#[test]
fn tensors_that_do_not_fit_the_architecture() {
    let cases: [(&str, Bend, &str); 5] = [
        ("missing", |list| drop(list.pop()), "read checkpoint DIR: tensor model.norm.weight [32] is missing"),
        (
            "misshaped",
            |list| list[0] = Entry::new("model.embed_tokens.weight", "F32", &[8, 31]),
            "read DIR/model.safetensors: tensor model.embed_tokens.weight has shape [8, 31], expected [8, 32]",
        ),
        (
            "wrong type",
            |list| list[1] = Entry::new("model.layers.0.input_layernorm.weight", "I32", &[32]),
            "read DIR/model.safetensors: tensor model.layers.0.input_layernorm.weight has dtype I32, expected F32, F16 or BF16",
        ),
        (
            "surplus",
            |list| list.push(Entry::new("model.layers.1.self_attn.q_proj.bias", "F32", &[64])),
            "read DIR/model.safetensors: tensor model.layers.1.self_attn.q_proj.bias: qwen3_5_text has no such tensor",
        ),
        (
            "layer beyond the last",
            |list| list.push(Entry::new("model.layers.2.input_layernorm.weight", "F32", &[32])),
            "read DIR/model.safetensors: tensor model.layers.2.input_layernorm.weight: qwen3_5_text has no such tensor",
        ),
    ];
    for (case, bend, expected) in cases {
        let mut list = dense();
        bend(&mut list);
        assert_eq!(refusal(&model(&config(), &list)), expected, "{case}");
    }
}

#[test]
fn convolutions_in_both_layouts_are_refused() {
    let mut both = config();
    both["layer_types"] = json!(["linear_attention", "linear_attention"]);
    let mut list = entries(&both, Form::HuggingFace, false);
    let second = list.iter_mut().rfind(|entry| entry.name.ends_with("conv1d.weight")).unwrap();
    second.shape.swap(1, 2);
    let says = refusal(&model(&both, &list));
    assert!(
        says.contains("layers.1.linear_attn.conv1d.weight: shape [64, 4, 1] contradicts [64, 1, 4]"),
        "{says}"
    );
}

#[test]
fn quantized_tensors_that_do_not_fit() {
    let mut changed = config();
    changed["quantization"] = json!({"bits": 4, "group_size": 32});
    let cases: [(&str, Entry, &str); 3] = [
        ("weight", Entry::new("lm_head.weight", "U32", &[8, 5]), "has shape [8, 5], expected [8, 4]"),
        ("weight", Entry::new("lm_head.weight", "F32", &[8, 4]), "has dtype F32, expected U32"),
        (
            "biases",
            Entry::new("lm_head.biases", "F32", &[8, 1]),
            "has dtype F32, expected the type of its scales",
        ),
    ];
    changed["tie_word_embeddings"] = json!(false);
    for (part, replacement, expected) in cases {
        let mut list = entries(&changed, Form::Mlx, true);
        *list.iter_mut().find(|entry| entry.name == format!("lm_head.{part}")).unwrap() = replacement;
        let says = refusal(&model(&changed, &list));
        assert!(says.starts_with(FILE) && says.contains(expected), "{says}");
    }
    changed["quantization"] = json!({"bits": 4, "group_size": 64});
    let says = refusal(&model(&changed, &entries(&changed, Form::Mlx, true)));
    assert!(says.contains("scales has shape [8, 1], expected [8, 0]"), "{says}");
}

#[test]
fn tensors_of_another_mode() {
    let affine = entries(&config(), Form::Mlx, true);
    let bytes = byte_scaled(affine.clone());
    let mut biased = bytes.clone();
    biased.push(Entry::new("model.layers.1.mlp.up_proj.biases", "BF16", &[32, 1]));
    let mut wide = bytes.clone();
    let codes = wide.iter_mut().find(|entry| entry.name.ends_with("embed_tokens.weight")).unwrap();
    *codes = Entry::new(codes.name.clone(), "U32", &[8, 8]);
    let cases: [(&str, u8, &[Entry], &str); 5] = [
        ("mxfp4", 4, &affine, "model.embed_tokens.scales has dtype BF16, expected U8"),
        ("affine", 4, &bytes, "model.embed_tokens.scales has dtype U8, expected F32, F16 or BF16"),
        (
            "mxfp4",
            4,
            &biased,
            "tensor model.layers.1.mlp.up_proj.biases: the mode mxfp4 of this module has no biases",
        ),
        ("mxfp8", 8, &bytes, "model.embed_tokens.weight has shape [8, 4], expected [8, 8]"),
        ("mxfp4", 4, &wide, "model.embed_tokens.weight has shape [8, 8], expected [8, 4]"),
    ];
    for (mode, bits, list, expected) in cases {
        let mut changed = config();
        changed["quantization"] = json!({"mode": mode, "bits": bits, "group_size": 32});
        let says = refusal(&model(&changed, list));
        assert!(says.starts_with(FILE) && says.contains(expected), "{expected}: {says}");
    }
    let mut changed = config();
    changed["quantization"] = json!({"mode": "nvfp4", "bits": 4, "group_size": 16});
    let says = refusal(&model(&changed, &bytes));
    assert!(says.contains("model.embed_tokens.scales has shape [8, 1], expected [8, 2]"), "{says}");
}

#[test]
fn headers_that_lie() {
    let info = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let good = info("F32", "[1]", "[0,4]");
    let cases = [
        (
            format!(r#"{{"t":{}}}"#, info("F32", "[1]", "[0,8]")),
            ": tensor t: shape [1] of F32 does not fit its 8 bytes",
        ),
        (
            format!(r#"{{"t":{}}}"#, info("F32", "[4]", "[0,16]")),
            ": tensor t: its bytes 0..16 reach outside the file's 8 data bytes",
        ),
        (
            format!(r#"{{"t":{}}}"#, info("F32", "[1]", "[4,0]")),
            ": tensor t: data_offsets [4, 0] run backwards",
        ),
        (
            format!(r#"{{"t":{}}}"#, info("F32", "[1]", "[4,8]")),
            ": tensor t: the 4 bytes before its first, 4, belong to no tensor",
        ),
        (format!(r#"{{"t":{good}}}"#), " as safetensors: the last 4 of 8 data bytes belong to no tensor"),
        (
            format!(r#"{{"a":{good},"b":{}}}"#, info("F32", "[1]", "[2,6]")),
            ": tensor b: its bytes 2..6 overlap the tensor before",
        ),
        (format!(r#"{{"a":{good},"a":{}}}"#, info("F32", "[1]", "[4,8]")), "tensor a stands there twice"),
        (
            format!(r#"{{"t":{}}}"#, info("F32", "[4294967296,4294967296,4294967296]", "[0,8]")),
            "does not fit its 8 bytes",
        ),
        (format!(r#"{{"t":{}}}"#, info("F99", "[1]", "[0,8]")), "tensor t: unknown variant `F99`"),
        (format!(r#"{{"t":{}}}"#, info("F32", "[-1]", "[0,8]")), "tensor t: invalid value: integer `-1`"),
        (r#"{"t":[]}"#.to_owned(), "its header is not a table of tensors: tensor t"),
        ("{\"t\":".to_owned(), "its header is not a table of tensors: tensor t: EOF"),
    ];
    for (header, expected) in cases {
        let says = of_bytes(&with_header(&header, &[0; 8]));
        assert!(says.starts_with(FILE) && says.contains(expected), "{header}: {says}");
    }
}

#[test]
fn files_of_another_kind() {
    assert!(of_bytes(b"").contains("the file has 0 bytes"));
    assert!(of_bytes(b"GGUF\x03\0\0\0\0\0\0\0more").contains("does not begin with a safetensors header"));
    let huge = [u64::MAX.to_le_bytes().as_slice(), b"{}"].concat();
    assert!(of_bytes(&huge).contains("does not begin with a safetensors header"));
    let short = [1000_u64.to_le_bytes().as_slice(), b"{}"].concat();
    assert!(of_bytes(&short).contains("the header has 1000 bytes, the file holds 2 of them (truncated?)"));
    let pointer = b"version 1 of a pointer to a large file\n";
    assert!(of_bytes(pointer).contains("does not begin with a safetensors header"));
}

#[test]
fn paths_that_are_no_folder() {
    let folder = folder(&config(), &[]);
    let says = Checkpoint::open(&folder.path().join("config.json")).unwrap_err().to_string();
    assert!(
        says.ends_with(
            "config.json: not a folder; a checkpoint is a folder with config.json, or a .gguf file"
        ),
        "{says}"
    );
    let says = Checkpoint::open(Path::new("no/such/folder")).unwrap_err().to_string();
    assert!(says.starts_with("read no/such/folder: "), "{says}");
}

proptest! {
    #[test]
    fn a_truncated_file_is_always_refused(cut in any::<prop::sample::Index>()) {
        let whole = serialize(&dense());
        let says = of_bytes(&whole[..cut.index(whole.len())]);
        prop_assert!(says.starts_with(FILE), "{}", says);
    }

    #[test]
    fn a_damaged_header_is_refused_or_means_something(at in any::<prop::sample::Index>(), bits in 1_u8..) {
        let mut whole = serialize(&dense());
        let end = 8 + usize::try_from(u64::from_le_bytes(whole[..8].try_into().unwrap())).unwrap();
        whole[at.index(end)] ^= bits;
        let folder = folder(&config(), &[("model.safetensors", &whole)]);
        if let Ok(checkpoint) = Checkpoint::open(folder.path()) {
            for (_, tensor) in checkpoint.tensors() {
                prop_assert_eq!(tensor.bytes.len(), tensor.elements() * tensor.dtype.bitsize() / 8);
            }
        }
    }
}
