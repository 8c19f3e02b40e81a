//! The sequence numbers of a sender.

/// Segment numbers of one direction of a connection, in the order `una <= nxt <= max <= end`.
///
/// Each is one more than the last segment it speaks of. `nxt` passes `max` only while a segment is
/// being sent, and falls behind it when a timeout has everything sent again.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    una: u32,
    nxt: u32,
    max: u32,
    end: u32,
}

impl Sequence {
    /// Returns the first unacknowledged segment (`SND.UNA`, RFC 9293 section 3.3.1).
    #[inline]
    pub(super) fn una(&self) -> u32 {
        self.una
    }

    /// Returns the next segment to send in order (`SND.NXT`).
    #[inline]
    pub(super) fn nxt(&self) -> u32 {
        self.nxt
    }

    /// Returns one more than the highest segment ever sent.
    #[inline]
    pub(super) fn max(&self) -> u32 {
        self.max
    }

    /// Returns one more than the last segment written.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Returns how many segments lie between the first unacknowledged one and the next to send.
    pub(super) fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Returns whether everything ever sent has been acknowledged.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.una == self.max
    }

    /// Returns whether everything written has been acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.una >= self.end
    }

    /// Returns whether an acknowledgement of everything below `next` can belong to what is
    /// outstanding.
    #[inline]
    pub(super) fn accepts(&self, next: u32) -> bool {
        (self.una..=self.max).contains(&next)
    }

    /// Returns whether the next segment in order exists and fits a receive window of `window`
    /// segments.
    #[inline]
    pub(super) fn has_data_within(&self, window: u32) -> bool {
        self.nxt < self.end && self.nxt < self.una + window
    }

    /// Returns whether anything written was never sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.max < self.end
    }

    /// Adds `segments` to those written.
    pub(super) fn write(&mut self, segments: u32) {
        self.end += segments;
    }

    /// Records a cumulative acknowledgement of everything below `next`, which is at least the last
    /// one's.
    #[inline]
    pub(super) fn advance(&mut self, next: u32) {
        self.una = next;
        self.nxt = self.nxt.max(next);
    }

    /// Goes back to the first unacknowledged segment, so that all after it is sent again.
    pub(super) fn rewind(&mut self) {
        self.nxt = self.una;
    }

    /// Skips the segments below `seq`, which need not be sent again; a `seq` behind the next
    /// segment changes nothing.
    pub(super) fn skip_to(&mut self, seq: u32) {
        self.nxt = self.nxt.max(seq);
    }

    /// Returns the next segment in order, and moves past it. The caller checks before that it
    /// exists.
    #[inline]
    pub(super) fn take_next(&mut self) -> u32 {
        self.nxt += 1;
        self.nxt - 1
    }

    /// Records that `seq` is sent; returns whether it was sent before.
    #[inline]
    pub(super) fn on_sent(&mut self, seq: u32) -> bool {
        let is_retransmission = seq < self.max;
        self.max = self.max.max(seq + 1);
        is_retransmission
    }

    /// Returns whether the numbers are in order, as they are between two calls of the sender.
    pub(super) fn is_ordered(&self) -> bool {
        self.una <= self.nxt && self.nxt <= self.max && self.max <= self.end
    }
}
