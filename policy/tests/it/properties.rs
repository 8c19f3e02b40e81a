//! What the papers' formulae say must hold exactly, or on average with a stated sampling error.
use crate::common::Bits;
use crate::common::link::Link;
use mousehole_policy::multi_red::Mode;
use mousehole_policy::{
    Backlog, Colour, NEVER, ParamError, Unit, Verdict, View, flow_meter, multi_red, promotion, red, sfd,
    threshold_marker,
};

/// Green bytes of a flow of `packets` packets of `size` bytes.
fn green_bytes(promotion: promotion::Spec, packets: u32, size: u32, bits: &mut Bits) -> u64 {
    let params = sfd::Params::new(&sfd::Spec { promotion, ..sfd::Spec::default() }).unwrap();
    let mut flow = sfd::Flow::default();
    (0..packets)
        .filter(|index| {
            let now_ns = u64::from(*index) * 1000;
            sfd::packet(&params, &mut flow, &View::new(size), now_ns, bits.next()) == Colour::Green
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
        let total: u64 =
            (0..flows).map(|_| green_bytes(promotion::Spec::Probabilistic, packets, size, &mut bits)).sum();
        let mean = total as f64 / f64::from(flows);
        let expected = 15_000.0 * (1.0 + times.ln());
        // Promoted packets are near Poisson: variance of a flow's bytes below size * th * ln r.
        let deviation = (f64::from(size) * 15_000.0 * times.ln() / f64::from(flows)).sqrt();
        assert!((mean - expected).abs() < 4.0 * deviation + 10.0, "r = {times}: {mean}, expected {expected}");
    }
}

#[test]
fn s_sfd__promotes_one_of_k_exactly() {
    let mut bits = Bits(22);
    for k in [1, 2, 4, 10] {
        for packets in [15, 16, 19, 55, 1015] {
            let got = green_bytes(promotion::Spec::OneOfK(k), packets, 1000, &mut bits);
            assert_eq!(got, u64::from(15 + (packets - 15) / k) * 1000, "K = {k}, {packets} packets");
        }
    }
}

#[test]
fn s_sfd__k_of_one_is_all_in() {
    assert_eq!(green_bytes(promotion::Spec::OneOfK(1), 5000, 1500, &mut Bits(1)), 5000 * 1500);
}

/// 1 + ln r = 1 + (r - 1) / 4 at r = 10.35: P-SFD promotes more before, S-SFD after.
#[test]
fn promotion__p_sfd_and_s_sfd_cross_at_ten_thresholds() {
    let mut bits = Bits(23);
    let mut lead = |times: f64| {
        let packets = (15_000.0 * times) as u32 / 10;
        let mut mean = |promotion| {
            (0..200).map(|_| green_bytes(promotion, packets, 10, &mut bits) as f64).sum::<f64>() / 200.0
        };
        mean(promotion::Spec::Probabilistic) - mean(promotion::Spec::OneOfK(4))
    };
    assert!(lead(9.85) > 0.0 && lead(10.85) < 0.0);
}

#[test]
fn flow_meter__idle_must_exceed_the_timeout() {
    let params = flow_meter::Params::new(&flow_meter::Spec::default()).unwrap();
    let mut meter = flow_meter::Meter::default();
    assert!(flow_meter::packet(&params, &mut meter, &View::new(500), 5));
    assert!(!flow_meter::expired(&params, &meter, 1_000_000_005));
    assert!(flow_meter::expired(&params, &meter, 1_000_000_006));
    assert!(!flow_meter::packet(&params, &mut meter, &View::new(500), 1_000_000_005));
    assert_eq!((meter.count(Unit::Bytes), meter.count(Unit::Packets)), (1000, 2));
}

/// SFD section 3.2: bytes "having been sent by each flow so far", so what is sent again counts again; and what is sent
/// on the way back of data counts as what it is, a packet.
#[test]
fn flow_meter__counts_every_packet_whatever_it_carries() {
    let params = flow_meter::Params::new(&flow_meter::Spec::default()).unwrap();
    let mut meter = flow_meter::Meter::default();
    let kinds = [0, View::RETRANSMISSION, View::IN_RECOVERY, View::ACK, View::REVERSE, View::ECT];
    for (number, flags) in (1..).zip(kinds) {
        flow_meter::packet(&params, &mut meter, &View::new(1000).with_flags(flags), number);
        assert_eq!(meter.count(Unit::Packets), number as u32, "flags {flags}");
        assert_eq!(meter.count(Unit::Bytes), number as u32 * 1000, "flags {flags}");
    }
}

#[test]
fn flow_meter__survives_a_clock_that_runs_back() {
    let params = flow_meter::Params::new(&flow_meter::Spec { timeout_ns: 10, syn_restarts: true }).unwrap();
    let mut meter = flow_meter::Meter::default();
    flow_meter::packet(&params, &mut meter, &View::new(1), 1000);
    assert!(!flow_meter::packet(&params, &mut meter, &View::new(1), 500));
    assert!(!flow_meter::packet(&params, &mut meter, &View::new(1), 1010));
}

#[test]
fn flow_meter__counters_stop_at_their_end() {
    let params = flow_meter::Params::new(&flow_meter::Spec::default()).unwrap();
    let mut meter = flow_meter::Meter::default();
    for _ in 0..3 {
        flow_meter::packet(&params, &mut meter, &View::new(2_000_000_000).with_segments(u16::MAX), 7);
    }
    assert_eq!((meter.count(Unit::Bytes), meter.count(Unit::Packets)), (u32::MAX, 3 * 65535));
}

#[test]
fn threshold_marker__judges_a_super_packet_as_a_whole() {
    let meter_params = flow_meter::Params::new(&flow_meter::Spec::default()).unwrap();
    let spec =
        threshold_marker::Spec { threshold: 10, unit: Unit::Packets, ..threshold_marker::Spec::default() };
    let params = threshold_marker::Params::new(&spec).unwrap();
    let mut meter = flow_meter::Meter::default();
    let mut colours = |segments| {
        flow_meter::packet(&meter_params, &mut meter, &View::new(9000).with_segments(segments), 0);
        threshold_marker::colour(&params, &meter)
    };
    assert_eq!([colours(6), colours(4), colours(1)], [Colour::Green, Colour::Green, Colour::Yellow]);
}

fn sfd_level(max_p: f64) -> red::Spec {
    let thresholds = red::Spec { min_packets: 8.0, max_packets: 24.0, max_p, ..red::Spec::default() };
    red::Spec { w_q: 0.02, rate_bps: 3e6, ..thresholds }
}

struct Pair {
    single: [u32; 4],
    multi: [u32; 4],
    differing: u32,
}

/// Offers one arrival sequence to a multi-RED of equal levels; a single RED judges the same backlog.
fn race(mode: Mode, spec: red::Spec, pick: fn(&mut Bits) -> Colour) -> Pair {
    let multi = multi_red::Params::new(&multi_red::Spec { mode, levels: vec![spec; 3] }).unwrap();
    let single = red::Params::new(&spec).unwrap();
    let (mut multi_state, mut single_state) = (multi_red::State::default(), red::State::default());
    let (mut link, mut bits, mut now_ns, mut emptied_ns) = (Link::new(spec.rate_bps), Bits(31), 0, 0);
    let mut pair = Pair { single: [0; 4], multi: [0; 4], differing: 0 };
    for _ in 0..60_000 {
        now_ns += (-bits.uniform().max(1e-9).ln() * 8e12 / spec.rate_bps / 1.1) as u64;
        let colour = pick(&mut bits);
        for left in link.advance(now_ns) {
            emptied_ns = left.at_ns;
            multi_red::departed(&multi, &mut multi_state, left.colour, &left.after, left.at_ns);
        }
        let (packets, bytes) = (link.backlog.packets.iter().sum(), link.backlog.bytes.iter().sum());
        let (view, random) = (View::new(1000).with_colour(colour), bits.next());
        let whole = Backlog::new(packets, bytes, if packets == 0 { emptied_ns } else { NEVER });
        let a = red::packet(&single, &mut single_state, &view, &whole, now_ns, random);
        let b = multi_red::packet(&multi, &mut multi_state, &view, &link.backlog, now_ns, random);
        assert_eq!(red::average(&single, &single_state), multi_red::average(&multi, &multi_state, colour));
        pair.single[a as usize] += 1;
        pair.multi[b as usize] += 1;
        pair.differing += u32::from(a != b);
        if !b.drops() {
            for left in link.enqueue(colour, 1000, now_ns) {
                emptied_ns = left.at_ns;
                multi_red::departed(&multi, &mut multi_state, left.colour, &left.after, left.at_ns);
            }
        }
    }
    pair
}

#[test]
fn multi_red__of_one_colour_is_a_single_red() {
    for mode in [Mode::Coupled, Mode::Decoupled, Mode::Total] {
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
        let levels = vec![red::Spec { w_q: 1.0, ..sfd_level(0.1) }; 2];
        let params = multi_red::Params::new(&multi_red::Spec { mode, levels }).unwrap();
        let mut backlog = mousehole_policy::ColourBacklog::default();
        (0..30).for_each(|_| backlog.add(Colour::Green, 1000));
        let view = View::new(1000).with_colour(Colour::Yellow);
        multi_red::packet(&params, &mut multi_red::State::default(), &view, &backlog, 0, 0)
    };
    assert_eq!(verdict(Mode::Decoupled), Verdict::Pass);
    assert_eq!(verdict(Mode::Coupled), Verdict::Forced);
}

/// Gaps between drops at p_b = 0.05: uniform on 1 .. 19 without wait, on 20 .. 39 with it.
#[test]
fn red__spacing_has_the_papers_gaps() {
    for (wait, least, mean, most) in [(false, 1, 10.0, 19), (true, 20, 29.5, 39)] {
        let spec = red::Spec { w_q: 1.0, max_p: 0.1, wait, ..red::Spec::default() };
        let params = red::Params::new(&spec).unwrap();
        let (mut state, mut bits, mut gaps, mut gap) = (red::State::default(), Bits(41), Vec::new(), 0);
        for _ in 0..400_000 {
            gap += 1;
            let backlog = Backlog::new(10, 10_000, NEVER); // p_b = 0.05
            if red::packet(&params, &mut state, &View::new(1000), &backlog, 0, bits.next()) != Verdict::Pass {
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

fn refused(result: Result<impl Sized, ParamError>) -> String {
    result.err().expect("must be refused").to_string()
}

#[test]
fn params__name_field_value_and_what_is_allowed() {
    let base = red::Spec::default();
    assert_eq!(
        refused(red::Params::new(&red::Spec { max_p: 1.5, ..base })),
        "max_p: 1.5 is not allowed; 0.000000001 to 1"
    );
    assert_eq!(
        refused(red::Params::new(&red::Spec { max_packets: 5.5, ..base })),
        "max_packets: 5.5 is not allowed; 6 to 1048576 packets"
    );
    for spec in [
        red::Spec { min_packets: -1.0, ..base },
        red::Spec { min_packets: f64::NAN, ..base },
        red::Spec { w_q: 0.0, ..base },
        red::Spec { w_q: f64::INFINITY, ..base },
        red::Spec { mean_packet_bytes: 0.0, ..base },
        red::Spec { rate_bps: 0.0, ..base },
    ] {
        assert!(red::Params::new(&spec).is_err(), "{spec:?}");
    }
}

#[test]
fn params__of_the_other_policies_are_checked() {
    let levels = vec![red::Spec::default(), red::Spec { w_q: 2.0, ..red::Spec::default() }];
    let spec = multi_red::Spec { mode: Mode::Coupled, levels };
    assert_eq!(refused(multi_red::Params::new(&spec)), "yellow.w_q: 2 is not allowed; 0.000001 to 1");
    let none = multi_red::Spec { mode: Mode::Coupled, levels: Vec::new() };
    assert_eq!(refused(multi_red::Params::new(&none)), "levels: 0 is not allowed; 1 to 3 colours");
    let k = sfd::Spec { promotion: promotion::Spec::OneOfK(0), ..sfd::Spec::default() };
    assert_eq!(refused(sfd::Params::new(&k)), "k: 0 is not allowed; 1 to 4294967295");
    assert!(sfd::Params::new(&sfd::Spec { timeout_ns: 0, ..sfd::Spec::default() }).is_err());
    assert!(sfd::Params::new(&sfd::Spec { threshold: u32::MAX, ..sfd::Spec::default() }).is_err());
}
