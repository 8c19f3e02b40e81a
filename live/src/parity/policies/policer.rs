//! The policer.

use super::red::any_view;
use super::token_bucket::{any_spec, any_state, converted, moment, steps, tokens};
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{Plain, bytes, value};
use mousehole_policy::policer::{self, Action, Params, Spec, State};
use mousehole_policy::{ParamError, token_bucket};

pub struct Policer;

impl Policy for Policer {
    const NAME: &'static str = "policer";
    const PARAMS: &'static str = "mh_policer_params";
    const STATE: &'static str = "mh_policer";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red", "drop"];
    const RANDOM: bool = false;
    type Spec = Spec;
    type Params = Params;
    type State = State;

    fn spec(dice: &mut Dice) -> Spec {
        let action = dice.pick(&[Action::Recolour, Action::Drop]);
        Spec { green: any_spec(dice), yellow: any_spec(dice), action }
    }

    fn params(spec: &Spec) -> Result<Params, ParamError> {
        Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> State {
        two_states(dice, [spec.green, spec.yellow])
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &State) -> Record {
        two_record(dice, [spec.green, spec.yellow], state)
    }

    fn call(params: &Params, state: &mut State, record: &Record) -> u32 {
        policer::packet(params, state, &record.view, record.now_ns).map_or(3, |colour| colour as u32)
    }

    fn steps(field: &str) -> Steps {
        if field == "action" { Steps::Within(2, 3) } else { steps(field) }
    }
}

/// The state of two buckets.
pub(super) fn two_states<T: Plain>(dice: &mut Dice, specs: [token_bucket::Spec; 2]) -> T {
    let both = specs.map(|spec| any_state(dice, &converted(&spec)));
    value(&both.each_ref().map(|state| bytes(state).to_vec()).concat()).expect("two buckets")
}

/// A packet that is interesting to one of two buckets, of any colour.
pub(super) fn two_record<T: Plain>(dice: &mut Dice, specs: [token_bucket::Spec; 2], state: &T) -> Record {
    let which = dice.up_to(1) as usize;
    let params = converted(&specs[which]);
    let bucket = value(&bytes(state)[16 * which..][..16]).expect("a bucket");
    let size = tokens(dice, &params);
    Record { now_ns: moment(dice, &params, &bucket, size), view: any_view(dice, &[size]), ..Record::new() }
}
