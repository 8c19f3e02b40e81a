//! Weighted multi-queue: shares of bytes by class and by colour, and the use of an idle queue's share by others.
use crate::common::hop::{coloured, packet};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::{Colour, Packet};
use mousehole_sim::queue::wrr::{Child, Params};
use mousehole_sim::queue::{ClassifyBy, Dequeued, Dropped, Policy, Wrr};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Time};

struct Driven {
    wrr: Wrr,
    rng: Stream,
    drops: Vec<Dropped>,
}

impl Driven {
    fn new(by: ClassifyBy, weights: &[f64], limit: u32) -> Driven {
        let child = |&weight: &f64| Child { weight, limit: Buffer::Packets(limit), policy: Policy::DropTail };
        let wrr = Wrr::new(Params { by, children: weights.iter().map(child).collect() });
        Driven { wrr, rng: Stream::new(1, Purpose::Queue, 0), drops: Vec::new() }
    }

    fn put(&mut self, packet: Packet) {
        self.wrr.enqueue(packet, Time::ZERO, &mut self.rng, &mut self.drops);
    }

    fn take(&mut self) -> Option<Packet> {
        match self.wrr.dequeue(Time::ZERO) {
            Dequeued::Packet(packet, _) => Some(packet),
            _ => None,
        }
    }
}

/// Shreedhar & Varghese: after any stretch in which all are backlogged, shares are off by less than a
/// quantum and a packet, whatever the sizes.
#[test]
fn shares__are_of_bytes_by_weight() {
    let weights = [5.0, 20.0, 75.0];
    let mut driven = Driven::new(ClassifyBy::Colour, &weights, 100_000);
    let sizes = [40, 1500, 576];
    for seq in 0..60_000 {
        Colour::ALL
            .iter()
            .for_each(|&colour| driven.put(coloured(colour, packet(1, seq, sizes[colour.index()]))));
    }
    let mut sent = [0.0; 3];
    for _ in 0..20_000 {
        let packet = driven.take().expect("all are backlogged");
        sent[packet.colour.index()] += f64::from(packet.bytes);
        let rounds = sent[0] / 1500.0;
        for (bytes, weight) in sent.iter().zip(weights) {
            let quantum = 1500.0 * weight / 5.0;
            assert!((bytes - rounds * quantum).abs() <= 2.0 * quantum + 1500.0, "{sent:?}");
        }
    }
    let total: f64 = sent.iter().sum();
    assert!(
        sent.iter().zip(weights).all(|(bytes, weight)| (bytes / total - weight / 100.0).abs() < 0.01),
        "{sent:?}"
    );
}

/// Telnet in a queue of its own with 10 %: its 100-byte packets wait for one visit, not behind the web's queue.
#[test]
fn class__telnet_waits_for_one_round_at_most() {
    let mut driven = Driven::new(ClassifyBy::Class, &[10.0, 90.0], 1000);
    assert!(driven.wrr.is_flow_aware());
    driven.wrr.open(1, &Flow { class: Class::Interactive, ..Flow::default() });
    driven.wrr.open(2, &Flow { class: Class::Bulk, ..Flow::default() });
    (0..500).for_each(|seq| driven.put(packet(2, seq, 1500)));
    for _ in 0..20 {
        driven.put(packet(1, 0, 100));
        let waited = (0..).take_while(|_| driven.take().expect("backlogged").flow == 2).count();
        assert!(waited <= 9, "{waited} packets of the other queue before it");
    }
}

#[test]
fn idle__queues_yield_the_link_and_earn_no_credit() {
    let mut driven = Driven::new(ClassifyBy::Colour, &[50.0, 50.0], 1000);
    (0..100).for_each(|seq| driven.put(coloured(Colour::Yellow, packet(2, seq, 1500))));
    assert!((0..50).all(|_| driven.take().is_some_and(|packet| packet.flow == 2)));
    (0..100).for_each(|seq| driven.put(packet(1, seq, 1500)));
    let next: Vec<u32> = (0..20).filter_map(|_| driven.take()).map(|packet| packet.flow).collect();
    assert_eq!(next.iter().filter(|flow| **flow == 1).count(), 10, "{next:?}");
}

#[test]
fn limits__are_by_queue() {
    let mut driven = Driven::new(ClassifyBy::Colour, &[1.0, 1.0], 10);
    (0..15).for_each(|seq| driven.put(packet(1, seq, 100)));
    (0..5).for_each(|seq| driven.put(coloured(Colour::Red, packet(2, seq, 100))));
    assert_eq!((driven.drops.len(), driven.wrr.backlog(Time::ZERO)), (5, (15, 1500)));
    assert!(driven.drops.iter().all(|drop| drop.packet.flow == 1 && drop.reason == DropReason::Forced));
}

/// A slot that is used again takes the class of its new connection.
#[test]
fn open__reclassifies_a_slot() {
    let mut driven = Driven::new(ClassifyBy::Class, &[10.0, 90.0], 10);
    driven.wrr.open(0, &Flow { class: Class::Interactive, ..Flow::default() });
    driven.wrr.open(0, &Flow { class: Class::Web, ..Flow::default() });
    (0..12).for_each(|seq| driven.put(packet(0, seq, 100)));
    driven.wrr.open(1, &Flow { class: Class::Interactive, ..Flow::default() });
    driven.put(packet(1, 0, 100));
    assert_eq!(driven.drops.len(), 2, "the interactive queue was empty");
}
