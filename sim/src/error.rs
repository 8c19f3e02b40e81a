//! One error type for everything a user can get wrong.
//!
//! Every message names where (file and line, or field), the value, and what is allowed.

/// A fault in the user's input; the front ends print it as one line and exit with code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter or scenario field holds a value that is not allowed.
    #[error("{field}: {value} is not allowed; {allowed}")]
    Field {
        /// Dotted name of the field or option, such as `link.rate` or `--rate`.
        field: String,
        /// The offending value as the user wrote it.
        value: String,
        /// What would be accepted, with a "did you mean" where one is near.
        allowed: String,
    },
    /// A file cannot be used at all.
    #[error("{file}: {problem}")]
    File {
        /// The path as the user gave it.
        file: String,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// One row or packet of a file cannot be used.
    #[error("{file}:{line}: {problem}")]
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
        // What the user wrote is quoted as it is, but on one line.
        let value = value.to_string().replace('\n', "\\n").replace('\r', "\\r");
        Error::Field { field: field.into(), value, allowed: allowed.into().replace('\n', " ") }
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
