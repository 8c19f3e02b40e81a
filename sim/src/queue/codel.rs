//! CoDel: drops from the head when the delay has stayed above a target for an interval.
//!
//! RFC 8289, section 5; the control law of FQ-CoDel and of our COBALT is this one. Defaults are those of
//! RFC 8289. A comparator, not a policy of ours, hence Rust. Deviations: none known. ECN is not in its pseudo-code;
//! as in Linux, an ECN-capable packet is marked where it would be dropped, and sent: one mark a dequeue at most.

use super::packet_fifo::PacketFifo;
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::packet::{Packet, flag};
use crate::units::{Buffer, Dur, Time};

/// A backlog no longer than this is never CoDel's business (`maxpacket`, RFC 8289 section 5.3: the MTU), bytes.
const MAX_PACKET: u64 = 1500;

/// What CoDel judges by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodelParams {
    /// Acceptable standing delay.
    pub target: Dur,
    /// Time over which the delay must have stayed above the target.
    pub interval: Dur,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
}

impl Default for CodelParams {
    /// 5 ms and 100 ms (RFC 8289), marking.
    fn default() -> CodelParams {
        CodelParams { target: Dur::from_millis(5), interval: Dur::from_millis(100), ecn: true }
    }
}

/// CoDel's state of one queue (RFC 8289 section 5.2).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

/// What stands around a queue that is one of many.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueueContext {
    /// Bytes in the other queues of the link: they count as backlog too (RFC 8289 section 4.4).
    pub elsewhere: u64,
    /// The last packet of the queue is not dropped (COBALT).
    pub keeps_last: bool,
}

type Head = Option<(Packet, Time)>;

impl State {
    /// Gives the next packet of `fifo`, dropping and marking on the way (RFC 8289 section 5.5, `dequeue`).
    pub fn dequeue(
        &mut self,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        context: QueueContext,
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        let (head, ok_to_drop) = self.pop_head(params, fifo, context, now);
        if head.is_none() || (self.dropping && !ok_to_drop) {
            self.dropping = false;
            return head;
        }
        match (self.dropping, ok_to_drop) {
            (true, _) => self.keep_dropping(head, params, fifo, context, now, drops),
            (false, true) => self.start_dropping(head, params, fifo, context, now, drops),
            (false, false) => head,
        }
    }

    fn keep_dropping(
        &mut self,
        mut head: Head,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        context: QueueContext,
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if is_spared(params, &mut head, fifo, context) {
                self.schedule(params);
                return head;
            }
            drops.extend(head.map(|(packet, _)| Dropped { packet, reason: DropReason::Early }));
            let ok_to_drop;
            (head, ok_to_drop) = self.pop_head(params, fifo, context, now);
            if ok_to_drop {
                self.schedule(params);
            } else {
                self.dropping = false;
            }
        }
        head
    }

    /// Enters the dropping state; a recent one resumes near its rate (RFC 8289 section 5.5).
    fn start_dropping(
        &mut self,
        mut head: Head,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        context: QueueContext,
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        if !is_spared(params, &mut head, fifo, context) {
            drops.extend(head.map(|(packet, _)| Dropped { packet, reason: DropReason::Early }));
            (head, _) = self.pop_head(params, fifo, context, now);
        }
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let recent = now.0 < self.drop_next.0.saturating_add(16 * params.interval.0);
        self.count = if delta > 1 && delta < u32::MAX / 2 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + control_law(params.interval, self.count);
        head
    }

    /// Takes the head and tells whether its delay has stayed above the target for an interval (section 5.6,
    /// `dodequeue`).
    fn pop_head(
        &mut self,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        context: QueueContext,
        now: Time,
    ) -> (Head, bool) {
        let Some((packet, at)) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let is_low =
            now.since(at) < params.target || fifo.occupancy().bytes + context.elsewhere <= MAX_PACKET;
        let ok_to_drop = match (is_low, self.first_above) {
            (true, _) => {
                self.first_above = None;
                false
            }
            (false, None) => {
                self.first_above = Some(now + params.interval);
                false
            }
            (false, Some(deadline)) => now >= deadline,
        };
        (Some((packet, at)), ok_to_drop)
    }

    fn schedule(&mut self, params: &CodelParams) {
        self.drop_next += control_law(params.interval, self.count);
    }
}

/// Whether a packet that should be dropped is marked instead, or goes as the last of its queue.
fn is_spared(params: &CodelParams, head: &mut Head, fifo: &PacketFifo, context: QueueContext) -> bool {
    mark(params, head) || (context.keeps_last && fifo.is_empty())
}

fn mark(params: &CodelParams, head: &mut Head) -> bool {
    match head {
        Some((packet, _)) if params.ecn && packet.has(flag::ECT) => {
            packet.flags |= flag::CE;
            true
        }
        _ => false,
    }
}

/// `interval / sqrt(count)` (RFC 8289 section 5.6).
fn control_law(interval: Dur, count: u32) -> Dur {
    Dur((interval.0 as f64 / f64::from(count.max(1)).sqrt()) as u64)
}

/// Parameters of a CoDel queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// The control law.
    pub law: CodelParams,
    /// Arrivals beyond this are dropped; the RFC leaves it open, 1000 packets as Linux has it.
    pub limit: Buffer,
}

impl Default for Params {
    fn default() -> Params {
        Params { law: CodelParams::default(), limit: Buffer::Packets(1000) }
    }
}

/// A FIFO under CoDel.
pub struct Codel {
    params: Params,
    fifo: PacketFifo,
    state: State,
}

impl Codel {
    /// An empty queue.
    pub fn new(params: Params) -> Codel {
        Codel { params, fifo: PacketFifo::default(), state: State::default() }
    }

    /// Packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        let occupancy = self.fifo.occupancy();
        (occupancy.packets, occupancy.bytes)
    }

    /// Takes an arrival.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        if self.fifo.occupancy().is_full_for(&packet, self.params.limit) {
            drops.push(Dropped { packet, reason: DropReason::Forced });
        } else {
            self.fifo.push(packet, now);
        }
    }

    /// Gives the next packet.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        match self.state.dequeue(&self.params.law, &mut self.fifo, QueueContext::default(), now, drops) {
            Some((packet, at)) => Dequeued::Packet(packet, at),
            None => Dequeued::Empty,
        }
    }
}
