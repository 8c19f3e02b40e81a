//! Headers before and around IP: link layers, tags, labels and tunnels. Each step strips one header off a
//! frame and returns the layer after it.

use super::cursor::{Cursor, Step};
use super::ledger::reason;
use super::link::Layer;
use super::reason::Reason;
use super::wireless;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ETHERNET_WITHIN: u16 = 0x6558;
const PPP_WITHIN: u16 = 0x880b;
const ERSPAN_1_2: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
/// Numbers below this are lengths, and 802.2 follows.
const FIRST_ETHER_TYPE: u16 = 0x0600;
const L2TP_PORT: u16 = 1701;
const MAX_LABELS: usize = 16;

impl Layer {
    /// Strips this layer's header and returns the layer after it. Nothing is stripped of [`Layer::Ip`], which the
    /// caller decodes itself.
    ///
    /// # Errors
    /// The reason to leave the frame out: the header was cut off, or what follows cannot be decoded.
    pub fn strip_header(self, cursor: &mut Cursor) -> Step {
        match self {
            Layer::Ip => Ok(Layer::Ip),
            Layer::Ethernet => cursor.strip_typed_header(12, 14),
            Layer::Typed(ether_type) => strip_by_ether_type(ether_type, cursor),
            Layer::Llc => strip_llc(cursor),
            Layer::Sll => cursor.strip_typed_header(14, 16),
            Layer::Sll2 => cursor.strip_typed_header(0, 20),
            Layer::Loopback => cursor.skip(4).map(|()| Layer::Ip),
            Layer::Nflog => strip_nflog(cursor),
            Layer::Ppp => strip_ppp(cursor),
            Layer::PppSerial => match cursor.byte_at(0)? {
                0x0f | 0x8f => Ok(Layer::CiscoHdlc),
                _ => Ok(Layer::Ppp),
            },
            Layer::PppOfPppd => cursor.skip(2).map(|()| Layer::Ppp),
            Layer::PppWithDirection => cursor.skip(1).map(|()| Layer::Ppp),
            Layer::PppoE => cursor.skip(6).map(|()| Layer::Ppp),
            Layer::CiscoHdlc => cursor.strip_typed_header(2, 4),
            Layer::Mpls => strip_mpls(cursor),
            Layer::Gre => strip_gre(cursor),
            Layer::Erspan2 => cursor.skip(8).map(|()| Layer::Ethernet),
            Layer::Erspan3 => {
                let has_more = cursor.byte_at(11)? & 1 != 0;
                cursor.skip(if has_more { 20 } else { 12 }).map(|()| Layer::Ethernet)
            }
            Layer::EtherIp => cursor.skip(2).map(|()| Layer::Ethernet),
            Layer::Vxlan => cursor.skip(8).map(|()| Layer::Ethernet),
            Layer::Geneve => {
                let header = 8 + 4 * usize::from(cursor.byte_at(0)? & 0x3f);
                cursor.strip_typed_header(2, header)
            }
            Layer::Gtp => strip_gtp(cursor),
            Layer::Dot11 => wireless::strip_dot11(cursor, false, false),
            Layer::Dot11Padded => wireless::strip_dot11(cursor, true, false),
            Layer::Dot11Swapped => wireless::strip_dot11(cursor, false, true),
            Layer::Radiotap => wireless::strip_radiotap(cursor),
            Layer::Prism => wireless::strip_prism(cursor),
            Layer::Avs => wireless::strip_avs(cursor),
            Layer::Ppi => wireless::strip_ppi(cursor),
            Layer::Tzsp => wireless::strip_tzsp(cursor),
            Layer::Capwap => wireless::strip_capwap(cursor),
            Layer::L2tp => strip_l2tp(cursor),
            Layer::Nsh => strip_nsh(cursor),
        }
    }

    /// Returns the tunnel of IP protocol `number`; `None` if it is none.
    pub fn from_ip_protocol(number: u8) -> Option<Layer> {
        match number {
            4 | 41 => Some(Layer::Ip),
            47 => Some(Layer::Gre),
            97 => Some(Layer::EtherIp),
            137 => Some(Layer::Mpls),
            _ => None,
        }
    }

    /// Returns the tunnel that a UDP packet from port `from` to port `port` is, if the first bytes of
    /// `content` confirm it. CAPWAP and L2TP are recognised by either port, since only one end may have the
    /// known one.
    pub fn from_udp(from: u16, port: u16, content: &[u8]) -> Option<Layer> {
        let head = content.first_chunk::<8>()?;
        let is_at = |known: u16| from == known || port == known;
        match port {
            wireless::TZSP_PORT if wireless::is_tzsp(content) => Some(Layer::Tzsp),
            _ if is_at(wireless::CAPWAP_PORT) && wireless::is_capwap(content) => Some(Layer::Capwap),
            // Data of version 2.
            _ if is_at(L2TP_PORT) && head[0] & 0xb4 == 0 && head[1] & 0x0f == 2 => Some(Layer::L2tp),
            4789 if head[0] & 0x08 != 0 => Some(Layer::Vxlan),
            // The port that Linux took before 4789 was assigned.
            8472 if head[0] == 0x08 && head[1..4] == [0; 3] && head[7] == 0 => Some(Layer::Vxlan),
            6081 if head[0] >> 6 == 0
                && matches!(u16::from_be_bytes([head[2], head[3]]), ETHERNET_WITHIN | IPV4 | IPV6) =>
            {
                Some(Layer::Geneve)
            }
            2152 if head[0] >> 4 == 3 && head[1] == 0xff => Some(Layer::Gtp),
            _ => None,
        }
    }
}

/// Returns the layer of an EtherType, after stripping a tag such as VLAN's if it is one.
fn strip_by_ether_type(ether_type: u16, cursor: &mut Cursor) -> Step {
    match ether_type {
        IPV4 | IPV6 => Ok(Layer::Ip),
        // 802.1Q, 802.1ad and its forerunners.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => cursor.strip_typed_header(2, 4),
        0x8864 => Ok(Layer::PppoE),
        0x8847 | 0x8848 => Ok(Layer::Mpls),
        ETHERNET_WITHIN => Ok(Layer::Ethernet),
        // Provider backbone bridges (802.1ah), the port extenders' tags (802.1BR and Cisco's), and Cisco's metadata.
        0x88e7 => cursor.skip(4).map(|()| Layer::Ethernet),
        0x893f => cursor.strip_typed_header(6, 8),
        0x8926 => cursor.strip_typed_header(4, 6),
        0x8909 => {
            let length = 2 + 4 * usize::from(cursor.byte_at(1)?);
            cursor.strip_typed_header(length, length + 2)
        }
        0x894f => Ok(Layer::Nsh),
        PPP_WITHIN => Ok(Layer::Ppp),
        ..FIRST_ETHER_TYPE => Ok(Layer::Llc),
        _ => Err(Reason::EtherType(ether_type)),
    }
}

/// Strips an LLC header (IEEE 802.2), and SNAP's after it.
fn strip_llc(cursor: &mut Cursor) -> Step {
    match [cursor.byte_at(0)?, cursor.byte_at(1)?, cursor.byte_at(2)?] {
        // SNAP, whose next three bytes say whose types follow: the IEEE's, or bridged Ethernet's.
        [0xaa, 0xaa, 0x03]
            if matches!([cursor.byte_at(3)?, cursor.byte_at(4)?, cursor.byte_at(5)?], [0, 0, 0 | 0xf8]) =>
        {
            match cursor.u16_at(6)? {
                ..FIRST_ETHER_TYPE => Err(reason::LLC.into()),
                _ => cursor.strip_typed_header(6, 8),
            }
        }
        [0x06, 0x06, 0x03] => cursor.skip(3).map(|()| Layer::Ip),
        _ => Err(reason::LLC.into()),
    }
}

/// Strips NFLOG's header and its attributes up to the packet: each has length and type, then the
/// value, padded to four bytes. The numbers are in the byte order of the capturing host, big-endian
/// if the first type would else be beyond those that exist.
fn strip_nflog(cursor: &mut Cursor) -> Step {
    const PAYLOAD: u16 = 9;
    const MOST: u16 = 31;
    cursor.skip(4)?;
    let mut is_big = None;
    loop {
        let pairs = [0, 2].map(|at| Some([*cursor.bytes.get(at)?, *cursor.bytes.get(at + 1)?]));
        let [Some(length), Some(kind)] = pairs else { return Err(reason::NOT_IP.into()) };
        let is_big = *is_big.get_or_insert(u16::from_le_bytes(kind) & 0x7fff > MOST);
        let read = if is_big { u16::from_be_bytes } else { u16::from_le_bytes };
        if read(kind) & 0x7fff == PAYLOAD {
            cursor.skip(4)?;
            return Ok(Layer::Ip);
        }
        cursor.skip(usize::from(read(length).max(4)).next_multiple_of(4))?;
    }
}

/// Strips a PPP header (RFC 1661), compressed or not.
fn strip_ppp(cursor: &mut Cursor) -> Step {
    if cursor.bytes.starts_with(&[0xff, 0x03]) {
        cursor.skip(2)?;
    }
    // A protocol number may be compressed to its second byte, which is odd.
    let (protocol, length) = match cursor.byte_at(0)? {
        short if short & 1 != 0 => (u16::from(short), 1),
        _ => (cursor.u16_at(0)?, 2),
    };
    cursor.skip(length)?;
    match protocol {
        0x0021 | 0x0057 => Ok(Layer::Ip),
        0x0281 | 0x0283 => Ok(Layer::Mpls),
        _ => Err(Reason::Ppp(protocol)),
    }
}

/// Strips all MPLS labels. They do not name the next layer: an IP version shows IP; otherwise it is Ethernet,
/// which may follow a control word (RFC 4448).
fn strip_mpls(cursor: &mut Cursor) -> Step {
    for _ in 0..MAX_LABELS {
        let is_last = cursor.byte_at(2)? & 1 != 0;
        cursor.skip(4)?;
        if !is_last {
            continue;
        }
        let announces = |at| {
            cursor
                .u16_at(at)
                .is_ok_and(|found| matches!(found, IPV4 | IPV6 | 0x0806 | 0x8100 | 0x88a8 | 0x8864))
        };
        return match cursor.byte_at(0)? >> 4 {
            4 | 6 => Ok(Layer::Ip),
            _ if announces(12) => Ok(Layer::Ethernet),
            0 if announces(16) => cursor.skip(4).map(|()| Layer::Ethernet),
            _ => Err(reason::MPLS.into()),
        };
    }
    Err(reason::DEEP.into())
}

/// Strips a GRE header (RFC 1701, RFC 2784, RFC 2890), or PPTP's variant (RFC 2637).
fn strip_gre(cursor: &mut Cursor) -> Step {
    const UNREADABLE: Reason = Reason::IpProtocol(47);
    let (flags, protocol) = (cursor.u16_at(0)?, cursor.u16_at(2)?);
    let word = |bit: u16| if flags & bit != 0 { 4 } else { 0 };
    let (has_routes, has_sequence) = (flags & 0x4000 != 0, flags & 0x1000 != 0);
    match flags & 0x7 {
        0 => {
            // The word of the checksum holds the offset of routes as well.
            let checksum = word(0x8000 | 0x4000);
            cursor.skip(4 + checksum + word(0x2000) + word(0x1000))?;
            if has_routes {
                strip_gre_routes(cursor)?;
            }
            match protocol {
                // Type I of ERSPAN has neither sequence number nor header.
                ERSPAN_1_2 if has_sequence => Ok(Layer::Erspan2),
                ERSPAN_1_2 => Ok(Layer::Ethernet),
                ERSPAN_3 => Ok(Layer::Erspan3),
                ..FIRST_ETHER_TYPE => Err(UNREADABLE),
                _ => Ok(Layer::Typed(protocol)),
            }
        }
        // Without a sequence number it is an acknowledgement of PPTP.
        1 if protocol == PPP_WITHIN && has_sequence => {
            cursor.skip(8 + word(0x1000) + word(0x0080))?;
            Ok(Layer::Ppp)
        }
        _ => Err(UNREADABLE),
    }
}

/// Strips GRE's source routes (RFC 1701): entries of variable length until an empty one. Fails if that was cut off.
fn strip_gre_routes(cursor: &mut Cursor) -> Result<(), Reason> {
    loop {
        let (family, length) = (cursor.u16_at(0)?, cursor.byte_at(3)?);
        cursor.skip(4 + usize::from(length))?;
        if (family, length) == (0, 0) {
            return Ok(());
        }
    }
}

/// Strips a data header of L2TP version 2 (RFC 2661, section 3.1), whose flags show its fields.
fn strip_l2tp(cursor: &mut Cursor) -> Step {
    let flags = cursor.u16_at(0)?;
    let field = |bit: u16, bytes: usize| if flags & bit != 0 { bytes } else { 0 };
    let offset_at = 6 + field(0x4000, 2) + field(0x0800, 4);
    let padding = if flags & 0x0200 != 0 { 2 + usize::from(cursor.u16_at(offset_at)?) } else { 0 };
    cursor.skip(offset_at + padding)?;
    Ok(Layer::Ppp)
}

/// Strips a network service header (RFC 8300, section 2.2).
fn strip_nsh(cursor: &mut Cursor) -> Step {
    let (length, next) = (4 * usize::from(cursor.byte_at(1)? & 0x3f), cursor.byte_at(3)?);
    cursor.skip(length.max(8))?;
    match next {
        1 | 2 => Ok(Layer::Ip),
        3 => Ok(Layer::Ethernet),
        4 => Ok(Layer::Nsh),
        5 => Ok(Layer::Mpls),
        _ => Err(reason::NOT_IP.into()),
    }
}

/// Strips a GTP-U header (3GPP TS 29.281): eight bytes, four more if any optional field is present, then
/// extension headers.
fn strip_gtp(cursor: &mut Cursor) -> Step {
    let flags = cursor.byte_at(0)?;
    cursor.skip(8)?;
    if flags & 0x07 != 0 {
        let mut next = cursor.byte_at(3)?;
        cursor.skip(4)?;
        while flags & 0x04 != 0 && next != 0 {
            let length = 4 * usize::from(cursor.byte_at(0)?).max(1);
            next = cursor.byte_at(length - 1)?;
            cursor.skip(length)?;
        }
    }
    Ok(Layer::Ip)
}
