//! Would the comparison notice? Each field of the parameters is changed by its smallest step, in the kernel only.
//!
//! Records that tell a change are looked for natively, where a call costs little, and then played in the kernel with
//! the changed parameters: it must differ from the native build with the unchanged ones.
//!
//! Some changes tell on one record in millions: the last bit of a slope does where a product of it with a long queue is
//! about to be rounded the other way. For those of the shipped policies, larger steps show the way: of many chains of
//! cases, the one on which the smallest power of two tells is gone on with.

use crate::btf::Field;
use crate::generate::{Chain, Generator};
use crate::kernel::Kernel;
use crate::record::{Case, RECORDS, Record, state_words};
use mousehole_policy::{Kind, Origin, Params, Policy};
use std::io;

/// One field changed one way.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub field: Field,
    step: Step,
    role: Role,
    /// Whether it must be noticed; otherwise it must not be.
    pub matters: bool,
    /// Records on which it was tried.
    pub records: u64,
    /// Whether some outcome or state differed.
    pub noticed: bool,
    /// The least exponent of two by which the change tells on the chain looked at.
    reach: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Up,
    Down,
    Flip(u32),
}

/// What the header's table says of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is set by the set-up function.
    Computed,
    /// It is a number: the parameter's position, and which of the elements that the parameter is written to.
    Number(usize, usize),
    /// It is a choice, whose position begins at this bit.
    Choice(usize, u32),
    /// It holds switches, or nothing reads it.
    Bits,
}

impl Change {
    /// Returns a name such as `level[1].w_q32 + 1`.
    pub fn name(&self) -> String {
        let path = &self.field.path;
        match self.step {
            Step::Up => format!("{path} + 1"),
            Step::Down => format!("{path} - 1"),
            Step::Flip(bit) => format!("{path} bit {bit}"),
        }
    }

    /// Returns the parameters with the change; `None` where it would leave the allowed range.
    fn apply(&self, params: &Params) -> Option<Params> {
        self.apply_by(params, 1)
    }

    /// Returns the same with a change by so many smallest steps; `None` of a switch or choice for more than one.
    fn apply_by(&self, params: &Params, steps: u64) -> Option<Params> {
        let Field { offset, width, .. } = self.field;
        let mut bytes = params.bytes();
        let old = read(&bytes, offset, width);
        let unit = match self.role {
            Role::Choice(..) | Role::Bits if steps > 1 => return None,
            Role::Choice(_, shift) => 1 << shift,
            _ => steps,
        };
        let new = match self.step {
            Step::Up => old.checked_add(unit).filter(|new| *new <= u64::MAX >> (64 - 8 * width))?,
            Step::Down => old.checked_sub(unit)?,
            Step::Flip(bit) => old ^ 1 << bit,
        };
        // The functions may divide by what set-up computes.
        if self.role == Role::Computed && self.step == Step::Down && new == 0 {
            return None;
        }
        write(&mut bytes, offset, width, new);
        let changed = params.with_bytes(&bytes);
        self.is_allowed(&changed, bytes, &params.bytes()).then_some(changed)
    }

    /// Returns whether the table allows the changed field.
    fn is_allowed(&self, changed: &Params, mut bytes: Vec<u8>, before: &[u8]) -> bool {
        let policy = changed.policy();
        match self.role {
            Role::Computed | Role::Bits => true,
            Role::Number(index, element) => {
                let (parameter, place) = (&policy.parameters()[index], policy.field(index));
                let at = place.offset + element * place.stride;
                bytes.copy_within(at..at + place.bytes, place.offset); // numbers are read from the first element
                let number = changed.with_bytes(&bytes).number(parameter.name);
                (parameter.least..=parameter.most).contains(&number)
            }
            Role::Choice(index, shift) => {
                let Kind::Choice(words) = policy.parameters()[index].kind else { return true };
                let word = read(&bytes, self.field.offset, self.field.width);
                let others = !u64::from(policy.field(index).mask);
                let before = read(before, self.field.offset, self.field.width);
                let position = (word & !others) >> shift;
                word & others == before & others
                    && words.get(position as usize).is_some_and(|word| *word != "-")
            }
        }
    }
}

fn read(bytes: &[u8], offset: usize, width: usize) -> u64 {
    let mut word = [0; 8];
    word[..width].copy_from_slice(&bytes[offset..offset + width]);
    u64::from_le_bytes(word)
}

fn write(bytes: &mut [u8], offset: usize, width: usize, value: u64) {
    bytes[offset..offset + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Returns every change of every field, none of them tried yet.
pub(crate) fn changes(policy: &Policy, fields: &[Field]) -> Vec<Change> {
    fields.iter().flat_map(|field| of_field(policy, field)).collect()
}

fn of_field(policy: &Policy, field: &Field) -> Vec<Change> {
    let change = |step, role, matters| Change {
        field: field.clone(),
        step,
        role,
        matters,
        records: 0,
        noticed: false,
        reach: FARTHEST,
    };
    let is_unread = policy.unread().contains(&field.path.as_str())
        || field.path.split('.').any(|part| part == "settings" || part.starts_with("reserved"));
    if is_unread {
        return vec![change(Step::Up, Role::Bits, false)];
    }
    let mut found = Vec::new();
    for (index, parameter) in policy.parameters().iter().enumerate() {
        let place = policy.field(index);
        let elements = (0..place.count).filter(|element| {
            let at = place.offset + element * place.stride;
            (at..at + place.bytes).contains(&field.offset)
        });
        for element in elements {
            let is_second = field.offset > place.offset + element * place.stride;
            match parameter.kind {
                Kind::Flag => {
                    let bits = (0..u32::BITS).filter(|bit| place.mask >> bit & 1 == 1);
                    found.extend(bits.map(|bit| change(Step::Flip(bit), Role::Bits, true)));
                }
                Kind::Choice(_) => {
                    let role = Role::Choice(index, place.mask.trailing_zeros());
                    found.extend([Step::Up, Step::Down].map(|step| change(step, role, true)));
                }
                Kind::Threshold if is_second => found.push(change(Step::Flip(0), Role::Bits, true)),
                _ => {
                    let role = Role::Number(index, element);
                    found.extend([Step::Up, Step::Down].map(|step| change(step, role, true)));
                }
            }
        }
    }
    if found.is_empty() {
        found.extend([Step::Up, Step::Down].map(|step| change(step, Role::Computed, true)));
    }
    found
}

/// Cases on which a field that is not read is tried.
const UNREAD_CASES: u64 = 256;
/// Cases after which larger steps show the way to what is still open.
const EASY_CASES: u64 = 1024;
/// Chains among which the best one is chosen, and cases of each.
const SAMPLES: u32 = 256;
const SAMPLE_CASES: u32 = 4;
/// A chain is gone on with if two to this power tells, or less.
const NEAR: u32 = 6;
/// The largest step that shows the way is two to this power.
const FARTHEST: u32 = 60;

/// Draws cases until every change that matters was noticed, at most so many, and tries the others on the first ones.
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

impl Change {
    fn is_open(&self) -> bool {
        self.matters && !self.noticed
    }

    /// Returns the parameters with the next smaller step than the least that has told; `None` if there is none.
    fn probe(&mut self, params: &Params) -> Option<Params> {
        while self.reach > 1 {
            let probe = self.apply_by(params, 1 << (self.reach - 1));
            if probe.is_some() || self.reach < FARTHEST / 2 {
                return probe;
            }
            self.reach -= 1; // so large a step leaves the range
        }
        None
    }
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
    /// Samples chains, and goes on with the best one for each change that is still open.
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
                    approach(change, generator, scratch, outcome, &record);
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

/// Finds the smallest power of two by which the change tells on this record, after one that does.
fn approach(
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

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{Place, find};

    fn of(policy: &str, path: &str, offset: usize, width: usize) -> Vec<Change> {
        of_field(find(policy).unwrap(), &Field { path: path.into(), offset, width })
    }

    #[test]
    fn changes__follow_the_table() {
        let policy = find("window-marker").unwrap();
        let params = Params::of(policy, &[("high", "0"), ("med", "65535")], &Place::EXAMPLE).unwrap();
        let high = of("window-marker", "high", 0, 4);
        let allowed: Vec<String> =
            high.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["high + 1"]); // 0 is the least
        let medium = of("window-marker", "medium", 4, 4);
        let allowed: Vec<String> =
            medium.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["medium - 1"]); // 65535 is the most
        assert_eq!(of("window-marker", "randomised", 8, 4)[0].name(), "randomised bit 0");
        assert!(!of("window-marker", "reserved", 12, 4)[0].matters);
    }

    #[test]
    fn changes__keep_to_the_words_of_a_choice() {
        let policer = find("policer").unwrap();
        let index = policer.parameters().iter().position(|parameter| parameter.name == "police").unwrap();
        let action = of("policer", "action", policer.field(index).offset, 4);
        let params = Params::of(policer, &[("police", "drop")], &Place::EXAMPLE).unwrap();
        let allowed: Vec<String> =
            action.iter().filter(|change| change.apply(&params).is_some()).map(Change::name).collect();
        assert_eq!(allowed, ["action - 1"]);
    }

    #[test]
    fn changes__know_what_is_not_read() {
        assert!(!of("policer", "settings.burst_bytes", 0, 8)[0].matters);
        assert!(!of("multi-red", "level[1].spare_below_packets", 0, 4)[0].matters);
    }
}
