//! Parses numbers with units, such as `10mbit`, `80ms` or `15kB`. KB = 1000 B, as in the papers.

/// The names of units, in lower case, and their values.
pub type Units = &'static [(&'static str, f64)];

/// Rates in bit/s. `mbps` is no unit: to tc it means bytes per second, to most people bits.
pub const RATE: Units = &[("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)];
/// Times in seconds.
pub const TIME: Units = &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
/// Sizes in bytes.
pub const SIZE: Units = &[
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("kib", 1024.0),
    ("mib", 1048576.0),
    ("gib", 1073741824.0),
];

/// Returns the number that a text without spaces stands for, also with an exponent; `None` unless it is finite and not
/// negative.
pub fn parse_number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

/// Splits a text such as `15kB` into its number, `15`, and the rest, `kB`, without spaces around them. Neither is checked.
pub fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// Returns the value of a number with one of `units`, in the unit whose value is 1. Upper and lower case are the same.
/// `None` for another number or unit.
pub fn parse_with_unit(text: &str, units: Units) -> Option<f64> {
    let (value, unit) = split_unit(text);
    let lower = unit.to_ascii_lowercase();
    let (_, scale) = units.iter().find(|(name, _)| *name == lower)?;
    parse_number(value).map(|value| value * scale)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn parse_number__is_finite_and_not_negative() {
        for (text, value) in [("0", 0.0), ("2.5", 2.5), ("1e3", 1000.0)] {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
        for text in ["", "x", "-1", "-inf", "inf", "NaN", "1e999"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn split_unit__takes_signs_and_points_with_the_number() {
        for (text, parts) in [
            ("15kB", ("15", "kB")),
            (" 1.5 mbit ", ("1.5", "mbit")),
            ("-3ms", ("-3", "ms")),
            ("+3", ("+3", "")),
            ("never", ("", "never")),
        ] {
            assert_eq!(split_unit(text), parts, "{text}");
        }
    }

    #[test]
    fn parse_with_unit__needs_a_number_and_a_unit_of_its_kind() {
        assert_eq!(parse_with_unit("2 MiB", SIZE), Some(2097152.0));
        assert_eq!(parse_with_unit("3kbit", RATE), Some(3_000.0));
        assert_eq!(parse_with_unit("3kbps", RATE), None);
        assert_eq!(parse_with_unit("2min", TIME), Some(120.0));
        for text in ["2", "ms", "-2ms", "2kB", "2ms3"] {
            assert_eq!(parse_with_unit(text, TIME), None, "{text}");
        }
    }
}
