//! Short constructors of topologies.

use super::{scenario, with_connections};
use mousehole_sim::scenario::Scenario;
use mousehole_sim::scenario::spec::ConnectionSpec;
use mousehole_sim::scenario::topology::spec::{HostGroup, Role, TopologyLink, TopologySpec};

/// Returns a link both ways without a scheme, with unlimited buffers.
pub fn link(from: &str, to: &str, rate: &str, delay: &str) -> TopologyLink {
    TopologyLink {
        from: from.into(),
        to: to.into(),
        rate: rate.into(),
        delay: delay.into(),
        ..TopologyLink::default()
    }
}

/// Returns a link with the scheme's queue of `buffer` and its marker.
pub fn scheme(from: &str, to: &str, rate: &str, delay: &str, buffer: &str) -> TopologyLink {
    TopologyLink { scheme: true, buffer: Some(buffer.into()), ..link(from, to, rate, delay) }
}

/// Returns `count` hosts at a node, each behind a link with unlimited buffers.
pub fn hosts(role: Role, name: &str, at: &str, count: u32, rate: &str, delay: &str) -> HostGroup {
    let (name, at, rate, delay) = (name.into(), at.into(), rate.into(), delay.into());
    HostGroup { name, at, count, role, rate, delay, buffer: None }
}

/// Returns a topology of these links, with hosts at these nodes.
pub fn topology_between(links: Vec<TopologyLink>, servers: &[&str], clients: &[&str]) -> TopologySpec {
    let names = |all: &[&str]| all.iter().map(|name| name.to_string()).collect();
    TopologySpec { links, servers: names(servers), clients: names(clients), ..TopologySpec::default() }
}

/// Returns a chain server – left – right – client, whose links are in this order. The scheme runs from left to right, at
/// the bottleneck.
pub fn chain_topology() -> TopologySpec {
    let links = vec![
        link("server", "left", "10mbit", "1ms"),
        scheme("left", "right", "3mbit", "5ms", "30p"),
        link("right", "client", "10mbit", "1ms"),
    ];
    topology_between(links, &["server"], &["client"])
}

/// Returns a kind of topology with its defaults.
pub fn kind(name: &str) -> TopologySpec {
    TopologySpec { kind: Some(name.into()), ..TopologySpec::default() }
}

/// Returns a tree of few hosts, with a bottleneck of 4 Mbit/s.
pub fn small_tree() -> TopologySpec {
    let params = serde_json::json!({ "users": 2, "first_routers": 2, "rate": "4mbit" });
    TopologySpec { params: Some(params), ..kind("tree") }
}

/// Returns `scheme` over a topology, otherwise as [`scenario`], without traffic.
pub fn scenario_over(topology: TopologySpec, scheme: &str) -> Scenario {
    let base = scenario(scheme);
    Scenario { link: Default::default(), topology: Some(topology), ..base }
}

/// Returns `scheme` over a topology with these connections as its only traffic.
pub fn scenario_carrying(topology: TopologySpec, scheme: &str, connections: Vec<ConnectionSpec>) -> Scenario {
    with_connections(scenario_over(topology, scheme), connections)
}
