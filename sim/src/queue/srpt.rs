//! Ideals that rank flows: the fewest remaining segments first (SRPT), or the least attained service (LAS).
//!
//! SRPT serves the flow whose transfer has the least data left (Schrage, "A Proof of the Optimality of the Shortest
//! Remaining Processing Time Discipline", 1968), as far as the waiting packets show it: the lesser of what
//! the first and the last of them carry. Nobody can deploy it, because sizes are not known. LAS serves the
//! flow that has been served least, in packets since its connection opened (Kleinrock, "Queueing Systems II",
//! 1976: foreground-background), and needs no sizes. Both are FIFO within a flow. Of flows of equal rank they serve the
//! one that reached the rank first; when full they drop the newest packet of the worst flow.
//! Work-conserving.
//!
//! A direction of a connection is a flow; packets without data have nothing remaining and go first.

use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
use crate::units::{Buffer, Time};

/// The property by which flows are ranked.
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
    /// The property by which flows are ranked.
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
    /// Returns an empty queue.
    pub fn new(params: Params) -> Srpt {
        Srpt { params, flows: Vec::new(), ranks: Ranks::new(), occupancy: Occupancy::default() }
    }

    /// Notifies the queue that a new connection has `slot`; it has attained no service.
    pub fn open(&mut self, slot: u32, _flow: &Flow) {
        for index in [slot as usize * 2, slot as usize * 2 + 1] {
            self.reserve(index);
            self.flows[index].attained = 0;
            self.update_rank(index);
        }
    }

    /// Returns whether it keeps state per connection, so that `open` must be called for every new one.
    pub fn is_flow_aware(&self) -> bool {
        self.params.rank == Rank::Attained
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Queues an arrival; beyond the limit the newest packets of the worst flows go into `drops`,
    /// perhaps the arrival itself.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        let index = packet.flow as usize * 2 + usize::from(packet.is_reverse());
        self.reserve(index);
        self.flows[index].fifo.push(packet, now);
        self.occupancy.add(&packet);
        self.update_rank(index);
        while self.occupancy.exceeds(self.params.limit) {
            self.drop_from_worst(drops);
        }
    }

    /// Returns the next packet with its arrival time: the first of the best flow, which has then
    /// attained one packet more. [`Dequeued::Empty`] if none waits.
    pub fn dequeue(&mut self) -> Dequeued {
        let Some(index) = self.ranks.best() else { return Dequeued::Empty };
        let entry = &mut self.flows[index as usize];
        let Some((packet, at)) = entry.fifo.pop() else { return Dequeued::Empty };
        entry.attained = entry.attained.saturating_add(1);
        self.occupancy.remove(&packet);
        self.update_rank(index as usize);
        Dequeued::Packet(packet, at)
    }

    /// Adds flows up to `index`.
    fn reserve(&mut self, index: usize) {
        if index >= self.flows.len() {
            self.flows.resize_with(index + 1, Entry::default);
            self.ranks.reserve(index + 1);
        }
    }

    /// Moves a flow to the rank that its packets or its attained service give it; a flow without
    /// packets has no rank.
    fn update_rank(&mut self, index: usize) {
        let entry = &self.flows[index];
        let rank = match (entry.fifo.head(), entry.fifo.tail()) {
            (Some(head), Some(tail)) => match self.params.rank {
                Rank::Remaining => Some(remaining(head).min(remaining(tail))),
                Rank::Attained => Some(entry.attained),
            },
            _ => None,
        };
        self.ranks.set_rank(index as u32, rank);
    }

    /// Drops the newest packet of the worst flow into `drops`, and updates that flow's rank;
    /// nothing happens if no flow has packets.
    fn drop_from_worst(&mut self, drops: &mut Vec<Dropped>) {
        let Some(index) = self.ranks.worst() else { return };
        if let Some((packet, _)) = self.flows[index as usize].fifo.pop_tail() {
            self.occupancy.remove(&packet);
            drops.push(Dropped { packet, reason: DropReason::Forced });
        }
        self.update_rank(index as usize);
    }
}

/// Returns the remaining segments that a packet shows; 0 for packets without data.
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
    /// Returns the ranks without flows.
    fn new() -> Ranks {
        Ranks { lists: Lists::new(1 << 16), bits: [vec![0; 1024], vec![0; 16], vec![0; 1]] }
    }

    /// Makes room for flows below `count`.
    fn reserve(&mut self, count: usize) {
        self.lists.reserve(count);
    }

    /// Returns the flow of least rank that has had this rank longest; `None` if no flow has a rank.
    fn best(&self) -> Option<u32> {
        self.find_rank(u64::trailing_zeros).and_then(|rank| self.lists.first(rank))
    }

    /// Returns the flow of greatest rank that reached this rank last; `None` if no flow has a rank.
    fn worst(&self) -> Option<u32> {
        self.find_rank(|word| 63 - word.leading_zeros()).and_then(|rank| self.lists.last(rank))
    }

    /// Moves a flow to the end of a rank, or with `None` out of the ranks; a flow that stays keeps
    /// its turn. The flow must have room.
    fn set_rank(&mut self, flow: u32, rank: Option<u16>) {
        let (old, new) = (self.lists.find_list(flow), rank.map(usize::from));
        if old == new {
            return;
        }
        match new {
            Some(rank) => self.lists.push(rank, flow),
            None => self.lists.remove(flow),
        }
        [old, new].into_iter().flatten().for_each(|rank| self.update_bitmaps(rank));
    }

    /// Updates the bitmaps of all levels for a rank whose list may have become empty or not empty.
    fn update_bitmaps(&mut self, rank: usize) {
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

    /// Returns the first or last rank in use, `None` if none is; `pick` selects a bit of a word
    /// that is not 0.
    fn find_rank(&self, pick: impl Fn(u64) -> u32) -> Option<usize> {
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
