//! The records of one run as they are reduced; times are in seconds.

use super::e_model::Codec;
use crate::quantities::Kind;
use mousehole_scheme::outcome_profile::Needs;
use serde::{Deserialize, Serialize};

/// One measured transfer. A time that did not come is None.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Names the connection; equal across schemes.
    pub key: u64,
    /// Number of the write in its connection.
    pub write: u32,
    /// Payload.
    pub bytes: u64,
    /// Payload of the whole object this is a piece of.
    pub object_bytes: u64,
    /// Key of the transfer that carries the object's first piece.
    pub object_key: u64,
    /// Number of its source among the names.
    pub source: usize,
    /// From client to server.
    pub upload: bool,
    /// Its sender misbehaves.
    pub misbehaves: bool,
    /// The client's SYN or request.
    pub start_s: f64,
    /// First data packet sent.
    pub first_data_s: Option<f64>,
    /// Last byte received.
    pub end_s: Option<f64>,
    /// Response time alone on the same path.
    pub ideal_s: f64,
    /// Segments retransmitted.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Number of its page; 0 without one.
    pub page: u64,
    /// Number of transfers of that page.
    pub page_transfers: u16,
}

/// One datagram flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Datagrams {
    /// Number of its source among the names.
    pub source: usize,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Packets dropped.
    pub lost: u64,
    /// Packets that arrived later than 50 ms.
    pub late: u64,
    /// Percentiles of the one-way delay and the mean jitter; None if nothing arrived.
    pub delay_p50_s: Option<f64>,
    /// The 95th.
    pub delay_p95_s: Option<f64>,
    /// The 99th.
    pub delay_p99_s: Option<f64>,
    /// Other percentiles that a profile of Quality of Outcome asks for, each with its delay; None if nothing arrived.
    #[serde(default)]
    pub asked_s: Vec<(f64, Option<f64>)>,
    /// Mean interarrival jitter.
    pub jitter_s: Option<f64>,
    /// How they were played.
    pub played: Played,
}

/// How the datagrams of a flow were played.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Played {
    /// They were not, or nothing is known of it.
    Not,
    /// As sound.
    Sound {
        /// What made it.
        codec: Codec,
        /// From mouth to ear; None if nothing arrived.
        mouth_to_ear_s: Option<f64>,
        /// Packets.
        packets: u64,
        /// Of those, packets that had not arrived when they were to be played.
        missing: u64,
        /// Runs of such packets.
        gaps: u64,
    },
    /// As frames of a picture.
    Frames {
        /// Frames.
        frames: u64,
        /// Of those, frames that were not complete when they were to be shown.
        missing: u64,
        /// Freezes.
        freezes: u64,
        /// Length of the video.
        length_s: f64,
    },
}

/// What one viewer of streams saw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Number of its source among the names.
    pub source: usize,
    /// Videos asked for.
    pub starts: u64,
    /// Sum of the times until they began.
    pub startup_s: f64,
    /// Time in which videos played.
    pub played_s: f64,
    /// Time in which they stood still after they had begun.
    pub stalled_s: f64,
    /// Segments that arrived.
    pub segments: u64,
    /// Sum of their bit rates.
    pub rate_bps: f64,
}

/// One probe of a test of responsiveness; a span that it does not have is None, and one that was cut off
/// by the end of the run lasts until then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Number of its source among the names.
    pub source: usize,
    /// It had a connection of its own.
    pub is_foreign: bool,
    /// TCP handshake.
    pub tcp_s: Option<f64>,
    /// TLS handshake, of one round trip.
    pub tls_s: Option<f64>,
    /// Request.
    pub http_s: Option<f64>,
}

/// One long-lived flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Number of its source among the names.
    pub source: usize,
    /// Payload per second within the measured window.
    pub goodput_bps: f64,
}

/// Packets of one colour at a link, within the measured window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colour {
    /// Its name.
    pub name: String,
    /// Reached the queue, or was dropped before it.
    pub arrived: u64,
    /// Dropped, by the name of the reason.
    pub drops: Vec<(String, u64)>,
    /// Dropped for any reason.
    pub dropped: u64,
    /// Marked.
    pub marked: u64,
    /// Left for transmission.
    pub sent: u64,
}

impl Colour {
    /// Returns a count by its name, that of a reason among them; 0 for one that there is not.
    pub fn count(&self, name: &str) -> u64 {
        match name {
            "arrived" => self.arrived,
            "dropped" => self.dropped,
            "marked" => self.marked,
            "sent" => self.sent,
            reason => self.drops.iter().find(|(own, _)| own == reason).map_or(0, |(_, count)| *count),
        }
    }
}

/// Counters of one link within the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Rate, which may change over time, by its mean.
    pub capacity_bps: f64,
    /// Length of the window.
    pub window_s: f64,
    /// Share of the rate that was used.
    pub utilisation: f64,
    /// Packets by colour.
    pub colours: Vec<Colour>,
    /// Mean wait.
    pub delay_mean_s: f64,
    /// Median wait.
    pub delay_p50_s: f64,
    /// 95th percentile of the wait.
    pub delay_p95_s: f64,
    /// 99th percentile of the wait.
    pub delay_p99_s: f64,
    /// Mean number of waiting packets.
    pub mean_packets: f64,
}

/// How the load of a run came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Load {
    /// Load that was asked for.
    pub target: Option<f64>,
    /// Load of the traffic itself.
    pub native: Option<f64>,
    /// Copies of it that were laid over each other.
    pub copies: u64,
    /// Factor by which its time was stretched.
    pub dilation: f64,
    /// Load that was offered.
    pub achieved: Option<f64>,
    /// Sessions per second that a model begins.
    pub session_rate_per_s: Option<f64>,
    /// How files are replayed.
    pub replay: Option<String>,
}

/// The records of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// Transfers that began in the measured window.
    pub transfers: Vec<Transfer>,
    /// Datagram flows.
    pub datagrams: Vec<Datagrams>,
    /// Long-lived flows.
    pub flows: Vec<Flow>,
    /// Viewers of streams.
    pub views: Vec<View>,
    /// Probes of tests of responsiveness.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// The bottleneck in the direction of the data, and the way back.
    pub links: [Link; 2],
    /// Names of the sources.
    pub sources: Vec<String>,
    /// The kinds of their applications, where they are known.
    pub kinds: Vec<Option<Kind>>,
    /// What the sources need of delay and loss by the user's profiles, by the source's number.
    #[serde(default)]
    pub needs: Vec<(usize, Needs)>,
    /// How the load came about.
    pub load: Load,
    /// All data go from clients to servers.
    #[serde(default)]
    pub is_up: bool,
    /// Payload that arrived per second in the direction of the data.
    pub goodput_bps: f64,
    /// Data packets.
    pub packets: u64,
    /// Those that overtook another of their flow.
    pub reordered: u64,
    /// Begin of the measured window.
    pub window_begin_s: f64,
    /// End of the measured window.
    pub window_end_s: f64,
    /// When the run ended.
    pub end_s: f64,
}
