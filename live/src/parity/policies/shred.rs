//! SHRED: RED with all its options, and hints.

use super::red::{Red, level_spec, level_state};
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, value, word};
use mousehole_policy::shred::{self, Spec};
use mousehole_policy::{ParamError, red::State};

const ONE_Q32: f64 = 4294967296.0;

/// RED's four, and whether a spared packet restarts the count.
const OPTIONS: Steps = Steps::Bits(0b1_1111);

/// Bytes of RED's part of the state.
const RED: usize = size_of::<State>();

pub struct Shred;

impl Policy for Shred {
    const NAME: &'static str = "shred";
    const PARAMS: &'static str = "mh_shred_params";
    const STATE: &'static str = "mh_shred_state";
    const OUTCOMES: &'static [&'static str] = Red::OUTCOMES;
    type Spec = Spec;
    type Params = shred::Params;
    type State = shred::State;

    fn spec(dice: &mut Dice) -> Spec {
        let mut red = level_spec(dice);
        let (min, max) = (red.min_packets, red.max_packets);
        let floors = [0.0, min, min / 2.0, min.min(5.0)];
        let floor_packets = dice.pick(&floors);
        red.max_p = red.max_p.min((max - min) / (max - floor_packets));
        red.spare_below_packets = if dice.one_in(3) { dice.spread32(u32::MAX) } else { 0 };
        let weights = [1e-6, 0.002, 1.0, dice.real(1e-6, 1.0)];
        Spec { red, floor_packets, w_hint: dice.pick(&weights), restart: dice.one_in(2) }
    }

    fn params(spec: &Spec) -> Result<shred::Params, ParamError> {
        shred::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> shred::State {
        let mut fields = level_state(dice, &spec.red);
        if dice.one_in(8) {
            fields[0].0 = dice.near((spec.floor_packets * ONE_Q32).round() as u64);
        }
        let (whole, any) = ((1 + dice.up_to(254)) << 32, (dice.real(1.0, 255.0) * ONE_Q32) as u64);
        packed(&[fields[0], fields[1], fields[2], fields[3], fields[4], (dice.pick(&[0, whole, any]), 8)])
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &shred::State) -> Record {
        let fields = bytes(state);
        let red = value(&fields[..RED]).expect("RED's state comes first");
        let mut record = Red::record(dice, &spec.red, &red);
        let average = (word(fields, RED, 8) >> 32) as u16;
        let hints = [0, 0, average, average + 1, 1 + dice.up_to(254) as u16, 1, 255, 256, u16::MAX];
        record.view = record.view.with_window(dice.pick(&hints));
        record
    }

    fn call(params: &shred::Params, state: &mut shred::State, record: &Record) -> u32 {
        shred::packet(params, state, &record.view, &record.backlog, record.now_ns, record.random) as u32
    }

    fn steps(field: &str) -> Steps {
        if field == "options" { OPTIONS } else { Steps::Unit }
    }
}
