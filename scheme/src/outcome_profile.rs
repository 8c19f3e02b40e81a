//! Profiles of Quality of Outcome (draft-ietf-ippm-qoo): what an application needs of delay and loss, in one direction.
//!
//! A profile is written as its needs, `p50 150ms..400ms, p99 150ms..400ms, loss 0.1%..3%`: at a percentile of the one-way
//! delay, and of the packets' loss, up to where the application is perfect and from where on it is of no use. Users
//! write `CLASS=PROFILE`, with the profile's name or its needs.

use crate::error::{Error, Result, join_with_or, quote};
use crate::units::parse_dur;

/// The field of a scenario that holds users' profiles.
pub const FIELD: &str = "traffic.qoo";
/// Profiles with a name. docs/compare.md says where their numbers come from.
pub const PROFILES: [(&str, &str); 3] = [
    ("voice", "p50 150ms..400ms, p99 150ms..400ms, loss 0.1%..3%"),
    ("game", "p50 50ms..200ms, p99 50ms..200ms, loss 0.1%..3%"),
    ("videophone", "p50 150ms..400ms, p99 150ms..400ms, loss 0.1%..1%"),
];

/// Returns the allowed form of a profile's text, for errors.
fn form() -> String {
    let names = join_with_or(PROFILES.iter().map(|(name, _)| *name));
    format!(
        "CLASS=PROFILE, where a profile is {names}, or needs such as 'games=p50 20ms..80ms, p99 40ms..150ms, loss \
         0.1%..2%'"
    )
}

/// From where an application is perfect (NRP) to where it is of no use (NRPoU).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Span {
    /// The most with which it is perfect.
    pub perfect: f64,
    /// The least with which it is of no use; more than `perfect`.
    pub useless: f64,
}

/// What an application needs, in one direction; at least one thing.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Needs {
    /// Percentiles of the one-way delay, above 0 and at most 100, each once, with the spans in seconds.
    pub delays: Vec<(f64, Span)>,
    /// The share of packets lost; `None` if it does not matter.
    pub loss: Option<Span>,
}

/// A profile that a user gives to a class of traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The text, as it was given.
    pub text: String,
    /// The class: what tables call a group of flows, or a kind of application.
    pub class: String,
    /// What it needs.
    pub needs: Needs,
}

impl Needs {
    /// Parses the name of a profile, or needs written out and separated by commas. Delays become seconds, losses
    /// shares.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for an unknown name, a need of another form, one given twice, or a span that does
    /// not worsen from perfect to of no use.
    pub fn parse(field: &str, text: &str) -> Result<Needs> {
        let text = text.trim();
        if let Some((_, needs)) = PROFILES.iter().find(|(name, _)| *name == text) {
            return Needs::parse(field, needs);
        }
        let is_name = !text.is_empty() && text.chars().all(|one| one.is_alphanumeric() || "-_".contains(one));
        if is_name {
            return Err(Error::unknown(field, "profile", text, PROFILES.iter().map(|(name, _)| *name)));
        }
        let mut needs = Needs { delays: Vec::new(), loss: None };
        for need in text.split(',') {
            needs.add(field, need.trim())?;
        }
        Ok(needs)
    }

    /// Adds a need such as `p99 40ms..150ms` or `loss 0.1%..2%`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for a text of another form, and for a second span of a need, which is stored by
    /// then.
    fn add(&mut self, field: &str, need: &str) -> Result<()> {
        let no_need = || Error::field(field, quote(need), form());
        let (what, span) = need.split_once(char::is_whitespace).ok_or_else(no_need)?;
        let ends = span.split_once("..").ok_or_else(no_need)?;
        let is_twice = match what.strip_prefix('p') {
            _ if what == "loss" => self.loss.replace(parse_span(field, need, ends, parse_share)?).is_some(),
            Some(percentile) => {
                let percentile =
                    percentile.parse().ok().filter(|percent| 0.0 < *percent && *percent <= 100.0);
                let percentile = percentile.ok_or_else(|| {
                    let allowed = "a percentile above 0 and at most 100, such as p99";
                    Error::field(field, quote(what), allowed)
                })?;
                let span =
                    parse_span(field, need, ends, |field, text| Ok(parse_dur(field, text)?.as_secs()))?;
                let is_twice = self.delays.iter().any(|(known, _)| *known == percentile);
                self.delays.push((percentile, span));
                is_twice
            }
            None => return Err(no_need()),
        };
        if is_twice {
            return Err(Error::faulty(
                field,
                quote(need),
                format!("is a second {what}"),
                "one span for each need",
            ));
        }
        Ok(())
    }
}

/// Parses both ends of a span with `parse`; `need` is the whole text, for errors.
///
/// # Errors
/// Those of `parse`, and [`Error::Field`] naming `field` if the second end is not above the first.
fn parse_span(
    field: &str,
    need: &str,
    (perfect, useless): (&str, &str),
    parse: impl Fn(&str, &str) -> Result<f64>,
) -> Result<Span> {
    let span = Span { perfect: parse(field, perfect.trim())?, useless: parse(field, useless.trim())? };
    if span.perfect < span.useless {
        return Ok(span);
    }
    let allowed = "a span from where all is perfect up to where it is of no use, the second above the first";
    Err(Error::field(field, quote(need), allowed))
}

/// Parses a percentage such as `0.1%` and returns it as a share.
///
/// # Errors
/// [`Error::Field`] naming `field` for any other text, and outside 0 to 100 %.
fn parse_share(field: &str, text: &str) -> Result<f64> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let allowed = "a percentage from 0% to 100%, such as 0.1%";
    percent.map(|percent| percent / 100.0).ok_or_else(|| Error::field(field, quote(text), allowed))
}

/// Parses users' profiles, each written as `CLASS=PROFILE`.
///
/// # Errors
/// [`Error::Field`] naming `field` for a text of another form, a class that has two profiles, and as [`Needs::parse`].
pub fn parse_profiles(field: &str, texts: &[String]) -> Result<Vec<Profile>> {
    let mut found: Vec<Profile> = Vec::new();
    for text in texts {
        let (class, needs) = text.split_once('=').ok_or_else(|| Error::field(field, quote(text), form()))?;
        let class = class.trim();
        if class.is_empty() {
            return Err(Error::field(field, quote(text), form()));
        }
        if found.iter().any(|known| known.is_of(class)) {
            let fault = format!("is a second profile of {class}");
            return Err(Error::faulty(field, quote(text), fault, "one profile for each class"));
        }
        let needs = Needs::parse(field, needs)?;
        found.push(Profile { text: text.clone(), class: class.to_owned(), needs });
    }
    Ok(found)
}

impl Profile {
    /// Returns whether the profile is that of a class of this name, whether or not its letters are capitals.
    pub fn is_of(&self, class: &str) -> bool {
        self.class.eq_ignore_ascii_case(class)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse_profiles(FIELD, &[text.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn parse_profiles__reads_needs_and_names() {
        let texts = ["games = p99.9 20ms..0.1s,loss 0% .. 2%", "video calls=videophone"].map(str::to_owned);
        let [own, named] = &parse_profiles(FIELD, &texts).unwrap()[..] else { panic!("two profiles") };
        assert_eq!(own.class, "games");
        assert_eq!(own.needs.delays, [(99.9, Span { perfect: 0.02, useless: 0.1 })]);
        assert_eq!(own.needs.loss, Some(Span { perfect: 0.0, useless: 0.02 }));
        assert!(named.is_of("Video calls"));
        assert_eq!(named.needs, Needs::parse(FIELD, PROFILES[2].1).unwrap());
        assert_eq!(Needs::parse(FIELD, "p50 1s..2s").unwrap().loss, None);
    }

    #[test]
    fn parse_profiles__names_the_text_and_what_is_allowed() {
        for (text, words) in [
            ("games", "CLASS=PROFILE"),
            ("=voice", "CLASS=PROFILE"),
            ("games=", "CLASS=PROFILE"),
            ("games=voise", "there is no profile \"voise\""),
            ("games=p99 20ms", "\"p99 20ms\""),
            ("games=rate 1mbit..2mbit", "\"rate 1mbit..2mbit\""),
            ("games=p99 20..80ms", "\"20\" has no unit"),
            ("games=p99 80ms..20ms", "the second above the first"),
            ("games=p99 80ms..80ms", "the second above the first"),
            ("games=p0 20ms..80ms", "above 0 and at most 100"),
            ("games=p100.1 20ms..80ms", "above 0 and at most 100"),
            ("games=pNaN 20ms..80ms", "above 0 and at most 100"),
            ("games=loss 1..2", "a percentage"),
            ("games=loss 0.1%..101%", "a percentage"),
            ("games=loss nan%..1%", "a percentage"),
            ("games=loss 0%..1%, loss 0%..2%", "is a second loss"),
            ("games=p50 1ms..2ms, p50.0 1ms..3ms", "is a second p50.0"),
            ("games=p50 1ms..2ms,", "\"\""),
        ] {
            assert!(refused(text).contains(words), "{text}: {}", refused(text));
        }
        let twice = ["games=voice", "Games=game"].map(str::to_owned);
        let problem = parse_profiles(FIELD, &twice).unwrap_err().to_string();
        assert!(problem.contains("is a second profile of Games"), "{problem}");
    }

    #[test]
    fn profiles__with_a_name_can_be_read() {
        assert!(PROFILES.iter().all(|(name, _)| Needs::parse(FIELD, name).is_ok()));
    }
}
