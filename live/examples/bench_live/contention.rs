//! Measures the cost of waiting for locks: threads run one program at once on one set of maps.
//!
//! A thread stands for a CPU's packets. If there are more threads than CPUs, they take turns, and
//! as many run at once as there are CPUs. They have real-time priority for these three seconds:
//! threads that wait for other processes would seldom meet, and one that is interrupted holds its
//! lock for long.

use crate::common::frame::build_flow_frame;
use crate::common::{Config, Context, Harness, params, time_runs};
use mousehole_live::kernel::monotonic_ns;
use mousehole_live::layout::KEEP_DSCP;
use mousehole_policy::Params;
use std::io;
use std::sync::Barrier;
use std::thread;

const THREADS: [u32; 3] = [1, 2, 8];
const REPEAT: u32 = 50_000;
const MEASUREMENTS: usize = 20;

/// Prints the cost of a packet for each number of threads, and how many packets passed without a
/// decision because a lock stayed taken. The thread has real-time priority meanwhile.
///
/// # Panics
/// Without the right to set priorities or to load programs.
pub(crate) fn measure() {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    set_scheduling(libc::SCHED_RR, 1);
    println!(
        "Threads at once on one set of maps, {cpus} CPUs\n{:<34}{:>8}{:>8}{:>12}{:>12}",
        "", "threads", "ns", "Mpackets/s", "undecided"
    );
    let sfd = || params("sfd", &[]);
    for (name, program, policies, is_one_flow) in [
        ("marker sfd, a flow each", "sfd-none-none", vec![sfd()], false),
        ("marker sfd, all one flow", "sfd-none-none", vec![sfd()], true),
        (
            "sfd with multi-red, a flow each",
            "sfd-none-multi_red",
            vec![sfd(), params("multi-red", &[])],
            false,
        ),
    ] {
        for threads in THREADS {
            let (ns, packets_a_second, undecided) = measure_threads(program, &policies, threads, is_one_flow);
            println!("{name:<34}{threads:>8}{ns:>8.0}{:>12.2}{undecided:>12}", packets_a_second / 1e6);
        }
    }
    println!();
    set_scheduling(libc::SCHED_OTHER, 0);
}

/// Sets the scheduling policy and priority of this thread and of those that it starts from now on.
///
/// # Panics
/// If the kernel refuses.
fn set_scheduling(policy: libc::c_int, priority: libc::c_int) {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the struct is valid for the call.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// Runs a program in several threads at once on one set of maps. Returns the median ns of a packet
/// as the kernel counts it, without the time of other threads; the packets per second of all
/// threads together; and how many packets passed without a decision.
fn measure_threads(program: &str, policies: &[Params], threads: u32, is_one_flow: bool) -> (f64, f64, u64) {
    let mut config = Config::new(policies).with_dscp([KEEP_DSCP, 1, 1]);
    if !program.ends_with("-none") {
        config = config.with_fifo(100_000_000_000, 14, 0, 1000, 0);
    }
    let harness = Harness::load_built_in(program, 1024, &config);
    let (descriptor, barrier) = (harness.program(), Barrier::new(threads as usize));
    let measure = &|thread: u32| {
        let frame = build_flow_frame(if is_one_flow { 0 } else { thread });
        let mut taken = Vec::new();
        barrier.wait();
        for _ in 0..MEASUREMENTS {
            taken.push(f64::from(time_runs(descriptor, &frame, Context::default(), REPEAT)));
        }
        taken
    };
    let begin_ns = monotonic_ns();
    let mut taken: Vec<f64> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || measure(thread))).collect();
        running.into_iter().flat_map(|one| one.join().expect("a thread does not panic")).collect()
    });
    let packets = f64::from(threads) * f64::from(REPEAT) * MEASUREMENTS as f64;
    let packets_a_second = packets / ((monotonic_ns() - begin_ns) as f64 / 1e9);
    taken.sort_unstable_by(f64::total_cmp);
    (taken[taken.len() / 2], packets_a_second, harness.counters().lock_busy)
}
