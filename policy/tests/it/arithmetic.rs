//! The helpers of `base.h` and `policy.h` against wider arithmetic.

use crate::common::parts::{c_fixed, fixed, mul_q32, mul_q64, pow_q64};

/// Returns 4000 values of up to 64 bits, of every bit length, the same on every run.
fn samples() -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    (0..4000).map(move |index| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 29) >> (index % 64)
    })
}

/// Returns a product without its last `bits` bits, rounded to the nearest.
fn round_product(product: u128, bits: u32) -> u64 {
    u64::try_from((product + (1 << (bits - 1))) >> bits).unwrap()
}

#[test]
fn mul_q64__rounds_the_128_bit_product() {
    let all: Vec<u64> = samples().chain([0, 1, u64::MAX, u64::MAX - 1, 1 << 63]).collect();
    for (a, f) in all.iter().zip(all.iter().rev()) {
        assert_eq!(mul_q64(*a, *f), round_product(u128::from(*a) * u128::from(*f), 64), "{a} * {f}");
    }
    // The product is 0x7fffffff.80000000_00000001: the halves' last bits carry into the bit that rounds.
    assert_eq!(mul_q64(0x1_0000_0001, 0x7fff_ffff_0000_0001), 0x8000_0000);
}

#[test]
fn mul_q32__rounds_the_128_bit_product_up_to_a_factor_of_one() {
    for (a, f) in samples().zip(samples().skip(7).map(|f| f >> 31).chain([1 << 32])) {
        let f = f.min(1 << 32);
        assert_eq!(mul_q32(a, f), round_product(u128::from(a) * u128::from(f), 32), "{a} * {f}");
    }
    assert_eq!(mul_q32(u64::MAX, 1 << 32), u64::MAX);
}

#[test]
fn pow_q64__is_within_its_stated_error() {
    let one = libm::ldexp(1.0, 64);
    assert_eq!(pow_q64(1 << 63, 0), u64::MAX, "the nearest to 1 that Q64 holds");
    for w in [1e-6, 1e-4, 0.002, 0.02, 0.5, 0.999] {
        let base = ((1.0 - w) * one) as u64;
        for exponent in [0u64, 1, 2, 3, 14, 1000, 65_535, 1 << 20, (1 << 26) - 1] {
            let got = pow_q64(base, exponent) as f64 / one;
            let exact = libm::exp(exponent as f64 * libm::log(base as f64 / one));
            let bound = exact * (exponent as f64 * libm::ldexp(1.0, -52) + 1e-12) + 1e-18;
            assert!((got - exact).abs() <= bound, "{w} {exponent}: {got} {exact}");
        }
    }
}

/// C's rounding of set-up functions and Rust's of parameters are the same, also at halves and at both ends.
#[test]
fn fixed__rounds_in_c_as_in_rust() {
    for value in samples() {
        for bits in [0, 16, 32, 43, 64] {
            for scale in [-64, -40, -33, -32, -1, 0] {
                let value = value as f64 * libm::ldexp(1.0, scale);
                assert_eq!(c_fixed(value, bits), fixed(value, bits as i32), "{value} {bits}");
            }
        }
    }
    for (value, bits) in
        [(0.5, 0), (1.5, 0), (2.5, 0), (0.0, 64), (1.0, 64), (1e300, 32), (0.49999999999999994, 0)]
    {
        assert_eq!(c_fixed(value, bits), fixed(value, bits as i32), "{value} {bits}");
    }
}
