//! Readers: files of traffic, recognised by their content, become connections.
//!
//! | recognised as | one connection is | its writes are |
//! |---|---|---|
//! | `zeek-http` with `zeek-conn` | one `uid` | one per request, at its time stamp |
//! | `zeek-http` alone | one `uid` | one per request |
//! | `zeek-conn` alone, or a `uid` without requests | one row | one: the log has no pauses |
//! | `har` | one connection of the browser | one per answer |
//! | a format that a file describes, rows of flows | the rows of one 5-tuple; see `pairing.rs` | one per part |
//! | such a format, rows of requests | one request | one |
//! | `pcap`, `pcapng`, `snoop`, `erf` | one TCP connection or UDP/443 flow | split at pauses over 0.5 s |
//! | `access-log` (Common or Combined Log Format) | one request | one |
//! | `table` (delimited text with named columns) | one row, or one connection id | one per row |
//!
//! Order in a file never matters.

mod access_log;
mod assemble;
mod capture;
mod class;
mod clock;
mod columns;
mod coverage;
mod cursor;
mod declared;
mod decode;
mod draft;
mod encapsulation;
mod flow;
pub mod formats;
mod fragments;
mod gate;
mod har;
mod har_json;
mod hosts;
mod input;
mod json_text;
mod layout;
mod ledger;
mod lines;
mod link;
mod memory;
mod names;
mod objects;
mod one_way;
mod options;
mod orientation;
mod pages;
mod pairing;
mod parallel;
mod prefix;
mod quic;
mod reason;
mod records;
mod requests;
mod sampling;
mod sniff;
mod spec;
mod stamp;
mod table;
mod wireless;
mod zeek;
mod zeek_join;
mod zeek_json;
mod zeek_row;
mod zeek_sizes;
mod zeek_store;

pub use class::classify_port;
pub use input::bytes_read;
pub use options::{Direction, ReadOptions, Rows};
pub use spec::{Spec, known_formats};

use super::Traffic;
use super::note::{Note, NoteKind};
use crate::error::{Error, Result};
use assemble::Collector;
use columns::Columns;
use input::Input;
use ledger::Ledger;
use sampling::Budget;
use sniff::Format;
use stamp::Unit;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

/// Field of a scenario that has corrections of the classes of flows, for errors.
pub const CLASSES: &str = "traffic.classes";

/// Field of a scenario that describes the format of files, for errors.
pub const FORMAT: &str = "traffic.format";

/// A column of a table with a known name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownColumn {
    /// `start`, `bytes`, `client`, `server`, `rtt`, `duration` or `end`.
    pub meaning: &'static str,
    /// Its index in the header, from 0.
    pub place: usize,
    /// Nanoseconds in the unit of a column of times, 1 in any other.
    pub unit_ns: u64,
}

/// Returns the known columns of a header, by the names that delimited text may have. `direction` chooses
/// between the bytes of the two directions; if the header has none in this direction, the bytes from the
/// server are taken. Start and bytes come first and are always there.
///
/// # Errors
/// One sentence about a column that is missing, the names it may have, and those of the header.
pub fn table_columns(
    header: &[String],
    direction: Direction,
) -> std::result::Result<Vec<KnownColumn>, String> {
    let names = columns::normalise_names(header.iter().map(String::as_bytes));
    let found = Columns::from_header(&names, direction)
        .or_else(|problem| Columns::from_header(&names, Direction::Down).map_err(|_| problem))?;
    let plain = |meaning, place: Option<usize>| place.map(|place| KnownColumn { meaning, place, unit_ns: 1 });
    let timed = |meaning, column: Option<(usize, Unit)>| {
        column.map(|(place, unit)| KnownColumn { meaning, place, unit_ns: 10_u64.pow(unit as u32) })
    };
    let all = [
        timed("start", Some(found.start)),
        plain("bytes", Some(found.bytes)),
        plain("client", found.client),
        plain("server", found.server),
        timed("rtt", found.rtt),
        timed("duration", found.duration),
        timed("end", found.end),
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Reads one or more files, plain or gzipped, into one traffic; `-` is standard input.
///
/// # Errors
/// [`Error::File`] when a file is missing, cut short, of unknown format or of no use;
/// [`Error::Row`] when more than 5 % of a file's rows cannot be understood, or one with `strict`;
/// [`Error::Field`] when a correction of a class matches no flow.
pub fn read_files(paths: &[String], options: &ReadOptions) -> Result<Traffic> {
    read_files_and_rows(paths, BTreeMap::new(), options)
}

/// Reads files as [`read_files`] does; `rows` has the rows of some, by index in `paths`, that something else has read.
/// Those files themselves are not opened.
///
/// # Errors
/// As [`read_files`]; [`Error::Field`] without paths.
pub fn read_files_and_rows(
    paths: &[String],
    rows: BTreeMap<usize, Rows>,
    options: &ReadOptions,
) -> Result<Traffic> {
    if paths.is_empty() {
        return Err(Error::missing("traffic.files", "at least one file"));
    }
    let rows = Mutex::new(rows);
    let open = |index: usize| {
        let given = rows.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        given.map_or_else(|| Input::open(&paths[index]), |rows| Input::from_rows(&paths[index], rows))
    };
    read_all(paths.len(), open, options)
}

/// Returns whether a column of this name is read from tables; a program that converts a table may drop the others.
pub fn is_known_column(name: &str) -> bool {
    columns::is_known(name)
}

/// Reads contents that are already in memory, each with the name to use in messages.
///
/// # Errors
/// As [`read_files`].
pub fn read_contents(named: &[(&str, &[u8])], options: &ReadOptions) -> Result<Traffic> {
    read_all(named.len(), |index| Input::from_memory(named[index].0, named[index].1), options)
}

/// Reads contents from streams, each with its name for messages.
///
/// # Errors
/// As [`read_files`].
pub fn read_streams(named: Vec<(String, Box<dyn Read + Send>)>, options: &ReadOptions) -> Result<Traffic> {
    let count = named.len();
    let waiting: Vec<_> = named.into_iter().map(|one| Mutex::new(Some(one))).collect();
    let open = |index: usize| {
        let taken = waiting[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        let (name, bytes) = taken.expect("each is opened once");
        Input::from_stream(&name, bytes)
    };
    read_all(count, open, options)
}

/// Reads `count` files in parallel, each opened once by `open` of its index, and combines them in their order. The
/// limit on memory counts from this call on.
///
/// # Errors
/// That of the first file that fails, in their order; as [`read_files`].
fn read_all(
    count: usize,
    open: impl Fn(usize) -> Result<Input> + Sync,
    options: &ReadOptions,
) -> Result<Traffic> {
    let budget = Budget::new(options.most_rows, count);
    let ceiling = options.most_bytes.and_then(memory::memory_limit);
    let parts = parallel::map_in_parallel(count, |index| {
        let mut input = open(index)?;
        input.limit_memory(ceiling);
        read_file(input, index, Collector::new(options.clone(), &budget))
    });
    let mut whole = Collector::new(options.clone(), &budget);
    for part in parts {
        let mut part = part?;
        part.thin_to_budget();
        whole.absorb(part);
    }
    zeek_join::join(&mut whole);
    let traffic = whole.finish()?;
    options.classes.check(CLASSES)?;
    Ok(traffic)
}

/// Recognises and reads one file, whose index among all is `index`, into `part`, an empty collector, which it returns
/// with the file's ledger. A capture in torn gzip data is used up to the tear, unless reading is strict.
///
/// # Errors
/// As [`read_files`].
fn read_file(mut input: Input, index: usize, mut part: Collector) -> Result<Collector> {
    let format = sniff::recognise(&input, part.options.format.as_ref())?;
    let kind = input.kind().map_or_else(|| format.name(), str::to_string);
    let mut ledger = Ledger::new(input.path(), index, kind.as_str(), part.options.strict);
    match format {
        Format::Pcap => capture::read_pcap(&mut input, &mut ledger, &mut part)?,
        Format::PcapNg => capture::read_pcapng(&mut input, &mut ledger, &mut part)?,
        Format::Snoop => capture::read_snoop(&mut input, &mut ledger, &mut part)?,
        Format::Erf => capture::read_erf(&mut input, &mut ledger, &mut part)?,
        Format::ZeekTsv => zeek::read(&mut input, &mut ledger, &mut part)?,
        Format::ZeekJson => zeek_json::read(&mut input, &mut ledger, &mut part)?,
        Format::Har => har::read(&mut input, &mut ledger, &mut part)?,
        Format::Declared(layout) => declared::read(&mut input, *layout, &mut ledger, &mut part)?,
        Format::AccessLog => access_log::read(&mut input, &mut ledger, &mut part)?,
        Format::Table(written) => table::read(&mut input, &written, &mut ledger, &mut part)?,
    }
    if ledger.capture.is_none() {
        ledger.content = Some(input.hash_content());
    } else if !part.options.strict && ledger.used > 0 {
        input.drain();
        if let Some(tear) = input.forgive_torn_gzip() {
            let name = input::file_name(&ledger.path);
            let text = format!("{name}: {tear}; it is used up to there");
            part.add_note(Note { row: Some(ledger.rows), ..Note::new(NoteKind::LeftOut, Some(name), text) });
        }
    }
    ledger.sha256 = input.finish()?;
    ledger.check()?;
    part.end_rows();
    part.ledgers.push(ledger);
    Ok(part)
}
