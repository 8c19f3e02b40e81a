//! The course of a transfer that has its path to itself: what its sender sent, and when.
//!
//! A long transfer soon fills the path's slowest link and never lets it run empty again; from then on its segments
//! leave that link one transmission time apart, and nothing is left to find out. With `τ` for the time of a full
//! segment on that link and `h` links on the way, a segment is acknowledged at most `rtt + (h + 5)τ` after it left
//! it, and each acknowledgement lets at least as many segments go as it covers, since nothing is lost and the window
//! only grows. So once `2·rtt + (4h + 20)τ` of work waits, the link is busy until the last segment has been sent.
//! Acknowledgements come at most `2τ` apart, so no retransmission timer fires while its least is above that.

use super::World;
use crate::packet::{Kind, Packet};
use crate::record::TraceEvent;
use crate::units::{Dur, Time};

/// From what on a course is plain: so much work waits at a link.
#[derive(Debug, Clone, Copy)]
pub struct Plain {
    /// The first of the slowest links.
    pub link: u16,
    /// Time of a full segment on it.
    pub spacing: Dur,
    /// Links on the way.
    pub hops: u32,
}

/// A packet that the sender of data sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// IP length.
    pub bytes: u16,
    /// It is a segment of data; else it belongs to the handshake.
    pub is_data: bool,
}

/// What the sender of the only connection there is sent.
#[derive(Debug, Default)]
pub struct Course {
    /// Packets in the direction of the data, in order.
    pub sent: Vec<Sent>,
    /// A segment was sent again, or out of order.
    pub has_repeats: bool,
    plain: Option<Plain>,
    segments: u32,
}

impl Course {
    /// A course before its first packet, which ends where it is plain.
    pub(super) fn until(plain: Option<Plain>) -> Course {
        Course { plain, ..Course::default() }
    }

    /// Takes note of a packet that was sent at `now`.
    pub(super) fn note(&mut self, event: TraceEvent, packet: &Packet, now: Time) {
        if event != TraceEvent::Send {
            return;
        }
        let is_data = packet.kind == Kind::Data;
        self.has_repeats |= is_data && packet.seq != self.segments;
        self.segments += u32::from(is_data);
        self.sent.push(Sent { at: now, bytes: packet.bytes, is_data });
    }
}

impl World {
    /// Ends the run as soon as the rest of the course is known.
    pub(super) fn follow_course(&mut self, slot: u32) {
        let Some(Course { plain: Some(plain), has_repeats: false, .. }) = &self.course else { return };
        let work = self.setup.links[usize::from(plain.link)].work(self.now);
        let enough = 2 * self.live[slot as usize].rtt.0 + u64::from(4 * plain.hops + 20) * plain.spacing.0;
        self.is_over = work.0 >= enough;
    }
}
