//! The rule that finds the class of a flow from its shape.

use super::FlowClass;
use super::head::Protocol;
use super::head::{is_ipsec_port, is_name_port};
use super::shape::{FlowShape, Rhythm, Way};
use super::thresholds::*;
use std::ops::RangeInclusive;

/// Returns the class of a flow: the class that was proved, else the first whose rule holds, in the order protocol,
/// ports, rhythm, amounts; [`FlowClass::Other`] if none does.
pub fn classify(flow: &FlowShape) -> FlowClass {
    if let Some(named) = flow.named {
        return named;
    }
    let of_ports = |is_port: fn(u16) -> bool| flow.ports.into_iter().any(is_port);
    match flow.protocol {
        Protocol::Ip(50 | 51) => return FlowClass::Vpn,
        Protocol::Ip(_) => return FlowClass::Other,
        Protocol::Udp if of_ports(is_ipsec_port) => return FlowClass::Vpn,
        _ if of_ports(is_name_port) && larger_bytes(flow) <= NAME_BYTES => return FlowClass::Dns,
        _ => {}
    }
    let by_rhythm = if flow.is_totals { classify_by_totals(flow) } else { classify_by_rhythm(flow) };
    by_rhythm.unwrap_or_else(|| classify_by_amounts(flow))
}

/// Returns the class that the times of packets show; `None` if they show none.
fn classify_by_rhythm(flow: &FlowShape) -> Option<FlowClass> {
    let is_long = flow.protocol != Protocol::Quic && flow.duration >= LEAST_DURATION;
    let rules: [(bool, FlowClass); 4] = [
        (is_long && is_video_call(flow), FlowClass::VideoCall),
        (is_long && is_call(flow), FlowClass::Call),
        (is_long && is_game(flow), FlowClass::Game),
        (flow.protocol == Protocol::Tcp && is_login(flow), FlowClass::Login),
    ];
    rules.into_iter().find(|(holds, _)| *holds).map(|(_, class)| class)
}

/// Returns whether a flow is a call: small packets at the steady interval of a codec.
fn is_call(flow: &FlowShape) -> bool {
    let is_rtp = flow.rtp_share >= RTP_SHARE;
    let is_sound = |(way, rhythm): (&Way, Rhythm)| {
        is_small(way)
            && SOUND_GAP_MS.contains(&rhythm.gap_p50_ms)
            && rhythm.steady >= SOUND_STEADY
            && (is_rtp || is_codec(&rhythm))
    };
    let mut ways = find_rhythms(flow).peekable();
    ways.peek().is_some() && ways.all(is_sound)
}

/// Returns the directions that have enough packets, with their rhythm.
fn find_rhythms(flow: &FlowShape) -> impl Iterator<Item = (&Way, Rhythm)> {
    let enough = |way: &&Way| packets(way) >= LEAST_PACKETS;
    flow.ways.iter().filter(enough).filter_map(|way| way.rhythm.map(|rhythm| (way, rhythm)))
}

/// Returns whether gaps and sizes are those of a codec.
fn is_codec(rhythm: &Rhythm) -> bool {
    let [low, middle, high] = rhythm.sizes;
    CODEC_MS.iter().any(|ms| ms.abs_diff(rhythm.gap_p50_ms) <= CODEC_NEAR_MS)
        && f64::from(high - low) <= (SOUND_SIZES * f64::from(middle)).max(16.0)
}

/// Returns whether a flow is a game: small packets both ways at a player's rate, one way steady.
fn is_game(flow: &FlowShape) -> bool {
    let is_player = |way: &Way| {
        packets(way) >= LEAST_PACKETS && is_small(way) && GAME_RATE.contains(&packet_rate(way, flow))
    };
    flow.ways.iter().all(is_player) && find_rhythms(flow).any(|(_, rhythm)| rhythm.steady >= GAME_STEADY)
}

/// Returns whether a flow is a video call: large packets in frames at a steady rate.
fn is_video_call(flow: &FlowShape) -> bool {
    let is_rtp = flow.rtp_share >= RTP_SHARE;
    let has_pictures = |(way, rhythm): (&Way, Rhythm)| {
        let large = 1.0 - compute_share(way.small, packets(way));
        let frames = rhythm.frames;
        let is_framed = frames.packets >= FRAME_PACKETS
            && FRAME_MS.contains(&frames.interval_p50_ms)
            && frames.steady >= FRAME_STEADY;
        bits_per_second(way, flow) <= VIDEO_MAX_BPS
            && (large >= LARGE_SHARE && is_framed || is_rtp && large >= RTP_LARGE_SHARE)
    };
    flow.protocol == Protocol::Udp
        && flow.ways.iter().all(|way| packets(way) >= FEEDBACK_PACKETS)
        && find_rhythms(flow).any(has_pictures)
}

/// Returns whether a flow is a remote login: tiny packets both ways, with the pauses of typing.
fn is_login(flow: &FlowShape) -> bool {
    let [client, server] = &flow.ways;
    let are_tiny = flow
        .ways
        .iter()
        .zip(TINY_SHARE)
        .all(|(way, least)| packets(way) >= LEAST_KEYS && compute_share(way.tiny, packets(way)) >= least);
    let keys_per_pause = packets(client) as f64 / f64::from(client.pauses.max(1));
    are_tiny
        && client.pauses > 0
        && keys_per_pause >= KEYS_PER_PAUSE
        && ECHOES.contains(&compute_share(packets(server), packets(client)))
}

/// Returns the class that the totals of a log show; `None` if they show none.
fn classify_by_totals(flow: &FlowShape) -> Option<FlowClass> {
    let are_counted = flow.ways.iter().all(|way| packets(way) >= LEAST_PACKETS);
    if !are_counted || flow.duration < LEAST_DURATION {
        return None;
    }
    let [up, down] = flow.ways.each_ref().map(|way| (packet_rate(way, flow), mean_bytes(way)));
    let are_small = up.1.max(down.1) < f64::from(SMALL_BYTES);
    let within = |range: &RangeInclusive<f64>| range.contains(&up.0) && range.contains(&down.0);
    match flow.protocol {
        Protocol::Udp if are_small && within(&GAME_RATE) => {
            let is_same = are_alike(up.0, down.0) && are_alike(up.1, down.1);
            Some(if is_same { FlowClass::Call } else { FlowClass::Game })
        }
        Protocol::Udp if is_video_call_by_totals(flow) => Some(FlowClass::VideoCall),
        Protocol::Tcp if up.1.max(down.1) <= f64::from(TINY_BYTES) && within(&KEY_RATE) => {
            Some(FlowClass::Login)
        }
        _ => None,
    }
}

/// Returns whether the totals of a UDP flow are those of a video call.
///
/// The direction with more bytes needs [`FRAME_PACKETS`] packets per frame at [`LEAST_FRAMES`] frames a second, a mean
/// payload of [`VIDEO_MEAN_BYTES`], and at most [`VIDEO_MAX_BPS`]. The other must carry the share [`VIDEO_BACK`] of its
/// bytes. The caller checks protocol, duration and that packets are counted.
fn is_video_call_by_totals(flow: &FlowShape) -> bool {
    let [up, down] = &flow.ways;
    let (more, less) = if up.bytes > down.bytes { (up, down) } else { (down, up) };
    let is_framed =
        packet_rate(more, flow) >= FRAME_PACKETS * LEAST_FRAMES && mean_bytes(more) >= VIDEO_MEAN_BYTES;
    is_framed
        && bits_per_second(more, flow) <= VIDEO_MAX_BPS
        && compute_share(less.bytes, more.bytes) >= VIDEO_BACK
}

/// Returns whether two values differ by at most the share [`ALIKE`] of the larger.
fn are_alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= ALIKE * a.max(b)
}

/// Returns the class by the amounts that went each way.
fn classify_by_amounts(flow: &FlowShape) -> FlowClass {
    let is_reliable = matches!(flow.protocol, Protocol::Tcp | Protocol::Quic);
    if is_reliable && flow.ways.iter().any(|way| way.chunks >= LEAST_CHUNKS) {
        return FlowClass::Stream;
    }
    if is_transfer(flow) {
        return FlowClass::Transfer;
    }
    if is_reliable && flow.ways[1].bytes > 0 { FlowClass::Page } else { FlowClass::Other }
}

/// Returns whether a flow is a bulk transfer: enough bytes, in large packets, for each request of the other
/// side.
fn is_transfer(flow: &FlowShape) -> bool {
    if flow.is_totals {
        return larger_bytes(flow) >= TRANSFER_BYTES;
    }
    let [up, down] = &flow.ways;
    let (more, asking) = if up.bytes > down.bytes { (up, down) } else { (down, up) };
    // Acknowledgements of QUIC and of other protocols over UDP are tiny datagrams.
    let acknowledgements = if flow.protocol == Protocol::Tcp { 0 } else { asking.tiny };
    let requests = (packets(asking) - acknowledgements).max(1);
    compute_share(more.small, packets(more)) <= TRANSFER_SMALL_SHARE
        && more.bytes >= requests.saturating_mul(TRANSFER_PER_REQUEST)
}

/// Returns whether most packets of a direction are small.
fn is_small(way: &Way) -> bool {
    compute_share(way.small, packets(way)) >= SMALL_SHARE
}

/// Returns the packets with payload in a direction; 0 if the source does not count them.
fn packets(way: &Way) -> u64 {
    way.packets.unwrap_or(0)
}

/// Returns the packets per second in a direction; a flow without duration counts as one nanosecond long.
fn packet_rate(way: &Way, flow: &FlowShape) -> f64 {
    packets(way) as f64 / flow.duration.as_secs().max(1e-9)
}

/// Returns the payload rate of a direction, bit/s; a flow without duration counts as one nanosecond long.
fn bits_per_second(way: &Way, flow: &FlowShape) -> f64 {
    8.0 * way.bytes as f64 / flow.duration.as_secs().max(1e-9)
}

/// Returns the mean payload of a direction's packets, bytes; all its bytes if packets are not counted.
fn mean_bytes(way: &Way) -> f64 {
    compute_share(way.bytes, packets(way))
}

/// Returns the payload of the direction with more, bytes.
fn larger_bytes(flow: &FlowShape) -> u64 {
    flow.ways[0].bytes.max(flow.ways[1].bytes)
}

/// Returns `part / whole`; a whole of 0 counts as 1.
fn compute_share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
