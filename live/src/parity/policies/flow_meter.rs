//! The flow meter.

use super::red::any_view;
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::{NEVER, ParamError, flow_meter};

pub struct FlowMeter;

impl Policy for FlowMeter {
    const NAME: &'static str = "flow_meter";
    const PARAMS: &'static str = "mh_flow_meter_params";
    const STATE: &'static str = "mh_flow_meter";
    const OUTCOMES: &'static [&'static str] = &["no", "yes"];
    type Spec = flow_meter::Spec;
    type Params = flow_meter::Params;
    type State = flow_meter::Meter;

    fn spec(dice: &mut Dice) -> flow_meter::Spec {
        meter_spec(dice)
    }

    fn params(spec: &flow_meter::Spec) -> Result<flow_meter::Params, ParamError> {
        flow_meter::Params::new(spec)
    }

    fn state(dice: &mut Dice, _: &flow_meter::Spec) -> flow_meter::Meter {
        packed(&meter_state(dice))
    }

    fn record(dice: &mut Dice, spec: &flow_meter::Spec, state: &flow_meter::Meter) -> Record {
        let last_seen_ns = word(bytes(state), 0, 8);
        let now_ns = moment(dice, last_seen_ns, spec.timeout_ns);
        let sizes = [1500, 40, 0, u32::MAX, dice.spread32(u32::MAX)];
        let call = if dice.one_in(4) { Call::Expired } else { Call::Packet };
        Record { view: any_view(dice, &sizes), now_ns, call, ..Record::new() }
    }

    fn call(params: &flow_meter::Params, state: &mut flow_meter::Meter, record: &Record) -> u32 {
        u32::from(match record.call {
            Call::Expired => flow_meter::expired(params, state, record.now_ns),
            _ => flow_meter::packet(params, state, &record.view, record.now_ns),
        })
    }

    fn steps(field: &str) -> Steps {
        match field {
            "syn_restarts" => Steps::Within(0, 1),
            "reserved" => Steps::Unread,
            _ => Steps::Unit,
        }
    }
}

/// Any timeout, with and without SYNs.
pub(super) fn meter_spec(dice: &mut Dice) -> flow_meter::Spec {
    let timeout_ns = [1, 1_000_000_000, NEVER, dice.spread(1 << 50).max(1), dice.spread(NEVER).max(1)];
    flow_meter::Spec { timeout_ns: dice.pick(&timeout_ns), syn_restarts: dice.one_in(2) }
}

/// The fields of a flow meter: last seen, bytes, packets.
pub(super) fn meter_state(dice: &mut Dice) -> [(u64, usize); 3] {
    let counts = |dice: &mut Dice| {
        let nearly = u32::MAX - dice.spread32(1 << 20);
        let any = dice.spread32(u32::MAX);
        u64::from(dice.pick(&[0, nearly, any]))
    };
    [(dice.spread(NEVER), 8), (counts(dice), 4), (counts(dice), 4)]
}

/// A time at which a flow last seen then expires, or does not by 1 ns, or long after, or before; ns.
pub(super) fn moment(dice: &mut Dice, last_seen_ns: u64, timeout_ns: u64) -> u64 {
    let expires = dice.near(last_seen_ns.saturating_add(timeout_ns));
    let gap = dice.spread(1 << 50);
    let soon = last_seen_ns.saturating_add(gap.min(timeout_ns));
    dice.pick(&[expires, soon, soon, last_seen_ns.saturating_add(gap), last_seen_ns.saturating_sub(gap)])
}
