//! Loss recovery by selective acknowledgement (RFC 6675), in segments.
//!
//! With full-sized segments RFC 6675's byte rules become counts: a segment is lost when three
//! segments above it have been selectively acknowledged (`IsLost`, section 4); `pipe` counts what is
//! neither acknowledged nor lost, plus what was retransmitted (`SetPipe`).
//!
//! *Deviations*: a partial ACK has the next hole sent again at once, as NewReno has it (RFC 6582), where RFC 6675
//! waits for three SACKs above it or an empty pipe; a rescue never repeats what this recovery has sent again.

use super::profile::Params;
use super::ranges::Ranges;
use super::receiver::AckFields;
use super::sender::Sender;
use crate::units::Time;

/// Duplicate ACKs, or segments SACKed above a hole, that tell a loss.
pub(super) const DUP_THRESH: u32 = 3;

/// What the receiver has told out of order, and what was retransmitted.
#[derive(Debug, Clone, Default)]
pub struct Scoreboard {
    sacked: Ranges,
    /// One more than the highest retransmitted segment of this recovery (`HighRxt` + 1).
    high_rxt: u32,
    /// A rescue must wait until more than this is acknowledged (`RescueRxt` + 1; section 4, NextSeg rule 4).
    rescue_rxt: u32,
    /// One more than the segment that the rescue sent.
    rescued: u32,
    /// One more than the segment that a partial ACK showed to be lost.
    presumed: u32,
    /// Segments in flight, estimated.
    pub(super) pipe: i64,
    /// ns-2: after a timeout duplicate ACKs tell nothing until new segments are acknowledged.
    pub(super) ignores_sacks: bool,
}

impl Scoreboard {
    /// Forgets everything (RFC 2018 section 8, after a timeout).
    pub(super) fn clear(&mut self, una: u32) {
        self.sacked.clear();
        self.high_rxt = una;
        (self.rescue_rxt, self.rescued, self.presumed) = (una, 0, 0);
    }

    /// The first segment from `seq` on that is not selectively acknowledged.
    pub(super) fn skip_sacked(&self, seq: u32) -> u32 {
        if self.sacked.is_empty() { seq } else { self.sacked.find(seq).map_or(seq, |(_, to)| to) }
    }

    /// Takes the blocks of an ACK; returns how many segments they newly cover.
    pub(super) fn update(&mut self, ack: &AckFields) -> u32 {
        self.sacked.trim(ack.next);
        let blocks = ack.sacks.iter().filter(|block| block.length > 0);
        blocks
            .map(|b| {
                self.sacked.insert(
                    ack.next + u32::from(b.offset),
                    ack.next + u32::from(b.offset) + u32::from(b.length),
                )
            })
            .sum()
    }

    /// Segments selectively acknowledged.
    pub(super) fn held(&self) -> u32 {
        self.sacked.count()
    }

    /// Unacknowledged segments below this are lost: three SACKed segments lie above each.
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

    /// Segments below `seq` have been retransmitted in this recovery, or need not be.
    pub(super) fn retransmit_from(&mut self, seq: u32) {
        self.high_rxt = self.high_rxt.max(seq);
    }

    /// The first segment from `una` on, below some SACKed one, that is neither SACKed nor was retransmitted
    /// in this recovery.
    pub(super) fn next_hole(&self, una: u32) -> Option<u32> {
        let hole = self.skip_sacked(self.high_rxt.max(una));
        (hole < self.sacked.end()).then_some(hole)
    }

    /// The first lost segment from `una` on that was not retransmitted in this recovery.
    pub(super) fn next_lost(&self, una: u32) -> Option<u32> {
        let hole = self.skip_sacked(self.high_rxt.max(una));
        (hole < self.lost_below()).then_some(hole)
    }

    /// The last segment below `end` that was neither selectively acknowledged nor retransmitted.
    fn last_hole(&self, end: u32) -> Option<u32> {
        let last = self.sacked.find(end - 1).map_or(end, |(from, _)| from) - 1;
        (last >= self.high_rxt).then_some(last)
    }

    /// Segments of `[from, to)` not selectively acknowledged.
    fn holes(&self, from: u32, to: u32) -> u32 {
        if to <= from {
            return 0;
        }
        let held: u32 = self.sacked.iter().map(|(a, b)| b.min(to).saturating_sub(a.max(from))).sum();
        to - from - held
    }
}

impl Sender {
    /// An acknowledgement under SACK: enter, continue or leave recovery.
    pub(super) fn handle_sack(&mut self, ack: &AckFields, now: Time, params: &Params) {
        if params.is_ns2() {
            return self.handle_ns2_sack(ack, now, params);
        }
        let news = self.board.update(ack);
        let advanced = ack.next > self.una;
        if self.in_recovery() {
            return self.recover_by_sack(ack.next, now, params);
        }
        if advanced {
            let (acked, flight) = (ack.next - self.una, self.nxt.max(ack.next) - self.una);
            self.advance(ack.next, now, params);
            self.open_window(acked, flight, now, params);
            self.send_freely();
            // An ACK with news counts as a duplicate even if it covers new segments (RFC 6675 section 2).
            if news > 0 {
                self.count_duplicate();
                if self.board.lost_below() > self.una && self.una >= self.recover {
                    self.start_recovery(now, params);
                }
            }
            return;
        }
        if self.una == self.max || news == 0 {
            return;
        }
        let duplicates = self.count_duplicate();
        let lost = self.board.lost_below() > self.una;
        if (duplicates >= DUP_THRESH || lost) && self.una >= self.recover {
            self.start_recovery(now, params);
        } else if self.una < self.recover {
            self.send_freely();
        } else if params.limited_transmit {
            self.limit_transmit();
        }
    }

    fn start_recovery(&mut self, now: Time, params: &Params) {
        self.enter_recovery(params);
        self.board.high_rxt = self.una + 1;
        // Section 5 (4.3): no rescue before the first retransmission has arrived.
        (self.board.rescue_rxt, self.board.rescued) = (self.una + 1, 0);
        self.force(self.una);
        self.restart_timer(now, params);
        self.set_pipe();
    }

    fn recover_by_sack(&mut self, next: u32, now: Time, params: &Params) {
        let advanced = next > self.una;
        if advanced {
            self.advance(next, now, params);
        }
        if next >= self.recover {
            self.leave_recovery();
            return;
        }
        self.board.high_rxt = self.board.high_rxt.max(self.una);
        if advanced
            && self.board.rescued != self.una + 1
            && self.board.high_rxt == self.una
            && self.board.skip_sacked(self.una) == self.una
        {
            // A partial ACK shows that the next hole is lost even if three SACKs are not above it.
            (self.board.high_rxt, self.board.presumed) = (self.una + 1, self.una + 1);
            self.force(self.una);
        }
        self.set_pipe();
    }

    /// `SetPipe` (section 4): what was retransmitted without being lost counts twice.
    fn set_pipe(&mut self) {
        let board = &self.board;
        let lost_below = board.lost_below().max(board.presumed).clamp(self.una, self.nxt);
        let outstanding = board.holes(lost_below, self.nxt);
        let retransmitted = board.holes(self.una, board.high_rxt);
        self.board.pipe = i64::from(outstanding + retransmitted);
    }

    /// RFC 6675 `NextSeg`, if the pipe has room.
    pub(super) fn next_by_sack(&mut self, params: &Params) -> Option<u32> {
        if self.board.pipe as f64 + 1.0 > self.cwnd {
            return None;
        }
        let hole = self.board.skip_sacked(self.board.high_rxt.max(self.una));
        let within_sacked = hole < self.board.sacked.end();
        let new_data = self.nxt < self.end && self.nxt < self.una + params.receive_window;
        let seq = if self.board.next_lost(self.una) == Some(hole) {
            self.board.high_rxt = hole + 1;
            hole
        } else if new_data {
            self.nxt += 1;
            self.nxt - 1
        } else if within_sacked {
            self.board.high_rxt = hole + 1;
            hole
        } else if let Some(last) = self.board.last_hole(self.nxt).filter(|_| self.una > self.board.rescue_rxt)
        {
            (self.board.rescue_rxt, self.board.rescued) = (self.recover, last + 1);
            last
        } else {
            return None;
        };
        self.board.pipe += 1;
        Some(seq)
    }
}
