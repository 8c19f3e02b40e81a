//! Reads Zeek logs as JSON lines: one object per row, unset fields left out. The streaming form, in which all
//! logs may be in one file, names the log of each row in `_path`.

use super::assemble::Collector;
use super::input::Input;
use super::json_text::Text;
use super::ledger::{Ledger, reason};
use super::lines::Lines;
use super::options::Direction;
use super::zeek_row::{self, Log, Row};
use crate::error::Result;
use serde::Deserialize;

/// A row of a log; absent fields are empty.
#[derive(Debug, Deserialize)]
struct Object<'a> {
    #[serde(borrow, default, rename = "_path")]
    path: Text<'a>,
    #[serde(borrow, default)]
    ts: Text<'a>,
    #[serde(borrow, default)]
    uid: Text<'a>,
    #[serde(borrow, default, rename = "id.orig_h", alias = "id_orig_h")]
    client: Text<'a>,
    #[serde(borrow, default, rename = "id.resp_h", alias = "id_resp_h")]
    server: Text<'a>,
    #[serde(borrow, default, rename = "id.resp_p", alias = "id_resp_p")]
    server_port: Text<'a>,
    #[serde(borrow, default)]
    service: Text<'a>,
    #[serde(borrow, default)]
    cipher: Text<'a>,
    #[serde(borrow, default)]
    next_protocol: Text<'a>,
    #[serde(borrow, default)]
    client_protocol: Text<'a>,
    #[serde(borrow, default)]
    id: Id<'a>,
    #[serde(borrow, default)]
    proto: Text<'a>,
    #[serde(borrow, default)]
    orig_bytes: Text<'a>,
    #[serde(borrow, default)]
    resp_bytes: Text<'a>,
    #[serde(borrow, default)]
    orig_ip_bytes: Text<'a>,
    #[serde(borrow, default)]
    resp_ip_bytes: Text<'a>,
    #[serde(borrow, default)]
    orig_pkts: Text<'a>,
    #[serde(borrow, default)]
    resp_pkts: Text<'a>,
    #[serde(borrow, default)]
    missed_bytes: Text<'a>,
    #[serde(borrow, default)]
    rtt: Text<'a>,
    #[serde(borrow, default)]
    duration: Text<'a>,
    #[serde(borrow, default)]
    method: Text<'a>,
    #[serde(borrow, default)]
    trans_depth: Text<'a>,
    #[serde(borrow, default)]
    host: Text<'a>,
    #[serde(borrow, default)]
    uri: Text<'a>,
    #[serde(borrow, default)]
    referrer: Text<'a>,
    #[serde(borrow, default)]
    request_body_len: Text<'a>,
    #[serde(borrow, default)]
    response_body_len: Text<'a>,
    /// The row itself as text, if a shipper of logs has wrapped it.
    #[serde(borrow, default)]
    message: Text<'a>,
}

/// The addresses, which some exporters nest.
#[derive(Debug, Default, Deserialize)]
struct Id<'a> {
    #[serde(borrow, default)]
    orig_h: Text<'a>,
    #[serde(borrow, default)]
    resp_h: Text<'a>,
    #[serde(borrow, default)]
    resp_p: Text<'a>,
}

/// Returns whether a line is an object with Zeek's fields.
pub fn is_zeek(line: &[u8]) -> bool {
    let Ok(object) = serde_json::from_slice::<serde_json::Value>(line) else { return has_zeek_names(line) };
    if let Some(wrapped) =
        object.get("message").and_then(|message| message.as_str()).filter(|text| text.starts_with('{'))
    {
        return is_zeek(wrapped.as_bytes());
    }
    let has = |name: &str| object.get(name).is_some();
    has("_path") || has("ts") && (has("uid") || has("id.orig_h") || has("id"))
}

/// Returns whether a line that is damaged or longer than the part examined has the names of Zeek's fields.
fn has_zeek_names(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.contains("\"_path\"")
        || text.contains("\"ts\"") && (text.contains("\"uid\"") || text.contains("\"id.orig_h\""))
}

/// Reads the whole log and stores its rows in `collector` for [`super::zeek_join::join`]. A row that a shipper of logs
/// has wrapped as text is unwrapped.
///
/// # Errors
/// A row's fault when reading strictly.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.advance() {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        match parse_object(line.text) {
            Ok(object) if object.ts.is_empty() && object.message.as_str().starts_with('{') => {
                match parse_object(object.message.bytes()) {
                    Ok(object) => add_object(&object, line.number, ledger, collector)?,
                    Err(problem) => count_json_fault(line.number, &problem, ledger)?,
                }
            }
            Ok(object) => add_object(&object, line.number, ledger, collector)?,
            Err(problem) => count_json_fault(line.number, &problem, ledger)?,
        }
    }
    Ok(())
}

/// Counts a row that is no JSON object.
///
/// # Errors
/// The fault itself when reading strictly.
fn count_json_fault(line: u64, problem: &str, ledger: &mut Ledger) -> Result<()> {
    ledger.rows += 1;
    ledger.count_fault(line, format!("no JSON object of a Zeek log ({problem})"))
}

/// Parses a row.
///
/// # Errors
/// The reason why it is no JSON object of a log.
fn parse_object(text: &[u8]) -> std::result::Result<Object<'_>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Adds a JSON row of a Zeek log, whose kind becomes the ledger's; one of another log is left out.
///
/// # Errors
/// The row's fault when reading strictly.
fn add_object(object: &Object, line: u64, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let Some(log) = object.find_log() else {
        ledger.rows += 1;
        ledger.skip(reason::OTHER_LOG, 1, 0);
        return Ok(());
    };
    ledger.kind = log.name().to_string();
    zeek_row::add_row(log, &object.to_row(log, collector.options.direction), line, ledger, collector)
}

impl Object<'_> {
    /// Returns the log that the row belongs to, by its path, else by its fields; `None` for a log that is not read.
    fn find_log(&self) -> Option<Log> {
        let is_http =
            !(self.method.is_empty() && self.trans_depth.is_empty() && self.response_body_len.is_empty());
        match self.path.as_str() {
            "conn" => Some(Log::Conn),
            "http" => Some(Log::Http),
            "ssl" => Some(Log::Ssl),
            "quic" => Some(Log::Quic),
            "" if is_http => Some(Log::Http),
            "" if !self.client_protocol.is_empty() => Some(Log::Quic),
            "" if !(self.next_protocol.is_empty() && self.cipher.is_empty()) => Some(Log::Ssl),
            "" => Some(Log::Conn),
            _ => None,
        }
    }

    /// Returns the fields as a row of `log`, for payload in `direction`.
    fn to_row(&self, log: Log, direction: Direction) -> Row<'_> {
        let (orig, resp) = match log {
            Log::Conn => (&self.orig_bytes, &self.resp_bytes),
            Log::Http | Log::Ssl | Log::Quic => (&self.request_body_len, &self.response_body_len),
        };
        let service = match log {
            Log::Conn | Log::Http => &self.service,
            Log::Ssl => &self.next_protocol,
            Log::Quic => &self.client_protocol,
        };
        let (orig_ip, resp_ip) = (&self.orig_ip_bytes, &self.resp_ip_bytes);
        let (bytes, reverse, ip_bytes, packets) = match direction {
            Direction::Down => (resp, orig, [resp_ip, orig_ip], [&self.resp_pkts, &self.orig_pkts]),
            Direction::Up => (orig, resp, [orig_ip, resp_ip], [&self.orig_pkts, &self.resp_pkts]),
        };
        Row {
            ts: self.ts.bytes(),
            uid: self.uid.bytes(),
            client: self.client.or(&self.id.orig_h),
            server: self.server.or(&self.id.resp_h),
            proto: self.proto.bytes(),
            server_port: self.server_port.or(&self.id.resp_p),
            service: service.bytes(),
            bytes: bytes.bytes(),
            reverse: reverse.bytes(),
            ip_bytes: ip_bytes[0].bytes(),
            reverse_ip_bytes: ip_bytes[1].bytes(),
            packets: packets[0].bytes(),
            reverse_packets: packets[1].bytes(),
            missed: self.missed_bytes.bytes(),
            rtt: self.rtt.bytes(),
            duration: self.duration.bytes(),
            depth: self.trans_depth.bytes(),
            host: self.host.bytes(),
            uri: self.uri.bytes(),
            referrer: self.referrer.bytes(),
        }
    }
}
