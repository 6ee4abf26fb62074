//! A GGUF file that is wrong in one place is refused in one line that names the place, and never panics.

use super::gguf::file;
use super::gguf_file::{File, Meta, refusal, text, written};
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::tokenizer::Tokenizer;
use proptest::prelude::*;

const FILE: &str = "read DIR/m.gguf";

/// Spoils a file in one place.
type Bend = fn(&mut File);

fn refused(cases: &[(Bend, &str)]) {
    for (bend, expected) in cases {
        let mut bent = file();
        bend(&mut bent);
        let says = refusal(&bent.bytes());
        assert!(says.contains("DIR/m.gguf") && says.contains(expected), "{expected}: {says}");
    }
}

#[test]
fn files_of_another_kind() {
    let mut other = file().bytes();
    other[3] = b'X';
    assert_eq!(refusal(&other), format!("{FILE} as GGUF: it does not begin with GGUF"));
    assert_eq!(refusal(b""), format!("{FILE} as GGUF: it does not begin with GGUF"));
    refused(&[
        (|file| file.version = 1, " as GGUF: its version is 1; versions 2 and 3, little endian, are read"),
        (|file| file.version = 3 << 24, " as GGUF: its version is 50331648"),
    ]);
}

#[test]
fn counts_that_no_file_can_hold() {
    for (place, what) in [(8, "the tensors"), (16, "the metadata")] {
        for count in [u64::MAX, 1 << 40, 1 << 17] {
            let mut bytes = file().bytes();
            bytes[place..place + 8].copy_from_slice(&count.to_le_bytes());
            let says = refusal(&bytes);
            assert!(says.contains(&format!("{what}: {count} of them do not fit in the file")), "{says}");
        }
    }
    let long = |kind: u32, count: u64| Meta::Raw(9, [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat());
    for (value, expected) in [
        (Meta::Raw(8, u64::MAX.to_le_bytes().to_vec()), "general.name: it takes 18446744073709551615 bytes"),
        (long(8, u64::MAX), "general.name: 18446744073709551615 of them do not fit"),
        (long(0, 1 << 62), "general.name: 4611686018427387904 of them do not fit"),
        (long(9, 1), "general.name: a list of values of type 9"),
        (long(77, 1), "general.name: a list of values of type 77"),
        (Meta::Raw(13, vec![0; 8]), "general.name: its type is 13, the format has 0 to 12"),
        (Meta::Bool(2), "general.name: 2 is neither true (1) nor false (0)"),
        (Meta::Raw(8, [&2_u64.to_le_bytes()[..], b"\xff\xfe"].concat()), "general.name: not UTF-8"),
    ] {
        let mut bent = file();
        bent.set("general.name", value);
        let says = refusal(&bent.bytes());
        assert!(
            says.starts_with(&format!("{FILE} as GGUF: ")) && says.contains(expected),
            "{expected}: {says}"
        );
    }
}

#[test]
fn entries_that_lie() {
    refused(&[
        (
            |file| file.metadata.push(("general.name".to_owned(), text("x"))),
            "general.name stands in the metadata twice",
        ),
        (
            |file| file.tensors[2].name = "output.weight".to_owned(),
            "tensor output.weight: it stands there twice",
        ),
        (
            |file| file.tensors[1].place = Some(0),
            "its bytes begin at 0, those of the tensor before it end at",
        ),
        (
            |file| file.tensors[1].place = Some(2721),
            "its bytes begin at 2721, those of the tensor before it end at",
        ),
        (
            |file| file.tensors.last_mut().unwrap().place = Some(u64::MAX),
            "output.weight: sides [64, 40] of its type cannot lie at 18446744073709551615",
        ),
        (|file| file.tensors.last_mut().unwrap().sides = vec![64, 1 << 20], "reach outside the file's"),
        (
            |file| file.tensor("output.weight").sides = vec![],
            "output.weight: it has 0 sides, the format has 1 to 4",
        ),
        (|file| file.tensor("output.weight").sides = vec![1; 5], "output.weight: it has 5 sides"),
        (
            |file| file.tensor("output.weight").sides = vec![1 << 32, 1 << 32, 1 << 32],
            "output.weight: sides [4294967296",
        ),
        (
            |file| file.tensor("output.weight").sides = vec![64, 0],
            "output.weight: sides [64, 0] of its type cannot lie",
        ),
        (
            |file| file.tensor("output.weight").sides = vec![40, 64],
            "output.weight: sides [40, 64] of its type cannot lie",
        ),
        (
            |file| file.tensor("output.weight").kind = 12,
            "output.weight: its type is Q4_K; the types that are read are F32, F16, Q4_0, Q4_1, Q8_0, BF16",
        ),
        (|file| file.tensor("output.weight").kind = 99, "output.weight: its type is number 99"),
        (
            |file| file.set("general.alignment", Meta::U32(48)),
            "general.alignment is 48, expected a power of two from 8 to 65536",
        ),
        (|file| file.set("general.alignment", Meta::U32(0)), "general.alignment is 0"),
        (|file| file.set("general.alignment", text("32")), "general.alignment is \"32\""),
    ]);
    let mut longer = file().bytes();
    longer.extend([0; 100]);
    assert!(refusal(&longer).contains("bytes belong to no tensor"), "{}", refusal(&longer));
}

#[test]
fn models_that_this_engine_does_not_compute() {
    refused(&[
        (
            |file| file.set("general.architecture", text("gemma")),
            "general.architecture is \"gemma\", expected \"llama\"",
        ),
        (|file| file.unset("general.architecture"), "general.architecture is missing"),
        (|file| file.unset("llama.attention.head_count"), "llama.attention.head_count is missing"),
        (|file| file.unset("llama.attention.layer_norm_rms_epsilon"), "layer_norm_rms_epsilon is missing"),
        (
            |file| file.set("llama.attention.head_count", text("4")),
            "llama.attention.head_count is \"4\", expected a whole",
        ),
        (
            |file| file.set("llama.attention.head_count", Meta::U32(0)),
            "head_count is 0, expected a whole number from 1 to 65536",
        ),
        (
            |file| file.set("llama.attention.head_count", Meta::Raw(10, i64::MAX.to_le_bytes().to_vec())),
            "head_count is 9223372036854775807",
        ),
        (|file| file.set("llama.attention.head_count_kv", Meta::U32(3)), "num_key_value_heads is 3"),
        (
            |file| file.set("llama.attention.head_count_kv", Meta::U32(0)),
            "head_count_kv is 0, expected a whole number from 1",
        ),
        (
            |file| file.set("llama.attention.head_count_kv", Meta::I32s(vec![2, 2])),
            "head_count_kv is a list of 2",
        ),
        (
            |file| file.set("llama.rope.scaling.type", text("yarn")),
            "llama.rope.scaling.type is \"yarn\", expected absent",
        ),
        (|file| file.set("llama.expert_count", Meta::U32(8)), "llama.expert_count is 8, expected absent"),
        (|file| file.set("llama.logit_scale", Meta::F32(2.0)), "llama.logit_scale is 2, expected absent"),
        (
            |file| file.set("llama.rope.dimension_count", Meta::U32(8)),
            "dimension_count is 8, expected 16, the width of a head",
        ),
        (
            |file| file.set("llama.vocab_size", Meta::U32(41)),
            "llama.vocab_size is 41, expected 40, the rows of",
        ),
        (
            |file| file.set("llama.rope.freq_base", Meta::F32(f32::NAN)),
            "freq_base is NaN, expected a finite number",
        ),
        (|file| file.set("llama.block_count", Meta::U32(u32::MAX)), "num_hidden_layers is 4294967295"),
    ]);
}

#[test]
fn tensors_that_are_not_the_architectures() {
    refused(&[
        (
            |file| file.tensors.retain(|tensor| tensor.name != "token_embd.weight"),
            "token_embd.weight: there is none",
        ),
        (
            |file| file.tensors.retain(|tensor| tensor.name != "blk.1.ffn_up.weight"),
            "model.layers.1.mlp.up_proj.weight [96, 64] is missing",
        ),
        (
            |file| file.tensor("output_norm.weight").name = "rope_freqs.weight".to_owned(),
            "model.norm.weight [64] is missing",
        ),
        (
            |file| {
                let mut surplus = file.tensor("output_norm.weight").clone();
                surplus.name = "rope_freqs.weight".to_owned();
                file.tensors.push(surplus);
            },
            "tensor rope_freqs.weight: llama has no such tensor",
        ),
        (
            |file| {
                let norm = file.tensor("output_norm.weight");
                (norm.kind, norm.data) = (8, vec![0; 68]);
            },
            "output_norm.weight: shape [64]: only matrices may be quantized",
        ),
    ]);
}

#[test]
fn tokenizers_that_would_split_otherwise() {
    refused(&[
        (
            |file| file.set("tokenizer.ggml.model", text("llama")),
            "tokenizer.ggml.model is \"llama\", expected \"gpt2\"",
        ),
        (
            |file| file.set("tokenizer.ggml.pre", text("qwen2")),
            "tokenizer.ggml.pre is \"qwen2\", expected a known splitting rule",
        ),
        (|file| file.unset("tokenizer.ggml.pre"), "tokenizer.ggml.pre is missing"),
        (
            |file| file.unset("tokenizer.ggml.tokens"),
            "tokenizer.ggml.tokens is missing, expected a list of texts",
        ),
        (
            |file| file.set("tokenizer.ggml.tokens", Meta::I32s(vec![1])),
            "tokenizer.ggml.tokens is a list of 1",
        ),
        (
            |file| file.set("tokenizer.ggml.token_type", Meta::I32s(vec![1])),
            "expected a list of 40, one for each token",
        ),
        (
            |file| file.set("tokenizer.ggml.merges", Meta::Texts(vec!["ab".to_owned()])),
            "merge 0, \"ab\", is no pair",
        ),
        (
            |file| file.set("tokenizer.ggml.eos_token_id", Meta::U32(40)),
            "eos_token_id is [40], expected an id or a list",
        ),
    ]);
    let mut twice = file();
    twice.set("tokenizer.ggml.tokens", Meta::Texts(vec!["a".to_owned(); 40]));
    assert!(refusal(&twice.bytes()).contains("tokenizer.ggml.tokens: token 1 is token 0 again, \"a\""));
    let mut strange = file();
    strange.set("tokenizer.ggml.merges", Meta::Texts(vec!["x y".to_owned()]));
    let folder = written(&strange.bytes());
    let checkpoint = Checkpoint::open(&folder.path().join("m.gguf")).unwrap();
    let says = Tokenizer::of(&checkpoint).unwrap_err().to_string();
    assert!(says.contains("m.gguf (as tokenizer.json) as a tokenizer") && !says.contains('\n'), "{says}");
}

proptest! {
    #[test]
    fn a_truncated_file_is_always_refused(cut in any::<prop::sample::Index>()) {
        let whole = file().bytes();
        // What is left out after the last tensor is only filling.
        let says = refusal(&whole[..cut.index(whole.len())]);
        prop_assert!(says.starts_with(FILE), "{}", says);
    }

    #[test]
    fn a_damaged_header_is_refused_or_means_something(at in any::<prop::sample::Index>(), bits in 1_u8..) {
        let mut whole = file().bytes();
        let end = 3500.min(whole.len());
        whole[at.index(end)] ^= bits;
        let folder = written(&whole);
        if let Ok(checkpoint) = Checkpoint::open(&folder.path().join("m.gguf")) {
            drop(Tokenizer::of(&checkpoint));
        }
    }
}
