//! Queue disciplines and filters as the kernel describes them: listed, kept and made again, and set.
//!
//! `tc` can show a qdisc but not save it. The kernel's answer to RTM_GETQDISC holds the same attributes that
//! RTM_NEWQDISC takes (rtnetlink(7)), so the answer is sent back as it came.

use crate::error::{Failure, Result};
use crate::tc::Qdisc;
use serde_json::Value;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::{io, mem};

const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_GETQDISC: u16 = 38;
const RTM_NEWTFILTER: u16 = 44;
const RTM_DELTFILTER: u16 = 45;
const RTM_GETTFILTER: u16 = 46;
/// Where `clsact` stands, its handle, and the filters of what goes out below it.
const TC_H_CLSACT: u32 = 0xffff_fff1;
const CLSACT: u32 = 0xffff_0000;
const TC_H_EGRESS: u32 = 0xffff_fff3;
const TCA_BPF_FD: u16 = 6;
const TCA_BPF_NAME: u16 = 7;
const TCA_BPF_FLAGS: u16 = 8;
const TCA_BPF_ID: u16 = 11;
/// The program's word is the verdict.
const TCA_BPF_FLAG_ACT_DIRECT: u32 = 1;
const TC_H_ROOT: u32 = 0xffff_ffff;
/// Filters of what comes in, under `clsact` or `ingress`.
const TC_H_INGRESS: u32 = 0xffff_fff2;
/// Of the filters that redirect: where each kind has its actions, and what an action is.
const ACTIONS: [(&str, u16); 2] = [("matchall", 2), ("u32", 7)];
const TCA_U32_SEL: u16 = 5;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_MIRRED_PARMS: u16 = 2;
const TC_ACT_STOLEN: u32 = 4;
const TCA_EGRESS_REDIR: u32 = 1;
/// Attributes that describe rather than configure: statistics, hardware offload, blocks.
const KEPT: [u16; 2] = [TCA_KIND, TCA_OPTIONS];
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
/// Bytes of a message's head.
pub(crate) const HEADER: usize = 16;
const TCMSG: usize = 20;

/// Returns the kernel's description of the queue discipline at a device's root.
///
/// # Errors
/// A sentence when there is none or the kernel does not tell.
pub fn save_root(index: u32) -> Result<Vec<u8>> {
    let found = list_qdiscs(index)?.into_iter().find(|message| read_u32(message, 12) == TC_H_ROOT);
    found.ok_or_else(|| Failure::new(format!("device {index} has no qdisc at its root")))
}

/// Makes a queue discipline again at a device's root, by its description.
///
/// # Errors
/// The kernel's.
pub fn restore_root(index: u32, message: &[u8]) -> io::Result<()> {
    let mut body = tcmsg(index, read_u32(message, 8), TC_H_ROOT);
    body.extend(configuration(message));
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    exchange(RTM_NEWQDISC, flags as u16, &body, false).map(drop)
}

/// Returns bytes that differ where a device's queue disciplines do, or the filters of what comes in there; counters do
/// not count. Where the kernel does not tell, they are those of none.
pub fn print_of(index: u32) -> Vec<u8> {
    let mut print = Vec::new();
    for message in &list(RTM_GETQDISC, index, 0).unwrap_or_default() {
        print.extend(message.get(8..16).unwrap_or_default());
        print.extend(configuration(message));
    }
    for message in &list(RTM_GETTFILTER, index, TC_H_INGRESS).unwrap_or_default() {
        // Of a filter's options, its actions count packets.
        print.extend(message.get(8..TCMSG).unwrap_or_default());
    }
    print
}

/// Returns the queue disciplines of a device, that of the root first: as `tc` lists them, without their options.
///
/// # Errors
/// A sentence when the kernel does not tell.
pub fn qdiscs(index: u32) -> Result<Vec<Qdisc>> {
    let mut all: Vec<Qdisc> = list_qdiscs(index)?.iter().map(|message| read_qdisc(message)).collect();
    all.sort_by_key(|qdisc| qdisc.parent.is_some());
    Ok(all)
}

fn list_qdiscs(index: u32) -> Result<Vec<Vec<u8>>> {
    list(RTM_GETQDISC, index, 0)
        .map_err(|error| Failure::system("the kernel does not tell its qdiscs", &error))
}

/// Parses a message of rtnetlink(7) about a qdisc.
fn read_qdisc(message: &[u8]) -> Qdisc {
    let (handle, parent) = (read_u32(message, 8), read_u32(message, 12));
    let number = |half: u32| if half == 0 { String::new() } else { format!("{half:x}") };
    Qdisc {
        kind: kind_of(message),
        handle: format!("{:x}:", handle >> 16),
        parent: (parent != TC_H_ROOT && parent != 0)
            .then(|| format!("{}:{}", number(parent >> 16), number(parent & 0xffff))),
        options: Value::Null,
    }
}

/// Removes the queue discipline at a device's root.
///
/// # Errors
/// The kernel's, such as that there is none.
pub fn remove_root(index: u32) -> io::Result<()> {
    change(RTM_DELQDISC, 0, &tcmsg(index, 0, TC_H_ROOT))
}

/// Returns whether anything is filtered under a device's `clsact` or `ingress`.
pub fn has_filters(index: u32) -> bool {
    [TC_H_INGRESS, TC_H_EGRESS]
        .iter()
        .any(|side| list(RTM_GETTFILTER, index, *side).is_ok_and(|all| !all.is_empty()))
}

/// A filter of what comes in at a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incoming {
    /// Its preference.
    pub preference: u32,
    /// Number of the device that it redirects everything to; `None` where that cannot be told.
    pub redirects_to: Option<u32>,
}

/// Returns the filters of what comes in at a device; none where the kernel does not tell.
pub fn incoming(index: u32) -> Vec<Incoming> {
    let all = list(RTM_GETTFILTER, index, TC_H_INGRESS).unwrap_or_default();
    let read = |message: &Vec<u8>| Incoming {
        preference: read_u32(message, 16) >> 16,
        redirects_to: target_of(message),
    };
    all.iter().map(read).collect()
}

/// Returns the device that the first action of a filter redirects to.
fn target_of(filter: &[u8]) -> Option<u32> {
    let kind = kind_of(filter);
    let (_, actions) = ACTIONS.iter().find(|(known, _)| *known == kind)?;
    let mut inner = attribute(filter.get(TCMSG..)?, TCA_OPTIONS)?;
    for kind in [*actions, 1, TCA_ACT_OPTIONS, TCA_MIRRED_PARMS] {
        inner = attribute(inner, kind)?;
    }
    (read_u32(inner, 20) == TCA_EGRESS_REDIR).then(|| read_u32(inner, 24))
}

/// Has everything that comes in at a device leave by another one. The device must have a `clsact` or `ingress`.
///
/// # Errors
/// The kernel's, such as that it has neither `matchall` nor `u32`.
pub fn add_redirect(index: u32, preference: u32, to: u32) -> io::Result<()> {
    let add = |(kind, actions): (&str, u16)| {
        let mut body = incoming_head(index, preference);
        add_attribute(&mut body, TCA_KIND, &[kind.as_bytes(), b"\0"].concat());
        add_attribute(&mut body, TCA_OPTIONS, &redirect_options(kind, actions, to));
        change(RTM_NEWTFILTER, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    };
    // Kernels without matchall have u32.
    add(ACTIONS[0]).or_else(|_| add(ACTIONS[1]))
}

/// Returns the options of a filter whose action redirects every packet to the device `to`.
fn redirect_options(kind: &str, actions: u16, to: u32) -> Vec<u8> {
    let mut parameters = [0_u8; 28];
    for (at, value) in [(8, TC_ACT_STOLEN), (20, TCA_EGRESS_REDIR), (24, to)] {
        parameters[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
    let nested = |kind, value: &[u8]| {
        let mut body = Vec::new();
        add_attribute(&mut body, kind, value);
        body
    };
    let mut action = nested(TCA_ACT_KIND, b"mirred\0");
    add_attribute(&mut action, TCA_ACT_OPTIONS, &nested(TCA_MIRRED_PARMS, &parameters));
    let mut options = Vec::new();
    if kind == "u32" {
        // One key that every packet has, and then the action: flags, shift, number of keys.
        let mut selector = [0_u8; 32];
        (selector[0], selector[2]) = (1, 1);
        add_attribute(&mut options, TCA_U32_SEL, &selector);
    }
    add_attribute(&mut options, actions, &nested(1, &action));
    options
}

/// Removes the filters of a preference of what comes in at a device.
///
/// # Errors
/// The kernel's, such as that there is none.
pub fn remove_incoming(index: u32, preference: u32) -> io::Result<()> {
    change(RTM_DELTFILTER, 0, &incoming_head(index, preference))
}

/// Adds a `clsact` to a device.
///
/// # Errors
/// The kernel's, such as that there is one.
pub fn add_clsact(index: u32) -> io::Result<()> {
    let mut body = tcmsg(index, CLSACT, TC_H_CLSACT);
    add_attribute(&mut body, TCA_KIND, b"clsact\0");
    change(RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Removes the `clsact` of a device, with all that is below it.
///
/// # Errors
/// The kernel's, such as that there is none.
pub fn remove_clsact(index: u32) -> io::Result<()> {
    change(RTM_DELQDISC, 0, &tcmsg(index, CLSACT, TC_H_CLSACT))
}

/// Has a program filter what goes out of a device, or puts it in the place of the one that does.
///
/// # Errors
/// The kernel's.
pub fn set_filter(
    index: u32,
    priority: u32,
    handle: u32,
    program: BorrowedFd,
    replaces: bool,
) -> io::Result<()> {
    let info = crate::bpf::read_program_info(program)?;
    let name = format!("{}:[{}]\0", crate::bpf::text(&info.name), info.id);
    let mut options = Vec::new();
    add_attribute(&mut options, TCA_BPF_FD, &(program.as_raw_fd() as u32).to_ne_bytes());
    add_attribute(&mut options, TCA_BPF_NAME, name.as_bytes());
    add_attribute(&mut options, TCA_BPF_FLAGS, &TCA_BPF_FLAG_ACT_DIRECT.to_ne_bytes());
    let mut body = filter(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    add_attribute(&mut body, TCA_OPTIONS, &options);
    let how = if replaces { libc::NLM_F_REPLACE } else { libc::NLM_F_EXCL };
    change(RTM_NEWTFILTER, libc::NLM_F_CREATE | how, &body)
}

/// Removes a filter of what goes out of a device.
///
/// # Errors
/// The kernel's, such as that there is none.
pub fn remove_filter(index: u32, priority: u32, handle: u32) -> io::Result<()> {
    let mut body = filter(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    change(RTM_DELTFILTER, 0, &body)
}

/// Returns the number of the program of a filter of what goes out of a device; `None` without the filter.
pub fn filter_program(index: u32, priority: u32, handle: u32) -> Option<u32> {
    let mut body = filter(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    let answers = exchange(RTM_GETTFILTER, libc::NLM_F_REQUEST as u16, &body, false).ok()?;
    let answer = answers.first()?;
    let options = attribute(answer.get(TCMSG..)?, TCA_OPTIONS)?;
    attribute(options, TCA_BPF_ID).map(|id| read_u32(id, 0))
}

/// Returns the head of a message about a filter of what goes out, of every protocol.
fn filter(index: u32, priority: u32, handle: u32) -> Vec<u8> {
    filter_head(index, priority, handle, TC_H_EGRESS)
}

/// Returns the head of a message about the filters of what comes in, of every protocol.
fn incoming_head(index: u32, preference: u32) -> Vec<u8> {
    filter_head(index, preference, 0, TC_H_INGRESS)
}

/// Returns the head of a message about a filter of every protocol.
fn filter_head(index: u32, priority: u32, handle: u32, side: u32) -> Vec<u8> {
    let mut body = tcmsg(index, handle, side);
    let every = u32::from((libc::ETH_P_ALL as u16).to_be());
    body[16..20].copy_from_slice(&(priority << 16 | every).to_ne_bytes());
    body
}

/// Returns what the kernel lists of a kind at a device, below a parent where one is given.
fn list(kind: u16, index: u32, parent: u32) -> io::Result<Vec<Vec<u8>>> {
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut all = exchange(kind, dump, &tcmsg(index, 0, parent), true)?;
    all.retain(|message| read_u32(message, 4) == index);
    Ok(all)
}

/// Returns the kind of a qdisc or filter, such as `tbf`.
fn kind_of(message: &[u8]) -> String {
    let value = message.get(TCMSG..).and_then(|bytes| attribute(bytes, TCA_KIND)).unwrap_or_default();
    text(value)
}

/// Sends a request for a change, and waits until it is done.
///
/// # Errors
/// The kernel's.
pub(crate) fn change(kind: u16, flags: libc::c_int, body: &[u8]) -> io::Result<()> {
    exchange(kind, (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16, body, false).map(drop)
}

/// Appends an attribute to a message.
pub(crate) fn add_attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend(((4 + value.len()) as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Returns the attributes of a message that configure.
fn configuration(message: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for (_, whole) in
        attributes(message.get(TCMSG..).unwrap_or_default()).filter(|(kind, _)| KEPT.contains(kind))
    {
        all.extend(whole);
        all.resize(all.len().next_multiple_of(4), 0);
    }
    all
}

/// Returns the attributes of a message: kind, and the bytes with their head of four.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| rest.len() >= 4)?;
        let length = u16::from_ne_bytes([rest[0], rest[1]]) as usize;
        let kind = u16::from_ne_bytes([rest[2], rest[3]]) & 0x3fff;
        let whole = rest.get(..length).filter(|whole| whole.len() >= 4)?;
        at += length.next_multiple_of(4);
        Some((kind, whole))
    })
}

/// Returns the value of an attribute of a message.
pub(crate) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, whole)| &whole[4..])
}

/// Returns a text that ends at the first zero byte.
pub(crate) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns the struct tcmsg at the head of messages about traffic control (rtnetlink(7)).
fn tcmsg(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let mut body = vec![0u8; TCMSG];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&handle.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    body
}

/// Returns the number at a place of a message; 0 behind its end.
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes(four.try_into().expect("four bytes")))
}

/// Sends a request. Returns the bodies of the answers; of one that is only acknowledged, none.
pub(crate) fn exchange(kind: u16, flags: u16, body: &[u8], is_dump: bool) -> io::Result<Vec<Vec<u8>>> {
    // SAFETY: sockets and buffers are valid for the calls; lengths are given.
    unsafe {
        let socket = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(socket);
        let mut message = Vec::with_capacity(HEADER + body.len());
        message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0u8; 8]);
        message.extend(body);
        let mut kernel: libc::sockaddr_nl = mem::zeroed();
        kernel.nl_family = libc::AF_NETLINK as u16;
        let sent = libc::sendto(
            socket.as_raw_fd(),
            message.as_ptr().cast(),
            message.len(),
            0,
            (&raw const kernel).cast(),
            size_of::<libc::sockaddr_nl>() as u32,
        );
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut answers = Vec::new();
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let got = libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0);
            if got < 0 {
                return Err(io::Error::last_os_error());
            }
            let mut rest = &buffer[..got as usize];
            while rest.len() >= HEADER {
                let bytes = (read_u32(rest, 0) as usize).clamp(HEADER, rest.len());
                let kind = i32::from(u16::from_ne_bytes([rest[4], rest[5]]));
                match kind {
                    libc::NLMSG_DONE => return Ok(answers),
                    libc::NLMSG_ERROR => {
                        let error = read_u32(rest, HEADER) as i32;
                        return if error == 0 {
                            Ok(answers)
                        } else {
                            Err(io::Error::from_raw_os_error(-error))
                        };
                    }
                    _ => answers.push(rest[HEADER..bytes].to_vec()),
                }
                rest = &rest[bytes.next_multiple_of(4).min(rest.len())..];
            }
            if !is_dump && !answers.is_empty() {
                return Ok(answers);
            }
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the head of a message about what has this handle and parent, with its kind.
    fn describe_message(kind: &str, handle: u32, parent: u32) -> Vec<u8> {
        let mut body = tcmsg(3, handle, parent);
        add_attribute(&mut body, TCA_KIND, &[kind.as_bytes(), b"\0"].concat());
        body
    }

    #[test]
    fn read_qdisc__names_handle_and_parent_as_tc_does() {
        let cases = [
            ("tbf", 0x6d48_0000, TC_H_ROOT, "6d48:", None),
            ("noqueue", 0, TC_H_ROOT, "0:", None),
            ("clsact", CLSACT, TC_H_CLSACT, "ffff:", Some("ffff:fff1")),
            ("fq_codel", 0, 0x0000_0002, "0:", Some(":2")),
            ("pfifo", 0x8001_0000, 0x0001_0000, "8001:", Some("1:")),
        ];
        for (kind, handle, parent, said, below) in cases {
            let read = read_qdisc(&describe_message(kind, handle, parent));
            let wanted = (kind, said, below);
            assert_eq!((read.kind.as_str(), read.handle.as_str(), read.parent.as_deref()), wanted);
        }
    }

    #[test]
    fn target__of_a_redirection_of_each_kind_and_of_other_filters() {
        for (kind, actions) in ACTIONS {
            let mut body = describe_message(kind, 1, TC_H_INGRESS);
            add_attribute(&mut body, TCA_OPTIONS, &redirect_options(kind, actions, 77));
            assert_eq!(target_of(&body), Some(77), "{kind}");
            assert_eq!(kind_of(&body), kind);
            for length in 0..body.len() {
                assert!(target_of(&body[..length]).is_none_or(|to| to == 77 || to == 0));
            }
        }
        assert_eq!(target_of(&describe_message("bpf", 1, TC_H_INGRESS)), None);
        let mut bare = describe_message("u32", 1, TC_H_INGRESS);
        add_attribute(&mut bare, TCA_OPTIONS, &[]);
        assert_eq!(target_of(&bare), None, "a table of u32's, which has no action");
    }

    #[test]
    fn configuration__of_what_is_cut_short() {
        let mut whole = vec![0; TCMSG];
        whole.extend([8, 0, TCA_KIND as u8, 0, b't', b'b', b'f', 0]);
        whole.extend([12, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8]); // counters
        assert_eq!(configuration(&whole), whole[TCMSG..TCMSG + 8]);
        for length in 0..whole.len() {
            assert!(configuration(&whole[..length]).len() <= 8);
        }
    }
}
