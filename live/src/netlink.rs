//! Lists, saves, restores and sets queue disciplines, classes and filters (rtnetlink(7)).
//!
//! The kernel's answer to RTM_GETQDISC has the same attributes that RTM_NEWQDISC takes, so a saved
//! queue discipline is restored by sending them back unchanged.

use crate::error::{Failure, Result, format_reason};
use crate::qdisc::{self, Class, Qdisc};
use mousehole_netlink::{add_attribute, attribute, attributes, exchange, send, send_change, text, word};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

pub(crate) const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_GETQDISC: u16 = 38;
pub(crate) const RTM_NEWTCLASS: u16 = 40;
const RTM_GETTCLASS: u16 = 42;
const RTM_NEWTFILTER: u16 = 44;
const RTM_DELTFILTER: u16 = 45;
const RTM_GETTFILTER: u16 = 46;
/// The parent of `clsact`.
const TC_H_CLSACT: u32 = 0xffff_fff1;
/// The handle of `clsact`.
const CLSACT: u32 = 0xffff_0000;
/// The parent of filters of outgoing packets, under `clsact`.
pub const TC_H_EGRESS: u32 = 0xffff_fff3;
const TCA_BPF_FD: u16 = 6;
const TCA_BPF_NAME: u16 = 7;
const TCA_BPF_FLAGS: u16 = 8;
const TCA_BPF_ID: u16 = 11;
/// The program's return value is the verdict.
const TCA_BPF_FLAG_ACT_DIRECT: u32 = 1;
/// The parent of a queue discipline that is a device's root.
pub(crate) const TC_H_ROOT: u32 = 0xffff_ffff;
/// The parent of filters of incoming packets, under `clsact` or `ingress`.
pub const TC_H_INGRESS: u32 = 0xffff_fff2;
/// The attribute that holds the actions, for each kind of filter (linux/pkt_cls.h). Our redirection
/// uses the first two.
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
/// The attributes that configure; others describe: statistics, hardware offload, blocks.
const KEPT: [u16; 2] = [TCA_KIND, TCA_OPTIONS];
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_INGRESS_BLOCK: u16 = 13;
const TCA_EGRESS_BLOCK: u16 = 14;
/// Stands for the device where filters are those of a block.
const TCM_IFINDEX_MAGIC_BLOCK: u32 = 0xffff_ffff;
/// Bytes of struct tcmsg, the fixed part of a message.
const TCMSG: usize = 20;

/// Returns the kernel's message about the queue discipline at a device's root, for
/// [`restore_root`].
///
/// # Errors
/// A sentence when there is none or the kernel does not list them.
pub fn save_root(index: u32) -> Result<Vec<u8>> {
    let found = dump_qdiscs(index)?.into_iter().find(|message| word(message, 12) == TC_H_ROOT);
    found.ok_or_else(|| Failure::new(format!("device {index} has no qdisc at its root")))
}

/// Installs a queue discipline at a device's root, replacing the present one with its packets.
/// `message` comes from [`save_root`].
///
/// # Errors
/// The kernel's error.
pub fn restore_root(index: u32, message: &[u8]) -> io::Result<()> {
    let mut body = encode_tcmsg(index, word(message, 8), TC_H_ROOT);
    body.extend(select_configuration(message));
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    exchange(RTM_NEWQDISC, flags as u16, &body, false).map(drop)
}

/// Returns bytes that differ when the queue disciplines of a device or the filters of its incoming
/// packets differ; counters do not matter. Without an answer of the kernel, they are as for a
/// device that has none.
pub fn fingerprint(index: u32) -> Vec<u8> {
    let mut print = Vec::new();
    for message in &dump(RTM_GETQDISC, index, 0).unwrap_or_default() {
        print.extend(message.get(8..16).unwrap_or_default());
        print.extend(select_configuration(message));
    }
    for message in &dump(RTM_GETTFILTER, index, TC_H_INGRESS).unwrap_or_default() {
        // A filter's options are left out, since its actions count packets in them.
        print.extend(message.get(8..TCMSG).unwrap_or_default());
    }
    print
}

/// Returns the queue disciplines of a device, the root first.
///
/// # Errors
/// A sentence when the kernel does not list them.
pub fn list_qdiscs(index: u32) -> Result<Vec<Qdisc>> {
    let mut all: Vec<Qdisc> = dump_qdiscs(index)?.iter().map(|message| read_qdisc(message)).collect();
    all.sort_by_key(|qdisc| qdisc.parent.is_some());
    Ok(all)
}

/// Returns the queue discipline at a device's root; the kernel's default has the handle `0:`.
///
/// # Errors
/// As [`list_qdiscs`].
pub fn find_root(index: u32) -> Result<Option<Qdisc>> {
    Ok(qdisc::find_root(&list_qdiscs(index)?).cloned())
}

/// Returns the classes of a device; none if the kernel does not list them.
pub fn list_classes(index: u32) -> Vec<Class> {
    let all = dump(RTM_GETTCLASS, index, 0).unwrap_or_default();
    let read =
        |message: &Vec<u8>| Class { kind: kind_of(message), id: word(message, 8), parent: word(message, 12) };
    all.iter().map(read).collect()
}

/// Returns the kernel's messages about a device's queue disciplines.
///
/// # Errors
/// A sentence when the kernel does not list them.
fn dump_qdiscs(index: u32) -> Result<Vec<Vec<u8>>> {
    dump(RTM_GETQDISC, index, 0)
        .map_err(|error| Failure::system("the kernel does not list its qdiscs", &error))
}

/// Returns the queue discipline that a message describes. What a message that is cut short lacks
/// counts as 0 or empty.
fn read_qdisc(message: &[u8]) -> Qdisc {
    let (handle, parent) = (word(message, 8), word(message, 12));
    let parent = (parent != TC_H_ROOT && parent != 0).then(|| qdisc::format_id(parent));
    let described = message.get(TCMSG..).unwrap_or_default();
    let block = |kind| attribute(described, kind).map_or(0, |block| word(block, 0));
    let blocks = [TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK].map(block);
    let kind = kind_of(message);
    let read = Qdisc::new(&kind, &format!("{:x}:", handle >> 16), parent.as_deref());
    Qdisc { blocks, ..read.with_options(options_of(message)) }
}

/// Creates or changes a queue discipline (`what` is RTM_NEWQDISC) or a class (RTM_NEWTCLASS) of a
/// kind; `flags` say which, as in rtnetlink(7). `options` is the body of TCA_OPTIONS, or empty.
///
/// # Errors
/// The kernel's reason, as a clause.
pub(crate) fn write_qdisc(
    what: u16,
    flags: libc::c_int,
    index: u32,
    [handle, parent]: [u32; 2],
    kind: &str,
    options: &[u8],
) -> std::result::Result<(), String> {
    let mut body = encode_tcmsg(index, handle, parent);
    add_attribute(&mut body, TCA_KIND, &[kind.as_bytes(), b"\0"].concat());
    if !options.is_empty() {
        add_attribute(&mut body, TCA_OPTIONS, options);
    }
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let done = send(what, flags, &body, false).map(drop);
    done.map_err(|(error, said)| said.unwrap_or_else(|| format_reason(&error)))
}

/// Removes the queue discipline at a device's root with its packets; the kernel then installs its
/// default.
///
/// # Errors
/// The kernel's error, for example if there is none.
pub fn remove_root(index: u32) -> io::Result<()> {
    send_change(RTM_DELQDISC, 0, &encode_tcmsg(index, 0, TC_H_ROOT))
}

/// Returns whether a device has a filter under `clsact` or `ingress`. False if the kernel does not
/// list them.
pub fn has_filters(index: u32) -> bool {
    [TC_H_INGRESS, TC_H_EGRESS]
        .iter()
        .any(|side| dump(RTM_GETTFILTER, index, *side).is_ok_and(|all| !all.is_empty()))
}

/// A filter of packets (tc(8)).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Its preference; lower ones run first.
    pub preference: u32,
    /// Its kind: `bpf`, `u32`, …
    pub kind: String,
    /// The section or program of a bpf filter; empty for other kinds.
    pub program: String,
    /// The number of a bpf filter's program.
    pub id: Option<u32>,
    /// The kinds of its actions in their order: `mirred`, `ctinfo`, …; empty if it has none, or if
    /// we do not know where its kind lists them.
    pub actions: Vec<String>,
    /// Interface indexes of the devices that it redirects to.
    pub targets: Vec<u32>,
    /// The block that it is in, which other devices may share; `None` if it is in none.
    pub block: Option<u32>,
}

/// Returns the filters of a device. `side` is [`TC_H_INGRESS`] or [`TC_H_EGRESS`], or 0 for those
/// of its root queue discipline. Returns none if the kernel does not list them.
pub fn list_filters(index: u32, side: u32) -> Vec<Filter> {
    let all = dump(RTM_GETTFILTER, index, side).unwrap_or_default();
    all.iter().filter_map(|message| read_filter(message)).collect()
}

/// Returns the filter that a message describes; `None` if the message only announces others or is a
/// hash table of u32.
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

/// Redirects all incoming packets of a device to the egress of device `to`. The device must have a
/// `clsact` or `ingress`.
///
/// # Errors
/// The kernel's error, for example if it has neither `matchall` nor `u32`.
pub fn add_redirect(index: u32, preference: u32, to: u32) -> io::Result<()> {
    let add = |(kind, actions): (&str, u16)| {
        let mut body = ingress_head(index, preference);
        add_attribute(&mut body, TCA_KIND, &[kind.as_bytes(), b"\0"].concat());
        add_attribute(&mut body, TCA_OPTIONS, &encode_redirect(kind, actions, to));
        send_change(RTM_NEWTFILTER, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    };
    // Kernels without matchall have u32.
    add(ACTIONS[0]).or_else(|_| add(ACTIONS[1]))
}

/// Returns the options of a filter of this kind that redirects every packet to device `to`.
/// `actions` is the attribute for its actions.
fn encode_redirect(kind: &str, actions: u16, to: u32) -> Vec<u8> {
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
        // A selector with one key that every packet matches: flags (terminal), shift, number of keys.
        let mut selector = [0_u8; 32];
        (selector[0], selector[2]) = (1, 1);
        add_attribute(&mut options, TCA_U32_SEL, &selector);
    }
    add_attribute(&mut options, actions, &nested(1, &action));
    options
}

/// Removes the filters of a device's incoming packets that have this preference.
///
/// # Errors
/// The kernel's error, for example if there is none.
pub fn remove_ingress_filters(index: u32, preference: u32) -> io::Result<()> {
    send_change(RTM_DELTFILTER, 0, &ingress_head(index, preference))
}

/// Adds a `clsact` to a device.
///
/// # Errors
/// The kernel's error: EEXIST if there is one.
pub fn add_clsact(index: u32) -> io::Result<()> {
    let mut body = encode_tcmsg(index, CLSACT, TC_H_CLSACT);
    add_attribute(&mut body, TCA_KIND, b"clsact\0");
    send_change(RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
}

/// Removes the `clsact` of a device and all filters under it.
///
/// # Errors
/// The kernel's error, for example if there is none.
pub fn remove_clsact(index: u32) -> io::Result<()> {
    send_change(RTM_DELQDISC, 0, &encode_tcmsg(index, CLSACT, TC_H_CLSACT))
}

/// Attaches a program as a filter of a device's outgoing packets; with `replaces`, it may replace
/// the present program of that filter.
///
/// # Errors
/// The kernel's error.
pub fn set_filter(
    index: u32,
    priority: u32,
    handle: u32,
    program: BorrowedFd,
    replaces: bool,
) -> io::Result<()> {
    let info = crate::bpf::program_info(program)?;
    let name = format!("{}:[{}]\0", crate::bpf::parse_name(&info.name), info.id);
    let mut options = Vec::new();
    add_attribute(&mut options, TCA_BPF_FD, &(program.as_raw_fd() as u32).to_ne_bytes());
    add_attribute(&mut options, TCA_BPF_NAME, name.as_bytes());
    add_attribute(&mut options, TCA_BPF_FLAGS, &TCA_BPF_FLAG_ACT_DIRECT.to_ne_bytes());
    let mut body = egress_head(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    add_attribute(&mut body, TCA_OPTIONS, &options);
    let how = if replaces { libc::NLM_F_REPLACE } else { libc::NLM_F_EXCL };
    send_change(RTM_NEWTFILTER, libc::NLM_F_CREATE | how, &body)
}

/// Removes a filter of a device's outgoing packets.
///
/// # Errors
/// The kernel's error, for example if there is none.
pub fn remove_filter(index: u32, priority: u32, handle: u32) -> io::Result<()> {
    let mut body = egress_head(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    send_change(RTM_DELTFILTER, 0, &body)
}

/// Returns the number of the program of a filter of outgoing packets; `None` if there is no such
/// filter or the kernel does not answer.
pub fn find_filter_program(index: u32, priority: u32, handle: u32) -> Option<u32> {
    let mut body = egress_head(index, priority, handle);
    add_attribute(&mut body, TCA_KIND, b"bpf\0");
    let answers = exchange(RTM_GETTFILTER, libc::NLM_F_REQUEST as u16, &body, false).ok()?;
    attribute(options_of(answers.first()?), TCA_BPF_ID).map(|id| word(id, 0))
}

/// Returns the fixed part of a message about a filter of outgoing packets of every protocol.
fn egress_head(index: u32, priority: u32, handle: u32) -> Vec<u8> {
    filter_head(index, priority, handle, TC_H_EGRESS)
}

/// Returns the fixed part of a message about the filters of incoming packets of every protocol.
fn ingress_head(index: u32, preference: u32) -> Vec<u8> {
    filter_head(index, preference, 0, TC_H_INGRESS)
}

/// Returns the fixed part of a message about a filter of every protocol under the parent `side`.
fn filter_head(index: u32, priority: u32, handle: u32, side: u32) -> Vec<u8> {
    let mut body = encode_tcmsg(index, handle, side);
    let every = u32::from((libc::ETH_P_ALL as u16).to_be());
    body[16..20].copy_from_slice(&(priority << 16 | every).to_ne_bytes());
    body
}

/// Returns the messages that the kernel lists for the request `kind` at a device, below `parent`
/// unless it is 0; filters also of a block that the device shares with others.
///
/// # Errors
/// The kernel's error.
fn dump(kind: u16, index: u32, parent: u32) -> io::Result<Vec<Vec<u8>>> {
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut all = exchange(kind, dump, &encode_tcmsg(index, 0, parent), true)?;
    all.retain(|message| [index, TCM_IFINDEX_MAGIC_BLOCK].contains(&word(message, 4)));
    Ok(all)
}

/// Returns the kind of a queue discipline, class or filter, such as `tbf`; empty if the message has
/// none.
fn kind_of(message: &[u8]) -> String {
    let value = message.get(TCMSG..).and_then(|bytes| attribute(bytes, TCA_KIND)).unwrap_or_default();
    text(value)
}

/// Returns the body of TCA_OPTIONS; empty if the message has none.
fn options_of(message: &[u8]) -> &[u8] {
    message.get(TCMSG..).and_then(|bytes| attribute(bytes, TCA_OPTIONS)).unwrap_or_default()
}

/// Returns the attributes of a message that configure a queue discipline, encoded as in the
/// message.
fn select_configuration(message: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for (_, whole) in
        attributes(message.get(TCMSG..).unwrap_or_default()).filter(|(kind, _)| KEPT.contains(kind))
    {
        all.extend(whole);
        all.resize(all.len().next_multiple_of(4), 0);
    }
    all
}

/// Returns a struct tcmsg, the fixed part of a message.
fn encode_tcmsg(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let mut body = vec![0u8; TCMSG];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&handle.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    body
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a message about an object of this kind with this handle and parent, without options.
    fn encode_message(kind: &str, handle: u32, parent: u32) -> Vec<u8> {
        let mut body = encode_tcmsg(3, handle, parent);
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
            let read = read_qdisc(&encode_message(kind, handle, parent));
            let wanted = (kind, said, below);
            assert_eq!((read.kind.as_str(), read.handle.as_str(), read.parent.as_deref()), wanted);
        }
    }

    #[test]
    fn read_filter__of_a_redirection_of_each_kind_and_of_what_is_none() {
        for (kind, actions) in ACTIONS {
            let mut body = encode_message(kind, 1, TC_H_INGRESS);
            body[16..20].copy_from_slice(&(28_008u32 << 16).to_ne_bytes());
            add_attribute(&mut body, TCA_OPTIONS, &encode_redirect(kind, actions, 77));
            let read = read_filter(&body).unwrap();
            assert_eq!((read.preference, read.kind.as_str(), &read.targets[..]), (28_008, kind, &[77][..]));
            assert_eq!(read.actions, ["mirred"]);
            for length in 0..body.len() {
                let cut = read_filter(&body[..length]);
                assert!(cut.is_none_or(|one| one.targets.iter().all(|to| *to == 77 || *to == 0)));
            }
        }
        assert_eq!(read_filter(&encode_message("u32", 1, TC_H_INGRESS)), None, "it announces others");
        let mut table = encode_message("u32", 1, TC_H_INGRESS);
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
        let mut body = encode_message("bpf", 1, TC_H_EGRESS);
        add_attribute(&mut body, TCA_OPTIONS, &options);
        let wanted =
            Filter { kind: "bpf".into(), program: "qosify_tc".into(), id: Some(41), ..Filter::default() };
        assert_eq!(read_filter(&body), Some(wanted));
    }

    #[test]
    fn read_filter__of_a_shared_block() {
        let mut body = encode_message("u32", 1, 7);
        body[4..8].copy_from_slice(&TCM_IFINDEX_MAGIC_BLOCK.to_ne_bytes());
        add_attribute(&mut body, TCA_OPTIONS, &encode_redirect("u32", 7, 77));
        let read = read_filter(&body).unwrap();
        assert_eq!((read.block, &read.targets[..]), (Some(7), &[77][..]));
        let mut body = encode_message("clsact", CLSACT, TC_H_CLSACT);
        add_attribute(&mut body, TCA_INGRESS_BLOCK, &7u32.to_ne_bytes());
        add_attribute(&mut body, TCA_EGRESS_BLOCK, &8u32.to_ne_bytes());
        assert_eq!(read_qdisc(&body).blocks, [7, 8]);
    }

    #[test]
    fn select_configuration__of_what_is_cut_short() {
        let mut whole = vec![0; TCMSG];
        whole.extend([8, 0, TCA_KIND as u8, 0, b't', b'b', b'f', 0]);
        whole.extend([12, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8]); // counters
        assert_eq!(select_configuration(&whole), whole[TCMSG..TCMSG + 8]);
        for length in 0..whole.len() {
            assert!(select_configuration(&whole[..length]).len() <= 8);
        }
    }
}
