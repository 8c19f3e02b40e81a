//! Loads a queue header as a queue discipline of the kernel by struct_ops (Linux 6.16 and later,
//! built with NET_SCH_BPF): bpf/native.c. Only this module knows how such programs are loaded, and
//! only it needs libbpf; a build without the feature `native-queues` loads none.
//!
//! An object serves one queue of one device, like every program of ours: its maps are pinned in the
//! device's folder, and the pinned link keeps the kind registered under which the kernel knows it.
//! The kind ends with the link and the queue discipline.

use crate::deployment::Fifo;
use crate::error::{Failure, Result, format_reason};
use crate::home::Place;
use crate::layout::COLOURS;
use crate::native_queue::Native;
use serde::Serialize;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The name in the kernel's type information that shows that it accepts queue disciplines by
/// struct_ops.
const KERNEL_TYPE: &[u8] = b"\0bpf_struct_ops_Qdisc_ops\0";
/// Whether this build can load native queues.
pub const IS_BUILT_IN: bool = cfg!(feature = "native-queues");

/// The counters of a native queue: `struct ml_native_counters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counted {
    /// Packets on the wire that left, by colour.
    pub sent: [u64; COLOURS],
    /// Their IP bytes.
    pub sent_bytes: u64,
    /// Packets on the wire that the policy dropped by chance, or at the head.
    pub dropped_early: u64,
    /// Packets on the wire that were dropped because the buffer was full.
    pub dropped_forced: u64,
    /// Arrivals that were dropped because the kernel had no memory for them, or lost a twin.
    pub without_memory: u64,
    /// How often the policy named a band without a packet; the first packet left instead.
    pub faults: u64,
    /// How often the device asked for a packet more than 5 ms late.
    pub late: u64,
    /// Packets on the wire that left with CE, because the policy marked them.
    pub marked: u64,
}

/// Loads a device's queue and registers its kind with the kernel. Packets reach it once a queue
/// discipline of that kind is installed at the device.
///
/// # Errors
/// A sentence when the kernel rejects it. Maps that were pinned by then stay; the caller removes
/// them with the place.
pub(crate) fn load(
    queue: &Native,
    object: &[u8],
    place: &Place,
    fifo: &Fifo,
    priority: [u32; COLOURS],
    link_header_bytes: u32,
) -> Result<()> {
    let settings = queue.settings(fifo.rate, fifo.overhead, priority, link_header_bytes);
    loader::load(&queue.name, object, place, &settings)
}

#[cfg(not(feature = "native-queues"))]
mod loader {
    use super::*;

    /// Refuses: this build cannot load native queues.
    pub(super) fn load(_: &str, _: &[u8], _: &Place, _: &[u8]) -> Result<()> {
        refuse_missing_support()
    }
}

/// Loading by libbpf, since aya knows no struct_ops.
#[cfg(feature = "native-queues")]
mod loader {
    use super::*;
    use libbpf_rs::{MapCore as _, MapFlags, MapType, ObjectBuilder, PrintLevel, set_print};
    use std::sync::Mutex;

    /// Bytes that the kernel stores of a queue discipline's kind, with a zero byte at the end.
    const KIND_BYTES: usize = 16;
    /// The maps that outlive the command.
    const PINNED: [&str; 3] = ["ml_native_settings", "ml_native_control", "ml_native_counters"];
    /// Messages of libbpf and of the kernel's verifier.
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Loads the object with the map `ml_queues` of the program at the egress, which must be
    /// pinned. Pins its own maps and attaches the queue discipline's operations by a pinned link.
    /// `settings` fill both slots. Replaces libbpf's print callback for the process.
    ///
    /// # Errors
    /// A sentence when the settings have the wrong size or a step is rejected; earlier pins stay.
    pub(super) fn load(name: &str, object: &[u8], place: &Place, settings: &[u8]) -> Result<()> {
        let refused = |error: &dyn std::fmt::Display| {
            let said = last_message();
            Failure::new(format!("the queue {name} cannot be loaded; {error:#}{said}"))
        };
        set_print(Some((PrintLevel::Warn, record_message)));
        let mut open = ObjectBuilder::default().open_memory(object).map_err(|error| refused(&error))?;
        for mut map in open.maps_mut() {
            if map.name() == "ml_queues" {
                // The program at the egress has it, too.
                map.reuse_pinned_map(place.map("ml_queues")).map_err(|error| refused(&error))?;
            }
            if map.map_type() == MapType::StructOps
                && let Some(start) = map.initial_value_mut()
            {
                // The kind is the first member.
                start[..KIND_BYTES].fill(0);
                let kind = format_kind(place);
                start[..kind.len()].copy_from_slice(kind.as_bytes());
            }
        }
        let mut object = open.load().map_err(|error| refused(&error))?;
        for mut map in object.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            if name == "ml_native_settings" {
                refuse_other_size(settings, map.value_size() as usize)?;
                for slot in 0..2u32 {
                    map.update(&slot.to_ne_bytes(), settings, MapFlags::ANY)
                        .map_err(|error| refused(&error))?;
                }
            }
            if PINNED.contains(&name.as_str()) {
                map.pin(place.map(&name)).map_err(|error| refused(&error))?;
            }
        }
        let mut ops =
            object.maps_mut().find(|map| map.map_type() == MapType::StructOps).expect("the object has one");
        let mut link = ops.attach_struct_ops().map_err(|error| refused(&error))?;
        link.pin(place.queue()).map_err(|error| refused(&error))
    }

    /// Appends a message of libbpf to [`SAID`]. It is libbpf's print callback.
    fn record_message(_level: PrintLevel, text: String) {
        SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
    }

    /// Returns the last line since the process began that gives a reason, as " (…)" for the end of
    /// a sentence; empty without one.
    fn last_message() -> String {
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
}

/// Replaces the settings of a running queue between two packets; waiting packets stay.
///
/// # Errors
/// A sentence when a map cannot be read or written, or the settings have another size than the
/// program's; the former settings stay in force.
pub(crate) fn change_settings(
    queue: &Native,
    place: &Place,
    fifo: &Fifo,
    priority: [u32; COLOURS],
    link_header_bytes: u32,
) -> Result<()> {
    let (all, control) = (place.open_map("ml_native_settings")?, place.open_map("ml_native_control")?);
    let cannot = |what: &str| Failure::new(format!("the map {what} cannot be used"));
    let first = 0u32.to_ne_bytes();
    let mut active = control.lookup(&first).ok().flatten().ok_or_else(|| cannot("ml_native_control"))?;
    let other = u32::from(active[0] & 1 == 0);
    let settings = queue.settings(fifo.rate, fifo.overhead, priority, link_header_bytes);
    refuse_other_size(&settings, all.value_size())?;
    all.update(&other.to_ne_bytes(), &settings).map_err(|_| cannot("ml_native_settings"))?;
    active[..4].copy_from_slice(&other.to_ne_bytes());
    control.update(&first, &active).map_err(|_| cannot("ml_native_control"))
}

/// Rejects settings whose length is not that of the running program's.
fn refuse_other_size(settings: &[u8], bytes: usize) -> Result<()> {
    match settings.len() == bytes {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "the queue's settings have {} bytes and its program reads {bytes}; `down` and the same command start it afresh",
            settings.len()
        ))),
    }
}

/// Returns the kind of a place's queue discipline, of letters, digits and `_` as the kernel
/// requires. Kinds are shared by the whole machine, and devices in two namespaces may have the same
/// index, so the kind is a hash of the place's name.
pub(crate) fn format_kind(place: &Place) -> String {
    let mut hasher = DefaultHasher::new();
    place.name().hash(&mut hasher);
    format!("mh_{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// Returns the counters of a place's native queue; `None` if none runs there or they cannot be
/// read.
pub fn read_counters(place: &Place) -> Option<Counted> {
    let map =
        place.map("ml_native_counters").exists().then(|| place.open_map("ml_native_counters").ok())??;
    let value = map.lookup(&0u32.to_ne_bytes()).ok().flatten()?;
    let words: Vec<u64> =
        value.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect();
    let [green, yellow, red, sent_bytes, dropped_early, dropped_forced, without_memory, faults, late, marked] =
        words.try_into().ok()?;
    Some(Counted {
        sent: [green, yellow, red],
        sent_bytes,
        dropped_early,
        dropped_forced,
        without_memory,
        faults,
        late,
        marked,
    })
}

/// Returns whether this kernel accepts queue disciplines by struct_ops.
///
/// # Errors
/// The system's error when the kernel's type information cannot be read.
pub fn is_supported_by_kernel() -> std::io::Result<bool> {
    let types = fs::read("/sys/kernel/btf/vmlinux")?;
    Ok(types.windows(KERNEL_TYPE.len()).any(|part| part == KERNEL_TYPE))
}

/// Fails if this build cannot load native queues or the kernel accepts no queue disciplines by
/// struct_ops.
///
/// # Errors
/// A sentence with the alternative.
pub(crate) fn refuse_missing_support() -> Result<()> {
    if !IS_BUILT_IN {
        return Err(Failure::new(
            "this build of mousehole-live has no native queues; without --native the queue is put together from HTB",
        ));
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let why = match is_supported_by_kernel() {
        Ok(true) => return Ok(()),
        Ok(false) => "has none".to_string(),
        Err(error) => format!("does not say what it has ({})", format_reason(&error)),
    };
    Err(Failure::new(format!(
        "--native needs a kernel of 6.16 or later with CONFIG_NET_SCH_BPF, and {} {why}; without --native the queue is put \
         together from HTB",
        release.trim()
    )))
}

#[cfg(all(test, feature = "native-queues"))]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::object::{NATIVE, find_native_obstacle, find_or_compile_native, resolve_include};
    use libbpf_rs::ObjectBuilder;
    use mousehole_policy::{LinkContext, Params, PolicyKind, policies};
    use mousehole_scheme::units::Rate;
    use std::collections::BTreeMap;

    #[test]
    fn built_in__every_queue_that_the_kernel_can_run() {
        let built: Vec<&str> = NATIVE.iter().map(|(name, _)| *name).collect();
        let queues = policies().into_iter().filter(|policy| policy.kind() == PolicyKind::Queue);
        let wanted: Vec<&str> = queues
            .filter(|policy| find_native_obstacle(policy).is_none())
            .map(|policy| policy.c_name())
            .collect();
        assert_eq!(
            built, wanted,
            "none is built in where clang is older than 16, which `make deps` installs"
        );
        assert!(built.len() >= 2);
    }

    #[test]
    fn settings__are_as_long_as_the_program_reads() {
        for (name, _) in NATIVE {
            let policy = policies().into_iter().find(|policy| policy.c_name() == *name).unwrap();
            let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
            let native = Native::new(&params, &BTreeMap::new()).unwrap();
            let object = find_or_compile_native(&resolve_include(policy).unwrap(), &[]).unwrap();
            let mut open = ObjectBuilder::default().open_memory(&object).unwrap();
            let map = open.maps_mut().find(|map| map.name() == "ml_native_settings").unwrap();
            let settings = native.settings(Rate(1_000_000), 14, [1, 2, 3], 14);
            assert_eq!(settings.len(), map.value_size() as usize, "{name}");
            let word = |at: usize| u32::from_ne_bytes(settings[at..at + 4].try_into().unwrap());
            assert_eq!(
                [word(0), word(4), word(8), word(12), word(16), word(20)],
                [1, 2, 3, 14, 14, u32::from(native.marks)]
            );
            assert_eq!(u64::from_ne_bytes(settings[24..32].try_into().unwrap()), 1_000_000);
            assert_eq!(settings[32..32 + params.bytes().len()], params.bytes());
        }
    }
}
