//! The retransmission timer, and the segment whose round trip is timed (RFC 6298).

use super::profile::Params;
use super::rtt::Estimator;
use crate::units::{Dur, Time};

/// Timer of one connection.
#[derive(Debug, Clone)]
pub(super) struct RetransmissionTimer {
    rto: Estimator,
    deadline: Time,
    /// One segment at a time is timed: its number plus one, and when it was sent.
    timed: u32,
    timed_at: Time,
    is_timing: bool,
}

impl RetransmissionTimer {
    /// Returns a timer that does not run; `phase` is the phase of the connection's clock tick.
    pub(super) fn new(phase: Dur) -> RetransmissionTimer {
        RetransmissionTimer {
            rto: Estimator::new(phase),
            deadline: Time::NEVER,
            timed: 0,
            timed_at: Time::ZERO,
            is_timing: false,
        }
    }

    /// Returns when the timer expires; [`Time::NEVER`] if it does not run.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Sets the timer to a time that is not that of the retransmission timeout.
    pub(super) fn set(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// Sets the timer to one retransmission timeout from now.
    #[inline]
    pub(super) fn restart(&mut self, now: Time, params: &Params) {
        self.deadline = now + self.rto.rto(params);
    }

    pub(super) fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Returns the retransmission timeout in force.
    pub(super) fn timeout(&self, params: &Params) -> Dur {
        self.rto.rto(params)
    }

    /// Returns the smoothed round-trip time, if any sample was taken.
    pub(super) fn srtt(&self, params: &Params) -> Option<Dur> {
        self.rto.srtt(params)
    }

    /// Takes a round-trip sample from elsewhere, such as the handshake.
    pub(super) fn sample(&mut self, sent: Time, now: Time, params: &Params) {
        self.rto.sample(sent, now, params);
    }

    /// Takes note that the SYN or its answer was lost (RFC 6298 section 5.7).
    pub(super) fn after_syn_loss(&mut self) {
        self.rto.after_syn_loss();
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(super) fn back_off(&mut self, params: &Params) {
        self.rto.back_off(params);
    }

    /// Takes note of a segment sent for the first time: it is timed if no other is.
    #[inline]
    pub(super) fn on_new_segment(&mut self, seq: u32, now: Time) {
        if !self.is_timing {
            (self.is_timing, self.timed, self.timed_at) = (true, seq + 1, now);
        }
    }

    /// Gives up timing, for a segment sent twice gives no sample (Karn's algorithm).
    pub(super) fn cancel_timing(&mut self) {
        self.is_timing = false;
    }

    /// Takes a sample if the timed segment lies below `next`, which is acknowledged; this ends the backoff.
    #[inline]
    pub(super) fn on_ack(&mut self, next: u32, now: Time, params: &Params) {
        if self.end_timing(next) {
            self.rto.sample(self.timed_at, now, params);
        }
    }

    /// Ends timing without a sample if the timed segment lies below `next`, as partial ACKs do.
    pub(super) fn on_partial_ack(&mut self, next: u32) {
        self.end_timing(next);
    }

    #[inline]
    fn end_timing(&mut self, next: u32) -> bool {
        let is_acked = self.is_timing && next >= self.timed;
        if is_acked {
            self.is_timing = false;
            self.rto.end_backoff();
        }
        is_acked
    }
}
