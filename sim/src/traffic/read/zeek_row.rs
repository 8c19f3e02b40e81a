//! The meaning of a row of a Zeek log, in TSV or JSON form.
//!
//! Field names and types: Zeek's documentation of `Conn::Info`, `HTTP::Info`, `SSL::Info` and `QUIC::Info`.
//! `resp_bytes` comes from sequence numbers and may be far too large after a reset; where the counted IP bytes
//! contradict it, the row is left out.

use super::assemble::Collector;
use super::class;
use super::draft::Draft;
use super::hosts;
use super::ledger::{Ledger, reason};
use super::options::{Direction, RowResult};
use super::sampling;
use super::spec::Dates;
use super::stamp::{self, Stamp, Unit};
use super::zeek_store::{Hint, HttpRow, connection_key, hash_uid};
use crate::error::Result;
use crate::traffic::class::{FlowClass, FlowShape, Protocol};
use crate::traffic::connection::{Kind, Writes};
use crate::traffic::datagrams::{Amount, Datagrams, MOST_BYTES, Service, UDP_HEADERS};
use crate::units::Dur;

/// A kind of Zeek log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Conn,
    Http,
    Ssl,
    Quic,
}

impl Log {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Log::Conn => "zeek-conn",
            Log::Http => "zeek-http",
            Log::Ssl => "zeek-ssl",
            Log::Quic => "zeek-quic",
        }
    }
}

/// The fields of a row that are used, as text; empty if the row has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'a> {
    pub ts: &'a [u8],
    pub uid: &'a [u8],
    pub client: &'a [u8],
    pub server: &'a [u8],
    pub proto: &'a [u8],
    pub server_port: &'a [u8],
    /// The service that Zeek recognised; of `ssl.log` and `quic.log` the protocol that the ends agreed on.
    pub service: &'a [u8],
    /// Payload bytes in the chosen direction.
    pub bytes: &'a [u8],
    /// Payload bytes the other way.
    pub reverse: &'a [u8],
    /// IP bytes in the chosen direction, and the other way.
    pub ip_bytes: &'a [u8],
    pub reverse_ip_bytes: &'a [u8],
    /// Packets in the chosen direction, and the other way.
    pub packets: &'a [u8],
    pub reverse_packets: &'a [u8],
    pub missed: &'a [u8],
    pub rtt: &'a [u8],
    pub duration: &'a [u8],
    pub depth: &'a [u8],
    pub host: &'a [u8],
    pub uri: &'a [u8],
    pub referrer: &'a [u8],
}

/// Adds one row of line `line`: stores it in `collector.zeek` for the join, or counts it as left out or faulty. The
/// join counts stored rows as used.
///
/// # Errors
/// The row's fault when reading strictly.
pub fn add_row(log: Log, row: &Row, line: u64, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    ledger.rows += 1;
    let outcome = match log {
        Log::Conn => add_conn(row, ledger, collector),
        Log::Http => add_http(row, ledger, collector),
        Log::Ssl | Log::Quic => add_hint(log, row, ledger, collector),
    };
    match outcome {
        Ok(None) => Ok(()),
        Ok(Some((why, bytes))) => {
            ledger.skip(why, 1, bytes);
            Ok(())
        }
        Err(problem) => ledger.count_fault(line, problem),
    }
}

/// `None` if the row was added, else the reason for leaving it out and its bytes.
type AddResult = RowResult<Option<(&'static str, u64)>>;

/// Stores a row of conn.log, unless it is not in the sample. Returns the reason and the bytes of a row to leave out.
/// Its bytes of the other direction count in either case.
///
/// # Errors
/// A clause that names the malformed text.
fn add_conn(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> AddResult {
    let at = read_stamp(row, ledger, collector)?;
    let bytes = stamp::parse_bytes("bytes", row.bytes)?.unwrap_or(0);
    let rtt = stamp::parse_span("rtt", row.rtt, Unit::S)?.filter(|rtt| *rtt > Dur::ZERO);
    let duration = stamp::parse_span("duration", row.duration, Unit::S).ok().flatten();
    count_reverse_bytes(row, ledger);
    let is_quic = row.server_port == b"443" || class::names_quic(row.service);
    let (kind, datagrams) = match row.proto {
        b"tcp" => (Kind::Tcp, None),
        b"udp" if is_quic => (Kind::Quic, None),
        b"" => return Err("the row has no proto".to_string()),
        // quic.log may show that it is QUIC.
        _ => (Kind::Tcp, Some(spread_datagrams(row, duration.unwrap_or_default()))),
    };
    if datagrams.as_ref().is_some_and(|flow| flow.amount(false).packets + flow.amount(true).packets == 0) {
        return Ok(Some((reason::NO_PAYLOAD, 0)));
    }
    let ip_bytes = stamp::parse_bytes("ip bytes", row.ip_bytes).ok().flatten();
    let missed = stamp::parse_bytes("missed_bytes", row.missed).ok().flatten().unwrap_or(0);
    if datagrams.is_none() && ip_bytes.is_some_and(|ip_bytes| bytes > ip_bytes.saturating_add(missed)) {
        return Ok(Some((reason::COUNTS_DISAGREE, bytes)));
    }
    let uid = hash_uid(row.uid);
    if !collector.admits(sampling::hash(row.client), connection_key(uid, ledger.rows)) {
        return Ok(None);
    }
    let of_kind = |kind| classify_row(row, kind, duration, bytes, collector);
    // If quic.log names a row that is no TCP, it is QUIC.
    let flow_class = of_kind(if datagrams.is_some() { Kind::Quic } else { kind });
    let datagrams = datagrams.map(|flow| (flow, of_kind(Kind::Datagrams)));
    let draft = Draft {
        start: at.ns,
        file: ledger.index as u32,
        order: ledger.rows,
        rows: 1,
        client: collector.hosts.intern(row.client),
        server: collector.hosts.intern(row.server),
        rtt: rtt.into(),
        duration: duration.into(),
        kind,
        class: class::classify(row.service, row.server_port),
        flow_class,
        server_think: Default::default(),
        writes: Writes::single(bytes),
        pages: None,
    };
    collector.zeek.add_conn(draft, uid, datagrams);
    Ok(None)
}

/// Returns the datagrams of a row, spread evenly over `duration`. Packets that are not counted are estimated as full
/// ones; IP bytes, also if 0, as payload plus headers of IPv4 and UDP. A malformed number is taken as not counted. The
/// protocol is 17 (UDP), 1 (ICMP) or 0; only UDP has a port.
fn spread_datagrams(row: &Row, duration: Dur) -> Datagrams {
    let number = |text: &[u8]| stamp::parse_bytes("count", text).ok().flatten();
    let amount = |payload: &[u8], packets: &[u8], ip_bytes: &[u8]| {
        let payload = number(payload).unwrap_or(0);
        let packets =
            number(packets).unwrap_or_else(|| payload.div_ceil(u64::from(MOST_BYTES) - UDP_HEADERS));
        let reckoned = payload.saturating_add(packets.saturating_mul(UDP_HEADERS));
        Amount::from_sums(packets, number(ip_bytes).filter(|bytes| *bytes > 0).unwrap_or(reckoned))
    };
    let protocol = match row.proto {
        b"udp" => 17,
        b"icmp" => 1,
        _ => 0,
    };
    let port = hosts::parse_port(row.server_port).filter(|_| protocol == 17).unwrap_or(0);
    let amounts = [
        amount(row.bytes, row.packets, row.ip_bytes),
        amount(row.reverse, row.reverse_packets, row.reverse_ip_bytes),
    ];
    Datagrams::from_sums(Service { protocol, port, tunnel: None }, duration, amounts)
}

/// Stores a row of http.log, also for the search for pages, unless it is not in the sample. Its bytes of the other
/// direction count in either case. Leaves out no row.
///
/// # Errors
/// As [`add_conn`].
fn add_http(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> AddResult {
    let at = read_stamp(row, ledger, collector)?;
    let bytes = stamp::parse_bytes("bytes", row.bytes)?.unwrap_or(0);
    let depth = stamp::parse_bytes("trans_depth", row.depth)?.unwrap_or(0);
    count_reverse_bytes(row, ledger);
    let uid = hash_uid(row.uid);
    if !collector.admits(sampling::hash(row.client), connection_key(uid, ledger.rows)) {
        return Ok(None);
    }
    // An answer without a body has headers.
    let flow_class = classify_row(row, Kind::Tcp, None, bytes.max(1), collector);
    let (client, server) = (collector.hosts.intern(row.client), collector.hosts.intern(row.server));
    collector.zeek.add_hit(client, at.ns, ledger.rows, row.host, row.uri, row.referrer);
    let (file, order) = (ledger.index as u32, ledger.rows);
    let row = HttpRow { uid, file, order, at: at.ns, depth, client, server, bytes, flow_class, page: 0 };
    collector.zeek.requests.push(row);
    Ok(None)
}

/// Stores the protocol that `ssl.log` or `quic.log` names for a connection; the row does not count for the sample.
///
/// # Errors
/// A clause for a malformed time or for a row without hosts or uid.
fn add_hint(log: Log, row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> AddResult {
    read_stamp(row, ledger, collector)?;
    let uid = hash_uid(row.uid);
    if uid == 0 {
        return Err("the row has no uid".to_string());
    }
    let class = class::classify_alpn(row.service);
    collector.zeek.hints.push(Hint { uid, class, is_quic: log == Log::Quic, file: ledger.index as u32 });
    Ok(None)
}

/// Returns the class of a row by its bytes, packets and ports.
fn classify_row(
    row: &Row,
    kind: Kind,
    duration: Option<Dur>,
    bytes: u64,
    collector: &Collector,
) -> FlowClass {
    let number = |text: &[u8]| stamp::parse_bytes("count", text).ok().flatten();
    let protocol = match (kind, row.proto) {
        (Kind::Quic, _) => Protocol::Quic,
        // http.log has no column of protocols.
        (_, b"tcp" | b"") => Protocol::Tcp,
        (_, b"udp") => Protocol::Udp,
        _ => Protocol::Ip(spread_datagrams(row, Dur::ZERO).service.protocol),
    };
    let port = hosts::parse_port(row.server_port);
    let mut totals =
        [(number(row.reverse_packets), number(row.reverse).unwrap_or(0)), (number(row.packets), bytes)];
    if collector.options.direction == Direction::Up {
        totals.reverse();
    }
    let shape = FlowShape::from_totals(protocol, [0, port.unwrap_or(0)], duration, totals);
    collector.classify_flow([row.client, row.server], &shape)
}

/// Parses the row's time, and records it in the ledger.
///
/// # Errors
/// A clause for a malformed time or absent hosts.
fn read_stamp(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> RowResult<Stamp> {
    // JSON::TS_MILLIS writes milliseconds, which no time in seconds is.
    let at = stamp::parse_stamp(row.ts, Unit::S)
        .or_else(|_| stamp::parse_log_time(row.ts, None, Dates::default()))?;
    if row.client.is_empty() || row.server.is_empty() {
        return Err("the row has no id.orig_h or id.resp_h".to_string());
    }
    collector.record_stamp(ledger, at);
    Ok(at)
}

/// Adds the row's payload in the direction that is not played to the ledger, also if the row is then left out; what is
/// absent or malformed counts as 0.
fn count_reverse_bytes(row: &Row, ledger: &mut Ledger) {
    let reverse = stamp::parse_bytes("bytes", row.reverse).ok().flatten().unwrap_or(0);
    ledger.reverse_bytes = ledger.reverse_bytes.saturating_add(reverse);
}
