//! Schemes and units, for front ends that list and parse them.

use crate::convert;
use crate::errors::to_python;
use mousehole_policy::{Origin, Parameter, Policy};
use mousehole_sim::link_layer::{LinkLayer, Wire};
use mousehole_sim::rate_trace::RateTrace;
use mousehole_sim::scenario::native_part::Order;
use mousehole_sim::scenario::{self, Part, Role, SCHEMES, Scheme, Shape};
use mousehole_sim::traffic::model::MODELS;
use mousehole_sim::traffic::read::formats::understood;
use mousehole_sim::units::{Rate, parse_dur, parse_rate, parse_size};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the tables of applications and of places.
#[pyfunction]
// python: -> dict[str, list[dict[str, Any]]]
fn places(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, scenario::places::places())
}

/// Returns the entries of a mix of so many users, by shares of applications that are in the table.
#[pyfunction]
// python: -> list[dict[str, Any]]
fn place_entries(py: Python<'_>, users: u32, shares: Vec<(String, f64)>) -> PyResult<Bound<'_, PyAny>> {
    let found = scenario::places::mix_entries(users, &shares);
    convert::to_python(py, &found.map_err(PyKeyError::new_err)?)
}

/// Returns the name of a place's traffic for titles.
#[pyfunction]
fn place_label(place: Option<&str>, users: u32) -> String {
    scenario::places::traffic_label(place, users)
}

/// Returns every named scheme: name, summary, source, detail, stages and params.
#[pyfunction]
// python: -> list[SchemeEntry]
fn schemes(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = SCHEMES.iter().map(|scheme| {
        let parameters = scheme.visible_parameters().into_iter().map(|one| one.parameter).collect();
        let entry = entry(py, scheme.name, [scheme.summary, scheme.source, scheme.detail], parameters)?;
        entry.set_item("stages", scheme.stages.iter().map(|preset| preset.part).collect::<Vec<_>>())?;
        Ok(entry)
    });
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Returns every part that schemes may be made of: as [`schemes`] does, with its role, the order in which packets leave
/// it, what installs it, and of a user's own policy its
/// header and that header's SHA-256.
#[pyfunction]
// python: -> list[PartEntry]
fn parts(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = Part::all_parts().into_iter().map(|part| {
        let entry = entry(py, part.name(), part.texts(), part.parameters())?;
        entry.set_item("role", if part.role() == Role::Marker { "marker" } else { "queue" })?;
        entry.set_item("order", if part.order() == Order::Fifo { "fifo" } else { "several" })?;
        entry.set_item("installed_by", scenario::install::describe(part))?;
        let policy = if let Part::Policy(policy) = part { Some(policy) } else { None };
        entry.set_item("is_policy", policy.is_some())?;
        entry.set_item("header", policy.map(header).unwrap_or_default())?;
        entry.set_item("sha256", policy.map(sha256).unwrap_or_default())?;
        Ok(entry)
    });
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

fn entry<'py>(
    py: Python<'py>,
    name: &str,
    [summary, source, detail]: [&str; 3],
    parameters: Vec<Parameter>,
) -> PyResult<Bound<'py, PyDict>> {
    let params = parameters.into_iter().map(|parameter| {
        let entry = PyDict::new(py);
        entry.set_item("name", parameter.name)?;
        entry.set_item("default", parameter.default)?;
        entry.set_item("unit", parameter.allowed())?;
        entry.set_item("doc", parameter.meaning)?;
        entry.set_item("source", parameter.source)?;
        Ok(entry)
    });
    let entry = PyDict::new(py);
    entry.set_item("name", name)?;
    entry.set_item("summary", summary)?;
    entry.set_item("source", source)?;
    entry.set_item("detail", detail)?;
    entry.set_item("params", params.collect::<PyResult<Vec<_>>>()?)?;
    Ok(entry)
}

fn header(policy: &Policy) -> Option<String> {
    match policy.origin() {
        Origin::Header { path, .. } => Some(path.display().to_string()),
        Origin::Shipped => None,
    }
}

fn sha256(policy: &Policy) -> Option<String> {
    match policy.origin() {
        Origin::Header { sha256, .. } => Some(sha256.clone()),
        Origin::Shipped => None,
    }
}

/// Returns the user's own policies in a scheme: name, header and SHA-256 of the header.
#[pyfunction]
// python: -> list[OwnPolicy]
fn scheme_policies<'py>(py: Python<'py>, scheme: &str) -> PyResult<Bound<'py, PyList>> {
    let parsed = Scheme::parse(scheme).map_err(|error| to_python(py, error))?;
    let own =
        parsed.policies().into_iter().filter(|policy| *policy.origin() != Origin::Shipped).map(|policy| {
            let entry = PyDict::new(py);
            entry.set_item("name", policy.name())?;
            entry.set_item("header", header(policy))?;
            entry.set_item("sha256", sha256(policy))?;
            Ok(entry)
        });
    PyList::new(py, own.collect::<PyResult<Vec<_>>>()?)
}

/// Returns a sentence for each part of a scheme that has no effect in its position.
#[pyfunction]
fn scheme_remarks(py: Python<'_>, scheme: &str) -> PyResult<Vec<String>> {
    Scheme::parse(scheme).map(|parsed| parsed.remarks()).map_err(|error| to_python(py, error))
}

/// Names of the traffic models, each with one line about it.
#[pyfunction]
// python: -> dict[str, str]
fn models(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    MODELS.iter().try_for_each(|about| all.set_item(about.name, about.summary))?;
    Ok(all)
}

/// Returns every parameter of a scheme with its value as text.
#[pyfunction]
// python: -> dict[str, str]
fn scheme_parameters<'py>(py: Python<'py>, scheme: &str) -> PyResult<Bound<'py, PyDict>> {
    let parsed = Scheme::parse(scheme).map_err(|error| to_python(py, error))?;
    let values = PyDict::new(py);
    for (name, _, value) in parsed.parameters() {
        values.set_item(name, value)?;
    }
    Ok(values)
}

/// Bits per second of a rate such as `10mbit`.
#[pyfunction(name = "parse_rate")]
fn rate(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_rate(field, text).map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Bits per second of a direction of a link, given as a rate or as the file of a rate trace, which has a mean.
#[pyfunction]
fn link_rate(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    let found = match RateTrace::is_file_name(text) {
        true => RateTrace::read(field, text).map(|trace| trace.mean()),
        false => parse_rate(field, text),
    };
    found.map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Returns the bit/s that full packets leave to IP on a link of a rate with a link layer.
#[pyfunction]
fn load_rate(py: Python<'_>, rate: &str, layer: &str) -> PyResult<u64> {
    let found = LinkLayer::find_layer("link.layer", layer).and_then(|layer| {
        let wire = Wire { overhead: 0, layer: Some(layer) };
        parse_rate("rate", rate).map(|rate| wire.ip_rate(rate).0)
    });
    found.map_err(|error| to_python(py, error))
}

/// Returns the bit/s of a shaper, given as a share or a rate, on a line of a rate, the mean if the line varies.
#[pyfunction]
fn shaped_rate(py: Python<'_>, field: &str, text: &str, rate_bps: u64, varies: bool) -> PyResult<u64> {
    let found = Shape::parse(field, text).and_then(|shape| shape.resolve(field, Rate(rate_bps), varies, ""));
    found.map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Returns whether a direction of a link is given as the file of a rate trace.
#[pyfunction]
fn is_rate_trace(text: &str) -> bool {
    RateTrace::is_file_name(text)
}

/// Returns the seconds of a time such as `80ms`.
#[pyfunction(name = "parse_duration")]
fn duration(py: Python<'_>, field: &str, text: &str) -> PyResult<f64> {
    parse_dur(field, text).map(|span| span.as_secs()).map_err(|error| to_python(py, error))
}

/// Returns the bytes of a size such as `15kB`.
#[pyfunction(name = "parse_size")]
fn size(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_size(field, text).map_err(|error| to_python(py, error))
}

/// Returns what the reader of traffic understands, by heading: name, what it is recognised by, how it is read.
#[pyfunction]
// python: -> list[FormatEntry]
fn formats(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &understood())
}

/// Registers this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_USERS", scenario::places::MOST_USERS)?;
    module.add_function(wrap_pyfunction!(schemes, module)?)?;
    for function in [
        wrap_pyfunction!(parts, module)?,
        wrap_pyfunction!(places, module)?,
        wrap_pyfunction!(place_entries, module)?,
        wrap_pyfunction!(place_label, module)?,
        wrap_pyfunction!(formats, module)?,
        wrap_pyfunction!(scheme_policies, module)?,
        wrap_pyfunction!(scheme_remarks, module)?,
    ] {
        module.add_function(function)?;
    }
    module.add_function(wrap_pyfunction!(models, module)?)?;
    module.add_function(wrap_pyfunction!(scheme_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(rate, module)?)?;
    module.add_function(wrap_pyfunction!(link_rate, module)?)?;
    module.add_function(wrap_pyfunction!(is_rate_trace, module)?)?;
    module.add_function(wrap_pyfunction!(load_rate, module)?)?;
    module.add_function(wrap_pyfunction!(shaped_rate, module)?)?;
    module.add_function(wrap_pyfunction!(duration, module)?)?;
    module.add_function(wrap_pyfunction!(size, module)?)
}
