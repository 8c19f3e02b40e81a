//! Reports faults of users' own policies: crashes, exits, calls that do not return, and answers out of range.
//!
//! `own.c` wraps a header's functions and records in [`Call`] which one runs. A signal handler reports the call in which
//! the process crashed, an exit handler the one that would end it, and a watching thread the one that does not return;
//! each writes one line to standard error and ends the process with [`STATUS`]. An answer that is out of range is
//! recorded for the caller ([`crate::take_fault`]). Shipped policies are called directly, at no cost.

use crate::base::View;
use crate::fault::{self, Fault};
use crate::ffi::{RawPolicy, text as c_text};
use std::cell::{Cell, UnsafeCell};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Once, OnceLock};
use std::time::Duration;

/// The source that is compiled after a header.
pub(crate) const SHIM: &str = include_str!("own.c");

/// The process's exit status after a fault, that of bad input.
const STATUS: c_int = 2;

/// The record of a thread's current or last call; it begins with `struct mousehole_own_call`. Records are never freed, but
/// reused by later threads.
#[repr(C)]
struct Call {
    header: AtomicPtr<c_char>,
    function: AtomicPtr<c_char>,
    view: AtomicPtr<View>,
    /// For messages only: `own.c` writes it without a lock, so what is read of another thread may be of two calls.
    now_ns: UnsafeCell<u64>,
    calls: AtomicUsize,
    is_taken: AtomicBool,
    /// Clock of the processor time of the thread.
    clock: AtomicU32,
    next: AtomicPtr<Call>,
}

/// The list of the records of all threads that have called an own policy.
static CALLS: AtomicPtr<Call> = AtomicPtr::new(null_mut());

/// `struct mousehole_own`.
#[repr(C)]
pub(crate) struct RawOwn {
    header: *const c_char,
    thread: extern "C" fn() -> *const Call,
    refuse: extern "C" fn(*const c_char, u32, u32),
}

thread_local! {
    /// The record of this thread, null if it has none. It needs no initialisation, so that a signal handler may read it.
    static CURRENT: Cell<*const Call> = const { Cell::new(null()) };
    static RECORD: Record = Record::new();
}

/// Owns a record while the thread lives, and the stack for its signal handlers.
struct Record {
    call: &'static Call,
    _stack: Option<SignalStack>,
}

impl Record {
    /// Takes a record for this thread, sets [`CURRENT`] and gives the thread a stack for signals.
    fn new() -> Record {
        let call = take_record();
        call.clock.store(thread_clock(), Relaxed);
        CURRENT.set(call);
        Record { call, _stack: SignalStack::new() }
    }
}

impl Drop for Record {
    /// Gives the record back for later threads, unless the thread ends within a call.
    fn drop(&mut self) {
        if self.call.function.load(Relaxed).is_null() {
            CURRENT.set(null());
            self.call.is_taken.store(false, Relaxed);
        } // else the call itself ends the thread, and the exit handler or the watching thread reports it
    }
}

/// Marks a record that no thread has as taken and returns it; adds a new one to the list if there is none.
fn take_record() -> &'static Call {
    let mut at = CALLS.load(Relaxed);
    // SAFETY: records are never freed.
    while let Some(call) = unsafe { at.as_ref() } {
        if !call.is_taken.swap(true, Relaxed) {
            return call;
        }
        at = call.next.load(Relaxed);
    }
    let made: &'static Call = Box::leak(Box::new(Call {
        header: AtomicPtr::new(null_mut()),
        function: AtomicPtr::new(null_mut()),
        view: AtomicPtr::new(null_mut()),
        now_ns: UnsafeCell::new(0),
        calls: AtomicUsize::new(0),
        is_taken: AtomicBool::new(true),
        clock: AtomicU32::new(0),
        next: AtomicPtr::new(null_mut()),
    }));
    let link = |first| {
        made.next.store(first, Relaxed);
        Some(std::ptr::from_ref(made).cast_mut())
    };
    let _ = CALLS.fetch_update(std::sync::atomic::Ordering::Release, Relaxed, link);
    made
}

/// Returns the record of this thread, which gets one at its first call. Called by `own.c`.
extern "C" fn current_record() -> *const Call {
    let known = CURRENT.get();
    if known.is_null() { RECORD.with(|record| std::ptr::from_ref(record.call)) } else { known }
}

/// Records the fault that this thread's call of `function` has returned an answer above `most`, unless a fault is recorded
/// already. Called by `own.c` while the call is the thread's current one.
extern "C" fn report_answer(function: *const c_char, answer: u32, most: u32) {
    fault::record_first(|| {
        // SAFETY: the record is this thread's.
        let call = unsafe { CURRENT.get().as_ref() }?;
        let mut text = Text::new();
        let function = c_text(function);
        let _ = write!(text, "{function} returned {answer}; allowed are 0 to {most}");
        describe_call(call, &mut text);
        Some(Fault { header: header_name(call).into(), problem: text.as_str().into() })
    });
}

/// Returns a copy of the description in which the wrappers of `own.c` replace the functions. Installs the handlers and
/// starts the thread that report a call that crashes, exits or does not return. `header` is the name in these reports.
///
/// # Errors
/// If the library lacks a symbol of `own.c`.
pub(crate) fn wrap_functions(
    raw: &RawPolicy,
    library: &libloading::Library,
    header: &str,
) -> Result<&'static RawPolicy, libloading::Error> {
    /// Replaces the functions that the header offers by their wrappers.
    macro_rules! replace {
        ($raw:ident, $($field:ident),+) => {$(
            if $raw.$field.is_some() {
                // SAFETY: own.c defines the function, of the same type.
                $raw.$field = Some(*unsafe { library.get(concat!("mousehole_own_", stringify!($field)).as_bytes()) }?);
            }
        )+};
    }
    let mut raw = *raw;
    replace!(
        raw, setup, draws, mark, drop, expired, flow_end, period, classify, control, shape, departed,
        restarts, enqueue, dequeue, overflow
    );
    let printable = header.replace(|letter: char| letter.is_control(), "?");
    let header = CString::new(printable).unwrap_or_default().into_raw();
    // SAFETY: own.c defines the variable, which nobody reads before a function is called.
    unsafe {
        let own = *library.get::<*mut RawOwn>(b"mousehole_own")?;
        *own = RawOwn { header, thread: current_record, refuse: report_answer };
    }
    handle_faults();
    start_watching();
    Ok(Box::leak(Box::new(raw)))
}

/// Runs `work`, which calls a function of a header directly, not through `own.c`, as this thread's recorded call, and
/// returns its result. Both names are C strings that live for ever. A call that was recorded before ends with it.
pub(crate) fn call_watched<T>(header: *const c_char, function: *const c_char, work: impl FnOnce() -> T) -> T {
    // SAFETY: the record is this thread's.
    let call = unsafe { &*current_record() };
    call.header.store(header.cast_mut(), Relaxed);
    call.view.store(null_mut(), Relaxed);
    // SAFETY: the record is this thread's.
    unsafe { call.now_ns.get().write_volatile(0) };
    call.calls.fetch_add(1, Relaxed);
    call.function.store(function.cast_mut(), Relaxed);
    let done = work();
    call.function.store(null_mut(), Relaxed);
    done
}

// ---- reports ----

/// Text in a buffer of fixed size, as a signal handler must not allocate. What does not fit is cut off.
struct Text {
    bytes: [u8; 1536],
    length: usize,
}

impl Text {
    /// Returns an empty text.
    fn new() -> Text {
        Text { bytes: [0; 1536], length: 0 }
    }

    /// Returns the text so far.
    fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or("?")
    }
}

impl Write for Text {
    /// Appends as much of a text as fits, whole characters only; never fails.
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let mut room = text.len().min(self.bytes.len() - self.length);
        while !text.is_char_boundary(room) {
            room -= 1;
        }
        self.bytes[self.length..][..room].copy_from_slice(&text.as_bytes()[..room]);
        self.length += room;
        Ok(())
    }
}

/// Returns the header of a call, as the user named it, with control characters replaced; empty before the first call.
fn header_name(call: &Call) -> &'static str {
    c_text(call.header.load(Relaxed))
}

/// Appends the number of a call in its thread and, if it has one, its packet and time, in parentheses.
fn describe_call(call: &Call, text: &mut Text) {
    let _ = write!(text, " (call {}", call.calls.load(Relaxed));
    // SAFETY: the view is the caller's, which waits for the call to end.
    if let Some(view) = unsafe { call.view.load(Relaxed).as_ref() } {
        let _ = write!(text, ", a packet of {} B with flags {:#04x}", view.ip_bytes, view.flags);
        // SAFETY: records are never freed; `own.c` writes the number as it is read here.
        let _ = write!(text, " at {} ns", unsafe { call.now_ns.get().read_volatile() });
    }
    let _ = write!(text, ")");
}

/// Reports that the function of a call did `what`, in one line on standard error, and ends the process with [`STATUS`].
/// Allowed in a signal handler.
fn end_process(call: &Call, what: std::fmt::Arguments) -> ! {
    let mut text = Text::new();
    let _ = write!(text, "{}{}: {} ", fault_prefix(), header_name(call), c_text(call.function.load(Relaxed)));
    let _ = text.write_fmt(what);
    describe_call(call, &mut text);
    let _ = writeln!(text);
    write_text(&text);
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(STATUS) }
}

/// The prefix of each report.
static OPENING: OnceLock<&str> = OnceLock::new();

/// Sets the prefix of the reports of users' policies, such as `mousehole-live: `. Only the first call counts; without one
/// the prefix is `mousehole: error: `.
pub fn begin_faults_with(opening: &'static str) {
    let _ = OPENING.set(opening); // a second one changes nothing
}

/// Returns the prefix of each report.
fn fault_prefix() -> &'static str {
    OPENING.get().copied().unwrap_or("mousehole: error: ")
}

/// Writes a text to standard error; ignores errors. Allowed in a signal handler.
fn write_text(text: &Text) {
    // SAFETY: writes bytes that are there; a closed standard error is no fault.
    let _ = unsafe { libc::write(2, text.bytes.as_ptr().cast(), text.length) };
}

// ---- crashes and exits ----

/// Signals by which a process crashes.
const CRASHES: [(c_int, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
];

/// The actions for these signals before ours; `None` if they could not be read.
static mut FORMER: [Option<libc::sigaction>; CRASHES.len()] = [None; CRASHES.len()];

/// Installs the handlers of crashes and exits; later calls do nothing.
fn handle_faults() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers touch what they may in a signal; `FORMER` is written before they can run.
    ONCE.call_once(|| unsafe {
        for (index, (signal, _)) in CRASHES.into_iter().enumerate() {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, null(), &mut action) == 0 {
                FORMER[index] = Some(action);
            }
            action = std::mem::zeroed();
            action.sa_sigaction = on_crash as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, null_mut());
        }
        handle_exits();
    });
}

/// Handles a signal by which the process crashes. If this thread is in a policy's call, reports it and ends the process.
///
/// Otherwise calls the handler that was installed before. If there is none, writes that the crash was outside of the
/// policies, and has the system end the process.
extern "C" fn on_crash(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let index = CRASHES.iter().position(|(number, _)| *number == signal).unwrap_or_default();
    // SAFETY: the record is this thread's, and records are never freed.
    if let Some(call) =
        unsafe { CURRENT.get().as_ref() }.filter(|call| !call.function.load(Relaxed).is_null())
    {
        // SAFETY: the kernel gives the address of the access.
        let address = unsafe { (*info).si_addr() } as usize;
        match find_region(address).filter(|_| signal != libc::SIGABRT) {
            Some(what) => end_process(call, format_args!("{} {what}", access_kind(context))),
            None => end_process(call, format_args!("crashed ({})", CRASHES[index].1)),
        }
    }
    // SAFETY: `FORMER` was written before this handler was installed.
    let former = unsafe { FORMER[index] };
    match former {
        Some(former) if former.sa_sigaction == libc::SIG_DFL || former.sa_sigaction == libc::SIG_IGN => {}
        // SAFETY: the handler that somebody else installed is called as the system would.
        Some(former) => unsafe {
            if former.sa_flags & libc::SA_SIGINFO != 0 {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(former.sa_sigaction);
                return handler(signal, info, context);
            }
            let handler: extern "C" fn(c_int) = std::mem::transmute(former.sa_sigaction);
            return handler(signal);
        },
        None => {}
    }
    let mut text = Text::new();
    let _ = writeln!(
        text,
        "{}crashed ({}) outside of the own policies in use, one of which may have written where it must not; mousehole \
         policy check HEADER says more",
        fault_prefix(),
        CRASHES[index].1
    );
    write_text(&text);
    // SAFETY: the signal comes again, and the system ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        if signal == libc::SIGABRT {
            libc::raise(signal);
        }
    }
}

/// Returns `wrote` or `read`, the kind of access that a signal's context shows; `read or wrote` where it does not show it.
fn access_kind(context: *mut c_void) -> &'static str {
    #[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
    {
        // SAFETY: the kernel gives the context; bit 1 of the page fault's error code stands for a write.
        let error =
            unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_ERR as usize] };
        if error & 2 != 0 { "wrote" } else { "read" }
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
    {
        let _ = context;
        "read or wrote"
    }
}

/// Installs the exit handler that reports a policy that calls `exit`, with the status.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn handle_exits() {
    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn exiting(status: c_int, _: *mut c_void) {
        refuse_exit(Some(status));
    }
    // SAFETY: the function stays loaded.
    unsafe { on_exit(exiting, null_mut()) };
}

/// Installs the exit handler that reports a policy that calls `exit`; the status is not known on this system.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn handle_exits() {
    extern "C" fn exiting() {
        refuse_exit(None);
    }
    // SAFETY: the function stays loaded.
    unsafe { libc::atexit(exiting) };
}

/// Handles the process's exit: if this thread is in a policy's call, reports that it called `exit` and ends the process with
/// [`STATUS`]; else does nothing. `None` stands for an unknown status.
fn refuse_exit(status: Option<c_int>) {
    let Ok(current) = CURRENT.try_with(Cell::get) else { return };
    // SAFETY: the record is this thread's.
    match unsafe { current.as_ref() } {
        Some(call) if !call.function.load(Relaxed).is_null() => match status {
            Some(status) => end_process(call, format_args!("called exit({status})")),
            None => end_process(call, format_args!("called exit")),
        },
        _ => {}
    }
}

/// A guarded range of addresses around states and parameters, with the end of the report of an access to it.
struct Region {
    from: AtomicUsize,
    to: AtomicUsize,
    what: AtomicPtr<&'static str>,
}

static REGIONS: [Region; 32] = [const {
    Region { from: AtomicUsize::new(0), to: AtomicUsize::new(0), what: AtomicPtr::new(null_mut()) }
}; 32];

/// Names a guarded range of addresses, so that a crash by an access to it is reported as "wrote WHAT" or "read WHAT", with
/// a name such as "beyond its state". At most 32 ranges have names at a time; further ones are ignored.
pub fn name_region(memory: std::ops::Range<usize>, what: &'static &'static str) {
    for region in &REGIONS {
        if region.from.compare_exchange(0, memory.start, Relaxed, Relaxed).is_ok() {
            region.to.store(memory.end, Relaxed);
            region.what.store(std::ptr::from_ref(what).cast_mut(), Relaxed);
            return;
        }
    }
}

/// Removes the names of the ranges that begin in this memory; call it before the memory is given back.
pub fn forget_region(memory: std::ops::Range<usize>) {
    for region in &REGIONS {
        if memory.contains(&region.from.load(Relaxed)) {
            region.to.store(0, Relaxed);
            region.from.store(0, Relaxed);
        }
    }
}

/// Returns the name that [`name_region`] gave to the range with this address; `None` if there is none.
fn find_region(address: usize) -> Option<&'static str> {
    let holds = |region: &&Region| (region.from.load(Relaxed)..region.to.load(Relaxed)).contains(&address);
    // SAFETY: what was stored is constant.
    REGIONS.iter().find(holds).and_then(|region| unsafe { region.what.load(Relaxed).as_ref() }).copied()
}

/// A stack for signal handlers, so that a stack overflow by endless recursion can be reported too.
struct SignalStack(*mut c_void);

impl SignalStack {
    const BYTES: usize = 64 << 10;

    /// Gives this thread a stack for signals; `None` if it has one already or there is no memory.
    fn new() -> Option<SignalStack> {
        // SAFETY: the memory is mapped before it is handed over and unmapped only after it was taken back.
        unsafe {
            let mut now: libc::stack_t = std::mem::zeroed();
            if libc::sigaltstack(null(), &mut now) != 0 || now.ss_flags & libc::SS_DISABLE == 0 {
                return None;
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(null_mut(), Self::BYTES, access, kind, -1, 0);
            if memory == libc::MAP_FAILED {
                return None;
            }
            now = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: Self::BYTES };
            libc::sigaltstack(&now, null_mut());
            Some(SignalStack(memory))
        }
    }
}

impl Drop for SignalStack {
    /// Takes the stack from the thread, which must be the one that has it, and gives its memory back.
    fn drop(&mut self) {
        // SAFETY: the thread gives the stack up before its memory goes.
        unsafe {
            let mut none: libc::stack_t = std::mem::zeroed();
            none.ss_flags = libc::SS_DISABLE;
            libc::sigaltstack(&none, null_mut());
            libc::munmap(self.0, Self::BYTES);
        }
    }
}

// ---- calls that do not return ----

/// Processor time after which a call counts as endless, ms.
static LIMIT_MS: AtomicUsize = AtomicUsize::new(10_000);

/// The limit by the clock as a multiple of [`LIMIT_MS`], for calls that wait or whose thread gets no processor.
const WAITING: u64 = 5;

/// Time between two checks of the threads, ms.
const PAUSE_MS: u64 = 100;

/// Sets the processor time after which a policy's call is reported as endless and the process ended, in whole ms; by the
/// clock, five times as long. Without it the limit is 10 s.
pub fn limit_calls(longest: Duration) {
    LIMIT_MS.store(longest.as_millis() as usize, Relaxed);
}

/// Starts the thread that reports calls that do not return, unless this process has one. A forked child has none, so
/// whoever completes parameters calls it again.
pub(crate) fn start_watching() {
    static WATCHED: AtomicU32 = AtomicU32::new(0);
    let me = std::process::id();
    if WATCHED.swap(me, Relaxed) != me {
        let _ = std::thread::Builder::new().name("own-policies".into()).spawn(watch_calls);
    }
}

/// A call that was running at the last check.
struct Seen {
    record: *const Call,
    calls: usize,
    since_ms: u64,
    busy_ms: u64,
}

/// Checks the calls of all threads every [`PAUSE_MS`], for ever; the body of the watching thread.
fn watch_calls() {
    // SAFETY: blocks all signals here, so that the other threads handle them.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, null_mut());
    }
    let (mut seen, mut now_ms) = (Vec::new(), 0);
    loop {
        std::thread::sleep(Duration::from_millis(PAUSE_MS));
        now_ms += PAUSE_MS;
        seen = check_calls(&seen, now_ms);
    }
}

/// Returns the calls that are running, given those of the last check. Reports one that has exceeded the limit, and ends the
/// process. `now_ms` is the time since the thread started.
fn check_calls(seen: &[Seen], now_ms: u64) -> Vec<Seen> {
    let mut found = Vec::new();
    let mut at = CALLS.load(std::sync::atomic::Ordering::Acquire);
    // SAFETY: records are never freed.
    while let Some(call) = unsafe { at.as_ref() } {
        let calls = call.calls.load(Relaxed);
        if call.is_taken.load(Relaxed) && !call.function.load(Relaxed).is_null() {
            let busy_ms = clock_ms(call.clock.load(Relaxed), now_ms);
            let same = seen.iter().find(|one| std::ptr::eq(one.record, call) && one.calls == calls);
            let (since_ms, began_ms) = same.map_or((now_ms, busy_ms), |one| (one.since_ms, one.busy_ms));
            let limit_ms = LIMIT_MS.load(Relaxed) as u64;
            if busy_ms.saturating_sub(began_ms) >= limit_ms || now_ms - since_ms >= WAITING * limit_ms {
                end_process(call, format_args!("did not return within {} s", limit_ms / 1000));
            }
            found.push(Seen { record: call, calls, since_ms, busy_ms: began_ms });
        }
        at = call.next.load(Relaxed);
    }
    found
}

/// Returns the system's number of the clock of this thread's processor time; 0 where there is no such clock.
fn thread_clock() -> u32 {
    #[cfg(target_os = "linux")]
    {
        let mut clock = 0;
        // SAFETY: asks about the calling thread.
        unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        clock as u32
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Returns a thread's processor time by its clock, ms; `now_ms` if the clock cannot be read.
fn clock_ms(clock: u32, now_ms: u64) -> u64 {
    #[cfg(target_os = "linux")]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: fills in the time; a thread that is gone is an error.
        if unsafe { libc::clock_gettime(clock as i32, &mut time) } == 0 {
            return time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000;
        }
    }
    let _ = clock;
    now_ms
}
