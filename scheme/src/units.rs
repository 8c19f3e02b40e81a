//! Types for time, rates and buffers, and the parsers of text such as `10mbit`.
//!
//! Time is integer nanoseconds. KB = 1000 B, as in the papers.

use crate::error::{Error, Result, find_nearest, quote};
use mousehole_policy::units;
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant, in nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize)]
pub struct Dur(pub u64);

/// A link rate in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A buffer limit, in the unit the user chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// So many packets.
    Packets(u32),
    /// So many bytes of IP length.
    Bytes(u64),
}

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the span since `earlier`; zero when `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }

    /// Returns the seconds as a float, for reports.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Dur {
    /// No time at all.
    pub const ZERO: Dur = Dur(0);

    /// Returns so many seconds, rounded to the nearest nanosecond; zero for a negative number or NaN.
    #[inline]
    pub fn from_secs(seconds: f64) -> Dur {
        Dur((seconds * 1e9).round().max(0.0) as u64)
    }

    /// Returns so many milliseconds, at most 584 years, beyond which it overflows.
    #[inline]
    pub const fn from_millis(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    /// Returns the seconds as a float, for reports.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Rate {
    /// Returns the time to put `bytes` on the wire, rounded to the nearest nanosecond; the longest [`Dur`] if it is longer.
    /// Panics for a rate of 0.
    #[inline]
    pub fn tx_time(self, bytes: u64) -> Dur {
        let bit_ns = u128::from(bytes) * 8_000_000_000;
        let rounded = (bit_ns + u128::from(self.0 / 2)) / u128::from(self.0);
        Dur(u64::try_from(rounded).unwrap_or(u64::MAX))
    }

    /// Returns the bytes that fit in `span` at this rate.
    #[inline]
    pub fn bytes_in(self, span: Dur) -> f64 {
        self.0 as f64 * span.as_secs() / 8.0
    }
}

impl Add<Dur> for Time {
    type Output = Time;

    /// Returns the instant after a span; [`Time::NEVER`] if it is later than that.
    #[inline]
    fn add(self, span: Dur) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Dur> for Time {
    /// Moves the instant on by a span, at most to [`Time::NEVER`].
    #[inline]
    fn add_assign(&mut self, span: Dur) {
        *self = *self + span;
    }
}

impl Add for Dur {
    type Output = Dur;

    /// Returns the sum of two spans, or the longest span if it is longer.
    #[inline]
    fn add(self, other: Dur) -> Dur {
        Dur(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Dur {
    /// Adds a span, up to the longest.
    #[inline]
    fn add_assign(&mut self, other: Dur) {
        *self = *self + other;
    }
}

impl Sub for Dur {
    type Output = Dur;

    /// Returns the difference of two spans; zero if the second is longer.
    #[inline]
    fn sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Rate {
    /// Writes the exact rate in the largest unit of bit/s that leaves at least 1, such as `1.5 Mbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let bps = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{bps} bit/s"),
            1_000..1_000_000 => write!(f, "{} kbit/s", bps / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{} Mbit/s", bps / 1e6),
            _ => write!(f, "{} Gbit/s", bps / 1e9),
        }
    }
}

/// Parses a rate such as `10mbit`, `3.5Mbit` or `1gbit`; 1 bit/s to 1000 Gbit/s, rounded to whole bit/s.
///
/// # Errors
/// [`Error::Field`] naming `field` when the text is no rate with a known unit, or is out of that range.
pub fn parse_rate(field: &str, text: &str) -> Result<Rate> {
    let allowed = if text.trim_end().to_ascii_lowercase().ends_with("bps") {
        "in bits, such as 20mbit for 20 Mb/s (by bps, tc counts bytes and most people bits)"
    } else {
        "a positive rate with a unit, such as 10mbit, 512kbit or 1gbit"
    };
    let bps = parse_number_with_unit(field, text, units::RATE, allowed)?;
    if !(1.0..=1e12).contains(&bps) {
        return Err(Error::field(field, quote(text), "a rate from 1bit to 1000gbit"));
    }
    Ok(Rate(bps.round() as u64))
}

/// Parses a span of time such as `80ms`, `1.5s` or `2min`; at most 10^9 s.
///
/// # Errors
/// [`Error::Field`] naming `field` when the text is no span of time.
pub fn parse_dur(field: &str, text: &str) -> Result<Dur> {
    let allowed = "a time with a unit, such as 80ms, 30s or 5min";
    let seconds = parse_number_with_unit(field, text, units::TIME, allowed)?;
    if !(0.0..=1e9).contains(&seconds) {
        return Err(Error::field(field, quote(text), allowed));
    }
    Ok(Dur::from_secs(seconds))
}

/// Parses a size such as `15kB`, `1MB` or `64KiB`, at most 10^15 bytes, and returns whole bytes; KB = 1000 B.
///
/// # Errors
/// [`Error::Field`] naming `field` when the text is no size.
pub fn parse_size(field: &str, text: &str) -> Result<u64> {
    let allowed = "a size with a unit, such as 15kB, 64KiB or 1500B";
    let bytes = parse_number_with_unit(field, text, units::SIZE, allowed)?;
    if !(0.0..=1e15).contains(&bytes) {
        return Err(Error::field(field, quote(text), allowed));
    }
    Ok(bytes.round() as u64)
}

/// Parses a buffer: `50p` (packets), `64kB` (bytes), `200ms` (what `rate` sends in that time, in bytes) or `1bdp`
/// (bandwidth-delay products of `rate` and `rtt`, in bytes).
///
/// # Errors
/// [`Error::Field`] naming `field` when the text is no buffer, or the buffer holds less than one packet, more than 10^9
/// packets or more than 2^40 bytes.
pub fn parse_buffer(field: &str, text: &str, rate: Rate, rtt: Dur) -> Result<Buffer> {
    let units =
        "in packets (50p), bytes (64kB), time at the link's rate (200ms) or bandwidth-delay products (1bdp)";
    let allowed = format!("at least one packet, {units}");
    let (number, unit) = units::split_unit(text);
    let value = units::parse_number(number).ok_or_else(|| Error::field(field, quote(text), &*allowed))?;
    let unit = unit.to_ascii_lowercase();
    let seconds = units::TIME.iter().find(|(name, _)| *name == unit).map(|(_, scale)| value * scale);
    let sent_in = |span: f64| (rate.0 as f64 * span / 8.0).round() as u64;
    let buffer = match (unit.as_str(), seconds) {
        ("p", _) if value.fract() == 0.0 && (1.0..=1e9).contains(&value) => Buffer::Packets(value as u32),
        ("bdp", _) => Buffer::Bytes((value * rate.bytes_in(rtt)).round() as u64),
        ("p", _) => return Err(Error::field(field, quote(text), allowed)),
        (_, Some(span)) => Buffer::Bytes(sent_in(span)),
        _ => Buffer::Bytes(parse_number_with_unit(field, text, units::SIZE, &allowed)? as u64),
    };
    match buffer {
        Buffer::Bytes(bytes) if !(1500..=1 << 40).contains(&bytes) => {
            let allowed = format!("at least one 1500-byte packet, {units}");
            let fault = match (unit.as_str(), seconds) {
                ("bdp", _) => format!("is {bytes} B at {rate} and an RTT of {} ms", rtt.0 as f64 / 1e6),
                (_, Some(_)) => format!("is {bytes} B at {rate}"),
                _ => return Err(Error::field(field, quote(text), allowed)),
            };
            Err(Error::faulty(field, quote(text), fault, allowed))
        }
        good => Ok(good),
    }
}

/// Parses a number with one of the `known` units and returns its value in the base unit, that of scale 1.
///
/// # Errors
/// [`Error::Field`] naming `field`, with `allowed`, for a text without a number or with a missing or unknown unit.
fn parse_number_with_unit(field: &str, text: &str, known: units::Units, allowed: &str) -> Result<f64> {
    let (number, unit) = units::split_unit(text);
    let value = units::parse_number(number).ok_or_else(|| Error::field(field, quote(text), allowed))?;
    let lower = unit.to_ascii_lowercase();
    match known.iter().find(|(name, _)| *name == lower) {
        Some((_, scale)) => Ok(value * scale),
        None => {
            let fault = if unit.is_empty() { "has no unit" } else { "has an unknown unit" };
            let near = find_nearest(&lower, known.iter().map(|(name, _)| *name)).filter(|_| !unit.is_empty());
            Err(Error::faulty(field, quote(text), fault, allowed).suggest(near))
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn parse_rate__counts_bits_and_refuses_bps() {
        assert_eq!(parse_rate("rate", "20Mbit").ok(), Some(Rate(20_000_000)));
        let said = parse_rate("rate", "20Mbps").map_err(|error| error.to_string());
        assert!(said.is_err_and(|said| said.contains("\"20Mbps\"") && said.contains("such as 20mbit for 20 Mb/s")));
    }

    #[test]
    fn tx_time__never_wraps() {
        assert_eq!(Rate(8_000_000_000).tx_time(2_500_000_000), Dur(2_500_000_000));
        assert_eq!(Rate(8_000_000_000_000).tx_time(1 << 60), Dur(((1 << 60) + 500) / 1000));
        assert_eq!(Rate(1).tx_time(u64::MAX), Dur(u64::MAX));
    }
}
