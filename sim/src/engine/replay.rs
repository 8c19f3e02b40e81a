//! Endless replay of an overlaid trace, in an open or a closed loop.
//!
//! In an open loop each connection starts at its recorded time, shifted and dilated. In a closed loop this holds for
//! the first connection of each session; every other one starts its recorded think time after the end of what it
//! waited for ([`Waiting`]), so a session that the network slows down runs late. Sessions begin at their recorded
//! times all the same, and so does a connection whose predecessor lies before the run.
//!
//! Flows of datagrams are played at their recorded times in either loop. Those that are in progress when the run begins are
//! joined in the middle.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, PageOf};
use crate::traffic::overlay::{Arrival, Overlay};
use crate::traffic::waiting::Waiting;
use crate::units::{Dur, Time};
use slab::Slab;
use std::sync::Arc;

/// Token of the next connection that starts at its recorded time; every other token is a slot of `thinking`.
const CURSOR: u32 = u32::MAX - 1;

/// A connection of a copy of the trace in a repetition of it.
#[derive(Debug, Clone, Copy)]
struct Instance {
    arrival: Arrival,
    repetition: u64,
}

/// Endless replay of an overlaid trace from an offset on.
pub struct Replay {
    traffic: Arc<Traffic>,
    overlay: Overlay,
    /// Which connection waits for which; `None` in an open loop.
    waiting: Option<Waiting>,
    cursor: usize,
    /// How often the whole overlay has been played.
    repetition: u64,
    offset: Time,
    rtt: Option<Dur>,
    /// Connections in progress that others wait for, by tag.
    running: Slab<Instance>,
    /// Connections whose think time passes, by token.
    thinking: Slab<Instance>,
}

impl Replay {
    /// Returns a replay of `overlay` of `traffic` from `offset` on, in a closed loop if `waiting`
    /// is given; `rtt` overrides the trace's round-trip times.
    pub fn new(
        traffic: Arc<Traffic>,
        overlay: Overlay,
        waiting: Option<Waiting>,
        offset: Time,
        rtt: Option<Dur>,
    ) -> Replay {
        let cursor = overlay.arrivals().partition_point(|arrival| arrival.at < offset);
        let (running, thinking) = (Slab::new(), Slab::new());
        Replay { traffic, overlay, waiting, cursor, repetition: 0, offset, rtt, running, thinking }
    }

    /// Moves the cursor to the next connection that starts at its recorded time, and asks to be
    /// woken for it. There is none where the overlay holds only what a run sees, and everything in
    /// it waits for something else; nothing is asked for then.
    fn schedule_next(&mut self, commands: &mut Commands) {
        for _ in 0..self.overlay.arrivals().len() {
            if self.cursor == self.overlay.arrivals().len() {
                self.cursor = 0;
                self.repetition += 1;
            }
            let next = self.instance_at_cursor();
            if !self.waits_within_run(&next) {
                commands.wake.push((Time(self.recorded_time(&next).since(self.offset).0), CURSOR));
                return;
            }
            self.cursor += 1;
        }
    }

    /// Returns the connection at the cursor.
    fn instance_at_cursor(&self) -> Instance {
        Instance { arrival: self.overlay.arrivals()[self.cursor], repetition: self.repetition }
    }

    /// Returns the recorded time of a connection, counted from the beginning of repetition 0; the
    /// offset of the replay is part of it.
    fn recorded_time(&self, instance: &Instance) -> Time {
        instance.arrival.at + Dur(self.overlay.period.0 * instance.repetition)
    }

    /// Returns whether a connection waits for another one that this run plays.
    fn waits_within_run(&self, instance: &Instance) -> bool {
        let wait = self.waiting.as_ref().and_then(|waiting| waiting.wait(instance.arrival.connection));
        let parent = wait.and_then(|wait| self.find_in_same_lap(instance, wait.parent));
        parent.is_some_and(|parent| self.recorded_time(&parent) >= self.offset)
    }

    /// Returns another connection of the same copy and lap of the trace; `None` if it lies before
    /// repetition 0, or in another block of a traffic that was resampled in blocks of time. A lap
    /// differs from a repetition where a copy's shift moves connections beyond the period's end.
    fn find_in_same_lap(&self, instance: &Instance, connection: u32) -> Option<Instance> {
        let Arrival { connection: own, copy, .. } = instance.arrival;
        if !self.overlay.are_together(own, connection) {
            return None;
        }
        let start = |index: u32| self.traffic.connections[index as usize].start;
        let place = |index: u32| self.overlay.compute_start(index, start(index), copy);
        let ((_, own_wrapped), (at, wrapped)) = (place(own), place(connection));
        let repetition = (instance.repetition + u64::from(wrapped)).checked_sub(u64::from(own_wrapped))?;
        Some(Instance { arrival: Arrival { at, connection, copy }, repetition })
    }

    /// Adds the commands to open the two directions of a flow of datagrams of the age `joined`; a
    /// direction without further datagrams is not opened.
    fn open_datagrams(&self, instance: &Instance, joined: Dur, commands: &mut Commands) {
        let Instance { arrival, repetition } = instance;
        let connection = &self.traffic.connections[arrival.connection as usize];
        let key = self.overlay.key(arrival, *repetition);
        let rtt = self.rtt.or(connection.rtt);
        let directions = open_directions(connection, arrival.connection, joined);
        commands.open.extend(directions.map(|open| Open { key, rtt, ..open }));
    }

    /// Adds the command to open a connection. If others wait for it, it is stored as running, so
    /// that its end is reported. A flow of datagrams is opened in both directions and never
    /// reported.
    fn open(&mut self, instance: Instance, commands: &mut Commands) {
        let Instance { arrival, repetition } = instance;
        let connection = &self.traffic.connections[arrival.connection as usize];
        if connection.kind == Kind::Datagrams {
            return self.open_datagrams(&instance, Dur::ZERO, commands);
        }
        let copy = self.overlay.page_copy(&arrival, repetition, connection.start);
        let open = open_command(connection, arrival.connection);
        let page = match open.payload {
            Payload::Single(_) => self.traffic.page(copy, arrival.connection, 0),
            _ => PageOf::new(copy, 0),
        };
        let awaited =
            self.waiting.as_ref().is_some_and(|waiting| !waiting.children(arrival.connection).is_empty());
        commands.open.push(Open {
            key: self.overlay.key(&arrival, repetition),
            rtt: self.rtt.or(connection.rtt),
            page: page.key,
            page_transfers: page.transfers,
            tag: if awaited { self.running.insert(instance) as u32 } else { NO_TAG },
            ..open
        });
    }
}

impl ConnectionSource for Replay {
    /// Joins the flows of datagrams in progress, and asks to be woken for the first connection.
    fn begin(&mut self, commands: &mut Commands) {
        for &arrival in self.overlay.in_progress() {
            let joined = self.overlay.since_start(&arrival, self.offset);
            let repetition = if arrival.at < self.offset { 0 } else { u64::MAX };
            self.open_datagrams(&Instance { arrival, repetition }, joined, commands);
        }
        self.schedule_next(commands);
    }

    /// Opens the connection whose recorded time has come, or the one whose think time has passed.
    /// It panics for a token that was not asked for.
    fn wake(&mut self, token: u32, _now: Time, commands: &mut Commands) {
        if token == CURSOR {
            self.open(self.instance_at_cursor(), commands);
            self.cursor += 1;
            self.schedule_next(commands);
        } else {
            let instance = self.thinking.remove(token as usize);
            self.open(instance, commands);
        }
    }

    /// Starts the think times of the connections that waited for this one. Those of another lap
    /// before the run or another block are left out.
    fn connection_finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        let ended = self.running.remove(tag as usize);
        let Some(waiting) = &self.waiting else { return };
        for &child in waiting.children(ended.arrival.connection) {
            let (Some(instance), Some(wait)) = (self.find_in_same_lap(&ended, child), waiting.wait(child))
            else {
                continue;
            };
            commands.wake.push((now + wait.think, self.thinking.insert(instance) as u32));
        }
    }
}

/// Returns the commands to open a flow of datagrams of the age `joined`: one for each direction
/// that still has datagrams.
pub(super) fn open_directions(
    connection: &Connection,
    index: u32,
    joined: Dur,
) -> impl Iterator<Item = Open> + '_ {
    let has_some = move |is_reverse: &bool| {
        let flow = connection.writes.datagrams();
        flow.is_some_and(|flow| flow.next(*is_reverse, flow.find_position(*is_reverse, joined)).is_some())
    };
    [false, true].into_iter().filter(has_some).map(move |is_reverse| Open {
        payload: Payload::Recorded { connection: index, joined },
        upload: connection.upload != is_reverse,
        ..open_command(connection, index)
    })
}

/// Returns the command to open this connection of a trace; `index` is its number there. The key is
/// that number, and there is no tag. Connections with several writes refer to the trace.
pub(super) fn open_command(connection: &Connection, index: u32) -> Open {
    Open {
        key: u64::from(index),
        client: connection.client,
        server: connection.server,
        rtt: connection.rtt,
        payload: match connection.writes[..] {
            [only] => Payload::Single(only.bytes),
            _ => Payload::Replayed(index),
        },
        class: connection.class,
        flow_class: connection.flow_class,
        is_quic: connection.kind == Kind::Quic,
        upload: connection.upload,
        server_think: connection.server_think.time(),
        ..Open::default()
    }
}
