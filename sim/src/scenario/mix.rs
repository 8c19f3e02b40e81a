//! Several sources of traffic, and senders that cheat: their part of a scenario, checked.

use super::plan::Plan;
use super::scheme::Place;
use super::spec::{MixSpec, Scenario, TrafficSpec};
use crate::engine::layout::Access;
use crate::engine::misbehaving::Rules;
use crate::engine::mix::MAX_SOURCES;
use crate::error::{Error, Result, did_you_mean, listing};
use crate::tcp::profile::Opening;
use crate::traffic::model::{self, Model};
use crate::traffic::read::Direction;
use crate::units::parse_size;
use serde_json::Value;

/// One source of a mix.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What records call it.
    pub name: String,
    /// What it plays.
    pub plays: Plays,
    /// Load of its own.
    pub load: Option<f64>,
}

/// What a source of a mix plays.
#[derive(Debug, Clone)]
pub enum Plays {
    /// A model.
    Model(Model),
    /// Files.
    Trace {
        /// What the clients sent.
        upload: bool,
    },
}

impl Entry {
    /// The model, if it is one.
    pub fn model(&self) -> Option<&Model> {
        match &self.plays {
            Plays::Model(model) => Some(model),
            Plays::Trace { .. } => None,
        }
    }

    /// Whether all its data goes from client to server.
    pub fn is_upload(&self) -> bool {
        match &self.plays {
            Plays::Model(model) => model.is_upload(),
            Plays::Trace { upload } => *upload,
        }
    }
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
        let plays = plays(&field, spec).map_err(|error| within(error, &field))?;
        Ok(Entry { name: name.clone(), plays, load: spec.load })
    });
    checked.collect()
}

fn plays(field: &str, spec: &MixSpec) -> Result<Plays> {
    match (spec.model.is_empty(), spec.files.is_empty()) {
        (false, true) => modelled(field, spec).map(Plays::Model),
        (true, false) => trace(field, spec),
        (false, false) => Err(Error::field(field, "model and files", "one of them; they may be two entries")),
        (true, true) => Err(Error::field(field, "neither model nor files", "one of them")),
    }
}

/// A trace has the connections it has.
fn trace(field: &str, spec: &MixSpec) -> Result<Plays> {
    for (name, is_given) in [("params", spec.params.is_some()), ("count", spec.count.is_some())] {
        if is_given {
            let allowed = "only models have it; load says how much of the link files are to take";
            return Err(Error::field(format!("{field}.{name}"), "given with files", allowed));
        }
    }
    check_load(field, None, spec.load)?;
    let name = spec.direction.as_deref().unwrap_or("down");
    let direction = Direction::by_name(&format!("{field}.direction"), name)?;
    Ok(Plays::Trace { upload: direction == Direction::Up })
}

fn modelled(field: &str, spec: &MixSpec) -> Result<Model> {
    if let Some(direction) = &spec.direction {
        let allowed = "only files have it; models have parameters (direction, upload)";
        return Err(Error::field(format!("{field}.direction"), format!("\"{direction}\""), allowed));
    }
    let given = spec.params.clone().unwrap_or(Value::Null);
    let mut model = model::by_name(&spec.model, &given)?;
    if let Some(count) = spec.count {
        model = model::by_name(&spec.model, &counted(field, spec, given, count)?)?;
    }
    check_load(field, Some(&model), spec.load)?;
    Ok(model)
}

/// The parameters with `count` among them.
fn counted(field: &str, spec: &MixSpec, given: Value, count: u32) -> Result<Value> {
    let refuse = |allowed: String| Err(Error::field(format!("{field}.count"), count, allowed));
    let parameter = match model::count_parameter(&spec.model) {
        Ok(parameter) => parameter,
        Err(instead) => return refuse(instead),
    };
    let mut params = if let Value::Object(table) = given { table } else { serde_json::Map::new() };
    if params.insert(parameter.to_string(), count.into()).is_some() {
        return refuse(format!("it and params.{parameter} say the same; give one of them"));
    }
    if spec.load.is_some() {
        return refuse("it and load both say how many; give one of them".into());
    }
    Ok(Value::Object(params))
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
        let own = label(spec);
        let name = match &spec.name {
            Some(name) => name.clone(),
            None if taken(own) => format!("{own}-{}", index + 1),
            None => own.to_string(),
        };
        names.push((index as u16 + 1, name));
    }
    names
}

/// What an entry without a name is called: its model's name, or its first file's without folders.
fn label(spec: &MixSpec) -> &str {
    match spec.files.first() {
        Some(file) if spec.model.is_empty() => file.rsplit('/').next().unwrap_or(file),
        _ => &spec.model,
    }
}

/// Whether there is a source beside the mix.
pub fn has_main(traffic: &TrafficSpec) -> bool {
    !traffic.files.is_empty() || traffic.model.is_some() || !traffic.connections.is_empty()
}

impl Plan {
    /// The models of all sources, by number.
    pub fn models(&self) -> impl Iterator<Item = (u16, &Model)> {
        let main = self.model.iter().map(|model| (0, model));
        let entries = (1..).zip(&self.mix).filter_map(|(number, entry)| Some((number, entry.model()?)));
        main.chain(entries)
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
                "its marker must see both directions, which a topology or a host stage does not let it";
            return Err(Error::field("scheme", value, allowed));
        }
        Ok(self)
    }
}
