//! Traffic in memory: read from files, drawn from a model, or given as data.

use crate::errors::to_python;
use mousehole_sim::error::{Error, Problem, Result};
use mousehole_sim::scenario::spec::{ConnectionSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, Scenario};
use mousehole_sim::traffic::connection::Kind;
use mousehole_sim::traffic::model::{self, Model};
use mousehole_sim::traffic::read::{self, Direction, ReadOptions};
use mousehole_sim::traffic::{self as sim};
use mousehole_sim::units::parse_rate;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Connections drawn from a model to describe it.
const SAMPLE: usize = 20_000;
/// Segment size by which wire bytes of a summary are counted.
const MSS: u32 = 1460;

/// Connections in memory, as read or as a model.
#[pyclass]
pub struct Traffic {
    connections: Arc<sim::Traffic>,
    model: Option<Model>,
}

impl Traffic {
    /// What the engine replays; a model is not replayed but drawn.
    pub fn replayed(&self) -> Option<Arc<sim::Traffic>> {
        self.model.is_none().then(|| self.connections.clone())
    }
}

#[pymethods]
impl Traffic {
    /// What was understood, as `inspect` shows it; of a model, a sample.
    #[pyo3(signature = (rate=None))]
    fn summary<'py>(&self, py: Python<'py>, rate: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let rate =
            rate.map(|text| parse_rate("rate", text)).transpose().map_err(|error| to_python(py, error))?;
        let mut summary = py.detach(|| self.connections.summary(rate, MSS));
        if let (Some(model), Some(rate)) = (&self.model, rate) {
            summary.native_load = model.offered_load(rate, MSS);
        }
        let text = serde_json::to_string(&summary).unwrap_or_default();
        py.import("json")?.call_method1("loads", (text,))
    }

    /// One row per connection.
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.connections.connections;
        let frame = PyDict::new(py);
        frame.set_item("start_s", column(py, all.iter().map(|c| c.start.as_secs())))?;
        frame.set_item("client", column(py, all.iter().map(|c| c.client)))?;
        frame.set_item("server", column(py, all.iter().map(|c| c.server)))?;
        frame
            .set_item("rtt_s", column(py, all.iter().map(|c| c.rtt.map_or(f64::NAN, |rtt| rtt.as_secs()))))?;
        frame.set_item("writes", column(py, all.iter().map(|c| c.writes.len() as u32)))?;
        frame.set_item("bytes", column(py, all.iter().map(|c| c.bytes())))?;
        frame.set_item("is_quic", column(py, all.iter().map(|c| c.kind == Kind::Quic)))?;
        Ok(frame)
    }
}

/// A column of one value per row.
pub fn column<'py, T: numpy::Element>(
    py: Python<'py>,
    values: impl Iterator<Item = T>,
) -> Bound<'py, PyArray1<T>> {
    values.collect::<Vec<T>>().into_pyarray(py)
}

/// Reads traffic files, recognised by content.
#[pyfunction]
#[pyo3(signature = (paths, direction="down", strict=false, seed=1))]
fn read_traffic(
    py: Python<'_>,
    paths: Vec<String>,
    direction: &str,
    strict: bool,
    seed: u64,
) -> PyResult<Traffic> {
    let work = || -> Result<sim::Traffic> {
        let direction = Direction::by_name("direction", direction)?;
        read::files(&paths, &ReadOptions { direction, strict, seed })
    };
    let traffic = py.detach(work).map_err(|error| to_python(py, error))?;
    Ok(Traffic { connections: Arc::new(traffic), model: None })
}

/// A named model with parameters over its defaults, given as a dictionary.
#[pyfunction]
#[pyo3(signature = (name, params=None))]
fn model_traffic(py: Python<'_>, name: &str, params: Option<Bound<'_, PyAny>>) -> PyResult<Traffic> {
    let params = params.map_or(Ok(serde_json::Value::Null), |params| model_params(&params))?;
    let model = model::by_name(name, &params).map_err(|error| to_python(py, error.within("traffic")))?;
    Ok(Traffic { connections: Arc::new(py.detach(|| model.sample(1, SAMPLE))), model: Some(model) })
}

/// Returns a model's parameters as JSON; a value that JSON cannot hold, such as NaN, is an error that names it.
fn model_params(params: &Bound<'_, PyAny>) -> PyResult<serde_json::Value> {
    let Ok(table) = params.cast::<PyDict>() else { return to_json("traffic.params", params) };
    let entries = table.iter().map(|(name, value)| {
        let name = name.str()?.to_string();
        let value = to_json(&format!("traffic.params.{name}"), &value)?;
        Ok((name, value))
    });
    Ok(serde_json::Value::Object(entries.collect::<PyResult<_>>()?))
}

fn to_json(field: &str, value: &Bound<'_, PyAny>) -> PyResult<serde_json::Value> {
    let py = value.py();
    let settings = PyDict::new(py);
    settings.set_item("allow_nan", false)?;
    let text = py.import("json")?.call_method("dumps", (value,), Some(&settings));
    let parsed = text.ok().and_then(|text| serde_json::from_str(&text.extract::<String>().ok()?).ok());
    let allowed = "a finite number, text, true, false, or a list or table of these";
    parsed.ok_or_else(|| to_python(py, Error::field(field, value, allowed)))
}

/// Traffics beside each other: the number of the source each is for, what was read, and whether clients send it.
#[pyfunction]
fn beside(parts: Vec<(u16, PyRef<'_, Traffic>, bool)>) -> Traffic {
    let own = |(number, part, is_upload): &(u16, PyRef<'_, Traffic>, bool)| {
        let traffic = sim::Traffic::clone(&part.connections);
        (*number, if *is_upload { traffic.uploaded() } else { traffic })
    };
    Traffic { connections: Arc::new(sim::Traffic::combine(parts.iter().map(own))), model: None }
}

/// Connections given as a JSON list, in the form of a scenario's `traffic.connections`.
#[pyfunction]
fn connections_traffic(py: Python<'_>, connections: &str) -> PyResult<Traffic> {
    let work = || -> Result<sim::Traffic> {
        let connections: Vec<ConnectionSpec> = serde_json::from_str(connections).map_err(|error| {
            Problem::Form { value: None, problem: error.to_string() }.of("traffic.connections")
        })?;
        let traffic = TrafficSpec { connections, ..TrafficSpec::default() };
        let plan = Plan::new(&Scenario { traffic, ..Scenario::default() })?;
        Ok(sim::Traffic::from_connections(plan.listed()?.connections))
    };
    let traffic = py.detach(work).map_err(|error| to_python(py, error))?;
    Ok(Traffic { connections: Arc::new(traffic), model: None })
}

/// Registers this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(model_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(beside, module)?)?;
    module.add_function(wrap_pyfunction!(connections_traffic, module)?)
}
