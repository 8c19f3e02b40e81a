//! The records of a run: one per transfer, counters per queue, and optionally a packet trace.

use crate::drop_reason::DropReason;
use crate::packet::Colour;
use crate::playback::Codec;
use crate::traffic::class::FlowClass;
use crate::units::{Dur, Rate, Time};
use hdrhistogram::Histogram;

/// One measured transfer: one write of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Names the connection; equal across schemes for the same draw or the same replayed connection.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Number of the write in its connection.
    pub write: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Payload bytes of the whole object this transfer is a piece of (equal to `bytes` unless chopped).
    pub object_bytes: u64,
    /// Key of the transfer that carries the object's first piece (equal to `key` unless chopped).
    pub object_key: u64,
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// What its connection was by its behaviour, if it was recorded.
    pub flow_class: Option<FlowClass>,
    /// Its data went from client to server.
    pub upload: bool,
    /// Its sender misbehaved.
    pub misbehaves: bool,
    /// When the client's SYN or request was sent.
    pub start: Time,
    /// When the first data packet was first sent; [`Time::NEVER`] if none was.
    pub first_data: Time,
    /// When the first segment arrived; [`Time::NEVER`] if it did not. With `one-way` TCP that opens by a SYN, the SYN.
    pub first_byte: Time,
    /// When the last byte arrived; [`Time::NEVER`] if it did not (censored).
    pub end: Time,
    /// Round-trip time of the path without queueing, ns.
    pub rtt_ns: u64,
    /// Number of its path. Equivalent paths, with the same rates and delays, share one; the dumbbell has only one.
    pub path: u32,
    /// Index of its TCP in the run's.
    pub tcp: u8,
    /// Segments retransmitted during this transfer.
    pub retransmits: u32,
    /// Retransmission timeouts during this transfer.
    pub timeouts: u32,
    /// Packets from the sender of the data that links dropped during this transfer, a SYN-ACK among them.
    pub dropped: u32,
    /// It was QUIC in the trace.
    pub is_quic: bool,
    /// Where the writes of its connection are listed, if there are several.
    pub template: Option<Template>,
    /// Names the page it belongs to; 0 for none. Equal across schemes like `key`.
    pub page: u64,
    /// Number of transfers of that page, at most 65,535; 0 without a page. If there are fewer records, the page began
    /// before the measured window.
    pub page_transfers: u16,
    /// Time an idle server would have needed before the first byte, ns.
    pub service_ns: u64,
}

/// Where the writes of a connection are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Template {
    /// This connection of the run's traffic.
    Trace(u32),
    /// This script of the outcome.
    Script(u32),
}

/// What one long-lived flow delivered within the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowRecord {
    /// Names the connection across schemes.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Number of the source of traffic it belongs to; [`FlowRecord::BULK`] for the scenario's bulk flows.
    pub source: u16,
    /// Its data went from client to server.
    pub upload: bool,
    /// Its sender misbehaved.
    pub misbehaves: bool,
    /// Payload bytes that arrived in order.
    pub bytes: u64,
}

impl FlowRecord {
    /// Source of the scenario's bulk flows.
    pub const BULK: u16 = u16::MAX;
}

/// The fate of one datagram flow's packets that were sent within the measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct DatagramRecord {
    /// Names the flow across schemes.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// What it was by its behaviour, if it was recorded.
    pub flow_class: Option<FlowClass>,
    /// From client to server.
    pub upload: bool,
    /// Packets sent.
    pub sent: u64,
    /// Of those, packets that arrived.
    pub received: u64,
    /// Of those, packets that were dropped; the rest was still in the network at the end.
    pub lost: u64,
    /// Bytes of IP length that arrived.
    pub bytes: u64,
    /// One-way delay: mean, p50, p95, p99 (nearest rank), in seconds; NaN if nothing arrived.
    pub delay_s: [f64; 4],
    /// Other percentiles of it that a profile of Quality of Outcome asks for, each with its delay.
    pub asked_s: Vec<(f64, f64)>,
    /// Mean over arrivals of the interarrival jitter of RFC 3550 section 6.4.1, in seconds.
    pub jitter_s: f64,
    /// Of those that arrived, packets later than [`DatagramRecord::LATE`].
    pub late: u64,
    /// How they were played.
    pub played: Played,
}

impl DatagramRecord {
    /// One-way delay beyond which a packet counts as late.
    pub const LATE: Dur = Dur::from_millis(50);
}

/// How the packets of a flow were played; see [`crate::playback`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Played {
    /// They were not, or nothing is known of it.
    #[default]
    Not,
    /// As sound.
    Sound {
        /// The codec that encoded it.
        codec: Codec,
        /// From mouth to ear: sound in a packet, least delay of the network, and the time it was held back, in
        /// seconds; NaN if nothing arrived.
        mouth_to_ear_s: f64,
        /// Packets of the sound.
        packets: u64,
        /// Of those, packets that had not arrived at their playout point.
        missing: u64,
        /// Runs of missing packets.
        gaps: u64,
    },
    /// As frames.
    Frames {
        /// Frames sent.
        frames: u64,
        /// Of those, frames that were not complete at their playout point.
        missing: u64,
        /// Freezes of the picture.
        freezes: u64,
        /// Length of the video in seconds.
        length_s: f64,
    },
}

/// What one viewer of streams saw within the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ViewRecord {
    /// Number of the viewer.
    pub key: u64,
    /// Client host.
    pub client: u32,
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// Videos that the viewer asked for.
    pub starts: u64,
    /// Sum of the times from asking for one of them to its first picture, so far for one that has not begun, in
    /// seconds.
    pub startup_s: f64,
    /// Time in which a video played, in seconds.
    pub played_s: f64,
    /// Time in which a video that had begun stood still for want of data, in seconds.
    pub stalled_s: f64,
    /// Segments that arrived.
    pub segments: u64,
    /// Sum of their bit rates, in bit/s.
    pub rate_bps: f64,
}

/// A probe of a test of responsiveness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeRecord {
    /// Number of the source of traffic it belongs to.
    pub source: u16,
    /// Client host.
    pub client: u32,
    /// It had its own connection; otherwise it was a request within a load-generating one.
    pub is_foreign: bool,
    /// Its connection had a TLS handshake.
    pub has_tls: bool,
    /// It began within the measured window.
    pub is_measured: bool,
    /// When it began.
    pub began: Time,
    /// When its TCP handshake, its TLS handshake and its request were over; [`Time::NEVER`] if they were not, or it had
    /// none.
    pub ends: [Time; 3],
}

impl ProbeRecord {
    /// Returns the durations of TCP handshake, TLS handshake and request in seconds. A stage that
    /// the end of the run cut off lasts until then (`end`). A stage that the probe does not have or
    /// did not reach is `None`.
    pub fn stage_durations_s(&self, end: Time) -> [Option<f64>; 3] {
        let has = [self.is_foreign, self.has_tls, true];
        let mut from = Some(self.began);
        std::array::from_fn(|stage| {
            let begin = from.filter(|_| has[stage])?;
            let over = self.ends[stage];
            from = (over != Time::NEVER).then_some(over);
            Some(from.unwrap_or(end.max(begin)).since(begin).as_secs())
        })
    }
}

/// Packets and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP length.
    pub bytes: u64,
}

impl std::ops::Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Count {
    /// Adds one packet of so many bytes.
    fn add_packet(&mut self, bytes: u16) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Returns the difference to an earlier count, which must not be greater.
    fn since(self, earlier: Count) -> Count {
        Count { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

/// Counts of the packets of one colour at one queue.
///
/// Every packet that arrived has been dropped, has been sent or still waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColourCounts {
    /// Reached the queue, or was dropped before it.
    pub arrived: Count,
    /// Dropped, by [`DropReason`].
    pub drops: [Count; DropReason::ALL.len()],
    /// Left the queue for transmission with a congestion mark set by this queue.
    pub marked: Count,
    /// Left the queue for transmission.
    pub sent: Count,
}

impl ColourCounts {
    /// Returns the packets and bytes dropped for one reason.
    pub fn dropped_for(&self, reason: DropReason) -> Count {
        self.drops[reason as usize]
    }

    /// Returns the packets and bytes dropped for any reason.
    pub fn dropped(&self) -> Count {
        self.drops.iter().fold(Count::default(), |sum, &count| sum + count)
    }

    /// Merges the counts of the queue right behind this one, to which this one sends everything.
    /// The pair's drops are those of both; what leaves the pair is what left `behind`. Arrivals and
    /// marks stay those of the first queue.
    pub fn merge_downstream(&mut self, behind: &ColourCounts) {
        for (own, dropped) in self.drops.iter_mut().zip(behind.drops) {
            *own = *own + dropped;
        }
        self.sent = behind.sent;
    }

    /// Returns the counts since `earlier`, none of which may be greater.
    pub fn since(self, earlier: ColourCounts) -> ColourCounts {
        ColourCounts {
            arrived: self.arrived.since(earlier.arrived),
            drops: std::array::from_fn(|index| self.drops[index].since(earlier.drops[index])),
            marked: self.marked.since(earlier.marked),
            sent: self.sent.since(earlier.sent),
        }
    }
}

/// Counters of one link's queue.
#[derive(Debug, Clone, Default)]
pub struct QueueCounts {
    /// By colour.
    pub colours: [ColourCounts; 3],
    /// Queueing delays in units of 100 ns.
    delays: Delays,
    delay_sum_ns: u128,
}

/// Counts of delays, in the bins of an HDR histogram of three significant digits.
///
/// Recording a delay in the library costs more than the packet's other counters together. So the bins are counted
/// here, and the library's histogram is filled once, when quantiles are asked for.
#[derive(Debug, Clone, Default)]
struct Delays {
    /// Number of delays of zero. They are the commonest where a link seldom queues, and need no bin.
    zero: u64,
    /// Counts of the others by bin, up to that of the longest delay.
    bins: Vec<u32>,
}

impl Delays {
    /// Below this number of units every unit is a bin; beyond it there are half as many bins for each doubling.
    const FINE: u64 = 2048;
    /// Longer delays count as this, almost 4 hours.
    const LONGEST: u64 = 1 << 37;

    /// Counts one delay above zero, in units of 100 ns; a delay below one unit counts in the first
    /// bin.
    #[inline]
    fn add(&mut self, units: u64) {
        let units = units.min(Delays::LONGEST);
        let shift = Delays::FINE.leading_zeros() + 1 - (units | (Delays::FINE - 1)).leading_zeros();
        let bin = u64::from(shift) * (Delays::FINE / 2) + (units >> shift);
        match self.bins.get_mut(bin as usize) {
            Some(count) => *count = count.saturating_add(1),
            None => self.grow(bin as usize),
        }
    }

    /// Extends the bins, which must end before `bin`, up to it and counts a delay there.
    #[cold]
    fn grow(&mut self, bin: usize) {
        self.bins.resize(bin + 1, 0);
        self.bins[bin] = 1;
    }

    /// Returns how many delays were counted.
    fn len(&self) -> u64 {
        self.zero + self.bins.iter().map(|&count| u64::from(count)).sum::<u64>()
    }

    /// Returns the library's histogram of the same delays, in the same units of 100 ns. Each delay
    /// counts as the shortest of its bin.
    fn to_histogram(&self) -> Histogram<u64> {
        // No larger than needed: clearing that of the longest delay costs as much as thousands of packets.
        let longest = Delays::bin_start(self.bins.len() as u64).max(2);
        let mut histogram = Histogram::new_with_bounds(1, longest, 3).expect("the bounds are valid");
        for (bin, &count) in self.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(Delays::bin_start(bin as u64), u64::from(count));
        }
        histogram.saturating_record_n(0, self.zero);
        histogram
    }

    /// Returns the shortest delay of a bin, in the unit of the bins.
    fn bin_start(bin: u64) -> u64 {
        let shift = (bin / (Delays::FINE / 2)).saturating_sub(1);
        (bin - shift * (Delays::FINE / 2)) << shift
    }
}

impl QueueCounts {
    /// Counts a packet that has reached the queue.
    #[inline]
    pub fn count_arrival(&mut self, colour: Colour, bytes: u16) {
        self.colours[colour.index()].arrived.add_packet(bytes);
    }

    /// Counts a packet that was dropped for `reason`.
    pub fn count_drop(&mut self, colour: Colour, bytes: u16, reason: DropReason) {
        self.colours[colour.index()].drops[reason as usize].add_packet(bytes);
    }

    /// Counts a packet that was marked.
    pub fn count_mark(&mut self, colour: Colour, bytes: u16) {
        self.colours[colour.index()].marked.add_packet(bytes);
    }

    /// Counts a packet that starts transmission.
    #[inline]
    pub fn count_sent(&mut self, colour: Colour, bytes: u16) {
        self.colours[colour.index()].sent.add_packet(bytes);
    }

    /// Records the queueing delay of one packet in mean and quantiles; in the quantiles delays
    /// beyond almost 4 hours count as that.
    #[inline]
    pub fn record_delay(&mut self, delay: Dur) {
        if delay == Dur::ZERO {
            self.delays.zero += 1;
            return;
        }
        self.delay_sum_ns += u128::from(delay.0);
        self.delays.add(delay.0 / 100);
    }

    /// Returns the mean of the queueing delays recorded, in seconds; 0 if there are none.
    pub fn delay_mean_s(&self) -> f64 {
        match self.delays.len() {
            0 => 0.0,
            count => self.delay_sum_ns as f64 / count as f64 / 1e9,
        }
    }

    /// Returns mean, p50, p95 and p99 of the queueing delays recorded, in seconds; zeros if there
    /// are none.
    pub fn delay_s(&self) -> [f64; 4] {
        let [p50, p95, p99] = self.delay_quantiles_s([0.5, 0.95, 0.99]);
        [self.delay_mean_s(), p50, p95, p99]
    }

    /// Returns these quantiles (of 0 to 1) of the queueing delays recorded, in seconds, as resolved
    /// by the bins; zeros if there are none.
    pub fn delay_quantiles_s<const N: usize>(&self, quantiles: [f64; N]) -> [f64; N] {
        let histogram = self.delays.to_histogram();
        quantiles.map(|quantile| histogram.value_at_quantile(quantile) as f64 * 1e-7)
    }

    /// Returns the counts by colour since `earlier`, none of which may be greater.
    pub fn since(&self, earlier: &[ColourCounts; 3]) -> [ColourCounts; 3] {
        std::array::from_fn(|index| self.colours[index].since(earlier[index]))
    }
}

/// One link's queue over the measured window.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRecord {
    /// Name of the link: `down`, `up`, or from-to in a topology.
    pub name: String,
    /// Rate of the link.
    pub capacity: Rate,
    /// Counts by colour within the window.
    pub colours: [ColourCounts; 3],
    /// Queueing delay of the packets whose transmission started within the window: mean, p50, p95, p99, in seconds.
    pub delay_s: [f64; 4],
    /// Bytes on the wire of the packets whose transmission started within the window, on a link with a link layer.
    pub wire_bytes: Option<u64>,
    /// On a link that nobody shares, for how long some packet was in transmission.
    pub busy: Option<Dur>,
    /// Length of the window in seconds.
    pub window_s: f64,
}

impl QueueRecord {
    /// Returns the packets and bytes sent within the window, of all colours.
    pub fn sent(&self) -> Count {
        self.colours.iter().fold(Count::default(), |sum, counts| sum + counts.sent)
    }

    /// Returns the mean number of packets waiting within the window, computed from the mean delay
    /// by Little's law.
    pub fn mean_packets(&self) -> f64 {
        self.sent().packets as f64 / self.window_s * self.delay_s[0]
    }

    /// Returns the share of the capacity used, 0 to about 1: by bytes on the wire with a link
    /// layer, otherwise by IP lengths. On a link that nobody shares it is the share of the time in
    /// which some packet was in transmission, since there every connection has the whole capacity.
    pub fn utilisation(&self) -> f64 {
        match self.busy {
            Some(busy) => busy.as_secs() / self.window_s,
            None => {
                let bytes = self.wire_bytes.unwrap_or_else(|| self.sent().bytes);
                bytes as f64 * 8.0 / (self.capacity.0 as f64 * self.window_s)
            }
        }
    }
}

/// An event of a packet trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceEvent {
    /// A host sent the packet.
    Send = 0,
    /// It reached the queue of the bottleneck.
    Enqueue = 1,
    /// It was dropped there.
    Drop = 2,
    /// It reached the host it was meant for.
    Receive = 3,
    /// An acknowledgement reached the sender.
    Ack = 4,
    /// It was marked at the bottleneck.
    Mark = 5,
}

/// Names of the trace events, by number.
pub const TRACE_EVENTS: [&str; 6] = ["send", "enqueue", "drop", "receive", "ack", "mark"];

/// One line of a packet trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRow {
    /// Time of the event.
    pub at: Time,
    /// The event.
    pub event: TraceEvent,
    /// Slot of the connection.
    pub flow: u32,
    /// Its client host.
    pub client: u32,
    /// Segment number; for `ack` the last segment acknowledged.
    pub seq: i64,
    /// IP length in bytes.
    pub bytes: u16,
    /// Colour of the packet.
    pub colour: Colour,
    /// Congestion window of the data's sender in segments, after the event.
    pub cwnd: f64,
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// The quantiles are those of a histogram to which the library has added each delay; delays beyond the longest
    /// count as the longest.
    #[test]
    fn delays__fill_the_librarys_bins() {
        let mut delays = Delays::default();
        let mut library = Histogram::<u64>::new_with_bounds(1, 1 << 37, 3).expect("valid bounds");
        for power in 0..38 {
            for units in [(1u64 << power) - 1, 1 << power, (1 << power) + 1, (1 << power) * 3 / 2, 1 << 40] {
                delays.add(units);
                library.saturating_record(units.min(Delays::LONGEST));
            }
        }
        let histogram = delays.to_histogram();
        assert_eq!(delays.len(), library.len());
        for step in 0..=1000 {
            let quantile = f64::from(step) / 1000.0;
            assert_eq!(histogram.value_at_quantile(quantile), library.value_at_quantile(quantile));
        }
    }
}
