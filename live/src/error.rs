//! Failures: one sentence each, for the user.

use std::fmt;

/// Why a command did not do what it was asked to: one sentence, without a full stop at its end where it closes with a
/// command to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

/// What commands return.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Returns a failure with this sentence.
    pub fn new(sentence: impl Into<String>) -> Failure {
        Failure(sentence.into())
    }

    /// Returns the failure of an operation on something, with the system's reason.
    pub fn system(what: impl fmt::Display, error: &std::io::Error) -> Failure {
        Failure(format!("{what}; {}", format_reason(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<mousehole_scheme::error::Error> for Failure {
    fn from(error: mousehole_scheme::error::Error) -> Failure {
        Failure(error.to_string())
    }
}

/// Returns the system's reason without its number.
pub fn format_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
