//! The paths of packets: over the dumbbell, with private or shared access links, or over any graph.
//!
//! Data goes server → (access) → down → (access) → client, everything else the other way over `up`.
//! A private access link (one per host and connection) needs no events: its FIFO is computed.

use super::graph::Graph;
use crate::link::Pace;
use crate::units::{Dur, Rate, Time};
use std::sync::Arc;

/// Number of the bottleneck's link from servers to clients; on a topology, in the direction written.
pub const DOWN: u16 = 0;
/// Number of the bottleneck's link from clients to servers.
pub const UP: u16 = 1;

/// How hosts reach the bottleneck.
#[derive(Debug, Clone)]
pub enum Access {
    /// No rate limit. The part of a connection's round-trip time that exceeds that of the links is divided equally among
    /// its four ends.
    Unlimited,
    /// A link for each connection at each host, with unlimited buffers; `None` is any rate.
    Private {
        /// Rate at the sender of data.
        server: Option<Rate>,
        /// Rate at its receiver.
        client: Option<Rate>,
    },
    /// Links shared by all connections of a server or a client.
    Shared {
        /// Number of servers.
        servers: u32,
        /// Number of clients.
        clients: u32,
    },
    /// Over the links of a graph; the bottleneck is one of them.
    Graph(Arc<Graph>),
}

/// The paths of a run.
#[derive(Debug, Clone)]
pub struct Layout {
    /// How hosts reach the bottleneck.
    pub access: Access,
    /// Round-trip propagation delay of the links themselves, the longest path's on a graph.
    pub base_rtt: Dur,
    /// One-way delay of the private access link at the server.
    pub server_delay: Dur,
    /// One-way delay of the private access link at the client.
    pub client_delay: Dur,
}

impl Layout {
    /// Returns the number of the path between two hosts, which identifies it in every other call.
    /// It is 0 where all connections share one path. Host numbers are taken modulo the hosts there
    /// are.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        match &self.access {
            Access::Unlimited | Access::Private { .. } => 0,
            Access::Shared { servers, clients } => ((server % servers) << 16) | (client % clients),
            Access::Graph(graph) => graph.path(client, server),
        }
    }

    /// Returns the link after `hop` links have been crossed, or `None` at the end of the path;
    /// `reverse` selects the direction from client to server.
    #[inline]
    pub fn link_at(&self, hop: u8, reverse: bool, path: u32) -> Option<u16> {
        match (&self.access, hop) {
            (Access::Graph(graph), _) => graph.link_at(hop, reverse, path),
            (Access::Shared { servers, .. }, _) => {
                let (server, client) = (path >> 16, path & 0xffff);
                let from_server = 2 + 2 * server;
                let from_client = 2 + 2 * servers + 2 * client;
                let path = if reverse {
                    [from_client, u32::from(UP), from_server + 1]
                } else {
                    [from_server, u32::from(DOWN), from_client + 1]
                };
                path.get(usize::from(hop)).map(|&link| link as u16)
            }
            (_, 0) => Some(if reverse { UP } else { DOWN }),
            _ => None,
        }
    }

    /// Returns whether the marker before the link at `hop` sets colours; otherwise earlier colours
    /// stay.
    #[inline]
    pub fn marks(&self, hop: u8, reverse: bool, path: u32) -> bool {
        match &self.access {
            Access::Graph(graph) => graph.marks(hop, reverse, path),
            _ => true,
        }
    }

    /// Returns whether the policer before the link at `hop` checks packets that a host has marked.
    #[inline]
    pub fn polices(&self, hop: u8, reverse: bool, path: u32) -> bool {
        matches!(&self.access, Access::Graph(graph) if graph.polices(hop, reverse, path))
    }

    /// Returns whether every marker on a path sets colours, instead of the first only.
    pub fn remarks(&self) -> bool {
        matches!(&self.access, Access::Graph(graph) if graph.remarks())
    }

    /// Returns whether a path crosses this link; links outside a graph count as crossed by every path.
    pub fn crosses(&self, path: u32, link: u16) -> bool {
        match &self.access {
            Access::Graph(graph) => graph.crosses(path, link),
            _ => true,
        }
    }

    /// Returns the round-trip propagation delay of the links of a path.
    pub fn base_rtt(&self, path: u32) -> Dur {
        match &self.access {
            Access::Graph(graph) => graph.rtt(path),
            _ => self.base_rtt,
        }
    }

    /// Returns the delay at each of the four ends of a connection with this round-trip time: a
    /// quarter of what exceeds the delays of its path, zero if nothing does.
    pub fn host_delay(&self, rtt: Dur, path: u32) -> Dur {
        Dur((rtt - self.base_rtt(path)).0 / 4)
    }

    /// Returns the number of the first path with the same rates and delays; 0 outside a graph,
    /// where all are alike.
    pub fn equivalent(&self, path: u32) -> u32 {
        match &self.access {
            Access::Graph(graph) => graph.equivalent(path),
            _ => 0,
        }
    }

    /// Returns the client and the server of a path; (0, 0) where all share one.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        match &self.access {
            Access::Graph(graph) => graph.ends(path),
            Access::Shared { .. } => (path & 0xffff, path >> 16),
            _ => (0, 0),
        }
    }

    /// Returns the links whose queues are reported, the bottleneck in the data direction first.
    pub fn recorded(&self) -> &[u16] {
        match &self.access {
            Access::Graph(graph) => graph.recorded(),
            _ => &[DOWN, UP],
        }
    }
}

/// The four private access links of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Server to bottleneck.
    ServerOut = 0,
    /// Bottleneck to server.
    ServerIn = 1,
    /// Bottleneck to client.
    ClientIn = 2,
    /// Client to bottleneck.
    ClientOut = 3,
}

impl End {
    /// All four, in order of their numbers.
    pub const ALL: [End; 4] = [End::ServerOut, End::ServerIn, End::ClientIn, End::ClientOut];
}

impl Layout {
    /// Returns delay and rate of a private access link; without a rate it takes no time to
    /// transmit.
    #[inline]
    pub fn access_link(&self, end: End) -> (Dur, Option<Rate>) {
        let (server, client) = match self.access {
            Access::Private { server, client } => (server, client),
            _ => (None, None),
        };
        match end {
            End::ServerOut | End::ServerIn => (self.server_delay, server),
            End::ClientIn | End::ClientOut => (self.client_delay, client),
        }
    }
}

/// The private access links of one connection: each is busy until a known time.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrivateLinks {
    free: [Time; 4],
}

impl PrivateLinks {
    /// Transmits `bytes` that arrive at `at` over the link at `end`, which is busy until then;
    /// returns when they have left it. Calls for one end must come in the order of arrival.
    #[inline]
    pub fn transmit(&mut self, end: End, at: Time, bytes: u16, pace: Pace) -> Time {
        let through = self.free[end as usize].max(at) + pace.tx_time(u64::from(bytes));
        self.free[end as usize] = through;
        through
    }
}

/// Delay and pace of the private access link at each end, by [`End`].
pub(super) type Ends = [(Dur, Option<Pace>); 4];

/// The state of a connection that its packets need on their path: one cache line, all they touch between hosts.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct PathState {
    /// The connection's private access links.
    pub links: PrivateLinks,
    /// End-host delay: added at each of the four ends to the delays of the links.
    pub host_delay: Dur,
    /// Number of the connection's path in the layout.
    pub path: u32,
    /// Number of the connection's packets in the network.
    pub in_flight: u32,
    /// The connection's data goes from client to server.
    pub upload: bool,
}

impl PathState {
    /// Sends a packet of `bytes` that arrives at `at` over the private access link at `end`;
    /// returns when it reaches the far end. A link without a pace takes no time to transmit and is
    /// never busy.
    #[inline(always)]
    pub fn cross_access_link(&mut self, ends: &Ends, end: End, at: Time, bytes: u16) -> Time {
        let (delay, pace) = ends[end as usize];
        let through = match pace {
            Some(pace) => self.links.transmit(end, at, bytes, pace),
            None => at,
        };
        through + delay
    }
}
