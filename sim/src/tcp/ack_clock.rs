//! The ACK clock: how many segments an input of the sender lets out, and duplicate ACKs.

/// Duplicate ACKs so far, and what may be sent until the next input.
///
/// Recovery that counts segments in flight (RACK, SACK within a recovery) does not ask it.
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
    /// Begins an acknowledgement: nothing is to be sent until it has been judged.
    #[inline]
    pub(super) fn on_ack(&mut self) {
        self.burst = 0;
        self.is_limited = false;
    }

    /// Lets out whatever the window allows.
    #[inline]
    pub(super) fn release_all(&mut self) {
        self.burst = u32::MAX;
    }

    /// Lets out at most `segments`.
    pub(super) fn release(&mut self, segments: u32) {
        self.burst = segments;
    }

    /// Lets out one segment for a duplicate ACK (RFC 3042).
    pub(super) fn limit_transmit(&mut self) {
        self.is_limited = true;
    }

    /// Counts a duplicate ACK; returns how many there are now.
    pub(super) fn count_duplicate(&mut self) -> u32 {
        self.duplicates += 1;
        self.duplicates
    }

    /// Ends a series of duplicate ACKs: new data was acknowledged.
    #[inline]
    pub(super) fn end_duplicates(&mut self) {
        self.duplicates = 0;
        self.limited_sent = 0;
    }

    /// Counts duplicate ACKs from zero again, after a timeout.
    pub(super) fn restart_duplicates(&mut self) {
        self.duplicates = 0;
    }

    #[inline]
    pub(super) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    pub(super) fn limited_sent(&self) -> u32 {
        self.limited_sent
    }

    /// Whether limited transmit has something to send.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Whether more than limited transmit's segment may be sent.
    #[inline]
    pub(super) fn is_released(&self) -> bool {
        self.burst > 0
    }

    /// Takes note that a segment goes out by the window.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.burst = self.burst.saturating_sub(1);
        self.limited_sent += u32::from(self.is_limited);
        self.is_limited = false;
    }
}
