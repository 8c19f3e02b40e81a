//! The ideal completion time of each transfer: its completion time alone on the network.
//!
//! It is the denominator of slowdown. The path and the TCP are those of the run, but every queue is empty and no
//! buffer drops. The buffer is part of what is compared, so it must not change the denominator.
//!
//! The simple way is one simulation for each distinct pair of round-trip time and writes. It cost a third of a web
//! run. But a single write of k segments is sent exactly as the first k segments of a longer write: the sender does
//! not know where the write ends, later segments queue behind earlier ones, and nothing is lost. So each path is
//! simulated once, with its longest transfer, until that transfer has saturated the path's slowest link
//! ([`crate::engine::World::with_send_log`]). The simulation records when each segment is sent. The arrival of the last
//! segment of a shorter transfer is then arithmetic (`idle_path.rs`), whether that segment is full or not.
//! Connections with several writes are simulated one by one. The time that servers think is added to each, and where
//! servers have a CPU, the service time of an idle one.

use super::idle_path::{IdlePath, PathKey};
use super::topology::PlannedLink;
use crate::engine::send_log::{SendLog, SentPacket, SteadyState};
use crate::engine::source::{Isolated, Source};
use crate::engine::{Apps, Outcome, Setup, World};
use crate::error::Result;
use crate::flow::Class;
use crate::link::Link;
use crate::marker::Marker;
use crate::queue::{Fifo, Policy, Queue};
use crate::record::{Template, Transfer};
use crate::scenario::Plan;
use crate::tcp::profile::Opening;
use crate::tcp::{Params, Senders};
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Script, Write};
use crate::units::{Buffer, Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The inputs of an ideal completion time: the path, and the writes of the connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    path: PathKey,
    /// (pause in ns, bytes) of each write.
    writes: Vec<(u64, u64)>,
    /// Payload of a request; 0 is the profile's.
    request_bytes: u16,
}

/// Pause before a keystroke, ns: long enough for the keystroke before to be acknowledged.
const KEYSTROKE_PAUSE_NS: u64 = 1_000_000_000;

/// Ideal completion times by case and number of the write, in seconds.
type Times = BTreeMap<(Case, u32), f64>;

/// A single write: its path, its payload, and its index among the transfers.
type SingleWrite = (PathKey, u64, usize);

/// Returns the ideal completion time of each transfer of a run, in seconds, in the order of the
/// outcome's transfers; NaN for a transfer that never ends. Service times of the servers are
/// included. It runs simulations.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
pub fn compute_ideal_times(
    plan: &Plan,
    traffic: &Traffic,
    outcome: &Outcome,
    cancel: &AtomicBool,
) -> Result<Vec<f64>> {
    let transfers = &outcome.transfers;
    let mut times = time_single_writes(plan, transfers, cancel)?;
    let case = |index: usize| make_case(plan, &transfers[index], traffic, &outcome.scripts);
    let rest: Vec<usize> = (0..times.len()).filter(|&index| times[index].is_nan()).collect();
    let mut cases: Vec<Case> = rest.iter().map(|&index| case(index)).collect();
    cases.sort_unstable();
    cases.dedup();
    let simulated = simulate(plan, &cases, cancel)?;
    for index in rest {
        let case = case(index);
        // All keystrokes after the first take equally long.
        let write =
            if case.request_bytes > 0 { transfers[index].write.min(1) } else { transfers[index].write };
        times[index] = simulated.get(&(case, write)).copied().unwrap_or(f64::NAN);
    }
    for (time, transfer) in times.iter_mut().zip(transfers) {
        *time += transfer.service_ns as f64 / 1e9;
    }
    Ok(times)
}

/// Returns the ideal times of transfers that are the only write of their connection, in seconds and
/// without service times. All others, and those that need a separate simulation, are NaN; all are
/// where connections open by a one-way SYN.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
fn time_single_writes(plan: &Plan, transfers: &[Transfer], cancel: &AtomicBool) -> Result<Vec<f64>> {
    let mut times = vec![f64::NAN; transfers.len()];
    if plan.senders.first().opening == Opening::OneWaySyn {
        return Ok(times);
    }
    let single = transfers.iter().enumerate().filter(|(_, transfer)| is_single_write(plan, transfer));
    let mut writes: Vec<SingleWrite> =
        single.map(|(index, transfer)| (path_key(transfer), transfer.bytes, index)).collect();
    writes.sort_unstable();
    for on_path in writes.chunk_by(|one, next| one.0 == next.0) {
        simulate_longest(plan, on_path, &mut times, cancel)?;
    }
    Ok(times)
}

/// Simulates the longest of `writes`, which share a path and are sorted by size, and sets the times
/// of all, in seconds, at their indices in `times`. It leaves them NaN if data and acknowledgements
/// share a link, if the transfer does not end, or if a segment is sent twice, since the arithmetic
/// of an idle path does not hold then.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
fn simulate_longest(
    plan: &Plan,
    writes: &[SingleWrite],
    times: &mut [f64],
    cancel: &AtomicBool,
) -> Result<()> {
    let Some(&(path, longest, _)) = writes.last().filter(|one| IdlePath::is_disjoint(plan, one.0)) else {
        return Ok(());
    };
    let case = Case { path, writes: vec![(0, fill_segments(plan, path, longest))], request_bytes: 0 };
    let setup = make_idle_setup(plan, path.tcp, &[case], Vec::new());
    let steady = IdlePath::steady_state(plan, path);
    let outcome = World::new(setup).with_send_log(steady).run(cancel)?;
    let Some(begin) = outcome.transfers.first().map(|transfer| transfer.start) else { return Ok(()) };
    if outcome.send_log.has_repeats {
        return Ok(());
    }
    let mut completions = Completions::new(plan, path, steady, &outcome.send_log);
    for &(_, bytes, index) in writes {
        times[index] = completions.completion_time(bytes).since(begin).as_secs();
    }
    Ok(())
}

/// Completion times of ever longer transfers on one path.
struct Completions<'a> {
    params: &'a Params,
    path: IdlePath,
    /// Packets of the longest transfer that were not forwarded yet, in the order they were sent.
    sent: std::slice::Iter<'a, SentPacket>,
    steady: Option<SteadyState>,
    /// Data segments that were forwarded.
    forwarded: u64,
    /// Whether all recorded packets were forwarded, so that the rest follows back to back.
    is_steady: bool,
}

impl Completions<'_> {
    /// Returns the state before any transfer; `send_log` is that of the longest transfer on the
    /// path.
    fn new<'a>(
        plan: &'a Plan,
        path: PathKey,
        steady: Option<SteadyState>,
        send_log: &'a SendLog,
    ) -> Completions<'a> {
        let params = plan.senders.params_at(path.tcp);
        let (path, sent) = (IdlePath::for_data(plan, path), send_log.sent.iter());
        Completions { params, path, sent, steady, forwarded: 0, is_steady: false }
    }

    /// Returns when a transfer of `bytes`, at least 1, is complete, in the time of the simulation.
    /// Each call must be for at least as many bytes as the one before, since segments before the
    /// last are forwarded for good.
    fn completion_time(&mut self, bytes: u64) -> Time {
        let params = self.params;
        let last = u64::from(params.segments(bytes)) - 1;
        let remainder = (bytes - last * u64::from(params.mss) + u64::from(params.header)) as u16;
        match self.forward_until(last) {
            Some(sent) if params.whole_segments => self.path.arrival(sent.at, sent.bytes),
            Some(sent) => self.path.arrival(sent.at, remainder),
            None if params.whole_segments => self.path.arrival(Time::ZERO, self.full_segment()),
            None => self.path.arrival(Time::ZERO, remainder),
        }
    }

    /// Forwards all segments before number `last`. Returns that segment's record, or `None` if the
    /// simulation ended before it was sent; then those not recorded follow back to back.
    fn forward_until(&mut self, last: u64) -> Option<SentPacket> {
        while let Some(sent) = self.sent.as_slice().first().copied() {
            if sent.is_data && self.forwarded == last {
                return Some(sent);
            }
            self.sent.next();
            self.path.forward(sent.at, sent.bytes);
            self.forwarded += u64::from(sent.is_data);
        }
        if let (false, Some(steady)) = (self.is_steady, self.steady) {
            self.path = self.path.clone().rest_from(steady.link);
            self.is_steady = true;
        }
        let full = self.full_segment();
        self.path.forward_backlog(last - self.forwarded, full);
        self.forwarded = last;
        None
    }

    /// Returns the bytes of a full segment on the wire.
    fn full_segment(&self) -> u16 {
        (self.params.mss + self.params.header) as u16
    }
}

/// Simulates the cases one after the other on the idle network, TCP by TCP; returns the times of
/// the writes that end, in seconds.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
fn simulate(plan: &Plan, cases: &[Case], cancel: &AtomicBool) -> Result<Times> {
    let mut times = Times::new();
    for tcp in 0..plan.senders.shares().len() as u8 {
        let cases: Vec<Case> = cases.iter().filter(|case| case.path.tcp == tcp).cloned().collect();
        simulate_tcp(plan, tcp, &cases, &mut times, cancel)?;
    }
    Ok(times)
}

/// Simulates cases whose connections all use TCP `tcp`; adds the times of the writes that end to
/// `times`. Without cases nothing happens.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
fn simulate_tcp(plan: &Plan, tcp: u8, cases: &[Case], times: &mut Times, cancel: &AtomicBool) -> Result<()> {
    if cases.is_empty() {
        return Ok(());
    }
    let requests = cases.iter().map(|case| case.request_bytes).collect();
    let setup = make_idle_setup(plan, tcp, cases, requests);
    let outcome = World::new(setup).run(cancel)?;
    for transfer in outcome.transfers.iter().filter(|transfer| transfer.end != Time::NEVER) {
        let case = cases[transfer.key as usize].clone();
        times.insert((case, transfer.write), transfer.end.since(transfer.start).as_secs());
    }
    Ok(())
}

/// Returns a time by which all cases are over when they are played one after the other. It depends on their writes
/// alone, so that the simulation ends even where TCP makes no progress.
fn bound_time(plan: &Plan, cases: &[Case]) -> Time {
    let time = |case: &Case| {
        let segments = case
            .writes
            .iter()
            .map(|&(_, bytes)| u64::from(plan.senders.params_at(case.path.tcp).segments(bytes)));
        let pauses = case.writes.iter().fold(Dur::ZERO, |sum, &(pause, _)| sum + Dur(pause));
        let sending = IdlePath::longest_time(plan, case.path, segments.sum());
        sending + pauses + Isolated::PAUSE
    };
    let end = cases.iter().fold(Time::ZERO, |end, case| end + time(case));
    end.min(Time(u64::MAX - 1))
}

/// Returns the set-up of an engine that plays the cases one after the other, on the plan's network with endless
/// buffers and the TCP at index `tcp` of the plan's.
fn make_idle_setup(plan: &Plan, tcp: u8, cases: &[Case], request_bytes: Vec<u16>) -> Setup {
    let (traffic, end) = (Arc::new(make_traffic(plan, cases)), bound_time(plan, cases));
    let link = |(number, planned): (usize, &PlannedLink)| {
        let queue = Queue::Fifo(Fifo::new(Buffer::Packets(u32::MAX), Policy::DropTail));
        let mut link = Link::new(&planned.name, number as u64, planned.rate, planned.delay, queue, 0);
        link.set_wire(planned.wire);
        link.set_burst(planned.burst);
        link
    };
    let links: Vec<Link> = plan.links.iter().enumerate().map(link).collect();
    // The servers' think time is added to the times later, and covers their acknowledgements of requests.
    let own = plan.senders.params_at(tcp);
    let params = Params {
        server_think: Dur::ZERO,
        acks_requests: own.acks_requests && own.server_think == Dur::ZERO,
        ..own.clone()
    };
    Setup {
        senders: Senders::single(params),
        layout: plan.layout.clone(),
        markers: (0..links.len()).map(|_| Marker::None).collect(),
        links,
        source: Source::Isolated(Isolated::new(traffic.clone(), request_bytes)),
        apps: Apps::default(),
        bulk: None,
        servers: None,
        traffic,
        rtt: plan.own_rtt,
        window: (Time::ZERO, end),
        deadline: end,
        seed: 0,
        trace: false,
        positions: false,
        nqb: false,
        sampled: None,
        data_link: plan.data_link,
    }
}

/// Returns the path of a transfer.
fn path_key(transfer: &Transfer) -> PathKey {
    PathKey { path: transfer.path, rtt_ns: transfer.rtt_ns, upload: transfer.upload, tcp: transfer.tcp }
}

/// Returns whether the transfer is the only write of its connection, and no keystroke.
fn is_single_write(plan: &Plan, transfer: &Transfer) -> bool {
    transfer.template.is_none() && plan.find_keystroke(transfer.source).is_none()
}

/// Returns the transfer's connection with all its writes, to be played alone on its path. A
/// keystroke's case has two keystrokes, since all after the first take equally long.
fn make_case(plan: &Plan, transfer: &Transfer, traffic: &Traffic, scripts: &[Script]) -> Case {
    let path = path_key(transfer);
    if let Some((echo, request_bytes)) = plan.find_keystroke(transfer.source) {
        return Case { path, writes: vec![(0, echo), (KEYSTROKE_PAUSE_NS, echo)], request_bytes };
    }
    let listed = transfer.template.map(|template| match template {
        Template::Trace(index) => &traffic.connections[index as usize].writes[..],
        Template::Script(index) => &scripts[index as usize].writes[..],
    });
    let writes = match listed {
        Some(writes) => writes.iter().map(|write| (write.idle.0, write.bytes)).collect(),
        None if plan.senders.first().whole_segments => vec![(0, fill_segments(plan, path, transfer.bytes))],
        None => vec![(0, transfer.bytes)],
    };
    Case { path, writes, request_bytes: 0 }
}

/// Returns `bytes` rounded up to full segments.
fn fill_segments(plan: &Plan, path: PathKey, bytes: u64) -> u64 {
    bytes.next_multiple_of(u64::from(plan.senders.params_at(path.tcp).mss))
}

/// Returns the cases as traffic, with one connection for each in their order; all start at time
/// zero.
fn make_traffic(plan: &Plan, cases: &[Case]) -> Traffic {
    let connection = |case: &Case| {
        let (client, server) = plan.layout.ends(case.path.path);
        Connection {
            start: Time::ZERO,
            client,
            server,
            rtt: Some(Dur(case.path.rtt_ns)),
            duration: None,
            kind: Kind::Tcp,
            class: Class::default(),
            flow_class: None,
            upload: case.path.upload,
            server_think: Default::default(),
            writes: case.writes.iter().map(|&(idle, bytes)| Write { idle: Dur(idle), bytes }).collect(),
        }
    };
    Traffic { connections: cases.iter().map(connection).collect(), ..Traffic::default() }
}

#[cfg(test)]
#[path = "ideal_time_tests.rs"]
#[allow(non_snake_case)]
mod tests;
