//! The retransmission timer, and the segment whose round trip is timed (RFC 6298).

use super::profile::Params;
use super::rtt::Estimator;
use crate::units::{Dur, Time};

/// Timers below this many ticks expire on the next tick; longer ones eight and 64 times more coarsely (levels of
/// Linux's timer wheel).
const FINE_TICKS: u64 = 63;

/// Returns when a timer expires that is set at `now` to run for `time`, on a clock of `tick`: on a
/// tick, and never early. Long timers are coarser, as in Linux. A zero tick is an exact clock.
pub(super) fn expiry_time(now: Time, time: Dur, tick: Dur) -> Time {
    if tick == Dur::ZERO {
        return now + time;
    }
    let ticks = time.0.div_ceil(tick.0);
    let coarseness = match ticks {
        _ if ticks < FINE_TICKS => 1,
        _ if ticks < 8 * FINE_TICKS => 8,
        _ => 64,
    };
    let expires = now.0 / tick.0 + ticks;
    Time((expires / coarseness + 1) * coarseness * tick.0)
}

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

    /// Returns whether the timer runs.
    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Sets the timer to a deadline other than the retransmission timeout.
    pub(super) fn set_deadline(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// Sets the timer to one retransmission timeout from `now`.
    #[inline]
    pub(super) fn restart(&mut self, now: Time, params: &Params) {
        self.deadline = now + self.rto.rto(params);
    }

    /// Stops the timer.
    pub(super) fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Returns the retransmission timeout in force.
    pub(super) fn timeout(&self, params: &Params) -> Dur {
        self.rto.rto(params)
    }

    /// Returns the smoothed round-trip time; `None` before any sample.
    pub(super) fn srtt(&self, params: &Params) -> Option<Dur> {
        self.rto.srtt(params)
    }

    /// Adds a round-trip sample from elsewhere, such as the handshake; the timer runs on.
    pub(super) fn sample(&mut self, sent: Time, now: Time, params: &Params) {
        self.rto.sample(sent, now, params);
    }

    /// Returns the smoothed round-trip time times eight and the variation times four, in ticks;
    /// `None` before any sample.
    pub(super) fn estimate(&self) -> Option<(u64, u64)> {
        self.rto.estimate()
    }

    /// Sets the smoothed round-trip time times eight and the variation times four, in ticks, from
    /// another estimator; this ends the backoff.
    pub(super) fn set_estimate(&mut self, srtt8: u64, rttvar4: u64) {
        self.rto.set_estimate(srtt8, rttvar4);
        self.rto.end_backoff();
    }

    /// Ends the backoff: new data was acknowledged.
    pub(super) fn end_backoff(&mut self) {
        self.rto.end_backoff();
    }

    /// Records that the SYN or its answer was lost (RFC 6298 section 5.7).
    pub(super) fn note_syn_loss(&mut self) {
        self.rto.note_syn_loss();
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(super) fn back_off(&mut self, params: &Params) {
        self.rto.back_off(params);
    }

    /// Records a segment sent for the first time: it is timed if no other is.
    #[inline]
    pub(super) fn on_new_segment(&mut self, seq: u32, now: Time) {
        if !self.is_timing {
            (self.is_timing, self.timed, self.timed_at) = (true, seq + 1, now);
        }
    }

    /// Times a segment that is retransmitted, instead of any other, which time stamps allow (RFC
    /// 7323 section 4).
    pub(super) fn time_retransmission(&mut self, seq: u32, now: Time) {
        (self.is_timing, self.timed, self.timed_at) = (true, seq + 1, now);
    }

    /// Stops timing, since a segment sent twice gives no sample (Karn's algorithm).
    pub(super) fn cancel_timing(&mut self) {
        self.is_timing = false;
    }

    /// Takes the sample if the timed segment is acknowledged, which ends the backoff; everything
    /// below `next` is acknowledged.
    #[inline]
    pub(super) fn on_ack(&mut self, next: u32, now: Time, params: &Params) {
        if self.end_timing(next) {
            self.rto.sample(self.timed_at, now, params);
        }
    }

    /// Ends timing and backoff without a sample if the timed segment lies below `next`, as for
    /// partial ACKs.
    pub(super) fn on_partial_ack(&mut self, next: u32) {
        self.end_timing(next);
    }

    /// Ends timing and backoff if the timed segment lies below `next`; returns whether it does.
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

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the expiry in ms, all arguments in ms.
    fn expiry_ms(now_ms: u64, time_ms: u64, tick_ms: u64) -> u64 {
        let at = |ms: u64| Time(ms * 1_000_000);
        expiry_time(at(now_ms), Dur::from_millis(time_ms), Dur::from_millis(tick_ms)).0 / 1_000_000
    }

    /// Two ticks cover 5 ms and one more guards against the tick that has begun; from 252 ms on, 32 ms are one step.
    #[test]
    fn expiry_time__is_on_a_tick_and_never_early() {
        assert_eq!(expiry_ms(103, 5, 0), 108);
        assert_eq!(expiry_ms(100, 5, 4), 112);
        assert_eq!(expiry_ms(103, 5, 4), 112);
        assert_eq!(expiry_ms(0, 251, 4), 256);
        assert_eq!(expiry_ms(0, 252, 4), 256);
        assert_eq!(expiry_ms(8, 252, 4), 288);
        assert_eq!(expiry_ms(0, 3_000, 4), 3_072);
    }
}
