//! Finds which connection of a recorded traffic waited for which: the rule that distinguishes waiting from
//! concurrency.
//!
//! A connection waits for the connection of the same client that was the last to end before it started, if that was at
//! most [`SESSION_GAP`] earlier; the time between is its think time. Connections that overlap do not wait for each
//! other, but may wait for the same one. A connection that waits for none begins a session. Connections from an address of
//! several users (`sharing.rs`) do not wait. Flows of datagrams are played at their recorded times: they neither wait nor are
//! waited for.

use super::Traffic;
use super::connection::{Connection, Kind};
use super::part::Part;
use super::sharing;
use crate::error::{Error, Result};
use crate::units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A client that was idle for longer has begun a new session, which waits for nothing.
pub const SESSION_GAP: Dur = Dur::from_millis(60_000);
/// A closed loop needs the end of at least this share of the connections.
const LEAST_KNOWN_ENDS: f64 = 0.9;

/// The kind of loop in which a recorded traffic is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// Each connection starts at its recorded time.
    Open,
    /// Each connection starts its recorded think time after the end of what it waited for.
    Closed,
}

impl Loop {
    /// Returns the loop with this name, `open` or `closed`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for any other name.
    pub fn parse(field: &str, name: &str) -> Result<Loop> {
        match name {
            "open" => Ok(Loop::Open),
            "closed" => Ok(Loop::Closed),
            _ => Err(Error::choice(field, name, &["open", "closed"])),
        }
    }

    /// Returns the name that [`Loop::parse`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Loop::Open => "open",
            Loop::Closed => "closed",
        }
    }
}

/// The wait of a connection for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Index of the other connection in the traffic.
    pub parent: u32,
    /// Time from the end of the other until this one starts.
    pub think: Dur,
}

/// The wait of each connection of a part, and the connections that wait for it; all are named by their index in the
/// traffic.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    /// Index of the part's first connection.
    first: u32,
    waits: Vec<Option<Wait>>,
    /// Connections that wait, grouped by the connection they wait for.
    children: Vec<u32>,
    /// Position of each connection's first child in `children`, and the number of all children.
    first_child: Vec<u32>,
}

impl Waiting {
    /// Applies the rule to the connections of a part, which are in order of start. Nothing waits for a connection whose
    /// end is unknown.
    pub fn new<'a>(part: impl Into<Part<'a>>) -> Waiting {
        let part = part.into();
        let waits = collect_waits(part);
        let mut first_child = vec![0; waits.len() + 1];
        for wait in waits.iter().flatten() {
            first_child[(wait.parent - part.first) as usize + 1] += 1;
        }
        for place in 1..first_child.len() {
            first_child[place] += first_child[place - 1];
        }
        let mut next = first_child.clone();
        let mut children = vec![0; first_child.last().map_or(0, |&all| all as usize)];
        for (child, wait) in (part.first..).zip(&waits) {
            if let Some(wait) = wait {
                let place = &mut next[(wait.parent - part.first) as usize];
                children[*place as usize] = child;
                *place += 1;
            }
        }
        Waiting { first: part.first, waits, children, first_child }
    }

    /// Returns the wait of a connection of the part; `None` if it waits for no other. Panics for any other connection.
    pub fn wait(&self, connection: u32) -> Option<Wait> {
        self.waits[(connection - self.first) as usize]
    }

    /// Returns the connections that wait for this one of the part, in order of their recorded start. Panics for any
    /// other connection.
    pub fn children(&self, connection: u32) -> &[u32] {
        let bounds = &self.first_child[(connection - self.first) as usize..][..2];
        &self.children[bounds[0] as usize..bounds[1] as usize]
    }

    /// Returns how many connections wait for another.
    pub fn count(&self) -> u64 {
        self.children.len() as u64
    }
}

/// Returns the wait of each connection of the part in its order; `None` for one that waits for no other.
fn collect_waits(part: Part) -> Vec<Option<Wait>> {
    let mut waits = vec![None; part.connections.len()];
    visit_all_waits(part, |index, wait| waits[index as usize] = Some(wait));
    waits
}

/// Numbers of connections and addresses that the rule concerns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Connections that wait for another.
    pub waiting: u64,
    /// Addresses of several users, whose connections do not wait.
    pub shared_addresses: u64,
}

impl Extent {
    /// Counts what the rule finds in the connections of a part.
    pub fn measure<'a>(part: impl Into<Part<'a>>) -> Extent {
        let mut waiting = 0;
        let shared_addresses = visit_all_waits(part.into(), |_, _| waiting += 1);
        Extent { waiting, shared_addresses }
    }
}

/// Calls `found` with the index in the part and the wait of each connection that waits, client after client; those of
/// addresses that have several users are left out. Returns the number of such addresses.
fn visit_all_waits(part: Part, mut found: impl FnMut(u32, Wait)) -> u64 {
    let client = |place: &u32| part.connections[*place as usize].client;
    // Connections are in order of their start, and the sort is stable, so each client's stay in order.
    let is_transfer = |place: &u32| can_wait(&part.connections[*place as usize]);
    let mut by_client: Vec<u32> = (0..part.connections.len() as u32).filter(is_transfer).collect();
    by_client.sort_by_key(client);
    let addresses: Vec<&[u32]> = by_client.chunk_by(|a, b| client(a) == client(b)).collect();
    let are_shared = sharing::detect_shared_addresses(part.connections, &addresses);
    for (own, _) in addresses.iter().zip(&are_shared).filter(|(_, is_shared)| !**is_shared) {
        visit_waits(own, part, &mut found);
    }
    are_shared.into_iter().map(u64::from).sum()
}

/// Calls `found` with the index and the wait of each connection of one client that waits. `own` has the
/// indices of the client's connections in the part, in order of start.
fn visit_waits(own: &[u32], part: Part, mut found: impl FnMut(u32, Wait)) {
    let mut running: BinaryHeap<Reverse<(Time, u32)>> = BinaryHeap::new();
    let mut last_ended = None;
    for &index in own {
        let connection = &part.connections[index as usize];
        while let Some(&Reverse(ended)) = running.peek().filter(|ended| ended.0.0 <= connection.start) {
            last_ended = Some(ended);
            running.pop();
        }
        let wait = last_ended
            .map(|(end, parent)| Wait { parent: part.first + parent, think: connection.start.since(end) })
            .filter(|wait| wait.think <= SESSION_GAP);
        wait.into_iter().for_each(|wait| found(index, wait));
        if let Some(duration) = connection.duration {
            running.push(Reverse((connection.start + duration, index)));
        }
    }
}

/// Returns the number of connections whose end is known, without flows of datagrams.
pub fn count_known_ends(part: Part) -> u64 {
    let known = |connection: &&Connection| can_wait(connection) && connection.duration.is_some();
    part.connections.iter().filter(known).count() as u64
}

/// Returns whether a connection may wait for others, and others for it.
fn can_wait(connection: &Connection) -> bool {
    connection.kind != Kind::Datagrams
}

/// Returns the number of connections of a part that may wait.
fn count_transfers(part: Part) -> usize {
    part.connections.iter().filter(|connection| can_wait(connection)).count()
}

/// Returns the kind of loop in which the parts of a traffic with these numbers are replayed: the one asked for, else
/// closed if the ends of nine in ten connections are known in each part and there are any. Numbers without a part are
/// ignored.
///
/// # Errors
/// [`Error::Field`] naming `traffic.replay` if a closed loop is asked for and too few ends are known.
pub fn choose_loop(asked: Option<Loop>, traffic: &Traffic, numbers: &[u16]) -> Result<Loop> {
    let parts = numbers.iter().filter_map(|&number| traffic.part(number));
    let parts: Vec<Part> = parts.collect();
    let short =
        |part: &&Part| (count_known_ends(**part) as f64) < LEAST_KNOWN_ENDS * count_transfers(**part) as f64;
    match (asked, parts.iter().find(short)) {
        (Some(Loop::Open), _) | (None, Some(_)) => Ok(Loop::Open),
        (None, None) if parts.iter().all(|part| count_transfers(*part) == 0) => Ok(Loop::Open),
        (Some(Loop::Closed) | None, None) => Ok(Loop::Closed),
        (Some(Loop::Closed), Some(part)) => {
            let (known, all) = (count_known_ends(*part), count_transfers(*part));
            let why =
                format!("needs to know when connections ended, and the files tell it for {known} of {all}");
            Err(Error::faulty("traffic.replay", "closed", why, "open"))
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::traffic::connection::Writes;
    use proptest::prelude::*;

    /// Returns a connection of 1000 B; its end is unknown without a duration.
    fn connection(client: u32, start_ms: u64, duration_ms: Option<u64>) -> Connection {
        Connection {
            start: Time(start_ms * 1_000_000),
            client,
            server: 0,
            rtt: None,
            duration: duration_ms.map(Dur::from_millis),
            kind: Kind::Tcp,
            class: Default::default(),
            flow_class: None,
            upload: false,
            server_think: Default::default(),
            writes: Writes::single(1000),
        }
    }

    /// Returns the wait of each connection of (client, start, duration) as its parent and its think time, all
    /// in ms.
    fn find_parents(list: &[(u32, u64, Option<u64>)]) -> Vec<Option<(u32, u64)>> {
        let connections =
            list.iter().map(|&(client, start, duration)| connection(client, start, duration)).collect();
        let waiting = Waiting::new(&Traffic::from_connections(connections));
        let wait = |index| waiting.wait(index).map(|wait| (wait.parent, wait.think.0 / 1_000_000));
        (0..list.len() as u32).map(wait).collect()
    }

    #[test]
    fn waiting__index_then_objects_then_the_next_page() {
        // An index, two objects in parallel, a third when the first of them is complete, the next page.
        let page = [
            (0, 0, Some(500)),
            (0, 500, Some(300)),
            (0, 500, Some(900)),
            (0, 800, Some(100)),
            (0, 4000, Some(200)),
        ];
        assert_eq!(find_parents(&page), [None, Some((0, 0)), Some((0, 0)), Some((1, 0)), Some((2, 2600))]);
    }

    #[test]
    fn waiting__never_across_clients_nor_across_sessions() {
        assert_eq!(find_parents(&[(0, 0, Some(10)), (1, 50, Some(10))]), [None, None]);
        let gap = SESSION_GAP.0 / 1_000_000;
        assert_eq!(find_parents(&[(0, 0, Some(10)), (0, 10 + gap, Some(1))]), [None, Some((0, gap))]);
        assert_eq!(find_parents(&[(0, 0, Some(10)), (0, 11 + gap, Some(1))]), [None, None]);
    }

    #[test]
    fn waiting__nobody_waits_for_what_has_no_known_end() {
        assert_eq!(
            find_parents(&[(0, 0, None), (0, 20, Some(5)), (0, 30, None)]),
            [None, None, Some((1, 5))]
        );
    }

    /// Five users of one address, each with a page of half a second every two seconds, and a sixth at another.
    #[test]
    fn waiting__not_at_an_address_of_several_users() {
        let page = |k: u64, user: u64| (u32::from(user == 5), k * 2000 + user * 450, Some(900));
        let mut list: Vec<_> = (0..50).flat_map(|k| (0..6).map(move |user| page(k, user))).collect();
        list.sort_by_key(|one| one.1);
        let parents = find_parents(&list);
        for (one, parent) in list.iter().zip(&parents).filter(|(one, _)| one.1 >= 3000) {
            assert_eq!(parent.map(|(_, think)| think), (one.0 == 1).then_some(1100), "{one:?}");
        }
        let connections = list.iter().map(|&(client, start, took)| connection(client, start, took)).collect();
        let extent = Extent::measure(&Traffic::from_connections(connections));
        assert_eq!(extent, Extent { waiting: 49, shared_addresses: 1 });
    }

    #[test]
    fn waiting__children_are_those_who_wait() {
        let list = [(0, 0, Some(10)), (0, 20, Some(100)), (0, 30, Some(10)), (0, 130, None)];
        let connections = list.map(|(client, start, duration)| connection(client, start, duration));
        let waiting = Waiting::new(&Traffic::from_connections(connections.to_vec()));
        assert_eq!([0, 1, 2, 3].map(|index| waiting.children(index)), [&[1, 2][..], &[3], &[], &[]]);
        assert_eq!(waiting.count(), 3);
    }

    #[test]
    fn choose_loop__takes_a_closed_loop_where_ends_are_known() {
        let traffic = |known: usize| {
            let one = |k| connection(0, k as u64 * 100, (k < known).then_some(10));
            Traffic::from_connections((0..10).map(one).collect())
        };
        assert_eq!(choose_loop(None, &traffic(9), &[0]).unwrap(), Loop::Closed);
        assert_eq!(choose_loop(None, &traffic(8), &[0]).unwrap(), Loop::Open);
        assert_eq!(choose_loop(Some(Loop::Open), &traffic(10), &[0]).unwrap(), Loop::Open);
        let error = choose_loop(Some(Loop::Closed), &traffic(8), &[0]).unwrap_err().to_string();
        assert!(error.contains("traffic.replay") && error.contains("8 of 10"), "{error}");
    }

    proptest! {
        /// The rule against the definition, by trying all pairs.
        #[test]
        fn waiting__is_the_last_end_before_the_start(
            list in prop::collection::vec((0u32..3, 0u64..200, prop::option::of(0u64..80)), 1..40)
        ) {
            let connections =
                list.iter().map(|&(client, start, duration)| connection(client, start * 1000, duration.map(|s| s * 1000)));
            let traffic = Traffic::from_connections(connections.collect());
            let part = Part::from(&traffic);
            let mut waits = vec![None; traffic.connections.len()];
            for client in 0..3 {
                let own: Vec<u32> = (0..).zip(&traffic.connections).filter(|one| one.1.client == client).map(|one| one.0).collect();
                visit_waits(&own, part, |index, wait| waits[index as usize] = Some(wait));
            }
            for (index, own) in traffic.connections.iter().enumerate() {
                let ended = traffic.connections.iter().take(index).filter(|other| other.client == own.client);
                let ends = ended.filter_map(|other| Some(other.start + other.duration?));
                let last = ends.filter(|end| *end <= own.start).max();
                let think = last.map(|end| own.start.since(end)).filter(|think| *think <= SESSION_GAP);
                prop_assert_eq!(waits[index].map(|wait| wait.think), think);
                if let Some(wait) = waits[index] {
                    let parent = &traffic.connections[wait.parent as usize];
                    prop_assert!((wait.parent as usize) < index && parent.client == own.client);
                    prop_assert_eq!(Some(parent.start + parent.duration.unwrap()), last);
                }
            }
        }
    }
}
