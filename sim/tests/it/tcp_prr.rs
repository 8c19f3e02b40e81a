//! Proportional rate reduction (RFC 9937) as dialogues: the segments sent for each acknowledgement in recovery.
use crate::common::dialogue::{SenderHarness, rfc};
use mousehole_sim::tcp::{Congestion, Params, Variant};

const NOTHING: [u32; 0] = [];

/// Returns a sender with `window` segments in flight, without limited transmit, so that the counts
/// are plain.
fn make_sender(window: u32, congestion: Congestion) -> SenderHarness {
    let mut talk = SenderHarness::new(Params {
        prr: true,
        congestion,
        limited_transmit: false,
        initial_window: window,
        initial_ssthresh: Some(window),
        ..rfc(Variant::Sack)
    });
    talk.write(1000);
    talk
}

/// Section 6.2: one loss of 20 and ssthresh 10: one segment for every two delivered, through the round trip.
#[test]
fn proportional__one_for_two() {
    let mut talk = make_sender(20, Congestion::Reno);
    assert_eq!((talk.sack(0, &[(1, 2)]), talk.sack(0, &[(1, 3)])), (vec![], vec![]));
    assert_eq!(talk.sack(0, &[(1, 4)]), [0], "the third one retransmits, whatever the count says");
    let mut sent = Vec::new();
    for arrived in 5..=20 {
        sent.push(talk.sack(0, &[(1, arrived)]).len());
    }
    // ⌈delivered · 10/18⌉ − sent, until ten are in flight; then one out for one in.
    assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1]);
    assert!(talk.sender.cwnd() <= 11.0, "at ssthresh by the end: {}", talk.sender.cwnd());
    talk.wait(100);
    talk.ack(20);
    assert_eq!(talk.sender.cwnd(), 10.0, "section 6.4: ssthresh when recovery is over");
}

/// With CUBIC seven for ten.
#[test]
fn proportional__follows_the_congestion_controls_threshold() {
    let mut talk = make_sender(40, Congestion::Cubic);
    let mut sent = 0;
    for arrived in 2..=40 {
        sent += talk.sack(0, &[(1, arrived)]).len();
    }
    // 37 of the 38 that were still out are delivered with the third duplicate on: ⌈37 · 28/38⌉.
    assert_eq!(sent, 28);
}

/// Section 6.2: fifteen of twenty are lost at once. The flight is below ssthresh: what is delivered may be
/// sent again, no more, as long as ACKs do not advance.
#[test]
fn conservative_bound__sends_what_was_delivered() {
    let mut talk = make_sender(20, Congestion::Reno);
    talk.sack(0, &[(15, 16)]);
    talk.sack(0, &[(15, 17)]);
    assert_eq!(talk.sack(0, &[(15, 18)]).len(), 1);
    assert_eq!(talk.sack(0, &[(15, 19)]).len(), 1);
    assert_eq!(talk.sack(0, &[(15, 20)]).len(), 1);
}

/// The same loss: an ACK that advances and shows no new loss lets one segment more leave than it
/// delivered.
#[test]
fn slow_start_bound__gives_one_more_when_it_is_safe() {
    let mut talk = make_sender(20, Congestion::Reno);
    for arrived in 16..=20 {
        talk.sack(0, &[(15, arrived)]);
    }
    talk.wait(100);
    assert_eq!(talk.sack(1, &[(15, 20)]).len(), 2);
    assert_eq!(talk.sack(2, &[(15, 20)]).len(), 2);
}

/// Nothing delivered, nothing sent.
#[test]
fn repeated_ack__sends_nothing() {
    let mut talk = make_sender(20, Congestion::Reno);
    for arrived in 2..=6 {
        talk.sack(0, &[(1, arrived)]);
    }
    assert_eq!(talk.sack(0, &[(1, 6)]), NOTHING);
}

/// The window ends where the threshold is, however many of the window were lost.
#[test]
fn recovery__ends_at_the_threshold() {
    for lost in 1..16 {
        let mut talk = make_sender(20, Congestion::Reno);
        for arrived in lost + 1..=20 {
            talk.sack(0, &[(lost, arrived)]);
        }
        for round in 0..30 {
            talk.wait(100);
            let una = talk.sender.una();
            if una >= 20 {
                break;
            }
            assert!(round < 29, "{lost} losses are not repaired");
            talk.sack((una + 1).min(20), &[(lost.max(una + 2), 20)][..usize::from(una + 1 < lost)]);
            if talk.sender.una() == lost {
                talk.ack(20);
            }
        }
        assert_eq!(talk.sender.cwnd(), 10.0, "{lost} losses");
        assert_eq!(talk.sender.losses(), (lost, 0), "each sent again once, without a timeout");
    }
}
