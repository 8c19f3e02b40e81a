//! Files and folders that the programs make for themselves, and files that users name.
//!
//! The programs often run as root on machines with other users. So no name that somebody could guess is used where
//! others may write: folders are made with a random name or below a folder of this user's own, with rights for nobody
//! else; files are made anew and never through a link; a folder that is there already is taken only if its owner and
//! its mode say that nobody else could have put anything into it. What is read has a limit.

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
/// Most bytes of a file that a compiler made.
pub const OBJECT_BYTES: u64 = 1 << 28;

/// Where root's things are: gone with the machine's next start, or kept where `/run` runs no programs.
const SYSTEM: [&str; 2] = ["/run/mousehole", "/var/cache/mousehole"];
const NO_FILE: &str = "it must be a regular file, no folder, pipe or device";
/// What the names of scratch folders begin with.
const WORK: &str = "work-";
/// No compilation and no trial lasts so long.
const LEFTOVER_AGE: Duration = Duration::from_secs(86_400);
/// Who may write beside the owner: the group and others.
const WRITE_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Returns a folder of this user's own, in which nobody else can write and from where programs may run:
/// `$XDG_CACHE_HOME/mousehole`; of root `/run/mousehole` or `/var/cache/mousehole`; else `$HOME/.cache/mousehole`. Where
/// none of these can be, it is a new one among the temporary files, which this process removes at its end.
///
/// # Errors
/// One sentence when the folder is there and somebody else could have written in it.
pub fn own_folder() -> io::Result<PathBuf> {
    match lasting_folder()? {
        Some(folder) => Ok(folder),
        None => passing_folder(),
    }
}

/// Returns what [`own_folder`] does where that outlives this process, else `None`. It fails as that does.
pub fn lasting_folder() -> io::Result<Option<PathBuf>> {
    if let Some(cache) = variable("XDG_CACHE_HOME") {
        return make_private_folder(&cache.join("mousehole")).map(Some);
    }
    if user() == 0 {
        let mut usable = SYSTEM.iter().filter_map(|path| make_private_folder(Path::new(path)).ok());
        if let Some(folder) = usable.find(|folder| runs_programs(folder)) {
            return Ok(Some(folder));
        }
    }
    let Some(home) = variable("HOME") else { return Ok(None) };
    match make_private_folder(&home.join(".cache/mousehole")) {
        Ok(folder) => Ok(Some(folder)),
        // A home that is not there, or belongs to the system, is none.
        Err(error) if error.raw_os_error().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the folder for locks: of root `/run/mousehole`; else of systemd's `$RUNTIME_DIRECTORY`,
/// `$XDG_RUNTIME_DIR/mousehole` and [`lasting_folder`] the first that is set.
///
/// # Errors
/// One sentence when there is none, or somebody else could have written in it.
pub fn lock_folder() -> io::Result<PathBuf> {
    if user() == 0 {
        return make_private_folder(Path::new(SYSTEM[0]));
    }
    let of_session = || variable("XDG_RUNTIME_DIR").map(|folder| folder.join("mousehole"));
    // Of a unit with several folders these are joined by colons.
    let of_service = || env::split_paths(&variable("RUNTIME_DIRECTORY")?).next();
    if let Some(folder) = of_service().or_else(of_session) {
        return make_private_folder(&folder);
    }
    lasting_folder()?.ok_or_else(|| {
        refusal(
            "a user other than root needs a folder for the lock; XDG_RUNTIME_DIR or HOME names one".into(),
        )
    })
}

/// Makes a folder that only this user may enter, if it is not there yet, and returns its path without links.
///
/// # Errors
/// What the system says, or one sentence when somebody else could have written in it or put it there.
pub fn make_private_folder(path: &Path) -> io::Result<PathBuf> {
    let mut private = DirBuilder::new();
    private.mode(0o700);
    let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
    private.recursive(true).create(parent)?;
    let parent = fs::canonicalize(parent)?;
    parent.ancestors().try_for_each(check_above)?;
    let path = parent.join(name);
    match private.recursive(false).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => check_folder(&path)?,
    }
    Ok(path)
}

/// Checks that a folder is this user's and that nobody else can write in it.
///
/// # Errors
/// What the system says, or one sentence.
pub fn check_folder(path: &Path) -> io::Result<()> {
    let data = fs::symlink_metadata(path)?;
    match data.is_dir() {
        true => check_owner(path, &data),
        false => Err(refusal(format!("{} is no folder; remove it", path.display()))),
    }
}

/// Makes a folder with a random name in [`own_folder`]; it is removed when dropped. It fails as that does.
pub fn make_scratch_folder() -> io::Result<TempDir> {
    make_scratch_in(&own_folder()?)
}

/// Makes a folder with a random name in another one, for this user alone; it is removed when dropped. Folders that killed
/// processes left a day ago or earlier are removed.
///
/// # Errors
/// What the system says.
pub fn make_scratch_in(folder: &Path) -> io::Result<TempDir> {
    let mode = fs::Permissions::from_mode(0o700);
    remove_leftovers(folder);
    Builder::new().prefix(WORK).rand_bytes(12).permissions(mode).tempdir_in(folder).map_err(plain)
}

/// Removes this user's scratch folders that nobody has changed for [`LEFTOVER_AGE`]. What cannot be removed stays.
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

/// Reads a regular file of at most `limit` bytes; pipes, devices and folders are refused without waiting for them.
///
/// # Errors
/// What the system says, or one sentence.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, _) = open_regular(path, 0)?;
    read_all(file, limit)
}

/// Does the same with a text in UTF-8.
///
/// # Errors
/// As [`read`].
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read(path, TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| refusal("it is not text in UTF-8".into()))
}

/// Reads a file that nobody but this user could have written, and not through a link at its name.
///
/// # Errors
/// As [`read`].
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, data) = open_regular(path, libc::O_NOFOLLOW)?;
    check_owner(path, &data)?;
    read_all(file, limit)
}

/// Makes a file that only this user may read and that must not be there yet.
///
/// # Errors
/// What the system says.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options.open(path)?.write_all(bytes)
}

/// Writes a file for whoever reads it: it is there whole, the former one or the new one. A link at its name is
/// replaced, not followed. A pipe, a device such as `/dev/null` and a link to one stay, and so does a folder.
///
/// # Errors
/// What the system says, or that the path names no file; what was there stays.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Err(refusal(NO_FILE.into()));
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // Hidden, so that who reads all files of a kind never takes one that is not finished.
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut unfinished = Builder::new()
        .prefix(&prefix)
        .rand_bytes(12)
        .permissions(fs::Permissions::from_mode(0o666)) // less the umask
        .tempfile_in(folder)
        .map_err(plain)?;
    unfinished.write_all(bytes)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(path).map(drop).map_err(|error| error.error)
}

/// Returns the SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the number of the user with whose rights this process acts.
pub fn user() -> u32 {
    // SAFETY: the call only asks.
    unsafe { libc::geteuid() }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn refusal(sentence: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, sentence)
}

/// Returns an error without the path that tempfile adds, which the caller names.
fn plain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source()?.downcast_ref::<io::Error>()?.raw_os_error());
    inner.map_or(error, io::Error::from_raw_os_error)
}

/// Refuses a file or folder that belongs to another user, or that others can write.
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

/// Checks that nobody but root and this user can rename what is in a folder above ours.
fn check_above(folder: &Path) -> io::Result<()> {
    let data = fs::metadata(folder)?;
    // In a container without the machine's root, its files seem to be of somebody else: of whom `/` is.
    let trusted = [user(), 0, fs::metadata("/")?.uid()];
    let is_open = data.mode() & 0o002 != 0 && data.mode() & STICKY == 0;
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

/// Returns whether programs and libraries in a folder may be started; `/run` is often mounted so that they may not.
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

#[cfg(not(target_os = "linux"))]
fn runs_programs(_: &Path) -> bool {
    true
}

/// The folder of a process that has none to come back to.
static PASSING: OnceLock<(u32, PathBuf)> = OnceLock::new();

/// Returns a folder among the temporary files, the same one at every call. This process makes it at the first call and
/// removes it at its end.
///
/// # Errors
/// What the system says.
fn passing_folder() -> io::Result<PathBuf> {
    if let Some((_, folder)) = PASSING.get() {
        return Ok(folder.clone());
    }
    let mode = fs::Permissions::from_mode(0o700);
    let made =
        Builder::new().prefix("mousehole-").rand_bytes(12).permissions(mode).tempdir().map_err(plain)?;
    // Another thread may have been faster; then this one's is dropped, and removed.
    let (_, folder) = PASSING.get_or_init(|| {
        // SAFETY: the function takes nothing, and what it calls is allowed at the end of a process.
        unsafe { libc::atexit(remove_passing) };
        (process::id(), made.keep())
    });
    Ok(folder.clone())
}

/// Removes the folder, unless a child of the process that made it ends.
extern "C" fn remove_passing() {
    if let Some((owner, folder)) = PASSING.get()
        && *owner == process::id()
    {
        let _ = fs::remove_dir_all(folder); // what cannot be removed stays among the temporary files
    }
}

/// Opens a regular file for reading; `more` are further flags of open(2). Refuses pipes, devices and folders without
/// waiting for them.
///
/// # Errors
/// What the system says, or one sentence.
fn open_regular(path: &Path, more: i32) -> io::Result<(File, Metadata)> {
    // A pipe without a writer would have the call wait.
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

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// What the system says, or one sentence for a longer file.
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

    fn refused<T: std::fmt::Debug>(result: io::Result<T>) -> String {
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
            let found = refused(make_private_folder(&path));
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
            assert!(refused(make_private_folder(&path)).contains("is no folder"), "{path:?}");
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
            refused(make_private_folder(&open.join("ours"))).contains("lets others replace what is in it")
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
        assert_eq!(refused(read(&file, 4)), "it must have at most 4 bytes, and has more");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name ends in a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [&pipe, Path::new("/dev/zero"), place.path()] {
            assert!(refused(read(path, 5)).contains("must be a regular file"), "{path:?}");
        }
        fs::write(&file, [0xff]).unwrap();
        assert_eq!(refused(read_text(&file)), "it is not text in UTF-8");
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
        assert!(refused(read_own(&file, 3)).contains("others may write to"));
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
