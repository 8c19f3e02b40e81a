//! Lines of text as bytes, with their numbers; nothing assumes UTF-8.

use super::input::Input;
use std::io::{BufRead, BufReader, Read};

/// A line longer than this is no row of any log.
const MAX_LINE: u64 = 1 << 20;

/// One line without its end.
pub struct Line<'a> {
    /// 1-based.
    pub number: u64,
    /// The bytes; a line longer than 1 MiB is cut there.
    pub text: &'a [u8],
}

/// Reads an [`Input`] line by line into one buffer.
pub struct Lines<'a> {
    reader: BufReader<&'a mut Input>,
    number: u64,
    buffer: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Lines of `input`, from its start.
    pub fn new(input: &'a mut Input) -> Lines<'a> {
        Lines { reader: BufReader::with_capacity(64 * 1024, input), number: 0, buffer: Vec::new() }
    }

    /// Returns the next line; `None` at the end of the data.
    pub fn advance(&mut self) -> Option<Line<'_>> {
        self.buffer.clear();
        // Input never fails: it ends instead, and reports when it is finished.
        let count = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.buffer).unwrap_or(0);
        if count == 0 {
            return None;
        }
        self.number += 1;
        if count as u64 == MAX_LINE && self.buffer.last() != Some(&b'\n') {
            let _ = self.reader.skip_until(b'\n');
        }
        let mut text = trim_end(&self.buffer);
        if self.number == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        Some(Line { number: self.number, text })
    }
}

/// Returns the line without its line end.
pub fn trim_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Returns the line as text for a message: lossy, at most 40 characters.
pub fn shown(text: &[u8]) -> String {
    let cut = &text[..text.len().min(160)];
    let all = String::from_utf8_lossy(cut);
    let mut short: String = all.chars().filter(|c| !c.is_control()).take(40).collect();
    if all.chars().count() > 40 {
        short.push('…');
    }
    short
}
