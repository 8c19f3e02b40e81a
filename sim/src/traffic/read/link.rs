//! Link types of captures by the numbers of the tcpdump.org registry: those that can be read, and names of others.

/// The header at which the bytes at a cursor begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// An IPv4 or IPv6 header, as its version says.
    Ip,
    Ethernet,
    /// The layer that an EtherType announces; the type itself is stripped.
    Typed(u16),
    /// IEEE 802.2, with SNAP or alone.
    Llc,
    Sll,
    Sll2,
    /// A protocol family of four bytes, in either byte order.
    Loopback,
    Nflog,
    Ppp,
    /// PPP in HDLC framing, or Cisco HDLC, as the first byte shows.
    PppSerial,
    PppOfPppd,
    PppWithDirection,
    /// A PPPoE session header.
    PppoE,
    CiscoHdlc,
    Mpls,
    Gre,
    /// ERSPAN type II.
    Erspan2,
    /// ERSPAN type III.
    Erspan3,
    /// Ethernet within IP (RFC 3378).
    EtherIp,
    Vxlan,
    Geneve,
    /// User data of mobile networks (GTP-U).
    Gtp,
    /// IEEE 802.11.
    Dot11,
    /// The same with its header padded to four bytes.
    Dot11Padded,
    /// The same with the two bytes of frame control exchanged, as some access points send it within CAPWAP.
    Dot11Swapped,
    Radiotap,
    Prism,
    /// AVS, a successor of Prism's.
    Avs,
    /// Per-packet information, which names the link type of the frame after it.
    Ppi,
    /// Sniffed packets on their way to a monitor (MikroTik).
    Tzsp,
    /// Data between access points and their controller (RFC 5415).
    Capwap,
    /// Data of L2TP version 2 (RFC 2661).
    L2tp,
    /// Network service header (RFC 8300).
    Nsh,
}

/// A link type that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub number: u32,
    pub name: &'static str,
    /// The first header of its frames.
    pub layer: Layer,
}

/// Returns an entry of [`LINKS`].
const fn link(number: u32, name: &'static str, layer: Layer) -> Link {
    Link { number, name, layer }
}

/// Link types that can be read, the common ones first.
pub const LINKS: &[Link] = &[
    link(1, "Ethernet", Layer::Ethernet),
    link(113, "Linux cooked v1 (SLL)", Layer::Sll),
    link(276, "Linux cooked v2 (SLL2)", Layer::Sll2),
    link(101, "raw IP", Layer::Ip),
    link(12, "raw IP (BSD)", Layer::Ip),
    link(14, "raw IP (OpenBSD)", Layer::Ip),
    link(228, "raw IPv4", Layer::Ip),
    link(229, "raw IPv6", Layer::Ip),
    link(0, "BSD loopback (NULL)", Layer::Loopback),
    link(108, "OpenBSD loopback (LOOP)", Layer::Loopback),
    link(9, "PPP", Layer::Ppp),
    link(50, "PPP in HDLC framing", Layer::PppSerial),
    link(51, "PPPoE", Layer::PppoE),
    link(166, "PPP of pppd", Layer::PppOfPppd),
    link(204, "PPP with direction", Layer::PppWithDirection),
    link(104, "Cisco HDLC", Layer::CiscoHdlc),
    link(219, "MPLS", Layer::Mpls),
    link(11, "ATM with LLC (RFC 1483, old number)", Layer::Llc),
    link(100, "ATM with LLC (RFC 1483)", Layer::Llc),
    link(239, "Linux netfilter log (NFLOG)", Layer::Nflog),
    link(105, "IEEE 802.11", Layer::Dot11),
    link(127, "IEEE 802.11 with radiotap header", Layer::Radiotap),
    link(119, "IEEE 802.11 with Prism header", Layer::Prism),
    link(163, "IEEE 802.11 with AVS header", Layer::Avs),
    link(192, "PPI", Layer::Ppi),
];

/// Names of link types that cannot be read.
const OTHERS: &[(u32, &str)] = &[
    (6, "Token Ring"),
    (7, "ARCNET"),
    (8, "SLIP"),
    (10, "FDDI"),
    (107, "Frame Relay"),
    (109, "OpenBSD encrypted"),
    (114, "LocalTalk"),
    (117, "OpenBSD pflog"),
    (122, "IP over Fibre Channel"),
    (123, "ATM of SunATM"),
    (138, "IP over IEEE 1394"),
    (143, "DOCSIS"),
    (144, "Linux IrDA"),
    (187, "Bluetooth HCI"),
    (189, "Linux USB"),
    (195, "IEEE 802.15.4"),
    (197, "ERF"),
    (201, "Bluetooth HCI with direction"),
    (220, "Linux USB with padding"),
    (226, "Solaris IPNET"),
    (227, "CAN"),
    (230, "IEEE 802.15.4 without FCS"),
    (247, "InfiniBand"),
    (249, "USBPcap"),
    (251, "Bluetooth Low Energy"),
    (252, "Wireshark upper PDU"),
    (253, "Linux netlink"),
    (258, "Apple PKTAP"),
];

/// Returns the first header of frames of link type `number`; `None` if they cannot be read.
pub fn find_layer(number: u32) -> Option<Layer> {
    LINKS.iter().find(|link| link.number == number).map(|link| link.layer)
}

/// Returns a number for the interface and the direction that a frame of Linux's cooked capture
/// names; the first version of it names the direction only. `None` for other link types and for
/// frames that are too short.
pub fn find_interface(number: u32, frame: &[u8]) -> Option<u32> {
    let word = |at: usize| {
        frame.get(at..at + 4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    match number {
        113 => word(0).map(|word| 1 + (word >> 16)),
        276 => word(4).zip(frame.get(10)).map(|(index, kind)| index << 8 | u32::from(*kind)),
        _ => None,
    }
}

/// Returns the name of a link type; `None` if it is unknown.
pub fn find_name(number: u32) -> Option<&'static str> {
    let read = LINKS.iter().find(|link| link.number == number).map(|link| link.name);
    read.or_else(|| OTHERS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn link__every_number_is_listed_once() {
        let numbers: Vec<u32> =
            LINKS.iter().map(|link| link.number).chain(OTHERS.iter().map(|(number, _)| *number)).collect();
        assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
    }
}
