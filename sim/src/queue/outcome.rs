//! The answers of a queue discipline: the next packet, and the packets that it dropped.

use crate::drop_reason::DropReason;
use crate::packet::Packet;
use crate::units::Time;

/// A dropped packet and the reason.
#[derive(Debug, Clone, Copy)]
pub struct Dropped {
    /// The packet.
    pub packet: Packet,
    /// The reason.
    pub reason: DropReason,
}

/// The answer of [`Queue::dequeue`](super::Queue::dequeue).
#[derive(Debug, Clone, Copy)]
pub enum Dequeued {
    /// The packet to send, and the time at which it arrived at the queue.
    Packet(Packet, Time),
    /// Packets wait, but none may leave before this time (shapers).
    WaitUntil(Time),
    /// No packet waits.
    Empty,
}
