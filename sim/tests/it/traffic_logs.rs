//! Logs of flows and page loads: Zeek's logs joined by uid, HAR files, nfdump's CSV.
use crate::traffic_common::*;
use mousehole_sim::flow::Class;
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::connection::{Connection, Kind};
use mousehole_sim::traffic::datagrams::Amount;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents};
use mousehole_sim::units::Dur;

const SSL_FIELDS: &str = "#separator \\x09\n#path\tssl\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tversion\tserver_name\tnext_protocol\n";
const QUIC_FIELDS: &str =
    "#separator \\x09\n#path\tquic\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tversion\tclient_protocol\n";

/// Returns the reasons for skipped rows, and their numbers.
fn skipped_rows(traffic: &Traffic) -> Vec<(&str, u64)> {
    traffic.skipped.iter().map(|skipped| (&*skipped.reason, skipped.rows)).collect()
}

#[test]
fn zeek__separator_may_be_written_as_backslash_t() {
    for separator in ["#separator \\t", "#separator\t\\x09", "#separator \t"] {
        let log = conn_log().replace("#separator \\x09", separator);
        assert_eq!(list_sizes(&one(&log)), [12_000, 91_000, 1], "{separator:?}");
    }
    assert_eq!(list_sizes(&one(&conn_log().replace("\\x09", "|").replace('\t', "|"))), [12_000, 91_000, 1]);
    assert!(refuse(&conn_log().replace("\\x09", "::")).contains("#separator \"::\""));
}

/// Answers such as 304 have headers only; http.log says they are empty, and conn.log knows better.
#[test]
fn zeek__connections_of_bodiless_answers_stay() {
    let http = |second: u64, uid: &str| format!("{}.5\t{uid}\ta\tb\t1\t0\t0\n", T0 + second);
    let conns =
        format!("{CONN_FIELDS}{}{}", conn_row(100, "A", "a", "b", "350"), conn_row(200, "B", "a", "b", "0"));
    let https = format!("{HTTP_FIELDS}{}{}{}", http(1, "A"), http(3, "A"), http(1, "B"));
    let traffic = read(&[("c", &conns), ("h", &https)]).unwrap();
    assert_eq!(traffic.connections, [connection(0, 0, 0, &[(0, 175), (2_000, 175)])]);
    assert_eq!(skipped_rows(&traffic), [("no payload in this direction", 2)]);
    let alone = read(&[("h", &(https + &http(9, "C").replace("\t0\n", "\t7\n")))]).unwrap();
    assert!(
        alone.notes.iter().any(|note| note.text.contains("3 responses without a body")),
        "{:?}",
        alone.notes
    );
}

#[test]
fn zeek__ssl_and_quic_logs_tell_the_application() {
    let udp = |uid: &str, port: u32| format!("{T0}.5\t{uid}\ta\t5000\tb\t{port}\tudp\t1\t500\n");
    let conns = [
        CONN_FIELDS.to_string(),
        conn_row(0, "W", "a", "b", "1"),
        conn_row(1, "M", "a", "b", "2"),
        udp("Q", 8443),
        udp("D", 853),
        udp("X", 9999),
    ];
    let row = |uid: &str, name: &str| format!("{T0}.6\t{uid}\ta\tb\tv\t{name}\n");
    let ssl = format!("{SSL_FIELDS}{}{}", row("M", "s\timap"), row("W", "s\th2"));
    let quic = format!("{QUIC_FIELDS}{}{}{}", row("Q", "h3"), row("D", "doq"), row("gone", "h3"));
    let conn = conns.concat();
    for named in [[("c", &conn), ("s", &ssl), ("q", &quic)], [("q", &quic), ("s", &ssl), ("c", &conn)]] {
        let traffic = read(&named.map(|(name, text)| (name, &**text))).unwrap();
        let transfers = traffic.connections.iter().filter(|connection| connection.kind != Kind::Datagrams);
        let found: Vec<(Kind, Class)> =
            transfers.map(|connection| (connection.kind, connection.class)).collect();
        let quic = [(Kind::Quic, Class::Web), (Kind::Quic, Class::Interactive)];
        assert_eq!(found, [&[(Kind::Tcp, Class::Web), (Kind::Tcp, Class::Bulk)], &quic[..]].concat());
        assert_eq!(skipped_rows(&traffic), [("ssl.log or quic.log without the row of conn.log", 1)]);
        let kinds: Vec<&str> = traffic.sources.iter().map(|source| &*source.kind).collect();
        assert!(kinds.contains(&"zeek-ssl") && kinds.contains(&"zeek-quic"));
    }
    assert!(refuse(&ssl).contains("ssl.log or quic.log without the row of conn.log"));
}

/// All logs in one stream, as Zeek's JSON streaming writes them, with times of either form.
#[test]
fn zeek__json_streams_name_their_logs() {
    let stream = r#"{"_path":"dns","_write_ts":"2023-11-14T22:13:20.5Z","ts":"2023-11-14T22:13:20.1Z","uid":"N"}
{"_path":"http","_write_ts":1700000003.5,"ts":1700000001.5,"uid":"A","id.orig_h":"a","id.resp_h":"b","trans_depth":1,"method":"GET","response_body_len":700,"tags":[],"resp_fuids":["F"]}
{"_path":"quic","_write_ts":"2023-11-14T22:13:21Z","ts":"2023-11-14T22:13:21Z","uid":"Q","id.orig_h":"a","id.resp_h":"b","client_protocol":"h3"}
{"_path":"conn","_write_ts":"2023-11-14T22:13:24.5Z","ts":"2023-11-14T22:13:21.25Z","uid":"A","id.orig_h":"a","id.orig_p":1,"id.resp_h":"b","id.resp_p":80,"proto":"tcp","duration":2.5,"orig_bytes":90,"resp_bytes":1000,"local_orig":true}
{"_path":"conn","_write_ts":"2023-11-14T22:13:24.5Z","ts":1700000005.25,"uid":"Q","id.orig_h":"a","id.orig_p":1,"id.resp_h":"b","id.resp_p":8443,"proto":"udp","orig_bytes":90,"resp_bytes":1200}
"#;
    let traffic = one(stream);
    let mut expected = [connection(0, 0, 0, &[(0, 1000)]), connection(4_000, 0, 0, &[(0, 1200)])];
    expected[0].duration = Some(Dur::from_millis(2_500));
    expected[1].kind = Kind::Quic;
    assert_eq!(traffic.connections, expected);
    assert_eq!(skipped_rows(&traffic), [("row of another Zeek log", 1)]);
    assert_eq!(traffic.faults.count, 0);
}

#[test]
fn zeek__json_of_the_wrong_kind_is_a_fault_of_its_row() {
    let good =
        r#"{"ts":1700000001.5,"uid":"A","id.orig_h":"a","id.resp_h":"b","proto":"tcp","resp_bytes":9}"#;
    let text = format!("{}\n{}\n", [good; 30].join("\n").replace("\"A\"", "\"-\""), good.replace('9', "[9]"));
    let traffic = one(&text);
    let first = traffic.faults.first.unwrap();
    assert!(first.starts_with("sample:31: bytes \"an array\""), "{first}");
}

/// Returns an entry of a HAR file that starts `ms` after the minute and takes `time`, both in
/// milliseconds; `more` is appended to its fields.
fn har_entry(ms: u64, time: u64, url: &str, size: i64, more: &str) -> String {
    format!(
        r#"{{"pageref":"page_1","startedDateTime":"2024-05-01T10:00:{:02}.{:03}Z","time":{time},
        "request":{{"method":"GET","url":"{url}","httpVersion":"h2","headersSize":200,"bodySize":0}},
        "response":{{"status":200,"httpVersion":"h2","headersSize":-1,"bodySize":-1,"_transferSize":{size},
          "content":{{"size":99999,"text":"{{\"entries\":[]}}"}}}},"cache":{{}},
        "timings":{{"blocked":0,"dns":-1,"connect":-1,"send":1,"wait":5,"receive":{time}}}{more}}}"#,
        ms / 1000,
        ms % 1000
    )
}

/// Returns a HAR file of these pages and entries.
fn har_file(pages: &str, entries: &[String]) -> String {
    format!(
        "{{\n\"log\":{{\"version\":\"1.2\",\"creator\":{{}},\"pages\":[{pages}],\"entries\":[\n{}\n]}}}}",
        entries.join(",\n")
    )
}

const PAGES: &str = r#"{"id":"page_1","startedDateTime":"2024-05-01T10:00:00.000Z","title":"a","pageTimings":{"onContentLoad":400,"onLoad":900.5}},
{"id":"page_2","startedDateTime":"2024-05-01T10:00:05.900Z","title":"b","pageTimings":{"onContentLoad":-1,"onLoad":350}}"#;

#[test]
fn har__connections_pages_and_times() {
    let on = |name: &str, address: &str| format!(r#","connection":"{name}","serverIPAddress":"{address}""#);
    let second = |text: String| text.replace("page_1", "page_2");
    let http1 = |text: String| text.replace("\"h2\"", "\"http/1.1\"");
    let text = har_file(
        PAGES,
        &[
            har_entry(0, 300, "https://a.example/", 5_000, &on("11", "10.0.0.1")),
            har_entry(100, 100, "https://a.example/a.css", 700, &on("11", "10.0.0.1")),
            har_entry(350, 150, "https://a.example/b.js", 900, &on("11", "10.0.0.1")),
            http1(har_entry(200, 500, "http://b.example/x.png", 40_000, &on("22", "[2001:db8::1]"))),
            har_entry(380, 1, "data:image/png;base64,AAAA", 0, ""),
            har_entry(390, 2, "https://a.example/c.js", 0, r#","_fromCache":"disk""#),
            har_entry(395, 20, "https://c.example/blocked", 0, "").replace("\"status\":200", "\"status\":0"),
            second(har_entry(6_000, 250, "https://a.example/next", 3_000, &on("11", "10.0.0.1"))),
        ],
    );
    let traffic = one(&text);
    let mut expected = [
        connection(0, 0, 0, &[(0, 5_000), (0, 700), (50, 900), (5_500, 3_000)]),
        connection(200, 0, 1, &[(0, 40_000)]),
    ];
    expected[0].duration = Some(Dur::from_millis(6_250));
    expected[1].duration = Some(Dur::from_millis(500));
    assert_eq!(traffic.connections, expected);
    assert_eq!(traffic.pages.count(), 2);
    assert_eq!(
        [(0, 0), (0, 3), (1, 0)].map(|(c, w)| traffic.pages.find_page(c, w)),
        [(1, 4), (2, 1), (1, 4)]
    );
    assert_eq!(
        (traffic.sources[0].kind.as_str(), traffic.sources[0].rows, traffic.sources[0].used),
        ("har", 8, 5)
    );
    let reasons = [
        ("from the browser's cache", 1),
        ("not from the network (data: and blob: URLs and the like)", 1),
        ("request without an answer (status 0)", 1),
    ];
    assert_eq!(skipped_rows(&traffic), reasons);
    let note = "sample: 2 pages; from start to onLoad: 0.90 s, 0.35 s; from one page's onLoad to the next page: 5.00 s";
    assert_eq!(traffic.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), [note]);
}

/// Firefox names the port, and some exporters nothing: requests over HTTP/1 that overlap have connections of their own.
#[test]
fn har__connections_without_a_name() {
    let http1 = |text: String| text.replace("\"h2\"", "\"HTTP/1.1\"");
    let port = r#","connection":"443","serverIPAddress":"10.0.0.1""#;
    let entries = [
        http1(har_entry(0, 300, "https://a.example/1", 1, port)),
        http1(har_entry(100, 100, "https://a.example/2", 2, port)),
        http1(har_entry(250, 100, "https://a.example/3", 3, port)),
        har_entry(400, 100, "https://b.example/4", 4, ""),
        har_entry(450, 100, "https://b.example/5", 5, ""),
        har_entry(450, 100, "https://b.example/6", 6, "").replace("\"h2\"", "\"h3\""),
    ];
    let traffic = one(&har_file("", &entries));
    let writes: Vec<Vec<u64>> = traffic
        .connections
        .iter()
        .map(|connection| connection.writes.iter().map(|write| write.bytes).collect())
        .collect();
    assert_eq!(writes, [vec![1], vec![2, 3], vec![4, 5], vec![6]]);
    assert_eq!(traffic.connections[1].writes[1].idle, Dur::from_millis(50));
    assert_eq!(traffic.connections[3].kind, Kind::Quic);
}

#[test]
fn har__sizes_from_whatever_is_recorded() {
    let plain = |fields: &str| {
        let usual = har_entry(0, 9, "https://a.example/", 1, "");
        usual.replace(r#""headersSize":-1,"bodySize":-1,"_transferSize":1"#, fields)
    };
    let parts = plain(r#""headersSize":300,"bodySize":1000"#);
    let content = plain(r#""headersSize":-1,"bodySize":-1"#)
        .replace(r#""size":99999"#, r#""size":5000,"compression":1000"#);
    let nothing = plain(r#""headersSize":-1,"bodySize":-1"#).replace(r#""size":99999,"#, "");
    let cached = plain(r#""headersSize":-1,"bodySize":-1,"_transferSize":0"#);
    let traffic = one(&har_file("", &[parts, content, nothing, cached]));
    assert_eq!(
        traffic.connections[0].writes.iter().map(|write| write.bytes).collect::<Vec<_>>(),
        [1300, 4000]
    );
    assert_eq!(skipped_rows(&traffic), [("no payload in this direction", 1), ("size not recorded", 1)]);
    let up = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let text = har_file("", &[har_entry(0, 9, "https://a.example/", 1, "")]);
    assert_eq!(read_contents(&[("x", text.as_bytes())], &up).unwrap().connections[0].bytes(), 200);
}

#[test]
fn har__faults_have_their_line() {
    let mut entries: Vec<String> = (0..40).map(|k| har_entry(k, 9, "https://a.example/", 10, "")).collect();
    entries.push(har_entry(50, 9, "https://a.example/", -5, ""));
    entries.push(har_entry(60, 9, "https://a.example/", 5, "").replace("2024-05-01T", "yesterday "));
    let traffic = one(&har_file("", &entries));
    assert_eq!((traffic.faults.count, traffic.sources[0].used), (2, 40));
    let first = traffic.faults.first.unwrap();
    // Each entry has five lines and the file one before and one after the list's bracket.
    assert!(first.starts_with("sample:207: entry 41: _transferSize \"-5\""), "{first}");
    let cut = har_file("", &entries)[..4000].to_string();
    let error = refuse(&cut);
    assert!(error.starts_with("dir/sample:") && error.contains("no HAR file (EOF while parsing"), "{error}");
    let wrong = refuse("{\"log\":{\"entries\":7}}");
    assert!(
        wrong.contains("dir/sample:1: no HAR file (invalid type: integer `7`, expected an array"),
        "{wrong}"
    );
    assert!(refuse("{\"log\":{\"version\":\"1.2\"}}").contains("nothing usable: 0 rows"));
    let zipped = gzip(har_file("", &entries).as_bytes());
    let error = read_contents(&[("x", &zipped[..zipped.len() - 20])], &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("ends early"), "{error}");
}

const NFDUMP: &str = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out\n";

/// Returns a row of nfdump's CSV: start and length in milliseconds, ends as `address,port`, packets
/// and IP bytes.
fn nfdump_row(ms: u64, length: u64, from: &str, to: &str, protocol: &str, sent: (u64, u64)) -> String {
    let (sa, sp) = from.split_once(',').unwrap();
    let (da, dp) = to.split_once(',').unwrap();
    let at = |ms: u64| format!("2024-05-01 10:{:02}:{:02}.{:03}", ms / 60_000, ms / 1000 % 60, ms % 1000);
    let span = format!("{}.{:03}", length / 1000, length % 1000);
    format!(
        "{},{},{span},{sa},{da},{sp},{dp},{protocol},...AP.SF,0,0,{},{},0,0,3,4\n",
        at(ms),
        at(ms + length),
        sent.0,
        sent.1
    )
}

#[test]
fn nfdump__flows_are_paired_into_connections() {
    let rows = [
        NFDUMP.to_string(),
        // The answer stands before the request, and comes in two rows.
        nfdump_row(10, 900, "s,80", "c,4000", "TCP", (10, 10_400)),
        nfdump_row(920, 500, "s,80", "c,4000", "TCP", (5, 5_200)),
        nfdump_row(0, 1500, "c,4000", "s,80", "TCP", (8, 420)),
        // The same ends later are another connection.
        nfdump_row(60_000, 100, "c,4000", "s,80", "TCP", (3, 200)),
        nfdump_row(60_010, 100, "s,80", "c,4000", "TCP", (2, 580)),
        // Only the answer was seen.
        nfdump_row(70_000, 100, "t,22", "d,5000", "6", (2, 180)),
        nfdump_row(71_000, 100, "u,443", "d,5001", "UDP", (2, 256)),
        nfdump_row(72_000, 100, "u,53", "d,5001", "UDP", (1, 100)),
        nfdump_row(73_000, 0, "u,0", "d,0", "ICMP", (1, 84)),
        "Summary\nflows,bytes,packets,avg_bps,avg_pps,avg_bpp\n9,17420,35,1,1,1\n".to_string(),
    ];
    let traffic = one(&rows.concat());
    let mut expected = [
        connection(0, 0, 0, &[(0, 15_000)]),
        connection(60_000, 0, 0, &[(0, 500)]),
        connection(70_000, 1, 1, &[(0, 100)]),
        connection(71_000, 1, 2, &[(0, 200)]),
    ];
    for (connection, ms) in expected.iter_mut().zip([1500, 110, 100, 100]) {
        connection.duration = Some(Dur::from_millis(ms));
    }
    expected[2].class = Class::Interactive;
    expected[3].kind = Kind::Quic;
    assert_eq!(traffic.connections[..4], expected);
    let of = |place: usize| {
        let datagrams = traffic.connections[place].writes.datagrams().expect("datagrams");
        let Amount { packets, bytes } = datagrams.amount(false);
        (datagrams.service.protocol, datagrams.service.port, packets, bytes, datagrams.amount(true).packets)
    };
    assert_eq!((of(4), of(5), traffic.connections.len()), ((17, 53, 1, 100, 0), (1, 0, 1, 84, 0), 6));
    assert_eq!(
        (traffic.sources[0].kind.as_str(), traffic.sources[0].rows, traffic.sources[0].used),
        ("nfdump-1.6", 9, 9)
    );
    assert!(skipped_rows(&traffic).is_empty());
    assert!(traffic.notes.iter().any(|note| note.text.contains("4 flows have rows of one direction only")));
    let up = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let sizes = read_contents(&[("x", rows.concat().as_bytes())], &up).unwrap().connections[..2].to_vec();
    assert_eq!(sizes.iter().map(Connection::bytes).collect::<Vec<_>>(), [100, 80]);
}

#[test]
fn nfdump__both_directions_in_a_row_and_the_newer_columns() {
    let both = nfdump_row(0, 1500, "c,4000", "s,80", "TCP", (8, 420)).replace(",0,0,3,4", ",10,10400,3,4");
    assert_eq!(list_sizes(&one(&(NFDUMP.to_string() + &both))), [10_000]);
    let newer = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
        2024-05-01 10:00:00.010,1.500,TCP,s,80,c,4000,10,10400,1\n\
        2024-05-01 10:00:00.000,1.510,TCP,c,4000,s,80,8,420,1\n";
    let traffic = one(newer);
    assert_eq!(list_sizes(&traffic), [10_000]);
    assert_eq!(traffic.connections[0].duration, Some(Dur::from_millis(1510)));
}

#[test]
fn nfdump__faults_have_their_line() {
    let good: String = (0..40)
        .map(|k| nfdump_row(k * 10, 5, "s,80", &format!("c,{}", 4000 + k), "TCP", (10, 10_400)))
        .collect();
    let bad = nfdump_row(900, 5, "s,80", "c,70000", "TCP", (1, 50))
        + &nfdump_row(901, 5, "s,80", "c,1", "TCP", (1, 50)).replace(",50,", ",nan,");
    let traffic = one(&format!("{NFDUMP}{good}{bad}"));
    assert_eq!(traffic.faults.count, 2);
    assert_eq!(traffic.faults.first.unwrap(), "sample:42: port \"70000\" is not allowed; 0 to 65535 is");
    let error = refuse(&format!("{NFDUMP}1,2,3\n"));
    assert!(error.contains("sample:2: 3 columns where the header has 17"), "{error}");
}

/// nfdump 1.6 writes starts without a part of a second, though durations have one.
#[test]
fn nfdump__whole_seconds_are_spread() {
    let rows = (0..30).flat_map(|k| {
        let client = format!("c,{}", 4000 + k);
        [
            nfdump_row(k * 1000, 250, &client, "s,80", "TCP", (9, 400)),
            nfdump_row(k * 1000, 250, "s,80", &client, "TCP", (9, 9_000)),
        ]
    });
    let text = NFDUMP.to_string() + &rows.collect::<String>().replace(".000,", ",");
    let traffic = one(&text);
    assert_eq!((traffic.connections.len(), traffic.clients, traffic.servers), (30, 1, 1));
    assert!(traffic.connections.iter().skip(1).all(|connection| connection.start.0 % 1_000_000_000 != 0));
    assert!(traffic.notes.iter().any(|note| note.text.contains("whole seconds")), "{:?}", traffic.notes);
}
