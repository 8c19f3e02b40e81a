//! The history of sizes: its cases, and against a sorted list.

use crate::common::cases::read_cases;
use crate::common::parts::History;
use crate::common::{Bits, parameter_error};
use std::collections::VecDeque;

#[test]
fn size_history__passes_its_cases() {
    let cases = read_cases("parts/size_history.txt");
    assert!(cases.len() >= 6);
    for case in &cases {
        let mut history = History::new(case.number("quantile", 0.5), case.number("flows", 5.0) as u32);
        for step in &case.steps {
            assert_eq!(step.verb, "ended", "{}", step.line);
            history.flow_end(step.number("size").unwrap() as u32);
            assert_eq!(history.quantile().unwrap().to_string(), step.expected, "{}", step.line);
        }
    }
}

/// Four words of its own; a bucket each of 4096 sizes, and counts of 27 groups of 64 buckets and of a spare group.
#[test]
fn size_history__has_room_for_every_bucket_and_no_more() {
    assert_eq!(History::size(), 4 * 4 + 2 * (4096 + 27 * 64 + 27 + 1));
}

/// The rank is rounded up, for the least level as well: 1000 is in the bucket from 1000 to 1007.
#[test]
fn size_history__the_least_level_is_the_least_size() {
    let mut history = History::new(libm::ldexp(1.0, -32), 5);
    for size in [1000, 3000] {
        history.flow_end(size);
        assert_eq!(history.quantile(), Some(1004));
    }
}

/// Returns Q(u) by its definition: the least x of the sizes stored for which F(x) >= u.
fn exact_quantile(kept: &VecDeque<u32>, u: f64) -> u32 {
    let mut sorted: Vec<u32> = kept.iter().copied().collect();
    sorted.sort_unstable();
    let share = |at: usize| (at + 1) as f64 / sorted.len() as f64;
    // u as given in decimals, not as 53 bits round it.
    let at = (0..sorted.len()).find(|at| share(*at) >= u - 1e-12);
    sorted[at.unwrap_or(sorted.len() - 1)]
}

/// Ends `flows` flows with sizes that `size` draws, with a history of `spec` (quantile, number of
/// flows). Asserts after each that a quantile of up to 127 is exact. Returns the worst relative
/// error of a larger one; 0 if there was none.
fn play_sizes(spec: (f64, u32), flows: usize, bits: &mut Bits, size: impl Fn(&mut Bits) -> u32) -> f64 {
    let (mut history, mut kept, mut worst) = (History::new(spec.0, spec.1), VecDeque::new(), 0.0f64);
    assert_eq!(history.quantile(), None);
    for _ in 0..flows {
        let size = size(bits);
        history.flow_end(size);
        kept.push_back(size);
        if kept.len() > spec.1 as usize {
            kept.pop_front();
        }
        assert_eq!(history.flows(), kept.len());
        let (got, exact) = (history.quantile().unwrap(), exact_quantile(&kept, spec.0));
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
            let spec = (quantile, flows);
            worst = worst.max(play_sizes(spec, 700, &mut bits, |bits| bits.below(128)));
            worst = worst.max(play_sizes(spec, 700, &mut bits, |bits| bits.spread(1.0, 1e6) as u32));
            worst = worst.max(play_sizes(spec, 300, &mut bits, Bits::next));
        }
    }
    println!("worst error of a quantile beyond 127: {worst:.5}");
    assert!(worst > 0.0 && worst <= 1.0 / 128.0);
}

#[test]
fn size_history__holds_its_longest_and_forgets() {
    let most = History::most();
    assert_eq!(most, 4096);
    let mut history = History::new(0.5, most as u32);
    // Two modes far apart, by turns, so that the median crosses the empty buckets between them.
    for round in 0..6 {
        let size = if round % 2 == 0 { 3 } else { 1_000_000 };
        (0..most).for_each(|_| history.flow_end(size));
        assert_eq!(history.flows(), most);
        let got = history.quantile().unwrap();
        assert!(got.abs_diff(size) <= size / 128, "{got}");
    }
}

#[test]
fn size_history__every_bucket_is_within_its_stated_error() {
    let (mut history, mut bits, mut worst) = (History::new(1.0, 1), Bits(62), 0.0f64);
    let edges =
        (0..32).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).chain([u32::MAX.into()]);
    let any: Vec<u64> = (0..100_000).map(|_| u64::from(bits.next() >> bits.below(32))).collect();
    for size in edges.chain(0..=300).chain(any) {
        history.flow_end(size as u32);
        let error = history.quantile().unwrap().abs_diff(size as u32);
        assert!(size > 127 || error == 0, "{size}");
        worst = worst.max(f64::from(error) / (size as f64).max(1.0));
    }
    println!("worst error of a bucket: {worst:.5}");
    assert!(worst > 0.007 && worst <= 1.0 / 128.0);
}

/// LFP has the history's parameters.
#[test]
fn params__name_parameter_value_and_what_is_allowed() {
    let lfp = |name, value| parameter_error("lfp", &[(name, value)]);
    assert_eq!(lfp("u", "150"), "u: \"150\" is not allowed; allowed: percent (20 or 20%); 1e-4 to 100 %");
    assert_eq!(lfp("u", "0"), "u: \"0\" is not allowed; allowed: percent (20 or 20%); 1e-4 to 100 %");
    assert_eq!(lfp("h", "0"), "h: \"0\" is not allowed; allowed: a whole number; 1 to 4096");
    assert_eq!(lfp("h", "4097"), "h: \"4097\" is not allowed; allowed: a whole number; 1 to 4096");
    assert!(lfp("u", "NaN").starts_with("u: \"NaN\" is not allowed"));
}
