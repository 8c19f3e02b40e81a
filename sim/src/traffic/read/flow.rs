//! Assembles connections from segments: determines the client and the round trip of the handshake, and splits
//! the payload of the chosen direction into writes at pauses of the sender.

use super::assemble::{Collector, Draft};
use super::coverage::Coverage;
use super::decode::{Endpoint, Segment, Tcp};
use super::ledger::{Ledger, reason};
use super::{Direction, class};
use crate::traffic::connection::{Kind, Write};
use crate::units::Dur;
use std::collections::HashMap;

/// A sender that was silent for longer begins a new write.
pub const WRITE_GAP: Dur = Dur::from_millis(500);
const QUIC_PORT: u16 = 443;
const FIRST_USER_PORT: u16 = 1024;

/// Both ends in a fixed order, and whether it is UDP.
type Key = (Endpoint, Endpoint, bool);

/// All flows of one capture.
pub struct Flows {
    direction: Direction,
    current: HashMap<Key, usize>,
    flows: Vec<Flow>,
}

struct Flow {
    client: Endpoint,
    server: Endpoint,
    kind: Kind,
    start: i64,
    packets: u64,
    handshake: Handshake,
    closed: bool,
    seen: Coverage,
    writes: Vec<Write>,
    last_data: i64,
}

/// Initial sequence numbers, and the round trip as it becomes known.
#[derive(Default)]
struct Handshake {
    client_isn: Option<u32>,
    server_isn: Option<u32>,
    syn_at: Option<i64>,
    /// Last SYN to first SYN-ACK: the part of the path beyond the capture point.
    far_half: Option<i64>,
    syn_ack_at: Option<i64>,
    rtt: Option<Dur>,
}

impl Flows {
    /// Returns an empty set of flows; `direction` says which payload counts.
    pub fn new(direction: Direction) -> Flows {
        Flows { direction, current: HashMap::new(), flows: Vec::new() }
    }

    /// Returns whether no segment was added.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Adds a segment to its flow.
    pub fn add(&mut self, segment: &Segment, ledger: &mut Ledger) {
        match &segment.tcp {
            Some(tcp) => self.add_tcp(segment, tcp, ledger),
            None if segment.from.port == QUIC_PORT || segment.to.port == QUIC_PORT => {
                self.add_quic(segment, ledger)
            }
            None => ledger.skip(reason::OTHER_UDP, 1, u64::from(segment.payload)),
        }
    }

    fn add_tcp(&mut self, segment: &Segment, tcp: &Tcp, ledger: &mut Ledger) {
        let key = key(segment);
        let place = match self.current.get(&key) {
            Some(&place) if !self.flows[place].is_ended_by(segment, tcp) => place,
            _ => self.open(key, segment, Kind::Tcp),
        };
        let direction = self.direction;
        let flow = &mut self.flows[place];
        flow.packets += 1;
        let from_client = segment.from == flow.client;
        flow.handshake.update(segment.at, tcp, from_client);
        flow.closed |= tcp.flags & (Tcp::FIN | Tcp::RST) != 0;
        // The text that some hosts put into a RST is no payload.
        if segment.payload == 0 || tcp.has(Tcp::RST) {
            return;
        }
        if from_client == (direction == Direction::Up) {
            flow.add_data(segment, tcp);
        } else {
            ledger.reverse_bytes += u64::from(segment.payload);
        }
    }

    fn add_quic(&mut self, segment: &Segment, ledger: &mut Ledger) {
        let key = key(segment);
        let place = match self.current.get(&key) {
            Some(&place) => place,
            None => self.open(key, segment, Kind::Quic),
        };
        let flow = &mut self.flows[place];
        flow.packets += 1;
        let from_client = segment.from == flow.client;
        if from_client == (self.direction == Direction::Up) {
            flow.write(segment.at, u64::from(segment.payload), true);
        } else {
            ledger.reverse_bytes += u64::from(segment.payload);
        }
    }

    fn open(&mut self, key: Key, segment: &Segment, kind: Kind) -> usize {
        let client_sends = match (kind, &segment.tcp) {
            (Kind::Tcp, Some(tcp)) => client_sends(segment, tcp),
            _ => segment.from.port != QUIC_PORT || segment.to.port == QUIC_PORT,
        };
        let (client, server) = match client_sends {
            true => (segment.from, segment.to),
            false => (segment.to, segment.from),
        };
        self.flows.push(Flow {
            client,
            server,
            kind,
            start: segment.at,
            packets: 0,
            handshake: Handshake::default(),
            closed: false,
            seen: Coverage::default(),
            writes: Vec::new(),
            last_data: segment.at,
        });
        self.current.insert(key, self.flows.len() - 1);
        self.flows.len() - 1
    }

    /// Hands the flows over; returns how many used TCP connections began before the capture.
    pub fn finish(self, ledger: &mut Ledger, collector: &mut Collector) -> u64 {
        let mut late = 0;
        for (order, flow) in self.flows.into_iter().enumerate() {
            if flow.writes.is_empty() {
                ledger.skip(reason::NO_PAYLOAD, flow.packets, 0);
                continue;
            }
            ledger.used += flow.packets;
            late += u64::from(flow.kind == Kind::Tcp && flow.handshake.client_isn.is_none());
            let draft = flow.into_draft(order as u64, ledger.index, collector);
            collector.connections.push(draft);
        }
        late
    }
}

fn key(segment: &Segment) -> Key {
    let (a, b) = (segment.from, segment.to);
    (a.min(b), a.max(b), segment.tcp.is_none())
}

/// Returns whether the sender of a flow's first packet is the client. The client is the sender of a SYN; else
/// the side whose port is not reserved for servers; else the first sender.
fn client_sends(segment: &Segment, tcp: &Tcp) -> bool {
    if tcp.has(Tcp::SYN) {
        return !tcp.has(Tcp::ACK);
    }
    let reserved = |end: Endpoint| end.port < FIRST_USER_PORT;
    !reserved(segment.from) || reserved(segment.to)
}

impl Flow {
    /// Returns whether `segment` is the SYN of another connection between the same ports.
    fn is_ended_by(&self, segment: &Segment, tcp: &Tcp) -> bool {
        if !tcp.has(Tcp::SYN) || tcp.has(Tcp::ACK) {
            return false;
        }
        self.closed || segment.from != self.client || self.handshake.client_isn != Some(tcp.seq)
    }

    fn add_data(&mut self, segment: &Segment, tcp: &Tcp) {
        let first_byte = tcp.seq.wrapping_add(u32::from(tcp.has(Tcp::SYN)));
        let isn =
            if segment.from == self.client { self.handshake.client_isn } else { self.handshake.server_isn };
        if let Some(isn) = isn {
            self.seen.begin(isn.wrapping_add(1));
        }
        let added = self.seen.add(first_byte, segment.payload);
        self.write(segment.at, added.bytes, added.in_front);
    }

    /// Adds payload. Bytes that fill a hole belong to the write that left it; retransmissions show that the
    /// sender was not idle.
    fn write(&mut self, at: i64, bytes: u64, in_front: bool) {
        let gap = Dur(at.saturating_sub(self.last_data).max(0) as u64);
        match self.writes.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if !in_front || gap <= WRITE_GAP => last.bytes += bytes,
            Some(_) => self.writes.push(Write { idle: gap, bytes }),
            None => self.writes.push(Write { idle: Dur::ZERO, bytes }),
        }
        self.last_data = self.last_data.max(at);
    }

    fn into_draft(self, order: u64, file: usize, collector: &mut Collector) -> Draft {
        Draft {
            start: self.start,
            file: file as u32,
            order,
            client: collector.hosts.id(self.client.host.to_string().as_bytes()),
            server: collector.hosts.id(self.server.host.to_string().as_bytes()),
            rtt: self.handshake.rtt.into(),
            duration: Some(Dur(self.last_data.saturating_sub(self.start).max(0) as u64)).into(),
            kind: self.kind,
            class: class::of_port(self.server.port),
            writes: self.writes.into(),
            pages: None,
        }
    }
}

impl Handshake {
    /// Measures the round trip: SYN to SYN-ACK plus SYN-ACK to ACK, which is the whole path wherever the
    /// capture was made. Of repeated SYNs the last one counts; of repeated SYN-ACKs the first ends the far
    /// half and the last begins the near one.
    fn update(&mut self, at: i64, tcp: &Tcp, from_client: bool) {
        match (from_client, tcp.has(Tcp::SYN), tcp.has(Tcp::ACK)) {
            (true, true, false) => {
                self.client_isn = Some(tcp.seq);
                (self.syn_at, self.far_half) = (Some(at), None);
            }
            (false, true, true) => {
                self.server_isn = Some(tcp.seq);
                self.client_isn.get_or_insert(tcp.ack.wrapping_sub(1));
                self.far_half = self.far_half.or(self.syn_at.map(|syn_at| at - syn_at));
                self.syn_ack_at = Some(at);
            }
            (true, false, true) if self.rtt.is_none() => {
                let total = self.far_half.zip(self.syn_ack_at).map(|(far, syn_ack_at)| far + at - syn_ack_at);
                self.rtt = total.filter(|ns| *ns > 0).map(|ns| Dur(ns as u64));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
