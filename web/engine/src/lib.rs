//! The functions that a page calls: a request goes in as JSON, and JSON or bytes come out.
//!
//! A caller writes its input where [`input`] says, calls one of the others, and reads the output at [`output`]. A fault
//! in the request makes a function return 1, and the output is then the sentence that names it. Everything is
//! `mousehole compare`'s: this crate decides nothing.

mod files;
pub mod watch;

use mousehole_answer::quantities::{Better, Quantity, table};
use mousehole_answer::reduction::Facts;
use mousehole_answer::report::report_cell;
use mousehole_answer::sizes::curve_edges_bytes;
use mousehole_compare::{
    Asked, BASELINE, Given, MOST_REPLICATIONS, Made, Options, Request, account, document_text, judge_cells,
};
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::{Plan, Scenario, places};
use mousehole_sim::traffic::model;
use mousehole_sim::units::parse_rate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::sync::Mutex;

const MADE: Made = Made { version: env!("CARGO_PKG_VERSION"), revision: env!("MOUSEHOLE_REVISION") };

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// What was read of the files, until others are read.
static READ: Mutex<Option<Given>> = Mutex::new(None);
/// The options that were checked last, so that runs of one comparison share what was found of its traffic.
static ASKED: Mutex<Option<(Vec<u8>, Asked)>> = Mutex::new(None);

/// Returns the address at which the caller must write `bytes` bytes of input, which are zeros until then. It holds
/// until the next call of any function. The memory may have moved for it, so the caller looks at the memory afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut input = INPUT.lock().expect("one thread");
    input.clear();
    input.resize(bytes, 0);
    input.as_mut_ptr()
}

/// Returns the address of the output, which holds until the next function puts something out.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.lock().expect("one thread").as_ptr()
}

/// Returns the length of the output, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_bytes() -> usize {
    OUTPUT.lock().expect("one thread").len()
}

/// Lets a panic store its message as the output, for a caller that sees the trap. To be called once, before the others.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| store_output(panic.to_string().into_bytes())));
}

/// Puts out what can be asked for: places, applications, default schemes, the default options and the largest numbers; and
/// what is measured. Takes no input and has no fault.
#[unsafe(no_mangle)]
pub extern "C" fn choices() -> u32 {
    let known = places::places();
    put_json(Ok(json!({
        "places": known.places,
        "apps": known.apps.iter().map(|one| (&one.name, one.share)).collect::<Vec<_>>(),
        "request": Options::default(),
        "models": model::MODELS.iter().map(|one| (one.name, one.summary)).collect::<Vec<_>>(),
        "most": { "users": places::MOST_USERS, "seeds": MOST_REPLICATIONS, "file_bytes": files::MOST_BYTES },
        "quantities": table().iter().map(describe_quantity).collect::<Vec<_>>(),
    })))
}

/// Checks options, as JSON; puts out the schemes that are compared, in whose order [`run`] numbers them. A fault is
/// that of [`Options::asked`]. Stores the checked options for calls with the same bytes.
#[unsafe(no_mangle)]
pub extern "C" fn check() -> u32 {
    put_json(with_asked(take_input(), |asked| Ok(json!({ "schemes": asked.request.schemes }))))
}

/// Reads the files that the options name from the page, in their order; puts out nothing. Functions that are called later
/// with these files' names take what was read. What was read before is forgotten first, so after a fault there is
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    *READ.lock().expect("one thread") = None;
    *ASKED.lock().expect("one thread") = None;
    let found = || {
        let options = read::<Options>(&take_input())?;
        *READ.lock().expect("one thread") = Some(files::read(&options)?);
        Ok(Vec::new())
    };
    put_result(found())
}

/// Puts out what was understood of the files, as `mousehole inspect --rate` shows it at the rate down. A fault if no
/// files were read by [`open`], or the rate is none.
#[unsafe(no_mangle)]
pub extern "C" fn inspect() -> u32 {
    let found = || {
        let options = read::<Options>(&take_input())?;
        let given = READ.lock().expect("one thread").clone();
        let given = given.ok_or_else(|| Error::missing("files", "files that were read"))?;
        let summary = given.summary(Some(parse_rate("down", &options.down)?));
        let (facts, remarks) = (account::list_facts(&summary), account::list_remarks(&summary));
        Ok(json!({ "title": account::title_text(&summary), "facts": facts, "remarks": remarks }))
    };
    put_json(found())
}

/// Puts out the scenario of the baseline's first run, filled in, as the manifest of `mousehole compare --json` has it.
/// The input is the options.
#[unsafe(no_mangle)]
pub extern "C" fn scenario() -> u32 {
    put_json(with_asked(take_input(), |asked| {
        Ok(Plan::new(&asked.request.scenario(0, BASELINE, 0))?.filled())
    }))
}

/// Makes one run of the options in the input, by the numbers of its scheme and replication, both from 0; puts out its
/// facts as bytes, which depend on these alone and not on other runs. Traps if there is no such scheme, or the engine
/// lost packets.
#[unsafe(no_mangle)]
pub extern "C" fn run(scheme: u32, replication: u32) -> u32 {
    put_result(with_asked(take_input(), |asked| {
        let facts = asked.request.run(0, scheme as usize, replication)?;
        Ok(postcard::to_stdvec(&facts).expect("facts can be written"))
    }))
}

/// Puts out the document of a comparison, byte for byte as `mousehole compare --json` writes it, after its length, and then
/// the report of its cell. The input is the options and the facts of every run, by replication and scheme, each after its
/// length: first those of replication 0 under each scheme in order. A length is four bytes, the lowest first. A fault
/// for parts or facts that are none, and for another number of runs.
#[unsafe(no_mangle)]
pub extern "C" fn document() -> u32 {
    let input = take_input();
    let found = || {
        let parts =
            split_input(&input).ok_or_else(|| Error::field("runs", "bytes", "parts with their lengths"))?;
        let (options, runs) = parts.split_first().ok_or_else(|| Error::field("runs", "none", "options"))?;
        let facts = |bytes: &&[u8]| {
            postcard::from_bytes::<Facts>(bytes).map_err(|_| Error::field("runs", "a run", "facts of a run"))
        };
        let runs = runs.iter().map(facts).collect::<Result<Vec<Facts>>>()?;
        with_asked(options.to_vec(), |asked| {
            let cells = judge_cells(&asked.request, runs)?;
            let document = document_text(asked, &cells, MADE)?;
            let (judged, setting) = &cells[0];
            let report =
                serde_json::to_vec(&report_cell(judged, &setting.duration)).expect("a report is JSON");
            Ok([&(document.len() as u32).to_le_bytes(), document.as_bytes(), &report].concat())
        })
    };
    put_result(found())
}

/// Makes one run of the scenario in the input; puts out how many transfers of each size there were and their mean
/// response time, s, by bins that begin at `bytes` and end where the next begins; null for one without transfers.
#[unsafe(no_mangle)]
pub extern "C" fn curve(replication: u32) -> u32 {
    let found = || {
        let cell = read::<Scenario>(&take_input())?;
        let request = Request::for_runs(cell);
        let facts = request.run(0, 0, replication)?;
        let edges = curve_edges_bytes();
        Ok(json!({
            "bytes": edges[..edges.len() - 1],
            "count": facts.curve_count,
            "mean_s": facts.curve_mean_s,
        }))
    };
    put_json(found())
}

/// Puts out what happened to every packet in a queue, a [`watch::Watched`]; the input is a [`watch::Watch`].
#[unsafe(no_mangle)]
pub extern "C" fn watch() -> u32 {
    put_json(read(&take_input()).and_then(|one| watch::watch_link(&one)))
}

/// Returns a quantity's name, subject, words, unit and direction, by which a page draws it.
fn describe_quantity(one: &Quantity) -> serde_json::Value {
    json!({
        "name": one.name(),
        "subject": one.subject,
        "words": one.words.axis,
        "unit": one.unit,
        "is_less_better": one.better == Better::Less,
    })
}

/// Takes the input, which is empty afterwards.
fn take_input() -> Vec<u8> {
    std::mem::take(&mut *INPUT.lock().expect("one thread"))
}

/// Calls a function with options that were checked: those of the last call if the bytes are the same, else it parses,
/// checks and stores them.
///
/// # Errors
/// [`Error::Field`] for bytes that are no options, and those of [`Options::asked`], after both of which nothing is
/// stored; those of `work`.
fn with_asked<T>(options: Vec<u8>, work: impl FnOnce(&Asked) -> Result<T>) -> Result<T> {
    let mut kept = ASKED.lock().expect("one thread");
    if kept.as_ref().is_none_or(|(known, _)| *known != options) {
        *kept = None;
        let asked = read::<Options>(&options)?.asked(READ.lock().expect("one thread").as_ref())?;
        *kept = Some((options, asked));
    }
    work(&kept.as_ref().expect("it was put there").1)
}

/// Returns the parts of the input, each of which follows its length; None if a length goes beyond the end or is cut
/// off.
fn split_input(mut input: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk::<4>() {
        let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        found.push(part);
        input = rest;
    }
    input.is_empty().then_some(found)
}

/// Parses a request.
///
/// # Errors
/// [`Error::Field`] of `request`, with what in it is unknown, absent or of another form.
fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|error| mousehole_sim::scenario::spec::form_problem(&error.to_string()).for_field("request"))
}

/// Replaces the output; does nothing if a panic happened while it was locked.
fn store_output(bytes: Vec<u8>) {
    if let Ok(mut output) = OUTPUT.lock() {
        *output = bytes;
    }
}

/// Puts out a value as JSON, or the sentence of a fault. Returns 1 for a fault, else 0.
fn put_json<T: Serialize>(found: Result<T>) -> u32 {
    put_result(found.map(|value| serde_json::to_vec(&value).expect("what is put out is JSON")))
}

/// Puts out bytes, or the sentence of a fault. Returns 1 for a fault, else 0.
fn put_result(found: Result<Vec<u8>>) -> u32 {
    let is_fault = u32::from(found.is_err());
    store_output(found.unwrap_or_else(|error| error.to_string().into_bytes()));
    is_fault
}
