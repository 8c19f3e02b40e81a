//! CUBIC's window as Linux grows it (`bictcp_update`, `tcp_cong_avoid_ai`), in whole segments.
//!
//! It is RFC 9438's curve, but: the target lies one least round-trip time ahead, not a smoothed one; the
//! Reno-friendly window stays slower than Reno and counts whole segments; without a known plateau, after HyStart
//! or a timeout, the window grows by a twentieth per round trip at least; while the window stays the same, both
//! are computed anew only once in 31 ms; and the distance to the plateau is rounded down, so that below it the target
//! is up to a segment higher. At windows of a few segments each of these changes the rate by up to a tenth.

use super::RttSample;
use super::hystart::HyStart;
use crate::units::{Dur, Time};

/// Segments per second cubed (`bic_scale`, 41·10/1024).
const C: f64 = 0.4;
/// Segments that a reduction leaves of 1024 (`beta`).
const BETA_1024: u32 = 717;
/// Acknowledgements, in eighths of a window, for which the Reno-friendly window grows by one (`beta_scale`).
const FRIENDLY_8: u32 = 15;
/// Growth is computed anew after this time (`HZ / 32`), or when the window has changed.
const UPDATE_INTERVAL: Dur = Dur(31_250_000);
/// Acknowledgements that grow the window by one at most, while no plateau is known.
const MOST_ACKS_WITHOUT_PLATEAU: u32 = 20;
/// Time after the start of a stage in which round-trip times are ignored.
const SETTLING: Dur = Dur::from_millis(1000);

/// State of one connection; names in parentheses are Linux's.
#[derive(Debug, Clone, Default)]
pub(super) struct LinuxCubic {
    hystart: HyStart,
    /// Acknowledgements that grow the window by one (`cnt`).
    pace: u32,
    /// Window at the last reduction (`last_max_cwnd`); 0 if unknown.
    w_max: u32,
    /// Window and time of the last update.
    updated: (u32, Time),
    epoch: Option<Epoch>,
    /// Segments acknowledged that the Reno-friendly window has not counted (`ack_cnt`).
    acked: u32,
    /// Window that Reno would have (`tcp_cwnd`).
    reno: u32,
    /// Segments acknowledged towards the next growth (`snd_cwnd_cnt`).
    credit: u32,
}

#[derive(Debug, Clone, Copy)]
struct Epoch {
    start: Time,
    origin: u32,
    /// Seconds until the plateau.
    k: f64,
}

impl LinuxCubic {
    /// Passes a round-trip time to HyStart, with the window of slow start in segments or `None`
    /// outside it; returns whether slow start ends. In the first second of a stage round-trip times
    /// are ignored.
    pub(super) fn on_rtt(&mut self, sample: &RttSample, window: Option<f64>) -> bool {
        let is_settling = self.epoch.is_some_and(|epoch| sample.now.since(epoch.start) < SETTLING);
        !is_settling && self.hystart.on_sample(sample, window)
    }

    /// Ends the stage at a window of `cwnd`; returns the new threshold in whole segments, at least
    /// two. A window that has not come back to the last plateau lowers the next one.
    pub(super) fn reduce(&mut self, cwnd: f64) -> f64 {
        let cwnd = cwnd as u32;
        self.epoch = None;
        self.credit = 0;
        let is_falling = cwnd < self.w_max;
        self.w_max = if is_falling { cwnd * (1024 + BETA_1024) / 2048 } else { cwnd };
        f64::from((cwnd * BETA_1024 / 1024).max(2))
    }

    /// Forgets everything, HyStart's state as well, after a timeout (`bictcp_reset`).
    pub(super) fn reset(&mut self) {
        *self = LinuxCubic::default();
    }

    /// Moves the start of the stage by `idle`, in which nothing was sent; without a stage nothing
    /// happens.
    pub(super) fn shift_epoch(&mut self, idle: Dur) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }

    /// Returns the window after `acked` segments in congestion avoidance, in whole segments
    /// (`tcp_cong_avoid_ai`). Segments that do not make a whole one are credited to the next call.
    pub(super) fn grow(&mut self, cwnd: f64, acked: u32, now: Time) -> f64 {
        let mut cwnd = cwnd as u32;
        self.update_pace(cwnd, acked, now);
        if self.credit >= self.pace {
            self.credit = 0;
            cwnd += 1;
        }
        self.credit += acked;
        cwnd += self.credit / self.pace;
        self.credit %= self.pace;
        f64::from(cwnd)
    }

    /// Recomputes the pace of growth (`bictcp_update`), at least two segments acknowledged for one
    /// of growth; `cwnd` and `acked` are in segments. While the window stays the same, nothing is
    /// computed within 31 ms. A new stage begins if there is none.
    fn update_pace(&mut self, cwnd: u32, acked: u32, now: Time) {
        self.acked += acked;
        let (last_cwnd, last_time) = self.updated;
        if self.pace > 0 && last_cwnd == cwnd && now.since(last_time) <= UPDATE_INTERVAL {
            return;
        }
        self.updated = (cwnd, now);
        if self.epoch.is_none() {
            let origin = self.w_max.max(cwnd);
            let k = libm::cbrt(f64::from(origin - cwnd) / C);
            self.epoch = Some(Epoch { start: now, origin, k });
            (self.acked, self.reno) = (acked, cwnd);
        }
        let target = self.epoch.map_or(cwnd, |epoch| {
            let seconds = (now.since(epoch.start) + self.hystart.least_rtt()).as_secs() - epoch.k;
            // Linux rounds the distance to the plateau down, so that below it the target is rounded up.
            let distance = (C * (seconds * seconds * seconds).abs()) as u32;
            if seconds < 0.0 { epoch.origin.saturating_sub(distance) } else { epoch.origin + distance }
        });
        self.pace = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_max == 0 {
            self.pace = self.pace.min(MOST_ACKS_WITHOUT_PLATEAU);
        }
        let round = (cwnd * FRIENDLY_8 / 8).max(1);
        if self.acked > round {
            let grown = (self.acked - 1) / round;
            self.acked -= grown * round;
            self.reno += grown;
        }
        if self.reno > cwnd {
            self.pace = self.pace.min(cwnd / (self.reno - cwnd));
        }
        self.pace = self.pace.max(2);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the time `ms` milliseconds after the start.
    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn reduce__leaves_whole_segments() {
        let mut cubic = LinuxCubic::default();
        assert_eq!([100.0, 5.9, 4.0, 2.0].map(|cwnd| cubic.reduce(cwnd)), [70.0, 3.0, 2.0, 2.0]);
    }

    /// On a plateau of 7 the Reno-friendly window rules: one segment for 13 acknowledged, ⌊7·15/8⌋, which is seen
    /// after 35 or 70 ms.
    #[test]
    fn grow__follows_reno_at_small_windows() {
        let mut cubic = LinuxCubic::default();
        cubic.reduce(7.0);
        let mut cwnd = 7.0;
        let mut acked = 0;
        while cwnd < 8.0 {
            cwnd = cubic.grow(cwnd, 1, ms(100 + 5 * acked));
            acked += 1;
        }
        assert_eq!(acked, 15);
    }

    /// In one millisecond nothing is looked at again, however much is acknowledged.
    #[test]
    fn grow__is_updated_every_31_ms_only() {
        let mut cubic = LinuxCubic::default();
        let mut cwnd = cubic.reduce(10.0);
        for _ in 0..40 {
            cwnd = cubic.grow(cwnd, 1, ms(100));
        }
        assert_eq!(cwnd, 7.0);
        assert!(cubic.grow(cwnd, 1, ms(132)) > 7.0);
    }

    /// 0.226 s after a reduction from 17 to 11 the plateau is 4.5 segments ahead, which Linux rounds to 4: the
    /// target is 13, so that five segments acknowledged open the window by one. The first of them came before.
    #[test]
    fn grow__rounds_the_target_up_below_the_plateau() {
        let mut cubic = LinuxCubic::default();
        let cwnd = cubic.reduce(17.0);
        assert_eq!((cwnd, cubic.grow(cwnd, 1, ms(1000))), (11.0, 11.0));
        assert_eq!([0; 4].map(|_| cubic.grow(cwnd, 1, ms(1226))), [11.0, 11.0, 11.0, 12.0]);
    }

    /// From 70 back to 100 in ∛(30/0.4) = 4.2 s at round trips of 200 ms.
    #[test]
    fn grow__returns_to_the_plateau() {
        let mut cubic = LinuxCubic::default();
        let mut cwnd = cubic.reduce(100.0);
        for round in 0..21 {
            for ack in 0..cwnd as u64 {
                cwnd = cubic.grow(cwnd, 1, ms(1000 + 200 * round + ack));
            }
        }
        assert!((97.0..=103.0).contains(&cwnd), "{cwnd}");
    }

    #[test]
    fn grow__without_a_plateau_is_a_twentieth_per_round_trip() {
        let mut cubic = LinuxCubic::default();
        let mut cwnd = 100.0;
        for ack in 0..100 {
            cwnd = cubic.grow(cwnd, 1, ms(ack));
        }
        assert_eq!(cwnd, 105.0);
    }
}
