//! A small generator whose sequences are fixed by this file, not by the version of a library.
//!
//! Every block of every tensor has a generator of its own, seeded from the seed, the tensor's name and the block's
//! number. So the bytes depend neither on the order of writing nor on the number of threads.

/// xoshiro256++, seeded through `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Generator([u64; 4]);

impl Generator {
    /// The generator of one block of one tensor.
    pub(super) fn new(seed: u64, tensor: &str, block: u64) -> Self {
        let mut state = seed ^ fnv(tensor).rotate_left(17) ^ block.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self([(); 4].map(|()| split_mix(&mut state)))
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Uniform from 0 up to, not including, 1, in steps of 2⁻²⁴.
    pub(super) fn uniform(&mut self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "24 bits are exact in f32")]
        let steps = (self.bits() >> 40) as f32;
        steps / 16_777_216.0
    }

    /// Bell-shaped with mean 0 and deviation 1, within ±3.47: the sum of four 16-bit numbers, in exact arithmetic.
    pub(super) fn bell(&mut self) -> f32 {
        /// Deviation of the sum of four uniform 16-bit numbers, 65536 / √3.
        const DEVIATION: f32 = 37_837.23;
        let bits = self.bits();
        let sum: u64 = [0, 16, 32, 48].iter().map(|shift| bits >> shift & 0xFFFF).sum();
        #[expect(clippy::cast_precision_loss, reason = "18 bits are exact in f32")]
        let sum = sum as f32;
        (sum - 131_070.0) / DEVIATION
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::{Generator, fnv, split_mix};

    #[test]
    fn published_vectors() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
        let mut generator = Generator([1, 2, 3, 4]);
        assert_eq!([(); 3].map(|()| generator.bits()), [41_943_041, 58_720_359, 3_588_806_011_781_223]);
        assert_eq!(fnv("a"), 0xAF63_DC4C_8601_EC8C);
    }

    #[test]
    fn the_bell_has_mean_0_and_deviation_1() {
        let mut generator = Generator::new(7, "tensor", 0);
        let values: Vec<f64> = (0..100_000).map(|_| f64::from(generator.bell())).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (square - 1.0).abs() < 0.02, "mean {mean}, square {square}");
    }

    #[test]
    fn seed_name_and_block_all_matter() {
        let first = |seed, name, block| Generator::new(seed, name, block).bits();
        let all = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1)];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value));
        }
    }
}
