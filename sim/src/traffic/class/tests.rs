//! Synthetic flows, each with the class it must have.
#![allow(non_snake_case)]

use super::*;
use crate::traffic::connection::Write;
use crate::units::Dur;
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// A packet: time in ns, side, payload, first bytes.
type Packet = (i64, usize, u32, Vec<u8>);

/// Returns packets every `gap_us` µs for `seconds`; `size` gives the payload by number.
fn send_every(gap_us: i64, seconds: i64, side: usize, size: impl Fn(u32) -> u32) -> Vec<Packet> {
    let count = seconds * 1_000_000 / gap_us;
    (0..count).map(|n| (n * gap_us * 1000, side, size(n as u32), Vec::new())).collect()
}

/// Gives each packet these first bytes.
fn with_head(packets: Vec<Packet>, head: &[u8]) -> Vec<Packet> {
    packets.into_iter().map(|(at, side, payload, _)| (at, side, payload, head.to_vec())).collect()
}

/// Delays each packet by up to `ms` milliseconds, depending on its number.
fn add_jitter(packets: Vec<Packet>, ms: i64) -> Vec<Packet> {
    let jitter = |n: usize| (n as i64 * 7919 % 1000) * ms * MS / 1000;
    packets
        .into_iter()
        .enumerate()
        .map(|(n, (at, side, payload, head))| (at + jitter(n), side, payload, head))
        .collect()
}

/// Drops packets in the pauses of speech: 1.0 s of talk alternates with 1.6 s of silence. Time zero
/// is `from_ms` into this cycle.
fn with_silence(packets: Vec<Packet>, from_ms: i64) -> Vec<Packet> {
    packets.into_iter().filter(|(at, ..)| (at / MS + from_ms) % 2600 < 1000).collect()
}

/// Returns frames every `interval_us` µs for `seconds`, each of `packets` packets of `bytes`, by its number.
fn send_frames(
    interval_us: i64,
    seconds: i64,
    side: usize,
    packets: impl Fn(u32) -> u32,
    bytes: u32,
) -> Vec<Packet> {
    send_every(interval_us, seconds, side, |_| bytes)
        .into_iter()
        .enumerate()
        .flat_map(|(n, (at, side, payload, head))| {
            (0..packets(n as u32)).map(move |k| (at + i64::from(k) * MS / 2, side, payload, head.clone()))
        })
        .collect()
}

/// Returns the shape that a reader observes of the packets of both sides.
fn observe_shape(protocol: Protocol, ports: [u16; 2], packets: &[Vec<Packet>]) -> FlowShape {
    let mut all: Vec<Packet> = packets.concat();
    all.sort_by_key(|(at, ..)| *at);
    let mut observed = Observed::default();
    let mut writes: [Vec<Write>; 2] = Default::default();
    let mut last: [Option<i64>; 2] = [None; 2];
    for (at, side, payload, head) in &all {
        observed.add(*at, *side, head::Head::new(*payload, head));
        let idle = Dur((at - last[*side].unwrap_or(*at)) as u64);
        match writes[*side].last_mut() {
            Some(write) if idle <= Dur::from_millis(500) => write.bytes += u64::from(*payload),
            _ => writes[*side].push(Write { idle, bytes: u64::from(*payload) }),
        }
        last[*side] = Some(*at);
    }
    observed.shape(protocol, CLIENT, ports, [&writes[0], &writes[1]])
}

/// Returns the class of a flow over UDP on ports of no meaning.
fn classify_udp(packets: &[Vec<Packet>]) -> FlowClass {
    classify(&observe_shape(Protocol::Udp, [50_000, 50_002], packets))
}

/// Returns the class of a flow over TCP on ports of no meaning.
fn classify_tcp(packets: &[Vec<Packet>]) -> FlowClass {
    classify(&observe_shape(Protocol::Tcp, [50_000, 8443], packets))
}

const RTP: &[u8] = &[0x80, 0, 0, 1, 0, 0, 0, 160, 1, 2, 3, 4];

/// Returns a call of G.711 from one side: RTP packets of 172 B every 20 ms for 20 s.
fn send_call(side: usize) -> Vec<Packet> {
    with_head(send_every(20_000, 20, side, |_| 172), RTP)
}

#[test]
fn call__of_a_codec_with_and_without_silence_suppression() {
    assert_eq!(classify_udp(&[send_call(CLIENT), send_call(SERVER)]), FlowClass::Call);
    assert_eq!(
        classify_udp(&[add_jitter(send_call(CLIENT), 6), add_jitter(send_call(SERVER), 9)]),
        FlowClass::Call
    );
    let silent = [with_silence(send_call(CLIENT), 0), with_silence(send_call(SERVER), 1300)];
    assert_eq!(classify_udp(&silent), FlowClass::Call);
    assert_eq!(classify_udp(&[send_call(SERVER)]), FlowClass::Call, "the capture has one direction");
    let opus = |side| with_head(send_every(20_000, 20, side, |n| 60 + n * 37 % 90), RTP);
    assert_eq!(classify_udp(&[opus(CLIENT), opus(SERVER)]), FlowClass::Call, "sizes of Opus vary");
    for gap in [10_000, 30_000, 40_000, 60_000] {
        assert_eq!(
            classify_udp(&[send_every(gap, 20, CLIENT, |_| 160), send_every(gap, 20, SERVER, |_| 160)]),
            FlowClass::Call
        );
    }
}

#[test]
fn game__of_small_packets_both_ways() {
    let up = send_every(16_667, 20, CLIENT, |n| 40 + n * 13 % 30);
    let down = send_every(50_000, 20, SERVER, |n| 80 + n * 29 % 150);
    assert_eq!(classify_udp(&[up.clone(), down.clone()]), FlowClass::Game);
    assert_eq!(classify_udp(&[add_jitter(up.clone(), 5), add_jitter(down, 10)]), FlowClass::Game);
    let fast = send_every(7_813, 20, SERVER, |n| 100 + n * 31 % 190);
    assert_eq!(classify_udp(&[up.clone(), fast]), FlowClass::Game, "128 ticks a second");
    assert_eq!(classify_udp(std::slice::from_ref(&up)), FlowClass::Other, "nothing comes back");
    let slow = |side| send_every(125_000, 20, side, |n| 50 + n * 13 % 30);
    assert_eq!(classify_udp(&[slow(CLIENT), slow(SERVER)]), FlowClass::Other, "8 packets a second");
    let large = send_every(50_000, 20, SERVER, |n| if n % 3 == 0 { 700 } else { 100 });
    assert_eq!(classify_udp(&[up, large]), FlowClass::Other, "a third is not small");
}

#[test]
fn video_call__of_frames_with_reports_or_pictures_coming_back() {
    let there = send_frames(33_333, 20, CLIENT, |n| 2 + n * 5 % 5, 1100);
    let back = send_frames(33_333, 20, SERVER, |n| 2 + n * 3 % 4, 1050);
    assert_eq!(classify_udp(&[there.clone(), back]), FlowClass::VideoCall);
    let reports = send_every(500_000, 20, SERVER, |_| 80);
    assert_eq!(classify_udp(&[add_jitter(there.clone(), 2), reports]), FlowClass::VideoCall);
    assert_ne!(classify_udp(std::slice::from_ref(&there)), FlowClass::VideoCall, "nothing comes back");
    let bundled =
        [with_head(send_frames(33_333, 20, CLIENT, |_| 2, 900), RTP), send_call(CLIENT), send_call(SERVER)];
    assert_eq!(classify_udp(&bundled), FlowClass::VideoCall, "sound and pictures share the flow");
    let backup = send_frames(33_333, 20, CLIENT, |_| 60, 1400);
    assert_eq!(
        classify_udp(&[backup, send_every(20_000, 20, SERVER, |_| 30)]),
        FlowClass::Transfer,
        "20 Mbit/s"
    );
}

/// Returns chunks of `bytes` from the server, one every `pause_s`.
fn send_chunks(count: i64, bytes: u32, pause_s: i64) -> Vec<Packet> {
    let chunk = |n: i64| {
        (0..i64::from(bytes / 1400))
            .map(move |k| (n * pause_s * 1000 * MS + k * MS / 10, SERVER, 1400, Vec::new()))
    };
    (0..count).flat_map(chunk).collect()
}

#[test]
fn stream__of_chunks_with_pauses() {
    let asked = |count: i64, pause| -> Vec<Packet> {
        (0..count).map(|n| (n * pause * 1000 * MS, CLIENT, 400, Vec::new())).collect()
    };
    assert_eq!(classify_tcp(&[asked(5, 4), send_chunks(5, 700_000, 4)]), FlowClass::Stream);
    assert_ne!(classify_tcp(&[asked(2, 4), send_chunks(2, 700_000, 4)]), FlowClass::Stream, "two chunks");
    assert_eq!(classify_tcp(&[asked(5, 4), send_chunks(5, 40_000, 4)]), FlowClass::Page, "a page that polls");
}

#[test]
fn transfer__of_much_for_few_requests() {
    let request = vec![(0, CLIENT, 300, Vec::new())];
    assert_eq!(classify_tcp(&[request.clone(), send_chunks(1, 5_000_000, 1)]), FlowClass::Transfer);
    assert_eq!(classify_tcp(&[request.clone(), send_chunks(1, 90_000, 1)]), FlowClass::Page);
    let requests = (0..40).map(|n| (n * 20 * MS, CLIENT, 300, Vec::new())).collect();
    assert_eq!(
        classify_tcp(&[requests, send_chunks(1, 2_000_000, 1)]),
        FlowClass::Page,
        "objects of a page over one connection"
    );
    let upload: Vec<Packet> = send_every(1000, 2, CLIENT, |_| 1400);
    assert_eq!(classify_tcp(&[upload, vec![(2000 * MS, SERVER, 200, Vec::new())]]), FlowClass::Transfer);
    let quic = with_head(send_every(10_000, 3, SERVER, |_| 1205), &[0xc0, 0, 0, 0, 1, 8]);
    let acknowledged = [quic, send_every(20_000, 3, CLIENT, |_| 40)];
    assert_eq!(classify(&observe_shape(Protocol::Quic, [50_001, 8443], &acknowledged)), FlowClass::Transfer);
}

#[test]
fn login__of_keystrokes_with_echoes() {
    let at = |n: i64| (n * 180 + n / 8 * 2500) * MS;
    let keys: Vec<Packet> = (0..80).map(|n| (at(n), CLIENT, 36, Vec::new())).collect();
    let echoes: Vec<Packet> =
        (0..80).map(|n| (at(n) + 40 * MS, SERVER, 36 + 80 * u32::from(n % 8 == 7), Vec::new())).collect();
    assert_eq!(classify_tcp(&[keys, echoes]), FlowClass::Login);
    let pings = |side, later: i64| -> Vec<Packet> {
        (0..80).map(|n| (n * 5000 * MS + later, side, 40, Vec::new())).collect()
    };
    assert_eq!(
        classify_tcp(&[pings(CLIENT, 0), pings(SERVER, 40 * MS)]),
        FlowClass::Page,
        "signs of life, one by one"
    );
}

#[test]
fn dns__by_its_header_on_any_port() {
    let query = vec![(0, CLIENT, 40, vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])];
    let answer = |id: u8| vec![(20 * MS, SERVER, 90, vec![7, id, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0])];
    assert_eq!(classify_udp(&[query.clone(), answer(9)]), FlowClass::Dns);
    assert_eq!(classify_udp(&[query.clone(), answer(8)]), FlowClass::Other, "the answer has another id");
    let over_tcp = |packets: &[Packet]| -> Vec<Packet> {
        let framed = |(at, side, payload, head): &Packet| {
            (*at, *side, payload + 2, [&[0, *payload as u8], &head[..]].concat())
        };
        packets.iter().map(framed).collect()
    };
    assert_eq!(classify_tcp(&[over_tcp(&query), over_tcp(&answer(9))]), FlowClass::Dns);
    let unseen = observe_shape(Protocol::Udp, [50_000, 53], &[send_every(1_000_000, 2, CLIENT, |_| 40)]);
    assert_eq!(classify(&unseen), FlowClass::Dns, "by its port, as nothing was captured");
    let tunnel = observe_shape(Protocol::Udp, [50_000, 53], &[send_every(1000, 2, SERVER, |_| 1200)]);
    assert_eq!(classify(&tunnel), FlowClass::Transfer, "no look-up of names has megabytes");
}

#[test]
fn vpn__by_first_bytes_or_protocol() {
    let handshake = [vec![(0, CLIENT, 148, vec![1, 0, 0, 0])], vec![(30 * MS, SERVER, 92, vec![2, 0, 0, 0])]];
    assert_eq!(classify_udp(&handshake), FlowClass::Vpn, "WireGuard");
    assert_eq!(
        classify_udp(&[vec![(0, CLIENT, 149, vec![1, 0, 0, 0])]]),
        FlowClass::Other,
        "of another length"
    );
    let data = with_head(send_every(1000, 3, SERVER, |_| 1400), &[4, 0, 0, 0, 9]);
    assert_eq!(classify_udp(std::slice::from_ref(&data)), FlowClass::Vpn, "WireGuard, from its middle");
    let stranger = vec![(5 * MS, CLIENT, 60, vec![5, 0, 0, 0])];
    assert_eq!(classify_udp(&[data, stranger]), FlowClass::Transfer, "one packet is none of WireGuard's");
    let opened = |client: u8, server: u8| {
        [vec![(0, CLIENT, 14, vec![client << 3; 12])], vec![(30 * MS, SERVER, 26, vec![server << 3; 12])]]
    };
    assert_eq!(classify_udp(&opened(7, 8)), FlowClass::Vpn, "OpenVPN");
    assert_eq!(classify_udp(&opened(7, 4)), FlowClass::Other);
    for (number, class) in [(50, FlowClass::Vpn), (51, FlowClass::Vpn), (89, FlowClass::Other)] {
        let flow = observe_shape(
            Protocol::Ip(number),
            [0, 0],
            &[send_every(20_000, 20, CLIENT, |_| 160), send_every(20_000, 20, SERVER, |_| 160)],
        );
        assert_eq!(classify(&flow), class, "IP protocol {number}");
    }
    assert_eq!(
        classify(&observe_shape(Protocol::Udp, [4500, 4500], &[send_call(CLIENT)])),
        FlowClass::Vpn,
        "IPsec in UDP"
    );
}

#[test]
fn totals__of_logs() {
    let of = |protocol, seconds: u64, up, down| {
        classify(&FlowShape::from_totals(
            protocol,
            [50_000, 9000],
            Some(Dur::from_millis(seconds * 1000)),
            [up, down],
        ))
    };
    let counted = |packets: u64, mean: u64| (Some(packets), packets * mean);
    assert_eq!(of(Protocol::Udp, 60, counted(3000, 172), counted(2990, 172)), FlowClass::Call);
    assert_eq!(of(Protocol::Udp, 60, counted(3600, 60), counted(1200, 140)), FlowClass::Game);
    assert_eq!(of(Protocol::Udp, 60, counted(6000, 900), counted(5000, 850)), FlowClass::VideoCall);
    assert_eq!(of(Protocol::Udp, 60, counted(40, 60), counted(40, 60)), FlowClass::Other);
    assert_eq!(of(Protocol::Tcp, 300, counted(400, 30), counted(400, 50)), FlowClass::Login);
    assert_eq!(of(Protocol::Tcp, 3, (None, 0), (None, 20_000)), FlowClass::Page);
    assert_eq!(of(Protocol::Tcp, 3, counted(500, 1), counted(900, 1400)), FlowClass::Transfer);
    assert_eq!(of(Protocol::Tcp, 0, (None, 300), (None, 0)), FlowClass::Other, "no answer");
}

#[test]
fn names__are_taken_back() {
    for class in FlowClass::ALL {
        assert_eq!(FlowClass::parse("class", class.name()), Ok(class));
        assert_eq!(FlowClass::ALL[class as usize], class);
    }
}

/// Generates flows of random packets, or of both sides at a constant rate with jitter.
fn any_packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0i64..40_000_000_000, 0usize..2, 1u32..1400, prop::collection::vec(any::<u8>(), 0..16));
    prop_oneof![
        prop::collection::vec(packet, 1..400),
        (1i64..60, 1u32..400, 0i64..20).prop_map(|(gap, size, jitter)| {
            let side = |side| add_jitter(send_every(gap * 1000, 8, side, |n| 1 + n % size), jitter);
            [side(CLIENT), side(SERVER)].concat()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The class of a flow does not depend on the time of day.
    #[test]
    fn classify__does_not_depend_on_the_clock(packets in any_packets(), shift in -4_000_000_000_000_000_000i64..4_000_000_000_000_000_000) {
        let moved: Vec<Packet> = packets.iter().map(|(at, side, payload, head)| (at + shift, *side, *payload, head.clone())).collect();
        for protocol in [Protocol::Tcp, Protocol::Udp, Protocol::Quic] {
            let of = |packets: &[Packet]| observe_shape(protocol, [50_000, 50_001], &[packets.to_vec()]);
            prop_assert_eq!(classify(&of(&packets)), classify(&of(&moved)));
        }
    }

    /// The reader may see either end first.
    #[test]
    fn shape__does_not_depend_on_which_side_is_which(packets in any_packets()) {
        let observe = |turn: usize| {
            let mut observed = Observed::default();
            packets.iter().for_each(|(at, side, payload, head)| observed.add(*at, side ^ turn, head::Head::new(*payload, head)));
            observed.shape(Protocol::Udp, turn, [50_000, 50_001], [&[], &[]])
        };
        prop_assert_eq!(observe(0), observe(1));
    }
}
