//! Two arms' rows side by side, up to and with the row of the first difference.
//!
//! Before that row both arms read the same tokens, so every byte that differs is the arms' doing. Rows that differ in
//! bytes and rows that differ in their argmax are counted apart: an argmax check alone calls many differing rows
//! equal.

use super::bits::{self, Dtype, RowBits};
use super::near_tie::{Flip, Pair};
use super::side::Place;
use crate::transcript::kept::same_digest;
use crate::transcript::{Row, TokenId};
use serde::{Deserialize, Serialize};

/// One row in both arms.
#[derive(Debug, Clone, Copy)]
pub struct RowPair<'a> {
    /// The reference's row.
    pub reference: &'a Row,
    /// The arm's row.
    pub arm: &'a Row,
    /// The arm's block has fewer rows than that of the flip: it may have taken other kernels.
    pub narrower: bool,
}

/// The raw bytes of one row in both arms.
#[derive(Debug, Clone, Copy)]
pub struct BytePair<'a> {
    /// The reference's.
    pub reference: &'a [u8],
    /// The arm's.
    pub arm: &'a [u8],
}

/// How many rows were compared and how they differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowsCompared {
    /// Rows recorded on both sides whose bytes were held against each other, by digest or as kept.
    pub rows: usize,
    /// Of those, with equal bytes.
    pub equal: usize,
    /// With other bytes.
    pub bytes_differ: usize,
    /// With another argmax, of these and the unknown.
    pub argmax_differ: usize,
    /// Recorded on both sides, without digest and bytes on one: not compared.
    pub unknown: usize,
    /// Rows whose bytes were read on both sides.
    pub read: usize,
    /// The largest distance of two logits in representable steps, over the rows that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ulps: Option<u64>,
    /// The first row with other bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRow>,
}

impl RowsCompared {
    /// Rows recorded on both sides.
    #[must_use]
    pub const fn recorded(&self) -> usize {
        self.rows.saturating_add(self.unknown)
    }

    /// Every recorded row was compared and is equal.
    #[must_use]
    pub const fn all_equal(&self) -> bool {
        self.rows > 0 && self.equal == self.rows && self.unknown == 0
    }
}

/// The first row whose bytes differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstRow {
    /// Stream index.
    pub index: usize,
    /// Its round in the arm.
    pub round: Option<i64>,
    /// Its row in that round.
    pub row: Option<i64>,
    /// Absolute position of the query.
    pub position: Option<i64>,
    /// What differs, where the bytes were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<RowBits>,
}

/// Takes rows in stream order and builds what the flip is judged from.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The contested tokens, the reference's first.
    pair: Option<(TokenId, TokenId)>,
    /// The index of the flip.
    flip_index: Option<usize>,
    /// The counts.
    pub found: RowsCompared,
    /// What is known about the flip.
    pub flip: Flip,
    /// The ids that share the largest logit of the flipped row.
    pub tied: Vec<TokenId>,
    /// Rows that could not be compared value by value, and why; the first says enough.
    pub trouble: Option<String>,
}

impl RowPair<'_> {
    /// Equal by their digests; unknown when one has none.
    #[must_use]
    pub fn same_digest(&self) -> Option<bool> {
        same_digest(self.reference.sha256.as_deref(), self.arm.sha256.as_deref())
    }

    fn dtype(&self) -> Option<Dtype> {
        let dtype = |row: &Row| row.dtype.as_deref().and_then(Dtype::parse);
        dtype(self.reference).filter(|known| dtype(self.arm) == Some(*known))
    }
}

impl Scan {
    /// A scan towards a flip at `index` between two ids, or over equal streams.
    #[must_use]
    pub fn new(flip: Option<(usize, Option<(TokenId, TokenId)>)>) -> Self {
        Self {
            flip_index: flip.map(|(index, _)| index),
            pair: flip.and_then(|(_, pair)| pair),
            ..Self::default()
        }
    }

    /// True when the row's bytes are worth reading: they differ, or it is the flip itself.
    #[must_use]
    pub fn wants_bytes(&self, index: usize, rows: &RowPair<'_>) -> bool {
        rows.same_digest() != Some(true) || self.flip_index == Some(index)
    }

    /// Adds the next row.
    pub fn add(
        &mut self,
        index: usize,
        rows: &RowPair<'_>,
        bytes: Option<BytePair<'_>>,
    ) -> Option<&mut FirstRow> {
        self.found.read += usize::from(bytes.is_some());
        let same = rows.same_digest().or_else(|| bytes.map(|bytes| bytes.reference == bytes.arm));
        let best = |row: &Row, raw: Option<&[u8]>| argmax(row, rows.dtype().zip(raw));
        let tops = best(rows.reference, bytes.map(|bytes| bytes.reference))
            .zip(best(rows.arm, bytes.map(|b| b.arm)));
        self.found.argmax_differ += usize::from(tops.is_some_and(|(left, right)| left != right));
        self.weigh(index, rows, bytes, same);
        self.found.rows += usize::from(same.is_some());
        match same {
            Some(true) => self.found.equal += 1,
            None => self.found.unknown += 1,
            Some(false) => return self.differing(index, rows, bytes),
        }
        None
    }

    fn differing(
        &mut self,
        index: usize,
        rows: &RowPair<'_>,
        bytes: Option<BytePair<'_>>,
    ) -> Option<&mut FirstRow> {
        self.found.bytes_differ += 1;
        let compared =
            rows.dtype().zip(bytes).map(|(dtype, raw)| bits::compare(dtype, raw.reference, raw.arm));
        let bits = match compared {
            Some(Ok(bits)) => Some(bits),
            Some(Err(error)) => {
                self.trouble.get_or_insert_with(|| format!("row {index}: {error}"));
                None
            }
            None => None,
        };
        if let Some(bits) = &bits {
            self.found.max_ulps = self.found.max_ulps.max(Some(bits.max_ulps));
        }
        let position = rows.arm.position.or(rows.reference.position);
        if self.found.first.is_some() {
            return None;
        }
        self.found.first = Some(FirstRow { index, round: None, row: None, position, bits });
        self.found.first.as_mut()
    }

    /// Puts the contested pair of this row on the scale, or takes it as the flip itself.
    fn weigh(&mut self, index: usize, rows: &RowPair<'_>, bytes: Option<BytePair<'_>>, same: Option<bool>) {
        let dtype = rows.dtype();
        let pair =
            |row: &Row, raw: Option<&[u8]>| self.pair.and_then(|ids| pair_of(row, dtype.zip(raw), ids));
        let reference = pair(rows.reference, bytes.map(|bytes| bytes.reference));
        let arm = pair(rows.arm, bytes.map(|bytes| bytes.arm));
        if self.flip_index == Some(index) {
            self.take_flip(rows, bytes, (reference, arm), same);
        } else if same == Some(true) && rows.narrower {
            // That fewer rows change nothing says nothing of what more rows do.
            self.flip.narrower += 1;
        } else if let (Some(reference), Some(arm)) = (reference, arm) {
            self.flip.scale.add(index, reference, arm);
        } else if same == Some(true) && self.pair.is_some() {
            // Equal bytes: whatever the two logits are, they did not move.
            let still = Pair { reference: 0.0, arm: 0.0 };
            self.flip.scale.add(index, still, still);
        }
    }

    fn take_flip(
        &mut self,
        rows: &RowPair<'_>,
        bytes: Option<BytePair<'_>>,
        (reference, arm): (Option<Pair>, Option<Pair>),
        same: Option<bool>,
    ) {
        self.flip.same_bytes = same;
        (self.flip.reference, self.flip.arm) = (reference, arm);
        self.flip.exact = bytes.is_some();
        let high =
            [reference, arm].into_iter().flatten().map(|pair| pair.reference.abs().max(pair.arm.abs()));
        self.flip.ulp = rows.dtype().zip(high.reduce(f64::max)).map(|(dtype, high)| dtype.ulp(high));
        let raw = rows.dtype().zip(bytes.map(|bytes| bytes.reference));
        self.tied = raw.map_or_else(|| tied_of(rows.reference), |(dtype, raw)| bits::best(dtype, raw));
    }

    /// Notes where in the arm's rounds the first differing row lies.
    pub fn place_first(&mut self, place: Option<Place>) {
        if let Some(first) = &mut self.found.first {
            (first.round, first.row) = (place.map(|place| place.round), place.map(|place| place.row));
        }
    }
}

fn argmax(row: &Row, raw: Option<(Dtype, &[u8])>) -> Option<TokenId> {
    let noted = row.top.as_ref().and_then(|top| top.first()).map(|(id, _)| *id);
    noted.or_else(|| raw.and_then(|(dtype, raw)| bits::argmax(dtype, raw)))
}

fn pair_of(row: &Row, raw: Option<(Dtype, &[u8])>, ids: (TokenId, TokenId)) -> Option<Pair> {
    let noted = |id: TokenId| row.top.as_ref()?.iter().find(|(other, _)| *other == id)?.1;
    let logit = |id: TokenId| match raw {
        Some((dtype, raw)) => dtype.logit(raw, id),
        None => noted(id),
    };
    Some(Pair { reference: logit(ids.0)?, arm: logit(ids.1)? })
}

/// The ids that share the best noted logit.
fn tied_of(row: &Row) -> Vec<TokenId> {
    let Some(top) = &row.top else { return Vec::new() };
    let Some(best) = top.first().and_then(|(_, logit)| *logit) else { return Vec::new() };
    let same = |logit: &Option<f64>| logit.is_some_and(|logit| logit.total_cmp(&best).is_eq());
    top.iter().filter(|(_, logit)| same(logit)).map(|(id, _)| *id).collect()
}

#[cfg(test)]
mod tests {
    use super::{BytePair, RowPair, Scan};
    use crate::transcript::{Row, digest::sha256};
    use proptest::prelude::*;

    fn row(logits: &[f32]) -> (Row, Vec<u8>) {
        let bytes: Vec<u8> = logits.iter().flat_map(|logit| logit.to_le_bytes()).collect();
        let row = Row { sha256: Some(sha256(&bytes)), dtype: Some("float32".to_owned()), ..Row::default() };
        (row, bytes)
    }

    fn add(scan: &mut Scan, index: usize, reference: &[f32], arm: &[f32]) {
        add_of(scan, index, false, (reference, arm));
    }

    fn add_of(scan: &mut Scan, index: usize, narrower: bool, (reference, arm): (&[f32], &[f32])) {
        let ((left, a), (right, b)) = (row(reference), row(arm));
        scan.add(
            index,
            &RowPair { reference: &left, arm: &right, narrower },
            Some(BytePair { reference: &a, arm: &b }),
        );
    }

    #[test]
    fn bytes_and_argmax_are_counted_apart() {
        let mut scan = Scan::new(None);
        add(&mut scan, 0, &[1.0, 2.0], &[1.0, 2.0]);
        add(&mut scan, 1, &[1.0, 2.0], &[1.5, 2.0]);
        add(&mut scan, 2, &[1.0, 2.0], &[2.5, 2.0]);
        let found = &scan.found;
        assert_eq!((found.rows, found.equal, found.bytes_differ, found.argmax_differ), (3, 1, 2, 1));
        assert_eq!(found.first.as_ref().unwrap().index, 1);
    }

    #[test]
    fn the_flipped_row_is_never_its_own_scale() {
        let mut scan = Scan::new(Some((40, Some((1, 0)))));
        for index in 0..40 {
            add(&mut scan, index, &[1.0, 2.0], &[1.25, 2.0]);
        }
        add(&mut scan, 40, &[1.0, 1.125], &[9.0, 1.0]);
        assert_eq!(scan.flip.scale.rows, 40);
        assert!((scan.flip.scale.largest - 0.25).abs() < 1e-9);
        assert_eq!(scan.flip.judge().verdict.word(), "structural");
    }

    #[test]
    fn equal_rows_of_narrower_blocks_are_no_scale_and_differing_ones_are() {
        let judged = |narrower: bool, before: [f32; 2]| {
            let mut scan = Scan::new(Some((40, Some((1, 0)))));
            for index in 0..40 {
                add_of(&mut scan, index, narrower, (&[1.0, 2.0], &before));
            }
            add(&mut scan, 40, &[1.0, 1.125], &[1.125, 1.0]);
            scan.flip.judge().verdict.word()
        };
        assert_eq!(judged(false, [1.0, 2.0]), "structural");
        assert_eq!(judged(true, [1.0, 2.0]), "undecided");
        assert_eq!(judged(true, [1.25, 2.0]), "near tie");
    }

    proptest! {
        #[test]
        fn a_planted_row_is_the_first_found(rows in 1usize..60, place in any::<prop::sample::Index>()) {
            let place = place.index(rows);
            let mut scan = Scan::new(None);
            for index in 0..rows {
                let moved = if index < place { 1.0 } else { 1.5 };
                add(&mut scan, index, &[1.0, 9.0], &[moved, 9.0]);
            }
            prop_assert_eq!(scan.found.first.as_ref().map(|first| first.index), Some(place));
            prop_assert_eq!((scan.found.equal, scan.found.bytes_differ), (place, rows - place));
        }
    }
}
