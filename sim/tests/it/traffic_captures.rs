//! The same traffic as captures of every kind that can be read.
use crate::traffic_common::*;
use mousehole_sim::error::Error;
use mousehole_sim::traffic::connection::Connection;
use mousehole_sim::traffic::read::{ReadOptions, contents};
use mousehole_sim::units::Dur;

fn with_handshake_rtt() -> Vec<Connection> {
    let mut connections = expected();
    // From the SYN to the last byte of data.
    for (connection, duration_ms) in connections.iter_mut().zip([100, 2_100, 100]) {
        connection.rtt = Some(Dur::from_millis(60));
        connection.duration = Some(Dur::from_millis(duration_ms));
    }
    connections
}

fn pcapng(resolution: u8, cut: usize) -> Vec<u8> {
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
            assert_eq!(idle_free(traffic.connections), idle_free(with_handshake_rtt()), "{nano} {big} {cut}");
            assert_eq!((&*traffic.sources[0].kind, traffic.faults.count), ("pcap", 0));
        }
    }
}

#[test]
fn capture__pcapng_with_decimal_and_binary_time() {
    for resolution in [6, 9] {
        let traffic = read_bytes(&pcapng(resolution, 74));
        assert_eq!(traffic.connections, read_bytes(&pcap(false, false, 74)).connections);
        assert_eq!(traffic.sources[0].kind, "pcapng");
    }
    let binary = read_bytes(&pcapng(0x80 | 30, 74)).connections;
    assert!(binary.iter().zip(expected()).all(|(ours, other)| ours.start.0.abs_diff(other.start.0) < 10));
}

/// Reduces pauses to whether there is one, because the pause of a capture runs from data to data.
fn idle_free(mut connections: Vec<Connection>) -> Vec<Connection> {
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
    assert!(matches!(contents(&[("x", &whole[..whole.len() - 10])], &strict), Err(Error::Row { .. })));
}

#[test]
fn capture__damaged_early_is_refused() {
    let mut data = pcap(false, false, 65_535);
    data[24 + 8..24 + 12].copy_from_slice(&[0xff; 4]);
    let error = contents(&[("x", &data)], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("x:1: ") && error.contains("cannot be read"), "{error}");
}
