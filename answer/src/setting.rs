//! What the answer needs to know of a cell in addition to its plan and runs.

use serde::{Deserialize, Serialize};

/// Where a scheme can be installed, and the lines to type or to configure there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Installation {
    /// Linux, or a router with WRED.
    pub place: String,
    /// Commands or settings; DEV stands for the device.
    pub lines: Vec<String>,
}

impl Installation {
    /// Returns whether `tc` alone installs it; lines with remarks do not count.
    pub fn is_by_tc(&self) -> bool {
        self.lines.iter().all(|line| line.starts_with("tc ") || line.starts_with('#'))
    }
}

/// A modem behind the schemes, as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modem {
    /// Rate of the shaper before it, as a share of the line's or a rate.
    pub shape: String,
    /// The same of the upload direction.
    pub up_shape: String,
    /// The modem's buffer.
    pub buffer: String,
    /// Whether some scheme has a rate of its own.
    pub has_own_rates: bool,
}

/// What the answer needs to know in addition to plan and runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Name of the traffic.
    pub label: String,
    /// Length of a replication, as it was given.
    pub duration: String,
    /// The traffic that was given, and why ready-made traffic replaces it.
    pub instead_of: Option<String>,
    /// What was left out of the traffic as it was read.
    pub left_out: Vec<String>,
    /// What installs each scheme, in the order of the plan.
    pub ways: Vec<Option<Installation>>,
    /// Why nothing installs each, as a clause; empty if something does.
    pub why_nothing: Vec<String>,
    /// Whether the markers of each scheme take a call that lasts for a download.
    pub demotes_calls: Vec<bool>,
    /// Whether the commands are for both directions of the link.
    pub is_both_ways: bool,
    /// The modem behind, if there is one.
    pub modem: Option<Modem>,
    /// Time before the measured window.
    pub warmup_s: f64,
    /// Time until the link is near its steady state, as far as sizes and load tell.
    pub warmup_needed_s: Option<f64>,
    /// Rate of the link in the direction of the data, of one that varies its mean; None of a topology.
    pub rate_bps: Option<f64>,
    /// The buffer in full packets; None where it is not known.
    pub buffer_packets: Option<u64>,
    /// The round-trip time of all connections as it was given; None if the traffic gives them theirs.
    pub rtt: Option<String>,
    /// Whether the data go from clients to servers.
    pub is_up: bool,
    /// Whether the traffic has transfers, and not datagrams alone.
    pub has_transfers: bool,
}
