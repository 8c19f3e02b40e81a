//! The rows of a cell's tables, with intervals over replications.

use crate::columns::{self, Estimates, estimate_columns, serialize_finite_or_null};
use crate::comparison::{Cell, Source, Whose, log_ratio};
use crate::quantities::{self, Kind, Quantity, Subject, Table};
use crate::reduction::Facts;
use crate::sizes::{Bucket, Role, cdf_times_s, curve_edges_bytes};
use crate::statistics::intervals::{positive_interval, share_interval};
use crate::statistics::sums::{deviation, mean};
use crate::statistics::{Design, Estimate};
use serde::{Serialize, Serializer};

/// One scheme and size bucket.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BucketRow {
    /// The scheme.
    #[serde(skip)]
    pub scheme: String,
    /// Whether the scheme is the baseline.
    pub is_baseline: bool,
    /// The bucket.
    #[serde(flatten)]
    pub bucket: Bucket,
    /// Transfers, over all replications.
    pub count: u64,
    /// Of these, unfinished when the run ended; their age counts as their time.
    pub censored: u64,
    /// Their share.
    pub censored_share: f64,
    /// More than 1 % are unfinished, so that means are lower bounds.
    pub is_bound: bool,
    /// The quantities of buckets.
    #[serde(flatten, serialize_with = "columns::write_all")]
    #[cfg_attr(test, schemars(with = "columns::Columns"))]
    pub estimates: Estimates,
    /// How the mean response time changes.
    #[serde(flatten, serialize_with = "columns::write::<MeanChange, _, _>")]
    #[cfg_attr(test, schemars(with = "MeanChange"))]
    pub response_mean_change: Estimate,
}

estimate_columns! {
    /// Change of the mean response time against the baseline, by log-ratios paired by replication; −0.3 is 30 % less.
    MeanChange { response_mean_change, response_mean_change_low, response_mean_change_high }
}

/// One scheme at the bottleneck.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemeRow {
    /// The scheme.
    pub scheme: String,
    /// Whether it is the baseline.
    pub is_baseline: bool,
    /// The quantities of schemes.
    #[serde(flatten, serialize_with = "columns::write_all")]
    #[cfg_attr(test, schemars(with = "columns::Columns"))]
    pub estimates: Estimates,
}

/// Packets of one colour at the bottleneck, summed over replications; shares are null if none arrived.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColourRow {
    /// The scheme.
    #[serde(skip)]
    pub scheme: String,
    /// The colour.
    pub colour: String,
    /// What was counted.
    #[serde(flatten)]
    pub counts: PacketCounts,
    /// Share of the arriving packets that were dropped.
    pub loss_share: Option<f64>,
    /// Share of them that were marked.
    pub mark_share: Option<f64>,
}

/// What is counted of the packets of a colour.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PacketCounts {
    /// Reached the queue, or was dropped before it.
    pub arrived: u64,
    /// Dropped by the policy before the buffer was full.
    pub early: u64,
    /// Dropped because a limit of the queue was reached.
    pub forced: u64,
    /// Dropped by a policer before the queue, for exceeding the user's traffic profile.
    pub policed: u64,
    /// Marked.
    pub marked: u64,
    /// Left for transmission.
    pub sent: u64,
}

/// One bin of the response time curve, of which there are five per decade of size; bins without transfers are left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CurveRow {
    /// The scheme.
    #[serde(skip)]
    pub scheme: String,
    /// Lower edge of the bin.
    pub low_bytes: f64,
    /// Upper edge.
    pub high_bytes: f64,
    /// Transfers, over all replications.
    pub count: u64,
    /// The mean response time.
    #[serde(flatten, serialize_with = "columns::write::<BinMean, _, _>")]
    #[cfg_attr(test, schemars(with = "BinMean"))]
    pub response_mean_s: Estimate,
}

estimate_columns! {
    /// Mean response time in this bin (mean over replications).
    BinMean { response_mean_s, response_mean_low_s, response_mean_high_s }
}

/// Share of the short transfers that responded within `response_s`.
#[derive(Debug, Clone)]
pub struct CdfRow {
    /// The scheme.
    pub scheme: String,
    /// The time.
    pub response_s: f64,
    /// The share.
    pub share: Estimate,
}

/// One figure of an application (`what`, a quantity's name), and its change against the baseline.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupRow {
    /// The scheme.
    #[serde(skip)]
    pub scheme: String,
    /// Whether the scheme is the baseline.
    pub is_baseline: bool,
    /// A source of a mix, pages, misbehaving or honest senders.
    pub group: String,
    /// The kind of the application; null for others.
    pub kind: Option<Kind>,
    /// Name of the quantity.
    #[serde(serialize_with = "write_name")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub what: Quantity,
    /// Users of this kind of application feel it first.
    pub is_primary: bool,
    /// The figure.
    #[serde(flatten, serialize_with = "columns::write::<Value, _, _>")]
    #[cfg_attr(test, schemars(with = "Value"))]
    pub value: Estimate,
    /// How it changes.
    #[serde(flatten, serialize_with = "columns::write::<Change, _, _>")]
    #[cfg_attr(test, schemars(with = "Change"))]
    pub change: Estimate,
}

estimate_columns! {
    /// Mean over replications, in the unit of the quantity.
    Value { value, value_low, value_high }
}

estimate_columns! {
    /// Relative change against the baseline.
    Change { change, change_low, change_high }
}

/// Serializes a quantity as its name.
fn write_name<S: Serializer>(quantity: &Quantity, serializer: S) -> Result<S::Ok, S::Error> {
    quantity.name().serialize(serializer)
}

/// How the load of a cell came about; means over the replications of the baseline.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadRow {
    /// Load that the traffic's files, or the first trace of a mix, have by themselves.
    pub load_native: Option<f64>,
    /// Copies of them that were laid over each other.
    pub load_copies: Option<f64>,
    /// Factor by which their time was stretched.
    pub load_dilation: Option<f64>,
    /// Load that was offered by all data in the direction of the bottleneck.
    pub load_achieved: Option<f64>,
    /// Load that the transfers of a measured window offer; mean over replications.
    pub load_window: Option<f64>,
    /// Its standard deviation over replications.
    pub load_window_deviation: Option<f64>,
    /// How files are replayed, `open` or `closed`; null without files.
    #[cfg_attr(test, schemars(extend("enum" = ["closed", "open", null])))]
    pub replay: Option<String>,
}

/// What of a capture stands behind the verdicts of a cell.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceRow {
    /// Distinct short transfers in the capture.
    pub short_transfers: u64,
    /// Clients that they belong to.
    pub short_clients: u64,
    /// Distinct long transfers in the capture.
    pub long_transfers: u64,
    /// Clients that they belong to.
    pub long_clients: u64,
    /// Least number of copies in a replication.
    pub copies_least: u64,
    /// Largest number of copies in a replication.
    pub copies_most: u64,
    /// How often one copy of the capture is played within a measured window.
    pub laps: f64,
    /// Whether each replication draws the capture's clients anew.
    pub is_resampled: bool,
    /// Whether a model fitted to the capture is played in its place.
    pub is_fitted: bool,
    /// Share of the variance between replications that is between captures.
    pub capture_share: f64,
    /// Degrees of freedom for the variance between captures; null for infinitely many.
    #[serde(serialize_with = "serialize_finite_or_null")]
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub capture_freedom: f64,
}

/// Returns one row per scheme and bucket.
pub fn bucket_rows(cell: &Cell) -> Vec<BucketRow> {
    let buckets = cell.plan.buckets();
    let rows = |scheme| buckets.iter().enumerate().map(move |(index, bucket)| (scheme, index, bucket));
    cell.schemes()
        .flat_map(rows)
        .map(|(scheme, index, bucket)| bucket_row(cell, scheme, index, bucket))
        .collect()
}

/// Returns the row of a scheme and the bucket of this index. A percentile is unknown unless every
/// replication has it; the change of short transfers has the interval for all schemes.
fn bucket_row(cell: &Cell, scheme: usize, index: usize, bucket: &Bucket) -> BucketRow {
    let (baseline, design) = (cell.baseline(), cell.design());
    let transfers = cell.count_transfers(scheme, index);
    let estimate = |quantity: &Quantity| {
        let values = cell.bucket_values(scheme, index, &quantity.name());
        let is_missing = quantity.is_percentile() && !values.iter().all(|value| value.is_finite());
        let values = if is_missing { Vec::new() } else { values };
        (quantity.clone(), interval(quantity, &values, &design))
    };
    let judged = if bucket.role == Role::Short { cell.primary_design(baseline) } else { design };
    BucketRow {
        scheme: cell.name(scheme).to_owned(),
        is_baseline: scheme == baseline,
        bucket: bucket.clone(),
        count: transfers.count,
        censored: transfers.censored,
        censored_share: transfers.censored_share(),
        is_bound: transfers.is_bound(),
        estimates: cell.quantities_about(Subject::Bucket).map(estimate).collect(),
        response_mean_change: change_in_bucket(cell, scheme, baseline, index, &judged).as_change(),
    }
}

/// Returns the logarithm of the ratio of the mean response times of the bucket of this index, with
/// an interval of this design.
pub fn change_in_bucket(cell: &Cell, scheme: usize, other: usize, index: usize, design: &Design) -> Estimate {
    let [own, other] = [scheme, other].map(|scheme| cell.bucket_values(scheme, index, "response_mean_s"));
    log_ratio(&own, &other, design)
}

/// Returns one row per scheme, with the estimates of the quantities of [`Subject::Scheme`].
pub fn scheme_rows(cell: &Cell) -> Vec<SchemeRow> {
    let design = cell.design();
    let estimate = |scheme: usize, quantity: &Quantity| {
        let values = cell.read_scheme_values(scheme, &quantity.name());
        (quantity.clone(), interval(quantity, &values, &design))
    };
    let row = |scheme: usize| SchemeRow {
        scheme: cell.name(scheme).to_owned(),
        is_baseline: scheme == cell.baseline(),
        estimates: cell
            .quantities_about(Subject::Scheme)
            .map(|quantity| estimate(scheme, quantity))
            .collect(),
    };
    cell.schemes().map(row).collect()
}

/// Returns one row per scheme and colour, counts summed over replications; none for runs without
/// colours.
pub fn colour_rows(cell: &Cell) -> Vec<ColourRow> {
    let rows = |scheme: usize| {
        let colours = cell.runs[scheme].first().map_or(0, |run| run.colours.len());
        (0..colours).map(move |colour| colour_row(cell, scheme, colour))
    };
    cell.schemes().flat_map(rows).collect()
}

/// Returns the row of a scheme and the colour of this index; its shares are None if no packet arrived.
fn colour_row(cell: &Cell, scheme: usize, colour: usize) -> ColourRow {
    let runs = &cell.runs[scheme];
    let total = |name: &str| runs.iter().map(|run| run.colours[colour].count(name)).sum::<u64>();
    let share = |count: u64| match total("arrived") {
        0 => None,
        arrived => Some(count as f64 / arrived as f64),
    };
    ColourRow {
        scheme: cell.name(scheme).to_owned(),
        colour: runs[0].colours[colour].name.clone(),
        counts: PacketCounts {
            arrived: total("arrived"),
            early: total("early"),
            forced: total("forced"),
            policed: total("policed"),
            marked: total("marked"),
            sent: total("sent"),
        },
        loss_share: share(total("dropped")),
        mark_share: share(total("marked")),
    }
}

/// Returns one row per scheme and size bin that has transfers.
pub fn curve_rows(cell: &Cell) -> Vec<CurveRow> {
    let (edges, design) = (curve_edges_bytes(), cell.design());
    let row = |scheme: usize, bin: usize| {
        let runs = &cell.runs[scheme];
        let count: u64 = runs.iter().map(|run| run.curve_count[bin]).sum();
        let means: Vec<f64> = runs.iter().map(|run| run.curve_mean_s[bin]).collect();
        (count > 0).then(|| CurveRow {
            scheme: cell.name(scheme).to_owned(),
            low_bytes: edges[bin],
            high_bytes: edges[bin + 1],
            count,
            response_mean_s: positive_interval(&means, &design),
        })
    };
    let bins = 0..edges.len() - 1;
    cell.schemes().flat_map(|scheme| bins.clone().filter_map(move |bin| row(scheme, bin))).collect()
}

/// Returns the distribution of the response time of short transfers: one row per scheme and time.
pub fn cdf_rows(cell: &Cell) -> Vec<CdfRow> {
    let (times, design) = (cdf_times_s(), cell.design());
    let row = |scheme: usize, index: usize, response_s: f64| {
        let shares: Vec<f64> = cell.runs[scheme].iter().map(|run| run.cdf[index]).collect();
        let scheme = cell.name(scheme).to_owned();
        CdfRow { scheme, response_s, share: share_interval(&shares, &design) }
    };
    let rows = |scheme| times.iter().enumerate().map(move |(index, time)| row(scheme, index, *time));
    cell.schemes().flat_map(rows).collect()
}

/// Returns one row per scheme and figure of an application that any run has, what its users feel
/// first before the rest.
pub fn group_rows(cell: &Cell) -> Vec<GroupRow> {
    let figures = figures_in_order(cell);
    let rows = |scheme| figures.iter().map(move |(group, what)| group_row(cell, scheme, group, what));
    cell.schemes().flat_map(rows).collect()
}

/// Returns the row of a scheme and a figure of an application.
fn group_row(cell: &Cell, scheme: usize, group: &str, what: &Quantity) -> GroupRow {
    let (baseline, design) = (cell.baseline(), cell.design());
    let source = Source { whose: Whose::Group(group.to_owned()), quantity: what.clone() };
    let [own, base] = [scheme, baseline].map(|scheme| cell.values(&source, scheme));
    let kind = cell.runs[baseline].first().and_then(|run| run.kinds.get(group).copied());
    GroupRow {
        scheme: cell.name(scheme).to_owned(),
        is_baseline: scheme == baseline,
        group: group.to_owned(),
        kind,
        is_primary: is_felt_first(cell, group, what, kind),
        value: interval(what, &own, &design),
        change: log_ratio(&own, &base, &design).as_change(),
        what: what.clone(),
    }
}

/// Returns the figures that any run has, by group in the order of first occurrence, the first ones
/// of each kind before the rest. Names that the table lacks are left out.
fn figures_in_order(cell: &Cell) -> Vec<(String, Quantity)> {
    let runs = || cell.runs.iter().flatten();
    let (mut groups, mut figures) = (Vec::<&str>::new(), Vec::<(usize, bool, usize)>::new());
    let table: Vec<&Quantity> = cell.quantities_about(Subject::Application).collect();
    let kinds = runs().next().map(|run| &run.kinds);
    for (group, what, _) in runs().flat_map(|run| &run.groups) {
        let index = groups.iter().position(|own| own == group).unwrap_or_else(|| {
            groups.push(group);
            groups.len() - 1
        });
        let Some(number) = table.iter().position(|quantity| quantity.name() == *what) else { continue };
        let kind = kinds.and_then(|kinds| kinds.get(group).copied());
        figures.push((index, !is_felt_first(cell, group, table[number], kind), number));
    }
    figures.sort_unstable();
    figures.dedup();
    figures.into_iter().map(|(group, _, number)| (groups[group].to_owned(), table[number].clone())).collect()
}

/// Returns whether a figure is among the first of an application of a kind, or stands in for them where no run has the
/// very first; None is no known kind.
fn is_felt_first(cell: &Cell, group: &str, what: &Quantity, kind: Option<Kind>) -> bool {
    let Some(kind) = kind else { return what.tables.contains(&Table::Application) };
    let is_known = |first: &Quantity| {
        let mut figures = cell.runs.iter().flatten().flat_map(|run| &run.groups);
        figures.any(|(own, what, _)| own == group && *what == first.name())
    };
    quantities::is_felt_first(&cell.table, kind, what, is_known)
}

/// Returns how the load of a cell was reached: means over the baseline's replications.
///
/// # Panics
/// Without a run of the baseline.
pub fn load_row(cell: &Cell) -> LoadRow {
    let runs = &cell.runs[cell.baseline()];
    let mean_of = |value: &dyn Fn(&Facts) -> f64| mean(&runs.iter().map(value).collect::<Vec<_>>());
    let achieved: Vec<f64> = runs.iter().filter_map(|run| run.load.achieved).collect();
    let windows: Vec<f64> = runs.iter().map(|run| run.window_load).collect();
    LoadRow {
        load_native: runs[0].load.native,
        load_copies: Some(mean_of(&|run| run.load.copies as f64)),
        load_dilation: Some(mean_of(&|run| run.load.dilation)),
        load_achieved: (!achieved.is_empty()).then(|| mean(&achieved)),
        load_window: Some(mean(&windows)),
        load_window_deviation: (windows.len() > 1).then(|| deviation(&windows)),
        replay: runs[0].load.replay.clone(),
    }
}

/// Returns how much of a capture the verdicts of a cell rest on; None for a model.
pub fn evidence_row(cell: &Cell) -> Option<EvidenceRow> {
    let capture = cell.capture.as_ref()?;
    let loads = || cell.runs[cell.baseline()].iter().map(|run| &run.load);
    let laps: Vec<f64> = loads().map(|load| cell.laps(capture.period_s, load.dilation)).collect();
    Some(EvidenceRow {
        short_transfers: capture.short.transfers,
        short_clients: capture.short.clients,
        long_transfers: capture.long.transfers,
        long_clients: capture.long.clients,
        copies_least: loads().map(|load| load.copies).min().unwrap_or(0),
        copies_most: loads().map(|load| load.copies).max().unwrap_or(0),
        laps: mean(&laps),
        is_resampled: !capture.is_fitted && cell.plan.is_overlaid,
        is_fitted: capture.is_fitted,
        capture_share: cell.capture_share(),
        capture_freedom: capture.freedom,
    })
}

/// Returns mean and interval of a quantity: shares end at 0 and 1, anything else at 0.
pub fn interval(quantity: &Quantity, values: &[f64], design: &Design) -> Estimate {
    if quantity.unit.is_share() { share_interval(values, design) } else { positive_interval(values, design) }
}
