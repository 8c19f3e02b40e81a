//! Every entry of the list of what is understood, tried on a capture that is made here. `MOUSEHOLE_SAMPLES=FOLDER`
//! keeps the captures, for `make validation WHAT=reference ARGS=FOLDER`.
use crate::traffic_common::*;
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::connection::{Connection, Kind};
use mousehole_sim::traffic::read::formats::{LINK_TYPES, Understood, understood};
use mousehole_sim::traffic::read::{ReadOptions, read_contents};

const ETHERNET: u32 = 1;

/// Returns the IP packets of [`frames`], with their times in milliseconds.
fn packets() -> Vec<Timed> {
    frames().into_iter().map(|(ms, frame)| (ms, frame[14..].to_vec())).collect()
}

/// Returns a capture of a link type, with each packet in the frame that `wrap` makes.
fn make_capture(link_type: u32, wrap: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let wrapped = packets().into_iter().map(|(ms, packet)| (ms, wrap(packet))).collect();
    pcap_of_link(link_type, wrapped, false, false, usize::MAX)
}

/// Returns an Ethernet frame.
fn ethernet(ether_type: u16, content: &[u8]) -> Vec<u8> {
    [&[1; 6][..], &[2; 6], &ether_type.to_be_bytes(), content].concat()
}

/// Returns an Ethernet frame with an IPv4 packet of `protocol` between two routers.
fn tunnel(protocol: u8, content: &[u8]) -> Vec<u8> {
    ethernet(0x0800, &ipv4(protocol, [0, 0], content))
}

/// Returns an IPv4 packet between two routers; `fragment` are the bytes of flags and offset.
fn ipv4(protocol: u8, fragment: [u8; 2], content: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + content.len() as u16).to_be_bytes();
    let header =
        [0x45, 0, high, low, 0, 7, fragment[0], fragment[1], 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&header[..], content].concat()
}

/// Returns a frame with a UDP datagram between two routers.
fn udp(port: u16, content: &[u8]) -> Vec<u8> {
    let length = (8 + content.len() as u16).to_be_bytes();
    tunnel(17, &[&[0xc0, 1][..], &port.to_be_bytes(), &length, &[0, 0], content].concat())
}

/// Returns a frame with a GRE packet between two routers.
fn gre(flags: u16, protocol: u16, options: &[u8], content: &[u8]) -> Vec<u8> {
    tunnel(47, &[&flags.to_be_bytes()[..], &protocol.to_be_bytes(), options, content].concat())
}

/// Returns a PPPoE session's header, PPP's and the packet.
fn pppoe(packet: &[u8]) -> Vec<u8> {
    let length = (2 + packet.len() as u16).to_be_bytes();
    [&[0x11, 0, 0, 1][..], &length, &[0, 0x21], packet].concat()
}

/// Returns the IPv4 packet as one of IPv6, behind extension headers that begin with type `next`.
fn ipv6(packet: &[u8], next: u8, extensions: &[u8]) -> Vec<u8> {
    let length = (packet.len() - 20 + extensions.len()) as u16;
    let ends = [[0; 12].to_vec(), packet[12..16].to_vec(), [0; 12].to_vec(), packet[16..20].to_vec()];
    let header = [&[0x60, 0, 0, 0][..], &length.to_be_bytes(), &[next, 64], &ends.concat()].concat();
    [&header, extensions, &packet[20..]].concat()
}

/// Returns a frame with a GTP-U packet of these flags and optional fields.
fn gtp(flags: u8, options: &[u8], packet: &[u8]) -> Vec<u8> {
    let length = ((options.len() + packet.len()) as u16).to_be_bytes();
    udp(2152, &[&[flags, 0xff], &length[..], &[0, 0, 0, 1], options, packet].concat())
}

/// Returns the packet in a data frame of 802.11 to a distribution system; `qos` is 0x80 for one with quality of service.
fn dot11(qos: u8, packet: &[u8]) -> Vec<u8> {
    let control: &[u8] = if qos > 0 { &[0, 0] } else { &[] };
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    [&[0x08 | qos, 1, 0, 0][..], &[1; 6], &[2; 6], &[3; 6], &[0, 0], control, &snap, packet].concat()
}

/// Returns the capture in snoop's format.
fn snoop() -> Vec<u8> {
    let mut all = b"snoop\0\0\0\0\0\0\x02\0\0\0\x04".to_vec();
    for (ms, frame) in frames() {
        let (length, padded) = (frame.len() as u32, frame.len().next_multiple_of(4));
        let seconds = [(T0 + ms / 1000) as u32, (ms % 1000 * 1000) as u32];
        for word in [length, length, 24 + padded as u32, 0, seconds[0], seconds[1]] {
            all.extend(word.to_be_bytes());
        }
        all.extend(&frame);
        all.resize(all.len() + padded - frame.len(), 0);
    }
    all
}

/// Returns the capture in ERF's format, with an extension header in some records.
fn erf() -> Vec<u8> {
    let mut all = Vec::new();
    for (place, (ms, frame)) in frames().into_iter().enumerate() {
        let extension: &[u8] = if place % 2 == 1 { &[0x03, 0, 0, 0, 0, 0, 0, 0] } else { &[] };
        // To the next microsecond, since binary fractions of a second are none.
        let fraction = ((ms % 1000) << 32).div_ceil(1000) as u32;
        all.extend(fraction.to_le_bytes());
        all.extend(((T0 + ms / 1000) as u32).to_le_bytes());
        all.extend([2 | if extension.is_empty() { 0 } else { 0x80 }, 4]);
        for half in [18 + extension.len() + frame.len(), 0, frame.len()] {
            all.extend((half as u16).to_be_bytes());
        }
        all.extend(extension);
        all.extend([0, 0]);
        all.extend(&frame);
    }
    all
}

/// Returns the sample of a link type; panics for a type without one.
fn make_link(number: u32) -> Vec<u8> {
    let before = |header: &'static [u8]| move |packet: Vec<u8>| [header, &packet].concat();
    match number {
        1 => make_capture(1, |packet| ethernet(0x0800, &packet)),
        113 => make_capture(113, before(&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x08, 0])),
        276 => make_capture(276, before(&[0x08, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0])),
        12 | 14 | 101 | 228 => make_capture(number, before(&[])),
        229 => make_capture(229, |packet| ipv6(&packet, 6, &[])),
        0 => make_capture(0, before(&[2, 0, 0, 0])),
        108 => make_capture(108, before(&[0, 0, 0, 2])),
        9 => make_capture(9, before(&[0x21])),
        50 => make_capture(50, before(&[0xff, 0x03, 0x00, 0x21])),
        51 => make_capture(51, |packet| pppoe(&packet)),
        166 => make_capture(166, before(&[1, 3, 0, 0x21])),
        204 => make_capture(204, before(&[1, 0xff, 3, 0, 0x21])),
        104 => make_capture(104, before(&[0x0f, 0, 0x08, 0])),
        219 => make_capture(219, before(&[0, 1, 0, 64, 0, 2, 1, 64])),
        11 | 100 => make_capture(number, before(&[0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0])),
        239 => make_capture(239, |packet| {
            let length = (4 + packet.len() as u16).to_le_bytes();
            [&[2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0][..], &length, &[9, 0], &packet].concat()
        }),
        105 => make_capture(105, |packet| dot11(0, &packet)),
        // Two words of fields: time, flags and rate; the second frame has its header padded.
        127 => make_capture(127, |packet| {
            let is_padded = packet.len() > 100;
            let flags = if is_padded { 0x20 } else { 0 };
            let header =
                [&[0, 0, 26, 0, 7, 0, 0, 0x80, 0, 0, 0, 0][..], &[0; 4], &[9; 8], &[flags, 2]].concat();
            let mut frame = dot11(0x80, &packet);
            if is_padded {
                frame.splice(26..26, [0, 0]);
            }
            [header, frame].concat()
        }),
        119 => make_capture(119, |packet| {
            let length = 144u32;
            let header = [&[0x44, 0, 0, 0][..], &length.to_le_bytes(), &[0; 136]].concat();
            [header, dot11(0x80, &packet)].concat()
        }),
        163 => make_capture(163, |packet| {
            [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], &dot11(0, &packet)].concat()
        }),
        192 => make_capture(192, |packet| [&[0, 0, 8, 0, 105, 0, 0, 0][..], &dot11(0, &packet)].concat()),
        _ => panic!("make a sample of link type {number}"),
    }
}

/// Returns the sample of an entry of the list, and the reason for what must be left out of it;
/// `None` for an entry without sample.
fn find_sample(entry: &Understood) -> Option<(Vec<u8>, Option<&'static str>)> {
    match (entry.group, entry.name) {
        (LINK_TYPES, _) => Some((make_link(entry.key.parse().unwrap()), None)),
        (_, "QUIC") => None,
        (_, name) => Some(make_sample(name)),
    }
}

/// Returns every sample.
pub fn samples() -> Vec<Vec<u8>> {
    understood().iter().filter_map(find_sample).map(|(data, _)| data).collect()
}

/// Returns the sample of an entry that is no link type, and the reason for what must be left out of
/// it. It panics for a name without a sample.
fn make_sample(name: &str) -> (Vec<u8>, Option<&'static str>) {
    let wrapped = |wrap: &dyn Fn(&[u8]) -> Vec<u8>| (make_capture(ETHERNET, |packet| wrap(&packet)), None);
    let beside = |other: &dyn Fn(&[u8]) -> Vec<u8>| {
        let mut all: Vec<Timed> = frames();
        all.push((1, other(&packets()[0].1)));
        (pcap_of_link(ETHERNET, all, false, false, usize::MAX), None)
    };
    let left_out = |other: &dyn Fn(&[u8]) -> Vec<u8>, reason| (beside(other).0, Some(reason));
    match name {
        "pcap" => (pcap(false, true, 74), None),
        "pcap, nanoseconds" => (pcap(true, false, 74), None),
        "pcapng" => {
            let (first, second) = (frames()[..40].to_vec(), frames()[40..].to_vec());
            ([pcapng(&[(ETHERNET, first)]), pcapng(&[(ETHERNET, second)])].concat(), None)
        }
        "snoop" => (snoop(), None),
        "ERF" => (erf(), None),
        "gzip" => (gzip(&pcap(false, false, 74)), None),
        "VLAN (802.1Q)" => wrapped(&|packet| ethernet(0x8100, &[&[0, 1, 8, 0], packet].concat())),
        "QinQ (802.1ad)" => {
            wrapped(&|packet| ethernet(0x88a8, &[&[0, 1, 0x81, 0, 0, 2, 8, 0], packet].concat()))
        }
        "802.2 LLC with SNAP" => {
            let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
            wrapped(&|packet| ethernet(8 + packet.len() as u16, &[&snap, packet].concat()))
        }
        "PPPoE session" => wrapped(&|packet| ethernet(0x8864, &pppoe(packet))),
        "MPLS" => wrapped(&|packet| ethernet(0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64], packet].concat())),
        "Ethernet over MPLS" => wrapped(&|packet| {
            let control: &[u8] = if packet.len() > 100 { &[0; 4] } else { &[] };
            ethernet(0x8847, &[&[0, 2, 1, 64], control, &ethernet(0x0800, packet)].concat())
        }),
        "IP in IP" => wrapped(&|packet| tunnel(4, packet)),
        "6in4" => wrapped(&|packet| tunnel(41, &ipv6(packet, 6, &[]))),
        "GRE" => wrapped(&|packet| match packet.len() {
            40 => gre(0, 0x0800, &[], packet),
            ..100 => gre(0x4000, 0x0800, &[0, 0, 0, 0, 8, 0, 0, 4, 10, 0, 0, 9, 0, 0, 0, 0], packet),
            _ => gre(0xb000, 0x0800, &[0; 12], packet),
        }),
        "Ethernet in GRE" => wrapped(&|packet| gre(0, 0x6558, &[], &ethernet(0x0800, packet))),
        "PPTP" => wrapped(&|packet| gre(0x3081, 0x880b, &[0; 12], &[&[0xff, 3, 0, 0x21], packet].concat())),
        "ERSPAN I and II" => wrapped(&|packet| match packet.len() {
            ..100 => gre(0, 0x88be, &[], &ethernet(0x0800, packet)),
            _ => gre(0x1000, 0x88be, &[0, 0, 0, 0, 0x10, 0, 0, 1, 0, 0, 0, 0], &ethernet(0x0800, packet)),
        }),
        "ERSPAN III" => wrapped(&|packet| {
            let header = [0, 0, 0, 0, 0x20, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
            let options = if packet.len() > 100 {
                [&header[..], &[1], &[0; 8]].concat()
            } else {
                [&header[..], &[0]].concat()
            };
            gre(0x1000, 0x22eb, &options, &ethernet(0x0800, packet))
        }),
        "EtherIP" => wrapped(&|packet| tunnel(97, &[&[0x30, 0], &ethernet(0x0800, packet)[..]].concat())),
        "MPLS in IP" => wrapped(&|packet| tunnel(137, &[&[0, 2, 1, 64], packet].concat())),
        "VXLAN" => wrapped(&|packet| {
            let port = if packet.len() > 100 { 4789 } else { 8472 };
            udp(port, &[&[8, 0, 0, 0, 0, 0, 9, 0], &ethernet(0x0800, packet)[..]].concat())
        }),
        "Geneve" => wrapped(&|packet| {
            udp(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 0], &ethernet(0x0800, packet)[..]].concat())
        }),
        "GTP-U" => wrapped(&|packet| match packet.len() {
            ..100 => gtp(0x30, &[], packet),
            _ => gtp(0x34, &[0, 0, 0, 0x85, 1, 0, 9, 0], packet),
        }),
        "TZSP" => wrapped(&|packet| match packet.len() {
            ..100 => udp(37_008, &[&[1, 0, 0, 1, 0, 10, 1, 9, 1][..], &ethernet(0x0800, packet)].concat()),
            _ => udp(37_008, &[&[1, 0, 0, 18, 1][..], &dot11(0x80, packet)].concat()),
        }),
        "CAPWAP data" => wrapped(&|packet| match packet.len() {
            ..100 => udp(5247, &[&[0, 0x10, 2, 0, 0, 0, 0, 0][..], &ethernet(0x0800, packet)].concat()),
            _ => {
                let mut frame = dot11(0, packet);
                frame.swap(0, 1);
                udp(5247, &[&[0, 0x10, 3, 0, 0, 0, 0, 0][..], &frame].concat())
            }
        }),
        "L2TP v2" => wrapped(&|packet| match packet.len() {
            ..100 => udp(1701, &[&[0, 2, 0, 1, 0, 2, 0xff, 3, 0, 0x21][..], packet].concat()),
            _ => udp(
                1701,
                &[&[0x4a, 2, 0, 99, 0, 1, 0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x21][..], packet].concat(),
            ),
        }),
        "PBB (802.1ah)" => {
            wrapped(&|packet| ethernet(0x88e7, &[&[0, 0, 0, 1][..], &ethernet(0x0800, packet)].concat()))
        }
        "E-Tag (802.1BR)" => {
            wrapped(&|packet| ethernet(0x893f, &[&[0, 0, 0, 1, 0, 0, 8, 0][..], packet].concat()))
        }
        "VN-tag" => wrapped(&|packet| ethernet(0x8926, &[&[0, 0, 0, 1, 8, 0][..], packet].concat())),
        "Cisco metadata" => {
            wrapped(&|packet| ethernet(0x8909, &[&[1, 1, 0, 1, 0, 7, 8, 0][..], packet].concat()))
        }
        "NSH" => wrapped(&|packet| match packet.len() {
            ..100 => ethernet(0x894f, &[&[0, 0x02, 2, 1, 0, 0, 1, 255][..], packet].concat()),
            _ => ethernet(
                0x894f,
                &[&[0, 0x06, 1, 3, 0, 0, 1, 255][..], &[0; 16], &ethernet(0x0800, packet)].concat(),
            ),
        }),
        "TCP" => (pcap(false, false, usize::MAX), None),
        "IPv6 with extension headers" => {
            (make_capture(101, |packet| ipv6(&packet, 60, &[6, 0, 1, 4, 0, 0, 0, 0])), None)
        }
        "IP fragments" => (fragmented(), None),
        "segmentation offload" => wrapped(&|packet| with_length(packet, 0)),
        "IP length beyond the frame" => wrapped(&|packet| with_length(packet, 60_000)),
        "packets cut by the capture" => (pcap(false, false, 48), None),
        "other UDP" => beside(&|_| udp(53, &[0; 30])),
        "other IP protocols" => beside(&|_| tunnel(50, &[0; 30])),
        "other EtherTypes" => left_out(&|_| ethernet(0x0806, &[0; 28]), "EtherType 0x0806 (ARP)"),
        "other PPP protocols" => {
            left_out(&|_| ethernet(0x8864, &[0x11, 0, 0, 1, 0, 6, 0xc0, 0x21]), "PPP protocol 0xc021 (LCP)")
        }
        "GRE of an unknown version" => left_out(&|packet| gre(2, 0x0800, &[], packet), "IP protocol 47 GRE"),
        "other link types beside known ones" => {
            let bluetooth = vec![(1, vec![0x88; 80])];
            (pcapng(&[(ETHERNET, frames()), (187, bluetooth)]), Some("link type 187 (Bluetooth HCI)"))
        }
        "encrypted 802.11 data" | "802.11 management and control" => {
            let is_data = name.starts_with("encrypted");
            let mut frame = dot11(0x80, &packets()[0].1);
            frame[0] = if is_data { 0x88 } else { 0x80 };
            frame[1] = if is_data { 0x41 } else { 0 };
            let reason = if is_data {
                "encrypted 802.11 data (airdecap-ng decrypts it)"
            } else {
                "802.11 management and control"
            };
            (pcapng(&[(ETHERNET, frames()), (105, vec![(1, frame)])]), Some(reason))
        }
        "later fragments alone" => left_out(
            &|packet| ethernet(0x0800, &ipv4(6, [0, 9], packet)),
            "IP fragment that no first fragment precedes",
        ),
        "packets cut before their ports" => {
            let mut all = pcap(false, false, 74);
            let record = [T0 as u32 + 9, 0, 30, 60].map(u32::to_le_bytes).concat();
            all.extend([&record[..], &frames()[0].1[..30]].concat());
            (all, Some("cut by the capture before the end of its headers"))
        }
        _ => panic!("make a sample of {name}"),
    }
}

/// Returns a frame with the packet, whose header has this length.
fn with_length(packet: &[u8], length: u16) -> Vec<u8> {
    let mut frame = ethernet(0x0800, packet);
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame
}

/// Returns the capture with every packet of more than 600 bytes in three fragments.
fn fragmented() -> Vec<u8> {
    let mut all = Vec::new();
    for (id, (ms, packet)) in (0u16..).zip(packets()) {
        let (header, content) = packet.split_at(20);
        let parts: Vec<&[u8]> =
            if content.len() > 600 { content.chunks(496).collect() } else { vec![content] };
        for (place, part) in parts.iter().enumerate() {
            let more = if place + 1 < parts.len() { 0x2000 } else { 0 };
            let mut header = header.to_vec();
            header[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
            header[4..6].copy_from_slice(&id.to_be_bytes());
            header[6..8].copy_from_slice(&(more | (place as u16 * 62)).to_be_bytes());
            all.push((ms, ethernet(0x0800, &[&header, *part].concat())));
        }
    }
    pcap_of_link(ETHERNET, all, false, false, usize::MAX)
}

/// Returns the properties of connections that do not depend on the form of the file, without
/// pauses. Flows of datagrams are left out.
fn comparable_connections(traffic: &Traffic) -> Vec<(u64, u32, u32, Kind, Vec<u64>)> {
    let of = |connection: &Connection| {
        let sizes = connection.writes.iter().map(|write| write.bytes).collect();
        (connection.start.0, connection.client, connection.server, connection.kind, sizes)
    };
    let transfers = traffic.connections.iter().filter(|connection| connection.kind != Kind::Datagrams);
    transfers.map(of).collect()
}

#[test]
fn understood__every_entry_reads_its_sample() {
    let plain_capture = comparable_connections(&read_bytes(&pcap(false, false, usize::MAX)));
    for entry in understood() {
        let Some((data, reason)) = find_sample(&entry) else { continue };
        if let Some(folder) = std::env::var_os("MOUSEHOLE_SAMPLES") {
            let file = format!("{} {}.cap", entry.group, entry.name).replace([' ', '/'], "-");
            std::fs::write(std::path::Path::new(&folder).join(file), &data).unwrap();
        }
        let traffic = read_contents(&[("sample", &data)], &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        // Hosts of datagrams have numbers, too.
        let hosts = u32::from(reason.is_none() && entry.name.starts_with("other "));
        let expected = plain_capture.iter().cloned().map(|mut one| {
            (one.1, one.2) =
                (one.1 + if one.1 > 0 { hosts } else { 0 }, one.2 + if one.2 > 0 { hosts } else { 0 });
            one
        });
        assert_eq!(comparable_connections(&traffic), expected.collect::<Vec<_>>(), "{}", entry.name);
        let left_out: Vec<&str> = traffic.skipped.iter().map(|skipped| &*skipped.reason).collect();
        assert_eq!(left_out, Vec::from_iter(reason), "{}", entry.name);
        let flows =
            traffic.connections.iter().filter(|connection| connection.kind == Kind::Datagrams).count();
        assert_eq!(
            flows,
            usize::from(reason.is_none() && entry.name.starts_with("other ")),
            "{}",
            entry.name
        );
        assert_eq!(traffic.faults.count, 0, "{}: {:?}", entry.name, traffic.faults.first);
        let believed =
            !traffic.notes.iter().any(|note| note.text.contains("than their frames had on the wire"));
        assert_eq!(
            believed,
            entry.name != "IP length beyond the frame",
            "{}: {:?}",
            entry.name,
            traffic.notes
        );
        if reason.is_none() && !entry.name.contains("fragments") {
            assert_eq!(traffic.sources[0].used, (frames().len() + flows) as u64, "{}", entry.name);
        }
    }
}

#[test]
fn understood__what_is_left_out_by_name_is_so_documented() {
    for entry in understood().iter().filter(|entry| entry.reading.contains('`')) {
        let (_, reason) = make_sample(entry.name);
        assert!(entry.reading.contains(reason.unwrap()), "{}", entry.name);
    }
}

#[test]
fn understood__quic_is_read_as_flows() {
    let data =
        pcap_of_link(ETHERNET, vec![(0, udp(443, &[0; 700])), (9, udp(443, &[0; 300]))], false, false, 60);
    let traffic =
        read_contents(&[("sample", &data)], &ReadOptions { direction: upward(), ..ReadOptions::default() })
            .unwrap();
    assert_eq!((traffic.connections[0].kind, traffic.connections[0].bytes()), (Kind::Quic, 1000));
}

/// Returns the direction of uploads.
fn upward() -> mousehole_sim::traffic::read::Direction {
    mousehole_sim::traffic::read::Direction::Up
}

#[test]
fn tunnels__a_fragmented_tunnel_counts_its_inner_packet_once() {
    let packet = packets().into_iter().find(|(_, packet)| packet.len() > 1000).unwrap().1;
    let handshake = frames().into_iter().take(3);
    let (first, second) = packet.split_at(1000);
    let mut all: Vec<Timed> = handshake.collect();
    all.push((100, ethernet(0x0800, &ipv4(4, [0x20, 0], first))));
    all.push((100, ethernet(0x0800, &ipv4(4, [0, 125], second))));
    let traffic = read_bytes(&pcap_of_link(ETHERNET, all, false, false, usize::MAX));
    assert_eq!(traffic.connections[0].bytes(), 1448);
    assert_eq!(traffic.skipped.len(), 1);
    assert!(traffic.skipped[0].reason.starts_with("IP fragment of a tunnel"), "{:?}", traffic.skipped);
}

#[test]
fn tunnels__deep_nesting_ends() {
    let mut frame = vec![0u8; 12];
    frame.extend([0x81, 0, 0, 1].repeat(2000));
    let mut all = frames();
    all.push((1, frame));
    let traffic = read_bytes(&pcap_of_link(ETHERNET, all, false, false, usize::MAX));
    assert!(traffic.skipped[0].reason.starts_with("more headers"), "{:?}", traffic.skipped);
}
