//! The mirrored structs have the size and offsets that the C compiler gives them, and the helpers of
//! `base.h` are exact.
#![allow(non_snake_case)]

use crate::{
    Backlog, ColourBacklog, View, ffi, flow_meter, multi_red, promotion, red, sfd, threshold_marker,
};
use crate::{aggregate_marker, lfp, policer, size_history, token_bucket};
use crate::{demotion, rio_ps, shred, shred_edge, window_marker};
use std::ffi::{CStr, c_char};
use std::mem::{offset_of, size_of};

#[repr(C)]
struct Entry {
    name: *const c_char,
    value: u64,
}

unsafe extern "C" {
    /// Ends with a null name.
    static mh_shim_layout: [Entry; 0];
}

fn in_c() -> Vec<(String, u64)> {
    let first = (&raw const mh_shim_layout).cast::<Entry>();
    let mut entries = Vec::new();
    for index in 0.. {
        // SAFETY: the array is constant and ends with a null name, at which the loop stops.
        let entry = unsafe { &*first.add(index) };
        if entry.name.is_null() {
            break;
        }
        // SAFETY: names are string literals.
        let name = unsafe { CStr::from_ptr(entry.name) };
        entries.push((name.to_str().unwrap().to_string(), entry.value));
    }
    entries
}

macro_rules! mirror {
    ($list:ident, $c:literal, $rust:ty, $($field:ident),+) => {
        $list.push(($c.to_string(), size_of::<$rust>() as u64));
        $($list.push((format!("{}.{}", $c, stringify!($field)), offset_of!($rust, $field) as u64));)+
    };
}

fn in_rust() -> Vec<(String, u64)> {
    let mut list = Vec::new();
    mirror!(list, "mh_view", View, ip_bytes, segments, window_hint, colour, flags, reserved, sequence);
    mirror!(list, "mh_backlog", Backlog, bytes, idle_since_ns, packets, reserved);
    mirror!(list, "mh_colour_backlog", ColourBacklog, bytes, packets, reserved);
    mirror!(
        list,
        "mh_red_params",
        red::Params,
        min_q32,
        max_q32,
        forced_q32,
        w_q32,
        max_p_q32,
        slope_q64,
        gentle_slope_q64,
        slot_q16,
        longest_bytes,
        per_byte_q43,
        options,
        spare_below_packets
    );
    mirror!(list, "mh_red_state", red::State, avg_q32, idle_from_ns, since_drop_q24, above_min, reserved);
    mirror!(list, "mh_multi_red_params", multi_red::Params, level, colours, mode);
    mirror!(list, "mh_multi_red_state", multi_red::State, level);
    mirror!(list, "mh_flow_meter_params", flow_meter::Params, timeout_ns, syn_restarts, reserved);
    mirror!(list, "mh_flow_meter", flow_meter::Meter, last_seen_ns, bytes, packets);
    mirror!(list, "mh_threshold_marker_params", threshold_marker::Params, threshold, unit, within, beyond);
    mirror!(list, "mh_promotion_params", promotion::Params, kind, every);
    mirror!(list, "mh_promotion", promotion::State, out_count);
    mirror!(list, "mh_sfd_params", sfd::Params, meter, marker, promotion);
    mirror!(list, "mh_sfd_flow", sfd::Flow, meter, promotion, reserved);
    mirror!(
        list,
        "mh_token_bucket_params",
        token_bucket::Params,
        rate_grains,
        burst_grains,
        token_grains,
        most_tokens
    );
    mirror!(list, "mh_token_bucket", token_bucket::State, missing_grains, last_ns);
    mirror!(list, "mh_policer_params", policer::Params, bucket, action, reserved);
    mirror!(list, "mh_policer", policer::State, bucket);
    mirror!(list, "mh_aggregate_marker_params", aggregate_marker::Params, bucket);
    mirror!(list, "mh_aggregate_marker", aggregate_marker::State, bucket);
    mirror!(list, "mh_size_history_params", size_history::Params, u_q32, length, reserved);
    mirror!(
        list,
        "mh_size_history",
        size_history::State,
        count,
        next,
        quantile,
        reserved,
        ring,
        bucket,
        group
    );
    mirror!(
        list,
        "mh_lfp_params",
        lfp::Params,
        meter,
        bucket,
        history,
        open_grains,
        close_grains,
        threshold,
        memoryless
    );
    mirror!(list, "mh_lfp_flow", lfp::Flow, meter, elephant, reserved);
    mirror!(list, "mh_lfp_state", lfp::State, bucket, open, reserved, history);
    mirror!(list, "mh_rio_ps_params", rio_ps::Params, meter, period_ns, ratio_q16, initial, floor, cap);
    mirror!(list, "mh_rio_ps_state", rio_ps::State, next_ns, threshold, reserved);
    mirror!(list, "mh_rio_ps_counts", rio_ps::Counts, short_flows, long_flows);
    mirror!(list, "mh_shred_params", shred::Params, red, floor_q32, per_max_q64, w_hint_q32);
    mirror!(list, "mh_shred_state", shred::State, red, hint_avg_q32);
    mirror!(list, "mh_shred_edge_params", shred_edge::Params, packet, reserved);
    mirror!(list, "mh_shred_edge", shred_edge::Flow, acknowledged, known);
    mirror!(list, "mh_window_marker_params", window_marker::Params, high, medium, randomised, reserved);
    mirror!(list, "mh_demotion_params", demotion::Params, meter, first, second);
    list
}

#[test]
fn layout__is_the_c_compilers() {
    assert_eq!(in_rust(), in_c());
}

/// 64-bit values with all bit lengths, the same on every run.
fn samples() -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    (0..4000).map(move |index| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 29) >> (index % 64)
    })
}

fn rounded(product: u128, bits: u32) -> u64 {
    u64::try_from((product + (1 << (bits - 1))) >> bits).unwrap()
}

#[test]
fn mul_q64__rounds_the_128_bit_product() {
    let all: Vec<u64> = samples().chain([0, 1, u64::MAX, u64::MAX - 1, 1 << 63]).collect();
    for (a, f) in all.iter().zip(all.iter().rev()) {
        // SAFETY: pure arithmetic on values.
        let got = unsafe { ffi::mh_shim_mul_q64(*a, *f) };
        assert_eq!(got, rounded(u128::from(*a) * u128::from(*f), 64), "{a} * {f}");
    }
}

#[test]
fn mul_q32__rounds_the_128_bit_product_up_to_a_factor_of_one() {
    for (a, f) in samples().zip(samples().skip(7).map(|f| f >> 31).chain([1 << 32])) {
        let f = f.min(1 << 32);
        // SAFETY: pure arithmetic on values.
        let got = unsafe { ffi::mh_shim_mul_q32(a, f) };
        assert_eq!(got, rounded(u128::from(a) * u128::from(f), 32), "{a} * {f}");
    }
    // SAFETY: pure arithmetic on values.
    assert_eq!(unsafe { ffi::mh_shim_mul_q32(u64::MAX, 1 << 32) }, u64::MAX);
}

#[test]
fn pow_q64__is_within_its_stated_error() {
    let one = 2f64.powi(64);
    for w in [1e-6, 1e-4, 0.002, 0.02, 0.5, 0.999] {
        let base = ((1.0 - w) * one) as u64;
        for exponent in [0u64, 1, 2, 3, 14, 1000, 65_535, 1 << 20, (1 << 26) - 1] {
            // SAFETY: pure arithmetic on values.
            let got = unsafe { ffi::mh_shim_pow_q64(base, exponent) } as f64 / one;
            let exact = (exponent as f64 * (base as f64 / one).ln()).exp();
            let bound = exact * (exponent as f64 * 2f64.powi(-52) + 1e-12) + 1e-18;
            assert!((got - exact).abs() <= bound, "{w} {exponent}: {got} {exact}");
        }
    }
}
