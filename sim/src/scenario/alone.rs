//! How long each transfer would take alone: the denominator of slowdown.
//!
//! Alone means on the same path with the same TCP, an empty queue and a buffer that never drops: the
//! buffer belongs to what is compared, so it must not decide the measure.
//!
//! The simple way, a run for each distinct (round-trip time, writes), cost a third of a web run. But a
//! single write of k segments is sent just as the first k segments of a longer one: the sender does not
//! know the end before it comes, later segments queue behind earlier ones, and nothing is lost. So for
//! each way the longest transfer is followed, until its path is saturated
//! ([`crate::engine::World::until_saturated`]), and tells when the segments of all shorter ones are sent; when the last
//! one, full or not, arrives is arithmetic ([`super::empty_path`]). Connections of several
//! writes have runs of their own. The time of an idle server comes on top of each.

use super::empty_path::{EmptyPath, PathKey};
use crate::engine::send_log::{SendLog, SentPacket, SteadyState};
use crate::engine::{Outcome, World};
use crate::error::Result;
use crate::flow::Class;
use crate::record::{Template, Transfer};
use crate::scenario::Plan;
use crate::scenario::run::alone_setup;
use crate::tcp::profile::Opening;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Script, Write};
use crate::units::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What decides how long a transfer takes alone: its way, and the writes of its connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    way: PathKey,
    /// (pause in ns, bytes) of each write.
    writes: Vec<(u64, u64)>,
    /// Payload of a request; 0 is the profile's.
    request_bytes: u16,
}

/// Pause before a keystroke, ns: long enough for the one before to have settled.
const SECOND: u64 = 1_000_000_000;

/// Response times by case and number of the write, in seconds.
type Times = BTreeMap<(Case, u32), f64>;

/// A single write: its way, its payload, and its place among the transfers.
type Single = (PathKey, u64, usize);

/// Response time alone of each transfer, in seconds.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
pub fn times(plan: &Plan, traffic: &Traffic, outcome: &Outcome, cancel: &AtomicBool) -> Result<Vec<f64>> {
    let transfers = &outcome.transfers;
    let mut times = followed(plan, transfers, cancel)?;
    let case = |at: usize| case(plan, &transfers[at], traffic, &outcome.scripts);
    let left: Vec<usize> = (0..times.len()).filter(|&at| times[at].is_nan()).collect();
    let mut cases: Vec<Case> = left.iter().map(|&at| case(at)).collect();
    cases.sort_unstable();
    cases.dedup();
    let known = played(plan, &cases, cancel)?;
    for at in left {
        let case = case(at);
        // Keystrokes after the first are all alike.
        let write = if case.request_bytes > 0 { transfers[at].write.min(1) } else { transfers[at].write };
        times[at] = known.get(&(case, write)).copied().unwrap_or(f64::NAN);
    }
    for (time, transfer) in times.iter_mut().zip(transfers) {
        *time += transfer.service_ns as f64 / 1e9;
    }
    Ok(times)
}

/// What the longest single write of each way tells of all, in seconds; of the others nothing is known.
fn followed(plan: &Plan, transfers: &[Transfer], cancel: &AtomicBool) -> Result<Vec<f64>> {
    let mut times = vec![f64::NAN; transfers.len()];
    if plan.params.opening == Opening::OneWaySyn {
        return Ok(times);
    }
    let among = transfers.iter().enumerate().filter(|(_, transfer)| is_single(plan, transfer));
    let mut singles: Vec<Single> =
        among.map(|(place, transfer)| (way(transfer), transfer.bytes, place)).collect();
    singles.sort_unstable();
    for alike in singles.chunk_by(|one, next| one.0 == next.0) {
        follow(plan, alike, &mut times, cancel)?;
    }
    Ok(times)
}

/// Follows the longest of one way's writes, the last; of a way that meets itself, or where something is sent twice,
/// nothing is told.
fn follow(plan: &Plan, singles: &[Single], times: &mut [f64], cancel: &AtomicBool) -> Result<()> {
    let Some(&(way, longest, _)) = singles.last().filter(|one| EmptyPath::is_apart(plan, one.0)) else {
        return Ok(());
    };
    let case = Case { way, writes: vec![(0, full_segments(plan, longest))], request_bytes: 0 };
    let setup = alone_setup(plan, Arc::new(traffic_of(plan, &[case])), Vec::new());
    let steady = EmptyPath::steady_state(plan, way);
    let outcome = World::new(setup).until_saturated(steady).run(cancel)?;
    let Some(begin) = outcome.transfers.first().map(|transfer| transfer.start) else { return Ok(()) };
    if outcome.send_log.has_repeats {
        return Ok(());
    }
    let mut arrivals = Arrivals::new(plan, way, steady, &outcome.send_log);
    for &(_, bytes, place) in singles {
        times[place] = arrivals.of(bytes).since(begin).as_secs();
    }
    Ok(())
}

/// Arrivals of the last segments of ever longer transfers.
struct Arrivals<'a> {
    plan: &'a Plan,
    path: EmptyPath,
    sent: std::slice::Iter<'a, SentPacket>,
    steady: Option<SteadyState>,
    /// Segments of data that have passed.
    passed: u64,
    /// What was sent is through; the rest follows without a gap.
    is_steady: bool,
}

impl Arrivals<'_> {
    fn new<'a>(
        plan: &'a Plan,
        way: PathKey,
        steady: Option<SteadyState>,
        send_log: &'a SendLog,
    ) -> Arrivals<'a> {
        let (path, sent) = (EmptyPath::of_data(plan, way), send_log.sent.iter());
        Arrivals { plan, path, sent, steady, passed: 0, is_steady: false }
    }

    /// When a transfer of `bytes` is complete, which is no shorter than the one before.
    fn of(&mut self, bytes: u64) -> Time {
        let params = &self.plan.params;
        let last = u64::from(params.segments(bytes)) - 1;
        let rest = (bytes - last * u64::from(params.mss) + u64::from(params.header)) as u16;
        match self.up_to(last) {
            Some(sent) if params.whole_segments => self.path.arrival(sent.at, sent.bytes),
            Some(sent) => self.path.arrival(sent.at, rest),
            None if params.whole_segments => self.path.arrival(Time::ZERO, self.full()),
            None => self.path.arrival(Time::ZERO, rest),
        }
    }

    /// Lets all segments before `last` pass; what is known of that one's sending.
    fn up_to(&mut self, last: u64) -> Option<SentPacket> {
        while let Some(sent) = self.sent.as_slice().first().copied() {
            if sent.is_data && self.passed == last {
                return Some(sent);
            }
            self.sent.next();
            self.path.pass(sent.at, sent.bytes);
            self.passed += u64::from(sent.is_data);
        }
        if let (false, Some(steady)) = (self.is_steady, self.steady) {
            self.path = self.path.clone().from(steady.link);
            self.is_steady = true;
        }
        let full = self.full();
        self.path.pass_many(last - self.passed, full);
        self.passed = last;
        None
    }

    fn full(&self) -> u16 {
        (self.plan.params.mss + self.plan.params.header) as u16
    }
}

/// Plays the cases one after the other.
fn played(plan: &Plan, cases: &[Case], cancel: &AtomicBool) -> Result<Times> {
    let mut times = Times::new();
    if cases.is_empty() {
        return Ok(times);
    }
    let requests = cases.iter().map(|case| case.request_bytes).collect();
    let setup = alone_setup(plan, Arc::new(traffic_of(plan, cases)), requests);
    let outcome = World::new(setup).run(cancel)?;
    for transfer in outcome.transfers.iter().filter(|transfer| transfer.end != Time::NEVER) {
        let case = cases[transfer.key as usize].clone();
        times.insert((case, transfer.write), transfer.end.since(transfer.start).as_secs());
    }
    Ok(times)
}

fn way(transfer: &Transfer) -> PathKey {
    PathKey { path: transfer.path, rtt_ns: transfer.rtt_ns, upload: transfer.upload }
}

/// Whether the transfer is the only write of its connection, and no keystroke.
fn is_single(plan: &Plan, transfer: &Transfer) -> bool {
    transfer.template.is_none() && plan.keystroke_of(transfer.source).is_none()
}

fn case(plan: &Plan, transfer: &Transfer, traffic: &Traffic, scripts: &[Script]) -> Case {
    let way = way(transfer);
    if let Some((echo, request_bytes)) = plan.keystroke_of(transfer.source) {
        return Case { way, writes: vec![(0, echo), (SECOND, echo)], request_bytes };
    }
    let listed = transfer.template.map(|template| match template {
        Template::Trace(index) => &traffic.connections[index as usize].writes,
        Template::Script(index) => &scripts[index as usize].writes,
    });
    let writes = match listed {
        Some(writes) => writes.iter().map(|write| (write.idle.0, write.bytes)).collect(),
        None if plan.params.whole_segments => vec![(0, full_segments(plan, transfer.bytes))],
        None => vec![(0, transfer.bytes)],
    };
    Case { way, writes, request_bytes: 0 }
}

/// Bytes with the last segment filled up.
fn full_segments(plan: &Plan, bytes: u64) -> u64 {
    bytes.next_multiple_of(u64::from(plan.params.mss))
}

fn traffic_of(plan: &Plan, cases: &[Case]) -> Traffic {
    let connection = |case: &Case| {
        let (client, server) = plan.layout.ends(case.way.path);
        Connection {
            start: Time::ZERO,
            client,
            server,
            rtt: Some(Dur(case.way.rtt_ns)),
            kind: Kind::Tcp,
            class: Class::default(),
            upload: case.way.upload,
            writes: case.writes.iter().map(|&(idle, bytes)| Write { idle: Dur(idle), bytes }).collect(),
        }
    };
    Traffic { connections: cases.iter().map(connection).collect(), ..Traffic::default() }
}

#[cfg(test)]
#[path = "alone_tests.rs"]
#[allow(non_snake_case)]
mod tests;
