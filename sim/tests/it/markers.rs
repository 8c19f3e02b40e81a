//! Markers with tables and control steps, as an edge router would run them.

use mousehole_policy::{Colour, aggregate_marker, lfp, policer, size_history, token_bucket};
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::marker::{Aggregate, ClassMarker, Lfp, Marker, Policer};
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::units::Time;

fn at(seconds: f64) -> Time {
    Time((seconds * 1e9) as u64)
}

fn of_client(client: u32, class: Class) -> Flow {
    Flow { client, class, ..Flow::default() }
}

/// The colour that `marker` gives a data packet of 1000 bytes.
fn colour(marker: &mut Marker, slot: u32, seconds: f64) -> Colour {
    colour_of(marker, slot, seconds, Colour::Green)
}

fn colour_of(marker: &mut Marker, slot: u32, seconds: f64, before: Colour) -> Colour {
    let mut packet = Packet::new(slot, Kind::Data, 0, 1000);
    packet.colour = before;
    marker.mark(&mut packet, 0, at(seconds));
    packet.colour
}

fn lfp(rate: f64, burst: u32, flows: u32) -> Marker {
    let sizes = size_history::Spec { quantile: 0.95, flows };
    let spec = lfp::Spec { rate, burst, sizes, ..lfp::Spec::default() };
    Marker::Lfp(Lfp::new(lfp::Params::new(&spec).unwrap()))
}

/// Sends `count` packets of a new connection in `slot` within a tenth of a second; returns their colours.
fn flow(marker: &mut Marker, slot: u32, from_s: f64, count: u32) -> Vec<Colour> {
    marker.open(slot, &Flow::default());
    (0..count).map(|number| colour(marker, slot, from_s + f64::from(number) * 1e-4)).collect()
}

#[test]
fn lfp__first_ten_packets_of_every_flow_are_green_whatever_the_bucket_holds() {
    let mut marker = lfp(1.0, 1, 100);
    for slot in 0..20 {
        let colours = flow(&mut marker, slot, f64::from(slot) * 0.01, 14);
        assert!(colours[..10].iter().all(|&colour| colour == Colour::Green), "flow {slot}: {colours:?}");
        assert!(colours[10..].iter().all(|&colour| colour == Colour::Yellow), "flow {slot}: {colours:?}");
    }
}

#[test]
fn lfp__learns_sizes_of_ended_flows_and_demotes_elephants() {
    let mut marker = lfp(1e6, 1000, 20);
    for slot in 0..20 {
        flow(&mut marker, slot, f64::from(slot) * 0.01, 5);
    }
    let before = flow(&mut marker, 30, 1.0, 40);
    assert!(before.iter().all(|&colour| colour == Colour::Green), "without a history nothing is an elephant");
    (1..10).for_each(|second| marker.control(at(f64::from(second))));
    let after = flow(&mut marker, 31, 10.0, 40);
    assert_eq!(after.iter().filter(|&&colour| colour == Colour::Green).count(), 10);
    assert_eq!(after.iter().filter(|&&colour| colour == Colour::Red).count(), 30);
    let series = marker.series();
    assert_eq!(series[0].points.last().unwrap().1, 5.0, "the 95 % quantile of twenty fives and a forty");
}

#[test]
fn lfp__a_flow_whose_slot_was_taken_still_ends_and_counts() {
    let mut marker = lfp(1e6, 1000, 4);
    for _ in 0..4 {
        flow(&mut marker, 0, 0.0, 7);
    }
    (1..8).for_each(|second| marker.control(at(f64::from(second))));
    assert_eq!(marker.series()[0].points.last().unwrap().1, 7.0);
}

#[test]
fn lfp__an_idle_flow_is_new_again_and_its_first_part_counts_as_a_flow() {
    let mut marker = lfp(1e6, 1000, 1);
    flow(&mut marker, 0, 0.0, 12);
    assert_eq!(colour(&mut marker, 0, 7.0), Colour::Green);
    marker.control(at(7.5));
    assert_eq!(marker.series()[0].points, [(at(7.5), 12.0)]);
}

#[test]
fn class__colours_by_application() {
    let mut marker = Marker::Class(ClassMarker::default());
    for (slot, class) in [Class::Interactive, Class::Web, Class::Bulk].into_iter().enumerate() {
        marker.open(slot as u32, &of_client(0, class));
        assert_eq!(colour(&mut marker, slot as u32, 0.0), Colour::ALL[slot]);
    }
}

#[test]
fn aggregate__spends_a_users_tokens_whatever_the_flow() {
    let spec = aggregate_marker::Spec {
        green: token_bucket::Spec::bytes(8_000.0, 2000),
        yellow: token_bucket::Spec::bytes(8_000.0, 3000),
    };
    let mut marker = Marker::Aggregate(Aggregate::new(aggregate_marker::Params::new(&spec).unwrap()));
    (0..2).for_each(|slot| marker.open(slot, &of_client(7, Class::Web)));
    marker.open(2, &of_client(8, Class::Web));
    let colours: Vec<Colour> =
        [0, 1, 0, 1, 0, 1].into_iter().map(|slot| colour(&mut marker, slot, 0.0)).collect();
    assert_eq!(colours[..2], [Colour::Green; 2]);
    assert_eq!(colours[2..5], [Colour::Yellow; 3]);
    assert_eq!(colours[5], Colour::Red);
    assert_eq!(colour(&mut marker, 2, 0.0), Colour::Green, "another user has tokens of its own");
}

#[test]
fn policer__recolours_what_exceeds_a_contract_and_leaves_red_alone() {
    let bucket = token_bucket::Spec::bytes(8_000.0, 2000);
    let spec = policer::Spec { green: bucket, yellow: bucket, ..policer::Spec::default() };
    let policer = Policer::new(policer::Params::new(&spec).unwrap(), true);
    let mut marker = Marker::Policed(Box::new(Marker::None), policer);
    marker.open(0, &of_client(0, Class::Web));
    let sent = [Colour::Green, Colour::Green, Colour::Green, Colour::Yellow, Colour::Red];
    let got = sent.map(|before| colour_of(&mut marker, 0, 0.0, before));
    assert_eq!(got, [Colour::Green, Colour::Green, Colour::Red, Colour::Yellow, Colour::Red]);
    let Marker::Policed(_, policer) = &marker else { unreachable!() };
    assert_eq!(policer.exceeded(), 1);
}

#[test]
fn policer__drops_what_exceeds_a_contract_if_asked_and_exempts_acknowledgements() {
    let bucket = token_bucket::Spec::bytes(8_000.0, 2000);
    let spec = policer::Spec { green: bucket, yellow: bucket, action: policer::Action::Drop };
    for exempt in [true, false] {
        let policer = Policer::new(policer::Params::new(&spec).unwrap(), exempt);
        let mut marker = Marker::Policed(Box::new(Marker::None), policer);
        marker.open(0, &of_client(0, Class::Web));
        let mut send = |kind, colour| {
            let mut packet = Packet { colour, ..Packet::new(0, kind, 0, 1000) };
            (marker.mark(&mut packet, 0, at(0.0)), packet.colour)
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
