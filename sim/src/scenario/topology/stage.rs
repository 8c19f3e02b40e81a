//! A queue for each user at the sending host, before the first link of every path.

use super::super::spec::Ends;
use super::network::{MOST_PATHS, Network, PlannedLink, Routes, Runs, UNLIMITED, parse_access_rate};
use super::spec::HostStageSpec;
use crate::engine::graph::{Hops, Hosts};
use crate::engine::layout::{Access, Layout};
use crate::error::{Error, Result};
use crate::units::Dur;

/// Returns the network with the users' queues before its first links: in the direction of the data,
/// and where the scheme is at the uplink also of the acknowledgements. Its paths become those of a
/// graph.
///
/// # Errors
/// [`Error::Field`] naming `host_stage` or one of its fields.
pub fn add_host_stage(mut network: Network, spec: &HostStageSpec, ends: Ends) -> Result<Network> {
    if !(1..=10_000).contains(&spec.users) {
        return Err(Error::field("host_stage.users", spec.users, "from 1 to 10000"));
    }
    let rate = parse_access_rate("host_stage.rate", &spec.rate)?.unwrap_or(UNLIMITED);
    let (layout, users) = (&network.layout, spec.users);
    let old = number_hosts(layout)?;
    let hosts = Hosts { clients: common_multiple(old.clients, users), ..old };
    if hosts.paths() > MOST_PATHS {
        let with = format!("{} clients and {} servers", old.clients, old.servers);
        let allowed = format!("at most {MOST_PATHS} combinations of client, user and server are possible");
        return Err(Error::conflict("host_stage.users", users, with, allowed));
    }
    let first = network.links.len() as u32;
    let path = |number: usize| {
        let (client, server) = hosts.ends(number as u32);
        let stage = (first + client % users) as u16;
        let hops = list_hops(layout, layout.path(client, server));
        let data = [stage].into_iter().chain(hops.data).collect();
        let back = ends.has_up().then_some(stage + users as u16);
        Hops { data, back: back.into_iter().chain(hops.back).collect() }
    };
    let (remark, recorded) = (layout.remarks(), layout.recorded().to_vec());
    let routes = Routes { hosts, hops: (0..hosts.paths()).map(path).collect(), remark, recorded };
    let ways: &[&str] = if ends.has_up() { &["host", "client"] } else { &["host"] };
    for way in ways {
        let link = |user| PlannedLink {
            runs: Runs::Host,
            is_marked: spec.mark,
            ..PlannedLink::with_unlimited_buffer(format!("{way}-{user}"), rate, Dur::ZERO)
        };
        network.links.extend((0..users).map(link));
    }
    network.layout = routes.layout(&network.links);
    Ok(network)
}

/// Returns the rule by which the hosts of a layout are numbered.
///
/// # Errors
/// [`Error::Field`] naming `host_stage` for private access links.
fn number_hosts(layout: &Layout) -> Result<Hosts> {
    match &layout.access {
        Access::Unlimited => Ok(Hosts { clients: 1, servers: 1, paired: false }),
        Access::Shared { servers, clients } => {
            Ok(Hosts { clients: *clients, servers: *servers, paired: false })
        }
        Access::Graph(graph) => Ok(graph.hosts()),
        Access::Private { .. } => {
            let allowed =
                "give access.servers and access.clients to share the links, or a topology, or no access";
            Err(Error::conflict("host_stage", "a host stage", "private access links", allowed))
        }
    }
}

/// Returns the links of a path in order, both ways.
fn list_hops(layout: &Layout, path: u32) -> Hops {
    let way = |reverse| (0..=u8::MAX).map_while(|hop| layout.link_at(hop, reverse, path)).collect();
    Hops { data: way(false), back: way(true) }
}

/// Returns the least common multiple of two positive numbers.
fn common_multiple(one: u32, other: u32) -> u32 {
    let (mut divisor, mut rest) = (one, other);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    one / divisor * other
}
