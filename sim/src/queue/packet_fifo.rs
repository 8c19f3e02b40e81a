//! A plain FIFO of packets with their arrival times, from which the other disciplines are built.

use crate::packet::Packet;
use crate::units::{Buffer, Time};
use std::collections::VecDeque;

/// Packets of one flow or class in order of arrival.
#[derive(Default)]
pub(super) struct PacketFifo {
    packets: VecDeque<(Packet, Time)>,
    bytes: u64,
}

/// The number of packets and bytes waiting.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Occupancy {
    pub packets: u32,
    pub bytes: u64,
}

impl PacketFifo {
    /// Appends a packet that arrives at `now`.
    pub fn push(&mut self, packet: Packet, now: Time) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back((packet, now));
    }

    /// Removes the first packet; returns it and its arrival time, `None` if the FIFO is empty.
    pub fn pop(&mut self) -> Option<(Packet, Time)> {
        let (packet, at) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some((packet, at))
    }

    /// Removes the last packet; returns it and its arrival time, `None` if the FIFO is empty.
    pub fn pop_tail(&mut self) -> Option<(Packet, Time)> {
        let (packet, at) = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.bytes);
        Some((packet, at))
    }

    /// Removes the packet at this index, 0 for the first, and returns it; `None` if there are
    /// fewer.
    pub fn remove(&mut self, place: usize) -> Option<Packet> {
        let (packet, _) = self.packets.remove(place)?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Returns the packets in the order in which they leave.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().map(|(packet, _)| packet)
    }

    /// Returns the first packet, `None` if the FIFO is empty.
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front().map(|(packet, _)| packet)
    }

    /// Returns the last packet, `None` if the FIFO is empty.
    pub fn tail(&self) -> Option<&Packet> {
        self.packets.back().map(|(packet, _)| packet)
    }

    /// Returns whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the number of packets and bytes waiting.
    pub fn occupancy(&self) -> Occupancy {
        Occupancy { packets: self.packets.len() as u32, bytes: self.bytes }
    }
}

impl Occupancy {
    /// Adds one packet.
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
    }

    /// Subtracts one packet.
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
    }

    /// Subtracts the packets by which one of the FIFOs has shrunk from `before` to `after`, which
    /// must not be larger.
    pub fn shrink(&mut self, before: Occupancy, after: Occupancy) {
        self.packets -= before.packets - after.packets;
        self.bytes -= before.bytes - after.bytes;
    }

    /// Returns whether more is waiting than `limit` allows.
    pub fn exceeds(&self, limit: Buffer) -> bool {
        match limit {
            Buffer::Packets(limit) => self.packets > limit,
            Buffer::Bytes(limit) => self.bytes > limit,
        }
    }

    /// Returns whether there is no room for `packet` under `limit`.
    pub fn is_full_for(&self, packet: &Packet, limit: Buffer) -> bool {
        match limit {
            Buffer::Packets(limit) => self.packets >= limit,
            Buffer::Bytes(limit) => self.bytes + u64::from(packet.bytes) > limit,
        }
    }
}
