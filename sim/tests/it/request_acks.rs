//! Servers that acknowledge a request before they answer, and their think time.
use crate::common::{connection, losses_at, play, scenario, transfers, with_connections, with_profile};
use mousehole_sim::record::{TraceEvent, TraceRow};
use mousehole_sim::scenario::{Plan, RunResult, Scenario};
use mousehole_sim::units::Time;

const ACK_BYTES: u16 = 52;

/// Returns a scenario of one connection with these writes in the profile `linux`, with this think
/// time of servers.
fn conversation(writes: &[(f64, u64)], think: &str) -> Scenario {
    let base = Scenario { trace: true, ..with_profile(scenario("droptail"), "linux") };
    with_server_think(with_connections(base, vec![connection(1.0, writes)]), think)
}

/// Returns the scenario with this think time of servers.
fn with_server_think(mut scenario: Scenario, think: &str) -> Scenario {
    scenario.traffic.server_think = Some(think.into());
    scenario
}

/// Returns when the server sent its SYN-ACK and its acknowledgements of requests, and when it sent
/// data, in ms.
fn send_times_ms(result: &RunResult) -> (Vec<f64>, Vec<f64>) {
    let rows = result.outcome.trace.iter().filter(|row| row.event == TraceEvent::Send);
    let (acks, data): (Vec<&TraceRow>, Vec<_>) = rows.partition(|row| row.bytes == ACK_BYTES);
    let times = |rows: Vec<&TraceRow>| rows.iter().map(|row| row.at.as_secs() * 1e3).collect();
    (times(acks), times(data))
}

/// Asserts that two times in ms are equal.
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} ms, not {expected}");
}

/// On a cold connection the ACK comes first and the answer after the time of thought, at most 0 as well.
#[test]
fn request_ack__comes_before_the_answer_of_a_cold_connection() {
    for (think, ms) in [("6ms", 6.0), ("60ms", 60.0), ("0s", 0.0)] {
        let result = play(&conversation(&[(0.0, 1000)], think));
        let (acks, data) = send_times_ms(&result);
        assert_eq!((acks.len(), data.len()), (2, 1), "{think}: a SYN-ACK and an ACK");
        assert_near(data[0] - acks[1], ms);
        let arrivals = result.outcome.trace.iter().filter(|row| row.event == TraceEvent::Enqueue);
        let order: Vec<u16> = arrivals.map(|row| row.bytes).collect();
        assert_eq!(order, [ACK_BYTES, ACK_BYTES, 1052], "{think}: also where nothing is thought");
        let transfer = result.outcome.transfers[0];
        assert_near(transfer.end.since(transfer.start).as_secs() * 1e3, result.ideal_s[0] * 1e3);
        assert_near(transfer.service_ns as f64 / 1e6, ms);
    }
}

/// What `linux` does by itself; the profiles of the RFCs and of ns-2 send no such packet, and their servers answer at once.
#[test]
fn request_ack__is_not_of_other_profiles() {
    for (profile, acks, ms) in [("linux", 2, 6.0), ("bbr", 2, 6.0), ("rfc", 1, 0.0)] {
        let base = Scenario { trace: true, ..with_profile(scenario("droptail"), profile) };
        let result = play(&with_connections(base, vec![connection(1.0, &[(0.0, 1000)])]));
        let sends = result.outcome.trace.iter().filter(|row| row.event == TraceEvent::Send);
        assert_eq!(sends.filter(|row| row.bytes < 60).count(), acks, "{profile}");
        assert_near(result.outcome.transfers[0].service_ns as f64 / 1e6, ms);
    }
}

/// Keystrokes are answered at once, so their connections are warm: the ACK of a keystroke rides on its echo.
#[test]
fn request_ack__rides_on_the_answers_of_a_warm_connection() {
    use crate::common::{entry, with_mix};
    let base =
        Scenario { trace: true, duration: "60s".into(), ..with_profile(scenario("droptail"), "linux") };
    let params = serde_json::json!({"users": 1, "interval_s": 2.0});
    let result = play(&with_mix(base, vec![entry("telnet", params)]));
    assert!(result.outcome.transfers.len() > 10);
    assert!(result.outcome.transfers.iter().all(|one| one.service_ns == 0));
    assert_eq!(send_times_ms(&result).0.len(), 2, "the SYN-ACK, and the ACK of the first keystroke");
}

/// The client waits for an acknowledged request; it repeats one whose ACK was lost, which is acknowledged again.
#[test]
fn request_ack__keeps_the_client_from_repeating() {
    let requests = |result: &RunResult| {
        let up = result.outcome.queues.iter().find(|queue| queue.name == "up").expect("the link to servers");
        up.colours.iter().map(|counts| counts.arrived.packets).sum::<u64>()
    };
    let calm = play(&conversation(&[(0.0, 1000)], "900ms"));
    assert_eq!(send_times_ms(&calm).0.len(), 2);
    // Arrivals at the link to clients: the SYN-ACK is number 0.
    let lossy = Scenario { faults: vec![losses_at("down", &[1])], ..conversation(&[(0.0, 1000)], "900ms") };
    let lossy = play(&lossy);
    assert_eq!(send_times_ms(&lossy).0.len(), 3, "a second ACK, for the repeated request");
    assert_eq!(requests(&lossy), requests(&calm) + 1);
    let end = |result: &RunResult| result.outcome.transfers[0].end;
    assert_eq!(end(&lossy), end(&calm), "the answer is not sent twice");
}

/// FQ-CoDel serves the ACK as the flow's first packet and then finds it empty, so the answer waits for a round of the
/// others. Without the ACK it would be served first.
#[test]
fn request_ack__costs_a_place_among_the_new_flows() {
    let mean = |scheme: &str, think: &str| {
        let base = with_profile(scenario(scheme), "linux");
        let base = Scenario { warmup: "5s".into(), duration: "30s".into(), ..base };
        let bulk = mousehole_sim::scenario::spec::BulkSpec { flows: 6, start_spread_s: 1.0, rtt_spread: 0.2 };
        let mut scenario = with_server_think(with_connections(base, transfers(60, 0.5, 1000)), think);
        scenario.traffic.bulk = Some(bulk);
        let result = play(&scenario);
        let own = |(one, _): &(&mousehole_sim::record::Transfer, &f64)| one.start > Time(5_000_000_000);
        let pairs = result.outcome.transfers.iter().zip(&result.ideal_s).filter(own);
        let delays: Vec<f64> = pairs.map(|(one, alone)| one.end.since(one.start).as_secs() - alone).collect();
        delays.iter().sum::<f64>() / delays.len() as f64 * 1e3
    };
    // Six flows of 1500 bytes at 4 Mbit/s take 18 ms for a round.
    let [at_once, thought] = ["0s", "3ms"].map(|think| mean("fq-codel", think));
    assert!((3.0..18.0).contains(&(thought - at_once)), "FQ-CoDel: {at_once} and {thought} ms");
    let [at_once, thought] = ["0s", "3ms"].map(|think| mean("cake(hosts=flows)", think));
    assert!((thought - at_once).abs() < 2.0, "CAKE: {at_once} and {thought} ms");
}

#[test]
fn server_think__is_checked() {
    let error = |think: &str, profile: &str| {
        let base = with_profile(scenario("droptail"), profile);
        let scenario = with_server_think(with_connections(base, transfers(1, 0.0, 1000)), think);
        Plan::new(&scenario).map(|_| ()).expect_err("refused").to_string()
    };
    for (think, profile, parts) in [
        ("61s", "linux", ["traffic.server_think", "\"61s\"", "60s"]),
        ("soon", "linux", ["traffic.server_think", "\"soon\"", "ms"]),
        ("5ms", "ns2-2001", ["traffic.server_think", "ns2-2001", "leave it out"]),
    ] {
        let error = error(think, profile);
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}
