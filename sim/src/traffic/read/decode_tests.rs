#![allow(non_snake_case)]
use super::*;
use etherparse::PacketBuilder;

const V4: ([u8; 4], [u8; 4]) = ([10, 0, 0, 1], [10, 0, 0, 2]);

/// Returns a SYN over IPv4 and Ethernet with `payload` bytes.
fn tcp_frame(payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(V4.0, V4.1, 64).tcp(5000, 80, 77, 4000).syn();
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; payload]).unwrap();
    frame
}

/// Returns the decoded segment; anything else fails the test.
fn expect_segment(decoded: Decoded) -> Segment {
    match decoded {
        Decoded::Segment(segment) => segment,
        other => panic!("{other:?}"),
    }
}

#[test]
fn decode__reads_tcp_over_ethernet() {
    let frame = tcp_frame(100);
    let got = expect_segment(decode(1, &frame, frame.len() as u32, 9));
    assert_eq!((got.at, got.payload, got.from.port, got.to.port), (9, 100, 5000, 80));
    assert!(got.tcp.unwrap().has_flags(Tcp::SYN) && got.tcp.unwrap().seq == 77);
}

#[test]
fn decode__takes_true_lengths_of_cut_packets() {
    let frame = tcp_frame(1000);
    for cut in [48, 54, 60, 74] {
        assert_eq!(
            expect_segment(decode(1, &frame[..cut], frame.len() as u32, 0)).payload,
            1000,
            "cut at {cut}"
        );
    }
    for cut in [10, 20, 46] {
        assert_eq!(decode(1, &frame[..cut], 1054, 0), Decoded::LeftOut(reason::CUT.into()), "cut at {cut}");
    }
}

#[test]
fn decode__ignores_ethernet_padding() {
    let mut frame = tcp_frame(2);
    frame.resize(60, 0);
    assert_eq!(expect_segment(decode(1, &frame, 60, 0)).payload, 2);
}

#[test]
fn decode__zero_total_length_means_length_on_the_wire() {
    let mut frame = tcp_frame(3000);
    (frame[16], frame[17]) = (0, 0);
    assert_eq!(expect_segment(decode(1, &frame[..74], 3054, 0)).payload, 3000);
}

#[test]
fn decode__follows_vlan_tags_and_pppoe() {
    let plain = tcp_frame(10);
    let (macs, rest) = plain.split_at(12);
    let tagged = [macs, &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2], rest].concat();
    assert_eq!(expect_segment(decode(1, &tagged, tagged.len() as u32, 0)).payload, 10);
    let pppoe = [macs, &[0x88, 0x64, 0x11, 0, 0, 1, 0, 52, 0, 0x21], &rest[2..]].concat();
    assert_eq!(expect_segment(decode(1, &pppoe, pppoe.len() as u32, 0)).payload, 10);
}

#[test]
fn decode__other_link_types() {
    let ip = tcp_frame(10)[14..].to_vec();
    let sll = [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x08, 0][..], &ip].concat();
    let sll2 = [&[0x08, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0][..], &ip].concat();
    let null = [&[2, 0, 0, 0][..], &ip].concat();
    for (link_type, frame) in [(113, sll), (276, sll2), (0, null), (101, ip)] {
        assert_eq!(
            expect_segment(decode(link_type, &frame, frame.len() as u32, 0)).payload,
            10,
            "link type {link_type}"
        );
    }
    assert_eq!(decode(147, &[0x45; 60], 60, 0), Decoded::LeftOut(Reason::LinkType(147)));
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
    let got = expect_segment(decode(101, &extended[..60], extended.len() as u32, 0));
    assert_eq!((got.payload, got.from.port, got.tcp), (20, 443, None));
}

#[test]
fn decode__names_what_it_leaves_out() {
    let mut arp = tcp_frame(0);
    (arp[12], arp[13]) = (0x08, 0x06);
    assert_eq!(decode(1, &arp, 54, 0), Decoded::LeftOut(Reason::EtherType(0x0806)));
    assert_eq!(decode(1, &[0; 9], 9, 0), Decoded::LeftOut(reason::RUNT.into()));
    assert_eq!(decode(101, &[0x25; 60], 60, 0), Decoded::LeftOut(reason::NOT_IP.into()));
}

#[test]
fn decode__keeps_the_ip_length_of_other_protocols() {
    let mut icmp = tcp_frame(64);
    icmp[23] = 1;
    let got = expect_segment(decode(1, &icmp, icmp.len() as u32, 5));
    assert_eq!((got.protocol, got.from.port, got.to.port), (1, 0, 0));
    assert_eq!((got.ip_bytes, got.payload, got.wire), (104, 84, 118));
    icmp[23] = 132;
    let got = expect_segment(decode(1, &icmp[..38], icmp.len() as u32, 5));
    assert_eq!((got.protocol, got.from.port, got.to.port, got.ip_bytes), (132, 5000, 80, 104), "SCTP");
    icmp[23] = 50;
    let got = expect_segment(decode(1, &icmp, icmp.len() as u32, 5));
    assert_eq!((got.protocol, got.from.port), (50, 0), "ESP");
}

#[test]
fn decode__shows_quic_on_any_port() {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(V4.0, V4.1, 64).udp(5000, 8443);
    builder.write(&mut frame, &[&[0xc3, 0, 0, 0, 1][..], &[7; 1195]].concat()).unwrap();
    let got = expect_segment(decode(1, &frame, frame.len() as u32, 0));
    assert_eq!((got.is_quic, got.payload, got.ip_bytes), (true, 1200, 1228));
    let tagged = [&frame[..12], &[0x81, 0, 0, 2], &frame[12..]].concat();
    let got = expect_segment(decode(1, &tagged, tagged.len() as u32, 0));
    assert_eq!((got.is_quic, got.ip_bytes, got.wire), (true, 1228, 1246), "VLAN");
}

#[test]
fn decode__a_length_beyond_the_frame_is_not_believed() {
    let frame = tcp_frame(100);
    let mut lying = frame.clone();
    (lying[16], lying[17]) = (0x20, 0);
    let got = expect_segment(decode(1, &lying, lying.len() as u32, 0));
    assert_eq!((got.payload, got.overclaimed, got.wire), (100, 0x2000 - 140, 154));
    assert_eq!(expect_segment(decode(1, &frame, frame.len() as u32, 0)).overclaimed, 0);
    // A record that says less was on the wire than was captured is wrong about itself.
    assert_eq!(expect_segment(decode(1, &frame, 60, 0)).payload, 100);
    (lying[16], lying[17]) = (0, 0);
    assert!(matches!(decode(1, &lying, u32::MAX, 0), Decoded::Fault(_)));
}

#[test]
fn decode__first_fragments_have_ports_and_later_ones_a_name() {
    let mut first = tcp_frame(12);
    (first[18], first[19], first[20]) = (0, 9, 0x20);
    let Decoded::FirstFragment(found) = decode(1, &first, 66, 0) else { panic!() };
    let FirstFragment { of, segment, is_tunnel } = *found;
    assert_eq!((segment.payload, segment.to.port, of.id, is_tunnel), (12, 80, 9, false));
    let mut later = first.clone();
    (later[20], later[21]) = (0, 4);
    assert_eq!(
        decode(1, &later, 66, 0),
        Decoded::LaterFragment(Box::new(LaterFragment { of, offset: 32, length: 32, ip_bytes: 52 }))
    );
}

#[test]
fn decode__ipv6_fragments_behind_other_extensions() {
    let fragment = |offset: u16| {
        let mut packet = vec![0x60, 0, 0, 0, 0, 48, 0, 64];
        packet.extend([[1u8; 16], [2; 16]].concat());
        packet.extend([44, 0, 1, 4, 0, 0, 0, 0, 17, 0]);
        packet.extend((offset << 3 | 1).to_be_bytes());
        packet.extend([0, 0, 0, 7]);
        packet.extend([1, 187, 156, 64, 8, 0, 0, 0]);
        packet.extend([0; 24]);
        decode(101, &packet, packet.len() as u32, 0)
    };
    let Decoded::FirstFragment(found) = fragment(0) else { panic!("{:?}", fragment(0)) };
    let FirstFragment { of, segment, .. } = *found;
    assert_eq!((segment.payload, segment.from.port, of.id), (24, 443, 7));
    assert_eq!(
        fragment(4),
        Decoded::LaterFragment(Box::new(LaterFragment { of, offset: 32, length: 32, ip_bytes: 88 }))
    );
}
