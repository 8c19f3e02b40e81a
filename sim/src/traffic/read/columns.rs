//! Recognises the columns of delimited text by their names.
//!
//! Names are compared without regard to case and to `_`, `.`, `@` and spaces in them. A time column may end in `_s`,
//! `_ms`, `_us` or `_ns` (without an ending it is in seconds, or in the unit that its size shows). Of several columns
//! for one meaning the first name listed here wins.

use super::lines::excerpt;
use super::options::Direction;
use super::stamp::Unit;
use crate::error::did_you_mean;

const START: &[&str] = &[
    "start",
    "ts",
    "time",
    "timestamp",
    "start_time",
    "start_ts",
    "first",
    "first_seen",
    "date_first_seen",
    "t_first",
    "flow_start",
    "time_received",
    "begin",
    "stime",
    "datetime",
    "date",
];
const CLIENT: &[&str] = &["client", "client_ip", "client_addr"];
/// Names of the sender of a row, which is the client except in tables of one direction each.
const SENDERS: &[&str] = &[
    "src",
    "src_ip",
    "ip_src",
    "sip",
    "source",
    "source_ip",
    "source_address",
    "src_addr",
    "src_address",
    "src_ip_addr",
    "src4_addr",
    "orig_h",
    "id.orig_h",
    "saddr",
    "from",
    "from_ip",
    "from_addr",
];
const HOST: &[&str] =
    &["x_forwarded_for", "remote_addr", "remote_ip", "c-ip", "remote_host", "ip", "user", "host", "page"];
const SERVER: &[&str] = &[
    "server",
    "server_ip",
    "server_addr",
    "dst",
    "dst_ip",
    "ip_dst",
    "dip",
    "dest_ip",
    "destination",
    "destination_ip",
    "destination_address",
    "dst_addr",
    "dst_address",
    "dst_ip_addr",
    "dst4_addr",
    "dest_addr",
    "resp_h",
    "id.resp_h",
    "daddr",
    "to",
    "to_ip",
    "to_addr",
    "s-ip",
    "vhost",
    "host_idx",
];
const DOWN: &[&str] = &[
    "s2c_unique",
    "s2c_bytes",
    "resp_bytes",
    "response_bytes",
    "response_size",
    "response_body_len",
    "bytes_down",
    "down_bytes",
    "body_bytes_sent",
    "sc-bytes",
    "bytes",
    "size",
    "length",
    "octets",
    "byte_count",
    "num_bytes",
];
/// The names in [`DOWN`] that give no direction.
const UNDIRECTED: &[&str] = &["bytes", "size", "length", "octets", "byte_count", "num_bytes"];
/// The names of columns of bytes in one direction, without the word for bytes.
const ONE_DIRECTION: &[&str] = &[
    "sent",
    "received",
    "recv",
    "rcvd",
    "in",
    "out",
    "rx",
    "tx",
    "src",
    "dst",
    "source",
    "dest",
    "destination",
    "up",
    "down",
    "upload",
    "download",
    "uploaded",
    "downloaded",
    "ingress",
    "egress",
    "inbound",
    "outbound",
    "forward",
    "reverse",
    "fwd",
    "bwd",
    "to_server",
    "to_client",
];
/// Bytes that a web server sent; in tables of flows the client may have sent them.
const BY_WEB_SERVER: &[&str] = &["bytes_sent"];
const UP: &[&str] = &[
    "c2s_unique",
    "c2s_bytes",
    "orig_bytes",
    "req_bytes",
    "request_bytes",
    "request_body_len",
    "bytes_up",
    "up_bytes",
    "cs-bytes",
];
const RTT: &[&str] = &["rtt", "hs_rtt", "handshake_rtt"];
const ID: &[&str] = &["uid", "conn_id", "connection_id", "connection", "conn"];
const DURATION: &[&str] = &["duration", "dur"];
const END: &[&str] = &["end", "end_time", "end_ts", "last_seen", "flow_end", "etime"];
const PROTOCOL: &[&str] = &["proto", "protocol", "prot", "ip_proto", "ip_protocol"];
const SERVER_PORT: &[&str] = &[
    "server_port",
    "dport",
    "dst_port",
    "port_dst",
    "dst_pt",
    "dest_port",
    "destination_port",
    "resp_p",
    "id.resp_p",
    "to_port",
];
const CLIENT_PORT: &[&str] = &[
    "client_port",
    "sport",
    "src_port",
    "port_src",
    "src_pt",
    "source_port",
    "orig_p",
    "id.orig_p",
    "from_port",
];
/// Names of fields of a packet's headers. Two of them show that a row is a packet.
const OF_PACKETS: &[&str] = &[
    "seq",
    "seqno",
    "tcp_seq",
    "ack",
    "ackno",
    "tcp_ack",
    "win",
    "window",
    "tcp_window",
    "tcp_flags",
    "ttl",
    "ip_ttl",
    "ip_id",
];
const SERVICE: &[&str] = &["service", "app", "application"];
const SIZE_SOURCE: &[&str] = &["size_src"];

/// The index of the column that has each meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    pub width: usize,
    pub start: (usize, Unit),
    pub bytes: usize,
    pub reverse: Option<usize>,
    pub client: Option<usize>,
    pub server: Option<usize>,
    pub rtt: Option<(usize, Unit)>,
    pub id: Option<usize>,
    pub duration: Option<(usize, Unit)>,
    pub end: Option<(usize, Unit)>,
    pub protocol: Option<usize>,
    pub client_port: Option<usize>,
    pub server_port: Option<usize>,
    /// A date to which `start` is the time of day.
    pub date: Option<usize>,
    pub service: Option<usize>,
    pub size_source: Option<usize>,
    /// Whether a comma in a time may be its decimal point.
    pub has_decimal_commas: bool,
}

/// Returns the delimiter of a header line; `None` unless one of its columns has a known name for start or
/// bytes.
pub fn find_header_delimiter(line: &[u8]) -> Option<u8> {
    let delimiter = guess_delimiter(line)?;
    let header = normalise_spaced_names(line.split(|&c| c == delimiter));
    let known = [START, DOWN, UP].iter().any(|aliases| find_time_column(&header, aliases).is_some());
    known.then_some(delimiter)
}

/// Returns whether a column's name has a meaning; a time column may end in a unit.
pub fn is_known(name: &str) -> bool {
    let name = normalise_spaced_names(std::iter::once(name.as_bytes()));
    let timed = [START, RTT, DURATION, END];
    let plain = [
        CLIENT,
        SENDERS,
        HOST,
        SERVER,
        DOWN,
        UP,
        ID,
        PROTOCOL,
        CLIENT_PORT,
        SERVER_PORT,
        SERVICE,
        SIZE_SOURCE,
        BY_WEB_SERVER,
    ];
    timed.iter().any(|aliases| find_time_column(&name, aliases).is_some())
        || plain.iter().any(|aliases| find_column(&name, aliases).is_some())
}

/// Returns whether the first line has a delimiter, and no control characters except tabs and its line end.
pub fn looks_delimited(head: &[u8]) -> bool {
    let line = head.split(|&c| c == b'\n').next().unwrap_or(head);
    guess_delimiter(line).is_some() && line.iter().all(|&c| c >= 0x20 || c == b'\t' || c == b'\r')
}

/// Returns the most frequent delimiter of a line among `|`, `,`, `;` and tab, of equals the later; `None` without any.
pub fn guess_delimiter(line: &[u8]) -> Option<u8> {
    let count = |delimiter: u8| line.iter().filter(|&&c| c == delimiter).count();
    // max_by_key takes the last of equals, so the tab wins ties.
    let best = [b'|', b',', b';', b'\t'].into_iter().max_by_key(|&delimiter| count(delimiter))?;
    (count(best) > 0).then_some(best)
}

/// Returns whether a line before the header is a comment, or declares the delimiter to Excel.
pub fn is_remark(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.starts_with(b"sep=")
}

/// Normalises header cells for comparison: lower case, without `#`, quotes and spaces, and short enough to be
/// shown.
pub fn normalise_names<'a>(cells: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let strip = |c: char| c == '"' || c == '#' || c.is_whitespace();
    cells.map(|cell| excerpt(cell).trim_matches(strip).to_ascii_lowercase()).collect()
}

/// Normalises header cells as [`normalise_names`] does, with `_` for the spaces within names, so that `Start
/// Time` is `start_time`.
pub fn normalise_spaced_names<'a>(cells: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    normalise_names(cells).into_iter().map(|name| name.replace(' ', "_")).collect()
}

impl Columns {
    /// Finds the columns of a header, whose names are normalised by [`normalise_names`]. Only a start and the
    /// bytes of `direction` are necessary.
    ///
    /// # Errors
    /// A clause that names the missing column, the names that it may have, and the header.
    pub fn from_header(header: &[String], direction: Direction) -> Result<Columns, String> {
        let (forward, backward) = match direction {
            Direction::Down => (DOWN, UP),
            Direction::Up => (UP, DOWN),
        };
        let start = find_time_column(header, START)
            .ok_or_else(|| missing_column_error("the start time", START, header))?;
        let meaning = match direction {
            Direction::Down => "the bytes from server to client",
            Direction::Up => "the bytes from client to server",
        };
        let client = [CLIENT, SENDERS].iter().find_map(|aliases| find_column(header, aliases));
        let of_web = || {
            find_column(header, BY_WEB_SERVER).filter(|_| client.is_none() && direction == Direction::Down)
        };
        let bytes = find_column(header, forward).or_else(of_web);
        let bytes = bytes.ok_or_else(|| missing_column_error(meaning, forward, header))?;
        let client = client.or_else(|| find_column(header, HOST));
        // The host of a request is the site, if another column names the client.
        let site = find_column(header, &["host"]).filter(|place| Some(*place) != client);
        let date =
            find_column(header, &["date"]).filter(|place| *place != start.0 && header[start.0] == "time");
        Ok(Columns {
            width: header.len(),
            start,
            bytes,
            reverse: find_column(header, backward),
            client,
            server: find_column(header, SERVER).or(site),
            rtt: find_time_column(header, RTT),
            id: find_column(header, ID),
            duration: find_time_column(header, DURATION),
            end: find_time_column(header, END),
            protocol: find_column(header, PROTOCOL),
            client_port: find_column(header, CLIENT_PORT),
            server_port: find_column(header, SERVER_PORT),
            date,
            service: find_column(header, SERVICE),
            size_source: find_column(header, SIZE_SOURCE),
            has_decimal_commas: false,
        })
    }
}

/// Returns whether the column of index `place`, which must exist, names the sender of a row.
pub fn is_sender(header: &[String], place: usize) -> bool {
    SENDERS.iter().any(|alias| is_same(&header[place], alias))
}

/// Returns a sentence that explains why rows below this header cannot be transfers; `None` if no column's
/// name gives a reason.
pub fn explain_doubt(columns: &Columns, header: &[String]) -> Option<String> {
    let of_packets: Vec<&str> = header
        .iter()
        .map(String::as_str)
        .filter(|name| OF_PACKETS.iter().any(|alias| is_same(name, alias)))
        .collect();
    if of_packets.len() > 1 {
        let names = of_packets.join(", ");
        return Some(format!(
            "the columns {names} are headers of packets, and a row must be a transfer; give the capture itself"
        ));
    }
    let read = [Some(columns.start.0), Some(columns.bytes), columns.client, columns.server, columns.reverse];
    let twice = read.into_iter().flatten().find(|place| {
        let others = header.iter().enumerate().filter(|(other, _)| other != place);
        others.into_iter().any(|(_, name)| *name == header[*place])
    });
    if let Some(place) = twice {
        return Some(format!("two columns are called {}; rename one of them", header[place]));
    }
    let is_any = UNDIRECTED.iter().any(|alias| is_same(&header[columns.bytes], alias));
    let of_directions: Vec<&str> =
        header.iter().map(String::as_str).filter(|name| is_any && counts_one_direction(name)).collect();
    if let [one, other, ..] = of_directions[..] {
        return Some(format!(
            "{} may be the sum of {one} and {other}; name the one that counts from server to client resp_bytes, the other \
             orig_bytes",
            header[columns.bytes]
        ));
    }
    let port = columns.client_port.filter(|_| columns.client.is_none())?;
    Some(format!(
        "the column {} names a port, and no column has a known name for the address of the client; name it client, or src \
         where rows are of one direction each; the header has {}",
        header[port],
        list_header(header)
    ))
}

/// Returns whether a name denotes the bytes of an unknown one of the two directions: `rx_bytes`, `bytes
/// sent`.
fn counts_one_direction(name: &str) -> bool {
    let is_known = [DOWN, UP].into_iter().flatten().any(|alias| is_same(name, alias));
    let rest = ["bytes", "byte", "octets"].iter().find_map(|unit| {
        let (before, after) = name.split_once(unit)?;
        Some(format!("{before}{after}"))
    });
    let directed = |rest: String| ONE_DIRECTION.iter().any(|direction| is_same(&rest, direction));
    !is_known && rest.is_some_and(directed)
}

/// Compares names without regard to case and to separators of their parts: `SrcIP`, `src_ip` and `src.ip` are
/// the same.
fn is_same(name: &str, alias: &str) -> bool {
    let letters = |text: &'_ str| text.to_ascii_lowercase().replace(['_', '.', ' ', '@'], "");
    letters(name) == letters(alias)
}

/// Returns the index of the column with one of these names, the first alias that occurs; `None` without one.
fn find_column(header: &[String], aliases: &[&str]) -> Option<usize> {
    aliases.iter().find_map(|alias| header.iter().position(|name| is_same(name, alias)))
}

/// Returns the index of the time column with one of these names, and the unit of its suffix (`_ms`), else
/// seconds. `None` without such a column.
fn find_time_column(header: &[String], aliases: &[&str]) -> Option<(usize, Unit)> {
    let parts = |name: &str| match name.rsplit_once(['_', '.', ' ']) {
        Some((stem, "s")) => (stem.to_string(), Unit::S),
        Some((stem, "ms")) => (stem.to_string(), Unit::Ms),
        Some((stem, "us")) => (stem.to_string(), Unit::Us),
        Some((stem, "ns")) => (stem.to_string(), Unit::Ns),
        _ => (name.to_string(), Unit::S),
    };
    let parts: Vec<(String, Unit)> = header.iter().map(|name| parts(name)).collect();
    aliases.iter().find_map(|alias| {
        let place = parts.iter().position(|(stem, _)| is_same(stem, alias))?;
        Some((place, parts[place].1))
    })
}

/// Returns the error for a header without a needed column, with the names it may have.
fn missing_column_error(meaning: &str, aliases: &[&str], header: &[String]) -> String {
    let unknown = header.iter().filter(|name| !is_known(name));
    let hint = unknown.map(|name| (did_you_mean(name, aliases.iter().copied()), name));
    let hint =
        hint.filter(|(hint, _)| !hint.is_empty()).map(|(hint, name)| format!("; \"{name}\"{hint}")).next();
    format!(
        "no column for {meaning} (known names: {}); the header has {}{}",
        aliases.join(", "),
        list_header(header),
        hint.unwrap_or_default()
    )
}

/// Lists the first 30 names of a header, for messages.
fn list_header(header: &[String]) -> String {
    header.iter().take(30).map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(non_snake_case)]
    use super::*;

    /// Returns the normalised names of a header with commas.
    fn header(text: &str) -> Vec<String> {
        normalise_names(text.split(',').map(str::as_bytes))
    }

    #[test]
    fn from_header__takes_units_from_suffixes() {
        let columns = Columns::from_header(&header("Client,START_MS,bytes,rtt_us"), Direction::Down).unwrap();
        assert_eq!(columns.start, (1, Unit::Ms));
        assert_eq!(columns.rtt, Some((3, Unit::Us)));
        assert_eq!((columns.client, columns.bytes), (Some(0), 2));
    }

    #[test]
    fn explain_doubt__of_two_columns_with_one_name() {
        let doubt = |text: &str| {
            let header = header(text);
            explain_doubt(&Columns::from_header(&header, Direction::Down).unwrap(), &header)
        };
        let said = doubt("start,client,bytes,Bytes");
        assert_eq!(said.as_deref(), Some("two columns are called bytes; rename one of them"));
        assert_eq!(doubt("start,client,bytes,note,note"), None, "nothing of them is read");
    }

    #[test]
    fn explain_doubt__a_sum_of_both_directions() {
        let doubt = |text: &str| {
            let header = header(text);
            explain_doubt(&Columns::from_header(&header, Direction::Down).unwrap(), &header)
        };
        let asked = doubt("start time,client,bytes,bytes sent,bytes received").unwrap();
        assert!(asked.starts_with("bytes may be the sum of bytes sent and bytes received; name"), "{asked}");
        for text in [
            "time,ip,octets,octets_in,octets_out",
            "time,ip,size,RxBytes,TxBytes",
            "time,ip,bytes,src_bytes,dst_bytes",
        ] {
            assert!(doubt(text).is_some(), "{text}");
        }
        for text in [
            "time,ip,bytes",
            "time,ip,bytes,bytes_sent",
            "time,ip,resp_bytes,rx_bytes,tx_bytes",
            "time,ip,bytes,min_bytes,max_bytes",
        ] {
            assert_eq!(doubt(text), None, "{text}");
        }
    }

    #[test]
    fn from_header__suggests_no_name_for_a_column_that_has_one() {
        let error = Columns::from_header(&header("time,client,none"), Direction::Down).unwrap_err();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn from_header__prefers_unique_bytes_and_follows_direction() {
        let names = header("start,c2s_bytes,s2c_bytes,c2s_unique,s2c_unique");
        assert_eq!(Columns::from_header(&names, Direction::Down).unwrap().bytes, 4);
        assert_eq!(Columns::from_header(&names, Direction::Up).unwrap().bytes, 3);
    }

    #[test]
    fn from_header__names_the_missing_column() {
        let error = Columns::from_header(&header("start,byes"), Direction::Down).unwrap_err();
        assert!(error.contains("server to client") && error.contains("did you mean \"bytes\""), "{error}");
    }

    #[test]
    fn is_known__with_endings_of_time_and_in_any_case() {
        assert!(["start_ms", "Bytes", "size_src", "rtt"].into_iter().all(is_known));
        assert!(["bytes_ms", "comment", ""].into_iter().all(|name| !is_known(name)));
    }

    #[test]
    fn find_header_delimiter__needs_a_known_name() {
        assert_eq!(find_header_delimiter(b"start;bytes"), Some(b';'));
        assert_eq!(find_header_delimiter(b"host\ttime\tbytes, all"), Some(b'\t'));
        assert_eq!(find_header_delimiter(b"alpha,beta"), None);
        assert_eq!(find_header_delimiter(b"start"), None);
    }
}
