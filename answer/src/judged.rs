//! A cell with what is said of it, computed once.

use crate::comparison::Cell;
use crate::findings::{Finding, findings};
use crate::vetoes::{Veto, vetoes};
use std::cell::OnceCell;

/// A cell, its findings and its vetoes.
#[derive(Debug)]
pub struct Judged {
    /// The cell.
    pub cell: Cell,
    findings: OnceCell<Vec<Finding>>,
    vetoes: OnceCell<Vec<Veto>>,
}

impl Judged {
    /// Returns a cell of which nothing has been computed yet.
    pub fn new(cell: Cell) -> Judged {
        Judged { cell, findings: OnceCell::new(), vetoes: OnceCell::new() }
    }

    /// Returns the findings.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| findings(&self.cell))
    }

    /// Returns who pays, or may.
    pub fn vetoes(&self) -> &[Veto] {
        self.vetoes.get_or_init(|| vetoes(&self.cell))
    }
}
