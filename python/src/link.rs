//! Real programs through the links of a scenario: `mousehole link`.

use crate::convert::from_python;
use crate::errors;
use crate::result::RunResult;
use mousehole_link::account::Carried;
use mousehole_link::driver::Way;
use mousehole_link::session::{self, Finished, Monitor, Settings};
use mousehole_link::{Account, Failure, Status};
use mousehole_sim::engine::Outcome;
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::load::Load;
use mousehole_sim::scenario::spec::{ConnectionSpec, TrafficSpec, WriteSpec};
use mousehole_sim::scenario::{self, Plan, Scenario, ideal_time};
use mousehole_sim::traffic::Traffic;
use mousehole_sim::units::Dur;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is run, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    command: Vec<String>,
    server: Option<Vec<String>>,
    mtu: u16,
    duration_s: Option<f64>,
    names: Vec<String>,
    user_namespace: bool,
    pcapng: Option<PathBuf>,
}

impl From<Given> for Settings {
    fn from(given: Given) -> Settings {
        Settings {
            command: given.command,
            server: given.server,
            mtu: given.mtu,
            duration: given.duration_s.map(Dur::from_secs),
            names: given.names,
            user_namespace: given.user_namespace,
            pcapng: given.pcapng,
        }
    }
}

/// Watches a run on real packets while it lasts, and ends it.
#[pyclass]
#[derive(Default)]
struct LinkMonitor(Arc<Monitor>);

#[pymethods]
impl LinkMonitor {
    #[new]
    fn new() -> LinkMonitor {
        LinkMonitor::default()
    }

    /// Ends the run; its records are returned.
    fn cancel(&self) {
        self.0.cancel.store(true, Ordering::Relaxed);
    }

    /// Returns the states of the run since the last call, one for each second.
    // python: -> list[LinkStatus]
    fn take_statuses<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let taken =
            std::mem::take(&mut *self.0.statuses.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        taken.iter().map(|status| status_dict(py, status)).collect()
    }

    /// Returns the processes that hold the namespaces, the client's and the server's, once they exist.
    fn holders(&self) -> Option<(i32, i32)> {
        let holders = self.0.holders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        holders.map(|[client, server]| (client, server))
    }
}

fn status_dict<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("at_s", status.at_s)?;
    entry.set_item("late_most_s", status.late_most_s)?;
    entry.set_item("late_share", status.late_share)?;
    for (way, name) in status.ways.iter().zip(["down", "up"]) {
        let own = PyDict::new(py);
        own.set_item("rate_bps", way.rate_bps)?;
        own.set_item("waiting", way.waiting.to_vec())?;
        own.set_item("dropped", way.dropped)?;
        own.set_item("marked", way.marked)?;
        entry.set_item(name, own)?;
    }
    Ok(entry)
}

/// Checks a scenario and the commands that are to run through its links.
#[pyfunction]
// python: scenario: Mapping[str, object], settings: LinkSettings
fn link_check(scenario: &Bound<'_, PyAny>, settings: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, scenario) = (scenario.py(), from_python::<Scenario>("", scenario)?);
    let settings: Settings = from_python::<Given>("settings", settings)?.into();
    session::check(&scenario, &settings).map_err(|failure| to_error(py, failure))
}

/// Runs commands through the links of a scenario; other Python threads go on meanwhile. Returns the records, as a
/// simulation has them, and how the run went.
#[pyfunction]
// python: scenario: Mapping[str, object], settings: LinkSettings, -> tuple[RunResult, LinkAccount]
fn link_run<'py>(
    scenario: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyAny>,
    monitor: PyRef<'py, LinkMonitor>,
) -> PyResult<(RunResult, Bound<'py, PyAny>)> {
    let (py, scenario) = (scenario.py(), from_python::<Scenario>("", scenario)?);
    let settings: Settings = from_python::<Given>("settings", settings)?.into();
    let monitor = monitor.0.clone();
    let work = || -> std::result::Result<(RunResult, Finished), Failure> {
        let (outcome, finished) = session::run(&scenario, &settings, &monitor)?;
        Ok((records(&scenario, outcome, finished.account.seconds)?, finished))
    };
    let (records, finished) = py.detach(work).map_err(|failure| to_error(py, failure))?;
    let account = account_dict(py, &finished)?;
    Ok((records, account.into_any()))
}

/// Returns records of real packets in the form of a simulation whose window is the whole run.
fn records(given: &Scenario, outcome: Outcome, seconds: f64) -> Result<RunResult> {
    let write = WriteSpec { idle_s: 0.0, bytes: 1 };
    let only = ConnectionSpec { writes: vec![write], ..ConnectionSpec::default() };
    // A plan needs traffic; what is used of it is the path, the TCP of ideal completion times, and the window.
    let scenario = Scenario {
        warmup: "0s".into(),
        duration: format!("{:.9}s", seconds.max(1e-9)),
        trace: false,
        traffic: TrafficSpec { connections: vec![only], ..TrafficSpec::default() },
        ..given.clone()
    };
    let plan = Plan::new(&scenario)?;
    let ideal_s =
        ideal_time::compute_ideal_times(&plan, &Traffic::default(), &outcome, &AtomicBool::new(false))?;
    let [goodput_bps, goodput_up_bps] =
        [outcome.goodput_bytes, outcome.goodput_up_bytes].map(|bytes| bytes as f64 * 8.0 / seconds.max(1e-9));
    let sources = vec![(0, "flows".to_string())];
    let records = scenario::RunResult {
        outcome,
        ideal_s,
        load: Load::default(),
        goodput_bps,
        goodput_up_bps,
        sources,
        groups: Vec::new(),
        needs: Vec::new(),
    };
    Ok(RunResult::new(records, plan))
}

fn account_dict<'py>(py: Python<'py>, finished: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let account: &Account = &finished.account;
    let entry = PyDict::new(py);
    entry.set_item("seconds", account.seconds)?;
    entry.set_item("status", finished.exit.map(|exit| exit.status))?;
    entry.set_item("left_behind", finished.exit.map_or(0, |exit| exit.left))?;
    entry.set_item("server_status", finished.server_exit.map(|exit| exit.status))?;
    entry.set_item("is_valid", account.faults().is_empty())?;
    entry.set_item("faults", account.faults())?;
    let lateness = &account.lateness;
    let late = PyDict::new(py);
    late.set_item("packets", lateness.packets())?;
    late.set_item("p50_s", lateness.quantile_s(0.5))?;
    late.set_item("p99_s", lateness.quantile_s(0.99))?;
    late.set_item("p999_s", lateness.quantile_s(0.999))?;
    late.set_item("most_s", lateness.most_s())?;
    late.set_item("beyond_2ms", lateness.late())?;
    entry.set_item("lateness", late)?;
    entry.set_item("cpu_share", account.cpu_share)?;
    entry.set_item("cpu_use", account.cpu_use)?;
    entry.set_item("is_real_time", account.is_real_time)?;
    entry.set_item("flows", account.flows)?;
    entry.set_item("most_flows", account.most_flows)?;
    entry.set_item("not_ip", account.refused.not_ip)?;
    entry.set_item("too_large", account.refused.too_large)?;
    entry.set_item("write_failed", account.refused.write_failed)?;
    entry.set_item("lost_in_client", account.lost_in_devices[0])?;
    entry.set_item("lost_in_server", account.lost_in_devices[1])?;
    entry.set_item("left_out_of_pcapng", finished.left_out)?;
    for way in Way::BOTH {
        let Carried { sent, delivered, dropped, marked, under_way, delivered_bytes } =
            account.ways[way as usize];
        let own = PyDict::new(py);
        own.set_item("sent", sent)?;
        own.set_item("delivered", delivered)?;
        own.set_item("dropped", dropped)?;
        own.set_item("marked", marked)?;
        own.set_item("under_way", under_way)?;
        own.set_item("delivered_bytes", delivered_bytes)?;
        entry.set_item(if way == Way::Down { "down" } else { "up" }, own)?;
    }
    Ok(entry)
}

fn to_error(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Input(error) => errors::to_python(py, error),
        Failure::System(sentence) => errors::to_python(py, Error::file("mousehole link", sentence)),
    }
}

/// Registers this module's functions.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LinkMonitor>()?;
    module.add_function(wrap_pyfunction!(link_check, module)?)?;
    module.add_function(wrap_pyfunction!(link_run, module)?)
}
