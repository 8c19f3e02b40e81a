//! Parses numbers as logs write them: time stamps into integer nanoseconds, sizes into bytes.

use super::lines::excerpt;
use super::spec::Dates;
use crate::units::Dur;
use jiff::{Timestamp, civil::DateTime, tz::Offset};

const NS_PER_SEC: i64 = 1_000_000_000;
/// A time stamp beyond this many seconds before or after the epoch (year 2096) is no time in seconds.
const MAX_SECS: i64 = 4_000_000_000;
/// Numbers of at most this many digits fit 64 bits as nanoseconds.
const MAX_SECS_DIGITS: usize = 10;
/// The largest size of a transfer (1 TB); sums of millions of them fit 64 bits.
const MAX_BYTES: f64 = 1e12;

/// A time stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since the epoch of the file.
    pub ns: i64,
    /// Whether it was written without a part of a second.
    pub whole: bool,
}

/// A unit of time; its value is the power of ten that converts it to nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    S = 9,
    /// Milliseconds.
    Ms = 6,
    /// Microseconds.
    Us = 3,
    /// Nanoseconds.
    Ns = 0,
}

/// Forms of dates that are neither numbers nor ISO 8601 and yet unambiguous.
const WRITTEN: [&str; 6] = [
    "%Y/%m/%d %H:%M:%S%.f",
    "%d.%m.%Y %H:%M:%S%.f",
    "%Y%m%d%H%M%S",
    "%Y-%m-%d %I:%M:%S %p",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
];

/// Parses a time stamp of a table: a number in `unit`, but in the unit that its size shows if it is
/// too large for seconds and `unit` is seconds; an ISO 8601 date and time (UTC if it names no
/// zone); the date of an access log; or a date of [`WRITTEN`].
///
/// # Errors
/// A sentence for any other text, also for dates with slashes whose order is unknown, and for times beyond the year
/// 2096.
pub fn parse_stamp(text: &[u8], unit: Unit) -> Result<Stamp, String> {
    let text = text.trim_ascii();
    let unit = if unit == Unit::S { guess_unit(text) } else { unit };
    let parsed = parse_fourteen_digits(text)
        .or_else(|| parse_decimal(text, unit))
        .or_else(|| parse_iso(text))
        .or_else(|| parse_access_log(text))
        .or_else(|| parse_written_date(text));
    match parsed {
        Some(stamp) if (stamp.ns / NS_PER_SEC).abs() < MAX_SECS => Ok(stamp),
        Some(_) => Err(format!(
            "time \"{}\" is beyond the year 2096; name the column start_ms, start_us or start_ns for another unit",
            excerpt(text)
        )),
        None if text.contains(&b'/') => Err(format!(
            "time \"{}\" does not say which is the day and which the month; write ISO 8601, or describe the table in a file for \
             --format with dates = \"dmy\" or \"mdy\"",
            excerpt(text)
        )),
        None => Err(format!(
            "time \"{}\" is neither a number nor ISO 8601, such as 2026-05-01T10:00:00Z",
            excerpt(text)
        )),
    }
}

/// Parses a time stamp of any log: a number in `unit`, or without one in the unit that its size shows; ISO
/// 8601, also with slashes; the date of an access log; day, month and year between slashes in the order of
/// `dates`; a date of [`WRITTEN`]; or a time of day, which counts from midnight. UTC without a zone.
///
/// # Errors
/// A sentence for any other text, and for times beyond the year 2096.
pub fn parse_log_time(text: &[u8], unit: Option<Unit>, dates: Dates) -> Result<Stamp, String> {
    let text = text.trim_ascii();
    let parsed = parse_fourteen_digits(text)
        .filter(|_| unit.is_none())
        .or_else(|| parse_decimal(text, unit.unwrap_or_else(|| guess_unit(text))))
        .or_else(|| parse_iso(text))
        .or_else(|| parse_slashed_date(std::str::from_utf8(text).ok()?, dates))
        .or_else(|| parse_written_date(text));
    match parsed {
        Some(stamp) if (stamp.ns / NS_PER_SEC).abs() < MAX_SECS => Ok(stamp),
        _ => Err(format!("time \"{}\" is no time that is understood", excerpt(text))),
    }
}

/// Guesses the unit of a time since 1970 by its number of digits: 19 are nanoseconds, 16 microseconds and 13
/// milliseconds for any time from the year 2001 on. Any other number is in seconds.
fn guess_unit(text: &[u8]) -> Unit {
    match text.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        19 => Unit::Ns,
        16 => Unit::Us,
        13 => Unit::Ms,
        _ => Unit::S,
    }
}

/// Parses a date of fourteen digits, which as a number of seconds would be beyond the year 2096; `None` for other text.
fn parse_fourteen_digits(text: &[u8]) -> Option<Stamp> {
    (text.len() == 14 && text.iter().all(u8::is_ascii_digit)).then(|| parse_written_date(text)).flatten()
}

/// Parses a date of [`WRITTEN`], in UTC; `None` for other text.
fn parse_written_date(text: &[u8]) -> Option<Stamp> {
    let text = std::str::from_utf8(text).ok()?;
    let at = WRITTEN.iter().find_map(|form| DateTime::strptime(form, text).ok())?;
    let at = Offset::UTC.to_timestamp(at).ok()?;
    Some(Stamp { ns: i64::try_from(at.as_nanosecond()).ok()?, whole: at.subsec_nanosecond() == 0 })
}

/// Parses a date with slashes and a time of day, or a time of day alone, with an optional zone; `None` for other text.
/// A year below 100 is of this century. A zone counts only with a date, AM and PM only with one in numbers.
fn parse_slashed_date(text: &str, dates: Dates) -> Option<Stamp> {
    let (clock, zone) = match text.rsplit_once(' ') {
        Some((clock, zone)) if zone.starts_with(['+', '-']) => (clock, zone),
        _ => (text, "+0000"),
    };
    let (clock, fraction) = split_fraction(clock);
    let clock = clock.as_str();
    let (clock, half) = match clock.to_ascii_lowercase().strip_suffix(" pm") {
        Some(_) => (&clock[..clock.len() - 3], 12),
        None => (clock.strip_suffix(" AM").or(clock.strip_suffix(" am")).unwrap_or(clock), 0),
    };
    let is_halved = text.len() > 3
        && text.is_ascii()
        && matches!(&text.to_ascii_lowercase()[text.len() - 3..], " am" | " pm");
    let whole = fraction.is_none();
    let ns = match clock.as_bytes().iter().filter(|&&byte| byte == b'/').count() {
        2 if clock
            .split('/')
            .nth(1)
            .is_some_and(|month| month.bytes().all(|byte| byte.is_ascii_alphabetic())) =>
        {
            parse_access_log(format!("{clock} {zone}").as_bytes())?.ns
        }
        2 => {
            let (date, time) = clock.split_once([' ', 'T', '-'])?;
            let numbers: Vec<i16> = date.split('/').map(|part| part.parse().ok()).collect::<Option<_>>()?;
            let &[first, second, third] = numbers.as_slice() else { return None };
            let (year, month, day) = match dates {
                _ if first > 31 => (first, second, third),
                Dates::Dmy => (third, second, first),
                Dates::Mdy => (third, first, second),
            };
            let year = if year < 100 { 2000 + year } else { year };
            let (hour, minute, second) = parse_time_of_day(time)?;
            let hour = if is_halved { hour % 12 + half } else { hour };
            let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
            let local = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
            parse_zone_offset(zone)?.to_timestamp(local).ok()?.as_second().checked_mul(NS_PER_SEC)?
        }
        0 => {
            let (hour, minute, second) = parse_time_of_day(clock)?;
            ((i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second)) * NS_PER_SEC
        }
        _ => return None,
    };
    Some(Stamp { ns: ns.checked_add(fraction.unwrap_or(0))?, whole })
}

/// Parses `HH:MM` or `HH:MM:SS` into hour, minute and second; a leap second counts as the second before it. `None` for
/// other text and numbers out of range.
fn parse_time_of_day(text: &str) -> Option<(i8, i8, i8)> {
    let mut parts = text.split(':');
    let (hour, minute) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let second = parts.next().map_or(Some(0), |second| second.parse().ok())?;
    let is_time = parts.next().is_none()
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    is_time.then_some((hour, minute, second.min(59)))
}

/// Splits off the fraction of a time's second, in nanoseconds, of which digits beyond nine are dropped; `None` without
/// one. The text after its digits stays.
fn split_fraction(clock: &str) -> (String, Option<i64>) {
    let Some((before, after)) = clock.rsplit_once('.') else { return (clock.to_string(), None) };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let ns = after[..digits].bytes().chain(std::iter::repeat(b'0')).take(9);
    let ns = ns.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    (format!("{before}{}", &after[digits..]), Some(ns))
}

/// Parses a span of time in `unit`. Returns `None` for an unset field (see [`is_unset`]).
///
/// # Errors
/// A sentence that names the field `name`, for a negative value, a span of 4e9 s or more, or text that is no number.
pub fn parse_span(name: &str, text: &[u8], unit: Unit) -> Result<Option<Dur>, String> {
    let text = text.trim_ascii();
    if is_unset(text) {
        return Ok(None);
    }
    match parse_decimal(text, unit) {
        Some(stamp) if stamp.ns >= 0 && stamp.ns / NS_PER_SEC < MAX_SECS => Ok(Some(Dur(stamp.ns as u64))),
        _ => Err(format!("{name} \"{}\" is not allowed; a number that is not negative is", excerpt(text))),
    }
}

/// Parses a count of bytes. Returns `None` for an unset field (see [`is_unset`]), but not for `nan`.
///
/// # Errors
/// A sentence that names the field `name`, for anything but a whole number from 0 to 1e12.
pub fn parse_bytes(name: &str, text: &[u8]) -> Result<Option<u64>, String> {
    let text = text.trim_ascii();
    if !text.is_empty() && text.len() <= 12 && text.iter().all(u8::is_ascii_digit) {
        return Ok(Some(parse_digits(text)));
    }
    // A program writes nan where it could not compute a size, and that is not the same as no payload.
    if is_unset(text) && !text.eq_ignore_ascii_case(b"nan") {
        return Ok(None);
    }
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match value {
        Some(value) if (0.0..=MAX_BYTES).contains(&value) && value.fract() == 0.0 => Ok(Some(value as u64)),
        _ => Err(format!(
            "{name} \"{}\" is not allowed; a whole number of bytes from 0 to 1e12 is",
            excerpt(text)
        )),
    }
}

/// Returns whether a field is empty or unset: `-`, `(empty)`, `nan`, `null`, or a date of zeros.
pub fn is_unset(text: &[u8]) -> bool {
    matches!(text, b"" | b"-" | b"(empty)")
        || text.starts_with(b"0000-00-00")
        || text.eq_ignore_ascii_case(b"nan")
        || text.eq_ignore_ascii_case(b"null")
}

/// Parses the date of an access log, `10/Oct/2000:13:55:36 -0700`, of which the second may have a fraction; UTC without a
/// zone, `None` for other text.
pub fn parse_access_log(text: &[u8]) -> Option<Stamp> {
    let text = std::str::from_utf8(text).ok()?;
    let (clock, zone) = text.split_once(' ').unwrap_or((text, "+0000"));
    let (clock, fraction) = split_fraction(clock);
    let mut parts = clock.splitn(5, ['/', ':']);
    let day = parts.next()?.parse().ok()?;
    let month = parse_month(parts.next()?)?;
    let year = parts.next()?.parse().ok()?;
    let (hour, rest) = (parts.next()?.parse().ok()?, parts.next()?);
    let (minute, second) = rest.split_once(':')?;
    let (minute, second) = (minute.parse().ok()?, second.parse::<i8>().ok()?.min(59));
    let local = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let at = parse_zone_offset(zone)?.to_timestamp(local).ok()?;
    let ns = at.as_second().checked_mul(NS_PER_SEC)?.checked_add(fraction.unwrap_or(0))?;
    Some(Stamp { ns, whole: fraction.is_none() })
}

/// Returns the number, 1 to 12, of a month's English abbreviation in any case; `None` for another name.
fn parse_month(name: &str) -> Option<i8> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let place = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    Some(place as i8 + 1)
}

/// Parses a zone offset: `+HHMM`, `-HH:MM` or `Z`; `None` for other text.
fn parse_zone_offset(zone: &str) -> Option<Offset> {
    let (sign, digits) = match zone.as_bytes().first()? {
        b'-' => (-1, &zone[1..]),
        b'+' => (1, &zone[1..]),
        _ => return (zone == "Z").then_some(Offset::UTC),
    };
    let digits = digits.replace(':', "");
    if digits.len() != 4 {
        return None;
    }
    let minutes = digits.get(..2)?.parse::<i32>().ok()? * 60 + digits.get(2..)?.parse::<i32>().ok()?;
    Offset::from_seconds(sign * minutes * 60).ok()
}

/// Parses a date and time of ISO 8601, in UTC without an offset; `None` for other text.
fn parse_iso(text: &[u8]) -> Option<Stamp> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_suffix(" UTC").unwrap_or(text);
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
    };
    let ns = i64::try_from(at.as_nanosecond()).ok()?;
    Some(Stamp { ns, whole: !text.contains(['.', ',']) && ns % NS_PER_SEC == 0 })
}

/// Converts decimal text in `unit` to nanoseconds without passing through a float, so that microseconds stay exact;
/// `None` for text that is no number. Digits below a nanosecond are dropped; beyond 64 bits it is the largest number.
fn parse_decimal(text: &[u8], unit: Unit) -> Option<Stamp> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    let point = digits.iter().position(|&c| c == b'.');
    let (whole, part) = digits.split_at(point.unwrap_or(digits.len()));
    let part = part.get(1..).unwrap_or(&[]);
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    if !whole.iter().chain(part).all(u8::is_ascii_digit) || whole.len() > 20 {
        return parse_exponential(text, unit);
    }
    let places = unit as usize;
    if whole.len() <= MAX_SECS_DIGITS {
        let shifted = parse_digits(whole) * 10u64.pow(places as u32);
        let kept = &part[..part.len().min(places)];
        let ns = shifted + parse_digits(kept) * 10u64.pow((places - kept.len()) as u32);
        let ns = i64::try_from(ns).map_or(i64::MAX, |ns| sign * ns);
        return Some(Stamp { ns, whole: point.is_none() && ns % NS_PER_SEC == 0 });
    }
    let kept = part.iter().copied().chain(std::iter::repeat(b'0')).take(places);
    let ns = whole.iter().copied().chain(kept).fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let ns = i64::try_from(i128::from(sign) * ns).unwrap_or(i64::MAX);
    Some(Stamp { ns, whole: point.is_none() && ns % NS_PER_SEC == 0 })
}

/// Returns the number of at most 18 bytes, all decimal digits; 0 for none.
fn parse_digits(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
}

/// Converts a number in `unit` with an exponent to nanoseconds, to the microsecond; `None` for text that is
/// no number.
fn parse_exponential(text: &[u8], unit: Unit) -> Option<Stamp> {
    let value = std::str::from_utf8(text).ok()?.parse::<f64>().ok().filter(|value| value.is_finite())?;
    Some(convert_float(value / 10u32.pow(9 - unit as u32) as f64))
}

/// Converts seconds to a stamp, rounded to microseconds; a float of today's date has no higher precision.
fn convert_float(seconds: f64) -> Stamp {
    let micros = (seconds * 1e6).round();
    Stamp { ns: (micros as i64).saturating_mul(1000), whole: false }
}

#[cfg(test)]
#[path = "stamp_tests.rs"]
mod tests;
