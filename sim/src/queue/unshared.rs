//! A link without sharing: every connection has its whole rate to itself, and nothing is dropped.
//!
//! This is an ideal that cannot be deployed: the remaining time is that of the path and of TCP. Packets of a
//! connection are still sent one after the other, as on a private link. There is no queue; the link calls
//! [`Unshared::pass`] for the time at which a packet's transmission starts.

use crate::packet::Packet;
use crate::units::{Dur, Time};

/// The links of all connections, by slot: each is busy until a known time.
#[derive(Debug)]
pub struct Unshared {
    free: Vec<Time>,
    /// Beginning and end of the measured window.
    window: (Time, Time),
    /// Packets and bytes by colour whose transmission started within the window.
    sent: [(u64, u64); 3],
    /// All links are free from this time on.
    busy_until: Time,
    /// Time within the window in which some link was busy.
    busy: Dur,
}

impl Default for Unshared {
    /// Returns links of no connection, measured without end.
    fn default() -> Unshared {
        Unshared {
            free: Vec::new(),
            window: (Time::ZERO, Time::NEVER),
            sent: [(0, 0); 3],
            busy_until: Time::ZERO,
            busy: Dur::ZERO,
        }
    }
}

impl Unshared {
    /// Sets the measured window, before the first packet.
    pub fn measure(&mut self, begin: Time, end: Time) {
        self.window = (begin, end);
    }

    /// Records that a new connection has `slot`; its link is free.
    pub fn open(&mut self, slot: u32) {
        let slot = slot as usize;
        if slot >= self.free.len() {
            self.free.resize(slot + 1, Time::ZERO);
        }
        self.free[slot] = Time::ZERO;
    }

    /// Returns when the transmission of a packet starts that arrives at `now` and takes `duration`.
    /// The connection's link is then busy to its end, and the packet counts if it starts within the
    /// window. It panics if the connection was not opened.
    #[inline]
    pub fn pass(&mut self, packet: &Packet, now: Time, duration: Dur) -> Time {
        let free = &mut self.free[packet.flow as usize];
        let start = now.max(*free);
        *free = start + duration;
        let (begin, end) = self.window;
        if begin <= start && start < end {
            let (packets, bytes) = &mut self.sent[packet.colour.index()];
            *packets += 1;
            *bytes += u64::from(packet.bytes);
        }
        self.add_busy(now, start + duration);
        start
    }

    /// Returns packets and bytes by colour whose transmission started within the window.
    pub fn sent(&self) -> [(u64, u64); 3] {
        self.sent
    }

    /// Returns the time within the window in which some link was busy.
    pub fn busy_time(&self) -> Dur {
        self.busy
    }

    /// Counts the time until `until` as busy, from `now` or from where it is counted already. A
    /// packet that waits for its link finds it busy until then, so there is no gap before it
    /// starts.
    fn add_busy(&mut self, now: Time, until: Time) {
        let (begin, end) = self.window;
        let from = self.busy_until.max(now);
        self.busy += until.min(end).since(from.max(begin));
        self.busy_until = self.busy_until.max(until);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    /// Two connections overlap, then nobody sends, then one packet reaches beyond the end of the window.
    #[test]
    fn busy__counts_every_moment_once() {
        let mut links = Unshared::default();
        links.measure(Time(10), Time(100));
        (0..2).for_each(|slot| links.open(slot));
        let mut pass = |slot, now, duration| {
            links.pass(&Packet::new(slot, Kind::Data, 0, 40), Time(now), Dur(duration)).0
        };
        assert_eq!(pass(0, 0, 20), 0);
        assert_eq!(pass(0, 5, 20), 20);
        assert_eq!(pass(1, 15, 20), 15);
        assert_eq!(pass(1, 95, 50), 95);
        assert_eq!(links.busy_time(), Dur(30 + 5));
        assert_eq!(links.sent().iter().map(|sent| sent.0).sum::<u64>(), 3);
    }
}
