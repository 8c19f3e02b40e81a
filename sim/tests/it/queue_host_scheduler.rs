//! The host scheduler of Noureddine & Tobagi against its rules: classes, colours, blocking, tokens, turns.
use crate::common::hop::{Hop, coloured, ms, packet};
use crate::common::params;
use mousehole_policy::{Answer, Params};
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::{Colour, Kind, Packet};
use mousehole_sim::queue::{Dequeued, Dropped, HostScheduler, Queue};
use mousehole_sim::units::{Buffer, Rate, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

const CLASSES: [Class; 3] = [Class::Interactive, Class::Web, Class::Bulk];

/// Returns a scheduler of twelve connections, of which number `n` is of class `n % 3`.
fn make_scheduler(params: Params) -> HostScheduler {
    limited_scheduler(params, true, 1000)
}

/// Returns the same scheduler with a buffer of so many packets.
fn limited_scheduler(params: Params, exempts_acks: bool, packets: u32) -> HostScheduler {
    let mut scheduler = HostScheduler::new(params, exempts_acks, Buffer::Packets(packets));
    (0..12).for_each(|slot| {
        scheduler.open(slot, &Flow { class: CLASSES[slot as usize % 3], ..Flow::default() })
    });
    scheduler
}

/// Returns a profile of 1000 bytes of tokens per ms and a burst of 1500, for each colour.
fn small_profile(more: &[(&str, &str)]) -> Params {
    let profile = [("high_rate", "8mbit"), ("med_rate", "8mbit"), ("burst", "1500B")];
    params("policer", &[&profile, more].concat(), 1e7)
}

/// Returns the profile of the paper's TCP-state experiments.
fn published_profile() -> Params {
    params("policer", &[], 1e7)
}

/// Adds a packet at time zero, which must not be dropped.
fn enqueue(scheduler: &mut HostScheduler, flow: u32, colour: Colour, seq: u32, bytes: u16) {
    let mut drops = Vec::new();
    scheduler.enqueue(coloured(colour, packet(flow, seq, bytes)), ms(0), &mut drops);
    assert!(drops.is_empty());
}

/// Returns flow and number of the next packet, `None` if none may leave.
fn dequeue(scheduler: &mut HostScheduler, now: Time) -> Option<(u32, u32)> {
    match scheduler.dequeue(now) {
        Dequeued::Packet(packet, _) => Some((packet.flow, packet.seq)),
        _ => None,
    }
}

#[test]
fn order__classes_then_colours() {
    let mut scheduler = make_scheduler(published_profile());
    let colours = [Colour::Red, Colour::Yellow, Colour::Green];
    for flow in [2, 1, 0] {
        (0..3).for_each(|extra| enqueue(&mut scheduler, flow + 3 * extra, colours[extra as usize], 0, 100));
    }
    let order: Vec<u32> =
        std::iter::from_fn(|| dequeue(&mut scheduler, ms(0))).map(|(flow, _)| flow).collect();
    assert_eq!(order, [6, 3, 0, 7, 4, 1, 8, 5, 2]);
}

/// A green packet that lacks tokens blocks green in the classes below, however small; other colours go on.
#[test]
fn tokens__a_blocked_colour_is_blocked_below() {
    let mut scheduler = make_scheduler(small_profile(&[]));
    enqueue(&mut scheduler, 0, Colour::Green, 0, 1000);
    enqueue(&mut scheduler, 0, Colour::Green, 1, 1000);
    enqueue(&mut scheduler, 1, Colour::Green, 0, 40);
    enqueue(&mut scheduler, 4, Colour::Yellow, 0, 1500);
    enqueue(&mut scheduler, 2, Colour::Red, 0, 1500);
    assert_eq!(dequeue(&mut scheduler, ms(0)), Some((0, 0)));
    // 500 green tokens are left: 40 bytes would have them, but the class above waits for 1000.
    assert_eq!(dequeue(&mut scheduler, ms(0)), Some((4, 0)));
    assert_eq!(dequeue(&mut scheduler, ms(0)), Some((2, 0)));
    let Dequeued::WaitUntil(time) = scheduler.dequeue(ms(0)) else { panic!("two packets wait for tokens") };
    assert_eq!(time, Time(500_000), "500 bytes are missing at 1000 bytes per ms");
    assert_eq!(dequeue(&mut scheduler, Time(499_999)), None);
    assert_eq!(dequeue(&mut scheduler, time), Some((0, 1)));
    assert_eq!(dequeue(&mut scheduler, Time(539_999)), None);
    assert_eq!(dequeue(&mut scheduler, Time(540_000)), Some((1, 0)));
    assert!(matches!(scheduler.dequeue(ms(9)), Dequeued::Empty));
}

/// Only heads may go: a red packet behind a green one of its connection waits with it.
#[test]
fn order__is_kept_within_a_connection() {
    let mut scheduler = make_scheduler(small_profile(&[]));
    for (seq, colour) in [Colour::Green, Colour::Green, Colour::Red].into_iter().enumerate() {
        enqueue(&mut scheduler, 0, colour, seq as u32, 1500);
    }
    assert_eq!(dequeue(&mut scheduler, ms(0)), Some((0, 0)));
    assert_eq!(dequeue(&mut scheduler, ms(0)), None);
    assert_eq!(dequeue(&mut scheduler, Time(1_500_000)), Some((0, 1)));
    assert_eq!(dequeue(&mut scheduler, Time(1_500_000)), Some((0, 2)));
}

#[test]
fn turns__connections_of_a_class_alternate() {
    let mut scheduler = make_scheduler(published_profile());
    for flow in [1, 4, 7] {
        (0..4).for_each(|seq| enqueue(&mut scheduler, flow, Colour::Red, seq, 1500));
    }
    let order: Vec<u32> =
        (0..12).filter_map(|_| dequeue(&mut scheduler, ms(0))).map(|(flow, _)| flow).collect();
    assert_eq!(order, [1, 4, 7].repeat(4));
}

#[test]
fn acks__are_exempt_without_hold_acks() {
    for exempt_acks in [true, false] {
        let hold_acks = (!exempt_acks).to_string();
        let mut scheduler = limited_scheduler(small_profile(&[("hold_acks", &hold_acks)]), exempt_acks, 1000);
        enqueue(&mut scheduler, 0, Colour::Green, 0, 1500);
        dequeue(&mut scheduler, ms(0));
        let ack = Packet::new(3, Kind::Ack, 9, 40);
        scheduler.enqueue(ack, ms(0), &mut Vec::new());
        assert_eq!(dequeue(&mut scheduler, ms(0)).is_some(), exempt_acks);
    }
}

#[test]
fn limits__drop_arrivals() {
    let mut scheduler = limited_scheduler(published_profile(), true, 2);
    let mut drops: Vec<Dropped> = Vec::new();
    (0..3).for_each(|seq| scheduler.enqueue(packet(0, seq, 100), ms(0), &mut drops));
    assert_eq!((drops.len(), scheduler.backlog()), (1, (2, 200)));
}

/// Class E: what a shaper lets go conforms to a policer with the same profile, packet by packet.
#[test]
fn shaper__never_trips_its_policer() {
    let mut hop =
        Hop::new(Rate(10_000_000), Queue::HostScheduler(Box::new(make_scheduler(published_profile()))), true);
    for seq in 0..3000u32 {
        let bytes = 40 + (seq * 7919 % 1461) as u16;
        let colour = if seq % 3 == 0 { Colour::Yellow } else { Colour::Green };
        hop.arrive(coloured(colour, packet(seq % 12, seq, bytes)), Time(u64::from(seq) * 10_000_000));
    }
    hop.finish();
    assert!(hop.left.iter().any(|left| left.packet.colour == Colour::Yellow));
    assert_eq!(hop.left.len() + hop.dropped.len(), 3000);
    let params = published_profile();
    let policy = params.policy();
    let (police, mut user, mut state) = (policy.marker().unwrap(), policy.new_flow(), policy.new_state());
    let mut waited = 0;
    for left in &hop.left {
        let view = left.packet.view();
        let answer = police.call(&params, &mut user, &mut state, &view, left.start.0, 0);
        assert_eq!(answer, Answer::Colour(left.packet.colour));
        waited += u32::from(left.start.0 > u64::from(left.packet.seq) * 10_000_000 + 50_000_000);
    }
    assert!(waited > 500, "the profile is the bottleneck: {waited}");
}

/// The pseudo-code over plain lists, with a bucket in floats.
struct Reference {
    fifos: Vec<VecDeque<(Colour, u32, f64)>>,
    turn: Vec<usize>,
    tokens: [f64; 2],
    last_ns: u64,
}

impl Reference {
    /// Refills the buckets up to `now_ns`.
    fn refill(&mut self, now_ns: u64) {
        let gained = (now_ns - self.last_ns) as f64 * 1e-3;
        self.tokens = self.tokens.map(|tokens| (tokens + gained).min(1500.0));
        self.last_ns = now_ns;
    }

    /// Removes the next packet by the paper's rules, takes its tokens and passes the turn on;
    /// returns its flow and number, `None` if none may leave.
    fn dequeue(&mut self, now_ns: u64) -> Option<(u32, u32)> {
        self.refill(now_ns);
        let mut blocked = [false; 3];
        for class in 0..3 {
            for colour in Colour::ALL {
                let is_candidate = |flow: &&usize| {
                    **flow % 3 == class && self.fifos[**flow].front().is_some_and(|head| head.0 == colour)
                };
                let Some(&flow) = self.turn.iter().find(is_candidate).filter(|_| !blocked[colour.index()])
                else {
                    continue;
                };
                let (_, seq, bytes) = self.fifos[flow][0];
                if colour != Colour::Red && self.tokens[colour.index()] < bytes {
                    blocked[colour.index()] = true;
                    continue;
                }
                if colour != Colour::Red {
                    self.tokens[colour.index()] -= bytes;
                }
                self.fifos[flow].pop_front();
                self.turn.retain(|other| *other != flow);
                self.turn.push(flow);
                return Some((flow as u32, seq));
            }
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whole microseconds and bytes keep the floats exact.
    #[test]
    fn dequeue__is_the_pseudo_code(steps in prop::collection::vec((0u64..800, 0usize..12, 0usize..3, 1u16..=1500, 0u8..5), 1..200)) {
        let mut scheduler = make_scheduler(small_profile(&[]));
        let mut reference =
            Reference { fifos: vec![VecDeque::new(); 12], turn: Vec::new(), tokens: [1500.0; 2], last_ns: 0 };
        let mut now = 0;
        for (seq, (gap_us, flow, colour, bytes, serve)) in steps.into_iter().enumerate() {
            now += gap_us * 1000;
            if serve == 0 {
                prop_assert_eq!(dequeue(&mut scheduler, Time(now)), reference.dequeue(now));
                continue;
            }
            if reference.fifos[flow].is_empty() {
                reference.turn.retain(|other| *other != flow);
                reference.turn.push(flow);
            }
            reference.fifos[flow].push_back((Colour::ALL[colour], seq as u32, f64::from(bytes)));
            enqueue(&mut scheduler, flow as u32, Colour::ALL[colour], seq as u32, bytes);
        }
        // The rest leaves at the times it asks for.
        loop {
            match scheduler.dequeue(Time(now)) {
                Dequeued::Packet(packet, _) => prop_assert_eq!(Some((packet.flow, packet.seq)), reference.dequeue(now)),
                Dequeued::WaitUntil(time) => {
                    prop_assert_eq!(reference.dequeue(now), None);
                    prop_assert!(time.0 > now);
                    now = time.0;
                }
                Dequeued::Empty => break,
            }
        }
        prop_assert!(reference.fifos.iter().all(VecDeque::is_empty));
    }
}
