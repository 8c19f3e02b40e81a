//! Servers with a CPU each (Chen & Heidemann, ISI-TR-2001-548, section 4.6, "Server CPU delay"). A CPU has an infinite
//! queue and a constant rate; a response of s bytes takes s ÷ rate, and is sent when its job is done.
//!
//! Jobs are served first come, first served, or shortest first; a job that has begun is always finished.
//! Deviation: ns-2's shortest task first moves the head of the queue without its connection.

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
    /// Returns idle servers, each with a CPU of this rate.
    pub fn new(rate: Rate, order: Order) -> Servers {
        Servers { rate, order, servers: Vec::new(), jobs: 0 }
    }

    /// Returns the service time of a job of `bytes`, without any wait.
    pub fn service_time(&self, bytes: u64) -> Dur {
        self.rate.tx_time(bytes)
    }

    /// Adds a job of `bytes` for the connection in `slot` at `server`, which is idle if it had none
    /// before. Returns the job's service time if it begins at once, `None` if it has to wait. The
    /// caller reports the end by [`Servers::finish_job`].
    pub fn add_job(&mut self, server: u32, slot: u32, bytes: u64) -> Option<Dur> {
        let index = server as usize;
        if index >= self.servers.len() {
            self.servers.resize_with(index + 1, Server::default);
        }
        self.jobs += 1;
        let rank = if self.order == Order::Stf { bytes } else { 0 };
        self.servers[index].waiting.push(Reverse((rank, self.jobs, slot, bytes)));
        if self.servers[index].busy.is_some() { None } else { self.begin_next_job(index) }
    }

    /// Ends the present job of `server` and begins the next. Returns the slot of the connection
    /// whose job has ended, `None` if there was none, and the service time of the next job if there
    /// is one. It panics for a server that never had a job.
    pub fn finish_job(&mut self, server: u32) -> (Option<u32>, Option<Dur>) {
        let index = server as usize;
        (self.servers[index].busy.take(), self.begin_next_job(index))
    }

    /// Begins the next job of a server and returns its service time, or `None` if no job waits.
    fn begin_next_job(&mut self, index: usize) -> Option<Dur> {
        let Reverse((_, _, slot, bytes)) = self.servers[index].waiting.pop()?;
        self.servers[index].busy = Some(slot);
        Some(self.service_time(bytes))
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
