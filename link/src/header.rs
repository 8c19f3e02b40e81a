//! Reads what links and policies may know about an IP packet, and sets the only thing that a queue
//! may change in it: the congestion mark.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The bits of the ECN field; both are set by a congestion mark (RFC 3168).
const CE: u8 = 3;

/// The IP protocol number of TCP (RFC 9293).
pub const TCP: u8 = 6;
/// The IP protocol number of UDP (RFC 768).
pub const UDP: u8 = 17;
/// The IP protocol numbers of DCCP (RFC 4340) and SCTP (RFC 9260).
const DCCP: u8 = 33;
const SCTP: u8 = 132;
/// The port of HTTP/3 (RFC 9114, section 3.1.1), which identifies QUIC here.
const QUIC_PORT: u16 = 443;

/// The endpoints and the protocol of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The sender's address and port; port 0 if the protocol has none.
    pub from: (IpAddr, u16),
    /// The receiver's address and port.
    pub to: (IpAddr, u16),
    /// The IP protocol number.
    pub protocol: u8,
}

impl Ends {
    /// Returns whether it counts as QUIC: UDP with port 443 at one end.
    pub fn is_quic(&self) -> bool {
        self.protocol == UDP && [self.from.1, self.to.1].contains(&QUIC_PORT)
    }

    /// Returns whether the transport is not known to slow down when packets are lost: `MH_DATAGRAM`
    /// of the policies.
    pub fn is_datagram(&self) -> bool {
        !matches!(self.protocol, TCP | DCCP | SCTP) && !self.is_quic()
    }
}

/// The fields of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number: that of the first byte of payload, or of the SYN.
    pub sequence: u32,
    /// Acknowledgement number, if the ACK flag is set.
    pub acknowledged: Option<u32>,
    /// The SYN flag: it opens the connection.
    pub syn: bool,
    /// The FIN flag: its sender has nothing more to send.
    pub fin: bool,
    /// The RST flag: it ends the connection at once.
    pub rst: bool,
}

/// What links know about an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Its endpoints.
    pub ends: Ends,
    /// Its IP length.
    pub bytes: u16,
    /// Bytes of payload above TCP or UDP; above IP for other protocols.
    pub payload: u16,
    /// Whether its sender understands ECN.
    pub ect: bool,
    /// Whether it has the L4S identifier: ECT(1) or CE (RFC 9331, section 5.1).
    pub l4s: bool,
    /// Whether it carries a congestion mark.
    pub ce: bool,
    /// Differentiated Services code point.
    pub dscp: u8,
    /// Its TCP header; `None` for other protocols and fragments.
    pub tcp: Option<Tcp>,
}

impl Header {
    /// Reads a packet that begins with an IP header; `None` if it is not a whole IP packet, or
    /// longer than 65,535 bytes. Errors above IP do not matter, and fragments have no ports.
    pub fn read(frame: &[u8]) -> Option<Header> {
        let sliced = LaxSlicedPacket::from_ip(frame).ok()?;
        let (from, to, traffic_class, inner) = match sliced.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                let from = IpAddr::V4(Ipv4Addr::from(header.source()));
                let to = IpAddr::V4(Ipv4Addr::from(header.destination()));
                (from, to, header.dcp().value() << 2 | header.ecn().value(), ip.payload())
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                let from = IpAddr::V6(Ipv6Addr::from(header.source()));
                let to = IpAddr::V6(Ipv6Addr::from(header.destination()));
                (from, to, header.traffic_class(), ip.payload())
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let ecn = traffic_class & CE;
        let (protocol, payload, is_fragment) = (inner.ip_number.0, inner.payload.len(), inner.fragmented);
        if inner.incomplete {
            return None;
        }
        let bytes = u16::try_from(frame.len()).ok()?;
        let ends = |from_port, to_port| Ends { from: (from, from_port), to: (to, to_port), protocol };
        let header = |ends, payload: usize, tcp| Header {
            ends,
            bytes,
            payload: payload.min(usize::from(u16::MAX)) as u16,
            ect: ecn != 0,
            l4s: ecn & 1 != 0,
            ce: ecn == CE,
            dscp: traffic_class >> 2,
            tcp,
        };
        Some(match sliced.transport.as_ref().filter(|_| !is_fragment) {
            Some(TransportSlice::Tcp(tcp)) => {
                let part = Tcp {
                    sequence: tcp.sequence_number(),
                    acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
                    syn: tcp.syn(),
                    fin: tcp.fin(),
                    rst: tcp.rst(),
                };
                header(ends(tcp.source_port(), tcp.destination_port()), tcp.payload().len(), Some(part))
            }
            Some(TransportSlice::Udp(udp)) => {
                header(ends(udp.source_port(), udp.destination_port()), udp.payload().len(), None)
            }
            _ => header(ends(0, 0), payload, None),
        })
    }
}

/// Sets the congestion mark of an IP packet (RFC 3168) and updates IPv4's checksum (RFC 1624).
/// Other bytes stay unchanged, as does a frame that is no IP packet or too short.
pub fn set_ce(frame: &mut [u8]) {
    match frame.first().map(|byte| byte >> 4) {
        Some(4) if frame.len() >= 20 => {
            let before = u16::from_be_bytes([frame[0], frame[1]]);
            frame[1] |= CE;
            let after = u16::from_be_bytes([frame[0], frame[1]]);
            // RFC 1624, equation 3.
            let sum = u16::from_be_bytes([frame[10], frame[11]]);
            let mut total = u32::from(!sum) + u32::from(!before) + u32::from(after);
            while total >> 16 != 0 {
                total = (total & 0xffff) + (total >> 16);
            }
            frame[10..12].copy_from_slice(&(!(total as u16)).to_be_bytes());
        }
        Some(6) if frame.len() >= 2 => frame[1] |= CE << 4,
        _ => {}
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder};
    use proptest::prelude::*;

    /// Returns a UDP packet of IP version 4 or 6 from port 53 to port 4000; `tos` is the traffic
    /// class.
    fn build_udp(version: u8, tos: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        if version == 4 {
            let mut ip =
                Ipv4Header::new(8 + payload.len() as u16, 64, 17.into(), [10, 0, 0, 1], [10, 0, 0, 2])
                    .expect("a length that fits");
            ip.dscp = (tos >> 2).try_into().expect("six bits");
            ip.ecn = (tos & 3).try_into().expect("two bits");
            ip.header_checksum = ip.calc_header_checksum();
            PacketBuilder::ip(etherparse::IpHeaders::Ipv4(ip, Default::default()))
                .udp(53, 4000)
                .write(&mut frame, payload)
                .expect("it fits");
        } else {
            let mut ip = etherparse::Ipv6Header {
                source: [1; 16],
                destination: [2; 16],
                hop_limit: 9,
                next_header: 17.into(),
                ..Default::default()
            };
            ip.traffic_class = tos;
            PacketBuilder::ip(etherparse::IpHeaders::Ipv6(ip, Default::default()))
                .udp(53, 4000)
                .write(&mut frame, payload)
                .expect("it fits");
        }
        frame
    }

    proptest! {
        /// A mark changes the ECN field and IPv4's checksum alone, and the checksum stays right.
        #[test]
        fn set_ce__changes_the_field_and_the_checksum(
            version in prop::sample::select(vec![4u8, 6]),
            tos in any::<u8>(),
            payload in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let before = build_udp(version, tos, &payload);
            let mut after = before.clone();
            set_ce(&mut after);
            let header = Header::read(&after).expect("still a packet");
            prop_assert!(header.ce && header.ect);
            let changed: Vec<usize> = (0..after.len()).filter(|&at| before[at] != after[at]).collect();
            if version == 4 {
                prop_assert!(changed.iter().all(|at| [1, 10, 11].contains(at)), "{:?}", changed);
                let (ip, _) = Ipv4Header::from_slice(&after).expect("a header");
                // Both spellings of a sum of zero are right.
                let (sum, right) = (ip.header_checksum, ip.calc_header_checksum());
                prop_assert!(sum == right || (sum, right) == (0xffff, 0));
                prop_assert_eq!(ip.dscp.value(), tos >> 2);
            } else {
                prop_assert!(changed.iter().all(|at| *at == 1), "{:?}", changed);
                prop_assert_eq!(after[0], before[0]);
            }
            prop_assert_eq!(header.dscp, tos >> 2);
        }

        /// No bytes make the reader panic.
        #[test]
        fn read__takes_any_bytes(frame in prop::collection::vec(any::<u8>(), 0..120), version in 0u8..16) {
            let mut frame = frame;
            if let Some(first) = frame.first_mut() {
                *first = version << 4 | *first & 15;
            }
            let _ = Header::read(&frame);
            set_ce(&mut frame);
        }
    }

    #[test]
    fn is_datagram__is_true_unless_the_transport_slows_down() {
        let at = |port| (IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let of = |protocol, from, to| Ends { from: at(from), to: at(to), protocol };
        for slows in [of(TCP, 80, 9), of(DCCP, 5, 6), of(SCTP, 5, 6), of(UDP, 443, 9), of(UDP, 9, 443)] {
            assert!(!slows.is_datagram(), "{slows:?}");
        }
        for datagram in [of(UDP, 444, 53), of(136, 443, 9), of(1, 0, 0), of(47, 0, 0), of(UDP, 0, 0)] {
            assert!(datagram.is_datagram() && !datagram.is_quic(), "{datagram:?}");
        }
    }

    #[test]
    fn read__knows_ports_and_lengths() {
        for version in [4, 6] {
            let frame = build_udp(version, 2, &[0; 100]);
            let header = Header::read(&frame).expect("a packet");
            assert_eq!((header.ends.from.1, header.ends.to.1, header.ends.protocol), (53, 4000, 17));
            assert_eq!(usize::from(header.bytes), frame.len());
            assert_eq!((header.payload, header.ect, header.ce, header.tcp), (100, true, false, None));
        }
        assert_eq!(Header::read(&[0x20; 40]), None);
    }
}
