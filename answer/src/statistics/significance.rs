//! P-values of means, and their correction for many of them.

use super::student::{regularised_beta, upper_tail};
use super::sums::{deviation, mean, select_finite};

/// Returns the doubled one-sided p-value of the mean lying above `end`; with `is_above` false,
/// below it.
///
/// It is that of Student's t test, doubled as an interval has two sides, and at most 1. Values that
/// are not finite are left out. If `end` is not finite it is 0, of values without spread 0 or 1,
/// and of fewer than two values 1.
pub fn p_beyond(values: &[f64], end: f64, is_above: bool) -> f64 {
    if !end.is_finite() {
        return 0.0;
    }
    let values = select_finite(values);
    let apart = mean(&values) - end;
    let distance = if is_above { apart } else { -apart };
    let error = deviation(&values) / (values.len() as f64).sqrt();
    if error == 0.0 {
        return if distance > 0.0 { 0.0 } else { 1.0 };
    }
    (2.0 * upper_tail(distance / error, values.len() as f64 - 1.0)).min(1.0)
}

/// Returns the two-sided p-value of a mean that lies `distance`, of either sign, from what is
/// tested, with this standard error.
///
/// Without an error it is 1 if there is no distance, and else 0.
pub fn find_p_value(distance: f64, error: f64, freedom: f64) -> f64 {
    if error == 0.0 {
        return if distance == 0.0 { 1.0 } else { 0.0 };
    }
    2.0 * upper_tail(distance.abs() / error, freedom)
}

/// Returns the p-values, in their order, adjusted by Holm's step-down procedure; what is not finite
/// becomes NaN and does not count.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
/// of Statistics 6 (1979).
pub fn adjust_by_holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|index| p_values[*index].is_finite()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut so_far = 0.0f64;
    for (rank, index) in order.iter().enumerate() {
        so_far = so_far.max((p_values[*index] * (order.len() - rank) as f64).min(1.0));
        adjusted[*index] = so_far;
    }
    adjusted
}

/// Returns the interval of this level of a share that `count` of `of` trials had; `count` is at
/// most `of`. Without trials it is from 0 to 1.
///
/// Source: C. J. Clopper & E. S. Pearson, "The use of confidence or fiducial limits illustrated in
/// the case of the binomial", Biometrika 26 (1934); its ends are quantiles of beta distributions,
/// found by bisection.
pub fn binomial_interval(count: u32, of: u32, level: f64) -> (f64, f64) {
    let (count, of, tail) = (f64::from(count), f64::from(of), (1.0 - level) / 2.0);
    let quantile = |share: f64, a: f64, b: f64| {
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if regularised_beta(a, b, middle) < share { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    };
    let low = if count > 0.0 { quantile(tail, count, of - count + 1.0) } else { 0.0 };
    let high = if count < of { quantile(1.0 - tail, count + 1.0, of - count) } else { 1.0 };
    (low, high)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn binomial_interval__of_published_examples() {
        // None of n: 1 − (α/2)^(1/n). Eight of ten: 0.4439 to 0.9748, as statistics packages give it.
        assert_eq!(binomial_interval(0, 20, 0.95).0, 0.0);
        assert!((binomial_interval(0, 20, 0.95).1 - (1.0 - libm::pow(0.025, 0.05))).abs() < 1e-14);
        let (low, high) = binomial_interval(8, 10, 0.95);
        assert!((low - 0.443905).abs() < 1e-6 && (high - 0.974789).abs() < 1e-6, "{low} {high}");
        assert_eq!(binomial_interval(5, 5, 0.95).1, 1.0);
    }

    #[test]
    fn adjust_by_holm__steps_down_and_skips_what_is_unknown() {
        // The example of R's p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm").
        assert_eq!(adjust_by_holm(&[0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06]);
        let found = adjust_by_holm(&[0.04, f64::NAN, 0.01, 0.8]);
        assert!(found[1].is_nan());
        assert_eq!([found[0], found[2], found[3]], [0.08, 0.03, 0.8]);
        assert_eq!(adjust_by_holm(&[0.6, 0.7]), [1.0, 1.0]);
    }

    #[test]
    fn p_values__of_students_sleep_data() {
        // Statistics packages give t = 4.0621, p = 0.002833 for the paired test.
        let more = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let two_sided = p_beyond(&more, 0.0, true);
        assert!((two_sided - 0.00283289).abs() < 5e-9, "{two_sided}");
        assert!((p_beyond(&more, 0.0, false) - 1.0).abs() < 1e-15);
        let error = deviation(&more) / 10f64.sqrt();
        assert!((find_p_value(-mean(&more), error, 9.0) - two_sided).abs() < 1e-15);
    }

    #[test]
    fn p_values__without_spread_are_certain() {
        assert_eq!([p_beyond(&[2.0; 5], 1.0, true), p_beyond(&[2.0; 5], 1.0, false)], [0.0, 1.0]);
        assert_eq!(p_beyond(&[2.0; 5], f64::INFINITY, false), 0.0);
        assert_eq!([find_p_value(0.0, 0.0, 4.0), find_p_value(0.1, 0.0, 4.0)], [1.0, 0.0]);
    }
}
