//! By how much two rows differ, told on the device: counts, distances and a place come to the host, and two numbers.
//!
//! It answers what [`bits::compare`](crate::algebra::bits::compare) answers of bytes on the host. One thing is less:
//! which pair lies furthest apart is decided in 32 bits.

use super::compare::{bits, differing_bytes, unread};
use crate::engine::error::Result;
use crate::results::bisect::Amplitude;
use mlx_rs::ops::indexing::{argmax, take};
use mlx_rs::ops::{abs, lt, maximum, ne, negative, select, subtract};
use mlx_rs::{Array, Dtype};

/// The bits of infinity and of a sign; nothing of a dtype whose distances mean nothing.
fn marks(dtype: Dtype) -> Option<(i64, i64)> {
    Some(match dtype {
        Dtype::Float32 => (0x7f80_0000, 1 << 31),
        Dtype::Bfloat16 => (0x7f80, 1 << 15),
        Dtype::Float16 => (0x7c00, 1 << 15),
        _ => return None,
    })
}

/// How two arrays of one shape and dtype differ; of what is no float, the numbers of experts say, only the bytes count.
///
/// # Errors
/// When shapes or dtypes differ, or MLX refuses.
pub(super) fn amplitude(left: &Array, right: &Array) -> Result<Amplitude> {
    let (left, right) = (left.reshape(&[1, -1])?, right.reshape(&[1, -1])?);
    let bytes = differing_bytes(&left, &right, 0)?.first().copied().unwrap_or(0);
    let apart = ne(bits(&left)?, bits(&right)?)?; // [1, values]
    let values = number(&apart.as_dtype(Dtype::Int64)?.sum(false)?)?;
    let first = number(&argmax(&apart, false)?.as_dtype(Dtype::Int64)?)?;
    let (max_ulps, max_abs) = distances(&left, &right)?.unwrap_or((0, 0.0));
    Ok(Amplitude {
        bytes: (bytes, left.nbytes() as u64),
        values: (values, left.size() as u64),
        max_ulps,
        max_abs,
        first: (values > 0).then_some(first),
    })
}

/// The largest distances between two finite numbers: representable steps, and the numbers' own.
fn distances(left: &Array, right: &Array) -> Result<Option<(u64, f64)>> {
    let Some((infinity, sign)) = marks(left.dtype()).filter(|_| left.size() > 0) else { return Ok(None) };
    let (one, other) = (ranked(left, sign)?, ranked(right, sign)?); // (magnitude, rank), [1, values]
    let finite = lt(maximum(&one.0, &other.0)?, whole(infinity))?;
    let none = whole(0);
    let steps = select(&finite, abs(subtract(&one.1, &other.1)?)?, none)?;
    let wide = |array: &Array| array.as_dtype(Dtype::Float32);
    let apart = abs(subtract(wide(left)?, wide(right)?)?)?;
    let furthest = argmax(select(&finite, apart, Array::from_f32(-1.0))?, false)?;
    let at = |array: &Array| -> Result<f64> {
        let one = take(wide(array)?.flatten(None, None)?, &furthest)?;
        Ok(f64::from(one.try_item_exact::<f32>().map_err(unread)?))
    };
    let pair = (at(left)?, at(right)?);
    // Where nothing is finite, the place that was found means nothing.
    let max_abs = if pair.0.is_finite() && pair.1.is_finite() { (pair.0 - pair.1).abs() } else { 0.0 };
    Ok(Some((number(&steps.max(false)?)?, max_abs)))
}

/// The bits without the sign, and the number's place among all numbers, zero at 0.
fn ranked(array: &Array, sign: i64) -> Result<(Array, Array)> {
    let all = bits(array)?.as_dtype(Dtype::Int64)?;
    let positive = lt(&all, whole(sign))?;
    let magnitude = select(&positive, &all, subtract(&all, whole(sign))?)?;
    let rank = select(&positive, &magnitude, negative(&magnitude)?)?;
    Ok((magnitude, rank))
}

fn whole(number: i64) -> Array {
    Array::from_slice(&[number], &[])
}

fn number(scalar: &Array) -> Result<u64> {
    let number = scalar.try_item_exact::<i64>().map_err(unread)?;
    Ok(u64::try_from(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::amplitude;
    use crate::algebra::bits::{self, Dtype as Bits};
    use crate::engine::raw::from_bytes;
    use crate::results::bisect::Amplitude;
    use mlx_rs::Dtype;
    use proptest::prelude::*;

    proptest! {
        /// Against the comparison of bytes on the host: any bits, some of them equal.
        #[test]
        fn the_device_says_what_the_host_says(
            pairs in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 1..40),
            which in 0usize..3,
        ) {
            let (dtype, host) = [
                (Dtype::Float32, Bits::F32), (Dtype::Bfloat16, Bits::Bf16), (Dtype::Float16, Bits::F16),
            ][which];
            let size = host.size();
            let low = |bits: u32| bits.to_le_bytes()[4 - size..].to_vec();
            let left: Vec<u8> = pairs.iter().flat_map(|(a, _, _)| low(*a)).collect();
            let right: Vec<u8> =
                pairs.iter().flat_map(|(a, b, same)| low(if *same { *a } else { *b })).collect();
            let shape = [i32::try_from(pairs.len()).unwrap()];
            let array = |bytes: &[u8]| from_bytes(bytes.to_vec(), &shape, dtype).unwrap();
            let found = amplitude(&array(&left), &array(&right)).unwrap();
            let expected = Amplitude::of(&bits::compare(host, &left, &right).unwrap());
            let close = (found.max_abs - expected.max_abs).abs() <= 1e-6 * expected.max_abs;
            prop_assert!(close, "{} for {}", found.max_abs, expected.max_abs);
            prop_assert_eq!(Amplitude { max_abs: 0.0, ..found }, Amplitude { max_abs: 0.0, ..expected });
        }
    }
}
