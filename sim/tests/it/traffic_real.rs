//! Real measurements by others, from the folder that `MOUSEHOLE_DATA` names. Without the folder the
//! tests say that they did not run; with `MOUSEHOLE_REQUIRE_DATA=1` they fail instead.
use flate2::read::GzDecoder;
use mousehole_sim::traffic::connection::{Connection, Kind};
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_files};
use mousehole_sim::traffic::{Skipped, Traffic};
use mousehole_sim::units::Rate;
use std::path::{Path, PathBuf};

/// Returns the folder of real measurements, by `MOUSEHOLE_DATA` or next to the clone; `None`, with
/// a note on standard error, if there is none. With `MOUSEHOLE_REQUIRE_DATA` set it panics instead.
fn data_folder() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let folder = PathBuf::from(std::env::var("MOUSEHOLE_DATA").unwrap_or_else(|_| default.to_string()));
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var("MOUSEHOLE_REQUIRE_DATA").is_err(),
        "MOUSEHOLE_REQUIRE_DATA is set, but {folder:?} is no folder"
    );
    eprintln!("NOT RUN: no MOUSEHOLE_DATA");
    None
}

/// Reads files, which must be accepted; the payload in `direction` counts.
fn read(paths: &[PathBuf], direction: Direction) -> Traffic {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    read_files(&paths, &ReadOptions { direction, ..ReadOptions::default() }).unwrap()
}

/// Returns how many rows were skipped for a reason.
fn skipped_rows(traffic: &Traffic, reason: &str) -> u64 {
    traffic.skipped.iter().filter(|skipped| skipped.reason.contains(reason)).map(|skipped| skipped.rows).sum()
}

#[test]
fn nasa__requests_and_clients() {
    let Some(data) = data_folder() else { return };
    let traffic = read(&[data.join("httplogs/nasa_19950801_dev_first8h.tsv.gz")], Direction::Down);
    assert_eq!(traffic.sources[0].kind, "table");
    assert_eq!(traffic.sources[0].rows, 13_200);
    assert_eq!(traffic.connections.len(), 11_930);
    assert_eq!(skipped_rows(&traffic, "no payload"), 1_270);
    assert_eq!((traffic.clients, traffic.faults.count), (1_087, 0));
    assert!(traffic.notes.iter().any(|note| note.text.contains("whole seconds")), "{:?}", traffic.notes);
    let summary = traffic.summary(Some(Rate(10_000_000)), 1460);
    assert!(
        (0.80..0.86).contains(&summary.short_share_count),
        "data README: 83 %, got {}",
        summary.short_share_count
    );
    assert!(
        (0.15..0.19).contains(&summary.short_share_bytes),
        "data README: 17 %, got {}",
        summary.short_share_bytes
    );
}

#[test]
fn m57__http_and_conn_are_joined_in_either_order() {
    let Some(data) = data_folder() else { return };
    let conn = data.join("flowlogs/zeek_m57-short_conn.log.gz");
    let http = data.join("flowlogs/zeek_m57-short_http.log.gz");
    let traffic = read(&[conn.clone(), http.clone()], Direction::Down);
    let swapped = read(&[http, conn], Direction::Down);
    assert_eq!(traffic.connections, swapped.connections);
    assert_eq!((traffic.sources[0].rows, traffic.sources[1].rows), (2_164, 482));
    assert!(traffic.connections.iter().any(|connection| connection.writes.len() > 1));
    // No connection is lost or smaller for what http.log adds.
    let alone = read(&[data.join("flowlogs/zeek_m57-short_conn.log.gz")], Direction::Down);
    let bytes = |traffic: &Traffic| {
        let mut sizes: Vec<u64> = traffic.connections.iter().map(Connection::bytes).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(bytes(&traffic), bytes(&alone));
    let transfers = traffic.connections.iter().filter(|connection| connection.kind != Kind::Datagrams);
    let clients =
        transfers.map(|connection| connection.client).collect::<std::collections::BTreeSet<_>>().len();
    assert!(clients <= 5, "an office of 4 clients, got {clients}");
    for source in &traffic.sources {
        assert!(source.used > 0 && source.faults == 0, "{source:?}");
    }
}

#[test]
fn m57__conn_alone_says_one_write() {
    let Some(data) = data_folder() else { return };
    let traffic = read(&[data.join("flowlogs/zeek_m57-short_conn.log.gz")], Direction::Down);
    assert_eq!(traffic.connections.iter().filter(|connection| connection.kind == Kind::Tcp).count(), 453);
    assert!(
        traffic.notes.iter().any(|note| note.text.contains("one write per connection")),
        "{:?}",
        traffic.notes
    );
}

#[test]
fn pages__of_two_decades() {
    let Some(data) = data_folder() else { return };
    for file in ["crux_ar_2025_objects_DEV.csv.gz", "har_2010s_objects.csv.gz"] {
        let traffic = read(&[data.join("pages").join(file)], Direction::Down);
        assert_eq!(traffic.faults.count, 0, "{:?}", traffic.faults.first);
        assert!(traffic.connections.len() > 1000 && traffic.clients > 50, "{file}");
        assert!(traffic.connections.iter().any(|connection| connection.kind == Kind::Quic), "{file}");
    }
}

/// A row of the independent per-flow summary.
#[derive(Debug)]
struct Flow {
    /// Payload without and with repetitions. That reader takes every segment behind the highest byte
    /// for a repetition, so where segments were reordered the truth lies between the two.
    bytes: (u64, u64),
    rtt: Option<f64>,
    syn: bool,
}

/// Returns the flows with data in `direction` of a compressed summary file; panics if it cannot be
/// read.
fn read_flows(path: &Path, direction: Direction) -> Vec<Flow> {
    let mut reader = csv::Reader::from_reader(GzDecoder::new(std::fs::File::open(path).unwrap()));
    let (total, unique) = if direction == Direction::Down { (7, 9) } else { (6, 8) };
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let bytes = (record[unique].parse().unwrap(), record[total].parse().unwrap());
        Flow { bytes, rtt: record[11].parse().ok(), syn: &record[13] == "1" }
    });
    rows.filter(|flow| flow.bytes.0 > 0).collect()
}

/// Returns the difference of a connection's round-trip time from a flow's, in seconds; `None` when
/// only one is known.
fn rtt_error(flow: &Flow, connection: &Connection) -> Option<f64> {
    match (flow.rtt, connection.rtt) {
        (Some(theirs), Some(ours)) => Some((ours.as_secs() - theirs).abs()),
        (None, None) => Some(0.0),
        _ => None,
    }
}

/// Matches every flow whose SYN was seen with a connection of its size and round trip. Returns the
/// flows without one, and how many matched with a round trip that differs by more than rounding.
fn compare_flows(capture: &Path, summary: &Path, direction: Direction) -> (Vec<String>, usize) {
    let mut ours: Vec<Connection> = read(&[capture.to_path_buf()], direction).connections;
    let (mut wrong, mut loose) = (Vec::new(), 0);
    for flow in read_flows(summary, direction).into_iter().filter(|flow| flow.syn) {
        let fits = |connection: &Connection| {
            let bytes = connection.bytes();
            let error =
                rtt_error(&flow, connection).filter(|_| (flow.bytes.0..=flow.bytes.1).contains(&bytes));
            error.filter(|error| *error < 2e-3)
        };
        let best = ours.iter().enumerate().filter_map(|(place, connection)| Some((fits(connection)?, place)));
        match best.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((error, place)) => {
                ours.remove(place);
                loose += usize::from(error > 2e-6);
            }
            None => wrong.push(format!("{}: {flow:?}", capture.display())),
        }
    }
    (wrong, loose)
}

#[test]
fn captures__agree_with_another_reader() {
    let Some(data) = data_folder() else { return };
    let (mut captures, mut loose, mut wrong) = (0, 0, Vec::new());
    for entry in std::fs::read_dir(data.join("pcap")).unwrap() {
        let capture = entry.unwrap().path();
        let Some(name) = capture.file_name().and_then(|name| name.to_str()?.strip_suffix(".pcap.gz")) else {
            continue;
        };
        let summary = data.join(format!("pcap/flows/{name}.flows.csv.gz"));
        for direction in [Direction::Down, Direction::Up] {
            let (missing, differing) = compare_flows(&capture, &summary, direction);
            wrong.extend(missing);
            loose += differing;
        }
        captures += 1;
    }
    assert_eq!(captures, 17);
    assert!(wrong.is_empty(), "{wrong:#?}");
    // One handshake repeats its SYN-ACK; that reader then takes the whole time from the SYN.
    assert!(loose <= 2, "{loose} round trips differ");
}

#[test]
fn captures__are_accounted_for_to_the_byte() {
    let Some(data) = data_folder() else { return };
    for entry in std::fs::read_dir(data.join("pcap")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let traffic = read(&[path], Direction::Down);
        let source = &traffic.sources[0];
        let capture = source.capture.unwrap();
        let rows: u64 = traffic.skipped.iter().map(|skipped| skipped.rows).sum();
        let bytes: u64 = traffic.skipped.iter().map(|skipped| skipped.bytes).sum();
        assert_eq!((source.rows, source.faults), (source.used + rows, 0), "{}", source.name);
        assert_eq!(capture.bytes, capture.used_bytes + bytes, "{}", source.name);
        let without: u64 = traffic.skipped.iter().map(|skipped| skipped.connections).sum();
        let flows = capture.tcp_connections + capture.quic_flows + capture.datagram_flows;
        assert_eq!(flows, traffic.connections.len() as u64 + without, "{}", source.name);
        // All other frames are Ethernet without IP.
        let unread = ["link type", "fragment", "MPLS", "GRE", "cut by", "shorter", "not IP", "headers"];
        for Skipped { reason, .. } in &traffic.skipped {
            assert!(!unread.iter().any(|name| reason.contains(name)), "{}: {reason}", source.name);
        }
        assert!(
            50 * (capture.bytes - capture.used_bytes) < capture.bytes,
            "{}: 2 % or more left out",
            source.name
        );
    }
}

#[test]
fn flow_tables__read_as_tables() {
    let Some(data) = data_folder() else { return };
    for entry in std::fs::read_dir(data.join("pcap/flows")).unwrap() {
        let path = entry.unwrap().path();
        let expected = read_flows(&path, Direction::Down);
        let traffic = read(&[path], Direction::Down);
        assert_eq!(traffic.connections.len(), expected.len());
        let total: u64 = expected.iter().map(|flow| flow.bytes.0).sum();
        assert_eq!(traffic.connections.iter().map(Connection::bytes).sum::<u64>(), total);
    }
}
