//! Datagram flows: packets sent at given times, without acknowledgements or retransmissions.
//!
//! A flow's record says how many packets arrived, and how late.

use super::World;
use super::connection::{Open, Payload};
use crate::packet::{Kind, Packet};
use crate::record::DatagramRecord;
use crate::units::{Dur, Time};

/// Gain of the jitter estimate of RFC 3550 section 6.4.1.
const JITTER_GAIN: f64 = 1.0 / 16.0;

/// Statistics of one flow, and where its sender is.
#[derive(Debug, Default)]
pub(super) struct ReceiveStats {
    open: Option<Open>,
    /// Number of the next packet.
    number: u32,
    /// Number of the next spurt, and packets left of the present one.
    spurt: u64,
    left: u64,
    /// Packets sent within the window, and how many of them were dropped.
    sent: u64,
    lost: u64,
    /// IP bytes of the packets that arrived.
    bytes: u64,
    /// One-way delays of the packets that arrived, in order of arrival.
    delays_ns: Vec<u64>,
    jitter_ns: f64,
    jitter_sum_ns: f64,
}

impl World {
    /// Sends the next packet of the flow in `slot` and schedules the one after it.
    pub(super) fn send_datagram(&mut self, slot: u32) {
        let (now, open) = (self.now, self.live[slot as usize].open);
        let Payload::Datagrams(index) = open.payload else { return };
        let stream = &self.setup.apps.streams[index as usize];
        let stats = &mut self.datagrams[index as usize];
        stats.open = Some(open);
        if stats.left == 0 {
            stats.left = stream.spurt_packets(stats.spurt);
            stats.spurt += 1;
        }
        stats.left -= 1;
        let pause = if stats.left == 0 { stream.pause(stats.spurt) } else { Dur::ZERO };
        let packet = Packet::new(slot, Kind::Datagram, stats.number, stream.packet_bytes);
        // The time of sending travels with the packet: a table of packets in flight would have to be searched.
        let packet = Packet { window_hint: 0, ..packet.with_tag(now.0) };
        stats.number = stats.number.wrapping_add(1);
        let is_measured = self.is_in_window(now);
        self.datagrams[index as usize].sent += u64::from(is_measured);
        self.outstanding += u64::from(is_measured);
        self.live[slot as usize].think_until = now + stream.interval + pause;
        self.inject(packet);
        self.arm(slot);
    }

    /// Records the arrival of a datagram.
    pub(super) fn receive_datagram(&mut self, packet: &Packet) {
        let (sent, now) = (Time(packet.tag()), self.now);
        if self.is_in_window(sent)
            && let Some(stats) = self.receive_stats(packet)
        {
            stats.record_arrival(now.since(sent), packet.bytes);
            self.settle_datagram();
        }
    }

    /// Records the drop of a datagram.
    pub(super) fn lose_datagram(&mut self, packet: &Packet) {
        if self.is_in_window(Time(packet.tag()))
            && let Some(stats) = self.receive_stats(packet)
        {
            stats.lost += 1;
            self.settle_datagram();
        }
    }

    /// Counts a measured datagram as no longer outstanding.
    fn settle_datagram(&mut self) {
        self.outstanding -= 1;
        self.is_over |= self.window_is_over && self.outstanding == 0;
    }

    fn receive_stats(&mut self, packet: &Packet) -> Option<&mut ReceiveStats> {
        match self.live[packet.flow as usize].open.payload {
            Payload::Datagrams(index) => self.datagrams.get_mut(index as usize),
            _ => None,
        }
    }

    fn is_in_window(&self, at: Time) -> bool {
        (self.setup.window.0..self.setup.window.1).contains(&at)
    }

    /// Returns a record for every flow that began.
    pub(super) fn datagram_records(&mut self) -> Vec<DatagramRecord> {
        self.datagrams.iter_mut().filter_map(ReceiveStats::record).collect()
    }
}

impl ReceiveStats {
    fn record_arrival(&mut self, delay: Dur, bytes: u16) {
        if let Some(&before) = self.delays_ns.last() {
            let change = delay.0.abs_diff(before) as f64;
            self.jitter_ns += (change - self.jitter_ns) * JITTER_GAIN;
            self.jitter_sum_ns += self.jitter_ns;
        }
        self.delays_ns.push(delay.0);
        self.bytes += u64::from(bytes);
    }

    fn record(&mut self) -> Option<DatagramRecord> {
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
