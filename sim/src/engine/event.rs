//! Events, and their order at equal times.

use super::World;
use crate::packet::{Kind, Packet};
use crate::wheel::prefetch;

/// What happens, and the packet it happens to.
///
/// The packet comes first and what happens is no part of it, so that it is copied in the halves in which it was
/// written. With a tag before it the halves are shifted against each other, and each copy waits until what was
/// written has left the store buffer.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Event {
    /// Of no meaning for what happens to no packet.
    pub packet: Packet,
    pub what: What,
}

/// What can happen; every field is four bytes wide at least, so that all variants are copied alike.
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
    /// The slow step of the marker before a link's queue.
    Control(u32),
    /// Something of a connection is due.
    Timer { slot: u32, generation: u32 },
    /// The source asked to be woken.
    Wake(u32),
    /// A server has had its delay before the answer on this connection.
    Ready(u32),
    /// A server's CPU is done with a job.
    Served(u32),
    /// The measured window begins.
    WindowBegins,
    /// The measured window ends.
    WindowEnds,
    /// Nothing is waited for any longer.
    Deadline,
}

impl What {
    /// A packet of `kind` reaches its host: told apart when it is sent, so that one jump finds what to do.
    #[inline(always)]
    pub fn deliver(kind: Kind) -> What {
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
}

/// From so many connections on their state outgrows the first two levels of cache.
const MANY: usize = 1000;

impl World {
    /// Walks a step ahead in the wheel, and fetches the connection of the event found there; where there are many,
    /// each is out of the caches by the time its next event comes.
    #[inline(always)]
    pub(super) fn prefetch_ahead(&mut self) {
        let Some((at, &Event { packet, what })) = self.wheel.prefetch_step() else { return };
        // An event of the past has been handled since its list was walked.
        if self.live.len() > MANY && at >= self.now {
            let slot = match what {
                What::Timer { slot, .. } => slot,
                _ => packet.flow,
            };
            self.fetch(slot as usize, !matches!(what, What::Arrive));
        }
    }

    /// Fetches what a packet needs of the connection in `slot` on its way, and all of it where it `ends`.
    #[inline(always)]
    fn fetch(&self, slot: usize, ends: bool) {
        if let Some(path_state) = self.path_states.get(slot) {
            prefetch(path_state);
        }
        if let Some(live) = self.live.get(slot).filter(|_| ends) {
            prefetch(live);
        }
    }
}
