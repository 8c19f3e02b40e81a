//! Replay of recorded datagrams: packets, times, directions, and the laws that every run must keep.
use crate::common::{SCHEMES, digest, play_traffic, scenario};
use mousehole_sim::record::{DatagramRecord, Played};
use mousehole_sim::scenario::spec::{LinkSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::class::FlowClass;
use mousehole_sim::traffic::connection::{Connection, Kind, Writes};
use mousehole_sim::traffic::datagrams::{Amount, Datagram, Datagrams, Service};
use mousehole_sim::traffic::overlay::{Overlay, measure_period};
use mousehole_sim::units::{Dur, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SECOND: u64 = 1_000_000_000;

/// Returns a client's flow from `start_ms` on: time in ms after the start, IP length and whether it
/// goes up, of each packet.
fn make_flow(client: u32, start_ms: u64, packets: &[(u64, u16, bool)]) -> Connection {
    let one = |&(ms, bytes, up): &(u64, u16, bool)| Datagram::new(Dur::from_millis(ms), bytes, up);
    let datagrams = Datagrams::from_list(Service::default(), packets.iter().map(one).collect());
    make_connection(client, start_ms, datagrams)
}

/// Returns a client's flow of datagrams from `start_ms` on.
fn make_connection(client: u32, start_ms: u64, datagrams: Datagrams) -> Connection {
    Connection {
        client,
        kind: Kind::Datagrams,
        writes: Writes::from_datagrams(datagrams),
        ..Connection::from_one_write(Time(start_ms * 1_000_000), 1)
    }
}

/// Returns a call of 20 s with 50 packets/s each way, together with a name look-up and a transfer
/// every second.
fn call_and_names() -> Traffic {
    let call: Vec<_> = (0..1000).flat_map(|k| [(20 * k, 200, false), (20 * k + 7, 160, true)]).collect();
    let name = |k: u32| make_flow(k % 3, 1000 * u64::from(k), &[(0, 60, true), (30, 150, false)]);
    let transfer = |k: u64| Connection { client: 1, ..Connection::from_one_write(Time(k * SECOND), 20_000) };
    let rest = (0..20).map(name).chain((0..20).map(transfer));
    Traffic::from_connections([make_flow(0, 0, &call)].into_iter().chain(rest).collect())
}

/// Returns a scenario that replays a capture.
fn replay_scenario(scheme: &str, rate: &str, load: Option<f64>) -> Scenario {
    let traffic = TrafficSpec { files: vec!["a.pcap".into()], load, ..TrafficSpec::default() };
    let link =
        LinkSpec { rate: Some(rate.into()), rtt: "40ms".into(), buffer: "30p".into(), ..LinkSpec::default() };
    let (warmup, duration) = ("1s".into(), "8s".into());
    Scenario { traffic, link, warmup, duration, ..scenario(scheme) }
}

/// Does [`play_traffic`]; panics also if a datagram neither arrives nor is lost.
fn play_datagrams(scenario: &Scenario, traffic: &Traffic) -> RunResult {
    let result = play_traffic(scenario, traffic);
    for one in &result.outcome.datagrams {
        assert!(one.sent > 0 && one.sent == one.received + one.lost, "{one:?}");
    }
    result
}

/// Packets sent and bytes that arrived by client and direction.
type Sums = BTreeMap<(u32, bool), (u64, u64)>;

/// Returns the packets and bytes sent, by client and direction.
fn sum_records(records: &[DatagramRecord]) -> Sums {
    let mut sums = Sums::new();
    for one in records {
        let sum = sums.entry((one.client, one.upload)).or_default();
        *sum = (sum.0 + one.sent, sum.1 + one.bytes);
    }
    sums
}

/// Returns what a window of a run without a load should send, by client and direction: the record,
/// repeated without end, from the run's offset on. `begin` and `end` of the window are in ns.
fn expected_sums(traffic: &Traffic, (seed, replication): (u64, u32), (begin, end): (u64, u64)) -> Sums {
    let overlay = Overlay::new(traffic, None, Rate(4_000_000), 1460, seed, replication).unwrap();
    let (period, offset) = (measure_period(traffic).0, overlay.window_offset(seed, replication).0);
    assert_eq!(overlay.period.0, period);
    let mut sums = Sums::new();
    for connection in &traffic.connections {
        for one in connection.writes.datagrams().into_iter().flat_map(Datagrams::iter) {
            // Two periods on, so that nothing is negative.
            let first = (connection.start.0 + one.at().0 + 2 * period - offset) % period;
            // A flow that has begun in this repetition is in progress until its end, and no longer than a period.
            let times = (first..end).step_by(period as usize).filter(|at| *at >= begin).count() as u64;
            if times > 0 {
                let sum = sums.entry((connection.client, one.is_reverse())).or_default();
                *sum = (sum.0 + times, sum.1 + times * u64::from(one.bytes()));
            }
        }
    }
    sums
}

#[test]
fn datagrams__of_a_call_are_played_as_sound() {
    let mut traffic = call_and_names();
    let result = play_datagrams(&replay_scenario("droptail", "5mbit", None), &traffic);
    assert!(result.outcome.datagrams.iter().all(|one| one.played == Played::Not));
    traffic.connections[0].flow_class = Some(FlowClass::Call);
    let result = play_datagrams(&replay_scenario("droptail", "5mbit", None), &traffic);
    let sounds = result.outcome.datagrams.iter().filter(|one| one.played != Played::Not);
    for one in sounds.clone() {
        let Played::Sound { packets, missing, .. } = one.played else { panic!("{one:?}") };
        assert_eq!((packets, missing), (one.sent, 0), "nothing is late on an idle link");
    }
    assert_eq!(sounds.filter(|one| one.client == 0).count(), 2);
}

#[test]
fn datagrams__both_directions_and_flows_in_progress() {
    let traffic = call_and_names();
    for replication in 0..4 {
        let base = Scenario { replication, ..replay_scenario("droptail", "50mbit", None) };
        let result = play_datagrams(&base, &traffic);
        let expected = expected_sums(&traffic, (base.seed, replication), (SECOND, 9 * SECOND));
        assert_eq!(sum_records(&result.outcome.datagrams), expected, "replication {replication}");
        // The call is joined midway nearly always. Both of its directions are there for all of the window, but for the half
        // second between its end and its repetition.
        let [down, up] = [false, true].map(|up| expected[&(0, up)].0);
        assert!(down > 370 && up > 370, "{down} {up}");
        let call = result.outcome.datagrams.iter().find(|one| !one.upload && one.sent > 100).unwrap();
        assert!((0.02..0.0202).contains(&call.delay_s[0]), "half of the round trip: {:?}", call.delay_s);
    }
}

#[test]
fn datagrams__conserved_and_the_same_again_under_every_scheme() {
    let traffic = call_and_names();
    let mut sent = None;
    for &scheme in SCHEMES.iter() {
        let base = replay_scenario(scheme, "1mbit", Some(1.1));
        let (one, again) = (play_datagrams(&base, &traffic), play_datagrams(&base, &traffic));
        assert_eq!(digest(&one), digest(&again), "{scheme}");
        assert_eq!(
            format!("{:?}", one.outcome.datagrams),
            format!("{:?}", again.outcome.datagrams),
            "{scheme}"
        );
        let own: Vec<(u64, bool, u64)> =
            one.outcome.datagrams.iter().map(|flow| (flow.key, flow.upload, flow.sent)).collect();
        assert_eq!(*sent.get_or_insert_with(|| own.clone()), own, "{scheme}: the load does not depend on it");
    }
}

/// Copies meet the load in bytes, and slots of flows that are over are used again.
#[test]
fn datagrams__are_load() {
    let transfers = 20 * (20_000 + 40 * 15);
    let native = (1000 * 200 + 20 * 150 + transfers) as f64 * 8.0
        / (measure_period(&call_and_names()).as_secs() * 2e6);
    let traffic = call_and_names();
    let result = play_datagrams(&replay_scenario("droptail", "2mbit", None), &traffic);
    assert!((result.load.native.unwrap() / native - 1.0).abs() < 1e-9, "{:?} {native}", result.load.native);
    let calls = Traffic::from_connections(
        call_and_names().connections.into_iter().filter(|one| one.kind == Kind::Datagrams).collect(),
    );
    for load in [0.3, 0.8] {
        let base = Scenario { duration: "60s".into(), ..replay_scenario("droptail", "2mbit", Some(load)) };
        let result = play_datagrams(&base, &calls);
        let down = result.outcome.datagrams.iter().filter(|one| !one.upload);
        let share = down.map(|one| one.bytes).sum::<u64>() as f64 * 8.0 / (2e6 * 60.0);
        assert!((share / load - 1.0).abs() < 0.05, "{share} for {load}");
        assert!((result.load.achieved.unwrap() / load - 1.0).abs() < 1e-9);
        assert!(result.load.copies > 1 && result.outcome.most_live * 4 < result.outcome.opened);
    }
}

/// A resample has whole flows of its clients; nobody waits for datagrams, and a closed loop plays them at their times.
#[test]
fn datagrams__in_resamples_and_closed_loops() {
    let mut traffic = call_and_names();
    let transfers = traffic.connections.iter_mut().filter(|one| one.kind == Kind::Tcp);
    transfers.for_each(|one| one.duration = Some(Dur::from_millis(300)));
    let closed = |replication| {
        let mut base = replay_scenario("fq-codel", "3mbit", Some(0.7));
        (base.traffic.replay, base.traffic.resample, base.replication) =
            (Some("closed".into()), true, replication);
        play_datagrams(&base, &traffic)
    };
    let results: Vec<RunResult> = (0..3).map(closed).collect();
    assert!(results.iter().all(|one| !one.outcome.datagrams.is_empty() && !one.outcome.transfers.is_empty()));
    assert_ne!(sum_records(&results[0].outcome.datagrams), sum_records(&results[1].outcome.datagrams));
}

/// A capture that has nothing else runs, also one without a byte in the direction of the data.
#[test]
fn datagrams__alone() {
    let tunnel: Vec<_> = (0..3000).map(|k| (k, 1428, false)).collect();
    let result = play_datagrams(
        &replay_scenario("droptail", "5mbit", None),
        &Traffic::from_connections(vec![make_flow(0, 0, &tunnel)]),
    );
    let all: u64 = result.outcome.datagrams.iter().map(|one| one.lost).sum();
    assert!(all > 1000 && result.outcome.transfers.is_empty(), "{all} lost of 11 Mb/s at 5 Mb/s");
    let up: Vec<_> = (0..3000).map(|k| (k, 100, true)).collect();
    let traffic = Traffic::from_connections(vec![make_flow(0, 0, &up)]);
    let result = play_datagrams(&replay_scenario("droptail", "5mbit", None), &traffic);
    assert!(result.outcome.datagrams.iter().all(|one| one.upload && one.lost == 0));
    let plan = Plan::new(&replay_scenario("droptail", "5mbit", Some(0.5))).unwrap();
    let error = run(&plan, Some(Arc::new(traffic)), &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.contains("direction of the data"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// What is on the wire within a window is what was recorded within it, packet by packet, or by the sums of a log.
    #[test]
    fn datagrams__bytes_in_a_window_are_those_of_the_record(
        flows in prop::collection::vec(
            (0u32..3, 0u64..9_000, prop::collection::vec((0u64..6_000, 20u16..=1500, any::<bool>()), 1..40)),
            1..8,
        ),
        even in prop::collection::vec((3u32..5, 0u64..9_000, 0u64..6_000, 0u64..50, 0u64..50), 0..4),
        replication in 0u32..50,
        begin in 0u64..5,
    ) {
        let listed = flows.iter().map(|(client, start, packets)| make_flow(*client, *start, packets));
        let from_sums = even.iter().map(|&(client, start, duration, down, up)| {
            let amounts = [Amount::from_sums(down, down * 700), Amount::from_sums(up, up * 90)];
            make_connection(client, start, Datagrams::from_sums(Service::default(), Dur::from_millis(duration), amounts))
        });
        let traffic = Traffic::from_connections(listed.chain(from_sums).collect());
        let base = Scenario {
            warmup: format!("{begin}s"),
            replication,
            max_windows: 20,
            ..replay_scenario("droptail", "1gbit", None)
        };
        let window = (begin * SECOND, (begin + 8) * SECOND);
        let expected = expected_sums(&traffic, (base.seed, replication), window);
        prop_assert_eq!(sum_records(&play_datagrams(&base, &traffic).outcome.datagrams), expected);
    }
}
