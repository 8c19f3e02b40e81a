//! CoDel: drops from the head when the delay has stayed above a target for an interval.
//!
//! RFC 8289, section 5; the control law of FQ-CoDel and of our COBALT is this one. Defaults are those of
//! RFC 8289. A comparator, not a policy of ours, hence Rust. Deviations: none known. ECN is not in its pseudo-code;
//! as in Linux, an ECN-capable packet is marked where it would be dropped, and sent: one mark a dequeue at most.

use super::lane::Lane;
use super::{Dequeued, Drop, Why};
use crate::packet::{Packet, flag};
use crate::units::{Buffer, Dur, Time};

/// A backlog no longer than this is never CoDel's business (`maxpacket`, RFC 8289 section 5.3: the MTU), bytes.
const MAX_PACKET: u64 = 1500;

/// What CoDel judges by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Acceptable standing delay.
    pub target: Dur,
    /// Time over which the delay must have stayed above the target.
    pub interval: Dur,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
}

impl Default for Law {
    /// 5 ms and 100 ms (RFC 8289), marking.
    fn default() -> Law {
        Law { target: Dur::from_millis(5), interval: Dur::from_millis(100), ecn: true }
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
pub(super) struct Around {
    /// Bytes in the other queues of the link: they count as backlog too (RFC 8289 section 4.4).
    pub elsewhere: u64,
    /// The last packet of the queue is not dropped (COBALT).
    pub spares_last: bool,
}

type Head = Option<(Packet, Time)>;

impl State {
    /// Gives the next packet of `lane`, dropping and marking on the way (RFC 8289 section 5.5, `dequeue`).
    pub fn dequeue(
        &mut self,
        law: &Law,
        lane: &mut Lane,
        around: Around,
        now: Time,
        drops: &mut Vec<Drop>,
    ) -> Head {
        let (head, ok_to_drop) = self.take(law, lane, around, now);
        if head.is_none() || (self.dropping && !ok_to_drop) {
            self.dropping = false;
            return head;
        }
        match (self.dropping, ok_to_drop) {
            (true, _) => self.keep_dropping(head, law, lane, around, now, drops),
            (false, true) => self.start_dropping(head, law, lane, around, now, drops),
            (false, false) => head,
        }
    }

    fn keep_dropping(
        &mut self,
        mut head: Head,
        law: &Law,
        lane: &mut Lane,
        around: Around,
        now: Time,
        drops: &mut Vec<Drop>,
    ) -> Head {
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if spare(law, &mut head, lane, around) {
                self.schedule(law);
                return head;
            }
            drops.extend(head.map(|(packet, _)| Drop { packet, why: Why::Early }));
            let ok_to_drop;
            (head, ok_to_drop) = self.take(law, lane, around, now);
            if ok_to_drop {
                self.schedule(law);
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
        law: &Law,
        lane: &mut Lane,
        around: Around,
        now: Time,
        drops: &mut Vec<Drop>,
    ) -> Head {
        if !spare(law, &mut head, lane, around) {
            drops.extend(head.map(|(packet, _)| Drop { packet, why: Why::Early }));
            (head, _) = self.take(law, lane, around, now);
        }
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let recent = now.0 < self.drop_next.0.saturating_add(16 * law.interval.0);
        self.count = if delta > 1 && delta < u32::MAX / 2 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + control_law(law.interval, self.count);
        head
    }

    /// Takes the head and tells whether its delay has stayed above the target for an interval (section 5.6,
    /// `dodequeue`).
    fn take(&mut self, law: &Law, lane: &mut Lane, around: Around, now: Time) -> (Head, bool) {
        let Some((packet, at)) = lane.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let is_low = now.since(at) < law.target || lane.total().bytes + around.elsewhere <= MAX_PACKET;
        let ok_to_drop = match (is_low, self.first_above) {
            (true, _) => {
                self.first_above = None;
                false
            }
            (false, None) => {
                self.first_above = Some(now + law.interval);
                false
            }
            (false, Some(deadline)) => now >= deadline,
        };
        (Some((packet, at)), ok_to_drop)
    }

    fn schedule(&mut self, law: &Law) {
        self.drop_next += control_law(law.interval, self.count);
    }
}

/// Whether a packet that should be dropped is marked instead, or goes as the last of its queue.
fn spare(law: &Law, head: &mut Head, lane: &Lane, around: Around) -> bool {
    mark(law, head) || (around.spares_last && lane.is_empty())
}

fn mark(law: &Law, head: &mut Head) -> bool {
    match head {
        Some((packet, _)) if law.ecn && packet.has(flag::ECT) => {
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
    pub law: Law,
    /// Arrivals beyond this are dropped; the RFC leaves it open, 1000 packets as Linux has it.
    pub limit: Buffer,
}

impl Default for Params {
    fn default() -> Params {
        Params { law: Law::default(), limit: Buffer::Packets(1000) }
    }
}

/// A FIFO under CoDel.
pub struct Codel {
    params: Params,
    lane: Lane,
    state: State,
}

impl Codel {
    /// An empty queue.
    pub fn new(params: Params) -> Codel {
        Codel { params, lane: Lane::default(), state: State::default() }
    }

    /// Packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        let total = self.lane.total();
        (total.packets, total.bytes)
    }

    /// Takes an arrival.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Drop>) {
        if self.lane.total().is_full_for(&packet, self.params.limit) {
            drops.push(Drop { packet, why: Why::Forced });
        } else {
            self.lane.push(packet, now);
        }
    }

    /// Gives the next packet.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Drop>) -> Dequeued {
        match self.state.dequeue(&self.params.law, &mut self.lane, Around::default(), now, drops) {
            Some((packet, at)) => Dequeued::Packet(packet, at),
            None => Dequeued::Empty,
        }
    }
}
