//! Demotion by bytes sent.

use super::flow_meter::{FlowMeter, meter_spec, meter_state, moment};
use super::red::any_view;
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::demotion::{self, Spec};
use mousehole_policy::{ParamError, Unit, flow_meter::Meter};

pub struct Demotion;

impl Policy for Demotion {
    const NAME: &'static str = "demotion";
    const PARAMS: &'static str = "mh_demotion_params";
    const STATE: &'static str = "mh_flow_meter";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red"];
    type Spec = Spec;
    type Params = demotion::Params;
    type State = Meter;

    fn spec(dice: &mut Dice) -> Spec {
        let meter = meter_spec(dice);
        let any = dice.spread32(u32::MAX - 1);
        let first = dice.pick(&[0, 20 * 1024, u32::MAX - 1, any]);
        let more = first + dice.spread32(u32::MAX - first);
        let second = dice.pick(&[None, Some(first), Some(more), Some(more)]);
        Spec { first, second, timeout_ns: meter.timeout_ns, syn_restarts: meter.syn_restarts }
    }

    fn params(spec: &Spec) -> Result<demotion::Params, ParamError> {
        demotion::Params::new(spec)
    }

    fn state(dice: &mut Dice, _: &Spec) -> Meter {
        packed(&meter_state(dice))
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &Meter) -> Record {
        let now_ns = moment(dice, word(bytes(state), 0, 8), spec.timeout_ns);
        let edge = dice.pick(&[spec.first, spec.second.unwrap_or(u32::MAX)]);
        let left = edge.saturating_sub(state.count(Unit::Bytes));
        let sizes = [1500, 40, 0, dice.near32(left), dice.near32(edge), dice.spread32(u32::MAX)];
        let call = if dice.one_in(8) { Call::Expired } else { Call::Packet };
        Record { view: any_view(dice, &sizes), now_ns, call, ..Record::new() }
    }

    fn call(params: &demotion::Params, state: &mut Meter, record: &Record) -> u32 {
        match record.call {
            Call::Expired => demotion::expired(params, state, record.now_ns).into(),
            _ => demotion::packet(params, state, &record.view, record.now_ns) as u32,
        }
    }

    fn steps(field: &str) -> Steps {
        FlowMeter::steps(field)
    }
}
