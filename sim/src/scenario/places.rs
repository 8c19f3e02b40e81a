//! Traffic by users and applications: what each application sends, and ready-made numbers of both.

use super::mix_spec::MixSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// The most users of a place.
pub const MOST_USERS: u32 = 10_000;

/// What one application sends, as an entry of a mix without its number of users.
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

/// Ready-made traffic: so many users, of whom these shares run each application.
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

/// Returns all applications and places.
pub fn places() -> &'static Places {
    &TABLE
}

/// Returns an entry of a mix per application, or the name of one that there is not.
///
/// So many users run it as is nearest to their share, at least one. They are neighbours among the hosts, and those of the
/// next application begin behind them, so that few users run everything.
///
/// # Errors
/// The name of an application that is not in the table.
pub fn entries(users: u32, shares: &[(String, f64)]) -> Result<Vec<MixSpec>, String> {
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

/// The application whose load a load of users is.
const WEB: &str = "web";

/// Returns a mix in which the entry of web pages has this load in the place of its number of users; None without such an
/// entry.
pub fn loaded(mix: &[MixSpec], load: f64) -> Option<Vec<MixSpec>> {
    let web = TABLE.apps.iter().find(|app| app.name == WEB)?;
    let is_web = |entry: &MixSpec| entry.name.as_deref() == Some(WEB) && entry.model == web.model;
    let with_load = |entry: &MixSpec| match is_web(entry) {
        true => MixSpec { count: None, load: Some(load), ..entry.clone() },
        false => entry.clone(),
    };
    mix.iter().any(is_web).then(|| mix.iter().map(with_load).collect())
}

/// Returns the name of such traffic for titles: `home, 4 users`.
pub fn label(place: Option<&str>, users: u32) -> String {
    let people = if users == 1 { "1 user".to_owned() } else { format!("{users} users") };
    place.map_or(people.clone(), |name| format!("{name}, {people}"))
}
