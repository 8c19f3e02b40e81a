//! What the papers' formulae say must hold exactly, or on average with a stated sampling error.
use crate::common::link::Link;
use crate::common::parts::Meter;
use crate::common::specs::{self, Mode};
use crate::common::{Bits, Dropper, Marker, parameter_error, parameter_error_at, params, params_at};
use mousehole_policy::{Backlog, Colour, LinkContext, NEVER, Verdict, View};

const NONE: &[(&str, &str)] = &[("promotion", "none")];
const PROBABILISTIC: &[(&str, &str)] = &[("promotion", "probabilistic")];

/// Green bytes of a flow of `packets` packets of `size` bytes.
fn green_bytes(promotion: &[(&str, &str)], packets: u32, size: u32, bits: &mut Bits) -> u64 {
    let mut sfd = Marker::new(params("sfd", promotion));
    let mut flow = sfd.new_flow();
    (0..packets)
        .filter(|index| {
            let now_ns = u64::from(*index) * 1000;
            sfd.packet(&mut flow, &View::new(size), now_ns, bits.next()) == Colour::Green
        })
        .count() as u64
        * u64::from(size)
}

/// Mean over flows of th (1 + ln(x / th)), small packets standing for the integral.
#[test]
fn p_sfd__promotes_the_integral() {
    let mut bits = Bits(21);
    let (flows, size) = (200u32, 10);
    for times in [2.0, 5.0, 20.0, 100.0f64] {
        let packets = (15_000.0 * times) as u32 / size;
        let total: u64 = (0..flows).map(|_| green_bytes(PROBABILISTIC, packets, size, &mut bits)).sum();
        let mean = total as f64 / f64::from(flows);
        let expected = 15_000.0 * (1.0 + libm::log(times));
        // Promoted packets are near Poisson: variance of a flow's bytes below size * th * ln r.
        let deviation = (f64::from(size) * 15_000.0 * libm::log(times) / f64::from(flows)).sqrt();
        assert!((mean - expected).abs() < 4.0 * deviation + 10.0, "r = {times}: {mean}, expected {expected}");
    }
}

#[test]
fn s_sfd__promotes_one_of_k_exactly() {
    let mut bits = Bits(22);
    for k in [1, 2, 4, 10] {
        for packets in [15, 16, 19, 55, 1015] {
            let k_text = k.to_string();
            let one_of_k = [("promotion", "one-of-k"), ("k", &k_text)];
            let got = green_bytes(&one_of_k, packets, 1000, &mut bits);
            assert_eq!(got, u64::from(15 + (packets - 15) / k) * 1000, "K = {k}, {packets} packets");
        }
    }
}

#[test]
fn s_sfd__k_of_one_is_all_in() {
    assert_eq!(green_bytes(&[("promotion", "one-of-k"), ("k", "1")], 5000, 1500, &mut Bits(1)), 5000 * 1500);
}

/// 1 + ln r = 1 + (r - 1) / 4 at r = 10.35: P-SFD promotes more before, S-SFD after.
#[test]
fn promotion__p_sfd_and_s_sfd_cross_at_ten_thresholds() {
    let mut bits = Bits(23);
    let mut lead = |times: f64| {
        let packets = (15_000.0 * times) as u32 / 10;
        let mut mean = |promotion: &[(&str, &str)]| {
            (0..200).map(|_| green_bytes(promotion, packets, 10, &mut bits) as f64).sum::<f64>() / 200.0
        };
        mean(PROBABILISTIC) - mean(&[("promotion", "one-of-k"), ("k", "4")])
    };
    assert!(lead(9.85) > 0.0 && lead(10.85) < 0.0);
}

#[test]
fn promotion__none_leaves_the_threshold() {
    assert_eq!(green_bytes(NONE, 1000, 1000, &mut Bits(1)), 15_000);
}

#[test]
fn flow_meter__idle_must_exceed_the_timeout() {
    let mut meter = Meter::new(1_000_000_000, true);
    assert!(meter.packet(&View::new(500), 5));
    assert!(!meter.expired(1_000_000_005));
    assert!(meter.expired(1_000_000_006));
    assert!(!meter.packet(&View::new(500), 1_000_000_005));
    assert_eq!(meter.counts(), (1000, 2));
}

/// SFD section 3.2: bytes "having been sent by each flow so far", so what is sent again counts again; and what is sent
/// on the way back of data counts as what it is, a packet.
#[test]
fn flow_meter__counts_packets_with_and_without_payload() {
    let mut meter = Meter::new(1_000_000_000, true);
    let kinds = [0, View::RETRANSMISSION, View::IN_RECOVERY, View::ACK, View::REVERSE, View::ECT];
    for (number, flags) in (1..).zip(kinds) {
        meter.packet(&View::new(1000).with_flags(flags), number);
        assert_eq!(meter.counts(), (number as u32 * 1000, number as u32), "flags {flags}");
    }
}

#[test]
fn flow_meter__survives_a_clock_that_runs_back() {
    let mut meter = Meter::new(10, true);
    meter.packet(&View::new(1), 1000);
    assert!(!meter.packet(&View::new(1), 500));
    assert!(!meter.packet(&View::new(1), 1010));
}

#[test]
fn flow_meter__counters_stop_at_their_end() {
    let mut meter = Meter::new(1_000_000_000, true);
    for _ in 0..3 {
        meter.packet(&View::new(2_000_000_000).with_segments(u16::MAX), 7);
    }
    assert_eq!(meter.counts(), (u32::MAX, 3 * 65535));
}

#[test]
fn threshold_marker__judges_a_super_packet_as_a_whole() {
    let mut sfd = Marker::new(params("sfd", &[("th", "10p")]));
    let mut flow = sfd.new_flow();
    let mut colour = |segments| sfd.packet(&mut flow, &View::new(9000).with_segments(segments), 0, 0);
    assert_eq!([colour(6), colour(4), colour(1)], [Colour::Green, Colour::Green, Colour::Yellow]);
}

fn sfd_level(max_p: f64) -> specs::Red {
    let thresholds = specs::Red { min_packets: 8.0, max_packets: 24.0, max_p, ..specs::Red::default() };
    specs::Red { w_q: 0.02, rate_bps: 3e6, ..thresholds }
}

struct Pair {
    single: [u32; 4],
    multi: [u32; 4],
    differing: u32,
}

/// Offers one arrival sequence to a multi-RED of equal levels; a single RED judges the same backlog.
fn race(mode: Mode, spec: specs::Red, pick: fn(&mut Bits) -> Colour) -> Pair {
    let mut multi = Dropper::new(specs::multi_red(mode, &[spec; 3]));
    let mut single = Dropper::new(spec.params());
    let (mut link, mut bits, mut now_ns, mut emptied_ns) = (Link::new(spec.rate_bps), Bits(31), 0, 0);
    let mut pair = Pair { single: [0; 4], multi: [0; 4], differing: 0 };
    for _ in 0..60_000 {
        now_ns += (-libm::log(bits.uniform().max(1e-9)) * 8e12 / spec.rate_bps / 1.1) as u64;
        let colour = pick(&mut bits);
        for left in link.advance(now_ns) {
            emptied_ns = left.at_ns;
            multi.departed(left.colour, &left.after, left.at_ns);
        }
        let Backlog { packets, bytes, .. } = link.backlog;
        let (view, random) = (View::new(1000).with_colour(colour), bits.next());
        let whole = Backlog::new(packets, bytes, if packets == 0 { emptied_ns } else { NEVER });
        let a = single.packet(&view, &whole, now_ns, random);
        let b = multi.packet(&view, &link.backlog, now_ns, random);
        let average = multi.reading(&format!("{}_average_packets", colour.name()));
        assert_eq!(single.reading("average_packets"), average);
        pair.single[a as usize] += 1;
        pair.multi[b as usize] += 1;
        pair.differing += u32::from(a != b);
        if !b.drops() {
            for left in link.enqueue(colour, 1000, now_ns) {
                emptied_ns = left.at_ns;
                multi.departed(left.colour, &left.after, left.at_ns);
            }
        }
    }
    pair
}

#[test]
fn multi_red__of_one_colour_is_a_single_red() {
    for mode in Mode::ALL {
        for pick in [|_: &mut Bits| Colour::Green, |_: &mut Bits| Colour::Yellow, |_: &mut Bits| Colour::Red]
        {
            let pair = race(mode, sfd_level(0.1), pick);
            assert_eq!(pair.differing, 0, "{mode:?}");
            assert!(pair.single[Verdict::Early as usize] > 500 && pair.single[Verdict::Pass as usize] > 500);
        }
    }
}

/// Mixed colours: the averages are equal (asserted in `race`), and so is the share of drops; which packet is
/// hit differs, because spacing counts per colour.
#[test]
fn multi_red__total_with_equal_levels_drops_like_a_single_red() {
    let pair = race(Mode::Total, sfd_level(0.1), |bits| Colour::ALL[bits.below(3) as usize]);
    let [single, multi] = [pair.single, pair.multi].map(|counts| f64::from(counts[2] + counts[3]));
    assert!(single > 1000.0 && (single - multi).abs() < 4.0 * single.sqrt(), "{single} {multi}");
}

/// Decoupled: yellow does not see what green fills the queue with; coupled: it does.
#[test]
fn multi_red__decoupled_yellow_is_blind_to_green() {
    let verdict = |mode| {
        let mut red = Dropper::new(specs::multi_red(mode, &[specs::Red { w_q: 1.0, ..sfd_level(0.1) }; 2]));
        let mut backlog = Backlog::default();
        (0..30).for_each(|_| backlog.add(Colour::Green, 1000));
        let view = View::new(1000).with_colour(Colour::Yellow);
        red.packet(&view, &backlog, 0, 0)
    };
    assert_eq!(verdict(Mode::Decoupled), Verdict::Pass);
    assert_eq!(verdict(Mode::Coupled), Verdict::Forced);
}

/// Gaps between drops at p_b = 0.05: uniform on 1 .. 19 without wait, on 20 .. 39 with it.
#[test]
fn red__spacing_has_the_papers_gaps() {
    for (wait, least, mean, most) in [(false, 1, 10.0, 19), (true, 20, 29.5, 39)] {
        let spec = specs::Red { w_q: 1.0, max_p: 0.1, wait, ..specs::Red::default() };
        let (mut red, mut bits, mut gaps, mut gap) = (Dropper::new(spec.params()), Bits(41), Vec::new(), 0);
        for _ in 0..400_000 {
            gap += 1;
            let backlog = Backlog::new(10, 10_000, NEVER); // p_b = 0.05
            if red.packet(&View::new(1000), &backlog, 0, bits.next()) != Verdict::Pass {
                gaps.push(std::mem::take(&mut gap));
            }
        }
        let got = gaps.iter().sum::<i32>() as f64 / gaps.len() as f64;
        assert!((got - mean).abs() < 0.2, "wait {wait}: mean gap {got}");
        // The first gap starts its count at 0; p_b, a trifle under 0.05, may add one at the far end.
        let (low, high) = (gaps[1..].iter().min().unwrap(), gaps[1..].iter().max().unwrap());
        assert!(*low >= least && *high <= most + 1, "wait {wait}: gaps {low} to {high}");
    }
}

#[test]
fn params__name_parameter_value_and_what_is_allowed() {
    let red = |name, value| parameter_error("red", &[(name, value)]);
    assert_eq!(red("maxp", "1.5"), "maxp: \"1.5\" is not allowed; allowed: a number; above 0, at most 1");
    assert_eq!(
        parameter_error("red", &[("min", "5"), ("max", "5.5")]),
        "max: its value is not allowed here; allowed: at least one packet more than min"
    );
    assert_eq!(
        parameter_error("red", &[("min", "20%"), ("max", "20%")]),
        "max: its value is not allowed here; allowed: more than min"
    );
    for (name, value) in
        [("min", "-1"), ("min", "NaN"), ("wq", "-1"), ("wq", "inf"), ("mean", "0B"), ("max", "1048577")]
    {
        assert!(
            red(name, value).starts_with(&format!("{name}: \"{value}\" is not allowed")),
            "{name}={value}"
        );
    }
    assert_eq!(
        red("wq", "1e-7"),
        "wq: its value is not allowed here; allowed: 0, which sets it by the link's rate, or 1e-6 to 1"
    );
    params("red", &[("min", "1048575"), ("max", "1048576")]);
    let at_rate = |rate_bps| LinkContext { rate_bps, ..LinkContext::EXAMPLE };
    for rate_bps in [1e3, 1e12] {
        params_at("red", &[], &at_rate(rate_bps));
    }
    for rate_bps in [999.0, 1.001e12] {
        assert!(parameter_error_at("red", &[], &at_rate(rate_bps)).starts_with("rate: "), "{rate_bps}");
    }
    let nowhere = LinkContext { rate_bps: 0.0, ..LinkContext::EXAMPLE };
    assert_eq!(
        parameter_error_at("red", &[], &nowhere),
        "rate: its value is not allowed here; allowed: a link of 1kbit to 1000gbit"
    );
}

#[test]
fn params__of_the_other_policies_are_checked() {
    assert_eq!(
        parameter_error("multi-red", &[("wq", "2")]),
        "wq: \"2\" is not allowed; allowed: a number; 1e-6 to 1"
    );
    assert_eq!(
        parameter_error("multi-red", &[("colours", "0")]),
        "colours: \"0\" is not allowed; allowed: a whole number; 1 to 3"
    );
    assert_eq!(
        parameter_error("multi-red", &[("yellow_min", "9"), ("yellow_max", "9")]),
        "yellow_max: its value is not allowed here; allowed: at least one packet more than yellow_min"
    );
    assert_eq!(
        parameter_error("sfd", &[("k", "0")]),
        "k: \"0\" is not allowed; allowed: a whole number; 1 to 4294967295"
    );
    assert_eq!(
        parameter_error("sfd", &[("timeout", "0s")]),
        "timeout: \"0s\" is not allowed; allowed: a time, such as 5ms or 1s, or never; above 0 s"
    );
    assert_eq!(
        parameter_error("sfd", &[("th", "4294967295B")]),
        "th: \"4294967295B\" is not allowed; allowed: bytes (15kB) or packets (15p); 0 to 4294967294"
    );
}
