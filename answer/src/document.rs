//! The JSON document of a comparison (docs/json.md): its types and how they are filled.
//!
//! A number that is not known is null.

use crate::advice::{Outcome, advise};
use crate::comparison::Cell;
use crate::findings::Finding;
use crate::judged::Judged;
use crate::notes::notes;
use crate::overview::{SizeRow, size_rows};
use crate::quantities::Kind;
use crate::reduction::{Colour, Facts, Load, Shares};
use crate::setting::{Installation, Setting};
use crate::sizes::Role;
use crate::statistics::Estimate;
use crate::tables::{
    BucketRow, ColourRow, CurveRow, Estimates, EvidenceRow, GroupRow, LoadRow, SchemeRow, bucket_rows,
    colour_rows, curve_rows, evidence_row, group_rows, load_row, scheme_rows,
};
use crate::verdicts;
use crate::vetoes::Veto;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Columns of numbers by name.
pub type Columns = BTreeMap<String, Option<f64>>;

/// One point of the grid of --buffer and --load.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellEntry {
    /// As given.
    pub buffer: String,
    /// As given; null means the load that the traffic has by itself.
    pub load: Option<f64>,
    /// How the load came about.
    #[serde(flatten)]
    pub offered: LoadRow,
    /// Time before the measured window.
    pub warmup_s: f64,
    /// Time until the link is near its steady state, as far as sizes and load tell; null if not known.
    pub warmup_needed_s: Option<f64>,
    /// What of a capture stands behind the verdicts; null if a model draws traffic.
    pub evidence: Option<EvidenceRow>,
    /// The schemes, the baseline first.
    pub schemes: Vec<SchemeEntry>,
    /// Every scheme against every reference on every endpoint.
    pub findings: Vec<FindingEntry>,
    /// Remarks: where no difference can be expected, and where parameters do not fit.
    pub notes: Vec<String>,
    /// The answer.
    pub advice: AdviceEntry,
}

/// One scheme in one cell.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemeEntry {
    /// The scheme.
    pub scheme: String,
    /// Whether it is the baseline.
    pub is_baseline: bool,
    /// The quantities of schemes.
    #[serde(flatten)]
    pub estimates: Columns,
    /// Mean response time of short transfers in each replication.
    pub short_response_mean_per_replication_s: Vec<Option<f64>>,
    /// The same of long transfers.
    pub long_response_mean_per_replication_s: Vec<Option<f64>>,
    /// By size bucket.
    pub buckets: Vec<BucketEntry>,
    /// Changes by size.
    pub by_size: Vec<SizeEntry>,
    /// Packets at the bottleneck.
    pub colours: Vec<ColourEntry>,
    /// Response time by size.
    pub curve: Vec<CurveEntry>,
    /// Applications.
    pub groups: Vec<GroupEntry>,
}

/// One scheme and size bucket.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BucketEntry {
    /// Whether the scheme is the baseline.
    pub is_baseline: bool,
    /// Name of the size range.
    pub bucket: String,
    /// size: one of the ranges that divide all transfers; the others are summaries.
    pub role: Role,
    /// The transfers have more than this.
    pub low_bytes: u64,
    /// At most this; null: any.
    pub high_bytes: Option<u64>,
    /// Transfers, over all replications.
    pub count: u64,
    /// Of these, unfinished when the run ended; their age counts as their time.
    pub censored: u64,
    /// Their share.
    pub censored_share: f64,
    /// More than 1 % are unfinished, so that means are lower bounds.
    pub is_bound: bool,
    /// The quantities of buckets.
    #[serde(flatten)]
    pub estimates: Columns,
    /// Change of the mean response time against the baseline, by log-ratios paired by replication; −0.3 is 30 % less.
    pub response_mean_change: Option<f64>,
    /// Lower end of its 95 % interval.
    pub response_mean_change_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub response_mean_change_high: Option<f64>,
}

/// Change of the mean response time of one size bucket against `reference`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeEntry {
    /// FQ-CoDel if it is among the schemes, else the baseline.
    pub reference: String,
    /// Name of the size range.
    pub bucket: String,
    /// Transfers, over all replications.
    pub count: u64,
    /// Relative change of the mean response time against the reference (mean over replications).
    pub response_mean_change: Option<f64>,
    /// Lower end of its 95 % interval, or the smallest replication.
    pub response_mean_change_low: Option<f64>,
    /// Upper end of its 95 % interval, or the largest one.
    pub response_mean_change_high: Option<f64>,
    /// False: too few replications for an interval.
    pub response_mean_change_is_interval: bool,
}

/// Packets of one colour at the bottleneck, summed over replications; shares are null if none arrived.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColourEntry {
    /// The colour.
    pub colour: String,
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
    /// Share of the arriving packets that were dropped.
    pub loss_share: Option<f64>,
    /// Share of them that were marked.
    pub mark_share: Option<f64>,
}

/// One bin of the response time curve, of which there are five per decade of size.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CurveEntry {
    /// Lower edge of the bin.
    pub low_bytes: f64,
    /// Upper edge.
    pub high_bytes: f64,
    /// Transfers, over all replications.
    pub count: u64,
    /// Mean response time in this bin (mean over replications).
    pub response_mean_s: Option<f64>,
    /// Lower end of its 95 % interval.
    pub response_mean_low_s: Option<f64>,
    /// Upper end of its 95 % interval.
    pub response_mean_high_s: Option<f64>,
}

/// One figure of an application (`what`, a quantity's name), and its change against the baseline.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupEntry {
    /// Whether the scheme is the baseline.
    pub is_baseline: bool,
    /// A source of a mix, pages, misbehaving or honest senders.
    pub group: String,
    /// The kind of the application; null for others.
    pub kind: Option<Kind>,
    /// Name of the quantity.
    pub what: String,
    /// Users of this kind of application feel it first.
    pub is_primary: bool,
    /// Mean over replications, in the unit of the quantity.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval.
    pub value_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub value_high: Option<f64>,
    /// Relative change against the baseline.
    pub change: Option<f64>,
    /// Lower end of its 95 % interval.
    pub change_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub change_high: Option<f64>,
}

/// One scheme against one reference on one endpoint, in one cell of the grid.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FindingEntry {
    /// The scheme.
    pub scheme: String,
    /// The scheme that it is compared with.
    pub reference: String,
    /// Name of the figure that is compared, such as short_response_mean_s.
    pub endpoint: String,
    /// False for the one primary endpoint.
    pub exploratory: bool,
    /// Better, worse, equal within 5 % or undecided; for an exploratory endpoint also no clear change.
    pub outcome: verdicts::Outcome,
    /// Geometric mean of the replications' ratios, less one: −0.3 is 30 % less.
    pub change: Option<f64>,
    /// Lower end of its 95 % interval.
    pub change_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub change_high: Option<f64>,
    /// The mean less that of the reference; null for an endpoint that is no time.
    pub difference_s: Option<f64>,
    /// Lower end of its 95 % interval.
    pub difference_low_s: Option<f64>,
    /// Upper end of its 95 % interval.
    pub difference_high_s: Option<f64>,
    /// Share of the same short transfers that took longer than under the reference; null if unknown.
    pub slower_share: Option<f64>,
    /// Share of them that took less time; null if unknown.
    pub faster_share: Option<f64>,
    /// Replications in which both schemes have the endpoint.
    pub replications: u32,
    /// The error permitted to this one interval; 0.05 unless it must hold together with others.
    pub error: Option<f64>,
    /// About how many replications would decide an undecided comparison; null for the others.
    pub seeds_needed: Option<u32>,
    /// The outcome in words, such as `better by 32 % (95 % interval 28–36 %)`.
    pub verdict: String,
    /// The verdict with the names of the two schemes and of the endpoint.
    pub sentence: String,
}

/// The answer for a cell.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdviceEntry {
    /// nothing better: no scheme beats the baseline; not shown: some may, the runs do not tell; vetoed: those that do make
    /// a class of traffic pay more than its margin.
    pub outcome: Outcome,
    /// The scheme recommended, one that can be installed if any of the better ones can.
    pub scheme: Option<String>,
    /// Whether the intervals show that no other scheme that can be installed, and that no veto rules out, is faster by more
    /// than 5 %.
    pub is_best: bool,
    /// Schemes that can be installed and are not shown to be slower for short transfers than the scheme recommended, the
    /// fastest first.
    pub peers: Vec<String>,
    /// Schemes that serve short transfers better still, but that nothing installs.
    pub ahead: Vec<String>,
    /// The scheme that harm is measured against.
    pub reference: String,
    /// Who pays, or may, under the schemes that are better than the baseline, and under the one recommended; without
    /// intervals, under all.
    pub vetoes: Vec<VetoEntry>,
    /// How the scheme is installed; null without one.
    pub installation: Option<Installation>,
    /// The answer as `mousehole compare` prints it.
    pub lines: Vec<String>,
}

/// A class of traffic that pays, or may, under a scheme.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VetoEntry {
    /// The scheme.
    pub scheme: String,
    /// The class of traffic that pays, such as calls.
    pub class: String,
    /// What of it, such as delay_p95_s.
    pub quantity: String,
    /// The harm allowed.
    pub margin: f64,
    /// Whether margin and change are shares of the reference's figure, or differences in its own unit.
    pub is_relative: bool,
    /// Against the reference.
    pub change: Option<f64>,
    /// Lower end of its 95 % interval; null without one.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Whether the harm is shown, so that the scheme is not recommended; else the class may pay.
    pub binds: bool,
}

/// One run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunEntry {
    /// Buffer of its cell.
    pub buffer: String,
    /// Load of its cell.
    pub load: Option<f64>,
    /// The scheme.
    pub scheme: String,
    /// Its number, from 0.
    pub replication: usize,
    /// Transfers of each size bucket, in the order of buckets.
    pub count: Vec<u64>,
    /// Those of them that were unfinished.
    pub censored: Vec<u64>,
    /// By quantity of buckets: its value in each bucket, null where there are too few transfers.
    pub statistics: BTreeMap<String, Vec<Option<f64>>>,
    /// By quantity of schemes: its value.
    pub scheme_statistics: Columns,
    /// Transfers of each bin of the curve, five per decade from 100 bytes on.
    pub curve_count: Vec<u64>,
    /// Their mean response time.
    pub curve_mean_s: Vec<Option<f64>>,
    /// Share of the short transfers that responded within each time, a hundred per decade.
    pub cdf: Vec<Option<f64>>,
    /// Mean response time of short transfers by the part of the window that they began in.
    pub short_by_time: Vec<Option<f64>>,
    /// Packets at the bottleneck by colour: arrived, dropped by reason, marked, sent.
    pub colours: Vec<ColourCounts>,
    /// How the load came about.
    pub offered: Load,
    /// Figures of applications.
    pub groups: Vec<FigureEntry>,
    /// Kinds of the groups that have one.
    pub kinds: BTreeMap<String, Kind>,
    /// By reference: shares of the same short transfers that were slower and faster.
    pub shares: BTreeMap<String, Shares>,
    /// Simulated time.
    pub simulated_s: f64,
    /// Wire bytes of the transfers that began in the window, over what the link carries.
    pub window_load: Option<f64>,
}

/// Packets of one colour in one run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ColourCounts {
    /// The colour.
    pub colour: String,
    /// Arrived, dropped by reason, dropped in all, marked, sent.
    #[serde(flatten)]
    pub counts: BTreeMap<String, u64>,
}

/// A figure of an application in one run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureEntry {
    /// The application.
    pub group: String,
    /// Name of the quantity.
    pub what: String,
    /// Its value.
    pub value: Option<f64>,
}

/// Returns a cell as the document has it.
pub fn cell_entry(judged: &Judged, setting: &Setting) -> CellEntry {
    let cell = &judged.cell;
    CellEntry {
        buffer: cell.plan.buffer.clone(),
        load: cell.plan.load,
        offered: load_row(cell),
        warmup_s: setting.warmup_s,
        warmup_needed_s: setting.warmup_needed_s,
        evidence: evidence_row(cell),
        schemes: scheme_entries(cell),
        findings: judged.findings().iter().map(FindingEntry::from).collect(),
        notes: notes(cell, setting),
        advice: advice_entry(judged, setting),
    }
}

/// Returns the runs of a cell as the document has them: by replication, then by scheme.
pub fn run_entries(cell: &Cell) -> Vec<RunEntry> {
    let replications = 0..cell.plan.replications as usize;
    let entry = |replication, scheme: usize| run_entry(cell, scheme, replication);
    replications
        .flat_map(|replication| cell.schemes().map(move |scheme| entry(replication, scheme)))
        .collect()
}

/// Returns the whole of a document beside its manifest and plan: the remarks on all cells, which those on the first are.
pub fn common_notes(first: &Cell) -> Vec<String> {
    vec![
        crate::findings::exploratory_note(&first.plan, &first.primary().words),
        crate::findings::coverage_note(first).to_owned(),
    ]
}

fn scheme_entries(cell: &Cell) -> Vec<SchemeEntry> {
    let (buckets, sizes, colours) = (bucket_rows(cell), size_rows(cell), colour_rows(cell));
    let (curve, groups) = (curve_rows(cell), group_rows(cell));
    let per_replication = |scheme: &str, role: Role| {
        known(&cell.in_bucket(cell.place(scheme), cell.bucket(role), "response_mean_s"))
    };
    let entry = |SchemeRow { scheme, is_baseline, estimates }: SchemeRow| SchemeEntry {
        is_baseline,
        estimates: columns(&estimates),
        short_response_mean_per_replication_s: per_replication(&scheme, Role::Short),
        long_response_mean_per_replication_s: per_replication(&scheme, Role::Long),
        buckets: entries(&buckets, |row| row.scheme == scheme),
        by_size: entries(&sizes, |row| row.scheme == scheme),
        colours: entries(&colours, |row| row.scheme == scheme),
        curve: entries(&curve, |row| row.scheme == scheme),
        groups: entries(&groups, |row| row.scheme == scheme),
        scheme,
    };
    scheme_rows(cell).into_iter().map(entry).collect()
}

fn entries<'a, R, E: From<&'a R>>(rows: &'a [R], is_own: impl Fn(&R) -> bool) -> Vec<E> {
    rows.iter().filter(|row| is_own(row)).map(E::from).collect()
}

impl From<&BucketRow> for BucketEntry {
    fn from(row: &BucketRow) -> BucketEntry {
        let [response_mean_change, response_mean_change_low, response_mean_change_high] =
            ends(row.response_mean_change);
        BucketEntry {
            is_baseline: row.is_baseline,
            bucket: row.bucket.name.clone(),
            role: row.bucket.role,
            low_bytes: row.bucket.low_bytes,
            high_bytes: row.bucket.high_bytes,
            count: row.count,
            censored: row.censored,
            censored_share: row.censored_share,
            is_bound: row.is_bound,
            estimates: columns(&row.estimates),
            response_mean_change,
            response_mean_change_low,
            response_mean_change_high,
        }
    }
}

impl From<&SizeRow> for SizeEntry {
    fn from(row: &SizeRow) -> SizeEntry {
        let change = row.response_mean_change;
        SizeEntry {
            reference: row.reference.clone(),
            bucket: row.bucket.clone(),
            count: row.count,
            response_mean_change: finite(change.mean),
            response_mean_change_low: finite(change.low),
            response_mean_change_high: finite(change.high),
            response_mean_change_is_interval: change.is_interval,
        }
    }
}

impl From<&ColourRow> for ColourEntry {
    fn from(row: &ColourRow) -> ColourEntry {
        let [arrived, early, forced, policed, marked, sent] = row.counts;
        let (colour, loss_share, mark_share) = (row.colour.clone(), row.loss_share, row.mark_share);
        ColourEntry { colour, arrived, early, forced, policed, marked, sent, loss_share, mark_share }
    }
}

impl From<&CurveRow> for CurveEntry {
    fn from(row: &CurveRow) -> CurveEntry {
        let [response_mean_s, response_mean_low_s, response_mean_high_s] = ends(row.response_mean_s);
        let CurveRow { low_bytes, high_bytes, count, .. } = *row;
        CurveEntry {
            low_bytes,
            high_bytes,
            count,
            response_mean_s,
            response_mean_low_s,
            response_mean_high_s,
        }
    }
}

impl From<&GroupRow> for GroupEntry {
    fn from(row: &GroupRow) -> GroupEntry {
        let ([value, value_low, value_high], [change, change_low, change_high]) =
            (ends(row.value), ends(row.change));
        GroupEntry {
            is_baseline: row.is_baseline,
            group: row.group.clone(),
            kind: row.kind,
            what: row.what.name(),
            is_primary: row.is_primary,
            value,
            value_low,
            value_high,
            change,
            change_low,
            change_high,
        }
    }
}

impl From<&Finding> for FindingEntry {
    fn from(one: &Finding) -> FindingEntry {
        let ([change, change_low, change_high], [difference_s, difference_low_s, difference_high_s]) =
            (ends(one.change), ends(one.difference_s));
        FindingEntry {
            scheme: one.scheme.clone(),
            reference: one.reference.clone(),
            endpoint: one.endpoint.clone(),
            exploratory: one.exploratory,
            outcome: one.outcome,
            change,
            change_low,
            change_high,
            difference_s,
            difference_low_s,
            difference_high_s,
            slower_share: one.slower_share.and_then(finite),
            faster_share: one.faster_share.and_then(finite),
            replications: one.replications,
            error: finite(one.error),
            seeds_needed: one.seeds_needed,
            verdict: one.verdict.clone(),
            sentence: one.sentence.clone(),
        }
    }
}

fn advice_entry(judged: &Judged, setting: &Setting) -> AdviceEntry {
    let found = advise(judged, setting);
    AdviceEntry {
        outcome: found.outcome,
        scheme: found.scheme,
        is_best: found.is_best,
        peers: found.peers,
        ahead: found.ahead,
        reference: found.reference,
        vetoes: found.vetoes.iter().map(VetoEntry::from).collect(),
        installation: found.installation,
        lines: found.lines,
    }
}

impl From<&Veto> for VetoEntry {
    fn from(one: &Veto) -> VetoEntry {
        let [change, low, high] = ends(one.change);
        VetoEntry {
            scheme: one.scheme.clone(),
            class: one.margin.figure.class.name(),
            quantity: one.margin.figure.name.clone(),
            margin: one.margin.most,
            is_relative: one.margin.is_relative,
            change,
            low,
            high,
            binds: one.binds,
        }
    }
}

fn run_entry(cell: &Cell, scheme: usize, replication: usize) -> RunEntry {
    let run: &Facts = &cell.runs[scheme][replication];
    let figure = |(group, what, value): &(String, String, f64)| FigureEntry {
        group: group.clone(),
        what: what.clone(),
        value: finite(*value),
    };
    RunEntry {
        buffer: cell.plan.buffer.clone(),
        load: cell.plan.load,
        scheme: cell.name(scheme).to_owned(),
        replication,
        count: run.count.clone(),
        censored: run.censored.clone(),
        statistics: run.statistics.iter().map(|(name, values)| (name.clone(), known(values))).collect(),
        scheme_statistics: run.scheme.iter().map(|(name, value)| (name.clone(), finite(*value))).collect(),
        curve_count: run.curve_count.clone(),
        curve_mean_s: known(&run.curve_mean_s),
        cdf: known(&run.cdf),
        short_by_time: known(&run.short_by_time),
        colours: run.colours.iter().map(ColourCounts::from).collect(),
        offered: run.load.clone(),
        groups: run.groups.iter().map(figure).collect(),
        kinds: run.kinds.clone(),
        shares: run.shares.clone(),
        simulated_s: run.simulated_s,
        window_load: finite(run.window_load),
    }
}

impl From<&Colour> for ColourCounts {
    fn from(colour: &Colour) -> ColourCounts {
        let others =
            ["arrived", "dropped", "marked", "sent"].map(|name| (name.to_owned(), colour.count(name)));
        ColourCounts {
            colour: colour.name.clone(),
            counts: colour.drops.iter().cloned().chain(others).collect(),
        }
    }
}

fn columns(estimates: &Estimates) -> Columns {
    let three = |(quantity, estimate): &(crate::quantities::Quantity, Estimate)| {
        let (low, high) = quantity.ends();
        [quantity.name(), low, high].into_iter().zip(ends(*estimate)).collect::<Vec<_>>()
    };
    estimates.iter().flat_map(three).collect()
}

fn ends(estimate: Estimate) -> [Option<f64>; 3] {
    [estimate.mean, estimate.low, estimate.high].map(finite)
}

fn known(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(finite).collect()
}

/// Returns the number, None for one that is not finite.
pub fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

/// Writes a number that may be infinite, which JSON has not, as null.
///
/// # Errors
/// Those of the serializer.
pub fn finite_or_null<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    finite(*number).serialize(serializer)
}
