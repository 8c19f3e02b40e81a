//! Closed-loop web sessions: what a page holds is the model's, when it comes is the network's.
//!
//! One machine for all ways to fetch a page: objects at gaps of time, the index and then the rest on parallel
//! connections, or everything on one connection.

use super::commands::{Commands, ConnectionSource};
use super::connection::{Open, Payload};
use crate::flow::Class;
use crate::traffic::connection::PageOf;
use crate::traffic::model::closed_loop::PageDraws;
use crate::traffic::model::users::Fetch;
use crate::units::Time;

/// Token of the next session's arrival; other tokens are sessions.
const ARRIVAL: u32 = u32::MAX - 1;

/// A session in progress.
#[derive(Debug, Clone, Copy)]
struct Session {
    name: u64,
    client: u32,
    server: u32,
    pages: u32,
    page: u32,
    objects: u32,
    launched: u32,
    outstanding: u32,
    of: PageOf,
}

/// An object in transfer; long ones may come in parts.
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
    sessions: Vec<Session>,
    free_sessions: Vec<u32>,
    objects: Vec<Object>,
    free_objects: Vec<u32>,
}

impl Sessions {
    /// Sessions by these draws, none in progress yet.
    pub fn new(draws: PageDraws) -> Sessions {
        Sessions {
            first_arrival: draws.initial_sessions(),
            fetch: draws.fetch(),
            draws,
            arrived: 0,
            sessions: Vec::new(),
            free_sessions: Vec::new(),
            objects: Vec::new(),
            free_objects: Vec::new(),
        }
    }
}

impl ConnectionSource for Sessions {
    /// Schedules the next page of each session in progress at the start, and the first arrival of a session.
    fn begin(&mut self, commands: &mut Commands) {
        for name in 0..self.first_arrival {
            let slot = self.admit(name);
            commands.wake.push((Time::ZERO + self.draws.residual_think(name), slot));
        }
        self.await_arrival(Time::ZERO, commands);
    }

    /// Starts a new session, or the next page or object of the session whose slot `token` is.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        if token == ARRIVAL {
            let slot = self.admit(self.first_arrival + self.arrived);
            self.arrived += 1;
            self.await_arrival(now, commands);
            return self.start_page(slot, now, commands);
        }
        let session = &self.sessions[token as usize];
        match session.launched < session.objects {
            true => self.launch(token, now, commands),
            false => self.start_page(token, now, commands),
        }
    }

    /// Opens the next part of the object whose transfer has ended, or completes the object.
    fn finished(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        self.objects[tag as usize].part += 1;
        if self.open_part(tag, commands) {
            return;
        }
        let slot = self.objects[tag as usize].session;
        self.is_complete(tag, now, commands);
        if let Fetch::IndexFirst(parallel) = self.fetch {
            self.launch_parallel(slot, parallel, now, commands);
        }
    }
}

impl Sessions {
    fn await_arrival(&self, now: Time, commands: &mut Commands) {
        commands.wake.extend(self.draws.session_gap(self.arrived).map(|gap| (now + gap, ARRIVAL)));
    }

    /// An object has come as a whole; perhaps its page has, too.
    fn is_complete(&mut self, tag: u32, now: Time, commands: &mut Commands) {
        self.free_objects.push(tag);
        let slot = self.objects[tag as usize].session;
        self.sessions[slot as usize].outstanding -= 1;
        self.end_page(slot, now, commands);
    }

    /// Asks for the objects behind the index, so many at once.
    fn launch_parallel(&mut self, slot: u32, parallel: u32, now: Time, commands: &mut Commands) {
        let session = &self.sessions[slot as usize];
        let free = parallel.saturating_sub(session.outstanding);
        for _ in 0..free.min(session.objects - session.launched) {
            self.launch(slot, now, commands);
        }
    }

    fn admit(&mut self, name: u64) -> u32 {
        let session = Session {
            name,
            client: self.draws.client(name),
            server: 0,
            pages: self.draws.pages(name),
            page: 0,
            objects: 0,
            launched: 0,
            outstanding: 0,
            of: PageOf::default(),
        };
        place(&mut self.sessions, &mut self.free_sessions, session)
    }

    fn start_page(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        let page = self.draws.page(session.name, session.page);
        (session.server, session.objects, session.launched) = (page.server, page.objects, 0);
        session.of = self.draws.page_of(session.name, session.page, page.objects);
        match self.fetch {
            Fetch::Pipelined => self.open_page(slot, commands),
            _ => self.launch(slot, now, commands),
        }
    }

    /// Opens the one connection of a page.
    fn open_page(&mut self, slot: u32, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        (session.launched, session.outstanding) = (session.objects, 1);
        let (name, page, objects) = (session.name, session.page, session.objects);
        let object = Object { session: slot, number: 0, bytes: 0, part: 0 };
        let tag = place(&mut self.objects, &mut self.free_objects, object);
        let payload = commands.payload_for(self.draws.script(name, page, objects));
        let open = self.open(tag, payload);
        commands.open.push(open);
    }

    /// Asks for the session's next object, and for the one after it in due time.
    fn launch(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        let number = session.launched;
        session.launched += 1;
        session.outstanding += 1;
        let (name, page, more) = (session.name, session.page, session.launched < session.objects);
        let bytes = self.draws.object(name, page, number).bytes;
        let object = Object { session: slot, number, bytes, part: 0 };
        let tag = place(&mut self.objects, &mut self.free_objects, object);
        if more && self.fetch == Fetch::Paced {
            commands.wake.push((now + self.draws.object(name, page, number + 1).gap, slot));
        }
        if !self.open_part(tag, commands) {
            self.is_complete(tag, now, commands);
        }
    }

    /// Opens the connection for an object's current part; `false` if there is none.
    fn open_part(&mut self, tag: u32, commands: &mut Commands) -> bool {
        let object = self.objects[tag as usize];
        let Some(bytes) = self.draws.part(object.bytes, object.part) else {
            return false;
        };
        let open = self.open(tag, Payload::Single(bytes));
        commands.open.push(open);
        true
    }

    /// A connection of this object's page and with its key.
    fn open(&self, tag: u32, payload: Payload) -> Open {
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
            page: session.of.key,
            page_transfers: session.of.transfers,
            ..Open::default()
        }
    }

    /// If every object of the page has come, the user thinks, or the session ends.
    fn end_page(&mut self, slot: u32, now: Time, commands: &mut Commands) {
        let session = &mut self.sessions[slot as usize];
        if session.outstanding > 0 || session.launched < session.objects {
            return;
        }
        let done = session.page;
        session.page += 1;
        if session.page < session.pages {
            commands.wake.push((now + self.draws.think(session.name, done), slot));
        } else {
            self.free_sessions.push(slot);
        }
    }
}

/// Puts an item into a free slot, or a new one.
fn place<T>(slots: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(slot) => {
            slots[slot as usize] = item;
            slot
        }
        None => {
            slots.push(item);
            slots.len() as u32 - 1
        }
    }
}
