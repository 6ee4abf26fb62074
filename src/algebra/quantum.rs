//! The reporting quantum of a server, detected from the log-probabilities that it reported.
//!
//! A server that computes its log-probabilities in a narrow dtype, or rounds them before it answers, cannot show a
//! gap smaller than one step. The step is found in the data, because it differs from server to server and nobody
//! documents it; a flip below it stays undecided.

use serde::{Deserialize, Serialize};

/// Fewer reported values than this say nothing about a grid.
const ENOUGH: usize = 16;
/// Finer grids than 2^-20 are single precision, not a quantum that hides anything.
const FINEST: i32 = 20;

/// How two arms' log-probabilities of the same tokens differ before the flip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Tokens whose log-probability both arms reported.
    pub compared: usize,
    /// Of those, equal.
    pub equal: usize,
    /// The first indices that are not, at most twelve.
    pub indices: Vec<usize>,
    /// Tokens that differ.
    pub differing: usize,
    /// Of those, by exactly one quantum.
    pub by_one_quantum: usize,
    /// The largest difference.
    pub largest: f64,
}

/// The coarsest step of which every reported value is a multiple; none when there are too few values, when they
/// are all equal, or when the grid is as fine as the number format itself.
#[must_use]
pub fn detect(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> =
        values.iter().copied().filter(|value| value.is_finite() && value.abs() > 0.0).collect();
    let first = finite.first()?;
    if finite.len() < ENOUGH || finite.iter().all(|value| value.total_cmp(first).is_eq()) {
        return None;
    }
    let binary = (-4..=FINEST).map(|power| 2f64.powi(-power)).find(|step| on_grid(&finite, *step));
    let decimal = (0..=5).find(|digits| finite.iter().all(|value| rounded_to(*value, *digits)));
    let decimal = decimal.map(|digits| 10f64.powi(-digits));
    match (binary, decimal) {
        (Some(binary), Some(decimal)) => Some(binary.max(decimal)),
        (binary, decimal) => binary.or(decimal),
    }
}

/// Division by a power of two is exact, so the test has no tolerance.
fn on_grid(values: &[f64], step: f64) -> bool {
    values.iter().all(|value| is_whole(value / step))
}

fn is_whole(number: f64) -> bool {
    number.fract().abs().to_bits() == 0
}

/// A value that a server rounded to so many decimals reads back from its own rounding.
fn rounded_to(value: f64, digits: i32) -> bool {
    let digits = usize::try_from(digits).unwrap_or(0);
    format!("{value:.digits$}").parse::<f64>().is_ok_and(|read| read.total_cmp(&value).is_eq())
}

/// Compares the log-probabilities of the tokens before `flip`, which both arms chose alike.
#[must_use]
pub fn drift(arm: &[Option<f64>], reference: &[Option<f64>], flip: usize, quantum: Option<f64>) -> Drift {
    let mut found =
        Drift { compared: 0, equal: 0, indices: Vec::new(), differing: 0, by_one_quantum: 0, largest: 0.0 };
    for (index, pair) in arm.iter().zip(reference).take(flip).enumerate() {
        if let (Some(left), Some(right)) = pair {
            found.note(index, (left - right).abs(), quantum);
        }
    }
    found
}

impl Drift {
    fn note(&mut self, index: usize, apart: f64, quantum: Option<f64>) {
        self.compared += 1;
        if apart.to_bits() == 0 {
            self.equal += 1;
            return;
        }
        self.differing += 1;
        self.largest = self.largest.max(apart);
        // Half a step of tolerance: decimal steps are not exact in binary.
        if quantum.is_some_and(|step| (apart / step - 1.0).abs() < 0.5) {
            self.by_one_quantum += 1;
        }
        if self.indices.len() < 12 {
            self.indices.push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{detect, drift};
    use proptest::prelude::*;

    #[test]
    fn an_eighth_is_found_and_few_or_equal_values_are_not_a_grid() {
        let eighths: Vec<f64> = (0..40).map(|step| -0.125 * f64::from(step % 7)).collect();
        assert_eq!(detect(&eighths), Some(0.125));
        assert_eq!(detect(&eighths[..10]), None);
        assert_eq!(detect(&[-0.5; 40]), None);
    }

    #[test]
    fn drift_counts_quanta_before_the_flip_only() {
        let arm = [Some(-0.5), Some(-0.625), None, Some(-9.0)];
        let reference = [Some(-0.5), Some(-0.5), Some(-0.5), Some(-1.0)];
        let found = drift(&arm, &reference, 3, Some(0.125));
        assert_eq!((found.compared, found.equal, found.by_one_quantum), (2, 1, 1));
        assert_eq!(found.indices, [1]);
    }

    proptest! {
        #[test]
        fn a_binary_grid_is_found_whatever_its_step(
            power in 0i32..12, steps in prop::collection::vec(1i32..400, 20..60),
        ) {
            let step = 2f64.powi(-power);
            let mut values: Vec<f64> = steps.iter().map(|count| -step * f64::from(*count)).collect();
            values.push(-step); // an odd multiple pins the grid
            values.push(-2.0 * step);
            prop_assert_eq!(detect(&values), Some(step));
        }

        #[test]
        fn a_decimal_grid_is_found(digits in 2i32..5, steps in prop::collection::vec(1u32..9999, 20..60)) {
            let scale = 10f64.powi(digits);
            let mut values: Vec<f64> = steps.iter().map(|count| -f64::from(*count) / scale).collect();
            values.push(-1.0 / scale);
            values.push(-3.0 / scale);
            prop_assert_eq!(detect(&values), Some(10f64.powi(-digits)));
        }
    }
}
