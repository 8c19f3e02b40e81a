//! Closed-loop web sessions: the model decides what a page contains, the network decides when it is complete.
//!
//! One state machine serves all ways to fetch a page: objects at given intervals, the index first and then the rest
//! on parallel connections, or everything on one connection.

use super::commands::{Commands, ConnectionSource};
use super::connection::{Open, Payload};
use crate::flow::Class;
use crate::traffic::connection::PageOf;
use crate::traffic::model::closed_loop::PageDraws;
use crate::traffic::model::users::Fetch;
use crate::units::Time;
use slab::Slab;

/// Token of the next session's arrival; every other token is the slot of a session.
const ARRIVAL: u32 = u32::MAX - 1;

/// A session in progress.
#[derive(Debug, Clone, Copy)]
struct Session {
    /// The session's number in the model's draws.
    name: u64,
    client: u32,
    server: u32,
    /// Pages in all, and the number of the present one.
    pages: u32,
    page: u32,
    /// Objects of the present page, requested so far, and requested but not complete.
    objects: u32,
    requested: u32,
    outstanding: u32,
    /// Key and size of the present page, for the records.
    page_record: PageOf,
}

/// An object in transfer; a long one may be transferred in parts. Its slot is the tag of its connection.
#[derive(Debug, Clone, Copy)]
struct Object {
    session: u32,
    number: u32,
    bytes: u64,
    part: u32,
}

/// All sessions of a run.
pub struct Sessions {
    draws: PageDraws,
    fetch: Fetch,
    arrived: u64,
    first_arrival: u64,
    sessions: Slab<Session>,
    objects: Slab<Object>,
}

impl Sessions {
    /// Returns sessions by these draws, with none in progress yet.
    pub fn new(draws: PageDraws) -> Sessions {
        Sessions {
            first_arrival: draws.initial_sessions(),
            fetch: draws.fetch(),
            draws,
            arrived: 0,
            sessions: Slab::new(),
            objects: Slab::new(),
        }
    }
}

impl ConnectionSource for Sessions {
    /// Schedules the next page of each session in progress at the start, and the first arrival of a
    /// session.
    fn begin(&mut self, commands: &mut Commands) {
        for name in 0..self.first_arrival {
            let slot = self.add_session(name);
            commands.wake.push((Time::ZERO + self.draws.residual_think(name), slot));
        }
        self.schedule_arrival(Time::ZERO, commands);
    }

    /// Starts a new session and schedules the one after it, or starts the next page or object of
    /// the session whose slot `token` is. It panics if that session has ended.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        if token == ARRIVAL {
            let slot = self.add_session(self.first_arrival + self.arrived);
            self.arrived += 1;
            self.schedule_arrival(now, commands);
            return self.start_page(slot, now, commands);
        }
        let session = &self.sessions[token as usize];
        match session.requested < session.objects {
            true => self.request_object(token, now, commands),
            false => self.start_page(token, now, commands),
        }
    }

    /// Opens the next part of the object whose transfer has ended, or completes the object. Where
    /// the index comes first, the objects that may now run in parallel are requested.
    fn connection_finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        self.objects[tag as usize].part += 1;
        if self.open_part(tag, commands) {
            return;
        }
        let slot = self.complete_object(tag, now, commands);
        if let Fetch::IndexFirst(parallel) = self.fetch {
            self.request_parallel(slot, parallel, now, commands);
        }
    }
}

impl Sessions {
    /// Schedules the arrival of the next session; nothing happens if there are no more.
    fn schedule_arrival(&self, now: Time, commands: &mut Commands) {
        commands.wake.extend(self.draws.session_gap(self.arrived).map(|gap| (now + gap, ARRIVAL)));
    }

    /// Removes an object that has arrived completely, and ends its page if it was the last. Returns
    /// the slot of its session, which may have ended and be free.
    fn complete_object(&mut self, tag: u32, now: Time, commands: &mut Commands) -> u32 {
        let slot = self.objects.remove(tag as usize).session;
        self.sessions[slot as usize].outstanding -= 1;
        self.end_page_if_complete(slot, now, commands);
        slot
    }

    /// Requests objects of the session's page while fewer than `parallel` are outstanding; does nothing if the
    /// session has ended.
    fn request_parallel(&mut self, slot: u32, parallel: u32, now: Time, commands: &mut Commands) {
        let Some(session) = self.sessions.get(slot as usize) else { return };
        let free = parallel.saturating_sub(session.outstanding);
        for _ in 0..free.min(session.objects - session.requested) {
            self.request_object(slot, now, commands);
        }
    }

    /// Adds session `name`, before its first page, and returns its slot; client and number of pages
    /// are drawn by the name.
    fn add_session(&mut self, name: u64) -> u32 {
        let session = Session {
            name,
            client: self.draws.client(name),
            server: 0,
            pages: self.draws.page_count(name),
            page: 0,
            objects: 0,
            requested: 0,
            outstanding: 0,
            page_record: PageOf::default(),
        };
        self.sessions.insert(session) as u32
    }

    /// Draws the session's present page, and requests its first object or, on one connection, all
    /// of it.
    fn start_page(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        let page = self.draws.page(session.name, session.page);
        (session.server, session.objects, session.requested) = (page.server, page.objects, 0);
        session.page_record = self.draws.name_page(session.name, session.page, page.objects);
        match self.fetch {
            Fetch::Pipelined => self.open_page(slot, commands),
            _ => self.request_object(slot, now, commands),
        }
    }

    /// Opens the only connection of a page, which carries all its objects. The page's script is
    /// stored in `commands`.
    fn open_page(&mut self, slot: u32, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        (session.requested, session.outstanding) = (session.objects, 1);
        let (name, page, objects) = (session.name, session.page, session.objects);
        let object = Object { session: slot, number: 0, bytes: 0, part: 0 };
        let tag = self.objects.insert(object) as u32;
        let payload = commands.payload_for(self.draws.page_script(name, page, objects));
        let open = self.open_command(tag, payload);
        commands.open.push(open);
    }

    /// Requests the session's next object; where objects are paced, schedules the one after it. An
    /// object without any part is complete at once.
    fn request_object(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        let number = session.requested;
        session.requested += 1;
        session.outstanding += 1;
        let (name, page, more) = (session.name, session.page, session.requested < session.objects);
        let bytes = self.draws.object(name, page, number).bytes;
        let object = Object { session: slot, number, bytes, part: 0 };
        let tag = self.objects.insert(object) as u32;
        if more && self.fetch == Fetch::Paced {
            commands.wake.push((now + self.draws.object(name, page, number + 1).gap, slot));
        }
        if !self.open_part(tag, commands) {
            self.complete_object(tag, now, commands);
        }
    }

    /// Adds the command to open a connection for the object's present part; returns `false`,
    /// without one, if all parts have been transferred.
    fn open_part(&mut self, tag: u32, commands: &mut Commands) -> bool {
        let object = self.objects[tag as usize];
        let Some(bytes) = self.draws.part_bytes(object.bytes, object.part) else {
            return false;
        };
        let open = self.open_command(tag, Payload::Single(bytes));
        commands.open.push(open);
        true
    }

    /// Returns the command that opens a connection for this object of a session in progress; its
    /// end comes back under `tag`.
    fn open_command(&self, tag: u32, payload: Payload) -> Open {
        let object = self.objects[tag as usize];
        let session = &self.sessions[object.session as usize];
        Open {
            key: self.draws.key(session.name, session.page, object.number, object.part),
            client: session.client,
            server: session.server,
            payload,
            tag,
            class: Class::Web,
            object_bytes: if self.draws.is_chopped() { object.bytes } else { 0 },
            object_key: self.draws.key(session.name, session.page, object.number, 0),
            page: session.page_record.key,
            page_transfers: session.page_record.transfers,
            ..Open::default()
        }
    }

    /// Schedules the session's next page after a think time, or ends the session, if every object
    /// of the page has arrived; otherwise nothing happens.
    fn end_page_if_complete(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        if session.outstanding > 0 || session.requested < session.objects {
            return;
        }
        let done = session.page;
        session.page += 1;
        if session.page < session.pages {
            commands.wake.push((now + self.draws.think(session.name, done), slot));
        } else {
            self.sessions.remove(slot as usize);
        }
    }
}
