//! Encodes and decodes the attributes of rtnetlink(7)'s messages: length, type and value each, in
//! the machine's byte order.

/// Appends an attribute, padded to a multiple of 4 bytes.
pub(crate) fn add_attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend(((4 + value.len()) as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Returns the attributes of a message: type, and the bytes including the 4 of the header. Stops at
/// the first attribute that is cut short.
pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| rest.len() >= 4)?;
        let length = u16::from_ne_bytes([rest[0], rest[1]]) as usize;
        let kind = u16::from_ne_bytes([rest[2], rest[3]]) & 0x3fff;
        let whole = rest.get(..length).filter(|whole| whole.len() >= 4)?;
        at += length.next_multiple_of(4);
        Some((kind, whole))
    })
}

/// Returns the value of the first attribute of type `wanted`; `None` without one.
pub(crate) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, whole)| &whole[4..])
}

/// Returns the text before the first zero byte; invalid UTF-8 is replaced.
pub(crate) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns the 32-bit number at byte `at` of a message; 0 if the message ends before it does.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes(four.try_into().expect("four bytes")))
}
