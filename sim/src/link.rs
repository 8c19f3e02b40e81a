//! A link: a queue, a transmitter and a propagation delay, and faults on demand.

use crate::drop_reason::DropReason;
use crate::packet::{Packet, flag};
use crate::queue::{Dequeued, Dropped, Queue};
use crate::record::{ColourCounts, QueueCounts};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Rate, Time};

/// Losses on purpose, before the queue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fault {
    /// Arrivals to lose, by their number from 0, rising.
    pub drop: Vec<u64>,
    /// Every arrival is lost with this probability.
    pub bernoulli: f64,
}

/// What became of a packet that reached a link.
#[derive(Debug, Clone, Copy)]
pub enum Arrival {
    /// It reaches the far end at this time (one event per hop).
    Arrives(Time),
    /// It waits in the queue; if the transmitter was idle, it must be served now.
    Queued {
        /// Whether the transmitter is idle.
        serve: bool,
    },
    /// It was dropped; `drops` of the link tells.
    Dropped,
}

/// A rate that knows transmission times without dividing: several are needed per packet, and a division takes
/// as long as twenty additions.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    rate: Rate,
    /// `2^64 / rate`, rounded down.
    inverse: u64,
}

impl Pace {
    /// The pace of `rate`, which is not 0.
    pub fn new(rate: Rate) -> Pace {
        Pace { rate, inverse: u64::MAX / rate.0 }
    }

    /// Exactly [`Rate::tx_time`].
    #[inline]
    pub fn tx_time(&self, bytes: u64) -> Dur {
        let bit_ns = bytes * 8_000_000_000 + self.rate.0 / 2;
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
    fault_rng: Stream,
    rng: Stream,
    arrivals: u64,
    /// Until then the transmitter is busy.
    busy_until: Time,
    /// The slow path is used even where the fast one would do.
    slow: bool,
    /// A packet is in transmission (slow path).
    transmitting: bool,
    /// The queue is to be asked again then, and that is promised already.
    wake: Time,
    /// Extra bytes per packet on the wire.
    overhead: u32,
    drops: Vec<Dropped>,
}

impl Link {
    /// A link with its queue; `id` names its random draws under `seed`.
    pub fn new(name: &str, id: u64, rate: Rate, delay: Dur, queue: Queue, seed: u64) -> Link {
        Link {
            name: name.to_string(),
            rate,
            delay,
            counts: QueueCounts::default(),
            queue,
            pace: Pace::new(rate),
            fault: Fault::default(),
            fault_rng: Stream::new(seed, Purpose::Fault, id),
            rng: Stream::new(seed, Purpose::Queue, id),
            arrivals: 0,
            busy_until: Time::ZERO,
            slow: false,
            transmitting: false,
            wake: Time::ZERO,
            overhead: 0,
            drops: Vec::new(),
        }
    }

    /// The same link with faults, extra bytes per packet, and optionally without the fast path.
    pub fn with(mut self, fault: Fault, overhead: u32, slow: bool) -> Link {
        (self.fault, self.overhead, self.slow) = (fault, overhead, slow);
        self
    }

    /// Sets the extra bytes per packet on the wire.
    pub fn set_overhead(&mut self, overhead: u32) {
        self.overhead = overhead;
    }

    /// Takes a packet.
    #[inline(always)]
    pub fn arrive(&mut self, packet: &mut Packet, now: Time) -> Arrival {
        self.counts.arrived(packet.colour, packet.bytes);
        let number = self.arrivals;
        self.arrivals += 1;
        packet.was_marked = packet.has(flag::CE);
        if self.is_faulty() && self.loses(number) {
            self.note_drop(*packet, DropReason::Fault);
            return Arrival::Dropped;
        }
        match self.queue.as_fifo() {
            Some(fifo) if !self.slow => match fifo.pass(packet, now, self.busy_until, &mut self.rng) {
                Err(reason) => {
                    self.note_drop(*packet, reason);
                    Arrival::Dropped
                }
                Ok(start) => {
                    if packet.has(flag::CE) && !packet.was_marked {
                        self.counts.marked(packet.colour, packet.bytes);
                    }
                    self.counts.sent(packet.colour, packet.bytes, start.since(now).0);
                    self.busy_until = start + self.tx_time(u32::from(packet.bytes));
                    Arrival::Arrives(self.busy_until + self.delay)
                }
            },
            _ => self.arrive_slowly(*packet, now),
        }
    }

    fn arrive_slowly(&mut self, packet: Packet, now: Time) -> Arrival {
        if let Queue::Unshared(links) = &mut self.queue {
            let duration = self.pace.tx_time(u64::from(packet.bytes) + u64::from(self.overhead));
            let start = links.pass(&packet, now, duration);
            self.counts.sent(packet.colour, packet.bytes, start.since(now).0);
            return Arrival::Arrives(start + duration + self.delay);
        }
        let first = self.drops.len();
        self.queue.enqueue(packet, now, &mut self.rng, &mut self.drops);
        self.count_drops(first);
        Arrival::Queued { serve: !self.transmitting }
    }

    /// Starts the next transmission: the packet, when the transmitter is free again, and when it arrives;
    /// or the time to ask again, unless that is promised already.
    pub fn serve(&mut self, now: Time) -> Result<(Packet, Time, Time), Option<Time>> {
        if self.transmitting && now < self.busy_until {
            // An arrival made the queue ready before the time it had asked for.
            return Err(None);
        }
        let first = self.drops.len();
        let next = self.queue.dequeue(now, &mut self.drops);
        self.count_drops(first);
        match next {
            Dequeued::Packet(packet, at) => {
                if packet.has(flag::CE) && !packet.was_marked {
                    self.counts.marked(packet.colour, packet.bytes);
                }
                self.counts.sent(packet.colour, packet.bytes, now.since(at).0);
                self.transmitting = true;
                self.wake = Time::ZERO;
                self.busy_until = now + self.tx_time(u32::from(packet.bytes));
                Ok((packet, self.busy_until, self.busy_until + self.delay))
            }
            Dequeued::WaitUntil(time) => {
                self.transmitting = false;
                if now < self.wake && self.wake <= time {
                    return Err(None);
                }
                self.wake = time;
                Err(Some(time))
            }
            Dequeued::Empty => {
                self.transmitting = false;
                Err(None)
            }
        }
    }

    /// Takes the packets dropped since the last call.
    pub fn take_drop(&mut self) -> Option<Dropped> {
        self.drops.pop()
    }

    /// A policer dropped an arrival before the queue.
    pub fn police_drop(&mut self, packet: Packet) {
        self.counts.arrived(packet.colour, packet.bytes);
        self.note_drop(packet, DropReason::Policed);
    }

    /// Packets and bytes waiting.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        self.queue.backlog(now)
    }

    /// Counts at `now`; a packet whose departure is promised for later is not sent yet.
    pub fn counts_at(&mut self, now: Time) -> [ColourCounts; 3] {
        let mut colours = self.counts.colours;
        if let Some(fifo) = self.queue.as_fifo().filter(|_| !self.slow) {
            let waiting = fifo.waiting(now);
            for (index, counts) in colours.iter_mut().enumerate() {
                counts.sent.packets -= u64::from(waiting.packets[index]);
                counts.sent.bytes -= waiting.bytes[index];
            }
        }
        colours
    }

    /// Whether a packet counts as sent at its arrival already (the fast path).
    pub fn promises_departures(&mut self) -> bool {
        matches!(self.queue, Queue::Unshared(_)) || !self.slow && self.queue.as_fifo().is_some()
    }

    /// The queue, for traces and tests.
    pub fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// Time to put a packet of `bytes` of IP length on the wire.
    pub fn tx_time(&self, bytes: u32) -> Dur {
        self.pace.tx_time(u64::from(bytes) + u64::from(self.overhead))
    }

    /// How long the transmitter is busy with what it has taken by `now`; 0 on the slow path, which does not tell.
    pub fn work(&self, now: Time) -> Dur {
        if self.slow { Dur::ZERO } else { self.busy_until.since(now) }
    }

    fn is_faulty(&self) -> bool {
        self.fault.bernoulli > 0.0 || !self.fault.drop.is_empty()
    }

    fn loses(&mut self, number: u64) -> bool {
        self.fault.drop.binary_search(&number).is_ok()
            || (self.fault.bernoulli > 0.0 && self.fault_rng.uniform() < self.fault.bernoulli)
    }

    fn note_drop(&mut self, packet: Packet, reason: DropReason) {
        self.counts.dropped(packet.colour, packet.bytes, reason);
        self.drops.push(Dropped { packet, reason });
    }

    fn count_drops(&mut self, first: usize) {
        for index in first..self.drops.len() {
            let Dropped { packet, reason } = self.drops[index];
            self.counts.dropped(packet.colour, packet.bytes, reason);
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
        fn pace__is_the_rates_own_transmission_time(
            rate in prop_oneof![1u64..=1_000_000_000_000, (0u32..=12).prop_map(|power| 10u64.pow(power)), 1u64..100],
            bytes in 0u64..=200_000,
        ) {
            prop_assert_eq!(Pace::new(Rate(rate)).tx_time(bytes), Rate(rate).tx_time(bytes));
        }
    }
}
