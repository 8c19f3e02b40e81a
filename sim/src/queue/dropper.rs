//! The host of any dropper policy: it keeps the policy's parameters and state, and draws its random numbers.

use crate::packet::Colour;
use crate::rng::Stream;
use crate::units::Time;
use mousehole_policy::{Backlog, DropFn, Params, Policy, State, Verdict, View};

/// A dropper policy at work.
#[derive(Clone)]
pub struct Dropper {
    params: Params,
    drop: DropFn,
    state: State,
    /// The state after a trial with the strictest draw.
    trial: State,
    least_is_strictest: bool,
    /// Number of packets yet to judge with a draw at once.
    without_trial: u8,
}

/// Number of packets that are judged without a trial after one that failed.
const WITHOUT_TRIAL: u8 = 16;

impl Dropper {
    /// Returns a dropper that has seen nothing.
    ///
    /// # Panics
    /// When the parameters are not those of a dropper.
    pub fn new(params: Params) -> Dropper {
        let policy = params.policy();
        Dropper {
            drop: policy.dropper().expect("a dropper's parameters"),
            state: policy.new_state(),
            trial: policy.new_state(),
            least_is_strictest: policy.least_is_strictest(),
            without_trial: 0,
            params,
        }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &'static Policy {
        self.params.policy()
    }

    /// Returns its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns its parameters, to change them.
    pub fn params_mut(&mut self) -> &mut Params {
        &mut self.params
    }

    /// Returns the verdict on an arrival that finds `backlog`, with the next draw of `rng`.
    ///
    /// Many packets pass whatever is drawn, and need no draw. So where the policy says that the least draw is the
    /// strictest, it is tried first. A trial that fails costs as much as a draw, and the next packets' would probably
    /// fail too: until the policy has dropped or marked one, most are judged without.
    #[inline]
    pub fn judge(&mut self, view: &View, backlog: &Backlog, now: Time, rng: &mut Stream) -> Verdict {
        if self.least_is_strictest {
            if self.without_trial == 0 {
                self.trial.copy_from_slice(&self.state);
                if self.drop.call(&self.params, &mut self.trial, view, backlog, now.0, 0) == Verdict::Pass {
                    std::mem::swap(&mut self.state, &mut self.trial);
                    rng.skip();
                    return Verdict::Pass;
                }
                self.without_trial = WITHOUT_TRIAL;
            } else {
                self.without_trial -= 1;
            }
        }
        let verdict = self.judge_with(view, backlog, now, rng.bits32());
        if verdict != Verdict::Pass {
            self.without_trial = 0;
        }
        verdict
    }

    /// Returns the verdict with these 32 uniform bits.
    #[inline]
    pub fn judge_with(&mut self, view: &View, backlog: &Backlog, now: Time, random: u32) -> Verdict {
        self.drop.call(&self.params, &mut self.state, view, backlog, now.0, random)
    }

    /// Notes that a packet of `colour` started transmission and left `after` waiting.
    #[inline]
    pub fn departed(&mut self, colour: Colour, after: &Backlog, now: Time) {
        self.params.policy().departed(&self.params, &mut self.state, colour, after, now.0);
    }

    /// Returns what the policy shows of its state; NaN for none yet.
    pub fn readings(&self) -> Vec<f64> {
        self.policy().read(&self.params, &self.state)
    }
}
