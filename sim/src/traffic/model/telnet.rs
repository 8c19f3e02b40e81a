//! Remote logins: each keystroke is sent and echoed.
//!
//! After Noureddine & Tobagi, section II: packets of 100 B, at most one outstanding (Nagle), about five a
//! second. The user keeps typing while an echo is outstanding. The next keystroke is sent once it was typed
//! and the echo has arrived. A keystroke is a request and its echo a write, so that the echo delay is the
//! response time.

use super::check;
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::units::Dur;
use serde::{Deserialize, Serialize};

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telnet {
    /// Sessions, each between separate hosts, during the whole run.
    pub users: u32,
    /// IP length of a keystroke and of its echo.
    pub packet_bytes: u32,
    /// Mean time from one keystroke to the next, exponential, s.
    pub interval_s: f64,
    /// Sessions begin evenly at random within this time, s.
    pub start_spread_s: f64,
    /// Number of the first user's client and server host.
    pub first_host: u32,
}

impl Default for Telnet {
    /// Returns the defaults: ten sessions of five keystrokes a second.
    fn default() -> Self {
        Telnet { users: 10, packet_bytes: 100, interval_s: 0.2, start_spread_s: 1.0, first_host: 0 }
    }
}

impl Telnet {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("users", f64::from(self.users), 1.0..=100_000.0),
            ("packet_bytes", f64::from(self.packet_bytes), 64.0..=1500.0),
            ("interval_s", self.interval_s, 1e-3..=1e6),
            ("start_spread_s", self.start_spread_s, 0.0..=1e6),
            ("first_host", f64::from(self.first_host), 0.0..=1e6),
        ])
    }

    /// Returns the load of the echoes on `rate_bps` if no keystroke waits for the echo before it.
    pub fn offered_load(&self, rate_bps: f64) -> f64 {
        f64::from(self.users) * f64::from(self.packet_bytes) * 8.0 / self.interval_s / rate_bps
    }

    /// Returns the time at which a user's session begins, from 0 to below `start_spread_s`.
    pub fn start(&self, seed: u64, user: u32) -> Dur {
        let draw = Stream::new(seed, Purpose::Arrival, u64::from(user)).uniform();
        Dur::from_secs(draw * self.start_spread_s)
    }
}

/// The times at which keystrokes are typed, and the size of their echoes.
#[derive(Debug, Clone, PartialEq)]
pub struct Keystrokes {
    /// Payload of an echo.
    pub bytes: u64,
    /// Mean time from one keystroke to the next, s.
    pub interval_s: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl Keystrokes {
    /// Returns the time from keystroke `number` − 1 of a session to keystroke `number`, exponential. Equal arguments
    /// give equal times.
    pub fn gap(&self, session: u64, number: u32) -> Dur {
        let draw = Stream::new(self.seed, Purpose::Idle, mix(session)).draw_at(u64::from(number));
        let uniform = (draw >> 11) as f64 / (1u64 << 53) as f64;
        Dur::from_secs(-self.interval_s * libm::log(1.0 - uniform))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn gap__has_the_mean_and_spread_of_an_exponential() {
        let keys = Keystrokes { bytes: 60, interval_s: 0.2, seed: 3 };
        let gaps: Vec<f64> = (0..400)
            .flat_map(|user| (1..251).map(move |k| (user, k)))
            .map(|(user, k)| keys.gap(user, k).as_secs())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 0.2 - 1.0).abs() < 0.01, "{mean}");
        assert!((square / (2.0 * 0.04) - 1.0).abs() < 0.03, "second moment {square}");
    }

    /// 400 users as in the paper: below 2 Mbit/s, 1.6 by arithmetic.
    #[test]
    fn offered_load__of_the_paper() {
        let load = Telnet { users: 400, ..Telnet::default() }.offered_load(1.0);
        assert!((load - 1.6e6).abs() < 1.0, "{load}");
    }
}
