//! Traffic drawn from published models instead of files.

pub mod closed_loop;
pub mod http;
pub mod http2;
pub mod law;
pub mod open_loop;
pub mod packmime;
pub mod poisson;
pub mod rio_ps;
mod sample;
pub mod shred;
pub mod users;
pub mod web_sfd;

use crate::error::{Error, Result, did_you_mean, listing};
use crate::units::Rate;
use http::Http;
use http2::Http2;
use packmime::PackMime;
use poisson::Poisson;
use rio_ps::RioPs;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use shred::Shred;
use web_sfd::WebSfd;

/// A model by its name, with all its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Web sessions of the SFD paper.
    WebSfd(WebSfd),
    /// Sessions of Guo and Matta.
    RioPs(RioPs),
    /// Browsers with HTTP/1.0 or HTTP/1.1.
    Http(Http),
    /// SHRED's pages at constant load.
    Shred(Shred),
    /// PackMime-HTTP.
    PackMime(PackMime),
    /// Pages over long HTTP/2 connections.
    Http2(Http2),
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
        name: "web:rio-ps",
        summary: "web sessions of RIO-PS (Guo & Matta 2001), experiment 1: bounded Pareto sizes of 4 to 200,000 packets",
    },
    About {
        name: "web:rio-ps-small",
        summary: "the same, client set 1 of experiment 2: sizes of at most 500 packets",
    },
    About {
        name: "web:rio-ps-large",
        summary: "the same, client set 2 of experiment 2: few objects of at least 400 packets",
    },
    About {
        name: "web:http10",
        summary: "browsers of Noureddine & Tobagi (2002) with HTTP/1.0: the index first, then four connections at once",
    },
    About {
        name: "web:http11",
        summary: "the same with HTTP/1.1: one persistent, pipelined connection for each page",
    },
    About {
        name: "web:http2",
        summary: "pages over long connections with pauses between, as with HTTP/2; a download beside them if wanted",
    },
    About {
        name: "web:shred",
        summary: "web pages of SHRED (Hartling, Claypool & Kinicki 2002): open loop, constant load, all objects at once",
    },
    About {
        name: "web:packmime",
        summary: "PackMime-HTTP (Cao et al. 2004) with HTTP/1.0, as in LFP: open loop, one response per connection",
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
        "poisson" => checked(Poisson::default(), params, Poisson::validate, Model::Poisson),
        "web:rio-ps" => checked(RioPs::default(), params, RioPs::validate, Model::RioPs),
        "web:rio-ps-small" => checked(RioPs::small(), params, RioPs::validate, Model::RioPs),
        "web:rio-ps-large" => checked(RioPs::large(), params, RioPs::validate, Model::RioPs),
        "web:http10" => checked(Http::http10(), params, Http::validate, Model::Http),
        "web:http11" => checked(Http::http11(), params, Http::validate, Model::Http),
        "web:http2" => checked(Http2::default(), params, Http2::validate, Model::Http2),
        "web:shred" => checked(Shred::default(), params, Shred::validate, Model::Shred),
        "web:packmime" => checked(PackMime::default(), params, PackMime::validate, Model::PackMime),
        _ => {
            let names = || MODELS.iter().map(|about| about.name);
            let allowed = format!("the models are {}{}", listing(names()), did_you_mean(name, names()));
            Err(Error::field("traffic.model", format!("\"{name}\""), allowed))
        }
    }
}

/// A model with these parameters over its own, if they are allowed.
fn checked<T: Serialize + DeserializeOwned>(
    model: T,
    params: &Value,
    validate: fn(&T) -> Result<()>,
    wrap: fn(T) -> Model,
) -> Result<Model> {
    let model = with_params(model, params)?;
    validate(&model)?;
    Ok(wrap(model))
}

/// `model` with the parameters of `params` (an object, or null) in place of its own.
fn with_params<T: Serialize + DeserializeOwned>(mut model: T, params: &Value) -> Result<T> {
    let Value::Object(given) = params else {
        return match params {
            Value::Null => Ok(model),
            other => Err(Error::field("traffic.params", other, "a table of parameters is")),
        };
    };
    let mut all = serde_json::to_value(&model).unwrap_or_default();
    for (name, value) in given {
        let field = format!("traffic.params.{name}");
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
            Model::RioPs(model) => model.process().offered_load(rate, mss),
            Model::Http(model) => model.process().offered_load(rate, mss),
            Model::Shred(model) => model.offered_load(rate, mss),
            Model::PackMime(model) => model.offered_load(rate, mss),
            Model::Http2(model) => model.offered_load(rate, mss),
            Model::Poisson(model) => model.offered_load(rate, mss),
        }
    }

    /// All parameters, for a manifest.
    pub fn params(&self) -> Value {
        let value = match self {
            Model::WebSfd(model) => serde_json::to_value(model),
            Model::RioPs(model) => serde_json::to_value(model),
            Model::Http(model) => serde_json::to_value(model),
            Model::Shred(model) => serde_json::to_value(model),
            Model::PackMime(model) => serde_json::to_value(model),
            Model::Http2(model) => serde_json::to_value(model),
            Model::Poisson(model) => serde_json::to_value(model),
        };
        value.unwrap_or(Value::Null)
    }
}
