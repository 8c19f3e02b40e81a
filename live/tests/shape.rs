//! Departure times: those of the program in the kernel compared with the simulator's host
//! scheduler, and its own rules.
//!
//! Where a test says so, the program is compiled with `ML_REPLAY`, so that it takes the time from
//! the packet's context.

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

/// The profile's rate of green, bit/s; yellow has 500 kb/s.
const GREEN_BPS: u64 = 250_000;
/// The profile's burst, bytes.
const BURST: u64 = 6000;
const LONGEST_WAIT_MS: u32 = 10_000;

/// Returns settings with which packets wait for tokens.
fn configure_waits(params: &[Params]) -> Config {
    let mut config = Config::new(params);
    config.first.longest_wait_ms = LONGEST_WAIT_MS;
    config
}

/// A packet of a user's connection; its `seq` is its number.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    at: Time,
    user: u8,
    packet: Packet,
}

/// Returns `count` arrivals in order: each user's connections send by turns, in bursts with pauses,
/// at a little less than the profile's total rate, so that packets wait and the queue drains again.
/// Each call returns the same.
fn draw_arrivals(count: u32, users: u8, connections: u32) -> Vec<Arrival> {
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

/// Returns when each packet leaves its user's scheduler in the simulator, ns, by its number. The
/// link behind takes no time, and there is room for all packets.
fn simulate(marker: &Params, policer: &Params, users: u8, all: &[Arrival]) -> Vec<u64> {
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

/// Takes all packets that may leave now and writes the time into their `departures`. Returns when
/// the next one may; `None` if none waits.
fn serve(host: &mut HostScheduler, now: Time, departures: &mut [u64]) -> Option<Time> {
    loop {
        match host.dequeue(now) {
            Dequeued::Packet(packet, _) => departures[packet.seq as usize] = now.0,
            Dequeued::WaitUntil(time) => return Some(time),
            Dequeued::Empty => return None,
        }
    }
}

/// Returns the frame of a packet. It ends after TCP's header, but its lengths are those of the
/// whole packet.
fn build_frame(one: &Arrival) -> Vec<u8> {
    let header = V4 { source: [10, 0, 0, one.user + 1].into(), ..V4::new(TCP) };
    let flags = if one.packet.kind == Kind::Syn { SYN } else { ACK };
    let mut frame = ethernet(IPV4, &header.packet(&tcp(443, 50_000 + one.packet.flow as u16, flags, 0)));
    frame[16..18].copy_from_slice(&one.packet.bytes.to_be_bytes());
    frame
}

/// Returns when each packet leaves by the program in the kernel, ns; asserts that none is dropped
/// and that every colour occurs.
fn run_in_kernel(marker: &Params, policer: &Params, all: &[Arrival]) -> Vec<u64> {
    let object =
        compile_with("demotion-policer-none", &["-DML_REPLAY"]).unwrap_or_else(|error| panic!("{error}"));
    let mut harness = Harness::load(&object, 1024, &configure_waits(&[marker.clone(), policer.clone()]));
    let departures = all
        .iter()
        .map(|one| {
            let wire_len = u32::from(one.packet.bytes) + 14;
            let context = Context { wire_len, tstamp: one.at.0, ..Context::default() };
            let outcome = harness.run(&build_frame(one), context);
            assert_eq!(outcome.verdict, NEXT, "{one:?}");
            outcome.context.tstamp
        })
        .collect();
    let counters = harness.counters();
    assert!(counters.colour.iter().all(|count| count.packets > 100), "every colour is met: {counters:?}");
    departures
}

/// Returns a marker that colours by what a flow has sent since its last SYN: green, yellow, then
/// red.
fn demotion_params() -> Params {
    params("demotion", &[("first", "8000B"), ("second", "30000B"), ("syn", "true")])
}

#[test]
fn departures__are_those_of_the_simulated_host() {
    if !can_run() {
        return;
    }
    let all = draw_arrivals(20_000, 3, 1);
    for more in [&[][..], &[("hold_acks", "true")], &[("burst", "1000B")]] {
        let policer = params("policer", more);
        let ours = simulate(&demotion_params(), &policer, 3, &all);
        let theirs = run_in_kernel(&demotion_params(), &policer, &all);
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
        simulate(&demotion_params(), &params("policer", &[]), 3, &all),
        run_in_kernel(&demotion_params(), &other, &all)
    );
}

/// The simulator serves connections of a colour by turns, the kernel in the order of arrival. So
/// packets of one size leave at the same times, though not the same packets.
#[test]
fn departures__of_several_connections_are_at_the_same_times() {
    if !can_run() {
        return;
    }
    let green = params("demotion", &[("first", "1GB"), ("second", "1GB")]);
    let mut all = draw_arrivals(6000, 2, 4);
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
    let (ours, theirs) = (simulate(&green, &policer, 2, &all), {
        let object = compile_with("demotion-policer-none", &["-DML_REPLAY"]).unwrap();
        let mut harness = Harness::load(&object, 1024, &configure_waits(&[green.clone(), policer.clone()]));
        let mut times = Vec::new();
        for one in &all {
            let context = Context { wire_len: 614, tstamp: one.at.0, ..Context::default() };
            times.push(harness.run(&build_frame(one), context).context.tstamp);
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
    let mut config = configure_waits(&[params("policer", &[])]);
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
    let mut harness = Harness::load(&object, 1024, &configure_waits(&[params("policer", &[])]));
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

/// This test uses the kernel's clock, which `fq` reads.
#[test]
fn departure_time__is_the_clock_of_fq_and_never_earlier_than_the_sockets() {
    if !can_run() {
        return;
    }
    let config = configure_waits(&[params("policer", &[])]);
    let mut harness = Harness::load_built_in("none-policer-none", 1024, &config);
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
    // A socket that paces itself may have set a later time, or an earlier one.
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
    harness.write_settings(&shadow);
    assert_eq!(harness.run(&frame, Context::default()).context.tstamp, 0, "a shadow changes nothing");
    let held = harness.counters().held.packets;
    assert_eq!(held, 4, "it counts");

    let mut policed = config;
    policed.first.longest_wait_ms = 0;
    harness.write_settings(&policed);
    let outcome = harness.run(&frame, Context::default());
    assert_eq!((outcome.verdict, outcome.context.tstamp), (NEXT, 0), "policed, which makes it red");
    assert_eq!((harness.counters().held.packets, harness.counters().colour[2].packets), (held, 1));
}
