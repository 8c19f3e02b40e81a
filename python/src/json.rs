//! Documents as JSON, written as the page in a browser writes them: by `mousehole-compare`.

use crate::errors;
use crate::statistics::Estimate;
use crate::traffic::Traffic;
use mousehole_compare::{Made, Options, json_text, options_document};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Value};

/// This program.
pub const MADE: Made = Made { version: env!("CARGO_PKG_VERSION"), revision: env!("MOUSEHOLE_REVISION") };

/// Returns a document as `--json` writes it. Estimates and numpy's numbers may stand in it; NaN and infinity become null, and
/// surrogates that stand alone U+FFFD, since JSON has neither.
///
/// # Errors
/// `OverflowError` for a whole number beyond 64 bits, `TypeError` for what JSON has not.
#[pyfunction]
#[pyo3(name = "json_text")]
// python: document: Mapping[str, object]
fn text_of_document(py: Python<'_>, document: &Bound<'_, PyAny>) -> PyResult<String> {
    let value = to_json(document)?;
    Ok(py.detach(|| json_text(&value)))
}

/// Makes the comparison that a page in a browser asks for by `options` in JSON, of the traffic that was read if they name
/// files; returns its document. By it tests hold what the page puts around cells and runs against what the command does.
#[pyfunction]
#[pyo3(signature = (options, traffic=None))]
fn page_document(py: Python<'_>, options: &str, traffic: Option<PyRef<'_, Traffic>>) -> PyResult<String> {
    let options: Options =
        serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let read = traffic.map(|traffic| traffic.given());
    py.detach(|| options_document(&options, read.as_ref(), MADE))
        .map_err(|error| errors::to_python(py, error))
}

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

fn to_object<'py>(
    entries: impl IntoIterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyResult<Value> {
    let entry =
        |(name, item): (Bound<'py, PyAny>, Bound<'py, PyAny>)| Ok((to_text(&name.str()?)?, to_json(&item)?));
    Ok(Value::Object(entries.into_iter().map(entry).collect::<PyResult<Map<_, _>>>()?))
}

fn to_whole(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = given.extract::<i64>() {
        return Ok(number.into());
    }
    let beyond = |_| PyOverflowError::new_err(format!("{given} is beyond the whole numbers of 64 bits"));
    Ok(given.extract::<u64>().map_err(beyond)?.into())
}

/// Returns a text, in which each surrogate that stands alone is U+FFFD.
fn to_text(given: &Bound<'_, PyString>) -> PyResult<String> {
    if let Ok(text) = given.to_str() {
        return Ok(text.to_owned());
    }
    let bytes: Vec<u8> = given.call_method1("encode", ("utf-16-le", "surrogatepass"))?.extract()?;
    let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    Ok(String::from_utf16_lossy(&units))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(text_of_document, module)?)?;
    module.add_function(wrap_pyfunction!(page_document, module)?)
}
