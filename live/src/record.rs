//! The record of a device: what was there before, and what was added.

use crate::deployment::Deployment;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::qdisc::Qdisc;
use mousehole_policy::files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the record's format; it changes with the meaning of a field. A newer record is
/// rejected by `down`.
pub const SCHEMA: u32 = 2;

/// How a program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attachment {
    /// A pinned tcx link, kernel 6.6 and later.
    Tcx,
    /// A filter of our own priority and handle under `clsact`.
    Clsact {
        /// Whether we added `clsact`.
        added: bool,
    },
}

/// What a command put at a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of the program that wrote it.
    pub version: String,
    /// When it was started, seconds since 1970 by the machine's clock, which may have been wrong.
    pub since: u64,
    /// The same, seconds since the machine booted.
    pub started_s: u64,
    /// Name of the device when it was attached.
    pub device: String,
    /// The device's interface index.
    pub index: u32,
    /// The cookie of its network namespace.
    pub namespace: u64,
    /// Its hardware address; `None` where it has none.
    pub address: Option<[u8; 6]>,
    /// The command as given, with the program's name first.
    pub command: Vec<String>,
    /// The request that it carries out.
    pub request: crate::request::Request,
    /// The SHA-256 of the header of each of the user's policies, in the request's order.
    #[serde(default)]
    pub headers: Vec<String>,
    /// How the program is attached, once it is.
    pub attachment: Option<Attachment>,
    /// The kernel's number of the link; `None` under clsact.
    pub link_id: Option<u32>,
    /// A hash of the types of the program's maps; programs with the same hash can share them.
    pub layout: String,
    /// The redirection of downloads that was made; `None` where there is none.
    #[serde(default)]
    pub redirect: Option<Redirect>,
    /// The queue discipline that was at the root before; `None` if it was a default one or was not
    /// replaced.
    pub replaced: Option<SavedQdisc>,
    /// The handle of the queue discipline that was added at the root.
    pub added_handle: Option<String>,
    /// `gso_max_segs` before, if it was changed.
    pub gso_max_segs: Option<u32>,
    /// Whether the start has not finished. If nobody holds the lock on the folder, it was killed,
    /// and queue disciplines may be missing.
    #[serde(default)]
    pub starting: bool,
    /// When everything is taken back unless confirmed, seconds since the machine booted.
    pub confirm_by: Option<u64>,
    /// When `tune` last changed the request, seconds since the machine booted.
    #[serde(default)]
    pub tuned: Option<u64>,
    /// Why the guard makes the program only decide and count for now; `None` while it acts on the
    /// request.
    #[serde(default)]
    pub paused: Option<String>,
}

impl Record {
    /// Plans the request for the device as it is now. `root` is its root queue discipline. A policy
    /// header that was changed since the start is rejected, since its author may not be the user
    /// who started it. The user's policies are loaded, which runs their native code.
    ///
    /// # Errors
    /// A sentence when a header has changed or the request is not possible at the device any more.
    pub fn deployment(&self, device: &Device, root: Option<&Qdisc>) -> Result<Deployment> {
        for (path, digest) in self.request.policy.iter().zip(&self.headers) {
            if digest_header(path)? != *digest {
                return Err(Failure::new(format!(
                    "{} has changed since it was started; `mousehole-live down {}` and the same command start the new one",
                    path.display(),
                    device.name
                )));
            }
        }
        Deployment::new(&self.request, device, root)
    }
}

/// Returns the SHA-256 of a header.
///
/// # Errors
/// A sentence when it cannot be read.
pub fn digest_header(path: &Path) -> Result<String> {
    let bytes =
        files::read(path, files::TEXT_BYTES).map_err(|error| Failure::system(path.display(), &error))?;
    Ok(files::digest(&bytes))
}

/// A redirection of downloads to an IFB of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// The device that downloads come in at.
    pub device: String,
    /// Its number then.
    pub index: u32,
    /// Whether its `clsact` was added by us.
    pub added_clsact: bool,
}

/// A replaced queue discipline, as the kernel described it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedQdisc {
    /// Its kind, for messages.
    pub kind: String,
    /// Its handle, for messages.
    pub handle: String,
    /// The kernel's message about it, for [`crate::netlink::restore_root`].
    pub message: Vec<u8>,
}

impl SavedQdisc {
    /// Returns the saved form of a queue discipline with the kernel's message about it.
    pub fn new(qdisc: &Qdisc, message: Vec<u8>) -> SavedQdisc {
        SavedQdisc { kind: qdisc.kind.clone(), handle: qdisc.handle.clone(), message }
    }
}

/// Returns the seconds since 1970 by the machine's clock; 0 if the clock is before 1970.
#[allow(clippy::disallowed_types, reason = "a record says when it was written")]
pub fn read_unix_s() -> u64 {
    let epoch = std::time::UNIX_EPOCH;
    std::time::SystemTime::now().duration_since(epoch).map_or(0, |since| since.as_secs())
}
