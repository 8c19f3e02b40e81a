//! Numbers as text for people, by `mousehole-answer`.

use mousehole_answer::quantities::Unit;
use mousehole_answer::texts;
use pyo3::prelude::*;

fn known(number: Option<f64>) -> f64 {
    number.unwrap_or(f64::NAN)
}

#[pyfunction]
#[pyo3(signature = (seconds, bound=false))]
fn time_text(seconds: Option<f64>, bound: bool) -> String {
    texts::time_text(known(seconds), bound)
}

#[pyfunction]
fn span_text(seconds: f64) -> String {
    texts::span_text(seconds)
}

#[pyfunction]
fn counted(number: i64, noun: &str) -> String {
    texts::counted(number, noun)
}

#[pyfunction]
fn share_text(share: Option<f64>) -> String {
    texts::share_text(known(share))
}

#[pyfunction]
fn rate_text(bps: Option<f64>) -> String {
    texts::rate_text(known(bps))
}

#[pyfunction]
#[pyo3(signature = (unit, number, is_bound=false))]
fn unit_text(unit: &Bound<'_, PyAny>, number: Option<f64>, is_bound: bool) -> PyResult<String> {
    let unit: Unit = pythonize::depythonize(unit)?;
    Ok(texts::unit_text(unit, known(number), is_bound))
}

#[pyfunction]
fn percent(share: f64) -> String {
    texts::percent(share)
}

#[pyfunction]
fn signed(share: f64) -> String {
    texts::signed(share)
}

#[pyfunction]
fn capped(share: f64) -> String {
    texts::capped(share)
}

#[pyfunction]
fn change_text(mean: f64, low: f64, high: f64) -> String {
    texts::change_text(mean, low, high)
}

/// Registers the functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_PERCENT", texts::MOST_PERCENT as u32)?;
    for function in [
        wrap_pyfunction!(time_text, module)?,
        wrap_pyfunction!(span_text, module)?,
        wrap_pyfunction!(counted, module)?,
        wrap_pyfunction!(share_text, module)?,
        wrap_pyfunction!(rate_text, module)?,
        wrap_pyfunction!(unit_text, module)?,
        wrap_pyfunction!(percent, module)?,
        wrap_pyfunction!(signed, module)?,
        wrap_pyfunction!(capped, module)?,
        wrap_pyfunction!(change_text, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
