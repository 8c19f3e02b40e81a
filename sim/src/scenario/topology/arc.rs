//! The one-way links of a topology, each with its fields checked.

use super::super::spec::Ends;
use super::spec::{HostGroup, TopologyLink, TopologySpec};
use crate::error::{Error, Result, quote};
use crate::units::{Dur, Rate, parse_dur, parse_rate};
use std::collections::BTreeSet;

/// Greatest number of one-way links.
const MOST_LINKS: usize = 20_000;

/// A buffer without end, as text.
pub(super) const UNLIMITED: &str = "unlimited";

/// Greatest delay of a link.
const MOST_DELAY: Dur = Dur::from_millis(1_000_000);

/// A one-way link between two nodes.
#[derive(Debug, Clone)]
pub(super) struct Arc {
    /// Path of the scenario's link or group of hosts, for errors.
    pub field: String,
    /// Path of the field that sets its buffer, for errors.
    pub buffer_field: String,
    pub from: String,
    pub to: String,
    pub rate: Rate,
    pub delay: Dur,
    pub buffer: Option<String>,
    pub scheme: bool,
    pub mark: bool,
    /// It has the direction that the scenario gives.
    pub is_forward: bool,
}

impl Arc {
    /// Returns its name, `from-to`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.from, self.to)
    }

    /// Returns the buffer as text: the one given, or `1bdp` with the scheme and `unlimited`
    /// without.
    pub fn buffer_text(&self) -> &str {
        self.buffer.as_deref().unwrap_or(if self.scheme { "1bdp" } else { UNLIMITED })
    }

    /// Returns a buffer's text; `None` for no text and for an unlimited buffer.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for an unlimited buffer at a link with the scheme.
    pub fn check_buffer(&self, field: &str, text: Option<&str>) -> Result<Option<String>> {
        if self.scheme && text == Some(UNLIMITED) {
            let allowed = "give a buffer in packets, bytes or bandwidth-delay products";
            return Err(Error::conflict(field, quote("unlimited"), "a scheme at the link", allowed));
        }
        Ok(text.filter(|text| *text != UNLIMITED).map(str::to_string))
    }
}

/// Returns every one-way link, those of host groups last.
///
/// # Errors
/// [`Error::Field`] naming the faulty field of `topology`.
pub(super) fn list_arcs(spec: &TopologySpec, ends: Ends) -> Result<Vec<Arc>> {
    let mut arcs = Vec::new();
    for (index, link) in spec.links.iter().enumerate() {
        add_link(&mut arcs, link, format!("topology.links[{index}]"), ends)?;
        check_count(arcs.len())?;
    }
    for (index, group) in spec.hosts.iter().enumerate() {
        let field = format!("topology.hosts[{index}]");
        if !(1..=10_000).contains(&group.count) {
            return Err(Error::field(format!("{field}.count"), group.count, "from 1 to 10000"));
        }
        for number in 0..group.count {
            add_link(&mut arcs, &make_host_link(group, number), field.clone(), ends)?;
        }
        check_count(arcs.len())?;
    }
    check_count(arcs.len())?;
    check_arcs(&arcs)?;
    Ok(arcs)
}

/// Returns the name of host `number` of a group.
pub(super) fn host_name(group: &HostGroup, number: u32) -> String {
    format!("{}{number}", group.name)
}

/// Returns the link between host `number` of a group and the group's node.
fn make_host_link(group: &HostGroup, number: u32) -> TopologyLink {
    TopologyLink {
        from: host_name(group, number),
        to: group.at.clone(),
        rate: group.rate.clone(),
        delay: group.delay.clone(),
        buffer: group.buffer.clone(),
        ..TopologyLink::default()
    }
}

/// Adds a link to the arcs, in both directions unless it is one-way. The link back has the scheme
/// and the markers only if `ends` says so.
///
/// # Errors
/// [`Error::Field`] naming `field` or a field in it.
fn add_link(arcs: &mut Vec<Arc>, link: &TopologyLink, field: String, ends: Ends) -> Result<()> {
    if link.from == link.to || link.from.is_empty() || link.to.is_empty() {
        let value = format!("\"{}\" to \"{}\"", link.from, link.to);
        return Err(Error::field(field, value, "from one named node to another"));
    }
    let mut forward = Arc {
        from: link.from.clone(),
        to: link.to.clone(),
        rate: parse_rate(&format!("{field}.rate"), &link.rate)?,
        delay: parse_delay(&format!("{field}.delay"), &link.delay)?,
        buffer: None,
        scheme: link.scheme,
        mark: link.mark.unwrap_or(link.scheme),
        is_forward: true,
        buffer_field: format!("{field}.buffer"),
        field,
    };
    forward.buffer = forward.check_buffer(&forward.buffer_field, link.buffer.as_deref())?;
    let back = Arc {
        from: forward.to.clone(),
        to: forward.from.clone(),
        scheme: forward.scheme && ends.has_up(),
        mark: forward.mark && ends.has_up(),
        is_forward: false,
        ..forward.clone()
    };
    arcs.push(forward);
    arcs.extend((!link.one_way).then_some(back));
    Ok(())
}

/// Parses a delay, short enough that the sum over any path fits its type.
///
/// # Errors
/// [`Error::Field`] naming `field`.
fn parse_delay(field: &str, text: &str) -> Result<Dur> {
    match parse_dur(field, text)? {
        delay if delay <= MOST_DELAY => Ok(delay),
        _ => Err(Error::field(field, quote(text), "at most 1000s")),
    }
}

/// Refuses a topology without links, or with more than [`MOST_LINKS`]; each direction counts.
///
/// # Errors
/// [`Error::Field`] naming `topology.links`.
fn check_count(links: usize) -> Result<()> {
    if (1..=MOST_LINKS).contains(&links) {
        return Ok(());
    }
    let allowed = format!("from 1 to {MOST_LINKS}, one for each direction");
    Err(Error::field("topology.links", format!("{links} links"), allowed))
}

/// Checks that each link is named once and that one has the scheme.
///
/// # Errors
/// [`Error::Field`] naming the second link of a name, or `topology.links`.
fn check_arcs(arcs: &[Arc]) -> Result<()> {
    let mut names = BTreeSet::new();
    for arc in arcs {
        if !names.insert(arc.name()) {
            let allowed = "the only link from its node to the other (with one_way = true, the link back is \
                           written by itself)";
            return Err(Error::faulty(&arc.field, quote(&arc.name()), "is there already", allowed));
        }
    }
    if !arcs.iter().any(|arc| arc.scheme) {
        return Err(Error::missing("topology.links", "at least one link with scheme = true"));
    }
    Ok(())
}
