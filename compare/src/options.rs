//! Turns options like those of `mousehole compare` into a comparison, for a page that has read the files itself.

use crate::capture::{
    READY_MADE, check_resamples, choose_warmup, fitted_label, needed_warmup_s, ready_made_labels,
    try_short_run,
};
use crate::comparison::{Known, Request};
use crate::given::{Given, Played};
use mousehole_answer::manifest::WarmupEntry;
use mousehole_answer::sizes::{LONG_BYTES, SHORT_BYTES};
use mousehole_scheme::install::line::is_asymmetric;
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::places::{self, MOST_USERS};
use mousehole_sim::scenario::spec::{MixSpec, SCHEMA, form_problem};
use mousehole_sim::scenario::{Plan, Scenario, Scheme};
use mousehole_sim::units::{Rate, parse_dur, parse_rate};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The scheme that the others are compared with.
pub const BASELINE: &str = "droptail";
/// The default number of replications.
pub const REPLICATIONS: u32 = 10;
/// Most replications that a page may request; more would take too long in a browser.
pub const MOST_REPLICATIONS: u32 = 100;

/// The largest load that options may request.
const MOST_LOAD: f64 = 2.0;

/// Buffer of a link with one rate for both directions, as the literature has it.
pub const BUFFER: &str = "1bdp";
/// Buffer of each direction of a line with a rate for each, as modems and access routers have it (docs/homes.md).
pub const LINE_BUFFER: &str = "250ms";

/// Returns the default schemes of `mousehole compare` on a line of these rates in bit/s: SFD and its baselines, queues of
/// Linux, and CAKE behind markers. On an asymmetric line, `excess-tins-cake` with CAKE's ACK filter replaces
/// coupled SFD, and `excess-cake` has that filter too.
pub fn default_schemes(down_bps: u64, up_bps: u64) -> [&'static str; 8] {
    match is_asymmetric(Rate(down_bps), Rate(up_bps)) {
        true => [
            BASELINE,
            "red",
            "sfd",
            "fq-codel",
            "cake",
            "ct-cake",
            "excess-cake(ack_filter=ack-filter)",
            "excess-tins-cake",
        ],
        false => [BASELINE, "red", "sfd", "sfd(mode=coupled)", "fq-codel", "cake", "ct-cake", "excess-cake"],
    }
}

/// Returns the scenario in JSON to which options are applied if the user gives none; it has no rate, buffer or traffic.
pub fn default_scenario() -> Value {
    json!({
        "schema": SCHEMA,
        "seed": 1,
        "warmup": "30s",
        "duration": "300s",
        "link": { "rtt": "80ms" },
        "tcp": { "profile": "linux" },
        "traffic": {},
    })
}

/// A comparison as a page describes it; texts are those of the command's options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// A ready-made place, such as `home`.
    pub place: Option<String>,
    /// A model in its place, such as `web:sfd`.
    pub model: Option<String>,
    /// Names of files in its place, which whoever asks has read.
    pub files: Vec<String>,
    /// Bytes on the wire over capacity; the traffic's own if absent. Of users it is that of their web pages.
    pub load: Option<f64>,
    /// Users, where they are not the place's.
    pub users: Option<u32>,
    /// The share of the users who run each application, where they are not the place's.
    pub apps: Option<Vec<(String, f64)>>,
    /// Rate from servers to clients.
    pub down: String,
    /// Rate from clients to servers.
    pub up: String,
    /// Round-trip time.
    pub rtt: String,
    /// Buffer of the queue.
    pub buffer: String,
    /// Rate of a shaper before the modem, as a share of the line's; without one the scheme is on the line itself.
    pub shape: Option<String>,
    /// Buffer of the modem behind the shaper.
    pub modem_buffer: Option<String>,
    /// Schemes; the default ones where none is named.
    pub schemes: Vec<String>,
    /// Replications.
    pub seeds: u32,
    /// Length of the measured window.
    pub duration: String,
    /// Time before it; chosen from sizes and load if absent.
    pub warmup: Option<String>,
    /// Seed of all draws; as text where a number would lose digits, as it does in JavaScript.
    #[serde(deserialize_with = "read_seed")]
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        let base = default_scenario();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Options {
            place: Some("home".into()),
            model: None,
            files: Vec::new(),
            load: None,
            users: None,
            apps: None,
            down: "20mbit".into(),
            up: "1mbit".into(),
            rtt: text(&base["link"]["rtt"]),
            buffer: LINE_BUFFER.into(),
            shape: None,
            modem_buffer: None,
            schemes: Vec::new(),
            seeds: REPLICATIONS,
            duration: text(&base["duration"]),
            warmup: None,
            seed: base["seed"].as_u64().expect("a number"),
        }
    }
}

/// The comparison that checked options describe.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The comparison, of one cell.
    pub request: Request,
    /// The scenario that all cells share, with the fields that the options set: without the cells' buffer and the engine's
    /// defaults.
    pub base: Value,
}

/// The traffic of a comparison.
struct Subject {
    /// The section `traffic` of the scenario that all cells share.
    section: Value,
    label: String,
    given: Option<Given>,
    is_capture: bool,
}

impl Options {
    /// Checks the options and returns the comparison that they describe; `read` is the traffic in
    /// their files. A capture with too few transfers is replaced by a model that is fitted to it or
    /// by ready-made traffic. Some captures are played for a millisecond to find their faults.
    ///
    /// # Errors
    /// [`Error::Field`] naming the option or the field of the scenario, the value and what is
    /// allowed.
    pub fn asked(&self, read: Option<&Given>) -> Result<Asked> {
        if self.seeds == 0 || self.seeds > MOST_REPLICATIONS {
            let allowed = format!("a whole number from 1 to {MOST_REPLICATIONS}");
            return Err(Error::field("seeds", self.seeds.to_string(), allowed));
        }
        if let Some(load) = self.load.filter(|load| !(*load > 0.0 && *load <= MOST_LOAD)) {
            let allowed = "a number above 0 and at most 2 (wire bytes over capacity), such as 0.9";
            return Err(Error::field("load", load.to_string(), allowed));
        }
        // For the command a text that is no rate names a file of a varying one; a page has no such files.
        parse_rate("down", &self.down)?;
        parse_rate("up", &self.up)?;
        let Some(read) = read.filter(|_| !self.files.is_empty()) else {
            if let Some(name) = self.files.first() {
                return Err(Error::field("files", name.clone(), "a file that was read"));
            }
            return self.plan_comparison(self.generated_traffic()?);
        };
        let mut section = json!({ "files": self.files, "payload": "down" });
        let label = self.files.join(", ");
        let played = read.played(SHORT_BYTES);
        if played == Played::Fitted {
            section["fitted"] = true.into();
        }
        let label_played = match played {
            Played::Fitted => fitted_label(read.summary(None).transfers, &label),
            Played::Recorded | Played::ReadyMade => label.clone(),
        };
        let subject = Subject { section, label: label_played, given: Some(read.clone()), is_capture: true };
        if played != Played::ReadyMade {
            return self.plan_comparison(subject);
        }
        // The capture is not played, but its faults are reported all the same.
        let (cell, _) = self.make_cell(&subject)?;
        try_short_run(&Scenario { scheme: BASELINE.into(), ..cell }, read)?;
        let short = read.count_distinct(0, Some(SHORT_BYTES)).transfers;
        let (label, why) = ready_made_labels(&label, short, SHORT_BYTES);
        let plain = Options { files: Vec::new(), place: Some(READY_MADE.into()), ..self.clone() };
        let mut asked = plain.plan_comparison(Subject { label, ..plain.generated_traffic()? })?;
        asked.request.known.instead_of = Some(why);
        Ok(asked)
    }

    /// Returns the comparison of this traffic, after checks that no two schemes are equal and, with
    /// a load, that the capture's resamples are not too large.
    ///
    /// # Errors
    /// As [`Options::asked`].
    fn plan_comparison(&self, subject: Subject) -> Result<Asked> {
        let (mut cell, base) = self.make_cell(&subject)?;
        let (down, up) = (parse_rate("down", &self.down)?, parse_rate("up", &self.up)?);
        let summary = subject.given.as_ref().map(|given| given.summary(Some(down)));
        let own_load = summary.as_ref().and_then(|summary| summary.native_load);
        let sizes = subject.given.as_ref().map(Given::sizes_bytes).unwrap_or_default();
        let warmup = (!sizes.is_empty()).then(|| WarmupEntry {
            rate_bps: down.0 as f64,
            own_load,
            is_chosen: self.warmup.is_none(),
            needed_s: vec![needed_warmup_s(&sizes, down.0 as f64, own_load, self.load)],
        });
        if let Some(warmup) = warmup.as_ref().filter(|warmup| warmup.is_chosen) {
            cell.warmup = choose_warmup(&cell.warmup, &cell.duration, warmup.needed_s[0])?;
        }
        let capture = subject.given.as_ref().filter(|_| subject.is_capture);
        let pipe_bytes = down.0 as f64 * parse_dur("rtt", &self.rtt)?.as_secs() / 8.0;
        let known = Known {
            capture: capture
                .map(|given| given.capture(SHORT_BYTES, LONG_BYTES, pipe_bytes, cell.traffic.fitted)),
            given: subject.given.clone(),
            summary,
            load: self.load,
            warmup,
            instead_of: None,
        };
        let request = Request {
            label: subject.label,
            cells: vec![cell],
            schemes: self.all_schemes(default_schemes(down.0, up.0)),
            baseline: Some(BASELINE.to_owned()),
            replications: self.seeds,
            short_bytes: SHORT_BYTES,
            long_bytes: LONG_BYTES,
            vetoes: Vec::new(),
            reference: None,
            known,
        };
        refuse_duplicates(&request.schemes, &read_meanings(&request)?)?;
        if let (Some(given), Some(load), Some(own)) = (capture, self.load, own_load.filter(|own| *own > 0.0))
        {
            let runs: Vec<Scenario> =
                (0..self.seeds).map(|replication| request.scenario(0, BASELINE, replication)).collect();
            check_resamples(&runs, given, load, own)?;
        }
        Ok(Asked { request, base })
    }

    /// Returns the scenario of the cell, without a scheme, and the JSON of the fields that the
    /// options set. With a load, a capture is resampled unless a model is fitted to it.
    ///
    /// # Errors
    /// [`Error::Field`] for a scenario that cannot be read.
    fn make_cell(&self, subject: &Subject) -> Result<(Scenario, Value)> {
        let base = self.base_scenario(subject.section.clone());
        let mut cell = serde_json::from_value::<Scenario>(base.clone())
            .map_err(|error| form_problem(&error.to_string()).for_field("scenario"))?;
        cell.link.buffer = self.buffer.clone();
        if let Some(load) = self.load {
            match places::with_web_load(&cell.traffic.mix, load) {
                Some(mix) => cell.traffic.mix = mix,
                None => cell.traffic.load = Some(load),
            }
            cell.traffic.resample = subject.is_capture && !cell.traffic.fitted;
        }
        Ok((cell, base))
    }

    /// Returns the default scenario with the fields that the options set and this section `traffic`, as JSON.
    fn base_scenario(&self, traffic: Value) -> Value {
        let mut base = default_scenario();
        base["seed"] = self.seed.into();
        if let Some(warmup) = &self.warmup {
            base["warmup"] = warmup.clone().into();
        }
        base["duration"] = self.duration.clone().into();
        base["trace"] = false.into();
        base["traffic"] = traffic;
        let link = &mut base["link"];
        link["buffer"] = LINE_BUFFER.into();
        let given = [("down", &self.down), ("up", &self.up), ("rtt", &self.rtt)];
        let shaped = [("shape", &self.shape), ("modem_buffer", &self.modem_buffer)];
        for (name, text) in given
            .into_iter()
            .chain(shaped.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))))
        {
            link[name] = text.clone().into();
        }
        base
    }

    /// Returns the traffic that needs no files: a model, or users.
    ///
    /// # Errors
    /// [`Error::Field`] for an unknown model, or a model together with a place, and as [`Options::make_users`].
    fn generated_traffic(&self) -> Result<Subject> {
        let Some(name) = &self.model else {
            let (mix, label) = self.make_users()?;
            return Ok(Subject { section: json!({ "mix": mix }), label, given: None, is_capture: false });
        };
        if let Some(place) = &self.place {
            return Err(Error::conflict("model", name.clone(), place.clone(), "a model stands alone"));
        }
        let given = Given::from_model(name, &Value::Null, None)?;
        let section = json!({ "model": name });
        Ok(Subject { section, label: name.clone(), given: Some(given), is_capture: false })
    }

    /// Returns the baseline, then the schemes named, or those of `default` if none is named; the
    /// baseline stands once.
    fn all_schemes(&self, default: [&str; 8]) -> Vec<String> {
        let named = || self.schemes.iter().map(|one| one.trim()).collect();
        let all: Vec<&str> = if self.schemes.is_empty() { default.into() } else { named() };
        let others = all.into_iter().filter(|one| *one != BASELINE);
        [BASELINE].into_iter().chain(others).map(str::to_owned).collect()
    }

    /// Returns the entries of `traffic.mix` for the place's users and applications, or those given,
    /// and a label. Without a place there is one user, unless a number is given.
    ///
    /// # Errors
    /// [`Error::Field`] for an unknown place or application, and for a number or share that is not
    /// allowed.
    fn make_users(&self) -> Result<(Vec<MixSpec>, String)> {
        let known = &places::places().places;
        let place = match &self.place {
            None => None,
            Some(name) => Some(known.iter().find(|one| one.name == *name).ok_or_else(|| {
                Error::unknown("place", "place", name, known.iter().map(|one| one.name.as_str()))
            })?),
        };
        let users = self.users.or(place.map(|one| one.users)).unwrap_or(1);
        if users == 0 || users > MOST_USERS {
            let allowed = format!("a whole number from 1 to {MOST_USERS}");
            return Err(Error::field("users", users.to_string(), allowed));
        }
        let shares = self.apps.as_ref().or(place.map(|one| &one.apps)).map_or(&[][..], |apps| &apps[..]);
        if shares.is_empty() {
            return Err(Error::field("apps", "\"\"", "what the users run, at least one application"));
        }
        if let Some((name, share)) = shares.iter().find(|(_, share)| !(*share > 0.0 && *share <= 1.0)) {
            return Err(Error::field("apps", format!("{name}:{share}"), "a share above 0 and at most 1"));
        }
        let mix = places::mix_entries(users, shares).map_err(|name| {
            let apps = places::places().apps.iter().map(|one| one.name.as_str());
            Error::unknown("apps", "application", &name, apps)
        })?;
        let label = places::traffic_label(self.place.as_deref(), users);
        Ok((mix, label))
    }
}

/// Deserialises a seed that is a number, or its digits as a text.
fn read_seed<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Number(u64),
        Text(String),
    }
    let allowed = || D::Error::custom(format!("`seed` must be a whole number from 0 to {}", u64::MAX));
    match Given::deserialize(deserializer).map_err(|_| allowed())? {
        Given::Number(number) => Ok(number),
        Given::Text(text) => text.trim().parse().map_err(|_| allowed()),
    }
}

/// Returns the text of each scheme in the first cell with every parameter filled in.
///
/// # Errors
/// [`Error::Field`] for a scheme that does not fit the cell.
fn read_meanings(request: &Request) -> Result<Vec<String>> {
    let meaning = |scheme: &String| {
        let filled = Plan::new(&request.scenario(0, scheme, 0))?.filled();
        Ok(Scheme::parse(&filled.scheme)?.to_string())
    };
    request.schemes.iter().map(meaning).collect()
}

/// Refuses two equal schemes; `meanings` are their texts with every parameter filled in. Both lists
/// have the same order and length.
///
/// # Errors
/// [`Error::Field`] of the field `schemes`, which names both.
pub fn refuse_duplicates(schemes: &[String], meanings: &[String]) -> Result<()> {
    for (index, scheme) in schemes.iter().enumerate() {
        let first = meanings.iter().position(|one| *one == meanings[index]).unwrap_or(index);
        if first < index {
            let other = format!("\"{}\", which is the same", schemes[first]);
            return Err(Error::conflict("schemes", scheme.clone(), other, "give every scheme once"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    fn parse_options(json: Value) -> std::result::Result<Options, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults__are_those_of_the_documents() {
        let expected = json!({
            "place": "home",
            "model": null,
            "files": [],
            "load": null,
            "users": null,
            "apps": null,
            "down": "20mbit",
            "up": "1mbit",
            "rtt": "80ms",
            "buffer": "250ms",
            "shape": null,
            "modem_buffer": null,
            "schemes": [],
            "seeds": 10,
            "duration": "300s",
            "warmup": null,
            "seed": 1,
        });
        assert_eq!(serde_json::to_value(Options::default()).unwrap(), expected);
        assert_eq!(parse_options(json!({})).unwrap(), Options::default());
        let asked = Options::default().asked(None).unwrap();
        assert_eq!(
            asked.request.schemes[5..],
            ["ct-cake", "excess-cake(ack_filter=ack-filter)", "excess-tins-cake"],
            "20 to 1 is asymmetric"
        );
        let even = Options { up: "2001kbit".into(), ..Options::default() }.asked(None).unwrap();
        assert_eq!(even.request.schemes[3], "sfd(mode=coupled)");
        assert_eq!(even.request.schemes[6..], ["ct-cake", "excess-cake"]);
        assert_eq!((asked.request.short_bytes, asked.request.long_bytes), (15_000, 150_000));
        assert_eq!(asked.base["tcp"], json!({ "profile": "linux" }));
    }

    #[test]
    fn seed__keeps_every_digit_as_a_number_and_as_text() {
        for seed in [json!(u64::MAX), json!(u64::MAX.to_string())] {
            assert_eq!(parse_options(json!({ "seed": seed })).unwrap().seed, u64::MAX);
        }
        for seed in [json!(-1), json!(1.5), json!("1e3"), json!("18446744073709551616"), json!("")] {
            let error = parse_options(json!({ "seed": seed })).unwrap_err();
            assert_eq!(error, "`seed` must be a whole number from 0 to 18446744073709551615");
        }
    }

    #[test]
    fn asked__baseline_is_first_and_stands_once() {
        let options = Options { schemes: vec!["sfd".into(), "droptail".into()], ..Options::default() };
        assert_eq!(options.asked(None).unwrap().request.schemes, ["droptail", "sfd"]);
    }

    #[test]
    fn asked__names_the_field_that_is_wrong() {
        let base = Options::default;
        let wrong = [
            (Options { place: Some("castle".into()), ..base() }, "place"),
            (Options { users: Some(0), ..base() }, "users"),
            (Options { apps: Some(Vec::new()), ..base() }, "apps"),
            (Options { apps: Some(vec![("web".into(), 1.5)]), ..base() }, "apps"),
            (Options { down: "fast".into(), ..base() }, "down"),
            (Options { up: "trace.csv".into(), ..base() }, "up"),
            (Options { seeds: MOST_REPLICATIONS + 1, ..base() }, "seeds"),
            (Options { schemes: vec!["sfd".into(), "sfd()".into()], ..base() }, "schemes"),
        ];
        for (options, field) in wrong {
            let text = options.asked(None).unwrap_err().to_string();
            assert!(text.starts_with(field), "{field}: {text}");
        }
    }
}
