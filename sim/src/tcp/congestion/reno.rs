//! Reno congestion control (RFC 5681) with appropriate byte counting (RFC 3465), in segments.
//!
//! Slow start opens the window by what is acknowledged, congestion avoidance by one segment per window.
//! A loss halves it, a timeout closes it to one segment.

use super::{NewAck, Window};
use crate::tcp::profile::Params;

/// State of one connection.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct Reno {
    window: Window,
}

impl Reno {
    /// Returns the state with the initial window.
    pub(super) fn new(params: &Params) -> Reno {
        Reno { window: Window::new(params.initial_window, params.initial_ssthresh) }
    }

    /// Returns the congestion window.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the congestion window for changing.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Opens the window for an ACK of new data (RFC 5681 section 3.1), if the window was used.
    /// Segments that slow start leaves over count for congestion avoidance.
    pub(super) fn on_ack(&mut self, ack: &NewAck) {
        if !self.window.is_used_by(ack.flight) {
            return;
        }
        let acked = if self.window.is_slow_start() {
            self.window.grow_in_slow_start(ack)
        } else {
            f64::from(ack.acked)
        };
        if acked > 0.0 {
            let cwnd = self.window.cwnd();
            self.window.open_to(cwnd + acked / cwnd);
        }
    }

    /// Halves window and threshold (RFC 5681 section 3.2 step 2), to at least two segments.
    pub(super) fn on_congestion(&mut self, flight: f64) {
        self.window.halve(flight);
    }

    /// Halves the threshold (RFC 5681 section 3.1), in whole segments, at least two; the caller
    /// closes the window.
    pub(super) fn on_timeout(&mut self, flight: f64) {
        self.window.halve_threshold(flight);
    }
}
