//! The engine: takes events in order of time and handles them until the run is over.
//!
//! A packet is one event per link it crosses and one at the host it reaches. An event carries its packet; nothing is
//! boxed, and nothing is allocated per packet once buffers have grown.
//!
//! Events of equal time are ordered by their content (class, connection, number), so no optimisation can change a
//! result unnoticed. With `insertion_order` they keep the order of scheduling, as in ns-2.

pub mod arrivals;
pub mod commands;
pub mod connection;
pub mod datagrams;
mod event;
mod forwarding;
pub mod ftp;
pub mod graph;
mod host;
pub mod layout;
pub mod misbehaving;
pub mod mix;
mod open_probes;
mod outcome;
mod probes;
mod receive_stats;
mod recorded;
pub mod replay;
mod sampling;
pub mod send_log;
pub mod server;
mod serving;
pub mod sessions;
mod setup;
pub mod source;
pub mod testers;
pub mod viewers;
mod world;

use crate::error::{Error, Result};
use crate::link::Pace;
use crate::packet::Kind;
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use crate::wheel::Wheel;
use commands::{BULK, Commands, ConnectionSource};
use connection::{Live, Open, Payload};
use event::{Event, What, class};
use layout::{End, PathState};
use open_probes::Probes;
pub use outcome::{Balance, InFlight, Outcome};
use receive_stats::ReceiveStats;
use sampling::Sampling;
use send_log::{SendLog, SteadyState};
pub use setup::{Apps, Setup};
pub use world::World;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

impl World {
    /// Returns a world before its first event. The events of window, deadline, samples and markers
    /// are scheduled, and the first commands of the sources are applied, so that connections of
    /// time zero are open.
    pub fn new(mut setup: Setup) -> World {
        let packet = setup.links[usize::from(setup.data_link)].rate.tx_time(750);
        let mut world = World {
            wheel: Wheel::for_delays(packet, Dur(2 * setup.rtt.max(setup.layout.base_rtt).0)),
            now: Time::ZERO,
            live: Vec::new(),
            free: Vec::new(),
            path_states: Vec::new(),
            ends: End::ALL.map(|end| {
                let (delay, rate) = setup.layout.access_link(end);
                (delay, rate.map(Pace::new))
            }),
            commands: Commands::default(),
            transfers: Vec::new(),
            pages: HashSet::new(),
            trace: Vec::new(),
            send_log: None,
            sampling: setup.sampled.map(|every| Sampling::new(every, setup.layout.recorded())),
            flow_aware_links: setup.flow_aware_links(),
            at_window: vec![Default::default(); setup.links.len()],
            modems_at_window: Vec::new(),
            queues: Vec::new(),
            outstanding: 0,
            window_is_over: false,
            is_over: false,
            keeps_insertion_order: setup.senders.first().is_ns2(),
            scheduled: 0,
            events: 0,
            opened: 0,
            most_live: 0,
            goodput_bytes: 0,
            goodput_up_bytes: 0,
            reordered: 0,
            datagrams: setup.apps.streams.iter().map(|stream| ReceiveStats::new(stream.playback)).collect(),
            recorded: Vec::new(),
            long_lived: Vec::new(),
            flows: Vec::new(),
            probes: Probes::default(),
            setup,
        };
        let (begin, end) = world.setup.window;
        for &number in world.setup.layout.recorded() {
            world.setup.links[usize::from(number)].measure(begin, end);
        }
        world.schedule(begin, class::WINDOW, 1, What::WindowBegins);
        world.schedule(end, class::WINDOW, 2, What::WindowEnds);
        world.schedule(world.setup.deadline, class::WINDOW, 3, What::Deadline);
        world.schedule_sample();
        for link in 0..world.setup.links.len() {
            if let Some(due) = world.setup.markers[link].control_due() {
                world.schedule(due, class::CONTROL, link as u64, What::Control(link as u32));
            }
        }
        if let Some(bulk) = &mut world.setup.bulk {
            bulk.begin(&mut world.commands);
        }
        world.setup.source.begin(&mut world.commands);
        world.apply_commands();
        world
    }

    /// Records a send log of the run's only connection, in place of the packet trace. With `steady`
    /// the run ends as soon as the slowest link is saturated for the rest of the transfer. It must
    /// come before [`World::run`].
    pub fn with_send_log(mut self, steady: Option<SteadyState>) -> World {
        self.send_log = Some(SendLog::new(steady));
        self.setup.trace = true;
        self
    }

    /// Runs until the deadline, until the window is over and nothing measured is outstanding, or
    /// until no event is left; returns the results.
    ///
    /// # Errors
    /// [`Error::Cancelled`] soon after `cancel` was set; it is read every 16,384 events.
    pub fn run(mut self, cancel: &AtomicBool) -> Result<Outcome> {
        while !self.is_over {
            let Some(node) = self.wheel.pop_node() else { break };
            let (at, &Event { what, .. }) = self.wheel.event(node);
            debug_assert!(at >= self.now, "an event lies in the past");
            if at != self.now {
                (self.now, self.scheduled) = (at, 0);
            }
            self.events += 1;
            if self.events.is_multiple_of(1 << 14) && cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            self.prefetch_ahead();
            self.handle_event(node, what);
        }
        Ok(self.finish())
    }

    /// Handles the event in `node`. A packet stays in its node as long as it travels and its event is changed in place.
    /// If it were copied at each hop, it would be read before the changes have left the store buffer.
    #[inline]
    fn handle_event(&mut self, node: u32, what: What) {
        match what {
            What::Arrive => self.arrive(node),
            What::Data => self.deliver(node, Some(Kind::Data)),
            What::Ack => self.deliver(node, Some(Kind::Ack)),
            What::Other => self.deliver_other(node),
            what => {
                let slot = self.wheel.event(node).1.packet.flow;
                self.wheel.free_node(node);
                self.handle_without_packet(slot, what);
            }
        }
    }

    /// Handles an event that has no packet and concerns the connection in `slot`, if any. It panics
    /// for an event of a packet.
    #[inline]
    fn handle_without_packet(&mut self, slot: u32, what: What) {
        match what {
            What::Arrive | What::Data | What::Ack | What::Other => {
                unreachable!("an event of a packet is handled in its node")
            }
            What::Serve(link) => self.serve(link, true),
            What::Control(link) => self.run_control_step(link as usize),
            What::Timer(generation) => self.handle_timer(slot, generation),
            What::Wake(token) => {
                match &mut self.setup.bulk {
                    Some(bulk) if token == BULK => bulk.wake(token, self.now, &mut self.commands),
                    _ => self.setup.source.wake(token, self.now, &mut self.commands),
                }
                self.apply_commands();
            }
            What::Ready(slot) => self.end_think(slot),
            What::AckDue(slot) => self.send_due_ack(slot),
            What::Served(server) => self.finish_job(server),
            What::ProbeDue(number) => self.repeat_probe(slot, number),
            What::WindowBegins => self.open_window(),
            What::WindowEnds => self.close_window(),
            What::Sample => self.take_sample(),
            What::Deadline => self.is_over = true,
        }
    }

    /// Runs a marker's periodic control step and schedules the next one, if the marker has more.
    fn run_control_step(&mut self, link: usize) {
        let marker = &mut self.setup.markers[link];
        marker.control(self.now);
        if let Some(due) = marker.control_due() {
            self.schedule(due, class::CONTROL, link as u64, What::Control(link as u32));
        }
    }

    /// Schedules the next sample, unless it would lie beyond the measured window or the run takes
    /// none.
    fn schedule_sample(&mut self) {
        let Some(due) = self.sampling.as_ref().map(|sampling| sampling.next_due(self.now)) else { return };
        if due <= self.setup.window.1 {
            self.schedule(due, class::WINDOW, class::FIRST_IN_WINDOW, What::Sample);
        }
    }

    /// Samples the recorded links, the number of open connections and the windows of the first
    /// long-lived flows, and schedules the next sample. It does not count as an event.
    fn take_sample(&mut self) {
        self.events -= 1;
        if let Some(sampling) = &mut self.sampling {
            let windows = self.long_lived.iter().map(|&(slot, _)| self.live[slot as usize].sender.cwnd());
            sampling.sample(&mut self.setup.links, self.live.len() - self.free.len(), windows, self.now);
        }
        self.schedule_sample();
    }

    /// Applies the commands of the sources, and those that follow from them, until none is left;
    /// self probes are sent last.
    fn apply_commands(&mut self) {
        while !(self.commands.open.is_empty() && self.commands.wake.is_empty()) {
            let mut wakes = std::mem::take(&mut self.commands.wake);
            for (at, token) in wakes.drain(..) {
                self.schedule(at, class::WAKE, u64::from(token), What::Wake(token));
            }
            let mut opens = std::mem::take(&mut self.commands.open);
            for open in opens.drain(..) {
                self.open_connection(open);
            }
            self.commands.reuse_buffers(opens, wakes);
        }
        self.send_self_probes();
    }

    /// Opens a connection: assigns a slot, a path and a TCP, notifies flow-aware links, and begins
    /// its first write or sends its first datagrams. TCP and clock phase are drawn by the
    /// connection's key, so that they are the same under every scheme.
    fn open_connection(&mut self, open: Open) {
        let layout = &self.setup.layout;
        let path = layout.path(open.client, open.server);
        let rtt = open.rtt.unwrap_or(self.setup.rtt).max(layout.base_rtt(path));
        let host_delay = layout.host_delay(rtt, path);
        let tcp = match self.setup.senders.shares() {
            [_] => 0,
            _ => {
                let draw = Stream::new(self.setup.seed, Purpose::Tcp, open.key).uniform();
                self.setup.senders.draw(draw)
            }
        };
        let params = self.setup.senders.params_at(tcp);
        let phase = params.tick_phase.unwrap_or_else(|| {
            let draw = Stream::new(self.setup.seed, Purpose::TickPhase, open.key).uniform();
            Dur((draw * params.tick.0 as f64) as u64)
        });
        let slot = self.free.pop().unwrap_or(self.live.len() as u32);
        let generation = self.live.get(slot as usize).map_or(0, |old| old.generation + 1);
        let live = Live::new(open, (tcp, params), phase, rtt, generation);
        let path_state = PathState { host_delay, path, upload: open.upload, ..PathState::default() };
        if slot as usize == self.live.len() {
            self.live.push(live);
            self.path_states.push(path_state);
        } else {
            self.live[slot as usize] = live;
            self.path_states[slot as usize] = path_state;
        }
        let flow = open.flow();
        for &link in
            self.flow_aware_links.iter().filter(|&&link| self.setup.layout.crosses(path, link as u16))
        {
            self.setup.markers[link].open(slot, &flow);
            self.setup.links[link].queue().open(slot, &flow);
        }
        self.opened += 1;
        self.most_live = self.most_live.max((self.live.len() - self.free.len()) as u64);
        match open.payload {
            Payload::Datagrams(_) => self.send_datagram(slot),
            Payload::Recorded { connection, joined } => self.begin_recorded(slot, connection, joined),
            Payload::Probe { .. } => {
                self.begin_foreign_probe(slot);
                self.begin_write(slot, 0);
            }
            _ => self.begin_write(slot, 0),
        }
        if open.payload == Payload::LongLived {
            self.long_lived.push((slot, 0));
        }
    }
}
