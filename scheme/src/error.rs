//! Faults in the user's input: a closed set of problems, each with its own sentence.
//!
//! Every message is one line. It names the field, or the file and line, the value, and what is allowed. Control characters
//! in text quoted from the input are escaped.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// A fault in the user's input. The front ends print it as one line and exit with code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A field of a scenario, or an option, has a problem.
    #[error("{}: {problem}", Plain(field))]
    Field {
        /// Path of the field, such as `link.rate` or `traffic.mix[1].params.users`.
        field: String,
        /// The problem and what would be accepted.
        problem: Box<Problem>,
    },
    /// A file cannot be used at all.
    #[error("{}: {}", Plain(file), Plain(problem))]
    File {
        /// The path as the user gave it.
        file: String,
        /// The fault and what is allowed, as a clause.
        problem: String,
    },
    /// One row or packet of a file cannot be used.
    #[error("{}:{line}: {}", Plain(file), Plain(problem))]
    Row {
        /// The path as the user gave it.
        file: String,
        /// 1-based line, or packet number for a capture.
        line: u64,
        /// The fault and what is allowed, as a clause.
        problem: String,
    },
    /// The run was asked to stop (Ctrl-C).
    #[error("stopped before the end")]
    Cancelled,
}

/// The problem of a field; displays as a sentence without the field's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The value is not allowed.
    Value {
        /// The value as the user wrote it.
        value: Given,
        /// Completes "the value …", if it can be more specific than "is not allowed": `has no unit`.
        fault: Option<String>,
        /// Completes "it must be …": `a time with a unit, such as 80ms`.
        allowed: String,
        /// The allowed word nearest to the value, if one is near.
        suggestion: Option<String>,
    },
    /// A needed value is absent.
    Missing {
        /// Completes "give …": `at least one file`.
        allowed: String,
    },
    /// The value is allowed by itself, but not together with something else.
    Conflict {
        /// The value as the user wrote it.
        value: Given,
        /// Completes "cannot be combined with …": `tcp.profile "rfc"`.
        with: String,
        /// A clause that says how to resolve it: `give one of them`.
        allowed: String,
    },
    /// Nothing has this name.
    Unknown {
        /// What the name is of, such as `scheme` or `parameter`.
        noun: Cow<'static, str>,
        /// The name as the user wrote it.
        value: Given,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The text cannot be parsed; the sentence is the parser's.
    Form {
        /// The value as the user wrote it, where it is short enough to quote.
        value: Option<Given>,
        /// The parser's sentence.
        problem: String,
    },
}

/// A value as the user wrote it; displays text in quotation marks and anything else as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The value as text, without quotation marks.
    pub text: String,
    /// Whether the value is text in itself, and not a number or a description.
    pub is_text: bool,
}

/// Text from the user, which messages put in quotation marks; see [`quote`].
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(&'a str);

/// A type that an error can name as the offending value: [`quote`]d text, or anything printable.
pub trait IntoGiven {
    /// Returns the value as errors display it.
    fn into_given(self) -> Given;
}

impl<T: fmt::Display> IntoGiven for T {
    /// Returns the printed value, which messages do not put in quotation marks.
    fn into_given(self) -> Given {
        Given { text: self.to_string(), is_text: false }
    }
}

impl IntoGiven for Quoted<'_> {
    /// Returns the text, which messages put in quotation marks.
    fn into_given(self) -> Given {
        Given { text: self.0.to_string(), is_text: true }
    }
}

impl fmt::Display for Given {
    /// Writes the value, text in quotation marks, with control characters escaped.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mark = if self.is_text { "\"" } else { "" };
        write!(f, "{mark}{}{mark}", Plain(&self.text))
    }
}

/// Result with the crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an [`Error::Field`] for a value that is not allowed; `allowed` completes "it must be …".
    pub fn field(field: impl Into<String>, value: impl IntoGiven, allowed: impl Into<String>) -> Self {
        let (value, allowed) = (value.into_given(), allowed.into());
        Problem::Value { value, fault: None, allowed, suggestion: None }.for_field(field)
    }

    /// Returns an [`Error::Field`] for a value that is not allowed; `fault` completes "the value …", such as
    /// `has no unit`.
    pub fn faulty(
        field: impl Into<String>,
        value: impl IntoGiven,
        fault: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        let (value, fault) = (value.into_given(), Some(fault.into()));
        Problem::Value { value, fault, allowed: allowed.into(), suggestion: None }.for_field(field)
    }

    /// Returns an [`Error::Field`] for a value that is none of `words`, with a suggestion if one of them is near.
    pub fn choice(field: impl Into<String>, value: &str, words: &[&str]) -> Self {
        Error::field(field, quote(value), join_with_or(words.iter().copied()))
            .suggest(find_nearest(value, words.iter().copied()))
    }

    /// Returns an [`Error::Field`] for a needed value that is absent; `allowed` completes "give …".
    pub fn missing(field: impl Into<String>, allowed: impl Into<String>) -> Self {
        Problem::Missing { allowed: allowed.into() }.for_field(field)
    }

    /// Returns an [`Error::Field`] for a value that cannot be combined with `with`; `allowed` is a clause that says
    /// how to resolve it.
    pub fn conflict(
        field: impl Into<String>,
        value: impl IntoGiven,
        with: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        let (value, with) = (value.into_given(), with.into());
        Problem::Conflict { value, with, allowed: allowed.into() }.for_field(field)
    }

    /// Returns an [`Error::Field`] for a name that no `noun` has; the sentence suggests the nearest of `known`.
    pub fn unknown<'a>(
        field: impl Into<String>,
        noun: impl Into<Cow<'static, str>>,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(str::to_string).collect();
        Problem::Unknown { noun: noun.into(), value: quote(name).into_given(), known }.for_field(field)
    }

    /// Returns an [`Error::File`]; `problem` is a clause with the fault and what is allowed.
    pub fn file(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::File { file: file.into(), problem: problem.into() }
    }

    /// Returns the error with `near` as suggestion; any error but that of a value is unchanged.
    pub fn suggest(mut self, near: Option<&str>) -> Self {
        if let Error::Field { problem, .. } = &mut self
            && let Problem::Value { suggestion, .. } = problem.as_mut()
        {
            *suggestion = near.map(str::to_string);
        }
        self
    }

    /// Returns the same error with its field inside `prefix`; any error but that of a field is unchanged. Code that
    /// checks a part names fields relative to that part (`params.users`, or `""` for the part itself); its caller adds
    /// the position of the part.
    pub fn inside(self, prefix: &str) -> Self {
        match self {
            Error::Field { field, problem } => {
                let dot = if field.is_empty() || field.starts_with('[') { "" } else { "." };
                Error::Field { field: format!("{prefix}{dot}{field}"), problem }
            }
            other => other,
        }
    }

    /// Returns the path of the field; `None` if the error is not one of a field.
    pub fn path(&self) -> Option<&str> {
        match self {
            Error::Field { field, .. } => Some(field),
            Error::File { .. } | Error::Row { .. } | Error::Cancelled => None,
        }
    }
}

impl Problem {
    /// Returns an [`Error::Field`] with this problem of `field`.
    pub fn for_field(self, field: impl Into<String>) -> Error {
        Error::Field { field: field.into(), problem: Box::new(self) }
    }

    /// Returns the kind of problem as one lower-case word, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Problem::Value { .. } => "value",
            Problem::Missing { .. } => "missing",
            Problem::Conflict { .. } => "conflict",
            Problem::Unknown { .. } => "unknown",
            Problem::Form { .. } => "form",
        }
    }

    /// Returns the offending value as the user wrote it, if there is one.
    pub fn value(&self) -> Option<&Given> {
        match self {
            Problem::Value { value, .. }
            | Problem::Conflict { value, .. }
            | Problem::Unknown { value, .. } => Some(value),
            Problem::Form { value, .. } => value.as_ref(),
            Problem::Missing { .. } => None,
        }
    }

    /// Returns what would be accepted; empty if only the parser knows.
    pub fn allowed(&self) -> String {
        match self {
            Problem::Value { allowed, .. }
            | Problem::Missing { allowed }
            | Problem::Conflict { allowed, .. } => allowed.clone(),
            Problem::Unknown { known, .. } => list_known(known),
            Problem::Form { .. } => String::new(),
        }
    }
}

impl fmt::Display for Problem {
    /// Writes the sentence on one line: value and fault, what is allowed, and a suggestion if there is one.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Problem::Value { value, fault, allowed, suggestion } => {
                let fault = fault.as_deref().unwrap_or("is not allowed");
                let (fault, allowed) = (Plain(fault), Plain(allowed));
                write!(f, "{value} {fault}; it must be {allowed}")?;
                write_suggestion(f, suggestion.as_deref())
            }
            Problem::Missing { allowed } => write!(f, "give {}; none was given", Plain(allowed)),
            Problem::Conflict { value, with, allowed } => {
                let (with, allowed) = (Plain(with), Plain(allowed));
                write!(f, "{value} cannot be combined with {with}; {allowed}")
            }
            Problem::Unknown { noun, value, known } => {
                write!(f, "there is no {noun} {value}; ")?;
                match known.as_slice() {
                    [] => write!(f, "there are no {noun}s"),
                    [only] => write!(f, "the only {noun} is {}", Plain(only)),
                    _ => write!(f, "the {noun}s are {}", Plain(&list_known(known))),
                }?;
                write_suggestion(f, find_nearest(&value.text, known.iter().map(String::as_str)))
            }
            Problem::Form { problem, .. } => write!(f, "{}", Plain(problem)),
        }
    }
}

/// Writes `; did you mean "…"?`, or nothing without a suggestion.
fn write_suggestion(f: &mut fmt::Formatter, suggestion: Option<&str>) -> fmt::Result {
    match suggestion {
        Some(word) => write!(f, "; did you mean \"{}\"?", Plain(word)),
        None => Ok(()),
    }
}

/// More names than this are not listed in a message.
const MOST_LISTED: usize = 30;

/// Returns `a, b and c`, or `a, b and 3 more` for more than [`MOST_LISTED`] names.
fn list_known(known: &[String]) -> String {
    let names: Vec<&str> = known.iter().take(MOST_LISTED).map(String::as_str).collect();
    match (names.split_last(), known.len() - names.len()) {
        (Some((last, rest)), 0) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        (_, 0) => names.concat(),
        (_, more) => format!("{} and {more} more", names.join(", ")),
    }
}

/// Text that displays with line breaks and control characters escaped, such as `\n` and `\u{1b}`.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    /// Writes the text with each control character and line separator escaped as Rust does.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "{}", c.escape_default())
            }
            c => f.write_char(c),
        })
    }
}

/// Returns a text with its line breaks and control characters escaped as those of messages are.
pub fn escape(text: &str) -> String {
    Plain(text).to_string()
}

/// Marks text from the user, so that messages put it in quotation marks.
pub fn quote(text: &str) -> Quoted<'_> {
    Quoted(text)
}

/// Returns the one of `known`, which are lower case, that is nearest to `given` in any case, of equals the first in
/// alphabetical order; `None` if none is within a Damerau-Levenshtein distance of 1 plus a quarter of its length.
pub fn find_nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_ascii_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&given, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns ` (did you mean "x"?)` if one of `known` is near `given`, else an empty string.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    find_nearest(given, known)
        .map(|candidate| format!(" (did you mean \"{candidate}\"?)"))
        .unwrap_or_default()
}

/// Returns `a, b or c`, for messages that list the allowed words; empty for none.
pub fn join_with_or<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<&str> = items.into_iter().collect();
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_string(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// Phrases of Rust's parsers, and their replacements for users, in the order of replacement.
const PLAIN: [(&str, &str); 13] = [
    ("a borrowed string", "a text"),
    ("a string", "a text"),
    ("invalid type: string", "not allowed is the text"),
    ("invalid type: sequence", "not allowed is a list"),
    ("invalid type: map", "not allowed is a table"),
    ("invalid type:", "not allowed is the"),
    ("expected a sequence", "it must be a list"),
    ("expected a map", "it must be a table"),
    ("expected a boolean", "it must be true or false"),
    ("expected f64", "it must be a number"),
    ("expected u64", "it must be a whole number, 0 or more"),
    ("expected u32", "it must be a whole number, 0 or more"),
    ("expected a text", "it must be a text"),
];

/// Returns the message of a Rust parser in terms of the file's format.
pub fn simplify(message: &str) -> String {
    let plain = PLAIN.iter().fold(message.to_string(), |text, (rust, plain)| text.replace(rust, plain));
    // The name of a struct is that of a section.
    match plain.split_once("expected struct ") {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(char::is_alphanumeric);
            format!("{before}it must be a table of fields{rest}")
        }
        None => plain,
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests;
