//! Packet traces for comparison with other simulators; `make oracle` calls it.
//!
//! Reads one scenario as JSON per line and prints its packet trace as CSV: number of the line from 0,
//! time in s, event, segment, bytes of IP. An `ack` names the last segment acknowledged.

use mousehole_sim::record::{TRACE_EVENTS, TraceRow};
use mousehole_sim::scenario::{Plan, Scenario, run};
use std::io::{BufRead, BufWriter, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    match print_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("mousehole-trace: {problem}");
            ExitCode::from(2)
        }
    }
}

fn print_all() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(stdout().lock());
    for (number, line) in stdin().lock().lines().enumerate() {
        for row in trace(&line?)? {
            let event = TRACE_EVENTS[row.event as usize];
            writeln!(out, "{number},{:.9},{event},{},{}", row.at.as_secs(), row.seq, row.bytes)?;
        }
    }
    Ok(out.flush()?)
}

fn trace(json: &str) -> mousehole_sim::error::Result<Vec<TraceRow>> {
    let scenario = Scenario { trace: true, ..Scenario::from_json(json)? };
    Ok(run(&Plan::new(&scenario)?, None, &AtomicBool::new(false))?.outcome.trace)
}
