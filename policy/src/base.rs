//! Mirrors of `base.h`: colours, verdicts, the view of a packet and the backlog of a queue.

/// "Has not happened": an idle start while the transmitter is busy, a timeout that never comes.
pub const NEVER: u64 = u64::MAX;

/// How many colours there are.
pub const COLOURS: usize = 3;

/// A packet's colour, best first; schemes with two colours (IN/OUT) use green and yellow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Colour {
    /// IN, Short, HIGH.
    #[default]
    Green = 0,
    /// OUT, Long, MED.
    Yellow = 1,
    /// The worst of three, LOW.
    Red = 2,
}

impl Colour {
    /// All colours, best first.
    pub const ALL: [Colour; COLOURS] = [Colour::Green, Colour::Yellow, Colour::Red];

    /// Returns the index in per-colour tables.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns `green`, `yellow` or `red`.
    pub fn name(self) -> &'static str {
        ["green", "yellow", "red"][self.index()]
    }

    /// Returns the colour that has this number in C; a number beyond the last colour is the last one.
    #[inline]
    pub fn from_c(value: u32) -> Colour {
        match value {
            0 => Colour::Green,
            1 => Colour::Yellow,
            _ => Colour::Red,
        }
    }
}

/// A dropper's decision on an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Verdict {
    /// Take the packet.
    Pass = 0,
    /// Take it and set Congestion Experienced.
    Mark = 1,
    /// Drop it, by chance.
    Early = 2,
    /// Drop it, because the average is beyond the upper threshold.
    Forced = 3,
}

impl Verdict {
    /// Returns whether this verdict drops the packet.
    #[inline]
    pub fn drops(self) -> bool {
        matches!(self, Verdict::Early | Verdict::Forced)
    }

    /// Returns the verdict that has this number in C; an unknown number is a forced drop.
    #[inline]
    pub(crate) fn from_c(value: u32) -> Verdict {
        match value {
            0 => Verdict::Pass,
            1 => Verdict::Mark,
            2 => Verdict::Early,
            _ => Verdict::Forced,
        }
    }
}

/// The kind of application that a connection belongs to, if the caller knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Application {
    /// Not known.
    #[default]
    Unknown = 0,
    /// Someone waits for every packet.
    Interactive = 1,
    /// Someone waits for the whole.
    Web = 2,
    /// Nobody waits.
    Bulk = 3,
}

/// All that a policy may know of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct View {
    /// IP length in bytes, all segments of a super-packet together.
    pub ip_bytes: u32,
    /// Packets this will be on the wire; 0 counts as 1.
    pub segments: u16,
    /// The sender's congestion window in packets, 0 if unknown.
    pub window_hint: u16,
    /// Set by a marker.
    pub colour: Colour,
    /// [`View::ECT`] and the like, or-ed.
    pub flags: u8,
    /// What the connection is for.
    pub application: Application,
    /// Differentiated Services code point; 0 where the caller does not know it.
    pub dscp: u8,
    /// Where the packet's data ends, in bytes from the first; of a [`View::REVERSE`] packet, up to where it
    /// acknowledges. Wraps.
    pub sequence: u32,
}

impl View {
    /// ECN-capable transport.
    pub const ECT: u8 = 1;
    /// A SYN or SYN-ACK.
    pub const SYN: u8 = 2;
    /// Known to carry data sent before.
    pub const RETRANSMISSION: u8 = 4;
    /// Its sender is in loss recovery.
    pub const IN_RECOVERY: u8 = 8;
    /// Travels against the direction being shaped.
    pub const REVERSE: u8 = 16;
    /// Carries no payload.
    pub const ACK: u8 = 32;
    /// Of a transport that is not known to slow down when packets are lost: neither TCP, DCCP, SCTP nor QUIC.
    pub const DATAGRAM: u8 = 64;
    /// Of a sender of L4S by its identifier, ECT(1) or CE (RFC 9331 section 5.1).
    pub const L4S: u8 = 128;
    /// The code point of non-queue-building flows (RFC 9956), a value of [`View::dscp`].
    pub const NQB: u8 = 45;

    /// Returns the view of one green packet of `ip_bytes` without flags, hint or application.
    #[inline]
    pub fn new(ip_bytes: u32) -> View {
        View { ip_bytes, segments: 1, ..View::default() }
    }

    /// Returns the same with a colour.
    #[inline]
    pub fn with_colour(self, colour: Colour) -> View {
        View { colour, ..self }
    }

    /// Returns the same with `flags` set as well.
    #[inline]
    pub fn with_flags(self, flags: u8) -> View {
        View { flags: self.flags | flags, ..self }
    }

    /// Returns the same from a sender with this window in packets; 0 is unknown.
    #[inline]
    pub fn with_window(self, window_hint: u16) -> View {
        View { window_hint, ..self }
    }

    /// Returns the same for a connection of this application.
    #[inline]
    pub fn with_application(self, application: Application) -> View {
        View { application, ..self }
    }

    /// Returns the same with this `sequence`, a position in the shaped direction's data, in bytes.
    #[inline]
    pub fn with_sequence(self, sequence: u32) -> View {
        View { sequence, ..self }
    }

    /// Returns the same with this Differentiated Services code point.
    #[inline]
    pub fn with_dscp(self, dscp: u8) -> View {
        View { dscp, ..self }
    }

    /// Returns the same as a super-packet of this many segments.
    #[inline]
    pub fn with_segments(self, segments: u16) -> View {
        View { segments, ..self }
    }
}

/// A queue as an arrival finds it; the packet in transmission is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Backlog {
    /// IP length of the packets waiting.
    pub bytes: u64,
    /// When the queue went idle, [`NEVER`] while it is not.
    pub idle_since_ns: u64,
    /// IP length of the packets waiting, by colour.
    pub colour_bytes: [u64; COLOURS],
    /// Packets waiting.
    pub packets: u32,
    /// Packets waiting, by colour.
    pub colour_packets: [u32; COLOURS],
}

impl Default for Backlog {
    /// Returns an empty queue that is not idle.
    fn default() -> Backlog {
        Backlog {
            bytes: 0,
            idle_since_ns: NEVER,
            colour_bytes: [0; COLOURS],
            packets: 0,
            colour_packets: [0; COLOURS],
        }
    }
}

impl Backlog {
    /// Returns the backlog of a queue in which these green packets wait, `bytes` together, and which has been idle since
    /// the given time, or [`NEVER`] if it is busy.
    #[inline]
    pub fn new(packets: u32, bytes: u64, idle_since_ns: u64) -> Backlog {
        let (colour_bytes, colour_packets) = ([bytes, 0, 0], [packets, 0, 0]);
        Backlog { bytes, idle_since_ns, colour_bytes, packets, colour_packets }
    }

    /// Counts a packet of this colour as waiting.
    #[inline]
    pub fn add(&mut self, colour: Colour, ip_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(ip_bytes);
        self.colour_packets[colour.index()] += 1;
        self.colour_bytes[colour.index()] += u64::from(ip_bytes);
    }

    /// Counts a packet that was added, with the same colour and length, as no longer waiting.
    #[inline]
    pub fn remove(&mut self, colour: Colour, ip_bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(ip_bytes);
        self.colour_packets[colour.index()] -= 1;
        self.colour_bytes[colour.index()] -= u64::from(ip_bytes);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn with_flags__keeps_the_flags_that_are_set() {
        let view = View::new(40).with_flags(View::ECT | View::SYN).with_flags(View::SYN | View::ACK);
        assert_eq!(view.flags, View::ECT | View::SYN | View::ACK);
    }

    #[test]
    fn backlog__counts_each_colour_and_all() {
        let mut backlog = Backlog::new(2, 3000, 7);
        backlog.add(Colour::Yellow, 500);
        backlog.add(Colour::Yellow, 40);
        backlog.remove(Colour::Yellow, 500);
        backlog.remove(Colour::Green, 1000);
        let expected = Backlog {
            packets: 2,
            bytes: 2040,
            idle_since_ns: 7,
            colour_packets: [1, 1, 0],
            colour_bytes: [2000, 40, 0],
        };
        assert_eq!(backlog, expected);
    }

    #[test]
    fn verdict_from_c__takes_unknown_numbers_for_forced_drops() {
        let all = [0, 1, 2, 3, 9].map(Verdict::from_c);
        use Verdict::{Early, Forced, Mark, Pass};
        assert_eq!(all, [Pass, Mark, Early, Forced, Forced]);
        assert_eq!(all.map(Verdict::drops), [false, false, true, true, true]);
    }

    #[test]
    fn colour_from_c__takes_unknown_numbers_for_the_worst() {
        let all = [0, 1, 2, 9].map(Colour::from_c);
        assert_eq!(all, [Colour::Green, Colour::Yellow, Colour::Red, Colour::Red]);
        assert_eq!(all.map(Colour::name), ["green", "yellow", "red", "red"]);
    }
}
