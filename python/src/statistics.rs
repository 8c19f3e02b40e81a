//! The statistics of `mousehole-answer` as Python objects and functions; `mousehole/statistics` takes lists to columns.

use crate::convert::to_python;
use mousehole_answer::statistics::{
    self as answer, capture, indices, intervals, levels, significance, simultaneous, transient,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};

type Column<'py> = PyReadonlyArray1<'py, f64>;

/// What an interval must allow for beside the spread between replications.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct Design(pub answer::Design);

#[pymethods]
impl Design {
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

    #[getter]
    fn comparisons(&self) -> f64 {
        self.0.comparisons
    }

    #[getter]
    fn is_sequential(&self) -> bool {
        self.0.is_sequential
    }

    #[getter]
    fn first_look(&self) -> u32 {
        self.0.first_look
    }

    #[getter]
    fn capture_share(&self) -> f64 {
        self.0.capture_share
    }

    #[getter]
    fn capture_freedom(&self) -> f64 {
        self.0.capture_freedom
    }

    fn error(&self, count: u32) -> f64 {
        self.0.error(count)
    }

    fn half_width(&self, deviation: f64, count: u32) -> f64 {
        self.0.half_width(deviation, count)
    }

    fn limits(&self, estimate: &Estimate, error: f64) -> Estimate {
        Estimate(self.0.limits(&estimate.0, error))
    }

    fn standard_error(&self, estimate: &Estimate) -> f64 {
        self.0.standard_error(&estimate.0)
    }

    fn freedom(&self, count: u32) -> f64 {
        self.0.freedom(count)
    }

    fn __getnewargs__(&self) -> (f64, bool, u32, f64, f64) {
        let own = self.0;
        (own.comparisons, own.is_sequential, own.first_look, own.capture_share, own.capture_freedom)
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

    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    #[getter]
    fn low(&self) -> f64 {
        self.0.low
    }

    #[getter]
    fn high(&self) -> f64 {
        self.0.high
    }

    #[getter]
    fn count(&self) -> u32 {
        self.0.count
    }

    #[getter]
    fn has_interval(&self) -> bool {
        self.0.has_interval()
    }

    #[getter]
    fn half_width(&self) -> f64 {
        self.0.half_width()
    }

    fn as_change(&self) -> Estimate {
        Estimate(self.0.as_change())
    }

    /// Returns the numbers by name.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0)
    }

    fn negated(&self) -> Estimate {
        Estimate(self.0.negated())
    }

    fn within(&self, least: f64, most: f64) -> Estimate {
        Estimate(self.0.within(least, most))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let own = self.0;
        ([own.mean, own.low, own.high].map(f64::to_bits), own.count).hash(&mut hasher);
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

/// How much effects differ beyond their own errors.
#[pyclass(module = "mousehole._engine", frozen, get_all, eq, skip_from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct Heterogeneity {
    q: f64,
    freedom: u32,
    p_value: f64,
    i_squared: f64,
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

#[pyfunction]
fn t_interval(values: Column, design: &Design) -> PyResult<Estimate> {
    Ok(Estimate(intervals::t_interval(values.as_slice()?, &design.0)))
}

#[pyfunction]
fn difference(scheme: Column, reference: Column, design: &Design) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::difference(own, other, &design.0)))
}

#[pyfunction]
fn log_ratio(scheme: Column, reference: Column, design: &Design) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::log_ratio(own, other, &design.0)))
}

#[pyfunction]
fn ratio_of_means(scheme: Column, reference: Column, design: &Design) -> PyResult<Estimate> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(Estimate(intervals::ratio_of_means(own, other, &design.0)))
}

#[pyfunction]
fn paired_logs<'py>(
    py: Python<'py>,
    scheme: Column,
    reference: Column,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(intervals::paired_logs(own, other).into_pyarray(py))
}

/// Returns in how many replications the scheme has the smaller number, and in how many both have one.
#[pyfunction]
fn smaller_in(scheme: Column, reference: Column) -> PyResult<(u32, u32)> {
    let (own, other) = pair(&scheme, &reference)?;
    Ok(intervals::smaller_in(own, other))
}

#[pyfunction]
fn effective_comparisons(columns: Vec<Column>) -> PyResult<f64> {
    let columns: Vec<Vec<f64>> =
        columns.iter().map(|column| Ok(column.as_slice()?.to_vec())).collect::<PyResult<_>>()?;
    if columns.iter().any(|column| column.len() != columns[0].len()) {
        return Err(PyValueError::new_err("columns must have the same length"));
    }
    Ok(simultaneous::effective_comparisons(&columns))
}

#[pyfunction]
fn positive_interval(values: Column, design: &Design) -> PyResult<Estimate> {
    Ok(Estimate(intervals::positive_interval(values.as_slice()?, &design.0)))
}

#[pyfunction]
fn share_interval(values: Column, design: &Design) -> PyResult<Estimate> {
    Ok(Estimate(intervals::share_interval(values.as_slice()?, &design.0)))
}

#[pyfunction]
fn replications_for(estimate: &Estimate, wanted: f64, design: &Design) -> Option<u32> {
    intervals::replications_for(&estimate.0, wanted, &design.0)
}

#[pyfunction]
fn heterogeneity(effects: Column, errors: Column) -> PyResult<Option<Heterogeneity>> {
    let (effects, errors) = pair(&effects, &errors)?;
    let found = answer::heterogeneity::heterogeneity(effects, errors);
    Ok(found.map(|one| Heterogeneity::new(one.q, one.freedom, one.p_value, one.i_squared, one.deviation)))
}

#[pyfunction]
fn capture_share(material: f64) -> f64 {
    capture::capture_share(material)
}

#[pyfunction]
fn capture_freedom(sizes_bytes: Column, pipe_bytes: f64) -> PyResult<f64> {
    Ok(capture::capture_freedom(sizes_bytes.as_slice()?, pipe_bytes))
}

#[pyfunction]
fn effective_number(weights: Column) -> PyResult<f64> {
    Ok(capture::effective_number(weights.as_slice()?))
}

#[pyfunction]
fn jain_index(rates: Column) -> PyResult<f64> {
    Ok(indices::jain_index(rates.as_slice()?))
}

#[pyfunction]
fn relaxation_s(sizes_bytes: Column, rate_bps: f64, load: f64) -> PyResult<f64> {
    Ok(transient::relaxation_s(sizes_bytes.as_slice()?, rate_bps, load))
}

#[pyfunction]
fn mser(batch_means: Column) -> PyResult<usize> {
    Ok(transient::mser(batch_means.as_slice()?))
}

#[pyfunction]
fn simultaneous_error(error: f64, comparisons: f64) -> f64 {
    levels::simultaneous_error(error, comparisons)
}

#[pyfunction]
fn find_look(replications: u64, first: u32) -> u32 {
    levels::find_look(replications, first)
}

#[pyfunction]
fn replications_of_look(look: u32, first: u32) -> u32 {
    levels::replications_of_look(look, first)
}

#[pyfunction]
fn look_error(replications: u64, error: f64, first: u32) -> f64 {
    levels::look_error(replications, error, first)
}

#[pyfunction]
fn holm(p_values: Column) -> PyResult<Vec<f64>> {
    Ok(significance::holm(p_values.as_slice()?))
}

#[pyfunction]
fn p_beyond(values: Column, end: f64, is_above: bool) -> PyResult<f64> {
    Ok(significance::p_beyond(values.as_slice()?, end, is_above))
}

#[pyfunction]
fn find_p_value(distance: f64, error: f64, freedom: f64) -> f64 {
    significance::find_p_value(distance, error, freedom)
}

#[pyfunction]
fn binomial_interval(count: u32, of: u32) -> (f64, f64) {
    significance::binomial_interval(count, of, levels::LEVEL)
}

fn pair<'a>(one: &'a Column, other: &'a Column) -> PyResult<(&'a [f64], &'a [f64])> {
    let (own, other) = (one.as_slice()?, other.as_slice()?);
    if own.len() != other.len() {
        let text = format!("{} numbers stand beside {}; they are paired, one by one", own.len(), other.len());
        return Err(PyValueError::new_err(text));
    }
    Ok((own, other))
}

/// Registers the classes, functions and constants.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LEVEL", levels::LEVEL)?;
    module.add("FIRST_LOOK", levels::FIRST_LOOK)?;
    module.add("LEAST_REPLICATIONS", intervals::LEAST_REPLICATIONS)?;
    module.add("TIME_CONSTANTS", transient::TIME_CONSTANTS)?;
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
        wrap_pyfunction!(share_interval, module)?,
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
