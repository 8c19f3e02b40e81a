//! The reference models: the formulae of the headers' comments in f64, written for clarity, not speed.

use crate::common::specs::{self, Mode};
use mousehole_policy::{Backlog, COLOURS, Colour, Verdict, View};
use std::collections::VecDeque;

/// RED in floats; lengths in mean packets, times in ns.
#[derive(Clone)]
pub struct Red {
    pub spec: specs::Red,
    pub avg: f64,
    pub count: Option<f64>,
    pub idle_from_ns: u64,
}

impl Red {
    pub fn new(spec: specs::Red) -> Red {
        Red { spec, avg: 0.0, count: None, idle_from_ns: 0 }
    }

    /// Returns the queue's length in mean packets.
    pub fn length(&self, packets: u32, bytes: u64) -> f64 {
        if self.spec.queue_in_bytes {
            return bytes as f64 / self.spec.mean_packet_bytes;
        }
        f64::from(packets)
    }

    /// Updates the average for an arrival that finds `queue` mean packets, after `idle_ns` of idle time.
    pub fn update(&mut self, queue: f64, idle_ns: u64) {
        let slot_ns = self.spec.mean_packet_bytes * 8e9 / self.spec.rate_bps;
        let slots = (idle_ns as f64 / slot_ns).floor();
        if slots > 0.0 {
            self.avg *= libm::exp(libm::log1p(-self.spec.w_q) * slots);
        }
        self.avg += self.spec.w_q * (queue - self.avg);
    }

    /// Returns the base probability p_b at an average.
    pub fn base(&self, avg: f64) -> f64 {
        let specs::Red { min_packets: min, max_packets: max, max_p, gentle, .. } = self.spec;
        match avg {
            avg if avg < min => 0.0,
            avg if avg < max => max_p * (avg - min) / (max - min),
            avg if gentle && avg < 2.0 * max => max_p + (1.0 - max_p) * (avg - max) / max,
            _ => 1.0,
        }
    }

    /// Returns a packet's weight in the count since the last drop.
    pub fn weight(&self, view: &View) -> f64 {
        if self.spec.byte_mode {
            return f64::from(view.ip_bytes) / self.spec.mean_packet_bytes;
        }
        f64::from(view.segments.max(1))
    }

    /// Counts a packet and returns its drop probability p_a at the average `avg`; `None` below min.
    pub fn chance(&mut self, avg: f64, view: &View) -> Option<f64> {
        if avg < self.spec.min_packets {
            self.count = None;
            return None;
        }
        let weight = self.weight(view);
        let count = self.count.map_or(0.0, |count| count + weight);
        self.count = Some(count);
        Some(self.drop_probability(self.base(avg), count, weight))
    }

    /// Returns p_a from p_b, the count since the last drop and the packet's weight.
    fn drop_probability(&self, base: f64, count: f64, weight: f64) -> f64 {
        let expected = count * base;
        let end = if self.spec.wait { 2.0 } else { 1.0 };
        if base >= 1.0 || expected >= end {
            return 1.0;
        }
        if self.spec.wait && expected < 1.0 {
            return 0.0;
        }
        let scale = if self.spec.byte_mode { weight } else { 1.0 };
        (base / (end - expected) * scale).min(1.0)
    }

    /// Returns the verdict on a packet at the average `avg` whose random number is below p_a.
    pub fn taken(&self, avg: f64, view: &View) -> Verdict {
        if self.base(avg) >= 1.0 {
            return Verdict::Forced;
        }
        let markable = self.spec.ecn && view.flags & View::ECT != 0 && avg < self.spec.max_packets;
        if markable { Verdict::Mark } else { Verdict::Early }
    }

    /// Returns the idle time up to `now_ns` that the average does not include yet, and includes it.
    pub fn idle(&mut self, now_ns: u64) -> u64 {
        let idle_ns = now_ns.saturating_sub(self.idle_from_ns);
        self.idle_from_ns = now_ns;
        idle_ns
    }
}

/// Multi-RED in floats.
pub struct MultiRed {
    pub mode: Mode,
    pub levels: Vec<Red>,
}

impl MultiRed {
    /// Returns whether average `index` counts packets of `colour`.
    fn counts(&self, index: usize, colour: usize) -> bool {
        match self.mode {
            Mode::Coupled => index >= colour,
            Mode::Decoupled => index == colour,
            Mode::Total => index == 0,
        }
    }

    /// Returns the packets and bytes that average `index` counts.
    fn length(&self, index: usize, backlog: &Backlog) -> (u32, u64) {
        (0..COLOURS).filter(|colour| self.counts(index, *colour)).fold((0, 0), |sum, colour| {
            (sum.0 + backlog.colour_packets[colour], sum.1 + backlog.colour_bytes[colour])
        })
    }

    /// Returns the average by which `colour` is judged.
    pub fn average(&self, colour: usize) -> f64 {
        self.levels[if self.mode == Mode::Total { 0 } else { colour }].avg
    }

    /// Updates the averages for an arrival and returns its drop probability p_a; `None` below min.
    pub fn arrive(&mut self, view: &View, backlog: &Backlog, now_ns: u64) -> Option<f64> {
        let colour = view.colour.index();
        for index in (0..self.levels.len()).filter(|index| self.counts(*index, colour)).collect::<Vec<_>>() {
            let (packets, bytes) = self.length(index, backlog);
            let level = &mut self.levels[index];
            let idle_ns = if packets == 0 { level.idle(now_ns) } else { 0 };
            level.update(level.length(packets, bytes), idle_ns);
        }
        let avg = self.average(colour);
        self.levels[colour].chance(avg, view)
    }

    /// Starts the idle time of each average that a departure of `colour` empties.
    pub fn departed(&mut self, colour: usize, after: &Backlog, now_ns: u64) {
        for index in 0..self.levels.len() {
            if self.counts(index, colour) && self.length(index, after).0 == 0 {
                self.levels[index].idle_from_ns = now_ns;
            }
        }
    }
}

/// LFP in floats, with the sizes in a list.
pub struct Lfp {
    spec: specs::Lfp,
    level: f64,
    last_ns: u64,
    open: bool,
    sizes: VecDeque<u32>,
}

impl Lfp {
    pub fn new(spec: specs::Lfp) -> Lfp {
        Lfp { spec, level: f64::from(spec.burst), last_ns: 0, open: false, sizes: VecDeque::new() }
    }

    /// Adds the size of a flow that has ended to the history.
    pub fn end_flow(&mut self, size: u32) {
        self.sizes.push_back(size);
        if self.sizes.len() > self.spec.sizes.1 as usize {
            self.sizes.pop_front();
        }
    }

    /// Returns Q(u); `None` while no known size lies beyond it.
    fn quantile(&self) -> Option<u32> {
        let mut sorted: Vec<u32> = self.sizes.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (self.spec.sizes.0 * sorted.len() as f64 - 1e-9).ceil() as usize;
        (rank < sorted.len()).then(|| sorted[rank - 1])
    }

    /// Returns the colour of the `count`-th packet of a flow, and the distance of the level to the nearest limit, in tokens,
    /// at most 1. `elephant` is the flow's state.
    pub fn packet(&mut self, count: u32, elephant: &mut bool, now_ns: u64) -> (Colour, f64) {
        let specs::Lfp { rate, burst, set_point, hysteresis, .. } = self.spec;
        let full = f64::from(burst);
        self.level = (self.level + rate * (now_ns - self.last_ns) as f64 / 1e9).min(full);
        self.last_ns = now_ns;
        let [low, high] = [set_point - hysteresis, set_point + hysteresis].map(|at| at / 100.0 * full);
        self.open = self.level >= high || (self.open && self.level >= low);
        let margin = [low, high, 1.0].map(|at| (self.level - at).abs()).into_iter().fold(1.0, f64::min);
        if count <= self.spec.threshold {
            self.level = (self.level - 1.0).max(0.0);
            return (Colour::Green, margin);
        }
        *elephant |= self.quantile().is_some_and(|quantile| count >= quantile);
        if *elephant {
            return (Colour::Red, margin);
        }
        if !self.open || self.level < 1.0 {
            return (Colour::Yellow, margin);
        }
        self.level -= 1.0;
        (Colour::Green, margin)
    }
}
