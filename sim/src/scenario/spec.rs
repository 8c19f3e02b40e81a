//! The text form of a scenario: the fields of `scenario.toml`, with their defaults.

pub use super::mix_spec::{MisbehavingSpec, MixSpec};
use super::topology::spec::{HostStageSpec, TopologySpec};
use crate::error::{Error, Problem, Result, simplify};
use crate::flow::Class;
use crate::rng;
use crate::tcp::{Congestion, Variant};
use serde::{Deserialize, Serialize};

/// Version of the scenario format.
pub const SCHEMA: &str = "mousehole.scenario/1";

/// Rate of a link without one.
const DEFAULT_RATE: &str = "10mbit";

/// Buffer from clients to servers, for a link whose directions have one rate.
const DEFAULT_UP_BUFFER: &str = "1000p";

/// One run: one scheme, one replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// [`SCHEMA`].
    pub schema: String,
    /// Base seed of all random numbers.
    pub seed: u64,
    /// Number of the replication; each has different draws under the seed.
    pub replication: u32,
    /// Time before the measured window.
    pub warmup: String,
    /// Length of the measured window.
    pub duration: String,
    /// Number of windows after which unfinished transfers are censored.
    pub max_windows: u32,
    /// Scheme at the bottleneck.
    pub scheme: String,
    /// Where the scheme is: at the `down` link, the `up` link or `both`; another link is drop-tail. See [`Scenario::ends`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Ends>,
    /// The bottleneck.
    pub link: LinkSpec,
    /// Access links; without it hosts reach the bottleneck at any rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessSpec>,
    /// Links and hosts that replace the dumbbell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologySpec>,
    /// A queue for each user at the sending host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_stage: Option<HostStageSpec>,
    /// TCP.
    pub tcp: TcpSpec,
    /// Traffic.
    pub traffic: TrafficSpec,
    /// The servers' CPUs; without it a server answers at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSpec>,
    /// Losses on purpose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultSpec>,
    /// Record a packet trace.
    pub trace: bool,
    /// Interval at which links and senders are sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Use the slow path of every queue; the result is the same (for tests).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub slow_path: bool,
}

/// The ends of the bottleneck at which the scheme is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// The sending end of the link from servers to clients.
    Down,
    /// The sending end of the link from clients to servers.
    Up,
    /// Both.
    Both,
}

impl Ends {
    /// Returns whether the scheme is at the link from servers to clients; on a topology, in the direction written.
    pub fn has_down(self) -> bool {
        self != Ends::Up
    }

    /// Returns whether the scheme is at the link from clients to servers; on a topology, in the one not written.
    pub fn has_up(self) -> bool {
        self != Ends::Down
    }
}

/// The bottleneck link: a rate for both directions, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSpec {
    /// Rate of both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Rate from servers to clients, or the file of a rate that changes over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<String>,
    /// The same from clients to servers; as `down` if absent, of a file the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    /// Round-trip time without queueing, for connections that do not specify one.
    pub rtt: String,
    /// Use `rtt` for every connection.
    pub ignore_trace_rtt: bool,
    /// One-way propagation delay of the bottleneck itself; part of the round-trip time.
    pub delay: String,
    /// Buffer: packets (50p), bytes (64kB) or bandwidth-delay products (1bdp).
    pub buffer: String,
    /// Buffer of the link from clients to servers; if absent as `buffer` where `up` is given, else 1000 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_buffer: Option<String>,
    /// Link bytes on the wire per packet, beyond the IP length.
    pub overhead: u32,
    /// Name of the link layer, instead of `overhead`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Depth of the token bucket that the link then is, as of Linux's tbf; without it the link is a transmitter. With a
    /// shaper, the depth of the shaper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<String>,
    /// Rate at which the scheme's queue sends into a modem's FIFO, where the line begins: a share of the line's rate (90%)
    /// or a rate. Without it the scheme's queue is on the line itself. The scheme `droptail` is the modem's FIFO alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The same from clients to servers; as `shape` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_shape: Option<String>,
    /// Buffer of the modem's FIFO; as `buffer` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modem_buffer: Option<String>,
    /// The same from clients to servers; as `modem_buffer`, or without it as that direction's buffer, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_modem_buffer: Option<String>,
    /// The link layer whose bytes the shaper counts, or `none`; that of the line if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_layer: Option<String>,
}

/// Links between hosts and the bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessSpec {
    /// Rate of each access link, or `unlimited`.
    pub rate: String,
    /// One-way delay of each access link; part of the round-trip time.
    pub delay: String,
    /// Rate at the client, if it differs; private links only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_rate: Option<String>,
    /// Delay at the client, if it differs; private links only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_delay: Option<String>,
    /// Number of servers, whose links are shared; without it every connection has separate links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<u32>,
    /// Number of clients, whose links are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
}

/// The CPU of each server (SFD, section 4.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Bytes it prepares per second, such as `200kB/s`.
    pub rate: String,
    /// `fcfs` or `stf`.
    #[serde(default = "fcfs")]
    pub order: String,
}

/// Returns the default order of servers' jobs.
fn fcfs() -> String {
    "fcfs".into()
}

/// TCP: a profile, and departures from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpSpec {
    /// Name of the profile.
    pub profile: String,
    /// `reno`, `newreno` or `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// `reno`, `cubic`, `bbr` or `prague`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<Congestion>,
    /// Payload bytes of a full segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Header bytes of a data segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<u32>,
    /// Payload bytes of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<u32>,
    /// Initial window, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Receive window, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<u32>,
    /// First slow-start threshold, segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// RTO before any sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<String>,
    /// Least RTO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<String>,
    /// Clock tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<String>,
    /// Phase of the clock tick, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase_s: Option<f64>,
    /// Limited transmit (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Every segment has full size, even the last of a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_segments: Option<bool>,
    /// `off`, or the longest delay of an acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<String>,
    /// ECN (RFC 3168).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// `false`: one-way ns-2 connections send data without a SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn: Option<bool>,
}

/// The traffic: at most one of files, model and connections; bulk flows and a mix in addition or alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficSpec {
    /// Traffic files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Which way the payload of files, model and bulk flows goes: `down` (server to client), `up` or, of a model that
    /// can, `both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The user's corrections of the classes of the files' flows, such as `port 5060=call`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// The format of the files, as a file of formats describes it; empty to recognise it by content.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// Wire bytes over capacity of the link that the payload crosses; above 0, at most 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Files that are overlaid to meet a load are resampled in each replication.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resample: bool,
    /// A model fitted to the files outside the mix takes their place; it is drawn afresh in each replication.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
    /// How files are replayed: `open` or `closed`; closed if absent and the files tell when connections ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Time from a request to its answer at servers of which the traffic says nothing; the TCP profile's if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_think: Option<String>,
    /// Packets of calls, games and video calls carry the code point of flows that build no queue (NQB, RFC 9956).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nqb: bool,
    /// Profiles of Quality of Outcome for classes of datagram flows, in place of those of their kinds, such as
    /// `games=p99 40ms..150ms, loss 0.1%..2%`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub qoo: Vec<String>,
    /// Name of a traffic model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Parameters of the model that differ from its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<serde_json::Value>,
    /// Connections written out; played once at their start times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionSpec>,
    /// Long-lived bulk flows, in addition to the other traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk: Option<BulkSpec>,
    /// Several models, in addition to the other traffic or alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixSpec>,
    /// Senders that misbehave to gain an advantage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaming: Option<MisbehavingSpec>,
}

/// One connection written out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionSpec {
    /// Start, seconds after the beginning of the run.
    pub start_s: f64,
    /// Client host.
    #[serde(default)]
    pub client: u32,
    /// Server host.
    #[serde(default)]
    pub server: u32,
    /// Round-trip time in seconds, if it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_s: Option<f64>,
    /// Recorded seconds from its start to its last byte, if known; a closed-loop replay needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// `interactive`, `web` or `bulk`: its application for schemes that know applications.
    #[serde(default)]
    pub class: Class,
    /// Its class by its behaviour, a name of docs/classes.md; a flow of datagrams without one is classified by its sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_class: Option<String>,
    /// Which way the payload goes: `down` (server to client) or `up`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The writes, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<WriteSpec>,
    /// Datagrams instead of writes, sent within `duration_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramsSpec>,
}

/// The sums of a flow of datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatagramsSpec {
    /// Packets in the direction of the data.
    pub packets: u64,
    /// Their IP lengths together.
    pub bytes: u64,
    /// Packets in the other direction.
    pub reverse_packets: u64,
    /// Their IP lengths together.
    pub reverse_bytes: u64,
}

/// One write of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteSpec {
    /// Pause after the previous write, in seconds.
    #[serde(default)]
    pub idle_s: f64,
    /// Payload bytes.
    pub bytes: u64,
}

/// Bulk flows without end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkSpec {
    /// How many.
    pub flows: u32,
    /// They start evenly spread over this many seconds.
    #[serde(default)]
    pub start_spread_s: f64,
    /// Round-trip times are drawn evenly within this fraction around the link's.
    #[serde(default)]
    pub rtt_spread: f64,
}

/// Losses on purpose at one link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// `down` or `up`.
    pub link: String,
    /// Arrivals to lose, by their number from 0.
    #[serde(default)]
    pub drop: Vec<u64>,
    /// Every arrival is lost with this probability.
    #[serde(default)]
    pub bernoulli: f64,
}

impl Default for Scenario {
    /// Returns a scenario of drop-tail on the default link, without traffic.
    fn default() -> Self {
        Scenario {
            schema: SCHEMA.into(),
            seed: 1,
            replication: 0,
            warmup: "30s".into(),
            duration: "300s".into(),
            max_windows: 5,
            scheme: "droptail".into(),
            at: None,
            link: LinkSpec::default(),
            access: None,
            topology: None,
            host_stage: None,
            tcp: TcpSpec::default(),
            traffic: TrafficSpec::default(),
            server: None,
            faults: Vec::new(),
            trace: false,
            series: None,
            slow_path: false,
        }
    }
}

impl Default for LinkSpec {
    /// Returns a link of 80 ms and one bandwidth-delay product, without a rate.
    fn default() -> Self {
        LinkSpec {
            rate: None,
            down: None,
            up: None,
            rtt: "80ms".into(),
            ignore_trace_rtt: false,
            delay: "0ms".into(),
            buffer: "1bdp".into(),
            up_buffer: None,
            overhead: 0,
            layer: None,
            burst: None,
            shape: None,
            up_shape: None,
            modem_buffer: None,
            up_modem_buffer: None,
            shape_layer: None,
        }
    }
}

impl Default for TcpSpec {
    /// Returns profile `rfc` as it is.
    fn default() -> Self {
        TcpSpec {
            profile: "rfc".into(),
            variant: None,
            congestion: None,
            mss: None,
            header: None,
            request_bytes: None,
            initial_window: None,
            receive_window: None,
            initial_ssthresh: None,
            initial_rto: None,
            min_rto: None,
            tick: None,
            tick_phase_s: None,
            limited_transmit: None,
            whole_segments: None,
            delayed_ack: None,
            ecn: None,
            syn: None,
        }
    }
}

impl LinkSpec {
    /// Returns the field that gives the rate from servers to clients and its text, a rate or the
    /// name of a trace's file.
    pub fn down_rate(&self) -> (&'static str, &str) {
        match (&self.down, &self.rate) {
            (Some(down), _) => ("link.down", down),
            (None, Some(rate)) => ("link.rate", rate),
            (None, None) => ("link.rate", DEFAULT_RATE),
        }
    }

    /// Returns the field that gives the rate from clients to servers and its text; those of the
    /// other direction if it is not given.
    pub fn up_rate(&self) -> (&'static str, &str) {
        self.up.as_deref().map_or_else(|| self.down_rate(), |up| ("link.up", up))
    }

    /// Returns the field that gives the buffer from clients to servers and its text; that of the
    /// other direction where only `up` is given, and a default where neither is.
    pub fn buffer_up(&self) -> (&'static str, &str) {
        match (&self.up_buffer, &self.up) {
            (Some(own), _) => ("link.up_buffer", own),
            (None, Some(_)) => ("link.buffer", &self.buffer),
            (None, None) => ("link.up_buffer", DEFAULT_UP_BUFFER),
        }
    }

    /// Returns the field that gives the shaper's rate from servers to clients and its text; `None`
    /// without a shaper.
    pub fn shape_down(&self) -> Option<(&'static str, &str)> {
        self.shape.as_deref().map(|text| ("link.shape", text))
    }

    /// Returns the field that gives the shaper's rate from clients to servers and its text; `None`
    /// without a shaper.
    pub fn shape_up(&self) -> Option<(&'static str, &str)> {
        self.up_shape.as_deref().map_or_else(|| self.shape_down(), |text| Some(("link.up_shape", text)))
    }

    /// Returns the field that gives the modem's buffer from servers to clients and its text; the
    /// link's buffer if it is not given.
    pub fn modem_down(&self) -> (&'static str, &str) {
        self.modem_buffer.as_deref().map_or(("link.buffer", &self.buffer), |text| ("link.modem_buffer", text))
    }

    /// Returns the field that gives the modem's buffer from clients to servers and its text; that
    /// of the other direction, or else the link's buffer, if it is not given.
    pub fn modem_up(&self) -> (&'static str, &str) {
        match (&self.up_modem_buffer, &self.modem_buffer) {
            (Some(own), _) => ("link.up_modem_buffer", own),
            (None, Some(both)) => ("link.modem_buffer", both),
            (None, None) => self.buffer_up(),
        }
    }
}

impl Scenario {
    /// Parses a scenario in TOML; `name` is the file for messages. Absent fields get their
    /// defaults, and a dumbbell without any rate the default rate. Values are not checked.
    ///
    /// # Errors
    /// [`Error::Row`] with the line at fault.
    pub fn from_toml(text: &str, name: &str) -> Result<Scenario> {
        let mut scenario: Scenario = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count() as u64);
            let problem = simplify(&with_new_name(error.message().trim()));
            Error::Row { file: name.into(), line, problem }
        })?;
        let link = &mut scenario.link;
        if scenario.topology.is_none() && link.down.is_none() && link.up.is_none() {
            link.rate.get_or_insert_with(|| DEFAULT_RATE.into());
        }
        Ok(scenario)
    }

    /// Returns the ends at which the scheme is. The default is both if the bottleneck's directions
    /// have separate rates, otherwise the link from servers to clients.
    pub fn ends(&self) -> Ends {
        let is_two_way = self.topology.is_none() && self.link.up.is_some();
        self.at.unwrap_or(if is_two_way { Ends::Both } else { Ends::Down })
    }

    /// Returns the seed of the replication: the scenario's seed mixed with its replication number.
    pub fn replication_seed(&self) -> u64 {
        rng::mix(self.seed).wrapping_add(rng::mix(u64::from(self.replication) | 1 << 40))
    }

    /// Returns the scenario as TOML, without optional fields that are not given.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// Parses a scenario in JSON. Absent fields get their defaults; values are not checked.
    ///
    /// # Errors
    /// [`Error::Field`] with the parser's message.
    pub fn from_json(text: &str) -> Result<Scenario> {
        serde_json::from_str(text).map_err(|error| form_problem(&error.to_string()).for_field("scenario"))
    }
}

/// Former names of fields, and the text that replaces them today.
const REPLACED: &[(&str, &str)] = &[
    ("both_directions", "at = \"both\" (false was at = \"down\")"),
    (
        "uplink_rate",
        "down and up, such as down = \"20mbit\" and up = \"1mbit\", in place of rate and uplink_rate",
    ),
    ("uplink_buffer", "up_buffer"),
    ("rate_trace", "the file's name as down, such as down = \"lte.trace\", and no rate"),
    ("uplink_rate_trace", "the file's name as up, such as up = \"lte.trace\""),
    ("direction", "payload, such as payload = \"up\", beside model, files or writes and not among params"),
    ("upload", "payload = \"up\" beside model or writes and not among params (false was payload = \"down\")"),
];

/// Returns the text that replaces a field that had this name; `None` for any other field.
pub fn find_replacement(field: &str) -> Option<&'static str> {
    REPLACED.iter().find(|(old, _)| *old == field).map(|(_, new)| *new)
}

/// Returns a parser's message, or the replacement if the message is about a field that was
/// replaced.
fn with_new_name(message: &str) -> String {
    let old = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    match old.and_then(|(old, _)| Some((old, find_replacement(old)?))) {
        Some((old, new)) => format!("{old} was replaced; write {new}"),
        None => message.to_string(),
    }
}

/// Returns the problem of a text that has the wrong form, from the message of a parser; a former
/// name of a field gets its replacement.
pub fn form_problem(message: &str) -> Problem {
    Problem::Form { value: None, problem: simplify(&with_new_name(message)) }
}
