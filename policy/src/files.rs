//! Files and folders that the programs make for themselves, and files that users name.
//!
//! The programs often run as root on machines with other users. So no name that somebody could guess is used where
//! others may write: folders are made with a random name or below a private folder of this user, with rights for nobody
//! else; files are created new and never through a link; a folder that exists is used only if its owner and its mode show
//! that nobody else could have written into it. Every read has a limit.

use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, process};
use tempfile::{Builder, TempDir};

/// Most bytes of a file that people write: a header, a file of options.
pub const TEXT_BYTES: u64 = 1 << 20;
/// Most bytes of a compiler's output file.
pub const OBJECT_BYTES: u64 = 1 << 28;

/// Root's folders: the first is emptied when the machine starts; the second serves where `/run` runs no programs.
const SYSTEM: [&str; 2] = ["/run/mousehole", "/var/cache/mousehole"];
/// The refusal of what is no regular file.
const NO_FILE: &str = "it must be a regular file, no folder, pipe or device";
/// Prefix of the names of scratch folders.
const WORK: &str = "work-";
/// Age from which a scratch folder is a killed process's: no compilation and no trial lasts so long.
const LEFTOVER_AGE: Duration = Duration::from_secs(86_400);
/// Mode bits that let the group or others write.
const WRITE_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Returns a private folder of this user, in which nobody else can write, and makes it if it is not there:
/// `$XDG_CACHE_HOME/mousehole`; for root `/run/mousehole` or `/var/cache/mousehole`, the first from
/// which programs may run; else `$HOME/.cache/mousehole`. If `XDG_CACHE_HOME` is not set and none
/// of the others can be made, it is a temporary folder, which this process removes at its end.
///
/// # Errors
/// One sentence if somebody else could have written in the folder or could replace it; else the
/// system's error.
pub fn own_folder() -> io::Result<PathBuf> {
    match lasting_folder()? {
        Some(folder) => Ok(folder),
        None => temporary_folder(),
    }
}

/// Returns the same folder as [`own_folder`] if it outlives this process, else `None`. Makes the folder if it is not
/// there.
///
/// # Errors
/// As [`own_folder`].
pub fn lasting_folder() -> io::Result<Option<PathBuf>> {
    if let Some(cache) = path_variable("XDG_CACHE_HOME") {
        return make_private_folder(&cache.join("mousehole")).map(Some);
    }
    if user() == 0 {
        let mut usable = SYSTEM.iter().filter_map(|path| make_private_folder(Path::new(path)).ok());
        if let Some(folder) = usable.find(|folder| runs_programs(folder)) {
            return Ok(Some(folder));
        }
    }
    let Some(home) = path_variable("HOME") else { return Ok(None) };
    match make_private_folder(&home.join(".cache/mousehole")) {
        Ok(folder) => Ok(Some(folder)),
        // A home that does not exist, or in which the user cannot write, counts as none.
        Err(error) if error.raw_os_error().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the private folder for locks: for root `/run/mousehole`; else the first that is set of systemd's
/// `$RUNTIME_DIRECTORY`, `$XDG_RUNTIME_DIR/mousehole` and [`lasting_folder`]. Makes the folder if it is not there.
///
/// # Errors
/// One sentence if there is none, or somebody else could have written in it; else the system's error.
pub fn lock_folder() -> io::Result<PathBuf> {
    if user() == 0 {
        return make_private_folder(Path::new(SYSTEM[0]));
    }
    let of_session = || path_variable("XDG_RUNTIME_DIR").map(|folder| folder.join("mousehole"));
    // The folders of a unit with several are joined by colons; the first one counts.
    let of_service = || env::split_paths(&path_variable("RUNTIME_DIRECTORY")?).next();
    if let Some(folder) = of_service().or_else(of_session) {
        return make_private_folder(&folder);
    }
    lasting_folder()?.ok_or_else(|| {
        refusal(
            "a user other than root needs a folder for the lock; XDG_RUNTIME_DIR or HOME names one".into(),
        )
    })
}

/// Makes a folder that only this user may enter, with its parents, unless it exists. Returns its path without symbolic
/// links in the parents.
///
/// # Errors
/// The system's error; or one sentence if somebody else could have written in the folder or replaced it.
pub fn make_private_folder(path: &Path) -> io::Result<PathBuf> {
    let mut private = DirBuilder::new();
    private.mode(0o700);
    let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
    private.recursive(true).create(parent)?;
    let parent = fs::canonicalize(parent)?;
    parent.ancestors().try_for_each(check_ancestor)?;
    let path = parent.join(name);
    match private.recursive(false).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => check_folder(&path)?,
    }
    Ok(path)
}

/// Checks that a path is a folder of this user, not a link, and that nobody else can write in it. Its parents are not
/// checked.
///
/// # Errors
/// The system's error; or one sentence that names the path and what to do.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let data = fs::symlink_metadata(path)?;
    match data.is_dir() {
        true => check_owner(path, &data),
        false => Err(refusal(format!("{} is no folder; remove it", path.display()))),
    }
}

/// Makes a folder with a random name in [`own_folder`], as [`make_scratch_in`] does; it is removed when dropped.
///
/// # Errors
/// As [`own_folder`].
pub fn make_scratch_folder() -> io::Result<TempDir> {
    make_scratch_in(&own_folder()?)
}

/// Makes a folder with a random name in `folder`, for this user alone; it is removed when dropped. Removes this user's
/// scratch folders there that are older than `LEFTOVER_AGE`.
///
/// # Errors
/// The system's error.
pub fn make_scratch_in(folder: &Path) -> io::Result<TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    remove_leftovers(folder);
    Builder::new().prefix(WORK).rand_bytes(12).permissions(mode).tempdir_in(folder).map_err(without_path)
}

/// Removes this user's scratch folders that have not changed for [`LEFTOVER_AGE`]. Ignores those that it cannot remove.
fn remove_leftovers(folder: &Path) {
    let is_old = |data: &Metadata| {
        let age = data.modified().ok().and_then(|at| at.elapsed().ok());
        data.is_dir() && data.uid() == user() && age.is_some_and(|age| age > LEFTOVER_AGE)
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_work = entry.file_name().to_string_lossy().starts_with(WORK);
        if is_work && entry.metadata().is_ok_and(|data| is_old(&data)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Reads a regular file of at most `limit` bytes; refuses pipes, devices and folders without waiting for them.
///
/// # Errors
/// The system's error; or one sentence for a longer file, or one that is not regular.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, _) = open_regular(path, 0)?;
    read_all(file, limit)
}

/// Reads a text in UTF-8 of at most [`TEXT_BYTES`].
///
/// # Errors
/// As [`read`]; one sentence for a file that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path, TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| refusal("it is not text in UTF-8".into()))
}

/// Reads a file that only this user could have written; the path itself must not be a symbolic link.
///
/// # Errors
/// As [`read`]; one sentence if the file is another user's or others may write to it.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, data) = open_regular(path, libc::O_NOFOLLOW)?;
    check_owner(path, &data)?;
    read_all(file, limit)
}

/// Creates a file with these bytes that only this user may read and write.
///
/// # Errors
/// The system's error; `AlreadyExists` if anything is at the path, a link too. A file that could not be written in full
/// stays.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path)?.write_all(bytes)
}

/// Replaces a file, or creates it, in one step: a reader finds the whole former file or the whole new one. Others may read
/// it, as the umask allows. A symbolic link at the path is replaced, not followed. A pipe, a device such as `/dev/null`, a
/// link to one and a folder stay.
///
/// # Errors
/// One sentence if a pipe, a socket or a device is at the path; `IsADirectory` if the path has no
/// file name; else the system's error. What was there then stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Err(refusal(NO_FILE.into()));
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // Hidden, so that a program that reads all files of a kind does not read an unfinished one.
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut unfinished = Builder::new()
        .prefix(&prefix)
        .rand_bytes(12)
        .permissions(fs::Permissions::from_mode(0o666)) // less the umask
        .tempfile_in(folder)
        .map_err(without_path)?;
    unfinished.write_all(bytes)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(path).map(drop).map_err(|error| error.error)
}

/// Returns the SHA-256 of bytes as 64 hexadecimal digits in lower case.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the effective user ID of this process.
pub fn user() -> u32 {
    // SAFETY: the call only asks.
    unsafe { libc::geteuid() }
}

/// Returns the path in an environment variable; `None` if it is not set or empty.
fn path_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns an error of kind `PermissionDenied` with this sentence.
fn refusal(sentence: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, sentence)
}

/// Returns the system's error within one of the tempfile crate, without the path that the crate adds.
fn without_path(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()?.downcast_ref::<io::Error>()?.raw_os_error());
    inner.map_or(error, io::Error::from_raw_os_error)
}

/// Checks that a file or folder with this metadata belongs to this user and that nobody else can write it.
///
/// # Errors
/// One sentence that says what to do.
fn check_owner(path: &Path, data: &Metadata) -> io::Result<()> {
    let (path, mode) = (path.display(), data.mode() & 0o7777);
    if data.uid() != user() {
        return Err(refusal(format!(
            "{path} belongs to user {}, and this is user {}; give the command as that user, or remove it",
            data.uid(),
            user()
        )));
    }
    match mode & WRITE_OTHERS {
        0 => Ok(()),
        _ => Err(refusal(format!(
            "others may write to {path} (its mode is {mode:o}); see that what it holds is yours, then `chmod go-w {path}`"
        ))),
    }
}

/// Checks a folder that is a parent of ours: it must belong to root, this user or the owner of `/`,
/// and may be writable for others only if it is sticky. Others are everybody, and its group unless that
/// is root's or this process's.
///
/// # Errors
/// The system's error; or one sentence that names the folder and its mode.
fn check_ancestor(folder: &Path) -> io::Result<()> {
    let data = fs::metadata(folder)?;
    // In a container whose root is not the machine's, system files seem to belong to the owner of `/`.
    let trusted = [user(), 0, fs::metadata("/")?.uid()];
    // SAFETY: the call only asks.
    let is_own_group = [0, unsafe { libc::getegid() }].contains(&data.gid());
    let others = if is_own_group { 0o002 } else { WRITE_OTHERS };
    let is_open = data.mode() & others != 0 && data.mode() & STICKY == 0;
    match trusted.contains(&data.uid()) && !is_open {
        true => Ok(()),
        false => Err(refusal(format!(
            "{} (mode {:o}, of user {}) lets others replace what is in it; XDG_CACHE_HOME names another folder",
            folder.display(),
            data.mode() & 0o7777,
            data.uid()
        ))),
    }
}

/// Returns whether programs and libraries in a folder may be executed; `/run` is often mounted with `noexec`.
#[cfg(target_os = "linux")]
fn runs_programs(folder: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path ends in a zero byte, and the call fills the struct.
    unsafe {
        let mut data: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &mut data) == 0 && data.f_flag & libc::ST_NOEXEC == 0
    }
}

/// Returns `true`: other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn runs_programs(_: &Path) -> bool {
    true
}

/// The temporary folder, and the ID of the process that made it.
static TEMPORARY: OnceLock<(u32, PathBuf)> = OnceLock::new();

/// Returns a private temporary folder, the same one at every call. The first call makes it; the process removes it when it
/// exits.
///
/// # Errors
/// The system's error.
fn temporary_folder() -> io::Result<PathBuf> {
    if let Some((_, folder)) = TEMPORARY.get() {
        return Ok(folder.clone());
    }
    let mode = fs::Permissions::from_mode(0o700);
    let made = Builder::new()
        .prefix("mousehole-")
        .rand_bytes(12)
        .permissions(mode)
        .tempdir()
        .map_err(without_path)?;
    // If another thread was faster, this one's folder is dropped and thereby removed.
    let (_, folder) = TEMPORARY.get_or_init(|| {
        // SAFETY: the function takes nothing, and what it calls is allowed at the end of a process.
        unsafe { libc::atexit(remove_temporary_folder) };
        (process::id(), made.keep())
    });
    Ok(folder.clone())
}

/// Removes the temporary folder if this process made it; a forked child's exit leaves it.
extern "C" fn remove_temporary_folder() {
    if let Some((owner, folder)) = TEMPORARY.get()
        && *owner == process::id()
    {
        let _ = fs::remove_dir_all(folder); // what cannot be removed stays among the temporary files
    }
}

/// Opens a regular file for reading and returns it with its metadata; `more` are further flags of open(2), 0 for none.
/// Refuses pipes, devices and folders without waiting for them.
///
/// # Errors
/// The system's error; or one sentence for a file that is not regular.
fn open_regular(path: &Path, more: i32) -> io::Result<(File, Metadata)> {
    // Without O_NONBLOCK the call would wait for a pipe's writer.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | more;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        match (error.raw_os_error(), more & libc::O_NOFOLLOW) {
            (Some(libc::ENXIO), _) => refusal(NO_FILE.into()), // a socket
            (Some(libc::ELOOP), 1..) => refusal("it is a symbolic link, which is not followed here".into()),
            _ => error,
        }
    })?;
    let data = file.metadata()?;
    match data.is_file() {
        true => Ok((file, data)),
        false => Err(refusal(NO_FILE.into())),
    }
}

/// Reads an open file of at most `limit` bytes to its end.
///
/// # Errors
/// The system's error; or one sentence for a longer file.
fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= limit {
        true => Ok(bytes),
        false => Err(refusal(format!("it must have at most {limit} bytes, and has more"))),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn make_scratch_in__removes_what_a_killed_process_left() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new, other] = ["work-old", "work-new", "kept"].map(|name| folder.path().join(name));
        for path in [&old, &new, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("object"), b"x").unwrap();
        }
        let now = fs::metadata(&new).unwrap().modified().unwrap();
        let then = now - LEFTOVER_AGE - Duration::from_secs(60);
        for path in [&old, &other] {
            File::open(path).unwrap().set_modified(then).unwrap();
        }
        let made = make_scratch_in(folder.path()).unwrap();
        assert!(made.path().is_dir() && new.is_dir() && other.is_dir());
        assert!(!old.exists());
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn error_text<T: std::fmt::Debug>(result: io::Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn make_private_folder__is_for_this_user_alone() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("one/two");
        let made = make_private_folder(&path).unwrap();
        assert_eq!((mode(&made), mode(&place.path().join("one"))), (0o700, 0o700));
        assert_eq!(make_private_folder(&path).unwrap(), made, "it may be there already");
        for open in [0o720, 0o702] {
            set_mode(&made, open);
            let found = error_text(make_private_folder(&path));
            assert!(
                found.contains(&format!("(its mode is {open:o})")) && found.contains("chmod go-w"),
                "{found}"
            );
        }
    }

    #[test]
    fn make_private_folder__is_no_link_and_no_file() {
        let place = TempDir::new().unwrap();
        let (there, link, file) =
            (place.path().join("there"), place.path().join("link"), place.path().join("file"));
        fs::create_dir(&there).unwrap();
        symlink(&there, &link).unwrap();
        symlink(place.path().join("nowhere"), place.path().join("dangling")).unwrap();
        fs::write(&file, "").unwrap();
        for path in [link, file, place.path().join("dangling")] {
            assert!(error_text(make_private_folder(&path)).contains("is no folder"), "{path:?}");
        }
        assert!(!place.path().join("nowhere").exists());
    }

    #[test]
    fn make_private_folder__is_not_where_anybody_may_replace_it() {
        let place = TempDir::new().unwrap();
        let open = place.path().join("open");
        fs::create_dir(&open).unwrap();
        set_mode(&open, 0o777);
        assert!(
            error_text(make_private_folder(&open.join("ours"))).contains("lets others replace what is in it")
        );
        set_mode(&open, 0o1777);
        make_private_folder(&open.join("ours")).unwrap();
    }

    #[test]
    fn read__takes_regular_files_up_to_its_limit() {
        let place = TempDir::new().unwrap();
        let (file, pipe) = (place.path().join("file"), place.path().join("pipe"));
        fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        assert_eq!(error_text(read(&file, 4)), "it must have at most 4 bytes, and has more");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name ends in a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [&pipe, Path::new("/dev/zero"), place.path()] {
            assert!(error_text(read(path, 5)).contains("must be a regular file"), "{path:?}");
        }
        fs::write(&file, [0xff]).unwrap();
        assert_eq!(error_text(read_text(&file)), "it is not text in UTF-8");
    }

    #[test]
    fn read_own__takes_no_link_and_nothing_that_others_write() {
        let place = TempDir::new().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        write_new(&file, b"one").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!((read_own(&file, 3).unwrap(), mode(&file)), (b"one".to_vec(), 0o600));
        assert!(read_own(&link, 3).is_err());
        set_mode(&file, 0o622);
        assert!(error_text(read_own(&file, 3)).contains("others may write to"));
    }

    #[test]
    fn write_new__never_writes_to_what_is_there() {
        let place = TempDir::new().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "theirs").unwrap();
        symlink(&file, &link).unwrap();
        symlink(place.path().join("new"), place.path().join("dangling")).unwrap();
        for path in [&file, &link, &place.path().join("dangling")] {
            assert_eq!(write_new(path, b"ours").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert!(!place.path().join("new").exists());
    }

    #[test]
    fn replace__leaves_the_former_file_where_it_fails() {
        let place = TempDir::new().unwrap();
        let folder = place.path();
        fs::create_dir_all(folder.join("there/inner")).unwrap();
        assert!(replace(&folder.join("there"), b"new").is_err());
        assert!(folder.join("there/inner").is_dir());
        assert!(replace(Path::new("/"), b"new").is_err());
        assert_eq!(replace(&folder.join("none/file"), b"").unwrap_err().kind(), io::ErrorKind::NotFound);
        replace(&folder.join("file"), b"one").unwrap();
        replace(&folder.join("file"), b"two").unwrap();
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "two");
        let left: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|one| one.file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn replace__leaves_pipes_sockets_and_devices() {
        let place = TempDir::new().unwrap();
        let (socket, null) = (place.path().join("socket"), place.path().join("null"));
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        symlink("/dev/null", &null).unwrap();
        for path in [&socket, &null] {
            let before = fs::symlink_metadata(path).unwrap().ino();
            assert_eq!(replace(path, b"x").unwrap_err().to_string(), NO_FILE);
            assert_eq!(fs::symlink_metadata(path).unwrap().ino(), before);
        }
        assert_eq!(read(&socket, 9).unwrap_err().to_string(), NO_FILE);
    }

    #[test]
    fn replace__puts_a_file_in_the_place_of_a_link() {
        let place = TempDir::new().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "theirs").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
    }

    #[test]
    fn digest__is_that_of_the_standard() {
        // FIPS 180-4, the example of one block.
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
