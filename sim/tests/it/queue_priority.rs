//! Strict priority: order, own and shared limits, children that are REDs.
use crate::common::hop::{Hop, coloured, packet};
use crate::common::params;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::Colour;
use mousehole_sim::queue::priority::Params;
use mousehole_sim::queue::{Dropper, Fifo, Policy, Priority, Queue};
use mousehole_sim::units::{Buffer, Rate, Time};

const RATE: Rate = Rate(8_000_000);

fn hop(children: Vec<(Buffer, Policy)>, shared: Option<Buffer>) -> Hop {
    Hop::new(RATE, Queue::Priority(Box::new(Priority::new(Params { children, shared }))), true)
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
    let lost: Vec<u32> = shared.dropped.iter().map(|drop| drop.packet.seq).collect();
    assert_eq!(lost, [12, 13]);
    assert!(shared.dropped.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(shared.link.backlog(Time(0)), (5, 5000));
    let mut bytes = hop(tails(&[5, 5, 5]), Some(Buffer::Bytes(2999)));
    put(&mut bytes, Colour::Red, 0..2, 0);
    put(&mut bytes, Colour::Green, 10..14, 0);
    assert_eq!(bytes.link.backlog(Time(0)), (2, 2000));
}

fn reds(count: usize) -> Vec<(Buffer, Policy)> {
    let params = params("red", &[("min", "3"), ("max", "9"), ("wq", "0.02")], RATE.0 as f64);
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
    for seq in 0..20_000u64 {
        // A load of 1.1 for 8 ms of every 10, so that the queue goes idle too.
        let now = Time(seq / 10 * 10_000_000 + seq % 10 * 800_000);
        for hop in [&mut plain, &mut several, &mut shared] {
            hop.arrive(coloured(Colour::Yellow, packet(1, seq as u32, 900 + (seq % 3) as u16 * 300)), now);
        }
    }
    for hop in [&mut plain, &mut several, &mut shared] {
        hop.finish();
    }
    assert!(plain.dropped.len() > 100);
    assert_eq!(plain.left, several.left);
    assert_eq!(plain.left, shared.left);
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
