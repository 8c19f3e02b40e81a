//! DualPI2 (RFC 9332) with Prague and CUBIC senders: delays, rates, and the step at departure.
use crate::common::hop::packet;
use crate::common::{assert_error, params, play, scenario};
use mousehole_sim::packet::{Packet, flag};
use mousehole_sim::queue::{Bands, Dequeued};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::scenario::spec::{BulkSpec, LinkSpec, TcpSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, RunResult, Scenario};
use mousehole_sim::tcp::Congestion;
use mousehole_sim::units::Time;

/// Returns eight long-lived flows over 40 Mbit/s and 20 ms, measured for 40 s after 20 s.
fn bulk_scenario(profile: &str, scheme: &str) -> Scenario {
    let bulk = BulkSpec { flows: 8, start_spread_s: 1.0, rtt_spread: 0.0 };
    Scenario {
        tcp: TcpSpec { profile: profile.into(), ..TcpSpec::default() },
        traffic: TrafficSpec { bulk: Some(bulk), ..TrafficSpec::default() },
        link: LinkSpec {
            rate: Some("40mbit".into()),
            rtt: "20ms".into(),
            buffer: "1000p".into(),
            ..LinkSpec::default()
        },
        warmup: "20s".into(),
        duration: "40s".into(),
        max_windows: 1,
        ..scenario(scheme)
    }
}

/// Runs the flows, prints delays and utilisation, and returns the result; panics if packets are not
/// conserved.
fn play_bulk(profile: &str, scheme: &str) -> RunResult {
    let result = play(&bulk_scenario(profile, scheme));
    assert!(result.is_conserved());
    let queue = &result.outcome.queues[0];
    println!("{profile} under {scheme}: delays {:?}, {:.3} of the link", queue.delay_s, queue.utilisation());
    result
}

/// Without senders of L4S the queue is PI2, which holds the delay at the target.
#[test]
fn classic_senders__wait_for_the_target() {
    let result = play_bulk("linux", "dualpi2");
    let queue = &result.outcome.queues[0];
    assert!((0.010..0.020).contains(&queue.delay_s[0]), "{:?}", queue.delay_s);
    assert!(queue.utilisation() > 0.95);
}

/// L4S promises delays of about the step, with the link nearly full and without loss. The bounds are ours.
#[test]
fn l4s_senders__wait_for_about_the_step() {
    let result = play_bulk("prague", "dualpi2");
    let queue = &result.outcome.queues[0];
    assert!(queue.delay_s[0] < 0.0015 && queue.delay_s[3] < 0.004, "{:?}", queue.delay_s);
    assert!(queue.utilisation() > 0.9);
    let counts = &queue.colours[0];
    assert!(counts.marked.packets > 0);
    assert!(counts.drops.iter().all(|drops| drops.packets == 0), "{:?}", counts.drops);
}

/// Coupling (RFC 9332 section 2.1) gives flows of both kinds about the same rate, which one queue of 1 ms would not.
#[test]
fn flows_of_both_kinds__get_about_the_same_rate() {
    let base = bulk_scenario("prague:0.5,linux:0.5", "dualpi2");
    let result = play_bulk("prague:0.5,linux:0.5", "dualpi2");
    let mut rates = [Vec::new(), Vec::new()];
    for flow in &result.outcome.flows {
        let is_classic = Stream::new(base.seed, Purpose::Tcp, flow.key).uniform() >= 0.5;
        rates[usize::from(is_classic)].push(flow.bytes as f64);
    }
    let mean = |rates: &Vec<f64>| rates.iter().sum::<f64>() / rates.len() as f64;
    let ratio = mean(&rates[0]) / mean(&rates[1]);
    println!("{} Prague and {} CUBIC flows: ratio of mean rates {ratio:.2}", rates[0].len(), rates[1].len());
    assert!(rates.iter().all(|rates| rates.len() >= 2), "both kinds are there");
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}

/// Calls that mark their packets NQB (RFC 9956) do not wait behind CUBIC's queue; unmarked ones do, and other schemes do
/// not read the mark.
#[test]
fn calls__wait_with_l4s_if_they_are_marked() {
    let delay_p95 = |scheme: &str, nqb: bool| {
        let base = bulk_scenario("linux", scheme);
        let traffic = TrafficSpec { model: Some("voip".into()), nqb, ..base.traffic };
        let result = play(&Scenario { traffic, ..base });
        assert!(result.is_conserved());
        let delays: Vec<f64> =
            result.outcome.datagrams.iter().filter(|call| !call.upload).map(|call| call.delay_s[2]).collect();
        assert_eq!(delays.len(), 10);
        delays.iter().sum::<f64>() / 10.0 - 0.010
    };
    let [marked, unmarked] = [true, false].map(|nqb| delay_p95("dualpi2", nqb));
    println!("calls wait {:.1} ms (p95) with NQB, {:.1} ms without", marked * 1e3, unmarked * 1e3);
    assert!(marked < 0.002 && unmarked > 0.010, "{marked} {unmarked}");
    assert_eq!(delay_p95("dualpi2(nqb=false)", true), unmarked);
    assert_eq!(delay_p95("droptail", true), delay_p95("droptail", false));
}

/// A packet that waited longer than the step leaves with a mark, unless nothing waits behind it.
#[test]
fn step__marks_at_departure() {
    let mut queue = Bands::new(params("dualpi2", &[("step", "1ms")], 1e7), 0);
    let (mut rng, mut drops) = (Stream::new(1, Purpose::Queue, 0), Vec::new());
    for seq in 0..3 {
        let one = Packet { flags: flag::ECT | flag::L4S, ..packet(1, seq, 1000) };
        queue.enqueue(one, Time::ZERO, &mut rng, &mut drops);
    }
    let mut leave = |us: u64| match queue.dequeue(Time(us * 1000), &mut drops) {
        Dequeued::Packet(packet, _) => packet.has(flag::CE),
        _ => panic!("a packet waits"),
    };
    assert_eq!([leave(900), leave(1_100), leave(5_000)], [false, true, false]);
}

#[test]
fn prague__is_refused_where_it_cannot_work() {
    let said = |tcp: TcpSpec| match Plan::new(&Scenario { tcp, ..scenario("dualpi2") }) {
        Ok(_) => panic!("it is accepted"),
        Err(error) => error,
    };
    let tcp = |profile: &str| TcpSpec { profile: profile.into(), ..TcpSpec::default() };
    let without = said(TcpSpec { ecn: Some(false), ..tcp("prague") });
    assert_error(&without, &["tcp.congestion", "\"prague\"", "it needs ecn, which is set to false"]);
    let ns2 = said(TcpSpec { congestion: Some(Congestion::Prague), ..tcp("ns2-2.35") });
    assert_error(&ns2, &["tcp.congestion", "\"prague\"", "the ns2 profiles have reno only"]);
    let other = said(TcpSpec { congestion: Some(Congestion::Cubic), ..tcp("prague") });
    assert_error(&other, &["tcp.congestion", "\"cubic\"", "give profile = \"linux\" with it"]);
}
