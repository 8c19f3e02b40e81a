//! Sums and moments of lists of numbers.

/// Returns the sum, whose rounding error grows with the logarithm of the length only.
///
/// Blocks of at most 128 values are summed in eight strands and halves are added, as numpy does it, so that both give
/// the same bits. Source: N. J. Higham, "The accuracy of floating point summation", SIAM Journal on Scientific
/// Computing 14 (1993), pairwise summation.
pub fn sum(values: &[f64]) -> f64 {
    const STRANDS: usize = 8;
    const BLOCK: usize = 128;
    let count = values.len();
    if count < STRANDS {
        return values.iter().fold(0.0, |sum, value| sum + value);
    }
    if count <= BLOCK {
        let (strands, rest) = values.as_chunks::<STRANDS>();
        let mut sums = strands[0];
        for chunk in &strands[1..] {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let whole = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return rest.iter().fold(whole, |sum, value| sum + value);
    }
    let half = count / 2 - (count / 2) % STRANDS;
    sum(&values[..half]) + sum(&values[half..])
}

/// Returns the mean, NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { sum(values) / values.len() as f64 }
}

/// Returns the sum of squared differences from the mean; 0 without values.
pub fn sum_squared_deviations(values: &[f64]) -> f64 {
    let mean = mean(values);
    sum(&values.iter().map(|value| (value - mean) * (value - mean)).collect::<Vec<_>>())
}

/// Returns the standard deviation of a sample, over one less than its number of values; NaN of a
/// single value.
pub fn deviation(values: &[f64]) -> f64 {
    (sum_squared_deviations(values) / (values.len() as f64 - 1.0)).sqrt()
}

/// Returns the values that are finite, in their order.
pub fn select_finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

/// Returns a percentile, from 0 to 100, of values in rising order, interpolated linearly between
/// the two nearest; NaN without values.
///
/// # Panics
/// If `percent` is above 100 and its place is beyond the values.
pub fn percentile(sorted: &[f64], percent: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let position = (sorted.len() - 1) as f64 * (percent / 100.0);
    let (low, share) = (position.floor() as usize, position - position.floor());
    let (below, above) = (sorted[low], sorted[(low + 1).min(sorted.len() - 1)]);
    // From the nearer end, so that equal values give themselves.
    if share >= 0.5 { above - (above - below) * (1.0 - share) } else { below + (above - below) * share }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn sum__of_small_and_large_numbers_keeps_the_small_ones() {
        let values = vec![0.1; 1_000_000]; // one after the other they would be off by 1e-6
        assert!((sum(&values) - 100_000.0).abs() < 1e-9);
        assert_eq!(sum(&[1.0, 2.0, 3.5]), 6.5);
        assert_eq!(sum(&(1..=1000).map(f64::from).collect::<Vec<_>>()), 500_500.0);
    }

    #[test]
    fn deviation__of_a_sample_divides_by_one_less() {
        assert!(
            (deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]) - (32.0f64 / 7.0).sqrt()).abs() < 1e-15
        );
    }

    #[test]
    fn percentile__interpolates_and_ends_at_the_ends() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.0, 50.0, 100.0].map(|percent| percentile(&values, percent)), [1.0, 3.0, 8.0]);
        assert_eq!(percentile(&[7.0], 99.0), 7.0);
        assert!(percentile(&[], 50.0).is_nan());
    }
}
