//! Checks of a policy, shipped or a user's own header.
//!
//! [`check`] compiles a policy natively and looks for what a policy must not do, plays random records to it in a
//! process of its own that the compiler's sanitizers watch, and, as root and with clang, loads it into the kernel as
//! an eBPF program and compares every outcome and state with the native build's. This process calls the functions of
//! a user's header, its set-up included, only after they have passed in the other one.

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

/// How a policy is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Records to play in the kernel. Up to [`SEARCH`] times as many are looked at for each changed parameter.
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

/// Checks the policy in a header, or one that is known under its name.
///
/// # Errors
/// One sentence, when `target` is neither a header's path nor a policy's name.
pub fn check(target: &str, options: &Options) -> Result<Report, String> {
    let path = Path::new(target);
    if path.extension().is_some_and(|end| end == "h") {
        return Ok(match load_description(path) {
            Ok(policy) => check_policy(policy, options),
            Err(error) => Report {
                policy: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                sha256: None,
                checks: vec![Check::new("description", Verdict::Failed, vec![error.to_string()])],
            },
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

/// Checks a loaded policy: its rules, random records in a process of its own, then the kernel. A failed check ends the
/// report.
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

/// Checks that a header's text and its compiled functions keep the rules; not run where no C compiler runs.
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

/// Plays random records in a process of its own, under sanitizers if the compiler has them, and checks the defaults.
///
/// Without sanitizers a check that passes is a warning. Nothing is run without a C compiler.
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
        let drawn: Vec<record::Case> = (0..native).map(|_| generator.case()).collect();
        sandbox.play_again(&drawn)?;
        work::play(policy, options.seed)?;
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

/// How many times [`Options::records`] are looked at for records that tell a changed parameter. They are looked at
/// natively, where they cost little; only those that tell are played in the kernel.
pub const SEARCH: u64 = 16;

/// Checks that the kernel accepts the policy and decides as the native build does, and that records notice a change of
/// every parameter. Neither check is run where eBPF programs cannot be loaded.
#[cfg(target_os = "linux")]
fn check_kernel(policy: &'static Policy, workshop: &Workshop, options: &Options) -> Vec<Check> {
    if !options.kernel {
        return not_in_kernel("The kernel check was switched off.");
    }
    match kernel::Kernel::load(policy, workshop) {
        Err(kernel::Refusal::NotHere(why)) => not_in_kernel(&format!("{why}.")),
        Err(kernel::Refusal::Fault(sentence)) => vec![Check::new("kernel", Verdict::Failed, vec![sentence])],
        Ok(kernel) => vec![
            compare::compare(&kernel, policy, options.seed, options.records),
            compare::check_sensitivity(&kernel, policy, options.seed, SEARCH * options.records),
        ],
    }
}

#[cfg(not(target_os = "linux"))]
fn check_kernel(_: &'static Policy, _: &Workshop, _: &Options) -> Vec<Check> {
    not_in_kernel("eBPF programs run in Linux only.")
}

fn not_in_kernel(why: &str) -> Vec<Check> {
    ["kernel", "sensitivity"].map(|name| Check::new(name, Verdict::NotRun, vec![why.into()])).into()
}
