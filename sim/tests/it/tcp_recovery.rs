//! Loss recovery under the `rfc` profile, as dialogues: fast retransmit, NewReno, SACK, limited transmit.
use crate::common::dialogue::{SenderHarness, rfc};
use mousehole_sim::tcp::{Params, Variant};

const NOTHING: [u32; 0] = [];

/// Returns a sender of a variant, 1 ms after the start.
fn make_sender(variant: Variant) -> SenderHarness {
    let mut talk = SenderHarness::new(rfc(variant));
    talk.wait(1);
    talk
}

/// RFC 3042: a new segment for each of the first two duplicate ACKs, beyond the window.
#[test]
fn limited_transmit__two_segments() {
    let mut talk = make_sender(Variant::Newreno);
    talk.write(100);
    assert_eq!(talk.ack(0), [10]);
    assert_eq!(talk.ack(0), [11]);
    assert_eq!(talk.ack(0), [0], "the third one retransmits");
    assert_eq!(talk.sender.cwnd(), 5.0, "half of what was out before limited transmit");
}

#[test]
fn limited_transmit__may_be_off() {
    let mut talk = SenderHarness::new(Params { limited_transmit: false, ..rfc(Variant::Newreno) });
    talk.write(100);
    assert_eq!((talk.ack(0), talk.ack(0), talk.ack(0)), (vec![], vec![], vec![0]));
    assert_eq!(talk.sender.cwnd(), 5.0);
}

#[test]
fn limited_transmit__stays_within_the_receive_window() {
    let mut talk = SenderHarness::new(Params { receive_window: 11, ..rfc(Variant::Newreno) });
    talk.write(100);
    assert_eq!((talk.ack(0), talk.ack(0)), (vec![10], vec![]));
}

/// With nothing left to send the flight is all ten segments (RFC 5681 eq. 4).
#[test]
fn fast_retransmit__halves_the_data_in_flight() {
    for variant in [Variant::Newreno, Variant::Sack] {
        let mut talk = make_sender(variant);
        talk.write(10);
        for arrived in 2..=4 {
            talk.sack(0, &[(1, arrived)]);
        }
        assert_eq!(talk.last.iter().map(|out| out.seq).collect::<Vec<_>>(), [0]);
        assert_eq!(talk.sender.cwnd(), 5.0, "{variant:?}");
    }
}

/// RFC 6582 section 3.2 step 2: duplicates below the recovery point are of what the timeout has sent again, also
/// while only the first segment is acknowledged.
#[test]
fn newreno__no_fast_retransmit_below_the_recovery_point() {
    for variant in [Variant::Reno, Variant::Newreno] {
        let mut talk = make_sender(variant);
        talk.write(100);
        assert_eq!(talk.time_out(), [0]);
        assert_eq!(talk.ack(1), [1, 2]);
        for _ in 0..3 {
            assert!(!talk.ack(1).contains(&1), "{variant:?}");
        }
        assert_eq!(talk.sender.losses(), (3, 1), "0, 1 and 2 by slow start alone, {variant:?}");
    }
}

/// RFC 6582: segments 0 and 5 of 12 are lost; one retransmission per round trip, no timeout.
#[test]
fn newreno__partial_ack_retransmits_the_next_hole() {
    let mut talk = make_sender(Variant::Newreno);
    talk.write(100);
    // Eight of the first ten arrive: 1 to 4 and 6 to 9.
    let dialogue = [vec![10], vec![11], vec![0], vec![], vec![], vec![], vec![], vec![12]];
    for expected in dialogue {
        assert_eq!(talk.ack(0), expected);
    }
    assert_eq!((talk.ack(0), talk.ack(0)), (vec![13], vec![14]), "for 10 and 11 of limited transmit");
    talk.wait(100);
    assert_eq!(talk.ack(5), [5, 15], "deflated by five, inflated by one");
    assert!(talk.last[0].retransmission && talk.last[0].in_recovery && !talk.last[1].retransmission);
    assert_eq!((talk.ack(5), talk.ack(5), talk.ack(5)), (vec![16], vec![17], vec![18]), "for 12, 13 and 14");
    talk.wait(100);
    assert_eq!(talk.ack(15), [19], "full ACK: min(ssthresh, flight + 1) = 5, and 15 to 18 are out");
    assert_eq!(talk.sender.cwnd(), 5.0);
    assert_eq!(talk.sender.losses(), (2, 0));
}

/// RFC 6582 section 3.2 step 3: the timer is restarted by the first partial ACK only ("impatient").
#[test]
fn newreno__impatient_timer() {
    let mut talk = make_sender(Variant::Newreno);
    talk.write(100);
    (0..3).for_each(|_| drop(talk.ack(0)));
    talk.wait(100);
    talk.ack(2);
    let deadline = talk.sender.poll_timeout();
    talk.wait(100);
    talk.ack(4);
    assert_eq!(talk.sender.poll_timeout(), deadline);
}

/// RFC 6582 section 3.2 steps 2 and 4: duplicate ACKs of what was sent before a timeout mean nothing.
#[test]
fn newreno__no_fast_retransmit_below_recover() {
    let mut talk = make_sender(Variant::Newreno);
    talk.write(100);
    assert_eq!(talk.time_out(), [0]);
    for _ in 0..5 {
        assert!(talk.ack(0).iter().all(|&seq| seq > 0));
    }
    assert_eq!(talk.sender.losses(), (1, 1));
}

/// RFC 5681 section 3.2: Reno leaves recovery with the first new ACK.
#[test]
fn reno__leaves_with_the_first_new_ack() {
    let mut talk = make_sender(Variant::Reno);
    talk.write(100);
    (0..3).for_each(|_| drop(talk.ack(0)));
    talk.wait(100);
    let sent = talk.ack(5);
    assert!(sent.iter().all(|&seq| seq >= 12), "no retransmission of 5: {sent:?}");
    assert!(talk.last.iter().all(|out| !out.in_recovery));
}

/// RFC 6675: the same two losses cost one round trip.
#[test]
fn sack__two_losses_in_one_round_trip() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(100);
    assert_eq!(talk.sack(0, &[(1, 2)]), [10]);
    assert_eq!(talk.sack(0, &[(1, 3)]), [11]);
    assert_eq!(talk.sack(0, &[(1, 4)]), [0], "three above it: lost");
    assert_eq!(talk.sender.cwnd(), 5.0);
    assert_eq!(talk.sack(0, &[(1, 5)]), NOTHING);
    assert_eq!(talk.sack(0, &[(6, 7), (1, 5)]), NOTHING);
    assert_eq!(talk.sack(0, &[(6, 8), (1, 5)]), NOTHING);
    assert_eq!(talk.sack(0, &[(6, 9), (1, 5)]), [5], "pipe 4: 9, 10, 11 and the retransmitted 0");
    assert_eq!(talk.sack(0, &[(6, 10), (1, 5)]), [12], "nothing lost is left, so new data");
    assert_eq!(talk.sack(0, &[(6, 11), (1, 5)]), [13]);
    assert_eq!(talk.sack(0, &[(6, 12), (1, 5)]), [14]);
    talk.wait(100);
    assert_eq!(talk.sack(5, &[(6, 12)]), [15]);
    assert_eq!(talk.ack(12), [16], "full ACK: window 5, 12 to 15 are out");
    assert_eq!((talk.sender.cwnd(), talk.sender.losses()), (5.0, (2, 0)));
}

/// RFC 6675 section 5 (2): three segments SACKed by one ACK are enough.
#[test]
fn sack__one_ack_may_detect_the_loss() {
    let mut once = make_sender(Variant::Sack);
    once.write(100);
    assert_eq!(once.sack(0, &[(1, 5)]), [0]);
    let mut moving = make_sender(Variant::Sack);
    moving.write(100);
    assert_eq!(moving.sack(2, &[(3, 7)])[0], 2, "also when the ACK covers new segments");
    assert!(moving.last[0].retransmission);
}

/// RFC 6675 section 4, NextSeg (4): the last segments are lost and nothing new is left to send.
#[test]
fn sack__recovers_lost_segments_at_the_end() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(10);
    // 0 and 9 are lost.
    talk.sack(0, &[(1, 2)]);
    talk.sack(0, &[(1, 3)]);
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    let mut sent = Vec::new();
    for arrived in 5..=9 {
        sent.extend(talk.sack(0, &[(1, arrived)]));
    }
    talk.wait(100);
    sent.extend(talk.ack(9));
    assert_eq!(sent, [9], "sent again once, without a timeout");
    talk.wait(100);
    talk.ack(10);
    assert!(talk.sender.is_done());
    assert_eq!(talk.sender.losses().1, 0);
}

/// RFC 2018 section 8: after a timeout what was SACKed is forgotten, and no recovery starts below `recover`.
#[test]
fn sack__timeout_forgets_the_scoreboard() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(100);
    talk.sack(0, &[(1, 3)]);
    assert_eq!(talk.time_out(), [0]);
    assert_eq!(talk.ack(1), [1, 2]);
}

/// RFC 6675 section 5.1: after a timeout no recovery starts below what was out then.
#[test]
fn sack__no_recovery_below_the_recovery_point() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(100);
    assert_eq!(talk.time_out(), [0]);
    for arrived in 2..=8 {
        assert_eq!(talk.sack(0, &[(1, arrived)]), NOTHING);
    }
    assert_eq!((talk.sender.cwnd(), talk.sender.losses()), (1.0, (1, 1)));
}

/// RFC 6675 section 4, IsLost: three SACKed segments above show a loss, adjacent or not.
#[test]
fn sack__three_separate_segments_detect_a_loss() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(10);
    // Every other segment is lost.
    assert_eq!(talk.sack(0, &[(5, 6), (3, 4), (1, 2)]), [0]);
    assert_eq!(talk.sack(0, &[(7, 8), (5, 6), (3, 4)]), NOTHING, "in the pipe: 4, 6, 8, 9 and 0 again");
    assert_eq!(talk.sack(0, &[(9, 10), (7, 8), (5, 6)]), [2, 4], "in the pipe: 6, 8 and 0 again");
}

/// RFC 6298 section 3: a segment sent new in recovery, lost and sent again gives no sample.
#[test]
fn sack__no_sample_across_a_retransmission() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(100);
    talk.sack(0, &[(1, 10)]);
    assert!(talk.last.iter().any(|out| out.seq == 10), "new data in recovery: {:?}", talk.last);
    talk.sack(0, &[(11, 14), (1, 10)]);
    assert!(
        talk.last.iter().any(|out| out.seq == 10 && out.retransmission),
        "10 is lost too: {:?}",
        talk.last
    );
    talk.wait(700);
    talk.ack(14);
    talk.wait(1);
    talk.write(1);
    assert!(talk.timer_ms() <= 1000.0, "no sample of 700 ms: {}", talk.timer_ms());
}

/// A rescue is for a lost tail; what was SACKed is never sent again.
#[test]
fn sack__nothing_but_the_hole_is_sent_again() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(10);
    assert_eq!(talk.sack(0, &[(1, 10)]), [0]);
}

/// RFC 6675 section 5 (4.3): no rescue while the first retransmission is out; its SACKs may yet
/// show a loss.
#[test]
fn sack__no_rescue_before_the_first_retransmission_arrives() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(10);
    // 0 and 9 are lost.
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    for arrived in 5..=9 {
        assert_eq!(talk.sack(0, &[(1, arrived)]), NOTHING, "up to {arrived}");
    }
    talk.wait(100);
    assert_eq!(talk.ack(9), [9]);
}

/// RFC 6675 section 4, NextSeg (4): the rescue is the highest segment outstanding, new data of this recovery too.
#[test]
fn sack__the_rescue_is_the_highest_outstanding() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(13);
    // 0, 8 and 12 are lost.
    assert_eq!(talk.sack(0, &[(1, 2)]), [10]);
    assert_eq!(talk.sack(0, &[(1, 3)]), [11]);
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    (5..=8).for_each(|arrived| assert_eq!(talk.sack(0, &[(1, arrived)]), NOTHING));
    assert_eq!(talk.sack(0, &[(9, 10), (1, 8)]), [12], "NextSeg (2): new data, for 8 may be late");
    assert_eq!(talk.sack(0, &[(9, 11), (1, 8)]), [8], "NextSeg (3): nothing new is left");
    assert_eq!(talk.sack(0, &[(9, 12), (1, 8)]), NOTHING);
    talk.wait(100);
    assert_eq!(talk.sack(8, &[(9, 12)]), [12], "NextSeg (4)");
    talk.ack(12);
    talk.ack(13);
    assert!(talk.sender.is_done());
    assert_eq!(talk.sender.losses(), (3, 0));
}

/// RFC 6675 section 4, SetPipe: what was retransmitted without being lost counts twice.
#[test]
fn sack__a_retransmission_on_suspicion_counts_twice() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(10);
    // 0 is lost, 7 is late.
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    (5..=7).for_each(|arrived| assert_eq!(talk.sack(0, &[(1, arrived)]), NOTHING));
    assert_eq!(talk.sack(0, &[(8, 9), (1, 7)]), [7], "NextSeg (3)");
    assert_eq!(talk.sack(0, &[(8, 10), (1, 7)]), NOTHING);
    assert_eq!(talk.write(10), [10, 11], "window 5, in the pipe: 0 once and 7 twice");
}

/// RFC 6582 section 3.2 step 3, for SACK too: a partial ACK shows the next hole to be lost, so that it leaves the pipe.
#[test]
fn sack__a_partial_ack_detects_the_next_loss() {
    let mut talk = make_sender(Variant::Sack);
    talk.write(30);
    // 0, 8 and 9 are lost.
    assert_eq!(talk.sack(0, &[(1, 4)]), [0]);
    (5..=6).for_each(|arrived| assert_eq!(talk.sack(0, &[(1, arrived)]), NOTHING));
    assert_eq!(talk.sack(0, &[(1, 7)]), [10], "in the pipe: 7, 8, 9 and 0 again");
    assert_eq!(talk.sack(0, &[(1, 8)]), [11]);
    talk.wait(100);
    assert_eq!(talk.ack(8), [8, 12], "in the pipe: 8 again, and 9 to 11");
}

/// ns-2 counts duplicate ACKs also when nothing is outstanding; there is then no segment to send again.
#[test]
fn ns2__sends_nothing_beyond_what_was_written() {
    for profile in ["ns2-2.35", "ns2-2001"] {
        for variant in [Variant::Tahoe, Variant::Reno, Variant::Newreno] {
            let mut talk = SenderHarness::new(Params {
                variant,
                ..Params::find_profile(profile).expect("a known profile")
            });
            talk.write(3);
            (1..=3).for_each(|next| drop(talk.ack(next)));
            assert!(talk.sender.is_done(), "{profile} {variant:?}");
            (0..5).for_each(|_| assert_eq!(talk.ack(3), NOTHING, "{profile} {variant:?}"));
            assert_eq!(talk.write(2)[0], 3, "{profile} {variant:?}");
        }
    }
}
