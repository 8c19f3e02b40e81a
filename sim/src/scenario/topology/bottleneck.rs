//! The bottleneck of a topology: its link is found, and the fields that change it are applied.

use super::super::spec::Ends;
use super::arc::{Arc, list_arcs};
use super::kinds;
use super::spec::TopologySpec;
use crate::error::{Error, Result, quote};
use crate::units::{Rate, parse_rate};

/// Moves the bottleneck to the first position and the reverse link to the second, and applies the
/// fields that change them. Without a name, the bottleneck is the slowest link that has the scheme
/// in its forward direction.
///
/// # Errors
/// [`Error::Field`] naming `topology.bottleneck`, or the field that describes it.
pub fn put_bottleneck_first(arcs: &mut Vec<Arc>, spec: &TopologySpec) -> Result<()> {
    check_named(arcs, spec)?;
    let field = "topology.bottleneck";
    let number = match spec.bottleneck.as_deref() {
        Some(name) => arcs.iter().position(|arc| arc.name() == name).ok_or_else(|| {
            let names: Vec<String> = arcs.iter().map(Arc::name).collect();
            Error::unknown(field, "link", name, names.iter().map(String::as_str))
        })?,
        None => {
            let with_scheme = arcs.iter().enumerate().filter(|(_, arc)| has_scheme(arc));
            with_scheme.min_by_key(|(_, arc)| arc.rate).map_or(0, |(number, _)| number)
        }
    };
    let first = arcs.remove(number);
    let is_back = |arc: &Arc| arc.from == first.to && arc.to == first.from;
    let Some(back) = arcs.iter().position(is_back) else {
        let allowed = "a link that has a link back";
        return Err(Error::field(field, quote(&first.name()), allowed));
    };
    let second = arcs.remove(back);
    arcs.splice(0..0, [first, second]);
    apply_overrides(arcs, spec)
}

/// Returns whether the link has the scheme and the direction that the scenario gives.
fn has_scheme(arc: &Arc) -> bool {
    arc.scheme && arc.is_forward
}

/// Returns the fields that describe the bottleneck, and their values: rate and buffer, then those
/// of the reverse link.
fn bottleneck_overrides(spec: &TopologySpec) -> [(&'static str, Option<&str>); 4] {
    [
        ("topology.rate", spec.rate.as_deref()),
        ("topology.buffer", spec.buffer.as_deref()),
        ("topology.up", spec.up.as_deref()),
        ("topology.up_buffer", spec.up_buffer.as_deref()),
    ]
}

/// Checks that the bottleneck is named if several links may be meant and a field describes it.
///
/// # Errors
/// [`Error::Field`] naming the first such field.
fn check_named(arcs: &[Arc], spec: &TopologySpec) -> Result<()> {
    let is_clear = spec.bottleneck.is_some() || arcs.iter().filter(|arc| has_scheme(arc)).count() == 1;
    match bottleneck_overrides(spec).into_iter().find(|(_, value)| value.is_some()) {
        Some((field, Some(value))) if !is_clear => {
            let with = "several links that have the scheme";
            let allowed = "name the one that is meant in topology.bottleneck";
            Err(Error::conflict(field, quote(value), with, allowed))
        }
        _ => Ok(()),
    }
}

/// Changes rate and buffer of the first two links where fields give them; the reverse link follows
/// the first unless it was written out separately.
///
/// # Errors
/// [`Error::Field`] naming the field.
fn apply_overrides(arcs: &mut [Arc], spec: &TopologySpec) -> Result<()> {
    let back_follows = !(arcs[0].is_forward && arcs[1].is_forward);
    let [rate, buffer, up_rate, up_buffer] = bottleneck_overrides(spec);
    for (number, rates, buffers) in [
        (0, vec![rate], vec![buffer]),
        (1, with_inherited(back_follows, rate, up_rate), with_inherited(back_follows, buffer, up_buffer)),
    ] {
        let arc = &mut arcs[number];
        if let Some((field, text)) = find_last_given(&rates) {
            arc.rate = parse_rate(field, text)?;
        }
        if let Some((field, text)) = find_last_given(&buffers) {
            arc.buffer = arc.check_buffer(field, Some(text))?;
            arc.buffer_field = field.into();
        }
    }
    Ok(())
}

/// A field and its value, if given.
type Override<'a> = (&'static str, Option<&'a str>);

/// Returns the override of a value of the reverse link, after that of the first link if the reverse
/// link follows it.
fn with_inherited<'a>(follows: bool, first: Override<'a>, own: Override<'a>) -> Vec<Override<'a>> {
    follows.then_some(first).into_iter().chain([own]).collect()
}

/// Returns the last override that is given; `None` if none is.
fn find_last_given<'a>(overrides: &[Override<'a>]) -> Option<(&'static str, &'a str)> {
    overrides.iter().rev().find_map(|&(field, value)| value.map(|text| (field, text)))
}

/// Writes bottleneck, rates, buffers and round-trip time of a topology that was accepted into its
/// fields. One that is not accepted stays as it is.
pub fn fill_bottleneck(spec: &mut TopologySpec, ends: Ends) {
    let drawn = || -> Result<(Option<String>, Vec<Arc>)> {
        let drawn = kinds::write_out(spec)?;
        let mut arcs = list_arcs(&drawn, ends)?;
        put_bottleneck_first(&mut arcs, &drawn)?;
        Ok((drawn.rtt.clone(), arcs))
    };
    // What was accepted once is accepted again.
    let Ok((rtt, arcs)) = drawn() else { return };
    let (down, up) = (&arcs[0], &arcs[1]);
    (spec.bottleneck, spec.rtt) = (Some(down.name()), rtt);
    (spec.rate, spec.buffer) = (Some(format_rate(down.rate)), Some(down.buffer_text().into()));
    (spec.up, spec.up_buffer) = (Some(format_rate(up.rate)), Some(up.buffer_text().into()));
}

/// Returns a rate as text in the largest unit that leaves a whole number, in a form that
/// [`parse_rate`] reads.
fn format_rate(rate: Rate) -> String {
    let units = [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1000, "kbit"), (1, "bit")];
    let (factor, unit) =
        units.into_iter().find(|(factor, _)| rate.0.is_multiple_of(*factor)).unwrap_or((1, "bit"));
    format!("{}{unit}", rate.0 / factor)
}
