//! How the permitted error of 5 % is divided: over several schemes, and over several looks at growing data.

/// Confidence level of every interval, or of all intervals of a family together.
pub const LEVEL: f64 = 0.95;
/// Number of replications up to which a comparison is the first look; each further look doubles it.
pub const FIRST_LOOK: u32 = 10;

/// Returns the error that each of `comparisons` intervals may have so that all hold but for `error`.
///
/// A number that is not whole is that of [`super::simultaneous::effective_comparisons`]; less than one counts as one.
///
/// Source: Z. Šidák, "Rectangular confidence regions for the means of multivariate normal distributions", Journal of
/// the American Statistical Association 62 (1967): 1 − (1 − error)^(1/m).
pub fn simultaneous_error(error: f64, comparisons: f64) -> f64 {
    -libm::expm1(libm::log1p(-error) / comparisons.max(1.0))
}

/// Returns the number of the look, from 0, at so many replications: up to `first`, up to twice
/// that, … `first` is positive.
pub fn find_look(replications: u64, first: u32) -> u32 {
    libm::log2(replications.max(1) as f64 / f64::from(first)).ceil().max(0.0) as u32
}

/// Returns the number of replications with which a look is taken, from 0: `first`, doubled by each
/// look. Bits beyond 32 are lost.
///
/// # Panics
/// If `look` is 32 or more, in a build with checks of overflow.
pub fn replications_of_look(look: u32, first: u32) -> u32 {
    first << look
}

/// Returns the share of `error` that the look at so many replications may spend: a half, a quarter, …
///
/// The shares add up to `error`, so by the union bound intervals at all looks hold together, whatever made the user go
/// on or stop, and without a last look.
///
/// Sources: K. K. G. Lan & D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983),
/// which spends a given error over looks; S. R. Howard, A. Ramdas, J. McAuliffe & J. Sekhon, "Time-uniform,
/// nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49 (2021), section 3.1, which divides it
/// over looks of doubling size.
pub fn look_error(replications: u64, error: f64, first: u32) -> f64 {
    libm::ldexp(error, -(find_look(replications, first) as i32) - 1)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn look_error__is_spent_whole_over_all_looks() {
        let spent: f64 = (0..40).map(|look| libm::ldexp(0.05, -look - 1)).sum();
        assert!((spent - 0.05).abs() < 1e-12);
        assert_eq!([1, 10, 11, 20, 21, 40].map(|count| find_look(count, FIRST_LOOK)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(look_error(20, 0.05, FIRST_LOOK), 0.0125);
        assert_eq!(replications_of_look(2, FIRST_LOOK), 40);
    }

    #[test]
    fn simultaneous_error__leaves_all_intervals_the_level() {
        let each = simultaneous_error(0.05, 7.0);
        assert!((libm::pow(1.0 - each, 7.0) - LEVEL).abs() < 1e-14);
        assert!((simultaneous_error(0.05, 0.0) - 0.05).abs() < 1e-16);
    }
}
