//! The traffic of a comparison: connections read from files or listed, or a model; and how it is played.

use crate::records::find_recorded_kind;
use mousehole_answer::comparison::{Capture, Counted, LEAST_FITTED, LEAST_TRANSFERS};
use mousehole_answer::statistics::capture::capture_freedom;
use mousehole_sim::error::Result;
use mousehole_sim::traffic::Traffic;
use mousehole_sim::traffic::connection::{Connection, Kind, Write};
use mousehole_sim::traffic::model::{self, Model};
use mousehole_sim::traffic::summary::Summary;
use mousehole_sim::units::Rate;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Number of connections that are generated to summarise a model.
const SAMPLE: usize = 20_000;
/// Segment size in bytes, for the wire bytes of a summary.
const MSS: u32 = 1460;

/// Traffic as it was read, or a model with a sample of it.
#[derive(Debug, Clone)]
pub struct Given {
    /// The connections; of a model, a sample.
    pub connections: Arc<Traffic>,
    model: Option<Model>,
}

/// The traffic that a comparison plays for a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Played {
    /// The capture itself.
    Recorded,
    /// A model that is fitted to it, since it has too few short transfers.
    Fitted,
    /// Ready-made traffic, since it has too few even for a model.
    ReadyMade,
}

impl Played {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Played::Recorded => "recorded",
            Played::Fitted => "fitted",
            Played::ReadyMade => "ready-made",
        }
    }
}

impl From<Traffic> for Given {
    fn from(traffic: Traffic) -> Given {
        Given { connections: Arc::new(traffic), model: None }
    }
}

impl Given {
    /// Returns a named model with a sample of its connections; `params` are those that differ from
    /// its defaults, `payload` is the direction of its payload. The sample is always the same.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] inside `traffic` for an unknown model or parameter.
    pub fn from_model(name: &str, params: &Value, payload: Option<&str>) -> Result<Given> {
        let model = model::build_model(name, params).and_then(|model| model.with_payload(payload));
        let model = model.map_err(|error| error.inside("traffic"))?;
        Ok(Given { connections: Arc::new(model.sample(1, SAMPLE)), model: Some(model) })
    }

    /// Returns the connections that the engine replays; `None` for a model.
    pub fn replayed(&self) -> Option<Arc<Traffic>> {
        self.model.is_none().then(|| self.connections.clone())
    }

    /// Returns the summary of the connections, or of the model's sample; with a `rate` it has the
    /// load on a link of that rate. The load of a model is computed from its parameters, not from
    /// the sample.
    pub fn summary(&self, rate: Option<Rate>) -> Summary {
        let mut summary = self.connections.summary(rate, MSS);
        if let (Some(model), Some(rate)) = (&self.model, rate) {
            summary.native_load = model.offered_load(rate, MSS);
        }
        summary
    }

    /// Returns how many transfers have more than `low` and at most `high` bytes, and how many clients they belong to.
    pub fn count_distinct(&self, low: u64, high: Option<u64>) -> Counted {
        let within = |write: &&Write| write.bytes > low && high.is_none_or(|high| write.bytes <= high);
        let count = |one: &Connection| one.writes.iter().filter(within).count() as u64;
        let mut transfers = 0;
        let mut clients = BTreeSet::new();
        for one in &self.connections.connections {
            let own = count(one);
            transfers += own;
            if own > 0 {
                clients.insert(one.client);
            }
        }
        Counted { transfers, clients: clients.len() as u64 }
    }

    /// Returns the bytes of each connection, in their order; flows of datagrams are left out.
    pub fn sizes_bytes(&self) -> Vec<f64> {
        let transfers = self.connections.connections.iter().filter(|one| one.kind != Kind::Datagrams);
        transfers.map(|one| one.bytes() as f64).collect()
    }

    /// Returns what a comparison plays for a capture, by its number of distinct short transfers: the capture
    /// itself if they are enough for a verdict; else a model if they are enough for a fit; else the capture
    /// if it has an application with quantities of its own, such as calls; else ready-made traffic.
    pub fn played(&self, short_bytes: u64) -> Played {
        let short = self.count_distinct(0, Some(short_bytes)).transfers;
        match short {
            LEAST_TRANSFERS.. => Played::Recorded,
            LEAST_FITTED.. => Played::Fitted,
            _ if self.has_users() => Played::Recorded,
            _ => Played::ReadyMade,
        }
    }

    /// Returns whether some flow of datagrams belongs to an application that has quantities of its own, such as calls.
    fn has_users(&self) -> bool {
        let flows = self.connections.connections.iter().filter(|one| one.kind == Kind::Datagrams);
        flows.filter_map(|one| one.flow_class).any(|class| find_recorded_kind(class).is_some())
    }

    /// Returns the amounts in the traffic on which verdicts rest; `pipe_bytes` is the bandwidth-delay product.
    pub fn capture(&self, short_bytes: u64, long_bytes: u64, pipe_bytes: f64, is_fitted: bool) -> Capture {
        let sizes = self.sizes_bytes();
        // A fitted model draws new large transfers, so that only the number of transfers it is fitted to counts.
        let freedom = if is_fitted { sizes.len() as f64 - 1.0 } else { capture_freedom(&sizes, pipe_bytes) };
        Capture {
            period_s: self.summary(None).period_s,
            short: self.count_distinct(0, Some(short_bytes)),
            long: self.count_distinct(long_bytes, None),
            all: self.count_distinct(0, None),
            freedom,
            large: sizes.iter().filter(|size| **size > pipe_bytes).count() as u64,
            pipe_bytes,
            is_fitted,
        }
    }
}
