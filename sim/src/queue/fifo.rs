//! A FIFO with a drop policy that decides at the arrival: drop-tail, RED, multi-RED.
//!
//! The packet in transmission is not in the queue. There are two ways to run it, and a test compares them.
//! The slow path stores packets and is called for each departure. The fast path ([`Fifo::pass`]) knows at the
//! arrival when the packet will start transmission; it stores only sizes and start times, and removes them
//! at the next call.

use super::adaptive_red::AdaptiveRed;
use super::{Dequeued, Dropped, Dropper, Ns2DsRed, Ns2Red, Ns2Rio};
use crate::drop_reason::DropReason;
use crate::packet::{Colour, Packet, flag};
use crate::rng::Stream;
use crate::series::Series;
use crate::units::{Buffer, Time};
use mousehole_policy::{Backlog, FullBuffer, Limit, NEVER, Verdict};
use std::collections::VecDeque;

/// The drop policy of a FIFO.
#[derive(Clone)]
pub enum Policy {
    /// Only the buffer's limit.
    DropTail,
    /// A policy header: RED, multi-RED, SHRED, a user's.
    Dropper(Box<Dropper>),
    /// RED whose `max_p` adapts.
    Adaptive(Box<AdaptiveRed>),
    /// RED with ns-2's quirks.
    Ns2Red(Box<Ns2Red>),
    /// Multi-RED with ns-2's quirks.
    Ns2DsRed(Box<Ns2DsRed>),
    /// RIO with ns-2's quirks.
    Ns2Rio(Box<Ns2Rio>),
}

impl Policy {
    /// Returns whether packets that find the buffer full also reach it and move its average.
    fn sees_full_buffers(&self) -> bool {
        match self {
            Policy::DropTail | Policy::Ns2DsRed(_) => false,
            Policy::Dropper(dropper) => dropper.policy().sees_full_buffers(),
            Policy::Adaptive(_) | Policy::Ns2Red(_) | Policy::Ns2Rio(_) => true,
        }
    }

    /// Returns whether its state changes with departures.
    fn tracks_departures(&self) -> bool {
        match self {
            Policy::Dropper(dropper) => dropper.policy().tracks_departures(),
            Policy::Ns2DsRed(_) => true,
            Policy::DropTail | Policy::Adaptive(_) | Policy::Ns2Red(_) | Policy::Ns2Rio(_) => false,
        }
    }
}

/// Size, colour and start of transmission of a packet whose departure is scheduled (fast path).
#[derive(Clone, Copy)]
struct ScheduledDeparture {
    start: Time,
    bytes: u16,
    colour: Colour,
}

/// Returns a buffer as the limit type of the policies' headers.
pub(super) fn convert_limit(buffer: Buffer) -> Limit {
    match buffer {
        Buffer::Packets(packets) => Limit::packets(packets),
        Buffer::Bytes(bytes) => Limit::bytes(bytes),
    }
}

/// Returns the reason for a drop, `None` if the verdict drops nothing.
#[inline]
fn drop_reason(verdict: Verdict) -> Option<DropReason> {
    match verdict {
        Verdict::Early => Some(DropReason::Early),
        Verdict::Forced => Some(DropReason::Forced),
        Verdict::Mark | Verdict::Pass => None,
    }
}

/// A FIFO queue.
pub struct Fifo {
    limit: Limit,
    policy: Policy,
    /// The policy's averages also change when packets leave.
    tracks_departures: bool,
    sees_full_buffers: bool,
    waiting: Backlog,
    stored: VecDeque<(Packet, Time)>,
    scheduled: VecDeque<ScheduledDeparture>,
}

impl Fifo {
    /// Returns an empty queue, idle since time zero. A packet limit counts packets waiting, a byte
    /// limit their IP length.
    pub fn new(limit: Buffer, policy: Policy) -> Fifo {
        Fifo {
            limit: convert_limit(limit),
            tracks_departures: policy.tracks_departures(),
            sees_full_buffers: policy.sees_full_buffers(),
            policy,
            waiting: Backlog { idle_since_ns: 0, ..Backlog::default() },
            stored: VecDeque::new(),
            scheduled: VecDeque::new(),
        }
    }

    /// Queues an arrival on the slow path, marked if the policy says so, or adds it to `drops`.
    /// Policies with chance draw from `rng`.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        match self.admit(&mut packet, now, rng) {
            Some(reason) => drops.push(Dropped { packet, reason }),
            None => {
                self.add(packet.bytes, packet.colour);
                self.stored.push_back((packet, now));
            }
        }
    }

    /// Returns the next packet on the slow path with its arrival time. [`Dequeued::Empty`] if none
    /// waits; the queue then counts as idle from `now` on.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        match self.stored.pop_front() {
            Some((packet, at)) => {
                self.waiting.idle_since_ns = NEVER;
                self.remove(packet.bytes, packet.colour, now);
                Dequeued::Packet(packet, at)
            }
            None => {
                self.waiting.idle_since_ns = now.0;
                Dequeued::Empty
            }
        }
    }

    /// Admits an arrival on the fast path, at a link that transmits until `busy_until`, and marks
    /// it if the policy says so. Returns when the packet starts transmission; until then it counts
    /// as waiting. Calls come in the order of time.
    ///
    /// # Errors
    /// The reason for which the packet is dropped.
    #[inline(always)]
    pub fn pass(
        &mut self,
        packet: &mut Packet,
        now: Time,
        busy_until: Time,
        rng: &mut Stream,
    ) -> Result<Time, DropReason> {
        self.remove_departed(now);
        let is_idle = busy_until <= now;
        self.waiting.idle_since_ns = if is_idle { busy_until.0 } else { NEVER };
        if let Some(reason) = self.admit(packet, now, rng) {
            return Err(reason);
        }
        if is_idle {
            // Nothing waits, and this packet does not either.
            if self.tracks_departures {
                self.record_departure(packet.colour, now);
            }
            return Ok(now);
        }
        self.add(packet.bytes, packet.colour);
        let departure = ScheduledDeparture { start: busy_until, bytes: packet.bytes, colour: packet.colour };
        self.scheduled.push_back(departure);
        Ok(busy_until)
    }

    /// Returns the packets and bytes waiting at `now`, without one in transmission; departures up
    /// to then are removed (fast path).
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        self.remove_departed(now);
        (self.waiting.packets, self.waiting.bytes)
    }

    /// Returns the packets and bytes waiting at `now`, by colour; departures up to then are removed
    /// (fast path).
    pub fn waiting(&mut self, now: Time) -> Backlog {
        self.remove_departed(now);
        self.waiting
    }

    /// Sets, for a FIFO on the slow path, the time since which an arrival could have left at once;
    /// `None` if it has to wait. A transmitter's is known from [`Fifo::dequeue`]; a token bucket's
    /// depends on the arrival.
    pub fn note_idle_since(&mut self, since: Option<Time>) {
        let since = since.filter(|_| self.stored.is_empty());
        self.waiting.idle_since_ns = since.map_or(NEVER, |since| since.0);
    }

    /// Returns the packet that leaves next (slow path); `None` if none waits.
    pub fn head(&self) -> Option<&Packet> {
        self.stored.front().map(|(packet, _)| packet)
    }

    /// Returns the values that the policy recorded over time; only an adaptive RED has any.
    pub fn series(&self) -> Vec<Series> {
        match &self.policy {
            Policy::Adaptive(red) => vec![red.series()],
            _ => Vec::new(),
        }
    }

    /// Returns the policy's readings, averages in packets, for traces and tests; drop-tail has
    /// none.
    pub fn averages(&self) -> Vec<f64> {
        match &self.policy {
            Policy::DropTail => Vec::new(),
            Policy::Dropper(dropper) => dropper.readings(),
            Policy::Adaptive(red) => vec![red.average()],
            Policy::Ns2Red(red) => vec![red.average()],
            Policy::Ns2DsRed(red) => Colour::ALL.iter().map(|&colour| red.average(colour)).collect(),
            Policy::Ns2Rio(rio) => Colour::ALL.iter().map(|&colour| rio.average(colour)).collect(),
        }
    }

    /// Removes the scheduled departures up to `now`, that time included: at equal times departures
    /// precede arrivals.
    #[inline]
    fn remove_departed(&mut self, now: Time) {
        while let Some(&ScheduledDeparture { start, bytes, colour }) = self.scheduled.front() {
            if start > now {
                break;
            }
            self.scheduled.pop_front();
            self.remove(bytes, colour, start);
        }
    }

    /// Decides on an arrival and marks it if the policy says so. Returns the reason for a drop,
    /// `None` if the packet is admitted; the caller adds it to the backlog. The policy's average
    /// moves unless the buffer is full and the policy does not see that.
    #[inline(always)]
    fn admit(&mut self, packet: &mut Packet, now: Time, rng: &mut Stream) -> Option<DropReason> {
        let full = self.limit.is_full(&self.waiting, u32::from(packet.bytes), 1);
        if full && !FullBuffer.asks(self.sees_full_buffers) {
            return drop_reason(FullBuffer.verdict(Verdict::Pass));
        }
        let verdict = match &mut self.policy {
            // First, as it is the commonest and leaves nothing to do.
            Policy::DropTail => return None,
            Policy::Dropper(dropper) => dropper.judge(&packet.view(), &self.waiting, now, rng),
            Policy::Adaptive(red) => red.judge(&packet.view(), &self.waiting, now, rng.bits32()),
            Policy::Ns2Red(red) => {
                red.judge(packet.bytes, packet.has(flag::ECT), &self.waiting, now, rng.uniform())
            }
            Policy::Ns2DsRed(red) => {
                red.judge(packet.colour, packet.has(flag::ECT), &self.waiting, now, rng.uniform())
            }
            Policy::Ns2Rio(rio) => {
                let arrival = (packet.colour, packet.bytes, packet.has(flag::ECT));
                rio.judge(arrival, &self.waiting, now, rng.uniform())
            }
        };
        // ns-2's RED checks the buffer itself.
        let verdict = if full && !matches!(self.policy, Policy::Ns2Red(_)) {
            FullBuffer.verdict(verdict)
        } else {
            verdict
        };
        if verdict == Verdict::Mark {
            packet.flags |= flag::CE;
        }
        drop_reason(verdict)
    }

    /// Adds a packet to the backlog.
    fn add(&mut self, bytes: u16, colour: Colour) {
        self.waiting.add(colour, u32::from(bytes));
    }

    /// Removes a packet from the backlog and reports its departure to the policy.
    fn remove(&mut self, bytes: u16, colour: Colour, now: Time) {
        self.waiting.remove(colour, u32::from(bytes));
        if self.tracks_departures {
            self.record_departure(colour, now);
        }
    }

    /// Reports a departure to a policy that tracks them.
    #[inline(never)]
    fn record_departure(&mut self, colour: Colour, now: Time) {
        match &mut self.policy {
            Policy::Dropper(dropper) => dropper.record_departure(colour, &self.waiting, now),
            Policy::Ns2DsRed(red) => red.record_departure(colour, &self.waiting, now),
            _ => {}
        }
    }
}
