//! Single figures of a list of numbers.

use super::sums::{select_finite, sum};

/// Returns Jain's fairness index (Σx)² / (n·Σx²), NaN without rates; those not finite are left out.
///
/// Source: Jain, Chiu & Hawe, DEC-TR-301, 1984.
pub fn jain_index(rates: &[f64]) -> f64 {
    let rates = select_finite(rates);
    let squares = sum(&rates.iter().map(|rate| rate * rate).collect::<Vec<_>>());
    let whole = sum(&rates);
    if squares > 0.0 { whole * whole / (rates.len() as f64 * squares) } else { f64::NAN }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn jain_index__is_one_for_equal_rates_and_one_in_n_for_a_single_one() {
        assert_eq!(jain_index(&[5.0; 4]), 1.0);
        assert_eq!(jain_index(&[0.0, 0.0, 8.0, 0.0]), 0.25);
        assert!(jain_index(&[]).is_nan() && jain_index(&[0.0]).is_nan());
    }
}
