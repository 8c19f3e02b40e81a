//! The SACK scoreboard: which segments the receiver has out of order, and which were retransmitted.

use super::common::DUP_THRESH;
use crate::tcp::ranges::Ranges;
use crate::tcp::receiver::AckFields;

/// Selectively acknowledged segments above the cumulative acknowledgement.
#[derive(Debug, Clone, Default)]
pub(super) struct Scoreboard {
    sacked: Ranges,
    /// One more than the highest segment retransmitted in this recovery (`HighRxt` + 1, RFC 6675).
    high_rxt: u32,
}

impl Scoreboard {
    /// Forgets all SACK blocks and retransmissions (RFC 2018 section 8); `una` is the first
    /// unacknowledged segment.
    pub(super) fn clear(&mut self, una: u32) {
        self.sacked.clear();
        self.high_rxt = una;
    }

    /// Adds the blocks of an ACK and forgets what it acknowledges; returns how many segments the
    /// blocks newly cover.
    pub(super) fn update(&mut self, ack: &AckFields) -> u32 {
        self.sacked.trim(ack.next);
        ack.blocks().map(|(from, to)| self.sacked.insert(from, to)).sum()
    }

    /// Returns how many segments are selectively acknowledged.
    pub(super) fn count(&self) -> u32 {
        self.sacked.count()
    }

    /// Returns one more than the highest segment selectively acknowledged, or 0.
    pub(super) fn end(&self) -> u32 {
        self.sacked.end()
    }

    /// Returns the first segment from `seq` on that is not selectively acknowledged.
    pub(super) fn skip_sacked(&self, seq: u32) -> u32 {
        if self.sacked.is_empty() { seq } else { self.sacked.find(seq).map_or(seq, |(_, to)| to) }
    }

    /// Returns one more than the last lost segment, or 0. Every unacknowledged segment below has
    /// three SACKed ones above it (`IsLost`, RFC 6675 section 4).
    pub(super) fn lost_below(&self) -> u32 {
        let mut above = 0;
        for (from, to) in self.sacked.iter().rev() {
            above += to - from;
            if above >= DUP_THRESH {
                return to - (DUP_THRESH - (above - (to - from)));
            }
        }
        0
    }

    /// Returns one more than the highest segment retransmitted in this recovery.
    pub(super) fn high_rxt(&self) -> u32 {
        self.high_rxt
    }

    /// Records that the segments below `seq` were retransmitted in this recovery, or need not be.
    pub(super) fn note_retransmitted_below(&mut self, seq: u32) {
        self.high_rxt = self.high_rxt.max(seq);
    }

    /// Sets the highest retransmission: the segments below `seq` were retransmitted in this
    /// recovery.
    pub(super) fn set_high_rxt(&mut self, seq: u32) {
        self.high_rxt = seq;
    }

    /// Returns the first segment from `una` on that is neither SACKed nor was retransmitted in this recovery.
    pub(super) fn first_hole(&self, una: u32) -> u32 {
        self.skip_sacked(self.high_rxt.max(una))
    }

    /// Returns the last segment below `end`, which is above 0, that was neither SACKed nor
    /// retransmitted; `None` if that segment lies below the retransmissions.
    pub(super) fn last_hole(&self, end: u32) -> Option<u32> {
        let last = self.sacked.find(end - 1).map_or(end, |(from, _)| from) - 1;
        (last >= self.high_rxt).then_some(last)
    }

    /// Returns how many segments of `[from, to)` are not selectively acknowledged.
    pub(super) fn count_holes(&self, from: u32, to: u32) -> u32 {
        if to <= from {
            return 0;
        }
        let held: u32 = self.sacked.iter().map(|(a, b)| b.min(to).saturating_sub(a.max(from))).sum();
        to - from - held
    }
}
