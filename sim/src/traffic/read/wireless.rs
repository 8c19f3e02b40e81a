//! IEEE 802.11 and the headers before it in captures and tunnels: radiotap, Prism, AVS, PPI, TZSP and CAPWAP.

use super::cursor::{Cursor, Step};
use super::ledger::reason;
use super::link::{self, Layer};
use super::reason::Reason;

/// Ports of TZSP and of CAPWAP's data.
pub const TZSP_PORT: u16 = 37_008;
pub const CAPWAP_PORT: u16 = 5247;
/// The upper bits of the first word of an AVS header.
const AVS_MAGIC: u32 = 0x8021_1000;
/// Length of Prism's header, if the header does not have it.
const PRISM: usize = 144;
/// The longest header before a frame, bytes.
const LONGEST: usize = 1024;
const WLAN: u16 = 18;

/// Strips an 802.11 header (IEEE 802.11-2020, section 9.2.4). With `is_padded` it is padded to a multiple of
/// four bytes; with `is_swapped` the second byte of frame control comes first. The error is the reason to leave out a
/// frame without data in clear, or an aggregate of several packets.
pub fn strip_dot11(cursor: &mut Cursor, is_padded: bool, is_swapped: bool) -> Step {
    let [first, second] = [cursor.byte_at(0)?, cursor.byte_at(1)?];
    let (control, flags) = if is_swapped { (second, first) } else { (first, second) };
    let is_data = control & 0x0f == 0x08;
    if !is_data {
        return Err(reason::DOT11_OTHER.into());
    }
    if control & 0x40 != 0 {
        return Err(reason::DOT11_EMPTY.into());
    }
    if flags & 0x40 != 0 {
        return Err(reason::DOT11_PROTECTED.into());
    }
    let has_fourth_address = flags & 0x03 == 0x03;
    let qos = 24 + if has_fourth_address { 6 } else { 0 };
    let is_qos = control & 0x80 != 0;
    let is_aggregate = is_qos && cursor.byte_at(qos)? & 0x80 != 0;
    let has_control = is_qos && flags & 0x80 != 0;
    let length = qos + if is_qos { 2 } else { 0 } + if has_control { 4 } else { 0 };
    cursor.skip(if is_padded { length.next_multiple_of(4) } else { length })?;
    if !is_aggregate {
        return Ok(Layer::Llc);
    }
    // Its packets look as on Ethernet, with a length for the type; only an aggregate of one packet is read.
    let first_packet = (14 + usize::from(cursor.u16_at(12)?)).next_multiple_of(4);
    if cursor.wire as usize > first_packet + 4 {
        Err(reason::DOT11_AGGREGATE.into())
    } else {
        Ok(Layer::Ethernet)
    }
}

/// Strips a radiotap header. Only its flags matter: they show whether the frame is padded.
pub fn strip_radiotap(cursor: &mut Cursor) -> Step {
    let length = usize::from(cursor.u16_at(2)?.swap_bytes());
    let mut fields = 8;
    while cursor.byte_at(fields - 1)? & 0x80 != 0 && fields < length {
        fields += 4;
    }
    let present = cursor.byte_at(4)?;
    let flags_at = if present & 1 != 0 { fields.next_multiple_of(8) + 8 } else { fields };
    let is_padded = present & 2 != 0 && flags_at < length && cursor.byte_at(flags_at)? & 0x20 != 0;
    cursor.skip(length.max(8))?;
    Ok(if is_padded { Layer::Dot11Padded } else { Layer::Dot11 })
}

/// Strips a Prism header, whose length may be in either byte order, or the AVS header that some drivers write instead.
pub fn strip_prism(cursor: &mut Cursor) -> Step {
    if read_word(cursor, 0)? & 0xffff_f000 == AVS_MAGIC {
        return strip_avs(cursor);
    }
    let length = read_word(cursor, 4)?;
    let length = [length, length.swap_bytes()]
        .map(|length| length as usize)
        .into_iter()
        .find(|length| *length <= LONGEST);
    cursor.skip(length.filter(|length| *length > 8).unwrap_or(PRISM))?;
    Ok(Layer::Dot11)
}

/// Strips an AVS header, whose length is its second word.
pub fn strip_avs(cursor: &mut Cursor) -> Step {
    let length = (read_word(cursor, 4)? as usize).min(LONGEST);
    cursor.skip(length.max(8))?;
    Ok(Layer::Dot11)
}

/// Strips a PPI header, which names the link type of the frame; a type that cannot be read is the error.
pub fn strip_ppi(cursor: &mut Cursor) -> Step {
    let length = usize::from(cursor.u16_at(2)?.swap_bytes());
    let link_type = read_word(cursor, 4)?.swap_bytes();
    cursor.skip(length.max(8))?;
    link::find_layer(link_type).ok_or(Reason::LinkType(link_type))
}

/// Returns whether a datagram to TZSP's port is a TZSP packet that can be read: version 1, received or sent.
pub fn is_tzsp(content: &[u8]) -> bool {
    matches!(content, [1, 0 | 1, high, low, ..] if find_tzsp_layer(u16::from_be_bytes([*high, *low])).is_some())
}

/// Strips a TZSP header and its tags, up to the tag that ends them. Fails for an unknown protocol.
pub fn strip_tzsp(cursor: &mut Cursor) -> Step {
    let layer = find_tzsp_layer(cursor.u16_at(2)?).ok_or(reason::NOT_IP)?;
    cursor.skip(4)?;
    loop {
        match cursor.byte_at(0)? {
            0 => cursor.skip(1)?,
            1 => {
                cursor.skip(1)?;
                return Ok(layer);
            }
            _ => {
                let length = usize::from(cursor.byte_at(1)?);
                cursor.skip(2 + length)?;
            }
        }
    }
}

/// Returns the layer of a protocol number of TZSP; `None` for an unknown one.
fn find_tzsp_layer(protocol: u16) -> Option<Layer> {
    match protocol {
        1 => Some(Layer::Ethernet),
        WLAN => Some(Layer::Dot11),
        119 => Some(Layer::Prism),
        127 => Some(Layer::Avs),
        _ => None,
    }
}

/// Returns whether a datagram of CAPWAP's data port has a header in clear.
pub fn is_capwap(content: &[u8]) -> bool {
    content.first() == Some(&0) && content.get(1).is_some_and(|byte| byte >> 3 >= 2)
}

/// Strips a CAPWAP header (RFC 5415, section 4.3). Of a fragmented packet the first part is read, and marks the cursor;
/// the error is the reason to leave out later parts and keep-alives.
pub fn strip_capwap(cursor: &mut Cursor) -> Step {
    let (length, flags) = (4 * usize::from(cursor.byte_at(1)? >> 3), cursor.byte_at(3)?);
    let (is_native, is_fragment, is_keep_alive) =
        (cursor.byte_at(2)? & 1 != 0, flags & 0x80 != 0, flags & 0x08 != 0);
    if is_keep_alive {
        return Err(reason::CAPWAP_OTHER.into());
    }
    if is_fragment && cursor.u16_at(6)? >> 3 != 0 {
        return Err(reason::TUNNEL_FRAGMENT.into());
    }
    cursor.is_first_fragment |= is_fragment;
    cursor.skip(length)?;
    if !is_native {
        return Ok(Layer::Ethernet);
    }
    let is_swapped = cursor.byte_at(0)? & 0x0f != 0x08 && cursor.byte_at(1)? & 0x0f == 0x08;
    Ok(if is_swapped { Layer::Dot11Swapped } else { Layer::Dot11 })
}

/// Returns the big-endian 32-bit number at an offset.
///
/// # Errors
/// The reason of [`Cursor::too_short_reason`].
fn read_word(cursor: &Cursor, at: usize) -> Result<u32, Reason> {
    Ok(u32::from(cursor.u16_at(at)?) << 16 | u32::from(cursor.u16_at(at + 2)?))
}
