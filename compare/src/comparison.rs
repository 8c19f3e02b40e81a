//! Runs the cells of a request under each scheme, judges them, and makes the document.

use crate::given::Given;
use crate::records::run_facts;
use crate::setting::Around;
use mousehole_answer::comparison::{Capture, Cell, Plan, Scheme};
use mousehole_answer::document::{CellEntry, RunEntry, cell_entry, common_notes, run_entries};
use mousehole_answer::judged::Judged;
use mousehole_answer::manifest::WarmupEntry;
use mousehole_answer::margins;
use mousehole_answer::quantities::table;
use mousehole_answer::reduction::{Facts, ShortTimes, compare_short_times};
use mousehole_answer::setting::Setting;
use mousehole_answer::sizes::{self, buckets};
use mousehole_sim::engine::layout::UP;
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::{self, Scenario, run};
use mousehole_sim::traffic::summary::Summary;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// A comparison to run: cells, schemes and replications.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Name of the traffic, for titles.
    pub label: String,
    /// One scenario for each cell of the grid (docs/scenario.md); its scheme and replication are replaced.
    pub cells: Vec<Scenario>,
    /// Schemes, in the order of tables.
    pub schemes: Vec<String>,
    /// The scheme that the others are compared with; the first if absent.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Runs of each scheme in each cell; intervals need five.
    pub replications: u32,
    /// Transfers up to this size are short.
    #[serde(default = "short_bytes")]
    pub short_bytes: u64,
    /// Transfers above this size are long.
    #[serde(default = "long_bytes")]
    pub long_bytes: u64,
    /// Margins of harm, such as `calls p95 +10ms`.
    #[serde(default)]
    pub vetoes: Vec<String>,
    /// The scheme that harm is measured against; what people would have anyway if absent.
    #[serde(default)]
    pub reference: Option<String>,
    /// Knowledge of the traffic in addition to the scenarios; none for a request in JSON.
    #[serde(skip)]
    pub known: Known,
}

/// Knowledge of the traffic of a comparison of one cell in addition to its scenario.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The traffic, if it was read or is one model.
    pub given: Option<Given>,
    /// Its summary, with its load on the link.
    pub summary: Option<Summary>,
    /// The load requested; that of the scenario if absent.
    pub load: Option<f64>,
    /// The warm-up that the load needs; `None` if sizes are not known beforehand.
    pub warmup: Option<WarmupEntry>,
    /// The amounts on which verdicts rest, if a capture is played.
    pub capture: Option<Capture>,
    /// The traffic that was given, and why ready-made traffic replaces it.
    pub instead_of: Option<String>,
}

/// Returns the default of `short_bytes`, for serde.
fn short_bytes() -> u64 {
    sizes::SHORT_BYTES
}

/// Returns the default of `long_bytes`, for serde.
fn long_bytes() -> u64 {
    sizes::LONG_BYTES
}

/// The results of a comparison: the parts of the document of `mousehole compare --json` that follow from the runs.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// Name of the traffic.
    pub label: String,
    /// The cells, in the order of the request.
    pub cells: Vec<CellEntry>,
    /// What the intervals of all cells cover, and which endpoint is the primary one.
    pub notes: Vec<String>,
    /// The facts of every run.
    pub runs: Vec<RunEntry>,
}

/// Runs a request, one run after the other, and returns the document of its results.
///
/// # Errors
/// [`Error::Field`] for a field of the request that is not allowed, and those of
/// [`scenario::Plan::new`] and [`run()`].
///
/// # Panics
/// As [`Request::run`].
pub fn compare(request: &Request) -> Result<Document> {
    check_request(request)?;
    Ok(make_document(request, &judge_cells(request, request.run_all()?)?))
}

/// Returns each cell with its results and its setting; `runs` are the facts of every run in the order of [`Request::tasks`].
///
/// # Errors
/// As [`compare`]; [`Error::Field`] for another number of runs.
pub fn judge_cells(request: &Request, runs: Vec<Facts>) -> Result<Vec<(Judged, Setting)>> {
    check_request(request)?;
    let wanted = request.tasks().count();
    if runs.len() != wanted {
        return Err(Error::field("runs", runs.len(), format!("{wanted} runs")));
    }
    let mut runs = runs.into_iter();
    (0..request.cells.len()).map(|cell| judge_cell(request, cell, &mut runs)).collect()
}

/// Returns the document of the cells of [`judge_cells`], of which there is at least one.
///
/// # Panics
/// Without a cell.
pub fn make_document(request: &Request, cells: &[(Judged, Setting)]) -> Document {
    Document {
        label: request.label.clone(),
        cells: cells.iter().map(|(judged, setting)| cell_entry(judged, setting)).collect(),
        notes: common_notes(&cells[0].0.cell),
        runs: cells.iter().flat_map(|(judged, _)| run_entries(&judged.cell)).collect(),
    }
}

impl Request {
    /// Returns a request for runs of a scenario under its own scheme, without other schemes to compare.
    pub fn for_runs(cell: Scenario) -> Request {
        Request {
            label: String::new(),
            schemes: vec![cell.scheme.clone()],
            cells: vec![cell],
            baseline: None,
            replications: 1,
            short_bytes: short_bytes(),
            long_bytes: long_bytes(),
            vetoes: Vec::new(),
            reference: None,
            known: Known::default(),
        }
    }

    /// Returns the indices of cell, replication and scheme of every run, in the order of the document: the scheme changes
    /// fastest.
    pub fn tasks(&self) -> impl Iterator<Item = (usize, u32, usize)> + '_ {
        (0..self.cells.len()).flat_map(move |cell| {
            let schemes = self.schemes.len();
            (0..self.replications)
                .flat_map(move |replication| (0..schemes).map(move |scheme| (cell, replication, scheme)))
        })
    }

    /// Returns the scenario of one run.
    pub fn scenario(&self, cell: usize, scheme: &str, replication: u32) -> Scenario {
        Scenario { scheme: scheme.to_owned(), replication, ..self.cells[cell].clone() }
    }

    /// Runs a cell under a scheme, both by index, and returns the facts.
    ///
    /// # Errors
    /// Those of [`scenario::Plan::new`] and [`run()`].
    ///
    /// # Panics
    /// For an index beyond the request's; if packets were lost or invented, which is a fault of the
    /// engine.
    pub fn run(&self, cell: usize, scheme: usize, replication: u32) -> Result<Facts> {
        let plan = scenario::Plan::new(&self.scenario(cell, &self.schemes[scheme], replication))?;
        let read = self.known.given.as_ref().and_then(Given::replayed);
        let result = run(&plan, read, &AtomicBool::new(false))?;
        assert!(result.is_conserved(), "the engine lost or invented packets; please report this");
        Ok(run_facts(&result, &plan, &buckets(self.short_bytes, self.long_bytes), &table()))
    }

    /// Runs everything, one run after the other, and returns the facts in the order of
    /// [`Request::tasks`].
    ///
    /// # Errors
    /// Those of [`Request::run`].
    ///
    /// # Panics
    /// As [`Request::run`].
    pub fn run_all(&self) -> Result<Vec<Facts>> {
        self.tasks().map(|(cell, replication, scheme)| self.run(cell, scheme, replication)).collect()
    }

    /// Returns the scheme that the others are compared with.
    ///
    /// # Panics
    /// Without a baseline and without schemes.
    pub fn baseline(&self) -> &str {
        self.baseline.as_deref().unwrap_or(&self.schemes[0])
    }
}

/// Checks the fields of a request against each other.
///
/// # Errors
/// [`Error::Field`] naming the field, the value and what is allowed.
fn check_request(request: &Request) -> Result<()> {
    let is_known = |scheme: &&String| request.schemes.contains(scheme);
    if request.cells.is_empty() {
        return Err(Error::field("cells", "[]", "at least one scenario"));
    }
    if request.schemes.is_empty() {
        return Err(Error::field("schemes", "[]", "at least one scheme"));
    }
    for (index, scheme) in request.schemes.iter().enumerate() {
        scenario::Scheme::parse(scheme)?;
        if request.schemes[..index].contains(scheme) {
            return Err(Error::field("schemes", scheme, "every scheme once"));
        }
    }
    let given = [("baseline", &request.baseline), ("reference", &request.reference)];
    for (field, scheme) in given.into_iter().filter_map(|(field, given)| Some((field, given.as_ref()?))) {
        if !is_known(&scheme) {
            let allowed = format!("a scheme compared: {}", request.schemes.join(", "));
            return Err(Error::field(field, scheme, allowed));
        }
    }
    if request.replications == 0 {
        return Err(Error::field("replications", 0, "at least 1"));
    }
    if request.short_bytes == 0 || request.long_bytes < request.short_bytes {
        let allowed = format!("at least short_bytes ({}), which is at least 1", request.short_bytes);
        return Err(Error::field("long_bytes", request.long_bytes, allowed));
    }
    if let Err((text, _)) = margins::read_margins(&table(), &request.vetoes) {
        return Err(Error::field("vetoes", text, "margins such as `calls p95 +10ms`"));
    }
    Ok(())
}

/// Returns the cell of this index with its setting; takes the facts of its runs, in the order of
/// [`Request::tasks`], off the front of `runs`.
///
/// # Errors
/// [`Error::Field`] for traffic files that were not read, and for a scenario that cannot be
/// planned.
fn judge_cell(
    request: &Request,
    cell: usize,
    runs: &mut impl Iterator<Item = Facts>,
) -> Result<(Judged, Setting)> {
    let first = scenario::Plan::new(&request.scenario(cell, request.baseline(), 0))?;
    if !first.scenario.traffic.files.is_empty() && request.known.given.is_none() {
        return Err(Error::field("traffic.files", "files", "a model, a mix or connections"));
    }
    let plan = make_plan(request, &request.cells[cell], &first);
    let mut by_scheme = vec![Vec::new(); plan.schemes.len()];
    for _ in 0..request.replications {
        for own in &mut by_scheme {
            own.extend(runs.next());
        }
    }
    share_times(&mut by_scheme, &plan);
    let setting = find_surroundings(request, &plan, &first).make_setting(&plan.schemes)?;
    let capture = request.known.capture.clone();
    Ok((Judged::new(Cell::new(plan, capture, table(), by_scheme)), setting))
}

/// Returns the answer's plan for a cell with this scenario; `first` is the plan of the baseline's
/// first run. Its references are the baseline and, if it is compared, fq-codel.
fn make_plan(request: &Request, scenario: &Scenario, first: &scenario::Plan) -> Plan {
    let baseline = request.baseline().to_owned();
    let schemes: Vec<Scheme> = request.schemes.iter().cloned().map(Scheme::from).collect();
    let rival = schemes.iter().find(|one| one.name == "fq-codel" && one.text != baseline);
    let references = [baseline.clone()].into_iter().chain(rival.map(|one| one.text.clone())).collect();
    let buffer = scenario.topology.as_ref().and_then(|topology| topology.buffer.as_ref());
    let load = request.known.load.or(scenario.traffic.load);
    Plan {
        buffer: buffer.unwrap_or(&scenario.link.buffer).clone(),
        load,
        schemes,
        baseline,
        references,
        replications: request.replications,
        short_bytes: request.short_bytes,
        long_bytes: request.long_bytes,
        in_rounds: false,
        is_sequential: false,
        window_s: first.duration.as_secs(),
        is_overlaid: load.is_some() && !scenario.traffic.files.is_empty(),
        vetoes: request.vetoes.clone(),
        reference: request.reference.clone(),
    }
}

/// Takes the times of short transfers out of the facts, and adds the comparison of the same
/// transfers with each of the plan's references; `runs` are by scheme and replication. Runs without
/// such times get none.
fn share_times(runs: &mut [Vec<Facts>], plan: &Plan) {
    for replication in 0..runs.first().map_or(0, Vec::len) {
        let times: Vec<Option<ShortTimes>> =
            runs.iter_mut().map(|own| own[replication].short_times.take()).collect();
        for (index, own) in runs.iter_mut().enumerate() {
            for name in plan.references.iter().filter(|name| **name != plan.schemes[index].text) {
                let other = plan.schemes.iter().position(|scheme| scheme.text == *name);
                let both = other
                    .and_then(|other| compare_short_times(times[index].as_ref()?, times[other].as_ref()?));
                if let Some(found) = both {
                    own[replication].shares.insert(name.clone(), found);
                }
            }
        }
    }
}

/// Returns the surroundings of a cell; `first` is the plan of the baseline's first run.
fn find_surroundings(request: &Request, plan: &Plan, first: &scenario::Plan) -> Around {
    let known = &request.known;
    let spec = &first.scenario;
    let each = ["down", "up"].into_iter().zip(&first.links).filter(|(_, link)| link.trace.is_some());
    Around {
        label: request.label.clone(),
        duration: spec.duration.clone(),
        instead_of: known.instead_of.clone(),
        scenario: first.filled(),
        buffer: plan.buffer.clone(),
        is_up: first.data_link == UP,
        mean_rates: each.map(|(way, link)| (way.to_owned(), link.rate.0)).collect(),
        rtt: Some(spec.link.rtt.clone()),
        summary: known.summary.clone(),
        warmup_s: first.warmup.as_secs(),
        warmup_needed_s: known.warmup.as_ref().and_then(|warmup| warmup.needed_s[0]),
    }
}
