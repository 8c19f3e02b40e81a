//! Converts scenarios, summaries and parameters between Python objects and the engine's serde types.

use crate::errors;
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::spec::form_problem;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns `value` as new Python dictionaries, lists, numbers and texts.
///
/// # Errors
/// What pythonize raises for a value that Python cannot hold, such as a dictionary as a key.
pub fn to_python<'py, T: Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

/// Returns the engine's value for the Python object `given`, which stands at `field` (empty: the whole scenario).
///
/// # Errors
/// `MouseholeError` if `given` holds something that JSON cannot hold, such as a number that is not finite, or something
/// that `T` does not have.
pub fn from_python<T: DeserializeOwned>(field: &str, given: &Bound<'_, PyAny>) -> PyResult<T> {
    parse_value(field, given).map_err(|error| errors::to_python(given.py(), error))
}

/// Does the work of [`from_python`], with the same errors. It goes through a JSON value, since
/// pythonize alone takes a text for a list of letters and anything for a truth value.
fn parse_value<T: DeserializeOwned>(field: &str, given: &Bound<'_, PyAny>) -> Result<T> {
    require_finite(field, given)?;
    let name = if field.is_empty() { "scenario" } else { field };
    let value: serde_json::Value =
        pythonize::depythonize(given).map_err(|error| form_error(name, error.to_string()))?;
    serde_json::from_value(value).map_err(|error| form_error(name, error.to_string()))
}

/// Returns the error for a value of the wrong form; `problem` is the parser's message.
fn form_error(field: &str, problem: String) -> Error {
    form_problem(&problem).for_field(field)
}

/// Refuses infinity and NaN, in dictionaries, lists and tuples at any depth, which a JSON value
/// would silently turn into null. The error is about the first one, at `field` and the keys and
/// indices that lead to it.
fn require_finite(field: &str, given: &Bound<'_, PyAny>) -> Result<()> {
    if let Ok(number) = given.cast::<PyFloat>() {
        let is_finite = number.value().is_finite();
        return if is_finite { Ok(()) } else { Err(Error::field(field, number, "a finite number")) };
    }
    if let Ok(map) = given.cast::<PyDict>() {
        let dot = if field.is_empty() { "" } else { "." };
        return map.iter().try_for_each(|(key, item)| require_finite(&format!("{field}{dot}{key}"), &item));
    }
    if let Ok(list) = given.cast::<PyList>() {
        return require_all_finite(field, list.iter());
    }
    given.cast::<PyTuple>().map_or(Ok(()), |tuple| require_all_finite(field, tuple.iter()))
}

/// Refuses infinity and NaN in the items of the list or tuple at `field`.
fn require_all_finite<'py>(field: &str, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<()> {
    items.enumerate().try_for_each(|(index, item)| require_finite(&format!("{field}[{index}]"), &item))
}
