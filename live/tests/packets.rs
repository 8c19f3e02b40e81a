//! The table of packets, a test for each row: which flow a frame belongs to, how it is counted, and
//! what changes in it.
//!
//! The marker is SFD with a threshold of one packet: the first packet of a flow is green and
//! unchanged, later ones are yellow and get the DSCP LE.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

mod common;

use common::frame::{
    self, ACK, ARP, IPV4, IPV6, SYN, TCP, UDP, V4, V6, ethernet, tcp, udp, vlan, with_traffic_class,
};
use common::{Config, Context, DROP, Harness, NEXT, can_run, params};
use mousehole_live::layout::{ACCOUNT, Count, Counters, Flow, HAS_TWINS, KEEP_DSCP, Key, Plain as _};
use mousehole_policy::View;
use std::mem::offset_of;

/// DSCP of the lower effort service (RFC 8622).
const LE: u8 = 1;

/// Returns settings of the marker with a threshold of one packet.
fn configure_marking() -> Config {
    Config::new(&[params("sfd", &[("th", "1p")])]).with_dscp([KEEP_DSCP, LE, LE])
}

/// Returns the marker with these settings.
fn load_marker(config: &Config) -> Harness {
    Harness::load_built_in("sfd-none-none", 1024, config)
}

/// Returns the key of an IPv4 flow.
fn build_key4(header: &V4, protocol: u8, ports: (u16, u16)) -> Key {
    Key {
        source: header.source.to_ipv6_mapped().octets(),
        destination: header.destination.to_ipv6_mapped().octets(),
        source_port: ports.0.to_be_bytes(),
        destination_port: ports.1.to_be_bytes(),
        protocol,
        reserved: [0; 3],
    }
}

/// Returns the key of an IPv6 flow.
fn build_key6(header: &V6, protocol: u8, ports: (u16, u16)) -> Key {
    Key {
        source: header.source.octets(),
        destination: header.destination.octets(),
        ..build_key4(&V4::new(0), protocol, ports)
    }
}

/// Asserts that a frame with its IP header at `offset` belongs to the flow of `key`, is counted
/// exactly, and changes in nothing but its DSCP and checksum. The frame is run three times; without
/// the right to load programs nothing is asserted.
#[track_caller]
fn assert_flow(frame: &[u8], offset: usize, key: Key, is_fragment: bool) {
    assert_flow_with(&configure_marking(), frame, offset, key, is_fragment);
}

/// Asserts the same as [`assert_flow`], with other settings.
#[track_caller]
fn assert_flow_with(config: &Config, frame: &[u8], offset: usize, key: Key, is_fragment: bool) {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(config);
    let (is_v4, ecn) = match frame[offset] >> 4 {
        4 => (true, frame[offset + 1] & 3),
        _ => (false, frame[offset + 1] >> 4 & 3),
    };
    let marked = with_traffic_class(frame, offset, LE << 2 | ecn);
    assert_ne!(marked, frame);
    for expected in [frame, &marked, &marked] {
        let outcome = harness.run(frame, Context::default());
        assert_eq!(outcome.verdict, NEXT);
        assert_eq!(outcome.frame, expected);
        assert_eq!(outcome.context.priority, 0);
    }
    let bytes = (frame.len() - offset) as u64;
    let count = |packets: u64| Count { packets, bytes: packets * bytes };
    let mut expected =
        Counters { colour: [count(1), count(2), count(0)], new_flows: 1, ..Counters::default() };
    *(if is_v4 { &mut expected.ipv4 } else { &mut expected.ipv6 }) = count(3);
    expected.fragments = if is_fragment { count(3) } else { count(0) };
    assert_eq!(harness.counters(), expected);
    let flows = harness.flows();
    assert_eq!(flows.len(), 1, "{flows:?}");
    let (found, flow, _) = &flows[0];
    assert_eq!(*found, key);
    assert_eq!((flow.packets(), flow.bytes, flow.colour), (3, 3 * bytes, 1));
    assert_eq!(
        (flow.colour_packets, flow.dropped, flow.ce_marked, flow.already_marked),
        ([1, 2, 0], [0; 4], 0, 0)
    );
}

/// Asserts that a frame is passed on unchanged, is counted once, and opens no flow. Without the
/// right to load programs nothing is asserted.
#[track_caller]
fn assert_passed_on(frame: &[u8], is_malformed: bool) {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(&configure_marking());
    for _ in 0..3 {
        let outcome = harness.run(frame, Context::default());
        assert_eq!((outcome.verdict, outcome.frame), (NEXT, frame));
    }
    let count = Count { packets: 3, bytes: 3 * frame.len() as u64 };
    let expected = match is_malformed {
        true => Counters { malformed: count, ..Counters::default() },
        false => Counters { not_ip: count, ..Counters::default() },
    };
    assert_eq!(harness.counters(), expected);
    assert!(harness.flows().is_empty());
}

#[test]
fn ipv4__tcp_and_its_checksum() {
    let header = V4::new(TCP);
    assert_flow(
        &ethernet(IPV4, &header.packet(&tcp(443, 50_000, ACK, 300))),
        14,
        build_key4(&header, TCP, (443, 50_000)),
        false,
    );
}

#[test]
fn ipv4__transports_with_ports() {
    for protocol in [UDP, 33, 132, 136] {
        let header = V4::new(protocol);
        let key = build_key4(&header, protocol, (5060, 7000));
        assert_flow(&ethernet(IPV4, &header.packet(&udp(5060, 7000, &[9; 40]))), 14, key, false);
    }
}

#[test]
fn ipv4__options() {
    for words in 1..=10 {
        let header = V4 { options: vec![1; words * 4], ..V4::new(TCP) };
        let frame = ethernet(IPV4, &header.packet(&tcp(443, 50_000, ACK, 100)));
        assert_flow(&frame, 14, build_key4(&header, TCP, (443, 50_000)), false);
    }
}

#[test]
fn ipv6__traffic_class_and_flow_label() {
    let key = build_key6(&V6::new(), TCP, (443, 50_000));
    // Every ECN codepoint is kept, and so is the label.
    for ecn in 0..4 {
        let header = V6 { traffic_class: ecn, ..V6::new() };
        assert_flow(&ethernet(IPV6, &header.packet(TCP, &tcp(443, 50_000, ACK, 100))), 14, key, false);
    }
}

#[test]
fn ipv6__extension_headers_up_to_8() {
    let kinds = [0u8, 43, 60, 51, 135, 139, 140, 60];
    for number in 0..=8 {
        let (mut next, mut payload) = (TCP, tcp(443, 50_000, ACK, 10));
        for at in (0..number).rev() {
            let bytes = [8, 16, 24][at % 3];
            payload =
                frame::extension(kinds[at], if kinds[at] == 51 { bytes + 4 } else { bytes }, next, &payload);
            next = kinds[at];
        }
        let key = build_key6(&V6::new(), TCP, (443, 50_000));
        assert_flow(&ethernet(IPV6, &V6::new().packet(next, &payload)), 14, key, false);
    }
}

#[test]
fn ipv6__ninth_extension_header_is_not_followed() {
    let mut payload = frame::extension(43, 8, TCP, &tcp(443, 50_000, ACK, 10));
    for next in [43u8, 60, 60, 60, 60, 60, 60, 60] {
        payload = frame::extension(60, 8, next, &payload);
    }
    let key = build_key6(&V6::new(), 43, (0, 0));
    assert_flow(&ethernet(IPV6, &V6::new().packet(60, &payload)), 14, key, false);
}

#[test]
fn vlan__one_and_two_tags() {
    let header = V4::new(TCP);
    let packet = header.packet(&tcp(443, 50_000, ACK, 100));
    let key = build_key4(&header, TCP, (443, 50_000));
    assert_flow(&ethernet(0x8100, &vlan(5, IPV4, &packet)), 18, key, false);
    assert_flow(&ethernet(0x88a8, &vlan(6, 0x8100, &vlan(5, IPV4, &packet))), 22, key, false);
    let packet = V6::new().packet(UDP, &udp(53, 4000, &[1; 60]));
    let key = build_key6(&V6::new(), UDP, (53, 4000));
    assert_flow(&ethernet(0x8100, &vlan(5, IPV6, &packet)), 18, key, false);
    assert_flow(&ethernet(0x88a8, &vlan(6, 0x8100, &vlan(5, IPV6, &packet))), 22, key, false);
}

#[test]
fn vlan__third_tag_is_not_followed() {
    let packet = V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100));
    let tags = vlan(6, 0x8100, &vlan(5, 0x8100, &vlan(4, IPV4, &packet)));
    assert_passed_on(&ethernet(0x88a8, &tags), false);
}

#[test]
fn pppoe__ipv4_and_ipv6() {
    let header = V4::new(TCP);
    let packet = header.packet(&tcp(443, 50_000, ACK, 100));
    let key = build_key4(&header, TCP, (443, 50_000));
    assert_flow(&ethernet(0x8864, &frame::pppoe(0x21, &packet)), 22, key, false);
    assert_flow(&ethernet(0x8100, &vlan(7, 0x8864, &frame::pppoe(0x21, &packet))), 26, key, false);
    let packet = V6::new().packet(TCP, &tcp(443, 50_000, ACK, 100));
    assert_flow(
        &ethernet(0x8864, &frame::pppoe(0x57, &packet)),
        22,
        build_key6(&V6::new(), TCP, (443, 50_000)),
        false,
    );
}

#[test]
fn pppoe__control_frames_are_passed_on() {
    // LCP in a session, and discovery.
    assert_passed_on(&ethernet(0x8864, &frame::pppoe(0xc021, &[9, 1, 0, 8, 1, 2, 3, 4])), false);
    assert_passed_on(&ethernet(0x8863, &[0x11, 9, 0, 0, 0, 4, 1, 1, 0, 0]), false);
}

#[test]
fn ipv4__fragments() {
    // The first fragment has ports, but is of the flow of the others. With MF: first; offset and MF; the last.
    for bits in [0x2000, 0x2000 | 185, 370] {
        let header = V4 { fragment: bits, ..V4::new(UDP) };
        let frame = ethernet(IPV4, &header.packet(&udp(53, 4000, &[3; 100])));
        assert_flow(&frame, 14, build_key4(&header, UDP, (0, 0)), true);
    }
}

#[test]
fn ipv6__fragments() {
    for bits in [1, 185 << 3 | 1, 370 << 3] {
        let payload = frame::fragment(bits, UDP, &udp(53, 4000, &[3; 100]));
        assert_flow(
            &ethernet(IPV6, &V6::new().packet(44, &payload)),
            14,
            build_key6(&V6::new(), UDP, (0, 0)),
            true,
        );
    }
}

#[test]
fn ipv6__atomic_fragment_is_whole() {
    let payload = frame::fragment(0, UDP, &udp(53, 4000, &[3; 100]));
    assert_flow(
        &ethernet(IPV6, &V6::new().packet(44, &payload)),
        14,
        build_key6(&V6::new(), UDP, (53, 4000)),
        false,
    );
}

#[test]
fn icmp__has_no_ports() {
    let header = V4::new(1);
    let echo = [8, 0, 0xf7, 0xff, 0, 1, 0, 1, 1, 2, 3, 4];
    assert_flow(&ethernet(IPV4, &header.packet(&echo)), 14, build_key4(&header, 1, (0, 0)), false);
    assert_flow(&ethernet(IPV6, &V6::new().packet(58, &echo)), 14, build_key6(&V6::new(), 58, (0, 0)), false);
}

/// A transport that slows down has a rate of one byte per second here, so its second packet is
/// yellow; datagrams may use the whole link.
#[test]
fn datagrams__are_what_may_not_slow_down() {
    if !can_run() {
        return;
    }
    let given = [("th", "300B"), ("small", "0B"), ("rate", "8bit"), ("datagrams", "80gbit")];
    let config = Config::new(&[params("excess", &given)]).with_dscp([KEEP_DSCP, LE, LE]);
    let expect = |frame: Vec<u8>, offset: usize, is_datagram: bool| {
        let mut harness = Harness::load_built_in("excess-none-none", 1024, &config);
        harness.run(&frame, Context::default());
        std::thread::sleep(std::time::Duration::from_millis(30)); // the program's clock has ticks
        let again = harness.run(&frame, Context::default());
        let marked = with_traffic_class(&frame, offset, LE << 2);
        assert_eq!(again.frame, if is_datagram { &frame } else { &marked }, "{frame:?}");
    };
    let ports = |source, destination| udp(source, destination, &[9; 200]);
    let v4 = |protocol, payload: &[u8]| ethernet(IPV4, &V4::new(protocol).packet(payload));
    let v6 = |protocol, payload: &[u8]| ethernet(IPV6, &V6::new().packet(protocol, payload));
    for (protocol, source, destination, is_datagram) in [
        (UDP, 5060, 7000, true),
        (UDP, 443, 7000, false),
        (UDP, 7000, 443, false),
        (33, 5060, 7000, false),
        (132, 5060, 7000, false),
        (136, 443, 7000, true),
        (1, 2048, 1, true),
        (47, 443, 443, true),
    ] {
        expect(v4(protocol, &ports(source, destination)), 14, is_datagram);
        expect(v6(protocol, &ports(source, destination)), 14, is_datagram);
    }
    expect(v4(TCP, &tcp(80, 50_000, ACK, 200)), 14, false);
    expect(v6(TCP, &tcp(80, 50_000, ACK, 200)), 14, false);
}

#[test]
fn not_ip__is_passed_on() {
    let mut arp = vec![0, 1, 8, 0, 6, 4, 0, 1];
    arp.extend([7; 20]);
    assert_passed_on(&ethernet(ARP, &arp), false);
    assert_passed_on(&ethernet(0x88cc, &[2, 7, 4, 1, 2, 3, 4, 5, 6]), false);
}

#[test]
fn malformed__is_passed_on() {
    let packet = V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100));
    let changed = |at: usize, to: u8| {
        let mut packet = packet.clone();
        packet[at] = to;
        ethernet(IPV4, &packet)
    };
    assert_passed_on(&changed(0, 0x65), true); // version 6 under IPv4's type
    assert_passed_on(&changed(0, 0x44), true); // a header of 16 bytes
    assert_passed_on(
        &ethernet(IPV4, &[packet[..2].to_vec(), vec![0, 19], packet[4..].to_vec()].concat()),
        true,
    );
    // Cut off in the header. (Without the tag, the kernel itself refuses to try these.)
    assert_passed_on(&ethernet(0x8100, &vlan(5, IPV4, &packet[..19])), true);
    let packet = V6::new().packet(TCP, &tcp(443, 50_000, ACK, 100));
    assert_passed_on(&ethernet(0x8100, &vlan(5, IPV6, &packet[..39])), true);
    assert_passed_on(&ethernet(IPV6, &[vec![0x50], packet[1..].to_vec()].concat()), true);
}

#[test]
fn tunnels__by_outer_addresses() {
    let inner4 = V4 { source: [172, 16, 0, 1].into(), ..V4::new(TCP) }.packet(&tcp(443, 50_000, ACK, 80));
    let inner6 = V6::new().packet(TCP, &tcp(443, 50_000, ACK, 80));
    for (protocol, payload) in [
        (47, [&[0, 0, 8, 0], &inner4[..]].concat()), // GRE
        (4, inner4.clone()),                         // IPIP
        (41, inner6),                                // 6in4
        (50, vec![0x5a; 96]),                        // ESP
    ] {
        let header = V4::new(protocol);
        assert_flow(
            &ethernet(IPV4, &header.packet(&payload)),
            14,
            build_key4(&header, protocol, (0, 0)),
            false,
        );
    }
    let header = V4::new(UDP);
    let vxlan = [&[8, 0, 0, 0, 0, 0, 42, 0], &ethernet(IPV4, &inner4)[..]].concat();
    assert_flow(
        &ethernet(IPV4, &header.packet(&udp(51_000, 4789, &vxlan))),
        14,
        build_key4(&header, UDP, (51_000, 4789)),
        false,
    );
}

#[test]
fn link_header__none() {
    // The kernel's test run reads the type from bytes 12 and 13, which are in the source address here.
    let mut config = configure_marking();
    config.first.link_header_bytes = 0;
    let header = V4 { source: [8, 0, 7, 7].into(), ..V4::new(TCP) };
    let packet = header.packet(&tcp(443, 50_000, ACK, 100));
    assert_flow_with(&config, &packet, 0, build_key4(&header, TCP, (443, 50_000)), false);
    let header = V6 { source: [0x2001, 0xdb8, 0x86dd, 1, 1, 1, 1, 1].into(), ..V6::new() };
    let packet = header.packet(TCP, &tcp(443, 50_000, ACK, 100));
    assert_flow_with(&config, &packet, 0, build_key6(&header, TCP, (443, 50_000)), false);
}

#[test]
fn label__tells_a_native_queue_of_ecn_and_dscp_of_a_packet_without_a_twin() {
    if !can_run() {
        return;
    }
    let mut config = Config::new(&[]);
    config.first.flags = HAS_TWINS;
    let mut harness = Harness::load_built_in("none-none-none", 1024, &config);
    let frame = ethernet(IPV4, &V4::new(UDP).packet(&udp(443, 50_000, &[0; 100])));
    for (field, flags) in [(45 << 2, 0), (45 << 2 | 3, View::ECT | View::L4S)] {
        let frame = with_traffic_class(&frame, 14, field);
        harness.loaded.write("ml_queues", 0, &0u32.to_ne_bytes()).unwrap();
        assert_eq!(harness.run(&frame, Context::default()).context.cb, [0; 5], "no queue is there");
        harness.loaded.write("ml_queues", 0, &1u32.to_ne_bytes()).unwrap();
        let outcome = harness.run(&frame, Context::default());
        assert_eq!((outcome.verdict, outcome.frame), (NEXT, &frame[..]));
        assert_eq!(outcome.context.cb, [0x6d6f_7573, u32::from(flags) << 8 | 45 << 16, 0, 0, 0]);
    }
}

#[test]
fn super_packet__counts_its_segments() {
    if !can_run() {
        return;
    }
    let mut harness =
        load_marker(&Config { params: vec![params("sfd", &[("th", "20p")])], ..configure_marking() });
    // 10 segments of 100 bytes, each with 54 bytes of headers on the wire.
    let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 1000)));
    let wire = 10 * (100 + 54);
    let context = Context { wire_len: wire, gso_segs: 10, gso_size: 100, ..Context::default() };
    for at in 0..3 {
        let outcome = harness.run(&frame, context);
        let expected = if at < 2 { frame.clone() } else { with_traffic_class(&frame, 14, LE << 2) };
        assert_eq!((outcome.verdict, outcome.frame), (NEXT, &expected[..]));
        assert_eq!((outcome.context.wire_len, outcome.context.gso_segs), (wire, 10));
    }
    // The IP length of a segment: without Ethernet's header.
    let count = |packets| Count { packets, bytes: packets * (100 + 40) };
    let counters = harness.counters();
    assert_eq!((counters.ipv4, counters.super_packets, counters.new_flows), (count(30), count(30), 1));
    assert_eq!(counters.colour, [count(20), count(10), count(0)]);
    let flow = harness.flows()[0].1;
    assert_eq!((flow.packets(), flow.bytes, flow.colour_packets), (30, 30 * 140, [20, 10, 0]));
}

#[test]
fn wire_len__is_what_counts_not_the_frame() {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(&configure_marking());
    let frame = ethernet(IPV4, &V4::new(UDP).packet(&udp(1, 2, &[0; 10])));
    harness.run(&frame, Context { wire_len: 1014, ..Context::default() });
    assert_eq!(harness.counters().ipv4, Count { packets: 1, bytes: 1000 });
}

#[test]
fn syn__resets_its_flow() {
    if !can_run() {
        return;
    }
    let mut harness = load_marker(&configure_marking());
    let data = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100)));
    let syn = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, SYN, 0)));
    let marked = with_traffic_class(&data, 14, LE << 2);
    for (frame, expected) in [(&data, &data), (&data, &marked), (&syn, &syn), (&data, &marked)] {
        assert_eq!(harness.run(frame, Context::default()).frame, &expected[..]);
    }
    let flows = harness.flows();
    assert_eq!((flows.len(), flows[0].1.packets(), flows[0].1.colour_packets), (1, 4, [2, 2, 0]));
    // Without the option it does not.
    let mut harness = load_marker(&Config {
        params: vec![params("sfd", &[("th", "1p"), ("syn", "false")])],
        ..configure_marking()
    });
    harness.run(&data, Context::default());
    assert_eq!(harness.run(&syn, Context::default()).frame, &with_traffic_class(&syn, 14, LE << 2)[..]);
}

#[test]
fn ecn__is_never_touched_by_a_marker() {
    let key = build_key4(&V4::new(TCP), TCP, (443, 50_000));
    for traffic_class in 0..4 {
        let header = V4 { traffic_class, ..V4::new(TCP) };
        assert_flow(&ethernet(IPV4, &header.packet(&tcp(443, 50_000, ACK, 60))), 14, key, false);
    }
}

#[test]
fn marks_of_others__are_respected() {
    if !can_run() {
        return;
    }
    // Expedited forwarding, with ECT(0).
    let class = 46 << 2 | 2;
    for frame in [
        ethernet(IPV4, &V4 { traffic_class: class, ..V4::new(TCP) }.packet(&tcp(443, 50_000, ACK, 60))),
        ethernet(IPV6, &V6 { traffic_class: class, ..V6::new() }.packet(TCP, &tcp(443, 50_000, ACK, 60))),
    ] {
        let mut harness = load_marker(&configure_marking());
        for _ in 0..3 {
            assert_eq!(harness.run(&frame, Context::default()).frame, &frame[..]);
        }
        let bytes = 2 * (frame.len() as u64 - 14);
        assert_eq!(harness.counters().already_marked, Count { packets: 2, bytes });
        assert_eq!(harness.flows()[0].1.already_marked, 2);
        let mut config = configure_marking();
        config.first.action.overrides = 1;
        let mut harness = load_marker(&config);
        harness.run(&frame, Context::default());
        let marked = with_traffic_class(&frame, 14, LE << 2 | 2);
        assert_eq!(harness.run(&frame, Context::default()).frame, &marked[..]);
        assert_eq!(harness.counters().already_marked, Count::default());
    }
}

#[test]
fn checksum__is_right_for_every_old_and_new_mark() {
    if !can_run() {
        return;
    }
    for dscp in [0, 1, 8, 46, 63] {
        let mut config = configure_marking().with_dscp([KEEP_DSCP, dscp, dscp]);
        config.first.action.overrides = 1;
        let mut harness = load_marker(&config);
        for class in 0..=255 {
            let header = V4 { traffic_class: class, ..V4::new(UDP) };
            let frame = ethernet(IPV4, &header.packet(&udp(1, 2, &[class; 8])));
            let outcome = harness.run(&frame, Context::default());
            let expected = if class == 0 { class } else { dscp << 2 | class & 3 };
            assert_eq!(outcome.frame, &with_traffic_class(&frame, 14, expected)[..], "{class} to {dscp}");
            assert_eq!(frame::fold_checksum(&outcome.frame[14..34]), 0xffff);
        }
    }
}

#[test]
fn shadow__changes_nothing_and_counts() {
    if !can_run() {
        return;
    }
    let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100)));
    let mut config = configure_marking();
    config.first.shadow = 1;
    config.first.action.priority = [0, 7, 7];
    let mut harness = load_marker(&config);
    for _ in 0..3 {
        let outcome = harness.run(&frame, Context { priority: 3, ..Context::default() });
        assert_eq!((outcome.verdict, outcome.frame, outcome.context.priority), (NEXT, &frame[..], 3));
    }
    assert_eq!(harness.counters().colour.map(|count| count.packets), [1, 2, 0]);
    // A queue without room decides to drop, and does not.
    let mut config = Config::new(&[]).with_fifo(1_000_000, 0, 0, 1, 0);
    config.first.shadow = 1;
    let mut harness = Harness::load_built_in("none-none-droptail", 1024, &config);
    for _ in 0..10 {
        assert_eq!(harness.run(&frame, Context::default()).verdict, NEXT);
    }
    assert_eq!(harness.counters().dropped[2].packets, 8);
}

/// Replaces a 32-bit word at byte `at` of an entry of an array map. Returns the former one.
fn exchange_word(harness: &Harness, map: &str, index: u32, at: usize, word: u32) -> u32 {
    let (map, index) = (harness.map(map), index.to_ne_bytes());
    let mut entry = map.lookup(&index).expect("the map can be read").expect("an array");
    let before = u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap());
    entry[at..at + 4].copy_from_slice(&word.to_ne_bytes());
    map.update(&index, &entry).expect("the map can be written");
    before
}

#[test]
fn lock__that_stays_taken_lets_packets_pass_and_is_not_given_back() {
    if !can_run() {
        return;
    }
    let lock = ACCOUNT + offset_of!(Flow, lock);
    let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100)));
    let mut harness = load_marker(&configure_marking());
    harness.run(&frame, Context::default());
    let flows = harness.map("ml_flows");
    let is_used = |index: &Vec<u8>| {
        let entry = flows.lookup(index).unwrap().unwrap();
        Flow::read(&entry[ACCOUNT..]).packets() > 0
    };
    let index = flows.keys().find(is_used).map(|index| u32::from_ne_bytes(index.try_into().unwrap()));
    let index = index.expect("the flow has an entry");
    assert_eq!(exchange_word(&harness, "ml_flows", index, lock, 1), 0, "free after a packet");
    for _ in 0..2 {
        let outcome = harness.run(&frame, Context::default());
        assert_eq!((outcome.verdict, outcome.frame), (NEXT, &frame[..]), "undecided, hence unmarked");
    }
    assert_eq!((harness.counters().lock_busy, harness.flows()[0].1.packets()), (2, 1));
    assert_eq!(exchange_word(&harness, "ml_flows", index, lock, 0), 1, "still its holder's");
    assert_eq!(harness.run(&frame, Context::default()).frame[15], LE << 2, "decided again");

    // The queue's lock, for packets that it decides on and for others.
    let mut harness = Harness::load_built_in(
        "none-none-droptail",
        1024,
        &Config::new(&[]).with_fifo(1_000_000, 0, 0, 1, 0),
    );
    exchange_word(&harness, "ml_state", 0, 0, 1);
    for frame in [&frame, &ethernet(ARP, &[1; 28])].repeat(5) {
        assert_eq!(harness.run(frame, Context::default()).verdict, NEXT, "no queue is full");
    }
    assert_eq!(harness.counters().lock_busy, 10);
    assert_eq!(exchange_word(&harness, "ml_state", 0, 0, 0), 1, "still its holder's");
}

#[test]
fn priority__is_set_only_where_asked() {
    if !can_run() {
        return;
    }
    let frame = ethernet(IPV4, &V4::new(TCP).packet(&tcp(443, 50_000, ACK, 100)));
    let mut config = configure_marking().with_dscp([KEEP_DSCP; 3]);
    config.first.action.priority = [0, 0x8001_0001, 0x8001_0001];
    let mut harness = load_marker(&config);
    let mut priority = |before: u32| {
        let outcome = harness.run(&frame, Context { priority: before, ..Context::default() });
        assert_eq!((outcome.verdict, outcome.frame), (NEXT, &frame[..]), "no byte changes");
        outcome.context.priority
    };
    assert_eq!(priority(6), 6, "green");
    assert_eq!(priority(6), 0x8001_0001, "yellow");
    assert_eq!(priority(0x8001_0003), 0x8001_0003, "a class of the same queue that somebody chose");
    assert_eq!(priority(0x8002_0003), 0x8001_0001, "a class of another queue");
}

/// Returns settings of RED whose average follows the queue at once: it marks from the second
/// waiting packet on, and its forced drops would begin at 1,000.
fn configure_red(ecn: &str) -> Config {
    let given = [("min", "1"), ("max", "1000"), ("maxp", "1"), ("wq", "1"), ("wait", "false"), ("ecn", ecn)];
    Config::new(&[params("red", &given)]).with_fifo(1_000_000, 0, 0, 500, 0)
}

#[test]
fn ce__is_set_by_a_queue_on_what_is_ect_and_by_nothing_else() {
    if !can_run() {
        return;
    }
    for (ecn, class) in [("true", 0), ("true", 1), ("true", 2), ("true", 3), ("false", 2)] {
        for dscp in [0, 46 << 2] {
            let v4 = V4 { traffic_class: class | dscp, ..V4::new(TCP) }.packet(&tcp(443, 50_000, ACK, 900));
            let v6 = V6 { traffic_class: class | dscp, ..V6::new() }.packet(TCP, &tcp(443, 50_000, ACK, 900));
            for frame in [ethernet(IPV4, &v4), ethernet(IPV6, &v6)] {
                let mut harness = Harness::load_built_in("none-none-red", 1024, &configure_red(ecn));
                let (mut changed, mut dropped) = (0, 0);
                for _ in 0..300 {
                    let outcome = harness.run(&frame, Context::default());
                    if outcome.verdict == DROP {
                        dropped += 1;
                    } else if outcome.frame != frame {
                        assert_eq!(outcome.frame, &with_traffic_class(&frame, 14, dscp | 3)[..]);
                        changed += 1;
                    }
                }
                let counters = harness.counters();
                assert_eq!((counters.dropped[0].packets, counters.dropped[1].packets), (dropped, 0));
                let marks = counters.ce_marked.packets;
                match (ecn, class) {
                    ("true", 1 | 2) => {
                        assert!(changed > 10 && changed == marks && dropped == 0, "{counters:?}")
                    }
                    ("true", 3) => assert!(marks > 10 && changed == 0 && dropped == 0, "{counters:?}"),
                    _ => assert!(dropped > 10 && changed == 0 && marks == 0, "{counters:?}"),
                }
            }
        }
    }
}

#[test]
fn queue__drops_at_its_limit_and_passes_what_is_not_ip() {
    if !can_run() {
        return;
    }
    let packet = ethernet(IPV4, &V4::new(UDP).packet(&udp(1, 2, &[0; 972])));
    let arp = ethernet(ARP, &[0; 28]);
    // 1000 B take 8 s at 1 kbit/s: one is in transmission, and four wait.
    for config in
        [(4, 0), (0, 4999)].map(|(packets, bytes)| Config::new(&[]).with_fifo(1000, 0, 0, packets, bytes))
    {
        let mut harness = Harness::load_built_in("none-none-droptail", 1024, &config);
        let verdicts: Vec<u32> = (0..8).map(|_| harness.run(&packet, Context::default()).verdict).collect();
        assert_eq!(verdicts, [NEXT, NEXT, NEXT, NEXT, NEXT, DROP, DROP, DROP]);
        let counters = harness.counters();
        assert_eq!(counters.dropped[2], Count { packets: 3, bytes: 3000 });
        assert_eq!(counters.colour_dropped[0], Count { packets: 3, bytes: 3000 });
        assert_eq!(counters.ipv4, Count { packets: 8, bytes: 8000 });
        assert_eq!(harness.run(&arp, Context::default()).verdict, NEXT);
        assert_eq!(harness.counters().not_ip.packets, 1);
    }
}
