//! The parts of the document in addition to cells and runs: the manifest, with everything that determines the results.

use crate::comparison::{Request, judge_cells, make_document};
use crate::given::Given;
use crate::options::{Asked, Options};
use crate::text::json_text;
use mousehole_answer::comparison::{CENSORED_SHARE, Capture};
use mousehole_answer::judged::Judged;
use mousehole_answer::manifest::{InputEntry, Manifest, Object, PlanEntry, SchemeParameters};
use mousehole_answer::setting::Setting;
use mousehole_answer::sizes::cdf_times_s;
use mousehole_answer::statistics::intervals::LEAST_REPLICATIONS;
use mousehole_answer::statistics::levels::LEVEL;
use mousehole_answer::verdicts::MARGIN;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scheme};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Name and version of the document's schema.
pub const SCHEMA: &str = "mousehole.compare/3";

/// TCP parameters that are times, in nanoseconds.
const TCP_TIMES: [&str; 7] =
    ["initial_rto", "min_rto", "max_rto", "tick", "tick_phase", "timer_tick", "delayed_ack"];

/// The program that makes a document.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// Its version.
    pub version: &'static str,
    /// The git revision that it was built from.
    pub revision: &'static str,
}

/// The fields of a manifest that do not follow from the scenarios, from a caller that has read the files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestInput {
    /// The plan that was run.
    pub plan: PlanEntry,
    /// The baseline's scenario in the first cell with every parameter filled in, without directories.
    pub scenario: Object,
    /// Files of the traffic and of the link.
    pub inputs: Vec<InputEntry>,
    /// The mean in bit/s of each direction whose rate varies.
    pub mean_rates: Option<BTreeMap<String, u64>>,
}

/// Returns the manifest of a comparison without its primary endpoint, which follows from the runs; `first` is the baseline's
/// plan in the first cell.
///
/// # Errors
/// Those of [`Scheme::parse`].
pub fn make_manifest(first: &Plan, given: ManifestInput, made: Made) -> Result<Manifest> {
    let ManifestInput { plan, scenario, inputs, mean_rates } = given;
    Ok(Manifest {
        mean_rates,
        mousehole_version: made.version.to_owned(),
        git_revision: made.revision.to_owned(),
        inputs,
        seed: first.scenario.seed,
        replications: plan.replications,
        schemes: plan.schemes.iter().map(|scheme| scheme_parameters(scheme)).collect::<Result<_>>()?,
        buffers: plan.buffers,
        loads: plan.loads,
        baseline: plan.baseline,
        scenario,
        tcp: tcp_parameters(first),
        statistics: describe_statistics(plan.is_sequential, plan.short_bytes, plan.long_bytes),
    })
}

/// Returns the document that `mousehole compare --json` writes for the same options, as text;
/// `cells` are those of [`judge_cells`] for their request.
///
/// # Errors
/// [`mousehole_sim::error::Error::Field`] for a fault in the options.
///
/// # Panics
/// Without a cell.
pub fn document_text(asked: &Asked, cells: &[(Judged, Setting)], made: Made) -> Result<String> {
    let request = &asked.request;
    let document = make_document(request, cells);
    let mut whole = serde_json::to_value(document).expect("a document is JSON");
    let plan = make_plan(request, asked.base.clone());
    let first = Plan::new(&request.scenario(0, request.baseline(), 0))?;
    let scenario = make_object(first.filled());
    let given =
        ManifestInput { plan: plan.clone(), scenario, inputs: list_inputs(request), mean_rates: None };
    let mut manifest = make_manifest(&first, given, made)?;
    let primary = cells[0].0.cell.primary().words.clone();
    manifest.statistics.insert("primary_endpoint".to_owned(), primary.into());
    let around = json!({
        "schema": SCHEMA,
        "manifest": manifest,
        "traffic": request.known.summary.as_ref().map_or_else(|| json!({}), |summary| json!(summary)),
        "capture": request.known.capture.as_ref().map(capture_value),
        "plan": plan,
    });
    let fields = whole.as_object_mut().expect("a document has fields");
    fields.extend(around.as_object().expect("an object").clone());
    Ok(json_text(&whole))
}

/// Runs the comparison that options describe, one run after the other, and returns the document as
/// [`document_text`] does. `read` is the traffic in their files, if they name files.
///
/// # Errors
/// Those of [`Options::asked`], [`judge_cells`] and [`Request::run`].
///
/// # Panics
/// As [`Request::run`].
pub fn options_document(options: &Options, read: Option<&Given>, made: Made) -> Result<String> {
    let asked = options.asked(read)?;
    document_text(&asked, &judge_cells(&asked.request, asked.request.run_all()?)?, made)
}

/// Returns the document's field `capture`: the amounts on which verdicts on a capture rest.
fn capture_value(capture: &Capture) -> Value {
    json!({
        "period_s": capture.period_s,
        "counted": { "short": capture.short, "long": capture.long, "all": capture.all },
        "freedom": capture.freedom,
        "large": capture.large,
        "pipe_bytes": capture.pipe_bytes,
        "is_fitted": capture.is_fitted,
    })
}

/// Returns name and SHA-256 of each file of the traffic; empty for a model.
fn list_inputs(request: &Request) -> Vec<InputEntry> {
    let traffic = request.known.given.as_ref().and_then(Given::replayed);
    let sources = traffic.iter().flat_map(|traffic| &traffic.sources);
    sources.map(|source| InputEntry { name: source.name.clone(), sha256: source.sha256.clone() }).collect()
}

/// Returns every TCP parameter in force in a plan; the names of times end in `_ns`. If there are several profiles of senders,
/// returns these values for each profile, with its `share`.
pub fn tcp_parameters(plan: &Plan) -> Object {
    let name = |name: String| if TCP_TIMES.contains(&name.as_str()) { format!("{name}_ns") } else { name };
    let named = |params| -> Object {
        make_object(params).into_iter().map(|(field, value)| (name(field), value)).collect()
    };
    match plan.senders.shares() {
        [one] => named(&one.params),
        several => several
            .iter()
            .map(|one| {
                let mut fields = named(&one.params);
                fields.insert("share".to_owned(), one.share.into());
                (one.profile.clone(), fields.into())
            })
            .collect(),
    }
}

/// Returns the manifest's field `statistics`: the methods and levels of intervals and verdicts.
fn describe_statistics(is_sequential: bool, short_bytes: u64, long_bytes: u64) -> Object {
    let looks = match is_sequential {
        true => "the error halves at each look: at up to 10 replications, at up to 20, at up to 40, …",
        false => "one, at this number of replications",
    };
    make_object(json!({
        "unit": "replication",
        "interval": "Student's t over the logarithms of the replications' ratios; jackknife for a mean",
        "family": "largest t of the schemes against one reference by the bootstrap, for the primary endpoint",
        "looks": looks,
        "equivalence_margin": MARGIN,
        "level": LEVEL,
        "least_replications": LEAST_REPLICATIONS,
        "short_bytes": short_bytes,
        "long_bytes": long_bytes,
        "censored_share_for_bound": CENSORED_SHARE,
        "cdf_points": cdf_times_s().len(),
    }))
}

/// Returns the value of every parameter of a scheme, and the digests of users' headers in it.
///
/// # Errors
/// Those of [`Scheme::parse`].
fn scheme_parameters(scheme: &str) -> Result<SchemeParameters> {
    let parsed = Scheme::parse(scheme)?;
    let own = parsed.own_headers();
    Ok(SchemeParameters {
        scheme: scheme.to_owned(),
        parameters: parsed.parameters().into_iter().map(|(name, _, value)| (name, value)).collect(),
        policies: (!own.is_empty()).then_some(own),
    })
}

/// Returns the plan of a comparison of one cell; `base` is the scenario that was given, a JSON
/// object.
fn make_plan(request: &Request, base: Value) -> PlanEntry {
    PlanEntry {
        buffers: vec![request.cells[0].link.buffer.clone()],
        loads: vec![request.known.load],
        schemes: request.schemes.clone(),
        baseline: request.baseline().to_owned(),
        replications: request.replications,
        short_bytes: request.short_bytes,
        long_bytes: request.long_bytes,
        first_replication: 0,
        in_rounds: false,
        is_sequential: false,
        vetoes: request.vetoes.clone(),
        reference: request.reference.clone(),
        instead_of: request.known.instead_of.clone(),
        scenario: make_object(base),
        warmup: request.known.warmup.clone(),
    }
}

/// Returns the JSON object of a struct or map.
///
/// # Panics
/// For any other value.
fn make_object(value: impl Serialize) -> Object {
    match serde_json::to_value(value).expect("it is JSON") {
        Value::Object(fields) => fields,
        other => unreachable!("{other} has no fields"),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    const MADE: Made = Made { version: "0.0.0", revision: "none" };

    /// Returns options for two runs of two seconds, with the greatest seed.
    fn small() -> Options {
        Options {
            schemes: vec!["sfd".into()],
            seeds: 1,
            duration: "2s".into(),
            warmup: Some("1s".into()),
            seed: u64::MAX,
            ..Options::default()
        }
    }

    #[test]
    fn options_document__says_what_made_it_and_what_is_judged() {
        let document: Value = serde_json::from_str(&options_document(&small(), None, MADE).unwrap()).unwrap();
        assert_eq!(document["schema"], SCHEMA);
        assert_eq!(document["manifest"]["git_revision"], "none");
        let primary = &document["manifest"]["statistics"]["primary_endpoint"];
        assert_eq!(primary.as_str().map(str::is_empty), Some(false));
        assert_eq!(document["runs"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn options_document__keeps_every_digit_of_the_seed() {
        let text = options_document(&small(), None, MADE).unwrap();
        assert_eq!(
            text.matches("\"seed\": 18446744073709551615").count(),
            3,
            "of manifest, its scenario and plan"
        );
    }

    #[test]
    fn judge_cells__wants_every_run() {
        let error = judge_cells(&small().asked(None).unwrap().request, Vec::new()).unwrap_err().to_string();
        assert!(error.contains("2 runs"), "{error}");
    }

    #[test]
    fn tcp_parameters__times_have_their_unit() {
        let asked = small().asked(None).unwrap();
        let plan = Plan::new(&asked.request.scenario(0, "droptail", 0)).unwrap();
        let found = tcp_parameters(&plan);
        for time in TCP_TIMES {
            assert!(found.get(&format!("{time}_ns")).is_some() && found.get(time).is_none(), "{time}");
        }
    }
}
