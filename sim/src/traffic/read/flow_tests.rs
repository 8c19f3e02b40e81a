#![allow(non_snake_case)]
use super::*;
use crate::traffic::Traffic;
use crate::traffic::read::ReadOptions;

const MS: i64 = 1_000_000;

fn end(last: u8, port: u16) -> Endpoint {
    Endpoint { host: [10, 0, 0, last].into(), port }
}

struct Wire {
    direction: Direction,
    flows: Flows,
    ledger: Ledger,
}

impl Wire {
    fn new(direction: Direction) -> Wire {
        Wire { direction, flows: Flows::new(direction), ledger: Ledger::new("test", 0, "pcap", false) }
    }

    fn tcp(
        &mut self,
        ms: i64,
        from: Endpoint,
        to: Endpoint,
        (flags, seq, ack): (u8, u32, u32),
        payload: u32,
    ) {
        let tcp = Some(Tcp { seq, ack, flags });
        self.flows.add(&Segment { at: ms * MS, from, to, payload, tcp }, &mut self.ledger);
    }

    fn udp(&mut self, ms: i64, from: Endpoint, to: Endpoint, payload: u32) {
        self.flows.add(&Segment { at: ms * MS, from, to, payload, tcp: None }, &mut self.ledger);
    }

    /// Returns a SYN at `ms`, SYN-ACK 30 ms later, ACK 10 ms after that; sequence numbers 100 and 900.
    fn handshake(&mut self, ms: i64, client: Endpoint, server: Endpoint) {
        self.tcp(ms, client, server, (Tcp::SYN, 100, 0), 0);
        self.tcp(ms + 30, server, client, (Tcp::SYN | Tcp::ACK, 900, 101), 0);
        self.tcp(ms + 40, client, server, (Tcp::ACK, 101, 901), 0);
    }

    fn traffic(mut self) -> Traffic {
        let mut collector =
            Collector::new(ReadOptions { direction: self.direction, ..ReadOptions::default() });
        self.flows.finish(&mut self.ledger, &mut collector);
        collector.ledgers.push(self.ledger);
        collector.finish().unwrap()
    }
}

#[test]
fn flow__round_trip_and_bytes() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.handshake(0, client, server);
    wire.tcp(41, client, server, (Tcp::ACK, 101, 901), 200);
    wire.tcp(75, server, client, (Tcp::ACK, 901, 301), 1000);
    wire.tcp(76, server, client, (Tcp::ACK, 901, 301), 1000);
    let traffic = wire.traffic();
    assert_eq!(traffic.connections[0].rtt, Some(Dur::from_millis(40)));
    assert_eq!(traffic.connections[0].writes, [Write { idle: Dur::ZERO, bytes: 1000 }]);
}

#[test]
fn flow__pauses_split_writes_but_repairs_do_not() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.handshake(0, client, server);
    wire.tcp(75, server, client, (Tcp::ACK, 901, 101), 1000);
    wire.tcp(80, server, client, (Tcp::ACK, 2901, 101), 1000);
    wire.tcp(1080, server, client, (Tcp::ACK, 1901, 101), 1000);
    wire.tcp(1581, server, client, (Tcp::ACK, 3901, 101), 50);
    let writes = wire.traffic().connections.remove(0).writes;
    assert_eq!(
        writes,
        [Write { idle: Dur::ZERO, bytes: 3000 }, Write { idle: Dur::from_millis(501), bytes: 50 }]
    );
}

#[test]
fn flow__up_takes_the_other_side() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Up);
    wire.handshake(0, client, server);
    wire.tcp(41, client, server, (Tcp::ACK, 101, 901), 200);
    wire.tcp(75, server, client, (Tcp::ACK, 901, 301), 1000);
    assert_eq!(wire.traffic().connections[0].bytes(), 200);
}

#[test]
fn flow__ports_used_again_make_another_connection() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    for round in 0..2 {
        wire.handshake(round * 1000, client, server);
        wire.tcp(round * 1000 + 50, server, client, (Tcp::ACK, 901, 101), 70);
        wire.tcp(round * 1000 + 60, server, client, (Tcp::FIN | Tcp::ACK, 971, 101), 0);
    }
    wire.tcp(3000, client, server, (Tcp::SYN, 5_000_000, 0), 0);
    wire.tcp(3050, server, client, (Tcp::SYN | Tcp::ACK, 1, 5_000_001), 0);
    wire.tcp(3090, server, client, (Tcp::ACK, 2, 5_000_001), 70);
    let sizes: Vec<u64> =
        wire.traffic().connections.iter().map(crate::traffic::connection::Connection::bytes).collect();
    assert_eq!(sizes, [70, 70, 70]);
}

#[test]
fn flow__repeated_syn_keeps_the_connection_and_its_start() {
    let (client, server) = (end(1, 5000), end(2, 80));
    let mut wire = Wire::new(Direction::Down);
    wire.tcp(0, client, server, (Tcp::SYN, 100, 0), 0);
    wire.handshake(1000, client, server);
    wire.tcp(1075, server, client, (Tcp::ACK, 901, 101), 10);
    let traffic = wire.traffic();
    assert_eq!(traffic.connections.len(), 1);
    assert_eq!(traffic.connections[0].rtt, Some(Dur::from_millis(40)));
}

#[test]
fn flow__begun_before_the_capture_is_turned_by_its_ports() {
    let mut wire = Wire::new(Direction::Down);
    wire.tcp(0, end(2, 443), end(1, 5000), (Tcp::ACK, 1, 1), 500);
    let traffic = wire.traffic();
    assert_eq!((traffic.connections[0].bytes(), traffic.connections[0].rtt), (500, None));
}

#[test]
fn flow__quic_is_kept_and_other_udp_counted() {
    let mut wire = Wire::new(Direction::Down);
    wire.udp(0, end(1, 5000), end(2, 443), 1200);
    wire.udp(50, end(2, 443), end(1, 5000), 1300);
    wire.udp(60, end(2, 53), end(1, 5000), 90);
    let traffic = wire.traffic();
    assert_eq!((traffic.connections[0].kind, traffic.connections[0].bytes()), (Kind::Quic, 1300));
    assert_eq!((traffic.skipped[0].rows, traffic.skipped[0].bytes), (1, 90));
}
