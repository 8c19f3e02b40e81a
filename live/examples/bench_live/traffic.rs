//! Sends real packets of many flows through a device, in a network namespace of this thread.

use super::{Row, print_table, shuffle};
use mousehole_live::bpf;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::Command;

/// Rounds of a measurement; in each round every program is measured once.
pub(crate) const ROUNDS: usize = 11;
/// The device by which packets leave.
const DEVICE: &str = "bench0";
/// Payload of a packet, bytes.
const PAYLOAD: usize = 972;

/// A namespace with a device whose other end discards packets, since they are for another host. It
/// ends with the process.
pub(crate) struct Wire {
    socket: UdpSocket,
    index: u32,
}

impl Wire {
    /// Creates the namespace and its devices; this thread stays in it.
    ///
    /// # Errors
    /// A sentence when it cannot be created, as without root or ip.
    pub(crate) fn new() -> Result<Wire, String> {
        // SAFETY: the call changes this thread's namespace only.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(format!("a network namespace cannot be made: {}", io::Error::last_os_error()));
        }
        for line in [
            "link add bench0 type veth peer name bench1",
            "link set bench0 up",
            "link set bench1 up",
            "address add 10.99.0.1/24 dev bench0",
            "route add 198.18.0.0/15 via 10.99.0.2 dev bench0",
            "neighbor add 10.99.0.2 lladdr 02:00:00:00:00:99 dev bench0 nud permanent",
        ] {
            run_command("ip", line)?;
        }
        let socket = UdpSocket::bind("10.99.0.1:4000").map_err(|error| error.to_string())?;
        // SAFETY: the name ends in a zero byte.
        let index = unsafe { libc::if_nametoindex(c"bench0".as_ptr()) };
        Ok(Wire { socket, index })
    }

    /// Sends one packet of each of these flows, of which there must be one. Returns the ns of this
    /// thread's CPU time per packet, which include the device's other end.
    ///
    /// # Errors
    /// The system's reason.
    pub(crate) fn send(&self, flows: impl ExactSizeIterator<Item = u32>) -> Result<f64, String> {
        let (payload, count) = ([0; PAYLOAD], flows.len());
        let begin = read_cpu_ns();
        for flow in flows {
            let to = (Ipv4Addr::from(0xc612_0000 | flow >> 8), 1024 + (flow & 0xff) as u16);
            self.socket.send_to(&payload, to).map_err(|error| error.to_string())?;
        }
        Ok((read_cpu_ns() - begin) as f64 / count as f64)
    }

    /// Attaches a program to the device until the link is dropped.
    ///
    /// # Errors
    /// A sentence when the kernel refuses, as before 6.6.
    pub(crate) fn attach(&self, program: BorrowedFd) -> Result<OwnedFd, String> {
        bpf::create_link(program, self.index).map_err(|error| {
            format!("the kernel attaches no program to {DEVICE} as tcx (it can from 6.6 on): {error}")
        })
    }
}

/// Runs a command, whose words are separated by single blanks, and waits for it.
///
/// # Errors
/// A sentence with its standard error, or that it does not run.
pub(crate) fn run_command(program: &str, words: &str) -> Result<(), String> {
    let done = Command::new(program).args(words.split(' ')).output();
    let done = done.map_err(|error| format!("{program} does not run: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("{program} {words}: {}", String::from_utf8_lossy(&done.stderr).trim())),
    }
}

/// Returns this thread's CPU time, ns.
fn read_cpu_ns() -> u64 {
    // SAFETY: the call fills the struct.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Returns the kernel's statistics of a program: its run time, ns, and how often it ran.
///
/// # Errors
/// The kernel's reason.
fn read_run_time(program: BorrowedFd) -> Result<(u64, u64), String> {
    let info = bpf::program_info(program).map_err(|error| error.to_string())?;
    Ok((info.run_time_ns, info.run_cnt))
}

/// Measures the programs with real packets, each of another flow, and prints the table. Replaces
/// the rows' measurements, and moves this thread into a new network namespace.
///
/// # Errors
/// A sentence when the kernel lacks something, or the program did not see all packets.
pub(crate) fn measure(rows: &mut [Row], flows: u32) -> Result<(), String> {
    let wire = Wire::new()?;
    // The counting ends with the descriptor.
    let _counting = bpf::enable_run_time_statistics().map_err(|error| {
        format!("the kernel does not count the time of programs (it can from 5.8 on): {error}")
    })?;
    rows.iter_mut().for_each(|row| row.taken.clear());
    let order: Vec<u32> = (0..flows).map(shuffle).collect();
    for _ in 0..ROUNDS {
        for row in rows.iter_mut() {
            let program = row.harness.program();
            let _link = wire.attach(program)?;
            wire.send(order.iter().copied())?;
            let before = read_run_time(program)?;
            wire.send(order.iter().copied())?;
            let after = read_run_time(program)?;
            if after.1 - before.1 < u64::from(flows) {
                return Err(format!("the program ran {} times for {flows} packets", after.1 - before.1));
            }
            row.taken.push((after.0 - before.0) as f64 / (after.1 - before.1) as f64);
        }
    }
    print_table(&format!("{flows} flows of a socket through a device, by bpf_stats"), rows);
    Ok(())
}
