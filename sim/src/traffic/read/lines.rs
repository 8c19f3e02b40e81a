//! Lines of text as bytes, with their numbers; nothing assumes UTF-8.

use super::input::{Input, MAX_LINE};
use super::prefix;
use std::io::Read;

const CHUNK: usize = 256 * 1024;

/// One line without its end.
pub struct Line<'a> {
    /// 1-based.
    pub number: u64,
    /// The bytes.
    pub text: &'a [u8],
}

/// Reads an [`Input`] line by line into one buffer, without the prefix that syslog writes before each line.
pub struct Lines<'a> {
    input: &'a mut Input,
    is_prefixed: bool,
    number: u64,
    buffer: Vec<u8>,
    /// Bounds of the bytes that are read and not yet returned.
    start: usize,
    end: usize,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `input`, from its start. Its first line shows whether lines have a prefix.
    pub fn new(input: &'a mut Input) -> Lines<'a> {
        let is_prefixed = prefix::is_prefixed(input.head());
        Lines { input, is_prefixed, number: 0, buffer: vec![0; CHUNK], start: 0, end: 0 }
    }

    /// Returns the next line; `None` at the end of the data, and at a line longer than [`MAX_LINE`], which the
    /// input reports when it is finished.
    pub fn advance(&mut self) -> Option<Line<'_>> {
        let mut scanned = 0;
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', &rest[scanned..]) {
                return Some(self.take_line(scanned + found + 1));
            }
            scanned = rest.len();
            if scanned > MAX_LINE {
                self.input.refuse_line(self.number + 1);
                return None;
            }
            if !self.fill_buffer() {
                return (scanned > 0).then(|| self.take_line(scanned));
            }
        }
    }

    /// Reads more after the rest, which moves to the front of the buffer, doubled if it is full. Returns false at the
    /// end of the data.
    fn fill_buffer(&mut self) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        // Input never fails: it ends instead, and reports when it is finished.
        let count = self.input.read(&mut self.buffer[self.end..]).unwrap_or(0);
        self.end += count;
        count > 0
    }

    /// Returns the next `length` bytes as a line, without its end and without a prefix such as syslog's.
    fn take_line(&mut self, length: usize) -> Line<'_> {
        let from = self.start;
        self.start += length;
        self.number += 1;
        let text = trim_end(&self.buffer[from..from + length]);
        let text = if self.is_prefixed { &text[prefix::prefix_bytes(text)..] } else { text };
        Line { number: self.number, text }
    }
}

/// Returns the line without its line end.
pub fn trim_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Returns a line as text for a message: lossy, without control characters, at most 40 characters and an ellipsis.
pub fn excerpt(text: &[u8]) -> String {
    let cut = &text[..text.len().min(160)];
    let all = String::from_utf8_lossy(cut);
    let mut short: String = all.chars().filter(|c| !c.is_control()).take(40).collect();
    if all.chars().count() > 40 {
        short.push('…');
    }
    short
}
