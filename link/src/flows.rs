//! Assigns each live 5-tuple to a slot, and times its transfers.
//!
//! A transfer begins with the SYN or the first datagram. It ends with the delivery of its last byte
//! that was not acknowledged before. The next transfer of a connection begins with a request that
//! is sent while nothing of the previous answer is under way. A slot is freed when its flow is over
//! and none of its packets is under way, so memory grows only with the rows of finished transfers.

use crate::driver::Way;
use crate::header::{Ends, Header, TCP, Tcp, UDP};
use mousehole_sim::flow::{Class, Flow};
use mousehole_sim::packet::{DSCP_NQB, Kind, Packet, flag};
use mousehole_sim::traffic::read::classify_port;
use mousehole_sim::units::{Dur, Time};
use std::collections::HashMap;
use std::net::IpAddr;

/// The payload of a full segment, bytes. Policies count positions in segments, as the simulator's
/// TCP does.
const SEGMENT: u32 = 1448;
/// How long a closed connection keeps its slot, for packets that still follow.
const LINGER: Dur = Dur::from_millis(1000);
/// How long a silent TCP flow keeps its slot.
const IDLE_TCP: Dur = Dur::from_millis(600_000);
/// How long any other silent flow keeps its slot.
const IDLE: Dur = Dur::from_millis(30_000);
/// How long after the last delivery a transfer counts as over, and not as waiting for a
/// retransmission.
const QUIET: Dur = Dur::from_millis(300);
/// How long a silent flow of a few packets keeps its slot, unless it is TCP: for example a DNS
/// query.
const IDLE_FEW: Dur = Dur::from_millis(5_000);
/// The most packets of such a flow.
const FEW: u32 = 8;
/// How many slots are checked with each packet.
const SWEPT: usize = 4;
/// The most hosts that are numbered; those beyond share the last number.
const MOST_HOSTS: usize = 1 << 16;

/// The endpoints of a flow, by side, and its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
    protocol: u8,
}

impl Pair {
    /// Returns the endpoints of a packet from the client.
    fn client_ends(&self) -> Ends {
        Ends { from: self.client, to: self.server, protocol: self.protocol }
    }
}

/// The payload of a packet under way, which its flow learns on delivery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Bytes of payload.
    payload: u16,
    /// Sequence number after the payload, for TCP.
    end: Option<u32>,
}

/// A packet that has been assigned to a slot.
#[derive(Debug, Clone, Copy)]
pub struct Entered {
    /// The packet for the link, without a tag.
    pub packet: Packet,
    /// What the flow learns when the packet is delivered.
    pub carried: Carried,
    /// The flow, if this is its first packet.
    pub opened: Option<Flow>,
}

/// One transfer, finished or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Number of the flow.
    pub key: u64,
    /// Number of the transfer in its flow.
    pub write: u32,
    /// Number of the host that opened the flow.
    pub client: u32,
    /// Payload bytes delivered.
    pub bytes: u64,
    /// When it began.
    pub start: Time,
    /// When its first byte was sent.
    pub first_data: Time,
    /// When its first byte was delivered; [`Time::NEVER`] if it was not.
    pub first_byte: Time,
    /// When its last byte was delivered; [`Time::NEVER`] if that was not its end.
    pub end: Time,
    /// How many segments were retransmitted.
    pub retransmits: u32,
    /// Packets of its sender that were dropped.
    pub dropped: u32,
    /// Whether its payload went from the client's side to the server's.
    pub upload: bool,
    /// Whether it was QUIC, by its port.
    pub is_quic: bool,
}

/// What one direction of a flow has carried.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// Sequence number of the first byte.
    base: Option<u32>,
    /// Sequence number after the last byte that was sent.
    sent: u32,
    /// Sequence number after the last byte that was delivered.
    delivered: u32,
    /// The highest number that the other end has acknowledged.
    acknowledged: Option<u32>,
    /// Payload bytes delivered.
    bytes: u64,
    /// Packets under way.
    under_way: u32,
    fin: bool,
}

/// A transfer that may go on. Arrays are by the direction of the payload.
#[derive(Debug, Clone, Copy)]
struct Write {
    start: Time,
    first_data: [Time; 2],
    /// Sequence number of the first byte, for TCP, once that was sent.
    first_number: [u32; 2],
    first_byte: [Time; 2],
    end: [Time; 2],
    /// Bytes that were delivered before it.
    before: [u64; 2],
    retransmits: [u32; 2],
    dropped: [u32; 2],
}

impl Write {
    /// Returns a transfer that starts at `start`, when each direction had delivered `before` bytes.
    fn new(start: Time, before: [u64; 2]) -> Write {
        Write {
            start,
            first_data: [Time::NEVER; 2],
            first_number: [0; 2],
            first_byte: [Time::NEVER; 2],
            end: [Time::NEVER; 2],
            before,
            retransmits: [0; 2],
            dropped: [0; 2],
        }
    }
}

/// A flow and its present transfer.
struct Slot {
    pair: Pair,
    flow: Flow,
    /// The direction of the first packet.
    first: Way,
    last: Time,
    packets: u32,
    sides: [Side; 2],
    write: Write,
    /// How many transfers it had before this one.
    writes: u32,
    /// The previous transfer, until [`Flows::enter`] stores it.
    over: Option<Box<Row>>,
    /// Whether it was closed or reset.
    is_closed: bool,
    /// Whether it was reset while payload was under way.
    is_cut: bool,
    is_live: bool,
}

/// All flows.
#[derive(Default)]
pub struct Flows {
    by_pair: HashMap<Pair, u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    hosts: HashMap<IpAddr, u32>,
    opened: u64,
    /// The slot that was checked last.
    swept: usize,
    rows: Vec<Row>,
}

/// Returns whether sequence number `a` is after `b`.
fn is_after(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
}

impl Flows {
    /// Returns how many flows have been seen.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// Returns the most flows that were alive at once.
    pub fn most_live(&self) -> usize {
        self.slots.len()
    }

    /// Assigns a packet that its host sends at `now` to its flow, opening a flow if necessary, and
    /// counts it as under way. Each call also frees the slots of some flows that are over. `now`
    /// must not decrease. The caller then reports the packet's end by [`Flows::note_delivery`] or
    /// [`Flows::note_drop`].
    pub fn enter(&mut self, way: Way, header: &Header, now: Time) -> Entered {
        self.sweep(now);
        let ends = &header.ends;
        let (client, server) = if way == Way::Up { (ends.from, ends.to) } else { (ends.to, ends.from) };
        let pair = Pair { client, server, protocol: ends.protocol };
        let known = self.by_pair.get(&pair).copied().filter(|&slot| !self.begins_again(slot, way, header));
        let (slot, opened) = match known {
            Some(slot) => (slot, None),
            None => {
                let (slot, flow) = self.open(pair, way, now);
                (slot, Some(flow))
            }
        };
        let one = &mut self.slots[slot as usize];
        one.last = now;
        one.packets = one.packets.saturating_add(1);
        let kind = if header.ends.is_datagram() { Kind::Datagram } else { Kind::Quic };
        let mut packet = Packet::new(slot, kind, 0, header.bytes);
        packet.window_hint = 0;
        packet.flags = flag::bits_if(way == Way::Up, flag::REVERSE)
            | flag::bits_if(header.ect, flag::ECT)
            | flag::bits_if(header.l4s, flag::L4S)
            | flag::bits_if(header.ce, flag::CE)
            | flag::bits_if(header.dscp == DSCP_NQB && header.tcp.is_none(), flag::NQB);
        let mut carried = Carried { payload: header.payload, end: None };
        match &header.tcp {
            Some(tcp) => carried.end = Some(one.enter_tcp(&mut packet, way, header.payload, tcp, now)),
            None => one.note_data(way, header.payload, 0, now),
        }
        one.sides[way as usize].under_way += 1;
        self.rows.extend(one.over.take().map(|row| *row));
        Entered { packet, carried, opened }
    }

    /// Records that a packet of the flow in `slot` has reached its host at `at`. `carried` comes
    /// from [`Flows::enter`]. Bytes count once; those that were acknowledged before do not move the
    /// transfer's end.
    ///
    /// # Panics
    /// For a slot that was never opened.
    pub fn note_delivery(&mut self, way: Way, slot: u32, carried: Carried, at: Time) {
        let one = &mut self.slots[slot as usize];
        let side = &mut one.sides[way as usize];
        side.under_way -= 1;
        if carried.payload == 0 {
            return;
        }
        let write = &mut one.write;
        let is_first = carried.end.is_none_or(|number| {
            number.wrapping_sub(u32::from(carried.payload)) == write.first_number[way as usize]
        });
        if is_first && write.first_byte[way as usize] == Time::NEVER {
            write.first_byte[way as usize] = at;
        }
        let end = &mut write.end[way as usize];
        match carried.end {
            None => {
                side.bytes += u64::from(carried.payload);
                *end = at;
            }
            // What was acknowledged before was sent again without need.
            Some(number) if side.acknowledged.is_some_and(|known| !is_after(number, known)) => {}
            Some(number) => {
                if is_after(number, side.delivered) {
                    side.bytes += u64::from(number.wrapping_sub(side.delivered));
                    side.delivered = number;
                }
                *end = at;
            }
        }
    }

    /// Records that a packet of the flow in `slot` was dropped, which is counted in the flow's
    /// present transfer.
    ///
    /// # Panics
    /// For a slot that was never opened.
    pub fn note_drop(&mut self, way: Way, slot: u32) {
        let one = &mut self.slots[slot as usize];
        one.sides[way as usize].under_way -= 1;
        one.write.dropped[way as usize] += 1;
    }

    /// Returns all transfers of the run, which ended at `now`, sorted by flow and number; an
    /// unfinished one has no end.
    pub fn finish(mut self, now: Time) -> Vec<Row> {
        for slot in 0..self.slots.len() {
            if self.slots[slot].is_live {
                self.rows.extend(self.slots[slot].build_row(now));
            }
        }
        self.rows.sort_unstable_by_key(|row| (row.key, row.write));
        self.rows
    }

    /// Returns whether a packet opens a new connection between the same endpoints: a SYN with
    /// another sequence number while nothing of the slot's flow is under way.
    fn begins_again(&self, slot: u32, way: Way, header: &Header) -> bool {
        let one = &self.slots[slot as usize];
        let Some(tcp) = header.tcp.filter(|tcp| tcp.syn && tcp.acknowledged.is_none()) else { return false };
        let is_same = one.sides[way as usize].base == Some(tcp.sequence.wrapping_add(1));
        !is_same && one.sides.iter().all(|side| side.under_way == 0)
    }

    /// Opens a flow in a free slot, or in a new one, and releases an earlier flow of the same pair.
    /// The flow gets the next number and its class by its ports. Returns the slot and the flow.
    fn open(&mut self, pair: Pair, way: Way, now: Time) -> (u32, Flow) {
        if let Some(old) = self.by_pair.get(&pair).copied() {
            self.release(old, now);
        }
        let (asks, answers) =
            if way == Way::Up { (pair.client, pair.server) } else { (pair.server, pair.client) };
        let flow = Flow {
            key: self.opened,
            client: self.number_host(pair.client.0),
            server: self.number_host(pair.server.0),
            class: match pair.protocol {
                TCP | UDP => classify_port(answers.1).min(classify_port(asks.1)),
                _ => Class::Interactive,
            },
        };
        self.opened += 1;
        let one = Slot {
            pair,
            flow,
            first: way,
            last: now,
            packets: 0,
            sides: Default::default(),
            write: Write::new(now, [0; 2]),
            writes: 0,
            over: None,
            is_closed: false,
            is_cut: false,
            is_live: true,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = one;
                slot
            }
            None => {
                self.slots.push(one);
                self.slots.len() as u32 - 1
            }
        };
        self.by_pair.insert(pair, slot);
        (slot, flow)
    }

    /// Returns the number of a host, in the order of their first packets; a host beyond
    /// [`MOST_HOSTS`] shares the last number.
    fn number_host(&mut self, address: IpAddr) -> u32 {
        let next = self.hosts.len().min(MOST_HOSTS - 1) as u32;
        if self.hosts.len() >= MOST_HOSTS {
            return self.hosts.get(&address).copied().unwrap_or(next);
        }
        *self.hosts.entry(address).or_insert(next)
    }

    /// Frees the slots of flows that are over, among the next few slots; a sweep of all would delay
    /// packets.
    fn sweep(&mut self, now: Time) {
        for _ in 0..SWEPT.min(self.slots.len()) {
            self.swept = (self.swept + 1) % self.slots.len();
            let one = &self.slots[self.swept];
            let patience = match (one.is_closed, one.pair.protocol) {
                (true, _) => LINGER,
                (false, TCP) => IDLE_TCP,
                _ if one.packets <= FEW => IDLE_FEW,
                _ => IDLE,
            };
            let is_quiet = one.sides.iter().all(|side| side.under_way == 0);
            if one.is_live && is_quiet && now.since(one.last) > patience {
                self.release(self.swept as u32, now);
            }
        }
    }

    /// Frees a slot, forgets its pair and stores the row of its last transfer, if it had one.
    fn release(&mut self, slot: u32, now: Time) {
        let one = &mut self.slots[slot as usize];
        self.rows.extend(one.build_row(now));
        one.is_live = false;
        self.by_pair.remove(&one.pair);
        self.free.push(slot);
    }
}

impl Slot {
    /// Updates the flow by a TCP header and sets the packet's kind, number, position and flag of a
    /// retransmission. Numbers count segments of [`SEGMENT`] bytes, positions count bytes from the
    /// first. Returns the sequence number after the payload.
    fn enter_tcp(&mut self, packet: &mut Packet, way: Way, payload: u16, tcp: &Tcp, now: Time) -> u32 {
        let other = &mut self.sides[way.opposite() as usize];
        let acked = tcp.acknowledged.and_then(|number| {
            if other.acknowledged.is_none_or(|known| is_after(number, known)) {
                other.acknowledged = Some(number);
            }
            other.base.map(|base| number.wrapping_sub(base))
        });
        let side = &mut self.sides[way as usize];
        let begin = tcp.sequence.wrapping_add(u32::from(tcp.syn));
        if side.base.is_none() || tcp.syn {
            side.base = Some(begin);
            (side.sent, side.delivered) = (begin, begin);
        }
        let base = side.base.unwrap_or(begin);
        let end = begin.wrapping_add(u32::from(payload));
        let is_new = is_after(end, side.sent);
        (packet.kind, packet.seq) = match (tcp.syn, tcp.acknowledged.is_some()) {
            (true, false) => (Kind::Syn, 0),
            (true, true) => (Kind::SynAck, 0),
            _ if payload > 0 => (Kind::Data, count_segments(end.wrapping_sub(base)).saturating_sub(1)),
            _ => (Kind::Ack, count_segments(acked.unwrap_or(0))),
        };
        packet.position = match packet.kind {
            Kind::Data => end.wrapping_sub(base),
            Kind::Ack => acked.unwrap_or(0),
            _ => 0,
        };
        if payload > 0 {
            if is_new {
                self.note_data(way, payload, begin, now);
                self.sides[way as usize].sent = end;
            } else {
                packet.flags |= flag::RETRANSMISSION;
                self.write.retransmits[way as usize] += 1;
            }
        }
        let is_cut = |side: &Side| side.under_way > 0 && is_after(side.sent, side.delivered);
        if tcp.rst {
            self.is_cut |= self.sides.iter().any(is_cut);
            self.is_closed = true;
        }
        self.sides[way as usize].fin |= tcp.fin;
        self.is_closed |= self.sides.iter().all(|side| side.fin);
        end
    }

    /// Records payload that is sent for the first time, from sequence number `begin`. If it is a
    /// TCP request whose predecessor was answered, it ends the present transfer and begins the next
    /// one. Without payload nothing happens.
    fn note_data(&mut self, way: Way, payload: u16, begin: u32, now: Time) {
        if payload == 0 {
            return;
        }
        let answer = &self.sides[way.opposite() as usize];
        let is_answered = answer.bytes > self.write.before[way.opposite() as usize];
        if way == self.first && is_answered && answer.under_way == 0 && self.pair.protocol == TCP {
            // A request ends the previous transfer, however short the pause.
            let before =
                self.build_row(now).map(|row| Row { end: self.write.end[usize::from(row.upload)], ..row });
            self.over = before.filter(|row| row.end != Time::NEVER).map(Box::new);
            self.write = Write::new(now, self.sides.map(|side| side.bytes));
            self.writes += 1;
        }
        let first = &mut self.write.first_data[way as usize];
        if *first == Time::NEVER {
            (*first, self.write.first_number[way as usize]) = (now, begin);
        }
    }

    /// Returns the present transfer as it is at `now`; `None` if nothing was sent, or for protocols
    /// other than TCP and UDP. It has the direction that delivered more payload, and no end while
    /// it may go on or if it was cut by a reset.
    fn build_row(&self, now: Time) -> Option<Row> {
        if ![TCP, UDP].contains(&self.pair.protocol) || self.write.first_data == [Time::NEVER; 2] {
            return None;
        }
        let bytes: [u64; 2] =
            Way::BOTH.map(|way| self.sides[way as usize].bytes - self.write.before[way as usize]);
        let answer = self.first.opposite();
        let is_sent = self.write.first_data[answer as usize] != Time::NEVER;
        let way =
            if is_sent && bytes[answer as usize] >= bytes[self.first as usize] { answer } else { self.first };
        let side = &self.sides[way as usize];
        let end = self.write.end[way as usize];
        let is_whole = side.under_way == 0 && (self.pair.protocol == UDP || side.sent == side.delivered);
        let is_over = side.fin || self.is_closed || now.since(end.min(now)) >= QUIET;
        Some(Row {
            key: self.flow.key,
            write: self.writes,
            client: if self.first == Way::Up { self.flow.client } else { self.flow.server },
            bytes: bytes[way as usize],
            start: self.write.start,
            first_data: self.write.first_data[way as usize],
            first_byte: self.write.first_byte[way as usize],
            end: if is_whole && is_over && !self.is_cut { end } else { Time::NEVER },
            retransmits: self.write.retransmits[way as usize],
            dropped: self.write.dropped[way as usize],
            upload: way == Way::Up,
            is_quic: self.pair.client_ends().is_quic(),
        })
    }
}

/// Returns how many segments hold this many bytes.
fn count_segments(bytes: u32) -> u32 {
    bytes.div_ceil(SEGMENT)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
    const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    /// Returns a time in milliseconds.
    fn ms(number: u64) -> Time {
        Time(number * 1_000_000)
    }

    /// The packets of one connection.
    struct Talk {
        flows: Flows,
        port: u16,
    }

    impl Talk {
        /// Sends a packet at `at`.
        fn send(&mut self, way: Way, payload: u16, tcp: Tcp, at: Time) -> (Entered, Way) {
            let (client, server) = ((CLIENT, self.port), (SERVER, 80));
            let (from, to) = if way == Way::Up { (client, server) } else { (server, client) };
            let ends = Ends { from, to, protocol: TCP };
            let header = Header {
                ends,
                bytes: 40 + payload,
                payload,
                ect: false,
                l4s: false,
                ce: false,
                dscp: 0,
                tcp: Some(tcp),
            };
            (self.flows.enter(way, &header, at), way)
        }

        /// Delivers a packet at `at`.
        fn deliver(&mut self, (entered, way): (Entered, Way), at: Time) {
            self.flows.note_delivery(way, entered.packet.flow, entered.carried, at);
        }

        /// Sends a packet at `at` and delivers it 10 ms later.
        fn pass(&mut self, way: Way, payload: u16, tcp: Tcp, at: Time) -> Packet {
            let sent = self.send(way, payload, tcp, at);
            self.deliver(sent, at + Dur::from_millis(10));
            sent.0.packet
        }
    }

    /// Returns the header of a segment with an acknowledgement.
    fn build_tcp(sequence: u32, acknowledged: u32) -> Tcp {
        Tcp { sequence, acknowledged: Some(acknowledged), syn: false, fin: false, rst: false }
    }

    /// Returns the header of a SYN, or of a SYN-ACK if it acknowledges.
    fn build_syn(sequence: u32, acknowledged: Option<u32>) -> Tcp {
        Tcp { sequence, acknowledged, syn: true, fin: false, rst: false }
    }

    /// Opens a connection at `at` ms, whose server's sequence numbers wrap after 1000 bytes, and
    /// sends a request of 50 bytes.
    fn open_connection(port: u16, at: u64) -> Talk {
        let mut talk = Talk { flows: Flows::default(), port };
        assert_eq!(talk.pass(Way::Up, 0, build_syn(99, None), ms(at)).kind, Kind::Syn);
        assert_eq!(
            talk.pass(Way::Down, 0, build_syn(u32::MAX - 1000, Some(100)), ms(at + 10)).kind,
            Kind::SynAck
        );
        talk.pass(Way::Up, 50, build_tcp(100, u32::MAX - 999), ms(at + 20));
        talk
    }

    #[test]
    fn enter__distinguishes_quic_from_datagrams() {
        let kind = |port| {
            let ends = Ends { from: (CLIENT, 4000), to: (SERVER, port), protocol: UDP };
            let header = Header {
                ends,
                bytes: 128,
                payload: 100,
                ect: false,
                l4s: false,
                ce: false,
                dscp: 0,
                tcp: None,
            };
            Flows::default().enter(Way::Up, &header, ms(1)).packet.kind
        };
        assert_eq!([443, 5060].map(kind), [Kind::Quic, Kind::Datagram]);
    }

    const FIRST: u32 = u32::MAX - 999;

    #[test]
    fn enter__counts_segments_and_knows_what_is_sent_again() {
        let mut talk = open_connection(1, 0);
        let data = |talk: &mut Talk, number: u32, at| {
            talk.pass(Way::Down, 1448, build_tcp(FIRST.wrapping_add(number * 1448), 150), ms(at))
        };
        let packets = [data(&mut talk, 0, 30), data(&mut talk, 1, 31), data(&mut talk, 0, 50)];
        assert_eq!(packets.map(|packet| packet.seq), [0, 1, 0]);
        assert_eq!(packets.map(|packet| packet.has(flag::RETRANSMISSION)), [false, false, true]);
        assert!(packets.iter().all(|packet| packet.kind == Kind::Data && !packet.is_reverse()));
        let ack = talk.pass(Way::Up, 0, build_tcp(150, FIRST.wrapping_add(2 * 1448)), ms(60));
        assert_eq!((ack.kind, ack.seq, ack.is_reverse()), (Kind::Ack, 2, true));
    }

    #[test]
    fn rows__end_with_the_last_byte_that_was_not_acknowledged_before() {
        let mut talk = open_connection(1, 0);
        talk.pass(Way::Down, 1000, build_tcp(FIRST, 150), ms(40));
        // The second of three segments is lost, and sent again; the third is sent again without need.
        let (lost, _) = talk.send(Way::Down, 1000, build_tcp(FIRST.wrapping_add(1000), 150), ms(41));
        talk.flows.note_drop(Way::Down, lost.packet.flow);
        talk.pass(Way::Down, 500, build_tcp(FIRST.wrapping_add(2000), 150), ms(42));
        talk.pass(Way::Down, 1000, build_tcp(FIRST.wrapping_add(1000), 150), ms(300));
        talk.pass(Way::Up, 0, build_tcp(150, FIRST.wrapping_add(2500)), ms(310));
        talk.pass(Way::Down, 500, build_tcp(FIRST.wrapping_add(2000), 150), ms(600));
        let rows = talk.flows.finish(ms(2000));
        let [row] = rows[..] else { panic!("one transfer: {rows:?}") };
        assert_eq!((row.start, row.first_data, row.end), (ms(0), ms(40), ms(310)));
        assert_eq!(row.first_byte, ms(50));
        assert_eq!((row.bytes, row.retransmits, row.dropped, row.upload), (2500, 2, 1, false));
    }

    #[test]
    fn rows__a_request_after_an_answer_begins_the_next() {
        let mut talk = open_connection(1, 0);
        talk.pass(Way::Down, 700, build_tcp(FIRST, 150), ms(40));
        talk.pass(Way::Up, 30, build_tcp(150, FIRST.wrapping_add(700)), ms(500));
        let under_way = talk.send(Way::Down, 900, build_tcp(FIRST.wrapping_add(700), 180), ms(520));
        // A request that overlaps an answer belongs to the same transfer.
        talk.pass(Way::Up, 30, build_tcp(180, FIRST.wrapping_add(700)), ms(525));
        talk.deliver(under_way, ms(530));
        let rows = talk.flows.finish(ms(2000));
        let facts: Vec<_> =
            rows.iter().map(|row| (row.key, row.write, row.bytes, row.start, row.end)).collect();
        assert_eq!(facts, [(0, 0, 700, ms(0), ms(50)), (0, 1, 900, ms(500), ms(530))]);
    }

    #[test]
    fn rows__a_connection_cut_off_has_no_end() {
        let mut talk = open_connection(1, 0);
        talk.pass(Way::Down, 1000, build_tcp(FIRST, 150), ms(40));
        let _ = talk.send(Way::Down, 1000, build_tcp(FIRST.wrapping_add(1000), 150), ms(50));
        talk.pass(Way::Up, 0, Tcp { rst: true, ..build_tcp(150, FIRST) }, ms(55));
        assert_eq!(talk.flows.finish(ms(3000))[0].end, Time::NEVER);
        let mut talk = open_connection(1, 0);
        talk.pass(Way::Down, 1000, build_tcp(FIRST, 150), ms(40));
        talk.pass(Way::Up, 0, Tcp { rst: true, ..build_tcp(150, FIRST) }, ms(55));
        assert_eq!(talk.flows.finish(ms(60))[0].end, ms(50));
    }

    #[test]
    fn rows__uploads_and_datagrams() {
        let mut talk = open_connection(1, 0);
        talk.pass(Way::Up, 1400, build_tcp(150, FIRST), ms(30));
        talk.pass(Way::Down, 20, build_tcp(FIRST, 1550), ms(50));
        let row = talk.flows.finish(ms(2000))[0];
        assert_eq!((row.upload, row.bytes, row.end), (true, 1450, ms(40)));
        let mut flows = Flows::default();
        let ends = Ends { from: (CLIENT, 5), to: (SERVER, 443), protocol: UDP };
        let header =
            Header { ends, bytes: 128, payload: 100, ect: true, l4s: false, ce: false, dscp: 0, tcp: None };
        let sent = flows.enter(Way::Up, &header, ms(0));
        assert!(sent.packet.has(flag::ECT | flag::REVERSE) && sent.opened.is_some());
        flows.note_delivery(Way::Up, sent.packet.flow, sent.carried, ms(10));
        let back = Ends { from: ends.to, to: ends.from, ..ends };
        let answer = flows.enter(Way::Down, &Header { ends: back, payload: 900, ..header }, ms(20));
        assert!(answer.opened.is_none() && answer.packet.flow == sent.packet.flow);
        flows.note_delivery(Way::Down, answer.packet.flow, answer.carried, ms(30));
        let row = flows.finish(ms(1000))[0];
        assert_eq!((row.start, row.end, row.bytes, row.is_quic), (ms(0), ms(30), 900, true));
    }

    /// Of a million flows only the rows use memory: there are as many slots as flows alive at once.
    #[test]
    fn slots__are_reused_over_a_million_flows() {
        let mut flows = Flows::default();
        for number in 0..1_000_000u64 {
            let port = (number % 60_000) as u16;
            let ends = Ends { from: (CLIENT, port), to: (SERVER, 80), protocol: TCP };
            let header =
                Header { ends, bytes: 40, payload: 0, ect: false, l4s: false, ce: false, dscp: 0, tcp: None };
            let at = ms(number);
            for (tcp, payload) in [
                (build_syn(number as u32, None), 0),
                (Tcp { rst: true, ..build_tcp(number as u32 + 1, 0) }, 10),
            ] {
                let sent = flows.enter(Way::Up, &Header { tcp: Some(tcp), payload, ..header }, at);
                flows.note_delivery(Way::Up, sent.packet.flow, sent.carried, at);
            }
        }
        assert_eq!(flows.opened(), 1_000_000);
        assert!(flows.most_live() < 2_000, "{}", flows.most_live());
        assert!(size_of::<Row>() <= 72);
        assert_eq!(flows.finish(ms(1_002_000)).len(), 1_000_000);
    }
}
