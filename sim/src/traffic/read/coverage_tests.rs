#![allow(non_snake_case)]
use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

#[test]
fn add__counts_retransmissions_once() {
    let mut seen = Coverage::default();
    seen.begin(1000);
    assert_eq!(seen.add(1000, 100), Added { bytes: 100, in_front: true });
    assert_eq!(seen.add(1000, 100), Added { bytes: 0, in_front: false });
    assert_eq!(seen.add(1050, 100), Added { bytes: 50, in_front: false });
}

#[test]
fn add__fills_holes() {
    let mut seen = Coverage::default();
    seen.add(0, 10);
    assert_eq!(seen.add(30, 10), Added { bytes: 10, in_front: true });
    assert_eq!(seen.add(0, 40), Added { bytes: 20, in_front: false });
    assert_eq!(seen.spans.len(), 1);
}

#[test]
fn add__wraps_at_32_bits() {
    let mut seen = Coverage::default();
    seen.begin(u32::MAX - 49);
    assert_eq!(seen.add(u32::MAX - 49, 100).bytes, 100);
    assert_eq!(seen.add(50, 10), Added { bytes: 10, in_front: true });
    assert_eq!(seen.add(u32::MAX - 49, 110).bytes, 0);
}

#[test]
fn add__ignores_what_precedes_the_stream() {
    let mut seen = Coverage::default();
    seen.begin(1000);
    assert_eq!(seen.add(999, 1).bytes, 0);
    let mut joined_late = Coverage::default();
    joined_late.add(1000, 10);
    assert_eq!(joined_late.add(990, 10), Added { bytes: 10, in_front: false });
}

#[test]
fn add__bounds_the_number_of_gaps() {
    let mut seen = Coverage::default();
    let total: u64 = (0..20_000u32).map(|k| seen.add(k * 20, 10).bytes).sum();
    assert_eq!(total, 200_000);
    assert!(seen.spans.len() <= MAX_SPANS + 1);
}

proptest! {
    #[test]
    fn add__agrees_with_a_set_of_bytes(base: u32, segments in prop::collection::vec((0u32..500, 1u32..60), 1..60)) {
        let mut seen = Coverage::default();
        seen.begin(base);
        let mut bytes = HashSet::new();
        for (offset, len) in segments {
            let fresh = (offset..offset + len).filter(|byte| bytes.insert(*byte)).count() as u64;
            prop_assert_eq!(seen.add(base.wrapping_add(offset), len).bytes, fresh);
        }
    }
}
