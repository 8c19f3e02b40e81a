//! Traffic by users and applications: the model of each application, and ready-made places with their users.

use super::mix_spec::MixSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// The most users of a place.
pub const MOST_USERS: u32 = 10_000;

/// The traffic of one application, as an entry of a mix without its number of users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Its name.
    pub name: String,
    /// The model that plays it.
    pub model: String,
    /// The share of the users who run it where none is given.
    pub share: f64,
    /// Which way its payload goes, if the model lets one choose.
    pub payload: Option<String>,
    /// The parameter that is the number of client hosts, of models that have one.
    pub hosts: Option<String>,
    /// Parameters of the model.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Ready-made traffic: a number of users, and the share of them that runs each application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Who is there, in a few words.
    pub summary: String,
    /// Users.
    pub users: u32,
    /// The share of the users who run each application, by its name.
    pub apps: Vec<(String, f64)>,
}

/// Applications and places, in the order of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The applications.
    pub apps: Vec<Application>,
    /// The places.
    pub places: Vec<Place>,
}

static TABLE: LazyLock<Places> =
    LazyLock::new(|| toml::from_str(include_str!("places.toml")).expect("places.toml is well formed"));

/// Returns all applications and places. The first call parses the table; it panics if the table is
/// malformed.
pub fn places() -> &'static Places {
    &TABLE
}

/// Returns the entries of a mix, one for each application, in order; `shares` are the shares of the
/// `users`, at least one, that run them.
///
/// The number of users of an application is the nearest to its share, at least one. Its users are
/// neighbours among the hosts, and those of the next application follow them, so that few users run
/// everything.
///
/// # Errors
/// The name of an application that is not in the table.
pub fn mix_entries(users: u32, shares: &[(String, f64)]) -> Result<Vec<MixSpec>, String> {
    let mut first = 0;
    let entry = |(name, share): &(String, f64)| {
        let found = TABLE.apps.iter().find(|app| app.name == *name);
        let app = found.ok_or_else(|| name.clone())?;
        let count = ((f64::from(users) * share + 0.5).floor() as u32).max(1);
        if first + count > users {
            first = 0;
        }
        let mut params = app.params.clone();
        if let Some(hosts) = &app.hosts {
            params.insert(hosts.clone(), count.into());
        }
        params.insert("first_host".to_owned(), first.into());
        first = (first + count) % users;
        Ok(MixSpec {
            name: Some(name.clone()),
            model: app.model.clone(),
            payload: app.payload.clone(),
            params: Some(Value::Object(params)),
            count: Some(count),
            ..MixSpec::default()
        })
    };
    shares.iter().map(entry).collect()
}

/// The application that a load of users refers to.
const WEB: &str = "web";

/// Returns the mix with this load instead of a number of users in the entry of web pages; `None`
/// without such an entry.
pub fn with_web_load(mix: &[MixSpec], load: f64) -> Option<Vec<MixSpec>> {
    let web = TABLE.apps.iter().find(|app| app.name == WEB)?;
    let is_web = |entry: &MixSpec| entry.name.as_deref() == Some(WEB) && entry.model == web.model;
    let with_load = |entry: &MixSpec| match is_web(entry) {
        true => MixSpec { count: None, load: Some(load), ..entry.clone() },
        false => entry.clone(),
    };
    mix.iter().any(is_web).then(|| mix.iter().map(with_load).collect())
}

/// Returns the name of such traffic for titles, such as `home, 4 users`.
pub fn traffic_label(place: Option<&str>, users: u32) -> String {
    let people = if users == 1 { "1 user".to_owned() } else { format!("{users} users") };
    place.map_or(people.clone(), |name| format!("{name}, {people}"))
}
