//! Recognises the format of a file by its first bytes, not by its name.

use super::input::Input;
use super::layout::{self, Layout};
use super::lines::{excerpt, trim_end};
use super::options::Direction;
use super::spec::Spec;
use super::{access_log, columns, har, prefix, records, table, zeek_json};
use crate::error::{Error, Result};
use std::sync::Arc;

/// The kinds of file that can be read.
#[derive(Debug, Clone)]
pub enum Format {
    Pcap,
    PcapNg,
    Snoop,
    Erf,
    ZeekTsv,
    ZeekJson,
    Har,
    /// A log of a format that a file describes.
    Declared(Box<Layout>),
    AccessLog,
    /// Rows of named columns.
    Table(table::Written),
}

impl Format {
    /// Returns the name used in reports; Zeek's readers replace it by the kind of log.
    pub fn name(&self) -> String {
        let name = match self {
            Format::Pcap => "pcap",
            Format::PcapNg => "pcapng",
            Format::Snoop => "snoop",
            Format::Erf => "erf",
            Format::ZeekTsv | Format::ZeekJson => "zeek",
            Format::Har => "har",
            Format::Declared(layout) => &layout.spec.name,
            Format::AccessLog => "access-log",
            Format::Table(_) => "table",
        };
        name.to_string()
    }
}

/// The pointer to the list of known formats, for errors.
const KNOWN: &str = "mousehole inspect --formats lists what can be read";

/// Lines of the head among which one must be of an access log.
const TRIED_LINES: usize = 20;

/// Recognises the format of `input` by its head, and reads nothing more; logs only by the user's format `own`, if there
/// is one.
///
/// # Errors
/// [`Error::File`] for a log that does not fit `own`, or for an unknown format, whose first bytes
/// it shows.
pub fn recognise(input: &Input, own: Option<&Arc<Spec>>) -> Result<Format> {
    if let Some(format) = recognise_capture(input.head()) {
        return Ok(format);
    }
    let head = &*prefix::strip_prefixes(input.head());
    if let Some(spec) = own {
        let found = layout::recognise(head, own).map(|layout| Format::Declared(Box::new(layout)));
        let problem = || format!("its first lines do not fit the format {}", spec.name);
        return found.ok_or_else(|| Error::file(input.path(), problem()));
    }
    let found = if is_binary(head) { None } else { recognise_text(head) };
    found.ok_or_else(|| unknown_format_error(input.path(), input.head()))
}

/// Returns the format of a capture, by its first bytes; `None` if it is none.
fn recognise_capture(head: &[u8]) -> Option<Format> {
    match head.get(..4)? {
        [0xa1, 0xb2, 0xc3, 0xd4] | [0xd4, 0xc3, 0xb2, 0xa1] => Some(Format::Pcap),
        [0xa1, 0xb2, 0x3c, 0x4d] | [0x4d, 0x3c, 0xb2, 0xa1] => Some(Format::Pcap),
        [0x34, 0xcd, 0xb2, 0xa1] => Some(Format::Pcap),
        [0x0a, 0x0d, 0x0d, 0x0a] => Some(Format::PcapNg),
        _ if records::is_snoop(head) => Some(Format::Snoop),
        _ if records::is_erf(head) => Some(Format::Erf),
        _ => None,
    }
}

/// Returns the format of a text file, by its first lines; `None` if it is unknown. Zeek's logs go before HAR, known
/// formats, access logs and tables, in this order.
fn recognise_text(head: &[u8]) -> Option<Format> {
    let mut lines = head.split(|&c| c == b'\n').map(trim_end).filter(|line| !line.trim_ascii().is_empty());
    let first = lines.clone().next()?;
    if first.starts_with(b"#") && lines.clone().any(is_zeek_header) {
        return Some(Format::ZeekTsv);
    }
    if har::is_har(head) {
        return Some(Format::Har);
    }
    if first.starts_with(b"{") && zeek_json::is_zeek(first) {
        return Some(Format::ZeekJson);
    }
    if let Some(layout) = layout::recognise(head, None) {
        return Some(Format::Declared(Box::new(layout)));
    }
    if lines.by_ref().take(TRIED_LINES).any(|line| access_log::parse_line(line).is_some()) {
        return Some(Format::AccessLog);
    }
    if let Some(names) = layout::collect_object_names(head) {
        let header = columns::normalise_spaced_names(names.iter().map(String::as_bytes));
        let has_needed = |direction| columns::Columns::from_header(&header, direction).is_ok();
        let is_table = [Direction::Down, Direction::Up].into_iter().any(has_needed) && !is_of_zeek(&names);
        return is_table.then_some(Format::Table(table::Written::Objects(names)));
    }
    let mut headers = std::iter::once(first).chain(skip_comments(head));
    headers
        .find_map(columns::find_header_delimiter)
        .map(|delimiter| Format::Table(table::Written::Cells(delimiter)))
}

/// Returns the first line after the comments at the beginning; `None` if the text does not begin with a comment.
fn skip_comments(head: &[u8]) -> Option<&[u8]> {
    let mut lines = head.split(|&c| c == b'\n').map(trim_end).filter(|line| !line.trim_ascii().is_empty());
    lines.find(|line| !columns::is_remark(line)).filter(|_| columns::is_remark(head.trim_ascii_start()))
}

/// Returns whether a line is a directive of Zeek's TSV form.
fn is_zeek_header(line: &[u8]) -> bool {
    line.starts_with(b"#separator") || line.starts_with(b"#fields\t")
}

/// Returns whether names of an object are those of a Zeek log.
fn is_of_zeek(names: &[String]) -> bool {
    names.iter().any(|name| name == "id.orig_h" || name == "uid")
}

/// Returns whether the first 1024 bytes hold a zero byte.
fn is_binary(head: &[u8]) -> bool {
    head.iter().take(1024).any(|&c| c == 0)
}

/// Returns the error for a file of unknown format, with a hint if there is one.
fn unknown_format_error(path: &str, head: &[u8]) -> Error {
    let hint = find_hint(head).map(|hint| format!("; {hint}")).unwrap_or_default();
    Error::file(path, format!("unknown format: it begins with {}{hint}; {KNOWN}", quote_first_bytes(head)))
}

/// Returns whether the first five lines with text, at least one, are whole numbers, as the traces of mahimahi are.
fn is_numbers(head: &[u8]) -> bool {
    let mut lines = head
        .split(|&c| c == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .take(5)
        .peekable();
    lines.peek().is_some() && lines.all(|line| line.iter().all(u8::is_ascii_digit))
}

/// Returns the first line for a message, or the first eight bytes in hexadecimal.
fn quote_first_bytes(head: &[u8]) -> String {
    let line = head.split(|&c| c == b'\n').next().unwrap_or(head);
    let printable = line.iter().take(40).all(|&c| c >= 0x20 || c == b'\t' || c == b'\r');
    if printable && !line.trim_ascii().is_empty() {
        return format!("\"{}\"", excerpt(line));
    }
    let hex: Vec<String> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("the bytes {}", hex.join(" "))
}

/// Returns a hint on a file of an unsupported kind: what it looks like, and what the user can do; `None` for a file
/// that looks like nothing known.
fn find_hint(head: &[u8]) -> Option<String> {
    const HINTS: &[(&[u8], &str)] = &[
        (b"GMBU", "it looks like a Network Monitor capture; editcap -F pcap converts it"),
        (b"XCP\0", "it looks like a NetXRay capture; editcap -F pcap converts it"),
        (b"PK\x03\x04\x14\x00\x06\x00", "it looks like an Excel workbook; save it as CSV"),
        (b"PK\x03\x04", "it looks like zip; unpack it first"),
        (b"\xfd7zXZ", "it looks like xz; unpack it first"),
        (b"BZh", "it looks like bzip2; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "it looks like zstd; unpack it first"),
        (b"\x1f\x8b", "it looks gzipped twice; unpack it once"),
        (b"PAR1", "it looks like Parquet, which the mousehole command and the Python package read"),
        (
            b"ARROW1",
            "it looks like Arrow IPC (Feather); the Python package takes the frame that a library makes of it",
        ),
        (b"\xff\xfe", "it looks like UTF-16; save it as UTF-8"),
        (b"\xfe\xff", "it looks like UTF-16; save it as UTF-8"),
        (b"\x04\x22\x4d\x18", "it looks like lz4; unpack it first"),
        (b"\x0c\xa5", "it looks like a file of nfcapd; nfdump -r FILE -o csv writes what can be read"),
        (b"\xa5\x0c", "it looks like a file of nfcapd; nfdump -r FILE -o csv writes what can be read"),
        (
            b"#Software",
            "it looks like a W3C extended log; its line #Fields: must name date, time, c-ip and sc-bytes",
        ),
        (
            b"#Version",
            "it looks like a W3C extended log; its line #Fields: must name date, time, c-ip and sc-bytes",
        ),
        (
            b"#Fields:",
            "it looks like a W3C extended log; its line #Fields: must name date, time, c-ip and sc-bytes",
        ),
    ];
    if head.get(257..262) == Some(b"ustar") {
        return Some("it looks like a tar archive; unpack it first".to_string());
    }
    if let Some(names) = layout::collect_object_names(head) {
        if head.starts_with(b"[") && is_of_zeek(&names) {
            return Some(
                "it looks like Zeek's rows in one array; jq -c '.[]' FILE writes a row a line".to_string(),
            );
        }
        let names: Vec<String> = names.iter().take(8).map(|name| excerpt(name.as_bytes())).collect();
        return Some(format!(
            "it holds JSON with the names {}; say what they mean in a file and give it with --format, or make a table of them, \
             such as: (echo start,client,bytes; jq -r '[.TIME, .CLIENT, .BYTES] | @csv' FILE)",
            names.join(", ")
        ));
    }
    if is_numbers(head) {
        return Some(
            "it holds a number per line; a trace of a link's rate is given with --down or --up, as link.down or link.up"
                .to_string(),
        );
    }
    let known = HINTS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, hint)| *hint);
    let columns = "no column of the first line has a known name for start or bytes; name them start, client and bytes, or say \
        what they mean in a file and give it with --format";
    known.or_else(|| columns::looks_delimited(head).then_some(columns)).map(str::to_string)
}
