//! ns-2's Sack1, which is not RFC 6675 (`oracle/semantics.md`; Fall & Floyd 1996).
//!
//! `pipe` is a plain counter: the segments in flight less the duplicate ACKs at the start, one less for each
//! ACK and two for a partial one, one more for each segment sent. Holes go out before new data, however
//! few segments above them have arrived.

use super::common::DUP_THRESH;
use super::ns2;
use super::scoreboard::Scoreboard;
use crate::tcp::profile::Params;
use crate::tcp::receiver::AckFields;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(in crate::tcp) struct Ns2Sack {
    board: Scoreboard,
    /// Segments in flight, as counted.
    pipe: i64,
    /// After a timeout SACK blocks are ignored until new segments are acknowledged.
    ignores_sacks: bool,
}

impl Ns2Sack {
    /// Handles an ACK: enters, continues or leaves recovery. A duplicate without new SACK blocks
    /// has no effect outside recovery, nor has any before the first segment is acknowledged.
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        if tcb.in_recovery() {
            self.board.update(ack);
            self.continue_recovery(tcb, ack.next, now, params);
        } else if ack.next > una {
            // The SACK blocks reported so far are forgotten.
            ns2::accept_new_ack(tcb, ack.next, now, params);
            self.board.clear(ack.next);
            self.ignores_sacks = false;
        } else if !self.ignores_sacks && una > 0 && self.board.update(ack) > 0 {
            // Before the first segment is acknowledged the scoreboard takes no blocks.
            self.on_duplicate_ack(tcb, now, params);
        }
    }

    /// Handles the expiry of the retransmission timer, by [`ns2::time_out`]. If something was
    /// outstanding, SACK blocks are forgotten, and ignored until new segments are acknowledged.
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        if ns2::time_out(tcb, now, params) {
            self.board.clear(tcb.sequence.una());
            self.ignores_sacks = true;
        }
    }

    /// Returns the next segment and counts it as sent: a hole or new data while the pipe has room
    /// in recovery, else by the window; `None` if there is none.
    #[inline]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        if tcb.in_recovery() { self.next_by_pipe(tcb, params) } else { tcb.next_in_window(0, params) }
    }

    /// Counts a duplicate ACK with new SACK blocks; the first two allow limited transmit, the third
    /// starts recovery unless the check for multiple fast retransmits forbids it.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let duplicates = tcb.clock.count_duplicate();
        if duplicates == DUP_THRESH && ns2::may_fast_retransmit(tcb, params) {
            self.start_recovery(tcb, now, params);
        } else if duplicates < DUP_THRESH && params.limited_transmit {
            tcb.clock.allow_limited_transmit();
        }
    }

    /// Enters recovery at the third duplicate ACK: sets the pipe, restarts the timer and
    /// retransmits the first unacknowledged segment.
    fn start_recovery(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        self.pipe = i64::from(tcb.sequence.max() - una) - i64::from(DUP_THRESH);
        tcb.enter_recovery(tcb.send_window(0, params), params);
        self.board.note_retransmitted_below(una + 1);
        tcb.timer.restart(now, params);
        tcb.timer.cancel_timing();
        tcb.force_segment(una);
    }

    /// Handles an ACK in recovery: updates ns-2's `pipe`, restarts the timer if it advances, and
    /// ends recovery once `next` reaches the recovery point.
    fn continue_recovery(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        tcb.clock.release_all();
        self.pipe -= 1;
        if next >= tcb.recovery_point() {
            tcb.advance(next, now, params);
            self.end_recovery(tcb);
        } else if next > tcb.sequence.una() {
            self.pipe -= 1;
            tcb.sequence.advance(next);
            self.board.note_retransmitted_below(next);
            tcb.timer.restart(now, params);
        }
    }

    /// Ends recovery: the window stays halved and the scoreboard is forgotten. The recovery point
    /// becomes 1, so that any further loss starts a recovery.
    fn end_recovery(&mut self, tcb: &mut Tcb) {
        tcb.leave_recovery();
        tcb.set_recovery_point(1);
        self.board.clear(tcb.sequence.una());
    }

    /// Returns the lowest hole, or else new data, while the pipe and the receive window have room,
    /// and counts it in the pipe; `None` otherwise. The ACK that starts recovery sends one segment
    /// only.
    fn next_by_pipe(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        if !tcb.clock.is_released() || self.pipe >= tcb.congestion.cwnd() as i64 {
            return None;
        }
        let (una, nxt) = (tcb.sequence.una(), tcb.sequence.nxt());
        let hole = self.board.first_hole(una);
        let seq = if hole < self.board.end() { hole } else { nxt };
        if seq >= tcb.sequence.end() || seq >= una + params.receive_window {
            return None;
        }
        if seq < nxt {
            self.board.note_retransmitted_below(seq + 1);
        }
        tcb.sequence.skip_to(seq + 1);
        self.pipe += 1;
        Some(seq)
    }
}
