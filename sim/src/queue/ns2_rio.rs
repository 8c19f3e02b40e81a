//! RIO as in ns-2.35's `Queue/RED/RIO` (`oracle/semantics.md` 1.5), for comparisons with its runs only.
//!
//! It applies [`super::Ns2Red`]'s rule twice: to IN by the average of IN packets, to OUT by the average of
//! all. It differs from that rule in these points. Both averages, and the idle time by which they decay, are
//! updated when an IN packet arrives and never when an OUT packet does. IN's idle time starts when the queue
//! was last found empty, even if OUT packets have passed since. A drop of any kind restarts IN's count; only
//! an early drop restarts OUT's. The least backlog for an early drop is of IN packets for IN, and of all
//! packets for OUT. Packets are counted, never bytes.

use super::RedLine;
use super::ns2_red::{Arrival, Spacing, idle_slots, is_full};
use crate::packet::Colour;
use crate::units::{Buffer, Time};
use mousehole_policy::{Backlog, Verdict};

/// Parameters and state.
#[derive(Debug, Clone)]
pub struct Ns2Rio {
    limit: Buffer,
    inside: Line,
    out: Line,
    /// When the queue was last found empty.
    emptied: Time,
}

/// One of the two REDs.
#[derive(Debug, Clone)]
struct Line {
    spec: RedLine,
    average: f64,
    spacing: Spacing,
    /// The idle time that began then is in the average.
    counted: Time,
}

impl Ns2Rio {
    /// Returns RIO at a buffer of `limit`; all colours but green are OUT. The lines' `byte_mode`
    /// and `queue_in_bytes` are ignored.
    pub fn new(inside: RedLine, out: RedLine, limit: Buffer) -> Ns2Rio {
        Ns2Rio { limit, inside: Line::new(inside), out: Line::new(out), emptied: Time::ZERO }
    }

    /// Returns the average by which `colour` is judged, in packets: of IN, or of all.
    pub fn average(&self, colour: Colour) -> f64 {
        if colour == Colour::Green { self.inside.average } else { self.out.average }
    }

    /// Judges an arrival (colour, IP bytes, whether it is ECN-capable) that finds `backlog`; `u` is
    /// uniform in [0, 1). Only an IN packet updates the averages. A full buffer gives a forced
    /// drop.
    pub fn judge(
        &mut self,
        (colour, bytes, ect): (Colour, u16, bool),
        backlog: &Backlog,
        now: Time,
        u: f64,
    ) -> Verdict {
        let idle_since = Time(backlog.idle_since_ns);
        let is_idle = idle_since <= now;
        if is_idle {
            self.emptied = idle_since;
        }
        let is_in = colour == Colour::Green;
        let in_waiting = backlog.colour_packets[Colour::Green.index()];
        if is_in {
            self.inside.update_average(in_waiting, Some(self.emptied), now);
            self.out.update_average(backlog.packets, is_idle.then_some(idle_since), now);
        }
        let (line, found) =
            if is_in { (&mut self.inside, in_waiting) } else { (&mut self.out, backlog.packets) };
        line.spacing.count(bytes);
        let arrival = Arrival { average: line.average, crowded: found > 1, bytes, ect, u };
        let judged = line.spacing.judge(&line.spec, &arrival);
        let is_full = is_full(&line.spec, self.limit, backlog, bytes);
        let verdict = if is_full && !judged.drops() { Verdict::Forced } else { judged };
        if matches!(judged, Verdict::Early | Verdict::Mark) || is_in && verdict.drops() {
            line.spacing.restart();
        }
        verdict
    }
}

impl Line {
    /// Returns a RED that counts packets, whose queue has been empty so far.
    fn new(spec: RedLine) -> Line {
        let spec = RedLine { byte_mode: false, queue_in_bytes: false, ..spec };
        Line { spec, average: 0.0, spacing: Spacing::default(), counted: Time::NEVER }
    }

    /// Updates the average (an EWMA) by an arrival that finds `length`; idle time since
    /// `idle_since` counts as slots of length 0, once.
    fn update_average(&mut self, length: u32, idle_since: Option<Time>, now: Time) {
        let since = idle_since.filter(|since| *since != self.counted);
        let slots = since.map_or(0, |since| idle_slots(&self.spec, now.since(since)));
        self.counted = idle_since.unwrap_or(self.counted);
        let keep = libm::pow(1.0 - self.spec.w_q, slots as f64 + 1.0);
        self.average = self.average * keep + self.spec.w_q * f64::from(length);
    }
}
