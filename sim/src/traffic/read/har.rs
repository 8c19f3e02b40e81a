//! Reads HAR files (HTTP Archive 1.2), page loads as browsers export them, entry by entry.
//!
//! One browser is one client. Its connections are those that the file names (`connection`); browsers that name the
//! port there, or nothing, get one connection per server for HTTP/2 and HTTP/3, and for HTTP/1 as many as requests
//! overlap.

use super::assemble::Collector;
use super::draft::Draft;
use super::har_json::{self, Entry};
use super::input::Input;
use super::input::file_name;
use super::ledger::{Ledger, count_text, reason};
use super::options::{Direction, RowResult};
use super::requests::{self, Request};
use super::stamp::{self, Unit};
use crate::error::Result;
use crate::flow::Class;
use crate::traffic::class::{FlowClass, FlowShape, Protocol};
use crate::traffic::connection::Kind;
use crate::units::Dur;
use std::collections::{BTreeMap, HashMap};

/// An answer that crossed the network, with its request.
struct Load {
    /// Times at which the request was sent and at which the last byte of the answer arrived.
    sent: i64,
    end: i64,
    /// Time from the opening of its connection to the request, if it was opened for it.
    opening: i64,
    server: u32,
    /// The name of its connection; empty for none.
    connection: String,
    version: Version,
    bytes: u64,
    page: u32,
    order: u64,
}

/// The version of HTTP, by how a connection carries requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    /// One request at a time.
    Http1,
    /// Several at once over TCP.
    Http2,
    /// Several at once over QUIC.
    Http3,
}

/// Pages by their names in the file, from 1, and when each began and was loaded.
#[derive(Default)]
struct Pages {
    numbers: HashMap<String, u32>,
    /// Start, and time until `onLoad`, of each page by number; index 0 has page 1.
    times: Vec<(Option<i64>, Option<Dur>)>,
}

/// Reads the whole file into memory, counts its entries as rows of `ledger`, and adds its connections, pages and a note
/// on their times to `collector`.
///
/// # Errors
/// [`crate::error::Error::Row`] where the file is no JSON or no HAR; an entry's fault when reading strictly.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let (mut entries, mut listed) = (Vec::new(), Vec::new());
    let creator = har_json::parse(input, &mut |entry| entries.push(entry), &mut |page| listed.push(page))?;
    let is_firefox = creator.eq_ignore_ascii_case("firefox");
    if is_firefox {
        entries.iter_mut().for_each(normalise_firefox);
    }
    let mut pages = Pages::default();
    for page in &listed {
        let number = pages.find_or_add(&page.id);
        let start = stamp::parse_stamp(page.started.as_bytes(), Unit::S).ok().map(|at| at.ns);
        let loaded = stamp::parse_span("onLoad", page.on_load.as_bytes(), Unit::Ms).ok().flatten();
        pages.times[number as usize - 1] = (start, loaded);
    }
    let mut loads = Vec::new();
    for entry in &entries {
        ledger.rows += 1;
        match parse_load(entry, &path, &mut pages, ledger, collector) {
            Ok(Ok(load)) => {
                ledger.used += 1;
                loads.push(load);
            }
            Ok(Err((why, bytes))) => ledger.skip(why, 1, bytes),
            Err(problem) => ledger.count_fault(entry.line, format!("entry {}: {problem}", ledger.rows))?,
        }
    }
    let client = collector.hosts.intern(path.as_bytes());
    note_pages(&path, &pages, &loads, collector);
    collector.last_page += pages.times.len() as u32;
    for connection in divide_connections(loads) {
        let draft = draft_connection(connection, client, ledger, collector);
        collector.push(draft);
    }
    Ok(())
}

/// Rewrites an entry of Firefox in the form of other browsers. Its `bodySize` is all that was transferred,
/// with headers unless it is the size of the content, as in old versions. Entries that never used the
/// network, but came from its cache or a service worker, name neither connection nor address, and took no
/// time or have no size (`har-builder.js` of its developer tools).
fn normalise_firefox(entry: &mut Entry) {
    let number = |text: &str| stamp::parse_bytes("size", text.trim().as_bytes()).ok().flatten();
    let (transferred, content) = (number(&entry.down_body), number(&entry.content));
    if let (Some(headers), Some(transferred)) =
        (number(&entry.down_headers), transferred.filter(|size| Some(*size) != content))
    {
        entry.down_body = transferred.checked_sub(headers).unwrap_or(transferred).to_string();
    }
    let took_time = entry.time.trim().parse::<f64>().is_ok_and(|time| time > 0.0);
    let is_sized = transferred.is_some_and(|size| size > 0);
    let has_end = !entry.connection.is_empty() || !entry.address.is_empty();
    entry.is_from_cache |= !(has_end || took_time && is_sized) && entry.status.trim() != "0";
}

/// An answer, or the reason for leaving it out and its bytes; the error is a fault.
type LoadResult = RowResult<std::result::Result<Load, (&'static str, u64)>>;

/// Parses an entry of a HAR file into a load. Returns the reason and the bytes for an entry to leave out.
/// `client` names the browser. An entry that is used has its stamp recorded, and its hosts and page get numbers.
///
/// # Errors
/// A clause that names the malformed text.
fn parse_load(
    entry: &Entry,
    client: &str,
    pages: &mut Pages,
    ledger: &mut Ledger,
    collector: &mut Collector,
) -> LoadResult {
    let at = stamp::parse_stamp(entry.started.as_bytes(), Unit::S)?;
    let status = stamp::parse_bytes("status", entry.status.as_bytes())?.unwrap_or(0);
    let milliseconds = |name: &str, text: &str| match text.trim() {
        "-1" => Ok(0),
        text => {
            stamp::parse_span(name, text.as_bytes(), Unit::Ms).map(|span| span.unwrap_or_default().0 as i64)
        }
    };
    let time = milliseconds("time", &entry.time)?;
    let before = ["blocked", "dns", "connect"].iter().zip([&entry.blocked, &entry.dns, &entry.connect]);
    let before = before.map(|(name, text)| milliseconds(name, text)).collect::<RowResult<Vec<i64>>>()?;
    let size = direction_bytes(entry, collector.options.direction)?;
    let Some(host) = find_host(&entry.url) else { return Ok(Err((reason::NOT_NETWORK, 0))) };
    let is_stored = ["memory cache", "disk cache", "service worker"]
        .iter()
        .any(|place| entry.found_in.eq_ignore_ascii_case(place));
    if entry.is_from_cache || is_stored {
        return Ok(Err((reason::CACHED, 0)));
    }
    if status == 0 {
        return Ok(Err((reason::NO_ANSWER, size.unwrap_or(0))));
    }
    let Some(bytes) = size else { return Ok(Err((reason::NO_SIZE, 0))) };
    if bytes == 0 {
        return Ok(Err((reason::NO_PAYLOAD, 0)));
    }
    collector.record_stamp(ledger, at);
    let address = entry.address.trim_matches(['[', ']']);
    let server = if address.is_empty() { host } else { address };
    // The browser comes first, so that clients and servers have numbers in the order of the file.
    collector.hosts.intern(client.as_bytes());
    let wait = before.iter().fold(0i64, |sum, part| sum.saturating_add(*part)).min(time);
    let sent = at.ns.saturating_add(wait);
    Ok(Ok(Load {
        sent,
        end: at.ns.saturating_add(time),
        opening: before[2].min(wait),
        server: collector.hosts.intern(server.as_bytes()),
        connection: entry.connection.clone(),
        version: parse_version(&entry.version),
        bytes,
        page: if entry.page.is_empty() { 0 } else { pages.find_or_add(&entry.page) },
        order: ledger.rows,
    }))
}

/// Returns the bytes that crossed the network in a direction, headers included; `None` if the entry does not have them.
/// An answer 304 has only headers.
///
/// # Errors
/// A clause for a size that is no number.
fn direction_bytes(entry: &Entry, direction: Direction) -> RowResult<Option<u64>> {
    let number = |name: &str, text: &str| match text.trim() {
        "-1" => Ok(None),
        text => stamp::parse_bytes(name, text.as_bytes()),
    };
    if direction == Direction::Up {
        let (headers, body) =
            (number("headersSize", &entry.up_headers)?, number("bodySize", &entry.up_body)?);
        return Ok((headers.is_some() || body.is_some()).then(|| headers.unwrap_or(0) + body.unwrap_or(0)));
    }
    let (transferred, headers, body) = (
        number("_transferSize", &entry.transferred)?,
        number("headersSize", &entry.down_headers)?,
        number("bodySize", &entry.down_body)?,
    );
    let (content, saved) = (number("content.size", &entry.content)?, &entry.compression);
    // Zero means unknown or cached; the parts show which.
    if let Some(bytes @ 1..) = transferred {
        return Ok(Some(bytes));
    }
    let saved = stamp::parse_bytes("content.compression", saved.as_bytes()).ok().flatten().unwrap_or(0);
    // A 304 means that the body is in the cache (RFC 9110, section 15.4.5); browsers write the size of the cached one.
    if entry.status.trim() == "304" {
        return Ok(Some(headers.unwrap_or(0)));
    }
    let body = body.or(content.map(|content| content.saturating_sub(saved)));
    match (transferred, headers, body) {
        (Some(0), None | Some(0), _) => Ok(Some(0)),
        (_, None, None) => Ok(None),
        (_, headers, body) => Ok(Some(headers.unwrap_or(0) + body.unwrap_or(0))),
    }
}

/// Returns the host of a URL that goes to the network, with its port if it has one; `None` for data in the URL itself
/// and the like.
fn find_host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_network = ["http", "https", "ws", "wss"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_network.then(|| rest.split(['/', '?', '#']).next().unwrap_or(rest))
}

/// Parses the version of HTTP as browsers write it; HTTP/1 for unknown names.
fn parse_version(name: &str) -> Version {
    let name = name.to_ascii_lowercase();
    match name.trim_start_matches("http/") {
        name if name.starts_with("h3") || name.starts_with('3') || name.contains("quic") => Version::Http3,
        name if name.starts_with("h2") || name.starts_with('2') => Version::Http2,
        _ => Version::Http1,
    }
}

impl Pages {
    /// Returns the number of a page, from 1, by its name; a new name gets the next number and unknown times.
    fn find_or_add(&mut self, name: &str) -> u32 {
        let next = self.times.len() as u32 + 1;
        let number = *self.numbers.entry(name.to_string()).or_insert(next);
        if number == next {
            self.times.push((None, None));
        }
        number
    }
}

/// Divides answers among connections, by server, name of the connection and version of HTTP. The connections come in
/// the order of these three, each with its answers in the order of their requests.
fn divide_connections(loads: Vec<Load>) -> Vec<Vec<Load>> {
    let mut named: BTreeMap<(u32, String, Version), Vec<Load>> = BTreeMap::new();
    for load in loads {
        named.entry((load.server, load.connection.clone(), load.version)).or_default().push(load);
    }
    let divided = named.into_iter().flat_map(|((_, _, version), mut loads)| {
        loads.sort_by_key(|load| (load.sent, load.order));
        if version == Version::Http1 { divide_in_turn(loads) } else { vec![loads] }
    });
    divided.collect()
}

/// Divides requests of HTTP/1, in order of time, among connections: each goes to the connection that became
/// free last before it, else to a new one.
fn divide_in_turn(loads: Vec<Load>) -> Vec<Vec<Load>> {
    let mut lanes: Vec<Vec<Load>> = Vec::new();
    for load in loads {
        let end = |lane: &Vec<Load>| lane.last().map_or(i64::MIN, |load| load.end);
        let free = lanes.iter_mut().filter(|lane| end(lane) <= load.sent).max_by_key(|lane| end(lane));
        match free {
            Some(lane) => lane.push(load),
            None => lanes.push(vec![load]),
        }
    }
    lanes
}

/// Returns the connection of these loads, which are in order of their requests; at least one. It begins when it was
/// opened for its first request, and has the server and the version of that.
fn draft_connection(loads: Vec<Load>, client: u32, ledger: &Ledger, collector: &Collector) -> Draft {
    let start = loads[0].sent - loads[0].opening;
    let end = loads.iter().map(|load| load.end).max().unwrap_or(start);
    let request = |load: &Load| Request {
        at: load.sent,
        depth: load.order,
        busy: Dur(load.end.saturating_sub(load.sent).max(0) as u64),
        bytes: load.bytes,
        page: load.page,
    };
    let mut requests: Vec<Request> = loads.iter().map(request).collect();
    let writes = requests::to_writes(&mut requests);
    Draft {
        start,
        file: ledger.index as u32,
        order: loads[0].order,
        rows: loads.len() as u32,
        client,
        server: loads[0].server,
        rtt: None.into(),
        duration: Some(Dur(end.saturating_sub(start).max(0) as u64)).into(),
        kind: if loads[0].version == Version::Http3 { Kind::Quic } else { Kind::Tcp },
        class: Class::Web,
        flow_class: classify_loads(&loads, collector),
        server_think: Default::default(),
        writes: writes.into(),
        pages: requests::find_pages(&requests),
    }
}

/// Returns the class of a connection, of at least one load, by its largest answer and the user's corrections for its
/// server.
fn classify_loads(loads: &[Load], collector: &Collector) -> FlowClass {
    let protocol = if loads[0].version == Version::Http3 { Protocol::Quic } else { Protocol::Tcp };
    let most = loads.iter().map(|load| load.bytes).max().unwrap_or(0);
    let shape = FlowShape::from_totals(protocol, [0; 2], None, [(None, 0), (None, most)]);
    let server = collector.hosts.name(loads[0].server);
    collector.classify_flow([b"", server], &shape)
}

/// Adds a note on the times of pages, one by one if there are few, and on the times between them; none without pages.
fn note_pages(path: &str, pages: &Pages, loads: &[Load], collector: &mut Collector) {
    const FEW: usize = 8;
    let mut ends: Vec<Option<i64>> = vec![None; pages.times.len()];
    for load in loads.iter().filter(|load| load.page > 0) {
        let end = &mut ends[load.page as usize - 1];
        *end = (*end).max(Some(load.end));
    }
    let mut times: Vec<(i64, Option<Dur>, i64)> = Vec::new();
    for (&(start, loaded), end) in pages.times.iter().zip(ends) {
        if let Some(start) = start {
            let done = loaded.map(|loaded| start.saturating_add(loaded.0 as i64)).or(end);
            times.push((start, loaded, done.unwrap_or(start)));
        }
    }
    times.sort_by_key(|(start, ..)| *start);
    let known: Vec<f64> = times.iter().filter_map(|(_, loaded, _)| Some((*loaded)?.as_secs())).collect();
    let gaps = times.windows(2).map(|pair| Dur(pair[1].0.saturating_sub(pair[0].2).max(0) as u64).as_secs());
    let gaps: Vec<f64> = gaps.collect();
    let listed = |times: &[f64]| match times.len() {
        1..=FEW => times.iter().map(|time| format!("{time:.2} s")).collect::<Vec<_>>().join(", "),
        _ => format!("median {:.2} s", median(times)),
    };
    let mut text = format!("{}: {}", file_name(path), count_text(pages.times.len() as u64, "page"));
    if !known.is_empty() {
        text += &format!("; from start to onLoad: {}", listed(&known));
    }
    if !gaps.is_empty() {
        text += &format!("; from one page's onLoad to the next page: {}", listed(&gaps));
    }
    if !pages.times.is_empty() {
        collector.note_choice(text);
    }
}

/// Returns the upper median of values, at least one.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns whether the content begins as a HAR file does: an object whose first name is `log` and whose value
/// is an object. Only the first 1024 bytes count.
pub fn is_har(head: &[u8]) -> bool {
    let after = |text: &[u8], token: &[u8]| text.trim_ascii_start().strip_prefix(token).map(<[u8]>::to_vec);
    let head = &head[..head.len().min(1024)];
    let rest =
        after(head, b"{").and_then(|rest| after(&rest, b"\"log\"")).and_then(|rest| after(&rest, b":"));
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn find_host__is_that_of_network_urls() {
        assert_eq!(find_host("https://a.example:8080/x?y"), Some("a.example:8080"));
        assert_eq!(find_host("WSS://b"), Some("b"));
        assert_eq!(
            [find_host("data:image/png;base64,AA"), find_host("blob:https://a/b"), find_host("")],
            [None; 3]
        );
    }

    #[test]
    fn parse_version__as_browsers_write_it() {
        assert_eq!(["h2", "HTTP/2", "http/2.0"].map(parse_version), [Version::Http2; 3]);
        assert_eq!(["h3", "HTTP/3", "h3-29", "http/2+quic/46"].map(parse_version), [Version::Http3; 4]);
        assert_eq!(["http/1.1", "HTTP/1.0", "unknown", ""].map(parse_version), [Version::Http1; 4]);
    }

    #[test]
    fn is_har__looks_at_the_first_name() {
        assert!(is_har(b" {\n \"log\" : {\"version\""));
        assert!(!is_har(b"{\"ts\":1,\"log\":{}}") && !is_har(b"{\"log\":1}") && !is_har(b"{"));
    }
}
