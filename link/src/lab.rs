//! Both sides of a link: each has a network namespace, a TUN device that this process holds, and a
//! command.
//!
//! For each side a helper is forked, which leaves this process's namespaces. It uses a user
//! namespace unless the user is root and root may do without. It creates the device and passes it
//! to this process. Then it forks the first process of a PID namespace, which runs the command and
//! reaps its orphans. Both are killed when this process ends, even by SIGKILL. With the first
//! process ends everything in its namespaces, and then the namespaces end, since nothing holds
//! them. The forked child has only this thread, and its allocator is glibc's, which stays usable
//! after a fork.

use crate::{Failure, netlink};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, kill, sigaction, sigprocmask,
};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg,
    socketpair,
};
use nix::sys::stat::Mode;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{ForkResult, Pid, execvpe, fork, getegid, geteuid, getppid};
use std::ffi::CString;
use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::path::Path;

/// The name of the device in both namespaces.
pub const DEVICE: &str = "link";
/// How many packets a device queues for the driver.
const DEVICE_QUEUE: u32 = 10_000;
/// The prefix lengths of the IPv4 and IPv6 addresses.
const PREFIXES: (u8, u8) = (24, 64);
/// The exit status of a command that cannot be started, as in shells.
const NOT_STARTED: i32 = 127;

/// The two ends of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The end where the client's command runs.
    Client,
    /// The end where the servers run.
    Server,
}

impl Side {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        if self == Side::Client { "client" } else { "server" }
    }

    /// Returns its IPv4 and IPv6 addresses.
    pub fn addresses(self) -> (Ipv4Addr, Ipv6Addr) {
        let host = if self == Side::Client { 2 } else { 1 };
        (Ipv4Addr::new(10, 0, 0, host as u8), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host))
    }
}

/// The command of a side, prepared before the fork.
pub struct Program {
    argv: Vec<CString>,
    env: Vec<CString>,
    /// Whether it reads nothing and prints to standard error only.
    is_in_background: bool,
}

impl Program {
    /// Prepares a command with its environment: that of this process, the side's name in
    /// MOUSEHOLE_SIDE, and the addresses of both ends in MOUSEHOLE_CLIENT, MOUSEHOLE_SERVER and,
    /// with a 6 at the end, those of IPv6.
    ///
    /// # Errors
    /// [`Failure::System`] for an argument with a NUL character.
    pub fn new(words: &[String], side: Side, is_in_background: bool) -> Result<Program, Failure> {
        let text = |word: &str| {
            CString::new(word)
                .map_err(|_| Failure::System(format!("the command's word {word:?} has a NUL character")))
        };
        let argv = words.iter().map(|word| text(word)).collect::<Result<Vec<_>, _>>()?;
        let ends = [Side::Client, Side::Server].map(|end| (end.name().to_uppercase(), end.addresses()));
        let own = ends.iter().flat_map(|(name, (four, six))| {
            [(format!("MOUSEHOLE_{name}"), four.to_string()), (format!("MOUSEHOLE_{name}6"), six.to_string())]
        });
        let own: Vec<_> = own.chain([("MOUSEHOLE_SIDE".into(), side.name().to_string())]).collect();
        let is_own = |name: &std::ffi::OsStr| own.iter().any(|(other, _)| name == other.as_str());
        let inherited = std::env::vars_os().filter(|(name, _)| !is_own(name));
        let pair = |name: &[u8], value: &[u8]| CString::new([name, b"=", value].concat()).ok();
        let inherited =
            inherited.filter_map(|(name, value)| pair(name.as_encoded_bytes(), value.as_encoded_bytes()));
        let env = inherited
            .chain(own.iter().filter_map(|(name, value)| pair(name.as_bytes(), value.as_bytes())))
            .collect();
        Ok(Program { argv, env, is_in_background })
    }
}

/// The settings of both sides.
#[derive(Debug, Clone)]
pub struct Network {
    /// The largest packet, bytes.
    pub mtu: u16,
    /// Host names that resolve to the server, in addition to `server`.
    pub names: Vec<String>,
    /// Whether to use a user namespace even as root.
    pub user_namespace: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Its status as in shells: 128 plus the signal's number if a signal ended it.
    pub status: i32,
    /// How many processes it left behind.
    pub left: u32,
}

/// One side while it runs. Dropping it kills everything in it.
pub struct Running {
    helper: Helper,
    control: OwnedFd,
    /// Its device, non-blocking.
    pub tun: OwnedFd,
    /// How its command ended; `None` while it runs.
    pub exit: Option<Exit>,
    /// How many packets its device had lost when the run began.
    lost_before: u64,
}

/// A helper, which is killed and awaited when this is dropped, and with it everything in its namespaces.
struct Helper(Pid);

/// The messages between a helper and this process, by their first byte.
mod message {
    pub const TUN: u8 = b'T';
    pub const FAILED: u8 = b'E';
    pub const GO: u8 = b'G';
    pub const EXIT: u8 = b'X';
}

impl Running {
    /// Forks the helper of a side, which creates the namespaces and the device; the command waits
    /// for [`Running::release`]. Without a program the side only receives and answers as its kernel
    /// does.
    ///
    /// # Errors
    /// [`Failure::System`] with a sentence that names the resource that the system denied.
    pub fn start(side: Side, program: Option<&Program>, network: &Network) -> Result<Running, Failure> {
        let (near, far) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
            .map_err(system_failure)?;
        let parent = nix::unistd::getpid();
        // SAFETY: the child calls nothing that another thread's lock could block but glibc's memory, which fork handles.
        match unsafe { fork() }.map_err(system_failure)? {
            ForkResult::Child => {
                drop(near);
                let status = run_helper(side, program, network, &far, parent);
                // SAFETY: ends this process without running what belongs to its parent.
                unsafe { libc::_exit(status) }
            }
            ForkResult::Parent { child } => {
                drop(far);
                Running::await_device(side, Helper(child), near)
            }
        }
    }

    /// Waits for the first message of a side's helper, which comes by `control` and brings the device.
    ///
    /// # Errors
    /// [`Failure::System`] when the message says so, does not come or brings no device; the helper has ended then.
    fn await_device(side: Side, helper: Helper, control: OwnedFd) -> Result<Running, Failure> {
        let (text, tun) = receive(control.as_fd()).map_err(system_failure)?;
        match (text.first(), tun) {
            (Some(&message::TUN), Some(tun)) => {
                fcntl(&tun, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(system_failure)?;
                fcntl(&tun, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(system_failure)?;
                let mut side = Running { helper, control, tun, exit: None, lost_before: 0 };
                side.lost_before = side.count_lost();
                Ok(side)
            }
            (Some(&message::FAILED), _) => {
                Err(Failure::System(String::from_utf8_lossy(&text[1..]).into_owned()))
            }
            _ => {
                // It stays a zombie, so that its number stays its own until it is dropped.
                let status = waitid(Id::Pid(helper.0), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
                Err(Failure::System(format!("the {} side ended early ({status:?})", side.name())))
            }
        }
    }

    /// Starts the command. Without a program nothing happens.
    ///
    /// # Errors
    /// [`Failure::System`] when the helper is gone.
    pub fn release(&self) -> Result<(), Failure> {
        send(self.control.as_fd(), &[message::GO], None).map_err(system_failure)
    }

    /// Returns the socket that becomes readable when the command ends.
    pub fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// Reads a message of the helper and sets `exit` if the command has ended; call it when the
    /// socket is readable. If the socket is closed, the helper was killed, and so was the command.
    pub fn receive_exit(&mut self) {
        match receive(self.control.as_fd()) {
            Ok((text, _)) if text.first() == Some(&message::EXIT) && text.len() >= 9 => {
                let number =
                    |at: usize| i32::from_ne_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]]);
                self.exit = Some(Exit { status: number(1), left: number(5) as u32 });
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            _ => self.exit = self.exit.or(Some(Exit { status: 128 + Signal::SIGKILL as i32, left: 0 })),
        }
    }

    /// Returns whether a program of this side listens for TCP connections or UDP datagrams. False
    /// if the tables of /proc cannot be read.
    pub fn is_listening(&self) -> bool {
        let table = |name: &str| {
            std::fs::read_to_string(format!("/proc/{}/net/{name}", self.helper.0)).unwrap_or_default()
        };
        let listens =
            |name: &str| table(name).lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some("0A"));
        listens("tcp")
            || listens("tcp6")
            || ["udp", "udp6"].iter().any(|name| table(name).lines().count() > 1)
    }

    /// Returns how many packets its device has lost since the run began. Errors and drops of both
    /// directions count; 0 if they cannot be read.
    pub fn count_lost(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/net/dev", self.helper.0)).unwrap_or_default();
        let counters =
            text.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
        let numbers: Vec<u64> = counters
            .unwrap_or_default()
            .split_whitespace()
            .map(|number| number.parse().unwrap_or(0))
            .collect();
        // Errors and drops of both directions.
        let lost: u64 = [2, 3, 10, 11].iter().filter_map(|&at| numbers.get(at)).sum();
        lost.saturating_sub(self.lost_before)
    }

    /// Returns the number of the process that holds the side's network namespace.
    pub fn holder(&self) -> i32 {
        self.helper.0.as_raw()
    }
}

impl Drop for Helper {
    /// Kills the helper and waits for its end.
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGKILL);
        while waitpid(self.0, None) == Err(Errno::EINTR) {}
    }
}

/// Returns the failure for a system error.
fn system_failure(errno: Errno) -> Failure {
    Failure::System(format!("the system refuses it: {}", errno.desc()))
}

/// Sends a message, and with it a descriptor if one is given. Blocks while the socket is full.
fn send(socket: BorrowedFd, text: &[u8], passed: Option<RawFd>) -> nix::Result<()> {
    let passed: Vec<RawFd> = passed.into_iter().collect();
    let rights = [ControlMessage::ScmRights(&passed)];
    let rights: &[ControlMessage] = if passed.is_empty() { &[] } else { &rights };
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(text)], rights, MsgFlags::MSG_NOSIGNAL, None).map(drop)
}

/// Receives a message of at most 4096 bytes and the descriptor that was sent with it, if any. The
/// message is empty if the other end is closed. Blocks if the socket does.
fn receive(socket: BorrowedFd) -> nix::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut text = vec![0u8; 4096];
    let mut space = nix::cmsg_space!(RawFd);
    let mut parts = [IoSliceMut::new(&mut text)];
    let got = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut passed = None;
    for part in got.cmsgs()? {
        if let ControlMessageOwned::ScmRights(all) = part {
            // SAFETY: the kernel has just made these descriptors for us.
            passed = all.first().map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) });
        }
    }
    let bytes = got.bytes;
    text.truncate(bytes);
    Ok((text, passed))
}

/// Runs in the forked helper: leaves the namespaces, sends the device or a sentence of failure to
/// the parent, forks the first process and waits for its end. Returns its exit status: 1 after a
/// failure, else 0.
fn run_helper(
    side: Side,
    program: Option<&Program>,
    network: &Network,
    socket: &OwnedFd,
    parent: Pid,
) -> i32 {
    ignore_interrupts();
    let made = leave_namespaces(network).and_then(|()| {
        die_with_parent(parent)?;
        set_up_side(side, network)
    });
    let tun = match made {
        Ok(tun) => tun,
        Err(sentence) => {
            let text = [&[message::FAILED], sentence.as_bytes()].concat();
            let _ = send(socket.as_fd(), &text, None);
            return 1;
        }
    };
    // SAFETY: this process has one thread.
    match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            drop(tun);
            // This namespace hides the parent's number. If the parent is gone already, so is the socket's other end.
            let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
            run_first_process(program, socket)
        }
        Ok(ForkResult::Parent { child }) => {
            let _ = send(socket.as_fd(), &[message::TUN], Some(tun.as_raw_fd()));
            drop(tun);
            while waitpid(child, None) == Err(Errno::EINTR) {}
            0
        }
        Err(errno) => {
            let sentence =
                format!("{}the system refuses a new process: {}", message::FAILED as char, errno.desc());
            let _ = send(socket.as_fd(), sentence.as_bytes(), None);
            1
        }
    }
}

/// Runs as the first process of a PID namespace: mounts /proc, starts the command when the driver
/// says so, reports its end and collects orphans. Returns the exit status once the driver has
/// closed the socket.
fn run_first_process(program: Option<&Program>, socket: &OwnedFd) -> i32 {
    // Tools such as ps must show the processes of this namespace. A container may forbid the mount.
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let _ = mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>);
    extern "C" fn do_nothing(_: libc::c_int) {}
    let action = SigAction::new(SigHandler::Handler(do_nothing), SaFlags::empty(), SigSet::empty());
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGCHLD);
    let mut before = SigSet::empty();
    let _ = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&blocked), Some(&mut before));
    // SAFETY: the handler does nothing; it only lets ppoll return.
    let _ = unsafe { sigaction(Signal::SIGCHLD, &action) };
    let mut command = None;
    loop {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(child, status)) if Some(child) == command => {
                    report_exit(socket, status)
                }
                Ok(WaitStatus::Signaled(child, signal, _)) if Some(child) == command => {
                    report_exit(socket, 128 + signal as i32);
                }
                Ok(WaitStatus::StillAlive) | Err(_) => break,
                Ok(_) => {}
            }
        }
        let mut poll = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        if ppoll(&mut poll, None, Some(SigSet::empty())).is_err() {
            continue;
        }
        match receive(socket.as_fd()) {
            Ok((text, _)) if text.first() == Some(&message::GO) => {
                let Some(program) = program else { continue };
                // SAFETY: this process has one thread.
                match unsafe { fork() } {
                    Ok(ForkResult::Child) => execute(program, &before),
                    Ok(ForkResult::Parent { child }) => command = Some(child),
                    Err(_) => report_exit(socket, NOT_STARTED),
                }
            }
            Ok((text, _)) if !text.is_empty() => {}
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // The driver is gone.
            _ => return 0,
        }
    }
}

/// Sends the driver the command's exit status and how many processes it left behind. The number is
/// 0 if /proc is not that of this namespace.
fn report_exit(socket: &OwnedFd, status: i32) {
    let own = |name: &std::ffi::OsStr| name.to_str().and_then(|name| name.parse::<i32>().ok());
    let alive = |number: i32| {
        let text = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let state =
            text.rsplit(')').next().and_then(|rest| rest.split_whitespace().next().map(str::to_string));
        state.is_some_and(|state| state != "Z" && state != "X")
    };
    let is_own_proc = std::fs::read_link("/proc/self").is_ok_and(|link| link == Path::new("1"));
    let left = match std::fs::read_dir("/proc") {
        Ok(entries) if is_own_proc => entries
            .flatten()
            .filter_map(|entry| own(&entry.file_name()))
            .filter(|&number| number != 1 && alive(number))
            .count(),
        _ => 0,
    };
    let text = [&[message::EXIT][..], &status.to_ne_bytes(), &(left as i32).to_ne_bytes()].concat();
    let _ = send(socket.as_fd(), &text, None);
}

/// Replaces this process by the command, with default signals and `mask` as its blocked ones. If it
/// cannot be run, prints why and exits with status 127.
fn execute(program: &Program, mask: &SigSet) -> ! {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in
        [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGPIPE, Signal::SIGCHLD, Signal::SIGHUP]
    {
        // SAFETY: restores the default.
        let _ = unsafe { sigaction(signal, &default) };
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(mask), None);
    if program.is_in_background
        && let Ok(null) = open("/dev/null", OFlag::O_RDONLY, Mode::empty())
    {
        // The server's output must not mix with the command's.
        let _ = nix::unistd::dup2_stdin(&null);
        let _ = nix::unistd::dup2_stdout(std::io::stderr());
    }
    let Err(errno) = execvpe(&program.argv[0], &program.argv, &program.env);
    eprintln!("mousehole: {} cannot be run: {}", program.argv[0].to_string_lossy(), errno.desc());
    // SAFETY: as above.
    unsafe { libc::_exit(NOT_STARTED) }
}

/// Ignores Ctrl-C and hang-ups, which are for the command, and restores the default for SIGTERM.
/// Helpers end with the driver.
fn ignore_interrupts() {
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
        // SAFETY: no handler runs.
        let _ = unsafe { sigaction(signal, &ignore) };
    }
    // SAFETY: no handler runs.
    let _ = unsafe { sigaction(Signal::SIGTERM, &default) };
}

/// Makes the kernel kill this process when its parent ends.
///
/// # Errors
/// A sentence when the parent has ended already.
fn die_with_parent(parent: Pid) -> Result<(), String> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|errno| errno.desc().to_string())?;
    if getppid() == parent { Ok(()) } else { Err("the program that asked for it has ended".into()) }
}

/// Leaves the parent's network, mount and PID namespaces by unshare(2).
///
/// Root leaves them at once, unless `network` asks for a user namespace. All others leave the user namespace first.
///
/// # Errors
/// A sentence that names the namespace that is denied or the file of the user namespace that cannot be written, and the
/// probable cause.
fn leave_namespaces(network: &Network) -> Result<(), String> {
    let own = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    let (uid, gid) = (geteuid(), getegid());
    if uid.is_root() && !network.user_namespace && unshare(own).is_ok() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(explain_denial)?;
    let write = |file: &str, text: String| {
        std::fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| format!("the user namespace cannot be set up: /proc/self/{file}: {error}"))
    };
    write("setgroups", "deny".into())?;
    write("uid_map", format!("{uid} {uid} 1"))?;
    write("gid_map", format!("{gid} {gid} 1"))?;
    unshare(own).map_err(|errno| match errno {
        Errno::EPERM => format!("a network namespace is denied: {}", find_restriction()),
        Errno::ENOSPC => {
            "a network namespace is denied: the limit user.max_net_namespaces, user.max_pid_namespaces or \
                          user.max_mnt_namespaces is reached"
                .into()
        }
        errno => format!("a network namespace is denied: {}", errno.desc()),
    })
}

/// Returns a sentence that explains why a user namespace is denied.
fn explain_denial(errno: Errno) -> String {
    let limit = read_setting("user/max_user_namespaces");
    match errno {
        Errno::EPERM => format!("a user namespace is denied: {}", find_restriction()),
        Errno::ENOSPC | Errno::EUSERS => format!(
            "a user namespace is denied: the limit user.max_user_namespaces ({}) is reached",
            limit.unwrap_or_else(|| "unknown".into())
        ),
        Errno::EINVAL => "a user namespace is denied: the kernel has none (CONFIG_USER_NS)".into(),
        errno => format!("a user namespace is denied: {}", errno.desc()),
    }
}

/// Returns a clause that names the setting or rule that probably denies namespaces, and its remedy.
/// Without one that can be read, it names a container's rules.
fn find_restriction() -> String {
    if read_setting("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        return "kernel.unprivileged_userns_clone is 0; as root, 'sysctl kernel.unprivileged_userns_clone=1' allows it, \
                or run as root"
            .into();
    }
    if read_setting("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        return "kernel.apparmor_restrict_unprivileged_userns is 1; as root, \
                'sysctl kernel.apparmor_restrict_unprivileged_userns=0' allows it, or run as root"
            .into();
    }
    "a container's rules (seccomp, missing CAP_SYS_ADMIN) do not allow it; run it outside, or give the container \
     --security-opt seccomp=unconfined or --cap-add SYS_ADMIN --cap-add NET_ADMIN"
        .into()
}

/// Returns the value of a file below /proc/sys; `None` if it cannot be read.
fn read_setting(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/sys/{name}")).ok().map(|text| text.trim().to_string())
}

/// Sets up mounts, settings and the device of a side, with its addresses and default routes.
/// Returns the device's descriptor. The process must be in namespaces of its own.
///
/// # Errors
/// A sentence that names the denied resource. A kernel without IPv6 is no error.
fn set_up_side(side: Side, network: &Network) -> Result<OwnedFd, String> {
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>).map_err(
        |errno| format!("mounts of its own are denied: {} ({})", errno.desc(), find_restriction()),
    )?;
    mount_name_files(network);
    write_settings(
        "",
        &[
            ("ipv4/ip_unprivileged_port_start", "0".into()),
            ("ipv4/ping_group_range", format!("{0} {0}", getegid())),
            ("ipv6/conf/all/disable_ipv6", "0".into()),
            ("ipv6/conf/default/disable_ipv6", "0".into()),
            ("ipv6/conf/default/accept_dad", "0".into()),
            ("ipv6/conf/default/addr_gen_mode", "1".into()),
            ("ipv6/conf/default/router_solicitations", "0".into()),
            ("ipv6/conf/default/accept_ra", "0".into()),
        ],
    );
    let tun = open_tun_device()?;
    let failed = |what: &str| {
        let what = what.to_string();
        move |error: std::io::Error| format!("the device cannot be set up: {what}: {error}")
    };
    let index = |name: &str| {
        nix::net::if_::if_nametoindex(name).map_err(|errno| failed(name)(std::io::Error::from(errno)))
    };
    netlink::bring_up(index("lo")?, None, None).map_err(failed("lo"))?;
    let device = index(DEVICE)?;
    netlink::bring_up(device, Some(u32::from(network.mtu)), Some(DEVICE_QUEUE))
        .map_err(failed("MTU and queue"))?;
    let _ = netlink::remove_queue(device);
    let (four, six) = side.addresses();
    netlink::add_address(device, IpAddr::V4(four), PREFIXES.0).map_err(failed("IPv4 address"))?;
    netlink::add_default_route(device, false).map_err(failed("IPv4 route"))?;
    // A kernel without IPv6 has IPv4 only.
    if netlink::add_address(device, IpAddr::V6(six), PREFIXES.1).is_ok() {
        let _ = netlink::add_default_route(device, true);
    }
    Ok(tun)
}

/// Writes values to files below /proc/sys/net, which is that of the process's own namespace;
/// `prefix` precedes each name. Settings that the kernel lacks or refuses are skipped.
fn write_settings(prefix: &str, all: &[(&str, String)]) {
    for (name, value) in all {
        let _ = std::fs::write(format!("/proc/sys/net/{prefix}{name}"), value);
    }
}

/// Opens a TUN device in this namespace: whole IP packets, none of them larger than the MTU.
///
/// # Errors
/// A sentence with the system's reason and a remedy.
fn open_tun_device() -> Result<OwnedFd, String> {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    const IFF_TUN_NO_PI: i16 = 0x1001;
    let path = "/dev/net/tun";
    let tun = open(path, OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty()).map_err(|errno| match errno {
        Errno::ENOENT => {
            format!("{path} is missing; as root, 'modprobe tun', or give a container --device {path}")
        }
        errno => format!("{path} cannot be opened: {}; give a container --device {path}", errno.desc()),
    })?;
    let mut request = [0u8; 40];
    request[..DEVICE.len()].copy_from_slice(DEVICE.as_bytes());
    request[16..18].copy_from_slice(&IFF_TUN_NO_PI.to_ne_bytes());
    // SAFETY: the request is as large as the kernel's, and lives.
    let done = unsafe { libc::ioctl(tun.as_raw_fd(), TUNSETIFF as _, request.as_mut_ptr()) };
    match Errno::result(done) {
        Ok(_) => Ok(tun),
        Err(errno) => Err(format!("a TUN device is denied: {} ({})", errno.desc(), find_restriction())),
    }
}

/// Makes the names `server` and `client` resolve to their addresses by files mounted over
/// /etc/hosts and /etc/resolv.conf. There is no name server, since none can be reached. Failures
/// are ignored; names then resolve as outside.
fn mount_name_files(network: &Network) {
    let mut hosts = String::from("127.0.0.1 localhost\n::1 localhost\n");
    for side in [Side::Server, Side::Client] {
        let (four, six) = side.addresses();
        let more = if side == Side::Server { &network.names[..] } else { &[] };
        let names = [&[side.name().to_string()], more].concat().join(" ");
        hosts += &format!("{four} {names}\n{six} {names}\n");
    }
    let folder = "/tmp";
    if mount(Some("names"), folder, Some("tmpfs"), MsFlags::empty(), None::<&str>).is_err() {
        return;
    }
    for (name, text) in
        [("hosts", hosts.as_str()), ("resolv.conf", "# no name server can be reached from here\n")]
    {
        let file = format!("{folder}/{name}");
        let _ = std::fs::write(&file, text);
        let _ = mount(
            Some(file.as_str()),
            format!("/etc/{name}").as_str(),
            None::<&str>,
            MsFlags::MS_BIND,
            None::<&str>,
        );
    }
    let _ = umount2(folder, MntFlags::MNT_DETACH);
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn await_device__leaves_no_process_if_no_message_comes() {
        let (near, _far) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_NONBLOCK).unwrap();
        // SAFETY: the child only waits for its end.
        let helper = match unsafe { fork() }.unwrap() {
            ForkResult::Child => loop {
                nix::unistd::pause();
            },
            ForkResult::Parent { child } => child,
        };
        assert!(Running::await_device(Side::Client, Helper(helper), near).is_err());
        assert_eq!(waitpid(helper, Some(WaitPidFlag::WNOHANG)), Err(Errno::ECHILD));
    }
}
