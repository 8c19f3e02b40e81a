//! Ideal completion times on an empty path, to the nanosecond, and the memory of long runs.
use crate::common::topology::{kind, scenario_over};
use crate::common::{
    connection, losses_at, payload, play, scenario, transfers, with_connections, with_model, with_payload,
    with_profile, with_up,
};
use mousehole_sim::scenario::spec::ConnectionSpec;
use mousehole_sim::scenario::topology::spec::{HostStageSpec, TopologySpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::units::{Rate, Time};

/// Returns a scenario whose buffers never drop, as on the idle path of the ideal times.
fn roomy_scenario() -> Scenario {
    let mut scenario = scenario("droptail");
    (scenario.link.buffer, scenario.link.up_buffer) = ("100000p".into(), Some("100000p".into()));
    scenario
}

const RATE: Rate = Rate(4_000_000);

/// Returns the slowdown of every transfer, in order: its response time over its ideal completion
/// time.
fn slowdowns(result: &RunResult) -> Vec<f64> {
    let pairs = result.outcome.transfers.iter().zip(&result.ideal_s);
    pairs.map(|(one, alone)| one.end.since(one.start).as_secs() / alone).collect()
}

/// Asserts that every transfer takes its ideal completion time, to a part in 10^12.
fn assert_all_one(result: &RunResult, what: &str) {
    for (slowdown, transfer) in slowdowns(result).into_iter().zip(&result.outcome.transfers) {
        assert!((slowdown - 1.0).abs() < 1e-12, "{what}: slowdown {slowdown} of {transfer:?}");
    }
}

/// SYN up, SYN-ACK down, request up, data down: two round trips and four transmissions.
#[test]
fn ideal_time__one_segment_takes_two_round_trips_and_four_transmissions() {
    let result = play(&with_connections(scenario("droptail"), vec![connection(1.0, &[(0.0, 1000)])]));
    let transmissions: u64 = [40, 40, 440, 1040].into_iter().map(|bytes| RATE.tx_time(bytes).0).sum();
    let transfer = result.outcome.transfers[0];
    assert_eq!(transfer.start, Time(1_000_000_000));
    assert_eq!(transfer.end.since(transfer.start).0, 80_000_000 + transmissions);
    assert!((result.ideal_s[0] * 1e9 - (80_000_000 + transmissions) as f64).abs() < 1.0);
}

/// A later write of the connection costs a request and one round trip.
#[test]
fn ideal_time__a_second_write_takes_one_round_trip() {
    let writes = [(0.0, 1000), (0.5, 700)];
    let result = play(&with_connections(scenario("droptail"), vec![connection(0.0, &writes)]));
    let transfer = result.outcome.transfers[1];
    // The ACK of the first write was delayed until the request, and goes out before it.
    let response = transfer.end.since(transfer.start).0;
    let [ack, request, data] = [40, 440, 740].map(|bytes| RATE.tx_time(bytes).0);
    assert!([request + data, ack + request + data].contains(&(response - 40_000_000)), "{response}");
    assert_all_one(&result, "two writes");
}

/// A retransmission and a timeout belong to the write that suffered them, not to later writes of the connection.
#[test]
fn losses__are_counted_for_each_write() {
    let base = Scenario { faults: vec![losses_at("down", &[1])], ..scenario("droptail") };
    let writes = [(0.0, 1000), (0.5, 700), (0.5, 700)];
    let result = play(&with_connections(base, vec![connection(0.0, &writes)]));
    let losses: Vec<(u32, u32)> =
        result.outcome.transfers.iter().map(|transfer| (transfer.retransmits, transfer.timeouts)).collect();
    assert_eq!(losses, [(1, 1), (0, 0), (0, 0)]);
}

/// A lone SYN costs the initial RTO of a second, a lost SYN-ACK too, a lost request three.
#[test]
fn ideal_time__lost_handshake_packets_cost_their_timeouts() {
    let response = |faults| {
        let base = Scenario { faults, ..scenario("droptail") };
        let result = play(&with_connections(base, vec![connection(0.0, &[(0.0, 1000)])]));
        result.outcome.transfers[0].end.as_secs()
    };
    let clean = response(Vec::new());
    let extra = |faults| response(faults) - clean;
    assert!((extra(vec![losses_at("up", &[0])]) - 1.0).abs() < 1e-6, "SYN");
    assert!((extra(vec![losses_at("down", &[0])]) - 1.0).abs() < 1e-6, "SYN-ACK");
    assert!((extra(vec![losses_at("up", &[0, 1])]) - 3.0).abs() < 1e-6, "SYN twice: 1 s + 2 s");
    assert!((extra(vec![losses_at("up", &[1])]) - 1.0).abs() < 1e-6, "request");
    assert!((extra(vec![losses_at("down", &[1])]) - 1.0).abs() < 1e-6, "data: the least RTO");
}

/// One SYN-ACK lost, or so it seems to the answering side, leaves the initial window alone; after two it starts
/// with one segment (RFC 6928 section 2), which costs a round trip more.
#[test]
fn ideal_time__a_handshake_in_trouble_starts_with_one_segment() {
    let response = |faults| {
        let base = Scenario { faults, ..scenario("droptail") };
        let result = play(&with_connections(base, vec![connection(0.0, &[(0.0, 2920)])]));
        result.outcome.transfers[0].end.as_secs()
    };
    let clean = response(Vec::new());
    for (link, number, what) in [("down", 0, "SYN-ACK"), ("up", 1, "request")] {
        let extra = response(vec![losses_at(link, &[number])]) - clean;
        assert!((extra - 1.0).abs() < 1e-6, "{what}: a second, not {extra} s");
    }
    let extra = response(vec![losses_at("down", &[0, 1])]) - clean;
    assert!((3.04..3.05).contains(&extra), "two SYN-ACKs: three seconds and a round trip, not {extra} s");
    let extra = response(vec![losses_at("up", &[0])]) - clean;
    assert!((extra - 1.0).abs() < 1e-6, "of a lost SYN it knows nothing: {extra} s");
}

/// Far apart on an unloaded drop-tail link every transfer goes as if alone, whatever its size.
#[test]
fn ideal_time__slowdown_without_others_is_one() {
    for profile in ["rfc", "ns2-2.35", "ns2-2001"] {
        let sizes = [1, 999, 1000, 1460, 1461, 14_600, 14_601, 20_000, 43_800, 60_123, 200_000, 1_000_000];
        let one = |(index, bytes): (usize, u64)| connection(20.0 * index as f64, &[(0.0, bytes)]);
        let connections = sizes.into_iter().enumerate().map(one).collect();
        let mut base = with_profile(Scenario { duration: "300s".into(), ..roomy_scenario() }, profile);
        // The phase of the coarse clock is drawn per connection; alone it would be another one.
        base.tcp.tick_phase_s = Some(0.0);
        let result = play(&with_connections(base, connections));
        assert_eq!(result.outcome.transfers.len(), sizes.len());
        assert_all_one(&result, profile);
    }
}

/// The same with paths, writes and pauses of many kinds, and an upload.
#[test]
fn ideal_time__slowdown_without_others_is_one_on_any_path() {
    for direction in ["down", "up"] {
        let connections = (0..20u32).map(|index| {
            let bytes = 900 + u64::from(index) * 3571;
            let writes = [(0.0, bytes), (0.05, 2 * bytes), (1.5, 3000)];
            let mut one = connection(25.0 * f64::from(index), &writes[..1 + index as usize % 3]);
            one.rtt_s = Some(0.04 + 0.013 * f64::from(index % 7));
            one
        });
        let base = Scenario { duration: "600s".into(), ..roomy_scenario() };
        let scenario = with_connections(base, with_payload(direction, connections));
        let result = play(&scenario);
        assert_eq!(result.outcome.transfers.len(), 39);
        assert_all_one(&result, direction);
    }
}

/// The same over several links, whichever is the slowest, with segments that are not full and uploads among them.
#[test]
fn ideal_time__slowdown_without_others_is_one_over_several_links() {
    let stage = HostStageSpec { users: 3, rate: "5mbit".into(), mark: false };
    let roomy = |spec: TopologySpec| TopologySpec { buffer: Some("100000p".into()), ..spec };
    let params = |spec: TopologySpec, params| TopologySpec { params: Some(params), ..spec };
    let tier = params(kind("two-tier"), serde_json::json!({"buffer": "100000p"}));
    let y = params(kind("y"), serde_json::json!({"buffer": "100000p", "second_rate": "3mbit"}));
    let buffers = serde_json::json!({
        "users": 2, "first_routers": 2, "rate": "4mbit", "user_buffer": "100000p", "first_buffer": "100000p",
        "second_buffer": "100000p"
    });
    let tree = params(kind("tree"), buffers);
    for (spec, stage) in [(tier.clone(), None), (roomy(y), None), (roomy(tree), None), (tier, Some(stage))] {
        for profile in ["rfc", "linux"] {
            let connections = (0..40u32).map(|index| ConnectionSpec {
                client: index,
                server: index / 3,
                payload: payload(index % 4 == 3),
                ..connection(30.0 * f64::from(index), &[(0.0, 700 + u64::from(index * index) * 331)])
            });
            let base = scenario_over(spec.clone(), "droptail");
            let base = Scenario { duration: "1200s".into(), host_stage: stage.clone(), ..base };
            let result = play(&with_connections(with_profile(base, profile), connections.collect()));
            assert_eq!(result.outcome.transfers.len(), 40);
            assert_all_one(&result, &format!("{:?}, {profile}", spec.kind));
        }
    }
}

/// Among others nobody is much faster than alone.
#[test]
fn ideal_time__others_slow_down() {
    let result = play(&with_connections(scenario("droptail"), transfers(40, 0.05, 30_000)));
    let slowdowns = slowdowns(&result);
    assert!(slowdowns.iter().all(|slowdown| *slowdown > 0.999), "{slowdowns:?}");
    assert!(slowdowns.iter().sum::<f64>() / slowdowns.len() as f64 > 1.3);
}

/// Slots are used again: a run of three times the length holds no more connections at once.
#[test]
fn memory__live_connections_stay_bounded() {
    let opened_and_most = |scheme: &str, duration: &str| {
        let base = Scenario { duration: duration.into(), max_windows: 1, ..scenario(scheme) };
        let outcome = play(&with_model(base, "web:sfd", 0.6)).outcome;
        (outcome.opened, outcome.most_live)
    };
    for scheme in ["droptail", "sfd", "fq-codel"] {
        let (short_opened, short_most) = opened_and_most(scheme, "60s");
        let (opened, most) = opened_and_most(scheme, "180s");
        assert!(opened > 2 * short_opened && opened > 2000, "{scheme}: {opened} opened");
        assert!(
            most * 10 < opened && most < 2 * short_most + 20,
            "{scheme}: {most} at once of {opened}, {short_most} before"
        );
    }
}

/// Transfers that are finished leave nothing: each of a thousand in a row uses the same few slots.
#[test]
fn memory__a_finished_connection_leaves_its_slot() {
    for profile in ["rfc", "ns2-2.35", "ns2-2001"] {
        let base = with_profile(Scenario { duration: "500s".into(), ..scenario("droptail") }, profile);
        let outcome = play(&with_connections(base, transfers(1000, 0.5, 2000))).outcome;
        assert_eq!(outcome.opened, 1000);
        assert!(outcome.most_live <= 2, "{profile}: {} at once", outcome.most_live);
    }
}

/// An acknowledgement takes a second, so most timers expire for nothing. The runs have an end nevertheless: it is set
/// before they begin.
#[test]
fn ideal_time__has_an_end_where_acknowledgements_crawl() {
    let mut base =
        Scenario { warmup: "0s".into(), duration: "30s".into(), max_windows: 2, ..roomy_scenario() };
    with_up(&mut base, "320bit");
    let two_writes = [connection(1.0, &[(0.0, 3000), (1.0, 200_000)])];
    let connections = transfers(3, 1.0, 50_000).into_iter().chain(two_writes).collect();
    let result = play(&with_connections(base, connections));
    assert_eq!(result.ideal_s.len(), result.outcome.transfers.len());
    assert!(result.ideal_s.iter().all(|ideal_s| *ideal_s > 1.0), "{:?}", result.ideal_s);
}
