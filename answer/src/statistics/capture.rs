//! How much of the variance between replications comes from the capture that they all share.

use super::sums::sum;

/// Returns the share of the variance between resampled replications that is between captures.
///
/// `material` is how often one replication plays the whole capture, all copies together: copies · window / length. A
/// replication that resamples the capture varies as captures of its length do, by v / length, if it plays all of it
/// (`material` ≥ 1), and by v / (material · length) if it plays a part. So the variance between captures is at most
/// min(1, `material`) of the variance between replications.
///
/// Source: the bootstrap's principle, that a resample differs from the capture as the capture differs from its source
/// (B. Efron & R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 6), and variances of means over
/// independent stretches of time (A. M. Law, "Simulation modeling and analysis", 5th edition, 2015, chapter 9). `make
/// validation WHAT=coverage` measures what comes of it.
pub fn capture_share(material: f64) -> f64 {
    material.min(1.0)
}

/// Returns the degrees of freedom that a capture leaves for the variance between captures.
///
/// Captures differ mostly by their large transfers, of which a resample knows only those that the capture has. So the
/// variance is as uncertain as one over [`effective_number`] transfers, and no more certain than one over the transfers
/// that are larger than `pipe_bytes`, the bandwidth-delay product: these fill the link by themselves, and a capture with
/// none of them does not show how many there are elsewhere.
///
/// Source: none for the second bound; `make validation WHAT=coverage` supports it. Without it, captures that
/// happen to contain no large transfer had narrow intervals far from the truth.
pub fn capture_freedom(sizes_bytes: &[f64], pipe_bytes: f64) -> f64 {
    let large = sizes_bytes.iter().filter(|size| **size > pipe_bytes).count();
    (effective_number(sizes_bytes) - 1.0).min(large as f64).max(0.0)
}

/// Returns the number of equal weights that have the same relative variance of their sum: (Σw)² / Σw².
///
/// Of transfers by their bytes it is small where a few large ones carry most of the load.
///
/// Source: L. Kish, "Survey sampling", 1965 (the effective size of a weighted sample).
pub fn effective_number(weights: &[f64]) -> f64 {
    let squares = sum(&weights.iter().map(|weight| weight * weight).collect::<Vec<_>>());
    let whole = sum(weights);
    if squares > 0.0 { whole * whole / squares } else { 0.0 }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn effective_number__of_equal_weights_is_their_number() {
        assert_eq!(effective_number(&[3.0; 7]), 7.0);
        assert_eq!(effective_number(&[]), 0.0);
        assert!(effective_number(&[100.0, 1.0, 1.0]) < 1.05);
    }

    #[test]
    fn capture_freedom__is_bounded_by_the_large_transfers() {
        assert_eq!(capture_freedom(&[10.0; 8], 5.0), 7.0);
        assert_eq!(capture_freedom(&[10.0; 8], 10.0), 0.0);
        assert_eq!(capture_freedom(&[], 1.0), 0.0);
        assert_eq!([capture_share(0.3), capture_share(4.0)], [0.3, 1.0]);
    }
}
