//! Drives both links of a scenario for a caller that has a clock and packets.
//!
//! Time is logical: [`Driver::advance`] handles every event at the time at which it was due. A
//! driver that is called late therefore serves the same packets at the same logical times, and
//! lateness does not accumulate. Events have the engine's order: at equal times a link serves
//! first, then packets arrive, then they are delivered.

use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::Flow;
use mousehole_sim::link::{Arrival, Link, Served};
use mousehole_sim::marker::Marker;
use mousehole_sim::packet::Packet;
use mousehole_sim::queue::Dropped;
use mousehole_sim::scenario::Emulation;
use mousehole_sim::units::{Dur, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The direction of a link; its value is the link's number in the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the server's side to the client's.
    Down = 0,
    /// From the client's side to the server's.
    Up = 1,
}

impl Way {
    /// Both directions.
    pub const BOTH: [Way; 2] = [Way::Down, Way::Up];

    /// Returns the other direction.
    pub fn opposite(self) -> Way {
        if self == Way::Down { Way::Up } else { Way::Down }
    }
}

/// The receivers at the ends of the links.
pub trait Ends {
    /// Receives a packet that is due at its host at `due`.
    fn deliver(&mut self, way: Way, packet: &Packet, due: Time);

    /// Learns that a packet was dropped at `at`.
    fn drop(&mut self, way: Way, packet: &Packet, reason: DropReason, at: Time);
}

/// The link of one direction, with its marker and its pending events.
struct OneWay {
    link: Link,
    marker: Marker,
    is_flow_aware: bool,
    /// Packets between their host and the link, with the times at which they reach it.
    entering: VecDeque<(Time, Packet)>,
    /// Packets between the link and their host, with the times at which they reach it.
    leaving: VecDeque<(Time, Packet)>,
    /// The times at which the link has asked to be served.
    serves: BinaryHeap<Reverse<Time>>,
    /// The time of the marker's next slow step.
    control: Option<Time>,
}

/// The kinds of events, in their order at equal times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Serve,
    Arrive,
    Deliver,
    Control,
}

impl OneWay {
    /// Returns a link without packets.
    fn new(mut link: Link, marker: Marker) -> OneWay {
        OneWay {
            is_flow_aware: marker.is_flow_aware() || link.queue().is_flow_aware(),
            control: marker.control_due(),
            link,
            marker,
            entering: VecDeque::new(),
            leaving: VecDeque::new(),
            serves: BinaryHeap::new(),
        }
    }

    /// Returns the time and kind of its next event. `None` if nothing is pending.
    fn next_event(&self) -> Option<(Time, Event)> {
        let serve = self.serves.peek().map(|at| (at.0, Event::Serve));
        let arrive = self.entering.front().map(|(at, _)| (*at, Event::Arrive));
        let deliver = self.leaving.front().map(|(at, _)| (*at, Event::Deliver));
        let control = self.control.map(|at| (at, Event::Control));
        [serve, arrive, deliver, control].into_iter().flatten().min()
    }
}

/// Drives both links of a scenario.
pub struct Driver {
    ways: [OneWay; 2],
    host_delay: Dur,
    /// The flow's key by slot; markers draw random numbers by it.
    keys: Vec<u64>,
}

impl Driver {
    /// Returns the links of an emulation before their first packet.
    pub fn new(emulation: Emulation) -> Driver {
        let Emulation { links: [down, up], markers: [before_down, before_up], host_delay, .. } = emulation;
        Driver {
            ways: [OneWay::new(down, before_down), OneWay::new(up, before_up)],
            host_delay,
            keys: Vec::new(),
        }
    }

    /// Returns one of the links.
    pub fn link(&mut self, way: Way) -> &mut Link {
        &mut self.ways[way as usize].link
    }

    /// Returns the marker before one of the links.
    pub fn marker(&mut self, way: Way) -> &mut Marker {
        &mut self.ways[way as usize].marker
    }

    /// Announces that a new flow uses `slot` to the markers and queues that know flows, and stores
    /// its key. No packet of an earlier flow in the slot may be under way.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        if self.keys.len() <= slot as usize {
            self.keys.resize(slot as usize + 1, 0);
        }
        self.keys[slot as usize] = flow.key;
        for way in self.ways.iter_mut().filter(|way| way.is_flow_aware) {
            way.marker.open(slot, flow);
            way.link.queue().open(slot, flow);
        }
    }

    /// Accepts a packet that its host sends at `now`, and schedules its arrival at the link. `now`
    /// must not be before that of the last call. The packet's slot must be open, and the caller
    /// must have advanced to `now`.
    pub fn send(&mut self, way: Way, packet: Packet, now: Time) {
        let packet = Packet { link: way as u16, ..packet };
        self.ways[way as usize].entering.push_back((now + self.host_delay, packet));
    }

    /// Returns when the next event is due that moves a packet; `None` if no packet is under way.
    pub fn next_due(&self) -> Option<Time> {
        // A marker's slow step need not wake the caller: it runs before the next packet.
        let due = |way: &OneWay| {
            let packets = [way.entering.front(), way.leaving.front()].map(|front| front.map(|(at, _)| *at));
            packets.into_iter().chain([way.serves.peek().map(|at| at.0)]).flatten().min()
        };
        self.ways.iter().filter_map(due).min()
    }

    /// Returns how many packets are between the hosts and the link of a direction; those in the
    /// link are not counted.
    pub fn under_way(&self, way: Way) -> usize {
        let way = &self.ways[way as usize];
        way.entering.len() + way.leaving.len()
    }

    /// Handles every event that is due by `now`, each at its own time, and reports deliveries and
    /// drops to `ends`.
    pub fn advance(&mut self, now: Time, ends: &mut impl Ends) {
        loop {
            let next = Way::BOTH.into_iter().filter_map(|way| {
                let (at, event) = self.ways[way as usize].next_event()?;
                Some((at, event, way))
            });
            let Some((at, event, way)) = next.min().filter(|(at, _, _)| *at <= now) else { return };
            let one = &mut self.ways[way as usize];
            match event {
                Event::Serve => {
                    one.serves.pop();
                    self.serve(way, at, ends);
                }
                Event::Arrive => {
                    if let Some((_, packet)) = one.entering.pop_front() {
                        self.arrive(way, packet, at, ends);
                    }
                }
                Event::Deliver => {
                    if let Some((_, packet)) = one.leaving.pop_front() {
                        ends.deliver(way, &packet, at);
                    }
                }
                Event::Control => {
                    one.marker.control(at);
                    one.control = one.marker.control_due();
                }
            }
        }
    }

    /// Passes a packet to its marker and then to its link, and starts a transmission if the link is
    /// idle. Drops are reported to `ends`.
    fn arrive(&mut self, way: Way, mut packet: Packet, now: Time, ends: &mut impl Ends) {
        let one = &mut self.ways[way as usize];
        let key = self.keys.get(packet.flow as usize).copied().unwrap_or_default();
        if !one.marker.mark(&mut packet, key, now) {
            one.link.count_policer_drop(packet);
            return self.report_drops(way, now, ends);
        }
        match one.link.arrive(&mut packet, now) {
            Arrival::Arrives { at, .. } => one.leaving.push_back((at + self.host_delay, packet)),
            Arrival::Queued { serve } => {
                self.report_drops(way, now, ends);
                if serve {
                    self.serve(way, now, ends);
                }
            }
            Arrival::Dropped => self.report_drops(way, now, ends),
        }
    }

    /// Makes a link start its next transmission, if it has a packet, and schedules the packet's
    /// delivery and the next service. Drops are reported to `ends`.
    fn serve(&mut self, way: Way, now: Time, ends: &mut impl Ends) {
        let served = self.ways[way as usize].link.serve(now);
        self.report_drops(way, now, ends);
        let one = &mut self.ways[way as usize];
        match served {
            Served::Started { packet, free_at, arrives_at } => {
                one.serves.push(Reverse(free_at));
                one.leaving.push_back((arrives_at + self.host_delay, packet));
            }
            Served::Lost { free_at: at } | Served::Retry(at) => one.serves.push(Reverse(at)),
            Served::Idle => {}
        }
    }

    /// Reports the packets that a link has dropped since the last call to the ends, and forgets
    /// them.
    fn report_drops(&mut self, way: Way, now: Time, ends: &mut impl Ends) {
        while let Some(Dropped { packet, reason }) = self.ways[way as usize].link.take_drop() {
            ends.drop(way, &packet, reason, now);
        }
    }
}
