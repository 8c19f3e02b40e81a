//! CUBIC congestion control (RFC 9438), in segments and seconds.
//!
//! After a reduction the window follows `W(t) = C·(t − K)³ + W_max` with `K = ∛((W_max − cwnd)/C)`:
//! steep at first, flat around the window at which the last loss happened, steep again beyond
//! (section 4.2). Where Reno would be faster, a window that grows as Reno's is used (section 4.3).
//!
//! *Deviations*: the window grows for each segment acknowledged, not for each ACK, so that delayed ACKs
//! do not slow it down (as Linux counts); floats, where kernels use integers. HyStart++ (RFC 9406) and the
//! undoing of spurious reductions (section 4.9) are not included.

use super::profile::{Congestion, Params};
use super::sender::Sender;
use crate::units::{Dur, Time};

/// Segments per second cubed (section 5.1).
const C: f64 = 0.4;
/// What a reduction leaves of the window (section 4.6).
const BETA: f64 = 0.7;
/// Growth per round trip that makes the Reno-friendly window as fast as Reno (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Cubic {
    /// Window at the last reduction, less where fast convergence gives some away (section 4.7); 0 if unknown.
    w_max: f64,
    /// Window at the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
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
    /// Section 4.2; without a plateau above, growth is convex from the start (after a timeout: section 4.8, after
    /// slow start: section 4.10).
    fn new(now: Time, cwnd: f64, w_max: f64) -> Epoch {
        let origin = w_max.max(cwnd);
        Epoch { start: now, origin, k: libm::cbrt((origin - cwnd) / C), reno: cwnd }
    }

    fn window(&self, seconds: f64) -> f64 {
        C * (seconds - self.k).powi(3) + self.origin
    }
}

impl Cubic {
    /// A loss or mark found `cwnd`, `flight` of it in use; returns the new ssthresh (sections 4.6, 4.7).
    fn reduce(&mut self, cwnd: f64, flight: f64) -> f64 {
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
        flight * BETA
    }

    /// After a timeout the next stage begins on its own plateau (section 4.8).
    fn forget_plateau(&mut self) {
        self.w_max = 0.0;
    }

    /// The stage does not age while nothing is sent (section 5.8).
    fn rest(&mut self, idle: Dur) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }

    /// The window after `acked` segments in congestion avoidance (sections 4.2 to 4.5).
    fn grow(&mut self, cwnd: f64, acked: f64, now: Time, rtt: Dur) -> f64 {
        let w_max = self.w_max;
        let prior = self.prior;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(now, cwnd, w_max));
        let seconds = now.since(epoch.start).as_secs();
        let alpha = if epoch.reno >= prior { 1.0 } else { ALPHA };
        epoch.reno += alpha * acked / cwnd;
        if epoch.window(seconds) < epoch.reno {
            return cwnd.max(epoch.reno);
        }
        let target = epoch.window(seconds + rtt.as_secs()).clamp(cwnd, 1.5 * cwnd);
        cwnd + acked * (target - cwnd) / cwnd
    }
}

impl Sender {
    /// Opens the window in congestion avoidance by CUBIC.
    #[inline(never)]
    pub(super) fn grow_cubic(&mut self, acked: u32, now: Time, params: &Params) {
        let rtt = self.rto.srtt(params).unwrap_or(Dur::ZERO);
        let cwnd = self.cwnd;
        self.cwnd = self.extras().cubic.grow(cwnd, f64::from(acked), now, rtt);
    }

    /// The threshold after a reduction; CUBIC notes where it happened.
    pub(super) fn reduced(&mut self, params: &Params) -> f64 {
        match params.congestion {
            Congestion::Reno => self.half(params),
            Congestion::Cubic => {
                let (cwnd, flight) = (self.cwnd, 2.0 * self.half(params));
                self.extras().cubic.reduce(cwnd, flight)
            }
        }
    }

    /// The threshold after a timeout.
    pub(super) fn reduced_by_timeout(&mut self, params: &Params) -> f64 {
        let ssthresh = self.reduced(params);
        if params.congestion == Congestion::Cubic {
            self.extras().cubic.forget_plateau();
        }
        ssthresh.floor().max(2.0)
    }

    /// The application had nothing to send for so long.
    pub(super) fn rest_cubic(&mut self, idle: Dur, params: &Params) {
        if params.congestion == Congestion::Cubic {
            self.extras().cubic.rest(idle);
        }
    }
}
