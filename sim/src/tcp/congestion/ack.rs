//! The inputs of congestion control that an acknowledgement carries.

use crate::units::{Dur, Time};

/// An acknowledgement of new data outside recovery.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct NewAck {
    /// Segments newly acknowledged.
    pub(in crate::tcp) acked: u32,
    /// Segments in flight before it.
    pub(in crate::tcp) flight: u32,
    /// Not all that was out at the last timeout had been acknowledged before it.
    pub(in crate::tcp) after_timeout: bool,
    /// Slow start counts every segment and ends at the threshold, as in Linux.
    pub(in crate::tcp) is_counted_in_full: bool,
    pub(in crate::tcp) now: Time,
    /// Smoothed round-trip time; zero before any sample.
    pub(in crate::tcp) srtt: Dur,
}

/// The round-trip time that an acknowledgement shows; the input of HyStart.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct RttSample {
    /// Round-trip time of the segment delivered last.
    pub(in crate::tcp) rtt: Dur,
    /// The first segment that is not acknowledged.
    pub(in crate::tcp) una: u32,
    /// The next segment to send.
    pub(in crate::tcp) nxt: u32,
    pub(in crate::tcp) now: Time,
}

/// The feedback of an ACK with accurate ECN (RFC 9768).
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Feedback {
    /// Segments that it newly acknowledges.
    pub(in crate::tcp) acked: u32,
    /// Packets with marks that have arrived, wrapping.
    pub(in crate::tcp) marks: u16,
    /// The first segment that is not acknowledged.
    pub(in crate::tcp) una: u32,
    /// One more than the highest segment sent.
    pub(in crate::tcp) sent_below: u32,
    /// Loss recovery is under way.
    pub(in crate::tcp) in_recovery: bool,
}
