//! LFP's marker: every transition of its state machine, its limits, and a twin in floats with a sorted history.
use crate::common::Bits;
use mousehole_policy::lfp::{Flow, Params, Spec, State, expired, flow_end, packet};
use mousehole_policy::{Colour, ParamError, Unit, View, size_history, token_bucket};
use std::collections::VecDeque;

const SECOND: u64 = 1_000_000_000;

/// tau 10; 1 packet/s, burst 100, open from 75 and closed below 25.
fn spec() -> Spec {
    let sizes = size_history::Spec { quantile: 0.5, flows: 4 };
    Spec { rate: 1.0, burst: 100, sizes, ..Spec::default() }
}

/// An edge and one flow of it.
struct Edge {
    params: Params,
    state: Box<State>,
    flow: Flow,
    now_ns: u64,
}

impl Edge {
    fn new(spec: &Spec) -> Edge {
        let params = Params::new(spec).unwrap();
        Edge { params, state: Box::default(), flow: Flow::default(), now_ns: 0 }
    }

    /// A packet of so many segments.
    fn super_packet(&mut self, segments: u16) -> Colour {
        let view = View::new(1500).with_segments(segments);
        packet(&self.params, &mut self.flow, &mut self.state, &view, self.now_ns)
    }

    fn packet(&mut self) -> Colour {
        self.super_packet(1)
    }

    /// Empties the bucket by short flows.
    fn drain(&mut self) {
        let bucket = token_bucket::Params::new(&token_bucket::Spec { rate: 1.0, burst: 100 }).unwrap();
        let mine = self.flow;
        while self.state.bucket().tokens(&bucket) > 0.0 {
            self.flow = Flow::default();
            assert_eq!(self.packet(), Colour::Green);
        }
        self.flow = mine;
    }

    fn ended(&mut self, sizes: &[u32]) {
        sizes.iter().for_each(|size| flow_end(&self.params, &mut self.state, *size));
    }
}

#[test]
fn lfp__t1_short_stays_short_up_to_tau() {
    let mut edge = Edge::new(&spec());
    assert!((0..10).all(|_| edge.packet() == Colour::Green));
    assert_eq!((edge.flow.meter().count(Unit::Packets), edge.flow.is_elephant()), (10, false));
}

#[test]
fn lfp__t2_and_t4_the_packet_after_tau_is_long_where_nothing_is_promoted() {
    let mut edge = Edge::new(&spec());
    (0..10).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    edge.drain();
    assert!((0..5).all(|_| edge.packet() == Colour::Yellow));
    assert!(!edge.state.is_open() && !edge.flow.is_elephant());
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
    edge.ended(&[12, 12, 13, 13]);
    (0..11).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    assert_eq!(edge.packet(), Colour::Red);
    edge.ended(&[1000; 4]);
    assert!((0..50).all(|_| edge.packet() == Colour::Red));
    // Until its state expires.
    edge.now_ns = 5 * SECOND;
    assert!(!expired(&edge.params, &edge.flow, edge.now_ns));
    edge.now_ns += 1;
    assert!(expired(&edge.params, &edge.flow, edge.now_ns));
    assert_eq!((edge.packet(), edge.flow.is_elephant()), (Colour::Green, false));
}

/// Promotion and elephant at once: elephant wins, and takes no token.
#[test]
fn lfp__gamma_wins_over_beta() {
    let mut edge = Edge::new(&spec());
    edge.ended(&[5, 6]);
    edge.super_packet(10);
    let before = *edge.state.bucket();
    assert_eq!(edge.packet(), Colour::Red);
    assert!(edge.state.is_open());
    assert_eq!(*edge.state.bucket(), before);
}

#[test]
fn lfp__memoryless_asks_anew() {
    let mut edge = Edge::new(&Spec { memoryless: true, ..spec() });
    edge.ended(&[12, 12, 13, 13]);
    (0..11).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
    assert_eq!(edge.packet(), Colour::Red);
    edge.ended(&[1000; 4]);
    assert_eq!(edge.packet(), Colour::Green);
}

/// Fills of 75 and 25 % exactly, and a hair beside them.
#[test]
fn lfp__opens_at_its_upper_limit_and_closes_below_its_lower() {
    let open = |steps: &[(u64, u16)]| {
        let mut edge = Edge::new(&spec());
        for (now_ns, segments) in steps {
            edge.now_ns = *now_ns;
            edge.flow = Flow::default();
            edge.super_packet(*segments);
        }
        edge.state.is_open()
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

/// Every packet of many flows at random; what each got, by its place in the flow and whether it had a red one.
fn traffic(spec: &Spec, seed: u64, mut see: impl FnMut(u32, Colour, &Flow)) {
    let (params, mut state, mut bits) = (Params::new(spec).unwrap(), Box::<State>::default(), Bits(seed));
    let (mut flows, mut left, mut now_ns) = (vec![Flow::default(); 20], vec![0u32; 20], 0);
    for _ in 0..30_000 {
        now_ns += u64::from(bits.below(10_000_000));
        let at = bits.below(20) as usize;
        if left[at] == 0 {
            flow_end(&params, &mut state, flows[at].meter().count(Unit::Packets).max(1));
            (flows[at], left[at]) = (Flow::default(), bits.spread(1.0, 120.0) as u32);
        }
        left[at] -= 1;
        let view = View::new(1500);
        let colour = packet(&params, &mut flows[at], &mut state, &view, now_ns);
        see(flows[at].meter().count(Unit::Packets), colour, &flows[at]);
    }
}

fn sizes(quantile: f64) -> size_history::Spec {
    size_history::Spec { quantile, flows: 200 }
}

#[test]
fn lfp__without_tokens_and_elephants_is_the_fixed_threshold() {
    let mut seen = [0; 2];
    traffic(&Spec { rate: 0.0, sizes: sizes(1.0), ..Spec::default() }, 71, |count, colour, _| {
        assert_eq!(colour, if count <= 10 { Colour::Green } else { Colour::Yellow });
        seen[colour.index()] += 1;
    });
    assert!(seen.iter().all(|count| *count > 1000));
}

#[test]
fn lfp__with_tokens_in_abundance_all_but_elephants_are_green() {
    let mut elephants = 0;
    traffic(
        &Spec { rate: 1e9, burst: 1000, sizes: sizes(0.95), ..Spec::default() },
        72,
        |_, colour, flow| {
            assert_eq!(colour, if flow.is_elephant() { Colour::Red } else { Colour::Green });
            elephants += u32::from(flow.is_elephant());
        },
    );
    assert!(elephants > 100, "{elephants}");
}

#[test]
fn lfp__the_first_tau_packets_of_every_flow_are_green() {
    for rate in [0.0, 5.0, 83.0] {
        let (mut short, mut others) = (0, [0; 3]);
        traffic(&Spec { rate, sizes: sizes(0.9), ..Spec::default() }, 73, |count, colour, _| {
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
        edge.flow = Flow::default();
        assert!((0..10).all(|_| edge.packet() == Colour::Green));
    }
    edge.now_ns = 75 * SECOND;
    edge.flow = Flow::default();
    edge.packet();
    assert!(edge.state.is_open(), "75 s after, 75 tokens are there");
}

/// A flow that comes back in place and one that was swept before leave the same history.
#[test]
fn lfp__a_flow_that_starts_anew_has_ended_once() {
    let (mut swept, mut restarted) = (Edge::new(&spec()), Edge::new(&spec()));
    for edge in [&mut swept, &mut restarted] {
        (0..7).for_each(|_| assert_eq!(edge.packet(), Colour::Green));
        edge.now_ns = 6 * SECOND;
    }
    flow_end(&swept.params, &mut swept.state, 7);
    swept.flow = Flow::default();
    assert_eq!((swept.packet(), restarted.packet()), (Colour::Green, Colour::Green));
    assert_eq!((swept.flow, &swept.state), (restarted.flow, &restarted.state));
    assert_eq!(restarted.state.history().quantile(), Some(7));
}

/// LFP in floats, with the sizes in a list.
struct Float {
    spec: Spec,
    level: f64,
    last_ns: u64,
    open: bool,
    kept: VecDeque<u32>,
}

impl Float {
    fn ended(&mut self, size: u32) {
        self.kept.push_back(size);
        if self.kept.len() > self.spec.sizes.flows as usize {
            self.kept.pop_front();
        }
    }

    fn quantile(&self) -> Option<u32> {
        let mut sorted: Vec<u32> = self.kept.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (self.spec.sizes.quantile * sorted.len() as f64 - 1e-9).ceil() as usize;
        (rank < sorted.len()).then(|| sorted[rank - 1])
    }

    /// The colour, and how far the fill is from a limit, in tokens.
    fn packet(&mut self, count: u32, elephant: &mut bool, now_ns: u64) -> (Colour, f64) {
        let Spec { rate, burst, set_point, hysteresis, .. } = self.spec;
        let full = f64::from(burst);
        self.level = (self.level + rate * (now_ns - self.last_ns) as f64 / 1e9).min(full);
        self.last_ns = now_ns;
        let [low, high] = [set_point - hysteresis, set_point + hysteresis].map(|at| at / 100.0 * full);
        self.open = self.level >= high || (self.open && self.level >= low);
        let margin = [low, high, 1.0].map(|at| (self.level - at).abs()).into_iter().fold(1.0, f64::min);
        if count <= self.spec.threshold {
            self.level = (self.level - 1.0).max(0.0);
            return (Colour::Green, margin);
        }
        *elephant |= self.quantile().is_some_and(|quantile| count >= quantile);
        if *elephant {
            return (Colour::Red, margin);
        }
        if !self.open || self.level < 1.0 {
            return (Colour::Yellow, margin);
        }
        self.level -= 1.0;
        (Colour::Green, margin)
    }
}

#[test]
fn lfp__gives_the_float_twins_colours() {
    let (mut bits, mut seen) = (Bits(74), [0; 3]);
    for round in 0..30 {
        let quantile = [0.8, 0.9, 0.95][round % 3];
        let sizes = size_history::Spec { quantile, flows: 20 + bits.below(100) };
        let spec = Spec {
            rate: bits.spread(5.0, 200.0).round(),
            burst: 10 + bits.below(90),
            sizes,
            ..Spec::default()
        };
        let (params, mut state) = (Params::new(&spec).unwrap(), Box::<State>::default());
        let mut twin =
            Float { spec, level: f64::from(spec.burst), last_ns: 0, open: false, kept: VecDeque::new() };
        let (mut flows, mut now_ns) = (vec![(Flow::default(), false, 0u32); 10], 0);
        for _ in 0..1500 {
            now_ns += u64::from(bits.below(15_000_000));
            let (flow, elephant, left) = &mut flows[bits.below(10) as usize];
            if *left == 0 {
                let size = flow.meter().count(Unit::Packets);
                flow_end(&params, &mut state, size);
                twin.ended(size);
                (*flow, *elephant, *left) = (Flow::default(), false, bits.spread(1.0, 120.0) as u32);
            }
            *left -= 1;
            let colour = packet(&params, flow, &mut state, &View::new(1500), now_ns);
            let (expected, margin) = twin.packet(flow.meter().count(Unit::Packets), elephant, now_ns);
            // Whole rates are exact in the header; the floats are not at a tie.
            if margin < 1e-9 {
                break;
            }
            assert_eq!(colour, expected, "round {round}");
            seen[colour.index()] += 1;
        }
    }
    println!("LFP beside its float twin: green, yellow, red {seen:?}");
    assert!(seen.iter().all(|count| *count > 300) && seen.iter().sum::<i32>() > 20_000, "{seen:?}");
}

#[test]
fn params__name_field_value_and_what_is_allowed() {
    let refused = |spec: Spec| -> String {
        let error: ParamError = Params::new(&spec).unwrap_err();
        error.to_string()
    };
    let base = Spec::default();
    assert_eq!(refused(Spec { set_point: 80.0, ..base }), "hysteresis: 25 is not allowed; 0 to 20 percent");
    assert_eq!(refused(Spec { set_point: 101.0, ..base }), "set_point: 101 is not allowed; 0 to 100 percent");
    assert_eq!(
        refused(Spec { sizes: sizes(2.0), ..base }),
        "sizes.quantile: 2 is not allowed; 0.000001 to 1"
    );
    for bad in [
        Spec { threshold: u32::MAX, ..base },
        Spec { timeout_ns: 0, ..base },
        Spec { rate: -1.0, ..base },
        Spec { burst: 0, ..base },
        Spec { hysteresis: f64::NAN, ..base },
    ] {
        assert!(Params::new(&bad).is_err(), "{bad:?}");
    }
}
