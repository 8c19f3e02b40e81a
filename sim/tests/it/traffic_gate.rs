//! Files that are possible but rarely meant, made here: each gets its sentence, and its sound twin gets none.
use crate::traffic_common::*;
use mousehole_sim::traffic::Traffic;

/// Returns the texts of the traffic's notes.
fn note_texts(traffic: &Traffic) -> Vec<&str> {
    traffic.notes.iter().map(|note| note.text.as_str()).collect()
}

/// Asserts that exactly one note contains this text, or none if `is_said` is false.
fn assert_said(traffic: &Traffic, text: &str, is_said: bool) {
    let all = note_texts(traffic);
    assert_eq!(all.iter().filter(|one| one.contains(text)).count(), usize::from(is_said), "{text}: {all:?}");
}

/// Returns a table of sixty rows, each from a function of its number.
fn make_table(header: &str, row: impl Fn(u64) -> String) -> String {
    rows_at(header, 60, row)
}

/// Returns a row without anything unusual.
fn usual_row(number: u64) -> String {
    format!("{}.5,10.0.0.{},192.0.2.{},{}", T0 + number, number % 7, number % 3, 500 + 1000 * number)
}

#[test]
fn gate__sound_files_get_no_sentence() {
    assert_eq!(note_texts(&one(&make_table("start,client,server,bytes", usual_row))), [""; 0]);
    assert_eq!(note_texts(&read_bytes(&pcap(false, false, usize::MAX))), [""; 0]);
}

#[test]
fn gate__clocks_that_jump() {
    let jumped = |number: u64| {
        let at = T0 + number + if number < 40 { 0 } else { 400 * 86_400 };
        format!("{at}.5,10.0.0.{},192.0.2.{},{}", number % 7, number % 3, 500 + 1000 * number)
    };
    let traffic = one(&make_table("start,client,server,bytes", jumped));
    assert_said(&traffic, "time jumps by 1.1 years after row 40", true);
    let nights = |number: u64| {
        let at = T0 + number / 10 * 86_400 + number % 10;
        format!("{at}.5,10.0.0.{},192.0.2.{},{}", number % 7, number % 3, 500 + 1000 * number)
    };
    assert_said(&one(&make_table("start,client,server,bytes", nights)), "time jumps", false);
    // A flow table, a Zeek log and an access log.
    let flows = make_table("ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt", |number| {
        let year = if number < 40 { 2026 } else { 2031 };
        let at = format!("{year}-10-10 10:00:{number:02}.500");
        format!(
            "{at},{at},0.1,10.0.0.{},192.0.2.1,{},443,TCP,9,{},4,300",
            number % 7,
            40_000 + number,
            2000 + number
        )
    });
    assert_said(&one(&flows), "time jumps by 5.0 years after row 40", true);
    let zeek = (0..60).fold(
        String::from("#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\tresp_bytes\n"),
        |text, number| {
            let at = if number == 59 { 0 } else { T0 + number };
            text + &format!("{at}.5\tC{number}\t10.0.0.{}\t192.0.2.1\ttcp\t{}\n", number % 7, 2000 + number)
        },
    );
    assert_said(&one(&zeek), "time jumps by 53.9 years after row 60", true);
    let log = (0..60).fold(String::new(), |text, number| {
        let year = if number < 40 { 2026 } else { 2027 };
        let from = format!("10.0.0.{} - - [10/Oct/{year}:13:55:{number:02} +0000]", number % 7);
        text + &format!("{from} \"GET /{number} HTTP/1.1\" 200 {}\n", 900 + number)
    });
    assert_said(&one(&log), "time jumps by 365 days after row 40", true);
}

#[test]
fn gate__clocks_that_were_set_back() {
    let summer = |number: u64| {
        let at = T0 + 60 * if number < 30 { number } else { number - 30 };
        format!("{at}.5,10.0.0.{},192.0.2.{},{}", number % 7, number % 3, 500 + 1000 * number)
    };
    let traffic = one(&make_table("start,client,server,bytes", |number| summer(number + 5)));
    assert_said(&traffic, "the clock goes back", false);
    let hour = |number: u64| {
        let at = T0 + 120 * if number < 40 { number } else { number - 30 };
        format!("{at}.5,10.0.0.{},192.0.2.{},{}", number % 7, number % 3, 500 + 1000 * number)
    };
    let traffic = one(&make_table("start,client,server,bytes", hour));
    assert_said(&traffic, "the clock goes back by 58.0 min after row 40", true);
}

#[test]
fn gate__one_client_that_is_everybody() {
    let proxy = |number: u64| format!("{}.5,proxy,192.0.2.{},{}", T0 + number, number % 3, 500 + number);
    assert_said(&one(&make_table("start,client,server,bytes", proxy)), "are of one client", true);
    let site = |number: u64| format!("{}.5,www.example,{}", T0 + number, 500 + number);
    let traffic = one(&make_table("time,host,bytes", site));
    assert_said(&traffic, "are of one client", true);
    assert_said(&traffic, "the column host counts as the client", true);
    let named = |number: u64| format!("{}.5,10.0.0.{},www.example,{}", T0 + number, number % 9, 500 + number);
    let traffic = one(&make_table("time,remote_addr,host,bytes", named));
    assert_eq!((traffic.clients, note_texts(&traffic).len()), (9, 0), "{:?}", note_texts(&traffic));
    let log = (0..60).fold(String::new(), |text, number| {
        let from = format!("127.0.0.1 - - [10/Oct/2026:13:55:{number:02} +0000]");
        text + &format!("{from} \"GET /{number} HTTP/1.1\" 200 {}\n", 900 + number)
    });
    assert_said(&one(&log), "are of one client", true);
}

#[test]
fn gate__sizes_that_are_tiny_or_all_equal() {
    let size = |size: fn(u64) -> u64| {
        move |number: u64| format!("{}.5,10.0.0.{},192.0.2.1,{}", T0 + number, number % 7, size(number))
    };
    let tiny = one(&make_table("start,client,server,bytes", size(|number| 24 + number)));
    assert_said(&tiny, "have less than 100 B", true);
    let equal = one(&make_table("start,client,server,bytes", size(|_| 4096)));
    assert_said(&equal, "all 60 transfers have 4096 B", true);
}

/// Returns a table of so many rows below a header, each from a function of its number.
fn rows_at(header: &str, count: u64, row: impl Fn(u64) -> String) -> String {
    (0..count).map(row).fold(format!("{header}\n"), |text, row| text + &row + "\n")
}

#[test]
fn gate__counters() {
    let size = |number: u64| 500 + number * 7919 % 3001;
    let header = "time,client,bytes";
    let polled = |bytes: &dyn Fn(u64) -> u64, late: u64| {
        rows_at(header, 600, |number| {
            let at = T0 + number / 5 * 10 + u64::from(number >= 300) * late;
            format!("{at},10.0.0.{},{}", number % 5, bytes(number))
        })
    };
    let beat = "rows come exactly every 10.0 s, as samples of counters do";
    let growth = "the bytes only grow from row to row of each client";
    assert_said(&one(&polled(&size, 0)), beat, true);
    assert_said(&one(&polled(&size, 1)), beat, false);
    assert_said(&one(&polled(&|number| 1000 * number, 3)), growth, true);
    // A counter's own sentence is enough.
    assert_said(&one(&polled(&|number| 1000 * number, 0)), beat, false);
    assert_said(&one(&polled(&|number| 1000 * (number + 1) % 599_000, 3)), growth, false);
    // Few rows may be somebody's example.
    let small = rows_at(header, 60, |number| format!("{}.5,10.0.0.1,{}", T0 + number, 1000 * number));
    assert_said(&one(&small), growth, false);
    assert_said(&one(&small), "rows come exactly", false);
    // What has durations is a table of flows.
    let flows = rows_at("time,duration,client,bytes", 300, |number| {
        format!("{}.5,0.{},10.0.0.1,{}", T0 + number, 1 + number % 8, size(number))
    });
    assert_said(&one(&flows), "rows come exactly", false);
}

#[test]
fn gate__whole_minutes() {
    let minute = |number: u64| {
        format!("2026-10-10 10:{:02}:00,10.0.0.{},{}", number / 20, number % 7, 500 + number * 7919 % 3001)
    };
    let traffic = one(&rows_at("time,client,bytes", 120, minute));
    assert_said(&traffic, "time stamps are whole minutes", true);
    assert_said(&traffic, "time stamps are whole seconds", false);
    // Twenty rows of a minute are spread over it.
    let begins = traffic.connections.iter().filter(|connection| connection.start.0 < 1_000_000_000).count();
    assert!(begins < 5, "{begins}");
    // Seconds from 0, 60 apart, are somebody's plan, not a coarse clock.
    let plan = rows_at("time,client,bytes", 60, |number| format!("{},a,{}", 60 * number, 500 + number));
    assert_said(&one(&plan), "whole minutes", false);
}

#[test]
fn gate__whole_seconds() {
    let whole = |number: u64| format!("{},10.0.0.{},192.0.2.1,{}", T0 + number, number % 7, 500 + number);
    assert_said(&one(&make_table("start,client,server,bytes", whole)), "time stamps are whole seconds", true);
    let seconds = make_capture(40, |at| at / 1000 * 1000);
    assert_said(&read_bytes(&seconds), "time stamps are whole seconds", true);
    assert_said(&read_bytes(&make_capture(40, |at| at)), "whole seconds", false);
}

/// Returns a capture of so many downloads; `clock` changes their times in ms.
fn make_capture(count: u64, clock: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut all = Vec::new();
    for number in 0..count {
        let begin = 1000 * number;
        let shots = exchange(begin, &[(begin + 100, 700 + number as usize)]);
        let port = 443 + number as u16;
        all.extend(
            shots.into_iter().map(|shot| (clock(shot.0), make_frame(port, 1 + number as u8 % 9, 1, shot))),
        );
    }
    pcap_of_link(1, all, false, false, usize::MAX)
}

#[test]
fn gate__captures_within_one_machine() {
    // The round trip of the handshake is below 0.1 ms: all three packets of it have nearly one time.
    let near = |at: u64| at / 1000 * 1000 + u64::from(at % 1000 >= 100) * 100;
    let mut capture = make_capture(40, near);
    // Each packet of 16 bytes of header and its content; microseconds that grow with each packet.
    let (mut place, mut number) = (24, 0_u32);
    while place < capture.len() {
        let field = |place: usize| u32::from_le_bytes(capture[place..place + 4].try_into().unwrap());
        let (fraction, length) = (field(place + 4) + number % 4 * 10, field(place + 8));
        capture[place + 4..place + 8].copy_from_slice(&fraction.to_le_bytes());
        place += 16 + length as usize;
        number += 1;
    }
    assert_said(&read_bytes(&capture), "round trips are below 0.1 ms", true);
    assert_said(&read_bytes(&make_capture(40, |at| at)), "round trips are below 0.1 ms", false);
}

#[test]
fn gate__one_direction_only() {
    let header = "ts,src,dst,sport,dport,proto,packets,bytes";
    let to_client = |number: u64| {
        format!(
            "{}.5,192.0.2.1,10.0.0.{},443,{},tcp,9,{}",
            T0 + number,
            number % 7,
            40_000 + number,
            500 + 99 * number
        )
    };
    let traffic = one(&make_table(header, to_client));
    assert_eq!((traffic.clients, traffic.servers, traffic.connections.len()), (7, 1, 60));
    assert_said(&traffic, "rows of one direction only", true);
    let to_server = |number: u64| {
        format!(
            "{}.5,10.0.0.{},192.0.2.1,{},443,tcp,9,{}",
            T0 + number,
            number % 7,
            40_000 + number,
            500 + 99 * number
        )
    };
    assert_said(&one(&make_table(header, to_server)), "no row goes back from a destination", true);
    let both =
        |number: u64| if number.is_multiple_of(2) { to_client(number / 2) } else { to_server(number / 2) };
    let traffic = one(&make_table(header, both));
    assert_eq!((traffic.clients, traffic.servers, traffic.connections.len()), (7, 1, 30));
    assert_said(&traffic, "no row goes back", false);
    let gcp = make_table(
        "start_time,end_time,src_ip,src_port,dest_ip,dest_port,protocol,bytes_sent,packets_sent",
        |number| {
            let at = format!("2026-10-10T10:00:{number:02}.5+00:00");
            format!("{at},{at},10.0.0.{},{},192.0.2.1,443,6,540,6", number % 7, 40_000 + number)
        },
    );
    let refused = refuse(&gcp);
    assert!(refused.contains("60 flows have rows of one direction only"), "{refused}");
    assert!(refused.contains("with payload up there would be 18000 bytes"), "{refused}");
}
