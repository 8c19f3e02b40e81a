//! The values of a scheme's parameters, given or by default, as the types that builders need.

use super::catalogue::{Kind, ParameterDoc, SchemeDoc};
use super::scheme::Place;
use crate::error::{Error, Result, quote};
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
            Kind::Fraction => self.fraction(name),
            Kind::Number => self.number(name).map(drop),
            Kind::Percent => self.percent(name).map(drop),
            Kind::Threshold => self.threshold(name).map(drop),
            Kind::Size => self.size(name).map(drop),
            Kind::Buffer => parse_buffer(&self.field(name), &self.text(name), Rate(1), Dur::ZERO).map(drop),
            Kind::Rate => self.rate_at(name, Place::EXAMPLE).map(drop),
            Kind::Time => self.time(name).map(drop),
            Kind::Count => self.count(name).map(drop),
            Kind::Flag => self.flag(name).map(drop),
            Kind::Choice(words) if words.contains(&self.text(name).as_str()) => Ok(()),
            Kind::Choice(words) => Err(Error::choice(self.field(name), &self.text(name), words)),
        }
    }

    /// The value of a parameter as text; empty if the scheme has none of that name.
    pub fn text(&self, name: &str) -> String {
        let found = self.parameters().into_iter().find(|(doc, _)| doc.name == name);
        found.map(|(_, value)| value).unwrap_or_default()
    }

    /// A number, 0 or more.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn number(&self, name: &str) -> Result<f64> {
        not_negative(&self.text(name)).ok_or_else(|| self.refuse(name, "allowed: a number, 0 or more"))
    }

    /// Percent, 0 or more; the sign may follow.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn percent(&self, name: &str) -> Result<f64> {
        let text = self.text(name);
        let percent = not_negative(text.strip_suffix('%').unwrap_or(&text).trim_end());
        percent.ok_or_else(|| self.refuse(name, "allowed: percent, 0 or more (20 or 20%)"))
    }

    fn fraction(&self, name: &str) -> Result<()> {
        let share = self.number(name)?;
        let is_fraction = share > 0.0 && share <= 1.0;
        is_fraction.then_some(()).ok_or_else(|| self.refuse(name, "allowed: a number above 0, at most 1"))
    }

    /// A queue's length in packets: given so, or in percent of the buffer at `place`, whose packets are `mean` bytes.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn depth(&self, name: &str, place: Place, mean: f64) -> Result<f64> {
        let text = self.text(name);
        let refused = || self.refuse(name, "allowed: packets (30p), or % of the buffer (15%)");
        let Some(percent) = text.strip_suffix('%') else {
            return not_negative(text.strip_suffix('p').unwrap_or(&text)).ok_or_else(refused);
        };
        let share = not_negative(percent.trim()).filter(|share| *share <= 1000.0).ok_or_else(refused)?;
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

    /// Whether the user set a parameter.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
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

    /// A rate: given so, or in percent of the bottleneck's.
    ///
    /// # Errors
    /// [`Error::Field`] naming the parameter.
    pub fn rate_at(&self, name: &str, place: Place) -> Result<Rate> {
        let text = self.text(name);
        let Some(percent) = text.strip_suffix('%') else { return parse_rate(&self.field(name), &text) };
        let share = not_negative(percent.trim()).filter(|share| *share > 0.0 && *share <= 1000.0);
        let share = share.ok_or_else(|| {
            self.refuse(
                name,
                "allowed: a rate (250kbit), or % of the bottleneck's rate (5%), above 0, at most 1000",
            )
        })?;
        Ok(Rate((place.bottleneck.0 as f64 * share / 100.0).round().max(1.0) as u64))
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

    /// Returns the error for a value that is not allowed; `allowed` completes "it must be …" and may begin with
    /// `allowed: `.
    pub fn refuse(&self, name: &str, allowed: &str) -> Error {
        Error::field(self.field(name), quote(&self.text(name)), allowed.trim_start_matches("allowed: "))
    }

    /// A policy's complaint, in the words of the scheme's parameters.
    pub fn reject(&self, error: ParamError) -> Error {
        match self.parameter_of(&error.field) {
            Some(name) => self.refuse(name, &error.allowed),
            None => Error::field(self.field(&error.field), error.value, error.allowed),
        }
    }

    /// The parameter that sets a policy's field, such as `out_max` for `yellow.max_packets`.
    fn parameter_of(&self, field: &str) -> Option<&'static str> {
        let (path, last) = field.rsplit_once('.').unwrap_or(("", field));
        let colour = path.rsplit('.').next().unwrap_or_default();
        let prefixes = LEVELS.iter().find(|(name, _)| *name == colour).map_or(&[""][..], |(_, all)| all);
        let suffixes = FIELDS.iter().find(|(name, _)| *name == last).map_or(&[][..], |(_, all)| all);
        let own = [last];
        let mut names = suffixes
            .iter()
            .chain(&own)
            .flat_map(|suffix| prefixes.iter().chain(&[""]).map(move |prefix| format!("{prefix}{suffix}")));
        let known = self.doc.all_parameters();
        names.find_map(|name| known.iter().find(|one| one.name == name).map(|one| one.name))
    }
}

/// What begins the names of a colour's parameters.
const LEVELS: &[(&str, &[&str])] =
    &[("green", &["in_", "short_", "high_"]), ("yellow", &["out_", "long_", "med_"]), ("red", &["low_"])];

/// What a policy's field is called among the parameters of schemes.
const FIELDS: &[(&str, &[&str])] = &[
    ("min_packets", &["min"]),
    ("max_packets", &["max"]),
    ("max_p", &["maxp"]),
    ("w_q", &["wq"]),
    ("mean_packet_bytes", &["mean"]),
    ("floor_packets", &["floor"]),
    ("w_hint", &["wc"]),
    ("threshold", &["th", "tau"]),
    ("initial", &["l_t"]),
    ("ratio", &["slr"]),
    ("set_point", &["kappa"]),
    ("hysteresis", &["delta"]),
    ("flows", &["h"]),
    ("burst", &["zeta"]),
    ("rate", &["omega"]),
    ("medium", &["med"]),
];

fn not_negative(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}
