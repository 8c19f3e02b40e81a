//! One benchmark case for a given simulated time, as one line of JSON; `make bench` calls it.
//!
//! `mousehole-bench bulk 100`: 100 bulk NewReno flows over 100 Mb/s, 80 ms, three links each way
//! (`oracle/tcl/p_heavy.tcl`). `mousehole-bench web 600`: Poisson web transfers at 70 % of 10 Mb/s plus
//! 10 bulk flows (`oracle/tcl/p_dumbbell.tcl s2`). Full records and statistics are on.

use mousehole_sim::engine::World;
use mousehole_sim::record::Transfer;
use mousehole_sim::scenario::spec::{AccessSpec, BulkSpec, LinkSpec, TcpSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, Scenario, run};
use mousehole_sim::tcp::Variant;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match &arguments[..] {
        [case, seconds] => {
            seconds.parse::<u32>().ok().filter(|seconds| *seconds > 0).map(|s| (case.as_str(), s))
        }
        _ => None,
    };
    let scenario = match parsed {
        Some(("bulk", seconds)) => bulk(seconds),
        Some(("web", seconds)) => web(seconds),
        _ => {
            eprintln!("usage: mousehole-bench bulk|web SECONDS");
            return ExitCode::from(2);
        }
    };
    let result = Plan::new(&scenario).and_then(|plan| run(&plan, None, &AtomicBool::new(false)));
    match result {
        Ok(result) => {
            let outcome = &result.outcome;
            let queue = &outcome.queues[0];
            println!(
                "{}",
                serde_json::json!({
                    "case": arguments[0],
                    "sim_seconds": outcome.ended.as_secs(),
                    "data_packets_forward": outcome.forward_packets,
                    "events": outcome.events,
                    "utilisation": queue.utilisation(),
                    "connections_opened": outcome.opened,
                    "connections_most_live": outcome.most_live,
                    "transfers_recorded": outcome.transfers.len(),
                    "bytes_live_connection": World::BYTES_PER_CONNECTION,
                    "bytes_finished_connection": size_of::<Transfer>(),
                    "conserved": result.is_conserved(),
                })
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("mousehole-bench: {error}");
            ExitCode::from(2)
        }
    }
}

/// Windows, segment and header sizes as the ns-2 scripts set them.
fn bulk(seconds: u32) -> Scenario {
    Scenario {
        warmup: "0s".into(),
        duration: format!("{seconds}s"),
        max_windows: 1,
        link: LinkSpec {
            rate: "100mbit".into(),
            rtt: "80ms".into(),
            delay: "20ms".into(),
            buffer: "1000p".into(),
            uplink_buffer: "100000p".into(),
            ..LinkSpec::default()
        },
        access: Some(AccessSpec {
            rate: "1gbit".into(),
            delay: "10ms".into(),
            client_rate: None,
            client_delay: None,
            servers: None,
            clients: None,
        }),
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

fn web(seconds: u32) -> Scenario {
    let transfers_per_s = 0.7 * 10e6 / 8.0 / 12_000.0;
    Scenario {
        warmup: "0s".into(),
        duration: format!("{seconds}s"),
        max_windows: 1,
        scheme: "red(min=15,max=50,maxp=0.02,wq=0.002,gentle=true,wait=true,guard=2,mean=1000B)".into(),
        link: LinkSpec {
            rate: "10mbit".into(),
            rtt: "80ms".into(),
            delay: "20ms".into(),
            buffer: "95p".into(),
            uplink_buffer: "100000p".into(),
            ..LinkSpec::default()
        },
        access: Some(AccessSpec {
            rate: "1gbit".into(),
            delay: "10ms".into(),
            client_rate: None,
            client_delay: None,
            servers: None,
            clients: None,
        }),
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
