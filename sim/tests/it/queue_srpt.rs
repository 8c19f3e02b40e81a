//! SRPT and LAS against a linear search over all waiting packets.
use crate::common::hop::packet;
use mousehole_sim::flow::Flow;
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::queue::srpt::{Params, Rank};
use mousehole_sim::queue::{Dequeued, Dropped, Srpt};
use mousehole_sim::units::{Buffer, Time};
use proptest::prelude::*;

/// Returns a data packet with so many remaining segments.
fn data_packet(flow: u32, seq: u32, remaining: u16) -> Packet {
    Packet { remaining, ..packet(flow, seq, 1000) }
}

/// Returns flow and number of the next packet, `None` if none waits.
fn dequeue(srpt: &mut Srpt) -> Option<(u32, u32)> {
    match srpt.dequeue() {
        Dequeued::Packet(packet, _) => Some((packet.flow, packet.seq)),
        _ => None,
    }
}

/// Removes all waiting packets; returns flow and number of each.
fn drain(srpt: &mut Srpt) -> Vec<(u32, u32)> {
    std::iter::from_fn(|| dequeue(srpt)).collect()
}

#[test]
fn srpt__fewest_remaining_first() {
    let mut srpt = Srpt::new(Params::default());
    let mut drops = Vec::new();
    for (flow, size) in [(1, 100), (2, 3), (3, 10)] {
        (0..3).for_each(|seq| srpt.enqueue(data_packet(flow, seq, size), Time::ZERO, &mut drops));
    }
    srpt.enqueue(Packet { kind: Kind::Syn, ..packet(4, 0, 40) }, Time::ZERO, &mut drops);
    let order = drain(&mut srpt);
    assert_eq!(order, [(4, 0), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (1, 0), (1, 1), (1, 2)]);
}

/// The newest packet shows how far its transfer got while the others waited.
#[test]
fn srpt__ranks_by_the_latest_size_and_keeps_order() {
    let mut srpt = Srpt::new(Params::default());
    let mut drops = Vec::new();
    srpt.enqueue(data_packet(1, 0, 50), Time::ZERO, &mut drops);
    srpt.enqueue(data_packet(2, 0, 20), Time::ZERO, &mut drops);
    srpt.enqueue(data_packet(1, 1, 5), Time::ZERO, &mut drops);
    // The next write on connection 1 does not hold back the end of the last one.
    srpt.enqueue(data_packet(1, 2, 900), Time::ZERO, &mut drops);
    srpt.enqueue(data_packet(3, 0, 40), Time::ZERO, &mut drops);
    assert_eq!(drain(&mut srpt), [(2, 0), (3, 0), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn overflow__drops_the_newest_of_the_largest() {
    let mut srpt = Srpt::new(Params { limit: Buffer::Packets(4), ..Params::default() });
    let mut drops: Vec<Dropped> = Vec::new();
    (0..3).for_each(|seq| srpt.enqueue(data_packet(1, seq, 100), Time::ZERO, &mut drops));
    (0..3).for_each(|seq| srpt.enqueue(data_packet(2, seq, 3), Time::ZERO, &mut drops));
    srpt.enqueue(data_packet(3, 0, 500), Time::ZERO, &mut drops);
    let lost: Vec<_> = drops.iter().map(|drop| (drop.packet.flow, drop.packet.seq)).collect();
    assert_eq!(lost, [(1, 2), (1, 1), (3, 0)]);
    assert_eq!(srpt.backlog(), (4, 4000));
}

/// LAS: a new flow is served until it has had as much as the others, then they take turns.
#[test]
fn las__least_served_first() {
    let mut las = Srpt::new(Params { rank: Rank::Attained, ..Params::default() });
    assert!(las.is_flow_aware());
    let mut drops = Vec::new();
    (0..20).for_each(|seq| las.enqueue(data_packet(1, seq, 1), Time::ZERO, &mut drops));
    (0..4).for_each(|_| assert_eq!(dequeue(&mut las).map(|(flow, _)| flow), Some(1)));
    las.open(2, &Flow::default());
    (0..20).for_each(|seq| las.enqueue(data_packet(2, seq, 999), Time::ZERO, &mut drops));
    let flows: Vec<u32> = (0..8).filter_map(|_| dequeue(&mut las)).map(|(flow, _)| flow).collect();
    assert_eq!(flows, [2, 2, 2, 2, 1, 2, 1, 2]);
    // The connection ends, another takes its slot and starts anew.
    las.open(2, &Flow::default());
    assert_eq!(dequeue(&mut las).map(|(flow, _)| flow), Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Against a search over all flows: the best rank is served, its first packet, and the worst loses its last.
    #[test]
    fn ranks__equal_a_linear_search(steps in prop::collection::vec((0u32..8, 1u16..1000, any::<bool>()), 1..300)) {
        let mut srpt = Srpt::new(Params { limit: Buffer::Packets(20), ..Params::default() });
        let mut model: Vec<Vec<(u32, u16)>> = vec![Vec::new(); 8];
        let rank = |flow: &Vec<(u32, u16)>| Some(flow.first()?.1.min(flow.last()?.1));
        let mut drops: Vec<Dropped> = Vec::new();
        for (seq, (flow, remaining, serve)) in steps.into_iter().enumerate() {
            if serve {
                let best = model.iter().filter_map(rank).min();
                match dequeue(&mut srpt) {
                    None => prop_assert!(best.is_none()),
                    Some((flow, seq)) => {
                        prop_assert_eq!(rank(&model[flow as usize]), best);
                        prop_assert_eq!(model[flow as usize].remove(0).0, seq);
                    }
                }
                continue;
            }
            srpt.enqueue(data_packet(flow, seq as u32, remaining), Time::ZERO, &mut drops);
            model[flow as usize].push((seq as u32, remaining));
            for drop in drops.drain(..) {
                let victim = drop.packet.flow as usize;
                prop_assert_eq!(rank(&model[victim]), model.iter().filter_map(rank).max());
                prop_assert_eq!(model[victim].pop().map(|(seq, _)| seq), Some(drop.packet.seq));
            }
            prop_assert_eq!(srpt.backlog().0 as usize, model.iter().map(Vec::len).sum::<usize>());
            prop_assert!(srpt.backlog().0 <= 20);
        }
    }
}
