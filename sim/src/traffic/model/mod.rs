//! Traffic drawn from published models instead of files.

pub mod cdf;
mod check;
pub mod closed_loop;
pub mod datagrams;
pub mod ftp;
pub mod game;
pub mod http;
pub mod http2;
pub mod law;
pub mod open_loop;
pub mod packmime;
mod pareto;
pub mod planned;
pub mod poisson;
pub mod responsiveness;
pub mod rio_ps;
mod sample;
pub mod shred;
pub mod stream;
pub mod telnet;
pub mod users;
pub mod videocall;
pub mod web_sfd;

use crate::error::{Error, IntoGiven, Problem, Result, quote, simplify};
use crate::units::Rate;
pub use check::FlowDirection;
use datagrams::{Udp, Voip};
use ftp::Ftp;
use game::Game;
use http::Http;
use http2::Http2;
use packmime::PackMime;
use poisson::Poisson;
use responsiveness::Responsiveness;
use rio_ps::RioPs;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use shred::Shred;
use stream::Viewing;
use telnet::Telnet;
use videocall::VideoCall;
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
    /// Remote logins.
    Telnet(Telnet),
    /// File transfers.
    Ftp(Ftp),
    /// Senders that ignore loss.
    Udp(Udp),
    /// Telephone calls.
    Voip(Voip),
    /// Games.
    Game(Game),
    /// Video calls.
    VideoCall(VideoCall),
    /// Viewers of streams.
    Viewing(Viewing),
    /// Tests of responsiveness.
    Responsiveness(Responsiveness),
}

/// A model's name and summary, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The name that [`build_model`] takes.
    pub name: &'static str,
    /// What it models, and its source.
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
        summary: "pages over long connections with pauses between, as with HTTP/2; optionally with a download",
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
    About { name: "game", summary: "games: 30 packets of 100 bytes a second, both ways" },
    About {
        name: "videocall",
        summary: "video calls: 30 frames a second in several packets each, both ways",
    },
    About {
        name: "stream",
        summary: "viewers of videos in segments, whose bit rate follows the buffer (BBA, Huang et al. 2014)",
    },
    About {
        name: "responsiveness",
        summary: "tests of responsiveness under load: flows without end, and small requests beside and within them (IPPM)",
    },
];

/// Returns the model called `name`, with `params` (an object, or null) over its defaults. Reads the file of sizes if
/// one is named.
///
/// # Errors
/// [`Error::Field`] naming `model`, `params` or `params.<field>`; [`Error::File`] or [`Error::Row`] of the file of
/// sizes.
pub fn build_model(name: &str, params: &Value) -> Result<Model> {
    match build_by_name(name, params) {
        Some(model) => model.map_err(|error| error.inside("params")),
        None => Err(Error::unknown("model", "model", name, MODELS.iter().map(|about| about.name))),
    }
}

/// Returns the model called `name`, or `None` if there is no such model; the inner errors name its parameters.
fn build_by_name(name: &str, params: &Value) -> Option<Result<Model>> {
    Some(match name {
        "web:sfd" => build_checked(WebSfd::default(), params, WebSfd::validate, Model::WebSfd),
        "web:sfd-literal" => build_checked(WebSfd::literal(), params, WebSfd::validate, Model::WebSfd),
        "web:rio-ps" => build_checked(RioPs::default(), params, RioPs::validate, Model::RioPs),
        "web:rio-ps-small" => build_checked(RioPs::small(), params, RioPs::validate, Model::RioPs),
        "web:rio-ps-large" => build_checked(RioPs::large(), params, RioPs::validate, Model::RioPs),
        "web:http10" => build_checked(Http::http10(), params, Http::validate, Model::Http),
        "web:http11" => build_checked(Http::http11(), params, Http::validate, Model::Http),
        "web:http2" => build_checked(Http2::default(), params, Http2::validate, Model::Http2),
        "web:shred" => build_checked(Shred::default(), params, Shred::validate, Model::Shred),
        "web:packmime" => build_checked(PackMime::default(), params, PackMime::validate, Model::PackMime),
        "poisson" => build_poisson(Poisson::default(), params),
        "ftp" => with_params(Ftp::default(), params).and_then(Ftp::validate).map(Model::Ftp),
        "telnet" => build_checked(Telnet::default(), params, Telnet::validate, Model::Telnet),
        "udp" => build_checked(Udp::default(), params, Udp::validate, Model::Udp),
        "voip" => build_checked(Voip::default(), params, Voip::validate, Model::Voip),
        "game" => build_checked(Game::default(), params, Game::validate, Model::Game),
        "videocall" => build_checked(VideoCall::default(), params, VideoCall::validate, Model::VideoCall),
        "stream" => build_checked(Viewing::default(), params, Viewing::validate, Model::Viewing),
        "responsiveness" => {
            let model = Responsiveness::default();
            build_checked(model, params, Responsiveness::validate, Model::Responsiveness)
        }
        _ if name.starts_with(SIZES) => build_poisson(Poisson::from_sizes(&name[SIZES.len()..]), params),
        _ => return None,
    })
}

/// `sizes:FILE` is the model `poisson` with the sizes of a file.
pub const SIZES: &str = "sizes:";

/// Returns `model` with these parameters instead of its defaults, if they are allowed; it reads a file of sizes.
///
/// # Errors
/// Those of [`with_params`] and [`Poisson::validate`].
fn build_poisson(model: Poisson, params: &Value) -> Result<Model> {
    with_params(model, params)?.validate().map(Model::Poisson)
}

/// Returns `model` with these parameters instead of its defaults if `validate` allows them.
///
/// # Errors
/// Those of [`with_params`] and `validate`.
fn build_checked<T: Serialize + DeserializeOwned>(
    model: T,
    params: &Value,
    validate: fn(&T) -> Result<()>,
    wrap: fn(T) -> Model,
) -> Result<Model> {
    let model = with_params(model, params)?;
    validate(&model)?;
    Ok(wrap(model))
}

/// Returns `model` with the parameters of `params` (an object, or null) instead of its defaults.
///
/// # Errors
/// [`Error::Field`] naming the parameter, or `""` where `params` is no table or names no parameter.
pub(crate) fn with_params<T: Serialize + DeserializeOwned>(mut model: T, params: &Value) -> Result<T> {
    let Value::Object(given) = params else {
        return match params {
            Value::Null => Ok(model),
            other => Err(Error::field("", other, "a table of parameters")),
        };
    };
    let mut all = serde_json::to_value(&model).unwrap_or_default();
    for (name, value) in given {
        match all.get_mut(name) {
            Some(parameter) => *parameter = value.clone(),
            None => return Err(unknown_parameter(name, &all)),
        }
        // One at a time, so that the fault belongs to this parameter.
        model = serde_json::from_value(all.clone()).map_err(|error| {
            let problem = simplify(&error.to_string());
            Problem::Form { value: Some(value.into_given()), problem }.for_field(name)
        })?;
    }
    Ok(model)
}

/// Returns the error for a parameter that the model, whose parameters are `all`, does not have.
fn unknown_parameter(name: &str, all: &Value) -> Error {
    if let "direction" | "upload" = name {
        let allowed = "payload = \"up\", \"down\" or \"both\" beside the model, and not among its parameters";
        return Error::faulty("", quote(name), "was replaced", allowed);
    }
    let names = all.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    Error::unknown("", "parameter", name, names)
}

/// Returns the parameter that is a model's number of users.
///
/// # Errors
/// For any other model, the name of the parameter that sets its load: a rate, or the mean time
/// between sessions.
pub fn count_parameter(model: &str) -> std::result::Result<&'static str, &'static str> {
    match model {
        "telnet" | "ftp" | "web:http10" | "web:http11" => Ok("users"),
        "web:rio-ps" | "web:rio-ps-small" | "web:rio-ps-large" => Ok("sessions"),
        "udp" => Ok("flows"),
        "voip" | "videocall" => Ok("calls"),
        "game" => Ok("players"),
        "stream" => Ok("viewers"),
        "responsiveness" => Ok("testers"),
        "web:sfd" | "web:sfd-literal" => Err("inter_session_s"),
        "web:shred" => Err("load_bps"),
        "web:packmime" | "web:http2" => Err("connections_per_s"),
        _ => Err("transfers_per_s"),
    }
}

impl Model {
    /// Returns the load on `rate` in one direction that the model's parameters offer, a fraction, with headers for
    /// segments of `mss` payload bytes; `None` if it depends on the network.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> Option<f64> {
        let bps = rate.0 as f64;
        match self {
            Model::WebSfd(model) => Some(model.offered_load(rate, mss)),
            Model::RioPs(model) => Some(model.process().offered_load(rate, mss)),
            Model::Http(model) => Some(model.process().offered_load(rate, mss)),
            Model::Shred(model) => Some(model.offered_load(rate, mss)),
            Model::PackMime(model) => Some(model.offered_load(rate, mss)),
            Model::Http2(model) => Some(model.offered_load(rate, mss)),
            Model::Poisson(model) => Some(model.offered_load(rate, mss)),
            Model::Telnet(model) => Some(model.offered_load(bps)),
            Model::Ftp(model) => model.offered_load(bps, mss),
            Model::Udp(model) => Some(model.to_senders().offered_load(bps)),
            Model::Voip(model) => Some(model.to_senders().offered_load(bps)),
            Model::Game(model) => Some(model.to_senders().offered_load(bps)),
            Model::VideoCall(model) => Some(model.to_senders().offered_load(bps)),
            Model::Viewing(_) | Model::Responsiveness(_) => None,
        }
    }

    /// Returns whether all data goes from client to server.
    pub fn is_upload(&self) -> bool {
        match self {
            Model::WebSfd(_) | Model::RioPs(_) | Model::Http(_) => false,
            Model::Shred(_) | Model::PackMime(_) | Model::Http2(_) | Model::Telnet(_) => false,
            Model::Poisson(model) => model.upload,
            Model::Ftp(model) => model.direction == FlowDirection::Up,
            Model::Udp(model) => model.direction == FlowDirection::Up,
            Model::Voip(model) => model.direction == FlowDirection::Up,
            Model::Game(model) => model.direction == FlowDirection::Up,
            Model::VideoCall(model) => model.direction == FlowDirection::Up,
            Model::Responsiveness(model) => model.direction == FlowDirection::Up,
            Model::Viewing(_) => false,
        }
    }

    /// Returns the model with its payload in this direction; `None` leaves the model's default: both ways for calls and
    /// games, else down.
    ///
    /// # Errors
    /// [`Error::Field`] naming `payload` for a direction that the model does not have.
    pub fn with_payload(mut self, payload: Option<&str>) -> Result<Model> {
        let Some(name) = payload else { return Ok(self) };
        let direction = FlowDirection::parse_direction("payload", name)?;
        match &mut self {
            Model::Ftp(model) => model.direction = direction,
            Model::Udp(model) => model.direction = direction,
            Model::Voip(model) => model.direction = direction,
            Model::Game(model) => model.direction = direction,
            Model::VideoCall(model) => model.direction = direction,
            Model::Responsiveness(model) => model.direction = direction,
            Model::Poisson(model) if direction != FlowDirection::Both => {
                model.upload = direction == FlowDirection::Up;
            }
            _ if direction != FlowDirection::Down => {
                let allowed = "only that of poisson, ftp, udp, voip, game, videocall and responsiveness goes up, and of all but the first both ways";
                return Err(Error::conflict(
                    "payload",
                    quote(name),
                    format!("model {}", self.name()),
                    allowed,
                ));
            }
            _ => {}
        }
        Ok(self)
    }

    /// Returns the model with the arrivals or users that load a link of `rate` by `load`; a model that takes
    /// no load is returned unchanged.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] for a load that the model cannot offer.
    pub fn with_load(self, load: f64, rate: Rate, mss: u32) -> Result<Model> {
        Ok(match self {
            Model::WebSfd(model) => Model::WebSfd(model.with_load(load, rate, mss)?),
            Model::RioPs(model) => {
                let sessions = model.process().users_for_load(load, rate, mss);
                Model::RioPs(RioPs { sessions, ..model })
            }
            Model::Http(model) => {
                let users = model.process().users_for_load(load, rate, mss);
                Model::Http(Http { users, ..model })
            }
            Model::Shred(model) => Model::Shred(model.with_load(load, rate)),
            Model::PackMime(model) => Model::PackMime(model.with_load(load, rate, mss)),
            Model::Http2(model) => Model::Http2(model.with_load(load, rate, mss)),
            Model::Poisson(model) => Model::Poisson(model.with_load(load, rate, mss)),
            Model::Telnet(_) | Model::Ftp(_) | Model::Udp(_) | Model::Voip(_) => self,
            Model::Game(_) | Model::VideoCall(_) | Model::Viewing(_) | Model::Responsiveness(_) => self,
        })
    }

    /// Returns whether a load scales the model's arrivals; other models have a number of users.
    pub fn takes_load(&self) -> bool {
        let has_users =
            matches!(self, Model::Telnet(_) | Model::Ftp(_) | Model::Viewing(_) | Model::Responsiveness(_));
        let has_flows = matches!(self, Model::Udp(_) | Model::Voip(_) | Model::Game(_) | Model::VideoCall(_));
        !has_users && !has_flows
    }

    /// Returns the model's name; variants with other defaults share the name of their model.
    pub fn name(&self) -> &'static str {
        match self {
            Model::WebSfd(_) => "web:sfd",
            Model::RioPs(_) => "web:rio-ps",
            Model::Http(model) if model.parallel == 0 => "web:http11",
            Model::Http(_) => "web:http10",
            Model::Shred(_) => "web:shred",
            Model::PackMime(_) => "web:packmime",
            Model::Http2(_) => "web:http2",
            Model::Poisson(_) => "poisson",
            Model::Telnet(_) => "telnet",
            Model::Ftp(_) => "ftp",
            Model::Udp(_) => "udp",
            Model::Voip(_) => "voip",
            Model::Game(_) => "game",
            Model::VideoCall(_) => "videocall",
            Model::Viewing(_) => "stream",
            Model::Responsiveness(_) => "responsiveness",
        }
    }

    /// Returns all parameters as an object, for a manifest, except those that the source gives, such as `payload`.
    pub fn params(&self) -> Value {
        let value = match self {
            Model::WebSfd(model) => serde_json::to_value(model),
            Model::RioPs(model) => serde_json::to_value(model),
            Model::Http(model) => serde_json::to_value(model),
            Model::Shred(model) => serde_json::to_value(model),
            Model::PackMime(model) => serde_json::to_value(model),
            Model::Http2(model) => serde_json::to_value(model),
            Model::Poisson(model) => serde_json::to_value(model),
            Model::Telnet(model) => serde_json::to_value(model),
            Model::Ftp(model) => serde_json::to_value(model),
            Model::Udp(model) => serde_json::to_value(model),
            Model::Voip(model) => serde_json::to_value(model),
            Model::Game(model) => serde_json::to_value(model),
            Model::VideoCall(model) => serde_json::to_value(model),
            Model::Viewing(model) => serde_json::to_value(model),
            Model::Responsiveness(model) => serde_json::to_value(model),
        };
        value.unwrap_or(Value::Null)
    }
}
