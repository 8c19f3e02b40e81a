//! SFD's marker, with and without promotion.

use super::flow_meter::{meter_spec, meter_state, moment};
use super::red::any_view;
use super::{promotion, threshold_marker};
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::{ParamError, Unit, sfd};

pub struct Sfd;

impl Policy for Sfd {
    const NAME: &'static str = "sfd";
    const PARAMS: &'static str = "mh_sfd_params";
    const STATE: &'static str = "mh_sfd_flow";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow"];
    type Spec = sfd::Spec;
    type Params = sfd::Params;
    type State = sfd::Flow;

    fn spec(dice: &mut Dice) -> sfd::Spec {
        let meter = meter_spec(dice);
        sfd::Spec {
            threshold: threshold_marker::threshold(dice),
            unit: threshold_marker::unit(dice),
            timeout_ns: meter.timeout_ns,
            syn_restarts: meter.syn_restarts,
            promotion: promotion::any_spec(dice),
        }
    }

    fn params(spec: &sfd::Spec) -> Result<sfd::Params, ParamError> {
        sfd::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &sfd::Spec) -> sfd::Flow {
        let [last_seen, bytes, packets] = meter_state(dice);
        packed(&[last_seen, bytes, packets, promotion::out_count(dice, &spec.promotion), (0, 4)])
    }

    fn record(dice: &mut Dice, spec: &sfd::Spec, state: &sfd::Flow) -> Record {
        let now_ns = moment(dice, word(bytes(state), 0, 8), spec.timeout_ns);
        let left = spec.threshold.saturating_sub(state.meter().count(Unit::Bytes));
        let sizes = [1500, 40, 0, dice.near32(left), dice.near32(left), dice.spread32(u32::MAX)];
        let call = if dice.one_in(8) { Call::Expired } else { Call::Packet };
        Record { view: any_view(dice, &sizes), now_ns, call, ..Record::new() }
    }

    fn call(params: &sfd::Params, state: &mut sfd::Flow, record: &Record) -> u32 {
        match record.call {
            Call::Expired => u32::from(sfd::expired(params, state, record.now_ns)),
            _ => sfd::packet(params, state, &record.view, record.now_ns, record.random) as u32,
        }
    }

    fn steps(field: &str) -> Steps {
        match field {
            "syn_restarts" => Steps::Within(0, 1),
            "reserved" => Steps::Unread,
            // Always green, the least there is.
            "within" => Steps::Up(2),
            "kind" | "every" => promotion::steps(field),
            _ => threshold_marker::steps(field),
        }
    }
}
