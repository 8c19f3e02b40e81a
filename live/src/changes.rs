//! Waits for changes of devices and queues in this namespace, and of the files in a folder.

use mousehole_netlink::{HEADER, word};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;
use std::{io, mem};

/// The devices that changed between two calls of [`Changes::wait`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedDevices {
    /// Interface indexes of devices that changed themselves or in their queue disciplines.
    devices: BTreeSet<u32>,
    /// Whether the kernel dropped messages, so that any device may have changed.
    is_lossy: bool,
}

impl ChangedDevices {
    /// Returns a set that contains every device, for use before the first message.
    pub fn everything() -> ChangedDevices {
        ChangedDevices { is_lossy: true, ..ChangedDevices::default() }
    }

    /// Returns whether the device with this interface index may have changed.
    pub fn contains(&self, index: u32) -> bool {
        self.is_lossy || self.devices.contains(&index)
    }

    /// Adds the devices that the messages of one datagram are about; a message that is cut short
    /// ends it.
    fn take(&mut self, mut datagram: &[u8]) {
        while datagram.len() >= HEADER + 8 {
            // ifinfomsg and tcmsg have the interface index at the same offset.
            self.devices.insert(word(datagram, HEADER + 4));
            let bytes = (word(datagram, 0) as usize).max(HEADER).next_multiple_of(4);
            datagram = datagram.get(bytes..).unwrap_or_default();
        }
    }
}

/// A subscription to changes of devices and queue disciplines in this namespace (rtnetlink(7)) and
/// of the files in a folder (inotify(7)).
#[derive(Debug)]
pub struct Changes {
    network: OwnedFd,
    files: OwnedFd,
    folder: CString,
}

impl Changes {
    /// Subscribes from now on. The folder need not exist yet.
    ///
    /// # Errors
    /// The kernel's error; invalid input for a folder whose path has a zero byte.
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

    /// Returns a non-blocking socket that receives messages about links and queue disciplines.
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

    /// Waits for a change for at most `most` (clamped to 1 ms … 60 s) and returns the devices that
    /// changed; none after a timeout or a change of files only. Consumes all pending messages and
    /// file events. The folder is watched from the first call at which it exists.
    pub fn wait(&self, most: Duration) -> ChangedDevices {
        let mut changed = ChangedDevices::default();
        let poll = |from: &OwnedFd| libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut polls = [poll(&self.network), poll(&self.files)];
        let mut buffer = [0_u8; 16_384];
        let milliseconds = most.as_millis().clamp(1, 60_000) as libc::c_int;
        let kinds = libc::IN_CLOSE_WRITE | libc::IN_MOVED_TO | libc::IN_MOVED_FROM | libc::IN_DELETE;
        // SAFETY: the descriptors, the path and the buffers are valid for the calls. The caller reads all files after
        // each wait, so the events are discarded. Adding a watch twice is harmless; a folder that was created since
        // the last call is watched from now on.
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

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a message of `bytes` bytes about the device with this interface index.
    fn build_message(index: u32, bytes: usize) -> Vec<u8> {
        let mut whole = vec![0; bytes];
        whole[..4].copy_from_slice(&(bytes as u32).to_ne_bytes());
        whole[HEADER + 4..HEADER + 8].copy_from_slice(&index.to_ne_bytes());
        whole
    }

    #[test]
    fn changed_devices__of_the_devices_of_all_messages_in_a_datagram() {
        let mut changed = ChangedDevices::default();
        changed.take(&[build_message(3, 36), build_message(70_000, 32), build_message(9, 24)].concat());
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
}
