//! Sets up a network device by the few messages of rtnetlink(7) that this needs.

use mousehole_netlink::links::{IFLA_MTU, RTM_NEWLINK, encode_ifinfomsg, set_gso_max_segs};
use mousehole_netlink::{add_attribute, send_change};
use std::io;
use std::net::IpAddr;

const IFLA_TXQLEN: u16 = 13;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const TCA_KIND: u16 = 1;
const RTA_OIF: u16 = 4;

/// Brings a device up and sets its MTU, bytes, and the length of its queue, packets; `None` leaves them as they are.
///
/// With an MTU, the device also gives up multicast and segments larger than the MTU.
///
/// # Errors
/// The error of the kernel. A kernel that cannot limit segments is no error.
pub fn bring_up(index: u32, mtu: Option<u32>, queue: Option<u32>) -> io::Result<()> {
    let up = libc::IFF_UP as u32;
    let multicast = libc::IFF_MULTICAST as u32;
    let mut body = encode_ifinfomsg(index, up, up | if mtu.is_some() { multicast } else { 0 });
    for (kind, value) in [(IFLA_MTU, mtu), (IFLA_TXQLEN, queue)] {
        if let Some(value) = value {
            add_attribute(&mut body, kind, &value.to_ne_bytes());
        }
    }
    send_change(RTM_NEWLINK, 0, &body)?;
    if mtu.is_some() {
        // TCP builds segments larger than the MTU, which the device would send in one burst. Older kernels refuse.
        let _ = set_gso_max_segs(index, 1);
    }
    Ok(())
}

/// Removes the queue before a device; the device loses and counts packets that it does not take.
///
/// # Errors
/// The error of the kernel.
pub fn remove_queue(index: u32) -> io::Result<()> {
    let mut body = vec![0u8; 20];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[12..16].copy_from_slice(&0xffff_ffff_u32.to_ne_bytes());
    add_attribute(&mut body, TCA_KIND, b"noqueue\0");
    send_change(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_REPLACE, &body)
}

/// Adds an address with a prefix of `prefix` bits to a device. IPv6 does not check that the address is unique.
///
/// # Errors
/// The error of the kernel, also if the device has the address.
pub fn add_address(index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
    let (family, bytes) = split_address(address);
    let mut body = vec![family, prefix, 0, 0];
    if family == libc::AF_INET6 as u8 {
        body[2] = libc::IFA_F_NODAD as u8;
    }
    body.extend(index.to_ne_bytes());
    add_attribute(&mut body, IFA_LOCAL, &bytes);
    add_attribute(&mut body, IFA_ADDRESS, &bytes);
    send_change(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Adds a default route through a device: of IPv6 if `is_v6`, else of IPv4.
///
/// # Errors
/// The error of the kernel.
pub fn add_default_route(index: u32, is_v6: bool) -> io::Result<()> {
    let family = if is_v6 { libc::AF_INET6 } else { libc::AF_INET } as u8;
    let mut body = vec![0u8; 12];
    body[0] = family;
    (body[4], body[5], body[6], body[7]) =
        (libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST);
    add_attribute(&mut body, RTA_OIF, &index.to_ne_bytes());
    send_change(libc::RTM_NEWROUTE, libc::NLM_F_CREATE, &body)
}

/// Returns the address family and the bytes of an address.
fn split_address(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(four) => (libc::AF_INET as u8, four.octets().to_vec()),
        IpAddr::V6(six) => (libc::AF_INET6 as u8, six.octets().to_vec()),
    }
}
