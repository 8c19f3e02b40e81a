//! The values of a scheme's parameters, given or by default, as the types that builders need.

use super::catalogue::{Kind, ParameterDoc, SchemeDoc};
use super::scheme::Place;
use crate::error::{Error, Result, did_you_mean};
use crate::units::{Buffer, Dur, Rate, parse_buffer, parse_dur, parse_rate, parse_size};
use mousehole_policy::{ParamError, Unit};
use std::collections::BTreeMap;

/// The values of one scheme's parameters.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    doc: &'static SchemeDoc,
    given: &'a BTreeMap<&'static str, String>,
}

impl<'a> Values<'a> {
    /// The given values over the defaults of `doc`.
    pub fn new(doc: &'static SchemeDoc, given: &'a BTreeMap<&'static str, String>) -> Values<'a> {
        Values { doc, given }
    }

    /// Every parameter with its value as text.
    pub fn parameters(&self) -> Vec<(&'static ParameterDoc, String)> {
        let value =
            |doc: &ParameterDoc| self.given.get(doc.name).cloned().unwrap_or_else(|| doc.default.to_string());
        self.doc.all_parameters().into_iter().map(|doc| (doc, value(doc))).collect()
    }

    /// Whether the value of a parameter is what its kind asks for.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter and what is allowed.
    pub fn check(&self, parameter: &ParameterDoc) -> Result<()> {
        let name = parameter.name;
        match parameter.kind {
            Kind::Packets => self.depth(name, Place::EXAMPLE, 1.0).map(drop),
            Kind::Fraction | Kind::Number | Kind::Percent => self.number(name).map(drop),
            Kind::Threshold => self.threshold(name).map(drop),
            Kind::Size => self.size(name).map(drop),
            Kind::Buffer => parse_buffer(&self.field(name), &self.text(name), Rate(1), Dur::ZERO).map(drop),
            Kind::Rate => self.rate(name).map(drop),
            Kind::Time => self.time(name).map(drop),
            Kind::Count => self.count(name).map(drop),
            Kind::Flag => self.flag(name).map(drop),
            Kind::Choice(words) if words.contains(&self.text(name).as_str()) => Ok(()),
            Kind::Choice(words) => {
                let text = self.text(name);
                let hint = did_you_mean(&text, words.iter().copied());
                Err(self.refuse(name, &format!("allowed: {}{hint}", parameter.kind.describe())))
            }
        }
    }

    /// The value of a parameter as text; empty if the scheme has none of that name.
    pub fn text(&self, name: &str) -> String {
        let found = self.parameters().into_iter().find(|(doc, _)| doc.name == name);
        found.map(|(_, value)| value).unwrap_or_default()
    }

    /// A number, 0 or more; `p` for packets may follow.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn number(&self, name: &str) -> Result<f64> {
        let value = self.text(name).trim_end_matches('p').parse::<f64>();
        value
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0)
            .ok_or_else(|| self.refuse(name, "allowed: a number, 0 or more"))
    }

    /// A queue's length in packets: given so, or in percent of the buffer at `place`, whose packets are `mean` bytes.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn depth(&self, name: &str, place: Place, mean: f64) -> Result<f64> {
        let text = self.text(name);
        let Some(percent) = text.strip_suffix('%') else { return self.number(name) };
        let share = percent.trim().parse::<f64>().ok().filter(|share| share.is_finite() && *share >= 0.0);
        let share =
            share.ok_or_else(|| self.refuse(name, "allowed: packets (30p), or % of the buffer (15%)"))?;
        let buffer = match place.buffer {
            Buffer::Packets(packets) => f64::from(packets),
            Buffer::Bytes(bytes) => bytes as f64 / mean,
        };
        Ok(share / 100.0 * buffer)
    }

    /// A whole number of at least 1.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn count(&self, name: &str) -> Result<u32> {
        let value = self.text(name).parse::<u32>().ok().filter(|value| *value >= 1);
        value.ok_or_else(|| self.refuse(name, "allowed: a whole number of at least 1"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.text(name).parse().map_err(|_| self.refuse(name, "allowed: true or false"))
    }

    /// A flag that not every scheme has; `false` where there is none.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn is_set(&self, name: &str) -> Result<bool> {
        let known = self.doc.all_parameters().into_iter().any(|parameter| parameter.name == name);
        if known { self.flag(name) } else { Ok(false) }
    }

    /// A size of at least 1 byte.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn size(&self, name: &str) -> Result<u64> {
        match parse_size(&self.field(name), &self.text(name))? {
            0 => Err(self.refuse(name, "allowed: at least 1 byte")),
            bytes => Ok(bytes),
        }
    }

    /// A span of time.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn time(&self, name: &str) -> Result<Dur> {
        parse_dur(&self.field(name), &self.text(name))
    }

    /// A rate.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn rate(&self, name: &str) -> Result<Rate> {
        parse_rate(&self.field(name), &self.text(name))
    }

    /// A threshold and what it counts: `15kB` or `15p`.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn threshold(&self, name: &str) -> Result<(u32, Unit)> {
        let text = self.text(name);
        if let Some(packets) = text.strip_suffix('p').and_then(|number| number.parse::<u32>().ok()) {
            return Ok((packets, Unit::Packets));
        }
        let bytes = self.size(name)?;
        let bytes = u32::try_from(bytes).map_err(|_| self.refuse(name, "allowed: at most 4 GB"))?;
        Ok((bytes, Unit::Bytes))
    }

    /// How errors name a parameter.
    pub fn field(&self, name: &str) -> String {
        format!("scheme {}({name})", self.doc.name)
    }

    /// The error for a value that is not allowed.
    pub fn refuse(&self, name: &str, allowed: &str) -> Error {
        Error::field(self.field(name), format!("\"{}\"", self.text(name)), allowed)
    }

    /// A policy's complaint, in the words of the scheme's parameters.
    pub fn reject(&self, error: ParamError) -> Error {
        Error::field(
            format!("scheme {}: {}", self.doc.name, error.field),
            error.value,
            format!("allowed: {}", error.allowed),
        )
    }
}
