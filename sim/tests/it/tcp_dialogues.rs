//! Dialogues with a sender and a receiver under the `rfc` profile: window, acknowledgements, timers, ECN.
//! Loss recovery is in a separate file.
use crate::common::dialogue::{ReceiverHarness, SenderHarness, list_blocks, rfc};
use mousehole_sim::packet::{Kind, flag};
use mousehole_sim::tcp::handshake::Handshake;
use mousehole_sim::tcp::{Params, Variant};
use mousehole_sim::units::{Dur, Time};

const NOTHING: [u32; 0] = [];

/// Returns the numbers from `from` to the one before `to`.
fn list_seqs(from: u32, to: u32) -> Vec<u32> {
    (from..to).collect()
}

/// Returns a NewReno sender.
fn newreno_sender() -> SenderHarness {
    SenderHarness::new(rfc(Variant::Newreno))
}

/// Returns NewReno's parameters with ECN.
fn ecn_params() -> Params {
    Params { ecn: true, ..rfc(Variant::Newreno) }
}

/// RFC 6928: ten segments at first; RFC 3465 section 2.3: an ACK of two opens the window by two.
#[test]
fn slow_start__ten_segments_then_two_more_per_delayed_ack() {
    let mut talk = newreno_sender();
    assert_eq!(talk.write(100), list_seqs(0, 10));
    talk.wait(100);
    assert_eq!(talk.ack(2), list_seqs(10, 14));
    assert_eq!(talk.ack(4), list_seqs(14, 18));
    assert_eq!(talk.sender.cwnd(), 14.0);
    assert_eq!(talk.ack(9), list_seqs(18, 25), "an ACK of five opens by two (L = 2)");
    assert_eq!(talk.sender.cwnd(), 16.0);
}

/// RFC 5681 section 3.1: about one segment per round trip past ssthresh.
#[test]
fn congestion_avoidance__one_segment_per_round_trip() {
    let mut talk = SenderHarness::new(Params { initial_ssthresh: Some(10), ..rfc(Variant::Newreno) });
    talk.write(1000);
    for next in [2, 4, 6, 8, 10] {
        talk.ack(next);
    }
    let after_one = talk.sender.cwnd();
    assert!((10.9..=11.0).contains(&after_one), "{after_one}");
}

/// RFC 7661's reason: a window that was not used proves nothing, so it does not grow.
#[test]
fn window__does_not_grow_when_the_application_limits() {
    let mut talk = newreno_sender();
    for write in 1..20 {
        talk.write(2);
        talk.wait(50);
        talk.ack(2 * write);
    }
    assert_eq!(talk.sender.cwnd(), 10.0);
}

#[test]
fn receive_window__bounds_what_is_in_flight() {
    let mut talk = SenderHarness::new(Params { receive_window: 4, ..rfc(Variant::Sack) });
    assert_eq!(talk.write(100), list_seqs(0, 4));
    assert_eq!(talk.ack(2), list_seqs(4, 6));
}

/// RFC 5681 section 4.2: an ACK at least for every second full segment, and within the delay.
#[test]
fn delayed_ack__every_second_segment_or_after_100_ms() {
    let mut harness = ReceiverHarness::new(rfc(Variant::Sack));
    assert_eq!(harness.receive(0).map(|ack| ack.next), Some(1), "the first segment at once");
    assert_eq!(harness.receive(1), None);
    assert_eq!(harness.receiver.poll_timeout(), Time::ZERO + Dur::from_millis(100));
    assert_eq!(harness.receive(2).map(|ack| ack.next), Some(3));
    assert_eq!(harness.receiver.poll_timeout(), Time::NEVER);
    assert_eq!(harness.receive(3), None);
    assert_eq!(harness.receiver.handle_timeout(&harness.params).next, 4);
    assert_eq!(harness.receiver.poll_timeout(), Time::NEVER);
}

/// RFC 5681 section 4.2: out of order, filling a gap, or sent again: at once.
#[test]
fn delayed_ack__not_where_order_is_lost() {
    let mut harness = ReceiverHarness::new(rfc(Variant::Sack));
    harness.receive(0);
    let gap = harness.receive(2).expect("out of order");
    assert_eq!((gap.next, list_blocks(&gap)), (1, vec![(2, 3)]));
    let other = harness.receive(4).expect("out of order");
    assert_eq!((other.next, list_blocks(&other)), (1, vec![(4, 5), (2, 3)]), "newest block first");
    assert_eq!(harness.receive(2).map(|ack| ack.next), Some(1), "a duplicate");
    let filled = harness.receive(1).expect("fills a gap");
    assert_eq!((filled.next, list_blocks(&filled)), (3, vec![(4, 5)]));
    assert_eq!(harness.receive(3).map(|ack| (ack.next, list_blocks(&ack))), Some((5, vec![])));
}

/// RFC 2018 section 4: the block with the newest segment first, then the ones last reported.
#[test]
fn sack_blocks__three_most_recent() {
    let mut harness = ReceiverHarness::new(rfc(Variant::Sack));
    let mut last = None;
    for seq in [2, 4, 6, 8] {
        last = harness.receive(seq);
    }
    assert_eq!(list_blocks(&last.expect("out of order")), [(8, 9), (6, 7), (4, 5)]);
    assert_eq!(list_blocks(&harness.receive(3).expect("out of order")), [(2, 5), (8, 9), (6, 7)]);
}

/// RFC 2018 section 4: filled up with what was reported last, not with what is highest.
#[test]
fn sack_blocks__the_third_is_the_third_last_reported() {
    let mut harness = ReceiverHarness::new(rfc(Variant::Sack));
    for seq in [20, 2, 6, 10] {
        harness.receive(seq);
    }
    assert_eq!(list_blocks(&harness.receive(11).expect("out of order")), [(10, 12), (6, 7), (2, 3)]);
}

/// ns-2's sink does not report again a block that has once dropped out of its three
/// (`oracle/semantics.md` 1.6).
#[test]
fn sack_blocks__of_ns2_leave_the_room_of_blocks_that_grew_together() {
    let blocks = |params: Params| {
        let mut harness = ReceiverHarness::new(params);
        for seq in [2, 4, 6, 8] {
            harness.receive(seq);
        }
        list_blocks(&harness.receive(7).expect("out of order"))
    };
    let ns2 = Params { variant: Variant::Sack, ..Params::find_profile("ns2-2.35").expect("a profile") };
    assert_eq!(blocks(ns2), [(6, 9), (4, 5)]);
    assert_eq!(blocks(rfc(Variant::Sack)), [(6, 9), (4, 5), (2, 3)]);
}

/// RFC 6298 sections 2.1 to 2.4, with samples of 500 and 300 ms.
#[test]
fn rto__follows_the_estimator() {
    let mut talk = newreno_sender();
    talk.write(1);
    assert_eq!(talk.timer_ms(), 1000.0, "before any sample");
    talk.wait(500);
    talk.ack(1);
    assert_eq!(talk.sender.poll_timeout(), Time::NEVER, "everything is acknowledged (5.2)");
    talk.write(1);
    assert_eq!(talk.timer_ms(), 1500.0, "SRTT 500, RTTVAR 250");
    talk.wait(300);
    talk.ack(2);
    talk.write(1);
    assert!((talk.timer_ms() - 1425.0).abs() < 1e-3, "SRTT 475, RTTVAR 237.5: {}", talk.timer_ms());
}

/// RFC 6298 sections 5.3 and 5.4, 5.5: restarted by new ACKs, doubled by timeouts; section 3: Karn.
#[test]
fn rto__doubles_and_takes_no_sample_of_what_was_sent_twice() {
    let mut talk = newreno_sender();
    talk.write(1);
    for expected_ms in [2000.0, 4000.0, 8000.0] {
        assert_eq!(talk.time_out(), [0]);
        assert_eq!(talk.timer_ms(), expected_ms);
    }
    talk.wait(50);
    talk.ack(1);
    talk.write(1);
    assert_eq!(talk.timer_ms(), 8000.0, "an ACK of a retransmission tells nothing");
    talk.wait(100);
    talk.ack(2);
    talk.write(1);
    assert_eq!(talk.timer_ms(), 1000.0, "SRTT 100, RTTVAR 50, least RTO 1 s");
    assert_eq!(talk.sender.losses(), (3, 3));
}

/// RFC 6298 section 5, at its end: after many doublings the estimate is forgotten, the next sample is a first one.
#[test]
fn rto__far_backoff_restarts_the_estimator() {
    let mut talk = newreno_sender();
    talk.write(1);
    talk.wait(100);
    talk.ack(1);
    talk.write(1);
    (0..4).for_each(|_| drop(talk.time_out()));
    assert_eq!(talk.timer_ms(), 16_000.0);
    talk.ack(2);
    talk.write(1);
    talk.wait(1000);
    talk.ack(3);
    talk.write(1);
    assert_eq!(talk.timer_ms(), 3000.0, "SRTT 1000, RTTVAR 500; 1262 with the old estimate");
}

#[test]
fn rto__stops_at_60_s() {
    let mut talk = newreno_sender();
    talk.write(1);
    for _ in 0..10 {
        talk.time_out();
    }
    assert_eq!(talk.timer_ms(), 60_000.0);
}

/// RFC 5681 section 3.1: a timeout leaves one segment of window, and ssthresh of half the flight.
#[test]
fn rto__slow_start_from_one_segment() {
    let mut talk = newreno_sender();
    talk.write(100);
    assert_eq!(talk.time_out(), [0]);
    assert_eq!(talk.sender.cwnd(), 1.0);
    talk.wait(100);
    assert_eq!(talk.ack(2), [2, 3], "one more per ACK after a timeout (RFC 3465 section 2.3)");
    assert_eq!(talk.ack(4), [4, 5, 6]);
    assert_eq!(talk.ack(7), [7, 8, 9, 10]);
    talk.ack(9);
    assert_eq!(talk.sender.cwnd(), 5.0, "ssthresh was 10 / 2");
    talk.ack(11);
    assert!(talk.sender.cwnd() < 5.5, "past ssthresh");
}

/// RFC 5681 section 3.1: the second timeout of the same segment leaves ssthresh alone.
#[test]
fn rto__a_repeated_timeout_keeps_ssthresh() {
    let mut talk = newreno_sender();
    talk.write(100);
    talk.time_out();
    talk.time_out();
    talk.wait(100);
    for next in 1..=4 {
        talk.ack(next);
    }
    assert_eq!(talk.sender.cwnd(), 5.0, "slow start up to 10 / 2");
}

/// RFC 5681 section 4.1.
#[test]
fn idle__restarts_from_the_initial_window() {
    let mut talk = newreno_sender();
    talk.write(20);
    talk.wait(100);
    for next in [2, 4, 6, 8, 10, 12, 14, 16, 18, 20] {
        talk.ack(next);
    }
    assert!(talk.sender.cwnd() > 15.0);
    talk.wait(900);
    let sent = talk.write(16);
    assert_eq!(sent.len(), 16, "within the RTO nothing is forgotten");
    talk.wait(100);
    talk.ack(36);
    talk.wait(1100);
    assert_eq!(talk.write(40).len(), 10);
}

/// A sender that waits for acknowledgements is not idle, however long it takes.
#[test]
fn idle__needs_everything_acknowledged() {
    let mut talk = newreno_sender();
    talk.write(20);
    talk.wait(100);
    for next in [2, 4, 6, 8, 10, 12, 14, 16, 18] {
        talk.ack(next);
    }
    let before = talk.sender.cwnd();
    assert!(before > 15.0, "{before}");
    talk.wait(5000);
    talk.write(1);
    assert_eq!(talk.sender.cwnd(), before);
}

/// RFC 5681 section 4.1: the restart window is min(IW, cwnd), so an idle period never opens a window.
#[test]
fn idle__does_not_open_a_window_below_the_initial_window() {
    let mut talk = newreno_sender();
    talk.write(10);
    talk.time_out();
    talk.ack(10);
    let before = talk.sender.cwnd();
    assert!(before < 10.0, "{before}");
    talk.wait(60_000);
    assert_eq!(talk.write(40).len(), before as usize);
}

/// A first data segment that is lost is no reason to forget the initial window: only a SYN's loss is.
#[test]
fn idle__initial_window_survives_the_loss_of_the_first_segment() {
    let mut talk = newreno_sender();
    talk.write(200);
    talk.time_out();
    talk.wait(100);
    for next in 1..=200 {
        talk.ack(next);
    }
    assert!(talk.sender.cwnd() > 10.0);
    talk.wait(10_000);
    assert_eq!(talk.write(40).len(), 10);
}

/// RFC 6298 section 5.7: a SYN was sent again, so the first RTO is 3 s.
#[test]
fn syn_loss__three_seconds() {
    let params = rfc(Variant::Sack);
    let mut handshake = Handshake::default();
    assert_eq!(handshake.open(Time::ZERO, &params), (Kind::Syn, 0));
    let first = handshake.poll_timeout();
    assert_eq!(first, Time(1_000_000_000));
    assert_eq!(handshake.handle_timeout(first, &params), Some((Kind::Syn, 0)));
    let second = handshake.poll_timeout();
    assert_eq!(second, Time(3_000_000_000), "doubled");
    let answered = first + Dur::from_millis(80);
    assert_eq!(handshake.repeats(), 1);
    assert!(handshake.handle_syn_ack(answered, &params));
    assert!(!handshake.handle_syn_ack(answered, &params), "only once");
    handshake.request(0, answered, &params);
    assert_eq!(handshake.poll_timeout().since(answered), Dur::from_millis(3000));
}

/// RFC 6928 section 2: one SYN or SYN-ACK sent again leaves the initial window as it is, more are a loss.
#[test]
fn syn_loss__the_second_costs_the_initial_window() {
    for (again, first) in [(1, list_seqs(0, 10)), (2, vec![0])] {
        let mut talk = newreno_sender();
        talk.sender.sample_handshake(Time::ZERO, Time(80_000_000), again, &talk.params);
        assert_eq!(talk.write(20), first, "sent again {again} times");
        assert_eq!(talk.timer_ms(), 3000.0);
    }
}

#[test]
fn handshake__gives_a_sample() {
    let mut talk = newreno_sender();
    talk.sender.sample_handshake(Time::ZERO, Time(600_000_000), 0, &talk.params);
    talk.write(1);
    assert_eq!(talk.timer_ms(), 1800.0);
}

/// RFC 3168 section 6.1.2: one halving per window, no growth on an echo, CWR on the first new segment.
#[test]
fn ecn__halves_once_per_window() {
    let mut talk = SenderHarness::new(ecn_params());
    talk.write(100);
    talk.wait(100);
    assert_eq!(talk.ack_with_echo(2), NOTHING);
    assert_eq!(talk.sender.cwnd(), 5.0);
    assert_eq!(talk.ack_with_echo(4), NOTHING);
    assert_eq!(talk.ack_with_echo(6), [10]);
    assert!(talk.last[0].cwr);
    assert_eq!(talk.ack_with_echo(8), [11, 12]);
    assert!(talk.last.iter().all(|out| !out.cwr));
    assert_eq!(talk.ack_with_echo(10), [13, 14]);
    assert_eq!(talk.sender.cwnd(), 5.0, "no second halving, no growth");
    talk.ack_with_echo(11);
    assert_eq!(talk.sender.cwnd(), 2.5, "a mark of the next window halves again");
}

/// RFC 3168 section 6.1.2: an echo never opens the window, not even one of a single segment.
#[test]
fn ecn__an_echo_does_not_grow_the_window() {
    let mut talk = SenderHarness::new(Params { initial_window: 1, ..ecn_params() });
    talk.write(10);
    talk.wait(100);
    assert_eq!(talk.ack_with_echo(1), [1]);
    assert_eq!(talk.sender.cwnd(), 1.0);
}

/// RFC 3168 section 6.1.2: any reduction of the window is announced (CWR), and one per window is
/// enough.
#[test]
fn ecn__a_loss_has_reduced_the_window_already() {
    let mut talk = SenderHarness::new(ecn_params());
    talk.write(100);
    for _ in 0..3 {
        talk.ack(0);
    }
    assert_eq!(talk.sender.cwnd(), 5.0);
    assert!(!talk.last[0].cwr, "not on a retransmission");
    talk.wait(100);
    talk.ack_with_echo(12);
    assert_eq!(talk.sender.cwnd(), 2.0, "min(ssthresh, flight + 1), not halved");
    assert!(talk.last[0].cwr);
    let mut talk = SenderHarness::new(ecn_params());
    talk.write(100);
    talk.time_out();
    talk.ack_with_echo(1);
    assert_eq!(talk.sender.cwnd(), 1.0, "neither halved nor opened");
}

/// RFC 3168 section 6.1.3: the echo lasts until CWR comes, and nothing is delayed meanwhile.
#[test]
fn ecn__receiver_echoes_until_the_window_is_reduced() {
    let mut harness = ReceiverHarness::new(ecn_params());
    assert!(!harness.receive(0).expect("the first at once").ece);
    assert_eq!(harness.receive_with(1, flag::CE).map(|ack| ack.ece), Some(true));
    assert_eq!(harness.receive(2).map(|ack| ack.ece), Some(true));
    assert_eq!(harness.receive_with(3, flag::CWR), None, "back to delayed ACKs");
    assert_eq!(harness.receive_with(4, flag::CWR | flag::CE).map(|ack| ack.ece), Some(true));
}
