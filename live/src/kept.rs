//! What `persist` saves of the user's own policies: their headers, the programs that were built
//! from them, and what their native code decided. With this the guard restarts them without a
//! compiler and without running their native code.

use crate::deployment::{Decided, Deployment, Objects};
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::object;
use crate::qdisc::Qdisc;
use crate::request::Request;
use mousehole_policy::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where it is saved: a folder for each device, writable by root only.
pub const FOLDER: &str = "/etc/mousehole";
const OBJECT: &str = "program.o";
const QUEUE: &str = "queue.o";
const NOTE: &str = "kept.json";

/// The note next to the saved headers and programs of a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Version of the program that wrote it.
    version: String,
    /// The digest of the programs' sources without the policies.
    sources: String,
    /// The request; its headers are the copies.
    pub request: Request,
    /// What the policies' native code decided.
    pub decided: Decided,
    /// The SHA-256 of each other file in the folder, by name.
    files: BTreeMap<String, String>,
}

/// Returns the folder of a device, which may not exist.
pub fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(escape(name))
}

/// Returns a device's name escaped for file names, as `systemd-escape` does it.
pub(crate) fn escape(name: &str) -> String {
    let plain = |index: usize, byte: u8| {
        byte.is_ascii_alphanumeric() || byte == b':' || byte == b'_' || (byte == b'.' && index > 0)
    };
    name.bytes()
        .enumerate()
        .map(|(index, byte)| match byte {
            _ if plain(index, byte) => (byte as char).to_string(),
            b'/' => "-".into(),
            other => format!("\\x{other:02x}"),
        })
        .collect()
}

/// Copies the user's policies of a request, builds their programs from the copies and saves all of
/// it. Anything saved for the device before is replaced at the end. Runs the policies' native code
/// and the compiler. `root` is the device's root queue discipline.
///
/// # Errors
/// A sentence when the headers need other files or do not compile, the policy has slow steps, or
/// the folder cannot be written; what was saved before stays then.
pub fn write(request: &Request, device: &Device, root: Option<&Qdisc>) -> Result<()> {
    let target = folder(&device.name);
    let fault = |error: io::Error| Failure::system(format!("{} cannot be written", target.display()), &error);
    let place = files::make_private_folder(Path::new(FOLDER)).map_err(fault)?;
    let work = files::make_scratch_in(&place).map_err(fault)?;
    let part = files::make_private_folder(&work.path().join("new")).map_err(fault)?;
    let mut digests = BTreeMap::new();
    let mut keep = |name: &str, bytes: &[u8]| {
        digests.insert(name.to_string(), files::digest(bytes));
        files::write_new(&part.join(name), bytes).map_err(fault)
    };
    let mut copied = request.clone();
    let mut names = Vec::new();
    for path in &mut copied.policy {
        let bytes =
            files::read(path, files::TEXT_BYTES).map_err(|error| Failure::system(path.display(), &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        keep(&name, &bytes)?;
        *path = part.join(&name);
        names.push(name);
    }
    let deployment = Deployment::new(&copied, device, root)?;
    if deployment.needs_agent() {
        return Err(Failure::new(format!(
            "{} has slow steps, which an agent runs; of an own policy that is native code, and none is run as root at boot. \
             Give the command by hand",
            deployment.scheme
        )));
    }
    let objects = deployment.objects()?;
    keep(OBJECT, &objects.egress)?;
    if let Some(queue) = &objects.queue {
        keep(QUEUE, queue)?;
    }
    copied.policy = names.iter().map(|name| target.join(name)).collect();
    let kept = Kept {
        version: env!("CARGO_PKG_VERSION").into(),
        sources: object::digest_sources(),
        request: copied,
        decided: deployment.decided(),
        files: digests,
    };
    let note = serde_json::to_vec_pretty(&kept).expect("plain data is written");
    files::write_new(&part.join(NOTE), &note).map_err(fault)?;
    match fs::rename(&target, work.path().join("old")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault(error)),
        _ => fs::rename(&part, &target).map_err(fault),
    }
}

/// Reads what is saved for a device, without running anything. Files that another user could have
/// written and files that were changed are rejected.
///
/// # Errors
/// A sentence when nothing is saved, another version saved it, a file is missing, or one was
/// changed.
pub fn read(name: &str) -> Result<(Kept, Objects)> {
    let folder = folder(name);
    let again = format!("give the command and `mousehole-live persist {name}` again");
    let refused = |path: &Path, error: &io::Error| Failure::system(path.display(), error);
    for path in [Path::new(FOLDER), &folder] {
        files::check_folder(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::new(format!(
                "nothing is kept of {name} in {FOLDER}; `mousehole-live persist {name}` keeps what runs there"
            )),
            _ => refused(path, &error),
        })?;
    }
    let own = |name: &str, limit| {
        let path = folder.join(name);
        files::read_own(&path, limit).map_err(|error| refused(&path, &error))
    };
    let kept: Kept = serde_json::from_slice(&own(NOTE, files::TEXT_BYTES)?)
        .map_err(|error| Failure::new(format!("{}: {error}; {again}", folder.join(NOTE).display())))?;
    if (kept.version.as_str(), &kept.sources) != (env!("CARGO_PKG_VERSION"), &object::digest_sources()) {
        return Err(Failure::new(format!(
            "{} was kept by another version, {}; {again}",
            folder.display(),
            kept.version
        )));
    }
    let (mut egress, mut queue) = (None, None);
    for (name, digest) in &kept.files {
        let bytes = own(name, files::OBJECT_BYTES)?;
        let found = files::digest(&bytes);
        if found != *digest {
            return Err(Failure::new(format!(
                "{} is not as it was kept: its SHA-256 is {found}, and it was {digest}; {again}",
                folder.join(name).display()
            )));
        }
        match name.as_str() {
            OBJECT => egress = Some(bytes),
            QUEUE => queue = Some(bytes),
            _ => {}
        }
    }
    let missing =
        |name: &str| Failure::new(format!("{} names no {name}; {again}", folder.join(NOTE).display()));
    if kept.decided.is_native() && queue.is_none() {
        return Err(missing(QUEUE));
    }
    Ok((kept, Objects { egress: egress.ok_or_else(|| missing(OBJECT))?, queue }))
}

/// Removes what is saved for a device. Returns whether anything was.
///
/// # Errors
/// A sentence when it cannot be removed.
pub fn remove(name: &str) -> Result<bool> {
    let folder = folder(name);
    match fs::remove_dir_all(&folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::system(format!("{} cannot be removed", folder.display()), &error)),
    }
}
