//! Compares a policy's native build with its program in the kernel.

use crate::change::{Change, all_changes};
use crate::generate::Generator;
use crate::kernel::{Kernel, Run};
use crate::record::{Case, RECORDS};
use crate::report::{Check, KernelFigures, SensitivityFigures, Verdict};
use crate::{btf, sensitivity};
use mousehole_policy::{Function, Origin, Policy, PolicyKind};
use std::io;
use std::time::Duration;

/// Plays at least so many random records to both builds and returns the check named `kernel`: failed if outcomes or
/// states differ, or the kernel does not run the program. The same seed plays the same records.
pub(crate) fn compare(kernel: &Kernel, policy: &'static Policy, seed: u64, records: u64) -> Check {
    match play_records(kernel, policy, seed, records) {
        Err(error) => {
            Check::new("kernel", Verdict::Failed, vec![format!("cannot be run in the kernel; {error}")])
        }
        Ok((figures, first)) => {
            let mut sentences = vec![format!(
                "{} records, {} differences between the native build and the kernel's, {:.0} ns a record; {} \
                 instructions{}.",
                figures.records,
                figures.differences,
                figures.ns_per_record,
                figures.instructions,
                figures.verified_instructions.map_or(String::new(), |steps| format!(", {steps} verified")),
            )];
            sentences.extend(first);
            let verdict = if figures.differences == 0 { Verdict::Passed } else { Verdict::Failed };
            Check { kernel: Some(figures), ..Check::new("kernel", verdict, sentences) }
        }
    }
}

/// Plays random records natively and in the kernel, in whole cases. Returns the figures and a sentence about the first
/// difference, `None` without one.
///
/// # Errors
/// Those of [`Kernel::run`].
fn play_records(
    kernel: &Kernel,
    policy: &'static Policy,
    seed: u64,
    records: u64,
) -> io::Result<(KernelFigures, Option<String>)> {
    let mut generator = Generator::new(policy, seed);
    let names = outcome_names(policy);
    let mut figures = KernelFigures {
        records: 0,
        differences: 0,
        ns_per_record: 0.0,
        instructions: kernel.instructions,
        verified_instructions: kernel.verified,
        outcomes: names.iter().map(|name| (*name, 0)).collect(),
    };
    let (mut took, mut first) = (Duration::ZERO, None);
    for _ in 0..records.div_ceil(RECORDS as u64) {
        let case = generator.draw_case();
        let run = kernel.run(&case, &case.params.bytes(), RECORDS)?;
        figures.records += RECORDS as u64;
        took += run.took;
        for (record, outcome) in case.records.iter().zip(&case.outcomes) {
            if record.call == Function::Packet {
                figures.outcomes[outcome_index(policy, *outcome)].1 += 1;
            }
        }
        let differences = count_differences(&case, &run);
        if differences > 0 && first.is_none() {
            first = Some(describe_difference(&case, &run));
        }
        figures.differences += differences;
    }
    figures.ns_per_record = took.as_nanos() as f64 / figures.records as f64;
    Ok((figures, first))
}

/// Returns the number of outcomes that differ, plus one if the final states differ.
fn count_differences(case: &Case, run: &Run) -> u64 {
    let outcomes =
        case.outcomes.iter().zip(&run.outcomes).filter(|(native, kernel)| native != kernel).count();
    outcomes as u64 + u64::from(case.after != run.after)
}

/// Returns a sentence about the first difference of a case that has one.
fn describe_difference(case: &Case, run: &Run) -> String {
    let outcomes = case.outcomes.iter().zip(&run.outcomes);
    match outcomes.enumerate().find(|(_, (native, kernel))| native != kernel) {
        Some((index, (native, kernel))) => {
            let record = &case.records[index];
            format!(
                "The first difference: {} returns {native} natively and {kernel} in the kernel, for {:?}.",
                record.call.name(),
                record
            )
        }
        None => "The first difference: the outcomes are the same, but the states after 256 records are not."
            .into(),
    }
}

/// Returns the names of a policy's outcomes, in the order of [`outcome_index`].
fn outcome_names(policy: &Policy) -> &'static [&'static str] {
    match policy.kind() {
        PolicyKind::Queue => &["taken", "marked", "refused_early", "refused_forced"],
        PolicyKind::Dropper => &["pass", "mark", "drop_early", "drop_forced"],
        PolicyKind::Marker if policy.returns_hint() => &["hint_below_2", "hint_between", "hint_255"],
        PolicyKind::Marker => &["green", "yellow", "red", "discard"],
    }
}

/// Returns the position of an outcome in [`outcome_names`].
fn outcome_index(policy: &Policy, outcome: u64) -> usize {
    match outcome {
        hint if policy.returns_hint() => usize::from(hint > 1) + usize::from(hint >= 255),
        // MH_REFUSED with a verdict, MH_MARKED
        refused if policy.bands() > 0 && refused & 0x80000 != 0 => (refused & 3) as usize,
        taken if policy.bands() > 0 => usize::from(taken & 0x10000 != 0),
        other => other.min(3) as usize,
    }
}

/// Changes each field of the parameters, in the kernel only, and searches up to about `records` records for ones that
/// make a difference. Returns the check named `sensitivity`, failed if the kernel does not run the program.
pub(crate) fn check_sensitivity(kernel: &Kernel, policy: &'static Policy, seed: u64, records: u64) -> Check {
    match try_changes(kernel, policy, seed, records) {
        Ok(changes) => sensitivity_check(policy, &changes),
        Err(sentence) => Check::new("sensitivity", Verdict::Failed, vec![sentence]),
    }
}

/// Tries changes of every field of the parameters in the kernel. Each change that is returned says whether records
/// noticed it.
///
/// # Errors
/// A sentence when the object's type information cannot be read, or the kernel does not run the program.
fn try_changes(
    kernel: &Kernel,
    policy: &'static Policy,
    seed: u64,
    records: u64,
) -> Result<Vec<Change>, String> {
    let fields = btf::read_fields(&kernel.object, &format!("mh_check_params_{}", policy.c_name()))?;
    let mut all = all_changes(policy, &fields);
    let cases = records.div_ceil(RECORDS as u64);
    sensitivity::search(kernel, policy, &mut all, seed, cases)
        .map_err(|error| format!("cannot be run in the kernel; {error}"))?;
    Ok(all)
}

/// Returns the check named `sensitivity`: records must notice the changes that matter, and no others.
///
/// A change that matters and is not noticed fails a shipped policy; a user's header gets a warning.
fn sensitivity_check(policy: &Policy, changes: &[Change]) -> Check {
    // A field that is always at an end of its range cannot be changed in one of the two directions.
    let other_was_tried =
        |change: &Change| changes.iter().any(|other| other.field == change.field && other.records > 0);
    let is_tried = |change: &&Change| change.records > 0 || !other_was_tried(change);
    let changes: Vec<&Change> = changes.iter().filter(is_tried).collect();
    let matter = || changes.iter().filter(|change| change.matters);
    let hardest = matter().filter(|change| change.noticed).max_by_key(|change| change.records);
    let figures = SensitivityFigures {
        changes: matter().count() as u64,
        noticed: matter().filter(|change| change.noticed).count() as u64,
        unread: changes.iter().filter(|change| !change.matters).count() as u64,
        records: hardest.map_or(0, |change| change.records),
        hardest: hardest.map_or(String::new(), |change| change.name()),
    };
    let mut sentences = vec![format!(
        "{} of {} parameters changed by their smallest step were noticed, the last after {} records ({}).",
        figures.noticed, figures.changes, figures.records, figures.hardest
    )];
    // A user's header may well read a field only in cases that random records do not come to.
    let unnoticed = if *policy.origin() == Origin::Shipped { Verdict::Failed } else { Verdict::Warning };
    let mut verdict = Verdict::Passed;
    for change in &changes {
        match (change.matters, change.noticed) {
            (true, false) => {
                verdict = if verdict == Verdict::Failed { verdict } else { unnoticed };
                sentences.push(format!(
                    "{} made no difference in {} records; if nothing reads the field, list it in .unread, else the test \
                     records do not reach what it decides.",
                    change.name(),
                    change.records
                ));
            }
            (false, true) => {
                verdict = Verdict::Failed;
                sentences.push(format!(
                    "{} makes a difference, though the header says that its functions do not read it.",
                    change.name()
                ));
            }
            _ => {}
        }
    }
    Check { sensitivity: Some(figures), ..Check::new("sensitivity", verdict, sentences) }
}
