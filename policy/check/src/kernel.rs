//! Loads a policy's eBPF program into the kernel and runs it by BPF_PROG_TEST_RUN; it is never attached to anything.

use crate::build::{Workshop, clang, compiler_messages};
use crate::record::{Case, RECORDS, bytes_of, state_words};
use aya::maps::{Map, MapData};
use aya::programs::{ProgramError, SchedClassifier, TestRun as _, TestRunOptions};
use aya::{Ebpf, EbpfLoader};
use mousehole_policy::Policy;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::Duration;
use std::{fs, io};

/// The reason why a program was not loaded.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// This machine cannot, or this process may not.
    NotHere(String),
    /// The policy is at fault.
    Fault(String),
}

/// A policy's program, loaded, with the object that it comes from.
pub(crate) struct Kernel {
    policy: &'static Policy,
    /// The eBPF object.
    pub object: Vec<u8>,
    /// Instructions of the program, and how many the verifier processed; `None` before Linux 5.16.
    pub instructions: u64,
    pub verified: Option<u32>,
    input: MapData,
    output: MapData,
    loaded: Ebpf,
}

/// The result of a case in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub outcomes: Vec<u64>,
    pub after: Vec<u64>,
    pub took: Duration,
}

/// Returns why this process cannot compile and load eBPF programs, without a full stop; `None` if it can. Runs clang
/// and makes a map to find out.
pub(crate) fn find_obstacle() -> Option<String> {
    if clang().is_none() {
        return Some("clang is not installed; CLANG=… names another command".into());
    }
    try_map().err().map(|error| {
        format!("eBPF programs cannot be loaded; {error}; it takes root, or CAP_BPF and CAP_NET_ADMIN")
    })
}

impl Kernel {
    /// Compiles a policy for eBPF in the workshop and loads its program, which stays loaded until this is dropped.
    ///
    /// # Errors
    /// [`Refusal::NotHere`] if the machine cannot do it, [`Refusal::Fault`] if the policy is at fault.
    pub fn load(policy: &'static Policy, workshop: &Workshop) -> Result<Kernel, Refusal> {
        if let Some(why) = find_obstacle() {
            return Err(Refusal::NotHere(why));
        }
        let object = compile(workshop)?;
        let fault =
            |error: &dyn std::fmt::Display| Refusal::Fault(format!("cannot be loaded as eBPF; {error}"));
        let mut loaded =
            EbpfLoader::new().load(&object).map_err(|error| fault(&error_with_sources(&error)))?;
        let (input, output) =
            (take_map(&mut loaded, "mh_check_input")?, take_map(&mut loaded, "mh_check_output")?);
        let program = loaded.program_mut("mh_check").ok_or_else(|| fault(&"the object has no program"))?;
        let program: &mut SchedClassifier =
            program.try_into().map_err(|error: ProgramError| fault(&error))?;
        program.load().map_err(|error| Refusal::Fault(describe_rejection(&error)))?;
        let verified = program.info().map_err(|error| fault(&error))?.verified_instruction_count();
        let instructions = count_instructions(&object);
        Ok(Kernel { policy, instructions, verified, object, input, output, loaded })
    }

    /// Plays the first `records` records of a case, which has [`RECORDS`], on its states, with these bytes of the
    /// parameters' struct, which may differ from the case's. Overwrites the maps; the case stays as it is.
    ///
    /// # Errors
    /// The kernel's error; or one if the program has not played all records.
    pub fn run(&self, case: &Case, params: &[u8], records: usize) -> io::Result<Run> {
        let mut input = params.to_vec();
        input.resize(input.len().next_multiple_of(8), 0);
        input.extend_from_slice(bytes_of(&case.records));
        write_element(&self.input, &input)?;
        // A policy without a state of a kind has one word in its place.
        let (flow_words, words) = (self.policy.flow_words(), state_words(self.policy));
        let flows = case.before.len() - self.policy.state_words();
        let mut output = vec![0u64];
        output.extend_from_slice(&case.before[..flows]);
        output.resize(1 + crate::record::FLOWS * flow_words.max(1), 0);
        output.extend_from_slice(&case.before[flows..]);
        let outcomes_at = 1 + crate::record::FLOWS * flow_words.max(1) + self.policy.state_words().max(1);
        output.resize(outcomes_at + RECORDS, 0);
        write_element(&self.output, as_bytes(&output))?;
        let took = test_run(self.program()?, records)?;
        read_element(&self.output, &mut output)?;
        if output[0] != records as u64 {
            return Err(io::Error::other(format!("{} of {records} records were played", output[0])));
        }
        let shared_at = 1 + crate::record::FLOWS * flow_words.max(1);
        let mut after = output[1..1 + flows].to_vec();
        after.extend_from_slice(&output[shared_at..shared_at + words - flows]);
        Ok(Run { outcomes: output[outcomes_at..outcomes_at + records].to_vec(), after, took })
    }

    /// Returns the loaded program.
    ///
    /// # Errors
    /// If the object has none.
    fn program(&self) -> io::Result<&SchedClassifier> {
        let program = self.loaded.program("mh_check").map(<&SchedClassifier>::try_from);
        program.and_then(Result::ok).ok_or_else(|| io::Error::other("the program is gone"))
    }
}

/// Compiles the check's program to an eBPF object in the workshop's folder and returns its bytes.
///
/// # Errors
/// [`Refusal::Fault`] with clang's messages when the header does not compile. [`Refusal::NotHere`] when clang cannot be
/// run or the object cannot be read.
fn compile(workshop: &Workshop) -> Result<Vec<u8>, Refusal> {
    let compiler = clang().ok_or_else(|| Refusal::NotHere("clang is not installed".into()))?;
    let path = workshop.folder.join("calls.bpf.o");
    let flags = ["-target", "bpf", "-O2", "-g", "-mcpu=v3", "-fno-strict-aliasing", "-Wall", "-c"];
    let done = workshop.compile(&compiler, &flags, "calls.c", &path);
    let done = done.map_err(|error| Refusal::NotHere(format!("{compiler} cannot be run; {error}")))?;
    if !done.status.success() {
        return Err(Refusal::Fault(format!(
            "does not compile for eBPF:\n{}",
            compiler_messages(&done, workshop)
        )));
    }
    fs::read(&path).map_err(|error| Refusal::NotHere(format!("{} cannot be read; {error}", path.display())))
}

/// Takes an array map out of the loaded object.
///
/// # Errors
/// [`Refusal::Fault`] when the object has no array of this name.
fn take_map(loaded: &mut Ebpf, name: &str) -> Result<MapData, Refusal> {
    match loaded.take_map(name) {
        Some(Map::Array(data)) => Ok(data),
        _ => Err(Refusal::Fault(format!("cannot be loaded as eBPF; the object has no array {name}"))),
    }
}

/// Returns how many instructions are in the program's section of an object; 0 without such a section.
fn count_instructions(elf: &[u8]) -> u64 {
    use object::{Object as _, ObjectSection as _};
    let file = object::File::parse(elf).ok();
    file.and_then(|file| file.section_by_name("classifier").map(|section| section.size() / 8)).unwrap_or(0)
}

/// Returns an error's text, followed by those of its sources that it does not contain yet.
fn error_with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = source.source();
    }
    text
}

/// Returns one sentence and, if the verifier refused the program, the last six lines of its log.
fn describe_rejection(error: &ProgramError) -> String {
    let ProgramError::LoadError { io_error, verifier_log } = error else {
        return format!("cannot be loaded as eBPF; {}", error_with_sources(error));
    };
    let log = verifier_log.to_string();
    let lines: Vec<&str> =
        log.lines().filter(|line| !line.is_empty() && !line.starts_with("processed ")).collect();
    let last = lines[lines.len().saturating_sub(6)..].join("\n");
    format!("is refused by the kernel's verifier ({io_error}):\n{last}")
}

/// Returns words as bytes in this machine's order.
fn as_bytes(words: &[u64]) -> &[u8] {
    // SAFETY: any bytes make up words.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

// Commands of bpf(2), linux/bpf.h.
const MAP_CREATE: i64 = 0;
const MAP_LOOKUP: i64 = 1;
const MAP_UPDATE: i64 = 2;

/// The attributes of bpf(2) for an element of a map.
#[repr(C)]
struct Element {
    map: u32,
    reserved: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The attributes of bpf(2) for a new map.
#[repr(C)]
struct NewMap {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
}

/// Calls bpf(2). Returns its result, which is a file descriptor for a new map.
///
/// # Errors
/// The system's.
fn bpf<T>(command: i64, attributes: &mut T) -> io::Result<i64> {
    // SAFETY: the attributes are those of the command; pointers in them are valid for the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes as *mut T, size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Creates a small map and closes it, to find out whether this process may use bpf(2).
///
/// # Errors
/// The system's error.
fn try_map() -> io::Result<()> {
    let descriptor = bpf(MAP_CREATE, &mut NewMap { kind: 2, key_bytes: 4, value_bytes: 4, entries: 1 })?;
    // SAFETY: the descriptor was just made and is used nowhere else.
    unsafe { libc::close(descriptor as i32) };
    Ok(())
}

/// Writes the one element of an array; `value` is as long as the element.
///
/// # Errors
/// The system's error.
fn write_element(map: &MapData, value: &[u8]) -> io::Result<()> {
    access_element(MAP_UPDATE, map, value.as_ptr() as u64)
}

/// Reads the one element of an array; `value` is as long as the element.
///
/// # Errors
/// The system's error.
fn read_element(map: &MapData, value: &mut [u64]) -> io::Result<()> {
    access_element(MAP_LOOKUP, map, value.as_mut_ptr() as u64)
}

/// Reads or writes the one element of an array, by the command; `value` is the address of as many bytes as it has.
///
/// # Errors
/// The system's error.
fn access_element(command: i64, map: &MapData, value: u64) -> io::Result<()> {
    let key = 0u32;
    let map = map.fd().as_fd().as_raw_fd() as u32;
    let mut attributes = Element { map, reserved: 0, key: &raw const key as u64, value, flags: 0 };
    bpf(command, &mut attributes).map(drop)
}

/// Runs a program so many times. Returns the total time: the kernel's mean time of a run, in whole ns, times the runs.
///
/// # Errors
/// The kernel's error; or one if the last run did not return 0.
fn test_run(program: &SchedClassifier, times: usize) -> io::Result<Duration> {
    // The program reads no packet, but the kernel requires one as long as an Ethernet header.
    let options = TestRunOptions { data_in: Some(&[0; 64]), repeat: times as u32, ..TestRunOptions::new() };
    let done = program.test_run(options).map_err(io::Error::other)?;
    if done.return_value != 0 {
        return Err(io::Error::other(format!("the program returned {}", done.return_value)));
    }
    Ok(done.duration * times as u32)
}
