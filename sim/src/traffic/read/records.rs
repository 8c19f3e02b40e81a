//! Reads captures of simple records: snoop (RFC 1761) and Endace's ERF. Frames come one after another; a torn
//! record ends them.

use super::input::Input;
use std::io::Read;

/// The longest record of a sound capture, bytes.
const LONGEST: usize = 1 << 18;
const ETHERNET: u32 = 1;
const NANOSECONDS: u64 = 1_000_000_000;

/// A frame and the fields of its record.
pub struct Frame {
    pub link_type: u32,
    pub at: i64,
    /// Bytes on the wire.
    pub wire: u32,
    pub bytes: Vec<u8>,
}

/// The next record of a capture.
pub enum Next {
    Frame(Frame),
    /// A record without a frame that can be read.
    Other,
    End,
    /// The file ends within a record, or the record is damaged; the phrase says which.
    Torn(&'static str),
}

/// Returns whether a file begins as snoop does, of version 2 (RFC 1761).
pub fn is_snoop(head: &[u8]) -> bool {
    head.starts_with(b"snoop\0\0\0\0\0\0\x02")
}

/// Returns whether a file begins with two records of ERF within a day, or consists of one.
pub fn is_erf(head: &[u8]) -> bool {
    let record = |head: &[u8]| {
        let header = head.first_chunk::<16>()?;
        let (length, seconds) =
            (usize::from(u16::from_be_bytes([header[10], header[11]])), u32_le(header, 4));
        let is_known = matches!(header[8] & 0x7f, 1..=24) && length > 16 && seconds > 600_000_000;
        is_known.then_some((length, seconds))
    };
    let Some((length, seconds)) = record(head) else { return false };
    match head.get(length..) {
        None | Some([]) => head.len() == length,
        Some(rest) => record(rest).is_some_and(|(_, next)| next.abs_diff(seconds) < 86_400),
    }
}

/// Returns the little-endian number at an offset; panics if the bytes end before.
fn u32_le(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the big-endian number at an offset; panics if the bytes end before.
fn u32_be(bytes: &[u8], at: usize) -> u32 {
    u32_le(bytes, at).swap_bytes()
}

/// Reads snoop's header and returns the link type by the tcpdump.org registry; `None` for a type
/// that cannot be read, or if the file ends within the header. Call it first; it consumes the header.
pub fn read_snoop_link(input: &mut Input) -> Option<u32> {
    let mut header = [0; 16];
    (fill_buffer(input, &mut header) == header.len()).then_some(())?;
    match u32_be(&header, 12) {
        0 | 4 => Some(ETHERNET),
        // Solaris' loopback.
        26 => Some(226),
        _ => None,
    }
}

/// Reads the next frame of a snoop file after its header (RFC 1761); stamps have microseconds. A cut record or one
/// longer than [`LONGEST`] gives [`Next::Torn`].
pub fn read_snoop_frame(input: &mut Input, link_type: u32) -> Next {
    let mut header = [0; 24];
    match fill_buffer(input, &mut header) {
        0 => return Next::End,
        24 => {}
        _ => return Next::Torn("the capture ends within this packet"),
    }
    let [wire, held, length] = [0, 4, 8].map(|at| u32_be(&header, at));
    let (length, held) = (length as usize, held as usize);
    if length < 24 + held || length > LONGEST {
        return Next::Torn("a packet claims an absurd length");
    }
    let Some(mut bytes) = read_bytes(input, length - 24) else {
        return Next::Torn("the capture ends within this packet");
    };
    bytes.truncate(held);
    let at = i64::from(u32_be(&header, 16)) * NANOSECONDS as i64 + i64::from(u32_be(&header, 20)) * 1000;
    Next::Frame(Frame { link_type, at, wire, bytes })
}

/// Reads the next frame of an ERF file, cut to its length on the wire. Types other than Ethernet, PPP and IP give
/// [`Next::Other`], a cut record or one shorter than its header [`Next::Torn`].
pub fn read_erf_frame(input: &mut Input) -> Next {
    let mut header = [0; 16];
    match fill_buffer(input, &mut header) {
        0 => return Next::End,
        16 => {}
        _ => return Next::Torn("the capture ends within this packet"),
    }
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let length = usize::from(half(10));
    if length < 16 {
        return Next::Torn("a packet claims an absurd length");
    }
    let Some(bytes) = read_bytes(input, length - 16) else {
        return Next::Torn("the capture ends within this packet");
    };
    // The top bit of the type announces an extension header of eight bytes, and the top bit of that one another.
    let (mut start, mut has_more) = (0, header[8] & 0x80 != 0);
    while has_more && start < bytes.len() {
        has_more = bytes[start] & 0x80 != 0;
        start += 8;
    }
    // Two bytes, an offset and padding, precede Ethernet.
    let (link_type, padding) = match header[8] & 0x7f {
        1 | 10 | 15 | 17 => (50, 0),
        2 | 11 | 16 | 20 => (ETHERNET, 2),
        22 => (228, 0),
        23 => (229, 0),
        _ => return Next::Other,
    };
    let Some(frame) = bytes.get(start + padding..) else { return Next::Other };
    let wire = u32::from(half(14));
    // The wire length includes the check sequence, which is no part of the frame.
    let frame = &frame[..frame.len().min(wire as usize)];
    let stamp = (u64::from(u32_le(&header, 0)) * NANOSECONDS) >> 32;
    let at = i64::from(u32_le(&header, 4)) * NANOSECONDS as i64 + stamp as i64;
    Next::Frame(Frame { link_type, at, wire, bytes: frame.to_vec() })
}

/// Fills the buffer as far as there is data, and returns the number of bytes.
fn fill_buffer(input: &mut Input, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while filled < buffer.len() {
        // Input never fails: it ends instead, and reports when it is finished.
        match input.read(&mut buffer[filled..]) {
            Ok(0) | Err(_) => break,
            Ok(count) => filled += count,
        }
    }
    filled
}

/// Reads `length` bytes; `None` if the data ends before.
fn read_bytes(input: &mut Input, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    (fill_buffer(input, &mut bytes) == length).then_some(bytes)
}
