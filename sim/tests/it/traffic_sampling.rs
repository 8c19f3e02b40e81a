//! Reading within a budget of rows: whole clients remain, with all their traffic, whatever the format.

#![allow(non_snake_case)]

use crate::traffic_common::{T0, pcap_of_link};
use etherparse::PacketBuilder;
use mousehole_sim::traffic::read::{ReadOptions, read_contents};
use mousehole_sim::traffic::{Source, Traffic};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const ROWS: u64 = 12_000;
const CLIENTS: u64 = 1500;
const MOST: u64 = 4096;

/// Returns the client of a row; rows are shuffled over clients.
fn client_address(row: u64) -> String {
    let host = row * 7919 % CLIENTS;
    format!("10.1.{}.{}", host / 250, host % 250)
}

/// Returns a size that no other row has.
fn row_size(row: u64) -> u64 {
    1000 + row
}

/// Returns a text of all rows below a head; `line` returns each by its number.
fn make_text(head: &str, line: impl Fn(u64) -> String) -> String {
    (0..ROWS).fold(head.to_string(), |mut text, row| {
        writeln!(text, "{}", line(row)).unwrap();
        text
    })
}

/// Returns a table of transfers.
fn make_table() -> String {
    make_text("start,client,bytes\n", |row| {
        format!("{:.3},{},{}", row as f64 / 50.0, client_address(row), row_size(row))
    })
}

/// Returns a table in which two successive rows share a connection.
fn table_with_ids() -> String {
    make_text("start,client,conn,bytes\n", |row| {
        let id = row / 2;
        format!("{:.3},{},c{id},{}", row as f64 / 50.0, client_address(id), row_size(row))
    })
}

/// Returns a web server's log.
fn make_access_log() -> String {
    make_text("", |row| {
        let (page, second) = (row / 2, row / 200);
        let (url, referrer) = match row % 2 {
            0 => (format!("/{page}.html"), "-".to_string()),
            _ => (format!("/{page}.png"), format!("http://a/{page}.html")),
        };
        let time = format!("10/Oct/2026:13:{:02}:{:02} +0000", second / 60, second % 60);
        let from = client_address(page);
        format!(r#"{from} - - [{time}] "GET {url} HTTP/1.1" 200 {} "{referrer}" "x""#, row_size(row))
    })
}

/// Returns Zeek's conn.log.
fn make_zeek_conn() -> String {
    let head =
        "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tresp_bytes\n";
    make_text(head, |row| {
        let proto = if row % 5 == 0 { "udp" } else { "tcp" };
        format!(
            "{:.3}\tC{row}\t{}\t4000\t192.0.2.1\t80\t{proto}\t{}",
            row as f64 / 50.0,
            client_address(row),
            row_size(row)
        )
    })
}

/// Returns Zeek's http.log.
fn make_zeek_http() -> String {
    let head = "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\thost\turi\treferrer\tresponse_body_len\n";
    make_text(head, |row| {
        let (at, from) = (row as f64 / 50.0, client_address(row));
        format!("{at:.3}\tC{row}\t{from}\t192.0.2.1\t1\ta\t/{row}\t-\t{}", row_size(row) - 500)
    })
}

/// Returns nfdump's CSV.
fn make_nfdump() -> String {
    make_text("ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt\n", |row| {
        let (flow, at) = (row / 2, format!("2026-10-10 10:{:02}:{:02}.000", row / 3000, row / 50 % 60));
        let (host, port) = (client_address(flow), 20_000 + flow % 30_000);
        match row % 2 {
            0 => format!("{at},{at},0.1,{host},192.0.2.1,{port},443,TCP,3,300"),
            _ => format!("{at},{at},0.1,192.0.2.1,{host},443,{port},TCP,3,{}", row_size(row) + 200),
        }
    })
}

/// Reads texts within a budget of rows, or all without one; they must be accepted.
fn read(files: &[(&str, String)], most_rows: Option<u64>) -> Traffic {
    let named: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    read_contents(&named, &ReadOptions { most_rows, ..ReadOptions::default() }).unwrap()
}

/// Returns the sizes and kinds of each client's connections.
fn by_client(traffic: &Traffic) -> BTreeSet<Vec<(u64, String, usize)>> {
    let mut clients: BTreeMap<u32, Vec<(u64, String, usize)>> = BTreeMap::new();
    for (place, one) in traffic.connections.iter().enumerate() {
        let pages =
            (0..one.writes.len() as u32).filter(|&write| traffic.pages.find_page(place as u32, write).0 > 0);
        let did = (one.bytes(), format!("{:?} {:?}", one.kind, one.flow_class), pages.count());
        clients.entry(one.client).or_default().push(did);
    }
    clients
        .into_values()
        .map(|mut all| {
            all.sort();
            all
        })
        .collect()
}

/// Checks that every row of the files is counted once, as used or as left out.
fn check_account(traffic: &Traffic) {
    let total = |count: fn(&Source) -> u64| -> u64 { traffic.sources.iter().map(count).sum() };
    let left_out: u64 = traffic.skipped.iter().map(|skipped| skipped.rows).sum();
    assert_eq!(total(|source| source.rows), total(|source| source.used) + left_out);
}

/// Checks that a sample of the files has whole clients only, says so in a note, and is the same
/// each time.
fn check_sample(files: &[(&str, String)]) {
    let (whole, sample) = (read(files, None), read(files, Some(MOST)));
    assert_eq!(whole.level, 0);
    assert!((1..=4).contains(&sample.level), "{}", sample.level);
    let (every, kept) = (by_client(&whole), by_client(&sample));
    assert!(kept.len() > 50 && kept.len() < every.len(), "{} of {}", kept.len(), every.len());
    assert!(kept.is_subset(&every), "a client that is kept did something else");
    let rows = |traffic: &Traffic| -> u64 { traffic.sources.iter().map(|source| source.rows).sum() };
    assert_eq!(rows(&whole), rows(&sample));
    check_account(&sample);
    assert!(sample.notes.iter().any(|note| note.text.contains("one client in")));
    assert_eq!(sample, read(files, Some(MOST)), "the same again");
}

#[test]
fn sample__of_a_table() {
    check_sample(&[("a.csv", make_table())]);
}

#[test]
fn sample__of_a_table_with_connections() {
    check_sample(&[("a.csv", table_with_ids())]);
}

#[test]
fn sample__of_an_access_log_keeps_pages() {
    let files = [("access.log", make_access_log())];
    check_sample(&files);
    assert!(read(&files, Some(MOST)).pages.count() > 100);
}

#[test]
fn sample__of_zeek_logs_keeps_what_belongs_together() {
    check_sample(&[("conn.log", make_zeek_conn())]);
    check_sample(&[("conn.log", make_zeek_conn()), ("http.log", make_zeek_http())]);
}

#[test]
fn sample__of_netflow_keeps_both_directions() {
    check_sample(&[("flows.csv", make_nfdump())]);
}

/// Returns packets of `clients` clients: every 20 ms one of them downloads over TCP, and every
/// third also has a datagram.
fn make_capture(flows: u64, clients: u64) -> Vec<u8> {
    let mut frames = Vec::new();
    for flow in 0..flows {
        let host = flow * 7919 % clients;
        let (client, server) = ([10, 1, (host / 250) as u8, (host % 250) as u8], [192, 0, 2, 1]);
        let (port, at) = (20_000 + (flow % 30_000) as u16, flow * 20);
        let mut frame = |ms: u64, from_client: bool, flags: &str, seq: u32, payload: usize| {
            let (ends, ports) =
                if from_client { ([client, server], [port, 443]) } else { ([server, client], [443, port]) };
            let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(ends[0], ends[1], 64);
            let mut out = Vec::new();
            if flags == "udp" {
                builder.udp(ports[0], 5000).write(&mut out, &vec![0; payload]).unwrap();
            } else {
                let mut tcp = builder.tcp(ports[0], ports[1], seq, 1000);
                if flags.contains('S') {
                    tcp = tcp.syn();
                }
                if flags.contains('A') {
                    tcp = tcp.ack(1);
                }
                tcp.write(&mut out, &vec![0; payload]).unwrap();
            }
            frames.push((at + ms, out));
        };
        frame(0, true, "S", 0, 0);
        frame(20, false, "SA", 0, 0);
        frame(40, true, "A", 1, 0);
        frame(60, false, "A", 1, 100 + (flow % 1200) as usize);
        frame(90, false, "A", 101 + (flow % 1200) as u32, 500);
        if flow.is_multiple_of(3) {
            frame(100, true, "udp", 0, 64 + (flow % 900) as usize);
        }
    }
    frames.sort_by_key(|(ms, _)| *ms);
    assert!(frames.last().unwrap().0 / 1000 < T0);
    pcap_of_link(1, frames, false, false, usize::MAX)
}

/// Reads captures within a budget of rows, or all without one; they must be accepted.
fn read_captures(captures: &[Vec<u8>], most_rows: Option<u64>) -> Traffic {
    let named: Vec<(&str, &[u8])> = captures.iter().map(|capture| ("a.pcap", &capture[..])).collect();
    read_contents(&named, &ReadOptions { most_rows, ..ReadOptions::default() }).unwrap()
}

#[test]
fn sample__of_a_capture_keeps_whole_clients() {
    let most = Some(1 << 14);
    let captures = [make_capture(6000, 1500)];
    let (whole, sample) = (read_captures(&captures, None), read_captures(&captures, most));
    assert_eq!(whole.level, 0);
    assert!((1..=4).contains(&sample.level), "{}", sample.level);
    let (every, kept) = (by_client(&whole), by_client(&sample));
    assert!(kept.len() > 50 && kept.len() < every.len(), "{} of {}", kept.len(), every.len());
    assert!(kept.is_subset(&every), "a client that is kept did something else");
    assert!(sample.notes.iter().any(|note| note.text.contains("one client in")));
    check_account(&sample);
    assert_eq!(sample, read_captures(&captures, most), "the same again");
    // Several captures share the budget, whichever is read first.
    let two = [make_capture(6000, 1500), make_capture(5000, 1500)];
    let sample = read_captures(&two, most);
    assert!(by_client(&sample).len() > 20);
    assert_eq!(by_client(&sample), by_client(&read_captures(&two, most)));
}

#[test]
fn sample__of_a_capture_of_one_client_is_of_connections() {
    let captures = [make_capture(6000, 1)];
    let sample = read_captures(&captures, Some(1 << 14));
    assert!((1..=4).contains(&sample.level), "{}", sample.level);
    assert!(
        sample.connections.len() > 200 && sample.connections.len() < 4000,
        "{}",
        sample.connections.len()
    );
    assert!(sample.notes.iter().any(|note| note.text.contains("one connection in")));
}

#[test]
fn sample__of_one_way_rows_keeps_both() {
    let rows = make_text("ts,src,dst,sport,dport,bytes\n", |row| {
        let (host, port, at) = (client_address(row / 2), 20_000 + row / 2, row as f64 / 50.0);
        match row % 2 {
            0 => format!("{at:.3},{host},192.0.2.1,{port},443,300"),
            _ => format!("{at:.3},192.0.2.1,{host},443,{port},{}", row_size(row)),
        }
    });
    check_sample(&[("flows.csv", rows)]);
}

#[test]
fn sample__of_one_client_is_of_connections() {
    let one = |lines: String| {
        lines
            .replace("10.1.", "10.9.")
            .lines()
            .map(|line| {
                let mut cells: Vec<&str> = line.split(',').collect();
                if cells[1] != "client" {
                    cells[1] = "me";
                }
                cells.join(",") + "\n"
            })
            .collect::<String>()
    };
    let files = [("a.csv", one(table_with_ids()))];
    let (whole, sample) = (read(&files, None), read(&files, Some(MOST)));
    check_account(&sample);
    let sizes =
        |traffic: &Traffic| -> BTreeSet<u64> { traffic.connections.iter().map(|one| one.bytes()).collect() };
    assert!(sizes(&sample).is_subset(&sizes(&whole)), "connections are whole");
    assert!((200..=2048).contains(&sample.connections.len()), "{}", sample.connections.len());
    assert!(sample.notes.iter().any(|note| note.text.contains("one connection in")));
}
