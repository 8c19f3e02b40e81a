//! NetFlow and IPFIX records as nfdump writes them with `-o csv`: one row for each direction of a flow, or for both
//! (`-b`, `-B`), and a new row whenever the exporter's active timeout cuts a long flow.
//!
//! Columns of nfdump 1.6 (`ts,te,td,sa,da,sp,dp,pr,…,ipkt,ibyt,opkt,obyt,…`) and of 1.7
//! (`firstSeen,duration,proto,srcAddr,…,packets,bytes,flows`). Bytes are IP lengths, so the headers of each
//! packet are taken off: 40 B of TCP, 28 B of QUIC; TCP options and IPv6 headers count as payload. What is neither is a
//! flow of datagrams, packets of equal length at equal distances.

use super::assemble::Collector;
use super::class;
use super::columns;
use super::draft::Draft;
use super::input::Input;
use super::input::base;
use super::ledger::{Ledger, reason};
use super::lines::Lines;
use super::options::{Direction, RowResult};
use super::stamp::{self, Unit};
use crate::error::{Error, Result};
use crate::traffic::class::{FlowClass, FlowShape, Protocol};
use crate::traffic::connection::{HEADER_BYTES, Kind, Writes};
use crate::traffic::datagrams::{Amount, Datagrams, Service, UDP_HEADERS};
use crate::units::Dur;
use std::collections::HashMap;

/// A row that begins later than this after the rows of the same ends is another connection: exporters report a
/// flow that is silent for 15 s, the usual inactive timeout, as over.
const REST: i64 = 15_000_000_000;
const QUIC_PORT: u16 = 443;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
/// nfdump's names of protocols; others are given by number.
const PROTOCOLS: &[(&str, u8)] = &[
    ("icmp", 1),
    ("igmp", 2),
    ("ipip", 4),
    ("tcp", TCP),
    ("udp", UDP),
    ("ipv6", 41),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("icmp6", 58),
    ("ospf", 89),
    ("sctp", SCTP),
];

/// The columns that are read.
#[derive(Debug, Clone, Copy)]
struct Layout {
    width: usize,
    start: usize,
    end: Option<usize>,
    duration: Option<usize>,
    protocol: usize,
    /// Address and port of the sender, then of the receiver.
    ends: [(usize, usize); 2],
    /// Packets and bytes from the sender.
    sent: (usize, usize),
    /// And towards it.
    answered: Option<(usize, usize)>,
}

/// An address, as numbered by the collector's hosts, and a port.
type End = (u32, u16);

/// A row: what one end sent to the other within a time.
struct Row {
    from: i64,
    to: i64,
    kind: Kind,
    /// IP's protocol number, 0 for one without a name here.
    protocol: u8,
    /// Sender and receiver.
    ends: [End; 2],
    /// What each sent.
    sent: [Amount; 2],
}

/// A connection as far as its rows have come; the ends are in ascending order.
struct Flow {
    from: i64,
    to: i64,
    kind: Kind,
    protocol: u8,
    ends: [End; 2],
    /// What each end sent.
    sent: [Amount; 2],
    /// When each end sent first, if it did.
    first: [Option<i64>; 2],
    /// Position in the file, and number of rows.
    order: u64,
    rows: u64,
}

/// Returns whether a line is nfdump's header.
pub fn is_header(line: &[u8]) -> bool {
    Layout::of(line).is_some()
}

/// Reads the whole file. Rows may be in any order.
///
/// # Errors
/// A row's fault when reading strictly; [`Error::File`] without a header.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let mut lines = Lines::new(input);
    let mut layout = None;
    let mut rows = Vec::new();
    while let Some(line) = lines.advance() {
        let text = line.text.trim_ascii();
        let Some(layout) = layout else {
            layout = Layout::of(text);
            continue;
        };
        if text == b"Summary" {
            // The sums of all rows follow; nothing else may.
            break;
        }
        // Files that were joined have a header each.
        if text.is_empty() || is_header(text) {
            continue;
        }
        ledger.rows += 1;
        match row(text, &layout, ledger, collector) {
            Ok(row) => rows.push((row, ledger.rows)),
            Err(problem) => ledger.fault(line.number, problem)?,
        }
    }
    if layout.is_none() {
        return Err(Error::file(&path, "no line names the columns as nfdump -o csv does"));
    }
    let first = collector.connections.len();
    let mut alone = 0;
    for flow in flows(rows) {
        alone += u64::from(flow.first.contains(&None));
        add(&flow, ledger, collector);
    }
    if alone > 0 {
        collector.note(format!(
            "{}: {alone} flows have rows of one direction only; the end with the lower port is taken for the server",
            base(&path)
        ));
    }
    collector.note(format!(
        "{}: NetFlow counts IP bytes; {HEADER_BYTES} B of headers per TCP packet ({UDP_HEADERS} B per packet of QUIC) \
         are taken off",
        base(&path)
    ));
    collector.spread_whole_seconds(first, ledger);
    Ok(())
}

impl Layout {
    fn of(line: &[u8]) -> Option<Layout> {
        let names = columns::names(line.split(|&c| c == b','));
        let find = |name: &str| names.iter().position(|have| have == name);
        let both = |a: &str, b: &str| Some((find(a)?, find(b)?));
        let ends = |a: [&str; 2], b: [&str; 2]| Some([both(a[0], a[1])?, both(b[0], b[1])?]);
        let width = names.len();
        if let Some(ends) = ends(["sa", "sp"], ["da", "dp"]) {
            return Some(Layout {
                width,
                start: find("ts")?,
                end: find("te"),
                duration: find("td"),
                protocol: find("pr")?,
                ends,
                sent: both("ipkt", "ibyt")?,
                answered: both("opkt", "obyt"),
            });
        }
        Some(Layout {
            width,
            start: find("firstseen")?,
            end: find("lastseen"),
            duration: find("duration"),
            protocol: find("proto")?,
            ends: ends(["srcaddr", "srcport"], ["dstaddr", "dstport"])?,
            sent: both("packets", "bytes").or_else(|| both("inpackets", "inbytes"))?,
            answered: both("outpackets", "outbytes"),
        })
    }
}

fn row(text: &[u8], layout: &Layout, ledger: &Ledger, collector: &mut Collector) -> RowResult<Row> {
    let cells: Vec<&[u8]> = text.split(|&c| c == b',').map(<[u8]>::trim_ascii).collect();
    if cells.len() != layout.width {
        return Err(format!("{} columns where the header has {}", cells.len(), layout.width));
    }
    let at = stamp::stamp(cells[layout.start], Unit::S)?;
    let span = match (layout.duration, layout.end) {
        (Some(column), _) => stamp::span("duration", cells[column], Unit::S)?,
        (None, Some(column)) => {
            let end = stamp::stamp(cells[column], Unit::S)?;
            Some(Dur(end.ns.saturating_sub(at.ns).max(0) as u64))
        }
        (None, None) => None,
    };
    let number = |name: &str, column: usize| stamp::bytes(name, cells[column]).map(Option::unwrap_or_default);
    let sent = (number("packets", layout.sent.0)?, number("bytes", layout.sent.1)?);
    let answered = match layout.answered {
        Some((packets, bytes)) => (number("packets", packets)?, number("bytes", bytes)?),
        None => (0, 0),
    };
    if cells[layout.protocol].is_empty() {
        return Err("the row has no protocol".to_string());
    }
    let protocol = protocol(cells[layout.protocol]);
    let [(sender, sport), (receiver, dport)] = layout.ends;
    let ports = [port(cells[sport], protocol)?, port(cells[dport], protocol)?];
    let kind = match protocol {
        TCP => Kind::Tcp,
        UDP if ports.contains(&QUIC_PORT) => Kind::Quic,
        _ => Kind::Datagrams,
    };
    if cells[sender].is_empty() || cells[receiver].is_empty() {
        return Err("the row has no address".to_string());
    }
    collector.saw_stamp(ledger.index, at.whole);
    let amount = |(packets, bytes): (u64, u64)| Amount { packets, bytes };
    Ok(Row {
        from: at.ns,
        to: at.ns.saturating_add(span.unwrap_or_default().0 as i64),
        kind,
        protocol,
        ends: [
            (collector.hosts.id(cells[sender]), ports[0]),
            (collector.hosts.id(cells[receiver]), ports[1]),
        ],
        sent: [amount(sent), amount(answered)],
    })
}

/// Returns the number of a protocol that is given by number or by name; 0 for a name that is not known.
fn protocol(text: &[u8]) -> u8 {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let named = PROTOCOLS.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
    named.or_else(|| text.parse().ok()).unwrap_or(0)
}

/// Returns a port. nfdump writes type and code of ICMP in its place, such as `8.0`; they name no flow.
fn port(text: &[u8], protocol: u8) -> RowResult<u16> {
    if !matches!(protocol, TCP | UDP | SCTP) {
        return Ok(0);
    }
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("port \"{}\" is not allowed; 0 to 65535 is", super::lines::shown(text)))
}

/// Combines the rows of the same ends, whichever of them sent, where less than [`REST`] lies between.
fn flows(mut rows: Vec<(Row, u64)>) -> Vec<Flow> {
    rows.sort_by_key(|(row, order)| (row.from, *order));
    let mut latest: HashMap<(u8, [End; 2]), usize> = HashMap::new();
    let mut flows: Vec<Flow> = Vec::new();
    for (mut row, order) in rows {
        let is_turned = row.ends[0] > row.ends[1];
        if is_turned {
            row.ends.reverse();
            row.sent.reverse();
        }
        let key = (row.protocol, row.ends);
        let known = latest.get(&key).copied();
        let place =
            known.filter(|&place| row.from.saturating_sub(flows[place].to) <= REST).unwrap_or_else(|| {
                let Row { from, to, kind, protocol, ends, .. } = row;
                let (sent, first) = ([Amount::default(); 2], [None; 2]);
                flows.push(Flow { from, to, kind, protocol, ends, sent, first, order, rows: 0 });
                flows.len() - 1
            });
        latest.insert(key, place);
        let flow = &mut flows[place];
        flow.to = flow.to.max(row.to);
        flow.rows += 1;
        for end in 0..2 {
            flow.sent[end] = flow.sent[end].plus(row.sent[end]);
            let has_sent = (end == 1) == is_turned || row.payload(end) > 0;
            flow.first[end] = flow.first[end].or(has_sent.then_some(row.from));
        }
    }
    flows
}

impl Row {
    fn payload(&self, end: usize) -> u64 {
        payload(self.kind, self.sent[end])
    }
}

/// Returns the payload of packets: IP lengths less the headers.
fn payload(kind: Kind, Amount { packets, bytes }: Amount) -> u64 {
    let header = if kind == Kind::Tcp { HEADER_BYTES } else { UDP_HEADERS };
    bytes.saturating_sub(packets.saturating_mul(header))
}

impl Flow {
    /// Returns which end is the client: the one that sent first; if that is not known, the one with the higher port.
    fn client(&self) -> usize {
        match self.first {
            [Some(first), Some(second)] if first != second => usize::from(second < first),
            _ => usize::from(self.ends[1].1 > self.ends[0].1),
        }
    }

    fn class(&self, client: usize, collector: &Collector) -> FlowClass {
        let protocol = match (self.kind, self.protocol) {
            (Kind::Tcp, _) => Protocol::Tcp,
            (Kind::Quic, _) => Protocol::Quic,
            (Kind::Datagrams, UDP) => Protocol::Udp,
            (Kind::Datagrams, number) => Protocol::Ip(number),
        };
        let by_role = [client, 1 - client];
        let duration = Dur(self.to.saturating_sub(self.from).max(0) as u64);
        let totals = by_role.map(|end| (Some(self.sent[end].packets), payload(self.kind, self.sent[end])));
        let shape =
            FlowShape::of_totals(protocol, by_role.map(|end| self.ends[end].1), Some(duration), totals);
        let hosts = by_role.map(|end| collector.hosts.name(self.ends[end].0));
        collector.flow_class(hosts, &shape)
    }
}

fn add(flow: &Flow, ledger: &mut Ledger, collector: &mut Collector) {
    let client = flow.client();
    let server = 1 - client;
    let sent = match collector.options.direction {
        Direction::Down => [flow.sent[server], flow.sent[client]],
        Direction::Up => [flow.sent[client], flow.sent[server]],
    };
    let [bytes, reverse] = sent.map(|amount| payload(flow.kind, amount));
    let duration = Dur(flow.to.saturating_sub(flow.from).max(0) as u64);
    let is_empty = match flow.kind {
        Kind::Tcp | Kind::Quic => {
            ledger.reverse_bytes = ledger.reverse_bytes.saturating_add(reverse);
            bytes == 0
        }
        Kind::Datagrams => sent.iter().all(|amount| amount.packets == 0),
    };
    if is_empty {
        ledger.skip(reason::NO_PAYLOAD, flow.rows, 0);
        return;
    }
    let writes = match flow.kind {
        Kind::Tcp | Kind::Quic => Writes::one(bytes),
        Kind::Datagrams => {
            let service = Service { protocol: flow.protocol, port: flow.ends[server].1, tunnel: None };
            let amounts = sent.map(|amount| Amount::of_sums(amount.packets, amount.bytes));
            Writes::of_datagrams(Datagrams::even(service, duration, amounts))
        }
    };
    ledger.used += flow.rows;
    let flow_class = flow.class(client, collector);
    collector.connections.push(Draft {
        start: flow.from,
        file: ledger.index as u32,
        order: flow.order,
        client: flow.ends[client].0,
        server: flow.ends[server].0,
        rtt: None.into(),
        duration: Some(duration).into(),
        kind: flow.kind,
        class: class::of_port(flow.ends[server].1),
        flow_class,
        server_think: Default::default(),
        writes,
        pages: None,
    });
}
