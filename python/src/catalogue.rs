//! Schemes and units, for front ends that list and parse them.

use crate::errors::to_python;
use mousehole_sim::scenario::{SCHEMES, Scheme, SchemeDoc};
use mousehole_sim::traffic::model::MODELS;
use mousehole_sim::units::{parse_dur, parse_rate, parse_size};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Every scheme with its parameters: name, summary, source, detail, params.
#[pyfunction]
fn schemes(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = SCHEMES.iter().map(|doc| scheme(py, doc)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, all)
}

fn scheme<'py>(py: Python<'py>, doc: &SchemeDoc) -> PyResult<Bound<'py, PyDict>> {
    let params = doc.all_parameters().into_iter().map(|parameter| {
        let entry = PyDict::new(py);
        entry.set_item("name", parameter.name)?;
        entry.set_item("default", parameter.default)?;
        entry.set_item("unit", parameter.kind.describe())?;
        entry.set_item("doc", parameter.doc)?;
        entry.set_item("source", parameter.source)?;
        Ok(entry)
    });
    let entry = PyDict::new(py);
    entry.set_item("name", doc.name)?;
    entry.set_item("summary", doc.summary)?;
    entry.set_item("source", doc.source)?;
    entry.set_item("detail", doc.detail)?;
    entry.set_item("params", params.collect::<PyResult<Vec<_>>>()?)?;
    Ok(entry)
}

/// Names of the traffic models, each with one line about it.
#[pyfunction]
fn models(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    MODELS.iter().try_for_each(|about| all.set_item(about.name, about.summary))?;
    Ok(all)
}

/// Every parameter of a scheme with its value as text.
#[pyfunction]
fn scheme_parameters<'py>(py: Python<'py>, scheme: &str) -> PyResult<Bound<'py, PyDict>> {
    let parsed = Scheme::parse(scheme).map_err(|error| to_python(py, error))?;
    let values = PyDict::new(py);
    for (doc, value) in parsed.parameters() {
        values.set_item(doc.name, value)?;
    }
    Ok(values)
}

/// Bits per second of a rate such as `10mbit`.
#[pyfunction(name = "parse_rate")]
fn rate(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_rate(field, text).map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Seconds of a time such as `80ms`.
#[pyfunction(name = "parse_duration")]
fn duration(py: Python<'_>, field: &str, text: &str) -> PyResult<f64> {
    parse_dur(field, text).map(|span| span.as_secs()).map_err(|error| to_python(py, error))
}

/// Bytes of a size such as `15kB`.
#[pyfunction(name = "parse_size")]
fn size(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_size(field, text).map_err(|error| to_python(py, error))
}

/// Registers this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(schemes, module)?)?;
    module.add_function(wrap_pyfunction!(models, module)?)?;
    module.add_function(wrap_pyfunction!(scheme_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(rate, module)?)?;
    module.add_function(wrap_pyfunction!(duration, module)?)?;
    module.add_function(wrap_pyfunction!(size, module)?)
}
