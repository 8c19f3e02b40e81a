//! Queue disciplines: buffer × drop policy × scheduler, behind one contract.
//!
//! `enqueue` may drop (the arrival or others), `dequeue` gives a packet, a time to wait until, or
//! nothing; either may mark or drop. Dropped packets go into a list of the caller's, so that nothing
//! allocates per packet and every drop is counted in one place.
//!
//! A FIFO whose policy decides only at the arrival can tell its link the departure at once
//! ([`Queue::as_fifo`]); a property test holds that fast path equal to the slow one.

pub mod adaptive_red;
pub mod cake;
mod classify;
mod cobalt;
pub mod codel;
pub mod fifo;
pub mod fq_codel;
pub mod host_scheduler;
mod lane;
mod lists;
pub mod ns2_dsred;
pub mod ns2_red;
pub mod ns2_rio;
pub mod pie;
pub mod priority;
pub mod srpt;
mod tin;
pub mod unshared;
pub mod wrr;

use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::series::Series;
use crate::units::Time;
pub use adaptive_red::AdaptiveRed;
pub use cake::Cake;
pub use classify::By;
pub use codel::Codel;
pub use fifo::{Fifo, Policy};
pub use fq_codel::FqCodel;
pub use host_scheduler::HostScheduler;
pub use ns2_dsred::Ns2DsRed;
pub use ns2_red::Ns2Red;
pub use ns2_rio::Ns2Rio;
pub use pie::Pie;
pub use priority::Priority;
pub use srpt::Srpt;
pub use unshared::Unshared;
pub use wrr::Wrr;

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// By a policy, with chance below its upper threshold, or by delay (CoDel).
    Early,
    /// The policy's average is beyond its upper threshold, or the buffer is full.
    Forced,
    /// A faulty link lost it before the queue.
    Fault,
    /// A policer dropped it before the queue: its user's contract was used up.
    Policed,
}

/// A dropped packet and why.
#[derive(Debug, Clone, Copy)]
pub struct Drop {
    /// The packet.
    pub packet: Packet,
    /// The reason.
    pub why: Why,
}

/// What a queue gives its link.
#[derive(Debug, Clone, Copy)]
pub enum Dequeued {
    /// Send this packet; it arrived at the queue at the given time.
    Packet(Packet, Time),
    /// Nothing may leave before this time (shapers).
    WaitUntil(Time),
    /// Nothing waits.
    Empty,
}

/// Every queue discipline there is.
#[expect(clippy::large_enum_variant, reason = "a link has one queue, and the FIFO is on the packet path")]
pub enum Queue {
    /// First in, first out, with a drop policy at the arrival.
    Fifo(Fifo),
    /// Flow queueing with CoDel (RFC 8290).
    FqCodel(Box<FqCodel>),
    /// One FIFO under CoDel (RFC 8289).
    Codel(Box<Codel>),
    /// One FIFO under PIE (RFC 8033).
    Pie(Box<Pie>),
    /// Shaper, tins, host and flow fairness over COBALT.
    Cake(Box<Cake>),
    /// Strict priority over FIFOs by colour.
    Priority(Box<Priority>),
    /// FIFOs that share the link by weight.
    Wrr(Box<Wrr>),
    /// Ideals: fewest remaining or least served first.
    Srpt(Box<Srpt>),
    /// A sending host's scheduler and shaper.
    HostScheduler(Box<HostScheduler>),
    /// Ideal: no queue, a link for every connection; the link passes its packets by itself.
    Unshared(Unshared),
}

impl Queue {
    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        match self {
            Queue::Cake(cake) => cake.open(slot, flow),
            Queue::Wrr(wrr) => wrr.open(slot, flow),
            Queue::Srpt(srpt) => srpt.open(slot, flow),
            Queue::HostScheduler(host) => host.open(slot, flow),
            Queue::Unshared(links) => links.open(slot),
            Queue::Fifo(_) | Queue::FqCodel(_) | Queue::Codel(_) | Queue::Pie(_) | Queue::Priority(_) => {}
        }
    }

    /// Whether it must be told of every connection.
    pub fn knows_flows(&self) -> bool {
        match self {
            Queue::Cake(cake) => cake.knows_flows(),
            Queue::Wrr(wrr) => wrr.knows_flows(),
            Queue::Srpt(srpt) => srpt.knows_flows(),
            Queue::HostScheduler(_) | Queue::Unshared(_) => true,
            Queue::Fifo(_) | Queue::FqCodel(_) | Queue::Codel(_) | Queue::Pie(_) | Queue::Priority(_) => {
                false
            }
        }
    }

    /// What it noted over time.
    pub fn series(&mut self) -> Vec<Series> {
        match self {
            Queue::Fifo(fifo) => fifo.series(),
            _ => Vec::new(),
        }
    }

    /// Takes an arrival; whatever is dropped for it goes into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Drop>) {
        match self {
            Queue::Fifo(fifo) => fifo.enqueue(packet, now, rng, drops),
            Queue::FqCodel(fair) => fair.enqueue(packet, now, drops),
            Queue::Codel(codel) => codel.enqueue(packet, now, drops),
            Queue::Pie(pie) => pie.enqueue(packet, now, rng, drops),
            Queue::Cake(cake) => cake.enqueue(packet, now, drops),
            Queue::Priority(priority) => priority.enqueue(packet, now, rng, drops),
            Queue::Wrr(wrr) => wrr.enqueue(packet, now, rng, drops),
            Queue::Srpt(srpt) => srpt.enqueue(packet, now, drops),
            Queue::HostScheduler(host) => host.enqueue(packet, now, drops),
            Queue::Unshared(_) => unreachable!("a link that nobody shares has no queue"),
        }
    }

    /// Asks for the next packet; what is dropped meanwhile goes into `drops`.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Drop>) -> Dequeued {
        match self {
            Queue::Fifo(fifo) => fifo.dequeue(now),
            Queue::FqCodel(fair) => fair.dequeue(now, drops),
            Queue::Codel(codel) => codel.dequeue(now, drops),
            Queue::Pie(pie) => pie.dequeue(now),
            Queue::Cake(cake) => cake.dequeue(now, drops),
            Queue::Priority(priority) => priority.dequeue(now),
            Queue::Wrr(wrr) => wrr.dequeue(now),
            Queue::Srpt(srpt) => srpt.dequeue(),
            Queue::HostScheduler(host) => host.dequeue(now),
            Queue::Unshared(_) => Dequeued::Empty,
        }
    }

    /// The FIFO, if departures are known at the arrival.
    pub fn as_fifo(&mut self) -> Option<&mut Fifo> {
        match self {
            Queue::Fifo(fifo) => Some(fifo),
            _ => None,
        }
    }

    /// Packets and bytes waiting at `now`.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        match self {
            Queue::Fifo(fifo) => fifo.backlog(now),
            Queue::FqCodel(fair) => fair.backlog(),
            Queue::Codel(codel) => codel.backlog(),
            Queue::Pie(pie) => pie.backlog(),
            Queue::Cake(cake) => cake.backlog(),
            Queue::Priority(priority) => priority.backlog(now),
            Queue::Wrr(wrr) => wrr.backlog(now),
            Queue::Srpt(srpt) => srpt.backlog(),
            Queue::HostScheduler(host) => host.backlog(),
            Queue::Unshared(_) => (0, 0),
        }
    }
}
