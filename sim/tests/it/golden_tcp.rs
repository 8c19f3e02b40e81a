//! TCP against ns-2: every shared trace, event by event, and completion times.
//!
//! The traces were recorded from ns-2.35 (`oracle/README.md`). A trace lists sends, arrivals at the
//! sink, acknowledgements and drops; ours must have the same ones in the same order within 2 µs.
#[path = "../../src/bin/mousehole-trace/float_path.rs"]
mod float_path;

use crate::common::{connection, losses_at, read_golden, read_golden_rows, with_connections};
use mousehole_sim::record::{TraceEvent, TraceRow};
use mousehole_sim::scenario::spec::{AccessSpec, LinkSpec, TcpSpec};
use mousehole_sim::scenario::{Plan, Scenario};
use mousehole_sim::tcp::Variant;
use serde_json::{Value, json};

const CLOSE_S: f64 = 2e-6;

/// Time, event, segment and bytes of a line of our trace.
type Ours = (f64, &'static str, i64, u16);

/// The same of ns-2's.
type Theirs = (f64, String, i64, u16);

/// Returns the cases that were recorded with ns-2; panics if the summary cannot be read.
fn read_cases() -> Vec<Value> {
    serde_json::from_str(&read_golden("tcp/summary.json")).expect("summary.json is a list of cases")
}

/// What `a_tcp.tcl` sets: its name there, its name in `in_force`, its default, its value in the old era.
const SETTINGS: [(&str, &str, f64, Option<f64>); 11] = [
    ("size", "payload", 1000.0, None),
    ("win", "window", 64.0, None),
    ("syn", "syn", 0.0, Some(0.0)),
    ("iw", "iw", 2.0, Some(1.0)),
    ("tick", "tick_s", 0.01, Some(0.1)),
    ("rto0", "initial_rto_s", 3.0, Some(6.0)),
    ("minrto", "min_rto_s", 0.2, Some(1.0)),
    ("bw2", "bottleneck_mbit", 2.0, None),
    ("d2", "bottleneck_delay_ms", 20.0, None),
    ("qlim", "buffer", 1000.0, None),
    ("tend", "end_s", 200.0, None),
];

/// Returns a setting in force: the recorded one, or else the one that the script would set. It
/// panics for a name that the script does not have.
fn setting(case: &Value, name: &str) -> f64 {
    let known = SETTINGS.iter().find(|setting| setting.0 == name);
    let &(_, recorded, default, old) = known.expect("a setting of a_tcp.tcl");
    let old = old.filter(|_| case["params"]["era"] == "old");
    parse_number(&case["in_force"][recorded])
        .or(old)
        .or_else(|| parse_number(&case["params"][name]))
        .unwrap_or(default)
}

/// Returns a JSON number, or a text as a number; `None` if it is neither.
fn parse_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns the indices of the script's list, which is `-` for none; panics for any other text.
fn parse_indices(value: &Value) -> Vec<u64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    if matches!(text.as_str(), "-" | "null") {
        return Vec::new();
    }
    text.split(',').map(|index| index.parse().expect("an index")).collect()
}

/// Returns whether the sink delays ACKs. The script's Sack1 sink does so only if the setting is 2.
fn delays_acks(case: &Value) -> bool {
    let least = if case["params"]["variant"] == "Sack1" { 2.0 } else { 1.0 };
    parse_number(&case["params"]["delack"]).unwrap_or(0.0) >= least
}

/// Returns the bottleneck of a case.
fn link_spec(case: &Value) -> LinkSpec {
    let delay_ms = setting(case, "d2");
    LinkSpec {
        rate: Some(format!("{}mbit", setting(case, "bw2"))),
        delay: format!("{delay_ms}ms"),
        rtt: format!("{}ms", 2.0 * delay_ms + 2.0),
        buffer: format!("{}p", setting(case, "qlim")),
        up_buffer: Some("10000p".into()),
        ..LinkSpec::default()
    }
}

/// Returns the TCP of a case.
fn tcp_spec(case: &Value) -> TcpSpec {
    let milliseconds = |name| Some(format!("{}ms", setting(case, name) * 1e3));
    TcpSpec {
        profile: if case["params"]["era"] == "old" { "ns2-2001" } else { "ns2-2.35" }.into(),
        variant: Some(match case["params"]["variant"].as_str() {
            Some("Tahoe") => Variant::Tahoe,
            Some("Reno") => Variant::Reno,
            Some("Newreno") | None => Variant::Newreno,
            Some("Sack1") => Variant::Sack,
            Some(other) => panic!("unknown variant {other}"),
        }),
        mss: Some(setting(case, "size") as u32),
        receive_window: Some(setting(case, "win") as u32),
        tick: milliseconds("tick"),
        initial_window: Some(setting(case, "iw") as u32),
        initial_rto: milliseconds("rto0"),
        min_rto: milliseconds("minrto"),
        tick_phase_s: parse_number(&case["tick_phase_s"]),
        syn: Some(setting(case, "syn") != 0.0),
        delayed_ack: Some(if delays_acks(case) { "100ms" } else { "off" }.into()),
        ..TcpSpec::default()
    }
}

/// Returns the scenario of a case, by its metadata alone.
fn case_scenario(case: &Value) -> Scenario {
    let faults = [("down", "drops"), ("up", "ackdrops")]
        .map(|(link, name)| (link, parse_indices(&case["params"][name])));
    let segments = parse_number(&case["params"]["n"]).unwrap_or(100.0) as u64;
    let base = Scenario {
        warmup: "0s".into(),
        duration: format!("{}s", setting(case, "tend")),
        scheme: "droptail(ns2=true)".into(),
        link: link_spec(case),
        access: Some(AccessSpec {
            rate: "100mbit".into(),
            delay: "1ms".into(),
            client_rate: Some("unlimited".into()),
            client_delay: Some("0ms".into()),
            servers: None,
            clients: None,
        }),
        tcp: tcp_spec(case),
        faults: faults
            .iter()
            .filter(|(_, drops)| !drops.is_empty())
            .map(|(link, drops)| losses_at(link, drops))
            .collect(),
        trace: true,
        ..Scenario::default()
    };
    with_connections(base, vec![connection(0.0, &[(0.0, segments * setting(case, "size") as u64)])])
}

/// Returns the trace of a case with time in floats, where ns-2's order within an instant is known
/// (`float_path.rs`).
fn play_in_floats(case: &Value) -> Vec<Ours> {
    let plan = Plan::new(&case_scenario(case)).unwrap_or_else(|error| panic!("{error}"));
    let bytes = plan.scenario.traffic.connections[0].writes[0].bytes;
    let rows = float_path::trace_connection(&plan, bytes, setting(case, "tend")).expect("a path");
    rows.iter().filter_map(|row| ns2_event_name(row.1).map(|name| (row.0, name, row.2, row.3))).collect()
}

/// Returns the engine's packet trace of a case; panics if a packet was lost or invented.
fn play_case(case: &Value) -> Vec<TraceRow> {
    let result = crate::common::play(&case_scenario(case));
    assert!(result.is_conserved());
    result.outcome.trace
}

/// Returns the name of an event in ns-2's tables; `None` if they do not have it.
fn ns2_event_name(event: TraceEvent) -> Option<&'static str> {
    match event {
        TraceEvent::Send => Some("send"),
        TraceEvent::Receive => Some("rcv_at_sink"),
        TraceEvent::Ack => Some("ack"),
        TraceEvent::Drop => Some("drop"),
        _ => None,
    }
}

/// Returns (time in s, event, segment, IP bytes) of the events that ns-2's trace has, in order.
fn comparable_rows(rows: &[TraceRow]) -> Vec<Ours> {
    rows.iter()
        .filter_map(|row| ns2_event_name(row.event).map(|name| (row.at.as_secs(), name, row.seq, row.bytes)))
        .collect()
}

/// Returns ns-2's trace of a case, in the same form; panics if it cannot be read.
fn read_ns2_rows(case: &Value) -> Vec<Theirs> {
    let table = read_golden_rows(&format!("tcp/{}.events.csv", case["name"].as_str().expect("a name")));
    let row = |fields: Vec<String>| {
        let parse = |index: usize| fields[index].parse::<f64>().expect("a number");
        (parse(0), fields[1].clone(), parse(2) as i64, parse(3) as u16)
    };
    table.into_iter().map(row).collect()
}

/// Returns the first difference of the two traces as text; `None` if there is none. The script
/// watches until 1 s after the transfer.
fn find_difference(case: &Value, mine: Vec<Ours>) -> Option<String> {
    let until = parse_number(&case["done"]).map_or(setting(case, "tend"), |done| done + 1.0);
    let other = read_ns2_rows(case);
    let mine: Vec<Ours> = mine.into_iter().filter(|row| row.0 <= until).collect();
    let differs =
        |(a, b): &(&Ours, &Theirs)| (a.0 - b.0).abs() > CLOSE_S || a.1 != b.1 || a.2 != b.2 || a.3 != b.3;
    let place = mine.iter().zip(&other).position(|pair| differs(&pair));
    let name = &case["name"];
    match place {
        Some(at) => Some(format!("{name}: event {at}: ours {:?}, ns-2 {:?}", mine[at], other[at])),
        // Some traces end before the ACK that completes the transfer; its time is `done`.
        None if mine.len() > other.len() && is_after_end(case, &mine[other.len()..]) => None,
        None if mine.len() != other.len() => {
            Some(format!("{name}: {} events, ns-2 has {}", mine.len(), other.len()))
        }
        None => None,
    }
}

/// Returns whether the rows come after the transfer's end, where some of ns-2's traces stop.
fn is_after_end(case: &Value, rest: &[Ours]) -> bool {
    parse_number(&case["done"]).is_some_and(|done| {
        let completes = rest[0].1 != "ack" || (rest[0].0 - done).abs() <= CLOSE_S;
        completes && rest.iter().all(|row| row.0 >= done - CLOSE_S)
    })
}

/// A trace may part where ns-2's floats decide the order within an instant; it must not with time in floats then, and
/// such ties are few.
#[test]
fn golden_tcp__events_equal_ns2() {
    let (cases, mut ties, mut parted) = (read_cases(), 0, Vec::new());
    for case in &cases {
        let Some(first) = find_difference(case, comparable_rows(&play_case(case))) else { continue };
        match find_difference(case, play_in_floats(case)) {
            None => ties += 1,
            Some(_) => parted.push(first),
        }
    }
    assert!(parted.is_empty(), "{} of {} parted:\n{}", parted.len(), cases.len(), parted.join("\n"));
    assert!(ties * 10 <= cases.len(), "{ties} of {} are ties", cases.len());
}

/// Links of ns-2's arithmetic, and nothing of the engine: every event again.
#[test]
fn golden_tcp__events_in_floats_equal_ns2() {
    let parted: Vec<String> =
        read_cases().iter().filter_map(|case| find_difference(case, play_in_floats(case))).collect();
    assert!(parted.is_empty(), "{}", parted.join("\n"));
}

#[test]
fn golden_tcp__completion_times_within_a_thousandth() {
    for case in read_cases() {
        let rows = play_case(&case);
        let done = rows.iter().rev().find(|row| row.event == TraceEvent::Ack).expect("an ACK").at.as_secs();
        let Some(expected) = parse_number(&case["done"]) else { continue };
        assert!((done - expected).abs() <= expected * 1e-3, "{}: {done} s, ns-2 {expected} s", case["name"]);
    }
}

/// `variant=Reno n=86 seed=2033469854 iw=4 drops=75,..,82 delack=1`: a copy of the last packet comes after
/// everything was acknowledged; its own ACK is delayed and sent all the same.
#[test]
fn golden_tcp__a_late_copy_is_acknowledged_after_the_end() {
    let case = json!({
        "params": { "variant": "Reno", "n": 86, "iw": 4, "drops": "75,76,77,78,79,80,81,82", "delack": 1 },
        "tick_phase_s": 0.002570046923388749,
    });
    let rows = comparable_rows(&play_case(&case));
    let last = rows.last().expect("an event");
    assert!((last.0 - 0.975_414).abs() < CLOSE_S && (last.1, last.2) == ("ack", 85), "{last:?}");
}

/// `summary.json` may leave out what `a_tcp.tcl` sets by itself, and `in_force`.
#[test]
fn settings__without_a_record_are_those_of_the_script() {
    let bare = json!({ "params": { "era": "old", "win": 20, "tick": 0.5, "qlim": "7" } });
    let names = ["win", "tick", "iw", "rto0", "minrto", "qlim", "bw2"];
    assert_eq!(names.map(|name| setting(&bare, name)), [20.0, 0.1, 1.0, 6.0, 1.0, 7.0, 2.0]);
    let recorded = json!({ "params": { "tick": 0.5 }, "in_force": { "tick_s": 0.1 } });
    assert_eq!(setting(&recorded, "tick"), 0.1);
}

/// `a_tcp.tcl` gives Sack1 a sink that acknowledges each segment, whatever `delack=1` says.
#[test]
fn settings__sack_delays_acks_only_with_2() {
    let case = |variant: &str, delack: u32| json!({ "params": { "variant": variant, "delack": delack } });
    assert!(delays_acks(&case("Reno", 1)) && delays_acks(&case("Sack1", 2)));
    assert!(!delays_acks(&case("Sack1", 1)) && !delays_acks(&case("Newreno", 0)));
}
