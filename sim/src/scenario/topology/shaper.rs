//! A shaper before a modem: `link.shape` and its related fields.
//!
//! The line, with its rate or trace, is then the modem's, and so is the FIFO on it. The scheme's queue stands before and
//! sends at the shaper's rate.

use super::super::Shape;
use super::super::install::line::default_burst;
use super::super::scheme::Scheme;
use super::super::spec::{LinkSpec, Scenario};
use super::network::{PlannedLink, Shaper};
use super::wire::parse_wire;
use crate::error::{Error, Result, quote};
use crate::link_layer::{LinkLayer, Wire};
use crate::units::{Dur, parse_buffer};

/// Bytes beyond the IP length that a shaper without a link layer counts: the header of the Ethernet device before a
/// modem.
const ETHERNET: u32 = 14;

/// The name of no link layer, by which a shaper accounts for nothing.
const NO_LAYER: &str = "none";

/// Puts a shaper before each link that has one in the scenario and the scheme at its end: the
/// scheme's queue runs in it, and the link becomes the modem's. Any link with a shape gets the
/// modem's buffer and loses its burst. Without `link.shape` nothing changes. `links` begin with the
/// bottleneck both ways.
///
/// # Errors
/// [`Error::Field`] naming `link.shape`, a related field or `scheme`.
pub fn put_shapers(scenario: &Scenario, links: &mut [PlannedLink], rtt: Dur) -> Result<()> {
    let spec = &scenario.link;
    let scheme = Scheme::parse(&scenario.scheme)?;
    let own = scheme.shape();
    check_fields(scenario, own)?;
    if let (Some(own), true) = (own, scheme.stays_on_line()) {
        let with = format!("the rate @{own}");
        return Err(Error::conflict(
            "scheme",
            quote(&scenario.scheme),
            with,
            "an ideal is on the line itself",
        ));
    }
    let ends = scenario.ends();
    let each = [
        (ends.has_down(), spec.shape_down(), spec.modem_down(), ("link.buffer", spec.buffer.as_str())),
        (ends.has_up(), spec.shape_up(), spec.modem_up(), spec.buffer_up()),
    ];
    for (link, (has_scheme, shape, (modem_field, modem), (buffer_field, text))) in links.iter_mut().zip(each)
    {
        let Some(shape) = shape else { continue };
        let given = std::mem::take(&mut link.burst);
        link.buffer = parse_buffer(modem_field, modem, link.rate, rtt)?;
        if has_scheme {
            let (field, shape) = match own {
                Some(own) if shape.0 == "link.shape" => ("scheme", own),
                _ => (shape.0, Shape::parse(shape.0, shape.1)?),
            };
            let is_of_both = field == "link.shape" && link.name == "up";
            let hint = if is_of_both { "; link.up_shape is that of uploads alone" } else { "" };
            let rate = shape.resolve(field, link.rate, link.trace.is_some(), hint)?;
            let burst = if given > 0 { given } else { default_burst(rate) };
            let buffer = parse_buffer(buffer_field, text, rate, rtt)?;
            link.shaper = Some(Shaper { rate, buffer, wire: parse_counted_wire(spec)?, burst });
        }
    }
    Ok(())
}

/// Refuses fields of a modem without a shaper, and a shaper where the scheme is not. `own` is the
/// scheme's rate.
///
/// # Errors
/// [`Error::Field`] naming the first such field, or the scheme.
fn check_fields(scenario: &Scenario, own: Option<Shape>) -> Result<()> {
    let spec = &scenario.link;
    if spec.shape.is_none() {
        refuse_rate_of_scheme(scenario, own)?;
        let modem_fields = [
            ("link.up_shape", &spec.up_shape),
            ("link.modem_buffer", &spec.modem_buffer),
            ("link.up_modem_buffer", &spec.up_modem_buffer),
            ("link.shape_layer", &spec.shape_layer),
        ];
        return match modem_fields.into_iter().find_map(|(field, value)| Some((field, value.as_ref()?))) {
            Some((field, value)) => {
                let allowed =
                    "give link.shape as well, such as 90%; without it the queue on the line is link.buffer";
                Err(Error::conflict(field, quote(value), "a link without a shaper", allowed))
            }
            None => Ok(()),
        };
    }
    match &spec.up_shape {
        Some(value) if !scenario.ends().has_up() => {
            let with = "a scheme that is at the download direction only";
            Err(Error::conflict("link.up_shape", quote(value), with, "leave it out, or give at = \"both\""))
        }
        _ => Ok(()),
    }
}

/// Returns the wire by which the shaper counts packets: the line's, or that of `link.shape_layer`.
///
/// # Errors
/// [`Error::Field`] naming `link.shape_layer`, or a field of the line's wire.
fn parse_counted_wire(spec: &LinkSpec) -> Result<Wire> {
    match spec.shape_layer.as_deref() {
        None => parse_wire(spec),
        Some(NO_LAYER) => Ok(Wire::plain(ETHERNET)),
        Some(name) => Ok(Wire { overhead: 0, layer: Some(LinkLayer::find_layer("link.shape_layer", name)?) }),
    }
}

/// Refuses a scheme that has a shaper's rate (`own`) on a link without a shaper.
///
/// # Errors
/// [`Error::Field`] naming the scheme.
pub fn refuse_rate_of_scheme(scenario: &Scenario, own: Option<Shape>) -> Result<()> {
    match own {
        None => Ok(()),
        Some(own) => {
            let with = format!("a link without a shaper, of which @{own} is a rate");
            let allowed = "give link.shape as well, such as 90%, for the schemes without a rate of their own";
            Err(Error::conflict("scheme", quote(&scenario.scheme), with, allowed))
        }
    }
}
