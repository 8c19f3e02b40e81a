//! Tests whether the comparison with the kernel would notice a change: it changes each field of the parameters by its
//! smallest step, in the kernel only.
//!
//! A search plays records natively, where a call costs little, with and without each change. A record on which they differ
//! is then played in the kernel with the changed parameters, which must differ from the native build without the change.
//!
//! Some changes make a difference on one record in millions: the last bit of a slope does only if its product with a long
//! queue is about to be rounded the other way. For shipped policies, larger steps guide the search: of many chains of
//! cases, it continues the one on which the smallest power of two makes a difference.

use crate::chain::Chain;
use crate::change::{Change, FARTHEST};
use crate::generate::Generator;
use crate::kernel::Kernel;
use crate::record::{Case, RECORDS, Record, state_words};
use mousehole_policy::{Origin, Params, Policy};
use std::io;

/// Cases on which changes of unread fields are tried.
const UNREAD_CASES: u64 = 256;
/// Cases after which larger steps guide the search for the changes still unnoticed.
const EASY_CASES: u64 = 1024;
/// Chains among which the best one is chosen, and cases of each.
const SAMPLES: u32 = 256;
const SAMPLE_CASES: u32 = 4;
/// A chain is continued if a change by two to this power, or less, makes a difference on it.
const NEAR: u32 = 6;

/// Tries the changes on random cases, and sets in each whether it was noticed and on how many records it was tried. Stops
/// once every change that matters was noticed, or soon after `cases` cases. Tries the other changes on the first cases.
///
/// # Errors
/// The kernel's error.
pub(crate) fn search(
    kernel: &Kernel,
    policy: &'static Policy,
    changes: &mut [Change],
    seed: u64,
    cases: u64,
) -> io::Result<()> {
    let mut search = Search {
        kernel,
        generator: Generator::eager(policy, seed),
        scratch: Scratch::new(state_words(policy)),
        left: cases,
    };
    // A user's functions may fail with parameters that set-up would not compute, so larger steps are not tried with them.
    let easy = if *policy.origin() == Origin::Shipped { cases.min(EASY_CASES) } else { cases };
    for number in 0..easy {
        if number >= UNREAD_CASES && !changes.iter().any(Change::is_open) {
            return Ok(());
        }
        let case = search.try_case(changes, false)?;
        if number < UNREAD_CASES {
            search.try_unread(changes, &case)?;
        }
    }
    while search.left > 0 && changes.iter().any(Change::is_open) {
        search.follow_best(changes)?;
    }
    Ok(())
}

/// The state of a search.
struct Search<'a> {
    kernel: &'a Kernel,
    generator: Generator,
    scratch: Scratch,
    /// Cases that may still be drawn.
    left: u64,
}

impl Search<'_> {
    /// Samples [`SAMPLES`] chains. For each change that is still unnoticed, continues the chain on which the smallest step
    /// makes a difference.
    ///
    /// # Errors
    /// The kernel's error.
    fn follow_best(&mut self, changes: &mut [Change]) -> io::Result<()> {
        let mut best: Vec<Option<(u32, Chain)>> = changes.iter().map(|_| None).collect();
        for _ in 0..SAMPLES {
            self.generator.start_chain(SAMPLE_CASES);
            changes.iter_mut().for_each(|change| change.reach = FARTHEST);
            for _ in 0..SAMPLE_CASES {
                self.try_case(changes, true)?;
            }
            for (change, best) in changes.iter().zip(&mut best).filter(|(change, _)| change.is_open()) {
                if change.reach < best.as_ref().map_or(FARTHEST, |(reach, _)| *reach) {
                    *best = Some((change.reach, self.generator.chain()));
                }
            }
        }
        let mut order: Vec<(u32, usize, Chain)> = Vec::new();
        for (index, best) in best.into_iter().enumerate() {
            order
                .extend(best.filter(|(reach, _)| *reach <= NEAR).map(|(reach, chain)| (reach, index, chain)));
        }
        order.sort_by_key(|(reach, index, _)| (*reach, *index));
        for (reach, index, chain) in order {
            let cases = SAMPLE_CASES << (reach + 2);
            self.generator.resume(chain, cases);
            for _ in 0..cases {
                if !changes[index].is_open() || self.left == 0 {
                    break;
                }
                self.try_case(changes, false)?;
            }
        }
        Ok(())
    }

    /// Tries on a case the changes that must make no difference.
    ///
    /// # Errors
    /// The kernel's error.
    fn try_unread(&mut self, changes: &mut [Change], case: &Case) -> io::Result<()> {
        for change in changes.iter_mut().filter(|change| !change.matters) {
            if let Some(params) = change.apply(&case.params) {
                let run = self.kernel.run(case, &params.bytes(), RECORDS)?;
                change.records += RECORDS as u64;
                change.noticed |= run.outcomes != case.outcomes || run.after != case.after;
            }
        }
        Ok(())
    }

    /// Draws a case, plays it with the unchanged parameters, and tries the open changes on each record ([`try_records`]).
    /// With `far` it also tries larger steps and lowers the changes' `reach`. Returns the case.
    ///
    /// # Errors
    /// The kernel's error.
    fn try_case(&mut self, changes: &mut [Change], far: bool) -> io::Result<Case> {
        self.left = self.left.saturating_sub(1);
        let Search { kernel, generator, scratch, .. } = self;
        generator.begin_case();
        let mut open = Vec::new();
        for change in changes.iter_mut().filter(|change| change.is_open()) {
            if let Some(params) = change.apply(generator.params()) {
                let probe = if far { change.probe(generator.params()) } else { None };
                open.push(Open { change, params, probe });
            }
        }
        try_records(kernel, generator, scratch, open)
    }
}

/// A change that was not noticed yet, and the parameters with it.
struct Open<'a> {
    change: &'a mut Change,
    params: Params,
    /// The parameters with a larger step.
    probe: Option<Params>,
}

/// Buffers for the states after one record, with the unchanged and with the changed parameters.
struct Scratch {
    plain: Vec<u64>,
    changed: Vec<u64>,
    words: usize,
}

/// Spare words after the states, as a policy may write a little beyond them with a changed parameter.
const MARGIN: usize = 512;

impl Scratch {
    /// Returns buffers for states of so many words.
    fn new(words: usize) -> Scratch {
        Scratch { plain: vec![0; words], changed: vec![0; words + MARGIN], words }
    }

    /// Returns whether a record has another outcome, or leaves other states, with the changed parameters. `outcome` and
    /// `plain` are those with the unchanged ones.
    fn reveals(
        &mut self,
        generator: &Generator,
        policy: &Policy,
        outcome: u64,
        record: &Record,
        changed: &Params,
    ) -> bool {
        self.changed[..self.words].copy_from_slice(generator.states());
        let other = record.play(policy, changed, &mut self.changed);
        other != outcome || self.changed[..self.words] != self.plain
    }
}

/// Plays a case with the unchanged parameters, and tries the open changes on each record and on the one beyond the turn of
/// its decision. A change that makes a difference natively is tried in the kernel. Returns the case.
///
/// # Errors
/// The kernel's error.
fn try_records(
    kernel: &Kernel,
    generator: &mut Generator,
    scratch: &mut Scratch,
    mut open: Vec<Open>,
) -> io::Result<Case> {
    let policy = generator.params().policy();
    let params = generator.params().clone();
    let mut case = Case {
        params,
        before: generator.states().to_vec(),
        records: vec![],
        outcomes: vec![],
        after: vec![],
    };
    for _ in 0..RECORDS {
        let step = generator.draw_step();
        for record in [Some(step.record), step.other].into_iter().flatten() {
            if open.is_empty() {
                break;
            }
            scratch.plain.copy_from_slice(generator.states());
            let outcome = record.play(policy, &case.params, &mut scratch.plain);
            for Open { change, params, probe } in &mut open {
                change.records += 1;
                if scratch.reveals(generator, policy, outcome, &record, params) {
                    change.noticed = is_noticed(kernel, &case, &record, outcome, &scratch.plain, params)?;
                } else if let Some(larger) = probe
                    && scratch.reveals(generator, policy, outcome, &record, larger)
                {
                    lower_reach(change, generator, scratch, outcome, &record);
                    *probe = change.probe(generator.params());
                }
            }
            open.retain(|open| !open.change.noticed);
        }
        case.outcomes.push(generator.apply(&step.record));
        case.records.push(step.record);
    }
    case.after = generator.states().to_vec();
    Ok(case)
}

/// Lowers a change's `reach` by one, and on for as long as the next smaller power of two makes a difference on this record.
fn lower_reach(
    change: &mut Change,
    generator: &Generator,
    scratch: &mut Scratch,
    outcome: u64,
    record: &Record,
) {
    let policy = generator.params().policy();
    change.reach -= 1;
    while let Some(params) = change.probe(generator.params()) {
        if !scratch.reveals(generator, policy, outcome, record, &params) {
            break;
        }
        change.reach -= 1;
    }
}

/// Returns whether the kernel with the changed parameters differs from the native build on the case so far and one more
/// record. The native build has this `outcome` of the record and leaves the states `after`.
///
/// # Errors
/// The kernel's error.
fn is_noticed(
    kernel: &Kernel,
    case: &Case,
    record: &Record,
    outcome: u64,
    after: &[u64],
    changed: &Params,
) -> io::Result<bool> {
    let mut case = case.clone();
    case.records.push(*record);
    case.outcomes.push(outcome);
    let records = case.records.len();
    case.records.resize(RECORDS, *record);
    let run = kernel.run(&case, &changed.bytes(), records)?;
    Ok(run.outcomes != case.outcomes || run.after != after)
}
