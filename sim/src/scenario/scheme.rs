//! From `s-sfd(th=15kB,k=4)` to a marker and a queue.

use super::catalogue::{ParameterDoc, SchemeDoc};
use super::schemes::SCHEMES;
use super::values::Values;
use crate::error::{Error, Result, listing, quote};
use crate::marker::Marker;
use crate::queue::Queue;
use crate::units::{Buffer, Rate};
use std::collections::BTreeMap;
use std::fmt;

/// A scheme with every parameter set, by the user or by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    doc_index: usize,
    given: BTreeMap<&'static str, String>,
}

/// Where a scheme is put: what its parts need to know of the link.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Rate of the link.
    pub rate: Rate,
    /// Rate of the bottleneck in the data direction, of which contracts may be shares wherever they are held.
    pub bottleneck: Rate,
    /// Buffer of the link.
    pub buffer: Buffer,
    /// Seed of its dice.
    pub seed: u64,
    /// Number of the link.
    pub link: u64,
}

impl Place {
    /// Some link, to try out a scheme's values at.
    pub const EXAMPLE: Place = Place {
        rate: Rate(10_000_000),
        bottleneck: Rate(10_000_000),
        buffer: Buffer::Packets(50),
        seed: 0,
        link: 0,
    };

    /// Seed of what a marker at this link leaves to chance.
    pub fn dice(&self) -> u64 {
        self.seed ^ self.link << 32
    }
}

impl Scheme {
    /// Parses `name` or `name(parameter=value,…)`.
    ///
    /// # Errors
    /// [`Error::Field`] naming the scheme or parameter, with a suggestion.
    pub fn parse(text: &str) -> Result<Scheme> {
        let text = text.trim();
        let (name, inside) = split_call(text)?;
        let doc_index =
            SCHEMES.iter().position(|doc| doc.name == name).ok_or_else(|| unknown_scheme(name))?;
        let mut scheme = Scheme { doc_index, given: BTreeMap::new() };
        for assignment in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            scheme.assign(assignment)?;
        }
        scheme.queue(Place::EXAMPLE)?;
        scheme.marker(Place::EXAMPLE)?;
        scheme.host_queue(Place::EXAMPLE)?;
        Ok(scheme)
    }

    /// The scheme's entry in the catalogue.
    pub fn doc(&self) -> &'static SchemeDoc {
        &SCHEMES[self.doc_index]
    }

    /// Every parameter with its value as text.
    pub fn parameters(&self) -> Vec<(&'static ParameterDoc, String)> {
        self.values().parameters()
    }

    /// The marker before the queue.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn marker(&self, place: Place) -> Result<Marker> {
        (self.doc().marker)(&self.values(), place)
    }

    /// The queue.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn queue(&self, place: Place) -> Result<Queue> {
        (self.doc().queue)(&self.values(), place)
    }

    /// The queue of one user at the sending host, for schemes that act there; the others leave a FIFO.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn host_queue(&self, place: Place) -> Result<Option<Queue>> {
        self.doc().host.map(|build| build(&self.values(), place)).transpose()
    }

    fn values(&self) -> Values<'_> {
        Values::new(self.doc(), &self.given)
    }

    fn assign(&mut self, assignment: &str) -> Result<()> {
        let doc = self.doc();
        let names = || doc.all_parameters().into_iter().map(|parameter| parameter.name);
        let Some((name, value)) = assignment.split_once('=') else {
            let allowed = format!("parameter=value; the parameters are {}", listing(names()));
            return Err(Error::field(format!("scheme {}", doc.name), quote(assignment), allowed));
        };
        let (name, value) = (name.trim(), value.trim());
        if let Some(before) = self.given.get(name) {
            let (value, with) = (quote(value), format!("\"{before}\""));
            return Err(Error::conflict(self.values().field(name), value, with, "give one value"));
        }
        let Some(parameter) = doc.all_parameters().into_iter().find(|parameter| parameter.name == name)
        else {
            return Err(Error::unknown(format!("scheme {}", doc.name), "parameter", name, names()));
        };
        self.given.insert(parameter.name, value.to_string());
        self.values().check(parameter)
    }
}

impl fmt::Display for Scheme {
    /// The shortest text that parses to the same scheme.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let given: Vec<String> = self.given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        match given.is_empty() {
            true => write!(f, "{}", self.doc().name),
            false => write!(f, "{}({})", self.doc().name, given.join(",")),
        }
    }
}

fn split_call(text: &str) -> Result<(&str, &str)> {
    match (text.split_once('('), text.ends_with(')')) {
        (None, false) => Ok((text, "")),
        (Some((name, rest)), true) => Ok((name.trim(), &rest[..rest.len() - 1])),
        _ => Err(Error::faulty(
            "scheme",
            quote(text),
            "has parentheses that do not match",
            "of the form name(parameter=value,…)",
        )),
    }
}

fn unknown_scheme(name: &str) -> Error {
    Error::unknown("scheme", "scheme", name, SCHEMES.iter().map(|doc| doc.name))
}
