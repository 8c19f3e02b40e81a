//! Traffic drawn from published models instead of files.

pub mod cdf;
mod check;
pub mod datagrams;
pub mod ftp;
mod pareto;
pub mod poisson;
mod sample;
pub mod telnet;
pub mod web_sfd;

use crate::error::{Error, Result, did_you_mean, listing};
use crate::units::Rate;
use check::Way;
use datagrams::{Udp, Voip};
use ftp::Ftp;
use poisson::Poisson;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use telnet::Telnet;
use web_sfd::WebSfd;

/// A model by its name, with all its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Web sessions of the SFD paper.
    WebSfd(WebSfd),
    /// Open-loop transfers.
    Poisson(Poisson),
    /// Remote logins.
    Telnet(Telnet),
    /// File transfers.
    Ftp(Ftp),
    /// Senders that ignore loss.
    Udp(Udp),
    /// Telephone calls.
    Voip(Voip),
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
        summary: "open-loop transfers: Poisson arrivals, Pareto II sizes or a file of sizes, one connection each",
    },
    About {
        name: "telnet",
        summary: "remote logins: 100-byte keystrokes, about five a second, each awaiting its echo (Noureddine & Tobagi)",
    },
    About {
        name: "ftp",
        summary: "file transfers: one after the other, at fixed times or without end; downloads, uploads or both",
    },
    About { name: "udp", summary: "datagrams at a constant rate or in spurts, whatever is lost" },
    About { name: "voip", summary: "telephone calls: 200 bytes every 20 ms in talk spurts, both ways" },
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
        "ftp" => Ok(Model::Ftp(with_params(Ftp::default(), params)?.checked()?)),
        "telnet" => checked(params, Telnet::validate).map(Model::Telnet),
        "udp" => checked(params, Udp::validate).map(Model::Udp),
        "voip" => checked(params, Voip::validate).map(Model::Voip),
        _ if name.starts_with(SIZES) => poisson_of_sizes(&name[SIZES.len()..], params),
        _ => {
            let names = || MODELS.iter().map(|about| about.name);
            let allowed = format!("the models are {}{}", listing(names()), did_you_mean(name, names()));
            Err(Error::field("traffic.model", format!("\"{name}\""), allowed))
        }
    }
}

/// `sizes:FILE` is the model `poisson` with the sizes of a file.
pub const SIZES: &str = "sizes:";

fn poisson_with(params: &Value) -> Result<Model> {
    with_params(Poisson::default(), params)?.checked().map(Model::Poisson)
}

fn poisson_of_sizes(file: &str, params: &Value) -> Result<Model> {
    with_params(Poisson::of_sizes(file), params)?.checked().map(Model::Poisson)
}

/// A model with `params` over its defaults, checked.
fn checked<T: Default + Serialize + DeserializeOwned>(
    params: &Value,
    validate: impl Fn(&T) -> Result<()>,
) -> Result<T> {
    let model = with_params(T::default(), params)?;
    validate(&model)?;
    Ok(model)
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

/// The parameter that says how many users a model has, where it has so many.
pub fn count_parameter(model: &str) -> Option<&'static str> {
    match model {
        "telnet" | "ftp" => Some("users"),
        "udp" => Some("flows"),
        "voip" => Some("calls"),
        _ => None,
    }
}

impl Model {
    /// The load on `rate` in one direction that the model's own parameters offer; `None` where it depends on
    /// the network.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> Option<f64> {
        let bps = rate.0 as f64;
        match self {
            Model::WebSfd(model) => Some(model.offered_load(rate, mss)),
            Model::Poisson(model) => Some(model.offered_load(rate, mss)),
            Model::Telnet(model) => Some(model.offered_load(bps)),
            Model::Ftp(model) => model.offered_load(bps, mss),
            Model::Udp(model) => Some(model.senders().offered_load(bps)),
            Model::Voip(model) => Some(model.senders().offered_load(bps)),
        }
    }

    /// Whether all its data goes from client to server.
    pub fn is_upload(&self) -> bool {
        match self {
            Model::WebSfd(_) | Model::Telnet(_) => false,
            Model::Poisson(model) => model.upload,
            Model::Ftp(model) => model.direction == Way::Up,
            Model::Udp(model) => model.direction == Way::Up,
            Model::Voip(model) => model.direction == Way::Up,
        }
    }

    /// Whether a load scales its arrivals; the others have so many users.
    pub fn takes_load(&self) -> bool {
        count_parameter(self.name()).is_none()
    }

    /// The name of its kind.
    pub fn name(&self) -> &'static str {
        match self {
            Model::WebSfd(_) => "web:sfd",
            Model::Poisson(_) => "poisson",
            Model::Telnet(_) => "telnet",
            Model::Ftp(_) => "ftp",
            Model::Udp(_) => "udp",
            Model::Voip(_) => "voip",
        }
    }

    /// All parameters, for a manifest.
    pub fn params(&self) -> Value {
        match self {
            Model::WebSfd(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Poisson(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Telnet(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Ftp(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Udp(model) => serde_json::to_value(model).unwrap_or(Value::Null),
            Model::Voip(model) => serde_json::to_value(model).unwrap_or(Value::Null),
        }
    }
}
