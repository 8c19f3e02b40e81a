//! The aggregate marker.

use super::policer::{two_record, two_states};
use super::token_bucket::{any_spec, steps};
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use mousehole_policy::ParamError;
use mousehole_policy::aggregate_marker::{self, Params, Spec, State};

pub struct AggregateMarker;

impl Policy for AggregateMarker {
    const NAME: &'static str = "aggregate_marker";
    const PARAMS: &'static str = "mh_aggregate_marker_params";
    const STATE: &'static str = "mh_aggregate_marker";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red"];
    const RANDOM: bool = false;
    type Spec = Spec;
    type Params = Params;
    type State = State;

    fn spec(dice: &mut Dice) -> Spec {
        Spec { green: any_spec(dice), yellow: any_spec(dice) }
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
        aggregate_marker::packet(params, state, &record.view, record.now_ns) as u32
    }

    fn steps(field: &str) -> Steps {
        steps(field)
    }
}
