//! The text form of a topology: the fields of `[topology]` and `[host_stage]`, with their defaults.

use serde::{Deserialize, Serialize};

/// Links and hosts that replace the dumbbell: a kind with its parameters, or written out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TopologySpec {
    /// `two-tier`, `y` or `tree`; without it links and hosts are written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Parameters of the kind that differ from its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Value>,
    /// Nodes whose hosts receive the measured data; client n of the traffic is number n modulo their count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// Nodes whose hosts send it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Client n communicates with server n, even if the traffic names another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired: Option<bool>,
    /// Link to whose rate `load` and `1bdp` refer, as from-to; the slowest one with the scheme if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<String>,
    /// Rate of the bottleneck; replaces that of its link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Buffer of the bottleneck; replaces that of its link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Rate of the link back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    /// Buffer of the link back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_buffer: Option<String>,
    /// Round-trip time of connections that do not specify one and whose path is shorter; also the unit `bdp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<String>,
    /// Every marker on a path sets colours; otherwise those of the first marker stay.
    pub remark: bool,
    /// Report the queues of all links, not only of those with the scheme.
    pub all_queues: bool,
    /// The links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<TopologyLink>,
    /// Hosts with a link each, many at a time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostGroup>,
}

/// A link between two nodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopologyLink {
    /// Node it begins at; for the scheme this is the upstream end.
    pub from: String,
    /// Node it leads to.
    pub to: String,
    /// Rate of each direction.
    pub rate: String,
    /// One-way propagation delay.
    #[serde(default = "no_delay")]
    pub delay: String,
    /// Buffer of each direction, or `unlimited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Its queue is the scenario's scheme, in the direction written.
    #[serde(default)]
    pub scheme: bool,
    /// The scheme's marker is before this link's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<bool>,
    /// There is no link back.
    #[serde(default)]
    pub one_way: bool,
}

/// Hosts of one kind at one node, each with a separate link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostGroup {
    /// Name; the hosts are this with 0, 1, … behind it.
    pub name: String,
    /// Node their links lead to.
    pub at: String,
    /// Number of hosts.
    pub count: u32,
    /// Role of the hosts.
    pub role: Role,
    /// Rate of each link.
    pub rate: String,
    /// One-way propagation delay of each link.
    #[serde(default = "no_delay")]
    pub delay: String,
    /// Buffer of each link, or `unlimited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
}

/// Role of the hosts of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// They receive the measured data.
    Client,
    /// They send it.
    Server,
}

/// A queue for each user at the sending host, before its first link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostStageSpec {
    /// Number of users; a connection belongs to the user of its client number modulo this.
    pub users: u32,
    /// Rate at which each user's queue is emptied.
    #[serde(default = "unlimited")]
    pub rate: String,
    /// The scheme's marker is before each user's queue.
    #[serde(default)]
    pub mark: bool,
}

/// Returns the default delay of a link.
fn no_delay() -> String {
    "0ms".into()
}

/// Returns the default rate of a user's queue.
fn unlimited() -> String {
    "unlimited".into()
}
