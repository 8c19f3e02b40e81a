//! RIO-PS's edge (Guo & Matta, BU-CS-2001-005, section III.B): which flows are in the table when it counts, and
//! when it counts.

use crate::common::params;
use mousehole_policy::Colour;
use mousehole_sim::flow::Flow;
use mousehole_sim::marker::{Marker, PolicyMarker};
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::units::Time;

const SECOND: u64 = 1_000_000_000;

/// Returns an edge with T_u = 1 s, T_c = 10 s and L_t = 2 at first; `ratio` is SLR.
fn make_edge(ratio: f64) -> Marker {
    let given = [("l_t", "2"), ("slr", &ratio.to_string()), ("t_u", "1s"), ("t_c", "10s")];
    Marker::from_policy(PolicyMarker::new(params("rio-ps", &given, 1e7), 1))
}

/// Sends this many packets of a new connection in `slot` at `at_ms`. Returns their colours.
fn send_packets(edge: &mut Marker, slot: u32, packets: u32, at_ms: u64) -> Vec<Colour> {
    edge.open(slot, &Flow::default());
    let mark = |seq| {
        let mut packet = Packet::new(slot, Kind::Data, seq, 500);
        edge.mark(&mut packet, 0, Time(at_ms * 1_000_000));
        packet.colour
    };
    (0..packets).map(mark).collect()
}

/// Sweeps every second up to `seconds`; returns the threshold over time as (s, packets) and takes
/// it out of the marker.
fn threshold_course(edge: &mut Marker, seconds: u64) -> Vec<(u64, f64)> {
    (1..=seconds).for_each(|second| edge.control(Time(second * SECOND)));
    edge.series()[0].points.iter().map(|(at, value)| (at.0 / SECOND, *value)).collect()
}

#[test]
fn mark__counts_packets_by_flow() {
    let mut edge = make_edge(3.0);
    use Colour::{Green, Yellow};
    assert_eq!(send_packets(&mut edge, 0, 4, 0), [Green, Green, Yellow, Yellow]);
    assert_eq!(send_packets(&mut edge, 1, 1, 0), [Green]);
}

/// It sweeps every T_u and moves the threshold every T_c only, by one: a long flow that goes on raises it.
#[test]
fn control__moves_once_per_t_c() {
    let mut edge = make_edge(3.0);
    assert_eq!(edge.control_due(), Some(Time(SECOND)));
    send_packets(&mut edge, 0, 5, 0);
    for second in 1..=39 {
        let mut packet = Packet::new(0, Kind::Data, 9, 500);
        edge.mark(&mut packet, 0, Time(second * SECOND - 1));
        edge.control(Time(second * SECOND));
    }
    let points = &edge.series()[0].points;
    let seconds: Vec<(u64, f64)> = points.iter().map(|(at, value)| (at.0 / SECOND, *value)).collect();
    assert_eq!(seconds, [(0, 2.0), (10, 3.0), (20, 4.0), (30, 5.0)]);
}

/// A flow silent for longer than T_u is not counted: one long flow that goes on outweighs ten short ones of before.
#[test]
fn control__forgets_flows_that_are_silent_for_t_u() {
    let mut edge = make_edge(3.0);
    (0..10).for_each(|slot| drop(send_packets(&mut edge, slot, 1, 8900)));
    send_packets(&mut edge, 10, 5, 9100);
    assert_eq!(threshold_course(&mut edge, 10).last(), Some(&(10, 3.0)));
}

/// A flow that ended stays in the table until it expires, even if its slot has been taken over (section IV.A: "some
/// terminated short flows may still be treated as active").
#[test]
fn control__counts_ended_flows_that_are_not_expired() {
    let mut edge = make_edge(3.0);
    send_packets(&mut edge, 0, 5, 9500);
    (0..4).for_each(|number| drop(send_packets(&mut edge, 1, 1, 9600 + number)));
    assert_eq!(threshold_course(&mut edge, 10).last(), Some(&(10, 1.0)), "four short flows to one long one");
    let mut edge = self::make_edge(4.0);
    send_packets(&mut edge, 0, 5, 9500);
    (0..4).for_each(|number| drop(send_packets(&mut edge, 1, 1, 9600 + number)));
    assert_eq!(threshold_course(&mut edge, 10).last(), Some(&(10, 3.0)), "the ratio is met exactly");
}
