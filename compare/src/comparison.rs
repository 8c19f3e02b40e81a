//! Runs the cells of a request, scheme by scheme, and makes the document.

use crate::records::records;
use mousehole_answer::advice::AT_THE_LINE;
use mousehole_answer::comparison::{Cell, Plan, Scheme};
use mousehole_answer::document::{CellEntry, RunEntry, cell_entry, common_notes, run_entries};
use mousehole_answer::judged::Judged;
use mousehole_answer::margins;
use mousehole_answer::quantities::table;
use mousehole_answer::reduction::{Facts, reduce, shares};
use mousehole_answer::setting::{Installation, Setting};
use mousehole_answer::sizes::buckets;
use mousehole_scheme::install::{self, Line};
use mousehole_sim::engine::layout::UP;
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::spec::Ends;
use mousehole_sim::scenario::{self, Scenario, run};
use mousehole_sim::units::Buffer;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// Bytes of a full packet, to turn a buffer in bytes into packets.
const FULL_PACKET: u64 = 1500;

/// What is to be compared.
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
}

fn short_bytes() -> u64 {
    15_000
}

fn long_bytes() -> u64 {
    150_000
}

/// What a comparison found: the parts of the document of `mousehole compare --json` that follow from the runs.
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

/// Runs everything that a request asks for and says what follows.
///
/// # Errors
/// [`Error::Field`] for a request that makes no sense, and those of [`scenario::Plan::new`] and [`run`].
pub fn compare(request: &Request) -> Result<Document> {
    check(request)?;
    let cells = request.cells.iter().map(|scenario| judge_cell(request, scenario));
    let cells: Vec<(Judged, Setting)> = cells.collect::<Result<_>>()?;
    Ok(Document {
        label: request.label.clone(),
        cells: cells.iter().map(|(judged, setting)| cell_entry(judged, setting)).collect(),
        notes: common_notes(&cells[0].0.cell),
        runs: cells.iter().flat_map(|(judged, _)| run_entries(&judged.cell)).collect(),
    })
}

fn check(request: &Request) -> Result<()> {
    let is_known = |scheme: &&String| request.schemes.contains(scheme);
    if request.cells.is_empty() {
        return Err(Error::field("cells", "[]", "at least one scenario"));
    }
    if request.schemes.is_empty() {
        return Err(Error::field("schemes", "[]", "at least one scheme"));
    }
    for (place, scheme) in request.schemes.iter().enumerate() {
        scenario::Scheme::parse(scheme)?;
        if request.schemes[..place].contains(scheme) {
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
    if let Err((text, _)) = margins::margins(&table(), &request.vetoes) {
        return Err(Error::field("vetoes", text, "margins such as `calls p95 +10ms`"));
    }
    Ok(())
}

fn judge_cell(request: &Request, scenario: &Scenario) -> Result<(Judged, Setting)> {
    let first = scenario::Plan::new(&at(scenario, &request.schemes[0], 0))?;
    if !first.scenario.traffic.files.is_empty() {
        return Err(Error::field("traffic.files", "files", "a model, a mix or connections"));
    }
    let plan = plan_of(request, scenario, &first);
    let mut runs = vec![Vec::new(); plan.schemes.len()];
    for replication in 0..request.replications {
        let each = request.schemes.iter().map(|scheme| reduced(request, scenario, scheme, replication));
        let each = with_shares(each.collect::<Result<_>>()?, &plan);
        runs.iter_mut().zip(each).for_each(|(own, facts)| own.push(facts));
    }
    let setting = setting_of(request, &plan, &first);
    Ok((Judged::new(Cell::new(plan, None, table(), runs)), setting))
}

fn at(scenario: &Scenario, scheme: &str, replication: u32) -> Scenario {
    Scenario { scheme: scheme.to_owned(), replication, ..scenario.clone() }
}

fn plan_of(request: &Request, scenario: &Scenario, first: &scenario::Plan) -> Plan {
    let baseline = request.baseline.clone().unwrap_or_else(|| request.schemes[0].clone());
    let schemes: Vec<Scheme> = request.schemes.iter().cloned().map(Scheme::from).collect();
    let rival = schemes.iter().find(|one| one.name == "fq-codel" && one.text != baseline);
    let references = [baseline.clone()].into_iter().chain(rival.map(|one| one.text.clone())).collect();
    let buffer = scenario.topology.as_ref().and_then(|topology| topology.buffer.as_ref());
    Plan {
        buffer: buffer.unwrap_or(&scenario.link.buffer).clone(),
        load: scenario.traffic.load,
        schemes,
        baseline,
        references,
        replications: request.replications,
        short_bytes: request.short_bytes,
        long_bytes: request.long_bytes,
        in_rounds: false,
        is_sequential: false,
        window_s: first.duration.as_secs(),
        is_overlaid: false,
        vetoes: request.vetoes.clone(),
        reference: request.reference.clone(),
    }
}

fn reduced(request: &Request, scenario: &Scenario, scheme: &str, replication: u32) -> Result<Facts> {
    let plan = scenario::Plan::new(&at(scenario, scheme, replication))?;
    let result = run(&plan, None, &AtomicBool::new(false))?;
    let buckets = buckets(request.short_bytes, request.long_bytes);
    Ok(reduce(&records(&result, &plan), &buckets, &table()))
}

/// Returns one replication's facts by scheme, with the shares against the references in the place of times.
fn with_shares(runs: Vec<Facts>, plan: &Plan) -> Vec<Facts> {
    let times: Vec<_> = runs.iter().map(|run| run.short_times.clone()).collect();
    let against = |own: usize| {
        let others = plan.references.iter().filter(move |name| **name != plan.schemes[own].text);
        let times = &times;
        others.filter_map(move |name| {
            let other = plan.schemes.iter().position(|scheme| scheme.text == *name)?;
            Some((name.clone(), shares(times[own].as_ref()?, times[other].as_ref()?)?))
        })
    };
    let places = 0..runs.len();
    let shares: Vec<_> = places.map(|own| against(own).collect()).collect();
    let both = runs.into_iter().zip(shares);
    both.map(|(run, shares)| Facts { short_times: None, shares, ..run }).collect()
}

fn setting_of(request: &Request, plan: &Plan, first: &scenario::Plan) -> Setting {
    let spec = &first.scenario;
    let bottleneck = &first.links[usize::from(first.data_link)];
    let is_up = first.data_link == UP;
    // What installs a scheme is said of one direction of a link without a modem behind it.
    let is_plain = spec.topology.is_none()
        && spec.link.shape.is_none()
        && spec.at.is_none_or(|at| at == if is_up { Ends::Up } else { Ends::Down })
        && bottleneck.trace.is_none();
    let buffer_packets = match bottleneck.buffer {
        Buffer::Packets(packets) => u64::from(packets),
        Buffer::Bytes(bytes) => bytes / FULL_PACKET,
    };
    let line = is_plain.then(|| Line {
        rate: bottleneck.rate,
        buffer_packets: buffer_packets.max(1),
        wire: bottleneck.wire,
        is_upload: is_up,
        burst: spec.link.burst.as_ref().map(|_| bottleneck.burst),
    });
    let way = |scheme: &Scheme| installation(scheme, line.as_ref());
    let ways: Vec<std::result::Result<Installation, String>> = plan.schemes.iter().map(way).collect();
    Setting {
        label: request.label.clone(),
        duration: spec.duration.clone(),
        instead_of: None,
        left_out: Vec::new(),
        why_nothing: ways.iter().map(|way| way.clone().err().unwrap_or_default()).collect(),
        ways: ways.into_iter().map(std::result::Result::ok).collect(),
        is_both_ways: false,
        modem: None,
        warmup_s: first.warmup.as_secs(),
        warmup_needed_s: None,
        rate_bps: spec.topology.is_none().then_some(bottleneck.rate.0 as f64),
        buffer_packets: line.as_ref().map(|line| line.buffer_packets),
        rtt: Some(spec.link.rtt.clone()),
        is_up,
        has_transfers: true,
    }
}

/// Returns how Linux or a common router installs a scheme on a link, or why nothing does; of an ideal nothing is said.
fn installation(scheme: &Scheme, line: Option<&Line>) -> std::result::Result<Installation, String> {
    let (Some(parsed), false) = (&scheme.parsed, scheme.is_ideal) else { return Err(String::new()) };
    let line = line.ok_or("its commands are not written for this kind of link")?;
    let way = install::plan(parsed, line)?;
    let has_rate = |text: &String| {
        !text.starts_with('#') && text.split(' ').any(|word| ["rate", "bandwidth"].contains(&word))
    };
    let remark = way.lines.iter().any(has_rate).then(|| AT_THE_LINE.to_owned());
    let lines = way.lines.iter().cloned().chain(remark).collect();
    Ok(Installation { place: way.place.name().to_owned(), lines })
}
