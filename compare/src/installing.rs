//! Finds the bottleneck of a scenario and the commands that install a scheme on it.

use mousehole_answer::installation::{Direction, ModemLine, join_directions};
use mousehole_answer::setting::Installation;
use mousehole_scheme::install::{self, Line};
use mousehole_scheme::link_layer::{LinkLayer, Wire};
use mousehole_sim::error::Result;
use mousehole_sim::rate_trace::RateTrace;
use mousehole_sim::scenario::spec::{Ends, LinkSpec};
use mousehole_sim::scenario::{Scenario, Scheme, Shape};
use mousehole_sim::units::{Buffer, Rate, parse_buffer, parse_dur, parse_rate, parse_size};
use std::collections::BTreeMap;

/// Why nothing is installed without a [`Link`], as a clause.
pub const NO_LINK: &str = "its commands have a fixed rate and buffer, and those of this link vary or are not known \
    (--shape simulates a fixed rate before it)";

/// The name in `link.shape_layer` of a shaper without a link layer.
const NO_LAYER: &str = "none";

/// The mean in bit/s of each direction whose rate varies, `down` or `up`.
pub type Means = BTreeMap<String, u64>;

/// One direction of a bottleneck, as the commands that install a scheme there need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The line; before a modem, the shaper.
    pub line: Line,
    /// The modem behind the shaper, if there is one.
    pub shaping: Option<Shaping>,
    /// The other direction, if the scheme runs there too.
    pub other: Option<Box<Link>>,
}

/// The modem behind a shaper. The buffer and the round-trip time as they were given are kept, since the
/// number of packets in the buffer depends on the shaper's rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaping {
    /// The modem's line.
    pub modem: ModemLine,
    /// Whether the rate of the shaper is this direction's alone, so that a scheme's own rate does not replace it.
    pub is_of_direction: bool,
    buffer: String,
    rtt: Option<String>,
}

/// A bottleneck: a scenario whose fields are filled in, except its traffic, and what the scenario does not have.
#[derive(Debug, Clone, Copy)]
pub struct Bottleneck<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The buffer of the cell.
    pub buffer: &'a str,
    /// Whether the data go from clients to servers.
    pub is_up: bool,
    /// The means of rates that vary, whose files are not read.
    pub means: &'a Means,
}

impl Bottleneck<'_> {
    /// Returns the link on which a scheme is installed, with the other direction if the scheme runs
    /// in both. It is `None` if the rate of a direction is unknown or varies without a shaper at a
    /// constant rate, or if the buffer is in bandwidth-delay products and the round-trip time is
    /// unknown; of both directions, either suffices for that.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] for a text of the scenario that cannot be parsed.
    pub fn find_link(&self) -> Result<Option<Link>> {
        // The field `at` decides where the scheme runs, also if the data go the other way.
        let at = self.scenario.at.filter(|_| self.scenario.topology.is_none());
        let is_upload = match at {
            Some(Ends::Down) => false,
            Some(Ends::Up) => true,
            Some(Ends::Both) | None => self.is_up,
        };
        let Some(own) = self.find_direction(self.buffer, is_upload)? else { return Ok(None) };
        if at != Some(Ends::Both) {
            return Ok(Some(own));
        }
        let of_upload = self.scenario.link.up_buffer.as_deref().filter(|_| !is_upload);
        let other = self.find_direction(of_upload.unwrap_or(self.buffer), !is_upload)?;
        Ok(other.map(|other| Link { other: Some(Box::new(other)), ..own }))
    }

    /// Returns the rate in the direction of the data in bit/s, or its mean if it varies; `None` if it is unknown or the
    /// scenario has a topology.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] for a rate that cannot be parsed.
    pub fn rate_bps(&self) -> Result<Option<u64>> {
        if self.scenario.topology.is_some() {
            return Ok(None);
        }
        Ok(self.find_rate(self.is_up)?.map(|(rate, _)| rate.0))
    }

    /// Returns the rate of a direction, or its mean if it varies, and whether it varies; `None` if it is unknown.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] for a rate that cannot be parsed.
    fn find_rate(&self, is_upload: bool) -> Result<Option<(Rate, bool)>> {
        let (topology, link) = (self.scenario.topology.as_ref(), &self.scenario.link);
        let (down, up) = match topology {
            Some(topology) => (topology.rate.as_deref(), topology.up.as_deref()),
            None => (link.down.as_deref().or(link.rate.as_deref()), link.up.as_deref()),
        };
        let own = up.filter(|_| is_upload).map(|text| ("up", text)).or(down.map(|text| ("down", text)));
        let Some((way, text)) = own else { return Ok(None) };
        if !RateTrace::is_file_name(text) {
            return Ok(Some((parse_rate("rate", text)?, false)));
        }
        // An upload without a rate in the scenario has the mean of the download, and does not vary.
        let varies = is_upload == (way == "up");
        Ok(self.means.get(way).map(|mean| (Rate(*mean), varies)))
    }

    /// Returns one direction of the link, with this buffer; `None` as [`Bottleneck::find_link`].
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] for a text of the scenario that cannot be parsed.
    fn find_direction(&self, buffer: &str, is_upload: bool) -> Result<Option<Link>> {
        let link = &self.scenario.link;
        let shape = if is_upload { link.shape_up() } else { link.shape_down() };
        let Some((rate, varies)) = self.find_rate(is_upload)? else { return Ok(None) };
        if varies && shape.is_none() {
            return Ok(None);
        }
        let topology = self.scenario.topology.as_ref();
        let rtt = topology.map_or(Some(link.rtt.as_str()), |topology| topology.rtt.as_deref());
        let Some(buffer_packets) = count_packets(buffer, rate, rtt)? else { return Ok(None) };
        let wire = read_wire(link, shape.is_some())?;
        let burst = link.burst.as_ref().map(|text| parse_size("burst", text)).transpose()?;
        let plain =
            Link { line: Line { rate, buffer_packets, wire, is_upload, burst }, shaping: None, other: None };
        let Some((field, text)) = shape else { return Ok(Some(plain)) };
        let shaping = Shaping {
            modem: ModemLine { rate_bps: rate.0, varies },
            is_of_direction: field == "link.up_shape",
            buffer: buffer.to_owned(),
            rtt: rtt.map(str::to_owned),
        };
        plain.before_modem(&shaping, Shape::parse(field, text)?).map(Some)
    }
}

impl Link {
    /// Returns the installation of a scheme in this direction and, if there is one that can be
    /// installed, in the other, each with the link at the rate of the scheme's shaper.
    ///
    /// # Errors
    /// Why nothing installs it in this direction, as a clause.
    pub fn install(
        &self,
        scheme: &Scheme,
    ) -> std::result::Result<Vec<(Link, install::Installation)>, String> {
        let own = self.with_scheme_shape(scheme).map_err(|error| error.to_string())?;
        let way = install::plan(scheme, &own.line)?;
        let other = own
            .other
            .as_deref()
            .and_then(|other| Some((other.clone(), install::plan(scheme, &other.line).ok()?)));
        Ok([(own, way)].into_iter().chain(other).collect())
    }

    /// Returns the lines that install a scheme on Linux or a common router, of both directions if it runs in both.
    ///
    /// # Errors
    /// Why nothing installs it, as a clause.
    pub fn list_lines(&self, scheme: &Scheme) -> std::result::Result<Installation, String> {
        let found = self.install(scheme)?;
        let place = found[0].1.place.name();
        let directions = found.into_iter().map(|(link, way)| Direction {
            is_upload: link.line.is_upload,
            rate_bps: link.line.rate.0,
            modem: link.shaping.map(|one| one.modem),
            lines: way.lines,
        });
        Ok(join_directions(place, directions.collect()))
    }

    /// Returns the link at the rate of the scheme's shaper, if the scheme gives one and the link has a shaper;
    /// a direction whose shaper has a rate of its own keeps that.
    ///
    /// # Errors
    /// Those of [`Link::before_modem`].
    fn with_scheme_shape(&self, scheme: &Scheme) -> Result<Link> {
        let (Some(own), Some(shaping)) = (scheme.shape(), &self.shaping) else { return Ok(self.clone()) };
        let other =
            self.other.as_ref().map(|other| other.with_scheme_shape(scheme).map(Box::new)).transpose()?;
        let link = Link { other, ..self.clone() };
        if shaping.is_of_direction { Ok(link) } else { link.before_modem(shaping, own) }
    }

    /// Returns the link with a shaper of this rate before the modem, and with the buffer in packets at that
    /// rate; a buffer of less than a packet, or of an unknown number, remains as it was.
    ///
    /// # Errors
    /// Those of [`Shape::resolve`] and [`count_packets`].
    fn before_modem(self, shaping: &Shaping, shape: Shape) -> Result<Link> {
        let ModemLine { rate_bps, varies } = shaping.modem;
        let rate = shape.resolve("link.shape", Rate(rate_bps), varies, "")?;
        let packets = count_packets(&shaping.buffer, rate, shaping.rtt.as_deref())?;
        let buffer_packets = packets.filter(|packets| *packets > 0).unwrap_or(self.line.buffer_packets);
        let line = Line { rate, buffer_packets, ..self.line };
        Ok(Link { line, shaping: Some(shaping.clone()), other: self.other })
    }
}

/// Returns a buffer in packets of full size; `None` for bandwidth-delay products of an unknown round-trip time.
///
/// # Errors
/// [`mousehole_sim::error::Error::Field`] for a buffer or a round-trip time that cannot be parsed.
fn count_packets(buffer: &str, rate: Rate, rtt: Option<&str>) -> Result<Option<u64>> {
    if rtt.is_none() && buffer.to_lowercase().ends_with("bdp") {
        return Ok(None);
    }
    let rtt = parse_dur("rtt", rtt.unwrap_or("0s"))?;
    Ok(Some(match parse_buffer("buffer", buffer, rate, rtt)? {
        Buffer::Packets(packets) => u64::from(packets),
        Buffer::Bytes(bytes) => bytes / install::line::FULL_PACKET,
    }))
}

/// Returns the link's rule for bytes on the wire: with `is_shaped` that of the shaper, if `link.shape_layer` gives one, else
/// that of the link.
///
/// # Errors
/// [`mousehole_sim::error::Error::Field`] for a link layer that does not exist.
fn read_wire(link: &LinkSpec, is_shaped: bool) -> Result<Wire> {
    let named = |name: &String| LinkLayer::find_layer("link.layer", name);
    match link.shape_layer.as_ref().filter(|_| is_shaped) {
        Some(name) if name == NO_LAYER => Ok(Wire::default()),
        Some(name) => Ok(Wire { overhead: 0, layer: Some(named(name)?) }),
        None => Ok(Wire { overhead: link.overhead, layer: link.layer.as_ref().map(named).transpose()? }),
    }
}
