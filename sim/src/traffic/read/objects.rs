//! Reads rows of JSON one by one: objects in a row or in an array, on one line each or on several. Other
//! lines are rows, too.

use super::input::{Input, MAX_LINE};
use super::lines::{Line, Lines};

/// Reads objects of JSON from lines.
pub struct Objects<'a> {
    lines: Lines<'a>,
    object: Vec<u8>,
}

impl<'a> Objects<'a> {
    /// Returns the objects of `input`, from its start.
    pub fn new(input: &'a mut Input) -> Objects<'a> {
        Objects { lines: Lines::new(input), object: Vec::new() }
    }

    /// Returns the next object with the number of its first line; `None` at the end. A line that is no object
    /// is returned as it is, without the commas and brackets of an array. An object longer than [`MAX_LINE`] is
    /// returned in parts.
    pub fn advance(&mut self) -> Option<Line<'_>> {
        self.object.clear();
        let (mut scan, mut number) = (Scan::default(), 0);
        while let Some(line) = self.lines.advance() {
            let text = line.text.trim_ascii();
            let text = if self.object.is_empty() { strip_opening(text) } else { text };
            if text.is_empty() {
                continue;
            }
            number = if self.object.is_empty() { line.number } else { number };
            self.object.extend_from_slice(text);
            scan.add(text);
            if scan.depth <= 0 || self.object.len() > MAX_LINE {
                break;
            }
        }
        let text = strip_closing(strip_opening(&self.object));
        (!text.is_empty()).then_some(Line { number, text })
    }
}

/// Returns a text without spaces around it and without one bracket or comma of an array before an object.
fn strip_opening(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let rest = [b"[", b",", b"]"].into_iter().find_map(|mark| text.strip_prefix(mark));
    rest.unwrap_or(text).trim_ascii()
}

/// Returns a text without the bracket or comma of an array after an object.
fn strip_closing(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"]").filter(|rest| rest.trim_ascii_end().ends_with(b"}")).unwrap_or(text);
    text.trim_ascii_end().strip_suffix(b",").unwrap_or(text).trim_ascii()
}

/// Tracks the nesting of braces.
#[derive(Default)]
struct Scan {
    depth: i64,
    in_text: bool,
    is_escaped: bool,
}

impl Scan {
    /// Counts the braces of a line outside strings; at depth 0 the object ends.
    fn add(&mut self, text: &[u8]) {
        for &byte in text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => self.in_text = !self.in_text,
                b'{' if !self.in_text => self.depth += 1,
                b'}' if !self.in_text => self.depth -= 1,
                _ => {}
            }
        }
        // A string never continues on the next line.
        (self.in_text, self.is_escaped) = (false, false);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the objects of a text with their lines.
    fn read_objects(text: &str) -> Vec<(u64, String)> {
        let mut input = Input::from_memory("x", text.as_bytes()).unwrap();
        let mut objects = Objects::new(&mut input);
        let mut found = Vec::new();
        while let Some(line) = objects.advance() {
            found.push((line.number, String::from_utf8_lossy(line.text).into_owned()));
        }
        found
    }

    #[test]
    fn objects__lines_and_arrays() {
        let expected = [(1, "{\"a\":1}".to_string()), (2, "{\"b\":\"}\"}".to_string())];
        assert_eq!(read_objects("{\"a\":1}\n{\"b\":\"}\"}\n"), expected);
        assert_eq!(read_objects("[{\"a\":1},\n{\"b\":\"}\"}]\n"), expected);
        let spread = read_objects("[\n  {\n \"a\": {\n\"b\": 1}\n },\n {\"c\": 2}\n]\n");
        assert_eq!(spread, [(2, "{\"a\": {\"b\": 1}}".to_string()), (6, "{\"c\": 2}".to_string())]);
        assert_eq!(read_objects("nonsense\n"), [(1, "nonsense".to_string())]);
    }
}
