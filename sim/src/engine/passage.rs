//! The way of packets from host to host: over private links, through markers and queues.
//!
//! A packet stays at its place in the wheel from the sending host to the other, but where a queue stores it.

use super::World;
use super::event::{Event, What, class};
use super::layout::{DOWN, End, Ends, Layout, Road};
use crate::link::Arrival;
use crate::marker::Marker;
use crate::packet::{Kind, Packet, flag};
use crate::queue::Drop;
use crate::record::TraceEvent;
use crate::units::Time;

/// Order of packets of one time: a host may send some of several kinds with the same number at once.
#[inline(always)]
fn content(packet: &Packet) -> u64 {
    u64::from(packet.flow & 0x01ff_ffff) << 35 | u64::from(packet.seq) << 3 | packet.kind as u64
}

/// Leads a packet that has crossed a link, and reaches its far end at `at`, to the next queue or to its host;
/// returns when it gets there, and the class of that event.
#[inline(always)]
fn lead_on(event: &mut Event, road: &mut Road, layout: &Layout, ends: &Ends, at: Time) -> (Time, u64) {
    let packet = &mut event.packet;
    packet.hop += 1;
    let upward = packet.is_upward();
    if let Some(link) = layout.link(packet.hop, upward, road.path) {
        packet.link = link;
        event.what = What::Arrive;
        return (at, class::ARRIVE);
    }
    event.what = What::deliver(packet.kind);
    let end = if upward { End::ServerIn } else { End::ClientIn };
    (road.pass(ends, end, at, packet.bytes) + road.quarter, class::DELIVER)
}

impl World {
    /// Puts a packet of a host on its way.
    ///
    /// Always inlined, so that the packet is made where it stays and never read back.
    #[inline(always)]
    pub(super) fn inject(&mut self, mut packet: Packet) {
        let road = &mut self.roads[packet.flow as usize];
        road.in_flight += 1;
        packet.flags |= flag::when(road.upload, flag::UPLOAD);
        let upward = packet.is_upward();
        let first = self.setup.layout.link(0, upward, road.path);
        packet.link = first.expect("every path crosses a link");
        let end = if upward { End::ClientOut } else { End::ServerOut };
        let at = road.pass(&self.ends, end, self.now, packet.bytes) + road.quarter;
        if self.setup.trace && !packet.is_reverse() {
            self.note(TraceEvent::Send, packet);
        }
        let key = self.key(class::ARRIVE, content(&packet));
        self.wheel.push(at, key, Event { packet, what: What::Arrive });
    }

    /// The packet at `place` has crossed a link and reaches its far end at `at`.
    #[inline(always)]
    fn onward(&mut self, place: u32, at: Time) {
        let event = self.wheel.event_mut(place);
        let road = &mut self.roads[event.packet.flow as usize];
        let (at, class) = lead_on(event, road, &self.setup.layout, &self.ends, at);
        let content = content(&event.packet);
        let key = self.key(class, content);
        self.wheel.file(place, at, key);
    }

    /// The packet at `place` has reached the queue of its link.
    #[inline(always)]
    pub(super) fn arrive(&mut self, place: u32) {
        let packet = &mut self.wheel.event_mut(place).packet;
        let number = usize::from(packet.link);
        let marker = &mut self.setup.markers[number];
        if !matches!(marker, Marker::None) {
            let path = self.roads[packet.flow as usize].path;
            let (layout, hop, upward) = (&self.setup.layout, packet.hop, packet.is_upward());
            let identity = self.live[packet.flow as usize].open.key;
            let passes = if layout.marks(hop, upward, path) {
                marker.mark(packet, identity, self.now)
            } else {
                !layout.polices(hop, upward, path) || marker.police(packet, identity, self.now)
            };
            if !passes {
                return self.refuse(place, number);
            }
        }
        if self.setup.trace {
            return self.arrive_noted(place, number);
        }
        let arrival = self.setup.links[number].arrive(packet, self.now);
        self.arrived(place, number, arrival);
    }

    /// The same with a packet trace.
    #[inline(never)]
    fn arrive_noted(&mut self, place: u32, number: usize) {
        let packet = self.wheel.event_mut(place).packet;
        if number == usize::from(DOWN) {
            self.note(TraceEvent::Enqueue, packet);
        }
        let packet = &mut self.wheel.event_mut(place).packet;
        let arrival = self.setup.links[number].arrive(packet, self.now);
        if matches!(arrival, Arrival::Arrives(_)) {
            self.note_mark(place);
        }
        self.arrived(place, number, arrival);
    }

    /// What follows from the arrival of the packet at `place` at link `number`.
    #[inline(always)]
    fn arrived(&mut self, place: u32, number: usize, arrival: Arrival) {
        match arrival {
            Arrival::Arrives(at) => self.onward(place, at),
            Arrival::Queued { serve } => {
                self.wheel.free(place);
                self.bury(number);
                if serve {
                    self.serve(number as u32);
                }
            }
            Arrival::Dropped => {
                self.wheel.free(place);
                self.bury(number);
            }
        }
    }

    /// The policer before a link drops the packet at `place`.
    #[cold]
    fn refuse(&mut self, place: u32, link: usize) {
        let packet = self.wheel.event_mut(place).packet;
        self.setup.links[link].refuse(packet);
        self.wheel.free(place);
        self.bury(link);
    }

    /// A packet was admitted; if it was marked, the trace tells.
    fn note_mark(&mut self, place: u32) {
        let packet = self.wheel.event_mut(place).packet;
        if packet.link == DOWN && packet.has(flag::CE) && !packet.was_marked {
            self.note(TraceEvent::Mark, packet);
        }
    }

    /// A link starts its next transmission.
    pub(super) fn serve(&mut self, link: u32) {
        let served = self.setup.links[link as usize].serve(self.now);
        self.bury(link as usize);
        match served {
            Ok((packet, free, at)) => {
                self.schedule(free, class::SERVE, u64::from(link), What::Serve(link));
                let place = self.wheel.hold(Event { packet, what: What::Arrive });
                self.onward(place, at);
            }
            Err(Some(again)) => self.schedule(again, class::SERVE, u64::from(link), What::Serve(link)),
            Err(None) => {}
        }
    }

    /// Accounts for the packets a link has dropped.
    fn bury(&mut self, link: usize) {
        while let Some(Drop { packet, .. }) = self.setup.links[link].take_drop() {
            if self.setup.trace && packet.link == DOWN {
                self.note(TraceEvent::Drop, packet);
            }
            self.roads[packet.flow as usize].in_flight -= 1;
            if packet.kind == Kind::Datagram {
                self.lost_datagram(&packet);
            }
            self.release(packet.flow);
        }
    }
}
