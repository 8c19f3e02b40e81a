//! Text fields of a scenario: those of a mix, and of misbehaving senders.

use serde::{Deserialize, Serialize};

/// One source of a mix: a model, or files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixSpec {
    /// Its name in records; the model's name, or the first file's, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of a traffic model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Traffic files instead of a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Which way its payload goes: `down` (server to client), `up` or, of a model that can, `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// Parameters of the model that differ from its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Value>,
    /// Wire bytes over capacity, of files and of models that arrive at a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Number of users, for models that have users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// Senders that misbehave to gain an advantage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MisbehavingSpec {
    /// Share of the transfers that are large enough.
    pub share: f64,
    /// Number of pieces a transfer is sent in.
    pub split: u32,
    /// `parallel` or `consecutive`.
    pub pieces: String,
    /// The window hint that every packet claims; 0 means the true one.
    pub hint: u8,
    /// Senders of smaller transfers behave.
    pub min_bytes: String,
    /// Names of the sources whose senders may misbehave; all if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

impl Default for MisbehavingSpec {
    /// Returns the defaults: a tenth of the transfers of at least 100 kB are split into eight pieces that are
    /// sent at once.
    fn default() -> Self {
        MisbehavingSpec {
            share: 0.1,
            split: 8,
            pieces: "parallel".into(),
            hint: 0,
            min_bytes: "100kB".into(),
            sources: Vec::new(),
        }
    }
}
