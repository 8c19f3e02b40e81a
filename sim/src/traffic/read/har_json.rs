//! Parses the JSON of a HAR file one entry at a time; bodies of answers, which may be in it, are skipped.

use super::input::Input;
use super::json_text::Text;
use crate::error::{Error, Result};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;

/// The longest entry with its body, bytes; a longer one might not fit into memory.
const MAX_ENTRY: u64 = 256 << 20;
const CHUNK: usize = 128 * 1024;

/// The fields of an entry that are used, as text; empty if absent.
#[derive(Debug, Default, Clone)]
pub struct Entry {
    /// The line where it ends.
    pub line: u64,
    pub page: String,
    pub started: String,
    pub time: String,
    pub url: String,
    pub up_headers: String,
    pub up_body: String,
    pub status: String,
    /// Version of HTTP.
    pub version: String,
    pub down_headers: String,
    pub down_body: String,
    pub transferred: String,
    pub content: String,
    pub compression: String,
    pub blocked: String,
    pub dns: String,
    pub connect: String,
    pub address: String,
    pub connection: String,
    pub is_from_cache: bool,
    /// The source of the answer by Safari, such as `Disk Cache`.
    pub found_in: String,
}

/// The fields of a page that are used.
#[derive(Debug, Default, Clone)]
pub struct Page {
    pub id: String,
    pub started: String,
    /// Milliseconds until the page's event `load`.
    pub on_load: String,
}

/// Any value as text, empty if it is absent or `null`.
#[derive(Debug, Default)]
struct Value(String);

impl<'de> Deserialize<'de> for Value {
    /// Reads any value as text; fails only where the text is no JSON.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Value, D::Error> {
        Ok(Value(Text::from_any(deserializer)?.into_owned()))
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RawEntry {
    pageref: Value,
    started_date_time: Value,
    time: Value,
    request: Option<RawMessage>,
    response: Option<RawMessage>,
    timings: Option<RawTimings>,
    #[serde(rename = "serverIPAddress")]
    server_ip_address: Value,
    connection: Value,
    #[serde(rename = "_fromCache")]
    from_cache: Value,
    #[serde(rename = "_fetchedViaServiceWorker")]
    fetched_via_service_worker: Value,
    #[serde(rename = "_fetchType")]
    fetch_type: Value,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RawMessage {
    url: Value,
    status: Value,
    http_version: Value,
    headers_size: Value,
    body_size: Value,
    #[serde(rename = "_transferSize")]
    transfer_size: Value,
    #[serde(rename = "_fetchedViaServiceWorker")]
    fetched_via_service_worker: Value,
    #[serde(rename = "_fetchType")]
    fetch_type: Value,
    content: Option<RawContent>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawContent {
    size: Value,
    compression: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawTimings {
    blocked: Value,
    dns: Value,
    connect: Value,
}

/// The program that wrote the file, or the browser that loaded the pages.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RawProgram {
    name: Value,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RawPage {
    id: Value,
    started_date_time: Value,
    page_timings: Option<RawPageTimings>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RawPageTimings {
    on_load: Value,
}

/// Parses the whole file, calls `entry` and `page` for its entries and pages in their order, and returns the
/// name of the program that wrote it; empty if the file names none. What precedes an error has been passed on by then.
///
/// # Errors
/// [`Error::Row`] where the text is no JSON or no HAR; none for a fault of the file itself, which the input reports
/// when it is finished.
pub fn parse(input: &mut Input, entry: &mut dyn FnMut(Entry), page: &mut dyn FnMut(Page)) -> Result<String> {
    let progress = Progress { line: Cell::new(1), used: Cell::new(0) };
    let counted = Counted { input: &mut *input, buffer: vec![0; CHUNK], at: 0, end: 0, progress: &progress };
    let mut deserializer = serde_json::Deserializer::from_reader(counted);
    let mut creator = String::new();
    let whole = Object { is_log: false, entry, page, creator: &mut creator, progress: &progress };
    let outcome = whole.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    drop(deserializer);
    match outcome {
        Err(error) if !input.is_faulty() => {
            let problem = format!("no HAR file ({})", shorten_error(&error));
            Err(Error::Row { file: input.path().to_string(), line: error.line() as u64, problem })
        }
        _ => Ok(creator),
    }
}

/// Returns at most 120 characters of a parser's error, without line and column.
fn shorten_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    text.chars().take(120).collect()
}

/// The progress of the parser.
struct Progress {
    line: Cell<u64>,
    /// Bytes since the last entry.
    used: Cell<u64>,
}

/// The content with its lines counted as the parser consumes it.
struct Counted<'a> {
    input: &'a mut Input,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    progress: &'a Progress,
}

impl Read for Counted<'_> {
    /// Copies buffered content and counts its lines; 0 bytes at the end. An entry longer than [`MAX_ENTRY`] ends the
    /// input with a fault. It never fails itself.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.end {
            if self.progress.used.get() > MAX_ENTRY {
                self.input.refuse_long(self.progress.line.get(), "an entry of the HAR file", MAX_ENTRY);
            }
            self.end = self.input.read(&mut self.buffer)?;
            self.at = 0;
            self.progress.used.set(self.progress.used.get() + self.end as u64);
        }
        let count = out.len().min(self.end - self.at);
        let taken = &self.buffer[self.at..self.at + count];
        out[..count].copy_from_slice(taken);
        let lines = taken.iter().filter(|&&c| c == b'\n').count() as u64;
        self.progress.line.set(self.progress.line.get() + lines);
        self.at += count;
        Ok(count)
    }
}

/// A visitor of the object at a level: the whole file, or its `log`.
struct Object<'a> {
    is_log: bool,
    entry: &'a mut dyn FnMut(Entry),
    page: &'a mut dyn FnMut(Page),
    creator: &'a mut String,
    progress: &'a Progress,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    /// Reads the object and calls the functions for its entries and pages; fails for any other value.
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    /// Describes the expected value, for the parser's errors.
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.is_log { "an object with \"entries\"" } else { "an object with \"log\"" })
    }

    /// Reads the members that are used and skips the others: those of `log` within the file, and within `log` the name
    /// of the creator, the entries and the pages, which are passed on one by one.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let Object { is_log, entry, page, creator, progress } = self;
        while let Some(name) = map.next_key::<Value>()? {
            match (is_log, &*name.0) {
                (false, "log") => {
                    map.next_value_seed(Object { is_log: true, entry, page, creator, progress })?
                }
                (true, "creator") => *creator = map.next_value::<RawProgram>()?.name.0,
                (true, "entries") => map.next_value_seed(List::new(|raw: RawEntry| {
                    progress.used.set(0);
                    entry(raw.into_entry(progress.line.get()));
                }))?,
                (true, "pages") => map.next_value_seed(List::new(|raw: RawPage| page(raw.into_page())))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A visitor of an array that calls a function with each element.
struct List<T, F>(F, PhantomData<T>);

impl<T, F: FnMut(T)> List<T, F> {
    /// Returns a visitor that calls `take`.
    fn new(take: F) -> List<T, F> {
        List(take, PhantomData)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for List<T, F> {
    type Value = ();

    /// Reads the array and calls the function with each element; fails for any other value.
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for List<T, F> {
    type Value = ();

    /// Describes the expected value, for the parser's errors.
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of objects")
    }

    /// Reads the elements one by one and calls the function with each, up to the first of another form, an error.
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> std::result::Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }
}

impl RawEntry {
    /// Returns the entry with empty text for absent fields; `line` is the line where it ends.
    fn into_entry(self, line: u64) -> Entry {
        let (request, response) = (self.request.unwrap_or_default(), self.response.unwrap_or_default());
        let (timings, content) = (self.timings.unwrap_or_default(), response.content.unwrap_or_default());
        let is_set = |value: &Value| !matches!(&*value.0, "" | "false");
        let is_from_cache = is_set(&self.from_cache)
            || is_set(&self.fetched_via_service_worker)
            || is_set(&response.fetched_via_service_worker);
        let fetches = [self.fetch_type.0, response.fetch_type.0];
        let versions = [response.http_version.0, request.http_version.0];
        Entry {
            line,
            page: self.pageref.0,
            started: self.started_date_time.0,
            time: self.time.0,
            url: shorten_url(request.url.0),
            up_headers: request.headers_size.0,
            up_body: request.body_size.0,
            status: response.status.0,
            version: versions.into_iter().find(|version| !version.is_empty()).unwrap_or_default(),
            down_headers: response.headers_size.0,
            down_body: response.body_size.0,
            transferred: response.transfer_size.0,
            content: content.size.0,
            compression: content.compression.0,
            blocked: timings.blocked.0,
            dns: timings.dns.0,
            connect: timings.connect.0,
            address: self.server_ip_address.0,
            connection: self.connection.0,
            is_from_cache,
            found_in: fetches.into_iter().find(|fetch| !fetch.is_empty()).unwrap_or_default(),
        }
    }
}

impl RawPage {
    /// Returns the page with empty text for absent fields.
    fn into_page(self) -> Page {
        let timings = self.page_timings.unwrap_or_default();
        Page { id: self.id.0, started: self.started_date_time.0, on_load: timings.on_load.0 }
    }
}

/// Returns the first 300 characters of a URL, which hold its host; `data:` URLs may have megabytes.
fn shorten_url(url: String) -> String {
    url.chars().take(300).collect()
}
