//! What is around cells and runs in the document: everything that determines them.

use crate::comparison::{Request, judged, make_document};
use crate::given::Given;
use crate::options::{Asked, Options};
use crate::text::json_text;
use mousehole_answer::comparison::{CENSORED_SHARE, Capture};
use mousehole_answer::reduction::Facts;
use mousehole_answer::sizes::cdf_times_s;
use mousehole_answer::statistics::intervals::LEAST_REPLICATIONS;
use mousehole_answer::statistics::levels::LEVEL;
use mousehole_answer::verdicts::MARGIN;
use mousehole_sim::error::Result;
use mousehole_sim::scenario::{Plan, Scheme};
use serde_json::{Map, Value, json};

/// Name of the form of the document, with its version.
pub const SCHEMA: &str = "mousehole.compare/3";

/// TCP parameters that the engine gives in nanoseconds.
const TCP_TIMES: [&str; 7] =
    ["initial_rto", "min_rto", "max_rto", "tick", "tick_phase", "timer_tick", "delayed_ack"];

/// Which program made a document.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// Its version.
    pub version: &'static str,
    /// The git revision that it was built from.
    pub revision: &'static str,
}

/// Returns the document that `mousehole compare --json` writes for the same options, as text; `runs` are the facts of every
/// run in the order of [`Request::tasks`].
///
/// # Errors
/// [`mousehole_sim::error::Error::Field`] for a fault in the options, or where runs are missing.
pub fn document_text(asked: &Asked, runs: Vec<Facts>, made: Made) -> Result<String> {
    let request = &asked.request;
    let cells = judged(request, runs)?;
    let document = make_document(request, &cells);
    let mut whole = serde_json::to_value(document).expect("a document is JSON");
    let mut manifest = manifest(request, made)?;
    manifest["statistics"]["primary_endpoint"] = cells[0].0.cell.primary().words.clone().into();
    let around = json!({
        "schema": SCHEMA,
        "manifest": manifest,
        "traffic": request.known.summary.as_ref().map_or_else(|| json!({}), |summary| json!(summary)),
        "capture": request.known.capture.as_ref().map(capture),
        "plan": plan(request, &asked.base),
    });
    let fields = whole.as_object_mut().expect("a document has fields");
    fields.extend(around.as_object().expect("an object").clone());
    Ok(json_text(&whole))
}

/// Makes the runs that options ask for, of traffic that was read if they name files, one after the other; returns the
/// document as [`document_text`] does.
///
/// # Errors
/// Those of [`Options::asked`], [`document_text`] and [`Request::run`].
pub fn options_document(options: &Options, read: Option<&Given>, made: Made) -> Result<String> {
    let asked = options.asked(read)?;
    document_text(&asked, asked.request.run_all()?, made)
}

/// Returns what stands behind verdicts on a capture.
fn capture(capture: &Capture) -> Value {
    json!({
        "period_s": capture.period_s,
        "counted": { "short": capture.short, "long": capture.long, "all": capture.all },
        "freedom": capture.freedom,
        "large": capture.large,
        "pipe_bytes": capture.pipe_bytes,
        "is_fitted": capture.is_fitted,
    })
}

/// Returns the files of the traffic.
fn inputs(request: &Request) -> Vec<Value> {
    let traffic = request.known.given.as_ref().and_then(Given::replayed);
    let sources = traffic.iter().flat_map(|traffic| &traffic.sources);
    sources.map(|source| json!({ "name": source.name, "sha256": source.sha256 })).collect()
}

/// Returns every TCP parameter in force in a plan; the names of times end in `_ns`. Where senders have shares, these are
/// the values by profile, each with its `share`.
pub fn tcp_parameters(plan: &Plan) -> Value {
    let named = |params: &dyn Fn() -> Value| -> Map<String, Value> {
        let Value::Object(fields) = params() else { unreachable!("parameters have names") };
        let name =
            |name: String| if TCP_TIMES.contains(&name.as_str()) { format!("{name}_ns") } else { name };
        fields.into_iter().map(|(field, value)| (name(field), value)).collect()
    };
    let of = |params| named(&|| serde_json::to_value(params).expect("parameters are JSON"));
    match plan.senders.shares() {
        [one] => Value::Object(of(&one.params)),
        several => several
            .iter()
            .map(|one| {
                let mut fields = of(&one.params);
                fields.insert("share".to_owned(), one.share.into());
                (one.profile.clone(), Value::Object(fields))
            })
            .collect(),
    }
}

/// Returns how intervals and verdicts come about.
pub fn statistics(is_sequential: bool, short_bytes: u64, long_bytes: u64) -> Value {
    let looks = match is_sequential {
        true => "the error halves at each look: at up to 10 replications, at up to 20, at up to 40, …",
        false => "one, at this number of replications",
    };
    json!({
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
    })
}

/// Returns the manifest of a comparison of one cell, but for its primary endpoint.
fn manifest(request: &Request, made: Made) -> Result<Value> {
    let first = Plan::new(&request.scenario(0, request.baseline(), 0))?;
    let schemes = request.schemes.iter().map(|scheme| {
        let parsed = Scheme::parse(scheme)?;
        let values: Map<String, Value> =
            parsed.parameters().into_iter().map(|(name, _, value)| (name, value.into())).collect();
        Ok(json!({ "scheme": scheme, "parameters": values }))
    });
    Ok(json!({
        "mousehole_version": made.version,
        "git_revision": made.revision,
        "inputs": inputs(request),
        "seed": first.scenario.seed,
        "replications": request.replications,
        "buffers": [request.cells[0].link.buffer],
        "loads": [request.known.load],
        "baseline": request.baseline(),
        "schemes": schemes.collect::<Result<Vec<Value>>>()?,
        "scenario": first.filled(),
        "tcp": tcp_parameters(&first),
        "statistics": statistics(false, request.short_bytes, request.long_bytes),
    }))
}

/// Returns the plan of a comparison of one cell.
fn plan(request: &Request, base: &Value) -> Value {
    json!({
        "buffers": [request.cells[0].link.buffer],
        "loads": [request.known.load],
        "schemes": request.schemes,
        "baseline": request.baseline(),
        "replications": request.replications,
        "short_bytes": request.short_bytes,
        "long_bytes": request.long_bytes,
        "first_replication": 0,
        "in_rounds": false,
        "is_sequential": false,
        "vetoes": request.vetoes,
        "reference": request.reference,
        "instead_of": request.known.instead_of,
        "scenario": base,
        "warmup": request.known.warmup,
    })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const STATED: &str = include_str!("../../docs/mousehole.compare-3.schema.json");
    const MADE: Made = Made { version: "0.0.0", revision: "none" };

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

    fn names(object: &Value) -> BTreeSet<&str> {
        object.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    /// Returns the fields that a definition of the schema requires; the whole document's without a name.
    fn required<'a>(schema: &'a Value, definition: &str) -> BTreeSet<&'a str> {
        let own = if definition.is_empty() { schema } else { &schema["$defs"][definition] };
        own["required"].as_array().expect("names").iter().map(|name| name.as_str().expect("a name")).collect()
    }

    #[test]
    fn options_document__has_the_fields_that_the_schema_requires() {
        let schema: Value = serde_json::from_str(STATED).unwrap();
        let text = options_document(&small(), None, MADE).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(names(&document), required(&schema, ""));
        assert_eq!(names(&document["manifest"]), required(&schema, "Manifest"));
        assert_eq!(names(&document["manifest"]["schemes"][0]), required(&schema, "SchemeParameters"));
        assert_eq!(names(&document["plan"]), required(&schema, "PlanEntry"));
        assert_eq!(document["schema"], SCHEMA);
        assert_eq!(document["manifest"]["git_revision"], "none");
        assert_eq!(
            document["manifest"]["statistics"]["primary_endpoint"].as_str().map(str::is_empty),
            Some(false)
        );
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
    fn document_text__wants_every_run() {
        let error = document_text(&small().asked(None).unwrap(), Vec::new(), MADE).unwrap_err().to_string();
        assert!(error.contains("2 runs"), "{error}");
    }

    #[test]
    fn tcp_parameters__times_have_their_unit() {
        let asked = small().asked(None).unwrap();
        let plan = Plan::new(&asked.request.scenario(0, "droptail", 0)).unwrap();
        let found = tcp_parameters(&plan);
        for time in TCP_TIMES {
            assert!(found.get(format!("{time}_ns")).is_some() && found.get(time).is_none(), "{time}");
        }
    }
}
