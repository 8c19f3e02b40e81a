//! The reasons for which rows were left out: a phrase of [`super::ledger::reason`], or a protocol by number
//! and name.

use super::link;
use etherparse::IpNumber;
use std::fmt;

/// The reason for which rows were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// One of the fixed phrases, which add up over files.
    Phrase(&'static str),
    /// A number of the tcpdump.org registry.
    LinkType(u32),
    EtherType(u16),
    /// A protocol number of PPP.
    Ppp(u16),
    /// IP's protocol or next header.
    IpProtocol(u8),
}

/// EtherTypes in captures other than IP's (IEEE's registry).
const ETHER_TYPES: &[(u16, &str)] = &[
    (0x0806, "ARP"),
    (0x0842, "Wake-on-LAN"),
    (0x2000, "CDP"),
    (0x22f0, "AVTP"),
    (0x22f3, "TRILL"),
    (0x6003, "DECnet"),
    (0x8035, "RARP or SLARP"),
    (0x809b, "AppleTalk"),
    (0x80f3, "AppleTalk ARP"),
    (0x8137, "IPX"),
    (0x8808, "Ethernet flow control"),
    (0x8809, "LACP"),
    (0x8863, "PPPoE discovery"),
    (0x887b, "HomePlug"),
    (0x888e, "802.1X"),
    (0x8892, "PROFINET"),
    (0x8899, "Realtek"),
    (0x88a2, "ATA over Ethernet"),
    (0x88cc, "LLDP"),
    (0x88e1, "HomePlug AV"),
    (0x88e5, "MACsec"),
    (0x88f7, "PTP"),
    (0x8902, "connectivity fault management"),
    (0x8906, "FCoE"),
    (0x890d, "802.11 management over Ethernet"),
    (0x8915, "RoCE"),
    (0x9000, "Ethernet loopback"),
];

/// Protocols of PPP other than IP (IANA's registry).
const PPP_PROTOCOLS: &[(u16, &str)] = &[
    (0x002d, "compressed TCP"),
    (0x002f, "uncompressed TCP"),
    (0x003d, "multilink"),
    (0x00fd, "compressed"),
    (0x8021, "IPCP"),
    (0x8057, "IPV6CP"),
    (0x80fd, "CCP"),
    (0x8207, "CDPCP"),
    (0xc021, "LCP"),
    (0xc023, "PAP"),
    (0xc025, "LQR"),
    (0xc223, "CHAP"),
];

impl From<&'static str> for Reason {
    /// Returns the reason of a fixed phrase.
    fn from(phrase: &'static str) -> Reason {
        Reason::Phrase(phrase)
    }
}

impl fmt::Display for Reason {
    /// Writes the phrase, or the kind, number and name of the protocol.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::Phrase(phrase) => out.write_str(phrase),
            Reason::LinkType(number) => {
                write!(out, "link type {number}{}", parenthesise(link::find_name(number)))
            }
            Reason::EtherType(number) => {
                write!(out, "EtherType 0x{number:04x}{}", parenthesise(find_name(ETHER_TYPES, number)))
            }
            Reason::Ppp(number) => {
                write!(out, "PPP protocol 0x{number:04x}{}", parenthesise(find_name(PPP_PROTOCOLS, number)))
            }
            Reason::IpProtocol(number) => {
                let name = IpNumber(number).keyword_str().filter(|name| !name.is_empty());
                write!(out, "IP protocol {number}{}", name.map(|name| format!(" {name}")).unwrap_or_default())
            }
        }
    }
}

/// Returns the name of a number in a list, if it is there.
fn find_name(names: &[(u16, &'static str)], number: u16) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// Returns a name in parentheses after a space; empty text for none.
fn parenthesise(name: Option<&str>) -> String {
    name.map(|name| format!(" ({name})")).unwrap_or_default()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn reason__names_protocols_and_shows_numbers() {
        let shown = |reason: Reason| reason.to_string();
        assert_eq!(shown(Reason::IpProtocol(47)), "IP protocol 47 GRE");
        assert_eq!(shown(Reason::IpProtocol(253)), "IP protocol 253");
        assert_eq!(shown(Reason::EtherType(0x88cc)), "EtherType 0x88cc (LLDP)");
        assert_eq!(shown(Reason::EtherType(0x1234)), "EtherType 0x1234");
        assert_eq!(shown(Reason::Ppp(0xc021)), "PPP protocol 0xc021 (LCP)");
        assert_eq!(shown(Reason::LinkType(187)), "link type 187 (Bluetooth HCI)");
        assert_eq!(shown(Reason::LinkType(9999)), "link type 9999");
    }
}
