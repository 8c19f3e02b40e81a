//! The extension module `mousehole._engine`: it converts arguments and results, and decides nothing.

mod answer;
mod catalogue;
mod convert;
mod errors;
mod install;
mod json;
#[cfg(target_os = "linux")]
mod link;
mod memory;
mod policy;
mod quantities;
mod reduction;
mod result;
mod statistics;
mod tables;
mod texts;
mod traffic;

use convert::{from_python, to_python};
use json::MADE;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scenario, run};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use result::RunResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use traffic::Traffic;

/// A switch by which another thread stops runs.
#[pyclass]
#[derive(Default)]
struct Cancel(Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops every run that was given this switch.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a scenario and returns its records; other Python threads go on meanwhile.
#[pyfunction]
#[pyo3(name = "run")]
// python: scenario: Mapping[str, object]
fn run_scenario(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    traffic: Option<PyRef<'_, Traffic>>,
    cancel: PyRef<'_, Cancel>,
) -> PyResult<RunResult> {
    let scenario: Scenario = from_python("", scenario)?;
    let read = traffic.and_then(|traffic| traffic.replayed());
    let stop = cancel.0.clone();
    let work = || -> Result<RunResult> {
        let plan = Plan::new(&scenario)?;
        Ok(RunResult::new(run(&plan, read, &stop)?, plan))
    };
    py.detach(work).map_err(|error| errors::to_python(py, error))
}

/// Returns the scenario with every parameter filled in.
#[pyfunction]
// python: scenario: Mapping[str, object], -> Scenario
fn validate<'py>(py: Python<'py>, scenario: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &parse_plan(scenario)?.filled())
}

/// Returns every TCP parameter in force in a scenario; where senders have shares, by profile.
#[pyfunction]
// python: scenario: Mapping[str, object], -> dict[str, JsonValue]
fn tcp_parameters<'py>(py: Python<'py>, scenario: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &mousehole_compare::tcp_parameters(&parse_plan(scenario)?))
}

/// Returns the schemes that are compared if none is named, on a line of these rates in bit/s.
#[pyfunction]
// python: -> tuple[str, ...]
fn default_schemes(py: Python<'_>, down_bps: u64, up_bps: u64) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, mousehole_compare::default_schemes(down_bps, up_bps))
}

/// Raises `MouseholeError` if two schemes mean the same; `meanings` are their texts with every parameter filled in.
#[pyfunction]
fn refuse_duplicates(py: Python<'_>, schemes: Vec<String>, meanings: Vec<String>) -> PyResult<()> {
    mousehole_compare::refuse_duplicates(&schemes, &meanings).map_err(|error| errors::to_python(py, error))
}

/// Returns the scenario that options change where the user has none.
#[pyfunction]
// python: -> Scenario
fn default_scenario(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &mousehole_compare::default_scenario())
}

/// Returns the manifest of a comparison, but for its primary endpoint; `first` is the baseline's scenario in the first cell,
/// and `given` what only those know who read the files.
#[pyfunction]
// python: first: Mapping[str, object], given: Mapping[str, object]
fn manifest<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = mousehole_compare::make_manifest(&parse_plan(first)?, from_python("manifest", given)?, MADE);
    to_python(py, &found.map_err(|error| errors::to_python(py, error))?)
}

/// Returns a scenario as TOML.
#[pyfunction]
// python: scenario: Mapping[str, object]
fn scenario_to_toml(scenario: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(from_python::<Scenario>("", scenario)?.to_toml())
}

/// Returns the scenario of a TOML text; `path` names the file in messages.
#[pyfunction]
// python: -> Scenario
fn scenario_from_toml<'py>(py: Python<'py>, text: &str, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let scenario = Scenario::from_toml(text, path).map_err(|error| errors::to_python(py, error))?;
    to_python(py, &scenario)
}

fn parse_plan(given: &Bound<'_, PyAny>) -> PyResult<Plan> {
    let scenario: Scenario = from_python("", given)?;
    Plan::new(&scenario).map_err(|error| errors::to_python(given.py(), error))
}

/// Registers the classes and functions of the module.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BUILD", env!("MOUSEHOLE_REVISION"))?;
    module.add("SOURCES", env!("MOUSEHOLE_SOURCES"))?;
    module.add("DROP_REASONS", PyTuple::new(module.py(), DropReason::ALL.map(DropReason::name))?)?;
    module.add("COMPARE_SCHEMA", mousehole_compare::SCHEMA)?;
    module.add("BASELINE", mousehole_compare::BASELINE)?;
    module.add("BUFFER", mousehole_compare::BUFFER)?;
    module.add("LINE_BUFFER", mousehole_compare::LINE_BUFFER)?;
    module.add("MOST_SEED", u64::MAX)?;
    module.add("REPLICATIONS", mousehole_compare::REPLICATIONS)?;
    module.add_class::<Cancel>()?;
    module.add_class::<Traffic>()?;
    module.add_class::<RunResult>()?;
    module.add_function(wrap_pyfunction!(run_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(default_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(default_schemes, module)?)?;
    module.add_function(wrap_pyfunction!(refuse_duplicates, module)?)?;
    module.add_function(wrap_pyfunction!(manifest, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_from_toml, module)?)?;
    errors::register(module)?;
    statistics::register(module)?;
    quantities::register(module)?;
    reduction::register(module)?;
    texts::register(module)?;
    answer::register(module)?;
    #[cfg(target_os = "linux")]
    link::register(module)?;
    traffic::register(module)?;
    catalogue::register(module)?;
    install::register(module)?;
    json::register(module)?;
    policy::register(module)
}
