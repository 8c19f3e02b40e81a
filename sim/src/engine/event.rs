//! Events, their order at equal times, and prefetching.

use crate::packet::{Kind, Packet};

/// An event and its packet.
///
/// The packet comes first and the tag after it, so that the packet is copied in the halves in which it was written.
/// With the tag before it the halves would be shifted, and each copy would wait until the writes have left the store
/// buffer.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Event {
    /// [`Packet::NONE`] for events without a packet, with the slot of the connection that they concern, if any.
    pub packet: Packet,
    pub what: What,
}

impl Default for Event {
    /// Returns a placeholder for a node of the wheel that stores no event yet.
    fn default() -> Self {
        Event { packet: Packet::NONE, what: What::Deadline }
    }
}

/// The kinds of event. Every field is four bytes wide, so that all variants are copied in the same way and an event
/// fits a node of the wheel.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// The packet reaches the queue of its link.
    Arrive,
    /// Data reaches its host.
    Data,
    /// An acknowledgement reaches its host.
    Ack,
    /// Any other packet reaches its host.
    Other,
    /// A link's transmitter is free, or a shaper may send.
    Serve(u32),
    /// The marker before a link's queue takes its periodic control step.
    Control(u32),
    /// The timer of a connection fires; stale if this generation is not the connection's.
    Timer(u32),
    /// A time that the source has asked for.
    Wake(u32),
    /// The server's delay before its answer on the connection in this slot is over.
    Ready(u32),
    /// The server's delayed acknowledgement of a request on the connection in this slot is due.
    AckDue(u32),
    /// The CPU of this server has finished a job.
    Served(u32),
    /// The packet of the connection's self probe of this number is sent again, if it has not arrived.
    ProbeDue(u32),
    /// Links and senders are sampled.
    Sample,
    /// The measured window begins.
    WindowBegins,
    /// The measured window ends.
    WindowEnds,
    /// The run ends, whatever is unfinished.
    Deadline,
}

impl What {
    /// Returns the event of a packet of `kind` that reaches its host. It is decided when the packet
    /// is sent, so that handling takes one jump.
    #[inline(always)]
    pub fn for_delivery(kind: Kind) -> What {
        match kind {
            Kind::Data => What::Data,
            Kind::Ack => What::Ack,
            _ => What::Other,
        }
    }
}

/// Classes of events at equal times: departures first.
pub(super) mod class {
    pub const WINDOW: u64 = 0;
    pub const SERVE: u64 = 1;
    pub const ARRIVE: u64 = 2;
    pub const DELIVER: u64 = 3;
    pub const TIMER: u64 = 4;
    pub const WAKE: u64 = 5;
    pub const CONTROL: u64 = 6;

    /// First of the events of [`WINDOW`] at equal times.
    pub const FIRST_IN_WINDOW: u64 = 0;
}

/// The event order of ns-2, which is that of scheduling, as a key that both paths of a queue can compute. The event
/// scheduled earliest comes first. Of those scheduled at the same time, packets that had waited in a queue come first,
/// by link, before the events that hosts and idle links scheduled.
pub(super) mod insertion {
    use super::class;
    use crate::units::Time;

    /// Events scheduled further ahead than this, about a minute, come first; ns-2's longest timer is 64 s.
    const LONGEST: u64 = (1 << 36) - 1;
    /// Bits of the rank.
    const BITS: u32 = 24;
    /// Ranks below this are links'.
    pub const WAITED: u64 = 1 << (BITS - 1);

    /// Returns the key of an event that was scheduled at `since` for `at`; a lower key comes first.
    /// `rank`, below 2^24, orders events that were scheduled at the same time. Events scheduled
    /// more than [`LONGEST`] ns ahead count as that far ahead.
    #[inline(always)]
    pub fn key(since: Time, at: Time, rank: u64) -> u64 {
        let ahead = (at.0.wrapping_sub(since.0)).min(LONGEST);
        ((class::ARRIVE << 60 | LONGEST << BITS) - (ahead << BITS)).wrapping_add(rank)
    }
}
