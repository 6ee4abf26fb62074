//! A configuration that is wrong in one field is refused by the name of that field.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use super::fixture::{Entry, config, entries, folder, model, refusal};
use exactness::engine::checkpoint::Form;
use serde_json::{Value, json};

/// Sets a field (a JSON pointer without the first slash), or removes it for null.
fn changed(field: &str, value: Value) -> Value {
    let mut whole = config();
    let (place, name) = field.rsplit_once('/').map_or(("", field), |(place, name)| (place, name));
    let pointer = if place.is_empty() { String::new() } else { format!("/{place}") };
    let object = whole.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        object.remove(name);
    } else {
        object.insert(name.to_owned(), value);
    }
    whole
}

#[test]
fn every_needed_field_is_asked_for_by_name() {
    let list = entries(&config(), Form::HuggingFace, false);
    let optional = ["layer_types", "eos_token_id"];
    let names: Vec<String> = config().as_object().unwrap().keys().cloned().collect();
    let nested =
        ["rope_theta", "rope_type", "partial_rotary_factor"].map(|name| format!("rope_parameters/{name}"));
    let mut tried = 0;
    for field in names.into_iter().chain(nested).filter(|name| !optional.contains(&name.as_str())) {
        let says = refusal(&model(&changed(&field, Value::Null), &list));
        let name = field.rsplit('/').next().unwrap();
        assert!(
            says.starts_with("read DIR/config.json: ") && says.contains(&format!("{name} is missing")),
            "{says}"
        );
        tried += 1;
    }
    assert_eq!(tried, 21);
    let says = refusal(&model(&changed("layer_types", Value::Null), &list));
    assert!(says.contains("full_attention_interval is missing"), "{says}");
}

#[test]
fn values_that_ask_for_other_arithmetic_are_refused() {
    let list = entries(&config(), Form::HuggingFace, false);
    let cases = [
        (
            "model_type",
            json!("mistral"),
            "model_type is \"mistral\", expected a supported one: \"llama\", \"qwen3\", ",
        ),
        ("attention_bias", json!(true), "attention_bias is true, expected false"),
        ("hidden_act", json!("gelu"), "hidden_act is \"gelu\", expected \"silu\""),
        ("attn_output_gate", json!(false), "attn_output_gate is false, expected true or absent"),
        (
            "mamba_ssm_dtype",
            json!("bfloat16"),
            "mamba_ssm_dtype is \"bfloat16\", expected \"float32\" or absent",
        ),
        ("mlp_only_layers", json!([1]), "mlp_only_layers is [1], expected [] or absent"),
        ("rope_scaling", json!({"factor": 2}), "rope_scaling is {\"factor\":2}, expected absent"),
        (
            "rope_parameters/rope_type",
            json!("yarn"),
            "rope_parameters.rope_type is \"yarn\", expected \"default\"",
        ),
        ("rope_parameters/type", json!("linear"), "rope_parameters.type is \"linear\""),
        ("rope_parameters/partial_rotary_factor", json!(0.2), "expected a factor that leaves an even number"),
        (
            "partial_rotary_factor",
            json!(0.5),
            "partial_rotary_factor is 0.5, expected the 0.25 of rope_parameters",
        ),
        (
            "num_key_value_heads",
            json!(3),
            "num_key_value_heads is 3, expected a divisor of num_attention_heads, 2",
        ),
        (
            "linear_num_key_heads",
            json!(4),
            "linear_num_value_heads is 2, expected a multiple of linear_num_key_heads, 4",
        ),
        ("layer_types", json!(["full_attention"]), "expected a list of 2 (num_hidden_layers)"),
        ("layer_types", json!(["full_attention", "sliding_attention"]), "layer_types is"),
        ("num_hidden_layers", json!(1_000_000), "num_hidden_layers is 1000000, expected at most 1024"),
        ("hidden_size", json!(u64::MAX), "hidden_size is 18446744073709551615, expected a whole number"),
        ("hidden_size", json!("32"), "hidden_size is \"32\", expected a whole number"),
        ("rms_norm_eps", json!(0), "rms_norm_eps is 0, expected a positive number"),
        ("eos_token_id", json!([3, 8]), "eos_token_id is [3,8], expected an id or a list of ids from 0 to 7"),
        ("eos_token_id", json!(-1), "eos_token_id is -1"),
        ("text_config", json!(3), "text_config is 3, expected an object"),
    ];
    for (field, value, expected) in cases {
        let says = refusal(&model(&changed(field, value), &list));
        assert!(says.starts_with("read DIR/config.json: ") && says.contains(expected), "{field}: {says}");
    }
}

#[test]
fn files_that_are_no_configuration() {
    let says = refusal(&folder(&json!([]), &[]));
    assert_eq!(says, "read DIR/config.json: the top level is [], expected an object");
    let broken = tempfile::tempdir().unwrap();
    assert_eq!(refusal(&broken), "open checkpoint DIR: there is no config.json in it");
    exactness::transcript::files::write_whole(&broken.path().join("config.json"), b"{\"a\":").unwrap();
    assert!(refusal(&broken).starts_with("read DIR/config.json as JSON: EOF"));
}

#[test]
fn quantization_that_cannot_be_computed_or_contradicts_the_file() {
    let quantized = entries(&config(), Form::Mlx, true);
    let dense = entries(&config(), Form::Mlx, false);
    let rule = |mode: &str, bits: u8, group: u8| json!({"mode": mode, "bits": bits, "group_size": group});
    let with = |extra: Value| {
        let mut whole = rule("affine", 4, 32);
        whole["model.layers.1.mlp.up_proj"] = extra;
        whole
    };
    let mut scaled = rule("nvfp4", 4, 16);
    scaled["global_scale"] = json!(true);
    let cases: [(&[Entry], Value, &str); 14] = [
        (
            &quantized,
            rule("nf4", 4, 64),
            "quantization.mode is \"nf4\", expected a known quantization mode (\"affine\", \"mxfp4\", \"mxfp8\", \"nvfp4\")",
        ),
        (&quantized, rule("affine", 7, 64), "quantization.bits is 7, expected 2, 3, 4, 5, 6 or 8 (affine)"),
        (&quantized, rule("affine", 4, 16), "quantization.group_size is 16, expected 32, 64 or 128 (affine)"),
        (&quantized, rule("mxfp4", 8, 32), "quantization.bits is 8, expected 4 (mxfp4)"),
        (&quantized, rule("mxfp8", 4, 32), "quantization.bits is 4, expected 8 (mxfp8)"),
        (&quantized, rule("nvfp4", 4, 32), "quantization.group_size is 32, expected 16 (nvfp4)"),
        (&quantized, rule("mxfp4", 4, 64), "quantization.group_size is 64, expected 32 (mxfp4)"),
        (&quantized, scaled, "quantization.global_scale is true, expected false or absent"),
        (&quantized, json!({"bits": 4}), "quantization.group_size is missing"),
        (&quantized, Value::Null, "no rule, but its scales are in the file, expected what the tensors say"),
        (
            &quantized,
            with(json!(false)),
            "quantization of model.layers.1.mlp.up_proj is false, but its scales",
        ),
        (&dense, with(rule("affine", 8, 32)), "quantized as affine 8-bit g32, but its scales are in no file"),
        (
            &quantized,
            with(json!("yes")),
            "quantization.model.layers.1.mlp.up_proj is \"yes\", expected a module's own rule",
        ),
        (
            &quantized,
            json!({"quant_method": "fp8", "bits": 8, "group_size": 64}),
            "only MLX's own quantization",
        ),
    ];
    for (list, quantization, expected) in cases {
        let says = refusal(&model(&changed("quantization", quantization), list));
        assert!(says.contains(expected), "{expected}: {says}");
    }
    let mut twice = changed("quantization", rule("affine", 4, 32));
    twice["quantization_config"] = rule("affine", 8, 32);
    assert!(refusal(&model(&twice, &quantized)).contains("expected the same as quantization"));
}
