//! A link without sharing: every connection has its whole rate to itself, and nothing is dropped.
//!
//! This is an ideal that cannot be deployed: the remaining time is that of the path and of TCP. Packets of a
//! connection are still sent one after the other, as on a private link. There is no queue; the link calls
//! [`Unshared::pass`] for the time at which a packet's transmission starts.

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
