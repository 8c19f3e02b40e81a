//! Makes connections of flow records: NetFlow's and the like, one for each direction or for both, and a new
//! one whenever the exporter cuts a flow.
//!
//! A record is no connection. Records of the same ends, whichever of them sent, belong together if at most
//! [`REST`] lies between them. Exporters end a flow that is silent for 15 s, so after that a record belongs
//! to the same connection if its flags have no SYN; if they are unknown, it is another connection. The bytes
//! that a server sends after such a silence without a request, as when it closes, are no transfer.

use super::assemble::Collector;
use super::class;
use super::draft::Draft;
use super::input::file_name;
use super::ledger::{Ledger, reason};
use super::options::Direction;
use super::orientation::Shares;
use crate::traffic::class::{FlowClass, FlowShape, Protocol};
use crate::traffic::connection::{Kind, Write, Writes};
use crate::traffic::datagrams::{Amount, Datagrams, Service};
use crate::traffic::note::{Note, NoteKind};
use crate::units::Dur;
use std::collections::{HashMap, HashSet};

/// Exporters end a flow after this silence, the usual inactive timeout, nanoseconds.
const REST: i64 = 15_000_000_000;
/// The most bytes that a server sends to close: an alert of TLS, a GOAWAY of HTTP/2, a farewell in text.
const LAST_WORDS: u64 = 256;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

/// An address, as numbered by the collector's hosts, and a port.
pub type End = (u32, u16);

/// The TCP flags of all packets of a record together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    const FIN: u8 = 0x01;
    const SYN: u8 = 0x02;
    const RST: u8 = 0x04;
    const LETTERS: &[u8; 8] = b"FSRPAUEC";

    /// Parses letters such as `...AP.SF`, or a number up to 255, decimal or after `0x`; other characters are ignored.
    /// No flags at all mean unknown flags.
    pub fn parse(text: &[u8]) -> Flags {
        let number = std::str::from_utf8(text).ok().and_then(|text| match text.strip_prefix("0x") {
            Some(hex) => u8::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        });
        let bit =
            |letter: &u8| Flags::LETTERS.iter().position(|known| known == letter).map_or(0, |bit| 1 << bit);
        Flags(number.unwrap_or_else(|| text.iter().map(bit).fold(0, |sum, bit| sum | bit)))
    }

    /// Returns whether any of these flags is set.
    fn has_any(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// Returns whether the record has flags.
    fn are_known(self) -> bool {
        self.0 != 0
    }
}

/// A flow record: the traffic between two ends within a time.
pub struct Record {
    pub from: i64,
    pub to: i64,
    pub kind: Kind,
    /// IP's protocol number; 0 if it is unknown.
    pub protocol: u8,
    /// Source and destination.
    pub ends: [End; 2],
    /// Payload that each end sent, and its packets with their IP lengths.
    pub payload: [u64; 2],
    pub sent: [Amount; 2],
    pub flags: Flags,
    /// Whether the source is known to be the client.
    pub from_client: bool,
    pub rtt: Option<Dur>,
    pub service: Option<crate::flow::Class>,
    /// Position in the file.
    pub order: u64,
}

/// The traffic of a connection between two silences.
#[derive(Debug, Clone, Copy)]
struct Part {
    from: i64,
    to: i64,
    payload: [u64; 2],
    sent: [Amount; 2],
    flags: Flags,
    rows: u64,
}

/// A connection while its records are added; the ends are in ascending order.
struct Flow {
    kind: Kind,
    protocol: u8,
    ends: [End; 2],
    parts: Vec<Part>,
    /// The time at which each end sent first, if it did.
    first: [Option<i64>; 2],
    /// Which ends have sent a SYN.
    opened: [bool; 2],
    /// The client's end, if a record shows it.
    client: Option<usize>,
    rtt: Option<Dur>,
    service: Option<crate::flow::Class>,
    order: u64,
}

/// Returns the unit by which all rows of a flow are sampled, whichever end comes first: the hash of the host
/// with the higher port, which is the client as far as one row shows it, and a number that most other flows
/// of this client do not have. `ends` are (hash of the host, port).
pub fn sampling_unit(ends: [(u64, u16); 2]) -> (u64, u64) {
    let [low, high] = if (ends[0].1, ends[0].0) < (ends[1].1, ends[1].0) { ends } else { [ends[1], ends[0]] };
    (high.0, u64::from(high.1) << 16 | u64::from(low.1))
}

/// Returns the [`sampling_unit`] of two ends whose hosts the collector has numbered.
pub fn sampling_unit_of_ends(ends: [End; 2], collector: &Collector) -> (u64, u64) {
    sampling_unit(ends.map(|(host, port)| (collector.hosts.hash(host), port)))
}

/// Adds the connections of a file's records, which may be in any order, to the collector, with notes on repeated rows
/// and on flows of one direction. Their rows, already admitted, are counted in `ledger` as used or left out.
pub fn add_records(records: Vec<Record>, ledger: &mut Ledger, collector: &mut Collector) {
    let before = records.len();
    let records = remove_duplicates(records, ledger);
    if records.len() < before {
        let (name, count) = (file_name(&ledger.path), (before - records.len()) as u64);
        let text = format!(
            "{name}: {count} rows stand twice, with the same ends, times and sizes; each counts once"
        );
        let note = Note::new(NoteKind::Doubled, Some(name), text);
        collector.add_note(Note { count: Some(count), ..note });
    }
    let flows = combine_records(records);
    let mut shares = Shares::default();
    for flow in &flows {
        shares.add(flow.ends, flow.known_client().map(|client| 1 - client));
    }
    let mut alone = 0;
    for flow in flows {
        alone += u64::from(flow.is_alone());
        let client = flow.find_client(&shares);
        flow.add_to_collector(client, ledger, collector);
    }
    if alone > 0 {
        let name = file_name(&ledger.path);
        let text = format!(
            "{name}: {alone} flows have rows of one direction only; the server is taken from the ports"
        );
        let note = Note::new(NoteKind::Doubt, Some(name), text);
        collector.add_note(Note { count: Some(alone), ..note });
    }
}

/// Sorts records by time and drops those that repeat another, as from two routers of one path or a repeated export.
/// Records without ports may be several flows, so they stay. The dropped ones are counted in `ledger`.
fn remove_duplicates(mut records: Vec<Record>, ledger: &mut Ledger) -> Vec<Record> {
    records.sort_by_key(|record| (record.from, record.order));
    let (mut now, mut seen) = (i64::MIN, HashSet::new());
    records.retain(|record| {
        if record.from != now {
            now = record.from;
            seen.clear();
        }
        let [from, to] = record.ends;
        let is_new = from.1 == 0
            || to.1 == 0
            || seen.insert((record.protocol, record.ends, record.to, record.payload, record.flags.0));
        if !is_new {
            ledger.skip(reason::TWICE, 1, record.payload[0].saturating_add(record.payload[1]));
        }
        is_new
    });
    records
}

/// Combines records, which are in order of time, into connections by their ends and protocol, in the order of their
/// first records.
fn combine_records(records: Vec<Record>) -> Vec<Flow> {
    let mut latest: HashMap<(u8, [End; 2]), usize> = HashMap::new();
    let mut flows: Vec<Flow> = Vec::new();
    for mut record in records {
        let is_turned = record.ends[0] > record.ends[1];
        if is_turned {
            record.ends.reverse();
            record.payload.reverse();
            record.sent.reverse();
        }
        let sender = usize::from(is_turned);
        let key = (record.protocol, record.ends);
        let known = latest.get(&key).copied().filter(|&place| flows[place].is_continued_by(&record, sender));
        let place = known.unwrap_or_else(|| {
            flows.push(Flow::new(&record));
            flows.len() - 1
        });
        latest.insert(key, place);
        flows[place].add(&record, sender);
    }
    flows
}

impl Flow {
    /// Returns a connection without parts, with the ends of a record.
    fn new(record: &Record) -> Flow {
        Flow {
            kind: record.kind,
            protocol: record.protocol,
            ends: record.ends,
            parts: Vec::new(),
            first: [None; 2],
            opened: [false; 2],
            client: None,
            rtt: None,
            service: None,
            order: record.order,
        }
    }

    /// Returns the last part; `None` before the first record.
    fn last_part(&self) -> Option<&Part> {
        self.parts.last()
    }

    /// Returns whether a record of `sender`, later than all before it, belongs to this connection.
    fn is_continued_by(&self, record: &Record, sender: usize) -> bool {
        let Some(last) = self.last_part() else { return true };
        let is_new = record.flags.has_any(Flags::SYN);
        let is_over = last.flags.has_any(Flags::FIN | Flags::RST) && record.from > last.to;
        if record.from.saturating_sub(last.to) <= REST {
            return !(is_new && is_over && self.opened[sender]);
        }
        let is_tcp = record.kind == Kind::Tcp;
        is_tcp && !is_new && (record.flags.are_known() || record.payload == [0; 2])
    }

    /// Adds a record of this connection, whose source is the end `sender`; a silence longer than [`REST`] begins a new
    /// part. The first record with a round trip or a service gives that of the connection.
    fn add(&mut self, record: &Record, sender: usize) {
        let starts = self.last_part().is_none_or(|last| record.from.saturating_sub(last.to) > REST);
        if starts {
            let (payload, sent) = ([0; 2], [Amount::default(); 2]);
            self.parts.push(Part {
                from: record.from,
                to: record.to,
                payload,
                sent,
                flags: Flags::default(),
                rows: 0,
            });
        }
        let last = self.parts.len() - 1;
        let part = &mut self.parts[last];
        part.to = part.to.max(record.to);
        part.rows += 1;
        part.flags.0 |= record.flags.0;
        for end in 0..2 {
            part.payload[end] = part.payload[end].saturating_add(record.payload[end]);
            part.sent[end] = part.sent[end].plus(record.sent[end]);
            let has_sent = end == sender || record.payload[end] > 0;
            self.first[end] = self.first[end].or(has_sent.then_some(record.from));
        }
        self.opened[sender] |= record.flags.has_any(Flags::SYN);
        if record.from_client {
            self.client.get_or_insert(sender);
        }
        self.rtt = self.rtt.or(record.rtt);
        self.service = self.service.or(record.service);
    }

    /// Returns whether only one end is known to have sent.
    fn is_alone(&self) -> bool {
        self.first.contains(&None) && self.client.is_none()
    }

    /// Returns the client, if a record names it or both SYNs were seen.
    fn known_client(&self) -> Option<usize> {
        let by_syn = match self.first {
            [Some(first), Some(second)] if self.opened == [true; 2] && first != second => {
                Some(usize::from(second < first))
            }
            _ => None,
        };
        self.client.or(by_syn)
    }

    /// Returns the client's end: as records show it, else by [`Shares::find_server_by_service`],
    /// else the end that sent first, else by [`Shares::find_server`].
    fn find_client(&self, shares: &Shares<u32>) -> usize {
        let by_time = match self.first {
            [Some(first), Some(second)] if first != second => Some(usize::from(second < first)),
            _ => None,
        };
        let by_service = || shares.find_server_by_service(self.ends).map(|server| 1 - server);
        let by_share = || shares.find_server(self.ends).map(|server| 1 - server);
        self.known_client().or_else(by_service).or(by_time).or_else(by_share).unwrap_or(0)
    }

    /// Returns whether in a part a server sends without a request, to close the connection or to keep it alive.
    fn is_closing(&self, part: &Part, client: usize) -> bool {
        let begins = part.from == self.parts[0].from;
        let is_of_both = part.sent.iter().all(|amount| amount.packets > 0);
        let is_torn = part.flags.has_any(Flags::FIN | Flags::RST) && !part.flags.has_any(Flags::SYN);
        let is_idle = part.payload[client] == 0 && part.payload[1 - client] <= LAST_WORDS;
        self.kind == Kind::Tcp && is_idle && (is_torn || !begins && is_of_both)
    }

    /// Returns the class of a flow by its sums and ports.
    fn classify(&self, parts: &[Part], client: usize, collector: &Collector) -> FlowClass {
        let protocol = match (self.kind, self.protocol) {
            (Kind::Tcp, _) => Protocol::Tcp,
            (Kind::Quic, _) => Protocol::Quic,
            (Kind::Datagrams, UDP) => Protocol::Udp,
            (Kind::Datagrams, number) => Protocol::Ip(number),
        };
        let by_role = [client, 1 - client];
        let totals = by_role.map(|end| {
            let packets: u64 = parts.iter().map(|part| part.sent[end].packets).sum();
            ((packets > 0).then_some(packets), parts.iter().map(|part| part.payload[end]).sum())
        });
        let shape = FlowShape::from_totals(
            protocol,
            by_role.map(|end| self.ends[end].1),
            Some(total_duration(parts)),
            totals,
        );
        let hosts = by_role.map(|end| collector.hosts.name(self.ends[end].0));
        collector.classify_flow(hosts, &shape)
    }

    /// Adds the flow to the collector as one connection, whose writes are the flow's parts. Its rows count as used in
    /// `ledger`; parts that only close it and flows without payload are counted as left out.
    fn add_to_collector(mut self, client: usize, ledger: &mut Ledger, collector: &mut Collector) {
        let server = 1 - client;
        let (sender, other) = match collector.options.direction {
            Direction::Down => (server, client),
            Direction::Up => (client, server),
        };
        let closing: Vec<bool> = self.parts.iter().map(|part| self.is_closing(part, client)).collect();
        let mut parts = std::mem::take(&mut self.parts);
        for (part, is_closing) in parts.iter().zip(&closing) {
            if *is_closing {
                ledger.skip(reason::CLOSING, part.rows, part.payload[sender]);
            }
        }
        let mut closing = closing.into_iter();
        parts.retain(|_| !closing.next().unwrap_or(false));
        let rows = parts.iter().map(|part| part.rows).sum();
        let writes = match self.kind {
            Kind::Tcp | Kind::Quic => {
                let reverse = parts.iter().map(|part| part.payload[other]);
                ledger.reverse_bytes = reverse.fold(ledger.reverse_bytes, u64::saturating_add);
                Writes::from(collect_writes(&parts, sender))
            }
            Kind::Datagrams => {
                let service = Service { protocol: self.protocol, port: self.ends[server].1, tunnel: None };
                let sum =
                    |end: usize| parts.iter().fold(Amount::default(), |sum, part| sum.plus(part.sent[end]));
                let amounts = [sender, other].map(sum).map(|sum| Amount::from_sums(sum.packets, sum.bytes));
                Writes::from_datagrams(Datagrams::from_sums(service, total_duration(&parts), amounts))
            }
        };
        let has_packets =
            writes.datagrams().is_some_and(|flow| flow.amount(false).packets + flow.amount(true).packets > 0);
        if writes.is_empty() && !has_packets {
            if rows > 0 {
                ledger.skip(reason::NO_PAYLOAD, rows, 0);
            }
            return;
        }
        ledger.used += rows;
        let flow_class = self.classify(&parts, client, collector);
        let (unit_client, connection) = sampling_unit_of_ends(self.ends, collector);
        let draft = Draft {
            start: parts[0].from,
            file: ledger.index as u32,
            order: self.order,
            rows: rows as u32,
            client: self.ends[client].0,
            server: self.ends[server].0,
            rtt: self.rtt.into(),
            duration: Some(total_duration(&parts)).into(),
            kind: self.kind,
            class: self.service.unwrap_or_else(|| class::classify_port(self.ends[server].1)),
            flow_class,
            server_think: Default::default(),
            writes,
            pages: None,
        };
        collector.push_as(draft, unit_client, connection);
    }
}

/// Returns the time from the beginning of the first part to the end of the last; 0 for none.
fn total_duration(parts: &[Part]) -> Dur {
    let (from, to) = (parts.first().map_or(0, |part| part.from), parts.last().map_or(0, |part| part.to));
    Dur(to.saturating_sub(from).max(0) as u64)
}

/// Returns a write for each part in which `sender` sent payload; the pause before it is the time
/// since the end of the last such part.
fn collect_writes(parts: &[Part], sender: usize) -> Vec<Write> {
    let mut writes = Vec::new();
    let mut free_at = None;
    for part in parts.iter().filter(|part| part.payload[sender] > 0) {
        let idle = free_at.map_or(Dur::ZERO, |free: i64| Dur(part.from.saturating_sub(free).max(0) as u64));
        writes.push(Write { idle, bytes: part.payload[sender] });
        free_at = Some(part.to);
    }
    writes
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn flags__as_exporters_write_them() {
        let both = Flags(Flags::SYN | Flags::FIN | 0x10);
        assert_eq!(
            ["....A.SF", "...AF..S".trim(), "0x13", "19"].map(|text| Flags::parse(text.as_bytes())),
            [both; 4]
        );
        assert!(!Flags::parse(b"........").are_known() && !Flags::parse(b"").are_known());
    }
}
