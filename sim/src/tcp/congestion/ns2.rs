//! Congestion control of ns-2's one-way TCP (`oracle/semantics.md`, section 1.6), in segments.
//!
//! The window opens by one segment per ACK in slow start and by `1/cwnd` per ACK after it, whatever the
//! ACK covers and whether the window is used or not. A reduction halves the window that the sender used
//! (congestion window, receive window, inflation), not the data in flight.

use super::Window;
use crate::tcp::dialect::Ns2Quirks;
use crate::tcp::profile::{Opening, Params};

/// State of one connection.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct Ns2 {
    window: Window,
    initial_window: u32,
    fractional_halving: bool,
    first_loss_shrinks_iw: bool,
}

impl Ns2 {
    /// Returns the state with the initial window, or one segment where a one-way SYN goes out
    /// first.
    pub(super) fn new(quirks: Ns2Quirks, params: &Params) -> Ns2 {
        let initial_window = params.initial_window;
        let cwnd = if params.opening == Opening::OneWaySyn { 1 } else { initial_window };
        Ns2 {
            window: Window::new(cwnd, params.initial_ssthresh),
            initial_window,
            fractional_halving: quirks.fractional_halving,
            first_loss_shrinks_iw: quirks.first_loss_shrinks_iw,
        }
    }

    /// Returns the congestion window.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the congestion window for changing.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Opens the window for an ACK of new data: by one segment in slow start, by the reciprocal of
    /// the window after it, whatever the ACK covers.
    #[inline]
    pub(super) fn on_ack(&mut self) {
        let cwnd = self.window.cwnd();
        self.window.open_to(cwnd + if self.window.is_slow_start() { 1.0 } else { 1.0 / cwnd });
    }

    /// Sets the window to half of `used`, the window in use, but at least one segment, and the
    /// threshold to the same in whole segments, at least two.
    pub(super) fn on_congestion(&mut self, used: f64) {
        let half = self.halve(used);
        self.window.set_ssthresh(half.floor());
        self.window.set_cwnd(half.max(1.0));
    }

    /// Sets the threshold to half of `used`, in whole segments, at least two; the caller closes the
    /// window.
    pub(super) fn on_timeout(&mut self, used: f64) {
        self.window.set_ssthresh(self.halve(used).floor());
    }

    /// Sets the window to its initial size.
    pub(super) fn on_syn_acked(&mut self) {
        self.window.set_cwnd(f64::from(self.initial_window));
    }

    /// Cuts the initial window to one segment, in versions that do so.
    pub(super) fn on_first_segment_lost(&mut self) {
        if self.first_loss_shrinks_iw {
            self.initial_window = 1;
        }
    }

    /// Returns half of `used`, with or without the fraction of a segment, depending on ns-2's
    /// version.
    fn halve(&self, used: f64) -> f64 {
        if self.fractional_halving { used / 2.0 } else { f64::from(used as u32 / 2) }
    }
}
