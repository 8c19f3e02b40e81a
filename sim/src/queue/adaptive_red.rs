//! Adaptive RED: plain RED whose `max_p` follows the average queue.
//!
//! Floyd, Gummadi & Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
//! Queue Management", 2001. Every half second: an average above the target range adds `alpha`, one below
//! multiplies by `beta`. Thresholds and weight may be set from the link's rate. RED itself is the policy's
//! (`red.h`); only its parameter changes here.
//!
//! The average changes at arrivals only, so that the steps due are taken at the next arrival: the same
//! result as with a timer.

use super::Dropper;
use crate::series::Series;
use crate::units::{Dur, Time};
use mousehole_policy::{Backlog, ParameterError, Params, Verdict, View};

/// How `max_p` adapts; the defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// Time between steps; longer than zero.
    pub interval: Dur,
    /// Greatest increase at a step; a quarter of `max_p` if that is less.
    pub alpha: f64,
    /// Factor that lowers `max_p`, below 1.
    pub beta: f64,
    /// The target range of the average, as shares of the way from min to max.
    pub target: (f64, f64),
    /// `max_p` neither rises from above the second nor falls from below the first.
    pub range: (f64, f64),
}

impl Default for Adaptation {
    /// Returns the paper's values.
    fn default() -> Adaptation {
        Adaptation {
            interval: Dur::from_millis(500),
            alpha: 0.01,
            beta: 0.9,
            target: (0.4, 0.6),
            range: (0.01, 0.5),
        }
    }
}

impl Adaptation {
    /// Returns `max_p` after one step of a RED with this average and these thresholds, all three in
    /// packets. It stays while the average is within the target range. Above `range` it does not
    /// rise, and below it does not fall; one step may cross a bound, but none exceeds 1.
    pub fn next_max_p(&self, max_p: f64, average: f64, min: f64, max: f64) -> f64 {
        let at = |share: f64| min + share * (max - min);
        if average > at(self.target.1) && max_p <= self.range.1 {
            (max_p + self.alpha.min(max_p / 4.0)).min(1.0)
        } else if average < at(self.target.0) && max_p >= self.range.0 {
            max_p * self.beta
        } else {
            max_p
        }
    }
}

/// RED with an adaptive `max_p`.
#[derive(Clone)]
pub struct AdaptiveRed {
    red: Dropper,
    max_p: f64,
    adaptation: Adaptation,
    next_step: Time,
    trajectory: Vec<(Time, f64)>,
}

impl AdaptiveRed {
    /// Returns the RED of `params`; `max_p` starts at the value given, and the first step is one
    /// interval after time zero.
    ///
    /// # Errors
    /// [`ParameterError`] when `max_p` is out of range.
    pub fn new(
        mut params: Params,
        max_p: f64,
        adaptation: Adaptation,
    ) -> Result<AdaptiveRed, ParameterError> {
        params.set_number("maxp", max_p)?;
        Ok(AdaptiveRed {
            red: Dropper::new(params),
            max_p,
            adaptation,
            next_step: Time::ZERO + adaptation.interval,
            trajectory: vec![(Time::ZERO, max_p)],
        })
    }

    /// Returns the present `max_p`.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Returns RED's average queue, in mean packets.
    pub fn average(&self) -> f64 {
        self.red.readings()[0]
    }

    /// Adapts `max_p` in the steps that are due by `now`, at the average of the last arrival.
    /// [`AdaptiveRed::judge`] does so itself.
    pub fn advance(&mut self, now: Time) {
        while self.next_step <= now {
            let at = self.next_step;
            self.next_step += self.adaptation.interval;
            if !self.take_step(at) {
                let rest = now.since(self.next_step).0 / self.adaptation.interval.0;
                self.next_step += Dur(rest * self.adaptation.interval.0);
            }
        }
    }

    /// Returns RED's verdict on an arrival that finds `backlog`, after the steps that are due, and
    /// updates the average; `random` are 32 uniform bits.
    #[inline]
    pub fn judge(&mut self, view: &View, backlog: &Backlog, now: Time, random: u32) -> Verdict {
        if self.next_step <= now {
            self.advance(now);
        }
        self.red.judge_with(view, backlog, now, random)
    }

    /// Returns the values of `max_p` at the times of its changes, from time zero on.
    pub fn series(&self) -> Series {
        Series { name: "max_p", points: self.trajectory.clone(), ..Series::default() }
    }

    /// Takes one step at the time `at`; returns whether it changed `max_p`, which is then recorded.
    /// A value that RED refuses (below 1e-9) is not applied.
    fn take_step(&mut self, at: Time) -> bool {
        let [min, max] = ["min", "max"].map(|name| self.red.params().number(name));
        let next = self.adaptation.next_max_p(self.max_p, self.average(), min, max);
        if next == self.max_p || self.red.params_mut().set_number("maxp", next).is_err() {
            return false;
        }
        self.max_p = next;
        self.trajectory.push((at, next));
        true
    }
}
