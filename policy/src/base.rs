//! Mirrors of `base.h`, and the error for a parameter out of range.

use std::fmt;
use std::ops::RangeInclusive;

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

    /// Index in per-colour tables.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// `green`, `yellow` or `red`.
    pub fn name(self) -> &'static str {
        ["green", "yellow", "red"][self.index()]
    }

    #[inline]
    pub(crate) fn from_c(value: u32) -> Colour {
        match value {
            0 => Colour::Green,
            1 => Colour::Yellow,
            _ => Colour::Red,
        }
    }
}

/// What a drop policy decides.
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
    /// Whether the packet is lost.
    #[inline]
    pub fn drops(self) -> bool {
        matches!(self, Verdict::Early | Verdict::Forced)
    }

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

/// In what flows are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u32)]
pub enum Unit {
    /// Bytes of IP length.
    #[default]
    Bytes = 0,
    /// Packets on the wire.
    Packets = 1,
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
    pub(crate) reserved: u16,
    /// Where the packet's data ends, in the transport's unit; of a [`View::REVERSE`] packet, up to where it
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

    /// One packet of `ip_bytes`, green, no flags.
    #[inline]
    pub fn new(ip_bytes: u32) -> View {
        View { ip_bytes, segments: 1, ..View::default() }
    }

    /// The same with a colour.
    #[inline]
    pub fn with_colour(self, colour: Colour) -> View {
        View { colour, ..self }
    }

    /// The same with `flags` set as well.
    #[inline]
    pub fn with_flags(self, flags: u8) -> View {
        View { flags: self.flags | flags, ..self }
    }

    /// The same from a sender with this window in packets; 0 is unknown.
    #[inline]
    pub fn with_window(self, window_hint: u16) -> View {
        View { window_hint, ..self }
    }

    /// The same at this position of the shaped direction's data.
    #[inline]
    pub fn with_sequence(self, sequence: u32) -> View {
        View { sequence, ..self }
    }

    /// The same as a super-packet of so many segments.
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
    /// Packets waiting.
    pub packets: u32,
    pub(crate) reserved: u32,
}

impl Backlog {
    /// So much waits; idle since then, or [`NEVER`].
    #[inline]
    pub fn new(packets: u32, bytes: u64, idle_since_ns: u64) -> Backlog {
        Backlog { bytes, idle_since_ns, packets, reserved: 0 }
    }
}

/// The same per colour, for queues that share one FIFO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct ColourBacklog {
    /// IP length of the packets waiting, by colour.
    pub bytes: [u64; COLOURS],
    /// Packets waiting, by colour.
    pub packets: [u32; COLOURS],
    pub(crate) reserved: u32,
}

impl ColourBacklog {
    /// One more packet waits.
    #[inline]
    pub fn add(&mut self, colour: Colour, ip_bytes: u32) {
        self.packets[colour.index()] += 1;
        self.bytes[colour.index()] += u64::from(ip_bytes);
    }

    /// One packet less waits; it must have been added.
    #[inline]
    pub fn remove(&mut self, colour: Colour, ip_bytes: u32) {
        self.packets[colour.index()] -= 1;
        self.bytes[colour.index()] -= u64::from(ip_bytes);
    }
}

/// A parameter out of its range; prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamError {
    /// Name of the `Spec` field.
    pub field: String,
    /// The value given.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl ParamError {
    pub(crate) fn new(field: &str, value: impl ToString, allowed: impl Into<String>) -> ParamError {
        ParamError { field: field.to_string(), value: value.to_string(), allowed: allowed.into() }
    }

    pub(crate) fn within(self, prefix: &str) -> ParamError {
        ParamError { field: format!("{prefix}.{}", self.field), ..self }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {} is not allowed; {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for ParamError {}

/// `value` if it is in `range`, else the error that says so.
pub(crate) fn check(
    field: &str,
    value: f64,
    range: RangeInclusive<f64>,
    unit: &str,
) -> Result<f64, ParamError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let allowed = format!("{} to {} {unit}", range.start(), range.end());
    Err(ParamError::new(field, value, allowed.trim_end()))
}

/// `round(value * 2^bits)`, stopping at the ends of 64 bits.
pub(crate) fn fixed(value: f64, bits: i32) -> u64 {
    (value * 2f64.powi(bits)).round() as u64
}
