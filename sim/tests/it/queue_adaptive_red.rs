//! Adaptive RED against Floyd, Gummadi & Shenker (2001): steps, bounds, automatic settings, and steps made late.
use crate::common::hop::{Hop, packet};
use crate::common::params;
use mousehole_policy::Params;
use mousehole_scheme::parts::adaptive_red::set_automatically;
use mousehole_sim::queue::adaptive_red::Adaptation;
use mousehole_sim::queue::{AdaptiveRed, Fifo, Policy, Queue};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

/// Returns the parameters of a gentle RED from 5 to 15 packets.
fn red_params(rate_bps: f64) -> Params {
    params("red", &[("min", "5"), ("max", "15"), ("wq", "0.002"), ("gentle", "true")], rate_bps)
}

/// Returns the parameters that the automatic setting computes for a link and a delay of 5 ms.
fn automatic_params(rate_bps: u64) -> Params {
    let mut red = red_params(rate_bps as f64);
    set_automatically(&mut red, Rate(rate_bps), Dur::from_millis(5)).expect("good parameters");
    red
}

/// Thresholds 5 and 15: the target range is 9 to 11 packets.
#[test]
fn step__is_the_papers_aimd() {
    let adaptation = Adaptation::default();
    let step = |max_p, average| adaptation.next_max_p(max_p, average, 5.0, 15.0);
    assert_eq!(step(0.1, 11.5), 0.1 + 0.01, "alpha is 0.01 where a quarter of max_p is more");
    assert_eq!(step(0.02, 11.5), 0.02 + 0.005, "alpha is a quarter of max_p where that is less");
    assert_eq!(step(0.1, 8.5), 0.1 * 0.9);
    for inside in [9.0, 10.0, 11.0] {
        assert_eq!(step(0.1, inside), 0.1);
    }
    assert_eq!((step(0.501, 20.0), step(0.0099, 0.0)), (0.501, 0.0099), "beyond its bounds it rests");
    assert_eq!((step(0.5, 20.0), step(0.01, 0.0)), (0.51, 0.01 * 0.9), "the last step may cross a bound");
}

/// 10 Mbit/s of 1500-byte packets: C = 833 packets/s; w = 1 − exp(−1/C); half of a delay of 5 ms is 2 packets, so
/// min is 5.
#[test]
fn automatic__settings_of_the_paper() {
    let read = |red: &Params| ["min", "max", "gentle"].map(|name| red.number(name));
    let slow = automatic_params(10_000_000);
    let weight = 1.0 - libm::exp(-12_000.0f64 / 1e7);
    assert!((slow.number("wq") - weight).abs() < 1e-9, "{}", slow.number("wq"));
    assert_eq!(read(&slow), [5.0, 15.0, 1.0]);
    let [min, max, gentle] = read(&automatic_params(100_000_000));
    let half_of_the_delay = 5e-3 * 1e8 / 12_000.0 / 2.0;
    assert!((min - half_of_the_delay).abs() < 1e-9 && (max - 3.0 * min).abs() < 1e-9, "{min}, {max}");
    assert_eq!(gentle, 1.0);
}

/// Returns a link of 10 Mbit/s with Adaptive RED, set automatically or not.
fn make_hop(slow: bool, automatically: bool) -> Hop {
    let rate = Rate(10_000_000);
    let params = if automatically { automatic_params(rate.0) } else { red_params(rate.0 as f64) };
    let red = AdaptiveRed::new(params, 0.1, Adaptation::default()).expect("good parameters");
    Hop::new(rate, Queue::Fifo(Fifo::new(Buffer::Packets(100), Policy::Adaptive(Box::new(red)))), slow)
}

/// Plays `many` senders as a fluid from one time to another, in seconds: a packet more per 100 ms
/// each, half of one sender's rate less at a loss. Returns the mean queue in packets in the second
/// half.
fn play_senders(hop: &mut Hop, many: f64, from: f64, until: f64) -> f64 {
    let (mut now, mut rate, mut seen) = (from, 8e6, hop.dropped.len());
    let (mut queue, mut samples) = (0.0, 0.0);
    while now < until {
        let at = Time((now * 1e9) as u64);
        hop.arrive(packet(1, 0, 1000), at);
        let step = 8000.0 / rate;
        rate *= libm::pow(1.0 - 0.5 / many, (hop.dropped.len() - seen) as f64);
        rate += many * 8000.0 / 0.1 / 0.1 * step;
        seen = hop.dropped.len();
        if now > from + (until - from) / 2.0 {
            queue += f64::from(hop.link.backlog(at).0);
            samples += 1.0;
        }
        now += step;
    }
    queue / samples
}

/// Returns `max_p` over time.
fn max_p_series(hop: &mut Hop) -> Vec<(Time, f64)> {
    let series = hop.link.queue().series();
    assert_eq!((series.len(), series[0].name), (1, "max_p"));
    series[0].points.clone()
}

/// The paper's claim: the average stays in the target range, whatever the load; only `max_p` differs.
#[test]
fn average__holds_at_every_load() {
    let mut settled = Vec::new();
    for many in [5.0, 20.0, 60.0] {
        let mut hop = make_hop(false, true);
        let mean = play_senders(&mut hop, many, 0.0, 120.0);
        assert!((8.0..14.0).contains(&mean), "{mean} packets wait with {many} senders");
        settled.push(max_p_series(&mut hop).last().expect("a start").1);
    }
    assert!(settled.is_sorted() && settled[2] > 2.0 * settled[0], "{settled:?}");
}

/// Steps fall on whole half seconds, and an idle hour takes those that still change something.
#[test]
fn series__steps_at_half_seconds_through_idleness() {
    let mut hop = make_hop(false, false);
    play_senders(&mut hop, 20.0, 0.0, 5.0);
    hop.arrive(packet(1, 0, 1000), Time(3_600_000_000_000));
    let points = max_p_series(&mut hop);
    assert!(points.iter().all(|(at, _)| at.0 % 500_000_000 == 0));
    assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
    assert!(points.last().expect("a start").1 >= 0.009, "it rests at its lower bound");
}

#[test]
fn paths__fast_equals_slow() {
    let mut hops = [make_hop(false, false), make_hop(true, false)];
    let (mut gaps, mut now) = (Stream::new(9, Purpose::Arrival, 0), Time::ZERO);
    for seq in 0..50_000 {
        let busy = if seq % 10_000 < 8_000 { 0.00072 } else { 0.0015 };
        now += Dur::from_secs(gaps.exponential(busy));
        hops.iter_mut().for_each(|hop| hop.arrive(packet(1, seq, 1000), now));
    }
    hops.iter_mut().for_each(Hop::finish);
    assert_eq!(hops[0].left, hops[1].left);
    let [fast, slow] = &mut hops;
    assert_eq!(max_p_series(fast), max_p_series(slow));
    assert!(max_p_series(fast).len() > 20, "it adapts");
}
