//! Checks of the parts of a scenario for a mix of sources and for misbehaving senders.

use super::spec::{MixSpec, Scenario, TrafficSpec};
use crate::engine::misbehaving::Rules;
use crate::engine::mix::MAX_SOURCES;
use crate::error::{Error, Result, quote};
use crate::traffic::model::{self, Model};
use crate::traffic::overlay::LOADS;
use crate::traffic::read::Direction;
use crate::units::parse_size;
use serde_json::Value;

/// One source of a mix.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name in records.
    pub name: String,
    /// The traffic that it plays.
    pub plays: Plays,
    /// The load that it is to offer, if one is given.
    pub load: Option<f64>,
}

/// The traffic of one source of a mix.
#[derive(Debug, Clone)]
pub enum Plays {
    /// A model.
    Model(Model),
    /// Files.
    Trace {
        /// The clients' data is played, not the servers'.
        upload: bool,
    },
}

impl Entry {
    /// Returns the entry's model; `None` for an entry that replays files.
    pub fn model(&self) -> Option<&Model> {
        match &self.plays {
            Plays::Model(model) => Some(model),
            Plays::Trace { .. } => None,
        }
    }

    /// Returns whether all its data goes from client to server.
    pub fn is_upload(&self) -> bool {
        match &self.plays {
            Plays::Model(model) => model.is_upload(),
            Plays::Trace { upload } => *upload,
        }
    }
}

/// Parses the entries of `traffic.mix`, in order; source n of the run is entry n - 1.
///
/// # Errors
/// [`Error::Field`] naming `traffic.mix[n].<field>`, or `traffic.mix` for too many entries.
pub fn parse_entries(scenario: &Scenario) -> Result<Vec<Entry>> {
    let specs = &scenario.traffic.mix;
    if specs.len() > MAX_SOURCES {
        let (value, allowed) = (format!("{} entries", specs.len()), format!("at most {MAX_SOURCES}"));
        return Err(Error::field("traffic.mix", value, allowed));
    }
    let names = source_names(&scenario.traffic);
    let own = &names[names.len() - specs.len()..];
    let checked = specs.iter().zip(own).enumerate().map(|(index, (spec, (_, name)))| {
        let field = name_field(index as u16 + 1);
        let plays = parse_plays(spec).map_err(|error| error.inside(&field))?;
        if name.is_empty() || names.iter().filter(|(_, other)| other == name).count() > 1 {
            let allowed = "a name that no other source has";
            return Err(Error::field(format!("{field}.name"), quote(name), allowed));
        }
        Ok(Entry { name: name.clone(), plays, load: spec.load })
    });
    checked.collect()
}

/// Parses the traffic of an entry, which is either a model or files.
///
/// # Errors
/// [`Error::Field`] naming a field of the entry.
fn parse_plays(spec: &MixSpec) -> Result<Plays> {
    match (spec.model.is_empty(), spec.files.is_empty()) {
        (false, true) => parse_model(spec).map(Plays::Model),
        (true, false) => parse_trace(spec),
        (false, false) => Err(Error::conflict(
            "model",
            quote(&spec.model),
            "files",
            "give one of them, or make them two entries",
        )),
        (true, true) => Err(Error::missing("", "a model or files")),
    }
}

/// Parses an entry that replays files, for which neither parameters nor a count are allowed. The
/// files are not read.
///
/// # Errors
/// [`Error::Field`] naming a field of the entry.
fn parse_trace(spec: &MixSpec) -> Result<Plays> {
    let params = spec.params.as_ref().map(Value::to_string);
    let count = spec.count.map(|count| count.to_string());
    if let Some((name, value)) =
        [("params", params), ("count", count)].into_iter().find_map(|(name, value)| Some((name, value?)))
    {
        let allowed = "only a model has it; the share of the link that files take is their load";
        return Err(Error::conflict(name, value, "files", allowed));
    }
    check_load(None, spec.load)?;
    let direction = Direction::parse("payload", spec.payload.as_deref().unwrap_or("down"))?;
    Ok(Plays::Trace { upload: direction == Direction::Up })
}

/// Parses an entry that plays a model, with its parameters, its number of users and its direction.
///
/// # Errors
/// [`Error::Field`] naming a field of the entry.
fn parse_model(spec: &MixSpec) -> Result<Model> {
    let given = spec.params.clone().unwrap_or(Value::Null);
    let mut model = model::build_model(&spec.model, &given)?;
    if let Some(count) = spec.count {
        model = model::build_model(&spec.model, &insert_count(spec, given, count)?)?;
    }
    let model = model.with_payload(spec.payload.as_deref())?;
    check_load(Some(&model), spec.load)?;
    Ok(model)
}

/// Returns the parameters `given` with `count` as the model's number of users.
///
/// # Errors
/// [`Error::Field`] naming `count` where the model has no such number, or where it or a load is
/// given, too.
fn insert_count(spec: &MixSpec, given: Value, count: u32) -> Result<Value> {
    let refuse = |with: &str, allowed: &str| Err(Error::conflict("count", count, with, allowed));
    let parameter = match model::count_parameter(&spec.model) {
        Ok(parameter) => parameter,
        Err(rate) => {
            let with = format!("model {}, which has a rate of arrivals and no number of users", spec.model);
            return refuse(&with, &format!("give load or params.{rate}"));
        }
    };
    let mut params = if let Value::Object(table) = given { table } else { serde_json::Map::new() };
    if params.insert(parameter.to_string(), count.into()).is_some() {
        return refuse(&format!("params.{parameter}, which is the same"), "give one of them");
    }
    if spec.load.is_some() {
        return refuse("load, which decides the number", "give one of them");
    }
    Ok(Value::Object(params))
}

/// Checks the `load` of a part of the traffic: above 0 and at most 2. Without a load nothing is
/// checked.
///
/// # Errors
/// [`Error::Field`] naming `load` if it is out of range, or if the model has a fixed number of
/// users.
pub fn check_load(model: Option<&Model>, load: Option<f64>) -> Result<()> {
    let Some(load) = load else { return Ok(()) };
    if !(load > 0.0 && load <= 2.0) {
        return Err(Error::field("load", load, LOADS));
    }
    match model.filter(|model| !model.takes_load()) {
        None => Ok(()),
        Some(model) => {
            let with = format!("model {}, which has a number of users", model.name());
            Err(Error::conflict("load", load, with, "give that number among its parameters"))
        }
    }
}

/// Returns the path of the field that describes source `number`, for errors.
pub fn name_field(number: u16) -> String {
    match number {
        0 => "traffic".to_string(),
        number => format!("traffic.mix[{}]", number - 1),
    }
}

/// Parses `traffic.gaming`, with the names of its sources as numbers; `None` without it.
///
/// # Errors
/// [`Error::Field`] naming `traffic.gaming.<field>`.
pub fn parse_misbehaviour(traffic: &TrafficSpec) -> Result<Option<Rules>> {
    let Some(spec) = &traffic.gaming else { return Ok(None) };
    if !(0.0..=1.0).contains(&spec.share) {
        return Err(Error::field("traffic.gaming.share", spec.share, "a share from 0 to 1"));
    }
    if !(1..=1000).contains(&spec.split) {
        return Err(Error::field("traffic.gaming.split", spec.split, "from 1 to 1000 pieces"));
    }
    let parallel = match spec.pieces.as_str() {
        "parallel" => true,
        "consecutive" => false,
        other => {
            return Err(Error::choice("traffic.gaming.pieces", other, &["parallel", "consecutive"]));
        }
    };
    let names = source_names(traffic);
    let number = |name: &String| match names.iter().find(|(_, known)| known == name) {
        Some((number, _)) => Ok(*number),
        None => {
            let known = names.iter().map(|(_, known)| known.as_str());
            Err(Error::unknown("traffic.gaming.sources", "source", name, known))
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

/// Returns numbers and names of all sources, in order of number. Number 0 is the scenario's source
/// outside its mix; it is missing if there is a mix and no such source. An entry without a name
/// whose own name is taken gets its number appended.
pub fn source_names(traffic: &TrafficSpec) -> Vec<(u16, String)> {
    let mut names = Vec::new();
    if traffic.mix.is_empty() || has_main(traffic) {
        names.push((0, traffic.model.clone().unwrap_or_else(|| "traffic".to_string())));
    }
    for (index, spec) in traffic.mix.iter().enumerate() {
        let taken = |name: &str| names.iter().any(|(_, known)| known == name) || name == "traffic";
        let own = default_name(spec);
        let name = match &spec.name {
            Some(name) => name.clone(),
            None if taken(own) => format!("{own}-{}", index + 1),
            None => own.to_string(),
        };
        names.push((index as u16 + 1, name));
    }
    names
}

/// Returns the name of an entry that gives none: its model's, or its first file's without folders.
fn default_name(spec: &MixSpec) -> &str {
    match spec.files.first() {
        Some(file) if spec.model.is_empty() => file.rsplit('/').next().unwrap_or(file),
        _ => &spec.model,
    }
}

/// Returns whether there is a source outside the mix.
pub fn has_main(traffic: &TrafficSpec) -> bool {
    !traffic.files.is_empty() || traffic.model.is_some() || !traffic.connections.is_empty()
}
