//! Runs a reproducer: files checked first, then both functions, each twice, and their rows compared.

use super::write::{only, row_of};
use super::{Error, Result, Which, tensors};
use crate::arms::identity;
use crate::engine::raw::Imported;
use crate::results::reproducer::{Difference, INDEX, INPUTS, Index, REPRODUCED_VERSION, Reproduced, Side};
use crate::transcript::digest::{sha256, sha256_of};
use mlx_rs::{Array, Stream};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A folder whose files are those that were written.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    index: Index,
}

/// What a function gave.
struct Ran {
    rows: i32,
    row: Vec<u8>,
    dtype: String,
    repeats: bool,
}

impl Folder {
    /// Opens a folder and checks every file that its index lists.
    ///
    /// # Errors
    /// When a file is missing or another one than was written, or the index is none.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join(INDEX);
        let bytes =
            std::fs::read(&file).map_err(|source| Error::Unavailable { path: file.clone(), source })?;
        let index = Index::parse(&bytes).map_err(|fault| Error::Index { path: file, fault })?;
        for (name, record) in &index.files {
            let path = path.join(name);
            let read = File::open(&path).and_then(sha256_of);
            let (found, _) = read.map_err(|source| Error::Unavailable { path: path.clone(), source })?;
            if found != record.sha256 {
                return Err(Error::Damaged { path, expected: record.sha256.clone(), found });
            }
        }
        Ok(Self { path: path.to_owned(), index })
    }

    /// Its index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Runs both functions and compares the row.
    ///
    /// # Errors
    /// When MLX refuses or the index does not fit the files.
    pub fn reproduce(&self, command: Vec<String>) -> Result<Reproduced> {
        let about = &self.index.about;
        let recorded = about.backend.name.clone().unwrap_or_default();
        if !identity::on_gpu() && matches!(&*recorded, "mlx-cuda" | "mlx-metal") {
            return Err(Error::NoGpu { recorded });
        }
        // Imported functions run on stream 0, which the first to ask gets.
        let _ = Stream::thread_local_or_default();
        let [chain, block] = [self.run(Which::Chain)?, self.run(Which::Block)?];
        let sides = vec![self.side(Which::Chain, &chain), self.side(Which::Block, &block)];
        let difference = Difference::between(&chain.dtype, &chain.row, &block.row)?;
        Ok(Reproduced {
            version: REPRODUCED_VERSION,
            verdict: Reproduced::judged(&sides, &difference),
            about: about.clone(),
            backend: identity::backend(),
            sides,
            difference,
            recorded: self.index.outside.clone(),
            caveat: self.index.caveat().map(str::to_owned),
            command,
        })
    }

    fn run(&self, which: Which) -> Result<Ran> {
        let (record, file) = (self.index.side(which), self.path.join(INPUTS));
        let bytes = std::fs::read(&file).map_err(|source| Error::Unavailable { path: file, source })?;
        let inputs = tensors::read(&bytes, which, &record.inputs)?;
        let inputs: Vec<&Array> = inputs.iter().collect();
        let function = Imported::load(&self.path.join(which.function()))?;
        let output = only(function.apply(&inputs)?, which)?;
        let row = |output: &Array| {
            let says = || format!("row {} on axis {} of {:?}", record.row, record.axis, output.shape());
            row_of(output, record.axis, record.row)
                .ok_or_else(|| Error::Unfit { side: which, says: says() })?
        };
        let (first, again) = (row(&output)?, row(&only(function.apply(&inputs)?, which)?)?);
        Ok(Ran {
            rows: output.dim(record.axis),
            repeats: first == again,
            row: first,
            dtype: tensors::name(output.dtype()),
        })
    }

    fn side(&self, which: Which, ran: &Ran) -> Side {
        let (record, about) = (self.index.side(which), &self.index.about);
        let route = match which {
            Which::Chain => &about.route_chain,
            Which::Block => &about.route_block,
        };
        let sha256 = sha256(&ran.row);
        Side {
            side: which,
            function: which.function().to_owned(),
            route: route.clone(),
            rows: ran.rows,
            row: record.row,
            as_recorded: sha256 == record.row_outside,
            as_in_model: sha256 == record.row_in_model,
            sha256,
            repeats: ran.repeats,
        }
    }
}
