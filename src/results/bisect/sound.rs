//! Whether a stored bisect says what its own parts give, so that an edited file proves nothing.

use super::{Bisected, Class, Measured};

impl Bisected {
    /// The first thing that the rest does not bear out.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        self.class_contradiction().or_else(|| self.kernel_contradiction())
    }

    fn class_contradiction(&self) -> Option<String> {
        let differs =
            !self.rows.differing.is_empty() || self.rows.state.is_some() || self.operation.is_some();
        let missing = match self.class {
            Class::Identical if differs => "and a row, a state or an operation differs",
            Class::Operation if self.operation.is_none() => "and no operation is named",
            Class::Rewind if self.rewind.is_none() => "and nothing that a rewind left",
            Class::Prefill if self.prefill.is_none() => "and no state after the prompt",
            _ => return None,
        };
        Some(format!("its class is {}, {missing}", self.class))
    }

    fn kernel_contradiction(&self) -> Option<String> {
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
