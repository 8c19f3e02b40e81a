//! Logs of the formats that files describe, and tables that only look like one of them.
use crate::traffic_common::*;
use mousehole_sim::traffic::connection::Kind;
use mousehole_sim::traffic::read::{Direction, ReadOptions, Spec, known_formats, read_contents};
use mousehole_sim::units::Dur;
use std::sync::Arc;

/// Kind, text, and connections as start in milliseconds after the first, client, and bytes.
type Sample = (&'static str, &'static str, &'static [(u64, u32, u64)]);

const SAMPLES: &[Sample] = &[
    (
        "suricata",
        "{\"timestamp\":\"2024-05-01T10:00:00.0+0000\",\"event_type\":\"dns\",\"src_ip\":\"10.0.0.1\"}\n\
         {\"timestamp\":\"2024-05-01T10:00:09.0+0000\",\"event_type\":\"flow\",\"src_ip\":\"10.0.0.1\",\"src_port\":4000,\"dest_ip\":\"192.0.2.9\",\"dest_port\":443,\"proto\":\"TCP\",\"flow\":{\"pkts_toserver\":3,\"pkts_toclient\":2,\"bytes_toserver\":400,\"bytes_toclient\":1108,\"start\":\"2024-05-01T10:00:01.500000+0000\",\"end\":\"2024-05-01T10:00:02.500000+0000\"}}\n\
         {\"timestamp\":\"2024-05-01T10:00:09.5+0000\",\"event_type\":\"flow\",\"src_ip\":\"10.0.0.2\",\"src_port\":4000,\"dest_ip\":\"192.0.2.9\",\"dest_port\":443,\"proto\":\"TCP\",\"flow\":{\"pkts_toserver\":3,\"pkts_toclient\":2,\"bytes_toserver\":400,\"bytes_toclient\":2108,\"start\":\"2024-05-01T10:00:02.750000+0000\",\"end\":\"2024-05-01T10:00:02.800000+0000\"}}\n",
        &[(0, 0, 1000), (1250, 1, 2000)],
    ),
    (
        "caddy",
        "{\"level\":\"info\",\"ts\":1700000002.5,\"request\":{\"remote_ip\":\"10.0.0.1\",\"proto\":\"HTTP/3.0\",\"host\":\"a.example\"},\"bytes_read\":0,\"duration\":2.5,\"size\":700,\"status\":200}\n\
         {\"level\":\"info\",\"ts\":1700000002.5,\"request\":{\"remote_ip\":\"10.0.0.2\",\"proto\":\"HTTP/2.0\",\"host\":\"a.example\"},\"bytes_read\":0,\"duration\":0.5,\"size\":800,\"status\":200}\n",
        &[(0, 0, 700), (2000, 1, 800)],
    ),
    (
        "cloudflare",
        "{\"ClientIP\":\"10.0.0.1\",\"ClientRequestHost\":\"a.example\",\"EdgeResponseBytes\":900,\"EdgeStartTimestamp\":1700000000500000000,\"EdgeEndTimestamp\":1700000000600000000}\n\
         {\"ClientIP\":\"10.0.0.1\",\"ClientRequestHost\":\"a.example\",\"EdgeResponseBytes\":901,\"EdgeStartTimestamp\":\"2023-11-14T22:13:21.5Z\",\"EdgeEndTimestamp\":\"2023-11-14T22:13:21.7Z\"}\n",
        &[(0, 0, 900), (1000, 0, 901)],
    ),
    (
        "nfdump-json",
        "[\n{\n  \"type\" : \"FLOW\",\n  \"first\" : \"2024-05-01T10:00:00.250\",\n  \"last\" : \"2024-05-01T10:00:01.000\",\n  \"in_packets\" : 4,\n  \"in_bytes\" : 400,\n  \"proto\" : 6,\n  \"tcp_flags\" : \"...AP.SF\",\n  \"src_port\" : 4000,\n  \"dst_port\" : 443,\n  \"src4_addr\" : \"10.0.0.1\",\n  \"dst4_addr\" : \"192.0.2.9\"\n}\n,\n{\"type\":\"FLOW\",\"first\":\"2024-05-01T10:00:00.300\",\"last\":\"2024-05-01T10:00:01.000\",\"in_packets\":5,\"in_bytes\":5200,\"proto\":6,\"tcp_flags\":\"...AP.SF\",\"src_port\":443,\"dst_port\":4000,\"src4_addr\":\"192.0.2.9\",\"dst4_addr\":\"10.0.0.1\"}\n]\n",
        &[(0, 0, 5000)],
    ),
    (
        "nfdump-1.6-q",
        "2024-05-01 10:00:00,2024-05-01 10:00:01,1.500,10.0.0.1,192.0.2.9,4000,80,TCP,.AP.SF,0,0,8,420,0,0,0,0\n\
         2024-05-01 10:00:00.1,2024-05-01 10:00:01,1.400,192.0.2.9,10.0.0.1,80,4000,TCP,.AP.SF,0,0,10,10400,0,0,0,0\n",
        &[(0, 0, 10_000)],
    ),
    (
        // What nfdump writes as the duration of softflowd's IPFIX.
        "nfdump-1.6",
        "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt\n\
         2024-05-01 10:00:00,2024-05-01 10:00:01,18446744073709552.000,10.0.0.1,192.0.2.9,4000,80,TCP,.AP.SF,8,420\n\
         2024-05-01 10:00:00.1,2024-05-01 10:00:01,18446744073709552.000,192.0.2.9,10.0.0.1,80,4000,TCP,.AP.SF,10,10400\n",
        &[(0, 0, 10_000)],
    ),
    (
        "nfdump-pipe",
        "2|1700000000250|1700000001250|6|0|0|0|167772161|4000|0|0|0|3221225993|443|0|0|0|0|27|0|8|420\n\
         2|1700000000290|1700000001250|6|0|0|0|3221225993|443|0|0|0|167772161|4000|0|0|0|0|27|0|10|10400\n",
        &[(0, 0, 10_000)],
    ),
    (
        "pmacct",
        "SRC_IP,DST_IP,SRC_PORT,DST_PORT,PROTOCOL,TIMESTAMP_START,TIMESTAMP_END,PACKETS,BYTES\n\
         10.0.0.1,192.0.2.9,4000,443,tcp,2023-11-14 22:13:20.250000,0000-00-00 00:00:00.000000,8,420\n\
         192.0.2.9,10.0.0.1,443,4000,tcp,2023-11-14 22:13:20.290000,0000-00-00 00:00:00.000000,10,10400\n",
        &[(0, 0, 10_000)],
    ),
    (
        "ipfix",
        "flowStartMilliseconds,flowEndMilliseconds,sourceIPv4Address,destinationIPv4Address,sourceTransportPort,destinationTransportPort,protocolIdentifier,tcpControlBits,packetDeltaCount,octetDeltaCount\n\
         1700000000250,1700000001250,10.0.0.1,192.0.2.9,4000,443,6,27,8,420\n\
         1700000000290,1700000001250,192.0.2.9,10.0.0.1,443,4000,6,27,10,10400\n",
        &[(0, 0, 10_000)],
    ),
    (
        // Both directions in a record, RFC 5103.
        "ipfix",
        "{\"flowStartMilliseconds\":\"2023-11-14T22:13:20.250Z\",\"flowEndMilliseconds\":\"2023-11-14T22:13:21.250Z\",\"sourceIPv6Address\":\"2001:db8::1\",\"destinationIPv6Address\":\"2001:db8::9\",\"sourceTransportPort\":4000,\"destinationTransportPort\":443,\"protocolIdentifier\":6,\"packetTotalCount\":8,\"octetTotalCount\":420,\"reversePacketTotalCount\":10,\"reverseOctetTotalCount\":10400}\n",
        &[(0, 0, 10_000)],
    ),
    (
        "goflow2",
        "{\"type\":\"NETFLOW_V9\",\"time_received_ns\":1700000002000000000,\"sequence_num\":1,\"sampling_rate\":1,\"sampler_address\":\"10.9.0.1\",\"time_flow_start_ns\":1700000000250000000,\"time_flow_end_ns\":1700000001250000000,\"bytes\":420,\"packets\":8,\"src_addr\":\"10.0.0.1\",\"dst_addr\":\"192.0.2.9\",\"etype\":\"IPv4\",\"proto\":\"TCP\",\"src_port\":4000,\"dst_port\":443,\"tcp_flags\":27}\n\
         {\"type\":\"NETFLOW_V9\",\"time_received_ns\":1700000002000000000,\"sequence_num\":1,\"sampling_rate\":1,\"sampler_address\":\"10.9.0.1\",\"time_flow_start_ns\":1700000000290000000,\"time_flow_end_ns\":1700000001250000000,\"bytes\":10400,\"packets\":10,\"src_addr\":\"192.0.2.9\",\"dst_addr\":\"10.0.0.1\",\"etype\":\"IPv4\",\"proto\":\"TCP\",\"src_port\":443,\"dst_port\":4000,\"tcp_flags\":27}\n",
        &[(0, 0, 10_000)],
    ),
    (
        "aws-vpc",
        "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status\n\
         2 1 eni-1 10.0.0.1 192.0.2.9 4000 443 6 6 900 1700000000 1700000060 ACCEPT OK\n\
         2 1 eni-1 192.0.2.9 10.0.0.1 443 4000 6 10 2400 1700000000 1700000060 ACCEPT OK\n\
         2 1 eni-1 192.0.2.66 10.0.0.1 4999 22 6 1 40 1700000000 1700000060 REJECT OK\n\
         2 1 eni-1 - - - - - - - 1700000000 1700000060 - NODATA\n",
        &[(0, 0, 2000)],
    ),
    (
        "argus",
        "StartTime,Dur,Proto,SrcAddr,Sport,Dir,DstAddr,Dport,SrcPkts,DstPkts,SrcBytes,DstBytes,State\n\
         2024/05/01 10:00:00.0,0.5,man,0,0,   ->,15,1,0,31,0,0,STA\n\
         2024/05/01 10:00:00.5,2.5,tcp,10.0.0.1,4000,   ->,192.0.2.9,443,5,4,700,1216,FIN\n",
        &[(0, 0, 1000)],
    ),
    (
        "cic-ids",
        "Flow ID,Source IP,Source Port,Destination IP,Destination Port,Protocol,Timestamp,Flow Duration,Total Fwd Packets,Total Backward Packets,Total Length of Fwd Packets,Total Length of Bwd Packets\n\
         x,10.0.0.1,4000,192.0.2.9,443,6,03/07/2017 08:55:58,1000,3,3,50.0,5000.0\n\
         y,10.0.0.2,4000,192.0.2.9,443,6,03/07/2017 08:55:58,1000,3,3,50,6000\n",
        &[(0, 0, 5000), (0, 1, 6000)],
    ),
    (
        "silk",
        "sIP|dIP|sPort|dPort|pro|packets|bytes|flags|sTime|duration|eTime|sensor|\n\
         10.0.0.1|192.0.2.9|4000|443|6|5|400|FS PA|2024/05/01T10:00:00.250|1.000|2024/05/01T10:00:01.250|S0|\n\
         192.0.2.9|10.0.0.1|443|4000|6|5|3200|FS PA|2024/05/01T10:00:00.290|1.000|2024/05/01T10:00:01.290|S0|\n",
        &[(0, 0, 3000)],
    ),
    (
        "squid",
        "1700000001.000   1000 10.0.0.1 TCP_MISS/200 900 GET http://a.example/ - HIER_DIRECT/192.0.2.9 text/html\n\
         1700000001.100     10 10.0.0.1 TCP_MEM_HIT/200 5000 GET http://a.example/x - HIER_NONE/- image/png\n\
         1700000002.000    500 10.0.0.2 TCP_TUNNEL/200 8000 CONNECT b.example:443 - HIER_DIRECT/192.0.2.8 -\n",
        &[(0, 0, 900), (1500, 1, 8000)],
    ),
    (
        "haproxy-http",
        "<134>2024-05-01T10:00:03+00:00 lb haproxy[7]: 2001:db8::1:4000 [01/May/2024:10:00:00.500] fe be/s1 0/0/1/2/40 200 900 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n\
         <134>2024-05-01T10:00:03+00:00 lb haproxy[7]: 2001:db8::2:4000 [01/May/2024:10:00:01.500] fe be/s1 0/0/1/2/40 200 901 - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n",
        &[(0, 0, 900), (1000, 1, 901)],
    ),
    (
        "haproxy-tcp",
        "May  1 10:00:03 lb haproxy[7]: 10.0.0.1:4000 [01/May/2024:10:00:00.500] fe be/s1 0/0/5007 212 -- 0/0/0/0/3 0/0\n",
        &[(0, 0, 212)],
    ),
    (
        "alb",
        "h2 2024-05-01T10:00:00.500000Z app/x/1 10.0.0.1:4000 10.9.0.1:80 0.001 0.020 0.000 200 200 300 900 \"GET https://a.example:443/ HTTP/2.0\" \"agent\" - -\n",
        &[(0, 0, 900)],
    ),
    (
        "elb",
        "2024-05-01T10:00:00.500000Z my-lb 10.0.0.1:4000 10.9.0.1:80 0.00007 0.020 0.00005 200 200 300 900 \"GET http://a.example:80/ HTTP/1.1\" \"agent\" - -\n",
        &[(0, 0, 900)],
    ),
    (
        "suricata-netflow",
        "{\"timestamp\":\"2024-05-01T10:00:09.0+0000\",\"event_type\":\"netflow\",\"src_ip\":\"10.0.0.1\",\"src_port\":4000,\"dest_ip\":\"192.0.2.9\",\"dest_port\":443,\"proto\":\"TCP\",\"netflow\":{\"pkts\":5,\"bytes\":600,\"start\":\"2024-05-01T10:00:01.5+0000\",\"end\":\"2024-05-01T10:00:02.5+0000\"}}\n\
         {\"timestamp\":\"2024-05-01T10:00:09.0+0000\",\"event_type\":\"netflow\",\"src_ip\":\"192.0.2.9\",\"src_port\":443,\"dest_ip\":\"10.0.0.1\",\"dest_port\":4000,\"proto\":\"TCP\",\"netflow\":{\"pkts\":2,\"bytes\":1108,\"start\":\"2024-05-01T10:00:01.5+0000\",\"end\":\"2024-05-01T10:00:02.5+0000\"}}\n",
        &[(0, 0, 1000)],
    ),
    (
        "cic-python",
        "src_ip,dst_ip,src_port,dst_port,protocol,timestamp,flow_duration,tot_fwd_pkts,tot_bwd_pkts,totlen_fwd_pkts,totlen_bwd_pkts\n\
         10.0.0.1,192.0.2.9,4000,443,6,2024-05-01 10:00:00.5,1,3,3,50,5000\n\
         10.0.0.2,192.0.2.9,4000,443,6,2024-05-01 10:00:01.5,1,3,3,50,6000\n",
        &[(0, 0, 5000), (1000, 1, 6000)],
    ),
    (
        // Older versions write the port behind the address.
        "caddy",
        "{\"ts\":1700000002.5,\"request\":{\"remote_addr\":\"10.0.0.1:4000\",\"host\":\"a.example\"},\"duration\":0.5,\"size\":700,\"status\":200}\n\
         {\"ts\":1700000003.5,\"request\":{\"remote_addr\":\"10.0.0.1:4001\",\"host\":\"a.example\"},\"duration\":0.5,\"size\":800,\"status\":200}\n",
        &[(0, 0, 700), (1000, 0, 800)],
    ),
    (
        "iis",
        "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Fields: date time s-ip cs-method c-ip sc-status sc-bytes cs-bytes time-taken\n\
         2024-05-01 10:00:01 192.0.2.9 GET 10.0.0.1 200 900 300 1000\n\
         #Fields: date time c-ip s-ip sc-bytes time-taken\n\
         2024-05-01 10:00:03 10.0.0.2 192.0.2.9 901 500\n",
        &[(0, 0, 900), (2500, 1, 901)],
    ),
    (
        "softflowd",
        "#:unix_secs,unix_nsecs,sysuptime,exaddr,dpkts,doctets,first,last,engine_type,engine_id,srcaddr,dstaddr,srcport,dstport,prot,tcp_flags\n\
         1700000000,0,9,192.0.2.254,5,400,1,2,0,0,10.0.0.1,192.0.2.9,4000,443,6,27\n\
         1700000000,0,9,192.0.2.254,5,3200,1,2,0,0,192.0.2.9,10.0.0.1,443,4000,6,27\n",
        &[(0, 0, 3000)],
    ),
];

#[test]
fn declared__samples_of_formats() {
    for (kind, text, expected) in SAMPLES {
        let traffic = one(text);
        assert_eq!(
            (traffic.sources[0].kind.as_str(), traffic.faults.count),
            (*kind, 0),
            "{:?}",
            traffic.faults
        );
        let is_spread = traffic.notes.iter().any(|note| note.text.contains("whole seconds"));
        let found: Vec<(u64, u32, u64)> = traffic
            .connections
            .iter()
            .map(|one| (if is_spread { 0 } else { one.start.0 / 1_000_000 }, one.client, one.bytes()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(ms, client, bytes)| (if is_spread { 0 } else { ms }, client, bytes))
            .collect();
        let (mut found, mut expected) = (found, expected);
        if is_spread {
            found.iter_mut().chain(&mut expected).for_each(|row| row.1 = 0);
            found.sort_unstable();
        }
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn declared__what_was_left_out_is_said() {
    let skipped = |kind: &str| {
        let (_, text, _) = SAMPLES.iter().find(|(name, ..)| *name == kind).unwrap();
        one(text)
            .skipped
            .into_iter()
            .map(|skipped| (skipped.reason, skipped.rows, skipped.bytes))
            .collect::<Vec<_>>()
    };
    let cached = "answered by the proxy itself, so not carried by its link";
    assert_eq!(skipped("squid"), [(cached.to_string(), 1, 5000)]);
    assert_eq!(skipped("aws-vpc"), [("row of another kind than those that are read".to_string(), 2, 0)]);
    assert!(known_formats().iter().any(|spec| spec.name == "aws-vpc"));
}

#[test]
fn declared__packets_are_refused_with_the_way_out() {
    let rows = [
        "\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\",\"Info\"\n\"1\",\"0.0\",\"10.0.0.1\",\"192.0.2.9\",\"TCP\",\"54\",\"x\"\n",
        "frame.time_epoch\tip.src\tip.dst\ttcp.len\n1700000000.5\t10.0.0.1\t192.0.2.9\t0\n",
        "r 0.5 1 2 tcp 1040 ------- 1 0.0 3.0 29 199\n",
        "+ 1.84 /NodeList/0/DeviceList/1/$ns3::PointToPointNetDevice/TxQueue/Enqueue ns3::PppHeader (x)\n",
        "22:13:20.250000 IP 10.0.0.1.40000 > 192.0.2.9.443: Flags [S], seq 1, length 0\n",
        "    1 0.000000000     10.0.0.1 → 192.0.2.9    TCP 54 40000 → 443 [SYN] Seq=0\n",
        "Date first seen             Duration     Proto      Src IP Addr:Port          Dst IP Addr:Port   Packets    Bytes Flows\n",
        "[\n {\n  \"_index\": \"packets\",\n  \"_source\": {\"layers\": {}}\n }\n]\n",
    ];
    for text in rows {
        let error = refuse(text);
        assert!(error.contains("looks like") && error.contains("give "), "{text:?}: {error}");
    }
}

/// Returns a table of five flows with a row for each direction; `turned` adds the rows of the
/// answers.
fn one_way_table(header: &str, turned: bool) -> String {
    let row = |k: u64| {
        let there = format!("170000000{k}.5,10.0.0.{k},192.0.2.9,{},443,tcp,900\n", 4000 + k);
        let back = format!("170000000{k}.6,192.0.2.9,10.0.0.{k},443,{},tcp,{}\n", 4000 + k, 20_000 + k);
        if turned { there + &back } else { there }
    };
    format!("{header}\n{}", (0..5).map(row).collect::<String>())
}

#[test]
fn table__rows_of_one_direction_are_paired() {
    let header = "ts,src,dst,sport,dport,proto,bytes";
    let traffic = one(&one_way_table(header, true));
    assert_eq!(list_sizes(&traffic), [20_000, 20_001, 20_002, 20_003, 20_004]);
    assert_eq!((traffic.clients, traffic.servers, traffic.sources[0].used), (5, 1, 10));
    assert!(traffic.notes.iter().any(|note| note.text.contains("rows of one direction each")));
    let up = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let traffic = read_contents(&[("x", one_way_table(header, true).as_bytes())], &up).unwrap();
    assert_eq!(list_sizes(&traffic), [900; 5]);
    // Without answers, bytes are the server's, as documented.
    assert_eq!(list_sizes(&one(&one_way_table(header, false))), [900; 5]);
    let error = refuse(&one_way_table("ts,src,dst,a,b,proto,bytes", true));
    assert!(error.contains("add them"), "{error}");
    let error =
        read_contents(&[("x", one_way_table(header, false).as_bytes())], &up).unwrap_err().to_string();
    assert!(error.contains("bytes from client to server"), "{error}");
}

#[test]
fn records__what_a_server_says_after_silence_is_no_transfer() {
    let header = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flags\n";
    let row = |at: &str, ends: &str, packets: u64, bytes: u64, flags: &str| {
        format!("2024-05-01 10:{at},0.5,TCP,{ends},{packets},{bytes},{flags}\n")
    };
    let (out, back) = ("c,4000,s,443", "s,443,c,4000");
    let exchange = row("00:00.000", out, 6, 640, "...AP.S.") + &row("00:00.040", back, 9, 20_360, "...AP.S.");
    let close = |flags: [&str; 2]| {
        row("01:04.000", back, 2, 135, flags[0]) + &row("01:04.040", out, 2, 104, flags[1])
    };
    // The connection stays open and is used again, without a SYN.
    let again = row("00:40.000", out, 3, 400, "...AP...") + &row("00:40.040", back, 4, 5160, "...AP...");
    let with_close = one(&format!("{header}{exchange}{}", close(["...AP..F", "...A...F"])));
    assert_eq!((list_sizes(&with_close), with_close.clients), (vec![20_000], 1));
    assert_eq!(with_close.skipped[0].reason, "close or keep-alive after silence, no transfer");
    let kept = one(&format!("{header}{}{again}{exchange}", close(["...AP..F", "...A...F"])));
    let writes: Vec<u64> = kept.connections[0].writes.iter().map(|write| write.bytes).collect();
    assert_eq!((kept.connections.len(), writes), (1, vec![20_000, 5000]));
    assert_eq!(kept.connections[0].writes[1].idle, Dur::from_millis(39_460));
    // Only the close was exported.
    let only = format!("{header}{}", close(["...AP..F", "...A...F"]));
    assert!(refuse(&only).contains("close or keep-alive"));
    // Without flags the silence divides connections, but acknowledgements alone are none.
    let bare = one(
        &format!("{header}{exchange}{}", close(["........", "........"])).replace("...AP.S.", "........")
    );
    assert_eq!((list_sizes(&bare), bare.clients), (vec![20_000, 55], 1));
}

#[test]
fn table__doubts_are_said() {
    let rows = |size: &dyn Fn(u64) -> u64, client: &dyn Fn(u64) -> u64| -> String {
        let row = |k| format!("{k}.5,c{},s{},{}\n", client(k), k % 3, size(k));
        "start,client,server,bytes\n".to_string() + &(0..30).map(row).collect::<String>()
    };
    let doubts = |text: &str| -> Vec<String> { one(text).notes.into_iter().map(|note| note.text).collect() };
    let several = |k: u64| k % 7;
    assert_eq!(doubts(&rows(&|k| 1000 + k, &several)), [""; 0]);
    assert!(doubts(&rows(&|_| 1460, &several))[0].contains("all 30 transfers have 1460 B"));
    assert!(doubts(&rows(&|k| 40 + k, &several))[0].contains("less than 100 B"));
    assert!(doubts(&rows(&|k| 1000 + k, &|_| 1))[0].contains("of one client"));
}

#[test]
fn table__names_of_web_servers() {
    let text = "date,time,remote_addr,host,body_bytes_sent\n\
        2024-05-01,10:00:00.5,10.0.0.1,a.example,900\n2024-05-01,10:00:01.5,10.0.0.2,a.example,901\n";
    let traffic = one(text);
    assert_eq!((list_sizes(&traffic), traffic.clients, traffic.servers), (vec![900, 901], 2, 1));
    assert_eq!(traffic.connections[1].start.0, 1_000_000_000);
}

#[test]
fn table__as_spreadsheets_and_scripts_write_it() {
    let rows = "10.0.0.1;192.0.2.9;1700000000,25;900\n10.0.0.2;192.0.2.9;1700000001,5;901\n";
    let traffic = one(&format!("# made by our script\n\nSource IP;Destination IP;Start Time;Bytes\n{rows}"));
    assert_eq!((list_sizes(&traffic), traffic.clients, traffic.servers), (vec![900, 901], 2, 1));
    assert_eq!(traffic.connections[1].start.0, 1_250_000_000);
    let dated = one("start,client,bytes\n15/Jun/2025:15:06:40 +0200,a,900\n2025-06-15T13:06:41.5Z,b,901\n");
    assert_eq!((dated.connections.len(), dated.faults.count), (2, 0));
    let error = refuse("start,client,bytes\n06/07/2025 15:06:40,a,900\n");
    assert!(error.contains("which is the day and which the month"), "{error}");
    // Commas within cells of a table that commas divide are no decimal points.
    assert!(refuse("start,client,bytes\n\"1,250\",a,900\n").contains("neither a number nor ISO 8601"));
}

#[test]
fn table__from_and_to_are_of_one_direction() {
    let rows: String = (0..40)
        .map(|k| format!("{k}.5,a{k},{},b,443,90\n{k}.6,b,443,a{k},{},9000\n", 40_000 + k, 40_000 + k))
        .collect();
    for names in ["time,from,from_port,to,to_port,bytes", "time,From IP,From Port,To IP,To Port,Bytes"] {
        let traffic = one(&format!("{names}\n{rows}"));
        assert_eq!((list_sizes(&traffic), traffic.clients), (vec![9000; 40], 40), "{names}");
    }
    let error = refuse("time,sender,sport,receiver,bytes\n1.5,a,4000,b,90\n");
    assert!(error.contains("the column sport names a port"), "{error}");
}

#[test]
fn table__ports_behind_addresses_are_no_part_of_a_host() {
    let text = "start,client,server,bytes\n1.5,10.0.0.1:4000,192.0.2.9:443,900\n2.5,10.0.0.1:4001,192.0.2.9:443,901\n\
        3.5,[2001:db8::1]:4001,192.0.2.9:443,902\n";
    let traffic = one(text);
    assert_eq!((list_sizes(&traffic), traffic.clients, traffic.servers), (vec![900, 901, 902], 2, 1));
    let ways = "ts,src,dst,bytes\n1.5,10.0.0.1:4000,192.0.2.9:443,90\n1.6,192.0.2.9:443,10.0.0.1:4000,9000\n";
    let paired = one(ways);
    assert_eq!((list_sizes(&paired), paired.clients), (vec![9000], 1));
}

#[test]
fn lines__carried_by_syslog_and_shippers() {
    let sample = |kind: &str| SAMPLES.iter().find(|(name, ..)| *name == kind).unwrap().1;
    let access = "10.0.0.1 - - [01/May/2024:10:00:01 +0000] \"GET / HTTP/1.1\" 200 900\n\
        10.0.0.2 - - [01/May/2024:10:00:02 +0000] \"GET / HTTP/1.1\" 200 901\n";
    for plain in [sample("suricata"), sample("squid"), sample("caddy"), sample("elb"), access] {
        let expected = one(plain);
        for before in [
            "May  1 10:00:03 gw app[7]: ",
            "<134>1 2024-05-01T10:00:03Z gw app 7 - - ",
            "2024-05-01T10:00:03.5Z stdout F ",
        ] {
            let carried: String = plain.lines().map(|line| format!("{before}{line}\n")).collect();
            let found = one(&carried);
            assert_eq!(
                (list_sizes(&found), found.clients),
                (list_sizes(&expected), expected.clients),
                "{carried}"
            );
        }
    }
    let wrap = |name: &str, line: &str| format!("{{\"{name}\":\"{}\"}}\n", line.replace('"', "\\\""));
    for name in ["message", "log"] {
        let wrapped: String = sample("suricata").lines().map(|line| wrap(name, line)).collect();
        assert_eq!(list_sizes(&one(&wrapped)), [1000, 2000], "{wrapped}");
    }
}

#[test]
fn format__of_the_user() {
    let spec = "name = \"mine\"\ntitle = \"Mine\"\nlines = \"delimited\"\ntime_unit = \"ms\"\n\
        [fields]\nstart = \"when\"\nsource = \"who\"\nreceived = \"how much\"\nprotocol = \"http?\"\n";
    let format = Some(Arc::new(Spec::parse("mine.toml", spec).unwrap()));
    let options = ReadOptions { format, ..ReadOptions::default() };
    let read = |text: &str| read_contents(&[("x", text.as_bytes())], &options);
    let traffic = read("when;who;how much;http\n1500;a;70;HTTP/2\n2500;b;80;h3\n").unwrap();
    assert_eq!((list_sizes(&traffic), traffic.connections[1].kind), (vec![70, 80], Kind::Quic));
    assert_eq!(traffic.connections[1].start.0, 1_000_000_000);
    let error = read("a,b\n1,2\n").unwrap_err().to_string();
    assert!(error.contains("do not fit the format mine"), "{error}");
}

#[test]
fn zeek__millis_and_wrapped_rows() {
    let row = "{\"ts\":1700000000250,\"uid\":\"C1\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"id.resp_p\":443,\"proto\":\"tcp\",\"orig_bytes\":1,\"resp_bytes\":900}\n";
    let later = row.replace("1700000000250", "1700000001.5").replace("C1", "C2");
    let traffic = one(&(row.to_string() + &later));
    assert_eq!((list_sizes(&traffic), traffic.connections[1].start.0), (vec![900, 900], 1_250_000_000));
    let underscored = row.replace("id.orig_h", "id_orig_h").replace("id.resp_", "id_resp_");
    assert_eq!(list_sizes(&one(&underscored)), [900]);
    assert!(refuse(&format!("[{}]", row.trim())).contains("jq -c"));
    let wrap =
        |row: &str| format!("{{\"@timestamp\":\"x\",\"message\":\"{}\"}}\n", row.trim().replace('"', "\\\""));
    assert_eq!(list_sizes(&one(&(wrap(row) + &wrap(&later)))), [900, 900]);
}
