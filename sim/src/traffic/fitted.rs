//! A model fitted to a capture that is too small to be played as it is.
//!
//! A replication's traffic is drawn in two steps, determined by (seed, replication). First a bootstrap
//! resample of the capture (`resample.rs`) replaces the capture, so that the spread over replications
//! contains the difference between captures. Then as many users as the load needs, each with the slots of the
//! capture's connections in time, get units of this resample, drawn anew for each slot and each lap. Bursts
//! stay what they are within a unit, and so do pauses, round-trip times, pages and datagrams. Only the sizes
//! of writes are drawn from distributions that are fitted to the resample:
//!
//! - the body by a smoothed bootstrap on the scale of logarithms, with a normal kernel that keeps the variance;
//! - the largest tenth by a Pareto distribution, bounded above, whose index is drawn from its posterior. The prior weighs
//!   as much as `PRIOR_SIZES` sizes with the index `PRIOR_INDEX`, so that a capture without large transfers does not say
//!   that there are none.
//!
//! Sources: B. W. Silverman & G. A. Young, "The bootstrap: to smooth or not to smooth?", Biometrika 74 (1987), section 2.3,
//! for the kernel that keeps the variance; B. W. Silverman, "Density estimation", 1986, section 3.4.2, for its width; B. M.
//! Hill, "A simple general approach to inference about the tail of a distribution", Annals of Statistics 3 (1975), for the
//! likelihood, of which a gamma distribution is the conjugate prior; M. E. Crovella & A. Bestavros, "Self-similarity in World
//! Wide Web traffic", IEEE/ACM Transactions on Networking 5 (1997), for indices of files on the Web near 1.2.

use super::connection::Connection;
use super::datagrams::Datagrams;
use super::overlay::measure_period;
use super::resample::Draws;
use super::{Pages, Traffic};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Number of sizes that the prior of the tail counts for: its standard deviation is 0.27, as wide
/// as the spread of published indices.
const PRIOR_SIZES: u32 = 20;
/// The index of the tail before any size was seen.
const PRIOR_INDEX: f64 = 1.2;
/// One size in this many belongs to the tail: the largest ones.
const TAIL: usize = 10;
/// Number of connections and datagrams after which drawing stops; the overlay repeats them.
const MOST_ITEMS: u64 = 2_000_000;

/// The load and the span that a run needs.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Bytes on the wire per second in the data direction; `None` plays one user for each of the capture's.
    pub bytes_per_s: Option<f64>,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The time within which nothing may repeat.
    pub span: Dur,
    /// No size is drawn beyond this one, unless the capture has one as large.
    pub most_bytes: u64,
}

/// The traffic that a fitted model plays in one replication.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Connections of `copies` times as many clients as the capture has, in laps of its period one after another.
    pub traffic: Traffic,
    /// How often the capture's clients occur.
    pub copies: u32,
}

/// Draws the traffic that a model fitted to `recorded` plays in a replication. `run` is (seed, replication);
/// equal runs draw equal traffic. Users are added until the load of `wanted` is met or two million
/// connections and datagrams are drawn; without a load there is one copy. A copy without bytes ends it as well.
pub fn draw_fitted(recorded: &Traffic, wanted: &Wanted, run: (u64, u32)) -> Fitted {
    let period = measure_period(recorded);
    let resample = Draws::resample(recorded.into(), period, run);
    let mut stream = Stream::new(run.0, Purpose::Fitted, u64::from(run.1));
    let sizes = Sizes::fit(resample_sizes(recorded, &resample), wanted.most_bytes, &mut stream);
    let laps = wanted.span.0.div_ceil(period.0).max(1);
    let mut users = Users { recorded, resample, sizes, period, played: Vec::new(), units: 0 };
    let mut extent =
        Extent { least: Dur(laps * period.0), first: Time(u64::MAX), last: Time::ZERO, end: Time::ZERO };
    let (mut copies, mut bytes, mut items) = (0, 0, 0);
    let is_enough = |bytes: u64, extent: &Extent, connections: usize| {
        wanted.bytes_per_s.is_none_or(|rate| bytes as f64 >= rate * extent.period(connections).as_secs())
    };
    while copies == 0 || !is_enough(bytes, &extent, users.played.len()) && items < MOST_ITEMS {
        let before = users.played.len();
        (0..laps).for_each(|lap| users.draw_lap(copies, lap, &mut stream));
        let added = users.played[before..].iter().map(|one| &one.connection);
        let more: u64 = added.clone().map(|one| one.wire_bytes(wanted.mss)).sum();
        items +=
            added.clone().map(|one| 1 + one.writes.datagrams().map_or(0, Datagrams::packets)).sum::<u64>();
        added.for_each(|one| extent.include(one));
        (copies, bytes) = (copies + 1, bytes + more);
        if more == 0 {
            break;
        }
    }
    Fitted { traffic: users.into_traffic(), copies }
}

/// The time in which connections are active, for the period after which an overlay repeats them.
struct Extent {
    /// The length of all laps.
    least: Dur,
    first: Time,
    last: Time,
    /// The last known activity.
    end: Time,
}

impl Extent {
    /// Extends the first start, the last start and the end to those of a connection of the traffic.
    fn include(&mut self, one: &Connection) {
        self.first = self.first.min(one.start);
        self.last = self.last.max(one.start);
        self.end = self.end.max(one.last_activity());
    }

    /// Returns the period of [`measure_period`] for this number of connections, at least one of which was included, or
    /// the length of all laps if that is longer.
    fn period(&self, connections: usize) -> Dur {
        let gaps = connections.saturating_sub(1).max(1) as u64;
        (self.end.since(self.first) + Dur(self.last.since(self.first).0 / gaps)).max(self.least)
    }
}

/// Returns the sizes in bytes of the writes of a resample, each as often as its unit was drawn.
fn resample_sizes(recorded: &Traffic, resample: &Draws) -> Vec<f64> {
    let of_one = |(connection, &unit): (&Connection, &u32)| {
        let times = resample.times(unit) as usize;
        let writes: Vec<f64> = connection.writes.iter().map(|write| write.bytes as f64).collect();
        writes.into_iter().flat_map(move |bytes| std::iter::repeat_n(bytes, times))
    };
    recorded.connections.iter().zip(resample.units()).flat_map(of_one).collect()
}

/// The connections of the users drawn so far.
struct Users<'a> {
    recorded: &'a Traffic,
    resample: Draws,
    sizes: Sizes,
    period: Dur,
    played: Vec<Played>,
    /// Number of units drawn so far.
    units: u32,
}

/// A drawn connection, its index in the capture, and the number of the unit draw that it came with.
struct Played {
    connection: Connection,
    recorded: u32,
    unit: u32,
}

impl Users<'_> {
    /// Draws lap `lap` of the users of copy `copy`, both from 0, and appends its connections: each slot of the resample
    /// gets a unit, and each write of the unit's connections gets a fitted size. Advances `stream`.
    fn draw_lap(&mut self, copy: u32, lap: u64, stream: &mut Stream) {
        let mut of_unit = vec![Vec::new(); self.resample.unit_count() as usize];
        (0..).zip(self.resample.units()).for_each(|(place, &unit)| of_unit[unit as usize].push(place));
        for (unit, (client, by)) in self.resample.draw_again(stream) {
            for &place in &of_unit[unit as usize] {
                let one: &Connection = &self.recorded.connections[place as usize];
                let within = (one.start.0 + by) % self.period.0;
                let mut connection = one.clone();
                connection.start = Time(lap * self.period.0 + within);
                connection.client = copy * self.recorded.clients + client;
                for write in connection.writes.iter_mut() {
                    write.bytes = self.sizes.draw(write.bytes, stream);
                }
                self.played.push(Played { connection, recorded: place, unit: self.units });
            }
            self.units += 1;
        }
    }

    /// Returns the drawn connections as a traffic, whose first start is moved to zero; each draw of a unit has pages
    /// distinct from other draws.
    fn into_traffic(mut self) -> Traffic {
        self.played.sort_by_key(|one| one.connection.start);
        let mut numbers = BTreeMap::new();
        let mut page = |one: &Played, write: u32| match self.recorded.pages.find_page(one.recorded, write) {
            (0, _) => 0,
            (known, _) => {
                let next = numbers.len() as u32 + 1;
                *numbers.entry((one.unit, known)).or_insert(next)
            }
        };
        let of_one =
            |one: &Played| (0..one.connection.writes.len() as u32).map(|write| page(one, write)).collect();
        let pages = Pages::new(self.played.iter().map(of_one));
        let connections = self.played.into_iter().map(|one| one.connection).collect();
        Traffic { pages, ..Traffic::from_connections(connections) }
    }
}

/// The fitted distribution of sizes, bytes: a smoothed body and a bounded Pareto tail.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Mean of the logarithms of the body.
    middle: f64,
    /// Width of the kernel on this scale.
    width: f64,
    /// Factor on distances from the middle that removes the variance which the kernel adds.
    shrink: f64,
    /// Sizes above this one are the tail.
    least: f64,
    most: f64,
    index: f64,
}

impl Sizes {
    /// Fits the distribution to `sizes`, bytes, by the methods that the module's text cites. The tail is bounded by
    /// `most_bytes` or the largest size, whichever is larger; its index is drawn from `stream`, a draw for each size of
    /// the prior and of the tail. Without sizes [`Sizes::draw`] returns 1.
    fn fit(mut sizes: Vec<f64>, most_bytes: u64, stream: &mut Stream) -> Sizes {
        sizes.sort_by(f64::total_cmp);
        let (body, tail) = sizes.split_at(sizes.len() - sizes.len() / TAIL);
        let least = body.last().copied().unwrap_or(1.0);
        let logs: Vec<f64> = body.iter().map(|&size| libm::log(size)).collect();
        let number = logs.len().max(1) as f64;
        let middle = logs.iter().sum::<f64>() / number;
        let variance = logs.iter().map(|log| (log - middle) * (log - middle)).sum::<f64>() / number;
        let width = 0.9 * compute_spread(&logs, variance) * libm::pow(number, -0.2);
        let shrink = if variance > 0.0 { 1.0 / (1.0 + width * width / variance).sqrt() } else { 1.0 };
        let above: f64 = tail.iter().map(|&size| libm::log(size / least)).sum();
        let weight: f64 = (0..PRIOR_SIZES as usize + tail.len()).map(|_| stream.exponential(1.0)).sum();
        let index = weight / (f64::from(PRIOR_SIZES) / PRIOR_INDEX + above);
        let most = sizes.last().map_or(0.0, |&largest| largest.max(most_bytes as f64));
        Sizes { middle, width, shrink, least, most, index }
    }

    /// Draws a size: from the tail if the recorded size `bytes` belongs to the tail, else near the recorded
    /// size. Returns at least 1 byte and at most the bound of the tail. Advances `stream` by one draw or two.
    fn draw(&self, bytes: u64, stream: &mut Stream) -> u64 {
        let size = bytes as f64;
        let drawn = if size > self.least { self.draw_tail(stream) } else { self.draw_near(size, stream) };
        drawn.min(self.most).round().max(1.0) as u64
    }

    /// Draws a size near `size` of the body: a normal kernel on the logarithm (the radius and angle of Box
    /// and Muller), shrunk to keep the variance.
    fn draw_near(&self, size: f64, stream: &mut Stream) -> f64 {
        let (radius, angle) = (stream.exponential(2.0).sqrt(), TAU * stream.uniform());
        let log = libm::log(size) - self.middle + self.width * radius * libm::cos(angle);
        libm::exp(self.middle + self.shrink * log)
    }

    /// Draws a size from the tail, a bounded Pareto distribution, by inversion of one uniform draw.
    fn draw_tail(&self, stream: &mut Stream) -> f64 {
        let beyond = libm::pow(self.least / self.most, self.index);
        let left = 1.0 - stream.uniform() * (1.0 - beyond);
        self.least * libm::pow(left, -1.0 / self.index)
    }
}

/// Returns the smaller of the standard deviation and interquartile range ÷ 1.34 of sorted numbers; the
/// deviation if the range is zero. `variance` is theirs. Source: Silverman 1986, section 3.4.2.
fn compute_spread(sorted: &[f64], variance: f64) -> f64 {
    let quantile = |share: usize| sorted.get((sorted.len() * share / 4).min(sorted.len().saturating_sub(1)));
    let range = quantile(3).zip(quantile(1)).map_or(0.0, |(high, low)| high - low);
    if range > 0.0 { variance.sqrt().min(range / 1.34) } else { variance.sqrt() }
}

#[cfg(test)]
#[path = "fitted_tests.rs"]
mod tests;
