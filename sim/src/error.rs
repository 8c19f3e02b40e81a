//! One error type for everything a user can get wrong.
//!
//! Every message names where (file and line, or field), the value, and what is allowed, on one line: whatever
//! it quotes of the user's input is shown with its control characters written out.

use std::fmt::{self, Write};

/// A fault in the user's input; the front ends print it as one line and exit with code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter or scenario field holds a value that is not allowed.
    #[error("{}: {} is not allowed; {}", Plain(field), Plain(value), Plain(allowed))]
    Field {
        /// Dotted name of the field or option, such as `link.rate` or `--rate`.
        field: String,
        /// The offending value as the user wrote it.
        value: String,
        /// What would be accepted, with a "did you mean" where one is near.
        allowed: String,
    },
    /// A file cannot be used at all.
    #[error("{}: {}", Plain(file), Plain(problem))]
    File {
        /// The path as the user gave it.
        file: String,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// One row or packet of a file cannot be used.
    #[error("{}:{line}: {}", Plain(file), Plain(problem))]
    Row {
        /// The path as the user gave it.
        file: String,
        /// 1-based line, or packet number for a capture.
        line: u64,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// The run was asked to stop (Ctrl-C).
    #[error("stopped before the end")]
    Cancelled,
}

/// Result with the crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A [`Error::Field`] from anything printable.
    pub fn field(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Error::Field { field: field.into(), value: value.to_string(), allowed: allowed.into() }
    }

    /// A [`Error::File`] from anything printable.
    pub fn file(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::File { file: file.into(), problem: problem.into() }
    }

    /// The same error with `prefix` before the field name, for nested validation.
    pub fn within(self, prefix: &str) -> Self {
        match self {
            Error::Field { field, value, allowed } => {
                Error::Field { field: format!("{prefix}.{field}"), value, allowed }
            }
            other => other,
        }
    }
}

/// Text with what ends a line or steers a terminal written out, such as `\n` and `\u{1b}`.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "{}", c.escape_default())
            }
            c => f.write_char(c),
        })
    }
}

/// ` (did you mean "x"?)` when one of `known` is near `given`, else an empty string.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let given = given.to_ascii_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&given, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| format!(" (did you mean \"{candidate}\"?)"))
        .unwrap_or_default()
}

/// `a, b or c` for messages that list what is allowed.
pub fn listing<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_string(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn error__is_one_line_whatever_it_quotes() {
        let error = Error::field("link.ra\tte", "\"1\n2\r\u{1b}[31m\u{2028}\"", "a rate, such as 5mbit");
        let expected = "link.ra\\tte: \"1\\n2\\r\\u{1b}[31m\\u{2028}\" is not allowed; a rate, such as 5mbit";
        assert_eq!(error.to_string(), expected);
        assert_eq!(Error::file("a\nb", "is\u{85}empty").to_string(), "a\\nb: is\\u{85}empty");
    }
}
