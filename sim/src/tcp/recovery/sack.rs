//! Loss recovery by selective acknowledgement (RFC 6675), in segments.
//!
//! With full-sized segments RFC 6675's byte rules become counts: a segment is lost when three
//! segments above it have been selectively acknowledged (`IsLost`, section 4); `pipe` counts what is
//! neither acknowledged nor lost, plus what was retransmitted (`SetPipe`).
//!
//! *Deviations*: a partial ACK makes the sender retransmit the next hole at once, as in NewReno (RFC 6582), where
//! RFC 6675 waits for three SACKs above it or an empty pipe; a rescue never repeats a retransmission of this recovery.

use super::common::{DUP_THRESH, time_out};
use super::prr::{Delivery, Prr};
use super::scoreboard::Scoreboard;
use crate::tcp::profile::Params;
use crate::tcp::receiver::AckFields;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(in crate::tcp) struct Sack {
    board: Scoreboard,
    /// A rescue must wait until more than this is acknowledged (`RescueRxt` + 1; section 4, NextSeg rule 4).
    rescue_rxt: u32,
    /// One more than the segment that the rescue sent.
    rescued: u32,
    /// One more than the segment that a partial ACK showed to be lost.
    presumed: u32,
    /// Segments in flight, estimated at the last acknowledgement in recovery and counted on from there.
    pipe: u32,
    prr: Prr,
}

impl Sack {
    /// Handles an acknowledgement; with PRR the window in recovery follows the delivery.
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        if params.prr {
            self.on_ack_with_prr(tcb, ack, now, params);
        } else {
            self.update_recovery(tcb, ack, now, params);
        }
    }

    /// Handles a retransmission timeout, by [`time_out`]. If something was outstanding, the SACK
    /// blocks reported so far are forgotten (RFC 2018 section 8).
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        if time_out(tcb, now, params) {
            let una = tcb.sequence.una();
            self.board.clear(una);
            (self.rescue_rxt, self.rescued, self.presumed) = (una, 0, 0);
        }
    }

    /// Returns the next segment to send and counts it as sent: by the pipe in recovery, otherwise
    /// by the window, skipping segments that are selectively acknowledged; `None` if there is none.
    #[inline]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        if tcb.in_recovery() {
            return self.next_by_pipe(tcb, params);
        }
        if tcb.clock.is_released() || tcb.clock.is_limited() {
            tcb.sequence.skip_to(self.board.skip_sacked(tcb.sequence.nxt()));
        }
        tcb.next_in_window(0, params)
    }

    /// Records that a segment is sent; it counts only in recovery, for PRR.
    #[inline]
    pub(super) fn on_sent(&mut self, tcb: &Tcb) {
        if tcb.in_recovery() {
            self.prr.on_sent();
        }
    }

    /// Handles an ACK, then sets the window by proportional rate reduction (RFC 9937), which limits
    /// the segments that recovery may send.
    #[inline(never)]
    fn on_ack_with_prr(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        let (una, lost_below) = (tcb.sequence.una(), self.board.lost_below());
        let before = una + self.board.count();
        self.update_recovery(tcb, ack, now, params);
        let acked_below = tcb.sequence.una();
        let is_safe = acked_below > una && self.board.lost_below() <= lost_below.max(acked_below);
        let delivered = (acked_below + self.board.count()).saturating_sub(before);
        // The scoreboard counts what is about to be retransmitted as in flight.
        let in_flight = self.pipe.saturating_sub(u32::from(tcb.has_forced()));
        self.prr.on_ack(tcb, Delivery { before, delivered, in_flight, is_safe });
    }

    /// Updates the scoreboard by an ACK, then enters, continues or leaves recovery. An ACK outside
    /// recovery that advances nothing and brings no new SACK block has no further effect.
    fn update_recovery(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        let newly_sacked = self.board.update(ack);
        if tcb.in_recovery() {
            self.continue_recovery(tcb, ack.next, now, params);
        } else if ack.next > tcb.sequence.una() {
            self.on_new_ack(tcb, ack.next, newly_sacked, now, params);
        } else if !tcb.sequence.is_idle() && newly_sacked > 0 {
            self.on_duplicate_ack(tcb, now, params);
        }
    }

    /// Handles an acknowledgement of new data outside recovery. If it also brings new SACK blocks,
    /// it counts as a duplicate as well (RFC 6675 section 2).
    fn on_new_ack(&mut self, tcb: &mut Tcb, next: u32, newly_sacked: u32, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        let flight = tcb.sequence.nxt().max(next) - una;
        tcb.advance(next, now, params);
        tcb.open_window(next - una, flight, now, params);
        tcb.clock.release_all();
        if newly_sacked > 0 {
            tcb.clock.count_duplicate();
            if self.board.lost_below() > next && next >= tcb.recovery_point() {
                self.start_recovery(tcb, now, params);
            }
        }
    }

    /// Handles a duplicate ACK outside recovery: enters recovery when a segment counts as lost (RFC
    /// 6675, section 5), otherwise uses limited transmit. Below the recovery point of an earlier
    /// loss it only sends by the window.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        let is_lost = tcb.clock.count_duplicate() >= DUP_THRESH || self.board.lost_below() > una;
        if una < tcb.recovery_point() {
            tcb.clock.release_all();
        } else if is_lost {
            self.start_recovery(tcb, now, params);
        } else if params.limited_transmit {
            tcb.clock.allow_limited_transmit();
        }
    }

    /// Enters loss recovery: reduces the window, restarts the timer, sets the pipe and retransmits
    /// the first unacknowledged segment (RFC 6675, section 5, step 4).
    fn start_recovery(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        tcb.enter_recovery(tcb.flight(), params);
        self.prr = Prr::default();
        self.board.set_high_rxt(una + 1);
        // Section 5 (4.3): no rescue before the first retransmission has arrived.
        (self.rescue_rxt, self.rescued) = (una + 1, 0);
        tcb.force_segment(una);
        tcb.timer.cancel_timing();
        tcb.timer.restart(now, params);
        self.set_pipe(tcb);
    }

    /// Handles an ACK in recovery: sets the pipe, and after a partial ACK retransmits the next
    /// hole. Recovery ends once `next` reaches the recovery point, with the threshold as the
    /// window.
    fn continue_recovery(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        let has_advanced = next > tcb.sequence.una();
        if has_advanced {
            tcb.advance(next, now, params);
        }
        if next >= tcb.recovery_point() {
            tcb.leave_recovery_at_ssthresh();
            tcb.clock.release_all();
            return;
        }
        self.board.note_retransmitted_below(next);
        if has_advanced && self.rescued != next + 1 && self.board.high_rxt() == next {
            self.retransmit_presumed(tcb, next);
        }
        self.set_pipe(tcb);
    }

    /// Retransmits `una` after a partial ACK, which shows it to be lost even without three SACKs
    /// above it. A segment that is selectively acknowledged is not sent.
    fn retransmit_presumed(&mut self, tcb: &mut Tcb, una: u32) {
        if self.board.skip_sacked(una) == una {
            self.board.set_high_rxt(una + 1);
            self.presumed = una + 1;
            tcb.force_segment(una);
            tcb.timer.cancel_timing();
        }
    }

    /// Estimates the segments in flight (`SetPipe`, RFC 6675 section 4). A segment that was
    /// retransmitted without being lost counts twice.
    fn set_pipe(&mut self, tcb: &Tcb) {
        let (una, nxt) = (tcb.sequence.una(), tcb.sequence.nxt());
        let lost_below = self.board.lost_below().max(self.presumed).clamp(una, nxt);
        self.pipe =
            self.board.count_holes(lost_below, nxt) + self.board.count_holes(una, self.board.high_rxt());
    }

    /// Returns the next segment while the pipe has room in the window (`NextSeg`, section 4), and
    /// counts it in the pipe: a lost one, new data, a hole that is not known to be lost, or a
    /// rescue. `None` if there is no room or no segment.
    fn next_by_pipe(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        if f64::from(self.pipe) + 1.0 > tcb.congestion.cwnd() {
            return None;
        }
        let hole = self.board.first_hole(tcb.sequence.una());
        let seq = if hole < self.board.lost_below() {
            self.take_hole(hole)
        } else if tcb.sequence.has_data_within(params.receive_window) {
            tcb.sequence.take_next()
        } else if hole < self.board.end() {
            self.take_hole(hole)
        } else {
            self.take_rescue(tcb)?
        };
        self.pipe += 1;
        Some(seq)
    }

    /// Returns `hole`, and records that it is retransmitted.
    fn take_hole(&mut self, hole: u32) -> u32 {
        self.board.set_high_rxt(hole + 1);
        hole
    }

    /// Returns the last outstanding segment for a rescue retransmission, once per recovery (NextSeg
    /// rule 4); `None` if the rescue is used up, must wait, or nothing is left to repeat.
    fn take_rescue(&mut self, tcb: &Tcb) -> Option<u32> {
        if tcb.sequence.una() <= self.rescue_rxt {
            return None;
        }
        let last = self.board.last_hole(tcb.sequence.nxt())?;
        (self.rescue_rxt, self.rescued) = (tcb.recovery_point(), last + 1);
        Some(last)
    }
}
