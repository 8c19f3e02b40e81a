//! Weighted multi-queue: shares of bytes by class, and the use of an idle queue's share by others.
use crate::common::hop::packet;
use crate::common::params;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::Packet;
use mousehole_sim::queue::{Bands, Dequeued, Dropped};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::Time;

struct Driven {
    wrr: Bands,
    rng: Stream,
    drops: Vec<Dropped>,
}

/// The connection in the interactive queue, and one in the other.
const TELNET: u32 = 1;
const BULK: u32 = 2;

impl Driven {
    /// Returns the queues of a link, with a buffer of 50 packets for each; interactive traffic has
    /// the share `weight`, in %.
    fn new(weight: &str) -> Driven {
        let wrr = Bands::new(params("wrr", &[("weight", weight)], 1e7), 0);
        let mut driven = Driven { wrr, rng: Stream::new(1, Purpose::Queue, 0), drops: Vec::new() };
        assert!(driven.wrr.is_flow_aware());
        driven.open(TELNET, Class::Interactive);
        driven.open(BULK, Class::Bulk);
        driven
    }

    /// Opens a connection of a class.
    fn open(&mut self, slot: u32, class: Class) {
        self.wrr.open(slot, &Flow { class, ..Flow::default() });
    }

    /// Adds a packet to its queue at time zero; what it drops goes into `drops`.
    fn enqueue(&mut self, packet: Packet) {
        self.wrr.enqueue(packet, Time::ZERO, &mut self.rng, &mut self.drops);
    }

    /// Returns the next packet, `None` if none waits.
    fn dequeue(&mut self) -> Option<Packet> {
        match self.wrr.dequeue(Time::ZERO, &mut self.drops) {
            Dequeued::Packet(packet, _) => Some(packet),
            _ => None,
        }
    }
}

/// Shreedhar & Varghese: after any stretch in which all are backlogged, shares are off by less than a
/// quantum and a packet, whatever the sizes.
#[test]
fn shares__are_of_bytes_by_weight() {
    for (weight, small, large) in [("20", 0, 1), ("75", 1, 0), ("0.1", 0, 1)] {
        let share: f64 = weight.parse().expect("a number");
        let weights = [share, 100.0 - share];
        let mut driven = Driven::new(weight);
        let mut sent = [0.0; 2];
        for seq in 0..40_000 {
            [(TELNET, 40), (BULK, 1500)]
                .into_iter()
                .for_each(|(slot, bytes)| driven.enqueue(packet(slot, seq, bytes)));
            let packet = driven.dequeue().expect("all are backlogged");
            sent[usize::from(packet.flow == BULK)] += f64::from(packet.bytes);
            let (rounds, quantum) = (sent[small] / 1500.0, 1500.0 * weights[large] / weights[small]);
            assert!((sent[large] - rounds * quantum).abs() <= 2.0 * quantum + 1500.0, "{weight}: {sent:?}");
        }
        assert!(sent.iter().all(|bytes| *bytes > 0.0), "{weight}: {sent:?}");
    }
}

/// Telnet in a queue of its own with 10 %: its 100-byte packets wait for one visit, not behind the web's queue.
#[test]
fn class__telnet_waits_for_one_round_at_most() {
    let mut driven = Driven::new("10");
    for _ in 0..20 {
        (0..50).for_each(|seq| driven.enqueue(packet(BULK, seq, 1500)));
        driven.enqueue(packet(TELNET, 0, 100));
        let waited = (0..).take_while(|_| driven.dequeue().expect("backlogged").flow == BULK).count();
        assert!(waited <= 9, "{waited} packets of the other queue before it");
    }
}

#[test]
fn idle__queues_yield_the_link_and_earn_no_credit() {
    let mut driven = Driven::new("50");
    (0..50).for_each(|seq| driven.enqueue(packet(BULK, seq, 1500)));
    assert!((0..25).all(|_| driven.dequeue().is_some_and(|packet| packet.flow == BULK)));
    (0..50).for_each(|seq| driven.enqueue(packet(TELNET, seq, 1500)));
    let next: Vec<u32> = (0..20).filter_map(|_| driven.dequeue()).map(|packet| packet.flow).collect();
    assert_eq!(next.iter().filter(|flow| **flow == TELNET).count(), 10, "{next:?}");
}

#[test]
fn limits__are_by_queue() {
    let mut driven = Driven::new("50");
    (0..55).for_each(|seq| driven.enqueue(packet(TELNET, seq, 100)));
    (0..5).for_each(|seq| driven.enqueue(packet(BULK, seq, 100)));
    assert_eq!((driven.drops.len(), driven.wrr.backlog()), (5, (55, 5500)));
    assert!(driven.drops.iter().all(|drop| drop.packet.flow == TELNET && drop.reason == DropReason::Forced));
}

/// A slot that is used again takes the class of its new connection; one that was not opened is not interactive.
#[test]
fn open__reclassifies_a_slot() {
    let mut driven = Driven::new("10");
    driven.open(TELNET, Class::Web);
    (0..52).for_each(|seq| driven.enqueue(packet(TELNET, seq, 100)));
    driven.enqueue(packet(7, 0, 100));
    driven.open(0, Class::Interactive);
    driven.enqueue(packet(0, 0, 100));
    assert_eq!(driven.drops.len(), 3, "the interactive queue was empty");
}
