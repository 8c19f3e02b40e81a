//! Laws of every run: no packet is lost or invented, order is kept, and every byte arrives once.
use crate::common::{
    Order, SCHEMES, connection, ends, find_order, overtakes, play, scenario, transfers, with_connections,
    with_model, with_payload, with_profile,
};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::scenario::schemes as catalogue;
use mousehole_sim::scenario::spec::{AccessSpec, BulkSpec, ConnectionSpec, FaultSpec, LinkSpec, TcpSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::tcp::Variant;
use mousehole_sim::units::Time;
use proptest::prelude::*;

const LONG: Time = Time(5_000_000_000_000);

/// Checks the laws that hold whatever the traffic: conservation, order, capacity and causality.
///
/// # Errors
/// The first law that is broken.
fn check_laws(scenario: &Scenario, result: &RunResult) -> Result<(), TestCaseError> {
    let outcome = &result.outcome;
    for balance in &outcome.balance {
        prop_assert!(balance.holds(), "{balance:?}");
    }
    prop_assert!(outcome.in_flight.holds(), "{:?}", outcome.in_flight);
    if !overtakes(&scenario.scheme) {
        prop_assert_eq!(outcome.reordered, 0, "order within a flow");
    }
    for queue in &outcome.queues {
        prop_assert!(queue.utilisation() <= 1.001, "{} is used {} times", queue.name, queue.utilisation());
    }
    for transfer in outcome.transfers.iter().filter(|transfer| transfer.end != Time::NEVER) {
        prop_assert!(
            transfer.start <= transfer.first_data && transfer.first_data < transfer.end,
            "{transfer:?}"
        );
        prop_assert!(
            transfer.first_data < transfer.first_byte && transfer.first_byte <= transfer.end,
            "{transfer:?}"
        );
        // A token bucket takes no time; each host's delay is rounded down.
        let least = (transfer.rtt_ns / 2).saturating_sub(2);
        prop_assert!(transfer.end.since(transfer.start).0 >= least, "{transfer:?} is faster than its path");
    }
    prop_assert_eq!(result.ideal_s.len(), outcome.transfers.len());
    check_bytes(scenario, result)
}

/// Checks that every byte of the listed connections arrives once: the transfers are the writes, and
/// goodput is their sum. Other traffic passes.
///
/// # Errors
/// The first difference.
fn check_bytes(scenario: &Scenario, result: &RunResult) -> Result<(), TestCaseError> {
    let written: Vec<u64> = scenario
        .traffic
        .connections
        .iter()
        .flat_map(|one| one.writes.iter().map(|write| write.bytes))
        .collect();
    if written.is_empty() {
        return Ok(());
    }
    for transfer in &result.outcome.transfers {
        prop_assert!(transfer.end < LONG, "never finished: {transfer:?}");
    }
    let mut carried: Vec<u64> = result.outcome.transfers.iter().map(|transfer| transfer.bytes).collect();
    carried.sort_unstable();
    let mut sorted = written.clone();
    sorted.sort_unstable();
    prop_assert_eq!(carried, sorted);
    if scenario.tcp.profile == "rfc" {
        let outcome = &result.outcome;
        prop_assert_eq!(outcome.goodput_bytes + outcome.goodput_up_bytes, written.iter().sum::<u64>());
    }
    Ok(())
}

/// Generates connections of one to three writes.
pub fn any_connection() -> impl Strategy<Value = ConnectionSpec> {
    let writes = prop::collection::vec((0.0..0.5f64, 1u64..60_000), 1..4);
    (0.0..3.0f64, writes, prop::option::of(0.03..0.3f64), 0u32..5).prop_map(
        |(start_s, writes, rtt_s, host)| ConnectionSpec {
            rtt_s,
            duration_s: None,
            client: host,
            server: host / 2,
            ..connection(start_s, &writes)
        },
    )
}

/// Generates bottlenecks with any buffer, overhead, token bucket and shaper.
pub fn any_link() -> impl Strategy<Value = LinkSpec> {
    let buffers = prop::sample::select(vec!["2p", "9p", "60p", "8kB", "1bdp", "0.5bdp"]);
    let bursts = prop::option::of(prop::sample::select(vec!["1749B", "3kB", "8kB", "30kB"]));
    let layers = prop::option::of(prop::sample::select(vec!["adsl", "vdsl", "docsis", "ipoa-vcmux"]));
    let wires = (0u32..40, layers).prop_map(|(overhead, layer)| match layer {
        Some(_) => (0, layer),
        None => (overhead, None),
    });
    let shapers = prop::option::of((
        prop::sample::select(vec!["60%", "95%", "100%", "80%"]),
        prop::option::of(prop::sample::select(vec!["2p", "500ms", "8kB"])),
        prop::option::of(prop::sample::select(vec!["none", "adsl", "docsis"])),
    ));
    let parts = (500u64..8000, 30u64..200, buffers, wires, bursts, shapers);
    parts.prop_map(|(kbit, ms, buffer, (overhead, layer), burst, shaper)| LinkSpec {
        shape: shaper.map(|(rate, _, _)| rate.into()),
        modem_buffer: shaper.and_then(|(_, buffer, _)| Some(buffer?.into())),
        shape_layer: shaper.and_then(|(_, _, layer)| Some(layer?.into())),
        rate: Some(format!("{kbit}kbit")),
        rtt: format!("{}ms", ms + 100),
        delay: "5ms".into(),
        buffer: buffer.into(),
        up_buffer: Some("20p".into()),
        overhead,
        layer: layer.map(Into::into),
        burst: burst.map(Into::into),
        ..LinkSpec::default()
    })
}

/// Generates no access links, private ones or shared ones.
pub fn any_access() -> impl Strategy<Value = Option<AccessSpec>> {
    let spec = |rate: &str, shared: Option<u32>| AccessSpec {
        rate: rate.into(),
        delay: "1ms".into(),
        client_rate: None,
        client_delay: None,
        servers: shared,
        clients: shared,
    };
    prop::sample::select(vec![None, Some(spec("20mbit", None)), Some(spec("10mbit", Some(3)))])
}

/// Generates profiles with any variant, ECN and receive window.
pub fn any_tcp() -> impl Strategy<Value = TcpSpec> {
    let profiles = prop::sample::select(vec!["rfc", "linux", "ns2-2.35", "ns2-2001"]);
    let variants =
        prop::sample::select(vec![None, Some(Variant::Reno), Some(Variant::Newreno), Some(Variant::Sack)]);
    (profiles, variants, any::<bool>(), prop::option::of(2u32..40)).prop_map(
        |(profile, variant, ecn, window)| TcpSpec {
            profile: profile.into(),
            variant,
            ecn: Some(ecn),
            receive_window: window,
            ..TcpSpec::default()
        },
    )
}

/// Generates losses at either direction.
pub fn any_faults() -> impl Strategy<Value = Vec<FaultSpec>> {
    let links = prop::sample::select(vec!["down", "up"]);
    let chances = prop::sample::select(vec![0.0, 0.01, 0.1]);
    let fault = (links, prop::collection::vec(0u64..40, 0..4), chances);
    prop::collection::vec(
        fault.prop_map(|(link, drop, bernoulli)| FaultSpec { link: link.into(), drop, bernoulli }),
        0..3,
    )
}

/// Generates short scenarios of any scheme, network and connections.
fn any_scenario() -> impl Strategy<Value = Scenario> {
    let parts = (
        prop::sample::select(SCHEMES.to_vec()),
        prop::collection::vec(any_connection(), 1..10),
        (any_link(), any_access(), any_tcp(), any_faults()),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    );
    parts.prop_map(|(scheme, connections, (link, access, tcp, faults), (is_both, up, slow_path))| {
        // Long enough for every timeout to have its second, fourth and eighth try.
        let (duration, max_windows) = (format!("{}s", LONG.0 / 1_000_000_000), 1);
        let base = Scenario { duration, max_windows, ..scenario(scheme) };
        let base = Scenario { link, access, tcp, faults, at: ends(is_both), slow_path, ..base };
        with_connections(base, with_payload(if up { "up" } else { "down" }, connections))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws__hold_in_random_scenarios(scenario in any_scenario()) {
        check_laws(&scenario, &play(&scenario))?;
    }
}

#[test]
fn laws__hold_under_every_scheme_and_load() {
    for &scheme in SCHEMES.iter() {
        for (model, load, profile) in
            [("web:sfd", 0.7, "rfc"), ("poisson", 1.2, "rfc"), ("poisson", 0.9, "ns2-2.35")]
        {
            let base =
                Scenario { warmup: "2s".into(), duration: "5s".into(), max_windows: 2, ..scenario(scheme) };
            let scenario = with_profile(with_model(base, model, load), profile);
            check_laws(&scenario, &play(&scenario))
                .unwrap_or_else(|error| panic!("{scheme}, {model}: {error}"));
        }
    }
}

/// Without losses every transfer ends, and no segment is sent twice.
#[test]
fn laws__nothing_is_retransmitted_where_nothing_is_lost() {
    let roomy = LinkSpec { buffer: "10000p".into(), ..scenario("droptail").link };
    let result =
        play(&with_connections(Scenario { link: roomy, ..scenario("droptail") }, transfers(30, 0.2, 40_000)));
    assert_eq!(result.outcome.transfers.len(), 30);
    assert!(result.outcome.transfers.iter().all(|one| one.end != Time::NEVER && one.retransmits == 0));
}

/// Every packet that the bottleneck drops on the data's way is counted by the transfer it belongs to.
#[test]
fn laws__transfers_count_the_packets_they_lose() {
    let tight = LinkSpec { buffer: "5p".into(), ..scenario("droptail").link };
    let result =
        play(&with_connections(Scenario { link: tight, ..scenario("droptail") }, transfers(30, 0.2, 40_000)));
    let lost: u64 = result.outcome.transfers.iter().map(|one| u64::from(one.dropped)).sum();
    let dropped: u64 = result.outcome.queues[0].colours.iter().map(|one| one.dropped().packets).sum();
    assert!(lost > 0);
    assert_eq!(lost, dropped);
}

/// Returns forty endless flows through `scheme`, measured for 10 s after their common start. In the
/// first seconds whole windows are lost at once, and a queue under strict priority can run empty
/// while its flows wait for timeouts.
fn saturated_scenario(scheme: &str) -> Scenario {
    let base = Scenario { warmup: "30s".into(), duration: "10s".into(), max_windows: 1, ..scenario(scheme) };
    let mut scenario = base;
    scenario.link.buffer = "60p".into();
    scenario.traffic.bulk = Some(BulkSpec { flows: 40, start_spread_s: 1.0, rtt_spread: 0.3 });
    scenario
}

/// Under overload the link never rests: what it sends in the window is its capacity.
#[test]
fn laws__a_backlogged_link_works_all_the_time() {
    for &scheme in SCHEMES.iter() {
        let used = play(&saturated_scenario(scheme)).outcome.queues[0].utilisation();
        assert!((0.97..=1.0005).contains(&used), "{scheme}: {used}");
    }
}

/// Adaptive RED keeps the queue at the middle of its thresholds, here 5 and 15 packets, without the link resting.
#[test]
fn laws__adaptive_red_keeps_its_short_queue() {
    let short = &play(&saturated_scenario("ared")).outcome.queues[0];
    assert!((9.0..12.0).contains(&short.mean_packets()), "{} packets wait", short.mean_packets());
}

/// Returns flows that pass every threshold, together with pages that keep the better queues busy.
fn mice_and_elephants(scheme: &str) -> Scenario {
    let base = Scenario { duration: "10s".into(), max_windows: 1, ..scenario(scheme) };
    let mut scenario = with_model(base, "web:sfd", 0.6);
    scenario.link.buffer = "60p".into();
    scenario.traffic.bulk = Some(BulkSpec { flows: 5, start_spread_s: 5.0, rtt_spread: 0.3 });
    scenario
}

/// Reordering is counted where a flow may come back to a better queue, and nowhere else does it happen.
#[test]
fn order__is_kept_by_every_scheme_but_those_that_promote_into_another_queue() {
    for name in catalogue::SCHEMES.iter().map(|scheme| scheme.name) {
        let order = find_order(name);
        // Thresholds that flows of ten seconds pass; a timeout after which flows are new while OUT still waits.
        let scheme = match name {
            "pias" => "pias(first=5kB,second=50kB)",
            "ct-bytes" => "ct-bytes(th=20kB)",
            "pq-sfd" => "pq-sfd(timeout=50ms)",
            "excess-cake" => "excess-cake(timeout=50ms)",
            "excess-tins-cake" => "excess-tins-cake(timeout=50ms)",
            "excess-budget-cake" => "excess-budget-cake(timeout=50ms)",
            other => other,
        };
        let scenario = mice_and_elephants(scheme);
        let result = play(&scenario);
        check_laws(&scenario, &result).unwrap_or_else(|error| panic!("{scheme}: {error}"));
        let reordered = result.outcome.reordered;
        assert_eq!(reordered > 0, order == Order::Promoted, "{name}: {order:?}, {reordered} reordered");
        let colours = result.outcome.queues[0].colours;
        let used = colours.iter().filter(|colour| colour.sent.packets > 0).count();
        let needed = if matches!(order, Order::Demoted | Order::Promoted) { 2 } else { 1 };
        assert!(used >= needed, "{name}: {used} colours");
    }
}

/// Long-lived flows have packets in the network when the run ends: each is found in an event or in a queue.
#[test]
fn in_flight__finds_every_packet() {
    for &scheme in SCHEMES.iter() {
        for slow_path in [false, true] {
            let mut base = Scenario {
                warmup: "0s".into(),
                duration: "3s".into(),
                max_windows: 1,
                slow_path,
                ..scenario(scheme)
            };
            base.traffic.bulk = Some(BulkSpec { flows: 10, start_spread_s: 1.0, rtt_spread: 0.3 });
            let outcome = play(&base).outcome;
            assert!(outcome.in_flight.accounted > 0, "{scheme}: {:?}", outcome.in_flight);
            assert!(outcome.is_conserved(), "{scheme}: {:?}, {:?}", outcome.in_flight, outcome.balance);
        }
    }
}

/// Losses on purpose and policed packets are drops like any other: once nothing waits, arrived = dropped + sent.
#[test]
fn drops__every_reason_is_in_the_sum() {
    let fault = FaultSpec { link: "down".into(), drop: vec![], bernoulli: 0.1 };
    let faulty = Scenario { faults: vec![fault], ..scenario("red") };
    for (base, reason) in
        [(faulty, DropReason::Fault), (scenario("tcp-ds(police=drop)"), DropReason::Policed)]
    {
        let result = play(&with_connections(
            Scenario { warmup: "0s".into(), duration: "300s".into(), ..base },
            transfers(10, 0.1, 100_000),
        ));
        let colours = result.outcome.queues[0].colours;
        assert!(
            colours.iter().any(|colour| colour.dropped_for(reason).packets > 0),
            "{reason:?}: {colours:?}"
        );
        for colour in colours {
            let by_reason: u64 =
                DropReason::ALL.map(|reason| colour.dropped_for(reason).packets).iter().sum();
            assert_eq!(colour.dropped().packets, by_reason);
            assert_eq!(colour.arrived, colour.dropped() + colour.sent, "{reason:?}: {colour:?}");
        }
    }
}

/// Faults of several entries for one link add up.
#[test]
fn faults__entries_add_up() {
    let fault = |drop: Vec<u64>, bernoulli| FaultSpec { link: "down".into(), drop, bernoulli };
    let base = scenario("droptail");
    let one = with_connections(
        Scenario { faults: vec![fault(vec![], 0.3), fault(vec![5], 0.0)], ..base },
        transfers(10, 0.5, 20_000),
    );
    let lost: u64 = play(&one).outcome.queues[0]
        .colours
        .iter()
        .map(|colour| colour.dropped_for(DropReason::Fault).packets)
        .sum();
    assert!(lost > 20, "{lost} of more than 100 packets lost");
}
