//! No input makes a reader panic, and whatever is read is sound.
use flate2::{Compression, write::GzEncoder};
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::connection::{Connection, Kind};
use mousehole_sim::traffic::overlay::Overlay;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents};
use mousehole_sim::units::{Rate, Time};
use proptest::prelude::*;
use proptest::sample::Index;
use std::io::Write as _;
use std::sync::LazyLock;

const CONN: &str = "#separator \\x09\n#set_separator\t,\n#path\tconn\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes\tresp_bytes\tmissed_bytes\torig_ip_bytes\tresp_ip_bytes\n\
    1258790493.773208\tA\t10.0.0.1\t1234\t10.0.0.2\t80\ttcp\t1.5\t300\t12000\t0\t500\t13000\n\
    1258790494.1\tB\t10.0.0.1\t1235\t10.0.0.2\t443\tudp\t-\t300\t900\t0\t-\t-\n";
const HTTP: &str = "#separator \\x09\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\trequest_body_len\tresponse_body_len\n\
    1258790493.9\tA\t10.0.0.1\t10.0.0.2\t1\t0\t700\n1258790497.9\tA\t10.0.0.1\t10.0.0.2\t2\t5\t9000\n";
const JSON: &str = "{\"ts\":1258790493.77,\"uid\":\"A\",\"id.orig_h\":\"10.0.0.1\",\"id.resp_h\":\"b\",\"proto\":\"tcp\",\"resp_bytes\":77}\n\
    {\"ts\":\"2009-11-21T08:01:33.5Z\",\"uid\":\"B\",\"id\":{\"orig_h\":\"a\",\"resp_h\":\"b\"},\"method\":\"GET\",\"response_body_len\":9}\n";
const ACCESS: &str = "h1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n\
    h2 - bob [10/Oct/2000:13:55:37 -0700] \"GET /b \"x\" HTTP/1.0\" 200 - \"http://r/\" \"agent\"\n";
const TABLE: &str = "start_ms,client,server,bytes,rtt_ms,conn_id,duration,proto\n\
    0.5,a,b,100,35,1,0.2,tcp\n900,a,b,2e3,,1,,udp\n950,\"a,c\",b,70,,,,\n";

const HAR: &str = "{\"log\":{\"pages\":[{\"id\":\"p\",\"startedDateTime\":\"2024-05-01T10:00:00Z\",\"pageTimings\":{\"onLoad\":90.5}}],\"entries\":[\n\
    {\"pageref\":\"p\",\"startedDateTime\":\"2024-05-01T10:00:00.5Z\",\"time\":30.5,\"request\":{\"url\":\"https://a/\",\"headersSize\":9,\"bodySize\":0},\n\
    \"response\":{\"status\":200,\"httpVersion\":\"h2\",\"headersSize\":-1,\"bodySize\":70,\"content\":{\"size\":80,\"compression\":10}},\n\
    \"timings\":{\"blocked\":1,\"dns\":-1,\"connect\":20},\"serverIPAddress\":\"10.0.0.2\",\"connection\":\"7\"},\n\
    {\"startedDateTime\":\"2024-05-01T10:00:01Z\",\"request\":{\"url\":\"data:x\"},\"response\":{\"status\":0},\"_fromCache\":\"disk\"}]}}\n";
const NFDUMP: &str = "ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt\n\
    2024-05-01 10:00:00,2024-05-01 10:00:01,1.5,a,b,4000,80,TCP,8,420,0,0\n\
    2024-05-01 10:00:00,2024-05-01 10:00:01,1.2,b,a,80,4000,6,10,10400,0,0\nSummary\nflows,bytes\n2,10820\n";

/// Returns frames of a TCP connection and of two flows on UDP port 443, one of them over IPv6 with
/// a VLAN tag.
fn make_frames() -> Vec<Vec<u8>> {
    use etherparse::PacketBuilder;
    let v4 = |from: [u8; 4], to: [u8; 4]| PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from, to, 64);
    let mut frames = vec![Vec::new(); 5];
    let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    v4(a, b).tcp(5000, 80, 7, 100).syn().write(&mut frames[0], &[]).unwrap();
    v4(b, a).tcp(80, 5000, 9, 100).syn().ack(8).write(&mut frames[1], &[]).unwrap();
    v4(b, a).tcp(80, 5000, 10, 100).ack(8).write(&mut frames[2], &[0; 300]).unwrap();
    let six =
        PacketBuilder::ethernet2([1; 6], [2; 6]).single_vlan(5.try_into().unwrap()).ipv6([1; 16], [2; 16], 9);
    six.udp(443, 6000).write(&mut frames[3], &[0; 200]).unwrap();
    v4(a, b).udp(6000, 443).write(&mut frames[4], &[0; 100]).unwrap();
    frames
}

/// Returns the frames as a pcap file.
fn make_pcap() -> Vec<u8> {
    let header = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1];
    let mut out: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (frame, at) in make_frames().iter().zip(0u32..) {
        let record = [1_700_000_000 + at, 5, frame.len() as u32, frame.len() as u32];
        out.extend(record.iter().flat_map(|word| word.to_le_bytes()));
        out.extend(frame);
    }
    out
}

/// Returns the frames as a pcapng file.
fn make_pcapng() -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut out =
        block(0x0a0d_0d0a, &[&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    out.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]));
    for (frame, at) in make_frames().iter().zip(0u32..) {
        let words = [0, 0x17_0000, at << 28, frame.len() as u32, frame.len() as u32];
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        out.extend(block(6, &body));
    }
    out
}

/// Returns the data compressed.
fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns a valid file of each format.
fn make_samples() -> Vec<Vec<u8>> {
    let texts = [CONN, HTTP, JSON, ACCESS, TABLE, HAR, NFDUMP];
    let mut samples: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    samples.extend([make_pcap(), make_pcapng(), gzip(CONN.as_bytes()), gzip(&make_pcap())]);
    samples
}

/// One way to spoil a file.
#[derive(Debug, Clone)]
enum Damage {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Cut(Index),
    Repeat(Index, usize),
}

/// Generates a change of some bytes.
fn any_damage() -> impl Strategy<Value = Damage> {
    let telling = prop::sample::select(vec![
        b"\t".to_vec(),
        b"\n#fields\t".to_vec(),
        b"\"".to_vec(),
        b"-".to_vec(),
        vec![0xff; 4],
        vec![0; 8],
    ]);
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        2 => (any::<Index>(), telling).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (any::<Index>(), 1usize..40).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => any::<Index>().prop_map(Damage::Cut),
        1 => (any::<Index>(), 1usize..200).prop_map(|(at, count)| Damage::Repeat(at, count)),
    ]
}

/// Applies a change to the data in place; empty data stay.
fn spoil(data: &mut Vec<u8>, damage: &Damage) {
    if data.is_empty() {
        return;
    }
    let len = data.len();
    match damage {
        Damage::Set(at, byte) => data[at.index(len)] = *byte,
        Damage::Insert(at, bytes) => drop(data.splice(at.index(len)..at.index(len), bytes.iter().copied())),
        Damage::Remove(at, count) => drop(data.drain(at.index(len)..(at.index(len) + count).min(len))),
        Damage::Cut(at) => data.truncate(at.index(len)),
        Damage::Repeat(at, count) => {
            let again = data[at.index(len)..(at.index(len) + count).min(len)].to_vec();
            data.extend(again);
        }
    }
}

/// Checks that the files are read soundly or refused in one line, in both directions and strictly
/// or not; panics otherwise.
fn check_input(named: &[(&str, &[u8])]) {
    for direction in [Direction::Down, Direction::Up] {
        for strict in [false, true] {
            match read_contents(named, &ReadOptions { direction, strict, ..ReadOptions::default() }) {
                Ok(traffic) => check_sound(&traffic, strict),
                Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
            }
        }
    }
}

/// Asserts the laws of any traffic that is read; `strict` says that it was read without tolerating
/// faults.
fn check_sound(traffic: &Traffic, strict: bool) {
    assert!(!traffic.connections.is_empty());
    assert_eq!(traffic.connections[0].start, Time::ZERO);
    assert!(traffic.connections.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert!(
        traffic.connections.iter().all(|connection| connection.writes.iter().all(|write| write.bytes > 0))
    );
    let has_some = |connection: &Connection| match connection.writes.datagrams() {
        Some(datagrams) => {
            connection.kind == Kind::Datagrams && datagrams.iter().all(|one| one.bytes() >= 20)
        }
        None => connection.kind != Kind::Datagrams && !connection.writes.is_empty(),
    };
    assert!(traffic.connections.iter().all(has_some));
    assert!(traffic.connections.iter().all(|connection| connection.client < traffic.clients));
    assert!(traffic.connections.iter().all(|connection| connection.server < traffic.servers));
    assert!(!strict || traffic.faults.count == 0);
    let accounted: u64 = traffic.sources.iter().map(|source| source.used + source.faults).sum::<u64>()
        + traffic.skipped.iter().map(|skipped| skipped.rows).sum::<u64>();
    let rows: u64 = traffic.sources.iter().map(|source| source.rows).sum();
    // A capture that ends in mid-packet has a fault beyond its rows.
    assert!(accounted == rows || (accounted > rows && accounted - rows <= traffic.sources.len() as u64));
    let summary = traffic.summary(Some(Rate(10_000_000)), 1460);
    let is_all_reverse = traffic.connections.iter().all(|connection| connection.bytes() == 0);
    assert_eq!(summary.native_load.unwrap() > 0.0, !is_all_reverse);
    if let Ok(overlay) = Overlay::new(traffic, Some(0.9), Rate(1_000_000), 1460, 1, 0) {
        assert!(overlay.arrivals_from(overlay.window_offset(1, 0)).take(100).count() == 100);
    }
}

#[test]
fn samples__are_sound_as_they_are() {
    for sample in make_samples() {
        let traffic = read_contents(&[("sample", &sample)], &ReadOptions::default()).unwrap();
        check_sound(&traffic, true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes__never_panic(data in prop::collection::vec(any::<u8>(), 0..300), magic in prop::sample::select(vec![
        vec![], vec![0x1f, 0x8b, 8, 0], vec![0xd4, 0xc3, 0xb2, 0xa1], vec![0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
        b"#fields\tts\tid.orig_h\tid.resp_h\tproto\tresp_bytes\n".to_vec(), b"{\"ts\":1,\"uid\":".to_vec(), b"start,bytes\n".to_vec(),
    ])) {
        check_input(&[("any", &[magic, data].concat())]);
    }

    #[test]
    fn damaged_files__never_panic(sample in any::<Index>(), damages in prop::collection::vec(any_damage(), 1..6)) {
        let mut data = make_samples().swap_remove(sample.index(make_samples().len()));
        damages.iter().for_each(|damage| spoil(&mut data, damage));
        check_input(&[("damaged", &data)]);
    }

    #[test]
    fn damaged_tunnels__never_panic(sample in any::<Index>(), damages in prop::collection::vec(any_damage(), 1..6)) {
        // The beginning of a capture in every form that is understood.
        static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(crate::traffic_understood::samples);
        let mut data: Vec<u8> = sample.get(&SAMPLES).iter().take(4096).copied().collect();
        damages.iter().for_each(|damage| spoil(&mut data, damage));
        check_input(&[("damaged", &data)]);
    }

    #[test]
    fn damaged_logs__never_panic_when_joined(damages in prop::collection::vec(any_damage(), 1..6), table: bool) {
        let mut http = HTTP.as_bytes().to_vec();
        damages.iter().for_each(|damage| spoil(&mut http, damage));
        let other = if table { TABLE } else { CONN };
        check_input(&[("http.log", &http), ("other", other.as_bytes())]);
    }
}
