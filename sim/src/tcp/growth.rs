//! How the window opens on new acknowledgements: slow start and congestion avoidance (RFC 5681, RFC 3465).

use super::profile::{Congestion, Params};
use super::sender::{CaState, Sender};
use crate::units::Time;

impl Sender {
    /// Grows the window for `acked` segments, when `flight` segments had been out before.
    /// An echo of a congestion mark opens nothing (RFC 3168 section 6.1.2).
    pub(super) fn open_window(&mut self, acked: u32, flight: u32, now: Time, params: &Params) {
        if self.echoed {
            return;
        }
        let slow_start = self.cwnd < self.ssthresh;
        match params.is_ns2() {
            true => self.cwnd += if slow_start { 1.0 } else { 1.0 / self.cwnd },
            false => {
                let flight = f64::from(flight);
                let limited = flight + 1.0 >= self.cwnd || (slow_start && 2.0 * flight >= self.cwnd);
                if !limited {
                    return;
                }
                let most = if self.ca_state == CaState::Loss && self.una <= self.recover { 1 } else { 2 };
                if slow_start {
                    self.cwnd += f64::from(acked.min(most));
                } else if params.congestion == Congestion::Cubic {
                    self.grow_cubic(acked, now, params);
                } else {
                    self.cwnd += f64::from(acked) / self.cwnd;
                }
            }
        }
        self.cwnd = self.cwnd.min(65_535.0);
    }
}
