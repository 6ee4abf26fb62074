//! Projections that a file stores as one matrix whose rows are grouped by head, taken apart when they are loaded.
//!
//! A row is an output, and the codes, scales and biases of a quantized matrix are by rows too, so picking rows
//! changes no number.

use super::{Embedding, Linear, Weights, dim};
use crate::engine::error::Result;
use mlx_rs::Array;

/// Takes the matrix of `module` apart. Its rows are `groups` times those of `parts`, one part after the other; each
/// of the two projections has the parts that `into` lists for it, each part through all groups.
///
/// # Errors
/// When a tensor is missing or has another shape.
pub fn taken_apart(
    weights: &Weights<'_>,
    module: &str,
    (groups, parts): (usize, &[usize]),
    into: [&[usize]; 2],
    inputs: usize,
) -> Result<[Linear; 2]> {
    let stride: usize = parts.iter().sum();
    let matrix = weights.matrix(module, groups * stride, inputs)?;
    let pick = |wanted: &[usize]| {
        let rows: Vec<i32> = wanted.iter().flat_map(|part| rows_of_part(groups, parts, *part)).collect();
        picked(weights, &matrix, &rows)
    };
    Ok([pick(into[0])?, pick(into[1])?])
}

/// The rows of one part, group by group.
fn rows_of_part(groups: usize, parts: &[usize], part: usize) -> impl Iterator<Item = i32> + use<> {
    let (stride, start): (usize, usize) = (parts.iter().sum(), parts[..part].iter().sum());
    let length = parts[part];
    (0..groups).flat_map(move |group| (0..length).map(move |row| dim(group * stride + start + row)))
}

fn picked(weights: &Weights<'_>, matrix: &Embedding, rows: &[i32]) -> Result<Linear> {
    let rows = Array::from_slice(rows, &[dim(rows.len())]);
    let picked = matrix.rows(&rows)?;
    match &picked {
        Embedding::Dense(matrix) => drop(weights.keep(matrix.clone())),
        Embedding::Quantized(matrix) => {
            for array in
                [Some(&matrix.codes), Some(&matrix.scales), matrix.biases.as_ref()].into_iter().flatten()
            {
                weights.keep(array.clone());
            }
        }
    }
    picked.as_head()
}

#[cfg(test)]
mod tests {
    use super::rows_of_part;

    #[test]
    fn a_part_is_gathered_from_every_group() {
        let rows = |part| rows_of_part(2, &[2, 1, 3], part).collect::<Vec<i32>>();
        assert_eq!(rows(0), [0, 1, 6, 7]);
        assert_eq!(rows(1), [2, 8]);
        assert_eq!(rows(2), [3, 4, 5, 9, 10, 11]);
    }
}
