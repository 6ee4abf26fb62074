//! Models and runs that several tests need.

use exactness::engine::cache::{Caches, Rewind, StateDigest};
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::classic;
use exactness::engine::model::TextModel;
use exactness::engine::rows::RowDetail;
use exactness::engine::session::{Options, Recorder, Request, Session};
use exactness::engine::side_routes::SideRoutes;
use exactness::engine::tap::Silent;
use exactness::engine::{Result, raw};
use exactness::transcript::{Line, TokenId};
use mlx_rs::{Array, Dtype};
use safetensors::SafeTensors;
use std::path::PathBuf;
use std::process::Command;

/// A folder under `tests/models`.
pub(super) fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(model)
}

/// A test model in f32.
pub(super) fn model(name: &str) -> TextModel {
    load(name, Dtype::Float32)
}

/// A test checkpoint; the 4-bit demo is the one that the binary carries.
pub(super) fn checkpoint(name: &str) -> Checkpoint {
    let folder = match name {
        "demo-qwen35-4bit" => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("harness/demo"),
        _ => folder(name),
    };
    Checkpoint::open(&folder).expect("the test checkpoint opens")
}

/// A test model in any dtype.
pub(super) fn load(name: &str, dtype: Dtype) -> TextModel {
    TextModel::load(&checkpoint(name), dtype).expect("the test checkpoint loads")
}

/// Options of an arm that ignores end ids.
pub(super) fn options() -> Options {
    Options {
        end_ids: Vec::new(),
        ignore_eos: false,
        prefill_chunk: 512,
        rewind: Rewind::KeepStates,
        detail: RowDetail::Digest,
        states: false,
        routes: SideRoutes::default(),
    }
}

/// Keeps every line, and the state's digest after every prefill, step and round.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) lines: Vec<Line>,
    pub(super) states: Vec<(i32, StateDigest)>,
    pub(super) watch_states: bool,
}

impl Recorder for Memory {
    fn line(&mut self, line: Line) -> Result<()> {
        self.lines.push(line);
        Ok(())
    }

    fn state(&mut self, caches: &Caches) -> Result<()> {
        if self.watch_states {
            self.states.push((caches.length(), caches.digest()?));
        }
        Ok(())
    }
}

/// The values of an array, as f32.
pub(super) fn values(array: &Array) -> Vec<f32> {
    let array = array.as_dtype(Dtype::Float32).expect("cast");
    let bytes = raw::bytes_of(&array).expect("evaluate");
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect()
}

/// Prompt ids that are the same in every run, none of them special.
pub(super) fn prompt(seed: u64, length: usize, vocabulary: u64) -> Vec<TokenId> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state % (vocabulary - 8)).expect("small")
    };
    (0..length).map(|_| next()).collect()
}

/// The values of an f32 tensor of a safetensors file.
pub(super) fn floats(file: &[u8], name: &str) -> Vec<f32> {
    let tensors = SafeTensors::deserialize(file).expect("a safetensors file");
    let data = tensors.tensor(name).expect("a golden of that name").data();
    data.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect()
}

/// The values of a tensor of 32-bit or 64-bit ids of a safetensors file.
pub(super) fn ids(file: &[u8], name: &str) -> Vec<TokenId> {
    let tensors = SafeTensors::deserialize(file).expect("a safetensors file");
    let view = tensors.tensor(name).expect("a golden of that name");
    let size = view.data().len() / view.shape().iter().product::<usize>();
    let bytes = view.data().chunks_exact(size);
    match size {
        4 => bytes.map(|four| i64::from(i32::from_le_bytes(four.try_into().expect("four bytes")))).collect(),
        _ => bytes.map(|eight| i64::from_le_bytes(eight.try_into().expect("eight bytes"))).collect(),
    }
}

/// Plain greedy decoding, the prompt fed in chunks.
pub(super) fn greedy(model: &TextModel, ids: &[TokenId], count: usize, chunk: usize) -> Vec<TokenId> {
    let options = Options { prefill_chunk: chunk, ..options() };
    let mut silent = Silent;
    let mut session = Session::new(model, &options, &mut silent).expect("the options fit the model");
    let request = Request { sequence: 0, prompt: ids, max_tokens: count };
    classic::decode(&mut session, &request, &mut Memory::default()).expect("the model decodes").tokens
}

/// Numbers between −1 and 1 that are the same in every run.
pub(super) fn drawn(seed: u64, shape: &[i32], dtype: Dtype) -> Array {
    let count = usize::try_from(shape.iter().product::<i32>()).expect("a shape");
    let ids = prompt(seed, count, 1 << 20);
    #[expect(clippy::cast_precision_loss, reason = "the numbers are below 2²⁴")]
    let numbers: Vec<f32> = ids.iter().map(|id| *id as f32 / 524_288.0 - 1.0).collect();
    let array = Array::from_slice(&numbers, shape).as_dtype(dtype).expect("cast");
    array.eval().expect("evaluate");
    array
}

/// Set in a process that runs one test.
const ALONE: &str = "EXACTNESS_TEST_ALONE";

/// Runs a test that imports functions. They run on the first stream of the process and no other, so the test gets a
/// process of its own.
pub(super) fn alone(body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let thread = std::thread::current();
    let test = thread.name().expect("a test's thread has its name");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let ran = command.args([test, "--exact"]).env(ALONE, "1").output().expect("it runs");
    let says = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(ran.status.success() && says.contains("1 passed"), "{says}");
}
