//! How long each transfer would take alone: the denominator of slowdown.
//!
//! Alone means on the same path with the same TCP, an empty queue and a buffer that never drops: the
//! buffer belongs to what is compared, so it must not decide the measure.
//!
//! The simple way, a run for each distinct (round-trip time, writes), cost a third of a web run. But a
//! single write of k segments goes just as the first k segments of a longer one: the sender does not
//! know the end before it comes, later segments queue behind earlier ones, and nothing is lost. So for
//! each round-trip time the longest transfer is followed, until its further course is plain
//! ([`crate::engine::World::follow`]), and gives all shorter ones at once; connections of several
//! writes have runs of their own. A last segment that is not full arrives
//! earlier by the difference in transmission time. The time of an idle server comes on top of each.

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

/// The way that a transfer's data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    path: u32,
    rtt_ns: u64,
    /// Its data crosses the uplink.
    upload: bool,
}

/// What decides how long a transfer takes alone: its way, and the writes of its connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    way: Way,
    /// (pause in ns, bytes) of each write.
    writes: Vec<(u64, u64)>,
    /// Payload of a request; 0 is the profile's.
    request_bytes: u16,
}

/// Pause before a keystroke, ns: long enough for the one before to have settled.
const SECOND: u64 = 1_000_000_000;

/// Response times by case and number of the write, in seconds.
type Times = BTreeMap<(Case, u32), f64>;

/// When the longest single write of each way began, and when each of its segments had arrived.
type Courses = BTreeMap<Way, (Time, Vec<Time>)>;

/// Response time alone of each transfer, in seconds.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
pub fn times(plan: &Plan, traffic: &Traffic, outcome: &Outcome, cancel: &AtomicBool) -> Result<Vec<f64>> {
    let (transfers, scripts) = (&outcome.transfers, &outcome.scripts);
    let courses = followed(plan, transfers, cancel)?;
    let mut left: Vec<Case> = transfers
        .iter()
        .filter(|transfer| told(plan, &courses, transfer).is_none())
        .map(|transfer| case(plan, transfer, traffic, scripts))
        .collect();
    left.sort_unstable();
    left.dedup();
    let known = played(plan, &left, cancel)?;
    let own = |transfer: &Transfer| {
        let case = case(plan, transfer, traffic, scripts);
        // Keystrokes after the first are all alike.
        let write = if case.request_bytes > 0 { transfer.write.min(1) } else { transfer.write };
        known.get(&(case, write)).copied()
    };
    let time = |transfer: &Transfer| {
        let found = told(plan, &courses, transfer).or_else(|| own(transfer));
        found.unwrap_or(f64::NAN) - saved_s(plan, transfer) + transfer.service_ns as f64 / 1e9
    };
    Ok(transfers.iter().map(time).collect())
}

/// The course of the longest single write of each way.
fn followed(plan: &Plan, transfers: &[Transfer], cancel: &AtomicBool) -> Result<Courses> {
    let mut courses = Courses::new();
    if plan.params.opening == Opening::OneWaySyn {
        return Ok(courses);
    }
    let mut longest: BTreeMap<Way, u64> = BTreeMap::new();
    for transfer in transfers.iter().filter(|transfer| is_single(plan, transfer)) {
        let most = longest.entry(way(transfer)).or_default();
        *most = transfer.bytes.max(*most);
    }
    for (way, bytes) in longest {
        let case = Case { way, writes: vec![(0, full_segments(plan, bytes))], request_bytes: 0 };
        let setup = alone_setup(plan, Arc::new(traffic_of(plan, &[case])), Vec::new());
        let outcome = World::new(setup).follow(way.upload).run(cancel)?;
        let Some(transfer) = outcome.transfers.first() else { continue };
        courses.insert(way, (transfer.start, outcome.course));
    }
    Ok(courses)
}

/// What the longest of its way tells of a single write, in seconds, its last segment filled up.
fn told(plan: &Plan, courses: &Courses, transfer: &Transfer) -> Option<f64> {
    let (start, course) = courses.get(&way(transfer)).filter(|_| is_single(plan, transfer))?;
    let last = plan.params.segments(transfer.bytes) as usize - 1;
    Some(course[last].since(*start).as_secs())
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

fn way(transfer: &Transfer) -> Way {
    Way { path: transfer.path, rtt_ns: transfer.rtt_ns, upload: transfer.upload }
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
        None => vec![(0, full_segments(plan, transfer.bytes))],
    };
    Case { way, writes, request_bytes: 0 }
}

/// Bytes with the last segment filled up.
fn full_segments(plan: &Plan, bytes: u64) -> u64 {
    bytes.next_multiple_of(u64::from(plan.params.mss))
}

/// Transmission time that a last segment saves by not being full, over all links of the path, in seconds.
fn saved_s(plan: &Plan, transfer: &Transfer) -> f64 {
    if !is_single(plan, transfer) || plan.params.whole_segments {
        return 0.0;
    }
    let missing = full_segments(plan, transfer.bytes) - transfer.bytes;
    let rate = |link| plan.links[usize::from(link)].rate;
    let rates = plan.layout.rates(transfer.path, transfer.upload, rate);
    rates.map(|rate| missing as f64 * 8.0 / rate.0 as f64).sum()
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
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// What the longest transfer tells equals what a run of its own tells.
    #[test]
    fn followed__equals_played() {
        let mut scenario = Scenario::default();
        scenario.traffic.model = Some("poisson".into());
        for (rate, rtt, profile) in [
            ("200kbit", "100ms", "rfc"),
            ("3mbit", "40ms", "rfc"),
            ("10mbit", "80ms", "rfc"),
            ("10mbit", "20ms", "linux"),
            ("50mbit", "20ms", "ns2-2001"),
        ] {
            (scenario.link.rate, scenario.link.rtt) = (rate.into(), rtt.into());
            scenario.tcp.profile = profile.into();
            let plan = Plan::new(&scenario).expect("a valid scenario");
            let transfers: Vec<Transfer> =
                (1..700).step_by(7).chain([3000]).map(|segments| transfer(&plan, segments)).collect();
            let cancel = AtomicBool::new(false);
            let courses = followed(&plan, &transfers, &cancel).expect("a run");
            let cases: Vec<Case> =
                transfers.iter().map(|transfer| case(&plan, transfer, &Traffic::default(), &[])).collect();
            let own = played(&plan, &cases, &cancel).expect("a run");
            for (transfer, case) in transfers.iter().zip(cases) {
                let time = told(&plan, &courses, transfer).expect("a course");
                let expected = own[&(case, 0)];
                let bytes = transfer.bytes;
                assert!((time - expected).abs() < 1e-9, "{rate} {bytes} B: {time} s, alone {expected} s");
            }
        }
    }

    fn transfer(plan: &Plan, segments: u64) -> Transfer {
        let bytes = segments * u64::from(plan.params.mss);
        Transfer {
            path: 0,
            key: 0,
            client: 0,
            write: 0,
            bytes,
            object_bytes: bytes,
            object_key: 0,
            source: 0,
            upload: segments.is_multiple_of(2),
            cheats: false,
            start: Time::ZERO,
            first_data: Time::ZERO,
            end: Time::ZERO,
            rtt_ns: plan.rtt.0,
            retransmits: 0,
            timeouts: 0,
            is_quic: false,
            template: None,
            page: 0,
            page_transfers: 0,
            service_ns: 0,
        }
    }
}
