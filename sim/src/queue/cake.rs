//! CAKE-like: a shaper, tins by priority, and in each DRR++ over COBALT queues, fair between hosts, then flows.
//!
//! Høiland-Jørgensen, Täht & Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", LANMAN 2018, and the manual page tc-cake(8). Nothing is copied from its code. Since it is only a
//! comparator, it is written in Rust.
//!
//! - Shaper: in deficit mode, no burst: a packet of L bytes holds the next one back for 8 L / rate.
//! - Tins: one, or three (voice, best effort, bulk) with a quarter, all and a sixteenth of the rate as
//!   thresholds; the best tin that is below its threshold goes first, else the one soonest below it.
//! - Flows: 1024 queues per tin, 8-way set-associative; a collision needs nine flows in one set of eight.
//! - Hosts: a flow's quantum, its first too, is divided by the number of bulk flows of its source or destination
//!   host. A flow is bulk once it has used its quantum and has a backlog; an empty flow in the round is not.
//! - Overflow: the head of the longest queue is dropped, and its BLUE grows.
//! - A flow that is found empty keeps its queue while COBALT has a state to forget, but is sparse again with its next
//!   packet (`CAKE_SET_DECAYING` of `cake_dequeue` in Linux's `sch_cake.c`).
//! - ACK filter: `ack_filter.rs`; its drops are early ones.
//!
//! Deviations from Linux: quanta are divided exactly, not by chance; of overheads only link layers by name count; autorate
//! and ingress mode are left out, and so is `split-gso`, for all packets are segments here; where nothing is shaped, the link's
//! rate replaces the shaper's in thresholds, quantum and target (Linux: tins by deficit round robin, 1514 bytes,
//! 5 ms). Work per packet grows with the bulk flows of one host, as there; an overflow looks over all queues for
//! the longest.

pub use super::ack_filter::AckFilter;
use super::classify::{Classifier, ClassifyBy};
use super::cobalt::{CobaltParams, CodelParams};
use super::flow_names::FlowNames;
use super::packet_fifo::Occupancy;
pub use super::tin::Isolation;
use super::tin::{Hosts, Tin};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::link_layer::{LinkLayer, Wire};
use crate::packet::Packet;
use crate::rng::{Purpose, Stream, mix};
use crate::units::{Buffer, Dur, Rate, Time};

/// Parameters; the defaults are those of tc-cake(8), with one tin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Rate of the link, or the one to shape to.
    pub rate: Rate,
    /// The link layer whose bytes the shaper and the tins count; IP lengths without one.
    pub layer: Option<&'static LinkLayer>,
    /// Hold packets back to `rate`; else the link does.
    pub shape: bool,
    /// Round-trip time CoDel is set for: its interval; the target is a twentieth.
    pub rtt: Dur,
    /// Three tins by this, or one.
    pub tins: Option<ClassifyBy>,
    /// Which hosts share fairly before flows do.
    pub isolation: Isolation,
    /// Limit over all queues.
    pub limit: Buffer,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
    /// Drops ACKs that a newer one makes superfluous.
    pub ack_filter: Option<AckFilter>,
}

impl Params {
    /// Returns the defaults on a link of this rate: one tin, no shaper, 100 ms, 4 MiB, ECN.
    pub fn new(rate: Rate) -> Params {
        Params {
            rate,
            layer: None,
            shape: false,
            rtt: Dur::from_millis(100),
            tins: None,
            isolation: Isolation::default(),
            limit: Buffer::Bytes(4 << 20),
            ecn: true,
            ack_filter: None,
        }
    }

    /// Returns CoDel's parameters for a tin of this rate. The target is at least the transmission
    /// time of one and a half full packets; the interval grows by as much as the target does, and
    /// is at least twice the target.
    fn codel_params(&self, rate: Rate) -> CodelParams {
        let least = Dur(self.rtt.0 / 20);
        let target = least.max(Dur(rate.tx_time(FULL).0 * 3 / 2));
        let interval = (self.rtt + (target - least)).max(Dur(target.0.saturating_mul(2)));
        CodelParams { target, interval, ecn: self.ecn }
    }
}

/// Returns the bytes that a lone flow may send per round: a full packet, less at low rates, but at
/// least 300.
fn quantum(rate: Rate) -> u32 {
    (rate.0 >> 15).clamp(300, FULL) as u32
}

/// Bytes of a full packet; Linux counts Ethernet's header too, 1514.
const FULL: u64 = 1500;

/// Parts of the rate up to which the three tins have their rank: as shifts.
const THRESHOLDS: [u32; 3] = [2, 0, 4];

/// A CAKE-like queue.
pub struct Cake {
    params: Params,
    perturbation: u64,
    rng: Stream,
    classifier: Option<Classifier>,
    hosts: Hosts,
    names: FlowNames,
    tins: Vec<Tin>,
    occupancy: Occupancy,
    /// No packet may leave before this time (shaper).
    next: Time,
}

impl Cake {
    /// Returns an empty queue with one tin or three; `perturbation` seeds its hash and BLUE's
    /// random numbers.
    pub fn new(params: Params, perturbation: u64) -> Cake {
        let shifts: &[u32] = if params.tins.is_some() { &THRESHOLDS } else { &[0] };
        let tin = |shift: &u32| {
            let rate = Rate((params.rate.0 >> shift).max(1));
            let spared = Dur(rate.tx_time(FULL).0.saturating_mul(4));
            Tin::new(rate, CobaltParams { codel: params.codel_params(rate), spared }, quantum(rate))
        };
        Cake {
            params,
            perturbation,
            rng: Stream::new(perturbation, Purpose::Queue, u64::MAX),
            classifier: params.tins.map(Classifier::new),
            hosts: Hosts::new(params.isolation),
            names: FlowNames::default(),
            tins: shifts.iter().map(tin).collect(),
            occupancy: Occupancy::default(),
            next: Time::ZERO,
        }
    }

    /// Records hosts, name and class of a new connection in `slot`. It must precede the
    /// connection's packets.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.hosts.open(slot, flow);
        self.names.open(slot, flow);
        if let Some(classifier) = &mut self.classifier {
            classifier.open(slot, flow);
        }
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Queues an arrival. The ACK that the filter finds superfluous, and the heads of the longest
    /// queues beyond the limit, go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        if self.occupancy.packets == 0 {
            self.next = self.next.max(now);
        }
        let tin = self.classifier.as_ref().map_or(0, |classifier| classifier.classify(&packet));
        let hash = mix(self.perturbation ^ self.names.name(&packet));
        self.occupancy.add(&packet);
        let superfluous = self.tins[tin].enqueue(packet, hash, &self.hosts, self.params.ack_filter, now);
        if let Some(packet) = superfluous {
            self.occupancy.remove(&packet);
            drops.push(Dropped { packet, reason: DropReason::Early });
        }
        while self.occupancy.exceeds(self.params.limit) {
            self.drop_from_longest(now, drops);
        }
    }

    /// Returns the next packet, which occupies the shaper for its time on the wire, or the time at
    /// which the shaper allows one. Packets that COBALT drops go into `drops`.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        if self.params.shape && self.occupancy.packets > 0 && now < self.next {
            return Dequeued::WaitUntil(self.next);
        }
        while let Some(index) = self.choose_tin(now) {
            let tin = &mut self.tins[index];
            let before = tin.occupancy();
            let head = tin.dequeue(&self.hosts, now, &mut self.rng, drops);
            self.occupancy.shrink(before, tin.occupancy());
            if let Some((packet, at)) = head {
                // An idle shaper saves no credit; a shaper that is asked late makes up for it.
                let bytes = Wire { overhead: 0, layer: self.params.layer }.bytes(u64::from(packet.bytes));
                self.next += self.params.rate.tx_time(bytes);
                self.tins[index].advance_clock(bytes);
                return Dequeued::Packet(packet, at);
            }
        }
        Dequeued::Empty
    }

    /// Returns the index of the best tin below its threshold, or else of the one that is soonest
    /// below it; `None` if nothing waits.
    fn choose_tin(&self, now: Time) -> Option<usize> {
        let waiting = self.tins.iter().enumerate().filter(|(_, tin)| tin.occupancy().packets > 0);
        waiting.min_by_key(|(index, tin)| (tin.ready_at(now), *index)).map(|(index, _)| index)
    }

    /// Drops the head of the longest queue of all tins into `drops`; of equal ones that of the best
    /// tin.
    fn drop_from_longest(&mut self, now: Time, drops: &mut Vec<Dropped>) {
        let longest = self.tins.iter().map(Tin::find_longest).enumerate();
        let Some((index, (_, queue))) =
            longest.max_by_key(|(index, (bytes, _))| (*bytes, usize::MAX - index))
        else {
            return;
        };
        if let Some(packet) = self.tins[index].drop_head(queue, now) {
            self.occupancy.remove(&packet);
            drops.push(Dropped { packet, reason: DropReason::Forced });
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn codel_params__a_slow_link_stretches_target_and_interval() {
        let codel = |rate: u64| {
            let CodelParams { target, interval, .. } = Params::new(Rate(rate)).codel_params(Rate(rate));
            (target.0 / 1000, interval.0 / 1000)
        };
        assert_eq!(codel(10_000_000), (5000, 100_000));
        // 1.5 · 1500 bytes take 18 ms at 1 Mbit/s and 360 ms at 50 kbit/s.
        assert_eq!(codel(1_000_000), (18_000, 113_000));
        assert_eq!(codel(50_000), (360_000, 720_000));
    }

    #[test]
    fn quantum__falls_with_the_rate() {
        let of = |rate: u64| quantum(Rate(rate));
        assert_eq!([of(1_000_000), of(32_768_000), of(1_000_000_000)], [300, 1000, 1500]);
    }
}
