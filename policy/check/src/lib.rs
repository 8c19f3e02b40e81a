//! Checks of a policy, shipped or a user's own header.
//!
//! [`check`] compiles a policy natively and checks its source and object against the rules. It plays random records to the
//! policy in a separate process under the compiler's sanitizers. As root and with clang, it loads the policy into the
//! kernel as an eBPF program and compares every outcome and state with the native build's. This process calls the
//! functions of a user's header, its set-up included, only after they have passed in the separate one.

mod argument;
#[cfg(target_os = "linux")]
mod btf;
mod build;
mod chain;
#[cfg(target_os = "linux")]
mod change;
#[cfg(target_os = "linux")]
mod compare;
mod generate;
#[cfg(target_os = "linux")]
mod kernel;
mod parameters;
mod random;
mod record;
mod report;
mod sandbox;
#[cfg(target_os = "linux")]
mod sensitivity;
mod source;
mod template;
mod trial;
mod work;

pub use report::{Check, KernelFigures, Report, SensitivityFigures, Verdict};
pub use template::{TemplateKind, template};
pub use trial::try_policy;

use build::Workshop;
use generate::Generator;
use mousehole_policy::{Origin, Policy, c_compiler, check_defaults, find, load_description, policies};
use record::RECORDS;
use sandbox::Sandbox;
use std::path::Path;

/// Options of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Records to play in the kernel. Up to [`SEARCH`] times as many are searched for each changed parameter.
    pub records: u64,
    /// Whether to check in the kernel, where that can be done.
    pub kernel: bool,
    /// Seed of the records; the same seed gives the same records.
    pub seed: u64,
}

impl Default for Options {
    /// Returns the options of `mousehole policy check`: about a million records.
    fn default() -> Options {
        Options { records: 1 << 20, kernel: true, seed: 1 }
    }
}

/// Checks the policy in the header at the path `target`, which ends in `.h`, or the registered one of this name, as
/// [`check_policy`] does. A header is compiled and loaded, but not registered; one that cannot be loaded gives a report
/// with a failed check.
///
/// # Errors
/// One sentence, if `target` is neither a header's path nor a policy's name.
pub fn check(target: &str, options: &Options) -> Result<Report, String> {
    let path = Path::new(target);
    if path.extension().is_some_and(|end| end == "h") {
        return Ok(match load_description(path) {
            Ok(policy) => check_policy(policy, options),
            Err(error) => refuse(path, error.to_string()),
        });
    }
    let policy = find(target).ok_or_else(|| {
        let names: Vec<String> = policies().iter().map(|policy| policy.name().to_string()).collect();
        format!(
            "there is no policy {target}; allowed: the path of a header (my-marker.h), or {}",
            names.join(", ")
        )
    })?;
    Ok(check_policy(policy, options))
}

/// Returns the report on a header that is no policy, with the sentence that says why.
pub fn refuse(header: &Path, why: String) -> Report {
    Report {
        policy: header.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        sha256: None,
        checks: vec![Check::new("description", Verdict::Failed, vec![why])],
    }
}

/// Checks a loaded policy: the rules, random records in a separate process, then the kernel. A failed check ends the report.
/// Runs compilers in a scratch folder, which it removes, and with [`Options::kernel`] loads programs into the kernel if
/// it may. It may take minutes.
pub fn check_policy(policy: &'static Policy, options: &Options) -> Report {
    let mut report = Report { policy: policy.name().to_string(), sha256: None, checks: Vec::new() };
    if let Origin::Header { sha256, .. } = policy.origin() {
        report.sha256 = Some(sha256.clone());
    }
    let described = format!("{} parameters, each with a default that is allowed.", policy.parameters().len());
    report.checks.push(Check::new("description", Verdict::Passed, vec![described]));
    let workshop = match Workshop::new(policy) {
        Ok(workshop) => workshop,
        Err(error) => {
            let why = format!("The folder for temporary files cannot be written; {error}.");
            report.checks.push(Check::new("rules", Verdict::NotRun, vec![why]));
            return report;
        }
    };
    report.checks.push(check_rules(&workshop));
    if report.is_good() {
        report.checks.push(check_records(policy, &workshop, options));
    }
    if report.is_good() {
        report.checks.extend(check_kernel(policy, &workshop, options));
    }
    report
}

/// Returns the check named `rules`: a header's text and compiled functions keep the rules. Not run without a C compiler.
fn check_rules(workshop: &Workshop) -> Check {
    let Some(compiler) = c_compiler() else {
        let why = "No C compiler is installed; CC=… names one.";
        return Check::new("rules", Verdict::NotRun, vec![why.into()]);
    };
    match source::check_source(workshop, &compiler) {
        Err(why) => Check::new("rules", Verdict::NotRun, vec![why]),
        Ok(faults) if faults.is_empty() => {
            let done = "No floating point, system header, clock, random number, call or variable of its own.";
            Check::new("rules", Verdict::Passed, vec![done.into()])
        }
        Ok(faults) => Check::new("rules", Verdict::Failed, faults),
    }
}

/// Cases played in the sandbox: drawn blindly, and drawn by the native build.
const BLIND_CASES: u64 = 256;
const NATIVE_CASES: u64 = 1024;

/// Returns the check named `random records`: plays them in a separate process, under sanitizers if the compiler has them,
/// then checks the defaults and plays records natively.
///
/// Without sanitizers a check that passes is a warning. Not run without a C compiler.
fn check_records(policy: &'static Policy, workshop: &Workshop, options: &Options) -> Check {
    let Some(compiler) = c_compiler() else {
        let why = "No C compiler is installed; CC=… names one.";
        return Check::new("random records", Verdict::NotRun, vec![why.into()]);
    };
    let cases = options.records.div_ceil(RECORDS as u64);
    let (blind, native) = (BLIND_CASES.min(cases) as usize, NATIVE_CASES.min(cases));
    let played = Sandbox::new(policy, workshop, &compiler).and_then(|sandbox| {
        sandbox.play_blind(blind, options.seed)?;
        check_defaults(policy)?;
        let mut generator = Generator::new(policy, options.seed);
        let drawn: Vec<record::Case> = (0..native).map(|_| generator.draw_case()).collect();
        sandbox.play_cases(&drawn)?;
        work::play_queue(policy, options.seed)?;
        Ok(sandbox.bare)
    });
    let records = (blind as u64 + native) * RECORDS as u64;
    match played {
        Err(sentence) => Check::new("random records", Verdict::Failed, vec![sentence]),
        Ok(None) => {
            let done =
                format!("{records} records without a fault; sanitizers watched memory and arithmetic.");
            Check::new("random records", Verdict::Passed, vec![done])
        }
        Ok(Some(why)) => {
            let done = format!("{records} records without a fault.");
            let bare = format!("Not run: checks of memory and arithmetic at each access; {why}.");
            Check::new("random records", Verdict::Warning, vec![done, bare])
        }
    }
}

/// How many times [`Options::records`] are searched for ones on which a changed parameter makes a difference. The search
/// plays them natively, which costs little; only those that make a difference are played in the kernel.
pub const SEARCH: u64 = 16;

/// Returns the checks named `kernel`, that the program decides in the kernel as the native build does, and `sensitivity`,
/// that records notice a change of every parameter. Neither is run if eBPF programs cannot be loaded.
#[cfg(target_os = "linux")]
fn check_kernel(policy: &'static Policy, workshop: &Workshop, options: &Options) -> Vec<Check> {
    if !options.kernel {
        return skip_kernel_checks("The kernel check was switched off.");
    }
    match kernel::Kernel::load(policy, workshop) {
        Err(kernel::Refusal::NotHere(why)) => skip_kernel_checks(&format!("{why}.")),
        Err(kernel::Refusal::Fault(sentence)) => vec![Check::new("kernel", Verdict::Failed, vec![sentence])],
        Ok(kernel) => vec![
            compare::compare(&kernel, policy, options.seed, options.records),
            compare::check_sensitivity(&kernel, policy, options.seed, SEARCH * options.records),
        ],
    }
}

/// Returns both checks of the kernel as not run.
#[cfg(not(target_os = "linux"))]
fn check_kernel(_: &'static Policy, _: &Workshop, _: &Options) -> Vec<Check> {
    skip_kernel_checks("eBPF programs run in Linux only.")
}

/// Returns both checks of the kernel as not run, for this reason, a sentence.
fn skip_kernel_checks(why: &str) -> Vec<Check> {
    ["kernel", "sensitivity"].map(|name| Check::new(name, Verdict::NotRun, vec![why.into()])).into()
}
