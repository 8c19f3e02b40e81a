//! Congestion control: how the window opens on acknowledgements, and what congestion leaves of it.
//!
//! The sender reports events to its [`Controller`] and reads the window back. Each algorithm owns its
//! state. A further one is a module here and an arm of the enum. Windows are counted in segments.

mod cubic;
mod ns2;
mod reno;
mod window;

use super::dialect::Dialect;
use super::profile::{Congestion, Params};
use crate::units::{Dur, Time};
use cubic::Cubic;
use ns2::Ns2;
use reno::Reno;
use window::Window;

/// An acknowledgement of new data outside recovery.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewAck {
    /// Segments newly acknowledged.
    pub(super) acked: u32,
    /// Segments in flight before it.
    pub(super) flight: u32,
    /// Not all that was out at the last timeout had been acknowledged before it.
    pub(super) after_timeout: bool,
    pub(super) now: Time,
    /// Smoothed round-trip time; zero before any sample.
    pub(super) srtt: Dur,
}

/// Congestion control of one connection.
#[derive(Debug, Clone)]
pub(super) enum Controller {
    Reno(Reno),
    Cubic(Cubic),
    Ns2(Ns2),
}

impl Controller {
    /// Returns the controller that `params` ask for, with the initial window.
    pub(super) fn new(params: &Params) -> Controller {
        match (params.dialect, params.congestion) {
            (Dialect::Ns2(quirks), _) => Controller::Ns2(Ns2::new(quirks, params)),
            (Dialect::Rfc, Congestion::Reno) => Controller::Reno(Reno::new(params)),
            (Dialect::Rfc, Congestion::Cubic) => Controller::Cubic(Cubic::new(params)),
        }
    }

    /// Returns the congestion window.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.window().cwnd()
    }

    /// Returns the slow start threshold; infinite until something sets it.
    pub(super) fn ssthresh(&self) -> f64 {
        self.window().ssthresh()
    }

    /// Takes an acknowledgement of new data outside recovery.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &NewAck) {
        match self {
            Controller::Reno(reno) => reno.on_ack(ack),
            Controller::Cubic(cubic) => cubic.on_ack(ack),
            Controller::Ns2(ns2) => ns2.on_ack(),
        }
    }

    /// Reduces window and threshold for a loss, with `flight` segments in flight.
    pub(super) fn on_congestion(&mut self, flight: f64) {
        match self {
            Controller::Reno(reno) => reno.on_congestion(flight),
            Controller::Cubic(cubic) => cubic.on_congestion(flight),
            Controller::Ns2(ns2) => ns2.on_congestion(flight),
        }
    }

    /// Reduces them for the echo of a congestion mark, which never opens the window.
    pub(super) fn on_mark(&mut self, flight: f64) {
        let before = self.cwnd();
        self.on_congestion(flight);
        self.set_cwnd(self.cwnd().min(before));
    }

    /// Reduces the threshold for a retransmission timeout and leaves one segment of window.
    pub(super) fn on_timeout(&mut self, flight: f64) {
        match self {
            Controller::Reno(reno) => reno.on_timeout(flight),
            Controller::Cubic(cubic) => cubic.on_timeout(flight),
            Controller::Ns2(ns2) => ns2.on_timeout(flight),
        }
        self.set_loss_window();
    }

    /// Takes note that nothing was outstanding for `idle`.
    pub(super) fn on_idle(&mut self, idle: Dur) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_idle(idle);
        }
    }

    /// Opens the window to its initial size: ns-2's one-way SYN is acknowledged (`delay_growth_`).
    pub(super) fn on_one_way_syn_acked(&mut self) {
        if let Controller::Ns2(ns2) = self {
            ns2.on_syn_acked();
        }
    }

    /// Takes note that the first segment of a connection timed out, which some versions of ns-2 punish.
    pub(super) fn on_first_segment_lost(&mut self) {
        if let Controller::Ns2(ns2) = self {
            ns2.on_first_segment_lost();
        }
    }

    /// Sets the window to one segment, the loss window (RFC 5681 section 3.1).
    pub(super) fn set_loss_window(&mut self) {
        self.set_cwnd(1.0);
    }

    /// Cuts the window to at most `initial_window`, the restart window (RFC 5681 section 4.1).
    pub(super) fn set_restart_window(&mut self, initial_window: u32) {
        self.set_cwnd(self.cwnd().min(f64::from(initial_window)));
    }

    /// Sets the window as loss recovery demands; it is not checked against any bound.
    #[inline]
    pub(super) fn set_cwnd(&mut self, cwnd: f64) {
        self.window_mut().set_cwnd(cwnd);
    }

    #[inline]
    fn window(&self) -> &Window {
        match self {
            Controller::Reno(reno) => reno.window(),
            Controller::Cubic(cubic) => cubic.window(),
            Controller::Ns2(ns2) => ns2.window(),
        }
    }

    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        match self {
            Controller::Reno(reno) => reno.window_mut(),
            Controller::Cubic(cubic) => cubic.window_mut(),
            Controller::Ns2(ns2) => ns2.window_mut(),
        }
    }
}
