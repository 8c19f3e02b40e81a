//! A shaper before a modem: two queues in a row.
use crate::common::hop::{Hop, packet};
use crate::common::{assert_error, digest, find_error, play, scenario, with_model};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::link::Link;
use mousehole_sim::link_layer::Wire;
use mousehole_sim::queue::{Fifo, Policy, Queue};
use mousehole_sim::record::QueueRecord;
use mousehole_sim::scenario::spec::{Ends, LinkSpec};
use mousehole_sim::scenario::{RunResult, Scenario};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

/// Returns a drop-tail queue of so many packets.
fn make_fifo(packets: u32) -> Queue {
    Queue::Fifo(Fifo::new(Buffer::Packets(packets), Policy::DropTail))
}

/// Returns a link with a modem after `packets` packets of 1000 bytes reach it at once. A byte takes
/// 1 µs in the modem, and a further 5 µs pass until a packet is at the far end.
fn two_queues(shaper: Rate, modem_packets: u32, packets: u32) -> Hop {
    let mut modem = Link::new("line-modem", 0, Rate(8_000_000), Dur(5_000), make_fifo(modem_packets), 1);
    modem.set_wire(Wire::plain(0));
    let mut hop = Hop::new(shaper, make_fifo(9), true);
    hop.link.set_modem(modem);
    (0..packets).for_each(|seq| hop.arrive(packet(0, seq, 1000), Time::ZERO));
    hop
}

/// The first packet is at the modem at once; each further one 2 ms after the one before, as by CAKE's clock.
#[test]
fn shaper__spaces_packets_and_the_modem_sends_them() {
    let mut hop = two_queues(Rate(4_000_000), 9, 4);
    hop.finish();
    let ends: Vec<u64> = hop.left.iter().map(|departure| departure.end.0).collect();
    assert_eq!(ends, [1_005_000, 3_005_000, 5_005_000, 7_005_000]);
    // No packet waited in the modem, and the last one waited 6 ms in all.
    assert_eq!(hop.link.modem().unwrap().counts.delay_s()[0], 0.0);
    assert!((hop.link.counts.delay_s()[0] - 3e-3).abs() < 1e-6);
}

/// A shaper that sends twice as fast as the line leaves the queue to the modem, whose buffer then decides.
#[test]
fn shaper__above_the_line_fills_the_modem() {
    let mut hop = two_queues(Rate(16_000_000), 2, 9);
    hop.finish();
    let behind: Vec<DropReason> = hop.dropped.iter().map(|drop| drop.reason).collect();
    assert!(!behind.is_empty() && behind.iter().all(|reason| *reason == DropReason::Forced), "{behind:?}");
    assert_eq!(hop.left.len() + hop.dropped.len(), 9);
    let both = hop.link.counts_before(Time(u64::MAX));
    assert_eq!(both[0].sent.packets, hop.left.len() as u64);
    assert_eq!(both[0].dropped().packets, hop.dropped.len() as u64);
    assert_eq!(hop.link.backlog(Time(u64::MAX - 1)), (0, 0));
    // The shaper takes half as long for a packet as the line, so that packets wait in both.
    let (both, modem) = (hop.link.counts.delay_s()[0], hop.link.modem().unwrap().counts.delay_s()[0]);
    assert!(both > modem + 1e-3 && modem > 1e-3, "{both} s, {modem} s in the modem");
}

/// Returns web pages on a home's line.
fn home_scenario(scheme: &str, change: impl FnOnce(&mut LinkSpec)) -> Scenario {
    let mut base = with_model(scenario(scheme), "web:sfd", 0.9);
    base.link = LinkSpec {
        down: Some("8mbit".into()),
        up: Some("1mbit".into()),
        rtt: "40ms".into(),
        buffer: "100p".into(),
        ..LinkSpec::default()
    };
    change(&mut base.link);
    base
}

/// Runs web pages on a home's line with a shaper.
fn play_shaped(scheme: &str, shape: &str) -> RunResult {
    play(&home_scenario(scheme, |link| {
        link.shape = Some(shape.into());
        link.modem_buffer = Some("300ms".into());
    }))
}

/// Returns the record of the queue with this name; panics if there is none.
fn find_queue<'a>(result: &'a RunResult, name: &str) -> &'a QueueRecord {
    result.outcome.queues.iter().find(|queue| queue.name == name).unwrap()
}

#[test]
fn droptail__is_the_modems_fifo_alone() {
    let plain = play(&home_scenario("droptail", |_| ()));
    let with_shaper = play(&home_scenario("droptail", |link| link.shape = Some("90%".into())));
    assert_eq!(digest(&plain), digest(&with_shaper));
    // With a rate it is a FIFO of ours before the modem.
    assert_ne!(digest(&play_shaped("droptail", "90%")), digest(&play_shaped("droptail@90%", "90%")));
    let own = play(&home_scenario("droptail", |link| link.buffer = "300ms".into()));
    assert_eq!(digest(&own), digest(&play_shaped("droptail", "90%")));
}

#[test]
fn shaper__below_the_line_keeps_the_modem_empty() {
    for scheme in ["cake", "fq-codel", "red", "sfd", "droptail@90%"] {
        let result = play_shaped(scheme, "90%");
        assert!(result.is_conserved(), "{scheme}");
        let [ours, modem] = ["down", "down-modem"].map(|name| find_queue(&result, name));
        assert_eq!(modem.colours.iter().map(|counts| counts.dropped().packets).sum::<u64>(), 0, "{scheme}");
        // Two packets of 1.5 ms, the depth of the token bucket.
        assert!(modem.delay_s[3] < 3e-3, "{scheme}: {:?}", modem.delay_s);
        assert!(ours.delay_s[0] > 5.0 * modem.delay_s[0], "{scheme}");
        assert_eq!((ours.capacity, ours.sent()), (Rate(8_000_000), modem.sent()), "{scheme}");
        assert!(ours.utilisation() <= 0.9001, "{scheme}: {}", ours.utilisation());
        assert_eq!(find_queue(&result, "up-modem").capacity, Rate(1_000_000), "{scheme}");
    }
}

/// Loads and ideal times are of the line, so that a shaper is compared with none on the same traffic.
#[test]
fn shaper__changes_neither_traffic_nor_ideal_times() {
    let [open, tight] = ["100%", "70%"].map(|shape| play_shaped("cake", shape));
    assert_eq!(open.load, tight.load);
    let ideal = |result: &RunResult| {
        let mut all: Vec<(u64, u64)> = result
            .outcome
            .transfers
            .iter()
            .zip(&result.ideal_s)
            .map(|(transfer, ideal_s)| (transfer.bytes, ideal_s.to_bits()))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (open, tight) = (ideal(&open), ideal(&tight));
    assert!(tight.iter().filter(|one| open.contains(one)).count() * 10 > 9 * tight.len());
}

/// The classic fault on ADSL: a shaper that does not count cells sends more than the line takes.
#[test]
fn shaper__that_does_not_count_cells_leaves_the_queue_to_the_modem() {
    let run = |layer: Option<&str>| {
        let result = play(&home_scenario("cake", |link| {
            (link.shape, link.modem_buffer) = (Some("95%".into()), Some("300ms".into()));
            (link.layer, link.shape_layer) = (Some("adsl".into()), layer.map(Into::into));
        }));
        assert!(result.is_conserved());
        find_queue(&result, "down-modem").delay_s[2]
    };
    let (counts, does_not) = (run(None), run(Some("none")));
    assert!(counts < 5e-3 && does_not > 20e-3, "{counts} s, {does_not} s");
}

#[test]
fn shaper__is_where_the_scheme_is() {
    let names = |ends| {
        let result = play(&Scenario {
            at: Some(ends),
            ..home_scenario("cake", |link| link.shape = Some("90%".into()))
        });
        result.outcome.queues.iter().map(|queue| queue.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Ends::Down), ["down", "up", "down-modem"]);
    assert_eq!(names(Ends::Up), ["down", "up", "up-modem"]);
    assert_eq!(names(Ends::Both), ["down", "up", "down-modem", "up-modem"]);
}

/// A scheme's own rate stands in the place of the link's.
#[test]
fn scheme__may_have_a_rate_of_its_own() {
    for (scheme, rate) in [("cake@80%", "80%"), ("sfd(th=15kB)|cake(tins=bulk)@70%", "70%")] {
        let (alone, _) = scheme.split_once('@').unwrap();
        assert_eq!(digest(&play_shaped(scheme, "95%")), digest(&play_shaped(alone, rate)), "{scheme}");
    }
    // The rate of uploads stays, where they have their own.
    let both = |scheme, shape: &str| {
        digest(&play(&home_scenario(scheme, |link| {
            (link.shape, link.up_shape) = (Some(shape.into()), Some("85%".into()));
        })))
    };
    assert_eq!(both("cake@80%", "95%"), both("cake", "80%"));
    assert_error(&find_error(&home_scenario("cake@80%", |_| ())), &["scheme", "\"cake@80%\"", "link.shape"]);
    let ideal = home_scenario("srpt@80%", |link| link.shape = Some("90%".into()));
    assert_error(&find_error(&ideal), &["scheme", "\"srpt@80%\"", "ideal"]);
    let above = home_scenario("cake@120%", |link| link.shape = Some("90%".into()));
    assert_error(&find_error(&above), &["scheme", "\"120%\"", "no effect"]);
}

#[test]
fn shape__is_refused_where_it_has_no_meaning() {
    let refused = |change: fn(&mut LinkSpec), parts: &[&str]| {
        let value = format!("\"{}\"", parts[1]);
        assert_error(
            &find_error(&home_scenario("cake", change)),
            &[&[parts[0], &value], &parts[2..]].concat(),
        );
    };
    refused(|link| link.shape = Some("101%".into()), &["link.shape", "101%", "no effect"]);
    refused(|link| link.shape = Some("9mbit".into()), &["link.shape", "9mbit", "no effect", "8 Mbit/s"]);
    // The rate of one direction is above that of the other.
    refused(|link| link.shape = Some("7mbit".into()), &["link.shape", "7mbit", "1 Mbit/s", "up_shape"]);
    refused(|link| link.shape = Some("0%".into()), &["link.shape", "0%", "above 0"]);
    refused(|link| link.shape = Some("-5%".into()), &["link.shape", "-5%"]);
    refused(|link| link.shape = Some("ninety%".into()), &["link.shape", "ninety%"]);
    refused(|link| link.shape = Some("0mbit".into()), &["link.shape", "0mbit"]);
    refused(|link| link.modem_buffer = Some("200ms".into()), &["link.modem_buffer", "200ms", "link.shape"]);
    refused(
        |link| (link.shape, link.modem_buffer) = (Some("90%".into()), Some("0ms".into())),
        &["link.modem_buffer", "0ms"],
    );
    refused(
        |link| (link.shape, link.shape_layer) = (Some("90%".into()), Some("adls".into())),
        &["link.shape_layer", "adls", "adsl"],
    );
    let down_only = Scenario {
        at: Some(Ends::Down),
        ..home_scenario("cake", |link| (link.shape, link.up_shape) = (Some("90%".into()), Some("80%".into())))
    };
    assert_error(&find_error(&down_only), &["link.up_shape", "\"80%\"", "download direction only"]);
}
