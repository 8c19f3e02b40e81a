//! Linux's round-trip time estimator (`tcp_rtt_estimator`), for a sample from every ACK.
//!
//! The mean is an EWMA with gain 1/8. The spread follows the greatest mean deviation of a round trip: it rises at once
//! and falls by a quarter once per round trip, never below the least RTO. Where samples become shorter, the
//! deviation follows eight times slower.

use super::profile::Params;
use super::timer::RetransmissionTimer;
use crate::units::Dur;

/// Deviations of one connection, times four, in ticks; the timer stores mean and spread.
#[derive(Debug, Clone, Default)]
pub(super) struct LinuxRtt {
    deviation4: i64,
    /// The greatest of this round trip (`mdev_max_us`).
    greatest4: i64,
    /// One more than the highest segment sent when this round trip began (`rtt_seq`).
    round_end: u32,
    is_begun: bool,
}

impl LinuxRtt {
    /// Adds the round-trip time of an ACK of everything below `una`, when everything below `nxt`
    /// had been sent; a time below a tick counts as one. Writes mean and spread into the timer,
    /// which ends the backoff.
    pub(super) fn sample(
        &mut self,
        rtt: Dur,
        (una, nxt): (u32, u32),
        timer: &mut RetransmissionTimer,
        params: &Params,
    ) {
        let ticks = (rtt.0 / params.tick.0).max(1) as i64;
        let least = (params.min_rto.0 / params.tick.0) as i64;
        let Some((srtt8, rttvar4)) = timer.estimate() else {
            (self.deviation4, self.greatest4) = (2 * ticks, least.max(2 * ticks));
            (self.round_end, self.is_begun) = (nxt, true);
            return timer.set_estimate(8 * ticks as u64, self.greatest4 as u64);
        };
        let (srtt8, mut rttvar4) = (srtt8 as i64, rttvar4 as i64);
        if !self.is_begun {
            // The handshake gave the first sample.
            self.deviation4 = rttvar4;
            rttvar4 = rttvar4.max(least);
            (self.greatest4, self.is_begun) = (rttvar4, true);
        }
        let error = ticks - (srtt8 >> 3);
        let change = error.abs() - (self.deviation4 >> 2);
        self.deviation4 += if error < 0 && change > 0 { change >> 3 } else { change };
        if self.deviation4 > self.greatest4 {
            self.greatest4 = self.deviation4;
            rttvar4 = rttvar4.max(self.greatest4);
        }
        if una > self.round_end {
            if self.greatest4 < rttvar4 {
                rttvar4 -= (rttvar4 - self.greatest4) >> 2;
            }
            (self.round_end, self.greatest4) = (nxt, least);
        }
        timer.set_estimate((srtt8 + error).max(1) as u64, rttvar4 as u64);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the RTO in ms after these round-trip times, one per round trip.
    fn rto_ms_after(samples_ms: &[u64]) -> f64 {
        let params = Params::find_profile("linux").expect("a known profile");
        let (mut rtt, mut timer) = (LinuxRtt::default(), RetransmissionTimer::new(Dur::ZERO));
        for (round, &ms) in samples_ms.iter().enumerate() {
            // Every sample begins a round trip of its own.
            let una = 2 * round as u32 + 1;
            rtt.sample(Dur::from_millis(ms), (una, una), &mut timer, &params);
        }
        timer.timeout(&params).as_secs() * 1e3
    }

    #[test]
    fn sample__the_first_gives_three_round_trips_or_the_least() {
        assert_eq!(rto_ms_after(&[300]), 900.0);
        assert_eq!(rto_ms_after(&[20]), 220.0);
    }

    /// Steady samples let the spread fall by a quarter of its excess per round trip, not faster.
    #[test]
    fn sample__the_spread_falls_by_a_quarter_per_round_trip() {
        // Round 2 still has the first round's greatest deviation; round 3 is the first that falls.
        assert_eq!(rto_ms_after(&[300, 300]), 900.0);
        assert_eq!(rto_ms_after(&[300, 300, 300]), 300.0 + 600.0 - (600.0 - 337.5) / 4.0);
    }

    #[test]
    fn sample__a_long_one_widens_the_spread_at_once() {
        // Four deviations are 40 + 180 - 10 = 210 ms.
        let long = rto_ms_after(&[20, 200]);
        assert_eq!(long, 20.0 + 180.0 / 8.0 + 210.0);
    }
}
