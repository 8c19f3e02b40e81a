//! Requests to the Linux kernel by rtnetlink(7), and their attributes: length, type and value each,
//! in the machine's byte order.

#![cfg(target_os = "linux")]

pub mod links;

use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::{io, mem};

/// Bytes of a message's header.
pub const HEADER: usize = 16;
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Appends an attribute, padded to a multiple of 4 bytes.
pub fn add_attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend(((4 + value.len()) as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Returns the attributes of a message: type, and the bytes including the 4 of the header. Stops at
/// the first attribute that is cut short.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
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

/// Returns the value of the first attribute of type `wanted`; `None` without one.
pub fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, whole)| &whole[4..])
}

/// Returns the text before the first zero byte; invalid UTF-8 is replaced.
pub fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns the 32-bit number at byte `at` of a message; 0 if the message ends before it does.
pub fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes(four.try_into().expect("four bytes")))
}

/// Sends a request for a change and waits for the acknowledgement.
///
/// # Errors
/// The kernel's error.
pub fn send_change(kind: u16, flags: libc::c_int, body: &[u8]) -> io::Result<()> {
    exchange(kind, (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16, body, false).map(drop)
}

/// Sends a request and returns the bodies of the answers; none if the kernel only acknowledges it.
/// `is_dump` says that answers follow until the kernel ends the list.
///
/// # Errors
/// The system's or the kernel's error.
pub fn exchange(kind: u16, flags: u16, body: &[u8], is_dump: bool) -> io::Result<Vec<Vec<u8>>> {
    send(kind, flags, body, is_dump).map_err(|(error, _)| error)
}

/// Sends a request on a socket of its own and waits for the answers, as [`exchange`]. An error
/// comes with the kernel's own text about it, if it gives one.
pub fn send(
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
                        // It follows the error's number and the request's header.
                        let explanation = rest.get(HEADER + 4 + HEADER..bytes).unwrap_or_default();
                        return match error {
                            0 => Ok(answers),
                            _ => Err((
                                io::Error::from_raw_os_error(-error),
                                attribute(explanation, NLMSGERR_ATTR_MSG).map(text),
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
