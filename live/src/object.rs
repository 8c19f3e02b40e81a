//! Finds the program objects for the kernel: built in, or compiled now for a user's own policy.

use crate::error::{Failure, Result, format_reason};
use lzma_rust2::XzReader;
use mousehole_policy::{Origin, files, headers_folder, process};
use std::fs;
use std::io::{self, Read as _};
use std::process::Command;
use std::sync::Mutex;

include!("compile.rs");
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The sources of all programs, by file name; clang gets copies of them.
const SOURCES: [(&str, &str); 20] = [
    ("account.h", include_str!("../bpf/account.h")),
    ("agent.h", include_str!("../bpf/agent.h")),
    ("inputs.h", include_str!("../bpf/inputs.h")),
    ("kernel.h", include_str!("../bpf/kernel.h")),
    ("label.h", include_str!("../bpf/label.h")),
    ("layout.h", include_str!("../bpf/layout.h")),
    ("lock.h", include_str!("../bpf/lock.h")),
    ("native.c", include_str!("../bpf/native.c")),
    ("nothing.h", include_str!("../bpf/nothing.h")),
    ("parse.h", include_str!("../bpf/parse.h")),
    ("program.c", include_str!("../bpf/program.c")),
    ("queue.h", include_str!("../bpf/queue.h")),
    ("roles.h", include_str!("../bpf/roles.h")),
    ("shape.h", include_str!("../bpf/shape.h")),
    ("state.h", include_str!("../bpf/state.h")),
    ("table.h", include_str!("../bpf/table.h")),
    ("trial.h", include_str!("../bpf/trial.h")),
    ("twin.h", include_str!("../bpf/twin.h")),
    ("users.h", include_str!("../bpf/users.h")),
    ("write.h", include_str!("../bpf/write.h")),
];

/// Returns how a program includes this policy. A user's header is named by its absolute path.
///
/// # Errors
/// A sentence when the header's path cannot be resolved.
pub(crate) fn resolve_include(policy: &Policy) -> Result<Named> {
    let header = match policy.origin() {
        Origin::Shipped => format!("mousehole/{}.h", policy.c_name()),
        Origin::Header { path, .. } => fs::canonicalize(path)
            .map_err(|error| Failure::system(path.display(), &error))?
            .display()
            .to_string(),
    };
    Ok(Named::new(policy, header))
}

/// Returns the names of all built-in programs, such as `sfd-none-red`.
pub fn list_built_in() -> Vec<&'static str> {
    PROGRAMS.iter().map(|(name, ..)| *name).collect()
}

/// The programs unpacked last, oldest first. A guard starts the same ones again and again, and
/// unpacking takes as long as the rest of a start.
static UNPACKED: Mutex<Vec<(String, Vec<u8>)>> = Mutex::new(Vec::new());
/// How many programs [`UNPACKED`] holds, some hundred kB each.
const MOST_UNPACKED: usize = 4;

/// Returns the object of a built-in program, unpacked at most once while it is among the last few;
/// `None` if no program has this name.
pub fn find_built_in(name: &str) -> Option<Vec<u8>> {
    let Ok(mut unpacked) = UNPACKED.lock() else { return unpack(name) };
    if let Some((_, object)) = unpacked.iter().find(|(known, _)| known == name) {
        return Some(object.clone());
    }
    let object = unpack(name)?;
    if unpacked.len() == MOST_UNPACKED {
        unpacked.remove(0);
    }
    unpacked.push((name.into(), object.clone()));
    Some(object)
}

/// Decompresses a built-in program; `None` if there is none of this name.
fn unpack(name: &str) -> Option<Vec<u8>> {
    let (_, stream, start, bytes) = PROGRAMS.iter().find(|(known, ..)| *known == name)?;
    let mut object = Vec::new();
    let mut stream = XzReader::new(STREAMS[*stream], false);
    // The build packed the streams, so that reading them cannot fail for their content.
    io::copy(&mut stream.by_ref().take(*start as u64), &mut io::sink()).ok()?;
    stream.take(*bytes as u64).read_to_end(&mut object).ok()?;
    (object.len() == *bytes).then_some(object)
}

/// Compiles a program of shipped policies now, with additional arguments for clang. Tests and
/// measurements use it to define `ML_REPLAY` or `ML_COUNT_ONLY`. `name` is as in [`list_built_in`].
///
/// # Errors
/// A sentence when clang is missing or rejects the program.
///
/// # Panics
/// When the name does not consist of three parts, each `none`, a shipped policy or, for the third,
/// `droptail`.
pub fn compile_with(name: &str, more: &[&str]) -> Result<Vec<u8>> {
    compile(&parse_combination(name)?, more)
}

/// Returns the macro definitions for clang of a program of shipped policies. `name` is as in
/// [`list_built_in`]. Tests use it.
///
/// # Errors
/// A sentence when a policy's header cannot be resolved.
///
/// # Panics
/// As [`compile_with`].
pub fn define_by_name(name: &str) -> Result<Vec<String>> {
    parse_combination(name).map(|one| define_program(&one))
}

/// Returns the policies that a program's name lists.
///
/// # Panics
/// As [`compile_with`].
///
/// # Errors
/// A sentence when a policy's header cannot be resolved.
fn parse_combination(name: &str) -> Result<Combination> {
    let parts: Vec<&str> = name.split('-').collect();
    let policy = |part: &str| {
        let found = mousehole_policy::policies().into_iter().find(|policy| policy.c_name() == part);
        found.unwrap_or_else(|| panic!("{name}: there is no policy {part}"))
    };
    let marker = |part: &str| if part == "none" { Ok(None) } else { resolve_include(policy(part)).map(Some) };
    assert_eq!(parts.len(), 3, "{name}");
    let queue = match parts[2] {
        "none" => Queue::None,
        "droptail" => Queue::DropTail,
        part => Queue::Dropper(resolve_include(policy(part))?),
    };
    Ok(Combination { marker: marker(parts[0])?, user: marker(parts[1])?, queue })
}

/// Returns the object of a combination: the built-in one, or else one that clang compiles now.
/// Objects of users' policies are always compiled. No code of theirs runs.
///
/// # Errors
/// A sentence when clang is missing or rejects the program.
pub(crate) fn find_or_compile(combination: &Combination) -> Result<Vec<u8>> {
    let dropper = match &combination.queue {
        Queue::Dropper(named) => Some(named),
        Queue::None | Queue::DropTail => None,
    };
    let mut policies =
        [combination.marker.as_ref(), combination.user.as_ref(), dropper].into_iter().flatten();
    let is_shipped = policies.all(Named::is_shipped);
    match find_built_in(&combination.name()).filter(|_| is_shipped) {
        Some(object) => Ok(object),
        None => compile(combination, &[]),
    }
}

/// Returns the bytes of one entry of the flow table, from the object's own map definition; `None`
/// if the object cannot be parsed or has no flow table.
pub fn read_entry_bytes(bytes: &[u8]) -> Option<usize> {
    let object = aya_obj::Object::parse(bytes).ok()?;
    Some(object.maps.get("ml_flows")?.value_size() as usize)
}

/// Returns the object of a native queue: the built-in one, or else one that clang compiles now.
/// With `more` arguments for clang it is always compiled.
///
/// # Errors
/// A sentence when clang is missing, too old, or rejects the queue.
pub(crate) fn find_or_compile_native(queue: &Named, more: &[&str]) -> Result<Vec<u8>> {
    let is_built_in = queue.is_shipped() && more.is_empty();
    let built = NATIVE.iter().find(|(name, _)| is_built_in && *name == queue.name);
    if let Some((_, packed)) = built {
        let mut object = Vec::new();
        return match XzReader::new(*packed, false).read_to_end(&mut object) {
            Ok(_) => Ok(object),
            Err(error) => Err(Failure::system("the built-in queue cannot be unpacked", &error)),
        };
    }
    let command = find_native_clang().map_err(Failure::new)?;
    compile_source(&command, "native.c", define_native(queue), &queue.name, more)
}

/// Compiles a shipped native queue now, with additional arguments for clang; without any, the
/// built-in one is returned. For tests.
///
/// # Errors
/// As for a native queue of a user: clang is missing, too old, or rejects it.
pub fn compile_native(policy: &Policy, more: &[&str]) -> Result<Vec<u8>> {
    find_or_compile_native(&resolve_include(policy)?, more)
}

/// Compiles the program of a combination by clang.
///
/// # Errors
/// A sentence when clang is missing or rejects the program.
fn compile(combination: &Combination, more: &[&str]) -> Result<Vec<u8>> {
    compile_source(
        &process::name_clang(),
        "program.c",
        define_program(combination),
        &combination.name(),
        more,
    )
}

/// Compiles `source` with `command` in a scratch folder, which is removed, under limits of time and
/// memory. Returns the object. `name` appears in the error, and `more` are additional arguments.
///
/// # Errors
/// A sentence when the folder cannot be written, or the compiler does not run or rejects the
/// program; then with its messages.
fn compile_source(
    command: &str,
    source: &str,
    definitions: Vec<String>,
    name: &str,
    more: &[&str],
) -> Result<Vec<u8>> {
    let cannot = |error| Failure::system("what is compiled has no place", &error);
    let (headers, folder) =
        (headers_folder().map_err(cannot)?, files::make_scratch_folder().map_err(cannot)?);
    for (name, text) in SOURCES {
        files::write_new(&folder.path().join(name), text.as_bytes()).map_err(cannot)?;
    }
    let object = folder.path().join("program.o");
    let arguments = build_arguments(&headers, folder.path(), source, definitions, &object);
    let done = process::compile(Command::new(command).args(arguments).args(more)).map_err(|error| {
        let why = "it compiles programs that are not built in, and is of the package clang";
        Failure::new(format!("{command} does not run ({}); {why}", format_reason(&error)))
    })?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(Failure::new(format!("{name}: does not compile for the kernel; {}", said.trim())));
    }
    files::read(&object, files::OBJECT_BYTES).map_err(|error| Failure::system(object.display(), &error))
}

/// Returns the digest of all sources except the policies. An object that was compiled from other
/// sources may read its settings in another order.
pub(crate) fn digest_sources() -> String {
    let all: Vec<&str> = SOURCES.iter().map(|(_, text)| *text).collect();
    files::digest(all.concat().as_bytes())
}
