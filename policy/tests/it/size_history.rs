//! The history of sizes against a sorted list.
use crate::common::Bits;
use mousehole_policy::size_history::{MOST, Params, Spec, State, flow_end};
use std::collections::VecDeque;

/// The definition: the least x of those kept for which F(x) >= u.
fn exact(kept: &VecDeque<u32>, u: f64) -> u32 {
    let mut sorted: Vec<u32> = kept.iter().copied().collect();
    sorted.sort_unstable();
    let share = |at: usize| (at + 1) as f64 / sorted.len() as f64;
    // u as given in decimals, not as 53 bits round it.
    let at = (0..sorted.len()).find(|at| share(*at) >= u - 1e-12);
    sorted[at.unwrap_or(sorted.len() - 1)]
}

fn play(spec: Spec, flows: usize, bits: &mut Bits, size: impl Fn(&mut Bits) -> u32) -> f64 {
    let params = Params::new(&spec).unwrap();
    let (mut history, mut kept, mut worst) = (Box::new(State::default()), VecDeque::new(), 0.0f64);
    assert_eq!(history.quantile(), None);
    for _ in 0..flows {
        let size = size(bits);
        flow_end(&params, &mut history, size);
        kept.push_back(size);
        if kept.len() > spec.flows as usize {
            kept.pop_front();
        }
        assert_eq!(history.flows() as usize, kept.len());
        let (got, exact) = (history.quantile().unwrap(), exact(&kept, spec.quantile));
        if exact <= 127 {
            assert_eq!(got, exact, "{spec:?}");
        } else {
            worst = worst.max((f64::from(got) - f64::from(exact)).abs() / f64::from(exact));
        }
    }
    worst
}

#[test]
fn size_history__is_the_quantile_of_the_sorted_list() {
    let (mut bits, mut worst) = (Bits(61), 0.0f64);
    for quantile in [1e-6, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0] {
        for flows in [1, 2, 20, 100, 333] {
            let spec = Spec { quantile, flows };
            worst = worst.max(play(spec, 700, &mut bits, |bits| bits.below(128)));
            worst = worst.max(play(spec, 700, &mut bits, |bits| bits.spread(1.0, 1e6) as u32));
            worst = worst.max(play(spec, 300, &mut bits, Bits::next));
        }
    }
    println!("worst error of a quantile beyond 127: {worst:.5}");
    assert!(worst > 0.0 && worst <= 1.0 / 128.0);
}

#[test]
fn size_history__holds_its_longest_and_forgets() {
    let spec = Spec { quantile: 0.5, flows: MOST as u32 };
    let params = Params::new(&spec).unwrap();
    let mut history = Box::new(State::default());
    // Two modes far apart, by turns, so that the median crosses the empty buckets between them.
    for round in 0..6 {
        let size = if round % 2 == 0 { 3 } else { 1_000_000 };
        (0..MOST).for_each(|_| flow_end(&params, &mut history, size));
        assert_eq!(history.flows() as usize, MOST);
        let got = history.quantile().unwrap();
        assert!(got.abs_diff(size) <= size / 128, "{got}");
    }
}

#[test]
fn size_history__every_bucket_is_within_its_stated_error() {
    let params = Params::new(&Spec { quantile: 1.0, flows: 1 }).unwrap();
    let (mut history, mut bits, mut worst) = (Box::new(State::default()), Bits(62), 0.0f64);
    let edges =
        (0..32).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).chain([u32::MAX.into()]);
    let any: Vec<u64> = (0..100_000).map(|_| u64::from(bits.next() >> bits.below(32))).collect();
    for size in edges.chain(0..=300).chain(any) {
        flow_end(&params, &mut history, size as u32);
        let error = history.quantile().unwrap().abs_diff(size as u32);
        assert!(size > 127 || error == 0, "{size}");
        worst = worst.max(f64::from(error) / (size as f64).max(1.0));
    }
    println!("worst error of a bucket: {worst:.5}");
    assert!(worst > 0.007 && worst <= 1.0 / 128.0);
}

#[test]
fn params__name_field_value_and_what_is_allowed() {
    let refused = |quantile, flows| Params::new(&Spec { quantile, flows }).unwrap_err().to_string();
    assert_eq!(refused(1.5, 9), "quantile: 1.5 is not allowed; 0.000001 to 1");
    assert_eq!(refused(0.0, 9), "quantile: 0 is not allowed; 0.000001 to 1");
    assert_eq!(refused(0.5, 0), "flows: 0 is not allowed; 1 to 4096 flows");
    assert_eq!(refused(0.5, 4097), "flows: 4097 is not allowed; 1 to 4096 flows");
    assert!(Params::new(&Spec { quantile: f64::NAN, flows: 1 }).is_err());
}
