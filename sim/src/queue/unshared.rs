//! The link that nobody shares: every connection has its whole rate to itself, and nothing is dropped.
//!
//! An ideal that cannot be deployed: the time that remains is that of the path and of TCP. Packets of a
//! connection still follow each other, as on a private link. It has no queue to be asked; the
//! link asks when a packet's transmission starts ([`Unshared::pass`]).

use crate::packet::Packet;
use crate::units::{Dur, Time};

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

    /// When the transmission of a packet that arrives at `now` and takes `duration` starts.
    #[inline]
    pub fn pass(&mut self, packet: &Packet, now: Time, duration: Dur) -> Time {
        let free = &mut self.free[packet.flow as usize];
        let start = now.max(*free);
        *free = start + duration;
        start
    }
}
