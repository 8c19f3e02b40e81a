//! The rate of a shaper before a modem: a share of the line's rate, or a rate.

use crate::error::{Error, Result, quote};
use crate::install::line::format_tc_rate;
use crate::units::{Rate, parse_rate};
use std::fmt;

/// The least share of a line's rate that a shaper may have.
const LEAST: f64 = 0.01;
/// The most, of a line of constant rate, …
const MOST: f64 = 1.0;
/// … and of the mean of one that varies, which has times above its mean.
const MOST_OF_MEAN: f64 = 2.0;

/// The rate of a shaper as it was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A share of the line's rate, of one that varies of its mean.
    Share(f64),
    /// A rate.
    Rate(Rate),
}

impl Shape {
    /// Parses `90%` or `18mbit`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for any other text, and for a share of 0.
    pub fn parse(field: &str, text: &str) -> Result<Shape> {
        let shape = match text.trim().strip_suffix('%') {
            None => parse_rate(field, text).ok().map(Shape::Rate),
            Some(number) => {
                let percent = number.trim().parse::<f64>().ok();
                let percent = percent.filter(|percent| percent.is_finite() && *percent > 0.0);
                percent.map(|percent| Shape::Share(percent / 100.0))
            }
        };
        let allowed = "a share above 0 such as 90%, or a rate from 1bit to 1000gbit such as 18mbit";
        shape.ok_or_else(|| Error::field(field, quote(text), allowed))
    }

    /// Returns the rate on a line of `rate`, a share rounded to whole bit/s and at least 1; [`Shape::resolve`] checks
    /// it.
    pub fn rate_on(self, rate: Rate) -> Rate {
        match self {
            Shape::Share(share) => Rate(((share * rate.0 as f64).round() as u64).max(1)),
            Shape::Rate(own) => own,
        }
    }

    /// Returns the shaper's rate on a line of `rate`, which is the mean rate if the line `varies`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for a shaper above the line's rate (above twice the mean rate), which has no effect,
    /// or below a hundredth of it; `hint` is appended to the allowed values.
    pub fn resolve(self, field: &str, rate: Rate, varies: bool, hint: &str) -> Result<Rate> {
        let own = self.rate_on(rate);
        let (most, words) = if varies { (MOST_OF_MEAN, "mean rate") } else { (MOST, "rate") };
        let share = own.0 as f64 / rate.0 as f64;
        let fault = match share {
            // A share that was rounded to a whole bit is none above.
            _ if own.0 as f64 > most * rate.0 as f64 + 1.0 => match varies {
                true => format!(
                    "is above {most:.0} times the line's {words}, so that the shaper has next to no effect"
                ),
                false => format!("is above the line's {words}, so that the shaper has no effect"),
            },
            _ if share < LEAST => "is next to nothing".into(),
            _ => return Ok(own),
        };
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        let (low, high) = (percent(LEAST), percent(most));
        let allowed =
            format!("from {low} to {high} of the line's {words} of {rate}, or a rate in that range{hint}");
        Err(Error::faulty(field, quote(&self.to_string()), fault, allowed))
    }
}

impl fmt::Display for Shape {
    /// Writes the text that [`Shape::parse`] reads, a rate in tc's units.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            // Rounds off the error of the division by 100.
            Shape::Share(share) => write!(f, "{}%", (share * 1e14).round() / 1e12),
            Shape::Rate(rate) => f.write_str(&format_tc_rate(*rate)),
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn shape__is_read_and_written() {
        for (text, written, bps) in
            [("90%", "90%", 18_000_000), ("87.5 %", "87.5%", 17_500_000), ("18mbit", "18mbit", 18_000_000)]
        {
            let shape = Shape::parse("link.shape", text).unwrap();
            assert_eq!((shape.to_string().as_str(), shape.rate_on(Rate(20_000_000)).0), (written, bps));
            assert_eq!(Shape::parse("link.shape", written).unwrap().rate_on(Rate(20_000_000)).0, bps);
        }
        for text in ["0%", "-5%", "%", "nan%", "inf%", "18", "ninety"] {
            assert!(Shape::parse("link.shape", text).is_err(), "{text}");
        }
    }

    #[test]
    fn resolve__of_a_line_that_varies_may_be_above_its_mean() {
        let of = |text, varies| Shape::parse("f", text).unwrap().resolve("f", Rate(1000), varies, "").is_ok();
        assert_eq!([of("100%", false), of("101%", false), of("0.9%", false)], [true, false, false]);
        assert_eq!([of("101%", true), of("200%", true), of("201%", true)], [true, true, false]);
    }
}
