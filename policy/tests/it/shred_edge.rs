//! SHRED's hint at the edge, from what a connection sends and acknowledges.
use crate::common::{Marker, parameter_error, params};
use mousehole_policy::{Answer, State, View};

/// A connection seen at the edge, in bytes from `start` on.
struct Edge {
    marker: Marker,
    flow: State,
    start: u32,
}

/// Returns the hint that a packet gets.
fn hint(marker: &mut Marker, flow: &mut State, view: &View) -> u8 {
    match marker.answer(flow, view, 0, 0) {
        Answer::Hint(hint) => hint,
        other => panic!("{other:?} is no hint"),
    }
}

impl Edge {
    fn new(start: u32) -> Edge {
        let marker = Marker::new(params("shred-edge", &[]));
        let mut edge = Edge { flow: marker.new_flow(), marker, start };
        assert_eq!(edge.packet(0, View::SYN), 1);
        edge
    }

    fn packet(&mut self, position: u32, flags: u8) -> u8 {
        let view = View::new(1500).with_flags(flags).with_sequence(self.start.wrapping_add(position));
        hint(&mut self.marker, &mut self.flow, &view)
    }

    /// Returns the hint of the packet that carries this segment, from 1 on.
    fn data(&mut self, segment: u32) -> u8 {
        self.packet(segment * 1460, 0)
    }

    /// Acknowledges the first segments, up to this one.
    fn ack(&mut self, segments: u32) {
        assert_eq!(self.packet(segments * 1460, View::REVERSE | View::ACK), 1);
    }
}

#[test]
fn data__counts_what_is_outstanding() {
    let mut edge = Edge::new(77);
    assert_eq!([1, 2, 3].map(|segment| edge.data(segment)), [1, 2, 3]);
    edge.ack(2);
    assert_eq!([4, 5, 6].map(|segment| edge.data(segment)), [2, 3, 4]);
}

/// Slow start: the last packet of each burst shows the window, wherever sequence numbers wrap.
#[test]
fn data__shows_the_window_of_a_sender_that_fills_it() {
    for start in [0, u32::MAX - 30_000, u32::MAX, 1 << 31, (1 << 31) - 5000] {
        let (mut edge, mut acknowledged, mut sent) = (Edge::new(start), 0, 0);
        for window in [1u32, 2, 4, 8, 16, 32, 64, 128, 255] {
            let mut hint = 0;
            while sent < acknowledged + window {
                sent += 1;
                hint = edge.data(sent);
            }
            assert_eq!(u32::from(hint), window, "from {start}");
            acknowledged = sent;
            edge.ack(acknowledged);
        }
    }
}

#[test]
fn data__saturates_at_255() {
    let mut edge = Edge::new(0);
    assert_eq!([254, 255, 256, 70_000].map(|segment| edge.data(segment)), [254, 255, 255, 255]);
}

#[test]
fn data__a_part_of_a_packet_counts_as_one() {
    let mut edge = Edge::new(0);
    assert_eq!([1, 1460, 1461, 2920].map(|end| edge.packet(end, 0)), [1, 1, 2, 2]);
}

#[test]
fn data__again_after_a_timeout_starts_at_one() {
    let mut edge = Edge::new(0);
    (1..=20).for_each(|segment| _ = edge.data(segment));
    edge.ack(3);
    assert_eq!(edge.data(4), 1);
    edge.ack(4);
    assert_eq!([5, 6].map(|segment| edge.data(segment)), [1, 2]);
}

#[test]
fn reverse__old_acknowledgements_do_not_count() {
    let mut edge = Edge::new(0);
    edge.data(10);
    edge.ack(8);
    edge.ack(5);
    assert_eq!(edge.data(11), 3);
    assert_eq!(edge.data(7), 1, "data from before what is acknowledged");
}

#[test]
fn data__from_two_to_the_31_ahead_on_counts_as_old() {
    let mut edge = Edge::new(0);
    assert_eq!([(1 << 31) - 1, 1 << 31, (1 << 31) + 1].map(|end| edge.packet(end, 0)), [255, 1, 1]);
}

#[test]
fn reverse__a_packet_with_data_acknowledges_too() {
    let mut edge = Edge::new(0);
    edge.data(10);
    assert_eq!(edge.packet(9 * 1460, View::REVERSE), 1);
    assert_eq!(edge.data(11), 2);
}

#[test]
fn syn__of_a_port_used_again_forgets_the_old_connection() {
    let mut edge = Edge::new(1_000_000);
    edge.data(30);
    edge.start = 5;
    edge.packet(0, View::SYN);
    assert_eq!([edge.data(1), edge.data(2)], [1, 2]);
}

#[test]
fn syn__of_the_reverse_direction_is_ignored() {
    let mut edge = Edge::new(0);
    edge.data(4);
    for position in [3_000_000_000, 3 * 1460] {
        assert_eq!(edge.packet(position, View::SYN | View::REVERSE), 1);
        assert_eq!(edge.data(5), 5);
    }
}

#[test]
fn flow__seen_in_the_middle_begins_with_its_first_packet() {
    let mut marker = Marker::new(params("shred-edge", &[("packet", "1")]));
    let mut flow = marker.new_flow();
    let mut of = |view: View| hint(&mut marker, &mut flow, &view);
    let data = |end| View::new(1500).with_sequence(end);
    assert_eq!([of(data(900)), of(data(901))], [1, 2]);
    assert_eq!(of(data(905).with_segments(4)), 6);
    let mut flow = marker.new_flow();
    hint(&mut marker, &mut flow, &data(890).with_flags(View::REVERSE | View::ACK));
    assert_eq!(hint(&mut marker, &mut flow, &data(900)), 10);
}

#[test]
fn flow__seen_in_the_middle_may_begin_with_a_super_packet() {
    let mut marker = Marker::new(params("shred-edge", &[]));
    let mut flow = marker.new_flow();
    let first = View::new(6000).with_segments(4).with_sequence(1_000_000);
    assert_eq!(hint(&mut marker, &mut flow, &first), 4);
}

#[test]
fn ack__without_data_carries_one() {
    let mut edge = Edge::new(0);
    edge.data(10);
    assert_eq!(edge.packet(10 * 1460, View::ACK), 1);
}

#[test]
fn params__are_checked() {
    assert_eq!(
        parameter_error("shred-edge", &[("packet", "0")]),
        "packet: \"0\" is not allowed; allowed: a whole number; 1 to 4294967295"
    );
}
