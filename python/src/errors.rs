//! The one place where engine errors become Python's.

use mousehole_sim::error::Error;
use pyo3::prelude::*;

/// `mousehole.errors.MouseholeError` with the engine's message.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    with_message(py, &error.to_string())
}

/// Returns a `MouseholeError` of one sentence.
pub fn with_message(py: Python<'_>, sentence: &str) -> PyErr {
    let class = py.import("mousehole.errors").and_then(|module| module.getattr("MouseholeError"));
    match class.and_then(|class| class.call1((sentence,))) {
        Ok(instance) => PyErr::from_value(instance),
        Err(other) => other,
    }
}
