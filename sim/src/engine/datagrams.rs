//! Datagram flows: packets sent at given times, without acknowledgements or retransmissions. The times are those of an
//! application's rules, or of a recorded flow.
//!
//! A flow's record says how many packets arrived, and how late.

use super::connection::Payload;
use super::receive_stats::ReceiveStats;
use super::recorded::Recorded;
use super::world::World;
use crate::packet::{Kind, Packet, flag};
use crate::playback::Playback;
use crate::record::DatagramRecord;
use crate::traffic::class::FlowClass;
use crate::units::{Dur, Time};

impl World {
    /// Sends the packets of the flow in `slot` that are due, moves it on to its next frame or
    /// spurt, and arms the timer for it. A recorded flow sends everything that is due. Connections
    /// without a datagram flow are left alone.
    pub(super) fn send_datagram(&mut self, slot: u32) {
        let (now, open) = (self.now, self.live[slot as usize].open);
        let Payload::Datagrams(index) = open.payload else { return };
        let Some(stream) = self.setup.apps.streams.get(index as usize) else {
            return self.send_recorded(slot, index);
        };
        let stats = &mut self.datagrams[index as usize];
        stats.open = Some(open);
        if stats.left == 0 {
            stats.left = stream.spurt_packets(stats.spurt);
            stats.spurt += 1;
        }
        stats.left -= 1;
        let pause = if stats.left == 0 { stream.pause(stats.spurt) } else { Dur::ZERO };
        let (packets, bytes) = stream.packets(stats.frame);
        stats.frame += 1;
        let next = now + stream.interval + pause;
        self.inject_datagrams(slot, index, packets, bytes);
        self.live[slot as usize].think_until = next;
        self.arm_timer(slot);
    }

    /// Starts to play one direction of a recorded flow on the connection in `slot`, and sends what
    /// is due at once. `connection` is its index in the traffic, `joined` its age. The connection's
    /// payload becomes the number of the new datagram flow.
    pub(super) fn begin_recorded(&mut self, slot: u32, connection: u32, joined: Dur) {
        let index = self.datagrams.len() as u32;
        let live = &mut self.live[slot as usize];
        live.open.payload = Payload::Datagrams(index);
        let traffic = &self.setup.traffic.connections[connection as usize];
        let Some(flow) = traffic.writes.datagrams() else { return };
        let is_reverse = live.open.upload != traffic.upload;
        self.recorded.push(Recorded::new(flow, connection, is_reverse, self.now, joined));
        let is_call = traffic.flow_class == Some(FlowClass::Call);
        let mut stats = ReceiveStats::new(if is_call { Playback::CALL } else { Playback::None });
        stats.open = Some(live.open);
        self.datagrams.push(stats);
        self.send_recorded(slot, index);
    }

    /// Sends the packets of recorded flow `index` that are due, and arms the timer for the next
    /// one. After the last one the connection is finished, and its slot is free as soon as no
    /// packet is in the network.
    fn send_recorded(&mut self, slot: u32, index: u32) {
        let number = index as usize - self.setup.apps.streams.len();
        let connection = self.recorded[number].connection as usize;
        let traffic = self.setup.traffic.clone();
        let Some(flow) = traffic.connections[connection].writes.datagrams() else { return };
        while let Some(datagram) = self.recorded[number].take_due(flow, self.now) {
            self.inject_datagrams(slot, index, 1, datagram.bytes());
        }
        let next = self.recorded[number].next_due(flow);
        let live = &mut self.live[slot as usize];
        live.think_until = next.unwrap_or(Time::NEVER);
        live.is_finished = next.is_none();
        self.arm_timer(slot);
        self.release(slot);
    }

    /// Sends `packets` packets of flow `index` at once, of `bytes` of IP length each, with the
    /// flow's next numbers. Within the measured window they are recorded as sent and count as
    /// outstanding.
    fn inject_datagrams(&mut self, slot: u32, index: u32, packets: u32, bytes: u16) {
        let (now, is_measured) = (self.now, self.is_in_window(self.now));
        let stats = &mut self.datagrams[index as usize];
        let first = stats.number;
        stats.number = first.wrapping_add(packets);
        if is_measured {
            stats.record_sent(now, first, packets);
            self.outstanding += u64::from(packets);
        }
        let is_nqb = self.setup.nqb && self.live[slot as usize].open.builds_no_queue();
        for number in 0..packets {
            let mut packet = Packet::new(slot, Kind::Datagram, first.wrapping_add(number), bytes);
            packet.flags = flag::bits_if(is_nqb, flag::NQB);
            // The packet carries its time of sending: a table of packets in flight would have to be searched.
            self.inject(Packet { window_hint: 0, ..packet.with_tag(now.0) });
        }
    }

    /// Records the arrival of a datagram that was sent within the measured window, which may end
    /// the run. Other packets change nothing.
    pub(super) fn receive_datagram(&mut self, packet: &Packet) {
        let (sent, now) = (Time(packet.tag()), self.now);
        if self.is_in_window(sent)
            && let Some(stats) = self.receive_stats(packet)
        {
            stats.record_arrival(packet.seq, now.since(sent), packet.bytes);
            self.settle_datagram();
        }
    }

    /// Counts the drop of a datagram that was sent within the measured window, which may end the
    /// run. Other packets change nothing.
    pub(super) fn lose_datagram(&mut self, packet: &Packet) {
        if self.is_in_window(Time(packet.tag()))
            && let Some(stats) = self.receive_stats(packet)
        {
            stats.lost += 1;
            self.settle_datagram();
        }
    }

    /// Counts a measured datagram as no longer outstanding. The run ends if the window is over and
    /// nothing else is outstanding.
    fn settle_datagram(&mut self) {
        self.outstanding -= 1;
        self.is_over |= self.window_is_over && self.outstanding == 0;
    }

    /// Returns the receiver's statistics of the packet's flow; `None` if it is not a flow of datagrams.
    fn receive_stats(&mut self, packet: &Packet) -> Option<&mut ReceiveStats> {
        match self.live[packet.flow as usize].open.payload {
            Payload::Datagrams(index) => self.datagrams.get_mut(index as usize),
            _ => None,
        }
    }

    /// Returns whether a time lies in the measured window, whose end is not part of it.
    fn is_in_window(&self, at: Time) -> bool {
        (self.setup.window.0..self.setup.window.1).contains(&at)
    }

    /// Returns a record for every flow that began, those of applications first, each kind in order.
    /// Recorded flows, which are many and short, have one only if they sent something in the
    /// window.
    pub(super) fn datagram_records(&self) -> Vec<DatagramRecord> {
        let of_apps = self.setup.apps.streams.len();
        let percentiles = &self.setup.apps.percentiles;
        let shown = |(index, stats): &(usize, &ReceiveStats)| *index < of_apps || stats.is_measured();
        self.datagrams
            .iter()
            .enumerate()
            .filter(shown)
            .filter_map(|(_, stats)| stats.record(percentiles))
            .collect()
    }
}
