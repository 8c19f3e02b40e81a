//! Which links a packet crosses: the dumbbell, with private or shared access links.
//!
//! Data goes server → [access] → down → [access] → client, everything else the other way over `up`.
//! A private access link (one per host and connection) needs no events: its FIFO is arithmetic.

use crate::link::Pace;
use crate::units::{Dur, Rate, Time};

/// Number of the bottleneck link in the data direction.
pub const DOWN: u16 = 0;
/// Number of the bottleneck link in the other direction.
pub const UP: u16 = 1;

/// How hosts reach the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}

/// The paths of a run.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// How hosts reach the bottleneck.
    pub access: Access,
    /// Round-trip propagation delay of the links themselves.
    pub base_rtt: Dur,
    /// One-way delay of the private access link at the server.
    pub server_delay: Dur,
    /// One-way delay of the private access link at the client.
    pub client_delay: Dur,
}

impl Layout {
    /// Links of the run: the bottleneck both ways, and shared access links.
    pub fn links(&self) -> usize {
        match self.access {
            Access::Shared { servers, clients } => 2 + 2 * (servers + clients) as usize,
            _ => 2,
        }
    }

    /// The link after `hop` links have been passed, if there is one.
    #[inline]
    pub fn link(&self, hop: u8, reverse: bool, client: u32, server: u32) -> Option<u16> {
        match (self.access, hop) {
            (Access::Shared { servers, clients }, _) => {
                let (server, client) = (server % servers, client % clients);
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

    /// Rates of the links that data crosses, where they have one.
    pub fn rates(&self, bottleneck: Rate, shared: Option<Rate>) -> impl Iterator<Item = Rate> {
        let (server, client) = match self.access {
            Access::Private { server, client } => (server, client),
            Access::Shared { .. } => (shared, shared),
            Access::Unlimited => (None, None),
        };
        [server, Some(bottleneck), client].into_iter().flatten()
    }

    /// Delay of each of a connection's four ends for its round-trip time.
    pub fn quarter(&self, rtt: Dur) -> Dur {
        Dur((rtt - self.base_rtt).0 / 4)
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
