//! PIE: drops arrivals with a probability that a controller adjusts to the queueing delay.
//!
//! RFC 8033: the basic scheme (its Appendix A) and, as options, ECN, the departure-rate estimate,
//! de-randomised drops and the cap on steps (its Appendix B). Defaults are the RFC's. A comparator, hence in Rust.
//!
//! The delay is the sojourn time of the packet that left last, zero when nothing waits (time stamps, which
//! the RFC allows and Linux does), or bytes waiting over the estimated departure rate.
//!
//! The probability is updated every 15 ms. Between two packets nothing it depends on can change, so the updates are
//! made when the queue is next used. The result is the same as with a timer, which a test asserts.
//!
//! Deviations: the RFC's switching on and off with the queue's length (section 5.3) is left out: PIE is
//! always on, and decays as its Appendix A does. A delay is zero as soon as nothing waits, where Appendix A
//! uses the last packet's. De-randomisation starts to count when the burst allowance has ended, Appendix B
//! counts during it. The RFC gives no mean packet; ours has 1500 bytes.

use super::packet_fifo::PacketFifo;
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::packet::{Packet, flag};
use crate::rng::Stream;
use crate::units::{Buffer, Dur, Time};

/// How the queueing delay is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delay {
    /// Packets are stamped when they arrive.
    #[default]
    Timestamp,
    /// Bytes waiting over the departure rate, measured over 16 KiB at a time.
    DepartureRate,
}

/// Parameters (RFC 8033).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Delay to hold, `QDELAY_REF`.
    pub target: Dur,
    /// Time between steps of the controller, `T_UPDATE`; longer than zero.
    pub period: Dur,
    /// Length of a burst during which nothing is dropped, `MAX_BURST`.
    pub burst: Dur,
    /// Weight of the delay's distance from the target, per second.
    pub alpha: f64,
    /// Weight of the delay's change, per second.
    pub beta: f64,
    /// Two of these may always wait, `MEAN_PKTSIZE`, bytes.
    pub mean_packet: u32,
    /// Arrivals beyond this are dropped.
    pub limit: Buffer,
    /// Mark ECT packets while the probability is below `mark_ecnth`.
    pub ecn: bool,
    /// Probability from which ECT packets are dropped all the same.
    pub mark_ecnth: f64,
    /// How the delay is measured.
    pub delay: Delay,
    /// Space drops evenly: none before the sum of probabilities is 0.85, one for certain at 8.5.
    pub derandomise: bool,
    /// From a probability of 0.1 let it rise by at most 0.02 at a step.
    pub cap: bool,
}

impl Default for Params {
    /// Returns RFC 8033's values, with a mean packet of 1500 bytes and a limit of 1000 packets.
    fn default() -> Params {
        Params {
            target: Dur::from_millis(15),
            period: Dur::from_millis(15),
            burst: Dur::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mean_packet: 1500,
            limit: Buffer::Packets(1000),
            ecn: true,
            mark_ecnth: 0.1,
            delay: Delay::Timestamp,
            derandomise: false,
            cap: false,
        }
    }
}

/// The controller's state: the drop probability, the last delay, and the rest of the burst allowance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Controller {
    /// Probability that an arrival is dropped.
    pub probability: f64,
    /// Delay seen at the last step, in seconds.
    pub delay_s: f64,
    /// Time for which nothing is dropped.
    pub burst: Dur,
}

impl Controller {
    /// Takes one step: updates the probability at the present delay `delay_s` (RFC 8033,
    /// `calculate_drop_prob`), and shortens the burst allowance by a period. The probability stays
    /// within 0 and 1, and decays while nothing is delayed.
    pub fn step(&mut self, params: &Params, delay_s: f64) {
        let off = delay_s - params.target.as_secs();
        let mut change = params.alpha * off + params.beta * (delay_s - self.delay_s);
        change *= step_scale(self.probability);
        if params.cap && self.probability >= 0.1 {
            change = change.min(0.02);
        }
        self.probability += change;
        if delay_s == 0.0 && self.delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_s = delay_s;
        self.burst = self.burst - params.period;
    }

    /// Returns whether there was no congestion at the last step: the probability is 0 and the delay below
    /// half the target.
    fn is_calm(&self, params: &Params) -> bool {
        self.probability == 0.0 && self.delay_s < params.target.as_secs() / 2.0
    }
}

/// Returns the factor of a step, 1/2048 to 1: small probabilities take small steps (the auto-tuning
/// table of RFC 8033).
fn step_scale(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (1e-6, 1.0 / 2048.0),
        (1e-5, 1.0 / 512.0),
        (1e-4, 1.0 / 128.0),
        (1e-3, 1.0 / 32.0),
        (1e-2, 1.0 / 8.0),
        (1e-1, 1.0 / 2.0),
    ];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, factor)| *factor)
}

/// The departure rate as time per 16 KiB (RFC 8033 section 5.2; the order of steps is that of its Appendix B).
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    since: Option<Time>,
    bytes: u64,
    average_s: f64,
}

/// Bytes over which the departure rate is measured.
const MEASURED: u64 = 1 << 14;

impl Rate {
    /// Records the departure of a packet of `bytes` that leaves `waiting` bytes behind, and ends or
    /// starts a measurement where enough bytes left or wait. A measurement that starts with it does
    /// not count it.
    fn record_departure(&mut self, bytes: u64, waiting: u64, now: Time) {
        self.bytes += bytes;
        if let Some(since) = self.since.filter(|_| self.bytes >= MEASURED) {
            let took = now.since(since).as_secs();
            let weight = if self.average_s == 0.0 { 1.0 } else { 0.25 };
            self.average_s += weight * (took - self.average_s);
            self.since = None;
        }
        if self.since.is_none() && waiting >= MEASURED {
            (self.since, self.bytes) = (Some(now), 0);
        }
    }

    /// Returns how long `waiting` bytes take at the estimated rate, in seconds; 0 before the first
    /// estimate.
    fn delay_s(&self, waiting: u64) -> f64 {
        waiting as f64 * self.average_s / MEASURED as f64
    }
}

/// A FIFO under PIE.
pub struct Pie {
    params: Params,
    fifo: PacketFifo,
    controller: Controller,
    next_step: Time,
    sojourn_s: f64,
    rate: Rate,
    accumulated: f64,
}

impl Pie {
    /// Returns an empty queue that drops nothing yet; the first step is one period after time zero.
    pub fn new(params: Params) -> Pie {
        Pie {
            params,
            fifo: PacketFifo::default(),
            controller: Controller { probability: 0.0, delay_s: 0.0, burst: params.burst },
            next_step: Time::ZERO + params.period,
            sojourn_s: 0.0,
            rate: Rate::default(),
            accumulated: 0.0,
        }
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        let occupancy = self.fifo.occupancy();
        (occupancy.packets, occupancy.bytes)
    }

    /// Returns the controller, for traces and tests.
    pub fn controller(&self) -> Controller {
        self.controller
    }

    /// Takes the steps that are due by `now`, at the present delay; the other calls do so
    /// themselves.
    pub fn advance(&mut self, now: Time) {
        while self.next_step <= now {
            let before = self.controller;
            self.controller.step(&self.params, self.delay_s());
            self.next_step += self.params.period;
            if self.controller == before {
                // The step changed nothing, and no packet comes before `now`: the remaining steps change nothing.
                let rest = now.since(self.next_step).0 / self.params.period.0;
                self.next_step += Dur(rest * self.params.period.0);
            }
        }
    }

    /// Queues an arrival, marked if PIE would drop it and may mark, or adds it to `drops`. Nothing
    /// is dropped early during the burst allowance. A number of `rng` is drawn only where chance
    /// decides.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        self.advance(now);
        let params = &self.params;
        if self.controller.is_calm(params) && self.delay_s() < params.target.as_secs() / 2.0 {
            self.controller.burst = params.burst;
        }
        let reason = if self.fifo.occupancy().is_full_for(&packet, params.limit) {
            DropReason::Forced
        } else if self.controller.burst > Dur::ZERO || !self.drops_by_chance(rng) {
            return self.fifo.push(packet, now);
        } else if self.params.ecn
            && packet.has(flag::ECT)
            && self.controller.probability < self.params.mark_ecnth
        {
            packet.flags |= flag::CE;
            return self.fifo.push(packet, now);
        } else {
            DropReason::Early
        };
        self.accumulated = 0.0;
        drops.push(Dropped { packet, reason });
    }

    /// Returns the next packet with its arrival time, and updates delay and departure rate;
    /// [`Dequeued::Empty`] if none waits.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        self.advance(now);
        let Some((packet, at)) = self.fifo.pop() else { return Dequeued::Empty };
        self.sojourn_s = now.since(at).as_secs();
        self.rate.record_departure(u64::from(packet.bytes), self.fifo.occupancy().bytes, now);
        Dequeued::Packet(packet, at)
    }

    /// Returns the present queueing delay in seconds, as it is measured; 0 if nothing waits.
    fn delay_s(&self) -> f64 {
        match self.params.delay {
            _ if self.fifo.is_empty() => 0.0,
            Delay::Timestamp => self.sojourn_s,
            Delay::DepartureRate => self.rate.delay_s(self.fifo.occupancy().bytes),
        }
    }

    /// Returns whether an arrival is dropped by chance (RFC 8033, `drop_early`); de-randomised, it
    /// adds up the probability. A short queue or a short delay drops nothing and draws nothing.
    fn drops_by_chance(&mut self, rng: &mut Stream) -> bool {
        let Controller { probability, delay_s, .. } = self.controller;
        let is_short = self.fifo.occupancy().bytes <= 2 * u64::from(self.params.mean_packet);
        if is_short || (delay_s < self.params.target.as_secs() / 2.0 && probability < 0.2) {
            return false;
        }
        if !self.params.derandomise {
            return rng.uniform() < probability;
        }
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        let takes = self.accumulated >= 8.5 || (self.accumulated >= 0.85 && rng.uniform() < probability);
        if takes {
            self.accumulated = 0.0;
        }
        takes
    }
}
