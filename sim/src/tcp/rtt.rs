//! Round-trip time estimator and retransmission timeout (RFC 6298; Jacobson 1988, integer form).
//!
//! `srtt ← srtt + (r − srtt)/8`, `rttvar ← rttvar + (|r − srtt| − rttvar)/4`, `RTO = srtt + 4·rttvar`.
//! Both are EWMAs. Time is counted in ticks of the sender's clock; `srtt` is stored times 8 and `rttvar` times 4, as
//! BSD and ns-2 do. With a tick of one nanosecond this is RFC 6298 exactly.

use super::profile::Params;
use crate::units::{Dur, Time};

/// The estimator of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Estimator {
    srtt8: u64,
    rttvar4: u64,
    rto_ticks: u64,
    phase: Dur,
    backoff: u32,
    sampled: bool,
    syn_lost: bool,
}

impl Estimator {
    /// Returns an estimator without samples; its clock ticks at `phase` past each multiple of the tick.
    pub fn new(phase: Dur) -> Estimator {
        Estimator { srtt8: 0, rttvar4: 0, rto_ticks: 0, phase, backoff: 1, sampled: false, syn_lost: false }
    }

    /// Records that a SYN was lost: the first RTO of data is then at least 3 s (RFC 6298 section
    /// 5.7).
    pub fn note_syn_loss(&mut self) {
        self.syn_lost = true;
    }

    /// Adds a round-trip sample: a segment sent at `sent` was acknowledged at `now`. It counts at
    /// least one tick, and the backoff stays.
    pub fn sample(&mut self, sent: Time, now: Time, params: &Params) {
        let tick = params.tick.0;
        let into_tick = (sent.0 + self.phase.0) % tick;
        let ticks = ((now.since(sent).0 + into_tick) / tick).max(1);
        if self.srtt8 == 0 {
            self.srtt8 = ticks * 8;
            self.rttvar4 = ticks * 2;
        } else {
            let delta = ticks as i64 - (self.srtt8 >> 3) as i64;
            self.srtt8 = (self.srtt8 as i64 + delta).max(1) as u64;
            let spread = delta.abs() - (self.rttvar4 >> 2) as i64;
            self.rttvar4 = (self.rttvar4 as i64 + spread).max(1) as u64;
        }
        self.rto_ticks = (self.rttvar4 * 8 + self.srtt8) >> 3;
        self.sampled = true;
    }

    /// Returns the RTO now in force, backoff included, between the least and the greatest RTO and
    /// never below two ticks.
    pub fn rto(&self, params: &Params) -> Dur {
        let backoff = u64::from(self.backoff);
        let base = self.base_rto(params);
        let timeout = if params.dialect.quirks().min_rto_before_backoff {
            base.0.max(params.min_rto.0).saturating_mul(backoff)
        } else {
            base.0.saturating_mul(backoff).max(params.min_rto.0)
        };
        Dur(timeout.min(params.max_rto.0).max(2 * params.tick.0))
    }

    /// Returns the smoothed round-trip time; `None` before any sample, zero after a long backoff.
    pub fn srtt(&self, params: &Params) -> Option<Dur> {
        self.sampled.then_some(Dur((self.srtt8 >> 3) * params.tick.0))
    }

    /// Returns the smoothed round-trip time times eight and the variation times four, in ticks;
    /// `None` before any sample.
    pub(super) fn estimate(&self) -> Option<(u64, u64)> {
        self.sampled.then_some((self.srtt8, self.rttvar4))
    }

    /// Sets the smoothed round-trip time times eight and the variation times four, in ticks, which
    /// count as sampled. The backoff stays.
    pub(super) fn set_estimate(&mut self, srtt8: u64, rttvar4: u64) {
        (self.srtt8, self.rttvar4, self.sampled) = (srtt8, rttvar4, true);
        self.rto_ticks = (rttvar4 * 8 + srtt8) >> 3;
    }

    /// Doubles the RTO after a timeout (Karn; RFC 6298 section 5.5), up to a bound. A long backoff
    /// forgets the mean and keeps the variation, except in Linux.
    pub fn back_off(&mut self, params: &Params) {
        if self.backoff < 64
            || (params.dialect.quirks().min_rto_before_backoff && self.rto(params) < params.max_rto)
        {
            self.backoff *= 2;
        }
        if self.backoff > 8 && !params.min_rto_on_spread {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// Ends the backoff: new data was acknowledged.
    pub fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Returns the retransmission timeout without backoff: from the samples, or the initial one (RFC 6298, sections 2
    /// and 5.7).
    fn base_rto(&self, params: &Params) -> Dur {
        match (self.sampled, self.syn_lost) {
            (true, _) if params.min_rto_on_spread => {
                Dur((self.srtt8 >> 3) * params.tick.0 + (self.rttvar4 * params.tick.0).max(params.min_rto.0))
            }
            (true, _) => Dur(self.rto_ticks * params.tick.0),
            (false, true) => Dur(params.initial_rto.0.max(3_000_000_000)),
            (false, false) => params.initial_rto,
        }
    }
}
