//! Traffic drawn from published models instead of files.

pub mod poisson;
mod sample;
pub mod web_sfd;

use crate::error::{Error, Result, did_you_mean, listing};
use crate::units::Rate;
use poisson::Poisson;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use web_sfd::WebSfd;

/// A model by its name, with all its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Web sessions of the SFD paper.
    WebSfd(WebSfd),
    /// Open-loop transfers.
    Poisson(Poisson),
}

/// One line about a model, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The name that [`by_name`] takes.
    pub name: &'static str,
    /// What it is and where it comes from.
    pub summary: &'static str,
}

/// All models.
pub const MODELS: &[About] = &[
    About {
        name: "web:sfd",
        summary: "web sessions of SFD (Chen & Heidemann 2001), Table 2, with object counts max(1, floor) and sizes capped at 20 MB",
    },
    About {
        name: "web:sfd-literal",
        summary: "the same with Table 2 taken literally: object counts rounded up, sizes uncapped up to 1 GB",
    },
    About {
        name: "poisson",
        summary: "open-loop transfers: Poisson arrivals, Pareto II sizes, one connection each",
    },
];

/// The model called `name`, with `params` (an object, or null) over its defaults.
///
/// # Errors
/// [`Error::Field`] naming `traffic.model` or `traffic.params.<field>`.
pub fn by_name(name: &str, params: &Value) -> Result<Model> {
    match name {
        "web:sfd" => Ok(Model::WebSfd(WebSfd::default().with_params(params)?)),
        "web:sfd-literal" => Ok(Model::WebSfd(WebSfd::literal().with_params(params)?)),
        "poisson" => poisson_with(params),
        _ => {
            let names = || MODELS.iter().map(|about| about.name);
            let allowed = format!("the models are {}{}", listing(names()), did_you_mean(name, names()));
            Err(Error::field("traffic.model", format!("\"{name}\""), allowed))
        }
    }
}

fn poisson_with(params: &Value) -> Result<Model> {
    let model = with_params(Poisson::default(), params)?;
    model.validate()?;
    Ok(Model::Poisson(model))
}

/// `model` with the parameters of `params` (an object, or null) in place of its own.
fn with_params<T: Serialize + DeserializeOwned>(model: T, params: &Value) -> Result<T> {
    with_params_of("traffic.params", model, params)
}

/// The same for the parameters of anything else; `table` is their name for messages.
pub(crate) fn with_params_of<T: Serialize + DeserializeOwned>(
    table: &str,
    mut model: T,
    params: &Value,
) -> Result<T> {
    let Value::Object(given) = params else {
        return match params {
            Value::Null => Ok(model),
            other => Err(Error::field(table, other, "a table of parameters is")),
        };
    };
    let mut all = serde_json::to_value(&model).unwrap_or_default();
    for (name, value) in given {
        let field = format!("{table}.{name}");
        match all.get_mut(name) {
            Some(place) => *place = value.clone(),
            None => return Err(unknown_parameter(&field, name, &all)),
        }
        // One at a time, so that the fault belongs to this parameter.
        model = serde_json::from_value(all.clone())
            .map_err(|error| Error::field(&field, value, format!("it is not of the right kind: {error}")))?;
    }
    Ok(model)
}

fn unknown_parameter(field: &str, name: &str, all: &Value) -> Error {
    let names: Vec<&str> = all.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let hint = did_you_mean(name, names.iter().copied());
    Error::field(field, format!("\"{name}\""), format!("the parameters are {}{hint}", listing(names)))
}

impl Model {
    /// The load on `rate` that the model's own parameters offer.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        match self {
            Model::WebSfd(model) => model.offered_load(rate, mss),
            Model::Poisson(model) => model.offered_load(rate, mss),
        }
    }

    /// All parameters, for a manifest.
    pub fn params(&self) -> Value {
        match self {
            Model::WebSfd(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Poisson(model) => serde_json::to_value(model).unwrap_or(Value::Null),
        }
    }
}
