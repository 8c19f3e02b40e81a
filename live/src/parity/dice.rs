//! Random numbers that like edges.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A stream of random values; the same seed gives the same.
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.random()
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.0.random_range(0..n) == 0
    }

    /// Uniform on `0..=most`.
    pub fn up_to(&mut self, most: u64) -> u64 {
        self.0.random_range(0..=most)
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.random_range(0..from.len())]
    }

    /// `0..=most`, every magnitude as likely as any other.
    pub fn spread(&mut self, most: u64) -> u64 {
        let bits = self.0.random_range(0..=64 - most.leading_zeros());
        let below = 1u64.checked_shl(bits).map_or(u64::MAX, |power| power - 1);
        self.up_to(most.min(below))
    }

    /// The same in 32 bits.
    pub fn spread32(&mut self, most: u32) -> u32 {
        self.spread(u64::from(most)) as u32
    }

    /// `least..=most`, every magnitude as likely as any other.
    pub fn real(&mut self, least: f64, most: f64) -> f64 {
        let fraction: f64 = self.0.random();
        (least * (most / least).powf(fraction)).clamp(least, most)
    }

    /// `x`, or its neighbour on either side.
    pub fn near(&mut self, x: u64) -> u64 {
        self.pick(&[x.saturating_sub(1), x, x.saturating_add(1)])
    }

    /// The same in 32 bits.
    pub fn near32(&mut self, x: u32) -> u32 {
        self.pick(&[x.saturating_sub(1), x, x.saturating_add(1)])
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn spread__reaches_both_ends_and_stays_between() {
        let mut dice = Dice::new(1);
        for most in [0, 1, 5, 1 << 40, u64::MAX] {
            let drawn: Vec<u64> = (0..2000).map(|_| dice.spread(most)).collect();
            assert!(drawn.iter().all(|x| *x <= most));
            assert!(drawn.contains(&0) && drawn.iter().any(|x| *x > most / 2 || most == 0));
        }
    }

    #[test]
    fn dice__repeat() {
        let (mut one, mut other) = (Dice::new(5), Dice::new(5));
        assert!((0..100).all(|_| one.bits() == other.bits()));
        assert_ne!(Dice::new(6).bits(), Dice::new(5).bits());
    }
}
