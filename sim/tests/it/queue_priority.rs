//! Strict priority: order, separate and shared limits, push-out, children that are REDs.
use crate::common::hop::{Hop, coloured, packet};
use crate::common::params;
use mousehole_policy::{LinkContext, Params, find};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::{Bands, Dropper, Fifo, Policy, Queue};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Rate, Time};
use proptest::prelude::*;

const RATE: Rate = Rate(8_000_000);

/// Returns a queue header's bands on a link with this buffer; panics for an unknown policy or a
/// wrong value.
fn make_bands(policy: &str, given: &[(&str, &str)], buffer: Buffer) -> Bands {
    let (buffer_packets, buffer_bytes) = match buffer {
        Buffer::Packets(packets) => (packets.into(), 0),
        Buffer::Bytes(bytes) => (0, bytes),
    };
    let context =
        LinkContext { rate_bps: RATE.0 as f64, buffer_packets, buffer_bytes, ..LinkContext::EXAMPLE };
    let policy = find(policy).expect("a shipped queue");
    Bands::new(Params::from_text(policy, given, &context).unwrap_or_else(|error| panic!("{error}")), 0)
}

/// Returns a link with these bands.
fn make_hop(bands: Bands) -> Hop {
    Hop::new(RATE, Queue::Bands(Box::new(bands)), true)
}

/// Returns a link with strict priority and a buffer of so many packets.
fn priority_hop(given: &[(&str, &str)], packets: u32) -> Hop {
    make_hop(make_bands("priority", given, Buffer::Packets(packets)))
}

/// Each colour has a buffer of its own.
const OWN: (&str, &str) = ("shared", "false");
/// All share one, and the arrival gives way.
const TAIL: (&str, &str) = ("pushout", "false");

/// Returns a link with strict priority over a shared buffer, whose overflow pushes out worse
/// packets.
fn shared_buffer_hop(shared: Buffer) -> Hop {
    make_hop(make_bands("priority", &[], shared))
}

/// Returns the numbers of the dropped packets.
fn lost_seqs(hop: &Hop) -> Vec<u32> {
    hop.dropped.iter().map(|drop| drop.packet.seq).collect()
}

/// Sends packets of a colour to the link, numbered by `seqs`, all at `now` in ns.
fn send_packets(hop: &mut Hop, colour: Colour, seqs: std::ops::Range<u32>, now: u64) {
    seqs.for_each(|seq| hop.arrive(coloured(colour, packet(1, seq, 1000)), Time(now)));
}

/// Lets everything leave; returns the numbers of the packets in the order of departure.
fn finish_order(hop: &mut Hop) -> Vec<u32> {
    hop.finish();
    hop.left.iter().map(|left| left.packet.seq).collect()
}

/// 1000 bytes take 1 ms. The red packet in transmission is not interrupted; then best colours first.
#[test]
fn dequeue__best_colour_first_without_interrupting() {
    let mut hop = priority_hop(&[OWN], 10);
    send_packets(&mut hop, Colour::Red, 0..2, 0);
    send_packets(&mut hop, Colour::Yellow, 10..12, 1000);
    send_packets(&mut hop, Colour::Green, 20..22, 2000);
    hop.advance(Time(2_500_000));
    send_packets(&mut hop, Colour::Green, 22..23, 2_500_000);
    assert_eq!(finish_order(&mut hop), [0, 20, 21, 22, 10, 11, 1]);
}

/// Bad colours starve as long as good ones fill the link (SFD: "can starve OUT").
#[test]
fn dequeue__starves() {
    let mut hop = priority_hop(&[OWN, ("colours", "2")], 10);
    send_packets(&mut hop, Colour::Yellow, 1000..1003, 0);
    (0..100).for_each(|seq| send_packets(&mut hop, Colour::Green, seq..seq + 1, u64::from(seq) * 1_000_000));
    let seqs = finish_order(&mut hop);
    assert_eq!((seqs[0], &seqs[101..]), (1000, &[1001, 1002][..]));
}

/// With two FIFOs red shares the last one, as one-colour-fits-all traffic shares the first.
#[test]
fn classify__worse_colours_go_to_the_last() {
    let mut hop = priority_hop(&[OWN, ("colours", "2")], 10);
    send_packets(&mut hop, Colour::Yellow, 0..2, 0);
    send_packets(&mut hop, Colour::Red, 2..3, 0);
    send_packets(&mut hop, Colour::Yellow, 3..4, 0);
    assert_eq!(finish_order(&mut hop), [0, 1, 2, 3]);
}

#[test]
fn limits__own_and_shared() {
    // Three of 5: each colour loses by itself. One packet is in transmission.
    let mut own = priority_hop(&[OWN], 5);
    send_packets(&mut own, Colour::Green, 0..8, 0);
    send_packets(&mut own, Colour::Red, 10..18, 0);
    assert_eq!(own.dropped.len(), 2 + 3);
    // Shared 5: who comes when it is full is lost, whatever its colour.
    let mut shared = priority_hop(&[TAIL], 5);
    send_packets(&mut shared, Colour::Red, 0..4, 0);
    send_packets(&mut shared, Colour::Green, 10..14, 0);
    assert_eq!(lost_seqs(&shared), [12, 13]);
    assert!(shared.dropped.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(shared.link.backlog(Time(0)), (5, 5000));
    let mut bytes = make_hop(make_bands("priority", &[TAIL], Buffer::Bytes(2999)));
    send_packets(&mut bytes, Colour::Red, 0..2, 0);
    send_packets(&mut bytes, Colour::Green, 10..14, 0);
    assert_eq!(bytes.link.backlog(Time(0)), (2, 2000));
}

/// The newest packets of the worst colour make room, until only colours are left that are not worse than the arrival's.
#[test]
fn push_out__drops_the_newest_of_the_worst_colour() {
    let mut hop = shared_buffer_hop(Buffer::Packets(4));
    send_packets(&mut hop, Colour::Green, 0..1, 0); // in transmission
    send_packets(&mut hop, Colour::Red, 10..12, 0);
    send_packets(&mut hop, Colour::Yellow, 20..22, 0);
    send_packets(&mut hop, Colour::Red, 12..13, 0);
    assert_eq!(lost_seqs(&hop), [12], "nobody is worse than red");
    send_packets(&mut hop, Colour::Green, 1..2, 0);
    send_packets(&mut hop, Colour::Yellow, 22..23, 0);
    assert_eq!(lost_seqs(&hop), [12, 11, 10]);
    send_packets(&mut hop, Colour::Yellow, 23..24, 0);
    assert_eq!(lost_seqs(&hop), [12, 11, 10, 23], "yellow does not push out yellow");
    send_packets(&mut hop, Colour::Green, 2..5, 0);
    assert_eq!(lost_seqs(&hop)[4..], [22, 21, 20]);
    send_packets(&mut hop, Colour::Green, 5..6, 0);
    assert_eq!(lost_seqs(&hop)[7..], [5]);
    assert!(hop.dropped.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(hop.link.backlog(Time(0)), (4, 4000));
    assert_eq!(finish_order(&mut hop), [0, 1, 2, 3, 4]);
}

/// A large packet pushes out as many as it needs, and none where all of them would not be enough.
#[test]
fn push_out__of_bytes_takes_what_is_needed_or_nothing() {
    let mut hop = shared_buffer_hop(Buffer::Bytes(3000));
    send_packets(&mut hop, Colour::Green, 0..1, 0); // in transmission
    (10..17).for_each(|seq| hop.arrive(coloured(Colour::Red, packet(1, seq, 400)), Time(0)));
    hop.arrive(coloured(Colour::Green, packet(1, 1, 1100)), Time(0));
    assert_eq!(lost_seqs(&hop), [14, 15, 16], "the link hands over those of one arrival last first");
    hop.arrive(coloured(Colour::Green, packet(1, 2, 2000)), Time(0));
    assert_eq!(lost_seqs(&hop)[3..], [2]);
    assert_eq!(hop.link.backlog(Time(0)), (5, 2700));
}

/// Drops are counted at the victim's colour, and every colour balances.
#[test]
fn push_out__is_counted_at_the_colour_of_the_victim() {
    let mut hop = shared_buffer_hop(Buffer::Packets(5));
    send_packets(&mut hop, Colour::Red, 0..6, 0);
    send_packets(&mut hop, Colour::Green, 10..13, 0);
    hop.finish();
    let colours = hop.link.counts_before(Time::NEVER);
    assert_eq!(colours.map(|one| one.arrived.packets), [3, 0, 6]);
    assert_eq!(colours.map(|one| one.dropped_for(DropReason::Forced).packets), [0, 0, 3]);
    assert_eq!(colours.map(|one| one.sent.packets), [3, 0, 3]);
}

/// Generates arrivals: the gap in packet times, colour, and size.
fn any_arrivals() -> impl Strategy<Value = Vec<(u64, usize, u16)>> {
    prop::collection::vec((0u64..3, 0usize..3, 100u16..=1500), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Compares the queue with lists of the waiting packets. An arrival is lost if the packets that
    /// are better or equal leave it no room; otherwise the worst lists lose their ends until all
    /// fits.
    #[test]
    fn push_out__equals_lists(arrivals in any_arrivals(), limit in 1u64..15_000, of_packets in any::<bool>()) {
        let shared = if of_packets { Buffer::Packets(1 + limit as u32 / 1000) } else { Buffer::Bytes(limit) };
        let size = |bytes: u16| if of_packets { 1 } else { u64::from(bytes) };
        let limit = if of_packets { 1 + limit / 1000 } else { limit };
        let (mut queue, mut rng) = (make_bands("priority", &[], shared), Stream::new(1, Purpose::Queue, 0));
        let mut lists: [Vec<(u32, u64)>; 3] = Default::default();
        let sum = |lists: &[Vec<(u32, u64)>]| lists.iter().flatten().map(|one| one.1).sum::<u64>();
        for (seq, (gap, colour, bytes)) in arrivals.into_iter().enumerate() {
            let (seq, now, mut drops) = (seq as u32, Time(seq as u64), Vec::new());
            for _ in 0..gap {
                let first = lists.iter_mut().find(|list| !list.is_empty()).map(|list| list.remove(0).0);
                let next = match queue.dequeue(now, &mut drops) {
                    mousehole_sim::queue::Dequeued::Packet(packet, _) => Some(packet.seq),
                    _ => None,
                };
                prop_assert_eq!(next, first);
            }
            let arrival = coloured(Colour::ALL[colour], packet(1, seq, bytes));
            queue.enqueue(arrival, now, &mut rng, &mut drops);
            let mut expected = Vec::new();
            if sum(&lists[..=colour]) + size(bytes) > limit {
                expected.push(seq);
            } else {
                lists[colour].push((seq, size(bytes)));
                while sum(&lists) > limit {
                    let worst = lists.iter_mut().rfind(|list| !list.is_empty()).expect("somebody waits");
                    expected.push(worst.pop().expect("not empty").0);
                }
            }
            prop_assert_eq!(drops.iter().map(|drop| drop.packet.seq).collect::<Vec<_>>(), expected);
            prop_assert_eq!(queue.backlog().0 as usize, lists.iter().map(Vec::len).sum::<usize>());
        }
    }
}

const RED: [(&str, &str); 4] = [("min", "3"), ("max", "9"), ("wq", "0.02"), ("mean", "1000B")];

/// Returns a link with one RED for each colour and a buffer of so many packets.
fn red_hop(given: &[(&str, &str)], packets: u32) -> Hop {
    let lines = ["green", "yellow", "red"].map(|colour| [format!("{colour}_min"), format!("{colour}_max")]);
    let [min, max, rest @ ..] = RED;
    let own = lines.iter().flat_map(|[low, high]| [(low.as_str(), min.1), (high.as_str(), max.1)]);
    // The lines of multi-RED are neither gentle nor spaced by default.
    let as_red = [("gentle", "true"), ("wait", "true")];
    let all: Vec<(&str, &str)> = own.chain(rest).chain(as_red).chain(given.iter().copied()).collect();
    make_hop(make_bands("priority-red", &all, Buffer::Packets(packets)))
}

/// Class E: all of one colour, the queue is plain RED, drop for drop, with one shared limit or several.
#[test]
fn red__all_of_one_colour_is_plain_red() {
    let policy = Policy::Dropper(Box::new(Dropper::new(params("red", &RED, RATE.0 as f64))));
    let mut plain = Hop::new(RATE, Queue::Fifo(Fifo::new(Buffer::Packets(50), policy)), true);
    let mut several = [&[OWN][..], &[TAIL], &[]].map(|given| red_hop(given, 50));
    for seq in 0..20_000u64 {
        // A load of 1.1 for 8 ms of every 10, so that the queue goes idle too.
        let now = Time(seq / 10 * 10_000_000 + seq % 10 * 800_000);
        for hop in std::iter::once(&mut plain).chain(&mut several) {
            hop.arrive(coloured(Colour::Yellow, packet(1, seq as u32, 900 + (seq % 3) as u16 * 300)), now);
        }
    }
    plain.finish();
    assert!(plain.dropped.len() > 100);
    for hop in &mut several {
        hop.finish();
        assert_eq!(plain.left, hop.left);
    }
}

/// Returns the average of a colour's RED.
fn average(hop: &mut Hop, colour: Colour) -> f64 {
    let Queue::Bands(bands) = hop.link.queue() else { panic!("a header's queue") };
    bands.readings()[colour.index()]
}

/// A RED whose queue was pushed out has been idle since then: its average falls.
#[test]
fn red__is_idle_once_all_its_packets_are_pushed_out() {
    let mut hop = red_hop(&[("colours", "2")], 8);
    send_packets(&mut hop, Colour::Green, 0..1, 0); // in transmission
    send_packets(&mut hop, Colour::Yellow, 10..18, 0);
    let filled = average(&mut hop, Colour::Yellow);
    send_packets(&mut hop, Colour::Green, 1..9, 0);
    assert_eq!(lost_seqs(&hop), (10..18).rev().collect::<Vec<_>>());
    // Eight green packets later, still without a turn, yellow has been idle for eight packets' time.
    send_packets(&mut hop, Colour::Yellow, 20..21, 7_500_000);
    let fallen = average(&mut hop, Colour::Yellow);
    assert!((fallen / filled - libm::pow(0.98, 8.0)).abs() < 1e-6, "{fallen} after {filled}");
}

/// A full shared buffer drops for RED's average too: the averages go on as with a buffer of one's own.
#[test]
fn red__averages_are_by_colour() {
    let mut hop = red_hop(&[OWN, ("colours", "2")], 50);
    send_packets(&mut hop, Colour::Yellow, 0..40, 0);
    assert!(average(&mut hop, Colour::Yellow) > 1.0);
    assert_eq!(average(&mut hop, Colour::Green), 0.0);
}
