//! Probes of responsiveness: how long small requests take on new connections and on those that fill the line.
//!
//! A foreign probe is a connection with two writes, the TLS handshake and the answer of one byte. A self probe is a
//! request within a load-generating connection. Where the load goes down, the request is a separate packet, and the
//! answer is in the next new segment that the server sends once all earlier requests of the connection have arrived.
//! Where the load goes up it is the other way round: the request is in the client's next new segment, and the answer is
//! a separate packet. A packet that is lost is sent again after the retransmission timeout, doubled each time.
//! Deviation: no duplicate acknowledgement hastens that.

use super::connection::Payload;
use super::event::{What, class};
use super::open_probes::{Load, SelfProbe};
use super::world::World;
use crate::packet::{Kind, Packet, flag};
use crate::record::ProbeRecord;
use crate::units::{Dur, Time};
use std::collections::VecDeque;

impl World {
    /// Sends the self probes that the sources have asked for, and removes the commands.
    pub(super) fn send_self_probes(&mut self) {
        for key in std::mem::take(&mut self.commands.probes) {
            self.send_self_probe(key);
        }
    }

    /// Begins a self probe in the long-lived flow of this key and adds its record. No probe begins
    /// if there is no such flow, or it has not sent data yet. In an upload the request rides in the
    /// next new segment; otherwise a packet is sent for it.
    fn send_self_probe(&mut self, key: u64) {
        let known = self.probes.loads.iter().position(|load| load.key == key);
        let Some(index) = known.or_else(|| self.add_load(key)) else { return };
        let slot = self.probes.loads[index].slot;
        if self.live[slot as usize].sender.sent_below() == 0 {
            return;
        }
        let record = self.begin_probe(slot, false);
        let open = &self.live[slot as usize].open;
        let segment = open.upload.then(|| self.live[slot as usize].sender.sent_below());
        let load = &mut self.probes.loads[index];
        load.last += 1;
        let number = load.last;
        load.open.push_back(SelfProbe { number, record, segment, sent: 0, has_arrived: false });
        if segment.is_none() {
            self.send_probe_packet(index, number);
        }
    }

    /// Adds the long-lived flow of `key` to the probed loads and returns its index among them;
    /// `None` if there is no such flow.
    fn add_load(&mut self, key: u64) -> Option<usize> {
        let slots = self.long_lived.iter().map(|(slot, _)| *slot);
        let slot = slots.into_iter().find(|slot| self.live[*slot as usize].open.key == key)?;
        self.probes.loads.push(Load { slot, key, last: 0, open: VecDeque::new() });
        Some(self.probes.loads.len() - 1)
    }

    /// Adds the record of a probe on the connection in `slot` and returns its number. A probe that
    /// begins in the measured window counts as outstanding.
    fn begin_probe(&mut self, slot: u32, is_foreign: bool) -> usize {
        let open = &self.live[slot as usize].open;
        let is_measured = (self.setup.window.0..self.setup.window.1).contains(&self.now);
        self.outstanding += u64::from(is_measured);
        self.probes.records.push(ProbeRecord {
            source: open.source,
            client: open.client,
            is_foreign,
            has_tls: matches!(open.payload, Payload::Probe { tls_bytes: 1.., .. }),
            is_measured,
            began: self.now,
            ends: [Time::NEVER; 3],
        });
        self.probes.records.len() - 1
    }

    /// Adds the record of a foreign probe, whose connection in `slot` has just been opened, and
    /// stores its number in the payload.
    pub(super) fn begin_foreign_probe(&mut self, slot: u32) {
        let number = self.begin_probe(slot, true);
        if let Payload::Probe { record, .. } = &mut self.live[slot as usize].open.payload {
            *record = number as u32;
        }
    }

    /// Records that the TCP handshake of the connection in `slot` is over, if it is a foreign
    /// probe; otherwise nothing happens.
    pub(super) fn record_probe_open(&mut self, slot: u32) {
        if let Payload::Probe { record, .. } = self.live[slot as usize].open.payload {
            self.probes.records[record as usize].ends[0] = self.now;
        }
    }

    /// Records that the present write of the connection in `slot` has arrived, if it is a foreign
    /// probe; otherwise nothing happens.
    pub(super) fn record_probe_write(&mut self, slot: u32) {
        let live = &self.live[slot as usize];
        let Payload::Probe { tls_bytes, record } = live.open.payload else { return };
        let stage = if tls_bytes == 0 { 2 } else { 1 + live.progress.number as usize };
        self.end_probe_stage(record as usize, stage);
    }

    /// Records the end of a stage of a probe: TCP, TLS or HTTP (0 to 2). The last stage ends the
    /// probe, which is no longer outstanding.
    fn end_probe_stage(&mut self, record: usize, stage: usize) {
        let probe = &mut self.probes.records[record];
        probe.ends[stage] = self.now;
        if stage == 2 {
            self.outstanding -= u64::from(probe.is_measured);
        }
    }

    /// Sends the packet of self probe `number` on load `index`, and schedules its retransmission
    /// after the timeout, doubled with each packet sent. Nothing is sent for a probe that has
    /// ended.
    fn send_probe_packet(&mut self, index: usize, number: u32) {
        let load = &mut self.probes.loads[index];
        let slot = load.slot;
        let Some(probe) = load.open.iter_mut().find(|probe| probe.number == number) else { return };
        probe.sent += 1;
        let doublings = (probe.sent - 1).min(10);
        let live = &self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        let mut packet =
            Packet::new(slot, Kind::Request, number, (params.ack_bytes + params.request_bytes) as u16);
        packet.flags = flag::REVERSE;
        let due = self.now + Dur(live.sender.timeout(params).0 << doublings);
        self.inject(packet);
        let order = 1 << 43 | (index as u64) << 32 | u64::from(number);
        self.schedule_for(slot, due, class::WAKE, order, What::ProbeDue(number));
    }

    /// Sends the packet of a self probe of the connection in `slot` again, unless it has arrived or
    /// the probe has ended.
    pub(super) fn repeat_probe(&mut self, slot: u32, number: u32) {
        let Some((index, load)) = self.probes.find_load(slot) else { return };
        if load.open.iter().any(|probe| probe.number == number && !probe.has_arrived) {
            self.send_probe_packet(index, number);
        }
    }

    /// Handles the packet of a self probe: a request at the server, or with an upload the answer at
    /// the client. It takes effect when all earlier ones of the connection have arrived. It may end
    /// probes, and with them the run.
    pub(super) fn receive_probe_packet(&mut self, slot: u32, number: u32) {
        let live = &self.live[slot as usize];
        let (upload, next_segment) = (live.open.upload, live.sender.sent_below());
        let Some((_, load)) = self.probes.find_load(slot) else { return };
        if let Some(probe) = load.open.iter_mut().find(|probe| probe.number == number) {
            probe.has_arrived = true;
        }
        let mut ended = Vec::new();
        if upload {
            while load.open.front().is_some_and(|probe| probe.has_arrived) {
                ended.extend(load.open.pop_front().map(|probe| probe.record));
            }
        } else {
            let in_order = load.open.iter_mut().take_while(|probe| probe.has_arrived);
            in_order.for_each(|probe| probe.segment = probe.segment.or(Some(next_segment)));
        }
        ended.into_iter().for_each(|record| self.end_probe_stage(record, 2));
        self.end_run_if_settled();
    }

    /// Continues the self probes of an upload whose segment lies below `next`, by sending their
    /// answers; ends those of a download in order, which may end the run. The data of the
    /// connection in `slot` has arrived up to `next`. Nothing happens on a connection that is not
    /// probed.
    #[inline(never)]
    pub(super) fn receive_probe_data(&mut self, slot: u32, next: u32) {
        let upload = self.live[slot as usize].open.upload;
        let Some((index, load)) = self.probes.find_load(slot) else { return };
        let is_there = |probe: &SelfProbe| probe.segment.is_some_and(|segment| segment < next);
        if upload {
            let arrived = load.open.iter_mut().filter(|probe| is_there(probe));
            let answers: Vec<u32> = arrived.map(|probe| (probe.segment.take(), probe.number).1).collect();
            return answers.into_iter().for_each(|number| self.send_probe_packet(index, number));
        }
        while let Some(probe) = self.probes.loads[index].open.front().copied().filter(is_there) {
            self.probes.loads[index].open.pop_front();
            self.end_probe_stage(probe.record, 2);
        }
        self.end_run_if_settled();
    }

    /// Ends the run if the window is over and nothing measured is outstanding.
    fn end_run_if_settled(&mut self) {
        self.is_over |= self.window_is_over && self.outstanding == 0;
    }

    /// Returns the records of the probes that began in the measured window.
    pub(super) fn probe_records(&self) -> Vec<ProbeRecord> {
        self.probes.records.iter().filter(|probe| probe.is_measured).copied().collect()
    }
}
