//! RIO-PS's edge: the direction of its control, its boundaries, and the same in floats.
use crate::common::parts::metered_packets;
use crate::common::{Bits, Marker, parameter_error, params};
use mousehole_policy::{Colour, Counts, View};

const SECOND: u64 = 1_000_000_000;

type Given<'a> = &'a [(&'a str, &'a str)];

fn edge(given: Given) -> Marker {
    Marker::new(params("rio-ps", given))
}

/// Returns L_t, packets.
fn threshold(edge: &Marker) -> u32 {
    edge.reading("threshold_packets") as u32
}

/// Returns the flows counted, by length.
fn counts(short_flows: u32, long_flows: u32) -> Counts {
    Counts { flows: [short_flows, long_flows, 0, 0] }
}

/// Returns L_t after one step from `from`.
fn step(given: Given, from: u32, short_flows: u32, long_flows: u32) -> u32 {
    let initial = from.to_string();
    let mut edge = edge(&[given, &[("l_t", &initial)]].concat());
    assert!(edge.control(counts(short_flows, long_flows), 0));
    threshold(&edge)
}

#[test]
fn control__too_many_short_flows_lower_the_threshold() {
    assert_eq!(step(&[], 20, 31, 10), 19);
    assert_eq!(step(&[], 20, 29, 10), 21);
}

#[test]
fn control__exactly_the_ratio_raises() {
    assert_eq!(step(&[], 20, 30, 10), 21);
    let half: Given = &[("slr", "0.5")];
    assert_eq!([step(half, 20, 5, 10), step(half, 20, 6, 10)], [21, 19]);
}

#[test]
fn control__with_flows_of_one_kind_only() {
    assert_eq!([step(&[], 20, 1, 0), step(&[], 20, 0, 1)], [19, 21]);
}

#[test]
fn control__without_flows_holds() {
    assert_eq!(step(&[], 20, 0, 0), 20);
}

#[test]
fn control__stays_within_floor_and_cap() {
    let spec: Given = &[("floor", "3"), ("cap", "40")];
    assert_eq!([step(spec, 3, 9, 0), step(spec, 4, 9, 0)], [3, 3]);
    assert_eq!([step(spec, 40, 0, 9), step(spec, 39, 0, 9)], [40, 40]);
    assert_eq!([step(&[], 1, 9, 0), step(&[], 1000, 0, 9)], [1, 1000]);
}

#[test]
fn control__once_per_period() {
    let mut edge = edge(&[]);
    let mut at = |now_ns| {
        let before = threshold(&edge);
        assert_eq!(edge.control(counts(9, 1), now_ns), threshold(&edge) != before);
        threshold(&edge)
    };
    let times = [5, 5, 5 + 10 * SECOND - 1, 5 + 10 * SECOND, 6 + 10 * SECOND, 5 + 20 * SECOND, u64::MAX];
    assert_eq!(times.map(&mut at), [19, 19, 19, 18, 18, 17, 16]);
}

/// Flows of 1, 2, .. 100 packets: three short for each long one at L_t = 75, from wherever it starts.
#[test]
fn control__settles_where_the_ratio_is_met() {
    for initial in [1, 20, 75, 400] {
        let initial = format!("{initial}");
        let mut edge = edge(&[("l_t", &initial), ("t_c", "1ms")]);
        for round in 0..500u64 {
            let short_flows = threshold(&edge).min(100);
            assert!(edge.control(counts(short_flows, 100 - short_flows), round * 1_000_000));
        }
        let threshold = threshold(&edge);
        assert!((75..=76).contains(&threshold), "from {initial}: {threshold}");
    }
}

/// In floats a step can differ only where the format of the ratio cannot tell.
#[test]
fn control__is_the_reference_models() {
    let mut bits = Bits(51);
    let (mut seen, mut ties) = ([0; 2], 0);
    for _ in 0..200_000 {
        let ratio = bits.spread(1.0 / 65536.0, 65535.0);
        let long = bits.spread(1.0, 4e9).min(4e9 / ratio);
        let long_flows = long as u32;
        let about = f64::from(long_flows) * ratio * (0.99 + 0.02 * bits.uniform());
        let short_flows = about as u32 + bits.below(2);
        let got = step(&[("slr", &ratio.to_string())], 20, short_flows, long_flows);
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
                excess.abs() <= f64::from(long_flows) * libm::ldexp(1.0, -17),
                "{ratio} {short_flows} {long_flows}"
            );
        }
    }
    println!("steps that differ where the format of the ratio cannot tell: {ties} of {}", seen[0] + seen[1]);
    assert!(seen.iter().all(|count| *count > 50_000), "{seen:?}");
}

#[test]
fn packet__first_twenty_are_short() {
    let mut edge = edge(&[]);
    let mut flow = edge.new_flow();
    let colours: Vec<Colour> =
        (0..25).map(|index| edge.packet(&mut flow, &View::new(500), index, 0)).collect();
    assert!(colours[..20].iter().all(|colour| *colour == Colour::Green));
    assert!(colours[20..].iter().all(|colour| *colour == Colour::Yellow));
}

#[test]
fn packet__syn_and_ack_are_short_and_not_counted() {
    let mut edge = edge(&[("l_t", "1"), ("syn", "false")]);
    let mut flow = edge.new_flow();
    let mut colour = |flags| edge.packet(&mut flow, &View::new(500).with_flags(flags), 0, 0);
    assert_eq!([View::SYN, View::ACK, 0].map(&mut colour), [Colour::Green; 3]);
    assert_eq!([0, View::SYN, View::ACK, 0].map(&mut colour)[..2], [Colour::Yellow, Colour::Green]);
    assert_eq!(metered_packets(&flow), 3);
}

#[test]
fn packet__a_syn_and_idle_time_make_the_flow_new() {
    let mut edge = edge(&[("l_t", "1")]);
    let mut flow = edge.new_flow();
    let mut colour = |flags, now_ns| edge.packet(&mut flow, &View::new(500).with_flags(flags), now_ns, 0);
    assert_eq!([colour(0, 0), colour(0, 1)], [Colour::Green, Colour::Yellow]);
    assert_eq!(
        [colour(View::SYN, 2), colour(0, 3), colour(0, 4)],
        [Colour::Green, Colour::Green, Colour::Yellow]
    );
    assert_eq!([colour(0, 4 + SECOND), colour(0, 5 + 2 * SECOND)], [Colour::Yellow, Colour::Green]);
    assert!(!edge.expired(&flow, 5 + 3 * SECOND));
    assert!(edge.expired(&flow, 6 + 3 * SECOND));
}

/// What the sweep counts as short is what the marker colours Short, whatever the threshold has become.
#[test]
fn classify__agrees_with_the_colour() {
    let mut edge = edge(&[("t_c", "1ms"), ("l_t", "8")]);
    let (mut bits, mut seen) = (Bits(52), [0; 2]);
    let mut flows: Vec<_> = (0..8).map(|_| edge.new_flow()).collect();
    for now_ns in 0..20_000 {
        let flow = &mut flows[bits.below(8) as usize];
        let syn = if bits.below(16) == 0 { View::SYN } else { 0 };
        edge.packet(flow, &View::new(500).with_flags(syn), now_ns, 0);
        let colour = edge.packet(flow, &View::new(500), now_ns, 0);
        assert_eq!(edge.class(flow), Some(if colour == Colour::Green { 0 } else { 1 }));
        seen[colour.index()] += 1;
        let short_flows = flows.iter().filter(|flow| edge.class(flow) != Some(1)).count() as u32;
        assert!(edge.control(counts(short_flows, 8 - short_flows), now_ns * 1_000_000));
    }
    assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
}

/// The table is swept every T_u. A flow of SYNs and pure ACKs alone is counted nowhere.
#[test]
fn sweep__happens_every_timeout_and_passes_uncounted_flows_by() {
    let mut edge = edge(&[("t_u", "2s")]);
    assert_eq!(edge.params.policy().period_ns(&edge.params), Some(2 * SECOND));
    let mut flow = edge.new_flow();
    edge.packet(&mut flow, &View::new(40).with_flags(View::SYN), 0, 0);
    edge.packet(&mut flow, &View::new(40).with_flags(View::ACK), 1, 0);
    assert_eq!(edge.class(&flow), None);
}

#[test]
fn params__are_checked() {
    let rio_ps = |name, value| parameter_error("rio-ps", &[(name, value)]);
    assert_eq!(rio_ps("l_t", "2000"), "l_t: its value is not allowed here; allowed: from floor to cap");
    assert_eq!(rio_ps("floor", "0"), "floor: \"0\" is not allowed; allowed: a whole number; 1 to 4294967294");
    assert_eq!(rio_ps("cap", "0"), "cap: \"0\" is not allowed; allowed: a whole number; 1 to 4294967294");
    assert_eq!(
        parameter_error("rio-ps", &[("floor", "3"), ("cap", "2")]),
        "cap: its value is not allowed here; allowed: at least floor"
    );
    assert!(rio_ps("slr", "0").starts_with("slr: \"0\" is not allowed"));
    assert!(rio_ps("slr", "NaN").starts_with("slr: \"NaN\" is not allowed"));
    assert!(rio_ps("t_u", "0s").starts_with("t_u: \"0s\" is not allowed"));
}
