//! The sources of connections: traces, models, and combinations of them.
//!
//! Each implements [`ConnectionSource`]; [`Source`] is the closed set of them that a run may have.

use super::arrivals::Arrivals;
use super::commands::{BULK, Commands, ConnectionSource};
use super::connection::{Open, Payload};
use super::ftp::Ftp;
use super::misbehaving::Misbehaving;
use super::mix::Mix;
use super::replay::{Replay, open_command, open_directions};
use super::sessions::Sessions;
use super::testers::Testers;
use super::viewers::Viewers;
use crate::record::{FlowRecord, ViewRecord};
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind};
use crate::traffic::model::poisson::PoissonDraws;
use crate::units::{Dur, Time};
use std::sync::Arc;

/// Every kind of source.
pub enum Source {
    /// A trace, replayed and overlaid on itself to meet the load.
    Replay(Box<Replay>),
    /// Connections with given start times.
    List(List),
    /// Closed-loop web sessions.
    Sessions(Box<Sessions>),
    /// Open-loop pages and connections of a model.
    Arrivals(Box<Arrivals>),
    /// Open-loop transfers of a model.
    Poisson(Poisson),
    /// One connection after the other, each on an empty path.
    Isolated(Isolated),
    /// Users who fetch or send files.
    Ftp(Ftp),
    /// Viewers of streams.
    Viewers(Viewers),
    /// Testers of responsiveness.
    Testers(Testers),
    /// Connections opened once, each at its time.
    Starts(Starts),
    /// Several sources at once.
    Mix(Mix<Source>),
    /// A source some of whose senders misbehave.
    Misbehaving(Box<Misbehaving<Source>>),
}

impl ConnectionSource for Source {
    /// Passes the call on to the source at hand.
    fn begin(&mut self, commands: &mut Commands) {
        match self {
            Source::Replay(source) => source.begin(commands),
            Source::List(source) => source.begin(commands),
            Source::Sessions(source) => source.begin(commands),
            Source::Arrivals(source) => source.begin(commands),
            Source::Poisson(source) => source.begin(commands),
            Source::Isolated(source) => source.begin(commands),
            Source::Ftp(source) => source.begin(commands),
            Source::Viewers(source) => source.begin(commands),
            Source::Testers(source) => source.begin(commands),
            Source::Starts(source) => source.begin(commands),
            Source::Mix(source) => source.begin(commands),
            Source::Misbehaving(source) => source.begin(commands),
        }
    }

    /// Passes the call on to the source at hand.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        match self {
            Source::Replay(source) => source.wake(token, now, commands),
            Source::List(source) => source.wake(token, now, commands),
            Source::Sessions(source) => source.wake(token, now, commands),
            Source::Arrivals(source) => source.wake(token, now, commands),
            Source::Poisson(source) => source.wake(token, now, commands),
            Source::Isolated(source) => source.wake(token, now, commands),
            Source::Ftp(source) => source.wake(token, now, commands),
            Source::Viewers(source) => source.wake(token, now, commands),
            Source::Testers(source) => source.wake(token, now, commands),
            Source::Starts(source) => source.wake(token, now, commands),
            Source::Mix(source) => source.wake(token, now, commands),
            Source::Misbehaving(source) => source.wake(token, now, commands),
        }
    }

    /// Passes the call on to the source at hand; most sources do nothing.
    fn connection_finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        match self {
            Source::Replay(source) => source.connection_finished(tag, now, commands),
            Source::List(source) => source.connection_finished(tag, now, commands),
            Source::Sessions(source) => source.connection_finished(tag, now, commands),
            Source::Arrivals(source) => source.connection_finished(tag, now, commands),
            Source::Poisson(source) => source.connection_finished(tag, now, commands),
            Source::Isolated(source) => source.connection_finished(tag, now, commands),
            Source::Ftp(source) => source.connection_finished(tag, now, commands),
            Source::Viewers(source) => source.connection_finished(tag, now, commands),
            Source::Testers(source) => source.connection_finished(tag, now, commands),
            Source::Starts(source) => source.connection_finished(tag, now, commands),
            Source::Mix(source) => source.connection_finished(tag, now, commands),
            Source::Misbehaving(source) => source.connection_finished(tag, now, commands),
        }
    }

    /// Returns the records of viewers, directly or in a mix; other sources have none.
    fn views(&self, now: Time) -> Vec<ViewRecord> {
        match self {
            Source::Viewers(source) => source.views(now),
            Source::Mix(source) => source.views(now),
            Source::Misbehaving(source) => source.views(now),
            _ => Vec::new(),
        }
    }
}

/// Connections with given start times, in order of start.
pub struct List {
    traffic: Arc<Traffic>,
    next: usize,
    end: usize,
    is_long_lived: bool,
}

impl List {
    /// Returns a list that plays the connections of source 0 of the traffic once; it is empty if
    /// there is no such part.
    pub fn new(traffic: Arc<Traffic>) -> List {
        let end = traffic.part(0).map_or(0, |part| part.connections.len());
        List { traffic, next: 0, end, is_long_lived: false }
    }

    /// Returns the connection that starts next, `None` after the last one.
    fn next_connection(&self) -> Option<&Connection> {
        self.traffic.connections[..self.end].get(self.next)
    }

    /// Returns a list whose connections never end: each has a write without end instead of its
    /// recorded ones.
    pub fn long_lived(traffic: Arc<Traffic>) -> List {
        List { is_long_lived: true, ..List::new(traffic) }
    }

    /// Asks to be woken for the next connection, if there is one.
    fn schedule_next(&mut self, commands: &mut Commands) {
        if let Some(connection) = self.next_connection() {
            commands.wake.push((connection.start, if self.is_long_lived { BULK } else { 0 }));
        }
    }

    /// Opens the connections that are due by `now`, and asks to be woken for the next one.
    /// Long-lived ones have bit 63 of their key set and count as bulk; a flow of datagrams is
    /// opened in each direction.
    fn open_due(&mut self, now: Time, commands: &mut Commands) {
        while let Some(connection) = self.next_connection().filter(|next| next.start <= now) {
            if connection.kind == Kind::Datagrams {
                commands.open.extend(open_directions(connection, self.next as u32, Dur::ZERO));
                self.next += 1;
                continue;
            }
            let mut open = open_command(connection, self.next as u32);
            if self.is_long_lived {
                open.payload = Payload::LongLived;
                open.key |= 1 << 63;
                open.source = FlowRecord::BULK;
            }
            commands.open.push(open);
            self.next += 1;
        }
        self.schedule_next(commands);
    }
}

impl ConnectionSource for List {
    /// Asks to be woken for the first connection.
    fn begin(&mut self, commands: &mut Commands) {
        self.schedule_next(commands);
    }

    /// Opens every connection that is due.
    fn wake(&mut self, _token: u32, now: Time, commands: &mut Commands) {
        self.open_due(now, commands);
    }
}

/// Open-loop transfers of a model.
pub struct Poisson {
    draws: PoissonDraws,
    next: u64,
}

impl Poisson {
    /// Returns a source of transfers by these draws.
    pub fn new(draws: PoissonDraws) -> Poisson {
        Poisson { draws, next: 0 }
    }

    /// Asks to be woken for the next transfer.
    fn schedule_next(&mut self, now: Time, commands: &mut Commands) {
        commands.wake.push((now + self.draws.gap(self.next), 0));
    }

    /// Adds the command to open the next transfer's connection, counts it, and asks to be woken for
    /// the one after it.
    fn open_due(&mut self, now: Time, commands: &mut Commands) {
        let (client, server) = self.draws.hosts(self.next);
        commands.open.push(Open {
            key: self.next,
            client,
            server,
            payload: Payload::Single(self.draws.bytes(self.next)),
            upload: self.draws.is_upload(),
            ..Open::default()
        });
        self.next += 1;
        self.schedule_next(now, commands);
    }
}

impl ConnectionSource for Poisson {
    /// Asks to be woken for the first transfer, one gap after time zero.
    fn begin(&mut self, commands: &mut Commands) {
        self.schedule_next(Time::ZERO, commands);
    }

    /// Opens the transfer that is due.
    fn wake(&mut self, _token: u32, now: Time, commands: &mut Commands) {
        self.open_due(now, commands);
    }
}

/// Connections opened once, each at its time.
pub struct Starts {
    opens: Vec<(Time, Open)>,
    next: usize,
}

impl Starts {
    /// Returns a source that opens each connection at its time, those of equal times in the order
    /// given.
    pub fn new(mut opens: Vec<(Time, Open)>) -> Starts {
        opens.sort_by_key(|(at, _)| *at);
        Starts { opens, next: 0 }
    }

    /// Asks to be woken when the next connection opens; after the last one nothing happens.
    fn schedule_next(&mut self, commands: &mut Commands) {
        if let Some((at, _)) = self.opens.get(self.next) {
            commands.wake.push((*at, 0));
        }
    }

    /// Opens all connections that are due by `now`, and asks for the next one.
    fn open_due(&mut self, now: Time, commands: &mut Commands) {
        while let Some((_, open)) = self.opens.get(self.next).filter(|(at, _)| *at <= now) {
            commands.open.push(*open);
            self.next += 1;
        }
        self.schedule_next(commands);
    }
}

impl ConnectionSource for Starts {
    /// Asks to be woken for the first connection.
    fn begin(&mut self, commands: &mut Commands) {
        self.schedule_next(commands);
    }

    /// Opens every connection that is due.
    fn wake(&mut self, _token: u32, now: Time, commands: &mut Commands) {
        self.open_due(now, commands);
    }
}

/// One connection after the other with ten idle seconds between them, so that each has an empty path.
pub struct Isolated {
    traffic: Arc<Traffic>,
    request_bytes: Vec<u16>,
    next: u32,
}

impl Isolated {
    /// Idle time between connections, in which the last packets arrive and the last timers expire.
    pub const PAUSE: Dur = Dur::from_millis(10_000);

    /// Returns a source that plays the connections of `traffic` in order and ignores their start
    /// times. Where `request_bytes`, by connection, has a number other than 0, requests have that
    /// payload.
    pub fn new(traffic: Arc<Traffic>, request_bytes: Vec<u16>) -> Isolated {
        Isolated { traffic, request_bytes, next: 0 }
    }

    /// Adds the command to open the next connection of the traffic, if there is one; its tag is its
    /// number.
    fn open_next(&mut self, commands: &mut Commands) {
        if let Some(connection) = self.traffic.connections.get(self.next as usize) {
            commands.open.push(Open {
                key: u64::from(self.next),
                tag: self.next,
                request_bytes: self.request_bytes.get(self.next as usize).copied().unwrap_or(0),
                ..open_command(connection, self.next)
            });
            self.next += 1;
        }
    }
}

impl ConnectionSource for Isolated {
    /// Asks to be woken at time zero, for the first connection.
    fn begin(&mut self, commands: &mut Commands) {
        commands.wake.push((Time::ZERO, self.next));
    }

    /// Opens the next connection.
    fn wake(&mut self, _token: u32, _now: Time, commands: &mut Commands) {
        self.open_next(commands);
    }

    /// Asks to be woken after the pause, if a connection is left.
    fn connection_finished(&mut self, _tag: u32, now: Time, commands: &mut Commands) {
        if (self.next as usize) < self.traffic.connections.len() {
            commands.wake.push((now + Isolated::PAUSE, self.next));
        }
    }
}
