//! Stochastic fairness queueing against its descriptions in tc-sfq(8) and McKenney 1990.
use crate::common::hop::packet;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::Packet;
use mousehole_sim::queue::sfq::{Params, Sfq};
use mousehole_sim::queue::{Dequeued, Dropped};
use mousehole_sim::units::{Buffer, Dur, Time};

const PARAMS: Params = Params {
    flows: 128,
    divisor: 1024,
    depth: 127,
    limit: Buffer::Packets(127),
    quantum: 1500,
    perturb: None,
};

struct Fair {
    queue: Sfq,
    drops: Vec<Dropped>,
}

impl Fair {
    /// Returns an empty queue.
    fn new(params: Params) -> Fair {
        Fair { queue: Sfq::new(params, 1), drops: Vec::new() }
    }

    /// Adds packets of a flow at time zero, numbered by `seqs`; dropped ones go into `drops`.
    fn enqueue_packets(&mut self, flow: u32, seqs: std::ops::Range<u32>, bytes: u16) {
        seqs.for_each(|seq| self.queue.enqueue(packet(flow, seq, bytes), Time(0), &mut self.drops));
    }

    /// Returns the next packet, `None` if none waits.
    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        match self.queue.dequeue(now, &mut self.drops) {
            Dequeued::Packet(packet, _) => Some(packet),
            Dequeued::WaitUntil(_) => panic!("it does not shape"),
            Dequeued::Empty => None,
        }
    }

    /// Removes all waiting packets; returns flow and number of each, in the order of departure.
    fn drain(&mut self) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| self.dequeue(Time(0)).map(|one| (one.flow, one.seq))).collect()
    }

    /// Returns flow and number of the dropped packets, in order; panics if one was not dropped by
    /// force.
    fn list_dropped(&self) -> Vec<(u32, u32)> {
        assert!(self.drops.iter().all(|one| one.reason == DropReason::Forced));
        self.drops.iter().map(|one| (one.packet.flow, one.packet.seq)).collect()
    }
}

#[test]
fn round__serves_flows_in_turn_and_each_in_order() {
    let mut fair = Fair::new(PARAMS);
    fair.enqueue_packets(1, 0..3, 1500);
    fair.enqueue_packets(2, 0..2, 1500);
    assert_eq!(fair.queue.backlog(), (5, 7500));
    assert_eq!(fair.drain(), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
    assert_eq!((fair.queue.backlog(), fair.list_dropped()), ((0, 0), vec![]));
}

#[test]
fn round__gives_bytes_and_not_packets() {
    let mut fair = Fair::new(PARAMS);
    fair.enqueue_packets(1, 0..6, 500);
    fair.enqueue_packets(2, 0..2, 1500);
    // Three small packets use up a quantum as one large one does.
    assert_eq!(fair.drain(), [(1, 0), (1, 1), (1, 2), (2, 0), (1, 3), (1, 4), (1, 5), (2, 1)]);
}

#[test]
fn round__a_new_flow_waits_for_its_turn() {
    let mut fair = Fair::new(PARAMS);
    fair.enqueue_packets(1, 0..2, 1500);
    fair.enqueue_packets(2, 0..2, 1500);
    fair.enqueue_packets(3, 0..1, 100);
    assert_eq!(fair.drain()[..3], [(1, 0), (2, 0), (3, 0)]);
}

#[test]
fn limit__the_newest_packet_of_the_longest_flow_goes() {
    let mut fair = Fair::new(Params { limit: Buffer::Packets(4), ..PARAMS });
    fair.enqueue_packets(1, 0..3, 1500);
    fair.enqueue_packets(2, 0..2, 1500);
    assert_eq!(fair.list_dropped(), [(1, 2)]);
    // Both have two packets; the one that came to that number last loses its newest.
    fair.enqueue_packets(3, 0..1, 1500);
    assert_eq!(fair.list_dropped(), [(1, 2), (1, 1)]);
    assert_eq!(fair.drain(), [(1, 0), (2, 0), (3, 0), (2, 1)]);
}

#[test]
fn limit__where_all_have_one_packet_the_next_one_goes() {
    let mut fair = Fair::new(Params { limit: Buffer::Packets(2), ..PARAMS });
    (1..=3).for_each(|flow| fair.enqueue_packets(flow, 0..1, 1500));
    assert_eq!(fair.list_dropped(), [(1, 0)]);
    assert_eq!(fair.drain(), [(2, 0), (3, 0)]);
}

#[test]
fn limit__in_bytes() {
    let mut fair = Fair::new(Params { limit: Buffer::Bytes(3000), ..PARAMS });
    fair.enqueue_packets(1, 0..3, 1400);
    assert_eq!(fair.list_dropped(), [(1, 2)]);
}

#[test]
fn depth__bounds_each_flow() {
    let mut fair = Fair::new(Params { depth: 2, ..PARAMS });
    fair.enqueue_packets(1, 0..3, 1500);
    fair.enqueue_packets(2, 0..1, 1500);
    assert_eq!(fair.list_dropped(), [(1, 2)]);
}

#[test]
fn flows__beyond_the_number_of_queues_find_none() {
    let mut fair = Fair::new(Params { flows: 2, ..PARAMS });
    (1..=3).for_each(|flow| fair.enqueue_packets(flow, 0..1, 1500));
    assert_eq!(fair.list_dropped(), [(3, 0)]);
    assert_eq!(fair.dequeue(Time(0)).map(|one| one.flow), Some(1));
    fair.enqueue_packets(3, 1..2, 1500);
    assert_eq!(fair.drain(), [(2, 0), (3, 1)], "a queue that is empty is free for others");
}

#[test]
fn bucket__is_shared_by_flows_that_meet_there() {
    let mut fair = Fair::new(Params { divisor: 1, ..PARAMS });
    fair.enqueue_packets(1, 0..2, 1500);
    fair.enqueue_packets(2, 0..1, 1500);
    assert_eq!(fair.drain(), [(1, 0), (1, 1), (2, 0)]);
}

#[test]
fn perturbation__separates_flows_and_keeps_each_in_order() {
    let period = Dur::from_secs(10.0);
    // With two buckets, two flows meet in half of all hashes.
    let mut seen = [false; 2];
    for seed in 0..40 {
        let mut queue = Sfq::new(Params { divisor: 2, perturb: Some(period), ..PARAMS }, seed);
        let mut drops = Vec::new();
        for (flow, seq) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            queue.enqueue(packet(flow, seq, 1500), Time(0), &mut drops);
        }
        let mut order = Vec::new();
        while let Dequeued::Packet(one, at) = queue.dequeue(Time(period.0), &mut drops) {
            assert_eq!(at, Time(0), "it has waited since its arrival");
            order.push((one.flow, one.seq));
        }
        assert!(drops.is_empty());
        let of = |flow| order.iter().filter(|one| one.0 == flow).map(|one| one.1).collect::<Vec<_>>();
        assert_eq!((of(1), of(2)), (vec![0, 1], vec![0, 1]), "{order:?}");
        seen[usize::from(order[0].0 == order[1].0)] = true;
    }
    assert_eq!(seen, [true; 2], "some hashes have them meet and some do not");
}

#[test]
fn perturbation__drops_what_finds_no_room() {
    let params = Params { divisor: 2, depth: 2, perturb: Some(Dur::from_secs(1.0)), ..PARAMS };
    let mut lost = 0;
    for seed in 0..40 {
        let mut queue = Sfq::new(params, seed);
        let mut drops = Vec::new();
        for (flow, seq) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            queue.enqueue(packet(flow, seq, 1500), Time(0), &mut drops);
        }
        let before = drops.len();
        let mut left = 0;
        while let Dequeued::Packet(..) = queue.dequeue(Time(1_000_000_000), &mut drops) {
            left += 1;
        }
        assert_eq!(left + drops.len(), 4, "arrived = dropped + sent");
        assert_eq!(queue.backlog(), (0, 0));
        lost += drops.len() - before;
    }
    assert!(lost > 0, "flows that did not meet before meet now");
}
