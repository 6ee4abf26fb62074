//! What is wrong with the text of a plant, or with its place.

/// A text that is not a plant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlantError {
    /// A part without a key, a sign or a value.
    #[error("read plant: {0:?} is not <key>=<value>, as in op=o_proj,layer=5,row=2,from=40,ulp=1")]
    NoValue(String),
    /// A key that plants do not have.
    #[error(
        "read plant: no key {0:?}; keys are op, layer, row, rows>=, rows<=, from, every, ulp, value, order, fault, \
         count, seed, side"
    )]
    UnknownKey(String),
    /// A key that was given twice, or two changes.
    #[error("read plant: {0} is given twice")]
    Twice(&'static str),
    /// A value that its key does not take.
    #[error("read plant: {key} takes {takes}, not {found:?}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it takes.
        takes: &'static str,
        /// What was written.
        found: String,
    },
    /// Not an operation.
    #[error("read plant: {0:?} is not an operation")]
    UnknownOperation(String),
    /// Neither an operation was named nor a fault that needs none.
    #[error(
        "read plant: it names no operation, as in op=o_proj, and no fault of bookkeeping, as in fault=skipped-rewind"
    )]
    NoOperation,
    /// A key that means nothing for a fault of bookkeeping.
    #[error("read plant: fault={fault} takes no {key}: {why}")]
    Foreign {
        /// The fault.
        fault: &'static str,
        /// The key.
        key: &'static str,
        /// Why it means nothing.
        why: &'static str,
    },
    /// Two keys that exclude each other, or one that needs another.
    #[error("read plant: {0}")]
    Conflict(&'static str),
}
