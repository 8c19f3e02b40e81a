//! Harness for one link without an engine: packets in, departures out, on the slow path or the fast one.

use mousehole_sim::error::Result;
use mousehole_sim::link::{Arrival, Link, Served};
use mousehole_sim::packet::{Colour, Kind, Packet};
use mousehole_sim::queue::{Dropped, Queue};
use mousehole_sim::scenario::Scheme;
use mousehole_sim::scenario::{LinkContext, build};
use mousehole_sim::units::{Buffer, Dur, Rate, Time};

/// A packet that left, when its transmission ended, and how long that took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    pub packet: Packet,
    pub end: Time,
    pub start: Time,
}

/// A link without propagation delay.
pub struct Hop {
    pub link: Link,
    pub left: Vec<Departure>,
    pub dropped: Vec<Dropped>,
    rate: Rate,
    free: Option<Time>,
}

impl Hop {
    /// Returns an idle link with this queue and without propagation delay; `slow` selects its slow
    /// path.
    pub fn new(rate: Rate, queue: Queue, slow: bool) -> Hop {
        let link = Link::new("hop", 0, rate, Dur::ZERO, queue, 7).with_settings(
            Default::default(),
            Default::default(),
            slow,
        );
        Hop { link, left: Vec::new(), dropped: Vec::new(), rate, free: None }
    }

    /// Returns a link with the queue of a scheme.
    ///
    /// # Errors
    /// Those of the scheme's text and of values that do not fit the link.
    pub fn with_scheme(scheme: &str, rate: Rate, buffer: Buffer, slow: bool) -> Result<Hop> {
        let context =
            LinkContext { rate, bottleneck: rate, buffer, wire: Default::default(), seed: 3, link: 0 };
        Ok(Hop::new(rate, build::build_queue(&Scheme::parse(scheme)?, context)?, slow))
    }

    /// Starts every transmission due up to `now`, and records what leaves; departures precede
    /// arrivals. On the fast path nothing is due.
    pub fn advance(&mut self, now: Time) {
        while let Some(free) = self.free.filter(|free| *free <= now) {
            self.serve(free);
        }
    }

    /// Passes a packet to the link, after the departures due by then; records its departure or its
    /// drop. Calls come in the order of time.
    pub fn arrive(&mut self, mut packet: Packet, now: Time) {
        self.advance(now);
        match self.link.arrive(&mut packet, now) {
            Arrival::Arrives { at, .. } => self.record_departure(packet, at),
            Arrival::Queued { serve } if serve => self.serve(now),
            Arrival::Queued { .. } | Arrival::Dropped => {}
        }
        self.collect();
    }

    /// Serves the link until everything has left; nothing may arrive afterwards.
    pub fn finish(&mut self) {
        self.advance(Time(u64::MAX - 1));
    }

    /// Makes the link start its next transmission, and records the packet and the time of the next
    /// call.
    fn serve(&mut self, now: Time) {
        self.free = match self.link.serve(now) {
            Served::Started { packet, free_at, arrives_at } => {
                self.record_departure(packet, arrives_at);
                Some(free_at)
            }
            Served::Lost { free_at: at } | Served::Retry(at) => Some(at),
            // An earlier call may have asked for a later one.
            Served::Idle => self.free.filter(|free| *free > now),
        };
        self.collect();
    }

    /// Records a packet that leaves the link at `end`; its transmission started one transmission
    /// time before.
    fn record_departure(&mut self, packet: Packet, end: Time) {
        let start = Time(end.0.saturating_sub(self.rate.tx_time(u64::from(packet.bytes)).0));
        self.left.push(Departure { packet, end, start });
    }

    /// Moves the link's drops into the list of dropped packets.
    fn collect(&mut self) {
        while let Some(drop) = self.link.take_drop() {
            self.dropped.push(drop);
        }
    }
}

/// Returns the time `ms` milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// Returns data packet number `seq` of `flow`, of `bytes` of IP length, green and without flags.
pub fn packet(flow: u32, seq: u32, bytes: u16) -> Packet {
    Packet::new(flow, Kind::Data, seq, bytes)
}

/// Returns the packet in a colour.
pub fn coloured(colour: Colour, packet: Packet) -> Packet {
    Packet { colour, ..packet }
}
