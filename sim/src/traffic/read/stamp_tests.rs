#![allow(non_snake_case)]
use super::*;

fn ns(text: &str, unit: Unit) -> i64 {
    stamp(text.as_bytes(), unit).unwrap().ns
}

#[test]
fn stamp__keeps_every_digit() {
    assert_eq!(ns("1258790493.773208", Unit::S), 1_258_790_493_773_208_000);
    assert_eq!(ns("-0.5", Unit::S), -500_000_000);
    assert_eq!(ns("1500.25", Unit::Ms), 1_500_250_000);
    assert_eq!(ns("7", Unit::Ns), 7);
    assert_eq!(ns("1.5e3", Unit::Ms), 1_500_000_000);
}

#[test]
fn stamp__knows_whole_seconds() {
    assert!(stamp(b"807256800", Unit::S).unwrap().whole);
    assert!(!stamp(b"807256800.0", Unit::S).unwrap().whole);
    assert!(!stamp(b"1500", Unit::Ms).unwrap().whole);
    assert!(stamp(b"2011-08-12T13:00:36Z", Unit::S).unwrap().whole);
}

#[test]
fn stamp__reads_iso() {
    assert_eq!(ns("1970-01-01T00:00:01.5Z", Unit::S), 1_500_000_000);
    assert_eq!(ns("1970-01-01T01:00:00+01:00", Unit::S), 0);
    assert_eq!(ns("1970-01-01 00:00:02", Unit::S), 2_000_000_000);
}

#[test]
fn stamp__refuses_garbage_and_other_units() {
    assert!(stamp(b"yesterday", Unit::S).unwrap_err().contains("yesterday"));
    assert!(stamp(b"1700000000000", Unit::S).unwrap_err().contains("start_ms"));
    assert!(stamp(b"", Unit::S).is_err());
    assert!(stamp(b".", Unit::S).is_err());
    assert!(stamp(b"99999999999999999999999999", Unit::S).is_err());
}

#[test]
fn bytes__takes_whole_numbers_only() {
    assert_eq!(bytes("size", b"12000"), Ok(Some(12000)));
    assert_eq!(bytes("size", b"12000.0"), Ok(Some(12000)));
    assert_eq!(bytes("size", b"-"), Ok(None));
    assert!(bytes("size", b"-5").unwrap_err().contains("\"-5\""));
    assert!(bytes("size", b"many").is_err());
    assert!(bytes("size", b"1e30").is_err());
}

#[test]
fn access_log__honours_the_zone() {
    let at = access_log(b"10/Oct/2000:13:55:36 -0700").unwrap();
    assert_eq!(at.ns / NS_PER_SEC, 971_211_336);
    assert_eq!(access_log(b"10/Foo/2000:13:55:36 -0700"), None);
    assert_eq!(access_log(b"40/Oct/2000:13:55:36 -0700"), None);
    assert_eq!(access_log(b"10/Oct/2000"), None);
}
