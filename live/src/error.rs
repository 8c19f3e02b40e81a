//! The error type of every command: one sentence for the user.

use std::fmt;

/// Says in one sentence why a command failed, with what to do about it. There is no full stop at
/// the end, since a sentence may end in a command to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

/// The result of every fallible function here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Returns a failure with this sentence.
    pub fn new(sentence: impl Into<String>) -> Failure {
        Failure(sentence.into())
    }

    /// Returns a failure that names `what` failed, followed by the system's reason.
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

/// Returns the system's error text in lower case and without "(os error N)"; an error that the
/// system did not give keeps its text.
pub fn format_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
