//! Multi-RED: three modes, one to three colours, arrivals and departures.

use super::red::{OPTIONS, level_spec, level_state, moment, view, waiting};
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::multi_red::{self, Mode};
use mousehole_policy::{COLOURS, ColourBacklog, ParamError, red};

/// Bytes of one colour's state.
const LEVEL: usize = size_of::<red::State>();

pub struct MultiRed;

impl Policy for MultiRed {
    const NAME: &'static str = "multi_red";
    const PARAMS: &'static str = "mh_multi_red_params";
    const STATE: &'static str = "mh_multi_red_state";
    const OUTCOMES: &'static [&'static str] = &["pass", "mark", "early", "forced"];
    type Spec = multi_red::Spec;
    type Params = multi_red::Params;
    type State = multi_red::State;

    fn spec(dice: &mut Dice) -> multi_red::Spec {
        let colours = dice.pick(&[1, 2, 3, 3, 3]);
        multi_red::Spec {
            mode: dice.pick(&[Mode::Coupled, Mode::Decoupled, Mode::Total]),
            levels: (0..colours).map(|_| level_spec(dice)).collect(),
        }
    }

    fn params(spec: &multi_red::Spec) -> Result<multi_red::Params, ParamError> {
        multi_red::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &multi_red::Spec) -> multi_red::State {
        let levels = (0..COLOURS).flat_map(|colour| level_state(dice, level(spec, colour)));
        packed(&levels.collect::<Vec<_>>())
    }

    fn record(dice: &mut Dice, spec: &multi_red::Spec, state: &multi_red::State) -> Record {
        let fields = bytes(state);
        let view = view(dice, level(spec, 0));
        let judge = if spec.mode == Mode::Total { 0 } else { view.colour.index() };
        let judged_by = level(spec, judge);
        let at = LEVEL * judge.min(spec.levels.len() - 1);
        let (packets, bytes) = waiting(dice, judged_by, word(fields, at, 8));
        let mut colours = ColourBacklog::default();
        (colours.packets[judge], colours.bytes[judge]) = (packets, bytes);
        if dice.one_in(2) {
            (colours.packets, colours.bytes) = crowd(dice, packets, bytes);
        }
        let call = if dice.one_in(8) { Call::Departed } else { Call::Packet };
        Record { view, now_ns: moment(dice, word(fields, at + 8, 8)), colours, call, ..Record::new() }
    }

    fn call(params: &multi_red::Params, state: &mut multi_red::State, record: &Record) -> u32 {
        let (view, colours) = (&record.view, &record.colours);
        if record.call == Call::Departed {
            multi_red::departed(params, state, view.colour, colours, record.now_ns);
            return 0;
        }
        multi_red::packet(params, state, view, colours, record.now_ns, record.random) as u32
    }

    fn steps(field: &str) -> Steps {
        match field {
            "colours" => Steps::Within(1, 3),
            "mode" => Steps::Within(0, 2),
            "options" => OPTIONS,
            "spare_below_packets" => Steps::Unread,
            _ => Steps::Unit,
        }
    }
}

/// The RED of a colour, the last one for colours beyond it.
fn level(spec: &multi_red::Spec, colour: usize) -> &red::Spec {
    &spec.levels[colour.min(spec.levels.len() - 1)]
}

/// Packets and bytes shared out among the colours at random.
fn crowd(dice: &mut Dice, packets: u32, bytes: u64) -> ([u32; COLOURS], [u64; COLOURS]) {
    let (some, more) = (dice.up_to(u64::from(packets)) as u32, dice.up_to(bytes));
    let mut shares = ([some, packets - some, 0], [more, bytes - more, 0]);
    let turn = dice.up_to(2) as usize;
    shares.0.rotate_right(turn);
    shares.1.rotate_right(turn);
    shares
}
