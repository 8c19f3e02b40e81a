//! The list of formats and protocols that are understood, for the documentation and for the test that tries
//! each entry on a sample.

use super::link;
use serde::Serialize;

/// Something that can be read, or is left out by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Understood {
    /// The heading it stands under.
    pub group: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its recognition mark: a number, a port, or first bytes.
    pub key: String,
    /// The way in which it is read, or the name under which it is left out.
    pub reading: &'static str,
}

/// Heading of forms of files.
pub const FILES: &str = "capture files";
/// Heading of link types; the key is the number.
pub const LINK_TYPES: &str = "link types";
/// Heading of headers around an IP packet.
pub const ENCAPSULATIONS: &str = "tags, labels and tunnels";
/// Heading of kinds of IP packets.
pub const PACKETS: &str = "packets";
/// Heading of packets that are counted and not read.
pub const LEFT_OUT: &str = "left out by name";

const INNER: &str = "by the inner header";

/// All but the link types, which [`link::LINKS`] lists: heading, name, key, reading.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    (FILES, "pcap", "a1b2c3d4", "microseconds, either byte order"),
    (FILES, "pcap, nanoseconds", "a1b23c4d", "nanoseconds, either byte order"),
    (FILES, "pcapng", "0a0d0d0a", "any interfaces, units and offsets of time; several sections"),
    (FILES, "snoop", "736e6f6f70", "Ethernet"),
    (FILES, "ERF", "two records", "Ethernet, PPP and IP"),
    (FILES, "gzip", "1f8b", "any of them, in one or more members"),
    (ENCAPSULATIONS, "VLAN (802.1Q)", "EtherType 0x8100", INNER),
    (ENCAPSULATIONS, "QinQ (802.1ad)", "EtherType 0x88a8, 0x9100, 0x9200", INNER),
    (ENCAPSULATIONS, "802.2 LLC with SNAP", "length instead of EtherType", INNER),
    (ENCAPSULATIONS, "PPPoE session", "EtherType 0x8864", INNER),
    (ENCAPSULATIONS, "MPLS", "EtherType 0x8847, 0x8848", "up to 16 labels, then IP by its version"),
    (ENCAPSULATIONS, "Ethernet over MPLS", "after the last label", "with or without control word"),
    (ENCAPSULATIONS, "IP in IP", "IP protocol 4", INNER),
    (ENCAPSULATIONS, "6in4", "IP protocol 41", INNER),
    (ENCAPSULATIONS, "GRE", "IP protocol 47", "with checksum, key, sequence number and source routes"),
    (ENCAPSULATIONS, "Ethernet in GRE", "GRE 0x6558", INNER),
    (ENCAPSULATIONS, "PPTP", "GRE version 1", "the PPP packet inside"),
    (ENCAPSULATIONS, "ERSPAN I and II", "GRE 0x88be", "the mirrored frame"),
    (ENCAPSULATIONS, "ERSPAN III", "GRE 0x22eb", "the mirrored frame"),
    (ENCAPSULATIONS, "EtherIP", "IP protocol 97", INNER),
    (ENCAPSULATIONS, "MPLS in IP", "IP protocol 137", INNER),
    (ENCAPSULATIONS, "VXLAN", "UDP to 4789, 8472", INNER),
    (ENCAPSULATIONS, "Geneve", "UDP to 6081", INNER),
    (ENCAPSULATIONS, "GTP-U", "UDP to 2152", INNER),
    (ENCAPSULATIONS, "TZSP", "UDP to 37008", "the frame inside: Ethernet or 802.11"),
    (
        ENCAPSULATIONS,
        "CAPWAP data",
        "UDP 5247",
        "the frame inside: 802.11 or Ethernet; fragments by the first",
    ),
    (ENCAPSULATIONS, "L2TP v2", "UDP 1701", "the PPP packet inside"),
    (ENCAPSULATIONS, "PBB (802.1ah)", "EtherType 0x88e7", "the customer's frame"),
    (ENCAPSULATIONS, "E-Tag (802.1BR)", "EtherType 0x893f", INNER),
    (ENCAPSULATIONS, "VN-tag", "EtherType 0x8926", INNER),
    (ENCAPSULATIONS, "Cisco metadata", "EtherType 0x8909", INNER),
    (ENCAPSULATIONS, "NSH", "EtherType 0x894f", INNER),
    (PACKETS, "TCP", "IP protocol 6", "connections"),
    (PACKETS, "QUIC", "long header, UDP port 443", "flows, replayed as TCP"),
    (PACKETS, "other UDP", "IP protocol 17", "datagrams"),
    (PACKETS, "other IP protocols", "number", "datagrams, such as those of ESP and ICMP"),
    (PACKETS, "IPv6 with extension headers", "next header", "what they precede"),
    (
        PACKETS,
        "IP fragments",
        "offset, more fragments",
        "ports from the first; later ones by addresses, protocol and id",
    ),
    (PACKETS, "segmentation offload", "IP length 0", "length on the wire"),
    (PACKETS, "IP length beyond the frame", "IP length", "length on the wire, with a note"),
    (
        PACKETS,
        "packets cut by the capture",
        "captured length",
        "lengths of the headers; needs 14 bytes of TCP",
    ),
    (LEFT_OUT, "other EtherTypes", "number", "such as `EtherType 0x0806 (ARP)`"),
    (LEFT_OUT, "other PPP protocols", "number", "such as `PPP protocol 0xc021 (LCP)`"),
    (LEFT_OUT, "GRE of an unknown version", "GRE version", "`IP protocol 47 GRE`"),
    (LEFT_OUT, "other link types beside known ones", "number", "such as `link type 187 (Bluetooth HCI)`"),
    (
        LEFT_OUT,
        "encrypted 802.11 data",
        "bit of frame control",
        "`encrypted 802.11 data (airdecap-ng decrypts it)`",
    ),
    (LEFT_OUT, "802.11 management and control", "type of frame", "`802.11 management and control`"),
    (LEFT_OUT, "later fragments alone", "offset", "`IP fragment that no first fragment precedes`"),
    (
        LEFT_OUT,
        "packets cut before their ports",
        "captured length",
        "`cut by the capture before the end of its headers`",
    ),
];

/// Lists everything that is understood, by heading: files, link types, then the others in the order of their table.
pub fn understood() -> Vec<Understood> {
    let entry = |&(group, name, key, reading): &(&'static str, &'static str, &str, &'static str)| {
        Understood { group, name, key: key.to_string(), reading }
    };
    let files = OTHERS.iter().filter(|(group, ..)| *group == FILES).map(entry);
    let links = link::LINKS.iter().map(|link| Understood {
        group: LINK_TYPES,
        name: link.name,
        key: link.number.to_string(),
        reading: INNER,
    });
    files.chain(links).chain(OTHERS.iter().filter(|(group, ..)| *group != FILES).map(entry)).collect()
}
