//! CUBIC (RFC 9438) as dialogues: time passes, acknowledgements come in, the window answers.
use crate::common::dialogue::{SenderHarness, rfc};
use mousehole_sim::tcp::{Congestion, IdleRestart, Params, Variant};
use mousehole_sim::units::Time;

/// Returns a sender by CUBIC in congestion avoidance with `window` segments in flight.
fn cruising_sender(window: u32) -> SenderHarness {
    let mut talk = SenderHarness::new(Params {
        congestion: Congestion::Cubic,
        initial_window: window,
        initial_ssthresh: Some(window),
        ..rfc(Variant::Sack)
    });
    assert_eq!(talk.write(1_000_000).len(), window as usize);
    talk
}

/// Loses the first outstanding segment and repairs it within `rtt_ms`; everything sent is
/// acknowledged then.
fn lose_one(talk: &mut SenderHarness, rtt_ms: u64) {
    let una = talk.sender.una();
    assert_eq!(talk.sack(una, &[(una + 1, una + 4)])[0], una);
    let max = talk.sender.sent_below();
    talk.wait(rtt_ms);
    talk.ack(max);
}

/// Acknowledges everything in flight every `rtt_ms`, two segments by each ACK, for `ms` in all.
fn cruise(talk: &mut SenderHarness, rtt_ms: u64, ms: u64) {
    for _ in 0..ms / rtt_ms {
        talk.wait(rtt_ms);
        let (from, to) = (talk.sender.una(), talk.sender.sent_below());
        for next in (from + 2..=to).step_by(2) {
            talk.ack(next);
        }
        if talk.sender.una() < to {
            talk.ack(to);
        }
    }
}

/// Asserts the congestion window in segments, within a tolerance.
fn assert_window(talk: &SenderHarness, expected: f64, within: f64) {
    let cwnd = talk.sender.cwnd();
    assert!((cwnd - expected).abs() <= within, "{cwnd}, not {expected} ± {within}");
}

/// Section 4.6: a loss leaves seven tenths of what was in flight.
#[test]
fn reduction__leaves_seven_tenths() {
    let mut talk = cruising_sender(100);
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    assert_window(&talk, 70.0, 1e-9);
}

/// Section 4.6 again: the same for a mark (RFC 3168).
#[test]
fn reduction__is_the_same_for_a_mark() {
    let mut talk = cruising_sender(100);
    talk.params.ecn = true;
    talk.ack_with_echo(1);
    assert_window(&talk, 70.0, 1e-9);
}

/// Section 4.2: from 70 back to the plateau of 100 in K = ∛(30/0.4) = 4.217 s; steep, flat, steep.
#[test]
fn window__follows_the_cubic() {
    let law = |seconds: f64| 0.4 * libm::pow(seconds - libm::cbrt(30.0f64 / 0.4), 3.0) + 100.0;
    let mut talk = cruising_sender(100);
    lose_one(&mut talk, 200);
    let mut seconds = 0.0;
    for step in [1.0, 2.0, 1.2, 1.8, 1.0] {
        cruise(&mut talk, 200, (step * 1000.0) as u64);
        seconds += step;
        assert_window(&talk, law(seconds), 2.0);
    }
    assert!(talk.sender.cwnd() > 107.0, "past the plateau after 7 s");
}

/// Section 4.3: at 10 ms and 10 segments Reno's window is above the cubic; 0.53 segments per round trip
/// until the old window is reached, then one.
#[test]
fn window__is_never_slower_than_reno() {
    let mut talk = cruising_sender(20);
    lose_one(&mut talk, 10);
    assert_window(&talk, 14.0, 1e-9);
    cruise(&mut talk, 10, 50);
    assert_window(&talk, 14.0 + 5.0 * 0.529, 0.4);
    while talk.sender.cwnd() < 20.5 {
        cruise(&mut talk, 10, 10);
    }
    let before = talk.sender.cwnd();
    cruise(&mut talk, 10, 50);
    assert_window(&talk, before + 5.0, 0.4);
}

/// Section 4.7: a flow that loses below its last plateau gives some away, 90·(1 + 0.7)/2 = 76.5.
#[test]
fn fast_convergence__lowers_the_plateau() {
    let mut talk = cruising_sender(100);
    lose_one(&mut talk, 200);
    while talk.sender.cwnd() < 90.0 {
        cruise(&mut talk, 200, 200);
    }
    let cwnd = talk.sender.cwnd();
    lose_one(&mut talk, 200);
    let (low, plateau) = (talk.sender.cwnd(), cwnd * 0.85);
    let k = libm::cbrt((plateau - low) / 0.4);
    cruise(&mut talk, 200, (k * 1000.0) as u64);
    assert_window(&talk, plateau, 1.0);
    let mut growth = talk.sender.cwnd();
    cruise(&mut talk, 200, 400);
    growth = talk.sender.cwnd() - growth;
    assert!(growth < 1.2, "flat around the plateau: {growth} in 400 ms");
}

/// Section 4.8: after a timeout slow start to seven tenths, then convex from there (K = 0).
#[test]
fn timeout__begins_a_plateau_of_its_own() {
    let mut talk = cruising_sender(100);
    talk.wait(50);
    assert_eq!(talk.time_out(), [0]);
    assert_window(&talk, 1.0, 0.0);
    for round in 0..200 {
        assert!(round < 199, "slow start ends");
        if talk.sender.cwnd() >= 70.0 {
            break;
        }
        cruise(&mut talk, 200, 200);
    }
    let start = talk.sender.cwnd();
    assert!((70.0..75.0).contains(&start), "{start}");
    cruise(&mut talk, 200, 1000);
    let after_one = talk.sender.cwnd() - start;
    cruise(&mut talk, 200, 2000);
    let after_three = talk.sender.cwnd() - start;
    assert!(after_one < 5.0, "flat at first: {after_one}");
    assert!(after_three > 7.0, "then 0.4·3³ = 10.8: {after_three}");
}

/// Section 4.2: however late, at most half a window more per window acknowledged.
#[test]
fn window__grows_by_half_at_most_per_round_trip() {
    let mut talk = cruising_sender(100);
    lose_one(&mut talk, 200);
    cruise(&mut talk, 200, 200);
    let (before, una) = (talk.sender.cwnd(), talk.sender.una());
    talk.wait(30_000);
    talk.ack(una + 2);
    assert_window(&talk, before + 1.0, 1e-9);
}

/// Section 5.8: a pause of the application does not age the stage.
#[test]
fn idle__does_not_age_the_stage() {
    let mut talk = cruising_sender(100);
    talk.params.idle_restart = IdleRestart::Off;
    talk.sender = mousehole_sim::tcp::Sender::new(&talk.params, mousehole_sim::units::Dur::ZERO);
    talk.write(1000);
    lose_one(&mut talk, 200);
    cruise(&mut talk, 200, 2000);
    while !talk.sender.is_done() {
        cruise(&mut talk, 200, 200);
    }
    assert_eq!(talk.sender.poll_timeout(), Time::NEVER);
    let before = talk.sender.cwnd();
    talk.wait(60_000);
    talk.write(100_000);
    cruise(&mut talk, 200, 200);
    let grown = talk.sender.cwnd() - before;
    assert!(grown < 5.0, "{grown} segments in one round trip after a minute's rest");
}

/// Section 4.10: slow start is Reno's.
#[test]
fn slow_start__is_renos() {
    let params = Params { congestion: Congestion::Cubic, ..rfc(Variant::Sack) };
    let mut talk = SenderHarness::new(params);
    assert_eq!(talk.write(100).len(), 10);
    talk.wait(100);
    assert_eq!(talk.ack(2), [10, 11, 12, 13]);
    assert_window(&talk, 12.0, 0.0);
}
