//! Kept rows as safetensors, so that Python and Rust tools open them without knowing this format.
//!
//! Rows are read one at a time while the container is written: a side file may be larger than memory.

use super::files::{WriteError, place_whole};
use super::kept::{Kept, KeptError};
use super::{Arm, Row, Sequence};
use safetensors::tensor::{Dtype, View};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Rows could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The transcript keeps no rows.
    #[error("export rows of {0}: none were kept (no side file, or no row says where its bytes lie)")]
    None(String),
    /// Two rows have one name.
    #[error("export row {0}: it is recorded twice; `exactness check-algebra` says where")]
    Twice(String),
    /// A row could not be read back.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// One row, read when it is written.
struct Lazy<'a> {
    row: &'a Row,
    dtype: Dtype,
    shape: [usize; 1],
    source: &'a RefCell<Source>,
}

/// The side file, and the first row that could not be read.
struct Source {
    kept: Kept,
    failed: Option<KeptError>,
}

impl View for Lazy<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut source = self.source.borrow_mut();
        match source.kept.bytes(self.row) {
            Ok(bytes) => Cow::Owned(bytes.unwrap_or_default()),
            // The container's writer takes no errors; the caller looks here before the file gets its name.
            Err(error) => {
                source.failed.get_or_insert(error);
                Cow::Owned(vec![0; self.data_len()])
            }
        }
    }

    fn data_len(&self) -> usize {
        self.row.at.and_then(|[_, length]| usize::try_from(length).ok()).unwrap_or(0)
    }
}

/// Writes every kept row of an arm to `out` and says how many there were.
///
/// # Errors
/// When no rows were kept, one cannot be read back, or the file cannot be written.
pub fn safetensors(arm: &Arm, out: &Path) -> Result<usize, ExportError> {
    let source = RefCell::new(Source { kept: Kept::beside(&arm.path), failed: None });
    let named = named(arm);
    let has = |row: &&Row| source.borrow().kept.has(row);
    let rows: Vec<(String, Lazy<'_>)> =
        named.into_iter().filter(|(_, row)| has(row)).map(|(name, row)| (name, lazy(row, &source))).collect();
    if rows.is_empty() {
        return Err(ExportError::None(arm.path.display().to_string()));
    }
    let count = rows.len();
    let mut seen = BTreeSet::new();
    for (name, lazy) in &rows {
        // The container adds lengths up and takes the last of two tensors of one name without a word.
        source.borrow().kept.check(lazy.row)?;
        if !seen.insert(name.as_str()) {
            return Err(ExportError::Twice(name.clone()));
        }
    }
    let note = HashMap::from([
        ("arm".to_owned(), arm.header.arm.clone()),
        ("kind".to_owned(), "logit rows".to_owned()),
    ]);
    let placed = place_whole(out, |part| {
        safetensors::serialize_to_file(rows, Some(note), part).map_err(std::io::Error::other)?;
        let failed = source.borrow().failed.is_some();
        if failed { Err(std::io::Error::other("a row could not be read back")) } else { Ok(()) }
    });
    // A row that cannot be read back is the transcript's trouble, not that of the file that is written.
    match source.borrow_mut().failed.take() {
        Some(error) => Err(error.into()),
        None => Ok(placed.map(|()| count)?),
    }
}

fn lazy<'a>(row: &'a Row, source: &'a RefCell<Source>) -> Lazy<'a> {
    let (dtype, size) = match row.dtype.as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some("f32" | "float32") => (Dtype::F32, 4),
        Some("f16" | "float16") => (Dtype::F16, 2),
        Some("bf16" | "bfloat16") => (Dtype::BF16, 2),
        // Bytes of an unknown dtype are still those bytes.
        _ => (Dtype::U8, 1),
    };
    let length = row.at.and_then(|[_, length]| usize::try_from(length).ok()).unwrap_or(0);
    // A length that holds no whole number of values is bytes and nothing else.
    let (dtype, size) = if length.is_multiple_of(size) { (dtype, size) } else { (Dtype::U8, 1) };
    Lazy { row, dtype, shape: [length / size], source }
}

/// Every row with its name: `0/prefill`, `0/step/7`, `0/round/3/row/2`.
fn named(arm: &Arm) -> Vec<(String, &Row)> {
    arm.sequences.iter().flat_map(of_sequence).collect()
}

fn of_sequence(sequence: &Sequence) -> Vec<(String, &Row)> {
    let number = sequence.sequence;
    let prefill = sequence.prefill.iter().filter_map(|prefill| prefill.row.as_ref());
    let mut rows: Vec<(String, &Row)> = prefill.map(|row| (format!("{number}/prefill"), row)).collect();
    for step in &sequence.steps {
        rows.extend(step.row.as_ref().map(|row| (format!("{number}/step/{}", step.index), row)));
    }
    for round in &sequence.rounds {
        let of_round = round.rows.iter().flatten().enumerate();
        rows.extend(of_round.map(|(row, kept)| (format!("{number}/round/{}/row/{row}", round.round), kept)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{ExportError, safetensors};
    use crate::transcript::import::Extras;
    use crate::transcript::{Arm, ArmKind, Line, Prefill, Row, Writer, digest::sha256};

    #[test]
    fn what_was_kept_comes_out_as_a_tensor_of_its_dtype() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.jsonl");
        let mut writer = Writer::create(&path, true).unwrap();
        writer.line(&Line::Header(Box::new(Extras::default().header("a", ArmKind::Classic, 1)))).unwrap();
        let bytes = [0x80, 0x3f, 0x00, 0x40];
        let mut row = Row { dtype: Some("bfloat16".into()), sha256: Some(sha256(&bytes)), ..Row::default() };
        writer.keep(&mut row, &bytes).unwrap();
        let prefill = Prefill { sequence: 0, token: 1, cache_len: None, row: Some(row), state_sha256: None };
        writer.line(&Line::Prefill(prefill)).unwrap();
        let out = folder.path().join("rows.safetensors");
        assert_eq!(safetensors(&Arm::read(&path).unwrap(), &out).unwrap(), 1);
        let written = std::fs::read(&out).unwrap();
        let tensors = ::safetensors::SafeTensors::deserialize(&written).unwrap();
        let tensor = tensors.tensor("0/prefill").unwrap();
        assert_eq!(
            (tensor.dtype(), tensor.shape(), tensor.data()),
            (::safetensors::Dtype::BF16, [2].as_slice(), bytes.as_slice())
        );
    }

    #[test]
    fn a_changed_side_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arm.jsonl");
        let mut writer = Writer::create(&path, true).unwrap();
        writer.line(&Line::Header(Box::new(Extras::default().header("a", ArmKind::Classic, 1)))).unwrap();
        let mut row = Row { sha256: Some(sha256(&[1])), ..Row::default() };
        writer.keep(&mut row, &[2]).unwrap();
        let prefill = Prefill { sequence: 0, token: 1, cache_len: None, row: Some(row), state_sha256: None };
        writer.line(&Line::Prefill(prefill)).unwrap();
        let out = folder.path().join("rows.safetensors");
        assert!(matches!(safetensors(&Arm::read(&path).unwrap(), &out), Err(ExportError::Kept(_))));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
