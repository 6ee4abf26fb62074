//! What each family refuses, field by field, and what it takes as given where a file does not say.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use super::fixture::{Entry, entries, model, refusal};
use exactness::engine::checkpoint::{Checkpoint, Config, FeedForward, Form, Llama3, Mixer};
use serde_json::{Value, json};

fn llama() -> Value {
    json!({
        "model_type": "llama", "vocab_size": 8, "hidden_size": 32, "intermediate_size": 32, "hidden_act": "silu",
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "rms_norm_eps": 1e-5,
        "rope_theta": 10_000.0, "tie_word_embeddings": true,
    })
}

fn qwen3() -> Value {
    let mut config = llama();
    config["model_type"] = json!("qwen3");
    config["head_dim"] = json!(16);
    config
}

fn qwen3_next() -> Value {
    json!({
        "model_type": "qwen3_next", "vocab_size": 8, "hidden_size": 32, "hidden_act": "silu",
        "num_hidden_layers": 2, "full_attention_interval": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
        "head_dim": 16, "rms_norm_eps": 1e-6, "rope_theta": 10_000_000, "partial_rotary_factor": 0.25,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
        "linear_num_key_heads": 1, "linear_num_value_heads": 2, "tie_word_embeddings": true,
        "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "shared_expert_intermediate_size": 32, "norm_topk_prob": true,
    })
}

fn qwen35_moe() -> Value {
    let mut config = qwen3_next();
    config["model_type"] = json!("qwen3_5_moe_text");
    config["attention_bias"] = json!(false);
    config["rope_parameters"] = json!({"rope_type": "default", "rope_theta": 10_000_000});
    config.as_object_mut().unwrap().remove("norm_topk_prob");
    config
}

fn parsed(config: &Value) -> Result<Config, String> {
    Config::parse(("config.json", config.to_string().as_bytes()), None).map_err(|error| error.to_string())
}

/// Each case sets a field; null removes it.
fn refused(config: &Value, cases: &[(&str, Value, &str)]) {
    parsed(config).unwrap();
    for (field, value, expected) in cases {
        let mut changed = config.clone();
        match value {
            Value::Null => drop(changed.as_object_mut().unwrap().remove(*field)),
            value => changed[*field] = value.clone(),
        }
        let says = parsed(&changed).unwrap_err();
        assert_eq!(says, format!("read config.json: {expected}"), "{field}");
    }
}

fn llama3(kind: &str) -> Value {
    json!({
        "rope_type": kind, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    })
}

#[test]
fn llama_refuses_what_it_does_not_compute() {
    let mut yarn = llama3("yarn");
    yarn.as_object_mut().unwrap().retain(|name, _| name == "rope_type");
    let mut flat = llama3("llama3");
    flat["high_freq_factor"] = json!(1.0);
    refused(
        &llama(),
        &[
            ("attention_bias", json!(true), "attention_bias is true, expected false or absent"),
            ("mlp_bias", json!(true), "mlp_bias is true, expected false or absent"),
            ("rope_traditional", json!(true), "rope_traditional is true, expected false or absent"),
            (
                "partial_rotary_factor",
                json!(0.5),
                "partial_rotary_factor is 0.5, expected 1 or 1.0 or absent",
            ),
            ("pretraining_tp", json!(2), "pretraining_tp is 2, expected 1 or 1.0 or absent"),
            ("sliding_window", json!(128), "sliding_window is 128, expected absent"),
            ("use_sliding_window", json!(true), "use_sliding_window is true, expected false or absent"),
            (
                "layer_types",
                json!(["sliding_attention"]),
                "layer_types is [\"sliding_attention\"], expected a list of 1 (num_hidden_layers) of \
                 \"full_attention\", or absent",
            ),
            ("hidden_act", json!("gelu"), "hidden_act is \"gelu\", expected \"silu\""),
            ("rope_scaling", yarn, "rope_scaling.rope_type is \"yarn\", expected \"default\" or \"llama3\""),
            (
                "rope_scaling",
                flat,
                "rope_scaling.high_freq_factor is 1.0, expected more than low_freq_factor, 1",
            ),
            (
                "rope_scaling",
                json!({"factor": 2.0}),
                "rope_scaling.rope_type is missing, expected \"default\" or \"llama3\"",
            ),
            ("rope_theta", Value::Null, "rope_theta is missing, expected a positive number"),
            ("head_dim", json!(15), "head_dim is 15, expected an even number"),
            (
                "hidden_size",
                json!(30),
                "hidden_size is 30, expected an even multiple of num_attention_heads, 2, or a head_dim",
            ),
            (
                "num_key_value_heads",
                json!(3),
                "num_key_value_heads is 3, expected a divisor of num_attention_heads, 2",
            ),
            ("tie_word_embeddings", Value::Null, "tie_word_embeddings is missing, expected true or false"),
            ("num_hidden_layers", json!(5000), "num_hidden_layers is 5000, expected at most 1024"),
        ],
    );
}

#[test]
fn what_llama_files_leave_unsaid() {
    let attention = |config: &Value| match parsed(config).unwrap().layers[0] {
        Mixer::Attention(sizes) => sizes,
        Mixer::DeltaNet(_) => panic!("a delta net in a Llama"),
    };
    let sizes = attention(&llama());
    assert_eq!((sizes.head_dim, sizes.rotary_dims, sizes.kv_heads), (16, 16, 1));
    assert_eq!((sizes.output_gate, sizes.head_norms, sizes.rope_scaling), (false, false, None));
    let mut old = llama();
    old.as_object_mut().unwrap().remove("num_key_value_heads");
    assert_eq!(attention(&old).kv_heads, 2);
    let expected = Llama3 { factor: 8.0, low: 1.0, high: 4.0, positions: 8192.0 };
    let mut scaled = llama();
    scaled["rope_scaling"] = llama3("llama3");
    assert_eq!(attention(&scaled).rope_scaling, Some(expected));
    let mut newer = llama();
    newer.as_object_mut().unwrap().remove("rope_theta");
    newer["rope_parameters"] = llama3("llama3");
    newer["rope_parameters"]["rope_theta"] = json!(500_000.0);
    let sizes = attention(&newer);
    assert_eq!((sizes.rope_scaling, sizes.rope_theta.to_bits()), (Some(expected), 500_000_f32.to_bits()));
}

#[test]
fn qwen3_refuses_what_it_does_not_compute() {
    refused(
        &qwen3(),
        &[
            ("attention_bias", json!(true), "attention_bias is true, expected false or absent"),
            ("use_sliding_window", json!(true), "use_sliding_window is true, expected false or absent"),
            ("head_dim", Value::Null, "head_dim is missing, expected a whole number from 1 to 2097152"),
            (
                "partial_rotary_factor",
                json!(0.5),
                "partial_rotary_factor is 0.5, expected 1 or 1.0 or absent",
            ),
        ],
    );
    // Released files state a window that is switched off.
    let mut stated = qwen3();
    stated["sliding_window"] = json!(4096);
    stated["use_sliding_window"] = json!(false);
    assert_eq!(parsed(&stated).unwrap().layers, parsed(&qwen3()).unwrap().layers);
}

#[test]
fn families_with_experts_refuse_what_they_do_not_compute() {
    let cases = [
        ("attention_bias", json!(true), "attention_bias is true, expected false"),
        ("decoder_sparse_step", json!(2), "decoder_sparse_step is 2, expected 1 or absent"),
        ("mlp_only_layers", json!([0]), "mlp_only_layers is [0], expected [] or absent"),
        ("num_experts_per_tok", json!(4), "num_experts_per_tok is 4, expected at most num_experts, 3"),
        ("num_experts", Value::Null, "num_experts is missing, expected a whole number from 1 to 2097152"),
        (
            "rope_scaling",
            json!({"rope_type": "yarn"}),
            "rope_scaling is {\"rope_type\":\"yarn\"}, expected absent",
        ),
        (
            "full_attention_interval",
            Value::Null,
            "full_attention_interval is missing, expected a whole number from 1 to 2097152",
        ),
    ];
    let mut next = cases.to_vec();
    next[0].2 = "attention_bias is true, expected false or absent";
    next.push(("norm_topk_prob", Value::Null, "norm_topk_prob is missing, expected true or false"));
    next.push(("use_sliding_window", json!(true), "use_sliding_window is true, expected false or absent"));
    refused(&qwen3_next(), &next);
    let mut moe = cases.to_vec();
    moe[0].2 = "attention_bias is true, expected false (biases are not supported)";
    moe.push(("norm_topk_prob", json!(false), "norm_topk_prob is false, expected true or absent"));
    refused(&qwen35_moe(), &moe);
    let mut dense = qwen35_moe();
    dense["model_type"] = json!("qwen3_5_text");
    dense["num_experts"] = json!(0);
    dense["intermediate_size"] = json!(32);
    refused(&dense, &[("num_experts", json!(8), "num_experts is 8, expected 0 or absent")]);
    assert_eq!(parsed(&dense).unwrap().feed_forward, FeedForward::Dense { inner: 32 });
}

#[test]
fn the_plain_form_is_that_of_families_without_convolutions() {
    for (config, form) in [(llama(), Form::Plain), (qwen3(), Form::Plain), (qwen3_next(), Form::HuggingFace)]
    {
        let checkpoint = Checkpoint::open(model(&config, &entries(&config, form, false)).path()).unwrap();
        assert_eq!(checkpoint.form(), form);
    }
}

#[test]
fn tensors_of_another_family_are_named() {
    let mut list = entries(&llama(), Form::Plain, false);
    list.push(Entry::new("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", &[8]));
    assert_eq!(
        Checkpoint::open(model(&llama(), &list).path()).unwrap().summary().ignored,
        [("rotary frequencies", 1)]
    );
    list.push(Entry::new("model.layers.0.self_attn.q_norm.weight", "F32", &[16]));
    assert_eq!(
        refusal(&model(&llama(), &list)),
        "read DIR/model.safetensors: tensor model.layers.0.self_attn.q_norm.weight: llama has no such tensor"
    );
    let says = refusal(&model(&qwen3(), &entries(&llama(), Form::Plain, false)));
    assert_eq!(says, "read checkpoint DIR: tensor model.layers.0.self_attn.q_norm.weight [16] is missing");
}

#[test]
fn experts_that_do_not_fit() {
    const UP: &str = "model.layers.0.mlp.switch_mlp.up_proj.weight";
    let config = qwen3_next();
    let whole = entries(&config, Form::HuggingFace, false);
    let with = |entry: Option<Entry>| {
        let mut list = whole.clone();
        list.retain(|other| other.name != UP);
        list.extend(entry);
        refusal(&model(&config, &list))
    };
    assert_eq!(with(None), format!("read checkpoint DIR: tensor {UP} [3, 32, 32] is missing"));
    assert_eq!(
        with(Some(Entry::new(UP, "F32", &[2, 32, 32]))),
        format!("read DIR/model.safetensors: tensor {UP} has shape [2, 32, 32], expected [3, 32, 32]")
    );
    assert_eq!(
        with(Some(Entry::new("model.layers.0.mlp.experts.0.up_proj.weight", "F32", &[32, 32]))),
        "read checkpoint DIR: tensor model.layers.0.mlp.experts.1.up_proj.weight [32, 32] is missing"
    );
    assert_eq!(
        with(Some(Entry::new("model.layers.0.mlp.experts.gate_up_proj", "F32", &[3, 32, 32]))),
        "read DIR/model.safetensors: tensor model.layers.0.mlp.experts.gate_up_proj has shape [3, 32, 32], \
         expected [3, 64, 32]"
    );
}
