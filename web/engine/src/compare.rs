//! A comparison: its runs, each by itself, and the answer of all of them.

use crate::request::{BASELINE, Comparison, Request};
use mousehole_answer::advice::{Outcome, advise};
use mousehole_answer::comparison::{Cell, Source, Whose, log_ratio};
use mousehole_answer::findings::Finding;
use mousehole_answer::judged::Judged;
use mousehole_answer::quantities::{Better, Kind, Quantity, Unit, table};
use mousehole_answer::reduction::Facts;
use mousehole_answer::setting::{Modem, Setting};
use mousehole_answer::statistics::intervals::{positive_interval, share_interval};
use mousehole_answer::statistics::{Design, Estimate};
use mousehole_answer::texts::{change_text, unit_text};
use mousehole_compare::{install_at, run_reduced, share_times};
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::spec::Ends;
use serde::Serialize;

/// What a page shows of the answer.
#[derive(Debug, Serialize)]
pub struct Answer {
    label: String,
    outcome: Outcome,
    scheme: Option<String>,
    is_best: bool,
    peers: Vec<String>,
    ahead: Vec<String>,
    reference: String,
    place: Option<String>,
    /// Commands and remarks that install the scheme.
    commands: Vec<String>,
    /// The answer as `mousehole compare` prints it.
    lines: Vec<String>,
    schemes: Vec<String>,
    figures: Vec<Figure>,
    findings: Vec<Finding>,
    pays: Vec<String>,
}

/// What the users of one class feel, under each scheme.
#[derive(Debug, Serialize)]
struct Figure {
    name: String,
    words: String,
    unit: Unit,
    is_less_better: bool,
    values: Vec<Value>,
}

#[derive(Debug, Serialize)]
struct Value {
    scheme: String,
    mean: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    text: String,
    change: String,
    /// Better than the baseline by the interval: 1, worse: -1, neither: 0.
    verdict: i8,
}

/// Runs one replication of a scheme, by number, and returns its facts as bytes for [`answer`].
///
/// # Errors
/// [`Error::Field`] for a fault in the request.
///
/// # Panics
/// If packets were lost or invented, which is a fault of the engine.
pub fn run_one(request: &Request, scheme: usize, replication: u32) -> Result<Vec<u8>> {
    let comparison = request.checked()?;
    let plan = comparison.plan(scheme, replication)?;
    let facts = run_reduced(&plan, &comparison.compared()?.buckets())?;
    Ok(postcard::to_stdvec(&facts).expect("facts can be written"))
}

/// Returns the answer; `runs` has the bytes of every run, by scheme and replication.
///
/// # Errors
/// [`Error::Field`] for a fault in the request, or where runs are missing.
pub fn answer(request: &Request, runs: &[&[u8]]) -> Result<Answer> {
    let comparison = request.checked()?;
    let seeds = comparison.seeds as usize;
    if runs.len() != comparison.schemes.len() * seeds {
        let allowed = format!("{} runs", comparison.schemes.len() * seeds);
        return Err(Error::field("runs", runs.len().to_string(), allowed));
    }
    let read = |bytes: &&[u8]| {
        postcard::from_bytes::<Facts>(bytes).map_err(|_| Error::field("runs", "a run", "facts of a run"))
    };
    let all = runs.iter().map(read).collect::<Result<Vec<Facts>>>()?;
    let plan = comparison.compared()?;
    let mut by_scheme: Vec<Vec<Facts>> = all.chunks(seeds).map(<[Facts]>::to_vec).collect();
    share_times(&mut by_scheme, &plan);
    let cell = Cell::new(plan, None, table(), by_scheme);
    let setting = setting(request, &comparison)?;
    let judged = Judged::new(cell);
    let found = advise(&judged, &setting);
    Ok(Answer {
        label: comparison.label,
        outcome: found.outcome,
        scheme: found.scheme,
        is_best: found.is_best,
        peers: found.peers,
        ahead: found.ahead,
        reference: found.reference,
        place: found.installation.as_ref().map(|one| one.place.clone()),
        commands: found.installation.map(|one| one.lines).unwrap_or_default(),
        lines: found.lines,
        figures: figures(&judged.cell),
        findings: judged.findings().to_vec(),
        pays: found.vetoes.iter().map(|one| format!("{}: {}", one.scheme, one.text)).collect(),
        schemes: comparison.schemes,
    })
}

fn setting(request: &Request, comparison: &Comparison) -> Result<Setting> {
    let first = comparison.plan(0, 0)?;
    let mut ways = Vec::new();
    let mut why_nothing = Vec::new();
    for (number, scheme) in comparison.compared()?.schemes.iter().enumerate() {
        // Each scheme has a plan of its own: the baseline is the modem's FIFO alone, without a shaper.
        let way = install_at(scheme, Ends::Both, &comparison.plan(number, 0)?);
        why_nothing.push(way.as_ref().err().cloned().unwrap_or_default());
        ways.push(way.ok());
    }
    let modem = request.shape.as_ref().map(|shape| Modem {
        shape: shape.clone(),
        up_shape: shape.clone(),
        buffer: request.modem_buffer.clone().unwrap_or_else(|| request.buffer.clone()),
        has_own_rates: comparison.schemes.iter().any(|one| one.contains('@')),
    });
    Ok(Setting {
        label: comparison.label.clone(),
        duration: request.duration.clone(),
        instead_of: None,
        left_out: Vec::new(),
        ways,
        why_nothing,
        is_both_ways: true,
        modem,
        warmup_s: first.warmup.as_secs(),
        warmup_needed_s: None,
        rate_bps: Some(first.links[0].rate.0 as f64),
        buffer_packets: None,
        rtt: Some(request.rtt.clone()),
        is_up: false,
        has_transfers: true,
    })
}

/// Returns what each class of users feels first: those of short and long transfers, of pages, and of each kind.
fn figures(cell: &Cell) -> Vec<Figure> {
    let endpoints = cell.endpoints().into_iter();
    let wanted = ["short_response_mean_s", "long_response_mean_s", "page_mean_s"];
    let mut found: Vec<(String, String, Source)> = endpoints
        .filter(|one| wanted.contains(&one.name.as_str()))
        .map(|one| (one.name, one.words, one.source))
        .collect();
    for kind in Kind::ALL {
        let first = cell.table.iter().find(|one| one.primary_of.contains(&kind));
        if let Some(quantity) = first.cloned() {
            let words = format!("{}: {}", kind.text(), quantity.words.axis);
            found.push((kind.name().to_owned(), words, Source { whose: Whose::Kind(kind), quantity }));
        }
    }
    found.retain(|(.., source)| cell.has(source));
    found.into_iter().map(|(name, words, source)| figure(cell, name, words, &source)).collect()
}

fn figure(cell: &Cell, name: String, words: String, source: &Source) -> Figure {
    let design = cell.design();
    let base = cell.values(source, cell.place(BASELINE));
    let quantity = &source.quantity;
    let values = cell.schemes().map(|scheme| {
        let own = cell.values(source, scheme);
        let estimate = interval(quantity, &own, &design);
        let change = log_ratio(&own, &base, &design).as_change();
        Value {
            scheme: cell.name(scheme).to_owned(),
            mean: known(estimate.mean),
            low: known(estimate.low),
            high: known(estimate.high),
            text: unit_text(quantity.unit, estimate.mean, false),
            change: if scheme == cell.baseline() || !change.mean.is_finite() {
                String::new()
            } else {
                change_text(change.mean, change.low, change.high)
            },
            verdict: verdict(quantity, &change),
        }
    });
    let is_less_better = quantity.better == Better::Less;
    Figure { name, words, unit: quantity.unit, is_less_better, values: values.collect() }
}

fn interval(quantity: &Quantity, values: &[f64], design: &Design) -> Estimate {
    if quantity.unit.is_share() { share_interval(values, design) } else { positive_interval(values, design) }
}

fn verdict(quantity: &Quantity, change: &Estimate) -> i8 {
    let direction = if quantity.better == Better::Less { 1 } else { -1 };
    match (change.high < 0.0, change.low > 0.0) {
        (true, _) => direction,
        (_, true) => -direction,
        _ => 0,
    }
}

fn known(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
