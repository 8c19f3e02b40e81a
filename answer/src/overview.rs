//! Every scheme compared with drop-tail, RED and FQ-CoDel in one table, and its change by transfer size.

use crate::columns::{self, finite_or_none};
use crate::comparison::{Cell, Plan, log_ratio, mean_of_finite};
use crate::quantities::{Better, Link};
use crate::sizes::Role;
use crate::statistics::{Design, Estimate};
use crate::tables::change_in_bucket;
use serde::Serialize;

/// Schemes with which every other one is compared, with default or other parameters, if they are present.
const REFERENCES: [&str; 3] = ["droptail", "red", "fq-codel"];

/// A relative change over replications: its mean with an interval, or with the range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The mean, −0.3 is 30 % less.
    pub mean: f64,
    /// Lower end of the interval, or the smallest replication.
    pub low: f64,
    /// Upper end, or the largest replication.
    pub high: f64,
    /// False if there are too few replications for an interval.
    pub is_interval: bool,
}

/// One scheme against every reference.
#[derive(Debug, Clone)]
pub struct OverviewRow {
    /// The scheme.
    pub scheme: String,
    /// Mean of the primary quantity over replications, in its own unit.
    pub primary_mean: f64,
    /// Its change, by reference.
    pub against: Vec<(String, Change)>,
    /// Change of the mean response time of long transfers against the baseline; None for the baseline.
    pub long: Option<Change>,
    /// 95th percentile of the wait in the busier direction.
    pub queue_delay_p95_s: f64,
    /// Share of data packets that overtook another of their flow.
    pub reordered_share: f64,
}

/// Change of the mean response time of one size bucket against `reference`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeRow {
    /// The scheme.
    #[serde(skip)]
    pub scheme: String,
    /// FQ-CoDel if it is among the schemes, else the baseline.
    pub reference: String,
    /// Name of the size range.
    pub bucket: String,
    /// Transfers, over all replications.
    pub count: u64,
    /// How the mean response time changes.
    #[serde(flatten, serialize_with = "columns::write::<MeanChange, _, _>")]
    #[cfg_attr(test, schemars(with = "MeanChange"))]
    pub response_mean_change: Change,
}

/// A change of a mean response time as columns.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MeanChange {
    /// Relative change of the mean response time against the reference (mean over replications).
    response_mean_change: Option<f64>,
    /// Lower end of its 95 % interval, or the smallest replication.
    response_mean_change_low: Option<f64>,
    /// Upper end of its 95 % interval, or the largest one.
    response_mean_change_high: Option<f64>,
    /// False: too few replications for an interval.
    response_mean_change_is_interval: bool,
}

impl From<&Change> for MeanChange {
    fn from(change: &Change) -> MeanChange {
        MeanChange {
            response_mean_change: finite_or_none(change.mean),
            response_mean_change_low: finite_or_none(change.low),
            response_mean_change_high: finite_or_none(change.high),
            response_mean_change_is_interval: change.is_interval,
        }
    }
}

impl Plan {
    /// Returns the first drop-tail, RED and FQ-CoDel that are compared, and the baseline, in the
    /// order of the schemes.
    pub fn overview_references(&self) -> Vec<&str> {
        let firsts = REFERENCES.map(|name| self.find_named(name));
        let all = self.schemes.iter().map(|one| one.text.as_str());
        all.filter(|text| *text == self.baseline || firsts.contains(&Some(text))).collect()
    }

    /// Returns the reference of changes by size: FQ-CoDel if it is among the schemes, else the baseline.
    pub fn size_reference(&self) -> &str {
        self.find_named("fq-codel").unwrap_or(&self.baseline)
    }

    /// Returns the text of the first scheme of this name; None if none is compared.
    fn find_named(&self, name: &str) -> Option<&str> {
        self.schemes.iter().find(|one| one.name == name).map(|one| one.text.as_str())
    }
}

/// Returns one row per scheme: the primary endpoint against every reference, long transfers against the baseline.
pub fn overview_rows(cell: &Cell) -> Vec<OverviewRow> {
    let references = cell.plan.overview_references();
    let delay = match cell.busier_link() {
        Link::Bottleneck => "queue_delay_p95_s",
        Link::WayBack => "uplink_queue_delay_p95_s",
    };
    let against = |scheme: usize| {
        let others = references.iter().filter(move |name| **name != cell.name(scheme));
        others.map(move |name| ((*name).to_owned(), change_of_primary(cell, scheme, cell.scheme_index(name))))
    };
    let row = |scheme: usize| OverviewRow {
        scheme: cell.name(scheme).to_owned(),
        primary_mean: mean_of_finite(&cell.values(&cell.primary().source, scheme)),
        against: against(scheme).collect(),
        long: (scheme != cell.baseline()).then(|| {
            let index = cell.bucket_index(Role::Long);
            change_of_bucket(cell, scheme, cell.baseline(), index, &cell.design())
        }),
        queue_delay_p95_s: mean_of_finite(&cell.read_scheme_values(scheme, delay)),
        reordered_share: mean_of_finite(&cell.read_scheme_values(scheme, "reordered_share")),
    };
    cell.schemes().map(row).collect()
}

/// Returns one row per scheme and size bucket: the change of the mean response time against
/// [`Plan::size_reference`], that of the reference itself included.
pub fn size_rows(cell: &Cell) -> Vec<SizeRow> {
    let (reference, design) = (cell.plan.size_reference(), cell.design());
    let buckets = cell.plan.buckets();
    let sizes: Vec<_> = buckets.iter().enumerate().filter(|(_, bucket)| bucket.role == Role::Size).collect();
    let row = |scheme: usize, index: usize, name: &str| SizeRow {
        scheme: cell.name(scheme).to_owned(),
        reference: reference.to_owned(),
        bucket: name.to_owned(),
        count: cell.runs[scheme].iter().map(|run| run.count[index]).sum(),
        response_mean_change: change_of_bucket(cell, scheme, cell.scheme_index(reference), index, &design),
    };
    let rows = |scheme| sizes.iter().map(move |(index, bucket)| row(scheme, *index, &bucket.name));
    cell.schemes().flat_map(rows).collect()
}

/// Returns the change of the primary quantity, with the intervals that hold for all schemes. A share below
/// [`LEAST_SHARE`](crate::comparison::LEAST_SHARE) counts as that.
fn change_of_primary(cell: &Cell, scheme: usize, reference: usize) -> Change {
    // Where more is better, the costs are inverse values: their ratio is that of the values the other way round.
    let is_inverse = cell.primary().source.quantity.better == Better::More;
    let (own, other) = if is_inverse { (reference, scheme) } else { (scheme, reference) };
    let [own, other] = [own, other].map(|scheme| cell.primary_values(scheme));
    as_change(log_ratio(&own, &other, &cell.primary_design(reference)), &own, &other)
}

/// Returns the change of the mean response time of the bucket of this index.
fn change_of_bucket(cell: &Cell, scheme: usize, reference: usize, index: usize, design: &Design) -> Change {
    let [own, other] = [scheme, reference].map(|scheme| cell.bucket_values(scheme, index, "response_mean_s"));
    as_change(change_in_bucket(cell, scheme, reference, index, design), &own, &other)
}

/// Returns the change of a log-ratio of two columns, as a share of the other. Without an interval
/// its ends are the extremes of single replications, NaN if none has both values.
pub fn as_change(ratio: Estimate, own: &[f64], other: &[f64]) -> Change {
    let (ends, is_interval) = if ratio.has_interval() {
        (ratio, true)
    } else {
        let single =
            own.iter().zip(other).map(|(own, other)| log_ratio(&[*own], &[*other], &Design::default()).mean);
        let known: Vec<f64> = single.filter(|log| log.is_finite()).collect();
        let low = known.iter().copied().fold(f64::NAN, f64::min);
        let high = known.iter().copied().fold(f64::NAN, f64::max);
        (Estimate { low, high, ..ratio }, false)
    };
    let Estimate { mean, low, high, .. } = ends.as_change();
    Change { mean, low, high, is_interval }
}
