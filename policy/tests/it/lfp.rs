//! LFP's marker: every transition of its state machine, its limits, and a reference model in floats with a sorted
//! history.

use crate::common::parts::{Bucket, BucketParams, inner, word_field};
use crate::common::specs::Lfp as Spec;
use crate::common::{Bits, Marker, parameter_error, parameter_error_at, params, params_at, reference};
use mousehole_policy::{Colour, LinkContext, State, View};

const SECOND: u64 = 1_000_000_000;

/// Returns tau 10; 1 packet/s, burst 100, open from 75 and closed below 25.
fn spec() -> Spec {
    Spec { rate: 1.0, burst: 100, sizes: (0.5, 4), ..Spec::default() }
}

/// Returns how many packets a flow's meter has counted.
fn metered_packets(flow: &State) -> u32 {
    let meter = inner(&flow.bytes(), "mh_lfp_flow.meter");
    word_field(&State::from_bytes(&meter), "mh_flow_meter.packets") as u32
}

fn is_elephant(flow: &State) -> bool {
    word_field(flow, "mh_lfp_flow.elephant") != 0
}

/// Ends a flow of `size` packets, which it has sent to a copy of the marker as one super-packet.
fn end_flow(marker: &mut Marker, size: u32) {
    let mut flow = marker.new_flow();
    marker.clone().packet(&mut flow, &View::new(1500).with_segments(size as u16), 0, 0);
    assert_eq!(metered_packets(&flow), size);
    marker.flow_end(&flow);
}

#[test]
fn period__is_a_second() {
    let lfp = params("lfp", &[]);
    assert_eq!(lfp.policy().period_ns(&lfp), Some(SECOND));
}

/// An edge and one flow of it.
struct Edge {
    marker: Marker,
    flow: State,
    now_ns: u64,
}

impl Edge {
    fn new(spec: &Spec) -> Edge {
        let marker = Marker::new(spec.params());
        Edge { flow: marker.new_flow(), marker, now_ns: 0 }
    }

    /// Sends a packet of so many segments and returns its colour.
    fn super_packet(&mut self, segments: u16) -> Colour {
        let view = View::new(1500).with_segments(segments);
        self.marker.packet(&mut self.flow, &view, self.now_ns, 0)
    }

    fn packet(&mut self) -> Colour {
        self.super_packet(1)
    }

    fn bucket(&self) -> Bucket {
        Bucket::from_bytes(&inner(&self.marker.state.bytes(), "mh_lfp_state.bucket"))
    }

    fn tokens(&self) -> f64 {
        let params = BucketParams::from_bytes(&inner(&self.marker.params.bytes(), "mh_lfp_params.bucket"));
        self.bucket().tokens(&params)
    }

    fn is_open(&self) -> bool {
        word_field(&self.marker.state, "mh_lfp_state.open") != 0
    }

    /// Empties the bucket with packets of short flows.
    fn drain(&mut self) {
        let new_flow = self.marker.new_flow();
        let mine = std::mem::replace(&mut self.flow, new_flow.clone());
        while self.tokens() > 0.0 {
            self.flow = new_flow.clone();
            assert_eq!(self.packet(), Colour::Green);
        }
        self.flow = mine;
    }

    fn end_flows(&mut self, sizes: &[u32]) {
        sizes.iter().for_each(|size| end_flow(&mut self.marker, *size));
    }
}

#[test]
fn lfp__t1_short_stays_short_up_to_tau() {
    let mut edge = Edge::new(&spec());
    assert!((0..10).all(|_| edge.packet() == Colour::Green));
    assert_eq!((metered_packets(&edge.flow), is_elephant(&edge.flow)), (10, false));
}

#[test]
fn lfp__t2_and_t4_the_packet_after_tau_is_long_where_nothing_is_promoted() {
    let mut edge = Edge::new(&spec());
    (0..10).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    edge.drain();
    assert!((0..5).all(|_| edge.packet() == Colour::Yellow));
    assert!(!edge.is_open() && !is_elephant(&edge.flow));
}

#[test]
fn lfp__t3_a_long_flow_is_promoted_while_open_and_comes_and_goes() {
    let mut edge = Edge::new(&spec());
    (0..10).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    assert_eq!(edge.packet(), Colour::Green);
    edge.drain();
    assert_eq!(edge.packet(), Colour::Yellow);
    // Many packets keep the flow alive until the bucket is at 75 %.
    for second in 1..75 {
        edge.now_ns = second * SECOND;
        assert_eq!(edge.packet(), Colour::Yellow, "{second} s");
    }
    edge.now_ns = 75 * SECOND;
    assert_eq!(edge.packet(), Colour::Green);
}

#[test]
fn lfp__t5_and_t6_an_elephant_is_one_for_good() {
    let mut edge = Edge::new(&spec());
    edge.end_flows(&[12, 12, 13, 13]);
    (0..11).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    assert_eq!(edge.packet(), Colour::Red);
    edge.end_flows(&[1000; 4]);
    assert!((0..50).all(|_| edge.packet() == Colour::Red));
    // Until its state expires.
    edge.now_ns = 5 * SECOND;
    assert!(!edge.marker.expired(&edge.flow, edge.now_ns));
    edge.now_ns += 1;
    assert!(edge.marker.expired(&edge.flow, edge.now_ns));
    assert_eq!((edge.packet(), is_elephant(&edge.flow)), (Colour::Green, false));
}

/// Promotion and elephant at once: elephant wins, and takes no token.
#[test]
fn lfp__gamma_wins_over_beta() {
    let mut edge = Edge::new(&spec());
    edge.end_flows(&[5, 6]);
    edge.super_packet(10);
    let before = edge.bucket();
    assert_eq!(edge.packet(), Colour::Red);
    assert!(edge.is_open());
    assert_eq!(edge.bucket(), before);
}

#[test]
fn lfp__memoryless_judges_each_packet_anew() {
    let mut edge = Edge::new(&Spec { memoryless: true, ..spec() });
    edge.end_flows(&[12, 12, 13, 13]);
    (0..11).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    assert_eq!(edge.packet(), Colour::Red);
    edge.end_flows(&[1000; 4]);
    assert_eq!(edge.packet(), Colour::Green);
}

/// Fills of 75 and 25 % exactly, and slightly below and above.
#[test]
fn lfp__opens_at_its_upper_limit_and_closes_below_its_lower() {
    let open = |steps: &[(u64, u16)]| {
        let mut edge = Edge::new(&spec());
        for (now_ns, segments) in steps {
            edge.now_ns = *now_ns;
            edge.flow = edge.marker.new_flow();
            edge.super_packet(*segments);
        }
        edge.is_open()
    };
    // A new flow's 10 segments take 10 tokens; the fill is judged before. 100, 90, .., 30 and then 25 or less.
    let down: Vec<(u64, u16)> = vec![(0, 10); 7];
    let then = |more: &[(u64, u16)]| [&down[..], more].concat();
    assert!(open(&then(&[(0, 5), (0, 1)])), "25 %");
    assert!(!open(&then(&[(0, 6), (SECOND - 1, 1)])), "24 %, and 1 ns less than a token");
    assert!(open(&then(&[(0, 6), (SECOND, 1)])), "24 % and a token");
    // Closed at 24, with 75 reached 51 s later.
    assert!(!open(&then(&[(0, 6), (0, 0), (52 * SECOND - 1, 1)])));
    assert!(open(&then(&[(0, 6), (0, 0), (52 * SECOND, 1)])));
}

/// Plays random packets of many flows. `see` gets each packet's number in its flow, its colour and the flow's state.
fn play_traffic(spec: &Spec, seed: u64, mut see: impl FnMut(u32, Colour, &State)) {
    let (mut marker, mut bits) = (Marker::new(spec.params()), Bits(seed));
    let (mut flows, mut left, mut now_ns) = (vec![marker.new_flow(); 20], vec![0u32; 20], 0);
    for _ in 0..30_000 {
        now_ns += u64::from(bits.below(10_000_000));
        let at = bits.below(20) as usize;
        if left[at] == 0 {
            match metered_packets(&flows[at]) {
                0 => end_flow(&mut marker, 1),
                _ => marker.flow_end(&flows[at]),
            }
            (flows[at], left[at]) = (marker.new_flow(), bits.spread(1.0, 120.0) as u32);
        }
        left[at] -= 1;
        let view = View::new(1500);
        let colour = marker.packet(&mut flows[at], &view, now_ns, 0);
        see(metered_packets(&flows[at]), colour, &flows[at]);
    }
}

fn sizes(quantile: f64) -> (f64, u32) {
    (quantile, 200)
}

#[test]
fn lfp__without_tokens_and_elephants_is_the_fixed_threshold() {
    let mut seen = [0; 2];
    play_traffic(&Spec { rate: 0.0, sizes: sizes(1.0), ..Spec::default() }, 71, |count, colour, _| {
        assert_eq!(colour, if count <= 10 { Colour::Green } else { Colour::Yellow });
        seen[colour.index()] += 1;
    });
    assert!(seen.iter().all(|count| *count > 1000));
}

#[test]
fn lfp__with_tokens_in_abundance_all_but_elephants_are_green() {
    let mut elephants = 0;
    play_traffic(
        &Spec { rate: 1e9, burst: 1000, sizes: sizes(0.95), ..Spec::default() },
        72,
        |_, colour, flow| {
            assert_eq!(colour, if is_elephant(flow) { Colour::Red } else { Colour::Green });
            elephants += u32::from(is_elephant(flow));
        },
    );
    assert!(elephants > 100, "{elephants}");
}

#[test]
fn lfp__the_first_tau_packets_of_every_flow_are_green() {
    for rate in [0.0, 5.0, 83.0] {
        let (mut short, mut others) = (0, [0; 3]);
        play_traffic(&Spec { rate, sizes: sizes(0.9), ..Spec::default() }, 73, |count, colour, _| {
            if count <= 10 {
                short += 1;
                assert_eq!(colour, Colour::Green);
            } else {
                others[colour.index()] += 1;
            }
        });
        assert!(short > 1000 && others[1] + others[2] > 1000, "{rate}: {short} {others:?}");
        assert_eq!(others[0] > 0, rate == 83.0, "at 5 packets/s short flows take all tokens");
    }
}

#[test]
fn lfp__short_flows_pass_an_empty_bucket_and_leave_no_debt() {
    let mut edge = Edge::new(&spec());
    edge.drain();
    for _ in 0..1000 {
        edge.flow = edge.marker.new_flow();
        assert!((0..10).all(|_| edge.packet() == Colour::Green));
    }
    edge.now_ns = 75 * SECOND;
    edge.flow = edge.marker.new_flow();
    edge.packet();
    assert!(edge.is_open(), "75 s after, 75 tokens are there");
}

/// A flow that comes back in place and one that was swept before leave the same history.
#[test]
fn lfp__a_flow_that_starts_anew_has_ended_once() {
    let (mut swept, mut restarted) = (Edge::new(&spec()), Edge::new(&spec()));
    for edge in [&mut swept, &mut restarted] {
        (0..7).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
        edge.now_ns = 6 * SECOND;
    }
    swept.marker.flow_end(&swept.flow);
    swept.flow = swept.marker.new_flow();
    assert_eq!((swept.packet(), restarted.packet()), (Colour::Green, Colour::Green));
    assert_eq!((&swept.flow, &swept.marker.state), (&restarted.flow, &restarted.marker.state));
    assert_eq!(restarted.marker.reading("elephant_packets"), 7.0);
}

#[test]
fn lfp__gives_the_colours_of_the_reference_model() {
    let (mut bits, mut seen) = (Bits(74), [0; 3]);
    for round in 0..30 {
        let quantile = [0.8, 0.9, 0.95][round % 3];
        let sizes = (quantile, 20 + bits.below(100));
        let spec = Spec {
            rate: bits.spread(5.0, 200.0).round(),
            burst: 10 + bits.below(90),
            sizes,
            ..Spec::default()
        };
        let mut marker = Marker::new(spec.params());
        let mut model = reference::Lfp::new(spec);
        let (mut flows, mut now_ns) = (vec![(marker.new_flow(), false, 0u32); 10], 0);
        for _ in 0..1500 {
            now_ns += u64::from(bits.below(15_000_000));
            let (flow, elephant, left) = &mut flows[bits.below(10) as usize];
            if *left == 0 {
                let size = metered_packets(flow);
                marker.flow_end(flow);
                if size > 0 {
                    model.end_flow(size);
                }
                (*flow, *elephant, *left) = (marker.new_flow(), false, bits.spread(1.0, 120.0) as u32);
            }
            *left -= 1;
            let colour = marker.packet(flow, &View::new(1500), now_ns, 0);
            let (expected, margin) = model.packet(metered_packets(flow), elephant, now_ns);
            // Whole rates are exact in the header; the floats are not at a tie.
            if margin < 1e-9 {
                break;
            }
            assert_eq!(colour, expected, "round {round}");
            seen[colour.index()] += 1;
        }
    }
    println!("LFP beside its reference model: green, yellow, red {seen:?}");
    assert!(seen.iter().all(|count| *count > 300) && seen.iter().sum::<i32>() > 20_000, "{seen:?}");
}

#[test]
fn params__name_parameter_value_and_what_is_allowed() {
    let pair = "delta: its value is not allowed here; allowed: at most kappa, and at most 100 - kappa";
    assert_eq!(parameter_error("lfp", &[("kappa", "80")]), pair);
    assert_eq!(parameter_error("lfp", &[("kappa", "20")]), pair);
    assert_eq!(
        parameter_error("lfp", &[("kappa", "101")]),
        "kappa: \"101\" is not allowed; allowed: percent (20 or 20%); 0 to 100 %"
    );
    for (name, value) in
        [("tau", "4294967295"), ("timeout", "0s"), ("omega", "-1"), ("zeta", "0"), ("delta", "NaN")]
    {
        assert!(
            parameter_error("lfp", &[(name, value)]).starts_with(&format!("{name}: \"{value}\" is not")),
            "{name}"
        );
    }
}

/// The bucket gets no tokens, or at least one a second.
#[test]
fn params__omega_fits_the_link() {
    let slow = LinkContext { rate_bps: 12e3, bottleneck_bps: 12e3, ..LinkContext::EXAMPLE };
    assert!(
        parameter_error_at("lfp", &[("omega", "0.9")], &slow)
            .starts_with("omega: its value is not allowed here")
    );
    // The slower of link and bottleneck counts.
    let behind = LinkContext { bottleneck_bps: 12e3, ..LinkContext::EXAMPLE };
    assert!(
        parameter_error_at("lfp", &[("omega", "0.9")], &behind)
            .starts_with("omega: its value is not allowed here")
    );
    params("lfp", &[("omega", "0.9")]);
    // One token a second, 10^11 tokens a second, and none at all.
    let of_rate = |rate_bps| LinkContext { rate_bps, bottleneck_bps: rate_bps, ..LinkContext::EXAMPLE };
    for (rate_bps, omega) in [(12e3, "1"), (1.2e9, "1000000"), (12e3, "0")] {
        params_at("lfp", &[("omega", omega)], &of_rate(rate_bps));
    }
    let refused = parameter_error_at("lfp", &[("omega", "1000000")], &of_rate(1.21e9));
    assert!(refused.starts_with("omega: its value is not allowed here"), "{refused}");
}

/// Promotion may open at a full bucket, and never close.
#[test]
fn params__limits_may_be_those_of_the_bucket() {
    for (kappa, delta) in [("50", "50"), ("75", "25"), ("25", "25"), ("0", "0"), ("100", "0")] {
        params("lfp", &[("kappa", kappa), ("delta", delta)]);
    }
    let refused = parameter_error("lfp", &[("kappa", "50.001"), ("delta", "50")]);
    assert!(refused.starts_with("delta: its value is not allowed here"), "{refused}");
}

#[test]
fn published__changes_only_at_the_end_of_a_flow() {
    let (mut edge, lfp) = (Edge::new(&spec()), params("lfp", &[]));
    edge.end_flows(&[12, 12, 13, 13]);
    let published = &edge.marker.state.bytes()[lfp.policy().published()];
    assert_eq!(published, [12u32.to_ne_bytes(), 1u32.to_ne_bytes()].concat(), "Q(u), and that it is known");
    assert!(params("sfd", &[]).policy().published().is_empty());
}

#[test]
fn elephant_packets__is_unknown_before_a_flow_has_ended() {
    assert!(Edge::new(&spec()).marker.reading("elephant_packets").is_nan());
}
