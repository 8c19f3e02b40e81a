//! Queue disciplines, classes and filters as the kernel describes them (rtnetlink(7)): listed, kept and made again, and set.
//!
//! The kernel's answer to RTM_GETQDISC holds the same attributes that RTM_NEWQDISC takes, so what is kept is sent back as
//! it came.

use crate::attributes::{add_attribute, attribute, attributes, text, word};
use crate::error::{Failure, Result, reason};
use crate::qdisc::{self, Class, Qdisc};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::{io, mem};

pub(crate) const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_GETQDISC: u16 = 38;
pub(crate) const RTM_NEWTCLASS: u16 = 40;
const RTM_GETTCLASS: u16 = 42;
const RTM_NEWTFILTER: u16 = 44;
const RTM_DELTFILTER: u16 = 45;
const RTM_GETTFILTER: u16 = 46;
/// Where `clsact` stands, and its handle.
const TC_H_CLSACT: u32 = 0xffff_fff1;
const CLSACT: u32 = 0xffff_0000;
/// Filters of what goes out, under `clsact`.
pub const TC_H_EGRESS: u32 = 0xffff_fff3;
const TCA_BPF_FD: u16 = 6;
const TCA_BPF_NAME: u16 = 7;
const TCA_BPF_FLAGS: u16 = 8;
const TCA_BPF_ID: u16 = 11;
/// The program's word is the verdict.
const TCA_BPF_FLAG_ACT_DIRECT: u32 = 1;
/// The place of a queue discipline that is a device's root.
pub(crate) const TC_H_ROOT: u32 = 0xffff_ffff;
/// Filters of what comes in, under `clsact` or `ingress`.
pub const TC_H_INGRESS: u32 = 0xffff_fff2;
/// Where each kind of filter has its actions (linux/pkt_cls.h), and what an action is. The first two redirect for us.
const ACTIONS: [(&str, u16); 9] = [
    ("matchall", 2),
    ("u32", 7),
    ("flower", 3),
    ("bpf", 1),
    ("basic", 3),
    ("fw", 4),
    ("flow", 9),
    ("route", 6),
    ("cgroup", 1),
];
const TCA_U32_DIVISOR: u16 = 4;
const TCA_U32_SEL: u16 = 5;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_MIRRED_PARMS: u16 = 2;
const TC_ACT_STOLEN: u32 = 4;
const TCA_EGRESS_REDIR: u32 = 1;
const TCA_INGRESS_REDIR: u32 = 3;
/// Attributes that describe rather than configure: statistics, hardware offload, blocks.
const KEPT: [u16; 2] = [TCA_KIND, TCA_OPTIONS];
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_INGRESS_BLOCK: u16 = 13;
const TCA_EGRESS_BLOCK: u16 = 14;
/// Stands for the device where filters are those of a block.
const TCM_IFINDEX_MAGIC_BLOCK: u32 = 0xffff_ffff;
const NLMSGERR_ATTR_MSG: u16 = 1;
/// Bytes of a message's head.
pub(crate) const HEADER: usize = 16;
const TCMSG: usize = 20;

/// Returns the kernel's description of the queue discipline at a device's root.
///
/// # Errors
/// A sentence when there is none or the kernel does not tell.
pub fn save_root(index: u32) -> Result<Vec<u8>> {
    let found = list_qdiscs(index)?.into_iter().find(|message| word(message, 12) == TC_H_ROOT);
    found.ok_or_else(|| Failure::new(format!("device {index} has no qdisc at its root")))
}

/// Makes a queue discipline again at a device's root, by its description.
///
/// # Errors
/// The kernel's.
pub fn restore_root(index: u32, message: &[u8]) -> io::Result<()> {
    let mut body = tcmsg(index, word(message, 8), TC_H_ROOT);
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

/// Returns the queue disciplines of a device, that of the root first.
///
/// # Errors
/// A sentence when the kernel does not tell.
pub fn qdiscs(index: u32) -> Result<Vec<Qdisc>> {
    let mut all: Vec<Qdisc> = list_qdiscs(index)?.iter().map(|message| read_qdisc(message)).collect();
    all.sort_by_key(|qdisc| qdisc.parent.is_some());
    Ok(all)
}

/// Returns the queue discipline at a device's root; the kernel's default has the handle `0:`.
///
/// # Errors
/// As [`qdiscs`].
pub fn root(index: u32) -> Result<Option<Qdisc>> {
    Ok(qdisc::root_of(&qdiscs(index)?).cloned())
}

/// Returns the classes of a device; none where the kernel does not tell.
pub fn classes(index: u32) -> Vec<Class> {
    let all = list(RTM_GETTCLASS, index, 0).unwrap_or_default();
    let read =
        |message: &Vec<u8>| Class { kind: kind_of(message), id: word(message, 8), parent: word(message, 12) };
    all.iter().map(read).collect()
}

fn list_qdiscs(index: u32) -> Result<Vec<Vec<u8>>> {
    list(RTM_GETQDISC, index, 0)
        .map_err(|error| Failure::system("the kernel does not tell its qdiscs", &error))
}

fn read_qdisc(message: &[u8]) -> Qdisc {
    let (handle, parent) = (word(message, 8), word(message, 12));
    let parent = (parent != TC_H_ROOT && parent != 0).then(|| qdisc::id(parent));
    let described = message.get(TCMSG..).unwrap_or_default();
    let block = |kind| attribute(described, kind).map_or(0, |block| word(block, 0));
    let blocks = [TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK].map(block);
    let kind = kind_of(message);
    let read = Qdisc::new(&kind, &format!("{:x}:", handle >> 16), parent.as_deref());
    Qdisc { blocks, ..read.with_options(options_of(message)) }
}

/// Makes or changes a queue discipline or a class (`what` is RTM_NEWQDISC or RTM_NEWTCLASS) of a kind, with these options.
///
/// # Errors
/// The kernel's reason, as a clause.
pub(crate) fn put(
    what: u16,
    flags: libc::c_int,
    index: u32,
    [handle, parent]: [u32; 2],
    kind: &str,
    options: &[u8],
) -> std::result::Result<(), String> {
    let mut body = tcmsg(index, handle, parent);
    add_attribute(&mut body, TCA_KIND, &[kind.as_bytes(), b"\0"].concat());
    if !options.is_empty() {
        add_attribute(&mut body, TCA_OPTIONS, options);
    }
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let done = ask(what, flags, &body, false).map(drop);
    done.map_err(|(error, said)| said.unwrap_or_else(|| reason(&error)))
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

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Its preference.
    pub preference: u32,
    /// `bpf`, `u32`, …
    pub kind: String,
    /// The section or program of a bpf filter.
    pub program: String,
    /// The number of a bpf filter's program.
    pub id: Option<u32>,
    /// What it does, in this order: `mirred`, `ctinfo`, …; none where that is not known of its kind.
    pub actions: Vec<String>,
    /// Numbers of the devices that it redirects to.
    pub targets: Vec<u32>,
    /// The block that it is in, which other devices may share; `None` of a device's own.
    pub block: Option<u32>,
}

/// Returns the filters of a device on a side, [`TC_H_INGRESS`] or [`TC_H_EGRESS`], or with 0 those of its root; none where
/// the kernel does not tell.
pub fn filters(index: u32, side: u32) -> Vec<Filter> {
    let all = list(RTM_GETTFILTER, index, side).unwrap_or_default();
    all.iter().filter_map(|message| read_filter(message)).collect()
}

/// Returns a filter; `None` of what only announces the next ones, and of a table of u32's.
fn read_filter(message: &[u8]) -> Option<Filter> {
    let (kind, options) = (kind_of(message), options_of(message));
    if options.is_empty() || (kind == "u32" && attribute(options, TCA_U32_DIVISOR).is_some()) {
        return None;
    }
    let of_bpf = |wanted| attribute(options, wanted).filter(|_| kind == "bpf");
    let place = ACTIONS.iter().find(|(known, _)| *known == kind);
    let list = place.and_then(|(_, place)| attribute(options, *place)).unwrap_or_default();
    let actions: Vec<&[u8]> = attributes(list).map(|(_, whole)| &whole[4..]).collect();
    let target = |action: &&[u8]| {
        let parameters = attribute(attribute(action, TCA_ACT_OPTIONS)?, TCA_MIRRED_PARMS)?;
        let is_redirect = [TCA_EGRESS_REDIR, TCA_INGRESS_REDIR].contains(&word(parameters, 20));
        is_redirect.then(|| word(parameters, 24))
    };
    let kind_of = |action: &&[u8]| text(attribute(action, TCA_ACT_KIND).unwrap_or_default());
    Some(Filter {
        preference: word(message, 16) >> 16,
        program: of_bpf(TCA_BPF_NAME).map(text).unwrap_or_default(),
        id: of_bpf(TCA_BPF_ID).map(|id| word(id, 0)),
        actions: actions.iter().map(kind_of).collect(),
        targets: actions.iter().filter(|one| kind_of(one) == "mirred").filter_map(target).collect(),
        block: (word(message, 4) == TCM_IFINDEX_MAGIC_BLOCK).then(|| word(message, 12)),
        kind,
    })
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
    let info = crate::bpf::program_info(program)?;
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
    attribute(options_of(answers.first()?), TCA_BPF_ID).map(|id| word(id, 0))
}

/// Returns the head of a message about a filter of what goes out, of every protocol.
fn filter(index: u32, priority: u32, handle: u32) -> Vec<u8> {
    filter_head(index, priority, handle, TC_H_EGRESS)
}

/// Returns the head of a message about the filters of what comes in, of every protocol.
fn incoming_head(index: u32, preference: u32) -> Vec<u8> {
    filter_head(index, preference, 0, TC_H_INGRESS)
}

fn filter_head(index: u32, priority: u32, handle: u32, side: u32) -> Vec<u8> {
    let mut body = tcmsg(index, handle, side);
    let every = u32::from((libc::ETH_P_ALL as u16).to_be());
    body[16..20].copy_from_slice(&(priority << 16 | every).to_ne_bytes());
    body
}

/// Returns what the kernel lists of a kind at a device, below a parent where one is given; filters also of a block that
/// the device shares with others.
fn list(kind: u16, index: u32, parent: u32) -> io::Result<Vec<Vec<u8>>> {
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut all = exchange(kind, dump, &tcmsg(index, 0, parent), true)?;
    all.retain(|message| [index, TCM_IFINDEX_MAGIC_BLOCK].contains(&word(message, 4)));
    Ok(all)
}

/// Returns the kind of a qdisc or filter, such as `tbf`.
fn kind_of(message: &[u8]) -> String {
    let value = message.get(TCMSG..).and_then(|bytes| attribute(bytes, TCA_KIND)).unwrap_or_default();
    text(value)
}

/// Returns the options of a qdisc or filter; none of one without.
fn options_of(message: &[u8]) -> &[u8] {
    message.get(TCMSG..).and_then(|bytes| attribute(bytes, TCA_OPTIONS)).unwrap_or_default()
}

/// Sends a request for a change, and waits until it is done.
///
/// # Errors
/// The kernel's.
pub(crate) fn change(kind: u16, flags: libc::c_int, body: &[u8]) -> io::Result<()> {
    exchange(kind, (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16, body, false).map(drop)
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

fn tcmsg(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let mut body = vec![0u8; TCMSG];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&handle.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    body
}

/// Sends a request. Returns the bodies of the answers; of one that is only acknowledged, none.
pub(crate) fn exchange(kind: u16, flags: u16, body: &[u8], is_dump: bool) -> io::Result<Vec<Vec<u8>>> {
    ask(kind, flags, body, is_dump).map_err(|(error, _)| error)
}

/// Sends a request, as [`exchange`]. An error comes with what the kernel says of it, if it says anything.
fn ask(
    kind: u16,
    flags: u16,
    body: &[u8],
    is_dump: bool,
) -> std::result::Result<Vec<Vec<u8>>, (io::Error, Option<String>)> {
    let fault = || Err((io::Error::last_os_error(), None));
    // SAFETY: sockets and buffers are valid for the calls; lengths are given.
    unsafe {
        let socket = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE);
        if socket < 0 {
            return fault();
        }
        let socket = OwnedFd::from_raw_fd(socket);
        // An error's text then follows at once, without the request; kernels that know neither only give its number.
        for option in [libc::NETLINK_EXT_ACK, libc::NETLINK_CAP_ACK] {
            let (on, size) = (1_i32, size_of::<i32>() as u32);
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_NETLINK, option, (&raw const on).cast(), size);
        }
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
            return fault();
        }
        let mut answers = Vec::new();
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let got = libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0);
            if got < 0 {
                return fault();
            }
            let mut rest = &buffer[..got as usize];
            while rest.len() >= HEADER {
                let bytes = (word(rest, 0) as usize).clamp(HEADER, rest.len());
                let kind = i32::from(u16::from_ne_bytes([rest[4], rest[5]]));
                match kind {
                    libc::NLMSG_DONE => return Ok(answers),
                    libc::NLMSG_ERROR => {
                        let error = word(rest, HEADER) as i32;
                        // Behind the error's number and the head of the request.
                        let told = rest.get(HEADER + 4 + HEADER..bytes).unwrap_or_default();
                        return match error {
                            0 => Ok(answers),
                            _ => Err((
                                io::Error::from_raw_os_error(-error),
                                attribute(told, NLMSGERR_ATTR_MSG).map(text),
                            )),
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
    fn described(kind: &str, handle: u32, parent: u32) -> Vec<u8> {
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
            let read = read_qdisc(&described(kind, handle, parent));
            let wanted = (kind, said, below);
            assert_eq!((read.kind.as_str(), read.handle.as_str(), read.parent.as_deref()), wanted);
        }
    }

    #[test]
    fn read_filter__of_a_redirection_of_each_kind_and_of_what_is_none() {
        for (kind, actions) in ACTIONS {
            let mut body = described(kind, 1, TC_H_INGRESS);
            body[16..20].copy_from_slice(&(28_008u32 << 16).to_ne_bytes());
            add_attribute(&mut body, TCA_OPTIONS, &redirect_options(kind, actions, 77));
            let read = read_filter(&body).unwrap();
            assert_eq!((read.preference, read.kind.as_str(), &read.targets[..]), (28_008, kind, &[77][..]));
            assert_eq!(read.actions, ["mirred"]);
            for length in 0..body.len() {
                let cut = read_filter(&body[..length]);
                assert!(cut.is_none_or(|one| one.targets.iter().all(|to| *to == 77 || *to == 0)));
            }
        }
        assert_eq!(read_filter(&described("u32", 1, TC_H_INGRESS)), None, "it announces others");
        let mut table = described("u32", 1, TC_H_INGRESS);
        let mut options = Vec::new();
        add_attribute(&mut options, TCA_U32_DIVISOR, &1u32.to_ne_bytes());
        add_attribute(&mut table, TCA_OPTIONS, &options);
        assert_eq!(read_filter(&table), None, "a table of u32's");
    }

    #[test]
    fn read_filter__of_a_program() {
        let mut options = Vec::new();
        add_attribute(&mut options, TCA_BPF_NAME, b"qosify_tc\0");
        add_attribute(&mut options, TCA_BPF_ID, &41u32.to_ne_bytes());
        let mut body = described("bpf", 1, TC_H_EGRESS);
        add_attribute(&mut body, TCA_OPTIONS, &options);
        let wanted =
            Filter { kind: "bpf".into(), program: "qosify_tc".into(), id: Some(41), ..Filter::default() };
        assert_eq!(read_filter(&body), Some(wanted));
    }

    #[test]
    fn read_filter__of_a_shared_block() {
        let mut body = described("u32", 1, 7);
        body[4..8].copy_from_slice(&TCM_IFINDEX_MAGIC_BLOCK.to_ne_bytes());
        add_attribute(&mut body, TCA_OPTIONS, &redirect_options("u32", 7, 77));
        let read = read_filter(&body).unwrap();
        assert_eq!((read.block, &read.targets[..]), (Some(7), &[77][..]));
        let mut body = described("clsact", CLSACT, TC_H_CLSACT);
        add_attribute(&mut body, TCA_INGRESS_BLOCK, &7u32.to_ne_bytes());
        add_attribute(&mut body, TCA_EGRESS_BLOCK, &8u32.to_ne_bytes());
        assert_eq!(read_qdisc(&body).blocks, [7, 8]);
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
