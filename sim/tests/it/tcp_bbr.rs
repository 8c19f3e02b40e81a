//! BBR (draft-ietf-ccwg-bbr-06) on links: the sum of its mechanisms, and the pacing of its sender.
use crate::common::dialogue::SenderHarness;
use crate::common::{play, scenario};
use mousehole_sim::scenario::Scenario;
use mousehole_sim::scenario::spec::{BulkSpec, FaultSpec, LinkSpec, TcpSpec, TrafficSpec};
use mousehole_sim::tcp::Params;
use mousehole_sim::units::Dur;

/// Returns long-lived flows of `profile` on 10 Mbit/s and 40 ms, measured for 40 s after 10 s.
fn bulk_scenario(profile: &str, buffer: &str, flows: BulkSpec, loss: f64) -> Scenario {
    let link = LinkSpec {
        rate: Some("10mbit".into()),
        rtt: "40ms".into(),
        buffer: buffer.into(),
        ..LinkSpec::default()
    };
    Scenario {
        tcp: TcpSpec { profile: profile.into(), ..TcpSpec::default() },
        traffic: TrafficSpec { bulk: Some(flows), ..TrafficSpec::default() },
        link,
        warmup: "10s".into(),
        duration: "40s".into(),
        max_windows: 1,
        faults: vec![FaultSpec { link: "down".into(), drop: vec![], bernoulli: loss }],
        ..scenario("droptail")
    }
}

/// Returns flows with equal round-trip times.
fn bulk_flows(flows: u32, start_spread_s: f64) -> BulkSpec {
    BulkSpec { flows, start_spread_s, rtt_spread: 0.0 }
}

/// Without loss the link is full. A loss while cruising costs what it lost in each round trip (section 5.3.3.8.3):
/// over the 62 round trips of a cycle one per cent costs a quarter of the rate on average, a thousandth 3 %.
#[test]
fn alone__loses_no_more_than_the_draft_expects() {
    for loss in [0.0f64, 0.001, 0.01] {
        let expected = (0..62).map(|round| libm::pow(1.0 - loss, f64::from(round))).sum::<f64>() / 62.0;
        for buffer in ["20p", "50p", "500p"] {
            let result = play(&bulk_scenario("bbr", buffer, bulk_flows(1, 0.0), loss));
            let used = result.goodput_bps / 10e6 * 1500.0 / 1448.0 / (1.0 - loss);
            println!("loss {loss}, buffer {buffer}: {used:.3} of the link, at least {expected:.3}");
            assert!(used > 0.93 * expected, "loss {loss}, buffer {buffer}: {used}");
            assert!(result.is_conserved());
        }
    }
}

/// CUBIC fills a deep buffer; BBR keeps about the path's own data in flight.
#[test]
fn alone__queues_far_less_than_cubic() {
    let queue = |profile: &str| {
        let result = play(&bulk_scenario(profile, "500p", bulk_flows(1, 0.0), 0.0));
        result.outcome.queues[0].mean_packets()
    };
    let (bbr, cubic) = (queue("bbr"), queue("linux"));
    println!("mean queue: bbr {bbr:.1}, cubic {cubic:.1} packets");
    assert!(bbr < 15.0 && bbr < 0.1 * cubic, "bbr {bbr}, cubic {cubic}");
}

/// Two flows of which one began eight seconds later come to equal shares.
#[test]
fn two_flows__converge() {
    for buffer in ["50p", "200p"] {
        let mut base = bulk_scenario("bbr", buffer, bulk_flows(2, 16.0), 0.0);
        (base.warmup, base.duration) = ("30s".into(), "60s".into());
        let bytes: Vec<f64> = play(&base).outcome.flows.iter().map(|flow| flow.bytes as f64).collect();
        let share = bytes[0] / (bytes[0] + bytes[1]);
        println!("buffer {buffer}: the first flow has {share:.3}");
        assert!((0.35..=0.65).contains(&share), "buffer {buffer}: {share}");
    }
}

/// Section 5.6.2: the initial window leaves in quanta of two, 2.77 initial windows per round trip.
#[test]
fn pacing__spaces_the_initial_window() {
    let params = Params::find_profile("bbr").expect("a known profile");
    let mut talk = SenderHarness::new(params);
    let sent = talk.now;
    talk.wait(100);
    talk.sender.sample_handshake(sent, talk.now, 0, &talk.params);
    assert_eq!(talk.write(100), [0, 1]);
    let spacing = Dur::from_secs(2.0 * 0.1 / 27.7);
    for quantum in 1..5 {
        assert_eq!(talk.sender.poll_timeout().since(talk.now).0.abs_diff(spacing.0) / 1000, 0);
        assert_eq!(talk.time_out(), [2 * quantum, 2 * quantum + 1]);
    }
    assert!(talk.timer_ms() > 100.0, "the window is full: the timer is that of a probe");
    assert_eq!(talk.sender.losses(), (0, 0));
}

/// Nothing of it needs the clock to tick while nothing is sent.
#[test]
fn pacing__ends_with_the_data() {
    let mut talk = SenderHarness::new(Params::find_profile("bbr").expect("a known profile"));
    talk.write(2);
    talk.wait(50);
    talk.ack(2);
    assert_eq!(talk.sender.poll_timeout(), mousehole_sim::units::Time::NEVER);
    assert!(talk.sender.is_done());
}
