//! Numbers as text for people: times, shares, rates, changes.

pub use crate::digits::{group_thousands, significant, with_commas};
use crate::quantities::Unit;

/// A larger change is printed as `>+999`: its digits would say nothing.
pub const MOST_PERCENT: f64 = 999.0;
/// Text of a number that is not known.
pub const UNKNOWN: &str = "–";

/// Returns a number as [`significant`] does, with its sign, plus as well as a true minus.
pub fn signed_significant(number: f64, digits: usize) -> String {
    let text = significant(number, digits).replace('-', "−");
    if text.starts_with('−') { text } else { format!("+{text}") }
}

/// Returns a time as text: `84 ms`, `1.27 s`, `≥ 1.27 s` for a lower bound, `–` for an unknown one.
pub fn time_text(seconds: f64, is_bound: bool) -> String {
    unit_text(Unit::Seconds, seconds, is_bound)
}

/// Returns a finite time as text, in ms if it is shorter than 1 s.
fn seconds_text(seconds: f64) -> String {
    if seconds < 0.9995 {
        format!("{} ms", significant(1000.0 * seconds, 3))
    } else if seconds < 999.5 {
        format!("{} s", significant(seconds, 3))
    } else {
        format!("{seconds:.0} s")
    }
}

/// Returns `1 client`, `2 clients`: the number with the noun, which takes an s in the plural.
pub fn count_text(number: i64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a long time as text: `42 s`, `3.5 min (210 s)`, `8 h (28,800 s)`, `2.3 days (198,720 s)`.
pub fn span_text(seconds: f64) -> String {
    let whole = match seconds >= 1000.0 {
        true => format!("{} s", with_commas(seconds)),
        false => format!("{} s", significant(seconds, 6)),
    };
    let units = [(86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    match units.into_iter().find(|(length, _)| seconds >= 2.0 * length) {
        Some((length, unit)) => format!("{} {unit} ({whole})", significant(seconds / length, 3)),
        None => whole,
    }
}

/// Returns a share as text: `0.42 %`, `< 0.001 %` for less than half of that, `–` for an unknown one.
pub fn share_text(share: f64) -> String {
    if !share.is_finite() {
        UNKNOWN.to_owned()
    } else if 0.0 < share && share < 0.000_005 {
        "< 0.001 %".to_owned()
    } else if share < 0.0995 {
        format!("{} %", significant(100.0 * share, 2))
    } else {
        format!("{:.0} %", 100.0 * share)
    }
}

/// Returns a rate as text: `3.2 Mb/s`, `–` for an unknown one.
pub fn rate_text(bps: f64) -> String {
    if !bps.is_finite() {
        return UNKNOWN.to_owned();
    }
    let units = [(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| bps >= 0.9995 * scale).unwrap_or((1.0, "b/s"));
    format!("{} {unit}", significant(bps / scale, 3))
}

/// Returns a number of a quantity's unit as text, with `≥` for a lower bound; `–` for an unknown one.
pub fn unit_text(unit: Unit, number: f64, is_bound: bool) -> String {
    if !number.is_finite() {
        return UNKNOWN.to_owned();
    }
    let text = match unit {
        Unit::Seconds => seconds_text(number),
        Unit::BitsPerSecond => rate_text(number),
        Unit::Share => share_text(number),
        Unit::Times => format!("{} ×", significant(number, 3)),
        Unit::Index => format!("{number:.2}"),
        Unit::Change => signed_significant(number, 3).replace('−', "-"),
        Unit::Packets | Unit::Number => significant(number, 4),
    };
    if is_bound { format!("≥ {text}") } else { text }
}

/// Returns a share in percent with two or three digits, a true minus sign, and no sign for percent.
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let text = if value.abs() >= 9.95 { format!("{value:.0}") } else { format!("{value:.1}") };
    text.replace("-0.0", "0.0").replace('-', "−")
}

/// Returns a share in percent with its sign, plus as well as minus, and no sign for percent.
pub fn signed(share: f64) -> String {
    let text = percent(share);
    let is_zero = text.chars().all(|one| one == '0' || one == '.');
    if share <= 0.0 || is_zero { text } else { format!("+{text}") }
}

/// Returns a share as [`signed`] does, `>+999` for more than that.
pub fn capped(share: f64) -> String {
    if 100.0 * share > MOST_PERCENT { format!(">+{MOST_PERCENT}") } else { signed(share) }
}

/// Returns a share in whole percent with its sign, `+12`, `−3` or `0`, and no sign for percent.
pub fn whole_percent(share: f64) -> String {
    let text = format!("{:+.0}", 100.0 * share).replace('-', "−");
    if matches!(text.as_str(), "+0" | "−0") { "0".to_owned() } else { text }
}

/// Returns a share as [`whole_percent`] does, `>+999` for more than that.
pub fn capped_whole_percent(share: f64) -> String {
    if 100.0 * share > MOST_PERCENT { format!(">+{MOST_PERCENT}") } else { whole_percent(share) }
}

/// Returns a share as [`percent`] does, `> 999` or `< −999` for what is further from zero.
pub fn capped_percent(share: f64) -> String {
    if 100.0 * share.abs() <= MOST_PERCENT {
        percent(share)
    } else if share > 0.0 {
        format!("> {MOST_PERCENT}")
    } else {
        format!("< −{MOST_PERCENT}")
    }
}

/// Returns a change with its ends, `−32 % (−36…−28)`; without the ends if one is not finite, and
/// `–` if the change is unknown.
pub fn change_text(mean: f64, low: f64, high: f64) -> String {
    if !mean.is_finite() {
        return UNKNOWN.to_owned();
    }
    if low.is_finite() && high.is_finite() {
        return format!("{} % ({}…{})", capped(mean), capped(low), capped(high));
    }
    format!("{} %", capped(mean))
}

/// Returns the text with a capital first letter.
pub fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn signed_significant__has_a_sign() {
        assert_eq!([3.0, -3.0].map(|number| signed_significant(number, 3)), ["+3", "−3"]);
    }

    #[test]
    fn times_and_rates__have_three_digits() {
        let times = [0.0842, 1.268, 0.9996, 1234.5, f64::NAN];
        assert_eq!(times.map(|time| time_text(time, false)), ["84.2 ms", "1.27 s", "1 s", "1234 s", UNKNOWN]);
        assert_eq!(time_text(1.268, true), "≥ 1.27 s");
        assert_eq!([3.2e6, 999.0, 999_600.0].map(rate_text), ["3.2 Mb/s", "999 b/s", "1 Mb/s"]);
        assert_eq!([0.0042, 0.000_001, 0.31].map(share_text), ["0.42 %", "< 0.001 %", "31 %"]);
        assert_eq!(unit_text(Unit::Change, -0.25, false), "-0.25");
    }

    #[test]
    fn span_text__names_long_times_in_two_units() {
        let spans = [42.0, 0.123_456_7, 119.0, 210.0, 28_800.0, 198_720.0, 1_234_567.0];
        let expected = [
            "42 s",
            "0.123457 s",
            "119 s",
            "3.5 min (210 s)",
            "8 h (28,800 s)",
            "2.3 days (198,720 s)",
            "14.3 days (1,234,567 s)",
        ];
        assert_eq!(spans.map(span_text), expected);
    }

    #[test]
    fn changes__end_at_999_percent() {
        assert_eq!([0.3249, 0.0316, -0.0004, -0.05, 1.5].map(percent), ["32", "3.2", "0.0", "−5.0", "150"]);
        assert_eq!([0.12, -0.03, 0.0001, 12.0].map(capped), ["+12", "−3.0", "0.0", ">+999"]);
        assert_eq!([12.0, -12.0].map(capped_percent), ["> 999", "< −999"]);
        assert_eq!(change_text(-0.32, -0.36, -0.28), "−32 % (−36…−28)");
        assert_eq!(change_text(-0.32, f64::NAN, f64::NAN), "−32 %");
    }

    #[test]
    fn whole_percent__has_a_sign_unless_it_is_nothing() {
        assert_eq!([0.004, -0.004, 0.125, -0.034, 12.0].map(whole_percent), ["0", "0", "+12", "−3", "+1200"]);
        assert_eq!([9.98, 12.0].map(capped_whole_percent), ["+998", ">+999"]);
    }
}
