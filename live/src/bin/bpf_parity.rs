//! Plays eight million records per policy to the native build and to the kernel's, and shows that the same
//! records notice any parameter that is off by its smallest step. `bpf-parity [SEED] [--json]`: the seed is 1
//! without; with `--json` each row of the two tables is a line of JSON.
//! Exit status: 0 the same throughout, 1 a difference or a fault, 2 not run.

#![allow(clippy::disallowed_types, reason = "a program that tells how long it took")]

use mousehole_live::parity::sensitivity::{Change, changes, search};
use mousehole_live::parity::{Entry, Kernel, OBJECT, POLICIES, RECORDS, Refusal, compare};
use std::process::ExitCode;
use std::time::Instant;

const RECORDS_PER_POLICY: usize = 1 << 23;
const CASES: usize = RECORDS_PER_POLICY / RECORDS;

/// What is printed: tables for people, or a line of JSON for each policy.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Table,
    Json,
}

fn main() -> ExitCode {
    let (flags, seeds): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|one| one == "--json");
    let form = if flags.is_empty() { Form::Table } else { Form::Json };
    let given = seeds.into_iter().next().unwrap_or_else(|| "1".to_string());
    let Ok(seed) = given.parse::<u64>() else {
        println!("bpf-parity: {given} is no seed; a whole number is");
        return ExitCode::FAILURE;
    };
    let kernel = match Kernel::load(OBJECT) {
        Ok(kernel) => kernel,
        Err(Refusal::NotHere(why)) => {
            println!("NOT RUN  bpf-parity: {why}");
            return ExitCode::from(2);
        }
        Err(fault) => {
            println!("bpf-parity: {fault}");
            return ExitCode::FAILURE;
        }
    };
    let mut faults = parity(&kernel, seed, form);
    faults += sensitivity(&kernel, seed, form);
    if form == Form::Table {
        println!(
            "bpf-parity: {}",
            if faults == 0 { "no fault".to_string() } else { format!("{faults} faults") }
        );
    }
    ExitCode::from(u8::from(faults > 0))
}

/// The table of records and differences; how many policies are at fault.
fn parity(kernel: &Kernel, seed: u64, form: Form) -> usize {
    if form == Form::Table {
        println!("native build against the kernel's");
        println!(
            "policy             records  differences      s  ns/record  instructions  verified  outcomes"
        );
    }
    POLICIES.iter().filter(|entry| !is_same(kernel, entry, seed, form)).count()
}

fn is_same(kernel: &Kernel, entry: &Entry, seed: u64, form: Form) -> bool {
    let started = Instant::now();
    let parity = match compare(kernel, entry, seed, CASES) {
        Ok(parity) => parity,
        Err(error) => {
            println!("{:16} {error}", entry.name);
            return false;
        }
    };
    let all_seen = parity.seen.iter().all(|count| *count > 0);
    if form == Form::Json {
        println!(
            r#"{{"check": "parity", "policy": "{}", "records": {}, "differences": {}, "all_outcomes_seen": {all_seen}}}"#,
            entry.name,
            parity.records,
            parity.differences(),
        );
        return parity.differences() == 0 && all_seen;
    }
    let (instructions, verified) = kernel.verified(entry.name);
    let named = entry.outcomes.iter().zip(&parity.seen);
    println!(
        "{:16} {:>9} {:>12} {:>6.1} {:>10.0} {instructions:>13} {verified:>9}  {}",
        entry.name,
        parity.records,
        parity.differences(),
        started.elapsed().as_secs_f64(),
        parity.took.as_nanos() as f64 / parity.records as f64,
        named.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", "),
    );
    if let Some(first) = &parity.first {
        println!("  {first}");
    }
    if !all_seen {
        println!("  not every outcome occurred");
    }
    parity.differences() == 0 && all_seen
}

/// The table of changed parameters; how many changes are at fault.
fn sensitivity(kernel: &Kernel, seed: u64, form: Form) -> usize {
    if form == Form::Table {
        println!("\none parameter off by its smallest step, in the kernel only");
        println!("policy            changes  noticed  unread      s  records until the last was noticed");
    }
    POLICIES.iter().map(|entry| unnoticed(kernel, entry, seed, form)).sum()
}

fn unnoticed(kernel: &Kernel, entry: &Entry, seed: u64, form: Form) -> usize {
    let started = Instant::now();
    let mut all = changes(OBJECT, entry);
    if let Err(error) = search(kernel, entry, &mut all, seed, CASES) {
        println!("{:16} {error}", entry.name);
        return 1;
    }
    let matter = all.iter().filter(|change| change.matters);
    let noticed = matter.clone().filter(|change| change.noticed).count();
    let unread = all.iter().filter(|change| !change.matters && change.holds()).count();
    let faulty: Vec<&Change> = all.iter().filter(|change| !change.holds()).collect();
    if form == Form::Json {
        println!(
            r#"{{"check": "sensitivity", "policy": "{}", "changes": {}, "noticed": {noticed}, "unread": {unread}}}"#,
            entry.name,
            all.len(),
        );
        return faulty.len();
    }
    let hardest = matter.clone().max_by_key(|change| change.records).expect("a policy has parameters");
    println!(
        "{:16} {:>8} {:>8} {:>7} {:>6.1}  {} ({})",
        entry.name,
        all.len(),
        noticed,
        unread,
        started.elapsed().as_secs_f64(),
        hardest.records,
        hardest.name(),
    );
    for change in &faulty {
        let seen = if change.noticed { "makes a difference though it is not read" } else { "goes unnoticed" };
        println!("  {} {seen} in {} records", change.name(), change.records);
    }
    faulty.len()
}
