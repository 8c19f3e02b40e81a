//! The same traffic as text in every format that can be read.
use crate::traffic_common::*;
use mousehole_sim::traffic::connection::{Connection, Kind, Write};
use mousehole_sim::traffic::datagrams::Amount;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents};
use mousehole_sim::units::{Dur, Time};

#[test]
fn zeek__http_and_conn_join_in_any_order() {
    for named in [[("c", conn_log()), ("h", http_log())], [("h", http_log()), ("c", conn_log())]] {
        let traffic = read(&[(named[0].0, &named[0].1), (named[1].0, &named[1].1)]).unwrap();
        assert_eq!(traffic.connections, with_headers());
        assert_eq!((traffic.clients, traffic.servers), (2, 2));
        assert!(traffic.sources.iter().all(|source| source.used > 0));
    }
}

#[test]
fn zeek__http_alone_is_grouped_by_uid() {
    let traffic = one(&http_log());
    assert_eq!(traffic.connections, expected());
    assert_eq!(traffic.sources[0].kind, "zeek-http");
    assert_eq!((traffic.sources[0].rows, traffic.sources[0].used), (5, 4));
    assert_eq!(traffic.skipped[0].rows, 1);
}

#[test]
fn zeek__conn_alone_has_one_write_and_says_so() {
    let traffic = one(&conn_log());
    let sizes: Vec<u64> = traffic.connections.iter().map(Connection::bytes).collect();
    assert_eq!(sizes, [12_000, 91_000, 1]);
    assert!(traffic.connections.iter().all(|connection| connection.writes.len() == 1));
    assert!(
        traffic.notes.iter().any(|note| note.text.contains("conn.log does not record pauses")),
        "{:?}",
        traffic.notes
    );
}

#[test]
fn zeek__conn_without_requests_is_kept_with_joined_ones() {
    let tls = conn_row(2_900, "T", "10.0.0.2", "s2", "5000");
    let traffic = read(&[("c", &(conn_log() + &tls)), ("h", &http_log())]).unwrap();
    assert_eq!(traffic.connections[..3], with_headers());
    assert_eq!(traffic.connections[3], connection(2_900, 1, 1, &[(0, 5_000)]));
}

/// Returns a Zeek log as JSON lines, with numbers where fields are numbers; panics without a line
/// of field names.
fn to_json_lines(log: &str) -> String {
    let mut lines = log.lines();
    let fields = lines.by_ref().find_map(|line| line.strip_prefix("#fields\t")).unwrap();
    let names: Vec<&str> = fields.split('\t').collect();
    let number = |text: &str| text.parse::<f64>().is_ok();
    let object = |line: &str| {
        let pair = |(name, value): (&&str, &str)| {
            if number(value) { format!("\"{name}\":{value}") } else { format!("\"{name}\":\"{value}\"") }
        };
        let pairs: Vec<String> = names.iter().zip(line.split('\t')).map(pair).collect();
        format!("{{{}}}\n", pairs.join(","))
    };
    lines.filter(|line| !line.starts_with('#')).map(object).collect()
}

#[test]
fn zeek__json_lines_equal_tsv() {
    let traffic =
        read(&[("c.json", &to_json_lines(&conn_log())), ("h.json", &to_json_lines(&http_log()))]).unwrap();
    assert_eq!(traffic.connections, with_headers());
    assert_eq!([&*traffic.sources[0].kind, &*traffic.sources[1].kind], ["zeek-conn", "zeek-http"]);
}

#[test]
fn zeek__json_takes_iso_times() {
    let line = |second: u32, uid: &str| {
        format!(
            "{{\"ts\":\"2023-11-14T22:13:{second}.5Z\",\"uid\":\"{uid}\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"proto\":\"tcp\",\"resp_bytes\":9}}\n"
        )
    };
    let traffic = one(&(line(21, "X") + &line(20, "Y")));
    assert_eq!(traffic.connections[1].start, Time(1_000_000_000));
}

#[test]
fn zeek__udp_443_is_quic_and_the_rest_is_datagrams() {
    let udp = |port: u32, bytes: u32| format!("{T0}.5\tU{port}\ta\t5000\tb\t{port}\tudp\t1\t{bytes}\n");
    let icmp = format!("{T0}.5\tI\ta\t8\tb\t0\ticmp\t1\t64\n");
    let empty = format!("{T0}.5\tE\ta\t8\tb\t80\ttcp\t50\t-\n");
    let none = format!("{T0}.5\tN\ta\t8\tb\t80\tudp\t-\t-\n");
    let traffic = one(&format!("{CONN_FIELDS}{}{}{icmp}{empty}{none}", udp(443, 1000), udp(53, 80)));
    let of = |connection: &Connection| {
        let flow = connection.writes.datagrams().map(|flow| (flow.service.protocol, flow.service.port));
        (connection.kind, connection.bytes(), flow)
    };
    // Without counts of packets and of IP bytes: one packet with headers of IPv4 and UDP.
    let expected = [
        (Kind::Quic, 1000, None),
        (Kind::Datagrams, 108, Some((17, 53))),
        (Kind::Datagrams, 92, Some((1, 0))),
    ];
    assert_eq!(traffic.connections.iter().map(of).collect::<Vec<_>>(), expected);
    let skipped: Vec<(&str, u64, u64)> =
        traffic.skipped.iter().map(|skipped| (&*skipped.reason, skipped.rows, skipped.bytes)).collect();
    assert_eq!(skipped, [("no payload in this direction", 2, 0)]);
}

/// The rate of a flow is that of its sums; both forms of the log give the same.
#[test]
fn zeek__datagrams_have_the_sums_of_their_row() {
    let fields = "ts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes\tresp_bytes\t\
                  orig_pkts\torig_ip_bytes\tresp_pkts\tresp_ip_bytes";
    let row = format!("{T0}.25\tU\ta\t50000\tb\t3478\tudp\t10.0\t17200\t100000\t101\t20028\t1001\t128028");
    let text = one(&format!("#separator \\x09\n#path\tconn\n#fields\t{fields}\n{row}\n"));
    let named: Vec<String> = std::iter::zip(fields.split('\t'), row.split('\t'))
        .map(|(name, value)| match value.parse::<f64>() {
            Ok(_) => format!("\"{name}\":{value}"),
            Err(_) => format!("\"{name}\":\"{value}\""),
        })
        .collect();
    let json = one(&format!("{{{}}}\n", named.join(",")));
    assert_eq!(text.connections, json.connections);
    let flow = text.connections[0].writes.datagrams().unwrap();
    assert_eq!(flow.amount(false), Amount { packets: 1001, bytes: 128_028 });
    assert_eq!(flow.amount(true), Amount { packets: 101, bytes: 20_028 });
    assert_eq!(flow.duration(), Dur::from_millis(10_000));
    let (second, _) = flow.next(false, 1).unwrap();
    assert_eq!(second.at(), Dur::from_millis(10));
    let up = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let data = format!("#separator \\x09\n#path\tconn\n#fields\t{fields}\n{row}\n");
    let turned = read_contents(&[("x", data.as_bytes())], &up).unwrap();
    assert_eq!(turned.connections[0].writes.datagrams().unwrap().amount(false), flow.amount(true));
}

#[test]
fn table__columns_and_delimiters_do_not_matter() {
    let rows =
        [("2.25", "c", "u", 1), ("0.0", "c", "t", 12_000), ("3.5", "d", "u", 90_000), ("1.5", "d", "u", 700)];
    for delimiter in ["\t", ",", ";"] {
        let mut text = ["start", "Client", "server", "bytes", "conn_id"].join(delimiter) + "\n";
        for (place, (at, client, server, bytes)) in rows.iter().enumerate() {
            let id = if *client == "d" { "7" } else { ["8", "9"][place % 2] };
            text += &([at, client, server, &*bytes.to_string(), id].join(delimiter) + "\n");
        }
        assert_eq!(one(&text).connections, expected(), "{delimiter:?}");
    }
}

#[test]
fn table__duration_shortens_the_pause() {
    let traffic = one("start,client,bytes,conn_id,duration\n0.0,a,10,1,0.75\n2.0,a,20,1,\n");
    assert_eq!(traffic.connections[0].writes[1], Write { idle: Dur::from_millis(1250), bytes: 20 });
}

#[test]
fn table__knows_rtt_and_protocol() {
    let traffic = one(
        "start,client,bytes,rtt_ms,proto,dport\n0.1,a,10,35.5,tcp,80\n0.2,a,20,,udp,443\n0.3,a,30,,udp,53\n",
    );
    assert_eq!(traffic.connections[0].rtt, Some(Dur(35_500_000)));
    assert_eq!(traffic.connections[1].kind, Kind::Quic);
    assert_eq!(traffic.skipped[0].bytes, 30);
}

#[test]
fn access_log__whole_seconds_are_spread_by_seed() {
    let line = |second: u32| {
        format!("h{second} - - [14/Nov/2023:22:13:{second} +0000] \"GET / HTTP/1.1\" 200 500\n")
    };
    let text: String = (20..50).map(line).collect();
    let traffic = one(&text);
    assert_eq!((traffic.connections.len(), traffic.clients), (30, 30));
    assert!(traffic.notes.iter().any(|note| note.text.contains("whole seconds")));
    let seconds: Vec<u64> =
        traffic.connections.iter().map(|connection| connection.start.0 / 1_000_000_000).collect();
    assert!(seconds.windows(2).all(|pair| pair[0] <= pair[1]) && seconds[29] >= 28);
    let fractions =
        traffic.connections.iter().filter(|connection| connection.start.0 % 1_000_000_000 != 0).count();
    assert!(fractions >= 28);
    let other =
        read_contents(&[("sample", text.as_bytes())], &ReadOptions { seed: 2, ..ReadOptions::default() })
            .unwrap();
    assert_ne!(traffic.connections, other.connections);
}

#[test]
fn source__has_the_name_and_hash_of_the_stored_file() {
    let text = "start,bytes\n0.5,10\n";
    let traffic = read(&[("x/t.csv", text), ("y/t.csv", text)]).unwrap();
    assert_eq!(traffic.sources[0].name, "t.csv");
    assert_eq!(traffic.sources[0].sha256, "ecd221a7a194b4dc6ba9f848b0f80fdbf464d3c36cad74edeeb6b1c62a3c428d");
    assert!(traffic.notes.iter().any(|note| note.text.contains("given twice")));
    let zipped = read_contents(&[("t.csv.gz", &gzip(text.as_bytes()))], &ReadOptions::default()).unwrap();
    assert_ne!(zipped.sources[0].sha256, traffic.sources[0].sha256);
}

#[test]
fn clocks__of_the_same_day_are_shared_and_others_aligned() {
    let table = |start: f64| format!("start,client,bytes\n{start:.1},a,10\n{:.1},b,20\n", start + 5.0);
    let same = read(&[("a", &table(1000.5)), ("b", &table(4000.5))]).unwrap();
    assert_eq!(same.connections[2].start, Time(3_000_000_000_000));
    let apart = read(&[("a", &table(1000.5)), ("b", &table(1_000_000.5))]).unwrap();
    assert_eq!(apart.connections[3].start, Time(5_000_000_000));
    assert!(apart.notes.iter().any(|note| note.text.contains("more than a day from each other")));
}

/// Returns the duration of each connection in whole ms, `None` where it is unknown.
fn durations_ms(traffic: &mousehole_sim::traffic::Traffic) -> Vec<Option<u64>> {
    let duration = |connection: &Connection| connection.duration.map(|span| span.0 / 1_000_000);
    traffic.connections.iter().map(duration).collect()
}

#[test]
fn ends__of_tables_from_durations_and_ends() {
    let one_column = one("start,client,bytes,dur_ms\n0.5,a,10,750\n2.0,a,20,\n");
    assert_eq!(durations_ms(&one_column), [Some(750), None]);
    let ends = one("start_s,client,bytes,end_s\n10.5,a,10,11.75\n12.5,a,20,NaN\n13.5,a,20,13.5\n");
    assert_eq!(durations_ms(&ends), [Some(1250), None, Some(0)]);
    let both = one("start,client,bytes,end,duration\n1.5,a,10,9,2\n2.5,a,20,3.5,\n");
    assert_eq!(durations_ms(&both), [Some(2000), Some(1000)]);
    let grouped = one("start,client,bytes,uid,end\n1.5,a,10,x,4\n3,a,20,x,3.5\n5.5,a,1,y,6\n7,a,1,y,\n");
    assert_eq!(durations_ms(&grouped), [Some(2500), None]);
    let refused = refuse("start,client,bytes,end\n5.5,a,10,4\n");
    assert!(refused.contains("end \"4\" lies before the start"), "{refused}");
}

#[test]
fn ends__of_zeek_logs_from_durations() {
    let with = |log: String, fields: &str| {
        let log = log.replace("#path\tconn\n#fields\t", &format!("#path\tconn\n#fields\t{fields}\t"));
        let row = |line: &str| match line.starts_with('#') {
            true => format!("{line}\n"),
            false => format!("1.25\t{line}\n"),
        };
        log.lines().map(row).collect::<String>()
    };
    let conns = with(conn_log(), "duration");
    assert_eq!(durations_ms(&one(&conns)), [Some(1250); 3]);
    let joined = read(&[("c", &conns), ("h", &http_log())]).unwrap();
    assert_eq!(durations_ms(&joined), [Some(1250); 3]);
    assert_eq!(durations_ms(&one(&http_log())), [None; 3]);
}

/// Time, address and port of the sender and of the receiver, bytes.
type Row = (f64, &'static str, u16, &'static str, u16, &'static str);

/// Rows of one direction each.
#[test]
fn table__of_json_objects_is_the_table_of_their_names() {
    let rows: [Row; 4] = [
        (0.5, "10.0.0.1", 5000, "192.0.2.1", 443, "300"),
        (0.6, "192.0.2.1", 443, "10.0.0.1", 5000, "9000"),
        (1.5, "10.0.0.2", 5001, "192.0.2.1", 443, "400"),
        (1.6, "192.0.2.1", 443, "10.0.0.2", 5001, "70000"),
    ];
    let text = |line: &dyn Fn(&Row) -> String| rows.iter().map(line).collect::<Vec<_>>();
    let cells =
        text(&|(at, from, port, to, other, bytes)| format!("{at},{from},{port},{to},{other},{bytes}"));
    let table = one(&format!("Time,src_ip,src_port,dst_ip,dst_port,Bytes\n{}\n", cells.join("\n")));
    let object = text(&|(at, from, port, to, other, bytes)| {
        format!(
            "{{\"Time\": {at}, \"src_ip\": \"{from}\", \"src_port\": {port}, \"dst_ip\": \"{to}\", \"dst_port\": \
             \"{other}\", \"Bytes\": {bytes}}}"
        )
    });
    let forms =
        [object.join("\n"), format!("[{}]", object.join(",\n")), object.join("\n").replace(", ", ",\n  ")];
    for form in forms {
        let read = one(&form);
        assert_eq!(
            (&read.connections, read.clients, read.sources[0].kind.as_str()),
            (&table.connections, 2, "table")
        );
    }
    assert!(refuse(&format!("{}\n7\n", object.join("\n"))).contains("no JSON object"));
    let said = read(&[("j", "{\"when\": 1, \"who\": \"a\", \"much\": 9}\n")]).unwrap_err().to_string();
    assert!(said.contains("it holds JSON with the names much, when, who"), "{said}");
}
