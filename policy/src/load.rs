//! Loads users' own policies: compiles a header to a shared object, loads it and checks its description.
//!
//! The shipped headers are embedded in this library and written to the user's cache, so that a user's header may
//! include them and needs nothing but a C compiler. What is compiled is removed as soon as it is loaded.

use crate::base::COLOURS;
use crate::counterpart::Counterpart;
use crate::ffi::{ABI, DROPPER, MARKER, QUEUE, RawPolicy, text};
use crate::files;
use crate::own;
use crate::parameter::ParameterError;
use crate::params::{LinkContext, Settings};
use crate::policy::{Origin, Policy, find, register};
use crate::process;
use crate::waiting::MOST_BANDS;
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_NOW};
use object::read::elf::{Dyn as _, ElfFile, FileHeader};
use object::{Architecture, Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use object::{RelocationFlags, SymbolFlags, elf};
use std::ffi::c_int;
use std::fmt;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Whether this program is one of musl's that load no shared object.
pub const IS_STATIC: bool = cfg!(all(target_env = "musl", target_feature = "crt-static"));

/// A header that cannot be loaded.
#[derive(Debug)]
pub struct LoadError {
    /// The header.
    pub path: PathBuf,
    /// What is wrong, one sentence without the header's name; a compiler's messages follow on lines of their own.
    pub problem: String,
}

impl fmt::Display for LoadError {
    /// Writes the header's path and the problem, which may have several lines.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for LoadError {}

/// Compiles a header for this machine, loads it, checks its description and registers its policy in place of one of the
/// same name, so that [`crate::find`] returns it for the rest of the process. Runs a C compiler and may write the
/// shipped headers to the cache, except for a header registered with the same text. Calls the header's set-up function
/// in this process.
///
/// # Errors
/// [`LoadError`] when the file cannot be read, does not compile, does not describe a policy of its own name, or has
/// defaults that do not fit each other.
pub fn load(path: &Path) -> Result<&'static Policy, LoadError> {
    let policy = load_header(path, RTLD_NOW)?;
    check_defaults(policy).map_err(|problem| LoadError { path: path.to_path_buf(), problem })?;
    register(policy);
    Ok(policy)
}

/// Does the same as [`load`] without calling any function of the header, for tools that first call them in another
/// process. So it neither checks the defaults together ([`check_defaults`]) nor registers the policy.
///
/// # Errors
/// [`LoadError`] when the file cannot be read, does not compile, or does not describe a policy of its own name.
pub fn load_description(path: &Path) -> Result<&'static Policy, LoadError> {
    load_header(path, RTLD_LAZY) // a function that does not exist has a sentence of its own there
}

/// Compiles and loads a header, and returns its policy, which is not registered. `binding` is the flag of dlopen(3) that
/// says when undefined functions are resolved. A header that is registered with the same text is returned as it is.
///
/// # Errors
/// As [`load_description`].
fn load_header(path: &Path, binding: c_int) -> Result<&'static Policy, LoadError> {
    let fault = |problem: String| LoadError { path: path.to_path_buf(), problem };
    let name = c_name(path).map_err(fault)?;
    let header =
        files::read(path, files::TEXT_BYTES).map_err(|error| fault(format!("cannot be read; {error}")))?;
    let sha256 = files::digest(&header);
    let option_name = name.replace('_', "-");
    if let Some(known) = find(&option_name) {
        match known.origin() {
            Origin::Header { sha256: old, .. } if *old == sha256 => return Ok(known),
            Origin::Shipped => {
                return Err(fault(format!(
                    "a policy named {option_name} is shipped already; give the header another name"
                )));
            }
            Origin::Header { .. } => {}
        }
    }
    let library = compile(path, &name, binding).map_err(fault)?;
    let symbol = format!("mh_policy_{name}");
    // SAFETY: the symbol, where it exists, is the description that the macros of policy.h define.
    let raw = unsafe { library.get::<*const RawPolicy>(symbol.as_bytes()) }.map(|symbol| *symbol);
    let raw = raw.map_err(|_| {
        fault(format!(
            "describes no policy {name}; it must end in MH_MARKER({name}, …), MH_DROPPER({name}, …) or MH_QUEUE({name}, …)"
        ))
    })?;
    // SAFETY: as above; the description is constant and stays loaded.
    let raw: &'static RawPolicy = unsafe { &*raw };
    check_description(raw).map_err(fault)?;
    let raw = own::wrap_functions(raw, &library, &path.to_string_lossy())
        .map_err(|error| fault(loader_problem(error)))?;
    std::mem::forget(library); // its functions may be called until the program ends
    let origin = Origin::Header { path: path.to_path_buf(), sha256 };
    let policy = Policy::new(raw, origin);
    check_parameters(policy).map_err(fault)?;
    Ok(policy)
}

/// Checks by the header's set-up function, called in this process, that the defaults fit each other, at
/// [`LinkContext::EXAMPLE`].
///
/// # Errors
/// One sentence without the header's name.
pub fn check_defaults(policy: &'static Policy) -> Result<(), String> {
    let complete = Settings::new(policy).for_link(&LinkContext::EXAMPLE);
    complete
        .map(drop)
        .map_err(|error: ParameterError| format!("has defaults that do not fit each other; {error}"))
}

/// Returns the folder to give a compiler by `-I` so that it finds `#include "mousehole/policy.h"`. Writes the shipped
/// headers there unless they are there unchanged.
///
/// # Errors
/// If the user's private folder ([`files::own_folder`]) cannot be written, or others could have written there.
pub fn headers_folder() -> io::Result<PathBuf> {
    write_headers(&files::own_folder()?)
}

/// Does the same as [`headers_folder`] in a folder that outlives this process ([`files::lasting_folder`]), for users who
/// compile themselves.
///
/// # Errors
/// As [`headers_folder`], and if there is no such folder.
pub fn lasting_headers_folder() -> io::Result<PathBuf> {
    let parent = files::lasting_folder()?;
    write_headers(&parent.ok_or_else(|| {
        io::Error::other("the headers have no place to stay; HOME or XDG_CACHE_HOME must name a folder")
    })?)
}

/// Writes the shipped headers into a folder below `parent` whose name contains their digest, unless they are there
/// unchanged. Returns this folder.
///
/// # Errors
/// As [`files::own_folder`], because it makes a scratch folder there; else the system's error.
fn write_headers(parent: &Path) -> io::Result<PathBuf> {
    let all: Vec<u8> =
        HEADERS.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()].concat()).collect();
    let folder = parent.join(format!("include-{}", &files::digest(&all)[..16]));
    if holds_headers(&folder) {
        return Ok(folder);
    }
    let work = files::make_scratch_folder()?;
    let part = work.path().join("new");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(part.join("mousehole"))?;
    for (name, text) in HEADERS {
        files::write_new(&part.join("mousehole").join(name), text.as_bytes())?;
    }
    while !holds_headers(&folder) {
        if fs::rename(&part, &folder).is_err() && !holds_headers(&folder) {
            // The folder there is damaged; it is removed with the scratch folder.
            fs::rename(&folder, work.path().join("old"))?;
        }
    }
    Ok(folder)
}

/// Returns whether a folder holds the shipped headers unchanged and nothing else, and only this user could have written
/// there.
fn holds_headers(folder: &Path) -> bool {
    let inside = folder.join("mousehole");
    let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    let is_shipped = |(name, text): &(&str, &str)| {
        files::read_own(&inside.join(name), text.len() as u64).is_ok_and(|found| found == text.as_bytes())
    };
    [folder, &inside].iter().all(|path| files::check_folder(path).is_ok())
        && (count(folder), count(&inside)) == (1, HEADERS.len())
        && HEADERS.iter().all(is_shipped)
}

/// Returns the command of a C compiler, the first that runs with `--version` of `$CC`, cc, gcc and clang; `None` if
/// none does. The call runs them.
pub fn c_compiler() -> Option<String> {
    first_compiler(env::var("CC").ok())
}

/// Returns the first command that runs of the given one, unless it is empty, cc, gcc and clang; `None` if none does.
fn first_compiler(given: Option<String>) -> Option<String> {
    let given = given.filter(|command| !command.is_empty());
    given
        .into_iter()
        .chain(["cc", "gcc", "clang"].map(String::from))
        .find(|command| process::ask_version(command).is_some())
}

/// Returns the name that the policy of a header has in schemes: its file's name, with hyphens.
///
/// # Errors
/// As [`load`] for the file's name, one sentence without the header's name.
pub fn name_policy(path: &Path) -> Result<String, String> {
    c_name(path).map(|name| name.replace('_', "-"))
}

/// Returns the C name of a header's policy: its file's name, with underscores for hyphens.
///
/// # Errors
/// One sentence when the file's name has anything but lower-case letters, digits, hyphens and underscores, or does not
/// end in `.h`.
fn c_name(path: &Path) -> Result<String, String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().replace('-', "_")).unwrap_or_default();
    let is_name = stem.starts_with(|c: char| c.is_ascii_lowercase())
        && stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name || path.extension().is_none_or(|end| end != "h") {
        return Err(
            "a policy's file is named after it, in lower-case letters, digits and hyphens: my-marker.h"
                .into(),
        );
    }
    Ok(stem)
}

/// Compiles a header with [`own::SHIM`] to a shared object in a scratch folder, loads the object and removes the folder.
/// `name` is the policy's name in C.
///
/// # Errors
/// One sentence without the header's name; a compiler's messages follow on lines of their own.
fn compile(path: &Path, name: &str, binding: c_int) -> Result<libloading::Library, String> {
    if IS_STATIC {
        return Err(
            "is a header of your own, which a static program cannot load; a build that links the C library \
                    can (`make live`), and what it keeps by `persist` runs under a static one too"
                .into(),
        );
    }
    let compiler = c_compiler()
        .ok_or("needs a C compiler, and none of cc, gcc and clang is installed; CC=… names another")?;
    let cannot = |error: io::Error| format!("cannot be compiled, for the cache cannot be written; {error}");
    let include = headers_folder().map_err(cannot)?;
    let header = fs::canonicalize(path).map_err(|error| format!("cannot be read; {error}"))?;
    let folder = files::make_scratch_folder().map_err(cannot)?;
    let source = folder.path().join(format!("{name}.c"));
    let object = folder.path().join(format!("{name}.so"));
    let text =
        format!("#define MH_DESCRIBE\n#include \"{}\"\n#define MH_OWN_NAME {name}\n", header.display());
    files::write_new(&source, (text + own::SHIM).as_bytes())
        .map_err(cannot)
        .and_then(|()| run_compiler(&compiler, &include, &object, &source))
        .and_then(|()| refuse_constructors(&object))
        .and_then(|()| {
            // SAFETY: the object was just made from the user's header, and holds nothing that runs when it is loaded.
            let library = unsafe { Library::open(Some(&object), binding) };
            library.map(libloading::Library::from).map_err(loader_problem)
        })
}

/// Returns a loader's error as one sentence without the header's name, with its cause if it has one.
fn loader_problem(error: libloading::Error) -> String {
    let why = std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
    format!("the compiled header cannot be loaded; {why}")
}

/// Sections of functions that the system calls when it loads or unloads a shared object (ELF, Mach-O).
const CALLED_BY_LOADER: [&str; 8] = [
    ".preinit_array",
    ".init_array",
    ".fini_array",
    ".ctors",
    ".dtors",
    ".init",
    "__mod_init_func",
    "__init_offsets",
];

/// Entries of an ELF object's dynamic section by which the loader calls functions, or loads other objects.
const DYNAMIC_CALLS: [(u32, &str); 7] = [
    (elf::DT_INIT, "DT_INIT"),
    (elf::DT_FINI, "DT_FINI"),
    (elf::DT_INIT_ARRAY, "DT_INIT_ARRAY"),
    (elf::DT_FINI_ARRAY, "DT_FINI_ARRAY"),
    (elf::DT_PREINIT_ARRAY, "DT_PREINIT_ARRAY"),
    (elf::DT_AUDIT, "DT_AUDIT"),
    (elf::DT_AUXILIARY, "DT_AUXILIARY"),
];

/// Functions by which a process or thread may end, or become another, without calling the handlers of own.rs.
const ENDS_AT_ONCE: [&str; 9] =
    ["_exit", "_Exit", "quick_exit", "syscall", "execve", "fork", "kill", "raise", "pthread_exit"];

/// Checks that a compiled object runs none of the header's code when it is loaded, and calls no function of
/// [`ENDS_AT_ONCE`].
///
/// # Errors
/// One sentence without the header's name.
fn refuse_constructors(path: &Path) -> Result<(), String> {
    let bytes = files::read(path, files::OBJECT_BYTES)
        .map_err(|error| format!("cannot be read once compiled; {error}"))?;
    let no_object = |error| format!("was compiled to something that is no shared object; {error}");
    let file = object::File::parse(&*bytes).map_err(no_object)?;
    let called = file.sections().filter_map(|section| section.name().ok().map(str::to_string));
    let called = called.into_iter().find(|name| CALLED_BY_LOADER.iter().any(|known| name.starts_with(known)));
    let called = called.map(|section| format!("section {section}"));
    let dynamic = match &file {
        object::File::Elf32(file) => find_dynamic_call(file),
        object::File::Elf64(file) => find_dynamic_call(file),
        _ => Ok(None),
    };
    if let Some(what) = called.or(dynamic.map_err(no_object)?.map(str::to_string)) {
        return Err(format!(
            "has a function that runs when it is loaded ({what}); a policy's functions run only when they are called, \
             so remove the constructor"
        ));
    }
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let name = symbol.name().unwrap_or_default();
        let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { continue };
        if st_info & 0xf == elf::STT_GNU_IFUNC {
            return Err(format!(
                "chooses a function when it is loaded (ifunc {name}); a policy's functions run only when they are \
                 called, so remove the attribute"
            ));
        }
        if symbol.is_undefined() && ENDS_AT_ONCE.contains(&name) {
            return Err(format!("calls {name}, which may end the program; a policy only returns an answer"));
        }
    }
    Ok(())
}

/// Returns the name of the entry of an object's dynamic section by which the loader would call functions or load other
/// objects, or "an indirect relocation"; `None` if there is neither.
fn find_dynamic_call<'data, E: FileHeader<Endian = Endianness>>(
    file: &ElfFile<'data, E>,
) -> object::read::Result<Option<&'static str>> {
    let (endian, data) = (file.endian(), file.data());
    let entries = file.elf_section_table().dynamic(endian, data)?.map_or(&[][..], |(entries, _)| entries);
    let tags = entries.iter().map(|entry| entry.d_tag(endian).into());
    let found = tags.into_iter().find_map(|tag: u64| {
        DYNAMIC_CALLS.iter().find(|(known, _)| u64::from(*known) == tag).map(|(_, name)| *name)
    });
    let indirect = file.dynamic_relocations().into_iter().flatten().any(|(_, relocation)| {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return false };
        match file.architecture() {
            Architecture::X86_64 => r_type == elf::R_X86_64_IRELATIVE,
            Architecture::I386 => r_type == elf::R_386_IRELATIVE,
            Architecture::Aarch64 => r_type == elf::R_AARCH64_IRELATIVE,
            Architecture::Arm => r_type == elf::R_ARM_IRELATIVE,
            _ => false,
        }
    });
    Ok(found.or(indirect.then_some("an indirect relocation")))
}

/// Compiles the C file `source` to the shared object `object` within the limits of [`process::compile`]; `include` is
/// the folder of the shipped headers. Warnings are not shown.
///
/// # Errors
/// The compiler's messages, or one sentence if it cannot be started or takes too long.
fn run_compiler(compiler: &str, include: &Path, object: &Path, source: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command
        .args(["-std=gnu11", "-O3", "-ffp-contract=off", "-g", "-shared", "-fPIC", "-Wall", "-Wextra"])
        .args(["-nostartfiles", "-Wno-missing-field-initializers", "-I"]) // the only constructors are the header's
        .arg(include)
        .arg("-o")
        .args([object, source])
        .env("TMPDIR", object.parent().unwrap_or(Path::new("."))); // a compiler that is ended leaves its files
    let done = process::compile(&mut command);
    let done = done.map_err(|error| format!("cannot be compiled; {compiler}: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("does not compile:\n{}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}

/// Most bytes that slow steps of a marker publish to its packets: a cache line.
const MOST_PUBLISHED_BYTES: u32 = 64;

/// Checks a loaded description except its table of parameters: the version, functions that belong together, bands,
/// colours, the member published and the sizes of the structs.
///
/// # Errors
/// One sentence without the header's name.
fn check_description(raw: &RawPolicy) -> Result<(), String> {
    if raw.abi != ABI {
        return Err(format!("was made for version {} of policy.h; this is version {ABI}", raw.abi));
    }
    let has_function = match raw.kind {
        MARKER => raw.mark.is_some(),
        DROPPER => raw.drop.is_some(),
        QUEUE => raw.enqueue.is_some() && raw.dequeue.is_some(),
        _ => false,
    };
    if !has_function {
        return Err(
            "describes no marker, dropper or queue; end it with MH_MARKER(…), MH_DROPPER(…) or MH_QUEUE(…)"
                .into(),
        );
    }
    check_bands(raw)?;
    if raw.colours as usize > COLOURS {
        return Err(format!("gives {} colours; there are {COLOURS}", raw.colours));
    }
    if raw.control.is_some() && raw.period.is_none() {
        return Err("offers control but no period, so that nobody would call it; add MH_PERIOD(…)".into());
    }
    if u64::from(raw.published_offset) + u64::from(raw.published_bytes) > u64::from(raw.state_bytes)
        || raw.published_bytes > MOST_PUBLISHED_BYTES
    {
        return Err(format!(
            "publishes {} bytes; allowed: a member of the state of at most {MOST_PUBLISHED_BYTES} bytes, by MH_PUBLISHES(…)",
            raw.published_bytes
        ));
    }
    if raw.restarts.is_some() && raw.flow_end.is_none() {
        return Err(
            "offers restarts but no flow_end, so that nothing would follow; add MH_FLOW_END(…)".into()
        );
    }
    if raw.params_bytes == 0
        || raw.params_bytes > 1 << 16
        || raw.flow_bytes > if raw.kind == QUEUE { 1 << 17 } else { 1 << 16 }
        || raw.state_bytes > 1 << 24
    {
        return Err("has structs of an unlikely size; parameters have 1 to 65,536 bytes".into());
    }
    Ok(())
}

/// Checks that a queue has bands and no functions of the other kinds. Another policy must have neither bands nor
/// functions of a queue.
///
/// # Errors
/// One sentence without the header's name.
fn check_bands(raw: &RawPolicy) -> Result<(), String> {
    let bands = raw.bands as usize;
    let of_packets = raw.mark.is_some() || raw.drop.is_some();
    let of_markers = raw.expired.is_some() || raw.control.is_some() || raw.shape.is_some();
    match raw.kind {
        QUEUE if bands == 0 || bands > MOST_BANDS => {
            Err(format!("has {bands} bands; a queue has 1 to {MOST_BANDS}, an element of a map in the kernel for each"))
        }
        QUEUE if of_packets || of_markers || raw.departed.is_some() => {
            Err("is a queue and offers functions of a marker or dropper; a queue has enqueue, dequeue and overflow".into())
        }
        MARKER | DROPPER if bands != 0 || raw.enqueue.is_some() || raw.dequeue.is_some() || raw.overflow.is_some() => {
            Err("offers functions of a queue and is none; end it with MH_QUEUE(…)".into())
        }
        _ => Ok(()),
    }
}

/// Checks the table of parameters: names, fields inside the struct, and defaults that are allowed. Checks also that the
/// text of `install` can be read and names parameters of the policy.
///
/// # Errors
/// One sentence without the header's name.
fn check_parameters(policy: &'static Policy) -> Result<(), String> {
    let size = policy.sizes().0;
    let counterpart =
        Counterpart::parse(text(policy.raw().install)).map_err(|why| format!("install {why}"))?;
    let has = |name: &&str| policy.parameters().iter().any(|one| one.name == *name);
    if let Some(name) = counterpart.iter().flat_map(Counterpart::names).find(|name| !has(name)) {
        return Err(format!("install names {name}, which is no parameter of its"));
    }
    for (raw, parameter) in policy.raw_parameters().iter().zip(policy.parameters()) {
        let name = parameter.name;
        if name.is_empty() || name.contains(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            return Err(format!(
                "has a parameter named \"{name}\"; allowed: letters, digits and underscores"
            ));
        }
        let last =
            raw.offset as usize + (raw.count.max(1) - 1) as usize * raw.stride as usize + raw.bytes as usize;
        if raw.count == 0 || last > size {
            return Err(format!(
                "parameter {name}: its field is outside the struct; locate it by MH_FIELD(…)"
            ));
        }
        let widths: &[u32] = match raw.kind {
            0 | 2 | 3 | 5 | 8 | 11 => &[8],
            9 | 10 => &[4],
            1 | 4 | 6 | 7 => &[4, 8],
            12 => &[16],
            other => return Err(format!("parameter {name}: there is no kind {other}")),
        };
        if !widths.contains(&raw.bytes) {
            let widths: Vec<String> = widths.iter().map(u32::to_string).collect();
            return Err(format!(
                "parameter {name}: its field has {} bytes; its kind takes {}",
                raw.bytes,
                widths.join(" or ")
            ));
        }
        let alignment = if raw.kind == 2 { 4 } else { raw.bytes.min(8) };
        if !raw.offset.is_multiple_of(alignment) || !raw.stride.is_multiple_of(alignment) {
            return Err(format!("parameter {name}: its field is not aligned; do not pack the struct"));
        }
        if matches!(raw.kind, 9 | 10) && raw.mask == 0 {
            return Err(format!("parameter {name}: a flag or choice needs a mask of its bits"));
        }
        parameter
            .parse(parameter.default)
            .map_err(|error| format!("has a default that is not allowed; {error}"))?;
        if policy.parameters().iter().filter(|other| other.name == name).count() > 1 {
            return Err(format!("has two parameters named {name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::ffi::RawParameter;

    /// Checks LFP's description after a change.
    fn check_changed(change: impl FnOnce(&mut RawPolicy)) -> Result<(), String> {
        let mut raw = *find("lfp").expect("shipped").raw();
        change(&mut raw);
        check_description(&raw)
    }

    #[test]
    fn check_description__bounds_the_structs() {
        for bytes in [1, 1 << 16] {
            assert_eq!(check_changed(|raw| raw.params_bytes = bytes), Ok(()));
        }
        assert_eq!(check_changed(|raw| raw.flow_bytes = 1 << 16), Ok(()));
        assert_eq!(check_changed(|raw| raw.state_bytes = 1 << 24), Ok(()));
        let size = "has structs of an unlikely size; parameters have 1 to 65,536 bytes".to_owned();
        for bytes in [0, (1 << 16) + 1] {
            assert_eq!(check_changed(|raw| raw.params_bytes = bytes), Err(size.clone()), "{bytes}");
        }
        assert_eq!(check_changed(|raw| raw.flow_bytes = (1 << 16) + 1), Err(size.clone()));
        assert_eq!(check_changed(|raw| raw.state_bytes = (1 << 24) + 1), Err(size));
    }

    #[test]
    fn check_description__bounds_what_is_published() {
        let published = |offset, bytes| {
            check_changed(|raw| {
                (raw.published_offset, raw.published_bytes, raw.state_bytes) = (offset, bytes, 100);
            })
        };
        for (offset, bytes) in [(0, 0), (36, 64), (92, 8), (100, 0)] {
            assert_eq!(published(offset, bytes), Ok(()), "{offset} {bytes}");
        }
        for (offset, bytes) in [(0, 65), (37, 64), (93, 8), (101, 0), (u32::MAX, 8)] {
            let found = published(offset, bytes).expect_err("must be refused");
            assert!(found.starts_with(&format!("publishes {bytes} bytes; allowed: ")), "{found}");
        }
    }

    #[test]
    fn check_description__needs_the_callers_of_restarts_and_control() {
        assert_eq!(check_changed(|raw| raw.restarts = None), Ok(()));
        assert!(check_changed(|raw| raw.flow_end = None).is_err_and(|found| found.contains("no flow_end")));
        let rio_ps = find("rio-ps").expect("shipped").raw();
        assert!(rio_ps.control.is_some());
        let mut adrift = *rio_ps;
        adrift.period = None;
        assert!(check_description(&adrift).is_err_and(|found| found.contains("no period")));
        adrift.control = None;
        assert_eq!(check_description(&adrift), Ok(()));
    }

    /// Checks a table with LFP's `tau` alone, in this field of a struct of 40 bytes.
    fn check_field(offset: u32, bytes: u32, count: u32, stride: u32) -> Result<(), String> {
        let lfp = find("lfp").expect("shipped");
        let index = lfp.parameters().iter().position(|parameter| parameter.name == "tau").expect("LFP's");
        let parameter = RawParameter { offset, bytes, count, stride, ..lfp.raw_parameters()[index] };
        let parameters: &'static RawParameter = Box::leak(Box::new(parameter));
        let raw = RawPolicy { parameters, parameter_count: 1, params_bytes: 40, ..*lfp.raw() };
        check_parameters(Policy::new(Box::leak(Box::new(raw)), Origin::Shipped))
    }

    #[test]
    fn check_parameters__keeps_fields_inside_the_struct() {
        for (offset, bytes, count, stride) in [(36, 4, 1, 0), (32, 8, 1, 0), (0, 4, 10, 4), (4, 4, 3, 16)] {
            assert_eq!(
                check_field(offset, bytes, count, stride),
                Ok(()),
                "{offset} {bytes} {count} {stride}"
            );
        }
        for (offset, bytes, count, stride) in [(40, 4, 1, 0), (4, 4, 10, 4), (8, 4, 3, 16), (0, 4, 0, 0)] {
            let found = check_field(offset, bytes, count, stride).expect_err("must be refused");
            assert!(found.contains("outside the struct"), "{offset} {bytes} {count} {stride}: {found}");
        }
    }

    #[test]
    fn check_parameters__needs_aligned_fields() {
        for (offset, bytes, stride) in [(2, 4, 4), (0, 4, 6), (4, 8, 8), (0, 8, 12)] {
            let found = check_field(offset, bytes, 2, stride).expect_err("must be refused");
            assert!(found.contains("is not aligned"), "{offset} {bytes} {stride}: {found}");
        }
    }

    #[test]
    fn first_compiler__is_the_given_one_if_it_runs() {
        let usual = first_compiler(None).expect("the tests need a C compiler");
        let path = env::var_os("PATH").expect("a PATH");
        let whole = env::split_paths(&path).map(|folder| folder.join(&usual)).find(|file| file.is_file());
        let whole = whole.map_or(usual.clone(), |file| file.to_string_lossy().into_owned());
        assert_eq!(first_compiler(Some(whole.clone())), Some(whole));
        for other in ["", "no-such-compiler"] {
            assert_eq!(first_compiler(Some(other.into())), Some(usual.clone()), "{other}");
        }
    }
}
