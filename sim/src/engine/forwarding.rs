//! Forwarding of packets from host to host: over private links, through markers and queues.
//!
//! A packet stays in its node of the wheel from the sending host to the receiving one, except while a queue
//! stores it.

use super::event::{Event, What, class, insertion};
use super::layout::{End, Ends, Layout, PathState};
use super::world::World;
use crate::link::{Arrival, Served};
use crate::marker::Marker;
use crate::packet::{Kind, Packet, flag};
use crate::queue::Dropped;
use crate::record::TraceEvent;
use crate::units::Time;

/// Returns the part of an event's key that orders packets of the same time and class. The kind is part of it,
/// because a host may send packets of several kinds with the same number at once. Duplicate acknowledgements have the
/// same key; if they pass a token bucket at once, they stay at the same time, and the wheel keeps their order.
#[inline(always)]
fn order_key(packet: &Packet) -> u64 {
    u64::from(packet.flow & 0x01ff_ffff) << 35 | u64::from(packet.seq) << 3 | packet.kind as u64
}

/// Sets the next hop of a packet that reaches the far end of a link at `at`: the next queue, or its
/// host, behind a private access link that is busy until the packet is through. Returns when the
/// packet gets there, and the class of that event. The packet's hop and link and the event's kind
/// change in place.
#[inline(always)]
fn prepare_next_hop(
    event: &mut Event,
    path_state: &mut PathState,
    layout: &Layout,
    ends: &Ends,
    at: Time,
) -> (Time, u64) {
    let packet = &mut event.packet;
    packet.hop += 1;
    let upward = packet.is_upward();
    if let Some(link) = layout.link_at(packet.hop, upward, path_state.path) {
        packet.link = link;
        event.what = What::Arrive;
        return (at, class::ARRIVE);
    }
    event.what = What::for_delivery(packet.kind);
    let end = if upward { End::ServerIn } else { End::ClientIn };
    (path_state.cross_access_link(ends, end, at, packet.bytes) + path_state.host_delay, class::DELIVER)
}

impl World {
    /// Sends a packet from its host to the first link of its path: sets its direction, counts it as
    /// in flight, and schedules its arrival there.
    ///
    /// Always inlined, so that the packet is built in its node of the wheel and never read back.
    #[inline(always)]
    pub(super) fn inject(&mut self, mut packet: Packet) {
        let path_state = &mut self.path_states[packet.flow as usize];
        path_state.in_flight += 1;
        packet.flags |= flag::bits_if(path_state.upload, flag::UPLOAD);
        let upward = packet.is_upward();
        let first = self.setup.layout.link_at(0, upward, path_state.path);
        packet.link = first.expect("every path crosses a link");
        let end = if upward { End::ClientOut } else { End::ServerOut };
        let at =
            path_state.cross_access_link(&self.ends, end, self.now, packet.bytes) + path_state.host_delay;
        let key = self.next_key(class::ARRIVE, order_key(&packet), at);
        let node = self.wheel.store_event(Event { packet, what: What::Arrive });
        self.wheel.schedule(node, at, key);
        if self.setup.trace {
            self.trace_sent(node);
        }
    }

    /// Adds a line to the trace if the packet in `node`, which its host sends, goes in the
    /// direction of the data.
    #[inline(never)]
    fn trace_sent(&mut self, node: u32) {
        let packet = self.wheel.event_mut(node).packet;
        if !packet.is_reverse() {
            self.trace_event(TraceEvent::Send, packet);
        }
    }

    /// Schedules the next hop of the packet in `node`, which reaches the far end of link `number`
    /// at `at`. `waited` says whether it waited in the link's queue before its transmission started
    /// at `start`; it matters only in insertion order.
    #[inline(always)]
    fn forward(&mut self, node: u32, number: usize, start: Time, at: Time, waited: bool) {
        let event = self.wheel.event_mut(node);
        let path_state = &mut self.path_states[event.packet.flow as usize];
        let (at, class) = prepare_next_hop(event, path_state, &self.setup.layout, &self.ends, at);
        let order = order_key(&event.packet);
        let key = match self.keeps_insertion_order {
            true if waited => insertion::key(start, at, number as u64),
            _ => self.next_key(class, order, at),
        };
        self.wheel.schedule(node, at, key);
    }

    /// Handles the arrival of the packet in `node` at its link: marks or polices it, then passes it
    /// to the link. The node is freed unless the packet travels on at once.
    #[inline(always)]
    pub(super) fn arrive(&mut self, node: u32) {
        let packet = &mut self.wheel.event_mut(node).packet;
        let number = usize::from(packet.link);
        let marker = &mut self.setup.markers[number];
        if !matches!(marker, Marker::None) {
            let path = self.path_states[packet.flow as usize].path;
            let (layout, hop, upward) = (&self.setup.layout, packet.hop, packet.is_upward());
            let identity = self.live[packet.flow as usize].open.key;
            let passes = if layout.marks(hop, upward, path) {
                marker.mark(packet, identity, self.now)
            } else {
                !layout.polices(hop, upward, path) || marker.police(packet, identity, self.now)
            };
            if !passes {
                return self.drop_policed(node, number);
            }
        }
        if self.setup.trace {
            return self.arrive_traced(node, number);
        }
        let arrival = self.setup.links[number].arrive(packet, self.now);
        self.after_arrival(node, number, arrival);
    }

    /// Passes the packet in `node` to link `number` as [`World::arrive`] does, and adds its lines
    /// to the packet trace. Only the bottleneck's link in the data direction is traced.
    #[inline(never)]
    fn arrive_traced(&mut self, node: u32, number: usize) {
        let packet = self.wheel.event_mut(node).packet;
        if number == usize::from(self.setup.data_link) {
            self.trace_event(TraceEvent::Enqueue, packet);
        }
        let packet = &mut self.wheel.event_mut(node).packet;
        let arrival = self.setup.links[number].arrive(packet, self.now);
        if matches!(arrival, Arrival::Arrives { .. }) {
            self.trace_mark(node);
        }
        self.after_arrival(node, number, arrival);
    }

    /// Continues after link `number` has passed, queued or dropped the packet in `node`. A passed
    /// packet is forwarded; otherwise the node is freed, drops are accounted for, and an idle link
    /// starts to serve.
    #[inline(always)]
    fn after_arrival(&mut self, node: u32, number: usize, arrival: Arrival) {
        match arrival {
            Arrival::Arrives { start, at } => self.forward(node, number, start, at, start > self.now),
            Arrival::Queued { serve } => {
                self.wheel.free_node(node);
                self.account_drops(number);
                if serve {
                    self.serve(number as u32, false);
                }
            }
            Arrival::Dropped => {
                self.wheel.free_node(node);
                self.account_drops(number);
            }
        }
    }

    /// Counts the packet in `node`, which the policer before a link has rejected, as dropped at
    /// that link, and frees the node.
    #[cold]
    fn drop_policed(&mut self, node: u32, link: usize) {
        let packet = self.wheel.event_mut(node).packet;
        self.setup.links[link].count_policer_drop(packet);
        self.wheel.free_node(node);
        self.account_drops(link);
    }

    /// Adds a line to the trace if the bottleneck has marked the packet in `node`.
    fn trace_mark(&mut self, node: u32) {
        let packet = self.wheel.event_mut(node).packet;
        if packet.link == self.setup.data_link && packet.has(flag::CE) && !packet.was_marked {
            self.trace_event(TraceEvent::Mark, packet);
        }
    }

    /// Makes a link start its next transmission and forwards that packet, or schedules the time to
    /// ask the link again. An idle link is not asked again until a packet arrives. Packets that the
    /// queue drops meanwhile are accounted for. `waited` says that the packet has waited for the
    /// transmitter.
    pub(super) fn serve(&mut self, link: u32, waited: bool) {
        let served = self.setup.links[link as usize].serve(self.now);
        self.account_drops(link as usize);
        match served {
            Served::Started { packet, free_at, arrives_at } => {
                self.schedule(free_at, class::SERVE, u64::from(link), What::Serve(link));
                let node = self.wheel.store_event(Event { packet, what: What::Arrive });
                self.forward(node, link as usize, self.now, arrives_at, waited);
            }
            Served::Lost { free_at: at } | Served::Retry(at) => {
                self.schedule(at, class::SERVE, u64::from(link), What::Serve(link));
            }
            Served::Idle => {}
        }
    }

    /// Accounts for the packets that a link has dropped since the last call: trace, packets in
    /// flight, losses of their flows. It may free the slots of finished connections, and a lost
    /// datagram may end the run.
    fn account_drops(&mut self, link: usize) {
        while let Some(Dropped { packet, .. }) = self.setup.links[link].take_drop() {
            if self.setup.trace && packet.link == self.setup.data_link {
                self.trace_event(TraceEvent::Drop, packet);
            }
            self.path_states[packet.flow as usize].in_flight -= 1;
            if packet.kind == Kind::Datagram {
                self.lose_datagram(&packet);
            } else if !packet.is_reverse() {
                self.live[packet.flow as usize].progress.dropped += 1;
            }
            self.release(packet.flow);
        }
    }
}
