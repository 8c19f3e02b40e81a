//! Would the comparison notice? Each field of the parameters is changed by its smallest step, in the kernel only.
//!
//! Records that tell a change are looked for natively, where a call costs little, and then played in the kernel with
//! the changed parameters: it must differ from the native build with the unchanged ones.
//!
//! Some changes tell on one record in millions: the last bit of a slope does where a product of it with a long queue is
//! about to be rounded the other way. For those of the shipped policies, larger steps show the way: of many chains of
//! cases, the one on which the smallest power of two tells is gone on with.

use crate::chain::Chain;
use crate::change::{Change, FARTHEST};
use crate::generate::Generator;
use crate::kernel::Kernel;
use crate::record::{Case, RECORDS, Record, state_words};
use mousehole_policy::{Origin, Params, Policy};
use std::io;

/// Cases on which a field that is not read is tried.
const UNREAD_CASES: u64 = 256;
/// Cases after which larger steps show the way to what is still open.
const EASY_CASES: u64 = 1024;
/// Chains among which the best one is chosen, and cases of each.
const SAMPLES: u32 = 256;
const SAMPLE_CASES: u32 = 4;
/// A chain is gone on with if two to this power tells, or less.
const NEAR: u32 = 6;

/// Draws cases until every change that matters was noticed, or until `cases` are drawn and the chains under way are
/// sampled. Tries the other changes on the first cases.
///
/// # Errors
/// The kernel's.
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
    // A user's functions may go far astray with parameters that set-up would not compute, so larger steps are not tried.
    let easy = if *policy.origin() == Origin::Shipped { cases.min(EASY_CASES) } else { cases };
    for number in 0..easy {
        if number >= UNREAD_CASES && !changes.iter().any(Change::is_open) {
            return Ok(());
        }
        let case = search.look(changes, false)?;
        if number < UNREAD_CASES {
            search.try_unread(changes, &case)?;
        }
    }
    while search.left > 0 && changes.iter().any(Change::is_open) {
        search.follow_best(changes)?;
    }
    Ok(())
}

/// Where a search is.
struct Search<'a> {
    kernel: &'a Kernel,
    generator: Generator,
    scratch: Scratch,
    /// Cases that may still be drawn.
    left: u64,
}

impl Search<'_> {
    /// Samples chains. For each change that is still unnoticed, continues the chain on which the smallest step tells.
    fn follow_best(&mut self, changes: &mut [Change]) -> io::Result<()> {
        let mut best: Vec<Option<(u32, Chain)>> = changes.iter().map(|_| None).collect();
        for _ in 0..SAMPLES {
            self.generator.leave_chain(SAMPLE_CASES);
            changes.iter_mut().for_each(|change| change.reach = FARTHEST);
            for _ in 0..SAMPLE_CASES {
                self.look(changes, true)?;
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
                self.look(changes, false)?;
            }
        }
        Ok(())
    }

    /// Tries the changes that must make no difference on a case.
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

    /// Plays a case with the unchanged parameters and looks at each record, and at its neighbour beyond the turn of the
    /// decision, for changes that it tells; `far` also finds how small a larger step may be to tell. Returns the case.
    fn look(&mut self, changes: &mut [Change], far: bool) -> io::Result<Case> {
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
        look(kernel, generator, scratch, open)
    }
}

/// A change that has not been noticed, and the parameters with it.
struct Open<'a> {
    change: &'a mut Change,
    params: Params,
    /// The parameters with a larger step.
    probe: Option<Params>,
}

/// Room for states: what the unchanged and the changed parameters make of one record.
struct Scratch {
    plain: Vec<u64>,
    changed: Vec<u64>,
    words: usize,
}

/// Words behind the states: a changed parameter may lead a policy a little beyond them.
const MARGIN: usize = 512;

impl Scratch {
    fn new(words: usize) -> Scratch {
        Scratch { plain: vec![0; words], changed: vec![0; words + MARGIN], words }
    }

    /// Returns whether the changed parameters make another outcome or other states of a record.
    fn tells(
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

/// Plays a case with the unchanged parameters and looks at each record, and at its neighbour beyond the turn of the
/// decision, for changes that it tells. Returns the case.
fn look(
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
        let step = generator.step();
        for record in [Some(step.record), step.other].into_iter().flatten() {
            if open.is_empty() {
                break;
            }
            scratch.plain.copy_from_slice(generator.states());
            let outcome = record.play(policy, &case.params, &mut scratch.plain);
            for Open { change, params, probe } in &mut open {
                change.records += 1;
                if scratch.tells(generator, policy, outcome, &record, params) {
                    change.noticed = is_noticed(kernel, &case, &record, outcome, &scratch.plain, params)?;
                } else if let Some(larger) = probe
                    && scratch.tells(generator, policy, outcome, &record, larger)
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

/// Lowers the change's `reach` for as long as the next smaller power of two still tells on this record.
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
        if !scratch.tells(generator, policy, outcome, record, &params) {
            break;
        }
        change.reach -= 1;
    }
}

/// Returns whether the kernel with the changed parameters differs from the native build on the case so far and one
/// record more.
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
