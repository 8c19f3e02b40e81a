//! RACK-TLP (RFC 8985) as dialogues: time, packet in, packet out.
use crate::common::dialogue::{ReceiverHarness, SenderHarness};
use crate::common::{connection, digest, play, scenario, with_connections, with_profile};
use mousehole_sim::packet::flag;
use mousehole_sim::scenario::spec::TcpSpec;
use mousehole_sim::scenario::{Plan, Scenario};
use mousehole_sim::tcp::{Congestion, Params, Variant};
use mousehole_sim::units::{Dur, Time};

const NOTHING: [u32; 0] = [];
const RTT: u64 = 100;

/// Returns the parameters of profile `linux` with Reno and exact timers.
fn linux_params() -> Params {
    let linux = Params::find_profile("linux").expect("a known profile");
    Params { congestion: Congestion::Reno, timer_tick: Dur::ZERO, ..linux }
}

/// Returns a sender that knows its round-trip time of 100 ms; segments 0 and 1 are acknowledged,
/// and `written` are written in all.
fn make_sender(written: u32) -> SenderHarness {
    let mut talk = SenderHarness::new(linux_params());
    talk.write(2);
    talk.wait(RTT);
    talk.ack(2);
    talk.write(written - 2);
    talk
}

/// Waits until the timer fires; returns the wait in ms and the segments sent. It panics if no timer
/// runs.
fn fire_timer(talk: &mut SenderHarness) -> (f64, Vec<u32>) {
    let before = talk.now;
    let sent = talk.time_out();
    (talk.now.since(before).as_secs() * 1e3, sent)
}

/// Section 6.2: three segments sent later have arrived, no reordering was seen: lost at once.
#[test]
fn rack__three_sacked_segments_detect_a_loss_at_once() {
    let mut talk = make_sender(12);
    talk.wait(RTT);
    assert_eq!(talk.sack(2, &[(3, 4)]), NOTHING);
    assert_eq!(talk.sack(2, &[(3, 5)]), NOTHING);
    assert_eq!(talk.sack(2, &[(3, 6)]), [2]);
    assert!(talk.last[0].retransmission && talk.last[0].in_recovery);
}

/// Section 6.2 step 4: with fewer, after a quarter of the least round-trip time.
#[test]
fn rack__one_sacked_segment_detects_a_loss_after_the_reordering_window() {
    let mut talk = make_sender(4);
    talk.wait(RTT);
    assert_eq!(talk.sack(2, &[(3, 4)]), NOTHING, "2 was sent with 3: it may be late");
    assert_eq!(talk.timer_ms(), 25.0);
    assert_eq!(fire_timer(&mut talk), (25.0, vec![2]));
    talk.wait(RTT);
    talk.ack(4);
    assert!(talk.sender.is_done());
    assert_eq!(talk.sender.losses(), (1, 0), "duplicates would have waited for the timeout");
}

/// The late segment comes within the window: nothing was lost, and the window is not reduced.
#[test]
fn rack__reordering_within_the_window_is_no_loss() {
    let mut talk = make_sender(4);
    talk.wait(RTT);
    talk.sack(2, &[(3, 4)]);
    talk.wait(20);
    talk.ack(4);
    assert_eq!(talk.sender.poll_timeout(), Time::NEVER);
    assert_eq!((talk.sender.losses(), talk.sender.cwnd()), ((0, 0), 10.0));
}

/// Section 6.2 step 3: once reordering was seen, three above a hole are no longer enough.
#[test]
fn rack__waits_once_reordering_was_seen() {
    let mut talk = make_sender(30);
    talk.wait(RTT);
    talk.sack(2, &[(3, 4)]);
    talk.ack(4);
    // Segment 3 did not open the window: it was not acknowledged when it was delivered.
    assert_eq!(talk.sack(4, &[(5, 9)]), [15, 16, 17, 18], "four delivered above a hole: no retransmission");
    assert_eq!(talk.timer_ms(), 25.0);
    assert_eq!(fire_timer(&mut talk).1[0], 4);
}

/// Delivery of a segment sent later shows a loss, in whatever order of sequence: a lost
/// retransmission is found in a round trip.
#[test]
fn rack__finds_a_lost_retransmission() {
    let mut talk = make_sender(100);
    talk.wait(RTT);
    talk.sack(2, &[(3, 6)]);
    let mut sent = Vec::new();
    for arrived in 7..=12 {
        talk.wait(1);
        sent.extend(talk.sack(2, &[(3, arrived)]));
    }
    assert!(sent.contains(&13), "new data follows the retransmission: {sent:?}");
    talk.wait(RTT);
    assert_eq!(talk.sack(2, &[(3, 14)])[0], 2, "13 was sent after 2 was, and is here");
    assert_eq!(talk.sender.losses(), (2, 0));
}

/// As in Linux, the timeout of 300 ms starts anew when the first segment is sent again, and as long as segments arrive
/// that were sent before: the answer to the retransmission cannot have come. A round trip of 160 ms adds 7.5 ms.
#[test]
fn rto__waits_for_the_answer_to_the_retransmission() {
    let mut talk = make_sender(12);
    talk.wait(RTT);
    assert_eq!(talk.sack(2, &[(3, 6)]), [2]);
    assert_eq!(talk.timer_ms(), 300.0, "sent again");
    talk.wait(60);
    talk.sack(2, &[(3, 7)]);
    assert_eq!(talk.timer_ms(), 307.5, "6 was sent before 2 was sent again");
    talk.wait(10);
    assert_eq!(talk.sack(2, &[(3, 7)]), NOTHING);
    assert_eq!(talk.timer_ms(), 297.5, "nothing new");
}

/// Section 6.2 step 2: an answer sooner than the shortest round trip is for the original, and shows
/// no other loss.
#[test]
fn rack__an_answer_too_soon_is_for_the_original() {
    let mut talk = make_sender(12);
    talk.wait(RTT);
    assert_eq!(talk.sack(2, &[(3, 6)]), [2]);
    talk.wait(10);
    assert_eq!(talk.ack(6), NOTHING);
    assert_eq!(talk.sender.losses(), (1, 0), "6 to 11 were sent before 2 was again, and are not lost");
}

/// Section 7.2: acknowledgements have stopped for two round trips: the last segment goes out again.
#[test]
fn tlp__probes_after_two_round_trips() {
    let mut talk = make_sender(7);
    assert_eq!(talk.timer_ms(), 200.0);
    assert_eq!(fire_timer(&mut talk), (200.0, vec![6]));
    assert!(talk.last[0].retransmission && !talk.last[0].in_recovery);
    assert_eq!(talk.sender.cwnd(), 10.0);
    // 4 to 6 were lost; the probe's SACK shows it.
    talk.wait(RTT);
    talk.sack(4, &[(6, 7)]);
    let (_, sent) = if talk.last.is_empty() { fire_timer(&mut talk) } else { (0.0, vec![4]) };
    assert_eq!(sent[0], 4);
    assert_eq!(talk.sender.losses().1, 0, "no timeout");
}

/// Section 6.2 step 2: the least round trip is that of the handshake, whose packets are small. The
/// last segment is short too: the answer to its probe comes sooner than that of any full one, and
/// shows the losses all the same.
#[test]
fn tlp__the_answer_to_a_short_probe_shows_losses() {
    let mut talk = SenderHarness::new(linux_params());
    talk.wait(RTT - 2);
    talk.sender.sample_handshake(Time::ZERO, talk.now, 0, &talk.params);
    talk.write(2);
    talk.wait(RTT);
    talk.ack(2);
    talk.write(5);
    assert_eq!(fire_timer(&mut talk).1, [6]);
    // 2 and 3 arrived, 4 to 6 were lost.
    talk.wait(RTT - 1);
    assert_eq!(talk.sack(4, &[(6, 7)])[0], 4);
    assert_eq!(talk.sender.losses().1, 0, "no timeout");
}

/// Section 7.2: a single segment's acknowledgement may be delayed, so the probe waits 200 ms more, and
/// never beyond the retransmission timeout.
#[test]
fn tlp__waits_for_a_delayed_ack() {
    let mut alone = make_sender(3);
    assert_eq!(alone.timer_ms(), 300.0, "the timeout: 100 ms and at least 200 ms, before 2·100 + 200");
    alone.params.min_rto = mousehole_sim::units::Dur::from_millis(1000);
    let mut patient = SenderHarness::new(alone.params.clone());
    patient.write(2);
    patient.wait(RTT);
    patient.ack(2);
    patient.write(1);
    assert_eq!(patient.timer_ms(), 400.0);
}

/// Section 7.3: new data if there is any.
#[test]
fn tlp__prefers_new_data() {
    let mut talk = make_sender(100);
    let (_, sent) = fire_timer(&mut talk);
    assert_eq!(sent, [12], "beyond the window of ten");
    assert!(!talk.last[0].retransmission);
}

/// Section 7.3: one probe; then the retransmission timeout.
#[test]
fn tlp__is_followed_by_the_timeout() {
    let mut talk = make_sender(5);
    assert_eq!(fire_timer(&mut talk), (200.0, vec![4]));
    assert_eq!(fire_timer(&mut talk), (300.0, vec![2]));
    assert_eq!((talk.sender.losses(), talk.sender.cwnd()), ((2, 1), 1.0));
}

/// Section 7.4.2: the probe has repaired the loss by itself: the window is reduced all the same.
#[test]
fn tlp__a_repaired_loss_is_a_loss() {
    let mut talk = make_sender(5);
    assert_eq!(fire_timer(&mut talk).1, [4]);
    talk.wait(RTT);
    talk.ack(5);
    assert_eq!(talk.sender.cwnd(), 10.0, "the original may have been late");
    talk.write(3);
    talk.wait(RTT);
    talk.ack(7);
    assert_eq!(talk.sender.cwnd(), 5.0);
}

/// Section 7.4.2: the original arrived too: its acknowledgement, then a duplicate for the probe.
#[test]
fn tlp__a_needless_probe_costs_nothing() {
    let mut talk = make_sender(5);
    fire_timer(&mut talk);
    talk.ack(5);
    talk.ack(5);
    talk.write(3);
    talk.wait(RTT);
    talk.ack(7);
    assert!(talk.sender.cwnd() >= 10.0);
}

/// Section 7.1: recovery forgets the probe that started it; the loss costs one reduction.
#[test]
fn tlp__a_probe_that_starts_recovery_is_forgotten() {
    let mut talk = make_sender(7);
    assert_eq!(fire_timer(&mut talk).1, [6]);
    // 4 to 6 were lost.
    talk.wait(RTT);
    talk.sack(4, &[(6, 7)]);
    talk.wait(RTT);
    talk.ack(5);
    talk.wait(RTT);
    talk.ack(7);
    assert_eq!(talk.sender.cwnd(), 5.0);
    assert_eq!(talk.write(3), [7, 8, 9]);
    talk.wait(RTT);
    talk.ack(9);
    assert!(talk.sender.cwnd() >= 5.0, "reduced again to {}", talk.sender.cwnd());
}

/// Section 7.3: no second probe before a round-trip time was measured.
#[test]
fn tlp__a_second_probe_needs_a_sample() {
    let mut talk = make_sender(3);
    assert_eq!(fire_timer(&mut talk).1, [2]);
    talk.ack(3);
    talk.ack(3);
    talk.write(2);
    assert_eq!(talk.timer_ms(), 300.0, "the timeout: both ACKs may be for the original or for the probe");
    talk.wait(RTT);
    talk.ack(5);
    talk.write(2);
    assert_eq!(talk.timer_ms(), 200.0);
}

/// Section 6.3: after a timeout the SACKed segments stay known, and only segments sent long ago are
/// lost.
#[test]
fn timeout__keeps_what_was_delivered() {
    let mut talk = make_sender(6);
    talk.wait(RTT);
    talk.sack(2, &[(4, 5)]);
    fire_timer(&mut talk);
    let (_, sent) = fire_timer(&mut talk);
    assert_eq!(sent, [2]);
    talk.wait(RTT);
    assert_eq!(talk.ack(3), [3, 5], "4 is there");
}

/// A repeated timeout of the same data halves no further (RFC 5681 section 3.1).
#[test]
fn timeout__repeated_keeps_the_threshold() {
    let mut talk = make_sender(100);
    fire_timer(&mut talk);
    let waits: Vec<f64> = (0..4).map(|_| fire_timer(&mut talk).0).collect();
    assert_eq!(waits, [300.0, 600.0, 1200.0, 2400.0]);
    talk.wait(RTT);
    talk.ack(13);
    for _ in 0..10 {
        talk.wait(RTT);
        let below = talk.sender.sent_below();
        talk.ack(below);
    }
    assert!(talk.sender.cwnd() > 5.0, "slow start to 5, not to 2: {}", talk.sender.cwnd());
}

/// Linux's least RTO is a floor under four times the spread, so a steady path is never timed out early.
#[test]
fn rto__round_trip_and_at_least_200_ms() {
    let mut talk = SenderHarness::new(linux_params());
    for next in 1..50 {
        talk.write(1);
        talk.wait(400);
        talk.ack(next);
    }
    talk.write(1);
    fire_timer(&mut talk);
    assert!((talk.timer_ms() - 600.0).abs() < 1.0, "{}", talk.timer_ms());
}

/// The first 16 segments are acknowledged at once, then every second one or after 40 ms.
#[test]
fn quick_acks__at_the_start() {
    let mut harness = ReceiverHarness::new(linux_params());
    for seq in 0..16 {
        assert_eq!(harness.receive(seq).map(|ack| ack.next), Some(seq + 1));
    }
    assert_eq!(harness.receive(16), None);
    assert_eq!(harness.receiver.poll_timeout().since(harness.now).as_secs(), 0.04);
    assert_eq!(harness.receive(17).map(|ack| ack.next), Some(18));
}

/// While three rounds are more than the receive window, which begins with 44 segments, it grows by two with each
/// segment, and each is acknowledged: none beyond the first 16 where rounds are small.
#[test]
fn quick_acks__while_the_receive_window_grows() {
    for (round, quick) in [(1.0, 16), (14.0, 16), (44.0, 44), (255.0, 361), (5000.0, 361)] {
        let mut harness = ReceiverHarness { round, ..ReceiverHarness::new(linux_params()) };
        let is_quick = |seq: &u32| harness.receive(*seq).is_some();
        assert_eq!((0..1000).take_while(is_quick).count(), quick, "{round}");
    }
}

/// A receiver sees what arrives, not what a marker writes: without hints it acknowledges the same segments.
#[test]
fn quick_acks__whatever_hints_say() {
    let long = |scheme: &str| {
        with_profile(with_connections(scenario(scheme), vec![connection(0.0, &[(0.0, 2_000_000)])]), "linux")
    };
    assert_eq!(digest(&play(&long("no-hint|droptail"))), digest(&play(&long("droptail"))));
}

/// Between a request and data that follow each other at once every second segment is acknowledged, until an ACK
/// was delayed, a segment arrives twice, or a mark does.
#[test]
fn quick_acks__not_while_requests_follow_at_once() {
    let interactive = || {
        let mut harness = ReceiverHarness::new(linux_params());
        assert!(harness.receive(0).is_some());
        harness.receiver.note_request(Dur::from_millis(39), &harness.params);
        assert_eq!(harness.receive(1), None);
        assert_eq!(harness.receive(2).map(|ack| ack.next), Some(3));
        harness
    };
    let mut timed = interactive();
    assert_eq!(timed.receive(3), None);
    timed.receiver.handle_timeout(&timed.params);
    assert!(timed.receive(4).is_some() && timed.receive(5).is_some());
    let mut carried = interactive();
    assert_eq!(carried.receive(3), None);
    assert_eq!(carried.receiver.flush(&carried.params).next, 4);
    assert_eq!(carried.receive(4), None, "an ACK on a request changes nothing");
    let mut again = interactive();
    assert!(again.receive(1).is_some());
    assert!(again.receive(3).is_some() && again.receive(4).is_some());
    let mut marked = interactive();
    marked.params.ecn = true;
    assert!(marked.receive_with(3, flag::CE).is_some());
    assert!(marked.receive_with(4, flag::CWR).is_some() && marked.receive(5).is_some());
    let mut late = ReceiverHarness::new(linux_params());
    assert!(late.receive(0).is_some());
    late.receiver.note_request(Dur::from_millis(40), &late.params);
    assert!(late.receive(1).is_some(), "after a pause it is no dialogue");
}

/// A scenario names the profile and departs from it; RACK-TLP and PRR need SACK, ns-2's profiles know no CUBIC.
#[test]
fn profile__is_named_by_a_scenario() {
    let plan = |profile: &str, variant, congestion| {
        let tcp = TcpSpec { profile: profile.into(), variant, congestion, ..TcpSpec::default() };
        let base = crate::common::with_connections(
            crate::common::scenario("droptail"),
            crate::common::transfers(1, 0.0, 1000),
        );
        Plan::new(&Scenario { tcp, ..base }).map(|plan| plan.senders.first().clone())
    };
    let linux = plan("linux", None, None).expect("valid");
    assert_eq!((linux.congestion, linux.prr, linux.rack), (Congestion::Cubic, true, true));
    let plain = plan("linux", Some(Variant::Newreno), Some(Congestion::Reno)).expect("valid");
    assert_eq!((plain.congestion, plain.prr, plain.rack), (Congestion::Reno, false, false));
    assert_eq!(plan("rfc", None, Some(Congestion::Cubic)).expect("valid").congestion, Congestion::Cubic);
    let error = plan("ns2-2001", None, Some(Congestion::Cubic)).expect_err("not in ns-2").to_string();
    assert!(error.contains("tcp.congestion"), "{error}");
}
