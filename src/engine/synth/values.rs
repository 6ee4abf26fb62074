//! Fills blocks of tensors with numbers of the right spread.

use super::packed::Part;
use super::plan::Stored;
use super::random::Generator;
use crate::engine::checkpoint::{Dtype, Quantization};
use half::bf16;

/// Elements drawn by one generator. Part of what fixes the bytes.
pub(super) const BLOCK: usize = 1 << 18;

/// What a tensor is filled with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Values {
    /// Bell-shaped numbers.
    Bell { mean: f32, deviation: f32 },
    /// 32 random bits: every code is equally likely.
    Codes,
    /// One scale a group, so that uniform codes of that many levels give the deviation; they vary by a quarter.
    Scales { levels: u16, deviation: f32 },
    /// The bias that centres the codes of the group with the scale of the same stream.
    Biases { levels: u16, deviation: f32 },
    /// Bell-shaped f32 numbers that become codes or scales, so many in an element.
    Packed { deviation: f32, how: Quantization, part: Part, per_element: usize },
    /// `ln A`, A from 0.5 to 16: how fast a state forgets, as Mamba-2 draws it.
    DecayLog,
    /// The value whose softplus is a step from 0.001 to 0.1, uniform in the logarithm.
    StepBias,
}

/// The numbers of one block of a tensor, little endian: its bytes, or f32 that are still to be packed.
pub(super) fn block(stored: &Stored, seed: u64, index: usize) -> Vec<u8> {
    let count = BLOCK.min(stored.draws() - index * BLOCK);
    let mut generator = Generator::new(seed, &stored.stream, index as u64);
    let width = if matches!(stored.values, Values::Packed { .. }) { 4 } else { stored.width() };
    let mut bytes = Vec::with_capacity(count * width + 4);
    for step in 0..count {
        match (stored.values, stored.dtype) {
            (Values::Codes, _) if step % 2 == 0 => bytes.extend(generator.bits().to_le_bytes()),
            (Values::Codes, _) => {} // the other half of the last draw
            (values @ Values::Packed { .. }, _) | (values, Dtype::F32) => {
                bytes.extend(number(values, &mut generator).to_le_bytes());
            }
            (values, _) => bytes.extend(bf16::from_f32(number(values, &mut generator)).to_le_bytes()),
        }
    }
    bytes.truncate(count * width);
    bytes
}

fn number(values: Values, generator: &mut Generator) -> f32 {
    match values {
        Values::Bell { mean, deviation } => mean + deviation * generator.bell(),
        Values::Packed { deviation, .. } => deviation * generator.bell(),
        Values::Codes => 0.0, // drawn whole in `block`
        Values::Scales { levels, deviation } => scale(levels, deviation, generator),
        Values::Biases { levels, deviation } => {
            let stored = bf16::from_f32(scale(levels, deviation, generator)).to_f32();
            -f32::from(levels - 1) / 2.0 * stored
        }
        Values::DecayLog => (0.5 + 15.5 * generator.uniform()).ln(),
        Values::StepBias => step_bias(generator.uniform()),
    }
}

/// `deviation` over the deviation of uniform codes, times 0.75 to 1.25.
fn scale(levels: u16, deviation: f32, generator: &mut Generator) -> f32 {
    let levels = f32::from(levels);
    let codes = ((levels * levels - 1.0) / 12.0).sqrt();
    deviation / codes * (0.75 + 0.5 * generator.uniform())
}

/// The inverse of softplus at a step between 0.001 and 0.1.
fn step_bias(uniform: f32) -> f32 {
    let step = (f64::from(uniform) * 100_f64.ln() + 0.001_f64.ln()).exp();
    #[expect(clippy::cast_possible_truncation, reason = "stored in 16 bits")]
    let bias = step.exp_m1().ln() as f32;
    bias
}

#[cfg(test)]
mod tests {
    use super::{Values, number, step_bias};
    use crate::engine::synth::random::Generator;
    use half::bf16;

    #[test]
    fn steps_stay_in_their_range() {
        for (uniform, step) in [(0.0, 0.001), (0.5, 0.01), (0.999_999, 0.1)] {
            let softplus = f64::from(step_bias(uniform)).exp().ln_1p();
            assert!((softplus / step - 1.0).abs() < 1e-3, "{uniform}: {softplus}");
        }
    }

    #[test]
    fn biases_centre_the_codes_of_their_own_scale() {
        let (levels, deviation) = (16, 0.05);
        let (mut one, mut other) = (Generator::new(3, "m", 0), Generator::new(3, "m", 0));
        for _ in 0..100 {
            let scale = bf16::from_f32(number(Values::Scales { levels, deviation }, &mut one)).to_f32();
            let bias = number(Values::Biases { levels, deviation }, &mut other);
            assert!((bias + 7.5 * scale).abs() < 1e-9);
            // Uniform codes of 16 levels have deviation 4.61.
            assert!((0.74..1.26).contains(&(scale * 4.609_772 / deviation)));
        }
    }
}
