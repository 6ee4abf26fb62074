//! Models and runs that several tests need.

use exactness::engine::cache::{Caches, Rewind, StateDigest};
use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::model::TextModel;
use exactness::engine::routes::Routes;
use exactness::engine::rows::RowDetail;
use exactness::engine::session::{Options, Recorder};
use exactness::engine::{Result, raw};
use exactness::transcript::{Line, TokenId};
use mlx_rs::{Array, Dtype};
use std::path::PathBuf;

/// A folder under `tests/models`.
pub(super) fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(model)
}

/// A test model in f32.
pub(super) fn model(name: &str) -> TextModel {
    load(name, Dtype::Float32)
}

/// A test model in any dtype; the 4-bit demo is the one that the binary carries.
pub(super) fn load(name: &str, dtype: Dtype) -> TextModel {
    let folder = match name {
        "demo-qwen35-4bit" => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("harness/demo"),
        _ => folder(name),
    };
    let checkpoint = Checkpoint::open(&folder).expect("the test checkpoint opens");
    TextModel::load(&checkpoint, dtype).expect("the test checkpoint loads")
}

/// Options of an arm that ignores end ids.
pub(super) fn options() -> Options {
    Options {
        end_ids: Vec::new(),
        ignore_eos: false,
        prefill_chunk: 512,
        rewind: Rewind::KeepStates,
        detail: RowDetail::Digest,
        routes: Routes::default(),
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
