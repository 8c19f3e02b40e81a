//! The hosts' ends of connections: opening, requests, writes, acknowledgements and timers.

use super::commands::ConnectionSource;
use super::connection::Payload;
use super::event::{What, class};
use super::world::World;
use crate::packet::{Kind, Packet, flag};
use crate::record::{Template, TraceEvent, Transfer};
use crate::tcp::profile::Opening;
use crate::tcp::receiver::{AckFields, Reply};
use crate::traffic::connection::{PageOf, Write};
use crate::units::Time;

impl World {
    /// Begins write `number` of the connection in `slot`: opens the connection, sends the request,
    /// or starts to send, depending on the profile. The write counts as outstanding if it is
    /// measured. The write before must be complete.
    pub(super) fn begin_write(&mut self, slot: u32, number: u32) {
        let bytes = self.write_bytes(slot, number);
        let is_measurable = self.live[slot as usize].open.payload.is_measurable();
        let is_measured = is_measurable && self.register_page(self.page_of_write(slot, number).key);
        let live = &mut self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        live.begin(number, bytes, self.now, params);
        live.progress.is_measured = is_measured;
        self.outstanding += u64::from(is_measured);
        match (live.opening(params), number) {
            (Opening::None | Opening::OneWaySyn, _) => self.handle_request(slot),
            (Opening::Request | Opening::Sender, 0) => {
                let (kind, seq) = live.opener.open(self.now, params);
                self.send_from_opener(slot, kind, seq);
            }
            (Opening::Request, _) => {
                let (kind, seq) = live.opener.request(number, self.now, params);
                self.send_from_opener(slot, kind, seq);
            }
            (Opening::Sender, _) => self.start_sending(slot),
        }
        self.arm_timer(slot);
    }

    /// Handles the packet in `node`, which has reached its host, and frees the node. Afterwards the
    /// timer is armed and the slot of a finished connection freed. `kind` is the packet's kind
    /// where the caller knows it, `None` to read it.
    #[inline(always)]
    pub(super) fn deliver(&mut self, node: u32, kind: Option<Kind>) {
        let packet = self.wheel.take_event(node).packet;
        let kind = kind.unwrap_or(packet.kind);
        let slot = packet.flow;
        self.path_states[slot as usize].in_flight -= 1;
        if self.setup.trace {
            self.trace_event(if kind == Kind::Ack { TraceEvent::Ack } else { TraceEvent::Receive }, packet);
        }
        match kind {
            Kind::Data => self.receive_data(slot, &packet),
            Kind::Ack => self.receive_ack(slot, &packet),
            Kind::Syn => self.receive_syn(slot, &packet),
            Kind::SynAck => self.receive_syn_ack(slot),
            Kind::Request => self.receive_request(slot, packet.seq),
            Kind::RequestAck => self.live[slot as usize].opener.handle_answer_to(packet.seq),
            Kind::Datagram | Kind::Quic => self.receive_datagram(&packet),
        }
        self.arm_timer(slot);
        self.release(slot);
    }

    /// Handles the packet in `node`, which is neither data nor an acknowledgement. Not inlined:
    /// such packets are rare, and the code of every event has to fit the instruction cache.
    #[inline(never)]
    pub(super) fn deliver_other(&mut self, node: u32) {
        self.deliver(node, None);
    }

    /// Handles the timer event of a connection: everything that is due by now, then arms the timer
    /// anew. The event may be early because deadlines have moved. It does nothing if `generation`
    /// is not the connection's, or the connection is over.
    pub(super) fn handle_timer(&mut self, slot: u32, generation: u32) {
        let live = &mut self.live[slot as usize];
        if live.generation != generation || !live.is_open {
            return;
        }
        live.timer_at = Time::NEVER;
        let (now, params) = (self.now, self.setup.senders.params_at(live.tcp));
        if live.receiver.poll_timeout() <= now {
            let fields = live.receiver.handle_timeout(params);
            self.send_ack(slot, fields);
        }
        let live = &mut self.live[slot as usize];
        if live.sender.poll_timeout() <= now {
            live.sender.handle_timeout(now, self.setup.senders.params_at(live.tcp));
            self.send_segments(slot);
        }
        let live = &mut self.live[slot as usize];
        if live.opener.poll_timeout() <= now
            && let Some((kind, seq)) = live.opener.handle_timeout(now, self.setup.senders.params_at(live.tcp))
        {
            self.send_from_opener(slot, kind, seq);
        }
        let live = &self.live[slot as usize];
        if live.think_until <= now {
            if matches!(live.open.payload, Payload::Datagrams(_)) {
                self.send_datagram(slot);
                return self.arm_timer(slot);
            }
            let next = self.live[slot as usize].progress.number + 1;
            self.flush_ack(slot);
            self.begin_write(slot, next);
        }
        self.arm_timer(slot);
    }

    /// Handles a data packet at its receiver, which may send an ACK. It counts goodput and
    /// reordering, and the packet may complete the present write.
    #[inline(always)]
    fn receive_data(&mut self, slot: u32, packet: &Packet) {
        let live = &mut self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        live.answer = packet.colour;
        let before = live.receiver.next();
        let is_new = !live.receiver.has_received(packet.seq);
        if is_new && packet.seq < live.receiver.received_below() && !packet.has(flag::RETRANSMISSION) {
            self.reordered += 1;
        }
        let reply = live.receiver.handle_data(packet, live.sender.cwnd(), self.now, params);
        if packet.seq >= live.progress.segments.0 {
            live.opener.handle_answer_to(live.progress.number);
            if packet.seq == live.progress.segments.0 && is_new {
                live.progress.first_byte = self.now;
            }
        }
        if is_new && (self.setup.window.0..self.setup.window.1).contains(&self.now) {
            let bytes = u64::from(packet.bytes) - u64::from(params.header.min(u32::from(packet.bytes)));
            match live.open.upload {
                false => self.goodput_bytes += bytes,
                true => self.goodput_up_bytes += bytes,
            }
        }
        let next = live.receiver.next();
        let done = next >= live.progress.segments.1 && before < live.progress.segments.1;
        if self.send_log.is_some() {
            self.stop_when_saturated(slot);
        }
        if let Reply::Now(fields) = reply {
            self.send_ack(slot, fields);
        }
        if !self.probes.is_empty() && next > before {
            self.receive_probe_data(slot, next);
        }
        if done {
            self.complete_write(slot);
        }
    }

    /// Handles an acknowledgement at the sender of the data, and sends the segments that it
    /// releases. The write after an upload is scheduled once the upload has both arrived and been
    /// acknowledged.
    #[inline(always)]
    fn receive_ack(&mut self, slot: u32, packet: &Packet) {
        let (sacks, ece, marks) = (packet.sacks, packet.has(flag::ECE), packet.remaining);
        let fields = AckFields { next: packet.seq, sacks, ece, marks };
        let live = &mut self.live[slot as usize];
        let was_done = live.sender.is_done();
        let params = self.setup.senders.params_at(live.tcp);
        live.sender.handle_ack(&fields, self.now, params);
        let pushes = live.opening(params) == Opening::Sender;
        let uploaded = pushes && !was_done && live.sender.is_done();
        self.send_segments(slot);
        if uploaded && self.live[slot as usize].progress.is_complete {
            self.schedule_next_write(slot);
        }
    }

    /// Handles a SYN at the answering side: sends a SYN-ACK, again for each SYN that is repeated.
    #[inline(never)]
    fn receive_syn(&mut self, slot: u32, packet: &Packet) {
        let live = &mut self.live[slot as usize];
        let again = if live.answered.0 == Time::ZERO { 0 } else { live.answered.1.saturating_add(1) };
        live.answered = (self.now, again);
        let mut answer =
            Packet::new(slot, Kind::SynAck, 0, self.setup.senders.params_at(live.tcp).ack_bytes as u16);
        answer.flags = if packet.is_reverse() { 0 } else { flag::REVERSE };
        self.inject(answer);
    }

    /// Handles a SYN-ACK at the side that opened: sends the request, or in an upload the data,
    /// whose sender gets its first round-trip time. One that is not awaited is ignored.
    #[inline(never)]
    fn receive_syn_ack(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        let (now, params) = (self.now, self.setup.senders.params_at(live.tcp));
        let again = live.opener.repeats();
        let sent = live.opener.sent_at();
        if !live.opener.handle_syn_ack(now, params) {
            return;
        }
        self.record_probe_open(slot);
        let live = &mut self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        if live.opening(params) == Opening::Sender {
            live.sender.sample_handshake(sent, now, again, params);
            self.start_sending(slot);
        } else {
            let (kind, seq) = live.opener.request(0, now, params);
            self.send_from_opener(slot, kind, seq);
        }
    }

    /// Handles request `number` at the server; a repeated one is at most acknowledged. The first
    /// gives the server its round-trip time. On a long-lived flow, a number above 0 is that of a
    /// self probe.
    #[inline(never)]
    fn receive_request(&mut self, slot: u32, number: u32) {
        let live = &mut self.live[slot as usize];
        if number > 0 && live.open.payload == Payload::LongLived {
            return self.receive_probe_packet(slot, number);
        }
        if number != live.progress.number || live.progress.is_asked {
            return self.acknowledge_repeated_request(slot);
        }
        if number == 0 {
            let (sent, again) = live.answered;
            let params = self.setup.senders.params_at(live.tcp);
            // After the initial RTO the answering side would have repeated its SYN-ACK itself.
            let again = again.max(u8::from(self.now.since(sent) > params.initial_rto));
            live.sender.sample_handshake(sent, self.now, again, params);
        }
        self.handle_request(slot);
    }

    /// Adds the segments of the present write to the sender's data, and sends those that may be
    /// sent now.
    pub(super) fn start_sending(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        let (first, end) = live.progress.segments;
        live.sender.write(end - first, self.now, self.setup.senders.params_at(live.tcp));
        self.send_segments(slot);
    }

    /// Sends all segments that the sender may send now, and records when the first of the write is
    /// sent. Data packets carry the window hint, what remains of the write and the ECN flags;
    /// nothing is sent if nothing may be.
    pub(super) fn send_segments(&mut self, slot: u32) {
        loop {
            let live = &mut self.live[slot as usize];
            let params = self.setup.senders.params_at(live.tcp);
            let Some(out) = live.sender.poll_transmit(self.now, params) else { return };
            if out.seq == live.progress.segments.0 && live.progress.first_data == Time::NEVER {
                live.progress.first_data = self.now;
            }
            let bytes = live.segment_bytes(out.seq, params);
            let mut packet = Packet::new(slot, Kind::Data, out.seq, bytes);
            packet.window_hint = match live.open.hint {
                0 => live.sender.cwnd().min(255.0) as u8,
                claimed => claimed,
            };
            packet.remaining = live.unacknowledged();
            if self.setup.positions {
                packet.position = live.position_after(out.seq + 1, params);
            }
            let ect = if params.is_l4s() { flag::ECT | flag::L4S } else { flag::ECT };
            packet.flags = flag::bits_if(params.is_ecn_capable(out.seq, out.retransmission), ect)
                | flag::bits_if(out.retransmission, flag::RETRANSMISSION)
                | flag::bits_if(out.in_recovery, flag::IN_RECOVERY)
                | flag::bits_if(out.cwr, flag::CWR);
            self.inject(packet);
        }
    }

    /// Sends an acknowledgement from the receiver of data. It has the colour of the last data
    /// packet received, and its length includes its SACK blocks.
    fn send_ack(&mut self, slot: u32, fields: AckFields) {
        let live = &self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        let blocks = fields.sacks.iter().filter(|block| block.length > 0).count() as u32;
        let options = if blocks > 0 { params.sack_bytes.0 + blocks * params.sack_bytes.1 } else { 0 };
        let mut packet = Packet::new(slot, Kind::Ack, fields.next, (params.ack_bytes + options) as u16);
        packet.sacks = fields.sacks;
        if self.setup.positions {
            packet.position = live.position_after(fields.next, params);
        }
        packet.colour = live.answer;
        packet.flags = flag::REVERSE | flag::bits_if(fields.ece, flag::ECE);
        packet.remaining = fields.marks;
        self.inject(packet);
    }

    /// Sends a delayed acknowledgement at once, because a request follows and would carry it.
    /// Nothing is sent if none is delayed.
    fn flush_ack(&mut self, slot: u32) {
        let live = &mut self.live[slot as usize];
        if live.receiver.poll_timeout() != Time::NEVER {
            let fields = live.receiver.flush(self.setup.senders.params_at(live.tcp));
            self.send_ack(slot, fields);
        }
    }

    /// Sends a SYN or a request (`kind`, with number `seq`) from the side that opens. A request has
    /// the connection's own payload, or the profile's if that is 0.
    fn send_from_opener(&mut self, slot: u32, kind: Kind, seq: u32) {
        let live = &self.live[slot as usize];
        let params = self.setup.senders.params_at(live.tcp);
        let request = match live.open.request_bytes {
            0 => params.request_bytes,
            own => u32::from(own),
        };
        let bytes = params.ack_bytes + if kind == Kind::Request { request } else { 0 };
        let mut packet = Packet::new(slot, kind, seq, bytes as u16);
        packet.flags = if live.opening(params) == Opening::Sender { 0 } else { flag::REVERSE };
        self.inject(packet);
    }

    /// Completes the present write, whose last byte has arrived: records it if it is measured, and
    /// schedules the next one or ends the connection. At the end the source is notified and its
    /// commands are applied. The run ends if the window is over and nothing is outstanding.
    fn complete_write(&mut self, slot: u32) {
        let now = self.now;
        let live = &mut self.live[slot as usize];
        live.progress.is_complete = true;
        if live.progress.is_measured {
            self.record_transfer(slot, now);
            self.outstanding -= 1;
        }
        self.record_probe_write(slot);
        if self.write_count(slot) == self.live[slot as usize].progress.number + 1 {
            self.live[slot as usize].is_finished = true;
            let tag = self.live[slot as usize].open.tag;
            if tag != super::commands::NO_TAG {
                self.setup.source.connection_finished(tag, now, &mut self.commands);
                self.apply_commands();
            }
        } else if self.live[slot as usize].opening(self.setup.senders.first()) != Opening::Sender {
            self.schedule_next_write(slot);
        }
        // Checked last: completing a transfer may start the next one of its page.
        self.is_over |= self.window_is_over && self.outstanding == 0;
    }

    /// Sets when the next write begins, after its pause, if the connection has one; the receiver
    /// learns of the request that comes then. The caller arms the timer.
    fn schedule_next_write(&mut self, slot: u32) {
        let next = self.live[slot as usize].progress.number + 1;
        let listed =
            self.listed_writes(slot).and_then(|writes| writes.get(next as usize)).map(|write| write.idle);
        let live = &mut self.live[slot as usize];
        if let Some(idle) = listed {
            live.think_until = self.now + idle;
        } else if let Payload::Keystrokes(index) = live.open.payload {
            let gap = self.setup.apps.keystrokes[index as usize].gap(live.open.key, next);
            live.think_until = self.now.max(live.progress.start + gap);
        } else if matches!(live.open.payload, Payload::Probe { .. }) {
            live.think_until = self.now;
        }
        let params = self.setup.senders.params_at(live.tcp);
        if live.think_until != Time::NEVER && live.opening(params) == Opening::Request {
            live.receiver.note_request(live.think_until.since(self.now), params);
        }
    }

    /// Adds the record of the present write as a transfer that ended at `end`; [`Time::NEVER`] if
    /// it did not end. Losses are those since the write began.
    pub(super) fn record_transfer(&mut self, slot: u32, end: Time) {
        let live = &self.live[slot as usize];
        let page = self.page_of_write(slot, live.progress.number);
        let (progress, (retransmits, timeouts)) = (&live.progress, live.sender.losses());
        self.transfers.push(Transfer {
            key: live.open.key,
            client: live.open.client,
            write: progress.number,
            bytes: progress.bytes,
            object_bytes: if live.open.object_bytes > 0 { live.open.object_bytes } else { progress.bytes },
            object_key: if live.open.object_bytes > 0 { live.open.object_key } else { live.open.key },
            source: live.open.source,
            flow_class: live.open.flow_class,
            upload: live.open.upload,
            misbehaves: live.open.misbehaves,
            start: progress.start,
            first_data: progress.first_data,
            first_byte: progress.first_byte,
            end,
            rtt_ns: live.rtt.0,
            tcp: live.tcp,
            path: self.setup.layout.equivalent(self.path_states[slot as usize].path),
            retransmits: retransmits - progress.losses.0,
            timeouts: timeouts - progress.losses.1,
            dropped: progress.dropped,
            is_quic: live.open.is_quic,
            template: match live.open.payload {
                Payload::Replayed(index) => Some(Template::Trace(index)),
                Payload::Scripted(index) => Some(Template::Script(index)),
                _ => None,
            },
            page: page.key,
            page_transfers: page.transfers,
            service_ns: self.service_time(slot).0,
        });
    }

    /// Schedules a timer event for the connection if something is due before the pending one. A
    /// connection that is over gets none.
    #[inline(always)]
    pub(super) fn arm_timer(&mut self, slot: u32) {
        let live = &self.live[slot as usize];
        let due = live.next_due();
        if due < live.timer_at && live.is_open {
            self.replace_timer(slot, due);
        }
    }

    /// Replaces the pending timer event by one at `due`, or now if that has passed; the old one
    /// becomes stale.
    #[inline(never)]
    fn replace_timer(&mut self, slot: u32, due: Time) {
        let live = &mut self.live[slot as usize];
        live.generation += 1;
        live.timer_at = due;
        let generation = live.generation;
        let at = due.max(self.now);
        self.schedule_for(slot, at, class::TIMER, u64::from(slot), What::Timer(generation));
    }

    /// Records that a transfer of this page (0 for none) begins now, if the window is open. Returns
    /// whether the transfer is measured: it begins in the window, or its page did.
    fn register_page(&mut self, page: u64) -> bool {
        let (begin, end) = self.setup.window;
        let is_within = (begin..end).contains(&self.now);
        if page == 0 {
            return is_within;
        }
        if is_within {
            self.pages.insert(page);
        }
        is_within || self.pages.contains(&page)
    }

    /// Returns the writes of a connection that has a list of them, in the traffic or in a script;
    /// `None` for others.
    fn listed_writes(&self, slot: u32) -> Option<&[Write]> {
        match self.live[slot as usize].open.payload {
            Payload::Single(_)
            | Payload::LongLived
            | Payload::Keystrokes(_)
            | Payload::Datagrams(_)
            | Payload::Probe { .. }
            | Payload::Recorded { .. } => None,
            Payload::Replayed(index) => Some(&self.setup.traffic.connections[index as usize].writes),
            Payload::Scripted(index) => Some(&self.commands.scripts[index as usize].writes),
        }
    }

    /// Returns the number of writes of a connection, `u32::MAX` if it has no end.
    fn write_count(&self, slot: u32) -> u32 {
        match self.live[slot as usize].open.payload {
            Payload::Keystrokes(_) | Payload::Datagrams(_) => u32::MAX,
            Payload::Probe { tls_bytes: 1.., .. } => 2,
            _ => self.listed_writes(slot).map_or(1, |writes| writes.len() as u32),
        }
    }

    /// Returns the payload of write `number` in bytes, `u64::MAX` if it has no end. It panics if a
    /// list of writes has no such number.
    fn write_bytes(&self, slot: u32, number: u32) -> u64 {
        match self.live[slot as usize].open.payload {
            Payload::Single(bytes) => bytes,
            Payload::LongLived | Payload::Datagrams(_) => u64::MAX,
            Payload::Probe { tls_bytes: bytes @ 1.., .. } if number == 0 => u64::from(bytes),
            Payload::Probe { .. } => 1,
            Payload::Keystrokes(index) => self.setup.apps.keystrokes[index as usize].bytes,
            _ => self.listed_writes(slot).map_or(0, |writes| writes[number as usize].bytes),
        }
    }

    /// Returns the page of write `number`; key 0 for none.
    fn page_of_write(&self, slot: u32, number: u32) -> PageOf {
        let open = &self.live[slot as usize].open;
        match open.payload {
            Payload::Replayed(index) => self.setup.traffic.page(open.page, index, number),
            Payload::Scripted(index) => self.commands.scripts[index as usize].pages[number as usize],
            _ => PageOf { key: open.page, transfers: open.page_transfers },
        }
    }
}
