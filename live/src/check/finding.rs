//! Findings, and the tools whose output they are derived from.

use serde::Serialize;
use std::process::Command;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Rank {
    /// Nothing needs to be done.
    #[serde(rename = "harmless")]
    Harmless,
    /// It works, but perhaps not as expected.
    #[serde(rename = "worth knowing")]
    WorthKnowing,
    /// It does not work until this is changed.
    #[serde(rename = "in the way")]
    InTheWay,
}

impl Rank {
    /// Returns its name.
    pub fn label(self) -> &'static str {
        match self {
            Rank::Harmless => "harmless",
            Rank::WorthKnowing => "worth knowing",
            Rank::InTheWay => "in the way",
        }
    }
}

/// One finding of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its subject; the same in every version.
    pub key: &'static str,
    /// How much it matters.
    pub rank: Rank,
    /// What was found, without a full stop.
    pub sentence: String,
    /// The command that changes it or shows more; `None` for what is harmless. `DEV` in it stands
    /// for the device.
    pub cure: Option<String>,
}

impl Finding {
    /// Returns a finding that needs no action.
    pub(super) fn harmless(key: &'static str, sentence: impl Into<String>) -> Finding {
        Finding { key, rank: Rank::Harmless, sentence: sentence.into(), cure: None }
    }

    /// Returns a finding that the user should know, with a command.
    pub(super) fn worth_knowing(
        key: &'static str,
        sentence: impl Into<String>,
        cure: impl Into<String>,
    ) -> Finding {
        Finding { key, rank: Rank::WorthKnowing, sentence: sentence.into(), cure: Some(cure.into()) }
    }

    /// Returns a finding that prevents marking or queueing, with the command that changes it.
    pub(super) fn in_the_way(
        key: &'static str,
        sentence: impl Into<String>,
        cure: impl Into<String>,
    ) -> Finding {
        Finding { key, rank: Rank::InTheWay, sentence: sentence.into(), cure: Some(cure.into()) }
    }

    /// Returns the finding as a line for the user.
    pub(super) fn format_line(&self) -> String {
        let cure = self.cure.as_ref().map_or(String::new(), |cure| format!(": `{cure}`"));
        format!("{:<13}  {}{cure}", self.rank.label(), self.sentence)
    }
}

/// Why a tool gave no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It is not installed.
    Missing,
    /// It failed with this message.
    Failed(String),
}

/// Runs a tool that only shows something, in the C locale, and waits for it. Returns what it
/// printed to standard output.
///
/// # Errors
/// `Missing` if it cannot be started; else `Failed` with the first line of its standard error.
pub(super) fn run_tool(program: &str, arguments: &[&str]) -> std::result::Result<String, Unknown> {
    match Command::new(program).args(arguments).env("LC_ALL", "C").output() {
        Err(_) => Err(Unknown::Missing),
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed");
            Err(Unknown::Failed(said.trim_end_matches('.').to_string()))
        }
    }
}

/// Returns the finding that `what` cannot be inspected, because `program` (of `package`) gave no
/// output.
pub(super) fn report_unseen(
    key: &'static str,
    what: &str,
    program: &str,
    package: &str,
    why: &Unknown,
) -> Finding {
    match why {
        Unknown::Missing => Finding::worth_knowing(
            key,
            format!("{what} cannot be seen, because {program} is not installed"),
            format!("apt install {package}"),
        ),
        Unknown::Failed(said) => Finding::worth_knowing(
            key,
            format!("{what} cannot be seen, because {program} says \"{said}\""),
            "sudo mousehole-live check DEV",
        ),
    }
}
