//! The engine: events, and what follows from them.
//!
//! One packet is one event per link it crosses and one at the host it reaches. Every event carries
//! what it needs; nothing is boxed and nothing is allocated per packet once buffers have grown.
//!
//! Order at equal times comes from the event's content (class, connection, number), so that no
//! optimisation changes a result unseen; with `insertion_order` it is the order of scheduling, as in ns-2.

pub mod arrivals;
pub mod connection;
mod host;
pub mod layout;
mod outcome;
pub mod server;
pub mod sessions;
mod setup;
pub mod source;

use crate::error::{Error, Result};
use crate::link::Arrival;
use crate::packet::{Packet, flag};
use crate::queue::Drop;
use crate::record::{ColourCounts, QueueRecord, TraceEvent, TraceRow, Transfer};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use crate::wheel::Wheel;
use connection::{Live, Open};
use layout::{DOWN, End, PrivateLinks};
pub use outcome::{Balance, Outcome};
pub use setup::Setup;
use source::{BULK, Wishes};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// What can happen.
///
/// Every field is four bytes wide at least, so that all variants are copied alike: with a single byte in
/// one of them the compiler copies all in odd pieces, which cost a tenth of the whole run.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A packet reaches the queue of its link.
    Arrive(Packet),
    /// A packet reaches its host.
    Deliver(Packet),
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

/// Classes of events at equal times: departures first.
mod class {
    pub const WINDOW: u64 = 0;
    pub const SERVE: u64 = 1;
    pub const ARRIVE: u64 = 2;
    pub const DELIVER: u64 = 3;
    pub const TIMER: u64 = 4;
    pub const WAKE: u64 = 5;
    pub const CONTROL: u64 = 6;
}

/// A run in progress.
pub struct World {
    setup: Setup,
    wheel: Wheel<Event>,
    now: Time,
    live: Vec<Live>,
    free: Vec<u32>,
    private: Vec<PrivateLinks>,
    wishes: Wishes,
    transfers: Vec<Transfer>,
    /// Pages that began in the window.
    pages: HashSet<u64>,
    trace: Vec<TraceRow>,
    course: Option<Vec<Time>>,
    /// Links whose marker or queue is told of every connection.
    told: Vec<usize>,
    at_window: Vec<[ColourCounts; 3]>,
    queues: Vec<QueueRecord>,
    /// Measured transfers that have not ended.
    outstanding: u64,
    window_is_over: bool,
    is_over: bool,
    scheduled: u64,
    events: u64,
    opened: u64,
    most_live: u64,
    goodput_bytes: u64,
    reordered: u64,
}

impl World {
    /// Memory of one live connection with everything that belongs to its slot, bytes; scoreboards grow beyond it.
    pub const BYTES_PER_CONNECTION: usize = size_of::<Live>() + size_of::<PrivateLinks>();

    /// A world before its first event.
    pub fn new(mut setup: Setup) -> World {
        let packet = setup.links[usize::from(DOWN)].rate.tx_time(750);
        let mut world = World {
            wheel: Wheel::for_delays(packet, Dur(2 * setup.rtt.0)),
            now: Time::ZERO,
            live: Vec::new(),
            free: Vec::new(),
            private: Vec::new(),
            wishes: Wishes::default(),
            transfers: Vec::new(),
            pages: HashSet::new(),
            trace: Vec::new(),
            course: None,
            told: setup.told(),
            at_window: vec![Default::default(); setup.links.len()],
            queues: Vec::new(),
            outstanding: 0,
            window_is_over: false,
            is_over: false,
            scheduled: 0,
            events: 0,
            opened: 0,
            most_live: 0,
            goodput_bytes: 0,
            reordered: 0,
            setup,
        };
        let (begin, end) = world.setup.window;
        world.schedule(begin, class::WINDOW, 0, Event::WindowBegins);
        world.schedule(end, class::WINDOW, 1, Event::WindowEnds);
        world.schedule(world.setup.deadline, class::WINDOW, 2, Event::Deadline);
        for link in 0..world.setup.links.len() {
            if let Some(period) = world.setup.markers[link].period() {
                world.schedule(Time::ZERO + period, class::CONTROL, link as u64, Event::Control(link as u32));
            }
        }
        if let Some(bulk) = &mut world.setup.bulk {
            bulk.schedule(&mut world.wishes);
        }
        world.setup.source.begin(&mut world.wishes);
        world.grant();
        world
    }

    /// Notes the course of the only connection there is.
    pub fn follow(mut self) -> World {
        self.course = Some(Vec::new());
        self
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`Error::Cancelled`] soon after `cancel` was set.
    pub fn run(mut self, cancel: &AtomicBool) -> Result<Outcome> {
        while !self.is_over {
            let Some(next) = self.wheel.pop() else { break };
            debug_assert!(next.at >= self.now, "an event lies in the past");
            self.now = next.at;
            self.events += 1;
            if self.events.is_multiple_of(1 << 14) && cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            self.handle(next.event);
        }
        Ok(self.finish())
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive(packet) => self.arrive(packet),
            Event::Deliver(packet) => self.deliver(packet),
            Event::Serve(link) => self.serve(link),
            Event::Control(link) => self.control(link as usize),
            Event::Timer { slot, generation } => self.timer(slot, generation),
            Event::Wake(token) => {
                match &mut self.setup.bulk {
                    Some(bulk) if token == BULK => bulk.open(self.now, &mut self.wishes),
                    _ => self.setup.source.wake(token, self.now, &mut self.wishes),
                }
                self.grant();
            }
            Event::Ready(slot) => self.ready(slot),
            Event::Served(server) => self.served(server),
            Event::WindowBegins => self.open_window(),
            Event::WindowEnds => self.close_window(),
            Event::Deadline => self.is_over = true,
        }
    }

    #[inline]
    fn schedule(&mut self, at: Time, class: u64, content: u64, event: Event) {
        // Departures come first even in insertion order: the fast path has no events for them.
        let key = if self.setup.params.insertion_order && class > class::SERVE {
            self.scheduled += 1;
            class::ARRIVE << 60 | self.scheduled
        } else {
            class << 60 | content
        };
        self.wheel.push(at, key, event);
    }

    fn schedule_packet(&mut self, at: Time, class: u64, packet: Packet) {
        let content = (u64::from(packet.flow) & 0x0fff_ffff) << 32 | u64::from(packet.seq);
        let event = if class == class::ARRIVE { Event::Arrive(packet) } else { Event::Deliver(packet) };
        self.schedule(at, class, content, event);
    }

    /// Puts a packet of a host on its way.
    fn inject(&mut self, mut packet: Packet) {
        let live = &mut self.live[packet.flow as usize];
        live.in_flight += 1;
        packet.hop = 0;
        let (client, server, quarter) = (live.open.client, live.open.server, live.quarter);
        if self.setup.trace && !packet.is_reverse() {
            self.note(TraceEvent::Send, &packet);
        }
        let end = if packet.is_reverse() { End::ClientOut } else { End::ServerOut };
        let at = self.pass_private(&packet, end, self.now) + quarter;
        self.forward(packet, client, server, at);
    }

    /// Sends a packet on to its next link, or to its host.
    #[inline]
    fn forward(&mut self, mut packet: Packet, client: u32, server: u32, at: Time) {
        match self.setup.layout.link(packet.hop, packet.is_reverse(), client, server) {
            Some(link) => {
                packet.link = link;
                self.schedule_packet(at, class::ARRIVE, packet);
            }
            None => self.schedule_packet(at, class::DELIVER, packet),
        }
    }

    /// A packet has crossed a link and reaches its far end at `at`.
    #[inline]
    fn onward(&mut self, mut packet: Packet, at: Time) {
        packet.hop += 1;
        let live = &self.live[packet.flow as usize];
        let (client, server, quarter) = (live.open.client, live.open.server, live.quarter);
        let last = self.setup.layout.link(packet.hop, packet.is_reverse(), client, server).is_none();
        if !last {
            return self.forward(packet, client, server, at);
        }
        let end = if packet.is_reverse() { End::ServerIn } else { End::ClientIn };
        let through = self.pass_private(&packet, end, at);
        self.schedule_packet(through + quarter, class::DELIVER, packet);
    }

    /// Crosses a private access link; returns when the packet reaches its far end.
    #[inline]
    fn pass_private(&mut self, packet: &Packet, end: End, at: Time) -> Time {
        let (delay, rate) = self.setup.layout.private(end);
        let through = match rate {
            Some(rate) => self.private[packet.flow as usize].pass(end, at, packet.bytes, rate),
            None => at,
        };
        through + delay
    }

    fn arrive(&mut self, mut packet: Packet) {
        let number = usize::from(packet.link);
        let key = self.live[packet.flow as usize].open.key;
        self.setup.markers[number].mark(&mut packet, key, self.now);
        if self.setup.trace && packet.link == DOWN {
            self.note(TraceEvent::Enqueue, &packet);
        }
        match self.setup.links[number].arrive(&mut packet, self.now) {
            Arrival::Arrives(at) => {
                if self.setup.trace && packet.link == DOWN && packet.has(flag::CE) && !packet.was_marked {
                    self.note(TraceEvent::Mark, &packet);
                }
                self.onward(packet, at);
            }
            Arrival::Queued { serve } => {
                self.bury(number);
                if serve {
                    self.serve(number as u32);
                }
            }
            Arrival::Dropped => self.bury(number),
        }
    }

    /// A link starts its next transmission.
    fn serve(&mut self, link: u32) {
        let served = self.setup.links[link as usize].serve(self.now);
        self.bury(link as usize);
        match served {
            Ok((packet, free, at)) => {
                self.schedule(free, class::SERVE, u64::from(link), Event::Serve(link));
                self.onward(packet, at);
            }
            Err(Some(again)) => self.schedule(again, class::SERVE, u64::from(link), Event::Serve(link)),
            Err(None) => {}
        }
    }

    /// A marker takes its slow step.
    fn control(&mut self, link: usize) {
        let marker = &mut self.setup.markers[link];
        marker.control(self.now);
        if let Some(period) = marker.period() {
            self.schedule(self.now + period, class::CONTROL, link as u64, Event::Control(link as u32));
        }
    }

    /// Accounts for the packets a link has dropped.
    fn bury(&mut self, link: usize) {
        while let Some(Drop { packet, .. }) = self.setup.links[link].take_drop() {
            if self.setup.trace && packet.link == DOWN {
                self.note(TraceEvent::Drop, &packet);
            }
            self.live[packet.flow as usize].in_flight -= 1;
            self.release(packet.flow);
        }
    }

    /// Carries out what the source wished.
    fn grant(&mut self) {
        while !(self.wishes.open.is_empty() && self.wishes.wake.is_empty()) {
            for (at, token) in std::mem::take(&mut self.wishes.wake) {
                self.schedule(at, class::WAKE, u64::from(token), Event::Wake(token));
            }
            for open in std::mem::take(&mut self.wishes.open) {
                self.open(open);
            }
        }
    }

    fn open(&mut self, open: Open) {
        let rtt = open.rtt.unwrap_or(self.setup.rtt).max(self.setup.layout.base_rtt);
        let quarter = self.setup.layout.quarter(rtt);
        let phase = self.setup.params.tick_phase.unwrap_or_else(|| {
            let draw = Stream::new(self.setup.seed, Purpose::TickPhase, open.key).uniform();
            Dur((draw * self.setup.params.tick.0 as f64) as u64)
        });
        let slot = self.free.pop().unwrap_or(self.live.len() as u32);
        let generation = self.live.get(slot as usize).map_or(0, |old| old.generation + 1);
        let live = Live::new(open, &self.setup.params, phase, quarter, rtt, generation);
        if slot as usize == self.live.len() {
            self.live.push(live);
            self.private.push(PrivateLinks::default());
        } else {
            self.live[slot as usize] = live;
            self.private[slot as usize] = PrivateLinks::default();
        }
        let flow = open.flow();
        for &link in &self.told {
            self.setup.markers[link].open(slot, &flow);
            self.setup.links[link].queue().open(slot, &flow);
        }
        self.opened += 1;
        self.most_live = self.most_live.max((self.live.len() - self.free.len()) as u64);
        self.begin_write(slot, 0);
    }

    /// Frees the slot of a connection that is over and has nothing left in the network.
    fn release(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        if live.is_open && live.is_finished && live.in_flight == 0 && live.sender.is_done() {
            live.is_open = false;
            self.free.push(slot);
        }
    }

    fn note(&mut self, event: TraceEvent, packet: &Packet) {
        let seq = i64::from(packet.seq) - i64::from(event == TraceEvent::Ack);
        let cwnd = self.live[packet.flow as usize].sender.cwnd();
        let row = TraceRow {
            at: self.now,
            event,
            flow: packet.flow,
            seq,
            bytes: packet.bytes,
            colour: packet.colour,
            cwnd,
        };
        self.trace.push(row);
    }
}
