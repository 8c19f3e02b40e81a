//! Binds what users' own policies need: templates, loading, trials, checks, and the folder of headers.

use crate::convert::{from_python, to_python};
use crate::errors;
use mousehole_check::{Options, TemplateKind, check, refuse, template, try_policy};
use mousehole_policy::Params;
use mousehole_sim::error::{Error, Result, quote};
use mousehole_sim::scenario::{self, Plan, Scenario, run};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval between two checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Calls `work` in another thread and returns its result; other Python threads run meanwhile.
/// Ctrl-C raises `KeyboardInterrupt` at once, and the other thread goes on alone; its result is
/// lost. Other signal handlers run every 50 ms, and what they raise ends the wait too. Raises
/// `RuntimeError` if `work` panics.
///
/// # Panics
/// If the system cannot start a thread.
fn run_interruptibly<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let mut receiver = Mutex::new(receiver);
    std::thread::spawn(move || sender.send(work()));
    loop {
        let receiver = receiver.get_mut().unwrap_or_else(PoisonError::into_inner);
        match py.detach(move || receiver.recv_timeout(POLL)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine panicked"));
            }
        }
    }
}

/// Compiles and loads a user's policy header, and returns the policy's name. Ctrl-C ends the wait at once. Raises
/// `MouseholeError` for a header that cannot be compiled or used.
#[pyfunction]
fn load_policy(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let loaded = run_interruptibly(py, move || scenario::load_policy(&path))?;
    loaded.map(|policy| policy.name().to_string()).map_err(|error| errors::to_python(py, error))
}

/// Longest time that a call of an own policy may take in a trial.
const TRIAL_CALL: Duration = Duration::from_secs(2);

/// Largest number of different sets of parameters that one trial plays records with.
const TRIED: usize = 64;

/// Seed of a trial's records.
const TRIAL_SEED: u64 = 1;

/// Loads the headers of own policies and plays random records to their policies, with default parameters if there are no
/// scenarios, else with those that a run of each scenario sets up. The caller is a process that was started for this and
/// may crash; a call of a policy may take `TRIAL_CALL`. Returns the header at fault and its fault, or None. Any other
/// fault of a scenario is ignored.
#[pyfunction]
// python: scenarios: Sequence[Mapping[str, object]]
fn try_policies(
    py: Python<'_>,
    headers: Vec<PathBuf>,
    scenarios: Vec<Bound<'_, PyAny>>,
) -> PyResult<Option<(String, String)>> {
    mousehole_policy::limit_calls(TRIAL_CALL);
    mousehole_policy::process::end_with_parent();
    let scenarios = scenarios.iter().map(|one| from_python("", one)).collect::<PyResult<Vec<Scenario>>>()?;
    Ok(py.detach(|| try_headers(&headers, &scenarios).err()).and_then(|error| match error {
        Error::File { file, problem } => Some((file, problem)),
        _ => None,
    }))
}

/// Does the work of [`try_policies`]: loads the headers, which stay loaded, runs every scenario to
/// its end, and calls the policies, which may crash the process. Only an [`Error::File`] is the
/// fault of a policy, and other faults of scenarios are ignored. At most [`TRIED`] different sets
/// of parameters are tried.
fn try_headers(headers: &[PathBuf], scenarios: &[Scenario]) -> Result<()> {
    let (loaded, defaults) = mousehole_policy::gather_params(|| {
        headers.iter().try_for_each(|header| scenario::load_policy(header).map(drop))
    });
    loaded?;
    if scenarios.is_empty() {
        return try_all(&defaults);
    }
    let mut all: Vec<Params> = Vec::new();
    for scenario in scenarios {
        let play = || Plan::new(scenario).and_then(|plan| run(&plan, None, &AtomicBool::new(false)));
        let (played, made) = mousehole_policy::gather_params(play);
        if let Err(error @ Error::File { .. }) = played {
            return Err(error);
        }
        for params in made {
            let is_known = |known: &Params| {
                std::ptr::eq(known.policy(), params.policy()) && known.bytes() == params.bytes()
            };
            if all.len() < TRIED && !all.iter().any(is_known) {
                all.push(params);
            }
        }
    }
    try_all(&all)
}

/// Plays records to a policy with each of these sets of parameters, in their order; returns the
/// first fault as an [`Error::File`], after which no others are tried.
fn try_all(all: &[Params]) -> Result<()> {
    let fault =
        |params| try_policy(params, TRIAL_SEED).map_err(|fault| Error::file(fault.header, fault.problem));
    all.iter().try_for_each(fault)
}

/// Returns the text of a header for a new policy; `kind` is `marker`, `dropper` or `queue`. Raises `MouseholeError` for
/// another kind, and for a name that is not allowed.
#[pyfunction]
fn policy_template(py: Python<'_>, kind: &str, name: &str) -> PyResult<String> {
    let made = match kind {
        "marker" => template(TemplateKind::Marker, name),
        "dropper" => template(TemplateKind::Dropper, name),
        "queue" => template(TemplateKind::Queue, name),
        _ => {
            return Err(errors::to_python(py, Error::field("kind", quote(kind), "marker, dropper or queue")));
        }
    };
    let allowed = "a name of lower-case letters, digits and hyphens, a letter first, that no scheme or shipped policy has";
    let made = made.ok().filter(|_| scenario::find_name_fault(name).is_none());
    made.ok_or_else(|| errors::to_python(py, Error::field("name", quote(name), allowed)))
}

/// Checks a policy, given as the path of a header or by its name; with `kernel` also in the kernel, where this many
/// records are played. Ctrl-C ends the wait at once. Raises `MouseholeError` for a name that is unknown.
#[pyfunction]
// python: -> PolicyReport
fn policy_check<'py>(
    py: Python<'py>,
    target: &str,
    records: u64,
    kernel: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let (options, asked) = (Options { records, kernel, seed }, target.to_string());
    let path = Path::new(target);
    let taken = path.extension().filter(|end| *end == "h").and_then(|_| path.file_stem()?.to_str());
    if let Some(problem) = taken.and_then(|stem| scenario::find_name_fault(&stem.replace('_', "-"))) {
        return to_python(py, &refuse(path, format!("{target}: {problem}")));
    }
    let report = run_interruptibly(py, move || check(&asked, &options))?.map_err(|_| {
        let policies = mousehole_policy::policies();
        let names: Vec<&str> = policies.iter().map(|policy| policy.name()).collect();
        let allowed = format!("the path of a header (my-marker.h), or one of {}", names.join(", "));
        errors::to_python(py, Error::field("HEADER|NAME", target, allowed))
    })?;
    to_python(py, &report)
}

/// Returns the folder of the policies' headers, for a compiler's -I; raises `MouseholeError` if it cannot be written.
#[pyfunction]
fn policy_headers_folder(py: Python<'_>) -> PyResult<std::path::PathBuf> {
    mousehole_policy::lasting_headers_folder().map_err(|error| {
        let problem = format!("cannot be written; {error}");
        errors::to_python(py, Error::File { file: "the policies' headers".into(), problem })
    })
}

/// Adds the functions of this file to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load_policy, module)?)?;
    module.add_function(wrap_pyfunction!(try_policies, module)?)?;
    module.add_function(wrap_pyfunction!(policy_template, module)?)?;
    module.add_function(wrap_pyfunction!(policy_check, module)?)?;
    module.add_function(wrap_pyfunction!(policy_headers_folder, module)?)
}
