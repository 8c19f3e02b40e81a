//! Departure times: of the program in the kernel beside the simulator's scheduler of hosts, and by themselves.
//!
//! The program is compiled with `ML_REPLAY`, which takes the time from the packet's context, where this is said.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::{ACK, IPV4, SYN, TCP, UDP, V4, ethernet, tcp, udp};
use common::{Config, Context, DROP, Harness, NEXT, can_run, params};
use mousehole_live::kernel::monotonic_ns;
use mousehole_live::layout::Count;
use mousehole_live::object::compile_with;
use mousehole_policy::Params;
use mousehole_sim::flow::Flow;
use mousehole_sim::marker::PolicyMarker;
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::queue::{Dequeued, HostScheduler};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Time};

/// Of the profile that packets are held to: 250 kb/s of green, 500 kb/s of yellow, bursts of 6000 B.
const GREEN_BPS: u64 = 250_000;
const BURST: u64 = 6000;
const LONGEST_WAIT_MS: u32 = 10_000;

/// Returns settings that hold packets back.
fn holding(params: &[Params]) -> Config {
    let mut config = Config::new(params);
    config.first.longest_wait_ms = LONGEST_WAIT_MS;
    config
}

/// A packet of a user's connection; its number is the packet's `seq`.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    at: Time,
    user: u8,
    packet: Packet,
}

/// Returns arrivals in order, a connection of each user's by turns: bursts and pauses, a little less than the profile's
/// rates together, so that packets wait and the queue drains again.
fn arrivals(count: u32, users: u8, connections: u32) -> Vec<Arrival> {
    let mut rng = Stream::new(7, Purpose::Arrival, 0);
    let mut now_ns = 1e9;
    (0..count)
        .map(|number| {
            let draw = rng.bits();
            // 750 kb/s for each user are 125 packets/s of 750 B.
            now_ns += match draw & 15 {
                0 => 0.25e9 * rng.uniform(),
                1..=9 => 0.0,
                _ => rng.exponential(11e6) / f64::from(users),
            };
            let (kind, bytes) = match draw >> 8 & 63 {
                0..=1 => (Kind::Syn, 40),
                2..=9 => (Kind::Ack, 40),
                10..=30 => (Kind::Data, 41 + (draw >> 32) as u16 % 1460),
                _ => (Kind::Data, 1500),
            };
            let user = (draw >> 16) as u8 % users;
            let flow = u32::from(user) * connections + (draw >> 24) as u32 % connections;
            Arrival { at: Time(now_ns as u64), user, packet: Packet::new(flow, kind, number, bytes) }
        })
        .collect()
}

/// Returns when each packet leaves the scheduler of its user in the simulator. The link behind takes no time.
fn simulated(marker: &Params, policer: &Params, users: u8, all: &[Arrival]) -> Vec<u64> {
    let mut marker = PolicyMarker::new(marker.clone(), 1);
    let mut departures = vec![0; all.len()];
    let exempts_acks = !policer.holds_acks();
    let slots = all.iter().map(|one| one.packet.flow).max().unwrap_or(0) + 1;
    let mut hosts: Vec<(HostScheduler, Option<Time>)> = (0..users)
        .map(|_| (HostScheduler::new(policer.clone(), exempts_acks, Buffer::Packets(1 << 20)), None))
        .collect();
    for slot in 0..slots {
        marker.open(slot, &Flow::default());
        hosts.iter_mut().for_each(|(host, _)| host.open(slot, &Flow::default()));
    }
    for one in all {
        let (mut packet, identity) = (one.packet, u64::from(one.packet.flow));
        assert!(marker.mark(&mut packet, identity, one.at), "no marker here discards");
        let (host, due) = &mut hosts[usize::from(one.user)];
        while let Some(time) = due.filter(|time| *time <= one.at) {
            *due = serve(host, time, &mut departures);
        }
        let mut drops = Vec::new();
        host.enqueue(packet, one.at, &mut drops);
        assert!(drops.is_empty(), "there is room for all");
        *due = serve(host, one.at, &mut departures);
    }
    for (host, due) in &mut hosts {
        while let Some(time) = *due {
            *due = serve(host, time, &mut departures);
        }
    }
    departures
}

/// Takes all packets that may leave now. Returns when the next one may.
fn serve(host: &mut HostScheduler, now: Time, departures: &mut [u64]) -> Option<Time> {
    loop {
        match host.dequeue(now) {
            Dequeued::Packet(packet, _) => departures[packet.seq as usize] = now.0,
            Dequeued::WaitUntil(time) => return Some(time),
            Dequeued::Empty => return None,
        }
    }
}

/// Returns the frame of a packet, which ends after TCP's header; its lengths are those of the whole.
fn frame_of(one: &Arrival) -> Vec<u8> {
    let header = V4 { source: [10, 0, 0, one.user + 1].into(), ..V4::new(TCP) };
    let flags = if one.packet.kind == Kind::Syn { SYN } else { ACK };
    let mut frame = ethernet(IPV4, &header.packet(&tcp(443, 50_000 + one.packet.flow as u16, flags, 0)));
    frame[16..18].copy_from_slice(&one.packet.bytes.to_be_bytes());
    frame
}

/// Returns when each packet leaves by the program in the kernel.
fn in_kernel(marker: &Params, policer: &Params, all: &[Arrival]) -> Vec<u64> {
    let object =
        compile_with("demotion-policer-none", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    let mut harness = Harness::load(&object, 1024, &holding(&[marker.clone(), policer.clone()]));
    let departures = all
        .iter()
        .map(|one| {
            let wire_len = u32::from(one.packet.bytes) + 14;
            let context = Context { wire_len, tstamp: one.at.0, ..Context::default() };
            let outcome = harness.run(&frame_of(one), context);
            assert_eq!(outcome.verdict, NEXT, "{one:?}");
            outcome.context.tstamp
        })
        .collect();
    let counters = harness.counters();
    assert!(counters.colour.iter().all(|count| count.packets > 100), "every colour is met: {counters:?}");
    departures
}

/// Colours by what a flow has sent since its last SYN: green, yellow, then red.
fn demotion() -> Params {
    params("demotion", &[("first", "8000B"), ("second", "30000B"), ("syn", "true")])
}

#[test]
fn departures__are_those_of_the_simulated_host() {
    if !can_run() {
        return;
    }
    let all = arrivals(20_000, 3, 1);
    for more in [&[][..], &[("hold_acks", "true")], &[("burst", "1000B")]] {
        let policer = params("policer", more);
        let ours = simulated(&demotion(), &policer, 3, &all);
        let theirs = in_kernel(&demotion(), &policer, &all);
        let mut waited = 0;
        for ((one, ours), theirs) in all.iter().zip(&ours).zip(&theirs) {
            assert_eq!(ours, theirs, "{more:?} {one:?}: the simulator, then the kernel");
            waited += u32::from(*ours > one.at.0);
        }
        assert!((2000..18_000).contains(&waited), "{waited} of 20000 packets waited");
    }
    // A rate that is one step off is noticed.
    let other = params("policer", &[("high_rate", "250001bit")]);
    assert_ne!(
        simulated(&demotion(), &params("policer", &[]), 3, &all),
        in_kernel(&demotion(), &other, &all)
    );
}

/// The simulator has connections of a colour take turns, the kernel serves them as they come. So packets of one size
/// leave at the same times, though not the same packets.
#[test]
fn departures__of_several_connections_are_at_the_same_times() {
    if !can_run() {
        return;
    }
    let green = params("demotion", &[("first", "1GB"), ("second", "1GB")]);
    let mut all = arrivals(6000, 2, 4);
    for (number, one) in all.iter_mut().enumerate() {
        // A third of the rate of green alone.
        one.at = Time(one.at.0 * 3 + number as u64);
        one.packet = Packet::new(one.packet.flow, Kind::Data, number as u32, 600);
    }
    let policer = params("policer", &[]);
    let of_user = |departures: &[u64], user: u8| {
        let mut times: Vec<u64> =
            all.iter().zip(departures).filter(|(one, _)| one.user == user).map(|(_, time)| *time).collect();
        times.sort_unstable();
        times
    };
    let (ours, theirs) = (simulated(&green, &policer, 2, &all), {
        let object = compile_with("demotion-policer-none", &["-DML_REPLAY"]).unwrap();
        let mut harness = Harness::load(&object, 1024, &holding(&[green.clone(), policer.clone()]));
        let mut times = Vec::new();
        for one in &all {
            let context = Context { wire_len: 614, tstamp: one.at.0, ..Context::default() };
            times.push(harness.run(&frame_of(one), context).context.tstamp);
        }
        times
    });
    for user in 0..2 {
        assert_eq!(of_user(&ours, user), of_user(&theirs, user));
    }
    let waited = all.iter().zip(&theirs).filter(|(one, time)| **time > one.at.0).count();
    assert!(waited > 300, "{waited} waited");
}

#[test]
fn flood__waits_as_long_as_allowed_and_the_rest_is_dropped() {
    if !can_run() {
        return;
    }
    let object =
        compile_with("none-policer-none", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    let mut config = holding(&[params("policer", &[])]);
    config.first.longest_wait_ms = 500;
    let mut harness = Harness::load(&object, 1024, &config);
    let frame = ethernet(IPV4, &V4::new(UDP).packet(&udp(1, 2, &[0; 972])));
    let context = Context { tstamp: 5_000_000_000, ..Context::default() };
    let outcomes: Vec<(u32, u64)> = (0..40)
        .map(|_| {
            let outcome = harness.run(&frame, context);
            (outcome.verdict, outcome.context.tstamp - context.tstamp)
        })
        .collect();
    // Six packets of 1000 B are the burst; at 250 kb/s the others leave 32 ms apart: 15 of them within 500 ms.
    for (number, (verdict, wait_ns)) in outcomes.iter().enumerate() {
        let expected = (number as u64 + 1).saturating_sub(6) * 8_000_000_000_000 / GREEN_BPS;
        match number < 21 {
            true => assert_eq!((*verdict, *wait_ns), (NEXT, expected), "packet {number}"),
            false => assert_eq!((*verdict, *wait_ns), (DROP, 0), "packet {number}"),
        }
    }
    let counters = harness.counters();
    assert_eq!(counters.dropped[3], Count { packets: 19, bytes: 19_000 });
    assert_eq!(counters.held, Count { packets: 15, bytes: 15_000 });
    assert_eq!(counters.held_ns, (1..=15).sum::<u64>() * 32_000_000);
    // What was dropped took no tokens: 32 ms later one more leaves.
    let later = Context { tstamp: context.tstamp + 32_000_000, ..context };
    assert_eq!(harness.run(&frame, later).verdict, NEXT);
    assert_eq!(harness.run(&frame, later).verdict, DROP);
}

#[test]
fn super_packet__leaves_a_debt() {
    if !can_run() {
        return;
    }
    let object =
        compile_with("none-policer-none", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    let mut harness = Harness::load(&object, 1024, &holding(&[params("policer", &[])]));
    let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 1000)));
    let context = Context { tstamp: 1 << 40, gso_segs: 10, gso_size: 100, ..Context::default() };
    let whole = Context { wire_len: 10 * (1500 + 14), ..context };
    assert_eq!(harness.run(&frame, whole).context.tstamp, whole.tstamp, "the bucket is full");
    // 15,000 B are gone, 6000 of them at once: it is full again after 15,000 B of tokens.
    let wait_ns = harness.run(&frame, whole).context.tstamp - whole.tstamp;
    assert_eq!(wait_ns, 15_000 * 8_000_000_000 / GREEN_BPS);
    let debt = 15_000 - BURST;
    let small = ethernet(IPV4, &V4::new(UDP).packet(&udp(1, 2, &[0; 972])));
    let single = Context { tstamp: whole.tstamp, ..Context::default() };
    let then_ns = harness.run(&small, single).context.tstamp - whole.tstamp;
    assert_eq!(then_ns, wait_ns + (debt + 1000) * 8_000_000_000 / GREEN_BPS);
}

/// By the kernel's own clock, which `fq` reads.
#[test]
fn departure_time__is_the_clock_of_fq_and_never_earlier_than_the_sockets() {
    if !can_run() {
        return;
    }
    let config = holding(&[params("policer", &[])]);
    let mut harness = Harness::built_in("none-policer-none", 1024, &config);
    let frame = ethernet(IPV4, &V4::new(UDP).packet(&udp(1, 2, &[0; 1472])));
    for _ in 0..4 {
        assert_eq!(
            harness.run(&frame, Context::default()).context.tstamp,
            0,
            "within the burst nothing is written"
        );
    }
    let begin = monotonic_ns();
    let first = harness.run(&frame, Context::default()).context.tstamp;
    assert!((begin..begin + 60_000_000).contains(&first), "{first} is 48 ms behind the burst, at {begin}");
    // A socket that paces itself has later times of its own, or earlier ones.
    for (paced, expected) in [(first + 900_000_000, first + 900_000_000), (1, first + 2 * 48_000_000)] {
        let outcome = harness.run(&frame, Context { tstamp: paced, ..Context::default() });
        assert_eq!(outcome.context.tstamp, expected);
    }
    // Somebody else's packets do not wait for these.
    let other = V4 { source: [10, 9, 9, 9].into(), ..V4::new(UDP) };
    let frame_of_other = ethernet(IPV4, &other.packet(&udp(1, 2, &[0; 1472])));
    assert_eq!(harness.run(&frame_of_other, Context::default()).context.tstamp, 0);

    let mut shadow = config.clone();
    shadow.first.shadow = 1;
    harness.set(&shadow);
    assert_eq!(harness.run(&frame, Context::default()).context.tstamp, 0, "a shadow changes nothing");
    let held = harness.counters().held.packets;
    assert_eq!(held, 4, "it counts");

    let mut policed = config;
    policed.first.longest_wait_ms = 0;
    harness.set(&policed);
    let outcome = harness.run(&frame, Context::default());
    assert_eq!((outcome.verdict, outcome.context.tstamp), (NEXT, 0), "policed, which makes it red");
    assert_eq!((harness.counters().held.packets, harness.counters().colour[2].packets), (held, 1));
}
