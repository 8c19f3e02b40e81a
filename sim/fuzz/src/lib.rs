//! Checks that the fuzz targets share: a parser returns something sound or an error of one line, and never panics.

pub mod scheme;
pub mod seeds;

use mousehole_sim::error::Error;
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::read::{Direction, ReadOptions, read_contents};
use mousehole_sim::units::{Rate, Time};

/// Reads the files in both directions, leniently and strictly, and checks each result.
pub fn check_traffic(named: &[(&str, &[u8])]) {
    for direction in [Direction::Down, Direction::Up] {
        for strict in [false, true] {
            match read_contents(named, &ReadOptions { direction, strict, ..ReadOptions::default() }) {
                Ok(traffic) => check_sound(&traffic, strict),
                Err(error) => check_error(&error),
            }
        }
    }
}

/// Checks that an error is one line without control characters. It must name where, the value and
/// what is allowed, or for a file where and what is wrong.
pub fn check_error(error: &Error) {
    let text = error.to_string();
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!text.contains(ends_line), "more than a line: {text:?}");
    let parts = match error {
        Error::Field { field, problem } => {
            assert_ne!(
                problem.value().map(|value| value.to_string()).as_deref(),
                Some(""),
                "the value is not named: {error:?}"
            );
            vec![field.clone(), problem.to_string()]
        }
        Error::File { file, problem } | Error::Row { file, problem, .. } => {
            vec![file.clone(), problem.clone()]
        }
        Error::Cancelled => panic!("nobody cancelled"),
    };
    assert!(parts.iter().all(|part| !part.trim().is_empty()), "something is not named: {error:?}");
}

/// Returns fuzzed bytes after a header, so that the reader under test is the one that gets them.
pub fn prepend_header(header: &[u8], data: &[u8]) -> Vec<u8> {
    [header, data].concat()
}

/// Checks the laws of any traffic that is read.
fn check_sound(traffic: &Traffic, strict: bool) {
    let connections = &traffic.connections;
    assert_eq!(connections[0].start, Time::ZERO);
    assert!(connections.windows(2).all(|pair| pair[0].start <= pair[1].start), "in order of start");
    for connection in connections {
        match connection.writes.datagrams() {
            Some(flow) => assert!(flow.iter().next().is_some_and(|datagram| datagram.bytes() > 0)),
            None => {
                assert!(!connection.writes.is_empty());
                assert!(connection.writes.iter().all(|write| write.bytes > 0));
            }
        }
        assert!(connection.client < traffic.clients && connection.server < traffic.servers);
    }
    assert!(!strict || traffic.faults.count == 0, "strict reading tolerates nothing");
    // What has no transfers may go the other way only.
    let has_transfers = connections.iter().any(|connection| connection.writes.datagrams().is_none());
    let load = traffic.summary(Some(Rate(10_000_000)), 1460).native_load;
    assert!(load.is_some_and(|load| load > 0.0 || !has_transfers && load == 0.0));
}
