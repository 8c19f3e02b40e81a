//! What a page asks for, and the runs that answer it: those of `mousehole compare` with the same options.

use mousehole_answer::comparison::{self, Scheme as Compared};
use mousehole_answer::sizes::{LONG_BYTES, SHORT_BYTES};
use mousehole_sim::error::{Error, Result};
use mousehole_sim::scenario::places::{self, MOST_USERS};
use mousehole_sim::scenario::spec::{LinkSpec, SCHEMA, Scenario, TcpSpec, TrafficSpec};
use mousehole_sim::scenario::{Plan, Scheme};
use mousehole_sim::units::{parse_dur, parse_rate};
use serde::{Deserialize, Serialize};

/// The scheme that the others are compared with.
pub const BASELINE: &str = "droptail";
/// The schemes of `mousehole compare` where none is named.
pub const DEFAULT_SCHEMES: [&str; 8] =
    [BASELINE, "red", "sfd", "sfd(mode=coupled)", "fq-codel", "cake", "ct-cake", "excess-cake"];
/// No page has the patience for more.
const MOST_REPLICATIONS: u32 = 100;

/// A comparison as a page describes it; texts are those of the command's options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// A ready-made place, such as `home`.
    pub place: Option<String>,
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
    /// Time before it.
    pub warmup: String,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            place: Some("home".into()),
            users: None,
            apps: None,
            down: "20mbit".into(),
            up: "1mbit".into(),
            rtt: "80ms".into(),
            buffer: "1bdp".into(),
            shape: None,
            modem_buffer: None,
            schemes: Vec::new(),
            seeds: 10,
            duration: "300s".into(),
            warmup: "30s".into(),
            seed: 1,
        }
    }
}

/// A request that was checked.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Name of the traffic for titles.
    pub label: String,
    /// The schemes, the baseline first.
    pub schemes: Vec<String>,
    /// Replications.
    pub seeds: u32,
    base: Scenario,
}

impl Request {
    /// Checks the request.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field of the request or of the scenario, the value and what is allowed.
    pub fn checked(&self) -> Result<Comparison> {
        if self.seeds == 0 || self.seeds > MOST_REPLICATIONS {
            let allowed = format!("a whole number from 1 to {MOST_REPLICATIONS}");
            return Err(Error::field("seeds", self.seeds.to_string(), allowed));
        }
        // Elsewhere a text that is no rate is the file of one that varies; a page has no files.
        parse_rate("down", &self.down)?;
        parse_rate("up", &self.up)?;
        let (traffic, label) = self.traffic()?;
        let base = Scenario {
            schema: SCHEMA.into(),
            seed: self.seed,
            warmup: self.warmup.clone(),
            duration: self.duration.clone(),
            link: LinkSpec {
                down: Some(self.down.clone()),
                up: Some(self.up.clone()),
                rtt: self.rtt.clone(),
                buffer: self.buffer.clone(),
                shape: self.shape.clone(),
                modem_buffer: self.modem_buffer.clone(),
                ..LinkSpec::default()
            },
            tcp: TcpSpec { profile: "linux".into(), ..TcpSpec::default() },
            traffic,
            ..Scenario::default()
        };
        let named = self.schemes.iter().map(|one| one.trim().to_owned());
        let all: Vec<String> =
            if self.schemes.is_empty() { DEFAULT_SCHEMES.map(str::to_owned).into() } else { named.collect() };
        let others = all.into_iter().filter(|one| one != BASELINE);
        let schemes: Vec<String> = [BASELINE.to_owned()].into_iter().chain(others).collect();
        let found = Comparison { label, schemes, seeds: self.seeds, base };
        found.refuse_duplicates()?;
        Ok(found)
    }

    fn traffic(&self) -> Result<(TrafficSpec, String)> {
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
        let mix = places::entries(users, shares).map_err(|name| {
            let apps = places::places().apps.iter().map(|one| one.name.as_str());
            Error::unknown("apps", "application", &name, apps)
        })?;
        let label = places::label(self.place.as_deref(), users);
        Ok((TrafficSpec { mix, ..TrafficSpec::default() }, label))
    }
}

impl Comparison {
    /// Returns the scenario of one run, by the number of its scheme.
    pub fn scenario(&self, scheme: usize, replication: u32) -> Scenario {
        Scenario { scheme: self.schemes[scheme].clone(), replication, ..self.base.clone() }
    }

    /// Returns the checked plan of one run.
    ///
    /// # Errors
    /// [`Error::Field`] as [`Plan::new`].
    pub fn plan(&self, scheme: usize, replication: u32) -> Result<Plan> {
        Plan::new(&self.scenario(scheme, replication))
    }

    /// Returns what was compared, for the answer.
    ///
    /// # Errors
    /// [`Error::Field`] for a duration that is none.
    pub fn compared(&self) -> Result<comparison::Plan> {
        let schemes: Vec<Compared> = self.schemes.iter().cloned().map(Compared::from).collect();
        let rivals = schemes.iter().filter(|one| one.name == "fq-codel").map(|one| one.text.clone());
        let references = [BASELINE.to_owned()].into_iter().chain(rivals).collect();
        Ok(comparison::Plan {
            buffer: self.base.link.buffer.clone(),
            load: None,
            schemes,
            baseline: BASELINE.to_owned(),
            references,
            replications: self.seeds,
            short_bytes: SHORT_BYTES,
            long_bytes: LONG_BYTES,
            in_rounds: false,
            is_sequential: false,
            window_s: parse_dur("duration", &self.base.duration)?.as_secs(),
            is_overlaid: false,
            vetoes: Vec::new(),
            reference: None,
        })
    }

    fn refuse_duplicates(&self) -> Result<()> {
        let mut meanings: Vec<String> = Vec::new();
        for number in 0..self.schemes.len() {
            let meaning = self.plan(number, 0)?.filled().scheme;
            let meaning = Scheme::parse(&meaning)?.to_string();
            if meanings.contains(&meaning) {
                return Err(Error::conflict(
                    "schemes",
                    self.schemes[number].clone(),
                    "another of the list, which is the same",
                    "give every scheme once",
                ));
            }
            meanings.push(meaning);
        }
        Ok(())
    }
}
