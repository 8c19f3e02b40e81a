//! Congestion window and slow start threshold, with slow start and halving, which the algorithms share.
//!
//! *Deviation*: RFC 5681 eq. 4 halves the data in flight. Late in a recovery that can be hundreds of
//! segments, most of them delivered; half of them would let slow start overshoot again after a timeout,
//! for ever. So the window, which grows only when used, bounds the flight.

use super::NewAck;

/// The greatest window.
const MAX: f64 = 65_535.0;
/// The least slow start threshold (RFC 5681 eq. 4).
const MIN_SSTHRESH: f64 = 2.0;

/// Congestion window and slow start threshold, in segments.
#[derive(Debug, Clone)]
pub(super) struct Window {
    cwnd: f64,
    ssthresh: f64,
}

impl Window {
    /// Returns a window of `cwnd` segments; without a threshold slow start ends only at a
    /// congestion event.
    pub(super) fn new(cwnd: u32, ssthresh: Option<u32>) -> Window {
        Window { cwnd: f64::from(cwnd), ssthresh: ssthresh.map_or(f64::INFINITY, f64::from) }
    }

    /// Returns the congestion window in segments.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Returns the slow start threshold in segments.
    pub(super) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Returns whether the window is below the threshold. A window equal to it is in congestion
    /// avoidance.
    #[inline]
    pub(super) fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Returns whether `flight` segments use the window, so that acknowledging them may open it. In
    /// slow start half of the window suffices.
    pub(super) fn is_used_by(&self, flight: u32) -> bool {
        let flight = f64::from(flight);
        flight + 1.0 >= self.cwnd || (self.is_slow_start() && 2.0 * flight >= self.cwnd)
    }

    /// Grows the window in slow start by the segments acknowledged: at most two, and one after a
    /// timeout (RFC 3465 sections 2.2 and 2.3), or all of them, up to the threshold (Linux).
    /// Returns how many segments are left for congestion avoidance.
    pub(super) fn grow_in_slow_start(&mut self, ack: &NewAck) -> f64 {
        if ack.is_counted_in_full {
            let before = self.cwnd;
            self.open_to((before + f64::from(ack.acked)).min(self.ssthresh));
            return f64::from(ack.acked) - (self.cwnd - before);
        }
        let limit = if ack.after_timeout { 1 } else { 2 };
        self.open_to(self.cwnd + f64::from(ack.acked.min(limit)));
        0.0
    }

    /// Sets the window to `cwnd`, but at most [`MAX`] segments.
    #[inline]
    pub(super) fn open_to(&mut self, cwnd: f64) {
        self.cwnd = cwnd.min(MAX);
    }

    /// Sets the window in segments; no bound applies.
    pub(super) fn set_cwnd(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
    }

    /// Sets the threshold to `ssthresh`, but at least two segments.
    pub(super) fn set_ssthresh(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh.max(MIN_SSTHRESH);
    }

    /// Sets window and threshold to half of the `flight` in segments, but at least two, for a loss;
    /// the window bounds the flight.
    pub(super) fn halve(&mut self, flight: f64) {
        self.reduce_to(flight.min(self.cwnd) / 2.0);
    }

    /// Sets the threshold to half of the `flight`, in whole segments, but at least two, for a
    /// timeout. The window bounds the flight and stays.
    pub(super) fn halve_threshold(&mut self, flight: f64) {
        self.set_ssthresh((flight.min(self.cwnd) / 2.0).floor());
    }

    /// Sets threshold and window to `ssthresh`, but at least two segments.
    pub(super) fn reduce_to(&mut self, ssthresh: f64) {
        self.set_ssthresh(ssthresh);
        self.cwnd = self.ssthresh;
    }
}
