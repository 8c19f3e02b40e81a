//! Converts the engine's errors into `mousehole.MouseholeError`, and makes those that Python code raises. No other file
//! of the binding makes a `MouseholeError`.

use mousehole_sim::error::{Error, Given, Problem};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Returns the `mousehole.MouseholeError` of an error of the engine; where that fails, the exception that it failed with.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    match make_exception(py, error) {
        Ok(instance) => PyErr::from_value(instance),
        Err(other) => other,
    }
}

/// Returns a `MouseholeError` with its sentence and with the keywords of its kind: field, value and
/// allowed, or file and line. Imports `mousehole.base`, and raises what that or the class raises.
fn make_exception(py: Python<'_>, error: Error) -> PyResult<Bound<'_, PyAny>> {
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
    let problem =
        Problem::Value { value: describe_value(&value)?, fault, allowed: allowed.into(), suggestion: None };
    make_exception(value.py(), problem.for_field(field))
}

/// Returns the value as messages quote it; a Python text is quoted, anything else is not. Calls the
/// object's `__str__`, and raises what that raises.
fn describe_value(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    Ok(Given { text: value.str()?.to_string(), is_text: value.is_instance_of::<PyString>() })
}

/// Returns the error of a needed field that is absent; `allowed` completes "give …".
#[pyfunction]
// python: -> MouseholeError
fn missing_error<'py>(py: Python<'py>, field: &str, allowed: &str) -> PyResult<Bound<'py, PyAny>> {
    make_exception(py, Error::missing(field, allowed))
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
    let problem =
        Problem::Conflict { value: describe_value(&value)?, with: other.into(), allowed: allowed.into() };
    make_exception(value.py(), problem.for_field(field))
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
    make_exception(py, Error::unknown(field, noun, name, known.iter().map(String::as_str)))
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(value_error, module)?)?;
    module.add_function(wrap_pyfunction!(missing_error, module)?)?;
    module.add_function(wrap_pyfunction!(conflict_error, module)?)?;
    module.add_function(wrap_pyfunction!(unknown_error, module)?)
}
