//! Figures of one run by application: sources, pages, misbehaving senders, calls, long-lived flows.
//!
//! Every figure is one number per run, addressed by group and name, so that a comparison can treat all in the same way.

use super::{Records, Transfer};
use crate::statistics::sums::mean;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Group of the misbehaving senders.
pub const CHEATING: &str = "cheating";
/// Group of the honest senders with objects as large as theirs.
pub const HONEST: &str = "honest, as large";
const SMALLER: &str = "honest, smaller";
const PAGES: &str = "pages";

type Figures = Vec<(String, String, f64)>;

/// An object of a source: its pieces are one, from the first start to the last end.
struct Object {
    source: usize,
    misbehaves: bool,
    bytes: u64,
    start_s: f64,
    end_s: f64,
}

/// Returns the figures of one run, without those that do not apply.
pub fn figures(records: &Records) -> Figures {
    let mut all = Vec::new();
    of_transfers(records, &mut all);
    of_datagrams(records, &mut all);
    for (source, flows) in grouped(records.flows.iter(), |flow| flow.source) {
        let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
        put(&mut all, &records.sources[source], "goodput_bps", mean(&rates));
    }
    all
}

fn of_transfers(records: &Records, all: &mut Figures) {
    let transfers = &records.transfers;
    let misbehave = transfers.iter().any(|transfer| transfer.misbehaves);
    let several = transfers.iter().any(|transfer| transfer.source != transfers[0].source);
    let objects = if several || misbehave { objects(records) } else { Vec::new() };
    let by_source = grouped(objects.iter(), |object| object.source);
    if by_source.len() > 1 {
        for (source, own) in &by_source {
            put(all, &records.sources[*source], "response_mean_s", mean_response_s(own.iter().copied()));
        }
    }
    of_pages(records, all);
    if misbehave {
        of_misbehaving(&objects, all);
    }
}

fn objects(records: &Records) -> Vec<Object> {
    grouped(records.transfers.iter(), |transfer| (transfer.object_key, transfer.write))
        .into_iter()
        .map(|(_, pieces)| {
            let (start_s, end_s) = span_s(&pieces, records.end_s);
            let first = pieces[0];
            Object {
                source: first.source,
                misbehaves: first.misbehaves,
                bytes: first.object_bytes,
                start_s,
                end_s,
            }
        })
        .collect()
}

/// Adds the mean time from first start to last end, of pages all of whose transfers were measured.
///
/// The pieces in which a misbehaving sender sends an object count as one transfer of the page.
fn of_pages(records: &Records, all: &mut Figures) {
    let with_page = records.transfers.iter().filter(|transfer| transfer.page > 0);
    let (mut times, mut several) = (Vec::new(), false);
    for (_, own) in grouped(with_page, |transfer| transfer.page) {
        let whole = |transfer: &&Transfer| {
            (if transfer.misbehaves { transfer.object_key } else { transfer.key }, transfer.write)
        };
        let measured = own.iter().map(whole).collect::<HashSet<_>>().len();
        let wanted = usize::from(own[0].page_transfers);
        if measured == wanted {
            let (start_s, end_s) = span_s(&own, records.end_s);
            times.push(end_s - start_s);
            several |= wanted > 1;
        }
    }
    if several {
        put(all, PAGES, "page_mean_s", mean(&times));
    }
}

/// Adds the figures of misbehaving senders, and of honest ones with objects as large as theirs.
fn of_misbehaving(objects: &[Object], all: &mut Figures) {
    let least = objects.iter().filter(|object| object.misbehaves).map(|object| object.bytes).min();
    let least = least.unwrap_or(u64::MAX);
    let honest = || objects.iter().filter(|object| !object.misbehaves);
    let name = "response_mean_s";
    put(all, CHEATING, name, mean_response_s(objects.iter().filter(|object| object.misbehaves)));
    put(all, HONEST, name, mean_response_s(honest().filter(|object| object.bytes >= least)));
    put(all, SMALLER, name, mean_response_s(honest().filter(|object| object.bytes < least)));
}

fn of_datagrams(records: &Records, all: &mut Figures) {
    for (source, flows) in grouped(records.datagrams.iter(), |flow| flow.source) {
        let delays: Vec<f64> = flows.iter().filter_map(|flow| flow.delay_p95_s).collect();
        let sent: u64 = flows.iter().map(|flow| flow.sent).sum();
        let lost: u64 = flows.iter().map(|flow| flow.lost).sum();
        let name = &records.sources[source];
        put(all, name, "delay_p95_s", mean(&delays));
        put(all, name, "loss_share", if sent == 0 { f64::NAN } else { lost as f64 / sent as f64 });
    }
}

/// Returns the groups of items by key, in the order in which the keys first occur.
fn grouped<'a, T, K: Eq + Hash + Copy>(
    items: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let own = key(item);
        let place = *places.entry(own).or_insert_with(|| {
            groups.push((own, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}

fn span_s(pieces: &[&Transfer], ended_s: f64) -> (f64, f64) {
    let start = pieces.iter().map(|piece| piece.start_s).fold(f64::INFINITY, f64::min);
    let end = pieces.iter().map(|piece| piece.end_s.unwrap_or(ended_s)).fold(f64::NEG_INFINITY, f64::max);
    (start, end)
}

fn mean_response_s<'a>(objects: impl Iterator<Item = &'a Object>) -> f64 {
    mean(&objects.map(|object| object.end_s - object.start_s).collect::<Vec<_>>())
}

/// Sets a figure, in place of one of the same group and name.
fn put(all: &mut Figures, group: &str, what: &str, value: f64) {
    match all.iter_mut().find(|(known, name, _)| known == group && name == what) {
        Some(entry) => entry.2 = value,
        None => all.push((group.to_owned(), what.to_owned(), value)),
    }
}
