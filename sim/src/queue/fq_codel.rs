//! FQ-CoDel: deficit round robin over hashed flow queues, each managed by CoDel, new flows first.
//!
//! RFC 8290 (the scheduler, sections 4.1 and 4.2) and RFC 8289 (CoDel, section 5). Defaults are those
//! of RFC 8290 section 5.2. This is a comparator, not a policy of ours, hence Rust.
//!
//! Flows are hashed by connection. Deviations: none known; the hash is a seeded mix, not Jenkins'.

use super::{Dequeued, Drop, Why};
use crate::packet::{Packet, flag};
use crate::rng::mix;
use crate::units::{Buffer, Dur, Time};
use std::collections::VecDeque;

/// Parameters (RFC 8290 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Number of queues flows are hashed into.
    pub flows: u32,
    /// Bytes a queue may send per round.
    pub quantum: u32,
    /// Acceptable standing delay.
    pub target: Dur,
    /// Time over which the delay must have stayed above the target.
    pub interval: Dur,
    /// Limit over all queues.
    pub limit: Buffer,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
}

/// At overflow at most this many packets leave the fattest flow (RFC 8290 section 4.1.2 note on batches).
const BATCH: usize = 64;

/// CoDel's state of one flow queue (RFC 8289 section 5.1).
#[derive(Debug, Clone, Copy, Default)]
struct Codel {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Idle,
    New,
    Old,
}

struct Flow {
    packets: VecDeque<(Packet, Time)>,
    bytes: u64,
    deficit: i64,
    list: List,
    codel: Codel,
}

/// An FQ-CoDel queue.
pub struct FqCodel {
    params: Params,
    perturbation: u64,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u32,
    bytes: u64,
}

impl FqCodel {
    /// An empty queue whose hash is perturbed by `perturbation`.
    pub fn new(params: Params, perturbation: u64) -> FqCodel {
        let flow = || Flow {
            packets: VecDeque::new(),
            bytes: 0,
            deficit: 0,
            list: List::Idle,
            codel: Codel::default(),
        };
        FqCodel {
            params,
            perturbation,
            flows: (0..params.flows).map(|_| flow()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    /// Takes an arrival (RFC 8290 section 4.1).
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Drop>) {
        let index = self.classify(&packet);
        let flow = &mut self.flows[index as usize];
        flow.packets.push_back((packet, now));
        flow.bytes += u64::from(packet.bytes);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        if flow.list == List::Idle {
            flow.list = List::New;
            flow.deficit = i64::from(self.params.quantum);
            self.new.push_back(index);
        }
        if self.is_over_limit() {
            self.drop_from_fattest(drops);
        }
    }

    /// Gives the next packet (RFC 8290 section 4.2).
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Drop>) -> Dequeued {
        loop {
            let (index, from_new) = match (self.new.front(), self.old.front()) {
                (Some(&index), _) => (index, true),
                (None, Some(&index)) => (index, false),
                (None, None) => return Dequeued::Empty,
            };
            if self.flows[index as usize].deficit <= 0 {
                self.flows[index as usize].deficit += i64::from(self.params.quantum);
                self.rotate(index, from_new);
                continue;
            }
            if let Some((packet, at)) = self.codel_dequeue(index, now, drops) {
                self.flows[index as usize].deficit -= i64::from(packet.bytes);
                return Dequeued::Packet(packet, at);
            }
            self.retire(index, from_new);
        }
    }

    fn classify(&self, packet: &Packet) -> u32 {
        let name = u64::from(packet.flow) * 2 + u64::from(packet.is_reverse());
        let hash = mix(self.perturbation ^ name) >> 32;
        ((hash * u64::from(self.params.flows)) >> 32) as u32
    }

    fn is_over_limit(&self) -> bool {
        match self.params.limit {
            Buffer::Packets(limit) => self.packets > limit,
            Buffer::Bytes(limit) => self.bytes > limit,
        }
    }

    /// Drops from the head of the flow with the most bytes, up to half of it or a batch of 64.
    fn drop_from_fattest(&mut self, drops: &mut Vec<Drop>) {
        let fattest =
            (0..self.flows.len()).max_by_key(|&index| (self.flows[index].bytes, std::cmp::Reverse(index)));
        let index = fattest.unwrap_or(0);
        let enough = self.flows[index].bytes / 2;
        let mut dropped = 0;
        for _ in 0..BATCH {
            let Some((packet, _)) = self.take(index as u32) else { break };
            dropped += u64::from(packet.bytes);
            drops.push(Drop { packet, why: Why::Forced });
            if dropped >= enough {
                break;
            }
        }
    }

    fn take(&mut self, index: u32) -> Option<(Packet, Time)> {
        let flow = &mut self.flows[index as usize];
        let (packet, at) = flow.packets.pop_front()?;
        flow.bytes -= u64::from(packet.bytes);
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some((packet, at))
    }

    /// Moves a flow that has used up its deficit to the end of the old flows.
    fn rotate(&mut self, index: u32, from_new: bool) {
        if from_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
        self.flows[index as usize].list = List::Old;
        self.old.push_back(index);
    }

    /// An empty new flow becomes old once, so that it cannot stay new by sending rarely; an empty old flow leaves.
    fn retire(&mut self, index: u32, from_new: bool) {
        if from_new {
            self.rotate(index, true);
        } else {
            self.old.pop_front();
            self.flows[index as usize].list = List::Idle;
        }
    }

    /// CoDel at the head of one flow (RFC 8289 section 5.5, `dequeue`).
    fn codel_dequeue(&mut self, index: u32, now: Time, drops: &mut Vec<Drop>) -> Option<(Packet, Time)> {
        let (mut head, mut ok_to_drop) = self.codel_take(index, now);
        if head.is_none() {
            self.flows[index as usize].codel.dropping = false;
            return None;
        }
        if self.flows[index as usize].codel.dropping {
            if !ok_to_drop {
                self.flows[index as usize].codel.dropping = false;
            }
            while self.flows[index as usize].codel.dropping
                && now >= self.flows[index as usize].codel.drop_next
            {
                self.flows[index as usize].codel.count += 1;
                if self.mark(&mut head) {
                    self.schedule(index);
                    return head;
                }
                drops.extend(head.map(|(packet, _)| Drop { packet, why: Why::Early }));
                (head, ok_to_drop) = self.codel_take(index, now);
                if ok_to_drop {
                    self.schedule(index);
                } else {
                    self.flows[index as usize].codel.dropping = false;
                }
            }
        } else if ok_to_drop {
            if !self.mark(&mut head) {
                drops.extend(head.map(|(packet, _)| Drop { packet, why: Why::Early }));
                (head, _) = self.codel_take(index, now);
            }
            self.start_dropping(index, now);
        }
        head
    }

    /// Takes the head and tells whether its delay has stayed above the target for an interval.
    fn codel_take(&mut self, index: u32, now: Time) -> (Option<(Packet, Time)>, bool) {
        let Some((packet, at)) = self.take(index) else {
            self.flows[index as usize].codel.first_above = None;
            return (None, false);
        };
        let flow = &mut self.flows[index as usize];
        let is_low = now.since(at) < self.params.target || flow.bytes <= MAX_PACKET;
        let ok_to_drop = match (is_low, flow.codel.first_above) {
            (true, _) => {
                flow.codel.first_above = None;
                false
            }
            (false, None) => {
                flow.codel.first_above = Some(now + self.params.interval);
                false
            }
            (false, Some(deadline)) => now >= deadline,
        };
        (Some((packet, at)), ok_to_drop)
    }

    fn mark(&self, head: &mut Option<(Packet, Time)>) -> bool {
        match head {
            Some((packet, _)) if self.params.ecn && packet.has(flag::ECT) => {
                packet.flags |= flag::CE;
                true
            }
            _ => false,
        }
    }

    /// Enters the dropping state; a recent one resumes near its rate (RFC 8289 section 5.5).
    fn start_dropping(&mut self, index: u32, now: Time) {
        let interval = self.params.interval;
        let codel = &mut self.flows[index as usize].codel;
        codel.dropping = true;
        let delta = codel.count.wrapping_sub(codel.last_count);
        let recent = now.0 < codel.drop_next.0.saturating_add(16 * interval.0);
        codel.count = if delta > 1 && delta < u32::MAX / 2 && recent { delta } else { 1 };
        codel.last_count = codel.count;
        codel.drop_next = now + control_law(interval, codel.count);
    }

    fn schedule(&mut self, index: u32) {
        let codel = &mut self.flows[index as usize].codel;
        codel.drop_next += control_law(self.params.interval, codel.count);
    }
}

/// A queue no longer than this is never CoDel's business (`maxpacket_`, RFC 8289 section 5.4).
const MAX_PACKET: u64 = 1514;

/// `interval / sqrt(count)` (RFC 8289 section 5.3).
fn control_law(interval: Dur, count: u32) -> Dur {
    Dur((interval.0 as f64 / f64::from(count.max(1)).sqrt()) as u64)
}
