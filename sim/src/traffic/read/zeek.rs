//! Reads Zeek logs in TSV form: columns by the `#fields` line, which may come again in concatenated logs.

use super::assemble::Collector;
use super::input::Input;
use super::ledger::Ledger;
use super::lines::{Lines, excerpt};
use super::options::{Direction, RowResult};
use super::zeek_row::{Log, Row, add_row};
use crate::error::{Error, Result, did_you_mean};

/// The header lines of a TSV log.
struct Header {
    separator: u8,
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

/// Reads the whole log, or several that are concatenated, and stores its rows in `collector` for
/// [`super::zeek_join::join`]. The ledger's kind becomes that of the last log.
///
/// # Errors
/// [`Error::File`] for a log of another kind or without a needed field; a row's fault when reading strictly.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let mut header = Header { separator: b'\t', path: Vec::new(), layout: None };
    let mut bounds = Vec::new();
    let mut lines = Lines::new(input);
    while let Some(line) = lines.advance() {
        if let Some(directive) = line.text.strip_prefix(b"#") {
            header
                .read_directive(directive, collector.options.direction)
                .map_err(|problem| Error::file(&path, problem))?;
            header.layout.iter().for_each(|layout| ledger.kind = layout.log.name().to_string());
        } else if !line.text.is_empty() {
            let Some(layout) = &header.layout else {
                return Err(Error::file(&path, "a Zeek log without a #fields line before its rows"));
            };
            bounds.clear();
            bounds.extend(memchr::memchr_iter(header.separator, line.text));
            bounds.push(line.text.len());
            match layout.split_row(line.text, &bounds) {
                Ok(row) => add_row(layout.log, &row, line.number, ledger, collector)?,
                Err(problem) => {
                    ledger.rows += 1;
                    ledger.count_fault(line.number, problem)?;
                }
            }
        }
    }
    Ok(())
}

impl Header {
    /// Reads a header line of a Zeek log, without its `#`: the separator, the path, or the fields, which replace the
    /// layout. Any other is ignored.
    ///
    /// # Errors
    /// A clause for a separator or fields that cannot be read.
    fn read_directive(&mut self, directive: &[u8], direction: Direction) -> RowResult<()> {
        if let Some([b' ' | b'\t', code @ ..]) = directive.strip_prefix(b"separator") {
            self.separator = parse_separator(code)?;
            return Ok(());
        }
        let mut words = directive.split(|&c| c == self.separator);
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
    /// Returns the columns of a log with this `#path` and these `#fields`, for payload in `direction`.
    ///
    /// # Errors
    /// A clause for a log that is not read, or without a needed field.
    fn new(path: &[u8], names: &[String], direction: Direction) -> RowResult<Layout> {
        let log = recognise_log(path, names)?;
        let mut cells = Vec::new();
        for column in select_columns(log, direction) {
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

    /// Splits a line whose cells end at `bounds`, ascending indices of bytes, into a row.
    ///
    /// # Errors
    /// A clause for another number of cells.
    fn split_row<'a>(&self, text: &'a [u8], bounds: &[usize]) -> RowResult<Row<'a>> {
        if bounds.len() != self.width {
            return Err(format!("{} fields where #fields names {}", bounds.len(), self.width));
        }
        let mut row = Row::default();
        for &(column, cell) in &self.cells {
            let from = if column == 0 { 0 } else { bounds[column - 1] + 1 };
            *cell(&mut row) = &text[from..bounds[column]];
        }
        Ok(row)
    }
}

/// Returns the log by its `#path`, else by its fields.
///
/// # Errors
/// A clause for a log that is not read.
fn recognise_log(path: &[u8], names: &[String]) -> RowResult<Log> {
    let has = |name: &str| names.iter().any(|have| have == name);
    match path {
        b"conn" => Ok(Log::Conn),
        b"http" => Ok(Log::Http),
        b"ssl" => Ok(Log::Ssl),
        b"quic" => Ok(Log::Quic),
        _ if has("response_body_len") || has("trans_depth") => Ok(Log::Http),
        _ if has("proto") && has("resp_bytes") => Ok(Log::Conn),
        _ if has("next_protocol") => Ok(Log::Ssl),
        _ if has("client_protocol") => Ok(Log::Quic),
        _ => Err(format!(
            "a Zeek log of kind \"{}\"; conn.log, http.log, ssl.log and quic.log can be read",
            excerpt(path)
        )),
    }
}

/// Returns the columns of a log that are read, for payload in `direction`.
fn select_columns(log: Log, direction: Direction) -> Vec<Column> {
    let needed = |name, cell: Cell| Column { name, is_needed: true, cell };
    let optional = |name, cell: Cell| Column { name, is_needed: false, cell };
    let mut columns = vec![
        needed("ts", |row| &mut row.ts),
        needed("id.orig_h", |row| &mut row.client),
        needed("id.resp_h", |row| &mut row.server),
    ];
    let is_down = direction == Direction::Down;
    let of_side = |down, up| if is_down { down } else { up };
    let (bytes, reverse) = match log {
        Log::Conn if is_down => ("resp_bytes", "orig_bytes"),
        Log::Conn => ("orig_bytes", "resp_bytes"),
        Log::Http if is_down => ("response_body_len", "request_body_len"),
        Log::Http => ("request_body_len", "response_body_len"),
        Log::Ssl | Log::Quic => {
            let name = if log == Log::Ssl { "next_protocol" } else { "client_protocol" };
            columns.extend([needed("uid", |row| &mut row.uid), optional(name, |row| &mut row.service)]);
            return columns;
        }
    };
    columns.extend([
        needed(bytes, |row| &mut row.bytes),
        optional(reverse, |row| &mut row.reverse),
        optional("uid", |row| &mut row.uid),
    ]);
    columns.extend(match log {
        Log::Conn => vec![
            needed("proto", |row| &mut row.proto),
            optional("id.resp_p", |row| &mut row.server_port),
            optional("service", |row| &mut row.service),
            optional(of_side("resp_ip_bytes", "orig_ip_bytes"), |row| &mut row.ip_bytes),
            optional(of_side("orig_ip_bytes", "resp_ip_bytes"), |row| &mut row.reverse_ip_bytes),
            optional(of_side("resp_pkts", "orig_pkts"), |row| &mut row.packets),
            optional(of_side("orig_pkts", "resp_pkts"), |row| &mut row.reverse_packets),
            optional("missed_bytes", |row| &mut row.missed),
            optional("rtt", |row| &mut row.rtt),
            optional("duration", |row| &mut row.duration),
        ],
        _ => vec![
            optional("trans_depth", |row| &mut row.depth),
            optional("host", |row| &mut row.host),
            optional("uri", |row| &mut row.uri),
            optional("referrer", |row| &mut row.referrer),
        ],
    });
    columns
}

/// Decodes the value of `#separator`: `\x09`, `\t`, or the character itself.
///
/// # Errors
/// A clause for anything but one byte.
fn parse_separator(code: &[u8]) -> RowResult<u8> {
    let text = String::from_utf8_lossy(code);
    let (code, named) = match text.trim() {
        "" => (code, None),
        "\\t" => (&b"\t"[..], None),
        word => (word.as_bytes(), word.strip_prefix("\\x").and_then(|hex| u8::from_str_radix(hex, 16).ok())),
    };
    match (named, code) {
        (Some(byte), _) | (None, &[byte]) => Ok(byte),
        _ => Err(format!("#separator \"{}\" is not allowed; a single byte such as \\x09 is", excerpt(code))),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn parse_separator__may_be_written_in_several_ways() {
        assert_eq!(parse_separator(b"\\x09"), Ok(b'\t'));
        assert_eq!(parse_separator(b"\\t"), Ok(b'\t'));
        assert_eq!(parse_separator(b"\t"), Ok(b'\t'));
        assert_eq!(parse_separator(b","), Ok(b','));
        assert_eq!(parse_separator(b"\\x2c "), Ok(b','));
        assert!(parse_separator(b"||").unwrap_err().contains("\"||\""));
    }
}
