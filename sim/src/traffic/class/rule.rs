//! The rule: which class a shape is. Every threshold stands here once, with its source, or as a reading: a choice of
//! ours between what is published and what captures hold.

use super::FlowClass;
use super::head::{is_ipsec_port, is_name_port};
use super::shape::{FlowShape, Protocol, Rhythm, Way};
use crate::units::Dur;
use std::ops::RangeInclusive;

/// A packet with less payload is small. G.711 has 172 B at 20 ms (RFC 3551 section 4.5.14 and RTP's 12 B), and 252 B
/// at 30 ms; game servers send 130 B on average (Feng et al. 2002). Reading: the round number above.
pub const SMALL_BYTES: u32 = 300;
/// At most the payload of a keystroke or its echo. A packet of SSH with one character has 36 to 52 B by RFC 4253
/// section 6 and the ciphers in use. Reading: room for an escape sequence or a short line.
pub const TINY_BYTES: u32 = 128;
/// A larger write is a chunk of a stream. Streaming sends blocks of 64 kB to 2.5 MB and more between its pauses (Rao et
/// al., CoNEXT 2011). Reading.
pub const CHUNK_BYTES: u64 = 100_000;
/// A stream's sender pauses for so long between chunks. Segments of HLS last 6 s by custom (RFC 8216 has them named by
/// whole seconds). Reading.
pub const CHUNK_PAUSE: Dur = Dur::from_millis(1000);
/// Packets closer to each other belong to one frame: half the interval of 60 frames a second. Reading.
pub const WITHIN_FRAME: Dur = Dur::from_millis(8);

/// Packets of a direction that must be seen before its rhythm counts: a second of G.711 at 20 ms. Reading.
const LEAST_PACKETS: u64 = 50;
/// What is shorter has no steady state. Reading.
const LEAST_DURATION: Dur = Dur::from_millis(2000);
/// Share of small packets in a direction of calls and games. Reading: a server sends a whole picture of the game at
/// times.
const SMALL_SHARE: f64 = 0.8;
/// Share of packets that begin as RTP does, from which a flow is RTP; STUN, RTCP and DTLS share its ports (RFC 7983).
/// Reading.
const RTP_SHARE: f64 = 0.8;

/// Frame lengths of codecs, ms: 20 by default, and whole multiples of 10 (RFC 3551 section 4.2); Opus has 10, 20, 40
/// and 60 (RFC 6716 section 2.1.4).
const CODEC_MS: [u32; 5] = [10, 20, 30, 40, 60];
/// Bounds of the median gap of sound: the shortest and longest of [`CODEC_MS`], with jitter. Reading.
const SOUND_GAP_MS: RangeInclusive<u32> = 8..=65;
/// A median so near to a codec's frame is one. Reading.
const CODEC_NEAR_MS: u32 = 1;
/// Share of gaps near the median. A call with silence suppression has as many long gaps as talk spurts, which last a
/// second (ITU-T P.59), that is one in fifty packets; the rest is jitter. Reading.
const SOUND_STEADY: f64 = 0.6;
/// Without RTP, sound has sizes within this share of their median. Reading.
const SOUND_SIZES: f64 = 0.25;

/// Packets a second of a game. Servers send every 50 ms and clients somewhat more often (Feng et al. 2002); the
/// fastest servers of today have 128 ticks a second. Reading: half of the former to the latter.
const GAME_RATE: RangeInclusive<f64> = 10.0..=130.0;
/// Share of gaps near the median in one direction at least. Reading.
const GAME_STEADY: f64 = 0.5;

/// Interval of frames, ms: 15 to 60 a second, with jitter. Reading.
const FRAME_MS: RangeInclusive<u32> = 12..=80;
/// Share of intervals near the median. Reading.
const FRAME_STEADY: f64 = 0.6;
/// Mean number of packets in a frame, the least. Reading.
const FRAME_PACKETS: f64 = 1.5;
/// Share of packets of a video call that are not small. Reading.
const LARGE_SHARE: f64 = 0.3;
/// The same of RTP, where sound may share the flow (RFC 8843). Reading.
const RTP_LARGE_SHARE: f64 = 0.2;
/// No video call is faster, bit/s. Reading: twice what conferencing programs ask for in full HD.
const VIDEO_MAX_BPS: f64 = 8e6;
/// Packets that must come back: reports of the receiver (RFC 3550 section 6). Reading.
const FEEDBACK_PACKETS: u64 = 10;

/// Chunks from which a flow is a stream. Reading.
const LEAST_CHUNKS: u32 = 3;
/// At least so much payload for each packet of requests is a transfer, and no page. A TLS connection sends three
/// packets or so before it asks for anything; objects of pages have tens of kilobytes. Reading.
const TRANSFER_PER_REQUEST: u64 = 100_000;
/// Share of small packets in a transfer, which fills its packets, at most. Reading.
const TRANSFER_SMALL_SHARE: f64 = 0.5;
/// A row of a log with so much payload is a transfer, since logs do not count requests. Reading.
const TRANSFER_BYTES: u64 = 1_000_000;

/// Packets of keystrokes and of echoes, the least. Reading.
const LEAST_KEYS: u64 = 20;
/// Share of the client's packets that are tiny, and of the server's. Reading.
const TINY_SHARE: [f64; 2] = [0.7, 0.5];
/// Keystrokes that follow each other within half a second, for each pause for thought: a program that only reports
/// now and then has one. People type with a mean gap of 1.1 s, pauses included (Danzig & Jamin's tcplib, by Paxson &
/// Floyd 1995). Reading.
const KEYS_PER_PAUSE: f64 = 2.0;
/// Packets from the server for each one from the client. Reading.
const ECHOES: RangeInclusive<f64> = 0.4..=4.0;
/// Keystrokes a second where a log has only totals. Reading.
const KEY_RATE: RangeInclusive<f64> = 0.2..=10.0;

/// Directions of a call in a log differ by at most this share in rate and size. Reading.
const ALIKE: f64 = 0.2;
/// Mean payload of video's packets in a log, the least. Reading.
const VIDEO_MEAN_BYTES: f64 = 400.0;
/// Share of the payload that comes back in a log's row of a video call. Reading.
const VIDEO_BACK: f64 = 0.1;

/// The longest message of DNS (RFC 1035 section 4.2.2); a flow to a port of names that carries more is judged by what
/// it does.
const NAME_BYTES: u64 = 65_535;

/// Returns the class of a flow.
pub fn classify(flow: &FlowShape) -> FlowClass {
    if let Some(named) = flow.named {
        return named;
    }
    let of_ports = |is_port: fn(u16) -> bool| flow.ports.into_iter().any(is_port);
    match flow.protocol {
        Protocol::Ip(50 | 51) => return FlowClass::Vpn,
        Protocol::Ip(_) => return FlowClass::Other,
        Protocol::Udp if of_ports(is_ipsec_port) => return FlowClass::Vpn,
        _ if of_ports(is_name_port) && most_bytes(flow) <= NAME_BYTES => return FlowClass::Dns,
        _ => {}
    }
    let by_rhythm = if flow.is_totals { of_totals(flow) } else { of_rhythm(flow) };
    by_rhythm.unwrap_or_else(|| of_amounts(flow))
}

/// Returns the class that the times of packets show.
fn of_rhythm(flow: &FlowShape) -> Option<FlowClass> {
    let is_long = flow.protocol != Protocol::Quic && flow.duration >= LEAST_DURATION;
    let rules: [(bool, FlowClass); 4] = [
        (is_long && is_video_call(flow), FlowClass::VideoCall),
        (is_long && is_call(flow), FlowClass::Call),
        (is_long && is_game(flow), FlowClass::Game),
        (flow.protocol == Protocol::Tcp && is_login(flow), FlowClass::Login),
    ];
    rules.into_iter().find(|(holds, _)| *holds).map(|(_, class)| class)
}

fn is_call(flow: &FlowShape) -> bool {
    let is_rtp = flow.rtp_share >= RTP_SHARE;
    let is_sound = |(way, rhythm): (&Way, Rhythm)| {
        is_small(way)
            && SOUND_GAP_MS.contains(&rhythm.gap_p50_ms)
            && rhythm.steady >= SOUND_STEADY
            && (is_rtp || is_codec(&rhythm))
    };
    let mut ways = rhythmic(flow).peekable();
    ways.peek().is_some() && ways.all(is_sound)
}

/// Returns the directions that have packets enough, with their rhythm.
fn rhythmic(flow: &FlowShape) -> impl Iterator<Item = (&Way, Rhythm)> {
    let enough = |way: &&Way| packets(way) >= LEAST_PACKETS;
    flow.ways.iter().filter(enough).filter_map(|way| way.rhythm.map(|rhythm| (way, rhythm)))
}

/// Returns whether gaps and sizes are those of a codec.
fn is_codec(rhythm: &Rhythm) -> bool {
    let [low, middle, high] = rhythm.sizes;
    CODEC_MS.iter().any(|ms| ms.abs_diff(rhythm.gap_p50_ms) <= CODEC_NEAR_MS)
        && f64::from(high - low) <= (SOUND_SIZES * f64::from(middle)).max(16.0)
}

fn is_game(flow: &FlowShape) -> bool {
    let is_player =
        |way: &Way| packets(way) >= LEAST_PACKETS && is_small(way) && GAME_RATE.contains(&rate(way, flow));
    flow.ways.iter().all(is_player) && rhythmic(flow).any(|(_, rhythm)| rhythm.steady >= GAME_STEADY)
}

fn is_video_call(flow: &FlowShape) -> bool {
    let is_rtp = flow.rtp_share >= RTP_SHARE;
    let has_pictures = |(way, rhythm): (&Way, Rhythm)| {
        let large = 1.0 - share(way.small, packets(way));
        let frames = rhythm.frames;
        let is_framed = frames.packets >= FRAME_PACKETS
            && FRAME_MS.contains(&frames.interval_p50_ms)
            && frames.steady >= FRAME_STEADY;
        bits_per_second(way, flow) <= VIDEO_MAX_BPS
            && (large >= LARGE_SHARE && is_framed || is_rtp && large >= RTP_LARGE_SHARE)
    };
    flow.protocol == Protocol::Udp
        && flow.ways.iter().all(|way| packets(way) >= FEEDBACK_PACKETS)
        && rhythmic(flow).any(has_pictures)
}

fn is_login(flow: &FlowShape) -> bool {
    let [client, server] = &flow.ways;
    let are_tiny = flow
        .ways
        .iter()
        .zip(TINY_SHARE)
        .all(|(way, least)| packets(way) >= LEAST_KEYS && share(way.tiny, packets(way)) >= least);
    let keys_per_pause = packets(client) as f64 / f64::from(client.pauses.max(1));
    are_tiny
        && client.pauses > 0
        && keys_per_pause >= KEYS_PER_PAUSE
        && ECHOES.contains(&share(packets(server), packets(client)))
}

/// Returns the class that the totals of a log show.
fn of_totals(flow: &FlowShape) -> Option<FlowClass> {
    let are_counted = flow.ways.iter().all(|way| packets(way) >= LEAST_PACKETS);
    if !are_counted || flow.duration < LEAST_DURATION {
        return None;
    }
    let [up, down] = flow.ways.each_ref().map(|way| (rate(way, flow), mean_bytes(way)));
    let are_small = up.1.max(down.1) < f64::from(SMALL_BYTES);
    let within = |range: &RangeInclusive<f64>| range.contains(&up.0) && range.contains(&down.0);
    match flow.protocol {
        Protocol::Udp if are_small && within(&GAME_RATE) => {
            let is_same = are_alike(up.0, down.0) && are_alike(up.1, down.1);
            Some(if is_same { FlowClass::Call } else { FlowClass::Game })
        }
        Protocol::Udp if is_video_total(flow) => Some(FlowClass::VideoCall),
        Protocol::Tcp if up.1.max(down.1) <= f64::from(TINY_BYTES) && within(&KEY_RATE) => {
            Some(FlowClass::Login)
        }
        _ => None,
    }
}

fn is_video_total(flow: &FlowShape) -> bool {
    let [up, down] = &flow.ways;
    let (more, less) = if up.bytes > down.bytes { (up, down) } else { (down, up) };
    let is_framed = rate(more, flow) >= FRAME_PACKETS * 15.0 && mean_bytes(more) >= VIDEO_MEAN_BYTES;
    is_framed && bits_per_second(more, flow) <= VIDEO_MAX_BPS && share(less.bytes, more.bytes) >= VIDEO_BACK
}

fn are_alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= ALIKE * a.max(b)
}

/// Returns the class by the amounts that went each way.
fn of_amounts(flow: &FlowShape) -> FlowClass {
    let is_reliable = matches!(flow.protocol, Protocol::Tcp | Protocol::Quic);
    if is_reliable && flow.ways.iter().any(|way| way.chunks >= LEAST_CHUNKS) {
        return FlowClass::Stream;
    }
    if is_transfer(flow) {
        return FlowClass::Transfer;
    }
    if is_reliable && flow.ways[1].bytes > 0 { FlowClass::Page } else { FlowClass::Other }
}

fn is_transfer(flow: &FlowShape) -> bool {
    if flow.is_totals {
        return most_bytes(flow) >= TRANSFER_BYTES;
    }
    let [up, down] = &flow.ways;
    let (more, asking) = if up.bytes > down.bytes { (up, down) } else { (down, up) };
    // Acknowledgements of QUIC and of other protocols over UDP are tiny datagrams.
    let acknowledgements = if flow.protocol == Protocol::Tcp { 0 } else { asking.tiny };
    let requests = (packets(asking) - acknowledgements).max(1);
    share(more.small, packets(more)) <= TRANSFER_SMALL_SHARE
        && more.bytes >= requests.saturating_mul(TRANSFER_PER_REQUEST)
}

fn is_small(way: &Way) -> bool {
    share(way.small, packets(way)) >= SMALL_SHARE
}

fn packets(way: &Way) -> u64 {
    way.packets.unwrap_or(0)
}

fn rate(way: &Way, flow: &FlowShape) -> f64 {
    packets(way) as f64 / flow.duration.as_secs().max(1e-9)
}

fn bits_per_second(way: &Way, flow: &FlowShape) -> f64 {
    8.0 * way.bytes as f64 / flow.duration.as_secs().max(1e-9)
}

fn mean_bytes(way: &Way) -> f64 {
    share(way.bytes, packets(way))
}

fn most_bytes(flow: &FlowShape) -> u64 {
    flow.ways[0].bytes.max(flow.ways[1].bytes)
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
