//! Runs one scenario, web pages of SFD's model under SFD, and prints the mean response time with all its digits.
//!
//! `make wasm-check` runs the program natively, and in Node by `run.mjs`, which calls the function that it exports.

use mousehole_answer::statistics::sums::mean;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scenario, run};
use mousehole_sim::units::Time;
use std::sync::atomic::AtomicBool;

/// Policies in C mark and drop, links, TCP and pages take part, and random numbers are drawn.
const SCENARIO: &str = r#"
scheme = "sfd"
warmup = "5s"
duration = "600s"

[link]
rate = "5mbit"
rtt = "80ms"
buffer = "50p"

[traffic]
model = "web:sfd"
load = 0.9
"#;

/// Returns the mean response time of the scenario's transfers, s.
///
/// # Panics
/// When the scenario cannot be run.
#[unsafe(no_mangle)]
pub extern "C" fn mean_response_s() -> f64 {
    response_times_s().map(|times| mean(&times)).expect("the scenario can be run")
}

fn response_times_s() -> Result<Vec<f64>> {
    let plan = Plan::new(&Scenario::from_toml(SCENARIO, "the scenario")?)?;
    let records = run(&plan, None, &AtomicBool::new(false))?;
    let finished = records.outcome.transfers.iter().filter(|transfer| transfer.end != Time::NEVER);
    Ok(finished.map(|transfer| transfer.end.since(transfer.start).as_secs()).collect())
}

fn main() {
    println!("{}", mean_response_s());
}
