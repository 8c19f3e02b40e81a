//! Traffic: the connections of a run and their writes, before any packet is sent.
//!
//! [`read`] turns files into a [`Traffic`], [`summary`] says what was understood, [`overlay`] loads a
//! link with it, and [`model`] draws traffic from a published model instead.

pub mod class;
pub mod connection;
pub mod datagrams;
pub mod fitted;
pub mod model;
pub mod note;
pub mod overlay;
pub mod part;
pub mod read;
mod resample;
mod sharing;
pub mod split;
pub mod summary;
pub mod together;
pub mod waiting;

use connection::{Connection, PageOf};
use note::Note;
use serde::{Deserialize, Serialize};

/// Connections in order of their start, and an account of where they came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    /// The connections, by start; the first starts at zero.
    pub connections: Vec<Connection>,
    /// One entry per input file, in the order given.
    pub sources: Vec<Source>,
    /// Rows that were understood and left out, by reason, over all files.
    pub skipped: Vec<Skipped>,
    /// Remarks on the files and on choices made while reading.
    pub notes: Vec<Note>,
    /// Rows that could not be understood, over all files.
    pub faults: Faults,
    /// Number of client hosts; clients are numbered from 0 by first appearance.
    pub clients: u32,
    /// Number of server hosts; servers are numbered from 0 by first appearance.
    pub servers: u32,
    /// Which writes make up a page, if the source says so.
    pub pages: Pages,
    /// Sources by number and the positions of their connections, if this combines several traffics; see
    /// [`part`].
    pub parts: Vec<(u16, std::ops::Range<u32>)>,
    /// One of 2^`level` clients is here, since memory does not hold all; 0 if all are.
    pub level: u8,
}

/// The pages of a traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// For each connection the page of each write, from 1; 0 or a missing entry means no page.
    by_connection: Vec<Box<[u32]>>,
    /// How many writes each page has.
    transfers: Vec<u16>,
}

impl Pages {
    /// Builds pages from the page number of each write, one item per connection in their order; pages count
    /// from 1, and 0 is none.
    pub fn new(pages: impl Iterator<Item = Box<[u32]>>) -> Pages {
        let by_connection: Vec<Box<[u32]>> = pages.collect();
        let Some(last) = by_connection.iter().flatten().max() else { return Pages::default() };
        let mut transfers = vec![0u16; *last as usize + 1];
        for &page in by_connection.iter().flatten() {
            transfers[page as usize] = transfers[page as usize].saturating_add(1);
        }
        Pages { by_connection, transfers }
    }

    /// Returns the page of a write, from 1, and the number of writes on that page; zeros if the write has no
    /// page.
    pub fn find_page(&self, connection: u32, write: u32) -> (u32, u16) {
        let pages = self.by_connection.get(connection as usize);
        match pages.and_then(|pages| pages.get(write as usize)) {
            Some(&page @ 1..) => (page, self.transfers[page as usize]),
            _ => (0, 0),
        }
    }

    /// Returns how many pages have at least one write.
    pub fn count(&self) -> usize {
        self.transfers.iter().skip(1).filter(|&&transfers| transfers > 0).count()
    }
}

/// One input file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// The file's name without its folders.
    pub name: String,
    /// SHA-256 of the file's bytes as stored (before decompression), in hexadecimal.
    pub sha256: String,
    /// Recognised format of the content, such as `pcap` or `zeek-conn`.
    pub kind: String,
    /// Rows of data: lines of a log, packets of a capture.
    pub rows: u64,
    /// Rows that went into connections.
    pub used: u64,
    /// Rows that could not be understood.
    pub faults: u64,
    /// The first of them, as `file:line: what`.
    pub first_fault: Option<String>,
    /// Packets and bytes, if the file is a capture.
    pub capture: Option<CaptureCounts>,
}

/// Counts of a capture's contents, before a direction is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureCounts {
    /// Bytes of all packets on the wire.
    pub bytes: u64,
    /// Bytes on the wire of the packets that went into connections.
    pub used_bytes: u64,
    /// TCP connections, with and without payload.
    pub tcp_connections: u64,
    /// Their packets.
    pub tcp_packets: u64,
    /// Their payload in both directions, repetitions counted once.
    pub tcp_bytes: u64,
    /// Flows of QUIC.
    pub quic_flows: u64,
    /// Their packets.
    pub quic_packets: u64,
    /// Their payload in both directions.
    pub quic_bytes: u64,
    /// Flows of datagrams: all but TCP and QUIC.
    pub datagram_flows: u64,
    /// Their packets.
    pub datagram_packets: u64,
    /// Their IP lengths in both directions.
    pub datagram_bytes: u64,
}

/// Rows left out for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skipped {
    /// Why, as a phrase.
    pub reason: String,
    /// Whole connections among them, if the file shows them.
    pub connections: u64,
    /// How many rows (packets of a capture).
    pub rows: u64,
    /// Bytes: for a log the payload in the chosen direction, if the row has it; for a capture all bytes on the wire.
    pub bytes: u64,
}

/// Rows that could not be understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Faults {
    /// How many.
    pub count: u64,
    /// The first one, as `file:line: what`.
    pub first: Option<String>,
}

impl Traffic {
    /// Builds traffic from complete connections: sorts them by start, moves the first start to zero, and counts hosts
    /// up to the highest numbers. It has no sources, notes or pages.
    pub fn from_connections(mut connections: Vec<Connection>) -> Traffic {
        connections.sort_by_key(|connection| connection.start);
        let first = connections.first().map_or(0, |connection| connection.start.0);
        connections.iter_mut().for_each(|connection| connection.start.0 -= first);
        let clients = connections.iter().map(|connection| connection.client + 1).max().unwrap_or(0);
        let servers = connections.iter().map(|connection| connection.server + 1).max().unwrap_or(0);
        Traffic { connections, clients, servers, ..Traffic::default() }
    }

    /// Returns the page of a write in copy `copy` of this traffic; the default page, key 0, if it has none.
    pub fn page(&self, copy: u64, connection: u32, write: u32) -> PageOf {
        match self.pages.find_page(connection, write) {
            (0, _) => PageOf::default(),
            (page, transfers) => PageOf { key: copy << 32 | u64::from(page), transfers },
        }
    }
}
