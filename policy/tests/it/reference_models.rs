//! Every policy in fixed point against the same formula in floats, over the whole range of its parameters.
use crate::common::link::Link;
use crate::common::parts::{self, Red};
use crate::common::specs::{self, Mode};
use crate::common::{Bits, Dropper, Marker, params, reference};
use mousehole_policy::{Backlog, Colour, NEVER, Verdict, View};

/// Returns the header's bound: rounding, and the format of w_q times the distance travelled.
fn average_bound(spec: &specs::Red, longest: f64) -> f64 {
    (1.0 + longest) * libm::ldexp(1.0, -33) / spec.w_q + longest * 1e-12
}

#[test]
fn red_average__stays_within_its_stated_error() {
    let mut bits = Bits(11);
    let mut worst = 0.0f64;
    for _ in 0..300 {
        let spec = specs::Red::random(&mut bits);
        let params = Red::new(&spec.params());
        let mut model = reference::Red::new(spec);
        let longest = bits.spread(2.0, 1048576.0);
        let mut average = 0.0;
        for _ in 0..400 {
            let queue = (bits.uniform() * longest).floor();
            average = params.average(average, queue, 0);
            model.update(queue, 0);
            worst = worst.max((average - model.avg).abs() / average_bound(&spec, longest));
        }
    }
    println!("worst error of an average: {worst:.3} of the stated bound");
    assert!(worst < 1.0);
}

#[test]
fn red_average__usual_weights_are_exact_to_1e_minus_5() {
    for w_q in [0.002, 0.02, 0.5, 1.0] {
        let spec = specs::Red { w_q, ..specs::Red::default() };
        let params = Red::new(&spec.params());
        let (mut model, mut bits, mut average) = (reference::Red::new(spec), Bits(5), 0.0);
        for _ in 0..100_000 {
            let queue = f64::from(bits.below(200));
            average = params.average(average, queue, 0);
            model.update(queue, 0);
            assert!((average - model.avg).abs() < 1e-5, "{w_q}: {average} {}", model.avg);
        }
    }
}

#[test]
fn red_average__idle_decay_matches_the_power() {
    let mut bits = Bits(12);
    let mut worst = 0.0f64;
    for _ in 0..5000 {
        let spec = specs::Red::random(&mut bits);
        let params = Red::new(&spec.params());
        let mut model = reference::Red::new(spec);
        model.avg = (bits.spread(0.01, 1e6) * 4294967296.0).round() / 4294967296.0;
        let slot_ns = spec.mean_packet_bytes * 8e9 / spec.rate_bps;
        let slots = bits.spread(1.0, (1e14 / slot_ns).min(5e7)).floor();
        let before = model.avg;
        let idle_ns = ((slots + 0.5) * slot_ns) as u64; // half-way, so that both floor alike
        let average = params.average(before, 0.0, idle_ns);
        model.update(0.0, idle_ns);
        // What the formats of w_q and of the slot allow, over m slots.
        let slot_error = slots * libm::ldexp(1.0, -16) / slot_ns;
        let tolerance =
            before * (slots + 1.0).min(3.0 / spec.w_q) * libm::ldexp(1.0, -33) / (1.0 - spec.w_q).max(0.01);
        let slipped = if slot_error < 0.4 { 0.0 } else { before * spec.w_q * (slot_error + 1.0) };
        worst = worst.max((average - model.avg).abs() / (tolerance + slipped + 1e-9));
    }
    println!("worst error after idle time: {worst:.3} of what the formats allow");
    assert!(worst < 1.0);
}

/// Idle times count up to 2^47 ns; a clock that has stood for longer must not overflow.
#[test]
fn red_average__is_zero_after_any_long_idle_time() {
    let red = Red::new(&specs::Red::default().params());
    for idle_ns in [1 << 47, 1 << 48, 3 << 47, u64::MAX] {
        assert_eq!(red.average(1000.0, 0.0, idle_ns), 0.0, "{idle_ns} ns");
    }
}

/// The header's formats: a queue counts as at most 2^20 mean packets, and bytes are rounded to half a unit of Q32
/// beside the format of 1 / mean packet.
#[test]
fn red_length__is_within_its_format() {
    let mut bits = Bits(17);
    let mut worst = 0.0f64;
    for _ in 0..2000 {
        let spec = specs::Red { w_q: 1.0, queue_in_bytes: true, ..specs::Red::random(&mut bits) };
        let mut red = Dropper::new(spec.params());
        let bytes = bits.spread(1.0, 1e6) as u64;
        red.packet(&View::new(1000), &Backlog::new(1, bytes, NEVER), 0, 0);
        let exact = bytes as f64 / spec.mean_packet_bytes;
        let bound = libm::ldexp(1.0, -33) + bytes as f64 * libm::ldexp(1.0, -43);
        worst = worst.max((red.reading("average_packets") - exact).abs() / bound);
    }
    assert!((0.9..=1.0).contains(&worst), "worst error of a length in bytes: {worst:.3} of its bound");
    for (packets, expected) in [(1_048_575, 1_048_575.0), (1_048_576, 1_048_576.0), (1_048_580, 1_048_576.0)]
    {
        let spec = specs::Red { w_q: 1.0, ..specs::Red::default() };
        let mut red = Dropper::new(spec.params());
        red.packet(&View::new(1000), &Backlog::new(packets, 0, NEVER), 0, 0);
        assert_eq!(red.reading("average_packets"), expected, "{packets} packets");
    }
}

#[test]
fn red_count__begins_anew_after_any_drop() {
    let spec = specs::Red { w_q: 1.0, max_p: 1.0, ..specs::Red::default() };
    let mut red = Dropper::new(spec.params());
    let mut arrive = |packets: u32, random: u32| {
        let verdict = red.packet(&View::new(1000), &Backlog::new(packets, 0, NEVER), 0, random);
        (verdict, parts::word_field(&red.state, "mh_red_state.since_drop_q24"))
    };
    let one = 1 << 24;
    assert_eq!(arrive(6, u32::MAX), (Verdict::Pass, 0));
    assert_eq!(arrive(6, u32::MAX), (Verdict::Pass, one));
    assert_eq!(arrive(6, 0), (Verdict::Early, 0));
    assert_eq!(arrive(6, u32::MAX), (Verdict::Pass, one));
    assert_eq!(arrive(40, u32::MAX), (Verdict::Forced, 0));
    assert_eq!(arrive(6, u32::MAX), (Verdict::Pass, one));
    arrive(0, 0);
    assert_eq!(arrive(6, u32::MAX), (Verdict::Pass, 0));
}

/// The count since the last drop stops at 2^31 packets, where it must not overflow the product with p_b.
#[test]
fn red_count__stops_at_its_end() {
    let spec = specs::Red { w_q: 1.0, max_p: 1e-9, ..specs::Red::default() };
    let mut red = Dropper::new(spec.params());
    let view = View::new(65535).with_segments(u16::MAX);
    // p_b is a quarter of 1e-9, one unit of Q32
    let backlog = Backlog::new(8, 8000, NEVER);
    let count = |red: &Dropper| parts::word_field(&red.state, "mh_red_state.since_drop_q24");
    for _ in 0..=32_768 {
        assert_eq!(red.packet(&view, &backlog, 0, u32::MAX), Verdict::Pass);
    }
    assert_eq!(count(&red), (32_768 * 65_535) << 24);
    red.packet(&view, &backlog, 0, u32::MAX);
    assert_eq!(count(&red), 1 << 55);
    // p_b is two units of Q32 now, so c * p_b is 1 and a drop is certain, however small the packet is.
    let params = specs::Red { byte_mode: true, ..spec }.params();
    let (mut small, backlog) = (Dropper { params, ..red }, Backlog::new(10, 10_000, NEVER));
    assert_eq!(small.packet(&View::new(40), &backlog, 0, u32::MAX), Verdict::Early);
}

#[test]
fn red_base_probability__is_within_2_to_the_minus_31() {
    let mut bits = Bits(13);
    let mut worst = 0.0f64;
    for _ in 0..200 {
        let spec = specs::Red::random(&mut bits);
        let params = Red::new(&spec.params());
        let model = reference::Red::new(spec);
        for step in 0..500 {
            let avg =
                (spec.max_packets * 2.2 * f64::from(step) / 500.0 * 4294967296.0).round() / 4294967296.0;
            worst = worst.max((params.probability(avg) - model.base(avg)).abs());
        }
    }
    println!("worst error of a base probability: {worst:.3e}");
    assert!(worst < libm::ldexp(1.0, -31));
}

#[test]
fn red_base_probability__at_the_thresholds() {
    let probability = |gentle: bool, avg: f64| {
        Red::new(&specs::Red { max_p: 0.25, gentle, ..specs::Red::default() }.params()).probability(avg)
    };
    assert_eq!([4.9, 5.0, 10.0, 15.0, 20.0].map(|avg| probability(false, avg)), [0.0, 0.0, 0.125, 1.0, 1.0]);
    assert_eq!([15.0, 22.5, 30.0, 31.0].map(|avg| probability(true, avg)), [0.25, 0.625, 1.0, 1.0]);
}

/// Returns the probability with which `packet` would take this arrival, found by bisection over `random`.
fn chance(red: &Dropper, view: &View, backlog: &Backlog) -> f64 {
    let (mut low, mut high) = (0u64, 1u64 << 32);
    while low < high {
        let middle = (low + high) / 2;
        match red.clone().packet(view, backlog, 0, middle as u32) {
            Verdict::Pass => high = middle,
            _ => low = middle + 1,
        }
    }
    low as f64 / 4294967296.0
}

/// With w_q = 1 the average is the queue found, so that any point of the curve can be asked for.
#[test]
fn red_chance__follows_the_formula_over_the_sweep() {
    let mut bits = Bits(14);
    let mut worst = 0.0f64;
    for _ in 0..150 {
        let spec = specs::Red { w_q: 1.0, queue_in_bytes: true, ..specs::Red::random(&mut bits) };
        let (mut red, mut model) = (Dropper::new(spec.params()), reference::Red::new(spec));
        let bytes = (spec.mean_packet_bytes * spec.max_packets * bits.uniform() * 1.9) as u64;
        let backlog = Backlog::new(1, bytes, NEVER);
        let avg = model.length(1, bytes);
        for _ in 0..40 {
            let view = View::new(40 + bits.below(9000)).with_segments(1 + (bits.below(8) / 7 * 40) as u16);
            let expected = model.chance(avg, &view).unwrap_or(0.0);
            let got = chance(&red, &view, &backlog);
            worst = worst.max((got - expected).abs() / chance_bound(&model, avg, expected, &view));
            let taken = red.packet(&view, &backlog, 0, u32::MAX) != Verdict::Pass;
            model.count = if taken { Some(0.0) } else { model.count };
        }
    }
    println!("worst error of a chance: {worst:.3} of its bound");
    assert!(worst < 1.0);
}

/// Byte mode counts to 2^-24 mean packets: 700 B of 1000 B are the odd number 11744051 of them.
#[test]
fn red_byte_mode__counts_every_bit_of_its_format() {
    let spec = specs::Red { w_q: 1.0, max_p: 1.0, byte_mode: true, ..specs::Red::default() };
    let mut red = Dropper::new(spec.params());
    let (view, backlog) = (View::new(700), Backlog::new(10, 10_000, NEVER)); // p_b = 0.5
    assert_eq!(red.packet(&view, &backlog, 0, u32::MAX), Verdict::Pass);
    let weight = 11_744_051.0 / 16_777_216.0;
    let expected = 0.5 * weight / (1.0 - 0.5 * weight);
    let error = (chance(&red, &view, &backlog) - expected).abs() * 4294967296.0;
    assert!(error < 4.0, "off by {error} units of Q32");
}

/// A packet's size in mean packets is its Q32 rounded to Q24, and at most the greatest number of 32 bits.
#[test]
fn red_byte_mode__rounds_sizes_to_its_format() {
    let red = specs::Red { w_q: 1.0, max_p: 1e-6, ..specs::Red::default() };
    let spec = specs::Red { byte_mode: true, queue_in_bytes: true, ..red };
    let empty = Dropper::new(spec.params());
    let counted = |bytes: u32| {
        let mut red = empty.clone();
        for _ in 0..2 {
            red.packet(&View::new(bytes), &Backlog::new(10, 6000, NEVER), 0, u32::MAX);
        }
        parts::word_field(&red.state, "mh_red_state.since_drop_q24")
    };
    for bytes in 1..3000 {
        let mut red = empty.clone();
        red.packet(&View::new(1000), &Backlog::new(1, bytes.into(), NEVER), 0, u32::MAX);
        let size_q32 = (red.reading("average_packets") * 4294967296.0) as u64;
        assert_eq!(counted(bytes), (size_q32 + 128) / 256, "{bytes} B");
    }
    assert_eq!(counted(1_000_000), u64::from(u32::MAX));
}

/// Returns what the format of 1 / mean packet does to p_b when the queue is counted in bytes.
fn length_error(model: &reference::Red, avg: f64) -> f64 {
    let specs::Red { min_packets, max_packets, max_p, mean_packet_bytes, .. } = model.spec;
    let steepest = (max_p / (max_packets - min_packets)).max((1.0 - max_p) / max_packets);
    avg * mean_packet_bytes * libm::ldexp(1.0, -43) * steepest
}

/// p_a = f(p_b, c): the errors of p_b (2^-31), of c, and of size (2^-25 mean packets), carried through f.
fn chance_bound(model: &reference::Red, avg: f64, p_a: f64, view: &View) -> f64 {
    let (p_b, count) = (model.base(avg).max(1e-12), model.count.unwrap_or(0.0));
    let weight = if model.spec.byte_mode { model.weight(view).max(1e-3) } else { 1.0 };
    let slope = libm::pow(p_a / weight / p_b, 2.0) * weight;
    let count_error = if model.spec.byte_mode { 1e-6 * (1.0 + count) } else { 0.0 };
    let near_end = [1.0, 2.0].iter().any(|end| (count * p_b - end).abs() < 1e-5);
    if near_end {
        1.0
    } else {
        slope * (libm::ldexp(1.0, -31) + length_error(model, avg) + p_b * p_b * count_error)
            + libm::ldexp(1.0, -25) / weight * p_a
            + libm::ldexp(1.0, -30)
    }
}

struct Walk {
    packets: u32,
    ties: u32,
    by_verdict: [u32; 4],
}

/// Overloads a link with coloured packets and compares every verdict; a tie is a draw within 1e-5 of p_a.
fn walk(mode: Mode, levels: &[specs::Red], bits: &mut Bits, packets: u32) -> Walk {
    let mut red = Dropper::new(specs::multi_red(mode, levels));
    let mut model =
        reference::MultiRed { mode, levels: levels.iter().map(|spec| reference::Red::new(*spec)).collect() };
    let mut link = Link::new(levels[0].rate_bps);
    let mut walk = Walk { packets, ties: 0, by_verdict: [0; 4] };
    let mut now_ns = 0;
    for index in 0..packets {
        let load = if index / 2000 % 2 == 0 { 1.3 } else { 0.6 };
        now_ns += (-libm::log(bits.uniform().max(1e-9)) * 8e12 / levels[0].rate_bps / load) as u64;
        for departure in link.advance(now_ns) {
            red.departed(departure.colour, &departure.after, departure.at_ns);
            model.departed(departure.colour.index(), &departure.after, departure.at_ns);
        }
        let colour = Colour::ALL[bits.below(levels.len() as u32) as usize];
        let ect = View::ECT * (bits.below(2) as u8);
        let view = View::new(40 + bits.below(1460)).with_colour(colour).with_flags(ect);
        let random = bits.next();
        let got = red.packet(&view, &link.backlog, now_ns, random);
        compare(&mut model, &view, &link.backlog, now_ns, random, got, &mut walk);
        let error =
            red.reading(&format!("{}_average_packets", colour.name())) - model.average(colour.index());
        assert!(error.abs() < 1e-4, "packet {index}: average off by {error}");
        if !got.drops() {
            for departure in link.enqueue(colour, view.ip_bytes, now_ns) {
                red.departed(departure.colour, &departure.after, departure.at_ns);
                model.departed(departure.colour.index(), &departure.after, departure.at_ns);
            }
        }
    }
    walk
}

fn compare(
    model: &mut reference::MultiRed,
    view: &View,
    backlog: &Backlog,
    now_ns: u64,
    random: u32,
    got: Verdict,
    walk: &mut Walk,
) {
    let colour = view.colour.index();
    let p_a = model.arrive(view, backlog, now_ns).unwrap_or(0.0);
    let (avg, level) = (model.average(colour), &mut model.levels[colour]);
    let draw = f64::from(random) / 4294967296.0;
    let expected = if draw < p_a { level.taken(avg, view) } else { Verdict::Pass };
    walk.by_verdict[got as usize] += 1;
    if got != Verdict::Pass {
        level.count = Some(0.0);
    }
    if got == expected {
        return;
    }
    walk.ties += 1;
    let steep = libm::pow(p_a / level.base(avg).max(1e-9), 2.0).max(1.0);
    let at_threshold = [1.0, 2.0].iter().any(|times| (avg - times * level.spec.max_packets).abs() < 1e-4);
    assert!((draw - p_a).abs() < 1e-6 * steep || at_threshold, "{got:?} {expected:?} {draw} {p_a} {avg}");
}

#[test]
fn multi_red__gives_the_verdicts_of_the_reference_model() {
    let mut bits = Bits(15);
    let mut seen = [0; 4];
    let mut ties = 0;
    for round in 0..36u32 {
        let mode = Mode::ALL[round as usize % 3];
        let one = |bits: &mut Bits| specs::Red {
            min_packets: 2.0 + f64::from(bits.below(10)),
            max_packets: 14.0 + f64::from(bits.below(30)),
            w_q: bits.spread(0.001, 0.5),
            max_p: bits.spread(0.01, 0.9),
            mean_packet_bytes: 800.0,
            rate_bps: 10e6,
            ..specs::Red::random(bits)
        };
        let levels: Vec<specs::Red> = (0..1 + round % 4 % 3).map(|_| one(&mut bits)).collect();
        let walk = walk(mode, &levels, &mut bits, 20_000);
        ties += walk.ties;
        assert!(walk.ties < walk.packets / 1000, "{} ties of {}", walk.ties, walk.packets);
        (0..4).for_each(|verdict| seen[verdict] += walk.by_verdict[verdict]);
    }
    println!("pass, mark, early, forced: {seen:?}; verdicts that differ at a tie: {ties}");
    assert!(seen.iter().all(|count| *count > 1000), "the walks must reach every verdict: {seen:?}");
}

/// The count of the header: max(0, count - rate * gap) + size, in floats, with the latch.
#[test]
fn excess__gives_the_colours_of_the_reference_model() {
    let mut bits = Bits(17);
    let mut seen = [[0u32; 2]; 2];
    for round in 0..400 {
        let (latch, is_datagram) = (round % 2 == 1, round / 2 % 2 == 1);
        let threshold = bits.spread(1500.0, 1e5) as u32;
        let timeout_ns = bits.spread(1e7, 1e9) as u64;
        let rate_bps = bits.spread(1e4, 1e8) as u64;
        let (th, timeout, rate) =
            (format!("{threshold}B"), format!("{timeout_ns}ns"), format!("{rate_bps}bit"));
        let names = if is_datagram { ["datagrams", "rate"] } else { ["rate", "datagrams"] };
        let given = [
            ("th", &th[..]),
            ("timeout", &timeout),
            (names[0], &rate),
            (names[1], "8bit"),
            ("small", "60B"),
            ("latch", if latch { "true" } else { "false" }),
        ];
        let mut excess = Marker::new(params("excess", &given));
        let mut flow = excess.new_flow();
        let view = |bytes| View::new(bytes).with_flags(if is_datagram { View::DATAGRAM } else { 0 });
        let (mut now_ns, mut last_ns, mut count, mut is_long) = (0u64, 0u64, 0.0, false);
        for _ in 0..500 {
            now_ns += bits.spread(1e3, 1e8) as u64;
            if bits.below(100) == 0 {
                now_ns += timeout_ns;
            }
            let bytes = 40 + bits.below(1460);
            let colour = excess.packet(&mut flow, &view(bytes), now_ns, bits.next());
            if now_ns - last_ns > timeout_ns {
                (count, is_long) = (0.0, false);
            }
            if bytes <= 60 {
                assert_eq!(colour, if is_long { Colour::Yellow } else { Colour::Green });
                continue;
            }
            let gap = (now_ns - last_ns) as f64;
            last_ns = now_ns;
            count = f64::max(0.0, count - rate_bps as f64 / 8e9 * gap);
            let conforms = count + f64::from(bytes) <= f64::from(threshold);
            let is_tie = (count + f64::from(bytes) - f64::from(threshold)).abs() < 1e-3;
            count += if conforms { f64::from(bytes) } else { 0.0 };
            is_long |= !conforms && latch;
            let expected = if conforms && !is_long { Colour::Green } else { Colour::Yellow };
            if is_tie {
                break; // the header's arithmetic is exact, that of floats is not
            }
            assert_eq!(colour, expected, "{given:?} {count} {bytes}");
            seen[usize::from(latch)][expected.index()] += 1;
        }
    }
    assert!(seen.iter().flatten().all(|times| *times > 1000), "{seen:?}");
}

#[test]
fn sfd__gives_the_colours_of_the_reference_model() {
    let mut bits = Bits(16);
    let kinds = ["none", "probabilistic", "one-of-k"];
    let mut seen = [[0u32; 2]; 3];
    for round in 0..300 {
        let promotion = kinds[round % 3];
        let threshold = bits.spread(1.0, 1e6) as u32;
        let timeout_ns = bits.spread(1e6, 1e10) as u64;
        let (th, timeout) = (format!("{threshold}B"), format!("{timeout_ns}ns"));
        let given = [("th", &th[..]), ("timeout", &timeout), ("promotion", promotion), ("k", "4")];
        let mut sfd = Marker::new(params("sfd", &given));
        let mut flow = sfd.new_flow();
        let (mut now_ns, mut last_ns, mut count, mut out) = (0u64, 0u64, 0.0, 0);
        for _ in 0..1000 {
            now_ns += bits.spread(1e3, 1.3e10) as u64;
            let (bytes, random) = (40 + bits.below(1460), bits.next());
            let colour = sfd.packet(&mut flow, &View::new(bytes), now_ns, random);
            if now_ns - last_ns > timeout_ns {
                (count, out) = (0.0, 0);
            }
            last_ns = now_ns;
            count += f64::from(bytes);
            let beyond = count > f64::from(threshold);
            out += u32::from(beyond);
            let draw = f64::from(random) / 4294967296.0;
            let promoted = match promotion {
                "none" => false,
                "probabilistic" => draw < f64::from(threshold) / count,
                _ => out % 4 == 0,
            };
            let expected = if beyond && !promoted { Colour::Yellow } else { Colour::Green };
            assert_eq!(colour, expected, "{given:?} {count} {draw}");
            seen[round % 3][expected.index()] += 1;
        }
    }
    assert!(seen.iter().flatten().all(|times| *times > 100), "{seen:?}");
}
