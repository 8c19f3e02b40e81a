//! A recorded flow of datagrams that is being played: how far it has come.

use crate::traffic::datagrams::{Datagram, Datagrams};
use crate::units::{Dur, Time};

/// One direction of a recorded flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    /// Index of the connection in the run's traffic.
    pub connection: u32,
    is_reverse: bool,
    /// When it was opened, and how long it had lasted then.
    opened: Time,
    joined: Dur,
    /// See [`Datagrams::next`].
    place: u64,
}

impl Recorded {
    /// Returns one direction of the flow of this connection, opened at `now`, when it has lasted for `joined`.
    pub fn new(flow: &Datagrams, connection: u32, is_reverse: bool, now: Time, joined: Dur) -> Recorded {
        let place = flow.find_position(is_reverse, joined);
        Recorded { connection, is_reverse, opened: now, joined, place }
    }

    /// Takes the next datagram if it is due by `now`.
    pub fn take(&mut self, flow: &Datagrams, now: Time) -> Option<Datagram> {
        let (datagram, behind) = flow.next(self.is_reverse, self.place)?;
        (self.due(datagram) <= now).then(|| {
            self.place = behind;
            datagram
        })
    }

    /// Returns when the next datagram is due; `None` after the last one.
    pub fn next_due(&self, flow: &Datagrams) -> Option<Time> {
        flow.next(self.is_reverse, self.place).map(|(datagram, _)| self.due(datagram))
    }

    fn due(&self, datagram: Datagram) -> Time {
        self.opened + (datagram.at() - self.joined)
    }
}
