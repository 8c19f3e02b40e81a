//! Token bucket, policer and aggregate marker against the same formulae in floats and in 128 bits, and what must hold
//! of them exactly.

use crate::common::cases::{Step, read_cases};
use crate::common::parts::{self, Bucket, BucketParams};
use crate::common::{Bits, Marker, parameter_error, params};
use mousehole_policy::{Answer, Colour, View};

/// A bucket: tokens per second, and tokens when full.
#[derive(Debug, Clone, Copy)]
struct Spec {
    rate: f64,
    burst: u32,
}

impl Spec {
    /// Returns a bucket of bytes.
    fn bytes(rate_bps: f64, burst: u32) -> Spec {
        Spec { rate: rate_bps / 8.0, burst }
    }

    fn params(&self) -> BucketParams {
        BucketParams::new(self.rate, self.burst)
    }
}

/// Plays one step of a case and returns its result as text.
fn play_step(params: &BucketParams, bucket: &mut Bucket, step: &Step) -> String {
    let tokens = step.number("tokens").unwrap_or(1000.0) as u32;
    if step.verb == "packet" {
        let conforms = bucket.packet(params, tokens, step.now_ns());
        return if conforms { "yes" } else { "no" }.to_string();
    }
    bucket.refill(params, step.now_ns());
    match step.verb.as_str() {
        "take" => bucket.take(params, tokens),
        "take_clipped" => bucket.take_clipped(params, tokens),
        "wait" => {
            let wait_ns = bucket.wait_ns(params, tokens);
            return wait_ns.map_or("never".to_string(), |ns| format!("{}", ns as f64 / 1e9));
        }
        // The header is right to 0.0001 percent.
        "fill" => return format!("{}", (bucket.fill_percent(params) * 1e3).round() / 1e3),
        other => panic!("{}: unknown step {other}", step.line),
    }
    String::new()
}

#[test]
fn token_bucket__passes_its_cases() {
    let cases = read_cases("parts/token_bucket.txt");
    assert!(cases.len() >= 12);
    for case in &cases {
        let params = BucketParams::new(case.number("rate", 1000.0), case.number("burst", 3000.0) as u32);
        let mut bucket = Bucket::full();
        for step in &case.steps {
            assert_eq!(play_step(&params, &mut bucket, step), step.expected, "{}: {}", step.line, case.title);
        }
    }
}

/// Returns the worst error of the rate that the header states, tokens/s.
fn rate_error(spec: &Spec) -> f64 {
    let room = libm::ldexp(1.0, 61) / 1e9 / f64::from(spec.burst.max(1 << 20));
    libm::ldexp(1.0, -(libm::log2(room).floor() as i32) - 1)
}

/// Draws a bucket of 1 kb/s to 100 Gb/s with a burst of up to 1 GB, or the same in packets.
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

/// Plays 300 random steps on one bucket. Returns the worst error as a fraction of the stated bound, and of the burst.
fn play_random_steps(bits: &mut Bits) -> (f64, f64) {
    let spec = random_spec(bits);
    let params = spec.params();
    let full = f64::from(spec.burst);
    let (mut bucket, mut now_ns, mut since_full_s) = (Bucket::full(), 0u64, 0.0);
    let mut model = Float { spec, level: full, last_s: 0.0 };
    let (mut worst, mut of_burst) = (0.0f64, 0.0f64);
    for _ in 0..300 {
        let gap_ns = bits.spread(1.0, (full / spec.rate * 1e9).max(2.0) * 2.0) as u64;
        let gap_s = gap_ns as f64 / 1e9;
        (now_ns, since_full_s, model.last_s) = (now_ns + gap_ns, since_full_s + gap_s, 0.0);
        model.refill(gap_s);
        bucket.refill(&params, now_ns);
        if bucket.tokens(&params) >= full {
            (since_full_s, model.level) = (0.0, full);
        }
        take_tokens(&params, &mut bucket, &mut model, bits);
        let error = (bucket.tokens(&params) - model.level).abs();
        let of_floats = (full + model.level.abs()) * 1e-13 + spec.rate * since_full_s * 1e-14;
        worst = worst.max(error / (rate_error(&spec) * since_full_s + of_floats));
        of_burst = of_burst.max(error / full);
    }
    (worst, of_burst)
}

/// Takes random tokens from the bucket and from its model. The bucket alone decides whether a packet conforms, so that a tie
/// does not make them differ.
fn take_tokens(params: &BucketParams, bucket: &mut Bucket, model: &mut Float, bits: &mut Bits) {
    let size = bits.below(model.spec.burst.min(100_000)) + 1;
    let tokens = f64::from(size);
    match bits.below(3) {
        0 => {
            let conforms = bucket.conforms(params, size);
            assert_eq!(bucket.packet(params, size, 0), conforms);
            model.level -= if conforms { tokens } else { 0.0 };
        }
        1 => {
            bucket.take(params, size);
            model.level -= tokens;
        }
        _ => {
            bucket.take_clipped(params, size);
            model.level = model.level.min((model.level - tokens).max(0.0));
        }
    }
}

#[test]
fn token_bucket__stays_within_its_stated_error() {
    let mut bits = Bits(51);
    let all: Vec<(f64, f64)> = (0..400).map(|_| play_random_steps(&mut bits)).collect();
    let [worst, of_burst] =
        [all.iter().map(|one| one.0).fold(0.0, f64::max), all.iter().map(|one| one.1).fold(0.0, f64::max)];
    println!("worst error of a level: {worst:.3} of the stated bound, {of_burst:.1e} of a burst");
    assert!(worst < 1.0);
}

#[test]
fn token_bucket__whole_bits_per_second_are_exact_up_to_250_mb() {
    for rate_bps in [1000u64, 56_001, 250_000, 2_000_003, 100_000_000_000] {
        for burst in [1500, 6000, 1 << 20, 250_000_000] {
            let params = Spec::bytes(rate_bps as f64, burst).params();
            let mut bucket = Bucket::full();
            bucket.take(&params, burst);
            // The first ns at which a byte is there: ceil(8 * 10^9 / rate), and the same for all bytes.
            for bytes in [1, burst] {
                let exact = (u128::from(bytes) * 8_000_000_000).div_ceil(rate_bps.into()) as u64;
                assert_eq!(bucket.wait_ns(&params, bytes), Some(exact), "{rate_bps} {burst}");
            }
        }
    }
}

#[test]
fn token_bucket__loses_no_fraction_to_frequent_refills() {
    let mut bits = Bits(52);
    for _ in 0..200 {
        let spec = random_spec(&mut bits);
        let params = spec.params();
        let (mut often, mut once) = (Bucket::full(), Bucket::full());
        for bucket in [&mut often, &mut once] {
            (0..3).for_each(|_| bucket.take(&params, spec.burst));
        }
        let end_ns = 1 + bits.spread(10.0, f64::from(spec.burst) / spec.rate * 4e9 + 20.0) as u64;
        let mut now_ns = 0;
        while now_ns < end_ns {
            now_ns =
                (now_ns + 1 + u64::from(bits.below(2 * (end_ns / 300).min(1 << 30) as u32 + 1))).min(end_ns);
            often.refill(&params, now_ns);
        }
        once.refill(&params, end_ns);
        assert_eq!(often, once, "{spec:?}");
    }
}

#[test]
fn token_bucket__a_packet_conforms_after_its_wait_and_not_before() {
    let (mut bits, mut waited) = (Bits(53), 0);
    for _ in 0..3000 {
        let spec = random_spec(&mut bits);
        let params = spec.params();
        let mut bucket = Bucket::full();
        let now_ns = bits.spread(1.0, 1e18) as u64;
        bucket.refill(&params, now_ns);
        (0..2).for_each(|_| bucket.take(&params, bits.below(spec.burst)));
        let size = bits.below(spec.burst) + 1;
        let wait_ns = bucket.wait_ns(&params, size).unwrap();
        assert_eq!(bucket.conforms(&params, size), wait_ns == 0);
        if wait_ns > 0 {
            waited += 1;
            let [mut early, mut due] = [bucket.clone(), bucket];
            assert!(!early.packet(&params, size, now_ns + wait_ns - 1), "{spec:?}");
            assert!(due.packet(&params, size, now_ns + wait_ns), "{spec:?}");
        }
    }
    assert!(waited > 300, "{waited}");
}

#[test]
fn token_bucket__any_gap_fills_it_and_any_debt_is_paid() {
    for rate in [1.0, 125.0, 12.5e9, 1e11] {
        for burst in [1, 1500, 1_000_000_000] {
            let params = Spec { rate, burst }.params();
            for gap_ns in [3_600_000_000_000 * 24 * 365, u64::MAX] {
                let mut bucket = Bucket::full();
                bucket.take(&params, burst.min(1000));
                bucket.refill(&params, gap_ns);
                assert_eq!(bucket.tokens(&params), f64::from(burst), "{rate} {burst}");
            }
            let mut bucket = Bucket::full();
            (0..10).for_each(|_| bucket.take(&params, u32::MAX));
            assert!(bucket.wait_ns(&params, 1).is_some());
            bucket.refill(&params, u64::MAX);
            assert!(bucket.packet(&params, burst, u64::MAX));
        }
    }
}

/// A token is 10^9 * 2^11 scaled units here and 2^11 of them arrive in a ns, so a debt of 2^63 takes 2^52 ns.
#[test]
fn token_bucket__debts_stop_at_two_to_the_63_scaled_units() {
    let params = Spec { rate: 1.0, burst: 1 }.params();
    let mut bucket = Bucket::full();
    let waits = [(); 5].map(|()| {
        bucket.take(&params, u32::MAX);
        bucket.wait_ns(&params, 1).unwrap()
    });
    // A packet is charged for 2251799 tokens, the most that 2^62 scaled units hold.
    assert_eq!(waits[..2], [2_251_799_000_000_000, 4_503_598_000_000_000]);
    assert_eq!(waits[2..], [1 << 52; 3]);
}

/// A greedy sender gets burst + rate * time, and never more.
#[test]
fn token_bucket__gives_its_rate_and_its_burst() {
    let mut bits = Bits(54);
    for rate_bps in [64e3, 10e6, 10e9f64] {
        let spec = Spec::bytes(rate_bps, 9000);
        let params = spec.params();
        let (mut bucket, mut now_ns, mut sent) = (Bucket::full(), 0, 0u64);
        for _ in 0..20_000 {
            now_ns += u64::from(bits.below((8e9 * 1000.0 / rate_bps) as u32));
            let size = 40 + bits.below(1460);
            let conforms = bucket.packet(&params, size, now_ns);
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
        let params = spec.params();
        let mut bucket = Bucket::full();
        bucket.take(&params, bits.below(spec.burst));
        let gap_ns = bits.uniform() * f64::from(spec.burst) / spec.rate * 1e9;
        bucket.refill(&params, gap_ns as u64);
        let exact = bucket.tokens(&params) / f64::from(spec.burst) * 100.0;
        worst = worst.max((bucket.fill_percent(&params) - exact).abs());
    }
    println!("worst error of a fill level: {worst:.2e} percent");
    assert!(worst < 1e-4);
    let none = Spec { rate: 0.0, burst: 1000 }.params();
    assert_eq!(Bucket::full().fill_percent(&none), 0.0, "a bucket that cannot hold tokens");
}

/// Returns how many of a sender's packets the policer remarks or drops. They have random sizes and colours, and the sender
/// shapes them to the policer's profiles, but at `faster` times their rates.
fn count_policed(seed: u64, action: &str, faster: f64) -> u32 {
    let mut bits = Bits(seed);
    let burst = 1500 + bits.below(60_000);
    let profiles = [0, 1].map(|_| Spec::bytes(bits.spread(1e3, 1e9).round(), burst));
    let [high, med] = profiles.map(|profile| format!("{}bit", profile.rate * 8.0));
    let burst = format!("{burst}B");
    let given = [("high_rate", &high[..]), ("med_rate", &med), ("burst", &burst), ("police", action)];
    let mut policer = Marker::new(params("policer", &given));
    let shaper = profiles.map(|spec| Spec { rate: spec.rate * faster, ..spec }.params());
    let (mut buckets, mut user) = ([Bucket::full(), Bucket::full()], policer.new_flow());
    let (mut now_ns, mut touched, path_ns) = (0, 0, bits.below(200_000_000));
    for _ in 0..2000 {
        let which = bits.below(2) as usize;
        let size = 40 + bits.below(profiles[which].burst - 39);
        now_ns += bits.spread(1.0, 8e9 * 3000.0 / profiles[which].rate) as u64;
        buckets[which].refill(&shaper[which], now_ns);
        now_ns += buckets[which].wait_ns(&shaper[which], size).unwrap();
        assert!(buckets[which].packet(&shaper[which], size, now_ns));
        let view = View::new(size).with_colour(Colour::ALL[which]);
        let passed = policer.answer(&mut user, &view, now_ns + u64::from(path_ns), 0);
        touched += u32::from(passed != Answer::Colour(view.colour));
    }
    touched
}

#[test]
fn policer__never_touches_a_sender_that_shapes_to_its_profiles() {
    for seed in 0..60 {
        let action = ["remark", "drop"][(seed % 2) as usize];
        assert_eq!(count_policed(seed, action, 1.0), 0, "seed {seed}");
    }
}

#[test]
fn policer__touches_a_sender_that_shapes_to_a_hundredth_more() {
    let flows = (0..20).filter(|seed| count_policed(*seed, "remark", 1.01) > 0).count();
    assert!(flows >= 15, "{flows} of 20");
}

/// A greedy user gets the rates of the two profiles in green and yellow; and every colour is the float model's, unless
/// that one's bucket is within rounding of the size.
#[test]
fn aggregate_marker__shares_out_its_rates() {
    let mut marker = Marker::new(params("aggregate-marker", &[]));
    let (mut user, mut bits, mut now_ns) = (marker.new_flow(), Bits(57), 0u64);
    let mut models = [Spec::bytes(250e3, 6000), Spec::bytes(500e3, 6000)].map(|spec| Float {
        spec,
        level: f64::from(spec.burst),
        last_s: 0.0,
    });
    let (mut bytes, mut close) = ([0u64; 3], 0);
    for _ in 0..200_000 {
        now_ns += u64::from(bits.below(8_000_000));
        let size = 40 + bits.below(1460);
        let colour = marker.packet(&mut user, &View::new(size), now_ns, 0);
        bytes[colour.index()] += u64::from(size);
        models.iter_mut().for_each(|model| model.refill(now_ns as f64 / 1e9));
        let expected = models.iter().position(|model| model.level >= f64::from(size)).unwrap_or(2);
        if expected != colour.index() {
            close += 1;
            assert!(models.iter().any(|model| (model.level - f64::from(size)).abs() < 1e-3));
        }
        if let Some(model) = models.get_mut(colour.index()) {
            model.level -= f64::from(size);
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

/// Its options want some rate for each colour; a bucket may do without.
#[test]
fn aggregate_marker__without_a_first_profile_gives_yellow_at_best() {
    let usual = params("aggregate-marker", &[("med_rate", "16kbit"), ("burst", "3000B")]);
    let mut bytes = usual.bytes();
    parts::replace(&mut bytes, "mh_aggregate_marker_params.bucket[0]", &BucketParams::new(0.0, 3000).bytes());
    let mut marker = Marker::new(usual.with_bytes(&bytes));
    let mut user = marker.new_flow();
    let colours = [3000, 40].map(|size| marker.packet(&mut user, &View::new(size), 0, 0));
    assert_eq!(colours, [Colour::Yellow, Colour::Red]);
}

#[test]
fn params__name_parameter_value_and_what_is_allowed() {
    for policy in ["policer", "aggregate-marker"] {
        assert_eq!(
            parameter_error(policy, &[("high_rate", "4bit")]),
            "high_rate: \"4bit\" is not allowed; allowed: a rate (250kbit), or % of the bottleneck's rate (5%); \
             8 to 800000000000 bit/s"
        );
        assert_eq!(
            parameter_error(policy, &[("burst", "0B")]),
            "burst: \"0B\" is not allowed; allowed: a size, such as 1500B or 15kB; 1 to 1000000000 B"
        );
        for rate in ["-1bit", "NaN", "inf", "900gbit"] {
            assert!(parameter_error(policy, &[("med_rate", rate)]).starts_with("med_rate: "), "{rate}");
        }
        assert!(
            parameter_error(policy, &[("burst", "4294967295B")]).starts_with("burst: \"4294967295B\" is not")
        );
    }
    assert_eq!(
        parameter_error("policer", &[("police", "shoot")]),
        "police: \"shoot\" is not allowed; allowed: none, remark or drop"
    );
    assert!(parameter_error("policer", &[("police", "-")]).starts_with("police: \"-\" is not allowed"));
}
