//! Kinds of topologies, with a name and a few parameters; each is expanded to the links and hosts that one could write out.

mod pieces;
mod tree;
mod two_tier;
mod y;

use super::spec::TopologySpec;
use crate::error::{Error, Result, quote};
use serde_json::Value;
use std::borrow::Cow;

/// Names of the kinds.
const KINDS: [&str; 3] = ["two-tier", "y", "tree"];

/// Returns the topology written out: the links and hosts of its kind, with the fields given in
/// addition. A topology without a kind is returned as it is.
///
/// # Errors
/// [`Error::Field`] naming `topology.kind` or `topology.params`.
pub fn write_out(spec: &TopologySpec) -> Result<Cow<'_, TopologySpec>> {
    let Some(kind) = spec.kind.as_deref() else {
        return match &spec.params {
            None => Ok(Cow::Borrowed(spec)),
            Some(params) => {
                let with = "a topology that is written out";
                Err(Error::conflict("topology.params", params, with, "only a topology.kind has parameters"))
            }
        };
    };
    if !(spec.links.is_empty() && spec.hosts.is_empty() && spec.clients.is_empty() && spec.servers.is_empty())
    {
        let with = "links, hosts, clients or servers";
        let allowed = "a kind has its own links and hosts, so give one or the other";
        return Err(Error::conflict("topology.kind", quote(kind), with, allowed));
    }
    let params = spec.params.as_ref().unwrap_or(&Value::Null);
    let drawing = match kind {
        "two-tier" => two_tier::draw(params),
        "y" => y::draw(params),
        "tree" => tree::draw(params),
        _ => return Err(Error::unknown("topology.kind", "kind", kind, KINDS)),
    };
    let drawing = drawing.map_err(|error| error.inside("topology.params"))?;
    Ok(Cow::Owned(TopologySpec {
        kind: None,
        params: None,
        bottleneck: spec.bottleneck.clone().or(drawing.bottleneck),
        rtt: spec.rtt.clone().or(drawing.rtt),
        paired: spec.paired.or(drawing.paired),
        links: drawing.links,
        hosts: drawing.hosts,
        clients: drawing.clients,
        servers: drawing.servers,
        ..spec.clone()
    }))
}
