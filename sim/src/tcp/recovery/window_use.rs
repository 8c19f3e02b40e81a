//! Congestion window validation as in Linux (`tcp_cwnd_validate`, after RFC 2861 and RFC 7661).
//!
//! The window may open while it limited sending at any moment of the last window of data; in slow start half of
//! it in use suffices. A window that was not used for a retransmission timeout closes half way to what was.

use crate::tcp::profile::Params;
use crate::tcp::tcb::Tcb;
use crate::units::Time;

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowUse {
    /// The window limited sending (`is_cwnd_limited`).
    was_limit: bool,
    /// The most segments outstanding in this window of data (`max_packets_out`).
    most_out: u32,
    /// One more than the highest segment sent when this was noted (`cwnd_usage_seq`).
    noted_at: u32,
    /// The most segments outstanding since the window was used in full (`snd_cwnd_used`).
    used: u32,
    /// When the window was used in full, or was closed, last (`snd_cwnd_stamp`).
    stamp: Time,
}

impl WindowUse {
    /// Returns whether the window is used, so that acknowledgements may open it: it limited
    /// sending, or in slow start half of it was outstanding.
    pub(super) fn is_used(&self, tcb: &Tcb) -> bool {
        let (cwnd, half) = (tcb.congestion.cwnd(), f64::from(2 * self.most_out));
        self.was_limit || (cwnd < tcb.congestion.ssthresh() && cwnd < half)
    }

    /// Records that sending has stopped; `is_limit` says whether the window is the reason. A window
    /// that was not used for a retransmission timeout shrinks, if the profile validates windows and
    /// no repair is under way.
    pub(super) fn on_stopped(&mut self, tcb: &mut Tcb, is_limit: bool, now: Time, params: &Params) {
        let out = tcb.sequence.outstanding();
        if tcb.sequence.una() >= self.noted_at || is_limit || (!self.was_limit && out > self.most_out) {
            (self.was_limit, self.most_out, self.noted_at) = (is_limit, out, tcb.sequence.nxt());
        }
        if self.is_used(tcb) {
            (self.used, self.stamp) = (0, now);
            return;
        }
        self.used = self.used.max(out);
        if params.window_validation && now.since(self.stamp) >= tcb.timer.timeout(params) {
            if !tcb.in_recovery() && !tcb.is_after_timeout() {
                tcb.congestion.shrink_towards_use(self.used.max(params.initial_window));
            }
            (self.used, self.stamp) = (0, now);
        }
    }

    /// Records that the window restarts after an idle time: the time without use begins at `now`.
    pub(super) fn on_restart(&mut self, now: Time) {
        (self.used, self.stamp) = (0, now);
    }
}
