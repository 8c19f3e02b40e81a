//! ns-2's Tahoe, Reno and NewReno (`Agent/TCP`, `Agent/TCP/Reno`, `Agent/TCP/Newreno`).

use super::common::DUP_THRESH;
use super::{newreno, ns2};
use crate::tcp::dialect::NS2_RECOVERY_BURST;
use crate::tcp::profile::{Params, Variant};
use crate::tcp::receiver::AckFields;

use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(in crate::tcp) struct Ns2Reno {
    /// Segments by which duplicate ACKs inflate the window (`dupwnd_`).
    inflation: u32,
    /// This recovery has had a partial ACK.
    had_partial: bool,
}

impl Ns2Reno {
    /// Handles an ACK of everything below `ack.next`, new or duplicate; an ACK of nothing new is a
    /// duplicate, also when nothing is outstanding.
    #[inline]
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        if ack.next == tcb.sequence.una() {
            self.on_duplicate_ack(tcb, now, params);
        } else if params.variant == Variant::Newreno && tcb.in_recovery() && ack.next < tcb.recovery_point() {
            self.on_partial_ack(tcb, ack.next, now, params);
        } else {
            self.on_new_ack(tcb, ack.next, now, params);
        }
    }

    /// Handles the expiry of the retransmission timer, by [`ns2::time_out`]; the inflation ends.
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        self.inflation = 0;
        ns2::time_out(tcb, now, params);
    }

    /// Returns the next segment in order that the inflated window allows, and counts it as sent;
    /// `None` if there is none.
    #[inline]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        tcb.next_in_window(self.inflation, params)
    }

    /// Returns the window in use in segments, inflation included.
    pub(super) fn used_window(&self, tcb: &Tcb, params: &Params) -> f64 {
        tcb.send_window(self.inflation, params)
    }

    /// Handles a duplicate ACK: limited transmit, fast retransmit at the third (in Tahoe slow start), window inflation
    /// after it.
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let in_recovery = tcb.in_recovery();
        let duplicates = tcb.clock.count_duplicate();
        if duplicates < DUP_THRESH {
            if params.limited_transmit && !in_recovery {
                tcb.clock.allow_limited_transmit();
            }
            return;
        }
        if params.variant == Variant::Tahoe {
            if duplicates == DUP_THRESH {
                self.slow_start_again(tcb, now, params);
            }
        } else if duplicates > DUP_THRESH {
            let inflates = in_recovery || !params.dialect.quirks().inflate_only_in_recovery;
            self.inflation += u32::from(inflates);
        } else {
            self.on_third_duplicate(tcb, now, params);
        }
        let is_newreno = params.variant == Variant::Newreno;
        tcb.clock.release(if is_newreno { NS2_RECOVERY_BURST } else { u32::MAX });
    }

    /// Enters fast recovery, restarts the timer and inflates the window, unless ns-2's check for
    /// multiple fast retransmits forbids it. Versions that inflate outside recovery, too, inflate
    /// in any case.
    fn on_third_duplicate(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let may_begin = ns2::may_fast_retransmit(tcb, params);
        if may_begin {
            tcb.enter_recovery(self.used_window(tcb, params), params);
            tcb.timer.restart(now, params);
            tcb.timer.cancel_timing();
            // Duplicates also count when everything written is acknowledged, and nothing is left to send.
            if !tcb.sequence.is_done() {
                tcb.force_segment(tcb.sequence.una());
            }
            self.had_partial = false;
        }
        if may_begin || !params.dialect.quirks().inflate_only_in_recovery {
            self.inflation = DUP_THRESH;
        }
    }

    /// Reduces threshold and window, and retransmits from the lost segment on in slow start, as
    /// Tahoe does, unless the check for multiple fast retransmits forbids it.
    fn slow_start_again(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        if ns2::may_fast_retransmit(tcb, params) {
            tcb.set_recovery_point(tcb.sequence.max());
            tcb.congestion.on_congestion(self.used_window(tcb, params));
            tcb.congestion.set_loss_window();
            tcb.go_back(now, params);
        }
    }

    /// Handles a partial ACK in recovery: the next hole is sent again, and the inflation falls by
    /// what is covered, or to zero in older versions. The timer restarts at the first one, or at
    /// each, by the version.
    fn on_partial_ack(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        let quirks = params.dialect.quirks();
        let covered = next - tcb.sequence.una();
        self.inflation =
            if quirks.partial_deflation { newreno::deflate(tcb, self.inflation, covered) } else { 0 };
        tcb.sequence.advance(next);
        tcb.timer.on_partial_ack(next);
        if !quirks.impatient || !self.had_partial {
            tcb.timer.restart(now, params);
        }
        self.had_partial = true;
        tcb.force_segment(next);
        tcb.clock.release(NS2_RECOVERY_BURST);
    }

    /// Handles an ACK of new data: the window opens and its inflation ends. It ends recovery only
    /// if the window is inflated; without partial deflation recovery may go on.
    #[inline]
    fn on_new_ack(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        if self.inflation > 0 && tcb.in_recovery() {
            tcb.leave_recovery();
        }
        (self.inflation, self.had_partial) = (0, false);
        ns2::accept_new_ack(tcb, next, now, params);
    }
}
