//! Comparing arrays by their bits, on the device: what comes to the host is an answer and not the numbers.
//!
//! A float comparison calls two NaN different and two zeros equal; bits do neither.

use crate::engine::error::{Error, Result};
use crate::engine::raw::size_of_dtype;
use mlx_rs::Array;
use mlx_rs::ops::{ne, stack};

/// The array's bits as unsigned integers of the same size and shape.
pub(super) fn bits(array: &Array) -> Result<Array> {
    Ok(match size_of_dtype(array.dtype()) {
        1 => array.view::<u8>()?,
        2 => array.view::<u16>()?,
        4 => array.view::<u32>()?,
        _ => array.view::<u64>()?,
    })
}

fn same_kind(left: &Array, right: &Array) -> bool {
    (left.shape(), left.dtype()) == (right.shape(), right.dtype())
}

/// True when shape, dtype and every bit are the same.
///
/// # Errors
/// When MLX refuses.
pub(super) fn equal(left: &Array, right: &Array) -> Result<bool> {
    if !same_kind(left, right) {
        return Ok(false);
    }
    if left.size() == 0 {
        return Ok(true);
    }
    Ok(!ne(bits(left)?, bits(right)?)?.any(false)?.try_item_exact::<bool>().map_err(unread)?)
}

/// For each row along `axis` how many bytes differ.
///
/// # Errors
/// When the arrays have different shapes or dtypes, or MLX refuses.
pub(super) fn differing_bytes(left: &Array, right: &Array, axis: i32) -> Result<Vec<u64>> {
    if !same_kind(left, right) {
        let (left, right) = ((left.shape(), left.dtype()), (right.shape(), right.dtype()));
        return Err(Error::Request(format!("compare {left:?} of one side with {right:?} of the other")));
    }
    let rows = left.dim(axis);
    let flat = |array: &Array| -> Result<Array> {
        let rows_first = array.swap_axes(0, axis)?.reshape(&[rows, -1])?;
        Ok(rows_first.contiguous()?.view::<u8>()?)
    };
    let apart = ne(flat(left)?, flat(right)?)?; // [rows, bytes]
    let counts = apart.as_dtype(mlx_rs::Dtype::Uint32)?.sum_axis(1, false)?;
    Ok(counts.to_vec_exact::<u32>().map_err(unread)?.into_iter().map(u64::from).collect())
}

/// For each row along `axis` whether any bit differs.
///
/// # Errors
/// When the arrays have different shapes or dtypes, or MLX refuses.
pub(super) fn differing_rows(left: &Array, right: &Array, axis: i32) -> Result<Vec<bool>> {
    if !same_kind(left, right) {
        return differing_bytes(left, right, axis).map(|counts| counts.into_iter().map(|_| true).collect());
    }
    let rows = left.dim(axis);
    let flat = |array: &Array| -> Result<Array> { bits(&array.swap_axes(0, axis)?.reshape(&[rows, -1])?) };
    let apart = ne(flat(left)?, flat(right)?)?.any_axis(1, false)?;
    apart.to_vec_exact::<bool>().map_err(unread)
}

/// Whether each pair differs in shape, dtype or a bit; one answer from the device for all of them.
///
/// # Errors
/// When MLX refuses.
pub(super) fn differing_pairs(pairs: &[(Array, Array)]) -> Result<Vec<bool>> {
    let comparable = |(left, right): &&(Array, Array)| same_kind(left, right) && left.size() > 0;
    let flags = pairs
        .iter()
        .filter(comparable)
        .map(|(left, right)| -> Result<Array> { Ok(ne(bits(left)?, bits(right)?)?.any(false)?) });
    let flags = flags.collect::<Result<Vec<_>>>()?;
    let answers = if flags.is_empty() {
        Vec::new()
    } else {
        stack(&flags, 0)?.to_vec_exact::<bool>().map_err(unread)?
    };
    let mut answers = answers.into_iter();
    let answered = pairs.iter().map(|pair| {
        if comparable(&pair) { answers.next().unwrap_or(true) } else { !same_kind(&pair.0, &pair.1) }
    });
    Ok(answered.collect())
}

pub(super) fn unread(error: impl std::fmt::Display) -> Error {
    Error::Request(format!("read a comparison from the device: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{differing_bytes, differing_pairs, differing_rows, equal};
    use mlx_rs::Array;

    #[test]
    fn bits_decide_and_not_numbers() {
        let nan = Array::from_slice(&[f32::NAN, 1.0], &[2]);
        assert!(equal(&nan, &nan.clone()).unwrap());
        let (plus, minus) = (Array::from_slice(&[0f32], &[1]), Array::from_slice(&[-0f32], &[1]));
        assert!(!equal(&plus, &minus).unwrap());
        assert!(!equal(&plus, &Array::from_slice(&[0i32], &[1])).unwrap(), "another dtype");
    }

    #[test]
    fn rows_lie_along_any_axis() {
        let left = Array::from_slice(&[0f32, 1., 2., 3., 4., 5., 6., 7.], &[1, 2, 4]);
        let right = Array::from_slice(&[0f32, 1., 2., 3., 4., 5., 6.5, 7.], &[1, 2, 4]);
        assert_eq!(differing_rows(&left, &right, 1).unwrap(), [false, true]);
        assert_eq!(differing_rows(&left, &right, 2).unwrap(), [false, false, true, false]);
        // 6.0 is 40c00000 and 6.5 is 40d00000.
        assert_eq!(differing_bytes(&left, &right, 2).unwrap(), [0, 0, 1, 0]);
        assert!(differing_bytes(&left, &right.reshape(&[1, 4, 2]).unwrap(), 1).is_err());
    }

    #[test]
    fn pairs_are_answered_in_their_order() {
        let one = Array::from_slice(&[1f32, 2.], &[2]);
        let two = Array::from_slice(&[1f32, 3.], &[2]);
        let short = Array::from_slice(&[1f32], &[1]);
        let pairs =
            [(one.clone(), one.clone()), (one.clone(), short), (one, two.clone()), (two.clone(), two)];
        assert_eq!(differing_pairs(&pairs).unwrap(), [false, true, true, false]);
        assert!(differing_pairs(&[]).unwrap().is_empty());
    }
}
