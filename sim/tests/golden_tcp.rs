//! TCP against ns-2: every shared trace, event by event, and completion times.
//!
//! The traces were recorded from ns-2.35 (`oracle/README.md`). A trace lists sends, arrivals at the
//! sink, acknowledgements and drops; ours must have the same ones in the same order within 2 µs.
#![allow(non_snake_case)]

mod common;

use common::{connection, golden, golden_rows, losing, with_connections};
use mousehole_sim::record::{TraceEvent, TraceRow};
use mousehole_sim::scenario::Scenario;
use mousehole_sim::scenario::spec::{AccessSpec, LinkSpec, TcpSpec};
use mousehole_sim::tcp::Variant;
use serde_json::{Value, json};

const CLOSE_S: f64 = 2e-6;

/// Time, event, segment and bytes of a line of our trace.
type Ours = (f64, &'static str, i64, u16);

/// The same of ns-2's.
type Theirs = (f64, String, i64, u16);

fn cases() -> Vec<Value> {
    serde_json::from_str(&golden("tcp/summary.json")).expect("summary.json is a list of cases")
}

fn scenario(case: &Value) -> Scenario {
    let (params, force) = (&case["params"], &case["in_force"]);
    let number = |value: &Value| value.as_f64().expect("a number");
    let seconds = |value: &Value| Some(format!("{}ms", number(value) * 1e3));
    let drops = params["drops"].as_str().expect("a list of drops");
    let segments = number(&params["n"]) as u64;
    let base = Scenario {
        warmup: "0s".into(),
        duration: "100s".into(),
        scheme: "droptail".into(),
        link: LinkSpec {
            rate: format!("{}mbit", number(&force["bottleneck_mbit"])),
            delay: format!("{}ms", number(&force["bottleneck_delay_ms"])),
            rtt: format!("{}ms", 2.0 * number(&force["bottleneck_delay_ms"]) + 2.0),
            buffer: format!("{}p", number(&force["buffer"])),
            uplink_buffer: "10000p".into(),
            ..LinkSpec::default()
        },
        access: Some(AccessSpec {
            rate: "100mbit".into(),
            delay: "1ms".into(),
            client_rate: Some("unlimited".into()),
            client_delay: Some("0ms".into()),
            servers: None,
            clients: None,
        }),
        tcp: TcpSpec {
            profile: if params["era"] == "old" { "ns2-2001" } else { "ns2-2.35" }.into(),
            variant: Some(match params["variant"].as_str() {
                Some("Reno") => Variant::Reno,
                Some("Newreno") => Variant::Newreno,
                Some("Sack1") => Variant::Sack,
                other => panic!("unknown variant {other:?}"),
            }),
            receive_window: Some(number(&force["window"]) as u32),
            tick: seconds(&force["tick_s"]),
            initial_window: Some(number(&force["iw"]) as u32),
            initial_rto: seconds(&force["initial_rto_s"]),
            min_rto: seconds(&force["min_rto_s"]),
            tick_phase_s: Some(number(&case["tick_phase_s"])),
            syn: Some(number(&force["syn"]) != 0.0),
            ..TcpSpec::default()
        },
        faults: match drops {
            "-" => Vec::new(),
            list => vec![losing(
                "down",
                &list.split(',').map(|index| index.parse().expect("a number")).collect::<Vec<_>>(),
            )],
        },
        trace: true,
        ..Scenario::default()
    };
    with_connections(base, vec![connection(0.0, &[(0.0, segments * 1000)])])
}

fn play(case: &Value) -> Vec<TraceRow> {
    let result = common::play(&scenario(case));
    assert!(result.is_conserved());
    result.outcome.trace
}

/// (time, event, seq, size) of the events ns-2's trace has.
fn ours(rows: &[TraceRow]) -> Vec<Ours> {
    let name = |event| match event {
        TraceEvent::Send => Some("send"),
        TraceEvent::Receive => Some("rcv_at_sink"),
        TraceEvent::Ack => Some("ack"),
        TraceEvent::Drop => Some("drop"),
        _ => None,
    };
    rows.iter()
        .filter_map(|row| name(row.event).map(|name| (row.at.as_secs(), name, row.seq, row.bytes)))
        .collect()
}

fn theirs(case: &Value) -> Vec<Theirs> {
    let table = golden_rows(&format!("tcp/{}.events.csv", case["name"].as_str().expect("a name")));
    let row = |fields: Vec<String>| {
        let parse = |index: usize| fields[index].parse::<f64>().expect("a number");
        (parse(0), fields[1].clone(), parse(2) as i64, parse(3) as u16)
    };
    table.into_iter().map(row).collect()
}

/// The first place where the two traces part, as text.
fn parting(case: &Value) -> Option<String> {
    let rows = play(case);
    let (mine, other) = (ours(&rows), theirs(case));
    let differs =
        |(a, b): &(&Ours, &Theirs)| (a.0 - b.0).abs() > CLOSE_S || a.1 != b.1 || a.2 != b.2 || a.3 != b.3;
    let place = mine.iter().zip(&other).position(|pair| differs(&pair));
    let name = &case["name"];
    match place {
        Some(at) => Some(format!("{name}: event {at}: ours {:?}, ns-2 {:?}", mine[at], other[at])),
        // Some traces end before the ACK that completes the transfer; its time is `done`.
        None if mine.len() == other.len() + 1 && completes(case, mine.last()) => None,
        None if mine.len() != other.len() => {
            Some(format!("{name}: {} events, ns-2 has {}", mine.len(), other.len()))
        }
        None => None,
    }
}

fn completes(case: &Value, last: Option<&Ours>) -> bool {
    let done = case["done"].as_f64().expect("a number");
    last.is_some_and(|row| row.1 == "ack" && (row.0 - done).abs() <= CLOSE_S)
}

#[test]
fn golden_tcp__events_equal_ns2() {
    let partings: Vec<String> = cases().iter().filter_map(parting).collect();
    assert!(partings.is_empty(), "{} of {} parted:\n{}", partings.len(), cases().len(), partings.join("\n"));
}

#[test]
fn golden_tcp__completion_times_within_a_thousandth() {
    for case in cases() {
        let rows = play(&case);
        let done = rows.iter().rev().find(|row| row.event == TraceEvent::Ack).expect("an ACK").at.as_secs();
        let expected = case["done"].as_f64().expect("a number");
        assert!((done - expected).abs() <= expected * 1e-3, "{}: {done} s, ns-2 {expected} s", case["name"]);
    }
}

/// `variant=Reno n=86 seed=2033469854 iw=4 drops=75,..,82 delack=1`: a copy of the last packet comes after
/// everything was acknowledged; its own ACK is delayed and sent all the same.
#[test]
fn golden_tcp__a_late_copy_is_acknowledged_after_the_end() {
    let case = json!({
        "params": { "variant": "Reno", "era": "now", "n": 86, "drops": "75,76,77,78,79,80,81,82" },
        "in_force": {
            "syn": 0, "window": 64, "tick_s": 0.01, "iw": 4, "initial_rto_s": 3.0, "min_rto_s": 0.2,
            "bottleneck_mbit": 2, "bottleneck_delay_ms": 20, "buffer": 1000,
        },
        "tick_phase_s": 0.002570046923388749,
    });
    let mut scenario = scenario(&case);
    scenario.tcp.delayed_ack = Some("100ms".into());
    let rows = ours(&common::play(&scenario).outcome.trace);
    let last = rows.last().expect("an event");
    assert!((last.0 - 0.975_414).abs() < CLOSE_S && (last.1, last.2) == ("ack", 85), "{last:?}");
}
