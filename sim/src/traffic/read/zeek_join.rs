//! Joins rows of Zeek's logs by `uid`, in any order of files and rows.
//!
//! `conn.log` has the bytes that a connection carried, headers included; `http.log` has the time of each
//! request and the size of its body; `ssl.log` and `quic.log` name the application protocol.

use super::assemble::Collector;
use super::draft::Draft;
use super::input::file_name;
use super::ledger::{Ledger, count_text, reason};
use super::requests::{self, Request};
use super::zeek_sizes::estimate_wire_sizes;
use super::zeek_store::{HttpRow, Store};
use crate::flow::Class;
use crate::traffic::connection::{Kind, Writes};
use crate::units::Dur;
use std::collections::{HashMap, HashSet};

/// Counts for the notes.
#[derive(Default)]
struct Counts {
    /// Connections that have requests and a row of `conn.log`.
    joined: u64,
    /// Connections that have requests only.
    alone: u64,
    /// Connections that have a row of `conn.log` only.
    singles: u64,
    /// Writes after the first.
    later: u64,
    /// Connections whose bodies are larger than what they carried.
    scaled: u64,
    /// Responses without a body whose headers are unknown.
    bodiless: u64,
    /// Connections whose application protocol a hint shows.
    hinted: u64,
    /// Flows of datagrams.
    datagrams: u64,
}

impl Store {
    /// Applies the protocols of `ssl.log` and `quic.log` to the connections, and drops the datagrams of those that are
    /// QUIC. `places` has the index of the connection of each uid. Counts each hint in the ledger of its file, as used
    /// or as without connection.
    fn apply_hints(&mut self, places: &HashMap<u64, usize>, ledgers: &mut [Ledger], counts: &mut Counts) {
        for hint in &self.hints {
            let ledger = &mut ledgers[hint.file as usize];
            let Some(&place) = places.get(&hint.uid) else {
                ledger.skip(reason::NO_CONNECTION, 1, 0);
                continue;
            };
            ledger.used += 1;
            let conn = &mut self.conns[place];
            counts.hinted += u64::from(hint.class.is_some() || hint.is_quic);
            conn.class = hint.class.unwrap_or(conn.class);
            let is_udp = self.datagrams.binary_search_by_key(&(place as u32), |(known, _)| *known).is_ok();
            if hint.is_quic && is_udp {
                conn.kind = Kind::Quic;
            }
        }
        let conns = &self.conns;
        self.datagrams.retain(|(place, _)| conns[*place as usize].kind != Kind::Quic);
    }
}

/// Turns the rows of Zeek's logs into connections, completes the files' accounts and adds notes. Call it once, when all
/// files are absorbed; it empties `collector.zeek`. Coarse starts are spread within their second.
pub fn join(collector: &mut Collector) {
    let mut store = std::mem::take(&mut collector.zeek);
    let mut counts = Counts::default();
    store.find_pages(&mut collector.last_page);
    let places = store.index_named_uids();
    store.apply_hints(&places, &mut collector.ledgers, &mut counts);
    let with_requests = join_requests(&mut store, &places, collector, &mut counts);
    add_conns(store, &with_requests, collector, &mut counts);
    add_notes(&counts, collector);
    let coarse = collector.ledgers.iter().filter(|ledger| {
        matches!(&*ledger.kind, "zeek-conn" | "zeek-http")
            && ledger.used > 0
            && collector.is_coarse(ledger.index)
    });
    let paths: Vec<String> = coarse.map(|ledger| ledger.path.clone()).collect();
    paths.iter().for_each(|path| collector.note_coarse(path));
}

/// Joins the requests of each uid with its row of `conn.log`, which their connection replaces, or adds a connection of
/// them to the collector. Empties `store.requests`. Returns the indices of the rows of `conn.log` with requests.
fn join_requests(
    store: &mut Store,
    places: &HashMap<u64, usize>,
    collector: &mut Collector,
    counts: &mut Counts,
) -> HashSet<usize> {
    let mut with_requests = HashSet::new();
    let mut requests = std::mem::take(&mut store.requests);
    requests.sort_unstable_by_key(|row| (row.uid, row.file, row.order));
    // A row without a uid is a separate connection.
    for group in requests.chunk_by(|a, b| a.uid == b.uid && a.uid != 0) {
        let place = places.get(&group[0].uid).copied();
        let conn = place.map(|place| &mut store.conns[place]);
        with_requests.extend(place);
        let total = conn.as_ref().map_or(0, |conn| conn.writes[0].bytes);
        let draft = draft_from_requests(group, total, conn.as_deref(), &mut collector.ledgers, counts);
        match (draft, conn) {
            (None, _) => {}
            (Some(draft), Some(conn)) => {
                counts.joined += 1;
                *conn = draft;
            }
            (Some(draft), None) => {
                counts.alone += 1;
                let draft = spread_start(draft, group[0].uid, collector);
                collector.connections.push(draft);
            }
        }
    }
    with_requests
}

/// Returns the connection of these requests, at least one, with the properties of its row `conn`; `None` if they carry
/// nothing. `total` is the number of bytes in conn.log, 0 if it is unknown. Each request counts in its file's ledger.
fn draft_from_requests(
    group: &[HttpRow],
    total: u64,
    conn: Option<&Draft>,
    ledgers: &mut [Ledger],
    counts: &mut Counts,
) -> Option<Draft> {
    let bodies: Vec<u64> = group.iter().map(|row| row.bytes).collect();
    let sizes = estimate_wire_sizes(&bodies, total);
    counts.scaled += u64::from(total > 0 && bodies.iter().sum::<u64>() > total);
    let mut requests = Vec::new();
    for (row, bytes) in group.iter().zip(sizes) {
        let ledger = &mut ledgers[row.file as usize];
        if bytes == 0 {
            counts.bodiless += u64::from(conn.is_none());
            ledger.skip(reason::NO_PAYLOAD, 1, 0);
            continue;
        }
        ledger.used += 1;
        requests.push(Request { at: row.at, depth: row.depth, busy: Dur::ZERO, bytes, page: row.page });
    }
    if requests.is_empty() {
        return None;
    }
    let writes = requests::to_writes(&mut requests);
    counts.later += writes.len() as u64 - 1;
    let first = group.iter().min_by_key(|row| (row.at, row.depth))?;
    let largest = group.iter().max_by_key(|row| row.bytes)?;
    let start = conn.map_or(first.at, |conn| conn.start.min(first.at));
    let duration = conn.and_then(|conn| {
        let duration: Option<Dur> = conn.duration.into();
        Some(duration? + Dur(conn.start.saturating_sub(start) as u64))
    });
    Some(Draft {
        start,
        file: conn.map_or(first.file, |conn| conn.file),
        order: conn.map_or(first.order, |conn| conn.order),
        rows: 1,
        client: conn.map_or(first.client, |conn| conn.client),
        server: conn.map_or(first.server, |conn| conn.server),
        rtt: conn.map_or(None.into(), |conn| conn.rtt),
        duration: duration.into(),
        kind: conn.map_or(Kind::Tcp, |conn| conn.kind),
        // Requests of http.log are web traffic on any port.
        class: Class::Web,
        flow_class: largest.flow_class,
        server_think: Default::default(),
        writes: writes.into(),
        pages: requests::find_pages(&requests),
    })
}

/// Adds the rows of `conn.log` with payload or datagrams to the collector's connections; `with_requests` has the
/// indices of those with requests. Counts each row in its file's ledger; a repeated uid is skipped.
fn add_conns(store: Store, with_requests: &HashSet<usize>, collector: &mut Collector, counts: &mut Counts) {
    let repeated = store.find_repeated();
    let Store { mut conns, uids, datagrams, .. } = store;
    let mut datagrams = datagrams.into_iter().peekable();
    let mut place = 0;
    conns.retain_mut(|conn| {
        let here = place;
        place += 1;
        let ledger = &mut collector.ledgers[conn.file as usize];
        let flow = datagrams.next_if(|(place, _)| *place as usize == here).map(|(_, flow)| flow);
        let bytes: u64 = conn.writes.iter().map(|write| write.bytes).sum();
        let why = match bytes {
            _ if repeated.binary_search(&here).is_ok() => Some(reason::REPEATED_UID),
            0 if flow.is_none() => Some(reason::NO_PAYLOAD),
            _ => None,
        };
        if let Some(why) = why {
            ledger.skip(why, 1, bytes);
            return false;
        }
        ledger.used += 1;
        match flow {
            None => counts.singles += u64::from(!with_requests.contains(&here)),
            Some((flow, flow_class)) => {
                counts.datagrams += 1;
                conn.duration = Some(flow.duration()).into();
                conn.flow_class = flow_class;
                (conn.kind, conn.writes, conn.pages) = (Kind::Datagrams, Writes::from_datagrams(flow), None);
            }
        }
        conn.start += draw_shift(conn, uids[here], collector);
        true
    });
    match collector.connections.is_empty() {
        true => collector.connections = conns,
        false => collector.connections.append(&mut conns),
    }
}

/// Delays the start of a connection within its second, if its file's stamps are whole seconds.
fn spread_start(mut draft: Draft, uid: u64, collector: &Collector) -> Draft {
    draft.start += draw_shift(&draft, uid, collector);
    draft
}

/// Draws the shift of a connection within its second, ns; 0 if the file has finer stamps. A uid is shifted as
/// a whole, so that the gaps between its requests stay.
fn draw_shift(draft: &Draft, uid: u64, collector: &Collector) -> i64 {
    let file = draft.file as usize;
    let entity = if uid == 0 { draft.order } else { 1 << 39 | uid >> 25 };
    if collector.is_coarse(file) { collector.draw_within_second(file, entity) } else { 0 }
}

/// Adds the notes on the join of several logs.
fn add_notes(counts: &Counts, collector: &mut Collector) {
    if counts.joined > 0 {
        collector.note_choice(format!(
            "the requests of {} of conn.log are from http.log, one write per request; bytes are those of conn.log, \
             headers included",
            count_text(counts.joined, "connection")
        ));
    }
    if counts.alone > 0 {
        let files = list_names(collector, "zeek-http");
        collector.note_choice(format!(
            "{files}: {} known from http.log only, grouped by uid",
            count_text(counts.alone, "connection")
        ));
    }
    if counts.bodiless > 0 {
        let files = list_names(collector, "zeek-http");
        collector.note_choice(format!(
            "{files}: left out: {} without a body; with conn.log the headers would be known",
            count_text(counts.bodiless, "response")
        ));
    }
    if counts.scaled > 0 {
        collector.note_choice(format!(
            "the bodies of {} in http.log exceed the bytes in conn.log (Zeek counts them decompressed), \
             so they are scaled to those",
            count_text(counts.scaled, "connection")
        ));
    }
    if counts.later > 0 {
        collector.note_choice(
            "pauses between requests of http.log are the gaps between their time stamps; they include the response before"
                .to_string(),
        );
    }
    if counts.hinted > 0 {
        let hinted = count_text(counts.hinted, "connection");
        collector.note_choice(format!("ssl.log and quic.log name the protocol of {hinted}"));
    }
    if counts.datagrams > 0 {
        let files = list_names(collector, "zeek-conn");
        collector.note_choice(format!(
            "{files}: {} flows of UDP and other protocols are packets of equal length at equal distances: conn.log has \
             their sums only",
            counts.datagrams
        ));
    }
    if counts.singles > 0 {
        let files = list_names(collector, "zeek-conn");
        collector.note_choice(format!(
            "{files}: one write per connection for {}: conn.log does not record pauses",
            count_text(counts.singles, "connection")
        ));
    }
}

/// Lists the names of the files of a kind, without folders and separated by commas, for a note.
fn list_names(collector: &Collector, kind: &str) -> String {
    let of_kind = collector.ledgers.iter().filter(|ledger| ledger.kind == kind);
    of_kind.map(|ledger| file_name(&ledger.path)).collect::<Vec<_>>().join(", ")
}
