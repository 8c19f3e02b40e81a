//! Fast retransmit and fast recovery by counting duplicate ACKs: Reno (RFC 5681) and NewReno (RFC 6582).
//!
//! Three duplicate ACKs show a loss. The first unacknowledged segment is sent again, the window is halved,
//! and each further duplicate inflates it by one segment, for one has left the network. Reno's recovery ends with
//! the first acknowledgement of new data. NewReno's ends when everything is acknowledged that was outstanding at the
//! loss; until then each partial ACK makes it send the next hole again.

use super::common::{DUP_THRESH, time_out};
use crate::tcp::profile::{Params, Variant};
use crate::tcp::receiver::AckFields;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(in crate::tcp) struct NewReno {
    /// Segments by which duplicate ACKs inflate the window.
    inflation: u32,
    /// This recovery has had a partial ACK.
    had_partial: bool,
}

impl NewReno {
    /// Handles an ACK of everything below `ack.next`, new or duplicate; an ACK of nothing new is a
    /// duplicate.
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        if ack.next == tcb.sequence.una() {
            self.on_duplicate_ack(tcb, now, params);
        } else if params.variant == Variant::Newreno && tcb.in_recovery() && ack.next < tcb.recovery_point() {
            self.on_partial_ack(tcb, ack.next, now, params);
        } else {
            self.on_new_ack(tcb, ack.next, now, params);
        }
    }

    /// Handles a retransmission timeout, by [`time_out`]; the inflation ends.
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        self.inflation = 0;
        time_out(tcb, now, params);
    }

    /// Returns the next segment to send: a forced one, or the next in order that the inflated
    /// window allows; `None` if there is none.
    #[inline]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, params: &Params) -> Option<u32> {
        tcb.next_in_window(self.inflation, params)
    }

    /// Handles a duplicate ACK (RFC 5681 section 3.2): limited transmit, fast retransmit at the
    /// third, inflation after it. Without data outstanding it is no duplicate (section 2).
    fn on_duplicate_ack(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        if tcb.sequence.is_idle() {
            return;
        }
        let duplicates = tcb.clock.count_duplicate();
        if duplicates < DUP_THRESH {
            if params.limited_transmit && !tcb.in_recovery() {
                tcb.clock.allow_limited_transmit();
            }
            return;
        }
        if duplicates > DUP_THRESH {
            self.inflation += u32::from(tcb.in_recovery());
        } else if may_fast_retransmit(tcb) {
            self.fast_retransmit(tcb, now, params);
        }
        tcb.clock.release_all();
    }

    /// Sends the first unacknowledged segment again and begins recovery (RFC 5681 section 3.2 steps 2, 3).
    fn fast_retransmit(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        tcb.enter_recovery(tcb.flight(), params);
        tcb.timer.restart(now, params);
        tcb.timer.cancel_timing();
        tcb.force_segment(tcb.sequence.una());
        (self.inflation, self.had_partial) = (DUP_THRESH, false);
    }

    /// Handles a partial ACK in recovery: the next hole is sent again, the window deflates by the
    /// segments covered, and the first partial ACK restarts the timer (RFC 6582 section 3.2 step
    /// 3).
    fn on_partial_ack(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        self.inflation = deflate(tcb, self.inflation, next - tcb.sequence.una());
        tcb.sequence.advance(next);
        tcb.timer.on_partial_ack(next);
        if !self.had_partial {
            tcb.timer.restart(now, params);
        }
        self.had_partial = true;
        tcb.force_segment(next);
        tcb.clock.release_all();
    }

    /// Handles an ACK of new data. It ends a recovery, if one is under way; the window is then the
    /// threshold, or the flight plus one (RFC 6582 section 3.2 step 3, option 1).
    fn on_new_ack(&mut self, tcb: &mut Tcb, next: u32, now: Time, params: &Params) {
        let una = tcb.sequence.una();
        let flight = tcb.sequence.nxt().max(next) - una;
        let has_recovered = tcb.in_recovery();
        self.inflation = 0;
        tcb.advance(next, now, params);
        if has_recovered {
            tcb.leave_recovery();
            let limit = tcb.sequence.outstanding().max(1) + 1;
            tcb.congestion.set_cwnd(tcb.congestion.ssthresh().min(f64::from(limit)));
        } else {
            tcb.open_window(next - una, flight, now, params);
        }
        tcb.clock.release_all();
    }
}

/// Returns whether three duplicate ACKs start a recovery: not those caused by retransmissions of
/// the last recovery or timeout (RFC 6582 section 3.2 step 2). Before the first loss there is no
/// recovery point.
fn may_fast_retransmit(tcb: &Tcb) -> bool {
    tcb.sequence.una() > tcb.recovery_point() || tcb.recovery_point() == 0
}

/// Deflates the window by the `covered` segments of a partial ACK and adds one back; returns the inflation
/// that is left (RFC 6582 section 3.2 step 3).
pub(super) fn deflate(tcb: &mut Tcb, inflation: u32, covered: u32) -> u32 {
    if inflation > covered {
        return inflation - (covered - 1);
    }
    let cwnd = tcb.congestion.cwnd() - f64::from(covered - inflation);
    tcb.congestion.set_cwnd(cwnd.max(1.0));
    1
}
