//! Pieces of every kind of topology: links, groups of hosts, and the checks of their counts.

use super::super::spec::{HostGroup, Role, TopologyLink};
use crate::error::{Error, Result};

/// Returns a drop-tail link; the buffer is unlimited if none is given.
pub(super) fn make_link(from: &str, to: &str, rate: &str, delay: &str, buffer: Option<&str>) -> TopologyLink {
    TopologyLink {
        from: from.into(),
        to: to.into(),
        rate: rate.into(),
        delay: delay.into(),
        buffer: buffer.map(str::to_string),
        ..TopologyLink::default()
    }
}

/// Returns the link with the scheme's queue, and if `mark` with its markers, at which packets
/// enter.
pub(super) fn with_scheme(link: TopologyLink, mark: bool) -> TopologyLink {
    TopologyLink { scheme: true, mark: Some(mark), ..link }
}

/// Returns a group of `count` hosts at node `at`; `way` are rate, delay and buffer of each host's
/// link, whose buffer is unlimited if none is given.
pub(super) fn make_hosts(
    role: Role,
    name: &str,
    at: &str,
    count: u32,
    way: (&str, &str, Option<&str>),
) -> HostGroup {
    let (rate, delay, buffer) = way;
    HostGroup {
        name: name.into(),
        at: at.into(),
        count,
        role,
        rate: rate.into(),
        delay: delay.into(),
        buffer: buffer.map(str::to_string),
    }
}

/// Refuses a count outside 1 to 1000; each count comes with its field.
///
/// # Errors
/// [`Error::Field`] naming the first such field.
pub(super) fn check_counts(counts: &[(&str, u32)]) -> Result<()> {
    match counts.iter().find(|(_, count)| !(1..=1000).contains(count)) {
        Some((name, count)) => Err(Error::field(*name, count, "from 1 to 1000")),
        None => Ok(()),
    }
}

/// Returns nanoseconds as text.
pub(super) fn format_nanoseconds(span: u64) -> String {
    format!("{span}ns")
}
