//! Binds the records of a run, as numpy columns and dictionaries whose types `engine_structs.py` has.

use crate::quantities::{Bucket, Quantity};
use crate::reduction::reduce_run;
use crate::traffic::column;
use mousehole_compare::{BULK, COLOURS};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::Colour;
use mousehole_sim::record::{QueueRecord, TRACE_EVENTS};
use mousehole_sim::scenario::{Plan, RunResult as Records};
use mousehole_sim::traffic::waiting::Loop;
use mousehole_sim::units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// The records of one run.
#[pyclass]
pub struct RunResult {
    records: Records,
    plan: Plan,
}

impl RunResult {
    /// Returns the records of a run of `plan` for Python.
    pub fn new(records: Records, plan: Plan) -> RunResult {
        RunResult { records, plan }
    }
}

#[pymethods]
impl RunResult {
    /// Returns the facts of the run (`numbers`) and its short transfers (`short_times`); other Python threads run meanwhile.
    ///
    /// # Errors
    /// `RuntimeError` if packets were lost or invented, which is a fault of the engine.
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        buckets: Vec<PyRef<'py, Bucket>>,
        table: Vec<PyRef<'py, Quantity>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        if !self.records.is_conserved() {
            return Err(PyRuntimeError::new_err(
                "the engine lost or invented packets (a conservation law failed); please report this",
            ));
        }
        reduce_run(py, &self.records, &self.plan, buckets, table)
    }

    /// Returns one row per measured transfer; times that did not happen are NaN.
    // python: -> TransferColumns
    fn transfers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.records.outcome.transfers;
        let frame = PyDict::new(py);
        frame.set_item("key", column(py, all.iter().map(|t| t.key)))?;
        frame.set_item("client", column(py, all.iter().map(|t| t.client)))?;
        frame.set_item("write", column(py, all.iter().map(|t| t.write)))?;
        frame.set_item("bytes", column(py, all.iter().map(|t| t.bytes)))?;
        frame.set_item("object_bytes", column(py, all.iter().map(|t| t.object_bytes)))?;
        frame.set_item("object_key", column(py, all.iter().map(|t| t.object_key)))?;
        frame.set_item("source", self.name_sources(py, all.iter().map(|t| t.source))?)?;
        frame.set_item("upload", column(py, all.iter().map(|t| t.upload)))?;
        frame.set_item("misbehaves", column(py, all.iter().map(|t| t.misbehaves)))?;
        frame.set_item("start_s", column(py, all.iter().map(|t| t.start.as_secs())))?;
        frame.set_item("first_data_s", column(py, all.iter().map(|t| seconds_or_nan(t.first_data))))?;
        frame.set_item("first_byte_s", column(py, all.iter().map(|t| seconds_or_nan(t.first_byte))))?;
        frame.set_item("end_s", column(py, all.iter().map(|t| seconds_or_nan(t.end))))?;
        frame.set_item("rtt_s", column(py, all.iter().map(|t| t.rtt_ns as f64 / 1e9)))?;
        frame.set_item("ideal_s", column(py, self.records.ideal_s.iter().copied()))?;
        frame.set_item("retransmits", column(py, all.iter().map(|t| t.retransmits)))?;
        frame.set_item("timeouts", column(py, all.iter().map(|t| t.timeouts)))?;
        frame.set_item("dropped", column(py, all.iter().map(|t| t.dropped)))?;
        frame.set_item("is_quic", column(py, all.iter().map(|t| t.is_quic)))?;
        frame.set_item("page", column(py, all.iter().map(|t| t.page)))?;
        frame.set_item("page_transfers", column(py, all.iter().map(|t| t.page_transfers)))?;
        Ok(frame)
    }

    /// Returns one row per long-lived flow, with the bytes that it delivered within the measured window.
    // python: -> FlowColumns
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.records.outcome.flows;
        let window_s = self.plan.duration.as_secs();
        let frame = PyDict::new(py);
        frame.set_item("key", column(py, all.iter().map(|flow| flow.key)))?;
        frame.set_item("client", column(py, all.iter().map(|flow| flow.client)))?;
        frame.set_item("source", self.name_sources(py, all.iter().map(|flow| flow.source))?)?;
        frame.set_item("upload", column(py, all.iter().map(|flow| flow.upload)))?;
        frame.set_item("misbehaves", column(py, all.iter().map(|flow| flow.misbehaves)))?;
        frame.set_item("bytes", column(py, all.iter().map(|flow| flow.bytes)))?;
        let rate = all.iter().map(|flow| flow.bytes as f64 * 8.0 / window_s);
        frame.set_item("goodput_bps", column(py, rate))?;
        Ok(frame)
    }

    /// Returns one row per datagram flow, about the packets sent within the measured window.
    // python: -> DatagramColumns
    fn datagrams<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.records.outcome.datagrams;
        let frame = PyDict::new(py);
        frame.set_item("key", column(py, all.iter().map(|flow| flow.key)))?;
        frame.set_item("client", column(py, all.iter().map(|flow| flow.client)))?;
        frame.set_item("source", self.name_sources(py, all.iter().map(|flow| flow.source))?)?;
        frame.set_item("upload", column(py, all.iter().map(|flow| flow.upload)))?;
        frame.set_item("sent", column(py, all.iter().map(|flow| flow.sent)))?;
        frame.set_item("received", column(py, all.iter().map(|flow| flow.received)))?;
        frame.set_item("lost", column(py, all.iter().map(|flow| flow.lost)))?;
        frame.set_item("bytes", column(py, all.iter().map(|flow| flow.bytes)))?;
        for (index, name) in ["delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s"].iter().enumerate()
        {
            frame.set_item(name, column(py, all.iter().map(|flow| flow.delay_s[index])))?;
        }
        frame.set_item("jitter_s", column(py, all.iter().map(|flow| flow.jitter_s)))?;
        frame.set_item("late", column(py, all.iter().map(|flow| flow.late)))?;
        Ok(frame)
    }

    /// Returns the counters of every queue within the measured window, the bottleneck first.
    // python: -> list[QueueCounters]
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = self
            .records
            .outcome
            .queues
            .iter()
            .map(|queue| queue_dict(py, queue))
            .collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, all)
    }

    /// Returns the adaptive values of markers and queues, one row per change, then the samples of links and senders.
    // python: -> SeriesColumns
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.records.outcome.series;
        let rows = || all.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
        let frame = PyDict::new(py);
        frame.set_item(
            "link",
            PyList::new(py, rows().map(|(series, _)| series.link.as_str()).collect::<Vec<_>>())?,
        )?;
        frame
            .set_item("name", PyList::new(py, rows().map(|(series, _)| series.name).collect::<Vec<_>>())?)?;
        let colours = rows().map(|(series, _)| series.colour.map(Colour::name));
        frame.set_item("colour", PyList::new(py, colours.collect::<Vec<_>>())?)?;
        frame
            .set_item("flow", PyList::new(py, rows().map(|(series, _)| series.flow).collect::<Vec<_>>())?)?;
        frame.set_item("time_s", column(py, rows().map(|(_, point)| point.0.as_secs())))?;
        frame.set_item("value", column(py, rows().map(|(_, point)| point.1)))?;
        Ok(frame)
    }

    /// Returns load, goodput, and the numbers of transfers, events, packets and connections.
    // python: -> RunSummary
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let outcome = &self.records.outcome;
        let load = self.records.load;
        let loads = PyDict::new(py);
        loads.set_item("target", load.target)?;
        loads.set_item("native", load.native)?;
        loads.set_item("copies", load.copies)?;
        loads.set_item("dilation", load.dilation)?;
        loads.set_item("achieved", load.achieved)?;
        loads.set_item("session_rate_per_s", load.session_rate)?;
        loads.set_item("replay", load.replay.map(Loop::name))?;
        let summary = PyDict::new(py);
        summary.set_item("load", loads)?;
        summary.set_item("goodput_bps", self.records.goodput_bps)?;
        summary.set_item("goodput_up_bps", self.records.goodput_up_bps)?;
        let sources = self.records.sources.iter().map(|(_, name)| name);
        summary.set_item("sources", sources.collect::<Vec<_>>())?;
        summary.set_item("measured", outcome.transfers.len())?;
        summary.set_item("censored", outcome.transfers.iter().filter(|t| t.end == Time::NEVER).count())?;
        summary.set_item("reordered", outcome.reordered)?;
        summary.set_item("window_begin_s", self.plan.window().0.as_secs())?;
        summary.set_item("window_end_s", self.plan.window().1.as_secs())?;
        summary.set_item("end_s", outcome.ended.as_secs())?;
        summary.set_item("simulated_s", outcome.ended.as_secs())?;
        summary.set_item("events", outcome.events)?;
        summary.set_item("packets", outcome.forward_packets)?;
        summary.set_item("connections", outcome.opened)?;
        summary.set_item("connections_most_live", outcome.most_live)?;
        summary.set_item("conservation_ok", self.records.is_conserved())?;
        Ok(summary)
    }

    /// Returns the packet events of the data path; None unless the scenario asks for a trace.
    // python: -> TraceColumns | None
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.plan.scenario.trace {
            return Ok(None);
        }
        let rows = &self.records.outcome.trace;
        let frame = PyDict::new(py);
        frame.set_item("time_s", column(py, rows.iter().map(|row| row.at.as_secs())))?;
        frame.set_item("event", PyList::new(py, rows.iter().map(|row| TRACE_EVENTS[row.event as usize]))?)?;
        frame.set_item("flow", column(py, rows.iter().map(|row| row.flow)))?;
        frame.set_item("seq", column(py, rows.iter().map(|row| row.seq)))?;
        frame.set_item("bytes", column(py, rows.iter().map(|row| row.bytes)))?;
        frame.set_item("colour", PyList::new(py, rows.iter().map(|row| row.colour.name()))?)?;
        frame.set_item("cwnd", column(py, rows.iter().map(|row| row.cwnd)))?;
        Ok(Some(frame))
    }
}

impl RunResult {
    /// Returns the name of the source of each row; a number without a name is that of bulk flows.
    fn name_sources<'py>(
        &self,
        py: Python<'py>,
        numbers: impl Iterator<Item = u16>,
    ) -> PyResult<Bound<'py, PyList>> {
        // Rows share one object per name, since there may be millions of them.
        let known: Vec<_> =
            self.records.sources.iter().map(|(number, name)| (*number, PyString::new(py, name))).collect();
        let bulk = PyString::new(py, BULK);
        let name =
            |number: u16| known.iter().find(|(other, _)| *other == number).map_or(&bulk, |(_, name)| name);
        PyList::new(py, numbers.map(name).collect::<Vec<_>>())
    }
}

/// Returns the `QueueCounters` of a queue; every count of packets has one of bytes with the suffix `_bytes`.
fn queue_dict<'py>(py: Python<'py>, queue: &QueueRecord) -> PyResult<Bound<'py, PyDict>> {
    let colours = queue.colours.iter().zip(COLOURS).map(|(counts, name)| {
        let colour = PyDict::new(py);
        colour.set_item("name", name)?;
        let drops = DropReason::ALL.map(|reason| (reason.name(), counts.dropped_for(reason)));
        let before = [("arrived", counts.arrived)];
        let after = [("dropped", counts.dropped()), ("marked", counts.marked), ("sent", counts.sent)];
        for (what, count) in before.into_iter().chain(drops).chain(after) {
            colour.set_item(what, count.packets)?;
            colour.set_item(format!("{what}_bytes"), count.bytes)?;
        }
        Ok(colour)
    });
    let [mean, p50, p95, p99] = queue.delay_s;
    let sent = queue.sent();
    let entry = PyDict::new(py);
    entry.set_item("name", &queue.name)?;
    entry.set_item("capacity_bps", queue.capacity.0)?;
    entry.set_item("window_s", queue.window_s)?;
    entry.set_item("sent_packets", sent.packets)?;
    entry.set_item("sent_bytes", sent.bytes)?;
    entry.set_item("utilisation", queue.utilisation())?;
    entry.set_item("colours", colours.collect::<PyResult<Vec<_>>>()?)?;
    entry.set_item("delay_mean_s", mean)?;
    entry.set_item("delay_p50_s", p50)?;
    entry.set_item("delay_p95_s", p95)?;
    entry.set_item("delay_p99_s", p99)?;
    entry.set_item("mean_queue_packets", queue.mean_packets())?;
    Ok(entry)
}

/// Returns a time in seconds; NaN for one that never came.
fn seconds_or_nan(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.as_secs() }
}
