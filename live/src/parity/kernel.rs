//! The programs in the kernel.

use super::case::{Case, Entry, RECORDS, Record};
use libbpf_rs::libbpf_sys::{bpf_map_create_opts, size_t};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{Map, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, Program, ProgramInput};
use std::fmt;
use std::os::fd::AsFd;
use std::time::Duration;

/// Bytes of parameters and of state in the maps; `PARITY_PARAMS` and `PARITY_STATE` of `bpf/parity.h`.
const PARAMS: usize = 8 * 40;
const STATE: usize = 8 * 1536;
const INPUT: usize = PARAMS + 8 + RECORDS * size_of::<Record>();
const OUTPUT: usize = STATE + 4 * RECORDS;

/// Why nothing can be run.
#[derive(Debug)]
pub enum Refusal {
    /// This process may not, or this kernel cannot, load eBPF programs at all.
    NotHere(String),
    /// It can, but does not take ours: a fault.
    Rejected(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::NotHere(why) => write!(f, "eBPF programs cannot be loaded here: {why}"),
            Refusal::Rejected(why) => write!(f, "the kernel rejects the programs: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What the kernel made of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The outcome of each record.
    pub outcomes: Vec<u32>,
    /// The state after the last.
    pub after: Vec<u8>,
    /// Time in the program.
    pub took: Duration,
}

/// The programs, loaded.
pub struct Kernel {
    object: Object,
}

impl Kernel {
    /// Loads the programs; attaches nothing.
    ///
    /// # Errors
    /// [`Refusal`], which tells a machine that cannot from a program that must not.
    pub fn load(object: &[u8]) -> Result<Kernel, Refusal> {
        may_use_bpf()?;
        let opened = ObjectBuilder::default().open_memory(object);
        let object =
            opened.and_then(|open| open.load()).map_err(|error| Refusal::Rejected(error.to_string()))?;
        Ok(Kernel { object })
    }

    /// Plays a case with these parameters, which need not be the case's own.
    ///
    /// # Errors
    /// libbpf's, and one when the program did not get through all records.
    pub fn run(&self, entry: &Entry, case: &Case, params: &[u8]) -> libbpf_rs::Result<Run> {
        self.map("input").update(&[0; 4], &input(case, params), MapFlags::ANY)?;
        let mut output = case.before.clone();
        output.resize(OUTPUT, 0);
        self.map("output").update(&[0; 4], &output, MapFlags::ANY)?;
        let program = self.object.progs_mut().find(|program| program.name() == entry.name);
        let program = program.unwrap_or_else(|| panic!("the object has no program {}", entry.name));
        // The packet is of no account, but there must be one as long as an Ethernet header.
        let done = program.test_run(ProgramInput { data_in: Some(&[0; 64]), ..ProgramInput::default() })?;
        if done.return_value as usize != RECORDS {
            let got = done.return_value;
            return Err(std::io::Error::other(format!("{}: {got} of {RECORDS} records", entry.name)).into());
        }
        self.map("output").lookup_into(&[0; 4], &mut output, MapFlags::ANY)?;
        let words = output[STATE..].chunks_exact(4);
        let outcomes = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
        output.truncate(entry.sizes.1);
        Ok(Run { outcomes, after: output, took: done.duration })
    }

    /// Instructions of a program, and how many the verifier looked at before it took it.
    ///
    /// # Panics
    /// When there is no such program.
    pub fn verified(&self, name: &str) -> (usize, u32) {
        let program = self.object.progs().find(|program| program.name() == name).expect("a program");
        let id = Program::id_from_fd(program.as_fd()).expect("a loaded program has an id");
        let info = ProgInfoIter::default().find(|info| info.id == id).expect("a loaded program is listed");
        (program.insn_cnt(), info.verified_insns)
    }

    fn map(&self, name: &str) -> Map<'_> {
        self.object
            .maps()
            .find(|map| map.name() == name)
            .unwrap_or_else(|| panic!("the object has no map {name}"))
    }
}

/// `struct parity_input`.
fn input(case: &Case, params: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(INPUT);
    all.extend_from_slice(params);
    all.resize(PARAMS, 0);
    all.extend_from_slice(&(RECORDS as u64).to_le_bytes());
    all.extend_from_slice(case.record_bytes());
    all
}

/// Creates and drops a small map: what fails here is the machine's or the user's business, not the programs'.
fn may_use_bpf() -> Result<(), Refusal> {
    let options =
        bpf_map_create_opts { sz: size_of::<bpf_map_create_opts>() as size_t, ..Default::default() };
    match MapHandle::create(MapType::Array, Some("mh_probe"), 4, 4, 1, &options) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::NotHere(format!("{error}; it takes root, or CAP_BPF and CAP_NET_ADMIN"))),
    }
}
