//! Reduces the records of one run to the numbers that a comparison needs, so that the records can be discarded.

mod applications;
mod e_model;
mod outcome;
mod records;
mod responsiveness;
mod same_transfers;
mod times;

pub use applications::{HONEST, MISBEHAVING};
pub use e_model::Codec;
pub use outcome::PROFILE_OF_KIND;
pub use records::{Colour, Datagrams, Flow, Link, Load, Played, Probe, Records, Transfer, View};
pub use same_transfers::{NOTICED, SAME_TRANSFERS, Shares, ShortTimes, compare_short_times};

use crate::quantities::{self, Kind, OfLink, OfRun, OfTransfer, Quantity, Source, Statistic, Subject};
use crate::sizes::{Bucket, Role, cdf_times_s, curve_edges_bytes};
use crate::statistics::indices::jain_index;
use crate::statistics::sums::{mean, percentile, select_finite, sum};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use times::{Group, Times};

/// Bytes of headers per segment, for the load of a window.
pub const HEADER_BYTES: f64 = 40.0;
/// Payload of a full segment.
pub const SEGMENT_BYTES: f64 = 1460.0;
/// Equal parts of the window in which the search for a transient takes means.
pub const WINDOW_PARTS: usize = 40;

/// The numbers of one run; lists have one value per bucket unless their comment says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Transfers.
    pub count: Vec<u64>,
    /// Of those, unfinished ones.
    pub censored: Vec<u64>,
    /// Quantities of buckets by name; NaN where there are too few transfers.
    pub statistics: BTreeMap<String, Vec<f64>>,
    /// Transfers per bin of the curve.
    pub curve_count: Vec<u64>,
    /// Mean response time per bin of the curve, NaN without transfers.
    pub curve_mean_s: Vec<f64>,
    /// Share of short transfers that responded within each time of [`cdf_times_s`]; NaN without any.
    pub cdf: Vec<f64>,
    /// Quantities of schemes by name.
    pub scheme: BTreeMap<String, f64>,
    /// Packets of the loaded link by colour, in the order of its counters.
    pub colours: Vec<Colour>,
    /// How the load came about.
    pub load: Load,
    /// Figures of applications: group, name of the quantity, value.
    pub groups: Vec<(String, String, f64)>,
    /// Kinds of the groups that have one.
    pub kinds: BTreeMap<String, Kind>,
    /// Simulated time.
    pub simulated_s: f64,
    /// Wire bytes of the transfers that began in the window, over what the link carries in that time.
    pub window_load: f64,
    /// Mean response time of short transfers by the part of the window they began in; NaN without any.
    pub short_by_time: Vec<f64>,
    /// Kept until the replication has been run under every scheme; see [`compare_short_times`].
    pub short_times: Option<ShortTimes>,
    /// How the same short transfers fared, by the reference; empty where the traffic reacts to the network.
    pub shares: BTreeMap<String, Shares>,
}

impl Facts {
    /// Returns the mean of a figure over the applications of a kind that have it; NaN without any.
    pub fn average_over_kind(&self, kind: Kind, name: &str) -> f64 {
        let is_own = |group: &str| self.kinds.get(group) == Some(&kind);
        let own = self.groups.iter().filter(|(group, what, _)| what == name && is_own(group));
        mean(&select_finite(&own.map(|(_, _, value)| *value).collect::<Vec<_>>()))
    }
}

/// Returns the facts of one run: those of `table`, which are about buckets and schemes, and all
/// others. The link that counts is the first of `records.links`, and the other one is the way back.
/// `short_times` is set, and `shares` is empty.
///
/// # Panics
/// If a record has a source that `records.sources` or `records.kinds` does not have.
pub fn reduce(records: &Records, buckets: &[Bucket], table: &[Quantity]) -> Facts {
    let times = Times::new(records);
    let groups: Vec<Group> =
        buckets.iter().map(|bucket| times.select_by_size(|size| bucket.holds(size))).collect();
    let (none, every) = (Group::default(), times.select_by_size(|_| true));
    let of_class = |class: Option<Role>| match class {
        Some(role) => {
            buckets.iter().position(|bucket| bucket.role == role).map_or(&none, |index| &groups[index])
        }
        None => &every,
    };
    let short = &of_class(Some(Role::Short)).members;
    let (curve_count, curve_mean_s) = response_curve(&times);
    let of_subject = |subject: Subject| table.iter().filter(move |quantity| quantity.subject == subject);
    Facts {
        count: groups.iter().map(|own| own.members.len() as u64).collect(),
        censored: groups.iter().map(|own| times.count_unfinished(&own.members) as u64).collect(),
        statistics: of_subject(Subject::Bucket)
            .map(|quantity| {
                (
                    quantity.name(),
                    groups.iter().map(|own| reduce_bucket_quantity(quantity, &times, own)).collect(),
                )
            })
            .collect(),
        curve_count,
        curve_mean_s,
        cdf: short_cdf(&times, short),
        scheme: of_subject(Subject::Scheme)
            .map(|quantity| (quantity.name(), reduce_scheme_quantity(quantity, records, &times, &of_class)))
            .collect(),
        colours: records.links[0].colours.clone(),
        load: records.load.clone(),
        groups: applications::list_figures(records),
        kinds: applications::source_kinds(records),
        simulated_s: records.end_s,
        window_load: window_load(records),
        short_by_time: mean_short_by_part(records, &times, short),
        short_times: Some(ShortTimes::new(records, &times, short)),
        shares: BTreeMap::new(),
    }
}

/// Returns a quantity of a size bucket; NaN if it is not measured on the transfers of any bucket,
/// or the bucket has too few.
fn reduce_bucket_quantity(quantity: &Quantity, times: &Times, group: &Group) -> f64 {
    match quantity.source {
        Source::Transfers(None, what, statistic) => {
            compute_statistic(times, group, what, statistic, quantity.least)
        }
        _ => f64::NAN,
    }
}

/// Returns a quantity of a scheme in one run; NaN if it is computed elsewhere, or there are too few
/// transfers.
fn reduce_scheme_quantity<'a>(
    quantity: &Quantity,
    records: &Records,
    times: &Times,
    of_class: &dyn Fn(Option<Role>) -> &'a Group,
) -> f64 {
    match quantity.source {
        Source::Transfers(class, what, statistic) => {
            compute_statistic(times, of_class(class), what, statistic, quantity.least)
        }
        Source::OfLink(link, counter) => {
            read_counter(&records.links[usize::from(link == quantities::Link::WayBack)], counter)
        }
        Source::OfRun(OfRun::GoodputBps) => records.goodput_bps,
        Source::OfRun(OfRun::ReorderedShare) => records.reordered as f64 / records.packets.max(1) as f64,
        Source::Elsewhere => f64::NAN,
    }
}

/// Returns a statistic of a number of some transfers, NaN if fewer than `least` have it; unfinished
/// ones have no rate.
fn compute_statistic(
    times: &Times,
    group: &Group,
    what: OfTransfer,
    statistic: Statistic,
    least: u32,
) -> f64 {
    // Response times are in rising order for the mean too, so that it does not depend on the order of the records.
    let values = match what {
        OfTransfer::ResponseS => Cow::Borrowed(&group.response_s),
        _ => Cow::Owned(times.values(&group.members, what)),
    };
    if values.len() < least as usize {
        return f64::NAN;
    }
    match statistic {
        Statistic::Mean => mean(&values),
        Statistic::JainIndex => jain_index(&values),
        Statistic::Percentile(percent) => {
            let mut sorted = values;
            if !sorted.is_sorted() {
                sorted.to_mut().sort_unstable_by(f64::total_cmp);
            }
            percentile(&sorted, percent)
        }
    }
}

/// Returns a counter of a link, in the unit of the quantity.
fn read_counter(link: &Link, counter: OfLink) -> f64 {
    match counter {
        OfLink::Utilisation => link.utilisation,
        OfLink::LossShare => share_of_arrivals(link, |colour| colour.dropped),
        OfLink::MarkShare => share_of_arrivals(link, |colour| colour.marked),
        OfLink::DelayMeanS => link.delay_mean_s,
        OfLink::DelayP50S => link.delay_p50_s,
        OfLink::DelayP95S => link.delay_p95_s,
        OfLink::DelayP99S => link.delay_p99_s,
        OfLink::MeanPackets => link.mean_packets,
    }
}

/// Returns the share of the arriving packets that `happened` counts; 0 if none arrived.
fn share_of_arrivals(link: &Link, happened: impl Fn(&Colour) -> u64) -> f64 {
    let arrived: u64 = link.colours.iter().map(|colour| colour.arrived).sum();
    let happened: u64 = link.colours.iter().map(happened).sum();
    if arrived == 0 { 0.0 } else { happened as f64 / arrived as f64 }
}

/// Returns the load that the measured transfers in the direction of the payload offer to the loaded
/// link: payload, headers and SYN-ACK, without repeats. Without capacity or window it is infinite,
/// or NaN without transfers.
fn window_load(records: &Records) -> f64 {
    let wire: Vec<f64> = records
        .transfers
        .iter()
        .filter(|transfer| transfer.upload == records.is_up)
        .map(|transfer| transfer.bytes as f64)
        .map(|size| size + HEADER_BYTES * ((size / SEGMENT_BYTES).ceil() + 1.0))
        .collect();
    let link = &records.links[0];
    8.0 * sum(&wire) / (link.capacity_bps * link.window_s)
}

/// Returns the mean response time of short transfers by the part of the window in which they began,
/// s; NaN without any. Those that began outside the window count in the first or the last part.
fn mean_short_by_part(records: &Records, times: &Times, short: &[usize]) -> Vec<f64> {
    let scale = WINDOW_PARTS as f64 / (records.window_end_s - records.window_begin_s);
    let placed = short.iter().map(|&member| {
        let part = ((records.transfers[member].start_s - records.window_begin_s) * scale) as i64;
        (part.clamp(0, WINDOW_PARTS as i64 - 1) as usize, times.response_s[member])
    });
    means_by_bin(WINDOW_PARTS, placed).1
}

/// Returns count and mean response time of the transfers by size bin, which holds its upper edge
/// but not its lower one. Sizes beyond the edges belong to the first and the last bin.
fn response_curve(times: &Times) -> (Vec<u64>, Vec<f64>) {
    let edges = curve_edges_bytes();
    let bins = edges.len() - 1;
    let placed = times.bytes.iter().zip(&times.response_s).map(|(&bytes, &time)| {
        let below = edges.partition_point(|edge| *edge < bytes as f64);
        (below.saturating_sub(1).min(bins - 1), time)
    });
    means_by_bin(bins, placed)
}

/// Returns count and mean of the numbers of each bin; the mean of none is NaN.
///
/// # Panics
/// If a number is in a bin beyond `bins`.
fn means_by_bin(bins: usize, placed: impl Iterator<Item = (usize, f64)>) -> (Vec<u64>, Vec<f64>) {
    let (mut count, mut total) = (vec![0u64; bins], vec![0.0; bins]);
    for (bin, value) in placed {
        count[bin] += 1;
        total[bin] += value;
    }
    let means = total.iter().zip(&count).map(|(total, count)| total / *count as f64).collect();
    (count, means)
}

/// Returns the share of the short transfers that finished within each time of [`cdf_times_s`]; NaN without short
/// transfers.
fn short_cdf(times: &Times, short: &[usize]) -> Vec<f64> {
    let mut finished: Vec<f64> = short
        .iter()
        .filter(|&&member| times.is_finished[member])
        .map(|&member| times.response_s[member])
        .collect();
    finished.sort_by(f64::total_cmp);
    let share = |within: f64| finished.partition_point(|time| *time <= within) as f64 / short.len() as f64;
    cdf_times_s().into_iter().map(share).collect()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests;
