//! Reads logs of the formats that files describe; see [`super::spec`].

use super::access_log::ONE_SERVER;
use super::assemble::Collector;
use super::class;
use super::draft::Draft;
use super::hosts;
use super::input::{Input, file_name};
use super::layout::{Form, Layout, Values, field_text, header_names};
use super::ledger::{Ledger, reason};
use super::lines::{Line, Lines, excerpt};
use super::objects::Objects;
use super::options::{Direction, RowResult};
use super::pairing::{self, Flags, Record, TCP, UDP};
use super::sampling;
use super::spec::{Field, RowKind};
use super::stamp::{self, Unit};
use crate::error::{Error, Result};
use crate::traffic::class::{FlowShape, Protocol};
use crate::traffic::connection::{HEADER_BYTES, Kind, Writes};
use crate::traffic::datagrams::{Amount, MOST_BYTES, UDP_HEADERS};
use crate::units::Dur;

const QUIC_PORT: u16 = 443;
const SCTP: u8 = 132;
/// Bytes of TCP's time stamps with their padding, which most packets have (RFC 7323, appendix A).
const TCP_OPTIONS: u64 = 12;
/// Names of protocols; others are given by number.
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
    ("ipv6-icmp", 58),
    ("ospf", 89),
    ("sctp", SCTP),
];

/// The state of reading one file.
struct Reading<'a> {
    layout: Layout,
    time_unit: Option<Unit>,
    duration_unit: Unit,
    records: Vec<Record>,
    /// The collector's level of sampling when records were last left out.
    level: u8,
    /// Number of rows with a number such as `1.2 M`.
    rounded: u64,
    ledger: &'a mut Ledger,
    collector: &'a mut Collector,
}

/// Reads the whole file by its layout, counts its rows in `ledger` and adds its connections and notes to `collector`.
/// Rows may be in any order. If all stamps are whole seconds, starts are spread.
///
/// # Errors
/// A row's fault when reading strictly; [`Error::File`] for a format that is refused, or that lacks the bytes of the
/// direction.
pub fn read(input: &mut Input, layout: Layout, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let (path, spec) = (input.path().to_string(), layout.spec.clone());
    if !spec.refuse.is_empty() {
        return Err(Error::file(&path, format!("looks like {}: {}", spec.title, spec.refuse)));
    }
    let [sent, received] = [Field::Sent, Field::Received].map(|field| layout.has(field));
    if spec.row == RowKind::Request && collector.options.direction == Direction::Up && !sent {
        let problem = "does not record bytes from client to server; read it with payload down";
        return Err(Error::file(&path, format!("{} {problem}", spec.title)));
    }
    if spec.row != RowKind::Direction
        && collector.options.direction == Direction::Down
        && !received
        && !layout.has(Field::Total)
    {
        let problem = "does not record bytes from server to client; read it with payload up";
        return Err(Error::file(&path, format!("{} {problem}", spec.title)));
    }
    let (form, first) = (layout.form, collector.connections.len());
    let mut reading = Reading {
        time_unit: parse_unit(&spec.time_unit),
        duration_unit: parse_unit(&spec.duration_unit).unwrap_or(Unit::S),
        layout,
        records: Vec::new(),
        level: 0,
        rounded: 0,
        ledger,
        collector,
    };
    if form == Form::Json {
        let mut objects = Objects::new(input);
        while let Some(line) = objects.advance() {
            reading.add_line(&line)?;
        }
    } else {
        reading.add_lines(&mut Lines::new(input))?;
    }
    reading.finish(&path, first);
    Ok(())
}

/// Parses the name of a unit of time: s, ms, us or ns; `None` for any other.
fn parse_unit(name: &str) -> Option<Unit> {
    match name {
        "s" => Some(Unit::S),
        "ms" => Some(Unit::Ms),
        "us" => Some(Unit::Us),
        "ns" => Some(Unit::Ns),
        _ => None,
    }
}

impl Reading<'_> {
    /// Reads the rows of a file of lines, up to nfdump's `Summary` if there is one. A line `#Fields:` names the columns
    /// anew; other comments, empty lines and repeated headers are passed over.
    ///
    /// # Errors
    /// A row's fault when reading strictly.
    fn add_lines(&mut self, lines: &mut Lines) -> Result<()> {
        let mut header: Vec<u8> = Vec::new();
        while let Some(line) = lines.advance() {
            let text = line.text.trim_ascii();
            if text.is_empty() || text.starts_with(b"#") {
                // Files that were joined may name other columns.
                if let Some(names) = text.strip_prefix(b"#Fields:") {
                    self.rename_columns(&header_names(Form::Words, names));
                }
                if header.is_empty() && self.layout.has_header && text.len() > 1 {
                    header = text.to_vec();
                }
                continue;
            }
            if text == b"Summary" {
                // nfdump's sums of all rows follow; nothing else may.
                break;
            }
            if header.is_empty() && self.layout.has_header {
                header = text.to_vec();
                continue;
            }
            // Files that were joined have a header each.
            if text != header {
                self.add_line(&line)?;
            }
        }
        Ok(())
    }

    /// Replaces the columns by those of a new header; they stay as they are if the header does not fit the format.
    fn rename_columns(&mut self, names: &[String]) {
        if let Some(layout) = Layout::from_header(&self.layout.spec, self.layout.form, names) {
            self.layout = layout;
        }
    }

    /// Parses a row, and adds its connection or stores its record, or counts it as left out or faulty. Records that
    /// left the sample are dropped.
    ///
    /// # Errors
    /// The row's fault when reading strictly.
    fn add_line(&mut self, line: &Line) -> Result<()> {
        self.ledger.rows += 1;
        let outcome = match self.layout.split_row(line.text) {
            Err(problem) => Err(problem),
            Ok(values) => match self.layout.admits(&values) {
                (false, _) => Ok(Some((reason::OTHER_ROW, 0))),
                (true, false) => {
                    let bytes =
                        stamp::parse_bytes("bytes", field_text(&values, Field::Received)).ok().flatten();
                    Ok(Some((reason::NOT_CARRIED, bytes.unwrap_or(0))))
                }
                (true, true) if self.layout.spec.row == RowKind::Request => self.add_request(&values),
                (true, true) => self.parse_record(&values).map(|record| {
                    self.records.extend(record);
                    None
                }),
            },
        };
        self.thin();
        match outcome {
            Ok(None) => Ok(()),
            Ok(Some((why, bytes))) => {
                self.ledger.skip(why, 1, bytes);
                Ok(())
            }
            Err(problem) => self.ledger.count_fault(line.number, problem),
        }
    }

    /// Drops the records that are no longer in the sample that memory holds, and counts them as thinned. Does nothing
    /// if the level of sampling is that of the last call.
    fn thin(&mut self) {
        if self.collector.level() == self.level {
            return;
        }
        self.level = self.collector.level();
        let (before, collector) = (self.records.len(), &*self.collector);
        self.records.retain(|record| {
            let (client, connection) = pairing::sampling_unit_of_ends(record.ends, collector);
            collector.is_sampled(client, connection)
        });
        self.collector.count_thinned(before - self.records.len());
    }

    /// Pairs the records of flows into connections of the collector, adds the file's notes, and spreads coarse starts;
    /// `first` is the index of the file's first connection.
    fn finish(self, path: &str, first: usize) {
        let Reading { layout, records, rounded, ledger, collector, .. } = self;
        let (spec, name) = (&layout.spec, file_name(path));
        if spec.row != RowKind::Request {
            pairing::add_records(records, ledger, collector);
        }
        if rounded > 0 {
            collector.note_choice(format!(
                "{name}: {rounded} rows have rounded sizes such as \"1.2 M\"; nfdump -N writes them in full"
            ));
        }
        if spec.header > 0 {
            let (title, tcp, udp) = (&spec.title, spec.header, udp_header_bytes(spec.header));
            collector.note_choice(format!(
                "{name}: {title} counts headers; {tcp} B per TCP packet ({udp} B per packet of QUIC) are taken off"
            ));
        }
        if !spec.note.is_empty() {
            collector.note_choice(format!("{name}: {}", spec.note));
        }
        collector.spread_coarse_stamps(first, ledger);
    }

    /// Returns the start of a row, ns, and its duration if it is known, and records its stamp. Without a start it is
    /// the end less the duration.
    ///
    /// # Errors
    /// A clause for a row without a time, or with a malformed one.
    fn parse_times(&mut self, values: &Values) -> RowResult<(i64, Option<Dur>)> {
        let dates = self.layout.spec.dates;
        let [start, end] = [Field::Start, Field::End].map(|field| {
            let text = field_text(values, field);
            (!stamp::is_unset(text)).then(|| stamp::parse_log_time(text, self.time_unit, dates)).transpose()
        });
        let (start, end) = (start?, end?);
        let known = start.or(end).ok_or("the row has no time")?;
        let span = stamp::parse_span("duration", field_text(values, Field::Duration), self.duration_unit);
        // Exporters write negative differences as huge numbers; start and end are more reliable.
        let span = if start.is_some() && end.is_some() { span.unwrap_or_default() } else { span? };
        self.collector.record_stamp(self.ledger, known);
        let length = span.or_else(|| {
            start.zip(end).map(|(start, end)| Dur(end.ns.saturating_sub(start.ns).max(0) as u64))
        });
        let from = match (start, length) {
            (None, Some(length)) => known.ns.saturating_sub(length.0 as i64),
            _ => known.ns,
        };
        Ok((from, length))
    }

    /// Returns the number in a field; `None` if it is unset. A rounded one such as `1.2 M` is counted as
    /// such.
    ///
    /// # Errors
    /// A clause for text that is no number.
    fn parse_count(&mut self, name: &str, values: &Values, field: Field) -> RowResult<Option<u64>> {
        let text = field_text(values, field);
        stamp::parse_bytes(name, text).or_else(|problem| {
            let rounded = parse_rounded(text).ok_or(problem)?;
            self.rounded += 1;
            Ok(Some(rounded))
        })
    }

    /// Adds a row that is one request as a used connection, and counts its bytes of the other direction. Returns the
    /// reason and the bytes if the row is left out, else `None`, also for a row that is not in the sample.
    ///
    /// # Errors
    /// A clause that names the malformed text.
    fn add_request(&mut self, values: &Values) -> RowResult<Option<(&'static str, u64)>> {
        let (from, length) = self.parse_times(values)?;
        let sent = self.parse_count("sent", values, Field::Sent)?.unwrap_or(0);
        let received = self.parse_count("received", values, Field::Received)?.unwrap_or(0);
        let (bytes, reverse) = match self.collector.options.direction {
            Direction::Down => (received, sent),
            Direction::Up => (sent, received),
        };
        self.ledger.reverse_bytes = self.ledger.reverse_bytes.saturating_add(reverse);
        if bytes == 0 {
            return Ok(Some((reason::NO_PAYLOAD, 0)));
        }
        let (client, _) = hosts::split_port(field_text(values, Field::Source));
        if stamp::is_unset(client) {
            return Err("the row has no client".to_string());
        }
        if !self.collector.admits(sampling::hash(client), self.ledger.rows) {
            return Ok(None);
        }
        let server = field_text(values, Field::Destination);
        let server = if stamp::is_unset(server) { ONE_SERVER } else { server };
        let protocol = String::from_utf8_lossy(field_text(values, Field::Protocol)).to_ascii_lowercase();
        let is_quic = ["h3", "http/3", "quic"].iter().any(|known| protocol.starts_with(known));
        let (kind, carrier) = if is_quic { (Kind::Quic, Protocol::Quic) } else { (Kind::Tcp, Protocol::Tcp) };
        let port = hosts::parse_port(field_text(values, Field::DestinationPort)).unwrap_or(0);
        let shape = FlowShape::from_totals(carrier, [0, port], length, [(None, sent), (None, received)]);
        self.ledger.used += 1;
        let draft = Draft {
            start: from,
            file: self.ledger.index as u32,
            order: self.ledger.rows,
            rows: 1,
            client: self.collector.hosts.intern(client),
            server: self.collector.hosts.intern(server),
            rtt: stamp::parse_span("rtt", field_text(values, Field::Rtt), self.duration_unit)?
                .filter(|rtt| rtt.0 > 0)
                .into(),
            duration: length.into(),
            kind,
            class: class::classify(
                field_text(values, Field::Service),
                field_text(values, Field::DestinationPort),
            ),
            flow_class: self.collector.classify_flow([client, server], &shape),
            server_think: Default::default(),
            writes: Writes::single(bytes),
            pages: None,
        };
        self.collector.connections.push(draft);
        Ok(None)
    }

    /// Returns the record of a row that is a flow or one direction of a flow; `None` if it is not in the
    /// sample that memory holds, for which the row counts. Records its stamp and adds its hosts to the collector.
    ///
    /// # Errors
    /// A clause that names the malformed text.
    fn parse_record(&mut self, values: &Values) -> RowResult<Option<Record>> {
        let (from, length) = self.parse_times(values)?;
        let protocol = match field_text(values, Field::Protocol) {
            b"" if self.layout.has(Field::Protocol) => return Err("the row has no protocol".to_string()),
            b"" => TCP,
            text => parse_protocol(text),
        };
        let ends =
            [Field::Source, Field::Destination].map(|field| hosts::split_port(field_text(values, field)));
        let [source, destination] =
            [Field::SourcePort, Field::DestinationPort].map(|field| field_text(values, field));
        let ports =
            [parse_end_port(source, ends[0], protocol)?, parse_end_port(destination, ends[1], protocol)?];
        let kind = match protocol {
            TCP => Kind::Tcp,
            UDP if ports.contains(&QUIC_PORT) || class::names_quic(field_text(values, Field::Service)) => {
                Kind::Quic
            }
            _ => Kind::Datagrams,
        };
        let hosts = ends.map(|(host, _)| host);
        if hosts.iter().any(|host| stamp::is_unset(host)) {
            return Err("the row has no address".to_string());
        }
        let [source, destination] = hosts.map(sampling::hash);
        let (client, connection) = pairing::sampling_unit([(source, ports[0]), (destination, ports[1])]);
        if !self.collector.admits(client, connection) {
            return Ok(None);
        }
        let hosts = hosts.map(|host| self.collector.hosts.intern(host));
        let total = self.parse_count("total", values, Field::Total)?;
        let sent = self.parse_count("sent", values, Field::Sent)?;
        let received = match (self.parse_count("received", values, Field::Received)?, total, sent) {
            (None, Some(total), Some(sent)) => Some(total.saturating_sub(sent)),
            (received, ..) => received,
        };
        let packets = [
            self.parse_count("packets", values, Field::SentPackets)?,
            self.parse_count("packets", values, Field::ReceivedPackets)?,
        ];
        let header = self.layout.spec.header;
        let bytes = [sent.unwrap_or(0), received.unwrap_or(0)];
        let ways: [(u64, Amount); 2] =
            [0, 1].map(|way| split_headers(bytes[way], packets[way], header, kind));
        let has_service = !stamp::is_unset(field_text(values, Field::Service));
        Ok(Some(Record {
            from,
            to: from.saturating_add(length.unwrap_or_default().0 as i64),
            kind,
            protocol,
            ends: [(hosts[0], ports[0]), (hosts[1], ports[1])],
            payload: ways.map(|(payload, _)| payload),
            sent: ways.map(|(_, amount)| amount),
            flags: Flags::parse(field_text(values, Field::Flags)),
            from_client: self.layout.spec.row == RowKind::Flow,
            rtt: stamp::parse_span("rtt", field_text(values, Field::Rtt), self.duration_unit)?
                .filter(|rtt| rtt.0 > 0),
            service: has_service.then(|| {
                class::classify(
                    field_text(values, Field::Service),
                    field_text(values, Field::DestinationPort),
                )
            }),
            order: self.ledger.rows,
        }))
    }
}

/// Returns the header bytes that a format counts per UDP packet, where it counts `header` per TCP packet.
fn udp_header_bytes(header: u64) -> u64 {
    header.saturating_sub(HEADER_BYTES - UDP_HEADERS)
}

/// Splits the counted bytes of one direction into the payload and the packets with their IP lengths. `header`
/// is the number of header bytes that the format counts per TCP packet. Packets that may all be
/// acknowledgements have no payload. Without a count of packets, it is estimated from full packets.
fn split_headers(bytes: u64, packets: Option<u64>, header: u64, kind: Kind) -> (u64, Amount) {
    let of_ip = if kind == Kind::Tcp { HEADER_BYTES } else { UDP_HEADERS };
    let own = if kind == Kind::Tcp { header } else { udp_header_bytes(header) };
    let reckoned = bytes.div_ceil(u64::from(MOST_BYTES) - of_ip);
    let count = packets.unwrap_or(reckoned);
    let are_acks = kind == Kind::Tcp && header > 0 && bytes <= count.saturating_mul(header + TCP_OPTIONS);
    let payload = if are_acks { 0 } else { bytes.saturating_sub(count.saturating_mul(own)) };
    let ip_bytes = if header == 0 {
        payload.saturating_add(count.saturating_mul(of_ip))
    } else {
        bytes.saturating_sub(count.saturating_mul(own - of_ip.min(own)))
    };
    (payload, Amount { packets: count, bytes: ip_bytes })
}

/// Parses a number such as `1.2 M`, in powers of a thousand; `None` for another form, and from a million units on.
fn parse_rounded(text: &[u8]) -> Option<u64> {
    let (last, number) = text.split_last()?;
    let factor = match last.to_ascii_uppercase() {
        b'K' => 1e3,
        b'M' => 1e6,
        b'G' => 1e9,
        _ => return None,
    };
    let value = std::str::from_utf8(number.trim_ascii()).ok()?.parse::<f64>().ok()?;
    (0.0..1e6).contains(&value).then(|| (value * factor).round() as u64)
}

/// Returns the number of a protocol that is given by name or by number; 0 if it is unknown.
fn parse_protocol(text: &[u8]) -> u8 {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let named = PROTOCOLS.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
    named.or_else(|| text.parse().ok()).unwrap_or(0)
}

/// Returns the port of an end: from its column, or if that is empty the one `written` after its address; 0
/// for none.
///
/// # Errors
/// A clause for a port that is no number.
fn parse_end_port(text: &[u8], (_, written): (&[u8], Option<u16>), protocol: u8) -> RowResult<u16> {
    match written {
        Some(port) if text.is_empty() => Ok(port),
        _ => parse_port(text, protocol),
    }
}

/// Returns a port; 0 for none and for protocols without ports. Exporters write type and code of ICMP in a
/// port's column, such as `8.0`, which identify no flow.
///
/// # Errors
/// A clause for a port that is no number.
fn parse_port(text: &[u8], protocol: u8) -> RowResult<u16> {
    if !matches!(protocol, TCP | UDP | SCTP) || text.is_empty() {
        return Ok(0);
    }
    hosts::parse_port(text).ok_or_else(|| {
        let is_name = text.iter().any(u8::is_ascii_alphabetic);
        let hint = if is_name { ", as -n or -nn of most exporters write it" } else { "" };
        format!("port \"{}\" is not allowed; 0 to 65535 is{hint}", excerpt(text))
    })
}
