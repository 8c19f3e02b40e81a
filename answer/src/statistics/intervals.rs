//! Confidence intervals over replications: each replication gives one number per scheme.

use super::levels::{FIRST_LOOK, LEVEL, find_look, look_error, replications_of_look, simultaneous_error};
use super::student::upper_quantile;
use super::sums::{deviation, mean, select_finite, sum};
use serde::{Deserialize, Serialize};

/// Smallest number of replications that gives an interval.
pub const LEAST_REPLICATIONS: usize = 5;
/// More replications than this are not recommended.
pub const MOST_REPLICATIONS: u32 = 1000;

/// What an interval must allow for in addition to the spread between replications.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Number of independent intervals that must hold together; schemes that err together are fewer than their number.
    pub comparisons: f64,
    /// Whether the user may look, add replications and look again.
    pub is_sequential: bool,
    /// Number of replications up to which it is the first look; each further look doubles it.
    pub first_look: u32,
    /// Share of the variance between replications that more replications of the same capture do not reduce.
    pub capture_share: f64,
    /// Degrees of freedom that the capture leaves for the variance between captures.
    pub capture_freedom: f64,
}

impl Default for Design {
    /// Returns the design of a single interval of 95 % over replications that draw afresh.
    fn default() -> Design {
        Design {
            comparisons: 1.0,
            is_sequential: false,
            first_look: FIRST_LOOK,
            capture_share: 0.0,
            capture_freedom: f64::INFINITY,
        }
    }
}

impl Design {
    /// Returns the error probability that one interval from `count` replications may have: its part
    /// of 5 % by looks, if the user may look, and by comparisons.
    pub fn allowed_error(&self, count: u32) -> f64 {
        let whole = if self.is_sequential {
            look_error(u64::from(count), 1.0 - LEVEL, self.first_look)
        } else {
            1.0 - LEVEL
        };
        simultaneous_error(whole, self.comparisons)
    }

    /// Returns half the width of the interval of a mean over `count` replications, at least two, of
    /// this deviation.
    ///
    /// The mean varies by deviation² / count between repetitions with the same capture, and by
    /// `capture_share` · deviation² between captures.
    pub fn half_width(&self, deviation: f64, count: u32) -> f64 {
        upper_quantile(self.allowed_error(count) / 2.0, self.freedom(count))
            * deviation
            * self.standard_error_scale(count)
    }

    /// Returns the interval between the two one-sided limits of an estimate, each of which may err
    /// by `error`, which is below one half; without an interval, the estimate as it is. The mean
    /// stays, and the middle of the ends too.
    ///
    /// An effect is shown to lie within margins if both limits do, and beyond one margin if one
    /// limit does.
    ///
    /// Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
    /// approach for assessing the equivalence of average bioavailability", Journal of
    /// Pharmacokinetics and Biopharmaceutics 15 (1987).
    pub fn limits(&self, estimate: &Estimate, error: f64) -> Estimate {
        if !estimate.has_interval() {
            return *estimate;
        }
        let freedom = self.freedom(estimate.count);
        let narrower = upper_quantile(error, freedom)
            / upper_quantile(self.allowed_error(estimate.count) / 2.0, freedom);
        let middle = (estimate.low + estimate.high) / 2.0;
        let half = narrower * estimate.half_width();
        Estimate { low: middle - half, high: middle + half, ..*estimate }
    }

    /// Returns the standard error from which the interval of an estimate was made with this design;
    /// NaN without an interval.
    pub fn standard_error(&self, estimate: &Estimate) -> f64 {
        if !estimate.has_interval() {
            return f64::NAN;
        }
        estimate.half_width() / self.half_width(1.0, estimate.count)
            * self.standard_error_scale(estimate.count)
    }

    /// Returns the degrees of freedom of the variance of a mean over `count` replications, at least
    /// two; 1 at the least.
    ///
    /// The variance's relative error is that of the spread over replications, 2 / (count − 1), and
    /// for the part between captures also 2 / `capture_freedom`.
    ///
    /// Source: F. E. Satterthwaite, "An approximate distribution of estimates of variance
    /// components", Biometrics Bulletin 2 (1946): the degrees of freedom are two over the relative
    /// error.
    pub fn freedom(&self, count: u32) -> f64 {
        let weight = self.capture_share / (self.capture_share + 1.0 / f64::from(count));
        let of_capture = weight * weight / self.capture_freedom.max(1e-9);
        (1.0 / (1.0 / (f64::from(count) - 1.0) + of_capture)).max(1.0)
    }

    /// Returns the standard error of a mean over `count` replications, in standard deviations of one.
    fn standard_error_scale(&self, count: u32) -> f64 {
        (self.capture_share + 1.0 / f64::from(count)).sqrt()
    }
}

/// An estimate from `count` replications with its interval; undefined values are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate itself.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of replications.
    pub count: u32,
}

impl Estimate {
    /// Says that nothing is known.
    pub const UNKNOWN: Estimate = Estimate { mean: f64::NAN, low: f64::NAN, high: f64::NAN, count: 0 };

    /// Returns whether the estimate has an interval: there were enough replications, and both ends
    /// are finite.
    pub fn has_interval(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Returns half the width of the interval; NaN if there is none.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Returns the relative change that this log-ratio means, −0.3 for 30 % less; what is not
    /// finite becomes NaN.
    pub fn as_change(&self) -> Estimate {
        let change = |log: f64| if log.is_finite() { libm::expm1(log) } else { f64::NAN };
        Estimate {
            mean: change(self.mean),
            low: change(self.low),
            high: change(self.high),
            count: self.count,
        }
    }

    /// Returns the estimate of the negated quantity.
    pub fn negated(&self) -> Estimate {
        Estimate { mean: -self.mean, low: -self.high, high: -self.low, count: self.count }
    }

    /// Returns the estimate with the finite ends of its interval moved into the range of possible
    /// values; the mean stays.
    pub fn within(&self, least: f64, most: f64) -> Estimate {
        let inside = |end: f64| if end.is_finite() { end.max(least).min(most) } else { end };
        Estimate { low: inside(self.low), high: inside(self.high), ..*self }
    }
}

/// Returns mean and Student-t interval of one number per replication. Those not finite are left
/// out, also of the count. Without any nothing is known, and fewer than [`LEAST_REPLICATIONS`] give
/// no interval.
pub fn t_interval(values: &[f64], design: &Design) -> Estimate {
    let finite = select_finite(values);
    if finite.is_empty() {
        return Estimate::UNKNOWN;
    }
    interval_around(mean(&finite), &finite, design)
}

/// Returns the mean of scheme − reference with its Student-t interval, paired by replication; see
/// [`t_interval`].
///
/// # Panics
/// If the two have different lengths.
pub fn difference(scheme: &[f64], reference: &[f64], design: &Design) -> Estimate {
    assert_eq!(scheme.len(), reference.len(), "differences are paired by replication");
    t_interval(&scheme.iter().zip(reference).map(|(own, other)| own - other).collect::<Vec<_>>(), design)
}

/// Returns the logarithm of the ratio of scheme to reference, paired by replication, with its
/// Student-t interval.
///
/// The ratio is the geometric mean of the replications' ratios: each replication counts once,
/// however long its times are, and what makes all schemes slow in one replication cancels out of
/// its ratio. A value below 0 means that the scheme has the smaller values. Replications in which
/// either number is not finite are left out. Where a number is zero, as shares of lost packets may
/// be, the replication has no ratio, and the result is [`ratio_of_means`]. A negative number has no
/// ratio either, but its replication is left out.
///
/// # Panics
/// If the two have different lengths.
pub fn log_ratio(scheme: &[f64], reference: &[f64], design: &Design) -> Estimate {
    let logs = paired_log_ratios(scheme, reference);
    if logs.iter().any(|log| log.is_infinite()) {
        return ratio_of_means(scheme, reference, design);
    }
    t_interval(&logs, design)
}

/// Returns the logarithm of each replication's ratio of scheme to reference. It is NaN where either is not finite or is
/// negative, +∞ where only the reference is zero, and −∞ where the scheme is.
///
/// # Panics
/// If the two have different lengths.
pub fn paired_log_ratios(scheme: &[f64], reference: &[f64]) -> Vec<f64> {
    assert_eq!(scheme.len(), reference.len(), "ratios are paired by replication");
    let log = |(above, below): (&f64, &f64)| {
        if !(above.is_finite() && below.is_finite() && *above >= 0.0 && *below >= 0.0) {
            f64::NAN
        } else if *above == 0.0 {
            f64::NEG_INFINITY
        } else {
            libm::log(*above) - libm::log(*below)
        }
    };
    scheme.iter().zip(reference).map(log).collect()
}

/// Returns in how many replications the scheme has the smaller number, and in how many both numbers are finite.
///
/// # Panics
/// If the two have different lengths.
pub fn count_smaller(scheme: &[f64], reference: &[f64]) -> (u32, u32) {
    assert_eq!(scheme.len(), reference.len(), "ratios are paired by replication");
    let known = scheme.iter().zip(reference).filter(|(above, below)| above.is_finite() && below.is_finite());
    (known.clone().filter(|(above, below)| above < below).count() as u32, known.count() as u32)
}

/// Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by
/// replication.
///
/// Replications in which either number is not finite are left out. The result is NaN if a mean is
/// not positive. It has no interval if there are fewer than [`LEAST_REPLICATIONS`], or if a mean
/// would not be positive without one of the replications.
///
/// Source: R. G. Miller, "The jackknife: a review", Biometrika 61 (1974): a t interval over the
/// pseudo-values n·θ − (n − 1)·θ₋ᵢ, after J. W. Tukey, on a scale on which θ is nearly normal.
///
/// # Panics
/// If the two have different lengths.
pub fn ratio_of_means(scheme: &[f64], reference: &[f64], design: &Design) -> Estimate {
    assert_eq!(scheme.len(), reference.len(), "ratios are paired by replication");
    let known =
        || scheme.iter().zip(reference).filter(|(above, below)| above.is_finite() && below.is_finite());
    let above: Vec<f64> = known().map(|(above, _)| *above).collect();
    let below: Vec<f64> = known().map(|(_, below)| *below).collect();
    let (sum_above, sum_below, count) = (sum(&above), sum(&below), above.len());
    if count == 0 || sum_above <= 0.0 || sum_below <= 0.0 {
        return Estimate::UNKNOWN;
    }
    let whole = libm::log(sum_above) - libm::log(sum_below);
    let others: Vec<(f64, f64)> =
        above.iter().zip(&below).map(|(a, b)| (sum_above - a, sum_below - b)).collect();
    if count < LEAST_REPLICATIONS || others.iter().any(|(a, b)| *a <= 0.0 || *b <= 0.0) {
        return Estimate { mean: whole, low: f64::NAN, high: f64::NAN, count: count as u32 };
    }
    let weight = count as f64;
    let pseudo_values: Vec<f64> = others
        .iter()
        .map(|(a, b)| weight * whole - (weight - 1.0) * (libm::log(*a) - libm::log(*b)))
        .collect();
    interval_around(whole, &pseudo_values, design)
}

/// Returns the mean of numbers that cannot be negative, with an interval that does not reach below
/// zero. Those not finite are left out.
///
/// It is that of [`ratio_of_means`] to 1, so that times have the same kind of interval as their
/// changes. If a number is zero it is the t interval, cut at zero.
pub fn positive_interval(values: &[f64], design: &Design) -> Estimate {
    let finite = select_finite(values);
    if finite.is_empty() || finite.iter().any(|value| *value <= 0.0) {
        return t_interval(&finite, design).within(0.0, f64::INFINITY);
    }
    let found = ratio_of_means(&finite, &vec![1.0; finite.len()], design);
    let end = |log: f64| if log.is_finite() { libm::exp(log) } else { f64::NAN };
    Estimate { mean: mean(&finite), low: end(found.low), high: end(found.high), count: found.count }
}

/// Returns the mean of shares with the part of its t interval that lies between 0 and 1. Those not
/// finite are left out.
pub fn share_interval(values: &[f64], design: &Design) -> Estimate {
    t_interval(values, design).within(0.0, 1.0)
}

/// Returns the number of replications of the first later look that gives the half width `wanted`.
/// The estimate must have an interval of this design.
///
/// It assumes that further replications have the same spread. Returns None if it would be more than
/// 1000, or if no number is enough because the capture itself is too short.
pub fn replications_for(estimate: &Estimate, wanted: f64, design: &Design) -> Option<u32> {
    let deviation = estimate.half_width() / design.half_width(1.0, estimate.count);
    (find_look(u64::from(estimate.count), design.first_look) + 1..)
        .map(|look| replications_of_look(look, design.first_look))
        .take_while(|count| *count <= MOST_REPLICATIONS)
        .find(|count| design.half_width(deviation, *count) <= wanted)
}

/// Returns the interval around `centre` by the deviation of the values; the ends are NaN if there are too few values.
fn interval_around(centre: f64, values: &[f64], design: &Design) -> Estimate {
    let count = values.len() as u32;
    if values.len() < LEAST_REPLICATIONS {
        return Estimate { mean: centre, low: f64::NAN, high: f64::NAN, count };
    }
    let half = design.half_width(deviation(values), count);
    Estimate { mean: centre, low: centre - half, high: centre + half, count }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Asserts that a number is near another, with a relative error of at most 1e-9.
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn t_interval__of_nists_example() {
        // NIST/SEMATECH e-Handbook, 1.3.5.2, data ZARR13: mean 9.261460, deviation 0.022789, 195 values; with the
        // same mean and deviation, the interval is 9.258242 to 9.264679.
        let shift = 0.022789 / (195.0f64 / 194.0).sqrt();
        let values: Vec<f64> = (0..195)
            .map(|place| 9.261460 + if place == 194 { 0.0 } else { shift * [1.0, -1.0][place % 2] })
            .collect();
        let scale = 0.022789 / deviation(&values);
        let values: Vec<f64> = values.iter().map(|value| 9.261460 + (value - 9.261460) * scale).collect();
        let found = t_interval(&values, &Design::default());
        assert!((found.low - 9.258242).abs() < 1e-6 && (found.high - 9.264679).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn share_interval__stays_between_0_and_1() {
        let of = |values: [f64; 5]| share_interval(&values, &Design::default());
        assert_eq!((of([0.0, 0.0, 0.0, 0.0, 1.0]).low, of([1.0, 1.0, 1.0, 1.0, 0.0]).high), (0.0, 1.0));
    }

    #[test]
    fn t_interval__of_students_sleep_data() {
        // Student, "The probable error of a mean", Biometrika 6 (1908): ten differences with mean 1.58. Statistics
        // packages give the 95 % interval 0.7001142 to 2.4598858.
        let more = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let found = difference(&more, &[0.0; 10], &Design::default());
        assert_near(found.mean, 1.58);
        assert!((found.low - 0.7001142).abs() < 5e-8 && (found.high - 2.4598858).abs() < 5e-8, "{found:?}");
    }

    #[test]
    fn ratio_of_means__needs_five_replications_and_positive_means() {
        let own = [1.0, 2.0, 3.0, 4.0];
        assert!(!ratio_of_means(&own, &own, &Design::default()).has_interval());
        assert_eq!(ratio_of_means(&own, &own, &Design::default()).mean, 0.0);
        assert!(ratio_of_means(&[0.0; 5], &[1.0; 5], &Design::default()).mean.is_nan());
        let once = ratio_of_means(&[1.0, 0.0, 0.0, 0.0, 0.0], &[1.0; 5], &Design::default());
        assert!(!once.has_interval());
    }

    #[test]
    fn log_ratio__is_the_geometric_mean_of_the_paired_ratios() {
        // Ratios 1/2, 1/2, 2, 2 and 1 have the geometric mean 1, and logarithms of deviation ln 2.
        let own = [1.0, 10.0, 200.0, 2.0, 7.0, f64::NAN];
        let other = [2.0, 20.0, 100.0, 1.0, 7.0, 3.0];
        let found = log_ratio(&own, &other, &Design::default());
        assert_eq!((found.mean.abs() < 1e-15, found.count), (true, 5));
        assert_near(found.high, 2.776_445_105_197_793_5 * libm::log(2.0) / 5f64.sqrt());
        assert_eq!(count_smaller(&own, &other), (2, 5));
    }

    #[test]
    fn log_ratio__with_a_zero_is_the_ratio_of_means() {
        let (own, other) = ([0.0, 0.1, 0.2, 0.1, 0.3], [0.2, 0.0, 0.4, 0.3, 0.2]);
        let design = Design::default();
        assert_eq!(log_ratio(&own, &other, &design), ratio_of_means(&own, &other, &design));
        assert_eq!(log_ratio(&[0.0; 5], &[0.0; 5], &design).mean.to_bits(), f64::NAN.to_bits());
        assert_eq!(count_smaller(&own, &other), (3, 5));
    }

    #[test]
    fn limits__are_those_of_the_interval_of_twice_the_error() {
        // Student's sleep data: the 90 % interval that statistics packages give is 0.8669956 to 2.2930044.
        let more = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let design = Design::default();
        let found = design.limits(&t_interval(&more, &design), 0.05);
        let half = 1.833_112_932_653_5 * 1.229_995 / 10f64.sqrt();
        assert!(
            (found.low - (1.58 - half)).abs() < 1e-5 && (found.high - (1.58 + half)).abs() < 1e-5,
            "{found:?}"
        );
        assert!(!design.limits(&t_interval(&more[..4], &design), 0.05).has_interval());
        let family = Design { comparisons: 4.0, ..design };
        let same = family.limits(&t_interval(&more, &family), 0.05);
        assert!((same.low - found.low).abs() < 1e-12, "whatever family the interval is of");
    }

    #[test]
    fn half_width__allows_for_schemes_looks_and_the_capture() {
        let plain = Design::default();
        let several = Design { comparisons: 4.0, ..plain };
        let looks = Design { is_sequential: true, ..plain };
        let capture = Design { capture_share: 0.5, capture_freedom: 3.0, ..plain };
        for wider in [several, looks, capture] {
            assert!(wider.half_width(1.0, 10) > plain.half_width(1.0, 10), "{wider:?}");
        }
        assert_near(plain.half_width(1.0, 10), 2.2621571627409915 / 10f64.sqrt());
        assert_near(looks.allowed_error(20), 0.0125);
        assert!(capture.freedom(10) < 9.0);
    }

    #[test]
    fn replications_for__is_the_first_look_that_is_enough() {
        let found = t_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], &Design::default());
        assert_eq!(replications_for(&found, found.half_width() / 2.0, &Design::default()), Some(40));
        assert_eq!(replications_for(&found, 1e-6, &Design::default()), None);
    }

    proptest! {
        #[test]
        fn positive_interval__holds_its_mean_and_no_negative_number(
            values in proptest::collection::vec(1e-6..1e6f64, 5..40)
        ) {
            let found = positive_interval(&values, &Design::default());
            prop_assert!(0.0 <= found.low && found.low <= found.high);
        }

        #[test]
        fn log_ratio__turns_about_when_the_two_are_exchanged(
            values in proptest::collection::vec((0.1..10.0f64, 0.1..10.0f64), 5..20)
        ) {
            let (own, other): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let (there, back) =
                (log_ratio(&own, &other, &Design::default()), log_ratio(&other, &own, &Design::default()));
            prop_assert!((there.mean + back.mean).abs() < 1e-12);
            prop_assert!((there.low + back.high).abs() < 1e-9 * (1.0 + there.low.abs()));
        }

        #[test]
        fn standard_error__is_taken_back_from_the_interval(
            values in proptest::collection::vec(-10.0..10.0f64, 5..20), share in 0.0..1.0f64
        ) {
            let design = Design { capture_share: share, capture_freedom: 5.0, ..Design::default() };
            let expected = deviation(&values) * (share + 1.0 / values.len() as f64).sqrt();
            let found = design.standard_error(&t_interval(&values, &design));
            prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + expected));
        }
    }
}
