//! Compiles the kernel's programs: one for each combination of a marker, a marker of users, and a queue.
//!
//! The policies are found by their descriptions. A combination that is not built here, such as one with a user's own
//! policy, is compiled when it is asked for (src/object.rs), by the same command.

use lzma_rust2::{XzOptions, XzWriter};
use mousehole_policy::{Key, PolicyKind, policies};
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

include!("src/compile.rs");

/// Compiles all programs on all CPUs and writes the tables of them to `programs.rs`.
fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let (headers, sources) = (here.join("../policy/include"), here.join("bpf"));
    println!("cargo:rerun-if-changed={}", headers.display());
    println!("cargo:rerun-if-changed={}", sources.display());
    println!("cargo:rerun-if-env-changed=CLANG");
    let clang = mousehole_policy::process::name_clang();
    if mousehole_policy::process::ask_version(&clang).is_none() {
        panic!("{clang} does not run; it compiles the programs for the kernel, and `make deps` installs it");
    }
    let combinations = list_combinations();
    let failures: Vec<String> = thread::scope(|scope| {
        let share = combinations.len().div_ceil(thread::available_parallelism().map_or(1, usize::from));
        let workers: Vec<_> = combinations
            .chunks(share)
            .map(|part| {
                scope.spawn(|| {
                    part.iter()
                        .filter_map(|one| compile_program(&clang, &headers, &sources, &out, one).err())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    if let Some(first) = failures.first() {
        panic!("{} of {} programs do not compile; the first: {first}", failures.len(), combinations.len());
    }
    let native = build_native(&headers, &sources, &out);
    fs::write(out.join("programs.rs"), pack(&combinations, &out) + &native)
        .expect("the folder for outputs is writable");
}

/// Compiles and compresses the native queues; none if the feature is off or clang is too old for
/// them, in which case they are compiled on request. Returns the table of them as Rust source.
fn build_native(headers: &Path, sources: &Path, out: &Path) -> String {
    let mut table = String::new();
    let is_wanted = std::env::var_os("CARGO_FEATURE_NATIVE_QUEUES").is_some();
    let clang = is_wanted
        .then(find_native_clang)
        .transpose()
        .inspect_err(|reason| println!("cargo:warning={reason}"));
    let queues = policies().into_iter().filter(|policy| policy.kind() == PolicyKind::Queue);
    for policy in queues.filter(|policy| find_native_obstacle(policy).is_none()) {
        let Ok(Some(clang)) = &clang else { break };
        let named = Named::new(policy, format!("mousehole/{}.h", policy.c_name()));
        let object = out.join(format!("native-{}.o", named.name));
        let definitions = define_native(&named);
        let done = Command::new(clang)
            .args(build_arguments(headers, sources, "native.c", definitions, &object))
            .output();
        let done = done.expect("it ran a moment ago");
        assert!(done.status.success(), "{}: {}", named.name, String::from_utf8_lossy(&done.stderr));
        let packed = out.join(format!("native-{}.xz", named.name));
        let mut writer =
            XzWriter::new(Vec::new(), XzOptions::with_preset(6)).expect("the options are allowed");
        writer
            .write_all(&empty_debug_sections(fs::read(&object).expect("it was just compiled")))
            .expect("memory takes it");
        fs::write(&packed, writer.finish().expect("memory takes it"))
            .expect("the folder for outputs is writable");
        let path = packed.display().to_string();
        writeln!(table, "    ({:?}, include_bytes!({path:?})),", named.name).expect("a string takes it");
    }
    format!(
        "/// Every native queue that is built in: name, and its object, compressed by xz.\n\
         pub(crate) static NATIVE: &[(&str, &[u8])] = &[\n{table}];\n"
    )
}

/// How many objects share a stream. They are much alike, and reading one decompresses all before
/// it.
const TOGETHER: usize = 16;
/// The bytes of a stream's dictionary: it covers several objects, and a router has that much memory
/// for a moment.
const DICTIONARY: u32 = 1 << 20;

/// Compresses the objects of all programs into streams next to them. Returns the table of them as
/// Rust source.
fn pack(combinations: &[Combination], out: &Path) -> String {
    let mut programs = String::new();
    let mut streams = String::new();
    for (stream, group) in combinations.chunks(TOGETHER).enumerate() {
        let mut options = XzOptions::with_preset(6);
        options.lzma_options.dict_size = DICTIONARY;
        let mut packed = XzWriter::new(Vec::new(), options).expect("the options are allowed");
        let mut start = 0;
        for one in group {
            let object = empty_debug_sections(
                fs::read(out.join(format!("{}.o", one.name()))).expect("it was just compiled"),
            );
            packed.write_all(&object).expect("memory takes it");
            writeln!(programs, "    ({:?}, {stream}, {start}, {}),", one.name(), object.len())
                .expect("a string takes it");
            start += object.len();
        }
        let path = out.join(format!("programs-{stream}.xz"));
        fs::write(&path, packed.finish().expect("memory takes it"))
            .expect("the folder for outputs is writable");
        writeln!(streams, "    include_bytes!({:?}),", path.display().to_string())
            .expect("a string takes it");
    }
    format!(
        "/// Every program that is built in: name, stream, where it starts there, bytes.\n\
         pub(crate) static PROGRAMS: &[(&str, usize, usize, usize)] = &[\n{programs}];\n\
         /// Compressed by xz.\n\
         static STREAMS: &[&[u8]] = &[\n{streams}];\n"
    )
}

/// Empties the sections of an ELF object that only debuggers read, so that they compress to
/// nothing. The type information (BTF) stays, since the loader needs it.
fn empty_debug_sections(mut object: Vec<u8>) -> Vec<u8> {
    /// Of a 64-bit ELF file: the bytes of a section's header, and the offset of the size in it.
    const HEADER: usize = 64;
    const SIZE: usize = 32;
    let file = ElfFile64::<Endianness>::parse(&*object).expect("clang writes ELF");
    let headers = file.elf_header().e_shoff.get(file.endian()) as usize;
    let sections = file.sections().filter(|section| {
        section.name().is_ok_and(|name| name.starts_with(".debug") || name.starts_with(".rel.debug"))
    });
    let ranges: Vec<(usize, (u64, u64))> =
        sections.filter_map(|section| Some((section.index().0, section.file_range()?))).collect();
    for (index, (start, bytes)) in ranges {
        object[start as usize..(start + bytes) as usize].fill(0);
        let size = headers + index * HEADER + SIZE;
        object[size..size + 8].fill(0);
    }
    object
}

/// Compiles the program of a combination into the folder `out`.
///
/// # Errors
/// The program's name and clang's messages.
fn compile_program(
    clang: &str,
    headers: &Path,
    sources: &Path,
    out: &Path,
    one: &Combination,
) -> Result<(), String> {
    let object = out.join(format!("{}.o", one.name()));
    let done = Command::new(clang)
        .args(build_arguments(headers, sources, "program.c", define_program(one), &object))
        .output()
        .map_err(|error| error.to_string())?;
    if !done.status.success() {
        return Err(format!("{}: {}", one.name(), String::from_utf8_lossy(&done.stderr)));
    }
    Ok(())
}

/// Returns every combination of the shipped policies that can run at a device's egress.
fn list_combinations() -> Vec<Combination> {
    let (mut markers, mut users, mut queues) = (vec![None], vec![None], vec![Queue::None, Queue::DropTail]);
    for policy in policies() {
        let named = Named::new(policy, format!("mousehole/{}.h", policy.c_name()));
        match (policy.kind(), policy.key()) {
            (PolicyKind::Dropper, _) => queues.push(Queue::Dropper(named)),
            // A program at this hook does not decide which packet leaves next.
            (PolicyKind::Queue, _) => {}
            // A marker that returns a hint or needs both directions of a connection cannot run here.
            (PolicyKind::Marker, Key::Connection) => {}
            (PolicyKind::Marker, _) if policy.returns_hint() => {}
            (PolicyKind::Marker, Key::Flow) => markers.push(Some(named)),
            (PolicyKind::Marker, Key::User) => users.push(Some(named)),
        }
    }
    let mut all = Vec::new();
    for marker in &markers {
        for user in &users {
            for queue in &queues {
                // The one without policies only counts; it precedes a native queue that needs no marker.
                all.push(Combination { marker: marker.clone(), user: user.clone(), queue: queue.clone() });
            }
        }
    }
    all
}
