//! Reads Common and Combined Log Format: `host ident user [date] "request" status bytes …`, one connection
//! per request. A leading `vhost:port` names the server. Stamps are whole seconds.

use super::assemble::Collector;
use super::draft::{Draft, PagesOfWrites};
use super::input::Input;
use super::ledger::{Ledger, reason};
use super::lines::{Lines, excerpt};
use super::options::{Direction, RowResult};
use super::pages::{self, Hits};
use super::prefix::is_number;
use super::sampling;
use super::stamp;
use crate::error::{Error, Result};
use crate::flow::Class;
use crate::traffic::class::{FlowShape, Protocol};
use crate::traffic::connection::{Kind, Writes};

/// The server's name if the log has none.
pub const ONE_SERVER: &[u8] = b"(server)";

/// The fields of a line that are used.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub client: &'a [u8],
    pub server: &'a [u8],
    pub date: &'a [u8],
    pub bytes: &'a [u8],
    /// The path that was requested.
    pub url: &'a [u8],
    /// The referrer; `None` in Common Log Format.
    pub referrer: Option<&'a [u8]>,
    /// Whether Squid answered from its cache or refused, so that nothing crossed its link.
    pub is_cached: bool,
}

/// Reads the whole log, counts its rows in `ledger` and appends its connections to `collector`. Pages follow from the
/// referrers and are numbered on from `collector.last_page`. If all stamps are whole seconds, starts are spread.
///
/// # Errors
/// [`Error::File`] for uploads, which such a log does not record; a row's fault when reading strictly.
pub fn read(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    if collector.options.direction == Direction::Up {
        let problem = "an access log does not record bytes from client to server; read it with payload down";
        return Err(Error::file(input.path(), problem));
    }
    let mut lines = Lines::new(input);
    let first = collector.connections.len();
    let (mut hits, mut level) = (Hits::default(), 0);
    while let Some(line) = lines.advance() {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        ledger.rows += 1;
        match parse_row(line.text, ledger, collector, &mut hits) {
            Ok(Outcome::Used(draft)) => {
                ledger.used += 1;
                collector.connections.push(draft);
            }
            Ok(Outcome::Cached(bytes)) => ledger.skip(reason::NOT_CARRIED, 1, bytes),
            Ok(Outcome::Empty) => ledger.skip(reason::NO_PAYLOAD, 1, 0),
            Ok(Outcome::NotSampled) => {}
            Err(problem) => ledger.count_fault(line.number, problem)?,
        }
        if collector.level() > level {
            level = collector.level();
            hits.retain(|client, row| collector.is_sampled(collector.hosts.hash(client), row));
        }
    }
    let (found, last) = hits.assign_pages(collector.last_page);
    collector.last_page = last;
    // Both are in the order of the rows.
    let mut drafts = collector.connections[first..].iter_mut().peekable();
    for (row, page) in hits.rows().zip(found).filter(|(_, page)| *page > 0) {
        while drafts.next_if(|draft| draft.order < row).is_some() {}
        let own = drafts.next_if(|draft| draft.order == row);
        own.into_iter().for_each(|draft| draft.pages = Some(Box::new(PagesOfWrites([page].into()))));
    }
    collector.spread_coarse_stamps(first, ledger);
    Ok(())
}

/// What a row becomes.
enum Outcome {
    Used(Draft),
    /// A proxy answered from its cache, with this many bytes.
    Cached(u64),
    /// The answer has no body.
    Empty,
    /// The client is not in the sample; see [`Collector::admits`].
    NotSampled,
}

/// Parses a line of an access log, whose number is `ledger.rows`. Adds its time to the ledger's clock. Unless a cache
/// answered, the row counts for the sample; a sampled line with a referrer is added to `hits`, even without a body.
///
/// # Errors
/// A clause that names the malformed text.
fn parse_row(
    line: &[u8],
    ledger: &mut Ledger,
    collector: &mut Collector,
    hits: &mut Hits,
) -> RowResult<Outcome> {
    let entry =
        parse_line(line).ok_or_else(|| format!("\"{}\" is no line of Common Log Format", excerpt(line)))?;
    let at = stamp::parse_access_log(entry.date)
        .ok_or_else(|| format!("date \"{}\" is no date", excerpt(entry.date)))?;
    ledger.clock.add_row(at.ns, ledger.rows);
    let bytes = stamp::parse_bytes("bytes", entry.bytes)?.unwrap_or(0);
    if entry.is_cached {
        return Ok(Outcome::Cached(bytes));
    }
    if !collector.admits(sampling::hash(entry.client), ledger.rows) {
        return Ok(Outcome::NotSampled);
    }
    let client = collector.hosts.intern(entry.client);
    if let Some(referrer) = entry.referrer {
        hits.add(client, at.ns, ledger.rows, pages::strip_host(entry.url), pages::strip_host(referrer));
    }
    if bytes == 0 {
        return Ok(Outcome::Empty);
    }
    let shape = FlowShape::from_totals(Protocol::Tcp, [0; 2], None, [(None, 0), (None, bytes)]);
    let flow_class = collector.classify_flow([entry.client, entry.server], &shape);
    Ok(Outcome::Used(Draft {
        start: at.ns,
        file: ledger.index as u32,
        order: ledger.rows,
        rows: 1,
        client,
        server: collector.hosts.intern(entry.server),
        rtt: None.into(),
        duration: None.into(),
        kind: Kind::Tcp,
        class: Class::Web,
        flow_class,
        server_think: Default::default(),
        writes: Writes::single(bytes),
        pages: None,
    }))
}

/// Splits a line into its fields; `None` if it is no line of such a log. A request of one part is itself the URL.
pub fn parse_line(line: &[u8]) -> Option<Entry<'_>> {
    let open = line.iter().position(|&c| c == b'[')?;
    let (names, rest) = line.split_at(open);
    let close = rest.iter().position(|&c| c == b']')?;
    let (date, rest) = (&rest[1..close], rest[close + 1..].trim_ascii_start());
    let (client, server) = split_hosts(names)?;
    let (request, bytes, tail) = split_request(rest.strip_prefix(b"\"")?)?;
    let url = request.split(|&c| c == b' ').nth(1).unwrap_or(request);
    Some(Entry {
        client,
        server,
        date,
        bytes,
        url,
        referrer: find_referrer(tail),
        is_cached: is_cached(tail),
    })
}

/// Returns the client and the server: the virtual host before the client if the line names one, else [`ONE_SERVER`].
/// `None` if fields are missing.
fn split_hosts(names: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = names.split(|&c| c == b' ').filter(|word| !word.is_empty());
    let first = words.next()?;
    let second = words.next()?;
    words.next()?;
    let has_port = first.iter().rposition(|&c| c == b':').is_some_and(|colon| is_number(&first[colon + 1..]));
    match words.next() {
        Some(_) if has_port => Some((second, first)),
        _ => Some((first, ONE_SERVER)),
    }
}

/// Splits `request" status size rest` into request, size and rest. Old logs hold quotes inside the request, so each
/// quote is tried as its end until a status and a size follow; `None` if they never do.
fn split_request(rest: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let quotes = (0..rest.len()).filter(|&at| rest[at] == b'"');
    let whole = |at| split_status_and_size(&rest[at + 1..]).map(|(size, tail)| (&rest[..at], size, tail));
    quotes.filter_map(whole).next()
}

/// Returns the size and the text after it; `None` unless a status of three digits precedes the size.
fn split_status_and_size(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = rest.strip_prefix(b" ")?.splitn(3, |&c| c == b' ');
    let status = words.next()?;
    let size = words.next()?;
    let is_whole = status.len() == 3 && is_number(status) && !size.is_empty();
    is_whole.then(|| (size, words.next().unwrap_or(b"")))
}

/// Returns the referrer of Combined Log Format, the first quoted text after the size; `None` if there is
/// none.
fn find_referrer(tail: &[u8]) -> Option<&[u8]> {
    let text = tail.strip_prefix(b"\"")?;
    text.iter().position(|&c| c == b'"').map(|end| &text[..end])
}

/// Returns whether a line of Squid's combined log ends in a result without an origin server, such as
/// `TCP_HIT:HIER_NONE`.
fn is_cached(tail: &[u8]) -> bool {
    let last = tail.rsplit(|&c| c == b' ').next().unwrap_or(tail);
    if !(last.starts_with(b"TCP_") || last.starts_with(b"UDP_")) {
        return false;
    }
    let has = |word: &[u8]| last.windows(word.len()).any(|part| part == word);
    has(b"HIT") || has(b"UNMODIFIED") || has(b"DENIED") || last.ends_with(b"NONE")
}

#[cfg(test)]
mod tests {
    #![allow(non_snake_case)]
    use super::*;

    #[test]
    fn parse_line__common_and_combined() {
        let line = br#"a.example - - [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.0" 200 2326 "-" "agent""#;
        let entry = parse_line(line).unwrap();
        assert_eq!((entry.client, entry.bytes), (&b"a.example"[..], &b"2326"[..]));
        assert_eq!(entry.date, b"10/Oct/2000:13:55:36 -0700");
        assert_eq!((entry.url, entry.referrer), (&b"/x"[..], Some(&b"-"[..])));
    }

    #[test]
    fn parse_line__quotes_inside_the_request() {
        let line = br#"a - - [10/Oct/2000:13:55:36 -0700] "GET /a" b.html" 404 -"#;
        assert_eq!(parse_line(line).unwrap().bytes, b"-");
    }

    #[test]
    fn parse_line__virtual_host_first() {
        let line = br#"www.example:443 10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 7"#;
        let entry = parse_line(line).unwrap();
        assert_eq!((entry.client, entry.server), (&b"10.0.0.1"[..], &b"www.example:443"[..]));
    }

    #[test]
    fn parse_line__refuses_other_lines() {
        assert_eq!(parse_line(b"host,time,bytes"), None);
        assert_eq!(parse_line(b"] a [ b"), None);
        assert_eq!(parse_line(br#"a - - [x] "GET /"#), None);
    }
}
