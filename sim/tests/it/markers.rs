//! Markers with tables and control steps, as in an edge router.

use crate::common::params;
use mousehole_policy::Colour;
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::marker::{Marker, PolicyMarker};
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::units::Time;

/// Returns a time so many seconds after the start.
fn time_at(seconds: f64) -> Time {
    Time((seconds * 1e9) as u64)
}

/// Returns a flow of a client and a class.
fn make_flow(client: u32, class: Class) -> Flow {
    Flow { client, class, ..Flow::default() }
}

/// Returns the colour that `marker` gives a green data packet of 1000 bytes. The packet counts in
/// its state, and the slot must be open.
fn mark_data(marker: &mut Marker, slot: u32, seconds: f64) -> Colour {
    mark(marker, slot, seconds, Colour::Green)
}

/// Returns the colour that `marker` gives a data packet of 1000 bytes of the colour `before`. The
/// packet counts in its state, and the slot must be open.
fn mark(marker: &mut Marker, slot: u32, seconds: f64, before: Colour) -> Colour {
    let mut packet = Packet::new(slot, Kind::Data, 0, 1000);
    packet.colour = before;
    marker.mark(&mut packet, 0, time_at(seconds));
    packet.colour
}

/// Returns the marker of a policy on a link of 12 kbit/s, one packet of 1500 bytes per second.
fn make_marker(policy: &str, given: &[(&str, &str)]) -> Marker {
    Marker::from_policy(PolicyMarker::new(params(policy, given, 12e3), 1))
}

/// Returns LFP's marker with a bucket of `burst` tokens that gets `rate` per second.
fn lfp_marker(rate: f64, burst: u32, flows: u32) -> Marker {
    let (rate, burst, flows) = (rate.to_string(), burst.to_string(), flows.to_string());
    make_marker("lfp", &[("omega", &rate), ("zeta", &burst), ("h", &flows)])
}

/// Sends `count` packets of a new connection in `slot` within a tenth of a second; returns their colours.
fn send_flow(marker: &mut Marker, slot: u32, from_s: f64, count: u32) -> Vec<Colour> {
    marker.open(slot, &Flow::default());
    (0..count).map(|number| mark_data(marker, slot, from_s + f64::from(number) * 1e-4)).collect()
}

#[test]
fn lfp__first_ten_packets_of_every_flow_are_green_at_any_bucket_level() {
    let mut marker = lfp_marker(1.0, 1, 100);
    for slot in 0..20 {
        let colours = send_flow(&mut marker, slot, f64::from(slot) * 0.01, 14);
        assert!(colours[..10].iter().all(|&colour| colour == Colour::Green), "flow {slot}: {colours:?}");
        assert!(colours[10..].iter().all(|&colour| colour == Colour::Yellow), "flow {slot}: {colours:?}");
    }
}

#[test]
fn lfp__learns_sizes_of_ended_flows_and_demotes_elephants() {
    let mut marker = lfp_marker(1e6, 1000, 20);
    for slot in 0..20 {
        send_flow(&mut marker, slot, f64::from(slot) * 0.01, 5);
    }
    let before = send_flow(&mut marker, 30, 1.0, 40);
    assert!(before.iter().all(|&colour| colour == Colour::Green), "without a history nothing is an elephant");
    (1..10).for_each(|second| marker.control(time_at(f64::from(second))));
    let after = send_flow(&mut marker, 31, 10.0, 40);
    assert_eq!(after.iter().filter(|&&colour| colour == Colour::Green).count(), 10);
    assert_eq!(after.iter().filter(|&&colour| colour == Colour::Red).count(), 30);
    let series = marker.series();
    assert_eq!(series[0].points.last().unwrap().1, 5.0, "the 95 % quantile of twenty fives and a forty");
}

#[test]
fn lfp__a_flow_whose_slot_was_taken_still_ends_and_counts() {
    let mut marker = lfp_marker(1e6, 1000, 4);
    for _ in 0..4 {
        send_flow(&mut marker, 0, 0.0, 7);
    }
    (1..8).for_each(|second| marker.control(time_at(f64::from(second))));
    assert_eq!(marker.series()[0].points.last().unwrap().1, 7.0);
}

#[test]
fn lfp__an_idle_flow_is_new_again_and_its_first_part_counts_as_a_flow() {
    let mut marker = lfp_marker(1e6, 1000, 1);
    send_flow(&mut marker, 0, 0.0, 12);
    assert_eq!(mark_data(&mut marker, 0, 7.0), Colour::Green);
    marker.control(time_at(7.5));
    assert_eq!(marker.series()[0].points, [(time_at(7.5), 12.0)]);
}

#[test]
fn class__colours_by_application() {
    let mut marker = make_marker("application", &[]);
    for (slot, class) in [Class::Interactive, Class::Web, Class::Bulk].into_iter().enumerate() {
        marker.open(slot as u32, &make_flow(0, class));
        assert_eq!(mark_data(&mut marker, slot as u32, 0.0), Colour::ALL[slot]);
    }
}

#[test]
fn aggregate__all_flows_of_a_user_share_its_tokens() {
    let mut marker =
        make_marker("aggregate-marker", &[("high_rate", "8kbit"), ("med_rate", "8kbit"), ("burst", "2000B")]);
    (0..2).for_each(|slot| marker.open(slot, &make_flow(7, Class::Web)));
    marker.open(2, &make_flow(8, Class::Web));
    let colours: Vec<Colour> =
        [0, 1, 0, 1, 0].into_iter().map(|slot| mark_data(&mut marker, slot, 0.0)).collect();
    assert_eq!(colours[..2], [Colour::Green; 2]);
    assert_eq!(colours[2..4], [Colour::Yellow; 2]);
    assert_eq!(colours[4], Colour::Red);
    assert_eq!(mark_data(&mut marker, 2, 0.0), Colour::Green, "another user has tokens of its own");
}

#[test]
fn policer__recolours_packets_beyond_a_profile_and_leaves_red_alone() {
    let mut marker =
        make_marker("policer", &[("high_rate", "8kbit"), ("med_rate", "8kbit"), ("burst", "2000B")]);
    marker.open(0, &make_flow(0, Class::Web));
    let sent = [Colour::Green, Colour::Green, Colour::Green, Colour::Yellow, Colour::Red];
    let got = sent.map(|before| mark(&mut marker, 0, 0.0, before));
    assert_eq!(got, [Colour::Green, Colour::Green, Colour::Red, Colour::Yellow, Colour::Red]);
}

#[test]
fn policer__passes_everything_with_police_none() {
    let mut marker = make_marker("policer", &[("burst", "1000B"), ("police", "none")]);
    marker.open(0, &make_flow(0, Class::Web));
    assert_eq!([0; 5].map(|_| mark(&mut marker, 0, 0.0, Colour::Green)), [Colour::Green; 5]);
}

#[test]
fn policer__drops_packets_beyond_a_profile_but_not_acknowledgements() {
    for exempt in [true, false] {
        let hold_acks = (!exempt).to_string();
        let given = [("high_rate", "8kbit"), ("med_rate", "8kbit"), ("burst", "2000B"), ("police", "drop")];
        let mut marker = make_marker("policer", &[&given[..], &[("hold_acks", &hold_acks)]].concat());
        marker.open(0, &make_flow(0, Class::Web));
        let mut send = |kind, colour| {
            let mut packet = Packet { colour, ..Packet::new(0, kind, 0, 1000) };
            (marker.mark(&mut packet, 0, time_at(0.0)), packet.colour)
        };
        assert_eq!(send(Kind::Data, Colour::Green), (true, Colour::Green));
        assert_eq!(send(Kind::Data, Colour::Green), (true, Colour::Green));
        assert_eq!(
            send(Kind::Data, Colour::Green),
            (false, Colour::Green),
            "the third does not fit 2000 bytes"
        );
        assert_eq!(send(Kind::Data, Colour::Red), (true, Colour::Red), "red needs no tokens");
        assert_eq!(send(Kind::Ack, Colour::Green), (exempt, Colour::Green));
    }
}

#[test]
fn chain__applies_markers_in_order_and_hosts_leave_the_policer_out() {
    let policed = || {
        let policer =
            make_marker("policer", &[("high_rate", "8kbit"), ("med_rate", "8kbit"), ("burst", "1000B")]);
        Marker::chain(vec![make_marker("application", &[]), policer])
    };
    let (mut edge, mut host) = (policed(), policed().into_host_markers());
    for marker in [&mut edge, &mut host] {
        marker.open(0, &make_flow(0, Class::Web));
    }
    let colours = |marker: &mut Marker| [0; 2].map(|_| mark_data(marker, 0, 0.0));
    assert_eq!(colours(&mut edge), [Colour::Yellow, Colour::Red], "the second exceeds the profile");
    assert_eq!(colours(&mut host), [Colour::Yellow, Colour::Yellow]);
    let mut packet = Packet { colour: Colour::Green, ..Packet::new(0, Kind::Data, 0, 1000) };
    assert!(edge.police(&mut packet, 0, time_at(0.0)));
    assert_eq!(packet.colour, Colour::Green, "policing keeps the host's colour where the profile allows it");
}
