//! Recognises protocols by the first bytes of their packets, whatever their ports.
//!
//! | protocol | recognised by | source |
//! |---|---|---|
//! | WireGuard | type 1 in 148 B, type 2 in 92 B, or nothing but type 4: 20 packets, or any on its port | Donenfeld, NDSS 2017, section 5.4 |
//! | OpenVPN | opcode 7 or 10 (hard reset by the client), answered by 8 (by the server), or any opcode on its port; after two bytes of length over TCP | OpenVPN wire protocol |
//! | IPsec | IP protocols 50 and 51; UDP/4500 | RFC 4303, RFC 4302, RFC 3948, RFC 7296 |
//! | DNS | a query with one question, answered under the same id | RFC 1035, section 4.1.1 |
//! | RTP | version 2, no payload type of RTCP; also in TURN's channels | RFC 3550 section 5.1, RFC 5761, RFC 8656 |

use super::FlowClass;
use crate::traffic::datagrams::Tunnel;

/// Bytes of a payload that are examined.
pub const HEAD_BYTES: usize = 16;
/// Packets of WireGuard data, and of nothing else, that prove the tunnel off its port.
const PROOF: u64 = 20;
/// Ports of IKE and of IPsec in UDP (RFC 3948).
const IKE: u16 = 500;
const IPSEC_IN_UDP: u16 = 4500;
const ESP: u8 = 50;
const AH: u8 = 51;
const OPENVPN_PORT: u16 = 1194;
const WIREGUARD_PORT: u16 = 51_820;
/// Opcodes of OpenVPN, the upper five bits of a packet.
const OPENVPN_OPCODES: std::ops::RangeInclusive<u8> = 1..=11;

/// The protocol that carries a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// QUIC, whose acknowledgements are datagrams too.
    Quic,
    /// Other UDP.
    Udp,
    /// Another protocol of IP, by its number.
    Ip(u8),
}

/// The first bytes of a payload, as far as they were captured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    bytes: [u8; HEAD_BYTES],
    len: u8,
    /// Payload of the packet on the wire, bytes.
    payload: u32,
}

impl Head {
    /// Returns the head of a packet with `payload` bytes, of which `captured` were captured.
    pub fn new(payload: u32, captured: &[u8]) -> Head {
        let len = captured.len().min(payload as usize).min(HEAD_BYTES);
        let mut bytes = [0; HEAD_BYTES];
        bytes[..len].copy_from_slice(&captured[..len]);
        Head { bytes, len: len as u8, payload }
    }

    /// Returns the payload of the packet on the wire, bytes.
    pub fn payload(&self) -> u32 {
        self.payload
    }

    /// Returns the captured bytes, at most [`HEAD_BYTES`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns a hash of the captured head and of the payload's length, FNV-1a. It distinguishes the packets
    /// of a flow, since counters and encryption make them differ. `None` if fewer than 8 bytes were captured.
    pub fn hash_payload(&self) -> Option<u64> {
        let bytes = Some(self.bytes()).filter(|bytes| bytes.len() >= 8)?;
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Some(bytes.iter().fold(0xcbf2_9ce4_8422_2325 ^ u64::from(self.payload), fold))
    }

    /// Returns whether the payload is WireGuard's handshake, by its type and length.
    fn is_wireguard_handshake(&self) -> bool {
        matches!((self.bytes(), self.payload), ([1, 0, 0, 0, ..], 148) | ([2, 0, 0, 0, ..], 92))
    }

    /// Returns whether the payload may be WireGuard's data. The kernel pads data to 16 B, but not beyond the
    /// tunnel's MTU, so the length proves nothing except the least, 32 B.
    fn is_wireguard_data(&self) -> bool {
        matches!(self.bytes(), [4, 0, 0, 0, ..]) && self.payload >= 32
    }

    /// Returns whether the payload looks like RTP (RFC 3550, section 5.1), also within TURN's channel data: version 2,
    /// at least 12 bytes, and no payload type of RTCP (RFC 5761, section 4).
    fn is_rtp(&self) -> bool {
        let bytes = self.bytes();
        // TURN's channel data has a header of four bytes.
        let inner =
            if matches!(bytes.first(), Some(0x40..=0x4f)) { &bytes[4.min(bytes.len())..] } else { bytes };
        let [first, second, ..] = *inner else { return false };
        first >> 6 == 2 && self.payload >= 12 && !(64..=95).contains(&(second & 0x7f))
    }

    /// Returns the payload's opcode if it may be OpenVPN's. `None` if it is too short, numbers a key other
    /// than 0, or over TCP is shorter than its length field says.
    fn openvpn_opcode(&self, protocol: Protocol) -> Option<u8> {
        let start = if protocol == Protocol::Tcp { 2 } else { 0 };
        let bytes = self.bytes();
        let is_framed = start == 0
            || bytes.len() > 2 && u32::from(u16::from_be_bytes([bytes[0], bytes[1]])) + 2 <= self.payload;
        // The lower three bits are the key's number, 0 at first.
        let first = *bytes.get(start).filter(|first| is_framed && **first & 7 == 0)?;
        (self.payload as usize >= start + 14).then_some(first >> 3)
    }

    /// Parses the header of a DNS message with one question (RFC 1035, section 4.1.1). Returns its id and whether it is
    /// an answer; `None` if the payload is no such message or is cut within the header.
    fn parse_dns(&self, protocol: Protocol) -> Option<(u16, bool)> {
        let start = if protocol == Protocol::Tcp { 2 } else { 0 };
        let header: &[u8; 12] = self.bytes().get(start..start + 12)?.try_into().ok()?;
        let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let (flags, questions, answers, authorities, others) = (half(2), half(4), half(6), half(8), half(10));
        let (is_answer, opcode) = (flags >> 15 == 1, flags >> 11 & 15);
        let is_sound = opcode == 0 && flags & 0x40 == 0 && questions == 1;
        let is_query = answers == 0 && authorities == 0 && others <= 2 && flags & 0x0f == 0;
        (is_sound && (is_answer || is_query)).then_some((half(0), is_answer))
    }
}

/// The first bytes of a flow's packets, counted by pattern.
#[derive(Debug, Default)]
pub struct Heads {
    /// The first packet of each side.
    first: [Option<Head>; 2],
    packets: u64,
    rtp: u64,
    wireguard_data: u64,
    is_wireguard: bool,
}

impl Heads {
    /// Counts a packet of a side, 0 or 1, by the pattern of its head, and stores the first head of each side.
    pub fn add(&mut self, side: usize, head: Head) {
        self.first[side].get_or_insert(head);
        self.packets += 1;
        self.rtp += u64::from(head.is_rtp());
        self.wireguard_data += u64::from(head.is_wireguard_data());
        self.is_wireguard |= head.is_wireguard_handshake();
    }

    /// Returns the share of packets that look like RTP; 0 without packets.
    pub fn rtp_share(&self) -> f64 {
        self.rtp as f64 / self.packets.max(1) as f64
    }

    /// Returns [`FlowClass::Vpn`] for a flow that [`Heads::find_tunnel`] recognises,
    /// [`FlowClass::Dns`] for a DNS query and its answer, and `None` otherwise. `client` is the
    /// side of the client, 0 or 1; `ports` are the client's and the server's.
    pub fn find_class(&self, protocol: Protocol, client: usize, ports: [u16; 2]) -> Option<FlowClass> {
        match self.find_tunnel(protocol, client, ports) {
            Some(_) => Some(FlowClass::Vpn),
            None => self.is_dns(protocol, client).then_some(FlowClass::Dns),
        }
    }

    /// Returns the tunnel that the flow is, or `None`: IPsec by its IP protocol or its UDP port,
    /// WireGuard and OpenVPN by the first bytes, for which weaker evidence suffices on their ports.
    /// Arguments are those of [`Heads::find_class`].
    pub fn find_tunnel(&self, protocol: Protocol, client: usize, ports: [u16; 2]) -> Option<Tunnel> {
        let is_at = |port: u16| protocol == Protocol::Udp && ports.contains(&port);
        if matches!(protocol, Protocol::Ip(ESP | AH)) || is_at(IPSEC_IN_UDP) {
            Some(Tunnel::Ipsec)
        } else if self.is_wireguard(protocol, is_at(WIREGUARD_PORT)) {
            Some(Tunnel::WireGuard)
        } else if self.is_openvpn(protocol, client) || is_at(OPENVPN_PORT) && self.has_openvpn_opcodes() {
            Some(Tunnel::OpenVpn)
        } else {
            None
        }
    }

    /// Returns whether the flow is WireGuard: a handshake, or nothing but data in enough packets or on its
    /// port.
    fn is_wireguard(&self, protocol: Protocol, is_on_port: bool) -> bool {
        let is_all_data = (is_on_port || self.packets >= PROOF) && self.wireguard_data == self.packets;
        protocol == Protocol::Udp && (self.is_wireguard || is_all_data)
    }

    /// Returns whether the first packet of each side that sent any begins with an opcode of OpenVPN; false
    /// without packets.
    fn has_openvpn_opcodes(&self) -> bool {
        let mut first = self.first.iter().flatten().filter_map(|head| head.bytes().first()).peekable();
        first.peek().is_some() && first.all(|byte| OPENVPN_OPCODES.contains(&(byte >> 3)))
    }

    /// Returns whether the first packets of both sides are OpenVPN's handshake, by their opcodes.
    fn is_openvpn(&self, protocol: Protocol, client: usize) -> bool {
        if !matches!(protocol, Protocol::Tcp | Protocol::Udp) {
            return false;
        }
        let opcode = |side: usize| self.first[side].and_then(|head| head.openvpn_opcode(protocol));
        matches!((opcode(client), opcode(1 - client)), (Some(7 | 10), Some(8)))
    }

    /// Returns whether the first packets of both sides are a DNS query and its answer, under the same id.
    /// Multicast queries have no answer within their flow; [`is_name_port`] recognises them.
    fn is_dns(&self, protocol: Protocol, client: usize) -> bool {
        if !matches!(protocol, Protocol::Tcp | Protocol::Udp) {
            return false;
        }
        let message = |side: usize| self.first[side].and_then(|head| head.parse_dns(protocol));
        match (message(client), message(1 - client)) {
            (Some((asked, false)), Some((answered, true))) => asked == answered,
            _ => false,
        }
    }
}

/// Returns whether IANA has assigned the port to the look-up of names: DNS, over TLS, multicast, LLMNR.
pub fn is_name_port(port: u16) -> bool {
    matches!(port, 53 | 853 | 5353 | 5355)
}

/// Returns whether IANA has assigned the UDP port to IKE and IPsec.
pub fn is_ipsec_port(port: u16) -> bool {
    matches!(port, IKE | IPSEC_IN_UDP)
}
