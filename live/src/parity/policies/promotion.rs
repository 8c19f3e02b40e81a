//! Promotion: none, probabilistic, one of K.

use super::threshold_marker::threshold;
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::packed;
use mousehole_policy::ParamError;
use mousehole_policy::promotion::{self, Spec};

pub struct Promotion;

impl Policy for Promotion {
    const NAME: &'static str = "promotion";
    const PARAMS: &'static str = "mh_promotion_params";
    const STATE: &'static str = "mh_promotion";
    const OUTCOMES: &'static [&'static str] = &["no", "yes"];
    type Spec = Spec;
    type Params = promotion::Params;
    type State = promotion::State;

    fn spec(dice: &mut Dice) -> Spec {
        any_spec(dice)
    }

    fn params(spec: &Spec) -> Result<promotion::Params, ParamError> {
        promotion::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> promotion::State {
        packed(&[out_count(dice, spec)])
    }

    fn record(dice: &mut Dice, _: &Spec, _: &promotion::State) -> Record {
        let threshold = threshold(dice);
        let beyond = threshold.saturating_add(dice.spread32(u32::MAX));
        let counts = [dice.near32(threshold), beyond, 0, u32::MAX];
        Record { threshold, count: dice.pick(&counts), ..Record::new() }
    }

    fn call(params: &promotion::Params, state: &mut promotion::State, record: &Record) -> u32 {
        u32::from(promotion::packet(params, state, record.threshold, record.count, record.random))
    }

    fn steps(field: &str) -> Steps {
        steps(field)
    }
}

/// How a promotion's parameter may be changed.
pub(super) fn steps(field: &str) -> Steps {
    if field == "kind" { Steps::Within(0, 2) } else { Steps::Unit }
}

/// Any kind, any K; 4 is the paper's.
pub(super) fn any_spec(dice: &mut Dice) -> Spec {
    let k = dice.spread32(u32::MAX).max(1);
    let every = Spec::OneOfK(dice.pick(&[1, 2, 4, u32::MAX, k]));
    dice.pick(&[Spec::None, Spec::Probabilistic, every])
}

/// The only field of a promotion's state, often one short of K.
pub(super) fn out_count(dice: &mut Dice, spec: &Spec) -> (u64, usize) {
    let k = if let Spec::OneOfK(k) = *spec { k } else { 0 };
    let edges = [0, dice.near32(k), k.saturating_sub(2), dice.spread32(u32::MAX)];
    (dice.pick(&edges).into(), 4)
}
