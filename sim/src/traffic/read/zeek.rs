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

/// Which of Zeek's logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Conn,
    Http,
}

impl Log {
    /// The name in reports.
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
    /// What Zeek took it for.
    pub service: &'a [u8],
    /// Payload bytes in the chosen direction.
    pub bytes: &'a [u8],
    /// Payload bytes the other way.
    pub reverse: &'a [u8],
    /// IP bytes in the chosen direction.
    pub ip_bytes: &'a [u8],
    pub missed: &'a [u8],
    pub rtt: &'a [u8],
    pub depth: &'a [u8],
    pub host: &'a [u8],
    pub uri: &'a [u8],
    pub referrer: &'a [u8],
}

/// Takes one row in: keeps it for the join, or counts why not.
///
/// # Errors
/// The row's fault when reading strictly.
pub fn take(log: Log, row: &Row, line: u64, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    ledger.rows += 1;
    let outcome = match log {
        Log::Conn => take_conn(row, ledger, collector),
        Log::Http => take_http(row, ledger, collector),
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

/// `None` when the row was kept, else why it is left out and how many bytes it has.
type Taken = RowResult<Option<(&'static str, u64)>>;

fn take_conn(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> Taken {
    let at = stamp_of(row, ledger, collector)?;
    let bytes = stamp::bytes("bytes", row.bytes)?.unwrap_or(0);
    let rtt = stamp::span("rtt", row.rtt, Unit::S)?.filter(|rtt| *rtt > Dur::ZERO);
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
    let class = class::of(row.service, row.server_port);
    let (file, order) = (ledger.index, ledger.rows);
    collector.zeek.conns.push(ConnRow {
        file,
        order,
        at: at.ns,
        uid,
        client,
        server,
        rtt,
        kind,
        class,
        bytes,
    });
    Ok(None)
}

fn take_http(row: &Row, ledger: &mut Ledger, collector: &mut Collector) -> Taken {
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

/// What the header lines of a TSV log say.
struct Header {
    separator: Vec<u8>,
    path: Vec<u8>,
    layout: Option<Layout>,
}

struct Layout {
    log: Log,
    width: usize,
    /// Places of [`FIELDS`] in the row.
    places: [Option<usize>; FIELDS],
}

const FIELDS: usize = 16;

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
                .take(directive, collector.options.direction)
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
    let at = |place: usize| layout.places[place].map_or(&b""[..], |place| cells[place]);
    take(layout.log, &Row::from_places(at), line, ledger, collector)
}

impl<'a> Row<'a> {
    fn from_places(at: impl Fn(usize) -> &'a [u8]) -> Row<'a> {
        Row {
            ts: at(0),
            uid: at(1),
            client: at(2),
            server: at(3),
            proto: at(4),
            server_port: at(5),
            bytes: at(6),
            reverse: at(7),
            ip_bytes: at(8),
            missed: at(9),
            rtt: at(10),
            depth: at(11),
            service: at(12),
            host: at(13),
            uri: at(14),
            referrer: at(15),
        }
    }
}

fn split<'a>(text: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    // Every real log has one byte here; a longer separator is compared at its first.
    let byte = separator.first().copied().unwrap_or(b'\t');
    text.split(|&c| c == byte).collect()
}

impl Header {
    fn take(&mut self, directive: &[u8], direction: Direction) -> RowResult<()> {
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
                self.layout = Some(Layout::of(&self.path, &names, direction)?);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Layout {
    fn of(path: &[u8], names: &[String], direction: Direction) -> RowResult<Layout> {
        let log = kind_of(path, names)?;
        let wanted = wanted(log, direction);
        let places = wanted.map(|name| names.iter().position(|have| have == name && !name.is_empty()));
        let needed: &[usize] = match log {
            Log::Conn => &[0, 2, 3, 4, 6],
            Log::Http => &[0, 2, 3, 6],
        };
        if let Some(&field) = needed.iter().find(|&&field| places[field].is_none()) {
            let hint = did_you_mean(wanted[field], names.iter().map(String::as_str));
            return Err(format!(
                "#fields does not name {}, which a {} needs{hint}",
                wanted[field],
                log.name()
            ));
        }
        Ok(Layout { log, width: names.len(), places })
    }
}

fn kind_of(path: &[u8], names: &[String]) -> RowResult<Log> {
    let has = |name: &str| names.iter().any(|have| have == name);
    match path {
        b"conn" => Ok(Log::Conn),
        b"http" => Ok(Log::Http),
        _ if has("response_body_len") || has("trans_depth") => Ok(Log::Http),
        _ if has("proto") && has("resp_bytes") => Ok(Log::Conn),
        _ => Err(format!("a Zeek log of kind \"{}\"; conn.log and http.log can be read", shown(path))),
    }
}

/// Zeek's names for the fields of [`Row`], in its order.
fn wanted(log: Log, direction: Direction) -> [&'static str; FIELDS] {
    let (data, reverse, ip_bytes) = match (log, direction) {
        (Log::Conn, Direction::Down) => ("resp_bytes", "orig_bytes", "resp_ip_bytes"),
        (Log::Conn, Direction::Up) => ("orig_bytes", "resp_bytes", "orig_ip_bytes"),
        (Log::Http, Direction::Down) => ("response_body_len", "request_body_len", ""),
        (Log::Http, Direction::Up) => ("request_body_len", "response_body_len", ""),
    };
    [
        "ts",
        "uid",
        "id.orig_h",
        "id.resp_h",
        "proto",
        "id.resp_p",
        data,
        reverse,
        ip_bytes,
        "missed_bytes",
        "rtt",
        "trans_depth",
        "service",
        "host",
        "uri",
        "referrer",
    ]
}

/// `\x09` and plain characters.
fn unescape(code: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(code);
    let text = text.trim();
    match text.strip_prefix("\\x").and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
        Some(byte) => vec![byte],
        None if text.is_empty() => code.to_vec(),
        None => text.as_bytes().to_vec(),
    }
}
