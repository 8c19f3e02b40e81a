//! The values of a part's parameters, as the types that the builders of queues and markers need.

use crate::error::{Error, Result, quote};
use crate::link_context::LinkContext;
use crate::units::{Buffer, Dur};
use mousehole_policy::{Parameter, Value};
use std::collections::BTreeMap;

/// The values of one part's parameters, each checked by its kind and range already.
#[derive(Debug)]
pub struct Values<'a> {
    name: &'a str,
    parameters: Vec<Parameter>,
    given: &'a BTreeMap<&'static str, String>,
}

impl<'a> Values<'a> {
    /// Returns the values in `given`, and the defaults of all other `parameters`. `name` is the scheme's, for errors.
    pub fn new(
        name: &'a str,
        parameters: Vec<Parameter>,
        given: &'a BTreeMap<&'static str, String>,
    ) -> Values<'a> {
        Values { name, parameters, given }
    }

    /// Returns the value of a parameter as text.
    ///
    /// # Panics
    /// When the part has no such parameter.
    pub fn text(&self, name: &str) -> &str {
        self.given.get(name).map_or(self.parameter(name).default, String::as_str)
    }

    /// Returns a parameter's number: in seconds, bytes, bit/s, packets or percent by its kind, else without a
    /// unit.
    ///
    /// # Panics
    /// When the part has no such parameter, or its value is not a number. The other methods that return a
    /// parameter's value as a number do so too.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) | Value::Packets(number) | Value::Share(number) => number,
            other => panic!("{name} is {other:?}, not a number"),
        }
    }

    /// Returns a queue's length in packets, not rounded; a share is of the buffer of `context`, in packets of `mean`
    /// bytes.
    pub fn depth(&self, name: &str, context: LinkContext, mean: f64) -> f64 {
        match self.value(name) {
            Value::Share(percent) => percent / 100.0 * context.buffer_packets(mean),
            _ => self.number(name),
        }
    }

    /// Returns a whole number; a fraction is cut off.
    pub fn count(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// Returns whether a parameter is a flag that is set; panics without such a parameter.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name) == Value::Flag(true)
    }

    /// Returns a size in bytes.
    pub fn size(&self, name: &str) -> u64 {
        self.number(name) as u64
    }

    /// Returns a span of time.
    pub fn time(&self, name: &str) -> Dur {
        Dur::from_secs(self.number(name))
    }

    /// Returns the value of a parameter that is a buffer, in packets or bytes as the user wrote it.
    pub fn buffer(&self, name: &str) -> Buffer {
        match self.value(name) {
            Value::Packets(packets) => Buffer::Packets(packets as u32),
            _ => Buffer::Bytes(self.size(name)),
        }
    }

    /// Returns whether the part has a parameter.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|one| one.name == name)
    }

    /// Returns whether the user set a parameter.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Returns the error for a parameter's value that is not allowed together with others; `allowed` completes "it must
    /// be …". Panics without such a parameter.
    pub fn refuse(&self, name: &str, allowed: &str) -> Error {
        let field = format!("scheme {}({name})", self.name);
        Error::field(field, quote(self.text(name)), allowed)
    }

    /// Returns name and text of each parameter whose name `names` accepts, for a policy inside this part.
    pub fn texts(&self, names: impl Fn(&str) -> bool) -> Vec<(&'static str, &str)> {
        let chosen = self.parameters.iter().filter(|one| names(one.name));
        chosen.map(|one| (one.name, self.given.get(one.name).map_or(one.default, String::as_str))).collect()
    }

    /// Returns the result of the set-up of a policy inside this part, with its error in terms of this part's parameters.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn accept<T>(&self, result: std::result::Result<T, mousehole_policy::ParameterError>) -> Result<T> {
        result.map_err(|error| match self.parameters.iter().any(|one| one.name == error.parameter) {
            true => self.refuse(&error.parameter, &error.allowed),
            false => {
                Error::field(format!("scheme {}: {}", self.name, error.parameter), error.value, error.allowed)
            }
        })
    }

    /// Returns the description of a parameter; panics without it.
    fn parameter(&self, name: &str) -> &Parameter {
        let found = self.parameters.iter().find(|one| one.name == name);
        found.unwrap_or_else(|| panic!("{} has no parameter {name}", self.name))
    }

    /// Returns the value of a parameter by its kind; panics without it, or if the text is none of this kind.
    fn value(&self, name: &str) -> Value {
        let text = self.text(name);
        self.parameter(name).parse(text).unwrap_or_else(|error| panic!("{error}"))
    }
}
