//! RED as in ns-2.35 (`oracle/semantics.md` 1.4, `use_mark_p_` off), for comparisons with its runs only.
//!
//! It differs from the paper's rule, which the policy follows, in these points. Nothing is dropped early
//! while at most one packet (or, counted in bytes, none) waits. The first arrival above min is never dropped
//! and counts as 1. A drop for any reason restarts the count, also one by a full buffer. Bytes since the last
//! drop count as whole mean packets, and a probability of 1 is not scaled with the packet's size. A queue
//! measured in bytes is full at `limit` mean packets of bytes.

use super::RedLine;
use crate::units::{Buffer, Dur, Time};
use mousehole_policy::{Backlog, Verdict};

/// Parameters and state.
#[derive(Debug, Clone)]
pub struct Ns2Red {
    spec: RedLine,
    limit: Buffer,
    /// In packets, or in bytes.
    average: f64,
    spacing: Spacing,
    /// The idle time that began then is in the average.
    counted: Time,
}

/// The state that spaces the drops of one line: arrivals and bytes since the last drop.
#[derive(Debug, Clone, Default)]
pub(super) struct Spacing {
    count: u64,
    count_bytes: u64,
    was_above: bool,
}

/// An arrival, and the state of the queue that it finds.
pub(super) struct Arrival {
    /// In mean packets.
    pub average: f64,
    /// Enough waits for an early drop.
    pub crowded: bool,
    pub bytes: u16,
    pub ect: bool,
    /// Uniform in [0, 1).
    pub u: f64,
}

impl Ns2Red {
    /// Returns RED at a buffer of `limit`.
    pub fn new(spec: RedLine, limit: Buffer) -> Ns2Red {
        Ns2Red { spec, limit, average: 0.0, spacing: Spacing::default(), counted: Time::NEVER }
    }

    /// Returns the average length in mean packets.
    pub fn average(&self) -> f64 {
        self.average / self.average_unit()
    }

    /// Judges an arrival that finds `backlog`, and updates average and spacing; `u` is uniform in
    /// [0, 1). A full buffer gives a forced drop.
    pub fn judge(&mut self, bytes: u16, ect: bool, backlog: &Backlog, now: Time, u: f64) -> Verdict {
        let length = if self.spec.queue_in_bytes { backlog.bytes } else { u64::from(backlog.packets) };
        self.update_average(length, Time(backlog.idle_since_ns), now);
        self.spacing.count(bytes);
        let arrival = Arrival { average: self.average(), crowded: length > 1, bytes, ect, u };
        let verdict = if is_full(&self.spec, self.limit, backlog, bytes) {
            Verdict::Forced
        } else {
            self.spacing.judge(&self.spec, &arrival)
        };
        if verdict != Verdict::Pass {
            self.spacing.restart();
        }
        verdict
    }

    /// Updates the average (an EWMA) by an arrival that finds `length`; idle time counts as slots
    /// of length 0, once.
    fn update_average(&mut self, length: u64, idle_since: Time, now: Time) {
        let is_idle = idle_since < now && idle_since != self.counted;
        let slots = if is_idle { idle_slots(&self.spec, now.since(idle_since)) } else { 0 };
        self.counted = idle_since;
        let keep = 1.0 - self.spec.w_q;
        self.average = self.average * libm::pow(keep, slots as f64 + 1.0) + self.spec.w_q * length as f64;
    }

    /// Returns the unit of the average: bytes of a mean packet, or 1 where packets are counted.
    fn average_unit(&self) -> f64 {
        if self.spec.queue_in_bytes { self.spec.mean_packet_bytes } else { 1.0 }
    }
}

impl Spacing {
    /// Counts one more arrival.
    pub fn count(&mut self, bytes: u16) {
        self.count += 1;
        self.count_bytes += u64::from(bytes);
    }

    /// Restarts the spacing: the next drop is as far away as after a drop.
    pub fn restart(&mut self) {
        (self.count, self.count_bytes) = (0, 0);
    }

    /// Judges an arrival that was counted, by the line of `spec`; it does not restart the spacing
    /// after a drop. The first arrival above the lower threshold passes and restarts it.
    pub fn judge(&mut self, spec: &RedLine, arrival: &Arrival) -> Verdict {
        let &Arrival { average, crowded, bytes, ect, u } = arrival;
        if average < spec.min_packets || !crowded {
            self.was_above = false;
            return Verdict::Pass;
        }
        if average >= if spec.gentle { 2.0 * spec.max_packets } else { spec.max_packets } {
            return Verdict::Forced;
        }
        if !self.was_above {
            self.was_above = true;
            (self.count, self.count_bytes) = (1, u64::from(bytes));
            return Verdict::Pass;
        }
        match u <= self.drop_probability(spec, base_probability(spec, average), bytes) {
            false => Verdict::Pass,
            true if spec.ecn && ect => Verdict::Mark,
            true => Verdict::Early,
        }
    }

    /// Returns the probability of a drop, 0 to 1 before scaling by size, spaced by the arrivals or
    /// bytes since the last one; `base` is that of the average.
    fn drop_probability(&self, spec: &RedLine, base: f64, bytes: u16) -> f64 {
        let mean = spec.mean_packet_bytes;
        let count = if spec.byte_mode { self.count_bytes / mean as u64 } else { self.count };
        let expected = count as f64 * base;
        let end = if spec.wait { 2.0 } else { 1.0 };
        let spaced = match expected {
            soon if spec.wait && soon < 1.0 => 0.0,
            due if due >= end => 1.0,
            _ => base / (end - expected),
        };
        if spec.byte_mode && spaced < 1.0 { spaced * f64::from(bytes) / mean } else { spaced }
    }
}

/// Returns the probability that the line gives an average, in mean packets, at or above
/// `min_packets`.
fn base_probability(spec: &RedLine, average: f64) -> f64 {
    let &RedLine { min_packets, max_packets, max_p, .. } = spec;
    if average >= max_packets {
        (1.0 - max_p) / max_packets * average + 2.0 * max_p - 1.0
    } else {
        max_p * (average - min_packets) / (max_packets - min_packets)
    }
}

/// Returns whether an arrival of `bytes` finds no room; a packet limit counts mean packets of bytes
/// where the queue is measured in bytes.
pub(super) fn is_full(spec: &RedLine, limit: Buffer, backlog: &Backlog, bytes: u16) -> bool {
    match limit {
        Buffer::Packets(limit) if spec.queue_in_bytes => {
            backlog.bytes as f64 >= f64::from(limit) * spec.mean_packet_bytes
        }
        Buffer::Packets(limit) => backlog.packets >= limit,
        Buffer::Bytes(limit) => backlog.bytes + u64::from(bytes) > limit,
    }
}

/// Returns how many mean packets the link could have sent in the time `idle`, rounded down.
pub(super) fn idle_slots(spec: &RedLine, idle: Dur) -> u64 {
    let bits = u128::from(idle.0) * spec.rate_bps as u128;
    (bits / (8_000_000_000 * spec.mean_packet_bytes as u128)) as u64
}
