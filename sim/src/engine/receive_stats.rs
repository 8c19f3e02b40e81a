//! Statistics of a flow of datagrams: delays, losses, jitter, and what was missing when it was played.

use super::connection::Open;
use crate::playback::Playback;
use crate::record::{DatagramRecord, Played};
use crate::units::{Dur, Time};

/// Gain of the jitter estimate of RFC 3550 section 6.4.1.
const JITTER_GAIN: f64 = 1.0 / 16.0;
/// Delay of a packet that has not arrived.
const MISSING: u64 = u64::MAX;
/// Frames shown last whose mean duration a freeze is compared with, and what it must exceed that by, ns:
/// `freezeCount` of W3C "Identifiers for WebRTC's Statistics API".
const FREEZE_FRAMES: usize = 30;
const FREEZE_EXCESS_NS: f64 = 150e6;

/// Statistics of one flow, and the state of its sender.
#[derive(Debug, Default)]
pub(super) struct ReceiveStats {
    pub(super) open: Option<Open>,
    /// Number of the next packet, and of the next packet or frame.
    pub(super) number: u32,
    pub(super) frame: u64,
    /// Number of the next spurt, and packets or frames left of the present one.
    pub(super) spurt: u64,
    pub(super) left: u64,
    /// Packets sent within the window that were dropped.
    pub(super) lost: u64,
    playback: Playback,
    /// Number of the first packet that was sent within the window.
    first: u32,
    /// One-way delays of the packets sent within the window, in the order of their numbers.
    delays_ns: Vec<u64>,
    /// When each frame was sent, and the index of its first packet in `delays_ns`; for video only.
    frames: Vec<(Time, usize)>,
    /// IP bytes of the packets that arrived.
    bytes: u64,
    /// Delay of the packet that arrived last.
    before_ns: Option<u64>,
    jitter_ns: f64,
    jitter_sum_ns: f64,
}

impl ReceiveStats {
    /// Returns the statistics of a flow that has not begun.
    pub(super) fn new(playback: Playback) -> ReceiveStats {
        ReceiveStats { playback, ..ReceiveStats::default() }
    }

    /// Records that `packets` packets are sent at `now`, within the window; the first has this
    /// number. Calls come in the order of numbers, without gaps.
    pub(super) fn record_sent(&mut self, now: Time, number: u32, packets: u32) {
        if self.delays_ns.is_empty() {
            self.first = number;
        }
        if matches!(self.playback, Playback::Frames { .. }) {
            self.frames.push((now, self.delays_ns.len()));
        }
        self.delays_ns.resize(self.delays_ns.len() + packets as usize, MISSING);
    }

    /// Returns whether the flow sent anything within the window.
    pub(super) fn is_measured(&self) -> bool {
        !self.delays_ns.is_empty()
    }

    /// Records the arrival of packet `number`, `delay` after it was sent, and updates the jitter
    /// (RFC 3550 section 6.4.1). It panics if [`ReceiveStats::record_sent`] has not recorded the
    /// packet.
    pub(super) fn record_arrival(&mut self, number: u32, delay: Dur, bytes: u16) {
        if let Some(before) = self.before_ns.replace(delay.0) {
            let change = delay.0.abs_diff(before) as f64;
            self.jitter_ns += (change - self.jitter_ns) * JITTER_GAIN;
            self.jitter_sum_ns += self.jitter_ns;
        }
        self.delays_ns[number.wrapping_sub(self.first) as usize] = delay.0;
        self.bytes += u64::from(bytes);
    }

    /// Returns the record of the flow, with these percentiles (0 to 100) of its delay in addition
    /// to the usual ones; `None` if it has not begun. Delays and jitter are NaN if nothing arrived.
    pub(super) fn record(&self, percentiles: &[f64]) -> Option<DatagramRecord> {
        let open = self.open?;
        let mut sorted: Vec<u64> = self.delays_ns.iter().copied().filter(|&delay| delay != MISSING).collect();
        let received = sorted.len();
        sorted.sort_unstable();
        let rank = |share: f64| match received {
            0 => f64::NAN,
            _ => sorted[((share * received as f64).ceil() as usize).clamp(1, received) - 1] as f64 / 1e9,
        };
        let sum: u128 = sorted.iter().map(|&delay| u128::from(delay)).sum();
        Some(DatagramRecord {
            key: open.key,
            client: open.client,
            source: open.source,
            flow_class: open.flow_class,
            upload: open.upload,
            sent: self.delays_ns.len() as u64,
            received: received as u64,
            lost: self.lost,
            bytes: self.bytes,
            delay_s: [sum as f64 / received as f64 / 1e9, rank(0.5), rank(0.95), rank(0.99)],
            asked_s: percentiles.iter().map(|percentile| (*percentile, rank(percentile / 100.0))).collect(),
            jitter_s: if received == 0 {
                f64::NAN
            } else {
                self.jitter_sum_ns / (received as f64 - 1.0).max(1.0) / 1e9
            },
            late: (received - sorted.partition_point(|&delay| delay <= DatagramRecord::LATE.0)) as u64,
            played: self.play_out(sorted.first().copied()),
        })
    }

    /// Returns the playout of the flow. `least_ns` is the delay of its fastest packet, `None` if
    /// nothing arrived: then everything is missing.
    fn play_out(&self, least_ns: Option<u64>) -> Played {
        // A flow of which nothing arrived has no playout point: all of it is missing at any.
        let point = |hold: Dur| least_ns.unwrap_or(0) + hold.0;
        match self.playback {
            Playback::None => Played::Not,
            Playback::Sound { codec, packet, hold } => {
                let is_missing = |&delay: &u64| delay > point(hold);
                let missing: Vec<bool> = self.delays_ns.iter().map(is_missing).collect();
                let begins = missing.windows(2).filter(|pair| pair[1] && !pair[0]).count();
                Played::Sound {
                    codec,
                    mouth_to_ear_s: match least_ns {
                        Some(_) => (packet.0 + point(hold)) as f64 / 1e9,
                        None => f64::NAN,
                    },
                    packets: missing.len() as u64,
                    missing: missing.iter().filter(|is_missing| **is_missing).count() as u64,
                    gaps: (begins + usize::from(missing.first() == Some(&true))) as u64,
                }
            }
            Playback::Frames { interval, hold } => self.play_frames(interval, point(hold)),
        }
    }

    /// Returns the playout of frames that are due `point_ns` after they were sent. A frame that is late is shown when
    /// it is complete, but not after a later one; one that is not complete is never shown.
    fn play_frames(&self, interval: Dur, point_ns: u64) -> Played {
        let ends = self.frames.iter().skip(1).map(|&(_, place)| place).chain([self.delays_ns.len()]);
        let complete: Vec<(Time, u64)> = self
            .frames
            .iter()
            .zip(ends)
            .map(|(&(sent, place), end)| {
                (sent, self.delays_ns[place..end].iter().copied().max().unwrap_or(MISSING))
            })
            .collect();
        let missing = complete.iter().filter(|(_, delay)| *delay > point_ns).count();
        let mut next = u64::MAX;
        let mut shown: Vec<u64> = Vec::with_capacity(complete.len());
        for &(sent, delay) in complete.iter().rev().filter(|(_, delay)| *delay != MISSING) {
            let at = sent.0 + delay.max(point_ns);
            if at < next {
                shown.push(at);
                next = at;
            }
        }
        shown.reverse();
        let whole = complete.first().zip(complete.last());
        let freezes = whole.map_or(0, |(first, last)| {
            count_freezes(&shown, first.0.0 + point_ns, last.0.0 + interval.0 + point_ns, interval)
        });
        Played::Frames {
            frames: complete.len() as u64,
            missing: missing as u64,
            freezes,
            length_s: complete.len() as f64 * interval.as_secs(),
        }
    }
}

/// Returns how often a picture freezes between `begin` and `end`, when frames are shown at the
/// times `shown`. A frame freezes if it lasts at least three times as long as the mean of the
/// latest, and 150 ms longer. Before the first frame the mean is the sender's interval. All times
/// are in ns.
fn count_freezes(shown: &[u64], begin: u64, end: u64, interval: Dur) -> u64 {
    let (mut before, mut count, mut durations) = (begin, 0, Vec::with_capacity(shown.len()));
    for &at in shown.iter().chain([&end]) {
        let duration = at.saturating_sub(before) as f64;
        let latest = &durations[durations.len().saturating_sub(FREEZE_FRAMES)..];
        let mean = match latest.len() {
            0 => interval.0 as f64,
            number => latest.iter().sum::<f64>() / number as f64,
        };
        count += u64::from(duration >= (3.0 * mean).max(mean + FREEZE_EXCESS_NS));
        durations.push(duration);
        before = before.max(at);
    }
    count
}

#[cfg(test)]
#[path = "receive_stats_tests.rs"]
mod tests;
