//! Compares CoDel's control law with wider arithmetic and with the RFC's formula in floats.
use crate::common::parts::codel_gap_ns;
use crate::common::{Bits, params};
use mousehole_policy::Params;

/// Returns the parameter `shift` of the law, at bytes 16 to 19: the bits of the interval that gaps leave out.
fn shift(params: &Params) -> u32 {
    u32::from_ne_bytes(params.bytes()[16..20].try_into().unwrap())
}

/// Returns FQ-CoDel's parameters with this interval.
fn params_with_interval(interval: &str) -> Params {
    params("fq-codel", &[("interval", interval)])
}

#[test]
fn gap__is_the_integer_part_up_to_an_interval_of_31_bits() {
    let mut bits = Bits(1);
    let most = (1u64 << 31) - 1;
    for index in 0..200_000u64 {
        let (interval, count) = (u64::from(bits.next()) % most + 1, bits.next() >> (index % 32));
        let (interval, count) = if index % 100 == 0 { (most, count) } else { (interval, count) };
        let gap = u128::from(codel_gap_ns(interval, 0, count));
        let (square, count) = (u128::from(interval).pow(2), u128::from(count.max(1)));
        assert!(
            gap * gap * count <= square && square < (gap + 1).pow(2) * count,
            "{interval} / sqrt({count})"
        );
    }
}

/// RFC 8289 section 5.6.
#[test]
fn gap__equals_the_rfcs_formula_in_floats() {
    for interval in [1u64, 7_000_000, 20_000_000, 100_000_000, 200_000_000, 600_000_000, 2_000_000_000] {
        for count in 1..300_000u32 {
            let float = (interval as f64 / f64::from(count).sqrt()) as u64;
            assert_eq!(codel_gap_ns(interval, 0, count), float, "{interval} / sqrt({count})");
        }
    }
}

#[test]
fn gap__of_long_intervals_is_within_its_stated_error() {
    for (interval, ns) in
        [("2.2s", 2_200_000_000u64), ("1h", 3_600_000_000_000), ("1000000000s", 1_000_000_000_000_000_000)]
    {
        let params = params_with_interval(interval);
        assert!(ns >> shift(&params) < 1 << 31 && ns >> shift(&params) >= 1 << 30, "{interval}");
        for count in [1, 2, 3, 10, 1000] {
            let (gap, exact) =
                (codel_gap_ns(ns, shift(&params), count) as f64, ns as f64 / f64::from(count).sqrt());
            assert!(
                (exact - gap) / ns as f64 <= libm::exp2(-30.0) && gap <= exact,
                "{interval}, {count}: {gap}, {exact}"
            );
        }
    }
    assert_eq!(
        ["1ns", "100ms", "2.147483647s", "2.147483648s"].map(|one| shift(&params_with_interval(one))),
        [0, 0, 0, 1]
    );
}
