//! Datagram flows: packets sent at given times, without acknowledgements or retransmissions.
//!
//! A flow's record says how many packets arrived, and how late.

use super::connection::Payload;
use super::receive_stats::ReceiveStats;
use super::world::World;
use crate::packet::{Kind, Packet};
use crate::record::DatagramRecord;
use crate::units::{Dur, Time};

impl World {
    /// Sends the next packet or frame of the flow in `slot` and schedules the one after it.
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
        let (packets, bytes) = stream.packets(stats.frame);
        let first = stats.number;
        (stats.frame, stats.number) = (stats.frame + 1, first.wrapping_add(packets));
        self.live[slot as usize].think_until = now + stream.interval + pause;
        if self.is_in_window(now) {
            self.datagrams[index as usize].record_sent(now, first, packets);
            self.outstanding += u64::from(packets);
        }
        for number in 0..packets {
            let packet = Packet::new(slot, Kind::Datagram, first.wrapping_add(number), bytes);
            // The time of sending travels with the packet: a table of packets in flight would have to be searched.
            self.inject(Packet { window_hint: 0, ..packet.with_tag(now.0) });
        }
        self.arm(slot);
    }

    /// Records the arrival of a datagram.
    pub(super) fn receive_datagram(&mut self, packet: &Packet) {
        let (sent, now) = (Time(packet.tag()), self.now);
        if self.is_in_window(sent)
            && let Some(stats) = self.receive_stats(packet)
        {
            stats.record_arrival(packet.seq, now.since(sent), packet.bytes);
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
    pub(super) fn datagram_records(&self) -> Vec<DatagramRecord> {
        self.datagrams.iter().filter_map(ReceiveStats::record).collect()
    }
}
