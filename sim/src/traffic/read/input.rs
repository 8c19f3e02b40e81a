//! One input file: opened, hashed, decompressed and examined, with its faults reported at the end.
//!
//! Reading never fails half-way: a fault of the file ends the data, and [`Input::finish`] reports it.
//! So every reader may treat its input as clean, and none can forget the check.

use super::{memory, options};
use crate::error::{Error, Result, escape};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the content that are examined to recognise the format.
pub const PEEK_BYTES: u64 = 64 * 1024;
const CHUNK: usize = 128 * 1024;
/// Bytes of content between two measurements of this process's memory.
const LOOK_BYTES: u64 = 4 << 20;
/// The longest line, bytes. A longer line is no row of any log, and the bound limits the memory of reading.
pub const MAX_LINE: usize = 1 << 20;
/// The name that means standard input.
pub const STANDARD_INPUT: &str = "-";

static BYTES_READ: AtomicU64 = AtomicU64::new(0);

/// Returns the number of stored bytes, as they are before decompression, that this process has read from all its
/// inputs so far, for a display of progress.
pub fn bytes_read() -> u64 {
    BYTES_READ.load(Ordering::Relaxed)
}

/// A file's content after decompression.
pub struct Input {
    path: String,
    head: Cursor<Vec<u8>>,
    body: Body,
    delivered: u64,
    fault: Option<Fault>,
    /// Resident bytes above which reading ends, if there is a bound.
    ceiling: Option<u64>,
    looked: u64,
    /// Whether the fault was forgiven; nothing more is read then.
    is_torn: bool,
    /// Kind and hash of the file, if something else has read it.
    given: Option<(&'static str, String)>,
}

/// The reason why the data ended early.
enum Fault {
    Io(io::Error),
    /// The item `what` at a line is longer than `most` bytes.
    Long {
        line: u64,
        what: &'static str,
        most: u64,
    },
    /// Reading takes more memory than allowed.
    Memory,
}

/// The stored content, compressed or not.
enum Body {
    Plain(BufReader<Raw>),
    Gzip(Box<MultiGzDecoder<BufReader<Raw>>>),
}

/// The stored bytes, hashed as they pass.
struct Raw {
    bytes: Box<dyn Read>,
    hash: Sha256,
}

impl Read for Raw {
    /// Reads stored bytes, and adds them to the hash and to the count of the process.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        BYTES_READ.fetch_add(count as u64, Ordering::Relaxed);
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

impl Input {
    /// Opens `path`; `-` is standard input. Reads the beginning of the content, as [`Input::head`] shows it.
    ///
    /// # Errors
    /// [`Error::File`] when it is missing, a directory, unreadable, or empty.
    pub fn open(path: &str) -> Result<Input> {
        if path == STANDARD_INPUT {
            return Input::new("standard input", Box::new(io::stdin()));
        }
        let meta = std::fs::metadata(path).map_err(|error| Error::file(path, open_problem(path, &error)))?;
        if meta.is_dir() {
            return Err(Error::file(path, "is a directory; give a file"));
        }
        let file = File::open(path).map_err(|error| Error::file(path, open_problem(path, &error)))?;
        Input::new(path, Box::new(file))
    }

    /// Returns an input whose stored bytes are `data`.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn from_memory(name: &str, data: &[u8]) -> Result<Input> {
        Input::new(name, Box::new(Cursor::new(data.to_vec())))
    }

    /// Returns an input whose stored bytes come from `bytes`.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn from_stream(name: &str, bytes: Box<dyn Read>) -> Result<Input> {
        Input::new(name, bytes)
    }

    /// Returns an input with the rows of the file `path`, which something else has read. Their kind and hash replace
    /// those of the text.
    ///
    /// # Errors
    /// As [`Input::open`].
    pub fn from_rows(path: &str, rows: options::Rows) -> Result<Input> {
        let mut input = Input::new(path, rows.text)?;
        input.given = Some((rows.kind, rows.sha256));
        Ok(input)
    }

    /// Returns an input whose stored bytes come from `bytes`, decompressed if they are gzip data.
    ///
    /// # Errors
    /// [`Error::File`] when nothing can be read, or nothing is there.
    fn new(path: &str, bytes: Box<dyn Read>) -> Result<Input> {
        let raw = Raw { bytes, hash: Sha256::new() };
        let mut stored = BufReader::with_capacity(CHUNK, raw);
        let magic =
            io::BufRead::fill_buf(&mut stored).map_err(|error| Error::file(path, error.to_string()))?;
        let body = match magic {
            [] => return Err(Error::file(path, "the file is empty")),
            [0x1f, 0x8b, ..] => Body::Gzip(Box::new(MultiGzDecoder::new(stored))),
            _ => Body::Plain(stored),
        };
        let empty = Cursor::new(Vec::new());
        let path = path.to_string();
        let mut input = Input {
            path,
            head: empty,
            body,
            delivered: 0,
            fault: None,
            is_torn: false,
            ceiling: None,
            looked: 0,
            given: None,
        };
        input.peek()?;
        Ok(input)
    }

    /// Reads the first bytes, up to [`PEEK_BYTES`], by which the format is recognised, and removes UTF-8's byte order
    /// mark. They are delivered again on reading. A fault after some bytes is stored for [`Input::finish`].
    ///
    /// # Errors
    /// [`Error::File`] when nothing can be read or the content is empty.
    fn peek(&mut self) -> Result<()> {
        let mut head = Vec::new();
        let outcome = self.body.by_ref().take(PEEK_BYTES).read_to_end(&mut head);
        self.delivered = head.len() as u64;
        match outcome {
            Ok(_) => {}
            Err(error) if head.is_empty() => return Err(self.read_error(&error)),
            // The content before can be recognised, and a capture used.
            Err(error) => self.fault = Some(Fault::Io(error)),
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        if head.is_empty() {
            return Err(Error::file(&self.path, "the file is empty (gzip data without content)"));
        }
        self.delivered = 0;
        self.head = Cursor::new(head);
        Ok(())
    }

    /// Sets a limit on the resident bytes of this process; above it, the data ends with a fault. `None` is no
    /// limit.
    pub fn limit_memory(&mut self, ceiling: Option<u64>) {
        self.ceiling = ceiling;
    }

    /// Ends the data with a fault if the process exceeds its memory limit; measures once per [`LOOK_BYTES`].
    fn check_memory(&mut self) {
        let Some(ceiling) = self.ceiling.filter(|_| self.delivered >= self.looked + LOOK_BYTES) else {
            return;
        };
        self.looked = self.delivered;
        if memory::resident_bytes().is_some_and(|resident| resident > ceiling) {
            self.fault = Some(Fault::Memory);
        }
    }

    /// Returns the path as the user gave it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the kind of the file, if something else has read it.
    pub fn kind(&self) -> Option<&'static str> {
        self.given.as_ref().map(|(kind, _)| *kind)
    }

    /// Returns the first bytes of the content, up to [`PEEK_BYTES`], however much was read since.
    pub fn head(&self) -> &[u8] {
        self.head.get_ref()
    }

    /// Returns the bytes of content read so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Ends the data because the line or row that begins at line `number` is longer than [`MAX_LINE`]; an earlier fault
    /// stays.
    pub fn refuse_line(&mut self, number: u64) {
        self.refuse_long(number, "the line", MAX_LINE as u64);
    }

    /// Ends the data because `what`, at this line, is longer than `most` bytes; an earlier fault stays.
    pub fn refuse_long(&mut self, line: u64, what: &'static str, most: u64) {
        self.fault.get_or_insert(Fault::Long { line, what, most });
    }

    /// Returns whether the data ended early, as [`Input::finish`] will report.
    pub fn is_faulty(&self) -> bool {
        self.fault.is_some()
    }

    /// Reads the rest and discards it; a fault is stored for [`Input::finish`].
    pub fn drain(&mut self) {
        let _ = io::copy(self, &mut io::sink());
    }

    /// Reads to the end and returns the SHA-256 of the content's beginning and length, which identifies the content
    /// however it is stored.
    pub fn hash_content(&mut self) -> [u8; 32] {
        self.drain();
        let hash = Sha256::new().chain_update(self.head());
        hash.chain_update(self.delivered.to_le_bytes()).finalize().into()
    }

    /// Removes the fault of gzip data that end early or are damaged, so that the content before can be used,
    /// and returns it as a phrase. Nothing more can be read then. `None` without such a fault.
    pub fn forgive_torn_gzip(&mut self) -> Option<String> {
        let is_torn = matches!((&self.body, &self.fault), (Body::Gzip(_), Some(Fault::Io(_))));
        let Some(Fault::Io(error)) = self.fault.take_if(|_| is_torn) else { return None };
        self.is_torn = true;
        match self.read_error(&error) {
            Error::File { problem, .. } => Some(problem),
            other => Some(other.to_string()),
        }
    }

    /// Reads to the end and returns the SHA-256 of the stored bytes in hexadecimal, or the one given with the rows.
    ///
    /// # Errors
    /// [`Error::File`] when the file could not be read, its gzip data is damaged or cut short, or memory does not hold
    /// it; [`Error::Row`] for a line that is too long.
    pub fn finish(mut self) -> Result<String> {
        self.drain();
        match self.fault.take() {
            None => {}
            Some(Fault::Io(error)) => return Err(self.read_error(&error)),
            Some(Fault::Long { line, what, most }) => {
                let problem = format!("{what} is longer than {} MiB, which is too long", most >> 20);
                return Err(Error::Row { file: self.path, line, problem });
            }
            Some(Fault::Memory) => {
                let problem = format!(
                    "takes more memory than there is after {} MB of content; cut it first (editcap -c or -i for captures, \
                     head -n for logs)",
                    self.delivered / 1_000_000
                );
                return Err(Error::file(&self.path, problem));
            }
        }
        if let Some((_, sha256)) = self.given {
            return Ok(sha256);
        }
        let mut stored = match self.body {
            Body::Plain(stored) => stored,
            Body::Gzip(decoder) => decoder.into_inner(),
        };
        let rest = io::copy(&mut stored, &mut io::sink());
        rest.map_err(|error| Error::file(&self.path, error.to_string()))?;
        let digest = stored.into_inner().hash.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the error of a failed read: damaged or truncated gzip data, or the system's reason.
    fn read_error(&self, error: &io::Error) -> Error {
        let after = self.delivered;
        let problem = match (&self.body, error.kind()) {
            (Body::Gzip(_), io::ErrorKind::UnexpectedEof) => {
                format!("gzip data ends early after {after} bytes of content; the file is cut short")
            }
            (Body::Gzip(_), _) => format!("gzip data is damaged after {after} bytes of content ({error})"),
            (Body::Plain(_), _) => format!("cannot be read after {after} bytes ({error})"),
        };
        Error::file(&self.path, problem)
    }
}

impl Read for Input {
    /// Reads content, the examined beginning first; 0 at its end and after a fault. It never fails. May measure the
    /// memory of the process.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check_memory();
        if matches!(self.fault, Some(Fault::Long { .. } | Fault::Memory)) {
            return Ok(0);
        }
        let mut count = self.head.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.fault.is_none() && !self.is_torn {
            count = self.read_body(buffer);
        }
        self.delivered += count as u64;
        Ok(count)
    }
}

impl Input {
    /// Reads decompressed bytes; 0 at the end and after a fault, which is stored.
    fn read_body(&mut self, buffer: &mut [u8]) -> usize {
        loop {
            match self.body.read(buffer) {
                Ok(count) => return count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fault = Some(Fault::Io(error));
                    return 0;
                }
            }
        }
    }
}

impl Read for Body {
    /// Reads content, decompressed if it is stored as gzip data.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Body::Plain(stored) => stored.read(buffer),
            Body::Gzip(decoder) => decoder.read(buffer),
        }
    }
}

/// The data for a reader that buffers one row at a time. It ends at a row longer than [`MAX_LINE`], which the input
/// reports.
pub struct Rows<'a> {
    input: &'a mut Input,
    delivered: u64,
    allowed: u64,
    line: u64,
}

impl<'a> Rows<'a> {
    /// Returns the data from the start of `input`.
    pub fn new(input: &'a mut Input) -> Rows<'a> {
        Rows { input, delivered: 0, allowed: u64::MAX, line: 1 }
    }

    /// Sets the line, from 1, and the byte, from 0, at which the next row begins; a buffer may have read it already.
    /// Before the first call a row may have any length.
    pub fn begin_row(&mut self, line: u64, byte: u64) {
        (self.line, self.allowed) = (line, byte + MAX_LINE as u64);
    }
}

impl Read for Rows<'_> {
    /// Reads content; 0 at its end and, with a fault of the input, at a row longer than [`MAX_LINE`]. It never fails.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.delivered > self.allowed {
            self.input.refuse_line(self.line);
        }
        let count = self.input.read(buffer)?;
        self.delivered += count as u64;
        Ok(count)
    }
}

/// Returns the file's name without its folders as data; the path itself if it ends in no name.
pub fn base_name(path: &str) -> String {
    let name = std::path::Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns the file's name for a sentence: [`base_name`] with control characters escaped.
pub fn file_name(path: &str) -> String {
    escape(&base_name(path))
}

/// Returns a clause with the reason why a file cannot be opened; looks whether `path` is a symbolic link.
fn open_problem(path: &str, error: &io::Error) -> String {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    match error.kind() {
        io::ErrorKind::NotFound if is_link => "a symbolic link to a file that does not exist".to_string(),
        io::ErrorKind::NotFound => "no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ if is_link => "a symbolic link that leads back to itself".to_string(),
        _ => format!("cannot be opened ({error})"),
    }
}
