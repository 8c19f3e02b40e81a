//! When a simulation that starts empty has reached its steady state.

use super::sums::{mean, select_finite, sum_squared_deviations};

/// After so many relaxation times the mean workload is within 6 % of its steady state.
pub const TIME_CONSTANTS: f64 = 2.0;

/// Returns the time scale, in seconds, on which a link that starts empty approaches its steady
/// state; `load` is below 1. Sizes that are not finite are left out; without any it is NaN.
///
/// Work arrives as transfers of these sizes. The workload is approximated by Brownian motion of
/// drift −(1 − load) and variance load · E\[S²\] / E\[S\], with S the transmission time of a
/// transfer, which is reflected at zero; its time scale is variance / drift².
///
/// Source: J. Abate & W. Whitt, "Transient behavior of regulated Brownian motion, I: starting at
/// the origin", Advances in Applied Probability 19 (1987).
pub fn relaxation_s(sizes_bytes: &[f64], rate_bps: f64, load: f64) -> f64 {
    let seconds: Vec<f64> = select_finite(sizes_bytes).iter().map(|size| 8.0 * size / rate_bps).collect();
    let squared: Vec<f64> = seconds.iter().map(|time| time * time).collect();
    load * (mean(&squared) / mean(&seconds)) / ((1.0 - load) * (1.0 - load))
}

/// Returns how many of the first batches belong to the transient by MSER: those whose removal makes
/// the standard error of the mean of the rest smallest. Batches that are not finite are left out
/// and not counted.
///
/// Give it at least ten batches; of fewer than six, it returns 0. A result in the second half means
/// that no steady state was reached.
///
/// Source: K. P. White, M. J. Cobb & S. C. Spratt, "A comparison of five steady-state truncation
/// heuristics for simulation", Proceedings of the Winter Simulation Conference 2000; over
/// replications as in K. Hoad, S. Robinson & R. Davies, "Automating warm-up length estimation",
/// Journal of the Operational Research Society 61 (2010).
pub fn mser(batch_means: &[f64]) -> usize {
    let values = select_finite(batch_means);
    let most = values.len().saturating_sub(5); // six are always left: the spread of few is small by chance
    let error = |first: usize| {
        let rest = (values.len() - first) as f64;
        sum_squared_deviations(&values[first..]) / rest / rest
    };
    let mut best = (0, f64::INFINITY);
    for first in 0..most {
        let found = error(first);
        if found < best.1 {
            best = (first, found);
        }
    }
    best.0
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn relaxation_s__of_equal_transfers() {
        // One byte at 8 b/s takes a second, so E[S²] / E[S] = 1; at load 0.9 that is 0.9 / 0.01.
        assert!((relaxation_s(&[1.0; 4], 8.0, 0.9) - 90.0).abs() < 1e-9);
        let mixed = relaxation_s(&[1.0, 3.0, f64::NAN], 8.0, 0.5);
        assert!((mixed - 0.5 * (5.0 / 2.0) / 0.25).abs() < 1e-12, "{mixed}");
    }

    #[test]
    fn mser__cuts_the_transient_off() {
        let steady = |place: usize| 10.0 + [0.1, -0.1][place % 2];
        let rising: Vec<f64> =
            (0..40).map(|place| if place < 6 { place as f64 } else { steady(place) }).collect();
        assert_eq!(mser(&rising), 6);
        assert_eq!(mser(&(0..40).map(steady).collect::<Vec<_>>()), 0);
        assert_eq!(mser(&[1.0, 2.0]), 0);
    }
}
