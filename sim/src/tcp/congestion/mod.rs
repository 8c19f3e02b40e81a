//! Congestion control: how the window grows on acknowledgements and shrinks on congestion.
//!
//! The sender reports events to its [`Controller`] and reads the window back. Each algorithm owns its
//! state. A further one is a module here and an arm of the enum. Windows are counted in segments.

mod ack;
mod bbr;
mod cubic;
mod hystart;
mod linux_cubic;
mod ns2;
mod prague;
mod reno;
mod window;

use super::dialect::Dialect;
use super::profile::{Congestion, Params};
use crate::units::Dur;
pub(super) use ack::{Feedback, NewAck, RttSample};
use bbr::Bbr;
pub(super) use bbr::{LostSegment, ModelAck, RateSample};
use cubic::Cubic;
use ns2::Ns2;
use prague::Prague;
use reno::Reno;
use window::Window;

/// Congestion control of one connection.
#[derive(Debug, Clone)]
pub(super) enum Controller {
    Reno(Reno),
    Cubic(Cubic),
    Ns2(Ns2),
    Bbr(Bbr),
    Prague(Prague),
}

impl Controller {
    /// Returns the controller that `params` select, with the initial window; `salt` seeds BBR's
    /// random draws.
    pub(super) fn new(params: &Params, salt: u64) -> Controller {
        match (params.dialect, params.congestion) {
            (Dialect::Ns2(quirks), _) => Controller::Ns2(Ns2::new(quirks, params)),
            (Dialect::Rfc, Congestion::Reno) => Controller::Reno(Reno::new(params)),
            (Dialect::Rfc, Congestion::Cubic) => Controller::Cubic(Cubic::new(params)),
            (Dialect::Rfc, Congestion::Bbr) => Controller::Bbr(Bbr::new(params, salt)),
            (Dialect::Rfc, Congestion::Prague) => Controller::Prague(Prague::new(params)),
        }
    }

    /// Returns the congestion window in segments.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.window().cwnd()
    }

    /// Returns the slow start threshold in segments; infinite until something sets it.
    pub(super) fn ssthresh(&self) -> f64 {
        self.window().ssthresh()
    }

    /// Grows the window for an acknowledgement of new data outside recovery, if the window was
    /// used; ns-2's always grows. BBR ignores it, because its acknowledgements come with rate
    /// samples.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &NewAck) {
        match self {
            Controller::Reno(reno) => reno.on_ack(ack),
            Controller::Cubic(cubic) => cubic.on_ack(ack),
            Controller::Ns2(ns2) => ns2.on_ack(),
            Controller::Prague(prague) => prague.on_ack(ack),
            Controller::Bbr(_) => {}
        }
    }

    /// Returns BBR's state for changing, `None` if another algorithm is in control.
    pub(super) fn bbr(&mut self) -> Option<&mut Bbr> {
        match self {
            Controller::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// Passes an ACK's count of marks to Prague, before [`Controller::on_ack`]; returns whether
    /// that reduced the window. Other algorithms ignore it and return `false`.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback) -> bool {
        match self {
            Controller::Prague(prague) => prague.on_feedback(feedback),
            _ => false,
        }
    }

    /// Passes a round-trip time to CUBIC with HyStart; other algorithms ignore it.
    pub(super) fn on_rtt(&mut self, sample: &RttSample) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_rtt(sample);
        }
    }

    /// Reduces window and threshold for a loss, with `flight` segments in flight. BBR saves its
    /// window instead.
    pub(super) fn on_congestion(&mut self, flight: f64) {
        match self {
            Controller::Reno(reno) => reno.on_congestion(flight),
            Controller::Cubic(cubic) => cubic.on_congestion(flight),
            Controller::Ns2(ns2) => ns2.on_congestion(flight),
            Controller::Prague(prague) => prague.on_congestion(flight),
            Controller::Bbr(bbr) => bbr.enter_recovery(),
        }
    }

    /// Reduces window and threshold for a loss that is repaired already, with `flight` segments in
    /// flight. BBR only counts a loss in the round trip.
    pub(super) fn on_repaired_loss(&mut self, flight: f64) {
        match self {
            Controller::Bbr(bbr) => bbr.note_loss_in_round(),
            _ => self.on_congestion(flight),
        }
    }

    /// Ends a recovery: the window becomes the threshold; BBR restores its former window.
    pub(super) fn end_recovery(&mut self) {
        match self {
            Controller::Bbr(bbr) => bbr.end_recovery(),
            _ => self.set_cwnd(self.ssthresh()),
        }
    }

    /// Ends the repair after a timeout: BBR restores its former window; for others nothing changes.
    pub(super) fn end_timeout_repair(&mut self) {
        if let Controller::Bbr(bbr) = self {
            bbr.end_recovery();
        }
    }

    /// Reduces window and threshold for the echo of a congestion mark, with `flight` segments in
    /// flight; the window never grows by it. BBR counts a loss in the round trip instead.
    pub(super) fn on_mark(&mut self, flight: f64) {
        if let Controller::Bbr(bbr) = self {
            return bbr.note_loss_in_round();
        }
        let before = self.cwnd();
        self.on_congestion(flight);
        self.set_cwnd(self.cwnd().min(before));
    }

    /// Reduces the threshold for a retransmission timeout, with `flight` segments in flight, and
    /// leaves one segment of window. BBR saves its window and leaves the threshold.
    pub(super) fn on_timeout(&mut self, flight: f64) {
        match self {
            Controller::Reno(reno) => reno.on_timeout(flight),
            Controller::Cubic(cubic) => cubic.on_timeout(flight),
            Controller::Ns2(ns2) => ns2.on_timeout(flight),
            Controller::Prague(prague) => prague.on_timeout(flight),
            Controller::Bbr(bbr) => bbr.enter_recovery(),
        }
        self.set_loss_window();
    }

    /// Passes an idle time, in which nothing was outstanding, to CUBIC; other algorithms ignore it.
    pub(super) fn on_idle(&mut self, idle: Dur) {
        if let Controller::Cubic(cubic) = self {
            cubic.on_idle(idle);
        }
    }

    /// Sets ns-2's window to its initial size when its one-way SYN is acknowledged
    /// (`delay_growth_`); other algorithms ignore it.
    pub(super) fn on_one_way_syn_acked(&mut self) {
        if let Controller::Ns2(ns2) = self {
            ns2.on_syn_acked();
        }
    }

    /// Cuts the initial window to one segment, in those versions of ns-2 that do so when the first
    /// segment of a connection times out; other algorithms ignore it.
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

    /// Halves the window, in whole segments, for each `timeout` that ends before the `idle` time
    /// does, down to `initial_window`. The threshold becomes at least three quarters of the window
    /// before (Linux's `tcp_cwnd_restart`).
    pub(super) fn restart_by_halving(&mut self, idle: Dur, timeout: Dur, initial_window: u32) {
        self.raise_ssthresh();
        let mut cwnd = self.cwnd();
        let least = cwnd.min(f64::from(initial_window));
        let mut left = idle.0.saturating_sub(timeout.0);
        while left > 0 && cwnd > least {
            cwnd = (cwnd / 2.0).floor();
            left = left.saturating_sub(timeout.0);
        }
        self.set_cwnd(cwnd.max(least));
    }

    /// Shrinks the window half way to the `used` segments of it, in whole segments; a window that
    /// is used stays. The threshold becomes at least three quarters of the window before (Linux's
    /// `tcp_cwnd_application_limited`).
    pub(super) fn shrink_towards_use(&mut self, used: u32) {
        let (cwnd, used) = (self.cwnd(), f64::from(used));
        if used < cwnd {
            self.raise_ssthresh();
            self.set_cwnd(((cwnd + used) / 2.0).floor());
        }
    }

    /// Raises the threshold to three quarters of the window, if it is lower (Linux's
    /// `tcp_current_ssthresh`).
    fn raise_ssthresh(&mut self) {
        let window = self.window_mut();
        window.set_ssthresh(window.ssthresh().max(0.75 * window.cwnd()));
    }

    /// Sets the window in segments, for loss recovery; no bound applies.
    #[inline]
    pub(super) fn set_cwnd(&mut self, cwnd: f64) {
        self.window_mut().set_cwnd(cwnd);
    }

    /// Returns window and threshold of the algorithm.
    #[inline]
    fn window(&self) -> &Window {
        match self {
            Controller::Reno(reno) => reno.window(),
            Controller::Cubic(cubic) => cubic.window(),
            Controller::Ns2(ns2) => ns2.window(),
            Controller::Bbr(bbr) => bbr.window(),
            Controller::Prague(prague) => prague.window(),
        }
    }

    /// Returns window and threshold of the algorithm for changing.
    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        match self {
            Controller::Reno(reno) => reno.window_mut(),
            Controller::Cubic(cubic) => cubic.window_mut(),
            Controller::Ns2(ns2) => ns2.window_mut(),
            Controller::Bbr(bbr) => bbr.window_mut(),
            Controller::Prague(prague) => prague.window_mut(),
        }
    }
}
