//! Runs other programs, such as compilers, within limits of time and memory, and kills them when
//! they exceed their time or the caller ends.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// The resources that a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time by the clock, s.
    pub seconds: u64,
    /// Time in which all of its processes may wait at once without an end, s (Linux only); `None` for a program that
    /// may wait.
    pub waiting_seconds: Option<u64>,
    /// Processor time of each of its processes, s.
    pub processor_seconds: u64,
    /// Address space of each process, bytes; `None` for a program that reserves more than it uses.
    pub memory_bytes: Option<u64>,
    /// Size of each file that it writes, bytes.
    pub file_bytes: u64,
}

impl Limits {
    /// Limits of a compiler for one header.
    const COMPILER: Limits = Limits {
        seconds: 60,
        waiting_seconds: Some(3),
        processor_seconds: 20,
        memory_bytes: Some(2 << 30),
        file_bytes: 64 << 20,
    };
}

/// How a program ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself, or by a signal; with the first `OUTPUT_BYTES` of each output.
    ByItself(Output),
    /// It took too long and was ended; with the output so far.
    TooLong(Output),
    /// All of its processes waited for something that did not come, and were ended; with the output so far.
    Waiting(Output),
}

/// Most bytes stored of each output; the rest is discarded.
const OUTPUT_BYTES: usize = 1 << 20;

/// Time between two looks whether all processes wait.
const LOOK: Duration = Duration::from_millis(500);

/// Time between two checks of a program.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns what a program prints for `--version`; `None` if it does not run or fails.
pub fn ask_version(command: &str) -> Option<String> {
    let done = Command::new(command).arg("--version").output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Returns the command of clang: `$CLANG` if it is set, else `clang`.
pub fn name_clang() -> String {
    std::env::var("CLANG").ok().filter(|command| !command.is_empty()).unwrap_or_else(|| "clang".into())
}

/// Runs a program to its end without input and within limits, and returns its outputs. The program and the processes that it starts are a process
/// group. The whole group is killed when the program ends, when the time is over and, on Linux, when the calling thread or
/// process ends.
///
/// # Errors
/// If the program cannot be started.
pub fn run(command: &mut Command, limits: &Limits) -> io::Result<Ended> {
    let limits = *limits;
    // SAFETY: the code between fork and exec makes system calls only.
    unsafe { command.pre_exec(move || prepare_child(&limits)) };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (read_beginning(child.stdout.take()), read_beginning(child.stderr.take()));
    let left = wait_for_end(&child, &limits);
    // SAFETY: nobody has collected the child's status yet, so that the group's number is still its own.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    let status = child.wait()?;
    let output =
        Output { status, stdout: out.join().unwrap_or_default(), stderr: err.join().unwrap_or_default() };
    Ok(match left {
        Left::Waiting => Ended::Waiting(output),
        Left::Running => Ended::TooLong(output),
        Left::Nothing if status.code() == Some(OVERRUN) => Ended::TooLong(output),
        Left::Nothing => Ended::ByItself(output),
    })
}

/// Runs a compiler to its end within `Limits::COMPILER` and returns its output, also if it fails.
///
/// # Errors
/// If it cannot be started, or takes too long.
pub fn compile(command: &mut Command) -> io::Result<Output> {
    match run(command, &Limits::COMPILER)? {
        Ended::ByItself(done) => Ok(done),
        Ended::TooLong(_) => {
            let Limits { processor_seconds, .. } = Limits::COMPILER;
            let why = format!("it takes more than {processor_seconds} s; what is included may have no end");
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        }
        Ended::Waiting(_) => {
            let why =
                "it waits for what does not come; what is included may be a pipe, and must be a regular file";
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        }
    }
}

/// What is left of a program when nobody waits for it any longer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// It has ended.
    Nothing,
    /// It runs beyond its time.
    Running,
    /// Its processes have waited for too long.
    Waiting,
}

/// Waits for a child to end, within the limits' times by the clock. Its status remains to be collected.
fn wait_for_end(child: &Child, limits: &Limits) -> Left {
    let mut left = Duration::from_secs(limits.seconds);
    let looks = limits.waiting_seconds.map(|seconds| seconds * 1000 / LOOK.as_millis() as u64);
    let (mut since_look, mut waiting) = (Duration::ZERO, 0);
    loop {
        // SAFETY: waitid fills the struct; its signal stays 0 while the child runs.
        let is_over = unsafe {
            let mut state: libc::siginfo_t = std::mem::zeroed();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, child.id(), &mut state, options) != 0 || state.si_signo != 0
        };
        if is_over {
            return Left::Nothing;
        }
        if left.is_zero() {
            return Left::Running;
        }
        sleep(PAUSE);
        left = left.saturating_sub(PAUSE);
        since_look += PAUSE;
        if since_look >= LOOK {
            since_look = Duration::ZERO;
            waiting = if looks.is_some() && is_group_asleep(child.id()) { waiting + 1 } else { 0 };
            if looks.is_some_and(|most| waiting >= most) {
                return Left::Waiting;
            }
        }
    }
}

/// Returns whether every thread of a group's processes sleeps until something comes: none computes, is ready to, or waits
/// for a disk. `false` where the system does not say.
fn is_group_asleep(group: u32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let group = group.to_string();
    let numbers = processes.flatten().map(|entry| entry.path());
    let own = numbers.filter(|path| read_stat(path).is_some_and(|(_, of)| of == group));
    let threads = own.filter_map(|path| std::fs::read_dir(path.join("task")).ok()).flatten().flatten();
    let mut states =
        threads.filter_map(|thread| read_stat(&thread.path())).map(|(state, _)| state).peekable();
    states.peek().is_some() && states.all(|state| matches!(state.as_str(), "S" | "Z"))
}

/// Returns the state and the group of a process or thread by its folder in /proc; `None` if it has ended, or the folder
/// is another one.
fn read_stat(folder: &std::path::Path) -> Option<(String, String)> {
    folder.file_name()?.to_str()?.parse::<u32>().ok()?;
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // After the name, in parentheses: state, parent, group.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.to_owned(), fields.nth(1)?.to_owned()))
}

/// Starts a thread that reads a pipe to its end and returns the first [`OUTPUT_BYTES`]; errors end the text.
fn read_beginning(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    spawn(move || {
        let mut beginning = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(OUTPUT_BYTES as u64).read_to_end(&mut beginning);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        beginning
    })
}

/// Exit status of the process between us and the program if the program used up its processor time.
const OVERRUN: i32 = 126;

/// Prepares the new process between fork and exec: its group, signals and limits. On Linux it forks once more: the first
/// process, in which the call does not return, waits for the program and kills the group when our thread or process
/// ends, because the system signals the death of a parent to its children only, not to the processes that a compiler
/// starts.
///
/// # Errors
/// The system's error if it cannot fork.
fn prepare_child(limits: &Limits) -> io::Result<()> {
    // SAFETY: all calls are allowed between fork and exec, and take what they point to.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::setpgid(0, 0);
        #[cfg(target_os = "linux")]
        {
            libc::signal(libc::SIGTERM, end_group as *const () as libc::sighandler_t);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => {
                    libc::signal(libc::SIGTERM, libc::SIG_DFL);
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                }
                program => end_as_program(program, limits.processor_seconds),
            }
        }
    }
    lower_limit(libc::RLIMIT_CPU, limits.processor_seconds);
    lower_limit(libc::RLIMIT_FSIZE, limits.file_bytes);
    lower_limit(libc::RLIMIT_CORE, 0);
    if let Some(bytes) = limits.memory_bytes {
        lower_limit(libc::RLIMIT_AS, bytes);
    }
    Ok(())
}

/// Has the system kill this process when its parent ends (Linux only), and write no core file.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: asks the system for a signal.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    lower_limit(libc::RLIMIT_CORE, 0);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Lowers this process's soft and hard limit of a resource to `most`; a limit that is lower already stays. Ignores the
/// system's errors.
fn lower_limit(resource: Resource, most: u64) {
    // SAFETY: both calls take a struct that is there.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(resource, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_cur.min(most as libc::rlim_t);
            limit.rlim_max = limit.rlim_max.min(most as libc::rlim_t);
            libc::setrlimit(resource, &limit);
        }
    }
}

/// Handles the signal that our parent has ended: kills this process's group.
#[cfg(target_os = "linux")]
extern "C" fn end_group(_: libc::c_int) {
    // SAFETY: ends the group of this process, itself too.
    unsafe { libc::kill(0, libc::SIGKILL) };
}

/// Waits for the program, then ends this process with the same status or signal; with [`OVERRUN`] if the program failed and
/// used at least 90 % of its processor time.
#[cfg(target_os = "linux")]
fn end_as_program(program: libc::pid_t, processor_seconds: u64) -> ! {
    // SAFETY: closes descriptors that only the program needs, then waits for it; the structs are there.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) != 0 {
            (3..1024).for_each(|descriptor| _ = libc::close(descriptor));
        }
        let (mut status, mut usage): (libc::c_int, libc::rusage) = (0, std::mem::zeroed());
        while libc::wait4(program, &mut status, 0, &mut usage) != program {}
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            libc::_exit(0);
        }
        let used_s =
            [usage.ru_utime, usage.ru_stime].map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6);
        if used_s.iter().sum::<f64>() >= 0.9 * processor_seconds as f64 {
            libc::_exit(OVERRUN);
        }
        if libc::WIFSIGNALED(status) {
            lower_limit(libc::RLIMIT_CORE, 0);
            libc::signal(libc::WTERMSIG(status), libc::SIG_DFL);
            libc::kill(libc::getpid(), libc::WTERMSIG(status));
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    const TIGHT: Limits = Limits {
        seconds: 1,
        waiting_seconds: None,
        processor_seconds: 1,
        memory_bytes: Some(1 << 30),
        file_bytes: 1000,
    };

    fn run_shell(script: &str, limits: &Limits) -> Ended {
        run(Command::new("sh").args(["-c", script]), limits).expect("sh starts")
    }

    #[test]
    fn run__returns_status_and_output() {
        let Ended::ByItself(done) = run_shell("echo out; echo err >&2; exit 3", &Limits::COMPILER) else {
            panic!("took too long")
        };
        assert_eq!(
            (done.status.code(), &*done.stdout, &*done.stderr),
            (Some(3), &b"out\n"[..], &b"err\n"[..])
        );
        assert!(run(&mut Command::new("/no/such/program"), &TIGHT).is_err());
    }

    #[test]
    fn run__ends_whole_groups_in_time() {
        // The shell waits for its child and prints its process ID.
        let Ended::TooLong(so_far) = run_shell("sleep 100 & echo $!; wait", &TIGHT) else {
            panic!("came to an end")
        };
        wait_until_gone(&so_far.stdout);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn run__ends_what_waits_without_an_end() {
        let limits = Limits { seconds: 30, waiting_seconds: Some(1), ..TIGHT };
        assert!(matches!(run_shell("sleep 100 & sleep 100", &limits), Ended::Waiting(_)));
        let busy = "while :; do :; done";
        assert!(matches!(
            run_shell(busy, &Limits { seconds: 3, processor_seconds: 9, ..limits }),
            Ended::TooLong(_)
        ));
    }

    #[test]
    fn run__ends_what_a_program_leaves_in_the_background() {
        // What is left holds the outputs; if it were not ended, this would wait for it.
        let Ended::ByItself(done) = run_shell("sleep 100 & echo $!; exit 3", &Limits::COMPILER) else {
            panic!("took too long")
        };
        assert_eq!(done.status.code(), Some(3));
        wait_until_gone(&done.stdout);
    }

    /// Waits at most 0.5 s until the process of this number, a line of text, has ended.
    fn wait_until_gone(number: &[u8]) {
        let number = String::from_utf8_lossy(number);
        for _ in 0..100 {
            // A dead process that nobody has waited for yet has no command line.
            let line = std::fs::read(format!("/proc/{}/cmdline", number.trim())).unwrap_or_default();
            if line.is_empty() {
                return;
            }
            sleep(PAUSE);
        }
        panic!("process {number} was left");
    }

    #[test]
    fn run__limits_processor_time_and_files() {
        let limits = Limits { seconds: 30, ..TIGHT };
        assert!(matches!(run_shell("while :; do :; done", &limits), Ended::TooLong(_)));
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("file");
        let Ended::ByItself(done) = run_shell(&format!("yes > {}", file.display()), &limits) else {
            panic!("took too long")
        };
        assert!(!done.status.success());
        assert_eq!(std::fs::metadata(file).unwrap().len(), 1000);
    }

    #[test]
    fn run__keeps_the_beginning_of_long_output() {
        let Ended::ByItself(done) = run_shell("yes | head -c 3000000", &Limits::COMPILER) else {
            panic!("took too long")
        };
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), OUTPUT_BYTES));
    }
}
