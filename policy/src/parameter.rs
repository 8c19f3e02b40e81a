//! The entries of a header's table of parameters, and the parser of their values.

use crate::units;
use std::fmt;

/// The forms that a parameter's text may have; `enum mh_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A span of time.
    Time,
    /// A span of time, or `never`.
    Timeout,
    /// A size in bytes.
    Size,
    /// A threshold: bytes (15kB) or packets (15p).
    Threshold,
    /// A probability or weight.
    Fraction,
    /// A queue's length: packets, not necessarily whole, or percent of the buffer.
    Length,
    /// A rate, or percent of the bottleneck's.
    Rate,
    /// A whole number.
    Count,
    /// Any other number.
    Number,
    /// A share of something in percent.
    Percent,
    /// `true` or `false`.
    Flag,
    /// One of these texts; `-` stands for a position that cannot be chosen.
    Choice(&'static [&'static str]),
    /// A buffer: packets or bytes.
    Buffer,
}

/// One parameter of a policy, or of anything else that is set up as a policy is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name as written in `policy(name=value)`.
    pub name: &'static str,
    /// What its text may be.
    pub kind: Kind,
    /// Default, as text.
    pub default: &'static str,
    /// Least value allowed, in seconds, bytes, bit/s, packets or percent by the kind, else without a unit.
    pub least: f64,
    /// Greatest value allowed.
    pub most: f64,
    /// What it does, one sentence without a full stop.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// In seconds, bytes, bit/s, packets or percent by the kind, else without a unit.
    Number(f64),
    /// A time that never comes.
    Never,
    /// Percent of the buffer or of the bottleneck's rate.
    Share(f64),
    /// A number of packets where bytes are possible as well.
    Packets(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Position among the choices.
    Choice(u32),
}

/// A parameter whose value is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError {
    /// Name of the parameter.
    pub parameter: String,
    /// The value as it was given; empty where it does not fit the link or another value.
    pub value: String,
    /// What is allowed, such as "a time, such as 5ms or 1s".
    pub allowed: String,
}

impl fmt::Display for ParameterError {
    /// Writes one line with the parameter, its value if it was given, and what is allowed.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.value.as_str() {
            "" => write!(f, "{}: its value is not allowed here; allowed: {}", self.parameter, self.allowed),
            value => write!(f, "{}: \"{value}\" is not allowed; allowed: {}", self.parameter, self.allowed),
        }
    }
}

impl std::error::Error for ParameterError {}

impl Parameter {
    /// Returns a parameter whose range is all that its kind allows, which [`Parameter::with_range`] narrows. The
    /// default is not checked.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        meaning: &'static str,
        source: &'static str,
    ) -> Parameter {
        let (least, most) = match kind {
            Kind::Time | Kind::Timeout => (0.0, 1e9),
            Kind::Size => (1.0, 1e15),
            Kind::Threshold => (0.0, 4294967294.0),
            Kind::Fraction => (f64::MIN_POSITIVE, 1.0),
            Kind::Rate => (1.0, 1e12),
            Kind::Count => (1.0, 4294967295.0),
            _ => (0.0, f64::INFINITY),
        };
        Parameter { name, kind, default, least, most, meaning, source }
    }

    /// Returns the same with this range, both ends included.
    pub const fn with_range(self, least: f64, most: f64) -> Parameter {
        Parameter { least, most, ..self }
    }

    /// Returns the same with another default and its source.
    pub const fn with_default(self, default: &'static str, source: &'static str) -> Parameter {
        Parameter { default, source, ..self }
    }

    /// Returns the value that a text stands for; spaces around it are ignored.
    ///
    /// # Errors
    /// [`ParameterError`] if the text does not have the kind's form or its value is out of range.
    pub fn parse(&self, text: &str) -> Result<Value, ParameterError> {
        let text = text.trim();
        let value = self.parse_value(text).ok_or_else(|| self.refuse(text))?;
        match value {
            Value::Number(number) | Value::Packets(number) if !(self.least..=self.most).contains(&number) => {
                Err(self.refuse(text))
            }
            Value::Share(percent) if percent > 1000.0 => Err(self.refuse(text)),
            _ => Ok(value),
        }
    }

    /// Returns the error for a text that is not allowed.
    pub fn refuse(&self, text: &str) -> ParameterError {
        ParameterError { parameter: self.name.into(), value: text.into(), allowed: self.allowed() }
    }

    /// Returns the form and the range of allowed values, for errors and documentation.
    pub fn allowed(&self) -> String {
        let form = self.kind.describe();
        match self.range() {
            Some(range) => format!("{form}; {range}"),
            None => form,
        }
    }

    /// Returns the allowed range as text, such as `at least 2 s`; `None` if it has no end to show. An end that only keeps
    /// numbers within their fields is not shown.
    fn range(&self) -> Option<String> {
        if matches!(self.kind, Kind::Flag | Kind::Choice(_) | Kind::Buffer) {
            return None;
        }
        let unit = match self.kind {
            Kind::Time | Kind::Timeout => " s",
            Kind::Size => " B",
            Kind::Rate => " bit/s",
            Kind::Length => " packets",
            Kind::Percent => " %",
            _ => "",
        };
        let is_time = matches!(self.kind, Kind::Time | Kind::Timeout);
        let is_tiny = self.least <= 1e-9;
        let has_end = self.most.is_finite() && !(is_time && self.most >= 1e9);
        let (least, most) = (format_number(self.least), format_number(self.most));
        match (self.least > 0.0, has_end) {
            (false, false) => None,
            (true, false) if is_tiny => Some(format!("above 0{unit}")),
            (true, false) => Some(format!("at least {least}{unit}")),
            (true, true) if is_tiny => Some(format!("above 0, at most {most}{unit}")),
            (_, true) => Some(format!("{least} to {most}{unit}")),
        }
    }

    /// Returns the value of a trimmed text by the kind's form, without a check of its range; `None` for another form.
    fn parse_value(&self, text: &str) -> Option<Value> {
        let bare = |suffix: &str| text.strip_suffix(suffix).map(str::trim_end);
        let share = || bare("%").map(|percent| units::parse_number(percent).map(Value::Share));
        match self.kind {
            Kind::Timeout if text == "never" => Some(Value::Never),
            Kind::Time | Kind::Timeout => units::parse_with_unit(text, units::TIME).map(Value::Number),
            Kind::Size => units::parse_with_unit(text, units::SIZE).map(|bytes| Value::Number(bytes.round())),
            Kind::Threshold => match bare("p") {
                Some(packets) => packets.parse::<u32>().ok().map(|packets| Value::Packets(packets.into())),
                None => units::parse_with_unit(text, units::SIZE).map(|bytes| Value::Number(bytes.round())),
            },
            Kind::Fraction | Kind::Number => units::parse_number(text).map(Value::Number),
            Kind::Length => {
                share().unwrap_or_else(|| units::parse_number(bare("p").unwrap_or(text)).map(Value::Number))
            }
            Kind::Rate => {
                share().map(|value| value.filter(|value| *value != Value::Share(0.0))).unwrap_or_else(|| {
                    units::parse_with_unit(text, units::RATE).map(|rate| Value::Number(rate.round()))
                })
            }
            Kind::Count => text.parse::<u64>().ok().map(|count| Value::Number(count as f64)),
            Kind::Percent => units::parse_number(bare("%").unwrap_or(text)).map(Value::Number),
            Kind::Flag => text.parse().ok().map(Value::Flag),
            Kind::Choice(words) if text != "-" => {
                words.iter().position(|word| *word == text).map(|index| Value::Choice(index as u32))
            }
            Kind::Choice(_) => None,
            Kind::Buffer => {
                let packets =
                    bare("p").and_then(|packets| packets.parse::<u32>().ok()).filter(|packets| *packets > 0);
                match packets {
                    Some(packets) => Some(Value::Packets(packets.into())),
                    None => {
                        let bytes = units::parse_with_unit(text, units::SIZE)?;
                        (1500.0..=1e12).contains(&bytes).then_some(Value::Number(bytes.round()))
                    }
                }
            }
        }
    }
}

/// Returns a number as text, with an exponent if it is below 0.001 or at least 10^12.
fn format_number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e12).contains(&size) => format!("{value:e}"),
        _ => format!("{value}"),
    }
}

impl Kind {
    /// Returns the form of the text with an example, for documentation and errors.
    pub fn describe(self) -> String {
        match self {
            Kind::Length => "packets (30p), or % of the buffer (15%)".into(),
            Kind::Threshold => "bytes (15kB) or packets (15p)".into(),
            Kind::Size => "a size, such as 1500B or 15kB".into(),
            Kind::Buffer => "packets (50p) or bytes (64kB), at least one 1500-byte packet".into(),
            Kind::Fraction | Kind::Number => "a number".into(),
            Kind::Percent => "percent (20 or 20%)".into(),
            Kind::Rate => "a rate (250kbit), or % of the bottleneck's rate (5%)".into(),
            Kind::Time => "a time, such as 5ms or 1s".into(),
            Kind::Timeout => "a time, such as 5ms or 1s, or never".into(),
            Kind::Count => "a whole number".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => {
                let words: Vec<&str> = words.iter().copied().filter(|word| *word != "-").collect();
                match words.split_last() {
                    Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                    _ => words.concat(),
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a parameter of this kind, named `p`.
    fn example_of(kind: Kind) -> Parameter {
        Parameter::new("p", kind, "1", "what it does", "ours")
    }

    #[test]
    fn with__changes_what_it_names() {
        let changed = example_of(Kind::Number).with_range(2.0, 5.0).with_default("3", "a paper");
        let expected = Parameter {
            name: "p",
            kind: Kind::Number,
            default: "3",
            least: 2.0,
            most: 5.0,
            meaning: "what it does",
            source: "a paper",
        };
        assert_eq!(changed, expected);
        assert_eq!(
            ["1.9", "2", "5", "5.1"].map(|text| changed.parse(text).is_ok()),
            [false, true, true, false]
        );
    }

    #[test]
    fn parse__takes_shares_of_up_to_ten_times() {
        assert_eq!(example_of(Kind::Length).parse("1000%"), Ok(Value::Share(1000.0)));
        assert!(example_of(Kind::Length).parse("1000.1%").is_err());
        assert_eq!(example_of(Kind::Rate).parse("0.1%"), Ok(Value::Share(0.1)));
        assert!(example_of(Kind::Rate).parse("0%").is_err());
    }

    #[test]
    fn parse__takes_a_buffer_of_at_least_one_packet() {
        let buffer = example_of(Kind::Buffer);
        for (text, value) in [
            ("1p", Value::Packets(1.0)),
            ("50p", Value::Packets(50.0)),
            ("1500B", Value::Number(1500.0)),
            ("1000GB", Value::Number(1e12)),
        ] {
            assert_eq!(buffer.parse(text), Ok(value), "{text}");
        }
        for text in ["0p", "-1p", "p", "1499B", "1001GB", "50"] {
            assert!(buffer.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn allowed__names_the_ends_that_a_range_has() {
        let number = |least, most| example_of(Kind::Number).with_range(least, most).allowed();
        assert_eq!(number(0.0, f64::INFINITY), "a number");
        assert_eq!(number(f64::MIN_POSITIVE, f64::INFINITY), "a number; above 0");
        assert_eq!(number(2.0, f64::INFINITY), "a number; at least 2");
        assert_eq!(number(1e-10, 1.0), "a number; above 0, at most 1");
        assert_eq!(number(0.0, 1.0), "a number; 0 to 1");
        assert_eq!(number(1e-4, 1e13), "a number; 1e-4 to 1e13");
        assert_eq!(example_of(Kind::Time).allowed(), "a time, such as 5ms or 1s");
        assert_eq!(
            example_of(Kind::Time).with_range(0.0, 60.0).allowed(),
            "a time, such as 5ms or 1s; 0 to 60 s"
        );
    }

    #[test]
    fn describe__lists_words_with_or_before_the_last() {
        let described = [&["a", "-", "b", "c"][..], &["a", "b"], &["-", "a"], &["-"]];
        assert_eq!(described.map(|words| Kind::Choice(words).describe()), ["a, b or c", "a or b", "a", ""]);
    }
}
