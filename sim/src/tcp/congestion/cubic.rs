//! CUBIC congestion control (RFC 9438), in segments and seconds.
//!
//! After a reduction the window follows `W(t) = C·(t − K)³ + W_max` with `K = ∛((W_max − cwnd)/C)`:
//! steep at first, flat around the window at which the last loss happened, steep again beyond
//! (section 4.2). Where Reno would be faster, a window that grows as Reno's is used (section 4.3).
//! Slow start is Reno's (section 4.10).
//!
//! *Deviations*: the window grows for each segment acknowledged, not for each ACK, so that delayed ACKs
//! do not slow it down (as Linux counts); floats, where kernels use integers; the data in flight is
//! bounded by the window, as in [`super::reno`]. HyStart++ (RFC 9406) and the undoing of spurious
//! reductions (section 4.9) are not included. With HyStart ([`super::hystart`]) the window grows as in Linux
//! ([`super::linux_cubic`]).

use super::linux_cubic::LinuxCubic;
use super::{NewAck, RttSample, Window};
use crate::tcp::profile::Params;
use crate::units::{Dur, Time};

/// Segments per second cubed (section 5.1).
const C: f64 = 0.4;
/// Share of the window that a reduction leaves (section 4.6).
const BETA: f64 = 0.7;
/// Growth per round trip that makes the Reno-friendly window as fast as Reno (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State of one connection. The curve is in a box, and the window comes first as in the other algorithms, so
/// that a connection without CUBIC pays for neither memory nor a branch.
#[derive(Debug, Clone)]
#[repr(C)]
pub(in crate::tcp) struct Cubic {
    window: Window,
    curve: Box<Curve>,
}

impl Cubic {
    /// Returns the state with the initial window.
    pub(super) fn new(params: &Params) -> Cubic {
        let window = Window::new(params.initial_window, params.initial_ssthresh);
        let linux = params.hystart.then(LinuxCubic::default);
        Cubic { window, curve: Box::new(Curve { linux, ..Curve::default() }) }
    }

    /// Returns the congestion window.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the congestion window for changing.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Grows the window for an ACK of new data, unless the flight did not use the window. Segments
    /// that slow start leaves over count for congestion avoidance.
    #[inline(never)]
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
            self.window.open_to(match &mut self.curve.linux {
                Some(linux) => linux.grow(cwnd, acked as u32, ack.now),
                None => self.curve.grow(cwnd, acked, ack.now, ack.srtt),
            });
        }
    }

    /// Passes a round-trip time to HyStart, which may end slow start: the threshold is then the
    /// window. Without HyStart nothing happens.
    pub(super) fn on_rtt(&mut self, sample: &RttSample) {
        let window = self.window.is_slow_start().then(|| self.window.cwnd());
        if let Some(linux) = &mut self.curve.linux
            && linux.on_rtt(sample, window)
        {
            self.window.set_ssthresh(self.window.cwnd());
        }
    }

    /// Reduces window and threshold to seven tenths of the flight or the window, whichever is less
    /// (section 4.6); Linux reduces the window itself. Neither falls below two segments.
    pub(super) fn on_congestion(&mut self, flight: f64) {
        let ssthresh = self.compute_ssthresh(flight);
        self.window.reduce_to(ssthresh);
    }

    /// Reduces the threshold to seven tenths, in whole segments, at least two (section 4.8). The
    /// plateau is forgotten; the caller closes the window.
    pub(super) fn on_timeout(&mut self, flight: f64) {
        let ssthresh = self.compute_ssthresh(flight);
        self.curve.forget_plateau();
        self.window.set_ssthresh(ssthresh.floor());
    }

    /// Excludes a time without transmissions from the age of the stage (section 5.8).
    pub(super) fn on_idle(&mut self, idle: Dur) {
        self.curve.shift_epoch(idle);
    }

    /// Ends the stage of congestion avoidance. Returns the new threshold in segments, by RFC 9438
    /// or as Linux computes it.
    fn compute_ssthresh(&mut self, flight: f64) -> f64 {
        let cwnd = self.window.cwnd();
        match &mut self.curve.linux {
            Some(linux) => linux.reduce(cwnd),
            None => self.curve.reduce(cwnd, flight.min(cwnd)),
        }
    }
}

/// The window as a function of time.
#[derive(Debug, Clone, Default)]
struct Curve {
    /// Window at the last reduction, less where fast convergence gives some away (section 4.7); 0 if unknown.
    w_max: f64,
    /// Window at the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
    /// Present where CUBIC is Linux's, which then grows the window.
    linux: Option<LinuxCubic>,
}

/// A stage of congestion avoidance.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    start: Time,
    /// Window at the plateau.
    origin: f64,
    /// Seconds until the plateau.
    k: f64,
    /// Window that Reno would have.
    reno: f64,
}

impl Epoch {
    /// Begins a stage (section 4.2); windows are in segments, and `w_max` 0 means that no plateau
    /// is known. Without a plateau above, growth is convex from the start (after a timeout: section
    /// 4.8, after slow start: section 4.10).
    fn new(now: Time, cwnd: f64, w_max: f64) -> Epoch {
        let origin = w_max.max(cwnd);
        Epoch { start: now, origin, k: libm::cbrt((origin - cwnd) / C), reno: cwnd }
    }

    /// Returns the window `seconds` after the start of the stage (`W_cubic(t)`, section 4.2).
    fn window_at(&self, seconds: f64) -> f64 {
        let beyond = seconds - self.k;
        C * (beyond * beyond * beyond) + self.origin
    }
}

impl Curve {
    /// Ends the stage at `cwnd`, of which `flight` segments are in use; returns the new threshold
    /// (section 4.6). A window that has not come back to the last plateau lowers the next one (fast
    /// convergence, section 4.7).
    fn reduce(&mut self, cwnd: f64, flight: f64) -> f64 {
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
        flight * BETA
    }

    /// Forgets the last window, so that the next stage begins at its own plateau, after a timeout
    /// (section 4.8).
    fn forget_plateau(&mut self) {
        self.w_max = 0.0;
        if let Some(linux) = &mut self.linux {
            linux.reset();
        }
    }

    /// Moves the start of the stage by `idle`, in which nothing was sent (section 5.8).
    fn shift_epoch(&mut self, idle: Dur) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
        if let Some(linux) = &mut self.linux {
            linux.shift_epoch(idle);
        }
    }

    /// Returns the window after `acked` segments in congestion avoidance, in segments (sections 4.2
    /// to 4.5). It never falls, and the first call after a reduction begins the stage.
    fn grow(&mut self, cwnd: f64, acked: f64, now: Time, rtt: Dur) -> f64 {
        let w_max = self.w_max;
        let prior = self.prior;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, cwnd, w_max));
        let seconds = now.since(epoch.start).as_secs();
        let alpha = if epoch.reno >= prior { 1.0 } else { ALPHA };
        epoch.reno += alpha * acked / cwnd;
        if epoch.window_at(seconds) < epoch.reno {
            return cwnd.max(epoch.reno);
        }
        let target = epoch.window_at(seconds + rtt.as_secs()).clamp(cwnd, 1.5 * cwnd);
        cwnd + acked * (target - cwnd) / cwnd
    }
}
