//! One FIFO with a drop policy that decides at the arrival: drop-tail, RED, multi-RED.
//!
//! The packet in transmission is not in the queue. Two ways to run it, equal by test: the slow one
//! stores packets and is asked for each; the fast one ([`Fifo::pass`]) knows at the arrival when the
//! packet will start transmission, keeps only sizes and start times, and forgets them lazily.

use super::adaptive_red::AdaptiveRed;
use super::{Dequeued, Drop, Ns2DsRed, Ns2Red, Ns2Rio, Why};
use crate::packet::{Colour, Packet, flag};
use crate::rng::Stream;
use crate::series::Series;
use crate::units::{Buffer, Time};
use mousehole_policy::{Backlog, ColourBacklog, Verdict, multi_red, red, shred};
use std::collections::VecDeque;

/// How a FIFO decides whom to drop; RED and multi-RED come from the policy room.
#[derive(Clone)]
pub enum Policy {
    /// Only the buffer's limit.
    DropTail,
    /// RED for all packets alike.
    Red(Box<red::Params>, red::State),
    /// One virtual RED per colour.
    MultiRed(Box<multi_red::Params>, multi_red::State),
    /// RED whose line moves with the window of a packet's sender.
    Shred(Box<shred::Params>, shred::State),
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
    /// Whether it is asked, and its average moves, for packets that find the buffer full.
    #[inline]
    fn sees_full_buffers(&self) -> bool {
        matches!(
            self,
            Policy::Red(..) | Policy::Adaptive(_) | Policy::Shred(..) | Policy::Ns2Red(_) | Policy::Ns2Rio(_)
        )
    }
}

/// Size, colour and start of transmission of a packet that was promised a departure.
#[derive(Clone, Copy)]
struct Promise {
    start: Time,
    bytes: u16,
    colour: Colour,
}

/// A verdict by chance, with the next draw of `rng`, which takes longer than to judge: most packets pass whatever
/// it is. The least draw takes every packet that any draw takes; what passes with it need not know the draw.
#[inline(always)]
fn by_chance<S: Copy>(state: &mut S, rng: &mut Stream, judge: impl Fn(&mut S, u32) -> Verdict) -> Verdict {
    let mut with_least = *state;
    if judge(&mut with_least, 0) == Verdict::Pass {
        *state = with_least;
        rng.skip();
        return Verdict::Pass;
    }
    judge(state, rng.bits32())
}

/// A FIFO queue.
pub struct Fifo {
    limit: Buffer,
    policy: Policy,
    /// The policy's averages move when packets leave.
    hears_departures: bool,
    waiting: ColourBacklog,
    packets: u32,
    bytes: u64,
    idle_since: Time,
    stored: VecDeque<(Packet, Time)>,
    promised: VecDeque<Promise>,
}

impl Fifo {
    /// An empty queue. A packet limit counts packets waiting, a byte limit their IP length.
    pub fn new(limit: Buffer, policy: Policy) -> Fifo {
        Fifo {
            limit,
            hears_departures: matches!(policy, Policy::MultiRed(..) | Policy::Ns2DsRed(_)),
            policy,
            waiting: ColourBacklog::default(),
            packets: 0,
            bytes: 0,
            idle_since: Time::ZERO,
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
                self.idle_since = Time::NEVER;
                self.remove(packet.bytes, packet.colour, now);
                Dequeued::Packet(packet, at)
            }
            None => {
                self.idle_since = now;
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
        self.idle_since = if busy_until <= now { busy_until } else { Time::NEVER };
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
        (self.packets, self.bytes)
    }

    /// What waits at `now`, by colour.
    pub fn waiting(&mut self, now: Time) -> ColourBacklog {
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

    /// Averages of the policy in packets, one per colour, for traces and tests.
    pub fn averages(&self) -> Vec<f64> {
        match &self.policy {
            Policy::DropTail => Vec::new(),
            Policy::Red(params, state) => vec![red::average(params, state)],
            Policy::Adaptive(red) => vec![red.average()],
            Policy::Shred(params, state) => vec![shred::average(params, state)],
            Policy::MultiRed(params, state) => {
                Colour::ALL.iter().map(|&colour| multi_red::average(params, state, colour)).collect()
            }
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
            Buffer::Packets(limit) => self.packets >= limit,
            Buffer::Bytes(limit) => self.bytes + u64::from(packet.bytes) > limit,
        };
        // ns-2's conventions: DiffServ RED leaves its averages alone at a full buffer, plain RED does not.
        if full && !self.policy.sees_full_buffers() {
            return Some(Why::Forced);
        }
        // Ahead of the jump over all policies, as it is the commonest and leaves nothing to do.
        if matches!(self.policy, Policy::DropTail) {
            return None;
        }
        let verdict = match &mut self.policy {
            Policy::DropTail => Verdict::Pass,
            Policy::Red(params, state) => {
                let backlog = Backlog::new(self.packets, self.bytes, self.idle_since.0);
                let view = packet.view();
                by_chance(state, rng, |state, random| {
                    red::packet(params, state, &view, &backlog, now.0, random)
                })
            }
            Policy::Adaptive(red) => {
                let backlog = Backlog::new(self.packets, self.bytes, self.idle_since.0);
                red.packet(&packet.view(), &backlog, now, rng.bits32())
            }
            Policy::Shred(params, state) => {
                let backlog = Backlog::new(self.packets, self.bytes, self.idle_since.0);
                shred::packet(params, state, &packet.view(), &backlog, now.0, rng.bits32())
            }
            Policy::MultiRed(params, state) => {
                multi_red::packet(params, state, &packet.view(), &self.waiting, now.0, rng.bits32())
            }
            Policy::Ns2Red(red) => {
                let backlog = Backlog::new(self.packets, self.bytes, self.idle_since.0);
                red.arrive(packet.bytes, packet.has(flag::ECT), &backlog, now, rng.uniform())
            }
            Policy::Ns2DsRed(red) => {
                red.arrive(packet.colour, packet.has(flag::ECT), &self.waiting, now, rng.uniform())
            }
            Policy::Ns2Rio(rio) => {
                let backlog = Backlog::new(self.packets, self.bytes, self.idle_since.0);
                let arrival = (packet.colour, packet.bytes, packet.has(flag::ECT));
                rio.arrive(arrival, &self.waiting, &backlog, now, rng.uniform())
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
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.waiting.add(colour, u32::from(bytes));
    }

    fn remove(&mut self, bytes: u16, colour: Colour, now: Time) {
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        self.waiting.remove(colour, u32::from(bytes));
        if self.hears_departures {
            self.departed(colour, now);
        }
    }

    #[inline(never)]
    fn departed(&mut self, colour: Colour, now: Time) {
        match &mut self.policy {
            Policy::MultiRed(params, state) => {
                multi_red::departed(params, state, colour, &self.waiting, now.0);
            }
            Policy::Ns2DsRed(red) => red.departed(colour, &self.waiting, now),
            _ => {}
        }
    }
}
