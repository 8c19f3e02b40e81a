//! The link that nobody shares: every connection has its whole rate to itself, and nothing is dropped.
//!
//! An ideal that cannot be deployed: the time that remains is that of the path and of TCP. Packets of one
//! direction of a connection still follow each other, as on a private link. It has no queue to be asked; the
//! link asks when a packet's transmission starts ([`Unshared::pass`]).

use crate::packet::Packet;
use crate::units::Time;

/// Until when each connection's own link is busy, by slot.
#[derive(Debug, Default)]
pub struct Unshared {
    free: Vec<Time>,
}

impl Unshared {
    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        let slot = slot as usize;
        if slot >= self.free.len() {
            self.free.resize(slot + 1, Time::ZERO);
        }
        self.free[slot] = Time::ZERO;
    }

    /// When the transmission of a packet that arrives at `now` starts; `until` tells when one that starts at a time ends.
    #[inline]
    pub fn pass(&mut self, packet: &Packet, now: Time, until: impl Fn(Time) -> Time) -> Time {
        let free = &mut self.free[packet.flow as usize];
        let start = now.max(*free);
        *free = until(start);
        start
    }
}
