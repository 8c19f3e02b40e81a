//! What a comparison says, computed once: for the command, Python, pages and live routers alike.
//!
//! The crate is pure. It reads no files and no clock, starts no threads, and draws no random numbers.

pub mod advice;
pub mod columns;
pub mod comparison;
mod digits;
pub mod document;
pub mod findings;
pub mod installation;
pub mod judged;
pub mod manifest;
pub mod margins;
pub mod notes;
pub mod overview;
pub mod quantities;
pub mod ranking;
pub mod reduction;
pub mod report;
#[cfg(test)]
mod schema_tests;
pub mod setting;
pub mod sizes;
pub mod statistics;
pub mod tables;
#[cfg(test)]
mod tests_support;
pub mod texts;
pub mod verdicts;
pub mod vetoes;
