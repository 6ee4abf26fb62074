//! What one operation did at each number of rows, over all draws: where its bytes part, and how far.

use crate::algebra::bits::RowBits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was found at each number of rows, over all draws.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Found {
    /// Rows that were compared, in all.
    pub rows: u64,
    /// Bytes that were compared, in all.
    pub bytes: u64,
    /// The worst row at each number of rows.
    pub worst: BTreeMap<u32, Worst>,
}

/// The row with the most differing bytes, and the largest step of any row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worst {
    /// Its differing bytes.
    pub differing_bytes: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its differing values, signed zeros and NaN among them.
    pub values: u64,
    /// Most representable steps between two values.
    pub max_ulps: u64,
}

impl Found {
    /// Adds a row of a block of `rows` rows.
    pub fn add(&mut self, rows: u32, row: &RowBits) {
        self.rows += 1;
        self.bytes += row.bytes;
        let worst = self.worst.entry(rows).or_default();
        let values = row.differing_values + row.signed_zeros + row.nans;
        if row.differing_bytes > worst.differing_bytes || worst.bytes == 0 {
            (worst.differing_bytes, worst.bytes, worst.values) = (row.differing_bytes, row.bytes, values);
        }
        worst.max_ulps = worst.max_ulps.max(row.max_ulps);
    }

    /// Numbers of rows that were tried, ascending.
    pub fn tested(&self) -> impl Iterator<Item = u32> {
        self.worst.keys().copied()
    }

    /// The smallest number of rows at which some draw differs.
    #[must_use]
    pub fn boundary(&self) -> Option<u32> {
        self.worst.iter().find(|(_, worst)| worst.differing_bytes > 0).map(|(rows, _)| *rows)
    }

    /// Numbers of rows past the boundary at which every draw is equal again.
    #[must_use]
    pub fn equal_again(&self) -> Vec<u32> {
        let Some(boundary) = self.boundary() else { return Vec::new() };
        let past = self.worst.range(boundary..).filter(|(_, worst)| worst.differing_bytes == 0);
        past.map(|(rows, _)| *rows).collect()
    }

    /// Numbers of rows between two neighbours of which one differs and the other does not: where a boundary hides.
    #[must_use]
    pub fn gaps(&self) -> Vec<u32> {
        let differs: Vec<(u32, bool)> =
            self.worst.iter().map(|(rows, worst)| (*rows, worst.differing_bytes > 0)).collect();
        let turns = differs.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        turns.flat_map(|pair| pair[0].0 + 1..pair[1].0).collect()
    }

    /// The worst over all numbers of rows.
    #[must_use]
    pub fn overall(&self) -> Worst {
        let worst =
            self.worst.values().copied().max_by_key(|worst| worst.differing_bytes).unwrap_or_default();
        let max_ulps = self.worst.values().map(|worst| worst.max_ulps).max().unwrap_or(0);
        Worst { max_ulps, ..worst }
    }

    /// Such as `1-16, 20, 24`.
    #[must_use]
    pub fn tested_text(&self) -> String {
        ranges(&self.tested().collect::<Vec<_>>())
    }
}

/// Ascending numbers, neighbours drawn together: `1-16, 20`.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// What rows of so many differing bytes amount to, for tests.
#[cfg(test)]
pub(super) fn found(tried: &[(u32, u64)]) -> Found {
    let mut found = Found::default();
    for (rows, differing_bytes) in tried {
        let row = RowBits { bytes: 64, differing_bytes: *differing_bytes, ..RowBits::default() };
        found.add(*rows, &row);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{found, ranges};

    #[test]
    fn a_boundary_is_the_first_that_differs_whatever_comes_after() {
        let wavy = found(&[(1, 0), (2, 0), (8, 3), (8, 0), (12, 0), (16, 5)]);
        assert_eq!((wavy.boundary(), wavy.equal_again()), (Some(8), vec![12]));
        assert_eq!(wavy.gaps(), [3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15]);
        assert_eq!(wavy.overall().differing_bytes, 5);
        assert!(found(&[(1, 0), (64, 0)]).gaps().is_empty());
    }

    #[test]
    fn neighbours_are_drawn_together() {
        assert_eq!(ranges(&[1, 2, 3, 4, 8, 9, 16]), "1-4, 8, 9, 16");
        assert_eq!(ranges(&[]), "");
    }
}
