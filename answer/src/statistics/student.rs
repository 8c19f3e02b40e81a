//! Student's t distribution with any positive number of degrees of freedom, whole or not.

use special::Beta;

/// Returns the probability of a value above `t`, which may be infinite; NaN if one of both is.
/// `freedom` is positive.
pub fn upper_tail(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - upper_tail(-t, freedom);
    }
    if t.is_infinite() {
        0.0
    } else {
        regularised_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)) / 2.0
    }
}

/// Returns the regularised incomplete beta function: the probability that a value of the beta distribution of
/// `a` and `b`, both positive, is below `x`. NaN if one of them is.
pub(super) fn regularised_beta(a: f64, b: f64, x: f64) -> f64 {
    if [a, b, x].iter().any(|number| number.is_nan()) { f64::NAN } else { x.inc_beta(a, b, a.ln_beta(b)) }
}

/// Returns the value that is exceeded with this probability, which is above zero and below one
/// half; NaN if `freedom` is.
///
/// Newton's method on the logarithms of both: the logarithm of the tail is a concave and falling
/// function of the logarithm of `t`, so the steps approach the root from one side after the first.
pub fn upper_quantile(probability: f64, freedom: f64) -> f64 {
    const STEPS: usize = 60;
    let wanted = libm::log(probability);
    let mut log_t = libm::log(2.0);
    for _ in 0..STEPS {
        let t = libm::exp(log_t);
        let tail = upper_tail(t, freedom);
        let step = (libm::log(tail) - wanted) * tail / (t_density(t, freedom) * t);
        log_t += step;
        if step.abs() < 1e-14 || !step.is_finite() {
            break;
        }
    }
    libm::exp(log_t)
}

/// Returns the density of Student's t distribution at `t`.
fn t_density(t: f64, freedom: f64) -> f64 {
    let log = -(freedom + 1.0) / 2.0 * libm::log1p(t * t / freedom) - (freedom / 2.0).ln_beta(0.5);
    libm::exp(log) / freedom.sqrt()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Asserts that a number is near another, with a relative error of less than 1e-12.
    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn upper_quantile__is_that_of_published_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2: three decimals.
        let table = [
            (0.025, 1.0, 12.706),
            (0.025, 4.0, 2.776),
            (0.025, 9.0, 2.262),
            (0.025, 100.0, 1.984),
            (0.005, 3.0, 5.841),
            (0.001, 2.0, 22.327),
            (0.05, 30.0, 1.697),
            (0.001, 60.0, 3.232),
        ];
        for (tail, freedom, published) in table {
            assert!((upper_quantile(tail, freedom) - published).abs() < 6e-4, "{tail} {freedom}");
        }
    }

    #[test]
    fn upper_quantile__is_exact_where_there_is_a_formula() {
        for tail in [0.4, 0.1, 0.025, 1e-3, 1e-6] {
            // One degree of freedom is Cauchy's distribution, and for two there is a closed form.
            assert_near(upper_quantile(tail, 1.0), 1.0 / libm::tan(std::f64::consts::PI * tail));
            let alpha = 4.0 * tail * (1.0 - tail);
            assert_near(upper_quantile(tail, 2.0), 2.0 * (0.5 - tail) * (2.0 / alpha).sqrt());
        }
    }

    #[test]
    fn upper_tail__takes_back_the_quantile() {
        for freedom in [1.0, 1.7, 4.0, 9.0, 33.3, 999.0] {
            for tail in [0.3, 0.025, 0.0025, 1e-5] {
                assert_near(upper_tail(upper_quantile(tail, freedom), freedom), tail);
            }
        }
        assert_near(upper_tail(-1.0, 1.0), 0.75);
        assert_eq!(upper_tail(f64::INFINITY, 3.0), 0.0);
    }
}
