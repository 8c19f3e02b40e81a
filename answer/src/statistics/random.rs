//! Random draws of the bootstrap: a fixed function of a seed, the same on every machine.

/// Draws numbers from a seed by `SplitMix64`.
///
/// Source: G. L. Steele, D. Lea & C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub struct Draws {
    state: u64,
    spare: Option<f64>,
}

impl Draws {
    /// Begins the sequence of a seed, which is the generator's first state.
    pub fn new(seed: u64) -> Draws {
        Draws { state: seed, spare: None }
    }

    /// Returns the next 64 bits and advances the state.
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number above −1 and below 1, uniformly distributed, of the next 64 bits.
    fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        2.0 * (((self.bits() >> 11) as f64 + 0.5) * STEP) - 1.0
    }

    /// Returns a normally distributed number of mean 0 and variance 1. They are made in pairs:
    /// every other call makes two and keeps one for the next call.
    ///
    /// Source: G. Marsaglia & T. A. Bray, "A convenient method for generating normal variables",
    /// SIAM Review 6 (1964).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (one, other) = (self.uniform(), self.uniform());
            let square = one * one + other * other;
            if square < 1.0 && square > 0.0 {
                let scale = (-2.0 * libm::log(square) / square).sqrt();
                self.spare = Some(other * scale);
                return one * scale;
            }
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::statistics::sums::{deviation, mean};

    #[test]
    fn bits__are_those_of_the_published_generator() {
        // The first outputs of the reference implementation (splitmix64.c, S. Vigna) from the state 1234567.
        let mut draws = Draws::new(1_234_567);
        assert_eq!(draws.bits(), 6_457_827_717_110_365_317);
        assert_eq!(draws.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn normal__has_its_moments_and_repeats() {
        let draw = |seed| {
            let mut draws = Draws::new(seed);
            (0..40_000).map(|_| draws.normal()).collect::<Vec<f64>>()
        };
        let values = draw(1);
        assert!(mean(&values).abs() < 0.015 && (deviation(&values) - 1.0).abs() < 0.01);
        let beyond = values.iter().filter(|value| value.abs() > 1.959_963_985).count() as f64 / 40_000.0;
        assert!((beyond - 0.05).abs() < 0.004, "{beyond}");
        assert_eq!(values[..9], draw(1)[..9]);
        assert_ne!(values[0], draw(2)[0]);
    }
}
