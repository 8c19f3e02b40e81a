//! The account of one file: rows read, used, left out and not understood.

use super::clock::RowClock;
use super::reason::Reason;
use crate::error::{Error, Result};
use crate::traffic::CaptureCounts;
use std::collections::BTreeMap;

/// Share of rows that may be faulty before the file is refused.
const MAX_FAULTS: f64 = 0.05;

/// Reasons for leaving rows out; fixed phrases, so that they add up over files.
pub mod reason {
    pub const NO_PAYLOAD: &str = "no payload in this direction";
    pub const OTHER_UDP: &str = "UDP other than port 443";
    pub const OTHER_PROTOCOL: &str = "neither TCP nor UDP";
    pub const NOT_IP: &str = "not IP";
    pub const LLC: &str = "802.2 LLC without IP (such as spanning tree)";
    pub const MPLS: &str = "MPLS without IP or Ethernet inside";
    pub const LOST_FRAGMENT: &str = "IP fragment that no first fragment precedes";
    pub const TUNNEL_FRAGMENT: &str = "IP fragment of a tunnel, whose payload its first fragment counts";
    pub const CUT: &str = "cut by the capture before the end of its headers";
    pub const RUNT: &str = "shorter on the wire than its headers";
    pub const DEEP: &str = "more headers inside one another than any packet has";
    pub const OBSOLETE_BLOCK: &str = "packet block of pcapng's obsolete form";
    pub const REPEATED_UID: &str = "uid seen before";
    pub const COUNTS_DISAGREE: &str = "payload bytes exceed IP bytes (sequence number artefact)";
    pub const ANNOUNCED: &str = "size announced, not received";
    pub const NO_CONNECTION: &str = "ssl.log or quic.log without the row of conn.log";
    pub const NOT_NETWORK: &str = "not from the network (data: and blob: URLs and the like)";
    pub const CACHED: &str = "from the browser's cache";
    pub const NO_ANSWER: &str = "request without an answer (status 0)";
    pub const NO_SIZE: &str = "size not recorded";
    pub const OTHER_LOG: &str = "row of another Zeek log";
    pub const NOT_SAMPLED: &str = "client not in the sample that memory holds";
    pub const OTHER_ROW: &str = "row of another kind than those that are read";
    pub const NOT_CARRIED: &str = "answered by the proxy itself, so not carried by its link";
    pub const CLOSING: &str = "close or keep-alive after silence, no transfer";
    pub const DOT11_OTHER: &str = "802.11 management and control";
    pub const DOT11_EMPTY: &str = "802.11 data without content";
    pub const DOT11_PROTECTED: &str = "encrypted 802.11 data (airdecap-ng decrypts it)";
    pub const DOT11_AGGREGATE: &str = "802.11 aggregate of several packets (A-MSDU)";
    pub const CAPWAP_OTHER: &str = "CAPWAP keep-alive";
    pub const COPY: &str = "connection seen again behind a translation of addresses";
    pub const TWICE: &str = "row that stands twice";
    pub const NO_TIME: &str = "packet without time stamp";
}

/// The account of one file; see [`crate::traffic::Source`] for the fields that are reported.
pub struct Ledger {
    pub path: String,
    pub index: usize,
    pub kind: String,
    pub sha256: String,
    pub rows: u64,
    pub used: u64,
    pub faults: u64,
    pub first_fault: Option<Error>,
    /// Rows that were left out, by reason.
    pub skipped: BTreeMap<Reason, LeftOut>,
    /// Packets and bytes on the wire, if the file is a capture.
    pub capture: Option<CaptureCounts>,
    /// A hash of the content, however it is stored; files with the same hash have the same content.
    pub content: Option<[u8; 32]>,
    /// The time stamps of a log's rows.
    pub clock: RowClock,
    /// Payload bytes seen against the chosen direction.
    pub reverse_bytes: u64,
    strict: bool,
    forgiven: u64,
}

/// Counts of rows that were left out for one reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Whole connections, if the file shows them.
    pub connections: u64,
    pub rows: u64,
    pub bytes: u64,
}

impl LeftOut {
    /// Adds the counts of another entry.
    pub fn add(&mut self, other: LeftOut) {
        self.connections += other.connections;
        self.rows += other.rows;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Ledger {
    /// Returns an empty account of the `index`-th file.
    pub fn new(path: &str, index: usize, kind: &str, strict: bool) -> Ledger {
        Ledger {
            path: path.to_string(),
            index,
            kind: kind.to_string(),
            sha256: String::new(),
            rows: 0,
            used: 0,
            faults: 0,
            first_fault: None,
            skipped: BTreeMap::new(),
            capture: None,
            content: None,
            clock: RowClock::default(),
            reverse_bytes: 0,
            strict,
            forgiven: 0,
        }
    }

    /// Counts `rows` rows as left out. `bytes` are their payload in a log, or their bytes on the wire in a capture.
    pub fn skip(&mut self, reason: impl Into<Reason>, rows: u64, bytes: u64) {
        self.skipped.entry(reason.into()).or_default().add(LeftOut { connections: 0, rows, bytes });
    }

    /// Counts a connection of `rows` packets and `bytes` on the wire as left out; [`Ledger::skip`] counts none.
    pub fn skip_connection(&mut self, reason: impl Into<Reason>, rows: u64, bytes: u64) {
        self.skipped.entry(reason.into()).or_default().add(LeftOut { connections: 1, rows, bytes });
    }

    /// Counts a row at this line that cannot be understood, and stores the first such fault.
    ///
    /// # Errors
    /// The fault itself when reading strictly.
    pub fn count_fault(&mut self, line: u64, problem: impl Into<String>) -> Result<()> {
        let error = Error::Row { file: self.path.clone(), line, problem: problem.into() };
        self.faults += 1;
        if self.strict {
            return Err(error);
        }
        self.first_fault.get_or_insert(error);
        Ok(())
    }

    /// Counts a fault that does not cast doubt on other rows (a file that ends in mid-row), so that it does not count
    /// towards the share above which a file is refused.
    ///
    /// # Errors
    /// The fault itself when reading strictly.
    pub fn count_fault_at_end(&mut self, line: u64, problem: impl Into<String>) -> Result<()> {
        self.forgiven += 1;
        self.count_fault(line, problem)
    }

    /// Checks that at most the share [`MAX_FAULTS`] of the rows is faulty, without those of
    /// [`Ledger::count_fault_at_end`]. Call it when all rows are counted.
    ///
    /// # Errors
    /// [`Error::Row`] of the first fault, with the count.
    pub fn check(&self) -> Result<()> {
        let faults = self.faults - self.forgiven;
        if faults as f64 <= MAX_FAULTS * self.rows as f64 {
            return Ok(());
        }
        let Some(Error::Row { file, line, problem }) = self.first_fault.clone() else { return Ok(()) };
        let share = 100.0 * faults as f64 / self.rows.max(1) as f64;
        let many =
            format!("{faults} of {} rows cannot be used ({share:.1} %, at most 5 % is allowed)", self.rows);
        Err(Error::Row { file, line, problem: format!("{problem}; {many}") })
    }
}

/// Returns a number with its noun, which takes an s in the plural: `1 page`, `2 pages`.
pub fn count_text(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
