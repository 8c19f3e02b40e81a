//! RIO-PS: packets, expiry and control over one edge and one flow.

use super::flow_meter::{self, meter_spec, meter_state};
use super::red::any_view;
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{Plain, bytes, packed, word};
use mousehole_policy::rio_ps::{self, Counts, Spec};
use mousehole_policy::{ParamError, flow_meter::Meter};

/// The edge's threshold and one flow; same layout as `struct parity_rio_ps`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Both {
    edge: rio_ps::State,
    flow: Meter,
}

// SAFETY: two structs of integers, 16 bytes each and 8-byte aligned: no padding.
unsafe impl Plain for Both {}

pub struct RioPs;

impl Policy for RioPs {
    const NAME: &'static str = "rio_ps";
    const PARAMS: &'static str = "mh_rio_ps_params";
    const STATE: &'static str = "parity_rio_ps";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow"];
    type Spec = Spec;
    type Params = rio_ps::Params;
    type State = Both;

    fn spec(dice: &mut Dice) -> Spec {
        let meter = meter_spec(dice);
        let floor = dice.spread32(u32::MAX - 1).max(1);
        let cap = floor + dice.spread32(u32::MAX - 1 - floor);
        let within = floor + dice.spread32(cap - floor);
        let ratios = [3.0, 1.0 / 65536.0, 65535.0, dice.real(1.0 / 65536.0, 65535.0)];
        Spec {
            timeout_ns: meter.timeout_ns,
            syn_restarts: meter.syn_restarts,
            period_ns: dice.spread(u64::MAX),
            ratio: dice.pick(&ratios),
            initial: dice.pick(&[floor, cap, within]),
            floor,
            cap,
        }
    }

    fn params(spec: &Spec) -> Result<rio_ps::Params, ParamError> {
        rio_ps::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> Both {
        let within = spec.floor + dice.spread32(spec.cap - spec.floor);
        let threshold = dice.pick(&[0, spec.floor, spec.cap, within]);
        let [last_seen, sent, packets] = meter_state(dice);
        let effective = if threshold == 0 { spec.initial } else { threshold };
        let near = u64::from(dice.near32(effective));
        let packets = if dice.one_in(2) { (near, 4) } else { packets };
        packed(&[(dice.spread(1 << 50), 8), (threshold.into(), 4), (0, 4), last_seen, sent, packets])
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &Both) -> Record {
        let fields = bytes(state);
        let call = dice.pick(&[Call::Packet, Call::Packet, Call::Expired, Call::Control]);
        let due_ns = dice.near(word(fields, 0, 8));
        let gap = dice.spread(1 << 50);
        let now_ns = match call {
            Call::Control => dice.pick(&[due_ns, due_ns.saturating_add(gap), due_ns.saturating_sub(gap)]),
            _ => flow_meter::moment(dice, word(fields, 16, 8), spec.timeout_ns),
        };
        let (count, threshold) = counts(dice, spec.ratio);
        Record {
            view: any_view(dice, &[1500, 40, 0, u32::MAX]),
            now_ns,
            call,
            count,
            threshold,
            ..Record::new()
        }
    }

    fn call(params: &rio_ps::Params, state: &mut Both, record: &Record) -> u32 {
        match record.call {
            Call::Packet => {
                rio_ps::packet(params, &mut state.flow, &state.edge, &record.view, record.now_ns) as u32
            }
            Call::Expired => rio_ps::expired(params, &state.flow, record.now_ns).into(),
            _ => {
                let counts = Counts { short_flows: record.count, long_flows: record.threshold };
                rio_ps::control(params, &mut state.edge, &counts, record.now_ns);
                rio_ps::is_short(params, &state.edge, &state.flow).into()
            }
        }
    }

    fn steps(field: &str) -> Steps {
        match field {
            "syn_restarts" => Steps::Within(0, 1),
            "reserved" => Steps::Unread,
            _ => Steps::Unit,
        }
    }
}

/// Short and long flows: in the ratio, off it by one, none, any.
fn counts(dice: &mut Dice, ratio: f64) -> (u32, u32) {
    let long = dice.spread32(u32::MAX);
    let edge = dice.near32((f64::from(long) * ratio) as u32);
    let any = dice.spread32(u32::MAX);
    (dice.pick(&[edge, edge, any, 0]), if dice.one_in(8) { 0 } else { long })
}
