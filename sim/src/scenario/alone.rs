//! How long each transfer would take alone: the denominator of slowdown.
//!
//! Alone means on the same path with the same TCP, an empty queue and a buffer that never drops: the
//! buffer belongs to what is compared, so it must not decide the measure.
//!
//! The simple way, a run for each distinct (round-trip time, writes), cost a third of a web run. But a
//! single write of k segments goes just as the first k segments of a longer one: the sender does not
//! know the end before it comes, later segments queue behind earlier ones, and nothing is lost. So for
//! each round-trip time the longest transfer is followed, and gives all shorter ones at once;
//! connections of several writes have runs of their own. A last segment that is not full arrives
//! earlier by the difference in transmission time.

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

/// What decides how long a transfer takes alone: its path, and the writes of its connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    rtt_ns: u64,
    /// (pause in ns, bytes) of each write.
    writes: Vec<(u64, u64)>,
}

/// Response times by case and number of the write, in seconds.
type Times = BTreeMap<(Case, u32), f64>;

/// Response time alone of each transfer, in seconds.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
pub fn times(plan: &Plan, traffic: &Traffic, outcome: &Outcome, cancel: &AtomicBool) -> Result<Vec<f64>> {
    let transfers = &outcome.transfers;
    let cases: Vec<Case> =
        transfers.iter().map(|transfer| case(plan, transfer, traffic, &outcome.scripts)).collect();
    let mut known = followed(plan, &cases, cancel)?;
    let mut left: Vec<&Case> =
        cases.iter().filter(|case| !known.contains_key(&((*case).clone(), 0))).collect();
    left.sort_unstable();
    left.dedup();
    played(plan, &left, &mut known, cancel)?;
    let time = |(transfer, case): (&Transfer, &Case)| {
        let found = known.get(&(case.clone(), transfer.write)).copied();
        found.unwrap_or(f64::NAN) - saved_s(plan, transfer) + transfer.service_ns as f64 / 1e9
    };
    Ok(transfers.iter().zip(&cases).map(time).collect())
}

/// Times of single writes that the longest of their round-trip time tells.
fn followed(plan: &Plan, cases: &[Case], cancel: &AtomicBool) -> Result<Times> {
    let mut times = Times::new();
    if plan.params.opening == Opening::OneWaySyn {
        return Ok(times);
    }
    let mut by_rtt: BTreeMap<u64, Vec<&Case>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.writes.len() == 1) {
        by_rtt.entry(case.rtt_ns).or_default().push(case);
    }
    for same_path in by_rtt.values() {
        let Some(longest) = same_path.iter().max_by_key(|case| case.writes[0].1) else { continue };
        let outcome = World::new(alone_setup(plan, Arc::new(traffic_of(&[longest])))).follow().run(cancel)?;
        let Some(transfer) = outcome.transfers.first() else { continue };
        for case in same_path {
            let last = plan.params.segments(case.writes[0].1) as usize - 1;
            let response = outcome.course[last].since(transfer.start).as_secs();
            times.insert(((*case).clone(), 0), response);
        }
    }
    Ok(times)
}

/// Plays the cases one after the other.
fn played(plan: &Plan, cases: &[&Case], times: &mut Times, cancel: &AtomicBool) -> Result<()> {
    if cases.is_empty() {
        return Ok(());
    }
    let outcome = World::new(alone_setup(plan, Arc::new(traffic_of(cases)))).run(cancel)?;
    for transfer in outcome.transfers.iter().filter(|transfer| transfer.end != Time::NEVER) {
        let case = cases[transfer.key as usize].clone();
        times.insert((case, transfer.write), transfer.end.since(transfer.start).as_secs());
    }
    Ok(())
}

fn case(plan: &Plan, transfer: &Transfer, traffic: &Traffic, scripts: &[Script]) -> Case {
    let listed = transfer.template.map(|template| match template {
        Template::Trace(index) => &traffic.connections[index as usize].writes,
        Template::Script(index) => &scripts[index as usize].writes,
    });
    let writes = match listed {
        Some(writes) => writes.iter().map(|write| (write.idle.0, write.bytes)).collect(),
        None => vec![(0, full_segments(plan, transfer.bytes))],
    };
    Case { rtt_ns: transfer.rtt_ns, writes }
}

/// Bytes with the last segment filled up.
fn full_segments(plan: &Plan, bytes: u64) -> u64 {
    bytes.next_multiple_of(u64::from(plan.params.mss))
}

/// Transmission time that a last segment saves by not being full, over all links of the path, in seconds.
fn saved_s(plan: &Plan, transfer: &Transfer) -> f64 {
    if transfer.template.is_some() || plan.params.whole_segments {
        return 0.0;
    }
    let missing = full_segments(plan, transfer.bytes) - transfer.bytes;
    let rates = plan.layout.rates(plan.rate, plan.access_link.map(|(rate, _)| rate));
    rates.map(|rate| missing as f64 * 8.0 / rate.0 as f64).sum()
}

fn traffic_of(cases: &[&Case]) -> Traffic {
    let connection = |case: &&Case| Connection {
        start: Time::ZERO,
        client: 0,
        server: 0,
        rtt: Some(Dur(case.rtt_ns)),
        kind: Kind::Tcp,
        class: Class::default(),
        writes: case.writes.iter().map(|&(idle, bytes)| Write { idle: Dur(idle), bytes }).collect(),
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
        for (rate, rtt, profile) in
            [("3mbit", "40ms", "rfc"), ("10mbit", "80ms", "rfc"), ("50mbit", "20ms", "ns2-2001")]
        {
            (scenario.link.rate, scenario.link.rtt) = (rate.into(), rtt.into());
            scenario.tcp.profile = profile.into();
            let plan = Plan::new(&scenario).expect("a valid scenario");
            let mss = u64::from(plan.params.mss);
            let case = |segments: u64| Case { rtt_ns: plan.rtt.0, writes: vec![(0, segments * mss)] };
            let cases: Vec<Case> = (1..700).step_by(7).chain([3000]).map(case).collect();
            let cancel = AtomicBool::new(false);
            let known = followed(&plan, &cases, &cancel).expect("a run");
            assert_eq!(known.len(), cases.len());
            let mut own = Times::new();
            played(&plan, &cases.iter().collect::<Vec<_>>(), &mut own, &cancel).expect("a run");
            for (case, time) in &known {
                let expected = own[case];
                assert!(
                    (time - expected).abs() < 1e-9,
                    "{rate} {:?}: {time} s, alone {expected} s",
                    case.0.writes
                );
            }
        }
    }
}
