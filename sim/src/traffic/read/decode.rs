//! Decodes a captured frame into the few fields that matter. Lengths are those on the wire, even if the
//! capture kept only the headers.

use etherparse::{IpNumber, LaxIpSlice};
use std::net::IpAddr;

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub host: IpAddr,
    pub port: u16,
}

/// A TCP segment or UDP datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Time stamp, nanoseconds.
    pub at: i64,
    pub from: Endpoint,
    pub to: Endpoint,
    /// Payload bytes by the length fields, even if fewer were captured.
    pub payload: u32,
    /// TCP's fields; `None` for UDP.
    pub tcp: Option<Tcp>,
}

/// The part of a TCP header that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
}

impl Tcp {
    pub const FIN: u8 = 0x01;
    pub const SYN: u8 = 0x02;
    pub const RST: u8 = 0x04;
    pub const ACK: u8 = 0x10;

    /// Returns whether all of `flags` are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// What became of a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    Segment(Segment),
    NotIp,
    OtherProtocol(u32),
    Fragment(u32),
    /// The frame contradicts itself, or was cut before the fields that are needed.
    Fault(String),
}

/// Reads one frame of `link_type` (the numbers of the tcpdump.org registry) that was `orig_len` bytes
/// on the wire.
pub fn decode(link_type: u32, frame: &[u8], orig_len: u32, at: i64) -> Decoded {
    let Some(offset) = ip_offset(link_type, frame) else { return Decoded::NotIp };
    let ip = &frame[offset..];
    let version = ip.first().map_or(0, |byte| byte >> 4);
    if version != 4 && version != 6 {
        return Decoded::NotIp;
    }
    match LaxIpSlice::from_slice(ip) {
        Ok((slice, _)) => transport(&slice, ip, orig_len.saturating_sub(offset as u32), at),
        Err(error) => Decoded::Fault(format!("damaged IP header ({error})")),
    }
}

fn transport(slice: &LaxIpSlice, ip: &[u8], ip_orig_len: u32, at: i64) -> Decoded {
    let payload = slice.payload();
    let headers = (payload.payload.as_ptr() as usize - ip.as_ptr() as usize) as u32;
    let Some(len) = ip_length(slice, ip_orig_len).checked_sub(headers) else {
        return Decoded::Fault("IP length is shorter than the IP headers".to_string());
    };
    if payload.fragmented {
        return Decoded::Fragment(len);
    }
    let (from, to) = (slice.source_addr(), slice.destination_addr());
    match payload.ip_number {
        IpNumber::TCP => tcp(payload.payload, len, from, to, at),
        IpNumber::UDP => udp(payload.payload, len, from, to, at),
        _ => Decoded::OtherProtocol(len),
    }
}

/// Returns the length in the IP header. Where that field is zero (segmentation offload, jumbograms), it
/// returns the length on the wire.
fn ip_length(slice: &LaxIpSlice, ip_orig_len: u32) -> u32 {
    let field = match slice {
        LaxIpSlice::Ipv4(ip) => u32::from(ip.header().total_len()),
        LaxIpSlice::Ipv6(ip) if ip.header().payload_length() == 0 => 0,
        LaxIpSlice::Ipv6(ip) => 40 + u32::from(ip.header().payload_length()),
    };
    if field == 0 { ip_orig_len } else { field }
}

fn tcp(header: &[u8], len: u32, from: IpAddr, to: IpAddr, at: i64) -> Decoded {
    // Ports to flags: all that is needed, so a capture may cut the rest.
    let Some(fixed) = header.first_chunk::<14>() else {
        return Decoded::Fault("cut before the end of the TCP header".to_string());
    };
    let header_len = u32::from(fixed[12] >> 4) * 4;
    let Some(payload) = len.checked_sub(header_len).filter(|_| header_len >= 20) else {
        return Decoded::Fault(format!("TCP header of {header_len} bytes in {len} bytes of IP payload"));
    };
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let tcp = Tcp { seq: word(4), ack: word(8), flags: fixed[13] };
    let (from, to) = endpoints(fixed, from, to);
    Decoded::Segment(Segment { at, from, to, payload, tcp: Some(tcp) })
}

fn udp(header: &[u8], len: u32, from: IpAddr, to: IpAddr, at: i64) -> Decoded {
    let Some(fixed) = header.first_chunk::<8>() else {
        return Decoded::Fault("cut before the end of the UDP header".to_string());
    };
    let field = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let payload = if field >= 8 { field.min(len.max(8)) - 8 } else { len.saturating_sub(8) };
    let (from, to) = endpoints(fixed, from, to);
    Decoded::Segment(Segment { at, from, to, payload, tcp: None })
}

fn endpoints(header: &[u8], from: IpAddr, to: IpAddr) -> (Endpoint, Endpoint) {
    let port = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    (Endpoint { host: from, port: port(0) }, Endpoint { host: to, port: port(2) })
}

const ETHERNET: u32 = 1;
const LOOPBACKS: [u32; 2] = [0, 108];
const RAW_IP: [u32; 5] = [12, 14, 101, 228, 229];
const LINUX_SLL: u32 = 113;
const LINUX_SLL2: u32 = 276;
const PPP_OVER_ETHERNET: u16 = 0x8864;

/// Returns whether frames of this link type can be read.
pub fn is_known_link(link_type: u32) -> bool {
    matches!(link_type, ETHERNET | LINUX_SLL | LINUX_SLL2)
        || LOOPBACKS.contains(&link_type)
        || RAW_IP.contains(&link_type)
}

/// Returns where the IP header begins; `None` when the frame holds no IP.
fn ip_offset(link_type: u32, frame: &[u8]) -> Option<usize> {
    let offset = match link_type {
        ETHERNET => after_ether_type(frame, 12)?,
        LINUX_SLL => after_ether_type(frame, 14)?,
        LINUX_SLL2 if is_ip(word(frame, 0)?) => 20,
        _ if LOOPBACKS.contains(&link_type) => 4,
        _ if RAW_IP.contains(&link_type) => 0,
        _ => return None,
    };
    (offset <= frame.len()).then_some(offset)
}

/// Follows VLAN tags (802.1Q, 802.1ad and its forerunner) and PPPoE.
fn after_ether_type(frame: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match word(frame, at)? {
            0x8100 | 0x88a8 | 0x9100 => at += 4,
            PPP_OVER_ETHERNET => return matches!(word(frame, at + 8)?, 0x0021 | 0x0057).then_some(at + 10),
            ether_type => return is_ip(ether_type).then_some(at + 2),
        }
    }
}

fn is_ip(ether_type: u16) -> bool {
    matches!(ether_type, 0x0800 | 0x86dd)
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
