//! What stands around cells and runs in the document of a comparison: what was run, and all that determines it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An object that another document describes.
pub type Object = Map<String, Value>;

/// Everything that determines the results; no times, hosts, jobs or directories.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Manifest {
    /// The mean in bit/s of each direction whose rate varies, `down` or `up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_rates: Option<BTreeMap<String, u64>>,
    /// Version of the program.
    pub mousehole_version: String,
    /// The git revision that it was built from.
    pub git_revision: String,
    /// Files of the traffic and of the link.
    pub inputs: Vec<InputEntry>,
    /// Seed of all draws.
    pub seed: u64,
    /// Runs of each scheme in each cell.
    pub replications: u32,
    /// Buffers of the grid.
    pub buffers: Vec<String>,
    /// Loads of the grid; null is the load that the traffic has by itself.
    pub loads: Vec<Option<f64>>,
    /// The scheme that the others are compared with.
    pub baseline: String,
    /// Schemes in their order, the baseline first.
    pub schemes: Vec<SchemeParameters>,
    /// The baseline's scenario in the first cell, replication 0, with every parameter filled in.
    pub scenario: Object,
    /// Every TCP parameter in force; sizes in bytes or segments, times in ns by their names.
    pub tcp: Object,
    /// How intervals are made, and what is judged.
    pub statistics: Object,
}

/// An input by name, without directories, and SHA-256 of its content.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InputEntry {
    /// Its name.
    pub name: String,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// A scheme with the value of each of its parameters.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemeParameters {
    /// As given.
    pub scheme: String,
    /// By their names, those that it leaves out with their defaults.
    pub parameters: BTreeMap<String, String>,
    /// SHA-256 of the header of each of the user's own policies in the scheme, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<BTreeMap<String, String>>,
}

/// What was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    /// Buffers of the grid.
    pub buffers: Vec<String>,
    /// Loads of the grid; null is the load that the traffic has by itself.
    pub loads: Vec<Option<f64>>,
    /// Schemes in their order, the baseline first.
    pub schemes: Vec<String>,
    /// The scheme that the others are compared with.
    pub baseline: String,
    /// Runs of each scheme in each cell.
    pub replications: u32,
    /// Transfers of at most so many bytes are short.
    pub short_bytes: u64,
    /// Transfers of more bytes are long.
    pub long_bytes: u64,
    /// The number under which the first replication draws.
    pub first_replication: u32,
    /// Whether replications are rounds of real programs, as `mousehole link` plays them.
    pub in_rounds: bool,
    /// Whether intervals hold at every look, if replications are doubled for each.
    pub is_sequential: bool,
    /// Margins of harm as the user gave them.
    pub vetoes: Vec<String>,
    /// The scheme that harm is measured against, if one was given.
    pub reference: Option<String>,
    /// The capture that was given, and why ready-made traffic stands in its place; null if none does.
    pub instead_of: Option<String>,
    /// The scenario that all runs share as it was given, without directories.
    pub scenario: Object,
    /// Null if the sizes of transfers are not known beforehand.
    pub warmup: Option<WarmupEntry>,
}

/// What the warm-up is chosen from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarmupEntry {
    /// The bottleneck's rate.
    pub rate_bps: f64,
    /// The load that the traffic has by itself.
    pub own_load: Option<f64>,
    /// Whether the warm-up follows from sizes and load.
    pub is_chosen: bool,
    /// The warm-up that each load needs, null where there is no steady state.
    pub needed_s: Vec<Option<f64>>,
}
