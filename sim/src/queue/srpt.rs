//! Ideals that rank flows: the fewest remaining segments first (SRPT), or the least attained service (LAS).
//!
//! SRPT serves the flow whose transfer has least left (Schrage, "A Proof of the Optimality of the Shortest
//! Remaining Processing Time Discipline", 1968), as far as the packets waiting tell: the less of what the
//! first and the last of them say. Nobody can deploy it, for sizes are not known. LAS serves the flow that
//! has been served least, in packets since its connection opened (Kleinrock, "Queueing Systems II", 1976:
//! foreground-background), and needs no sizes. Both are FIFO within a flow, serve of flows of equal rank the
//! one that came to it first, and drop the newest packet of the worst flow when full. Work-conserving.
//!
//! A direction of a connection is a flow; packets without data have nothing remaining and go first.

use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
use crate::units::{Buffer, Time};

/// By what flows are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rank {
    /// Fewest remaining segments first.
    #[default]
    Remaining,
    /// Fewest packets served first.
    Attained,
}

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// By what flows are ranked.
    pub rank: Rank,
    /// Limit over all flows.
    pub limit: Buffer,
}

impl Default for Params {
    fn default() -> Params {
        Params { rank: Rank::Remaining, limit: Buffer::Packets(1000) }
    }
}

#[derive(Default)]
struct Entry {
    fifo: PacketFifo,
    attained: u16,
}

/// A ranking queue.
pub struct Srpt {
    params: Params,
    flows: Vec<Entry>,
    ranks: Ranks,
    occupancy: Occupancy,
}

impl Srpt {
    /// An empty queue.
    pub fn new(params: Params) -> Srpt {
        Srpt { params, flows: Vec::new(), ranks: Ranks::new(), occupancy: Occupancy::default() }
    }

    /// A connection took over `slot`: it has attained nothing.
    pub fn open(&mut self, slot: u32, _flow: &Flow) {
        for index in [slot as usize * 2, slot as usize * 2 + 1] {
            self.reserve(index);
            self.flows[index].attained = 0;
            self.place(index);
        }
    }

    /// Whether it must be told of every connection.
    pub fn knows_flows(&self) -> bool {
        self.params.rank == Rank::Attained
    }

    /// Packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Takes an arrival.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        let index = packet.flow as usize * 2 + usize::from(packet.is_reverse());
        self.reserve(index);
        self.flows[index].fifo.push(packet, now);
        self.occupancy.add(&packet);
        self.place(index);
        while self.occupancy.exceeds(self.params.limit) {
            self.drop_from_worst(drops);
        }
    }

    /// Gives the next packet: the first of the best flow.
    pub fn dequeue(&mut self) -> Dequeued {
        let Some(index) = self.ranks.best() else { return Dequeued::Empty };
        let entry = &mut self.flows[index as usize];
        let Some((packet, at)) = entry.fifo.pop() else { return Dequeued::Empty };
        entry.attained = entry.attained.saturating_add(1);
        self.occupancy.remove(&packet);
        self.place(index as usize);
        Dequeued::Packet(packet, at)
    }

    fn reserve(&mut self, index: usize) {
        if index >= self.flows.len() {
            self.flows.resize_with(index + 1, Entry::default);
            self.ranks.reserve(index + 1);
        }
    }

    /// Puts a flow where its packets say it belongs.
    fn place(&mut self, index: usize) {
        let entry = &self.flows[index];
        let rank = match (entry.fifo.head(), entry.fifo.tail()) {
            (Some(head), Some(tail)) => match self.params.rank {
                Rank::Remaining => Some(remaining(head).min(remaining(tail))),
                Rank::Attained => Some(entry.attained),
            },
            _ => None,
        };
        self.ranks.place(index as u32, rank);
    }

    fn drop_from_worst(&mut self, drops: &mut Vec<Dropped>) {
        let Some(index) = self.ranks.worst() else { return };
        if let Some((packet, _)) = self.flows[index as usize].fifo.pop_tail() {
            self.occupancy.remove(&packet);
            drops.push(Dropped { packet, reason: DropReason::Forced });
        }
        self.place(index as usize);
    }
}

fn remaining(packet: &Packet) -> u16 {
    if packet.kind == Kind::Data { packet.remaining } else { 0 }
}

/// Flows by rank: a list for each of the 65,536 ranks, and three levels of bitmaps that find the first and
/// the last list in use, so that every step takes the same few instructions.
struct Ranks {
    lists: Lists,
    bits: [Vec<u64>; 3],
}

impl Ranks {
    fn new() -> Ranks {
        Ranks { lists: Lists::new(1 << 16), bits: [vec![0; 1024], vec![0; 16], vec![0; 1]] }
    }

    fn reserve(&mut self, count: usize) {
        self.lists.reserve(count);
    }

    /// The flow of least rank that has waited longest in it.
    fn best(&self) -> Option<u32> {
        self.find(u64::trailing_zeros).and_then(|rank| self.lists.first(rank))
    }

    /// The flow of greatest rank that came to it last.
    fn worst(&self) -> Option<u32> {
        self.find(|word| 63 - word.leading_zeros()).and_then(|rank| self.lists.last(rank))
    }

    /// Moves a flow to a rank, or out; one that stays keeps its turn.
    fn place(&mut self, flow: u32, rank: Option<u16>) {
        let (old, new) = (self.lists.list_of(flow), rank.map(usize::from));
        if old == new {
            return;
        }
        match new {
            Some(rank) => self.lists.push(rank, flow),
            None => self.lists.remove(flow),
        }
        [old, new].into_iter().flatten().for_each(|rank| self.note(rank));
    }

    fn note(&mut self, rank: usize) {
        let mut is_used = self.lists.first(rank).is_some();
        let mut at = rank;
        for level in &mut self.bits {
            let (word, bit) = (at / 64, 1u64 << (at % 64));
            if is_used {
                level[word] |= bit;
            } else {
                level[word] &= !bit;
            }
            (is_used, at) = (level[word] != 0, word);
        }
    }

    fn find(&self, pick: impl Fn(u64) -> u32) -> Option<usize> {
        let mut at = 0;
        for level in self.bits.iter().rev() {
            if level[at] == 0 {
                return None;
            }
            at = at * 64 + pick(level[at]) as usize;
        }
        Some(at)
    }
}
