//! Binds the install plans of `mousehole-compare`: the commands that install a scheme on a link.

use crate::convert::from_python;
use crate::errors::to_python;
use mousehole_compare::installing::{self, Bottleneck, Means, NO_LINK};
use mousehole_sim::link_layer::{LinkLayer, Wire};
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::install::{Installation, Line, WredProfile};
use mousehole_sim::units::Rate;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// One direction of a bottleneck, as the commands that install a scheme there need it.
#[pyclass(module = "mousehole._engine", frozen, eq, skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub struct Link(installing::Link);

#[pymethods]
impl Link {
    /// `overhead` and `layer` say how many bytes a packet has on the wire; `burst` is the depth of a token bucket in bytes.
    #[new]
    #[pyo3(signature = (rate_bps, buffer_packets, overhead=0, is_upload=false, other=None, layer=None, burst=None))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        py: Python<'_>,
        rate_bps: u64,
        buffer_packets: u64,
        overhead: u32,
        is_upload: bool,
        other: Option<PyRef<'_, Link>>,
        layer: Option<&str>,
        burst: Option<u64>,
    ) -> PyResult<Link> {
        let layer = layer.map(|name| LinkLayer::find_layer("link.layer", name)).transpose();
        let wire = Wire { overhead, layer: layer.map_err(|error| to_python(py, error))? };
        let line = Line { rate: Rate(rate_bps), buffer_packets, wire, is_upload, burst };
        let other = other.map(|other| Box::new(other.0.clone()));
        Ok(Link(installing::Link { line, shaping: None, other }))
    }

    /// Rate at which the scheme sends: the link's, or the shaper's before a modem.
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.0.line.rate.0
    }

    /// Size of the buffer in full packets.
    #[getter]
    fn buffer_packets(&self) -> u64 {
        self.0.line.buffer_packets
    }

    /// Whether data go from client to server.
    #[getter]
    fn is_upload(&self) -> bool {
        self.0.line.is_upload
    }

    /// The other direction if the scheme is at both; else None.
    #[getter]
    fn other(&self) -> Option<Link> {
        self.0.other.as_ref().map(|other| Link((**other).clone()))
    }

    /// Rate of the modem's line, in bits per second, or its mean if it varies; None without a modem.
    #[getter]
    fn line_bps(&self) -> Option<u64> {
        self.0.shaping.as_ref().map(|one| one.modem.rate_bps)
    }

    /// Whether the rate of the modem's line varies; false without a modem.
    #[getter]
    fn varies(&self) -> bool {
        self.0.shaping.as_ref().is_some_and(|one| one.modem.varies)
    }

    /// Whether the shaper's rate was given for this direction alone, so that a rate in the scheme does not replace it.
    #[getter]
    fn has_own_shape(&self) -> bool {
        self.0.shaping.as_ref().is_some_and(|one| one.is_of_direction)
    }

    /// Returns the install plan of each direction in which something installs the scheme, and None; or no plan, and the
    /// reason.
    // python: -> tuple[list[InstallPlan], str | None]
    fn install<'py>(&self, py: Python<'py>, scheme: &str) -> PyResult<(Bound<'py, PyList>, Option<String>)> {
        match self.0.install(&parse_scheme(py, scheme)?) {
            Err(reason) => Ok((PyList::empty(py), Some(reason))),
            Ok(ways) => {
                let ways = ways.into_iter().map(|(link, way)| plan_dict(py, link.line.is_upload, way));
                Ok((PyList::new(py, ways.collect::<PyResult<Vec<_>>>()?)?, None))
            }
        }
    }

    /// Returns where a scheme is installed, and the lines to type there; None if nothing installs it.
    fn list_lines(&self, py: Python<'_>, scheme: &str) -> PyResult<Option<(String, Vec<String>)>> {
        let found = self.0.list_lines(&parse_scheme(py, scheme)?).ok();
        Ok(found.map(|found| (found.place, found.lines)))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Returns the bottleneck of a scenario that is filled in except for its traffic; None if it has no constant
/// rate, or a buffer in bandwidth-delay products of an unknown round-trip time.
/// `buffer` is that of the cell; `means` has the mean, in bit/s, of each direction (`down`, `up`) whose rate varies.
#[pyfunction]
// python: scenario: Mapping[str, object], means: Mapping[str, int]
fn find_link(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    buffer: &str,
    is_up: bool,
    means: Means,
) -> PyResult<Option<Link>> {
    let scenario = from_python("", scenario)?;
    let bottleneck = Bottleneck { scenario: &scenario, buffer, is_up, means: &means };
    Ok(bottleneck.find_link().map_err(|error| to_python(py, error))?.map(Link))
}

/// Returns a scheme; raises `MouseholeError` for a text that is not one.
fn parse_scheme(py: Python<'_>, scheme: &str) -> PyResult<Scheme> {
    Scheme::parse(scheme).map_err(|error| to_python(py, error))
}

/// Returns the `InstallPlan` of a direction as a new dictionary; its `live` is the content of a
/// file for `mousehole-live --config`, or None.
fn plan_dict(py: Python<'_>, is_upload: bool, way: Installation) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("place", way.place.name())?;
    found.set_item("lines", way.lines)?;
    found.set_item("live", way.live.map(|command| command.file()))?;
    let profiles = way.wred.into_iter().map(|one| profile_dict(py, one));
    found.set_item("wred", PyList::new(py, profiles.collect::<PyResult<Vec<_>>>()?)?)?;
    found.set_item("needs", way.needs)?;
    found.set_item("direction", if is_upload { "upload" } else { "download" })?;
    Ok(found)
}

/// Returns one WRED profile; lengths of the queue are in packets.
fn profile_dict(py: Python<'_>, one: WredProfile) -> PyResult<Bound<'_, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("dscp", one.dscp)?;
    entry.set_item("min_packets", one.min_packets)?;
    entry.set_item("max_packets", one.max_packets)?;
    entry.set_item("probability", &one.probability)?;
    entry.set_item("weight_exponent", one.weight_exponent)?;
    Ok(entry)
}

/// Adds the constant, class and function of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NO_LINK", NO_LINK)?;
    module.add_class::<Link>()?;
    module.add_function(wrap_pyfunction!(find_link, module)?)
}
