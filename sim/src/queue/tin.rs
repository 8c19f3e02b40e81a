//! One tin of CAKE: set-associative flow queues under DRR++, with quanta divided among the flows of a host.

use super::Dropped;
use super::ack_filter::AckFilter;
use super::cobalt::{Cobalt, CobaltParams};
use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Rate, Time};
use std::collections::BTreeMap;

const QUEUES: usize = 1024;
const WAYS: usize = 8;

/// Lists that a queue may be in: sparse ones go first. A queue that has become empty decays until COBALT has no state left.
const SPARSE: usize = 0;
const BULK: usize = 1;
const DECAYING: usize = 2;

/// Deficits count 2^-16 of a byte, so that quanta divide exactly enough.
const BYTE: i64 = 1 << 16;

/// Which hosts share fairly before flows do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// None: flows alone.
    Flows,
    /// Hosts that send.
    DualSource,
    /// Hosts that receive.
    DualDestination,
    /// Both: the busier of the two counts.
    #[default]
    Triple,
}

/// The hosts of connections, by slot, numbered densely.
pub(super) struct Hosts {
    isolation: Isolation,
    numbers: BTreeMap<u32, u32>,
    /// Client and server.
    ends: Vec<[u32; 2]>,
}

impl Hosts {
    /// Returns the hosts of no connection.
    pub fn new(isolation: Isolation) -> Hosts {
        Hosts { isolation, numbers: BTreeMap::new(), ends: Vec::new() }
    }

    /// Records the hosts of a new connection in `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        let slot = slot as usize;
        self.ends.resize(self.ends.len().max(slot + 1), [0; 2]);
        self.ends[slot] = [self.assign_number(flow.client, 0), self.assign_number(flow.server, 1)];
    }

    /// Returns the numbers of a packet's source and destination host; 0 for a connection that was
    /// not opened here.
    pub fn find_ends(&self, packet: &Packet) -> [u32; 2] {
        let [client, server] = self.ends.get(packet.flow as usize).copied().unwrap_or_default();
        if packet.is_reverse() { [client, server] } else { [server, client] }
    }

    /// Returns the dense number of a host, and assigns one to a new host. Clients and servers have
    /// separate numbers: client 3 is not server 3.
    fn assign_number(&mut self, host: u32, end: u32) -> u32 {
        let next = self.numbers.len() as u32 * 2 + end;
        match self.numbers.get(&host) {
            Some(number) => number & !1 | end,
            None => {
                self.numbers.insert(host, next);
                next
            }
        }
    }
}

#[derive(Default)]
struct Queue {
    fifo: PacketFifo,
    deficit: i64,
    cobalt: Cobalt,
    /// Source and destination, from when the queue became busy.
    hosts: [u32; 2],
    /// Counted at its hosts; a flow that waits empty among the bulk flows is not.
    is_bulk: bool,
}

/// A tin.
pub(super) struct Tin {
    rate: Rate,
    cobalt: CobaltParams,
    quantum: i64,
    queues: Vec<Queue>,
    tags: Vec<u64>,
    /// Bytes per queue, for the search of the longest.
    bytes: Vec<u64>,
    lists: Lists,
    /// Bulk flows per source and per destination.
    loads: [Vec<u32>; 2],
    occupancy: Occupancy,
    /// The tin is below its threshold from this time on.
    clock: Time,
}

impl Tin {
    /// Returns an empty tin of 1024 queues with this share of the rate; `quantum` is in bytes.
    pub fn new(rate: Rate, cobalt: CobaltParams, quantum: u32) -> Tin {
        let mut lists = Lists::new(3);
        lists.reserve(QUEUES);
        Tin {
            rate,
            cobalt,
            quantum: i64::from(quantum) * BYTE,
            queues: (0..QUEUES).map(|_| Queue::default()).collect(),
            tags: vec![u64::MAX; QUEUES],
            bytes: vec![0; QUEUES],
            lists,
            loads: [Vec::new(), Vec::new()],
            occupancy: Occupancy::default(),
            clock: Time::ZERO,
        }
    }

    /// Returns the packets and bytes waiting.
    pub fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// Returns the time from which on the tin is below its threshold, `now` if it is already.
    pub fn ready_at(&self, now: Time) -> Time {
        self.clock.max(now)
    }

    /// Queues an arrival; `hash` identifies its flow, which gets a queue if it has none. Returns
    /// the ACK that the filter removes for it, `None` if it removes none.
    pub fn enqueue(
        &mut self,
        packet: Packet,
        hash: u64,
        hosts: &Hosts,
        filter: Option<AckFilter>,
        now: Time,
    ) -> Option<Packet> {
        if self.occupancy.packets == 0 {
            self.clock = self.clock.max(now);
        }
        let index = self.find_queue(hash);
        match self.lists.find_list(index as u32) {
            None | Some(DECAYING) => self.assign_queue(index, hosts, &packet),
            Some(BULK) => self.count_as_bulk(index),
            Some(_) => {}
        }
        self.occupancy.add(&packet);
        self.bytes[index] += u64::from(packet.bytes);
        let fifo = &mut self.queues[index].fifo;
        fifo.push(packet, now);
        let superfluous = fifo.remove(filter?.find_superfluous(fifo)?)?;
        self.occupancy.remove(&superfluous);
        self.bytes[index] -= u64::from(superfluous.bytes);
        Some(superfluous)
    }

    /// Returns the next packet with its arrival time by DRR++: sparse flows first, then bulk flows
    /// in turn; `None` if none is left. Packets that COBALT drops go into `drops`. Before that, as
    /// in Linux's `cake_dequeue`, it ages one decaying queue.
    pub fn dequeue(
        &mut self,
        hosts: &Hosts,
        now: Time,
        rng: &mut Stream,
        drops: &mut Vec<Dropped>,
    ) -> Option<(Packet, Time)> {
        if let Some(index) = self.lists.first(DECAYING) {
            self.queues[index as usize].cobalt.on_empty(&self.cobalt, now);
            self.retire(index, now);
        }
        loop {
            let index = self.lists.first(SPARSE).or_else(|| self.lists.first(BULK))?;
            if self.queues[index as usize].deficit <= 0 {
                self.lists.push(BULK, index);
                if !self.queues[index as usize].fifo.is_empty() {
                    self.count_as_bulk(index as usize);
                }
                self.queues[index as usize].deficit += self.quantum_share(hosts, index as usize);
                continue;
            }
            if let Some((packet, at)) = self.dequeue_from(index as usize, now, rng, drops) {
                self.queues[index as usize].deficit -= i64::from(packet.bytes) * BYTE;
                return Some((packet, at));
            }
            self.retire(index, now);
        }
    }

    /// Advances the tin's clock by a packet that has so many bytes on the wire.
    pub fn advance_clock(&mut self, bytes: u64) {
        self.clock += self.rate.tx_time(bytes);
    }

    /// Returns the bytes and the index of the longest queue, of equal ones the first; no bytes if
    /// all are empty.
    pub fn find_longest(&self) -> (u64, usize) {
        let most = self.bytes.iter().enumerate().max_by_key(|(index, bytes)| (**bytes, QUEUES - index));
        most.map_or((0, 0), |(index, bytes)| (*bytes, index))
    }

    /// Removes the head of a queue because the buffer is full, raises BLUE there, and returns it;
    /// `None` if the queue is empty.
    pub fn drop_head(&mut self, index: usize, now: Time) -> Option<Packet> {
        let queue = &mut self.queues[index];
        let (packet, _) = queue.fifo.pop()?;
        queue.cobalt.on_overflow(&self.cobalt, now);
        self.bytes[index] -= u64::from(packet.bytes);
        self.occupancy.remove(&packet);
        Some(packet)
    }

    /// Returns the index of a flow's queue: the one it has, a free one of its set, or its first
    /// choice if all eight are taken. The queue is tagged with the flow's hash.
    fn find_queue(&mut self, hash: u64) -> usize {
        let first = (hash >> 32) as usize % QUEUES;
        let set = first - first % WAYS;
        let way = |step: usize| set + (first + step) % WAYS;
        if let Some(own) = (0..WAYS).map(way).find(|&index| self.tags[index] == hash) {
            return own;
        }
        let free = (0..WAYS).map(way).find(|&index| self.lists.find_list(index as u32).is_none());
        let index = free.unwrap_or(first);
        self.tags[index] = hash;
        index
    }

    /// Returns the next packet of one queue under COBALT, with its arrival time; `None` if it has
    /// none. Packets dropped before it go into `drops`.
    fn dequeue_from(
        &mut self,
        index: usize,
        now: Time,
        rng: &mut Stream,
        drops: &mut Vec<Dropped>,
    ) -> Option<(Packet, Time)> {
        let queue = &mut self.queues[index];
        let before = queue.fifo.occupancy();
        let head = queue.cobalt.dequeue(&self.cobalt, &mut queue.fifo, now, rng, drops);
        let after = queue.fifo.occupancy();
        self.occupancy.shrink(before, after);
        self.bytes[index] = after.bytes;
        head
    }

    /// Assigns a queue to a new flow, which is sparse at first and has its share of the quantum.
    fn assign_queue(&mut self, index: usize, hosts: &Hosts, packet: &Packet) {
        let ends = hosts.find_ends(packet);
        for (loads, host) in self.loads.iter_mut().zip(ends) {
            loads.resize(loads.len().max(host as usize + 1), 0);
        }
        self.queues[index].hosts = ends;
        self.queues[index].deficit = self.quantum_share(hosts, index);
        self.lists.push(SPARSE, index as u32);
    }

    /// Counts a flow as bulk at its hosts, if it is not counted yet.
    fn count_as_bulk(&mut self, index: usize) {
        if !std::mem::replace(&mut self.queues[index].is_bulk, true) {
            self.change_loads(index, 1);
        }
    }

    /// Removes a flow without packets from the rounds, and no longer counts it at its hosts. Its
    /// queue is free for others once COBALT's state is at rest.
    fn retire(&mut self, index: u32, now: Time) {
        if self.queues[index as usize].cobalt.is_at_rest(now) {
            self.lists.remove(index);
        } else {
            self.lists.push(DECAYING, index);
        }
        if std::mem::take(&mut self.queues[index as usize].is_bulk) {
            self.change_loads(index as usize, -1);
        }
    }

    /// Changes the number of bulk flows at both hosts of a queue.
    fn change_loads(&mut self, index: usize, by: i32) {
        for (loads, host) in self.loads.iter_mut().zip(self.queues[index].hosts) {
            loads[host as usize] = loads[host as usize].wrapping_add_signed(by);
        }
    }

    /// Returns a flow's share of the quantum, in units of [`BYTE`]: divided by the bulk flows of
    /// its host, by the kind of isolation. The flow must have its queue assigned.
    fn quantum_share(&self, hosts: &Hosts, index: usize) -> i64 {
        let [source, destination] = self.queues[index].hosts;
        let load = |end: usize, host: u32| i64::from(self.loads[end][host as usize]);
        let divisor = match hosts.isolation {
            Isolation::Flows => 1,
            Isolation::DualSource => load(0, source),
            Isolation::DualDestination => load(1, destination),
            Isolation::Triple => load(0, source).max(load(1, destination)),
        };
        self.quantum / divisor.max(1)
    }
}
