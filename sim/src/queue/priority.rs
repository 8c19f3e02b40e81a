//! Strict priority over FIFOs by colour, each with a drop policy and a limit of its own, or one limit for all.
//!
//! SFD section on the physical-queue variant (PQ); LFP (Alcaraz et al.): three REDs under strict priority,
//! with three buffers of 50 packets or one shared. A packet in transmission is never interrupted.
//! Work-conserving. Reorders within a flow whose packets change colour.

use super::{Dequeued, Dropped, Fifo, Policy};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Buffer, Time};

/// Parameters.
pub struct Params {
    /// Limit and drop policy per colour, best first, one to three; the last also takes worse colours.
    pub children: Vec<(Buffer, Policy)>,
    /// A limit for all waiting packets together, in addition to those of the children.
    pub shared: Option<Buffer>,
}

/// A strict-priority queue.
pub struct Priority {
    children: Vec<(Buffer, Fifo)>,
    shared: Option<Buffer>,
    /// The FIFO whose packet is, or was last, in transmission.
    last: Option<usize>,
}

impl Priority {
    /// Returns an empty queue; at least one child is needed.
    pub fn new(params: Params) -> Priority {
        assert!(!params.children.is_empty(), "a priority queue needs a child");
        let fifo = |(limit, policy)| (limit, Fifo::new(limit, policy));
        let children = params.children.into_iter().map(fifo).collect();
        Priority { children, shared: params.shared, last: None }
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        sum(&mut self.children, now)
    }

    /// Returns the FIFO of a colour, for traces and tests.
    pub fn child(&mut self, index: usize) -> &mut Fifo {
        &mut self.children[index].1
    }

    /// Queues or drops an arrival; dropped packets go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        let index = packet.colour.index().min(self.children.len() - 1);
        if let Some(shared) = self.shared {
            let all = sum(&mut self.children, now);
            let (limit, child) = &mut self.children[index];
            let own = child.backlog(now);
            child.set_limit(tighter(*limit, shared, (all.0 - own.0, all.1 - own.1), own));
        }
        self.children[index].1.enqueue(packet, now, rng, drops);
    }

    /// Returns the next packet: of the best colour that has one.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        self.note_idle(now);
        for index in 0..self.children.len() {
            let child = &mut self.children[index].1;
            if child.backlog(now).0 > 0 {
                self.last = Some(index);
                return child.dequeue(now);
            }
        }
        Dequeued::Empty
    }

    /// Notes the start of idle time. A FIFO is idle from the moment at which its last packet was sent: the
    /// first call after that finds it empty.
    fn note_idle(&mut self, now: Time) {
        if let Some(index) = self.last.take() {
            let child = &mut self.children[index].1;
            if child.backlog(now).0 == 0 {
                child.dequeue(now);
            }
        }
    }
}

fn sum(children: &mut [(Buffer, Fifo)], now: Time) -> (u32, u64) {
    children.iter_mut().map(|(_, child)| child.backlog(now)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

/// Returns the limit of a child when other children hold `others` packets and bytes of the shared limit.
fn tighter(own_limit: Buffer, shared: Buffer, others: (u32, u64), own: (u32, u64)) -> Buffer {
    match (own_limit, shared) {
        (Buffer::Packets(own), Buffer::Packets(all)) => {
            Buffer::Packets(own.min(all.saturating_sub(others.0)))
        }
        (Buffer::Bytes(own), Buffer::Bytes(all)) => Buffer::Bytes(own.min(all.saturating_sub(others.1))),
        // Different units: the child's own limit decides when it is reached, else what is left of the shared.
        (Buffer::Packets(limit), _) if own.0 >= limit => own_limit,
        (Buffer::Bytes(limit), _) if own.1 >= limit => own_limit,
        (_, Buffer::Packets(all)) => Buffer::Packets(all.saturating_sub(others.0)),
        (_, Buffer::Bytes(all)) => Buffer::Bytes(all.saturating_sub(others.1)),
    }
}
