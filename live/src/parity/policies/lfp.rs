//! LFP's marker: what all flows share, and four flows.

use super::flow_meter::{meter_spec, moment};
use super::red::any_view;
use super::{size_history, token_bucket};
use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{Plain, bytes, packed, value, word};
use mousehole_policy::lfp::{self, Flow, Params, Spec};
use mousehole_policy::{ParamError, Unit, size_history as sizes, token_bucket as bucket};

pub struct Lfp;

/// Same layout as `struct parity_lfp`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct State {
    shared: lfp::State,
    flow: [Flow; 4],
}

// SAFETY: a repr(C) struct of such structs, without padding, as the tests of the entries' sizes show.
unsafe impl Plain for State {}

impl Policy for Lfp {
    const NAME: &'static str = "lfp";
    const PARAMS: &'static str = "mh_lfp_params";
    const STATE: &'static str = "parity_lfp";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red"];
    const RANDOM: bool = false;
    type Spec = Spec;
    type Params = Params;
    type State = State;

    fn spec(dice: &mut Dice) -> Spec {
        let (meter, tokens) = (meter_spec(dice), token_bucket::any_spec(dice));
        let points = [0.0, 20.0, 50.0, 100.0, dice.real(1e-3, 100.0)];
        let set_point = dice.pick(&points);
        let widest = set_point.min(100.0 - set_point);
        let few = dice.spread32(40);
        Spec {
            threshold: dice.pick(&[0, 10, few, few, u32::MAX - 1]),
            timeout_ns: meter.timeout_ns,
            syn_restarts: meter.syn_restarts,
            rate: tokens.rate,
            burst: dice.pick(&[50, tokens.burst]),
            set_point,
            hysteresis: dice.pick(&[0.0, widest / 2.0, widest]),
            sizes: size_history::any_spec(dice),
            memoryless: dice.one_in(2),
        }
    }

    fn params(spec: &Spec) -> Result<Params, ParamError> {
        Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &Spec) -> State {
        let history = size_history::any_state(dice, &spec.sizes);
        let full = token_bucket::any_state(dice, &tokens_of(spec));
        let last_ns = word(bytes(&full), 8, 8);
        let missing = [word(bytes(&full), 0, 8), brink(dice, spec), brink(dice, spec)];
        let bucket: bucket::State = packed(&[(dice.pick(&missing), 8), (last_ns, 8)]);
        let mut all = bytes(&bucket).to_vec();
        all.extend_from_slice(&dice.up_to(1).to_le_bytes());
        all.extend_from_slice(bytes(&history));
        for _ in 0..4 {
            all.extend_from_slice(bytes(&any_flow(dice, spec, &history, last_ns)));
        }
        value(&all).expect("the parts make up the struct")
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &State) -> Record {
        let which = dice.up_to(3) as u32;
        let last_seen_ns = word(bytes(&state.flow[which as usize]), 0, 8);
        let tokens = token_bucket::moment(dice, &tokens_of(spec), state.shared.bucket(), 1);
        let now_ns = match dice.up_to(7) {
            0 => moment(dice, last_seen_ns, spec.timeout_ns),
            1..4 => tokens,
            _ => word(bytes(state.shared.bucket()), 8, 8),
        };
        let quantile = state.shared.history().quantile().unwrap_or(0);
        let call = match dice.up_to(9) {
            0 => Call::Expired,
            1..3 => Call::FlowEnd,
            _ => Call::Packet,
        };
        let mut view = any_view(dice, &[1500]);
        if !dice.one_in(16) {
            view = view.with_segments(dice.up_to(3) as u16);
        }
        let count = size_history::size(dice, quantile);
        Record { view, now_ns, call, count, threshold: which, ..Record::new() }
    }

    fn call(params: &Params, state: &mut State, record: &Record) -> u32 {
        let flow = &mut state.flow[(record.threshold & 3) as usize];
        match record.call {
            Call::Expired => u32::from(lfp::expired(params, flow, record.now_ns)),
            Call::Packet => lfp::packet(params, flow, &mut state.shared, &record.view, record.now_ns) as u32,
            _ => {
                lfp::flow_end(params, &mut state.shared, record.count);
                0
            }
        }
    }

    fn steps(field: &str) -> Steps {
        match field {
            "syn_restarts" | "memoryless" => Steps::Within(0, 1),
            "u_q32" | "length" => size_history::steps(field),
            _ => token_bucket::steps(field),
        }
    }
}

fn tokens_of(spec: &Spec) -> bucket::Params {
    token_bucket::converted(&bucket::Spec { rate: spec.rate, burst: spec.burst })
}

/// What is missing where promotion opens or closes, or a grain beside it.
fn brink(dice: &mut Dice, spec: &Spec) -> u64 {
    let params = Params::new(spec).expect("only parameters that are allowed are drawn");
    let [_, burst, ..] = token_bucket::grains(&tokens_of(spec));
    let levels = [64, 72].map(|offset| word(bytes(&params), offset, 8));
    let level = dice.pick(&levels);
    dice.near(burst - level)
}

/// A flow near the threshold or the quantile, or any; last seen about when the bucket was refilled.
fn any_flow(dice: &mut Dice, spec: &Spec, history: &sizes::State, last_ns: u64) -> Flow {
    let quantile = history.quantile().unwrap_or(0);
    let counts = [dice.near32(spec.threshold), dice.near32(quantile), 0, dice.spread32(u32::MAX)];
    let last_seen_ns = last_ns.saturating_sub(dice.spread(1 << 40));
    let packets = u64::from(dice.pick(&counts));
    let flow: Flow = packed(&[
        (last_seen_ns, 8),
        (dice.spread(1 << 32) >> 1, 4),
        (packets, 4),
        (dice.up_to(1), 4),
        (0, 4),
    ]);
    debug_assert_eq!(u64::from(flow.meter().count(Unit::Packets)), packets);
    flow
}
