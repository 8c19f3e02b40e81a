//! CoDel: drops from the head when the delay has stayed above a target for an interval.
//!
//! RFC 8289, section 5. Defaults are those of RFC 8289. A comparator,
//! not a policy of ours, hence Rust. Deviations: none known. The RFC's pseudo-code has no ECN. As in Linux, an
//! ECN-capable packet is marked instead of dropped, and sent: at most one mark per dequeue.

use super::packet_fifo::PacketFifo;
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::packet::{Packet, flag};
use crate::units::{Buffer, Dur, Time};

/// CoDel never drops while the backlog is no longer than this (`maxpacket`, RFC 8289 section 5.3: the MTU), bytes.
const MAX_PACKET: u64 = 1500;

/// The parameters of CoDel's control law.
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
    /// Returns 5 ms and 100 ms (RFC 8289), with marking.
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

type Head = Option<(Packet, Time)>;

impl State {
    /// Returns the next packet of `fifo`; drops and marks packets before it (RFC 8289 section 5.5, `dequeue`).
    pub fn dequeue(
        &mut self,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        let (head, ok_to_drop) = self.pop_head(params, fifo, now);
        if head.is_none() || (self.dropping && !ok_to_drop) {
            self.dropping = false;
            return head;
        }
        match (self.dropping, ok_to_drop) {
            (true, _) => self.keep_dropping(head, params, fifo, now, drops),
            (false, true) => self.start_dropping(head, params, fifo, now, drops),
            (false, false) => head,
        }
    }

    /// Drops or marks packets while the next drop is due (RFC 8289 section 5.5).
    fn keep_dropping(
        &mut self,
        mut head: Head,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if mark(params, &mut head) {
                self.schedule_drop(params);
                return head;
            }
            drops.extend(head.map(|(packet, _)| Dropped { packet, reason: DropReason::Early }));
            let ok_to_drop;
            (head, ok_to_drop) = self.pop_head(params, fifo, now);
            if ok_to_drop {
                self.schedule_drop(params);
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
        now: Time,
        drops: &mut Vec<Dropped>,
    ) -> Head {
        if !mark(params, &mut head) {
            drops.extend(head.map(|(packet, _)| Dropped { packet, reason: DropReason::Early }));
            (head, _) = self.pop_head(params, fifo, now);
        }
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let recent = now.0 < self.drop_next.0.saturating_add(16 * params.interval.0);
        self.count = if delta > 1 && delta < u32::MAX / 2 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + control_law(params.interval, self.count);
        head
    }

    /// Removes the head. Returns it, and whether the delay has stayed above the target for an interval (section 5.6,
    /// `dodequeue`).
    fn pop_head(&mut self, params: &CodelParams, fifo: &mut PacketFifo, now: Time) -> (Head, bool) {
        let Some((packet, at)) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let is_low = now.since(at) < params.target || fifo.occupancy().bytes <= MAX_PACKET;
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

    /// Schedules the next drop.
    fn schedule_drop(&mut self, params: &CodelParams) {
        self.drop_next += control_law(params.interval, self.count);
    }
}

/// Marks the packet if ECN is on and the packet is ECN-capable; returns whether it did.
fn mark(params: &CodelParams, head: &mut Head) -> bool {
    match head {
        Some((packet, _)) if params.ecn && packet.has(flag::ECT) => {
            packet.flags |= flag::CE;
            true
        }
        _ => false,
    }
}

/// Returns `interval / sqrt(count)` (RFC 8289 section 5.6).
fn control_law(interval: Dur, count: u32) -> Dur {
    Dur((interval.0 as f64 / f64::from(count.max(1)).sqrt()) as u64)
}

/// Parameters of a CoDel queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// The control law.
    pub law: CodelParams,
    /// Arrivals beyond this limit are dropped. The RFC sets none; 1000 packets are Linux' default.
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
    /// Returns an empty queue.
    pub fn new(params: Params) -> Codel {
        Codel { params, fifo: PacketFifo::default(), state: State::default() }
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        let occupancy = self.fifo.occupancy();
        (occupancy.packets, occupancy.bytes)
    }

    /// Queues or drops an arrival; dropped packets go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        if self.fifo.occupancy().is_full_for(&packet, self.params.limit) {
            drops.push(Dropped { packet, reason: DropReason::Forced });
        } else {
            self.fifo.push(packet, now);
        }
    }

    /// Returns the next packet.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        match self.state.dequeue(&self.params.law, &mut self.fifo, now, drops) {
            Some((packet, at)) => Dequeued::Packet(packet, at),
            None => Dequeued::Empty,
        }
    }
}
