//! Several sources of traffic, and senders that cheat: their part of a scenario, checked.

use super::plan::Plan;
use super::scheme::Place;
use super::spec::{MixSpec, Scenario, TrafficSpec};
use crate::engine::gaming::Rules;
use crate::engine::layout::Access;
use crate::engine::mix::MAX_SOURCES;
use crate::error::{Error, Result, did_you_mean, listing};
use crate::tcp::profile::Opening;
use crate::traffic::model::{self, Model};
use crate::traffic::read::Direction;
use crate::units::parse_size;
use serde_json::Value;

/// One model of a mix.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What records call it.
    pub name: String,
    /// The model.
    pub model: Model,
    /// Load of its own.
    pub load: Option<f64>,
}

/// Checks the entries of `traffic.mix`.
///
/// # Errors
/// [`Error::Field`] naming `traffic.mix[n].<field>`.
pub fn entries(scenario: &Scenario, direction: Direction) -> Result<Vec<Entry>> {
    let specs = &scenario.traffic.mix;
    if specs.len() > MAX_SOURCES {
        let allowed = format!("at most {MAX_SOURCES} entries");
        return Err(Error::field("traffic.mix", format!("{} entries", specs.len()), allowed));
    }
    if !specs.is_empty() && direction == Direction::Up {
        let allowed = "with a mix \"down\"; its entries say themselves which way they go";
        return Err(Error::field("traffic.direction", "\"up\"", allowed));
    }
    let names = names(&scenario.traffic);
    let own = &names[names.len() - specs.len()..];
    let checked = specs.iter().zip(own).enumerate().map(|(index, (spec, (_, name)))| {
        let field = format!("traffic.mix[{index}]");
        if name.is_empty() || names.iter().filter(|(_, other)| other == name).count() > 1 {
            let value = format!("\"{name}\"");
            return Err(Error::field(format!("{field}.name"), value, "a name that no other source has"));
        }
        let (model, load) = entry(&field, spec).map_err(|error| within(error, &field))?;
        Ok(Entry { name: name.clone(), model, load })
    });
    checked.collect()
}

fn entry(field: &str, spec: &MixSpec) -> Result<(Model, Option<f64>)> {
    let mut params = spec.params.clone().unwrap_or(Value::Null);
    if let Some(count) = spec.count {
        let Some(parameter) = model::count_parameter(&spec.model) else {
            let allowed =
                format!("model {} has no fixed number of users; give it a load or params", spec.model);
            return Err(Error::field(format!("{field}.count"), count, allowed));
        };
        if params.is_null() {
            params = Value::Object(serde_json::Map::new());
        }
        if let Some(table) = params.as_object_mut() {
            table.insert(parameter.to_string(), count.into());
        }
    }
    let model = model::by_name(&spec.model, &params)?;
    check_load(field, Some(&model), spec.load)?;
    Ok((model, spec.load))
}

/// A load is a number above 0, at most 2, and for models that can be scaled.
///
/// # Errors
/// [`Error::Field`] naming `<field>.load`.
pub fn check_load(field: &str, model: Option<&Model>, load: Option<f64>) -> Result<()> {
    let Some(load) = load else { return Ok(()) };
    if !(load > 0.0 && load <= 2.0) {
        return Err(Error::field(format!("{field}.load"), load, "a number above 0, at most 2"));
    }
    match model.filter(|model| !model.takes_load()) {
        None => Ok(()),
        Some(model) => {
            let allowed = format!("model {} has so many users and takes no load; say how many", model.name());
            Err(Error::field(format!("{field}.load"), load, allowed))
        }
    }
}

/// A model's complaint about `traffic.…`, for an entry of the mix.
fn within(error: Error, entry: &str) -> Error {
    match error {
        Error::Field { field, value, allowed } if !field.starts_with(entry) => {
            let field = field.replacen("traffic", entry, 1);
            Error::Field { field, value, allowed }
        }
        other => other,
    }
}

/// Checks `traffic.gaming`.
///
/// # Errors
/// [`Error::Field`] naming `traffic.gaming.<field>`.
pub fn gaming(traffic: &TrafficSpec) -> Result<Option<Rules>> {
    let Some(spec) = &traffic.gaming else { return Ok(None) };
    let refuse = |name: &str, value: String, allowed: &str| {
        Err(Error::field(format!("traffic.gaming.{name}"), value, allowed))
    };
    if !(0.0..=1.0).contains(&spec.share) {
        return refuse("share", spec.share.to_string(), "a share from 0 to 1");
    }
    if !(1..=1000).contains(&spec.split) {
        return refuse("split", spec.split.to_string(), "1 to 1000 pieces");
    }
    let parallel = match spec.pieces.as_str() {
        "parallel" => true,
        "consecutive" => false,
        other => {
            let hint = did_you_mean(other, ["parallel", "consecutive"]);
            return refuse("pieces", format!("\"{other}\""), &format!("parallel or consecutive{hint}"));
        }
    };
    let names = names(traffic);
    let number = |name: &String| match names.iter().find(|(_, known)| known == name) {
        Some((number, _)) => Ok(*number),
        None => {
            let known = names.iter().map(|(_, known)| known.as_str());
            let hint = did_you_mean(name, known.clone());
            let allowed = format!("the sources are {}{hint}", listing(known));
            Err(Error::field("traffic.gaming.sources", format!("\"{name}\""), allowed))
        }
    };
    Ok(Some(Rules {
        share: spec.share,
        split: spec.split,
        parallel,
        hint: spec.hint,
        min_bytes: parse_size("traffic.gaming.min_bytes", &spec.min_bytes)?,
        sources: spec.sources.iter().map(number).collect::<Result<_>>()?,
    }))
}

/// Numbers and names of all sources: 0 is what the scenario has beside its mix, if anything.
pub fn names(traffic: &TrafficSpec) -> Vec<(u16, String)> {
    let mut names = Vec::new();
    if traffic.mix.is_empty() || has_main(traffic) {
        names.push((0, traffic.model.clone().unwrap_or_else(|| "traffic".to_string())));
    }
    for (index, spec) in traffic.mix.iter().enumerate() {
        let taken = |name: &str| names.iter().any(|(_, known)| known == name) || name == "traffic";
        let name = match &spec.name {
            Some(name) => name.clone(),
            None if taken(&spec.model) => format!("{}-{}", spec.model, index + 1),
            None => spec.model.clone(),
        };
        names.push((index as u16 + 1, name));
    }
    names
}

/// Whether there is a source beside the mix.
pub fn has_main(traffic: &TrafficSpec) -> bool {
    !traffic.files.is_empty() || traffic.model.is_some() || !traffic.connections.is_empty()
}

impl Plan {
    /// The models of all sources, by number.
    pub fn models(&self) -> impl Iterator<Item = (u16, &Model)> {
        let main = self.model.iter().map(|model| (0, model));
        main.chain((1..).zip(self.mix.iter().map(|entry| &entry.model)))
    }

    /// The plan, if its parts go together.
    ///
    /// # Errors
    /// [`Error::Field`] naming what does not go with the TCP profile.
    pub(super) fn consistent(self) -> Result<Plan> {
        let asks = matches!(self.params.opening, Opening::Request);
        let telnet = self.models().find_map(|(_, model)| match model {
            Model::Telnet(telnet) => Some(telnet),
            _ => None,
        });
        match telnet {
            Some(_) if !asks => {
                let value = format!("\"{}\"", self.scenario.tcp.profile);
                let allowed = "telnet needs a client that asks: profile rfc or linux, direction down";
                Err(Error::field("tcp.profile", value, allowed))
            }
            Some(telnet) if telnet.packet_bytes <= self.params.header.max(self.params.ack_bytes) => {
                let allowed = "a packet longer than the headers of the TCP profile";
                Err(Error::field("traffic.params.packet_bytes", telnet.packet_bytes, allowed))
            }
            _ => self.with_an_edge_that_sees_both_directions(),
        }
    }

    /// An edge that learns from acknowledgements stands at the bottleneck's both ends; on a graph, where data may be
    /// marked elsewhere and acknowledgements go other ways, it would take everything for outstanding.
    fn with_an_edge_that_sees_both_directions(self) -> Result<Plan> {
        let needs_both = self.scheme.marker(Place::EXAMPLE)?.other_direction().is_some();
        if needs_both && matches!(self.layout.access, Access::Graph(_)) {
            let value = format!("\"{}\"", self.scheme);
            let allowed =
                "its edge must see both directions; with a topology or a host stage give hint=sender";
            return Err(Error::field("scheme", value, allowed));
        }
        Ok(self)
    }
}
