//! The packet that travels through links and queues: 36 bytes, `Copy`, no ownership.
//!
//! Sequence numbers count segments: a write of B bytes is `ceil(B / MSS)` segments, of which the last may be short.
//! A 32-bit segment number reaches 6 TB at 1460 bytes, and loss recovery needs no byte arithmetic.

pub use mousehole_policy::Colour;
use mousehole_policy::View;

/// The kind of a packet. Of packets of one connection with the same number and time the first kind goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A server's acknowledgement of request number `seq`, without data.
    RequestAck = 0,
    /// A data segment; `seq` is its number.
    Data = 1,
    /// A pure acknowledgement; `seq` is the next segment expected.
    Ack = 2,
    /// Connection request (SYN) of the side that opens.
    Syn = 3,
    /// Answer to a SYN.
    SynAck = 4,
    /// Completes the handshake and asks for write number `seq`.
    Request = 5,
    /// A datagram, which no transport answers; `seq` counts the flow's packets, the tag is the time of sending.
    Datagram = 6,
    /// A packet of QUIC, which slows down when packets are lost but hides its numbers; of real programs alone.
    Quic = 7,
}

/// Bits of [`Packet::flags`].
pub mod flag {
    /// The transport understands ECN (ECT codepoint).
    pub const ECT: u8 = 1;
    /// Congestion experienced: a queue marked the packet.
    pub const CE: u8 = 2;
    /// ACK: the receiver echoes a mark.
    pub const ECE: u8 = 4;
    /// Data: the sender has reduced its window. It shares its bit with [`ECE`], which only ACKs carry.
    pub const CWR: u8 = ECE;
    /// The identifier of L4S (RFC 9331 section 5.1): ECT(1), or CE from outside.
    pub const L4S: u8 = 8;
    /// Data: sent before.
    pub const RETRANSMISSION: u8 = 16;
    /// Datagrams and QUIC: the flow builds no queue, so its code point is DSCP 45 (RFC 9956). It
    /// shares its bit with [`RETRANSMISSION`], since these packets are never sent again.
    pub const NQB: u8 = RETRANSMISSION;
    /// Data: sent in fast recovery.
    pub const IN_RECOVERY: u8 = 32;
    /// Travels from the receiver of data to its sender.
    pub const REVERSE: u8 = 64;
    /// Belongs to a connection whose data goes from client to server.
    pub const UPLOAD: u8 = 128;

    /// Returns `bits` if `condition` holds, else 0.
    pub const fn bits_if(condition: bool, bits: u8) -> u8 {
        if condition { bits } else { 0 }
    }
}

/// One SACK block relative to the cumulative acknowledgement; `length` 0 means none.
///
/// Offsets of 16 bits bound the window to 65,535 segments, which parameters are checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First segment of the block minus the cumulative acknowledgement.
    pub offset: u16,
    /// Segments in the block.
    pub length: u16,
}

/// The Differentiated Services code point of flows that build no queue (RFC 9956).
pub const DSCP_NQB: u8 = View::NQB;

/// A packet in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// Slot of the connection in the engine.
    pub flow: u32,
    /// Segment number, next expected segment, or write number; see [`Kind`].
    pub seq: u32,
    /// SACK blocks of an ACK, most recent first.
    pub sacks: [SackBlock; 3],
    /// IP length in bytes.
    pub bytes: u16,
    /// Link whose queue the packet reaches next.
    pub link: u16,
    /// Kind of the packet.
    pub kind: Kind,
    /// Colour given by a marker; green until then.
    pub colour: Colour,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Number of shared links crossed so far in this direction.
    pub hop: u8,
    /// The sender's window in segments at the time of sending, saturating at 255; 0 if there is none.
    pub window_hint: u8,
    /// It carried a congestion mark already when it reached the present link.
    pub was_marked: bool,
    /// Data: segments of its write not yet acknowledged when it was sent, itself included; saturating. ACK: packets
    /// with marks that have arrived, wrapping (RFC 9768).
    pub remaining: u16,
    /// Bytes of the connection up to the end of the data, or up to the first that an ACK does not acknowledge,
    /// wrapping. It is 0 for other kinds, and in runs whose policies do not read it.
    pub position: u32,
}

const _: () = assert!(size_of::<Packet>() == 36);

/// The policy's flags for each combination of [`flag`]s; the simulator and the policies number their bits differently.
const VIEW_FLAGS: [u8; 256] = {
    const BITS: [(u8, u8); 5] = [
        (flag::ECT, View::ECT),
        (flag::L4S, View::L4S),
        (flag::RETRANSMISSION, View::RETRANSMISSION),
        (flag::IN_RECOVERY, View::IN_RECOVERY),
        (flag::REVERSE, View::REVERSE),
    ];
    let mut table = [0; 256];
    let mut flags = 0;
    while flags < 256 * BITS.len() {
        let (ours, theirs) = BITS[flags / 256];
        table[flags % 256] |= flag::bits_if(flags as u8 & ours != 0, theirs);
        flags += 1;
    }
    table
};

impl Packet {
    /// Placeholder for events without a packet.
    pub const NONE: Packet = Packet::new(u32::MAX, Kind::Data, 0, 0);

    /// Returns a green packet of `kind` without flags and SACK blocks, of `bytes` of IP length. It
    /// claims a window of one segment.
    pub const fn new(flow: u32, kind: Kind, seq: u32, bytes: u16) -> Packet {
        Packet {
            flow,
            seq,
            sacks: [SackBlock { offset: 0, length: 0 }; 3],
            bytes,
            link: 0,
            kind,
            colour: Colour::Green,
            flags: 0,
            hop: 0,
            window_hint: 1,
            was_marked: false,
            remaining: 0,
            position: 0,
        }
    }

    /// Returns the packet with a tag, a number that links carry and never read. It is stored in the
    /// SACK blocks, which a packet with a tag cannot have; those that it has are lost.
    pub const fn with_tag(mut self, tag: u64) -> Packet {
        self.sacks = [
            SackBlock { offset: tag as u16, length: (tag >> 16) as u16 },
            SackBlock { offset: (tag >> 32) as u16, length: (tag >> 48) as u16 },
            SackBlock { offset: 0, length: 0 },
        ];
        self
    }

    /// Returns the tag that [`Packet::with_tag`] stored; meaningless for a packet without one.
    pub fn tag(&self) -> u64 {
        let part = |block: SackBlock| u64::from(block.offset) | u64::from(block.length) << 16;
        part(self.sacks[0]) | part(self.sacks[1]) << 32
    }

    /// Returns whether every bit of `flags` is set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Returns whether the queue of the present link has marked it (CE).
    #[inline]
    pub fn is_marked_here(&self) -> bool {
        self.has(flag::CE) && !self.was_marked
    }

    /// Returns whether it travels from the receiver of data to its sender.
    pub fn is_reverse(&self) -> bool {
        self.has(flag::REVERSE)
    }

    /// Returns whether it travels from client to server.
    pub fn is_upward(&self) -> bool {
        self.has(flag::REVERSE) != self.has(flag::UPLOAD)
    }

    /// Returns the fields of the packet that a policy may use. The application is unknown, and
    /// [`flag::NQB`] becomes a code point of datagrams and QUIC only.
    pub fn view(&self) -> View {
        let kind = match self.kind {
            Kind::Syn | Kind::SynAck => View::SYN,
            Kind::Ack | Kind::RequestAck => View::ACK,
            Kind::Datagram => View::DATAGRAM,
            Kind::Data | Kind::Request | Kind::Quic => 0,
        };
        let is_nqb = matches!(self.kind, Kind::Datagram | Kind::Quic) && self.has(flag::NQB);
        let flags = kind | VIEW_FLAGS[usize::from(self.flags & !flag::bits_if(is_nqb, flag::NQB))];
        View::new(u32::from(self.bytes))
            .with_colour(self.colour)
            .with_flags(flags)
            .with_window(u16::from(self.window_hint))
            .with_dscp(flag::bits_if(is_nqb, View::NQB))
            .with_sequence(self.position)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn tag__survives_the_packet() {
        for tag in [0, 1, 65_535, 65_536, 0x1234_5678_9abc_def0, u64::MAX - 1] {
            assert_eq!(Packet::new(0, Kind::Datagram, 0, 200).with_tag(tag).tag(), tag);
        }
    }

    #[test]
    fn view__says_what_a_packet_is() {
        let flags = |kind| Packet::new(0, kind, 0, 40).view().flags;
        assert_eq!([Kind::Syn, Kind::SynAck].map(flags), [View::SYN; 2]);
        assert_eq!([Kind::Ack, Kind::RequestAck].map(flags), [View::ACK; 2]);
        assert_eq!(flags(Kind::Datagram), View::DATAGRAM);
        assert_eq!([Kind::Data, Kind::Request, Kind::Quic].map(flags), [0; 3]);
    }

    #[test]
    fn view__has_the_code_point_of_datagrams_alone() {
        let seen = |kind| {
            let view = Packet { flags: flag::NQB, ..Packet::new(0, kind, 0, 40) }.view();
            (view.dscp, view.flags & View::RETRANSMISSION)
        };
        assert_eq!([Kind::Datagram, Kind::Quic].map(seen), [(View::NQB, 0); 2]);
        assert_eq!(seen(Kind::Data), (0, View::RETRANSMISSION));
    }
}
