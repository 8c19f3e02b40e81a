//! Decodes a captured frame into the few fields that are used, those of the innermost IP packet. Lengths are
//! those on the wire, even if the capture has only the headers.

use super::cursor::Cursor;
use super::ledger::reason;
use super::link;
use super::link::Layer;
use super::quic;
use super::reason::Reason;
use crate::traffic::class::head::Head;
use etherparse::{IpNumber, Ipv6FragmentHeaderSlice, LaxIpSlice, LaxIpv6Slice};
use std::net::{IpAddr, Ipv4Addr};

/// The most headers of a frame; deeper frames are crafted.
const MAX_HEADERS: usize = 24;
/// The longest segment that a host passes to its network card, bytes.
const MAX_OFFLOAD: u32 = 1 << 20;
/// Protocols other than TCP and UDP whose header begins with the ports of both ends.
const WITH_PORTS: [IpNumber; 3] = [IpNumber::SCTP, IpNumber::DCCP, IpNumber::UDP_LITE];

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub host: IpAddr,
    pub port: u16,
}

/// A TCP segment, a UDP datagram, or a packet of another protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Time stamp, nanoseconds.
    pub at: i64,
    pub from: Endpoint,
    pub to: Endpoint,
    /// Payload bytes by the length fields, even if fewer were captured; for a protocol that is not decoded, all bytes
    /// after the IP headers.
    pub payload: u32,
    /// Length of the innermost IP packet.
    pub ip_bytes: u32,
    /// Bytes of the whole frame on the wire.
    pub wire: u32,
    /// Bytes that the IP length claims beyond those on the wire; they are not counted as payload.
    pub overclaimed: u32,
    /// IP's protocol or next header.
    pub protocol: u8,
    /// TCP's fields; `None` for other protocols.
    pub tcp: Option<Tcp>,
    /// Whether a datagram looks like a packet of QUIC with a long header, with which every connection begins.
    pub is_quic: bool,
    /// The first bytes of the payload.
    pub head: Head,
    /// Identifies an interface of a capture, and the direction through it; 0 where the capture has only one.
    pub interface: u32,
}

/// The part of a TCP header that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// Bytes of the header.
    pub header: u8,
}

impl Tcp {
    pub const FIN: u8 = 0x01;
    pub const SYN: u8 = 0x02;
    pub const RST: u8 = 0x04;
    pub const ACK: u8 = 0x10;

    /// Returns the sequence number of the payload's first byte; a SYN takes a number before it.
    pub fn first_byte(&self) -> u32 {
        self.seq.wrapping_add(u32::from(self.has_flags(Tcp::SYN)))
    }

    /// Returns whether all of `flags` are set.
    pub fn has_flags(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// The result of decoding a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    Segment(Segment),
    FirstFragment(Box<FirstFragment>),
    LaterFragment(Box<LaterFragment>),
    /// The frame was understood and holds no segment.
    LeftOut(Reason),
    /// The frame contradicts itself.
    Fault(String),
}

/// The first part of a packet that IP divided.
#[derive(Debug, PartialEq, Eq)]
pub struct FirstFragment {
    pub of: Datagram,
    /// Its payload is that of this part, but that of the whole packet if it is a tunnel.
    pub segment: Segment,
    pub is_tunnel: bool,
}

/// Another part, without ports.
#[derive(Debug, PartialEq, Eq)]
pub struct LaterFragment {
    pub of: Datagram,
    /// Its offset within the packet's payload, bytes.
    pub offset: u32,
    pub length: u32,
    /// Its IP length.
    pub ip_bytes: u32,
}

/// Identifies a packet that IP divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datagram {
    pub from: IpAddr,
    pub to: IpAddr,
    pub protocol: u8,
    pub id: u32,
}

/// The reason why decoding a frame ended early.
enum Stop {
    Reason(Reason),
    Later(Box<LaterFragment>),
    Fault(String),
}

impl From<&'static str> for Stop {
    /// Stops for a reason given as a phrase.
    fn from(phrase: &'static str) -> Stop {
        Stop::Reason(phrase.into())
    }
}

impl From<Reason> for Stop {
    /// Stops for a reason.
    fn from(reason: Reason) -> Stop {
        Stop::Reason(reason)
    }
}

/// Decodes one frame of `link_type` (the numbers of the tcpdump.org registry) that had `orig_len` bytes on
/// the wire, of which `frame` was captured, and the time stamp `at`, ns. The segment's interface is 0.
pub fn decode(link_type: u32, frame: &[u8], orig_len: u32, at: i64) -> Decoded {
    let Some(first) = link::find_layer(link_type) else {
        return Decoded::LeftOut(Reason::LinkType(link_type));
    };
    let wire = orig_len.max(frame.len() as u32);
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let mut walk = Walk {
        cursor: Cursor::new(frame, wire),
        from: nowhere,
        to: nowhere,
        overclaimed: 0,
        ip_bytes: 0,
        fragment: None,
        is_tunnel: false,
    };
    let Transport { protocol, ports, payload, tcp, is_quic, head } = match walk.decode_transport(first) {
        Ok(transport) => transport,
        Err(Stop::Reason(reason)) => return Decoded::LeftOut(reason),
        Err(Stop::Later(later)) => return Decoded::LaterFragment(later),
        Err(Stop::Fault(problem)) => return Decoded::Fault(problem),
    };
    let [from, to] = [(walk.from, ports[0]), (walk.to, ports[1])].map(|(host, port)| Endpoint { host, port });
    let Walk { overclaimed, ip_bytes, .. } = walk;
    let segment = Segment {
        at,
        from,
        to,
        payload,
        ip_bytes,
        wire,
        overclaimed,
        protocol,
        tcp,
        is_quic,
        head,
        interface: 0,
    };
    match walk.fragment {
        None => Decoded::Segment(segment),
        Some(of) => {
            let is_tunnel = walk.is_tunnel;
            Decoded::FirstFragment(Box::new(FirstFragment { of: *of, segment, is_tunnel }))
        }
    }
}

/// The state of decoding one frame's headers.
struct Walk<'a> {
    cursor: Cursor<'a>,
    /// The addresses of the last IP header.
    from: IpAddr,
    to: IpAddr,
    overclaimed: u32,
    /// Length of the last IP packet.
    ip_bytes: u32,
    /// The packet whose first fragment this frame is.
    fragment: Option<Box<Datagram>>,
    /// Whether that fragment holds a further IP header.
    is_tunnel: bool,
}

/// The fields of the header after IP's.
struct Transport {
    protocol: u8,
    ports: [u16; 2],
    payload: u32,
    tcp: Option<Tcp>,
    is_quic: bool,
    head: Head,
}

/// The content of an IP packet.
enum Inner {
    Tcp,
    Udp,
    Tunnel(Layer),
    Other(u8),
}

impl Walk<'_> {
    /// Strips all headers from the layer `first` to the innermost transport protocol, and decodes the latter. Sets the
    /// addresses and the other fields of the innermost IP packet.
    ///
    /// # Errors
    /// [`Stop::Later`] at a later fragment, [`Stop::Fault`] at a header that contradicts itself, [`Stop::Reason`] at a
    /// cut or unknown header or beyond [`MAX_HEADERS`].
    fn decode_transport(&mut self, first: Layer) -> Result<Transport, Stop> {
        let mut layer = first;
        for _ in 0..MAX_HEADERS {
            if layer != Layer::Ip {
                layer = layer.strip_header(&mut self.cursor)?;
                continue;
            }
            match self.strip_ip()? {
                Inner::Tcp => return decode_tcp(&self.cursor),
                Inner::Tunnel(tunnel) => layer = tunnel,
                Inner::Other(protocol) => return Ok(decode_other(protocol, &self.cursor)),
                Inner::Udp => {
                    let found = decode_udp(&self.cursor)?;
                    let content = self.cursor.bytes.get(8..).unwrap_or_default();
                    let Some(tunnel) = Layer::from_udp(found.ports[0], found.ports[1], content) else {
                        return Ok(found);
                    };
                    self.cursor.skip(8)?;
                    layer = tunnel;
                }
            }
        }
        Err(reason::DEEP.into())
    }

    /// Strips an IP header with its extensions and the padding after the packet's end. Returns the protocol
    /// inside. Sets the addresses, the length and the first fragment's identity.
    ///
    /// # Errors
    /// [`Stop::Later`] at a later fragment, [`Stop::Reason`] for a cut header or another version than 4 or 6,
    /// [`Stop::Fault`] for a damaged header or a length that cannot be true.
    fn strip_ip(&mut self) -> Result<Inner, Stop> {
        let (bytes, wire) = (self.cursor.bytes, self.cursor.wire);
        let version = bytes.first().map_or(0, |byte| byte >> 4);
        if version != 4 && version != 6 {
            return Err(Stop::Reason(if bytes.is_empty() {
                self.cursor.too_short_reason(1)
            } else {
                reason::NOT_IP.into()
            }));
        }
        let slice = match LaxIpSlice::from_slice(bytes) {
            Ok((slice, _)) => slice,
            Err(_) if bytes.len() < 40 && bytes.len() < wire as usize => return Err(reason::CUT.into()),
            Err(error) => return Err(Stop::Fault(format!("damaged IP header ({error})"))),
        };
        self.is_tunnel |= self.fragment.is_some();
        let payload = slice.payload();
        let headers = (payload.payload.as_ptr() as usize - bytes.as_ptr() as usize) as u32;
        self.ip_bytes = self.choose_ip_length(&slice)?;
        let Some(length) = self.ip_bytes.checked_sub(headers) else {
            return Err(Stop::Fault("IP length is shorter than the IP headers".to_string()));
        };
        (self.from, self.to) = (slice.source_addr(), slice.destination_addr());
        let IpNumber(protocol) = payload.ip_number;
        if payload.fragmented {
            let Some((id, offset)) = fragment_id_and_offset(&slice) else { return Err(reason::CUT.into()) };
            let of = Datagram { from: self.from, to: self.to, protocol, id };
            if offset > 0 {
                return Err(Stop::Later(Box::new(LaterFragment {
                    of,
                    offset,
                    length,
                    ip_bytes: self.ip_bytes,
                })));
            }
            (self.fragment, self.is_tunnel) = (Some(Box::new(of)), false);
        }
        let is_first_fragment = self.cursor.is_first_fragment || payload.fragmented;
        self.cursor = Cursor { bytes: payload.payload, wire: length, is_first_fragment };
        match payload.ip_number {
            IpNumber::TCP => Ok(Inner::Tcp),
            IpNumber::UDP => Ok(Inner::Udp),
            IpNumber(number) => match Layer::from_ip_protocol(number) {
                Some(tunnel) => Ok(Inner::Tunnel(tunnel)),
                None => Ok(Inner::Other(number)),
            },
        }
    }

    /// Returns the length in the IP header if it can be true. A length of zero (segmentation
    /// offload, jumbograms) or, except in a first fragment, beyond the frame's end is replaced by the
    /// length on the wire; the excess is added to `overclaimed`.
    ///
    /// # Errors
    /// [`Stop::Fault`] for a length of zero in a frame of more than [`MAX_OFFLOAD`] bytes.
    fn choose_ip_length(&mut self, slice: &LaxIpSlice) -> Result<u32, Stop> {
        let wire = self.cursor.wire;
        let field = match slice {
            LaxIpSlice::Ipv4(ip) => u32::from(ip.header().total_len()),
            LaxIpSlice::Ipv6(ip) if ip.header().payload_length() == 0 => 0,
            LaxIpSlice::Ipv6(ip) => 40 + u32::from(ip.header().payload_length()),
        };
        if field == 0 && wire > MAX_OFFLOAD {
            return Err(Stop::Fault(format!("{wire} bytes on the wire, more than any packet has")));
        }
        if field == 0 {
            return Ok(wire);
        }
        if field > wire && !self.cursor.is_first_fragment {
            self.overclaimed = self.overclaimed.saturating_add(field - wire);
            return Ok(wire);
        }
        Ok(field)
    }
}

/// Returns the identification of a fragment and its offset in bytes; `None` when the capture cut them off.
fn fragment_id_and_offset(slice: &LaxIpSlice) -> Option<(u32, u32)> {
    match slice {
        LaxIpSlice::Ipv4(ip) => {
            let header = ip.header();
            Some((u32::from(header.identification()), 8 * u32::from(header.fragments_offset().value())))
        }
        LaxIpSlice::Ipv6(ip) => ipv6_fragment_id_and_offset(ip),
    }
}

/// Returns the identification and the offset in bytes from IPv6's fragment header; `None` when it was cut
/// off.
fn ipv6_fragment_id_and_offset(ip: &LaxIpv6Slice) -> Option<(u32, u32)> {
    let (mut next, mut rest) = (ip.extensions().first_header()?, ip.extensions().slice());
    while next != IpNumber::IPV6_FRAGMENTATION_HEADER {
        let [following, length, ..] = *rest else { return None };
        // An authentication header counts in words of four bytes, less two; the others in words of eight, less one.
        let words = usize::from(length);
        let bytes = if next == IpNumber::AUTHENTICATION_HEADER { 4 * (words + 2) } else { 8 * (words + 1) };
        (next, rest) = (IpNumber(following), rest.get(bytes..)?);
    }
    let header = Ipv6FragmentHeaderSlice::from_slice(rest).ok()?;
    Some((header.identification(), 8 * u32::from(header.fragment_offset().value())))
}

/// Decodes a TCP header (RFC 9293, section 3.1). Its payload is counted on the wire.
///
/// # Errors
/// [`Stop::Reason`] if the part from the ports to the flags was cut off; [`Stop::Fault`] for a header of fewer than 20
/// bytes, or longer than the IP payload.
fn decode_tcp(cursor: &Cursor) -> Result<Transport, Stop> {
    let len = cursor.wire;
    // Ports to flags: all that is needed, so a capture may cut the rest.
    let Some(fixed) = cursor.bytes.first_chunk::<14>() else {
        return Err(cut_header_stop(cursor, 20, "TCP"));
    };
    let header_len = u32::from(fixed[12] >> 4) * 4;
    let Some(payload) = len.checked_sub(header_len).filter(|_| header_len >= 20) else {
        let problem = format!("TCP header of {header_len} bytes in {len} bytes of IP payload");
        return Err(Stop::Fault(problem));
    };
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let tcp = Tcp { seq: word(4), ack: word(8), flags: fixed[13], header: header_len as u8 };
    let head = Head::new(payload, cursor.bytes.get(header_len as usize..).unwrap_or_default());
    Ok(Transport {
        protocol: IpNumber::TCP.0,
        ports: read_ports(fixed),
        payload,
        tcp: Some(tcp),
        is_quic: false,
        head,
    })
}

/// Decodes a UDP header (RFC 768). A length field below 8 (segmentation offload) is replaced by that of the IP payload.
///
/// # Errors
/// [`Stop::Reason`] if the header was cut off; [`Stop::Fault`] if the IP payload has no room for it.
fn decode_udp(cursor: &Cursor) -> Result<Transport, Stop> {
    let len = cursor.wire;
    let Some(fixed) = cursor.bytes.first_chunk::<8>() else { return Err(cut_header_stop(cursor, 8, "UDP")) };
    let field = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let payload = if field >= 8 { field.min(len.max(8)) - 8 } else { len.saturating_sub(8) };
    let ports = read_ports(fixed);
    let is_quic = quic::is_quic(&cursor.bytes[8..]);
    let head = Head::new(payload, &cursor.bytes[8..]);
    Ok(Transport { protocol: IpNumber::UDP.0, ports, payload, tcp: None, is_quic, head })
}

/// Returns the payload and the ports of a protocol that is not decoded. Those of [`WITH_PORTS`] begin with
/// ports as UDP does; others have none.
fn decode_other(protocol: u8, cursor: &Cursor) -> Transport {
    let head = cursor.bytes.first_chunk::<4>().filter(|_| WITH_PORTS.contains(&IpNumber(protocol)));
    let ports = head.map_or([0; 2], |head| read_ports(head));
    let payload = cursor.wire;
    Transport { protocol, ports, payload, tcp: None, is_quic: false, head: Head::new(payload, cursor.bytes) }
}

/// Returns the two ports at the beginning of a header such as TCP's and UDP's, of at least four bytes.
fn read_ports(header: &[u8]) -> [u16; 2] {
    [0, 2].map(|at| u16::from_be_bytes([header[at], header[at + 1]]))
}

/// Returns the stop at a header that the captured bytes do not hold: [`reason::CUT`], or a fault if the
/// packet itself has no room for the header.
fn cut_header_stop(cursor: &Cursor, header: u32, name: &str) -> Stop {
    match cursor.wire {
        wire if wire >= header => Stop::Reason(reason::CUT.into()),
        wire => Stop::Fault(format!("{wire} bytes of IP payload have no room for a {name} header")),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
