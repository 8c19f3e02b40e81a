#![allow(non_snake_case)]
use super::*;
use crate::traffic::Traffic;
use crate::traffic::class::head::Head;
use crate::traffic::connection::Connection;
use crate::traffic::read::ReadOptions;
use crate::traffic::read::sampling::Budget;

const MS: i64 = 1_000_000;

/// Returns an end at 10.0.0.`last`.
fn end(last: u8, port: u16) -> Endpoint {
    Endpoint { host: [10, 0, 0, last].into(), port }
}

/// Returns a UDP datagram over IPv4 and Ethernet.
fn packet(ms: i64, (from, to): (Endpoint, Endpoint), payload: u32) -> Segment {
    let (ip_bytes, wire, is_quic) = (payload + 28, payload + 42, false);
    Segment {
        at: ms * MS,
        from,
        to,
        payload,
        ip_bytes,
        wire,
        overclaimed: 0,
        protocol: 17,
        tcp: None,
        is_quic,
        head: Head::new(payload, &[]),
        interface: 0,
    }
}

/// A capture under construction.
struct Wire {
    flows: Flows,
    ledger: Ledger,
    collector: Collector,
}

impl Wire {
    /// Returns an empty capture that is read in `direction`.
    fn new(direction: Direction) -> Wire {
        let options = ReadOptions { direction, ..ReadOptions::default() };
        let collector = Collector::new(options, &Budget::new(None, 1));
        Wire { flows: Flows::new(direction), ledger: Ledger::new("test", 0, "pcap", false), collector }
    }

    /// Adds a segment.
    fn add(&mut self, segment: &Segment) {
        self.flows.add(segment, &mut self.ledger, &mut self.collector);
    }

    /// Adds a TCP segment of (flags, sequence number, acknowledgement).
    fn add_tcp(
        &mut self,
        ms: i64,
        from: Endpoint,
        to: Endpoint,
        (flags, seq, ack): (u8, u32, u32),
        payload: u32,
    ) {
        let tcp = Some(Tcp { seq, ack, flags, header: 20 });
        self.add(&Segment { tcp, protocol: 6, wire: payload + 54, ..packet(ms, (from, to), payload) });
    }

    /// Adds a UDP datagram.
    fn add_udp(&mut self, ms: i64, from: Endpoint, to: Endpoint, payload: u32) {
        self.add(&packet(ms, (from, to), payload));
    }

    /// Adds a UDP datagram of 1000 B that does or does not look like QUIC.
    fn add_quic_like(&mut self, ms: i64, from: Endpoint, to: Endpoint, is_quic: bool) {
        self.add(&Segment { is_quic, ..packet(ms, (from, to), 1000) });
    }

    /// Adds a SYN at `ms`, a SYN-ACK 30 ms later, and an ACK 10 ms after that; initial sequence numbers are
    /// 100 and 900.
    fn add_handshake(&mut self, ms: i64, client: Endpoint, server: Endpoint) {
        self.add_tcp(ms, client, server, (Tcp::SYN, 100, 0), 0);
        self.add_tcp(ms + 30, server, client, (Tcp::SYN | Tcp::ACK, 900, 101), 0);
        self.add_tcp(ms + 40, client, server, (Tcp::ACK, 101, 901), 0);
    }

    /// Ends the capture and returns its traffic.
    fn into_traffic(mut self) -> Traffic {
        self.flows.finish(&mut self.ledger, &mut self.collector);
        self.collector.ledgers.push(self.ledger);
        self.collector.finish().unwrap()
    }
}

#[test]
fn flow__round_trip_and_bytes() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_handshake(0, client, server);
    wire.add_tcp(41, client, server, (Tcp::ACK, 101, 901), 200);
    wire.add_tcp(75, server, client, (Tcp::ACK, 901, 301), 1000);
    wire.add_tcp(76, server, client, (Tcp::ACK, 901, 301), 1000);
    let traffic = wire.into_traffic();
    assert_eq!(traffic.connections[0].rtt, Some(Dur::from_millis(40)));
    assert_eq!(traffic.connections[0].writes, [Write { idle: Dur::ZERO, bytes: 1000 }]);
}

/// The path from the capture to the server takes 30 ms there and back. The server answers after 35, 50 and 90 ms; data
/// after a pause, a retransmission and the client's answers do not count.
#[test]
fn flow__server_think_is_the_median_answer_without_the_path() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let talk = |wire: &mut Wire| {
        let mut seq = (101, 901);
        for (ms, wait) in [(100, 35), (300, 50), (500, 90), (2000, 700)] {
            wire.add_tcp(ms, client, server, (Tcp::ACK, seq.0, seq.1), 200);
            wire.add_tcp(ms + 20, client, server, (Tcp::ACK, seq.0, seq.1), 200);
            seq.0 += 200;
            wire.add_tcp(ms + wait, server, client, (Tcp::ACK, seq.1, seq.0), 1000);
            wire.add_tcp(ms + wait + 1, server, client, (Tcp::ACK, seq.1 + 1000, seq.0), 1000);
            seq.1 += 2000;
        }
    };
    let think = |direction, with_handshake: bool| {
        let mut wire = Wire::new(direction);
        if with_handshake {
            wire.add_handshake(0, client, server);
        }
        talk(&mut wire);
        wire.into_traffic().connections[0].server_think.time()
    };
    assert_eq!(think(Direction::Down, true), Some(Dur::from_millis(20)));
    assert_eq!(think(Direction::Down, false), None, "the path is not known");
    assert_eq!(think(Direction::Up, true), None, "the client sends");
}

#[test]
fn flow__pauses_split_writes_but_repairs_do_not() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_handshake(0, client, server);
    wire.add_tcp(75, server, client, (Tcp::ACK, 901, 101), 1000);
    wire.add_tcp(80, server, client, (Tcp::ACK, 2901, 101), 1000);
    wire.add_tcp(1080, server, client, (Tcp::ACK, 1901, 101), 1000);
    wire.add_tcp(1581, server, client, (Tcp::ACK, 3901, 101), 50);
    let writes = wire.into_traffic().connections.remove(0).writes;
    assert_eq!(
        writes,
        [Write { idle: Dur::ZERO, bytes: 3000 }, Write { idle: Dur::from_millis(501), bytes: 50 }]
    );
}

#[test]
fn flow__up_takes_the_other_side() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Up);
    wire.add_handshake(0, client, server);
    wire.add_tcp(41, client, server, (Tcp::ACK, 101, 901), 200);
    wire.add_tcp(75, server, client, (Tcp::ACK, 901, 301), 1000);
    assert_eq!(wire.into_traffic().connections[0].bytes(), 200);
}

#[test]
fn flow__ports_used_again_make_another_connection() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    for round in 0..2 {
        wire.add_handshake(round * 1000, client, server);
        wire.add_tcp(round * 1000 + 50, server, client, (Tcp::ACK, 901, 101), 70);
        wire.add_tcp(round * 1000 + 60, server, client, (Tcp::FIN | Tcp::ACK, 971, 101), 0);
    }
    wire.add_tcp(3000, client, server, (Tcp::SYN, 5_000_000, 0), 0);
    wire.add_tcp(3050, server, client, (Tcp::SYN | Tcp::ACK, 1, 5_000_001), 0);
    wire.add_tcp(3090, server, client, (Tcp::ACK, 2, 5_000_001), 70);
    let sizes: Vec<u64> =
        wire.into_traffic().connections.iter().map(crate::traffic::connection::Connection::bytes).collect();
    assert_eq!(sizes, [70, 70, 70]);
}

#[test]
fn flow__repeated_syn_keeps_the_connection_and_its_start() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_tcp(0, client, server, (Tcp::SYN, 100, 0), 0);
    wire.add_handshake(1000, client, server);
    wire.add_tcp(1075, server, client, (Tcp::ACK, 901, 101), 10);
    let traffic = wire.into_traffic();
    assert_eq!(traffic.connections.len(), 1);
    assert_eq!(traffic.connections[0].rtt, Some(Dur::from_millis(40)));
}

#[test]
fn flow__begun_before_the_capture_is_turned_by_its_ports() {
    let mut wire = Wire::new(Direction::Down);
    wire.add_tcp(0, end(2, 443), end(1, 5000), (Tcp::ACK, 1, 1), 500);
    let traffic = wire.into_traffic();
    assert_eq!((traffic.connections[0].bytes(), traffic.connections[0].rtt), (500, None));
}

#[test]
fn flow__quic_is_kept_and_other_udp_is_datagrams() {
    let mut wire = Wire::new(Direction::Down);
    wire.add_udp(0, end(1, 5000), end(2, 443), 1200);
    wire.add_udp(50, end(2, 443), end(1, 5000), 1300);
    wire.add_udp(60, end(1, 5001), end(2, 53), 30);
    wire.add_udp(80, end(2, 53), end(1, 5001), 90);
    let traffic = wire.into_traffic();
    assert_eq!((traffic.connections[0].kind, traffic.connections[0].bytes()), (Kind::Quic, 1300));
    let flow = &traffic.connections[1];
    assert_eq!((flow.kind, flow.client, flow.duration), (Kind::Datagrams, 0, Some(Dur::from_millis(20))));
    assert_eq!(datagrams(flow), [(0, 58, true), (20, 118, false)]);
    assert_eq!(flow.writes.datagrams().unwrap().service, Service { protocol: 17, port: 53, tunnel: None });
    assert!(traffic.skipped.is_empty());
    let counts = traffic.sources[0].capture.unwrap();
    assert_eq!((counts.datagram_flows, counts.datagram_packets, counts.datagram_bytes), (1, 2, 176));
}

/// Returns time in ms, IP length and whether it goes against the data, of each datagram.
fn datagrams(connection: &Connection) -> Vec<(u64, u16, bool)> {
    let all = connection.writes.datagrams().expect("a flow of datagrams").iter();
    all.map(|one| (one.at().0 / 1_000_000, one.bytes(), one.is_reverse())).collect()
}

#[test]
fn flow__quic_by_its_long_header_on_any_port() {
    let mut wire = Wire::new(Direction::Down);
    let (client, server) = (end(1, 50_000), end(2, 8443));
    wire.add_udp(0, client, server, 20);
    wire.add_quic_like(100, client, server, true);
    wire.add_udp(130, server, client, 1300);
    wire.add_udp(200_000, server, client, 1200);
    let traffic = wire.into_traffic();
    let kinds: Vec<Kind> = traffic.connections.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::Datagrams, Kind::Quic], "what came before the long header is not QUIC");
    assert_eq!(traffic.connections[1].bytes(), 2500);
}

#[test]
fn flow__datagrams_after_120_s_of_silence_are_another_flow() {
    let mut wire = Wire::new(Direction::Down);
    for ms in [0, 120_000, 240_001, 240_002] {
        wire.add_udp(ms, end(1, 5000), end(2, 6000), 72);
    }
    let traffic = wire.into_traffic();
    let all: Vec<_> = traffic.connections.iter().map(datagrams).collect();
    assert_eq!(all, [vec![(0, 100, false), (120_000, 100, false)], vec![(0, 100, false), (1, 100, false)]]);
}

#[test]
fn flow__protocols_between_the_same_hosts_are_flows_of_their_own() {
    let mut wire = Wire::new(Direction::Down);
    for protocol in [1, 50, 47] {
        let plain = packet(0, (end(1, 0), end(2, 0)), 1000);
        wire.add(&Segment { protocol, ..plain });
    }
    let traffic = wire.into_traffic();
    let protocol = |one: &Connection| one.writes.datagrams().unwrap().service.protocol;
    assert_eq!(traffic.connections.iter().map(protocol).collect::<Vec<_>>(), [1, 50, 47]);
    let note = &traffic.notes[0];
    assert_eq!((note.kind, note.count, note.bytes), (NoteKind::Tunnel, Some(1), Some(1042)));
    assert!(note.text.contains("IPsec") && note.text.contains("cannot be distinguished"), "{}", note.text);
}

/// A network card adds a header to each packet that it divides off, so no byte of payload is lost.
#[test]
fn flow__packets_before_segmentation_are_divided() {
    let mut wire = Wire::new(Direction::Up);
    wire.add_udp(0, end(1, 5000), end(2, 6000), 1472);
    wire.add_udp(1, end(1, 5000), end(2, 6000), 1473);
    wire.add_udp(2, end(1, 5000), end(2, 6000), 3000);
    let v6 = [5000, 6000].map(|port| Endpoint { host: [0x20, 1, 0, 0, 0, 0, 0, port].into(), port });
    wire.add(&Segment { ip_bytes: 3048, ..packet(3, (v6[0], v6[1]), 3000) });
    let traffic = wire.into_traffic();
    let lengths = |index: usize| -> Vec<u16> {
        datagrams(&traffic.connections[index]).into_iter().map(|(_, bytes, _)| bytes).collect()
    };
    assert_eq!(lengths(0), [1500, 1500, 29, 1500, 1500, 84]);
    assert_eq!(lengths(1), [1500, 1500, 144]);
    let payload: u32 = lengths(0).iter().map(|bytes| u32::from(*bytes) - 28).sum();
    assert_eq!(payload, 1472 + 1473 + 3000);
}

/// In a call both ports are high. The client is the host that is a client elsewhere, has a private address, or receives
/// more; a multicast goes down.
#[test]
fn flow__the_client_of_datagrams() {
    let public = |last: u8, port: u16| Endpoint { host: [192, 0, 2, last].into(), port };
    let mut wire = Wire::new(Direction::Down);
    wire.add_handshake(0, public(1, 4000), public(9, 443));
    wire.add_udp(0, public(7, 30_000), public(1, 50_000), 100);
    wire.add_udp(1, public(8, 30_000), end(1, 50_000), 100);
    wire.add_udp(2, end(3, 50_000), public(8, 60_000), 100);
    wire.add_udp(3, public(8, 5004), Endpoint { host: [239, 1, 1, 1].into(), port: 5004 }, 100);
    wire.add_udp(4, public(5, 30_000), public(6, 20_000), 100);
    wire.add_udp(5, public(5, 20_000), public(6, 30_000), 100);
    wire.add_udp(6, public(6, 30_000), public(5, 20_000), 300);
    let traffic = wire.into_traffic();
    let is_reverse: Vec<bool> = traffic.connections.iter().map(|one| datagrams(one)[0].2).collect();
    assert_eq!(is_reverse, [false, false, true, false, false, true]);
}

/// Returns the payload bytes of the only connection, and the sum of the bytes in the notes.
fn expect_only_connection(wire: Wire) -> (u64, u64) {
    let traffic = wire.into_traffic();
    assert_eq!(traffic.connections.len(), 1, "{:?}", traffic.connections);
    (traffic.connections[0].bytes(), traffic.notes.iter().filter_map(|note| note.bytes).sum())
}

#[test]
fn flow__begun_before_the_capture_the_server_has_the_registered_port() {
    let mut wire = Wire::new(Direction::Down);
    wire.add_tcp(0, end(1, 1200), end(2, 8080), (Tcp::ACK, 1, 1), 70);
    wire.add_tcp(10, end(2, 8080), end(1, 1200), (Tcp::ACK, 1, 71), 500);
    assert_eq!(expect_only_connection(wire), (500, 500));
}

#[test]
fn flow__begun_before_the_capture_the_server_has_the_shared_port() {
    let mut wire = Wire::new(Direction::Down);
    let server = end(9, 45_000);
    for client in 1..4 {
        let client = end(client, 30_000 + u16::from(client));
        wire.add_tcp(0, server, client, (Tcp::ACK, 1, 1), 500);
        wire.add_tcp(10, client, server, (Tcp::ACK, 1, 501), 70);
    }
    let traffic = wire.into_traffic();
    assert_eq!((traffic.clients, traffic.servers), (3, 1));
    assert!(traffic.connections.iter().all(|connection| connection.bytes() == 500));
    let note = traffic.notes.iter().find(|note| note.kind == NoteKind::BeganBefore).unwrap();
    assert_eq!((note.count, note.bytes), (Some(3), Some(1500)));
}

/// The client's acknowledgements show what the server sent, and the server's FIN is no byte of it.
#[test]
fn flow__of_the_client_only_the_fin_of_the_server_counts_no_byte() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_tcp(0, client, server, (Tcp::SYN, 100, 0), 0);
    wire.add_tcp(40, client, server, (Tcp::ACK, 101, 901), 200);
    wire.add_tcp(80, client, server, (Tcp::ACK, 301, 1901), 0);
    wire.add_tcp(5080, client, server, (Tcp::ACK, 301, 1902), 0);
    wire.add_tcp(5090, client, server, (Tcp::FIN | Tcp::ACK, 301, 1902), 0);
    let traffic = wire.into_traffic();
    assert_eq!(traffic.connections[0].writes, [Write { idle: Dur::ZERO, bytes: 1000 }]);
}

#[test]
fn flow__a_syn_ack_alone_shows_the_server_whatever_the_ports() {
    let mut wire = Wire::new(Direction::Down);
    let (client, server) = (end(1, 80), end(2, 50_000));
    wire.add_tcp(0, server, client, (Tcp::SYN | Tcp::ACK, 900, 101), 0);
    wire.add_tcp(10, client, server, (Tcp::ACK, 101, 901), 70);
    wire.add_tcp(20, server, client, (Tcp::ACK, 901, 171), 500);
    assert_eq!(expect_only_connection(wire), (500, 0));
}

#[test]
fn flow__of_two_syn_acks_the_acknowledged_one_counts() {
    let (client, server) = (end(1, 5000), end(2, 80));
    for [first, second] in [[900, 4_000_000], [4_000_000, 900]] {
        let mut wire = Wire::new(Direction::Down);
        wire.add_tcp(0, client, server, (Tcp::SYN, 100, 0), 0);
        wire.add_tcp(10, server, client, (Tcp::SYN | Tcp::ACK, first, 101), 0);
        wire.add_tcp(11, server, client, (Tcp::SYN | Tcp::ACK, second, 101), 0);
        wire.add_tcp(20, client, server, (Tcp::ACK, 101, 901), 0);
        wire.add_tcp(30, server, client, (Tcp::ACK, 901, 101), 500);
        assert_eq!(expect_only_connection(wire).0, 500);
    }
}

#[test]
fn flow__of_syn_acks_from_both_sides_the_ack_shows_the_client() {
    for client_first in [true, false] {
        let (client, server) = (end(1, 80), end(2, 50_000));
        let mut wire = Wire::new(Direction::Down);
        let mut syn_acks = [
            (client, server, (Tcp::SYN | Tcp::ACK, 100, 901)),
            (server, client, (Tcp::SYN | Tcp::ACK, 900, 101)),
        ];
        if !client_first {
            syn_acks.reverse();
        }
        syn_acks.into_iter().for_each(|(from, to, fields)| wire.add_tcp(0, from, to, fields, 0));
        wire.add_tcp(10, client, server, (Tcp::ACK, 101, 901), 70);
        wire.add_tcp(20, server, client, (Tcp::ACK, 901, 171), 500);
        assert_eq!(expect_only_connection(wire), (500, 0));
    }
}

#[test]
fn flow__syns_that_cross_open_one_connection() {
    let mut wire = Wire::new(Direction::Down);
    let (client, server) = (end(1, 5000), end(2, 6000));
    wire.add_tcp(0, client, server, (Tcp::SYN, 100, 0), 0);
    wire.add_tcp(1, server, client, (Tcp::SYN, 900, 0), 0);
    wire.add_tcp(20, client, server, (Tcp::SYN | Tcp::ACK, 100, 901), 0);
    wire.add_tcp(21, server, client, (Tcp::SYN | Tcp::ACK, 900, 101), 0);
    wire.add_tcp(40, server, client, (Tcp::ACK, 901, 101), 500);
    assert_eq!(expect_only_connection(wire).0, 500);
}

#[test]
fn flow__repeats_after_both_fins_open_nothing() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_handshake(0, client, server);
    wire.add_tcp(50, server, client, (Tcp::ACK, 901, 101), 500);
    wire.add_tcp(60, server, client, (Tcp::FIN | Tcp::ACK, 1401, 101), 0);
    wire.add_tcp(70, client, server, (Tcp::FIN | Tcp::ACK, 101, 1402), 0);
    for late in [300, 900] {
        wire.add_tcp(late, server, client, (Tcp::ACK, 901, 101), 500);
        wire.add_tcp(late + 1, server, client, (Tcp::FIN | Tcp::ACK, 1401, 101), 0);
        wire.add_tcp(late + 2, client, server, (Tcp::RST, 102, 0), 0);
    }
    assert_eq!(expect_only_connection(wire).0, 500);
}

#[test]
fn flow__a_syn_after_the_middle_of_another_connection_begins_one() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.add_tcp(0, server, client, (Tcp::ACK, 77, 1), 300);
    wire.add_handshake(100, client, server);
    wire.add_tcp(200, server, client, (Tcp::ACK, 901, 101), 500);
    let sizes: Vec<u64> =
        wire.into_traffic().connections.iter().map(|connection| connection.bytes()).collect();
    assert_eq!(sizes, [300, 500]);
}

#[test]
fn flow__connections_without_payload_are_counted_with_their_bytes() {
    let mut wire = Wire::new(Direction::Down);
    wire.add_handshake(0, end(1, 5000), end(2, 80));
    wire.add_handshake(0, end(1, 5001), end(2, 80));
    wire.add_tcp(50, end(2, 80), end(1, 5001), (Tcp::ACK, 901, 101), 500);
    let skipped = wire.into_traffic().skipped.remove(0);
    assert_eq!((skipped.connections, skipped.rows, skipped.bytes), (1, 3, 3 * 54));
}

/// Each router has 64 clients behind it; whichever are in the sample, no connection counts twice.
#[test]
fn flow__a_sample_of_a_translating_router_holds_no_copies() {
    for router in 200..216 {
        let connections = read_behind_router(router, 256);
        let of = |client| connections.iter().filter(|one| one.client == client).count();
        assert!((4..120).contains(&connections.len()), "{} of 256", connections.len());
        assert!(connections.iter().all(|one| of(one.client) <= 4), "router {router} is a client");
    }
}

/// Returns the connections that are read when `number` connections of 64 clients are seen on both interfaces
/// of a router that translates their addresses, and memory holds 40 flows.
fn read_behind_router(router: u8, number: u32) -> Vec<Connection> {
    let server = end(250, 443);
    let mut wire = Wire::new(Direction::Down);
    let rows = 40 * ((size_of::<Flow>() + ENTRY) / ROW) as u64;
    wire.collector = Collector::new(ReadOptions::default(), &Budget::new(Some(rows), 1));
    for number in 0..number {
        let client = end(1 + (number % 64) as u8, 5000 + number as u16);
        for (interface, inside) in [(1, client), (2, end(router, client.port))] {
            let mut show = |ms: u32, (from, to), (flags, seq, ack), payload: u32| {
                let tcp = Some(Tcp { seq, ack, flags, header: 20 });
                let plain = packet(i64::from(10 * number + ms + interface), (from, to), payload);
                wire.add(&Segment { tcp, protocol: 6, wire: payload + 54, interface, ..plain });
            };
            show(0, (inside, server), (Tcp::SYN, 1000 * number, 0), 0);
            show(3, (server, inside), (Tcp::SYN | Tcp::ACK, 77 * number, 1000 * number + 1), 0);
            show(6, (server, inside), (Tcp::ACK, 77 * number + 1, 1000 * number + 1), 900);
        }
    }
    wire.into_traffic().connections.into_iter().collect()
}
