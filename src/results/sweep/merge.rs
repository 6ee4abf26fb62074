//! Journals of shards put together into the journal of the whole sweep.

use super::journal::{Header, Journal};

/// Journals do not belong together. Each text fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// No journal at all.
    #[error("merge: there is no journal")]
    None,
    /// They answer different questions.
    #[error("merge {other} with {first}: {says}")]
    Definition {
        /// The first journal.
        first: String,
        /// The one that differs from it.
        other: String,
        /// In what, `there` being the first.
        says: String,
    },
    /// One cell, two answers.
    #[error("merge {other}: {says}")]
    Doubled {
        /// The journal that has it again.
        other: String,
        /// Which cell.
        says: String,
    },
}

/// Puts journals of one definition together; a cell that crashed in one and was measured in another is measured.
///
/// # Errors
/// When definitions differ, or a cell was measured twice with different outcomes.
pub fn merge(journals: &[(String, Journal)]) -> Result<Journal, MergeError> {
    let Some((first, head)) = journals.first() else { return Err(MergeError::None) };
    let definition = &head.header.definition;
    let mut whole = Journal::new(Header::new(definition.clone(), None));
    for (name, journal) in journals {
        if let Some(says) = definition.difference(&journal.header.definition) {
            return Err(MergeError::Definition { first: first.clone(), other: name.clone(), says });
        }
        for entry in journal.entries() {
            let added = whole.add(entry.clone());
            added.map_err(|says| MergeError::Doubled { other: name.clone(), says })?;
        }
    }
    Ok(whole)
}
