//! Strict priority over FIFOs by colour, each with a drop policy and a limit of its own, or one limit for all.
//!
//! SFD section on the physical-queue variant (PQ); LFP (Alcaraz et al.): three REDs under strict priority,
//! with three buffers of 50 packets or one shared. A packet in transmission is never interrupted.
//! Work-conserving. Reorders within a flow whose packets change colour. Whom a full shared buffer drops is
//! `full_buffer.h`'s to say.

use super::fifo::limit_of;
use super::{Dequeued, Dropped, Fifo, Policy};
use crate::drop_reason::DropReason;
use crate::packet::{Colour, Packet};
use crate::rng::Stream;
use crate::units::{Buffer, Time};
use mousehole_policy::{Backlog, COLOURS, FullBuffer};

/// Parameters.
pub struct Params {
    /// Limit and drop policy per colour, best first, one to three; the last also takes worse colours.
    pub children: Vec<(Buffer, Policy)>,
    /// A limit for all waiting packets together, in addition to those of the children.
    pub shared: Option<Buffer>,
    /// Whether an arrival that finds the shared limit reached pushes out packets of worse colours.
    pub push_out: bool,
}

/// A strict-priority queue.
pub struct Priority {
    children: Vec<(Buffer, Fifo)>,
    shared: Option<Buffer>,
    push_out: bool,
    /// The FIFO whose packet is, or was last, in transmission.
    last: Option<usize>,
}

impl Priority {
    /// Returns an empty queue of one to three children.
    pub fn new(params: Params) -> Priority {
        assert!((1..=COLOURS).contains(&params.children.len()), "a priority queue needs 1 to 3 children");
        let fifo = |(limit, policy)| (limit, Fifo::new(limit, policy));
        let children = params.children.into_iter().map(fifo).collect();
        Priority { children, shared: params.shared, push_out: params.push_out, last: None }
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        let all = self.waiting(now);
        (all.packets, all.bytes)
    }

    /// Returns the FIFO of a colour, for traces and tests.
    pub fn child(&mut self, index: usize) -> &mut Fifo {
        &mut self.children[index].1
    }

    /// Queues or drops an arrival; dropped packets go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        let index = packet.colour.index().min(self.children.len() - 1);
        let Some(shared) = self.shared else {
            return self.children[index].1.enqueue(packet, now, rng, drops);
        };
        let all = self.waiting(now);
        let kept = if self.push_out { FullBuffer.kept(&all, index) } else { all };
        let (limit, child) = &mut self.children[index];
        let own = child.backlog(now);
        child.set_limit(tighter(*limit, shared, (kept.packets - own.0, kept.bytes - own.1), own));
        child.enqueue(packet, now, rng, drops);
        if self.push_out {
            self.push_out(shared, now, drops);
        }
    }

    /// Drops the newest packets of the worst colours until what waits fits the shared limit.
    fn push_out(&mut self, shared: Buffer, now: Time, drops: &mut Vec<Dropped>) {
        loop {
            let all = self.waiting(now);
            if !limit_of(shared).is_full(&all, 0, 0) {
                return;
            }
            let victim = FullBuffer.victim(&all);
            let child = &mut self.children[victim].1;
            let Some(packet) = child.remove_newest(now) else { return };
            drops.push(Dropped { packet, reason: DropReason::Forced });
            if self.last != Some(victim) && child.backlog(now).0 == 0 {
                child.dequeue(now);
            }
        }
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

    /// Returns what waits, each child as a colour.
    fn waiting(&mut self, now: Time) -> Backlog {
        let mut all = Backlog::default();
        for (colour, (_, child)) in Colour::ALL.into_iter().zip(&mut self.children) {
            let (packets, bytes) = child.backlog(now);
            all.packets += packets;
            all.bytes += bytes;
            all.colour_packets[colour.index()] = packets;
            all.colour_bytes[colour.index()] = bytes;
        }
        all
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

/// Returns the limit of a child when packets of other children that stay hold `others`, packets and bytes, of the shared
/// limit.
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
