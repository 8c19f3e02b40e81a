#![allow(non_snake_case)]
use super::*;

/// Returns the nanoseconds of a time stamp.
fn parse_ns(text: &str, unit: Unit) -> i64 {
    parse_stamp(text.as_bytes(), unit).unwrap().ns
}

#[test]
fn stamp__keeps_every_digit() {
    assert_eq!(parse_ns("1258790493.773208", Unit::S), 1_258_790_493_773_208_000);
    assert_eq!(parse_ns("-0.5", Unit::S), -500_000_000);
    assert_eq!(parse_ns("1500.25", Unit::Ms), 1_500_250_000);
    assert_eq!(parse_ns("7", Unit::Ns), 7);
    assert_eq!(parse_ns("1.5e3", Unit::Ms), 1_500_000_000);
}

#[test]
fn stamp__knows_whole_seconds() {
    assert!(parse_stamp(b"807256800", Unit::S).unwrap().whole);
    assert!(!parse_stamp(b"807256800.0", Unit::S).unwrap().whole);
    assert!(!parse_stamp(b"1500", Unit::Ms).unwrap().whole);
    assert!(parse_stamp(b"2011-08-12T13:00:36Z", Unit::S).unwrap().whole);
}

#[test]
fn stamp__reads_iso() {
    assert_eq!(parse_ns("1970-01-01T00:00:01.5Z", Unit::S), 1_500_000_000);
    assert_eq!(parse_ns("1970-01-01T01:00:00+01:00", Unit::S), 0);
    assert_eq!(parse_ns("1970-01-01 00:00:02", Unit::S), 2_000_000_000);
}

#[test]
fn stamp__refuses_garbage_and_other_units() {
    assert!(parse_stamp(b"yesterday", Unit::S).unwrap_err().contains("yesterday"));
    for other in [11, 12, 14, 15, 17, 18, 20] {
        let text = &"17000000000000000000"[..other];
        assert!(parse_stamp(text.as_bytes(), Unit::S).is_err(), "{text}");
        assert!(parse_log_time(text.as_bytes(), None, Dates::Dmy).is_err(), "{text}");
    }
    assert!(parse_stamp(b"170000000000", Unit::S).unwrap_err().contains("start_ms"));
    assert!(parse_stamp(b"", Unit::S).is_err());
    assert!(parse_stamp(b".", Unit::S).is_err());
    assert!(parse_stamp(b"99999999999999999999999999", Unit::S).is_err());
}

#[test]
fn stamp__takes_the_unit_that_the_size_shows() {
    let second = 1_700_000_000_250_000_000;
    for text in ["1700000000.25", "1700000000250", "1700000000250000", "1700000000250000000"] {
        assert_eq!(
            (parse_ns(text, Unit::S), parse_log_time(text.as_bytes(), None, Dates::Dmy).unwrap().ns),
            (second, second)
        );
    }
    // The unit in a column's name has precedence over the size.
    assert_eq!(parse_ns("1700000000250", Unit::Ns), 1_700_000_000_250);
    assert!(parse_stamp(b"4000000000000", Unit::S).unwrap_err().contains("2096"));
}

#[test]
fn stamp__reads_dates_of_one_meaning() {
    for text in [
        "14.11.2023 22:13:20",
        "20231114221320",
        "2023-11-14 10:13:20 PM",
        "Tue Nov 14 22:13:20 2023",
        "Tue, 14 Nov 2023 22:13:20 GMT",
    ] {
        assert_eq!(parse_ns(text, Unit::S), 1_700_000_000_000_000_000, "{text}");
    }
    assert!(parse_stamp(b"20231314221320", Unit::S).is_err());
}

#[test]
fn parse_bytes__takes_whole_numbers_only() {
    assert_eq!(parse_bytes("size", b"12000"), Ok(Some(12000)));
    assert_eq!(parse_bytes("size", b"12000.0"), Ok(Some(12000)));
    assert_eq!(parse_bytes("size", b"-"), Ok(None));
    assert!(parse_bytes("size", b"-5").unwrap_err().contains("\"-5\""));
    assert!(parse_bytes("size", b"many").is_err());
    assert!(parse_bytes("size", b"1e30").is_err());
}

#[test]
fn parse_access_log__honours_the_zone() {
    let at = parse_access_log(b"10/Oct/2000:13:55:36 -0700").unwrap();
    assert_eq!(at.ns / NS_PER_SEC, 971_211_336);
    let finer = parse_access_log(b"10/Oct/2000:13:55:36.250 -0700").unwrap();
    assert_eq!((finer.ns - at.ns, finer.whole), (250_000_000, false));
    assert_eq!(parse_access_log(b"10/Foo/2000:13:55:36 -0700"), None);
    assert_eq!(parse_access_log(b"40/Oct/2000:13:55:36 -0700"), None);
    assert_eq!(parse_access_log(b"10/Oct/2000"), None);
}
