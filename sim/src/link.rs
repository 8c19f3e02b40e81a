//! A link: a queue, a transmitter or token bucket, a propagation delay, and losses that a scenario asks for.
//!
//! With a burst, the link is a token bucket as Linux's tbf is one. A packet leaves whole, as soon as the bucket holds
//! tokens for all of it. What `busy_until` is to a transmitter is then the time at which the bucket will be full again.
//! `policy/include/mousehole/virtual_fifo.h` has the formulae; a test holds both equal.
//!
//! With a modem behind it, the queue sends into the modem's FIFO at once, at its own rate, and the modem transmits.
//!
//! With a rate trace, the rate changes over time. The trace is known beforehand, so a FIFO still knows at the arrival when
//! a packet will leave.

use crate::drop_reason::DropReason;
use crate::link_layer::Wire;
use crate::packet::{Colour, Packet, flag};
use crate::queue::{Dequeued, Dropped, Queue};
use crate::rate_trace::{Position, RateTrace};
use crate::record::{ColourCounts, Count, QueueCounts};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Losses that a scenario asks for, before the queue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fault {
    /// Arrivals to lose, by their number from 0, in rising order.
    pub drop: Vec<u64>,
    /// Probability that an arrival is lost.
    pub bernoulli: f64,
}

/// What became of a packet that reached a link.
#[derive(Debug, Clone, Copy)]
pub enum Arrival {
    /// It reaches the far end at a known time (one event per hop).
    Arrives {
        /// When its transmission starts; on a link that nobody shares, when it arrived.
        start: Time,
        /// When it reaches the far end.
        at: Time,
    },
    /// It waits in the queue, or was dropped in favour of others.
    Queued {
        /// Whether the transmitter is idle; the caller must call [`Link::serve`] then.
        serve: bool,
    },
    /// It was dropped; [`Link::take_drop`] returns it.
    Dropped,
}

/// What a link did when it was asked for its next transmission.
#[derive(Debug, Clone, Copy)]
pub enum Served {
    /// It started to transmit a packet.
    Started {
        /// The packet.
        packet: Packet,
        /// When the transmitter is free again; the caller must call [`Link::serve`] then.
        free_at: Time,
        /// When the packet reaches the far end.
        arrives_at: Time,
    },
    /// A packet left the queue, and the modem behind it had no room; [`Link::take_drop`] returns it.
    Lost {
        /// When the next may leave; the caller must call [`Link::serve`] then.
        free_at: Time,
    },
    /// Nothing may leave before this time; the caller must call [`Link::serve`] then.
    Retry(Time),
    /// There is nothing to do: no packet waits, or a later call has been asked for already.
    Idle,
}

/// Nanoseconds that 8 bits take at 1 bit/s.
const NS_OF_8_BITS: u64 = 8_000_000_000;

/// A rate with its reciprocal, which computes transmission times without a division: several are needed per
/// packet, and a division takes as long as twenty additions.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    rate: Rate,
    /// `2^64 / rate`, rounded down.
    inverse: u64,
    /// Time to transmit a byte where it is a whole number of nanoseconds, as at 10 Mb/s or 1 Gb/s; else zero.
    byte: Dur,
}

impl Pace {
    /// Returns the pace of `rate`, which must be positive; it panics for a rate of 0.
    pub fn new(rate: Rate) -> Pace {
        let is_whole = NS_OF_8_BITS.is_multiple_of(rate.0);
        let byte = if is_whole { Dur(NS_OF_8_BITS / rate.0) } else { Dur::ZERO };
        Pace { rate, inverse: u64::MAX / rate.0, byte }
    }

    /// Returns exactly what [`Rate::tx_time`] returns. `bytes` are those of one packet, at most 2^31.
    #[inline]
    pub fn tx_time(&self, bytes: u64) -> Dur {
        debug_assert!(bytes <= 1 << 31, "the bits of {bytes} bytes times 10^9 do not fit");
        if self.byte > Dur::ZERO {
            return Dur(bytes * self.byte.0);
        }
        let bit_ns = bytes * NS_OF_8_BITS + self.rate.0 / 2;
        // The estimate is the quotient or one less, as `bit_ns · (2^64 / rate − inverse) < 2^64`.
        let estimate = ((u128::from(bit_ns) * u128::from(self.inverse)) >> 64) as u64;
        let rest = bit_ns - estimate * self.rate.0;
        Dur(estimate + u64::from(rest >= self.rate.0))
    }
}

/// A one-way link.
pub struct Link {
    /// Name for reports.
    pub name: String,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Counters.
    pub counts: QueueCounts,
    queue: Queue,
    pace: Pace,
    fault: Fault,
    /// The scenario asks for losses here.
    is_faulty: bool,
    fault_rng: Stream,
    rng: Stream,
    /// Number of packets that have reached a faulty link.
    arrivals: u64,
    /// Queueing delays are recorded of packets whose transmission starts from this time on, …
    measured_from: Time,
    /// … for so long.
    measured_for: Dur,
    /// The transmitter is busy until this time; a token bucket is full from then on.
    busy_until: Time,
    /// It is a token bucket, its rate changes, or it has a link layer.
    is_special: bool,
    /// Depth of the token bucket as a time; zero without one.
    burst: Dur,
    /// Where it is in its rate trace, if it has one.
    trace: Option<Box<Position>>,
    /// When the last packet left the token bucket.
    last_start: Time,
    /// The packet that has left the queue and waits for tokens, and when it arrived (slow path, no FIFO).
    held: Option<(Packet, Time)>,
    /// The slow path is used even where the fast one is possible.
    slow: bool,
    /// A packet is in transmission (slow path).
    transmitting: bool,
    /// Time of the last [`Served::Retry`]; zero once a packet has left.
    retry_at: Time,
    /// Overhead of packets on the wire.
    wire: Wire,
    /// Bytes on the wire of those packets whose transmission starts within the measured time; counted with a link layer.
    wire_bytes: u64,
    /// The modem behind the queue: a separate link that only this queue feeds.
    modem: Option<Box<Link>>,
    drops: Vec<Dropped>,
    /// Start of transmission, colour and size of the packets that this link has marked and that may still wait (fast
    /// path).
    scheduled_marks: VecDeque<(Time, Colour, u16)>,
}

impl Link {
    /// Returns an idle link with its queue, without faults, overhead, burst, trace or modem; `id`
    /// names its random draws under `seed`. The rate must be positive.
    pub fn new(name: &str, id: u64, rate: Rate, delay: Dur, queue: Queue, seed: u64) -> Link {
        Link {
            name: name.to_string(),
            rate,
            delay,
            counts: QueueCounts::default(),
            queue,
            pace: Pace::new(rate),
            fault: Fault::default(),
            is_faulty: false,
            fault_rng: Stream::new(seed, Purpose::Fault, id),
            rng: Stream::new(seed, Purpose::Queue, id),
            arrivals: 0,
            measured_from: Time::ZERO,
            measured_for: Dur(u64::MAX),
            busy_until: Time::ZERO,
            is_special: false,
            burst: Dur::ZERO,
            trace: None,
            last_start: Time::ZERO,
            held: None,
            slow: false,
            transmitting: false,
            retry_at: Time::ZERO,
            wire: Wire::default(),
            wire_bytes: 0,
            modem: None,
            drops: Vec::new(),
            scheduled_marks: VecDeque::new(),
        }
    }

    /// Returns the link with faults and the per-packet overhead of its wire; `slow` makes it use
    /// the slow path even where the fast one is possible.
    pub fn with_settings(mut self, fault: Fault, wire: Wire, slow: bool) -> Link {
        self.is_faulty = fault.bernoulli > 0.0 || !fault.drop.is_empty();
        (self.fault, self.slow) = (fault, slow);
        self.set_wire(wire);
        self
    }

    /// Sets the measured window: queueing delays are recorded only for packets whose transmission
    /// starts in [`begin`, `end`). Without a call they are recorded for all packets. The window
    /// holds for the modem too, which must be there before.
    pub fn measure(&mut self, begin: Time, end: Time) {
        (self.measured_from, self.measured_for) = (begin, end.since(begin));
        if let Queue::Unshared(links) = &mut self.queue {
            links.measure(begin, end);
        }
        if let Some(modem) = &mut self.modem {
            modem.measure(begin, end);
        }
    }

    /// Sets the overhead of packets on the wire, which holds for coming packets.
    pub fn set_wire(&mut self, wire: Wire) {
        self.wire = wire;
        self.is_special |= wire.layer.is_some();
    }

    /// Makes the link a token bucket of this many bytes, full at time zero. If these take less than
    /// half a nanosecond at the link's rate, it stays a transmitter.
    pub fn set_burst(&mut self, bytes: u64) {
        self.burst = self.rate.tx_time(bytes);
        self.is_special |= self.burst > Dur::ZERO;
    }

    /// Makes the rate follow a trace; the link must not be a token bucket.
    pub fn set_trace(&mut self, trace: Arc<RateTrace>) {
        self.trace = Some(Box::new(Position::new(trace)));
        self.is_special = true;
    }

    /// Puts a modem behind the queue, which becomes a shaper of this link's rate: what leaves it reaches the modem at once,
    /// and the modem's FIFO, transmitter and delay do the rest. `modem` must have a FIFO and be on the fast path.
    ///
    /// Without a burst the shaper is a clock, as CAKE's: after each packet it waits as long as the packet would take.
    pub fn set_modem(&mut self, modem: Link) {
        self.modem = Some(Box::new(modem));
        self.slow = true;
    }

    /// Returns the modem behind the queue, if there is one.
    pub fn modem(&mut self) -> Option<&mut Link> {
        self.modem.as_deref_mut()
    }

    /// Returns the mean rate between two times, at least 1 bit/s, over the rate trace if there is
    /// one; the modem's, if there is one. For an empty span it is the link's rate.
    pub fn mean_rate(&self, begin: Time, end: Time) -> Rate {
        if let Some(modem) = &self.modem {
            return modem.mean_rate(begin, end);
        }
        match &self.trace {
            Some(position) if end > begin => {
                let bits = position.bytes_between(begin, end) as f64 * 8.0;
                Rate((bits / end.since(begin).as_secs()).round().max(1.0) as u64)
            }
            _ => self.rate,
        }
    }

    /// Counts a packet that has reached the link, applies faults, and passes or queues it. It sets
    /// the packet's `was_marked`; on the fast path the queue may also mark the packet. Dropped
    /// packets wait for [`Link::take_drop`]. Calls come in the order of time.
    #[inline(always)]
    pub fn arrive(&mut self, packet: &mut Packet, now: Time) -> Arrival {
        self.counts.count_arrival(packet.colour, packet.bytes);
        packet.was_marked = packet.has(flag::CE);
        if self.is_faulty && self.loses_next() {
            self.note_drop(*packet, DropReason::Fault);
            return Arrival::Dropped;
        }
        match self.queue.as_fifo() {
            Some(_) if self.is_special => self.arrive_at_special_fifo(packet, now),
            Some(fifo) if !self.slow => {
                let passed = fifo.pass(packet, now, self.busy_until, &mut self.rng);
                let Some(start) = self.count_passed(packet, now, passed) else { return Arrival::Dropped };
                // A link layer would be special.
                let bytes = u64::from(packet.bytes) + u64::from(self.wire.overhead);
                self.busy_until = start + self.pace.tx_time(bytes);
                Arrival::Arrives { start, at: self.busy_until + self.delay }
            }
            _ => self.arrive_on_slow_path(*packet, now),
        }
    }

    /// Passes or queues a packet at a FIFO before a token bucket, a rate that changes, or a link
    /// layer; counts as [`Link::arrive`] does.
    #[inline(never)]
    fn arrive_at_special_fifo(&mut self, packet: &mut Packet, now: Time) -> Arrival {
        if self.burst == Dur::ZERO {
            return self.arrive_at_transmitter(packet, now);
        }
        let ready = self.ready_at(packet.bytes);
        let Some(fifo) = self.queue.as_fifo() else { return self.arrive_on_slow_path(*packet, now) };
        if self.slow {
            fifo.note_idle_since((ready <= now).then_some(ready));
            return self.arrive_on_slow_path(*packet, now);
        }
        let passed = fifo.pass(packet, now, ready, &mut self.rng);
        let Some(start) = self.count_passed(packet, now, passed) else { return Arrival::Dropped };
        self.count_wire_bytes(packet.bytes, start);
        self.take_tokens(packet.bytes, start);
        Arrival::Arrives { start, at: start + self.delay }
    }

    /// Passes or queues a packet at a FIFO whose link has a rate trace or a link layer, but is no
    /// token bucket; counts as [`Link::arrive`] does.
    fn arrive_at_transmitter(&mut self, packet: &mut Packet, now: Time) -> Arrival {
        let Some(fifo) = self.queue.as_fifo().filter(|_| !self.slow) else {
            return self.arrive_on_slow_path(*packet, now);
        };
        let passed = fifo.pass(packet, now, self.busy_until, &mut self.rng);
        let Some(start) = self.count_passed(packet, now, passed) else { return Arrival::Dropped };
        self.count_wire_bytes(packet.bytes, start);
        let was_idle = self.busy_until <= now;
        self.busy_until = self.transmit(packet.bytes, start, was_idle);
        Arrival::Arrives { start, at: self.busy_until + self.delay }
    }

    /// Returns the end of a transmission of `bytes` of IP length that starts at `start`, and moves
    /// the position on the rate trace, if there is one; `was_idle` says that the transmitter was
    /// free before.
    #[inline]
    fn transmit(&mut self, bytes: u16, start: Time, was_idle: bool) -> Time {
        match &mut self.trace {
            Some(position) => position.transmit(self.wire.bytes(u64::from(bytes)), start, was_idle),
            None => start + self.tx_time(u32::from(bytes)),
        }
    }

    /// Counts a packet that the FIFO has passed or dropped (fast path), its mark and its delay.
    /// Returns when its transmission starts, `None` if it is dropped.
    #[inline(always)]
    fn count_passed(
        &mut self,
        packet: &Packet,
        now: Time,
        passed: std::result::Result<Time, DropReason>,
    ) -> Option<Time> {
        match passed {
            Err(reason) => {
                self.note_drop(*packet, reason);
                None
            }
            Ok(start) => {
                if packet.is_marked_here() {
                    self.count_scheduled_mark(packet, now, start);
                }
                self.count_sent(packet, now, start);
                Some(start)
            }
        }
    }

    /// Returns the earliest time at which the token bucket holds the tokens for so many bytes,
    /// whenever the packet arrives.
    fn ready_at(&self, bytes: u16) -> Time {
        let slack = self.burst.0.saturating_sub(self.tx_time(u32::from(bytes)).0);
        self.last_start.max(Time(self.busy_until.0.saturating_sub(slack)))
    }

    /// Takes the tokens of a packet that leaves at `start`.
    fn take_tokens(&mut self, bytes: u16, start: Time) {
        self.busy_until = self.busy_until.max(start) + self.tx_time(u32::from(bytes));
        self.last_start = start;
    }

    /// Queues a packet on the slow path, or passes it on a link that nobody shares. Packets that
    /// the queue drops are counted.
    fn arrive_on_slow_path(&mut self, packet: Packet, now: Time) -> Arrival {
        let duration = self.tx_time(u32::from(packet.bytes));
        if let Queue::Unshared(links) = &mut self.queue {
            let start = links.pass(&packet, now, duration);
            self.count_sent(&packet, now, start);
            return Arrival::Arrives { start: now, at: start + duration + self.delay };
        }
        let first = self.drops.len();
        self.queue.enqueue(packet, now, &mut self.rng, &mut self.drops);
        self.count_drops(first);
        Arrival::Queued { serve: !self.transmitting }
    }

    /// Starts the next transmission, if there is one, and counts the packet. Only for the slow
    /// path; the engine calls it when the transmitter becomes free, when a packet arrives at an
    /// idle transmitter, and at the time of [`Served::Retry`]. Other calls are harmless.
    pub fn serve(&mut self, now: Time) -> Served {
        if self.burst > Dur::ZERO {
            return self.serve_by_bucket(now);
        }
        if self.transmitting && now < self.busy_until {
            // An arrival made the queue ready before the time it had asked for.
            return Served::Idle;
        }
        let first = self.drops.len();
        let next = self.queue.dequeue(now, &mut self.drops);
        self.count_drops(first);
        match next {
            Dequeued::Packet(packet, at) => {
                if packet.is_marked_here() {
                    self.counts.count_mark(packet.colour, packet.bytes);
                }
                self.count_sent(&packet, at, now);
                self.count_wire_bytes(packet.bytes, now);
                let was_idle = !std::mem::replace(&mut self.transmitting, true);
                self.retry_at = Time::ZERO;
                self.busy_until = self.transmit(packet.bytes, now, was_idle);
                self.depart(packet, at, now, (self.busy_until, self.busy_until + self.delay))
            }
            Dequeued::WaitUntil(time) => self.request_retry(now, time),
            Dequeued::Empty => {
                self.transmitting = false;
                Served::Idle
            }
        }
    }

    /// Asks to be served again at `time`, unless an earlier request is still pending; the
    /// transmitter is free until then.
    fn request_retry(&mut self, now: Time, time: Time) -> Served {
        self.transmitting = false;
        if now < self.retry_at && self.retry_at <= time {
            return Served::Idle;
        }
        self.retry_at = time;
        Served::Retry(time)
    }

    /// Does what [`Link::serve`] does, for a token bucket. The packet that leaves next stays in a
    /// FIFO until there are tokens for it. Any other queue gives it up at once, and it waits in
    /// `held`, as in Linux's tbf.
    fn serve_by_bucket(&mut self, now: Time) -> Served {
        let first = self.drops.len();
        let next = match self.queue.as_fifo() {
            Some(fifo) => fifo.head().map(|packet| packet.bytes),
            None => {
                if self.held.is_none() {
                    match self.queue.dequeue(now, &mut self.drops) {
                        Dequeued::Packet(packet, at) => self.held = Some((packet, at)),
                        Dequeued::WaitUntil(time) => {
                            self.count_drops(first);
                            return self.request_retry(now, time);
                        }
                        Dequeued::Empty => {}
                    }
                    self.count_drops(first);
                }
                self.held.map(|(packet, _)| packet.bytes)
            }
        };
        let Some(bytes) = next else {
            self.transmitting = false;
            return Served::Idle;
        };
        let ready = self.ready_at(bytes);
        if ready > now {
            return self.request_retry(now, ready);
        }
        let Some((packet, at)) = self.held.take().or_else(|| self.take_head(now)) else {
            return Served::Idle;
        };
        if packet.is_marked_here() {
            self.counts.count_mark(packet.colour, packet.bytes);
        }
        self.count_sent(&packet, at, now);
        self.count_wire_bytes(packet.bytes, now);
        self.take_tokens(packet.bytes, now);
        self.transmitting = false; // an arrival at the same time may leave at once, too
        self.retry_at = Time::ZERO;
        self.depart(packet, at, now, (now, now + self.delay))
    }

    /// Sends off a packet that reached the queue at `arrived` and left it at `now`. `times` are the
    /// time at which the transmitter is free and the arrival at the far end; a modem replaces the
    /// latter, and may drop the packet.
    fn depart(&mut self, mut packet: Packet, arrived: Time, now: Time, times: (Time, Time)) -> Served {
        let (free_at, arrives_at) = times;
        let Some(modem) = &mut self.modem else {
            return Served::Started { packet, free_at, arrives_at };
        };
        match modem.arrive(&mut packet, now) {
            Arrival::Arrives { start, at } => {
                if self.is_measured(start) {
                    self.counts.record_delay(start.since(arrived));
                }
                Served::Started { packet, free_at, arrives_at: at }
            }
            Arrival::Dropped | Arrival::Queued { .. } => {
                self.drops.extend(std::iter::from_fn(|| modem.take_drop()));
                Served::Lost { free_at }
            }
        }
    }

    /// Dequeues the head of a queue with its arrival time; `None` if it is empty. It serves FIFOs
    /// only, which drop nothing then.
    fn take_head(&mut self, now: Time) -> Option<(Packet, Time)> {
        match self.queue.dequeue(now, &mut self.drops) {
            Dequeued::Packet(packet, at) => Some((packet, at)),
            Dequeued::WaitUntil(_) | Dequeued::Empty => None,
        }
    }

    /// Returns one of the packets dropped here or in the modem and not yet taken, latest first;
    /// call it until it returns `None`.
    pub fn take_drop(&mut self) -> Option<Dropped> {
        self.drops.pop()
    }

    /// Counts an arrival that the policer before the queue has dropped, and stores it for
    /// [`Link::take_drop`].
    pub fn count_policer_drop(&mut self, packet: Packet) {
        self.counts.count_arrival(packet.colour, packet.bytes);
        self.note_drop(packet, DropReason::Policed);
    }

    /// Returns the packets and bytes of IP length waiting at `now`, in the modem's queue too,
    /// without one in transmission.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        let (packets, bytes) = self.queue_backlog(now);
        let behind = self.modem.as_mut().map_or((0, 0), |modem| modem.backlog(now));
        (packets + behind.0, bytes + behind.1)
    }

    /// Returns the packets and bytes waiting at `now` here, the modem's queue not included.
    fn queue_backlog(&mut self, now: Time) -> (u32, u64) {
        let (packets, bytes) = self.queue.backlog(now);
        match &self.held {
            Some((held, _)) => (packets + 1, bytes + u64::from(held.bytes)),
            None => (packets, bytes),
        }
    }

    /// Returns how many packets wait here whose arrival at the far end is not scheduled yet; 0 on
    /// the fast path.
    pub fn count_stored(&mut self, now: Time) -> u32 {
        if self.schedules_departures() { 0 } else { self.queue_backlog(now).0 }
    }

    /// Returns the counts before any event at `end`: a packet whose transmission starts then or
    /// later does not count as sent or marked. On the slow path this holds only if the caller asks
    /// at that time. With a modem they are those of both queues together.
    pub fn counts_before(&mut self, end: Time) -> [ColourCounts; 3] {
        let mut colours = self.counts.colours;
        if let Some(modem) = &mut self.modem {
            for (own, behind) in colours.iter_mut().zip(modem.counts_before(end)) {
                own.merge_downstream(&behind);
            }
        }
        if let Some(fifo) = self.queue.as_fifo().filter(|_| !self.slow) {
            let last = Time(end.0.saturating_sub(1));
            let waiting = fifo.waiting(last);
            for (index, counts) in colours.iter_mut().enumerate() {
                counts.sent.packets -= u64::from(waiting.colour_packets[index]);
                counts.sent.bytes -= waiting.colour_bytes[index];
            }
            for &(_, colour, bytes) in self.scheduled_marks.iter().filter(|(start, _, _)| *start >= end) {
                let marked = &mut colours[colour.index()].marked;
                marked.packets -= 1;
                marked.bytes -= u64::from(bytes);
            }
        }
        colours
    }

    /// Returns the queue's counts over the measured window; `begin` and `end` are those of
    /// [`Link::counts_before`] at its beginning and end. On a link that nobody shares, packets sent
    /// are those whose transmission started within the window.
    pub fn window_counts(&self, begin: &[ColourCounts; 3], end: &[ColourCounts; 3]) -> [ColourCounts; 3] {
        let mut counts: [ColourCounts; 3] = std::array::from_fn(|index| end[index].since(begin[index]));
        if let Queue::Unshared(links) = &self.queue {
            for (counts, (packets, bytes)) in counts.iter_mut().zip(links.sent()) {
                counts.sent = Count { packets, bytes };
            }
        }
        counts
    }

    /// Returns how long some packet was in transmission within the measured window, on a link that
    /// nobody shares; `None` for any other link.
    pub fn busy_time(&self) -> Option<Dur> {
        match &self.queue {
            Queue::Unshared(links) => Some(links.busy_time()),
            _ => None,
        }
    }

    /// Returns the bytes on the wire of the packets whose transmission started within the measured
    /// time, those of the modem if there is one; `None` without a link layer.
    pub fn wire_bytes(&self) -> Option<u64> {
        match &self.modem {
            Some(modem) => modem.wire_bytes(),
            None => self.wire.layer.map(|_| self.wire_bytes),
        }
    }

    /// Returns whether a packet's arrival at the far end is known when the packet reaches the link
    /// (the fast path).
    fn schedules_departures(&mut self) -> bool {
        matches!(self.queue, Queue::Unshared(_)) || !self.slow && self.queue.as_fifo().is_some()
    }

    /// Returns the queue, for traces, tests, and notifying it of connections.
    pub fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// Returns the time to transmit a packet of `bytes` of IP length.
    pub fn tx_time(&self, bytes: u32) -> Dur {
        self.pace.tx_time(self.wire.bytes(u64::from(bytes)))
    }

    /// Returns the bytes on the wire of so many packets with `bytes` of IP length in all, as if all
    /// had the same length.
    pub fn total_wire_bytes(&self, packets: u32, bytes: u64) -> u64 {
        let each = bytes.checked_div(u64::from(packets)).unwrap_or(0);
        u64::from(packets) * self.wire.bytes(each)
    }

    /// Returns how long from `now` on the transmitter needs for the packets that have arrived. For
    /// a token bucket it is how long packets wait for tokens. It is 0 on the slow path, which does
    /// not know.
    pub fn unfinished_work(&self, now: Time) -> Dur {
        if self.slow { Dur::ZERO } else { self.busy_until.since(now + self.burst) }
    }

    /// Counts a packet as sent that has reached the link at `arrived` and whose transmission starts
    /// at `start`; records its queueing delay if it starts within the measured window. With a modem
    /// the delay is recorded there.
    #[inline(always)]
    fn count_sent(&mut self, packet: &Packet, arrived: Time, start: Time) {
        self.counts.count_sent(packet.colour, packet.bytes);
        if self.modem.is_none() && self.is_measured(start) {
            self.counts.record_delay(start.since(arrived));
        }
    }

    /// Counts the bytes on the wire of a packet whose transmission starts at `start` within the measured time, if the
    /// link has a link layer.
    fn count_wire_bytes(&mut self, bytes: u16, start: Time) {
        if self.wire.layer.is_some() && self.is_measured(start) {
            self.wire_bytes += self.wire.bytes(u64::from(bytes));
        }
    }

    /// Returns whether a transmission that starts at `start` lies within the measured window.
    #[inline(always)]
    fn is_measured(&self, start: Time) -> bool {
        start.0.wrapping_sub(self.measured_from.0) < self.measured_for.0
    }

    /// Counts a mark on a packet whose transmission starts at `start`, and stores it for
    /// [`Link::counts_before`] (fast path).
    #[inline(never)]
    fn count_scheduled_mark(&mut self, packet: &Packet, now: Time, start: Time) {
        self.counts.count_mark(packet.colour, packet.bytes);
        while self.scheduled_marks.front().is_some_and(|(earlier, _, _)| *earlier < now) {
            self.scheduled_marks.pop_front();
        }
        self.scheduled_marks.push_back((start, packet.colour, packet.bytes));
    }

    /// Decides whether the next arrival at a faulty link is lost, and counts that arrival; draws a
    /// random number where losses are random.
    #[inline(never)]
    fn loses_next(&mut self) -> bool {
        let number = self.arrivals;
        self.arrivals += 1;
        self.fault.drop.binary_search(&number).is_ok()
            || (self.fault.bernoulli > 0.0 && self.fault_rng.uniform() < self.fault.bernoulli)
    }

    /// Counts a dropped packet and stores it for [`Link::take_drop`].
    fn note_drop(&mut self, packet: Packet, reason: DropReason) {
        self.counts.count_drop(packet.colour, packet.bytes, reason);
        self.drops.push(Dropped { packet, reason });
    }

    /// Counts the packets that the queue has added to the list of drops, from index `first` on.
    fn count_drops(&mut self, first: usize) {
        for index in first..self.drops.len() {
            let Dropped { packet, reason } = self.drops[index];
            self.counts.count_drop(packet.colour, packet.bytes, reason);
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rates from 1 bit/s to 1 Tb/s, those that divide evenly among them.
        #[test]
        fn tx_time__is_that_of_the_rate(
            rate in prop_oneof![1u64..=1_000_000_000_000, (0u32..=12).prop_map(|power| 10u64.pow(power)), 1u64..100],
            bytes in 0u64..=200_000,
        ) {
            prop_assert_eq!(Pace::new(Rate(rate)).tx_time(bytes), Rate(rate).tx_time(bytes));
        }
    }
}
