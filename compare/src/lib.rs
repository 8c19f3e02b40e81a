//! Runs a whole comparison: it simulates the scenarios of a request and returns the document with the results of
//! `mousehole-answer`.
//!
//! It depends on `sim` and `answer`, which do not depend on each other: a live router has an answer and no simulator. Like
//! both it compiles for `wasm32-unknown-unknown`, and starts no threads.

pub mod account;
pub mod capture;
mod comparison;
mod given;
pub mod installing;
mod manifest;
mod options;
mod records;
mod setting;
mod text;

pub use comparison::{Document, Known, Request, compare, judge_cells};
pub use given::{Given, Played};
pub use manifest::{
    Made, ManifestInput, SCHEMA, document_text, make_manifest, options_document, tcp_parameters,
};
pub use options::{
    Asked, BASELINE, BUFFER, LINE_BUFFER, MOST_REPLICATIONS, Options, REPLICATIONS, default_scenario,
    default_schemes, refuse_duplicates,
};
pub use records::{BULK, COLOURS, run_facts};
pub use setting::Around;
pub use text::json_text;

// The answer's sentences on short captures must name the simulator's limit.
const _: () = assert!(mousehole_answer::advice::SHORT_CAPTURE_S == mousehole_sim::traffic::together::LEAST);

/// Compares what a request in JSON asks for ([`Request`]); returns the document in JSON.
///
/// # Errors
/// One sentence that names the field, its value and what is allowed.
///
/// # Panics
/// As [`Request::run`].
pub fn compare_json(request: &str) -> Result<String, String> {
    let request: Request = serde_json::from_str(request).map_err(|error| format!("request: {error}"))?;
    let document = compare(&request).map_err(|error| error.to_string())?;
    Ok(json_text(&serde_json::to_value(document).map_err(|error| error.to_string())?))
}
