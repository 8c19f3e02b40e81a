//! Zeek logs in TSV form, and the meaning of a row of `conn.log` or `http.log` in either form.
//!
//! Field names and types: Zeek's own documentation of `Conn::Info` and `HTTP::Info`. `resp_bytes` comes
//! from sequence numbers and may be far too large after a reset; where the counted IP bytes contradict
//! it, the row is left out.

use super::assemble::Collector;
use super::input::Input;
use super::ledger::{Ledger, reason};
use super::lines::{Lines, shown};
use super::stamp::{self, Stamp, Unit};
use super::zeek_join::{ConnRow, HttpRow};
use super::{Direction, RowResult, class};
use crate::error::{Error, Result, did_you_mean};
use crate::traffic::connection::Kind;
use crate::units::Dur;

/// A kind of Zeek log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Conn,
    Http,
}

impl Log {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Log::Conn => "zeek-conn",
            Log::Http => "zeek-http",
        }
    }
}

/// The fields of a row that matter, as text; empty where the row has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'a> {
    pub ts: &'a [u8],
    pub uid: &'a [u8],
    pub client: &'a [u8],
    pub server: &'a [u8],
    pub proto: &'a [u8],
    pub server_port: &'a [u8],
    /// The service that Zeek recognised.
    pub service: &'a [u8],
    /// Payload bytes in the chosen direction.
    pub bytes: &'a [u8],
    /// Payload bytes the other way.
    pub reverse: &'a [u8],
    /// IP bytes in the chosen direction.
    pub ip_bytes: &'a [u8],
    pub missed: &'a [u8],
    pub rtt: &'a [u8],
    pub duration: &'a [u8],
    pub depth: &'a [u8],
    pub host: &'a [u8],
    pub uri: &'a [u8],
    pub referrer: &'a [u8],
}

/// Adds one row: keeps it for the join, or counts the reason for leaving it out.
///
/// # Errors
/// The row's fault when reading strictly.
pub fn add_row(log: Log, row: &Row, line: u64, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    ledger.rows += 1;
    let outcome = match log {
        Log::Conn => add_conn(row, ledger, collector),
        Log::Http => add_http(row, ledger, collector),
    };
    match outcome {
        Ok(None) => Ok(()),
        Ok(Some((why, bytes))) => {
            ledger.skip(why, 1, bytes);
            Ok(())
        }
        Err(problem) => ledger.fault(line, problem),
    }
}

/// `None` if the row was kept, else the reason for leaving it out and its bytes.
type Kept = RowResult<Option<(&'static str, u64)>>;

fn add_conn(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> Kept {
    let at = stamp_of(row, ledger, collector)?;
    let bytes = stamp::bytes("bytes", row.bytes)?.unwrap_or(0);
    let rtt = stamp::span("rtt", row.rtt, Unit::S)?.filter(|rtt| *rtt > Dur::ZERO);
    let duration = stamp::span("duration", row.duration, Unit::S).ok().flatten();
    count_reverse(row, ledger);
    let kind = match row.proto {
        b"tcp" => Kind::Tcp,
        b"udp" if row.server_port == b"443" => Kind::Quic,
        b"udp" => return Ok(Some((reason::OTHER_UDP, bytes))),
        b"" => return Err("the row has no proto".to_string()),
        _ => return Ok(Some((reason::OTHER_PROTOCOL, bytes))),
    };
    let ip_bytes = stamp::bytes("ip bytes", row.ip_bytes).ok().flatten();
    let missed = stamp::bytes("missed_bytes", row.missed).ok().flatten().unwrap_or(0);
    if ip_bytes.is_some_and(|ip_bytes| bytes > ip_bytes.saturating_add(missed)) {
        return Ok(Some((reason::COUNTS_DISAGREE, bytes)));
    }
    let (client, server) = (collector.hosts.id(row.client), collector.hosts.id(row.server));
    let uid = collector.zeek.uid(row.uid);
    let class = class::classify(row.service, row.server_port);
    let (file, order) = (ledger.index, ledger.rows);
    collector.zeek.conns.push(ConnRow {
        file,
        order,
        at: at.ns,
        uid,
        client,
        server,
        rtt,
        duration,
        kind,
        class,
        bytes,
    });
    Ok(None)
}

fn add_http(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> Kept {
    let at = stamp_of(row, ledger, collector)?;
    let bytes = stamp::bytes("bytes", row.bytes)?.unwrap_or(0);
    let depth = stamp::bytes("trans_depth", row.depth)?.unwrap_or(0);
    count_reverse(row, ledger);
    let (client, server) = (collector.hosts.id(row.client), collector.hosts.id(row.server));
    let uid = collector.zeek.uid(row.uid);
    let (file, order) = (ledger.index, ledger.rows);
    collector.zeek.saw(client, at.ns, row);
    collector.zeek.requests.push(HttpRow {
        file,
        order,
        at: at.ns,
        uid,
        depth,
        client,
        server,
        bytes,
        page: 0,
    });
    Ok(None)
}

fn stamp_of(row: &Row, ledger: &Ledger, collector: &mut Collector) -> RowResult<Stamp> {
    let at = stamp::stamp(row.ts, Unit::S)?;
    if row.client.is_empty() || row.server.is_empty() {
        return Err("the row has no id.orig_h or id.resp_h".to_string());
    }
    collector.saw_stamp(ledger.index, at.whole);
    Ok(at)
}

fn count_reverse(row: &Row, ledger: &mut Ledger) {
    let reverse = stamp::bytes("bytes", row.reverse).ok().flatten().unwrap_or(0);
    ledger.reverse_bytes = ledger.reverse_bytes.saturating_add(reverse);
}

/// The header lines of a TSV log.
struct Header {
    separator: Vec<u8>,
    path: Vec<u8>,
    layout: Option<Layout>,
}

/// The columns of a TSV log, as its `#fields` line names them.
struct Layout {
    log: Log,
    /// Number of columns.
    width: usize,
    /// Column numbers, with the field of a row that each fills.
    cells: Vec<(usize, Cell)>,
}

/// Returns the field of a row that a column fills.
type Cell = for<'r, 'a> fn(&'r mut Row<'a>) -> &'r mut &'a [u8];

/// A column that is read.
struct Column {
    /// Zeek's name.
    name: &'static str,
    /// Whether a log without it is refused.
    is_needed: bool,
    cell: Cell,
}

/// Reads the whole log; logs pasted one after another are fine.
///
/// # Errors
/// [`Error::File`] for a log of another kind or without a needed field.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let mut header = Header { separator: b"\t".to_vec(), path: Vec::new(), layout: None };
    let mut lines = Lines::new(input);
    while let Some(line) = lines.advance() {
        if let Some(directive) = line.text.strip_prefix(b"#") {
            header
                .read_directive(directive, collector.options.direction)
                .map_err(|problem| Error::file(&path, problem))?;
        } else if !line.text.is_empty() {
            let Some(layout) = &header.layout else {
                return Err(Error::file(&path, "a Zeek log without a #fields line before its rows"));
            };
            ledger.kind = layout.log.name().to_string();
            tsv_row(layout, &header.separator, line.text, line.number, ledger, collector)?;
        }
    }
    if let Some(layout) = &header.layout {
        ledger.kind = layout.log.name().to_string();
    }
    Ok(())
}

fn tsv_row(
    layout: &Layout,
    separator: &[u8],
    text: &[u8],
    line: u64,
    ledger: &mut Ledger,
    collector: &mut Collector,
) -> Result<()> {
    let cells = split(text, separator);
    if cells.len() != layout.width {
        ledger.rows += 1;
        return ledger.fault(line, format!("{} fields where #fields names {}", cells.len(), layout.width));
    }
    let mut row = Row::default();
    layout.cells.iter().for_each(|&(column, cell)| *cell(&mut row) = cells[column]);
    add_row(layout.log, &row, line, ledger, collector)
}

fn split<'a>(text: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    // Every real log has one byte here; a longer separator is compared at its first.
    let byte = separator.first().copied().unwrap_or(b'\t');
    text.split(|&c| c == byte).collect()
}

impl Header {
    fn read_directive(&mut self, directive: &[u8], direction: Direction) -> RowResult<()> {
        if let Some(code) = directive.strip_prefix(b"separator ") {
            self.separator = unescape(code);
            return Ok(());
        }
        let mut words = split(directive, &self.separator).into_iter();
        match words.next() {
            Some(b"path") => self.path = words.next().unwrap_or(b"").to_vec(),
            Some(b"fields") => {
                let names: Vec<String> =
                    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                self.layout = Some(Layout::new(&self.path, &names, direction)?);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Layout {
    fn new(path: &[u8], names: &[String], direction: Direction) -> RowResult<Layout> {
        let log = log_of(path, names)?;
        let mut cells = Vec::new();
        for column in columns(log, direction) {
            match names.iter().position(|name| name == column.name) {
                Some(number) => cells.push((number, column.cell)),
                None if column.is_needed => {
                    let hint = did_you_mean(column.name, names.iter().map(String::as_str));
                    let (name, log) = (column.name, log.name());
                    return Err(format!("#fields does not name {name}, which a {log} needs{hint}"));
                }
                None => {}
            }
        }
        Ok(Layout { log, width: names.len(), cells })
    }
}

fn log_of(path: &[u8], names: &[String]) -> RowResult<Log> {
    let has = |name: &str| names.iter().any(|have| have == name);
    match path {
        b"conn" => Ok(Log::Conn),
        b"http" => Ok(Log::Http),
        _ if has("response_body_len") || has("trans_depth") => Ok(Log::Http),
        _ if has("proto") && has("resp_bytes") => Ok(Log::Conn),
        _ => Err(format!("a Zeek log of kind \"{}\"; conn.log and http.log can be read", shown(path))),
    }
}

/// Returns the columns of a log that are read, for payload in `direction`.
fn columns(log: Log, direction: Direction) -> Vec<Column> {
    let needed = |name, cell: Cell| Column { name, is_needed: true, cell };
    let optional = |name, cell: Cell| Column { name, is_needed: false, cell };
    let (bytes, reverse) = match (log, direction) {
        (Log::Conn, Direction::Down) => ("resp_bytes", "orig_bytes"),
        (Log::Conn, Direction::Up) => ("orig_bytes", "resp_bytes"),
        (Log::Http, Direction::Down) => ("response_body_len", "request_body_len"),
        (Log::Http, Direction::Up) => ("request_body_len", "response_body_len"),
    };
    let ip_bytes = if direction == Direction::Down { "resp_ip_bytes" } else { "orig_ip_bytes" };
    let mut columns = vec![
        needed("ts", |row| &mut row.ts),
        needed("id.orig_h", |row| &mut row.client),
        needed("id.resp_h", |row| &mut row.server),
        needed(bytes, |row| &mut row.bytes),
        optional(reverse, |row| &mut row.reverse),
        optional("uid", |row| &mut row.uid),
    ];
    columns.extend(match log {
        Log::Conn => vec![
            needed("proto", |row| &mut row.proto),
            optional("id.resp_p", |row| &mut row.server_port),
            optional("service", |row| &mut row.service),
            optional(ip_bytes, |row| &mut row.ip_bytes),
            optional("missed_bytes", |row| &mut row.missed),
            optional("rtt", |row| &mut row.rtt),
            optional("duration", |row| &mut row.duration),
        ],
        Log::Http => vec![
            optional("trans_depth", |row| &mut row.depth),
            optional("host", |row| &mut row.host),
            optional("uri", |row| &mut row.uri),
            optional("referrer", |row| &mut row.referrer),
        ],
    });
    columns
}

/// Decodes `\x09`; other text stands for itself.
fn unescape(code: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(code);
    let text = text.trim();
    match text.strip_prefix("\\x").and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
        Some(byte) => vec![byte],
        None if text.is_empty() => code.to_vec(),
        None => text.as_bytes().to_vec(),
    }
}
