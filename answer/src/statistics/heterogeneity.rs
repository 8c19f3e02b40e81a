//! Whether several estimates of one effect, such as days, differ by more than their errors.

use super::sums::sum;
use serde::{Deserialize, Serialize};

/// How much effects differ beyond their own errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Heterogeneity {
    /// Cochran's Q: the sum of squared differences from the common effect, each over its variance.
    pub q: f64,
    /// Degrees of freedom of Q: the number of effects less one.
    pub freedom: u32,
    /// How often Q would be as large if all effects were the same.
    pub p_value: f64,
    /// Share of the variance of the effects that their own errors do not explain, from 0 to 1.
    pub i_squared: f64,
    /// Standard deviation of the true effects, on the scale of the effects.
    pub deviation: f64,
}

/// Returns how much `effects` with these standard errors differ; None for fewer than two with an error.
///
/// Effects whose error is not positive and finite are left out. With few effects, and where errors come from few
/// replications, Q's distribution is only approximate, and I² is uncertain.
///
/// Sources: W. G. Cochran, "The combination of estimates from different experiments", Biometrics 10 (1954); J. P. T.
/// Higgins & S. G. Thompson, "Quantifying heterogeneity in a meta-analysis", Statistics in Medicine 21 (2002), for I²;
/// R. DerSimonian & N. Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7 (1986), for the
/// deviation.
///
/// # Panics
/// If there is not one error for each effect.
pub fn heterogeneity(effects: &[f64], errors: &[f64]) -> Option<Heterogeneity> {
    assert_eq!(effects.len(), errors.len(), "each effect has an error");
    let (means, weights): (Vec<f64>, Vec<f64>) = effects
        .iter()
        .zip(errors)
        .filter(|(mean, error)| mean.is_finite() && error.is_finite() && **error > 0.0)
        .map(|(mean, error)| (*mean, 1.0 / (error * error)))
        .unzip();
    if means.len() < 2 {
        return None;
    }
    let weighted = |value: &dyn Fn(f64) -> f64| {
        sum(&means.iter().zip(&weights).map(|(mean, weight)| weight * value(*mean)).collect::<Vec<_>>())
    };
    let whole = sum(&weights);
    let common = weighted(&|mean| mean) / whole;
    let q = weighted(&|mean| (mean - common) * (mean - common));
    let freedom = means.len() as u32 - 1;
    let scale = whole - sum(&weights.iter().map(|weight| weight * weight).collect::<Vec<_>>()) / whole;
    let beyond = (q - f64::from(freedom)).max(0.0);
    Some(Heterogeneity {
        q,
        freedom,
        p_value: chi_square_upper_tail(q, freedom),
        i_squared: if q > 0.0 { beyond / q } else { 0.0 },
        deviation: (beyond / scale).sqrt(),
    })
}

/// Returns the probability that the χ² distribution with `freedom` degrees of freedom, at least
/// one, exceeds a value that is not negative.
///
/// The upper incomplete gamma function of a multiple of one half, by its recurrence Γ(a + 1, x) = a
/// Γ(a, x) + xᵃ e⁻ˣ from Γ(1, x) = e⁻ˣ or Γ(½, x) = √π erfc √x.
fn chi_square_upper_tail(value: f64, freedom: u32) -> f64 {
    let half = value / 2.0;
    let (mut tail, first) = match freedom % 2 {
        0 => (libm::exp(-half), 1.0),
        _ => (libm::erfc(half.sqrt()), 0.5),
    };
    for step in 0..(freedom.saturating_sub(1) / 2) {
        let a = first + f64::from(step);
        tail += libm::exp(a * libm::log(half) - half - libm::lgamma(a + 1.0));
    }
    tail
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn heterogeneity__of_equal_weights_by_hand() {
        let found = heterogeneity(&[1.0, 2.0, 3.0, f64::NAN], &[0.5, 0.5, 0.5, 1.0]).unwrap();
        // Weights 4, common effect 2: Q = 4 · (1 + 0 + 1) = 8, and for two degrees of freedom the tail is exp(−Q/2).
        assert_eq!((found.q, found.freedom), (8.0, 2));
        assert!((found.p_value - libm::exp(-4.0)).abs() < 1e-15);
        assert_eq!(found.i_squared, 0.75);
        assert!((found.deviation - (6.0f64 / 8.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn heterogeneity__needs_two_effects_with_an_error() {
        assert_eq!(heterogeneity(&[1.0, 2.0], &[1.0, 0.0]), None);
        let same = heterogeneity(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!((same.q, same.p_value, same.i_squared, same.deviation), (0.0, 1.0, 0.0, 0.0));
    }

    #[test]
    fn chi_square_upper_tail__is_that_of_published_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.4.
        for (value, freedom, tail) in
            [(3.841, 1, 0.05), (11.070, 5, 0.05), (23.209, 10, 0.01), (124.342, 100, 0.05)]
        {
            assert!((chi_square_upper_tail(value, freedom) / tail - 1.0).abs() < 1e-3, "{value} {freedom}");
        }
    }
}
