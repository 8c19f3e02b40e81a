//! Checks every shipped policy in the kernel, with as many records as the documentation reports.
//!
//! `bpf-parity [--json] [SEED [RECORDS [POLICY ...]]]`. With `--json` it prints JSON lines, two for each policy. Exit status: 0 nothing found, 1 a fault, 2 not run.

use mousehole_check::{Check, Options, Report, Verdict, check_policy};
use mousehole_policy::{Policy, policies};
use std::process::ExitCode;
use std::sync::Mutex;

/// Checks the policies that the arguments name, all without names, prints their figures and returns the exit status; 1
/// also for numbers that cannot be read.
fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.first().is_some_and(|argument| argument == "--json");
    arguments.drain(..usize::from(json));
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    // A change of a slope by 2^-64 makes a difference in one record of some twenty millions. A hundred million records of
    // seed 1 have none for multi-red's third level; seed 2 has one for every parameter.
    let (Ok(seed), Ok(records)) = (number(0, 2), number(1, 1 << 23)) else {
        println!("bpf-parity: seed and records are whole numbers");
        return ExitCode::FAILURE;
    };
    let is_chosen = |policy: &&'static Policy| {
        arguments.len() < 3 || arguments[2..].iter().any(|name| name == policy.name())
    };
    let all: Vec<&'static Policy> = policies().into_iter().filter(is_chosen).collect();
    let reports = check_all(&all, &Options { records, kernel: true, seed }, json);
    if let Some(why) = reports.iter().find(|report| report.is_good()).and_then(Report::kernel_not_run) {
        eprintln!("NOT RUN  bpf-parity: {why}");
        return ExitCode::from(2);
    }
    let faults = reports.iter().filter(|report| !report.is_good()).count();
    if !json {
        println!("bpf-parity: {faults} of {} policies at fault", reports.len());
    }
    ExitCode::from(u8::from(faults > 0))
}

/// Checks the policies, as many at a time as there are processors, and prints each one's figures as soon as it is done.
/// The reports are in that order too. Without `json` a heading comes first.
fn check_all(all: &[&'static Policy], options: &Options, json: bool) -> Vec<Report> {
    if !json {
        println!(
            "policy               records differences ns/record instructions verified  changes noticed unread  records to the last"
        );
    }
    let next = Mutex::new(all.iter());
    let reports = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(policy) = next.lock().expect("no worker panics").next() else { break };
                    let report = check_policy(policy, options);
                    match json {
                        true => print_json(&report),
                        false => print_figures(&report),
                    }
                    reports.lock().expect("no worker panics").push(report);
                }
            });
        }
    });
    reports.into_inner().expect("no worker panics")
}

/// Prints the figures of a policy on one line, then the sentences of the checks that failed or warn.
fn print_figures(report: &Report) {
    let mut line = format!("{:16}", report.policy);
    if let Some(kernel) = report.checks.iter().find_map(|check| check.kernel.as_ref()) {
        let verified = kernel.verified_instructions.map_or("?".into(), |steps| steps.to_string());
        line += &format!(
            " {:>11} {:>11} {:>9.0} {:>12} {verified:>8}",
            kernel.records, kernel.differences, kernel.ns_per_record, kernel.instructions
        );
    }
    if let Some(figures) = report.checks.iter().find_map(|check| check.sensitivity.as_ref()) {
        line += &format!(
            " {:>8} {:>7} {:>6} {:>8} ({})",
            figures.changes, figures.noticed, figures.unread, figures.records, figures.hardest
        );
    }
    let found = |check: &&Check| !matches!(check.verdict, Verdict::Passed | Verdict::NotRun);
    let sentences = report.checks.iter().filter(found).flat_map(|check| check.sentences.iter());
    let sentences: String = sentences.map(|sentence| format!("\n  {sentence}")).collect();
    println!("{line}{sentences}");
}

/// Prints a JSON line with the kernel check's figures and one with the sensitivity check's, as far as these were run.
fn print_json(report: &Report) {
    if let Some(kernel) = report.checks.iter().find_map(|check| check.kernel.as_ref()) {
        let outcomes = kernel.outcomes.iter().filter(|(_, count)| *count > 0).count();
        let line = serde_json::json!({
            "check": "parity", "policy": report.policy, "records": kernel.records,
            "differences": kernel.differences, "outcomes_vary": outcomes > 1,
        });
        println!("{line}");
    }
    if let Some(figures) = report.checks.iter().find_map(|check| check.sensitivity.as_ref()) {
        let line = serde_json::json!({
            "check": "sensitivity", "policy": report.policy, "changes": figures.changes + figures.unread,
            "noticed": figures.noticed, "unread": figures.unread,
        });
        println!("{line}");
    }
}
