//! What a scheme's entry says: its name, parameters, units, defaults and sources, and how to build it.
//!
//! The entries themselves are in [`super::schemes`]; they are what `--schemes` accepts, what errors
//! suggest and what documentation prints.

use super::scheme::Place;
use super::values::Values;
use crate::error::Result;
use crate::marker::Marker;
use crate::queue::Queue;

/// What a parameter's text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A queue's length: packets, not necessarily whole, or percent of the buffer.
    Packets,
    /// A threshold: bytes (15kB) or packets (15p).
    Threshold,
    /// A size in bytes.
    Size,
    /// A buffer: packets or bytes.
    Buffer,
    /// A probability or weight, 0 to 1.
    Fraction,
    /// Any other number.
    Number,
    /// A share of something in percent.
    Percent,
    /// A rate, or percent of the bottleneck's.
    Rate,
    /// A span of time.
    Time,
    /// A whole number of at least 1.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One parameter of a scheme.
#[derive(Debug, Clone, Copy)]
pub struct ParameterDoc {
    /// Name as written in `scheme(name=value)`.
    pub name: &'static str,
    /// What its text may be.
    pub kind: Kind,
    /// Default, as text.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// One scheme: marker, queue and host settings under a name.
#[derive(Debug, Clone, Copy)]
pub struct SchemeDoc {
    /// Name, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// How it works, who gains and who pays, what to watch: a few sentences for its page.
    pub detail: &'static str,
    /// Its parameters.
    pub parameters: &'static [&'static [ParameterDoc]],
    /// Its marker before a link's queue.
    pub marker: Build<Marker>,
    /// Its queue at a link.
    pub queue: Build<Queue>,
    /// Its queue for one user at the sending host, where it acts there.
    pub host: Option<Build<Queue>>,
}

/// Builds a part of a scheme from the parameters' values, at a place.
pub type Build<T> = fn(&Values, Place) -> Result<T>;

/// The marker of schemes that have none.
pub fn unmarked(_: &Values, _: Place) -> Result<Marker> {
    Ok(Marker::None)
}

/// An entry of a table of parameters.
pub const fn parameter(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> ParameterDoc {
    ParameterDoc { name, kind, default, doc, source }
}

impl SchemeDoc {
    /// The parameters in order; where a name occurs twice the first one counts.
    pub fn all_parameters(&self) -> Vec<&'static ParameterDoc> {
        let mut all: Vec<&ParameterDoc> = Vec::new();
        for one in self.parameters.iter().copied().flatten() {
            if !all.iter().any(|known| known.name == one.name) {
                all.push(one);
            }
        }
        all
    }
}

impl Kind {
    /// Unit or form, for documentation and errors.
    pub fn describe(self) -> String {
        match self {
            Kind::Packets => "packets (30p), or % of the buffer (15%)".into(),
            Kind::Threshold => "bytes (15kB) or packets (15p)".into(),
            Kind::Size => "a size, such as 1500B or 15kB".into(),
            Kind::Buffer => "packets (50p) or bytes (64kB)".into(),
            Kind::Fraction => "a number above 0, at most 1".into(),
            Kind::Number => "a number, 0 or more".into(),
            Kind::Percent => "percent, 0 or more (20 or 20%)".into(),
            Kind::Rate => "a rate (250kbit), or % of the bottleneck's rate (5%)".into(),
            Kind::Time => "a time, such as 5ms or 1s".into(),
            Kind::Count => "a whole number of at least 1".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => crate::error::listing(words.iter().copied()),
        }
    }
}
