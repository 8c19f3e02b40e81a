//! Plays records to a user's policy in guarded memory: each struct lies next to a page that cannot be accessed, and the
//! parameters are read-only. It is for a process that may crash.

use crate::generate::Generator;
use crate::record::{FLOWS, Record};
use mousehole_policy::{
    Arguments, Fault, Function, Memory, Origin, Params, Policy, View, forget_region, name_region, take_fault,
};
use std::ffi::c_void;
use std::ops::Range;

/// Cases played with each parameters' struct, and series of 256 records in each.
const CASES: u64 = 8;
const SERIES: u64 = 4;

/// Sizes of packets, from the least to the most.
const SIZES: (u32, u32) = (20, 65535);

/// How many flows there are; in every second case only as many as a series distinguishes.
const MANY_FLOWS: usize = 32;

/// Plays some thousands of random records to the policy of these parameters. A call of a user's policy that crashes,
/// does not return or exits ends this process, which the crate `mousehole_policy` reports on standard error; so the
/// caller starts a process for it. A fault that this thread had recorded before is discarded.
///
/// # Errors
/// The first fault that leaves the process alive.
pub fn try_policy(params: &Params, seed: u64) -> Result<(), Fault> {
    let _ = take_fault();
    for case in 0..CASES {
        play_case(params, case, seed)?;
    }
    Ok(())
}

/// Plays the records of a case. In even cases each struct ends before a guard page, in odd ones it begins after one.
///
/// # Errors
/// The first fault of the policy; or a fault that says that the memory cannot be mapped.
fn play_case(params: &Params, case: u64, seed: u64) -> Result<(), Fault> {
    let policy = params.policy();
    let mut world = World::new(params, if case.is_multiple_of(2) { Guard::AtEnd } else { Guard::AtStart })?;
    let mut flows = vec![vec![0; policy.sizes().1]; MANY_FLOWS];
    let series = |number| Generator::draw_blind(policy, params, seed + SERIES * case + number);
    let mut records: Vec<Record> = (0..SERIES).flat_map(series).collect();
    if policy.offers(Function::Control) {
        records.insert(0, Record::new(Function::Control)); // as every caller does
    }
    let mut now_ns = 0;
    for (index, record) in records.iter_mut().enumerate() {
        now_ns = record.now_ns.max(now_ns);
        record.now_ns = now_ns;
        record.view.ip_bytes = record.view.ip_bytes.clamp(SIZES.0, SIZES.1);
        let group = if case % 4 < 2 || policy.bands() > 0 { 0 } else { index / 8 };
        let flow = &mut flows[(record.flow as usize + FLOWS * group) % MANY_FLOWS];
        world.flow.bytes().copy_from_slice(flow);
        world.play(record)?;
        flow.copy_from_slice(world.flow.bytes());
    }
    Ok(())
}

/// Returns a fault of the policy, with its header's path, or its name if it is shipped.
fn policy_fault(policy: &Policy, problem: String) -> Fault {
    let header = match policy.origin() {
        Origin::Header { path, .. } => path.display().to_string(),
        Origin::Shipped => policy.name().into(),
    };
    Fault { header, problem }
}

/// The structs of a call.
struct World<'a> {
    given: &'a Params,
    params: Guarded,
    flow: Guarded,
    state: Guarded,
}

impl World<'_> {
    /// Maps the structs, with the parameters filled in and read-only, and the states all zero.
    ///
    /// # Errors
    /// If the memory cannot be mapped.
    fn new(given: &Params, guard: Guard) -> Result<World<'_>, Fault> {
        let (params_bytes, flow_bytes, state_bytes) = given.policy().sizes();
        let guarded = |bytes, what| {
            Guarded::new(bytes, guard, what)
                .map_err(|error| policy_fault(given.policy(), format!("cannot be tried; {error}")))
        };
        let mut world = World {
            given,
            params: guarded(params_bytes, &["beyond its parameters", "before its parameters"])?,
            flow: guarded(flow_bytes, &["beyond its flow", "before its flow"])?,
            state: guarded(state_bytes, &["beyond its state", "before its state"])?,
        };
        world.params.bytes().copy_from_slice(&given.bytes());
        world.params.seal(&"to its parameters, which it may only read");
        Ok(world)
    }

    /// Makes the call of a record, and before it those by which every caller ends a flow that starts anew.
    ///
    /// # Errors
    /// An answer out of range, or a write to the arguments or beyond a state.
    fn play(&mut self, record: &Record) -> Result<(), Fault> {
        let policy = self.given.policy();
        let copy = *record;
        if record.call == Function::Packet && policy.offers(Function::Restarts) {
            // If the packet starts its flow anew, every caller first ends the former flow.
            if self.call(Function::Restarts, &copy) != 0 {
                self.call(Function::FlowEnd, &copy);
            }
        }
        self.call(record.call, &copy);
        if let Some(fault) = take_fault() {
            return Err(fault);
        }
        let arguments = (copy != *record).then_some("to the packet's view, the backlog or the counts");
        let side =
            arguments.or_else(|| [&self.flow, &self.state].into_iter().find_map(Guarded::overwritten_side));
        side.map_or(Ok(()), |side| {
            let View { ip_bytes, flags, .. } = record.view;
            let (name, now_ns) = (record.call.name(), record.now_ns);
            let packet = format!("a packet of {ip_bytes} B with flags {flags:#04x} at {now_ns} ns");
            Err(policy_fault(policy, format!("{name} wrote {side} ({packet})")))
        })
    }

    /// Calls a function of the policy with the arguments of a record and returns its result.
    fn call(&self, function: Function, record: &Record) -> u64 {
        let Record { view, backlog, counts, now_ns, random, hash, .. } = record;
        let with = Arguments { view, backlog, counts, now_ns: *now_ns, random: *random, hash: *hash };
        let memory =
            Memory { params: self.params.pointer(), flow: self.flow.pointer(), state: self.state.pointer() };
        // SAFETY: the structs have the policy's sizes and are aligned; the parameters are complete.
        unsafe { self.given.policy().call_in(function, memory, with) }
    }
}

/// The end of its pages, next to a guard page, at which a struct lies.
#[derive(Clone, Copy, PartialEq)]
enum Guard {
    AtEnd,
    AtStart,
}

/// A struct in separate pages between two guard pages, which cannot be accessed.
struct Guarded {
    map: *mut u8,
    map_bytes: usize,
    pages: Range<usize>,
    inside: Range<usize>,
    what: &'static [&'static str; 2],
}

/// Value of the bytes of a struct's pages that do not belong to the struct.
const MARKED: u8 = 0xa5;

impl Guarded {
    /// Maps memory for a struct, all zero, and names its guard pages for reports of crashes. `what` completes "wrote …"
    /// of an access after it and of one before it.
    ///
    /// # Errors
    /// A clause if there is no memory.
    fn new(bytes: usize, guard: Guard, what: &'static [&'static str; 2]) -> Result<Guarded, String> {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let own = bytes.max(1).next_multiple_of(page);
        let map_bytes = own + 2 * page;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, of which the middle is made accessible.
        let map = unsafe {
            let map = libc::mmap(std::ptr::null_mut(), map_bytes, libc::PROT_NONE, kind, -1, 0);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            if map == libc::MAP_FAILED || libc::mprotect(map.byte_add(page), own, access) != 0 {
                return Err(format!("no memory for a trial; {}", std::io::Error::last_os_error()));
            }
            map.cast::<u8>()
        };
        let pages = page..page + own;
        let from = if guard == Guard::AtEnd { pages.end - bytes } else { pages.start };
        let mut made = Guarded { map, map_bytes, pages, inside: from..from + bytes, what };
        made.all().fill(MARKED);
        made.bytes().fill(0);
        let begin = map as usize;
        name_region(begin + made.pages.end..begin + map_bytes, &what[0]);
        name_region(begin..begin + page, &what[1]);
        Ok(made)
    }

    /// Returns all bytes between the guard pages, to change them; not after [`Guarded::seal`].
    fn all(&mut self) -> &mut [u8] {
        // SAFETY: the pages are mapped, and nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(self.pages.start), self.pages.len()) }
    }

    /// Returns the bytes of the struct.
    fn bytes(&mut self) -> &mut [u8] {
        let range = self.inside.start - self.pages.start..self.inside.end - self.pages.start;
        &mut self.all()[range]
    }

    /// Returns the address of the struct.
    fn pointer(&self) -> *mut c_void {
        // SAFETY: inside of the memory.
        unsafe { self.map.add(self.inside.start) }.cast()
    }

    /// Makes the pages read-only; `what` completes "wrote …" of an access to them.
    fn seal(&self, what: &'static &'static str) {
        // SAFETY: the pages are ours.
        unsafe {
            libc::mprotect(self.map.add(self.pages.start).cast(), self.pages.len(), libc::PROT_READ);
        }
        name_region(self.map as usize + self.pages.start..self.map as usize + self.pages.end, what);
    }

    /// Returns the name of the side on which bytes next to the struct were overwritten; `None` if none were.
    fn overwritten_side(&self) -> Option<&'static str> {
        let changed = |range: Range<usize>| {
            // SAFETY: the pages are mapped.
            let bytes = unsafe { std::slice::from_raw_parts(self.map.add(range.start), range.len()) };
            bytes.iter().fold(0, |all, byte| all | (byte ^ MARKED)) != 0
        };
        match () {
            () if changed(self.inside.end..self.pages.end) => Some(self.what[0]),
            () if changed(self.pages.start..self.inside.start) => Some(self.what[1]),
            () => None,
        }
    }
}

impl Drop for Guarded {
    /// Forgets the names of the guard pages and gives the memory back.
    fn drop(&mut self) {
        forget_region(self.map as usize..self.map as usize + self.map_bytes);
        // SAFETY: nobody has the memory any more.
        unsafe { libc::munmap(self.map.cast(), self.map_bytes) };
    }
}
