//! Writes documents as JSON with `mousehole-compare`, which also writes those of the page in a browser.

use crate::errors;
use crate::statistics::Estimate;
use crate::traffic::Traffic;
use mousehole_compare::{Made, Options, json_text, options_document};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Value};

/// Version and revision of this program, for manifests.
pub const MADE: Made = Made { version: env!("CARGO_PKG_VERSION"), revision: env!("MOUSEHOLE_REVISION") };

/// Returns a document as `--json` writes it. It may hold `Estimate` objects and numpy's numbers. NaN and infinity become
/// null, and lone surrogates become U+FFFD, since JSON has neither.
///
/// # Errors
/// `OverflowError` for a whole number beyond 64 bits, `TypeError` for an object of a type that JSON does not have.
#[pyfunction]
#[pyo3(name = "json_text")]
// python: document: Mapping[str, object]
fn document_text(py: Python<'_>, document: &Bound<'_, PyAny>) -> PyResult<String> {
    let value = to_json(document)?;
    Ok(py.detach(|| json_text(&value)))
}

/// Runs the comparison that the page in a browser asks for with `options` in JSON, and returns its document. `traffic` is
/// the traffic that was read if the options name files. Tests compare the document with that of `mousehole compare`.
#[pyfunction]
#[pyo3(signature = (options, traffic=None))]
fn page_document(py: Python<'_>, options: &str, traffic: Option<PyRef<'_, Traffic>>) -> PyResult<String> {
    let options: Options =
        serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let read = traffic.map(|traffic| traffic.given());
    py.detach(|| options_document(&options, read.as_ref(), MADE))
        .map_err(|error| errors::to_python(py, error))
}

/// Returns a Python object as a JSON value; raises the errors of [`document_text`].
fn to_json(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(to_text(text)?.into());
    }
    if let Ok(truth) = given.cast::<PyBool>() {
        return Ok(truth.is_true().into());
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        return Ok(number.value().into());
    }
    if given.is_instance_of::<PyInt>() {
        return to_whole(given);
    }
    if let Ok(entries) = given.cast::<PyDict>() {
        return to_object(entries.iter());
    }
    if let Ok(items) = given.cast::<PyList>() {
        return items.iter().map(|item| to_json(&item)).collect();
    }
    if let Ok(items) = given.cast::<PyTuple>() {
        return items.iter().map(|item| to_json(&item)).collect();
    }
    if let Ok(estimate) = given.cast::<Estimate>() {
        return Ok(serde_json::to_value(estimate.get().0).expect("an estimate has fields"));
    }
    if let Ok(entries) = given.cast::<PyMapping>() {
        return to_object(entries.items()?.iter().map(|item| item.extract()).collect::<PyResult<Vec<_>>>()?);
    }
    if given.is_instance(&given.py().import("numpy")?.getattr("generic")?)? {
        return to_json(&given.call_method0("item")?);
    }
    Err(PyTypeError::new_err(format!("{} has no form in JSON", given.get_type().name()?)))
}

/// Returns a JSON object; keys are converted by `str`, and of equal texts the last one counts.
/// Raises the errors of [`document_text`], and what a key's `__str__` raises.
fn to_object<'py>(
    entries: impl IntoIterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyResult<Value> {
    let entry =
        |(name, item): (Bound<'py, PyAny>, Bound<'py, PyAny>)| Ok((to_text(&name.str()?)?, to_json(&item)?));
    Ok(Value::Object(entries.into_iter().map(entry).collect::<PyResult<Map<_, _>>>()?))
}

/// Returns a whole number; raises `OverflowError` beyond the ranges of i64 and u64.
fn to_whole(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = given.extract::<i64>() {
        return Ok(number.into());
    }
    let beyond = |_| PyOverflowError::new_err(format!("{given} is beyond the whole numbers of 64 bits"));
    Ok(given.extract::<u64>().map_err(beyond)?.into())
}

/// Returns a text with U+FFFD in place of each lone surrogate.
fn to_text(given: &Bound<'_, PyString>) -> PyResult<String> {
    if let Ok(text) = given.to_str() {
        return Ok(text.to_owned());
    }
    let bytes: Vec<u8> = given.call_method1("encode", ("utf-16-le", "surrogatepass"))?.extract()?;
    let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    Ok(String::from_utf16_lossy(&units))
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(document_text, module)?)?;
    module.add_function(wrap_pyfunction!(page_document, module)?)
}
