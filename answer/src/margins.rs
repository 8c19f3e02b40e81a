//! Margins of harm to classes of traffic, as users write them.
//!
//! A margin is CLASS QUANTITY ±N with a unit: `calls p95 +10ms`, `games loss +0.2%`, `pages mean +10%`. Of shares, percent
//! are percentage points; of times and rates they are relative.

use crate::comparison::{PAGES, Source, Whose};
use crate::quantities::{Better, Kind, Quantity, Subject, Unit, list_felt};
use crate::sizes::Role;
use crate::texts::significant;
use serde::{Deserialize, Serialize};

/// Removes the default margins.
pub const NONE: &str = "none";
/// The margins that hold if none is given: choices, not measurements. A tunnel has those of calls, since one may be inside.
pub const DEFAULTS: [&str; 12] = [
    "long mean +10%",
    "pages mean +10%",
    "calls delay p95 +10ms",
    "calls lost +0.5%",
    "calls mos -0.1",
    "games delay p95 +5ms",
    "games lost +0.5%",
    "video calls frames missed +0.5%",
    "streams rebuffering +0.5%",
    "logins echo mean +10%",
    "VPN delay p95 +10ms",
    "VPN lost +0.5%",
];
/// Further ones where nothing is known that users feel before, as of recorded video calls; they are those of calls.
pub const STAND_INS: [&str; 2] = ["video calls delay p95 +10ms", "video calls lost +0.5%"];
const FORM: &str =
    "CLASS QUANTITY ±N and a unit, such as \"calls p95 +10ms\" or \"games loss +0.2%\", or \"none\"";
/// Names of quantities in addition to those of `tune`.
const SYNONYMS: [(&str, &str); 2] = [("loss", "lost"), ("frames", "frames missed")];

/// What is wrong with a text that a user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The text is not allowed: what is allowed, and what is wrong with it if that is known.
    Value {
        /// Completes "it must be …".
        allowed: String,
        /// Completes "the value …".
        fault: Option<String>,
    },
    /// A name in it that there is not.
    Unknown {
        /// What would have that name.
        noun: String,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

impl Refused {
    /// Returns the refusal of a value unless it is what is allowed; `allowed` completes "it must be …".
    pub fn unless(allowed: impl Into<String>) -> Refused {
        Refused::Value { allowed: allowed.into(), fault: None }
    }
}

/// A class of traffic: transfers by size, pages, or a kind of application. It is written as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum Class {
    /// Short transfers.
    Short,
    /// Long transfers.
    Long,
    /// Pages.
    Pages,
    /// Applications of a kind.
    Kind(Kind),
}

impl From<Class> for String {
    fn from(class: Class) -> String {
        class.name()
    }
}

impl Class {
    /// Returns every class in the order of the answer.
    pub fn all() -> impl Iterator<Item = Class> {
        [Class::Short, Class::Long, Class::Pages].into_iter().chain(Kind::ALL.map(Class::Kind))
    }

    /// Returns its name, such as `video calls`.
    pub fn name(self) -> String {
        match self {
            Class::Short => "short".to_owned(),
            Class::Long => "long".to_owned(),
            Class::Pages => PAGES.0.to_owned(),
            Class::Kind(kind) => kind.text(),
        }
    }

    /// Returns the class whose name the text begins with, in capitals or not, the longest if there are several; None
    /// if there is none.
    pub fn find_prefix(text: &str) -> Option<Class> {
        let text = text.to_ascii_lowercase();
        let begins = |class: &Class| {
            format!("{text} ").starts_with(&format!("{} ", class.name().to_ascii_lowercase()))
        };
        Class::all().filter(begins).max_by_key(|class| class.name().len())
    }
}

/// A quantity of a class of traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// The class of traffic, such as calls.
    #[cfg_attr(test, schemars(with = "String"))]
    pub class: Class,
    /// What users write behind the class, such as delay p95.
    #[serde(rename = "quantity")]
    pub name: String,
    /// Where its values come from.
    #[serde(skip)]
    pub source: Source,
}

/// How much worse a figure may become against the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Margin {
    /// What may become worse.
    #[serde(flatten)]
    pub figure: Figure,
    /// The harm allowed, above 0.
    #[serde(rename = "margin")]
    pub most: f64,
    /// Whether margin and change are shares of the reference's figure, or differences in its own unit.
    pub is_relative: bool,
}

impl Figure {
    /// Returns whether the users of its class feel it only where nothing is known that they feel before.
    pub fn is_stand_in(&self) -> bool {
        let Class::Kind(kind) = self.class else { return false };
        !self.source.quantity.primary_of.contains(&kind)
    }
}

impl Margin {
    /// Returns the margin as a change, such as `+10 ms`.
    pub fn text(&self) -> String {
        let quantity = &self.figure.source.quantity;
        let sign = if quantity.better == Better::Less { "+" } else { "−" };
        let (scale, name) = if self.is_relative { (100.0, " %") } else { difference_scale(quantity.unit) };
        format!("{sign}{}{name}", significant(scale * self.most, 6))
    }
}

/// A change as a user writes it, such as `calls p95 +10ms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What changes.
    pub whose: String,
    /// Whether it rises.
    pub rises: bool,
    /// By how much, in the unit.
    pub number: f64,
    /// `%`, `ms`, `s` or nothing.
    pub unit: String,
}

/// Returns the factor and the unit's name with which differences of a unit are written.
pub fn difference_scale(unit: Unit) -> (f64, &'static str) {
    match unit {
        Unit::Seconds => (1000.0, " ms"),
        Unit::Share => (100.0, " points"),
        _ => (1.0, ""),
    }
}

/// Returns every figure that may have a margin: those of short and long transfers, of each kind,
/// and the mean of pages. Quantities that users cannot ask for have none.
pub fn list_figures(table: &[Quantity]) -> Vec<Figure> {
    let figure = |class, whose, quantity: &Quantity| {
        let name = quantity.measure.as_ref()?.to_string();
        Some(Figure { class, name, source: Source { whose, quantity: quantity.clone() } })
    };
    let of_buckets =
        [(Class::Short, Role::Short), (Class::Long, Role::Long)].into_iter().flat_map(|(class, role)| {
            let own = table.iter().filter(|one| one.subject == Subject::Bucket);
            own.filter_map(move |one| figure(class, Whose::Bucket(role), one))
        });
    let of_kinds = Kind::ALL.into_iter().flat_map(|kind| {
        list_felt(table, kind).filter_map(move |one| figure(Class::Kind(kind), Whose::Kind(kind), one))
    });
    let page = table.iter().find(|one| one.subject == Subject::Application && one.name() == PAGES.1);
    let of_pages = page.map(|quantity| Figure {
        class: Class::Pages,
        name: "mean".to_owned(),
        source: Source { whose: Whose::Group(PAGES.0.to_owned()), quantity: quantity.clone() },
    });
    of_buckets.chain(of_kinds).chain(of_pages).collect()
}

/// Returns the figure of a text such as `calls p95`. The whole name of a quantity, one word of it,
/// or a synonym is enough.
///
/// # Errors
/// [`Refused::Unknown`] for a class or a name that there is not, with those that there are.
pub fn find_figure(table: &[Quantity], text: &str) -> Result<Figure, Refused> {
    let Some(class) = Class::find_prefix(text) else {
        let name = text.split_whitespace().next().unwrap_or_default().to_owned();
        let known = Class::all().map(Class::name).collect();
        return Err(Refused::Unknown { noun: "class name".to_owned(), name, known });
    };
    let own: Vec<Figure> = list_figures(table).into_iter().filter(|one| one.class == class).collect();
    let asked = text.get(class.name().len()..).unwrap_or_default().trim();
    let name = SYNONYMS.iter().find(|(other, _)| *other == asked).map_or(asked, |(_, name)| name);
    let whole = own.iter().find(|one| one.name == name);
    let part = || own.iter().find(|one| !name.is_empty() && one.name.split(' ').any(|word| word == name));
    whole.or_else(part).cloned().ok_or_else(|| Refused::Unknown {
        noun: format!("{} measure", class.name()),
        name: if asked.is_empty() { text } else { asked }.to_owned(),
        known: own.iter().map(|one| one.name.clone()).collect(),
    })
}

/// Returns the margins that hold: the defaults, replaced and extended by those given; `none`
/// removes the defaults.
///
/// # Errors
/// The first text that is no margin, and why.
pub fn read_margins(table: &[Quantity], given: &[String]) -> Result<Vec<Margin>, (String, Refused)> {
    let has_defaults = !given.iter().any(|text| text.trim() == NONE);
    let defaults = DEFAULTS.into_iter().filter(|_| has_defaults);
    let own = given.iter().map(String::as_str).filter(|text| text.trim() != NONE);
    let mut found: Vec<Margin> = Vec::new();
    for text in defaults.chain(own) {
        let margin = read_margin(table, text).map_err(|refused| (text.to_owned(), refused))?;
        let is_same =
            |one: &Margin| (one.figure.class, &one.figure.name) == (margin.figure.class, &margin.figure.name);
        match found.iter().position(is_same) {
            Some(index) => found[index] = margin,
            None => found.push(margin),
        }
    }
    Ok(found)
}

/// Reads a margin such as `calls p95 +10ms`.
///
/// # Errors
/// [`Refused`] for a text that is no margin, an unknown figure, a unit that the figure does not
/// have, and a change for the better.
pub fn read_margin(table: &[Quantity], text: &str) -> Result<Margin, Refused> {
    let change =
        read_change(text).filter(|change| change.number > 0.0).ok_or_else(|| Refused::unless(FORM))?;
    let figure = find_figure(table, &change.whose)?;
    let quantity = &figure.source.quantity;
    let name = format!("{} {}", figure.class.name(), figure.name);
    let (most, is_relative) = convert_to_own_unit(&name, quantity.unit, change.number, &change.unit)?;
    let less_is_better = quantity.better == Better::Less;
    if change.rises != less_is_better {
        let (sign, worse) = if less_is_better { ("+", "more") } else { ("−", "less") };
        return Err(Refused::unless(format!("a margin with {sign}: of this quantity, {worse} is worse")));
    }
    Ok(Margin { figure, most, is_relative })
}

/// Splits a change such as `calls p95 +10ms` at its sign into its parts; None for what is no
/// change. Its number is not negative.
pub fn read_change(text: &str) -> Option<Change> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (index, sign) = text.char_indices().find(|(_, one)| "+-−<>=".contains(*one))?;
    let whose = text[..index].trim();
    if whose.is_empty() || "<>=".contains(sign) {
        return None;
    }
    let rest = text[index + sign.len_utf8()..].trim_start();
    let end = rest.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(rest.len());
    let (number, unit) = (rest[..end].parse().ok()?, rest[end..].trim_start());
    let is_known = ["%", "ms", "s", ""].contains(&unit);
    is_known.then(|| Change { whose: whose.to_owned(), rises: sign == '+', number, unit: unit.to_owned() })
}

/// Returns a number as a share of a quantity, or in the quantity's own unit; and whether it is the former. A percentage
/// of a quantity that is a share itself is in its own unit.
///
/// # Errors
/// For a unit that the quantity, which users call `name`, does not have.
pub fn convert_to_own_unit(name: &str, of: Unit, number: f64, unit: &str) -> Result<(f64, bool), Refused> {
    let units: &[&str] = match of {
        Unit::Seconds => &["ms", "s", "%"],
        Unit::Number => &["", "%"],
        _ => &["%"],
    };
    if !units.contains(&unit) {
        let allowed: Vec<String> = units.iter().map(|one| format!("N{one}")).collect();
        return Err(Refused::unless(format!("{name} ±{}", allowed.join(" or "))));
    }
    let scale = match unit {
        "%" => 0.01,
        "ms" => 0.001,
        _ => 1.0,
    };
    Ok((number * scale, unit == "%" && of != Unit::Share))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::quantities::table;

    /// Reads a margin, which must be valid, with the default quantities.
    fn read(text: &str) -> Margin {
        read_margin(&table(), text).unwrap()
    }

    #[test]
    fn read_margin__in_users_words() {
        for (text, name, most, is_relative, shown) in [
            ("calls p95 +10ms", "delay p95", 0.01, false, "+10 ms"),
            ("  games   loss + 0.2 %", "lost", 0.002, false, "+0.2 points"),
            ("pages mean +10%", "mean", 0.1, true, "+10 %"),
            ("calls mos −0.1", "mos", 0.1, false, "−0.1"),
            ("video calls frames +1%", "frames missed", 0.01, false, "+1 points"),
            ("short p99 +0.5s", "p99", 0.5, false, "+500 ms"),
            ("streams rate -5%", "rate", 0.05, true, "−5 %"),
            ("calls delay p95 +0.01s", "delay p95", 0.01, false, "+10 ms"),
            ("calls p95 + 5 %", "delay p95", 0.05, true, "+5 %"),
            ("logins echo +10%", "echo mean", 0.1, true, "+10 %"),
            ("pages mean +100ms", "mean", 0.1, false, "+100 ms"),
            ("vpn p95 +10ms", "delay p95", 0.01, false, "+10 ms"),
        ] {
            let found = read(text);
            assert_eq!((found.figure.name.as_str(), found.is_relative), (name, is_relative), "{text}");
            assert!((found.most - most).abs() < 1e-12, "{text}");
            assert_eq!(found.text(), shown);
        }
    }

    #[test]
    fn read_margin__refuses_with_what_is_allowed() {
        let refused = |text: &str| match read_margin(&table(), text).unwrap_err() {
            Refused::Value { allowed, .. } => allowed,
            Refused::Unknown { noun, name, .. } => format!("{noun}: {name}"),
        };
        for text in
            ["calls", "calls p95 10ms", "calls p95 +ms", "calls p95 +1.2.3ms", "+10ms", "calls p95 +0ms"]
        {
            assert_eq!(refused(text), FORM, "{text}");
        }
        assert_eq!(refused("mail p95 +10ms"), "class name: mail");
        assert_eq!(refused("calls p50 +10ms"), "calls measure: p50");
        assert_eq!(refused("calls +10ms"), "calls measure: calls");
        assert_eq!(refused("calls lost +3ms"), "calls lost ±N%");
        assert_eq!(refused("calls mos +0.1"), "a margin with −: of this quantity, less is worse");
        assert_eq!(refused("calls p95 -3ms"), "a margin with +: of this quantity, more is worse");
    }

    #[test]
    fn read_margins__replaces_defaults_by_those_given() {
        let given = |texts: &[&str]| {
            read_margins(&table(), &texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        let own = given(&["calls p95 +3ms"]);
        assert_eq!(own.len(), DEFAULTS.len());
        assert_eq!((own[2].figure.class, own[2].most), (Class::Kind(Kind::Calls), 0.003));
        assert!(given(&["none"]).is_empty());
        assert_eq!(given(&["none", "short p95 +5%"]).len(), 1);
        assert!(read_margins(&table(), &["calls".to_owned()]).is_err());
    }
}
