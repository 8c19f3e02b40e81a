//! Small valid inputs for the targets to start from; captures are made here because the repository has none.

use etherparse::PacketBuilder;
use flate2::{Compression, write::GzEncoder};
use mousehole_sim::scenario::SCHEMES;
use std::io::{Result, Write};

/// A Zeek conn.log of two rows.
pub const CONN: &str = "#separator \\x09\n#set_separator\t,\n#path\tconn\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes\tresp_bytes\tmissed_bytes\torig_ip_bytes\tresp_ip_bytes\n\
    1258790493.773208\tA\t10.0.0.1\t1234\t10.0.0.2\t80\ttcp\t1.5\t300\t12000\t0\t500\t13000\n\
    1258790494.1\tB\t10.0.0.1\t1235\t10.0.0.2\t443\tudp\t-\t300\t900\t0\t-\t-\n";
/// A Zeek http.log of the same connection.
pub const HTTP: &str = "#separator \\x09\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\trequest_body_len\tresponse_body_len\n\
    1258790493.9\tA\t10.0.0.1\t10.0.0.2\t1\t0\t700\n1258790497.9\tA\t10.0.0.1\t10.0.0.2\t2\t5\t9000\n";
/// Zeek's logs as JSON.
pub const JSON: &str = "{\"ts\":1258790493.77,\"uid\":\"A\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"proto\":\"tcp\",\"resp_bytes\":77}\n\
    {\"ts\":\"2009-11-21T08:01:33.5Z\",\"uid\":\"B\",\"id\":{\"orig_h\":\"a\",\"resp_h\":\"b\"},\"method\":\"GET\",\"response_body_len\":9}\n";
/// Zeek's ssl.log and quic.log of the connections of [`CONN`].
pub const SSL: &str = "#separator \\t\n#path\tssl\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tnext_protocol\n1258790493.8\tA\t10.0.0.1\t10.0.0.2\timap\n";
pub const QUIC: &str = "{\"_path\":\"quic\",\"_write_ts\":1258790494.2,\"ts\":\"2009-11-21T08:01:34.2Z\",\"uid\":\"B\",\"id.orig_h\":\"10.0.0.1\",\"id.resp_h\":\"10.0.0.2\",\"client_protocol\":\"h3\"}\n";
/// A page load.
pub const HAR: &str = concat!(
    "{\"log\":{\"pages\":[{\"id\":\"p\",\"startedDateTime\":\"2024-05-01T10:00:00Z\",\"pageTimings\":{\"onLoad\":90.5}}],\"entries\":[",
    "{\"pageref\":\"p\",\"startedDateTime\":\"2024-05-01T10:00:00.5Z\",\"time\":30.5,\"request\":{\"url\":\"https://a/\",\"headersSize\":9,\"bodySize\":0},",
    "\"response\":{\"status\":200,\"httpVersion\":\"h2\",\"headersSize\":-1,\"bodySize\":70,\"_transferSize\":90,\"content\":{\"size\":80,\"compression\":10}},",
    "\"timings\":{\"blocked\":1,\"dns\":-1,\"connect\":20},\"serverIPAddress\":\"10.0.0.2\",\"connection\":\"7\"},",
    "{\"startedDateTime\":\"2024-05-01T10:00:01Z\",\"request\":{\"url\":\"data:x\"},\"response\":{\"status\":0},\"_fromCache\":\"disk\"}]}}"
);
/// A flow of Suricata.
pub const EVE: &str = "{\"event_type\":\"flow\",\"src_ip\":\"a\",\"src_port\":4000,\"dest_ip\":\"b\",\"dest_port\":443,\"proto\":\"TCP\",\"flow\":{\"pkts_toserver\":3,\"pkts_toclient\":2,\"bytes_toserver\":400,\"bytes_toclient\":1108,\"start\":\"2024-05-01T10:00:01.5+0000\",\"end\":\"2024-05-01T10:00:02.5+0000\"}}\n";
/// A request in Squid's log.
pub const SQUID: &str = "1700000001.000   1000 10.0.0.1 TCP_MISS/200 900 GET http://a.example/ - HIER_DIRECT/192.0.2.9 text/html\n";
/// A request in HAProxy's log.
pub const HAPROXY: &str = "May  1 10:00:03 lb haproxy[7]: 10.0.0.1:4000 [01/May/2024:10:00:00.500] fe be/s1 0/0/1/2/40 200 900 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n";
/// A request in IIS's log.
pub const IIS: &str =
    "#Fields: date time s-ip c-ip sc-bytes time-taken\n2024-05-01 10:00:01 192.0.2.9 10.0.0.1 900 1000\n";
/// Both directions of a flow in nfdump's CSV.
pub const NFDUMP: &str = "ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt\n2024-05-01 10:00:00,2024-05-01 10:00:01,1.5,a,b,4000,80,TCP,8,420,0,0\n\
    2024-05-01 10:00:00,2024-05-01 10:00:01,1.2,b,a,80,4000,6,10,10400,0,0\nSummary\nflows,bytes\n2,10820\n";
/// A web server's log.
pub const ACCESS: &str = "h1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n\
    h2 - bob [10/Oct/2000:13:55:37 -0700] \"GET /b \"x\" HTTP/1.0\" 200 - \"http://r/\" \"agent\"\n";
/// A table of transfers.
pub const TABLE: &str = "start_ms,client,server,bytes,rtt_ms,conn_id,duration,proto\n\
    0.5,a,b,100,35,1,0.2,tcp\n900,a,b,2e3,,1,,udp\n950,\"a,c\",b,70,,,,\n";
/// A scenario with a little of everything.
pub const SCENARIO: &str = "schema = \"mousehole.scenario/1\"\nscheme = \"s-sfd(th=15p,k=4,mode=coupled)\"\nduration = \"20s\"\n\
    [link]\nrate = \"5mbit\"\nrtt = \"80ms\"\nbuffer = \"0.5bdp\"\n[tcp]\nprofile = \"rfc\"\nvariant = \"sack\"\n\
    [traffic]\nmodel = \"web:sfd\"\nload = 0.9\n[[faults]]\nlink = \"down\"\ndrop = [3]\nbernoulli = 0.01\n";

/// Scenarios of the repository's examples: a mix, a graph, a tree with host stage, misbehaving senders.
const EXAMPLES: [&str; 4] = [
    include_str!("../../../examples/many-applications.toml"),
    include_str!("../../../examples/own-topology.toml"),
    include_str!("../../../examples/tree.toml"),
    include_str!("../../../examples/misbehaving.toml"),
];
/// A table of flow sizes.
pub const SIZES: &str = "4850.0\n# a tenth\n500 0.1\n1000, 0.5 // half\n1 1 0.6\n21000\t1\n";

/// Writes a target's inputs into the folder that `MOUSEHOLE_SEEDS` names, if it names one.
pub fn write_seeds(target: &str) {
    let Some(folder) = std::env::var_os("MOUSEHOLE_SEEDS").map(std::path::PathBuf::from) else { return };
    let corpora = corpora().expect("inputs can be made in memory");
    let inputs = corpora.into_iter().filter(|(name, _)| *name == target).flat_map(|(_, inputs)| inputs);
    for (number, input) in inputs.enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input).expect("the folder can be written to");
    }
}

/// Returns each target's inputs, by the target's name.
pub fn corpora() -> Result<Vec<(&'static str, Vec<Vec<u8>>)>> {
    let texts = [CONN, HTTP, JSON, ACCESS, TABLE].map(|text| text.as_bytes().to_vec());
    let mut captures = vec![make_frames_pcap(0xa1b2_c3d4)?, make_frames_pcap(0xa1b2_3c4d)?, make_pcapng()?];
    captures.extend(make_encapsulated()?);
    let [ssl, quic, har, nfdump] = [SSL, QUIC, HAR, NFDUMP].map(|text| text.as_bytes().to_vec());
    let mut any: Vec<Vec<u8>> = texts.to_vec();
    any.extend(captures.clone());
    any.extend([ssl.clone(), quic.clone(), har.clone(), nfdump.clone()]);
    let [conn, http, json, access, table] = texts;
    Ok(vec![
        ("capture", captures),
        ("gzip", vec![gzip(&conn)?, gzip(&make_frames_pcap(0xa1b2_c3d4)?)?]),
        ("zeek", vec![conn, http.clone(), json]),
        ("zeek_join", vec![http]),
        ("zeek_hints", vec![ssl, quic]),
        ("har", vec![har]),
        ("declared", [NFDUMP, EVE, SQUID, HAPROXY, IIS].map(|text| text.as_bytes().to_vec()).to_vec()),
        ("access_log", vec![access]),
        ("table", vec![table]),
        ("any_traffic", any),
        ("scenario", scenarios()),
        // A choice that selects each scheme, and one more for what it is set to.
        ("scheme", (0..SCHEMES.len() as u8).map(|number| vec![number, 1, 0, 1, 1, 2, 1, 3]).collect()),
        ("sizes", vec![SIZES.into(), include_bytes!("../../../examples/own-sizes.cdf").to_vec()]),
    ])
}

/// Returns scenarios, every scheme by its name alone, and a size with a unit.
fn scenarios() -> Vec<Vec<u8>> {
    let texts = [SCENARIO, "s-sfd(th=15p,k=4,mode=coupled)", "64kB"].into_iter().chain(EXAMPLES);
    texts.chain(SCHEMES.iter().map(|doc| doc.name)).map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns some valid frames of TCP and UDP.
fn make_frames() -> Result<Vec<Vec<u8>>> {
    let mut frames = vec![Vec::new(); 4];
    let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let ip = |from, to| PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(from, to, 64);
    let failed = |_| std::io::Error::other("a frame cannot be written");
    ip(a, b).tcp(5000, 80, 7, 100).syn().write(&mut frames[0], &[]).map_err(failed)?;
    ip(b, a).tcp(80, 5000, 9, 100).syn().ack(8).write(&mut frames[1], &[]).map_err(failed)?;
    ip(b, a).tcp(80, 5000, 10, 100).ack(8).write(&mut frames[2], &[0; 90]).map_err(failed)?;
    let six = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6([1; 16], [2; 16], 9);
    six.udp(443, 6000).write(&mut frames[3], &[0; 60]).map_err(failed)?;
    Ok(frames)
}

/// Returns the frames as a pcap file with this magic number.
fn make_frames_pcap(magic: u32) -> Result<Vec<u8>> {
    Ok(make_pcap(magic, 1, &make_frames()?))
}

/// Returns captures of the same packets in other link layers, in tunnels, and in fragments.
fn make_encapsulated() -> Result<Vec<Vec<u8>>> {
    let packets: Vec<Vec<u8>> = make_frames()?.into_iter().map(|frame| frame[14..].to_vec()).collect();
    let of = |link_type: u32, header: &[u8]| {
        let wrapped: Vec<Vec<u8>> = packets.iter().map(|packet| [header, packet].concat()).collect();
        make_pcap(0xa1b2_c3d4, link_type, &wrapped)
    };
    let ip = |protocol: u8, fragment: u8| {
        [0x45, 0, 1, 0, 0, 7, fragment, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]
    };
    let within = |protocol: u8, header: &[u8]| of(101, &[&ip(protocol, 0), header].concat());
    let ethernet = [&[1; 12][..], &[8, 0]].concat();
    let udp = |port: u16, header: &[u8]| {
        within(17, &[&[0xc0, 1][..], &port.to_be_bytes(), &[0, 0, 0, 0], header, &ethernet].concat())
    };
    Ok(vec![
        of(9, &[0xff, 3, 0, 0x21]),
        of(50, &[0x0f, 0, 8, 0]),
        of(0, &[2, 0, 0, 0]),
        of(219, &[0, 1, 0, 64, 0, 2, 1, 64]),
        of(100, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
        of(239, &[2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0, 44, 0, 9, 0]),
        of(113, &[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]),
        of(1, &[&[1; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 52, 0, 0x21]].concat()),
        within(4, &[]),
        within(47, &[0xf0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 4, 10, 0, 0, 9, 0, 0, 0, 0]),
        within(47, &[0x30, 0x81, 0x88, 0x0b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x21]),
        within(47, &[&[0x10, 0, 0x22, 0xeb][..], &[0; 15], &[1], &[0; 8], &ethernet].concat()),
        udp(4789, &[8, 0, 0, 0, 0, 0, 9, 0]),
        udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 0]),
        of(101, &ip(6, 0x20)),
    ])
}

/// Returns frames of a link type as a pcap file.
fn make_pcap(magic: u32, link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut out = words(&[magic, 0x0004_0002, 0, 0, 65_535, link_type]);
    for (frame, at) in frames.iter().zip(0u32..) {
        out.extend(words(&[1_700_000_000 + at, 5, frame.len() as u32, frame.len() as u32]));
        out.extend(frame);
    }
    out
}

/// Returns the frames as a pcapng file.
fn make_pcapng() -> Result<Vec<u8>> {
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let section = [&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let mut out = block(0x0a0d_0d0a, &section);
    out.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]));
    for (frame, at) in make_frames()?.iter().zip(0u32..) {
        let words = [0, 0x17_0000, at << 28, frame.len() as u32, frame.len() as u32];
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        out.extend(block(6, &body));
    }
    Ok(out)
}

/// Returns the data compressed.
fn gzip(data: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data)?;
    encoder.finish()
}
