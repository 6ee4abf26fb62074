//! Which rows of an arm have other bytes than plain decoding's, token by token up to the first differing token.

use crate::algebra::Side;
use crate::algebra::divergence;
use crate::results::comparing::{Field, side};
use crate::transcript::kept::same_digest;
use crate::transcript::{Arm, Row};

/// What is known of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Not recorded on both sides.
    Unknown,
    /// Equal digests.
    Equal,
    /// Other bytes, the same best entry.
    Bytes,
    /// Another best entry.
    Choice,
}

/// The rows of one sequence.
#[derive(Debug, Clone)]
pub struct RowLine {
    /// The transcript.
    pub file: String,
    /// The arm.
    pub arm: String,
    /// The sequence.
    pub sequence: i64,
    /// One mark a stream index, up to and with the first difference; empty where no row is known on both sides.
    pub marks: Vec<Mark>,
    /// The first stream index that differs.
    pub flip: Option<usize>,
}

/// Looks at every sequence of an arm that has a reference.
#[must_use]
pub fn of(field: &Field, arm: &Arm, file: &str) -> Vec<RowLine> {
    let line = |sequence: &crate::transcript::Sequence| {
        let reference = field.reference(arm, sequence.sequence)?;
        let (left, right) = (side(sequence), side(reference));
        let compared = divergence::streams(&left, &right)?;
        let flip = compared.parting.as_ref().map(|parting| parting.index);
        Some(RowLine {
            file: file.to_owned(),
            arm: arm.header.arm.clone(),
            sequence: sequence.sequence,
            marks: marks(&left, &right, flip.unwrap_or(compared.common.saturating_sub(1))),
            flip,
        })
    };
    arm.sequences.iter().filter_map(line).collect()
}

fn marks(arm: &Side<'_>, reference: &Side<'_>, last: usize) -> Vec<Mark> {
    let pairs = arm.rows(last).into_iter().zip(reference.rows(last));
    let marks: Vec<Mark> = pairs.map(|pair| mark(pair.0, pair.1)).collect();
    if marks.iter().all(|mark| *mark == Mark::Unknown) { Vec::new() } else { marks }
}

fn mark(arm: Option<&Row>, reference: Option<&Row>) -> Mark {
    let Some((arm, reference)) = arm.zip(reference) else { return Mark::Unknown };
    let best = |row: &Row| row.top.as_ref().and_then(|top| top.first()).map(|(id, _)| *id);
    let chose = best(arm).zip(best(reference)).is_some_and(|(left, right)| left != right);
    match same_digest(arm.sha256.as_deref(), reference.sha256.as_deref()) {
        None => Mark::Unknown,
        Some(true) => Mark::Equal,
        Some(false) if chose => Mark::Choice,
        Some(false) => Mark::Bytes,
    }
}
