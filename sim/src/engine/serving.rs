//! How requests pass the CPUs of servers.

use super::event::{What, class};
use super::world::World;
use crate::units::Dur;

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
