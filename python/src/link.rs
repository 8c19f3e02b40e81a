//! Binds `mousehole-link`, which sends the packets of real programs through the links of a scenario in real time.

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

/// The settings of a run in the form that Python passes.
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

/// Reports on a run on real packets from another thread, and ends it.
#[pyclass]
#[derive(Default)]
struct LinkMonitor(Arc<Monitor>);

#[pymethods]
impl LinkMonitor {
    #[new]
    fn new() -> LinkMonitor {
        LinkMonitor::default()
    }

    /// Ends the run, which then returns its records so far.
    fn cancel(&self) {
        self.0.cancel.store(true, Ordering::Relaxed);
    }

    /// Returns the status of each second of the run since the last call, and forgets them.
    // python: -> list[LinkStatus]
    fn take_statuses<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let taken =
            std::mem::take(&mut *self.0.statuses.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        taken.iter().map(|status| status_dict(py, status)).collect()
    }

    /// Returns the identifiers of the processes that hold the client's and the server's namespace; None before they exist.
    fn holders(&self) -> Option<(i32, i32)> {
        let holders = self.0.holders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        holders.map(|[client, server]| (client, server))
    }
}

/// Returns a `LinkStatus` as a new dictionary.
fn status_dict<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("at_s", status.at_s)?;
    entry.set_item("late_most_s", status.late_most_s)?;
    entry.set_item("late_share", status.late_share)?;
    for (way, name) in status.ways.iter().zip(["down", "up"]) {
        let direction = PyDict::new(py);
        direction.set_item("rate_bps", way.rate_bps)?;
        direction.set_item("waiting", way.waiting.to_vec())?;
        direction.set_item("dropped", way.dropped)?;
        direction.set_item("marked", way.marked)?;
        entry.set_item(name, direction)?;
    }
    Ok(entry)
}

/// Raises `MouseholeError` for a scenario, or for commands, that cannot be run through the scenario's links.
#[pyfunction]
// python: scenario: Mapping[str, object], settings: LinkSettings
fn link_check(scenario: &Bound<'_, PyAny>, settings: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, scenario) = (scenario.py(), from_python::<Scenario>("", scenario)?);
    let settings: Settings = from_python::<Given>("settings", settings)?.into();
    session::check(&scenario, &settings).map_err(|failure| to_error(py, failure))
}

/// Runs commands through the links of a scenario; other Python threads run meanwhile. Returns the records in the form of a
/// simulation, and the account of the run: exit statuses, lateness and packets. Raises `MouseholeError` if it fails.
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
        Ok((make_records(&scenario, outcome, finished.account.seconds)?, finished))
    };
    let (records, finished) = py.detach(work).map_err(|failure| to_error(py, failure))?;
    let account = account_dict(py, &finished)?;
    Ok((records, account.into_any()))
}

/// Returns the records of real packets in the form of a simulation whose window is the whole run,
/// of `seconds`.
///
/// # Errors
/// If the scenario is faulty, or ideal completion times cannot be computed.
fn make_records(given: &Scenario, outcome: Outcome, seconds: f64) -> Result<RunResult> {
    let write = WriteSpec { idle_s: 0.0, bytes: 1 };
    let only = ConnectionSpec { writes: vec![write], ..ConnectionSpec::default() };
    // A plan must have traffic. Only its path, its window and the TCP of ideal completion times are used.
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

/// Returns a `LinkAccount`.
fn account_dict<'py>(py: Python<'py>, finished: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let account: &Account = &finished.account;
    let entry = PyDict::new(py);
    entry.set_item("seconds", account.seconds)?;
    entry.set_item("status", finished.exit.map(|exit| exit.status))?;
    entry.set_item("left_behind", finished.exit.map_or(0, |exit| exit.left))?;
    entry.set_item("server_status", finished.server_exit.map(|exit| exit.status))?;
    entry.set_item("is_valid", account.find_faults().is_empty())?;
    entry.set_item("faults", account.find_faults())?;
    let lateness = &account.lateness;
    let late = PyDict::new(py);
    late.set_item("packets", lateness.packets())?;
    late.set_item("p50_s", lateness.quantile_s(0.5))?;
    late.set_item("p99_s", lateness.quantile_s(0.99))?;
    late.set_item("p999_s", lateness.quantile_s(0.999))?;
    late.set_item("most_s", lateness.max_s())?;
    late.set_item("beyond_2ms", lateness.late_packets())?;
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
        let direction = PyDict::new(py);
        direction.set_item("sent", sent)?;
        direction.set_item("delivered", delivered)?;
        direction.set_item("dropped", dropped)?;
        direction.set_item("marked", marked)?;
        direction.set_item("under_way", under_way)?;
        direction.set_item("delivered_bytes", delivered_bytes)?;
        entry.set_item(if way == Way::Down { "down" } else { "up" }, direction)?;
    }
    Ok(entry)
}

/// Returns the `MouseholeError` of a failed run; that of the system is about the file `mousehole link`.
fn to_error(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Input(error) => errors::to_python(py, error),
        Failure::System(sentence) => errors::to_python(py, Error::file("mousehole link", sentence)),
    }
}

/// Adds the class and functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LinkMonitor>()?;
    module.add_function(wrap_pyfunction!(link_check, module)?)?;
    module.add_function(wrap_pyfunction!(link_run, module)?)
}
