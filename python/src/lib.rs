//! The extension module `mousehole._engine`: glue only, no decisions and no arithmetic.

mod catalogue;
mod errors;
mod result;
mod traffic;

use errors::to_python;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scenario, run};
use pyo3::prelude::*;
use result::RunResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use traffic::Traffic;

/// A switch that stops runs from another thread.
#[pyclass]
#[derive(Clone, Default)]
struct Cancel(Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a scenario given as JSON; other Python threads go on meanwhile.
#[pyfunction]
#[pyo3(name = "run")]
fn run_scenario(
    py: Python<'_>,
    scenario: &str,
    traffic: Option<PyRef<'_, Traffic>>,
    cancel: PyRef<'_, Cancel>,
) -> PyResult<RunResult> {
    let read = traffic.and_then(|traffic| traffic.replayed());
    let stop = cancel.0.clone();
    let work = || -> Result<RunResult> {
        let plan = Plan::new(&Scenario::from_json(scenario)?)?;
        Ok(RunResult::new(run(&plan, read, &stop)?, plan))
    };
    py.detach(work).map_err(|error| to_python(py, error))
}

/// The scenario with every parameter filled in, as JSON.
#[pyfunction]
fn validate(py: Python<'_>, scenario: &str) -> PyResult<String> {
    let filled = || -> Result<Scenario> { Ok(Plan::new(&Scenario::from_json(scenario)?)?.filled()) };
    let filled = filled().map_err(|error| to_python(py, error))?;
    Ok(serde_json::to_string(&filled).unwrap_or_default())
}

/// Every TCP parameter in force in a scenario, as JSON.
#[pyfunction]
fn tcp_parameters(py: Python<'_>, scenario: &str) -> PyResult<String> {
    let plan = || -> Result<Plan> { Plan::new(&Scenario::from_json(scenario)?) };
    let plan = plan().map_err(|error| to_python(py, error))?;
    Ok(serde_json::to_string(&plan.params).unwrap_or_default())
}

/// A scenario as TOML.
#[pyfunction]
fn scenario_to_toml(py: Python<'_>, scenario: &str) -> PyResult<String> {
    Scenario::from_json(scenario).map(|scenario| scenario.to_toml()).map_err(|error| to_python(py, error))
}

/// A scenario from TOML, as JSON; `path` names the file in messages.
#[pyfunction]
fn scenario_from_toml(py: Python<'_>, text: &str, path: &str) -> PyResult<String> {
    let scenario = Scenario::from_toml(text, path).map_err(|error| to_python(py, error))?;
    Ok(serde_json::to_string(&scenario).unwrap_or_default())
}

/// Registers what Python sees of the engine.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BUILD", env!("MOUSEHOLE_REVISION"))?;
    module.add_class::<Cancel>()?;
    module.add_class::<Traffic>()?;
    module.add_class::<RunResult>()?;
    module.add_function(wrap_pyfunction!(run_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_from_toml, module)?)?;
    errors::register(module)?;
    traffic::register(module)?;
    catalogue::register(module)
}
