//! Strict priority: order, own and shared limits, push-out, children that are REDs.
use crate::common::hop::{Hop, coloured, packet};
use crate::common::params;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::priority::Params;
use mousehole_sim::queue::{Dropper, Fifo, Policy, Priority, Queue};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::{Buffer, Rate, Time};
use proptest::prelude::*;

const RATE: Rate = Rate(8_000_000);

fn hop(children: Vec<(Buffer, Policy)>, shared: Option<Buffer>) -> Hop {
    hop_with(Params { children, shared, push_out: false })
}

fn hop_with(params: Params) -> Hop {
    Hop::new(RATE, Queue::Priority(Box::new(Priority::new(params))), true)
}

fn pushing_out(shared: Buffer) -> Hop {
    hop_with(Params { children: tails(&[100; 3]), shared: Some(shared), push_out: true })
}

fn lost(hop: &Hop) -> Vec<u32> {
    hop.dropped.iter().map(|drop| drop.packet.seq).collect()
}

fn tails(limits: &[u32]) -> Vec<(Buffer, Policy)> {
    limits.iter().map(|&limit| (Buffer::Packets(limit), Policy::DropTail)).collect()
}

fn put(hop: &mut Hop, colour: Colour, seqs: std::ops::Range<u32>, now: u64) {
    seqs.for_each(|seq| hop.arrive(coloured(colour, packet(1, seq, 1000)), Time(now)));
}

fn order(hop: &mut Hop) -> Vec<u32> {
    hop.finish();
    hop.left.iter().map(|left| left.packet.seq).collect()
}

/// 1000 bytes take 1 ms. The red packet in transmission is not interrupted; then best colours first.
#[test]
fn dequeue__best_colour_first_without_interrupting() {
    let mut hop = hop(tails(&[10, 10, 10]), None);
    put(&mut hop, Colour::Red, 0..2, 0);
    put(&mut hop, Colour::Yellow, 10..12, 1000);
    put(&mut hop, Colour::Green, 20..22, 2000);
    hop.advance(Time(2_500_000));
    put(&mut hop, Colour::Green, 22..23, 2_500_000);
    assert_eq!(order(&mut hop), [0, 20, 21, 22, 10, 11, 1]);
}

/// Bad colours starve as long as good ones fill the link (SFD: "can starve OUT").
#[test]
fn dequeue__starves() {
    let mut hop = hop(tails(&[10, 10]), None);
    put(&mut hop, Colour::Yellow, 1000..1003, 0);
    (0..100).for_each(|seq| put(&mut hop, Colour::Green, seq..seq + 1, u64::from(seq) * 1_000_000));
    let seqs = order(&mut hop);
    assert_eq!((seqs[0], &seqs[101..]), (1000, &[1001, 1002][..]));
}

/// With two FIFOs red shares the last one, as one-colour-fits-all traffic shares the first.
#[test]
fn classify__worse_colours_go_to_the_last() {
    let mut hop = hop(tails(&[10, 10]), None);
    put(&mut hop, Colour::Yellow, 0..2, 0);
    put(&mut hop, Colour::Red, 2..3, 0);
    put(&mut hop, Colour::Yellow, 3..4, 0);
    assert_eq!(order(&mut hop), [0, 1, 2, 3]);
}

#[test]
fn limits__own_and_shared() {
    // Three of 5: each colour loses by itself. One packet is in transmission.
    let mut own = hop(tails(&[5, 5, 5]), None);
    put(&mut own, Colour::Green, 0..8, 0);
    put(&mut own, Colour::Red, 10..18, 0);
    assert_eq!(own.dropped.len(), 2 + 3);
    // Shared 5: who comes when it is full is lost, whatever its colour.
    let mut shared = hop(tails(&[5, 5, 5]), Some(Buffer::Packets(5)));
    put(&mut shared, Colour::Red, 0..4, 0);
    put(&mut shared, Colour::Green, 10..14, 0);
    assert_eq!(lost(&shared), [12, 13]);
    assert!(shared.dropped.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(shared.link.backlog(Time(0)), (5, 5000));
    let mut bytes = hop(tails(&[5, 5, 5]), Some(Buffer::Bytes(2999)));
    put(&mut bytes, Colour::Red, 0..2, 0);
    put(&mut bytes, Colour::Green, 10..14, 0);
    assert_eq!(bytes.link.backlog(Time(0)), (2, 2000));
}

/// The newest packets of the worst colour make room, until only colours are left that are not worse than the arrival's.
#[test]
fn push_out__drops_the_newest_of_the_worst_colour() {
    let mut hop = pushing_out(Buffer::Packets(4));
    put(&mut hop, Colour::Green, 0..1, 0); // in transmission
    put(&mut hop, Colour::Red, 10..12, 0);
    put(&mut hop, Colour::Yellow, 20..22, 0);
    put(&mut hop, Colour::Red, 12..13, 0);
    assert_eq!(lost(&hop), [12], "nobody is worse than red");
    put(&mut hop, Colour::Green, 1..2, 0);
    put(&mut hop, Colour::Yellow, 22..23, 0);
    assert_eq!(lost(&hop), [12, 11, 10]);
    put(&mut hop, Colour::Yellow, 23..24, 0);
    assert_eq!(lost(&hop), [12, 11, 10, 23], "yellow does not push out yellow");
    put(&mut hop, Colour::Green, 2..5, 0);
    assert_eq!(lost(&hop)[4..], [22, 21, 20]);
    put(&mut hop, Colour::Green, 5..6, 0);
    assert_eq!(lost(&hop)[7..], [5]);
    assert!(hop.dropped.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(hop.link.backlog(Time(0)), (4, 4000));
    assert_eq!(order(&mut hop), [0, 1, 2, 3, 4]);
}

/// A large packet pushes out as many as it needs, and none where all of them would not be enough.
#[test]
fn push_out__of_bytes_takes_what_is_needed_or_nothing() {
    let mut hop = pushing_out(Buffer::Bytes(3000));
    put(&mut hop, Colour::Green, 0..1, 0); // in transmission
    (10..17).for_each(|seq| hop.arrive(coloured(Colour::Red, packet(1, seq, 400)), Time(0)));
    hop.arrive(coloured(Colour::Green, packet(1, 1, 1100)), Time(0));
    assert_eq!(lost(&hop), [14, 15, 16], "the link hands over those of one arrival last first");
    hop.arrive(coloured(Colour::Green, packet(1, 2, 2000)), Time(0));
    assert_eq!(lost(&hop)[3..], [2]);
    assert_eq!(hop.link.backlog(Time(0)), (5, 2700));
}

/// Drops are counted at the victim's colour, and every colour balances.
#[test]
fn push_out__is_counted_at_the_colour_of_the_victim() {
    let mut hop = pushing_out(Buffer::Packets(5));
    put(&mut hop, Colour::Red, 0..6, 0);
    put(&mut hop, Colour::Green, 10..13, 0);
    hop.finish();
    let colours = hop.link.counts_before(Time::NEVER);
    assert_eq!(colours.map(|one| one.arrived.packets), [3, 0, 6]);
    assert_eq!(colours.map(|one| one.dropped_for(DropReason::Forced).packets), [0, 0, 3]);
    assert_eq!(colours.map(|one| one.sent.packets), [3, 0, 3]);
}

/// Each arrival's gap in packet times, its colour, and its size.
fn arrivals() -> impl Strategy<Value = Vec<(u64, usize, u16)>> {
    prop::collection::vec((0u64..3, 0usize..3, 100u16..=1500), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Beside lists of what waits: the arrival is lost if what is better or equal leaves it no room; else the worst
    /// lists lose their ends until all fits.
    #[test]
    fn push_out__equals_lists(arrivals in arrivals(), limit in 1u64..15_000, of_packets in any::<bool>()) {
        let shared = if of_packets { Buffer::Packets(1 + limit as u32 / 1000) } else { Buffer::Bytes(limit) };
        let size = |bytes: u16| if of_packets { 1 } else { u64::from(bytes) };
        let limit = if of_packets { 1 + limit / 1000 } else { limit };
        let (children, mut rng) = (tails(&[u32::MAX; 3]), Stream::new(1, Purpose::Queue, 0));
        let children = children.into_iter().map(|(_, policy)| (shared, policy)).collect();
        let mut queue = Priority::new(Params { children, shared: Some(shared), push_out: true });
        let mut lists: [Vec<(u32, u64)>; 3] = Default::default();
        let sum = |lists: &[Vec<(u32, u64)>]| lists.iter().flatten().map(|one| one.1).sum::<u64>();
        for (seq, (gap, colour, bytes)) in arrivals.into_iter().enumerate() {
            let (seq, now, mut drops) = (seq as u32, Time(seq as u64), Vec::new());
            for _ in 0..gap {
                let first = lists.iter_mut().find(|list| !list.is_empty()).map(|list| list.remove(0).0);
                let next = match queue.dequeue(now) {
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
            prop_assert_eq!(queue.backlog(now).0 as usize, lists.iter().map(Vec::len).sum::<usize>());
        }
    }
}

fn reds(count: usize) -> Vec<(Buffer, Policy)> {
    let params =
        params("red", &[("min", "3"), ("max", "9"), ("wq", "0.02"), ("mean", "1000B")], RATE.0 as f64);
    let policy = Policy::Dropper(Box::new(Dropper::new(params)));
    (0..count).map(|_| (Buffer::Packets(50), policy.clone())).collect()
}

/// Class E: all of one colour, the queue is plain RED, drop for drop, with one shared limit or several.
#[test]
fn red__all_of_one_colour_is_plain_red() {
    let (limit, policy) = reds(1).remove(0);
    let mut plain = Hop::new(RATE, Queue::Fifo(Fifo::new(limit, policy)), true);
    let mut several = hop(reds(3), None);
    let mut shared = hop(reds(3), Some(Buffer::Packets(50)));
    let (children, limit) = (reds(3), Some(Buffer::Packets(50)));
    let mut pushed = hop_with(Params { children, shared: limit, push_out: true });
    for seq in 0..20_000u64 {
        // A load of 1.1 for 8 ms of every 10, so that the queue goes idle too.
        let now = Time(seq / 10 * 10_000_000 + seq % 10 * 800_000);
        for hop in [&mut plain, &mut several, &mut shared, &mut pushed] {
            hop.arrive(coloured(Colour::Yellow, packet(1, seq as u32, 900 + (seq % 3) as u16 * 300)), now);
        }
    }
    for hop in [&mut plain, &mut several, &mut shared, &mut pushed] {
        hop.finish();
    }
    assert!(plain.dropped.len() > 100);
    assert_eq!(plain.left, several.left);
    assert_eq!(plain.left, shared.left);
    assert_eq!(plain.left, pushed.left);
}

/// A RED whose queue was pushed out has been idle since then: its average falls.
#[test]
fn red__is_idle_once_all_its_packets_are_pushed_out() {
    let children = reds(2).into_iter().map(|(_, policy)| (Buffer::Packets(8), policy)).collect();
    let mut hop = hop_with(Params { children, shared: Some(Buffer::Packets(8)), push_out: true });
    put(&mut hop, Colour::Green, 0..1, 0); // in transmission
    put(&mut hop, Colour::Yellow, 10..18, 0);
    let average = |hop: &mut Hop| {
        let Queue::Priority(priority) = hop.link.queue() else { panic!("a priority queue") };
        priority.child(1).averages()[0]
    };
    let filled = average(&mut hop);
    put(&mut hop, Colour::Green, 1..9, 0);
    assert_eq!(lost(&hop), (10..18).rev().collect::<Vec<_>>());
    // Eight green packets later, still without a turn, yellow has been idle for eight packets' time.
    put(&mut hop, Colour::Yellow, 20..21, 7_500_000);
    let fallen = average(&mut hop);
    assert!((fallen / filled - 0.98f64.powi(8)).abs() < 1e-6, "{fallen} after {filled}");
}

/// A full shared buffer drops for RED's average too: the averages go on as with a buffer of one's own.
#[test]
fn red__averages_are_by_colour() {
    let mut hop = hop(reds(2), None);
    put(&mut hop, Colour::Yellow, 0..40, 0);
    let Queue::Priority(priority) = hop.link.queue() else { panic!("a priority queue") };
    assert!(priority.child(1).averages()[0] > 1.0);
    assert_eq!(priority.child(0).averages(), [0.0]);
}
