//! SHRED: the worked values, what it has in common with RED, and the same in floats.
use crate::common::link::Link;
use crate::common::parts::{self, Red};
use crate::common::{Bits, Dropper, parameter_error, params, reference, specs};
use mousehole_policy::{Backlog, Colour, NEVER, Params, Verdict, View};

/// The mean of hints, so that hint / 20 is the ratio.
const MEAN: f64 = 20.0;

/// SHRED's parameters; lengths are in mean packets.
#[derive(Debug, Clone, Copy)]
struct Spec {
    red: specs::Red,
    floor_packets: f64,
    w_hint: f64,
    restart: bool,
}

impl Default for Spec {
    /// Returns the header's defaults, which `default__equals_the_header` compares.
    fn default() -> Spec {
        let red = specs::Red {
            min_packets: 30.0,
            max_packets: 90.0,
            gentle: true,
            wait: true,
            queue_in_bytes: true,
            ..specs::Red::default()
        };
        Spec { red, floor_packets: 5.0, w_hint: 0.002, restart: false }
    }
}

impl Spec {
    fn params(&self) -> Params {
        let own = [
            ("floor", self.floor_packets.to_string()),
            ("wc", self.w_hint.to_string()),
            ("restart", self.restart.to_string()),
        ];
        self.red.params_of("shred", &own)
    }

    fn shred(&self) -> parts::Shred {
        parts::Shred::new(&self.params())
    }
}

#[test]
fn default__equals_the_header() {
    assert_eq!(params("shred", &[]).bytes(), Spec::default().params().bytes());
}

fn average_hint(shred: &Dropper) -> f64 {
    shred.reading("average_hint_packets")
}

/// Returns a number as Q32 holds it.
fn rounded(value: f64) -> f64 {
    parts::from_q32(parts::fixed(value, 32))
}

/// Returns any line whose max_p' stays a probability. Its numbers are as the parameters hold them: min, max and max_p are
/// rounded to Q32 before the slope is computed from them, and where max_p is small and min' far below min, 2^-33 of
/// max_p are more than the stated error of p_b.
fn random_spec(bits: &mut Bits) -> Spec {
    let min_packets = rounded(bits.spread(0.5, 2000.0));
    let max_packets = rounded(min_packets + bits.spread(1.0, 4000.0));
    let floor_packets = [0.0, min_packets, min_packets.min(5.0)][bits.below(3) as usize];
    let steepest = (max_packets - min_packets) / (max_packets - floor_packets);
    let red = specs::Red {
        min_packets,
        max_packets,
        max_p: rounded(bits.spread(1e-4, 1.0) * steepest),
        w_q: bits.spread(0.001, 1.0),
        mean_packet_bytes: 1000.0,
        gentle: true,
        wait: bits.below(2) == 1,
        byte_mode: bits.below(2) == 1,
        queue_in_bytes: true,
        ecn: bits.below(2) == 1,
        ..specs::Red::default()
    };
    Spec { red, floor_packets, w_hint: bits.spread(1e-5, 1.0), restart: bits.below(2) == 1 }
}

/// Returns min' and max_p' in floats (equations 3 and 4) for a hint of `ratio` times the average.
fn red_line(spec: &Spec, ratio: f64) -> (f64, f64) {
    let specs::Red { min_packets: min, max_packets: max, max_p, .. } = spec.red;
    let low = (min + (max - min) * (1.0 - ratio)).max(spec.floor_packets);
    (low, max_p * (max - low) / (max - min))
}

/// Returns p_b in floats (equation 5 and the gentle part) for a hint of `ratio` times the average.
fn base_probability(spec: &Spec, avg: f64, ratio: f64) -> f64 {
    let ((low, max_p), max) = (red_line(spec, ratio), spec.red.max_packets);
    match avg {
        avg if avg < low => 0.0,
        avg if avg < max => max_p * (avg - low) / (max - low),
        avg if avg < 2.0 * max => max_p + (1.0 - max_p) * (avg - max) / max,
        _ => 1.0,
    }
}

#[test]
fn base_probability__worked_values() {
    let shred = Spec::default().shred();
    let at = |avg, hint| shred.probability(avg, hint, MEAN);
    for (hint, expected) in [(5, 0.0), (10, 0.0), (20, 0.05), (24, 0.07), (29, 0.09166666666666667)] {
        assert!(
            (at(60.0, hint) - expected).abs() < 1e-9,
            "r = {}: {}",
            f64::from(hint) / MEAN,
            at(60.0, hint)
        );
    }
    // 0.1 + 0.9 / 3, and 0.025 and 0.1416.. in the place of 0.1.
    for (hint, expected) in [(5, 0.35), (20, 0.40), (40, 0.4277777777777778)] {
        assert!((at(120.0, hint) - expected).abs() < 1e-9, "r = {}", f64::from(hint) / MEAN);
    }
    // Where the lines begin: r = 0.25 at 75, 1.2 at 18, beyond 1.417 at 5 packets.
    for (hint, begin) in [(5, 75.0), (24, 18.0), (29, 5.0), (255, 5.0)] {
        assert!(at(begin - 0.001, hint) == 0.0 && at(begin + 0.001, hint) > 0.0, "{begin}");
    }
}

#[test]
fn base_probability__at_the_average_window_is_red_to_the_bit() {
    let mut bits = Bits(81);
    for _ in 0..300 {
        let spec = random_spec(&mut bits);
        let (ours, theirs) = (spec.shred(), Red::new(&spec.red.params()));
        let hint = 1 + bits.below(255) as u8;
        for step in 0..200 {
            let avg = spec.red.max_packets * 2.2 * f64::from(step) / 200.0;
            let expected = theirs.probability(avg);
            assert_eq!(ours.probability(avg, hint, hint.into()), expected);
            assert_eq!(ours.probability(avg, 0, hint.into()), expected, "no hint");
        }
    }
}

#[test]
fn base_probability__grows_with_the_window_until_it_saturates() {
    let ratio = 1.0 + (30.0 - 5.0) / (90.0 - 30.0);
    let shred = Spec::default().shred();
    let at = |hint| shred.probability(60.0, hint, MEAN);
    let last = (ratio * MEAN).floor() as u8; // 28, r* = 1.4167
    assert!((10..last).all(|hint| at(hint) < at(hint + 1)));
    assert!(at(last) < at(last + 1));
    assert!((last + 1..255).all(|hint| at(hint) == at(hint + 1)));
}

#[test]
fn base_probability__with_min_at_the_floor_large_windows_are_reds() {
    let spec = Spec { red: specs::Red { min_packets: 5.0, ..Spec::default().red }, ..Spec::default() };
    let shred = spec.shred();
    let at = |hint| shred.probability(60.0, hint, MEAN);
    let red = at(20);
    assert!([21, 40, 255].iter().all(|hint| (at(*hint) - red).abs() < 1e-9) && at(19) < red - 1e-3);
}

#[test]
fn base_probability__as_the_window_vanishes_nothing_is_dropped_below_max() {
    let shred = Spec::default().shred();
    let at = |avg| shred.probability(avg, 1, 255.0);
    assert!(at(89.7) == 0.0 && at(89.999) < 1e-3 && (at(90.0) - 0.1 / 255.0).abs() < 1e-9);
}

/// RED's line moved right by (max - min)(1 - r), and no step at max.
#[test]
fn base_probability__is_reds_line_moved() {
    let shred = Spec::default().shred();
    for hint in 11..28 {
        let moved = 60.0 * (1.0 - f64::from(hint) / MEAN);
        for avg in 0..90 {
            let avg = f64::from(avg);
            let red = (0.1 * (avg - moved - 30.0) / 60.0).max(0.0);
            let got = shred.probability(avg, hint, MEAN);
            assert!((got - red).abs() < 1e-9, "hint {hint}, average {avg}: {got}, expected {red}");
        }
        let near = |avg| shred.probability(avg, hint, MEAN);
        assert!((near(90.0) - near(90.0 - 1e-7)).abs() < 1e-8);
    }
}

/// Where max_p' reaches 1, rounding must not carry it beyond: the gentle part's slope, 1 - max_p', would wrap round.
#[test]
fn base_probability__of_the_steepest_line_stays_a_probability() {
    let mut bits = Bits(84);
    for _ in 0..2000 {
        let min_packets = rounded(bits.spread(200.0, 2000.0));
        let max_packets = rounded(min_packets * (1.0 + bits.spread(0.01, 4.0)));
        let max_p = ((max_packets - min_packets) / max_packets * 4294967296.0).floor() / 4294967296.0;
        let red = specs::Red { min_packets, max_packets, max_p, ..Spec::default().red };
        let shred = Spec { red, floor_packets: 0.0, ..Spec::default() }.shred();
        for (step, hint) in [(90, 255), (99, 255), (101, 255), (130, 255), (199, 255), (220, 255)] {
            let avg = max_packets * f64::from(step) / 100.0;
            let found = shred.probability(avg, hint, 1.0);
            let expected = (f64::from(step) / 100.0).min(1.0);
            assert!(
                (found - expected).abs() < 1e-5,
                "min {min_packets}, max {max_packets} at {avg}: {found}"
            );
        }
    }
}

#[test]
fn base_probability__is_the_reference_models() {
    let (mut bits, mut worst) = (Bits(82), 0.0f64);
    let mut widest = 0.0f64;
    for _ in 0..2000 {
        let spec = random_spec(&mut bits);
        let shred = spec.shred();
        let slope = spec.red.max_p / (spec.red.max_packets - spec.red.min_packets);
        let hint_average = (bits.spread(1.0, 255.0) * 4294967296.0).round() / 4294967296.0;
        let hint = bits.spread(1.0, 255.0) as u8;
        for step in 0..100 {
            let fraction = f64::from(step) / 100.0;
            let avg = (spec.red.max_packets * 2.2 * fraction * 4294967296.0).round() / 4294967296.0;
            let expected = base_probability(&spec, avg, f64::from(hint) / hint_average);
            let error = (shred.probability(avg, hint, hint_average) - expected).abs();
            worst = worst.max(error / (libm::ldexp(1.0, -31) + slope * libm::ldexp(1.0, -24)));
            widest = widest.max(error);
        }
    }
    println!("worst error of a base probability: {widest:.3e}, {worst:.3} of its bound");
    assert!(worst < 1.0);
}

#[test]
fn hint_average__stays_within_its_stated_error() {
    let (mut bits, mut worst) = (Bits(83), 0.0f64);
    for _ in 0..200 {
        let spec = Spec { w_hint: bits.spread(1e-6, 1.0), ..Spec::default() };
        let mut shred = Dropper::new(spec.params());
        let mut model: Option<f64> = None;
        for _ in 0..2000 {
            let hint = bits.below(256) as u16;
            let view = View::new(1000).with_window(hint);
            shred.packet(&view, &Backlog::new(0, 0, NEVER), 0, bits.next());
            if hint > 0 {
                let hint = f64::from(hint);
                model = Some(model.map_or(hint, |average| average + spec.w_hint * (hint - average)));
            }
            let error = (average_hint(&shred) - model.unwrap_or(0.0)).abs();
            worst = worst.max(error / ((1.0 + 255.0) * libm::ldexp(1.0, -33) / spec.w_hint + 1e-10));
        }
    }
    println!("worst error of an average hint: {worst:.3} of the stated bound");
    assert!(worst < 1.0);
}

#[test]
fn hint_average__counts_dropped_packets_and_no_unhinted_ones() {
    let mut shred = Dropper::new(Spec { w_hint: 0.5, ..Spec::default() }.params());
    let mut after = |hint, bytes| {
        let view = View::new(1000).with_window(hint);
        let verdict = shred.packet(&view, &Backlog::new(9, bytes, NEVER), 0, 0);
        (average_hint(&shred), verdict)
    };
    assert_eq!([after(0, 0).0, after(8, 0).0, after(0, 0).0, after(4, 0).0], [0.0, 8.0, 8.0, 6.0]);
    assert_eq!(after(600, 0).0, 130.5); // taken for 255
    let spec = Spec { w_hint: 0.5, red: specs::Red { w_q: 1.0, ..Spec::default().red }, ..Spec::default() };
    let mut shred = Dropper::new(spec.params());
    let full = Backlog::new(200, 200_000, NEVER);
    let verdicts = [2, 4].map(|hint| shred.packet(&View::new(1000).with_window(hint), &full, 0, 0));
    assert_eq!((verdicts, average_hint(&shred)), ([Verdict::Forced; 2], 3.0));
}

struct Arrival {
    view: View,
    backlog: Backlog,
    now_ns: u64,
    random: u32,
}

/// Plays random arrivals to a link at 1.3, 0.6 and 20 times its rate in turn; `judge` returns the verdict on each.
fn play_arrivals(
    spec: &Spec,
    packets: u32,
    bits: &mut Bits,
    mut judge: impl FnMut(&Arrival, &mut Bits) -> Verdict,
) {
    let (mut link, mut now_ns) = (Link::new(spec.red.rate_bps), 0);
    for index in 0..packets {
        let load = [1.3, 0.6, 20.0][index as usize / 2000 % 3];
        now_ns += (-libm::log(bits.uniform().max(1e-9)) * 6.2e12 / spec.red.rate_bps / load) as u64;
        link.advance(now_ns);
        let ect = View::ECT * (bits.below(2) as u8);
        let view = View::new(40 + bits.below(1460)).with_flags(ect);
        let backlog = Backlog { idle_since_ns: link.idle_since_ns(now_ns), ..link.backlog };
        let random = bits.next();
        if !judge(&Arrival { view, backlog, now_ns, random }, bits).drops() {
            link.enqueue(Colour::Green, view.ip_bytes, now_ns);
        }
    }
}

/// Draws parameters with which the average comes to every part of the line.
fn walk_spec(bits: &mut Bits) -> Spec {
    let any = random_spec(bits).red;
    let min_packets = 6.0 + f64::from(bits.below(10));
    let max_packets = min_packets + 10.0 + f64::from(bits.below(20));
    let max_p = bits.spread(0.02, 0.5);
    let (w_q, rate_bps) = (bits.spread(0.002, 0.5), 10e6);
    let restart = bits.below(2) == 1;
    let red = specs::Red { min_packets, max_packets, max_p, w_q, rate_bps, ..any };
    Spec { red, restart, ..Spec::default() }
}

/// Decision for decision, average for average.
#[test]
fn packet__with_equal_hints_is_gentle_red() {
    let (mut bits, mut seen) = (Bits(84), [0; 4]);
    for hint in [0, 1, 7, 255, 300] {
        let spec = walk_spec(&mut bits);
        let (mut shred, mut plain) = (Dropper::new(spec.params()), Dropper::new(spec.red.params()));
        play_arrivals(&spec, 30_000, &mut bits, |arrival, _| {
            let Arrival { view, backlog, now_ns, random } = arrival;
            let expected = plain.packet(view, backlog, *now_ns, *random);
            let view = view.with_window(hint);
            let got = shred.packet(&view, backlog, *now_ns, *random);
            assert_eq!((got, shred.reading("average_packets")), (expected, plain.reading("average_packets")));
            seen[got as usize] += 1;
            got
        });
    }
    assert!(seen[0] > 10_000 && seen[1] > 100 && seen[2] > 1000, "{seen:?}");
}

/// Mixed windows against RED in floats whose line is set anew for each packet; a tie is a draw close to p_a.
#[test]
fn packet__gives_the_verdicts_of_the_reference_model() {
    let (mut bits, mut seen, mut ties) = (Bits(85), [0; 4], 0);
    for _ in 0..16 {
        let spec = walk_spec(&mut bits);
        let mut shred = Dropper::new(spec.params());
        let (mut model, mut mean) = (reference::Red::new(spec.red), 0.0);
        play_arrivals(&spec, 20_000, &mut bits, |arrival, bits| {
            let hint = bits.spread(1.0, 100.0) as u16;
            let view = arrival.view.with_window(hint);
            let Arrival { backlog, now_ns, random, .. } = arrival;
            let got = shred.packet(&view, backlog, *now_ns, *random);
            mean = if mean == 0.0 { hint.into() } else { mean + spec.w_hint * (f64::from(hint) - mean) };
            let (draw, idle_since) = (f64::from(*random) / 4294967296.0, backlog.idle_since_ns);
            let idle_ns =
                if backlog.packets == 0 { take_idle_time(&mut model, idle_since, *now_ns) } else { 0 };
            model.update(model.length(backlog.packets, backlog.bytes), idle_ns);
            let mut now = model.clone();
            let spared = model.count.map_or(0.0, |count| count + model.weight(&view));
            (now.spec.min_packets, now.spec.max_p) = red_line(&spec, f64::from(hint) / mean);
            let p_a = now.chance(model.avg, &view).unwrap_or(0.0);
            let expected = if draw < p_a { now.taken(model.avg, &view) } else { Verdict::Pass };
            let only_counts = !spec.restart && now.count.is_none() && model.avg >= spec.red.min_packets;
            model.count = if got != Verdict::Pass {
                Some(0.0)
            } else if only_counts {
                Some(spared)
            } else {
                now.count
            };
            seen[got as usize] += 1;
            if got != expected {
                ties += 1;
                let steep = libm::pow(p_a / now.base(model.avg).max(1e-9), 2.0).max(1.0);
                let edges = [now.spec.min_packets, now.spec.max_packets, 2.0 * now.spec.max_packets];
                let at_edge = edges.iter().any(|edge| (model.avg - edge).abs() < 1e-4);
                assert!((draw - p_a).abs() < 1e-6 * steep || at_edge, "{got:?} {expected:?} {draw} {p_a}");
            }
            got
        });
    }
    println!("pass, mark, early, forced: {seen:?}; verdicts that differ at a tie: {ties}");
    assert!(seen.iter().all(|count| *count > 100) && ties < 100, "{seen:?} {ties}");
}

/// Returns the idle time up to `now_ns` that the model's average does not include yet, and includes it.
fn take_idle_time(model: &mut reference::Red, idle_since_ns: u64, now_ns: u64) -> u64 {
    let from_ns = idle_since_ns.max(model.idle_from_ns);
    model.idle_from_ns = model.idle_from_ns.max(now_ns);
    now_ns.saturating_sub(from_ns)
}

#[test]
fn params__are_checked() {
    let refused = |name, value| parameter_error("shred", &[(name, value)]);
    // (90 - 30) / (90 - 5) = 0.70588
    assert!(
        refused("maxp", "0.706")
            .starts_with("maxp: its value is not allowed here; allowed: at most (max - min)")
    );
    params("shred", &[("maxp", "0.7058")]);
    assert_eq!(
        refused("min", "89.5"),
        "max: its value is not allowed here; allowed: at least one packet more than min"
    );
    assert_eq!(refused("wq", "0"), "wq: \"0\" is not allowed; allowed: a number; 1e-6 to 1");
    assert_eq!(refused("wc", "0"), "wc: \"0\" is not allowed; allowed: a number; 1e-6 to 1");
}

/// (90 - 45) / (90 - 0) is a half.
#[test]
fn params__maxp_may_be_its_limit() {
    let given = [("min", "45"), ("floor", "0"), ("maxp", "0.5")];
    assert_eq!(params("shred", &given).number("maxp"), 0.5);
}

/// A floor beyond min is min: a buffer may be so small that min, a share of it, is below the floor.
#[test]
fn params__floor_is_at_most_min() {
    let at = |floor| params("shred", &[("floor", floor)]);
    let [min, beyond] = ["30", "31"].map(|floor| at(floor).bytes());
    assert_eq!(min, beyond);
}
