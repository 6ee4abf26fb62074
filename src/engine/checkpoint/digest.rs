//! The digest that names a checkpoint in transcripts.
//!
//! It is the SHA-256 of a text that any script can write again: `config`, a space and the SHA-256 of config.json;
//! then one line a tensor of the text model in the order of canonical names, with its name, type, sides joined by
//! `x`, and the SHA-256 of each 16 MiB of its bytes, separated by spaces. Sharding, prefixes, tensor order and
//! ignored parts do not change it. The pieces are what makes it fast: they are hashed on all cores.

use super::open::Checkpoint;
use super::tensor::TensorView;
use crate::transcript::digest::{Digester, sha256};
use rayon::prelude::*;

const PIECE: usize = 16 << 20;

impl Checkpoint {
    /// The checkpoint's digest, 64 lower-case hexadecimal digits. Reads every byte.
    #[must_use]
    pub fn digest(&self) -> String {
        let pieces: Vec<&[u8]> = self.tensors().flat_map(|(_, tensor)| tensor.bytes.chunks(PIECE)).collect();
        let digests: Vec<String> = pieces.into_par_iter().map(sha256).collect();
        let mut digests = digests.into_iter();
        let mut digester = Digester::default();
        digester.update(format!("config {}\n", sha256(self.config_bytes())).as_bytes());
        for (name, tensor) in self.tensors() {
            let count = tensor.bytes.len().div_ceil(PIECE);
            digester.update(line(name, tensor, digests.by_ref().take(count)).as_bytes());
        }
        digester.finish()
    }
}

fn line(name: &str, tensor: &TensorView, digests: impl Iterator<Item = String>) -> String {
    let sides: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
    let mut line = format!("{name} {} {}", tensor.dtype, sides.join("x"));
    for digest in digests {
        line.push(' ');
        line.push_str(&digest);
    }
    line.push('\n');
    line
}
