//! The results of the checks of a policy.

use serde::Serialize;
use std::fmt;

/// How one of the checks of a policy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was found.
    Passed,
    /// Something was found that may be meant.
    Warning,
    /// The policy is at fault.
    Failed,
    /// It was not run; the sentence says why.
    NotRun,
}

/// One of the checks of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// `description`, `rules`, `random records`, `kernel` or `sensitivity`.
    pub name: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// What was found, or what was done, in sentences. A compiler's or the kernel's messages follow on lines of their
    /// own.
    pub sentences: Vec<String>,
    /// Numbers of the kernel check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelFigures>,
    /// Numbers of the sensitivity check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<SensitivityFigures>,
}

/// Numbers of the comparison with the kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelFigures {
    /// Records played.
    pub records: u64,
    /// Outcomes that differ, and cases of 256 records after which the states differ.
    pub differences: u64,
    /// Mean time of a record in the kernel, with two look-ups in maps.
    pub ns_per_record: f64,
    /// Instructions of the program.
    pub instructions: u64,
    /// Instructions that the verifier looked at; absent before kernel 5.16.
    pub verified_instructions: Option<u32>,
    /// How often `packet` came to each outcome.
    pub outcomes: Vec<(&'static str, u64)>,
}

/// Numbers of the sensitivity check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SensitivityFigures {
    /// Changes that must be noticed.
    pub changes: u64,
    /// How many of them were.
    pub noticed: u64,
    /// Changes of fields that are not read.
    pub unread: u64,
    /// Records until the last one was noticed.
    pub records: u64,
    /// The change that took the most records.
    pub hardest: String,
}

/// All checks of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Its name, as in schemes; the file's name where the header cannot be loaded.
    pub policy: String,
    /// SHA-256 of a user's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// In the order in which they were made. Later ones are missing where an earlier one failed.
    pub checks: Vec<Check>,
}

impl Report {
    /// Returns whether no check has failed; a warning or a check that was not run is no failure.
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|check| check.verdict != Verdict::Failed)
    }

    /// Returns the sentence that says why the checks in the kernel were not run; `None` if they were.
    pub fn kernel_not_run(&self) -> Option<&str> {
        let kernel = self.checks.iter().find(|check| check.name == "kernel");
        match kernel {
            Some(check) if check.verdict == Verdict::NotRun => check.sentences.first().map(String::as_str),
            Some(_) => None,
            None => Some("an earlier check failed"),
        }
    }
}

impl Check {
    /// Returns a check without figures.
    pub(crate) fn new(name: &'static str, verdict: Verdict, sentences: Vec<String>) -> Check {
        Check { name, verdict, sentences, kernel: None, sensitivity: None }
    }
}

impl fmt::Display for Report {
    /// Writes a paragraph for each check.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.policy)?;
        for check in &self.checks {
            let verdict = match check.verdict {
                Verdict::Passed => "passed",
                Verdict::Warning => "warning",
                Verdict::Failed => "FAILED",
                Verdict::NotRun => "NOT RUN",
            };
            writeln!(f, "  {:15} {verdict}", check.name)?;
            for sentence in check.sentences.iter().flat_map(|sentence| sentence.lines()) {
                writeln!(f, "    {sentence}")?;
            }
        }
        Ok(())
    }
}
