//! Joins rows of `http.log` with rows of `conn.log` by `uid`, in any order of files and rows.

use super::assemble::{Collector, Draft, Names, base};
use super::ledger::{Ledger, reason};
use super::pages::{self, Hits};
use super::requests::{self, Request};
use super::stamp;
use super::zeek::Row;
use crate::flow::Class;
use crate::traffic::connection::{Kind, Write};
use crate::units::Dur;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Rows that wait for the end of all files.
#[derive(Default)]
pub struct Store {
    uids: Names,
    pub conns: Vec<ConnRow>,
    pub requests: Vec<HttpRow>,
    /// One entry for each request.
    hits: Hits,
    has_referrers: bool,
}

/// A row of `conn.log`.
#[derive(Debug, Clone)]
pub struct ConnRow {
    pub file: usize,
    pub order: u64,
    pub at: i64,
    pub uid: Option<u32>,
    pub client: u32,
    pub server: u32,
    pub rtt: Option<Dur>,
    pub duration: Option<Dur>,
    pub kind: Kind,
    pub class: Class,
    pub bytes: u64,
}

/// A row of `http.log`.
#[derive(Debug, Clone)]
pub struct HttpRow {
    pub file: usize,
    pub order: u64,
    pub at: i64,
    pub uid: Option<u32>,
    pub depth: u64,
    pub client: u32,
    pub server: u32,
    pub bytes: u64,
    /// The page it belongs to, from 1; 0 for none.
    pub page: u32,
}

impl Store {
    /// Remembers a request for the search for pages.
    pub fn saw(&mut self, client: u32, at: i64, row: &Row) {
        let uri = pages::without_scheme(row.uri);
        let url = if uri.starts_with(b"/") { [row.host, uri].concat() } else { uri.to_vec() };
        self.has_referrers |= !stamp::unset(row.referrer);
        self.hits.add(client, at, &url, pages::without_scheme(row.referrer));
    }

    /// Assigns each request to its page, if the log has referrers.
    fn find_pages(&mut self, last: &mut u32) {
        if !self.has_referrers {
            return;
        }
        let (pages, new_last) = self.hits.pages(*last);
        *last = new_last;
        self.requests.iter_mut().zip(pages).for_each(|(row, page)| row.page = page);
    }

    /// Returns the number of a uid, a new one for a new uid; `None` when the row has none.
    pub fn uid(&mut self, text: &[u8]) -> Option<u32> {
        (!stamp::unset(text)).then(|| self.uids.id(text))
    }
}

/// Turns the collected rows into connections and closes the files' accounts.
pub fn join(collector: &mut Collector) {
    let mut store = std::mem::take(&mut collector.zeek);
    store.find_pages(&mut collector.last_page);
    let conn_of_uid = first_of_each_uid(&store.conns);
    let mut with_requests = HashSet::new();
    let (mut joined, mut alone, mut later) = (0u64, 0u64, 0u64);
    for group in group(store.requests).into_values() {
        let conn = group[0].uid.and_then(|uid| conn_of_uid.get(&uid)).map(|&place| &store.conns[place]);
        with_requests.extend(group[0].uid);
        if let Some(draft) = from_requests(&group, conn, &mut collector.ledgers) {
            later += draft.writes.len() as u64 - 1;
            *(if conn.is_some() { &mut joined } else { &mut alone }) += 1;
            push(draft, group[0].uid, collector);
        }
    }
    let singles = add_singles(&store.conns, &conn_of_uid, &with_requests, collector);
    note(joined, alone, singles, later, collector);
}

fn first_of_each_uid(conns: &[ConnRow]) -> HashMap<u32, usize> {
    let mut places = HashMap::new();
    for (place, conn) in conns.iter().enumerate() {
        if let Some(uid) = conn.uid {
            places.entry(uid).or_insert(place);
        }
    }
    places
}

/// Groups requests by uid; a row without a uid is a group of its own.
fn group(requests: Vec<HttpRow>) -> BTreeMap<(u64, u64), Vec<HttpRow>> {
    let mut groups: BTreeMap<(u64, u64), Vec<HttpRow>> = BTreeMap::new();
    for row in requests {
        let key =
            row.uid.map_or((u64::from(u32::MAX) + 1 + row.file as u64, row.order), |uid| (u64::from(uid), 0));
        groups.entry(key).or_default().push(row);
    }
    groups
}

fn from_requests(group: &[HttpRow], conn: Option<&ConnRow>, ledgers: &mut [Ledger]) -> Option<Draft> {
    for row in group {
        match row.bytes {
            0 => ledgers[row.file].skip(reason::NO_PAYLOAD, 1, 0),
            _ => ledgers[row.file].used += 1,
        }
    }
    let loaded = group.iter().filter(|row| row.bytes > 0);
    let mut requests: Vec<Request> = loaded
        .map(|row| Request {
            at: row.at,
            depth: row.depth,
            busy: Dur::ZERO,
            bytes: row.bytes,
            page: row.page,
        })
        .collect();
    if requests.is_empty() {
        conn.iter().for_each(|conn| ledgers[conn.file].skip(reason::NO_PAYLOAD, 1, 0));
        return None;
    }
    let writes = requests::writes(&mut requests);
    let first = group.iter().min_by_key(|row| (row.at, row.depth))?;
    conn.iter().for_each(|conn| ledgers[conn.file].used += 1);
    let start = conn.map_or(first.at, |conn| conn.at.min(first.at));
    Some(Draft {
        start,
        file: conn.map_or(first.file, |conn| conn.file),
        order: conn.map_or(first.order, |conn| conn.order),
        client: conn.map_or(first.client, |conn| conn.client),
        server: conn.map_or(first.server, |conn| conn.server),
        rtt: conn.and_then(|conn| conn.rtt),
        duration: conn.and_then(|conn| Some(conn.duration? + Dur((conn.at - start) as u64))),
        kind: conn.map_or(Kind::Tcp, |conn| conn.kind),
        // Requests of http.log are web traffic on any port.
        class: Class::Web,
        writes,
        pages: requests.iter().map(|request| request.page).collect(),
    })
}

fn add_singles(
    conns: &[ConnRow],
    conn_of_uid: &HashMap<u32, usize>,
    with_requests: &HashSet<u32>,
    collector: &mut Collector,
) -> u64 {
    let mut singles = 0;
    for (place, conn) in conns.iter().enumerate() {
        let is_first = conn.uid.is_none_or(|uid| conn_of_uid[&uid] == place);
        if is_first && conn.uid.is_some_and(|uid| with_requests.contains(&uid)) {
            continue;
        }
        let ledger = &mut collector.ledgers[conn.file];
        match (is_first, conn.bytes) {
            (false, bytes) => ledger.skip(reason::REPEATED_UID, 1, bytes),
            (true, 0) => ledger.skip(reason::NO_PAYLOAD, 1, 0),
            (true, _) => {
                ledger.used += 1;
                singles += 1;
                push(single(conn), conn.uid, collector);
            }
        }
    }
    singles
}

fn single(conn: &ConnRow) -> Draft {
    Draft {
        start: conn.at,
        file: conn.file,
        order: conn.order,
        client: conn.client,
        server: conn.server,
        rtt: conn.rtt,
        duration: conn.duration,
        kind: conn.kind,
        class: conn.class,
        writes: vec![Write { idle: Dur::ZERO, bytes: conn.bytes }],
        pages: Vec::new(),
    }
}

/// Adds a connection. A uid is shifted as a whole within its second, so that the gaps between its requests
/// stay.
fn push(mut draft: Draft, uid: Option<u32>, collector: &mut Collector) {
    if collector.is_coarse(draft.file) {
        let entity = uid.map_or(draft.order, |uid| 1 << 39 | u64::from(uid));
        draft.start += collector.within_second(draft.file, entity);
        let path = collector.ledgers[draft.file].path.clone();
        collector.note_coarse(&path);
    }
    collector.connections.push(draft);
}

fn note(joined: u64, alone: u64, singles: u64, later: u64, collector: &mut Collector) {
    if joined > 0 {
        collector.note(format!(
            "{joined} connections of conn.log have their requests from http.log, one write per request"
        ));
    }
    if alone > 0 {
        let files = names_of(collector, "zeek-http");
        collector.note(format!("{files}: {alone} connections known from http.log only, grouped by uid"));
    }
    if later > 0 {
        collector.note(
            "pauses between requests of http.log are the gaps between their time stamps; they include the response before"
                .to_string(),
        );
    }
    if singles > 0 {
        let files = names_of(collector, "zeek-conn");
        collector.note(format!(
            "{files}: one write per connection for {singles} connections: conn.log does not tell pauses"
        ));
    }
}

fn names_of(collector: &Collector, kind: &str) -> String {
    let of_kind = collector.ledgers.iter().filter(|ledger| ledger.kind == kind);
    of_kind.map(|ledger| base(&ledger.path)).collect::<Vec<_>>().join(", ")
}
