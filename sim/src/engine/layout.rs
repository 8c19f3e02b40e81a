//! Which links a packet crosses: the dumbbell, with private or shared access links, or any graph.
//!
//! Data goes server → (access) → down → (access) → client, everything else the other way over `up`.
//! A private access link (one per host and connection) needs no events: its FIFO is arithmetic.

use super::graph::Graph;
use crate::link::Pace;
use crate::units::{Dur, Rate, Time};
use std::sync::Arc;

/// Number of the bottleneck link in the data direction.
pub const DOWN: u16 = 0;
/// Number of the bottleneck link in the other direction.
pub const UP: u16 = 1;

/// How hosts reach the bottleneck.
#[derive(Debug, Clone)]
pub enum Access {
    /// No rate limit; a connection's own round-trip time is spread over its four ends.
    Unlimited,
    /// A link for each connection at each host, with unlimited buffers; `None` is any rate.
    Private {
        /// Rate at the sender of data.
        server: Option<Rate>,
        /// Rate at its receiver.
        client: Option<Rate>,
    },
    /// So many servers and clients, each with a link shared by its connections.
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
    /// Number of the path between two hosts, which every other question about it takes.
    pub fn path(&self, client: u32, server: u32) -> u32 {
        match &self.access {
            Access::Unlimited | Access::Private { .. } => 0,
            Access::Shared { servers, clients } => ((server % servers) << 16) | (client % clients),
            Access::Graph(graph) => graph.path(client, server),
        }
    }

    /// The link after `hop` links have been passed, if there is one.
    #[inline]
    pub fn link(&self, hop: u8, reverse: bool, path: u32) -> Option<u16> {
        match (&self.access, hop) {
            (Access::Graph(graph), _) => graph.link(hop, reverse, path),
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

    /// Whether the marker before the link at `hop` gives colours; else those given before are kept.
    #[inline]
    pub fn marks(&self, hop: u8, reverse: bool, path: u32) -> bool {
        match &self.access {
            Access::Graph(graph) => graph.marks(hop, reverse, path),
            _ => true,
        }
    }

    /// Whether the link at `hop` is the first whose policer meets what a host has marked.
    #[inline]
    pub fn polices(&self, hop: u8, reverse: bool, path: u32) -> bool {
        matches!(&self.access, Access::Graph(graph) if graph.polices(hop, reverse, path))
    }

    /// Whether every marker on a path gives colours, not the first alone.
    pub fn remarks(&self) -> bool {
        matches!(&self.access, Access::Graph(graph) if graph.remarks())
    }

    /// Whether a path crosses a link with a marker or queue that is told of connections.
    pub fn crosses(&self, path: u32, link: u16) -> bool {
        match &self.access {
            Access::Graph(graph) => graph.crosses(path, link),
            _ => true,
        }
    }

    /// Round-trip propagation delay of the links of a path.
    pub fn base_rtt(&self, path: u32) -> Dur {
        match &self.access {
            Access::Graph(graph) => graph.rtt(path),
            _ => self.base_rtt,
        }
    }

    /// Delay of each of a connection's four ends for its round-trip time.
    pub fn quarter(&self, rtt: Dur, path: u32) -> Dur {
        Dur((rtt - self.base_rtt(path)).0 / 4)
    }

    /// A number that paths with the same rates and delays share: the first such path's.
    pub fn alike(&self, path: u32) -> u32 {
        match &self.access {
            Access::Graph(graph) => graph.alike(path),
            _ => 0,
        }
    }

    /// Client and server of a path.
    pub fn ends(&self, path: u32) -> (u32, u32) {
        match &self.access {
            Access::Graph(graph) => graph.ends(path),
            Access::Shared { .. } => (path & 0xffff, path >> 16),
            _ => (0, 0),
        }
    }

    /// The links whose queues are told, the bottleneck in the data direction first.
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
    /// All four, by number.
    pub const ALL: [End; 4] = [End::ServerOut, End::ServerIn, End::ClientIn, End::ClientOut];
}

impl Layout {
    /// Delay and rate of a private access link.
    #[inline]
    pub fn private(&self, end: End) -> (Dur, Option<Rate>) {
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

/// Until when each private access link of one connection is busy.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrivateLinks {
    free: [Time; 4],
}

impl PrivateLinks {
    /// Passes `bytes` over the link at `end` from `at` on; returns when they are through.
    #[inline]
    pub fn pass(&mut self, end: End, at: Time, bytes: u16, pace: Pace) -> Time {
        let through = self.free[end as usize].max(at) + pace.tx_time(u64::from(bytes));
        self.free[end as usize] = through;
        through
    }
}

/// Delay and pace of the private access link at each end, by [`End`].
pub(super) type Ends = [(Dur, Option<Pace>); 4];

/// What a packet needs to know of its connection on its way: a cache line, all it touches between the hosts.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Road {
    /// Its private access links.
    pub links: PrivateLinks,
    /// One-way delay from host to bottleneck and from bottleneck to host, added to what links have.
    pub quarter: Dur,
    /// Number of its path in the layout.
    pub path: u32,
    /// Packets of the connection in the network.
    pub in_flight: u32,
    /// Its data goes from client to server.
    pub upload: bool,
}

impl Road {
    /// Crosses the private access link at `end`; returns when a packet of `bytes` reaches its far end.
    #[inline(always)]
    pub fn pass(&mut self, ends: &Ends, end: End, at: Time, bytes: u16) -> Time {
        let (delay, pace) = ends[end as usize];
        let through = match pace {
            Some(pace) => self.links.pass(end, at, bytes, pace),
            None => at,
        };
        through + delay
    }
}
