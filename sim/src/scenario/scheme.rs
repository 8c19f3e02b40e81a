//! From `s-sfd(th=15kB,k=4)` to a marker and a queue.

use super::catalogue::{Kind, ParameterDoc, SCHEMES, SchemeDoc};
use crate::error::{Error, Result, did_you_mean, listing};
use crate::marker::{Marker, Ns2Sfd};
use crate::queue::{Fifo, FqCodel, Policy, Queue, fq_codel};
use crate::rng::{Purpose, Stream};
use crate::units::{Buffer, Dur, Rate, parse_buffer, parse_dur, parse_size};
use mousehole_policy::{ParamError, Unit, multi_red, promotion, red, sfd};
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
    /// Buffer of the link.
    pub buffer: Buffer,
    /// Seed of its dice.
    pub seed: u64,
    /// Number of the link.
    pub link: u64,
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
        let place = Place { rate: Rate(10_000_000), buffer: Buffer::Packets(50), seed: 0, link: 0 };
        scheme.queue(place)?;
        scheme.marker(place)?;
        Ok(scheme)
    }

    /// The scheme's entry in the catalogue.
    pub fn doc(&self) -> &'static SchemeDoc {
        &SCHEMES[self.doc_index]
    }

    /// Every parameter with its value as text.
    pub fn parameters(&self) -> Vec<(&'static ParameterDoc, String)> {
        let value =
            |doc: &ParameterDoc| self.given.get(doc.name).cloned().unwrap_or_else(|| doc.default.to_string());
        self.doc().all_parameters().into_iter().map(|doc| (doc, value(doc))).collect()
    }

    /// The marker before the queue.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn marker(&self, place: Place) -> Result<Marker> {
        let promotion = match self.doc().name {
            "sfd" => promotion::Spec::None,
            "p-sfd" => promotion::Spec::Probabilistic,
            "s-sfd" => promotion::Spec::OneOfK(self.count("k")?),
            "ns2-sfd" => {
                let threshold = self.size("th")?;
                return Ok(Marker::Ns2Sfd(Ns2Sfd::new(
                    threshold.min(u64::from(u32::MAX)) as u32,
                    self.flag("selective")?,
                )));
            }
            _ => return Ok(Marker::None),
        };
        let (threshold, unit) = self.threshold("th")?;
        let timeout_ns = self.time("timeout")?.0;
        let spec = sfd::Spec { threshold, unit, timeout_ns, promotion, ..sfd::Spec::default() };
        let params = Box::new(sfd::Params::new(&spec).map_err(|error| self.reject(error))?);
        let seed = (promotion == promotion::Spec::Probabilistic).then_some(place.seed ^ place.link << 32);
        Ok(Marker::Sfd { params, flows: Vec::new(), seed })
    }

    /// The queue.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn queue(&self, place: Place) -> Result<Queue> {
        match self.doc().name {
            "droptail" => {
                let limit = match place.buffer {
                    Buffer::Packets(packets) if self.flag("ns2")? => {
                        Buffer::Packets(packets.saturating_sub(1))
                    }
                    other => other,
                };
                Ok(Queue::Fifo(Fifo::new(limit, Policy::DropTail)))
            }
            "red" => {
                let guard = self.number("guard")?.min(f64::from(u32::MAX)) as u32;
                let own = red::Spec { spare_below_packets: guard, ..self.red("", place)? };
                let params = red::Params::new(&own).map_err(|error| self.reject(error))?;
                Ok(Queue::Fifo(Fifo::new(place.buffer, Policy::Red(Box::new(params), red::State::default()))))
            }
            "fq-codel" => Ok(Queue::FqCodel(Box::new(self.fq_codel(place)?))),
            _ => {
                let mode = match self.text("mode").as_str() {
                    "coupled" => multi_red::Mode::Coupled,
                    "total" => multi_red::Mode::Total,
                    _ => multi_red::Mode::Decoupled,
                };
                let levels = vec![self.red("in_", place)?, self.red("out_", place)?];
                let params = multi_red::Params::new(&multi_red::Spec { mode, levels })
                    .map_err(|error| self.reject(error))?;
                let policy = Policy::MultiRed(Box::new(params), multi_red::State::default());
                Ok(Queue::Fifo(Fifo::new(place.buffer, policy)))
            }
        }
    }

    /// The queue of one user at the sending host, for schemes that act there; the others leave a FIFO.
    ///
    /// # Errors
    /// [`Error::Field`] when a value is out of range.
    pub fn host_queue(&self, _place: Place) -> Result<Option<Queue>> {
        Ok(None)
    }

    fn red(&self, prefix: &str, place: Place) -> Result<red::Spec> {
        let name = |suffix: &str| format!("{prefix}{suffix}");
        Ok(red::Spec {
            min_packets: self.number(&name("min"))?,
            max_packets: self.number(&name("max"))?,
            max_p: self.number(&name("maxp"))?,
            w_q: self.number("wq")?,
            mean_packet_bytes: self.size("mean")? as f64,
            rate_bps: place.rate.0 as f64,
            gentle: self.flag("gentle")?,
            wait: self.flag("wait")?,
            byte_mode: self.flag("byte")?,
            queue_in_bytes: self.text("unit") == "bytes",
            ecn: self.flag("ecn")?,
            spare_below_packets: 0,
        })
    }

    fn fq_codel(&self, place: Place) -> Result<FqCodel> {
        let params = fq_codel::Params {
            flows: match self.count("flows")? {
                flows @ 1..=65_536 => flows,
                _ => return Err(self.refuse("flows", "allowed: 1 to 65536")),
            },
            quantum: match self.size("quantum")? {
                quantum @ 1..=1_000_000_000 => quantum as u32,
                _ => return Err(self.refuse("quantum", "allowed: at most 1 GB")),
            },
            target: self.time("target")?,
            interval: match self.time("interval")? {
                Dur::ZERO => return Err(self.refuse("interval", "allowed: a time longer than zero")),
                interval => interval,
            },
            limit: parse_buffer(&self.field("limit"), &self.text("limit"), place.rate, Dur::ZERO)?,
            ecn: self.flag("ecn")?,
        };
        Ok(FqCodel::new(params, Stream::new(place.seed, Purpose::Hash, place.link).at(0)))
    }

    fn assign(&mut self, assignment: &str) -> Result<()> {
        let doc = self.doc();
        let names = || doc.all_parameters().into_iter().map(|parameter| parameter.name);
        let Some((name, value)) = assignment.split_once('=') else {
            let allowed = format!("write {}(parameter=value,…); parameters: {}", doc.name, listing(names()));
            return Err(Error::field("scheme", format!("\"{assignment}\""), allowed));
        };
        let (name, value) = (name.trim(), value.trim());
        let Some(parameter) = doc.all_parameters().into_iter().find(|parameter| parameter.name == name)
        else {
            let allowed =
                format!("parameters of {}: {}{}", doc.name, listing(names()), did_you_mean(name, names()));
            return Err(Error::field(
                format!("scheme {}", doc.name),
                format!("unknown parameter \"{name}\""),
                allowed,
            ));
        };
        self.given.insert(parameter.name, value.to_string());
        self.check(parameter)
    }

    fn check(&self, parameter: &ParameterDoc) -> Result<()> {
        let name = parameter.name;
        match parameter.kind {
            Kind::Packets | Kind::Fraction => self.number(name).map(drop),
            Kind::Threshold => self.threshold(name).map(drop),
            Kind::Size => self.size(name).map(drop),
            Kind::Buffer => parse_buffer(&self.field(name), &self.text(name), Rate(1), Dur::ZERO).map(drop),
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

    fn text(&self, name: &str) -> String {
        let found = self.parameters().into_iter().find(|(doc, _)| doc.name == name);
        found.map(|(_, value)| value).unwrap_or_default()
    }

    fn number(&self, name: &str) -> Result<f64> {
        let value = self.text(name).trim_end_matches('p').parse::<f64>();
        value
            .ok()
            .filter(|value| value.is_finite() && *value >= 0.0)
            .ok_or_else(|| self.refuse(name, "allowed: a number, 0 or more"))
    }

    fn count(&self, name: &str) -> Result<u32> {
        let value = self.text(name).parse::<u32>().ok().filter(|value| *value >= 1);
        value.ok_or_else(|| self.refuse(name, "allowed: a whole number of at least 1"))
    }

    fn flag(&self, name: &str) -> Result<bool> {
        self.text(name).parse().map_err(|_| self.refuse(name, "allowed: true or false"))
    }

    fn size(&self, name: &str) -> Result<u64> {
        match parse_size(&self.field(name), &self.text(name))? {
            0 => Err(self.refuse(name, "allowed: at least 1 byte")),
            bytes => Ok(bytes),
        }
    }

    fn time(&self, name: &str) -> Result<Dur> {
        parse_dur(&self.field(name), &self.text(name))
    }

    fn threshold(&self, name: &str) -> Result<(u32, Unit)> {
        let text = self.text(name);
        if let Some(packets) = text.strip_suffix('p').and_then(|number| number.parse::<u32>().ok()) {
            return Ok((packets, Unit::Packets));
        }
        let bytes = self.size(name)?;
        let bytes = u32::try_from(bytes).map_err(|_| self.refuse(name, "allowed: at most 4 GB"))?;
        Ok((bytes, Unit::Bytes))
    }

    fn field(&self, name: &str) -> String {
        format!("scheme {}({name})", self.doc().name)
    }

    fn refuse(&self, name: &str, allowed: &str) -> Error {
        Error::field(self.field(name), format!("\"{}\"", self.text(name)), allowed)
    }

    /// A policy's complaint, in the words of the scheme's parameters.
    fn reject(&self, error: ParamError) -> Error {
        Error::field(
            format!("scheme {}: {}", self.doc().name, error.field),
            error.value,
            format!("allowed: {}", error.allowed),
        )
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
        _ => Err(Error::field(
            "scheme",
            format!("\"{text}\""),
            "parentheses must match: name(parameter=value,…)",
        )),
    }
}

fn unknown_scheme(name: &str) -> Error {
    let names = || SCHEMES.iter().map(|doc| doc.name);
    Error::field(
        "scheme",
        format!("unknown scheme \"{name}\""),
        format!("known: {}{}", listing(names()), did_you_mean(name, names())),
    )
}
