//! Builds the network of a topology, written out or drawn by its kind: checks, numbers and routes it.

use super::super::scheme::Scheme;
use super::super::spec::{Ends, LinkSpec, Scenario};
use super::arc::{Arc, UNLIMITED, host_name, list_arcs};
use super::bottleneck;
use super::kinds;
use super::network::{MOST_PATHS, Network, PlannedLink, Routes, Runs};
use super::route::Router;
use super::shaper::refuse_rate_of_scheme;
use super::spec::{Role, TopologySpec};
use super::wire::parse_wire;
use crate::engine::graph::{Hops, Hosts};
use crate::error::{Error, IntoGiven, Result, quote};
use crate::link_layer::Wire;
use crate::units::{Buffer, Dur, parse_buffer, parse_dur};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the links and paths of a scenario with a topology.
///
/// # Errors
/// [`Error::Field`] naming the field at fault.
pub fn build_network(scenario: &Scenario, spec: &TopologySpec) -> Result<Network> {
    check_alone(scenario)?;
    refuse_rate_of_scheme(scenario, Scheme::parse(&scenario.scheme)?.shape())?;
    let spec = kinds::write_out(spec)?;
    let mut arcs = list_arcs(&spec, scenario.ends())?;
    let (clients, servers) = list_hosts(&spec, &arcs)?;
    bottleneck::put_bottleneck_first(&mut arcs, &spec)?;
    let hosts = number_hosts(&spec, clients.len(), servers.len())?;
    let hops = find_routes(&arcs, hosts, &clients, &servers)?;
    let rtts = hops.iter().map(|path| sum_rtt(path, &arcs));
    let longest = rtts.clone().max().unwrap_or_default();
    let own_rtt = parse_own_rtt(spec.rtt.as_deref(), rtts.min().unwrap_or_default())?;
    let unit = if own_rtt > Dur::ZERO { own_rtt } else { longest };
    let wire = parse_wire(&scenario.link)?;
    let links = arcs.iter().map(|arc| plan_link(arc, unit, wire));
    let links = links.collect::<Result<Vec<_>>>()?;
    let recorded = select_recorded(&links, spec.all_queues);
    let layout = Routes { hosts, hops, remark: spec.remark, recorded }.layout(&links);
    Ok(Network { links, layout, rtt: unit, own_rtt })
}

/// Returns the round-trip time of connections that do not specify one; zero where the links alone
/// determine it. `shortest` is that of the shortest path.
///
/// # Errors
/// [`Error::Field`] naming `topology.rtt` if it is malformed or below `shortest`.
fn parse_own_rtt(text: Option<&str>, shortest: Dur) -> Result<Dur> {
    let Some(text) = text else { return Ok(Dur::ZERO) };
    match parse_dur("topology.rtt", text)? {
        rtt if rtt >= shortest => Ok(rtt),
        _ => {
            let allowed = format!("at least {}s, the delay of the shortest path", shortest.as_secs());
            Err(Error::field("topology.rtt", quote(text), allowed))
        }
    }
}

/// Refuses the dumbbell's fields next to a topology, where they have no meaning; their defaults
/// pass.
///
/// # Errors
/// [`Error::Field`] naming the first such field.
fn check_alone(scenario: &Scenario) -> Result<()> {
    let with = "topology, which has links of its own";
    if scenario.at == Some(Ends::Up) {
        let allowed = "write the link that is to have the scheme in that direction";
        return Err(Error::conflict("at", quote("up"), with, allowed));
    }
    if let Some(access) = &scenario.access {
        let value = format!("rate {}", quote(&access.rate).into_given());
        return Err(Error::conflict("access", value, with, "give topology.hosts"));
    }
    let (given, none) = (&scenario.link, LinkSpec::default());
    for (field, value, default) in [
        ("rate", given.rate.as_ref(), None),
        ("down", given.down.as_ref(), None),
        ("up", given.up.as_ref(), None),
        ("rtt", Some(&given.rtt), Some(&none.rtt)),
        ("delay", Some(&given.delay), Some(&none.delay)),
        ("buffer", Some(&given.buffer), Some(&none.buffer)),
        ("up_buffer", given.up_buffer.as_ref(), None),
        ("burst", given.burst.as_ref(), None),
        ("shape", given.shape.as_ref(), None),
        ("up_shape", given.up_shape.as_ref(), None),
        ("modem_buffer", given.modem_buffer.as_ref(), None),
        ("up_modem_buffer", given.up_modem_buffer.as_ref(), None),
        ("shape_layer", given.shape_layer.as_ref(), None),
    ] {
        if let Some(value) = value.filter(|_| value != default) {
            let allowed = "give topology.rate and the like for its bottleneck";
            return Err(Error::conflict(format!("link.{field}"), quote(value), with, allowed));
        }
    }
    Ok(())
}

/// Returns the names of the clients' and the servers' nodes, in the order of their numbers: those
/// listed, then those of groups.
///
/// # Errors
/// [`Error::Field`] for a node that no link has, for a role without nodes, and for a node of both
/// roles.
fn list_hosts(spec: &TopologySpec, arcs: &[Arc]) -> Result<(Vec<String>, Vec<String>)> {
    let nodes: BTreeSet<&str> = arcs.iter().flat_map(|arc| [arc.from.as_str(), arc.to.as_str()]).collect();
    let nodes_of = |role: Role, field: &str, listed: &[String]| {
        let groups = spec.hosts.iter().filter(|group| group.role == role);
        let grouped = groups.flat_map(|group| (0..group.count).map(|number| host_name(group, number)));
        let all: Vec<String> = listed.iter().cloned().chain(grouped).collect();
        match all.iter().find(|name| !nodes.contains(name.as_str())) {
            Some(unknown) => Err(Error::unknown(field, "node", unknown, nodes.iter().copied())),
            None if all.is_empty() => Err(Error::missing(field, "at least one node")),
            None => Ok(all),
        }
    };
    let clients = nodes_of(Role::Client, "topology.clients", &spec.clients)?;
    let servers = nodes_of(Role::Server, "topology.servers", &spec.servers)?;
    let serving: BTreeSet<&String> = servers.iter().collect();
    if let Some(both) = clients.iter().find(|client| serving.contains(client)) {
        let allowed = "a node cannot be both a client and a server";
        return Err(Error::conflict("topology.clients", quote(both), "topology.servers", allowed));
    }
    Ok((clients, servers))
}

/// Returns the rule by which the hosts' numbers select paths.
///
/// # Errors
/// [`Error::Field`] naming `topology.paired` or `topology.hosts`.
fn number_hosts(spec: &TopologySpec, clients: usize, servers: usize) -> Result<Hosts> {
    let paired = spec.paired.unwrap_or(false);
    if paired && clients != servers {
        let with = format!("{clients} clients and {servers} servers");
        return Err(Error::conflict("topology.paired", true, with, "give as many clients as servers"));
    }
    let hosts = Hosts { clients: clients as u32, servers: servers as u32, paired };
    if hosts.paths() > MOST_PATHS {
        let value = format!("{clients} clients and {servers} servers");
        let allowed = format!("at most {MOST_PATHS} pairs of them (with paired = true, one for each client)");
        return Err(Error::field("topology.hosts", value, allowed));
    }
    Ok(hosts)
}

/// Returns the path of each pair of hosts, in the order of [`Hosts::path`]. `arcs` have their final
/// order, whose positions are the links' numbers.
///
/// # Errors
/// [`Error::Field`] naming `topology.links` if there is no path, or none of fewer than 255 links.
fn find_routes(arcs: &[Arc], hosts: Hosts, clients: &[String], servers: &[String]) -> Result<Vec<Hops>> {
    let names: BTreeSet<&str> = arcs.iter().flat_map(|arc| [arc.from.as_str(), arc.to.as_str()]).collect();
    let nodes: BTreeMap<&str, usize> = names.into_iter().enumerate().map(|(n, name)| (name, n)).collect();
    let ends: Vec<(usize, usize)> =
        arcs.iter().map(|arc| (nodes[arc.from.as_str()], nodes[arc.to.as_str()])).collect();
    let numbers: BTreeMap<(usize, usize), u16> =
        ends.iter().enumerate().map(|(number, &ends)| (ends, number as u16)).collect();
    let opposites: Vec<Option<u16>> =
        ends.iter().map(|&(from, to)| numbers.get(&(to, from)).copied()).collect();
    let links = ends.iter().zip(arcs).map(|(&(from, to), arc)| (from, to, arc.delay));
    let mut router = Router::new(nodes.len(), links);
    let hops = |number: usize| {
        let (client, server) = hosts.ends(number as u32);
        let (client, server) = (&clients[client as usize], &servers[server as usize]);
        let mut path = |from: &str, to: &str| {
            let links = router.find_path(nodes[from], nodes[to]).filter(|links| links.len() < 255);
            links.ok_or_else(|| unreachable_error(from, to))
        };
        let data = path(server, client)?;
        // If every link has its opposite, the way back is the same; otherwise it is found like any other.
        let same: Option<Vec<u16>> = data.iter().rev().map(|&link| opposites[usize::from(link)]).collect();
        let back = same.map_or_else(|| path(client, server), Ok)?;
        Ok(Hops { data, back })
    };
    (0..hosts.paths()).map(hops).collect()
}

/// Returns the error for a missing path.
fn unreachable_error(from: &str, to: &str) -> Error {
    Error::missing("topology.links", format!("a path from \"{from}\" to \"{to}\" of fewer than 255 links"))
}

/// Returns the round-trip propagation delay of a path.
fn sum_rtt(path: &Hops, arcs: &[Arc]) -> Dur {
    Dur(path.data.iter().chain(&path.back).map(|&link| arcs[usize::from(link)].delay.0).sum())
}

/// Returns an arc as a link. A buffer in bandwidth-delay products refers to the arc's rate and
/// `rtt`.
///
/// # Errors
/// [`Error::Field`] naming the field of the buffer.
fn plan_link(arc: &Arc, rtt: Dur, wire: Wire) -> Result<PlannedLink> {
    let buffer = match arc.buffer_text() {
        UNLIMITED => Buffer::Packets(u32::MAX),
        text => parse_buffer(&arc.buffer_field, text, arc.rate, rtt)?,
    };
    Ok(PlannedLink {
        buffer,
        wire,
        runs: if arc.scheme { Runs::Scheme } else { Runs::Fifo },
        is_marked: arc.mark,
        ..PlannedLink::with_unlimited_buffer(arc.name(), arc.rate, arc.delay)
    })
}

/// Returns the numbers of the links whose queues are reported: the bottleneck both ways, then the
/// other links with the scheme, or, with `all`, all links.
fn select_recorded(links: &[PlannedLink], all: bool) -> Vec<u16> {
    let is_recorded = |&number: &usize| number < 2 || all || links[number].runs == Runs::Scheme;
    (0..links.len()).filter(is_recorded).map(|number| number as u16).collect()
}
