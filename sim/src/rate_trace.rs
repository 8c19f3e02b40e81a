//! A rate that changes over time, as a service curve: how much a link may have sent by a time.
//!
//! There are two formats, both of one entry per line; empty lines and what follows a `#` are ignored.
//!
//! - mahimahi's: a whole number of milliseconds, at which one packet of 1500 bytes may leave. What a smaller packet
//!   leaves over is for the packets that wait behind it; what nobody uses is lost. After the last line the trace begins
//!   again.
//! - `time rate`, such as `2.5s 8mbit`: the rate holds until the time of the next line, that of the last one for ever.
//!   A plain number is a time in seconds, and a rate of `0`, with or without a unit, is an outage.

use crate::error::{Error, Result, quote};
use crate::units::{Rate, Time, parse_dur, parse_rate};

/// Cumulative service of a link: the most that it can have sent, in bits times 10^9. In this unit a rate times
/// nanoseconds is a whole number.
pub type Service = u128;

/// [`Service`] of one bit.
const BIT: Service = 1_000_000_000;

/// Bytes that one line of mahimahi's format lets through.
const OPPORTUNITY_BYTES: u64 = 1500;
/// The same as a [`Service`].
const OPPORTUNITY: Service = OPPORTUNITY_BYTES as Service * 8 * BIT;

/// Most lines of a trace: an hour at 100 Mb/s has thirty million opportunities.
const MOST_LINES: usize = 50_000_000;

/// A rate that changes over time.
#[derive(Debug, Clone, PartialEq)]
pub struct RateTrace {
    kind: Kind,
    mean: Rate,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Times of packets in nanoseconds, in rising order; the last one is the period.
    Opportunities(Vec<u64>),
    Steps(Vec<Step>),
}

/// A span of constant rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    from: Time,
    rate: u64,
    /// Cumulative service before it begins.
    before: Service,
}

impl RateTrace {
    /// Returns whether `text` names a file rather than a rate. A rate begins with a number and ends
    /// with a unit. An empty text names no file; whether the file exists does not matter.
    pub fn is_file_name(text: &str) -> bool {
        let text = text.trim();
        let unit =
            text.trim_start_matches(['+', '-']).trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_rate = unit.len() < text.len() && unit.chars().all(|c| c.is_alphabetic() || " /".contains(c));
        !(text.is_empty() || is_rate)
    }

    /// Reads a trace from the file at `path`; `field` is the scenario's field, for messages.
    ///
    /// # Errors
    /// [`Error::Field`] when the file cannot be read, otherwise those of [`RateTrace::parse`].
    pub fn read(field: &str, path: &str) -> Result<RateTrace> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let fault = format!("cannot be read ({error})");
            Error::faulty(field, quote(path), fault, "a rate such as 10mbit, or the file of a rate trace")
        })?;
        RateTrace::parse(&text, path)
    }

    /// Parses the text of a trace; one word in the first line that is not empty selects mahimahi's
    /// format. `name` is the file's, for messages.
    ///
    /// # Errors
    /// [`Error::Row`] with the line at fault, [`Error::File`] for a trace without lines, with more than
    /// fifty million, or one that lets nothing pass in the end.
    pub fn parse(text: &str, name: &str) -> Result<RateTrace> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text); // the byte-order mark of some editors
        let lines =
            text.lines().zip(1u64..).map(|(line, number)| (line.split('#').next().unwrap_or(""), number));
        let lines: Vec<(Vec<&str>, u64)> = lines
            .map(|(line, number)| (line.split_whitespace().collect(), number))
            .filter(|(words, _): &(Vec<&str>, u64)| !words.is_empty())
            .take(MOST_LINES + 1)
            .collect();
        if lines.len() > MOST_LINES {
            return Err(Error::file(name, "a rate trace may have at most fifty million lines"));
        }
        match lines.first() {
            None => Err(Error::file(name, "a rate trace needs at least one line")),
            Some((words, _)) if words.len() == 1 => parse_opportunities(&lines, name),
            Some(_) => parse_steps(&lines, name),
        }
    }

    /// Returns the mean rate, at least 1 bit/s: over the period of a repeated trace, otherwise up
    /// to the time of its last line, or that line's rate if it is the only one.
    pub fn mean(&self) -> Rate {
        self.mean
    }

    /// Returns the period of a trace in mahimahi's format, which repeats; `None` for the other
    /// format.
    pub fn period(&self) -> Option<Time> {
        match &self.kind {
            Kind::Opportunities(times) => times.last().map(|last| Time(*last)),
            Kind::Steps(_) => None,
        }
    }

    /// Returns the bits that may have been sent by `at`, that time included.
    pub fn bits_by(&self, at: Time) -> f64 {
        self.service_by(at) as f64 / BIT as f64
    }

    /// Returns the cumulative service by `at`, that time included; it never falls.
    pub fn service_by(&self, at: Time) -> Service {
        match &self.kind {
            Kind::Opportunities(times) => {
                let period = times[times.len() - 1];
                let within = times.partition_point(|time| *time <= at.0 % period);
                (Service::from(at.0 / period) * times.len() as Service + within as Service) * OPPORTUNITY
            }
            Kind::Steps(steps) => {
                let step = &steps[steps.partition_point(|step| step.from <= at) - 1];
                step.before + Service::from(step.rate) * Service::from(at.since(step.from).0)
            }
        }
    }

    /// Returns the first time by which the cumulative service reaches `service`; [`Time::NEVER`] if
    /// that is beyond all times.
    pub fn time_of_service(&self, service: Service) -> Time {
        match &self.kind {
            Kind::Opportunities(times) => {
                let Some(number) = service.div_ceil(OPPORTUNITY).checked_sub(1) else { return Time::ZERO };
                let (rounds, within) = (number / times.len() as Service, number % times.len() as Service);
                let at =
                    rounds * Service::from(times[times.len() - 1]) + Service::from(times[within as usize]);
                Time(u64::try_from(at).unwrap_or(u64::MAX))
            }
            Kind::Steps(steps) => {
                // The last step that begins before it is served; an outage begins and ends with the same service.
                let step = &steps[steps.partition_point(|step| step.before < service).max(1) - 1];
                let wait = (service - step.before.min(service)).div_ceil(Service::from(step.rate.max(1)));
                Time(u64::try_from(Service::from(step.from.0) + wait).unwrap_or(u64::MAX))
            }
        }
    }
}

/// A link's position on the service curve of its trace.
#[derive(Debug, Clone)]
pub struct Position {
    trace: std::sync::Arc<RateTrace>,
    used: Service,
}

impl Position {
    /// Returns the position at the beginning of a trace.
    pub fn new(trace: std::sync::Arc<RateTrace>) -> Position {
        Position { trace, used: 0 }
    }

    /// Transmits `bytes` on the wire from `start` on, and uses their service up; returns when they
    /// have left. If the link was idle before (`was_idle`), the service that the trace offered
    /// until then is lost.
    pub fn transmit(&mut self, bytes: u64, start: Time, was_idle: bool) -> Time {
        if was_idle {
            self.used = self.used.max(self.trace.service_by(start));
        }
        self.used += Service::from(bytes * 8) * BIT;
        self.trace.time_of_service(self.used).max(start)
    }

    /// Returns how many whole bytes the trace lets through between two times; the position does not
    /// matter, and does not move.
    pub fn bytes_between(&self, begin: Time, end: Time) -> u64 {
        let span = self.trace.service_by(end).saturating_sub(self.trace.service_by(begin));
        u64::try_from(span / (8 * BIT)).unwrap_or(u64::MAX)
    }
}

/// Returns whether a text is zero, with or without a unit of rates.
fn is_zero(rate: &str) -> bool {
    let number = rate.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let is_number = number.starts_with(|letter: char| letter.is_ascii_digit()) && number.parse() == Ok(0.0);
    is_number && (number == rate || parse_rate("rate", &format!("1{}", &rate[number.len()..])).is_ok())
}

/// Returns the error for a line of the trace `name`.
fn row_error(name: &str, line: u64, problem: String) -> Error {
    Error::Row { file: name.into(), line, problem }
}

/// Parses mahimahi's format. `lines` are the words and the number of each line that is not empty,
/// at least one.
///
/// # Errors
/// [`Error::Row`] for a line that is no number of milliseconds or earlier than the one before,
/// [`Error::File`] for a last time of 0.
fn parse_opportunities(lines: &[(Vec<&str>, u64)], name: &str) -> Result<RateTrace> {
    let mut times: Vec<u64> = Vec::with_capacity(lines.len());
    for (words, line) in lines {
        let [word] = words[..] else {
            return Err(row_error(
                name,
                *line,
                "has several words; a line of mahimahi's format is one number".into(),
            ));
        };
        let milliseconds: u64 = word.parse().ok().filter(|ms| *ms <= 1 << 40).ok_or_else(|| {
            row_error(name, *line, format!("\"{word}\" is not a whole number of milliseconds"))
        })?;
        let at = milliseconds * 1_000_000;
        if times.last().is_some_and(|last| *last > at) {
            return Err(row_error(name, *line, format!("{milliseconds} ms is earlier than the line before")));
        }
        times.push(at);
    }
    let last = times[times.len() - 1];
    if last == 0 {
        return Err(Error::file(name, "the last time of a rate trace must be above 0 ms"));
    }
    let bits = times.len() as u128 * u128::from(OPPORTUNITY_BYTES) * 8;
    let mean = Rate(u64::try_from(bits * 1_000_000_000 / u128::from(last)).unwrap_or(u64::MAX).max(1));
    Ok(RateTrace { kind: Kind::Opportunities(times), mean })
}

/// Parses the format `time rate`. `lines` are as for [`parse_opportunities`].
///
/// # Errors
/// [`Error::Row`] for a line of another form, a first time other than 0 and a time that does not
/// rise, [`Error::File`] for a last rate of 0.
fn parse_steps(lines: &[(Vec<&str>, u64)], name: &str) -> Result<RateTrace> {
    let mut steps: Vec<Step> = Vec::with_capacity(lines.len());
    for (words, line) in lines {
        let [time, rate] = words[..] else {
            return Err(row_error(
                name,
                *line,
                "is not of the form `time rate`, such as `2.5s 8mbit`".into(),
            ));
        };
        let in_row = |error: Error| row_error(name, *line, error.to_string());
        let has_unit = time.chars().any(char::is_alphabetic);
        let text = if has_unit { time.to_string() } else { format!("{time}s") };
        let from = Time(parse_dur("time", &text).map_err(in_row)?.0);
        let rate = if is_zero(rate) { 0 } else { parse_rate("rate", rate).map_err(in_row)?.0 };
        let before = match steps.last() {
            None if from > Time::ZERO => {
                return Err(row_error(name, *line, format!("the first time is {time}; it must be 0")));
            }
            None => 0,
            Some(last) if last.from >= from => {
                return Err(row_error(
                    name,
                    *line,
                    format!("the time {time} is not later than the line before"),
                ));
            }
            Some(last) => last.before + Service::from(last.rate) * Service::from(from.since(last.from).0),
        };
        steps.push(Step { from, rate, before });
    }
    let last = steps[steps.len() - 1];
    if last.rate == 0 {
        return Err(Error::file(name, "the last rate of a rate trace holds for ever and must be above 0"));
    }
    let mean =
        if last.from == Time::ZERO { u128::from(last.rate) } else { last.before / u128::from(last.from.0) };
    let mean = Rate(u64::try_from(mean).unwrap_or(u64::MAX).max(1));
    Ok(RateTrace { kind: Kind::Steps(steps), mean })
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Returns the time `number` milliseconds after the start.
    fn ms(number: u64) -> Time {
        Time(number * 1_000_000)
    }

    /// Returns a valid trace.
    fn parse_trace(text: &str) -> RateTrace {
        RateTrace::parse(text, "trace").expect("a valid trace")
    }

    #[test]
    fn parse_opportunities__repeat_and_what_nobody_uses_is_lost() {
        let trace = parse_trace("0\n5\n5\n20\n");
        assert_eq!(trace.mean(), Rate(4 * 12_000 * 50));
        let mut link = Position::new(Arc::new(trace));
        // Those at 0 are over; 1500 bytes leave at 5 ms, and 750 of the next 1500 at the same time.
        assert_eq!(link.transmit(1500, ms(1), true), ms(5));
        assert_eq!(link.transmit(750, ms(5), false), ms(5));
        assert_eq!(link.transmit(750, ms(5), false), ms(5));
        assert_eq!(link.transmit(1, ms(5), false), ms(20));
        // Idle since: the rest of that opportunity is lost. The next is the first of the second round.
        assert_eq!(link.transmit(1500, ms(20), true), ms(25));
        assert_eq!(link.transmit(3000, ms(25), false), ms(40));
    }

    #[test]
    fn parse_steps__hold_until_the_next() {
        let trace = parse_trace("# a radio link\n0 1mbit\n1s 0\n1500ms 8mbit # better\n");
        assert_eq!(trace.mean(), Rate(666_666));
        let mut link = Position::new(Arc::new(trace));
        assert_eq!(link.transmit(1250, ms(0), true), ms(10));
        // 990 ms are left before the outage: 123,750 bytes.
        assert_eq!(link.transmit(123_750, ms(10), false), ms(1000));
        assert_eq!(link.transmit(1000, ms(1000), false), ms(1501));
        assert_eq!(link.transmit(1000, ms(1600), true), ms(1601));
    }

    #[test]
    fn parse__takes_a_byte_order_mark_and_an_outage_with_its_unit() {
        let plain = parse_trace("0s 1mbit\n1s 0\n2s 3mbit\n");
        assert_eq!(parse_trace("\u{feff}0s 1mbit\n1s 0mbit\n2s 3mbit\n"), plain);
        for zero in ["0x", "-0mbit", "0mbyte"] {
            assert!(RateTrace::parse(&format!("0s {zero}\n1s 1mbit\n"), "t").is_err(), "{zero}");
        }
    }

    #[test]
    fn parse__names_the_line() {
        let problem = |text: &str| RateTrace::parse(text, "t").expect_err("faulty").to_string();
        assert_eq!(problem(""), "t: a rate trace needs at least one line");
        assert!(
            problem("1\n\nx\n").starts_with("t:3: \"x\" is not a whole number"),
            "{}",
            problem("1\n\nx\n")
        );
        assert!(problem("7\n5\n").starts_with("t:2: 5 ms is earlier"));
        assert!(problem("0\n").contains("above 0 ms"));
        assert!(problem("1 5mbit\n").contains("must be 0"));
        assert!(problem("0 5mbit\n2 0\n").contains("must be above 0"));
        assert!(problem("0 5mbit\n2 5\n").starts_with("t:2: "));
        assert!(problem("0 5mbit\n0 6mbit\n").contains("not later"));
    }

    proptest! {
        /// `time_of_service` is the inverse of `service_by`, and neither ever falls.
        #[test]
        fn served__when_and_by_agree(
            gaps in prop::collection::vec((1u64..50_000_000, prop_oneof![Just(0u64), 1u64..100_000_000]), 1..12),
            amounts in prop::collection::vec(1u64..10_000_000_000_000, 1..20),
        ) {
            let mut text = String::from("0 1mbit\n");
            let mut at = 0;
            for (gap, rate) in &gaps {
                at += gap;
                let rate = if *rate == 0 { "0".into() } else { format!("{rate}bit") };
                text += &format!("{:.9} {rate}\n", at as f64 / 1e9);
            }
            text += &format!("{:.9} 3mbit\n", (at + 1000) as f64 / 1e9);
            let trace = RateTrace::parse(&text, "t").expect("valid");
            for amount in amounts {
                let amount = Service::from(amount) * 1000;
                let when = trace.time_of_service(amount);
                prop_assert!(trace.service_by(when) >= amount);
                prop_assert!(when == Time::ZERO || trace.service_by(Time(when.0 - 1)) < amount);
            }
        }
    }
}
