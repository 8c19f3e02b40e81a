//! One FIFO with a drop policy that decides at the arrival: drop-tail, RED, multi-RED.
//!
//! The packet in transmission is not in the queue. Two ways to run it, equal by test: the slow one
//! stores packets and is asked for each; the fast one ([`Fifo::pass`]) knows at the arrival when the
//! packet will start transmission, keeps only sizes and start times, and forgets them lazily.

use super::adaptive_red::AdaptiveRed;
use super::{Dequeued, Drop, Dropper, Ns2DsRed, Ns2Red, Ns2Rio, Why};
use crate::packet::{Colour, Packet, flag};
use crate::record::Series;
use crate::rng::Stream;
use crate::units::{Buffer, Time};
use mousehole_policy::{Backlog, NEVER, Verdict};
use std::collections::VecDeque;

/// How a FIFO decides whom to drop.
#[derive(Clone)]
pub enum Policy {
    /// Only the buffer's limit.
    DropTail,
    /// A policy header's rule: RED, multi-RED, SHRED, a user's own.
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
    /// Returns whether it is asked, and its average moves, for packets that find the buffer full.
    fn sees_full_buffers(&self) -> bool {
        match self {
            Policy::DropTail | Policy::Ns2DsRed(_) => false,
            Policy::Dropper(dropper) => dropper.policy().sees_full_buffers(),
            Policy::Adaptive(_) | Policy::Ns2Red(_) | Policy::Ns2Rio(_) => true,
        }
    }

    /// Returns whether it wants to know of departures.
    fn tracks_departures(&self) -> bool {
        match self {
            Policy::Dropper(dropper) => dropper.policy().tracks_departures(),
            Policy::Ns2DsRed(_) => true,
            Policy::DropTail | Policy::Adaptive(_) | Policy::Ns2Red(_) | Policy::Ns2Rio(_) => false,
        }
    }
}

/// Size, colour and start of transmission of a packet that was promised a departure.
#[derive(Clone, Copy)]
struct Promise {
    start: Time,
    bytes: u16,
    colour: Colour,
}

/// A FIFO queue.
pub struct Fifo {
    limit: Buffer,
    policy: Policy,
    /// The policy's averages move when packets leave.
    hears_departures: bool,
    sees_full_buffers: bool,
    waiting: Backlog,
    stored: VecDeque<(Packet, Time)>,
    promised: VecDeque<Promise>,
}

impl Fifo {
    /// An empty queue. A packet limit counts packets waiting, a byte limit their IP length.
    pub fn new(limit: Buffer, policy: Policy) -> Fifo {
        Fifo {
            limit,
            hears_departures: policy.tracks_departures(),
            sees_full_buffers: policy.sees_full_buffers(),
            policy,
            waiting: Backlog { idle_since_ns: 0, ..Backlog::default() },
            stored: VecDeque::new(),
            promised: VecDeque::new(),
        }
    }

    /// Slow path: takes an arrival.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Drop>) {
        match self.admit(&mut packet, now, rng) {
            Some(why) => drops.push(Drop { packet, why }),
            None => {
                self.add(packet.bytes, packet.colour);
                self.stored.push_back((packet, now));
            }
        }
    }

    /// Slow path: gives the next packet.
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

    /// Fast path: takes an arrival at a link that transmits until `busy_until`; says when the packet
    /// starts transmission, or why it is dropped.
    #[inline(always)]
    pub fn pass(
        &mut self,
        packet: &mut Packet,
        now: Time,
        busy_until: Time,
        rng: &mut Stream,
    ) -> Result<Time, Why> {
        self.settle(now);
        self.waiting.idle_since_ns = if busy_until <= now { busy_until.0 } else { NEVER };
        if let Some(why) = self.admit(packet, now, rng) {
            return Err(why);
        }
        let start = now.max(busy_until);
        self.add(packet.bytes, packet.colour);
        self.promised.push_back(Promise { start, bytes: packet.bytes, colour: packet.colour });
        Ok(start)
    }

    /// Packets and bytes waiting at `now`.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        self.settle(now);
        (self.waiting.packets, self.waiting.bytes)
    }

    /// What waits at `now`, by colour.
    pub fn waiting(&mut self, now: Time) -> Backlog {
        self.settle(now);
        self.waiting
    }

    /// The packet to leave next (slow path).
    pub fn head(&self) -> Option<&Packet> {
        self.stored.front().map(|(packet, _)| packet)
    }

    /// Changes the limit; what waits already stays.
    pub fn set_limit(&mut self, limit: Buffer) {
        self.limit = limit;
    }

    /// What the policy noted over time.
    pub fn series(&self) -> Vec<Series> {
        match &self.policy {
            Policy::Adaptive(red) => vec![red.series()],
            _ => Vec::new(),
        }
    }

    /// Returns what the policy shows of its state, averages in packets, for traces and tests.
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

    /// Forgets promised packets that have started transmission; departures precede arrivals.
    #[inline]
    fn settle(&mut self, now: Time) {
        while let Some(&Promise { start, bytes, colour }) = self.promised.front() {
            if start > now {
                break;
            }
            self.promised.pop_front();
            self.remove(bytes, colour, start);
        }
    }

    /// Marks or drops; `None` admits.
    #[inline(always)]
    fn admit(&mut self, packet: &mut Packet, now: Time, rng: &mut Stream) -> Option<Why> {
        let full = match self.limit {
            Buffer::Packets(limit) => self.waiting.packets >= limit,
            Buffer::Bytes(limit) => self.waiting.bytes + u64::from(packet.bytes) > limit,
        };
        // ns-2's conventions: DiffServ RED leaves its averages alone at a full buffer, plain RED does not.
        if full && !self.sees_full_buffers {
            return Some(Why::Forced);
        }
        let verdict = match &mut self.policy {
            // First, as it is the commonest and leaves nothing to do.
            Policy::DropTail => return None,
            Policy::Dropper(dropper) => dropper.judge(&packet.view(), &self.waiting, now, rng),
            Policy::Adaptive(red) => red.packet(&packet.view(), &self.waiting, now, rng.bits32()),
            Policy::Ns2Red(red) => {
                red.arrive(packet.bytes, packet.has(flag::ECT), &self.waiting, now, rng.uniform())
            }
            Policy::Ns2DsRed(red) => {
                red.arrive(packet.colour, packet.has(flag::ECT), &self.waiting, now, rng.uniform())
            }
            Policy::Ns2Rio(rio) => {
                let arrival = (packet.colour, packet.bytes, packet.has(flag::ECT));
                rio.arrive(arrival, &self.waiting, now, rng.uniform())
            }
        };
        match verdict {
            Verdict::Early => Some(Why::Early),
            Verdict::Forced => Some(Why::Forced),
            _ if full && !matches!(self.policy, Policy::Ns2Red(_)) => Some(Why::Forced),
            Verdict::Mark => {
                packet.flags |= flag::CE;
                None
            }
            Verdict::Pass => None,
        }
    }

    fn add(&mut self, bytes: u16, colour: Colour) {
        self.waiting.add(colour, u32::from(bytes));
    }

    fn remove(&mut self, bytes: u16, colour: Colour, now: Time) {
        self.waiting.remove(colour, u32::from(bytes));
        if self.hears_departures {
            self.departed(colour, now);
        }
    }

    #[inline(never)]
    fn departed(&mut self, colour: Colour, now: Time) {
        match &mut self.policy {
            Policy::Dropper(dropper) => dropper.departed(colour, &self.waiting, now),
            Policy::Ns2DsRed(red) => red.departed(colour, &self.waiting, now),
            _ => {}
        }
    }
}
