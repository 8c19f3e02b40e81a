//! What the tests of this crate share.
#![allow(dead_code)]

pub mod cases;
pub mod float;
pub mod link;

use std::path::PathBuf;

/// Uniform bits that are the same on every run (a 64-bit LCG, upper half).
pub struct Bits(pub u64);

impl Bits {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }

    pub fn uniform(&mut self) -> f64 {
        f64::from(self.next()) / 4294967296.0
    }

    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }

    /// Log-uniform between two positive numbers.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }
}

/// Rows of a golden table, without its header.
pub fn golden(name: &str) -> Vec<Vec<String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oracle/golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect()
}
