//! The shape of a flow: the features by which the rule classifies it. [`Observed`] gathers them in one pass and in
//! bounded memory; a log that only has totals fills in those it has.

use super::FlowClass;
use super::head::{Head, Heads, Protocol};
use super::thresholds;
use crate::traffic::connection::Write;
use crate::traffic::datagrams::Tunnel;
use crate::units::Dur;

const MS: i64 = 1_000_000;
/// Gaps up to so many milliseconds have a bin each, longer ones share the last.
const GAP_BINS: usize = 128;
/// Sizes have bins of so many bytes; the last one has all larger ones.
const SIZE_BIN: u32 = 16;
const SIZE_BINS: usize = 96;
/// Packets of a direction with payload before histograms begin: a shorter flow has no rhythm.
const FIRST: u64 = 16;

/// The features of one direction of a flow; `None` marks those that the source lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Way {
    /// Packets with payload, if the source counts them.
    pub packets: Option<u64>,
    /// Payload, bytes.
    pub bytes: u64,
    /// Of the packets, those with less than `thresholds::SMALL_BYTES` of payload.
    pub small: u64,
    /// Of the packets, those with at most `thresholds::TINY_BYTES`.
    pub tiny: u64,
    /// The rhythm of the packets; None if there are too few, or the source has no packets.
    pub rhythm: Option<Rhythm>,
    /// Writes of more than `thresholds::CHUNK_BYTES` whose sender, but for the first, paused for at least
    /// `thresholds::CHUNK_PAUSE` before.
    pub chunks: u32,
    /// Writes after the first, each of which follows a pause.
    pub pauses: u32,
}

/// The distribution of gaps and sizes of a direction's packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rhythm {
    /// Median gap between packets, ms, rounded down; [`Rhythm::LONG_MS`] for anything longer.
    pub gap_p50_ms: u32,
    /// Share of the gaps within half and one and a half times the median.
    pub steady: f64,
    /// Sizes of payload below which 10, 50 and 90 % of the packets lie, in steps of 16 B.
    pub sizes: [u32; 3],
    /// The frames that packets come in.
    pub frames: Frames,
}

impl Rhythm {
    /// Stands for all longer gaps.
    pub const LONG_MS: u32 = GAP_BINS as u32 - 1;
}

/// Frames: packets of one direction without a gap of `thresholds::WITHIN_FRAME` between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frames {
    /// Mean number of packets in a frame.
    pub packets: f64,
    /// Median time from the beginning of a frame to that of the next, ms.
    pub interval_p50_ms: u32,
    /// Share of the intervals within half and one and a half times the median.
    pub steady: f64,
}

/// The features of a flow that the rule reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowShape {
    /// The protocol that carries it.
    pub protocol: Protocol,
    /// Ports of client and server; 0 if the source has none.
    pub ports: [u16; 2],
    /// Time from the first to the last packet.
    pub duration: Dur,
    /// The direction from the client, and that from the server.
    pub ways: [Way; 2],
    /// The class that the first bytes, or the service named in a log, prove.
    pub named: Option<FlowClass>,
    /// Share of the packets whose first bytes are those of RTP.
    pub rtp_share: f64,
    /// The source is a log that has totals only; its packets of TCP include those without payload.
    pub is_totals: bool,
}

impl FlowShape {
    /// Returns the shape of a log's row. `totals` has packets, if the log counts them, and payload bytes from
    /// the client and from the server.
    pub fn from_totals(
        protocol: Protocol,
        ports: [u16; 2],
        duration: Option<Dur>,
        totals: [(Option<u64>, u64); 2],
    ) -> FlowShape {
        let way = |(packets, bytes)| Way { packets, bytes, ..Way::default() };
        FlowShape {
            protocol,
            ports,
            duration: duration.unwrap_or_default(),
            ways: totals.map(way),
            named: None,
            rtp_share: 0.0,
            is_totals: true,
        }
    }
}

/// Gathers the shape of a flow from its packets.
#[derive(Debug, Default)]
pub struct Observed {
    sides: [Side; 2],
    heads: Heads,
    /// Times of the first and the last packet.
    span: Option<(i64, i64)>,
}

/// Counts of one side's packets.
#[derive(Debug, Default)]
struct Side {
    packets: u64,
    bytes: u64,
    small: u64,
    tiny: u64,
    last: i64,
    detail: Option<Box<Detail>>,
}

/// Histograms of one side's packets, from packet number [`FIRST`] on.
#[derive(Debug)]
struct Detail {
    gaps: [u32; GAP_BINS],
    intervals: [u32; GAP_BINS],
    sizes: [u32; SIZE_BINS],
    frame_began: i64,
    frames: u64,
    packets: u64,
}

impl Observed {
    /// Adds a packet with payload: its time in nanoseconds, the side that sent it, 0 or 1, and the head of
    /// its payload. Packets come in the order of the capture; one that is late counts as without a gap.
    pub fn add(&mut self, at: i64, side: usize, head: Head) {
        let (first, last) = self.span.get_or_insert((at, at));
        (*first, *last) = ((*first).min(at), (*last).max(at));
        self.heads.add(side, head);
        self.sides[side].add(at, head.payload());
    }

    /// Returns the shape of the packets so far. `client` is the side of the client, 0 or 1; `ports` and `writes` are
    /// the client's and the server's, and writes may be empty. A side of at most `FIRST` packets has no rhythm.
    pub fn shape(
        &self,
        protocol: Protocol,
        client: usize,
        ports: [u16; 2],
        writes: [&[Write]; 2],
    ) -> FlowShape {
        let way = |side: usize, writes| self.sides[side].compute_way(writes);
        FlowShape {
            protocol,
            ports,
            duration: Dur(self.span.map_or(0, |(first, last)| last.abs_diff(first))),
            ways: [way(client, writes[0]), way(1 - client, writes[1])],
            named: self.heads.find_class(protocol, client, ports),
            rtp_share: self.heads.rtp_share(),
            is_totals: false,
        }
    }

    /// Returns the tunnel that the flow is; `None` if it is none. Arguments as for [`Observed::shape`].
    pub fn find_tunnel(&self, protocol: Protocol, client: usize, ports: [u16; 2]) -> Option<Tunnel> {
        self.heads.find_tunnel(protocol, client, ports)
    }
}

impl Side {
    /// Adds a packet with `payload` bytes at time `at`, ns; after the first [`FIRST`] also to the histograms.
    fn add(&mut self, at: i64, payload: u32) {
        self.packets += 1;
        self.bytes += u64::from(payload);
        self.small += u64::from(payload < thresholds::SMALL_BYTES);
        self.tiny += u64::from(payload <= thresholds::TINY_BYTES);
        if self.packets > FIRST {
            let last = self.last;
            self.detail.get_or_insert_with(|| Box::new(Detail::new(last))).add(last, at, payload);
        }
        self.last = self.last.max(at);
        if self.packets == 1 {
            self.last = at;
        }
    }

    /// Returns the features of one direction; `writes` are those of its sender.
    fn compute_way(&self, writes: &[Write]) -> Way {
        let is_chunk = |(place, write): &(usize, &Write)| {
            write.bytes > thresholds::CHUNK_BYTES && (*place == 0 || write.idle >= thresholds::CHUNK_PAUSE)
        };
        Way {
            packets: Some(self.packets),
            bytes: self.bytes,
            small: self.small,
            tiny: self.tiny,
            rhythm: self.detail.as_ref().map(|detail| detail.compute_rhythm()),
            chunks: writes.iter().enumerate().filter(is_chunk).count() as u32,
            pauses: writes.len().saturating_sub(1) as u32,
        }
    }
}

impl Detail {
    /// Returns histograms whose first frame begins with one packet at `at`, ns.
    fn new(at: i64) -> Detail {
        Detail {
            gaps: [0; GAP_BINS],
            intervals: [0; GAP_BINS],
            sizes: [0; SIZE_BINS],
            frame_began: at,
            frames: 1,
            packets: 1,
        }
    }

    /// Adds a packet at `at` that came after one at `last`, both ns, to the histograms of gaps, sizes and
    /// frames.
    fn add(&mut self, last: i64, at: i64, payload: u32) {
        let gap = at.saturating_sub(last).max(0);
        self.gaps[find_bin(gap)] += 1;
        self.sizes[((payload / SIZE_BIN) as usize).min(SIZE_BINS - 1)] += 1;
        self.packets += 1;
        if gap >= thresholds::WITHIN_FRAME.0 as i64 {
            self.intervals[find_bin(at.saturating_sub(self.frame_began).max(0))] += 1;
            self.frame_began = at;
            self.frames += 1;
        }
    }

    /// Returns the rhythm that the histograms show.
    fn compute_rhythm(&self) -> Rhythm {
        let gap = find_quantile(&self.gaps, 50);
        let interval = find_quantile(&self.intervals, 50);
        Rhythm {
            gap_p50_ms: gap as u32,
            steady: compute_share_near(&self.gaps, gap),
            sizes: [10, 50, 90].map(|percent| find_quantile(&self.sizes, percent) as u32 * SIZE_BIN),
            frames: Frames {
                packets: self.packets as f64 / self.frames as f64,
                interval_p50_ms: interval as u32,
                steady: compute_share_near(&self.intervals, interval),
            },
        }
    }
}

/// Returns the bin of a time in nanoseconds. Half a millisecond is added, so that a bin is centred on whole
/// milliseconds, where codecs have their intervals.
fn find_bin(ns: i64) -> usize {
    (((ns.saturating_add(MS / 2)) / MS) as usize).min(GAP_BINS - 1)
}

/// Returns the bin of the nearest-rank quantile of `percent`, 0 to 100; 0 without values.
fn find_quantile(bins: &[u32], percent: u64) -> usize {
    let all: u64 = bins.iter().map(|&count| u64::from(count)).sum();
    let rank = (all * percent).div_ceil(100).max(1);
    let mut below = 0;
    bins.iter()
        .position(|&count| {
            below += u64::from(count);
            below >= rank
        })
        .unwrap_or(0)
}

/// Returns the share of values within half and one and a half times a bin; 0 without values and for the last
/// bin, which has gaps of any length.
fn compute_share_near(bins: &[u32], middle: usize) -> f64 {
    let sum = |bins: &[u32]| bins.iter().map(|&count| u64::from(count)).sum::<u64>();
    let within = middle.div_ceil(2)..=(middle + middle / 2).min(bins.len() - 1);
    if middle + 1 >= bins.len() { 0.0 } else { sum(&bins[within]) as f64 / sum(bins).max(1) as f64 }
}
