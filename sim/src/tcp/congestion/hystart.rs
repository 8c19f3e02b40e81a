//! HyStart as in Linux (`tcp_cubic.c`): ends slow start before the buffer overflows.
//!
//! In each round trip of slow start two signs end it, from a window of 16 segments on. ACKs that came at most
//! 2 ms apart since the round began have lasted half of the least round-trip time: the window fills the path
//! (ACK train). The least round-trip time of the round's first nine samples is an eighth above the least of the
//! connection, at least 4 ms and at most 16 ms: a queue builds up (delay). The threshold is then the window.
//!
//! *Deviation*: the allowance for segmentation offload in the ACK train is 1 ms, as in Linux below 2 Gb/s.

use super::RttSample;
use crate::units::{Dur, Time};

/// Least window (`hystart_low_window`), in segments.
const LOW_WINDOW: f64 = 16.0;
/// ACKs that are further apart belong to no train (`hystart_ack_delta_us`).
const TRAIN_SPACING: Dur = Dur::from_millis(2);
/// Allowance for offload (`hystart_ack_delay`).
const OFFLOAD: Dur = Dur::from_millis(1);
/// Samples whose least decides by delay (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u8 = 8;
/// Bounds of the increase that shows a queue.
const LEAST_INCREASE: Dur = Dur::from_millis(4);
const GREATEST_INCREASE: Dur = Dur::from_millis(16);

/// One round trip of slow start.
#[derive(Debug, Clone, Copy)]
struct Round {
    start: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// One more than the highest segment sent when it began.
    end: u32,
    least: Dur,
    samples: u8,
}

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct HyStart {
    /// Least round-trip time, until a timeout forgets it; zero before any sample.
    least_rtt: Dur,
    round: Option<Round>,
    has_left: bool,
}

impl HyStart {
    /// Returns the least round-trip time; zero before any sample.
    pub(super) fn least_rtt(&self) -> Dur {
        self.least_rtt
    }

    /// Records the round-trip time of the segment that an ACK delivers last. `window` is that of
    /// slow start in segments; `None` outside slow start. Returns whether slow start ends, which it
    /// does only once. Below a window of 16 it never does.
    pub(super) fn on_sample(&mut self, sample: &RttSample, window: Option<f64>) -> bool {
        let rtt = sample.rtt.max(Dur(1));
        if self.least_rtt == Dur::ZERO || rtt < self.least_rtt {
            self.least_rtt = rtt;
        }
        let Some(window) = window.filter(|_| !self.has_left) else { return false };
        let least_rtt = self.least_rtt;
        let round = match &mut self.round {
            Some(round) if sample.una <= round.end => round,
            round => round.insert(Round {
                start: sample.now,
                last_ack: sample.now,
                end: sample.nxt,
                least: Dur(u64::MAX),
                samples: 0,
            }),
        };
        if window < LOW_WINDOW {
            return false;
        }
        self.has_left = round.extend_train(sample.now, least_rtt) | round.add_delay_sample(rtt, least_rtt);
        self.has_left
    }
}

impl Round {
    /// Adds an ACK to the ACK train, unless it comes too late for it. Returns whether the train has
    /// lasted over half the least round-trip time, HyStart's first exit rule.
    fn extend_train(&mut self, now: Time, least_rtt: Dur) -> bool {
        if now.since(self.last_ack) > TRAIN_SPACING {
            return false;
        }
        self.last_ack = now;
        now.since(self.start).0 > (least_rtt + OFFLOAD).0 / 2
    }

    /// Adds a round-trip time to the round. Returns whether the round's least exceeds the
    /// connection's by an eighth, within bounds: HyStart's second exit rule.
    ///
    /// It is false for the first [`SAMPLES`] samples of the round.
    fn add_delay_sample(&mut self, rtt: Dur, least_rtt: Dur) -> bool {
        self.least = self.least.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let increase = Dur(least_rtt.0 / 8).clamp(LEAST_INCREASE, GREATEST_INCREASE);
        self.least > least_rtt + increase
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    const US: u64 = 1_000;
    const MS: u64 = 1_000_000;

    /// Feeds the samples of one round trip, `(time, round-trip time)` in ns; returns whether any
    /// ends slow start at a window of 100.
    fn ends_slow_start(hystart: &mut HyStart, una: u32, samples: &[(u64, u64)]) -> bool {
        let mut ends = false;
        for &(now, rtt) in samples {
            let sample = RttSample { rtt: Dur(rtt), una, nxt: una + 100, now: Time(now) };
            ends |= hystart.on_sample(&sample, Some(100.0));
        }
        ends
    }

    #[test]
    fn on_sample__a_train_of_half_a_round_trip_ends_slow_start() {
        let train = |count: u64, spacing: u64| -> Vec<(u64, u64)> {
            (0..count).map(|index| (index * spacing, 40 * MS)).collect()
        };
        // 20.5 ms is half of 40 ms and the allowance.
        assert!(!ends_slow_start(&mut HyStart::default(), 10, &train(21, MS)));
        assert!(ends_slow_start(&mut HyStart::default(), 10, &train(22, MS)));
        assert!(
            !ends_slow_start(&mut HyStart::default(), 10, &train(40, 2 * MS + US)),
            "too far apart for a train"
        );
    }

    #[test]
    fn on_sample__nine_late_samples_end_slow_start() {
        let round = |from: u64, rtt: u64, count: u64| -> Vec<(u64, u64)> {
            (0..count).map(|index| (from + index * 3 * MS, rtt)).collect()
        };
        for (rtt, least, enough) in [(80, 80, 91), (20, 20, 25), (200, 200, 217)] {
            let mut hystart = HyStart::default();
            assert!(!ends_slow_start(&mut hystart, 10, &round(0, least * MS, 9)));
            let mut other = hystart.clone();
            assert!(!ends_slow_start(&mut other, 200, &round(1000 * MS, (enough - 1) * MS, 20)), "{rtt} ms");
            assert!(!ends_slow_start(&mut hystart, 200, &round(1000 * MS, enough * MS, 8)));
            assert!(ends_slow_start(&mut hystart, 200, &round(1030 * MS, enough * MS, 1)), "{rtt} ms");
        }
    }

    /// The round of the first ten segments ends with them, not 16 segments later.
    #[test]
    fn on_sample__rounds_are_followed_below_16() {
        let mut hystart = HyStart::default();
        let mut sample = |una, nxt, ms, window| {
            hystart.on_sample(&RttSample { rtt: Dur(20 * MS), una, nxt, now: Time(ms * MS) }, Some(window))
        };
        for ack in 1..=10 {
            assert!(!sample(ack, 8 + 2 * ack, u64::from(ack), f64::from(10 + ack)));
        }
        // The second round begins with segment 11, after a pause; half of 21 ms later the train is long enough.
        assert!((0..11).all(|index| !sample(11 + index, 30 + 2 * index, 21 + u64::from(index), 20.0)));
        assert!(sample(22, 52, 32, 31.0));
    }

    #[test]
    fn on_sample__windows_below_16_are_left_alone() {
        let mut hystart = HyStart::default();
        for index in 0..40 {
            let sample = RttSample { rtt: Dur(40 * MS), una: 10, nxt: 20, now: Time(index * MS) };
            assert!(!hystart.on_sample(&sample, Some(15.9)));
            assert!(!hystart.on_sample(&sample, None));
        }
        assert_eq!(hystart.least_rtt(), Dur(40 * MS));
    }
}
