//! Finds out whether the rows of a table are of one direction each: what the source sent to the destination.
//!
//! The names of columns do not tell: `src,dst,sport,dport,bytes` may be a connection with the bytes of its server, or what
//! one end sent. If the ends of some rows occur in the other order too, it is the latter.

use super::columns::Columns;
use super::draft::Draft;
use super::pairing::{End, Flags, Record, TCP, UDP};
use crate::traffic::connection::Kind;
use crate::traffic::datagrams::Amount;
use crate::units::Dur;
use std::collections::HashSet;

/// Payload of a full packet, for rows that count none.
const FULL: u64 = 1460;

/// Names of columns whose meaning is the sender.
const SENDERS: [&str; 8] = ["src", "src_ip", "srcip", "source", "saddr", "srcaddr", "orig_h", "id.orig_h"];

/// Rows with both ends, as far as they have come.
pub struct Ways {
    watches: bool,
    has_ports: bool,
    records: Vec<Record>,
}

/// What the rows are.
pub enum Reading {
    /// What the names of columns say.
    AsNamed,
    /// Rows of one direction each.
    Paired(Vec<Record>),
    /// Rows both ways that cannot be paired.
    Ambiguous,
}

/// Returns whether rows below a header may be of one direction each.
pub fn may_be(columns: &Columns, header: &[String]) -> bool {
    let is_sender = |place: usize| SENDERS.contains(&header[place].as_str());
    columns.client.is_some_and(is_sender)
        && columns.server.is_some()
        && columns.reverse.is_none()
        && columns.id.is_none()
}

/// Returns a port as a row has it, 0 for anything else.
pub fn port(text: &[u8]) -> u16 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl Ways {
    /// Returns the rows below this header, none yet.
    pub fn new(columns: &Columns, header: &[String]) -> Ways {
        let has_ports = columns.client_port.is_some() && columns.server_port.is_some();
        Ways { watches: may_be(columns, header), has_ports, records: Vec::new() }
    }

    /// Returns whether rows are to be added.
    pub fn is_watching(&self) -> bool {
        self.watches
    }

    /// Keeps the rows whose ends `keeps` accepts.
    pub fn retain(&mut self, keeps: impl Fn([End; 2]) -> bool) {
        self.records.retain(|record| keeps(record.ends));
    }

    /// Adds a row that was read as a connection; `ports` are those of its ends.
    pub fn add(&mut self, draft: &Draft, ports: [&[u8]; 2]) {
        let bytes = draft.writes.iter().map(|write| write.bytes).sum();
        let duration: Option<Dur> = draft.duration.into();
        let [source_port, destination_port] = ports.map(port);
        self.records.push(Record {
            from: draft.start,
            to: draft.start.saturating_add(duration.unwrap_or_default().0 as i64),
            kind: draft.kind,
            protocol: if draft.kind == Kind::Tcp { TCP } else { UDP },
            ends: [(draft.client, source_port), (draft.server, destination_port)],
            payload: [bytes, 0],
            sent: [Amount { packets: bytes.div_ceil(FULL), bytes }, Amount::default()],
            flags: Flags::default(),
            from_client: false,
            rtt: draft.rtt.into(),
            service: None,
            order: draft.order,
        });
    }

    /// Returns what the rows are.
    pub fn reading(self) -> Reading {
        let ends: HashSet<_> = self.records.iter().map(|record| record.ends).collect();
        let turned = ends
            .iter()
            .filter(|[first, second]| first != second && ends.contains(&[*second, *first]))
            .count();
        match (turned, self.has_ports) {
            (0, _) => Reading::AsNamed,
            (_, true) => Reading::Paired(self.records),
            // Hosts that serve each other have rows both ways, too.
            (turned, false) if 2 * turned >= ends.len() => Reading::Ambiguous,
            _ => Reading::AsNamed,
        }
    }
}
