//! Binds the catalogue of schemes, parts, traffic models and places, and the parsers of rates, times and sizes.

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

/// Returns the tables of applications (`apps`) and of ready-made places (`places`).
#[pyfunction]
// python: -> dict[str, list[dict[str, Any]]]
fn places(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, scenario::places::places())
}

/// Returns the entries of a mix for a number of users, given the share of users who run each application. Raises
/// `KeyError` for an application that is not in the table.
#[pyfunction]
// python: -> list[dict[str, Any]]
fn place_entries(py: Python<'_>, users: u32, shares: Vec<(String, f64)>) -> PyResult<Bound<'_, PyAny>> {
    let found = scenario::places::mix_entries(users, &shares);
    convert::to_python(py, &found.map_err(PyKeyError::new_err)?)
}

/// Returns the name of the traffic of a place, or of users without a place, for titles: `home, 4 users`.
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
        let entry =
            catalogue_entry(py, scheme.name, [scheme.summary, scheme.source, scheme.detail], parameters)?;
        entry.set_item("stages", scheme.stages.iter().map(|preset| preset.part).collect::<Vec<_>>())?;
        Ok(entry)
    });
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Returns every part that schemes may be made of: the fields of [`schemes`] except `stages`, and its role,
/// the order in which packets leave it, and what installs it. `header` and `sha256` are the path and the
/// digest of the header of a user's own policy; None for other parts.
#[pyfunction]
// python: -> list[PartEntry]
fn parts(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = Part::all().into_iter().map(|part| {
        let entry = catalogue_entry(py, part.name(), part.texts(), part.parameters())?;
        entry.set_item("role", if part.role() == Role::Marker { "marker" } else { "queue" })?;
        entry.set_item("order", if part.order() == Order::Fifo { "fifo" } else { "several" })?;
        entry.set_item("installed_by", scenario::install::describe(part))?;
        let policy = if let Part::Policy(policy) = part { Some(policy) } else { None };
        entry.set_item("is_policy", policy.is_some())?;
        entry.set_item("header", policy.map(header_path).unwrap_or_default())?;
        entry.set_item("sha256", policy.map(header_digest).unwrap_or_default())?;
        Ok(entry)
    });
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the fields that schemes and parts share, as a new dictionary; a parameter's `unit` says
/// which values it may have.
fn catalogue_entry<'py>(
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

/// Returns the path of the header of a user's own policy; None for a policy that is shipped.
fn header_path(policy: &Policy) -> Option<String> {
    match policy.origin() {
        Origin::Header { path, .. } => Some(path.display().to_string()),
        Origin::Shipped => None,
    }
}

/// Returns the SHA-256 of the header of a user's own policy; None for a policy that is shipped.
fn header_digest(policy: &Policy) -> Option<String> {
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
            entry.set_item("header", header_path(policy))?;
            entry.set_item("sha256", header_digest(policy))?;
            Ok(entry)
        });
    PyList::new(py, own.collect::<PyResult<Vec<_>>>()?)
}

/// Returns a sentence for each part of a scheme that has no effect in its position.
#[pyfunction]
fn scheme_remarks(py: Python<'_>, scheme: &str) -> PyResult<Vec<String>> {
    Scheme::parse(scheme).map(|parsed| parsed.remarks()).map_err(|error| to_python(py, error))
}

/// Returns the names of the traffic models, each with its summary of one line.
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

/// Returns the bits per second of a rate such as `10mbit`; raises `MouseholeError` about `field` for any other text.
#[pyfunction(name = "parse_rate")]
fn parse_bits_per_second(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_rate(field, text).map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Returns the bits per second of a direction of a link, given as a rate or as the file of a rate trace, whose mean
/// counts.
#[pyfunction]
fn link_rate(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    let found = match RateTrace::is_file_name(text) {
        true => RateTrace::read(field, text).map(|trace| trace.mean()),
        false => parse_rate(field, text),
    };
    found.map(|rate| rate.0).map_err(|error| to_python(py, error))
}

/// Returns the bits per second left for IP on a link of this rate and link layer if all packets are full.
#[pyfunction]
fn load_rate(py: Python<'_>, rate: &str, layer: &str) -> PyResult<u64> {
    let found = LinkLayer::find_layer("link.layer", layer).and_then(|layer| {
        let wire = Wire { overhead: 0, layer: Some(layer) };
        parse_rate("rate", rate).map(|rate| wire.ip_rate(rate).0)
    });
    found.map_err(|error| to_python(py, error))
}

/// Returns the bits per second of a shaper that is given as a share or a rate. `rate_bps` is the rate of
/// the line, or its mean if the line varies. Raises `MouseholeError` about `field` for any other text, and
/// for a shaper without effect or of next to no rate.
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

/// Returns the seconds of a time such as `80ms`; raises `MouseholeError` about `field` for any other text.
#[pyfunction(name = "parse_duration")]
fn parse_seconds(py: Python<'_>, field: &str, text: &str) -> PyResult<f64> {
    parse_dur(field, text).map(|span| span.as_secs()).map_err(|error| to_python(py, error))
}

/// Returns the bytes of a size such as `15kB`; raises `MouseholeError` about `field` for any other text.
#[pyfunction(name = "parse_size")]
fn parse_bytes(py: Python<'_>, field: &str, text: &str) -> PyResult<u64> {
    parse_size(field, text).map_err(|error| to_python(py, error))
}

/// Returns the input formats under their headings: name, what a file is recognised by, and how it is read.
#[pyfunction]
// python: -> list[FormatEntry]
fn formats(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &understood())
}

/// Adds the constants and functions of this file to the module.
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
    module.add_function(wrap_pyfunction!(parse_bits_per_second, module)?)?;
    module.add_function(wrap_pyfunction!(link_rate, module)?)?;
    module.add_function(wrap_pyfunction!(is_rate_trace, module)?)?;
    module.add_function(wrap_pyfunction!(load_rate, module)?)?;
    module.add_function(wrap_pyfunction!(shaped_rate, module)?)?;
    module.add_function(wrap_pyfunction!(parse_seconds, module)?)?;
    module.add_function(wrap_pyfunction!(parse_bytes, module)?)
}
