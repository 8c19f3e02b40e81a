//! RED, all options.

use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{bytes, packed, word};
use mousehole_policy::{Backlog, NEVER, ParamError, View, red};

const LONGEST: u64 = 1 << 20;
const ONE_Q32: f64 = 4294967296.0;

/// All four options.
pub(super) const OPTIONS: Steps = Steps::Bits(0b1111);

pub struct Red;

impl Policy for Red {
    const NAME: &'static str = "red";
    const PARAMS: &'static str = "mh_red_params";
    const STATE: &'static str = "mh_red_state";
    const OUTCOMES: &'static [&'static str] = &["pass", "mark", "early", "forced"];
    type Spec = red::Spec;
    type Params = red::Params;
    type State = red::State;

    fn spec(dice: &mut Dice) -> red::Spec {
        let spare_below_packets = if dice.one_in(3) { dice.spread32(u32::MAX) } else { 0 };
        red::Spec { spare_below_packets, ..level_spec(dice) }
    }

    fn params(spec: &red::Spec) -> Result<red::Params, ParamError> {
        red::Params::new(spec)
    }

    fn state(dice: &mut Dice, spec: &red::Spec) -> red::State {
        packed(&level_state(dice, spec))
    }

    fn record(dice: &mut Dice, spec: &red::Spec, state: &red::State) -> Record {
        let (avg_q32, idle_from_ns) = (word(bytes(state), 0, 8), word(bytes(state), 8, 8));
        let now_ns = moment(dice, idle_from_ns);
        let (mut packets, bytes) = waiting(dice, spec, avg_q32);
        if spec.spare_below_packets > 0 && dice.one_in(8) {
            packets = dice.near32(spec.spare_below_packets);
        }
        let idle_since_ns = if packets > 0 { NEVER } else { dice.pick(&[0, idle_from_ns, now_ns]) };
        let backlog = Backlog::new(packets, bytes, dice.near(idle_since_ns));
        Record { view: view(dice, spec), now_ns, backlog, ..Record::new() }
    }

    fn call(params: &red::Params, state: &mut red::State, record: &Record) -> u32 {
        red::packet(params, state, &record.view, &record.backlog, record.now_ns, record.random) as u32
    }

    fn steps(field: &str) -> Steps {
        if field == "options" { OPTIONS } else { Steps::Unit }
    }
}

/// RED's parameters but `spare_below_packets`.
pub(super) fn level_spec(dice: &mut Dice) -> red::Spec {
    if dice.one_in(2) { wide_spec(dice) } else { any_spec(dice) }
}

/// A gentle RED between thresholds far apart, where the last bit of a slope tells. Its average stays where it
/// is: the weight is the smallest, idle time counts for little, and a mean packet of 2^15 bytes makes lengths in
/// bytes exact.
fn wide_spec(dice: &mut Dice) -> red::Spec {
    red::Spec {
        min_packets: dice.spread(1000) as f64,
        max_packets: dice.real(262_144.0, 1_048_576.0),
        max_p: dice.real(0.01, 0.3),
        w_q: 1e-6,
        mean_packet_bytes: 32768.0,
        rate_bps: 1e3,
        gentle: true,
        queue_in_bytes: true,
        ecn: dice.one_in(2),
        ..red::Spec::default()
    }
}

fn any_spec(dice: &mut Dice) -> red::Spec {
    let most = LONGEST as f64;
    let least = [0.0, dice.spread(LONGEST - 1) as f64, dice.real(1e-3, most - 1.0)];
    let min_packets = dice.pick(&least);
    let above = [min_packets + 1.0, min_packets.floor() + 2.0, min_packets + dice.real(1.0, most), most];
    let (p, w) = (dice.real(1e-9, 1.0), dice.real(1e-6, 1.0));
    let (mean, rate) = (dice.real(1.0, 65535.0).round(), dice.real(1e3, 1e12));
    red::Spec {
        min_packets,
        max_packets: dice.pick(&above).min(most),
        max_p: dice.pick(&[1e-9, 0.1, 1.0, p]),
        w_q: dice.pick(&[1e-6, 0.002, 1.0, w]),
        mean_packet_bytes: dice.pick(&[1.0, 1000.0, 65535.0, mean]),
        rate_bps: dice.pick(&[1e3, 1e12, rate]),
        gentle: dice.one_in(2),
        wait: dice.one_in(2),
        byte_mode: dice.one_in(2),
        queue_in_bytes: dice.one_in(2),
        ecn: dice.one_in(2),
        spare_below_packets: 0,
    }
}

/// The fields of RED's state: average, idle from, since drop, above min, reserved.
pub(super) fn level_state(dice: &mut Dice, spec: &red::Spec) -> [(u64, usize); 5] {
    let since_drop = [0, dice.spread(1 << 55), dice.near(1 << 55)];
    [
        (average(dice, spec), 8),
        (dice.spread(1 << 50), 8),
        (dice.pick(&since_drop), 8),
        (dice.up_to(1), 4),
        (0, 4),
    ]
}

/// An average at a threshold, between thresholds, or anywhere.
fn average(dice: &mut Dice, spec: &red::Spec) -> u64 {
    let (min, max) = (spec.min_packets, spec.max_packets);
    let edge_q32 = (dice.pick(&[min, max, 2.0 * max]) * ONE_Q32).round() as u64;
    match dice.up_to(8) {
        0 => 0,
        1..3 => dice.near(edge_q32),
        3 => dice.up_to((2.0 * max * ONE_Q32) as u64),
        4 => dice.spread(LONGEST << 33),
        5..7 => telling(dice, min, max - min, spec.max_p / (max - min)),
        _ => telling(dice, max, max, (1.0 - spec.max_p) / max),
    }
}

/// An average in the lower half of `from .. from + range` whose product with the slope is so close to being
/// rounded the other way that the slope's last bit decides.
fn telling(dice: &mut Dice, from: f64, range: f64, slope: f64) -> u64 {
    let slope_q64 = (slope * ONE_Q32 * ONE_Q32).round() as u64;
    let above_q32 = dice.up_to((range / 2.0 * ONE_Q32) as u64);
    let short_of_half = ((1 << 63) - 1u64).wrapping_sub(above_q32.wrapping_mul(slope_q64));
    let steps = short_of_half / slope_q64.max(1);
    let at_q32 = ((from * ONE_Q32).round() as u64 + above_q32).saturating_add(steps);
    at_q32.min(LONGEST << 33) + dice.up_to(1)
}

/// A time at, after or before the one from which idle time counts, ns.
pub(super) fn moment(dice: &mut Dice, idle_from_ns: u64) -> u64 {
    let gap = dice.spread(1 << 48);
    let edge = dice.near(1 << 47);
    let later = [idle_from_ns, idle_from_ns + gap, idle_from_ns + edge, idle_from_ns.saturating_sub(gap)];
    dice.pick(&later)
}

/// Packets and bytes waiting: often what the average is, so that it stays where it is; often nothing.
pub(super) fn waiting(dice: &mut Dice, spec: &red::Spec, avg_q32: u64) -> (u32, u64) {
    let average = avg_q32 as f64 / ONE_Q32;
    let lengths = [average, average, average.ceil(), spec.min_packets, spec.max_packets];
    let length = dice.pick(&lengths);
    let longest = LONGEST * spec.mean_packet_bytes as u64;
    let few = dice.spread32(2 * LONGEST as u32);
    let packets = [length as u32, length as u32, few, 0, dice.near32(LONGEST as u32), u32::MAX];
    let [same, edge] = [average, length].map(|packets| (packets * spec.mean_packet_bytes).round() as u64);
    let bytes = [same, same, same, edge, dice.spread(1 << 40), dice.near(longest), u64::MAX];
    (dice.pick(&packets), dice.pick(&bytes))
}

/// A packet of any size, colour and kind.
pub(super) fn view(dice: &mut Dice, spec: &red::Spec) -> View {
    let sizes = [1500, 40, 0, u32::MAX, spec.mean_packet_bytes as u32, dice.spread32(1 << 20)];
    any_view(dice, &sizes)
}

/// A packet of one of these sizes, of any colour and kind.
pub(super) fn any_view(dice: &mut Dice, sizes: &[u32]) -> View {
    let segments = [0, 1, 1, dice.spread(64) as u16, u16::MAX];
    View::new(dice.pick(sizes))
        .with_segments(dice.pick(&segments))
        .with_colour(dice.pick(&mousehole_policy::Colour::ALL))
        .with_flags(dice.bits() as u8)
}
