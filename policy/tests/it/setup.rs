//! Set-up functions against the same conversions in floats, and parameters that are shares of a buffer or rate.
//!
//! A set-up function reads its parameters from the struct, where lengths and probabilities are rounded to Q32. Floats
//! are therefore compared twice: with the parameters as Q32 holds them, to one unit of the field; and with the
//! parameters as they were given, to what that rounding does.

use crate::common::parts::{BucketParams, field, fixed, from_q32, inner, is_share, replace};
use crate::common::{Bits, parameter_error_at, params, params_at, specs};
use mousehole_policy::{LinkContext, Params, find};

/// Half a unit of Q32.
const HALF: f64 = 1.0 / 8589934592.0;

fn red_field(red: &[u8], name: &str) -> u64 {
    field(red, &format!("mh_red_params.{name}"))
}

/// Compares a field with a float: to one unit, or to the 53 bits that floats have.
fn assert_unit(got: u64, exact: f64, what: &str) {
    let tolerance = (exact * libm::ldexp(1.0, -51)).max(1.0);
    assert!((got as f64 - exact).abs() <= tolerance, "{what}: {got}, expected {exact}");
}

/// Returns a number as Q32 holds it.
fn rounded(value: f64) -> f64 {
    from_q32(fixed(value, 32))
}

/// Compares all fields of a RED with the conversion in floats.
fn assert_red(red: &[u8], spec: &specs::Red) {
    let two_64 = libm::ldexp(1.0, 64);
    for (name, exact) in [("min_q32", spec.min_packets), ("max_q32", spec.max_packets), ("w_q32", spec.w_q)] {
        assert_eq!(red_field(red, name), fixed(exact, 32), "{name} {spec:?}");
    }
    assert_eq!(red_field(red, "max_p_q32"), fixed(spec.max_p, 32), "{spec:?}");
    let forced = if spec.gentle { 2.0 * spec.max_packets } else { spec.max_packets };
    assert!(red_field(red, "forced_q32").abs_diff(fixed(forced, 32)) <= 1, "{spec:?}");

    let [min, max, max_p] = [spec.min_packets, spec.max_packets, spec.max_p].map(rounded);
    let (slope, gentle) = (red_field(red, "slope_q64"), red_field(red, "gentle_slope_q64"));
    assert_unit(slope, max_p / (max - min) * two_64, "slope");
    assert_unit(gentle, (1.0 - max_p) / max * two_64, "gentle slope");
    // As they were given: max_p is off by half a unit of Q32, max - min by one, max by half a unit.
    let width = spec.max_packets - spec.min_packets;
    let exact = spec.max_p / width;
    let error = (exact * (HALF / spec.max_p + 2.0 * HALF / width)) * two_64 * 1.001 + 2.0;
    assert!(
        (slope as f64 - exact * two_64).abs() <= error + exact * two_64 * libm::ldexp(1.0, -50),
        "{spec:?}"
    );
    let exact = (1.0 - spec.max_p) / spec.max_packets;
    let error = (HALF + exact * HALF) / spec.max_packets * two_64 * 1.001 + 2.0;
    assert!(
        (gentle as f64 - exact * two_64).abs() <= error + exact * two_64 * libm::ldexp(1.0, -50),
        "{spec:?}"
    );

    assert_eq!(red_field(red, "slot_q16"), (spec.mean_packet_bytes * 8e9 / spec.rate_bps * 65536.0) as u64);
    assert_eq!(red_field(red, "longest_bytes"), (1048576.0 * spec.mean_packet_bytes) as u64);
    assert_eq!(red_field(red, "per_byte_q43"), (libm::ldexp(1.0, 43) / spec.mean_packet_bytes).ceil() as u64);
    let options = [spec.wait, spec.byte_mode, spec.queue_in_bytes, spec.ecn];
    let bits: u64 = options.iter().enumerate().map(|(bit, on)| u64::from(*on) << bit).sum();
    assert_eq!(red_field(red, "options") & 15, bits, "{spec:?}");
}

#[test]
fn red__is_the_conversion_in_floats() {
    let mut bits = Bits(91);
    for _ in 0..3000 {
        let spec = specs::Red::random(&mut bits);
        assert_red(&spec.params().bytes(), &spec);
    }
    for mean_packet_bytes in [1.0, 1024.0, 65535.0] {
        let spec = specs::Red { mean_packet_bytes, ..specs::Red::default() };
        assert_red(&spec.params().bytes(), &spec);
    }
}

#[test]
fn multi_red__is_the_conversion_in_floats_for_each_colour() {
    let mut bits = Bits(92);
    for _ in 0..1000 {
        let shared = specs::Red::random(&mut bits);
        let levels = [0; 3].map(|_| {
            let specs::Red { min_packets, max_packets, max_p, .. } = specs::Red::random(&mut bits);
            specs::Red { min_packets, max_packets, max_p, ..shared }
        });
        let own = ["green", "yellow", "red"].into_iter().zip(&levels).flat_map(|(colour, level)| {
            [("min", level.min_packets), ("max", level.max_packets), ("maxp", level.max_p)]
                .map(|(name, value)| (format!("{colour}_{name}"), value.to_string()))
        });
        let own: Vec<(String, String)> = own.collect();
        let own: Vec<(&str, String)> = own.iter().map(|(name, value)| (&name[..], value.clone())).collect();
        let given = [&own[..], &shared.common()].concat();
        let bytes = specs::params_from("multi-red", &given, &shared.context()).bytes();
        for (level, name) in levels.iter().zip(["level[0]", "level[1]", "level[2]"]) {
            assert_red(&inner(&bytes, &format!("mh_multi_red_params.{name}")), level);
        }
    }
}

#[test]
fn shred__is_the_conversion_in_floats() {
    let mut bits = Bits(93);
    for _ in 0..1000 {
        let spec =
            specs::Red { max_p: bits.spread(1e-4, 2e-4), gentle: true, ..specs::Red::random(&mut bits) };
        let (floor, w_hint) = (spec.min_packets * bits.spread(0.6, 1.0), bits.spread(1e-6, 1.0));
        let own = [("floor", floor.to_string()), ("wc", w_hint.to_string())];
        let bytes = spec.params_of("shred", &own).bytes();
        assert_red(&inner(&bytes, "mh_shred_params.red"), &spec);
        assert_eq!(field(&bytes, "mh_shred_params.floor_q32"), fixed(floor, 32));
        assert_eq!(field(&bytes, "mh_shred_params.w_hint_q32"), fixed(w_hint, 32));
        let per_max = field(&bytes, "mh_shred_params.per_max_q64");
        assert_unit(per_max, libm::ldexp(1.0, 64) / rounded(spec.max_packets), "1 / max");
    }
}

/// Returns how many bits of a token's scaled units are below a rate of 1 token/s.
fn shift(burst: u32) -> u32 {
    ((1u64 << 61) / 1_000_000_000 / u64::from(burst.max(1 << 20))).ilog2()
}

#[test]
fn token_bucket__is_the_conversion_in_floats() {
    let mut bits = Bits(94);
    // 4 * 10^9 * 576460752 is the last multiple below 2^61.
    let bursts = [
        1,
        (1 << 20) - 1,
        1 << 20,
        (1 << 20) + 1,
        (1 << 21) - 1,
        1 << 21,
        576_460_752,
        576_460_753,
        999_999_999,
        1_000_000_000,
    ];
    let any: Vec<u32> = (0..2000).map(|_| bits.spread(1.0, 1e9) as u32).collect();
    for burst in bursts.into_iter().chain(any) {
        for rate in [0.0, 1.0, 1e11, bits.spread(1.0, 1e11)] {
            let params = BucketParams::new(rate, burst);
            let scale = 1_000_000_000u64 << shift(burst);
            let full = if rate == 0.0 { 0 } else { u64::from(burst) * scale };
            assert_eq!(
                params.field("rate_scaled"),
                (rate * libm::ldexp(1.0, shift(burst) as i32)).round() as u64
            );
            assert_eq!(params.field("token_scaled"), scale, "{burst}");
            assert_eq!(params.field("burst_scaled"), full, "{burst}");
            assert_eq!(params.field("most_tokens"), (1 << 62) / scale, "{burst}");
            let room = u64::from(burst.max(1 << 20)) * scale;
            assert!(((1 << 60)..1 << 61).contains(&room), "{burst}: the shift is the largest");
        }
    }
}

/// ceil(percent * burst / 100) in 128 bits, for the bursts of set-up and for any others below 2^61.
#[test]
fn token_bucket__level_at_a_percentage_is_exact() {
    let mut bits = Bits(95);
    for _ in 0..5000 {
        let usual = BucketParams::new(1.0, bits.spread(1.0, 1e9) as u32);
        let any_full = (u64::from(bits.next()) << 32 | u64::from(bits.next())) >> 3;
        let any = (u64::from(bits.below(100)) << 32) + u64::from(bits.next());
        for full in [usual.field("burst_scaled"), any_full, 1, 100] {
            let mut bytes = usual.bytes();
            replace(&mut bytes, "mh_token_bucket_params.burst_scaled", &full.to_ne_bytes());
            let params = BucketParams::from_bytes(&bytes);
            for percent_q32 in [0, 1, any, 50 << 32, (100 << 32) - 1, 100 << 32] {
                let exact = (u128::from(percent_q32) * u128::from(full)).div_ceil(100 << 32);
                assert_eq!(u128::from(params.scaled_at(percent_q32)), exact, "{percent_q32} {full}");
            }
        }
    }
}

#[test]
fn lfp__is_the_conversion_in_floats() {
    let mut bits = Bits(96);
    for _ in 0..2000 {
        let context = LinkContext {
            rate_bps: bits.spread(1e6, 1e11).round(),
            bottleneck_bps: bits.spread(1e6, 1e11).round(),
            ..LinkContext::EXAMPLE
        };
        let (omega, burst) = (bits.spread(0.1, 10.0), bits.spread(1.0, 1e9) as u32);
        let kappa = bits.uniform() * 100.0;
        let delta = (bits.uniform() * kappa.min(100.0 - kappa)).min(50.0) * 0.999;
        let (quantile, flows) = (bits.spread(0.0001, 100.0), 1 + bits.below(4096));
        let given = [
            ("omega", omega.to_string()),
            ("zeta", burst.to_string()),
            ("kappa", kappa.to_string()),
            ("delta", delta.to_string()),
            ("u", quantile.to_string()),
            ("h", flows.to_string()),
        ];
        let bytes = specs::params_from("lfp", &given, &context).bytes();
        let bucket = BucketParams::from_bytes(&inner(&bytes, "mh_lfp_params.bucket"));
        let slowest = context.rate_bps.min(context.bottleneck_bps) / 12_000.0;
        let scaled = libm::ldexp(1.0, shift(burst) as i32);
        let rate = bucket.field("rate_scaled") as f64;
        assert_unit(bucket.field("rate_scaled"), rounded(omega) * slowest * scaled, "rate");
        let error = HALF * slowest * scaled + rate * libm::ldexp(1.0, -50) + 1.0;
        assert!((rate - omega * slowest * scaled).abs() <= error, "rate as given: {rate}");

        let full = u128::from(u64::from(burst) * bucket.field("token_scaled"));
        assert_eq!(u128::from(bucket.field("burst_scaled")), full);
        let level = |percent_q32: u64| (u128::from(percent_q32) * full).div_ceil(100 << 32) as u64;
        let (kappa, delta) = (fixed(kappa, 32), fixed(delta, 32));
        assert_eq!(field(&bytes, "mh_lfp_params.open_scaled"), level(kappa + delta));
        assert_eq!(field(&bytes, "mh_lfp_params.close_scaled"), level(kappa - delta));

        let history = inner(&bytes, "mh_lfp_params.history");
        let u = quantile / 100.0 * 4294967296.0;
        assert_unit(field(&history, "mh_size_history_params.u_q32"), u.floor(), "u");
        assert_eq!(field(&history, "mh_size_history_params.length"), u64::from(flows));
    }
}

/// u is rounded down, so that ranks are right where u * n is a whole number.
#[test]
fn lfp__usual_quantiles_are_rounded_down() {
    for (percent, exact) in [("95", 0.95), ("90", 0.9), ("99.9", 0.999), ("50", 0.5), ("100", 1.0)] {
        let history = inner(&params("lfp", &[("u", percent)]).bytes(), "mh_lfp_params.history");
        let u = field(&history, "mh_size_history_params.u_q32");
        assert_eq!(u, (exact * 4294967296.0) as u64, "{percent}");
    }
}

#[test]
fn rio_ps__is_the_conversion_in_floats() {
    let mut bits = Bits(97);
    for _ in 0..2000 {
        let (ratio, period_s) = (bits.spread(1.0 / 65536.0, 65535.0), bits.spread(1e-3, 1e4));
        let given = [("slr", ratio.to_string()), ("t_c", format!("{period_s}s"))];
        let bytes = specs::params_from("rio-ps", &given, &LinkContext::EXAMPLE).bytes();
        assert_eq!(field(&bytes, "mh_rio_ps_params.ratio_q16"), (ratio * 65536.0).round() as u64);
        assert_eq!(field(&bytes, "mh_rio_ps_params.period_ns"), (period_s * 1e9).round() as u64);
    }
}

/// A program in C need not clear the fields that set-up computes.
#[test]
fn sfd__colours_are_set_whatever_the_fields_held() {
    let usual = params("sfd", &[]);
    let mut bytes = usual.bytes();
    for name in ["mh_sfd_params.marker.within", "mh_sfd_params.marker.beyond"] {
        replace(&mut bytes, name, &7u32.to_ne_bytes());
    }
    let mut completed = usual.with_bytes(&bytes);
    completed.set_number("k", 4.0).unwrap();
    assert_eq!(completed.bytes(), usual.bytes());
}

fn in_packets(packets: u64) -> LinkContext {
    LinkContext { buffer_packets: packets, buffer_bytes: 0, ..LinkContext::EXAMPLE }
}

fn in_bytes(bytes: u64) -> LinkContext {
    LinkContext { buffer_packets: 0, buffer_bytes: bytes, ..LinkContext::EXAMPLE }
}

fn thresholds(params: &Params) -> [f64; 2] {
    ["min", "max"].map(|name| params.number(name))
}

#[test]
fn shares__of_a_buffer_in_packets_are_packets() {
    let red =
        |packets| thresholds(&params_at("red", &[("min", "15%"), ("max", "50%")], &in_packets(packets)));
    assert_eq!(red(100), [15.0, 50.0]);
    assert_eq!(red(50), [7.5, 25.0]);
    // The mean packet does not matter here.
    let given = [("min", "20%"), ("max", "40%"), ("mean", "250B")];
    assert_eq!(thresholds(&params_at("red", &given, &in_packets(50))), [10.0, 20.0]);
}

#[test]
fn shares__of_a_buffer_in_bytes_are_mean_packets() {
    let given = [("min", "25%"), ("max", "75%"), ("mean", "1000B")];
    assert_eq!(thresholds(&params_at("red", &given, &in_bytes(64_000))), [16.0, 48.0]);
    let given = [("min", "25%"), ("max", "75%"), ("mean", "500B")];
    assert_eq!(thresholds(&params_at("red", &given, &in_bytes(64_000))), [32.0, 96.0]);
}

#[test]
fn shares__of_whole_packets_are_rounded() {
    let guard = |share| params_at("red", &[("guard", share)], &in_packets(50)).number("guard");
    assert_eq!(["0%", "4%", "4.9%", "5.1%", "7%"].map(guard), [0.0, 2.0, 2.0, 3.0, 4.0]);
}

#[test]
fn shares__of_each_colour_follow_the_buffer() {
    for (context, green_min, red_max) in [(in_packets(200), 140.0, 80.0), (in_bytes(10_000), 7.0, 4.0)] {
        let params = params_at("multi-red", &[], &context);
        assert_eq!([params.number("green_min"), params.number("red_max")], [green_min, red_max]);
    }
}

/// The weight of an average over a second's packets, on slow links and fast ones, and within its range.
#[test]
fn red__sets_its_weight_by_the_rate() {
    let weight = |rate_bps, mean| {
        let context = LinkContext { rate_bps, ..LinkContext::EXAMPLE };
        params_at("red", &[("wq", "0"), ("mean", mean)], &context).number("wq")
    };
    for (rate_bps, mean, bytes) in
        [(10e6, "1500B", 1500.0), (64e3, "1000B", 1000.0), (1e9, "500B", 500.0), (8e3, "1500B", 1500.0)]
    {
        let exact = -libm::expm1(-1.0f64 / (rate_bps / 8.0 / bytes));
        let got = weight(rate_bps, mean);
        assert!((got - exact).abs() < 2e-9, "{rate_bps} bit/s: {got}, expected {exact}");
    }
    assert_eq!((weight(1e3, "65535B"), weight(1e12, "40B")), (1.0, rounded(1e-6)));
    assert_eq!(params("red", &[]).number("wq"), weight(10e6, "1500B"), "the default");
}

/// A buffer too small for two shares keeps the line one packet wide.
#[test]
fn shares__of_a_small_buffer_stay_one_packet_apart() {
    let given = [("min", "40%"), ("max", "60%")];
    assert_eq!(thresholds(&params_at("red", &given, &in_packets(4))), [rounded(1.6), rounded(1.6) + 1.0]);
    assert_eq!(thresholds(&params_at("red", &[("min", "8"), ("max", "10%")], &in_packets(50))), [8.0, 9.0]);
    assert_eq!(
        thresholds(&params_at("red", &[("min", "90%"), ("max", "24")], &in_packets(50))),
        [45.0, 46.0]
    );
    // Packets that were given are not moved.
    assert_eq!(
        parameter_error_at("red", &[("min", "8"), ("max", "8.5")], &in_packets(50)),
        "max: its value is not allowed here; allowed: at least one packet more than min"
    );
}

#[test]
fn shares__that_fit_no_link_are_refused() {
    for context in [in_packets(50), in_bytes(64_000)] {
        assert_eq!(
            parameter_error_at("red", &[("min", "60%"), ("max", "40%")], &context),
            "max: its value is not allowed here; allowed: more than min"
        );
    }
    assert!(
        parameter_error_at("red", &[("max", "1001%")], &LinkContext::EXAMPLE)
            .starts_with("max: \"1001%\" is not allowed")
    );
    assert!(
        parameter_error_at("red", &[("max", "100%")], &in_packets(2_000_000))
            .starts_with("max: \"2000000\" is not")
    );
    assert!(
        parameter_error_at("policer", &[("high_rate", "0%")], &LinkContext::EXAMPLE)
            .starts_with("high_rate: \"0%\"")
    );
}

#[test]
fn shares__of_a_rate_are_of_the_bottlenecks() {
    let context = LinkContext { rate_bps: 1e9, bottleneck_bps: 2e6, ..LinkContext::EXAMPLE };
    let policer = params_at("policer", &[("high_rate", "5%"), ("med_rate", "12.5%")], &context);
    assert_eq!(["high_rate", "med_rate"].map(|name| policer.number(name)), [100e3, 250e3]);
}

#[test]
fn set_number__completes_the_struct_anew_or_changes_nothing() {
    let given = |max_p| params("red", &[("min", "8"), ("max", "24"), ("maxp", max_p)]);
    let mut red = given("0.1");
    red.set_number("maxp", 0.05).unwrap();
    assert_eq!(red.bytes(), given("0.05").bytes());
    let before = red.bytes();
    assert_eq!(red.set_number("maxp", 1.5).unwrap_err().parameter, "maxp");
    assert_eq!(red.set_number("max", 8.5).unwrap_err().parameter, "max");
    assert_eq!(red.bytes(), before);
}

/// Each name has a bit of its own, also where it begins or ends as another does; one that is not there has none.
#[test]
fn is_share__reads_the_bit_of_the_parameter() {
    for (bit, name) in [c"min", c"max", c"mi", c"xin"].into_iter().enumerate() {
        assert!(is_share(name, 1 << bit), "{name:?}");
        assert!(!is_share(name, !(1 << bit)), "{name:?}");
    }
    for name in [c"beyond", c"m", c"", c"minimum"] {
        assert!(!is_share(name, u64::MAX), "{name:?}");
    }
}

/// A number takes the place of a share; the other shares stay.
#[test]
fn set_number__is_no_share() {
    let mut red = params_at("red", &[("min", "10%"), ("max", "50%")], &in_packets(100));
    assert_eq!(red.shares(), 0b11);
    red.set_number("max", 60.0).unwrap();
    assert_eq!((red.shares(), thresholds(&red)), (0b01, [10.0, 60.0]));
}

/// A threshold in packets becomes one in bytes: its count and its unit are overwritten, bit by bit.
#[test]
fn set_number__leaves_nothing_of_the_old_value() {
    let mut sfd = params("sfd", &[("th", "65535p")]);
    sfd.set_number("th", 15_000.0).unwrap();
    assert_eq!(sfd.bytes(), params("sfd", &[("th", "15kB")]).bytes());
}

#[test]
fn set_number__turns_flags_on_and_off() {
    let mut red = params("red", &[]);
    for on in [1.0, 0.0, 2.0] {
        red.set_number("wait", on).unwrap();
        assert_eq!(red.number("wait"), f64::from(on != 0.0), "{on}");
        assert_eq!(red.number("ecn"), 0.0, "another flag in the same field");
    }
}

#[test]
fn part__is_the_policy_at_an_offset() {
    let (red, multi) = (find("red").unwrap(), params("multi-red", &[("wq", "0.5")]));
    let stride = red.sizes().0;
    for (level, colour) in ["green", "yellow", "red"].into_iter().enumerate() {
        let part = multi.part(red, level * stride);
        let names = ["min", "max", "maxp"].map(|name| (name, format!("{colour}_{name}")));
        for (own, of_colour) in names {
            assert_eq!(part.number(own), multi.number(&of_colour), "{of_colour}");
        }
        assert_eq!((part.number("wq"), part.shares(), part.context()), (0.5, 0, multi.context()));
    }
}

#[test]
#[should_panic(expected = "is no part")]
fn part__beyond_the_struct_is_refused() {
    let multi = params("multi-red", &[]);
    multi.part(find("red").unwrap(), multi.bytes().len().next_multiple_of(8));
}

#[test]
#[should_panic(expected = "is no part")]
fn part__between_words_is_refused() {
    params("multi-red", &[]).part(find("red").unwrap(), 4);
}

#[test]
fn with_bytes__has_these_bytes() {
    let sfd = params("sfd", &[]);
    let mut bytes = sfd.bytes();
    replace(&mut bytes, "mh_sfd_params.marker.beyond", &2u32.to_ne_bytes());
    assert_ne!(bytes, sfd.bytes());
    assert_eq!(sfd.with_bytes(&bytes).bytes(), bytes);
}

/// Every parameter reads back what was written, in its natural unit.
#[test]
fn number__reads_back_what_was_given() {
    for (policy, name, text, number) in [
        ("sfd", "th", "15kB", 15_000.0),
        ("sfd", "th", "7p", 7.0),
        ("sfd", "timeout", "250ms", 0.25),
        ("sfd", "promotion", "one-of-k", 2.0),
        ("sfd", "syn", "false", 0.0),
        ("red", "unit", "bytes", 1.0),
        ("red", "wait", "true", 1.0),
        ("lfp", "u", "75%", 75.0),
        ("rio-ps", "slr", "2.5", 2.5),
        ("policer", "police", "none", 0.0),
        ("policer", "police", "drop", 3.0),
        ("demotion", "second", "2MiB", 2097152.0),
        ("multi-red", "ecn", "true", 1.0),
    ] {
        assert_eq!(params(policy, &[(name, text)]).number(name), number, "{policy}({name}={text})");
    }
}

/// A value that is written to several lines is in all of them.
#[test]
fn repeated_fields__are_written_to_every_line() {
    let policy = find("multi-red").unwrap();
    let bytes =
        Params::from_text(policy, &[("wq", "0.5"), ("ecn", "true"), ("gentle", "true")], &in_packets(100))
            .unwrap();
    for name in ["level[0]", "level[1]", "level[2]"] {
        let red = inner(&bytes.bytes(), &format!("mh_multi_red_params.{name}"));
        assert_eq!(red_field(&red, "w_q32"), 1 << 31, "{name}");
        assert_eq!(red_field(&red, "options"), 8, "{name}");
        assert_eq!(red_field(&red, "forced_q32"), 2 * red_field(&red, "max_q32"), "{name}");
    }
}
