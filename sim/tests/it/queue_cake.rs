//! CAKE-like against the paper and tc-cake(8): shaper, flows, hosts, tins, overflow and BLUE.
use crate::common::hop::{Hop, coloured, ms, packet};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::{Colour, Kind, Packet, flag};
use mousehole_sim::queue::cake::{AckFilter, Isolation, Params};
use mousehole_sim::queue::{Cake, ClassifyBy, Dequeued, Dropped, Queue};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

const RATE: Rate = Rate(8_000_000);

/// Returns CAKE's parameters without host isolation.
fn flow_params() -> Params {
    Params { isolation: Isolation::Flows, ..Params::new(RATE) }
}

struct Driven {
    cake: Cake,
    drops: Vec<Dropped>,
}

impl Driven {
    /// Returns an empty queue without connections.
    fn new(params: Params) -> Driven {
        Driven { cake: Cake::new(params, 11), drops: Vec::new() }
    }

    /// Adds a packet to the queue; what it drops goes into `drops`.
    fn enqueue(&mut self, packet: Packet, now: Time) {
        self.cake.enqueue(packet, now, &mut self.drops);
    }

    /// Returns the next packet, `None` if none may leave; packets dropped go into `drops`.
    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        match self.cake.dequeue(now, &mut self.drops) {
            Dequeued::Packet(packet, _) => Some(packet),
            _ => None,
        }
    }

    /// Opens connection `slot` between these hosts.
    fn open(&mut self, slot: u32, client: u32, server: u32) {
        self.cake.open(slot, &Flow { key: slot.into(), client, server, ..Flow::default() });
    }

    /// Returns each flow's share of the bytes of the next `count` packets, which leave at time
    /// zero; panics if fewer wait.
    fn measure_shares(&mut self, flows: usize, count: usize) -> Vec<f64> {
        let mut bytes = vec![0.0; flows];
        for _ in 0..count {
            let packet = self.dequeue(ms(0)).expect("backlogged");
            bytes[packet.flow as usize] += f64::from(packet.bytes);
        }
        let total: f64 = bytes.iter().sum();
        bytes.iter().map(|bytes| bytes / total).collect()
    }
}

/// Deficit mode: 1000 bytes at 8 Mbit/s every millisecond from the first packet on, no burst, on a fast link.
#[test]
fn shaper__spaces_packets_without_a_burst() {
    let shaped = Params { shape: true, ..flow_params() };
    let mut hop = Hop::new(Rate(1_000_000_000), Queue::Cake(Box::new(Cake::new(shaped, 1))), true);
    (0..6).for_each(|seq| hop.arrive(packet(1, seq, 1000), ms(100)));
    (6..9).for_each(|seq| hop.arrive(packet(1, seq, 500), ms(200)));
    hop.finish();
    let starts: Vec<f64> = hop.left.iter().map(|left| left.start.as_secs() * 1e3).collect();
    let expected: Vec<f64> = (100..106).map(f64::from).chain([200.0, 200.5, 201.0]).collect();
    assert!(starts.iter().zip(&expected).all(|(start, due)| (start - due).abs() < 1e-6), "{starts:?}");
    assert_eq!(starts.len(), expected.len());
}

#[test]
fn shaper__waits_and_an_arrival_does_not_hurry_it() {
    let mut driven = Driven::new(Params { shape: true, ..flow_params() });
    (0..2).for_each(|seq| driven.enqueue(packet(1, seq, 1000), ms(5)));
    assert!(driven.dequeue(ms(5)).is_some());
    driven.enqueue(packet(2, 0, 100), ms(5));
    assert!(
        matches!(driven.cake.dequeue(ms(5), &mut driven.drops), Dequeued::WaitUntil(time) if time == ms(6))
    );
    assert_eq!(driven.dequeue(ms(6)).map(|packet| packet.flow), Some(2), "the sparse flow first");
    let mut idle = Driven::new(Params { shape: true, ..flow_params() });
    assert!(matches!(idle.cake.dequeue(ms(1), &mut idle.drops), Dequeued::Empty));
}

/// Without a shaper nothing waits for anything but the link.
#[test]
fn unshaped__is_work_conserving() {
    let mut hop = Hop::new(RATE, Queue::Cake(Box::new(Cake::new(flow_params(), 1))), true);
    (0..50).for_each(|seq| hop.arrive(packet(seq % 5, seq, 1000), ms(0)));
    hop.finish();
    assert!(hop.left.iter().zip(0..).all(|(left, slot)| left.start == ms(slot)));
}

#[test]
fn flows__share_bytes_and_sparse_ones_go_first() {
    let mut driven = Driven::new(flow_params());
    (0..400).for_each(|seq| driven.enqueue(packet(0, seq, 1500), ms(0)));
    (0..1500).for_each(|seq| driven.enqueue(packet(1, seq, 300), ms(0)));
    let shares = driven.measure_shares(3, 1200);
    assert!((shares[0] - 0.5).abs() < 0.01, "{shares:?}");
    driven.enqueue(packet(2, 0, 80), ms(0));
    assert_eq!(driven.dequeue(ms(0)).map(|packet| packet.flow), Some(2));
}

/// Eight ways: even 500 flows in 1024 queues hardly ever share one, where plain hashing makes hundreds share.
#[test]
fn hash__collisions_are_rare() {
    let mut driven = Driven::new(flow_params());
    for flow in 0..500 {
        (0..4).for_each(|seq| driven.enqueue(packet(flow, seq, 1500), ms(0)));
    }
    let shares = driven.measure_shares(500, 1000);
    let odd = shares.iter().filter(|share| (**share - 1.0 / 500.0).abs() > 0.6 / 500.0).count();
    // In about two and a half of the 128 sets of eight there are nine flows or more.
    assert!(odd <= 15, "{odd} flows have less or more than their share");
}

/// Returns the share of one host that opens 1 connection next to another that opens 9. With host
/// isolation each host has half, without it the shares are 1 to 9.
fn host_share(isolation: Isolation, by_client: bool, reverse: bool) -> f64 {
    let mut driven = Driven::new(Params { isolation, limit: Buffer::Bytes(1 << 30), ..Params::new(RATE) });
    for slot in 0..10 {
        let host = if slot == 0 { 1 } else { 2 };
        let (client, server) = if by_client { (host, 7) } else { (7, host) };
        driven.open(slot, client, server);
        let flags = flag::bits_if(reverse, flag::REVERSE);
        (0..1000).for_each(|seq| driven.enqueue(Packet { flags, ..packet(slot, seq, 1500) }, ms(0)));
    }
    driven.measure_shares(10, 1500)[0]
}

#[test]
fn hosts__share_before_flows() {
    let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.02, "{share} for {expected}");
    near(host_share(Isolation::Flows, true, false), 0.1);
    // Data goes from the server to the client: clients are destinations.
    near(host_share(Isolation::DualDestination, true, false), 0.5);
    near(host_share(Isolation::DualSource, true, false), 0.1);
    near(host_share(Isolation::DualSource, false, false), 0.5);
    // What clients send has them as sources.
    near(host_share(Isolation::DualSource, true, true), 0.5);
    near(host_share(Isolation::DualDestination, true, true), 0.1);
}

/// Triple isolation: the busier end of a flow counts, so that with one common server all flows are alike.
#[test]
fn hosts__triple_takes_the_busier_end() {
    let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.02, "{share} for {expected}");
    near(host_share(Isolation::Triple, true, false), 0.1);
    let mut driven = Driven::new(Params { limit: Buffer::Bytes(1 << 30), ..Params::new(RATE) });
    for slot in 0..10 {
        driven.open(slot, u32::from(slot > 0), 100 + slot);
        (0..1000).for_each(|seq| driven.enqueue(packet(slot, seq, 1500), ms(0)));
    }
    near(driven.measure_shares(10, 1500)[0], 0.5);
}

/// Hosts are let go of with their flows: after nine have ended the tenth shares evenly with the other host.
#[test]
fn hosts__are_forgotten_with_their_flows() {
    let mut driven = Driven::new(Params {
        isolation: Isolation::DualDestination,
        limit: Buffer::Bytes(1 << 30),
        ..Params::new(RATE)
    });
    (0..11).for_each(|slot| driven.open(slot, u32::from(slot == 0), 7));
    for slot in 1..10 {
        (0..10).for_each(|seq| driven.enqueue(packet(slot, seq, 1500), ms(0)));
    }
    while driven.dequeue(ms(0)).is_some() {}
    for slot in [0, 10] {
        (0..500).for_each(|seq| driven.enqueue(packet(slot, seq, 1500), ms(0)));
    }
    assert!((driven.measure_shares(11, 400)[0] - 0.5).abs() < 0.02);
}

/// Returns a queue with isolation by receiving hosts.
fn driven_by_receiver() -> Driven {
    Driven::new(Params {
        isolation: Isolation::DualDestination,
        limit: Buffer::Bytes(1 << 30),
        ..Params::new(Rate(1_000_000_000))
    })
}

/// A host that is busy with eight flows gains nothing by a ninth: its first quantum is divided too.
#[test]
fn hosts__a_new_flow_has_its_hosts_part_of_a_quantum() {
    let mut driven = driven_by_receiver();
    (0..10).for_each(|slot| driven.open(slot, 1 + slot / 9, 7));
    (0..8).for_each(|slot| (0..100).for_each(|seq| driven.enqueue(packet(slot, seq, 1500), ms(0))));
    assert!((0..40).all(|_| driven.dequeue(ms(0)).is_some()));
    let mut at_once = |slot: u32| {
        (0..30).for_each(|seq| driven.enqueue(packet(slot, seq, 100), ms(0)));
        std::iter::from_fn(|| driven.dequeue(ms(0))).take_while(|packet| packet.flow == slot).count()
    };
    assert_eq!([at_once(8), at_once(9)], [2, 15], "1500 / 8 bytes, and 1500");
}

/// Flows that have sent their one packet and wait a round do not count as bulk flows of their host.
#[test]
fn hosts__sparse_flows_do_not_count() {
    let mut driven = driven_by_receiver();
    driven.open(0, 1, 7);
    driven.open(1, 2, 7);
    (0..2).for_each(|slot| (0..2000).for_each(|seq| driven.enqueue(packet(slot, seq, 1500), ms(0))));
    let mut bytes = [0.0; 2];
    for slot in 2..1202 {
        driven.open(slot, 1, 7);
        driven.enqueue(packet(slot, 0, 100), ms(0));
        if slot % 4 == 1 {
            let sent = (0..6).filter_map(|_| driven.dequeue(ms(0))).collect::<Vec<_>>();
            let bulk = sent.iter().filter(|packet| packet.flow < 2);
            bulk.for_each(|packet| bytes[packet.flow as usize] += f64::from(packet.bytes));
        }
    }
    let share = bytes[0] / (bytes[0] + bytes[1]);
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

/// Three tins at 8 Mbit/s: voice has the rank up to a quarter, bulk up to a sixteenth, best effort has the rest.
#[test]
fn tins__rank_up_to_their_thresholds() {
    for by in [ClassifyBy::Colour, ClassifyBy::Class] {
        let params = Params {
            tins: Some(by),
            limit: Buffer::Bytes(1 << 30),
            rtt: Dur(u64::MAX / 64),
            ..flow_params()
        };
        let mut hop = Hop::new(RATE, Queue::Cake(Box::new(Cake::new(params, 1))), true);
        for (flow, class) in [Class::Interactive, Class::Web, Class::Bulk].into_iter().enumerate() {
            hop.link.queue().open(flow as u32, &Flow { class, ..Flow::default() });
            let colour = if by == ClassifyBy::Colour { Colour::ALL[flow] } else { Colour::Green };
            (0..4000).for_each(|seq| hop.arrive(coloured(colour, packet(flow as u32, seq, 1000)), ms(0)));
        }
        hop.advance(ms(4000));
        let mut sent = [0.0f64; 3];
        hop.left.iter().for_each(|left| sent[left.packet.flow as usize] += 1.0 / 4000.0);
        assert!((sent[0] - 0.25).abs() < 0.02, "{sent:?}");
        assert!(sent[1] > 0.65 && sent[2] < 0.08, "{sent:?}");
    }
}

/// With `tins=bulk` green goes first up to the whole rate; other colours share what it leaves.
#[test]
fn tins__demoted_colours_share_the_bulk_tin() {
    let params = Params {
        tins: Some(ClassifyBy::Demoted),
        limit: Buffer::Bytes(1 << 30),
        rtt: Dur(u64::MAX / 64),
        ..flow_params()
    };
    let mut hop = Hop::new(RATE, Queue::Cake(Box::new(Cake::new(params, 1))), true);
    for (flow, colour) in Colour::ALL.into_iter().enumerate() {
        hop.link.queue().open(flow as u32, &Flow::default());
        (0..2000).for_each(|seq| hop.arrive(coloured(colour, packet(flow as u32, seq, 1000)), ms(0)));
    }
    let sent =
        |hop: &Hop| [0, 1, 2].map(|flow| hop.left.iter().filter(|left| left.packet.flow == flow).count());
    hop.advance(ms(1000));
    let [green, yellow, red] = sent(&hop);
    assert!(green > 900 && yellow + red < 100, "{green} {yellow} {red}");
    hop.advance(ms(4000));
    let [green, yellow, red] = sent(&hop);
    assert!(green == 2000 && yellow.abs_diff(red) < 50 && yellow > 900, "{green} {yellow} {red}");
}

/// Under its threshold voice waits for the packet in transmission only.
#[test]
fn tins__voice_goes_first() {
    let mut driven = Driven::new(Params { tins: Some(ClassifyBy::Colour), ..flow_params() });
    (0..50).for_each(|seq| driven.enqueue(coloured(Colour::Yellow, packet(1, seq, 1000)), ms(0)));
    assert!((0..10).all(|_| driven.dequeue(ms(0)).is_some()));
    driven.enqueue(packet(2, 0, 200), ms(10));
    assert_eq!(driven.dequeue(ms(10)).map(|packet| packet.flow), Some(2));
}

#[test]
fn overflow__drops_the_head_of_the_longest() {
    let mut driven = Driven::new(Params { limit: Buffer::Packets(30), ..flow_params() });
    (0..20).for_each(|seq| driven.enqueue(packet(1, seq, 1000), ms(0)));
    (0..15).for_each(|seq| driven.enqueue(packet(2, seq, 1500), ms(0)));
    let lost: Vec<_> = driven.drops.iter().map(|drop| (drop.packet.flow, drop.packet.seq)).collect();
    // With 11 and 12 packets flow 2 has 16.5 and 18 kB against 20 and 19 of flow 1; then 19.5 against 18.
    assert_eq!(lost, [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]);
    assert_eq!(driven.cake.backlog().0, 30);
    assert!(driven.drops.iter().all(|drop| drop.reason == DropReason::Forced));
}

/// A flow that ignores ECN and loss overflows the queue; BLUE learns to drop it at the head, marked or not.
#[test]
fn blue__drops_unresponsive_flows() {
    let mut driven = Driven::new(Params { limit: Buffer::Packets(40), ..flow_params() });
    let mut early = [0; 2];
    for now in 0..20_000 {
        (0..2).for_each(|_| driven.enqueue(Packet { flags: flag::ECT, ..packet(1, 0, 1000) }, ms(now)));
        driven.dequeue(ms(now));
        let by_blue = driven.drops.drain(..).filter(|drop| drop.reason == DropReason::Early).count();
        early[usize::from(now >= 10_000)] += by_blue;
    }
    assert!(early[1] > 1000, "{early:?}: ECT packets are dropped early by BLUE alone");
}

/// COBALT for one flow that overflows nothing: four full packets take 6 ms here, the first packet that waited longer
/// leaves at 7 ms, the next one is marked, and from the first on the times between marks are 100 ms / √n.
#[test]
fn cobalt__marks_at_a_growing_pace() {
    let mut driven = Driven::new(flow_params());
    let (mut next, mut marked) = (0, Vec::new());
    for now in 0..500 {
        while driven.cake.backlog().0 < 20 {
            driven.enqueue(Packet { flags: flag::ECT, ..packet(1, next, 1000) }, ms(now));
            next += 1;
        }
        let left = driven.dequeue(ms(now)).expect("a standing queue");
        marked.extend(left.has(flag::CE).then_some(now));
    }
    // 7 ms and sums of 100 / sqrt(n) from n = 2: 77.7, 135.4, 185.4, 230.2, 271.0, 308.8, 344.1, 377.5, 409.1, 439.2.
    assert_eq!(marked[..11], [8, 78, 136, 186, 231, 271, 309, 345, 378, 410, 440]);
    assert!(driven.drops.is_empty());
}

/// A new connection has a queue of its own, whatever slot it has: one that has never dropped.
#[test]
fn queues__are_of_connections_and_not_of_slots() {
    let mut driven = Driven::new(flow_params());
    let mut dropped_at = Vec::new();
    for (key, begin) in [(7, 0), (8, 1000), (7, 2000)] {
        driven.cake.open(1, &Flow { key, ..Flow::default() });
        (0..20).for_each(|seq| driven.enqueue(packet(1, seq, 1000), ms(begin)));
        let first = (begin..begin + 20).find(|&now| {
            driven.dequeue(ms(now));
            !driven.drops.is_empty()
        });
        dropped_at.push(first.map(|now| now - begin));
        while driven.cake.backlog().0 > 0 {
            driven.dequeue(ms(begin + 60));
        }
        driven.drops.clear();
    }
    // The third is the first one again: its queue has a past, and would drop an interval later.
    assert_eq!(dropped_at, [Some(8), Some(8), None]);
}

/// Forty flows of one packet each wait for 40 ms: they are marked, but the last packet of a queue is not dropped.
#[test]
fn codel__spares_the_last_packet_of_a_flow() {
    for (flags, is_marked) in [(flag::ECT, true), (0, false)] {
        let mut driven = Driven::new(flow_params());
        (0..40).for_each(|flow| driven.enqueue(Packet { flags, ..packet(flow, 0, 1000) }, ms(0)));
        let mut marks = 0;
        for now in 0..1000 {
            let sent = driven.dequeue(ms(now)).expect("40 flows wait");
            marks += u32::from(sent.has(flag::CE));
            driven.enqueue(Packet { flags, ..packet(sent.flow, 0, 1000) }, ms(now));
        }
        assert_eq!((marks > 0, driven.drops.len()), (is_marked, 0));
    }
}

/// A sparse flow that has sent its one packet is found empty, and sparse again with its next packet; in FQ-CoDel it would
/// wait for a round (`cake_dequeue`, `CAKE_SET_DECAYING`).
#[test]
fn flows__that_emptied_are_sparse_again() {
    let mut driven = Driven::new(flow_params());
    (0..4).for_each(|flow| (0..50).for_each(|seq| driven.enqueue(packet(flow, seq, 1500), ms(0))));
    (0..8).for_each(|_| assert!(driven.dequeue(ms(0)).is_some()));
    for seq in 0..10 {
        driven.enqueue(packet(9, seq, 100), ms(1));
        assert_eq!(driven.dequeue(ms(1)).map(|packet| packet.flow), Some(9), "packet {seq} goes first");
        assert!(driven.dequeue(ms(1)).is_some_and(|packet| packet.flow < 4));
    }
}

/// One that has had its quantum before it was found empty waits for a round (`CAKE_SET_SPARSE_WAIT`).
#[test]
fn flows__that_used_their_quantum_wait() {
    let mut driven = Driven::new(flow_params());
    (0..4).for_each(|flow| (0..50).for_each(|seq| driven.enqueue(packet(flow, seq, 1500), ms(0))));
    (0..8).for_each(|_| assert!(driven.dequeue(ms(0)).is_some()));
    driven.enqueue(packet(9, 0, 1500), ms(1));
    assert_eq!(driven.dequeue(ms(1)).map(|packet| packet.flow), Some(9));
    assert!(driven.dequeue(ms(1)).is_some_and(|packet| packet.flow < 4));
    driven.enqueue(packet(9, 1, 100), ms(1));
    let next: Vec<u32> = (0..8).filter_map(|_| driven.dequeue(ms(1))).map(|packet| packet.flow).collect();
    let place = next.iter().position(|flow| *flow == 9);
    assert!(place.is_some_and(|place| place >= 2), "{next:?}");
}

/// The filter leaves the first and the last ACKs of a row in order, and accounts for those that it drops.
#[test]
fn ack_filter__drops_what_newer_acks_repeat() {
    let ack = |seq: u32| Packet { flags: flag::REVERSE, ..Packet::new(1, Kind::Ack, seq, 52) };
    let sent = |ack_filter| {
        let mut driven = Driven::new(Params { ack_filter, ..flow_params() });
        (1..=20).for_each(|seq| driven.enqueue(ack(seq), ms(0)));
        let dropped = driven.drops.len();
        assert!(driven.drops.iter().all(|drop| drop.reason == DropReason::Early));
        let backlog = driven.cake.backlog();
        let sent: Vec<u32> = std::iter::from_fn(|| driven.dequeue(ms(0))).map(|packet| packet.seq).collect();
        assert_eq!(backlog, (sent.len() as u32, 52 * sent.len() as u64));
        (sent, dropped)
    };
    assert_eq!(sent(None), ((1..=20).collect(), 0));
    assert_eq!(sent(Some(AckFilter::Conservative)), (vec![19, 20], 18));
    assert_eq!(sent(Some(AckFilter::Aggressive)), (vec![20], 19));
}
