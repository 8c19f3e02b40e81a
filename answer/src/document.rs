//! The JSON document of a comparison (docs/json.md): its types and how they are filled.
//!
//! A number that is not known is null.

use crate::advice::{Advice, advise};
use crate::columns::{Columns, finite_or_none};
use crate::comparison::Cell;
use crate::findings::Finding;
use crate::judged::Judged;
use crate::notes::list_notes;
use crate::overview::{SizeRow, size_rows};
use crate::quantities::Kind;
use crate::reduction::{Colour, Facts, Load, Shares};
use crate::setting::Setting;
use crate::sizes::Role;
use crate::tables::{
    BucketRow, ColourRow, CurveRow, EvidenceRow, GroupRow, LoadRow, SchemeRow, bucket_rows, colour_rows,
    curve_rows, evidence_row, group_rows, load_row, scheme_rows,
};
use serde::Serialize;
use std::collections::BTreeMap;

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
    pub findings: Vec<Finding>,
    /// Remarks: where no difference can be expected, and where parameters do not fit.
    pub notes: Vec<String>,
    /// The answer.
    pub advice: Advice,
}

/// One scheme in one cell.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemeEntry {
    /// The scheme and its quantities.
    #[serde(flatten)]
    pub row: SchemeRow,
    /// Mean response time of short transfers in each replication.
    pub short_response_mean_per_replication_s: Vec<Option<f64>>,
    /// The same of long transfers.
    pub long_response_mean_per_replication_s: Vec<Option<f64>>,
    /// By size bucket.
    pub buckets: Vec<BucketRow>,
    /// Changes by size.
    pub by_size: Vec<SizeRow>,
    /// Packets at the bottleneck.
    pub colours: Vec<ColourRow>,
    /// Response time by size.
    pub curve: Vec<CurveRow>,
    /// Applications.
    pub groups: Vec<GroupRow>,
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
        findings: judged.findings().to_vec(),
        notes: list_notes(cell, setting),
        advice: advise(judged, setting),
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

/// Returns the remarks that hold for all cells of a document, which follow from its first cell:
/// what is primary and exploratory, and what intervals cover.
pub fn common_notes(first: &Cell) -> Vec<String> {
    vec![
        crate::findings::exploratory_note(&first.plan, &first.primary().words),
        crate::findings::coverage_note(first).to_owned(),
    ]
}

/// Returns the schemes of a cell as the document has them, each with its rows of every table.
fn scheme_entries(cell: &Cell) -> Vec<SchemeEntry> {
    let (buckets, sizes, colours) = (bucket_rows(cell), size_rows(cell), colour_rows(cell));
    let (curve, groups) = (curve_rows(cell), group_rows(cell));
    let per_replication = |scheme: &str, role: Role| {
        map_finite_or_none(&cell.bucket_values(
            cell.scheme_index(scheme),
            cell.bucket_index(role),
            "response_mean_s",
        ))
    };
    let entry = |row: SchemeRow| SchemeEntry {
        short_response_mean_per_replication_s: per_replication(&row.scheme, Role::Short),
        long_response_mean_per_replication_s: per_replication(&row.scheme, Role::Long),
        buckets: select_rows(&buckets, |one| one.scheme == row.scheme),
        by_size: select_rows(&sizes, |one| one.scheme == row.scheme),
        colours: select_rows(&colours, |one| one.scheme == row.scheme),
        curve: select_rows(&curve, |one| one.scheme == row.scheme),
        groups: select_rows(&groups, |one| one.scheme == row.scheme),
        row,
    };
    scheme_rows(cell).into_iter().map(entry).collect()
}

/// Returns copies of the rows for which `is_own` holds.
fn select_rows<R: Clone>(rows: &[R], is_own: impl Fn(&R) -> bool) -> Vec<R> {
    rows.iter().filter(|row| is_own(row)).cloned().collect()
}

/// Returns one run of a cell as the document has it; numbers that are not finite are None.
///
/// # Panics
/// For an index of a scheme or replication that there is not.
fn run_entry(cell: &Cell, scheme: usize, replication: usize) -> RunEntry {
    let run: &Facts = &cell.runs[scheme][replication];
    let figure = |(group, what, value): &(String, String, f64)| FigureEntry {
        group: group.clone(),
        what: what.clone(),
        value: finite_or_none(*value),
    };
    RunEntry {
        buffer: cell.plan.buffer.clone(),
        load: cell.plan.load,
        scheme: cell.name(scheme).to_owned(),
        replication,
        count: run.count.clone(),
        censored: run.censored.clone(),
        statistics: run
            .statistics
            .iter()
            .map(|(name, values)| (name.clone(), map_finite_or_none(values)))
            .collect(),
        scheme_statistics: run
            .scheme
            .iter()
            .map(|(name, value)| (name.clone(), finite_or_none(*value)))
            .collect(),
        curve_count: run.curve_count.clone(),
        curve_mean_s: map_finite_or_none(&run.curve_mean_s),
        cdf: map_finite_or_none(&run.cdf),
        short_by_time: map_finite_or_none(&run.short_by_time),
        colours: run.colours.iter().map(ColourCounts::from).collect(),
        offered: run.load.clone(),
        groups: run.groups.iter().map(figure).collect(),
        kinds: run.kinds.clone(),
        shares: run.shares.clone(),
        simulated_s: run.simulated_s,
        window_load: finite_or_none(run.window_load),
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

/// Returns the numbers, those that are not finite as None.
fn map_finite_or_none(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(finite_or_none).collect()
}
