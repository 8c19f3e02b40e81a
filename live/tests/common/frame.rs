//! Builds frames byte by byte from the standards, independently of the program under test.

use std::net::{Ipv4Addr, Ipv6Addr};

pub const IPV4: u16 = 0x0800;
pub const IPV6: u16 = 0x86dd;
pub const ARP: u16 = 0x0806;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

/// Returns an Ethernet frame between two fixed addresses.
pub fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(ethertype.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Returns a payload after a VLAN tag, for an Ethernet frame of type 0x8100 or 0x88a8.
pub fn vlan(number: u16, ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes(), &ethertype.to_be_bytes(), payload].concat()
}

/// Returns a payload in a PPPoE session (RFC 2516), for an Ethernet frame of type 0x8864.
pub fn pppoe(protocol: u16, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16 + 2).to_be_bytes();
    [&[0x11, 0, 0, 7], &length[..], &protocol.to_be_bytes(), payload].concat()
}

/// The fields of an IPv4 header except length and checksum.
#[derive(Debug, Clone)]
pub struct V4 {
    pub traffic_class: u8,
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub protocol: u8,
    /// The bits DF and MF, and the fragment offset.
    pub fragment: u16,
    /// Options; their length must be a multiple of 4 bytes.
    pub options: Vec<u8>,
}

impl V4 {
    /// Returns a header from 10.1.2.3 to 192.0.2.77 without options, not fragmented.
    pub fn new(protocol: u8) -> V4 {
        V4 {
            traffic_class: 0,
            source: Ipv4Addr::new(10, 1, 2, 3),
            destination: Ipv4Addr::new(192, 0, 2, 77),
            protocol,
            fragment: 0x4000,
            options: Vec::new(),
        }
    }

    /// Returns a packet with this payload and a correct checksum.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let header = 20 + self.options.len();
        let mut packet = vec![0x40 | (header / 4) as u8, self.traffic_class];
        packet.extend(((header + payload.len()) as u16).to_be_bytes());
        packet.extend([0x12, 0x34]);
        packet.extend(self.fragment.to_be_bytes());
        packet.extend([64, self.protocol, 0, 0]);
        packet.extend(self.source.octets());
        packet.extend(self.destination.octets());
        packet.extend(&self.options);
        write_checksum(&mut packet);
        packet.extend(payload);
        packet
    }
}

/// The fields of an IPv6 header except the length.
#[derive(Debug, Clone)]
pub struct V6 {
    pub traffic_class: u8,
    pub label: u32,
    pub source: Ipv6Addr,
    pub destination: Ipv6Addr,
}

impl V6 {
    /// Returns a header between two addresses of 2001:db8::/32, with a flow label.
    pub fn new() -> V6 {
        V6 {
            traffic_class: 0,
            label: 0xa_bcde,
            source: Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6),
            destination: Ipv6Addr::new(0x2001, 0xdb8, 7, 8, 9, 10, 11, 12),
        }
    }

    /// Returns a packet with this payload, whose first header is `next`; its length is that of the
    /// payload.
    pub fn packet(&self, next: u8, payload: &[u8]) -> Vec<u8> {
        let word = 6 << 28 | u32::from(self.traffic_class) << 20 | self.label;
        let mut packet = word.to_be_bytes().to_vec();
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([next, 64]);
        packet.extend(self.source.octets());
        packet.extend(self.destination.octets());
        packet.extend(payload);
        packet
    }
}

/// Returns an extension header of `bytes` bytes (8 to 24), followed by a payload whose header is
/// `next`.
pub fn extension(kind: u8, bytes: usize, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut all = vec![0; bytes];
    all[0] = next;
    // The authentication header counts 4-byte words minus 2 (RFC 4302), the others 8-byte words minus 1.
    all[1] = if kind == 51 { bytes / 4 - 2 } else { bytes / 8 - 1 } as u8;
    all.extend(payload);
    all
}

/// Returns a fragment header, followed by a payload whose header is `next`.
pub fn fragment(offset_and_more: u16, next: u8, payload: &[u8]) -> Vec<u8> {
    [&[next, 0], &offset_and_more.to_be_bytes()[..], &[1, 2, 3, 4], payload].concat()
}

/// Returns a TCP segment with a header of 20 bytes and `data` bytes of payload. Its sequence number
/// is 256; its checksum is not computed.
pub fn tcp(source: u16, destination: u16, flags: u8, data: usize) -> Vec<u8> {
    let mut all = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    all.extend([0, 0, 1, 0, 0, 0, 2, 0, 0x50, flags, 0xff, 0xff, 0xaa, 0x55, 0, 0]);
    all.extend((0..data).map(|at| at as u8));
    all
}

/// Returns a UDP datagram without a checksum. The headers of UDP-Lite, DCCP and SCTP begin with the
/// same ports.
pub fn udp(source: u16, destination: u16, data: &[u8]) -> Vec<u8> {
    let mut all = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    all.extend((8 + data.len() as u16).to_be_bytes());
    all.extend([0, 0]);
    all.extend(data);
    all
}

/// Returns a frame with a TCP segment of 1000 bytes over IPv4. Each number below 2^24 gives another
/// flow.
pub fn build_flow_frame(flow: u32) -> Vec<u8> {
    let source = (10 << 24 | flow).into();
    ethernet(IPV4, &V4 { source, ..V4::new(TCP) }.packet(&tcp(443, 50_000, ACK, 1000)))
}

/// Returns the ones' complement sum of a header's 16-bit words; 0xffff if its checksum is right.
pub fn fold_checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Computes and writes the checksum of the IPv4 header at the beginning of a packet.
pub fn write_checksum(packet: &mut [u8]) {
    let header = usize::from(packet[0] & 15) * 4;
    packet[10..12].fill(0);
    let checksum = !fold_checksum(&packet[..header]);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Returns the frame with another traffic class in the IP header at `offset`, and IPv4's checksum
/// computed anew.
pub fn with_traffic_class(frame: &[u8], offset: usize, class: u8) -> Vec<u8> {
    let mut changed = frame.to_vec();
    let header = &mut changed[offset..];
    if header[0] >> 4 == 4 {
        header[1] = class;
        write_checksum(header);
    } else {
        header[0] = 0x60 | class >> 4;
        header[1] = class << 4 | header[1] & 15;
    }
    changed
}
