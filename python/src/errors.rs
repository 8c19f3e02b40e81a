//! Converts engine errors into Python's, and builds the messages of Python's own errors. No other module
//! does.

use mousehole_sim::error::{Error, Given, Problem};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Returns a `mousehole.MouseholeError` with the parts of the engine's error.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    match exception(py, error) {
        Ok(instance) => PyErr::from_value(instance),
        Err(other) => other,
    }
}

fn exception(py: Python<'_>, error: Error) -> PyResult<Bound<'_, PyAny>> {
    let parts = PyDict::new(py);
    let sentence = match error {
        Error::Field { field, problem } => {
            parts.set_item("kind", problem.kind())?;
            parts.set_item("field", field)?;
            parts.set_item("value", problem.value().map(|value| value.text.as_str()))?;
            parts.set_item("allowed", problem.allowed())?;
            problem.to_string()
        }
        Error::Row { file, line, problem } => {
            parts.set_item("kind", "row")?;
            parts.set_item("file", file)?;
            parts.set_item("line", line)?;
            problem
        }
        Error::File { file, problem } => {
            parts.set_item("kind", "file")?;
            parts.set_item("file", file)?;
            problem
        }
        Error::Cancelled => error.to_string(),
    };
    let class = py.import("mousehole.base")?.getattr("MouseholeError")?;
    class.call((sentence,), Some(&parts))
}

/// Returns the error of a field whose value is not allowed; `allowed` completes "it must be …", and `fault`
/// "the value …" if it can be more specific than "is not allowed".
#[pyfunction]
#[pyo3(signature = (field, value, allowed, fault=None))]
// python: value: object, -> MouseholeError
fn value_error<'py>(
    field: &str,
    value: Bound<'py, PyAny>,
    allowed: &str,
    fault: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = Problem::Value { value: given(&value)?, fault, allowed: allowed.into(), suggestion: None };
    exception(value.py(), problem.for_field(field))
}

fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    Ok(Given { text: value.str()?.to_string(), is_text: value.is_instance_of::<PyString>() })
}

/// Returns the error of a needed field that is absent; `allowed` completes "give …".
#[pyfunction]
// python: -> MouseholeError
fn missing_error<'py>(py: Python<'py>, field: &str, allowed: &str) -> PyResult<Bound<'py, PyAny>> {
    exception(py, Error::missing(field, allowed))
}

/// Returns the error of a value that cannot be combined with something else; `allowed` says how to resolve it.
#[pyfunction]
// python: value: object, -> MouseholeError
fn conflict_error<'py>(
    field: &str,
    value: Bound<'py, PyAny>,
    other: &str,
    allowed: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = Problem::Conflict { value: given(&value)?, with: other.into(), allowed: allowed.into() };
    exception(value.py(), problem.for_field(field))
}

/// Returns the error of a name that no `noun` has.
#[pyfunction]
// python: -> MouseholeError
fn unknown_error<'py>(
    py: Python<'py>,
    field: &str,
    noun: String,
    name: &str,
    known: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    exception(py, Error::unknown(field, noun, name, known.iter().map(String::as_str)))
}

/// Registers this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(value_error, module)?)?;
    module.add_function(wrap_pyfunction!(missing_error, module)?)?;
    module.add_function(wrap_pyfunction!(conflict_error, module)?)?;
    module.add_function(wrap_pyfunction!(unknown_error, module)?)
}
