//! Writes a reproducer: exports each side's call, runs what was exported, and keeps what both gave.

use super::readme::readme;
use super::tensors::{self, Tensor};
use super::{About, Error, Result, Which};
use crate::engine::raw::{self, Imported, bytes_of, rows_of};
use crate::engine::tap::Kernels;
use crate::results::reproducer::{
    Difference, FORMAT, FileRecord, INDEX, INPUTS, Index, Input, SideRecord, VERSION,
};
use crate::transcript::digest::{sha256, sha256_of};
use crate::transcript::files::PartFolder;
use mlx_rs::Array;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The script that needs nothing but MLX.
const SCRIPT: &str = include_str!("reproduce.py");

/// One side's call, inside the tap while its kernels are at hand.
pub struct Call<'a> {
    /// What the kernels are given, by name.
    pub inputs: &'a [(&'a str, &'a Array)],
    /// The kernels.
    pub kernels: Kernels<'a>,
    /// The row of the output that is compared.
    pub row: i32,
    /// The axis of the output that has the rows.
    pub axis: i32,
}

/// A folder in the making; it appears under its name with [`Reproducer::finish`], whole or not at all.
#[derive(Debug)]
pub struct Reproducer {
    part: PartFolder,
    kept: BTreeMap<Which, Kept>,
}

/// What is kept of a side's call.
#[derive(Debug)]
struct Kept {
    record: SideRecord,
    inputs: Vec<Tensor>,
    in_model: Vec<u8>,
    outside: Vec<u8>,
}

impl Reproducer {
    /// Starts a folder; an existing one must be empty.
    ///
    /// # Errors
    /// When the folder is in use or cannot be made.
    pub fn create(folder: &Path) -> Result<Self> {
        Ok(Self { part: PartFolder::create(folder)?, kept: BTreeMap::new() })
    }

    /// Makes a side's call, exports it, and holds the exported function against it over the same inputs.
    ///
    /// # Errors
    /// When MLX refuses, the row is none of the output's, or the exported function gives other bytes.
    pub fn call(&mut self, which: Which, call: &Call<'_>) -> Result<()> {
        let refused = |says: &str| Error::Call { side: which, says: says.to_owned() };
        if self.kept.contains_key(&which) {
            return Err(refused("it is kept already"));
        }
        let inputs: Vec<&Array> = call.inputs.iter().map(|(_, array)| *array).collect();
        let kept = call.inputs.iter().map(|(name, array)| Tensor::of(which, name, array));
        let kept: Vec<Tensor> = kept.collect::<Result<_>>()?;
        // Before the export, because constants are only exported as such once they are evaluated.
        let output = (call.kernels)(&inputs)?;
        let in_model = row_of(&output, call.axis, call.row).ok_or_else(|| {
            refused(&format!("row {} on axis {} of {:?}", call.row, call.axis, output.shape()))
        })??;
        let function = self.export(which, call, (&inputs, &output))?;
        let again: Vec<Array> = kept.iter().map(Tensor::array).collect::<Result<_>>()?;
        let outside = only(function.apply(&again.iter().collect::<Vec<_>>())?, which)?;
        let outside = row_of(&outside, call.axis, call.row).ok_or_else(|| refused("its output shrank"))??;
        let record = record(call, &output, [&in_model, &outside]);
        self.kept.insert(which, Kept { record, inputs: kept, in_model, outside });
        Ok(())
    }

    /// The row's bytes as the model went on with them, where something after the kernels changed them.
    ///
    /// # Errors
    /// When the side's call is not kept yet.
    pub fn went_on_with(&mut self, which: Which, row: &[u8]) -> Result<()> {
        let says = "it was never made".to_owned();
        let kept = self.kept.get_mut(&which).ok_or(Error::Call { side: which, says })?;
        kept.record.row_in_model = sha256(row);
        kept.in_model = row.to_vec();
        Ok(())
    }

    /// Exports the kernels and reads them back.
    fn export(
        &self,
        which: Which,
        call: &Call<'_>,
        (inputs, output): (&[&Array], &Array),
    ) -> Result<Imported> {
        let path = self.part.unfinished(which.function());
        raw::export(&path, call.kernels, inputs)?;
        let function = Imported::load(&path)?;
        let exported = only(function.apply(inputs)?, which)?;
        let same = (exported.shape(), exported.dtype()) == (output.shape(), output.dtype());
        if same && bytes_of(&exported)? == bytes_of(output)? {
            return Ok(function);
        }
        Err(Error::Unfaithful { side: which })
    }

    /// Writes the inputs, the script, the description and the index, and gives the folder its name.
    ///
    /// # Errors
    /// When a side was not called, the rows cannot be compared, or a file cannot be written.
    pub fn finish(mut self, about: &About) -> Result<()> {
        let mut take = |side| {
            let says = "it was never made".to_owned();
            self.kept.remove(&side).ok_or(Error::Call { side, says })
        };
        let (chain, block) = (take(Which::Chain)?, take(Which::Block)?);
        let between = |chain: &[u8], block: &[u8], dtype: &str| Difference::between(dtype, chain, block);
        let dtype = chain.record.dtype.clone();
        let mut index = Index {
            format: FORMAT.to_owned(),
            version: VERSION,
            about: about.clone(),
            in_model: between(&chain.in_model, &block.in_model, &dtype)?,
            outside: between(&chain.outside, &block.outside, &dtype)?,
            chain: chain.record,
            block: block.record,
            files: BTreeMap::new(),
        };
        let both: Vec<&Tensor> = chain.inputs.iter().chain(&block.inputs).collect();
        let inputs = tensors::file(&both)
            .map_err(|error| Error::Call { side: Which::Block, says: format!("its inputs: {error}") })?;
        self.write(INPUTS, &inputs)?;
        self.write("reproduce.py", SCRIPT.as_bytes())?;
        self.write("README.md", readme(&index).as_bytes())?;
        index.files = self.records()?;
        let mut text = serde_json::to_vec_pretty(&index).map_err(|error| self.fault(error.into()))?;
        text.push(b'\n');
        self.write(INDEX, &text)?;
        Ok(self.part.finish()?)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.part.file(name)?;
        file.write(bytes)?;
        Ok(file.finish()?)
    }

    /// The digest of every file, read back from where it was written.
    fn records(&self) -> Result<BTreeMap<String, FileRecord>> {
        let names = [Which::Chain.function(), Which::Block.function(), INPUTS, "reproduce.py", "README.md"];
        let record = |name: &str| {
            let path = self.part.unfinished(name);
            let read = File::open(&path).and_then(sha256_of);
            let (sha256, bytes) = read.map_err(|source| Error::Unavailable { path, source })?;
            Ok((name.to_owned(), FileRecord { bytes, sha256 }))
        };
        names.into_iter().map(record).collect()
    }

    fn fault(&self, fault: crate::results::reproducer::IndexFault) -> Error {
        Error::Index { path: self.part.unfinished(INDEX), fault }
    }
}

/// The only output of a function.
pub(super) fn only(mut outputs: Vec<Array>, side: Which) -> Result<Array> {
    match outputs.len() {
        1 => Ok(outputs.swap_remove(0)),
        count => Err(Error::Unfit { side, says: format!("the function has {count} outputs") }),
    }
}

/// The bytes of one row; nothing where the output has no such row.
pub(super) fn row_of(output: &Array, axis: i32, row: i32) -> Option<Result<Vec<u8>>> {
    let rows = usize::try_from(axis).ok().and_then(|axis| output.shape().get(axis))?;
    (0..*rows).contains(&row).then(|| Ok(bytes_of(&rows_of(output, axis, row, row + 1)?)?))
}

fn record(call: &Call<'_>, output: &Array, [in_model, outside]: [&Vec<u8>; 2]) -> SideRecord {
    let input = |(name, array): &(&str, &Array)| Input {
        name: (*name).to_owned(),
        dtype: tensors::name(array.dtype()),
        shape: array.shape().to_vec(),
    };
    SideRecord {
        inputs: call.inputs.iter().map(input).collect(),
        output: output.shape().to_vec(),
        dtype: tensors::name(output.dtype()),
        axis: call.axis,
        row: call.row,
        row_in_model: sha256(in_model),
        row_outside: sha256(outside),
    }
}
