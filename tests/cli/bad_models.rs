//! A checkpoint that cannot be used ends `doctor` and `run-arm` with exit code 5 and one line that names file and
//! field, and leaves nothing behind.

use crate::checkpoint::fixture::{Entry, config, entries, folder, model, serialize};
use crate::checkpoint::{gguf, gguf_file};
use crate::kit::exactness;
use exactness::engine::checkpoint::Form;
use exactness::transcript::files::write_whole;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A well-formed checkpoint with `key` of its configuration set.
fn with(key: &str, value: Value) -> TempDir {
    let mut changed = config();
    changed[key] = value;
    folder(&changed, &[("model.safetensors", &weights())])
}

fn list() -> Vec<Entry> {
    entries(&config(), Form::HuggingFace, false)
}

fn weights() -> Vec<u8> {
    serialize(&list())
}

fn with_weights(bytes: &[u8]) -> TempDir {
    folder(&config(), &[("model.safetensors", bytes)])
}

/// What both verbs say about `path`, which has to be the same line.
fn refusal(path: &Path) -> String {
    let out = tempfile::tempdir().unwrap();
    let new = out.path().join("new");
    let told = |text: &str| text.replace(&path.display().to_string(), "DIR");
    let doctor = exactness([Path::new("doctor"), Path::new("--model"), path]);
    let mut arguments = vec![Path::new("run-arm"), Path::new("--classic"), Path::new("--model"), path];
    arguments.extend([Path::new("--prompt-ids"), Path::new("1,2"), Path::new("--out"), &new]);
    let ran = exactness(arguments);
    assert_eq!((doctor.code, ran.code), (5, 5), "{} {}", doctor.err, ran.err);
    assert_eq!((doctor.out.as_str(), ran.out.as_str()), ("", ""));
    assert_eq!(doctor.err, ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(!new.exists(), "a folder was made for a run that cannot be");
    told(ran.err.trim_end())
}

#[test]
fn tensors_that_are_missing_misshaped_or_cut() {
    let mut missing = list();
    missing.pop();
    assert_eq!(
        refusal(model(&config(), &missing).path()),
        "error: failed to read checkpoint DIR: tensor model.norm.weight [32] is missing"
    );
    let mut misshaped = list();
    misshaped[0] = Entry::new("model.embed_tokens.weight", "F32", &[8, 31]);
    assert_eq!(
        refusal(model(&config(), &misshaped).path()),
        "error: failed to read DIR/model.safetensors: tensor model.embed_tokens.weight has shape [8, 31], expected [8, 32]"
    );
    let whole = weights();
    for kept in [0, 4, 100, whole.len() / 2, whole.len() - 1] {
        let says = refusal(with_weights(&whole[..kept]).path());
        assert!(says.starts_with("error: failed to read DIR/model.safetensors"), "{kept}: {says}");
    }
    let says = refusal(with_weights(b"PK\x03\x04 this is no safetensors file").path());
    assert!(says.starts_with("error: failed to read DIR/model.safetensors"), "{says}");
}

#[test]
fn configurations_that_this_engine_does_not_know() {
    let says = refusal(with("model_type", json!("mistral")).path());
    assert!(says.starts_with("error: failed to read DIR/config.json") && says.contains("mistral"), "{says}");
    let quantization = json!({"bits": 4, "group_size": 32, "mode": "mxfp9"});
    let says = refusal(with("quantization", quantization).path());
    assert!(says.contains("DIR/config.json") && says.contains("mode") && says.contains("mxfp9"), "{says}");
    let says = refusal(with("hidden_size", json!("wide")).path());
    assert!(says.contains("DIR/config.json") && says.contains("hidden_size"), "{says}");
    let no_json = folder(&config(), &[("config.json", b"{\"model_type\":")]);
    assert!(refusal(no_json.path()).starts_with("error: failed to read DIR/config.json"));
}

#[test]
fn folders_and_files_that_cannot_be_read() {
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(refusal(empty.path()), "error: failed to open checkpoint DIR: there is no config.json in it");
    assert!(refusal(&empty.path().join("no-such-folder")).starts_with("error: failed to read"));
    let file = empty.path().join("file");
    write_whole(&file, b"not a folder").unwrap();
    assert!(refusal(&file).contains("DIR"));

    let folder_for_file = tempfile::tempdir().unwrap();
    fs::create_dir(folder_for_file.path().join("config.json")).unwrap();
    assert!(refusal(folder_for_file.path()).contains("DIR/config.json"));

    let dangling = folder(&config(), &[]);
    symlink("gone.safetensors", dangling.path().join("model.safetensors")).unwrap();
    let says = refusal(dangling.path());
    assert!(says.contains("model.safetensors"), "{says}");

    let no_weights = folder(&config(), &[]);
    let says = refusal(no_weights.path());
    assert!(says.contains("DIR") && says.contains("safetensors"), "{says}");
}

#[test]
fn a_tokenizer_that_is_none_is_named() {
    let folder = folder(
        &config(),
        &[("model.safetensors", weights().as_slice()), ("tokenizer.json", b"{\"model\": 3}")],
    );
    let out = folder.path().join("new");
    let model = folder.path().display().to_string();
    let ran = exactness(["run-arm", "--classic", "--model", &model, "--out", out.to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.lines().count()), (5, 1), "{}", ran.err);
    assert!(ran.err.contains("tokenizer.json") && !out.exists(), "{}", ran.err);
}

#[test]
fn gguf_files_are_refused_as_folders_are_and_run_when_they_are_whole() {
    let mut bent = gguf::file();
    bent.tensor("output.weight").kind = 12;
    let bad = gguf_file::written(&bent.bytes());
    let says = refusal(&bad.path().join("m.gguf"));
    assert!(says.starts_with("error: failed to read DIR: tensor output.weight: its type is Q4_K;"), "{says}");
    assert!(refusal(&bad.path().join("other.gguf")).starts_with("error: failed to read DIR: "));

    let (single, folder) = gguf::folders();
    let decoded = |model: &Path, prompt: [&str; 2]| {
        let out = tempfile::tempdir().unwrap();
        let (model, out) = (model.display().to_string(), out.path().join("new"));
        let common = ["run-arm", "--classic", "--max-tokens", "24", "--dtype", "f32", "--model", &model];
        let ran = exactness(common.into_iter().chain(prompt).chain(["--out", out.to_str().unwrap()]));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let arm = exactness::transcript::Arm::read(&out.join("classic.jsonl")).unwrap();
        let rows = std::fs::read_to_string(out.join("classic.jsonl")).unwrap();
        let rows: Vec<String> = rows.split("\"sha256\":\"").skip(1).map(|row| row[..64].to_owned()).collect();
        (arm.header.prompts[0].ids.clone(), rows)
    };
    let (ids, from_file) = decoded(&single.path().join("m.gguf"), ["--prompt", "ab a12<|b|>c"]);
    assert_eq!(ids.as_deref(), Some(&[9, 10, 7, 8, 2, 6][..]));
    let (_, from_folder) = decoded(folder.path(), ["--prompt-ids", "9,10,7,8,2,6"]);
    assert_eq!(from_file, from_folder);
    assert!(from_file.len() >= 8, "{} rows", from_file.len());
}

#[test]
fn text_prompts_want_a_tokenizer_and_ids_do_not() {
    let folder = with_weights(&weights());
    let model = folder.path().display().to_string();
    let ran = exactness(["run-arm", "--classic", "--model", &model, "--prompt", "words"]);
    assert_eq!(ran.code, 5);
    assert_eq!(
        ran.err.trim(),
        "error: failed to read the prompt: the model has no tokenizer.json; give --prompt-ids"
    );
    let doctor = exactness(["doctor", "--model", &model]);
    assert_eq!(doctor.code, 0, "{}", doctor.err);
    assert!(doctor.out.contains("no tokenizer.json"), "{}", doctor.out);
}
