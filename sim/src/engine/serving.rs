//! The servers' answers to requests: the kernel's acknowledgement, the think time, and the CPU.

use super::connection::Payload;
use super::event::{What, class};
use super::world::World;
use crate::packet::{Kind, Packet};
use crate::tcp::request_acks::RequestAck;
use crate::units::Dur;

impl World {
    /// Handles a request that has reached its server: acknowledges it where the profile does, and
    /// schedules the answer after the think time. Without think time the job starts at once.
    pub(super) fn handle_request(&mut self, slot: u32) {
        let think = self.server_think(slot);
        let live = &mut self.live[slot as usize];
        live.progress.is_asked = true;
        let params = self.setup.senders.params_at(live.tcp);
        let acks_requests = params.acks_requests;
        match live.request_acks.handle_request(self.now, params) {
            RequestAck::Now => self.send_request_ack(slot),
            RequestAck::At(due) => {
                self.schedule(due, class::WAKE, 1 << 42 | u64::from(slot), What::AckDue(slot));
            }
            RequestAck::Carried => {}
        }
        if think == Dur::ZERO {
            return self.start_job(slot);
        }
        if !acks_requests {
            self.end_request_wait(slot);
        }
        self.schedule(self.now + think, class::WAKE, 1 << 40 | u64::from(slot), What::Ready(slot));
    }

    /// Passes a request whose think time is over to the server's CPU.
    pub(super) fn end_think(&mut self, slot: u32) {
        self.start_job(slot);
        self.arm_timer(slot);
    }

    /// Passes a request to its server's CPU, and schedules the end of the job if it begins. An
    /// answer that needs no CPU is sent at once.
    fn start_job(&mut self, slot: u32) {
        let (server, bytes) = (self.live[slot as usize].open.server, self.live[slot as usize].progress.bytes);
        if !self.needs_cpu(slot) {
            return self.send_answer(slot);
        }
        if !self.setup.senders.params_at(self.live[slot as usize].tcp).acks_requests {
            self.end_request_wait(slot);
        }
        let begun = self.setup.servers.as_mut().and_then(|servers| servers.add_job(server, slot, bytes));
        self.schedule_job_end(server, begun);
    }

    /// Sends the answer whose job a server's CPU has finished, and begins the next job. Without
    /// CPUs nothing happens.
    pub(super) fn finish_job(&mut self, server: u32) {
        let Some(servers) = &mut self.setup.servers else { return };
        let (slot, next) = servers.finish_job(server);
        self.schedule_job_end(server, next);
        if let Some(slot) = slot {
            self.send_answer(slot);
            self.arm_timer(slot);
        }
    }

    /// Starts to send the answer to a request that the server has processed; a delayed
    /// acknowledgement of the request rides on it.
    fn send_answer(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.request_acks.note_answer(self.now, self.setup.senders.params_at(live.tcp));
        self.start_sending(slot);
    }

    /// Returns whether the present write needs its server's CPU. Uploads and long-lived flows do not.
    fn needs_cpu(&self, slot: u32) -> bool {
        let live = &self.live[slot as usize];
        self.setup.servers.is_some() && !live.open.upload && live.progress.bytes != u64::MAX
    }

    /// Returns the server's think time for the present write's request. It is zero for uploads and
    /// long-lived flows. In a recorded connection the pause before a later write includes it
    /// already.
    fn server_think(&self, slot: u32) -> Dur {
        let live = &self.live[slot as usize];
        let is_recorded_pause = matches!(live.open.payload, Payload::Replayed(_)) && live.progress.number > 0;
        if live.open.upload || live.progress.bytes == u64::MAX || is_recorded_pause {
            return Dur::ZERO;
        }
        live.open.server_think.unwrap_or_else(|| self.setup.senders.params_at(live.tcp).server_think)
    }

    /// Returns the service time of the present write at an idle server, think time included.
    pub(super) fn service_time(&self, slot: u32) -> Dur {
        let live = &self.live[slot as usize];
        let servers = self.setup.servers.as_ref().filter(|_| self.needs_cpu(slot));
        let job = servers.map_or(Dur::ZERO, |servers| servers.service_time(live.progress.bytes));
        self.server_think(slot) + job
    }

    /// Schedules the end of a job, if one has begun.
    fn schedule_job_end(&mut self, server: u32, service: Option<Dur>) {
        if let Some(service) = service {
            let at = self.now + service;
            self.schedule(at, class::WAKE, 1 << 41 | u64::from(server), What::Served(server));
        }
    }

    /// Stops the client's retransmission of its request, where no packet acknowledges requests.
    fn end_request_wait(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        live.opener.handle_answer_to(live.progress.number);
    }

    /// Sends a delayed acknowledgement of a request, if one is due now that the answer has not
    /// carried. The connection may be over, and another may have its slot.
    pub(super) fn send_due_ack(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        if live.is_open && live.request_acks.handle_timeout(self.now) {
            self.send_request_ack(slot);
        }
    }

    /// Acknowledges a request that has arrived before, if the server acknowledges requests.
    pub(super) fn acknowledge_repeated_request(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        if live.request_acks.handle_repeated_request(self.setup.senders.params_at(live.tcp)) {
            self.send_request_ack(slot);
        }
    }

    /// Sends the server's acknowledgement of the present write's request.
    fn send_request_ack(&mut self, slot: u32) {
        let live = &self.live[slot as usize];
        let bytes = self.setup.senders.params_at(live.tcp).ack_bytes as u16;
        self.inject(Packet::new(slot, Kind::RequestAck, live.progress.number, bytes));
    }
}
