//! Would the comparison notice? Each parameter of a policy is changed by its smallest step, in the kernel only.

use super::case::{Case, Entry, RECORDS, Steps};
use super::dice::Dice;
use super::fields::{Field, fields};
use super::kernel::Kernel;
use super::plain::{set_word, word};

/// One parameter changed one way.
#[derive(Debug, Clone)]
pub struct Change {
    /// The parameter.
    pub field: Field,
    /// What is done to it.
    pub step: Step,
    /// Whether it must be noticed; otherwise it must not be.
    pub matters: bool,
    /// Records played with the change.
    pub records: usize,
    /// Whether some outcome or state differed.
    pub noticed: bool,
}

/// What is done to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// One more, to at most this.
    Up(u64),
    /// One less, to at least this.
    Down(u64),
    /// This bit turned over.
    Flip(u32),
}

impl Change {
    /// Such as `level[1].w_q32 + 1`.
    pub fn name(&self) -> String {
        let path = &self.field.path;
        match self.step {
            Step::Up(_) => format!("{path} + 1"),
            Step::Down(_) => format!("{path} - 1"),
            Step::Flip(bit) => format!("{path} bit {bit}"),
        }
    }

    /// Whether what was seen is what must be.
    pub fn holds(&self) -> bool {
        self.noticed == self.matters && self.records > 0
    }

    /// The parameters with the change; `None` where it would leave the range.
    fn apply(&self, params: &[u8]) -> Option<Vec<u8>> {
        let Field { offset, width, .. } = self.field;
        let old = word(params, offset, width);
        let new = match self.step {
            Step::Up(most) => (old < most.min(u64::MAX >> (64 - 8 * width))).then(|| old + 1)?,
            Step::Down(least) => (old > least).then(|| old - 1)?,
            Step::Flip(bit) => old ^ 1 << bit,
        };
        let mut changed = params.to_vec();
        set_word(&mut changed, offset, width, new);
        Some(changed)
    }
}

/// Every change of every parameter of a policy, none of them tried yet.
pub fn changes(object: &[u8], entry: &Entry) -> Vec<Change> {
    let mut all = Vec::new();
    for field in fields(object, entry.params) {
        for (step, matters) in each((entry.steps)(&field.name)) {
            all.push(Change { field: field.clone(), step, matters, records: 0, noticed: false });
        }
    }
    all
}

/// The steps, and whether each matters.
fn each(steps: Steps) -> Vec<(Step, bool)> {
    let bits = |mask: u64| (0..u64::BITS).filter(move |bit| mask >> bit & 1 == 1).map(Step::Flip);
    match steps {
        Steps::Unit => vec![(Step::Up(u64::MAX), true), (Step::Down(0), true)],
        Steps::Within(least, most) => vec![(Step::Up(most), true), (Step::Down(least), true)],
        Steps::Up(most) => vec![(Step::Up(most), true)],
        Steps::Bits(mask) => bits(mask).map(|step| (step, true)).collect(),
        Steps::Unread => vec![(Step::Up(u64::MAX), false)],
    }
}

/// Cases on which a parameter that is not read is tried.
const UNREAD_CASES: usize = 256;

/// Draws cases, at most so many, until every change that matters was noticed and every other was tried on
/// `UNREAD_CASES` of them.
///
/// # Errors
/// libbpf's.
pub fn search(
    kernel: &Kernel,
    entry: &Entry,
    changes: &mut [Change],
    seed: u64,
    cases: usize,
) -> libbpf_rs::Result<()> {
    let mut dice = Dice::new(seed);
    for number in 0..cases {
        let open = |change: &&mut Change| !change.noticed && (change.matters || number < UNREAD_CASES);
        let mut left = changes.iter_mut().filter(open).peekable();
        if left.peek().is_none() {
            break;
        }
        let case = (entry.draw)(&mut dice);
        for change in left {
            try_change(kernel, entry, change, &case)?;
        }
    }
    Ok(())
}

fn try_change(kernel: &Kernel, entry: &Entry, change: &mut Change, case: &Case) -> libbpf_rs::Result<()> {
    if let Some(params) = change.apply(&case.params) {
        let run = kernel.run(entry, case, &params)?;
        change.records += RECORDS;
        change.noticed = run.outcomes != case.outcomes || run.after != case.after;
    }
    Ok(())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::parity::{OBJECT, POLICIES};

    fn change(step: Step) -> Change {
        let field = Field { path: "a.b".into(), name: "b".into(), offset: 4, width: 4 };
        Change { field, step, matters: true, records: 0, noticed: false }
    }

    #[test]
    fn apply__changes_one_field_by_one() {
        let params = [9, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0];
        let third = |step| change(step).apply(&params).map(|new| (new[4], new[..4] == params[..4], new[8]));
        assert_eq!(third(Step::Up(3)), Some((3, true, 9)));
        assert_eq!(third(Step::Down(0)), Some((1, true, 9)));
        assert_eq!(third(Step::Flip(4)), Some((18, true, 9)));
    }

    #[test]
    fn apply__stays_in_range() {
        let params = [0, 0, 0, 0, 2, 0, 0, 0];
        assert_eq!(change(Step::Up(2)).apply(&params), None);
        assert_eq!(change(Step::Down(2)).apply(&params), None);
        let full = [0, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(change(Step::Up(u64::from(u32::MAX))).apply(&full), None);
    }

    #[test]
    fn changes__cover_every_parameter() {
        for entry in &POLICIES {
            let all = changes(OBJECT, entry);
            for field in fields(OBJECT, entry.params) {
                assert!(all.iter().any(|change| change.field == field), "{}: {}", entry.name, field.path);
            }
        }
    }

    #[test]
    fn holds__only_when_tried_and_as_it_must_be() {
        let with = |matters, records, noticed| Change { matters, records, noticed, ..change(Step::Down(0)) };
        assert!(with(true, 256, true).holds() && with(false, 256, false).holds());
        assert!(!with(true, 256, false).holds() && !with(false, 256, true).holds());
        assert!(!with(false, 0, false).holds());
    }
}
