//! FQ-CoDel: deficit round robin over hashed flow queues, each managed by CoDel, new flows first.
//!
//! RFC 8290 (the scheduler, sections 4.1 and 4.2) and RFC 8289 (CoDel, section 5). Defaults are those
//! of RFC 8290 section 5.2. This is a comparator, not a policy of ours, hence Rust.
//!
//! Flows are hashed by connection and direction (`flow_names.rs`). Deviations: the hash is a seeded mix, not Jenkins'; there is no CE
//! threshold (section 5.2.7, off by default). A flow has had its quantum when no credit is left: section 4.2 says
//! both "negative" and "at least a quantum", Linux has the latter. Sizes are IP lengths, so the default
//! quantum is 1500 bytes, not 1514 with Ethernet's header (section 5.2.4): with the 14 bytes left over a new flow's
//! second full packet would go with its first.

use super::codel::{CodelParams, QueueContext, State};
use super::flow_names::FlowNames;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow as Connection;
use crate::packet::Packet;
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

/// At overflow at most this many packets leave the fattest flow (RFC 8290 section 4.1).
const BATCH: u32 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Idle,
    New,
    Old,
}

struct Flow {
    fifo: PacketFifo,
    deficit: i64,
    list: List,
    codel: State,
}

/// An FQ-CoDel queue.
pub struct FqCodel {
    params: Params,
    perturbation: u64,
    names: FlowNames,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    occupancy: Occupancy,
}

impl FqCodel {
    /// Returns an empty queue whose hash is perturbed by `perturbation`.
    pub fn new(params: Params, perturbation: u64) -> FqCodel {
        let flow =
            || Flow { fifo: PacketFifo::default(), deficit: 0, list: List::Idle, codel: State::default() };
        FqCodel {
            params,
            perturbation,
            names: FlowNames::default(),
            flows: (0..params.flows).map(|_| flow()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            occupancy: Occupancy::default(),
        }
    }

    /// Notifies the queue that a new connection has `slot`.
    pub fn open(&mut self, slot: u32, flow: &Connection) {
        self.names.open(slot, flow);
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Queues an arrival (RFC 8290 section 4.1); packets dropped at overflow go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        let index = self.classify(&packet);
        let flow = &mut self.flows[index as usize];
        flow.fifo.push(packet, now);
        self.occupancy.add(&packet);
        if flow.list == List::Idle {
            flow.list = List::New;
            flow.deficit = i64::from(self.params.quantum);
            self.new.push_back(index);
        }
        if self.occupancy.exceeds(self.params.limit) {
            self.drop_from_fattest(drops);
        }
    }

    /// Returns the next packet (RFC 8290 section 4.2); packets that CoDel drops go into `drops`.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
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
        let hash = mix(self.perturbation ^ self.names.name(packet)) >> 32;
        ((hash * u64::from(self.params.flows)) >> 32) as u32
    }

    /// Drops half the packets of the flow with the most bytes, 64 at most, from its head.
    fn drop_from_fattest(&mut self, drops: &mut Vec<Dropped>) {
        let fattest = (0..self.flows.len())
            .max_by_key(|&index| (self.flows[index].fifo.occupancy().bytes, std::cmp::Reverse(index)));
        let index = fattest.unwrap_or(0);
        for _ in 0..self.flows[index].fifo.occupancy().packets.div_ceil(2).min(BATCH) {
            let Some((packet, _)) = self.pop_from(index as u32) else { break };
            drops.push(Dropped { packet, reason: DropReason::Forced });
        }
    }

    fn pop_from(&mut self, index: u32) -> Option<(Packet, Time)> {
        let (packet, at) = self.flows[index as usize].fifo.pop()?;
        self.occupancy.remove(&packet);
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

    /// Handles a flow without packets. An empty new flow becomes old once, so that it cannot stay new by
    /// sending rarely; an empty old flow leaves the lists.
    fn retire(&mut self, index: u32, from_new: bool) {
        if from_new {
            self.rotate(index, true);
        } else {
            self.old.pop_front();
            self.flows[index as usize].list = List::Idle;
        }
    }

    /// Runs CoDel at the head of one flow. Its backlog is that of the whole link, as in Linux.
    fn codel_dequeue(&mut self, index: u32, now: Time, drops: &mut Vec<Dropped>) -> Option<(Packet, Time)> {
        let Params { target, interval, ecn, .. } = self.params;
        let flow = &mut self.flows[index as usize];
        let before = flow.fifo.occupancy();
        let context = QueueContext { elsewhere: self.occupancy.bytes - before.bytes };
        let head =
            flow.codel.dequeue(&CodelParams { target, interval, ecn }, &mut flow.fifo, context, now, drops);
        self.occupancy.shrink(before, flow.fifo.occupancy());
        head
    }
}
