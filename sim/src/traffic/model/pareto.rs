//! Sums over the Pareto II distribution: the mean of a count that rises each `step` bytes.

/// Number of terms that are added one by one; the Euler-Maclaurin formula gives the rest.
const PLAIN: u64 = 1000;

/// Returns `Σ (1 + n·step/scale)^-shape` over all n ≥ 0 with `n·step < end`; shape above 1, the rest above 0.
///
/// The first [`PLAIN`] terms are added, the rest is `Σ_{n=N}^{M-1} f(n) = ∫_N^M f + [f(N) − f(M)]/2 +
/// [f'(M) − f'(N)]/12 − [f'''(M) − f'''(N)]/720`. The remainder is below `f⁽⁵⁾(N)/30240`, which is
/// `f(N)·shape(shape+1)…(shape+4)/N⁵/30240` at most: below 1e-14 of the sum for shapes up to 100, wherever `f(N)`
/// is not negligible itself.
pub(super) fn sum_survival(scale: f64, shape: f64, step: f64, end: f64) -> f64 {
    let terms = (end / step).ceil() as u64;
    let survival = |n: f64| libm::pow(1.0 + n * step / scale, -shape);
    let plain: f64 = (0..terms.min(PLAIN)).map(|n| survival(n as f64)).sum();
    if terms <= PLAIN {
        return plain;
    }
    let (from, to) = (PLAIN as f64 + scale / step, terms as f64 + scale / step);
    // By the difference of the logarithms: where the step is small compared with the scale, the difference of the two
    // powers would be lost in rounding.
    let fall = -libm::expm1((1.0 - shape) * libm::log1p((to - from) / from));
    let integral = survival(PLAIN as f64) * from / (shape - 1.0) * fall;
    // Half the value and the corrections at one end; `place` is the distance from the pole, in steps.
    let end = |n: f64, place: f64| {
        let third = shape * (shape + 1.0) * (shape + 2.0) / (place * place * place);
        survival(n) * (0.5 + shape / place / 12.0 - third / 720.0)
    };
    plain + integral + end(PLAIN as f64, from) - end(terms as f64, to)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn sum_survival__is_the_plain_sum() {
        let ends = [1.0, 1460.0, 1461.0, 1.46e6, 1.46e6 + 1.0, 1.5e6, 2e7, 1e9];
        for (mean, shape) in [(12_000.0, 1.2), (12_000.0, 1.001), (5e6, 2.5), (1e9, 100.0), (30.0, 1.05)] {
            for (step, end) in [1.0, 536.0, 1460.0].into_iter().flat_map(|step| ends.map(|end| (step, end))) {
                if end / step > 4e6 {
                    continue;
                }
                let scale = mean * (shape - 1.0);
                let points = (0u64..).map(|n| n as f64 * step).take_while(|point| *point < end);
                let terms: Vec<f64> = points.map(|point| libm::pow(1.0 + point / scale, -shape)).collect();
                // From the smallest term on, so that rounding does not add up.
                let plain: f64 = terms.iter().rev().sum();
                let sum = sum_survival(scale, shape, step, end);
                assert!(
                    (sum / plain - 1.0).abs() < 1e-12,
                    "{mean} {shape} {step} {end}: {sum}, plain {plain}"
                );
            }
        }
    }
}
