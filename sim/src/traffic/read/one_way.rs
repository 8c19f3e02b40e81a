//! Detects whether the rows of a table are of one direction each, with the bytes that the source sent to the
//! destination.
//!
//! The names of columns do not show it: `src,dst,sport,dport,bytes` may be a connection with the bytes of its
//! server, or the bytes that one end sent. If the ends of some rows occur in the other order too, it is the
//! latter.

use super::columns::{self, Columns};
use super::draft::Draft;
use super::orientation::FIRST_USER_PORT;
use super::pairing::{End, Flags, Record, TCP, UDP};
use crate::traffic::connection::Kind;
use crate::traffic::datagrams::Amount;
use crate::units::Dur;
use std::collections::HashSet;

/// Payload of a full packet, by which packets are estimated, bytes.
const FULL: u64 = 1460;

/// The ports of the rows so far, which were read as connections.
pub struct Ways {
    watches: bool,
    has_ports: bool,
    /// The position of each row, and the ports of source and destination.
    rows: Vec<(u64, [u16; 2])>,
}

/// The meaning of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As the names of columns say.
    AsNamed,
    /// As the names of columns say, but no row goes back from a destination.
    NoneBack,
    /// Rows of one direction each.
    Paired,
    /// Rows both ways that cannot be paired.
    Ambiguous,
}

/// Returns whether rows below a header may be of one direction each.
pub fn may_be_one_way(columns: &Columns, header: &[String]) -> bool {
    columns.client.is_some_and(|place| columns::is_sender(header, place))
        && columns.server.is_some()
        && columns.reverse.is_none()
        && columns.id.is_none()
}

impl Ways {
    /// Returns an empty set of rows below this header; it watches only if they may be of one direction each.
    pub fn new(columns: &Columns, header: &[String]) -> Ways {
        let has_ports = columns.client_port.is_some() && columns.server_port.is_some();
        Ways { watches: may_be_one_way(columns, header), has_ports, rows: Vec::new() }
    }

    /// Returns whether rows are to be added.
    pub fn is_watching(&self) -> bool {
        self.watches
    }

    /// Drops the rows that are no longer among `drafts`; both are in the order of the file.
    pub fn retain(&mut self, drafts: &[Draft]) {
        let mut drafts = drafts.iter().peekable();
        self.rows.retain(|(order, _)| {
            while drafts.next_if(|draft| draft.order < *order).is_some() {}
            drafts.next_if(|draft| draft.order == *order).is_some()
        });
    }

    /// Adds a row that was read as a connection, in the order of the file; `ports` are those of source and destination,
    /// 0 where unknown.
    pub fn add(&mut self, draft: &Draft, ports: [u16; 2]) {
        self.has_ports |= ports != [0; 2];
        self.rows.push((draft.order, ports));
    }

    /// Decides what the rows mean; `drafts` are the same rows as connections, in the same order. Rows as named if it
    /// does not watch or there are none.
    pub fn decide_reading(&self, drafts: &[Draft]) -> Reading {
        if !self.watches || self.rows.is_empty() {
            return Reading::AsNamed;
        }
        let ends: HashSet<[End; 2]> =
            drafts.iter().zip(&self.rows).map(|(draft, row)| row_ends(draft, row.1)).collect();
        let turned = ends
            .iter()
            .filter(|[first, second]| first != second && ends.contains(&[*second, *first]))
            .count();
        let is_from_server = |(_, [source, destination]): &&(u64, [u16; 2])| {
            (1..FIRST_USER_PORT).contains(source) && *destination >= FIRST_USER_PORT
        };
        let from_servers = self.rows.iter().filter(is_from_server).count();
        match (turned, self.has_ports) {
            (0, true) if 2 * from_servers > self.rows.len() => Reading::Paired,
            (0, _) => Reading::NoneBack,
            (_, true) => Reading::Paired,
            // Hosts that serve each other have rows both ways, too.
            (turned, false) if 2 * turned >= ends.len() => Reading::Ambiguous,
            _ => Reading::AsNamed,
        }
    }

    /// Converts the rows, which were read as the connections `drafts` in the same order, to records. The last come
    /// first, so that memory holds each row once.
    pub fn into_records(mut self, mut drafts: Vec<Draft>) -> Vec<Record> {
        let mut records = Vec::with_capacity(drafts.len());
        while let Some((draft, (_, ports))) = drafts.pop().zip(self.rows.pop()) {
            records.push(to_record(&draft, ports));
            if drafts.len() < drafts.capacity() / 2 {
                drafts.shrink_to_fit();
            }
        }
        records
    }
}

/// Returns source and destination of a row.
fn row_ends(draft: &Draft, [source, destination]: [u16; 2]) -> [End; 2] {
    [(draft.client, source), (draft.server, destination)]
}

/// Returns a connection as a record of one direction, from client to server; packets are estimated from full ones.
fn to_record(draft: &Draft, ports: [u16; 2]) -> Record {
    let bytes = draft.writes.iter().map(|write| write.bytes).sum();
    let duration: Option<Dur> = draft.duration.into();
    Record {
        from: draft.start,
        to: draft.start.saturating_add(duration.unwrap_or_default().0 as i64),
        kind: draft.kind,
        protocol: if draft.kind == Kind::Tcp { TCP } else { UDP },
        ends: row_ends(draft, ports),
        payload: [bytes, 0],
        sent: [Amount { packets: bytes.div_ceil(FULL), bytes }, Amount::default()],
        flags: Flags::default(),
        from_client: false,
        rtt: draft.rtt.into(),
        service: None,
        order: draft.order,
    }
}
