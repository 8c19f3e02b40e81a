//! Runs one benchmark case for a given simulated time and prints one line of JSON; `make bench` and `make bench WHAT=performance`
//! call it.
//!
//! - `mousehole-bench bulk 100`: 100 bulk NewReno flows over 100 Mb/s, 80 ms, three links each way
//!   (`oracle/tcl/p_heavy.tcl`).
//! - `mousehole-bench web 600`: Poisson web transfers at 70 % of 10 Mb/s plus 10 bulk flows
//!   (`oracle/tcl/p_dumbbell.tcl s2`).
//! - `mousehole-bench flows 1000 100 10`: 1000 bulk flows over 100 Mb/s, as `bulk` otherwise, buffer 1 BDP.
//! - `mousehole-bench scheme bulk 10 fq-codel`: `bulk` or `web` under another scheme.
//! - `mousehole-bench model linux fq-codel web:sfd 10`: a model's traffic at 90 % of 10 Mb/s, from senders of a profile
//!   under a scheme; what people run.
//! - `mousehole-bench threads 4 100`: four replications of `bulk`, each on a separate thread.
//!
//! Full records and statistics are collected.

use mousehole_sim::engine::World;
use mousehole_sim::error::Result;
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{AccessSpec, BulkSpec, LinkSpec, TcpSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use mousehole_sim::tcp::Variant;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::thread;

const USAGE: &str = "usage: mousehole-bench bulk|web SECONDS | scheme bulk|web SECONDS SCHEME | \
                     model PROFILE SCHEME MODEL SECONDS | \
                     flows FLOWS MBPS SECONDS | threads THREADS SECONDS; all above 0";

/// Runs the case of the command line and prints its line of JSON; exits with 2, and a message on
/// standard error, on a usage error or a failed run.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(scenarios) = parse_scenarios(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run_all(&scenarios) {
        Ok(results) => {
            println!("{}", format_results(&arguments[0], &results));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("mousehole-bench: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the runs that the command line asks for; several are to run at once. `None` for an
/// unknown case, a wrong count of arguments, or a number that is not positive. Names of schemes,
/// profiles and models are not checked.
fn parse_scenarios(arguments: &[String]) -> Option<Vec<Scenario>> {
    let case = arguments.first()?;
    if let [_, of, seconds, scheme] = arguments
        && case == "scheme"
    {
        let own = parse_scenarios(&[of.clone(), seconds.clone()])?;
        return Some(own.into_iter().map(|own| Scenario { scheme: scheme.clone(), ..own }).collect());
    }
    if let [_, profile, scheme, model, seconds] = arguments
        && case == "model"
    {
        let seconds = seconds.parse().ok().filter(|number| *number > 0)?;
        return Some(vec![model_scenario(profile, scheme, model, seconds)]);
    }
    let numbers: Option<Vec<u32>> =
        arguments[1..].iter().map(|text| text.parse().ok().filter(|number| *number > 0)).collect();
    match (case.as_str(), &numbers?[..]) {
        ("bulk", [seconds]) => Some(vec![bulk_scenario(*seconds)]),
        ("web", [seconds]) => Some(vec![web_scenario(*seconds)]),
        ("flows", [flows, mbps, seconds]) => Some(vec![many_flows_scenario(*flows, *mbps, *seconds)]),
        ("threads", [threads, seconds]) => {
            let nth = |replication| Scenario { replication, ..bulk_scenario(*seconds) };
            Some((0..*threads).map(nth).collect())
        }
        _ => None,
    }
}

/// Runs one scenario on this thread, several on one thread each; returns the results in order.
///
/// # Errors
/// That of the first scenario that is not valid or fails.
///
/// # Panics
/// When a run does.
fn run_all(scenarios: &[Scenario]) -> Result<Vec<RunResult>> {
    let one = |scenario| Plan::new(scenario).and_then(|plan| run(&plan, None, &AtomicBool::new(false)));
    if let [scenario] = scenarios {
        return Ok(vec![one(scenario)?]);
    }
    thread::scope(|scope| {
        let threads: Vec<_> = scenarios.iter().map(|scenario| scope.spawn(move || one(scenario))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
    })
}

/// Returns the results, at least one, as JSON. Packets, events and transfers are sums over the
/// runs, all must be conserved, and the rest is the first run's.
fn format_results(case: &str, results: &[RunResult]) -> serde_json::Value {
    let outcome = &results[0].outcome;
    let sum = |count: fn(&RunResult) -> u64| results.iter().map(count).sum::<u64>();
    serde_json::json!({
        "case": case,
        "sim_seconds": outcome.ended.as_secs(),
        "data_packets_forward": sum(|result| result.outcome.forward_packets),
        "events": sum(|result| result.outcome.events),
        "utilisation": outcome.queues[0].utilisation(),
        "connections_opened": outcome.opened,
        "connections_most_live": outcome.most_live,
        "transfers_recorded": sum(|result| result.outcome.transfers.len() as u64),
        "bytes_live_connection": World::BYTES_PER_CONNECTION,
        "bytes_finished_connection": size_of::<Transfer>(),
        "peak_resident_bytes": peak_resident_bytes(),
        "conserved": results.iter().all(RunResult::is_conserved),
    })
}

/// Returns the peak resident memory of this program in bytes, as Linux counts it; 0 on other
/// systems. The value from the parent's wait would include the parent's memory before the program
/// started.
fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

/// Returns the bulk case with another number of flows and another rate, at a buffer of one
/// bandwidth-delay product.
fn many_flows_scenario(flows: u32, mbps: u32, seconds: u32) -> Scenario {
    let mut scenario = bulk_scenario(seconds);
    scenario.link.rate = Some(format!("{mbps}mbit"));
    scenario.link.buffer = "1bdp".into();
    if let Some(access) = &mut scenario.access {
        // As in the bulk case ten times the bottleneck, so that only that one queues.
        access.rate = format!("{}mbit", u64::from(mbps) * 10);
    }
    scenario.traffic.bulk = Some(BulkSpec { flows, start_spread_s: 1.0, rtt_spread: 0.0 });
    scenario
}

/// Returns 100 bulk flows over 100 Mb/s, with windows, segment and header sizes as in the ns-2
/// scripts; all of the run is measured.
fn bulk_scenario(seconds: u32) -> Scenario {
    Scenario {
        warmup: "0s".into(),
        duration: format!("{seconds}s"),
        max_windows: 1,
        link: LinkSpec {
            rate: Some("100mbit".into()),
            rtt: "80ms".into(),
            delay: "20ms".into(),
            buffer: "1000p".into(),
            up_buffer: Some("100000p".into()),
            ..LinkSpec::default()
        },
        access: Some(gigabit_access()),
        tcp: TcpSpec {
            profile: "ns2-2.35".into(),
            receive_window: Some(10_000),
            initial_ssthresh: Some(10_000),
            ..TcpSpec::default()
        },
        traffic: TrafficSpec {
            bulk: Some(BulkSpec { flows: 100, start_spread_s: 1.0, rtt_spread: 0.0 }),
            ..TrafficSpec::default()
        },
        ..Scenario::default()
    }
}

/// Returns Poisson web transfers at 70 % of 10 Mb/s and 10 bulk flows through RED, as in the ns-2
/// script.
fn web_scenario(seconds: u32) -> Scenario {
    let transfers_per_s = 0.7 * 10e6 / 8.0 / 12_000.0;
    Scenario {
        warmup: "0s".into(),
        duration: format!("{seconds}s"),
        max_windows: 1,
        scheme: "red(min=15,max=50,maxp=0.02,wq=0.002,gentle=true,wait=true,guard=2,mean=1000B)".into(),
        link: LinkSpec {
            rate: Some("10mbit".into()),
            rtt: "80ms".into(),
            delay: "20ms".into(),
            buffer: "95p".into(),
            up_buffer: Some("100000p".into()),
            ..LinkSpec::default()
        },
        access: Some(gigabit_access()),
        tcp: TcpSpec {
            profile: "rfc".into(),
            variant: Some(Variant::Newreno),
            mss: Some(1000),
            header: Some(54),
            delayed_ack: Some("200ms".into()),
            ..TcpSpec::default()
        },
        traffic: TrafficSpec {
            model: Some("poisson".into()),
            params: Some(
                serde_json::json!({ "transfers_per_s": transfers_per_s, "cap_bytes": 1_000_000_000u64 }),
            ),
            bulk: Some(BulkSpec { flows: 10, start_spread_s: 1.0, rtt_spread: 0.1 }),
            ..TrafficSpec::default()
        },
        ..Scenario::default()
    }
}

/// Returns the traffic of a model at 90 % of 10 Mb/s, from senders of a profile under a scheme.
fn model_scenario(profile: &str, scheme: &str, model: &str, seconds: u32) -> Scenario {
    Scenario {
        warmup: "0s".into(),
        duration: format!("{seconds}s"),
        max_windows: 1,
        scheme: scheme.into(),
        link: LinkSpec { rate: Some("10mbit".into()), ..LinkSpec::default() },
        tcp: TcpSpec { profile: profile.into(), ..TcpSpec::default() },
        traffic: TrafficSpec { model: Some(model.into()), load: Some(0.9), ..TrafficSpec::default() },
        ..Scenario::default()
    }
}

/// Returns access links of 1 Gb/s and 10 ms at each end of every connection, as in both ns-2 scripts.
fn gigabit_access() -> AccessSpec {
    AccessSpec {
        rate: "1gbit".into(),
        delay: "10ms".into(),
        client_rate: None,
        client_delay: None,
        servers: None,
        clients: None,
    }
}
