//! The engine: events, and what follows from them.
//!
//! One packet is one event per link it crosses and one at the host it reaches. Every event carries
//! what it needs; nothing is boxed and nothing is allocated per packet once buffers have grown.
//!
//! Order at equal times comes from the event's content (class, connection, number), so that no
//! optimisation changes a result unseen; with `insertion_order` it is the order of scheduling, as in ns-2.

pub mod arrivals;
pub mod connection;
pub mod course;
pub mod datagrams;
mod event;
pub mod ftp;
pub mod gaming;
pub mod graph;
mod host;
pub mod layout;
pub mod mix;
mod outcome;
mod passage;
pub mod server;
pub mod sessions;
mod setup;
mod slots;
pub mod source;

use crate::error::{Error, Result};
use crate::link::Pace;
use crate::packet::{Kind, Packet};
use crate::record::{ColourCounts, FlowRecord, QueueRecord, TraceRow, Transfer};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use crate::wheel::Wheel;
use connection::{Live, Open, Payload};
use course::{Course, Plain};
use event::{Event, What, class};
use layout::{DOWN, End, Ends, Road};
pub use outcome::{Balance, Outcome};
pub use setup::{Apps, Setup};
use source::{BULK, Wishes};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run in progress.
pub struct World {
    setup: Setup,
    wheel: Wheel<Event>,
    now: Time,
    live: Vec<Live>,
    free: Vec<u32>,
    roads: Vec<Road>,
    /// Delay and pace of the private access link at each end.
    ends: Ends,
    wishes: Wishes,
    transfers: Vec<Transfer>,
    /// Pages that began in the window.
    pages: HashSet<u64>,
    trace: Vec<TraceRow>,
    course: Option<Course>,
    /// Links whose marker or queue is told of every connection.
    told: Vec<usize>,
    at_window: Vec<[ColourCounts; 3]>,
    queues: Vec<QueueRecord>,
    /// Datagram flows, by number.
    datagrams: Vec<datagrams::Heard>,
    /// Flows without end, and what they had delivered when the window began.
    endless: Vec<(u32, u32)>,
    flows: Vec<FlowRecord>,
    /// Measured transfers and datagrams that have not ended.
    outstanding: u64,
    window_is_over: bool,
    is_over: bool,
    scheduled: u64,
    events: u64,
    opened: u64,
    most_live: u64,
    goodput_bytes: u64,
    goodput_up_bytes: u64,
    reordered: u64,
}

impl World {
    /// Memory of one live connection with everything that belongs to its slot, bytes; scoreboards grow beyond it.
    pub const BYTES_PER_CONNECTION: usize = size_of::<Live>() + size_of::<Road>();

    /// A world before its first event.
    pub fn new(mut setup: Setup) -> World {
        let packet = setup.links[usize::from(DOWN)].rate.tx_time(750);
        let mut world = World {
            wheel: Wheel::for_delays(packet, Dur(2 * setup.rtt.max(setup.layout.base_rtt).0)),
            now: Time::ZERO,
            live: Vec::new(),
            free: Vec::new(),
            roads: Vec::new(),
            ends: End::ALL.map(|end| {
                let (delay, rate) = setup.layout.private(end);
                (delay, rate.map(Pace::new))
            }),
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
            goodput_up_bytes: 0,
            reordered: 0,
            datagrams: setup.apps.streams.iter().map(|_| datagrams::Heard::default()).collect(),
            endless: Vec::new(),
            flows: Vec::new(),
            setup,
        };
        let (begin, end) = world.setup.window;
        world.schedule(begin, class::WINDOW, 0, What::WindowBegins);
        world.schedule(end, class::WINDOW, 1, What::WindowEnds);
        world.schedule(world.setup.deadline, class::WINDOW, 2, What::Deadline);
        for link in 0..world.setup.links.len() {
            if let Some(period) = world.setup.markers[link].period() {
                world.schedule(Time::ZERO + period, class::CONTROL, link as u64, What::Control(link as u32));
            }
        }
        if let Some(bulk) = &mut world.setup.bulk {
            bulk.schedule(&mut world.wishes);
        }
        world.setup.source.begin(&mut world.wishes);
        world.grant();
        world
    }

    /// Notes the course of the only connection there is, and ends when the rest of it is plain.
    pub fn follow(mut self, plain: Option<Plain>) -> World {
        self.course = Some(Course::until(plain));
        self.setup.trace = true;
        self
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`Error::Cancelled`] soon after `cancel` was set.
    pub fn run(mut self, cancel: &AtomicBool) -> Result<Outcome> {
        while !self.is_over {
            let Some(place) = self.wheel.take() else { break };
            let (at, &Event { what, .. }) = self.wheel.look(place);
            debug_assert!(at >= self.now, "an event lies in the past");
            self.now = at;
            self.events += 1;
            if self.events.is_multiple_of(1 << 14) && cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            self.look_ahead();
            self.handle(place, what);
        }
        Ok(self.finish())
    }

    /// Handles the event at `place` of the wheel. A packet stays there as long as it travels, and what happens to
    /// it is changed in place: copied at each hop it would be read before the changes had left the store buffer.
    #[inline]
    fn handle(&mut self, place: u32, what: What) {
        match what {
            What::Arrive => self.arrive(place),
            What::Data => self.deliver(place, Some(Kind::Data)),
            What::Ack => self.deliver(place, Some(Kind::Ack)),
            What::Other => self.deliver_other(place),
            what => {
                self.wheel.free(place);
                self.happen(what);
            }
        }
    }

    #[inline]
    fn happen(&mut self, what: What) {
        match what {
            What::Arrive | What::Data | What::Ack | What::Other => {
                unreachable!("what happens to a packet needs its place")
            }
            What::Serve(link) => self.serve(link),
            What::Control(link) => self.control(link as usize),
            What::Timer { slot, generation } => self.timer(slot, generation),
            What::Wake(token) => {
                match &mut self.setup.bulk {
                    Some(bulk) if token == BULK => bulk.open(self.now, &mut self.wishes),
                    _ => self.setup.source.wake(token, self.now, &mut self.wishes),
                }
                self.grant();
            }
            What::Ready(slot) => self.ready(slot),
            What::Served(server) => self.served(server),
            What::WindowBegins => self.open_window(),
            What::WindowEnds => self.close_window(),
            What::Deadline => self.is_over = true,
        }
    }

    #[inline(always)]
    fn schedule(&mut self, at: Time, class: u64, content: u64, what: What) {
        let key = self.key(class, content);
        self.wheel.push(at, key, Event { packet: Packet::NONE, what });
    }

    /// Place of an event among those of its time.
    #[inline(always)]
    fn key(&mut self, class: u64, content: u64) -> u64 {
        // Departures come first even in insertion order: the fast path has no events for them.
        if self.setup.params.is_ns2() && class > class::SERVE {
            self.scheduled += 1;
            class::ARRIVE << 60 | self.scheduled
        } else {
            class << 60 | content
        }
    }

    /// A marker takes its slow step.
    fn control(&mut self, link: usize) {
        let marker = &mut self.setup.markers[link];
        marker.control(self.now);
        if let Some(period) = marker.period() {
            self.schedule(self.now + period, class::CONTROL, link as u64, What::Control(link as u32));
        }
    }

    /// Carries out what the source wished.
    fn grant(&mut self) {
        while !(self.wishes.open.is_empty() && self.wishes.wake.is_empty()) {
            let mut wakes = std::mem::take(&mut self.wishes.wake);
            for (at, token) in wakes.drain(..) {
                self.schedule(at, class::WAKE, u64::from(token), What::Wake(token));
            }
            let mut opens = std::mem::take(&mut self.wishes.open);
            for open in opens.drain(..) {
                self.open(open);
            }
            self.wishes.reuse(opens, wakes);
        }
    }

    fn open(&mut self, open: Open) {
        let layout = &self.setup.layout;
        let path = layout.path(open.client, open.server);
        let rtt = open.rtt.unwrap_or(self.setup.rtt).max(layout.base_rtt(path));
        let quarter = layout.quarter(rtt, path);
        let phase = self.setup.params.tick_phase.unwrap_or_else(|| {
            let draw = Stream::new(self.setup.seed, Purpose::TickPhase, open.key).uniform();
            Dur((draw * self.setup.params.tick.0 as f64) as u64)
        });
        let slot = self.free.pop().unwrap_or(self.live.len() as u32);
        let generation = self.live.get(slot as usize).map_or(0, |old| old.generation + 1);
        let live = Live::new(open, &self.setup.params, phase, rtt, generation);
        let road = Road { quarter, path, upload: open.upload, ..Road::default() };
        if slot as usize == self.live.len() {
            self.live.push(live);
            self.roads.push(road);
        } else {
            self.live[slot as usize] = live;
            self.roads[slot as usize] = road;
        }
        let flow = open.flow();
        for &link in self.told.iter().filter(|&&link| self.setup.layout.crosses(path, link as u16)) {
            self.setup.markers[link].open(slot, &flow);
            self.setup.links[link].queue().open(slot, &flow);
        }
        self.opened += 1;
        self.most_live = self.most_live.max((self.live.len() - self.free.len()) as u64);
        match open.payload {
            Payload::Datagrams(_) => self.send_datagram(slot),
            _ => self.begin_write(slot, 0),
        }
        if open.payload == Payload::Endless {
            self.endless.push((slot, 0));
        }
    }

    /// Frees the slot of a connection that is over and has nothing left in the network or to acknowledge.
    #[inline(always)]
    fn release(&mut self, slot: u32) {
        if self.live[slot as usize].is_finished {
            self.release_finished(slot);
        }
    }

    #[inline(never)]
    fn release_finished(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        let is_quiet = self.roads[slot as usize].in_flight == 0 && live.sender.is_done();
        if live.is_open && is_quiet && live.receiver.poll_timeout() == Time::NEVER {
            live.is_open = false;
            self.free.push(slot);
        }
    }
}
