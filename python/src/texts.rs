//! Numbers as text for people, by `mousehole-answer`.

use mousehole_answer::quantities::Unit;
use mousehole_answer::texts;
use pyo3::prelude::*;

fn known(number: Option<f64>) -> f64 {
    number.unwrap_or(f64::NAN)
}

/// Returns a time as text: `84 ms`, `1.27 s`, `≥ 1.27 s` for a lower bound, `–` for None and NaN.
#[pyfunction]
#[pyo3(signature = (seconds, bound=false))]
fn time_text(seconds: Option<f64>, bound: bool) -> String {
    texts::time_text(known(seconds), bound)
}

/// Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720 s)`.
#[pyfunction]
fn span_text(seconds: f64) -> String {
    texts::span_text(seconds)
}

/// Returns `1 client`, `2 clients`: the number with the noun, which takes an s in the plural.
#[pyfunction]
fn counted(number: i64, noun: &str) -> String {
    texts::count_text(number, noun)
}

/// Returns a share as text: `0.42 %`, `< 0.001 %` for less than half of that, `–` for None and NaN.
#[pyfunction]
fn share_text(share: Option<f64>) -> String {
    texts::share_text(known(share))
}

/// Returns a rate as text: `3.2 Mb/s`, `–` for None and NaN.
#[pyfunction]
fn rate_text(bps: Option<f64>) -> String {
    texts::rate_text(known(bps))
}

/// Returns a number of a quantity's unit as text, with `≥` for a lower bound; `–` for None and NaN.
#[pyfunction]
#[pyo3(signature = (unit, number, is_bound=false))]
// python: unit: str
fn unit_text(unit: &Bound<'_, PyAny>, number: Option<f64>, is_bound: bool) -> PyResult<String> {
    let unit: Unit = pythonize::depythonize(unit)?;
    Ok(texts::unit_text(unit, known(number), is_bound))
}

/// Returns a share in percent with two or three digits, a true minus sign, and no sign for percent.
#[pyfunction]
fn percent(share: f64) -> String {
    texts::percent(share)
}

/// Returns a share in percent with its sign, plus as well as minus, and no sign for percent.
#[pyfunction]
fn signed(share: f64) -> String {
    texts::signed(share)
}

/// Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent.
#[pyfunction]
fn whole_percent(share: f64) -> String {
    texts::whole_percent(share)
}

/// Returns a share as `signed` does, `>+999` for more than that.
#[pyfunction]
fn capped(share: f64) -> String {
    texts::capped(share)
}

/// Returns a change with its ends, `−32 % (−36…−28)`; without ends that are not finite, `–` for NaN.
#[pyfunction]
fn change_text(mean: f64, low: f64, high: f64) -> String {
    texts::change_text(mean, low, high)
}

/// Registers the functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(time_text, module)?,
        wrap_pyfunction!(span_text, module)?,
        wrap_pyfunction!(counted, module)?,
        wrap_pyfunction!(share_text, module)?,
        wrap_pyfunction!(rate_text, module)?,
        wrap_pyfunction!(unit_text, module)?,
        wrap_pyfunction!(percent, module)?,
        wrap_pyfunction!(signed, module)?,
        wrap_pyfunction!(whole_percent, module)?,
        wrap_pyfunction!(capped, module)?,
        wrap_pyfunction!(change_text, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
