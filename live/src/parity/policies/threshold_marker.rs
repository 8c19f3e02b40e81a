//! The threshold marker: the meter it reads is what the record says.

use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::packed;
use mousehole_policy::threshold_marker::{self, Spec};
use mousehole_policy::{Colour, ParamError, Unit, flow_meter};

pub struct ThresholdMarker;

impl Policy for ThresholdMarker {
    const NAME: &'static str = "threshold_marker";
    const PARAMS: &'static str = "mh_threshold_marker_params";
    const STATE: &'static str = "mh_flow_meter";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red"];
    type Spec = Spec;
    type Params = threshold_marker::Params;
    type State = flow_meter::Meter;

    fn spec(dice: &mut Dice) -> Spec {
        let (within, other) = (dice.up_to(2) as usize, 1 + dice.up_to(1) as usize);
        let beyond = Colour::ALL[(within + other) % 3];
        Spec { threshold: threshold(dice), unit: unit(dice), within: Colour::ALL[within], beyond }
    }

    fn params(spec: &Spec) -> Result<threshold_marker::Params, ParamError> {
        threshold_marker::Params::new(spec)
    }

    fn state(_: &mut Dice, _: &Spec) -> flow_meter::Meter {
        flow_meter::Meter::default()
    }

    fn record(dice: &mut Dice, spec: &Spec, _: &flow_meter::Meter) -> Record {
        let (near, any) = ([dice.near32(spec.threshold), dice.near32(spec.threshold)], dice.bits());
        let [count, threshold] = if dice.one_in(2) { near } else { [any as u32, (any >> 32) as u32] };
        Record { count, threshold, ..Record::new() }
    }

    fn call(params: &threshold_marker::Params, state: &mut flow_meter::Meter, record: &Record) -> u32 {
        *state = packed(&[(0, 8), (record.count.into(), 4), (record.threshold.into(), 4)]);
        threshold_marker::colour(params, state) as u32
    }

    fn steps(field: &str) -> Steps {
        steps(field)
    }
}

/// How a threshold marker's parameter may be changed.
pub(super) fn steps(field: &str) -> Steps {
    match field {
        "unit" => Steps::Within(0, 1),
        "within" | "beyond" => Steps::Within(0, 2),
        _ => Steps::Unit,
    }
}

/// Any threshold; 15,000 is the paper's.
pub(super) fn threshold(dice: &mut Dice) -> u32 {
    let any = dice.spread32(u32::MAX - 1);
    dice.pick(&[0, 1, 15_000, u32::MAX - 1, any])
}

/// Bytes or packets.
pub(super) fn unit(dice: &mut Dice) -> Unit {
    dice.pick(&[Unit::Bytes, Unit::Packets])
}
