//! The token bucket.

use crate::parity::case::{Call, Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::token_bucket::{self, Params, Spec, State};
use mousehole_policy::{Backlog, NEVER, ParamError};

pub struct TokenBucket;

impl Policy for TokenBucket {
    const NAME: &'static str = "token_bucket";
    const PARAMS: &'static str = "mh_token_bucket_params";
    const STATE: &'static str = "mh_token_bucket";
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
        any_state(dice, &converted(spec))
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &State) -> Record {
        let params = converted(spec);
        let count = tokens(dice, &params);
        let now_ns = moment(dice, &params, state, count);
        let calls = [Call::Packet, Call::Take, Call::TakeClipped, Call::Wait, Call::Wait, Call::Fill];
        let mut then = *state;
        token_bucket::refill(&params, &mut then, now_ns);
        let wait_ns = dice.near(token_bucket::wait_ns(&params, &then, count).unwrap_or(NEVER));
        let percent_q16 = (token_bucket::fill_percent(&params, &then) * 65536.0) as u32;
        let threshold = dice.near32(percent_q16);
        let backlog = Backlog::new(0, wait_ns, NEVER);
        Record { count, now_ns, threshold, backlog, call: dice.pick(&calls), ..Record::new() }
    }

    fn call(params: &Params, state: &mut State, record: &Record) -> u32 {
        let Record { count, now_ns, .. } = *record;
        if record.call == Call::Packet {
            return u32::from(token_bucket::packet(params, state, count, now_ns));
        }
        token_bucket::refill(params, state, now_ns);
        match record.call {
            Call::Wait => {
                let wait_ns = token_bucket::wait_ns(params, state, count).unwrap_or(NEVER);
                return u32::from(wait_ns > record.backlog.bytes);
            }
            Call::Take => token_bucket::take(params, state, count),
            Call::TakeClipped => token_bucket::take_clipped(params, state, count),
            _ => {}
        }
        let percent_q16 = token_bucket::fill_percent(params, state) * 65536.0;
        u32::from(percent_q16 as u64 > u64::from(record.threshold))
    }

    fn steps(_: &str) -> Steps {
        Steps::Unit
    }
}

/// Any rate and burst, the edges often.
pub(super) fn any_spec(dice: &mut Dice) -> Spec {
    let (rate, burst) = (dice.real(1.0, 1e11), dice.spread32(999_999_999) + 1);
    Spec {
        rate: dice.pick(&[0.0, 1.0, 1e11, 31_250.0, rate, rate, rate.round()]),
        burst: dice.pick(&[1, 6000, 1 << 20, 1_000_000_000, burst, burst]),
    }
}

pub(super) fn converted(spec: &Spec) -> Params {
    Params::new(spec).expect("only parameters that are allowed are drawn")
}

/// The fields of the parameters: rate, burst, token, most.
pub(super) fn grains(params: &Params) -> [u64; 4] {
    [0, 8, 16, 24].map(|offset| word(bytes(params), offset, 8))
}

/// Full, in debt, or with just enough for some packet.
pub(super) fn any_state(dice: &mut Dice, params: &Params) -> State {
    let [_, burst, token, most] = grains(params);
    let cost = u64::from(tokens(dice, params)).min(most) * token;
    let just = dice.near(burst.saturating_sub(cost));
    let (debt, deepest) = (dice.spread(1 << 63), (1 << 63) - dice.up_to(1));
    let missing = dice.pick(&[just, just, just, 0, burst, debt, deepest]);
    packed(&[(missing, 8), (dice.spread(1 << 60), 8)])
}

/// A size: a packet's, the burst's, the largest that is charged, or any.
pub(super) fn tokens(dice: &mut Dice, params: &Params) -> u32 {
    let [_, burst, token, most] = grains(params);
    let (whole, most) = (burst / token, most.min(u64::from(u32::MAX)));
    let [whole, most] = [whole, most].map(|tokens| dice.near(tokens) as u32);
    let part = dice.spread32(whole);
    let sizes = [0, 1, 40, 1500, 1500, whole, part, part, most, dice.spread32(u32::MAX)];
    dice.pick(&sizes)
}

/// A time: now, when so many tokens are there, when the bucket is full, or any; ns.
pub(super) fn moment(dice: &mut Dice, params: &Params, state: &State, tokens: u32) -> u64 {
    let [rate, ..] = grains(params);
    let (missing, last_ns) = (word(bytes(state), 0, 8), word(bytes(state), 8, 8));
    let wait_ns = token_bucket::wait_ns(params, state, tokens).unwrap_or(0);
    let full_ns = missing.checked_div(rate).unwrap_or(0);
    let gap_ns = dice.spread(full_ns.saturating_mul(2).min(1 << 60));
    let after = [0, dice.near(wait_ns), dice.near(wait_ns), dice.near(full_ns), gap_ns, gap_ns];
    if dice.one_in(16) {
        return dice.pick(&[last_ns.saturating_sub(gap_ns), last_ns.saturating_add(1 << 45)]);
    }
    last_ns.saturating_add(dice.pick(&after))
}

/// How the parameters of a bucket within another policy may be changed: no packet is as large as `most_tokens` and
/// conforms, so that it does not matter there.
pub(super) fn steps(field: &str) -> Steps {
    if field == "most_tokens" || field == "reserved" { Steps::Unread } else { Steps::Unit }
}
