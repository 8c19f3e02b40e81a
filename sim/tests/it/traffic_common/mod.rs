//! One small traffic in the formats that several tests need.
#![allow(dead_code)]

use etherparse::PacketBuilder;
use flate2::{Compression, write::GzEncoder};
use mousehole_sim::error::Result;
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::class::FlowClass;
use mousehole_sim::traffic::connection::{Connection, Write};
use mousehole_sim::traffic::read::{ReadOptions, read_contents};
use mousehole_sim::units::{Dur, Time};
use std::io::Write as _;

pub const T0: u64 = 1_700_000_000;

/// Reads texts by name, with the default options.
///
/// # Errors
/// Those of reading traffic.
pub fn read(named: &[(&str, &str)]) -> Result<Traffic> {
    let bytes: Vec<(&str, &[u8])> = named.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    read_contents(&bytes, &ReadOptions::default())
}

/// Reads one text, which must be accepted; panics otherwise.
pub fn one(text: &str) -> Traffic {
    read(&[("sample", text)]).unwrap()
}

/// Returns the payload bytes of each connection.
pub fn list_sizes(traffic: &Traffic) -> Vec<u64> {
    traffic.connections.iter().map(Connection::bytes).collect()
}

/// Returns the error of one text, which must be refused; panics if it is accepted.
pub fn refuse(text: &str) -> String {
    read(&[("dir/sample", text)]).unwrap_err().to_string()
}

/// Reads one file, which must be accepted; panics otherwise.
pub fn read_bytes(data: &[u8]) -> Traffic {
    read_contents(&[("capture", data)], &ReadOptions::default()).unwrap()
}

/// Returns a connection with these writes of (idle before in ms, bytes).
pub fn connection(start_ms: u64, client: u32, server: u32, writes: &[(u64, u64)]) -> Connection {
    let write = |&(idle_ms, bytes): &(u64, u64)| Write { idle: Dur::from_millis(idle_ms), bytes };
    let writes = writes.iter().map(write).collect();
    let flow_class = Some(FlowClass::Page);
    Connection {
        client,
        server,
        flow_class,
        writes,
        ..Connection::from_one_write(Time(start_ms * 1_000_000), 1)
    }
}

/// Returns the sample: three connections of two clients to two servers; the second pauses for two
/// seconds.
pub fn expected() -> Vec<Connection> {
    vec![
        connection(0, 0, 0, &[(0, 12_000)]),
        connection(1_500, 1, 1, &[(0, 700), (2_000, 90_000)]),
        connection(2_250, 0, 1, &[(0, 1)]),
    ]
}

/// Returns the sample with the 300 B of headers that conn.log counts for the three responses of the
/// second connection.
pub fn with_headers() -> Vec<Connection> {
    let mut connections = expected();
    connections[1] = connection(1_500, 1, 1, &[(0, 800), (2_000, 90_100), (500, 100)]);
    connections
}

pub const CONN_FIELDS: &str = "#separator \\x09\n#unset_field\t-\n#path\tconn\n\
    #fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\torig_bytes\tresp_bytes\n";
pub const HTTP_FIELDS: &str = "#separator \\x09\n#unset_field\t-\n#path\thttp\n\
    #fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\trequest_body_len\tresponse_body_len\n";

/// Returns a row of `conn.log` with three decimals of a second, `ms` after [`T0`]; `bytes` are the
/// server's.
pub fn conn_row(ms: u64, uid: &str, client: &str, server: &str, bytes: &str) -> String {
    let at = format!("{}.{:03}", T0 + ms / 1000, ms % 1000);
    format!("{at}\t{uid}\t{client}\t5000\t{server}\t80\ttcp\t100\t{bytes}\n")
}

/// Returns the sample as Zeek's conn.log.
pub fn conn_log() -> String {
    let rows = [
        conn_row(2_250, "C", "10.0.0.1", "s2", "1"),
        conn_row(0, "A", "10.0.0.1", "s1", "12000"),
        conn_row(1_500, "B", "10.0.0.2", "s2", "91000"),
    ];
    format!("{CONN_FIELDS}{}#close\t2023\n", rows.concat())
}

/// Returns the sample as Zeek's http.log.
pub fn http_log() -> String {
    let row = |at: &str, uid: &str, client: &str, server: &str, depth: u32, bytes: u64| {
        format!("{at}\t{uid}\t{client}\t{server}\t{depth}\t7\t{bytes}\n")
    };
    let rows = [
        row(&format!("{}.500000", T0 + 3), "B", "10.0.0.2", "s2", 2, 90_000),
        row(&format!("{}.500000", T0 + 1), "B", "10.0.0.2", "s2", 1, 700),
        row(&format!("{}.250000", T0 + 2), "C", "10.0.0.1", "s2", 1, 1),
        row(&format!("{T0}.000000"), "A", "10.0.0.1", "s1", 1, 12_000),
        row(&format!("{}.000000", T0 + 4), "B", "10.0.0.2", "s2", 3, 0),
    ];
    format!("{HTTP_FIELDS}{}", rows.concat())
}

/// Returns the data compressed.
pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A packet of the capture that holds [`expected`]: milliseconds, from the client?, flags, relative
/// sequence number, payload.
pub type Shot = (u64, bool, u8, u32, usize);

/// Returns the packets of a download: the handshake, which takes 60 ms from `start_ms` on, then
/// bursts of (time in ms, bytes) from the server, in full segments of 1448 bytes.
pub fn exchange(start_ms: u64, bursts: &[(u64, usize)]) -> Vec<Shot> {
    let mut shots = vec![
        (start_ms, true, 0x02, 0, 0),
        (start_ms + 20, false, 0x12, 0, 0),
        (start_ms + 60, true, 0x10, 1, 0),
    ];
    let mut seq = 1;
    for &(at, bytes) in bursts {
        for done in (0..bytes).step_by(1448) {
            let payload = (bytes - done).min(1448);
            shots.push((at, false, 0x10, seq, payload));
            seq += payload as u32;
        }
    }
    shots
}

/// Milliseconds after [`T0`], and a frame.
pub type Timed = (u64, Vec<u8>);

/// Returns the sample's frames in order of time.
pub fn frames() -> Vec<Timed> {
    let exchanges = [
        (1, 1, exchange(0, &[(100, 12_000)])),
        (2, 2, exchange(1_500, &[(1_600, 700), (3_600, 90_000)])),
        (1, 2, exchange(2_250, &[(2_350, 1)])),
    ];
    let mut frames: Vec<Timed> = Vec::new();
    for (client, server, shots) in exchanges {
        for (at, from_client, flags, seq, payload) in shots {
            frames.push((at, frame(client, server, from_client, flags, seq, payload)));
        }
    }
    frames.sort_by_key(|(at, _)| *at);
    frames
}

/// Returns an Ethernet frame with a packet of a connection to server port 80; see [`make_frame`].
pub fn frame(client: u8, server: u8, from_client: bool, flags: u8, seq: u32, payload: usize) -> Vec<u8> {
    make_frame(80, client, server, (0, from_client, flags, seq, payload))
}

/// Returns an Ethernet frame with a TCP packet of a connection to server port `port`, in the
/// direction, with the flags and payload of `shot`. Sequence numbers are relative and wrap.
pub fn make_frame(port: u16, client: u8, server: u8, shot: Shot) -> Vec<u8> {
    let (_, from_client, flags, seq, payload) = shot;
    let (client_end, server_end) =
        (([10, 0, 0, client], 40_000 + u16::from(client)), ([10, 9, 9, server], port));
    let (from, to) = if from_client { (client_end, server_end) } else { (server_end, client_end) };
    let start = if from_client { u32::MAX - 5 } else { u32::MAX - 3000 };
    let mut builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from.0, to.0, 64).tcp(
        from.1,
        to.1,
        start.wrapping_add(seq),
        1000,
    );
    if flags & 0x02 != 0 {
        builder = builder.syn();
    }
    if flags & 0x10 != 0 {
        builder = builder.ack(1);
    }
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; payload]).unwrap();
    frame
}

/// Returns a capture of one download from each of these server ports, a second apart.
pub fn pcap_of_ports(ports: &[u16]) -> Vec<u8> {
    let mut all = Vec::new();
    for (index, &port) in (0u64..).zip(ports) {
        let shots = exchange(1000 * index, &[(1000 * index + 100, 700)]);
        all.extend(shots.into_iter().map(|shot| (shot.0, make_frame(port, 1, index as u8, shot))));
    }
    make_pcap(all, false, false, usize::MAX)
}

/// Returns the sample as a pcap file: with nanoseconds or microseconds, in big or little byte
/// order, each frame cut to `cut` bytes.
pub fn pcap(nano: bool, big: bool, cut: usize) -> Vec<u8> {
    make_pcap(frames(), nano, big, cut)
}

/// Returns Ethernet frames as a pcap file.
fn make_pcap(frames: Vec<Timed>, nano: bool, big: bool, cut: usize) -> Vec<u8> {
    pcap_of_link(1, frames, nano, big, cut)
}

/// Returns a capture of frames of a link type, with their times in milliseconds, each cut to `cut` bytes.
pub fn pcap_of_link(link_type: u32, frames: Vec<Timed>, nano: bool, big: bool, cut: usize) -> Vec<u8> {
    let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let magic = if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut out =
        [&word(magic)[..], &half(2), &half(4), &word(0), &word(0), &word(65_535), &word(link_type)].concat();
    for (ms, frame) in frames {
        let kept = frame.len().min(cut);
        let fraction = (ms % 1000) as u32 * if nano { 1_000_000 } else { 1000 };
        let header = [T0 as u32 + (ms / 1000) as u32, fraction, kept as u32, frame.len() as u32];
        header.iter().for_each(|value| out.extend(word(*value)));
        out.extend(&frame[..kept]);
    }
    out
}

/// Returns a pcapng capture with microseconds and an interface for each link type and its frames.
pub fn pcapng(interfaces: &[(u32, Vec<Timed>)]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut out =
        block(0x0a0d_0d0a, &[&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    for (link_type, _) in interfaces {
        out.extend(block(1, &[*link_type, 0].map(u32::to_le_bytes).concat()));
    }
    for (number, (_, frames)) in (0u32..).zip(interfaces) {
        for (ms, frame) in frames {
            let units = (T0 * 1000 + ms) * 1000;
            let length = frame.len() as u32;
            let words = [number, (units >> 32) as u32, units as u32, length, length];
            let mut body = words.map(u32::to_le_bytes).concat();
            body.extend(frame);
            body.resize(body.len().next_multiple_of(4), 0);
            out.extend(block(6, &body));
        }
    }
    out
}
