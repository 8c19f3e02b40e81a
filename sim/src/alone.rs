//! How long each transfer would take alone: the denominator of slowdown.
//!
//! Every distinct (round-trip time, writes) among the measured transfers is played once, one after the
//! other, on the same path with the same TCP and an empty drop-tail queue.

use crate::engine::World;
use crate::error::Result;
use crate::record::Transfer;
use crate::scenario::Plan;
use crate::scenario::run::alone_setup;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Write};
use crate::units::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What decides how long a transfer takes alone: its path, and its writes up to and with itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    rtt_ns: u64,
    writes: Vec<(u64, u64)>,
}

/// Response time alone of each transfer, in seconds.
///
/// # Errors
/// [`crate::error::Error::Cancelled`] after a cancel.
pub fn times(plan: &Plan, traffic: &Traffic, transfers: &[Transfer], cancel: &AtomicBool) -> Result<Vec<f64>> {
    let mut cases: BTreeMap<Case, u32> = BTreeMap::new();
    for transfer in transfers {
        let next = cases.len() as u32;
        cases.entry(case(transfer, traffic)).or_insert(next);
    }
    let mut connections = vec![None; cases.len()];
    for (case, &index) in &cases {
        connections[index as usize] = Some(connection(case));
    }
    let connections: Vec<Connection> = connections.into_iter().flatten().collect();
    let played = Arc::new(Traffic { connections, ..Traffic::default() });
    let outcome = World::new(alone_setup(plan, played)).run(cancel)?;
    let mut alone = BTreeMap::new();
    for transfer in &outcome.transfers {
        alone.insert((transfer.key, transfer.write), transfer.end.since(transfer.start).as_secs());
    }
    Ok(transfers
        .iter()
        .map(|transfer| {
            let index = u64::from(cases[&case(transfer, traffic)]);
            alone.get(&(index, transfer.write)).copied().unwrap_or(f64::NAN)
        })
        .collect())
}

fn case(transfer: &Transfer, traffic: &Traffic) -> Case {
    let writes = match transfer.template.and_then(|index| traffic.connections.get(index as usize)) {
        Some(connection) => connection.writes.iter().map(|write| (write.idle.0, write.bytes)).collect(),
        None => vec![(0, transfer.bytes)],
    };
    Case { rtt_ns: transfer.rtt_ns, writes }
}

fn connection(case: &Case) -> Connection {
    Connection {
        start: Time::ZERO,
        client: 0,
        server: 0,
        rtt: Some(Dur(case.rtt_ns)),
        kind: Kind::Tcp,
        writes: case.writes.iter().map(|&(idle, bytes)| Write { idle: Dur(idle), bytes }).collect(),
    }
}
