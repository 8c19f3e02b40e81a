//! Samples of links and senders at equal intervals, up to the end of the measured window.
//!
//! A sample only reads: the records of a run are the same with and without it.

use crate::link::Link;
use crate::packet::Colour;
use crate::record::ColourCounts;
use crate::series::Series;
use crate::units::{Dur, Time};

/// Number of long-lived flows whose congestion windows are sampled, in the order of their opening.
const MOST_FLOWS: usize = 64;

/// Packets that wait, without one in transmission.
const BACKLOG_PACKETS: &str = "backlog_packets";
/// Their bytes of IP length.
const BACKLOG_BYTES: &str = "backlog_bytes";
/// Time in which the link transmits them at its rate.
const BACKLOG_S: &str = "backlog_s";
/// Rate of the link.
const CAPACITY_BPS: &str = "capacity_bps";
/// Rate of the packets whose transmission started, in bits of IP length.
const SENT_BPS: &str = "sent_bps";
/// Packets that reached the link.
const ARRIVED: &str = "arrived";
/// Packets whose transmission started.
const SENT: &str = "sent";
/// Packets dropped for any reason.
const DROPPED: &str = "dropped";
/// Packets that left with a congestion mark of this link's.
const MARKED: &str = "marked";
/// Connections that are open, long-lived ones among them.
const CONNECTIONS: &str = "connections";
/// Congestion window in segments.
const CWND_SEGMENTS: &str = "cwnd_segments";

/// The samples taken so far.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    every: Dur,
    links: Vec<LinkSamples>,
    connections: Vec<(Time, f64)>,
    /// Congestion windows of long-lived flows, by the order of their opening.
    windows: Vec<Vec<(Time, f64)>>,
}

/// The samples of one link.
#[derive(Debug)]
struct LinkSamples {
    number: u16,
    /// Its counts at the last sample.
    counts: [ColourCounts; 3],
    backlog: Vec<(Time, Backlog)>,
    flows: Vec<(Time, [ColourCounts; 3])>,
}

/// The packets that wait at a link.
#[derive(Debug, Clone, Copy)]
struct Backlog {
    packets: u32,
    bytes: u64,
    /// Rate of the link in bit/s, if it changes the mean since the last sample; and the time that the packets take at
    /// that rate.
    rate_bps: f64,
    drain: Dur,
}

impl Sampling {
    /// Returns empty samples of these links; `every`, the interval of samples, must not be zero.
    pub fn new(every: Dur, links: &[u16]) -> Sampling {
        let links = links.iter().map(|&number| LinkSamples {
            number,
            counts: Default::default(),
            backlog: Vec::new(),
            flows: Vec::new(),
        });
        Sampling { every, links: links.collect(), ..Sampling::default() }
    }

    /// Returns when the next sample is due, after one at `now`.
    pub fn next_due(&self, now: Time) -> Time {
        now + self.every
    }

    /// Adds a sample of the recorded links, the number of open connections and the congestion
    /// windows of long-lived flows (`windows`, in the order of opening, in segments), before any
    /// event at `now`. Flows beyond the first [`MOST_FLOWS`] are left out.
    pub fn sample(
        &mut self,
        links: &mut [Link],
        connections: usize,
        windows: impl Iterator<Item = f64>,
        now: Time,
    ) {
        for samples in &mut self.links {
            samples.sample(&mut links[usize::from(samples.number)], self.every, now);
        }
        self.connections.push((now, connections as f64));
        for (place, segments) in windows.take(MOST_FLOWS).enumerate() {
            if place == self.windows.len() {
                self.windows.push(Vec::new());
            }
            self.windows[place].push((now, segments));
        }
    }

    /// Returns the samples as series; a colour that no packet had has none. `name` returns a link's
    /// name by its number, `key` a flow's key by its index in the order of opening.
    pub fn into_series(self, name: impl Fn(u16) -> String, key: impl Fn(usize) -> u64) -> Vec<Series> {
        let every = self.every;
        let mut all = Vec::new();
        for link in self.links {
            let name = name(link.number);
            all.extend(link.into_series(&name, every));
        }
        let senders = |name, flow, points| Series { name, flow, points, ..Series::default() };
        if !self.connections.is_empty() {
            all.push(senders(CONNECTIONS, None, self.connections));
        }
        let windows = self.windows.into_iter().enumerate();
        all.extend(windows.map(|(place, points)| senders(CWND_SEGMENTS, Some(key(place)), points)));
        all
    }
}

impl LinkSamples {
    /// Adds a sample of the link before any event at `now`: its backlog, and its counts since the
    /// last sample. `every` is the time over which the rate is averaged.
    fn sample(&mut self, link: &mut Link, every: Dur, now: Time) {
        let counts = link.counts_before(now);
        // As in the counts, a packet whose transmission starts now still waits.
        let (packets, bytes) = link.backlog(Time(now.0.saturating_sub(1)));
        let rate = link.mean_rate(Time(now.0.saturating_sub(every.0)), now);
        let drain = Dur((link.total_wire_bytes(packets, bytes) as f64 * 8e9 / rate.0 as f64) as u64);
        self.backlog.push((now, Backlog { packets, bytes, rate_bps: rate.0 as f64, drain }));
        self.flows.push((now, std::array::from_fn(|index| counts[index].since(self.counts[index]))));
        self.counts = counts;
    }

    /// Returns the samples of the link called `link` as series, those of its state first, then
    /// those of each colour that reached it; `every` is their interval.
    fn into_series(self, link: &str, every: Dur) -> Vec<Series> {
        let one = |name, colour, points| Series { link: link.to_string(), name, colour, flow: None, points };
        let state = |name, value: fn(&Backlog) -> f64| {
            one(name, None, self.backlog.iter().map(|(at, backlog)| (*at, value(backlog))).collect())
        };
        let mut all = vec![
            state(BACKLOG_PACKETS, |backlog| f64::from(backlog.packets)),
            state(BACKLOG_BYTES, |backlog| backlog.bytes as f64),
            state(BACKLOG_S, |backlog| backlog.drain.as_secs()),
            state(CAPACITY_BPS, |backlog| backlog.rate_bps),
        ];
        for colour in Colour::ALL {
            if self.counts[colour.index()].arrived.packets == 0 {
                continue;
            }
            let count = |name, value: &dyn Fn(&ColourCounts) -> f64| {
                let points = self.flows.iter().map(|(at, counts)| (*at, value(&counts[colour.index()])));
                one(name, Some(colour), points.collect())
            };
            let seconds = every.as_secs();
            all.extend([
                count(SENT_BPS, &|counts| counts.sent.bytes as f64 * 8.0 / seconds),
                count(ARRIVED, &|counts| counts.arrived.packets as f64),
                count(DROPPED, &|counts| counts.dropped().packets as f64),
                count(MARKED, &|counts| counts.marked.packets as f64),
                count(SENT, &|counts| counts.sent.packets as f64),
            ]);
        }
        all
    }
}
