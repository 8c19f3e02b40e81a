//! Faults of files and of rows: one clear line each, and never a half-read file.
use crate::traffic_common::*;
use mousehole_sim::error::Error;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents, read_files};

#[test]
fn gzip__is_recognised_and_may_have_members() {
    let log = conn_log();
    let (a, b) = log.as_bytes().split_at(200);
    let zipped = [gzip(a), gzip(b)].concat();
    assert_eq!(read_bytes(&zipped).connections, one(&log).connections);
    assert_eq!(read_bytes(&gzip(&pcap(false, false, 74))).connections.len(), 3);
}

#[test]
fn gzip__cut_short_is_an_error_of_logs() {
    let rows: String = (0..3000).map(|k| conn_row(k, &format!("C{k}"), "a", "b", "9")).collect();
    let zipped = gzip(format!("{CONN_FIELDS}{rows}").as_bytes());
    let error = read_contents(&[("c.gz", &zipped[..zipped.len() / 2])], &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("c.gz: gzip data ends early after "), "{error}");
    let error = read_contents(&[("c.gz", &zipped[..zipped.len() - 3])], &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("ends early"), "{error}");
}

#[test]
fn faults__are_counted_and_the_first_is_shown() {
    let mut text = "start,client,bytes\n".to_string();
    (0..40).for_each(|k| text += &format!("{k}.5,a,100\n"));
    let traffic = one(&(text.clone() + "41.5,a,-5\n42.5,a,many\n"));
    assert_eq!((traffic.faults.count, traffic.connections.len()), (2, 40));
    let first = traffic.faults.first.unwrap();
    assert!(first.starts_with("sample:42: ") && first.contains("\"-5\""), "{first}");
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    let bad = text.clone() + "41.5,a,-5\n";
    assert!(matches!(read_contents(&[("x", bad.as_bytes())], &strict), Err(Error::Row { line: 42, .. })));
    let error = refuse(&(text + "1.5,a,-5\n1.5,a,x\n1.5,a,\n,a,4\n"));
    assert!(error.contains("3 of 44 rows") && error.contains("5 %"), "{error}");
}

#[test]
fn faults__of_zeek_and_access_logs() {
    let good: String = (0..30).map(|k| conn_row(500, &format!("G{k}"), "a", "b", "9")).collect();
    let traffic = one(&format!("{CONN_FIELDS}{good}{T0}.5\tshort\n"));
    assert!(traffic.faults.first.unwrap().contains("2 fields where #fields names 9"));
    let line = "h - - [14/Nov/2023:22:13:20 +0000] \"GET /\u{fffd} HTTP/1.1\" 200 500\n";
    let mut bytes = line.repeat(30).into_bytes();
    bytes.extend(b"\xff\xfe garbage\n");
    assert_eq!(read_bytes(&bytes).faults.count, 1);
}

#[test]
fn file_faults__name_the_problem_and_the_known_formats() {
    assert_eq!(refuse(""), "dir/sample: the file is empty");
    let unknown = refuse("%PDF-1.4 something\n");
    assert!(
        unknown.contains("begins with \"%PDF-1.4 something\"") && unknown.contains("inspect --formats lists"),
        "{unknown}"
    );
    assert!(refuse("PK\x03\x04\0\0\0").contains("zip"));
    assert!(refuse("snoop\0\0\0\0\0\0\x02").contains("editcap"));
    assert!(refuse("alpha,beta\n1,2\n").contains("no column of the first line"));
    assert!(refuse("start,byes\n1,2\n").contains("did you mean \"bytes\""));
    assert!(!refuse("\"start,byes\n1,2\n").contains('\n'));
    assert!(refuse("[{\"ts\":1}]").contains("JSON with the names ts"));
    assert!(refuse("#separator \\x09\n#path\tdns\n#fields\tts\tquery\n1\tx\n").contains("kind \"dns\""));
    let missing = read_files(&["/nonexistent/file.pcap".to_string()], &ReadOptions::default()).unwrap_err();
    assert_eq!(missing.to_string(), "/nonexistent/file.pcap: no such file");
    assert!(
        read_files(&["/".to_string()], &ReadOptions::default())
            .unwrap_err()
            .to_string()
            .contains("directory")
    );
    assert!(read_files(&[], &ReadOptions::default()).is_err());
}

#[test]
fn file_faults__an_unusable_file_gets_reasons_and_advice() {
    let only_up = format!("{CONN_FIELDS}{T0}.5\tX\ta\t1\tb\t80\ttcp\t100\t0\n");
    let error = refuse(&only_up);
    assert!(error.contains("1 skipped as no payload in this direction"), "{error}");
    assert!(error.contains("with payload up there would be 100 bytes"), "{error}");
    let up = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    assert_eq!(read_contents(&[("x", only_up.as_bytes())], &up).unwrap().connections[0].bytes(), 100);
    assert!(refuse("start,bytes\n").contains("nothing usable: 0 rows"));
}

/// A line without end is refused at once, whatever the format: gzipped, it would fill any memory.
#[test]
fn long_lines__are_refused_early() {
    let endless = "1".repeat(3 << 20);
    let csv_quoted = format!("start,bytes\n1.5,10\n2.5,\"{endless}\"\n");
    let access = "h - - [14/Nov/2023:22:13:20 +0000] \"GET";
    let nfdump = "ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt\n";
    for (text, line) in [
        (format!("start,bytes\n1.5,10\n2.5,{endless}\n"), 3),
        (csv_quoted, 3),
        (format!("{CONN_FIELDS}{}{endless}", conn_row(1, "A", "a", "b", "9")), 6),
        (format!("{{\"ts\":1,\"uid\":\"A\"}}\n{{\"ts\":{endless}"), 2),
        (format!("{access} /x\" 200 5\n{access} /{endless}\" 200 5\n"), 2),
        (format!("{nfdump}{endless}"), 2),
    ] {
        let zipped = gzip(text.as_bytes());
        let error = read_contents(&[("x", &zipped)], &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("x:{line}: the ")) && error.contains("1 MiB"), "{error}");
    }
}

#[test]
fn faults__of_sizes_that_are_no_number() {
    for size in ["nan", "NaN", "inf", "-inf", "-7", "1e400"] {
        let mut text = "start,client,bytes\n".to_string();
        (0..40).for_each(|k| text += &format!("{k}.5,a,100\n"));
        let table = one(&format!("{text}41.5,a,{size}\n"));
        let good: String = (0..40).map(|k| conn_row(500, &format!("G{k}"), "a", "b", "9")).collect();
        let zeek = one(&format!("{CONN_FIELDS}{good}{}", conn_row(900, "X", "a", "b", size)));
        for (traffic, line) in [(table, 42), (zeek, 45)] {
            assert_eq!((traffic.faults.count, traffic.connections.len()), (1, 40), "{size}");
            let first = traffic.faults.first.unwrap();
            assert!(first.starts_with(&format!("sample:{line}: bytes \"{size}\"")), "{first}");
        }
    }
    assert_eq!(one("start,client,bytes\n0.5,a,9\n1.5,a,\n2.5,a,-\n").skipped[0].rows, 2);
}
