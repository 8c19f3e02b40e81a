//! Stochastic fairness queueing: flows hashed into FIFOs that are served in turn, without any control of delay.
//!
//! McKenney, Stochastic Fairness Queueing, INFOCOM 1990, in the form of Linux's sch_sfq as tc-sfq(8) describes it: round
//! robin by bytes, a quantum at a time; a flow that gets a queue waits at the end of the round; when the limit is
//! passed the longest queue loses its newest packet; the hash changes every few seconds if asked for, so that flows
//! that share a queue do not share it for ever. This is a comparator, not a policy of ours, hence in Rust.
//!
//! Flows are hashed by connection and direction (`flow_names.rs`), by a seeded mix and not Jenkins' hash. Sizes are IP
//! lengths, so the default quantum is 1500 bytes, not 1514 with Ethernet's header. `headdrop` and the RED inside each
//! queue, both off by default in Linux, are left out. A changed hash takes effect at the next arrival or departure. That
//! cannot be distinguished from a timer. A waiting packet for which the new hash has no room is dropped, as in Linux.

use super::flow_names::FlowNames;
use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::mix;
use crate::units::{Buffer, Dur, Time};
use std::collections::VecDeque;

/// Parameters (tc-sfq(8)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Queues that may hold packets at once.
    pub flows: u32,
    /// Buckets of the hash; flows of one bucket share a queue.
    pub divisor: u32,
    /// Packets that one queue holds at most.
    pub depth: u32,
    /// Limit over all queues.
    pub limit: Buffer,
    /// Bytes a queue may send per round.
    pub quantum: u32,
    /// Time after which the hash changes; `None` for never.
    pub perturb: Option<Dur>,
}

/// Sentinel: the bucket has no queue.
const NO_QUEUE: u32 = u32::MAX;

struct FlowQueue {
    fifo: PacketFifo,
    allotment: i64,
    bucket: u32,
}

/// An SFQ queue.
pub struct Sfq {
    params: Params,
    seed: u64,
    /// How often the hash has changed.
    epoch: u64,
    names: FlowNames,
    /// The queue of each bucket.
    buckets: Vec<u32>,
    queues: Vec<FlowQueue>,
    /// Queues by the number of packets in them, and of equal ones by when they came to that number.
    by_length: Lists,
    longest: usize,
    /// Queues with packets, in the order of their turns.
    round: VecDeque<u32>,
    occupancy: Occupancy,
}

impl Sfq {
    /// Returns an empty queue whose hashes are drawn from `seed`. Its memory grows with `flows`,
    /// `depth` and `divisor`; the divisor must not be 0.
    pub fn new(params: Params, seed: u64) -> Sfq {
        let queue = || FlowQueue { fifo: PacketFifo::default(), allotment: 0, bucket: 0 };
        let mut by_length = Lists::new(params.depth as usize + 1);
        by_length.reserve(params.flows as usize);
        (0..params.flows).for_each(|index| by_length.push(0, index));
        Sfq {
            params,
            seed,
            epoch: 0,
            names: FlowNames::default(),
            buckets: vec![NO_QUEUE; params.divisor as usize],
            queues: (0..params.flows).map(|_| queue()).collect(),
            by_length,
            longest: 0,
            round: VecDeque::new(),
            occupancy: Occupancy::default(),
        }
    }

    /// Records the name of a new connection in `slot`. It must precede the connection's packets.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.names.open(slot, flow);
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Queues an arrival; it goes into `drops` where its queue is full or none is free. Beyond the
    /// limit the newest packet of the longest queue is dropped.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        self.change_hash(now, drops);
        self.store(packet, now, drops);
        if self.occupancy.exceeds(self.params.limit) {
            self.drop_from_longest(drops);
        }
    }

    /// Returns the next packet of the queue whose turn it is, with its arrival time; packets for
    /// which a changed hash has no room go into `drops`.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        self.change_hash(now, drops);
        while let Some(&index) = self.round.front() {
            let queue = &mut self.queues[index as usize];
            if queue.allotment <= 0 {
                queue.allotment += i64::from(self.params.quantum);
                self.round.rotate_left(1);
                continue;
            }
            let (packet, at) = queue.fifo.pop().expect("a queue in the round holds packets");
            queue.allotment -= i64::from(packet.bytes);
            self.account_removal(index, &packet);
            if self.queues[index as usize].fifo.is_empty() {
                self.round.pop_front();
            }
            return Dequeued::Packet(packet, at);
        }
        Dequeued::Empty
    }

    /// Adds a packet that arrived `at` to its flow's queue, or to `drops` if there is no room. A
    /// queue that was empty gets a full quantum and the last turn.
    fn store(&mut self, packet: Packet, at: Time, drops: &mut Vec<Dropped>) {
        let bucket = self.choose_bucket(&packet);
        let index = match self.buckets[bucket as usize] {
            NO_QUEUE => self.by_length.last(0),
            taken => Some(taken),
        };
        let has_room =
            |index: &u32| self.queues[*index as usize].fifo.occupancy().packets < self.params.depth;
        let Some(index) = index.filter(has_room) else {
            drops.push(Dropped { packet, reason: DropReason::Forced });
            return;
        };
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(packet, at);
        self.occupancy.add(&packet);
        if queue.fifo.occupancy().packets == 1 {
            (queue.bucket, queue.allotment) = (bucket, i64::from(self.params.quantum));
            self.buckets[bucket as usize] = index;
            self.round.push_back(index);
        }
        self.update_length(index);
    }

    /// Drops the newest packet of the longest queue into `drops`; if all hold one packet, that of
    /// the queue whose turn it is. It panics if no packet waits.
    fn drop_from_longest(&mut self, drops: &mut Vec<Dropped>) {
        let next = self.round.front().copied();
        let found = if self.longest > 1 { self.by_length.last(self.longest) } else { next };
        let index = found.expect("more packets than the limit wait");
        let (packet, _) =
            self.queues[index as usize].fifo.pop_tail().expect("the longest queue holds packets");
        self.account_removal(index, &packet);
        if self.queues[index as usize].fifo.is_empty() {
            self.round.pop_front();
        }
        drops.push(Dropped { packet, reason: DropReason::Forced });
    }

    /// Updates the counts for a packet that has left queue `index`; an empty queue is free for
    /// another flow. The caller removes it from the round.
    fn account_removal(&mut self, index: u32, packet: &Packet) {
        self.occupancy.remove(packet);
        let queue = &self.queues[index as usize];
        if queue.fifo.is_empty() {
            self.buckets[queue.bucket as usize] = NO_QUEUE;
        }
        self.update_length(index);
    }

    /// Moves a queue to the list of its length, and updates the greatest length.
    fn update_length(&mut self, index: u32) {
        let length = self.queues[index as usize].fifo.occupancy().packets as usize;
        self.by_length.push(length, index);
        self.longest = self.longest.max(length);
        while self.longest > 0 && self.by_length.first(self.longest).is_none() {
            self.longest -= 1;
        }
    }

    /// Sorts the waiting packets anew if the hash has changed by now; those without room go into
    /// `drops`. Each flow keeps its order. Otherwise nothing happens.
    fn change_hash(&mut self, now: Time, drops: &mut Vec<Dropped>) {
        let Some(period) = self.params.perturb else { return };
        let epoch = now.0 / period.0.max(1);
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        let mut waiting = Vec::with_capacity(self.occupancy.packets as usize);
        for index in 0..self.params.flows {
            while let Some((packet, at)) = self.queues[index as usize].fifo.pop() {
                self.account_removal(index, &packet);
                waiting.push((packet, at));
            }
        }
        self.round.clear();
        waiting.into_iter().for_each(|(packet, at)| self.store(packet, at, drops));
    }

    /// Returns the bucket of a packet's flow, below the divisor, under the present hash.
    fn choose_bucket(&self, packet: &Packet) -> u32 {
        let hash = mix(mix(self.seed ^ self.epoch) ^ self.names.name(packet)) >> 32;
        ((hash * u64::from(self.params.divisor)) >> 32) as u32
    }
}
