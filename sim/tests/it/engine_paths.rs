//! A FIFO's fast path, where the departure is known at the arrival, gives the same run as the slow path.
use crate::common::hop::{Hop, coloured, packet};
use crate::common::{
    digest, ends, fifo_schemes, play, scenario, transfers, with_connections, with_model, with_payload,
    with_profile,
};
use crate::engine_laws::{any_access, any_connection, any_faults, any_link, any_tcp};
use mousehole_sim::packet::{Colour, Packet, flag};
use mousehole_sim::scenario::spec::{BulkSpec, Ends, FaultSpec, LinkSpec, TrafficSpec};
use mousehole_sim::scenario::{LinkContext, build};
use mousehole_sim::scenario::{RunResult, Scenario, Scheme};
use mousehole_sim::units::{Buffer, Rate, Time};
use proptest::prelude::*;

/// Returns the results of a scenario on the fast path, then on the slow path.
fn play_both_paths(scenario: &Scenario) -> [RunResult; 2] {
    [false, true].map(|slow_path| play(&Scenario { slow_path, ..scenario.clone() }))
}

/// Asserts that both results have the same transfers and queues.
fn assert_same(fast: &RunResult, slow: &RunResult, case: &str) {
    let (ours, theirs) = (&fast.outcome.transfers, &slow.outcome.transfers);
    let first = ours.iter().zip(theirs).find(|(one, other)| one != other);
    assert_eq!((first, ours.len()), (None, theirs.len()), "{case}");
    assert_eq!(fast.outcome.queues, slow.outcome.queues, "{case}");
}

/// Returns everything in a run's records that does not depend on how it was computed; the number of
/// events does.
fn comparable_facts(result: &RunResult) -> impl PartialEq + std::fmt::Debug {
    let outcome = &result.outcome;
    let times = (outcome.ended, outcome.opened, outcome.most_live, outcome.reordered);
    let amounts = (outcome.goodput_bytes, outcome.goodput_up_bytes, outcome.forward_packets);
    let found = outcome.in_flight.accounted;
    let ideal_ns: Vec<u64> = result.ideal_s.iter().map(|ideal_s| ideal_s.to_bits()).collect();
    (
        outcome.transfers.clone(),
        outcome.queues.clone(),
        outcome.flows.clone(),
        times,
        amounts,
        found,
        ideal_ns,
    )
}

/// Generates bulk flows, or none.
fn any_bulk() -> impl Strategy<Value = Option<BulkSpec>> {
    let spreads = (prop::sample::select(vec![0.0, 0.5]), prop::sample::select(vec![0.0, 0.3]));
    prop::option::of((1u32..30, spreads).prop_map(|(flows, (start_spread_s, rtt_spread))| BulkSpec {
        flows,
        start_spread_s,
        rtt_spread,
    }))
}

/// Generates scenarios with full queues in both directions, equal flows that act at the same time,
/// and windows that begin and end while packets wait.
fn any_crowded_scenario() -> impl Strategy<Value = Scenario> {
    let schemes: Vec<&str> = fifo_schemes().chain(["empty"]).collect();
    let model = prop::option::of(prop::sample::select(vec!["poisson", "web:sfd"]));
    let uplink = (prop::option::of(30u64..400), prop::sample::select(vec!["2p", "7p", "1000p"]));
    let parts = (
        prop::sample::select(schemes),
        (prop::collection::vec(any_connection(), 1..10), model, any_bulk()),
        (any_link(), uplink, any_access(), any_tcp(), any_faults()),
        (0u64..3000, 1u64..3000, 1u32..4),
        (any::<bool>(), any::<bool>()),
    );
    parts.prop_map(|(scheme, traffic, network, (warmup, duration, max_windows), (is_both, up))| {
        let (link, (uplink_kbit, uplink_buffer), access, tcp, faults) = network;
        let (connections, model, bulk) = traffic;
        let up_rate = uplink_kbit.map(|kbit| format!("{kbit}kbit"));
        let up_buffer = Some(uplink_buffer.into());
        let link = match up_rate {
            Some(_) => LinkSpec { rate: None, down: link.rate.clone(), up: up_rate, up_buffer, ..link },
            None => LinkSpec { up_buffer, ..link },
        };
        let way = if up { "up" } else { "down" };
        let traffic = TrafficSpec {
            payload: (bulk.is_some() || model == Some("poisson"))
                .then(|| if model == Some("web:sfd") { "down" } else { way }.into()),
            connections: if model.is_some() { Vec::new() } else { with_payload(way, connections) },
            load: model.map(|_| 1.1),
            model: model.map(Into::into),
            bulk,
            ..TrafficSpec::default()
        };
        let (warmup, duration) = (format!("{warmup}ms"), format!("{duration}ms"));
        let base = Scenario { warmup, duration, max_windows, at: ends(is_both), ..scenario(scheme) };
        Scenario { link, access, tcp, faults, traffic, ..base }
    })
}

/// All traffic lies within the window, so every number must agree.
#[test]
fn paths__same_records() {
    for scheme in fifo_schemes() {
        for profile in ["rfc", "ns2-2.35", "ns2-2001"] {
            let mut connections = transfers(60, 0.0313, 31_234);
            for (index, one) in connections.iter_mut().enumerate() {
                // Odd nanoseconds, so that events at the same time are departures and arrivals of one link.
                one.rtt_s = Some(0.041 + 0.001_370_127 * index as f64);
            }
            let base = Scenario {
                at: Some(Ends::Both),
                duration: "1000s".into(),
                max_windows: 1,
                ..scenario(scheme)
            };
            let [fast, slow] = play_both_paths(&with_profile(with_connections(base, connections), profile));
            assert_same(&fast, &slow, &format!("{scheme}, {profile}"));
            assert_eq!(digest(&fast), digest(&slow), "{scheme}, {profile}");
            assert!(slow.outcome.events > fast.outcome.events);
        }
    }
}

/// Packets that wait when the window opens or closes are counted alike: sent when transmission starts.
#[test]
fn paths__same_counts_within_the_window() {
    for scheme in fifo_schemes() {
        let base =
            Scenario { warmup: "1.5s".into(), duration: "2s".into(), max_windows: 3, ..scenario(scheme) };
        let [fast, slow] = play_both_paths(&with_model(base, "poisson", 1.3));
        assert_same(&fast, &slow, scheme);
    }
}

#[test]
fn paths__same_closed_loop() {
    for scheme in ["red", "p-sfd", "ns2-sfd"] {
        let base = Scenario { duration: "10s".into(), max_windows: 2, ..scenario(scheme) };
        let [fast, slow] = play_both_paths(&with_model(base, "web:sfd", 0.9));
        assert_same(&fast, &slow, scheme);
    }
}

/// Segments that pass a token bucket at once are acknowledged at once. Where one is missing, two acknowledgements of
/// one number reach the uplink at the same time and differ in size, and both paths must keep their order.
#[test]
fn paths__same_order_of_duplicate_acknowledgements() {
    let link = LinkSpec {
        down: Some("5391kbit".into()),
        rtt: "146ms".into(),
        delay: "5ms".into(),
        up: Some("30kbit".into()),
        up_buffer: Some("7p".into()),
        buffer: "9p".into(),
        overhead: 16,
        burst: Some("3kB".into()),
        ..LinkSpec::default()
    };
    let fault = FaultSpec { link: "down".into(), drop: vec![], bernoulli: 0.1 };
    let timing = Scenario { duration: "274ms".into(), max_windows: 3, ..scenario("droptail") };
    let base = Scenario { link, faults: vec![fault], ..timing };
    let [fast, slow] = play_both_paths(&with_model(base, "poisson", 1.1));
    assert_eq!(comparable_facts(&fast), comparable_facts(&slow));
}

/// The rate changes while packets are in transmission and while they wait, in both formats of traces.
#[test]
fn paths__same_records_where_the_rate_changes() {
    let traces = [
        ("steps", "0 300kbit\n0.5 2mbit\n1.1 0\n1.3 700kbit\n2.7 3mbit\n"),
        ("opportunities", "3\n3\n10\n11\n40\n77\n"),
    ];
    for (name, text) in traces {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).expect("a folder for tests");
        let trace = Some(path.display().to_string());
        for scheme in ["droptail", "red", "s-sfd"] {
            let base =
                Scenario { warmup: "1.5s".into(), duration: "3s".into(), max_windows: 3, ..scenario(scheme) };
            for layer in [None, Some("adsl".to_string())] {
                let overhead = if layer.is_some() { 0 } else { 14 };
                let link = LinkSpec { rate: None, down: trace.clone(), overhead, layer, ..base.link.clone() };
                let [fast, slow] =
                    play_both_paths(&with_model(Scenario { link, ..base.clone() }, "poisson", 1.2));
                assert_same(&fast, &slow, &format!("{scheme}, {name}"));
                assert!(fast.is_conserved() && fast.outcome.transfers.len() > 10, "{scheme}, {name}");
            }
        }
    }
}

/// Returns a link of 1 Mbit/s with the queue of `scheme`.
fn make_hop(scheme: &str, buffer: Buffer, slow: bool) -> Hop {
    let context = LinkContext {
        rate: Rate(1_000_000),
        bottleneck: Rate(1_000_000),
        buffer,
        seed: 5,
        ..LinkContext::EXAMPLE
    };
    let queue = Scheme::parse(scheme)
        .and_then(|scheme| build::build_queue(&scheme, context))
        .unwrap_or_else(|error| panic!("{error}"));
    Hop::new(Rate(1_000_000), queue, slow)
}

/// Generates arrivals: the gap before each in µs, and the packet.
fn any_arrivals() -> impl Strategy<Value = Vec<(u64, Packet)>> {
    let arrival =
        (0u64..9000, 40u16..1500, any::<bool>(), any::<bool>()).prop_map(|(gap, bytes, green, ect)| {
            let colour = if green { Colour::Green } else { Colour::Yellow };
            // Gaps of whole multiples of 8 µs (one byte) make arrivals and departures fall together.
            (
                gap / 8 * 8,
                Packet { flags: if ect { flag::ECT } else { 0 }, ..coloured(colour, packet(0, 0, bytes)) },
            )
        });
    prop::collection::vec(arrival, 1..400)
}

/// One in transmission and as many waiting as the buffer holds; ns-2's drop-tail counts the first one too.
#[test]
fn hop__buffers_hold_their_limit() {
    let cases = [
        ("droptail", Buffer::Packets(12), 13),
        ("droptail(ns2=true)", Buffer::Packets(12), 12),
        ("droptail", Buffer::Bytes(9000), 7),
        ("droptail", Buffer::Bytes(8999), 6),
        ("red(min=1000,max=2000)", Buffer::Packets(12), 13),
        ("sfd(out_min=1000,out_max=2000,in_min=1000,in_max=2000)", Buffer::Packets(12), 13),
    ];
    for (scheme, buffer, taken) in cases {
        for slow in [false, true] {
            let mut hop = make_hop(scheme, buffer, slow);
            (0..20).for_each(|seq| hop.arrive(packet(0, seq, 1500), Time(5)));
            hop.finish();
            assert_eq!(hop.left.len(), taken, "{scheme}, {buffer:?}, slow path {slow}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Both paths are one definition: whatever the scenario, no number depends on the path.
    #[test]
    fn paths__same_facts_in_random_scenarios(scenario in any_crowded_scenario()) {
        let [fast, slow] = play_both_paths(&scenario);
        prop_assert_eq!(comparable_facts(&fast), comparable_facts(&slow));
        for result in [fast, slow] {
            prop_assert!(result.is_conserved(), "{:?}", result.outcome.balance);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Same packets leave at the same times; the link works whenever something waits; order is kept.
    #[test]
    fn hop__fast_equals_slow(arrivals in any_arrivals(), bytes in any::<bool>()) {
        let buffer = if bytes { Buffer::Bytes(9000) } else { Buffer::Packets(12) };
        for scheme in fifo_schemes() {
            let mut hops = [false, true].map(|slow| make_hop(scheme, buffer, slow));
            let mut now = Time::ZERO;
            for (number, (gap_us, packet)) in arrivals.iter().enumerate() {
                now = Time(now.0 + gap_us * 1000);
                let packet = Packet { seq: number as u32, ..*packet };
                hops.iter_mut().for_each(|hop| hop.arrive(packet, now));
                let [fast, slow] = hops.each_mut().map(|hop| hop.link.backlog(now));
                prop_assert_eq!(fast, slow, "{}", scheme);
            }
            hops.iter_mut().for_each(Hop::finish);
            let [fast, slow] = &hops;
            prop_assert_eq!(&fast.left, &slow.left, "{}", scheme);
            prop_assert_eq!(fast.dropped.len(), slow.dropped.len());
            prop_assert_eq!(fast.link.counts.colours, slow.link.counts.colours);
            check_work(&arrivals, slow)?;
        }
    }
}

/// Checks that transmission of a packet starts when it arrives or when the one before it has left,
/// whichever is later, and that every packet leaves or is dropped.
///
/// # Errors
/// The first packet of which that is not so.
fn check_work(arrivals: &[(u64, Packet)], hop: &Hop) -> Result<(), TestCaseError> {
    let times: Vec<u64> = arrivals
        .iter()
        .scan(0, |now, (gap_us, _)| {
            *now += gap_us * 1000;
            Some(*now)
        })
        .collect();
    let mut free = 0;
    let mut last = None;
    for departure in &hop.left {
        let seq = departure.packet.seq;
        prop_assert!(last.is_none_or(|last| last < seq), "out of order");
        prop_assert_eq!(departure.start.0, times[seq as usize].max(free));
        (free, last) = (departure.end.0, Some(seq));
    }
    prop_assert_eq!(hop.left.len() + hop.dropped.len(), arrivals.len());
    Ok(())
}
