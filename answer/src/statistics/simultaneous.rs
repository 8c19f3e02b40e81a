//! How wide intervals of several schemes must be to hold together, given how the schemes depend on each other.

use super::intervals::LEAST_REPLICATIONS;
use super::levels::LEVEL;
use super::random::Draws;
use super::student::upper_tail;
use super::sums::{deviation, mean, sum};

/// Number of bootstrap samples; the error that all intervals together may have is then exact to ±0.2 points.
const DRAWS: usize = 8000;
/// Degrees of freedom of a bootstrap sample at most; beyond, Student's t hardly changes.
const MOST_FREEDOM: usize = 40;
/// Seed of every bootstrap, so that the same numbers give the same intervals.
const SEED: u64 = 0x6d6f_7573_6568_6f6c;

/// Returns the number of independent comparisons that would need the same width as these ones.
///
/// Each column has one number per replication, such as the logarithm of a scheme's ratio to the reference. Schemes that
/// meet the same traffic, against the same reference, err together, so that their intervals need not be as wide as
/// Šidák's for independent ones. The result is between 1 and the number of columns; as `Design::comparisons` it makes
/// the intervals of all columns hold together.
///
/// It is the parametric bootstrap of the largest t: samples of normal numbers with the columns' correlations are drawn,
/// with the degrees of freedom of the replications, and the 95 % quantile of their largest |t| gives the error of each
/// interval. Columns without spread need no allowance and are left out. With fewer than five replications in which all
/// columns are finite, columns count as independent.
///
/// Sources: P. H. Westfall & S. S. Young, "Resampling-based multiple testing", 1993, section 2.3 (max-t); T. Hothorn,
/// F. Bretz & P. Westfall, "Simultaneous inference in general parametric models", Biometrical Journal 50 (2008).
///
/// # Panics
/// If the columns have different lengths.
pub fn effective_comparisons(columns: &[Vec<f64>]) -> f64 {
    let varied: Vec<&Vec<f64>> = columns.iter().filter(|column| varies(column)).collect();
    if varied.len() < 2 {
        return 1.0;
    }
    let count = varied[0].len();
    assert!(varied.iter().all(|column| column.len() == count), "columns have a number per replication");
    let whole: Vec<usize> =
        (0..count).filter(|row| varied.iter().all(|column| column[*row].is_finite())).collect();
    let complete: Vec<Vec<f64>> =
        varied.iter().map(|column| whole.iter().map(|row| column[*row]).collect()).collect();
    if whole.len() < LEAST_REPLICATIONS || !complete.iter().all(|column| varies(column)) {
        return varied.len() as f64;
    }
    let freedom = (whole.len() - 1).min(MOST_FREEDOM);
    let factor = cholesky_factor(&compute_correlations(&complete));
    let each = 2.0 * upper_tail(largest_t_quantile(&factor, freedom), freedom as f64);
    (libm::log(LEVEL) / libm::log1p(-each)).clamp(1.0, varied.len() as f64)
}

/// Returns whether finite values differ by more than rounding; false of fewer than two.
fn varies(column: &[f64]) -> bool {
    let finite = || column.iter().copied().filter(|value| value.is_finite());
    let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    most - least > 1e-12 * least.abs().max(most.abs()).max(1.0)
}

/// Returns the matrix of the columns' correlations. Every column must have spread and finite values
/// only.
fn compute_correlations(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let standard: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let (centre, scale) = (mean(column), deviation(column) * (column.len() as f64 - 1.0).sqrt());
            column.iter().map(|value| (value - centre) / scale).collect()
        })
        .collect();
    let product =
        |one: &[f64], other: &[f64]| sum(&one.iter().zip(other).map(|(a, b)| a * b).collect::<Vec<_>>());
    standard.iter().map(|one| standard.iter().map(|other| product(one, other)).collect()).collect()
}

/// Returns the rows of the lower Cholesky factor of a symmetric matrix, which may be singular: a
/// row that depends on earlier ones has zero on the diagonal.
fn cholesky_factor(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    const TINY: f64 = 1e-12;
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
    for (row, given) in matrix.iter().enumerate() {
        let mut own: Vec<f64> = Vec::with_capacity(row + 1);
        for column in 0..row {
            let other = &lower[column];
            let rest = given[column] - (0..column).map(|index| own[index] * other[index]).sum::<f64>();
            own.push(if other[column] > 0.0 { rest / other[column] } else { 0.0 });
        }
        let left = given[row] - own.iter().map(|value| value * value).sum::<f64>();
        own.push(if left > TINY { left.sqrt() } else { 0.0 });
        lower.push(own);
    }
    lower
}

/// Returns the 95 % quantile of the largest |t| of samples whose correlations have the Cholesky
/// factor `root`. It is a fixed function of its arguments: the seed is always the same.
fn largest_t_quantile(root: &[Vec<f64>], freedom: usize) -> f64 {
    let mut draws = Draws::new(SEED);
    let mut largest: Vec<f64> = (0..DRAWS).map(|_| draw_largest_t(root, freedom, &mut draws)).collect();
    largest.sort_by(f64::total_cmp);
    largest[(LEVEL * DRAWS as f64).ceil() as usize]
}

/// Takes normal numbers whose correlations have the Cholesky factor `root` from `draws`: a mean for
/// each column, and `freedom` more, at least one, for its variance. Returns the largest |t| of the
/// columns.
fn draw_largest_t(root: &[Vec<f64>], freedom: usize, draws: &mut Draws) -> f64 {
    let width = root.len();
    let mut normals = vec![0.0; width];
    let mut draw = |found: &mut dyn FnMut(usize, f64)| {
        normals.iter_mut().for_each(|one| *one = draws.normal());
        for (index, row) in root.iter().enumerate() {
            found(index, row.iter().zip(&normals).map(|(factor, one)| factor * one).sum());
        }
    };
    let (mut means, mut squares) = (vec![0.0; width], vec![0.0; width]);
    draw(&mut |index, value| means[index] = value);
    for _ in 0..freedom {
        draw(&mut |index, value| squares[index] += value * value);
    }
    let t = |(mean, square): (&f64, &f64)| mean.abs() / (square / freedom as f64).sqrt();
    means.iter().zip(&squares).map(t).fold(0.0, f64::max)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::statistics::intervals::{Design, t_interval};
    use proptest::prelude::*;

    /// Returns columns of `count` replications: a part that all share and one of their own.
    fn draw_columns(seed: u64, columns: usize, count: usize, shared: f64) -> Vec<Vec<f64>> {
        let mut draws = Draws::new(seed);
        let common: Vec<f64> = (0..count).map(|_| shared.sqrt() * draws.normal()).collect();
        let own = (1.0 - shared).sqrt();
        (0..columns).map(|_| common.iter().map(|part| part + own * draws.normal()).collect()).collect()
    }

    #[test]
    fn effective_comparisons__of_independent_columns_is_nearly_their_number() {
        let found = effective_comparisons(&draw_columns(1, 5, 400, 0.0));
        assert!((4.3..=5.0).contains(&found), "{found}");
    }

    #[test]
    fn effective_comparisons__of_published_tables() {
        // C. W. Dunnett, JASA 50 (1955), table 2a as corrected in Biometrics 20 (1964): two-sided 5 % points for
        // correlations of 1/2. At 40 degrees of freedom, which is where samples end: 2.44 for three, 2.68 for six.
        for (columns, point) in [(3, 2.44), (6, 2.68)] {
            let matrix: Vec<Vec<f64>> = (0..columns)
                .map(|row| (0..columns).map(|column| if row == column { 1.0 } else { 0.5 }).collect())
                .collect();
            let found = largest_t_quantile(&cholesky_factor(&matrix), 40);
            assert!((found - point).abs() < 0.05, "{columns}: {found}");
        }
    }

    #[test]
    fn effective_comparisons__of_equal_columns_is_one() {
        let column = draw_columns(3, 1, 10, 0.0).remove(0);
        let doubled: Vec<f64> = column.iter().map(|value| 2.0 * value + 1.0).collect();
        let found = effective_comparisons(&[column.clone(), doubled, column.clone()]);
        assert!((found - 1.0).abs() < 0.1, "{found}");
        assert_eq!(effective_comparisons(&[column, vec![0.0; 10]]), 1.0);
        assert_eq!(effective_comparisons(&[]), 1.0);
    }

    #[test]
    fn effective_comparisons__without_common_replications_is_their_number() {
        let mut columns = draw_columns(4, 3, 6, 0.0);
        columns[0][0] = f64::NAN;
        columns[1][1] = f64::NAN;
        assert_eq!(effective_comparisons(&columns), 3.0);
    }

    #[test]
    fn effective_comparisons__makes_intervals_hold_together() {
        // 200 samples of ten replications of six schemes that do nothing: all six intervals hold in about 95 %. With
        // a single level for each they do not, and Šidák's hold more often than they must.
        let held = |comparisons: &dyn Fn(&[Vec<f64>]) -> f64| {
            let holds = |columns: &Vec<Vec<f64>>| {
                let design = Design { comparisons: comparisons(columns), ..Design::default() };
                columns
                    .iter()
                    .map(|column| t_interval(column, &design))
                    .all(|one| one.low <= 0.0 && 0.0 <= one.high)
            };
            (0..200).filter(|seed| holds(&draw_columns(100 + seed, 6, 10, 0.7))).count()
        };
        let (together, alone, sidak) = (held(&effective_comparisons), held(&|_| 1.0), held(&|_| 6.0));
        assert!((182..=197).contains(&together), "{together}");
        assert!(alone < 180 && sidak > together, "{alone} {sidak}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn effective_comparisons__is_between_one_and_the_number(seed in 0..1000u64, columns in 1..6usize) {
            let given = draw_columns(seed, columns, 8, 0.5);
            let found = effective_comparisons(&given);
            prop_assert!((1.0..=columns as f64).contains(&found));
            prop_assert_eq!(found, effective_comparisons(&given));
        }
    }
}
