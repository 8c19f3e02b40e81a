#![allow(non_snake_case)]
use super::*;
use etherparse::PacketBuilder;

const V4: ([u8; 4], [u8; 4]) = ([10, 0, 0, 1], [10, 0, 0, 2]);

fn tcp_frame(payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(V4.0, V4.1, 64).tcp(5000, 80, 77, 4000).syn();
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; payload]).unwrap();
    frame
}

fn segment(decoded: Decoded) -> Segment {
    match decoded {
        Decoded::Segment(segment) => segment,
        other => panic!("{other:?}"),
    }
}

#[test]
fn decode__reads_tcp_over_ethernet() {
    let frame = tcp_frame(100);
    let got = segment(decode(1, &frame, frame.len() as u32, 9));
    assert_eq!((got.at, got.payload, got.from.port, got.to.port), (9, 100, 5000, 80));
    assert!(got.tcp.unwrap().has(Tcp::SYN) && got.tcp.unwrap().seq == 77);
}

#[test]
fn decode__takes_true_lengths_of_cut_packets() {
    let frame = tcp_frame(1000);
    for cut in [48, 54, 60, 74] {
        assert_eq!(segment(decode(1, &frame[..cut], frame.len() as u32, 0)).payload, 1000, "cut at {cut}");
    }
    assert!(matches!(decode(1, &frame[..46], 1054, 0), Decoded::Fault(_)));
}

#[test]
fn decode__ignores_ethernet_padding() {
    let mut frame = tcp_frame(2);
    frame.resize(60, 0);
    assert_eq!(segment(decode(1, &frame, 60, 0)).payload, 2);
}

#[test]
fn decode__zero_total_length_means_length_on_the_wire() {
    let mut frame = tcp_frame(3000);
    (frame[16], frame[17]) = (0, 0);
    assert_eq!(segment(decode(1, &frame[..74], 3054, 0)).payload, 3000);
}

#[test]
fn decode__follows_vlan_tags_and_pppoe() {
    let plain = tcp_frame(10);
    let (macs, rest) = plain.split_at(12);
    let tagged = [macs, &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2], rest].concat();
    assert_eq!(segment(decode(1, &tagged, tagged.len() as u32, 0)).payload, 10);
    let pppoe = [macs, &[0x88, 0x64, 0x11, 0, 0, 1, 0, 52, 0, 0x21], &rest[2..]].concat();
    assert_eq!(segment(decode(1, &pppoe, pppoe.len() as u32, 0)).payload, 10);
}

#[test]
fn decode__other_link_types() {
    let ip = tcp_frame(10)[14..].to_vec();
    let sll = [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x08, 0][..], &ip].concat();
    let sll2 = [&[0x08, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &ip].concat();
    let null = [&[2, 0, 0, 0][..], &ip].concat();
    for (link_type, frame) in [(113, sll), (276, sll2), (0, null), (101, ip)] {
        assert_eq!(
            segment(decode(link_type, &frame, frame.len() as u32, 0)).payload,
            10,
            "link type {link_type}"
        );
    }
    assert_eq!(decode(147, &[0x45; 60], 60, 0), Decoded::NotIp);
}

#[test]
fn decode__ipv6_with_extension_headers() {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(443, 40000);
    builder.write(&mut frame, &[0; 20]).unwrap();
    let mut extended = frame[..40].to_vec();
    extended[5] += 8;
    extended[6] = 60;
    extended.extend([17, 0, 1, 4, 0, 0, 0, 0]);
    extended.extend(&frame[40..]);
    let got = segment(decode(101, &extended[..60], extended.len() as u32, 0));
    assert_eq!((got.payload, got.from.port, got.tcp), (20, 443, None));
}

#[test]
fn decode__names_what_it_leaves_out() {
    let mut arp = tcp_frame(0);
    (arp[12], arp[13]) = (0x08, 0x06);
    assert_eq!(decode(1, &arp, 54, 0), Decoded::NotIp);
    let mut icmp = tcp_frame(0);
    icmp[23] = 1;
    assert_eq!(decode(1, &icmp, 54, 0), Decoded::OtherProtocol(20));
    let mut fragment = tcp_frame(0);
    fragment[20] = 0x20;
    assert_eq!(decode(1, &fragment, 54, 0), Decoded::Fragment(20));
}
