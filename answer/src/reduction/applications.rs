//! Figures of one run by application: sources, pages, misbehaving senders, calls, long-lived flows.
//!
//! Every figure is one number per run, addressed by group and name, so that a comparison can treat all in the same way.

use super::e_model::{opinion_score, rating};
use super::outcome::{find_needs, quality_of_flow};
use super::responsiveness::compute_responsiveness;
use super::{Datagrams, Played, Records, Transfer};
use crate::quantities::Kind;
use crate::statistics::sums::{mean, percentile};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// Group of the misbehaving senders.
pub const MISBEHAVING: &str = "misbehaving";
/// Group of the honest senders with objects as large as theirs.
pub const HONEST: &str = "honest, as large";
const SMALLER: &str = "honest, smaller";
const PAGES: &str = "pages";

/// Echoes from which on their 95th percentile is given.
const FEWEST_FOR_P95: usize = 20;

type Figures = Vec<(String, String, f64)>;

/// An object of a source: its pieces are one, from the first start to the last end.
struct Object {
    source: usize,
    misbehaves: bool,
    bytes: u64,
    start_s: f64,
    end_s: f64,
}

/// Returns the figures of one run: group, name of the figure and value. Those that do not apply are
/// left out, and those without values are NaN.
///
/// # Panics
/// If a record has a source that `records.sources` or `records.kinds` does not have.
pub fn list_figures(records: &Records) -> Figures {
    let mut all = Vec::new();
    add_transfers(records, &mut all);
    add_logins(records, &mut all);
    add_datagrams(records, &mut all);
    add_views(records, &mut all);
    add_probes(records, &mut all);
    for (source, flows) in group_by_key(records.flows.iter(), |flow| flow.source) {
        let rates: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
        set_figure(&mut all, &records.sources[source], "goodput_bps", mean(&rates));
    }
    all
}

/// Returns the kinds of the groups that are sources of a known kind.
pub fn source_kinds(records: &Records) -> BTreeMap<String, Kind> {
    let known = records.sources.iter().zip(&records.kinds);
    known.filter_map(|(name, kind)| Some((name.clone(), (*kind)?))).collect()
}

/// Adds the figures of transfers: mean response times by source if several sources have transfers,
/// pages, and misbehaving senders if there are any.
fn add_transfers(records: &Records, all: &mut Figures) {
    let transfers = &records.transfers;
    let misbehave = transfers.iter().any(|transfer| transfer.misbehaves);
    let several = transfers.iter().any(|transfer| transfer.source != transfers[0].source);
    let objects = if several || misbehave { collect_objects(records) } else { Vec::new() };
    let by_source = group_by_key(objects.iter(), |object| object.source);
    if by_source.len() > 1 {
        for (source, own) in &by_source {
            set_figure(
                all,
                &records.sources[*source],
                "response_mean_s",
                mean_response_s(own.iter().copied()),
            );
        }
    }
    add_pages(records, all);
    if misbehave {
        add_misbehaving(&objects, all);
    }
}

/// Returns the objects of the transfers, in the order in which their first pieces are recorded.
/// Source, size and misbehaviour are those of the first piece; an unfinished piece ends with the
/// run.
fn collect_objects(records: &Records) -> Vec<Object> {
    group_by_key(records.transfers.iter(), |transfer| (transfer.object_key, transfer.write))
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

/// Adds the mean time from first start to last end, of pages all of whose transfers were measured;
/// adds nothing if each of these has a single transfer.
///
/// The pieces in which a misbehaving sender sends an object count as one transfer of the page.
fn add_pages(records: &Records, all: &mut Figures) {
    let with_page = records.transfers.iter().filter(|transfer| transfer.page > 0);
    let (mut times, mut several) = (Vec::new(), false);
    for (_, own) in group_by_key(with_page, |transfer| transfer.page) {
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
        set_figure(all, PAGES, "page_mean_s", mean(&times));
    }
}

/// Adds the mean response times of misbehaving senders, of honest ones with objects at least as
/// large as their smallest, and of honest ones with smaller objects; NaN for those that have no
/// objects.
fn add_misbehaving(objects: &[Object], all: &mut Figures) {
    let least = objects.iter().filter(|object| object.misbehaves).map(|object| object.bytes).min();
    let least = least.unwrap_or(u64::MAX);
    let honest = || objects.iter().filter(|object| !object.misbehaves);
    let name = "response_mean_s";
    set_figure(all, MISBEHAVING, name, mean_response_s(objects.iter().filter(|object| object.misbehaves)));
    set_figure(all, HONEST, name, mean_response_s(honest().filter(|object| object.bytes >= least)));
    set_figure(all, SMALLER, name, mean_response_s(honest().filter(|object| object.bytes < least)));
}

/// Adds mean and 95th percentile of the echo times of remote logins; an unfinished echo has its age
/// at the end of the run. The percentile is NaN for fewer than twenty echoes.
fn add_logins(records: &Records, all: &mut Figures) {
    let is_login = |transfer: &&Transfer| records.kinds[transfer.source] == Some(Kind::Logins);
    let echoes = records.transfers.iter().filter(is_login);
    for (source, own) in group_by_key(echoes, |transfer| transfer.source) {
        let time = |echo: &&Transfer| echo.end_s.unwrap_or(records.end_s) - echo.start_s;
        let mut times: Vec<f64> = own.iter().map(time).collect();
        times.sort_unstable_by(f64::total_cmp);
        set_figure(all, &records.sources[source], "echo_mean_s", mean(&times));
        let is_enough = times.len() >= FEWEST_FOR_P95;
        let p95 = if is_enough { percentile(&times, 95.0) } else { f64::NAN };
        set_figure(all, &records.sources[source], "echo_p95_s", p95);
    }
}

/// Adds the figures of datagrams. Delays and jitter are means over those flows of an application
/// that have them, so that each flow counts as much as another; shares are of all its packets, and
/// the quality of outcome is the mean over flows that sent something, where the application has
/// needs. Figures of sound and frames follow.
fn add_datagrams(records: &Records, all: &mut Figures) {
    for (source, flows) in group_by_key(records.datagrams.iter(), |flow| flow.source) {
        let name = &records.sources[source];
        let mean_of = |number: fn(&Datagrams) -> Option<f64>| {
            mean(&flows.iter().filter_map(|flow| number(flow)).collect::<Vec<_>>())
        };
        let sum_of = |count: fn(&Datagrams) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>();
        set_figure(all, name, "delay_p50_s", mean_of(|flow| flow.delay_p50_s));
        set_figure(all, name, "delay_p95_s", mean_of(|flow| flow.delay_p95_s));
        set_figure(all, name, "delay_p99_s", mean_of(|flow| flow.delay_p99_s));
        set_figure(all, name, "loss_share", share(sum_of(|flow| flow.lost), sum_of(|flow| flow.sent)));
        set_figure(all, name, "late_share", share(sum_of(|flow| flow.late), sum_of(|flow| flow.received)));
        set_figure(all, name, "jitter_s", mean_of(|flow| flow.jitter_s));
        add_sound(&flows, name, all);
        add_frames(&flows, name, all);
        let quality =
            |needs| flows.iter().filter_map(|flow| quality_of_flow(&needs, flow)).collect::<Vec<_>>();
        if let Some(qualities) = find_needs(records, source).map(quality).filter(|found| !found.is_empty()) {
            set_figure(all, name, "outcome_quality", mean(&qualities));
        }
    }
}

/// Adds rating and opinion score of calls, means over their directions; a direction in which nobody
/// spoke has none. Adds nothing if there are no such directions.
fn add_sound(flows: &[&Datagrams], name: &str, all: &mut Figures) {
    let rated = |flow: &&Datagrams| match flow.played {
        Played::Sound { codec, mouth_to_ear_s, packets, missing, gaps } => {
            let delay_s = mouth_to_ear_s.unwrap_or(f64::NAN);
            (packets > 0).then(|| rating(codec, delay_s, packets, missing, gaps))
        }
        _ => None,
    };
    let ratings: Vec<f64> = flows.iter().filter_map(rated).collect();
    if !ratings.is_empty() {
        let scores: Vec<f64> = ratings.iter().map(|rating| opinion_score(*rating)).collect();
        set_figure(all, name, "mos", mean(&scores));
        set_figure(all, name, "rating", mean(&ratings));
    }
}

/// Adds what is missing of videos and how often they freeze per minute of video, over all of their
/// flows. Adds nothing if these sent no frames.
fn add_frames(flows: &[&Datagrams], name: &str, all: &mut Figures) {
    let (mut sent, mut late_or_lost, mut frozen, mut total_s) = (0, 0, 0, 0.0);
    for flow in flows {
        if let Played::Frames { frames, missing, freezes, length_s } = flow.played {
            (sent, late_or_lost) = (sent + frames, late_or_lost + missing);
            (frozen, total_s) = (frozen + freezes, total_s + length_s);
        }
    }
    if sent > 0 {
        set_figure(all, name, "frames_missed_share", share(late_or_lost, sent));
        set_figure(all, name, "freezes_per_minute", frozen as f64 / (total_s / 60.0));
    }
}

/// Adds what viewers of streams saw: means over all videos and segments, and the share of the time
/// of all; NaN where there is nothing to divide by.
fn add_views(records: &Records, all: &mut Figures) {
    for (source, views) in group_by_key(records.views.iter(), |view| view.source) {
        let name = &records.sources[source];
        let ratio = |over: f64, under: f64| if under > 0.0 { over / under } else { f64::NAN };
        let starts: u64 = views.iter().map(|view| view.starts).sum();
        let segments: u64 = views.iter().map(|view| view.segments).sum();
        let stalled_s: f64 = views.iter().map(|view| view.stalled_s).sum();
        let played_s: f64 = views.iter().map(|view| view.played_s).sum();
        set_figure(
            all,
            name,
            "startup_mean_s",
            ratio(views.iter().map(|view| view.startup_s).sum(), starts as f64),
        );
        set_figure(all, name, "rebuffering_share", ratio(stalled_s, stalled_s + played_s));
        set_figure(
            all,
            name,
            "video_rate_bps",
            ratio(views.iter().map(|view| view.rate_bps).sum(), segments as f64),
        );
    }
}

/// Adds what tests of responsiveness show, each source by the probes of all its testers; NaN for a
/// part without probes.
fn add_probes(records: &Records, all: &mut Figures) {
    for (source, probes) in group_by_key(records.probes.iter(), |probe| probe.source) {
        let (name, found) = (&records.sources[source], compute_responsiveness(&probes));
        set_figure(all, name, "round_trips_per_minute", found.both);
        set_figure(all, name, "foreign_round_trips_per_minute", found.foreign);
        set_figure(all, name, "self_round_trips_per_minute", found.own);
    }
}

/// Returns `part` over `whole`; NaN for a whole of zero.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

/// Returns the groups of items by key, in the order in which the keys first occur.
fn group_by_key<'a, T, K: Eq + Hash + Copy>(
    items: impl Iterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut indices: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let own = key(item);
        let index = *indices.entry(own).or_insert_with(|| {
            groups.push((own, Vec::new()));
            groups.len() - 1
        });
        groups[index].1.push(item);
    }
    groups
}

/// Returns the first start and the last end of some pieces, in seconds; an unfinished one ends at
/// `ended_s`. Without pieces they are +∞ and −∞.
fn span_s(pieces: &[&Transfer], ended_s: f64) -> (f64, f64) {
    let start = pieces.iter().map(|piece| piece.start_s).fold(f64::INFINITY, f64::min);
    let end = pieces.iter().map(|piece| piece.end_s.unwrap_or(ended_s)).fold(f64::NEG_INFINITY, f64::max);
    (start, end)
}

/// Returns the mean time from start to end of some objects, in seconds; NaN without objects.
fn mean_response_s<'a>(objects: impl Iterator<Item = &'a Object>) -> f64 {
    mean(&objects.map(|object| object.end_s - object.start_s).collect::<Vec<_>>())
}

/// Sets a figure: in place of one of the same group and name, else at the end of the list.
fn set_figure(all: &mut Figures, group: &str, what: &str, value: f64) {
    match all.iter_mut().find(|(known, name, _)| known == group && name == what) {
        Some(entry) => entry.2 = value,
        None => all.push((group.to_owned(), what.to_owned(), value)),
    }
}
