//! Whether a stored bisect says what its own parts give, so that an edited file proves nothing.

use super::{Bisected, Measured};

impl Bisected {
    /// The first thing that the rest does not bear out.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let Some(Measured::Seen { kernels, predicted: Some(fits) }) = &self.measured else { return None };
        if self.kernel.is_none() {
            return Some("its kernels are held against a prediction, and it has none".to_owned());
        }
        let unseen = kernels.chain.is_empty() || kernels.block.is_empty();
        (*fits && unseen).then(|| {
            "its kernels are called as predicted, and those of one side at least are missing".to_owned()
        })
    }
}
