//! Lists, creates, sets and removes network devices (rtnetlink(7)).

use crate::{add_attribute, attribute, exchange, send_change, text, word};
use std::ffi::CString;
use std::io;

/// Sets a device, or creates one.
pub const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_GETLINK: u16 = 18;
/// Bytes of struct ifinfomsg, the fixed part of a message.
const IFINFOMSG: usize = 16;
const IFLA_IFNAME: u16 = 3;
/// The MTU, bytes.
pub const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_QDISC: u16 = 6;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_IFALIAS: u16 = 20;
const IFLA_NUM_TX_QUEUES: u16 = 31;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_INFO_KIND: u16 = 1;
const IS_UP: u32 = libc::IFF_UP as u32;

/// The kernel's description of a network device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// Its interface index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The index of the device below a VLAN or the like, if that is in this namespace.
    pub lower: Option<u32>,
    /// The index of the bridge or bond that it belongs to.
    pub master: Option<u32>,
    /// The kind of the queue discipline at its root.
    pub qdisc: String,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// How many transmit queues it has.
    pub queues: u32,
    /// Whether it is set up.
    pub is_up: bool,
    /// Its kind, such as `ifb`; `None` for hardware.
    pub kind: Option<String>,
    /// Its alias.
    pub alias: Option<String>,
    /// The largest number of segments of a super-packet.
    pub gso_max_segs: Option<u32>,
}

/// Returns a device of this namespace by its name; `None` if there is none or the kernel does not
/// answer.
pub fn find(name: &str) -> Option<Link> {
    let known = CString::new(name).ok()?;
    // SAFETY: the text ends in a zero byte.
    let index = unsafe { libc::if_nametoindex(known.as_ptr()) };
    if index == 0 {
        return None;
    }
    let answers =
        exchange(RTM_GETLINK, libc::NLM_F_REQUEST as u16, &encode_ifinfomsg(index, 0, 0), false).ok()?;
    parse_link(answers.first()?)
}

/// Returns all devices of this namespace; none if the kernel does not list them.
pub fn list_links() -> Vec<Link> {
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let answers = exchange(RTM_GETLINK, dump, &encode_ifinfomsg(0, 0, 0), true).unwrap_or_default();
    answers.iter().filter_map(|message| parse_link(message)).collect()
}

/// Returns the device that a message describes; `None` if the message is cut short. Absent
/// attributes count as empty, 0, or one transmit queue.
fn parse_link(message: &[u8]) -> Option<Link> {
    let attributes = message.get(IFINFOMSG..)?;
    let kind = attribute(attributes, IFLA_LINKINFO).and_then(|inner| attribute(inner, IFLA_INFO_KIND));
    let number = |kind| attribute(attributes, kind).map(|value| word(value, 0));
    let texts = |kind| attribute(attributes, kind).map(text);
    Some(Link {
        index: word(message, 4),
        name: texts(IFLA_IFNAME).unwrap_or_default(),
        lower: number(IFLA_LINK).filter(|_| attribute(attributes, IFLA_LINK_NETNSID).is_none()),
        master: number(IFLA_MASTER),
        qdisc: texts(IFLA_QDISC).unwrap_or_default(),
        mtu: number(IFLA_MTU).unwrap_or(0),
        queues: number(IFLA_NUM_TX_QUEUES).unwrap_or(1),
        is_up: word(message, 8) & IS_UP != 0,
        kind: kind.map(text),
        alias: texts(IFLA_IFALIAS),
        gso_max_segs: number(IFLA_GSO_MAX_SEGS),
    })
}

/// Creates a device of a kind.
///
/// # Errors
/// The kernel's error: EOPNOTSUPP if it does not know the kind.
pub fn add(name: &str, kind: &str) -> io::Result<()> {
    let mut info = Vec::new();
    add_attribute(&mut info, IFLA_INFO_KIND, kind.as_bytes());
    let mut body = encode_ifinfomsg(0, 0, 0);
    add_attribute(&mut body, IFLA_IFNAME, &[name.as_bytes(), b"\0"].concat());
    add_attribute(&mut body, IFLA_LINKINFO, &info);
    send_change(RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Sets a device's alias and brings it up in one step.
///
/// # Errors
/// The kernel's error.
pub fn set_up(index: u32, alias: &str) -> io::Result<()> {
    let mut body = encode_ifinfomsg(index, IS_UP, IS_UP);
    add_attribute(&mut body, IFLA_IFALIAS, alias.as_bytes());
    send_change(RTM_NEWLINK, 0, &body)
}

/// Sets the largest number of segments of a device's super-packets.
///
/// # Errors
/// The kernel's error.
pub fn set_gso_max_segs(index: u32, segments: u32) -> io::Result<()> {
    let mut body = encode_ifinfomsg(index, 0, 0);
    add_attribute(&mut body, IFLA_GSO_MAX_SEGS, &segments.to_ne_bytes());
    send_change(RTM_NEWLINK, 0, &body)
}

/// Removes a device.
///
/// # Errors
/// The kernel's error, for example if there is none.
pub fn remove(index: u32) -> io::Result<()> {
    send_change(RTM_DELLINK, 0, &encode_ifinfomsg(index, 0, 0))
}

/// Returns a struct ifinfomsg, the fixed part of a message, that gives these values to the flags in `change`.
pub fn encode_ifinfomsg(index: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut body = vec![0; IFINFOMSG];
    for (at, value) in [(4, index), (8, flags), (12, change)] {
        body[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
    body
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn find__of_the_loopback_device_and_of_none() {
        let lo = find("lo").unwrap();
        assert_eq!((lo.name.as_str(), lo.kind, lo.gso_max_segs.is_some()), ("lo", None, true));
        assert_eq!((lo.mtu > 0, lo.qdisc.is_empty(), lo.lower, lo.queues > 0), (true, false, None, true));
        assert_eq!(find("no such device"), None);
        assert!(list_links().contains(&find("lo").unwrap()));
    }

    #[test]
    fn parse_link__of_what_is_cut_short() {
        let mut whole = encode_ifinfomsg(7, IS_UP, IS_UP);
        add_attribute(&mut whole, IFLA_IFALIAS, b"one");
        let link = parse_link(&whole).unwrap();
        assert_eq!((link.index, link.is_up, link.alias.as_deref()), (7, true, Some("one")));
        for length in 0..whole.len() - 1 {
            assert!(parse_link(&whole[..length]).is_none_or(|link| link.alias.is_none()));
        }
    }
}
