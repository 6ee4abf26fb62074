//! Drafters that know the answer, or nothing: they reach chosen accepted counts, or hardly any.

use super::{Context, Drafter};
use crate::engine::error::Result;
use crate::transcript::TokenId;

/// Knows the plain stream and proposes it up to a chosen accepted count, then a wrong token.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// Plain decoding's stream.
    pub reference: Vec<TokenId>,
    /// Accepted counts, one a round, over and over; never empty. `usize::MAX` accepts all.
    pub counts: Vec<usize>,
    /// Ids in the vocabulary.
    pub vocabulary: usize,
}

impl Drafter for Cycle {
    fn propose(&mut self, context: &Context<'_>, count: usize) -> Result<Vec<TokenId>> {
        let round = usize::try_from(context.round).unwrap_or(0);
        let right = self.counts[round % self.counts.len()];
        let next = (context.stream.len()..).take(count).enumerate();
        Ok(next.map(|(place, index)| self.token(index, place < right)).collect())
    }
}

impl Cycle {
    /// The plain stream's token at `index`, or another one; past the stream's end, id 0.
    fn token(&self, index: usize, right: bool) -> TokenId {
        let Some(&token) = self.reference.get(index) else { return 0 };
        let vocabulary = i64::try_from(self.vocabulary).unwrap_or(i64::MAX);
        if right { token } else { (token + 1) % vocabulary }
    }
}

/// Proposes ids drawn evenly from the vocabulary.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
    vocabulary: usize,
}

impl Random {
    /// The same seed gives the same proposals.
    #[must_use]
    pub fn new(seed: u64, vocabulary: usize) -> Self {
        Self { state: seed, vocabulary }
    }

    /// The `SplitMix64` step (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Drafter for Random {
    fn propose(&mut self, _context: &Context<'_>, count: usize) -> Result<Vec<TokenId>> {
        let vocabulary = self.vocabulary.max(1) as u64;
        Ok((0..count).map(|_| i64::try_from(self.next() % vocabulary).unwrap_or(0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Cycle, Random};
    use crate::engine::drafter::{Context, Drafter};

    #[test]
    fn a_cycle_is_right_up_to_its_count() {
        let mut drafter = Cycle { reference: vec![7, 8, 9, 4, 5], counts: vec![0, 2], vocabulary: 10 };
        let mut at =
            |round, stream: &[i64]| drafter.propose(&Context { prompt: &[1], stream, round }, 3).unwrap();
        assert_eq!(at(0, &[7]), vec![9, 0, 5]);
        assert_eq!(at(1, &[7, 8]), vec![9, 4, 6]);
        assert_eq!(at(3, &[7, 8, 9, 4]), vec![5, 0, 0]);
    }

    #[test]
    fn splitmix_gives_its_published_numbers() {
        let mut drafter = Random::new(1_234_567, 10);
        assert_eq!(drafter.next(), 6_457_827_717_110_365_317);
        assert_eq!(drafter.next(), 3_203_168_211_198_807_973);
    }
}
