//! SFD's marks through `marker::Marker` against tables recorded from ns-2.35, and the promotions.
use crate::common::{hop::packet, read_golden_rows};
use mousehole_sim::flow::Flow;
use mousehole_sim::marker::Marker;
use mousehole_sim::packet::Colour;
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::{LinkContext, build};
use mousehole_sim::units::{Buffer, Rate, Time};

/// Returns the marker of a scheme on a link of 4 Mbit/s; panics if the scheme is wrong.
fn make_marker(scheme: &str) -> Marker {
    let context = LinkContext {
        rate: Rate(4_000_000),
        bottleneck: Rate(4_000_000),
        buffer: Buffer::Packets(50),
        seed: 3,
        ..LinkContext::EXAMPLE
    };
    Scheme::parse(scheme)
        .and_then(|scheme| build::build_marker(&scheme, context))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the name of a colour in ns-2's tables.
fn ns2_name(colour: Colour) -> &'static str {
    if colour == Colour::Green { "IN" } else { "OUT" }
}

/// Asserts that every mark of a golden table of SFD is also ours; the table must have 20 rows or
/// more.
fn assert_marks(scheme: &str, table: &str) {
    let mut marker = make_marker(scheme);
    let mut known = Vec::new();
    let rows = read_golden_rows(&format!("sfd-marks/{table}_d0.csv"));
    assert!(rows.len() >= 20, "{table} has {} rows", rows.len());
    for row in rows {
        let now = Time((row[0].parse::<f64>().unwrap() * 1e9).round() as u64);
        let flow: u32 = row[1].parse().unwrap();
        let mut packet = packet(flow, 0, row[2].parse().unwrap());
        if !known.contains(&flow) {
            known.push(flow);
            marker.open(flow, &Flow::default());
        }
        marker.mark(&mut packet, u64::from(flow), now);
        assert_eq!(ns2_name(packet.colour), row[3], "{scheme}, {table} at {} s", row[0]);
    }
}

/// Returns the marks of `count` packets of 1000 bytes, 10 ms apart, in one flow.
fn mark_packets(scheme: &str, count: u32) -> Vec<Colour> {
    let mut marker = make_marker(scheme);
    marker.open(0, &Flow::default());
    let mark = |number| {
        let mut packet = packet(0, number, 1000);
        marker.mark(&mut packet, 99, Time(u64::from(number) * 10_000_000));
        packet.colour
    };
    (0..count).map(mark).collect()
}

#[test]
fn marks__of_the_policy_equal_ns2_within_the_timeout() {
    for table in ["thresh1000", "thresh1040"] {
        assert_marks("sfd", table);
    }
}

#[test]
fn marks__of_ns2_sfd_equal_ns2_with_its_lazy_timeout() {
    for table in ["thresh1000", "thresh1040", "gap_alone", "gap_purged"] {
        assert_marks("ns2-sfd", table);
    }
}

/// The paper's timeout (1 s, section 3.2) forgets where ns-2's lazy one does not.
#[test]
fn sfd__forgets_a_flow_after_its_timeout() {
    let mut marker = make_marker("sfd(th=2p)");
    marker.open(0, &Flow::default());
    let mut at = |ms: u64| {
        let mut packet = packet(0, 0, 1000);
        marker.mark(&mut packet, 0, Time(ms * 1_000_000));
        ns2_name(packet.colour)
    };
    let marks = [0, 10, 20, 1020, 2021, 2022, 2023].map(&mut at);
    assert_eq!(marks, ["IN", "IN", "OUT", "OUT", "IN", "IN", "OUT"]);
}

#[test]
fn sfd__a_new_connection_in_the_same_slot_is_a_new_flow() {
    let mut marker = make_marker("sfd(th=1p)");
    let mut first = packet(4, 0, 1000);
    for _ in 0..2 {
        marker.open(4, &Flow::default());
        marker.mark(&mut first, 0, Time(5));
        assert_eq!(first.colour, Colour::Green);
    }
    marker.mark(&mut first, 0, Time(6));
    assert_eq!(first.colour, Colour::Yellow);
}

#[test]
fn s_sfd__every_kth_out_packet_is_promoted() {
    assert!(
        mark_packets("s-sfd(k=1)", 100).iter().all(|colour| *colour == Colour::Green),
        "k = 1 promotes all"
    );
    let out = |count| std::iter::repeat_n(Colour::Yellow, count);
    let mut expected: Vec<Colour> = vec![Colour::Green; 15];
    for _ in 0..4 {
        expected.extend(out(3).chain([Colour::Green]));
    }
    assert_eq!(mark_packets("s-sfd(k=4)", 31), expected);
}

#[test]
fn ns2_sfd__five_out_then_one_in() {
    let marks = mark_packets("ns2-sfd(selective=true)", 15 + 18);
    for (number, colour) in marks.iter().enumerate() {
        let is_in = number < 15 || (number - 15) % 6 == 5;
        assert_eq!(*colour == Colour::Green, is_in, "packet {number}");
    }
}

/// Promotion with probability threshold / bytes (section 3.3): 15 ln(n / 15) of n packets, near enough.
#[test]
fn p_sfd__promotes_in_proportion() {
    let flows = 200;
    let mut marker = make_marker("p-sfd");
    let mut promoted = 0;
    for flow in 0..flows {
        marker.open(flow, &Flow::default());
        for number in 0..150u32 {
            let mut packet = packet(flow, number, 1000);
            marker.mark(&mut packet, u64::from(flow), Time(u64::from(number) * 1_000_000));
            promoted += u32::from(number >= 15 && packet.colour == Colour::Green);
        }
    }
    let expected: f64 = (16..=150).map(|sent| 15.0 / f64::from(sent)).sum();
    let mean = f64::from(promoted) / f64::from(flows);
    // The standard deviation of the mean is below 0.4.
    assert!((mean - expected).abs() < 1.5, "{mean} promoted, expected {expected}");
}
