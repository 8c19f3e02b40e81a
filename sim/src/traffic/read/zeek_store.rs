//! Stores rows of Zeek's logs until their partners in other files are read.

use super::draft::Draft;
use super::pages::{self, Hits};
use super::{sampling, stamp};
use crate::flow::Class;
use crate::traffic::class::FlowClass;
use crate::traffic::datagrams::Datagrams;
use std::collections::{HashMap, HashSet};

/// Rows that wait for the end of all files.
#[derive(Default)]
pub struct Store {
    pub conns: Vec<Draft>,
    /// The hash of the uid of each, 0 for none; see [`hash_uid`].
    pub uids: Vec<u64>,
    /// Indices of rows other than TCP's, ascending, which quic.log may show to be QUIC; with the datagrams
    /// that they are if not, and their class.
    pub datagrams: Vec<(u32, (Datagrams, FlowClass))>,
    pub requests: Vec<HttpRow>,
    pub hints: Vec<Hint>,
    /// One entry for each request.
    hits: Hits,
    has_referrers: bool,
}

/// A row of `http.log`.
#[derive(Debug, Clone)]
pub struct HttpRow {
    /// See [`hash_uid`].
    pub uid: u64,
    pub file: u32,
    pub order: u64,
    pub at: i64,
    pub depth: u64,
    pub client: u32,
    pub server: u32,
    pub bytes: u64,
    pub flow_class: FlowClass,
    /// The page it belongs to, from 1; 0 for none.
    pub page: u32,
}

/// The protocol of a connection by `ssl.log` or `quic.log`.
#[derive(Debug, Clone, Copy)]
pub struct Hint {
    pub uid: u64,
    pub class: Option<Class>,
    pub is_quic: bool,
    pub file: u32,
}

/// Returns a hash of a uid, 0 for none. Two of five million uids share one with a probability of 7 in 10 million.
pub fn hash_uid(text: &[u8]) -> u64 {
    if stamp::is_unset(text) {
        return 0;
    }
    sampling::fold_text(text).max(1)
}

/// Returns the key of a row's connection: its hashed uid, or without one the row's position in the file.
pub fn connection_key(uid: u64, order: u64) -> u64 {
    if uid == 0 { order } else { uid }
}

/// Retains the elements at whose index `kept` is true, and all beyond its end.
fn retain_marked<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next().copied().unwrap_or(true));
}

impl Store {
    /// Adds a row of `conn.log`, to be joined with the other logs by its uid.
    pub fn add_conn(&mut self, draft: Draft, uid: u64, datagrams: Option<(Datagrams, FlowClass)>) {
        let place = self.conns.len() as u32;
        self.datagrams.extend(datagrams.map(|datagrams| (place, datagrams)));
        self.conns.push(draft);
        self.uids.push(uid);
    }

    /// Adds a request for the search for pages. Call it for each request, in the order of `requests`.
    pub fn add_hit(&mut self, client: u32, at: i64, row: u64, host: &[u8], uri: &[u8], referrer: &[u8]) {
        let uri = pages::strip_scheme(uri);
        let url = if uri.starts_with(b"/") { [host, uri].concat() } else { uri.to_vec() };
        self.has_referrers |= !stamp::is_unset(referrer);
        self.hits.add(client, at, row, &url, pages::strip_scheme(referrer));
    }

    /// Returns the number of rows of connections and requests.
    pub fn rows(&self) -> usize {
        self.conns.len() + self.requests.len()
    }

    /// Retains the rows of connections and requests for which `keeps`, of client and [`connection_key`], is true; hints
    /// stay.
    pub fn retain(&mut self, keeps: impl Fn(u32, u64) -> bool) {
        let conns = self.conns.iter().zip(&self.uids);
        let kept: Vec<bool> =
            conns.map(|(draft, &uid)| keeps(draft.client, connection_key(uid, draft.order))).collect();
        let mut new = Vec::with_capacity(kept.len());
        kept.iter().fold(0, |place, &is_kept| {
            new.push(place);
            place + u32::from(is_kept)
        });
        self.datagrams.retain_mut(|(place, _)| {
            let old = *place as usize;
            *place = new[old];
            kept[old]
        });
        retain_marked(&mut self.conns, &kept);
        retain_marked(&mut self.uids, &kept);
        let requests = self.requests.iter();
        let kept: Vec<bool> =
            requests.map(|row| keeps(row.client, connection_key(row.uid, row.order))).collect();
        retain_marked(&mut self.requests, &kept);
        self.hits.retain_in_order(&kept);
    }

    /// Adds the rows of another file, whose hosts have these numbers here; panics if one is missing.
    pub fn absorb(&mut self, other: Store, hosts: &[u32]) {
        let first = self.conns.len() as u32;
        let renumbered = |client: u32, server: u32| (hosts[client as usize], hosts[server as usize]);
        self.conns.extend(other.conns.into_iter().map(|draft| draft.with_hosts(hosts)));
        self.uids.extend(other.uids);
        self.datagrams.extend(other.datagrams.into_iter().map(|(place, flow)| (place + first, flow)));
        self.requests.extend(other.requests.into_iter().map(|row| {
            let (client, server) = renumbered(row.client, row.server);
            HttpRow { client, server, ..row }
        }));
        self.hints.extend(other.hints);
        self.hits.absorb(other.hits, hosts);
        self.has_referrers |= other.has_referrers;
    }

    /// Assigns each request to its page, if the log has referrers. `last` is the number of the last page
    /// before and after. Consumes what [`Store::add_hit`] stored.
    pub fn find_pages(&mut self, last: &mut u32) {
        let hits = std::mem::take(&mut self.hits);
        if !self.has_referrers {
            return;
        }
        let (pages, new_last) = hits.assign_pages(*last);
        *last = new_last;
        self.requests.iter_mut().zip(pages).for_each(|(row, page)| row.page = page);
    }

    /// Returns the index of the first row of `conn.log` for each uid that another log names.
    pub fn index_named_uids(&self) -> HashMap<u64, usize> {
        let named = self.requests.iter().map(|row| row.uid).chain(self.hints.iter().map(|hint| hint.uid));
        let named: HashSet<u64> = named.filter(|&uid| uid != 0).collect();
        let mut places = HashMap::new();
        if !named.is_empty() {
            let conns = self.uids.iter().enumerate().filter(|(_, uid)| named.contains(uid));
            conns.for_each(|(place, &uid)| {
                places.entry(uid).or_insert(place);
            });
        }
        places
    }

    /// Returns the indices of rows whose uid an earlier row has, ascending.
    pub fn find_repeated(&self) -> Vec<usize> {
        let maybe = self.collect_maybe_repeated();
        if maybe.is_empty() {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let again =
            self.uids.iter().enumerate().filter(|(_, uid)| maybe.contains(uid) && !seen.insert(**uid));
        again.map(|(place, _)| place).collect()
    }

    /// Returns the uids that meet an earlier one in a table of bits: those that are repeated, and at most one in 16 others.
    /// A table of all uids would take as much memory as their connections do.
    fn collect_maybe_repeated(&self) -> HashSet<u64> {
        let bits = (8 * self.uids.len() as u64).next_power_of_two().max(64);
        let mut table = vec![0u64; (bits / 64) as usize];
        let mut is_met = |uid: &&u64| {
            let bit = **uid & (bits - 1);
            let word = &mut table[(bit / 64) as usize];
            let was = *word;
            *word |= 1 << (bit % 64);
            was == *word
        };
        self.uids.iter().filter(|&&uid| uid != 0).filter(|uid| is_met(uid)).copied().collect()
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn find_repeated__are_all_later_rows_of_a_uid() {
        let mut uids: Vec<u64> = (0..5000).map(|k| hash_uid(format!("C{k}").as_bytes())).collect();
        (uids[7], uids[4000], uids[4999], uids[20], uids[21]) = (uids[6], uids[6], uids[3000], 0, 0);
        let store = Store { uids, ..Store::default() };
        assert_eq!(store.find_repeated(), [7, 4000, 4999]);
        assert!(store.collect_maybe_repeated().len() < 600);
        assert!(Store::default().find_repeated().is_empty());
    }

    #[test]
    fn hash_uid__distinguishes_uids() {
        let numbers: HashSet<u64> =
            (0..10_000).map(|k| hash_uid(format!("CzY7vCEvk7IXC{k}").as_bytes())).collect();
        assert_eq!(numbers.len(), 10_000);
        assert_ne!(hash_uid(b"a"), hash_uid(b"a\0"));
        assert_eq!(hash_uid(b"-"), 0);
    }
}
