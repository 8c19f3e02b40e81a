//! The averages and marks of ns-2.35, the simulator of the papers, from tables it wrote.
use crate::common::link::Link;
use crate::common::specs::{self, Mode};
use crate::common::{Dropper, Marker, golden, params};
use mousehole_policy::{Backlog, Colour, View};

const RATE_BPS: f64 = 3e6;

fn red_spec() -> specs::Red {
    let thresholds =
        specs::Red { min_packets: 1000.0, max_packets: 2000.0, max_p: 0.02, ..specs::Red::default() };
    specs::Red { w_q: 0.02, mean_packet_bytes: 1000.0, rate_bps: RATE_BPS, ..thresholds }
}

/// Reads the arrivals of a table: time in ns, class 1 as green and 0 as yellow, bytes; and its two averages.
fn read_arrivals(table: &str) -> Vec<(u64, Colour, u32, [Option<f64>; 2])> {
    let row = |row: Vec<String>| {
        let now_ns = (row[0].parse::<f64>().unwrap() * 1e9).round() as u64;
        let colour = if row[1] == "1" { Colour::Green } else { Colour::Yellow };
        (now_ns, colour, row[2].parse().unwrap(), [row[3].parse().ok(), row[4].parse().ok()])
    };
    let rows: Vec<_> = golden(table).into_iter().map(row).collect();
    assert!(rows.len() > 60, "{table} holds {} rows", rows.len());
    rows
}

/// Asserts that a number is the expected one to 1e-5, as the table prints six digits.
fn assert_near(got: f64, expected: f64, at_ns: u64) {
    assert!((got - expected).abs() < 1e-5, "at {at_ns} ns: {got}, expected {expected}");
}

/// There, idle time starts when the transmitter finishes and finds nothing.
#[test]
fn red__averages() {
    let (mut red, mut link) = (Dropper::new(red_spec().params()), Link::new(RATE_BPS));
    for (now_ns, colour, bytes, expected) in read_arrivals("red-average/RED.csv") {
        link.advance(now_ns);
        let backlog = Backlog { idle_since_ns: link.idle_since_ns(now_ns), ..link.backlog };
        red.packet(&View::new(bytes), &backlog, now_ns, 0);
        assert_near(red.reading("average_packets"), expected[0].unwrap(), now_ns);
        link.enqueue(colour, bytes, now_ns);
    }
}

/// Asserts that multi-RED's averages are those of a table. In ns-2, its idle time starts when the last packet's transmission
/// starts.
fn assert_multi_red_averages(mode: Mode, table: &str) {
    let (mut red, mut link) = (Dropper::new(specs::multi_red(mode, &[red_spec(); 2])), Link::new(RATE_BPS));
    for (now_ns, colour, bytes, expected) in read_arrivals(table) {
        for left in link.advance(now_ns) {
            red.departed(left.colour, &left.after, left.at_ns);
        }
        let view = View::new(bytes).with_colour(colour);
        red.packet(&view, &link.backlog, now_ns, 0);
        assert_near(red.reading("green_average_packets"), expected[0].unwrap(), now_ns);
        assert_near(red.reading("yellow_average_packets"), expected[1].unwrap(), now_ns);
        for left in link.enqueue(colour, bytes, now_ns) {
            red.departed(left.colour, &left.after, left.at_ns);
        }
    }
}

#[test]
fn multi_red__coupled_averages() {
    assert_multi_red_averages(Mode::Coupled, "red-average/RIOC.csv");
}

#[test]
fn multi_red__decoupled_averages() {
    assert_multi_red_averages(Mode::Decoupled, "red-average/RIOD.csv");
}

/// Asserts that SFD's marks are those of a table of one flow.
fn assert_sfd_marks(table: &str) {
    let mut sfd = Marker::new(params("sfd", &[]));
    let mut flow = sfd.new_flow();
    let rows = golden(table);
    assert!(rows.len() >= 30 && rows.iter().all(|row| row[1] == rows[0][1]), "one flow of 30 packets");
    for row in rows {
        let now_ns = (row[0].parse::<f64>().unwrap() * 1e9).round() as u64;
        let colour = sfd.packet(&mut flow, &View::new(row[2].parse().unwrap()), now_ns, 0);
        assert_eq!(if colour == Colour::Green { "IN" } else { "OUT" }, row[3], "{table} at {}", row[0]);
    }
}

#[test]
fn sfd__marks_of_1000_byte_packets() {
    assert_sfd_marks("sfd-marks/thresh1000_d0.csv");
}

#[test]
fn sfd__marks_of_1040_byte_packets() {
    assert_sfd_marks("sfd-marks/thresh1040_d0.csv");
}
