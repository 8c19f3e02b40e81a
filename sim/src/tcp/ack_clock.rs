//! The ACK clock: how many segments the sender may send after an input, and its count of duplicate ACKs.

/// Duplicate ACKs so far, and what may be sent until the next input.
///
/// Recovery that counts segments in flight (RACK, SACK within a recovery) does not use it.
#[derive(Debug, Clone, Default)]
pub(super) struct AckClock {
    duplicates: u32,
    /// Segments that may be sent until the next input.
    burst: u32,
    /// One segment more than the window allows may be sent (limited transmit, RFC 3042).
    is_limited: bool,
    /// Segments that limited transmit has sent for the present duplicate ACKs.
    limited_sent: u32,
}

impl AckClock {
    /// Begins an acknowledgement: nothing may be sent, by the window or beyond it, until loss
    /// recovery has judged it.
    #[inline]
    pub(super) fn on_ack(&mut self) {
        self.burst = 0;
        self.is_limited = false;
    }

    /// Allows whatever the window allows to be sent.
    #[inline]
    pub(super) fn release_all(&mut self) {
        self.burst = u32::MAX;
    }

    /// Allows at most `segments` to be sent until the next input.
    pub(super) fn release(&mut self, segments: u32) {
        self.burst = segments;
    }

    /// Allows one segment beyond the window for a duplicate ACK (RFC 3042), until it is sent or the
    /// next input comes.
    pub(super) fn allow_limited_transmit(&mut self) {
        self.is_limited = true;
    }

    /// Counts a duplicate ACK; returns how many there are now.
    pub(super) fn count_duplicate(&mut self) -> u32 {
        self.duplicates += 1;
        self.duplicates
    }

    /// Resets the count of duplicate ACKs and of limited transmit, when new data is acknowledged.
    #[inline]
    pub(super) fn end_duplicates(&mut self) {
        self.duplicates = 0;
        self.limited_sent = 0;
    }

    /// Resets the count of duplicate ACKs after a timeout; that of limited transmit stays.
    pub(super) fn restart_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// Returns the number of duplicate ACKs so far.
    #[inline]
    pub(super) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Returns how many segments limited transmit has sent for the present duplicate ACKs.
    pub(super) fn limited_sent(&self) -> u32 {
        self.limited_sent
    }

    /// Returns whether limited transmit may send a segment.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Returns whether a segment may be sent, if the window has room for it.
    #[inline]
    pub(super) fn is_released(&self) -> bool {
        self.burst > 0
    }

    /// Records that a segment is sent in order, by the window or by limited transmit: one segment
    /// less may be sent, and limited transmit has sent its one.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.burst = self.burst.saturating_sub(1);
        self.limited_sent += u32::from(self.is_limited);
        self.is_limited = false;
    }
}
