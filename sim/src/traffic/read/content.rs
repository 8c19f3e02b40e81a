//! What the first bytes of a datagram show: QUIC, or a tunnel that hides what it carries.

use crate::traffic::datagrams::Tunnel;

/// What the beginning of a datagram's payload shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    #[default]
    Unknown,
    /// A packet of QUIC with a long header, with which every connection begins.
    Quic,
    /// A packet of a tunnel.
    Tunnel(Tunnel),
}

/// Header form and fixed bit of QUIC (RFC 9000, section 17.2).
const LONG_HEADER: u8 = 0xc0;
/// QUIC 1 (RFC 9000, section 15) and 2 (RFC 9369, section 3.1).
const QUIC_VERSIONS: [u32; 2] = [1, 0x6b33_43cf];
/// The drafts of QUIC 1 that were deployed, 0xff000000 with the draft's number.
const QUIC_DRAFTS: std::ops::RangeInclusive<u32> = 0xff00_0017..=0xff00_0022;
const ESP: u8 = 50;
const AH: u8 = 51;
const OPENVPN_PORT: u16 = 1194;
const WIREGUARD_PORT: u16 = 51_820;
/// ESP in UDP (RFC 3948).
const NAT_TRAVERSAL_PORT: u16 = 4500;

impl Content {
    /// Returns what a UDP datagram of `length` bytes of payload shows, of which `bytes` were captured.
    pub fn of_udp(ports: [u16; 2], bytes: &[u8], length: u32) -> Content {
        let is_at = |port: u16| ports.contains(&port);
        if is_quic(bytes) {
            Content::Quic
        } else if is_wireguard(bytes, length, is_at(WIREGUARD_PORT)) {
            Content::Tunnel(Tunnel::WireGuard)
        } else if is_at(OPENVPN_PORT) && is_openvpn(bytes) {
            Content::Tunnel(Tunnel::OpenVpn)
        } else if is_at(NAT_TRAVERSAL_PORT) && length > 8 {
            Content::Tunnel(Tunnel::Ipsec)
        } else {
            Content::Unknown
        }
    }

    /// Returns what IP's protocol number says.
    pub fn of_protocol(protocol: u8) -> Content {
        match protocol {
            ESP | AH => Content::Tunnel(Tunnel::Ipsec),
            _ => Content::Unknown,
        }
    }
}

/// Returns whether a packet has QUIC's long header: form, fixed bit, and a version that is deployed.
fn is_quic(bytes: &[u8]) -> bool {
    let Some(head) = bytes.first_chunk::<5>() else { return false };
    let version = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let is_deployed = QUIC_VERSIONS.contains(&version) || QUIC_DRAFTS.contains(&version);
    head[0] & LONG_HEADER == LONG_HEADER && is_deployed
}

/// Returns whether a packet is one of WireGuard's four kinds: a number and three zeros, of the length of a handshake's
/// message, or of transport data: multiples of 16 (Donenfeld, "WireGuard: next generation kernel network tunnel", 2017,
/// section 5.4), but on its port of any length, for implementations that do not pad.
fn is_wireguard(bytes: &[u8], length: u32, is_on_port: bool) -> bool {
    match bytes.first_chunk::<4>() {
        Some([1, 0, 0, 0]) => length == 148,
        Some([2, 0, 0, 0]) => length == 92,
        Some([3, 0, 0, 0]) => length == 64,
        Some([4, 0, 0, 0]) => length >= 32 && (is_on_port || length.is_multiple_of(16)),
        _ => false,
    }
}

/// Returns whether a packet begins as OpenVPN's do: the upper five bits are one of the opcodes 1 to 11.
fn is_openvpn(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| (1..=11).contains(&(first >> 3)))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    const PORTS: [u16; 2] = [40_000, 8443];

    fn of(bytes: &[u8]) -> Content {
        Content::of_udp(PORTS, bytes, bytes.len() as u32)
    }

    #[test]
    fn content__quic_by_its_long_header() {
        let initial = |first: u8, version: u32, id: u8| {
            let mut packet = vec![first];
            packet.extend(version.to_be_bytes());
            packet.push(id);
            packet.extend(vec![7; usize::from(id)]);
            packet.extend([8; 40]);
            packet
        };
        assert_eq!(of(&initial(0xc3, 1, 8)), Content::Quic);
        assert_eq!(of(&initial(0xd3, 0x6b33_43cf, 20)), Content::Quic, "version 2");
        assert_eq!(of(&initial(0xc0, 0xff00_001d, 8)), Content::Quic, "draft 29");
        assert_eq!(of(&initial(0x83, 1, 8)), Content::Unknown, "no fixed bit");
        assert_eq!(of(&initial(0x43, 1, 8)), Content::Unknown, "a short header");
        assert_eq!(of(&initial(0xc3, 5, 8)), Content::Unknown, "another version");
        assert_eq!(of(&initial(0xc3, 1, 8)[..5]), Content::Quic, "cut by the capture");
        assert_eq!(of(&initial(0xc3, 1, 8)[..4]), Content::Unknown);
        assert_eq!(of(&[0x80, 0, 0, 0, 1, 8]), Content::Unknown, "RTP");
    }

    #[test]
    fn content__tunnels() {
        let packet = |head: [u8; 4], length: usize| [&head[..], &vec![9; length - 4]].concat();
        for (kind, length) in [(1, 148), (2, 92), (3, 64), (4, 32), (4, 1440)] {
            let shown = of(&packet([kind, 0, 0, 0], length));
            assert_eq!(shown, Content::Tunnel(Tunnel::WireGuard), "{kind} {length}");
        }
        for (head, length) in
            [([1, 0, 0, 0], 147), ([4, 0, 0, 1], 32), ([4, 0, 0, 0], 40), ([5, 0, 0, 0], 32)]
        {
            assert_eq!(of(&packet(head, length)), Content::Unknown, "{head:?} {length}");
        }
        let at = |port, first: u8| Content::of_udp([40_000, port], &[first, 0, 1, 2], 400);
        assert_eq!(at(1194, 9 << 3), Content::Tunnel(Tunnel::OpenVpn));
        assert_eq!(Content::of_udp([40_000, 51_820], &[4, 0, 0, 0], 40), Content::Tunnel(Tunnel::WireGuard));
        assert_eq!((at(1194, 0), at(1195, 9 << 3)), (Content::Unknown, Content::Unknown));
        assert_eq!(at(4500, 77), Content::Tunnel(Tunnel::Ipsec));
        assert_eq!([50, 51, 1].map(Content::of_protocol), {
            let ipsec = Content::Tunnel(Tunnel::Ipsec);
            [ipsec, ipsec, Content::Unknown]
        });
    }
}
