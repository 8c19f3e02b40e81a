//! The way of packets from host to host: over private links, through markers and queues.
//!
//! A packet stays at its place in the wheel from the sending host to the other, but where a queue stores it.

use super::World;
use super::event::{Event, What, class};
use super::layout::{DOWN, End};
use crate::link::Arrival;
use crate::marker::Marker;
use crate::packet::{Kind, Packet, flag};
use crate::queue::Drop;
use crate::record::TraceEvent;
use crate::units::Time;

impl World {
    /// Files the packet held at `place`, which reaches a queue or its host at `at`.
    #[inline(always)]
    fn file_packet(&mut self, place: u32, at: Time, what: What) {
        let event = self.wheel.event_mut(place);
        event.what = what;
        // A host may send packets of several kinds with the same number at once.
        let flow = u64::from(event.packet.flow) & 0x01ff_ffff;
        let content = flow << 35 | u64::from(event.packet.seq) << 3 | event.packet.kind as u64;
        let class = if matches!(what, What::Arrive) { class::ARRIVE } else { class::DELIVER };
        self.file(place, at, class, content);
    }

    /// Puts a packet of a host on its way.
    #[inline(always)]
    pub(super) fn inject(&mut self, packet: Packet) {
        let place = self.wheel.hold(Event { packet, what: What::Arrive });
        self.start(place);
    }

    /// Sends off the new packet at `place`.
    fn start(&mut self, place: u32) {
        let packet = &mut self.wheel.event_mut(place).packet;
        let road = &mut self.roads[packet.flow as usize];
        road.in_flight += 1;
        packet.flags |= flag::when(road.upload, flag::UPLOAD);
        let (path, quarter, upward) = (road.path, road.quarter, packet.is_upward());
        let first = self.setup.layout.link(0, upward, path);
        packet.link = first.expect("every path crosses a link");
        let (flow, bytes) = (packet.flow, packet.bytes);
        if self.setup.trace && !packet.is_reverse() {
            let packet = *packet;
            self.note(TraceEvent::Send, packet);
        }
        let end = if upward { End::ClientOut } else { End::ServerOut };
        let at = self.pass_private(flow, bytes, end, self.now) + quarter;
        self.file_packet(place, at, What::Arrive);
    }

    /// The packet at `place` has crossed a link and reaches its far end at `at`.
    #[inline(always)]
    fn onward(&mut self, place: u32, at: Time) {
        let packet = &mut self.wheel.event_mut(place).packet;
        packet.hop += 1;
        let road = &self.roads[packet.flow as usize];
        let (path, quarter, upward) = (road.path, road.quarter, packet.is_upward());
        if let Some(link) = self.setup.layout.link(packet.hop, upward, path) {
            packet.link = link;
            return self.file_packet(place, at, What::Arrive);
        }
        let end = if upward { End::ServerIn } else { End::ClientIn };
        let (flow, bytes, what) = (packet.flow, packet.bytes, What::deliver(packet.kind));
        let through = self.pass_private(flow, bytes, end, at);
        self.file_packet(place, through + quarter, what);
    }

    /// Crosses a private access link; returns when a packet of `bytes` reaches its far end.
    #[inline]
    fn pass_private(&mut self, flow: u32, bytes: u16, end: End, at: Time) -> Time {
        let (delay, pace) = self.ends[end as usize];
        let through = match pace {
            Some(pace) => self.roads[flow as usize].links.pass(end, at, bytes, pace),
            None => at,
        };
        through + delay
    }

    pub(super) fn arrive(&mut self, place: u32) {
        let packet = &mut self.wheel.event_mut(place).packet;
        let number = usize::from(packet.link);
        let marker = &mut self.setup.markers[number];
        if !matches!(marker, Marker::None) {
            let path = self.roads[packet.flow as usize].path;
            let (layout, hop, upward) = (&self.setup.layout, packet.hop, packet.is_upward());
            let passes = if layout.marks(hop, upward, path) {
                marker.mark(packet, self.live[packet.flow as usize].open.key, self.now)
            } else {
                !layout.polices(hop, upward, path) || marker.police(packet, self.now)
            };
            if !passes {
                return self.refuse(place, number);
            }
        }
        if self.setup.trace && packet.link == DOWN {
            let packet = *packet;
            self.note(TraceEvent::Enqueue, packet);
        }
        match self.setup.links[number].arrive(&mut self.wheel.event_mut(place).packet, self.now) {
            Arrival::Arrives(at) => {
                if self.setup.trace {
                    self.note_mark(place);
                }
                self.onward(place, at);
            }
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
        let packet = self.wheel.event(place).packet;
        self.setup.links[link].refuse(packet);
        self.wheel.free(place);
        self.bury(link);
    }

    /// A packet was admitted; if it was marked, the trace tells.
    fn note_mark(&mut self, place: u32) {
        let packet = self.wheel.event(place).packet;
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
