//! Multi-RED as in ns-2.35's DiffServ queue (`oracle/semantics.md` 1.3), for comparisons with its runs only.
//!
//! It differs from the papers' rule, which the policy (`multi_red.h`) follows, in these points. Nothing is
//! dropped by chance once `count * p_b > 1`, so that the next drop waits until the average is beyond max. An
//! average of exactly max is not beyond it. An ECN-capable packet is marked, never dropped. Each colour's
//! part of a coupled average has that colour's weight. In total mode the queue counts as idle from the
//! departure of the last packet of any colour to the next packet accepted, although others wait. Idle time
//! counts again at every arrival that is dropped meanwhile. Thresholds are whole packets. Averages are 32-bit
//! floats.

use super::RedLine;
use super::ns2_red::idle_slots;
use crate::packet::Colour;
use crate::units::Time;
use mousehole_policy::{Backlog, Verdict};
use std::ops::Range;

/// Decays counted one by one, as ns-2 rounds them; the rest of a very long idle time is a power.
const ROUNDED_SLOTS: u64 = 10_000;

/// The queue length by which a colour is judged; the same as `mode` of `multi_red.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The packets of this and of better colours (RIO-C).
    Coupled,
    /// The packets of this colour alone (RIO-D).
    Decoupled,
    /// All packets, with one average for all (WRED).
    Total,
}

/// Parameters and state.
#[derive(Debug, Clone)]
pub struct Ns2DsRed {
    mode: Mode,
    levels: Vec<Level>,
}

/// One virtual queue.
#[derive(Debug, Clone)]
struct Level {
    spec: RedLine,
    average: f32,
    count: i64,
    idle_since: Option<Time>,
}

impl Ns2DsRed {
    /// Returns one virtual queue for each line, best colour first; one to three. It reads the
    /// thresholds, of which it drops fractions, `max_p`, `w_q`, mean packet, rate and ECN of a
    /// line.
    pub fn new(mode: Mode, lines: &[RedLine]) -> Ns2DsRed {
        let levels = lines.iter().map(|spec| Level {
            spec: RedLine {
                min_packets: spec.min_packets.trunc(),
                max_packets: spec.max_packets.trunc(),
                ..*spec
            },
            average: 0.0,
            count: 0,
            idle_since: Some(Time::ZERO),
        });
        Ns2DsRed { mode, levels: levels.collect() }
    }

    /// Returns the average by which `colour` is judged, in packets.
    pub fn average(&self, colour: Colour) -> f64 {
        f64::from(self.levels[self.averages_to_update(self.level_of(colour)).start].average)
    }

    /// Judges an arrival that finds `waiting`, and updates the averages that it belongs to; `u` is
    /// uniform in [0, 1). The caller marks or drops.
    pub fn judge(&mut self, colour: Colour, ect: bool, waiting: &Backlog, now: Time, u: f64) -> Verdict {
        let own = self.level_of(colour);
        for index in self.averages_to_update(own) {
            self.update_average(index, waiting, now);
        }
        let average = self.average(colour);
        let hit = self.levels[own].judge_average(average, u);
        let verdict = if ect && self.levels[own].spec.ecn && hit.drops() { Verdict::Mark } else { hit };
        if !verdict.drops() {
            let range = self.averages_to_update(own);
            self.levels[range].iter_mut().for_each(|level| level.idle_since = None);
        }
        verdict
    }

    /// Records that a packet of `colour` started transmission and left `after` waiting: levels that
    /// are empty now are idle from `now` on.
    pub fn record_departure(&mut self, colour: Colour, after: &Backlog, now: Time) {
        let own = self.level_of(colour);
        let is_empty = |index: usize| self.level_length(index, after) == 0;
        let idle = match self.mode {
            _ if !is_empty(own) => 0..0,
            Mode::Total => 0..1,
            Mode::Decoupled => own..own + 1,
            Mode::Coupled if !(0..own).all(is_empty) => 0..0,
            Mode::Coupled => {
                own..(own..self.levels.len()).find(|&index| !is_empty(index)).unwrap_or(self.levels.len())
            }
        };
        self.levels[idle].iter_mut().for_each(|level| level.idle_since = Some(now));
    }

    /// Returns the index of the virtual queue of a colour; the last one takes all colours beyond
    /// it.
    fn level_of(&self, colour: Colour) -> usize {
        colour.index().min(self.levels.len() - 1)
    }

    /// Returns the indices of the averages that an arrival at level `own` belongs to; the first is
    /// the one that judges it.
    fn averages_to_update(&self, own: usize) -> Range<usize> {
        match self.mode {
            Mode::Coupled => own..self.levels.len(),
            Mode::Decoupled => own..own + 1,
            Mode::Total => 0..1,
        }
    }

    /// Returns the number of waiting packets of a level; the last level includes all colours beyond
    /// it.
    fn level_length(&self, index: usize, waiting: &Backlog) -> u32 {
        let of = |colour: &&Colour| self.level_of(**colour) == index;
        Colour::ALL.iter().filter(of).map(|colour| waiting.colour_packets[colour.index()]).sum()
    }

    /// Updates the average of a level by an arrival that finds `waiting`; idle time decays it
    /// first.
    fn update_average(&mut self, index: usize, waiting: &Backlog, now: Time) {
        let level = &self.levels[index];
        let idle = level.idle_since.map_or(0, |since| idle_slots(&level.spec, now.since(since)));
        let mut average = level.decayed_average(idle + 1);
        let mut add = |w_q: f64, length: u32| {
            average = (f64::from(average) + w_q * f64::from(length)) as f32;
        };
        match self.mode {
            Mode::Decoupled => add(level.spec.w_q, self.level_length(index, waiting)),
            Mode::Total => add(level.spec.w_q, waiting.packets),
            Mode::Coupled => {
                (0..=index)
                    .for_each(|part| add(self.levels[part].spec.w_q, self.level_length(part, waiting)));
            }
        }
        self.levels[index].average = average;
    }
}

impl Level {
    /// Returns the average in packets after so many slots with an empty queue, rounded in each as
    /// ns-2 does.
    fn decayed_average(&self, slots: u64) -> f32 {
        let keep = 1.0 - self.spec.w_q;
        let rounded =
            (0..slots.min(ROUNDED_SLOTS)).fold(self.average, |average, _| (f64::from(average) * keep) as f32);
        match slots.saturating_sub(ROUNDED_SLOTS) {
            0 => rounded,
            rest => (f64::from(rounded) * libm::pow(keep, rest as f64)) as f32,
        }
    }

    /// Judges an arrival at this average, in packets, by the level's line, and counts it towards
    /// the spacing of drops; `u` is uniform in [0, 1).
    fn judge_average(&mut self, average: f64, u: f64) -> Verdict {
        let RedLine { min_packets: min, max_packets: max, max_p, .. } = self.spec;
        if average <= min {
            self.count = -1;
            return Verdict::Pass;
        }
        if average > max {
            self.count = 0;
            return Verdict::Forced;
        }
        self.count += 1;
        let base = max_p * (average - min) / (max - min);
        if u > base / (1.0 - self.count as f64 * base) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Early
    }
}
