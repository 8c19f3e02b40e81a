//! Reads a table of named columns: delimited text below a header (tab, comma or semicolon), or objects of
//! JSON. One row is one connection, or one write of the connection that its id column names.

use super::access_log::ONE_SERVER;
use super::assemble::Collector;
use super::class;
use super::columns::{self, Columns, normalise_spaced_names};
use super::draft::Draft;
use super::hosts;
use super::input::{Input, Rows};
use super::layout;
use super::ledger::{Ledger, reason};
use super::lines::excerpt;
use super::objects::Objects;
use super::one_way;
use super::options::{Direction, RowResult};
use super::pairing;
use super::requests::{self, Request};
use super::sampling;
use super::spec::Dates;
use super::stamp::{self, Stamp, Unit};
use crate::error::{Error, Result};
use crate::traffic::class::{FlowClass, FlowShape, Protocol};
use crate::traffic::connection::{Kind, Writes};
use crate::units::Dur;
use csv::ByteRecord;
use std::borrow::Cow;
use std::collections::HashMap;

/// A quoted field that spans more lines than this was never closed.
const MAX_ROW_LINES: u64 = 1000;

/// Rows of one connection, by (client, connection id).
type Groups = HashMap<(u32, Vec<u8>), (Draft, Vec<Request>)>;

/// The syntax of a table's rows.
#[derive(Debug, Clone)]
pub enum Written {
    /// Cells with this delimiter between them, below a header.
    Cells(u8),
    /// Objects of JSON, whose first ones have these names.
    Objects(Vec<String>),
}

/// The rows of a table, one by one.
enum Source<'a> {
    Cells(Box<csv::Reader<Rows<'a>>>),
    Objects(Objects<'a>, Vec<String>),
}

/// Reads the whole table, counts its rows in `ledger` and adds its connections and notes to `collector`. If all stamps
/// are whole seconds or minutes, starts are spread.
///
/// # Errors
/// [`Error::File`] when a needed column is missing, the names of columns contradict rows that are transfers, or rows
/// both ways cannot be paired; [`Error::Row`] when a quoted field never ends; a row's fault when reading strictly.
pub fn read(
    input: &mut Input,
    written: &Written,
    ledger: &mut Ledger,
    collector: &mut Collector,
) -> Result<()> {
    let path = input.path().to_string();
    let mut record = ByteRecord::new();
    let mut source = Source::new(input, written);
    let header = source.read_header(&mut record, &path)?;
    let wanted = Columns::from_header(&header, collector.options.direction);
    let columns = choose_columns(&wanted, &header, written).map_err(|problem| Error::file(&path, problem))?;
    note_columns(&columns, &header, &path, collector);
    let mut table = Table {
        columns,
        ways: one_way::Ways::new(&columns, &header),
        groups: Groups::new(),
        level: 0,
        first: collector.connections.len(),
        used: ledger.used,
    };
    while let Some(is_whole) = source.read_row(&mut record, &path)? {
        ledger.rows += 1;
        let line = record.position().map_or(0, csv::Position::line);
        if let Err(problem) = is_whole.and_then(|()| table.add(&record, ledger, collector)) {
            ledger.count_fault(line, problem)?;
        }
        table.thin(collector);
    }
    table.finish(wanted, &path, ledger, collector)
}

/// Returns the columns of a table: `wanted`, or those of the other direction if rows may be of one direction each.
///
/// # Errors
/// That of `wanted`, or a sentence about names that do not fit rows of transfers.
fn choose_columns(
    wanted: &std::result::Result<Columns, String>,
    header: &[String],
    written: &Written,
) -> std::result::Result<Columns, String> {
    let mut columns = match wanted {
        Ok(columns) => *columns,
        // Rows of one direction each have bytes either way.
        Err(problem) => Columns::from_header(header, Direction::Down)
            .ok()
            .filter(|columns| one_way::may_be_one_way(columns, header))
            .ok_or_else(|| problem.clone())?,
    };
    if let Some(doubt) = columns::explain_doubt(&columns, header) {
        return Err(doubt);
    }
    columns.has_decimal_commas = matches!(written, Written::Cells(delimiter) if *delimiter != b',');
    Ok(columns)
}

/// A table whose rows are being read.
struct Table {
    columns: Columns,
    /// Detects whether rows are one direction of a connection each.
    ways: one_way::Ways,
    groups: Groups,
    /// The level of sampling when rows were last left out.
    level: u8,
    /// Index of the table's first connection in the collector.
    first: usize,
    /// Rows of the file that were used before the table.
    used: u64,
}

impl Table {
    /// Adds a row as a used connection, or as a write of one, or counts it as left out.
    ///
    /// # Errors
    /// A clause that names the malformed text.
    fn add(&mut self, record: &ByteRecord, ledger: &mut Ledger, collector: &mut Collector) -> RowResult<()> {
        let is_watching = self.ways.is_watching();
        match add_parsed_row(record, &self.columns, is_watching, ledger, collector, &mut self.groups)? {
            Outcome::Used => {
                ledger.used += 1;
                if let Some(draft) = collector.connections.last().filter(|_| is_watching) {
                    self.ways.add(draft, parse_ports(record, &self.columns));
                }
            }
            Outcome::Skipped(why, bytes) => ledger.skip(why, 1, bytes),
            Outcome::NotSampled => {}
        }
        Ok(())
    }

    /// Drops the rows that are not in the sample of a new level, and counts them as thinned; does nothing unless the
    /// level has risen.
    fn thin(&mut self, collector: &mut Collector) {
        if collector.level() <= self.level {
            return;
        }
        self.level = collector.level();
        let mut gone = 0;
        self.groups.retain(|(client, id), (_, requests)| {
            let is_kept = collector.is_sampled(collector.hosts.hash(*client), sampling::hash(id));
            gone += if is_kept { 0 } else { requests.len() };
            is_kept
        });
        collector.count_used_thinned(gone as u64);
        self.ways.retain(&collector.connections[self.first..]);
    }

    /// Pairs rows of one direction each, adds the connections of several rows, and spreads coarse starts, with notes.
    /// `wanted` may be a fault of the header, which is none for rows of one direction each.
    ///
    /// # Errors
    /// [`Error::File`] if a needed column is missing, or if it cannot be known which rows belong together.
    fn finish(
        self,
        wanted: std::result::Result<Columns, String>,
        path: &str,
        ledger: &mut Ledger,
        collector: &mut Collector,
    ) -> Result<()> {
        let name = super::input::file_name(path);
        match self.ways.decide_reading(&collector.connections[self.first..]) {
            one_way::Reading::Paired => {
                let records = self.ways.into_records(collector.take_connections(self.first));
                ledger.used = self.used;
                pairing::add_records(records, ledger, collector);
                collector.note_choice(format!(
                    "{name}: rows of one direction each; those of the same ends are one connection"
                ));
            }
            one_way::Reading::Ambiguous => {
                let problem = "most pairs of addresses have rows both ways, and no columns sport and dport say which \
                    belong together; add them, or name the columns client, server and resp_bytes";
                return Err(Error::file(path, problem));
            }
            one_way::Reading::NoneBack => {
                wanted.map_err(|problem| Error::file(path, problem))?;
                collector.note_choice(format!(
                    "{name}: no row goes back from a destination, so bytes count as what the destination sent; if the \
                     source did, add the rows of the other direction"
                ));
            }
            one_way::Reading::AsNamed => {
                wanted.map_err(|problem| Error::file(path, problem))?;
            }
        }
        self.groups.into_iter().for_each(|((client, id), group)| {
            collector.push_as(close_group(group), collector.hosts.hash(client), sampling::hash(&id));
        });
        collector.spread_coarse_stamps(self.first, ledger);
        Ok(())
    }
}

/// Returns whether a row before the header is a comment.
fn is_comment(record: &ByteRecord) -> bool {
    let has_names = normalise_spaced_names(record.iter()).iter().any(|name| columns::is_known(name));
    record.get(0).is_some_and(columns::is_remark) && !has_names
}

/// What a row becomes.
enum Outcome {
    Used,
    Skipped(&'static str, u64),
    /// See [`Collector::admits`].
    NotSampled,
}

impl<'a> Source<'a> {
    /// Returns the rows of `input` from its start.
    fn new(input: &'a mut Input, written: &Written) -> Source<'a> {
        match written {
            Written::Objects(names) => Source::Objects(Objects::new(input), names.clone()),
            Written::Cells(delimiter) => {
                let mut builder = csv::ReaderBuilder::new();
                builder.has_headers(false).flexible(true).delimiter(*delimiter).quoting(*delimiter != b'\t');
                let reader = builder.buffer_capacity(64 * 1024).from_reader(Rows::new(input));
                Source::Cells(Box::new(reader))
            }
        }
    }

    /// Returns the normalised names of the columns; for cells they are the first row that is no comment, which is
    /// consumed. Call it before [`Source::read_row`].
    ///
    /// # Errors
    /// As [`read_cells`].
    fn read_header(&mut self, record: &mut ByteRecord, path: &str) -> Result<Vec<String>> {
        if let Source::Objects(_, names) = self {
            return Ok(normalise_spaced_names(names.iter().map(String::as_bytes)));
        }
        while self.read_row(record, path)?.is_some() && is_comment(record) {}
        Ok(normalise_spaced_names(record.iter()))
    }

    /// Reads the next row into `record`, with the number of its line; `None` at the end. The inner result is a fault of
    /// the row alone.
    ///
    /// # Errors
    /// As [`read_cells`].
    fn read_row(&mut self, record: &mut ByteRecord, path: &str) -> Result<Option<RowResult<()>>> {
        match self {
            Source::Cells(reader) => Ok(read_cells(reader, record, path)?.then_some(Ok(()))),
            Source::Objects(objects, names) => Ok(objects.advance().map(|line| {
                let values = layout::read_values(line.text, names);
                record.clear();
                record.extend(values.iter().flatten());
                let mut position = csv::Position::new();
                position.set_line(line.number);
                record.set_position(Some(position));
                values.map(drop)
            })),
        }
    }
}

/// Reads the next row of cells into `record`; returns false at the end.
///
/// # Errors
/// [`Error::File`] for a file that cannot be read, [`Error::Row`] for a quoted cell that never ends.
fn read_cells(reader: &mut csv::Reader<Rows>, record: &mut ByteRecord, path: &str) -> Result<bool> {
    let (line, byte) = (reader.position().line(), reader.position().byte());
    reader.get_mut().begin_row(line, byte);
    let more = reader.read_byte_record(record).map_err(|error| Error::file(path, error.to_string()))?;
    if reader.position().line() > line + MAX_ROW_LINES {
        let problem = format!("the row has a quoted field that does not end within {MAX_ROW_LINES} lines");
        return Err(Error::Row { file: path.to_string(), line, problem });
    }
    Ok(more)
}

/// Adds a note on the client's column if the header has none, or if the column may be the server's.
fn note_columns(columns: &Columns, header: &[String], path: &str, collector: &mut Collector) {
    let name = super::input::file_name(path);
    match columns.client {
        None => {
            collector.note_choice(format!(
                "{name}: no column names the client, so all rows count as one client's"
            ));
        }
        Some(place) if header[place] == "host" => {
            collector.note_choice(format!(
                "{name}: the column host counts as the client; name it server if it is the site"
            ));
        }
        Some(_) => {}
    }
}

/// Parses a row and adds its connection, or adds it as a request to the connection of its group. Counts its bytes of
/// the other direction even if it is left out; a row that is used has its stamp recorded and its hosts numbered.
///
/// # Errors
/// A clause that names the malformed text.
fn add_parsed_row(
    record: &ByteRecord,
    columns: &Columns,
    may_be_one_way: bool,
    ledger: &mut Ledger,
    collector: &mut Collector,
    groups: &mut Groups,
) -> RowResult<Outcome> {
    if record.len() != columns.width && record.len() <= columns.start.0.max(columns.bytes) {
        return Err(format!("{} columns where the header has {}", record.len(), columns.width));
    }
    let at = match columns.date {
        Some(date) => {
            let whole = [cell(record, date).trim_ascii(), b" ", &time_cell(record, columns, columns.start.0)]
                .concat();
            stamp::parse_log_time(&whole, None, Dates::default())?
        }
        None => stamp::parse_stamp(&time_cell(record, columns, columns.start.0), columns.start.1)?,
    };
    let bytes = stamp::parse_bytes("bytes", cell(record, columns.bytes))?.unwrap_or(0);
    let duration = match parse_span_column(record, columns, "duration", columns.duration)? {
        None => parse_end(record, columns, at)?,
        known => known,
    };
    let rtt = parse_span_column(record, columns, "rtt", columns.rtt)?.filter(|rtt| *rtt > Dur::ZERO);
    let reverse =
        columns.reverse.and_then(|column| stamp::parse_bytes("bytes", cell(record, column)).ok().flatten());
    ledger.reverse_bytes = ledger.reverse_bytes.saturating_add(reverse.unwrap_or(0));
    let kind = match parse_kind(record, columns) {
        Ok(kind) => kind,
        Err(why) => return Ok(Outcome::Skipped(why, bytes)),
    };
    if columns.size_source.is_some_and(|column| cell(record, column) == b"X") {
        return Ok(Outcome::Skipped(reason::ANNOUNCED, bytes));
    }
    if bytes == 0 {
        return Ok(Outcome::Skipped(reason::NO_PAYLOAD, 0));
    }
    let (client, _) = hosts::split_port(cell_or(record, columns.client, b"(client)"));
    let (id, (server, _)) =
        (cell_or(record, columns.id, b""), hosts::split_port(cell_or(record, columns.server, ONE_SERVER)));
    let (unit_client, connection) = if may_be_one_way {
        let [source, destination] = parse_ports(record, columns);
        pairing::sampling_unit([(sampling::hash(client), source), (sampling::hash(server), destination)])
    } else {
        (sampling::hash(client), if stamp::is_unset(id) { ledger.rows } else { sampling::hash(id) })
    };
    if !collector.admits(unit_client, connection) {
        return Ok(Outcome::NotSampled);
    }
    collector.record_stamp(ledger, at);
    let flow_class = classify_row(record, columns, kind, duration, (bytes, reverse.unwrap_or(0)), collector);
    let draft = Draft {
        start: at.ns,
        file: ledger.index as u32,
        order: ledger.rows,
        rows: 1,
        client: collector.hosts.intern(client),
        server: collector.hosts.intern(server),
        rtt: rtt.into(),
        duration: duration.into(),
        kind,
        class: class::classify(
            cell_or(record, columns.service, b""),
            parse_ports(record, columns)[1].to_string().as_bytes(),
        ),
        flow_class,
        server_think: Default::default(),
        writes: Writes::single(bytes),
        pages: None,
    };
    if may_be_one_way {
        collector.push_as(draft, unit_client, connection);
        return Ok(Outcome::Used);
    }
    let request =
        Request { at: at.ns, depth: ledger.rows, busy: duration.unwrap_or(Dur::ZERO), bytes, page: 0 };
    add_to_group(draft, request, id, collector, groups);
    Ok(Outcome::Used)
}

/// Returns the class by the row's bytes in the chosen direction and the other way.
fn classify_row(
    record: &ByteRecord,
    columns: &Columns,
    kind: Kind,
    duration: Option<Dur>,
    (bytes, reverse): (u64, u64),
    collector: &Collector,
) -> FlowClass {
    let protocol = if kind == Kind::Quic { Protocol::Quic } else { Protocol::Tcp };
    let [_, port] = parse_ports(record, columns);
    let mut totals = [(None, reverse), (None, bytes)];
    if collector.options.direction == Direction::Up {
        totals.reverse();
    }
    let shape = FlowShape::from_totals(protocol, [0, port], duration, totals);
    let hosts = [columns.client, columns.server].map(|host| hosts::split_port(cell_or(record, host, b"")).0);
    collector.classify_flow(hosts, &shape)
}

/// Adds a request to the connection with the same client and id; without an id it is a separate connection. A request
/// of unknown duration makes that of its connection unknown.
fn add_to_group(draft: Draft, request: Request, id: &[u8], collector: &mut Collector, groups: &mut Groups) {
    if stamp::is_unset(id) {
        collector.connections.push(draft);
        return;
    }
    let duration: Option<Dur> = draft.duration.into();
    let entry = groups.entry((draft.client, id.to_vec())).or_insert_with(|| (draft, Vec::new()));
    if duration.is_none() {
        entry.0.duration = duration.into();
    }
    entry.1.push(request);
}

/// Returns the connection of the rows of one id, at least one, which begins with the earliest. Its end is known if the
/// end of each row is.
fn close_group((mut draft, mut requests): (Draft, Vec<Request>)) -> Draft {
    draft.writes = requests::to_writes(&mut requests).into();
    draft.rows = requests.len() as u32;
    draft.start = requests[0].at;
    let ends = requests.iter().map(|request| request.at.saturating_add(request.busy.0 as i64));
    let last = ends.max().unwrap_or(draft.start);
    let known: Option<Dur> = draft.duration.into();
    draft.duration = known.map(|_| Dur(last.saturating_sub(draft.start) as u64)).into();
    draft
}

/// Returns the time from the start to that in the column of ends; `None` if there is none.
///
/// # Errors
/// A clause for an end that is malformed or lies before the start.
fn parse_end(record: &ByteRecord, columns: &Columns, start: Stamp) -> RowResult<Option<Dur>> {
    let Some((column, unit)) = columns.end else { return Ok(None) };
    let text = time_cell(record, columns, column);
    if stamp::is_unset(&text) {
        return Ok(None);
    }
    match stamp::parse_stamp(&text, unit)?.ns.checked_sub(start.ns) {
        Some(ns @ 0..) => Ok(Some(Dur(ns as u64))),
        _ => Err(format!("end \"{}\" lies before the start", excerpt(&text))),
    }
}

/// Returns a cell; empty text if the row is too short.
fn cell(record: &ByteRecord, column: usize) -> &[u8] {
    record.get(column).unwrap_or(b"")
}

/// Returns a cell without spaces around it; `otherwise` if it is empty or its column absent.
fn cell_or<'a>(record: &'a ByteRecord, column: Option<usize>, otherwise: &'a [u8]) -> &'a [u8] {
    column
        .map(|column| cell(record, column).trim_ascii())
        .filter(|name| !name.is_empty())
        .unwrap_or(otherwise)
}

/// Returns the ports of client and server, from their columns, else from the text after the addresses; 0 for none and
/// for a malformed one.
fn parse_ports(record: &ByteRecord, columns: &Columns) -> [u16; 2] {
    let of = |port: Option<usize>, host| match port {
        Some(_) => hosts::parse_port(cell_or(record, port, b"")).unwrap_or(0),
        None => hosts::split_port(cell_or(record, host, b"")).1.unwrap_or(0),
    };
    [of(columns.client_port, columns.client), of(columns.server_port, columns.server)]
}

/// Returns the cell of a time or a span; if commas do not separate columns, one may be the decimal point.
fn time_cell<'a>(record: &'a ByteRecord, columns: &Columns, column: usize) -> Cow<'a, [u8]> {
    let text = cell(record, column).trim_ascii();
    let is_point = |at: &usize| text[..*at].last().is_some_and(u8::is_ascii_digit);
    match memchr::memchr(b',', text).filter(is_point) {
        Some(at) if columns.has_decimal_commas => Cow::Owned([&text[..at], b".", &text[at + 1..]].concat()),
        _ => Cow::Borrowed(text),
    }
}

/// Parses a time span in an optional column; `None` if it is unset or the column absent. `name` is for errors.
///
/// # Errors
/// As [`stamp::parse_span`].
fn parse_span_column(
    record: &ByteRecord,
    columns: &Columns,
    name: &str,
    column: Option<(usize, Unit)>,
) -> RowResult<Option<Dur>> {
    column
        .map_or(Ok(None), |(column, unit)| stamp::parse_span(name, &time_cell(record, columns, column), unit))
}

/// Returns the kind of a row: TCP unless a protocol column says otherwise; HTTP versions count as TCP, `h3`
/// as QUIC.
///
/// # Errors
/// The reason to leave out a row of another protocol.
fn parse_kind(record: &ByteRecord, columns: &Columns) -> std::result::Result<Kind, &'static str> {
    let Some(column) = columns.protocol else { return Ok(Kind::Tcp) };
    let name = cell(record, column).trim_ascii().to_ascii_lowercase();
    match name.as_slice() {
        b"quic" | b"h3" | b"http/3" | b"http/3.0" | b"h3.0" => Ok(Kind::Quic),
        b"udp" | b"17" if cell_or(record, columns.server_port, b"") == b"443" => Ok(Kind::Quic),
        b"udp" | b"17" => Err(reason::OTHER_UDP),
        b"icmp" | b"icmp6" | b"ipv6-icmp" | b"igmp" | b"58" => Err(reason::OTHER_PROTOCOL),
        _ => Ok(Kind::Tcp),
    }
}
