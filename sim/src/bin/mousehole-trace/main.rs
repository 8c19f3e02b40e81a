//! Prints packet traces for comparison with other simulators; `make oracle` calls it.
//!
//! Reads one scenario as JSON per line and prints its packet trace as CSV: number of the line from 0,
//! time in s, event, segment, bytes of IP. An `ack` names the last segment acknowledged.
//!
//! `mousehole-trace --floats` plays the lines with time in floats ([`float_path`]): one flow from the start over
//! private access links and drop-tail queues.

mod float_path;

use float_path::Row;
use mousehole_sim::error::Result;
use mousehole_sim::record::TRACE_EVENTS;
use mousehole_sim::scenario::{Plan, Scenario, run};
use std::io::{BufRead, BufWriter, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Prints the traces of standard input's scenarios, by the engine or with `--floats`; exits with 2,
/// and a message on standard error, on a usage error or a failed scenario.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let trace = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => trace_by_engine,
        ["--floats"] => trace_in_floats,
        _ => {
            eprintln!("usage: mousehole-trace [--floats] < SCENARIOS");
            return ExitCode::from(2);
        }
    };
    match print_all(trace) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("mousehole-trace: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Prints the trace of every line of standard input by `trace`, each line as it is read.
///
/// # Errors
/// Those of the input, of the output and of the first scenario that fails; the rows before it are
/// printed.
fn print_all(trace: fn(&str) -> Result<Vec<Row>>) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(stdout().lock());
    for (number, line) in stdin().lock().lines().enumerate() {
        for (at_s, event, seq, bytes) in trace(&line?)? {
            writeln!(out, "{number},{at_s:.9},{},{seq},{bytes}", TRACE_EVENTS[event as usize])?;
        }
    }
    Ok(out.flush()?)
}

/// Returns the packet trace of a scenario in JSON, played by the engine; the scenario need not ask
/// for it.
///
/// # Errors
/// Those of a scenario that is not valid or fails.
fn trace_by_engine(json: &str) -> Result<Vec<Row>> {
    let scenario = Scenario { trace: true, ..Scenario::from_json(json)? };
    let trace = run(&Plan::new(&scenario)?, None, &AtomicBool::new(false))?.outcome.trace;
    Ok(trace.iter().map(|row| (row.at.as_secs(), row.event, row.seq, row.bytes)).collect())
}

/// Returns the packet trace of a scenario in JSON, played with time in floats. All writes of its
/// connections count as one.
///
/// # Errors
/// Those of a scenario that is not valid.
fn trace_in_floats(json: &str) -> Result<Vec<Row>> {
    let plan = Plan::new(&Scenario::from_json(json)?)?;
    let bytes = plan.scenario.traffic.connections.iter().flat_map(|one| &one.writes).map(|write| write.bytes);
    float_path::trace_connection(&plan, bytes.sum(), plan.deadline().as_secs())
}
