//! Formats numbers, addresses and tables for people.

use crate::layout::Key;
use mousehole_answer::texts::{group_thousands, significant, with_commas};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Formats a whole number with commas: `1,234,567`.
pub fn format_number(value: u64) -> String {
    group_thousands(&value.to_string())
}

/// Formats a number of things, in the plural unless it is 1: `1 flow`, `1,234 flows`.
pub fn format_count(value: u64, thing: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", format_number(value))
}

/// Formats a value that is not negative with three digits and the prefix of a power of 1000, up to
/// `P`.
fn format_scaled(value: f64, unit: &str) -> String {
    let mut rest = value;
    for prefix in ["", "k", "M", "G", "T", "P"] {
        if rest < 999.5 {
            return format!("{} {prefix}{unit}", significant(rest, 3));
        }
        rest /= 1000.0;
    }
    format!("{} P{unit}", with_commas(1000.0 * rest))
}

/// Formats a number of bytes: `30 kB`, with 1 kB = 1000 B.
pub fn format_bytes(value: f64) -> String {
    format_scaled(value, "B")
}

/// Formats a rate: `9.5 Mbit/s`.
pub fn format_rate(bits_per_second: f64) -> String {
    format_scaled(bits_per_second, "bit/s")
}

/// Formats a duration in at most two units: `0.25 s`, `3 min 20 s`, `2 h 14 min`, `3 d 4 h`. Below
/// 10 s it is rounded to milliseconds.
pub fn format_span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..10 => format_scaled((seconds * 1000.0).round() / 1000.0, "s").replace(" ms", " s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// Formats a share as whole percent; `<1 %` if it is below 1 % but not none, `>99 %` if it is above
/// 99 % but not all. It is `0 %` if `whole` is 0 and `part` too.
pub fn format_percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    match share {
        _ if part > 0 && share < 1.0 => "<1 %".into(),
        _ if part < whole && share > 99.0 => ">99 %".into(),
        _ => format!("{share:.0} %"),
    }
}

/// Returns the address of a key; an IPv4-mapped one as IPv4.
pub fn to_ip(bytes: [u8; 16]) -> IpAddr {
    let six = Ipv6Addr::from(bytes);
    six.to_ipv4_mapped().map_or(IpAddr::V6(six), IpAddr::V4)
}

/// Formats address and port of an endpoint: `10.0.0.1:443`, `[fe80::1]:443`. Port 0 is left out.
/// `port` is in network order.
pub fn format_endpoint(bytes: [u8; 16], port: [u8; 2]) -> String {
    let (address, port) = (to_ip(bytes), u16::from_be_bytes(port));
    match port {
        0 => address.to_string(),
        _ => SocketAddr::new(address, port).to_string(),
    }
}

/// Returns the name of an IP protocol; `ip-N` for one that is not listed here.
pub fn format_protocol(number: u8) -> String {
    match number {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        47 => "gre".into(),
        50 => "esp".into(),
        58 => "icmpv6".into(),
        132 => "sctp".into(),
        other => format!("ip-{other}"),
    }
}

/// Formats a flow: `tcp 10.0.0.1:40000 > 10.0.0.2:443`.
pub fn format_flow(key: &Key) -> String {
    format!(
        "{} {} > {}",
        format_protocol(key.protocol),
        format_endpoint(key.source, key.source_port),
        format_endpoint(key.destination, key.destination_port)
    )
}

/// Formats rows with each column as wide as its widest cell and two spaces between columns. Columns
/// in `left` are aligned to the left, the others to the right. Returns a line for each row, without
/// blanks at the end; rows may be of different length.
pub fn format_table(rows: &[Vec<String>], left: &[usize]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(column, cell)| match left.contains(&column) {
                true => format!("{cell:<0$}", wide[column]),
                false => format!("{cell:>0$}", wide[column]),
            })
            .collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// Returns the end of a sentence about a program's action, which says how long packets wait for
/// tokens; empty if they do not wait.
pub(crate) fn format_waiting(longest_wait_ms: u32, shadow: bool) -> String {
    match (longest_wait_ms, shadow) {
        (0, _) | (_, true) => String::new(),
        (ms, false) => format!(
            "; packets beyond a user's profile wait for tokens, at most {}",
            format_span(f64::from(ms) / 1e3)
        ),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn numbers__have_three_digits_and_a_prefix() {
        assert_eq!(format_number(0), "0");
        assert_eq!(format_number(999), "999");
        assert_eq!(format_number(12_345), "12,345");
        assert_eq!(format_number(1_234_567), "1,234,567");
        assert_eq!(format_number(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(format_count(1, "flow"), "1 flow");
        assert_eq!(format_count(2000, "flow"), "2,000 flows");
        assert_eq!(format_bytes(999.0), "999 B");
        assert_eq!(format_bytes(30_000.0), "30 kB");
        assert_eq!(format_bytes(62_640.0), "62.6 kB");
        assert_eq!(format_bytes(999_600.0), "1 MB");
        assert_eq!(format_rate(9_500_000.0), "9.5 Mbit/s");
    }

    #[test]
    fn times__have_two_units_at_most() {
        assert_eq!(format_span(0.25), "0.25 s");
        assert_eq!(format_span(0.0042), "0.004 s");
        assert_eq!(format_span(1.0), "1 s");
        assert_eq!(format_span(59.9), "59 s");
        assert_eq!(format_span(200.0), "3 min 20 s");
        assert_eq!(format_span(8040.0), "2 h 14 min");
        assert_eq!(format_span(273_600.0), "3 d 4 h");
    }

    #[test]
    fn shares__do_not_round_something_to_nothing() {
        assert_eq!(format_percent(0, 0), "0 %");
        assert_eq!(format_percent(1, 1000), "<1 %");
        assert_eq!(format_percent(999, 1000), ">99 %");
        assert_eq!(format_percent(1, 3), "33 %");
        assert_eq!(format_percent(3, 3), "100 %");
    }

    #[test]
    fn flows__are_written_with_ports_where_they_have_them() {
        let four = |last: u8| std::net::Ipv4Addr::new(10, 0, 0, last).to_ipv6_mapped().octets();
        let key = Key {
            source: four(1),
            destination: four(2),
            source_port: 40_000u16.to_be_bytes(),
            destination_port: 443u16.to_be_bytes(),
            protocol: 6,
            reserved: [0; 3],
        };
        assert_eq!(format_flow(&key), "tcp 10.0.0.1:40000 > 10.0.0.2:443");
        let six: Ipv6Addr = "fe80::1".parse().unwrap();
        let key = Key { source: six.octets(), protocol: 58, source_port: [0; 2], ..key };
        assert_eq!(format_flow(&key), "icmpv6 fe80::1 > 10.0.0.2:443");
        assert_eq!(format_endpoint(six.octets(), [1, 187]), "[fe80::1]:443");
    }

    #[test]
    fn tables__align_columns() {
        let rows = [vec!["a".into(), "10".into()], vec!["long".into(), "5".into()]];
        assert_eq!(format_table(&rows, &[0]), ["a     10", "long   5"]);
    }
}
