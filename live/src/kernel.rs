//! Loads programs into the kernel with their maps, and attaches them to devices.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::Place;
use crate::layout::{BUCKET, Control, Plain};
use crate::record::Attachment;
use crate::request::Attach;
use crate::types::Types;
use crate::{bpf, netlink, qdisc};
use aya::EbpfLoader;
use aya::programs::{ProgramError, SchedClassifier};
use mousehole_policy::files;
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

/// The handle of our filter under clsact.
const FILTER_HANDLE: u32 = 0x6d48;
/// The priority of our filter.
pub(crate) const FILTER_PRIORITY: u32 = 0x6d48;

/// The maps that outlive a command and a program.
pub const PINNED: [&str; 12] = [
    "ml_flows",
    "ml_tags",
    "ml_transfers",
    "ml_users",
    "ml_settings",
    "ml_control",
    "ml_agent",
    "ml_state",
    "ml_queues",
    "ml_counters",
    "ml_published",
    "ml_ended",
];

/// A loaded program with its maps.
#[derive(Debug)]
pub struct Loaded {
    program: OwnedFd,
    maps: BTreeMap<String, bpf::Map>,
    /// A hash of the types of its maps; programs with the same hash can share maps.
    pub layout: String,
}

/// How the maps of a program are created.
#[derive(Debug, Clone, Copy)]
pub struct Maps<'a> {
    /// Where they are pinned; `None` for a program that is only tested.
    pub place: Option<&'a Place>,
    /// Whether maps that are pinned there are used again.
    pub reuse: bool,
    /// Entries of the flow and user tables.
    pub flows: u32,
    /// Whether transfers are recorded, for a trial.
    pub notes_transfers: bool,
}

/// Loads a program and attaches it to nothing. New maps are pinned at the place, if there is one,
/// and get random coefficients for the hash of the flow table. With `reuse`, those pinned there are
/// used with their contents.
///
/// # Errors
/// A sentence when the kernel rejects it, with the verifier's last message, or a map cannot be
/// written or pinned; maps pinned by then stay.
///
/// # Panics
/// For an object without the program `mousehole`.
pub fn load(bytes: &[u8], maps: Maps) -> Result<Loaded> {
    let layout = hash_layout(bytes);
    let pinned = |name: &str, place: &Place| PINNED.contains(&name).then(|| place.map(name));
    let mut loader = EbpfLoader::new();
    // The programs use no types of the kernel, so its type information is not read.
    loader.btf(None);
    for (name, entries) in
        [("ml_flows", maps.flows), ("ml_users", maps.flows), ("ml_tags", maps.flows / BUCKET)]
    {
        loader.map_max_entries(name, entries);
    }
    if maps.notes_transfers {
        loader.map_max_entries("ml_transfers", maps.flows);
    }
    if let Some(place) = maps.place.filter(|_| maps.reuse) {
        for name in PINNED.iter().filter(|name| place.map(name).exists()) {
            loader.map_pin_path(name, place.map(name));
        }
    }
    let mut object = loader.load(bytes).map_err(|error| load_failure(&error, ""))?;
    let program: &mut SchedClassifier =
        object.program_mut("mousehole").expect("an object has a program").try_into().expect("it is a filter");
    program.load().map_err(|error| match &error {
        ProgramError::LoadError { verifier_log, .. } => load_failure(&error, &verifier_log.to_string()),
        _ => load_failure(&error, ""),
    })?;
    let unreadable = |error: &io::Error| Failure::system("the program cannot be loaded", error);
    let program = program.fd().map_err(|error| load_failure(&error, ""))?;
    let program = program.as_fd().try_clone_to_owned().map_err(|error| unreadable(&error))?;
    let opened = |(name, map): (&str, &aya::maps::Map)| Ok((name.to_string(), bpf::Map::from_aya(map)?));
    let all: io::Result<BTreeMap<_, _>> = object.maps().map(opened).collect();
    let loaded = Loaded { program, maps: all.map_err(|error| unreadable(&error))?, layout };
    if !maps.reuse {
        let control = Control { buckets: maps.flows / BUCKET, hash: draw_random_words()?, active: 0 };
        loaded.write("ml_control", 0, control.bytes())?;
    }
    if let Some(place) = maps.place.filter(|_| !maps.reuse) {
        for (name, map) in &loaded.maps {
            if let Some(path) = pinned(name, place) {
                map.pin(&path).map_err(|error| {
                    Failure::system(format!("{} cannot be pinned", path.display()), &error)
                })?;
            }
        }
    }
    Ok(loaded)
}

/// Returns the failure of a load: one about privileges if they are missing, else with the last
/// message of the verifier's `log`.
fn load_failure(error: &(dyn Error + 'static), log: &str) -> Failure {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut system = None;
    while let Some(one) = cause {
        system = system.or(one.downcast_ref::<io::Error>());
        cause = one.source();
    }
    // SAFETY: the call reads this process's own number.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root && system.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        return Failure::new(
            "programs for the kernel need root, or the capabilities CAP_NET_ADMIN, CAP_BPF and CAP_PERFMON; run this with sudo",
        );
    }
    let is_reason = |line: &&str| {
        !["", "processed ", "verification time ", "stack depth "]
            .iter()
            .any(|start| if start.is_empty() { line.is_empty() } else { line.starts_with(start) })
    };
    let said = log.lines().map(str::trim).rfind(is_reason).map(|line| format!(" ({line})"));
    let why = system.map_or_else(|| error.to_string(), crate::error::format_reason);
    Failure::new(format!("the program cannot be loaded; {why}{}", said.unwrap_or_default()))
}

/// Returns numbers that nobody can guess.
///
/// # Errors
/// A sentence when the kernel gives no random numbers.
pub(crate) fn draw_random_words<const COUNT: usize>() -> Result<[u32; COUNT]> {
    let mut words = [0; COUNT];
    // SAFETY: the buffer has the given length.
    let done = unsafe { libc::getrandom(words.as_mut_ptr().cast(), size_of_val(&words), 0) };
    match done as usize == size_of_val(&words) {
        true => Ok(words),
        false => Err(Failure::system("the kernel gives no random numbers", &io::Error::last_os_error())),
    }
}

/// Returns a hash of the pinned maps' types, members included. An object without type information
/// gets the hash of all its bytes.
pub fn hash_layout(bytes: &[u8]) -> String {
    let maps = find_section(bytes, ".BTF").and_then(|types| Types::read(types)?.describe_maps(&PINNED));
    files::digest(maps.as_ref().map_or(bytes, String::as_bytes))
}

impl Loaded {
    /// Returns the program's descriptor.
    pub fn program(&self) -> BorrowedFd<'_> {
        self.program.as_fd()
    }

    /// Returns a map of the program by its name.
    ///
    /// # Panics
    /// When the program has no such map.
    pub fn map(&self, name: &str) -> &bpf::Map {
        self.maps.get(name).unwrap_or_else(|| panic!("the program has no map {name}"))
    }

    /// Writes an entry of an array. The value is filled up with zeros or cut to the map's size.
    ///
    /// # Errors
    /// A sentence when the kernel rejects it.
    ///
    /// # Panics
    /// When the program has no such map.
    pub fn write(&self, map: &str, index: u32, value: &[u8]) -> Result<()> {
        let found = self.map(map);
        let mut whole = value.to_vec();
        whole.resize(found.value_size(), 0);
        found
            .update(&index.to_ne_bytes(), &whole)
            .map_err(|error| Failure::system(format!("the map {map} cannot be written"), &error))
    }

    /// Returns how many instructions the verifier processed; `None` if the kernel does not say
    /// (before 5.16).
    pub fn verified_instructions(&self) -> Option<u32> {
        bpf::program_info(self.program()).ok().map(|info| info.verified_insns).filter(|count| *count > 0)
    }

    /// Attaches the program to a device's egress and pins what holds it there. From this moment it
    /// runs. Returns how it is attached and the number of the tcx link. With `Auto`, a filter under
    /// clsact serves a kernel without tcx.
    ///
    /// # Errors
    /// A sentence when the kernel rejects it. A pin that was made by then stays; the caller removes
    /// it with the place.
    pub fn attach(&self, device: &Device, how: Attach, place: &Place) -> Result<(Attachment, Option<u32>)> {
        let program = self.program();
        if how != Attach::Clsact {
            match bpf::create_link(program, device.index) {
                Ok(link) => {
                    pin(link.as_fd(), &place.link())?;
                    return Ok((Attachment::Tcx, bpf::link_info(link.as_fd()).ok().map(|info| info.id)));
                }
                Err(error) if how == Attach::Auto && means_no_tcx(&error) => {}
                Err(error) => {
                    return Err(Failure::system(
                        format!("the program cannot be attached to {} as tcx", device.name),
                        &error,
                    ));
                }
            }
        }
        let [_, block] = qdisc::shared_blocks(&netlink::list_qdiscs(device.index)?);
        if block > 0 {
            return Err(Failure::new(format!(
                "what goes out of {} is filtered by block {block}, which other devices may share, and the kernel takes no \
                 filter of one device there; a kernel of 6.6 or later attaches the program beside it, by tcx",
                device.name
            )));
        }
        pin(program, &place.program())?;
        let added = attach_filter(program, device.index, false).map_err(|error| {
            Failure::system(format!("the program cannot be attached to {} under clsact", device.name), &error)
        })?;
        Ok((Attachment::Clsact { added }, None))
    }

    /// Replaces the program of the pinned link or of our filter by this one, atomically for
    /// packets.
    ///
    /// # Errors
    /// A sentence when the kernel rejects it or a pin cannot be renamed. The former program stays
    /// if it is the kernel's error.
    pub fn replace(&self, place: &Place, device: u32) -> Result<()> {
        if place.program().exists() {
            return self.replace_filter(place, device);
        }
        let link = bpf::open_pin(&place.link()).map_err(|error| {
            Failure::system(format!("{} cannot be opened", place.link().display()), &error)
        })?;
        bpf::update_link(link.as_fd(), self.program())
            .map_err(|error| Failure::system("the program cannot be replaced", &error))
    }

    /// Does [`Loaded::replace`] under clsact. At any time, one of the two pins names the program of
    /// the filter. Finishes or undoes an upgrade that was killed first.
    fn replace_filter(&self, place: &Place, device: u32) -> Result<()> {
        let program = self.program();
        let (now, next) = (place.program(), place.next_program());
        let moved =
            |error: io::Error| Failure::system(format!("{} cannot be renamed", next.display()), &error);
        if next.exists() {
            // An upgrade was killed, before or after its program became the filter's.
            if read_pinned_program(&next).ok() == find_filter_program(device) {
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

/// Returns the bytes of an object's section; `None` if it has none of this name.
pub(crate) fn find_section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    use object::{Object as _, ObjectSection as _};
    object::File::parse(bytes).ok()?.section_by_name(name)?.data().ok()
}

/// Removes our filter from a device.
///
/// # Errors
/// A sentence when the kernel refuses. A device or filter that is gone is no error.
pub fn detach_filter(index: u32) -> Result<()> {
    match netlink::remove_filter(index, FILTER_PRIORITY, FILTER_HANDLE) {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::EINVAL)) => {
            Err(Failure::system("the filter cannot be removed", &error))
        }
        _ => Ok(()),
    }
}

/// Removes a device's `clsact`, unless it has filters. Call it for one that we added. Failures are
/// ignored.
pub fn remove_clsact(index: u32) {
    if !netlink::has_filters(index) {
        // It fails if there is none, which is as good.
        let _ = netlink::remove_clsact(index);
    }
}

/// Returns the number of the program of our filter at a device; `None` without the filter.
pub fn find_filter_program(index: u32) -> Option<u32> {
    netlink::find_filter_program(index, FILTER_PRIORITY, FILTER_HANDLE)
}

/// The kernel's information about a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkInfo {
    /// The link's number.
    pub id: u32,
    /// The program's number.
    pub program: u32,
    /// The device's interface index; 0 once the device is gone.
    pub device: u32,
}

/// Returns the kernel's information about a pinned link.
///
/// # Errors
/// The system's error, for example if it is not there.
pub fn read_pinned_link(path: &Path) -> io::Result<LinkInfo> {
    let info = bpf::link_info(bpf::open_pin(path)?.as_fd())?;
    // SAFETY: the kernel fills the part of the link's own kind, and any bytes are a number.
    let device = unsafe { info.__bindgen_anon_1.tcx.ifindex };
    Ok(LinkInfo { id: info.id, program: info.prog_id, device })
}

/// Returns the number of a pinned program.
///
/// # Errors
/// The system's error, for example if it is not there.
pub fn read_pinned_program(path: &Path) -> io::Result<u32> {
    bpf::program_info(bpf::open_pin(path)?.as_fd()).map(|info| info.id)
}

/// Returns CLOCK_MONOTONIC in ns, the clock that programs in the kernel read.
pub fn monotonic_ns() -> u64 {
    read_clock_ns(libc::CLOCK_MONOTONIC)
}

/// Returns the seconds since the machine booted, including those of suspension. Ages are measured
/// by it, since a router without a clock of its own starts in 1970.
pub fn boot_s() -> u64 {
    read_clock_ns(libc::CLOCK_BOOTTIME) / 1_000_000_000
}

/// Returns the time of a clock, ns.
fn read_clock_ns(clock: libc::clockid_t) -> u64 {
    // SAFETY: the call fills the struct.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Returns whether this error of a tcx link means that the kernel has no tcx.
fn means_no_tcx(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Attaches a program as our filter, adding `clsact` if the device has none; with `replaces`, in
/// place of the present one. Returns whether `clsact` was added.
///
/// # Errors
/// The kernel's error; a `clsact` that was added is removed again.
fn attach_filter(program: BorrowedFd, index: u32, replaces: bool) -> io::Result<bool> {
    let made = match netlink::add_clsact(index) {
        Ok(()) => true,
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => false,
        Err(error) => return Err(error),
    };
    let done = netlink::set_filter(index, FILTER_PRIORITY, FILTER_HANDLE, program, replaces);
    if done.is_err() && made {
        let _ = netlink::remove_clsact(index); // the failure of the filter is reported
    }
    done.map(|()| made)
}

/// Pins a program or link at this path of the BPF file system.
fn pin(what: BorrowedFd, path: &Path) -> Result<()> {
    bpf::pin(what, path)
        .map_err(|error| Failure::system(format!("{} cannot be pinned", path.display()), &error))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::object::{compile_with, find_built_in};

    #[test]
    fn layout__is_of_the_maps_and_not_of_the_program() {
        let built_in = |name: &str| find_built_in(name).expect("it is built in");
        let (sfd, other_code) =
            (built_in("sfd-none-red"), compile_with("sfd-none-red", &["-DML_REPLAY"]).unwrap());
        assert_ne!(find_section(&sfd, ".BTF"), find_section(&other_code, ".BTF"), "the programs differ");
        assert_eq!(hash_layout(&sfd), hash_layout(&other_code));
        assert_ne!(hash_layout(&sfd), hash_layout(&built_in("rio_ps-none-red")), "flows have another state");
        assert_ne!(
            hash_layout(&sfd),
            hash_layout(&built_in("sfd-none-multi_red")),
            "the queue has another state"
        );
        let described =
            Types::read(find_section(&sfd, ".BTF").unwrap()).unwrap().describe_maps(&PINNED).unwrap();
        assert!(described.contains("ml_flows ") && !described.contains("ml_scratch"), "{described}");
    }
}
