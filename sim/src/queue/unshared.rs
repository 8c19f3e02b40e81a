//! The link that nobody shares: every connection has its whole rate to itself, and nothing is dropped.
//!
//! An ideal that cannot be deployed: the time that remains is that of the path and of TCP. Packets of a
//! connection still follow each other, as on a private link. It has no queue to be asked; the
//! link asks when a packet's transmission starts ([`Unshared::pass`]).

use crate::packet::Packet;
use crate::units::{Dur, Time};

/// The links of all connections, by slot: each is busy until a known time.
#[derive(Debug, Default)]
pub struct Unshared {
    free: Vec<Time>,
}

impl Unshared {
    /// Notifies the queue that a new connection has `slot`.
    pub fn open(&mut self, slot: u32) {
        let slot = slot as usize;
        if slot >= self.free.len() {
            self.free.resize(slot + 1, Time::ZERO);
        }
        self.free[slot] = Time::ZERO;
    }

    /// Returns when the transmission of a packet starts that arrives at `now` and takes `duration`.
    #[inline]
    pub fn pass(&mut self, packet: &Packet, now: Time, duration: Dur) -> Time {
        let free = &mut self.free[packet.flow as usize];
        let start = now.max(*free);
        *free = start + duration;
        start
    }
}
