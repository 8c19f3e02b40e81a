//! Programs in the kernel: loading, maps, attaching.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::Place;
use crate::layout::{BUCKET, Control, Plain};
use crate::record::Attachment;
use crate::request::Attach;
use libbpf_rs::{MapCore as _, MapFlags, Object, ObjectBuilder, PrintLevel, ProgramMut, set_print};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;

/// Handle of our filter under clsact.
const FILTER_HANDLE: u32 = 0x6d48;
/// Its priority.
pub(crate) const FILTER_PRIORITY: u32 = 0x6d48;

/// Maps that outlive a command and a program.
pub const PINNED: [&str; 11] = [
    "ml_flows",
    "ml_tags",
    "ml_transfers",
    "ml_users",
    "ml_settings",
    "ml_control",
    "ml_agent",
    "ml_state",
    "ml_counters",
    "ml_published",
    "ml_ended",
];

/// What libbpf said last, for messages.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A program that is loaded.
#[derive(Debug)]
pub struct Loaded {
    object: Object,
    /// Which maps fit it: a hash of their types.
    pub layout: String,
}

/// Which maps a program takes.
#[derive(Debug, Clone, Copy)]
pub struct Maps<'a> {
    /// Where they are pinned; `None` for a program that is only tried.
    pub place: Option<&'a Place>,
    /// Whether those that are pinned there are used again.
    pub reuse: bool,
    /// Entries of the tables.
    pub flows: u32,
    /// Whether transfers are noted, for a trial.
    pub notes_transfers: bool,
}

/// Loads a program, and pins its maps. Fresh maps say how the table of flows is searched, with random words of their own.
///
/// # Errors
/// A sentence when the kernel refuses it, with the last that its verifier said.
pub fn load(bytes: &[u8], maps: Maps) -> Result<Loaded> {
    quiet();
    SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    let refused = |error: &dyn std::fmt::Display| {
        Failure::new(format!("the program cannot be loaded; {error}{}", last_message()))
    };
    let mut open = ObjectBuilder::default()
        .name("mousehole")
        .and_then(|builder| builder.open_memory(bytes))
        .map_err(|error| refused(&error))?;
    let layout = layout_of(bytes);
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        let entries = match name.as_str() {
            "ml_flows" | "ml_users" => maps.flows,
            "ml_tags" => maps.flows / BUCKET,
            "ml_transfers" if maps.notes_transfers => maps.flows,
            _ => map.max_entries(),
        };
        map.set_max_entries(entries).map_err(|error| refused(&error))?;
        if let Some(place) = maps.place
            && maps.reuse
            && PINNED.contains(&name.as_str())
        {
            let path = place.map(&name);
            map.reuse_pinned_map(&path)
                .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        }
    }
    let object = open.load().map_err(|error| explain(&error, &refused))?;
    let mut loaded = Loaded { object, layout };
    if !maps.reuse {
        let control = Control { buckets: maps.flows / BUCKET, hash: random_words()?, active: 0 };
        loaded.write("ml_control", 0, control.bytes())?;
    }
    if let Some(place) = maps.place
        && !maps.reuse
    {
        for mut map in loaded.object.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            if PINNED.contains(&name.as_str()) {
                let path = place.map(&name);
                map.pin(&path)
                    .map_err(|error| Failure::new(format!("{} cannot be pinned; {error}", path.display())))?;
            }
        }
    }
    Ok(loaded)
}

/// Returns words that nobody can guess.
pub(crate) fn random_words<const COUNT: usize>() -> Result<[u32; COUNT]> {
    let mut words = [0; COUNT];
    // SAFETY: the buffer has room for as many bytes as are asked for.
    let done = unsafe { libc::getrandom(words.as_mut_ptr().cast(), size_of_val(&words), 0) };
    match done as usize == size_of_val(&words) {
        true => Ok(words),
        false => Err(Failure::system("the kernel gives no random numbers", &io::Error::last_os_error())),
    }
}

/// Returns which maps fit a program: a hash of the types of its object.
pub fn layout_of(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    section(bytes, ".BTF").unwrap_or(bytes).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Loaded {
    /// Returns the program.
    pub fn program(&self) -> ProgramMut<'_> {
        self.object.progs_mut().next().expect("an object has a program")
    }

    /// Writes a value of an array.
    ///
    /// # Errors
    /// A sentence when the kernel refuses it.
    pub fn write(&self, map: &str, index: u32, value: &[u8]) -> Result<()> {
        let found = self.object.maps().find(|one| one.name() == map).expect("the programs have the map");
        let mut whole = value.to_vec();
        whole.resize(found.value_size() as usize, 0);
        found
            .update(&index.to_ne_bytes(), &whole, MapFlags::ANY)
            .map_err(|error| Failure::new(format!("the map {map} cannot be written; {error}")))
    }

    /// Reads a value of an array; of one that each CPU has its own of, all of them.
    ///
    /// # Errors
    /// A sentence when the kernel refuses it.
    pub fn read<T: Plain>(&self, map: &str, index: u32) -> Result<T> {
        let found = self.object.maps().find(|one| one.name() == map).expect("the programs have the map");
        let value = found
            .lookup(&index.to_ne_bytes(), MapFlags::ANY)
            .map_err(|error| Failure::new(format!("the map {map} cannot be read; {error}")))?;
        Ok(T::read(&value.unwrap_or_default()))
    }

    /// Returns the object, for tests.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Returns how many instructions the kernel's verifier walked; `None` on kernels that do not tell (before 5.16).
    pub fn verified_instructions(&self) -> Option<u32> {
        program_info(self.program().as_fd().as_raw_fd())
            .ok()
            .map(|info| info.verified_insns)
            .filter(|count| *count > 0)
    }

    /// Attaches the program to a device's egress and pins what holds it there. This is the moment from which it runs.
    ///
    /// # Errors
    /// A sentence when the kernel refuses it; nothing is attached then.
    pub fn attach(&self, device: &Device, how: Attach, place: &Place) -> Result<(Attachment, Option<u32>)> {
        let program = self.program().as_fd().as_raw_fd();
        if how != Attach::Clsact {
            match create_link(program, device.index) {
                Ok(link) => {
                    pin(link.as_raw_fd(), &place.link())?;
                    return Ok((Attachment::Tcx, link_info(link.as_raw_fd()).ok().map(|info| info.id)));
                }
                Err(error) if how == Attach::Auto && is_unknown(&error) => {}
                Err(error) => {
                    return Err(Failure::system(
                        format!("the program cannot be attached to {} as tcx", device.name),
                        &error,
                    ));
                }
            }
        }
        pin(program, &place.program())?;
        let added = attach_filter(program, device.index, false).map_err(|error| {
            Failure::system(format!("the program cannot be attached to {} under clsact", device.name), &error)
        })?;
        Ok((Attachment::Clsact { added }, None))
    }

    /// Puts the program in the place of the one that a pinned link or our filter holds, at once for every packet.
    ///
    /// # Errors
    /// A sentence when the kernel refuses it; the former program stays.
    pub fn replace(&self, place: &Place, device: u32) -> Result<()> {
        if place.program().exists() {
            return self.replace_filter(place, device);
        }
        let link = open_pin(&place.link()).map_err(|error| {
            Failure::system(format!("{} cannot be opened", place.link().display()), &error)
        })?;
        // SAFETY: both descriptors are open; no options are given.
        let done = unsafe {
            libbpf_sys::bpf_link_update(
                link.as_raw_fd(),
                self.program().as_fd().as_raw_fd(),
                std::ptr::null(),
            )
        };
        match done {
            0 => Ok(()),
            error => {
                Err(Failure::system("the program cannot be replaced", &io::Error::from_raw_os_error(-error)))
            }
        }
    }

    /// Does the same under clsact. One of the two pins always names the program of the filter.
    fn replace_filter(&self, place: &Place, device: u32) -> Result<()> {
        let program = self.program().as_fd().as_raw_fd();
        let (now, next) = (place.program(), place.next_program());
        let moved =
            |error: io::Error| Failure::system(format!("{} cannot be renamed", next.display()), &error);
        if next.exists() {
            // An upgrade was killed. Its program is the filter's, or was never there.
            if pinned_program(&next).ok() == filter_program(device) {
                std::fs::rename(&next, &now).map_err(moved)?;
            } else {
                std::fs::remove_file(&next).map_err(moved)?;
            }
        }
        pin(program, &next)?;
        if let Err(error) = attach_filter(program, device, true) {
            let _ = std::fs::remove_file(&next); // it holds a program that nothing runs
            return Err(Failure::system("the program cannot be replaced", &error));
        }
        std::fs::rename(&next, &now).map_err(moved)
    }
}

/// Keeps libbpf from printing; what it says goes into failures.
pub fn quiet() {
    set_print(Some((PrintLevel::Warn, listen)));
}

/// Returns the name of the kernel's own section of an object; `None` when it has none.
fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    use object::{Object as _, ObjectSection as _};
    object::File::parse(bytes).ok()?.section_by_name(name)?.data().ok()
}

/// Removes our filter from a device.
///
/// # Errors
/// A sentence when the kernel refuses it. A device or filter that is gone is none.
pub fn detach_filter(index: u32) -> Result<()> {
    // SAFETY: both structs have the sizes that they say.
    match unsafe { libbpf_sys::bpf_tc_detach(&hook(index), &filter_options(0)) } {
        error if error == 0 || error == -libc::ENOENT || error == -libc::ENODEV => Ok(()),
        error => Err(Failure::system("the filter cannot be removed", &io::Error::from_raw_os_error(-error))),
    }
}

/// Removes a `clsact` that was added by us, unless somebody uses it.
pub fn remove_clsact(index: u32) {
    if !has_filters(index) {
        let mut both = hook(index);
        both.attach_point = libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS;
        // SAFETY: the struct has the size that it says. Without a clsact there is nothing to do.
        unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut both) };
    }
}

/// Returns whether filters stand under the device's clsact.
fn has_filters(index: u32) -> bool {
    let Some(name) = Device::name_of(index) else { return false };
    ["ingress", "egress"].iter().any(|side| {
        crate::tc::run(&["filter", "show", "dev", &name, side]).is_ok_and(|text| !text.trim().is_empty())
    })
}

/// Returns whether our filter stands at a device, as the program of this number.
pub fn filter_program(index: u32) -> Option<u32> {
    let mut options = filter_options(0);
    // SAFETY: both structs have the sizes that they say.
    let done = unsafe { libbpf_sys::bpf_tc_query(&hook(index), &mut options) };
    (done == 0).then_some(options.prog_id)
}

/// What a pinned link says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkInfo {
    /// Its number.
    pub id: u32,
    /// Its program's number.
    pub program: u32,
    /// The device's number; 0 once the device is gone.
    pub device: u32,
}

/// Returns what a pinned link says of itself.
///
/// # Errors
/// The system's, such as that it is not there.
pub fn pinned_link(path: &Path) -> io::Result<LinkInfo> {
    link_info(open_pin(path)?.as_raw_fd())
}

/// Returns the number of a pinned program.
///
/// # Errors
/// The system's, such as that it is not there.
pub fn pinned_program(path: &Path) -> io::Result<u32> {
    program_info(open_pin(path)?.as_raw_fd()).map(|info| info.id)
}

/// Returns CLOCK_MONOTONIC, as programs in the kernel read it, ns.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Returns the seconds since the machine booted, those that it slept among them. Ages are told by it: a router without
/// a clock of its own begins in 1970.
pub fn boot_s() -> u64 {
    clock_ns(libc::CLOCK_BOOTTIME) / 1_000_000_000
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    // SAFETY: the call fills the struct.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

fn create_link(program: RawFd, device: u32) -> io::Result<OwnedFd> {
    let options = libbpf_sys::bpf_link_create_opts {
        sz: size_of::<libbpf_sys::bpf_link_create_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    // SAFETY: the program's descriptor is open; the options have the size that they say.
    let link =
        unsafe { libbpf_sys::bpf_link_create(program, device as i32, libbpf_sys::BPF_TCX_EGRESS, &options) };
    if link < 0 {
        return Err(io::Error::from_raw_os_error(-link));
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}

/// Returns whether the kernel says by this error that it has no tcx.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

fn hook(index: u32) -> libbpf_sys::bpf_tc_hook {
    libbpf_sys::bpf_tc_hook {
        sz: size_of::<libbpf_sys::bpf_tc_hook>() as libbpf_sys::size_t,
        ifindex: index as i32,
        attach_point: libbpf_sys::BPF_TC_EGRESS,
        ..Default::default()
    }
}

fn filter_options(program: RawFd) -> libbpf_sys::bpf_tc_opts {
    libbpf_sys::bpf_tc_opts {
        sz: size_of::<libbpf_sys::bpf_tc_opts>() as libbpf_sys::size_t,
        prog_fd: program,
        handle: FILTER_HANDLE,
        priority: FILTER_PRIORITY,
        ..Default::default()
    }
}

/// Attaches a filter, or replaces the program of ours. Returns whether `clsact` had to be added.
fn attach_filter(program: RawFd, index: u32, replaces: bool) -> io::Result<bool> {
    let mut hook = hook(index);
    // SAFETY: the structs have the sizes that they say; the program's descriptor is open.
    unsafe {
        let made = libbpf_sys::bpf_tc_hook_create(&mut hook);
        if made != 0 && made != -libc::EEXIST {
            return Err(io::Error::from_raw_os_error(-made));
        }
        let mut options = filter_options(program);
        options.flags = if replaces { libbpf_sys::BPF_TC_F_REPLACE } else { 0 };
        let done = libbpf_sys::bpf_tc_attach(&hook, &mut options);
        if done != 0 {
            if made == 0 {
                hook.attach_point = libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS;
                libbpf_sys::bpf_tc_hook_destroy(&mut hook);
            }
            return Err(io::Error::from_raw_os_error(-done));
        }
        Ok(made == 0)
    }
}

fn pin(descriptor: RawFd, path: &Path) -> Result<()> {
    let text = CString::new(path.as_os_str().as_bytes()).expect("no zero byte");
    // SAFETY: the descriptor is open, and the path ends in a zero byte.
    match unsafe { libbpf_sys::bpf_obj_pin(descriptor, text.as_ptr()) } {
        0 => Ok(()),
        error => Err(Failure::system(
            format!("{} cannot be pinned", path.display()),
            &io::Error::from_raw_os_error(-error),
        )),
    }
}

fn open_pin(path: &Path) -> io::Result<OwnedFd> {
    let text = CString::new(path.as_os_str().as_bytes()).expect("no zero byte");
    // SAFETY: the path ends in a zero byte.
    let descriptor = unsafe { libbpf_sys::bpf_obj_get(text.as_ptr()) };
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(-descriptor));
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn link_info(link: RawFd) -> io::Result<LinkInfo> {
    // SAFETY: the struct is of the kernel's, any bytes are valid, and its size is given.
    unsafe {
        let mut info: libbpf_sys::bpf_link_info = std::mem::zeroed();
        let mut bytes = size_of::<libbpf_sys::bpf_link_info>() as u32;
        match libbpf_sys::bpf_link_get_info_by_fd(link, &mut info, &mut bytes) {
            0 => {
                Ok(LinkInfo { id: info.id, program: info.prog_id, device: info.__bindgen_anon_1.tcx.ifindex })
            }
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

pub(crate) fn program_info(program: RawFd) -> io::Result<libbpf_sys::bpf_prog_info> {
    // SAFETY: the struct is of the kernel's, any bytes are valid, and its size is given.
    unsafe {
        let mut info: libbpf_sys::bpf_prog_info = std::mem::zeroed();
        let mut bytes = size_of::<libbpf_sys::bpf_prog_info>() as u32;
        match libbpf_sys::bpf_prog_get_info_by_fd(program, &mut info, &mut bytes) {
            0 => Ok(info),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

/// Returns the failure of a load: of permissions in plain words.
fn explain(error: &libbpf_rs::Error, refused: &dyn Fn(&dyn std::fmt::Display) -> Failure) -> Failure {
    // SAFETY: the call reads this process's own number.
    let is_root = unsafe { libc::geteuid() } == 0;
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied if !is_root => Failure::new(
            "programs for the kernel need root, or the capabilities CAP_BPF and CAP_NET_ADMIN; run this with sudo",
        ),
        _ => refused(&error),
    }
}

fn listen(_level: PrintLevel, text: String) {
    SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
}

/// Returns the last that libbpf and the kernel's verifier said, as the end of a sentence.
pub(crate) fn last_message() -> String {
    let said = SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).concat();
    let is_reason = |line: &&str| {
        !line.is_empty()
            && !line.starts_with("processed ")
            && !line.starts_with("libbpf: prog")
            && !line.contains("PROG LOAD LOG")
            && !line.starts_with("libbpf: failed to load")
    };
    said.lines().map(str::trim).rfind(is_reason).map_or(String::new(), |line| format!(" ({line})"))
}
