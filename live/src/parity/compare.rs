//! The native build and the kernel's on many cases.

use super::case::{Case, Entry, RECORDS};
use super::dice::Dice;
use super::kernel::{Kernel, Run};
use std::time::Duration;

/// What came out of comparing.
#[derive(Debug, Clone, Default)]
pub struct Parity {
    /// Calls made on both sides.
    pub records: usize,
    /// Calls whose outcomes differ.
    pub outcomes_differ: usize,
    /// Cases after which the states differ.
    pub states_differ: usize,
    /// The first difference, as a sentence.
    pub first: Option<String>,
    /// How often each outcome occurred natively, by its value.
    pub seen: Vec<usize>,
    /// Time in the kernel's program.
    pub took: Duration,
}

impl Parity {
    /// Differences of either kind.
    pub fn differences(&self) -> usize {
        self.outcomes_differ + self.states_differ
    }

    fn add(&mut self, case: &Case, run: &Run, number: usize) {
        self.records += run.outcomes.len();
        self.took += run.took;
        for outcome in &case.outcomes {
            self.seen[*outcome as usize] += 1;
        }
        let differs = |index: &usize| case.outcomes[*index] != run.outcomes[*index];
        let different: Vec<usize> = (0..RECORDS).filter(differs).collect();
        self.outcomes_differ += different.len();
        self.states_differ += usize::from(case.after != run.after);
        if self.first.is_none() {
            self.first = different.first().map(|index| sentence(case, run, number, *index));
        }
        if self.first.is_none() && case.after != run.after {
            self.first = Some(format!(
                "case {number}: state {:x?} natively, {:x?} in the kernel",
                case.after, run.after
            ));
        }
    }
}

/// Draws `cases` cases and plays each on both sides.
///
/// # Errors
/// libbpf's.
pub fn compare(kernel: &Kernel, entry: &Entry, seed: u64, cases: usize) -> libbpf_rs::Result<Parity> {
    let mut dice = Dice::new(seed);
    let mut parity = Parity { seen: vec![0; entry.outcomes.len()], ..Parity::default() };
    for number in 0..cases {
        let case = (entry.draw)(&mut dice);
        let run = kernel.run(entry, &case, &case.params)?;
        parity.add(&case, &run, number);
    }
    Ok(parity)
}

fn sentence(case: &Case, run: &Run, number: usize, index: usize) -> String {
    let (native, kernel) = (case.outcomes[index], run.outcomes[index]);
    format!("case {number}, {:?}: {native} natively, {kernel} in the kernel", case.records[index])
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::parity::POLICIES;

    fn played(change: impl FnOnce(&mut Run)) -> Parity {
        let entry = &POLICIES[0];
        let case = (entry.draw)(&mut Dice::new(3));
        let mut run =
            Run { outcomes: case.outcomes.clone(), after: case.after.clone(), took: Duration::ZERO };
        change(&mut run);
        let mut parity = Parity { seen: vec![0; entry.outcomes.len()], ..Parity::default() };
        parity.add(&case, &run, 7);
        parity
    }

    #[test]
    fn parity__same_is_same() {
        let parity = played(|_| ());
        assert_eq!((parity.records, parity.differences(), parity.first), (RECORDS, 0, None));
        assert_eq!(parity.seen.iter().sum::<usize>(), RECORDS);
    }

    #[test]
    fn parity__one_outcome_counts() {
        let parity = played(|run| run.outcomes[5] += 1);
        assert_eq!((parity.outcomes_differ, parity.states_differ), (1, 0));
        assert!(parity.first.unwrap().starts_with("case 7, Record"));
    }

    #[test]
    fn parity__one_bit_of_state_counts() {
        let parity = played(|run| run.after[9] ^= 1);
        assert_eq!((parity.outcomes_differ, parity.states_differ), (0, 1));
        assert!(parity.first.unwrap().contains("state"));
    }
}
