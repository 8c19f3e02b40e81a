//! The writer of JSON documents, for the command, Python and the page in a browser.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::fmt::Write as _;
use std::io;

/// Returns a document as `--json` writes it: keys in alphabetical order, one space of indentation for each level, numbers as
/// Python writes them, characters that control a terminal escaped, and a newline at the end.
pub fn json_text(document: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Pythonic(PrettyFormatter::with_indent(b" ")));
    document.serialize(&mut serializer).expect("a value can be written");
    let text = String::from_utf8(bytes).expect("JSON is UTF-8");
    let mut found = String::with_capacity(text.len() + 1);
    for letter in text.chars() {
        match must_escape(letter) {
            true => write!(found, "\\u{:04x}", u32::from(letter)).expect("a string takes all"),
            false => found.push(letter),
        }
    }
    found.push('\n');
    found
}

/// Returns whether a character controls a terminal, reorders the text around it or ends a line. serde_json escapes those
/// below a space.
fn must_escape(letter: char) -> bool {
    matches!(letter, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2066}'..='\u{2069}')
}

/// A formatter like [`PrettyFormatter`] that writes numbers as Python does, such as `1e-05`.
struct Pythonic<'a>(PrettyFormatter<'a>);

impl Formatter for Pythonic<'_> {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let text = format!("{value:?}");
        let Some((number, exponent)) = text.split_once('e') else { return writer.write_all(text.as_bytes()) };
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        write!(writer, "{number}e{sign}{digits:0>2}")
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_text__is_what_python_writes() {
        let given = json!({"b": [1, 2.0, 1e-5, 0.0001, 1e16, 1.5e-300], "a": {}, "text": "é\u{202e}\n\u{1}"});
        let expected = "{\n \"a\": {},\n \"b\": [\n  1,\n  2.0,\n  1e-05,\n  0.0001,\n  1e+16,\n  1.5e-300\n ],\n \
                        \"text\": \"é\\u202e\\n\\u0001\"\n}\n";
        assert_eq!(json_text(&given), expected);
    }
}
