//! Assembles connections from segments: determines the client and the round trip of the handshake, and splits
//! the payload of the chosen direction into writes at pauses of the sender. Protocols other than TCP and QUIC become
//! flows of datagrams, which are stored packet by packet.
//!
//! The server may be known only at the end of the capture, so both sides' payload is stored until then. If memory does
//! not hold all flows, those of one client in 2, 4, 8 … are sampled (see [`super::sampling`]); the client is
//! the end with the higher port, since nothing else is known when a flow begins.

use super::assemble::Collector;
use super::class;
use super::coverage::Coverage;
use super::decode::{Endpoint, Segment, Tcp};
use super::draft::Draft;
use super::input::file_name;
use super::ledger::{Ledger, reason};
use super::options::Direction;
use super::orientation::Shares;
use super::{pairing, sampling};
use crate::traffic::CaptureCounts;
use crate::traffic::class::head::Head;
use crate::traffic::class::{FlowClass, Observed, Protocol};
use crate::traffic::connection::{Kind, ServerThink, Write, Writes};
use crate::traffic::datagrams::{Datagram, Datagrams, MOST_BYTES, SILENCE, Service, Tunnel};
use crate::traffic::note::{Note, NoteKind};
use crate::units::Dur;
use etherparse::IpNumber;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::Write as _;
use std::net::IpAddr;

/// A sender that was silent for longer begins a new write.
pub const WRITE_GAP: Dur = Dur::from_millis(500);
const QUIC_PORT: u16 = 443;
/// The most answers of a side from which the server's think time is measured.
const MOST_ANSWERS: usize = 64;
/// Number of recent packets of a flow that are stored.
const RECENT: usize = 4;
/// A packet passes from one interface of a host to another within this time, nanoseconds.
const PASSING: i64 = 5_000_000;
/// The same connection behind a translation of addresses begins within this time, nanoseconds.
const TRANSLATION: i64 = 50_000_000;
/// The most recent SYNs that are stored.
const MOST_SYNS: usize = 1024;
/// Bytes of memory that count as one row of the budget.
const ROW: usize = 128;
/// Bytes per flow in the table of flows.
const ENTRY: usize = 128;
/// Packets of a flow between two measurements of its memory.
const LOOK: u64 = 16;
/// Fewer connections do not show how a capture was made.
const FEW: u64 = 5;
/// Data so far before a side's initial sequence number belongs to another SYN-ACK than the stored one.
const FAR_BEHIND: i32 = -(1 << 20);

/// Both ends in a fixed order, and IP's protocol.
type Key = (Endpoint, Endpoint, u8);

/// All flows of one capture.
pub struct Flows {
    direction: Direction,
    /// Packets that the capture has several times.
    copies: Amount,
    syns: Syns,
    current: HashMap<Key, usize>,
    /// The flow of the last packet; that of the next is often the same.
    recent: Option<(Key, usize)>,
    flows: Vec<Flow>,
    /// Number of packets so far.
    packets: u64,
    /// The level of sampling when flows were last dropped, and the packets that were not sampled.
    level: u8,
    not_sampled: Amount,
}

/// A number of packets or flows, and their bytes.
#[derive(Default, Clone, Copy)]
struct Amount {
    number: u64,
    bytes: u64,
}

impl Amount {
    /// Counts one packet or flow.
    fn add(&mut self, bytes: u64) {
        (self.number, self.bytes) = (self.number + 1, self.bytes + bytes);
    }
}

/// Sums over all flows of a capture, for its account and its notes.
#[derive(Default)]
struct Totals {
    counts: CaptureCounts,
    /// Connections that the capture has a second time, with other addresses.
    copies: Amount,
    /// TCP connections that are used.
    connections: u64,
    /// Those among them with captured packets of one direction only.
    one_sided: u64,
    /// Those among them that began before the capture, with their payload.
    late: Amount,
    tunnels: BTreeMap<Tunnel, Amount>,
}

/// A flow while its packets are read.
struct Flow {
    /// Both ends in the order of the key; a side is an index into this.
    ends: [Endpoint; 2],
    /// The unit by which it is sampled, as in [`pairing::sampling_unit`].
    unit: (u64, u64),
    /// The number of its first packet.
    order: u64,
    /// Rows of the budget that were counted for it.
    rows: u64,
    kind: Kind,
    start: i64,
    packets: u64,
    /// Bytes of its packets on the wire.
    wire: u64,
    /// The sender of the first packet.
    first_sender: usize,
    /// The interface of the first packet, 0 if the capture does not say.
    interface: u32,
    /// Whether each side has sent a packet.
    has_sent: [bool; 2],
    /// The first bytes of the first packet with payload.
    head: Head,
    /// Recent packets, to recognise copies of them from another interface.
    recent: [Seen; RECENT],
    handshake: Handshake,
    closed: bool,
    observed: Observed,
    sides: [Side; 2],
    /// The side that sent new data last, and when.
    turn: Option<(usize, i64)>,
    /// IP's protocol.
    protocol: u8,
    /// Its packets if it is [`Kind::Datagrams`]; those of side 1 are reverse.
    datagrams: Vec<Datagram>,
}

/// The data that one side has sent.
#[derive(Default)]
struct Side {
    /// Initial sequence number.
    isn: Option<u32>,
    /// Initial sequence number of an earlier SYN-ACK that differed.
    rival_isn: Option<u32>,
    seen: Coverage,
    writes: Vec<Write>,
    last_data: i64,
    /// Times from the other side's last new data to this side's new data, for its first [`MOST_ANSWERS`] answers, ns.
    answers: Vec<i64>,
    /// Sequence number of this side's first packet.
    first_number: Option<u32>,
    /// The latest acknowledgement of this side's data, as long as no packet of this side was seen.
    acknowledged: Option<u32>,
}

/// A recent packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    at: i64,
    interface: u32,
    side: usize,
    /// A hash of a packet among those of one side: sequence numbers and length, or the first bytes of the payload.
    mark: u64,
}

/// The client of a connection, as far as packets show it, and the round trip as it becomes known.
#[derive(Default)]
struct Handshake {
    /// The sender of the first SYN.
    syn_by: Option<usize>,
    /// Which sides have sent a SYN-ACK.
    syn_ack_by: [bool; 2],
    /// The side that first acknowledged a SYN-ACK.
    completed_by: Option<usize>,
    syn_at: Option<i64>,
    /// Last SYN to first SYN-ACK: the part of the path beyond the capture point.
    far_half: Option<i64>,
    syn_ack_at: Option<i64>,
    rtt: Option<Dur>,
}

impl Flows {
    /// Returns an empty set of flows; the payload in `direction` counts.
    pub fn new(direction: Direction) -> Flows {
        Flows {
            direction,
            copies: Amount::default(),
            syns: Syns::default(),
            current: HashMap::new(),
            recent: None,
            flows: Vec::new(),
            packets: 0,
            level: 0,
            not_sampled: Amount::default(),
        }
    }

    /// Returns whether no segment was added.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Adds a segment to its flow, unless the flow is not in the sample that memory holds. Segments come in the order
    /// of the capture. Growing memory may thin the sample, as in [`Collector::count_held_rows`], and drop flows.
    pub fn add(&mut self, segment: &Segment, ledger: &mut Ledger, collector: &mut Collector) {
        self.packets += 1;
        self.syns.add(segment);
        let Some((place, side)) = self.find_or_open(segment, ledger, collector) else {
            self.not_sampled.add(u64::from(segment.wire));
            return;
        };
        match &segment.tcp {
            Some(tcp) => self.add_tcp((place, side), segment, tcp),
            None => self.add_datagram((place, side), segment),
        }
        let flow = &mut self.flows[place];
        if flow.packets.is_multiple_of(LOOK) {
            let unit = flow.unit;
            let more = flow.count_growth();
            if more > 0 {
                collector.count_held_rows(more, unit);
                self.thin(ledger, collector);
            }
        }
    }

    /// Returns the index of a segment's flow and the side that sent it; a new flow is opened if needed, and its memory
    /// counted, which may thin the sample. `None` if the flow is not in the sample.
    fn find_or_open(
        &mut self,
        segment: &Segment,
        ledger: &mut Ledger,
        collector: &mut Collector,
    ) -> Option<(usize, usize)> {
        let (key, side) = key_and_side(segment);
        let known = self.find(&key);
        let (kind, is_known) = match &segment.tcp {
            Some(tcp) => (Kind::Tcp, known.is_some_and(|place| !self.flows[place].is_ended_by(side, tcp))),
            // A flow is QUIC from the first long header on, and on its port.
            None => {
                let is_on_port = segment.from.port == QUIC_PORT || segment.to.port == QUIC_PORT;
                let is_quic = segment.is_quic || is_on_port && segment.protocol == IpNumber::UDP.0;
                let kind = if is_quic { Kind::Quic } else { Kind::Datagrams };
                (kind, known.is_some_and(|place| self.flows[place].is_continued_by(segment, kind)))
            }
        };
        if let Some(place) = known.filter(|_| is_known) {
            return Some((place, side));
        }
        let unit = sampling_unit(&key);
        if !collector.is_sampled(unit.0, unit.1) {
            return None;
        }
        let is_kept = collector.count_held_rows(((size_of::<Flow>() + ENTRY) / ROW) as u64, unit);
        self.thin(ledger, collector);
        is_kept.then(|| (self.open(key, unit, side, segment, kind), side))
    }

    /// Drops the flows that are no longer in the sample, counts them in `ledger` and renumbers the others. Does nothing
    /// if the level of sampling is that of the last call.
    fn thin(&mut self, ledger: &mut Ledger, collector: &Collector) {
        if collector.level() == self.level {
            return;
        }
        self.level = collector.level();
        let mut next = 0;
        let place = |flow: &Flow| {
            let is_kept = collector.is_sampled(flow.unit.0, flow.unit.1);
            next += usize::from(is_kept);
            is_kept.then(|| next - 1)
        };
        let places: Vec<Option<usize>> = self.flows.iter().map(place).collect();
        self.recent = None;
        self.current.retain(|_, place| places[*place].inspect(|new| *place = *new).is_some());
        let mut places = places.into_iter();
        self.flows.retain(|flow| {
            let is_kept = places.next().flatten().is_some();
            if !is_kept {
                ledger.skip_connection(reason::NOT_SAMPLED, flow.packets, flow.wire);
            }
            is_kept
        });
    }

    /// Adds a TCP segment to the flow of index `place`, sent by `side`; ignores copies.
    fn add_tcp(&mut self, (place, side): (usize, usize), segment: &Segment, tcp: &Tcp) {
        let flow = &mut self.flows[place];
        flow.count_segment(segment, side);
        let mark = u64::from(tcp.seq) << 32 | u64::from(segment.payload) << 8 | u64::from(tcp.flags);
        if flow.is_copy(Seen {
            at: segment.at,
            interface: segment.interface,
            side,
            mark: mark ^ u64::from(tcp.ack),
        }) {
            self.copies.add(u64::from(segment.wire));
            return;
        }
        flow.sides[side].first_number.get_or_insert(tcp.seq);
        flow.track_handshake(segment.at, tcp, side);
        flow.infer_data(segment.at, tcp, side);
        flow.closed |= tcp.flags & (Tcp::FIN | Tcp::RST) != 0;
        // The text that some hosts put into a RST is no payload.
        if segment.payload > 0 && !tcp.has_flags(Tcp::RST) {
            flow.observed.add(segment.at, side, segment.head);
            let is_new = flow.sides[side].add_data(segment, tcp);
            flow.record_turn(segment.at, side, is_new);
        }
    }

    /// Adds a packet that is not TCP to the flow of index `place`, sent by `side`; ignores copies.
    fn add_datagram(&mut self, (place, side): (usize, usize), segment: &Segment) {
        let flow = &mut self.flows[place];
        flow.count_segment(segment, side);
        let seen = |mark| Seen { at: segment.at, interface: segment.interface, side, mark };
        if segment.head.hash_payload().is_some_and(|mark| flow.is_copy(seen(mark))) {
            self.copies.add(u64::from(segment.wire));
            return;
        }
        flow.observed.add(segment.at, side, segment.head);
        match flow.kind {
            Kind::Datagrams => flow.push_datagrams(segment, side),
            Kind::Tcp | Kind::Quic => {
                flow.sides[side].add_bytes(segment.at, u64::from(segment.payload), true)
            }
        }
    }

    /// Returns the index of the current flow of these ends, if any, and remembers it as the recent one.
    fn find(&mut self, key: &Key) -> Option<usize> {
        if let Some((_, place)) = self.recent.filter(|(recent, _)| recent == key) {
            return Some(place);
        }
        let place = *self.current.get(key)?;
        self.recent = Some((*key, place));
        Some(place)
    }

    /// Opens a flow at its first segment, sent by `side`, as the current one of `key`. Returns its index. The segment
    /// itself is not counted yet.
    fn open(&mut self, key: Key, unit: (u64, u64), side: usize, segment: &Segment, kind: Kind) -> usize {
        let from_start = || Side { last_data: segment.at, ..Side::default() };
        self.flows.push(Flow {
            ends: [key.0, key.1],
            unit,
            order: self.packets,
            rows: ((size_of::<Flow>() + ENTRY) / ROW) as u64,
            kind,
            start: segment.at,
            packets: 0,
            wire: 0,
            first_sender: side,
            interface: segment.interface,
            has_sent: [false; 2],
            head: Head::default(),
            recent: [Seen::default(); RECENT],
            handshake: Handshake::default(),
            closed: false,
            sides: [from_start(), from_start()],
            observed: Observed::default(),
            turn: None,
            protocol: segment.protocol,
            datagrams: Vec::new(),
        });
        let place = self.flows.len() - 1;
        self.current.insert(key, place);
        self.recent = Some((key, place));
        place
    }

    /// Adds the flows to the collector as connections, in the order of their first packets, and completes the account
    /// in `ledger.capture` and the notes. Flows that are copies, not sampled or without payload are counted as skipped.
    pub fn finish(mut self, ledger: &mut Ledger, collector: &mut Collector) {
        collector.end_rows();
        self.thin(ledger, collector);
        if self.not_sampled.number > 0 {
            ledger.skip(reason::NOT_SAMPLED, self.not_sampled.number, self.not_sampled.bytes);
        }
        let copies = self.find_copies();
        let clients = find_clients(&self.flows);
        let mut totals = Totals { counts: ledger.capture.unwrap_or_default(), ..Totals::default() };
        for ((place, flow), client) in self.flows.into_iter().enumerate().zip(clients) {
            if copies.contains(&place) {
                totals.copies.add(flow.wire);
                ledger.skip_connection(reason::COPY, flow.packets, flow.wire);
                continue;
            }
            let sender = if self.direction == Direction::Up { client } else { 1 - client };
            if totals.count_flow(&flow, (client, sender), ledger) {
                let (client_unit, connection) = flow.unit;
                let draft = flow.into_draft((client, sender), ledger.index, collector);
                collector.push_as(draft, client_unit, connection);
            }
        }
        ledger.capture = Some(totals.counts);
        totals.to_notes(&ledger.path, self.copies).into_iter().for_each(|note| collector.add_note(note));
    }

    /// Returns the indices of flows that the capture has a second time, with other addresses.
    fn find_copies(&self) -> HashSet<usize> {
        let mut copies = find_translated(&self.flows);
        if self.level > 0 {
            // Some copies are in the sample without their originals.
            copies.extend(self.syns.find_translated(&self.flows));
        }
        copies
    }
}

impl Totals {
    /// Counts a flow whose client is side `client` and whose payload of side `sender` is used, here and in `ledger`.
    /// Returns whether it is used; a flow without payload is counted as skipped, except one of datagrams.
    fn count_flow(&mut self, flow: &Flow, (client, sender): (usize, usize), ledger: &mut Ledger) -> bool {
        flow.add_to_counts(&mut self.counts);
        let payload = flow.sides[sender].bytes();
        ledger.reverse_bytes = ledger.reverse_bytes.saturating_add(flow.sides[1 - sender].bytes());
        if payload == 0 && flow.kind != Kind::Datagrams {
            ledger.skip_connection(reason::NO_PAYLOAD, flow.packets, flow.wire);
            return false;
        }
        ledger.used += flow.packets;
        self.counts.used_bytes += flow.wire;
        if let Some(tunnel) = flow.tunnel(client) {
            self.tunnels.entry(tunnel).or_default().add(flow.wire);
        }
        if flow.kind == Kind::Tcp {
            self.connections += 1;
            self.one_sided += u64::from(flow.has_sent.contains(&false));
            if flow.handshake.client().is_none() {
                self.late.add(payload);
            }
        }
        true
    }

    /// Returns the notes on the capture at `path`; `packets` counts those that it has several times.
    fn to_notes(&self, path: &str, packets: Amount) -> Vec<Note> {
        let all = self.counts.bytes;
        let tunnels = self.tunnels.iter().map(|(tunnel, found)| note_tunnel(path, *tunnel, *found, all));
        let late = (self.late.number > 0).then(|| note_late_start(path, self.late));
        let doubled = [note_copied_connections(path, self.copies), note_copied_packets(path, packets)];
        late.into_iter()
            .chain(doubled.into_iter().flatten())
            .chain(self.note_one_sided(path))
            .chain(tunnels)
            .collect()
    }

    /// Returns a note if nine in ten connections have packets of one direction only; `None` also for few connections.
    fn note_one_sided(&self, path: &str) -> Option<Note> {
        if self.connections < FEW || 10 * self.one_sided < 9 * self.connections {
            return None;
        }
        let text = format!(
            "of {} connections packets of one direction only were captured; sizes are taken from sequence numbers, and RTTs \
             are not known",
            self.one_sided
        );
        Some(Note { count: Some(self.one_sided), ..file_note(path, NoteKind::Doubt, &text) })
    }
}

/// Returns a note on a file; its text begins with the file's name.
fn file_note(path: &str, kind: NoteKind, text: &str) -> Note {
    let name = file_name(path);
    let text = format!("{name}: {text}");
    Note::new(kind, Some(name), text)
}

/// Returns a note on connections that a translation of addresses shows twice; `None` without any.
fn note_copied_connections(path: &str, Amount { number, bytes }: Amount) -> Option<Note> {
    let text = format!(
        "{number} connections stand twice, with other addresses a moment later, as a router that translates addresses \
         shows them on all its interfaces; each counts once"
    );
    let found = Note { count: Some(number), bytes: Some(bytes), ..file_note(path, NoteKind::Doubled, &text) };
    (number > 0).then_some(found)
}

/// Returns a note on packets that were captured on several interfaces; `None` without any.
fn note_copied_packets(path: &str, Amount { number, bytes }: Amount) -> Option<Note> {
    let text = format!("{number} packets stand twice, from several interfaces; each counts once");
    let found = Note { count: Some(number), bytes: Some(bytes), ..file_note(path, NoteKind::Doubled, &text) };
    (number > 0).then_some(found)
}

/// Returns a note on connections that were open before the capture began.
fn note_late_start(path: &str, Amount { number, bytes }: Amount) -> Note {
    let (noun, verb) = if number == 1 { ("connection", "its") } else { ("connections", "their") };
    let text = format!(
        "{number} {noun} with {bytes} bytes of payload began before the capture did; {verb} server is taken from the ports"
    );
    Note { count: Some(number), bytes: Some(bytes), ..file_note(path, NoteKind::BeganBefore, &text) }
}

/// Returns a note on tunnels of one kind; `all` are the bytes of the capture.
fn note_tunnel(path: &str, tunnel: Tunnel, Amount { number, bytes }: Amount, all: u64) -> Note {
    let noun = if number == 1 { "tunnel" } else { "tunnels" };
    let text = format!(
        "{number} {noun} of {} with {:.0} % of its bytes: what is inside cannot be distinguished and is replayed as \
         datagrams",
        tunnel.name(),
        100.0 * bytes as f64 / all.max(1) as f64
    );
    Note { count: Some(number), bytes: Some(bytes), ..file_note(path, NoteKind::Tunnel, &text) }
}

/// Returns the indices of flows that repeat others with translated addresses: within [`TRANSLATION`], on another
/// interface, with one end the same and the same [`Flow::likeness`].
fn find_translated(flows: &[Flow]) -> HashSet<usize> {
    let mut known: HashMap<(Endpoint, (u64, u64)), usize> = HashMap::new();
    let mut copies = HashSet::new();
    for (place, flow) in flows.iter().enumerate() {
        let Some(likeness) = flow.likeness().filter(|_| flow.interface != 0) else { continue };
        for side in 0..2 {
            // The order of the sides must not matter.
            let likeness =
                if side == 0 || flow.kind != Kind::Tcp { likeness } else { (likeness.1, likeness.0) };
            match known.get(&(flow.ends[side], likeness)) {
                Some(&first)
                    if flows[first].interface != flow.interface
                        && flow.start.saturating_sub(flows[first].start) <= TRANSLATION =>
                {
                    copies.insert(place);
                }
                _ => {
                    known.insert((flow.ends[side], likeness), place);
                }
            }
        }
    }
    copies
}

/// The recent SYNs, which show the hosts that translate addresses, even if the flows are not in the sample.
#[derive(Default)]
struct Syns {
    recent: VecDeque<Segment>,
    /// Interfaces, each with the host that replaces one end there.
    translators: HashSet<(u32, IpAddr)>,
}

impl Syns {
    /// Adds a segment of a capture from several interfaces. A recent SYN with the same sequence number and
    /// one end the same, on another interface, reveals a translator.
    fn add(&mut self, segment: &Segment) {
        let number = |one: &Segment| one.tcp.as_ref().map(|tcp| tcp.seq);
        let opens = |tcp: &Tcp| tcp.flags & (Tcp::SYN | Tcp::ACK) == Tcp::SYN;
        if segment.interface == 0 || !segment.tcp.as_ref().is_some_and(opens) {
            return;
        }
        let is_old = |one: &Segment| segment.at.saturating_sub(one.at) > TRANSLATION;
        while self.recent.len() >= MOST_SYNS || self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        let is_other = |one: &&Segment| one.interface != segment.interface && number(one) == number(segment);
        for one in self.recent.iter().filter(is_other) {
            match (one.from == segment.from, one.to == segment.to) {
                (false, true) => self.translators.insert((segment.interface, segment.from.host)),
                (true, false) => self.translators.insert((segment.interface, segment.to.host)),
                _ => continue,
            };
        }
        self.recent.push_back(*segment);
    }

    /// Returns the indices of the flows of translators.
    fn find_translated<'a>(&'a self, flows: &'a [Flow]) -> impl Iterator<Item = usize> + 'a {
        let is_one =
            |flow: &Flow| flow.ends.iter().any(|end| self.translators.contains(&(flow.interface, end.host)));
        flows.iter().enumerate().filter(move |(_, flow)| is_one(flow)).map(|(place, _)| place)
    }
}

/// Returns the key of a segment's flow and the side that sent it, 0 or 1.
fn key_and_side(segment: &Segment) -> (Key, usize) {
    let (from, to, protocol) = (segment.from, segment.to, segment.protocol);
    if from <= to { ((from, to, protocol), 0) } else { ((to, from, protocol), 1) }
}

/// Returns the unit by which a flow is sampled; see [`pairing::sampling_unit`].
fn sampling_unit(key: &Key) -> (u64, u64) {
    pairing::sampling_unit([key.0, key.1].map(|end| (hash_address(end.host), end.port)))
}

/// Returns the [`sampling::hash`] of an address as text, which logs have, too.
fn hash_address(host: IpAddr) -> u64 {
    let mut text = [0; 64];
    let mut rest = &mut text[..];
    let _ = write!(rest, "{host}");
    let left = rest.len();
    sampling::hash(&text[..text.len() - left])
}

/// Returns the client's side of each flow: by its handshake, else by the capture's other connections and the
/// ports. Without either, it is the side that received more bytes of datagrams, or the first sender.
fn find_clients(flows: &[Flow]) -> Vec<usize> {
    let known: Vec<Option<usize>> = flows.iter().map(|flow| flow.handshake.client()).collect();
    // The ports of datagrams say nothing about those of TCP.
    let (mut shares, mut of_datagrams) = (Shares::default(), Shares::default());
    let mut hosts: HashSet<IpAddr> = HashSet::new();
    if known.contains(&None) {
        for (flow, client) in flows.iter().zip(&known) {
            let own = if flow.kind == Kind::Datagrams { &mut of_datagrams } else { &mut shares };
            own.add(flow.host_and_port_ends(), client.map(|client| 1 - client));
            hosts.extend(client.map(|client| flow.ends[client].host));
        }
    }
    let client = |(flow, known): (&Flow, Option<usize>)| {
        known.unwrap_or_else(|| {
            let server = match flow.kind {
                Kind::Tcp | Kind::Quic => shares.find_server(flow.host_and_port_ends()),
                Kind::Datagrams => of_datagrams
                    .find_server_of_datagrams(flow.host_and_port_ends(), &hosts)
                    .or_else(|| flow.larger_sender()),
            };
            server.map_or(flow.first_sender, |server| 1 - server)
        })
    };
    flows.iter().zip(known).map(client).collect()
}

impl Flow {
    /// Returns both ends in the form that [`Shares`] takes.
    fn host_and_port_ends(&self) -> [(IpAddr, u16); 2] {
        self.ends.map(|end| (end.host, end.port))
    }

    /// Counts the flow's memory in rows of the budget, and returns the increase since the last call.
    fn count_growth(&mut self) -> u64 {
        let of_sides: usize = self.sides.iter().map(Side::heap_bytes).sum();
        let held = size_of::<Flow>() + ENTRY + self.datagrams.len() * size_of::<Datagram>() + of_sides;
        let more = ((held / ROW) as u64).saturating_sub(self.rows);
        self.rows += more;
        more
    }

    /// Counts a segment sent by `side`. The side's first segment removes the writes inferred from acknowledgements.
    fn count_segment(&mut self, segment: &Segment, side: usize) {
        self.packets += 1;
        self.wire += u64::from(segment.wire);
        if self.head.payload() == 0 {
            self.head = segment.head;
        }
        if !self.has_sent[side] {
            self.has_sent[side] = true;
            // The packets themselves replace what acknowledgements showed.
            self.sides[side].writes.clear();
        }
    }

    /// Returns whether this is a copy of a recent packet from another interface. Stores the packet if it is
    /// none.
    fn is_copy(&mut self, packet: Seen) -> bool {
        if packet.interface == 0 {
            return false;
        }
        let is_same = |seen: &Seen| {
            let within = packet.at.saturating_sub(seen.at) <= PASSING;
            within
                && seen.interface != packet.interface
                && (seen.side, seen.mark) == (packet.side, packet.mark)
        };
        if self.recent.iter().any(is_same) {
            return true;
        }
        self.recent.rotate_right(1);
        self.recent[0] = packet;
        false
    }

    /// Infers the payload of a side that sent no captured packet from the acknowledgements of `side`, the other one.
    /// Does nothing if it sent one, without an ACK and for a RST; the first acknowledgement only sets the origin.
    fn infer_data(&mut self, at: i64, tcp: &Tcp, side: usize) {
        if self.has_sent[1 - side] || !tcp.has_flags(Tcp::ACK) || tcp.has_flags(Tcp::RST) {
            return;
        }
        let other = &mut self.sides[1 - side];
        let added = other.acknowledged.map_or(0, |before| tcp.ack.wrapping_sub(before));
        // One more may be the other's FIN; if it is data, more follows.
        if added != 1 && added < 1 << 30 {
            other.acknowledged = Some(tcp.ack);
            other.add_bytes(at, u64::from(added), true);
        }
    }

    /// Returns the properties that a flow shares with its copy behind a translation of addresses, except for
    /// one end: initial sequence numbers, or for datagrams a hash of the first bytes and the amounts. `None`
    /// if they are unknown.
    fn likeness(&self) -> Option<(u64, u64)> {
        if self.kind == Kind::Tcp {
            let number = |side: &Side| side.isn.or(side.first_number).map(u64::from);
            let [first, second] = self.sides.each_ref().map(number);
            return first.zip(second);
        }
        let bytes = self.datagrams.iter().map(|datagram| u64::from(datagram.bytes())).sum::<u64>();
        let payload = bytes + self.sides[0].bytes() + self.sides[1].bytes();
        self.head.hash_payload().map(|mark| (mark, self.packets << 40 ^ payload))
    }

    /// Returns whether a packet that is not TCP continues this flow. Any continues QUIC. Only a
    /// packet of the same kind continues datagrams, at most [`SILENCE`] after the latest.
    fn is_continued_by(&self, segment: &Segment, kind: Kind) -> bool {
        let last = self.sides[0].last_data.max(self.sides[1].last_data);
        self.kind == Kind::Quic || kind == self.kind && segment.at.saturating_sub(last) <= SILENCE.0 as i64
    }

    /// Adds a datagram that `side` sent. One that is longer than links allow was divided by the network card into
    /// packets with a header each.
    fn push_datagrams(&mut self, segment: &Segment, side: usize) {
        let at = Dur(segment.at.saturating_sub(self.start).max(0) as u64);
        let headers = if segment.from.host.is_ipv6() { 40 } else { 20 }
            + if segment.protocol == IpNumber::UDP.0 { 8 } else { 0 };
        let mut left = segment.ip_bytes;
        while left > u32::from(MOST_BYTES) {
            self.datagrams.push(Datagram::new(at, MOST_BYTES, side == 1));
            left -= u32::from(MOST_BYTES) - headers;
        }
        self.datagrams.push(Datagram::new(at, left as u16, side == 1));
        self.sides[side].last_data = self.sides[side].last_data.max(segment.at);
    }

    /// Returns the side whose datagrams have more bytes; `None` if both have as many.
    fn larger_sender(&self) -> Option<usize> {
        let mut bytes = [0u64; 2];
        for datagram in &self.datagrams {
            bytes[usize::from(datagram.is_reverse())] += u64::from(datagram.bytes());
        }
        (bytes[0] != bytes[1]).then(|| usize::from(bytes[1] > bytes[0]))
    }

    /// Adds the flow's packets and bytes to the capture's counts of its kind.
    fn add_to_counts(&self, counts: &mut CaptureCounts) {
        let lengths = self.datagrams.iter().map(|datagram| u64::from(datagram.bytes()));
        let payload = self.sides[0].bytes() + self.sides[1].bytes() + lengths.sum::<u64>();
        let (connections, packets, bytes) = match self.kind {
            Kind::Tcp => (&mut counts.tcp_connections, &mut counts.tcp_packets, &mut counts.tcp_bytes),
            Kind::Quic => (&mut counts.quic_flows, &mut counts.quic_packets, &mut counts.quic_bytes),
            Kind::Datagrams => {
                (&mut counts.datagram_flows, &mut counts.datagram_packets, &mut counts.datagram_bytes)
            }
        };
        *connections += 1;
        *packets += self.packets;
        *bytes += payload;
    }

    /// Returns whether this is the SYN or SYN-ACK of another connection between the same ports. Whatever else comes
    /// after the end, such as a repeated FIN or late data, belongs to this one.
    fn is_ended_by(&self, side: usize, tcp: &Tcp) -> bool {
        if !tcp.has_flags(Tcp::SYN) {
            return false;
        }
        let own_isn = self.sides[side].isn;
        let has_data = self.sides.iter().any(|side| !side.writes.is_empty());
        let is_other = own_isn.is_some_and(|isn| isn != tcp.seq);
        match (tcp.has_flags(Tcp::ACK), own_isn) {
            (true, _) => self.closed && has_data && is_other,
            // The other side's SYN crosses this one: both open the same connection at once.
            (false, None) => self.closed || has_data || self.handshake.syn_by.is_none(),
            (false, Some(_)) => is_other || (self.closed && has_data),
        }
    }

    /// Records the sender of the SYN, and measures the round trip: SYN to SYN-ACK plus SYN-ACK to ACK, which
    /// is the whole path wherever the capture was made. Of repeated SYNs the last one counts; of repeated SYN-ACKs the
    /// first ends the far half and the last begins the near one. Of SYN-ACKs that differ the acknowledged one counts.
    fn track_handshake(&mut self, at: i64, tcp: &Tcp, side: usize) {
        let handshake = &mut self.handshake;
        let is_client = handshake.syn_by == Some(side);
        match (tcp.has_flags(Tcp::SYN), tcp.has_flags(Tcp::ACK)) {
            (true, false) => {
                self.sides[side].isn = Some(tcp.seq);
                if *handshake.syn_by.get_or_insert(side) == side {
                    (handshake.syn_at, handshake.far_half) = (Some(at), None);
                }
            }
            (true, true) => {
                let sender = &mut self.sides[side];
                if sender.isn != Some(tcp.seq) {
                    sender.rival_isn = sender.isn.replace(tcp.seq);
                }
                self.sides[1 - side].isn.get_or_insert(tcp.ack.wrapping_sub(1));
                handshake.syn_ack_by[side] = true;
                if !is_client {
                    handshake.far_half = handshake.far_half.or(handshake.syn_at.map(|syn_at| at - syn_at));
                    handshake.syn_ack_at = Some(at);
                }
            }
            (false, true) if handshake.syn_ack_by[1 - side] && !handshake.is_measured() => {
                let acknowledged = tcp.ack.wrapping_sub(1);
                let other = &mut self.sides[1 - side];
                if other.rival_isn == Some(acknowledged) {
                    std::mem::swap(&mut other.isn, &mut other.rival_isn);
                }
                if other.isn == Some(acknowledged) {
                    handshake.completed_by.get_or_insert(side);
                }
                if is_client {
                    let total = handshake
                        .far_half
                        .zip(handshake.syn_ack_at)
                        .map(|(far, syn_ack_at)| far + at - syn_ack_at);
                    handshake.rtt = total.filter(|ns| *ns > 0).map(|ns| Dur(ns as u64));
                }
            }
            _ => {}
        }
    }

    /// Records the time of a side's new data, ns. If the other side had sent before, it is an answer, of which the
    /// first [`MOST_ANSWERS`] are stored. Does nothing for data that is not new.
    fn record_turn(&mut self, at: i64, side: usize, is_new: bool) {
        if !is_new {
            return;
        }
        if let Some((_, asked)) = self.turn.filter(|(other, _)| *other != side) {
            let answers = &mut self.sides[side].answers;
            if answers.len() < MOST_ANSWERS {
                answers.push(at - asked);
            }
        }
        self.turn = Some((side, at));
    }

    /// Returns the server's think time: the median time from the client's data to the server's at the capture
    /// point, less the round trip from there to the server. A silence longer than [`WRITE_GAP`] is a pause
    /// between writes. It is unknown for uploads, and without the handshake, which shows the round trip.
    fn measure_server_think(&self, client: usize, sender: usize) -> ServerThink {
        let server = 1 - client;
        let Some(path) = self.handshake.far_half.filter(|_| sender == server) else {
            return ServerThink::default();
        };
        let answers = self.sides[server].answers.iter().copied();
        let mut times: Vec<i64> = answers.filter(|time| *time <= WRITE_GAP.0 as i64).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2);
        median.map_or_else(ServerThink::default, |time| Dur((time - path).max(0) as u64).into())
    }

    /// Returns the class of the flow by its packets, its ports and the user's corrections.
    fn classify(&self, client: usize, hosts: [&[u8]; 2], collector: &Collector) -> FlowClass {
        let writes = [client, 1 - client].map(|side| self.sides[side].writes.as_slice());
        let shape = self.observed.shape(self.carrier(), client, self.ports(client), writes);
        collector.classify_flow(hosts, &shape)
    }

    /// Returns the transport protocol.
    fn carrier(&self) -> Protocol {
        match self.kind {
            Kind::Tcp => Protocol::Tcp,
            Kind::Quic => Protocol::Quic,
            Kind::Datagrams if self.protocol == IpNumber::UDP.0 => Protocol::Udp,
            Kind::Datagrams => Protocol::Ip(self.protocol),
        }
    }

    /// Returns the ports of client and server.
    fn ports(&self, client: usize) -> [u16; 2] {
        [client, 1 - client].map(|side| self.ends[side].port)
    }

    /// Returns the tunnel that a flow of datagrams is; `None` if it is none.
    fn tunnel(&self, client: usize) -> Option<Tunnel> {
        let is_datagrams = self.kind == Kind::Datagrams;
        self.observed.find_tunnel(self.carrier(), client, self.ports(client)).filter(|_| is_datagrams)
    }

    /// Returns the flow as a connection with the payload that `sender` sent; `client` and `sender` are sides, `file` is
    /// the capture's index. Adds both hosts to the collector.
    fn into_draft(self, (client, sender): (usize, usize), file: usize, collector: &mut Collector) -> Draft {
        let [client_end, server_end] = [client, 1 - client].map(|side| self.ends[side]);
        let hosts = [client_end, server_end].map(|end| end.host.to_string());
        let flow_class = self.classify(client, hosts.each_ref().map(String::as_bytes), collector);
        let server_think = self.measure_server_think(client, sender);
        let tunnel = self.tunnel(client);
        let [first, second] = self.sides;
        let side = if sender == 0 { first } else { second };
        let mut duration = Dur(side.last_data.saturating_sub(self.start).max(0) as u64);
        let mut writes = Writes::from(side.writes);
        if self.kind == Kind::Datagrams {
            let service = Service { protocol: self.protocol, port: server_end.port, tunnel };
            let turn = |datagram: Datagram| if sender == 0 { datagram } else { datagram.reversed() };
            let datagrams = Datagrams::from_list(service, self.datagrams.into_iter().map(turn).collect());
            duration = datagrams.duration();
            writes = Writes::from_datagrams(datagrams);
        }
        Draft {
            start: self.start,
            file: file as u32,
            order: self.order,
            rows: 1,
            client: collector.hosts.intern(hosts[0].as_bytes()),
            server: collector.hosts.intern(hosts[1].as_bytes()),
            rtt: self.handshake.rtt.into(),
            duration: Some(duration).into(),
            kind: self.kind,
            class: class::classify_port(server_end.port),
            flow_class,
            server_think,
            writes,
            pages: None,
        }
    }
}

impl Handshake {
    /// Returns whether later acknowledgements add nothing.
    fn is_measured(&self) -> bool {
        match self.syn_by {
            Some(_) => self.rtt.is_some(),
            None => self.completed_by.is_some(),
        }
    }

    /// Returns the client's side if the handshake was captured: the sender of the first SYN; else the side
    /// opposite the only sender of SYN-ACKs; else, if both have sent one, the side that acknowledged one
    /// first.
    fn client(&self) -> Option<usize> {
        self.syn_by.or(match self.syn_ack_by {
            [true, false] => Some(1),
            [false, true] => Some(0),
            [true, true] => self.completed_by,
            [false, false] => None,
        })
    }
}

impl Side {
    /// Adds the payload of a segment; returns whether it has new data.
    fn add_data(&mut self, segment: &Segment, tcp: &Tcp) -> bool {
        let first_byte = tcp.first_byte();
        if let Some(isn) = self.isn {
            let start = isn.wrapping_add(1);
            if first_byte.wrapping_sub(start) as i32 > FAR_BEHIND {
                self.seen.begin(start);
            }
        }
        let added = self.seen.add(first_byte, segment.payload);
        self.add_bytes(segment.at, added.bytes, added.in_front);
        added.bytes > 0
    }

    /// Adds new bytes at `at`, ns. Bytes that fill a hole belong to the write that left it; retransmissions,
    /// without new bytes, show that the sender was not idle.
    fn add_bytes(&mut self, at: i64, bytes: u64, in_front: bool) {
        let gap = Dur(at.saturating_sub(self.last_data).max(0) as u64);
        match self.writes.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if !in_front || gap <= WRITE_GAP => last.bytes += bytes,
            Some(_) => self.writes.push(Write { idle: gap, bytes }),
            None => self.writes.push(Write { idle: Dur::ZERO, bytes }),
        }
        self.last_data = self.last_data.max(at);
    }

    /// Returns the heap memory that it uses, bytes.
    fn heap_bytes(&self) -> usize {
        size_of_val(&self.writes[..]) + size_of_val(&self.answers[..]) + self.seen.heap_bytes()
    }

    /// Returns the payload bytes of all writes.
    fn bytes(&self) -> u64 {
        self.writes.iter().map(|write| write.bytes).sum()
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
