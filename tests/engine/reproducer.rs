//! Reproducer folders: they show the difference that they were made for, say so where they do not, and a damaged one is
//! refused before MLX sees it.

use super::support::{alone, drawn};
use crate::kit::{Ran, exactness, rewrite};
use exactness::arms::identity;
use exactness::bisect::reproducer::{About, Call, Error, Reproducer, Which};
use exactness::engine::delta_rule::{self, Recurrence};
use exactness::engine::raw::{bytes_of, rows_of};
use exactness::results::reproducer::Index;
use exactness::transcript::format::Model;
use mlx_rs::{Array, Dtype};
use serde_json::{Value, json};
use std::path::Path;

/// State, queries, keys, values, decay and strength of a recurrence over `rows` rows; the queries' f32 is the outputs'.
pub(super) fn delta_inputs(rows: i32, dtype: Dtype) -> [Array; 6] {
    let (heads, size) = (2, 16);
    let of = |seed, last: &[i32], dtype| drawn(seed, &[&[1, rows, heads], last].concat(), dtype);
    let small =
        |array: Array| array.multiply(Array::from_f32(0.25).as_dtype(array.dtype()).unwrap()).unwrap();
    let decay = of(5, &[], Dtype::Float32).abs().unwrap().negative().unwrap();
    [
        small(drawn(1, &[1, heads, size, size], Dtype::Float32)),
        small(of(2, &[size], Dtype::Float32)),
        small(of(3, &[size], dtype)),
        of(4, &[size], dtype),
        decay,
        of(6, &[], dtype).abs().unwrap(),
    ]
}

const NAMES: [&str; 6] = ["state", "queries", "keys", "values", "log_decay", "beta"];

/// The recurrence of inputs in that order.
pub(super) fn recurrence(inputs: &[&Array]) -> Recurrence {
    let [queries, keys, values, log_decay, beta] = std::array::from_fn(|index| inputs[index + 1].clone());
    Recurrence { queries, keys, values, log_decay, beta }
}

fn about(site: &str, routes: [&str; 2]) -> About {
    About {
        site: site.to_owned(),
        op: site.rsplit('.').next().unwrap().to_owned(),
        route_chain: routes[0].to_owned(),
        route_block: routes[1].to_owned(),
        model: Model { name: Some("drawn".to_owned()), ..Model::default() },
        backend: identity::backend(),
        position: 70,
        row: 69,
        command: vec!["exactness".to_owned(), "bisect".to_owned()],
    }
}

/// The delta rule over 70 rows, row by row and in chunks; row 69 is compared.
fn delta_folder(folder: &Path) {
    let arrays = delta_inputs(70, Dtype::Bfloat16);
    let inputs: Vec<(&str, &Array)> = NAMES.into_iter().zip(&arrays).collect();
    let mut reproducer = Reproducer::create(folder).unwrap();
    let chain = |part: &[&Array]| Ok(delta_rule::chain(part[0], &recurrence(part))?.outputs);
    let chunked = |part: &[&Array]| Ok(delta_rule::chunked(part[0], &recurrence(part))?.outputs);
    reproducer.call(Which::Chain, &Call { inputs: &inputs, kernels: &chain, row: 69, axis: 1 }).unwrap();
    reproducer.call(Which::Block, &Call { inputs: &inputs, kernels: &chunked, row: 69, axis: 1 }).unwrap();
    reproducer.finish(&about("layer.0.delta.delta", ["chain", "chunked"])).unwrap();
}

/// One row of a product and the same row of a block of three; a CPU gives equal bytes.
fn product_folder(folder: &Path, planted: bool) {
    let (block, matrix) = (drawn(1, &[1, 3, 48], Dtype::Float32), drawn(2, &[48, 40], Dtype::Float32));
    let single = rows_of(&block, 1, 2, 3).unwrap();
    let kernels = |part: &[&Array]| Ok(part[0].matmul(&matrix)?);
    let mut reproducer = Reproducer::create(folder).unwrap();
    reproducer
        .call(Which::Chain, &Call { inputs: &[("x", &single)], kernels: &kernels, row: 0, axis: 1 })
        .unwrap();
    reproducer
        .call(Which::Block, &Call { inputs: &[("x", &block)], kernels: &kernels, row: 2, axis: 1 })
        .unwrap();
    if planted {
        let mut row = bytes_of(&kernels(&[&single]).unwrap()).unwrap();
        row[0] ^= 1;
        reproducer.went_on_with(Which::Block, &row).unwrap();
    }
    reproducer.finish(&about("layer.1.attn.q_proj", ["whole", "whole"])).unwrap();
}

fn reproduce(folder: &Path, format: &str) -> Ran {
    exactness(["reproduce".as_ref(), folder.as_os_str(), "--format".as_ref(), format.as_ref()])
}

fn index(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("reproducer.json")).unwrap()).unwrap()
}

fn change(folder: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = index(folder);
    change(&mut value);
    rewrite(&folder.join("reproducer.json"), value.to_string().as_bytes());
}

#[test]
fn a_folder_shows_the_difference_with_nothing_else_loaded() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("delta");
        delta_folder(&made);
        let ran = reproduce(&made, "json");
        assert_eq!(ran.code, 1, "{}", ran.err);
        let found = ran.json();
        let kept = index(&made);
        assert_eq!(found["verdict"], "differs");
        assert_eq!(found["difference"], kept["outside"]);
        assert_eq!(kept["in_model"], kept["outside"]);
        assert_eq!((&found["difference"]["bytes"], &found["caveat"]), (&json!(2 * 16 * 4), &Value::Null));
        assert!(found["difference"]["max_ulps"].as_u64().unwrap() > 0);
        for side in found["sides"].as_array().unwrap() {
            let told = ["as_recorded", "as_in_model", "repeats"].map(|key| side[key].as_bool().unwrap());
            assert_eq!(told, [true; 3], "{side}");
            assert_eq!((side["rows"].as_i64(), side["row"].as_i64()), (Some(70), Some(69)));
        }
        assert_ne!(found["sides"][0]["sha256"], found["sides"][1]["sha256"]);
        let shown = reproduce(&made, "human");
        assert_eq!(shown.code, 1);
        for text in [
            "chain.mlxfn",
            "chunked",
            "of 128 bytes differ",
            "\nverdict: differs (layer.0.delta.delta, 128 bytes",
        ] {
            assert!(shown.out.contains(text), "{text}: {}", shown.out);
        }
        let names: Vec<String> = index(&made)["files"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["README.md", "block.mlxfn", "chain.mlxfn", "inputs.safetensors", "reproduce.py"]);
        let entries = std::fs::read_dir(&made).unwrap().count();
        assert_eq!(entries, names.len() + 1);
        let says = Reproducer::create(&made).unwrap_err().to_string();
        assert!(says.ends_with("the folder is not empty"), "{says}");
    });
}

#[test]
fn equal_calls_are_told_as_equal() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let (equal, planted) = (folder.path().join("equal"), folder.path().join("planted"));
        product_folder(&equal, false);
        let ran = reproduce(&equal, "json");
        assert_eq!((ran.code, ran.json()["verdict"].as_str()), (0, Some("identical")), "{}", ran.err);
        assert_eq!(ran.json()["difference"]["bytes"], 40 * 4);

        product_folder(&planted, true);
        let ran = reproduce(&planted, "json");
        assert_eq!((ran.code, ran.json()["verdict"].as_str()), (0, Some("identical")), "{}", ran.err);
        let caveat = ran.json()["caveat"].as_str().unwrap().to_owned();
        assert!(caveat.contains("outside of the kernels"), "{caveat}");
        assert_eq!(index(&planted)["in_model"]["differing_bytes"], 1);
        let readme = std::fs::read_to_string(planted.join("README.md")).unwrap();
        assert!(readme.contains(&caveat), "{readme}");
    });
}

#[test]
fn a_recording_of_another_library_still_runs_and_says_so() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("equal");
        product_folder(&made, false);
        assert!(!reproduce(&made, "human").out.contains("Note: "));
        change(&made, |index| index["about"]["backend"]["version"] = json!("0.0.1"));
        let ran = reproduce(&made, "human");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("Note: recorded with mlx-cpu 0.0.1"), "{}", ran.out);
    });
}

/// What a folder says after it was damaged, which is one line.
fn refusal(damage: impl FnOnce(&Path)) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("equal");
    product_folder(&made, false);
    damage(&made);
    let ran = reproduce(&made, "human");
    assert!(ran.out.is_empty(), "{}", ran.out);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    (ran.code, ran.err)
}

fn assert_refused(code: i32, says: &str, damage: impl FnOnce(&Path)) {
    let (found, line) = refusal(damage);
    assert_eq!(found, code, "{line}");
    assert!(line.starts_with("error: failed to ") && line.contains(says), "{says}: {line}");
}

#[test]
fn damaged_files_never_reach_mlx() {
    alone(|| {
        for name in ["chain.mlxfn", "block.mlxfn", "inputs.safetensors", "reproduce.py", "README.md"] {
            assert_refused(5, name, |folder| std::fs::remove_file(folder.join(name)).unwrap());
            assert_refused(5, "it was changed or cut", |folder| {
                let mut bytes = std::fs::read(folder.join(name)).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                rewrite(&folder.join(name), &bytes);
            });
        }
        assert_refused(5, "it was changed or cut", |folder| rewrite(&folder.join("chain.mlxfn"), b""));
        assert_refused(5, "reproducer.json", |folder| {
            std::fs::remove_file(folder.join("reproducer.json")).unwrap();
        });
        assert_refused(5, "reproducer.json", |folder| std::fs::remove_dir_all(folder).unwrap());
    });
}

#[test]
fn an_index_that_is_none_is_refused() {
    alone(|| {
        assert_refused(4, "EOF while parsing", |folder| {
            let bytes = std::fs::read(folder.join("reproducer.json")).unwrap();
            rewrite(&folder.join("reproducer.json"), &bytes[..bytes.len() / 2]);
        });
        assert_refused(4, "its version is 2", |folder| {
            rewrite(
                &folder.join("reproducer.json"),
                br#"{"format":"exactness.reproducer","version":2,"about":"new"}"#,
            );
        });
        assert_refused(4, "its format is \"other\"", |folder| {
            change(folder, |index| index["format"] = json!("other"));
        });
        assert_refused(4, "missing field", |folder| {
            change(folder, |index| drop(index.as_object_mut().unwrap().remove("chain")));
        });
        assert_refused(4, "no plain file name", |folder| {
            change(folder, |index| index["files"]["../x"] = json!({"bytes": 1, "sha256": ""}));
        });
        assert_refused(4, "no digest of chain.mlxfn", |folder| {
            change(folder, |index| drop(index["files"].as_object_mut().unwrap().remove("chain.mlxfn")));
        });
        for (key, value) in [("axis", json!(7)), ("axis", json!(-1)), ("row", json!(3)), ("row", json!(-1))] {
            assert_refused(4, "does not fit the files: row ", |folder| {
                change(folder, |index| index["block"][key] = value);
            });
        }
        assert_refused(4, "there is no input block.y", |folder| {
            change(folder, |index| index["block"]["inputs"][0]["name"] = json!("y"));
        });
        assert_refused(4, "input block.x is F32 [1, 3, 48]", |folder| {
            change(folder, |index| index["block"]["inputs"][0]["dtype"] = json!("bf16"));
        });
        assert_refused(5, "imported function", |folder| {
            change(folder, |index| index["block"]["inputs"] = json!([]));
        });
        assert_refused(5, "no GPU", |folder| {
            change(folder, |index| index["about"]["backend"]["name"] = json!("mlx-cuda"));
        });
    });
}

#[test]
fn a_function_that_computes_something_else_is_not_kept() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("bad");
        let turned = drawn(1, &[40, 48], Dtype::Float32).transpose().unwrap(); // [48, 40]
        turned.eval().unwrap();
        let x = drawn(2, &[1, 3, 48], Dtype::Float32);
        let call =
            Call { inputs: &[("x", &x)], kernels: &|part| Ok(part[0].matmul(&turned)?), row: 0, axis: 1 };
        let mut reproducer = Reproducer::create(&made).unwrap();
        let error = reproducer.call(Which::Block, &call).unwrap_err();
        assert!(matches!(error, Error::Unfaithful { side: Which::Block }), "{error}");
        drop(reproducer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    });
}

#[test]
fn calls_that_make_no_folder_are_refused() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let x = drawn(2, &[1, 3, 4], Dtype::Float32);
        let (inputs, kernels) = ([("x", &x)], |part: &[&Array]| Ok(part[0].exp()?));
        let call = |row| Call { inputs: &inputs, kernels: &kernels, row, axis: 1 };
        let mut reproducer = Reproducer::create(&folder.path().join("made")).unwrap();
        let says = reproducer.call(Which::Chain, &call(3)).unwrap_err().to_string();
        assert_eq!(says, "keep the chain's call: row 3 on axis 1 of [1, 3, 4]");
        reproducer.call(Which::Chain, &call(2)).unwrap();
        let says = reproducer.call(Which::Chain, &call(2)).unwrap_err().to_string();
        assert_eq!(says, "keep the chain's call: it is kept already");
        let says = reproducer.finish(&about("x", ["a", "b"])).unwrap_err().to_string();
        assert_eq!(says, "keep the block's call: it was never made");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    });
}

#[test]
fn the_index_reads_back_as_it_was_written() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("delta");
        delta_folder(&made);
        let bytes = std::fs::read(made.join("reproducer.json")).unwrap();
        let index = Index::parse(&bytes).unwrap();
        assert_eq!(serde_json::to_value(&index).unwrap(), serde_json::from_slice::<Value>(&bytes).unwrap());
        assert_eq!(index.chain.inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>(), NAMES);
        let dtypes: Vec<&str> = index.chain.inputs.iter().map(|input| input.dtype.as_str()).collect();
        assert_eq!(dtypes, ["f32", "f32", "bf16", "bf16", "f32", "bf16"]);
    });
}
