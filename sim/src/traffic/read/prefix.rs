//! Strips the prefixes that programs which carry logs write before each line: syslog's headers (RFC 3164, RFC 5424,
//! and rsyslog's with an ISO time), and those of container runtimes (`TIME stdout F MESSAGE`).

use std::borrow::Cow;

/// Returns the number of bytes before the message of a line; 0 without a prefix.
pub fn prefix_bytes(line: &[u8]) -> usize {
    let rest = strip_priority(line);
    let found = skip_syslog_header(rest).or_else(|| skip_tag(rest)).or_else(|| skip_stream(rest));
    found.map_or(0, |message| line.len() - message.len())
}

/// Returns the beginning of a file without the prefixes of its lines, if the first line has one.
pub fn strip_prefixes(head: &[u8]) -> Cow<'_, [u8]> {
    if is_prefixed(head) {
        let lines: Vec<&[u8]> = head.split(|&c| c == b'\n').map(|line| &line[prefix_bytes(line)..]).collect();
        Cow::Owned(lines.join(&b'\n'))
    } else {
        Cow::Borrowed(head)
    }
}

/// Returns whether the first line of a file that begins with `head` has a prefix.
pub fn is_prefixed(head: &[u8]) -> bool {
    head.split(|&c| c == b'\n').next().is_some_and(|line| prefix_bytes(line) > 0)
}

/// Returns a line without syslog's priority, such as `<134>`.
fn strip_priority(line: &[u8]) -> &[u8] {
    let Some(inner) = line.strip_prefix(b"<") else { return line };
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match inner.get(digits) {
        Some(b'>') if (1..=3).contains(&digits) => &inner[digits + 1..],
        _ => line,
    }
}

/// Returns the message after `1 TIME HOST PROGRAM PROCESS ID DATA` (RFC 5424); `None` for other lines.
fn skip_syslog_header(line: &[u8]) -> Option<&[u8]> {
    let (time, mut rest) = split_word(line.strip_prefix(b"1 ")?)?;
    if !is_iso(time) {
        return None;
    }
    for _ in 0..4 {
        rest = split_word(rest)?.1;
    }
    while rest.starts_with(b"[") {
        rest = &rest[memchr::memmem::find(rest, b"]")? + 1..];
    }
    rest = rest.strip_prefix(b"-").unwrap_or(rest).strip_prefix(b" ")?;
    Some(rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest))
}

/// Returns the message after `TIME HOST PROGRAM[PROCESS]: `, with a time such as `Jun  5 15:06:41` (RFC 3164) or one of
/// ISO 8601; `None` for other lines.
fn skip_tag(line: &[u8]) -> Option<&[u8]> {
    let (first, rest) = split_word(line)?;
    let rest = if is_iso(first) {
        rest
    } else {
        let (day, rest) = split_word(rest)?;
        let (time, rest) = split_word(rest)?;
        let is_time = matches!(time, [_, _, b':', _, _, b':', _, _, ..]);
        let is_date = first.len() == 3 && first.iter().all(u8::is_ascii_alphabetic) && is_number(day);
        (is_date && is_time).then_some(rest)?
    };
    let (tag, message) = split_word(split_word(rest)?.1)?;
    tag.ends_with(b":").then_some(message)
}

/// Returns the message after `TIME stdout F ` or `TIME stderr F `, as container runtimes write it; `None` for other
/// lines.
fn skip_stream(line: &[u8]) -> Option<&[u8]> {
    let (time, rest) = split_word(line)?;
    let (stream, rest) = split_word(rest)?;
    let is_stream = is_iso(time) && matches!(stream, b"stdout" | b"stderr");
    is_stream.then_some(rest)?.strip_prefix(b"F ")
}

/// Returns the first word and the text after the spaces that follow it; `None` without a space after a word.
fn split_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', text).filter(|end| *end > 0)?;
    let spaces = text[end..].iter().take_while(|&&byte| byte == b' ').count();
    Some((&text[..end], &text[end + spaces..]))
}

/// Returns whether a text has only decimal digits, at least one.
pub fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Returns whether a word begins as `2024-05-01T10:00:03` does.
fn is_iso(text: &[u8]) -> bool {
    text.len() >= 19
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')]
            .iter()
            .all(|&(at, byte)| text[at] == byte)
        && text[..4].iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a line without its prefix.
    fn strip_prefix(line: &str) -> &str {
        &line[prefix_bytes(line.as_bytes())..]
    }

    #[test]
    fn prefix_bytes__of_each_carrier() {
        for before in [
            "Jun 15 15:06:41 web nginx: ",
            "<134>Jun  5 15:06:41 web nginx[9]: ",
            "<134>2024-05-01T10:00:03+00:00 lb haproxy[7]: ",
            "2024-05-01T10:00:03.123456+02:00 lb haproxy[7]: ",
            "<134>1 2024-05-01T10:00:03Z lb haproxy 7 - - ",
            "<134>1 2024-05-01T10:00:03Z lb haproxy 7 m1 [a b=\"c\"] ",
            "2024-05-01T10:00:03.123456789Z stdout F ",
        ] {
            assert_eq!(strip_prefix(&format!("{before}{{\"a\": 1}}")), "{\"a\": 1}", "{before}");
        }
    }

    #[test]
    fn prefix_bytes__zero_for_logs_themselves() {
        for line in [
            "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 9",
            "1700000001.000   1000 10.0.0.1 TCP_MISS/200 900 GET http://a.example/ - HIER_DIRECT/192.0.2.9 -",
            "h2 2024-05-01T10:00:00.500000Z app/x/1 10.0.0.1:4000 10.9.0.1:80 0.001 0.020 0.000 200 200 300 900",
            "2024-05-01T10:00:00.5Z my-lb 10.0.0.1:4000 10.9.0.1:80 0.001 0.020 0.000 200 200 300 900",
            "2024-05-01 10:00:01 192.0.2.9 GET 10.0.0.1 200 900 300 1000",
            "{\"a\": 1}",
            "1 2 3",
            "",
        ] {
            assert_eq!(prefix_bytes(line.as_bytes()), 0, "{line}");
        }
    }

    #[test]
    fn strip_prefixes__takes_it_off_each_line() {
        let head = b"Jun 15 15:06:41 web nginx: one\nJun 15 15:06:42 web nginx: two\nthr";
        assert_eq!(&*strip_prefixes(head), b"one\ntwo\nthr");
        assert_eq!(
            &*strip_prefixes(b"one\nJun 15 15:06:42 web nginx: two"),
            b"one\nJun 15 15:06:42 web nginx: two"
        );
    }
}
