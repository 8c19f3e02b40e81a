//! Queue disciplines: buffer × drop policy × scheduler, behind one contract.
//!
//! [`Queue::enqueue`] may drop the arrival or other packets. [`Queue::dequeue`] returns a packet, a time to wait
//! until, or nothing. Both may mark or drop. Dropped packets go into the caller's list, so that nothing is allocated
//! per packet and every drop is counted in one place.
//!
//! A FIFO whose policy decides only at the arrival can tell its link the departure at once ([`Queue::as_fifo`]). A
//! property test holds this fast path equal to the slow one.

pub mod ack_filter;
pub mod adaptive_red;
pub mod bands;
pub mod cake;
mod classify;
mod cobalt;
mod dropper;
pub mod fifo;
mod flow_names;
pub mod host_scheduler;
mod lists;
pub mod ns2_dsred;
pub mod ns2_red;
pub mod ns2_rio;
mod outcome;
mod packet_fifo;
pub mod pie;
mod red_line;
pub mod sfq;
pub mod srpt;
mod tin;
pub mod unshared;

use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::series::Series;
use crate::units::Time;
pub use adaptive_red::AdaptiveRed;
pub use bands::Bands;
pub use cake::Cake;
pub use classify::ClassifyBy;
pub use dropper::Dropper;
pub use fifo::{Fifo, Policy};
pub use host_scheduler::HostScheduler;
pub use ns2_dsred::Ns2DsRed;
pub use ns2_red::Ns2Red;
pub use ns2_rio::Ns2Rio;
pub use outcome::{Dequeued, Dropped};
pub use pie::Pie;
pub use red_line::RedLine;
pub use sfq::Sfq;
pub use srpt::Srpt;
pub use unshared::Unshared;

/// Every queue discipline.
pub enum Queue {
    /// First in, first out, with a drop policy at the arrival.
    Fifo(Fifo),
    /// Stochastic fairness queueing: hashed flows in turn.
    Sfq(Box<Sfq>),
    /// One FIFO under PIE (RFC 8033).
    Pie(Box<Pie>),
    /// Shaper, tins, host and flow fairness over COBALT.
    Cake(Box<Cake>),
    /// A policy header's bands: strict priority, weighted shares, a user's own.
    Bands(Box<Bands>),
    /// Ideals: the flow with the fewest remaining segments, or the least served one, first.
    Srpt(Box<Srpt>),
    /// A sending host's scheduler and shaper.
    HostScheduler(Box<HostScheduler>),
    /// Ideal: a link for every connection and no queue; the link asks [`Unshared::pass`].
    Unshared(Unshared),
}

impl Queue {
    /// Notifies the queue that a new connection has `slot`, before its first packet. Queues without
    /// state per connection ignore it.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        match self {
            Queue::Sfq(fair) => fair.open(slot, flow),
            Queue::Cake(cake) => cake.open(slot, flow),
            Queue::Bands(bands) => bands.open(slot, flow),
            Queue::Srpt(srpt) => srpt.open(slot, flow),
            Queue::HostScheduler(host) => host.open(slot, flow),
            Queue::Unshared(links) => links.open(slot),
            Queue::Fifo(_) | Queue::Pie(_) => {}
        }
    }

    /// Returns whether it keeps state per connection, so that `open` must be called for every new one.
    pub fn is_flow_aware(&self) -> bool {
        match self {
            Queue::Bands(bands) => bands.is_flow_aware(),
            Queue::Srpt(srpt) => srpt.is_flow_aware(),
            Queue::Sfq(_) | Queue::Cake(_) | Queue::HostScheduler(_) | Queue::Unshared(_) => true,
            Queue::Fifo(_) | Queue::Pie(_) => false,
        }
    }

    /// Returns the values that it recorded over time; only a FIFO can have any.
    pub fn series(&mut self) -> Vec<Series> {
        match self {
            Queue::Fifo(fifo) => fifo.series(),
            Queue::Sfq(_)
            | Queue::Pie(_)
            | Queue::Cake(_)
            | Queue::Bands(_)
            | Queue::Srpt(_)
            | Queue::HostScheduler(_)
            | Queue::Unshared(_) => Vec::new(),
        }
    }

    /// Queues or drops an arrival; packets dropped for it, itself or others, go into `drops`. `rng`
    /// is drawn from where the policy decides by chance. It panics for a link that nobody shares,
    /// which has no queue.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        match self {
            Queue::Fifo(fifo) => fifo.enqueue(packet, now, rng, drops),
            Queue::Sfq(fair) => fair.enqueue(packet, now, drops),
            Queue::Pie(pie) => pie.enqueue(packet, now, rng, drops),
            Queue::Cake(cake) => cake.enqueue(packet, now, drops),
            Queue::Bands(bands) => bands.enqueue(packet, now, rng, drops),
            Queue::Srpt(srpt) => srpt.enqueue(packet, now, drops),
            Queue::HostScheduler(host) => host.enqueue(packet, now, drops),
            Queue::Unshared(_) => unreachable!("a link that nobody shares has no queue"),
        }
    }

    /// Returns the next packet with its arrival time, or when to ask again; packets dropped in the
    /// meantime go into `drops`. A link that nobody shares is always empty.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        match self {
            Queue::Fifo(fifo) => fifo.dequeue(now),
            Queue::Sfq(fair) => fair.dequeue(now, drops),
            Queue::Pie(pie) => pie.dequeue(now),
            Queue::Cake(cake) => cake.dequeue(now, drops),
            Queue::Bands(bands) => bands.dequeue(now, drops),
            Queue::Srpt(srpt) => srpt.dequeue(),
            Queue::HostScheduler(host) => host.dequeue(now),
            Queue::Unshared(_) => Dequeued::Empty,
        }
    }

    /// Returns the FIFO if departures are known at the arrival, which makes the fast path possible;
    /// `None` for other disciplines.
    pub fn as_fifo(&mut self) -> Option<&mut Fifo> {
        match self {
            Queue::Fifo(fifo) => Some(fifo),
            _ => None,
        }
    }

    /// Returns the packets and bytes waiting at `now`, without one in transmission.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        match self {
            Queue::Fifo(fifo) => fifo.backlog(now),
            Queue::Sfq(fair) => fair.backlog(),
            Queue::Pie(pie) => pie.backlog(),
            Queue::Cake(cake) => cake.backlog(),
            Queue::Bands(bands) => bands.backlog(),
            Queue::Srpt(srpt) => srpt.backlog(),
            Queue::HostScheduler(host) => host.backlog(),
            Queue::Unshared(_) => (0, 0),
        }
    }
}
