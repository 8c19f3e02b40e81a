//! Where connections come from while a run is under way.
//!
//! A source is woken at times it asked for and told when its connections end; it answers with
//! connections to open and times to be woken. It never sees packets.

use super::arrivals::Arrivals;
use super::connection::{Open, Payload};
use super::ftp::Ftp;
use super::gaming::Gaming;
use super::mix::Mix;
use super::sessions::Sessions;
use crate::record::FlowRecord;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, PageOf, Script};
use crate::traffic::model::poisson::PoissonDraws;
use crate::traffic::overlay::Overlay;
use crate::units::{Dur, Time};
use std::sync::Arc;

/// Tag of connections whose end nobody waits for.
pub const NO_TAG: u32 = u32::MAX;

/// Token of the bulk flows, which run beside any source.
pub const BULK: u32 = u32::MAX;

/// What a source wants done.
#[derive(Debug, Default)]
pub struct Wishes {
    /// Connections to open now.
    pub open: Vec<Open>,
    /// Times at which to wake the source, with a token of its own.
    pub wake: Vec<(Time, u32)>,
    /// What [`Payload::Scripted`] connections carry, kept for the whole run.
    pub scripts: Vec<Script>,
}

impl Wishes {
    /// What a connection with this script is to carry.
    pub fn script(&mut self, script: Script) -> Payload {
        match script.writes[..] {
            [only] => Payload::Single(only.bytes),
            _ => {
                self.scripts.push(script);
                Payload::Scripted(self.scripts.len() as u32 - 1)
            }
        }
    }

    /// Gives back the memory of wishes that were granted, unless there are new ones.
    pub(super) fn reuse(&mut self, open: Vec<Open>, wake: Vec<(Time, u32)>) {
        if self.open.is_empty() {
            self.open = open;
        }
        if self.wake.is_empty() {
            self.wake = wake;
        }
    }

    /// What `ask` wishes, by itself; its scripts are added to these, so that their numbers hold for the run.
    pub fn apart(&mut self, ask: impl FnOnce(&mut Wishes)) -> Wishes {
        let mut own = Wishes { scripts: std::mem::take(&mut self.scripts), ..Wishes::default() };
        ask(&mut own);
        self.scripts = std::mem::take(&mut own.scripts);
        own
    }
}

/// Every source of connections there is.
pub enum Source {
    /// A trace laid over itself until it loads the link.
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
    Alone(Alone),
    /// Users who fetch or send files.
    Ftp(Ftp),
    /// Connections opened once, each at its time.
    Starts(Starts),
    /// Several sources at once.
    Mix(Mix),
    /// A source some of whose senders cheat.
    Gaming(Box<Gaming>),
}

impl Source {
    /// Wishes before the first event.
    pub fn begin(&mut self, wishes: &mut Wishes) {
        match self {
            Source::Replay(replay) => replay.schedule(wishes),
            Source::List(list) => list.schedule(wishes),
            Source::Sessions(sessions) => sessions.begin(wishes),
            Source::Arrivals(arrivals) => arrivals.begin(wishes),
            Source::Poisson(poisson) => poisson.schedule(Time::ZERO, wishes),
            Source::Alone(alone) => wishes.wake.push((Time::ZERO, alone.next)),
            Source::Ftp(ftp) => ftp.begin(wishes),
            Source::Starts(starts) => starts.schedule(wishes),
            Source::Mix(mix) => mix.begin(wishes),
            Source::Gaming(gaming) => gaming.begin(wishes),
        }
    }

    /// A time the source asked for has come.
    pub fn wake(&mut self, token: u32, now: Time, wishes: &mut Wishes) {
        match self {
            Source::Replay(replay) => replay.open(wishes),
            Source::List(list) => list.open(now, wishes),
            Source::Sessions(sessions) => sessions.wake(token, now, wishes),
            Source::Arrivals(arrivals) => arrivals.wake(token, now, wishes),
            Source::Poisson(poisson) => poisson.open(now, wishes),
            Source::Alone(alone) => alone.open(wishes),
            Source::Ftp(ftp) => ftp.wake(token, now, wishes),
            Source::Starts(starts) => starts.open(now, wishes),
            Source::Mix(mix) => mix.wake(token, now, wishes),
            Source::Gaming(gaming) => gaming.wake(token, now, wishes),
        }
    }

    /// A connection with this tag has ended.
    pub fn finished(&mut self, tag: u32, now: Time, wishes: &mut Wishes) {
        match self {
            Source::Sessions(sessions) => sessions.finished(tag, now, wishes),
            Source::Alone(alone) => alone.finished(now, wishes),
            Source::Ftp(ftp) => ftp.finished(tag, now, wishes),
            Source::Mix(mix) => mix.finished(tag, now, wishes),
            Source::Gaming(gaming) => gaming.finished(tag, now, wishes),
            Source::Replay(_)
            | Source::List(_)
            | Source::Poisson(_)
            | Source::Arrivals(_)
            | Source::Starts(_) => {}
        }
    }
}

/// Endless replay of an overlaid trace from a random offset on.
pub struct Replay {
    traffic: Arc<Traffic>,
    overlay: Overlay,
    cursor: usize,
    lap: u64,
    offset: Time,
    rtt: Option<Dur>,
}

impl Replay {
    /// Replays `overlay` of `traffic` from `offset`; `rtt` overrides what the trace tells.
    pub fn new(traffic: Arc<Traffic>, overlay: Overlay, offset: Time, rtt: Option<Dur>) -> Replay {
        let cursor = overlay.arrivals().partition_point(|arrival| arrival.at < offset);
        Replay { traffic, overlay, cursor, lap: 0, offset, rtt }
    }

    fn due(&self) -> Time {
        let arrival = &self.overlay.arrivals()[self.cursor];
        let laps = Dur(self.overlay.period.0 * self.lap);
        Time((arrival.at + laps).since(self.offset).0)
    }

    fn schedule(&mut self, wishes: &mut Wishes) {
        if self.cursor == self.overlay.arrivals().len() {
            self.cursor = 0;
            self.lap += 1;
        }
        wishes.wake.push((self.due(), 0));
    }

    fn open(&mut self, wishes: &mut Wishes) {
        let arrival = self.overlay.arrivals()[self.cursor];
        let connection = &self.traffic.connections[arrival.connection as usize];
        let copy = self.overlay.pages(&arrival, self.lap, connection.start);
        let open = open_of(connection, arrival.connection);
        let page = match open.payload {
            Payload::Single(_) => self.traffic.page(copy, arrival.connection, 0),
            _ => PageOf::new(copy, 0),
        };
        wishes.open.push(Open {
            key: self.overlay.key(&arrival, self.lap),
            rtt: self.rtt.or(connection.rtt),
            page: page.key,
            page_transfers: page.transfers,
            ..open
        });
        self.cursor += 1;
        self.schedule(wishes);
    }
}

/// Connections with given start times, in order of start.
pub struct List {
    traffic: Arc<Traffic>,
    next: usize,
    end: usize,
    endless: bool,
}

impl List {
    /// Plays the connections of source 0 once.
    pub fn new(traffic: Arc<Traffic>) -> List {
        let end = traffic.part(0).map_or(0, |part| part.connections.len());
        List { traffic, next: 0, end, endless: false }
    }

    fn following(&self) -> Option<&Connection> {
        self.traffic.connections[..self.end].get(self.next)
    }

    /// Plays the connections with a write without end in place of their own.
    pub fn endless(traffic: Arc<Traffic>) -> List {
        List { endless: true, ..List::new(traffic) }
    }

    /// Wishes to be woken for the next connection.
    pub fn schedule(&mut self, wishes: &mut Wishes) {
        if let Some(connection) = self.following() {
            wishes.wake.push((connection.start, if self.endless { BULK } else { 0 }));
        }
    }

    /// Opens what is due.
    pub fn open(&mut self, now: Time, wishes: &mut Wishes) {
        while let Some(connection) = self.following().filter(|next| next.start <= now) {
            let mut open = open_of(connection, self.next as u32);
            if self.endless {
                open.payload = Payload::Endless;
                open.key |= 1 << 63;
                open.source = FlowRecord::BULK;
            }
            wishes.open.push(open);
            self.next += 1;
        }
        self.schedule(wishes);
    }
}

/// Open-loop transfers of a model.
pub struct Poisson {
    draws: PoissonDraws,
    next: u64,
}

impl Poisson {
    /// Transfers by these draws.
    pub fn new(draws: PoissonDraws) -> Poisson {
        Poisson { draws, next: 0 }
    }

    fn schedule(&mut self, now: Time, wishes: &mut Wishes) {
        wishes.wake.push((now + self.draws.gap(self.next), 0));
    }

    fn open(&mut self, now: Time, wishes: &mut Wishes) {
        let (client, server) = self.draws.hosts(self.next);
        wishes.open.push(Open {
            key: self.next,
            client,
            server,
            payload: Payload::Single(self.draws.bytes(self.next)),
            upload: self.draws.is_upload(),
            ..Open::default()
        });
        self.next += 1;
        self.schedule(now, wishes);
    }
}

/// Connections opened once, each at its time.
pub struct Starts {
    opens: Vec<(Time, Open)>,
    next: usize,
}

impl Starts {
    /// Opens each at its time; the order of equal times is kept.
    pub fn new(mut opens: Vec<(Time, Open)>) -> Starts {
        opens.sort_by_key(|(at, _)| *at);
        Starts { opens, next: 0 }
    }

    fn schedule(&mut self, wishes: &mut Wishes) {
        if let Some((at, _)) = self.opens.get(self.next) {
            wishes.wake.push((*at, 0));
        }
    }

    fn open(&mut self, now: Time, wishes: &mut Wishes) {
        while let Some((_, open)) = self.opens.get(self.next).filter(|(at, _)| *at <= now) {
            wishes.open.push(*open);
            self.next += 1;
        }
        self.schedule(wishes);
    }
}

/// One connection after the other, with an idle second between, to learn how long each takes alone.
pub struct Alone {
    traffic: Arc<Traffic>,
    request_bytes: Vec<u16>,
    next: u32,
}

impl Alone {
    /// Plays the connections of `traffic` one after the other, whatever their start times; where
    /// `request_bytes` has a number other than 0, requests have that payload.
    pub fn new(traffic: Arc<Traffic>, request_bytes: Vec<u16>) -> Alone {
        Alone { traffic, request_bytes, next: 0 }
    }

    fn open(&mut self, wishes: &mut Wishes) {
        if let Some(connection) = self.traffic.connections.get(self.next as usize) {
            wishes.open.push(Open {
                key: u64::from(self.next),
                tag: self.next,
                request_bytes: self.request_bytes.get(self.next as usize).copied().unwrap_or(0),
                ..open_of(connection, self.next)
            });
            self.next += 1;
        }
    }

    fn finished(&mut self, now: Time, wishes: &mut Wishes) {
        if (self.next as usize) < self.traffic.connections.len() {
            wishes.wake.push((now + Dur::from_millis(10_000), self.next));
        }
    }
}

fn open_of(connection: &Connection, index: u32) -> Open {
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
        is_quic: connection.kind == Kind::Quic,
        upload: connection.upload,
        ..Open::default()
    }
}
