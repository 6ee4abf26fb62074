//! Prefixes, nesting, shards and per-module rules: other spellings of one checkpoint mean the same.

use super::fixture::{Entry, byte_scaled, config, entries, folder, model, refusal, serialize};
use exactness::engine::checkpoint::{Checkpoint, Dtype, Form, Matrix, Mode, Quantization};
use serde_json::{Value, json};

/// The text model's tensors behind a prefix, as `model.` + rest becomes `before` + rest.
fn renamed(mut list: Vec<Entry>, before: &str) -> Vec<Entry> {
    for entry in &mut list {
        entry.name = entry.name.replacen("model.", before, 1);
    }
    list
}

#[test]
fn every_prefix_gives_one_digest() {
    let plain = entries(&config(), Form::HuggingFace, false);
    let expected = Checkpoint::open(model(&config(), &plain).path()).unwrap().digest();
    for before in ["model.language_model.", "language_model.model."] {
        let folder = model(&config(), &renamed(plain.clone(), before));
        assert_eq!(Checkpoint::open(folder.path()).unwrap().digest(), expected, "{before}");
    }
}

#[test]
fn two_spellings_of_one_tensor_are_refused() {
    let mut list = entries(&config(), Form::HuggingFace, false);
    list.push(Entry::new("language_model.model.norm.weight", "F32", &[32]));
    let says = refusal(&model(&config(), &list));
    let expected = "tensor language_model.model.norm.weight: means the same as model.norm.weight of DIR/model.safetensors";
    assert!(says.contains(expected), "{says}");
}

#[test]
fn nested_and_flat_configurations_agree() {
    let list = entries(&config(), Form::HuggingFace, false);
    let mut text = config();
    text["eos_token_id"] = json!([1, 7]);
    let nested = json!({"model_type": "qwen3_5", "eos_token_id": 3, "text_config": text});
    let nested = folder(
        &nested,
        &[
            ("model.safetensors", &serialize(&list)),
            ("generation_config.json", br#"{"eos_token_id": [5, 7]}"#),
        ],
    );
    let nested = Checkpoint::open(nested.path()).unwrap();
    let flat = Checkpoint::open(model(&config(), &list).path()).unwrap();
    assert_eq!(nested.config().layers, flat.config().layers);
    assert_eq!(nested.config().end_ids, [1, 3, 5, 7]);
    assert_eq!(flat.config().end_ids, [7]);
}

#[test]
fn the_interval_counts_where_the_list_is_absent() {
    let list = entries(&config(), Form::HuggingFace, false);
    let mut changed = config();
    changed.as_object_mut().unwrap().remove("layer_types");
    changed["full_attention_interval"] = json!(2);
    let derived = Checkpoint::open(model(&changed, &list).path()).unwrap();
    let stated = Checkpoint::open(model(&config(), &list).path()).unwrap();
    assert_eq!(derived.config(), stated.config());
}

#[test]
fn parts_of_other_models_are_counted_and_left() {
    let mut list = entries(&config(), Form::HuggingFace, false);
    for name in ["mtp.norm.weight", "model.visual.merger.norm.weight", "lm_head.weight"] {
        list.push(Entry::new(name, "F32", &[3]));
    }
    let checkpoint = Checkpoint::open(model(&config(), &list).path()).unwrap();
    let summary = checkpoint.summary();
    assert_eq!(summary.ignored, [("mtp", 1), ("vision", 1), ("tied lm_head", 1)]);
    assert_eq!(summary.tensors, list.len() - 3);
}

fn index(list: &[(&Entry, &str)]) -> Vec<u8> {
    let map = list.iter().map(|(entry, file)| (entry.name.clone(), Value::from(*file))).collect();
    json!({"metadata": {}, "weight_map": Value::Object(map)}).to_string().into_bytes()
}

#[test]
fn shards_give_the_single_files_digest() {
    let list = entries(&config(), Form::Mlx, false);
    let (first, second) = list.split_at(9);
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    let placed: Vec<_> =
        list.iter().enumerate().map(|(i, entry)| (entry, names[usize::from(i >= 9)])).collect();
    let sharded = folder(
        &config(),
        &[
            (names[0], &serialize(first)),
            (names[1], &serialize(second)),
            ("model.safetensors.index.json", &index(&placed)),
        ],
    );
    let single = Checkpoint::open(model(&config(), &list).path()).unwrap();
    assert_eq!(Checkpoint::open(sharded.path()).unwrap().digest(), single.digest());

    let path = sharded.path().join(names[1]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(refusal(&sharded), format!("open checkpoint DIR: there is no {} in it", names[1]));
}

#[test]
fn an_index_that_lies_is_refused() {
    let list = entries(&config(), Form::Mlx, false);
    let ghost = Entry::new("model.ghost.weight", "F32", &[1]);
    let map = index(&[(&list[0], "one.safetensors"), (&ghost, "one.safetensors")]);
    let lying =
        folder(&config(), &[("one.safetensors", &serialize(&list)), ("model.safetensors.index.json", &map)]);
    let says = refusal(&lying);
    assert!(says.contains("model.ghost.weight: the index places it in this file"), "{says}");
    let outside = index(&[(&list[0], "../one.safetensors")]);
    let says = refusal(&folder(&config(), &[("model.safetensors.index.json", &outside)]));
    assert!(says.contains("expected the name of a file beside the index"), "{says}");
}

#[test]
fn any_single_file_name_will_do_but_not_two() {
    let bytes = serialize(&entries(&config(), Form::Mlx, false));
    assert!(Checkpoint::open(folder(&config(), &[("weights.safetensors", &bytes)]).path()).is_ok());
    let two = folder(&config(), &[("a.safetensors", &bytes), ("b.safetensors", &bytes)]);
    assert!(refusal(&two).contains("2 safetensors files but no model.safetensors.index.json"));
    assert!(refusal(&folder(&config(), &[])).contains("neither model.safetensors nor"));
}

#[test]
fn modules_have_their_own_rules_under_either_prefix() {
    const GATE: &str = "model.layers.0.mlp.gate_proj";
    let mut changed = config();
    changed["quantization"] = json!({
        "bits": 4, "group_size": 32,
        "language_model.model.layers.0.mlp.gate_proj": {"bits": 8, "group_size": 32, "mode": "affine"},
        "model.layers.0.mlp.up_proj": false,
    });
    let mut list = entries(&config(), Form::Mlx, true);
    list.retain(|entry| !entry.name.starts_with("model.layers.0.mlp.up_proj"));
    list.push(Entry::new("model.layers.0.mlp.up_proj.weight", "F32", &[32, 32]));
    *list.iter_mut().find(|entry| entry.name == format!("{GATE}.weight")).unwrap() =
        Entry::new(format!("{GATE}.weight"), "U32", &[32, 8]);
    let checkpoint = Checkpoint::open(model(&changed, &list).path()).unwrap();
    let eight = Quantization { mode: Mode::Affine, bits: 8, group: 32 };
    assert_eq!(checkpoint.quantization(GATE).unwrap(), Some(eight));
    assert_eq!(checkpoint.quantization("model.layers.0.mlp.up_proj").unwrap(), None);
    let dense = checkpoint.matrix("model.layers.0.mlp.up_proj", 32, 32).unwrap();
    assert!(matches!(dense, Matrix::Dense(_)));
    assert_eq!(checkpoint.quantization_text().as_deref(), Some("affine 4-bit g32 + affine 8-bit g32"));
}

#[test]
fn modes_may_differ_from_module_to_module() {
    const GATE: &str = "model.layers.0.mlp.gate_proj";
    let affine = entries(&config(), Form::Mlx, true);
    let mut list = byte_scaled(affine.clone());
    list.retain(|entry| !entry.name.starts_with(GATE));
    list.extend(affine.into_iter().filter(|entry| entry.name.starts_with(GATE)));
    let mut changed = config();
    changed["quantization"] = json!({"mode": "mxfp4", "bits": 4, "group_size": 32});
    changed["quantization"][GATE] = json!({"bits": 4, "group_size": 32});
    let checkpoint = Checkpoint::open(model(&changed, &list).path()).unwrap();
    assert_eq!(checkpoint.quantization_text().as_deref(), Some("mxfp4 4-bit g32 + affine 4-bit g32"));
    for (module, biased) in [(GATE, true), ("model.layers.0.mlp.up_proj", false)] {
        let Matrix::Quantized { biases, .. } = checkpoint.matrix(module, 32, 32).unwrap() else {
            panic!("{module} is not quantized");
        };
        assert_eq!(biases.is_some(), biased, "{module}");
    }
    // No part of a matrix says in which type to compute, so the last norm does.
    assert_eq!(checkpoint.dtype(), Dtype::F32);
}
