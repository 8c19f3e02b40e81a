//! What installs a scheme, for the answer of a comparison.

use crate::errors::to_python;
use mousehole_sim::link_layer::{LinkLayer, Wire};
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::install::{self, Line, WredProfile};
use mousehole_sim::units::Rate;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns what installs a scheme on a link: place, lines, live (a file for `mousehole-live --config`, or None), wred and
/// needs; or where nothing does, only the reason.
#[pyfunction]
#[pyo3(name = "install")]
#[allow(clippy::too_many_arguments)] // keywords in Python
fn plan<'py>(
    py: Python<'py>,
    scheme: &str,
    rate_bps: u64,
    buffer_packets: u64,
    overhead: u32,
    layer: Option<&str>,
    is_upload: bool,
    burst: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let parsed = Scheme::parse(scheme).map_err(|error| to_python(py, error))?;
    let layer = layer.map(|name| LinkLayer::named("link.layer", name)).transpose();
    let wire = Wire { overhead, layer: layer.map_err(|error| to_python(py, error))? };
    let line = Line { rate: Rate(rate_bps), buffer_packets, wire, is_upload, burst };
    let found = PyDict::new(py);
    match install::plan(&parsed, &line) {
        Err(reason) => found.set_item("reason", reason)?,
        Ok(way) => {
            found.set_item("place", way.place.name())?;
            found.set_item("lines", way.lines)?;
            found.set_item("live", way.live.map(|command| command.file()))?;
            let profiles = way.wred.into_iter().map(|one| profile(py, one));
            found.set_item("wred", PyList::new(py, profiles.collect::<PyResult<Vec<_>>>()?)?)?;
            found.set_item("needs", way.needs)?;
        }
    }
    Ok(found)
}

fn profile(py: Python<'_>, one: WredProfile) -> PyResult<Bound<'_, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("dscp", one.dscp)?;
    entry.set_item("min_packets", one.min_packets)?;
    entry.set_item("max_packets", one.max_packets)?;
    entry.set_item("probability", &one.probability)?;
    entry.set_item("weight_exponent", one.weight_exponent)?;
    Ok(entry)
}

/// Registers this module's function.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan, module)?)
}
