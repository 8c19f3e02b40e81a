//! Queue disciplines and filters as the kernel describes them: kept and made again, set, and watched.
//!
//! `tc` can show a qdisc but not save it. The kernel's answer to RTM_GETQDISC holds the same attributes that
//! RTM_NEWQDISC takes (rtnetlink(7)), so the answer is sent back as it came.

use crate::error::{Failure, Result};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;
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
/// Attributes that describe rather than configure: statistics, hardware offload, blocks.
const KEPT: [u16; 2] = [TCA_KIND, TCA_OPTIONS];
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const HEADER: usize = 16;
const TCMSG: usize = 20;

/// Returns the kernel's description of the queue discipline at a device's root.
///
/// # Errors
/// A sentence when there is none or the kernel does not tell.
pub fn save_root(index: u32) -> Result<Vec<u8>> {
    let answers =
        exchange(RTM_GETQDISC, (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16, &tcmsg(index, 0, 0), true)
            .map_err(|error| Failure::system("the kernel does not tell its qdiscs", &error))?;
    let found =
        answers.into_iter().find(|message| word(message, 4) == index && word(message, 12) == TC_H_ROOT);
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
    let dump = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let list = |kind, parent| exchange(kind, dump, &tcmsg(index, 0, parent), true).unwrap_or_default();
    let mut print = Vec::new();
    for message in list(RTM_GETQDISC, 0).iter().filter(|message| word(message, 4) == index) {
        print.extend(message.get(8..16).unwrap_or_default());
        print.extend(configuration(message));
    }
    for message in list(RTM_GETTFILTER, TC_H_INGRESS).iter().filter(|message| word(message, 4) == index) {
        // Of a filter's options, its actions count packets.
        print.extend(message.get(8..TCMSG).unwrap_or_default());
    }
    print
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
    let answer = answers.first()?;
    let options = attributes(answer.get(TCMSG..)?).find(|(kind, _)| *kind == TCA_OPTIONS)?.1;
    attributes(&options[4..]).find(|(kind, _)| *kind == TCA_BPF_ID).map(|(_, whole)| word(whole, 4))
}

/// Returns the head of a message about a filter of what goes out, of every protocol.
fn filter(index: u32, priority: u32, handle: u32) -> Vec<u8> {
    let mut body = tcmsg(index, handle, TC_H_EGRESS);
    let every = u32::from((libc::ETH_P_ALL as u16).to_be());
    body[16..20].copy_from_slice(&(priority << 16 | every).to_ne_bytes());
    body
}

fn change(kind: u16, flags: libc::c_int, body: &[u8]) -> io::Result<()> {
    exchange(kind, (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16, body, false).map(drop)
}

fn add_attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
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

/// The devices of which the kernel told that they changed since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedDevices {
    /// Numbers of the devices that changed, or their queues did.
    devices: BTreeSet<u32>,
    /// Whether more was told than could be kept.
    is_lossy: bool,
}

impl ChangedDevices {
    /// Returns what is to be assumed before anything was told: that everything changed.
    pub fn everything() -> ChangedDevices {
        ChangedDevices { is_lossy: true, ..ChangedDevices::default() }
    }

    /// Returns whether a device may have changed.
    pub fn contains(&self, index: u32) -> bool {
        self.is_lossy || self.devices.contains(&index)
    }

    /// Takes the messages of one datagram.
    fn take(&mut self, mut datagram: &[u8]) {
        while datagram.len() >= HEADER + 8 {
            // The device's number stands at the same place of ifinfomsg and tcmsg.
            self.devices.insert(word(datagram, HEADER + 4));
            let bytes = (word(datagram, 0) as usize).max(HEADER).next_multiple_of(4);
            datagram = datagram.get(bytes..).unwrap_or_default();
        }
    }
}

/// Changes of devices and of queue disciplines in this namespace (rtnetlink(7)), and of the files of a folder
/// (inotify(7)), as the kernel tells of them.
#[derive(Debug)]
pub struct Changes {
    network: OwnedFd,
    files: OwnedFd,
    folder: CString,
}

impl Changes {
    /// Listens from now on. The folder need not be there yet.
    ///
    /// # Errors
    /// The kernel's.
    pub fn listen(folder: &Path) -> io::Result<Changes> {
        // SAFETY: the call takes no memory, and the descriptor is new.
        let files = unsafe {
            match libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) {
                -1 => return Err(io::Error::last_os_error()),
                files => OwnedFd::from_raw_fd(files),
            }
        };
        let folder = CString::new(folder.as_os_str().as_bytes())?;
        Ok(Changes { network: Changes::listen_to_network()?, files, folder })
    }

    fn listen_to_network() -> io::Result<OwnedFd> {
        // SAFETY: the address is valid for the call, and the descriptor is new.
        unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            let socket = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
            if socket < 0 {
                return Err(io::Error::last_os_error());
            }
            let socket = OwnedFd::from_raw_fd(socket);
            let mut address: libc::sockaddr_nl = mem::zeroed();
            address.nl_family = libc::AF_NETLINK as u16;
            address.nl_groups = (libc::RTMGRP_LINK | libc::RTMGRP_TC) as u32;
            let length = size_of::<libc::sockaddr_nl>() as u32;
            match libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) {
                0 => Ok(socket),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// Waits for changes, at most so long, and takes all that are there.
    pub fn wait(&self, most: Duration) -> ChangedDevices {
        let mut changed = ChangedDevices::default();
        let poll = |from: &OwnedFd| libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut polls = [poll(&self.network), poll(&self.files)];
        let mut buffer = [0_u8; 16_384];
        let milliseconds = most.as_millis().clamp(1, 60_000) as libc::c_int;
        let kinds = libc::IN_CLOSE_WRITE | libc::IN_MOVED_TO | libc::IN_MOVED_FROM | libc::IN_DELETE;
        // SAFETY: what the calls take is valid for them. Who waits looks at the files anyway, so that what is said of them
        // is not read. A folder that is watched already stays so, and one that came since is from now on.
        unsafe {
            libc::inotify_add_watch(self.files.as_raw_fd(), self.folder.as_ptr(), kinds);
            libc::poll(polls.as_mut_ptr(), 2, milliseconds);
            while libc::read(self.files.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) > 0 {}
        }
        loop {
            // SAFETY: the buffer is valid for the call.
            let got = unsafe {
                libc::recv(
                    self.network.as_raw_fd(),
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                    libc::MSG_TRUNC,
                )
            };
            match usize::try_from(got) {
                Ok(bytes) if bytes <= buffer.len() => changed.take(&buffer[..bytes]),
                Ok(_) => changed.is_lossy = true,
                Err(_) if io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS) => {
                    changed.is_lossy = true;
                }
                Err(_) => return changed,
            }
        }
    }
}

fn tcmsg(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let mut body = vec![0u8; TCMSG];
    body[4..8].copy_from_slice(&index.to_ne_bytes());
    body[8..12].copy_from_slice(&handle.to_ne_bytes());
    body[12..16].copy_from_slice(&parent.to_ne_bytes());
    body
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes(four.try_into().expect("four bytes")))
}

/// Sends a request. Returns the bodies of the answers; of one that is only acknowledged, none.
fn exchange(kind: u16, flags: u16, body: &[u8], is_dump: bool) -> io::Result<Vec<Vec<u8>>> {
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
                let bytes = (word(rest, 0) as usize).clamp(HEADER, rest.len());
                let kind = i32::from(u16::from_ne_bytes([rest[4], rest[5]]));
                match kind {
                    libc::NLMSG_DONE => return Ok(answers),
                    libc::NLMSG_ERROR => {
                        let error = word(rest, HEADER) as i32;
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

    fn message(index: u32, bytes: usize) -> Vec<u8> {
        let mut whole = vec![0; bytes];
        whole[..4].copy_from_slice(&(bytes as u32).to_ne_bytes());
        whole[HEADER + 4..HEADER + 8].copy_from_slice(&index.to_ne_bytes());
        whole
    }

    #[test]
    fn changed_devices__of_the_devices_of_all_messages_in_a_datagram() {
        let mut changed = ChangedDevices::default();
        changed.take(&[message(3, 36), message(70_000, 32), message(9, 24)].concat());
        assert_eq!([3, 70_000, 9, 4].map(|index| changed.contains(index)), [true, true, true, false]);
        assert!(ChangedDevices::everything().contains(4));
    }

    #[test]
    fn changed_devices__of_what_is_no_message_ends() {
        let mut changed = ChangedDevices::default();
        for length in 0..64 {
            changed.take(&vec![0; length]);
            changed.take(&vec![0xff; length]);
        }
        assert!(!changed.contains(3));
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
