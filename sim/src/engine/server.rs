//! Servers with a CPU each (Chen & Heidemann, ISI-TR-2001-548, section 4.6, "Server CPU delay"). A CPU has an infinite
//! queue and a constant rate; a response of s bytes takes s ÷ rate, and is sent when its job is done.
//!
//! Jobs are served first come, first served, or shortest first; a job that has begun is always finished.
//! Deviation: ns-2's shortest task first moves the head of the queue without its connection.

use super::World;
use super::event::{What, class};
use crate::units::{Dur, Rate};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The order in which a CPU serves its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Shortest task first; of equally short ones the first to come.
    Stf,
}

/// A job: its rank, its number, its connection's slot, its bytes.
type Job = Reverse<(u64, u64, u32, u64)>;

#[derive(Debug, Clone, Default)]
struct Server {
    /// Slot of the connection whose job is being served.
    busy: Option<u32>,
    waiting: BinaryHeap<Job>,
}

/// The CPUs of all servers, by host number.
#[derive(Debug, Clone)]
pub struct Servers {
    rate: Rate,
    order: Order,
    servers: Vec<Server>,
    jobs: u64,
}

impl Servers {
    /// Returns idle servers of this rate each.
    pub fn new(rate: Rate, order: Order) -> Servers {
        Servers { rate, order, servers: Vec::new(), jobs: 0 }
    }

    /// Returns the service time of a job.
    pub fn service(&self, bytes: u64) -> Dur {
        self.rate.tx_time(bytes)
    }

    /// Adds a job of `bytes` for the connection in `slot` at `server`. Returns its service time if it begins at once.
    pub fn arrive(&mut self, server: u32, slot: u32, bytes: u64) -> Option<Dur> {
        let index = server as usize;
        if index >= self.servers.len() {
            self.servers.resize_with(index + 1, Server::default);
        }
        self.jobs += 1;
        let rank = if self.order == Order::Stf { bytes } else { 0 };
        self.servers[index].waiting.push(Reverse((rank, self.jobs, slot, bytes)));
        if self.servers[index].busy.is_some() { None } else { self.begin(index) }
    }

    /// Ends the present job of `server`. Returns its connection, and the service time of the next job if there is one.
    pub fn done(&mut self, server: u32) -> (Option<u32>, Option<Dur>) {
        let index = server as usize;
        (self.servers[index].busy.take(), self.begin(index))
    }

    /// Begins the next job of a server and returns its service time, or `None` if no job waits.
    fn begin(&mut self, index: usize) -> Option<Dur> {
        let Reverse((_, _, slot, bytes)) = self.servers[index].waiting.pop()?;
        self.servers[index].busy = Some(slot);
        Some(self.service(bytes))
    }
}

impl World {
    /// Handles a request that has reached its server, which answers after its delay.
    pub(super) fn handle_request(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.progress.is_asked = true;
        let delay = live.open.delay;
        if delay == Dur::ZERO {
            return self.start_job(slot);
        }
        self.acknowledge_request(slot);
        self.schedule(self.now + delay, class::WAKE, 1 << 40 | u64::from(slot), What::Ready(slot));
    }

    /// Continues when the delay before an answer is over.
    pub(super) fn ready(&mut self, slot: u32) {
        self.start_job(slot);
        self.arm(slot);
    }

    /// Hands a request to its server's CPU; where servers have none, the answer is sent at once.
    fn start_job(&mut self, slot: u32) {
        let (server, bytes) = (self.live[slot as usize].open.server, self.live[slot as usize].progress.bytes);
        if !self.needs_cpu(slot) {
            return self.start_sending(slot);
        }
        self.acknowledge_request(slot);
        let begun = self.setup.servers.as_mut().and_then(|servers| servers.arrive(server, slot, bytes));
        self.schedule_job_end(server, begun);
    }

    /// Sends the answer whose job a server's CPU has finished, and begins the next job.
    pub(super) fn served(&mut self, server: u32) {
        let Some(servers) = &mut self.setup.servers else { return };
        let (slot, next) = servers.done(server);
        self.schedule_job_end(server, next);
        if let Some(slot) = slot {
            self.start_sending(slot);
            self.arm(slot);
        }
    }

    /// Returns whether the present write needs its server's CPU. Uploads and long-lived flows do not.
    fn needs_cpu(&self, slot: u32) -> bool {
        let live = &self.live[slot as usize];
        self.setup.servers.is_some() && !live.open.upload && live.progress.bytes != u64::MAX
    }

    /// Returns the service time of the present write at an idle server, including the server's delay.
    pub(super) fn service(&self, slot: u32) -> Dur {
        let live = &self.live[slot as usize];
        let servers = self.setup.servers.as_ref().filter(|_| self.needs_cpu(slot));
        let job = servers.map_or(Dur::ZERO, |servers| servers.service(live.progress.bytes));
        Dur(live.open.delay.0 + job.0)
    }

    /// Schedules the end of a job that has begun.
    fn schedule_job_end(&mut self, server: u32, service: Option<Dur>) {
        if let Some(service) = service {
            let at = self.now + service;
            self.schedule(at, class::WAKE, 1 << 41 | u64::from(server), What::Served(server));
        }
    }

    /// Acknowledges a request that has to wait, so that the client does not repeat it. No packet is sent for this.
    fn acknowledge_request(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.opener.handle_data_of(live.progress.number);
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
