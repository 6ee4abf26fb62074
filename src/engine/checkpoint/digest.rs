//! The digest that names a checkpoint in transcripts.
//!
//! It is the SHA-256 of a text that any script can write again: `config`, a space and the SHA-256 of config.json;
//! then one line a tensor of the text model in the order of canonical names, with its name, type, sides joined by
//! `x`, and the SHA-256 of each 16 MiB of its bytes, separated by spaces. Sharding, prefixes, tensor order and
//! ignored parts do not change it. The pieces are what makes it fast: they are hashed on all cores.

use super::bytes::Lent;
use super::open::Checkpoint;
use super::tensor::TensorView;
use crate::transcript::digest::{Digester, sha256};
use rayon::prelude::*;

const PIECE: usize = 16 << 20;

impl Checkpoint {
    /// The checkpoint's digest, 64 lower-case hexadecimal digits. Reads every byte the first time it is asked for.
    #[must_use]
    pub fn digest(&self) -> String {
        self.digest_cell().get_or_init(|| self.computed_digest()).clone()
    }

    fn computed_digest(&self) -> String {
        let tensors: Vec<&TensorView> = self.tensors().map(|(_, tensor)| tensor).collect();
        let digests: Vec<Vec<String>> = tensors.into_par_iter().map(pieces).collect();
        let mut digests = digests.into_iter();
        let mut digester = Digester::default();
        digester.update(format!("config {}\n", sha256(self.config_bytes())).as_bytes());
        for (name, tensor) in self.tensors() {
            digester.update(line(name, tensor, &digests.next().unwrap_or_default()).as_bytes());
        }
        digester.finish()
    }
}

/// The digests of a tensor's pieces. Its bytes do not stay in memory.
fn pieces(tensor: &TensorView) -> Vec<String> {
    Lent(tensor.bytes.clone()).par_chunks(PIECE).map(sha256).collect()
}

fn line(name: &str, tensor: &TensorView, digests: &[String]) -> String {
    let sides: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
    let words = [&[name.to_owned(), tensor.dtype.to_string(), sides.join("x")], digests].concat();
    format!("{}\n", words.join(" "))
}
