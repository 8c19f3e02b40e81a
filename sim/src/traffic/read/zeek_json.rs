//! Zeek logs as JSON lines: one object per row, unset fields left out.

use super::Direction;
use super::assemble::Collector;
use super::input::Input;
use super::ledger::{Ledger, reason};
use super::lines::Lines;
use super::zeek::{self, Log, Row};
use crate::error::Result;
use serde::{Deserialize, Deserializer, de::Visitor};
use std::borrow::Cow;
use std::fmt;

/// A number or string as the text a TSV log would have; empty when unset.
#[derive(Debug, Default)]
struct Text<'a>(Cow<'a, str>);

#[derive(Debug, Deserialize)]
struct Object<'a> {
    #[serde(borrow, default, rename = "_path")]
    path: Text<'a>,
    #[serde(borrow, default)]
    ts: Text<'a>,
    #[serde(borrow, default)]
    uid: Text<'a>,
    #[serde(borrow, default, rename = "id.orig_h")]
    client: Text<'a>,
    #[serde(borrow, default, rename = "id.resp_h")]
    server: Text<'a>,
    #[serde(borrow, default, rename = "id.resp_p")]
    server_port: Text<'a>,
    #[serde(borrow, default)]
    service: Text<'a>,
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
}

/// Some exporters nest the addresses.
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
    let has = |name: &str| object.get(name).is_some();
    has("ts") && (has("uid") || has("id.orig_h") || has("id"))
}

/// Returns the same for a first line that is damaged or longer than the part examined.
fn has_zeek_names(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.contains("\"ts\"") && (text.contains("\"uid\"") || text.contains("\"id.orig_h\""))
}

/// Reads the whole log.
///
/// # Errors
/// A row's fault when reading strictly.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.advance() {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        match parse(line.text) {
            Ok(object) => add_object(&object, line.number, ledger, collector)?,
            Err(problem) => {
                ledger.rows += 1;
                ledger.fault(line.number, format!("no JSON object of a Zeek log ({problem})"))?;
            }
        }
    }
    Ok(())
}

fn parse(text: &[u8]) -> std::result::Result<Object<'_>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn add_object(object: &Object, line: u64, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let Some(log) = object.log() else {
        ledger.rows += 1;
        ledger.skip(reason::OTHER_LOG, 1, 0);
        return Ok(());
    };
    ledger.kind = log.name().to_string();
    zeek::add_row(log, &object.row(log, collector.options.direction), line, ledger, collector)
}

impl Object<'_> {
    fn log(&self) -> Option<Log> {
        let is_http =
            !(self.method.is_empty() && self.trans_depth.is_empty() && self.response_body_len.is_empty());
        match &*self.path.0 {
            "conn" => Some(Log::Conn),
            "http" => Some(Log::Http),
            "" if is_http => Some(Log::Http),
            "" => Some(Log::Conn),
            _ => None,
        }
    }

    fn row(&self, log: Log, direction: Direction) -> Row<'_> {
        let (orig, resp) = match log {
            Log::Conn => (&self.orig_bytes, &self.resp_bytes),
            Log::Http => (&self.request_body_len, &self.response_body_len),
        };
        let (bytes, reverse, ip_bytes) = match direction {
            Direction::Down => (resp, orig, &self.resp_ip_bytes),
            Direction::Up => (orig, resp, &self.orig_ip_bytes),
        };
        Row {
            ts: self.ts.bytes(),
            uid: self.uid.bytes(),
            client: self.client.or(&self.id.orig_h),
            server: self.server.or(&self.id.resp_h),
            proto: self.proto.bytes(),
            server_port: self.server_port.or(&self.id.resp_p),
            service: self.service.bytes(),
            bytes: bytes.bytes(),
            reverse: reverse.bytes(),
            ip_bytes: ip_bytes.bytes(),
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

impl Text<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    fn or<'b>(&'b self, other: &'b Text) -> &'b [u8] {
        if self.is_empty() { other.bytes() } else { self.bytes() }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    /// Returns the shortest text that gives the same float, so that microseconds survive.
    fn visit_f64<E>(self, value: f64) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }
}
