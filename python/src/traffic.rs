//! Binds traffic in memory: connections that were read from files or given as data, and traffic models.

use crate::convert;
use crate::errors::to_python;
use mousehole_compare::{Given, account, capture};
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::spec::{ConnectionSpec, MixSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, Scenario, places};
use mousehole_sim::traffic::class::{Corrections, FlowClass};
use mousehole_sim::traffic::connection::Kind;
use mousehole_sim::traffic::read::{self, Direction, KnownColumn, ReadOptions, Rows};
use mousehole_sim::traffic::summary::Summary;
use mousehole_sim::traffic::{self as sim};
use mousehole_sim::units::parse_rate;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;

/// Stands for the name of a file in the errors of a data frame.
const FRAME: &str = "data frame";

/// Connections in memory, or a model of traffic.
#[pyclass]
pub struct Traffic(Given);

impl Traffic {
    /// Returns a copy of the traffic for `mousehole-compare`.
    pub fn given(&self) -> Given {
        self.0.clone()
    }

    /// Returns the connections that the engine replays, None for a model.
    pub fn replayed(&self) -> Option<Arc<sim::Traffic>> {
        self.0.replayed()
    }
}

#[pymethods]
impl Traffic {
    /// Returns the summary of the traffic, or of a sample of a model; its `native_load` is the load on a link of `rate`.
    #[pyo3(signature = (rate=None))]
    // python: -> TrafficSummary
    fn summary<'py>(&self, py: Python<'py>, rate: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let rate =
            rate.map(|text| parse_rate("rate", text)).transpose().map_err(|error| to_python(py, error))?;
        convert::to_python(py, &py.detach(|| self.0.summary(rate)))
    }

    /// Returns name and SHA-256 of each input file, as they were when the traffic was read.
    // python: -> list[InputEntry]
    fn sources(&self) -> Vec<BTreeMap<&'static str, String>> {
        let entry = |source: &sim::Source| {
            BTreeMap::from([("name", source.name.clone()), ("sha256", source.sha256.clone())])
        };
        self.0.connections.sources.iter().map(entry).collect()
    }

    /// Returns how many transfers have more than `low` and at most `high` bytes; without `high` there is no upper limit.
    #[pyo3(signature = (low, high=None))]
    fn distinct(&self, py: Python<'_>, low: u64, high: Option<u64>) -> u64 {
        py.detach(|| self.0.count_distinct(low, high).transfers)
    }

    /// Returns the bytes of each connection except flows of datagrams.
    fn sizes_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.sizes_bytes().into_pyarray(py)
    }

    /// Returns what a comparison plays of a capture: `recorded`, `fitted` or `ready-made`.
    // python: -> Literal['recorded', 'fitted', 'ready-made']
    fn played(&self, py: Python<'_>, short_bytes: u64) -> &'static str {
        py.detach(|| self.0.played(short_bytes).name())
    }

    /// Returns how much of a capture a verdict rests on, as a dictionary. `pipe_bytes` is the bandwidth-delay product;
    /// `is_fitted` says that a model of the capture is played.
    // python: -> dict[str, Any]
    fn capture<'py>(
        &self,
        py: Python<'py>,
        short_bytes: u64,
        long_bytes: u64,
        pipe_bytes: f64,
        is_fitted: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.0.capture(short_bytes, long_bytes, pipe_bytes, is_fitted));
        convert::to_python(py, &found)
    }

    /// Raises `MouseholeError` for a load that the resample of some replication cannot meet. `scenarios` are those of the
    /// replications, and `native_load` is the load of the capture by itself. Returns how many replications were set up for
    /// the check.
    // python: scenarios: list[Scenario]
    fn check_resamples(
        &self,
        py: Python<'_>,
        scenarios: &Bound<'_, PyAny>,
        load: f64,
        native_load: f64,
    ) -> PyResult<usize> {
        let scenarios: Vec<Scenario> = convert::from_python("", scenarios)?;
        let work = || capture::check_resamples(&scenarios, &self.0, load, native_load);
        py.detach(work).map_err(|error| to_python(py, error))
    }

    /// Plays a moment of the traffic in a scenario; raises `MouseholeError` for a scenario that cannot be played.
    // python: scenario: Scenario
    fn set_up(&self, py: Python<'_>, scenario: &Bound<'_, PyAny>) -> PyResult<()> {
        let scenario: Scenario = convert::from_python("", scenario)?;
        py.detach(|| capture::try_short_run(&scenario, &self.0)).map_err(|error| to_python(py, error))
    }

    /// Returns one row per connection; round-trip times and durations that are unknown are NaN.
    // python: -> ConnectionColumns
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.0.connections.connections;
        let frame = PyDict::new(py);
        frame.set_item("start_s", column(py, all.iter().map(|c| c.start.as_secs())))?;
        frame.set_item("client", column(py, all.iter().map(|c| c.client)))?;
        frame.set_item("server", column(py, all.iter().map(|c| c.server)))?;
        frame
            .set_item("rtt_s", column(py, all.iter().map(|c| c.rtt.map_or(f64::NAN, |rtt| rtt.as_secs()))))?;
        let duration = all.iter().map(|c| c.duration.map_or(f64::NAN, |duration| duration.as_secs()));
        frame.set_item("duration_s", column(py, duration))?;
        frame.set_item("writes", column(py, all.iter().map(|c| c.writes.len() as u32)))?;
        frame.set_item("bytes", column(py, all.iter().map(|c| c.bytes())))?;
        let class = all.iter().map(|c| c.flow_class.map(FlowClass::name)).collect::<Vec<_>>();
        frame.set_item("flow_class", class)?;
        frame.set_item("is_quic", column(py, all.iter().map(|c| c.kind == Kind::Quic)))?;
        frame.set_item("is_datagrams", column(py, all.iter().map(|c| c.kind == Kind::Datagrams)))?;
        let amounts = |is_reverse| {
            all.iter().map(move |c| c.writes.datagrams().map(|d| d.amount(is_reverse)).unwrap_or_default())
        };
        frame.set_item("packets", column(py, amounts(false).map(|amount| amount.packets)))?;
        frame.set_item("reverse_packets", column(py, amounts(true).map(|amount| amount.packets)))?;
        frame.set_item("reverse_bytes", column(py, amounts(true).map(|amount| amount.bytes)))?;
        Ok(frame)
    }
}

/// Returns a new numpy column of one value per row.
pub fn column<'py, T: numpy::Element>(
    py: Python<'py>,
    values: impl Iterator<Item = T>,
) -> Bound<'py, PyArray1<T>> {
    values.collect::<Vec<T>>().into_pyarray(py)
}

/// The text of a table that Python reads: `next` is a function that returns the next bytes, and no
/// bytes at the end. Reading attaches to the interpreter for each call, and what `next` raises
/// becomes an I/O error with its text.
struct Chunks {
    next: Py<PyAny>,
    chunk: Vec<u8>,
    used: usize,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.chunk.len() {
            let next = Python::attach(|py| self.next.call0(py)?.extract::<Vec<u8>>(py));
            (self.chunk, self.used) = (next.map_err(|error| io::Error::other(error.to_string()))?, 0);
        }
        let count = buffer.len().min(self.chunk.len() - self.used);
        buffer[..count].copy_from_slice(&self.chunk[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }
}

/// Reads traffic files, whose formats are recognised by content. `payload` is the direction of the payload, `down` or
/// `up`; `strict` makes a faulty row an error. `classes` are corrections of the classes of flows. `parquet` has, by index in
/// `paths`, the SHA-256 of a Parquet file and a function that returns its next bytes as CSV. `most_rows` and `most_bytes`
/// are those of [`ReadOptions`]; `log_format` is the text that describes the format of logs, or empty.
#[pyfunction]
#[pyo3(signature = (paths, payload="down", strict=false, seed=1, parquet=None, classes=vec![], most_rows=None, most_bytes=None, log_format=""))]
#[allow(clippy::too_many_arguments)]
// python: parquet: dict[int, tuple[str, Callable[[], bytes]]] | None
fn read_traffic(
    py: Python<'_>,
    paths: Vec<String>,
    payload: &str,
    strict: bool,
    seed: u64,
    parquet: Option<BTreeMap<usize, (String, Py<PyAny>)>>,
    classes: Vec<String>,
    most_rows: Option<u64>,
    most_bytes: Option<u64>,
    log_format: &str,
) -> PyResult<Traffic> {
    let rows = |(sha256, next): (String, Py<PyAny>)| Rows {
        kind: "parquet",
        sha256,
        text: Box::new(Chunks { next, chunk: Vec::new(), used: 0 }),
    };
    let given = parquet.unwrap_or_default().into_iter().map(|(index, table)| (index, rows(table))).collect();
    let work = || -> Result<sim::Traffic> {
        let direction = Direction::parse("payload", payload)?;
        let texts = classes.iter().map(String::as_str);
        let classes = Arc::new(Corrections::parse(read::CLASSES, texts)?);
        let format = (!log_format.is_empty())
            .then(|| read::Spec::parse(read::FORMAT, log_format))
            .transpose()?
            .map(Arc::new);
        let options = ReadOptions { direction, strict, seed, classes, most_rows, most_bytes, format };
        let traffic = read::read_files_and_rows(&paths, given, &options)?;
        Ok(if direction == Direction::Up { traffic.into_uploads() } else { traffic })
    };
    let traffic = py.detach(work).map_err(|error| to_python(py, error))?;
    Ok(Traffic(traffic.into()))
}

/// Raises `MouseholeError` for a faulty description of a format of logs; messages name its file as `path`.
#[pyfunction]
fn check_format(py: Python<'_>, path: &str, text: &str) -> PyResult<()> {
    read::Spec::parse(path, text).map(drop).map_err(|error| to_python(py, error))
}

/// Returns the formats of logs that are described by files: name, title, what a row is, and why such logs are refused,
/// which is empty if they are read.
#[pyfunction]
fn log_formats() -> Vec<(String, String, &'static str, String)> {
    let row =
        |spec: &read::Spec| (spec.name.clone(), spec.title.clone(), spec.row.name(), spec.refuse.clone());
    read::known_formats().iter().map(|spec| row(spec)).collect()
}

/// Returns whether a column of this name is read from tables.
#[pyfunction]
fn is_traffic_column(name: &str) -> bool {
    read::is_known_column(name)
}

/// Returns how many bytes of traffic files this process has read so far.
#[pyfunction]
fn bytes_read() -> u64 {
    read::bytes_read()
}

/// Returns the columns of a table that are known by their names: meaning, index, and nanoseconds per unit of a time.
/// Raises `MouseholeError` for columns from which no traffic can be made.
#[pyfunction]
fn table_columns(
    py: Python<'_>,
    names: Vec<String>,
    payload: &str,
) -> PyResult<Vec<(&'static str, usize, u64)>> {
    let found = || -> Result<Vec<KnownColumn>> {
        let direction = Direction::parse("payload", payload)?;
        read::table_columns(&names, direction).map_err(|problem| Error::File { file: FRAME.into(), problem })
    };
    let known = found().map_err(|error| to_python(py, error))?;
    Ok(known.iter().map(|column| (column.meaning, column.place, column.unit_ns)).collect())
}

/// Returns a named model. `params` are the parameters that differ from its defaults; `payload` is the direction of its
/// payload. Raises `MouseholeError` for an unknown model or parameter.
#[pyfunction]
#[pyo3(signature = (name, params=None, payload=None))]
// python: params: Mapping[str, JsonValue] | None
fn model_traffic(
    py: Python<'_>,
    name: &str,
    params: Option<Bound<'_, PyAny>>,
    payload: Option<&str>,
) -> PyResult<Traffic> {
    let params = params.map(|params| convert::from_python("traffic.params", &params)).transpose()?;
    let params: serde_json::Value = params.unwrap_or_default();
    let given = py.detach(|| Given::from_model(name, &params, payload));
    given.map(Traffic).map_err(|error| to_python(py, error))
}

/// Returns one traffic that joins the parts; each part is given with the number of its source.
#[pyfunction]
fn combine(parts: Vec<(u16, PyRef<'_, Traffic>)>) -> Traffic {
    let own =
        |(number, part): &(u16, PyRef<'_, Traffic>)| (*number, sim::Traffic::clone(&part.0.connections));
    Traffic(sim::Traffic::combine(parts.iter().map(own)).into())
}

/// Returns the traffic of a list of dictionaries in the form of a scenario's `traffic.connections`; raises
/// `MouseholeError` for a faulty entry.
#[pyfunction]
// python: connections: Sequence[Mapping[str, object]]
fn connections_traffic(py: Python<'_>, connections: &Bound<'_, PyAny>) -> PyResult<Traffic> {
    let connections: Vec<ConnectionSpec> = convert::from_python("traffic.connections", connections)?;
    let work = || -> Result<sim::Traffic> {
        let traffic = TrafficSpec { connections, ..TrafficSpec::default() };
        let plan = Plan::new(&Scenario { traffic, ..Scenario::default() })?;
        Ok(sim::Traffic::from_connections(plan.listed_connections()?.connections))
    };
    let traffic = py.detach(work).map_err(|error| to_python(py, error))?;
    Ok(Traffic(traffic.into()))
}

/// Returns a copy of the mix in which the entry of web pages has this load; None if it has no such entry.
#[pyfunction]
// python: mix: Sequence[MixEntry], -> list[MixEntry] | None
fn loaded_mix<'py>(py: Python<'py>, mix: &Bound<'py, PyAny>, load: f64) -> PyResult<Bound<'py, PyAny>> {
    let mix: Vec<MixSpec> = convert::from_python("traffic.mix", mix)?;
    convert::to_python(py, &places::with_web_load(&mix, load))
}

/// Returns what a summary says of the traffic: a line, names with values, and sentences with their kinds.
#[pyfunction]
#[allow(clippy::type_complexity)]
// python: summary: TrafficSummary, -> tuple[str, list[tuple[str, str]], list[tuple[Literal['skipped', 'faulty', 'note'], str]]]
fn traffic_account(
    summary: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<(String, String)>, Vec<(&'static str, String)>)> {
    let summary: Summary = convert::from_python("traffic", summary)?;
    let remarks =
        account::list_remarks(&summary).into_iter().map(|one| (one.kind.name(), one.text)).collect();
    Ok((account::title_text(&summary), account::list_facts(&summary), remarks))
}

/// Returns how many clients are taken for several users each, as the end of a sentence; empty if none are.
#[pyfunction]
// python: summary: TrafficSummary
fn describe_sharing(summary: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(account::describe_sharing(&convert::from_python("traffic", summary)?))
}

/// Returns the name of a model that is fitted to a capture with this name and number of transfers.
#[pyfunction]
fn fitted_label(transfers: u64, label: &str) -> String {
    capture::fitted_label(transfers, label)
}

/// Returns the name of ready-made traffic, and why it replaces the capture `label`, which has `short` short transfers.
#[pyfunction]
fn ready_made_labels(label: &str, short: u64, short_bytes: u64) -> (String, String) {
    capture::ready_made_labels(label, short, short_bytes)
}

/// Returns the warm-up chosen if `needed_s` is needed: no longer than the duration, and at least `given`. Raises
/// `MouseholeError` for a time that cannot be read.
#[pyfunction]
fn chosen_warmup(py: Python<'_>, given: &str, duration: &str, needed_s: Option<f64>) -> PyResult<String> {
    capture::choose_warmup(given, duration, needed_s).map_err(|error| to_python(py, error))
}

/// Returns the time, in seconds, after which a link is near its steady state; None if it has none. `own_load` is the
/// load of the traffic by itself, which holds if `load` is None.
#[pyfunction]
fn needed_warmup_s(
    sizes_bytes: PyReadonlyArray1<'_, f64>,
    rate_bps: f64,
    own_load: Option<f64>,
    load: Option<f64>,
) -> PyResult<Option<f64>> {
    Ok(capture::needed_warmup_s(sizes_bytes.as_slice()?, rate_bps, own_load, load))
}

/// Adds the constant and functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("READY_MADE", capture::READY_MADE)?;
    module.add_function(wrap_pyfunction!(read_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(bytes_read, module)?)?;
    module.add_function(wrap_pyfunction!(check_format, module)?)?;
    module.add_function(wrap_pyfunction!(log_formats, module)?)?;
    module.add_function(wrap_pyfunction!(is_traffic_column, module)?)?;
    module.add_function(wrap_pyfunction!(table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(model_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(combine, module)?)?;
    module.add_function(wrap_pyfunction!(loaded_mix, module)?)?;
    module.add_function(wrap_pyfunction!(traffic_account, module)?)?;
    module.add_function(wrap_pyfunction!(describe_sharing, module)?)?;
    module.add_function(wrap_pyfunction!(fitted_label, module)?)?;
    module.add_function(wrap_pyfunction!(ready_made_labels, module)?)?;
    module.add_function(wrap_pyfunction!(chosen_warmup, module)?)?;
    module.add_function(wrap_pyfunction!(needed_warmup_s, module)?)?;
    module.add_function(wrap_pyfunction!(connections_traffic, module)?)
}
