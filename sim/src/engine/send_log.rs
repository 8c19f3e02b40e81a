//! The send log of a connection alone on its path, and the point from which the rest of the transfer is known.
//!
//! A long transfer soon saturates the slowest link of its path and never lets it run empty again. From then on its
//! segments leave that link one transmission time apart, so the run can stop. Let `τ` be the transmission time of a
//! full segment on that link and `h` the number of links on the path. A segment is acknowledged at most
//! `rtt + (h + 5)τ` after it left the link, and each acknowledgement releases at least as many segments as it
//! covers, because nothing is lost and the window only grows. So once `2·rtt + (4h + 20)τ` of work waits, the link
//! is busy until the last segment has been sent. Acknowledgements are at most `2τ` apart, so no retransmission
//! timer fires while the minimum RTO is above that.

use crate::packet::{Kind, Packet};
use crate::record::TraceEvent;
use crate::units::{Dur, Time};

/// Parameters of the test whether the slowest link of a path is saturated for the rest of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct SteadyState {
    /// The slowest link; the first of them if several are equally slow.
    pub link: u16,
    /// Transmission time of a full segment on it.
    pub spacing: Dur,
    /// Number of links on the path.
    pub hops: u32,
}

/// One entry of the send log.
#[derive(Debug, Clone, Copy)]
pub struct SentPacket {
    /// Time of sending.
    pub at: Time,
    /// IP length.
    pub bytes: u16,
    /// It is a segment of data; else it belongs to the handshake.
    pub is_data: bool,
}

/// Packets that the sender of the only connection of a run has sent.
#[derive(Debug, Default)]
pub struct SendLog {
    /// Packets in the direction of the data, in order.
    pub sent: Vec<SentPacket>,
    /// A segment was sent again, or out of order.
    pub has_repeats: bool,
    /// When to stop, if the run is to stop at saturation.
    pub(super) steady: Option<SteadyState>,
    segments: u32,
}

impl SendLog {
    /// Returns an empty log; with `steady` the run stops at saturation.
    pub(super) fn new(steady: Option<SteadyState>) -> SendLog {
        SendLog { steady, ..SendLog::default() }
    }

    /// Records a packet if `event` says that the sender of data sent it at `now`; ignores every
    /// other event. A data segment out of order sets the mark for repeats.
    pub(super) fn record(&mut self, event: TraceEvent, packet: &Packet, now: Time) {
        if event != TraceEvent::Send {
            return;
        }
        let is_data = packet.kind == Kind::Data;
        self.has_repeats |= is_data && packet.seq != self.segments;
        self.segments += u32::from(is_data);
        self.sent.push(SentPacket { at: now, bytes: packet.bytes, is_data });
    }
}
