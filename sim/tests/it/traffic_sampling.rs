//! Reading within a budget of rows: whole clients are kept, with all that they did, whatever the format.

#![allow(non_snake_case)]

use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::read::{ReadOptions, contents};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const ROWS: u64 = 12_000;
const CLIENTS: u64 = 1500;
const MOST: u64 = 4096;

/// Returns the client of a row; rows are shuffled over clients.
fn client(row: u64) -> String {
    let host = row * 7919 % CLIENTS;
    format!("10.1.{}.{}", host / 250, host % 250)
}

/// Returns a size that no other row has.
fn size(row: u64) -> u64 {
    1000 + row
}

fn text(head: &str, line: impl Fn(u64) -> String) -> String {
    (0..ROWS).fold(head.to_string(), |mut text, row| {
        writeln!(text, "{}", line(row)).unwrap();
        text
    })
}

fn table() -> String {
    text("start,client,bytes\n", |row| format!("{:.3},{},{}", row as f64 / 50.0, client(row), size(row)))
}

/// Two rows in a row of the file have one connection.
fn table_with_ids() -> String {
    text("start,client,id,bytes\n", |row| {
        let id = row / 2;
        format!("{:.3},{},c{id},{}", row as f64 / 50.0, client(id), size(row))
    })
}

fn access_log() -> String {
    text("", |row| {
        let (page, second) = (row / 2, row / 200);
        let (url, referrer) = match row % 2 {
            0 => (format!("/{page}.html"), "-".to_string()),
            _ => (format!("/{page}.png"), format!("http://a/{page}.html")),
        };
        let time = format!("10/Oct/2026:13:{:02}:{:02} +0000", second / 60, second % 60);
        let from = client(page);
        format!(r#"{from} - - [{time}] "GET {url} HTTP/1.1" 200 {} "{referrer}" "x""#, size(row))
    })
}

fn zeek_conn() -> String {
    let head =
        "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tresp_bytes\n";
    text(head, |row| {
        let proto = if row % 5 == 0 { "udp" } else { "tcp" };
        format!(
            "{:.3}\tC{row}\t{}\t4000\t192.0.2.1\t80\t{proto}\t{}",
            row as f64 / 50.0,
            client(row),
            size(row)
        )
    })
}

fn zeek_http() -> String {
    let head = "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\thost\turi\treferrer\tresponse_body_len\n";
    text(head, |row| {
        let (at, from) = (row as f64 / 50.0, client(row));
        format!("{at:.3}\tC{row}\t{from}\t192.0.2.1\t1\ta\t/{row}\t-\t{}", size(row) - 500)
    })
}

fn nfdump() -> String {
    text("ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt\n", |row| {
        let (flow, at) = (row / 2, format!("2026-10-10 10:{:02}:{:02}.000", row / 3000, row / 50 % 60));
        let (host, port) = (client(flow), 20_000 + flow % 30_000);
        match row % 2 {
            0 => format!("{at},{at},0.1,{host},192.0.2.1,{port},443,TCP,3,300"),
            _ => format!("{at},{at},0.1,192.0.2.1,{host},443,{port},TCP,3,{}", size(row) + 200),
        }
    })
}

fn read(files: &[(&str, String)], most_rows: Option<u64>) -> Traffic {
    let named: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    contents(&named, &ReadOptions { most_rows, ..ReadOptions::default() }).unwrap()
}

/// Returns the sizes and kinds of what each client did.
fn by_client(traffic: &Traffic) -> BTreeSet<Vec<(u64, String, usize)>> {
    let mut clients: BTreeMap<u32, Vec<(u64, String, usize)>> = BTreeMap::new();
    for (place, one) in traffic.connections.iter().enumerate() {
        let pages =
            (0..one.writes.len() as u32).filter(|&write| traffic.pages.page_of(place as u32, write).0 > 0);
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

fn check(files: &[(&str, String)]) {
    let (whole, sample) = (read(files, None), read(files, Some(MOST)));
    assert_eq!(whole.level, 0);
    assert!((1..=4).contains(&sample.level), "{}", sample.level);
    let (every, kept) = (by_client(&whole), by_client(&sample));
    assert!(kept.len() > 50 && kept.len() < every.len(), "{} of {}", kept.len(), every.len());
    assert!(kept.is_subset(&every), "a client that is kept did something else");
    let rows = |traffic: &Traffic| -> u64 { traffic.sources.iter().map(|source| source.rows).sum() };
    assert_eq!(rows(&whole), rows(&sample));
    assert!(sample.notes.iter().any(|note| note.text.contains("one client in")));
    assert_eq!(sample, read(files, Some(MOST)), "the same again");
}

#[test]
fn sample__of_a_table() {
    check(&[("a.csv", table())]);
}

#[test]
fn sample__of_a_table_with_connections() {
    check(&[("a.csv", table_with_ids())]);
}

#[test]
fn sample__of_an_access_log_keeps_pages() {
    let files = [("access.log", access_log())];
    check(&files);
    assert!(read(&files, Some(MOST)).pages.count() > 100);
}

#[test]
fn sample__of_zeek_logs_keeps_what_belongs_together() {
    check(&[("conn.log", zeek_conn())]);
    check(&[("conn.log", zeek_conn()), ("http.log", zeek_http())]);
}

#[test]
fn sample__of_netflow_keeps_both_directions() {
    check(&[("flows.csv", nfdump())]);
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
    let sizes =
        |traffic: &Traffic| -> BTreeSet<u64> { traffic.connections.iter().map(|one| one.bytes()).collect() };
    assert!(sizes(&sample).is_subset(&sizes(&whole)), "connections are whole");
    assert!((200..=2048).contains(&sample.connections.len()), "{}", sample.connections.len());
    assert!(sample.notes.iter().any(|note| note.text.contains("one connection in")));
}
