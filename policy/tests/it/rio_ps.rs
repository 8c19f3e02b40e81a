//! RIO-PS's edge: the direction of its control, its boundaries, and the same in floats.
use crate::common::Bits;
use mousehole_policy::flow_meter::Meter;
use mousehole_policy::rio_ps::{self, Counts, Params, Spec, State};
use mousehole_policy::{Colour, Unit, View};

const SECOND: u64 = 1_000_000_000;

fn params() -> Params {
    Params::new(&Spec::default()).unwrap()
}

/// L_t after one step from `from`.
fn step(spec: Spec, from: u32, short_flows: u32, long_flows: u32) -> u32 {
    let params = Params::new(&Spec { initial: from, ..spec }).unwrap();
    let mut state = State::default();
    rio_ps::control(&params, &mut state, &Counts { short_flows, long_flows }, 0);
    rio_ps::threshold(&params, &state)
}

#[test]
fn control__too_many_short_flows_lower_the_threshold() {
    assert_eq!(step(Spec::default(), 20, 31, 10), 19);
    assert_eq!(step(Spec::default(), 20, 29, 10), 21);
}

#[test]
fn control__exactly_the_ratio_raises() {
    assert_eq!(step(Spec::default(), 20, 30, 10), 21);
    let half = Spec { ratio: 0.5, ..Spec::default() };
    assert_eq!([step(half, 20, 5, 10), step(half, 20, 6, 10)], [21, 19]);
}

#[test]
fn control__with_flows_of_one_kind_only() {
    assert_eq!([step(Spec::default(), 20, 1, 0), step(Spec::default(), 20, 0, 1)], [19, 21]);
}

#[test]
fn control__without_flows_holds() {
    assert_eq!(step(Spec::default(), 20, 0, 0), 20);
}

#[test]
fn control__stays_within_floor_and_cap() {
    let spec = Spec { floor: 3, cap: 40, ..Spec::default() };
    assert_eq!([step(spec, 3, 9, 0), step(spec, 4, 9, 0)], [3, 3]);
    assert_eq!([step(spec, 40, 0, 9), step(spec, 39, 0, 9)], [40, 40]);
    assert_eq!([step(Spec::default(), 1, 9, 0), step(Spec::default(), 1000, 0, 9)], [1, 1000]);
}

#[test]
fn control__once_per_period() {
    let (params, mut state) = (params(), State::default());
    let mut at = |now_ns| {
        rio_ps::control(&params, &mut state, &Counts { short_flows: 9, long_flows: 1 }, now_ns);
        rio_ps::threshold(&params, &state)
    };
    let times = [5, 5, 5 + 10 * SECOND - 1, 5 + 10 * SECOND, 6 + 10 * SECOND, 5 + 20 * SECOND, u64::MAX];
    assert_eq!(times.map(&mut at), [19, 19, 19, 18, 18, 17, 16]);
}

/// Flows of 1, 2, .. 100 packets: three short for each long one at L_t = 75, from wherever it starts.
#[test]
fn control__settles_where_the_ratio_is_met() {
    for initial in [1, 20, 75, 400] {
        let params = Params::new(&Spec { initial, period_ns: 0, ..Spec::default() }).unwrap();
        let mut state = State::default();
        for round in 0..500u64 {
            let short_flows = rio_ps::threshold(&params, &state).min(100);
            rio_ps::control(
                &params,
                &mut state,
                &Counts { short_flows, long_flows: 100 - short_flows },
                round,
            );
        }
        let threshold = rio_ps::threshold(&params, &state);
        assert!((75..=76).contains(&threshold), "from {initial}: {threshold}");
    }
}

/// In floats a step can differ only where the format of the ratio cannot tell.
#[test]
fn control__is_the_float_twins() {
    let mut bits = Bits(51);
    let (mut seen, mut ties) = ([0; 2], 0);
    for _ in 0..200_000 {
        let ratio = bits.spread(1.0 / 65536.0, 65535.0);
        let long = bits.spread(1.0, 4e9).min(4e9 / ratio);
        let long_flows = long as u32;
        let about = f64::from(long_flows) * ratio * (0.99 + 0.02 * bits.uniform());
        let short_flows = about as u32 + bits.below(2);
        let got = step(Spec { ratio, ..Spec::default() }, 20, short_flows, long_flows);
        let excess = f64::from(short_flows) - ratio * f64::from(long_flows);
        let expected = if short_flows == 0 && long_flows == 0 {
            20
        } else if excess > 0.0 {
            19
        } else {
            21
        };
        seen[usize::from(excess > 0.0)] += 1;
        if got != expected {
            ties += 1;
            assert!(
                excess.abs() <= f64::from(long_flows) * 2f64.powi(-17),
                "{ratio} {short_flows} {long_flows}"
            );
        }
    }
    println!("steps that differ where the format of the ratio cannot tell: {ties} of {}", seen[0] + seen[1]);
    assert!(seen.iter().all(|count| *count > 50_000), "{seen:?}");
}

#[test]
fn packet__first_twenty_are_short() {
    let (params, mut flow, state) = (params(), Meter::default(), State::default());
    let colours: Vec<Colour> =
        (0..25).map(|index| rio_ps::packet(&params, &mut flow, &state, &View::new(500), index)).collect();
    assert!(colours[..20].iter().all(|colour| *colour == Colour::Green));
    assert!(colours[20..].iter().all(|colour| *colour == Colour::Yellow));
}

#[test]
fn packet__syn_and_ack_are_short_and_not_counted() {
    let spec = Spec { initial: 1, syn_restarts: false, ..Spec::default() };
    let (params, mut flow, state) = (Params::new(&spec).unwrap(), Meter::default(), State::default());
    let mut colour = |flags| rio_ps::packet(&params, &mut flow, &state, &View::new(500).with_flags(flags), 0);
    assert_eq!([View::SYN, View::ACK, 0].map(&mut colour), [Colour::Green; 3]);
    assert_eq!([0, View::SYN, View::ACK, 0].map(&mut colour)[..2], [Colour::Yellow, Colour::Green]);
    assert_eq!(flow.count(Unit::Packets), 3);
}

#[test]
fn packet__a_syn_and_idle_time_make_the_flow_new() {
    let params = Params::new(&Spec { initial: 1, ..Spec::default() }).unwrap();
    let (mut flow, state) = (Meter::default(), State::default());
    let mut colour =
        |flags, now_ns| rio_ps::packet(&params, &mut flow, &state, &View::new(500).with_flags(flags), now_ns);
    assert_eq!([colour(0, 0), colour(0, 1)], [Colour::Green, Colour::Yellow]);
    assert_eq!(
        [colour(View::SYN, 2), colour(0, 3), colour(0, 4)],
        [Colour::Green, Colour::Green, Colour::Yellow]
    );
    assert_eq!([colour(0, 4 + SECOND), colour(0, 5 + 2 * SECOND)], [Colour::Yellow, Colour::Green]);
    assert!(!rio_ps::expired(&params, &flow, 5 + 3 * SECOND));
    assert!(rio_ps::expired(&params, &flow, 6 + 3 * SECOND));
}

/// What the sweep counts as short is what the marker colours Short, whatever the threshold has become.
#[test]
fn is_short__agrees_with_the_colour() {
    let params = Params::new(&Spec { period_ns: 0, initial: 8, ..Spec::default() }).unwrap();
    let (mut state, mut bits, mut seen) = (State::default(), Bits(52), [0; 2]);
    let mut flows = [Meter::default(); 8];
    for now_ns in 0..20_000 {
        let flow = &mut flows[bits.below(8) as usize];
        let syn = if bits.below(16) == 0 { View::SYN } else { 0 };
        rio_ps::packet(&params, flow, &state, &View::new(500).with_flags(syn), now_ns);
        let colour = rio_ps::packet(&params, flow, &state, &View::new(500), now_ns);
        assert_eq!(colour == Colour::Green, rio_ps::is_short(&params, &state, flow));
        seen[colour.index()] += 1;
        let short_flows = flows.iter().filter(|flow| rio_ps::is_short(&params, &state, flow)).count() as u32;
        rio_ps::control(&params, &mut state, &Counts { short_flows, long_flows: 8 - short_flows }, now_ns);
    }
    assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
}

#[test]
fn params__are_checked() {
    let refused = |spec: Spec| Params::new(&spec).unwrap_err().to_string();
    let base = Spec::default();
    assert_eq!(refused(Spec { initial: 2000, ..base }), "initial: 2000 is not allowed; 1 to 1000 packets");
    assert_eq!(refused(Spec { floor: 0, ..base }), "floor: 0 is not allowed; 1 to 4294967294 packets");
    assert_eq!(refused(Spec { cap: 0, ..base }), "cap: 0 is not allowed; 1 to 4294967294 packets");
    assert!(refused(Spec { ratio: 0.0, ..base }).starts_with("ratio: 0 is not allowed"));
    assert!(refused(Spec { ratio: f64::NAN, ..base }).starts_with("ratio: NaN is not allowed"));
    assert!(refused(Spec { timeout_ns: 0, ..base }).starts_with("timeout_ns: 0 is not allowed"));
}
