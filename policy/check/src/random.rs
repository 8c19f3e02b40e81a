//! Random numbers whose distributions favour the ends of ranges and small magnitudes.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A stream of random values. The same seed gives the same stream.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Returns the stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.random()
    }

    /// Returns `true` with probability 1 / `n`, which is at least 1.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.0.random_range(0..n) == 0
    }

    /// Returns a uniform number in `0..=most`.
    pub fn up_to(&mut self, most: u64) -> u64 {
        self.0.random_range(0..=most)
    }

    /// Returns one of several values, each with the same probability; there must be at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.random_range(0..from.len())]
    }

    /// Returns a number in `0..=most`: uniform after a uniform choice of the number of bits.
    pub fn spread(&mut self, most: u64) -> u64 {
        let bits = self.0.random_range(0..=64 - most.leading_zeros());
        let below = 1u64.checked_shl(bits).map_or(u64::MAX, |power| power - 1);
        self.up_to(most.min(below))
    }

    /// Returns a number in `least..=most` whose logarithm is uniform; `least` is positive.
    pub fn real(&mut self, least: f64, most: f64) -> f64 {
        let fraction: f64 = self.0.random();
        (least * libm::pow(most / least, fraction)).clamp(least, most)
    }

    /// Returns a uniform number in `least..=most`.
    pub fn uniform(&mut self, least: f64, most: f64) -> f64 {
        let fraction: f64 = self.0.random();
        (least + (most - least) * fraction).clamp(least, most)
    }

    /// Returns `x - 1`, `x` or `x + 1`, without a wrap.
    pub fn neighbour(&mut self, x: u64) -> u64 {
        let by = self.up_to(2);
        x.saturating_add(by).saturating_sub(1)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn spread__reaches_both_ends_and_stays_between() {
        let mut random = Random::new(1);
        for most in [0, 1, 5, 1 << 40, u64::MAX] {
            let drawn: Vec<u64> = (0..2000).map(|_| random.spread(most)).collect();
            assert!(drawn.iter().all(|x| *x <= most));
            assert!(drawn.contains(&0) && drawn.iter().any(|x| *x > most / 2 || most == 0));
        }
    }

    #[test]
    fn streams__repeat_by_seed() {
        let (mut one, mut other) = (Random::new(5), Random::new(5));
        assert!((0..100).all(|_| one.bits() == other.bits()));
        assert_ne!(Random::new(6).bits(), Random::new(5).bits());
    }
}
