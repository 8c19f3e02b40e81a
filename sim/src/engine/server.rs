//! Servers with a CPU each (Chen & Heidemann, ISI-TR-2001-548, section 4.6, "Server CPU delay"): an infinite queue
//! and a constant rate; a response of s bytes takes s ÷ rate, and is sent when its job is done.
//!
//! Jobs are served first come, first served, or shortest first; in both cases a job that has begun is finished.
//! (ns-2's shortest task first moves the head of the queue without its connection; not here.)

use super::World;
use super::event::{What, class};
use crate::units::{Dur, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who is served next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Shortest task first; of equal ones the first.
    Stf,
}

/// A job: its rank, its number, its connection's slot, its bytes.
type Job = Reverse<(u64, u64, u32, u64)>;

#[derive(Debug, Clone, Default)]
struct Server {
    /// The connection whose job is under way.
    busy: Option<u32>,
    waiting: BinaryHeap<Job>,
}

/// All servers, by host number.
#[derive(Debug, Clone)]
pub struct Servers {
    rate: Rate,
    order: Order,
    servers: Vec<Server>,
    jobs: u64,
}

impl Servers {
    /// Idle servers of this rate each.
    pub fn new(rate: Rate, order: Order) -> Servers {
        Servers { rate, order, servers: Vec::new(), jobs: 0 }
    }

    /// How long a job takes.
    pub fn service(&self, bytes: u64) -> Dur {
        self.rate.tx_time(bytes)
    }

    /// A job of `bytes` for the connection in `slot` comes to `server`; its service time if it begins now.
    pub fn arrive(&mut self, server: u32, slot: u32, bytes: u64) -> Option<Dur> {
        let place = server as usize;
        if place >= self.servers.len() {
            self.servers.resize_with(place + 1, Server::default);
        }
        self.jobs += 1;
        let rank = if self.order == Order::Stf { bytes } else { 0 };
        self.servers[place].waiting.push(Reverse((rank, self.jobs, slot, bytes)));
        if self.servers[place].busy.is_some() { None } else { self.begin(place) }
    }

    /// The job under way at `server` is done: its connection, and the service time of the next job if there is one.
    pub fn done(&mut self, server: u32) -> (Option<u32>, Option<Dur>) {
        let place = server as usize;
        (self.servers[place].busy.take(), self.begin(place))
    }

    fn begin(&mut self, place: usize) -> Option<Dur> {
        let Reverse((_, _, slot, bytes)) = self.servers[place].waiting.pop()?;
        self.servers[place].busy = Some(slot);
        Some(self.service(bytes))
    }
}

impl World {
    /// A request is with its server, which answers when it is ready.
    pub(super) fn ask(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.progress.is_asked = true;
        let delay = live.open.delay;
        if delay == Dur::ZERO {
            return self.enter(slot);
        }
        self.acknowledge_request(slot);
        self.schedule(self.now + delay, class::WAKE, 1 << 40 | u64::from(slot), What::Ready(slot));
    }

    /// The delay before an answer is over.
    pub(super) fn ready(&mut self, slot: u32) {
        self.enter(slot);
        self.arm(slot);
    }

    /// A request is handed to its server's CPU, if servers have one.
    fn enter(&mut self, slot: u32) {
        let (server, bytes) = (self.live[slot as usize].open.server, self.live[slot as usize].progress.bytes);
        if !self.computes(slot) {
            return self.start_sending(slot);
        }
        self.acknowledge_request(slot);
        let begun = self.setup.servers.as_mut().and_then(|servers| servers.arrive(server, slot, bytes));
        self.expect(server, begun);
    }

    /// A server's CPU is done with a job.
    pub(super) fn served(&mut self, server: u32) {
        let Some(servers) = &mut self.setup.servers else { return };
        let (slot, next) = servers.done(server);
        self.expect(server, next);
        if let Some(slot) = slot {
            self.start_sending(slot);
            self.arm(slot);
        }
    }

    /// Whether the write under way needs its server's CPU: what clients send does not, nor what has no end.
    fn computes(&self, slot: u32) -> bool {
        let live = &self.live[slot as usize];
        self.setup.servers.is_some() && !live.open.upload && live.progress.bytes != u64::MAX
    }

    /// Service time of the write under way at an idle server, with the server's delay.
    pub(super) fn service(&self, slot: u32) -> Dur {
        let live = &self.live[slot as usize];
        let servers = self.setup.servers.as_ref().filter(|_| self.computes(slot));
        let job = servers.map_or(Dur::ZERO, |servers| servers.service(live.progress.bytes));
        Dur(live.open.delay.0 + job.0)
    }

    fn expect(&mut self, server: u32, service: Option<Dur>) {
        if let Some(service) = service {
            let at = self.now + service;
            self.schedule(at, class::WAKE, 1 << 41 | u64::from(server), What::Served(server));
        }
    }

    /// The server's TCP acknowledges a request that has to wait, so that the client does not repeat it; the
    /// acknowledgement is not sent as a packet.
    fn acknowledge_request(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.opener.handle_data_of(live.progress.number);
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
