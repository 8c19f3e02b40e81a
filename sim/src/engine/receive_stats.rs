//! What a flow of datagrams has sent and received: delays, losses and jitter.

use super::connection::Open;
use crate::record::DatagramRecord;
use crate::units::Dur;

/// Gain of the jitter estimate of RFC 3550 section 6.4.1.
const JITTER_GAIN: f64 = 1.0 / 16.0;

/// Statistics of one flow, and where its sender is.
#[derive(Debug, Default)]
pub(super) struct ReceiveStats {
    pub(super) open: Option<Open>,
    /// Number of the next packet.
    pub(super) number: u32,
    /// Number of the next spurt, and packets left of the present one.
    pub(super) spurt: u64,
    pub(super) left: u64,
    /// Packets sent within the window, and how many of them were dropped.
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// IP bytes of the packets that arrived.
    bytes: u64,
    /// One-way delays of the packets that arrived, in order of arrival.
    delays_ns: Vec<u64>,
    jitter_ns: f64,
    jitter_sum_ns: f64,
}

impl ReceiveStats {
    /// Records an arrival `delay` after it was sent.
    pub(super) fn record_arrival(&mut self, delay: Dur, bytes: u16) {
        if let Some(&before) = self.delays_ns.last() {
            let change = delay.0.abs_diff(before) as f64;
            self.jitter_ns += (change - self.jitter_ns) * JITTER_GAIN;
            self.jitter_sum_ns += self.jitter_ns;
        }
        self.delays_ns.push(delay.0);
        self.bytes += u64::from(bytes);
    }

    /// Returns the record of the flow, if it began.
    pub(super) fn record(&mut self) -> Option<DatagramRecord> {
        let open = self.open?;
        let received = self.delays_ns.len();
        self.delays_ns.sort_unstable();
        let rank = |share: f64| match received {
            0 => f64::NAN,
            _ => {
                self.delays_ns[((share * received as f64).ceil() as usize).clamp(1, received) - 1] as f64
                    / 1e9
            }
        };
        let sum: u128 = self.delays_ns.iter().map(|&delay| u128::from(delay)).sum();
        Some(DatagramRecord {
            key: open.key,
            client: open.client,
            source: open.source,
            upload: open.upload,
            sent: self.sent,
            received: received as u64,
            lost: self.lost,
            bytes: self.bytes,
            delay_s: [sum as f64 / received as f64 / 1e9, rank(0.5), rank(0.95), rank(0.99)],
            jitter_s: if received == 0 {
                f64::NAN
            } else {
                self.jitter_sum_ns / (received as f64 - 1.0).max(1.0) / 1e9
            },
        })
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// RFC 3550: J += (|D| − J) / 16 with D the change of transit time.
    #[test]
    fn record_arrival__jitter_by_hand() {
        let mut stats = ReceiveStats { open: Some(Open::default()), ..ReceiveStats::default() };
        for ms in [10, 26, 26, 10] {
            stats.record_arrival(Dur::from_millis(ms), 200);
        }
        let (first, second) = (1.0, 1.0 - 1.0 / 16.0);
        let third = second + (16.0 - second) / 16.0;
        let expected = (first + second + third) / 3.0 / 1e3;
        let record = stats.record().expect("it began");
        assert!((record.jitter_s - expected).abs() < 1e-12, "{} for {expected}", record.jitter_s);
        assert_eq!((record.received, record.bytes), (4, 800));
        assert_eq!(record.delay_s, [0.018, 0.010, 0.026, 0.026]);
    }
}
