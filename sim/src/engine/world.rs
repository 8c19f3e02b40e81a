//! The state of a run in progress, with the functions that every part of the engine uses.

use super::commands::Commands;
use super::connection::Live;
use super::event::{Event, What, class, insertion};
use super::layout::{Ends, PathState};
use super::open_probes::Probes;
use super::receive_stats::ReceiveStats;
use super::recorded::Recorded;
use super::sampling::Sampling;
use super::send_log::SendLog;
use super::setup::Setup;
use crate::packet::Packet;
use crate::record::{ColourCounts, FlowRecord, QueueRecord, TraceRow, Transfer};
use crate::units::Time;
use crate::wheel::{Wheel, prefetch};
use std::collections::HashSet;

/// From this number of connections on, their state outgrows the first two levels of cache.
const MANY: usize = 1000;

/// A run in progress.
pub struct World {
    pub(super) setup: Setup,
    pub(super) wheel: Wheel<Event>,
    pub(super) now: Time,
    pub(super) live: Vec<Live>,
    pub(super) free: Vec<u32>,
    pub(super) path_states: Vec<PathState>,
    /// Delay and pace of the private access link at each end.
    pub(super) ends: Ends,
    pub(super) commands: Commands,
    pub(super) transfers: Vec<Transfer>,
    /// Keys of the pages that began in the measured window.
    pub(super) pages: HashSet<u64>,
    pub(super) trace: Vec<TraceRow>,
    pub(super) send_log: Option<SendLog>,
    pub(super) sampling: Option<Sampling>,
    /// Links whose marker or queue is notified of every new connection.
    pub(super) flow_aware_links: Vec<usize>,
    /// Counts of each link when the window began.
    pub(super) at_window: Vec<[ColourCounts; 3]>,
    /// The same of each recorded link's modem, where it has one.
    pub(super) modems_at_window: Vec<[ColourCounts; 3]>,
    pub(super) queues: Vec<QueueRecord>,
    /// Statistics of the datagram flows, by number: those of the run's applications come first, then recorded ones.
    pub(super) datagrams: Vec<ReceiveStats>,
    /// The positions of the recorded ones.
    pub(super) recorded: Vec<Recorded>,
    /// Slots of the long-lived flows, and the segments each had delivered when the window began.
    pub(super) long_lived: Vec<(u32, u32)>,
    pub(super) flows: Vec<FlowRecord>,
    pub(super) probes: Probes,
    /// Number of measured transfers, datagrams and probes that have not ended.
    pub(super) outstanding: u64,
    pub(super) window_is_over: bool,
    pub(super) is_over: bool,
    /// Events of equal time keep the order of scheduling, as in ns-2.
    pub(super) keeps_insertion_order: bool,
    /// Number of events scheduled at the present time, for the order of events of ns-2.
    pub(super) scheduled: u64,
    pub(super) events: u64,
    pub(super) opened: u64,
    pub(super) most_live: u64,
    pub(super) goodput_bytes: u64,
    pub(super) goodput_up_bytes: u64,
    pub(super) reordered: u64,
}

const _: () = assert!(Wheel::<Event>::NODE_BYTES == 64, "an event has outgrown its cache line");

impl World {
    /// Memory of one live connection and its path state in bytes; scoreboards take more.
    pub const BYTES_PER_CONNECTION: usize = size_of::<Live>() + size_of::<PathState>();

    /// Schedules an event that has no packet and concerns no connection; `content` orders it among
    /// events of the same time and class.
    #[inline(always)]
    pub(super) fn schedule(&mut self, at: Time, class: u64, content: u64, what: What) {
        self.schedule_for(Packet::NONE.flow, at, class, content, what);
    }

    /// Schedules an event that has no packet and concerns the connection in `slot`; `content`
    /// orders it as in [`World::schedule`].
    #[inline(always)]
    pub(super) fn schedule_for(&mut self, slot: u32, at: Time, class: u64, content: u64, what: What) {
        let key = self.next_key(class, content, at);
        let packet = Packet { flow: slot, ..Packet::NONE };
        self.wheel.push(at, key, Event { packet, what });
    }

    /// Returns the key that orders an event, scheduled now, among those of its time `at`. In
    /// insertion order it counts the event.
    #[inline(always)]
    pub(super) fn next_key(&mut self, class: u64, content: u64, at: Time) -> u64 {
        // Departures come first even in insertion order: the fast path has no events for them.
        if self.keeps_insertion_order && class > class::SERVE {
            self.scheduled += 1;
            insertion::key(self.now, at, insertion::WAITED + self.scheduled)
        } else {
            class << 60 | content
        }
    }

    /// Prefetches a coming event and, with many connections, the connection it belongs to, which has left the caches by
    /// the time of its next event.
    #[inline(always)]
    pub(super) fn prefetch_ahead(&mut self) {
        let Some((at, &Event { packet, what })) = self.wheel.prefetch_step() else { return };
        // An earlier event has been handled since its node was prefetched; the node may hold anything.
        if self.live.len() > MANY && at >= self.now {
            self.prefetch_connection(packet.flow as usize, !matches!(what, What::Arrive));
        }
    }

    /// Prefetches the path state of the connection in `slot`, and the whole connection if the packet `ends` its path.
    #[inline(always)]
    fn prefetch_connection(&self, slot: usize, ends: bool) {
        if let Some(path_state) = self.path_states.get(slot) {
            prefetch(path_state);
        }
        if let Some(live) = self.live.get(slot).filter(|_| ends) {
            prefetch(live);
        }
    }

    /// Frees the slot of a connection whose writes have all arrived, once nothing of it is in
    /// flight; any other connection is left alone.
    #[inline(always)]
    pub(super) fn release(&mut self, slot: u32) {
        if self.live[slot as usize].is_finished {
            self.release_finished(slot);
        }
    }

    /// Frees the slot of a finished connection if no packet is in the network, everything is
    /// acknowledged and no acknowledgement is delayed. Otherwise, or if it is free already, nothing
    /// changes.
    #[inline(never)]
    fn release_finished(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        let is_quiet = self.path_states[slot as usize].in_flight == 0 && live.sender.is_done();
        if live.is_open && is_quiet && live.receiver.poll_timeout() == Time::NEVER {
            live.is_open = false;
            self.free.push(slot);
        }
    }
}
