//! The position of a recorded flow of datagrams that is being played.

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
    /// Position of the next datagram; see [`Datagrams::next`].
    place: u64,
}

impl Recorded {
    /// Returns the position of one direction of this connection's flow, which is opened at `now` at
    /// the age `joined`.
    pub fn new(flow: &Datagrams, connection: u32, is_reverse: bool, now: Time, joined: Dur) -> Recorded {
        let place = flow.find_position(is_reverse, joined);
        Recorded { connection, is_reverse, opened: now, joined, place }
    }

    /// Returns the next datagram and moves on, if it is due by `now`. `None` means that it is due
    /// later, or that there is none.
    pub fn take_due(&mut self, flow: &Datagrams, now: Time) -> Option<Datagram> {
        let (datagram, behind) = flow.next(self.is_reverse, self.place)?;
        (self.due_time(datagram) <= now).then(|| {
            self.place = behind;
            datagram
        })
    }

    /// Returns when the next datagram is due; `None` after the last one.
    pub fn next_due(&self, flow: &Datagrams) -> Option<Time> {
        flow.next(self.is_reverse, self.place).map(|(datagram, _)| self.due_time(datagram))
    }

    /// Returns when a datagram is due in this run; one from before the flow was joined is due at
    /// once.
    fn due_time(&self, datagram: Datagram) -> Time {
        self.opened + (datagram.at() - self.joined)
    }
}
