//! Network namespaces: identifies the current one and lists those still in use.
//!
//! The kernel reuses a namespace's inode once the namespace is gone. Its cookie is never reused
//! (SO_NETNS_COOKIE, Linux 5.14), so namespaces are identified by it.

use crate::error::{Failure, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;

/// The socket option's number, from include/uapi/asm-generic/socket.h.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// Returns the cookie of this thread's network namespace.
///
/// # Errors
/// A sentence when the kernel has no such cookies or a socket cannot be opened.
pub fn current_cookie() -> Result<u64> {
    query_cookie().map_err(|error| {
        Failure::system("the cookie of the network namespace cannot be asked (Linux 5.14 or later)", &error)
    })
}

/// Asks a new socket for the cookie of this thread's namespace.
fn query_cookie() -> io::Result<u64> {
    let (mut cookie, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the descriptor is new and nobody else's; the value has the length that the call is given.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(socket);
        let value = (&raw mut cookie).cast();
        match libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, value, &raw mut length)
        {
            0 => Ok(cookie),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Returns the cookies of all namespaces that a process is in or that are mounted; `None` if one of
/// them cannot be entered, for example without CAP_SYS_ADMIN. A namespace that is held only by a
/// descriptor or a socket is missing.
pub fn find_live_cookies() -> Option<BTreeSet<u64>> {
    let mut paths: BTreeMap<u64, PathBuf> = BTreeMap::new();
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    for path in list_process_paths().into_iter().chain(parse_mounts(&mounts)) {
        if let Ok(data) = fs::metadata(&path) {
            paths.entry(data.ino()).or_insert(path);
        }
    }
    // Entering moves only the new thread.
    let visit = move || paths.values().filter_map(|path| enter(path).transpose()).collect();
    let cookies: io::Result<BTreeSet<u64>> = thread::spawn(visit).join().ok()?;
    cookies.ok()
}

/// Moves this thread into the namespace at `path` and returns its cookie; `None` if the file cannot
/// be opened, as when the namespace has ended since it was listed. Other failures are the system's
/// error.
fn enter(path: &Path) -> io::Result<Option<u64>> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    // SAFETY: the descriptor is open.
    match unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => query_cookie().map(Some),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the path of each process's network namespace, /proc/PID/ns/net; it may be gone by the
/// time it is opened.
fn list_process_paths() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    };
    entries.map(|entry| entry.path()).filter(is_process).map(|path| path.join("ns/net")).collect()
}

/// Returns where namespaces are mounted, such as /run/netns/NAME. `text` is that of
/// /proc/self/mountinfo (proc(5)); only the escape of a blank is decoded.
fn parse_mounts(text: &str) -> Vec<PathBuf> {
    let is_namespace = |line: &&str| line.split(" - ").nth(1).is_some_and(|rest| rest.starts_with("nsfs "));
    let path = |line: &str| line.split(' ').nth(4).map(|path| PathBuf::from(path.replace("\\040", " ")));
    text.lines().filter(is_namespace).filter_map(path).collect()
}

/// Moves the calling thread into a new, empty network namespace, so that it does not keep the
/// former alive. Without CAP_SYS_ADMIN it stays.
pub fn leave() {
    // SAFETY: the call takes a number; it moves the calling thread.
    unsafe { libc::unshare(libc::CLONE_NEWNET) };
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn parse_mounts__of_namespaces_are_read_with_blanks() {
        let text = "25 30 0:23 / /run rw shared:5 - tmpfs tmpfs rw\n\
                    99 25 0:4 net:[4026532287] /run/netns/a rw shared:60 - nsfs nsfs rw\n\
                    98 25 0:4 net:[4026532288] /run/netns/b\\040c rw - nsfs nsfs rw\n";
        assert_eq!(parse_mounts(text), [PathBuf::from("/run/netns/a"), PathBuf::from("/run/netns/b c")]);
    }

    #[test]
    fn current_cookie__is_another_number_in_every_new_namespace() {
        let (before, mut seen) = (current_cookie().unwrap(), BTreeSet::new());
        assert_eq!(current_cookie().unwrap(), before);
        let each = || {
            leave();
            current_cookie().unwrap()
        };
        // Where namespaces cannot be made, the number stays.
        for _ in 0..3 {
            seen.insert(thread::spawn(each).join().unwrap());
        }
        assert!(seen.len() == 3 && !seen.contains(&before) || seen == BTreeSet::from([before]), "{seen:?}");
        if let Some(alive) = find_live_cookies() {
            assert!(alive.contains(&before) && seen.iter().all(|one| *one == before || !alive.contains(one)));
        }
    }
}
