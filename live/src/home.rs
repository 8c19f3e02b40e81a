//! Where everything is stored that outlives a command: `/sys/fs/bpf/mousehole/<cookie of the
//! namespace>-<interface index>/{link,maps,record}`.
//!
//! As long as the pinned link is there, the program runs. The record says what was there before and
//! what was added; it is pinned before anything is attached and removed last. It is a kernel map
//! with one value, since a BPF file system holds no files.

use crate::bpf::Map;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::layout::{Control, Plain};
use crate::namespace;
use crate::record::Record;
use mousehole_policy::files;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Where BPF file systems are mounted.
pub const BPF_ROOT: &str = "/sys/fs/bpf";
/// The bytes of a record's map; shorter records are filled up with zeros.
const RECORD_BYTES: usize = 1 << 16;
/// How long a command waits for the lock.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long it sleeps between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The folder of all devices. As long as this value lives, this process holds the lock that every
/// command takes that changes something.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    _lock: File,
}

/// The folder of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
}

impl Home {
    /// Creates the folder and takes the lock, which lasts until the value is dropped. Waits up to
    /// 10 s for another command that holds it.
    ///
    /// # Errors
    /// A sentence when there is no BPF file system or no permission, or another command holds the
    /// lock too long.
    pub fn lock() -> Result<Home> {
        let root = find_bpf_root()?;
        let lock = lock_changes()?;
        let path = files::make_private_folder(&root.join("mousehole"))
            .map_err(|error| Failure::system(format!("{BPF_ROOT}/mousehole cannot be made"), &error))?;
        Ok(Home { path, _lock: lock })
    }

    /// Returns the place of a device, which may not exist yet.
    pub fn place(&self, device: &Device) -> Place {
        place_of(&self.path, device)
    }
}

impl Drop for Home {
    /// Removes the folder if it is empty.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns the place of a device of this namespace by its name, even if the device is gone; `None`
/// if nothing is stored about it. Its folder may lack a record if a command was killed.
///
/// # Errors
/// A sentence when the folder cannot be read or the namespace has no cookie.
pub fn find(name: &str) -> Result<Option<Place>> {
    let namespace = namespace::current_cookie()?;
    let mut all = list_places()?;
    // A device that exists is found by its index; one that is gone, by the name in its record.
    if let Ok(device) = Device::find(name) {
        let place = place_of(&find_folder()?, &device);
        if place.exists() {
            return Ok(Some(place));
        }
    }
    all.retain(|place| {
        place.record().is_ok_and(|record| record.device == name && record.namespace == namespace)
    });
    Ok(all.pop())
}

/// Returns the place of a device in the folder, named by namespace cookie and interface index. It
/// may not exist.
fn place_of(folder: &Path, device: &Device) -> Place {
    Place { path: folder.join(format!("{}-{}", device.namespace, device.index)) }
}

impl Place {
    /// Creates its folders for this user alone, unless they exist.
    ///
    /// # Errors
    /// A sentence when that is not possible.
    pub fn create(&self) -> Result<()> {
        [self.path.clone(), self.path.join("maps")].iter().try_for_each(|path| {
            files::make_private_folder(path)
                .map(drop)
                .map_err(|error| Failure::system(format!("{} cannot be made", path.display()), &error))
        })
    }

    /// Returns whether it exists.
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// Returns the name of its folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the cookie of its device's namespace, from the folder's name; `None` if the name is
    /// not one of ours.
    pub fn namespace(&self) -> Option<u64> {
        self.name().split_once('-')?.0.parse().ok()
    }

    /// Returns its device's interface index, from the folder's name; `None` if the name is not one
    /// of ours.
    pub fn index(&self) -> Option<u32> {
        self.name().split_once('-')?.1.parse().ok()
    }

    /// Returns where the program's tcx link is pinned.
    pub fn link(&self) -> PathBuf {
        self.path.join("link")
    }

    /// Returns where the link is pinned that registers a native queue's kind.
    pub fn queue(&self) -> PathBuf {
        self.path.join("queue")
    }

    /// Returns where the program is pinned, if it is attached under clsact.
    pub fn program(&self) -> PathBuf {
        self.path.join("program")
    }

    /// Returns where an upgrade pins the new program until it replaces the other.
    pub fn next_program(&self) -> PathBuf {
        self.path.join("program-new")
    }

    /// Returns where a map is pinned.
    pub fn map(&self, name: &str) -> PathBuf {
        self.path.join("maps").join(name)
    }

    /// Returns the name of the lock that allows only one agent.
    pub fn agent_lock(&self) -> String {
        format!("agent-{}", self.name())
    }

    /// Opens a map of this device by its name.
    ///
    /// # Errors
    /// A sentence when it is not there or cannot be opened.
    pub fn open_map(&self, name: &str) -> Result<Map> {
        Map::open(&self.map(name)).map_err(|error| {
            Failure::system(format!("{}: cannot be opened", self.map(name).display()), &error)
        })
    }

    /// Reads the value of an array of this device at an index, by the array's name.
    ///
    /// # Errors
    /// A sentence when the array is not there or cannot be read.
    pub fn read_bytes(&self, map: &str, index: u32) -> Result<Vec<u8>> {
        let value = self.open_map(map)?.lookup(&index.to_ne_bytes()).ok().flatten();
        value.ok_or_else(|| Failure::new(format!("the map {map} cannot be read")))
    }

    /// Reads a struct from the start of an array's value, as [`Place::read_bytes`].
    ///
    /// # Errors
    /// As there, and when the value is shorter than the struct, as another build's may be.
    pub fn read_value<T: Plain>(&self, map: &str, index: u32) -> Result<T> {
        read_struct(map, &self.read_bytes(map, index)?)
    }

    /// Reads which slot of settings is active, and how the flow table is hashed.
    ///
    /// # Errors
    /// As [`Place::read_value`].
    pub fn control(&self) -> Result<Control> {
        self.read_value("ml_control", 0)
    }

    /// Reads the record.
    ///
    /// # Errors
    /// A sentence when there is none or it cannot be read.
    pub fn record(&self) -> Result<Record> {
        let path = self.path.join("record");
        let fault = |why: String| Failure::new(format!("{}: {why}", path.display()));
        let map = Map::open(&path).map_err(|error| fault(format!("cannot be opened; {error}")))?;
        let value = map
            .lookup(&0u32.to_ne_bytes())
            .map_err(|error| fault(format!("cannot be read; {error}")))?
            .unwrap_or_default();
        let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
        serde_json::from_slice(&value[..end]).map_err(|error| fault(format!("is no record; {error}")))
    }

    /// Writes the record over the former one; the first time, its map is created and pinned here.
    ///
    /// # Errors
    /// A sentence when that is not possible or it has 64 KiB or more.
    pub fn write_record(&self, record: &Record) -> Result<()> {
        let path = self.path.join("record");
        let fault = |why: String| Failure::new(format!("{}: cannot be written; {why}", path.display()));
        let mut value = serde_json::to_vec(record).map_err(|error| fault(error.to_string()))?;
        if value.len() >= RECORD_BYTES {
            return Err(fault(format!("it has {} bytes, and {RECORD_BYTES} are too many", value.len())));
        }
        value.resize(RECORD_BYTES, 0);
        let is_new = !path.exists();
        let map = match is_new {
            true => Map::create(c"ml_record", RECORD_BYTES as u32),
            false => Map::open(&path),
        }
        .map_err(|error| fault(error.to_string()))?;
        map.update(&0u32.to_ne_bytes(), &value).map_err(|error| fault(error.to_string()))?;
        if is_new {
            map.pin(&path).map_err(|error| fault(error.to_string()))?;
        }
        Ok(())
    }

    /// Removes everything that is pinned here except the record, the link first. Missing ones are
    /// no error.
    ///
    /// # Errors
    /// A sentence when a pin cannot be removed; later ones stay.
    pub fn remove_pins(&self) -> Result<()> {
        let mut pins = vec![self.link(), self.program(), self.next_program(), self.queue()];
        if let Ok(maps) = fs::read_dir(self.path.join("maps")) {
            pins.extend(maps.flatten().map(|entry| entry.path()));
        }
        pins.iter().try_for_each(|path| remove_path(path, |path| fs::remove_file(path)))
    }

    /// Removes the record, the agent's lock file and the folders, which must hold nothing else. An
    /// agent that holds the lock ends then.
    ///
    /// # Errors
    /// A sentence when something cannot be removed.
    pub fn remove(&self) -> Result<()> {
        remove_path(&self.path.join("record"), |path| fs::remove_file(path))?;
        remove_path(&self.path.join("maps"), |path| fs::remove_dir(path))?;
        // An agent that still holds the lock notices its removal, and ends.
        if let Ok(folder) = files::lock_folder() {
            remove_path(&folder.join(self.agent_lock()), |path| fs::remove_file(path))?;
        }
        remove_path(&self.path, |path| fs::remove_dir(path))
    }
}

/// Returns the places of all devices of all namespaces, sorted by name.
///
/// # Errors
/// A sentence when there is no BPF file system, or somebody else could have written in the folder.
pub fn list_places() -> Result<Vec<Place>> {
    let path = find_folder()?;
    let mut all: Vec<Place> = match fs::read_dir(&path) {
        Ok(entries) => entries.flatten().map(|entry| Place { path: entry.path() }).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::system(path.display(), &error)),
    };
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

/// Removes a path by `how`; one that is not there is no error.
fn remove_path(path: &Path, how: impl Fn(&Path) -> io::Result<()>) -> Result<()> {
    match how(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::system(format!("{} cannot be removed", path.display()), &error))
        }
        _ => Ok(()),
    }
}

/// Takes the lock that allows only one process for a service, such as the agent of a place, without
/// waiting. The lock lasts until the file is closed.
///
/// # Errors
/// A sentence that names the process that holds it, or says why the file cannot be locked.
pub fn lock_service(what: &str) -> Result<File> {
    let folder = files::lock_folder()
        .map_err(|error| Failure::system("the lock of mousehole-live has no place", &error))?;
    let path = folder.join(what);
    let file = open_lock(&path).map_err(|error| lock_failure(&path, &error))?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        return Err(Failure::new(format!("{what} is at work already, {}", read_holder(&file))));
    }
    note_holder(&file).map_err(|error| lock_failure(&path, &error))?;
    Ok(file)
}

/// Returns whether the file of a lock from [`lock_service`] still exists; an agent's is removed
/// with its place.
pub fn is_lock_valid(lock: &File) -> bool {
    lock.metadata().is_ok_and(|data| data.nlink() > 0)
}

/// Opens the file of a lock, creating it if necessary; a symbolic link is rejected.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path)
}

/// Returns the failure of a lock on this file.
fn lock_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::system(format!("{} cannot be locked", path.display()), error)
}

/// Replaces the text of a lock's file by the process and command that hold it.
fn note_holder(file: &File) -> io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let note = format!("process {}, `{}`", std::process::id(), words.join(" "));
    file.set_len(0).and_then(|()| file.write_all_at(note.as_bytes(), 0))
}

/// Takes the lock of all commands that change something; waits up to [`LONGEST_WAIT`]. Its folder
/// belongs to this user alone, so that nobody else can hold it.
///
/// # Errors
/// A sentence that names the command that holds it for too long, or says why the file cannot be
/// locked.
fn lock_changes() -> Result<File> {
    let folder = files::lock_folder()
        .map_err(|error| Failure::system("the lock of mousehole-live has no place", &error))?;
    let path = folder.join("lock");
    let file = open_lock(&path).map_err(|error| lock_failure(&path, &error))?;
    let mut waited = Duration::ZERO;
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::WouldBlock {
            return Err(lock_failure(&path, &error));
        }
        if waited >= LONGEST_WAIT {
            return Err(Failure::new(format!(
                "another command has been at work for {} s, {}; give this one again when it has ended",
                LONGEST_WAIT.as_secs(),
                read_holder(&file)
            )));
        }
        thread::sleep(PAUSE);
        waited += PAUSE;
    }
    note_holder(&file).map_err(|error| lock_failure(&path, &error))?;
    Ok(file)
}

/// Reads a struct from the start of a value of the map `map`.
///
/// # Errors
/// A sentence when the value is shorter than the struct, as that of another build's program may be.
pub(crate) fn read_struct<T: Plain>(map: &str, bytes: &[u8]) -> Result<T> {
    T::find(bytes).ok_or_else(|| {
        Failure::new(format!(
            "the map {map} has values of {} bytes, and this version reads {}; `mousehole-live down` and the command that \
             started the program bring them together",
            bytes.len(),
            size_of::<T>()
        ))
    })
}

/// Returns who holds a lock, from the first 400 bytes of the holder's note, without control
/// characters; `of which nothing is known` if it is empty.
fn read_holder(file: &File) -> String {
    let mut note = [0; 400];
    let length = file.read_at(&mut note, 0).unwrap_or(0);
    let text: String = String::from_utf8_lossy(&note[..length]).chars().filter(|c| !c.is_control()).collect();
    if text.is_empty() { "of which nothing is known".into() } else { text }
}

/// Returns the folder of all places, which may not exist. One that another user could have created
/// is rejected.
///
/// # Errors
/// A sentence when there is no BPF file system, or another user could have created the folder.
fn find_folder() -> Result<PathBuf> {
    let path = find_bpf_root()?.join("mousehole");
    match files::check_folder(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::system(path.display(), &error)),
        _ => Ok(path),
    }
}

/// Returns the root of the BPF file system.
///
/// # Errors
/// A sentence when none is mounted there.
fn find_bpf_root() -> Result<PathBuf> {
    let root = CString::new(BPF_ROOT).expect("no zero byte");
    // SAFETY: the path ends in a zero byte, and the struct is filled by the call.
    let is_bpf = unsafe {
        let mut data: libc::statfs = std::mem::zeroed();
        libc::statfs(root.as_ptr(), &mut data) == 0 && data.f_type as u64 == 0xcafe_4a11
    };
    match is_bpf {
        true => Ok(BPF_ROOT.into()),
        false => Err(Failure::new(format!(
            "{BPF_ROOT} is no BPF file system here; `mount -t bpf -o mode=0700 bpf {BPF_ROOT}` makes it one (inside `ip netns exec` it \
             would end with the command: use `nsenter --net=/run/netns/NAME` instead)"
        ))),
    }
}
