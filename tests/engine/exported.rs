//! Exported functions: every operation of a model comes back with the bytes of the call, and what does not is refused.

use super::support::{alone, drawn, load, prompt};
use exactness::engine::blocks::Columns;
use exactness::engine::cache::Rewind;
use exactness::engine::checkpoint::{Mode, Quantization};
use exactness::engine::model::{Logits, TextModel};
use exactness::engine::op::Op;
use exactness::engine::pass::Pass;
use exactness::engine::raw::{self, Imported, Quantized, bytes_of, rows_of};
use exactness::engine::routes::{Defaults, Plan, Routes};
use exactness::engine::tap::{Call, Kernels, Silent, Site, Tap};
use exactness::engine::{Error, Result, delta_rule};
use mlx_rs::fast::{self, ScaledDotProductAttentionMask, scaled_dot_product_attention};
use mlx_rs::{Array, Dtype};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Exports a call, reads it back and runs it over the same inputs; the bytes of both.
fn there_and_back(
    folder: &Path,
    kernels: &dyn Fn(&[&Array]) -> Result<Array>,
    inputs: &[&Array],
) -> Result<(Vec<u8>, Vec<u8>)> {
    let direct = kernels(inputs)?;
    let bytes = bytes_of(&direct)?;
    let path = folder.join("one.mlxfn");
    raw::export(&path, kernels, inputs)?;
    let outputs = Imported::load(&path)?.apply(inputs)?;
    assert_eq!(outputs.len(), 1);
    assert_eq!((outputs[0].shape(), outputs[0].dtype()), (direct.shape(), direct.dtype()));
    Ok((bytes, bytes_of(&outputs[0])?))
}

fn assert_survives(what: &str, kernels: &dyn Fn(&[&Array]) -> Result<Array>, inputs: &[&Array]) {
    let folder = tempfile::tempdir().unwrap();
    let (direct, again) = there_and_back(folder.path(), kernels, inputs).unwrap();
    assert!(!direct.is_empty() && direct.iter().any(|byte| *byte != direct[0]), "{what}: nothing to compare");
    assert_eq!(direct, again, "{what}");
}

/// Exports each call that it is asked to make.
struct Exporter<'a> {
    folder: &'a Path,
    layers: &'a [usize],
    /// Bytes that were compared, by operation.
    compared: BTreeMap<Op, usize>,
    /// What did not come back as it was.
    lost: Vec<(Site, String)>,
}

impl Tap for Exporter<'_> {
    fn compute(&mut self, call: &Call<'_>, kernels: Kernels<'_>) -> Result<Array> {
        if call.site.layer.is_none_or(|layer| self.layers.contains(&layer)) {
            match there_and_back(self.folder, kernels, call.inputs) {
                Ok((direct, again)) if direct == again => {
                    *self.compared.entry(call.site.op).or_default() += direct.len();
                }
                Ok(_) => self.lost.push((call.site, "other bytes".to_owned())),
                Err(error) => self.lost.push((call.site, error.to_string())),
            }
        }
        kernels(call.inputs)
    }
}

/// The operations of a model that were exported, with the bytes compared; rows in one call after a short prompt.
fn exported(model: &TextModel, layers: &[usize]) -> BTreeMap<Op, usize> {
    let vocabulary = model.config().vocab_size as u64;
    let folder = tempfile::tempdir().unwrap();
    let mut caches = model.new_caches(Rewind::KeepStates);
    let plan = |defaults| Plan::new(defaults, &Routes::default(), model.config().layers.len());
    let (prefill, verify) = (plan(Defaults::Plain), plan(Defaults::Verify));
    let mut silent = Silent;
    let ids = prompt(3, 9, vocabulary);
    model.forward(&mut Pass::new(&prefill, &mut silent), &ids, &mut caches, (Logits::None, false)).unwrap();
    let mut exporter =
        Exporter { folder: folder.path(), layers, compared: BTreeMap::new(), lost: Vec::new() };
    let ids = prompt(4, 4, vocabulary);
    model.forward(&mut Pass::new(&verify, &mut exporter), &ids, &mut caches, (Logits::All, true)).unwrap();
    assert!(exporter.lost.is_empty(), "{:#?}", exporter.lost);
    exporter.compared
}

#[test]
fn every_operation_of_a_model_comes_back_with_its_bytes() {
    alone(|| {
        let mut seen = BTreeMap::new();
        for (name, layers) in [
            ("demo-qwen35-4bit", &[0, 3][..]),
            ("tiny-random-qwen35", &[0, 3]),
            ("tiny-llama", &[0]),
            ("tiny-qwen35-moe", &[0, 3]),
            ("tiny-qwen35-moe-mxfp4", &[0]),
        ] {
            let found = exported(&load(name, Dtype::Float32), layers);
            assert!(found.len() > 10, "{name}: {found:?}");
            seen.extend(found);
        }
        let half = exported(&load("tiny-random-qwen35", Dtype::Bfloat16), &[0, 3]);
        assert!(half.len() > 20, "{half:?}");
        // Attention and the delta rule are not asked; they have tests of their own.
        let missing: Vec<&str> = Op::all()
            .filter(|op| !seen.contains_key(op) && !matches!(op, Op::Attention | Op::Delta))
            .map(Op::name)
            .collect();
        assert!(missing.is_empty(), "never exported: {missing:?}");
    });
}

#[test]
fn a_quantized_product_over_several_cores_comes_back() {
    alone(|| {
        let matrix = drawn(1, &[1024, 512], Dtype::Float32);
        let how = Quantization { group: 64, bits: 4, mode: Mode::Affine };
        let parts = raw::quantize(&matrix, how).unwrap();
        let quantized = Quantized {
            codes: parts[0].clone(),
            scales: parts[1].clone(),
            biases: parts.get(2).cloned(),
            group: 64,
            bits: 4,
            mode: raw::mode_name(Mode::Affine),
            dtype: Dtype::Float32,
        };
        let columns = Columns::new(&quantized).unwrap();
        for rows in [1, 4] {
            let x = drawn(2, &[1, rows, 512], Dtype::Float32);
            assert_survives("columns", &|part| columns.matmul(part[0]), &[&x]);
        }
    });
}

#[test]
fn attention_over_views_of_a_cache_comes_back_in_every_dtype() {
    alone(|| {
        for dtype in [Dtype::Float32, Dtype::Bfloat16, Dtype::Float16] {
            let queries = drawn(1, &[1, 4, 3, 32], dtype);
            let whole = [drawn(2, &[1, 2, 64, 32], dtype), drawn(3, &[1, 2, 64, 32], dtype)];
            let [keys, values] = whole.each_ref().map(|array| rows_of(array, 2, 0, 20).unwrap());
            let attend = |part: &[&Array]| {
                let mask = Some(ScaledDotProductAttentionMask::Causal);
                Ok(scaled_dot_product_attention(part[0], part[1], part[2], 0.2, mask, None)?)
            };
            assert_survives("attention", &attend, &[&queries, &keys, &values]);
            let rope = |part: &[&Array]| Ok(fast::rope(part[0], 16, false, Some(1e4), 1.0, 17, None)?);
            assert_survives("rope", &rope, &[&queries]);
        }
    });
}

#[test]
fn both_forms_of_the_delta_rule_come_back() {
    alone(|| {
        let arrays = super::reproducer::delta_inputs(70, Dtype::Bfloat16);
        let inputs: Vec<&Array> = arrays.iter().collect();
        let recurrence = super::reproducer::recurrence;
        let chain = |part: &[&Array]| Ok(delta_rule::chain(part[0], &recurrence(part))?.outputs);
        let chunked = |part: &[&Array]| Ok(delta_rule::chunked(part[0], &recurrence(part))?.outputs);
        assert_survives("chain", &chain, &inputs);
        assert_survives("chunked", &chunked, &inputs);
    });
}

#[test]
fn what_the_kernels_say_is_what_the_export_says() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let (path, x) = (folder.path().join("f"), drawn(1, &[2, 3], Dtype::Float32));
        let refused = raw::export(&path, &|_| Err(Error::Request("no".to_owned())), &[&x]).unwrap_err();
        assert_eq!(refused.to_string(), "no");
        let planted = catch_unwind(AssertUnwindSafe(|| raw::export(&path, &|_| panic!("planted"), &[&x])));
        assert_eq!(planted.unwrap_err().downcast_ref::<&str>(), Some(&"planted"));
        // Reading a value needs numbers, and there are none while a function is traced.
        let reads = |part: &[&Array]| Ok(Array::from_int(bytes_of(part[0])?.len().try_into().unwrap()));
        assert!(raw::export(&path, &reads, &[&x]).is_err());
        // Nor does MLX write every call.
        let copies = |part: &[&Array]| Ok(part[0].contiguous()?);
        let says = raw::export(&path, &copies, &[&x]).unwrap_err().to_string();
        assert!(says.contains("cannot write every call"), "{says}");
        // MLX is none the worse for it.
        assert_survives("double", &|part| Ok(part[0].add(part[0])?), &[&x]);
    });
}

#[test]
fn files_that_are_no_functions_are_errors() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let (good, bad) = (folder.path().join("good"), folder.path().join("bad"));
        let x = drawn(1, &[2, 3], Dtype::Float32);
        raw::export(&good, &|part| Ok(part[0].exp()?), &[&x]).unwrap();
        let bytes = std::fs::read(&good).unwrap();
        let runs = |bytes: &[u8]| {
            std::fs::write(&bad, bytes).unwrap();
            Imported::load(&bad).and_then(|function| function.apply(&[&x])).is_ok()
        };
        assert!(runs(&bytes));
        assert!(!runs(b""));
        assert!(!runs(&[0xa5; 400]));
        assert!(!runs(&[0; 400]));
        for length in 0..bytes.len() {
            assert!(!runs(&bytes[..length]), "cut to {length} of {} bytes", bytes.len());
        }
        let missing = Imported::load(&folder.path().join("missing")).unwrap_err().to_string();
        assert!(
            missing.starts_with("compute import function: ") && missing.ends_with("missing"),
            "{missing}"
        );
        assert!(Imported::load(folder.path()).is_err());
        let function = Imported::load(&good).unwrap();
        let says = function.apply(&[&drawn(1, &[3, 3], Dtype::Float32)]).unwrap_err().to_string();
        assert!(says.ends_with("over [[3, 3]]"), "{says}");
        assert!(function.apply(&[]).is_err());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let x = drawn(1, &[64, 64], Dtype::Float32);
    assert!(raw::export(Path::new("/dev/full"), &|part| Ok(part[0].add(&x)?), &[&x]).is_err());
    assert!(raw::export(Path::new("/no/such/folder/f"), &|part| Ok(part[0].add(&x)?), &[&x]).is_err());
}
