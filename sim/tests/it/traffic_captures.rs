//! The same traffic as captures of every kind that can be read.
use crate::traffic_common::*;
use mousehole_sim::error::Error;
use mousehole_sim::traffic::connection::Connection;
use mousehole_sim::traffic::note::NoteKind;
use mousehole_sim::traffic::read::{ReadOptions, read_contents};
use mousehole_sim::units::Dur;

/// Returns the expected connections with the round-trip times and durations that captures show.
fn with_handshake_rtt() -> Vec<Connection> {
    let mut connections = expected();
    // From the SYN to the last byte of data.
    for (connection, duration_ms) in connections.iter_mut().zip([100, 2_100, 100]) {
        connection.rtt = Some(Dur::from_millis(60));
        connection.duration = Some(Dur::from_millis(duration_ms));
    }
    connections
}

/// Returns a pcapng capture of the sample, with this resolution of times and frames cut to `cut`
/// bytes.
fn make_pcapng(resolution: u8, cut: usize) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut out =
        block(0x0a0d_0d0a, &[&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    out.extend(block(
        1,
        &[&[1u8, 0, 0, 0, 0, 0, 0, 0][..], &[9, 0, 1, 0, resolution, 0, 0, 0], &[0, 0, 0, 0]].concat(),
    ));
    let per_second: u128 =
        if resolution & 0x80 == 0 { 10u128.pow(u32::from(resolution)) } else { 1 << (resolution & 0x7f) };
    for (ms, frame) in frames() {
        let kept = frame.len().min(cut);
        let units = (u128::from(T0 * 1000 + ms) * per_second).div_ceil(1000) as u64;
        let mut body: Vec<u8> = [0, (units >> 32) as u32, units as u32, kept as u32, frame.len() as u32]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        body.extend(&frame[..kept]);
        body.resize(body.len().next_multiple_of(4), 0);
        out.extend(block(6, &body));
    }
    out
}

#[test]
fn capture__all_magics_and_cut_packets() {
    for (nano, big) in [(false, false), (false, true), (true, false), (true, true)] {
        for cut in [65_535, 74] {
            let traffic = read_bytes(&pcap(nano, big, cut));
            assert_eq!(
                normalise_pauses(traffic.connections),
                normalise_pauses(with_handshake_rtt()),
                "{nano} {big} {cut}"
            );
            assert_eq!((&*traffic.sources[0].kind, traffic.faults.count), ("pcap", 0));
        }
    }
}

#[test]
fn capture__pcapng_with_decimal_and_binary_time() {
    for resolution in [6, 9] {
        let traffic = read_bytes(&make_pcapng(resolution, 74));
        assert_eq!(traffic.connections, read_bytes(&pcap(false, false, 74)).connections);
        assert_eq!(traffic.sources[0].kind, "pcapng");
    }
    let binary = read_bytes(&make_pcapng(0x80 | 30, 74)).connections;
    assert!(binary.iter().zip(expected()).all(|(ours, other)| ours.start.0.abs_diff(other.start.0) < 10));
}

/// Replaces each pause above zero by 1 ns: a capture measures a pause from the last data packet to
/// the next, so only its presence can be compared.
fn normalise_pauses(mut connections: Vec<Connection>) -> Vec<Connection> {
    let writes = connections.iter_mut().flat_map(|connection| connection.writes.iter_mut());
    writes.for_each(|write| write.idle = Dur(u64::from(write.idle > Dur::ZERO)));
    connections
}

#[test]
fn capture__cut_within_a_packet_keeps_complete_packets() {
    let whole = pcap(false, false, 74);
    let traffic = read_bytes(&whole[..whole.len() - 10]);
    assert_eq!(traffic.faults.count, 1);
    assert!(traffic.faults.first.unwrap().contains("ends within this packet"));
    assert_eq!(traffic.connections.len(), 3);
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    assert!(matches!(read_contents(&[("x", &whole[..whole.len() - 10])], &strict), Err(Error::Row { .. })));
}

#[test]
fn capture__damaged_is_used_up_to_the_damage() {
    let whole = pcap(false, false, 65_535);
    let mut data = whole.clone();
    let middle = 24 + frames()[..40].iter().map(|(_, frame)| 16 + frame.len()).sum::<usize>();
    data[middle + 8..middle + 12].copy_from_slice(&[0xff; 4]);
    let traffic = read_bytes(&data);
    assert_eq!((traffic.sources[0].rows, traffic.faults.count), (40, 1));
    assert!(traffic.notes.iter().any(|note| note.text.contains("lies behind it and is not read")));
    let torn = gzip(&whole);
    let traffic = read_bytes(&torn[..torn.len() - 40]);
    assert!(
        traffic.notes.iter().any(|note| note.text.contains("is used up to there")),
        "{:?}",
        traffic.notes
    );
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    assert!(read_contents(&[("x", &torn[..torn.len() - 40])], &strict).is_err());
}

/// Returns a frame in Linux's cooked form, on an interface.
fn cooked_frame(interface: u8, packet: &[u8]) -> Vec<u8> {
    [&[8, 0, 0, 0, 0, 0, 0, interface, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], packet].concat()
}

#[test]
fn capture__of_all_interfaces_counts_connections_once() {
    let plain = read_bytes(&pcap(false, false, 65_535));
    let on_both = |translate: bool| {
        let both = frames().into_iter().flat_map(|(ms, frame)| {
            let mut other = frame[14..].to_vec();
            if translate {
                // The client's address becomes the router's.
                let client = if other[12..16] == [10, 9, 9, other[15]] { 16 } else { 12 };
                other[client..client + 4].copy_from_slice(&[203, 0, 113, 1]);
            }
            [(ms, cooked_frame(1, &frame[14..])), (ms, cooked_frame(2, &other))]
        });
        read_bytes(&pcap_of_link(276, both.collect(), false, false, 65_535))
    };
    for translate in [false, true] {
        let traffic = on_both(translate);
        assert_eq!(traffic.connections, plain.connections, "{translate}");
        let doubled = traffic.notes.iter().find(|note| note.kind == NoteKind::Doubled).unwrap();
        assert_eq!(doubled.count, Some(if translate { 3 } else { frames().len() as u64 }), "{translate}");
    }
    // Two connections of one interface are two, whatever their sequence numbers.
    let twice = frames().into_iter().flat_map(|(ms, frame)| {
        let mut other = frame[14..].to_vec();
        let client = if other[12..15] == [10, 9, 9] { 16 } else { 12 };
        other[client + 3] += 100;
        [(ms, cooked_frame(1, &frame[14..])), (ms, cooked_frame(1, &other))]
    });
    let traffic = read_bytes(&pcap_of_link(276, twice.collect(), false, false, 65_535));
    assert_eq!(traffic.connections.len(), 2 * plain.connections.len());
}

#[test]
fn capture__of_one_direction_is_named() {
    let exchanges = (0..6u8).flat_map(|client| {
        exchange(u64::from(client) * 10, &[(u64::from(client) * 10 + 100, 5000)])
            .into_iter()
            .map(move |shot| (shot.0, shot.1, make_frame(80, client, 1, shot)))
    });
    let mut all: Vec<(u64, bool, Vec<u8>)> = exchanges.collect();
    all.sort_by_key(|(ms, ..)| *ms);
    let answers = all.iter().filter(|(_, from_client, _)| !from_client);
    let answers = answers.map(|(ms, _, frame)| (*ms, frame.clone())).collect();
    let traffic = read_bytes(&pcap_of_link(1, answers, false, false, 65_535));
    assert_eq!(traffic.connections.iter().map(Connection::bytes).collect::<Vec<_>>(), [5000; 6]);
    let note = traffic.notes.iter().find(|note| note.kind == NoteKind::Doubt).unwrap();
    assert!(note.text.contains("of 6 connections packets of one direction only"), "{}", note.text);
}

#[test]
fn capture__damaged_early_is_refused() {
    let mut data = pcap(false, false, 65_535);
    data[24 + 8..24 + 12].copy_from_slice(&[0xff; 4]);
    let error = read_contents(&[("x", &data)], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("x:1: ") && error.contains("100 % of the capture lies behind it"), "{error}");
}
