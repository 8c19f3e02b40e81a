//! Token bucket, policer and aggregate marker against the same formulae in floats and in 128 bits, and what must hold
//! of them exactly.
use crate::common::Bits;
use mousehole_policy::token_bucket::{self, Params, Spec, State};
use mousehole_policy::{Colour, ParamError, View, aggregate_marker, policer};

/// What the header says the rate may be off by, tokens/s.
fn rate_error(spec: &Spec) -> f64 {
    let room = 2f64.powi(61) / 1e9 / f64::from(spec.burst.max(1 << 20));
    2f64.powi(-(room.log2().floor() as i32) - 1)
}

/// 1 kb/s to 100 Gb/s, bursts from a packet to 1 GB, or the same in packets.
fn random_spec(bits: &mut Bits) -> Spec {
    Spec { rate: bits.spread(125.0, 12.5e9), burst: bits.spread(1.0, 1e9) as u32 }
}

/// The bucket in floats.
struct Float {
    spec: Spec,
    level: f64,
    last_s: f64,
}

impl Float {
    fn refill(&mut self, now_s: f64) {
        let full = f64::from(self.spec.burst);
        self.level = (self.level + self.spec.rate * (now_s - self.last_s)).min(full);
        self.last_s = now_s;
    }
}

/// One bucket through 300 steps: the worst error as a part of the stated bound, and of a burst.
fn walk(bits: &mut Bits) -> (f64, f64) {
    let spec = random_spec(bits);
    let params = Params::new(&spec).unwrap();
    let full = f64::from(spec.burst);
    let (mut bucket, mut now_ns, mut since_full_s) = (State::default(), 0u64, 0.0);
    let mut twin = Float { spec, level: full, last_s: 0.0 };
    let (mut worst, mut of_burst) = (0.0f64, 0.0f64);
    for _ in 0..300 {
        let gap_ns = bits.spread(1.0, (full / spec.rate * 1e9).max(2.0) * 2.0) as u64;
        let gap_s = gap_ns as f64 / 1e9;
        (now_ns, since_full_s, twin.last_s) = (now_ns + gap_ns, since_full_s + gap_s, 0.0);
        twin.refill(gap_s);
        token_bucket::refill(&params, &mut bucket, now_ns);
        if bucket.tokens(&params) >= full {
            (since_full_s, twin.level) = (0.0, full);
        }
        step(&params, &mut bucket, &mut twin, bits);
        let error = (bucket.tokens(&params) - twin.level).abs();
        let of_floats = (full + twin.level.abs()) * 1e-13 + spec.rate * since_full_s * 1e-14;
        worst = worst.max(error / (rate_error(&spec) * since_full_s + of_floats));
        of_burst = of_burst.max(error / full);
    }
    (worst, of_burst)
}

/// Takes some tokens on both sides; whether a packet conforms is decided by one, so that a tie does not part them.
fn step(params: &Params, bucket: &mut State, twin: &mut Float, bits: &mut Bits) {
    let size = bits.below(twin.spec.burst.min(100_000)) + 1;
    let tokens = f64::from(size);
    match bits.below(3) {
        0 => {
            let conforms = token_bucket::conforms(params, bucket, size);
            assert_eq!(token_bucket::packet(params, bucket, size, 0), conforms);
            twin.level -= if conforms { tokens } else { 0.0 };
        }
        1 => {
            token_bucket::take(params, bucket, size);
            twin.level -= tokens;
        }
        _ => {
            token_bucket::take_clipped(params, bucket, size);
            twin.level = twin.level.min((twin.level - tokens).max(0.0));
        }
    }
}

#[test]
fn token_bucket__stays_within_its_stated_error() {
    let mut bits = Bits(51);
    let all: Vec<(f64, f64)> = (0..400).map(|_| walk(&mut bits)).collect();
    let [worst, of_burst] =
        [all.iter().map(|one| one.0).fold(0.0, f64::max), all.iter().map(|one| one.1).fold(0.0, f64::max)];
    println!("worst error of a level: {worst:.3} of the stated bound, {of_burst:.1e} of a burst");
    assert!(worst < 1.0);
}

#[test]
fn token_bucket__whole_bits_per_second_are_exact_up_to_250_mb() {
    for rate_bps in [1000u64, 56_001, 250_000, 2_000_003, 100_000_000_000] {
        for burst in [1500, 6000, 1 << 20, 250_000_000] {
            let params = Params::new(&Spec::bytes(rate_bps as f64, burst)).unwrap();
            let mut bucket = State::default();
            token_bucket::take(&params, &mut bucket, burst);
            // The first ns at which a byte is there: ceil(8 * 10^9 / rate), and the same for all bytes.
            for bytes in [1, burst] {
                let exact = (u128::from(bytes) * 8_000_000_000).div_ceil(rate_bps.into()) as u64;
                assert_eq!(token_bucket::wait_ns(&params, &bucket, bytes), Some(exact), "{rate_bps} {burst}");
            }
        }
    }
}

#[test]
fn token_bucket__loses_no_fraction_to_frequent_refills() {
    let mut bits = Bits(52);
    for _ in 0..200 {
        let spec = random_spec(&mut bits);
        let params = Params::new(&spec).unwrap();
        let (mut often, mut once) = (State::default(), State::default());
        for bucket in [&mut often, &mut once] {
            (0..3).for_each(|_| token_bucket::take(&params, bucket, spec.burst));
        }
        let end_ns = 1 + bits.spread(10.0, f64::from(spec.burst) / spec.rate * 4e9 + 20.0) as u64;
        let mut now_ns = 0;
        while now_ns < end_ns {
            now_ns =
                (now_ns + 1 + u64::from(bits.below(2 * (end_ns / 300).min(1 << 30) as u32 + 1))).min(end_ns);
            token_bucket::refill(&params, &mut often, now_ns);
        }
        token_bucket::refill(&params, &mut once, end_ns);
        assert_eq!(often, once, "{spec:?}");
    }
}

#[test]
fn token_bucket__a_packet_conforms_after_its_wait_and_not_before() {
    let (mut bits, mut waited) = (Bits(53), 0);
    for _ in 0..3000 {
        let spec = random_spec(&mut bits);
        let params = Params::new(&spec).unwrap();
        let mut bucket = State::default();
        let now_ns = bits.spread(1.0, 1e18) as u64;
        token_bucket::refill(&params, &mut bucket, now_ns);
        (0..2).for_each(|_| token_bucket::take(&params, &mut bucket, bits.below(spec.burst)));
        let size = bits.below(spec.burst) + 1;
        let wait_ns = token_bucket::wait_ns(&params, &bucket, size).unwrap();
        assert_eq!(token_bucket::conforms(&params, &bucket, size), wait_ns == 0);
        if wait_ns > 0 {
            waited += 1;
            let [mut early, mut due] = [bucket; 2];
            assert!(!token_bucket::packet(&params, &mut early, size, now_ns + wait_ns - 1), "{spec:?}");
            assert!(token_bucket::packet(&params, &mut due, size, now_ns + wait_ns), "{spec:?}");
        }
    }
    assert!(waited > 300, "{waited}");
}

#[test]
fn token_bucket__any_gap_fills_it_and_any_debt_is_paid() {
    for rate in [1.0, 125.0, 12.5e9, 1e11] {
        for burst in [1, 1500, 1_000_000_000] {
            let params = Params::new(&Spec { rate, burst }).unwrap();
            for gap_ns in [3_600_000_000_000 * 24 * 365, u64::MAX] {
                let mut bucket = State::default();
                token_bucket::take(&params, &mut bucket, burst.min(1000));
                token_bucket::refill(&params, &mut bucket, gap_ns);
                assert_eq!(bucket.tokens(&params), f64::from(burst), "{rate} {burst}");
            }
            let mut bucket = State::default();
            (0..10).for_each(|_| token_bucket::take(&params, &mut bucket, u32::MAX));
            assert!(token_bucket::wait_ns(&params, &bucket, 1).is_some());
            token_bucket::refill(&params, &mut bucket, u64::MAX);
            assert!(token_bucket::packet(&params, &mut bucket, burst, u64::MAX));
        }
    }
}

/// A greedy sender gets burst + rate * time, and never more.
#[test]
fn token_bucket__gives_its_rate_and_its_burst() {
    let mut bits = Bits(54);
    for rate_bps in [64e3, 10e6, 10e9f64] {
        let spec = Spec::bytes(rate_bps, 9000);
        let params = Params::new(&spec).unwrap();
        let (mut bucket, mut now_ns, mut sent) = (State::default(), 0, 0u64);
        for _ in 0..20_000 {
            now_ns += u64::from(bits.below((8e9 * 1000.0 / rate_bps) as u32));
            let size = 40 + bits.below(1460);
            let conforms = token_bucket::packet(&params, &mut bucket, size, now_ns);
            sent += if conforms { u64::from(size) } else { 0 };
            assert!(sent as f64 <= 9000.0 + spec.rate * now_ns as f64 / 1e9 + 1e-3);
        }
        assert!(sent as f64 >= spec.rate * now_ns as f64 / 1e9, "{rate_bps}: {sent}");
    }
}

#[test]
fn token_bucket__percent_is_right_to_a_ten_thousandth() {
    let (mut bits, mut worst) = (Bits(55), 0.0f64);
    for _ in 0..20_000 {
        let spec = random_spec(&mut bits);
        let params = Params::new(&spec).unwrap();
        let mut bucket = State::default();
        token_bucket::take(&params, &mut bucket, bits.below(spec.burst));
        let gap_ns = bits.uniform() * f64::from(spec.burst) / spec.rate * 1e9;
        token_bucket::refill(&params, &mut bucket, gap_ns as u64);
        let exact = bucket.tokens(&params) / f64::from(spec.burst) * 100.0;
        worst = worst.max((token_bucket::fill_percent(&params, &bucket) - exact).abs());
    }
    println!("worst error of a fill level: {worst:.2e} percent");
    assert!(worst < 1e-4);
}

/// Packets of random sizes and colours through shapers of the policer's own profiles, then to the policer; how many of
/// them it touches. The shaper's rate is `faster` times the profile's.
fn touched(seed: u64, action: policer::Action, faster: f64) -> u32 {
    let mut bits = Bits(seed);
    let profiles = [0, 1].map(|_| Spec::bytes(bits.spread(1e3, 1e9).round(), 1500 + bits.below(60_000)));
    let spec = policer::Spec { green: profiles[0], yellow: profiles[1], action };
    let params = policer::Params::new(&spec).unwrap();
    let shaper = profiles.map(|spec| Params::new(&Spec { rate: spec.rate * faster, ..spec }).unwrap());
    let (mut buckets, mut state) = ([State::default(); 2], policer::State::default());
    let (mut now_ns, mut touched, path_ns) = (0, 0, bits.below(200_000_000));
    for _ in 0..2000 {
        let which = bits.below(2) as usize;
        let size = 40 + bits.below(profiles[which].burst - 39);
        now_ns += bits.spread(1.0, 8e9 * 3000.0 / profiles[which].rate) as u64;
        token_bucket::refill(&shaper[which], &mut buckets[which], now_ns);
        now_ns += token_bucket::wait_ns(&shaper[which], &buckets[which], size).unwrap();
        assert!(token_bucket::packet(&shaper[which], &mut buckets[which], size, now_ns));
        let view = View::new(size).with_colour(Colour::ALL[which]);
        let passed = policer::packet(&params, &mut state, &view, now_ns + u64::from(path_ns));
        touched += u32::from(passed != Some(view.colour));
    }
    touched
}

#[test]
fn policer__never_touches_a_sender_that_shapes_to_its_profiles() {
    for seed in 0..60 {
        let action = [policer::Action::Recolour, policer::Action::Drop][(seed % 2) as usize];
        assert_eq!(touched(seed, action, 1.0), 0, "seed {seed}");
    }
}

#[test]
fn policer__touches_a_sender_that_shapes_to_a_hundredth_more() {
    let flows = (0..20).filter(|seed| touched(*seed, policer::Action::Recolour, 1.01) > 0).count();
    assert!(flows >= 15, "{flows} of 20");
}

/// A greedy user gets the rates of the two profiles in green and yellow; and every colour is the float twin's, unless
/// that one's bucket is within rounding of the size.
#[test]
fn aggregate_marker__shares_out_its_rates() {
    let spec = aggregate_marker::Spec::default();
    let params = aggregate_marker::Params::new(&spec).unwrap();
    let (mut state, mut bits, mut now_ns) = (aggregate_marker::State::default(), Bits(57), 0u64);
    let mut twins =
        [spec.green, spec.yellow].map(|spec| Float { spec, level: f64::from(spec.burst), last_s: 0.0 });
    let (mut bytes, mut close) = ([0u64; 3], 0);
    for _ in 0..200_000 {
        now_ns += u64::from(bits.below(8_000_000));
        let size = 40 + bits.below(1460);
        let colour = aggregate_marker::packet(&params, &mut state, &View::new(size), now_ns);
        bytes[colour.index()] += u64::from(size);
        twins.iter_mut().for_each(|twin| twin.refill(now_ns as f64 / 1e9));
        let expected = twins.iter().position(|twin| twin.level >= f64::from(size)).unwrap_or(2);
        if expected != colour.index() {
            close += 1;
            assert!(twins.iter().any(|twin| (twin.level - f64::from(size)).abs() < 1e-3));
        }
        if let Some(twin) = twins.get_mut(colour.index()) {
            twin.level -= f64::from(size);
        }
    }
    assert!(close < 20, "{close} ties");
    let seconds = now_ns as f64 / 1e9;
    for (sent, rate) in bytes.iter().zip([250e3 / 8.0, 500e3 / 8.0]) {
        let got = *sent as f64 / seconds / rate;
        assert!((0.97..1.001).contains(&got), "{got} of {rate} bytes/s");
    }
    assert!(bytes[2] > 0);
}

fn refused(result: Result<impl Sized, ParamError>) -> String {
    result.err().expect("must be refused").to_string()
}

#[test]
fn params__name_field_value_and_what_is_allowed() {
    let base = Spec::default();
    assert_eq!(
        refused(Params::new(&Spec { rate: 0.5, ..base })),
        "rate: 0.5 is not allowed; 0, or 1 to 100000000000 tokens/s"
    );
    assert_eq!(
        refused(Params::new(&Spec { burst: 0, ..base })),
        "burst: 0 is not allowed; 1 to 1000000000 tokens"
    );
    for rate in [-1.0, f64::NAN, f64::INFINITY, 1.1e11] {
        assert!(Params::new(&Spec { rate, ..base }).is_err(), "{rate}");
    }
    let bad = Spec { burst: u32::MAX, ..base };
    let spec = policer::Spec { yellow: bad, ..policer::Spec::default() };
    assert!(refused(policer::Params::new(&spec)).starts_with("yellow.burst: 4294967295 is not"));
    let spec = aggregate_marker::Spec { green: bad, ..aggregate_marker::Spec::default() };
    assert!(refused(aggregate_marker::Params::new(&spec)).starts_with("green.burst: 4294967295 is not"));
}
