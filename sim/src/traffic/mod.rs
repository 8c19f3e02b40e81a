//! Traffic: what connections there are, before any packet is sent.
//!
//! [`read`] turns files into a [`Traffic`], [`summary`] says what was understood, [`overlay`] loads a
//! link with it, and [`model`] draws traffic from a published model instead.

pub mod connection;
pub mod model;
pub mod overlay;
pub mod read;
pub mod split;
pub mod summary;

use connection::Connection;
use serde::Serialize;

/// Connections in order of their start, and an account of where they came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    /// The connections, by start; the first starts at zero.
    pub connections: Vec<Connection>,
    /// One entry per input file, in the order given.
    pub sources: Vec<Source>,
    /// Rows that were understood and left out, by reason, over all files.
    pub skipped: Vec<Skipped>,
    /// Plain sentences about choices made while reading.
    pub notes: Vec<String>,
    /// Rows that could not be understood, over all files.
    pub faults: Faults,
    /// Number of client hosts; clients are numbered from 0 by first appearance.
    pub clients: u32,
    /// Number of server hosts; servers are numbered from 0 by first appearance.
    pub servers: u32,
}

/// One input file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file's name without its folders.
    pub name: String,
    /// SHA-256 of the file's bytes as stored (before decompression), in hexadecimal.
    pub sha256: String,
    /// What the content was recognised as, such as `pcap` or `zeek-conn`.
    pub kind: String,
    /// Rows of data: lines of a log, packets of a capture.
    pub rows: u64,
    /// Rows that went into connections.
    pub used: u64,
    /// Rows that could not be understood.
    pub faults: u64,
    /// The first of them, as `file:line: what`.
    pub first_fault: Option<String>,
}

/// Rows left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Why, as a phrase.
    pub reason: String,
    /// How many rows (packets of a capture).
    pub rows: u64,
    /// Payload bytes those rows carried in the chosen direction, where the row says so.
    pub bytes: u64,
}

/// Rows that could not be understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// How many.
    pub count: u64,
    /// The first one, as `file:line: what`.
    pub first: Option<String>,
}

impl Traffic {
    /// Traffic from ready-made connections: sorts them, moves the first start to zero, counts hosts.
    pub fn from_connections(mut connections: Vec<Connection>) -> Traffic {
        connections.sort_by_key(|connection| connection.start);
        let first = connections.first().map_or(0, |connection| connection.start.0);
        connections.iter_mut().for_each(|connection| connection.start.0 -= first);
        let clients = connections.iter().map(|connection| connection.client + 1).max().unwrap_or(0);
        let servers = connections.iter().map(|connection| connection.server + 1).max().unwrap_or(0);
        Traffic { connections, clients, servers, ..Traffic::default() }
    }

    /// Wire bytes of all connections in the data direction; see [`Connection::wire_bytes`].
    pub fn wire_bytes(&self, mss: u32) -> u64 {
        self.connections.iter().map(|connection| connection.wire_bytes(mss)).sum()
    }
}
