//! The host of a dropper policy: it owns the policy's parameters and state, and draws its random numbers.

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
    /// Number of packets still to be judged with a draw at once.
    without_trial: u8,
}

/// Number of packets that are judged without a trial after one that failed.
const WITHOUT_TRIAL: u8 = 16;

impl Dropper {
    /// Returns a dropper that has seen no packet.
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

    /// Returns the policy that it runs.
    pub fn policy(&self) -> &'static Policy {
        self.params.policy()
    }

    /// Returns its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns its parameters for changing.
    pub fn params_mut(&mut self) -> &mut Params {
        &mut self.params
    }

    /// Returns the verdict on an arrival that finds `backlog`, with the next draw of `rng`, which
    /// advances by one draw in any case; the policy's state changes.
    ///
    /// Many packets pass whatever is drawn, and need no draw. So where the policy says that the
    /// least draw is the strictest, it is tried first. A trial that fails costs as much as a draw,
    /// and the next packets' would probably fail too: until the policy has dropped or marked one,
    /// most are judged without.
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

    /// Returns the verdict on an arrival that finds `backlog`, with these 32 uniform bits; the
    /// policy's state changes.
    #[inline]
    pub fn judge_with(&mut self, view: &View, backlog: &Backlog, now: Time, random: u32) -> Verdict {
        self.drop.call(&self.params, &mut self.state, view, backlog, now.0, random)
    }

    /// Records in the policy's state that a packet of `colour` started transmission and left
    /// `after` waiting.
    #[inline]
    pub fn record_departure(&mut self, colour: Colour, after: &Backlog, now: Time) {
        self.params.policy().departed(&self.params, &mut self.state, colour, after, now.0);
    }

    /// Returns the policy's readings; NaN for values not known yet.
    pub fn readings(&self) -> Vec<f64> {
        self.policy().read(&self.params, &self.state)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use mousehole_policy::{LinkContext, find};

    /// Verdicts, states and draws are the same as if every packet were judged with a draw.
    #[test]
    fn judge__is_the_same_without_trials() {
        for wait in ["true", "false"] {
            let red = find("red").expect("RED is a policy");
            let params = Params::from_text(red, &[("wait", wait)], &LinkContext::EXAMPLE).expect("valid");
            let (mut with, mut without) = (Dropper::new(params.clone()), Dropper::new(params));
            let (mut rng, mut own) = (Stream::new(1, Purpose::Queue, 0), Stream::new(1, Purpose::Queue, 0));
            let mut seen = [0; 2];
            for at in 0..20_000u64 {
                // The queue rises and falls between empty and beyond the upper threshold.
                let waiting = (at % 4000).min(4000 - at % 4000) as u32 / 50;
                let backlog = Backlog::new(waiting, u64::from(waiting) * 1000, mousehole_policy::NEVER);
                let (view, now) = (View::new(1000), Time(at * 1_000_000));
                let verdict = with.judge(&view, &backlog, now, &mut rng);
                assert_eq!(verdict, without.judge_with(&view, &backlog, now, own.bits32()), "packet {at}");
                seen[usize::from(verdict == Verdict::Pass)] += 1;
            }
            assert_eq!(with.state.bytes(), without.state.bytes());
            assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        }
    }
}
