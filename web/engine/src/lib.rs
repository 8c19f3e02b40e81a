//! The functions that a page calls: a request goes in as JSON, and JSON or bytes come out.
//!
//! A caller writes its input where [`input`] says, calls one of the others, and reads the output at [`output`]. A fault
//! in the request makes a function return 1, and the output is then the sentence that names it. Everything is
//! `mousehole compare`'s: this crate decides nothing.

pub mod compare;
pub mod request;
pub mod watch;

use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::places;
use request::{DEFAULT_SCHEMES, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::sync::Mutex;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns where `bytes` bytes of input are to be written.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    let mut input = INPUT.lock().expect("one thread");
    input.clear();
    input.resize(bytes, 0);
    input.as_mut_ptr()
}

/// Returns where the output is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.lock().expect("one thread").as_ptr()
}

/// Returns how long it is.
#[unsafe(no_mangle)]
pub extern "C" fn output_bytes() -> usize {
    OUTPUT.lock().expect("one thread").len()
}

/// Keeps the words of a panic as the output, for whoever sees the trap.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| put(panic.to_string().into_bytes())));
}

/// Puts out what can be asked for: places, applications, default schemes, and the default request.
#[unsafe(no_mangle)]
pub extern "C" fn choices() -> u32 {
    let known = places::places();
    put_json(Ok(json!({
        "places": known.places,
        "apps": known.apps.iter().map(|one| (&one.name, one.share)).collect::<Vec<_>>(),
        "schemes": DEFAULT_SCHEMES,
        "request": Request::default(),
    })))
}

/// Checks a request; puts out its label and its schemes.
#[unsafe(no_mangle)]
pub extern "C" fn check() -> u32 {
    let checked = || {
        let found = read::<Request>(&take())?.checked()?;
        Ok(json!({ "label": found.label, "schemes": found.schemes, "seeds": found.seeds }))
    };
    put_json(checked())
}

/// Puts out the scenario of a run, filled in, as the manifest of `mousehole compare --json` has that of the first.
#[unsafe(no_mangle)]
pub extern "C" fn scenario(scheme: u32, replication: u32) -> u32 {
    let found = || Ok(read::<Request>(&take())?.checked()?.plan(scheme as usize, replication)?.filled());
    put_json(found())
}

/// Runs one replication of a scheme; puts out its facts as bytes.
#[unsafe(no_mangle)]
pub extern "C" fn run(scheme: u32, replication: u32) -> u32 {
    let found = read::<Request>(&take()).and_then(|one| compare::run_one(&one, scheme as usize, replication));
    put_result(found)
}

/// Puts out the answer. The input is the request and the facts of every run, by scheme and replication, each after its
/// length in four bytes, the lowest first.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> u32 {
    let input = take();
    let found = || {
        let parts = parts(&input).ok_or_else(|| Error::field("runs", "bytes", "parts with their lengths"))?;
        let (request, runs) = parts.split_first().ok_or_else(|| Error::field("runs", "none", "a request"))?;
        compare::answer(&read(request)?, runs)
    };
    put_json(found())
}

/// Puts out what happened to every packet in a queue.
#[unsafe(no_mangle)]
pub extern "C" fn watch() -> u32 {
    put_json(read(&take()).and_then(|one| watch::watched(&one)))
}

fn take() -> Vec<u8> {
    std::mem::take(&mut *INPUT.lock().expect("one thread"))
}

fn parts(mut input: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk::<4>() {
        let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        found.push(part);
        input = rest;
    }
    input.is_empty().then_some(found)
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|error| mousehole_sim::scenario::spec::form_problem(&error.to_string()).for_field("request"))
}

fn put(bytes: Vec<u8>) {
    if let Ok(mut output) = OUTPUT.lock() {
        *output = bytes;
    }
}

fn put_json<T: Serialize>(found: Result<T>) -> u32 {
    put_result(found.map(|value| serde_json::to_vec(&value).expect("what is put out is JSON")))
}

fn put_result(found: Result<Vec<u8>>) -> u32 {
    let is_fault = u32::from(found.is_err());
    put(found.unwrap_or_else(|error| error.to_string().into_bytes()));
    is_fault
}
