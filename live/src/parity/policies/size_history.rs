//! The history of sizes.

use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use mousehole_policy::ParamError;
use mousehole_policy::size_history::{self, MOST, Params, Spec, State};

pub struct SizeHistory;

impl Policy for SizeHistory {
    const NAME: &'static str = "size_history";
    const PARAMS: &'static str = "mh_size_history_params";
    const STATE: &'static str = "mh_size_history";
    const OUTCOMES: &'static [&'static str] = &["no", "yes"];
    const RANDOM: bool = false;
    type Spec = Spec;
    type Params = Params;
    type State = State;

    fn spec(dice: &mut Dice) -> Spec {
        any_spec(dice)
    }

    fn params(spec: &Spec) -> Result<Params, ParamError> {
        Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> State {
        any_state(dice, spec)
    }

    fn record(dice: &mut Dice, _: &Spec, state: &State) -> Record {
        let quantile = state.quantile().unwrap_or(0);
        let threshold = dice.near32(quantile);
        Record { count: size(dice, quantile), threshold, call: Call::FlowEnd, ..Record::new() }
    }

    fn call(params: &Params, state: &mut State, record: &Record) -> u32 {
        size_history::flow_end(params, state, record.count);
        u32::from(state.quantile().expect("there is a size now") > record.threshold)
    }

    fn steps(field: &str) -> Steps {
        steps(field)
    }
}

/// How a history's parameters may be changed.
pub(super) fn steps(field: &str) -> Steps {
    match field {
        "u_q32" => Steps::Within(1, 1 << 32),
        "length" => Steps::Within(1, MOST as u64),
        _ => Steps::Unread,
    }
}

/// Any length; levels at which the rank of a full history changes with the last bit, either way.
pub(super) fn any_spec(dice: &mut Dice) -> Spec {
    let any = dice.spread32(MOST as u32 - 1) + 1;
    let flows = dice.pick(&[1, 2, 20, 64, MOST as u32 - 1, MOST as u32, any, any]);
    let rank = dice.up_to(u64::from(flows) - 1);
    let above = (((rank << 32) / u64::from(flows)) + 1) as f64 / 4294967296.0;
    let levels = [0.5, 0.9, 0.95, 0.99, 1.0, above, above, dice.real(1e-6, 1.0)];
    Spec { quantile: dice.pick(&levels).max(1e-6), flows }
}

/// A history of some flows, often full.
pub(super) fn any_state(dice: &mut Dice, spec: &Spec) -> State {
    let params = Params::new(spec).expect("only parameters that are allowed are drawn");
    let mut state = State::default();
    let full = if dice.one_in(8) { spec.flows + 3 } else { spec.flows.min(128) };
    let counts = [0, full, full, dice.spread32(full)];
    for _ in 0..dice.pick(&counts) {
        let size = size(dice, state.quantile().unwrap_or(0));
        size_history::flow_end(&params, &mut state, size);
    }
    state
}

/// A size: small, at the edge of a bucket, beside the quantile, or any.
pub(super) fn size(dice: &mut Dice, quantile: u32) -> u32 {
    let few = dice.spread32(200);
    let edge = (64 + dice.spread32(64)) << dice.up_to(25);
    let any = dice.spread32(u32::MAX);
    let sizes = [few, few, few, dice.near32(edge), dice.near32(quantile), any, 0, u32::MAX];
    dice.pick(&sizes)
}
