//! The JSON Schema of `mousehole.compare/3`, made of the types of the document and their doc comments.
//!
//! The test writes docs/mousehole.compare-3.schema.json anew if `MOUSEHOLE_RENEW` is set, and otherwise compares with it.
//! What only Python puts around cells and runs has its types here; `python/tests/test_json.py` checks documents against
//! them.

use crate::document::{CellEntry, RunEntry};
use crate::manifest::{Manifest, Object, PlanEntry};
use crate::quantities::{Quantity, Subject, table};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mousehole.compare-3.schema.json");
/// What `mousehole compare` has found.
#[derive(Serialize, JsonSchema)]
struct Document {
    /// Name and version of this schema.
    #[schemars(extend("const" = "mousehole.compare/3"))]
    schema: String,
    manifest: Manifest,
    /// What was understood of the traffic, as in mousehole.inspect/1; empty if a scenario generates all.
    traffic: Object,
    /// One for each buffer and load.
    cells: Vec<CellEntry>,
    /// Remarks on all cells.
    notes: Vec<String>,
    /// Name of the traffic, for titles.
    label: String,
    plan: PlanEntry,
    /// The capture that is replayed; null if a model draws any traffic.
    capture: Option<CaptureEntry>,
    /// The facts of every run, from which everything else follows.
    runs: Vec<RunEntry>,
    /// Of `mousehole link` only: every run on real packets, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Vec<LinkRunEntry>>,
}

/// The capture that is replayed.
#[derive(Serialize, JsonSchema)]
struct CaptureEntry {
    /// Length of the capture, after which it repeats.
    period_s: f64,
    /// Distinct transfers and clients of the classes short, long and all.
    counted: BTreeMap<String, BTreeMap<String, u64>>,
    /// Degrees of freedom for the variance between captures; null for infinitely many.
    freedom: Option<f64>,
    /// Connections with more bytes than the bandwidth-delay product.
    large: u64,
    /// The bandwidth-delay product, 0 if the bottleneck has no rate of its own.
    pipe_bytes: f64,
    /// Whether each replication plays a model fitted to a resample of the capture.
    is_fitted: bool,
}

/// One run on real packets.
#[derive(Serialize, JsonSchema)]
struct LinkRunEntry {
    scheme: String,
    buffer: String,
    round: u32,
    /// Whether its figures can be relied on.
    is_valid: bool,
    /// Whether the figures have it in them.
    counts: bool,
    /// Congestion control of programs that chose none, by the kernel's name; null if unknown.
    congestion: Option<String>,
    /// How the run went, as in mousehole.run/2.
    account: LinkAccount,
}

/// How a run on real packets went; `faults` are the reasons why its figures cannot be relied on.
#[derive(Serialize, JsonSchema)]
struct LinkAccount {
    #[schemars(range(min = 0))]
    seconds: f64,
    /// Of the command; null if it was ended.
    status: Option<i32>,
    /// Programs that the command left running.
    left_behind: u64,
    /// Of the server's command; null while it ran.
    server_status: Option<i32>,
    is_valid: bool,
    faults: Vec<String>,
    lateness: Lateness,
    cpu_share: f64,
    cpu_use: f64,
    is_real_time: bool,
    flows: u64,
    most_flows: u64,
    not_ip: u64,
    too_large: u64,
    write_failed: u64,
    lost_in_client: u64,
    lost_in_server: u64,
    left_out_of_pcapng: u64,
    down: LinkWay,
    up: LinkWay,
}

/// How late packets were delivered, beyond the time at which they were due.
#[derive(Serialize, JsonSchema)]
struct Lateness {
    packets: u64,
    p50_s: f64,
    p99_s: f64,
    p999_s: f64,
    most_s: f64,
    beyond_2ms: u64,
}

/// The packets of one direction: sent = delivered + dropped + under way.
#[derive(Serialize, JsonSchema)]
struct LinkWay {
    sent: u64,
    delivered: u64,
    dropped: u64,
    marked: u64,
    under_way: u64,
    delivered_bytes: u64,
}

/// Returns the schema; the columns of quantities are those of `table`.
fn schema(table: &[Quantity]) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut whole = generator.into_root_schema_for::<Document>().to_value();
    whole["title"] = json!("mousehole.compare/3");
    close(&mut whole, "");
    for (definition, subject) in [("BucketRow", Subject::Bucket), ("SchemeEntry", Subject::Scheme)] {
        insert_columns(&mut whole["$defs"][definition], table, subject);
    }
    let applications = table.iter().filter(|one| one.subject == Subject::Application);
    whole["$defs"]["GroupRow"]["properties"]["what"]["enum"] = applications.map(Quantity::name).collect();
    whole
}

/// Inserts the columns of a subject's quantities into a definition of the schema, which must have
/// the numbers by name in their place (`columns::Columns`).
fn insert_columns(entry: &mut Value, table: &[Quantity], subject: Subject) {
    let is_any_number =
        entry.as_object_mut().expect("an object").insert("additionalProperties".into(), json!(false));
    assert_eq!(is_any_number, Some(json!({"type": ["number", "null"]})), "{subject:?} has no columns");
    for one in table.iter().filter(|one| one.subject == subject) {
        let (low, high) = one.ends();
        let text = format!("{} (mean over replications)", one.words.long);
        let texts = [text, "lower end of its 95 % interval".into(), "upper end of its 95 % interval".into()];
        for (name, text) in [one.name(), low, high].into_iter().zip(texts) {
            entry["properties"][&name] =
                json!({"minimum": 0, "type": ["number", "null"], "description": text});
            entry["required"].as_array_mut().expect("names").push(name.into());
        }
    }
}

/// Forbids fields that are not listed, puts texts on one line, and allows no measured number below
/// zero; `name` is the field's. Changes the schema and everything in it.
fn close(schema: &mut Value, name: &str) {
    const MEASURED: [&str; 6] = ["_s", "_bps", "_bytes", "_packets", "_share", "margin"];
    let is_signed = name.starts_with("difference") || name.starts_with("value") || name.contains("change");
    let is_number = schema["type"].as_str() == Some("number")
        || schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("number")));
    let Value::Object(own) = schema else { return };
    if is_number && !is_signed && MEASURED.iter().any(|end| name.ends_with(end)) {
        own.insert("minimum".into(), json!(0));
    }
    own.remove("format");
    if let Some(Value::String(text)) = own.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if own.contains_key("properties") {
        own.entry("additionalProperties").or_insert(json!(false));
    }
    for (keyword, inner) in own.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties" | "$defs", Value::Object(inner)) => {
                inner.iter_mut().for_each(|(name, each)| close(each, name));
            }
            ("items" | "additionalProperties", inner) => close(inner, name),
            ("anyOf" | "oneOf", Value::Array(inner)) => inner.iter_mut().for_each(|each| close(each, name)),
            _ => {}
        }
    }
}

/// Returns the schema of the shipped quantities as the text of its file.
fn written() -> String {
    let mut text = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
    schema(&table()).serialize(&mut serde_json::Serializer::with_formatter(&mut text, format)).expect("JSON");
    String::from_utf8(text).expect("UTF-8") + "\n"
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn schema__stands_as_make_docs_writes_it() {
        if std::env::var_os("MOUSEHOLE_RENEW").is_some() {
            std::fs::write(FILE, written()).expect("the file can be written");
        }
        let stands = std::fs::read_to_string(FILE).expect("the schema is there");
        assert!(stands == written(), "{FILE} is older than the types of the document; run make docs");
    }

    #[test]
    fn schema__has_the_columns_of_an_added_quantity() {
        let mut own = table();
        let first = own.iter().find(|one| one.subject == Subject::Bucket).expect("buckets have quantities");
        let added = Quantity { stem: "response_p42".into(), ..first.clone() };
        own.push(added);
        let bucket = &schema(&own)["$defs"]["BucketRow"];
        for name in ["response_p42_s", "response_p42_low_s", "response_p42_high_s"] {
            assert!(bucket["properties"][name].is_object(), "{name}");
            assert!(bucket["required"].as_array().expect("names").contains(&json!(name)), "{name}");
            assert!(schema(&table())["$defs"]["BucketRow"]["properties"][name].is_null(), "{name}");
        }
    }
}
