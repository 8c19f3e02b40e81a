//! Binds the statistics of `mousehole-answer`; the functions take any sequence or array of numbers.

use crate::convert::to_python;
use mousehole_answer::statistics::{
    self as answer, capture, indices, intervals, levels, significance, simultaneous, transient,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A column of floating-point numbers, converted from numbers of any shape and type that NumPy
/// accepts; contiguous columns of this type are not copied. Anything else raises NumPy's exception.
struct Column<'py>(PyReadonlyArray1<'py, f64>);

impl<'py> FromPyObject<'_, 'py> for Column<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Column<'py>> {
        let numpy = given.py().import("numpy")?;
        let whole = numpy.call_method1("ascontiguousarray", (given, "float64"))?;
        Ok(Column(whole.call_method0("ravel")?.extract()?))
    }
}

impl Column<'_> {
    /// Returns the numbers without a copy; they are contiguous, as `extract` made them so.
    fn as_slice(&self) -> PyResult<&[f64]> {
        Ok(self.0.as_slice()?)
    }
}

/// Returns the given design; by default that of a single interval over independent replications.
pub fn design_or_default(design: Option<&Design>) -> answer::Design {
    design.map_or_else(answer::Design::default, |design| design.0)
}

/// What an interval must allow for in addition to the spread between replications.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct Design(pub answer::Design);

#[pymethods]
impl Design {
    /// Raises `ValueError` for a first look of 0 and for comparisons that are not finite.
    #[new]
    #[pyo3(signature = (comparisons = 1.0, is_sequential = false, first_look = levels::FIRST_LOOK, capture_share = 0.0, capture_freedom = f64::INFINITY))]
    fn new(
        comparisons: f64,
        is_sequential: bool,
        first_look: u32,
        capture_share: f64,
        capture_freedom: f64,
    ) -> PyResult<Design> {
        if first_look == 0 {
            return Err(PyValueError::new_err("first_look: must be at least 1"));
        }
        if !comparisons.is_finite() {
            return Err(PyValueError::new_err("comparisons: must be finite"));
        }
        Ok(Design(answer::Design { comparisons, is_sequential, first_look, capture_share, capture_freedom }))
    }

    /// Number of independent intervals that must hold together.
    #[getter]
    fn comparisons(&self) -> f64 {
        self.0.comparisons
    }

    /// Whether the user may look, add replications and look again.
    #[getter]
    fn is_sequential(&self) -> bool {
        self.0.is_sequential
    }

    /// Largest number of replications of the first look; each further look doubles it.
    #[getter]
    fn first_look(&self) -> u32 {
        self.0.first_look
    }

    /// Share of the variance between replications that more of the same capture do not reduce.
    #[getter]
    fn capture_share(&self) -> f64 {
        self.0.capture_share
    }

    /// Degrees of freedom that the capture leaves for the variance between captures.
    #[getter]
    fn capture_freedom(&self) -> f64 {
        self.0.capture_freedom
    }

    /// Returns the error probability that one interval from `count` replications may have.
    fn error(&self, count: u32) -> f64 {
        self.0.allowed_error(count)
    }

    /// Returns half the width of the interval of a mean over `count` replications with this standard deviation.
    fn half_width(&self, deviation: f64, count: u32) -> f64 {
        self.0.half_width(deviation, count)
    }

    /// Returns the estimate with the interval between its one-sided limits, each with the error probability `error`.
    fn limits(&self, estimate: &Estimate, error: f64) -> Estimate {
        Estimate(self.0.limits(&estimate.0, error))
    }

    /// Returns the standard error from which the interval of an estimate was made; NaN without an interval.
    fn standard_error(&self, estimate: &Estimate) -> f64 {
        self.0.standard_error(&estimate.0)
    }

    /// Returns the degrees of freedom of the variance of a mean over `count` replications.
    fn freedom(&self, count: u32) -> f64 {
        self.0.freedom(count)
    }

    fn __getnewargs__(&self) -> (f64, bool, u32, f64, f64) {
        let design = self.0;
        (
            design.comparisons,
            design.is_sequential,
            design.first_look,
            design.capture_share,
            design.capture_freedom,
        )
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// An estimate with its interval; undefined values are NaN.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct Estimate(pub answer::Estimate);

#[pymethods]
impl Estimate {
    #[new]
    fn new(mean: f64, low: f64, high: f64, count: u32) -> Estimate {
        Estimate(answer::Estimate { mean, low, high, count })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("mean", "low", "high", "count")
    }

    /// The mean over replications.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    /// The lower end of the interval; NaN without one.
    #[getter]
    fn low(&self) -> f64 {
        self.0.low
    }

    /// The upper end of the interval; NaN without one.
    #[getter]
    fn high(&self) -> f64 {
        self.0.high
    }

    /// Number of replications that the mean is taken over.
    #[getter]
    fn count(&self) -> u32 {
        self.0.count
    }

    /// Whether there were enough replications for an interval.
    #[getter]
    fn has_interval(&self) -> bool {
        self.0.has_interval()
    }

    /// Half the width of the interval; NaN if there is none.
    #[getter]
    fn half_width(&self) -> f64 {
        self.0.half_width()
    }

    /// Returns the relative change of a log-ratio, with its interval; -0.3 means 30 % less.
    fn as_change(&self) -> Estimate {
        Estimate(self.0.as_change())
    }

    /// Returns `mean`, `low`, `high` and `count` as a dictionary.
    // python: -> dict[str, Any]
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }

    /// Returns the estimate of the negated quantity, whose lower end is the upper one with the opposite sign.
    fn negated(&self) -> Estimate {
        Estimate(self.0.negated())
    }

    /// Returns the estimate with the ends of its interval limited to the possible values, `least` to `most`.
    fn within(&self, least: f64, most: f64) -> Estimate {
        Estimate(self.0.within(least, most))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let estimate = self.0;
        ([estimate.mean, estimate.low, estimate.high].map(f64::to_bits), estimate.count).hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self) -> (f64, f64, f64, u32) {
        (self.0.mean, self.0.low, self.0.high, self.0.count)
    }

    fn __repr__(&self) -> String {
        let own = self.0;
        format!("Estimate(mean={:?}, low={:?}, high={:?}, count={})", own.mean, own.low, own.high, own.count)
    }
}

/// How much effects differ beyond their standard errors.
#[pyclass(module = "mousehole._engine", frozen, get_all, eq, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct Heterogeneity {
    /// Cochran's Q: the sum of squared differences from the common effect, each over its variance.
    q: f64,
    /// Degrees of freedom of Q: the number of effects less one.
    freedom: u32,
    /// Probability of a Q at least as large if all effects were equal.
    p_value: f64,
    /// Share of the variance of the effects that their standard errors do not explain, from 0 to 1.
    i_squared: f64,
    /// Standard deviation of the true effects, on the scale of the effects.
    deviation: f64,
}

#[pymethods]
impl Heterogeneity {
    #[new]
    fn new(q: f64, freedom: u32, p_value: f64, i_squared: f64, deviation: f64) -> Heterogeneity {
        Heterogeneity { q, freedom, p_value, i_squared, deviation }
    }

    fn __getnewargs__(&self) -> (f64, u32, f64, f64, f64) {
        (self.q, self.freedom, self.p_value, self.i_squared, self.deviation)
    }
}

/// Returns the mean of one number per replication with its Student-t interval; numbers that are not finite are left out.
#[pyfunction]
#[pyo3(signature = (values, design = None))]
fn t_interval(values: Column, design: Option<&Design>) -> PyResult<Estimate> {
    Ok(Estimate(intervals::t_interval(values.as_slice()?, &design_or_default(design))))
}

/// Returns the mean of scheme − reference with its Student-t interval, paired by replication.
#[pyfunction]
#[pyo3(signature = (scheme, reference, design = None))]
fn difference(scheme: Column, reference: Column, design: Option<&Design>) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::difference(own, other, &design_or_default(design))))
}

/// Returns the logarithm of the ratio of scheme to reference, paired by replication, with its interval.
///
/// The ratio is the geometric mean of the replications' ratios. A value below 0 means that the scheme has the
/// smaller values. Replications in which either number is not finite are left out. If a number is zero, the
/// result is that of `ratio_of_means`.
#[pyfunction]
#[pyo3(signature = (scheme, reference, design = None))]
fn log_ratio(scheme: Column, reference: Column, design: Option<&Design>) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::log_ratio(own, other, &design_or_default(design))))
}

/// Returns ln(mean of scheme ÷ mean of reference) with its jackknife interval, paired by replication.
///
/// Replications in which either number is not finite are left out. The result is NaN if a mean is not
/// positive, and has no interval if it would not be positive without one of the replications.
#[pyfunction]
#[pyo3(signature = (scheme, reference, design = None))]
fn ratio_of_means(scheme: Column, reference: Column, design: Option<&Design>) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::ratio_of_means(own, other, &design_or_default(design))))
}

/// Returns the natural logarithm of each replication's ratio of scheme to reference: NaN where either number is not
/// finite or is negative, +∞ where only the reference is zero, −∞ where the scheme is.
#[pyfunction]
fn paired_logs<'py>(
    py: Python<'py>,
    scheme: Column,
    reference: Column,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(intervals::paired_log_ratios(own, other).into_pyarray(py))
}

/// Returns in how many replications the scheme has the smaller number, and in how many both have one.
#[pyfunction]
fn smaller_in(scheme: Column, reference: Column) -> PyResult<(u32, u32)> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(intervals::count_smaller(own, other))
}

/// Returns the number of independent comparisons that would need the same width as these columns.
///
/// A column has a number per replication. The result is the `comparisons` of a `Design` whose intervals hold together.
/// Raises `ValueError` for columns of different lengths.
#[pyfunction]
// python: columns: Iterable[ArrayLike]
fn effective_comparisons(columns: &Bound<'_, PyAny>) -> PyResult<f64> {
    let column = |one: PyResult<Bound<'_, PyAny>>| Ok(one?.extract::<Column>()?.as_slice()?.to_vec());
    let columns: Vec<Vec<f64>> = columns.try_iter()?.map(column).collect::<PyResult<_>>()?;
    if columns.iter().any(|column| column.len() != columns[0].len()) {
        return Err(PyValueError::new_err("columns must have the same length"));
    }
    Ok(simultaneous::effective_comparisons(&columns))
}

/// Returns the mean of numbers that cannot be negative, with an interval that does not reach below zero.
///
/// The interval is that of `ratio_of_means` to 1, computed on the logarithm as for changes. If a number is zero, it is
/// the t interval, cut at zero.
#[pyfunction]
#[pyo3(signature = (values, design = None))]
fn positive_interval(values: Column, design: Option<&Design>) -> PyResult<Estimate> {
    Ok(Estimate(intervals::positive_interval(values.as_slice()?, &design_or_default(design))))
}

/// Returns the number of replications of the first later look that gives the half width `wanted`.
///
/// It assumes that further replications have the same spread. Returns None if it would be more than 1000,
/// or if no number is enough because the capture itself is too short.
#[pyfunction]
#[pyo3(signature = (estimate, wanted, design = None))]
fn replications_for(estimate: &Estimate, wanted: f64, design: Option<&Design>) -> Option<u32> {
    intervals::replications_for(&estimate.0, wanted, &design_or_default(design))
}

/// Returns how much `effects` with these standard errors differ; None if fewer than two have an error.
#[pyfunction]
fn heterogeneity(effects: Column, errors: Column) -> PyResult<Option<Heterogeneity>> {
    let (effects, errors) = pair(&effects, &errors)?;
    let found = answer::heterogeneity::heterogeneity(effects, errors);
    Ok(found.map(|one| Heterogeneity::new(one.q, one.freedom, one.p_value, one.i_squared, one.deviation)))
}

/// Returns the share of the variance between resampled replications that is between captures.
#[pyfunction]
fn capture_share(material: f64) -> f64 {
    capture::capture_share(material)
}

/// Returns the degrees of freedom that a capture leaves for the variance between captures.
///
/// `pipe_bytes` is the bandwidth-delay product, beyond which a transfer fills the link by itself.
#[pyfunction]
fn capture_freedom(sizes_bytes: Column, pipe_bytes: f64) -> PyResult<f64> {
    Ok(capture::capture_freedom(sizes_bytes.as_slice()?, pipe_bytes))
}

/// Returns the number of equal weights whose sum would have the same relative variance.
#[pyfunction]
fn effective_number(weights: Column) -> PyResult<f64> {
    Ok(capture::effective_number(weights.as_slice()?))
}

/// Returns Jain's fairness index, NaN without rates.
#[pyfunction]
fn jain_index(rates: Column) -> PyResult<f64> {
    Ok(indices::jain_index(rates.as_slice()?))
}

/// Returns the time scale, in seconds, on which a link that starts empty approaches its steady state; `load` is below 1.
#[pyfunction]
fn relaxation_s(sizes_bytes: Column, rate_bps: f64, load: f64) -> PyResult<f64> {
    Ok(transient::relaxation_s(sizes_bytes.as_slice()?, rate_bps, load))
}

/// Returns how many of the first batches belong to the transient, by the marginal standard error rule (MSER).
///
/// There must be at least ten batches for a useful result. A result in the second half means that no steady state was reached.
#[pyfunction]
fn mser(batch_means: Column) -> PyResult<usize> {
    Ok(transient::mser(batch_means.as_slice()?))
}

/// Returns the error probability of each of `comparisons` intervals so that all hold with probability 1 − `error`.
#[pyfunction]
fn simultaneous_error(error: f64, comparisons: f64) -> f64 {
    levels::simultaneous_error(error, comparisons)
}

/// Returns the number of the look, from 0, at this many replications: the first up to `first`, the next up to twice that.
#[pyfunction]
#[pyo3(signature = (replications, first = levels::FIRST_LOOK))]
fn find_look(replications: u64, first: u32) -> u32 {
    levels::find_look(replications, first)
}

/// Returns the number of replications at which look number `look`, from 0, is taken.
#[pyfunction]
#[pyo3(signature = (look, first = levels::FIRST_LOOK))]
fn replications_of_look(look: u32, first: u32) -> u32 {
    levels::replications_of_look(look, first)
}

/// Returns the part of `error` that the look at this many replications may spend: a half, then a quarter, and so on.
#[pyfunction]
#[pyo3(signature = (replications, error = 1.0 - levels::LEVEL, first = levels::FIRST_LOOK))]
fn look_error(replications: u64, error: f64, first: u32) -> f64 {
    levels::look_error(replications, error, first)
}

/// Returns the p-values adjusted by Holm's procedure, in the given order; NaN stays NaN and is not counted.
#[pyfunction]
fn holm(p_values: Column) -> PyResult<Vec<f64>> {
    Ok(significance::adjust_by_holm(p_values.as_slice()?))
}

/// Returns the doubled one-sided p-value of Student's t test that the mean lies above `end`, or else below it; 0 for an
/// infinite `end`.
#[pyfunction]
fn p_beyond(values: Column, end: f64, is_above: bool) -> PyResult<f64> {
    Ok(significance::p_beyond(values.as_slice()?, end, is_above))
}

/// Returns the two-sided p-value of a mean at this distance from the hypothesis, with this standard error and these
/// degrees of freedom. Without an error it is 1 for no distance, else 0.
#[pyfunction]
fn find_p_value(distance: f64, error: f64, freedom: f64) -> f64 {
    significance::find_p_value(distance, error, freedom)
}

/// Returns the 95 % interval, by Clopper and Pearson, of a probability when `count` of `of` trials succeeded.
#[pyfunction]
fn binomial_interval(count: u32, of: u32) -> (f64, f64) {
    significance::binomial_interval(count, of, levels::LEVEL)
}

/// Returns two columns without a copy; raises `ValueError` if their lengths differ.
fn pair<'a>(one: &'a Column, other: &'a Column) -> PyResult<(&'a [f64], &'a [f64])> {
    let (own, other) = (one.as_slice()?, other.as_slice()?);
    if own.len() != other.len() {
        let text = format!("{} numbers stand beside {}; they are paired, one by one", own.len(), other.len());
        return Err(PyValueError::new_err(text));
    }
    Ok((own, other))
}

/// Adds the constants, classes and functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LEVEL", levels::LEVEL)?;
    module.add("LEAST_REPLICATIONS", intervals::LEAST_REPLICATIONS)?;
    module.add_class::<Design>()?;
    module.add_class::<Estimate>()?;
    module.add_class::<Heterogeneity>()?;
    for function in [
        wrap_pyfunction!(t_interval, module)?,
        wrap_pyfunction!(difference, module)?,
        wrap_pyfunction!(log_ratio, module)?,
        wrap_pyfunction!(ratio_of_means, module)?,
        wrap_pyfunction!(paired_logs, module)?,
        wrap_pyfunction!(smaller_in, module)?,
        wrap_pyfunction!(effective_comparisons, module)?,
        wrap_pyfunction!(positive_interval, module)?,
        wrap_pyfunction!(replications_for, module)?,
        wrap_pyfunction!(heterogeneity, module)?,
        wrap_pyfunction!(capture_share, module)?,
        wrap_pyfunction!(capture_freedom, module)?,
        wrap_pyfunction!(effective_number, module)?,
        wrap_pyfunction!(jain_index, module)?,
        wrap_pyfunction!(relaxation_s, module)?,
        wrap_pyfunction!(mser, module)?,
        wrap_pyfunction!(simultaneous_error, module)?,
        wrap_pyfunction!(find_look, module)?,
        wrap_pyfunction!(replications_of_look, module)?,
        wrap_pyfunction!(look_error, module)?,
        wrap_pyfunction!(holm, module)?,
        wrap_pyfunction!(p_beyond, module)?,
        wrap_pyfunction!(find_p_value, module)?,
        wrap_pyfunction!(binomial_interval, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
