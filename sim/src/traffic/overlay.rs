//! Loads a link with a traffic: overlays as many shifted copies as the load needs, and dilates their start
//! times, and so their inter-arrival times.
//!
//! The traffic repeats with period T = span + mean inter-arrival time (at least 1 s, so that a single
//! connection has a period). With native load ℓ = wire bits / (T · rate) and target load L there are
//! n = ⌈L/ℓ⌉ copies. Every (copy, client) is shifted by U[0, T) modulo T, so that copies are not in
//! step and the connections of a client keep their order in time. Then start times, and the period with
//! them, are dilated by n·ℓ/L ≥ 1. Pauses inside a connection are not dilated: they belong to user and
//! server, and idle timeouts need them as they are; nor are the gaps between datagrams. Without a target
//! the traffic keeps its recorded times.
//!
//! With [`Overlay::from_resample`] each replication overlays a bootstrap resample of the traffic
//! (`resample.rs`): clients or blocks of their time, drawn with replacement. A client drawn k times is k
//! clients with independent shifts. A block is moved to the slot that it was drawn for and shifted with the
//! client of that slot, so that the slots of a client are filled once in each copy. The period stays that of
//! the traffic; copies and dilation follow from the resample's load. If clients act together, the shifted
//! times go through a map that all copies share (`together.rs`). docs/compare.md says what this is needed
//! for.

use super::connection::Connection;
use super::datagrams::Datagrams;
use super::part::Part;
use super::resample::Draws;
use super::together::Together;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream, mix};
use crate::units::{Dur, Rate, Time};

/// The shortest period of a traffic.
const MIN_PERIOD: Dur = Dur(1_000_000_000);
/// The largest number of connections in all copies of a period.
const MAX_ARRIVALS: u64 = 50_000_000;
/// Loads are met to this relative accuracy, so that 3.0000000001 copies are 3.
const ROUNDING: f64 = 1e-9;
/// The largest target load.
const MAX_LOAD: f64 = 2.0;
/// Bits of a key for (connection, copy): at most 50 million arrivals a repetition need 26.
const KEY_BITS: u32 = 26;
/// The same for a resample, whose copy numbers also count the draws of a client.
const RESAMPLE_KEY_BITS: u32 = 31;
/// Widens the window in which connections are searched for by more than any rounding of their times.
const MARGIN: Dur = Dur(1_000_000);
/// The allowed loads, for errors; completes "it must be …".
pub const LOADS: &str = "a number above 0, at most 2 (1 fills the link)";

/// One start of a connection within the period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Since the beginning of the period.
    pub at: Time,
    /// Index into `Traffic::connections`.
    pub connection: u32,
    /// Number of the copy, from 0. In a resample, a unit that was drawn k times has k numbers per copy.
    pub copy: u32,
}

/// Overlaid copies of a traffic, periodic and without end.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// Number of copies, n.
    pub copies: u32,
    /// Factor on start times.
    pub dilation: f64,
    /// Load of the traffic as recorded, as a fraction of the rate; for a resample, that of the whole traffic.
    pub native: f64,
    /// Load of the overlay.
    pub achieved: f64,
    /// Length of one repetition of the overlay, after dilation.
    pub period: Dur,
    /// Period of the traffic, before dilation.
    own_period: Dur,
    /// Random shifts of the copies; none without a target.
    shifts: Option<Shifts>,
    connections: u32,
    /// Index of the first connection in the traffic.
    first: u32,
    /// `copies` times the number of draws of the unit that was drawn most often.
    copy_numbers: u32,
    key_bits: u32,
    /// Flows of datagrams that begin before the window's offset and last beyond it.
    in_progress: Vec<Arrival>,
    /// How often each client or block of time occurs in a copy, and where.
    draws: Draws,
    /// The times at which clients act together, if they do.
    together: Option<Together>,
    arrivals: Vec<Arrival>,
}

impl Overlay {
    /// Overlays copies of `traffic` to load a link of `rate` by `target`, a fraction of the rate; without a target
    /// there is one copy, unshifted. `mss` is the payload of a full segment, bytes. (seed, replication) determines the
    /// shifts.
    ///
    /// # Errors
    /// [`Error::Field`] naming `load`, for a target outside 0 < load ≤ 2 or one that takes over 50 million arrivals;
    /// [`Error::Field`] for a target with traffic without bytes.
    pub fn new<'a>(
        traffic: impl Into<Part<'a>>,
        target: Option<f64>,
        rate: Rate,
        mss: u32,
        seed: u64,
        replication: u32,
    ) -> Result<Overlay> {
        Overlay::for_span(traffic, target, rate, mss, (seed, replication), Dur(u64::MAX))
    }

    /// Overlays copies as [`Overlay::new`] does for a run, (seed, replication), but keeps only the arrivals of the first
    /// `span` from its window offset on. On a fast link with a short trace these are few: a run of minutes out of
    /// thousands of copies of a day.
    ///
    /// # Errors
    /// As [`Overlay::new`].
    pub fn for_span<'a>(
        traffic: impl Into<Part<'a>>,
        target: Option<f64>,
        rate: Rate,
        mss: u32,
        run: (u64, u32),
        span: Dur,
    ) -> Result<Overlay> {
        let traffic = traffic.into();
        Overlay::from_draws(
            traffic,
            (Draws::each_client_once(traffic), KEY_BITS, None),
            target,
            rate,
            mss,
            run,
            span,
        )
    }

    /// Overlays a bootstrap resample of `traffic` that is drawn afresh for each run, (seed, replication); otherwise as
    /// [`Overlay::for_span`]. With few clients, blocks of their time are drawn instead of clients.
    ///
    /// # Errors
    /// As [`Overlay::new`].
    pub fn from_resample<'a>(
        traffic: impl Into<Part<'a>>,
        target: f64,
        rate: Rate,
        mss: u32,
        run: (u64, u32),
        span: Dur,
    ) -> Result<Overlay> {
        let traffic = traffic.into();
        let period = measure_period(traffic);
        let draws = Draws::resample(traffic, period, run);
        let drawn = (draws, RESAMPLE_KEY_BITS, Together::measure(traffic, period));
        Overlay::from_draws(traffic, drawn, Some(target), rate, mss, run, span)
    }

    /// Overlays copies in which each connection occurs as often as its unit was drawn; keys have `key_bits` bits for
    /// (connection, copy), and shifted times go through the map of `together`. Only arrivals in the `span` from the
    /// window's offset on are stored.
    ///
    /// # Errors
    /// As [`Overlay::new`].
    fn from_draws(
        traffic: Part,
        (draws, key_bits, together): (Draws, u32, Option<Together>),
        target: Option<f64>,
        rate: Rate,
        mss: u32,
        (seed, replication): (u64, u32),
        span: Dur,
    ) -> Result<Overlay> {
        let period = measure_period(traffic);
        let wire_bytes = |(connection, &unit): (&Connection, &u32)| {
            u64::from(draws.times(unit)) * connection.wire_bytes(mss)
        };
        let bytes: u64 = traffic.connections.iter().zip(draws.units()).map(wire_bytes).sum();
        let load = bytes as f64 / rate.bytes_in(period);
        let (copies, dilation) = match target {
            Some(target) => compute_dilation(traffic, load, check_load(target)?)?,
            None => (1, 1.0),
        };
        let dilated = scale_time(period.0, dilation);
        let arrivals = draws.units().iter().map(|&unit| draws.times(unit) as usize).sum::<usize>();
        let mut overlay = Overlay {
            copies,
            dilation,
            native: measure_load(traffic, rate, mss),
            achieved: f64::from(copies) * load * period.0 as f64 / dilated as f64,
            period: Dur(dilated),
            own_period: period,
            shifts: target.map(|_| Shifts { seed, replication, period }),
            connections: traffic.connections.len() as u32,
            first: traffic.first,
            copy_numbers: copies * draws.max_times(),
            draws,
            together,
            key_bits,
            in_progress: Vec::new(),
            arrivals: Vec::new(),
        };
        let offset = overlay.window_offset(seed, replication);
        if span >= overlay.period {
            overlay.arrivals.reserve_exact(copies as usize * arrivals);
        }
        let starts = collect_starts(traffic, &overlay.draws);
        (0..overlay.copy_numbers).for_each(|number| overlay.add_copy(&starts, number, (offset, span)));
        overlay.arrivals.sort_unstable();
        overlay.in_progress.sort_unstable();
        Ok(overlay)
    }

    /// Adds the connections that were drawn more than `number / copies` times and start in the `span` from `offset` on, and
    /// the flows of datagrams that are in progress at `offset`.
    ///
    /// A run of minutes sees few of the connections of a day. So each connection is first compared in time before
    /// dilation, which is fast, and only one that may start in the span gets its exact time.
    fn add_copy(&mut self, starts: &[Start], number: u32, (offset, span): (Time, Dur)) {
        let drawn_before = number / self.copies;
        let drawn = &starts[..starts.partition_point(|start| start.drawn > drawn_before)];
        let units = 0..self.draws.unit_count();
        let shifts: Vec<u64> = units.map(|unit| self.compute_shift(number, unit)).collect();
        let own_period = self.own_period.0;
        let own_offset = (offset.0 as f64 / self.dilation) as u64 % own_period;
        let begin = (own_offset + own_period - MARGIN.0) % own_period;
        let length = ((span.0 as f64 / self.dilation) as u64).saturating_add(2 * MARGIN.0);
        for start in drawn {
            let own = self.move_time(start.at.0 + shifts[start.unit as usize]);
            if start.lasts > Dur::ZERO {
                let arrival = Arrival { at: self.dilate(own), connection: start.connection, copy: number };
                if arrival.at != offset && self.since_start(&arrival, offset) < start.lasts {
                    self.in_progress.push(arrival);
                }
            }
            if time_since(own, begin, own_period) > length {
                continue;
            }
            let at = self.dilate(own);
            if time_since(at.0, offset.0, self.period.0) <= span.0 {
                self.arrivals.push(Arrival { at, connection: start.connection, copy: number });
            }
        }
    }

    /// Returns whether two connections, by their index in the traffic, are in the same copies and are shifted alike: those
    /// of a client, or of a block of its time.
    pub fn are_together(&self, one: u32, other: u32) -> bool {
        self.find_unit(one) == self.find_unit(other)
    }

    /// Returns when a connection of a copy starts within the period, and whether its shift moved it beyond
    /// the period's end, so that it belongs to the repetition before. `start` is the recorded start of
    /// connection number `connection` of the traffic.
    pub fn compute_start(&self, connection: u32, start: Time, copy: u32) -> (Time, bool) {
        let shifted = start.0 + self.compute_shift(copy, self.find_unit(connection));
        (self.dilate(self.move_time(shifted)), shifted >= self.own_period.0)
    }

    /// Returns the unit of a connection, by its index in the traffic; panics for one of another part.
    fn find_unit(&self, connection: u32) -> u32 {
        self.draws.units()[(connection - self.first) as usize]
    }

    /// Returns by how much the starts of a unit are shifted in copy `number`, before dilation, ns; 0 without
    /// a target or if the copy lacks the unit.
    fn compute_shift(&self, number: u32, unit: u32) -> u64 {
        let Some(shifts) = &self.shifts else { return 0 };
        let (draw, copy) = (number / self.copies, number % self.copies);
        match self.draws.find_move(unit, draw) {
            _ if draw >= self.draws.times(unit) => 0,
            None => shifts.draw_shift(number, self.draws.client(unit)),
            Some((client, by)) => (shifts.draw_shift(copy, client) + by) % self.own_period.0,
        }
    }

    /// Returns a shifted time modulo the period, before dilation, ns. If clients act together, it goes through their
    /// map.
    fn move_time(&self, shifted: u64) -> u64 {
        let own = self.within_period(shifted);
        self.together.as_ref().map_or(own, |together| together.map_time(own))
    }

    /// Returns a time modulo the period, both before dilation, ns. Most times are below it, and a division is slow.
    fn within_period(&self, own: u64) -> u64 {
        if own < self.own_period.0 { own } else { own % self.own_period.0 }
    }

    /// Returns a time before dilation, ns, after dilation; rounding never moves it to the end of the period.
    fn dilate(&self, own: u64) -> Time {
        Time(scale_time(own, self.dilation).min(self.period.0 - 1))
    }

    /// Returns the arrivals of one period in order of time within the period; only those of the span, if one was given.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Returns the flows of datagrams that are in progress at the window's offset: those that began before it, in the same
    /// repetition or in the one before.
    pub fn in_progress(&self) -> &[Arrival] {
        &self.in_progress
    }

    /// Returns how long ago an arrival was when the time within the period is `now`.
    pub fn since_start(&self, arrival: &Arrival, now: Time) -> Dur {
        Dur(time_since(now.0, arrival.at.0, self.period.0))
    }

    /// Returns an endless iterator over arrivals from `offset` into the period: the time since the offset, the arrival,
    /// and the number of its repetition. Times never decrease. It is empty only if there are no arrivals.
    pub fn arrivals_from(&self, offset: Time) -> Arrivals<'_> {
        let first_repetition = offset.0 / self.period.0;
        let within = Time(offset.0 % self.period.0);
        let next = self.arrivals.partition_point(|arrival| arrival.at < within);
        Arrivals { overlay: self, offset, next, repetition: first_repetition }
    }

    /// Returns the time within the period at which a replication begins: uniform, so that every part of the traffic is
    /// equally likely to be measured. Equal arguments give equal offsets.
    pub fn window_offset(&self, seed: u64, replication: u32) -> Time {
        Time(Stream::new(seed, Purpose::Window, u64::from(replication)).below(self.period.0))
    }

    /// Returns the copy number that [`super::Traffic::page`] takes for an arrival. It differs between copies
    /// and between repetitions, and is below 2^24, so that the key of a page has 56 bits. An arrival that was
    /// shifted beyond the period's end belongs to the repetition before. `start` is the recorded start of the
    /// connection.
    pub fn page_copy(&self, arrival: &Arrival, repetition: u64, start: Time) -> u64 {
        let (_, has_wrapped) = self.compute_start(arrival.connection, start, arrival.copy);
        ((repetition + 1 - u64::from(has_wrapped)) * u64::from(self.copy_numbers) + u64::from(arrival.copy))
            & 0xff_ffff
    }

    /// Returns a number that is unique per (connection, copy, repetition) and equal under every scheme. `u64::MAX` stands for
    /// the repetition before the first.
    pub fn key(&self, arrival: &Arrival, repetition: u64) -> u64 {
        repetition << self.key_bits
            | (u64::from(arrival.copy) * u64::from(self.connections)
                + u64::from(arrival.connection - self.first))
    }
}

/// The facts from which the start of a connection's copies is computed, compact since every copy reads many of them.
struct Start {
    at: Time,
    unit: u32,
    /// Index into `Traffic::connections`.
    connection: u32,
    /// How often its unit was drawn.
    drawn: u32,
    /// Duration of a flow of datagrams; zero for any other connection, which plays only from its start.
    lasts: Dur,
}

/// Returns the starts of a traffic's connections; those whose units were drawn most often come first.
fn collect_starts(traffic: Part, draws: &Draws) -> Vec<Start> {
    let start = |((connection, &unit), index): ((&Connection, &u32), u32)| Start {
        at: connection.start,
        unit,
        connection: index,
        drawn: draws.times(unit),
        lasts: connection.writes.datagrams().map_or(Dur::ZERO, Datagrams::duration),
    };
    let mut starts: Vec<Start> =
        traffic.connections.iter().zip(draws.units()).zip(traffic.first..).map(start).collect();
    starts.sort_by_key(|start| std::cmp::Reverse(start.drawn));
    starts
}

/// Returns the time from `begin` to `at`, both within a cycle of `period`; if `at` is earlier, across the
/// cycle's end.
fn time_since(at: u64, begin: u64, period: u64) -> u64 {
    if at >= begin { at - begin } else { at + period - begin }
}

/// An endless iterator over arrivals; see [`Overlay::arrivals_from`].
#[derive(Debug, Clone)]
pub struct Arrivals<'a> {
    overlay: &'a Overlay,
    offset: Time,
    next: usize,
    repetition: u64,
}

impl<'a> Iterator for Arrivals<'a> {
    type Item = (Time, &'a Arrival, u64);

    /// Returns the next arrival; after the last of a period, the first of the next repetition.
    /// `None` only for an overlay without arrivals.
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.overlay.arrivals.len() {
            self.next = 0;
            self.repetition += 1;
        }
        let arrival = self.overlay.arrivals.get(self.next)?;
        self.next += 1;
        let repetition_start = self.repetition.saturating_mul(self.overlay.period.0);
        let at = Time(repetition_start.saturating_add(arrival.at.0).saturating_sub(self.offset.0));
        Some((at, arrival, self.repetition))
    }
}

/// Random shifts of clients, each a function of copy and client.
#[derive(Debug, Clone)]
struct Shifts {
    seed: u64,
    replication: u32,
    period: Dur,
}

impl Shifts {
    /// Draws the cyclic shift of a client in a copy, ns, uniform in [0, period); equal arguments give equal shifts.
    fn draw_shift(&self, copy: u32, client: u32) -> u64 {
        let entity = u64::from(copy) << 32 | u64::from(client);
        let mut stream = Stream::new(self.seed ^ mix(u64::from(self.replication)), Purpose::Overlay, entity);
        stream.below(self.period.0)
    }
}

/// Returns the period T of a traffic before dilation: span plus mean inter-arrival time, at least 1 s.
pub fn measure_period<'a>(traffic: impl Into<Part<'a>>) -> Dur {
    let traffic = traffic.into();
    let starts = traffic.connections.iter().map(|connection| connection.start);
    let (first, last) = (starts.clone().min().unwrap_or_default(), starts.max().unwrap_or_default());
    let gaps = traffic.connections.len().saturating_sub(1).max(1) as u64;
    (traffic.span() + Dur(last.since(first).0 / gaps)).max(MIN_PERIOD)
}

/// Returns the native load: wire bits of a traffic over the bits that `rate` carries in its period. `mss` is the
/// payload of a full segment, bytes.
pub fn measure_load<'a>(traffic: impl Into<Part<'a>>, rate: Rate, mss: u32) -> f64 {
    let traffic = traffic.into();
    traffic.wire_bytes(mss) as f64 / rate.bytes_in(measure_period(traffic))
}

/// Returns the target load if it is above 0 and at most 2.
///
/// # Errors
/// [`Error::Field`] naming `load`.
fn check_load(target: f64) -> Result<f64> {
    if target > 0.0 && target <= MAX_LOAD {
        return Ok(target);
    }
    Err(Error::field("load", target, LOADS))
}

/// Returns the number of copies that reach the `target` load, and the factor by which time is dilated to meet it
/// exactly.
///
/// # Errors
/// [`Error::Field`] for traffic without bytes, or when the copies would have too many arrivals.
fn compute_dilation(traffic: Part, native: f64, target: f64) -> Result<(u32, f64)> {
    if native <= 0.0 {
        return Err(Error::missing("", "traffic with at least one byte in the direction of the data"));
    }
    let copies = (target / native * (1.0 - ROUNDING)).ceil().max(1.0);
    let arrivals = copies * traffic.connections.len() as f64;
    if arrivals > MAX_ARRIVALS as f64 {
        let needed = format!("takes {arrivals:.0} connections in {copies:.0} copies");
        let allowed = "lower, or the rate lower, or the trace longer, so that at most 50 million suffice";
        return Err(Error::faulty("load", target, needed, allowed));
    }
    Ok((copies as u32, copies * native / target))
}

/// Returns a time in ns multiplied by a factor and rounded to whole ns; exact for a factor of 1.
fn scale_time(ns: u64, factor: f64) -> u64 {
    if factor == 1.0 { ns } else { (ns as f64 * factor).round() as u64 }
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
