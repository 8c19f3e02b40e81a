//! A cell with its findings, margins and vetoes, each computed once.

use crate::comparison::Cell;
use crate::findings::{Finding, compute_findings};
use crate::margins::{Margin, NONE, STAND_INS, read_margin, read_margins};
use crate::vetoes::{Veto, find_payers, is_known_before};
use std::cell::OnceCell;

/// A cell, its findings and who pays under its schemes.
#[derive(Debug)]
pub struct Judged {
    /// The cell.
    pub cell: Cell,
    findings: OnceCell<Vec<Finding>>,
    vetoes: OnceCell<Vec<Veto>>,
    margins: OnceCell<Vec<Margin>>,
    /// By scheme and by the one that it is held against.
    payers: Vec<OnceCell<Vec<Veto>>>,
}

impl Judged {
    /// Returns a cell of which nothing has been computed yet.
    pub fn new(cell: Cell) -> Judged {
        let pairs = cell.schemes().count().pow(2);
        let payers = (0..pairs).map(|_| OnceCell::new()).collect();
        Judged { cell, findings: OnceCell::new(), vetoes: OnceCell::new(), margins: OnceCell::new(), payers }
    }

    /// Returns the findings of [`compute_findings`], computed at the first call.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| compute_findings(&self.cell))
    }

    /// Returns the margins of harm, with those of figures that stand in for what is not known. Those that cannot be
    /// read, which are refused before a run, are left out.
    pub fn margins(&self) -> &[Margin] {
        self.margins.get_or_init(|| {
            let (table, given) = (&self.cell.table, &self.cell.plan.vetoes);
            let mut all = read_margins(table, given).unwrap_or_default();
            let stand_ins = STAND_INS.iter().filter_map(|text| read_margin(table, text).ok());
            let is_needed = |one: &Margin| {
                let is_given = all.iter().any(|other| other.figure == one.figure);
                !given.iter().any(|text| text.trim() == NONE)
                    && !is_given
                    && !is_known_before(&self.cell, &one.figure)
            };
            let more: Vec<Margin> = stand_ins.filter(is_needed).collect();
            all.extend(more);
            all
        })
    }

    /// Returns who pays, or may, under every scheme but the reference of harm, the baseline and
    /// ideals; computed at the first call.
    pub fn vetoes(&self) -> &[Veto] {
        let held = || self.cell.schemes().flat_map(|scheme| self.possible_payers(scheme).to_vec());
        self.vetoes.get_or_init(|| held().collect())
    }

    /// Returns who pays, or may, under a scheme against the reference of harm. Empty for that reference, the baseline
    /// and ideals.
    pub fn possible_payers(&self, scheme: usize) -> &[Veto] {
        let (cell, plan) = (&self.cell, &self.cell.plan);
        let other = cell.scheme_index(plan.harm_reference());
        let is_held = ![other, cell.baseline()].contains(&scheme) && !plan.schemes[scheme].is_ideal;
        if is_held { self.payers(scheme, other) } else { &[] }
    }

    /// Returns who pays, or may, under a scheme against another one, both by index; computed at the
    /// first call for the pair.
    pub fn payers(&self, scheme: usize, other: usize) -> &[Veto] {
        let index = scheme * self.cell.schemes().count() + other;
        self.payers[index].get_or_init(|| find_payers(&self.cell, self.margins(), scheme, other))
    }

    /// Returns who is shown to pay under a scheme against another one.
    pub fn shown_payers(&self, scheme: usize, other: usize) -> Vec<Veto> {
        self.payers(scheme, other).iter().filter(|one| one.binds).cloned().collect()
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::tests_support::{make_cell, with_calls};

    #[test]
    fn vetoes__are_against_what_people_would_have() {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 0.6, 10.0), ("fq-codel", 0.5, 10.0)];
        let delays_s = [0.3, 0.03, 0.05];
        let found = Judged::new(make_cell(&schemes, |index, facts| {
            with_calls(facts, "delay_p95_s", delays_s[index])
        }));
        assert_eq!(found.cell.plan.harm_reference(), "cake");
        let all: Vec<&str> = found.vetoes().iter().map(|one| one.scheme.as_str()).collect();
        assert_eq!(all, ["fq-codel"]);
        assert_eq!(found.vetoes(), found.payers(2, 1));
        assert!(found.payers(1, 2).is_empty(), "each pair has its own");
    }
}
