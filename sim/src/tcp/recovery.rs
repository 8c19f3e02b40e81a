//! What a sender does about loss and marks: duplicate and partial ACKs, fast retransmit, halving.
//!
//! Reno and NewReno (RFC 5681, RFC 6582) and the congestion response that all variants share. Recovery
//! by selective acknowledgement is in [`super::sack`].

use super::dialect::NS2_RECOVERY_BURST;
use super::profile::{Params, Variant};
use super::sender::{CaState, Sender};
use crate::units::Time;

impl Sender {
    pub(super) fn handle_partial(&mut self, next: u32, now: Time, params: &Params) {
        let covered = next - self.una;
        if !params.dialect.quirks().partial_deflation {
            self.inflation = 0;
        } else if self.inflation > covered {
            self.inflation -= covered - 1;
        } else {
            self.cwnd = (self.cwnd - f64::from(covered - self.inflation)).max(1.0);
            self.inflation = 1;
        }
        self.una = next;
        self.nxt = self.nxt.max(next);
        if self.timing && next >= self.timed {
            self.timing = false;
            self.rto.end_backoff();
        }
        if !params.dialect.quirks().impatient || !self.partial_seen {
            self.restart_timer(now, params);
        }
        self.partial_seen = true;
        self.forced = Some(self.una);
        self.burst = if params.is_ns2() { NS2_RECOVERY_BURST } else { u32::MAX };
    }

    pub(super) fn handle_duplicate(&mut self, now: Time, params: &Params) {
        if !params.is_ns2() && self.una == self.max {
            return;
        }
        self.dupacks += 1;
        let in_recovery = self.ca_state == CaState::Recovery;
        match self.dupacks {
            1 | 2 => {
                self.limited = params.limited_transmit && !in_recovery;
                return;
            }
            3 => {
                if params.variant == Variant::Tahoe {
                    self.start_again(now, params);
                } else if self.may_fast_retransmit(params) {
                    self.fast_retransmit(now, params);
                    self.inflation = 3;
                } else if !params.dialect.quirks().inflate_only_in_recovery {
                    self.inflation = 3;
                }
            }
            _ if params.variant == Variant::Tahoe => {}
            _ if in_recovery || !params.dialect.quirks().inflate_only_in_recovery => self.inflation += 1,
            _ => {}
        }
        let is_limited = params.is_ns2() && params.variant == Variant::Newreno;
        self.burst = if is_limited { NS2_RECOVERY_BURST } else { u32::MAX };
    }

    pub(super) fn may_fast_retransmit(&self, params: &Params) -> bool {
        self.una > self.recover
            || (params.dialect.quirks().early_fast_retransmit && self.una == 1)
            || (!params.is_ns2() && self.recover == 0)
    }

    fn fast_retransmit(&mut self, now: Time, params: &Params) {
        self.enter_recovery(params);
        self.restart_timer(now, params);
        self.timing = false;
        // In ns-2 duplicates also count when everything is acknowledged, and nothing is left to send.
        self.forced = (self.una < self.end).then_some(self.una);
    }

    /// Tahoe: the lost segment and all after it, in slow start.
    fn start_again(&mut self, now: Time, params: &Params) {
        if !self.may_fast_retransmit(params) {
            return;
        }
        self.recover = self.max;
        self.halve(params);
        self.cwnd = 1.0;
        self.nxt = self.una;
        self.timing = false;
        self.restart_timer(now, params);
    }

    /// Halves the window and remembers how far recovery reaches.
    pub(super) fn enter_recovery(&mut self, params: &Params) {
        self.recover = self.max;
        self.ca_state = CaState::Recovery;
        self.partial_seen = false;
        self.note_reduction(params);
        self.halve(params);
    }

    pub(super) fn in_recovery(&self) -> bool {
        self.ca_state == CaState::Recovery
    }

    pub(super) fn leave_recovery(&mut self) {
        self.ca_state = CaState::Recovered;
        self.cwnd = self.ssthresh;
        self.burst = u32::MAX;
    }

    /// The one-way SYN is acknowledged: the window opens to its initial size (ns-2 `delay_growth_`).
    pub(super) fn open_after_syn(&mut self) {
        self.cwnd = f64::from(self.initial_window);
    }

    /// Recovery by ns-2's Sack1 is over; the window stays halved and the scoreboard is forgotten.
    pub(super) fn end_ns2_recovery(&mut self) {
        self.ca_state = CaState::Recovered;
        self.recover = 1;
        self.board.clear(self.una);
        self.burst = u32::MAX;
    }

    /// An echo reduces the window once per window of data (RFC 3168 section 6.1.2).
    pub(super) fn handle_echo(&mut self, next: u32, params: &Params) {
        if next > self.ecn_recover && self.ca_state != CaState::Recovery && self.max > 0 {
            let before = self.cwnd;
            self.halve(params);
            self.cwnd = self.cwnd.min(before);
            self.ca_state = if self.ca_state == CaState::Loss { CaState::Loss } else { CaState::Cwr };
            self.note_reduction(params);
        }
    }

    /// Whatever reduced the window: the receiver is told, and echoes of this window reduce it no further.
    pub(super) fn note_reduction(&mut self, params: &Params) {
        self.restart_prr(params);
        if params.ecn {
            self.ecn_recover = self.max;
            self.cwr_pending = true;
        }
    }

    pub(super) fn halve(&mut self, params: &Params) {
        let half = self.reduced(params);
        self.ssthresh = if !params.is_ns2() { half.max(2.0) } else { half.floor().max(2.0) };
        self.cwnd = if !params.is_ns2() { self.ssthresh } else { half.max(1.0) };
    }

    pub(super) fn half(&self, params: &Params) -> f64 {
        if !params.is_ns2() {
            // RFC 5681 eq. 4 bounds ssthresh by half the data in flight. What is unacknowledged late in a
            // recovery is hundreds of segments, most of them delivered; half of that would let slow start
            // overshoot again after a timeout, for ever. The window, which grows only when used, bounds it.
            let flight = f64::from((self.nxt - self.una).saturating_sub(self.limited_sent));
            if params.rack { self.cwnd / 2.0 } else { flight.min(self.cwnd) / 2.0 }
        } else if params.dialect.quirks().fractional_halving {
            self.window(params) / 2.0
        } else {
            f64::from(self.window(params) as u32 / 2)
        }
    }
}
